/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * loads.h - how long classes took to load, from what the VM's log says of each thread: that the VM begins
 * and ends to look for a class, to resolve its superclass or interface, or to define it (placeholders.cpp),
 * and that it is loaded. The agent adds lines where a loader in Java looks whether it has a class already,
 * which it has to before it searches for one, and where it gives the VM the bytes of one
 * (agent/sources/searches.c).
 *
 * A load begins when its thread first asks the VM for the class or searches for it, else when its bytes are
 * given, and ends when it is loaded. Those of which nothing of that is known are not handed over. What was
 * loaded meanwhile by the same thread, superclasses or classes of the loader, is in the duration and not in
 * what is its own.
 */
#ifndef JVM_LOADS_H
#define JVM_LOADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jvm/record.h"

struct loading_thread;

struct loads {			/* zero: none */
	struct loading_thread *threads;
	size_t nr, alloc;
};

enum load_step {
	LOAD_ASKS,		/* the VM is asked for it */
	LOAD_RESOLVES,		/* its superclass or an interface */
	LOAD_DEFINES,
	LOAD_SEARCHES,		/* a loader does; has no end */
	LOAD_GIVEN,		/* its bytes are, by a loader */
	LOAD_LOADED,		/* it is: the text is where from */
};

struct load_line {
	uint64_t time_ns;
	uint32_t thread;
	enum load_step step;
	bool ends;		/* the step does, else begins; not of LOAD_LOADED and LOAD_SEARCHES */
	uint64_t sp;		/* where on the stack, of the last two; 0: not known */
	const char *name;	/* java/lang/String or java.lang.String, not terminated */
	size_t name_len;	/* 0: not known, of LOAD_GIVEN */
	size_t full_len;	/* of LOAD_LOADED: with the number of a hidden class */
	const char *source;
	size_t source_len;
};

/* Hands over a JVM_EVENT_CLASS_TIME if a load ends with the line; its texts are good for the call. */
void loads_take(struct loads *l, const struct load_line *line, void (*event)(void *ctx, struct jvm_event *e),
		void *ctx);
/* Forget open loads, as a stretch of the log is missing, or at its end. */
void loads_release(struct loads *l);

#endif
