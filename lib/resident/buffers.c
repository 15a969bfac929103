// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * buffers.c - see hotspot.h.
 *
 * Source: HotSpot's vmStructs.cpp, which it exports for debuggers; oops/fieldInfo.hpp (JDK 17: six u2 a
 * field; since 21 a stream) and utilities/unsigned5.hpp; java.nio.Bits.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/span.h"
#include "jvm/vmstructs.h"
#include "resident/hotspot.h"

enum { MAX_CLASSES = 1 << 17, MAX_FIELDS = 1 << 10, MAX_STREAM = 1 << 14, NAME = 64 };

enum vm_field {
	GRAPH_HEAD, CLD_NEXT, CLD_KLASSES, KLASS_NEXT, KLASS_NAME, KLASS_MIRROR, CLASS_CONSTANTS,
	CLASS_FIELDS, CLASS_NR_FIELDS, CLASS_STREAM, SYMBOL_LENGTH, SYMBOL_BODY, OOPS_BASE, OOPS_SHIFT,
	VM_NR_FIELDS
};

/* names: NULL where there is one only */
static const struct {
	const char *type, *names[2];
} vm_fields[VM_NR_FIELDS] = {
	[GRAPH_HEAD] = { "ClassLoaderDataGraph", { "_head", NULL } },
	[CLD_NEXT] = { "ClassLoaderData", { "_next", NULL } },
	[CLD_KLASSES] = { "ClassLoaderData", { "_klasses", NULL } },
	[KLASS_NEXT] = { "Klass", { "_next_link", NULL } },
	[KLASS_NAME] = { "Klass", { "_name", NULL } },
	[KLASS_MIRROR] = { "Klass", { "_java_mirror", NULL } },
	[CLASS_CONSTANTS] = { "InstanceKlass", { "_constants", NULL } },
	[CLASS_FIELDS] = { "InstanceKlass", { "_fields", NULL } },
	[CLASS_NR_FIELDS] = { "InstanceKlass", { "_java_fields_count", NULL } },
	[CLASS_STREAM] = { "InstanceKlass", { "_fieldinfo_stream", NULL } },
	[SYMBOL_LENGTH] = { "Symbol", { "_length", NULL } },
	[SYMBOL_BODY] = { "Symbol", { "_body", NULL } },
	[OOPS_BASE] = { "CompressedOops", { "_narrow_oop._base", "_base" } },
	[OOPS_SHIFT] = { "CompressedOops", { "_narrow_oop._shift", "_shift" } },
};

struct vm {
	struct vmstructs tables;
	bool compressed;
	uint64_t at[VM_NR_FIELDS];	/* offset, or address of a static field */
	bool has[VM_NR_FIELDS];
	uint64_t constants_bytes;	/* sizeof(ConstantPool): its entries follow */
};

static bool buffers_get(const struct vm *v, uint64_t addr, void *to, size_t bytes)
{
	return vmstructs_get(&v->tables, addr, to, bytes);
}

static uint64_t buffers_word(const struct vm *v, uint64_t addr)
{
	return vmstructs_word(&v->tables, addr);
}

static uint32_t half(const struct vm *v, uint64_t addr)
{
	return vmstructs_half(&v->tables, addr);
}

static void buffers_take_field(void *ctx, const struct vmstructs_entry *e)
{
	struct vm *v = ctx;
	int i, k;

	for (i = 0; i < VM_NR_FIELDS; i++)
		for (k = 0; k < 2; k++)
			if (!v->has[i] && vm_fields[i].names[k] && !strcmp(e->type, vm_fields[i].type) &&
			    !strcmp(e->field, vm_fields[i].names[k])) {
				v->has[i] = true;
				v->at[i] = e->value;
			}
}

static void take_type(void *ctx, const struct vmstructs_entry *e)
{
	struct vm *v = ctx;

	if (!strcmp(e->type, "ConstantPool"))
		v->constants_bytes = e->value;
}

static bool buffers_find_fields(struct vm *v)
{
	int i;

	if (!vmstructs_each(&v->tables, VMSTRUCTS_FIELDS, buffers_take_field, v) ||
	    !vmstructs_each(&v->tables, VMSTRUCTS_TYPES, take_type, v))
		return false;
	for (i = 0; i < VM_NR_FIELDS; i++)
		if (!v->has[i] && i != CLASS_FIELDS && i != CLASS_NR_FIELDS && i != CLASS_STREAM)
			return false;
	return v->constants_bytes &&
	       (v->has[CLASS_STREAM] || (v->has[CLASS_FIELDS] && v->has[CLASS_NR_FIELDS]));
}

/* ---- classes ---- */

static bool is_symbol(const struct vm *v, uint64_t symbol, const char *text)
{
	size_t len = strlen(text);
	char there[NAME];
	uint16_t n;

	return symbol && buffers_get(v, symbol + v->at[SYMBOL_LENGTH], &n, sizeof(n)) && n == len &&
	       buffers_get(v, symbol + v->at[SYMBOL_BODY], there, len) && !memcmp(there, text, len);
}

struct classes {
	uint64_t bits, atomic_long;	/* 0: not loaded */
};

/* Find the classes of the boot loader, the oldest of all loaders. Returns false if the list does not end. */
static bool find_classes(const struct vm *v, struct classes *c)
{
	uint64_t loader = buffers_word(v, v->at[GRAPH_HEAD]), klass, next, name;
	int i;

	for (i = 0; i < MAX_CLASSES && (next = buffers_word(v, loader + v->at[CLD_NEXT])); i++)
		loader = next;
	klass = buffers_word(v, loader + v->at[CLD_KLASSES]);
	for (; klass && i < MAX_CLASSES && !(c->bits && c->atomic_long); i++) {
		name = buffers_word(v, klass + v->at[KLASS_NAME]);
		if (is_symbol(v, name, "java/nio/Bits"))
			c->bits = klass;
		else if (is_symbol(v, name, "java/util/concurrent/atomic/AtomicLong"))
			c->atomic_long = klass;
		klass = buffers_word(v, klass + v->at[KLASS_NEXT]);
	}
	return i < MAX_CLASSES && c->atomic_long;
}

/* Read UNSIGNED5: digits of base 64, low ones first, all but the last of which are 191 or more. */
static uint32_t unsigned5(struct span *s)
{
	enum { LOW = 191 };
	uint32_t sum = 0, digit;
	int i;

	for (i = 0; i < 5; i++) {
		digit = (uint32_t)span_u8(s) - 1;
		sum += digit << (6 * i);
		if (s->bad || digit < LOW)
			break;
	}
	return sum;
}

bool buffers_field_in_stream(const uint8_t *stream, size_t len, bool (*is_it)(void *ctx, uint32_t name),
			     void *ctx, uint32_t *offset)
{
	enum { INITIALIZED = 1 << 0, GENERIC = 1 << 2, CONTENDED = 1 << 4 };
	struct span s = span_init(stream, len);
	uint32_t nr = unsigned5(&s), name, flags, i;

	unsigned5(&s);		/* injected ones, which follow */
	for (i = 0; i < nr && !s.bad; i++) {
		name = unsigned5(&s);
		unsigned5(&s);
		*offset = unsigned5(&s);
		unsigned5(&s);
		flags = unsigned5(&s);
		if (flags & INITIALIZED)
			unsigned5(&s);
		if (flags & GENERIC)
			unsigned5(&s);
		if (flags & CONTENDED)
			unsigned5(&s);
		if (!s.bad && is_it(ctx, name))
			return true;
	}
	return false;
}

struct wanted {
	const struct vm *v;
	uint64_t constants;
	const char *name;
};

static bool buffers_is_wanted(void *ctx, uint32_t name)
{
	const struct wanted *w = ctx;

	/* a constant may have a mark in its low bits */
	return is_symbol(w->v, buffers_word(w->v, w->constants + w->v->constants_bytes + name * 8ull) & ~7ull,
			 w->name);
}

/*
 * Return the offset of that field in an object, or of a static one in the class's mirror; 0: there is none.
 */
static uint32_t offset_of(const struct vm *v, uint64_t klass, const char *name)
{
	struct wanted w = { v, buffers_word(v, klass + v->at[CLASS_CONSTANTS]), name };
	uint64_t list = buffers_word(v, klass + v->at[v->has[CLASS_STREAM] ? CLASS_STREAM : CLASS_FIELDS]);
	uint8_t stream[MAX_STREAM];
	uint32_t offset = 0, len, i;
	uint16_t nr, f[6];		/* flags, name, signature, value, offset in two */

	if (v->has[CLASS_STREAM]) {
		len = half(v, list);
		if (!len || len > sizeof(stream) || !buffers_get(v, list + 4, stream, len) ||
		    !buffers_field_in_stream(stream, len, buffers_is_wanted, &w, &offset))
			return 0;
		return offset;
	}
	if (!buffers_get(v, klass + v->at[CLASS_NR_FIELDS], &nr, sizeof(nr)))
		return 0;
	for (i = 0; i < MIN((uint32_t)nr, (uint32_t)MAX_FIELDS); i++)
		if (buffers_get(v, list + 4 + i * sizeof(f), f, sizeof(f)) && buffers_is_wanted(&w, f[1]))
			return ((uint32_t)f[5] << 16 | f[4]) >> 2;
	return 0;
}

/* ---- counts ---- */

/* Return the object in a static field of the class; 0: there is none. */
static uint64_t object_at(const struct vm *v, uint64_t klass, uint32_t field)
{
	uint64_t mirror = buffers_word(v, buffers_word(v, klass + v->at[KLASS_MIRROR])), object;

	if (!v->compressed)
		return buffers_word(v, mirror + field);
	object = half(v, mirror + field);
	return object ? buffers_word(v, v->at[OOPS_BASE]) + (object << (half(v, v->at[OOPS_SHIFT]) & 63)) : 0;
}

/* Read a static AtomicLong: what is read of an object counts if it has not moved meanwhile. */
static bool counter(const struct vm *v, const struct classes *c, const char *name, uint64_t *value)
{
	uint32_t field = offset_of(v, c->bits, name), at = offset_of(v, c->atomic_long, "value");
	uint64_t object;
	int turn;

	if (!field || !at)
		return false;
	for (turn = 0; turn < 3; turn++) {
		*value = 0;
		object = object_at(v, c->bits, field);
		if (!object)		/* the class has not been used yet */
			return true;
		if (buffers_get(v, object + at, value, sizeof(*value)) &&
		    object_at(v, c->bits, field) == object)
			return *value <= INT64_MAX;
	}
	return false;
}

static uint64_t find_libjvm(const struct smaps *s)
{
	static const char name[] = "/libjvm.so";
	size_t i, len;

	for (i = 0; i < s->nr; i++) {
		len = strlen(s->items[i].name);
		if (!s->items[i].offset && len >= sizeof(name) &&
		    !strcmp(s->items[i].name + len - (sizeof(name) - 1), name))
			return s->items[i].start;
	}
	return 0;
}

static const char *buffers_read_all(struct vm *v, int pid, const struct smaps *s, struct buffers *b)
{
	uint64_t libjvm = find_libjvm(s), magic;
	struct classes c = { 0 };

	if (!libjvm)
		return "no libjvm.so is mapped";
	v->tables.pid = pid;
	if (!buffers_get(v, libjvm, &magic, sizeof(magic)))
		return "the process's memory may not be read (kernel.yama.ptrace_scope)";
	if (!vmstructs_at(&v->tables, pid, libjvm) || !buffers_find_fields(v) || !find_classes(v, &c))
		return "the classes of this JVM cannot be read";
	if (c.bits && (!counter(v, &c, "COUNT", &b->nr) || !counter(v, &c, "TOTAL_CAPACITY", &b->bytes)))
		return "java.nio.Bits cannot be read";
	return "";
}

void buffers_read(int pid, const struct smaps *s, const char *vm, struct buffers *b)
{
	struct vm v = { .compressed = strstr(vm, "compressed oops") };
	const char *why;

	*b = (struct buffers){ 0 };
	if (!*vm)
		why = "the JVM was not asked";
	else if (strstr(vm, " z gc") || strstr(vm, "shenandoah"))
		why = "its collector moves objects while they are read";
	else
		why = buffers_read_all(&v, pid, s, b);
	if (*why)
		*b = (struct buffers){ 0 };
	snprintf(b->why, sizeof(b->why), "%s", why);
}
