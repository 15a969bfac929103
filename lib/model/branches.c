// SPDX-License-Identifier: GPL-2.0-or-later
/* branches.c - reads an instruction trace block by block (branches.h). */
#include <string.h>

#include "base/mem.h"
#include "model/branches.h"

void branches_init(struct branches *b, struct names *names, const struct window *w)
{
	memset(b, 0, sizeof(*b));
	b->names = names;
	b->window = *w;
	b->start_ns = names_label_u64(names, "start.mono_ns");
}

void branches_release(struct branches *b)
{
	size_t i;

	for (i = 0; i < b->nr_procs; i++) {
		maps_release(&b->procs[i].maps);
		map_release(&b->procs[i].site_of);
	}
	free(b->procs);
	free(b->sites);
	free(b->codes);
	map_release(&b->proc_of);
	map_release(&b->code_of);
	arena_release(&b->mem);
	memset(b, 0, sizeof(*b));
}

bool branches_are_in(const struct names *x)
{
	return names_label(x, "itrace.engine");
}

static struct branches_proc *branches_get_proc(struct branches *b, uint32_t proc)
{
	uint32_t *at = map_put(&b->proc_of, proc);

	if (*at == MAP_NONE) {
		*at = b->nr_procs;
		VEC_GROW(b->procs, b->nr_procs, b->alloc_procs);
		memset(&b->procs[b->nr_procs++], 0, sizeof(*b->procs));
	}
	return &b->procs[*at];
}

/* Take a process; a child inherits from its parent. */
static int branches_take_proc(void *ctx, const struct rec_proc *r)
{
	struct branches *b = ctx;
	struct branches_proc *p;
	uint32_t parent;

	if (!r->parent || r->exec || map_get(&b->proc_of, r->proc) != MAP_NONE)
		return 0;
	p = branches_get_proc(b, r->proc);
	parent = map_get(&b->proc_of, r->parent);
	if (parent != MAP_NONE)
		maps_copy(&p->maps, &b->procs[parent].maps);
	return 0;
}

static int branches_take_map(void *ctx, const struct rec_map *r)
{
	struct branches *b = ctx;
	struct branches_proc *p = branches_get_proc(b, r->proc);
	const struct map_entry *old = maps_find(&p->maps, r->addr);

	if (r->size > UINT64_MAX - r->addr)
		return 0;
	if (old && old->start == r->addr && old->end == r->addr + r->size && old->pgoff == r->pgoff &&
	    old->module == r->module)
		return 0;
	maps_add(&p->maps, r->addr, r->addr + r->size, r->pgoff, r->module);
	map_reset(&p->site_of);
	return 0;
}

static uint64_t code_key(uint32_t proc, uint64_t addr, uint64_t len)
{
	return hash_pair(hash_pair(proc, addr), len);
}

static int branches_take_code(void *ctx, const struct rec_branch_code *r)
{
	struct branches *b = ctx;
	uint32_t *at = map_put(&b->code_of, code_key(r->proc, r->addr, r->len));

	if (*at == MAP_NONE) {
		*at = b->nr_codes;
		VEC_GROW(b->codes, b->nr_codes, b->alloc_codes);
		b->nr_codes++;
	}
	b->codes[*at] = (struct branches_code){ NULL, r->len };
	b->codes[*at].bytes = memcpy(arena_alloc(&b->mem, r->len + 1), r->len ? r->bytes : (const void *)"",
				     r->len);
	return 0;
}

const struct branches_code *branches_code(const struct branches *b, const struct block *x)
{
	uint32_t at = map_get(&b->code_of, code_key(x->proc, x->b.start, x->b.end - x->b.start));

	return at == MAP_NONE ? NULL : &b->codes[at];
}

/* ---- sites ---- */

static bool is_plt(const char *name)
{
	size_t len = strlen(name);

	return len > 4 && !strcmp(name + len - 4, "@plt");
}

static struct site find_site(struct branches *b, const struct frame *f, uint64_t time_ns)
{
	struct names *x = b->names;
	uint32_t at = names_resolve(x, f, time_ns);
	struct site s = { .jit = f->kind == FRAME_JIT, .off = names_offset(x, f, time_ns),
		.line = names_line(x, f) };

	if (x->frames[at].nr) {
		const struct name_level l = x->levels[x->frames[at].first];

		s.symbol = l.consumer;
		s.plt = is_plt(consumer_name(&x->m->consumers, l.consumer));
		s.consumer = names_whole_function(x, l.consumer, l.kind);
	}
	return s;
}

struct site branches_site(struct branches *b, uint32_t proc, uint64_t addr, uint64_t time_ns)
{
	struct branches_proc *p = branches_get_proc(b, proc);
	const struct map_entry *m = maps_find(&p->maps, addr);
	struct frame f;
	uint32_t *at;

	if (!m || !m->module) {		/* what is there depends on the time */
		f = names_code_frame(b->names, proc, addr, time_ns);
		return find_site(b, &f, time_ns);
	}
	at = map_put(&p->site_of, addr);
	if (*at == MAP_NONE) {
		*at = b->nr_sites;
		f = (struct frame){ FRAME_NATIVE, .module = m->module, .off = map_entry_off(m, addr) };
		*VEC_ADD(b->sites, b->nr_sites, b->alloc_sites) = find_site(b, &f, time_ns);
	}
	return b->sites[*at];
}

/* ---- the pass ---- */

static uint32_t proc_of_thread(const struct names *x, uint32_t thread)
{
	uint32_t at = map_get(&x->thread_of, thread);

	return at == MAP_NONE ? 0 : x->threads[at].proc;
}

static int take_branches(void *ctx, const struct rec_branches *r)
{
	struct branches *b = ctx;
	struct branch_cursor c = branch_cursor(r);
	struct block x = {
		.time_ns = r->time_ns, .thread = r->thread, .cpu = r->cpu, .kernel = r->kernel,
		.proc = proc_of_thread(b->names, r->thread),
	};
	int ret = 0;

	b->last_ns = MAX(b->last_ns, r->time_ns);
	if (!window_has(&b->window, r->time_ns))
		return 0;
	while (!ret && branch_next(&c, &x.b)) {
		x.site = branches_site(b, x.proc, x.b.start, r->time_ns);
		ret = b->fn(b->ctx, &x);
	}
	return ret;
}

int branches_read(struct branches *b, struct trace_reader *t, block_fn fn, void *ctx, struct err *e)
{
	const struct trace_sink sink = {
		.proc = branches_take_proc, .map = branches_take_map, .branches = take_branches,
		.branch_code = branches_take_code,
	};

	b->fn = fn;
	b->ctx = ctx;
	return trace_read(t, &sink, b, e);
}
