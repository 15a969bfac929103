// SPDX-License-Identifier: GPL-2.0-or-later
/* threadlabels.c - writes the labels of threads that samples need (threadlabels.h). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/labels.h"
#include "base/mem.h"
#include "collect/engine/recording.h"
#include "collect/parts/threadlabels.h"
#include "trace/writer.h"

enum {
	MAX_LABELLED = 1 << 16,		/* threads */
	MAX_BYTES = 64 << 20,		/* of changes that wait */
	MAX_TEXT = 1024,		/* more than a thread's labels take */
	TIDY_MIN = 1024,		/* threads for which it pays to look who is gone */
};

struct change {
	uint64_t time_ns;
	char *text;			/* as the program says; NULL: none */
	uint32_t nr;			/* as the program counts; what is missing was lost */
	bool dropped;			/* by us: what the thread has from then on is not known */
	bool written;
};

struct labelled {
	uint32_t thread;		/* in the trace; 0: of a virtual thread, not known yet */
	uint32_t proc;
	uint64_t vthread;
	/* by time; the first holds from further back than anybody asks, once others were forgotten */
	struct change *changes;
	size_t nr_changes, alloc_changes;
};

struct hit {
	uint64_t time_ns;
	uint32_t thread;
};

struct threadlabels {
	struct map index;		/* threadlabels_key_of() -> index in list */
	struct labelled *list;
	size_t nr_list, alloc_list;
	struct hit *hits;
	size_t nr_hits, alloc_hits;
	size_t bytes;			/* of all changes */
	size_t tidy_at;			/* threads */
	uint64_t nr_dropped;
	uint64_t written_ns;		/* of a recording: up to here */
};

struct threadlabels *threadlabels_new(void)
{
	struct threadlabels *l = xcalloc(1, sizeof(*l));

	l->tidy_at = TIDY_MIN;
	return l;
}

static void labelled_release(struct threadlabels *l, struct labelled *t)
{
	size_t i;

	for (i = 0; i < t->nr_changes; i++) {
		l->bytes -= sizeof(struct change) + (t->changes[i].text ? strlen(t->changes[i].text) : 0);
		free(t->changes[i].text);
	}
	free(t->changes);
}

void threadlabels_free(struct threadlabels *l)
{
	size_t i;

	for (i = 0; l && i < l->nr_list; i++)
		labelled_release(l, &l->list[i]);
	if (!l)
		return;
	map_release(&l->index);
	free(l->list);
	free(l->hits);
	free(l);
}

/* ---- what programs tell ---- */

static uint64_t threadlabels_key_of(uint32_t thread, uint32_t proc, uint64_t vthread)
{
	return vthread ? 1ull << 63 | hash_pair(proc, vthread) >> 1 : thread;
}

/* Return the thread's entry, made if it is new; NULL: there are too many. */
static struct labelled *threadlabels_find(struct threadlabels *l, uint32_t thread, uint32_t proc,
					  uint64_t vthread)
{
	uint32_t at = map_get(&l->index, threadlabels_key_of(thread, proc, vthread));

	if (at != MAP_NONE)
		return &l->list[at];
	if (l->nr_list >= MAX_LABELLED)
		return NULL;
	VEC_GROW(l->list, l->nr_list, l->alloc_list);
	*map_put(&l->index, threadlabels_key_of(thread, proc, vthread)) = l->nr_list;
	l->list[l->nr_list] = (struct labelled){ .thread = vthread ? 0 : thread, .proc = proc,
						 .vthread = vthread };
	return &l->list[l->nr_list++];
}

static bool is_later(const struct change *a, const struct change *b)
{
	return a->time_ns != b->time_ns ? a->time_ns > b->time_ns : (int32_t)(a->nr - b->nr) > 0;
}

/* Insert a change by time: those of a virtual thread come through the rings of all its carriers. */
static void threadlabels_insert(struct threadlabels *l, struct labelled *t, const struct change *x)
{
	size_t at = t->nr_changes;

	VEC_GROW(t->changes, t->nr_changes, t->alloc_changes);
	while (at && is_later(&t->changes[at - 1], x))
		at--;
	memmove(&t->changes[at + 1], &t->changes[at], (t->nr_changes - at) * sizeof(*x));
	t->changes[at] = *x;
	t->nr_changes++;
	l->bytes += sizeof(*x) + (x->text ? strlen(x->text) : 0);
}

void threadlabels_change(struct threadlabels *l, uint32_t thread, uint32_t proc, const struct jvm_labels *r)
{
	struct labelled *t = threadlabels_find(l, thread, proc, r->vthread);
	struct change x = { .time_ns = r->time_ns, .nr = r->nr };
	size_t len = strnlen(r->text, r->text_len);

	if (!t) {
		l->nr_dropped++;
		return;
	}
	if (len > MAX_TEXT || l->bytes + sizeof(x) + len > MAX_BYTES) {
		l->nr_dropped++;
		x.dropped = true;
		if (t->nr_changes && t->changes[t->nr_changes - 1].dropped)
			return;		/* that one holds */
		len = 0;
	}
	if (len) {
		x.text = xmalloc(len + 1);
		memcpy(x.text, r->text, len);
		x.text[len] = '\0';
	}
	threadlabels_insert(l, t, &x);
}

void threadlabels_sample(struct threadlabels *l, uint32_t thread, uint64_t time_ns)
{
	*VEC_ADD(l->hits, l->nr_hits, l->alloc_hits) = (struct hit){ time_ns, thread };
}

/* ---- into the trace ---- */

static int compare_hits(const void *a, const void *b)
{
	const struct hit *x = a, *y = b;

	return COMPARE(x->thread, y->thread) ?: COMPARE(x->time_ns, y->time_ns);
}

/* Return the first hit of the thread, or where it would be. */
static size_t first_hit(const struct threadlabels *l, uint32_t thread)
{
	return BISECT(i, l->nr_hits, l->hits[i].thread < thread);
}

void threadlabels_put(struct buf *b, const char *text)
{
	char *copy = xstrdup(text), *item, *save = NULL, *value;

	for (item = strtok_r(copy, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
		value = strchr(item, '=');
		if (!value)
			continue;
		*value++ = '\0';
		labels_add(b, item, value);
	}
	free(copy);
}

/* Write change i, after all changes older than known_ns have come. */
static void write_change(const struct labelled *t, size_t i, uint64_t known_ns, struct trace_writer *w)
{
	struct change *x = &t->changes[i];
	bool has_next = i + 1 < t->nr_changes && x[1].time_ns <= known_ns;
	bool is_known = !x->dropped && (!has_next || x[1].nr == x->nr + 1);
	struct rec_thread_label r = { .time_ns = x->time_ns, .thread = t->thread,
				      .flags = is_known ? 0 : THREAD_LABEL_UNKNOWN };
	struct buf b = BUF_INIT;

	if (x->written)
		return;
	x->written = true;
	if (x->text && is_known)
		threadlabels_put(&b, x->text);
	r.text = b.data ? b.data : "";
	r.text_len = b.len;
	trace_write_thread_label(w, &r);
	buf_release(&b);
}

/*
 * Set the number of a virtual thread: one that was forgotten has a new number, of which nothing is in the
 * trace.
 */
static void set_number(struct labelled *t, uint32_t number)
{
	size_t i;

	for (i = 0; number != t->thread && i < t->nr_changes; i++)
		t->changes[i].written = false;
	t->thread = number;
}

static void write_hits(struct threadlabels *l, const struct labelled *t, uint64_t until_ns,
		       struct trace_writer *w)
{
	const uint64_t known_ns = until_ns + MIN((uint64_t)THREADLABELS_LATE_NS / 2, UINT64_MAX - until_ns);
	size_t at, i = 0;

	for (at = first_hit(l, t->thread); at < l->nr_hits && l->hits[at].thread == t->thread; at++) {
		if (l->hits[at].time_ns > until_ns)
			break;
		while (i + 1 < t->nr_changes && t->changes[i + 1].time_ns <= l->hits[at].time_ns)
			i++;
		if (t->nr_changes && t->changes[i].time_ns <= l->hits[at].time_ns)
			write_change(t, i, known_ns, w);
	}
}

/* Forget all changes before until_ns but the last, which still holds. */
static void forget_changes(struct threadlabels *l, struct labelled *t, uint64_t until_ns)
{
	size_t nr = 0, i;

	while (nr + 1 < t->nr_changes && t->changes[nr + 1].time_ns <= until_ns)
		nr++;
	for (i = 0; i < nr; i++) {
		l->bytes -= sizeof(struct change) + (t->changes[i].text ? strlen(t->changes[i].text) : 0);
		free(t->changes[i].text);
	}
	memmove(t->changes, t->changes + nr, (t->nr_changes - nr) * sizeof(*t->changes));
	t->nr_changes -= nr;
}

static void forget_hits(struct threadlabels *l, uint64_t until_ns)
{
	size_t kept = 0, i;

	for (i = 0; i < l->nr_hits; i++)
		if (l->hits[i].time_ns > until_ns)
			l->hits[kept++] = l->hits[i];
	l->nr_hits = kept;
}

/* Return whether it has no labels, and had none for some time. */
static bool is_idle(const struct labelled *t, uint64_t until_ns)
{
	return !t->nr_changes || (t->nr_changes == 1 && !t->changes[0].text && !t->changes[0].dropped &&
				  t->changes[0].time_ns <= until_ns);
}

/* Drop idle entries; their threads are added anew when they set labels. */
static void tidy(struct threadlabels *l, uint64_t until_ns, struct trace_writer *w)
{
	size_t kept = 0, i;

	map_reset(&l->index);
	for (i = 0; i < l->nr_list; i++) {
		struct labelled *t = &l->list[i];

		if (is_idle(t, until_ns)) {
			if (t->thread && t->nr_changes)
				write_change(t, 0, until_ns, w);	/* it holds for what is to come */
			labelled_release(l, t);
			continue;
		}
		*map_put(&l->index, threadlabels_key_of(t->thread, t->proc, t->vthread)) = kept;
		l->list[kept++] = *t;
	}
	l->nr_list = kept;
	l->tidy_at = MIN(MAX(2 * kept, (size_t)TIDY_MIN), (size_t)MAX_LABELLED);
}

void threadlabels_write(struct threadlabels *l, uint64_t until_ns, struct trace_writer *w,
			threadlabels_number_fn number, void *ctx)
{
	/* what is written at the end of a file may still be needed by late samples of that time */
	const uint64_t old_ns = until_ns - MIN(until_ns, (uint64_t)THREADLABELS_LATE_NS);
	size_t i;

	if (l->nr_hits)
		qsort(l->hits, l->nr_hits, sizeof(*l->hits), compare_hits);
	for (i = 0; i < l->nr_list; i++) {
		struct labelled *t = &l->list[i];

		if (t->vthread)
			set_number(t, number(ctx, t->proc, t->vthread));
		if (t->thread)
			write_hits(l, t, until_ns, w);
		forget_changes(l, t, old_ns);
	}
	forget_hits(l, until_ns);
	if (l->nr_list >= l->tidy_at)
		tidy(l, old_ns, w);
}

uint64_t threadlabels_dropped(const struct threadlabels *l)
{
	return l->nr_dropped;
}

/* ---- the part ---- */

static uint32_t number_of_virtual(void *ctx, uint32_t proc, uint64_t vthread)
{
	const struct collect *c = ctx;

	return tasks_find_virtual(&c->tasks, proc, vthread);
}

static void threadlabels_cut(struct collect *c, uint64_t until_ns)
{
	if (!c->labels)
		return;
	threadlabels_write(c->labels, until_ns, c->w, number_of_virtual, c);
	c->labels->written_ns = until_ns;
}

/* Write labels of samples that are old enough for all changes to have come. */
static void taken_in(struct collect *c, uint64_t now_ns)
{
	enum { TURN_NS = 500000000 };
	const uint64_t until_ns = c->drained_ns - MIN(c->drained_ns, (uint64_t)THREADLABELS_LATE_NS);

	if (c->labels && until_ns >= c->labels->written_ns + TURN_NS)
		threadlabels_cut(c, until_ns);
}

static void note_sample(void *ctx, const struct rec_sample *r)
{
	struct collect *c = ctx;

	if (switches_tell(c, JVM_TELL_LABEL, r->time_ns))
		threadlabels_sample(c->labels, r->thread, r->time_ns);
}

static void threadlabels_init(struct collect *c)
{
	if (!(c->o->jvm_events & JVM_TELL_LABEL))
		return;
	c->labels = threadlabels_new();
	trace_writer_on_sample(c->w, note_sample, c);
}

static void threadlabels_on_labels(void *ctx, struct jvm *jvm, const struct jvm_labels *r)
{
	const struct java *j = jvm_user(jvm);
	struct collect *c = ctx;
	uint32_t thread = 0;

	if (!c->labels || !r->thread)
		return;
	/* what its process did before comes first */
	collect_merge(c, MIN(r->time_ns, clock_mono_ns()));
	if (!r->vthread)
		thread = tasks_get_at(&c->tasks, j->proc, r->thread, r->time_ns)->id;
	threadlabels_change(c->labels, thread, j->proc->id, r);
}

/*
 * Later samples, such as those of open waits, may have threads with other labels: see
 * threadlabels_end_file().
 */
static void threadlabels_end_file(struct collect *c, uint64_t until_ns, bool last)
{
	threadlabels_cut(c, until_ns);
	if (last && c->labels && threadlabels_dropped(c->labels))
		refused_text(&c->refused, "%" PRIu64 " labels of threads: too many at once",
			     threadlabels_dropped(c->labels));
}

static void threadlabels_close_part(struct collect *c)
{
	threadlabels_free(c->labels);
	c->labels = NULL;
}

const struct part threadlabels_part = {
	.init = threadlabels_init, .agent = &(const struct jvm_callbacks){ .labels = threadlabels_on_labels },
	.taken_in = taken_in,
	.cut = threadlabels_cut, .end_file = threadlabels_end_file, .close = threadlabels_close_part,
};
