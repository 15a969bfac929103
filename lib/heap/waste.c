// SPDX-License-Identifier: GPL-2.0-or-later
/* waste.c - see waste.h. */
#include <stdlib.h>

#include "base/mem.h"
#include "heap/graph.h"
#include "heap/texts.h"
#include "heap/waste.h"

/* Objects with the same contents. */
struct same {
	uint32_t what;			/* strtab id */
	enum waste_kind kind;
	uint64_t nr, wasted;
};

struct search {
	struct heap *h;
	struct waste *w;
	uint64_t *is_text;		/* bits, [object]: a String's value */
	uint32_t *field;		/* [object], of arrays of references: strtab id of what holds it; 0 */
	struct map same_of;		/* hash of contents and class -> index */
	struct same *same;
	size_t nr_same, alloc_same;
	struct map row_of;		/* (kind, what) -> index in w->rows */
	struct map field_name;		/* (class, field) -> strtab id of its name */
	const struct hprof_item *item;	/* whose references are looked at */
	uint32_t class;
};

/* --- the first walk: which arrays are texts, and by what fields arrays of references are held --- */

static uint32_t name_of_field(struct search *s, uint32_t how)
{
	const uint64_t key = (uint64_t)s->class << 32 | (uint64_t)(s->item->kind == HPROF_CLASS) << 31 | how;
	uint32_t *known = map_put(&s->field_name, key);

	if (*known == MAP_NONE)
		*known = heap_field_name(s->h, s->item, s->class, how);
	return *known;
}

static void note_ref(void *ctx, uint64_t id, uint32_t how)
{
	struct search *s = ctx;
	struct heap *h = s->h;
	uint32_t to = ids_find(&h->ids, id);

	if (to != HEAP_NONE && h->classes[h->class[to]].kind == HPROF_OBJECTS && !s->field[to])
		s->field[to] = name_of_field(s, how);
}

static void note_refs(struct search *s)
{
	struct heap *h = s->h;
	struct heap_objects w;
	struct hprof_item x;
	uint32_t object, text;

	s->item = &x;
	heap_objects(&w, h);
	while (heap_objects_next(&w, &x, &object)) {
		const struct heap_class *c = &h->classes[h->class[object]];

		s->class = x.kind == HPROF_CLASS ? heap_class_by_id(h, x.id) - h->classes : h->class[object];
		refs_each(h, &x, c, true, note_ref, s);
		if (x.kind != HPROF_INSTANCE ||
		    strcmp(heap_class_name(h, h->class[object]), "java.lang.String") != 0)
			continue;
		text = ids_find(&h->ids, texts_field(h, &x, "java.lang.String", "value"));
		if (text != HEAP_NONE)
			s->is_text[text / 64] |= (uint64_t)1 << text % 64;
	}
}

/* --- the second walk: contents --- */

static struct waste_row *row_of(struct search *s, enum waste_kind kind, uint32_t what)
{
	uint32_t *row = map_put(&s->row_of, (uint64_t)kind << 32 | what);

	if (*row == MAP_NONE) {
		*row = s->w->nr_rows;
		*VEC_ADD(s->w->rows, s->w->nr_rows, s->w->alloc_rows) =
			(struct waste_row){ .kind = kind, .what = what };
	}
	return &s->w->rows[*row];
}

static struct waste_row *waste_add(struct search *s, enum waste_kind kind, uint32_t what, uint64_t nr,
				   uint64_t wasted)
{
	struct waste_row *row = row_of(s, kind, what);

	row->nr += nr;
	row->wasted += wasted;
	s->w->nr[kind] += nr;
	s->w->wasted[kind] += wasted;
	return row;
}

static size_t len_of(const struct heap *h, const struct hprof_item *x)
{
	return x->kind == HPROF_VALUES ? (size_t)x->n * hprof_type_size(&h->dump, x->type) : x->n;
}

static uint32_t waste_text_of(struct search *s, const struct hprof_item *x)
{
	struct buf b = BUF_INIT;
	uint32_t id;

	texts_put(&b, x);
	id = strtab_add(&s->h->names, b.data ? b.data : "", b.len);
	buf_release(&b);
	return id;
}

/* Add an object with these contents: all but the first are wasted. */
static void take_contents(struct search *s, const struct hprof_item *x, uint32_t object, enum waste_kind kind)
{
	const struct heap *h = s->h;
	uint64_t hash = hash_pair(hash_bytes(x->data, len_of(h, x)), (uint64_t)h->class[object] << 8 | kind);
	uint32_t *known = map_put(&s->same_of, hash), at = *known;

	if (at == MAP_NONE) {
		at = *known = s->nr_same;
		*VEC_ADD(s->same, s->nr_same, s->alloc_same) = (struct same){
			.kind = kind, .what = h->classes[h->class[object]].name };
	}
	if (s->same[at].nr++)
		s->same[at].wasted += heap_size(h, object);
	if (s->same[at].nr == 2 && kind == WASTE_TEXTS)
		s->same[at].what = waste_text_of(s, x);
}

static bool is_zero(const uint8_t *p, size_t len)
{
	return !*p && !memcmp(p, p + 1, len - 1);
}

static void take_values(struct search *s, const struct hprof_item *x, uint32_t object)
{
	const struct heap *h = s->h;

	if (s->is_text[object / 64] >> object % 64 & 1)
		take_contents(s, x, object, WASTE_TEXTS);
	else if (is_zero(x->data, len_of(h, x)))
		waste_add(s, WASTE_ZEROS, h->classes[h->class[object]].name, 1, heap_size(h, object));
	else
		take_contents(s, x, object, WASTE_ARRAYS);
}

static void take_slots(struct search *s, const struct hprof_item *x, uint32_t object)
{
	const unsigned int id_size = s->h->dump.id_size;
	uint32_t i, unused = 0, what = s->field[object];
	struct waste_row *row;

	for (i = 0; i < x->n; i++)
		unused += !hprof_id(&s->h->dump, x->data + (size_t)i * id_size);
	row = waste_add(s, WASTE_SLOTS, what ? what : s->h->classes[s->h->class[object]].name, 1,
			(uint64_t)unused * s->h->layout.reference);
	row->slots += x->n;
	row->unused += unused;
}

static bool is_box(const char *class)
{
	static const char *const names[] = { "Integer", "Long", "Double", "Float", "Short", "Byte", "Character",
		"Boolean" };
	size_t i;

	if (strncmp(class, "java.lang.", 10) != 0)
		return false;
	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(class + 10, names[i]))
			return true;
	return false;
}

static void take_object(struct search *s, const struct hprof_item *x, uint32_t object)
{
	const struct heap *h = s->h;
	uint32_t class = h->class[object];

	if (x->kind == HPROF_INSTANCE) {
		if (x->n && is_box(heap_class_name(h, class)))
			take_contents(s, x, object, WASTE_BOXES);
	} else if (x->kind != HPROF_CLASS && !x->n) {
		bool first = row_of(s, WASTE_EMPTY, h->classes[class].name)->nr == 0;

		waste_add(s, WASTE_EMPTY, h->classes[class].name, 1, first ? 0 : heap_size(h, object));
	} else if (x->kind == HPROF_VALUES) {
		take_values(s, x, object);
	} else if (x->kind == HPROF_OBJECTS) {
		take_slots(s, x, object);
	}
}

static void take_objects(struct search *s)
{
	struct heap_objects w;
	struct hprof_item x;
	uint32_t object;
	size_t i;

	heap_objects(&w, s->h);
	while (heap_objects_next(&w, &x, &object))
		take_object(s, &x, object);
	for (i = 0; i < s->nr_same; i++)
		if (s->same[i].nr > 1)
			waste_add(s, s->same[i].kind, s->same[i].what, s->same[i].nr, s->same[i].wasted);
}

static int by_wasted(const void *a, const void *b)
{
	const struct waste_row *x = a, *y = b;

	return COMPARE(y->wasted, x->wasted) ?: COMPARE(x->kind, y->kind) ?: COMPARE(x->what, y->what);
}

static void sort_rows(struct waste *w)
{
	size_t i, nr = 0;

	for (i = 0; i < w->nr_rows; i++)
		if (w->rows[i].wasted)
			w->rows[nr++] = w->rows[i];
	w->nr_rows = nr;
	if (nr)
		qsort(w->rows, nr, sizeof(*w->rows), by_wasted);
}

int waste_find(struct heap *h, struct waste *w, struct err *e)
{
	const struct heap_read_opts ro = { 0 };
	struct search s = { .h = h, .w = w, .same_of = MAP_INIT, .row_of = MAP_INIT, .field_name = MAP_INIT };
	int r = heap_read(h, &ro, e);

	*w = (struct waste){ 0 };
	if (r)
		return r;
	s.is_text = xcalloc_large(h->ids.nr / 64 + 1, sizeof(*s.is_text));
	s.field = xcalloc_large((size_t)h->ids.nr + 1, sizeof(*s.field));
	note_refs(&s);
	take_objects(&s);
	sort_rows(w);
	free(s.is_text);
	free(s.field);
	free(s.same);
	map_release(&s.same_of);
	map_release(&s.row_of);
	map_release(&s.field_name);
	return 0;
}

void waste_release(struct waste *w)
{
	free(w->rows);
}
