// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * threads_hprof.c - a picture of threads in the text of HPROF, the JDK's profiler up to JDK 8 (-Xrunhprof,
 * monitor=y): THREAD START, TRACE, and a MONITOR DUMP. It knew no locks but monitors, and no virtual threads;
 * these are shown like others.
 *
 * Source: JDK 8 demo/jvmti/hprof/src/hprof_io.c.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/quote.h"
#include "show/threads.h"

enum { FIRST_THREAD = 200001, FIRST_TRACE = 300001 };

/* Return the old profiler's word for the state. */
static const char *status(uint32_t bits)
{
	static const struct {
		const char *ours, *theirs;
	} words[] = {
		{ "blocked", "MW" }, { "sleeping", "SL" }, { "runnable", "R" }, { "new", "NS" },
		{ "terminated", "ZO" }, { "unknown", "UN" },
	};
	const char *state = threads_state(bits);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(state, words[i].ours))
			return words[i].theirs;
	return "CW";
}

static size_t threads_hprof_number(const struct threads *t, const struct threads_thread *x)
{
	return FIRST_THREAD + (x - t->threads);
}

static void put_start(const struct threads *t, const struct threads_thread *x, struct buf *b)
{
	buf_fmt(b, "THREAD START (obj=%" PRIx64 ", id = %zu, name=\"", x->id, threads_hprof_number(t, x));
	quote_add(b, x->name);
	buf_str(b, "\", group=\"");
	quote_add(b, x->group);
	buf_str(b, "\")\n");
}

static void put_trace(const struct threads *t, const struct threads_thread *x, struct buf *b)
{
	size_t i;

	buf_fmt(b, "TRACE %zu: (thread=%zu)\n", FIRST_TRACE + (x - t->threads), threads_hprof_number(t, x));
	if (!x->nr_frames)
		buf_str(b, "\t<empty>\n");
	for (i = 0; i < x->nr_frames; i++) {
		const struct threads_frame *f = &t->frames[x->first_frame + i];

		buf_putc(b, '\t');
		quote_add(b, f->class_name);
		buf_putc(b, '.');
		quote_add(b, f->method);
		buf_putc(b, '(');
		quote_add(b, f->file);
		if (f->line == JVM_DUMP_NATIVE)
			buf_str(b, ":Native method)\n");
		else if (f->line)
			buf_fmt(b, ":%" PRIu32 ")\n", f->line);
		else
			buf_str(b, ":Unknown line)\n");
	}
}

/* --- monitors --- */

struct use {			/* of a monitor by a thread */
	const struct threads_lock *lock;
	const struct threads_thread *thread;
};

static int by_monitor(const void *a, const void *b)
{
	const struct use *x = a, *y = b;

	return COMPARE(x->lock->hash, y->lock->hash) ?: strcmp(x->lock->class_name, y->lock->class_name);
}

static struct use *uses(const struct threads *t, size_t *nr)
{
	struct use *list = xcalloc(t->nr_locks + 1, sizeof(*list));
	size_t i, k;

	*nr = 0;
	for (i = 0; i < t->nr_threads; i++) {
		const struct threads_thread *x = &t->threads[i];

		for (k = 0; k < x->nr_locks; k++)
			if (t->locks[x->first_lock + k].role != JVM_DUMP_PARKS)
				list[(*nr)++] = (struct use){ &t->locks[x->first_lock + k], x };
	}
	qsort(list, *nr, sizeof(*list), by_monitor);
	return list;
}

/* Append java.lang.Object as Ljava/lang/Object;, as the old profiler wrote classes here. */
static void put_signature(const char *class_name, struct buf *b)
{
	struct buf sig = BUF_INIT;
	const char *c;

	for (c = class_name; *c; c++)
		buf_putc(&sig, *c == '.' ? '/' : *c);
	if (*class_name != '[')
		buf_putc(b, 'L');
	quote_add(b, sig.data ? sig.data : "");
	if (*class_name != '[')
		buf_putc(b, ';');
	buf_release(&sig);
}

static void put_waiting(const struct threads *t, const struct use *u, size_t nr, uint32_t role,
			const char *what, struct buf *b)
{
	size_t i, n = 0;

	for (i = 0; i < nr; i++)
		if (u[i].lock->role == role)
			buf_fmt(b, "%sthread %zu", n++ ? ", " : what, threads_hprof_number(t, u[i].thread));
	if (n)
		buf_putc(b, '\n');
}

static void put_monitor(const struct threads *t, const struct use *u, size_t nr, struct buf *b)
{
	const struct threads_thread *owner = NULL;
	size_t i, entries = 0;

	for (i = 0; i < nr; i++) {
		if (u[i].lock->role == JVM_DUMP_HOLDS) {
			owner = u[i].thread;
			entries++;
		} else if (!owner && u[i].lock->owner && u[i].lock->role == JVM_DUMP_ENTERS) {
			owner = threads_find(t, u[i].lock->owner);
		}
	}
	buf_str(b, "    MONITOR ");
	put_signature(u->lock->class_name, b);
	buf_putc(b, '\n');
	if (owner && entries)
		buf_fmt(b, "\towner: thread %zu, entry count: %zu\n", threads_hprof_number(t, owner),
			entries);
	else if (owner)
		buf_fmt(b, "\towner: thread %zu\n", threads_hprof_number(t, owner));
	else
		buf_str(b, "\tunowned\n");
	put_waiting(t, u, nr, JVM_DUMP_ENTERS, "\twaiting to enter: ", b);
	put_waiting(t, u, nr, JVM_DUMP_WAITS, "\twaiting to be notified: ", b);
}

static void put_monitors(const struct threads *t, struct buf *b)
{
	size_t nr, i, k;
	struct use *list = uses(t, &nr);

	for (i = 0; i < nr; i = k) {
		for (k = i + 1; k < nr && !by_monitor(&list[i], &list[k]); k++)
			;
		put_monitor(t, &list[i], k - i, b);
	}
	free(list);
}

void threads_print_hprof(const struct threads *t, FILE *out)
{
	struct buf b = BUF_INIT;
	size_t i;

	for (i = 0; i < t->nr_threads; i++)
		put_start(t, &t->threads[i], &b);
	for (i = 0; i < t->nr_threads; i++)
		put_trace(t, &t->threads[i], &b);
	buf_str(&b, "MONITOR DUMP BEGIN\n");
	for (i = 0; i < t->nr_threads; i++)
		buf_fmt(&b, "    THREAD %zu, trace %zu, status: %s\n",
			threads_hprof_number(t, &t->threads[i]),
			FIRST_TRACE + i, status(t->threads[i].state));
	put_monitors(t, &b);
	buf_str(&b, "MONITOR DUMP END\n");
	fwrite(b.data, 1, b.len, out);
	buf_release(&b);
}
