/* SPDX-License-Identifier: MIT */
/*
 * names.h - numbers for methods, given when a method is first seen; its names leave at once,
 * so nothing that is unloaded later loses them.
 */
#ifndef AGENT_NAMES_H
#define AGENT_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/hashes.h"
#include "agent/hotspot/blocked.h"
#include "agent/hotspot/lines.h"
#include "agent/ring.h"
#include "agent/sys.h"

/* Bytes in the VM or in a class file, not terminated. */
struct names_text {
	const char *s;
	uint32_t len;			/* at most JVM_MAX_STRING */
};

struct names_method {
	struct names_text class_name, name, sig, source;
	struct lines lines;
};

/* The kind of wait in which a thread has blocked, by the method that it called. */
enum names_waits {
	NAMES_NOTHING,
	NAMES_PARK,		/* Unsafe.park() */
	NAMES_SLEEP,		/* Thread.sleep() */
	NAMES_WAIT,		/* Object.wait() */
	NAMES_VTHREAD_SLEEP,	/* of a virtual thread, which parks */
};

struct method_info {
	uint32_t id;
	uint32_t waits;		/* enum names_waits */
	uintptr_t code;		/* bytecodes */
	uint32_t code_size;
};

enum names_result {
	NAMES_OK,
	NAMES_NOT_A_METHOD,
	NAMES_NO_ROOM,		/* its record did not fit: nobody may use the number */
};

enum names_trust {
	/* the VM reports it at this moment: read without care; not in signal handlers */
	NAMES_TOLD,
	NAMES_ALIVE,		/* surely a live Method: found in live code or through JVMTI */
	NAMES_IF_BCP,		/* a word on the stack: believed when bcp lies in its bytecodes */
	NAMES_IF_LINKED,	/* a word somewhere: believed when its class points back */
};

/* Also forgets all numbers: the next reader has not seen the names. No handler may run. */
bool names_init(void);
/*
 * ring: where a METHOD record goes, for signal handlers; NULL: the log. method 0 is never a method.
 */
enum names_result names_get(uintptr_t method, enum names_trust trust, uintptr_t bcp,
			    struct jvm_ring *ring, struct method_info *out);
/*
 * Do the same for a method on the stack of another thread. Nothing is loaded that may have been unmapped
 * by now, and what was read is believed only while the thread is still blocked.
 */
enum names_result names_get_of(struct blocked *b, uintptr_t method, enum names_trust trust, uintptr_t bcp,
			       struct jvm_ring *ring, struct method_info *out);
/* Return whether the method has these names; it may be no method. Not in signal handlers. */
bool names_are(uintptr_t method, const char *class_name, const char *name, const char *sig);
/* Return the names as a key of a table of numbers. */
struct hashes_key names_key(const struct names_method *m);
/*
 * Return the number that a method whose names come from elsewhere has in that table; a new one gets one,
 * and its record goes to the log. 0: out of memory.
 */
uint32_t names_number(struct hashes *of, struct sys_lock *lock, const struct hashes_key *k,
		      const struct names_method *m);
/* Note that classes were unloaded: what is known about addresses must be checked again. */
void names_class_unloaded(void);
/* Changes whenever classes were unloaded. */
uint32_t names_epoch(void);

#endif
