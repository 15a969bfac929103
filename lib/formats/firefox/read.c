// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * read.c - the Firefox Profiler's processed profile format, as samply, the Firefox Profiler and arcprof write
 * it: threads with samples, whose stacks are in tables of columns.
 *
 * Source: src/types/profile.ts and docs-developer/CHANGELOG-formats.md of firefox-devtools/profiler. Tables
 * are of each thread, or shared by all, since versions of the format that differ from table to table: what
 * a thread does not have is looked for in "shared". Profiles of samply are without names until somebody
 * opens them: addresses are then looked up in the files of this machine, as those of perf.data are.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/jsonin.h"
#include "formats/modules.h"
#include "formats/nodes.h"

enum { NONE = UINT32_MAX };

struct column {
	uint32_t *v;			/* NONE: null, or below zero */
	size_t nr, alloc;
};

struct texts {
	struct import_text *v;		/* as they are written */
	size_t nr, alloc;
};

enum { STACK_FRAME, STACK_PREFIX, STACK_OFFSET, FRAME_FUNC, FRAME_LINE, FRAME_ADDRESS, FUNC_NAME, FUNC_FILE,
	FUNC_SOURCE, FUNC_RESOURCE, RESOURCE_LIB, SOURCE_FILE, NR_COLUMNS };

static const struct {
	const char *table, *column;
} columns[NR_COLUMNS] = {
	[STACK_FRAME] = { "stackTable", "frame" },
	[STACK_PREFIX] = { "stackTable", "prefix" },
	[STACK_OFFSET] = { "stackTable", "prefixOffset" },
	[FRAME_FUNC] = { "frameTable", "func" },
	[FRAME_LINE] = { "frameTable", "line" },
	[FRAME_ADDRESS] = { "frameTable", "address" },
	[FUNC_NAME] = { "funcTable", "name" },
	[FUNC_FILE] = { "funcTable", "fileName" },
	[FUNC_SOURCE] = { "funcTable", "source" },
	[FUNC_RESOURCE] = { "funcTable", "resource" },
	[RESOURCE_LIB] = { "resourceTable", "lib" },
	[SOURCE_FILE] = { "sources", "filename" },
};

struct tables {
	struct column c[NR_COLUMNS];
	struct texts strings;
	uint32_t first_node, nr_nodes;	/* of its stacks; 0: not passed on yet */
};

struct lib {
	struct import_text name, path, code_id;
	uint32_t module;		/* of import_modules_get(); 0: not asked for yet */
};

struct firefox {
	struct import *im;
	struct import_nodes nodes;
	struct import_modules modules;
	struct tables shared;
	struct lib *libs;
	size_t nr_libs, alloc_libs;
	double start_ms, cpu_scale;	/* cpu_scale: from threadCPUDelta to ns; 0 unknown */
	uint32_t events[3], cpu_event;	/* + 1 */
	double first_ms, last_ms;
	uint64_t nr_markers;
	bool has_addresses, has_weights;
	struct buf text, file;
};

struct thread {
	struct import_text name, process;
	uint32_t pid, tid;
	struct jsonin samples;
	struct tables own;
};

/* ---- tables ---- */

static void read_column(struct column *c, struct jsonin *j)
{
	double v;

	c->nr = 0;
	jsonin_open(j, '[');
	while (jsonin_element(j)) {
		VEC_GROW(c->v, c->nr, c->alloc);
		if (jsonin_peek(j) == 'n') {
			jsonin_skip(j);
			v = -1;
		} else {
			v = jsonin_number(j);
		}
		c->v[c->nr++] = v >= 0 && v < NONE ? v : NONE;
	}
}

static uint32_t cell(const struct column *c, uint32_t row)
{
	return row < c->nr ? c->v[row] : NONE;
}

static void read_strings(struct texts *t, struct jsonin *j)
{
	t->nr = 0;
	jsonin_open(j, '[');
	while (jsonin_element(j))
		*VEC_ADD(t->v, t->nr, t->alloc) = jsonin_string(j);
}

/* Reads the table at the cursor, if it is one. */
static void read_table(struct tables *t, struct import_text table, struct jsonin *j)
{
	struct import_text key;
	size_t i;

	if (jsonin_is(table, "stringArray") && jsonin_peek(j) == '[') {
		read_strings(&t->strings, j);
		return;
	}
	for (i = 0; i < NR_COLUMNS && !jsonin_is(table, columns[i].table); i++)
		;
	if (i == NR_COLUMNS || jsonin_peek(j) != '{') {
		jsonin_skip(j);
		return;
	}
	jsonin_open(j, '{');
	while (jsonin_member(j, &key)) {
		for (i = 0; i < NR_COLUMNS; i++)
			if (jsonin_is(table, columns[i].table) && jsonin_is(key, columns[i].column))
				break;
		if (i < NR_COLUMNS && jsonin_peek(j) == '[')
			read_column(&t->c[i], j);
		else
			jsonin_skip(j);
	}
}

static void tables_release(struct tables *t)
{
	size_t i;

	for (i = 0; i < NR_COLUMNS; i++)
		free(t->c[i].v);
	free(t->strings.v);
}

/* ---- functions ---- */

/* Return the column of the thread, else that shared by all. */
static const struct column *column(const struct firefox *f, const struct tables *own, int i)
{
	return own->c[i].nr ? &own->c[i] : &f->shared.c[i];
}

static struct import_text firefox_string(const struct firefox *f, const struct tables *own, uint32_t i)
{
	const struct texts *t = own->strings.nr ? &own->strings : &f->shared.strings;

	return i < t->nr ? t->v[i] : (struct import_text){ "", 0 };
}

static uint32_t module_of(struct firefox *f, struct lib *l)
{
	struct import_module like = { .path = NULL };

	if (l->module)
		return l->module;
	import_module_id(&like, l->code_id);
	l->module = import_modules_get(&f->modules, f->im, &like, jsonin_text(l->path, &f->text));
	return l->module;
}

/*
 * Find the address of a function without a name, "0x12a0", which counts from where the file begins in memory;
 * without the file it cannot become an offset. Returns false if the function has a name, or there is no such
 * file.
 */
static bool find_address(struct firefox *f, struct import_text name, struct lib *lib, uint32_t address,
			 struct frame *frame)
{
	const struct symfile *file;
	uint64_t base, off;

	if (!lib || address == NONE || !lib->path.len || name.len < 3 || memcmp(name.s, "0x", 2) != 0)
		return false;
	f->has_addresses = true;
	file = import_modules_file(&f->modules, module_of(f, lib));
	if (!file)
		return false;
	base = symfile_off_to_vaddr(file, 0);
	off = symfile_vaddr_to_off(file, (base == UINT64_MAX ? 0 : base) + address);
	if (off == UINT64_MAX)
		return false;
	*frame = (struct frame){ FRAME_NATIVE, .module = lib->module, .off = off };
	return true;
}

static struct frame make_frame(struct firefox *f, const struct tables *own, uint32_t row)
{
	struct import_function fn = { FUNCTION_ANY, .name = { "", 0 }, .module = { "", 0 }, .file = { "", 0 } };
	uint32_t func = cell(column(f, own, FRAME_FUNC), row), line = cell(column(f, own, FRAME_LINE), row);
	uint32_t file = cell(column(f, own, FUNC_FILE), func), source, at;
	struct import_text name = firefox_string(f, own, cell(column(f, own, FUNC_NAME), func));
	struct lib *lib;
	struct frame frame;

	at = cell(column(f, own, RESOURCE_LIB), cell(column(f, own, FUNC_RESOURCE), func));
	lib = at < f->nr_libs ? &f->libs[at] : NULL;
	if (find_address(f, name, lib, cell(column(f, own, FRAME_ADDRESS), row), &frame))
		return frame;
	source = cell(column(f, own, FUNC_SOURCE), func);
	if (file == NONE)
		file = cell(column(f, own, SOURCE_FILE), source);
	fn.name = jsonin_text(name, &f->text);
	fn.file = jsonin_text(firefox_string(f, own, file), &f->file);
	if (!fn.name.len)
		fn = (struct import_function){ FUNCTION_UNRESOLVED, .name = { "[no name]", 9 } };
	else if (frame_mark_is_text(fn.name.s, fn.name.len))
		fn.kind = FUNCTION_MARK;
	else if (lib)
		fn.module = lib->name;
	return (struct frame){ FRAME_NAMED, .function = import_function(f->im, &fn),
			       .line = line == NONE ? 0 : line };
}

/* Turn the stacks of a thread into nodes; shared ones only once. */
static void add_nodes(struct firefox *f, struct tables *own)
{
	bool is_own = own->c[STACK_FRAME].nr;
	struct tables *t = is_own ? own : &f->shared;
	const struct column *prefix = column(f, own, STACK_PREFIX), *offset = column(f, own, STACK_OFFSET);
	uint32_t i, before, node, *of_frame;
	size_t nr_frames = column(f, own, FRAME_FUNC)->nr;

	if (t->nr_nodes || !t->c[STACK_FRAME].nr) {
		own->first_node = t->first_node;
		own->nr_nodes = t->nr_nodes;
		return;
	}
	t->first_node = f->nodes.nr_items + 1;
	t->nr_nodes = t->c[STACK_FRAME].nr;
	/* few stacks of a large table that threads share do not justify an array of its size */
	of_frame = nr_frames <= 4ull * t->nr_nodes ? xcalloc(nr_frames + 1, sizeof(*of_frame)) : NULL;
	for (i = 0; i < t->nr_nodes; i++) {
		uint32_t row = t->c[STACK_FRAME].v[i], caller = 0;
		struct frame frame;

		before = cell(offset, i);
		if (before != NONE)
			caller = before && before <= i ? t->first_node + i - before : 0;
		else if ((before = cell(prefix, i)) < t->nr_nodes)
			caller = t->first_node + before;
		if (of_frame && row < nr_frames && of_frame[row])	/* many stacks have the same frame */
			frame = f->nodes.items[of_frame[row] - 1].frame;
		else
			frame = make_frame(f, own, row);
		node = import_nodes_add(&f->nodes, frame, caller);
		if (of_frame && row < nr_frames)
			of_frame[row] = node;
	}
	free(of_frame);
	own->first_node = t->first_node;
	own->nr_nodes = t->nr_nodes;
}

/* ---- samples ---- */

struct cursors {
	struct jsonin stack, time, deltas, weight, cpu;
	struct import_text weight_type;
};

static struct cursors find_cursors(struct jsonin j)
{
	struct cursors c = { .weight_type = { "", 0 } };
	struct import_text key;

	jsonin_open(&j, '{');
	while (jsonin_member(&j, &key)) {
		struct jsonin *to = jsonin_is(key, "stack") ? &c.stack : jsonin_is(key, "time") ? &c.time :
				    jsonin_is(key, "timeDeltas") ? &c.deltas :
				    jsonin_is(key, "weight") ? &c.weight :
				    jsonin_is(key, "threadCPUDelta") ? &c.cpu : NULL;

		if (jsonin_is(key, "weightType") && jsonin_peek(&j) == '"') {
			c.weight_type = jsonin_string(&j);
		} else if (to && jsonin_peek(&j) == '[') {
			*to = jsonin_skip(&j);
			jsonin_open(to, '[');
		} else {
			jsonin_skip(&j);
		}
	}
	return c;
}

/* Return the next number of a column, or otherwise if there is none. */
static double firefox_next_number(struct jsonin *j, double otherwise)
{
	if (!j->p || !jsonin_element(j))
		return otherwise;
	if (jsonin_peek(j) == 'n') {
		jsonin_skip(j);
		return otherwise;
	}
	return jsonin_number(j);
}

static const struct weight_type {
	const char *type, *event, *unit;
	double scale;
} weight_types[] = {
	{ "samples", "samples", "samples", 1 },
	{ "tracing-ms", "time", "ns", 1e6 },
	{ "bytes", "memory", "bytes", 1 },
};

static uint32_t firefox_event_of(struct firefox *f, const struct weight_type *t)
{
	uint32_t *event = &f->events[t - weight_types];

	if (!*event)
		*event = 1 + import_event(f->im, (struct import_text){ t->event, strlen(t->event) }, t->unit);
	return *event - 1;
}

static uint32_t cpu_event(struct firefox *f)
{
	if (!f->cpu_event)
		f->cpu_event = 1 + import_event(f->im, (struct import_text){ "cpu", 3 }, "ns");
	return f->cpu_event - 1;
}

static int firefox_put_sample(struct firefox *f, struct rec_sample *s, double weight, struct err *e)
{
	if (!(weight >= 0) || weight >= 0x1p63)
		return err_set(e, EINVAL, "a weight of %g cannot be shown", weight);
	s->weight = llround(weight);
	if (s->weight)
		import_sample(f->im, s);
	return 0;
}

static int firefox_read_samples(struct firefox *f, const struct thread *t, uint32_t thread, struct err *e)
{
	struct cursors c = find_cursors(t->samples);
	const struct weight_type *type = &weight_types[0];
	struct rec_sample s = { .cpu = IMPORT_NO_CPU, .thread = thread };
	double ms = 0, weight, cpu;
	size_t i;
	int r = 0;

	for (i = 0; i < ARRAY_SIZE(weight_types); i++)
		if (jsonin_is(c.weight_type, weight_types[i].type))
			type = &weight_types[i];
	while (!r && c.stack.p && jsonin_element(&c.stack)) {
		double at = -1;

		if (jsonin_peek(&c.stack) == 'n')
			jsonin_skip(&c.stack);
		else
			at = jsonin_number(&c.stack);
		ms = c.time.p ? firefox_next_number(&c.time, ms) : ms + firefox_next_number(&c.deltas, 0);
		weight = firefox_next_number(&c.weight, 1);
		cpu = firefox_next_number(&c.cpu, 0);
		if (at >= t->own.nr_nodes || !(at >= 0) || !(ms > -0x1p40 && ms < 0x1p40))
			continue;		/* of no stack: nothing ran */
		s.time_ns = ms >= 0 ? 1 + (uint64_t)llround(ms * 1e6) : 0;
		f->first_ms = isnan(f->first_ms) || ms < f->first_ms ? ms : f->first_ms;
		f->last_ms = isnan(f->last_ms) || ms > f->last_ms ? ms : f->last_ms;
		if ((r = import_nodes_stack(&f->nodes, t->own.first_node + (uint32_t)at, &s.stack, e)))
			break;
		s.event = firefox_event_of(f, type);
		/* A sample of another weight than 1 may be the sum of several, or none. */
		s.more = type != weight_types ? -1 : weight >= 1 && weight < 0x1p62 ? (int64_t)weight - 1 : 0;
		f->has_weights |= type != weight_types;
		r = firefox_put_sample(f, &s, weight * type->scale, e);
		s.more = 0;
		if (!r && f->cpu_scale && cpu > 0) {
			s.event = cpu_event(f);
			r = firefox_put_sample(f, &s, cpu * f->cpu_scale, e);
		}
	}
	return r ? r : c.stack.bad ? err_set(e, EINVAL, "damaged: its samples cannot be read") : 0;
}

/* ---- threads ---- */

/* Read an id: a number, or one as text: "1234" or, of the second thread with that number, "1234.1". */
static uint32_t read_id(struct jsonin *j)
{
	struct import_text t;
	struct jsonin inner;
	double v;

	if (jsonin_peek(j) == '"') {
		t = jsonin_string(j);
		inner = jsonin_init(t.s, t.len);
		v = jsonin_number(&inner);
	} else if (jsonin_peek(j) >= '0' && jsonin_peek(j) <= '9') {
		v = jsonin_number(j);
	} else {
		jsonin_skip(j);
		v = 0;
	}
	return v > 0 && v <= INT32_MAX ? v : 0;
}

static void count_markers(struct firefox *f, struct jsonin *j)
{
	struct jsonin value = jsonin_skip(j), data;
	struct import_text key;

	if (jsonin_peek(&value) != '{')
		return;
	jsonin_open(&value, '{');
	while (jsonin_member(&value, &key)) {
		data = jsonin_skip(&value);
		if (!jsonin_is(key, "name") || jsonin_peek(&data) != '[')
			continue;
		jsonin_open(&data, '[');
		for (; jsonin_element(&data); f->nr_markers++)
			jsonin_skip(&data);
	}
}

static int read_thread(struct firefox *f, struct jsonin *j, struct err *e)
{
	struct thread t = { .name = { "", 0 }, .process = { "", 0 } };
	struct import_text key;
	uint32_t proc, thread;
	int r = 0;

	jsonin_open(j, '{');
	while (jsonin_member(j, &key))
		if (jsonin_is(key, "name") && jsonin_peek(j) == '"')
			t.name = jsonin_string(j);
		else if (jsonin_is(key, "processName") && jsonin_peek(j) == '"')
			t.process = jsonin_string(j);
		else if (jsonin_is(key, "pid"))
			t.pid = read_id(j);
		else if (jsonin_is(key, "tid"))
			t.tid = read_id(j);
		else if (jsonin_is(key, "samples") && jsonin_peek(j) == '{')
			t.samples = jsonin_skip(j);
		else if (jsonin_is(key, "markers"))
			count_markers(f, j);
		else
			read_table(&t.own, key, j);
	if (!j->bad && t.samples.p) {
		add_nodes(f, &t.own);
		proc = import_proc(f->im, t.pid, jsonin_text(t.process, &f->text));
		thread = import_thread(f->im, proc, t.tid, jsonin_text(t.name, &f->text));
		r = firefox_read_samples(f, &t, thread, e);
	}
	tables_release(&t.own);
	return r;
}

/* ---- the whole ---- */

static void read_meta(struct firefox *f, struct jsonin j)
{
	struct import_text key, unit;
	struct jsonin units;

	jsonin_open(&j, '{');
	while (jsonin_member(&j, &key)) {
		if (jsonin_is(key, "startTime") && jsonin_peek(&j) != 'n') {
			f->start_ms = jsonin_number(&j);
			continue;
		}
		units = jsonin_skip(&j);
		if (!jsonin_is(key, "sampleUnits") || jsonin_peek(&units) != '{')
			continue;
		jsonin_open(&units, '{');
		while (jsonin_member(&units, &key))
			if (jsonin_is(key, "threadCPUDelta") && jsonin_peek(&units) == '"') {
				unit = jsonin_string(&units);
				f->cpu_scale = jsonin_is(unit, "ns") ? 1 :
					       jsonin_is(unit, "\302\265s") || jsonin_is(unit, "\316\274s") ||
					       jsonin_is(unit, "us") ? 1e3 : 0;
			} else {
				jsonin_skip(&units);
			}
	}
}

static void read_libs(struct firefox *f, struct jsonin j)
{
	struct import_text key;

	jsonin_open(&j, '[');
	while (jsonin_element(&j)) {
		struct lib l = { .name = { "", 0 }, .path = { "", 0 }, .code_id = { "", 0 } };

		jsonin_open(&j, '{');
		while (jsonin_member(&j, &key)) {
			struct import_text *to = jsonin_is(key, "name") ? &l.name :
						 jsonin_is(key, "path") ? &l.path :
						 jsonin_is(key, "codeId") ? &l.code_id : NULL;

			if (to && jsonin_peek(&j) == '"')
				*to = jsonin_string(&j);
			else
				jsonin_skip(&j);
		}
		*VEC_ADD(f->libs, f->nr_libs, f->alloc_libs) = l;
	}
}

static void read_shared(struct firefox *f, struct jsonin j)
{
	struct import_text key;

	jsonin_open(&j, '{');
	while (jsonin_member(&j, &key))
		read_table(&f->shared, key, &j);
}

static int firefox_read_root(struct firefox *f, const char *data, size_t len, struct err *e)
{
	struct jsonin j = jsonin_init(data, len), meta = { 0 }, libs = { 0 }, shared = { 0 }, threads = { 0 };
	struct import_text key;
	int r = 0;

	jsonin_open(&j, '{');
	while (jsonin_member(&j, &key)) {
		struct jsonin *to = jsonin_is(key, "meta") ? &meta : jsonin_is(key, "libs") ? &libs :
				    jsonin_is(key, "shared") ? &shared :
				    jsonin_is(key, "threads") ? &threads : NULL;
		struct jsonin value = jsonin_skip(&j);

		if (to)
			*to = value;
	}
	if (j.bad)
		return err_set(e, EINVAL, "its JSON is damaged or truncated at offset %zu",
			       (size_t)(j.p - j.start));
	if (!meta.p || !threads.p)
		return err_set(e, EINVAL, "damaged: it has no \"meta\" or no \"threads\"");
	if (!memmem(meta.p, meta.end - meta.p, "\"preprocessedProfileVersion\"", 28)) {
		err_set(e, EINVAL, "this is a raw profile of Firefox, which is not read");
		err_hint(e, "open it at https://profiler.firefox.com and save it: what is saved can be imported");
		return -EINVAL;
	}
	read_meta(f, meta);
	if (libs.p)
		read_libs(f, libs);
	if (shared.p)
		read_shared(f, shared);
	jsonin_open(&threads, '[');
	while (!r && jsonin_element(&threads))
		r = read_thread(f, &threads, e);
	return r ? r : threads.bad ? err_set(e, EINVAL, "damaged: a thread cannot be read") : 0;
}

static void write_rest(struct firefox *f)
{
	struct trace_writer *w = f->im->w;

	if (f->has_addresses)
		import_modules_names(&f->modules, f->im, false);
	if (f->nr_markers)
		import_note(f->im, "left out: %" PRIu64 " markers", f->nr_markers);
	f->im->unknown = IMPORT_NO_LOST | IMPORT_NO_MODES | (f->has_weights ? IMPORT_NO_COUNTS : 0);
	if (isnan(f->first_ms) || f->first_ms < 0) {
		f->im->unknown |= IMPORT_NO_TIMES;
		return;
	}
	trace_write_label(w, "start.mono_ns", "%.0f", 1 + f->first_ms * 1e6);
	trace_write_label(w, "end.mono_ns", "%.0f", 1 + f->last_ms * 1e6);
	if (f->start_ms > 0 && f->start_ms < 0x1p43)
		import_start(f->im, (f->start_ms + f->first_ms) * 1e6);
}

static int firefox_read(struct import *im, const char *data, size_t len, struct err *e)
{
	struct firefox f = { .im = im, .first_ms = NAN, .last_ms = NAN };
	int r;

	import_nodes_init(&f.nodes, im, len);
	r = firefox_read_root(&f, data, len, e);
	write_rest(&f);
	import_nodes_release(&f.nodes);
	import_modules_release(&f.modules);
	tables_release(&f.shared);
	free(f.libs);
	buf_release(&f.text);
	buf_release(&f.file);
	return r;
}

static bool firefox_is(const char *data, size_t len)
{
	struct jsonin j = jsonin_init(data, len);
	struct import_text key;
	bool meta = false, other = false;

	jsonin_open(&j, '{');
	while (jsonin_member(&j, &key)) {
		struct jsonin value;

		other |= jsonin_is(key, "threads") || jsonin_is(key, "libs") || jsonin_is(key, "shared");
		value = jsonin_skip(&j);
		if (jsonin_is(key, "meta"))
			meta = memmem(value.p, value.end - value.p, "\"processType\"", 13) ||
			       memmem(value.p, value.end - value.p, "\"preprocessedProfileVersion\"", 28);
	}
	return meta && other;
}

const struct import_format import_firefox = {
	.name = "Firefox Profiler",
	.what = "a profile of the Firefox Profiler",
	.is = firefox_is,
	.read = firefox_read,
};
