// SPDX-License-Identifier: GPL-2.0-or-later
/* names.c - stores the names in a trace (names.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgroup.h"
#include "base/labels.h"
#include "base/mem.h"
#include "model/names.h"
#include "model/threadlabels.h"

void names_init(struct names *x, struct model *m, const struct resolve_opts *o)
{
	memset(x, 0, sizeof(*x));
	x->m = m;
	x->o = *o;
	x->alloc_frame_slots = 1024;
	x->frame_slots = xcalloc(x->alloc_frame_slots, sizeof(*x->frame_slots));
}

void names_release(struct names *x)
{
	size_t i;

	for (i = 0; i < x->nr_procs; i++) {
		free(x->procs[i].stubs);
		free(x->procs[i].codes);
	}
	for (i = 0; i < x->nr_modules; i++) {
		free(x->modules[i].symbols);
		if (x->modules[i].file)
			symfile_close(x->modules[i].file);
	}
	for (i = 0; i < x->nr_codes; i++)
		free(x->codes[i].pcs);
	threadlabels_release(&x->thread_labels);
	free(x->labels);
	free(x->procs);
	free(x->threads);
	free(x->counted);
	free(x->busy);
	free(x->groups_used);
	free(x->modules);
	free(x->methods);
	free(x->functions);
	free(x->codes);
	free(x->brackets);
	free(x->recorded);
	free(x->triggers);
	free(x->filters);
	free(x->lines);
	free(x->places);
	free(x->frames);
	free(x->frame_slots);
	free(x->levels);
	map_release(&x->proc_of);
	map_release(&x->thread_of);
	map_release(&x->module_of);
	map_release(&x->method_of);
	map_release(&x->code_of);
	map_release(&x->lines_of);
	map_release(&x->function_of);
	buf_release(&x->name);
	arena_release(&x->text);
	memset(x, 0, sizeof(*x));
}

static int names_take_label(void *ctx, const char *key, size_t key_len, const char *val, size_t val_len)
{
	struct names *x = ctx;
	const char *v = arena_strndup(&x->text, val, val_len);
	size_t i;

	for (i = 0; i < x->nr_labels; i++)
		if (strlen(x->labels[i].key) == key_len && !memcmp(x->labels[i].key, key, key_len)) {
			x->labels[i].val = v;
			return 0;
		}
	*VEC_ADD(x->labels, x->nr_labels, x->alloc_labels) =
		(struct name_label){ arena_strndup(&x->text, key, key_len), v };
	return 0;
}

const char *names_label(const struct names *x, const char *key)
{
	size_t i;

	for (i = 0; i < x->nr_labels; i++)
		if (!strcmp(x->labels[i].key, key))
			return x->labels[i].val;
	return NULL;
}

uint64_t names_label_u64(const struct names *x, const char *key)
{
	const char *val = names_label(x, key);

	return val ? strtoull(val, NULL, 10) : 0;
}

const char *names_event(const struct names *x, uint32_t event, const char *what)
{
	char key[48];

	snprintf(key, sizeof(key), "event.%u%s", event, what);
	return names_label(x, key);
}

bool names_has_level(const struct names *x, const char *level)
{
	const char *levels = names_label(x, "consumers");

	return !levels || strstr(levels, level);
}

int names_zero(const struct names *x, uint64_t *zero_ns, struct err *e)
{
	*zero_ns = names_label_u64(x, "zero.mono_ns");
	if (*zero_ns)
		return 0;
	err_set(e, ENODATA, "the trace has no zero point");
	err_hint(e, "while it is recorded, 'arcprof ctl zero' sets one");
	return -ENODATA;
}

int names_window(const struct names *x, const struct selection *s, struct window *w, struct err *e)
{
	uint64_t start = names_label_u64(x, "start.mono_ns"), zero;
	int r;

	*w = (struct window){ .to_ns = s && s->to_ns ? start + s->to_ns : UINT64_MAX,
		.reset_ns = names_label_u64(x, "reset.mono_ns") };
	if (!s || !selection_has_window(s))
		return 0;
	if (names_label(x, "import") && !start)
		return err_set(e, ENODATA, "the profile does not say when its samples were taken");
	if (!s->from_zero) {
		w->from_ns = s->from_ns ? start + s->from_ns : 0;
		return 0;
	}
	if ((r = names_zero(x, &zero, e)))
		return r;
	w->from_ns = zero > start ? zero : 0;
	return 0;
}

static struct name_proc *names_get_proc(struct names *x, uint32_t proc)
{
	uint32_t *at = map_put(&x->proc_of, proc);

	if (*at == MAP_NONE) {
		*at = x->nr_procs;
		*VEC_ADD(x->procs, x->nr_procs, x->alloc_procs) = (struct name_proc){ .number = proc };
	}
	return &x->procs[*at];
}

static int names_take_proc(void *ctx, const struct rec_proc *r)
{
	struct names *x = ctx;
	struct name_proc *p = names_get_proc(x, r->proc);

	p->pid = r->pid;
	if (r->comm_len || !p->comm)
		p->comm = strtab_add(&x->m->consumers.names, r->comm, r->comm_len);
	return 0;
}

static int take_cgroup(void *ctx, const struct rec_cgroup *r)
{
	struct names *x = ctx;
	struct name_proc *p = names_get_proc(x, r->proc);

	p->cgroup = strtab_add(&x->m->consumers.names, r->path, r->path_len);
	p->has_labels = false;
	return 0;
}

static int take_resource(void *ctx, const struct rec_resource *r)
{
	struct names *x = ctx;
	struct name_proc *p = names_get_proc(x, r->proc);

	p->resource = strtab_add(&x->m->consumers.names, r->labels, r->labels_len);
	p->has_labels = false;
	return 0;
}

/* Take a thread. The kernel's name does not replace the one from Java. */
static int names_take_thread(void *ctx, const struct rec_thread *r)
{
	struct names *x = ctx;
	uint32_t *at = map_put(&x->thread_of, r->thread);
	struct name_thread *t;

	if (*at == MAP_NONE) {
		*at = x->nr_threads;
		VEC_GROW(x->threads, x->nr_threads, x->alloc_threads);
		memset(&x->threads[x->nr_threads++], 0, sizeof(*x->threads));
	}
	t = &x->threads[*at];
	t->number = r->thread;
	t->proc = r->proc;
	t->tid = r->tid;
	if (r->name_len && (r->java || !t->java)) {
		t->name = strtab_add(&x->m->consumers.names, r->name, r->name_len);
		t->java = r->java;
		x->nr_own -= t->own;
		t->own = r->java && r->name_len == strlen(OWN_NAME) &&
			 !memcmp(r->name, OWN_NAME, r->name_len);
		x->nr_own += t->own;
	}
	return 0;
}

static int take_cpu_used(void *ctx, const struct rec_cpu_used *r)
{
	struct names *x = ctx;

	*VEC_ADD(x->busy, x->nr_busy, x->alloc_busy) = (struct name_busy){ r->cpu, r->busy_ns };
	return 0;
}

static int take_cgroup_used(void *ctx, const struct rec_cgroup_used *r)
{
	struct names *x = ctx;
	uint32_t path = strtab_add(&x->m->consumers.names, r->path, r->path_len);

	*VEC_ADD(x->groups_used, x->nr_groups_used, x->alloc_groups_used) =
		(struct name_group_used){ path, r->cpu_ns };
	return 0;
}

static int take_counted(void *ctx, const struct rec_counted *r)
{
	struct names *x = ctx;
	uint32_t at = map_get(&x->thread_of, r->thread);

	if (at == MAP_NONE)
		return 0;
	*VEC_ADD(x->counted, x->nr_counted, x->alloc_counted) =
		(struct name_counted){ at, r->event, r->amount };
	return 0;
}

static int take_used(void *ctx, const struct rec_used *r)
{
	struct names *x = ctx;
	uint32_t at = map_get(&x->thread_of, r->thread);

	if (at != MAP_NONE) {
		flow_sum(&x->threads[at].used_ns, r->cpu_ns);
		x->threads[at].has_used = true;
	}
	return 0;
}

/* Take the group of a thread; the record of an unknown one is dropped. */
static int take_thread_group(void *ctx, const struct rec_thread_group *r)
{
	struct names *x = ctx;
	uint32_t at = map_get(&x->thread_of, r->thread);

	if (at != MAP_NONE)
		x->threads[at].group = strtab_add(&x->m->consumers.names, r->name, r->name_len);
	return 0;
}

static struct name_module *get_module(struct names *x, uint32_t number)
{
	uint32_t *at = map_put(&x->module_of, number);

	if (*at == MAP_NONE) {
		*at = x->nr_modules;
		VEC_GROW(x->modules, x->nr_modules, x->alloc_modules);
		x->modules[x->nr_modules++] = (struct name_module){ .number = number, .path = "",
			.base = "" };
	}
	return &x->modules[*at];
}

static int take_module(void *ctx, const struct rec_module *r)
{
	struct names *x = ctx;
	struct name_module *m = get_module(x, r->module);
	const char *slash;

	m->flags = r->flags;
	m->path = arena_strndup(&x->text, r->path, r->path_len);
	slash = strrchr(m->path, '/');
	m->base = slash && slash[1] ? slash + 1 : m->path;
	m->content = hash_pair(r->size, r->mtime_ns);
	if (r->build_id_len && r->build_id_len <= BUILD_ID_MAX) {
		memcpy(m->build_id, r->build_id, r->build_id_len);
		m->build_id_len = r->build_id_len;
		m->content = hash_bytes(r->build_id, r->build_id_len);
	}
	return 0;
}

static int names_take_map(void *ctx, const struct rec_map *r)
{
	struct names *x = ctx;
	uint32_t at = map_get(&x->module_of, r->module);

	if (at != MAP_NONE && !strcmp(x->modules[at].base, "libjvm.so"))
		names_get_proc(x, r->proc)->jvm = x->modules[at].content;
	return 0;
}

static int take_symbol(void *ctx, const struct rec_symbol *r)
{
	struct names *x = ctx;
	struct name_module *m = get_module(x, r->module);

	VEC_GROW(m->symbols, m->nr_symbols, m->alloc_symbols);
	m->symbols[m->nr_symbols++] =
		(struct name_symbol){ r->off, r->size, arena_strndup(&x->text, r->name, r->name_len) };
	m->sorted = false;
	return 0;
}

/* Take a line; the levels of an address follow each other, from depth 0. */
static int names_take_line(void *ctx, const struct rec_line *r)
{
	struct names *x = ctx;
	uint32_t *at = map_put(&x->lines_of, hash_pair(r->module, r->off));

	if (!r->depth) {
		*at = x->nr_places;
		*VEC_ADD(x->places, x->nr_places, x->alloc_places) = (struct name_lines){ x->nr_lines, 0 };
	}
	if (*at == MAP_NONE || *at != x->nr_places - 1 || x->places[*at].nr != r->depth)
		return 0;	/* the level before it is lost */
	x->places[*at].nr++;
	VEC_GROW(x->lines, x->nr_lines, x->alloc_lines);
	x->lines[x->nr_lines++] = (struct name_line){ r->line, arena_strndup(&x->text, r->func, r->func_len),
						      arena_strndup(&x->text, r->file, r->file_len) };
	return 0;
}

/*
 * Append java/util/HashMap as java.util.HashMap, but Foo$$Lambda.0x1234 as Foo$$Lambda/0x1234, as Java prints
 * it.
 */
static void names_put_class(struct buf *b, const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (s[i] == '/' && !(i + 2 < len && s[i + 1] == '0' && s[i + 2] == 'x'))
			buf_putc(b, '.');
		else if (s[i] == '.' && i + 2 < len && s[i + 1] == '0' && s[i + 2] == 'x')
			buf_putc(b, '/');
		else
			buf_putc(b, s[i]);
}

static bool text_is(const char *s, size_t len, const char *what)
{
	return len == strlen(what) && !memcmp(s, what, len);
}

/* Return whether it is a method that our probes call and that takes a sample. */
static bool is_own_method(const struct rec_method *r)
{
	if (text_is(r->class_name, r->class_len, "java/lang/ArcLock"))
		return text_is(r->name, r->name_len, "notify") || text_is(r->name, r->name_len, "notifyAll") ||
		       text_is(r->name, r->name_len, "notify0");
	return text_is(r->class_name, r->class_len, "java/lang/ArcCall") ||
	       text_is(r->class_name, r->class_len, "java/lang/ArcSql");
}

static int take_method(void *ctx, const struct rec_method *r)
{
	struct names *x = ctx;
	uint32_t *at = map_put(&x->method_of, names_pair(r->proc, r->method));

	if (*at == MAP_NONE) {
		*at = x->nr_methods;
		*VEC_ADD(x->methods, x->nr_methods, x->alloc_methods) =
			(struct name_method){ .lines = NULL };
	}
	buf_reset(&x->name);
	names_put_class(&x->name, r->class_name, r->class_len);
	if (r->class_len)
		buf_putc(&x->name, '.');
	buf_add(&x->name, r->name, r->name_len);
	if (x->o.signatures)
		buf_add(&x->name, r->sig, r->sig_len);
	x->methods[*at].text = strtab_add(&x->m->consumers.names, x->name.data, x->name.len);
	x->methods[*at].sig = strtab_add(&x->m->consumers.names, r->sig, r->sig_len);
	x->methods[*at].source = arena_strndup(&x->text, r->source, r->source_len);
	x->methods[*at].own = is_own_method(r);
	return 0;
}

static int take_method_lines(void *ctx, const struct rec_method_lines *r)
{
	struct names *x = ctx;
	uint32_t at = map_get(&x->method_of, names_pair(r->proc, r->method));

	if (at == MAP_NONE || !r->len)
		return 0;
	x->methods[at].lines = memcpy(arena_alloc(&x->text, r->len), r->table, r->len);
	x->methods[at].lines_len = r->len;
	return 0;
}

static int names_take_function(void *ctx, const struct rec_function *r)
{
	struct names *x = ctx;
	uint32_t *at = map_put(&x->function_of, r->function);
	struct name_function *f;

	if (*at == MAP_NONE) {
		*at = x->nr_functions;
		VEC_GROW(x->functions, x->nr_functions, x->alloc_functions);
		x->nr_functions++;
	}
	f = &x->functions[*at];
	f->kind = consumer_kind_of(r->kind);
	f->text = strtab_add(&x->m->consumers.names, r->name, r->name_len);
	f->module = strtab_add(&x->m->consumers.names, r->module, r->module_len);
	if (f->kind == CONSUMER_LABEL) {
		f->text = threadlabels_text(x, r->name, r->name_len);
		x->has_label_frames = true;
	}
	f->file = arena_strndup(&x->text, r->file, r->file_len);
	return 0;
}

static int names_take_code(void *ctx, const struct rec_code *r)
{
	struct names *x = ctx;
	uint32_t *at = map_put(&x->code_of, names_pair(r->proc, r->compile_id));
	struct name_code *c;

	c = VEC_ADD(x->codes, x->nr_codes, x->alloc_codes);
	*c = (struct name_code){ .next = *at == MAP_NONE ? 0 : *at + 1, .proc = r->proc, .method = r->method,
				 .level = r->level, .compile_id = r->compile_id,
				 .time_ns = r->time_ns, .addr = r->addr, .size = r->size,
				 .inl_len = r->inl_len };
	c->inl = memcpy(arena_alloc(&x->text, r->inl_len + 1), r->inl_len ? r->inl : (const void *)"",
			r->inl_len);
	*at = x->nr_codes - 1;
	names_get_proc(x, r->proc)->has_codes = true;
	return 0;
}

static int take_code_bytes(void *ctx, const struct rec_code_bytes *r)
{
	struct names *x = ctx;
	uint32_t at = x->o.code ? map_get(&x->code_of, names_pair(r->proc, r->compile_id)) : MAP_NONE;

	for (at = at == MAP_NONE ? 0 : at + 1; at; at = x->codes[at - 1].next) {
		struct name_code *c = &x->codes[at - 1];

		if (c->addr - r->addr >= r->len || c->bytes)
			continue;
		c->bytes = memcpy(arena_alloc(&x->text, r->len), r->bytes, r->len);
		c->bytes_addr = r->addr;
		c->nr_bytes = r->len;
		break;
	}
	return 0;
}

static int take_stub(void *ctx, const struct rec_stub *r)
{
	struct names *x = ctx;
	struct name_proc *p = names_get_proc(x, r->proc);

	*VEC_ADD(p->stubs, p->nr_stubs, p->alloc_stubs) = (struct name_stub){
		.addr = r->addr, .size = r->size, .time_ns = r->time_ns,
		.name = arena_strndup(&x->text, r->name, r->name_len),
	};
	p->sorted = false;
	return 0;
}

static int take_stub_lines(void *ctx, const struct rec_stub_lines *r)
{
	struct names *x = ctx;
	struct name_proc *p = names_get_proc(x, r->proc);
	struct name_stub *s = p->nr_stubs && !p->sorted ? &p->stubs[p->nr_stubs - 1] : NULL;
	struct name_stub_lines *l;

	if (!x->o.lines || !s || s->addr != r->addr || !r->len)
		return 0;
	l = arena_alloc(&x->text, sizeof(*l));
	*l = (struct name_stub_lines){
		.next = s->lines, .file = arena_strndup(&x->text, r->file, r->file_len),
		.table = memcpy(arena_alloc(&x->text, r->len), r->table, r->len), .len = r->len,
	};
	s->lines = l;
	return 0;
}

/* Insert a bracket; they come nearly in order. */
static int take_bracket(void *ctx, const struct rec_bracket *r)
{
	struct names *x = ctx;
	size_t at;

	VEC_GROW(x->brackets, x->nr_brackets, x->alloc_brackets);
	for (at = x->nr_brackets++; at && x->brackets[at - 1].time_ns > r->time_ns; at--)
		x->brackets[at] = x->brackets[at - 1];
	x->brackets[at] = (struct name_bracket){ r->time_ns, r->proc, r->thread, r->method };
	return 0;
}

uint32_t names_bracket(struct names *x, uint32_t thread, uint64_t time_ns)
{
	size_t lo = BISECT(i, x->nr_brackets, x->brackets[i].time_ns <= time_ns);
	struct frame f = { .kind = FRAME_METHOD };
	uint32_t at;

	while (lo && x->brackets[lo - 1].thread != thread)
		lo--;
	if (!lo)
		return 0;
	f.proc = x->brackets[lo - 1].proc;
	f.method = x->brackets[lo - 1].method;
	at = names_resolve(x, &f, time_ns);
	return x->frames[at].nr ? x->levels[x->frames[at].first].consumer : 0;
}

uint32_t names_find_event(const struct names *x, const char *wanted)
{
	const char *name;
	uint32_t event;

	for (event = 0; (name = names_event(x, event, "")); event++)
		if (!strcmp(name, wanted))
			return event;
	return UINT32_MAX;
}

const char *names_event_of(const struct names *x, uint32_t event)
{
	const char *of = names_event(x, event, ".of"), *source = names_event(x, event, ".source");

	return of ? of : source ? source : names_event(x, event, "");
}

uint64_t names_lasting_events(const struct names *x)
{
	static const char *const names[] = { "wall", "wakers", "lock", "blame", "http", "rmi", "grpc",
					     "sql" };
	uint64_t lasting = 0;
	const char *name, *unit;
	uint32_t event;
	size_t i;

	for (event = 0; event < 64 && (name = names_event(x, event, "")); event++) {
		unit = names_event(x, event, ".unit");
		for (i = 0; i < ARRAY_SIZE(names) && strcmp(name, names[i]); i++)
			;
		if (i < ARRAY_SIZE(names) && unit && !strcmp(unit, "ns"))
			lasting |= 1ull << event;
	}
	return names_label(x, "import") ? 0 : lasting;
}

static int take_recorded(void *ctx, const struct rec_recorded *r)
{
	struct names *x = ctx;

	*VEC_ADD(x->recorded, x->nr_recorded, x->alloc_recorded) = (struct name_recorded){
		r->time_ns, arena_strndup(&x->text, r->event, r->event_len), r->on,
	};
	x->labels_were_off |= !strcmp(x->recorded[x->nr_recorded - 1].event, "label");
	return 0;
}

static int take_filter(void *ctx, const struct rec_filter *r)
{
	struct names *x = ctx;

	*VEC_ADD(x->filters, x->nr_filters, x->alloc_filters) = (struct name_filter){
		r->time_ns, r->left_out, arena_strndup(&x->text, r->event, r->event_len),
		arena_strndup(&x->text, r->rules, r->rules_len),
	};
	return 0;
}

static int take_trigger(void *ctx, const struct rec_trigger *r)
{
	struct names *x = ctx;

	*VEC_ADD(x->triggers, x->nr_triggers, x->alloc_triggers) = (struct name_trigger){
		r->time_ns, arena_strndup(&x->text, r->when, r->when_len),
		arena_strndup(&x->text, r->cause, r->cause_len),
	};
	return 0;
}

/* Return the next record of the event from there on; nr_recorded: there is none. */
static size_t next_recorded(const struct names *x, size_t i, const char *event)
{
	while (i < x->nr_recorded && strcmp(x->recorded[i].event, event))
		i++;
	return i;
}

bool names_recorded_at(const struct names *x, const char *event, uint64_t time_ns)
{
	size_t lo = BISECT(at, x->nr_recorded, x->recorded[at].time_ns <= time_ns), i;

	for (i = lo; i; i--)
		if (!strcmp(x->recorded[i - 1].event, event))
			return x->recorded[i - 1].on;
	i = next_recorded(x, lo, event);
	return i == x->nr_recorded || !x->recorded[i].on;
}

uint64_t names_recorded_ns(const struct names *x, const char *event, uint64_t from_ns, uint64_t to_ns)
{
	size_t i = next_recorded(x, 0, event);
	bool on = i == x->nr_recorded || !x->recorded[i].on;
	uint64_t sum = 0, last = from_ns;

	for (; i < x->nr_recorded; i = next_recorded(x, i + 1, event)) {
		uint64_t at = MIN(MAX(x->recorded[i].time_ns, last), MAX(to_ns, last));

		sum += on ? at - last : 0;
		last = at;
		on = x->recorded[i].on;
	}
	return sum + (on && to_ns > last ? to_ns - last : 0);
}

static int names_take_lost(void *ctx, const struct rec_lost *r)
{
	struct names *x = ctx;

	if (r->cause == LOST_STOPPED || r->cause == LOST_SCHED_STOPPED) {
		x->nr_after += r->cause == LOST_STOPPED ? r->count : 0;
		x->stopped_ns = x->stopped_ns ? MIN(x->stopped_ns, r->time_ns) : r->time_ns;
		return 0;
	}
	if (r->cause == LOST_THROTTLED)
		x->throttled += r->count;
	else if (r->cause == LOST_SKIPPED)
		x->skipped += r->count;
	else
		x->lost += r->count;
	return 0;
}

uint64_t names_stopped_ns(const struct names *x)
{
	uint64_t start = names_label_u64(x, "start.mono_ns");

	return x->stopped_ns > start ? x->stopped_ns - start : x->stopped_ns != 0;
}

const struct trace_sink names_sink = {
	.label = names_take_label,
	.proc = names_take_proc,
	.cgroup = take_cgroup,
	.resource = take_resource,
	.thread = names_take_thread,
	.thread_group = take_thread_group,
	.used = take_used,
	.cpu_used = take_cpu_used,
	.cgroup_used = take_cgroup_used,
	.counted = take_counted,
	.module = take_module,
	.map = names_take_map,
	.symbol = take_symbol,
	.line = names_take_line,
	.method = take_method,
	.method_lines = take_method_lines,
	.code = names_take_code,
	.code_bytes = take_code_bytes,
	.stub = take_stub,
	.stub_lines = take_stub_lines,
	.thread_label = threadlabels_take,
	.bracket = take_bracket,
	.recorded = take_recorded,
	.trigger = take_trigger,
	.filter = take_filter,
	.function = names_take_function,
	.lost = names_take_lost,
};

const char *names_container(struct names *x, const struct name_proc *p)
{
	const char *path = p->cgroup ? model_str(x->m, p->cgroup) : "";

	buf_reset(&x->name);
	buf_str(&x->name, "");
	cgroup_container(path, strlen(path), &x->name);
	return x->name.data;
}

/* Add a label whose value, such as a path, can have any byte. */
static void names_add_label(struct buf *labels, const char *key, const char *value)
{
	labels_add_foreign(labels, key, strlen(key), value, strlen(value));
}

/* Add the labels that "record --label" gave. */
static void add_own_labels(const struct names *x, struct buf *b)
{
	static const char prefix[] = "label.";
	size_t i;

	for (i = 0; i < x->nr_labels; i++)
		if (!strncmp(x->labels[i].key, prefix, strlen(prefix)))
			labels_add(b, x->labels[i].key + strlen(prefix), x->labels[i].val);
}

/* Add the labels from its environment. */
static void add_resource(struct names *x, const struct name_proc *p, struct buf *b)
{
	struct buf key = BUF_INIT, value = BUF_INIT;
	const char *next = p->resource ? model_str(x->m, p->resource) : "";

	while (labels_next(&next, &key, &value))
		names_add_label(b, key.data, value.data);
	buf_release(&key);
	buf_release(&value);
}

/*
 * Collect the process's labels from its environment, its place and the recording. If a key has several
 * values, the last is the most reliable.
 */
static uint32_t names_labels_of(struct names *x, struct name_proc *p)
{
	struct buf b = BUF_INIT;

	if (p->has_labels)
		return p->labels;
	add_resource(x, p, &b);
	if (p->cgroup) {
		names_add_label(&b, LABEL_CGROUP, model_str(x->m, p->cgroup));
		names_add_label(&b, LABEL_CONTAINER, names_container(x, p));
	}
	add_own_labels(x, &b);
	p->labels = strtab_add(&x->m->consumers.names, b.len ? b.data : "", b.len);
	p->has_labels = true;
	buf_release(&b);
	return p->labels;
}

static uint32_t own_labels(struct names *x)
{
	struct buf b = BUF_INIT;

	if (!x->has_own_labels) {
		add_own_labels(x, &b);
		x->own_labels = strtab_add(&x->m->consumers.names, b.len ? b.data : "", b.len);
		x->has_own_labels = true;
		buf_release(&b);
	}
	return x->own_labels;
}

uint32_t names_labels_of_thread(struct names *x, uint32_t thread)
{
	uint32_t at = map_get(&x->thread_of, thread);
	uint32_t proc = at == MAP_NONE ? MAP_NONE : map_get(&x->proc_of, x->threads[at].proc);

	return proc == MAP_NONE ? own_labels(x) : names_labels_of(x, &x->procs[proc]);
}

bool names_is_idle(const struct names *x, uint32_t thread)
{
	uint32_t at = map_get(&x->thread_of, thread);
	uint32_t proc = at == MAP_NONE || x->threads[at].tid ? MAP_NONE :
			map_get(&x->proc_of, x->threads[at].proc);

	return proc != MAP_NONE && !x->procs[proc].pid;
}

uint32_t names_process(struct names *x, uint32_t proc)
{
	uint32_t at = map_get(&x->proc_of, proc);
	struct consumer c = { .kind = CONSUMER_PROCESS };

	if (at == MAP_NONE)
		return consumer_add_name(&x->m->consumers, CONSUMER_PROCESS, "[unknown process]", 17);
	c.name = x->procs[at].comm ? x->procs[at].comm : strtab_adds(&x->m->consumers.names, "[no name]");
	c.key = names_pair(x->procs[at].pid, 0);
	c.detail = names_labels_of(x, &x->procs[at]);
	return consumer_add(&x->m->consumers, &c);
}

bool names_is_own_thread(const struct names *x, uint32_t thread)
{
	uint32_t at = x->nr_own ? map_get(&x->thread_of, thread) : MAP_NONE;

	return at != MAP_NONE && x->threads[at].own;
}

struct thread_name names_thread_name(const struct names *x, uint32_t thread)
{
	struct thread_name t = { .name = "[unknown thread]", .process = "" };
	uint32_t at = thread ? map_get(&x->thread_of, thread) : MAP_NONE, proc;

	if (at == MAP_NONE)
		return t;
	t.name = model_str(x->m, x->threads[at].name);
	t.tid = x->threads[at].tid;
	proc = map_get(&x->proc_of, x->threads[at].proc);
	if (proc != MAP_NONE) {
		t.pid = x->procs[proc].pid;
		t.process = model_str(x->m, x->procs[proc].comm);
	}
	return t;
}

uint32_t names_thread(struct names *x, uint32_t thread, uint32_t *proc)
{
	uint32_t at = map_get(&x->thread_of, thread), p;
	struct consumer c = { .kind = CONSUMER_THREAD };

	*proc = 0;
	if (at == MAP_NONE)
		return consumer_add_name(&x->m->consumers, CONSUMER_THREAD, "[unknown thread]", 16);
	*proc = x->threads[at].proc;
	p = map_get(&x->proc_of, *proc);
	c.name = x->threads[at].name;
	if (!c.name && p != MAP_NONE && !x->threads[at].tid && x->procs[p].pid)
		c.name = strtab_adds(&x->m->consumers.names, "[virtual threads]"); /* they have no names */
	if (!c.name && p != MAP_NONE)
		c.name = x->procs[p].comm;
	if (!c.name)
		c.name = strtab_adds(&x->m->consumers.names, "[no name]");
	c.key = names_pair(p == MAP_NONE ? 0 : x->procs[p].pid, x->threads[at].tid);
	return consumer_add(&x->m->consumers, &c);
}

int names_read_texts(struct names *x, struct model *strings, struct trace_reader *t, struct err *e)
{
	model_init(strings, 1, FLOW_SAMPLES);
	names_init(x, strings, &(const struct resolve_opts){ .no_files = true });
	return trace_read(t, &names_sink, x, e);
}
