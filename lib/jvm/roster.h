/* SPDX-License-Identifier: MIT */
/*
 * roster.h - what tells a heap dump which of its objects are samples of "record -e live".
 *
 * Nobody but the JVM knows where an object is when it dumps its heap. So just before, the agent makes an
 * Object[] with weak references to the sampled objects, which the dump then has: element 0 is an int[] whose
 * element ROSTER_HEAD + i is the number of the sample that element 1 + i refers to. The collector clears
 * references to what is garbage; elements at the end may be null. A global reference holds the array until
 * arcprof says that the dump is made.
 *
 * It is asked for by loading the agent once more, with the option JVM_ROSTER_OPTION, "+" to make it or "-" to
 * let it go, and the cookie in hex. Agent_OnAttach returns an enum jvm_roster_answer.
 */
#ifndef JVM_ROSTER_H
#define JVM_ROSTER_H

#include <stdint.h>

#define JVM_ROSTER_OPTION "roster:"

enum {
	ROSTER_COOKIE = 4,	/* of which dump: the low half, then the high one */
	ROSTER_NR = 6,		/* samples */
	ROSTER_HEAD = 8,
	ROSTER_MAX = 1 << 21,	/* samples that a reader believes in */
};

/* The first elements of the int[]. */
#define ROSTER_MAGIC { 0x61726370, 0x726f666a, 0x3c1d95e2, 0x6f0ba847 }

enum jvm_roster_answer {
	JVM_ROSTER_DONE,
	/* away from the codes of JNI and of HotSpot's loader */
	JVM_ROSTER_NOT_LIVE = 201,	/* no recording of live objects is on */
	JVM_ROSTER_NO_ROOM,		/* the heap is too full */
	JVM_ROSTER_COUNTED,		/* calls are counted: those that it takes would be */
	JVM_ROSTER_LATE,		/* it took too long */
};

#endif
