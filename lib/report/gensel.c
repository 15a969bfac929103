// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gensel.c - selects the events of report --gen.  A selection by function keeps the events while
 * one of its calls is open in the thread, including the call's own entry and exit, so the open
 * calls of each tree are followed by the rules of flow/events.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/gensel.h"

enum { KNOWN = 1 << 7 };	/* beside enum select_bits */

static const struct {
	const char *name;
	uint32_t kind;
} kinds[] = {
	{ "entry", CALL_ENTERED },	  { "exit", CALL_LEFT },      { "exception", CALL_LEFT_THROWING },
	{ "unwound", CALL_UNWOUND }, { "open", CALL_OPEN }, { "dispatch", TIMELINE_OFF },
	{ "dispatch", TIMELINE_ON },
};

static int choose_kinds(struct gen_select *s, const struct opt_list *l, struct err *e)
{
	bool all = !l->nr_items, known;
	size_t i, k;

	for (i = 0; i < TIMELINE_NR_KINDS; i++)
		s->kinds[i] = all;
	s->jvm_kinds = all ? UINT32_MAX : 0;
	s->samples = all;
	for (i = 0; !all && i < l->nr_items; i++) {
		uint32_t jvm = event_kinds_named(l->items[i], strlen(l->items[i]));

		s->jvm_kinds |= jvm;
		for (known = jvm, k = 0; k < ARRAY_SIZE(kinds); k++)
			if (!strcmp(kinds[k].name, l->items[i]))
				s->kinds[kinds[k].kind] = known = true;
		if (!strcmp(l->items[i], "sample"))
			s->samples = known = true;
		if (!known)
			return err_set(e, EINVAL, "unknown event '%s' (available: entry, exit, exception, "
				       "unwound, open, dispatch, sample, kinds of --log)", l->items[i]);
	}
	return 0;
}

static uint32_t gensel_new_thread(struct gen_select *s, uint32_t tree)
{
	const struct rec_call_tree *r = &s->c->trees[tree];
	struct model *m = s->c->names->m;
	struct gen_thread t = { .proc = r->proc };

	calls_thread(s->c, tree, &t.process, &t.thread);
	t.selected = selection_has_thread(s->selection, m, t.process, t.thread);
	if (t.selected && !filter_wants_calls(s->kept, m->consumers.items[t.thread].name, r->thread,
					      r->flags & CALL_TREE_VIRTUAL)) {
		s->nr_left_out++;
		t.selected = false;
	}
	*VEC_ADD(s->threads, s->nr_threads, s->alloc_threads) = t;
	return s->nr_threads - 1;
}

/*
 * Return the index of the tree's thread. Trees of one thread share what is open in it; a virtual thread gets
 * an index of its own, as it is not a thread of the kernel.
 */
static uint32_t thread_of_tree(struct gen_select *s, uint32_t tree)
{
	const struct rec_call_tree *r = &s->c->trees[tree];
	uint32_t *thread;

	if (!r->thread || r->flags & CALL_TREE_VIRTUAL)
		return gensel_new_thread(s, tree);
	thread = map_put(&s->thread_of, r->thread);
	if (*thread == MAP_NONE)
		*thread = gensel_new_thread(s, tree);
	return *thread;
}

int gen_select_init(struct gen_select *s, struct calls *c, struct trace_reader *t,
		    const struct window *window, const struct report_opts *o, struct err *e)
{
	const struct gen_opts *own = o->own;
	uint32_t i;
	int r;

	*s = (struct gen_select){ .c = c, .selection = &o->select, .window = *window,
		.nr_trees = c->nr_trees };
	r = filter_new(&s->kept, c->names, o->select.filter, t, e);
	if (r)
		return r;
	s->want = selection_wants(s->selection) & (SELECT_SYMBOL | SELECT_MODULE);
	s->trees = xcalloc(s->nr_trees + 1, sizeof(*s->trees));
	for (i = 0; i < s->nr_trees; i++)
		s->trees[i].thread = thread_of_tree(s, i);
	return choose_kinds(s, &own->events, e);
}

void gen_select_release(struct gen_select *s)
{
	size_t i;

	for (i = 0; i < s->nr_trees; i++)
		free(s->trees[i].open);
	free(s->trees);
	free(s->threads);
	free(s->matches);
	map_release(&s->thread_of);
	filter_free(s->kept);
}

static bool is_dispatch(const struct timeline_event *x)
{
	return x->kind == TIMELINE_OFF || x->kind == TIMELINE_ON;
}

static struct gen_tree *tree_of(const struct gen_select *s, const struct timeline_event *x)
{
	return is_dispatch(x) || x->tree >= s->nr_trees ? NULL : &s->trees[x->tree];
}

static struct gen_thread *gensel_thread_of(const struct gen_select *s, const struct timeline_event *x)
{
	const struct gen_tree *tree = tree_of(s, x);
	uint32_t at = is_dispatch(x) ? map_get(&s->thread_of, x->thread) : tree ? tree->thread : MAP_NONE;

	return at == MAP_NONE ? NULL : &s->threads[at];
}

const struct gen_thread *gen_select_thread(const struct gen_select *s, const struct timeline_event *x)
{
	const struct gen_thread *t = gensel_thread_of(s, x);

	return t && t->selected ? t : NULL;
}

static bool in_window(const struct gen_select *s, const struct gen_thread *t, uint64_t time_ns)
{
	return time_ns >= s->window.reset_ns && window_has(&s->window, time_ns) &&
	       filter_in_phases(s->kept, t->proc, time_ns);
}

bool gen_select_needs(const struct gen_select *s, const struct timeline_event *x)
{
	const struct gen_thread *t = gen_select_thread(s, x);

	if (!t || x->time_ns >= s->window.to_ns)
		return false;
	return (s->want && !is_dispatch(x)) || (s->kinds[x->kind] && in_window(s, t, x->time_ns));
}

static uint8_t gensel_matches(struct gen_select *s, uint32_t function)
{
	struct model *m = s->c->names->m;
	uint32_t consumer = calls_consumer(s->c, function);

	if (consumer >= s->nr_matches) {
		size_t nr = MAX(m->consumers.nr_items, 2 * s->nr_matches);

		s->matches = xrealloc(s->matches, nr);
		memset(s->matches + s->nr_matches, 0, nr - s->nr_matches);
		s->nr_matches = nr;
	}
	if (!s->matches[consumer])
		s->matches[consumer] = KNOWN | selection_has(s->selection, m, consumer);
	return s->matches[consumer];
}

static void count_open(struct gen_select *s, struct gen_thread *t, uint32_t function, int by)
{
	uint8_t has = gensel_matches(s, function);

	t->nr_open[0] += has & SELECT_SYMBOL ? by : 0;
	t->nr_open[1] += has & SELECT_MODULE ? by : 0;
}

static void gensel_enter(struct gen_select *s, struct gen_tree *tree, struct gen_thread *t, uint32_t function)
{
	*VEC_ADD(tree->open, tree->nr_open, tree->alloc_open) = function;
	count_open(s, t, function, 1);
}

/*
 * Close calls up to and with the innermost call of the function; all when there is none, for then an
 * outer one was left.
 */
static void gensel_leave(struct gen_select *s, struct gen_tree *tree, struct gen_thread *t, uint32_t function)
{
	while (tree->nr_open) {
		uint32_t last = tree->open[--tree->nr_open];

		count_open(s, t, last, -1);
		if (last == function)
			break;
	}
}

static void unwind(struct gen_select *s, struct gen_tree *tree, struct gen_thread *t, uint32_t nr)
{
	for (; nr && tree->nr_open; nr--)
		count_open(s, t, tree->open[--tree->nr_open], -1);
}

static bool is_inside(const struct gen_select *s, const struct gen_thread *t)
{
	return (!(s->want & SELECT_SYMBOL) || t->nr_open[0]) && (!(s->want & SELECT_MODULE) || t->nr_open[1]);
}

/* Return whether the call was entered now or before. */
static bool is_entered(const struct timeline_event *x)
{
	return x->kind == CALL_ENTERED || (x->kind == CALL_OPEN && x->function);
}

bool gen_select_shows(struct gen_select *s, const struct timeline_event *x)
{
	struct gen_tree *tree = tree_of(s, x);
	struct gen_thread *t = gensel_thread_of(s, x);
	bool inside;

	if (!t)
		return false;
	inside = is_inside(s, t);
	if (s->want && tree && is_entered(x)) {
		gensel_enter(s, tree, t, x->function);
		inside = is_inside(s, t);
	} else if (s->want && tree && x->kind == CALL_OPEN) {
		unwind(s, tree, t, UINT32_MAX);
	} else if (s->want && tree && x->kind == CALL_UNWOUND) {
		unwind(s, tree, t, x->function);
	} else if (s->want && tree) {
		/* What was open before the first event is left without having been entered. */
		inside |= (gensel_matches(s, x->function) & s->want) == s->want;
		gensel_leave(s, tree, t, x->function);
	}
	return inside && t->selected && s->kinds[x->kind] && in_window(s, t, x->time_ns);
}

void gen_select_put_filter(const struct gen_select *s, struct buf *b)
{
	struct buf line = BUF_INIT;

	report_put_filter(s->selection->filter, s->nr_left_out, "thread", &line);
	if (line.len)
		buf_fmt(b, "\n%.*s", (int)line.len - 1, line.data);
	buf_release(&line);
}

void gen_select_json_filter(const struct gen_select *s, struct json *j)
{
	report_json_filter(s->selection->filter, s->nr_left_out, j);
}

bool gen_select_shows_jvm(const struct gen_select *s, const struct event *x)
{
	size_t i;

	if (!(s->jvm_kinds & 1u << x->kind))
		return false;
	for (i = 0; s->want && i < s->nr_trees; i++) {
		const struct rec_call_tree *t = &s->c->trees[i];
		const struct gen_thread *thread = &s->threads[s->trees[i].thread];
		bool its = x->thread_number && x->thread_number == t->thread;

		its &= !(t->flags & CALL_TREE_VIRTUAL);
		its |= event_is_for_all(x->kind) && x->proc_number == t->proc;
		if (its && thread->selected && is_inside(s, thread))
			return true;
	}
	return !s->want;
}
