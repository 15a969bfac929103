// SPDX-License-Identifier: GPL-2.0-or-later
/* frame.c - names of kinds and marks of frames, and their encoding in two words (frame.h). */
#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "trace/frame.h"

const char *frame_kind_name(enum frame_kind kind)
{
	static const char *const names[FRAME_NR] = {
#define FRAME(kind, name) [FRAME_##kind] = (name),
#include "trace/marks.h"
	};

	return names[kind];
}

const char *frame_mark_name(uint32_t mark)
{
	static const char *const names[MARK_NR] = {
#define MARK(reason, text) [MARK_##reason] = (text),
#include "trace/marks.h"
	};

	return mark < MARK_NR ? names[mark] : "[unwalkable: reason unknown to this version]";
}

const char *frame_mark_text(const struct frame *f, char buf[FRAME_MARK_TEXT])
{
	uint32_t unit = 1;

	if (f->mark != MARK_LEFT_OUT || !f->count)
		return frame_mark_name(MIN(f->mark, (uint64_t)UINT32_MAX));
	while (f->count / unit >= 100)
		unit *= 10;
	snprintf(buf, FRAME_MARK_TEXT, "[... %s%" PRIu32 " frame%s ...]", unit > 1 ? "about " : "",
		 f->count / unit * unit, plural(f->count));
	return buf;
}

bool frame_mark_is_text(const char *name, size_t len)
{
	static const char *const begin[] = { "[unwalkable:", "[... " };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(begin); i++)
		if (len > strlen(begin[i]) && !memcmp(name, begin[i], strlen(begin[i])))
			return true;
	return false;
}

bool frame_mark_is_note(uint64_t mark)
{
	return mark == MARK_GUESSED || mark == MARK_READ_LATER || mark == MARK_SEARCHED;
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
		w.b = f->method | f->tier << 32;
		break;
	case FRAME_SITE:
		w.b = f->method | f->place << 32;
		break;
	case FRAME_MARK:
		w.a = f->count;
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

static uint64_t known_tier(uint64_t tier)
{
	return tier < FRAME_NR_TIERS ? tier : FRAME_TIER_UNKNOWN;
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
		return (struct frame){
			FRAME_METHOD, .proc = w->a, .method = w->b, .tier = known_tier(w->b >> 32),
		};
	case FRAME_SITE:
		return (struct frame){
			FRAME_SITE, .proc = w->a, .method = w->b, .place = (w->b >> 32) % FRAME_PLACES,
		};
	case FRAME_MARK:
		return (struct frame){ FRAME_MARK, .count = w->a, .mark = w->b };
	case FRAME_NAMED:
		return (struct frame){ FRAME_NAMED, .function = w->a, .line = w->b };
	default:	/* a later arcprof's */
		return (struct frame){ FRAME_MARK, .mark = MARK_NONE };
	}
}
