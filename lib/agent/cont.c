// SPDX-License-Identifier: MIT
/*
 * cont.c - copies frozen stack chunks (cont.h).
 *
 * Source: HotSpot's continuationEntry.hpp (the on-stack ContinuationEntry has the Continuation
 * in its second word in JDK 21, in its third in 25), oops/stackChunkOop.hpp and
 * instanceStackChunkKlass.hpp: the frames are words[sp, bottom) behind the object's fields; the
 * innermost one's pc is in words[sp - 1].
 *
 * Called in a signal handler: the chunk may be moved or reused while it is read when the
 * thread is not in Java code, so everything is copied by sys_peek() and checked; walking
 * the copy believes a return address only where code confirms it.
 */
#include "agent/cont.h"
#include "agent/vm.h"

enum { ENTRY_WORDS = 3, MAX_CHUNK_WORDS = 1 << 20, MAX_FIELDS = 128 };

static struct {
	bool ok;
	bool compressed;
	/* ZGC: bits that a good reference has not, and where its address begins */
	const uintptr_t *z_bad, *z_shift;
	bool shenandoah;
	int tail;				/* Continuation */
	int parent, size, sp, bottom;		/* StackChunk */
	int words;				/* of a StackChunk, where its stack begins */
	bool names;
	int target, vthread;			/* Continuation; the Runnable that it runs */
	int tid, name;				/* Thread */
	int value, coder;			/* String */
	int bytes;				/* of a byte[], where its elements begin */
} at;

static int field(JNIEnv *env, jclass cls, const char *name, const char *sig)
{
	uintptr_t id = cls ? (uintptr_t)(*env)->GetFieldID(env, cls, name, sig) : 0;

	if (!id) {
		(*env)->ExceptionClear(env);
		return -1;
	}
	/* jfieldIDWorkaround: bit 1 says instance field, bit 0 that there is more than the offset */
	return (id & 3) == 2 ? (int)(id >> 2) : -1;
}

/* Size of an instance without its stack: bit 0 of a layout helper is a flag. */
static int instance_bytes(jclass cls)
{
	uintptr_t mirror, klass;
	int32_t layout;

	if (!cls || !vm.mirror_klass_offset || vm.o.klass_layout < 0 ||
	    !sys_peek_all(&mirror, (uintptr_t)cls, 8) ||
	    !sys_peek_all(&klass, mirror + *vm.mirror_klass_offset, 8) ||
	    !sys_peek_all(&layout, klass + vm.o.klass_layout, 4) || layout <= 0)
		return -1;
	return layout & ~7;
}

static jclass find_class(JNIEnv *env, const char *name)
{
	jclass c = (*env)->FindClass(env, name);

	(*env)->ExceptionClear(env);
	return c;
}

/* Unsafe's constant: an int, since JDK 25 a long. */
static int array_offset(JNIEnv *env)
{
	jclass cls = find_class(env, "jdk/internal/misc/Unsafe");
	jfieldID f = cls ? (*env)->GetStaticFieldID(env, cls, "ARRAY_BYTE_BASE_OFFSET", "J") : NULL;
	int off = f ? (int)(*env)->GetStaticLongField(env, cls, f) : -1;

	(*env)->ExceptionClear(env);
	if (cls && !f) {
		f = (*env)->GetStaticFieldID(env, cls, "ARRAY_BYTE_BASE_OFFSET", "I");
		off = f ? (*env)->GetStaticIntField(env, cls, f) : -1;
		(*env)->ExceptionClear(env);
	}
	if (cls)
		(*env)->DeleteLocalRef(env, cls);
	return off;
}

static void find_names(JNIEnv *env, jclass cont)
{
	jclass run = find_class(env, "java/lang/VirtualThread$VThreadContinuation$1");
	jclass thread = find_class(env, "java/lang/Thread"), string = find_class(env, "java/lang/String");

	at.target = field(env, cont, "target", "Ljava/lang/Runnable;");
	at.vthread = field(env, run, "val$vthread", "Ljava/lang/VirtualThread;");
	at.tid = field(env, thread, "tid", "J");
	at.name = field(env, thread, "name", "Ljava/lang/String;");
	at.value = field(env, string, "value", "[B");
	at.coder = field(env, string, "coder", "B");
	at.bytes = array_offset(env);
	at.names = at.target > 0 && at.vthread > 0 && at.tid > 0 && at.name > 0 && at.value > 0 &&
		at.coder > 0 && at.bytes >= 8;
	if (run)
		(*env)->DeleteLocalRef(env, run);
	if (thread)
		(*env)->DeleteLocalRef(env, thread);
	if (string)
		(*env)->DeleteLocalRef(env, string);
}

static bool find_z(void)
{
	uintptr_t globals = vm.z_globals ? *vm.z_globals : 0;

	if (!globals || vm.o.z_bad_mask < 0 || vm.o.z_shift < 0)
		return false;
	at.z_shift = (const uintptr_t *)vm_word(globals, vm.o.z_shift);
	at.z_bad = (const uintptr_t *)vm_word(globals, vm.o.z_bad_mask);
	return at.z_shift && at.z_bad;
}

/* The collector moves objects while threads run. */
static bool objects_move(void)
{
	return at.z_bad || at.shenandoah;
}

void cont_init(JNIEnv *env)
{
	jclass chunk, cont;
	bool z;

	if (vm.o.jthread_cont_entry < 0 || !vm_flag("UseZGC", &z) || (z && !find_z()) ||
	    !vm_flag("UseShenandoahGC", &at.shenandoah) || !vm_flag("UseCompressedOops", &at.compressed) ||
	    (objects_move() && vm.o.jthread_owner_id < 0))
		return;
	if (at.compressed && (!vm.oops_base || !vm.oops_shift))
		return;
	chunk = find_class(env, "jdk/internal/vm/StackChunk");
	cont = find_class(env, "jdk/internal/vm/Continuation");
	at.tail = field(env, cont, "tail", "Ljdk/internal/vm/StackChunk;");
	at.parent = field(env, chunk, "parent", "Ljdk/internal/vm/StackChunk;");
	at.size = field(env, chunk, "size", "I");
	at.sp = field(env, chunk, "sp", "I");
	at.bottom = field(env, chunk, "bottom", "I");
	at.words = instance_bytes(chunk);
	at.ok = at.tail > 0 && at.parent > 0 && at.size > 0 && at.sp > 0 && at.bottom > 0 && at.words > 0 &&
		at.words <= MAX_FIELDS && at.parent < at.words && at.size < at.words && at.sp < at.words &&
		at.bottom < at.words;
	if (at.ok)
		find_names(env, cont);
	at.ok &= !objects_move() || at.names;
	if (chunk)
		(*env)->DeleteLocalRef(env, chunk);
	if (cont)
		(*env)->DeleteLocalRef(env, cont);
}

/* Shenandoah leaves where an object went in the header of what it was. */
static uintptr_t moved_to(uintptr_t oop)
{
	uintptr_t mark;

	if (!at.shenandoah || !oop || !sys_peek_all(&mark, oop, 8) || (mark & 3) != 3)
		return oop;
	return mark & ~3ul;
}

/* The reference that is stored at p, which is mapped; 0 also if the place of its object is unknown. */
static uintptr_t oop_in(const char *p)
{
	uint32_t narrow = *(const uint32_t *)p;
	uintptr_t wide = *(const uintptr_t *)p;

	if (at.z_bad)
		return wide & *at.z_bad ? 0 : wide >> *at.z_shift;
	if (!at.compressed)
		return moved_to(wide);
	return narrow ? moved_to(*vm.oops_base + ((uintptr_t)narrow << *vm.oops_shift)) : 0;
}

static uintptr_t load_oop(uintptr_t p)
{
	char oop[8] = "";

	return sys_peek_all(oop, p, at.compressed ? 4 : 8) ? oop_in(oop) : 0;
}

/* The frames of one chunk, with two words below them for the innermost one's pc and rbp. */
static bool copy_chunk(uintptr_t chunk, struct cont_copy *c)
{
	char fields[MAX_FIELDS + 8];
	int32_t size, sp, bottom;
	size_t nr;

	if ((at.z_bad && c->moment != *at.z_bad) || !sys_peek_all(fields, chunk, at.words))
		return false;
	c->parent = oop_in(fields + at.parent);
	size = vm_i32((uintptr_t)fields, at.size);
	sp = vm_i32((uintptr_t)fields, at.sp);
	bottom = vm_i32((uintptr_t)fields, at.bottom);
	if (size <= 0 || size > MAX_CHUNK_WORDS || sp < 2 || bottom > size || sp >= bottom)
		return false;
	/* the bottom frame's return address is its last word */
	nr = bottom - sp + 2;
	if (nr > CONT_WORDS)
		nr = CONT_WORDS;
	if (!sys_peek_all(c->words, chunk + at.words + (sp - 2) * 8ul, nr * 8))
		return false;
	if (at.z_bad && c->moment != *at.z_bad)
		return false;
	c->pc = c->words[1];
	c->sp = (uintptr_t)&c->words[2];
	c->end = (uintptr_t)&c->words[nr];
	return true;
}

/* The first chunk from this one outwards that has frames; none at all is the root. */
static enum cont_result copy_first(uintptr_t chunk, struct cont_copy *c)
{
	int i;

	c->parent = 0;
	for (i = 0; i < 64 && chunk; i++) {
		if (copy_chunk(chunk, c))
			return vm_in_code(c->pc) ? CONT_LOADED : CONT_LOST;
		chunk = c->parent;
	}
	return chunk ? CONT_LOST : CONT_ROOT;
}

/* --- which virtual thread --- */

enum { NR_NAMED = 4096, MAX_CHARS = 100 };

/* ids whose names were sent; those that share a slot are sent again */
static uint64_t named[NR_NAMED];

void cont_forget_names(void)
{
	size_t i;

	for (i = 0; i < NR_NAMED; i++)
		store_relaxed(&named[i], 0);
}

static uint64_t *named_at(uint64_t id)
{
	return &named[id * 0x9e3779b97f4a7c15ull >> 52];
}

static bool read_id(uintptr_t vthread, uint64_t *id)
{
	return vthread > 4096 && sys_peek_all(id, vthread + at.tid, 8) && *id && *id < 1ull << 40;
}

/*
 * The VirtualThread of the continuation that a JavaThread runs; with *id only the one that has it,
 * else it is found.
 */
static uintptr_t mounted(uintptr_t entry, uint64_t *id)
{
	uintptr_t cont, target, vthread;
	uint64_t its;
	int i;

	for (i = 1; i < ENTRY_WORDS; i++) {
		cont = vm_word(entry, i * 8);
		if (cont <= 4096 || cont & 7)
			continue;
		target = load_oop(cont + at.target);
		vthread = target > 4096 ? load_oop(target + at.vthread) : 0;
		if (!read_id(vthread, &its) || (*id && its != *id))
			continue;
		*id = its;
		return vthread;
	}
	return 0;
}

/*
 * Where objects move, what is on the stack may be where the continuation was: it must be that of the
 * thread's owner.
 */
static bool is_mounted(uintptr_t thread, uintptr_t entry)
{
	uint64_t id;

	if (!objects_move())
		return true;
	id = vm_word(thread, vm.o.jthread_owner_id);
	return id && mounted(entry, &id);
}

enum cont_result cont_load(uintptr_t thread, struct cont_copy *c, bool next)
{
	uintptr_t entry, cont;
	int i;

	if (!at.ok || !thread)
		return CONT_LOST;
	if (next)
		return copy_first(c->parent, c);
	c->moment = at.z_bad ? *at.z_bad : 0;
	/* on this thread's own stack */
	entry = vm_word(thread, vm.o.jthread_cont_entry);
	if (!entry || !is_mounted(thread, entry))
		return CONT_LOST;
	for (i = 1; i < ENTRY_WORDS; i++) {
		cont = vm_word(entry, i * 8);
		if (cont > 4096 && !(cont & 7) && copy_first(load_oop(cont + at.tail), c) == CONT_LOADED)
			return is_mounted(thread, entry) ? CONT_LOADED : CONT_LOST;
	}
	return CONT_LOST;
}

static char *put_utf8(char *d, uint32_t c)
{
	if (c < 0x80) {
		*d++ = c;
	} else if (c < 0x800) {
		*d++ = 0xc0 | c >> 6;
		*d++ = 0x80 | (c & 0x3f);
	} else {	/* half of a pair stays one, as in Java's own UTF-8 */
		*d++ = 0xe0 | c >> 12;
		*d++ = 0x80 | (c >> 6 & 0x3f);
		*d++ = 0x80 | (c & 0x3f);
	}
	return d;
}

/* The text of a String, cut to MAX_CHARS; its length in bytes, 0 also when it cannot be read. */
static size_t read_string(uintptr_t string, char *out)
{
	uint8_t coder, bytes[2 * MAX_CHARS];
	uintptr_t value;
	int32_t len, i;
	char *d = out;

	if (string <= 4096 || !sys_peek_all(&coder, string + at.coder, 1) || coder > 1)
		return 0;
	value = load_oop(string + at.value);
	if (value <= 4096 || !sys_peek_all(&len, value + at.bytes - 4, 4) || len <= 0)
		return 0;
	if (len > MAX_CHARS << coder)
		len = MAX_CHARS << coder;
	if (!sys_peek_all(bytes, value + at.bytes, len))
		return 0;
	for (i = 0; i + coder < len; i += 1 + coder)
		d = put_utf8(d, coder ? bytes[i] | bytes[i + 1] << 8 : bytes[i]);
	return d - out;
}

static bool write_name(uint64_t id, const char *name, size_t len, struct jvm_ring *ring)
{
	const struct jvm_thread r = { .time_ns = sys_now(), .vthread = id, .name = name, .name_len = len };

	return send_thread(ring, &r);
}

/* What was read belongs together when the same objects are there afterwards. */
static void tell_name(uintptr_t entry, uint64_t id, uintptr_t vthread, struct jvm_ring *ring)
{
	uintptr_t string = load_oop(vthread + at.name);
	char name[3 * MAX_CHARS];
	size_t len = read_string(string, name);

	if (mounted(entry, &id) != vthread || load_oop(vthread + at.name) != string)
		return;
	if (!len || write_name(id, name, len, ring))
		store_relaxed(named_at(id), id);
}

uint64_t cont_vthread(uintptr_t thread, struct jvm_ring *ring)
{
	uintptr_t entry, vthread;
	uint64_t id;

	if (!thread || vm.o.jthread_cont_entry < 0)
		return 0;
	entry = vm_word(thread, vm.o.jthread_cont_entry);
	if (!entry)
		return 0;
	id = vm.o.jthread_owner_id >= 0 ? vm_word(thread, vm.o.jthread_owner_id) : 0;
	if (!at.names || (id && load_relaxed(named_at(id)) == id))
		return id;
	vthread = mounted(entry, &id);
	if (vthread && load_relaxed(named_at(id)) != id)
		tell_name(entry, id, vthread, ring);
	return id;
}
