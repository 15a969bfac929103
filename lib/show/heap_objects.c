// SPDX-License-Identifier: GPL-2.0-or-later
/* heap_objects.c - "arcprof heap report": single objects, what is in them and who refers to them. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/quote.h"
#include "heap/graph.h"
#include "heap/loaders.h"
#include "heap/texts.h"
#include "model/select.h"
#include "report/report.h"
#include "report/sheet.h"
#include "show/heap.h"

enum { OBJECT_ROWS = 100, DETAIL_ROWS = 20 };

struct object {
	uint32_t nr;
	uint32_t length;		/* of an array; HEAP_NONE */
	char *text;			/* of a String, or the name of a class; NULL: none */
};

struct object_list {
	const struct heap *h;
	const struct heap_retained *x;
	struct object *list;
	size_t nr, alloc;
};

static const char *id_text(const struct heap *h, uint32_t object, char *out, size_t size)
{
	snprintf(out, size, "0x%" PRIx64, ids_id(&h->ids, object));
	return out;
}

/* --- the largest objects of some classes --- */

static int by_retained(const void *a, const void *b, void *ctx)
{
	const struct heap_retained *x = ctx;
	const struct object *p = a, *q = b;

	return COMPARE(x->bytes[q->nr], x->bytes[p->nr]) ?: COMPARE(p->nr, q->nr);
}

static void find_objects(struct object_list *l, const struct opt_list *classes)
{
	const struct heap *h = l->h;
	bool *wanted = xcalloc(h->nr_classes, sizeof(*wanted));
	uint32_t i;

	for (i = 0; i < h->nr_classes; i++)
		wanted[i] = select_name(classes, heap_class_name(h, i));
	for (i = 0; i < h->ids.nr; i++) {
		if (!wanted[h->class[i]])
			continue;
		*VEC_ADD(l->list, l->nr, l->alloc) = (struct object){ .nr = i, .length = HEAP_NONE };
	}
	free(wanted);
	if (l->nr)
		qsort_r(l->list, l->nr, sizeof(*l->list), by_retained, (void *)l->x);
}

static void set_text(void *ctx, uint32_t i, const char *text, size_t len)
{
	struct object_list *l = ctx;
	struct buf b = BUF_INIT;

	quote_add_also(&b, text, len, "\"");
	l->list[i].text = xasprintf("\"%s\"", b.data ? b.data : "");
	buf_release(&b);
}

/* Return the class whose fields x shows: for a Class object, that class. */
static uint32_t class_shown(const struct heap *h, const struct hprof_item *x, uint32_t object)
{
	return x->kind == HPROF_CLASS ? heap_class_by_id(h, x->id) - h->classes : h->class[object];
}

/* Find texts, names of classes and lengths for the first nr objects. */
static void heap_objects_describe(struct object_list *l, size_t nr)
{
	static const struct text_step steps[] = { TEXT_OF_STRING };
	uint64_t *ids = xcalloc(nr + 1, sizeof(*ids));
	struct map row_of = MAP_INIT;
	struct heap_objects w;
	struct hprof_item x;
	uint32_t object, row;
	size_t i;

	for (i = 0; i < nr; i++) {
		ids[i] = ids_id(&l->h->ids, l->list[i].nr);
		*map_put(&row_of, ids[i]) = i;
	}
	heap_objects(&w, l->h);
	while (heap_objects_next(&w, &x, &object)) {
		row = x.kind != HPROF_INSTANCE ? map_get(&row_of, x.id) : MAP_NONE;
		if (row == MAP_NONE)
			continue;
		if (x.kind != HPROF_CLASS)
			l->list[row].length = x.n;
		else if (!l->list[row].text)
			l->list[row].text = xasprintf("class %s",
						      heap_class_name(l->h, class_shown(l->h, &x, object)));
	}
	texts_find(l->h, ids, nr, steps, set_text, l);
	map_release(&row_of);
	free(ids);
}

static const struct sheet_column object_columns[] = {
	{ .key = "retained", .head = "Retained", .width = 14 },
	{ .key = "bytes", .head = "Bytes", .width = 14 },
	{ .key = "id", .head = "Object", .width = -14 },
	{ .key = "length", .head = "Length", .width = 10 },
	{ .key = "class", .head = "Class", .width = -1 },
	{ .key = "text", .head = "", .width = -1 },
};

static void print_object_row(const struct object_list *l, size_t i, struct sheet *s)
{
	const struct object *o = &l->list[i];
	char id[24];
	const struct cell cells[] = {
		cell_u64(l->x->bytes[o->nr]), cell_u64(heap_size(l->h, o->nr)),
		cell_text(id_text(l->h, o->nr, id, sizeof(id))),
		o->length == HEAP_NONE ? cell_absent : cell_u64(o->length),
		cell_text(heap_class_name(l->h, l->h->class[o->nr])),
		o->text ? cell_text(o->text) : cell_absent,
	};

	sheet_row(s, NULL, cells);
}

/* Print the objects. A sheet that sorts gets all rows and shows as many as wanted. */
static void print_objects(const struct object_list *l, size_t shown, size_t rows,
			  const struct heap_table_opts *o)
{
	struct sheet_choice choice = o->choice;
	struct sheet s;
	size_t i;

	choice.limit = shown;
	sheet_init(&s, o->format, o->out);
	sheet_choose(&s, &choice);
	if (sheet_is_text(&s))
		fprintf(s.out, "%zu objects%s\n\n", l->nr,
			choice.sort ? "" : ", those that retain most first");
	json_object(&s.json, NULL);
	json_u64(&s.json, "objects", l->nr);
	report_json_hidden(&s.json, l->nr - shown);
	json_array(&s.json, "rows");
	sheet_columns(&s, object_columns, ARRAY_SIZE(object_columns));
	for (i = 0; i < rows; i++)
		print_object_row(l, i, &s);
	sheet_end(&s);
	json_end(&s.json);
	json_end(&s.json);
	if (sheet_is_text(&s) && shown < l->nr)
		fprintf(s.out, "... and %zu more objects (--limit)\n", l->nr - shown);
}

int heap_print_objects(struct heap *h, const struct heap_table_opts *o, struct err *e)
{
	struct heap_retained x;
	struct object_list l = { .h = h, .x = &x };
	size_t shown, rows, i, limit = o->limit ? o->limit : OBJECT_ROWS;
	int r = heap_retained(h, o->keep_soft, &x, e);

	if (r)
		return r;
	find_objects(&l, o->classes);
	shown = limit < l.nr ? limit : l.nr;
	rows = o->choice.sort ? l.nr : shown;
	if (l.nr) {
		heap_objects_describe(&l, rows);
		print_objects(&l, shown, rows, o);
	} else {
		r = err_set(e, ENOENT, "no object is of a class that --objects names");
	}
	for (i = 0; i < rows; i++)
		free(l.list[i].text);
	free(l.list);
	heap_retained_release(&x);
	return r;
}

/* --- one object --- */

struct referrer {
	uint32_t object, field;		/* field: strtab id */
};

struct look {
	const struct heap *h;
	const struct heap_retained *x;
	uint64_t id;
	uint32_t object;
	struct hprof_item item;		/* its own */
	bool found;
	struct referrer *referrers;	/* at most limit */
	size_t nr_referrers, alloc_referrers;
	uint64_t nr_more;		/* referrers */
	uint64_t limit;
	struct sheet *sheet;
};

/* The objects that are looked at in one walk. */
struct looks {
	struct heap *h;
	struct look *list;
	size_t nr, alloc;
	struct map at_of;		/* object -> index */
	uint64_t *wanted;		/* a bit for each object */
	const struct hprof_item *at;
	uint32_t from;
};

static void looks_init(struct looks *s, struct heap *h)
{
	*s = (struct looks){ .h = h };
	s->wanted = xcalloc((size_t)h->ids.nr / 64 + 1, sizeof(*s->wanted));
}

static void looks_release(struct looks *s)
{
	size_t i;

	for (i = 0; i < s->nr; i++)
		free(s->list[i].referrers);
	free(s->list);
	free(s->wanted);
	map_release(&s->at_of);
}

static bool heap_objects_is_wanted(const struct looks *s, uint32_t object)
{
	return s->wanted[object / 64] >> object % 64 & 1;
}

static void looks_add(struct looks *s, const struct heap_retained *x, uint32_t object, uint64_t limit)
{
	if (heap_objects_is_wanted(s, object))
		return;
	s->wanted[object / 64] |= (uint64_t)1 << object % 64;
	*map_put(&s->at_of, object) = s->nr;
	VEC_GROW(s->list, s->nr, s->alloc);
	s->list[s->nr++] = (struct look){ .h = s->h, .x = x, .id = ids_id(&s->h->ids, object),
					  .object = object, .limit = limit };
}

static void note_referrer(void *ctx, uint64_t id, uint32_t how)
{
	struct looks *s = ctx;
	uint32_t to = ids_find(&s->h->ids, id);
	struct look *l;

	if (to == HEAP_NONE || !heap_objects_is_wanted(s, to))
		return;
	l = &s->list[map_get(&s->at_of, to)];
	if (l->nr_referrers >= l->limit) {
		l->nr_more++;
		return;
	}
	*VEC_ADD(l->referrers, l->nr_referrers, l->alloc_referrers) = (struct referrer){
		s->from, heap_field_name(s->h, s->at, class_shown(s->h, s->at, s->from), how) };
}

static void look_around(struct looks *s)
{
	const struct heap *h = s->h;
	struct heap_objects w;
	struct hprof_item x;

	s->at = &x;
	heap_objects(&w, h);
	while (heap_objects_next(&w, &x, &s->from)) {
		struct look *l = heap_objects_is_wanted(s, s->from) ?
				 &s->list[map_get(&s->at_of, s->from)] : NULL;

		if (l && !l->found) {
			l->item = x;
			l->found = true;
		}
		refs_each(h, &x, &h->classes[h->class[s->from]], true, note_referrer, s);
	}
}

static const struct sheet_column field_columns[] = {
	{ .key = "field", .head = "Field", .width = -24 },
	{ .key = "value", .head = "Value", .width = -20 },
	{ .key = "retained", .head = "Retained", .width = 14 },
	{ .key = "class", .head = "Class", .width = -1 },
};

static void heap_objects_put_number(struct buf *b, unsigned int type, const uint8_t *p)
{
	uint64_t bits;
	double wide;
	float narrow;

	switch (type) {
	case HPROF_BOOLEAN:
		buf_str(b, *p ? "true" : "false");
		break;
	case HPROF_BYTE:
		buf_fmt(b, "%d", (int8_t)*p);
		break;
	case HPROF_CHAR:
		buf_fmt(b, "%u", hprof_u16(p));
		break;
	case HPROF_SHORT:
		buf_fmt(b, "%d", (int16_t)hprof_u16(p));
		break;
	case HPROF_INT:
		buf_fmt(b, "%d", (int32_t)hprof_u32(p));
		break;
	case HPROF_LONG:
		buf_fmt(b, "%" PRId64, (int64_t)hprof_u64(p));
		break;
	case HPROF_FLOAT:
		bits = hprof_u32(p);
		memcpy(&narrow, &(uint32_t){ bits }, sizeof(narrow));
		buf_fmt(b, "%.9g", narrow);
		break;
	case HPROF_DOUBLE:
		bits = hprof_u64(p);
		memcpy(&wide, &bits, sizeof(wide));
		buf_fmt(b, "%.17g", wide);
		break;
	}
}

static void print_field(struct look *l, const char *name, unsigned int type, const uint8_t *value)
{
	const struct heap *h = l->h;
	uint64_t id = type == HPROF_OBJECT ? hprof_id(&h->dump, value) : 0;
	uint32_t to = id ? ids_find(&h->ids, id) : HEAP_NONE;
	struct buf b = BUF_INIT;

	if (type != HPROF_OBJECT)
		heap_objects_put_number(&b, type, value);
	else if (id)
		buf_fmt(&b, "0x%" PRIx64, id);
	else
		buf_str(&b, "null");
	sheet_row(l->sheet, NULL, (struct cell[]){
		cell_text(name), cell_text(b.data ? b.data : ""),
		to == HEAP_NONE ? cell_absent : cell_u64(l->x->bytes[to]),
		to != HEAP_NONE ? cell_text(heap_class_name(h, h->class[to])) :
		id ? cell_text("[not in the dump]") : cell_absent });
	buf_release(&b);
}

static const char *field_name(const struct heap *h, const struct hprof_field *f)
{
	uint32_t text = heap_text(h, f->name);

	return text ? strtab_get(&h->names, text) : "[unknown]";
}

static void print_fields(struct look *l)
{
	struct heap_fields_walk w;
	struct hprof_field f;

	heap_fields_walk(&w, l->h, &l->item);
	while (heap_fields_next(&w, &f))
		print_field(l, field_name(l->h, &f), f.type, f.value);
}

/* Print the elements; return how many are not shown. */
static uint32_t print_elements(struct look *l)
{
	unsigned int type = l->item.kind == HPROF_OBJECTS ? HPROF_OBJECT : l->item.type;
	unsigned int size = hprof_type_size(&l->h->dump, type);
	uint32_t i, shown = l->limit < l->item.n ? l->limit : l->item.n;
	char name[16];

	for (i = 0; i < shown; i++) {
		snprintf(name, sizeof(name), "[%" PRIu32 "]", i);
		print_field(l, name, type, l->item.data + (size_t)i * size);
	}
	return l->item.n - shown;
}

static void more(struct look *l, uint64_t hidden, const char *what)
{
	report_json_hidden(&l->sheet->json, hidden);
	if (hidden && sheet_is_text(l->sheet))
		fprintf(l->sheet->out, "... and %" PRIu64 " more %s (--limit)\n", hidden, what);
}

static void begin_table(struct look *l, const char *key, const char *title, const struct sheet_column *c,
			size_t nr)
{
	if (sheet_is_text(l->sheet))
		fprintf(l->sheet->out, "\n%s\n", title);
	json_object(&l->sheet->json, key);
	json_array(&l->sheet->json, "rows");
	sheet_columns(l->sheet, c, nr);
}

static void end_table(struct look *l, uint64_t hidden, const char *what)
{
	json_end(&l->sheet->json);
	more(l, hidden, what);
	json_end(&l->sheet->json);
}

static void print_contents(struct look *l)
{
	uint32_t hidden = 0;

	begin_table(l, "fields", l->item.kind == HPROF_CLASS ? "Static fields" : "Contents", field_columns,
		    ARRAY_SIZE(field_columns));
	if (l->item.kind == HPROF_INSTANCE || l->item.kind == HPROF_CLASS)
		print_fields(l);
	else
		hidden = print_elements(l);
	end_table(l, hidden, "elements");
}

static const struct sheet_column holder_columns[] = {
	{ .key = "id", .head = "Object", .width = -14 },
	{ .key = "retained", .head = "Retained", .width = 14 },
	{ .key = "class", .head = "Class", .width = -1 },
};

/* Print from the object up what dominates it. */
static void print_holders(struct look *l)
{
	const struct heap *h = l->h;
	uint32_t node = l->object;
	uint64_t nr = 0, hidden = 0;
	char id[24];

	begin_table(l, "dominators", "Kept by (dominators)", holder_columns, ARRAY_SIZE(holder_columns));
	while ((node = l->x->holder[node]) < h->ids.nr) {
		if (nr++ >= l->limit) {
			hidden++;
			continue;
		}
		sheet_row(l->sheet, NULL, (struct cell[]){
			cell_text(id_text(h, node, id, sizeof(id))), cell_u64(l->x->bytes[node]),
			cell_text(heap_class_name(h, h->class[node])) });
	}
	end_table(l, hidden, "dominators");
}

static const struct sheet_column referrer_columns[] = {
	{ .key = "id", .head = "Object", .width = -14 },
	{ .key = "retained", .head = "Retained", .width = 14 },
	{ .key = "by", .head = "By", .width = -1 },
};

static void print_referrers(struct look *l)
{
	const struct heap *h = l->h;
	size_t i;
	char id[24];

	begin_table(l, "referrers", "Referred to by", referrer_columns, ARRAY_SIZE(referrer_columns));
	for (i = 0; i < l->nr_referrers; i++) {
		const struct referrer *r = &l->referrers[i];

		sheet_row(l->sheet, NULL, (struct cell[]){
			cell_text(id_text(h, r->object, id, sizeof(id))), cell_u64(l->x->bytes[r->object]),
			cell_text(strtab_get(&h->names, r->field)) });
	}
	end_table(l, l->nr_more, "referrers");
}

static void print_about(struct look *l)
{
	const struct heap *h = l->h;
	const char *class = heap_class_name(h, class_shown(h, &l->item, l->object));
	char *name = xasprintf("%s%s", l->item.kind == HPROF_CLASS ? "class " : "", class);
	struct buf text = BUF_INIT;

	if (l->item.kind == HPROF_VALUES && (l->item.type == HPROF_CHAR || l->item.type == HPROF_BYTE))
		texts_put(&text, &l->item);
	if (sheet_is_text(l->sheet)) {
		fprintf(l->sheet->out, "0x%" PRIx64 ", %s: %" PRIu64 " bytes, retains %" PRIu64 "\n", l->id,
			name, heap_size(h, l->object), l->x->bytes[l->object]);
		if (text.len) {
			fputs("as text: ", l->sheet->out);
			quote_print(text.data, l->sheet->out);
			fputc('\n', l->sheet->out);
		}
	}
	json_str(&l->sheet->json, "class", name);
	json_u64(&l->sheet->json, "bytes", heap_size(h, l->object));
	json_u64(&l->sheet->json, "retained", l->x->bytes[l->object]);
	if (text.len)
		json_str(&l->sheet->json, "text", text.data);
	buf_release(&text);
	free(name);
}

static void print_look(struct look *l, struct sheet *s)
{
	char id[24];

	l->sheet = s;
	json_object(&s->json, NULL);
	json_str(&s->json, "id", id_text(l->h, l->object, id, sizeof(id)));
	print_about(l);
	print_contents(l);
	print_holders(l);
	print_referrers(l);
	json_end(&s->json);
}

static int heap_objects_read_id(const char *text, uint64_t *id, struct err *e)
{
	char *end;

	errno = 0;
	*id = strtoull(text, &end, 0);
	return !errno && !*end && end != text && *text != '-' ? 0 :
	       err_set(e, EINVAL, "--object: '%s' is not an id (--objects shows them)", text);
}

int heap_print_object(struct heap *h, const struct heap_table_opts *o, struct err *e)
{
	struct heap_retained x;
	struct looks s;
	struct sheet sheet;
	uint32_t object;
	uint64_t id;
	int r = heap_objects_read_id(o->object, &id, e);

	if (!r)
		r = heap_retained(h, o->keep_soft, &x, e);
	if (r)
		return r;
	looks_init(&s, h);
	object = ids_find(&h->ids, id);
	if (object != HEAP_NONE) {
		looks_add(&s, &x, object, o->limit ? o->limit : OBJECT_ROWS);
		look_around(&s);
	}
	sheet_init(&sheet, o->format, o->out);
	if (s.nr && s.list->found)
		print_look(s.list, &sheet);
	else
		r = err_set(e, ENOENT, "no object has the id %s", o->object);
	looks_release(&s);
	heap_retained_release(&x);
	return r;
}

/* --- the objects that the page shows --- */

/* Choose the objects of a list, loaders, and what keeps all of these. */
static void heap_objects_choose(struct looks *s, const struct heap_retained *x,
				const struct heap_table_opts *o)
{
	struct object_list l = { .h = s->h, .x = x };
	struct heap_loader *loaders;
	size_t nr_loaders, nr, i;
	uint64_t id;
	struct err e;

	if (o->object && !heap_objects_read_id(o->object, &id, &e) && ids_find(&s->h->ids, id) != HEAP_NONE)
		looks_add(s, x, ids_find(&s->h->ids, id), DETAIL_ROWS);
	find_objects(&l, o->classes);
	for (i = 0; i < l.nr && i < o->limit; i++)
		looks_add(s, x, l.list[i].nr, DETAIL_ROWS);
	free(l.list);
	loaders = loaders_find(s->h, &nr_loaders);
	for (i = 0; i < nr_loaders && i < o->limit; i++)
		if (loaders[i].object != HEAP_NONE)
			looks_add(s, x, loaders[i].object, DETAIL_ROWS);
	free(loaders);
	for (i = 0, nr = s->nr; i < s->nr && s->nr < 3 * nr; i++)
		if (x->holder[s->list[i].object] < s->h->ids.nr)
			looks_add(s, x, x->holder[s->list[i].object], DETAIL_ROWS);
}

int heap_print_details(struct heap *h, const struct heap_table_opts *o, struct err *e)
{
	struct heap_retained x;
	struct sheet sheet;
	struct looks s;
	size_t i;
	int r = heap_retained(h, o->keep_soft, &x, e);

	if (r)
		return r;
	looks_init(&s, h);
	heap_objects_choose(&s, &x, o);
	look_around(&s);
	sheet_init(&sheet, o->format, o->out);
	json_array(&sheet.json, NULL);
	for (i = 0; i < s.nr; i++)
		if (s.list[i].found)
			print_look(&s.list[i], &sheet);
	json_end(&sheet.json);
	looks_release(&s);
	heap_retained_release(&x);
	return 0;
}
