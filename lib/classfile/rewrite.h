/* SPDX-License-Identifier: MIT */
/*
 * rewrite.h - puts probes into the methods of a Java class: at entry, before each return, and
 * in a handler that sees what is thrown through the method and throws it on.
 *
 * A class goes in as the bytes of its class file and comes out as bytes that every verifier of
 * HotSpot accepts if it accepted those that went in. Versions 45 (JDK 1.1) to current.
 *
 * Freestanding: no libc but memcpy, memset, memcmp (which the agent brings itself), no global
 * state, no recursion. Memory comes from the caller. Any number of threads may rewrite at once,
 * each with its own struct classfile_probe and struct classfile_out.
 *
 * The input may be anything: it is bounds-checked, and what makes no sense is left alone.
 *
 * Sources: The Java Virtual Machine Specification, chapter 4 (class file, verification) and 6
 * (instructions). Why each rule: Documentation/technical/callflow-rewriting.adoc.
 */
#ifndef CLASSFILE_REWRITE_H
#define CLASSFILE_REWRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a constant of the class ("modified UTF-8"), not terminated. */
struct classfile_text {
	const char *p;
	size_t len;
};

enum {
	CLASSFILE_ACC_STATIC = 0x0008,
	CLASSFILE_ACC_SYNCHRONIZED = 0x0020,
	CLASSFILE_ACC_BRIDGE = 0x0040,		/* of methods */
	CLASSFILE_ACC_NATIVE = 0x0100,
	CLASSFILE_ACC_INTERFACE = 0x0200,	/* of classes */
	CLASSFILE_ACC_ABSTRACT = 0x0400,
	CLASSFILE_ACC_SYNTHETIC = 0x1000,
};

/* A method with code. Borrowed from the input, like its texts: valid during the callback. */
struct classfile_method {
	struct classfile_text class_name;	/* java/lang/String; of a hidden class as the JVM gives it */
	struct classfile_text name;		/* toString, <init>, <clinit> */
	struct classfile_text descriptor;	/* ()Ljava/lang/String; */
	uint16_t class_flags;			/* CLASSFILE_ACC_... of its class */
	uint16_t flags;				/* and its own */
	uint16_t version;			/* major version of the class file, 45 = JDK 1.1 */
	uint16_t idx;				/* the method's place in the class, from 0 */
	uint32_t code_len_bytes;
	bool intrinsic;				/* HotSpot may replace calls of it: no probe would run then */
};

/* why something is left as it was */
enum classfile_reason {
	CLASSFILE_OK,
	/* The whole class; "m" of skipped() has what was known by then (lengths 0 where nothing was). */
	/* not a class file, or truncated, or lengths that contradict each other */
	CLASSFILE_MALFORMED,
	CLASSFILE_UNKNOWN_CONSTANT,	/* a kind of constant newer than this code: its length is unknown */
	CLASSFILE_NO_MEMORY,		/* mem() returned NULL; reported for single methods, too */
	/* One method. */
	CLASSFILE_BAD_CODE,		/* its code, exception table or an attribute makes no sense */
	CLASSFILE_TOO_LARGE,		/* with the probes it would exceed the JVM's 65535 bytes */
	CLASSFILE_POOL_FULL,		/* no room for more constants: 65535 entries */
	CLASSFILE_STACK_FULL,		/* needs 65535 words of operand stack already */
	/* a constructor, or a branch to widen, where the types are unknown */
	CLASSFILE_NO_FRAME,
	/* java.lang.Object.<init>: HotSpot's compiler crashes on a handler in it */
	CLASSFILE_UNSAFE,
	/* it enters or leaves a monitor as no compiler writes it, or has an older version than that takes */
	CLASSFILE_ODD_LOCK,
	CLASSFILE_NR_REASONS,
};

/* select()'s answer for a method that is to stay as it is. */
#define CLASSFILE_LEAVE_ALONE (-1)

/*
 * Probes where objects are locked, in place of those of calls: methods of classfile_probe.helper.
 *
 *	enter(Object, int)	called after a monitor was entered; int is the object's identity hash, which
 *				was taken before: an object that is locked may not have it at hand.
 *	entered(Object)		called first in a synchronized method, for its monitor.
 *	exit(Object)		called before monitorexit, before a return of a synchronized method, and when
 *				an exception leaves that.
 *	waited()		called after a wait() of Object has returned, unless by an exception.
 *	notify(Object), notify_all(Object)
 *				called before notify() or notifyAll() of the object, perhaps in a thread that
 *				does not have its monitor.
 *	owns(Object, Thread), state(Object, int)
 *				called first in a method for which select() says so, with its argument: of a
 *				long the lower half, for CLASSFILE_SHARED always -1. owns() gets null for
 *				CLASSFILE_DISOWNS.
 *	stamped(Object, boolean, long, long)
 *				called before each return of a method with CLASSFILE_STAMPED, which takes two
 *				longs and returns a boolean: with its object, that, and those.
 *
 * A probe may throw when the stack is full. After enter(), the class's own handlers then call exit(); what
 * exit() throws leaves the method, with the monitor released.
 */
struct classfile_locks {
	const char *enter, *entered, *exit, *waited, *notify, *notify_all, *owns, *state, *stamped;
};

/* select()'s answers with these; a method without locks stays as it is, which is not reported. */
enum {
	CLASSFILE_LOCKS, CLASSFILE_OWNS, CLASSFILE_DISOWNS, CLASSFILE_STATE, CLASSFILE_LONG_STATE,
	CLASSFILE_SHARED, CLASSFILE_STAMPED,
};

/*
 * Probes that get an object passed to the method, in place of those of calls: methods of
 * classfile_probe.helper.
 *
 *	enter(Object, int)	called first in the method, with the object and the number of select()'s
 *				answer. With CLASSFILE_GIVEN_THIS it is enter(Object, Object, int), and
 *				the method's own object comes first.
 *	leave(int)		called before each return, and when an exception leaves the method, with the
 *				number.
 *	result(Object, int)	called with CLASSFILE_GIVEN_RESULT in place of leave() before each return,
 *				with what is returned.
 */
struct classfile_given {
	const char *enter, *leave;
	const char *result;		/* NULL: no answer wants it */
};

/*
 * select()'s answer with these. number: 0 to 127; local: the variable of the object, 0 to 3, or
 * CLASSFILE_NO_OBJECT, null; leaves: leave() is wanted. Of a constructor neither 0 nor leave().
 */
#define CLASSFILE_GIVEN(number, local, leaves) ((number) | (local) << 8 | (leaves) << 16)
enum { CLASSFILE_NO_OBJECT = 4 };
/*
 * Flags for the answer: for a method that is neither static nor a constructor; for one that leaves, and
 * returns an object.
 */
#define CLASSFILE_GIVEN_THIS (1 << 17)
#define CLASSFILE_GIVEN_RESULT (1 << 18)

/* what is put in; all texts are NUL-terminated, at most 255 bytes, borrowed during the call */
struct classfile_probe {
	/*
	 * A class that every class can see (java/lang/ArcProbe), with static methods of type
	 * (I)V: called with the number of the method first thing in it, before each return, and
	 * when an exception leaves it.
	 *
	 * One thing can leave a method unseen: an exception out of a constructor's call of super() or
	 * this(), which no verifier lets be caught. It leaves that constructor for certain, so that
	 * the next event of a frame further out tells: end what is above that frame. For the frame
	 * that catches it there is a fourth method, called first thing in its handlers (not in those
	 * that watch themselves, as javac makes for synchronized blocks). NULL: no such calls.
	 */
	const char *helper;
	const char *enter;
	const char *exit;
	const char *thrown;
	const char *caught;
	/*
	 * A fifth probe, called once in each basic block with its number of instructions: first in the block,
	 * but after caught and, in the first block, enter. Where a handler at the same place or before it
	 * covers a part of a block, no probe may be. The block is counted behind that part, or not at all if
	 * nothing is behind it. NULL: no such calls.
	 */
	const char *count;
	/*
	 * Two more, called before the method may call something: with the line that it does so from, or in
	 * code without lines the bytecode index. Both have 16 bits: the upper half is negative. A reported
	 * place holds for this call of the method until it reports another one. There is none where nothing
	 * is new, and none in a method where one would stand in a part that a handler at the same place or
	 * before it watches. Both NULL: no such calls.
	 */
	const char *line, *bci;
	const struct classfile_locks *locks;	/* NULL: those above */
	const struct classfile_given *given;	/* the same; one of the two at most */
	/* for tests: widens every jump, as if none fitted */
	bool widen_all;

	/*
	 * The method's number, 0 to INT32_MAX, or CLASSFILE_LEAVE_ALONE. Asked once a method with code, in
	 * order.
	 */
	int32_t (*select)(void *ctx, const struct classfile_method *m);
	/*
	 * Told of every method that select() gave a number but that stays as it was, and of a class
	 * that could not be read (methods already selected in it are not rewritten then). May be NULL.
	 */
	void (*skipped)(void *ctx, const struct classfile_method *m, enum classfile_reason reason);
	void *ctx;

	/*
	 * size bytes, aligned for any type, contents undefined, or NULL. Never given back: the caller
	 * drops all of it at once when it has copied the result. A class of n bytes needs about 4 n + 64
	 * KiB; no input needs more than 64 n + 32 MiB.
	 */
	void *(*mem)(void *mem_ctx, size_t size);
	void *mem_ctx;
};

struct classfile_out {
	const uint8_t *data;		/* the new class, in memory from mem(); NULL: use the original */
	size_t len;
	uint32_t nr_methods;		/* all of the class */
	uint32_t nr_no_code;		/* abstract and native ones among them: not asked about */
	uint32_t nr_rewritten;
	uint32_t nr_skipped;		/* selected but left alone: skipped() was called for each */
	uint32_t nr_widened;		/* branches that became too long and were widened */
};

/*
 * Rewrites the methods that select() chose.
 *
 * Returns CLASSFILE_OK, with out->data NULL when no method was rewritten (none selected, or each
 * skipped); else why the class cannot be rewritten, with out->data NULL. *out is always filled.
 */
enum classfile_reason classfile_rewrite(const void *in, size_t len, const struct classfile_probe *probe,
					struct classfile_out *out);

/*
 * Return only the class's name, for filters that decide by it before anything else is done. p is NULL if the
 * bytes are not a class file. Reads the constant pool only.
 */
struct classfile_text classfile_name(const void *in, size_t len);

/* Return "too large with probes" and so on; never NULL. */
const char *classfile_reason_text(enum classfile_reason reason);

#endif
