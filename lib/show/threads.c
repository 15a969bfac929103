// SPDX-License-Identifier: GPL-2.0-or-later
/* threads.c - a picture of threads as text, JSON and CSV (threads.h). */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/quote.h"
#include "report/report.h"
#include "report/sheet.h"
#include "show/threads.h"

/* The bits of JVMTI's GetThreadState(). */
enum {
	ALIVE = 1, TERMINATED = 2, RUNNABLE = 4, WITH_TIMEOUT = 0x20, SLEEPING = 0x40, WAITING = 0x80,
	IN_OBJECT_WAIT = 0x100, PARKED = 0x200, BLOCKED = 0x400,
};

const char *threads_state(uint32_t bits)
{
	bool timed = bits & WITH_TIMEOUT;

	if (!(bits & ALIVE))
		return bits & TERMINATED ? "terminated" : "new";
	if (bits & BLOCKED)
		return "blocked";
	if (bits & SLEEPING)
		return "sleeping";
	if (bits & PARKED)
		return timed ? "timed parked" : "parked";
	if (bits & (IN_OBJECT_WAIT | WAITING))
		return timed ? "timed waiting" : "waiting";
	return bits & RUNNABLE ? "runnable" : "unknown";
}

static bool show_threads_is_virtual(const struct threads_thread *x)
{
	return x->flags & JVM_DUMP_VIRTUAL;
}

static const struct threads_frame *show_threads_frame_of(const struct threads *t,
							 const struct threads_thread *x, size_t i)
{
	return &t->frames[x->first_frame + i];
}

static const struct threads_lock *show_threads_lock_of(const struct threads *t,
						       const struct threads_thread *x, size_t i)
{
	return &t->locks[x->first_lock + i];
}

/* Sort by ids, platform threads before virtual ones. */
static int by_id(const void *a, const void *b)
{
	const struct threads_thread *x = *(const struct threads_thread *const *)a;
	const struct threads_thread *y = *(const struct threads_thread *const *)b;

	if (show_threads_is_virtual(x) != show_threads_is_virtual(y))
		return show_threads_is_virtual(x) ? 1 : -1;
	return COMPARE(x->id, y->id);
}

static const struct threads_thread **in_order(const struct threads *t)
{
	const struct threads_thread **order = xcalloc(t->nr_threads + 1, sizeof(*order));
	size_t i;

	for (i = 0; i < t->nr_threads; i++)
		order[i] = &t->threads[i];
	qsort(order, t->nr_threads, sizeof(*order), by_id);
	return order;
}

static size_t nr_virtual(const struct threads *t)
{
	size_t i, nr = 0;

	for (i = 0; i < t->nr_threads; i++)
		nr += show_threads_is_virtual(&t->threads[i]);
	return nr;
}

/* --- text --- */

static void show_threads_put_name(const struct threads_thread *x, struct buf *b)
{
	if (*x->name) {
		buf_putc(b, '"');
		quote_add(b, x->name);
		buf_str(b, "\" ");
	}
	buf_fmt(b, "#%" PRIu64, x->id);
}

static void show_threads_put_lock(const struct threads_lock *l, struct buf *b)
{
	quote_add(b, l->class_name);
	buf_fmt(b, "@%" PRIx32, l->hash);
}

static const char *const role_texts[JVM_DUMP_NR_ROLES] = {
	[JVM_DUMP_ENTERS] = "wants the monitor of", [JVM_DUMP_WAITS] = "waits to be notified by",
	[JVM_DUMP_PARKS] = "is parked by", [JVM_DUMP_HOLDS] = "holds the monitor of",
};

static void show_threads_put_wait(const struct threads *t, const struct threads_lock *w, struct buf *b)
{
	const struct threads_thread *owner = w->owner ? threads_find(t, w->owner) : NULL;

	buf_fmt(b, "    %s ", role_texts[w->role]);
	show_threads_put_lock(w, b);
	if (w->owner && w->role != JVM_DUMP_WAITS) {
		buf_str(b, ", held by ");
		if (owner)
			show_threads_put_name(owner, b);
		else
			buf_fmt(b, "thread #%" PRIu64 ", which is not shown", w->owner);
	}
	buf_putc(b, '\n');
}

/* Append a frame as Java prints it, for tools that read stack traces. */
static void show_threads_put_frame(const struct threads_frame *f, struct buf *b)
{
	buf_str(b, "    at ");
	quote_add(b, f->class_name);
	buf_putc(b, '.');
	quote_add(b, f->method);
	if (f->line == JVM_DUMP_NATIVE) {
		buf_str(b, "(Native Method)\n");
		return;
	}
	buf_putc(b, '(');
	if (*f->file)
		quote_add(b, f->file);
	else
		buf_str(b, "Unknown Source");
	if (f->line)
		buf_fmt(b, ":%" PRIu32, f->line);
	buf_str(b, ")\n");
}

static void put_held_at(const struct threads *t, const struct threads_thread *x, size_t depth, struct buf *b)
{
	size_t i;

	for (i = 0; i < x->nr_locks; i++) {
		const struct threads_lock *l = show_threads_lock_of(t, x, i);

		if (l->role != JVM_DUMP_HOLDS || l->depth != depth)
			continue;
		buf_fmt(b, "        %s ", role_texts[l->role]);
		show_threads_put_lock(l, b);
		buf_putc(b, '\n');
	}
}

/*
 * Return whether to show the lock with its owner: of locks of java.util.concurrent, only those with waiting
 * threads are known. Each is shown once, for the first waiting thread; it is recognized by class and hash.
 */
static bool is_first_waiter(const struct threads *t, const struct threads_thread *x,
			    const struct threads_lock *w, size_t i)
{
	const struct threads_lock *other;
	size_t k;

	if (w->role != JVM_DUMP_PARKS || w->owner != x->id)
		return false;
	for (k = 0; k < i; k++) {
		other = threads_wanted(t, &t->threads[k]);
		if (other && other->owner == x->id && other->hash == w->hash && other->role == w->role)
			return false;
	}
	return true;
}

static void put_held_locks(const struct threads *t, const struct threads_thread *x, struct buf *b)
{
	size_t i;

	for (i = 0; i < t->nr_threads; i++) {
		const struct threads_lock *w = threads_wanted(t, &t->threads[i]);

		if (!w || !is_first_waiter(t, x, w, i))
			continue;
		buf_str(b, "    holds ");
		show_threads_put_lock(w, b);
		buf_str(b, "\n");
	}
}

static void show_threads_put_thread(const struct threads *t, const struct threads_thread *x, struct buf *b)
{
	const struct threads_lock *w = threads_wanted(t, x);
	const struct threads_thread *carrier = x->carrier ? threads_find(t, x->carrier) : NULL;
	size_t i;

	show_threads_put_name(x, b);
	buf_fmt(b, "%s, %s",
		show_threads_is_virtual(x) ? ", virtual" : x->flags & JVM_DUMP_DAEMON ? ", daemon" : "",
		threads_state(x->state));
	if (x->tid)
		buf_fmt(b, ", tid %d", x->tid);
	if (x->cpu_ns)
		buf_fmt(b, ", CPU time %.3f s", x->cpu_ns / 1e9);
	if (carrier) {
		buf_str(b, ", on ");
		show_threads_put_name(carrier, b);
	}
	if (x->behind_deadlock)
		buf_str(b, ", waits for a deadlock");
	buf_putc(b, '\n');
	if (w)
		show_threads_put_wait(t, w, b);
	if (x->is_owner)
		put_held_locks(t, x, b);
	for (i = 0; i < x->nr_frames; i++) {
		show_threads_put_frame(show_threads_frame_of(t, x, i), b);
		put_held_at(t, x, i, b);
	}
	if (!x->nr_frames)
		buf_str(b, "    no Java frames\n");
	buf_putc(b, '\n');
}

static void show_threads_put_head(const struct threads *t, int pid, struct buf *b)
{
	buf_fmt(b, "process %d: %zu thread%s of Java, %zu of them virtual; ", pid, t->nr_threads,
		plural(t->nr_threads), nr_virtual(t));
	if (t->nr_deadlocks)
		buf_fmt(b, "%" PRIu32 " deadlock%s\n", t->nr_deadlocks, plural(t->nr_deadlocks));
	else
		buf_str(b, "no deadlock\n");
	buf_str(b, t->flags & JVM_DUMP_ATOMIC ? "all threads are shown at one moment\n" :
		"each thread is shown at a moment of its own\n");
	if (t->nr_lost)
		buf_fmt(b, "%" PRIu32 " more thread%s ended meanwhile\n", t->nr_lost,
			plural(t->nr_lost));
	if (t->nr_hidden)
		buf_fmt(b, "%" PRIu32 " virtual thread%s cannot be shown, nor be found in deadlocks: that needs JDK 25\n",
			t->nr_hidden, plural(t->nr_hidden));
	if (t->flags & JVM_DUMP_UNTRACKED)
		buf_str(b, "virtual threads may be missing: the JVM runs with -Djdk.trackAllThreads=false\n");
	buf_putc(b, '\n');
}

static size_t cycle_length(const struct threads *t, uint32_t deadlock)
{
	size_t i, nr = 0;

	for (i = 0; i < t->nr_threads; i++)
		nr += t->threads[i].deadlock == deadlock;
	return nr;
}

static void put_deadlock(const struct threads *t, uint32_t deadlock, struct buf *b)
{
	const struct threads_thread *first = threads_cycle_first(t, deadlock), *x = first;

	size_t nr = cycle_length(t, deadlock);

	buf_fmt(b, "Deadlock %" PRIu32 " of %" PRIu32 ": ", deadlock, t->nr_deadlocks);
	if (nr == 1)
		buf_str(b, "a thread that waits for a lock that it has for reading\n\n");
	else
		buf_fmt(b, "%zu threads, each waiting for the next\n\n", nr);
	do {
		show_threads_put_thread(t, x, b);
		x = threads_cycle_next(t, x);
	} while (x && x != first);
}

static void print_native_head(const struct picture *p, FILE *out)
{
	const struct natives *n = &p->natives;
	struct buf b = BUF_INIT;

	buf_fmt(&b, "process %d (", p->pid);
	quote_add(&b, n->command ? n->command : "");
	buf_fmt(&b, "): %zu thread%s\neach thread is shown at a moment of its own\n", n->nr_threads,
		plural(n->nr_threads));
	if (n->nr_ended)
		buf_fmt(&b, "%zu more thread%s ended meanwhile\n", n->nr_ended,
			plural(n->nr_ended));
	fprintf(out, "%s\n", b.data);
	buf_release(&b);
}

static void show_threads_print_text(const struct threads *t, int pid, FILE *out)
{
	const struct threads_thread **order = in_order(t);
	struct buf b = BUF_INIT;
	uint32_t d;
	size_t i;

	show_threads_put_head(t, pid, &b);
	for (d = 1; d <= t->nr_deadlocks; d++)
		put_deadlock(t, d, &b);
	if (t->nr_deadlocks)
		buf_str(&b, "Other threads\n\n");
	for (i = 0; i < t->nr_threads; i++) {
		if (!order[i]->deadlock)
			show_threads_put_thread(t, order[i], &b);
		fwrite(b.data, 1, b.len, out);
		buf_reset(&b);
	}
	buf_release(&b);
	free(order);
}

/* --- JSON --- */

static void json_lock(const struct threads_lock *l, struct json *j)
{
	char hash[16];

	snprintf(hash, sizeof(hash), "%" PRIx32, l->hash);
	json_str(j, "class", l->class_name);
	json_str(j, "hash", hash);
}

static void json_wanted(const struct threads_lock *w, struct json *j)
{
	static const char *const words[JVM_DUMP_NR_ROLES] = {
		[JVM_DUMP_ENTERS] = "enter", [JVM_DUMP_WAITS] = "notify", [JVM_DUMP_PARKS] = "park",
	};

	if (!w) {
		json_null(j, "waits_for");
		return;
	}
	json_object(j, "waits_for");
	json_str(j, "how", words[w->role]);
	json_lock(w, j);
	json_u64_known(j, "owner", w->owner, w->owner);
	json_end(j);
}

static void json_held(const struct threads *t, const struct threads_thread *x, struct json *j)
{
	size_t i;

	json_array(j, "holds");
	for (i = 0; i < x->nr_locks; i++) {
		const struct threads_lock *l = show_threads_lock_of(t, x, i);

		if (l->role != JVM_DUMP_HOLDS)
			continue;
		json_object(j, NULL);
		json_lock(l, j);
		json_u64(j, "frame", l->depth);
		json_end(j);
	}
	json_end(j);
}

static void json_frames(const struct threads *t, const struct threads_thread *x, struct json *j)
{
	size_t i;

	json_array(j, "frames");
	for (i = 0; i < x->nr_frames; i++) {
		const struct threads_frame *f = show_threads_frame_of(t, x, i);
		bool native = f->line == JVM_DUMP_NATIVE;

		json_object(j, NULL);
		json_str(j, "class", f->class_name);
		json_str(j, "method", f->method);
		json_str(j, "file", *f->file ? f->file : NULL);
		json_u64_known(j, "line", f->line && !native, f->line);
		json_bool(j, "native", native);
		json_end(j);
	}
	json_end(j);
}

static void show_threads_json_thread(const struct threads *t, const struct threads_thread *x, struct json *j)
{
	json_object(j, NULL);
	json_u64(j, "id", x->id);
	json_str(j, "name", x->name);
	json_str(j, "group", *x->group ? x->group : NULL);
	json_bool(j, "virtual", show_threads_is_virtual(x));
	json_bool(j, "daemon", x->flags & JVM_DUMP_DAEMON);
	json_u64(j, "priority", x->priority);
	json_u64_known(j, "tid", x->tid, x->tid);
	json_u64_known(j, "carrier", x->carrier, x->carrier);
	json_str(j, "state", threads_state(x->state));
	json_u64_known(j, "cpu_ns", x->cpu_ns, x->cpu_ns);
	json_u64_known(j, "deadlock", x->deadlock, x->deadlock);
	json_bool(j, "behind_deadlock", x->behind_deadlock);
	json_wanted(threads_wanted(t, x), j);
	json_held(t, x, j);
	json_frames(t, x, j);
	json_end(j);
}

static void json_deadlocks(const struct threads *t, struct json *j)
{
	const struct threads_thread *first, *x;
	uint32_t d;

	json_array(j, "deadlocks");
	for (d = 1; d <= t->nr_deadlocks; d++) {
		json_array(j, NULL);
		x = first = threads_cycle_first(t, d);
		do {
			json_u64(j, NULL, x->id);
			x = threads_cycle_next(t, x);
		} while (x && x != first);
		json_end(j);
	}
	json_end(j);
}

static void show_threads_print_json(const struct picture *p, FILE *out)
{
	const struct threads *t = &p->java;
	const struct threads_thread **order = in_order(t);
	struct json j;
	size_t i;

	json_init(&j, out);
	json_object(&j, NULL);
	json_u64(&j, "pid", p->pid);
	json_str(&j, "command", p->natives.command);
	json_bool(&j, "is_jvm", p->jvm);
	json_bool(&j, "one_moment", t->flags & JVM_DUMP_ATOMIC);
	json_u64(&j, "ended", t->nr_lost);
	json_u64(&j, "not_shown", t->nr_hidden);
	json_bool(&j, "untracked", t->flags & JVM_DUMP_UNTRACKED);
	json_deadlocks(t, &j);
	json_array(&j, "threads");
	for (i = 0; i < t->nr_threads; i++)
		show_threads_json_thread(t, order[i], &j);
	json_end(&j);
	threads_json_natives(&p->natives, &j);
	json_end(&j);
	free(order);
}

/* --- CSV --- */

static const struct sheet_column columns[] = {
	{ .key = "id" }, { .key = "name" }, { .key = "virtual" }, { .key = "tid" }, { .key = "state" },
	{ .key = "cpu_ns" }, { .key = "deadlock" }, { .key = "waits_for" }, { .key = "owner" },
	{ .key = "held" }, { .key = "innermost" }, { .key = "file" }, { .key = "line" },
};

static struct cell show_threads_known(uint64_t v)
{
	return v ? cell_u64(v) : cell_none;
}

static void csv_thread(const struct threads *t, const struct threads_thread *x, struct sheet *s)
{
	const struct threads_lock *w = threads_wanted(t, x);
	const struct threads_frame *f = x->nr_frames ? show_threads_frame_of(t, x, 0) : NULL;
	struct buf lock = BUF_INIT, method = BUF_INIT;
	uint64_t held = x->nr_locks - (w ? 1 : 0);

	if (w)
		show_threads_put_lock(w, &lock);
	if (f)
		buf_fmt(&method, "%s.%s", f->class_name, f->method);
	{
		const struct cell cells[] = {
			cell_u64(x->id), cell_text(x->name), cell_bool(show_threads_is_virtual(x)),
			show_threads_known(x->tid),
			cell_text(threads_state(x->state)), show_threads_known(x->cpu_ns),
			show_threads_known(x->deadlock),
			cell_text(lock.data), show_threads_known(w ? w->owner : 0), cell_u64(held),
			cell_text(method.data), cell_text(f && *f->file ? f->file : NULL),
			show_threads_known(f && f->line != JVM_DUMP_NATIVE ? f->line : 0),
		};

		sheet_row(s, NULL, cells);
	}
	buf_release(&lock);
	buf_release(&method);
}

static void print_csv(const struct picture *p, const struct sheet_choice *choice, FILE *out)
{
	const struct threads *t = &p->java;
	const struct threads_thread **order = in_order(t);
	struct sheet s;
	size_t i;

	sheet_init(&s, FORMAT_CSV, out);
	sheet_choose(&s, choice);
	sheet_columns(&s, columns, ARRAY_SIZE(columns));
	for (i = 0; i < t->nr_threads; i++)
		csv_thread(t, order[i], &s);
	threads_csv_natives(&p->natives, &s);
	sheet_end(&s);
	free(order);
}

static void print_all_text(const struct picture *p, FILE *out)
{
	if (p->jvm)
		show_threads_print_text(&p->java, p->pid, out);
	else
		print_native_head(p, out);
	if (p->jvm && p->natives.nr_threads)
		fprintf(out, "Threads that are not Java's: %zu\n\n", p->natives.nr_threads);
	threads_text_natives(&p->natives, out);
}

void threads_print(const struct picture *p, int format, const struct sheet_choice *choice, FILE *out)
{
	switch (format) {
	case FORMAT_JSON:
		show_threads_print_json(p, out);
		break;
	case FORMAT_CSV:
		print_csv(p, choice, out);
		break;
	case FORMAT_HPROF:
		threads_print_hprof(&p->java, out);
		break;
	default:
		print_all_text(p, out);
	}
}
