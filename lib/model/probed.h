/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * probed.h - native functions of which both entries and returns were sampled ("uprobe:FILE:FUNCTION" and
 * "uprobe-return:FILE:FUNCTION"): calls.c makes events of calls of these samples.
 */
#ifndef MODEL_PROBED_H
#define MODEL_PROBED_H

#include "model/names.h"

enum { PROBED_MAX_EVENTS = 64 };

struct probed {
	struct probed_event {
		uint32_t function;	/* its number, from 1; 0: the samples are not of calls */
		uint8_t kind;		/* enum call_event_kind */
	} events[PROBED_MAX_EVENTS];	/* [event of the trace] */
	const char *functions[PROBED_MAX_EVENTS / 2];	/* [number - 1]: "FILE:FUNCTION"; borrowed */
	uint32_t nr_functions;
};

/* Find them. A trace with calls of its own has none. */
void probed_find(struct probed *p, const struct names *x);
/* Return the model's consumer for such a function. */
uint32_t probed_consumer(const struct probed *p, struct names *x, uint32_t function);

#endif
