// SPDX-License-Identifier: MIT
/*
 * cont.c - copies frozen stack chunks (cont.h).
 *
 * Source: HotSpot's continuationEntry.hpp (the on-stack ContinuationEntry has the Continuation
 * in its second word in JDK 21, in its third in 25), oops/stackChunkOop.hpp and instanceStackChunkKlass.hpp: the frames are
 * words[sp, bottom) behind the object's fields; the innermost one's pc is in words[sp - 1].
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
	int tail;				/* Continuation */
	int parent, size, sp, bottom;		/* StackChunk */
	int words;				/* of a StackChunk, where its stack begins */
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

	if (!cls || !vm.mirror_klass_offset || vm.o.klass_layout < 0 || !sys_peek_all(&mirror, (uintptr_t)cls, 8) ||
	    !sys_peek_all(&klass, mirror + *vm.mirror_klass_offset, 8) ||
	    !sys_peek_all(&layout, klass + vm.o.klass_layout, 4) || layout <= 0)
		return -1;
	return layout & ~7;
}

void cont_init(JNIEnv *env)
{
	bool z, shenandoah;
	jclass chunk, cont;

	if (vm.o.jthread_cont_entry < 0 || !vm_flag("UseZGC", &z) || z ||
	    !vm_flag("UseShenandoahGC", &shenandoah) || shenandoah || !vm_flag("UseCompressedOops", &at.compressed))
		return;
	if (at.compressed && (!vm.oops_base || !vm.oops_shift))
		return;
	chunk = (*env)->FindClass(env, "jdk/internal/vm/StackChunk");
	(*env)->ExceptionClear(env);
	cont = (*env)->FindClass(env, "jdk/internal/vm/Continuation");
	(*env)->ExceptionClear(env);
	at.tail = field(env, cont, "tail", "Ljdk/internal/vm/StackChunk;");
	at.parent = field(env, chunk, "parent", "Ljdk/internal/vm/StackChunk;");
	at.size = field(env, chunk, "size", "I");
	at.sp = field(env, chunk, "sp", "I");
	at.bottom = field(env, chunk, "bottom", "I");
	at.words = instance_bytes(chunk);
	at.ok = at.tail > 0 && at.parent > 0 && at.size > 0 && at.sp > 0 && at.bottom > 0 && at.words > 0 &&
		at.words <= MAX_FIELDS && at.parent < at.words && at.size < at.words && at.sp < at.words &&
		at.bottom < at.words;
	if (chunk)
		(*env)->DeleteLocalRef(env, chunk);
	if (cont)
		(*env)->DeleteLocalRef(env, cont);
}

/* The reference that is stored at p, which is mapped. */
static uintptr_t oop_in(const char *p)
{
	uint32_t narrow = *(const uint32_t *)p;

	if (!at.compressed)
		return *(const uintptr_t *)p;
	return narrow ? *vm.oops_base + ((uintptr_t)narrow << *vm.oops_shift) : 0;
}

static uintptr_t load_oop(uintptr_t p)
{
	char oop[8] = "";

	return sys_peek_all(oop, p, at.compressed ? 4 : 8) ? oop_in(oop) : 0;
}

/* The frames of one chunk, with two words below them for the innermost one's pc and rbp. */
static bool copy_chunk(uintptr_t chunk, struct cont_copy *c)
{
	char fields[MAX_FIELDS];
	int32_t size, sp, bottom;
	size_t nr;

	if (!sys_peek_all(fields, chunk, at.words))
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

enum cont_result cont_load(uintptr_t thread, struct cont_copy *c, bool next)
{
	uintptr_t entry, cont;
	int i;

	if (!at.ok || !thread)
		return CONT_LOST;
	if (next)
		return copy_first(c->parent, c);
	/* on this thread's own stack */
	entry = vm_word(thread, vm.o.jthread_cont_entry);
	for (i = 1; entry && i < ENTRY_WORDS; i++) {
		cont = vm_word(entry, i * 8);
		if (cont > 4096 && !(cont & 7) && copy_first(load_oop(cont + at.tail), c) == CONT_LOADED)
			return CONT_LOADED;
	}
	return CONT_LOST;
}
