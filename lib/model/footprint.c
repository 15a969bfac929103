// SPDX-License-Identifier: GPL-2.0-or-later
/* footprint.c - reads where the resident memory of processes was (footprint.h). */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/footprint.h"

struct take {
	struct footprints_read *f;
	uint64_t pid;			/* 0: all */
	bool on;			/* the latest reading is wanted */
};

/* Copy text of the trace, which may be anything, as one printable line. */
static void copy_text(char *to, size_t bytes, const struct rec_footprint *r)
{
	size_t i, len = MIN(r->text_len, bytes - 1);

	for (i = 0; i < len; i++)
		to[i] = isprint((unsigned char)r->text[i]) ? r->text[i] : '?';
	to[len] = 0;
}

static bool footprint_begin(struct take *t, const struct rec_footprint *r)
{
	struct footprints_read *f = t->f;
	const struct names *x = &f->names;
	uint32_t at = map_get(&x->proc_of, r->proc);
	const struct name_proc *p = at == MAP_NONE ? NULL : &x->procs[at];
	struct footprint *n;

	if (t->pid && (!p || p->pid != t->pid))
		return false;
	n = VEC_ADD(f->list, f->nr, f->alloc);
	*n = (struct footprint){
		.time_ns = r->time_ns, .proc = r->proc,
		.r = { .pid = p ? (int)p->pid : 0, .is_jvm = r->resident & FOOTPRINT_IS_JVM,
		       .not_read = r->resident & FOOTPRINT_NOT_READ, .nr_threads = r->swapped,
		       .malloc_unknown = r->committed, .buffers.why = "not recorded" },
	};
	snprintf(n->r.name, sizeof(n->r.name), "%s", p ? model_str(x->m, p->comm) : "");
	copy_text(n->r.jvm, sizeof(n->r.jvm), r);
	return true;
}

static void footprint_add_part(struct resident *to, const struct rec_footprint *r)
{
	const struct resident_sum s = { r->resident, r->swapped, r->committed, r->mapped };
	size_t i;

	for (i = 0; i < RESIDENT_NR_PARTS - 1; i++)	/* of a newer version: not accounted for */
		if (strlen(resident_keys[i]) == r->text_len &&
		    !memcmp(resident_keys[i], r->text, r->text_len))
			break;
	resident_add(&to->parts[i], &s);
	resident_add(&to->total, &s);
}

static int take_footprint(void *ctx, const struct rec_footprint *r)
{
	struct take *t = ctx;
	struct resident *to;

	if (r->kind == FOOTPRINT_PROCESS) {
		t->on = footprint_begin(t, r);
		return 0;
	}
	if (!t->on || t->f->list[t->f->nr - 1].proc != r->proc)
		return 0;
	to = &t->f->list[t->f->nr - 1].r;
	if (r->kind == FOOTPRINT_PART) {
		footprint_add_part(to, r);
	} else if (r->kind == FOOTPRINT_NOT_ASKED) {
		copy_text(to->not_asked, sizeof(to->not_asked), r);
	} else if (r->kind == FOOTPRINT_BUFFERS) {
		copy_text(to->buffers.why, sizeof(to->buffers.why), r);
		to->buffers.nr = r->resident;
		to->buffers.bytes = r->committed;
	} else if (r->kind == FOOTPRINT_CATEGORY && to->nmt.nr < ARRAY_SIZE(to->nmt.items)) {
		struct hotspot_category *c = &to->nmt.items[to->nmt.nr++];

		copy_text(c->name, sizeof(c->name), r);
		c->malloc = r->resident;
		c->mapped = r->committed;
	}
	return 0;
}

static int by_process_and_time(const void *p, const void *q)
{
	const struct footprint *a = p, *b = q;

	return COMPARE(a->proc, b->proc) ?: COMPARE(a->time_ns, b->time_ns);
}

int footprints_read(struct footprints_read *f, struct trace_reader *t, uint64_t pid, struct err *e)
{
	static const struct trace_sink sink = { .footprint = take_footprint };
	struct take take = { .f = f, .pid = pid };
	uint64_t start_ns, real_ns;
	size_t i;
	int r;

	memset(f, 0, sizeof(*f));
	trace_reader_start(t, &start_ns, &real_ns);
	r = names_read_texts(&f->names, &f->strings, t, e);
	if (!r)
		r = trace_read(t, &sink, &take, e);
	if (r)
		return r;
	if (!f->nr) {
		err_set(e, ENODATA, pid ? "resident memory of this process was not recorded" :
					  "resident memory was not recorded");
		err_hint(e, "arcprof record --memory");
		return -ENODATA;
	}
	qsort(f->list, f->nr, sizeof(*f->list), by_process_and_time);
	for (i = 0; i < f->nr; i++)
		f->list[i].time_ns -= MIN(f->list[i].time_ns, start_ns);
	return 0;
}

void footprints_release(struct footprints_read *f)
{
	free(f->list);
	names_release(&f->names);
	model_release(&f->strings);
}
