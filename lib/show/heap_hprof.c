// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * heap_hprof.c - a heap in the text of HPROF, the JDK's profiler up to JDK 8: every object with what it
 * refers to (heap=dump), or objects by class (heap=sites).  A dump does not say where objects were allocated:
 * their trace is the empty one.
 *
 * Source: JDK 8 demo/jvmti/hprof/src/hprof_io.c.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/quote.h"
#include "report/hprof.h"
#include "show/heap.h"

struct text {
	const struct heap *h;
	FILE *out;
	struct buf escaped;
};

static const char *quoted(struct text *t, uint32_t name)
{
	return name ? quote_str(&t->escaped, strtab_get(&t->h->names, name)) : "<Unknown>";
}

static const char *class_name(struct text *t, uint32_t class)
{
	return quoted(t, t->h->classes[class].name);
}

static void heap_hprof_put_threads(struct text *t)
{
	size_t i;

	for (i = 0; i < t->h->nr_threads; i++) {
		const struct heap_thread *x = &t->h->threads[i];

		fprintf(t->out, "THREAD START (obj=%" PRIx64 ", id = %" PRIu32 ", name=\"%s\", ",
			x->object == HEAP_NONE ? 0 : ids_id(&t->h->ids, x->object), x->serial,
			x->name ? quoted(t, x->name) : "");
		fprintf(t->out, "group=\"%s\")\n", x->group ? quoted(t, x->group) : "");
	}
}

/* --- roots --- */

static void put_root(struct text *t, const struct heap_root *r)
{
	const struct heap_class *c = heap_class_by_id(t->h, r->id);
	uint32_t thread = r->thread < t->h->nr_threads ? t->h->threads[r->thread].serial : 0;
	FILE *out = t->out;

	fprintf(out, "ROOT %" PRIx64 " (kind=", r->id);
	switch (r->kind) {
	case HPROF_ROOT_THREAD:
		fprintf(out, "<thread>, id=%" PRIu32 ", trace=%d)\n", thread, HPROF_EMPTY_TRACE);
		break;
	case HPROF_ROOT_JNI_GLOBAL:
		fprintf(out, "<JNI global ref>, id=0, trace=%d)\n", HPROF_EMPTY_TRACE);
		break;
	case HPROF_ROOT_JNI_LOCAL:
		fprintf(out, "<JNI local ref>, thread=%" PRIu32 ", frame=-1)\n", thread);
		break;
	case HPROF_ROOT_JAVA_FRAME:
		fprintf(out, "<Java stack>, thread=%" PRIu32 ", frame=-1)\n", thread);
		break;
	case HPROF_ROOT_NATIVE_STACK:
		fprintf(out, "<native stack>, thread=%" PRIu32 ")\n", thread);
		break;
	case HPROF_ROOT_STICKY_CLASS:
		fprintf(out, "<system class>, name=%s)\n", c ? quoted(t, c->name) : "<Unknown>");
		break;
	case HPROF_ROOT_THREAD_BLOCK:
		fprintf(out, "<thread block>, thread=%" PRIu32 ")\n", thread);
		break;
	case HPROF_ROOT_MONITOR:
		fputs("<busy monitor>)\n", out);
		break;
	default:
		fputs("<unknown>)\n", out);
	}
}

/* --- objects --- */

static void heap_hprof_put_field(struct text *t, const struct hprof_field *f, bool is_static)
{
	uint64_t id = f->type == HPROF_OBJECT ? hprof_id(&t->h->dump, f->value) : 0;
	const char *name;

	if (!id)
		return;
	name = quoted(t, heap_text(t->h, f->name));
	if (is_static)
		fprintf(t->out, "\tstatic %s\t%" PRIx64 "\n", name, id);
	else
		fprintf(t->out, "\t%s\t%s%" PRIx64 "\n", name, strlen(name) < 8 ? "\t" : "", id);
}

static void heap_hprof_put_fields(struct text *t, const struct hprof_item *x)
{
	struct heap_fields_walk w;
	struct hprof_field f;

	heap_fields_walk(&w, t->h, x);
	while (heap_fields_next(&w, &f))
		heap_hprof_put_field(t, &f, x->kind == HPROF_CLASS);
}

static void put_reference(struct text *t, const char *what, uint64_t id)
{
	if (id)
		fprintf(t->out, "\t%s\t\t%" PRIx64 "\n", what, id);
}

static void heap_hprof_put_class(struct text *t, const struct hprof_item *x)
{
	const struct heap_class *c = heap_class_by_id(t->h, x->id);

	fprintf(t->out, "CLS %" PRIx64 " (name=%s, trace=%d)\n", x->id, quoted(t, c->name),
		HPROF_EMPTY_TRACE);
	put_reference(t, "super", c->raw.super);
	put_reference(t, "loader", c->raw.loader);
	put_reference(t, "signers", c->raw.signers);
	put_reference(t, "domain", c->raw.domain);
	heap_hprof_put_fields(t, x);
}

static void put_array(struct text *t, const struct hprof_item *x, uint32_t object)
{
	uint32_t i;

	fprintf(t->out, "ARR %" PRIx64 " (sz=%" PRIu64 ", trace=%d, nelems=%" PRIu32 ", elem type=%s", x->id,
		heap_size(t->h, object), HPROF_EMPTY_TRACE, x->n, class_name(t, t->h->class[object]));
	if (x->kind == HPROF_VALUES) {
		fputs(")\n", t->out);
		return;
	}
	fprintf(t->out, "@%" PRIx64 ")\n", x->class_id);
	for (i = 0; i < x->n; i++) {
		uint64_t id = hprof_id(&t->h->dump, x->data + (size_t)i * t->h->dump.id_size);

		if (id)
			fprintf(t->out, "\t[%" PRIu32 "]\t\t%" PRIx64 "\n", i, id);
	}
}

static void put_object(struct text *t, const struct hprof_item *x, uint32_t object)
{
	if (x->kind == HPROF_CLASS) {
		heap_hprof_put_class(t, x);
	} else if (x->kind == HPROF_INSTANCE) {
		fprintf(t->out, "OBJ %" PRIx64 " (sz=%" PRIu64 ", trace=%d, class=%s@%" PRIx64 ")\n", x->id,
			heap_size(t->h, object), HPROF_EMPTY_TRACE, class_name(t, t->h->class[object]),
			x->class_id);
		heap_hprof_put_fields(t, x);
	} else {
		put_array(t, x, object);
	}
}

static void heap_hprof_begin(struct text *t, struct heap *h, FILE *out)
{
	*t = (struct text){ .h = h, .out = out };
	hprof_put_head(h->dump.time_ms * 1000000, out);
	heap_hprof_put_threads(t);
	hprof_put_empty_trace(out);
}

int heap_print_hprof_dump(struct heap *h, FILE *out, struct err *e)
{
	const struct heap_read_opts ro = { .thread_names = true };
	struct heap_objects w;
	struct hprof_item x;
	struct text t;
	uint32_t object;
	size_t i;
	int r = heap_read(h, &ro, e);

	if (r)
		return r;
	threads_find_groups(h);
	heap_hprof_begin(&t, h, out);
	fprintf(out, "HEAP DUMP BEGIN (%" PRIu32 " objects, %" PRIu64 " bytes) ", h->ids.nr, h->bytes);
	hprof_put_date(h->dump.time_ms * 1000000, out);
	for (i = 0; i < h->nr_roots; i++)
		put_root(&t, &h->roots[i]);
	heap_objects(&w, h);
	while (heap_objects_next(&w, &x, &object))
		put_object(&t, &x, object);
	fputs("HEAP DUMP END\n", out);
	buf_release(&t.escaped);
	return 0;
}

void heap_print_hprof_sites(struct heap *h, const struct heap_rank *ranks, size_t nr, FILE *out)
{
	struct text t;
	uint64_t sum = 0;
	size_t i;

	heap_hprof_begin(&t, h, out);
	hprof_begin_sites("live bytes", h->dump.time_ms * 1000000, out);
	for (i = 0; i < nr; i++) {
		const struct hprof_site site = {
			.rank = i + 1, .self = ranks[i].bytes, .accum = sum + ranks[i].bytes,
			.total = h->bytes, .has_live = true, .live = ranks[i].bytes,
			.has_live_objects = true, .live_objects = ranks[i].nr, .trace = HPROF_EMPTY_TRACE,
			.class = quote_str(&t.escaped, ranks[i].name),
		};

		hprof_put_site(&site, out);
		sum += ranks[i].bytes;
	}
	fputs("SITES END\n", out);
	buf_release(&t.escaped);
}
