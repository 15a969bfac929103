/* SPDX-License-Identifier: GPL-2.0-or-later */
/* frame.h - one level of a call stack; record.h says what the numbers in it name. */
#ifndef TRACE_FRAME_H
#define TRACE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum frame_kind {
#define FRAME(kind, name) FRAME_##kind,
#include "trace/marks.h"
	FRAME_NR
};

/* The tier at which the code of a FRAME_METHOD ran when a call of it began; the numbers are in traces. */
enum frame_tier {
	FRAME_TIER_UNKNOWN,
	FRAME_TIER_INTERPRETED,
	FRAME_TIER_C1,
	FRAME_TIER_C2,
	FRAME_TIER_INLINED,		/* in the compiled code of a caller */
	FRAME_NR_TIERS,
};

/* Bounds of the two numbers that stand in place of FRAME_SITE. */
enum { FRAME_PLACE_BCI = 1 << 16, FRAME_PLACES = 1 << 17 };

/*
 * The kind, below FRAME_NR, says which of the other members are used; the rest are 0. There is no
 * padding either, so that frames are compared and hashed as bytes.
 *
 * The address of a caller's frame is the return address minus one, so that it lies inside
 * the call instruction; the innermost frame's is the interrupted instruction.
 */
struct frame {
	enum frame_kind kind;
	union {
		uint32_t module;
		uint32_t proc;
		uint32_t function;
		uint32_t count;		/* of MARK_LEFT_OUT, frames */
	};
	union {
		uint64_t off;		/* in the module's file; of the kernel, the address */
		uint64_t addr;		/* in the process */
		uint64_t bci;
		uint64_t line;		/* 0: not known */
		uint64_t mark;		/* enum frame_mark, or a later arcprof's */
		uint64_t tier;		/* enum frame_tier */
		uint64_t place;		/* a line, or FRAME_PLACE_BCI and a bytecode index */
	};
	uint32_t method;		/* of FRAME_JIT the compiled one, not what is inlined; 0 unknown */
	uint32_t compile_id : 31;	/* HotSpot's */
	/*
	 * The frame was just being built or torn down: it belongs to the method alone, whatever the
	 * inline table says for addr.
	 */
	uint32_t not_inlined : 1;
};

_Static_assert(sizeof(struct frame) == 24, "no padding");

static inline bool frame_equal(const struct frame *x, const struct frame *y)
{
	return !memcmp(x, y, sizeof(*x));
}

/* A frame as a trace stores it; what the words mean depends on the kind (arcprof-trace(5), "frames"). */
struct frame_words {
	uint32_t kind, a;
	uint64_t b;
	uint32_t c, d;
};

struct frame_words frame_words(const struct frame *f);
/* Make a frame of any words: what its kind lacks is ignored, an unknown kind is a mark without a reason. */
struct frame frame_from_words(const struct frame_words *w);

/* Reasons; FRAME_MARK stands where the missing outer frames would. */
enum frame_mark {
#define MARK(reason, text) MARK_##reason,
#include "trace/marks.h"
	MARK_NR
};

const char *frame_kind_name(enum frame_kind kind);	/* "native", "jit" and so on */
const char *frame_mark_name(uint32_t mark);	/* "[unwalkable: ...]" and the like; never NULL */
enum { FRAME_MARK_TEXT = 64 };
/*
 * Return the name of a frame that is a mark, in buf if it says how many frames are missing: two digits of
 * that, so that stacks of about the same depth are one.
 */
const char *frame_mark_text(const struct frame *f, char buf[FRAME_MARK_TEXT]);
/* Return whether it is the name of a mark that stands for frames, as exported profiles contain it. */
bool frame_mark_is_text(const char *name, size_t len);
/* Return whether it says how the frames outside it were found: none is missing there. */
bool frame_mark_is_note(uint64_t mark);

#endif
