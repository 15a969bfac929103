// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * address.c - address to name, over time: which module, function and line an address of a process was.
 *
 * Of each process there is the list of its mappings, as they appeared, with what a fork gave it; and what
 * there is at a time, which follows the list when one asks for times that ascend, and starts again when
 * they do not.
 */
#include <errno.h>
#include <string.h>

#include "reader/reader.h"
#include "sym/maps.h"

struct mapping {
	uint64_t time_ns;		/* CLOCK_MONOTONIC */
	uint64_t start, end, pgoff;
	uint32_t module;
};

struct space {				/* of a process */
	struct mapping *list;
	size_t nr, alloc;
	size_t next;			/* the first that is not in now */
	uint64_t time_ns;		/* of now */
	struct maps now;
};

struct reader_maps {
	struct map space_of;		/* process -> index in spaces */
	struct space *spaces;
	size_t nr_spaces, alloc_spaces;
	struct arcprof_mapping *rows;
	size_t nr_rows, alloc_rows;
};

void reader_maps_free(struct reader_maps *m)
{
	size_t i;

	if (!m)
		return;
	for (i = 0; i < m->nr_spaces; i++) {
		maps_release(&m->spaces[i].now);
		free(m->spaces[i].list);
	}
	map_release(&m->space_of);
	free(m->spaces);
	free(m->rows);
	free(m);
}

uint32_t reader_maps_nr(const struct arcprof_trace *t)
{
	return t->maps->nr_rows;
}

/* ---- reading ---- */

struct pass {
	struct arcprof_trace *t;
	struct reader_maps *m;
	struct err *e;
};

static struct space *get_space(struct reader_maps *m, uint32_t process)
{
	uint32_t *at = map_put(&m->space_of, process);

	if (*at == MAP_NONE) {
		*at = m->nr_spaces;
		*VEC_ADD(m->spaces, m->nr_spaces, m->alloc_spaces) = (struct space){ .nr = 0 };
	}
	return &m->spaces[*at];
}

static int address_add(struct pass *p, struct space *s, const struct mapping *x)
{
	if (query_data_charge(&p->t->data, sizeof(*x), p->e))
		return -ENOMEM;
	*VEC_ADD(s->list, s->nr, s->alloc) = *x;
	return 0;
}

/* Take a process; a child inherits from its parent. */
static int take_proc(void *ctx, const struct rec_proc *r)
{
	struct pass *p = ctx;
	uint32_t parent = r->exec ? MAP_NONE : map_get(&p->m->space_of, r->parent);
	size_t i, nr;

	if (!r->parent || parent == MAP_NONE || map_get(&p->m->space_of, r->proc) != MAP_NONE)
		return 0;
	get_space(p->m, r->proc);
	nr = p->m->spaces[parent].nr;
	for (i = 0; i < nr; i++)
		if (address_add(p, get_space(p->m, r->proc), &p->m->spaces[parent].list[i]))
			return -ENOMEM;
	return 0;
}

static int take_map(void *ctx, const struct rec_map *r)
{
	struct pass *p = ctx;
	const struct mapping x = { r->time_ns, r->addr, r->addr + r->size, r->pgoff, r->module };
	struct reader_maps *m = p->m;
	uint64_t since = 0;

	if (r->size > UINT64_MAX - r->addr)
		return 0;
	if (m->nr_rows >= UINT32_MAX)
		return err_set(p->e, ENOMEM, "more than 4 G mappings");
	if (query_data_charge(&p->t->data, sizeof(*m->rows), p->e))
		return -ENOMEM;
	query_data_time(&p->t->data, r->time_ns, &since);
	*VEC_ADD(m->rows, m->nr_rows, m->alloc_rows) = (struct arcprof_mapping){
		.process = r->proc, .module = r->module, .time_ns = since,
		.address = r->addr, .size = r->size, .offset = r->pgoff,
	};
	return address_add(p, get_space(m, r->proc), &x);
}

int reader_maps_load(struct arcprof_trace *t, struct err *e)
{
	static const struct trace_sink sink = { .proc = take_proc, .map = take_map };
	struct pass p = { .t = t, .e = e };
	int r;

	if (t->maps)
		return 0;
	/* they come with the names that have lines */
	r = query_stacks.load(&t->data, e);
	if (r && r != -ENODATA)
		return r;
	*e = (struct err){ 0 };
	p.m = xcalloc(1, sizeof(*p.m));
	r = trace_read(t->reader, &sink, &p, e);
	if (r)
		reader_maps_free(p.m);
	else
		t->maps = p.m;
	return r;
}

int arcprof_trace_mapping(struct arcprof_trace *t, uint32_t row, struct arcprof_mapping *x)
{
	if (!t->maps || !reader_has(t, ARCPROF_TABLE_MAPPINGS, row, t->maps->nr_rows))
		return -ERANGE;
	*x = t->maps->rows[row];
	return 0;
}

/* ---- what is at an address ---- */

static void go_to(struct space *s, uint64_t time_ns)
{
	if (time_ns < s->time_ns) {
		maps_reset(&s->now);
		s->next = 0;
	}
	s->time_ns = time_ns;
	for (; s->next < s->nr && s->list[s->next].time_ns <= time_ns; s->next++) {
		const struct mapping *x = &s->list[s->next];

		maps_add(&s->now, x->start, x->end, x->pgoff, x->module);
	}
}

/* Find the module of an address, and its place in the file; return false without one. */
static bool address_find_module(struct space *s, uint64_t time_ns, uint64_t address, struct frame *f)
{
	uint32_t module;
	uint64_t off;
	size_t i;

	go_to(s, time_ns);
	if (maps_module(&s->now, address, &module, &off)) {
		*f = (struct frame){ FRAME_NATIVE, .module = module, .off = off };
		return true;
	}
	for (i = s->next; i < s->nr; i++) {
		const struct mapping *x = &s->list[i];

		if (!x->module || address < x->start || address >= x->end)
			continue;
		*f = (struct frame){ FRAME_NATIVE, .module = x->module,
				     .off = address - x->start + x->pgoff };
		return true;
	}
	return false;
}

static bool find_kernel(struct names *x, uint64_t address, struct frame *f)
{
	struct name_range range;
	size_t i;

	for (i = 0; i < x->nr_modules; i++) {
		if (!(x->modules[i].flags & MODULE_KERNEL))
			continue;
		*f = (struct frame){ FRAME_KERNEL, .module = x->modules[i].number, .off = address };
		if (names_range(x, f, &range))
			return true;
	}
	return false;
}

/* Find the frame of an address; time_ns is CLOCK_MONOTONIC. */
static bool find_frame(struct arcprof_trace *t, const struct arcprof_address *a, uint64_t time_ns,
		       struct frame *f)
{
	struct names *x = &t->data.names;
	uint32_t at = map_get(&t->maps->space_of, a->process);

	if (a->address >> 63)
		return find_kernel(x, a->address, f);
	if (at != MAP_NONE && address_find_module(&t->maps->spaces[at], time_ns, a->address, f))
		return true;
	*f = names_code_frame(x, a->process, a->address, time_ns);
	/* of what is known the begin is, and that is not 0 */
	return names_offset(x, f, time_ns) != a->address;
}

int64_t arcprof_trace_a2n(struct arcprof_trace *t, const struct arcprof_address *a,
			  struct arcprof_frame *frames, uint32_t max, uint64_t *offset)
{
	struct query_data *d = &t->data;
	uint64_t time_ns = a->time_ns > UINT64_MAX - d->start_ns ? UINT64_MAX : a->time_ns + d->start_ns;
	struct name_run run, lines;
	struct frame f;
	uint32_t i;

	if (!t->maps || !t->is_loaded[ARCPROF_TABLE_MAPPINGS])
		return -ERANGE;
	if (!find_frame(t, a, time_ns, &f))
		return 0;
	run = names_consumers(&d->names, &f, time_ns);
	lines = names_consumers(&d->line_names, &f, time_ns);
	for (i = 0; i < run.nr && i < max; i++) {
		struct query_level l = { .level = i, .consumer = d->names.levels[run.first + i].consumer };

		if (lines.nr == run.nr) {
			l.file = d->line_names.levels[lines.first + i].file;
			l.line = d->line_names.levels[lines.first + i].line;
		}
		frames[i] = reader_frame(d, &f, &l);
	}
	if (offset)
		*offset = names_offset(&d->names, &f, time_ns);
	return run.nr;
}
