// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * read_names.c - stacks, functions and threads of a JFR file as a trace has them.
 *
 * The format knows methods of classes only.  async-profiler and arcprof write a native function as a
 * native method (0x100) with a descriptor that Java cannot have: "()L;", "(Lk;)L;" of the kernel, and of
 * arcprof (write_pools.c) one with parameters.
 */
#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "flow/consumer.h"
#include "formats/jfr/read.h"

enum { MODIFIER_NATIVE = 0x100, KIND_SHIFT = 16, MAX_FRAMES = 65536 };

/* The modifiers of a method of ours tell its kind in place of its frames: write.h. */
static const uint8_t method_kinds[] = {
	[1] = FUNCTION_JAVA, FUNCTION_STUB, FUNCTION_UNRESOLVED, FUNCTION_ANY, FUNCTION_MARK, FUNCTION_REASON,
	FUNCTION_WAIT_FILE,
};

static const struct { const char *name; uint8_t kind; } frame_types[] = {
	{ "Interpreted", FUNCTION_JAVA_INTERPRETED }, { "JIT compiled", FUNCTION_JAVA_COMPILED },
	{ "C1 compiled", FUNCTION_JAVA_COMPILED }, { "Inlined", FUNCTION_JAVA_INLINED },
	{ "Native", FUNCTION_NATIVE }, { "C++", FUNCTION_NATIVE }, { "Kernel", FUNCTION_KERNEL },
	{ "Stub", FUNCTION_STUB }, { "Unresolved", FUNCTION_UNRESOLVED }, { "Folded", FUNCTION_ANY },
	{ "Mark", FUNCTION_MARK },
};

static void jfr_put_text(struct buf *b, struct import_text t)
{
	buf_add(b, t.s, t.len);
}

static struct import_text jfr_text_of(const struct buf *b)
{
	return (struct import_text){ b->len ? b->data : "", b->len };
}

/* Count text that was made of texts of the file: many names may refer to a long one. */
static void count_text(struct jfr_chunk *c, size_t len)
{
	if (c->left->text_bytes < len)
		c->left->exceeded = true;
	c->left->text_bytes -= MIN(c->left->text_bytes, (uint64_t)len);
}

/* ---- classes ---- */

/* "[Ljava/lang/String;" is java.lang.String[], "[B" byte[]; the address of a hidden class keeps its slash. */
static void put_class(struct buf *b, struct import_text t)
{
	static const char letters[] = "ZBCSIJFD";
	static const char *const names[] = { "boolean", "byte", "char", "short", "int", "long", "float", "double" };
	size_t dimensions = 0, i;
	const char *letter;

	while (dimensions < t.len && t.s[dimensions] == '[')
		dimensions++;
	t.s += dimensions;
	t.len -= dimensions;
	letter = dimensions && t.len == 1 ? memchr(letters, t.s[0], strlen(letters)) : NULL;
	if (letter)
		buf_str(b, names[letter - letters]);
	if (dimensions && t.len > 2 && t.s[0] == 'L' && t.s[t.len - 1] == ';') {
		t.s++;
		t.len -= 2;
	}
	for (i = 0; i < t.len && !letter; i++)
		buf_putc(b, t.s[i] == '/' && !(i + 2 < t.len && t.s[i + 1] == '0' && t.s[i + 2] == 'x') ?
			 '.' : t.s[i]);
	for (; dimensions; dimensions--)
		buf_str(b, "[]");
}

/* ---- methods ---- */

static enum function_kind frame_kind(struct jfr_chunk *c, const struct jfr_values *frame)
{
	struct import_text t = jfr_text(c, frame, JFR_TYPE);
	struct jfr_values method;
	uint64_t kind;
	size_t i;

	kind = jfr_lookup(c, frame, JFR_METHOD, &method) ? jfr_num(&method, JFR_MODIFIERS) >> KIND_SHIFT : 0;
	if (kind && kind < ARRAY_SIZE(method_kinds))
		return method_kinds[kind];
	for (i = 0; i < ARRAY_SIZE(frame_types); i++)
		if (jfr_is(&t, frame_types[i].name))
			return frame_types[i].kind;
	return FUNCTION_JAVA;
}

/* Append the parameters and what follows them, "(int) const", if the descriptor has them. */
static void put_parameters(struct buf *b, struct import_text d)
{
	size_t end = d.len, i, from;
	bool first = true;

	while (end && d.s[end - 1] != ')')
		end--;
	if (end + 3 > d.len)		/* ")L;": a name without parameters */
		return;
	buf_putc(b, '(');
	for (i = from = 1; i + 1 < end; i++)
		if (d.s[i] == ';') {
			buf_str(b, first ? "" : ", ");
			buf_add(b, d.s + from + 1, i - from - 1);
			first = false;
			from = i + 1;
		}
	buf_putc(b, ')');
	if (d.len - end > 3 || d.s[end + 1] != ' ')
		buf_add(b, d.s + end + 1, d.len - end - 2);
}

static bool is_native_descriptor(struct import_text d)
{
	size_t end = d.len;

	while (end && d.s[end - 1] != ')')
		end--;
	return end > 1 && d.s[0] == '(' && end + 2 <= d.len && d.s[end] == 'L' && d.s[d.len - 1] == ';' &&
		(d.s[end + 1] == ';' || d.s[end + 1] == ' ');
}

static void name_java(struct jfr_chunk *c, const struct jfr_values *method, struct import_text class,
		      struct import_function *f)
{
	struct import_text name = jfr_text(c, method, JFR_NAME);
	const char *dollar;

	buf_reset(&c->name);
	put_class(&c->name, class);
	buf_reset(&c->part);
	dollar = memchr(jfr_text_of(&c->name).s, '$', c->name.len);
	/* the format has no source file: where the class is, is as much as is known */
	buf_add(&c->part, c->name.data ? c->name.data : "", dollar && dollar > c->name.data ?
		(size_t)(dollar - c->name.data) : c->name.len);
	if (c->name.len && name.len)
		buf_putc(&c->name, '.');
	jfr_put_text(&c->name, name);
	f->file = jfr_text_of(&c->part);
}

static void name_native(struct jfr_chunk *c, const struct jfr_values *method, const struct jfr_values *class,
			struct import_text class_name, struct import_function *f)
{
	struct jfr_values package, module;
	bool in_file = kind_is(consumer_kind_of(f->kind), KIND_NATIVE) || f->kind == FUNCTION_KERNEL;

	buf_reset(&c->name);
	jfr_put_text(&c->name, jfr_text(c, method, JFR_NAME));
	put_parameters(&c->name, jfr_text(c, method, JFR_DESCRIPTOR));
	if (jfr_lookup(c, class, JFR_PACKAGE, &package) && jfr_lookup(c, &package, JFR_MODULE, &module))
		f->module = jfr_text(c, &module, JFR_LOCATION);
	else if (in_file)
		f->module = class_name;
}

static uint32_t read_function(struct jfr_chunk *c, struct import *im, const struct jfr_values *frame)
{
	struct import_function f = { .kind = frame_kind(c, frame), .module = { "", 0 }, .file = { "", 0 } };
	struct jfr_values method, class = { .has = 0 };
	struct import_text class_name;
	uint64_t before = c->text.nr_bytes;

	if (!jfr_lookup(c, frame, JFR_METHOD, &method)) {
		f = (struct import_function){ FUNCTION_UNRESOLVED, { "[unknown method]", 16 }, { "", 0 }, { "", 0 } };
		return import_function(im, &f);
	}
	jfr_lookup(c, &method, JFR_TYPE, &class);
	class_name = jfr_text(c, &class, JFR_NAME);
	if ((jfr_num(&method, JFR_MODIFIERS) & MODIFIER_NATIVE) &&
	    is_native_descriptor(jfr_text(c, &method, JFR_DESCRIPTOR))) {
		f.kind = f.kind == FUNCTION_JAVA_INLINED ? FUNCTION_NATIVE_INLINED : f.kind;
		name_native(c, &method, &class, class_name, &f);
	} else {
		f.kind = kind_is(consumer_kind_of(f.kind), KIND_JAVA) ? f.kind : FUNCTION_JAVA;
		name_java(c, &method, class_name, &f);
	}
	if (!c->name.len)
		buf_str(&c->name, "[no name]");
	f.name = jfr_text_of(&c->name);
	count_text(c, c->text.nr_bytes - before + f.name.len + f.file.len + f.module.len);
	return import_function(im, &f);
}

static uint32_t find_function(struct jfr_chunk *c, struct import *im, const struct jfr_values *frame)
{
	uint64_t key = hash_pair(jfr_num(frame, JFR_METHOD), jfr_num(frame, JFR_TYPE));
	uint32_t *at = map_put(&c->functions, key);

	if (*at == MAP_NONE)
		*at = read_function(c, im, frame);
	return *at;
}

/* Return the class of the object that the event is about, 0 if it has none. */
static uint32_t find_class(struct jfr_chunk *c, struct import *im, const struct jfr_values *event)
{
	uint32_t *at = map_put(&c->functions, hash_pair(jfr_num(event, JFR_OBJECT_CLASS), UINT64_MAX));
	struct import_function f = { .kind = FUNCTION_CLASS, .module = { "", 0 }, .file = { "", 0 } };
	uint64_t before = c->text.nr_bytes;
	struct jfr_values class;

	if (*at != MAP_NONE)
		return *at;
	*at = 0;
	if (!jfr_lookup(c, event, JFR_OBJECT_CLASS, &class))
		return 0;
	buf_reset(&c->name);
	put_class(&c->name, jfr_text(c, &class, JFR_NAME));
	f.name = jfr_text_of(&c->name);
	count_text(c, c->text.nr_bytes - before + f.name.len);
	if (f.name.len)
		*at = import_function(im, &f);
	return *at;
}

/* ---- names of all that is in tables ---- */

static struct import_text make_name(struct jfr_chunk *c, const struct jfr_values *v)
{
	struct import_text type = c->types[v->v[JFR_VALUE].field->type].name, name;
	struct import_function f = { .name = { "", 0 } };
	struct jfr_values x, class = { .has = 0 };

	if (jfr_is(&type, "java.lang.Thread")) {
		if (!jfr_lookup(c, v, JFR_VALUE, &x))
			return f.name;
		name = jfr_text(c, &x, JFR_JAVA_NAME);
		return name.len ? name : jfr_text(c, &x, JFR_OS_NAME);
	}
	if (jfr_is(&type, "java.lang.Class")) {
		buf_reset(&c->name);
		if (jfr_lookup(c, v, JFR_VALUE, &x))
			put_class(&c->name, jfr_text(c, &x, JFR_NAME));
	} else if (jfr_is(&type, "jdk.types.Method")) {
		buf_reset(&c->name);
		if (jfr_lookup(c, v, JFR_VALUE, &x)) {
			jfr_lookup(c, &x, JFR_TYPE, &class);
			name_java(c, &x, jfr_text(c, &class, JFR_NAME), &f);
		}
	} else {
		return jfr_text(c, v, JFR_VALUE);
	}
	name = jfr_text_of(&c->name);
	return (struct import_text){ arena_strndup(&c->text, name.s, name.len), name.len };
}

struct import_text jfr_name_of(struct jfr_chunk *c, const struct jfr_field *f, const uint8_t *at,
			       uint64_t number)
{
	struct jfr_values v = { .has = (uint64_t)1 << JFR_VALUE };
	uint32_t *known = map_put(&c->names, hash_pair(number, f->type));
	uint64_t before = c->text.nr_bytes;

	if (*known == MAP_NONE) {
		v.v[JFR_VALUE] = (struct jfr_value){ number, at, f };
		*known = c->nr_name_list;
		VEC_GROW(c->name_list, c->nr_name_list, c->alloc_name_list);
		c->name_list[c->nr_name_list++] = make_name(c, &v);
		count_text(c, c->text.nr_bytes - before);
	}
	return c->name_list[*known];
}

/* ---- stacks ---- */

static void jfr_add_frame(struct jfr_stack *out, struct frame f)
{
	VEC_GROW(out->frames, out->nr_frames, out->alloc_frames);
	out->frames[out->nr_frames++] = f;
}

static void reverse(struct frame *list, size_t nr)
{
	struct frame x;
	size_t i;

	for (i = 0; i < nr / 2; i++) {
		x = list[i];
		list[i] = list[nr - 1 - i];
		list[nr - 1 - i] = x;
	}
}

/* Add the frames, an array in the entry; a mark stands for missing ones. */
static void add_frames(struct jfr_chunk *c, struct import *im, const struct jfr_values *trace,
		       struct jfr_stack *out)
{
	const struct jfr_field *f = trace->v[JFR_FRAMES].field;
	bool marked = false, truncated = jfr_num(trace, JFR_TRUNCATED);
	struct jfr_values frame;
	int32_t line;
	struct span s;
	uint64_t nr;

	if (!jfr_has(trace, JFR_FRAMES) || !f->array || f->pool)
		return;
	s = span_init(trace->v[JFR_FRAMES].at, c->data + c->len - trace->v[JFR_FRAMES].at);
	for (nr = jfr_integer(c, &s, 4); nr && !s.bad && c->left->frames; nr--) {
		jfr_read_struct(c, &s, &c->types[f->type], &frame);
		if (s.bad || out->nr_frames == MAX_FRAMES)
			break;
		c->left->frames--;
		line = jfr_num(&frame, JFR_LINE);
		marked |= truncated && frame_kind(c, &frame) == FUNCTION_MARK;
		jfr_add_frame(out, (struct frame){ FRAME_NAMED, .function = find_function(c, im, &frame),
						   .line = MAX(line, 0) });
	}
	c->left->exceeded |= !c->left->frames;
	if ((truncated && !marked) || nr)
		jfr_add_frame(out, (struct frame){ FRAME_MARK, .mark = MARK_TRUNCATED_DEPTH });
}

/*
 * Return a function that stands for the state of a thread that did not run; 0: it ran, or that is not known.
 * Samples with async-profiler's default state are taken only where threads run.
 */
static uint32_t find_state(struct jfr_chunk *c, struct import *im, const struct jfr_values *event)
{
	static const char start[] = "STATE_";
	struct import_function f = { .kind = FUNCTION_REASON, .module = { "", 0 }, .file = { "", 0 } };
	uint64_t before = c->text.nr_bytes;
	struct import_text state;
	size_t i, nr = strlen(start);
	uint32_t *at;

	if (!jfr_has(event, JFR_STATE))
		return 0;
	at = map_put(&c->functions, hash_pair(jfr_num(event, JFR_STATE), UINT64_MAX - 1));
	if (*at != MAP_NONE)
		return *at;
	*at = 0;
	state = jfr_text(c, event, JFR_STATE);
	if (state.len <= nr || memcmp(state.s, start, nr) || jfr_is(&state, "STATE_RUNNABLE") ||
	    jfr_is(&state, "STATE_DEFAULT"))
		return 0;
	buf_reset(&c->name);
	buf_putc(&c->name, '[');
	for (i = nr; i < state.len; i++)
		buf_putc(&c->name, state.s[i] == '_' ? ' ' : tolower((unsigned char)state.s[i]));
	buf_putc(&c->name, ']');
	f.name = jfr_text_of(&c->name);
	count_text(c, c->text.nr_bytes - before + f.name.len);
	*at = import_function(im, &f);
	return *at;
}

void jfr_read_stack(struct jfr_chunk *c, struct import *im, const struct jfr_values *event,
		    struct jfr_stack *out)
{
	struct jfr_values trace;
	/* stacks of our own have the reason of a wait themselves */
	uint32_t class = 0, state = c->weights[JFR_WALL_WEIGHTS] ? 0 : find_state(c, im, event);

	out->nr_frames = 0;
	out->waits = state;
	if (state)
		jfr_add_frame(out, (struct frame){ FRAME_NAMED, .function = state });
	if (jfr_has(event, JFR_OBJECT_CLASS))
		class = find_class(c, im, event);
	if (class)
		jfr_add_frame(out, (struct frame){ FRAME_NAMED, .function = class });
	if (jfr_lookup(c, event, JFR_STACK, &trace))
		add_frames(c, im, &trace, out);
	reverse(out->frames, out->nr_frames);
}

/* ---- threads ---- */

static uint32_t process_of(struct jfr_chunk *c, struct import *im, const struct jfr_values *thread,
			   uint32_t proc)
{
	struct jfr_values group;

	if (!jfr_lookup(c, thread, JFR_GROUP, &group) || !jfr_num(&group, JFR_PID))
		return proc;
	return import_proc(im, jfr_num(&group, JFR_PID), jfr_text(c, &group, JFR_PROCESS_NAME));
}

uint32_t jfr_read_thread(struct jfr_chunk *c, struct import *im, uint32_t proc,
			 const struct jfr_values *event)
{
	uint32_t *at = map_put(&c->threads, jfr_num(event, JFR_THREAD)), tid;
	uint64_t before = c->text.nr_bytes;
	struct import_text name;
	struct jfr_values t;

	if (*at != MAP_NONE)
		return *at;
	*at = 0;
	if (!jfr_lookup(c, event, JFR_THREAD, &t))
		return 0;
	name = jfr_text(c, &t, JFR_JAVA_NAME);
	if (!name.len)
		name = jfr_text(c, &t, JFR_OS_NAME);
	/* a virtual thread has no number of the kernel's */
	tid = jfr_num(&t, JFR_OS_ID) ? jfr_num(&t, JFR_OS_ID) : jfr_num(&t, JFR_JAVA_ID);
	*at = import_thread(im, process_of(c, im, &t, proc), tid, name);
	count_text(c, c->text.nr_bytes - before + name.len);
	return *at;
}
