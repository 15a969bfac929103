/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * read.h - what V8 writes of a function wherever it does, in Node.js and in Chrome: a "callFrame".
 */
#ifndef FORMATS_V8_READ_H
#define FORMATS_V8_READ_H

#include "formats/jsonin.h"
#include "formats/nodes.h"

/* "idle" is no work, and "root" no function. */
enum v8_function { V8_FUNCTION, V8_ROOT, V8_IDLE };

struct v8_frame {
	struct frame frame;
	enum v8_function what;
};

struct v8_scratch {
	struct buf name, url;
};

/* Reads the object at the cursor. */
struct v8_frame v8_frame_read(struct import *im, struct jsonin *j, struct v8_scratch *x);
void v8_scratch_release(struct v8_scratch *x);

/*
 * Samples in the order of the file become time: each holds until the next one. What is idle has an event of
 * its own.
 */
struct v8_samples {
	struct import *im;
	struct import_nodes *nodes;
	const enum v8_function *what;	/* [node - 1] */
	uint32_t thread;
	uint32_t node;			/* the latest sample; 0: none */
	double at_us, first_us;
	uint32_t *events;		/* [2], + 1: of work, and of idleness; 0: not passed on yet */
};

/* Take the time of a sample, and its node. -EINVAL: damaged. */
int v8_samples_take(struct v8_samples *s, double at_us, uint32_t node, struct err *e);
/* End the samples; the latest one holds until then. */
int v8_samples_end(struct v8_samples *s, double at_us, struct err *e);

#endif
