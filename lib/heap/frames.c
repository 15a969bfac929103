// SPDX-License-Identifier: GPL-2.0-or-later
/* frames.c - see frames.h. Serial numbers and ids are those of the dump, which can have any. */
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "heap/frames.h"

static void heap_frames_add_frame(struct heap_frames *f, const struct heap *h, const struct hprof_record *r)
{
	const unsigned int id_size = h->dump.id_size;
	const uint8_t *p = r->body;

	if (r->len < 4 * id_size + 8)
		return;
	*map_put(&f->frame_of, hprof_id(&h->dump, p)) = f->nr;
	*VEC_ADD(f->list, f->nr, f->alloc) = (struct heap_frame){
		.method = hprof_id(&h->dump, p + id_size),
		.signature = hprof_id(&h->dump, p + 2 * id_size),
		.source = hprof_id(&h->dump, p + 3 * id_size),
		.class_serial = hprof_u32(p + 4 * id_size),
		.line = (int32_t)hprof_u32(p + 4 * id_size + 4),
	};
}

static void heap_frames_add_stack(struct heap_frames *f, const struct heap *h, const struct hprof_record *r)
{
	uint32_t nr = r->len < 12 ? 0 : hprof_u32(r->body + 8);

	if (!nr || nr > (r->len - 12) / h->dump.id_size)
		return;
	*map_put(&f->stack_of, hprof_u32(r->body + 4)) = f->nr_stacks;
	*VEC_ADD(f->stacks, f->nr_stacks, f->alloc_stacks) = (struct heap_stack){ r->body + 12, nr };
}

static void heap_frames_add_class(struct heap_frames *f, const struct heap *h, const struct hprof_record *r)
{
	const struct heap_class *c;

	if (r->len < 8 + 2 * h->dump.id_size)
		return;
	c = heap_class_by_id(h, hprof_id(&h->dump, r->body + 4));
	if (c)
		*map_put(&f->class_of, hprof_u32(r->body)) = c->name;
}

void heap_frames(struct heap_frames *f, const struct heap *h)
{
	struct hprof_walk w;
	struct hprof_record r;

	*f = (struct heap_frames){ .frame_of = MAP_INIT, .class_of = MAP_INIT, .stack_of = MAP_INIT };
	hprof_walk(&w, &h->dump);
	while (hprof_next(&w, &r))
		if (r.tag == HPROF_STACK_FRAME)
			heap_frames_add_frame(f, h, &r);
		else if (r.tag == HPROF_STACK_TRACE)
			heap_frames_add_stack(f, h, &r);
		else if (r.tag == HPROF_LOAD_CLASS)
			heap_frames_add_class(f, h, &r);
}

void heap_frames_release(struct heap_frames *f)
{
	map_release(&f->frame_of);
	map_release(&f->class_of);
	map_release(&f->stack_of);
	free(f->list);
	free(f->stacks);
}

const struct heap_frame *heap_frame_of(const struct heap *h, const struct heap_frames *f,
				       const struct heap_root *r)
{
	bool has_frame = r->kind == HPROF_ROOT_JAVA_FRAME && r->thread < h->nr_threads;
	uint32_t at = has_frame ? map_get(&f->stack_of, h->threads[r->thread].serial) : MAP_NONE;

	if (at == MAP_NONE || r->frame >= f->stacks[at].nr)
		return NULL;
	at = map_get(&f->frame_of,
		     hprof_id(&h->dump, f->stacks[at].ids + (size_t)r->frame * h->dump.id_size));
	return at == MAP_NONE ? NULL : &f->list[at];
}

uint32_t heap_frame_name(struct heap *h, const struct heap_frames *f, const struct heap_root *r,
			 const char *variable)
{
	const struct heap_frame *frame = heap_frame_of(h, f, r);
	uint32_t class = frame ? map_get(&f->class_of, frame->class_serial) : MAP_NONE, source, id;
	struct buf b = BUF_INIT;

	if (!frame)
		return 0;
	source = heap_text(h, frame->source);
	buf_fmt(&b, "local %s%sof %s.%s(%s", variable, *variable ? " " : "",
		class == MAP_NONE ? "?" : strtab_get(&h->names, class),
		strtab_get(&h->names, heap_text(h, frame->method)),
		source ? strtab_get(&h->names, source) : "Unknown Source");
	if (frame->line > 0)
		buf_fmt(&b, ":%d", frame->line);
	buf_putc(&b, ')');
	id = strtab_add(&h->names, b.data, b.len);
	buf_release(&b);
	return id;
}
