/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blame.h - who is to be blamed for what a stack ends in, such as an object of a class or a block of
 * malloc(): the innermost function that is not there to allocate for others.
 *
 * Of Java methods that is the innermost one that is not a constructor, and not of the JDK or of what runs
 * another language, nor of a library that is named. With native functions, where no such method is on the
 * stack, it is the innermost one that is not of the C or C++ library or of that one, and that HotSpot does
 * not have to allocate.
 */
#ifndef MODEL_BLAME_H
#define MODEL_BLAME_H

#include "model/names.h"
#include "model/select.h"
#include "trace/reader.h"

enum blame_what {
	BLAME_NOBODY,		/* what the stack ends in, and no more */
	BLAME_METHOD,		/* Java methods */
	BLAME_FUNCTION,		/* those first, and native functions */
};

struct blamed {
	uint32_t leaf, site;	/* consumers of the model; 0: none */
	bool known;
};

struct blame {
	struct names *names;	/* filled; of a pass before */
	enum blame_what what;
	const struct opt_list *library;	/* patterns of more functions that are not to be blamed; NULL: none */
	uint32_t epoch;
	struct blamed *places;	/* [stack] of the epoch */
	size_t nr_places;
};

struct blamed blame_stack(struct blame *b, const struct rec_sample *s, const struct stack_epoch *ep);
/* Return the same of frames, the outermost first, which are not remembered. */
struct blamed blame_frames(const struct blame *b, const struct frame *frames, uint32_t nr, uint64_t time_ns);
void blame_release(struct blame *b);

/* Return whether the thread is selected by process and thread; set its process in any case. */
bool blame_selected(const struct names *x, const struct selection *s, uint32_t thread, uint32_t *proc,
		    uint32_t *pid);

#endif
