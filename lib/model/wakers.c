// SPDX-License-Identifier: GPL-2.0-or-later
/* wakers.c - reads which threads ended the waits of others (wakers.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/cut.h"
#include "model/wakers.h"

struct take {
	struct wakers *m;
	const struct selection *s;
	struct filter *kept;
	struct window w;
	struct cut cut;
	uint32_t wall;			/* the event of the waits */
	uint32_t event;			/* of samples of wakers */
	struct map wait_of;		/* wait_key() -> of waits */
};

/* ---- names ---- */

const char *wakers_reason(const struct wakers *m, uint32_t function)
{
	uint32_t at = map_get(&m->names.function_of, function);

	return at == MAP_NONE ? "[unknown]" : model_str(&m->strings, m->names.functions[at].text);
}

const char *wakers_function(const struct wakers *m, uint32_t consumer)
{
	return consumer_name(&m->strings.consumers, consumer);
}

const char *wakers_kind(uint32_t kind)
{
	static const char *const names[WAKE_NR] = {
		[WAKE_UNKNOWN] = "not known", [WAKE_NOT_ENDED] = "not ended", [WAKE_THREAD] = "thread",
		[WAKE_TIMER] = "timer", [WAKE_INTERRUPT] = "interrupt",
	};

	return names[kind < WAKE_NR ? kind : WAKE_UNKNOWN];
}

/* ---- from the trace ---- */

static bool wakers_is_kept(const struct take *t, const struct rec_wake *r)
{
	uint32_t at = map_get(&t->m->names.thread_of, r->thread);

	return filter_wants_event(t->kept, &(struct filter_event){
		.event = { "wall", NULL }, .any_phase = true, .duration_ns = UINT64_MAX,
		.proc = at == MAP_NONE ? 0 : t->m->names.threads[at].proc, .thread = r->thread,
	});
}

static bool selects(const struct take *t, const struct rec_sample *s)
{
	struct thread_name th = names_thread_name(&t->m->names, s->thread);

	return cut_in_window(&t->cut, s) && selection_has_names(t->s, th.pid, th.tid, th.process, th.name);
}

/* Select the part of a wait that is selected of its sample, which has the same time and weight. */
static void select_part(const struct take *t, const struct rec_wake *r, struct chain_wait *w)
{
	const struct rec_sample s = {
		.time_ns = r->time_ns, .thread = r->thread, .weight = r->weight, .event = t->wall,
	};
	struct rec_sample part;
	uint64_t at_ns = 0;

	if (!selects(t, &s))
		return;
	if (!wakers_is_kept(t, r) || !cut_next(&t->cut, &s, &at_ns, &part)) {
		t->m->nr_left_out++;
		return;
	}
	w->part_from_ns = part.time_ns - MIN(part.weight, part.time_ns);
	do {
		w->part_ns += part.weight;
		w->part_to_ns = part.time_ns;
	} while (cut_next(&t->cut, &s, &at_ns, &part));
}

static int take_wake(void *ctx, const struct rec_wake *r)
{
	const struct take *t = ctx;
	struct wakers *m = t->m;
	uint64_t from_ns = r->time_ns - MIN(r->ns, r->time_ns);
	struct chain_wait w = {
		.thread = r->thread, .what = r->function,
		.kind = r->kind < WAKE_NR ? r->kind : WAKE_UNKNOWN,
		.from_ns = from_ns, .to_ns = r->time_ns, .seen_ns = from_ns + MIN(r->seen_ns, r->ns),
		.weight = r->weight,
	};

	select_part(t, r, &w);
	if (w.kind == WAKE_THREAD)
		w.by = r->waker;
	chains_add(&m->chains, &w);
	return 0;
}

static uint64_t row_key(uint32_t thread, uint32_t function, uint32_t kind, uint32_t waker)
{
	return hash_pair((uint64_t)thread << 32 | function, (uint64_t)kind << 32 | waker);
}

static void add_to_rows(struct wakers *m, const struct chain_wait *w)
{
	uint32_t *at = map_put(&m->row_of, row_key(w->thread, w->what, w->kind, w->by));

	if (*at == MAP_NONE) {
		VEC_GROW(m->rows, m->nr_rows, m->alloc_rows);
		*at = m->nr_rows;
		m->rows[m->nr_rows++] = (struct waker_row){ w->thread, w->what, w->kind, w->by, 0, 0 };
	}
	m->rows[*at].ns += w->part_ns;
	m->rows[*at].n++;
	m->ns += w->part_ns;
}

/* ---- where wakers were ---- */

static uint64_t wait_key(uint32_t waker, uint64_t end_ns, uint64_t weight)
{
	return hash_pair(hash_pair(waker, weight), end_ns);
}

static uint32_t wakers_place(struct wakers *m, uint32_t parent, uint32_t consumer)
{
	uint32_t *at = map_put(&m->place_of, (uint64_t)parent << 32 | consumer);

	if (*at == MAP_NONE) {
		VEC_GROW(m->places, m->nr_places, m->alloc_places);
		*at = m->nr_places;
		m->places[m->nr_places++] = (struct waker_place){ parent, consumer };
	}
	return *at;
}

/* Add a frame. The innermost function is the reason, which is not the waker's. */
static uint32_t place_of_frame(struct wakers *m, uint32_t parent, const struct frame *f, uint64_t time_ns)
{
	struct name_run r;
	uint32_t i;

	if (f->kind == FRAME_MARK && f->mark == MARK_NO_USER_STACK)
		return parent;
	r = names_consumers(&m->names, f, time_ns);
	for (i = 0; i < r.nr; i++) {
		const struct name_level *l = &m->names.levels[r.first + i];

		if (l->kind != CONSUMER_REASON)
			parent = wakers_place(m, parent, l->consumer);
	}
	return parent;
}

static uint32_t place_of_stack(struct wakers *m, const struct rec_sample *s, const struct stack_epoch *ep)
{
	uint32_t frames[WAKERS_MAX_FRAMES], at = s->stack, parent = 0;
	size_t nr = 0;

	if (at >= ep->nr_nodes)
		return 0;
	for (; at && nr < WAKERS_MAX_FRAMES; at = ep->nodes[at].parent)
		frames[nr++] = ep->nodes[at].frame;
	while (nr)
		parent = place_of_frame(m, parent, &ep->frames[frames[--nr]], s->time_ns);
	return parent;
}

static void add_code(struct wakers *m, uint32_t row, uint32_t place, uint64_t ns)
{
	uint32_t *at = map_put(&m->code_of, (uint64_t)row << 32 | place);

	if (*at == MAP_NONE) {
		VEC_GROW(m->codes, m->nr_codes, m->alloc_codes);
		*at = m->nr_codes;
		m->codes[m->nr_codes++] = (struct waker_code){ row, place, 0, 0 };
	}
	m->codes[*at].ns += ns;
	m->codes[*at].n++;
}

static int wakers_take_samples(void *ctx, const struct rec_sample *s, size_t nr, const struct stack_epoch *ep)
{
	struct take *t = ctx;
	struct wakers *m = t->m;
	const struct chain_wait *w;
	uint32_t at, row;
	size_t i;

	for (i = 0; i < nr; i++) {
		if (s[i].event != t->event)
			continue;
		at = map_get(&t->wait_of, wait_key(s[i].thread, s[i].time_ns, s[i].weight));
		w = at == MAP_NONE ? NULL : &m->chains.waits[at];
		if (!w || !w->part_ns)
			continue;
		row = map_get(&m->row_of, row_key(w->thread, w->what, w->kind, w->by));
		if (row != MAP_NONE)
			add_code(m, row, place_of_stack(m, &s[i], ep), w->part_ns);
	}
	return 0;
}

static int by_code_ns(const void *p, const void *q)
{
	const struct waker_code *a = p, *b = q;

	return COMPARE(b->ns, a->ns) ?: COMPARE(a->row, b->row) ?: COMPARE(a->place, b->place);
}

static int read_codes(struct take *t, struct trace_reader *reader, struct err *e)
{
	static const struct trace_sink sink = { .samples = wakers_take_samples };
	struct wakers *m = t->m;
	const struct chain_wait *waits = m->chains.waits;
	size_t i;
	int r;

	t->event = names_find_event(&m->names, "wakers");
	m->has_codes = t->event != UINT32_MAX;
	if (!m->has_codes)
		return 0;
	*VEC_ADD(m->places, m->nr_places, m->alloc_places) = (struct waker_place){ 0 };
	for (i = 0; i < m->chains.nr_waits; i++)
		if (waits[i].kind == WAKE_THREAD)
			*map_put(&t->wait_of, wait_key(waits[i].by, waits[i].to_ns, waits[i].weight)) = i;
	r = trace_read(reader, &sink, t, e);
	map_release(&t->wait_of);
	if (m->nr_codes)
		qsort(m->codes, m->nr_codes, sizeof(*m->codes), by_code_ns);
	return r;
}

static int by_row_ns(const void *p, const void *q)
{
	const struct waker_row *a = p, *b = q;

	/* who waits for nothing all the time would fill the first page */
	if ((a->kind == WAKE_NOT_ENDED) != (b->kind == WAKE_NOT_ENDED))
		return a->kind == WAKE_NOT_ENDED ? 1 : -1;
	return COMPARE(b->ns, a->ns) ?: COMPARE(a->thread, b->thread) ?:
	       COMPARE(a->function, b->function) ?: COMPARE(a->kind, b->kind) ?:
	       COMPARE(a->waker, b->waker);
}

static void wakers_make_rows(struct wakers *m)
{
	uint32_t last = 0;
	size_t i;

	for (i = 0; i < m->chains.nr_waits; i++) {
		const struct chain_wait *w = &m->chains.waits[i];

		if (!w->part_ns)
			continue;
		m->nr_threads += w->thread != last;
		last = w->thread;
		add_to_rows(m, w);
	}
	if (m->nr_rows)
		qsort(m->rows, m->nr_rows, sizeof(*m->rows), by_row_ns);
	for (i = 0; i < m->nr_rows; i++) {
		const struct waker_row *r = &m->rows[i];

		*map_put(&m->row_of, row_key(r->thread, r->function, r->kind, r->waker)) = i;
	}
}

static int find_interval(struct wakers *m, struct err *e)
{
	const char *name;
	uint32_t event;
	struct err ignored;

	for (event = 0; (name = names_event(&m->names, event, "")); event++)
		if (!strcmp(name, "wall"))
			break;
	if (name) {
		name = names_event(&m->names, event, ".interval");
		if (name && opt_parse_u64(name, &m->interval_ns, &ignored))
			m->interval_ns = 0;
		return 0;
	}
	err_set(e, ENODATA, "waits were not recorded");
	err_hint(e, "arcprof record -e wall");
	return -ENODATA;
}

int wakers_read(struct wakers *m, struct trace_reader *t, const struct selection *s, struct err *e)
{
	static const struct trace_sink sink = { .wake = take_wake };
	struct take take = { .m = m, .s = s };
	int r;

	memset(m, 0, sizeof(*m));
	r = names_read_texts(&m->names, &m->strings, t, e);
	if (!r)
		r = find_interval(m, e);
	if (!r)
		r = names_window(&m->names, s, &take.w, e);
	if (!r)
		r = filter_new(&take.kept, &m->names, s->filter, t, e);
	take.wall = names_find_event(&m->names, "wall");
	cut_init(&take.cut, &m->names, &take.w, take.kept);
	if (!r)
		r = trace_read(t, &sink, &take, e);
	filter_free(take.kept);
	if (r)
		return r;
	if (!m->chains.nr_waits)
		return err_set(e, ENODATA, "who ended waits was not recorded: this needs BPF");
	chains_sort(&m->chains);
	wakers_make_rows(m);
	chains_make(&m->chains);
	return read_codes(&take, t, e);
}

void wakers_release(struct wakers *m)
{
	names_release(&m->names);
	model_release(&m->strings);
	chains_release(&m->chains);
	map_release(&m->row_of);
	map_release(&m->place_of);
	map_release(&m->code_of);
	free(m->places);
	free(m->codes);
	free(m->rows);
}
