// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/frame.h"

static const char *const mark_names[MARK_NR] = {
	[MARK_NONE] = "[unwalkable: no reason given]",
	[MARK_TRUNCATED_STACK] = "[unwalkable: deeper than the stack copy]",
	[MARK_TRUNCATED_DEPTH] = "[unwalkable: more frames than the limit]",
	[MARK_NO_UNWIND_INFO] = "[unwalkable: no unwind information]",
	[MARK_BAD_UNWIND_INFO] = "[unwalkable: unwind information led astray]",
	[MARK_NO_USER_STACK] = "[unwalkable: no user stack]",
	[MARK_JAVA_NOT_WALKABLE] = "[unwalkable: Java frame of no known kind]",
	[MARK_JAVA_INTERPRETER] = "[unwalkable: interpreter frame half built]",
	[MARK_JAVA_STUB] = "[unwalkable: JVM stub without a frame]",
	[MARK_JAVA_DEPTH] = "[unwalkable: more Java frames than the agent's buffer]",
	[MARK_VTHREAD_CONTINUES] = "[unwalkable: rest of the virtual thread is in the heap]",
	[MARK_PRUNED] = "[pruned]",
	[MARK_LABELS] = "[labels]",
	[MARK_NO_FRAME_POINTER] = "[unwalkable: frame pointers end here]",
	[MARK_DAMAGED] = "[unwalkable: damaged part of the trace]",
};

const char *frame_mark_name(uint32_t mark)
{
	return mark < MARK_NR ? mark_names[mark] : "[unwalkable: reason unknown to this version]";
}

#define WORD_NOT_INLINED (1u << 31)	/* in c of FRAME_JIT, beside the compile id */

struct frame_words frame_words(const struct frame *f)
{
	struct frame_words w = { f->kind, f->proc, f->addr, 0, 0 };

	switch (f->kind) {
	case FRAME_NATIVE:
	case FRAME_KERNEL:
		w.a = f->module;
		w.b = f->off;
		break;
	case FRAME_JIT:
		w.c = f->compile_id | (f->not_inlined ? WORD_NOT_INLINED : 0);
		w.d = f->method;
		break;
	case FRAME_INTERP:
		w.b = f->method;
		w.c = f->bci;
		break;
	case FRAME_METHOD:
		w.b = f->method;
		break;
	case FRAME_MARK:
		w.b = f->mark;
		break;
	case FRAME_NAMED:
		w.a = f->function;
		w.b = f->line;
		break;
	case FRAME_NONE:
	case FRAME_ANON:
	case FRAME_STUB:
	case FRAME_NR:
		break;
	}
	return w;
}

struct frame frame_from_words(const struct frame_words *w)
{
	switch (w->kind) {
	case FRAME_NONE:
		return (struct frame){ FRAME_NONE };
	case FRAME_NATIVE:
	case FRAME_KERNEL:
		return (struct frame){ w->kind, .module = w->a, .off = w->b };
	case FRAME_ANON:
	case FRAME_STUB:
		return (struct frame){ w->kind, .proc = w->a, .addr = w->b };
	case FRAME_JIT:
		return (struct frame){
			FRAME_JIT, .proc = w->a, .addr = w->b, .method = w->d,
			.compile_id = w->c & ~WORD_NOT_INLINED, .not_inlined = !!(w->c & WORD_NOT_INLINED),
		};
	case FRAME_INTERP:
		return (struct frame){ FRAME_INTERP, .proc = w->a, .method = w->b, .bci = w->c };
	case FRAME_METHOD:
		return (struct frame){ FRAME_METHOD, .proc = w->a, .method = w->b };
	case FRAME_MARK:
		return (struct frame){ FRAME_MARK, .mark = w->b };
	case FRAME_NAMED:
		return (struct frame){ FRAME_NAMED, .function = w->a, .line = w->b };
	default:	/* a later arcprof's */
		return (struct frame){ FRAME_MARK, .mark = MARK_NONE };
	}
}
