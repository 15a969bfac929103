// SPDX-License-Identifier: GPL-2.0-or-later
/* unfreed.c - sums native blocks that were not freed (unfreed.h). */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/blame.h"
#include "model/filter.h"
#include "model/unfreed.h"

struct unfreed_block {
	uint64_t born_ns, weight;
	uint32_t row;
};

struct unfreed_end {
	uint64_t last_ns;		/* of what ended in it */
	uint64_t first_ns;		/* of what it allocated; 0: nothing */
	bool over;			/* its first thread has ended, or it */
};

struct take {
	struct unfreed *u;
	const struct selection *s;
	struct filter *kept;
	struct blame blame;
	uint32_t allocated, left, unknown;	/* events */
	uint64_t end_ns;		/* of the recording */
};

static struct unfreed_end *unfreed_end_of(struct unfreed *u, uint32_t proc)
{
	uint32_t *at = map_put(&u->end_of, proc);

	if (*at == MAP_NONE) {
		VEC_GROW(u->ends, u->nr_ends, u->alloc_ends);
		*at = u->nr_ends;
		u->ends[u->nr_ends++] = (struct unfreed_end){ 0 };
	}
	return &u->ends[*at];
}

static int unfreed_take_end(void *ctx, const struct rec_end *r)
{
	struct take *t = ctx;
	const struct names *x = &t->u->names;
	uint32_t at = map_get(&x->thread_of, r->thread), p;
	const struct name_thread *th = !r->thread || at == MAP_NONE ? NULL : &x->threads[at];
	struct unfreed_end *end = unfreed_end_of(t->u, th ? th->proc : r->proc);

	p = th ? map_get(&x->proc_of, th->proc) : MAP_NONE;
	end->last_ns = MAX(end->last_ns, r->time_ns);
	end->over |= r->proc || (p != MAP_NONE && th->tid == x->procs[p].pid);
	return 0;
}

static uint32_t unfreed_row_of(struct unfreed *u, uint32_t proc, uint32_t pid, struct blamed b)
{
	uint32_t *at = map_put(&u->row_of, hash_pair((uint64_t)b.leaf << 32 | b.site, proc));

	if (*at == MAP_NONE) {
		VEC_GROW(u->rows, u->nr_rows, u->alloc_rows);
		*at = u->nr_rows;
		u->rows[u->nr_rows++] = (struct unfreed_row){
			.proc = proc, .pid = pid, .call = b.leaf, .site = b.site };
	}
	return *at;
}

static void add_block(struct unfreed *u, const struct rec_sample *s, uint32_t row)
{
	struct unfreed_row *r = &u->rows[row];

	*VEC_ADD(u->blocks, u->nr_blocks, u->alloc_blocks) =
		(struct unfreed_block){ s->time_ns, s->weight, row };
	r->n++;
	r->bytes += (double)s->weight;
	r->variance += growth_variance((double)s->weight, (double)u->interval);
	u->n++;
	u->bytes += (double)s->weight;
}

static void add_allocated(struct unfreed *u, const struct rec_sample *s, uint32_t row)
{
	struct unfreed_row *r = &u->rows[row];
	struct unfreed_end *end = unfreed_end_of(u, r->proc);

	*VEC_ADD(u->all, u->nr_all, u->alloc_all) = (struct unfreed_block){ s->time_ns, s->weight, row };
	end->first_ns = end->first_ns ? MIN(end->first_ns, s->time_ns) : s->time_ns;
	r->allocated += (double)s->weight;
	r->nr_allocated++;
	u->allocated += (double)s->weight;
}

static void add_unknown(struct unfreed *u, const struct rec_sample *s, uint32_t row)
{
	struct unfreed_row *r = &u->rows[row];

	r->nr_unknown++;
	r->unknown += (double)s->weight;
	r->unknown_variance += growth_variance((double)s->weight, (double)u->interval);
	u->unknown += (double)s->weight;
}

static int unfreed_take_samples(void *ctx, const struct rec_sample *s, size_t nr,
				const struct stack_epoch *ep)
{
	struct take *t = ctx;
	struct unfreed *u = t->u;
	uint32_t proc, pid, row;
	size_t i;

	for (i = 0; i < nr; i++) {
		t->end_ns = MAX(t->end_ns, s[i].time_ns);
		if ((s[i].event != t->allocated && s[i].event != t->left && s[i].event != t->unknown) ||
		    !blame_selected(&u->names, t->s, s[i].thread, &proc, &pid))
			continue;
		if (!filter_wants_sample(t->kept, &s[i], ep)) {
			u->nr_left_out++;
			continue;
		}
		row = unfreed_row_of(u, proc, pid, blame_stack(&t->blame, &s[i], ep));
		if (s[i].event == t->left)
			add_block(u, &s[i], row);
		else if (s[i].event == t->unknown)
			add_unknown(u, &s[i], row);
		else
			add_allocated(u, &s[i], row);
	}
	return 0;
}

/* ---- ages ---- */

static int by_row_and_birth(const void *p, const void *q)
{
	const struct unfreed_block *a = p, *b = q;

	return COMPARE(a->row, b->row) ?: COMPARE(a->born_ns, b->born_ns);
}

static uint64_t age(uint64_t end_ns, const struct unfreed_block *b)
{
	return end_ns - MIN(end_ns, b->born_ns);
}

/* Set the ages of one row's blocks, which are ordered by birth. */
static void set_ages(struct unfreed *u, const struct unfreed_block *b, size_t nr, uint64_t end_ns)
{
	struct unfreed_row *r = &u->rows[b->row];
	const struct unfreed_end *end = unfreed_end_of(u, r->proc);
	size_t i;

	end_ns = end->over ? end->last_ns : end_ns;
	for (i = 0; i < nr; i++)
		growth_ages_add(u->ages, age(end_ns, &b[i]), b[i].weight);
	r->oldest_ns = age(end_ns, &b[0]);
	r->median_ns = age(end_ns, &b[nr / 2]);
	r->newest_ns = age(end_ns, &b[nr - 1]);
}

static void set_all_ages(struct unfreed *u, uint64_t end_ns)
{
	size_t i, first = 0;

	growth_ages_init(u->ages);
	if (u->nr_blocks)
		qsort(u->blocks, u->nr_blocks, sizeof(*u->blocks), by_row_and_birth);
	for (i = 1; i <= u->nr_blocks; i++) {
		if (i < u->nr_blocks && u->blocks[i].row == u->blocks[first].row)
			continue;
		set_ages(u, &u->blocks[first], i - first, end_ns);
		first = i;
	}
}

/* ---- growth ---- */

struct some {
	uint64_t n;
	double bytes, variance;
};

struct halves {
	uint64_t middle_ns, end_ns;
	struct some came;		/* in the second half, and is left */
	struct some first, stayed;	/* of the first half: all, and what is left of it */
	double unknown;			/* of the second half, at most */
};

static void add_some(struct some *to, const struct unfreed_block *b, double interval)
{
	to->n++;
	to->bytes += (double)b->weight;
	to->variance += growth_variance((double)b->weight, interval);
}

/* Return the most bytes that there are, with 97.5 %: even without samples there may have been some. */
static double at_most(const struct some *x, double interval)
{
	return x->n ? growth_range(x->bytes, x->variance).high : -log(0.025) * interval;
}

static struct growth_range bounds(const struct halves *h, double interval, bool is_whole)
{
	const struct some gone = {
		h->first.n - MIN(h->stayed.n, h->first.n), MAX(0., h->first.bytes - h->stayed.bytes),
		MAX(0., h->first.variance - h->stayed.variance)
	};
	double s = (double)(h->end_ns - h->middle_ns) / 1e9, low;

	if (h->end_ns <= h->middle_ns)
		return (struct growth_range){ NAN, NAN };
	low = growth_range(h->came.bytes, h->came.variance).low - at_most(&gone, interval);
	if (!is_whole || h->stayed.n > h->first.n || low < 0)
		low = NAN;
	return (struct growth_range){ low / s, (at_most(&h->came, interval) + h->unknown) / s };
}

/* is_whole: nothing was allocated before the trace that its process could free in it. */
static void set_growth(struct unfreed *u, uint64_t end_ns, bool is_whole)
{
	struct halves *of = xcalloc(u->nr_rows + 1, sizeof(*of));
	double interval = (double)u->interval;
	size_t i;

	for (i = 0; i < u->nr_rows; i++) {
		const struct unfreed_end *end = unfreed_end_of(u, u->rows[i].proc);

		of[i].end_ns = end->over ? end->last_ns : end_ns;
		of[i].middle_ns = MIN(end->first_ns, of[i].end_ns);
		of[i].middle_ns += (of[i].end_ns - of[i].middle_ns) / 2;
		of[i].unknown = u->rows[i].nr_unknown ?
			growth_range(u->rows[i].unknown, u->rows[i].unknown_variance).high : 0;
	}
	for (i = 0; i < u->nr_all; i++) {
		struct halves *h = &of[u->all[i].row];

		if (u->all[i].born_ns < h->middle_ns)
			add_some(&h->first, &u->all[i], interval);
	}
	for (i = 0; i < u->nr_blocks; i++) {
		struct halves *h = &of[u->blocks[i].row];

		add_some(u->blocks[i].born_ns < h->middle_ns ? &h->stayed : &h->came, &u->blocks[i],
			 interval);
	}
	for (i = 0; i < u->nr_rows; i++)
		u->rows[i].a_second = bounds(&of[i], interval,
					     is_whole && unfreed_end_of(u, u->rows[i].proc)->first_ns);
	free(of);
}

static int unfreed_by_bytes(const void *p, const void *q, void *ctx)
{
	const struct unfreed_row *a = p, *b = q;
	const struct consumers *names = ctx;

	return COMPARE(!(a->n + a->nr_unknown), !(b->n + b->nr_unknown)) ?: COMPARE(b->bytes, a->bytes) ?:
	       strcmp(consumer_name(names, a->site), consumer_name(names, b->site)) ?:
	       strcmp(consumer_name(names, a->call), consumer_name(names, b->call));
}

static void set_ranges(struct unfreed *u)
{
	size_t i;

	for (i = 0; i < u->nr_rows; i++) {
		struct unfreed_row *r = &u->rows[i];

		r->range.low = growth_range(r->bytes, r->variance).low;
		r->range.high = growth_range(r->bytes + r->unknown, r->variance + r->unknown_variance).high;
	}
}

static void unfreed_finish(struct unfreed *u, uint64_t end_ns, bool is_whole)
{
	set_all_ages(u, end_ns);
	set_ranges(u);
	set_growth(u, end_ns, is_whole);
	if (u->nr_rows)
		qsort_r(u->rows, u->nr_rows, sizeof(*u->rows), unfreed_by_bytes, &u->strings.consumers);
	while (u->nr_rows && !u->rows[u->nr_rows - 1].n && !u->rows[u->nr_rows - 1].nr_unknown)
		u->nr_rows--;
}

/* ---- reading ---- */

int unfreed_read(struct unfreed *u, struct trace_reader *t, const struct selection *s,
		 const struct opt_list *library, struct err *e)
{
	static const struct trace_sink sink = { .samples = unfreed_take_samples, .end = unfreed_take_end };
	struct take take = { .u = u, .s = s };
	const char *interval;
	int r;

	memset(u, 0, sizeof(*u));
	r = names_read_texts(&u->names, &u->strings, t, e);
	if (r)
		return r;
	take.blame = (struct blame){ .names = &u->names, .what = BLAME_FUNCTION, .library = library };
	take.allocated = names_find_event(&u->names, "native-memory");
	take.left = names_find_event(&u->names, "native-live");
	take.unknown = names_find_event(&u->names, "native-unknown");
	if (take.left == UINT32_MAX) {
		err_set(e, ENODATA, "native memory was not recorded");
		err_hint(e, "arcprof record -e native-memory");
		return -ENODATA;
	}
	interval = names_event(&u->names, take.left, ".interval");
	u->interval = interval ? strtoull(interval, NULL, 10) : 0;
	r = filter_new(&take.kept, &u->names, s->filter, t, e);
	if (!r)
		r = trace_read(t, &sink, &take, e);
	filter_free(take.kept);
	take.end_ns = MAX(take.end_ns, names_label_u64(&u->names, "end.mono_ns"));
	blame_release(&take.blame);
	if (!r)
		unfreed_finish(u, take.end_ns, !names_label(&u->names, "segment"));
	return r;
}

void unfreed_release(struct unfreed *u)
{
	free(u->blocks);
	free(u->all);
	free(u->ends);
	free(u->rows);
	map_release(&u->row_of);
	map_release(&u->end_of);
	names_release(&u->names);
	model_release(&u->strings);
}
