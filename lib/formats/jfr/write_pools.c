// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * write_pools.c - what events of a JFR file refer to by number: threads, stacks, methods, classes,
 * symbols.
 *
 * A JFR file knows methods of classes only.  For native code the class is the file's name without its
 * folder, the package's module has the whole path and the build-id, and the method has the flag of
 * native ones; async-profiler does the same, so that JMC shows them.  Number 0 is none.
 */
#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "base/quote.h"
#include "formats/jfr/write.h"
#include "model/names.h"
#include "report/export.h"

enum {
	MAX_CHECKPOINT = 1 << 20,	/* bytes; an entry may go beyond */
	MODIFIER_NATIVE = 0x100,
	NONE = UINT32_MAX,		/* -1, as an int: line or bytecode not known */
};

static uint32_t symbol(struct jfr_pools *p, const char *s, size_t len)
{
	buf_reset(&p->text);
	buf_add(&p->text, s, len);
	return strtab_adds(&p->symbols, len ? quote_str(&p->escaped, p->text.data) : "");
}

/* ---- methods ---- */

static void put_build_id(const struct jfr_pools *p, const char *path, struct buf *b)
{
	const struct origin *origin = p->v->origin;
	size_t i;

	for (i = 0; i < origin->nr_modules; i++)
		if (!strcmp(origin->modules[i].path, path))
			buf_hex(b, origin->modules[i].build_id, origin->modules[i].build_id_len);
}

static uint32_t add_module(struct jfr_pools *p, const char *path, uint32_t name)
{
	uint32_t location = symbol(p, path, strlen(path)), *at = map_put(&p->modules, location);
	struct buf id = BUF_INIT;

	if (*at != MAP_NONE)
		return *at;
	put_build_id(p, path, &id);
	VEC_GROW(p->module_list, p->nr_module_list, p->alloc_module_list);
	p->module_list[p->nr_module_list++] =
		(struct jfr_module){ name, symbol(p, id.data ? id.data : "", id.len), location };
	buf_release(&id);
	return *at = p->nr_module_list;
}

static uint32_t add_package(struct jfr_pools *p, uint32_t name, uint32_t module)
{
	uint32_t *at = map_put(&p->packages, names_pair(name, module));

	if (*at != MAP_NONE)
		return *at;
	*VEC_ADD(p->package_list, p->nr_package_list, p->alloc_package_list) =
		(struct jfr_package){ name, module };
	return *at = p->nr_package_list;
}

static uint32_t add_class(struct jfr_pools *p, uint32_t name, uint32_t package, bool native)
{
	uint32_t *at = map_put(&p->classes, names_pair(name, package));

	if (*at != MAP_NONE)
		return *at;
	*VEC_ADD(p->class_list, p->nr_class_list, p->alloc_class_list) =
		(struct jfr_class){ name, package, native };
	return *at = p->nr_class_list;
}

static uint32_t add_method(struct jfr_pools *p, const struct jfr_method *m)
{
	uint32_t *named = map_put(&p->named, names_pair(m->class << JFR_KIND_BITS | m->kind, m->name)), *at;

	if (*named == MAP_NONE)
		*named = p->named.nr;
	at = map_put(&p->methods, names_pair(*named, m->descriptor));
	if (*at != MAP_NONE)
		return *at;
	*VEC_ADD(p->method_list, p->nr_method_list, p->alloc_method_list) = *m;
	return *at = p->nr_method_list;
}

/* ---- Java ---- */

/* Appends "java.lang.Object[][]" as "[[Ljava/lang/Object;", "byte[]" as "[B", others with slashes. */
static void put_class_name(struct buf *b, const char *name, size_t len)
{
	static const char letters[] = "ZBCSIJFD";
	static const char *const primitives[] = {
		"boolean", "byte", "char", "short", "int", "long", "float", "double"
	};
	bool is_array = false;
	size_t i;

	for (; len > 2 && !memcmp(name + len - 2, "[]", 2); len -= 2, is_array = true)
		buf_putc(b, '[');
	for (i = 0; is_array && i < ARRAY_SIZE(primitives); i++)
		if (strlen(primitives[i]) == len && !memcmp(primitives[i], name, len)) {
			buf_putc(b, letters[i]);
			return;
		}
	if (is_array)
		buf_putc(b, 'L');
	for (i = 0; i < len; i++)
		buf_putc(b, name[i] == '.' ? '/' : name[i]);
	if (is_array)
		buf_putc(b, ';');
}

static uint32_t java_class(struct jfr_pools *p, const char *name, size_t len)
{
	struct buf class = BUF_INIT;
	size_t package;
	uint32_t nr;

	put_class_name(&class, name, len);
	for (package = class.len; package && class.data[package - 1] != '/'; package--)
		;
	nr = add_class(p, symbol(p, class.data ? class.data : "", class.len),
		       package ? add_package(p, symbol(p, class.data, package - 1), 0) : 0, false);
	buf_release(&class);
	return nr;
}

uint32_t jfr_class(struct jfr_pools *p, const char *name)
{
	return *name ? java_class(p, name, strlen(name)) : 0;
}

/* Goes past a type of a descriptor; NULL: it is none. */
static const char *skip_type(const char *d)
{
	while (*d == '[')
		d++;
	if (*d == 'L')
		return strchr(d, ';') ? strchr(d, ';') + 1 : NULL;
	return *d && strchr("ZBCSIJFDV", *d) ? d + 1 : NULL;
}

/*
 * Return whether d is a descriptor. Readers parse it and fail at others, such as those of method handles,
 * "(LL)L".
 */
static bool is_descriptor(const char *d)
{
	if (*d++ != '(')
		return false;
	while (d && *d && *d != ')')
		d = skip_type(d);
	d = d && *d == ')' ? skip_type(d + 1) : NULL;
	return d && !*d;
}

/*
 * "java.util.Map.get(Ljava/lang/Object;)V": the class has slashes in the file. A JVM's log has "::" before
 * the name.
 */
static uint32_t java_method(struct jfr_pools *p, const char *name, uint32_t kind)
{
	size_t len = strcspn(name, "("), dot = len, end;
	struct jfr_method m = { .kind = kind };
	bool has_descriptor = is_descriptor(name + len);

	while (dot && name[dot - 1] != '.' && name[dot - 1] != ':')
		dot--;
	end = dot ? dot - 1 : 0;
	if (end && name[end - 1] == ':')
		end--;
	m.name = symbol(p, name + dot, has_descriptor ? len - dot : strlen(name + dot));
	m.descriptor = has_descriptor ? symbol(p, name + len, strlen(name + len)) : symbol(p, "()V", 3);
	m.class = java_class(p, name, end);
	return add_method(p, &m);
}

uint32_t jfr_java_method(struct jfr_pools *p, const char *name)
{
	return *name ? java_method(p, name, JFR_KIND_OF_FRAME) : 0;
}

/* ---- native code ---- */

/* Appends the list of types of C++ as parameters of a descriptor: "Lint;Lchar const*;". */
static void put_parameters(struct buf *b, const char *s, size_t len)
{
	size_t i, from = 0;
	int depth = 0;

	for (i = 0; i <= len; i++) {
		bool ends = i == len || (s[i] == ',' && !depth);

		if (i < len && strchr("(<[", s[i]))
			depth++;
		else if (i < len && strchr(")>]", s[i]))
			depth--;
		if (!ends)
			continue;
		while (from < i && s[from] == ' ')
			from++;
		if (from < i)
			buf_fmt(b, "L%.*s;", (int)(i - from), s + from);
		from = i + 1;
	}
}

/*
 * Return where the parameters of a name begin, as in "Type::name(int, char*) const", and *end where they end;
 * without them both are the name's length.
 */
static size_t find_parameters(const char *name, size_t *end)
{
	size_t len = strlen(name), at;
	int depth = 0;

	for (at = len; at && name[at - 1] != ')'; at--)
		;
	*end = at;
	if (!at || (name[at] && name[at] != ' ') || strchr(name, ';'))
		return len;
	do {
		at--;
		depth += name[at] == ')' ? 1 : name[at] == '(' ? -1 : 0;
	} while (at && depth);
	return at && !depth ? at : len;
}

/* Return the name of a class for what is in no file. */
static const char *class_of_kind(uint32_t kind)
{
	return kind == CONSUMER_STUB ? "stub" : kind == CONSUMER_MARK ? "mark" :
	       kind == CONSUMER_LABEL ? "label" : kind == CONSUMER_FOLDED ? "folded" :
	       kind == CONSUMER_UNRESOLVED ? "unknown" : kind == CONSUMER_REASON ? "wait" :
	       kind == CONSUMER_WAIT_FILE ? "file" : "native";
}

static uint32_t native_class(struct jfr_pools *p, const struct consumer *c)
{
	const char *path = model_str(p->v->m, c->module), *base = path;
	uint32_t name;
	size_t len;

	if (!c->module) {
		base = class_of_kind(c->kind);
		return add_class(p, symbol(p, base, strlen(base)), 0, true);
	}
	base = strrchr(path, '/');
	base = base && base[1] ? base + 1 : path;
	len = strlen(base);
	if (!strcmp(base, "[kernel.kallsyms]"))
		name = symbol(p, "kernel", 6);
	else if (len > 2 && base[0] == '[' && base[len - 1] == ']')
		name = symbol(p, base + 1, len - 2);
	else
		name = symbol(p, base, len);
	return add_class(p, name, add_package(p, symbol(p, "", 0), add_module(p, path, name)), true);
}

static uint32_t native_method(struct jfr_pools *p, const struct consumer *c, uint32_t kind)
{
	const char *name = model_str(p->v->m, c->name);
	struct buf descriptor = BUF_INIT;
	size_t end, len = find_parameters(name, &end);
	struct jfr_method m = { .kind = kind };

	m.class = native_class(p, c);
	m.name = symbol(p, name, len);
	buf_putc(&descriptor, '(');
	if (name[len])
		put_parameters(&descriptor, name + len + 1, end - len - 2);
	/* in place of what it returns, which is not known: whether it has parameters, what follows them */
	buf_fmt(&descriptor, ")L%s;", !name[len] ? "" : name[end] ? name + end : " ");
	m.descriptor = symbol(p, descriptor.data, descriptor.len);
	buf_release(&descriptor);
	return add_method(p, &m);
}

/* ---- frames ---- */

static const uint8_t type_of_kind[CONSUMER_NR] = {
	[CONSUMER_ANY] = JFR_FRAME_NATIVE,
	[CONSUMER_NATIVE] = JFR_FRAME_NATIVE,
	[CONSUMER_NATIVE_INLINED] = JFR_FRAME_INLINED,
	[CONSUMER_KERNEL] = JFR_FRAME_KERNEL,
	[CONSUMER_JAVA] = JFR_FRAME_COMPILED,
	[CONSUMER_JAVA_INTERPRETED] = JFR_FRAME_INTERPRETED,
	[CONSUMER_JAVA_COMPILED] = JFR_FRAME_COMPILED,
	[CONSUMER_JAVA_C1] = JFR_FRAME_C1,
	[CONSUMER_JAVA_C2] = JFR_FRAME_COMPILED,
	[CONSUMER_JAVA_INLINED] = JFR_FRAME_INLINED,
	[CONSUMER_STUB] = JFR_FRAME_NATIVE,
	[CONSUMER_UNRESOLVED] = JFR_FRAME_NATIVE,
	[CONSUMER_FOLDED] = JFR_FRAME_NATIVE,
	[CONSUMER_MARK] = JFR_FRAME_NATIVE,
	[CONSUMER_LABEL] = JFR_FRAME_NATIVE,
	[CONSUMER_CLASS] = JFR_FRAME_NATIVE,
	[CONSUMER_REASON] = JFR_FRAME_NATIVE,
	[CONSUMER_WAIT_FILE] = JFR_FRAME_NATIVE,
};

static uint32_t kind_of_method(uint32_t kind)
{
	return kind == CONSUMER_JAVA ? JFR_KIND_JAVA : kind == CONSUMER_STUB ? JFR_KIND_STUB :
	       kind == CONSUMER_UNRESOLVED ? JFR_KIND_UNRESOLVED : kind == CONSUMER_FOLDED ? JFR_KIND_FOLDED :
	       kind == CONSUMER_MARK ? JFR_KIND_MARK : kind == CONSUMER_REASON ? JFR_KIND_REASON :
	       kind == CONSUMER_WAIT_FILE ? JFR_KIND_FILE : JFR_KIND_OF_FRAME;
}

/* "Thread.java:840", "Thread.java bci 12": lines and bytecodes of what is not known are NONE. */
static void find_line(const char *detail, struct jfr_place *x)
{
	const char *at = strrchr(detail, ':'), *bci = strstr(detail, " bci ");

	x->line = x->bci = NONE;
	if (at && isdigit((unsigned char)at[1]))
		x->line = strtoul(at + 1, NULL, 10);
	else if (bci)
		x->bci = strtoul(bci + strlen(" bci "), NULL, 10);
}

static const struct jfr_place *place(struct jfr_pools *p, uint32_t consumer)
{
	const struct consumer *c = &p->v->m->consumers.items[consumer];
	struct jfr_place *x = &p->places[consumer];
	uint32_t kind = kind_of_method(c->kind);

	if (x->method)
		return x;
	x->type = type_of_kind[c->kind];
	find_line(model_str(p->v->m, c->detail), x);
	x->method = kind_is(c->kind, KIND_JAVA) ? java_method(p, model_str(p->v->m, c->name), kind) :
				       native_method(p, c, kind);
	return x;
}

/* ---- threads ---- */

static uint32_t add_name(struct jfr_pools *p, const char *name)
{
	return strtab_adds(&p->names, quote_str(&p->escaped, name));
}

/* Return the group of a process's threads. */
static uint32_t add_group(struct jfr_pools *p, const struct consumers *c, const struct consumer *process)
{
	struct jfr_group g = { add_name(p, strtab_get(&c->names, process->name)), export_pid(process),
			       add_name(p, strtab_get(&c->names, process->detail)) };
	uint32_t *at = map_put(&p->groups, hash_pair(names_pair(g.pid, g.name), g.labels));

	if (*at == MAP_NONE) {
		*VEC_ADD(p->group_list, p->nr_group_list, p->alloc_group_list) = g;
		*at = p->nr_group_list;
	}
	return *at;
}

uint32_t jfr_thread(struct jfr_pools *p, const struct consumers *c, const struct consumer *process,
		    uint32_t tid, const char *name)
{
	uint32_t group = process ? add_group(p, c, process) : 0, text = add_name(p, name);
	uint32_t *at = map_put(&p->threads, hash_pair(names_pair(group, text), tid));

	if (*at != MAP_NONE)
		return *at;
	*VEC_ADD(p->thread_list, p->nr_thread_list, p->alloc_thread_list) =
		(struct jfr_thread){ text, tid, group, false };
	return *at = p->nr_thread_list;
}

/* Return the number of a thread; process, thread: consumers, 0 for none. */
static uint32_t pool_thread_of(struct jfr_pools *p, uint32_t process, uint32_t thread)
{
	const struct consumers *c = &p->v->m->consumers;
	const struct consumer *t = &c->items[thread ? thread : process];

	return jfr_thread(p, c, process ? &c->items[process] : NULL, export_tid(t),
			  strtab_get(&c->names, t->name));
}

/* Find the thread of each node, and which threads run Java code. */
static void find_threads(struct jfr_pools *p)
{
	const struct model *m = p->v->m;
	uint32_t i, process = 0;

	for (i = flow_next(&m->flow, FLOW_NONE); i; i = flow_next(&m->flow, i)) {
		const struct flow_node *n = &m->flow.nodes[i];
		uint32_t kind = m->consumers.items[n->consumer].kind;

		if (kind == CONSUMER_PROCESS) {
			process = n->consumer;
			p->thread_at[i] = pool_thread_of(p, process, 0);
		} else if (kind == CONSUMER_THREAD) {
			p->thread_at[i] = pool_thread_of(p, n->parent ? process : 0, n->consumer);
		} else {
			p->thread_at[i] = n->parent ? p->thread_at[n->parent] : 0;
		}
		if (p->thread_at[i] && kind_is(kind, KIND_JAVA))
			p->thread_list[p->thread_at[i] - 1].java = true;
	}
}

uint32_t jfr_constant(struct jfr_pools *p, uint32_t type, const char *text)
{
	return *text ? strtab_adds(&p->texts[type - JFR_TEXTS], quote_str(&p->escaped, text)) + 1 : 0;
}

void jfr_pools_init(struct jfr_pools *p, const struct view *v)
{
	size_t i;

	memset(p, 0, sizeof(*p));
	p->v = v;
	strtab_init(&p->symbols);
	strtab_init(&p->names);
	for (i = 0; i < ARRAY_SIZE(p->texts); i++)
		strtab_init(&p->texts[i]);
	p->places = xcalloc(v->m->consumers.nr_items, sizeof(*p->places));
	p->thread_at = xcalloc(v->m->flow.nr_nodes, sizeof(*p->thread_at));
	p->has_stack = xcalloc(v->m->flow.nr_nodes, sizeof(*p->has_stack));
	find_threads(p);
}

void jfr_pools_release(struct jfr_pools *p)
{
	size_t i;

	strtab_release(&p->symbols);
	strtab_release(&p->names);
	for (i = 0; i < ARRAY_SIZE(p->texts); i++)
		strtab_release(&p->texts[i]);
	map_release(&p->modules);
	map_release(&p->packages);
	map_release(&p->classes);
	map_release(&p->named);
	map_release(&p->methods);
	map_release(&p->threads);
	map_release(&p->groups);
	free(p->module_list);
	free(p->package_list);
	free(p->class_list);
	free(p->method_list);
	free(p->places);
	free(p->thread_list);
	free(p->group_list);
	free(p->thread_at);
	free(p->has_stack);
	buf_release(&p->text);
	buf_release(&p->escaped);
}

/* ---- writing ---- */

/* Entries of one table, on their way into one checkpoint event or more. */
struct pool {
	struct jfr_writer *w;
	uint32_t type;
	uint32_t nr;
	struct buf entries;
};

/* Add an entry; its value is to be appended to the result. */
static struct buf *pool_add(struct pool *x, uint64_t number)
{
	x->nr++;
	jfr_put(&x->entries, number);
	return &x->entries;
}

static void pool_flush(struct pool *x)
{
	struct jfr_writer *w = x->w;
	struct buf b = BUF_INIT;
	uint64_t at = w->len;

	if (!x->nr)
		return;
	jfr_put(&b, w->start_ticks);
	jfr_put(&b, 0);				/* duration */
	jfr_put(&b, w->checkpoint ? w->checkpoint - at : 0);	/* to the one before */
	buf_u8(&b, 0);				/* not a flush */
	jfr_put(&b, 1);				/* one table */
	jfr_put(&b, x->type);
	jfr_put(&b, x->nr);
	buf_add(&b, x->entries.data, x->entries.len);
	jfr_write_event(w, JFR_CHECKPOINT, &b);
	w->checkpoint = at;
	x->nr = 0;
	buf_reset(&x->entries);
	buf_release(&b);
}

static void pool_entry_done(struct pool *x)
{
	if (x->entries.len >= MAX_CHECKPOINT)
		pool_flush(x);
}

/* Begin the next table, after the entries of the previous one. */
static void pool_begin(struct pool *x, uint32_t type)
{
	pool_flush(x);
	x->type = type;
}

uint32_t jfr_stack(struct jfr_pools *p, uint32_t node)
{
	if (!node || export_is_root(p->v, p->v->m->flow.nodes[node].consumer))
		return 0;
	p->has_stack[node] = true;
	return node;
}

static void write_stack(struct jfr_pools *p, struct pool *x, uint32_t node)
{
	const struct flow_node *nodes = p->v->m->flow.nodes;
	uint32_t at, nr = 0, truncated = 0;
	struct buf *b = pool_add(x, node);

	for (at = node; at && !export_is_root(p->v, nodes[at].consumer); at = nodes[at].parent) {
		truncated |= p->v->m->consumers.items[nodes[at].consumer].kind == CONSUMER_MARK;
		nr++;
	}
	buf_u8(b, truncated);
	jfr_put(b, nr);
	for (at = node; nr--; at = nodes[at].parent) {
		const struct jfr_place *f = place(p, nodes[at].consumer);

		jfr_put(b, f->method);
		jfr_put(b, f->line);
		jfr_put(b, f->bci);
		jfr_put(b, f->type);
	}
	pool_entry_done(x);
}

static void write_groups(struct jfr_pools *p, struct pool *x)
{
	struct buf name = BUF_INIT, *b;
	size_t i;

	pool_begin(x, JFR_THREAD_GROUP);
	for (i = 0; i < p->nr_group_list; i++) {
		const struct jfr_group *g = &p->group_list[i];

		b = pool_add(x, i + 1);
		jfr_put(b, 0);		/* parent */
		buf_reset(&name);
		buf_str(&name, strtab_get(&p->names, g->name));
		if (g->pid)
			buf_fmt(&name, " [pid %u]", g->pid);
		view_labels(strtab_get(&p->names, g->labels), &name);
		jfr_put_text(b, name.data);
		jfr_put_text(b, strtab_get(&p->names, g->name));
		jfr_put(b, g->pid);
	}
	buf_release(&name);
}

static void write_threads(struct jfr_pools *p, struct pool *x)
{
	struct buf *b;
	size_t i;

	pool_begin(x, JFR_THREAD);
	for (i = 0; i < p->nr_thread_list; i++) {
		const struct jfr_thread *t = &p->thread_list[i];
		const char *text = strtab_get(&p->names, t->name);

		b = pool_add(x, i + 1);
		jfr_put_text(b, text);
		jfr_put(b, t->tid);
		jfr_put_text(b, t->java ? text : NULL);
		jfr_put(b, 0);		/* the number that Java gave it is not known */
		jfr_put(b, t->group);
	}
	write_groups(p, x);
}

static void write_classes(struct jfr_pools *p, struct pool *x)
{
	struct buf *b;
	size_t i;

	pool_begin(x, JFR_METHOD);
	for (i = 0; i < p->nr_method_list; i++) {
		const struct jfr_method *m = &p->method_list[i];

		b = pool_add(x, i + 1);
		jfr_put(b, m->class);
		jfr_put(b, m->name + 1);
		jfr_put(b, m->descriptor + 1);
		jfr_put(b, m->kind << JFR_KIND_SHIFT |
			   (p->class_list[m->class - 1].native ? MODIFIER_NATIVE : 0));
		buf_u8(b, 0);		/* not hidden */
		pool_entry_done(x);
	}
	pool_begin(x, JFR_CLASS);
	for (i = 0; i < p->nr_class_list; i++) {
		b = pool_add(x, i + 1);
		jfr_put(b, 0);		/* class loader */
		jfr_put(b, p->class_list[i].name + 1);
		jfr_put(b, p->class_list[i].package);
		jfr_put(b, 0);		/* modifiers */
		pool_entry_done(x);
	}
	pool_begin(x, JFR_PACKAGE);
	for (i = 0; i < p->nr_package_list; i++) {
		b = pool_add(x, i + 1);
		jfr_put(b, p->package_list[i].name + 1);
		jfr_put(b, p->package_list[i].module);
	}
	pool_begin(x, JFR_MODULE);
	for (i = 0; i < p->nr_module_list; i++) {
		b = pool_add(x, i + 1);
		jfr_put(b, p->module_list[i].name + 1);
		jfr_put(b, p->module_list[i].version ? p->module_list[i].version + 1 : 0);
		jfr_put(b, p->module_list[i].location + 1);
	}
}

/* Numbers in the file are one higher than in the table: there 0 is a string, too. */
static void write_symbols(struct jfr_pools *p, struct pool *x)
{
	size_t i;

	pool_begin(x, JFR_SYMBOL);
	for (i = 0; i < p->symbols.nr_entries; i++) {
		jfr_put_text(pool_add(x, i + 1), p->symbols.entries[i].s);
		pool_entry_done(x);
	}
}

static void write_types(struct pool *x)
{
	static const char *const types[] = JFR_FRAME_TYPES;
	size_t i;

	pool_begin(x, JFR_FRAME_TYPE);
	for (i = 0; i < ARRAY_SIZE(types); i++)
		jfr_put_text(pool_add(x, i), types[i]);
	pool_begin(x, JFR_THREAD_STATE);
	jfr_put_text(pool_add(x, JFR_STATE_RUNNABLE), "STATE_RUNNABLE");
	jfr_put_text(pool_add(x, JFR_STATE_SLEEPING), "STATE_SLEEPING");
	jfr_put_text(pool_add(x, JFR_STATE_DEFAULT), "STATE_DEFAULT");
}

/* Numbers in the file are one higher than in the table, as those of symbols. */
static void write_texts(struct jfr_pools *p, struct pool *x)
{
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(p->texts); i++) {
		pool_begin(x, JFR_TEXTS + i);
		for (k = 0; k < p->texts[i].nr_entries; k++)
			jfr_put_text(pool_add(x, k + 1), p->texts[i].entries[k].s);
	}
}

void jfr_pools_write(struct jfr_pools *p, struct jfr_writer *w)
{
	struct pool x = { .w = w };
	uint32_t node;

	write_threads(p, &x);
	pool_begin(&x, JFR_STACK_TRACE);
	for (node = 1; node < p->v->m->flow.nr_nodes; node++)
		if (p->has_stack[node])
			write_stack(p, &x, node);
	write_classes(p, &x);
	write_symbols(p, &x);
	write_types(&x);
	write_texts(p, &x);
	pool_flush(&x);
	buf_release(&x.entries);
}
