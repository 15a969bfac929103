// SPDX-License-Identifier: MIT
/*
 * types.c - what each instruction does to the types (JVMS 6.5).
 *
 * Most instructions take a fixed number of words and leave at most one value: a table says
 * which. The others are functions below.
 */
#include "classfile/types.h"

bool types_init(struct types *t, const struct code *c, struct scratch *s)
{
	memset(t, 0, sizeof(*t));
	t->code = c;
	t->stack = scratch_get(s, c->max_stack * sizeof(t->stack[0]));
	t->locals = scratch_get(s, c->max_locals * sizeof(t->locals[0]));
	return t->stack && t->locals;
}

void types_copy(struct types *to, const struct types *from)
{
	memcpy(to->stack, from->stack, from->nr_stack * sizeof(to->stack[0]));
	memcpy(to->locals, from->locals, from->nr_locals * sizeof(to->locals[0]));
	to->nr_stack = from->nr_stack;
	to->nr_locals = from->nr_locals;
	to->uninit_this = from->uninit_this;
}

static bool is_wide(uint32_t tag)
{
	return tag == TYPE_LONG || tag == TYPE_DOUBLE;
}

bool types_push(struct types *t, uint32_t tag, uint32_t ref)
{
	if (t->nr_stack + is_wide(tag) >= t->code->max_stack)
		return false;
	t->stack[t->nr_stack++] = (struct type){ tag, ref };
	if (is_wide(tag))
		t->stack[t->nr_stack++] = (struct type){ TYPE_SECOND, 0 };
	return true;
}

static bool types_pop(struct types *t, uint32_t nr_words)
{
	if (t->nr_stack < nr_words)
		return false;
	t->nr_stack -= nr_words;
	return true;
}

bool types_append_local(struct types *t, struct type type)
{
	if (t->nr_locals + is_wide(type.tag) >= t->code->max_locals)
		return false;
	t->locals[t->nr_locals++] = type;
	if (is_wide(type.tag))
		t->locals[t->nr_locals++] = (struct type){ TYPE_SECOND, 0 };
	return true;
}

/*
 * Return the type that a descriptor starts with; *len becomes its length, 0 if there is none. The tag of void
 * is TYPE_TOP.
 */
static struct type descriptor_type(const struct code *c, const char *d, size_t max, size_t *len)
{
	struct type type = { TYPE_DESCRIPTOR, (uint32_t)((uintptr_t)d - (uintptr_t)c->file) };
	size_t n = 0;

	*len = 0;
	while (n < max && d[n] == '[')
		n++;
	if (n >= max)
		return type;
	if (d[n] == 'L')
		while (n < max && d[n] != ';')
			n++;
	if (n >= max)
		return type;
	*len = n + 1;
	if (d[0] == 'L' || d[0] == '[')
		return type;
	type.ref = 0;
	type.tag = d[0] == 'J' ? TYPE_LONG : d[0] == 'D' ? TYPE_DOUBLE : d[0] == 'F' ? TYPE_FLOAT :
		   d[0] == 'V' ? TYPE_TOP : TYPE_INT;
	return type;
}

static bool push_descriptor(struct types *t, const char *d, size_t max)
{
	size_t len;
	struct type type = descriptor_type(t->code, d, max, &len);

	return len && (type.tag == TYPE_TOP || types_push(t, type.tag, type.ref));
}

/* Return how many words a field of this type takes, or a method's arguments; -1: invalid descriptor. */
static int32_t descriptor_words(const struct code *c, struct classfile_text d)
{
	int32_t words = 0;
	size_t at = 0, len;
	bool is_method = d.len && d.p[0] == '(';

	for (at = is_method; at < d.len && d.p[at] != ')'; at += len) {
		struct type type = descriptor_type(c, d.p + at, d.len - at, &len);

		if (!len)
			return -1;
		words += 1 + is_wide(type.tag);
		if (!is_method)
			return words;
	}
	return is_method && at < d.len ? words : -1;
}

static bool push_result(struct types *t, struct classfile_text d)
{
	size_t at = 0;

	while (at < d.len && d.p[at] != ')')
		at++;
	return at + 1 < d.len && push_descriptor(t, d.p + at + 1, d.len - at - 1);
}

bool types_enter(struct types *t)
{
	struct classfile_text d = t->code->descriptor;
	bool uninit = t->code->is_constructor;
	struct type this = { uninit ? TYPE_UNINIT_THIS : TYPE_OBJECT, uninit ? 0 : t->code->this_class };
	size_t at, len;

	t->nr_stack = t->nr_locals = 0;
	t->uninit_this = uninit;
	if (!t->code->is_static && !types_append_local(t, this))
		return false;
	for (at = 1; at < d.len && d.p[at] != ')'; at += len) {
		struct type type = descriptor_type(t->code, d.p + at, d.len - at, &len);

		if (!len || !types_append_local(t, type))
			return false;
	}
	return d.len && d.p[0] == '(' && at < d.len;
}

static bool types_load(struct types *t, uint32_t n)
{
	struct type type = n < t->nr_locals ? t->locals[n] : (struct type){ TYPE_TOP, 0 };

	return types_push(t, type.tag, type.ref);
}

static bool store(struct types *t, uint32_t n, uint32_t nr_words)
{
	uint32_t i;

	if (n + nr_words > t->code->max_locals || !types_pop(t, nr_words))
		return false;
	while (t->nr_locals < n + nr_words)
		t->locals[t->nr_locals++] = (struct type){ TYPE_TOP, 0 };
	/* Half of a long or double that is written over leaves nothing. */
	if (n && t->locals[n].tag == TYPE_SECOND)
		t->locals[n - 1] = (struct type){ TYPE_TOP, 0 };
	if (n + nr_words < t->nr_locals && t->locals[n + nr_words].tag == TYPE_SECOND)
		t->locals[n + nr_words] = (struct type){ TYPE_TOP, 0 };
	for (i = 0; i < nr_words; i++)
		t->locals[n + i] = t->stack[t->nr_stack + i];
	return true;
}

static bool is_wide_store(uint32_t kind)	/* int, long, float, double, reference */
{
	return kind == 1 || kind == 3;
}

static bool load_or_store(struct types *t, uint32_t op, uint32_t n)
{
	static const uint8_t tags[] = { TYPE_INT, TYPE_LONG, TYPE_FLOAT, TYPE_DOUBLE };

	if (op >= OP_ISTORE && op <= OP_ASTORE)
		return store(t, n, 1 + is_wide_store(op - OP_ISTORE));
	return op == OP_ALOAD ? types_load(t, n) : types_push(t, tags[op - OP_ILOAD], 0);
}

/* Copy nr_words from the top below the next nr_under. */
static bool dup(struct types *t, uint32_t nr_words, uint32_t nr_under)
{
	uint32_t nr = nr_words + nr_under, i;
	struct type *top;

	if (t->nr_stack < nr || t->nr_stack + nr_words > t->code->max_stack)
		return false;
	top = t->stack + t->nr_stack;
	for (i = 1; i <= nr; i++)
		top[(int)nr_words - (int)i] = top[-(int)i];
	for (i = 1; i <= nr_words; i++)
		top[-(int)nr_under - (int)i] = top[(int)nr_words - (int)i];
	t->nr_stack += nr_words;
	return true;
}

static bool swap(struct types *t)
{
	struct type top;

	if (t->nr_stack < 2)
		return false;
	top = t->stack[t->nr_stack - 1];
	t->stack[t->nr_stack - 1] = t->stack[t->nr_stack - 2];
	t->stack[t->nr_stack - 2] = top;
	return true;
}

static bool types_constant(struct types *t, uint32_t idx)
{
	switch (pool_tag(t->code->pool, idx)) {
	case CONSTANT_INTEGER:
		return types_push(t, TYPE_INT, 0);
	case CONSTANT_FLOAT:
		return types_push(t, TYPE_FLOAT, 0);
	case CONSTANT_LONG:
		return types_push(t, TYPE_LONG, 0);
	case CONSTANT_DOUBLE:
		return types_push(t, TYPE_DOUBLE, 0);
	case CONSTANT_STRING:
		return types_push(t, TYPE_KNOWN, KNOWN_STRING);
	case CONSTANT_CLASS:
		return types_push(t, TYPE_KNOWN, KNOWN_CLASS);
	case CONSTANT_METHOD_HANDLE:
		return types_push(t, TYPE_KNOWN, KNOWN_METHOD_HANDLE);
	case CONSTANT_METHOD_TYPE:
		return types_push(t, TYPE_KNOWN, KNOWN_METHOD_TYPE);
	case CONSTANT_DYNAMIC: {
		struct classfile_text d = pool_ref_type(t->code->pool, idx);

		return push_descriptor(t, d.p, d.len);
	}
	}
	return false;
}

static bool field(struct types *t, uint32_t op, uint32_t idx)
{
	struct classfile_text d = pool_ref_type(t->code->pool, idx);
	int32_t words = descriptor_words(t->code, d);

	if (words < 0)
		return false;
	if (op == OP_PUTSTATIC || op == OP_PUTFIELD)
		return types_pop(t, words + (op == OP_PUTFIELD));
	return types_pop(t, op == OP_GETFIELD) && push_descriptor(t, d.p, d.len);
}

/* Give the object that a constructor was called on its type, wherever it is. */
static void initialised(struct types *t, struct type was)
{
	struct type now = { TYPE_OBJECT, t->code->this_class };
	uint32_t i;

	if (was.tag == TYPE_UNINIT_THIS)
		t->uninit_this = false;
	else
		now.ref = be16(t->code->bytes + was.ref + 1);
	for (i = 0; i < t->nr_stack; i++)
		if (t->stack[i].tag == was.tag && t->stack[i].ref == was.ref)
			t->stack[i] = now;
	for (i = 0; i < t->nr_locals; i++)
		if (t->locals[i].tag == was.tag && t->locals[i].ref == was.ref)
			t->locals[i] = now;
}

static bool invoke(struct types *t, uint32_t op, uint32_t idx)
{
	struct classfile_text d = pool_ref_type(t->code->pool, idx);
	int32_t words = descriptor_words(t->code, d);

	if (words < 0 || !types_pop(t, words))
		return false;
	if (op != OP_INVOKESTATIC && op != OP_INVOKEDYNAMIC) {
		struct type on;

		if (!types_pop(t, 1))
			return false;
		on = t->stack[t->nr_stack];
		if (op == OP_INVOKESPECIAL && (on.tag == TYPE_UNINIT || on.tag == TYPE_UNINIT_THIS) &&
		    text_is(pool_ref_name(t->code->pool, idx), "<init>"))
			initialised(t, on);
	}
	return push_result(t, d);
}

/* Push what an array of references holds. */
static bool load_element(struct types *t)
{
	struct type array;
	struct classfile_text name;

	if (!types_pop(t, 2))
		return false;
	array = t->stack[t->nr_stack];
	switch (array.tag) {
	case TYPE_NULL:
		return types_push(t, TYPE_NULL, 0);
	case TYPE_ARRAY_OF:
		return types_push(t, TYPE_OBJECT, array.ref);
	case TYPE_DESCRIPTOR:		/* whose end descriptor_type() has seen */
		if (t->code->file[array.ref] != '[' ||
		    (t->code->file[array.ref + 1] != '[' && t->code->file[array.ref + 1] != 'L'))
			return false;
		return types_push(t, TYPE_DESCRIPTOR, array.ref + 1);
	case TYPE_OBJECT:
		name = pool_class_name(t->code->pool, array.ref);
		return name.len > 1 && name.p[0] == '[' && push_descriptor(t, name.p + 1, name.len - 1);
	}
	return false;
}

static bool new_array(struct types *t, uint32_t type)
{
	static const char letters[] = "ZCFDBSIJ";

	return type >= 4 && type <= 11 && types_pop(t, 1) &&
	       types_push(t, TYPE_PRIMITIVE_ARRAY, letters[type - 4]);
}

static bool stack_insn(struct types *t, uint32_t op)
{
	switch (op) {
	case OP_DUP:
		return dup(t, 1, 0);
	case OP_DUP_X1:
		return dup(t, 1, 1);
	case OP_DUP_X2:
		return dup(t, 1, 2);
	case OP_DUP2:
		return dup(t, 2, 0);
	case OP_DUP2_X1:
		return dup(t, 2, 1);
	case OP_DUP2_X2:
		return dup(t, 2, 2);
	}
	return swap(t);
}

/* Step over instructions that the table below has as "?". */
static bool special(struct types *t, uint32_t pc)
{
	const uint8_t *p = t->code->bytes + pc;
	uint32_t op = *p;

	if (op >= OP_ILOAD && op <= OP_ASTORE)
		return op == OP_AALOAD			     ? load_element(t) :
			op >= OP_ALOAD_0 && op <= OP_ALOAD_3 ? types_load(t, op - OP_ALOAD_0) :
							       load_or_store(t, op, p[1]);
	if (op >= OP_ISTORE_0 && op <= OP_ASTORE_3)
		return store(t, (op - OP_ISTORE_0) % 4, 1 + is_wide_store((op - OP_ISTORE_0) / 4));
	if (op >= OP_DUP && op <= OP_SWAP)
		return stack_insn(t, op);
	if (op >= OP_GETSTATIC && op <= OP_PUTFIELD)
		return field(t, op, be16(p + 1));
	if (op >= OP_INVOKEVIRTUAL && op <= OP_INVOKEDYNAMIC)
		return invoke(t, op, be16(p + 1));
	switch (op) {
	case OP_LDC:
		return types_constant(t, p[1]);
	case OP_LDC_W:
	case OP_LDC2_W:
		return types_constant(t, be16(p + 1));
	case OP_NEW:
		return types_push(t, TYPE_UNINIT, pc);
	case OP_NEWARRAY:
		return new_array(t, p[1]);
	case OP_ANEWARRAY:
		return types_pop(t, 1) && types_push(t, TYPE_ARRAY_OF, be16(p + 1));
	case OP_CHECKCAST:
		return types_pop(t, 1) && types_push(t, TYPE_OBJECT, be16(p + 1));
	case OP_MULTIANEWARRAY:
		return types_pop(t, p[3]) && types_push(t, TYPE_OBJECT, be16(p + 1));
	case OP_WIDE:
		return p[1] == OP_IINC || p[1] == OP_RET || load_or_store(t, p[1], be16(p + 2));
	}
	return true;	/* jsr: what it pushes, the subroutine takes */
}

/* Words taken and what is left, by the letters of descriptors and N for null. */
static const char effects[][3] = {
	/* 00 constants */	"0", "0N", "0I", "0I", "0I", "0I", "0I", "0I", "0I", "0J", "0J", "0F",
				"0F", "0F", "0D", "0D", "0I", "0I", "?", "?", "?",
	/* 15 loads */		"0I", "0J", "0F", "0D", "?", "0I", "0I", "0I", "0I", "0J", "0J", "0J",
				"0J", "0F", "0F", "0F", "0F", "0D", "0D", "0D", "0D", "?", "?", "?", "?",
	/* 2e from arrays */	"2I", "2J", "2F", "2D", "?", "2I", "2I", "2I",
	/* 36 stores */		"?", "?", "?", "?", "?", "?", "?", "?", "?", "?", "?", "?", "?", "?",
				"?", "?", "?", "?", "?", "?", "?", "?", "?", "?", "?",
	/* 4f into arrays */	"3", "4", "3", "4", "3", "3", "3", "3",
	/* 57 stack */		"1", "2", "?", "?", "?", "?", "?", "?", "?",
	/* 60 arithmetic */	"2I", "4J", "2F", "4D", "2I", "4J", "2F", "4D", "2I", "4J", "2F", "4D",
				"2I", "4J", "2F", "4D", "2I", "4J", "2F", "4D", "1I", "2J", "1F", "2D",
	/* 78 bits */		"2I", "3J", "2I", "3J", "2I", "3J", "2I", "4J", "2I", "4J", "2I", "4J",
	/* 84 iinc */		"0",
	/* 85 conversions */	"1J", "1F", "1D", "2I", "2F", "2D", "1I", "1J", "1D", "2I", "2J", "2F",
				"1I", "1I", "1I",
	/* 94 comparisons */	"4I", "2I", "2I", "4I", "4I",
	/* 99 jumps */		"1", "1", "1", "1", "1", "1", "2", "2", "2", "2", "2", "2", "2", "2",
				"0", "?", "0", "1", "1",
	/* ac returns */	"1", "2", "1", "2", "1", "0",
	/* b2 fields, calls */	"?", "?", "?", "?", "?", "?", "?", "?", "?",
	/* bb objects */	"?", "?", "?", "1I", "1", "?", "1I", "1", "1",
	/* c4 the rest */	"?", "?", "1", "1", "0", "?",
};

bool types_step(struct types *t, uint32_t pc)
{
	uint32_t op = t->code->bytes[pc];
	const char *effect = op < sizeof(effects) / sizeof(effects[0]) ? effects[op] : "?";

	if (effect[0] == '?')
		return special(t, pc);
	if (!types_pop(t, effect[0] - '0'))
		return false;
	switch (effect[1]) {
	case 'I':
		return types_push(t, TYPE_INT, 0);
	case 'J':
		return types_push(t, TYPE_LONG, 0);
	case 'F':
		return types_push(t, TYPE_FLOAT, 0);
	case 'D':
		return types_push(t, TYPE_DOUBLE, 0);
	case 'N':
		return types_push(t, TYPE_NULL, 0);
	}
	return true;
}

/* Return the class of an array of what the Class constant idx names. */
static uint32_t add_array_of(struct pool *pool, uint32_t idx, struct scratch *s)
{
	struct classfile_text name = pool_class_name(pool, idx);
	char *text = scratch_get(s, name.len + 3);
	bool is_array = name.len && name.p[0] == '[';

	if (!text || !name.len)
		return 0;
	text[0] = '[';
	text[1] = 'L';
	memcpy(text + (is_array ? 1 : 2), name.p, name.len);
	text[name.len + 2] = ';';
	return pool_add_class(pool, text, name.len + (is_array ? 1 : 3));
}

uint32_t types_class(const struct types *t, struct type type, struct pool *pool, struct scratch *s)
{
	static const char *const known[] = { "java/lang/String", "java/lang/Class",
					     "java/lang/invoke/MethodHandle",
					     "java/lang/invoke/MethodType", "java/lang/Throwable" };
	const char *d = (const char *)t->code->file + type.ref;
	size_t n = 0;

	switch (type.tag) {
	case TYPE_OBJECT:
		return type.ref;
	case TYPE_KNOWN:
		return pool_add_class(pool, known[type.ref], text_len(known[type.ref]));
	case TYPE_ARRAY_OF:
		return add_array_of(pool, type.ref, s);
	case TYPE_PRIMITIVE_ARRAY:
		return pool_add_class(pool, (const char[]){ '[', (char)type.ref }, 2);
	case TYPE_DESCRIPTOR:		/* its end has been seen by descriptor_type() */
		while (d[n] == '[')
			n++;
		if (d[n] == 'L')
			while (d[n] != ';')
				n++;
		return d[0] == '[' ? pool_add_class(pool, d, n + 1) : pool_add_class(pool, d + 1, n - 1);
	}
	return 0;
}
