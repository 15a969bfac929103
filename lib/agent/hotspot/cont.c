// SPDX-License-Identifier: MIT
/*
 * cont.c - copies frozen stack chunks (cont.h).
 *
 * Source: java.lang.Thread (cont); HotSpot's continuationEntry.hpp (the on-stack ContinuationEntry has the
 * Continuation in its second or third word, after its parent), oops/stackChunkOop.hpp and
 * instanceStackChunkKlass.hpp: the frames are words[sp, bottom) behind the object's fields; the innermost
 * one's pc is in words[sp - 1].
 *
 * Called in a signal handler: the chunk may be moved or reused while it is read when the
 * thread is not in Java code, so everything is copied by sys_peek() and checked; walking
 * the copy believes a return address only where code confirms it.
 */
#include "agent/hotspot/blocked.h"
#include "agent/hotspot/cont.h"
#include "agent/hotspot/frame.h"
#include "agent/hotspot/methods.h"
#include "agent/hotspot/oops.h"
#include "agent/hotspot/vm.h"
#include "base/mix.h"

enum { ENTRY_WORDS = 3, MAX_CHUNK_WORDS = 1 << 20, MAX_FIELDS = 128 };

static struct {
	bool ok;
	int tail;				/* Continuation */
	int parent, size, sp, bottom;		/* StackChunk */
	int words;				/* of a StackChunk, where its stack begins */
	bool names;
	int target, vthread;			/* Continuation; the Runnable that it runs */
	uintptr_t enter_special;		/* Method; before JDK 24, else 0 */
	int cont, tid, name;			/* Thread */
	int value, coder;			/* String */
	int bytes;				/* of a byte[], where its elements begin */
} at;

/* Unsafe's constant: an int, since JDK 25 a long. */
static int array_offset(JNIEnv *env)
{
	jclass cls = oops_class(env, "jdk/internal/misc/Unsafe");
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
	jclass run = oops_class(env, "java/lang/VirtualThread$VThreadContinuation$1");
	jclass thread = oops_class(env, "java/lang/Thread"), string = oops_class(env, "java/lang/String");

	at.target = oops_field(env, cont, "target", "Ljava/lang/Runnable;");
	at.vthread = oops_field(env, run, "val$vthread", "Ljava/lang/VirtualThread;");
	at.tid = oops_field(env, thread, "tid", "J");
	at.name = oops_field(env, thread, "name", "Ljava/lang/String;");
	at.value = oops_field(env, string, "value", "[B");
	at.coder = oops_field(env, string, "coder", "B");
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

/* Later ones say where its code returns to. */
static void find_enter_special(JNIEnv *env, jclass cont)
{
	static const char name[] = "enterSpecial", sig[] = "(Ljdk/internal/vm/Continuation;ZZ)V";
	jmethodID id = cont && !vm.cont_entry_return ? (*env)->GetStaticMethodID(env, cont, name, sig) : NULL;

	(*env)->ExceptionClear(env);
	at.enter_special = id ? methods_find(id, "jdk/internal/vm/Continuation", name, sig) : 0;
}

bool cont_is_entry(uintptr_t method)
{
	return method && method == at.enter_special;
}

void cont_init(JNIEnv *env)
{
	jclass chunk, cont, thread;

	/* without virtual threads there is nothing to find */
	if (vm.o.jthread_vthread < 0 || !oops_init())
		return;
	thread = oops_class(env, "java/lang/Thread");
	at.cont = oops_field(env, thread, "cont", "Ljdk/internal/vm/Continuation;");
	chunk = oops_class(env, "jdk/internal/vm/StackChunk");
	cont = oops_class(env, "jdk/internal/vm/Continuation");
	find_enter_special(env, cont);
	at.tail = oops_field(env, cont, "tail", "Ljdk/internal/vm/StackChunk;");
	at.parent = oops_field(env, chunk, "parent", "Ljdk/internal/vm/StackChunk;");
	at.size = oops_field(env, chunk, "size", "I");
	at.sp = oops_field(env, chunk, "sp", "I");
	at.bottom = oops_field(env, chunk, "bottom", "I");
	at.words = oops_instance_bytes(chunk);
	at.ok = at.tail > 0 && at.parent > 0 && at.size > 0 && at.sp > 0 && at.bottom > 0 && at.words > 0 &&
		at.words <= MAX_FIELDS && at.parent < at.words && at.size < at.words && at.sp < at.words &&
		at.bottom < at.words;
	if (at.ok)
		find_names(env, cont);
	at.ok &= !oops_move() || at.names;
	at.ok &= vm.o.jthread_cont_entry >= 0 || (vm.o.jthread_object >= 0 && at.cont > 0);
	if (thread)
		(*env)->DeleteLocalRef(env, thread);
	if (chunk)
		(*env)->DeleteLocalRef(env, chunk);
	if (cont)
		(*env)->DeleteLocalRef(env, cont);
}

/* Copy the frames of one chunk, with two words below them for the innermost one's pc and rbp. */
static bool copy_chunk(uintptr_t chunk, struct cont_copy *c)
{
	char fields[MAX_FIELDS + 8];
	int32_t size, sp, bottom;
	size_t nr;

	if (c->moment != oops_moment() || !sys_peek_all(fields, chunk, at.words))
		return false;
	c->parent = oops_in(fields + at.parent);
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
	if (c->moment != oops_moment())
		return false;
	c->pc = frame_code(c->words[1]);
	c->sp = (uintptr_t)&c->words[2];
	c->end = (uintptr_t)&c->words[nr];
	return true;
}

/* Return the first chunk from this one outwards that has frames; none at all is the root. */
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
	return &named[mix64(id) >> 52];
}

static bool read_vthread_id(uintptr_t vthread, uint64_t *id)
{
	return vthread > 4096 && sys_peek_all(id, vthread + at.tid, 8) && *id && *id < 1ull << 40;
}

/*
 * JDK 21 to 23 do not tell where a JavaThread has its ContinuationEntry. There the carrier's Thread, a root
 * of the VM's, has the Continuation that is mounted, from before its first frame until after its last.
 */
static uintptr_t continuation(const struct vm_thread *t)
{
	uintptr_t thread = oops_root(vm_word(t->fields, vm.o.jthread_object));

	return thread > 4096 ? oops_load(thread + at.cont) : 0;
}

/*
 * Load the ContinuationEntry on the stack of the thread, which may be another one; return false if it has
 * none.
 */
static bool load_entry(const struct vm_thread *t, uintptr_t *words)
{
	uintptr_t entry = vm_word(t->fields, vm.o.jthread_cont_entry);

	if (!entry)
		return false;
	if (t->blocked)
		return sys_peek_all(words, entry, ENTRY_WORDS * 8);
	memcpy(words, (const void *)entry, ENTRY_WORDS * 8);
	return true;
}

/* Return the VirtualThread that runs in a Continuation, or 0. */
static uintptr_t vthread_in(uintptr_t cont, uint64_t *id)
{
	uintptr_t target, vthread;

	if (cont <= 4096 || cont & 7)
		return 0;
	target = oops_load(cont + at.target);
	vthread = target > 4096 ? oops_load(target + at.vthread) : 0;
	return read_vthread_id(vthread, id) ? vthread : 0;
}

/*
 * Return the VirtualThread of the continuation that a JavaThread runs; with *id only the one that has it,
 * else it is found.
 */
static uintptr_t mounted(const struct vm_thread *t, uint64_t *id)
{
	uintptr_t entry[ENTRY_WORDS], vthread;
	uint64_t its;
	int i;

	if (vm.o.jthread_cont_entry < 0)
		entry[1] = entry[2] = continuation(t);
	else if (!load_entry(t, entry))
		return 0;
	for (i = 1; i < ENTRY_WORDS; i++) {
		vthread = vthread_in(entry[i], &its);
		if (!vthread || (*id && its != *id))
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
static bool is_mounted(const struct vm_thread *t)
{
	uint64_t id;

	if (!oops_move())
		return true;
	id = vm_word(t->fields, vm.o.jthread_owner_id);
	return id && mounted(t, &id);
}

static bool copy_of(uintptr_t cont, struct cont_copy *c)
{
	return cont > 4096 && !(cont & 7) && copy_first(oops_load(cont + at.tail), c) == CONT_LOADED;
}

/* Go by the carrier's Thread, which leads to the same one after objects have moved. */
static bool copy_without_entry(const struct vm_thread *t, struct cont_copy *c)
{
	uintptr_t cont = continuation(t);
	uint64_t id = 0, now = 0;

	if (oops_move() && !vthread_in(cont, &id))
		return false;
	return copy_of(cont, c) && (!oops_move() || (mounted(t, &now) && now == id));
}

enum cont_result cont_load(const struct vm_thread *t, struct cont_copy *c, bool next)
{
	uintptr_t entry[ENTRY_WORDS];
	int i;

	if (!at.ok || !t->fields)
		return CONT_LOST;
	if (next)
		return copy_first(c->parent, c);
	c->moment = oops_moment();
	if (vm.o.jthread_cont_entry < 0)
		return copy_without_entry(t, c) ? CONT_LOADED : CONT_LOST;
	if (!load_entry(t, entry) || !is_mounted(t))
		return CONT_LOST;
	for (i = 1; i < ENTRY_WORDS; i++)
		if (copy_of(entry[i], c))
			return is_mounted(t) ? CONT_LOADED : CONT_LOST;
	return CONT_LOST;
}

static char *cont_put_utf8(char *d, uint32_t c)
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

/* Return the text of a String, cut to MAX_CHARS; its length in bytes, 0 also when it cannot be read. */
static size_t read_string(uintptr_t string, char *out)
{
	uint8_t coder, bytes[2 * MAX_CHARS];
	uintptr_t value;
	int32_t len, i;
	char *d = out;

	if (string <= 4096 || !sys_peek_all(&coder, string + at.coder, 1) || coder > 1)
		return 0;
	value = oops_load(string + at.value);
	if (value <= 4096 || !sys_peek_all(&len, value + at.bytes - 4, 4) || len <= 0)
		return 0;
	if (len > MAX_CHARS << coder)
		len = MAX_CHARS << coder;
	if (!sys_peek_all(bytes, value + at.bytes, len))
		return 0;
	for (i = 0; i + coder < len; i += 1 + coder)
		d = cont_put_utf8(d, coder ? bytes[i] | bytes[i + 1] << 8 : bytes[i]);
	return d - out;
}

static bool write_name(uint64_t id, const char *name, size_t len, struct jvm_ring *ring)
{
	const struct jvm_thread r = { .time_ns = sys_now(), .vthread = id, .name = name, .name_len = len,
		.group = "" };

	return send_thread(ring, &r);
}

/*
 * What was read belongs together when the same objects are there afterwards; of another thread, when it is
 * also blocked where it was, and nothing was moved meanwhile.
 */
static void tell_name(const struct vm_thread *t, uint64_t id, uintptr_t vthread, struct jvm_ring *ring)
{
	uintptr_t string = oops_load(vthread + at.name);
	char name[3 * MAX_CHARS];
	size_t len = read_string(string, name);

	if (mounted(t, &id) != vthread || oops_load(vthread + at.name) != string ||
	    (t->blocked && !blocked_objects_hold(t->blocked)))
		return;
	if (!len || write_name(id, name, len, ring))
		store_relaxed(named_at(id), id);
}

uint64_t cont_vthread(const struct vm_thread *t, struct jvm_ring *ring)
{
	uintptr_t vthread;
	uint64_t id;

	if (!t->fields || (vm.o.jthread_cont_entry >= 0 && !vm_word(t->fields, vm.o.jthread_cont_entry)))
		return 0;
	id = vm.o.jthread_owner_id >= 0 ? vm_word(t->fields, vm.o.jthread_owner_id) : 0;
	if (!at.names || (id && load_relaxed(named_at(id)) == id))
		return id;
	vthread = mounted(t, &id);
	if (vthread && load_relaxed(named_at(id)) != id)
		tell_name(t, id, vthread, ring);
	return id;
}

/*
 * Read the id by a root of the VM's, which is the carrier's own Thread or the one of a virtual thread on
 * it.
 */
static uint64_t java_id(uintptr_t java_thread)
{
	uintptr_t handle, thread;
	uint64_t id;

	thread = sys_peek_all(&handle, java_thread + vm.o.jthread_vthread, 8) ? oops_root(handle) : 0;
	return read_vthread_id(thread, &id) ? id : 0;
}

uint64_t cont_java_id(uintptr_t java_thread)
{
	const uintptr_t moment = oops_moment();
	uint32_t before, after;
	uint64_t id;

	if (!at.names || (!oops_move() && !oops_still(&before)))
		return 0;
	id = java_id(java_thread);
	if (oops_move())
		return moment == oops_moment() && java_id(java_thread) == id ? id : 0;
	return oops_still(&after) && before == after ? id : 0;
}

bool cont_is_named(uint64_t id)
{
	return load_relaxed(named_at(id)) == id;
}

void cont_tell_name(JNIEnv *env, uint64_t id, jstring string, struct jvm_ring *ring)
{
	char name[3 * MAX_CHARS + 1];
	jsize len = string ? (*env)->GetStringLength(env, string) : 0;

	len = len < MAX_CHARS ? len : MAX_CHARS;
	if (len)
		(*env)->GetStringUTFRegion(env, string, 0, len, name);
	if (!len || write_name(id, name, str_len(name), ring))
		store_relaxed(named_at(id), id);
}
