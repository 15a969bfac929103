/* SPDX-License-Identifier: MIT */
/*
 * stream.h - HotSpot's compressed streams: bytes, and integers in one to five bytes.
 */
#ifndef AGENT_STREAM_H
#define AGENT_STREAM_H

#include <stdbool.h>
#include <stdint.h>

struct stream {
	uintptr_t at;
	uint32_t left;
	uint8_t buf[64];		/* little, for this is the stack of a thread that was interrupted */
	uint32_t pos, len;
	bool told;			/* surely mapped */
	bool bad;			/* has ended, was not readable, or is no such stream */
};

uint32_t stream_byte(struct stream *s);
uint32_t stream_int(struct stream *s);

#endif
