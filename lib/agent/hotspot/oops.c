// SPDX-License-Identifier: MIT
/*
 * oops.c - references in the Java heap (oops.h).
 *
 * Source: HotSpot's share/oops/compressedOops.inline.hpp, share/oops/markWord.hpp, gc/z/zAddress.hpp,
 * gc/shenandoah/shenandoahForwarding.inline.hpp, share/prims/jni.cpp (jfieldIDWorkaround).
 */
#include "agent/hotspot/oops.h"
#include "agent/hotspot/vm.h"

static struct {
	bool ok, fails;
	bool compressed, compressed_klass, klass_in_mark;
	/* ZGC: bits that a good reference has not, and where its address begins */
	const uintptr_t *z_bad, *z_shift;
	bool shenandoah;
} at;

int oops_instance_bytes(jclass cls)
{
	uintptr_t mirror, klass;
	int32_t layout;

	/* bit 0 of a layout helper is a flag */
	if (!cls || !vm.mirror_klass_offset || vm.o.klass_layout < 0 ||
	    !sys_peek_all(&mirror, (uintptr_t)cls, 8) ||
	    !sys_peek_all(&klass, mirror + *vm.mirror_klass_offset, 8) ||
	    !sys_peek_all(&layout, klass + vm.o.klass_layout, 4) || layout <= 0)
		return -1;
	return layout & ~7;
}

static uintptr_t field_id(JNIEnv *env, jclass cls, const char *name, const char *sig)
{
	uintptr_t id = cls ? (uintptr_t)(*env)->GetFieldID(env, cls, name, sig) : 0;

	if (!id)
		(*env)->ExceptionClear(env);
	return id;
}

/*
 * In a jfieldID (jfieldIDWorkaround) the offset stands above bits of which the second says instance field:
 * two, and since JDK 28 three. The only field of an Integer is within it by one of these alone. 0: unknown.
 */
static int offset_shift(JNIEnv *env)
{
	static int known;
	jclass cls;
	uintptr_t id;
	int bytes, shift;

	if (known)
		return known;
	cls = oops_class(env, "java/lang/Integer");
	id = field_id(env, cls, "value", "I");
	bytes = oops_instance_bytes(cls);
	for (shift = 2; id && shift <= 3 && !known; shift++)
		if ((id & ((1ul << shift) - 1)) == 2 && (int)(id >> shift) + 4 <= bytes)
			known = shift;
	if (cls)
		(*env)->DeleteLocalRef(env, cls);
	return known;
}

int oops_field(JNIEnv *env, jclass cls, const char *name, const char *sig)
{
	uintptr_t id = field_id(env, cls, name, sig);
	int shift = offset_shift(env);

	return shift && (id & ((1ul << shift) - 1)) == 2 ? (int)(id >> shift) : -1;
}

jclass oops_class(JNIEnv *env, const char *name)
{
	jclass c = (*env)->FindClass(env, name);

	(*env)->ExceptionClear(env);
	return c;
}

/*
 * The references of the one with a single generation, of JDK 11 to 23, are addresses; JDK 21 to 23 have
 * another as well, by a flag.
 */
static bool find_z(void)
{
	static const uintptr_t no_shift;
	const uintptr_t *single = vm.x_globals ? vm.x_globals : vm.z_globals;
	bool generational = vm.o.z_bad_mask >= 0;
	uintptr_t globals;

	vm_flag("ZGenerational", &generational);
	globals = generational ? (vm.z_globals ? *vm.z_globals : 0) : (single ? *single : 0);
	if (!globals || (generational ? vm.o.z_bad_mask < 0 || vm.o.z_shift < 0 : vm.o.x_bad_mask < 0))
		return false;
	at.z_shift = generational ? (const uintptr_t *)vm_word(globals, vm.o.z_shift) : &no_shift;
	at.z_bad = (const uintptr_t *)vm_word(globals, generational ? vm.o.z_bad_mask : vm.o.x_bad_mask);
	return at.z_shift && at.z_bad;
}

/*
 * Return false for a collector whose references or objects have another layout than below. A collector
 * that the VM lacks is not used.
 */
static bool find_collector(void)
{
	enum { SHENANDOAH_IN_MARKS = 13 };	/* before, where an object went stands in front of it */
	bool z = false;

	vm_flag("UseZGC", &z);
	vm_flag("UseShenandoahGC", &at.shenandoah);
	if (at.shenandoah && (!vm.major || *vm.major < SHENANDOAH_IN_MARKS))
		return false;
	return !z || find_z();
}

bool oops_init(void)
{
	if (at.ok)
		return true;
	if (at.fails || !find_collector() || !vm_flag("UseCompressedOops", &at.compressed) ||
	    (at.compressed && (!vm.oops_base || !vm.oops_shift)))
		return false;
	if (!vm_flag("UseCompressedClassPointers", &at.compressed_klass))
		at.compressed_klass = true;
	vm_flag("UseCompactObjectHeaders", &at.klass_in_mark);
	at.ok = true;
	return true;
}

bool oops_move(void)
{
	return at.z_bad || at.shenandoah;
}

uintptr_t oops_moment(void)
{
	return at.z_bad ? *at.z_bad : 0;
}

bool oops_still(uint32_t *nr)
{
	uintptr_t heap = vm.heap ? *vm.heap : 0;

	*nr = 0;
	if (!heap || vm.o.gc_active < 0 || vm.o.gc_count < 0 || !at.ok || at.shenandoah)
		return false;
	*nr = load_acquire((const uint32_t *)(heap + vm.o.gc_count));
	return at.z_bad || !load_acquire((const uint8_t *)(heap + vm.o.gc_active));
}

bool oops_stand(void)
{
	return at.ok && !at.shenandoah && vm.heap && vm.o.gc_active >= 0 && vm.o.gc_count >= 0;
}

bool oops_collecting(void)
{
	uintptr_t heap = vm.heap ? *vm.heap : 0;

	return heap && vm.o.gc_active >= 0 && load_relaxed((const uint8_t *)(heap + vm.o.gc_active));
}

/* Return where an object went: Shenandoah leaves that in the old header. */
static uintptr_t moved_to(uintptr_t oop)
{
	uintptr_t mark;

	if (!at.shenandoah || !oop || !sys_peek_all(&mark, oop, 8) || (mark & 3) != 3)
		return oop;
	return mark & ~3ul;
}

static uintptr_t wide_in(uintptr_t wide)
{
	if (at.z_bad)
		return wide & *at.z_bad ? 0 : wide >> *at.z_shift;
	return moved_to(wide);
}

uintptr_t oops_in(const char *p)
{
	uint32_t narrow = *(const uint32_t *)p;

	if (!at.compressed)
		return wide_in(*(const uintptr_t *)p);
	return narrow ? moved_to(*vm.oops_base + ((uintptr_t)narrow << *vm.oops_shift)) : 0;
}

uintptr_t oops_load(uintptr_t p)
{
	char oop[8] = "";

	return sys_peek_all(oop, p, at.compressed ? 4 : 8) ? oops_in(oop) : 0;
}

uintptr_t oops_root(uintptr_t p)
{
	uintptr_t wide;

	return sys_peek_all(&wide, p, 8) ? wide_in(wide) : 0;
}

uintptr_t oops_of_thread(uintptr_t word)
{
	return vm.threads_are_oops ? wide_in(word) : oops_root(word);
}

uintptr_t oops_klass(uintptr_t oop)
{
	enum { MARK_SHIFT = 42 };	/* above it a mark word has the class, since JDK 24 */
	struct {
		uintptr_t mark, klass;
	} head;
	uintptr_t narrow;

	if (!at.ok || !oop || !sys_peek_all(&head, oop, sizeof(head)))
		return 0;
	if (!at.compressed_klass)
		return head.klass;
	if (!vm.klass_base || !vm.klass_shift)
		return 0;
	/* with a lock or a forwarding in it the mark word may be elsewhere */
	if (at.klass_in_mark && (head.mark & 3) > 1)
		return 0;
	narrow = at.klass_in_mark ? head.mark >> MARK_SHIFT : (uint32_t)head.klass;
	return *vm.klass_base + (narrow << *vm.klass_shift);
}

/* Return the object of a local reference, valid as long as nothing moves it. */
static uintptr_t object_of(jobject ref)
{
	uintptr_t oop;

	return sys_peek_all(&oop, (uintptr_t)ref, 8) ? moved_to(oop) : 0;
}

/* Check that a Thread has its JavaThread where we read it, and the class that its mirror is of. */
static bool is_as_jni_says(jobject thread, jclass cls, int field, uint64_t want)
{
	uintptr_t oop = object_of(thread), mirror = object_of(cls), klass;
	uint64_t got;

	return oop && mirror && sys_peek_all(&got, oop + field, 8) && got == want &&
	       sys_peek_all(&klass, mirror + *vm.mirror_klass_offset, 8) && oops_klass(oop) == klass;
}

bool oops_try(JNIEnv *env, jobject thread)
{
	enum { TURNS = 20 };		/* a collection may come in between */
	jclass cls = (*env)->GetObjectClass(env, thread), of = oops_class(env, "java/lang/Thread");
	jfieldID id = of ? (*env)->GetFieldID(env, of, "eetop", "J") : NULL;
	int field = of ? oops_field(env, of, "eetop", "J") : -1, i;
	bool right = false;

	(*env)->ExceptionClear(env);
	if (oops_init() && id && field > 0 && vm.mirror_klass_offset)
		for (i = 0; i < TURNS && !right; i++)
			right = is_as_jni_says(thread, cls, field, (*env)->GetLongField(env, thread, id));
	at.fails = !right;
	at.ok &= right;
	(*env)->DeleteLocalRef(env, cls);
	if (of)
		(*env)->DeleteLocalRef(env, of);
	return right;
}
