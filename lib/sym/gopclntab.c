// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gopclntab.c - the layouts of the table, and what it says of an address.
 *
 * A header; an index of the functions by address, each with the offset of its record; the records;
 * strings; and tables of values, one per function and kind: pairs of numbers, by how much the value changes
 * and for how many bytes it holds.
 *
 * Invariant: everything is read through gopcln_get(), string_at() or a span over the bytes, so any bytes
 * may be given.
 *
 * Source: golang.org/s/go12symtab and the comments in Go's src/runtime/symtab.go of each version.
 */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "sym/gopclntab.h"

enum {
	POINTER_BYTES = 8,
	NAME_MAX_BYTES = 1 << 16,
	TREES_CHECKED = 64,
	/* fields of a record, behind the function's entry, of four bytes each */
	FIELD_NAME = 1, FIELD_DEPTHS = 4, FIELD_FILES, FIELD_LINES, FIELD_NR_VALUES, FIELD_UNIT,
	/* further tables of values, and further data, by their number */
	VALUES_INLINED = 2,
	DATA_INLINED = 3,
};

#define FUNCS_MAX (1ull << 26)

static bool gopcln_get(const struct gopcln *t, uint64_t off, size_t size, uint64_t *v)
{
	*v = 0;
	if (off > t->bytes.len || t->bytes.len - off < size)
		return false;
	memcpy(v, t->bytes.data + off, size);	/* every supported CPU is little-endian */
	return true;
}

static uint64_t get_u32(const struct gopcln *t, uint64_t off)
{
	uint64_t v;

	gopcln_get(t, off, 4, &v);
	return v;
}

static const char *string_at(const struct gopcln *t, uint64_t off)
{
	const char *s = (const char *)t->bytes.data + off;

	if (off >= t->bytes.len || !memchr(s, '\0', MIN(t->bytes.len - off, NAME_MAX_BYTES)))
		return NULL;
	return s;
}

/* Return the size of an address, and of an offset, in the index. */
static size_t index_size(const struct gopcln *t)
{
	return t->format >= GOPCLN_1_18 ? 4 : POINTER_BYTES;
}

static int damaged(struct err *e)
{
	return err_set(e, EILSEQ, "damaged .gopclntab");
}

static int read_parts(struct gopcln *t, struct err *e)
{
	uint64_t *const parts[] = { &t->names, &t->units, &t->files, &t->values, &t->records };
	uint64_t at = 8 + 2 * POINTER_BYTES;
	size_t i;

	if (t->format >= GOPCLN_1_18) {
		gopcln_get(t, at, POINTER_BYTES, &t->text);
		at += POINTER_BYTES;
	}
	for (i = 0; i < ARRAY_SIZE(parts); i++, at += POINTER_BYTES)
		if (!gopcln_get(t, at, POINTER_BYTES, parts[i]) || *parts[i] >= t->bytes.len)
			return damaged(e);
	t->index = t->records;
	return 0;
}

/* Read the files. Their strings come last; their number is where the first would be. */
static int read_files(struct gopcln *t, struct err *e)
{
	t->index = 8 + POINTER_BYTES;
	t->files = get_u32(t, t->index + (2 * t->nr_funcs + 1) * POINTER_BYTES);
	t->nr_files = get_u32(t, t->files);
	return t->files ? 0 : damaged(e);
}

int gopcln_read_header(struct gopcln *t, struct err *e)
{
	static const uint32_t magics[] = { 0xfffffffb, 0xfffffffa, 0xfffffff0, 0xfffffff1 };
	const uint8_t *p = t->bytes.data;
	uint32_t magic;
	size_t i;
	int r;

	if (t->bytes.len < 8 + POINTER_BYTES)
		return damaged(e);
	memcpy(&magic, p, sizeof(magic));
	for (i = 0; i < ARRAY_SIZE(magics) && magic != magics[i]; i++)
		;
	if (i == ARRAY_SIZE(magics) || p[4] || p[5] || (p[6] != 1 && p[6] != 4) || p[7] != POINTER_BYTES)
		return err_set(e, ENODATA, "no .gopclntab of a known version");
	t->format = i;
	t->quantum = p[6];
	gopcln_get(t, 8, POINTER_BYTES, &t->nr_funcs);
	if (!t->nr_funcs || t->nr_funcs > FUNCS_MAX)
		return damaged(e);
	r = t->format == GOPCLN_1_2 ? read_files(t, e) : read_parts(t, e);
	if (!r && (2 * t->nr_funcs + 1) * index_size(t) > t->bytes.len - MIN(t->index, t->bytes.len))
		r = damaged(e);
	return r;
}

void gopcln_release(struct gopcln *t)
{
	image_bytes_release(&t->bytes);
	memset(t, 0, sizeof(*t));
}

uint64_t gopcln_start(const struct gopcln *t, uint64_t i)
{
	uint64_t v;

	gopcln_get(t, t->index + 2 * i * index_size(t), index_size(t), &v);
	return t->text + v;
}

bool gopcln_is_sound(const struct gopcln *t)
{
	uint64_t i, start = gopcln_start(t, 0), next;
	const struct image_segment *s = image_text(t->im, start);

	for (i = 0; s && i < t->nr_funcs; i++, start = next) {
		next = gopcln_start(t, i + 1);
		if (next < start || next - s->vaddr > s->memsz)
			return false;
	}
	return s;
}

size_t gopcln_find(const struct gopcln *t, uint64_t vaddr)
{
	if (!t->nr_funcs || vaddr >= gopcln_start(t, t->nr_funcs))
		return SIZE_MAX;
	return BISECT(i, t->nr_funcs, gopcln_start(t, i) <= vaddr) - 1;
}

static uint64_t gopcln_field(const struct gopcln *t, const struct gopcln_func *f, int n)
{
	return get_u32(t, f->record + index_size(t) + (n - 1) * 4);
}

bool gopcln_func(const struct gopcln *t, size_t i, struct gopcln_func *f)
{
	uint64_t off, last;

	if (i >= t->nr_funcs || !gopcln_get(t, t->index + (2 * i + 1) * index_size(t), index_size(t), &off))
		return false;
	f->start = gopcln_start(t, i);
	f->end = gopcln_start(t, i + 1);
	f->record = t->records + off;
	f->name = "";
	if (off > t->bytes.len ||
	    !gopcln_get(t, f->record + index_size(t) + (FIELD_NR_VALUES - 1) * 4, 4, &last))
		return false;
	f->name = string_at(t, t->names + gopcln_field(t, f, FIELD_NAME));
	if (!f->name)
		f->name = "";
	return true;
}

bool gopcln_name_is(const char *name, const char *of)
{
	size_t len = strlen(of);

	return !strncmp(name, of, len) && (!name[len] || !strcmp(name + len, ".abi0") ||
					   !strcmp(name + len, ".abiinternal"));
}

/* ---- tables of values ---- */

static bool open_values(const struct gopcln *t, const struct gopcln_func *f, uint64_t off,
			struct gopcln_values *v)
{
	if (!off || off >= t->bytes.len - t->values)
		return false;
	*v = (struct gopcln_values){
		.code = span_init(t->bytes.data + t->values + off, t->bytes.len - t->values - off),
		.start = f->start, .end = f->start, .value = -1, .quantum = t->quantum,
	};
	return true;
}

bool gopcln_next(struct gopcln_values *v)
{
	uint32_t change = span_varint(&v->code);
	uint64_t bytes;

	if (!change && v->any)
		return false;
	bytes = (uint64_t)(uint32_t)span_varint(&v->code) * v->quantum;
	if (v->code.bad || !bytes)
		return false;
	v->any = true;
	v->start = v->end;
	v->end += bytes;
	v->value = (uint32_t)v->value + (change & 1 ? ~(change >> 1) : change >> 1);
	return true;
}

bool gopcln_depths(const struct gopcln *t, const struct gopcln_func *f, struct gopcln_values *v)
{
	return open_values(t, f, gopcln_field(t, f, FIELD_DEPTHS), v);
}

/* Return -1 if nothing is known of vaddr. */
static int32_t value_at(const struct gopcln *t, const struct gopcln_func *f, uint64_t off, uint64_t vaddr)
{
	struct gopcln_values v;

	if (!open_values(t, f, off, &v))
		return -1;
	while (gopcln_next(&v))
		if (vaddr < v.end)
			return v.value;
	return -1;
}

/* ---- lines and inlined calls ---- */

static const char *file_name(const struct gopcln *t, const struct gopcln_func *f, int32_t number)
{
	uint64_t off;

	if (t->format == GOPCLN_1_2) {
		if (number <= 0 || (uint64_t)number >= t->nr_files ||
		    !gopcln_get(t, t->files + 4 * (uint64_t)number, 4, &off))
			return NULL;
		return string_at(t, off);
	}
	if (number < 0 || !gopcln_get(t, t->units + 4 * (gopcln_field(t, f, FIELD_UNIT) + number), 4, &off) ||
	    off == UINT32_MAX)
		return NULL;
	return string_at(t, t->files + off);
}

static bool find_site(const struct gopcln *t, const struct gopcln_func *f, uint64_t vaddr,
		      struct srcline *out)
{
	int32_t line = value_at(t, f, gopcln_field(t, f, FIELD_LINES), vaddr);

	out->func = NULL;
	out->file = file_name(t, f, value_at(t, f, gopcln_field(t, f, FIELD_FILES), vaddr));
	out->line = line > 0 && out->file ? line : 0;
	return out->file;
}

/* Return where the offsets of further tables begin in f's record. */
static uint64_t behind_fields(const struct gopcln *t, const struct gopcln_func *f)
{
	int nr_fields = t->format >= GOPCLN_1_20 ? FIELD_UNIT + 1 : FIELD_UNIT;

	return f->record + index_size(t) + 4 * nr_fields + 4;
}

/* Return the address of f's inline tree, 0: it has none. */
static uint64_t tree_of(const struct gopcln *t, const struct gopcln_func *f)
{
	uint64_t at = behind_fields(t, f), nr_data, tree;

	if (!gopcln_get(t, at - 1, 1, &nr_data) || nr_data <= DATA_INLINED)
		return 0;
	at += 4 * gopcln_field(t, f, FIELD_NR_VALUES);
	if (t->format >= GOPCLN_1_18) {
		tree = get_u32(t, at + 4 * DATA_INLINED);
		return t->trees && tree != UINT32_MAX ? t->trees + tree : 0;
	}
	at = (at + POINTER_BYTES - 1) & ~(uint64_t)(POINTER_BYTES - 1);
	return gopcln_get(t, at + POINTER_BYTES * DATA_INLINED, POINTER_BYTES, &tree) ? tree : 0;
}

struct inlined {
	const char *name;
	uint32_t parent;	/* an instruction of the call's line, from the function's start */
};

/* Read a node of a tree; return false if it is inconsistent. */
static bool read_node(const struct gopcln *t, const struct gopcln_func *f, uint64_t tree, uint32_t number,
		      struct inlined *in)
{
	bool is_short = t->format >= GOPCLN_1_20;
	size_t size = is_short ? 16 : 20;
	uint64_t off = image_vaddr_to_off(t->im, tree);
	uint32_t node[5], name;

	if (off == UINT64_MAX || image_read(t->im, off + (uint64_t)number * size, node, size))
		return false;
	name = node[is_short ? 1 : 3];
	in->parent = node[is_short ? 2 : 4];
	in->name = string_at(t, t->names + name);
	return in->name && in->name[0] && (!name || !in->name[-1]) && in->parent < f->end - f->start;
}

static int32_t node_at(const struct gopcln *t, const struct gopcln_func *f, uint64_t vaddr)
{
	if (t->format < GOPCLN_1_16 || gopcln_field(t, f, FIELD_NR_VALUES) <= VALUES_INLINED)
		return -1;
	return value_at(t, f, get_u32(t, behind_fields(t, f) + 4 * VALUES_INLINED), vaddr);
}

static bool inlined_at(const struct gopcln *t, const struct gopcln_func *f, uint64_t vaddr,
		       struct inlined *in)
{
	int32_t number = node_at(t, f, vaddr);
	uint64_t tree = number < 0 ? 0 : tree_of(t, f);

	return tree && read_node(t, f, tree, number, in);
}

bool gopcln_trees_fit(const struct gopcln *t)
{
	struct gopcln_func f;
	struct inlined in;
	uint64_t i, tree;
	size_t nr = 0;

	for (i = 0; i < t->nr_funcs && nr < TREES_CHECKED; i++) {
		tree = gopcln_func(t, i, &f) ? tree_of(t, &f) : 0;
		if (!tree)
			continue;
		if (!read_node(t, &f, tree, 0, &in))
			return false;
		nr++;
	}
	return nr;
}

size_t gopcln_lines(const struct gopcln *t, uint64_t vaddr, struct srcline *out, size_t max)
{
	struct gopcln_func f;
	struct inlined in;
	size_t n;

	if (!gopcln_func(t, gopcln_find(t, vaddr), &f))
		return 0;
	for (n = 0; n < max; n++) {
		bool known = find_site(t, &f, vaddr, &out[n]);

		if (!inlined_at(t, &f, vaddr, &in))
			return n + (known || n);
		out[n].func = in.name;
		vaddr = f.start + in.parent;
	}
	return n;
}
