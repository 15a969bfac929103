// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * edges.c - can the stacks of a trace be true? Wherever one Java method is shown to call another,
 * the bytecode at the caller's bci must be an invoke of the callee, by name and descriptor, inlined
 * frames included.
 *
 *	edges [-v] [-s <stacks shown>] [-n <wrong samples allowed>] TRACE CLASSES
 *
 * CLASSES is what t/tools/class-dump.c wrote while the trace was recorded. Prints how many samples
 * and calls were looked at and what was found, with -v each wrong call, with -s
 * some of the stacks that have one; the status is 1 when more samples than allowed have one.
 *
 * What can call without an invoke that names the callee is counted apart:
 *	dynamic	invokedynamic, method handles: through java.lang.invoke, or from or to a hidden class
 *	vm	native code or the VM is in between: class initialisers, class loaders, reflection, JNI,
 *		exceptions
 *	unknown	the caller's class was not seen, or the bci of an inlined call is not known
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/strtab.h"
#include "classfile/code.h"
#include "trace/reader.h"

enum verdict { OK, DYNAMIC, VM, UNKNOWN, WRONG, NR_VERDICTS };

static const char *const verdict_names[] = { "ok", "dynamic", "vm", "unknown", "wrong" };

struct method {			/* of the trace */
	uint32_t key;		/* "class.name(descriptor)" in names */
	uint32_t of_class, call;	/* "class" and "name(descriptor)" */
};

struct body {			/* of a class file */
	struct pool *pool;
	const uint8_t *bytes;	/* NULL: it has no code */
	uint32_t len, next;
};

struct blob {			/* compiled code */
	uint64_t addr;
	uint32_t size, level, next;
	const uint8_t *inl;
	size_t inl_len;
};

struct stub {
	uint64_t addr, size;
	uint32_t proc, name;
};

struct place {			/* a Java frame that may be a caller */
	uint32_t method;	/* key; 0: none yet */
	int32_t bci;		/* -1 unknown */
	bool native;		/* native code is above it */
	bool mark;		/* something is missing above it */
};

/* What is known of a stack from its root to a node. */
struct node {
	struct place top;
	uint32_t nr[NR_VERDICTS];
};

static struct {
	struct strtab names;
	struct map methods, bodies, blobs, wrongs;
	struct method *method;
	struct body *body;
	struct blob *blob;
	size_t nr_methods, alloc_methods, nr_bodies, alloc_bodies, nr_blobs, alloc_blobs;
	struct node *nodes;
	size_t nr_nodes, alloc_nodes;
	uint32_t epoch;
	uint64_t nr_samples, nr_java, nr_bad_samples, nr_marked, nr_calls[NR_VERDICTS];
	struct wrong {
		uint32_t caller, callee;
		int32_t bci;
		uint64_t nr;
	} *wrong;
	size_t nr_wrong, alloc_wrong;
	struct stub *stub;
	size_t nr_stubs, alloc_stubs;
	uint32_t nr_shown, max_shown;
} e;

/* --- class files --- */

static void *more(void *ctx, size_t size)
{
	return xmalloc(size);	/* kept to the end */
}

static const struct memory memory = { more, NULL };

static uint32_t text3(const char *a, size_t a_len, const char *b, size_t b_len, const char *c, size_t c_len)
{
	char *text = xasprintf("%.*s%s%.*s%.*s", (int)a_len, a, a_len ? "." : "", (int)b_len, b, (int)c_len,
			       c);
	uint32_t id = strtab_adds(&e.names, text);

	free(text);
	return id;
}

static void read_method(struct reader *r, struct pool *pool, struct classfile_text cls)
{
	struct classfile_text name, type;
	struct body b = { .pool = pool };
	uint32_t nr, *at;

	read16(r);
	name = pool_utf8(pool, read16(r));
	type = pool_utf8(pool, read16(r));
	for (nr = read16(r); nr && !r->bad; nr--) {
		bool is_code = text_is(pool_utf8(pool, read16(r)), "Code");
		struct reader attr = read_part(r, read32(r));

		if (!is_code)
			continue;
		read32(&attr);
		b.len = read32(&attr);
		b.bytes = read_bytes(&attr, b.len);
	}
	at = map_put(&e.bodies, text3(cls.p, cls.len, name.p, name.len, type.p, type.len));
	b.next = *at == MAP_NONE ? 0 : *at + 1;
	*at = e.nr_bodies;
	VEC_GROW(e.body, e.nr_bodies, e.alloc_bodies);
	e.body[e.nr_bodies++] = b;
}

static void read_class(struct reader r)
{
	struct pool *pool = xcalloc(1, sizeof(*pool));
	struct classfile_text cls;
	uint32_t nr, k;

	read32(&r);
	read32(&r);
	if (pool_read(pool, &r, &memory))
		return;
	read16(&r);
	cls = pool_class_name(pool, read16(&r));
	read16(&r);
	read_bytes(&r, 2 * read16(&r));
	for (nr = read16(&r); nr && !r.bad; nr--) {
		read_bytes(&r, 6);
		for (k = read16(&r); k && !r.bad; k--) {
			read16(&r);
			read_bytes(&r, read32(&r));
		}
	}
	for (nr = read16(&r); nr && !r.bad; nr--)
		read_method(&r, pool, cls);
}

static void read_classes(const struct io_map *m)
{
	struct span s = span_init(m->data, m->len);

	while (span_left(&s)) {
		uint32_t len = span_u32(&s);
		const void *bytes = span_bytes(&s, len);

		if (bytes)
			read_class(reader_init(bytes, len));
	}
}

/* --- the trace's metadata --- */

static int on_method(void *ctx, const struct rec_method *r)
{
	uint32_t *at = map_put(&e.methods, hash_pair(r->proc, r->method));
	struct method m = {
		text3(r->class_name, r->class_len, r->name, r->name_len, r->sig, r->sig_len),
		strtab_add(&e.names, r->class_name, r->class_len),
		text3("", 0, r->name, r->name_len, r->sig, r->sig_len),
	};

	*at = e.nr_methods;
	VEC_GROW(e.method, e.nr_methods, e.alloc_methods);
	e.method[e.nr_methods++] = m;
	return 0;
}

static int on_code(void *ctx, const struct rec_code *r)
{
	uint32_t *at = map_put(&e.blobs, hash_pair(r->proc, r->compile_id));
	uint8_t *inl = xmalloc(r->inl_len + 1);

	memcpy(inl, r->inl, r->inl_len);
	VEC_GROW(e.blob, e.nr_blobs, e.alloc_blobs);
	e.blob[e.nr_blobs] = (struct blob){ r->addr, r->size, r->level, *at == MAP_NONE ? 0 : *at + 1, inl,
		r->inl_len };
	*at = e.nr_blobs++;
	return 0;
}

static int on_stub(void *ctx, const struct rec_stub *r)
{
	VEC_GROW(e.stub, e.nr_stubs, e.alloc_stubs);
	e.stub[e.nr_stubs++] = (struct stub){ r->addr, r->size, r->proc,
		strtab_add(&e.names, r->name, r->name_len) };
	return 0;
}

/* --- one call --- */

static const char *text_of(uint32_t id)
{
	return strtab_get(&e.names, id);
}

static bool is_dynamic_class(const char *name)
{
	return !strncmp(name, "java/lang/invoke/", 17) || strstr(name, "+0x") || strstr(name, "/0x") ||
	       strstr(name, ".0x");
}

static bool is_start(const struct body *b, uint32_t bci)
{
	const struct code c = { .bytes = b->bytes, .len = b->len };
	uint32_t pc = 0, len;

	while (pc < bci && (len = insn_len(&c, pc)))
		pc += len;
	return pc == bci;
}

static bool is_polymorphic(struct classfile_text cls)
{
	return text_is(cls, "java/lang/invoke/MethodHandle") || text_is(cls, "java/lang/invoke/VarHandle");
}

/* The class that a field or method reference names; 0: it is none. */
static uint32_t ref_class(const struct pool *p, uint32_t idx)
{
	uint32_t tag = pool_tag(p, idx);

	return tag >= CONSTANT_FIELDREF && tag <= CONSTANT_INTERFACE_METHODREF ? be16(p->at[idx] + 1) : 0;
}

/* What the instruction at bci of a body allows as a callee. */
static enum verdict judge_body(const struct body *b, uint32_t bci, const struct method *callee)
{
	struct classfile_text name, type;
	const uint8_t *p = b->bytes + bci;
	const char *call = text_of(callee->call);
	uint32_t idx;

	if (!b->bytes || !is_start(b, bci) || bci + 3 > b->len || *p < OP_INVOKEVIRTUAL ||
	    *p > OP_INVOKEDYNAMIC)
		return WRONG;
	idx = be16(p + 1);
	if (*p == OP_INVOKEDYNAMIC || is_polymorphic(pool_class_name(b->pool, ref_class(b->pool, idx))))
		return is_dynamic_class(text_of(callee->of_class)) ? DYNAMIC : WRONG;
	name = pool_ref_name(b->pool, idx);
	type = pool_ref_type(b->pool, idx);
	return strlen(call) == name.len + type.len && !memcmp(call, name.p, name.len) &&
	       !memcmp(call + name.len, type.p, type.len) ? OK : WRONG;
}

static enum verdict judge(const struct place *caller, uint32_t callee)
{
	const struct method *from = &e.method[caller->method - 1], *to = &e.method[callee - 1];
	uint32_t at = map_get(&e.bodies, from->key);
	enum verdict v, best = WRONG;

	if (caller->native)
		return VM;
	if (is_dynamic_class(text_of(from->of_class)))
		return DYNAMIC;
	if (at == MAP_NONE || caller->bci < 0)
		return UNKNOWN;
	for (at++; at; at = e.body[at - 1].next) {	/* several loaders may have a class of that name */
		v = judge_body(&e.body[at - 1], caller->bci, to);
		best = MIN(best, v);
	}
	return best;
}

static void note_wrong(uint32_t caller, int32_t bci, uint32_t callee, uint64_t nr)
{
	uint32_t *at = map_put(&e.wrongs, hash_pair(hash_pair(caller, bci), callee));

	if (*at == MAP_NONE) {
		*at = e.nr_wrong;
		VEC_GROW(e.wrong, e.nr_wrong, e.alloc_wrong);
		e.wrong[e.nr_wrong++] = (struct wrong){ caller, callee, bci, 0 };
	}
	e.wrong[*at].nr += nr;
}

static void add_java(struct node *n, uint32_t proc, uint32_t number, int32_t bci)
{
	uint32_t at = map_get(&e.methods, hash_pair(proc, number)), method = at == MAP_NONE ? 0 : at + 1;
	enum verdict v;

	if (method && n->top.method && !n->top.mark) {
		v = judge(&n->top, method);
		n->nr[v]++;
		if (v == WRONG)
			note_wrong(n->top.method, n->top.bci, method, 1);
	}
	n->top = (struct place){ .method = method, .bci = bci };
}

/* --- frames --- */

static const struct blob *find_blob(const struct frame *f)
{
	uint32_t at = map_get(&e.blobs, hash_pair(f->proc, f->compile_id));

	for (at = at == MAP_NONE ? 0 : at + 1; at; at = e.blob[at - 1].next)
		if (f->addr - e.blob[at - 1].addr < e.blob[at - 1].size)
			return &e.blob[at - 1];
	return NULL;
}

/* The frames that compiled code stands for: those at the first described pc after the frame's. */
static void add_compiled(struct node *n, const struct frame *f)
{
	struct { uint64_t method, bci; } list[256];
	const struct blob *c = find_blob(f);
	struct span s = span_init(c ? c->inl : NULL, c ? c->inl_len : 0);
	uint64_t nr_pcs = span_varint(&s), pc = 0, nr = 0, k;

	for (; nr_pcs && !s.bad; nr_pcs--) {
		pc += span_varint(&s);
		nr = span_varint(&s);
		for (k = 0; k < nr && !s.bad; k++) {
			uint64_t method = span_varint(&s), bci = span_varint(&s);

			if (k < ARRAY_SIZE(list))
				list[k].method = method, list[k].bci = bci;
		}
		if (pc > f->addr - c->addr)
			break;
		nr = 0;
	}
	if (s.bad || !nr || nr > ARRAY_SIZE(list) || f->not_inlined) {
		add_java(n, f->proc, f->method, -1);
		return;
	}
	while (nr--)
		add_java(n, f->proc, list[nr].method, (int32_t)list[nr].bci - 1);
}

static void add_frame(struct node *n, const struct frame *f)
{
	switch (f->kind) {
	case FRAME_JIT:
		add_compiled(n, f);
		break;
	case FRAME_INTERP:
		add_java(n, f->proc, f->method, f->bci);
		break;
	case FRAME_MARK:
		n->top.mark = true;
		break;
	case FRAME_STUB:
		break;
	default:
		n->top.native = true;
	}
}

/* --- showing a stack, innermost frame first --- */

static void show_java(uint32_t proc, uint32_t number, const char *how)
{
	uint32_t at = map_get(&e.methods, hash_pair(proc, number));

	printf("\t%s %s\n", how, at == MAP_NONE ? "?" : text_of(e.method[at].key));
}

static void show_stub(const struct frame *f)
{
	size_t i;

	for (i = e.nr_stubs; i--;)
		if (e.stub[i].proc == f->proc && f->addr - e.stub[i].addr < e.stub[i].size)
			break;
	printf("\tstub %s+0x%" PRIx64 "\n", i < e.nr_stubs ? text_of(e.stub[i].name) : "?",
	       i < e.nr_stubs ? f->addr - e.stub[i].addr : f->addr);
}

static void show_frame(const struct frame *f)
{
	const struct blob *b;
	char how[80];

	switch (f->kind) {
	case FRAME_JIT:
		b = find_blob(f);
		snprintf(how, sizeof(how), "compiled at level %u, +0x%" PRIx64 ":", b ? b->level : 0,
			 b ? f->addr - b->addr : f->addr);
		show_java(f->proc, f->method, how);
		break;
	case FRAME_INTERP:
		snprintf(how, sizeof(how), "interpreted, bci %" PRIu64 ":", f->bci);
		show_java(f->proc, f->method, how);
		break;
	case FRAME_STUB:
		show_stub(f);
		break;
	case FRAME_MARK:
		printf("\t%s\n", frame_mark_name(f->mark));
		break;
	case FRAME_NATIVE:
	case FRAME_KERNEL:
		printf("\tnative, module %u +0x%" PRIx64 "\n", f->module, f->off);
		break;
	default:
		printf("\tnative, no module\n");
	}
}

/* Up to the caller that cannot be one, and the first frame without a fault. */
static void show(const struct stack_epoch *ep, uint32_t stack)
{
	bool wrong;

	printf("a stack with a wrong call, innermost first:\n");
	do {
		show_frame(&ep->frames[ep->nodes[stack].frame]);
		wrong = e.nodes[stack].nr[WRONG];
		if (e.nodes[stack].nr[WRONG] != e.nodes[ep->nodes[stack].parent].nr[WRONG])
			printf("\t^ wrong\n");
		stack = ep->nodes[stack].parent;
	} while (wrong && stack);
}

static int on_samples(void *ctx, const struct rec_sample *s, size_t nr, const struct stack_epoch *ep)
{
	size_t i, v;

	if (ep->epoch != e.epoch)
		e.nr_nodes = 0;
	e.epoch = ep->epoch;
	for (; e.nr_nodes < ep->nr_nodes; e.nr_nodes++) {
		const struct stack_node *sn = &ep->nodes[e.nr_nodes];

		VEC_GROW(e.nodes, e.nr_nodes, e.alloc_nodes);
		e.nodes[e.nr_nodes] = sn->parent ? e.nodes[sn->parent] : (struct node){ 0 };
		if (e.nr_nodes)
			add_frame(&e.nodes[e.nr_nodes], &ep->frames[sn->frame]);
	}
	for (i = 0; i < nr; i++) {
		const struct node *n = s[i].stack < e.nr_nodes ? &e.nodes[s[i].stack] : &e.nodes[0];

		e.nr_samples++;
		e.nr_java += n->top.method != 0;
		e.nr_bad_samples += n->nr[WRONG] > 0;
		if (n->nr[WRONG] && e.nr_shown < e.max_shown) {
			e.nr_shown++;
			show(ep, s[i].stack);
		}
		for (v = 0; v < NR_VERDICTS; v++)
			e.nr_calls[v] += n->nr[v];
	}
	return 0;
}

static int by_number(const void *p, const void *q)
{
	const struct wrong *a = p, *b = q;

	return a->nr != b->nr ? (a->nr < b->nr ? 1 : -1) : 0;
}

static void print(bool verbose)
{
	size_t i;

	printf("%" PRIu64 " samples, %" PRIu64 " with Java frames, %" PRIu64 " with a wrong call; calls:",
	       e.nr_samples,
	       e.nr_java, e.nr_bad_samples);
	for (i = 0; i < NR_VERDICTS; i++)
		printf(" %" PRIu64 " %s%s", e.nr_calls[i], verdict_names[i],
		       i + 1 < NR_VERDICTS ? "," : "\n");
	qsort(e.wrong, e.nr_wrong, sizeof(*e.wrong), by_number);
	for (i = 0; verbose && i < e.nr_wrong; i++)
		printf("%8" PRIu64 " stacks: %s at %d calls %s\n", e.wrong[i].nr,
		       text_of(e.method[e.wrong[i].caller - 1].key),
		       e.wrong[i].bci, text_of(e.method[e.wrong[i].callee - 1].key));
}

int main(int argc, char **argv)
{
	const struct trace_sink names = { .method = on_method, .code = on_code, .stub = on_stub },
	samples = { .samples = on_samples };
	struct trace_reader *t;
	struct io_map classes;
	uint64_t allowed = 0;
	bool verbose = false;
	struct err err;
	int c;

	while ((c = getopt(argc, argv, "vn:s:")) != -1) {
		if (c == 'v')
			verbose = true;
		else if (c == 's')
			e.max_shown = strtoul(optarg, NULL, 10);
		else
			allowed = strtoull(optarg ? optarg : "", NULL, 10);
	}
	if (argc - optind != 2) {
		fprintf(stderr, "usage: edges [-v] [-s <stacks>] [-n <samples>] TRACE CLASSES\n");
		return 2;
	}
	strtab_init(&e.names);
	if (io_map(argv[optind + 1], &classes, &err) || trace_reader_open(&t, argv[optind], &err)) {
		fprintf(stderr, "edges: %s\n", err.msg);
		return 2;
	}
	read_classes(&classes);
	if (trace_read(t, &names, NULL, &err) || trace_read(t, &samples, NULL, &err)) {
		fprintf(stderr, "edges: %s\n", err.msg);
		return 2;
	}
	print(verbose);
	return e.nr_bad_samples > allowed;
}
