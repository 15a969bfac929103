/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk.h - from chunk to chunk of a trace, over damage; and from record to record of a
 * chunk.  The reader gives meaning to what comes; dump shows it as it is.
 */
#ifndef TRACE_WALK_H
#define TRACE_WALK_H

#include "base/err.h"
#include "base/span.h"
#include "trace/format.h"
#include "trace/reader.h"

struct walk;

struct walk_chunk {
	struct trf_chunk h;
	uint64_t off;			/* of the header in the file */
	const uint8_t *stored;		/* [h.stored_len], checked; until the next call */
	struct {			/* what was skipped to get here; len 0 and why "": nothing */
		uint64_t off, len;
		char why[160];
	} gap;
};

struct walk_record {
	uint32_t off;			/* in the payload */
	uint16_t major;
	uint16_t type;
	uint32_t minor;
	uint32_t head_len;
	uint64_t time_ns;
	struct span body;
};

int walk_open(struct walk **w, const char *path, struct err *e);
/* Do the same with a descriptor, which the walk closes; path is its name in messages. */
int walk_open_fd(struct walk **w, int fd, const char *path, struct err *e);
int walk_open_memory(struct walk **w, const void *data, size_t len, struct err *e);
/* Give a walk over memory more of the same trace, which follows the bytes before it. */
void walk_go_on(struct walk *w, const void *data, size_t len);
void walk_close(struct walk *w);
const char *walk_path(const struct walk *w);
uint64_t walk_size(const struct walk *w);	/* bytes */
const struct trf_header *walk_header(const struct walk *w);
struct trace_damage *walk_damage(struct walk *w);

/* Back to the first chunk; the damage is counted afresh. */
void walk_rewind(struct walk *w);
/* Go to the next whole chunk. Return 1: *c is that; 0: the end, perhaps after a last gap; or -errno. */
int walk_next(struct walk *w, struct walk_chunk *c, struct err *e);
/* Return the payload, decompressed; NULL when it cannot be (counted as damage). Until the next call. */
const uint8_t *walk_payload(struct walk *w, const struct walk_chunk *c);
bool walk_is(const struct walk_chunk *c, const char *type);
/* Write the type for people: anything but visible ASCII becomes '?'. Returns text. */
const char *walk_type_text(const struct trf_chunk *h, char text[5]);

/*
 * Read the record at *s, which moves on; r holds the previous one, zeroed at first. Returns 0 at the end, -1
 * if there is no whole record: the rest of the payload is then unusable.
 */
int walk_record(struct span *s, const uint8_t *start, struct walk_record *r);

#endif
