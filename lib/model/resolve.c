// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * resolve.c - from a frame of a trace to the consumers it stands for: itself, and the functions
 * inlined into it.  Each distinct frame is resolved once.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/span.h"
#include "model/names.h"
#include "sym/demangle.h"

enum { MAX_LEVELS = 256 };

/* Return the length of a function's name without the marks of the compiler, one of which begins there. */
static size_t len_before(const char *name, const char *const *marks)
{
	const char *cut = NULL, *at;

	for (; *marks; marks++) {
		at = strstr(name, *marks);
		if (at && at != name && (!cut || at < cut))
			cut = at;
	}
	return cut ? (size_t)(cut - name) : strlen(name);
}

/* Return the function of a part or clone. */
static uint64_t native_function(struct names *x, const struct consumer *c)
{
	/* as the demangler has them, and of C as they are */
	static const char *const marks[] = { " [clone .", ".cold", ".part.", ".constprop.", ".isra.", NULL };
	const char *name;
	size_t len;

	if (!x->o.functions)
		return 0;
	name = model_str(x->m, c->name);
	len = len_before(name, marks);
	if (!name[len])
		return names_pair(c->name, c->module);
	buf_reset(&x->name);	/* the table may move what it is given */
	buf_add(&x->name, name, len);
	return names_pair(strtab_add(&x->m->consumers.names, x->name.data, len), c->module);
}

static uint64_t method_function(const struct names *x, uint32_t proc, uint32_t method)
{
	uint32_t at = map_get(&x->method_of, names_pair(proc, method));

	return at == MAP_NONE ? 0 : names_pair(x->methods[at].text, x->methods[at].sig);
}

/* A native and a Java function are never one, though both be called "main". */
enum { KEY_NATIVE = 1, KEY_JAVA = 2, KEY_BITS = 2 };

static void add_level(struct names *x, const struct consumer *consumer, uint64_t function)
{
	struct consumer c = *consumer;
	uint32_t kind = c.kind;

	if (!x->o.by_kind && (kind_is(kind, KIND_NATIVE | KIND_JAVA))) {
		if (kind == CONSUMER_JAVA_C1 || kind == CONSUMER_JAVA_C2)
			kind = CONSUMER_JAVA_COMPILED;
		c.kind = CONSUMER_ANY;
		c.key = (kind_is(kind, KIND_NATIVE) ? KEY_NATIVE : KEY_JAVA) | c.key << KEY_BITS;
	}
	VEC_GROW(x->levels, x->nr_levels, x->alloc_levels);
	x->levels[x->nr_levels++] = (struct name_level){ .consumer = consumer_add(&x->m->consumers, &c),
		.kind = kind, .function = function };
}

void names_settle_kinds(struct names *x)
{
	struct choice {
		uint64_t weight[CONSUMER_NR];
	} *choices = xcalloc(x->m->consumers.nr_items, sizeof(*choices));
	uint32_t kind, best;
	size_t i;

	for (i = 0; i < x->nr_levels; i++)
		choices[x->levels[i].consumer].weight[x->levels[i].kind] += x->levels[i].weight + 1;
	for (i = 1; i < x->m->consumers.nr_items; i++) {
		const struct consumer *c = &x->m->consumers.items[i];

		if (c->kind != CONSUMER_ANY || !c->key)
			continue;
		for (best = kind = 0; kind < CONSUMER_NR; kind++)
			if (choices[i].weight[kind] > choices[i].weight[best])
				best = kind;
		consumer_change(&x->m->consumers, i, best, c->key >> KEY_BITS);
	}
	consumers_rehash(&x->m->consumers);
	free(choices);
}

static uint32_t intern(struct names *x, const char *s)
{
	return strtab_adds(&x->m->consumers.names, s);
}

static uint32_t demangled(struct names *x, const char *name)
{
	buf_reset(&x->name);
	demangle(name, &x->name);
	return strtab_add(&x->m->consumers.names, x->name.data ? x->name.data : "", x->name.len);
}

/* A line of a source file. */
struct place {
	uint32_t text;		/* strtab id of "file:line"; 0: not known */
	uint32_t file;		/* strtab id */
	uint32_t line;		/* 0: not known */
};

static struct place place_of_line(struct names *x, const char *file, uint32_t line)
{
	struct place p = { .line = line };
	char nr[16];

	if (!x->o.lines || !file || !*file)
		return (struct place){ 0 };
	p.file = intern(x, file);
	buf_reset(&x->name);
	buf_str(&x->name, file);
	snprintf(nr, sizeof(nr), ":%u", line);
	buf_str(&x->name, line ? nr : "");
	p.text = strtab_add(&x->m->consumers.names, x->name.data, x->name.len);
	return p;
}

static void add_level_at(struct names *x, struct consumer *c, const struct place *at, uint64_t function)
{
	c->detail = at->text;
	add_level(x, c, function);
	x->levels[x->nr_levels - 1].file = at->file;
	x->levels[x->nr_levels - 1].line = at->line;
}

static int compare_symbols(const void *p, const void *q)
{
	const struct name_symbol *a = p, *b = q;

	return COMPARE(a->off, b->off);
}

static bool is_sorted(const struct name_module *m)
{
	size_t i;

	for (i = 1; i < m->nr_symbols; i++)
		if (m->symbols[i - 1].off > m->symbols[i].off)
			return false;
	return true;
}

static const struct name_symbol *find_symbol(struct name_module *m, uint64_t off)
{
	size_t lo;

	if (!m->sorted && !is_sorted(m))	/* as most recorders write them */
		qsort(m->symbols, m->nr_symbols, sizeof(*m->symbols), compare_symbols);
	m->sorted = true;
	lo = BISECT(i, m->nr_symbols, m->symbols[i].off <= off);
	if (!lo || off - m->symbols[lo - 1].off >= MAX(m->symbols[lo - 1].size, (uint64_t)1))
		return NULL;
	return &m->symbols[lo - 1];
}

/*
 * Open the module's file itself, if the recorder was killed before it wrote the names and the file is
 * unchanged. A finished trace is reported in the same way on every machine.
 */
static struct symfile *open_module_file(struct names *x, struct name_module *m)
{
	struct err e;

	if (m->tried_file)
		return m->file;
	m->tried_file = true;
	if (m->nr_symbols || x->o.no_files || !m->build_id_len || *m->path != '/' ||
	    names_label(x, "symbols"))
		return NULL;
	if (symfile_open(&m->file, "", m->path, m->build_id, m->build_id_len, &e))
		m->file = NULL;
	return m->file;
}

/* Return the symbol's name from this machine's file; 0 when there is none. */
static uint32_t name_from_file(struct names *x, struct name_module *m, uint64_t off)
{
	struct symbol s;

	if (!open_module_file(x, m) || !symfile_symbol(m->file, off, &s))
		return 0;
	x->nr_local_modules += !m->gave_names;
	m->gave_names = true;
	return demangled(x, s.name);
}

static void unresolved(struct names *x, uint32_t module, const char *where, uint64_t off)
{
	struct consumer c = { .kind = CONSUMER_UNRESOLVED, .module = module };
	char hex[32];

	buf_reset(&x->name);
	if (x->o.addresses) {
		snprintf(hex, sizeof(hex), "0x%llx", (unsigned long long)off);
		buf_fmt(&x->name, "%s+%s", where, hex);
	} else {
		buf_fmt(&x->name, "[unknown in %s]", where);
	}
	c.name = strtab_add(&x->m->consumers.names, x->name.data, x->name.len);
	add_level(x, &c, 0);
}

/* Find the inlined levels of an address, innermost first; return how many. */
static size_t find_lines(struct names *x, const struct frame *f, struct srcline *out)
{
	struct name_module *m = &x->modules[map_get(&x->module_of, f->module)];
	uint32_t at = map_get(&x->lines_of, hash_pair(f->module, f->off));
	size_t i, nr;

	if (at == MAP_NONE)
		return m->file ? symfile_lines(m->file, f->off, out, MAX_LEVELS) : 0;
	nr = MIN(x->places[at].nr, (uint32_t)MAX_LEVELS);
	for (i = 0; i < nr; i++) {
		const struct name_line *l = &x->lines[x->places[at].first + i];

		out[i] = (struct srcline){ *l->func ? l->func : NULL, l->file, l->line };
	}
	return nr;
}

/* Make the agent and what starts it one consumer, whatever they do. */
static void resolve_own(struct names *x)
{
	uint32_t name = intern(x, OWN_NAME);
	struct consumer c = { .kind = CONSUMER_NATIVE, .name = name, .module = name };

	add_level(x, &c, 0);
	x->m->own = x->levels[x->nr_levels - 1].consumer;
}

/*
 * Return whether it stands for a function of the program and calls that: what is below is not arcprof's work.
 */
static bool is_way_through(const struct name_symbol *s)
{
	size_t len = s ? strlen(s->name) : 0, end = strlen(WAY_THROUGH);

	return len > end && !strcmp(s->name + len - end, WAY_THROUGH);
}

static void resolve_native(struct names *x, const struct frame *f, uint32_t kind)
{
	uint32_t at = map_get(&x->module_of, f->module);
	struct srcline lines[MAX_LEVELS];
	const struct name_symbol *s;
	struct name_module *m;
	struct consumer c = { .kind = kind };
	struct place here;
	size_t nr;

	if (at == MAP_NONE) {
		unresolved(x, 0, "unknown module", f->off);
		return;
	}
	m = &x->modules[at];
	s = find_symbol(m, f->off);
	if (m->flags & MODULE_ARCPROF) {
		if (!is_way_through(s))
			resolve_own(x);
		return;
	}
	c.module = intern(x, m->path);
	c.name = s ? demangled(x, s->name) : name_from_file(x, m, f->off);
	nr = find_lines(x, f, lines);
	if (!c.name && nr && lines[nr - 1].func)
		c.name = demangled(x, lines[nr - 1].func);
	if (c.name) {
		here = place_of_line(x, nr ? lines[nr - 1].file : NULL, nr ? lines[nr - 1].line : 0);
		add_level_at(x, &c, &here, native_function(x, &c));
	} else {
		unresolved(x, c.module, m->base, f->off);
	}
	for (; nr > 1 && !x->o.hide_inlined; nr--) {
		const struct srcline *l = &lines[nr - 2];

		c = (struct consumer){ .kind = CONSUMER_NATIVE_INLINED, .module = c.module };
		c.name = l->func ? demangled(x, l->func) : intern(x, "[unknown inlined function]");
		here = place_of_line(x, l->file, l->line);
		add_level_at(x, &c, &here, native_function(x, &c));
	}
}

static int compare_stubs(const void *p, const void *q)
{
	const struct name_stub *a = p, *b = q;

	return COMPARE(a->addr, b->addr) ?: COMPARE(a->time_ns, b->time_ns);
}

/* Return how many stubs are sorted before one at that address that is later than that time. */
static size_t stubs_until(const struct name_proc *p, uint64_t addr, uint64_t time_ns)
{
	const struct name_stub *s = p->stubs;

	return BISECT(i, p->nr_stubs, s[i].addr < addr || (s[i].addr == addr && s[i].time_ns <= time_ns));
}

/* Return, of the stubs at the address of the one before at, the last by then, else the first. */
static const struct name_stub *stub_then(const struct name_proc *p, size_t at, uint64_t time_ns)
{
	uint64_t addr = p->stubs[at - 1].addr;
	size_t by_then = stubs_until(p, addr, time_ns);

	if (by_then && p->stubs[by_then - 1].addr == addr)
		return &p->stubs[by_then - 1];
	return &p->stubs[by_then];
}

/*
 * Return the latest stub at the address at that time, else the first one after that time. One that starts at
 * a lower address may cover it, but stubs do not nest deeply, so only a few before the address are tried.
 * *varies: there was another one.
 */
static const struct name_stub *find_stub(struct name_proc *p, uint64_t addr, uint64_t time_ns, bool *varies)
{
	const struct name_stub *best = NULL;
	size_t at, first, tries;

	if (!p->sorted && p->nr_stubs)
		qsort(p->stubs, p->nr_stubs, sizeof(*p->stubs), compare_stubs);
	p->sorted = true;
	*varies = false;
	at = stubs_until(p, addr, UINT64_MAX);
	for (tries = 0; at && tries < 64; tries++, at = first) {
		const struct name_stub *s = stub_then(p, at, time_ns);

		first = s->addr ? stubs_until(p, s->addr - 1, UINT64_MAX) : 0;
		if (addr - s->addr >= s->size)
			continue;
		*varies |= best || at - first > 1;
		if (!best || (s->time_ns <= time_ns ? best->time_ns > time_ns || s->time_ns > best->time_ns :
						      best->time_ns > time_ns && s->time_ns < best->time_ns))
			best = s;
	}
	return best;
}

static const struct name_stub *stub_of(struct names *x, const struct frame *f, uint64_t time_ns)
{
	uint32_t at = map_get(&x->proc_of, f->proc);
	bool varies;

	return at == MAP_NONE ? NULL : find_stub(&x->procs[at], f->addr, time_ns, &varies);
}

bool names_varies(struct names *x, const struct frame *f)
{
	bool varies = false;
	uint32_t at;

	if (f->kind != FRAME_STUB && f->kind != FRAME_ANON)
		return false;
	at = map_get(&x->proc_of, f->proc);
	if (at != MAP_NONE)
		find_stub(&x->procs[at], f->addr, 0, &varies);
	return varies;
}

static uint64_t unzigzag(uint64_t v)
{
	return v >> 1 ^ -(v & 1);
}

/*
 * Return the line of a bytecode as the JVM finds it: from the entry at it, else from the last one in the
 * table with the highest index below. 0: not known. *best: that index, if it is not below the given one.
 */
static uint32_t line_of(const uint8_t *table, size_t len, uint64_t bci, uint32_t *best)
{
	struct span s = span_init(table, len);
	uint32_t at = 0, line = 0, best_line = 0;

	while (span_left(&s)) {
		at += unzigzag(span_varint(&s));
		line += unzigzag(span_varint(&s));
		if (at <= bci && at >= *best) {
			*best = at;
			best_line = line;
		}
		if (at == bci)
			break;
	}
	return best_line;
}

/* Return the place in a stub that lines are known of. */
static struct place stub_place(struct names *x, const struct name_stub *s, uint64_t off)
{
	const struct name_stub_lines *l;
	const char *file = NULL;
	uint32_t best = 0, line = 0;

	for (l = s->lines; l; l = l->next) {
		uint32_t here = line_of(l->table, l->len, off, &best);

		if (here) {
			line = here;
			file = l->file;
		}
	}
	return line ? place_of_line(x, file, line) : (struct place){ 0 };
}

static void resolve_stub(struct names *x, const struct frame *f, uint64_t time_ns)
{
	const struct name_stub *s = stub_of(x, f, time_ns);
	struct consumer c = { .kind = f->kind == FRAME_STUB ? CONSUMER_STUB : CONSUMER_NATIVE };
	struct place here;

	if (!s) {
		unresolved(x, 0, f->kind == FRAME_STUB ? "JVM code cache" : "anonymous memory", f->addr);
		return;
	}
	if (c.kind == CONSUMER_NATIVE)
		c.module = intern(x, "[anonymous memory]");
	c.name = intern(x, s->name);
	here = stub_place(x, s, f->addr - s->addr);
	add_level_at(x, &c, &here, 0);
}

static uint32_t method_name(struct names *x, uint32_t proc, uint32_t method)
{
	uint32_t at = map_get(&x->method_of, names_pair(proc, method));

	return at == MAP_NONE ? intern(x, "[unknown Java method]") : x->methods[at].text;
}

static bool is_own_method(const struct names *x, uint32_t proc, uint32_t method)
{
	uint32_t at = map_get(&x->method_of, names_pair(proc, method));

	return at != MAP_NONE && x->methods[at].own;
}

static struct place java_place(struct names *x, uint32_t proc, uint32_t method, uint64_t bci)
{
	uint32_t at = map_get(&x->method_of, names_pair(proc, method));
	const struct name_method *m;
	uint32_t best = 0;
	struct place p;
	char text[64];

	if (!x->o.lines || at == MAP_NONE || !*x->methods[at].source)
		return (struct place){ 0 };
	m = &x->methods[at];
	p = place_of_line(x, m->source, line_of(m->lines, m->lines_len, bci, &best));
	if (p.line)
		return p;
	snprintf(text, sizeof(text), " bci %llu", (unsigned long long)bci);
	buf_reset(&x->name);
	buf_str(&x->name, x->methods[at].source);
	buf_str(&x->name, text);
	p.text = strtab_add(&x->m->consumers.names, x->name.data, x->name.len);
	return p;
}

/* Index where each pc's frames begin in the blob. */
static void index_code(struct name_code *c)
{
	struct span s = span_init(c->inl, c->inl_len);
	uint64_t nr = span_varint(&s), i, pc = 0, frames;

	c->indexed = true;
	if (s.bad || nr > c->inl_len)	/* each takes a byte at least */
		return;
	c->pcs = xcalloc(nr + 1, sizeof(*c->pcs));
	for (i = 0; i < nr; i++) {
		pc += span_varint(&s);
		c->pcs[i] = (struct name_pc){ MIN(pc, (uint64_t)UINT32_MAX), s.p - c->inl };
		for (frames = span_varint(&s); frames && !s.bad; frames--) {
			span_varint(&s);
			span_varint(&s);
		}
		if (s.bad)
			return;
		c->nr_pcs++;
	}
}

/* Return the record of the first pc past off: a caller's off is its return address minus one. */
static const struct name_pc *find_pc(struct name_code *c, uint64_t off)
{
	size_t lo;

	if (!c->indexed)
		index_code(c);
	lo = BISECT(i, c->nr_pcs, c->pcs[i].pc <= off);
	return lo < c->nr_pcs ? &c->pcs[lo] : NULL;
}

static struct name_code *find_code(struct names *x, const struct frame *f)
{
	uint32_t at = map_get(&x->code_of, names_pair(f->proc, f->compile_id));
	struct name_code *c;

	for (at = at == MAP_NONE ? 0 : at + 1; at; at = c->next) {
		c = &x->codes[at - 1];
		if (f->addr - c->addr < c->size)
			return c;
	}
	return NULL;
}

static uint32_t code_kind(const struct name_code *c)
{
	return !c || !c->level ? CONSUMER_JAVA_COMPILED : c->level >= 4 ? CONSUMER_JAVA_C2 : CONSUMER_JAVA_C1;
}

static void resolve_jit(struct names *x, const struct frame *f)
{
	struct { uint64_t method, bci; } list[MAX_LEVELS];
	struct consumer c = { 0 };
	struct name_code *code = find_code(x, f);
	const struct name_pc *pc = code && !f->not_inlined ? find_pc(code, f->addr - code->addr) : NULL;
	uint64_t nr = 0, i;
	struct place here;
	struct span s;

	if (pc) {
		s = span_init(code->inl + pc->off, code->inl_len - pc->off);
		nr = span_varint(&s);
		nr = MIN(nr, (uint64_t)MAX_LEVELS);
		for (i = 0; i < nr; i++) {
			list[i].method = span_varint(&s);
			list[i].bci = span_varint(&s);
		}
	}
	if (!nr) {
		list[0].method = f->method ? f->method : code ? code->method : 0;
		list[0].bci = 0;
		nr = 1;
	}
	c.kind = code_kind(code);
	for (i = nr; i-- > 0;) {
		if (is_own_method(x, f->proc, list[i].method))
			continue;
		c.name = method_name(x, f->proc, list[i].method);
		here = (struct place){ 0 };
		if (list[i].bci)
			here = java_place(x, f->proc, list[i].method, list[i].bci - 1);
		add_level_at(x, &c, &here, method_function(x, f->proc, list[i].method));
		c.kind = CONSUMER_JAVA_INLINED;
		if (x->o.hide_inlined)
			break;
	}
}

static void resolve_interp(struct names *x, const struct frame *f)
{
	struct consumer c = { .kind = CONSUMER_JAVA_INTERPRETED };
	struct place here = java_place(x, f->proc, f->method, f->bci);

	if (is_own_method(x, f->proc, f->method))
		return;
	c.name = method_name(x, f->proc, f->method);
	add_level_at(x, &c, &here, method_function(x, f->proc, f->method));
}

static void resolve_method(struct names *x, const struct frame *f)
{
	static const uint32_t kinds[FRAME_NR_TIERS] = {
		[FRAME_TIER_UNKNOWN] = CONSUMER_JAVA,
		[FRAME_TIER_INTERPRETED] = CONSUMER_JAVA_INTERPRETED,
		[FRAME_TIER_C1] = CONSUMER_JAVA_C1,
		[FRAME_TIER_C2] = CONSUMER_JAVA_C2,
		[FRAME_TIER_INLINED] = CONSUMER_JAVA_INLINED,
	};
	struct consumer c = { .kind = x->o.by_kind && !x->o.merge_tiers ? kinds[f->tier] : CONSUMER_JAVA };

	if (x->o.split_tiers && !x->o.by_kind)
		c.key = f->tier;
	c.name = method_name(x, f->proc, f->method);
	add_level(x, &c, method_function(x, f->proc, f->method));
}

/* "com.example.Cart.add:12", or "com.example.Cart.add bci 7" of a class without line numbers. */
static void resolve_site(struct names *x, const struct frame *f)
{
	struct consumer c = { .kind = CONSUMER_JAVA };
	unsigned int at = f->place % FRAME_PLACE_BCI;

	buf_reset(&x->name);
	buf_str(&x->name, model_str(x->m, method_name(x, f->proc, f->method)));
	buf_fmt(&x->name, f->place & FRAME_PLACE_BCI ? " bci %u" : ":%u", at);
	c.name = strtab_add(&x->m->consumers.names, x->name.data, x->name.len);
	add_level(x, &c, c.name);
}

static void resolve_named(struct names *x, const struct frame *f)
{
	uint32_t at = map_get(&x->function_of, f->function);
	const struct name_function *known = at == MAP_NONE ? NULL : &x->functions[at];
	struct consumer c = { .kind = CONSUMER_UNRESOLVED };
	struct place here = { 0 };

	if (known && known->kind == CONSUMER_LABEL)	/* of the sample: no code */
		return;
	c.name = known ? known->text : intern(x, "[unknown function]");
	if (known) {
		c.kind = known->kind;
		c.module = known->module;
		here = place_of_line(x, known->file, MIN(f->line, (uint64_t)UINT32_MAX));
	}
	if (kind_is(c.kind, KIND_NATIVE))
		c.name = demangled(x, model_str(x->m, c.name));
	if (x->o.hide_inlined && kind_is(c.kind, KIND_INLINED))
		return;
	if ((x->o.hide_kernel && c.kind == CONSUMER_KERNEL) ||
	    (x->o.hide_files && c.kind == CONSUMER_WAIT_FILE))
		return;
	add_level_at(x, &c, &here, kind_is(c.kind, KIND_NATIVE) ? native_function(x, &c) : c.name);
}

static void resolve_in_module(struct names *x, const struct frame *f, uint64_t time_ns)
{
	struct consumer c = { .kind = CONSUMER_MARK };
	char text[FRAME_MARK_TEXT];

	switch (f->kind) {
	case FRAME_NATIVE:
		resolve_native(x, f, CONSUMER_NATIVE);
		break;
	case FRAME_KERNEL:
		if (!x->o.hide_kernel)
			resolve_native(x, f, CONSUMER_KERNEL);
		break;
	case FRAME_ANON:
	case FRAME_STUB:
		resolve_stub(x, f, time_ns);
		break;
	case FRAME_JIT:
		resolve_jit(x, f);
		break;
	case FRAME_INTERP:
		resolve_interp(x, f);
		break;
	case FRAME_METHOD:
		resolve_method(x, f);
		break;
	case FRAME_SITE:
		resolve_site(x, f);
		break;
	case FRAME_NAMED:
		resolve_named(x, f);
		break;
	case FRAME_MARK:
		if (frame_mark_is_note(f->mark))
			c.kind = CONSUMER_UNRESOLVED;
		c.name = intern(x, frame_mark_text(f, text));
		add_level(x, &c, 0);
		break;
	case FRAME_NONE:
	case FRAME_NR:
		unresolved(x, 0, "frame of unknown kind", 0);
	}
}

/*
 * Return what distinguishes the frame: for a stub, the stub that was there at that time, because another
 * may be at the same address later. The stub's name has an address of its own; the offset counts where it
 * has lines.
 */
static struct frame_key frame_key(struct names *x, const struct frame *f, uint64_t time_ns)
{
	struct frame_key key = { .frame = *f };
	const struct name_stub *s;

	if (f->kind != FRAME_STUB && f->kind != FRAME_ANON)
		return key;
	s = stub_of(x, f, time_ns);
	if (s) {
		key.frame.addr = s->lines ? f->addr - s->addr : 0;
		key.stub = s->name;
	}
	return key;
}

/*
 * Return where the frame is, or the free slot where it belongs: grow_frame_slots() keeps half of them
 * free.
 */
static size_t frame_slot(const struct names *x, const struct frame_key *key)
{
	size_t mask = x->alloc_frame_slots - 1, s = hash_bytes(key, sizeof(*key)) & mask;

	while (x->frame_slots[s] && memcmp(&x->frames[x->frame_slots[s] - 1].key, key, sizeof(*key)))
		s = (s + 1) & mask;
	return s;
}

static void grow_frame_slots(struct names *x)
{
	size_t i;

	if ((x->nr_frames + 1) * 2 <= x->alloc_frame_slots)
		return;
	free(x->frame_slots);
	x->alloc_frame_slots *= 2;
	x->frame_slots = xcalloc(x->alloc_frame_slots, sizeof(*x->frame_slots));
	for (i = 0; i < x->nr_frames; i++)
		x->frame_slots[frame_slot(x, &x->frames[i].key)] = i + 1;
}

uint32_t names_resolve(struct names *x, const struct frame *f, uint64_t time_ns)
{
	struct frame_key key = frame_key(x, f, time_ns);
	uint32_t first = x->nr_levels;
	size_t s;

	grow_frame_slots(x);
	s = frame_slot(x, &key);
	if (x->frame_slots[s])
		return x->frame_slots[s] - 1;
	resolve_in_module(x, f, time_ns);
	*VEC_ADD(x->frames, x->nr_frames, x->alloc_frames) =
		(struct resolved){ key, first, x->nr_levels - first };
	x->frame_slots[s] = x->nr_frames;
	return x->nr_frames - 1;
}

/* ---- addresses as an instruction trace has them ---- */

static int compare_codes(const void *p, const void *q, void *ctx)
{
	const struct names *x = ctx;
	const struct name_code *a = &x->codes[*(const uint32_t *)p], *b = &x->codes[*(const uint32_t *)q];

	return COMPARE(a->addr, b->addr) ?: COMPARE(a->time_ns, b->time_ns);
}

static void index_codes(struct names *x, struct name_proc *p, uint32_t proc)
{
	size_t i;

	p->codes = xcalloc(x->nr_codes + 1, sizeof(*p->codes));
	for (i = 0; i < x->nr_codes; i++)
		if (x->codes[i].proc == proc)
			p->codes[p->nr_codes++] = i;
	qsort_r(p->codes, p->nr_codes, sizeof(*p->codes), compare_codes, x);
}

/* Return the Java code that was there: the last one known at that time, else the first after it. */
static const struct name_code *code_at(struct names *x, uint32_t proc, uint64_t addr, uint64_t time_ns)
{
	uint32_t at = map_get(&x->proc_of, proc);
	struct name_proc *p = at == MAP_NONE ? NULL : &x->procs[at];
	const struct name_code *best = NULL, *c;
	size_t lo, tries;

	if (!p || !p->has_codes)
		return NULL;
	if (!p->codes)
		index_codes(x, p, proc);
	lo = BISECT(i, p->nr_codes, x->codes[p->codes[i]].addr <= addr);
	for (tries = 0; lo && tries < 64; tries++) {
		c = &x->codes[p->codes[--lo]];
		if (addr - c->addr >= c->size)
			continue;
		if (!best || (c->time_ns <= time_ns ? best->time_ns > time_ns || c->time_ns > best->time_ns :
						      best->time_ns > time_ns && c->time_ns < best->time_ns))
			best = c;
	}
	return best;
}

struct frame names_code_frame(struct names *x, uint32_t proc, uint64_t addr, uint64_t time_ns)
{
	const struct name_code *c = code_at(x, proc, addr, time_ns);
	uint32_t at = map_get(&x->proc_of, proc);
	struct frame f = { FRAME_ANON, .proc = proc, .addr = addr };

	if (c) {
		f.kind = FRAME_JIT;
		f.compile_id = c->compile_id;
		f.method = c->method;
	} else if (at != MAP_NONE && x->procs[at].has_codes) {
		f.kind = FRAME_STUB;
	}
	return f;
}

uint64_t names_offset(struct names *x, const struct frame *f, uint64_t time_ns)
{
	const struct name_symbol *s;
	const struct name_stub *stub;
	const struct name_code *code;
	uint32_t at;

	switch (f->kind) {
	case FRAME_NATIVE:
	case FRAME_KERNEL:
		at = map_get(&x->module_of, f->module);
		s = at == MAP_NONE ? NULL : find_symbol(&x->modules[at], f->off);
		return f->off - (s ? s->off : 0);
	case FRAME_JIT:
		code = find_code(x, f);
		return f->addr - (code ? code->addr : 0);
	case FRAME_ANON:
	case FRAME_STUB:
		stub = stub_of(x, f, time_ns);
		return f->addr - (stub ? stub->addr : 0);
	default:
		return 0;
	}
}

/*
 * Get the range of code. Of a compilation the trace may have all code, or the addresses that samples hit. If
 * the bytes are known, they are the range, else these addresses are.
 */
static void code_range(struct names *x, const struct name_code *code, uint64_t addr, struct name_range *r)
{
	uint32_t at = map_get(&x->code_of, names_pair(code->proc, code->compile_id));
	uint64_t end = code->addr + code->size;

	r->code = code - x->codes;
	r->start = code->addr;
	for (at = at == MAP_NONE ? 0 : at + 1; at; at = x->codes[at - 1].next) {
		const struct name_code *c = &x->codes[at - 1];

		if (c->bytes && addr - c->bytes_addr < c->nr_bytes) {
			r->code = at - 1;
			r->start = c->bytes_addr;
			r->size = c->nr_bytes;
			return;
		}
		if (code->size > 1 || c->size > 1)
			continue;
		if (c->addr < r->start)
			r->code = at - 1;
		r->start = MIN(r->start, c->addr);
		end = MAX(end, c->addr + 1);
	}
	r->size = end - r->start;
}

bool names_range(struct names *x, const struct frame *f, struct name_range *r)
{
	const struct name_symbol *s;
	const struct name_code *code;

	*r = (struct name_range){ .module = MAP_NONE, .code = MAP_NONE };
	switch (f->kind) {
	case FRAME_NATIVE:
	case FRAME_KERNEL:
		r->module = map_get(&x->module_of, f->module);
		s = r->module == MAP_NONE ? NULL : find_symbol(&x->modules[r->module], f->off);
		if (s) {
			r->start = s->off;
			r->size = s->size;
		}
		return s;
	case FRAME_JIT:
		code = find_code(x, f);
		if (code)
			code_range(x, code, f->addr, r);
		return code;
	default:
		return false;
	}
}

uint32_t names_whole_function(struct names *x, uint32_t consumer, uint32_t kind)
{
	struct consumer c = x->m->consumers.items[consumer];
	static const char *const marks[] = { " [clone .cold", ".cold", NULL };
	const char *name = model_str(x->m, c.name);
	size_t len = len_before(name, marks);

	if (!kind_is(kind, KIND_NATIVE) || !name[len])
		return consumer;
	buf_reset(&x->name);	/* the table may move what it is given */
	buf_add(&x->name, name, len);
	c.name = strtab_add(&x->m->consumers.names, x->name.data, len);
	c.kind = kind;
	c.key = 0;
	add_level(x, &c, 0);
	return x->levels[x->nr_levels - 1].consumer;
}

uint32_t names_line(struct names *x, const struct frame *f)
{
	uint32_t at;

	if (f->kind != FRAME_NATIVE && f->kind != FRAME_KERNEL)
		return 0;
	at = map_get(&x->lines_of, hash_pair(f->module, f->off));
	return at == MAP_NONE || !x->places[at].nr ? 0 : x->lines[x->places[at].first].line;
}
