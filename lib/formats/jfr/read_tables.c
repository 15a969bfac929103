// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * read_tables.c - the tables of a chunk of a JFR file: where each entry is, by its type and number.
 *
 * The last checkpoint says where the one before it is, and so on.  Each must end before the one that was
 * read, so that none is read twice.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/jfr/read.h"

enum { MAX_ENTRIES = 1 << 25, MAX_LINKS = 4 };

void jfr_chunk_release(struct jfr_chunk *c)
{
	size_t i;

	for (i = 0; i < c->nr_types; i++)
		map_release(&c->types[i].table);
	free(c->types);
	free(c->fields);
	free(c->places);
	map_release(&c->type_of);
	map_release(&c->strings);
	map_release(&c->functions);
	map_release(&c->threads);
	map_release(&c->names);
	free(c->name_list);
	arena_release(&c->text);
	buf_release(&c->name);
	buf_release(&c->part);
	memset(c, 0, sizeof(*c));
}

static int read_table(struct jfr_chunk *c, struct span *s, struct err *e)
{
	uint64_t id = jfr_integer(c, s, 8), nr = jfr_integer(c, s, 4), number;
	uint32_t at = map_get(&c->type_of, id), *place;
	const struct jfr_field value = { .type = at };
	struct map *table;

	if (at == MAP_NONE)
		return err_set(e, EINVAL, "damaged: a table of the type %" PRIu64 ", which is not described", id);
	if (c->types[at].kind == JFR_STRUCT && !c->types[at].nr_fields)
		return err_set(e, EINVAL, "damaged: a table of a type without content");
	table = c->types[at].kind == JFR_STRING ? &c->strings : &c->types[at].table;
	for (; nr && !s->bad; nr--) {
		number = jfr_integer(c, s, 8);
		if (c->types[at].has_table && !s->bad) {
			if (c->nr_places == MAX_ENTRIES)
				return err_set(e, EINVAL, "more than %d entries in the tables of a chunk",
					       MAX_ENTRIES);
			place = map_put(table, number);
			if (*place == MAP_NONE) {
				*place = c->nr_places;
				*VEC_ADD(c->places, c->nr_places, c->alloc_places) = s->p;
			}
		}
		jfr_skip(c, s, &value);
	}
	return 0;
}

/* *before becomes the offset of the checkpoint before it; 0: there is none. */
static int read_checkpoint(struct jfr_chunk *c, uint64_t at, uint64_t end, uint64_t *before, struct err *e)
{
	struct span s = span_init(c->data + at, end - at);
	uint64_t size = jfr_integer(c, &s, 4), type = jfr_integer(c, &s, 8), nr, delta;
	int r = 0;

	if (s.bad || type != 1 || size > end - at)
		return err_set(e, EINVAL, "damaged: no table where one should be, at byte %" PRIu64 " of its chunk", at);
	s.end = c->data + at + size;
	jfr_integer(c, &s, 8);		/* time */
	jfr_integer(c, &s, 8);		/* duration */
	delta = -jfr_integer(c, &s, 8);
	span_u8(&s);
	for (nr = jfr_integer(c, &s, 4); nr && !s.bad && !r; nr--)
		r = read_table(c, &s, e);
	if (!r && s.bad)
		r = err_set(e, EINVAL, "damaged: invalid tables at byte %" PRIu64 " of a chunk", at);
	if (!r && delta > at)
		r = err_set(e, EINVAL, "damaged: the tables before byte %" PRIu64 " are outside of their chunk", at);
	*before = delta ? at - delta : 0;
	return r;
}

int jfr_read_tables(struct jfr_chunk *c, struct err *e)
{
	uint64_t at = c->tables_at, end = c->len, here;
	int r = 0;

	while (at && !r) {
		if (at >= end)
			return err_set(e, EINVAL, "damaged: tables at byte %" PRIu64 " are not where they can be", at);
		here = at;
		r = read_checkpoint(c, here, end, &at, e);
		end = here;
	}
	return r;
}

/* Find the entry; return false if it is missing. */
static bool find_entry(const struct jfr_chunk *c, const struct jfr_value *x, struct span *s)
{
	const struct jfr_type *t = &c->types[x->field->type];
	uint32_t at = map_get(t->kind == JFR_STRING ? &c->strings : &t->table, x->num);

	if (at == MAP_NONE)
		return false;
	*s = span_init(c->places[at], c->data + c->len - c->places[at]);
	return true;
}

bool jfr_lookup(const struct jfr_chunk *c, const struct jfr_values *v, enum jfr_slot slot,
		struct jfr_values *out)
{
	const struct jfr_value *x = &v->v[slot];
	struct span s;

	if (!jfr_has(v, slot) || !x->field->pool || x->field->array || !find_entry(c, x, &s))
		return false;
	jfr_read_struct(c, &s, &c->types[x->field->type], out);
	return !s.bad;
}

struct import_text jfr_text(struct jfr_chunk *c, const struct jfr_values *v, enum jfr_slot slot)
{
	const struct jfr_field *f = v->v[slot].field;
	struct import_text none = { "", 0 };
	struct span s;
	int i;

	if (!jfr_has(v, slot) || f->array)
		return none;
	s = span_init(v->v[slot].at, c->data + c->len - v->v[slot].at);
	for (i = 0; i < MAX_LINKS; i++) {
		const struct jfr_type *t = &c->types[f->type];
		struct jfr_value x = { .field = f };

		if (f->pool) {
			x.num = jfr_integer(c, &s, 8);
			if (!find_entry(c, &x, &s))
				return none;
		}
		if (t->kind == JFR_STRING)
			return jfr_string(c, &s);
		if (t->kind != JFR_STRUCT || t->nr_fields != 1)
			return none;
		f = &c->fields[t->first_field];
		if (f->array)
			return none;
	}
	return none;
}
