// SPDX-License-Identifier: GPL-2.0-or-later
/* locks.c - reads the locks of a trace (locks.h). */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/quote.h"
#include "base/span.h"
#include "model/filter.h"
#include "model/locks.h"
#include "trace/lockstat.h"

struct pairs {
	struct span s;
	uint64_t first, second;
};

static uint64_t unzigzag(uint64_t v)
{
	return v >> 1;		/* all of these are not negative */
}

static bool next_pair(struct pairs *p)
{
	if (!span_left(&p->s))
		return false;
	p->first = unzigzag(span_varint(&p->s));
	p->second = unzigzag(span_varint(&p->s));
	return !p->s.bad;
}

/* Return the length that nr of the n waits do not exceed. */
static uint64_t quantile(const struct rec_lock *r, uint64_t nr)
{
	struct pairs p = { .s = span_init(r->buckets, r->buckets_len) };
	uint64_t seen = 0, ns = 0;

	if (nr >= r->n)		/* the longest */
		return r->max_ns;
	while (seen < nr && next_pair(&p)) {
		seen += p.second;
		ns = p.first < LOCKSTAT_BUCKETS ? lockstat_ns(p.first) : r->max_ns;
	}
	return MIN(ns, r->max_ns);
}

static void take_owners(struct locks_model *m, const struct rec_lock *r, struct lock_row *row)
{
	struct pairs p = { .s = span_init(r->owners, r->owners_len) };
	uint32_t at;

	while (next_pair(&p)) {
		row->owners_ns += p.second;
		at = p.first && p.first <= UINT32_MAX ? map_get(&m->names.thread_of, p.first) : MAP_NONE;
		if (at == MAP_NONE || p.second <= row->owner_ns)
			continue;
		row->owner = model_str(&m->strings, m->names.threads[at].name);
		row->owner_tid = m->names.threads[at].tid;
		row->owner_ns = p.second;
	}
}

void locks_name_row(const struct names *x, const struct model *strings, uint32_t function,
		    struct lock_row *row)
{
	uint32_t class = map_get(&x->function_of, function);
	uint32_t proc = map_get(&x->proc_of, row->proc);

	row->class_name = class == MAP_NONE ? "[unknown]" : model_str(strings, x->functions[class].text);
	row->process = "";
	if (proc != MAP_NONE) {
		row->pid = x->procs[proc].pid;
		row->process = model_str(strings, x->procs[proc].comm);
	}
}

static uint32_t *locks_row_of(struct locks_model *m, uint32_t proc, uint32_t function, uint32_t identity,
			      uint32_t kind)
{
	uint64_t class = (uint64_t)proc << 32 | function;

	return map_put(&m->by_key, hash_pair(class, (uint64_t)kind << 32 | identity));
}

static void locks_add_row(struct locks_model *m, uint32_t *at, const struct lock_row *row)
{
	VEC_GROW(m->rows, m->nr_rows, m->alloc_rows);
	*at = m->nr_rows;
	m->rows[m->nr_rows++] = *row;
}

static bool lock_row_is_kept(struct locks_model *m, const struct lock_row *row)
{
	bool kept = filter_wants_event(m->kept, &(struct filter_event){
		.event = { "lock", NULL }, .duration_ns = UINT64_MAX, .proc = row->proc,
		.class_name = row->class_name,
	});

	m->nr_left_out += !kept;
	return kept;
}

static int take_use(void *ctx, const struct rec_lock_use *r)
{
	struct locks_model *m = ctx;
	struct lock_row row = {
		.proc = r->proc, .kind = r->kind, .identity = r->identity, .counted = true,
		.nonrec = r->nonrec, .rec = r->rec, .held_ns = r->held_ns, .counted_ns = r->counted_ns,
	};

	if (r->kind != LOCK_ENTER && r->kind != LOCK_LOCK)
		return 0;
	locks_name_row(&m->names, &m->strings, r->function, &row);
	if (!lock_row_is_kept(m, &row))
		return 0;
	locks_add_row(m, locks_row_of(m, r->proc, r->function, r->identity, r->kind), &row);
	return 0;
}

/* Take the CPU time of a lock, which follows its lock.use. */
static int take_cpu(void *ctx, const struct rec_lock_cpu *r)
{
	struct locks_model *m = ctx;
	uint32_t at = *locks_row_of(m, r->proc, r->function, r->identity, r->kind);

	if (at == MAP_NONE || !m->rows[at].counted)
		return 0;
	m->rows[at].measured = r->holds;
	m->rows[at].cpu_ns = r->cpu_ns;
	return 0;
}

static int take_notify(void *ctx, const struct rec_lock_notify *r)
{
	struct locks_model *m = ctx;
	uint32_t at = *locks_row_of(m, r->proc, r->function, r->identity, LOCK_ENTER);

	if (at == MAP_NONE || !m->rows[at].counted)
		return 0;
	m->rows[at].notify = r->notify;
	m->rows[at].notify_all = r->notify_all;
	m->rows[at].idle = r->idle;
	return 0;
}

static int take_reads(void *ctx, const struct rec_lock_reads *r)
{
	struct locks_model *m = ctx;
	uint32_t at = *locks_row_of(m, r->proc, r->function, r->identity, LOCK_LOCK);

	if (at != MAP_NONE && m->rows[at].counted)
		m->rows[at].reads = r->reads;
	return 0;
}

static const char *locks_name_thread(struct locks_model *m, uint32_t thread, uint32_t *tid)
{
	uint32_t at = thread ? map_get(&m->names.thread_of, thread) : MAP_NONE;

	if (at == MAP_NONE)
		return NULL;
	*tid = m->names.threads[at].tid;
	return model_str(&m->strings, m->names.threads[at].name);
}

static int take_notified(void *ctx, const struct rec_lock_notified *r)
{
	struct locks_model *m = ctx;
	uint64_t lock = hash_pair((uint64_t)r->proc << 32 | r->function, r->identity);
	struct lock_row row = { .proc = r->proc, .kind = LOCK_WAIT };
	uint32_t *at;

	locks_name_row(&m->names, &m->strings, r->function, &row);
	if (!lock_row_is_kept(m, &row))
		return 0;
	at = map_put(&m->by_threads, hash_pair(lock, (uint64_t)r->notifier << 32 | r->waiter));
	if (*at == MAP_NONE) {
		struct notified x = {
			.proc = r->proc, .pid = row.pid, .identity = r->identity,
			.class_name = row.class_name, .process = row.process,
		};

		x.notifier = locks_name_thread(m, r->notifier, &x.notifier_tid);
		x.waiter = locks_name_thread(m, r->waiter, &x.waiter_tid);
		*at = m->nr_notified;
		*VEC_ADD(m->notified, m->nr_notified, m->alloc_notified) = x;
	}
	m->notified[*at].n += r->n;
	m->notified[*at].ns += r->waited_ns;
	return 0;
}

static int locks_take_lock(void *ctx, const struct rec_lock *r)
{
	struct locks_model *m = ctx;
	struct lock_row row = {
		.proc = r->proc, .kind = r->kind, .identity = r->identity, .waiters = r->waiters, .n = r->n,
		.ns = r->ns, .max_ns = r->max_ns,
	};
	struct pairs p = { .s = span_init(r->buckets, r->buckets_len) };
	uint32_t *at;

	if (r->kind >= LOCK_NR_WAITS || !r->n)
		return 0;
	locks_name_row(&m->names, &m->strings, r->function, &row);
	if (!lock_row_is_kept(m, &row))
		return 0;
	while (next_pair(&p))
		row.buckets_n += p.second;
	row.p50_ns = quantile(r, r->n - r->n / 2);
	row.p99_ns = quantile(r, r->n - r->n / 100);
	take_owners(m, r, &row);
	at = locks_row_of(m, r->proc, r->function, r->identity, r->kind);
	/* what was counted comes before; each of several segments in one trace has a row of its own */
	if (*at != MAP_NONE && !m->rows[*at].n) {
		row.counted = m->rows[*at].counted;
		row.nonrec = m->rows[*at].nonrec;
		row.rec = m->rows[*at].rec;
		row.held_ns = m->rows[*at].held_ns;
		row.counted_ns = m->rows[*at].counted_ns;
		row.measured = m->rows[*at].measured;
		row.cpu_ns = m->rows[*at].cpu_ns;
		row.reads = m->rows[*at].reads;
		row.notify = m->rows[*at].notify;
		row.notify_all = m->rows[*at].notify_all;
		row.idle = m->rows[*at].idle;
		m->rows[*at] = row;
	} else {
		locks_add_row(m, at, &row);
	}
	return 0;
}

static int locks_find_event(struct locks_model *m, struct err *e)
{
	const char *name;

	for (; (name = names_event(&m->names, m->event, "")); m->event++)
		if (!strcmp(name, "lock"))
			return 0;
	err_set(e, ENODATA, "waits for locks were not recorded");
	err_hint(e, "arcprof record -e lock");
	return -ENODATA;
}

static int locks_take_samples(void *ctx, const struct rec_sample *r, size_t nr, const struct stack_epoch *ep)
{
	struct locks_model *m = ctx;
	const char *name;
	size_t i;

	for (i = 0; i < nr; i++) {
		name = names_event(&m->names, r[i].event, "");
		if (!name || strcmp(name, "blame") != 0)
			continue;
		m->blamed_ns += r[i].weight;
	}
	return 0;
}

static bool has_blame(struct locks_model *m)
{
	const char *name;
	uint32_t i;

	for (i = 0; (name = names_event(&m->names, i, "")); i++)
		if (!strcmp(name, "blame"))
			return true;
	return false;
}

int locks_read(struct locks_model *m, struct trace_reader *t, const struct rules *filter, struct err *e)
{
	static const struct trace_sink sink = {
		.lock = locks_take_lock, .lock_use = take_use, .lock_cpu = take_cpu,
		.lock_reads = take_reads, .lock_notify = take_notify, .lock_notified = take_notified,
		.samples = locks_take_samples,
	};
	uint64_t real_ns;
	int r;

	memset(m, 0, sizeof(*m));
	trace_reader_start(t, &m->start_ns, &real_ns);
	r = names_read_texts(&m->names, &m->strings, t, e);
	if (!r)
		r = locks_find_event(m, e);
	m->has_blame = has_blame(m);
	if (!r)
		r = filter_new(&m->kept, &m->names, filter, t, e);
	if (!r)
		r = trace_read(t, &sink, m, e);
	m->no_end = trace_reader_damage(t)->truncated;
	filter_free(m->kept);
	m->kept = NULL;
	return r;
}

void locks_model_release(struct locks_model *m)
{
	names_release(&m->names);
	model_release(&m->strings);
	map_release(&m->by_key);
	map_release(&m->by_threads);
	free(m->notified);
	free(m->rows);
}

bool locks_is_lock(const struct lock_row *r)
{
	return r->kind == LOCK_ENTER || r->kind == LOCK_MUTEX || r->kind == LOCK_RWLOCK ||
	       r->kind == LOCK_CLASS || (r->kind == LOCK_LOCK && (r->owner || r->counted));
}

static void lock_check_row(const struct lock_row *r, struct sums_check *out)
{
	const char *wrong = r->buckets_n != r->n ? "lengths do not add up to waits" :
			    r->owners_ns != r->ns ? "owners do not add up to the time" :
			    r->max_ns > r->ns ? "a wait is longer than all together" : "";
	struct buf what = BUF_INIT;

	quote_add(&what, r->class_name);
	buf_fmt(&what, "@%" PRIx32 ": %s", r->identity, wrong);
	sums_check_that(out, !*wrong, "%s", what.data);
	buf_release(&what);
}

/* Return a label that is a number; 0: the trace has none. */
static uint64_t number_label(const struct locks_model *m, const char *key)
{
	const char *text = names_label(&m->names, key);
	struct err e;
	uint64_t v;

	return text && !opt_parse_u64(text, &v, &e) ? v : 0;
}

void locks_check(const struct locks_model *m, struct sums_check *out)
{
	const char *total = names_event(&m->names, m->event, ".count");
	uint64_t sum = 0, of_locks = 0, want;
	struct err e;
	size_t i;

	*out = (struct sums_check){ 0 };
	for (i = 0; i < m->nr_rows; i++) {
		const struct lock_row *r = &m->rows[i];

		sum += r->ns;
		of_locks += locks_is_lock(r) ? r->ns : 0;
		lock_check_row(r, out);
	}
	if (!total || opt_parse_u64(total, &want, &e))
		want = sum;
	sums_check_that(out, sum == want, "%" PRIu64 " ns in all locks, %" PRIu64 " in the source", sum,
			want);
	/* a wait is in the segment in which it ends, and its owner is charged while it goes on */
	of_locks += number_label(m, CHARGED_AHEAD_LABEL) - number_label(m, CHARGED_BEFORE_LABEL);
	if (m->has_blame && !m->no_end)
		sums_check_that(out, of_locks == m->blamed_ns,
				"%" PRIu64 " ns in waits for locks, %" PRIu64 " charged to owners", of_locks,
				m->blamed_ns);
}

void locks_put_name(const struct lock_row *r, struct buf *b)
{
	quote_add(b, r->class_name);
	if (r->identity)
		buf_fmt(b, "@%" PRIx32, r->identity);
	else
		buf_str(b, r->kind == LOCK_CLASS ? " [initialised]" : " [several]");
}

void locks_put_owner(const struct lock_row *r, struct buf *b)
{
	if (!r->owner) {
		buf_putc(b, '-');
		return;
	}
	if (*r->owner)
		quote_add(b, r->owner);
	else
		buf_str(b, "[virtual thread]");
	buf_fmt(b, " %.0f %%", 100.0 * (double)r->owner_ns / (double)MAX(r->ns, (uint64_t)1));
}
