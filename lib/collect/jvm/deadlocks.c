// SPDX-License-Identifier: GPL-2.0-or-later
/* deadlocks.c - finds deadlocks among stuck threads that agents report (deadlocks.h). */
#include <inttypes.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "collect/jvm/deadlocks.h"

enum { MAX_TOLD = 8, MAX_KNOWN = 1000 };

void deadlocks_release(struct deadlocks *d)
{
	threads_release(&d->stuck);
	free(d->known);
	*d = (struct deadlocks)DEADLOCKS_INIT;
}

/* Return the innermost frame that is not the JDK's, or that is. */
static const struct threads_frame *where(const struct threads *t, const struct threads_thread *x)
{
	static const char *const jdk[] = { "java.", "jdk.", "sun." };
	size_t i, k;

	for (i = 0; i < x->nr_frames; i++) {
		const struct threads_frame *f = &t->frames[x->first_frame + i];

		for (k = 0; k < ARRAY_SIZE(jdk) && strncmp(f->class_name, jdk[k], strlen(jdk[k])); k++)
			;
		if (k == ARRAY_SIZE(jdk))
			return f;
	}
	return x->nr_frames ? &t->frames[x->first_frame] : NULL;
}

static void deadlocks_put_thread(const struct threads *t, const struct threads_thread *x, struct buf *b)
{
	const struct threads_frame *f = where(t, x);

	if (*x->name)
		buf_fmt(b, "\"%s\" ", x->name);
	buf_fmt(b, "#%" PRIu64, x->id);
	if (!f)
		return;
	buf_fmt(b, " (%s.%s", f->class_name, f->method);
	if (*f->file)
		buf_fmt(b, ", %s", f->file);
	if (*f->file && f->line && f->line != JVM_DUMP_NATIVE)
		buf_fmt(b, ":%" PRIu32, f->line);
	buf_putc(b, ')');
}

static void put_cycle(const struct threads *t, const struct threads_thread *first, struct buf *b)
{
	const struct threads_thread *x = first, *next;
	int n = 0;

	deadlocks_put_thread(t, x, b);
	for (;; x = next) {
		const struct threads_lock *w = threads_wanted(t, x);

		next = threads_cycle_next(t, x);
		buf_fmt(b, "%s waits for %s@%" PRIx32 " of ", n ? ", which" : "", w->class_name, w->hash);
		if (next == first) {
			buf_str(b, n ? "the first" : "its own, which it has for reading");
			break;
		}
		if (++n == MAX_TOLD) {
			buf_str(b, "another, and so on");
			break;
		}
		deadlocks_put_thread(t, next, b);
	}
}

static bool is_new(struct deadlocks *d, uint64_t sum)
{
	size_t i;

	for (i = 0; i < d->nr_known; i++)
		if (d->known[i] == sum)
			return false;
	if (d->nr_known >= MAX_KNOWN)
		return false;
	*VEC_ADD(d->known, d->nr_known, d->alloc_known) = sum;
	return true;
}

void deadlocks_add(struct deadlocks *d, enum jvm_rec_type type, const union jvm_record *r, struct buf *text)
{
	const struct threads_thread *first, *x;
	uint32_t i;

	if (!threads_add(&d->stuck, type, r))
		return;
	for (i = 1; i <= d->stuck.nr_deadlocks; i++) {
		uint64_t sum = 0, nr = 0;

		x = first = threads_cycle_first(&d->stuck, i);
		do {
			sum += mix64(x->id);
			nr++;
			x = threads_cycle_next(&d->stuck, x);
		} while (x != first);
		if (!is_new(d, sum))
			continue;
		buf_fmt(text, "%" PRIu64 " thread%s: ", nr, plural(nr));
		put_cycle(&d->stuck, first, text);
		buf_putc(text, '\0');
	}
}
