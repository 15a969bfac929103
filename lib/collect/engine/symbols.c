// SPDX-License-Identifier: GPL-2.0-or-later
/* symbols.c - writes names and lines of all sampled addresses at the end of a recording (symbols.h). */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "collect/engine/symbols.h"
#include "sym/kallsyms.h"

enum { MAX_INLINE_DEPTH = 64 };

struct hit {
	uint32_t module;
	bool kernel;
	uint64_t off;
};

struct hits {
	struct hit *items;
	size_t nr_items, alloc_items;
};

static void add_hit(void *ctx, uint32_t module, uint64_t off, bool kernel)
{
	struct hits *h = ctx;

	*VEC_ADD(h->items, h->nr_items, h->alloc_items) = (struct hit){ module, kernel, off };
}

static int by_module_and_offset(const void *a, const void *b)
{
	const struct hit *x = a, *y = b;

	return COMPARE(x->module, y->module) ?: COMPARE(x->off, y->off);
}

static void write_symbol(struct trace_writer *w, uint32_t module, uint64_t off, uint64_t size,
			 const char *name)
{
	struct rec_symbol r = { .module = module, .off = off, .size = size, .name = name,
		.name_len = strlen(name) };

	trace_write_symbol(w, &r);
}

/* Write the kernel's functions; its hits are sorted, so each comes once, in order. */
static uint64_t write_kernel(const struct hit *h, size_t nr, struct cache *c, struct trace_writer *w,
			     bool *hidden)
{
	struct kallsyms *k;
	uint64_t named = 0, begin = 0, end = 0;
	struct err e;
	size_t i;

	if (kallsyms_open(&k, c, &e)) {
		*hidden = true;
		return 0;
	}
	for (i = 0; i < nr; i++) {
		const struct ksym *s = h[i].off < end ? NULL : kallsyms_find(k, h[i].off);
		char name[512];

		named += s || h[i].off < end;
		begin = s ? s->addr : begin;
		if (s || h[i].off < end)
			trace_writer_named(w, h[i].module, h[i].off, true, begin);
		if (!s)
			continue;
		if (s->module[0])
			snprintf(name, sizeof(name), "%s [%s]", s->name, s->module);
		else
			snprintf(name, sizeof(name), "%s", s->name);
		write_symbol(w, h[i].module, s->addr, s->size, name);
		end = s->addr + s->size;
	}
	kallsyms_close(k);
	return named;
}

static void write_lines(struct symfile *f, const struct hit *h, struct trace_writer *w)
{
	struct srcline lines[MAX_INLINE_DEPTH];
	size_t i, nr = symfile_lines(f, h->off, lines, MAX_INLINE_DEPTH);

	for (i = 0; i < nr; i++) {
		const char *func = lines[i].func ? lines[i].func : "",
		*file = lines[i].file ? lines[i].file : "";
		struct rec_line r = {
			.module = h->module, .off = h->off, .depth = i, .nr_depth = nr, .line = lines[i].line,
			.func = func, .func_len = strlen(func), .file = file, .file_len = strlen(file),
		};

		trace_write_line(w, &r);
	}
}

struct names_to {
	struct trace_writer *w;
	bool lines;
	struct symbols_result *result;
};

static void write_module(const struct symbols_files *files, struct symfile *f, const struct hit *h,
			 size_t nr, const struct names_to *to)
{
	struct symbol s = { 0 }, last = { 0 };
	struct trace_writer *w = to->w;
	size_t i;

	if (files->fetch)
		symfile_fetch(f, files->meanwhile, files->meanwhile_ctx);
	for (i = 0; i < nr && !to->result->cut; i++) {
		bool known = symfile_symbol(f, h[i].off, &s);

		/* Each is looked up: what unwind rules bound may have named linkage stubs in it. */
		if (known && (!last.name || s.off != last.off))
			write_symbol(w, h[i].module, s.off, s.size, s.name);
		if (known)
			last = s;
		if (known)
			trace_writer_named(w, h[i].module, h[i].off, false, s.off);
		to->result->nr_named += known;
		if (to->lines)
			write_lines(f, &h[i], w);
		to->result->cut = files->meanwhile && !files->meanwhile(files->meanwhile_ctx);
	}
}

void symbols_write(const struct symbols_files *files, struct trace_writer *w, bool lines,
		   struct symbols_result *r)
{
	const struct names_to to = { w, lines, r };
	struct hits hits = { 0 };
	size_t i, end;

	memset(r, 0, sizeof(*r));
	trace_writer_each_address(w, add_hit, &hits);
	if (hits.nr_items)
		qsort(hits.items, hits.nr_items, sizeof(*hits.items), by_module_and_offset);
	for (i = 0; i < hits.nr_items && !r->cut; i = end) {
		const struct hit *h = &hits.items[i];
		struct symfile *f = h->kernel ? NULL : files->file(files->ctx, h->module);

		for (end = i; end < hits.nr_items && hits.items[end].module == h->module; end++)
			;
		if (h->kernel && !files->no_kernel)
			r->nr_named += write_kernel(h, end - i, files->cache, w, &r->kernel_hidden);
		else if (f)
			write_module(files, f, h, end - i, &to);
	}
	r->nr_addresses = hits.nr_items;
	free(hits.items);
}

static struct symfile *symbols_file(void *ctx, uint32_t module)
{
	return modules_file(ctx, module);
}

void symbols_write_modules(struct modules *m, struct trace_writer *w, bool lines,
			   bool (*meanwhile)(void *ctx), void *ctx, struct symbols_result *r)
{
	const struct symbols_files files = {
		.file = symbols_file, .ctx = m, .cache = m->cache, .fetch = m->fetch,
		.meanwhile = meanwhile, .meanwhile_ctx = ctx,
	};

	symbols_write(&files, w, lines, r);
}
