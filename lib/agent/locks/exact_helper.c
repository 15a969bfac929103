// SPDX-License-Identifier: MIT
/*
 * exact_helper.c - the class whose methods are the probes of locks (exact.h), as a class file built here:
 *
 *	static void enter(Object o, int hash) { enter0(o, hash, identityHashCode(o.getClass())); }
 *	static void entered(Object o) { enter0(o, its hash or 0, that of its class); }
 *	static void exit(Object o) { exit0(o, its hash or 0, that of its class); }
 *	static void notify(Object o) { notify0(o, its hash or 0, that of its class, 0); }
 *	static void notifyAll(Object o) { the same with 1 }
 *	static void owns(Object o, Thread t) { owns0(o, its hash, that of its class, t); }
 *	static void state(Object o, int n) { state0(o, its hash, that of its class, n); }
 *	static void stamped(Object o, boolean done, long from, long to) {
 *		if (done) stamped0(o, its hash, that of its class, (int)(to - from));
 *	}
 *	static void calibrate(Object o, int n) { for (; n > 0; n--) { enter(o, its hash); exit(o); } }
 *
 * and natives of these types; waited() is one itself. The hashes name the lock and its class: the compilers
 * have both inline, and neither moves or is used again, as addresses are. Before JDK 23 locking takes the
 * header away with the hash in it, and asking for it calls the VM: then those two do not.
 *
 * The class has the version of JDK 5, so that its jumps need no stack maps.
 */
#include "agent/calls/flow.h"
#include "agent/calls/image.h"
#include "agent/hotspot/vm.h"
#include "agent/locks/exact.h"

enum {
	JDK_5 = 49,
	OP_ICONST_0 = 0x03, OP_ICONST_1 = 0x04, OP_LLOAD = 0x16, OP_ILOAD_1 = 0x1b, OP_LLOAD_2 = 0x20,
	OP_ALOAD_0 = 0x2a, OP_ALOAD_1 = 0x2b, OP_LSUB = 0x65, OP_IINC = 0x84, OP_L2I = 0x88,
	OP_IFEQ = 0x99, OP_IFLE = 0x9e, OP_GOTO = 0xa7, OP_INVOKEVIRTUAL = 0xb6,
};

enum {
	CODE = 5,
	/* types of methods by the parameters after the object */
	T_INT, T_OBJECT, T_NONE, T_THREAD, T_HASHES, T_HASHES_THREAD, T_HASHES_INT, T_LONGS,
	N_ENTER, N_ENTERED, N_EXIT, N_WAITED, N_OWNS, N_STATE,
	N_ENTER0, N_EXIT0, N_OWNS0, N_STATE0, N_CALIBRATE, N_NOTIFY, N_NOTIFY_ALL, N_NOTIFY0,
	N_STAMPED, N_STAMPED0,
	N_SYSTEM, C_SYSTEM, N_HASH, T_HASH, NT_HASH, M_HASH,
	N_GET_CLASS, T_GET_CLASS, NT_GET_CLASS, M_GET_CLASS,
	NT_ENTER0, M_ENTER0, NT_EXIT0, M_EXIT0, NT_OWNS0, M_OWNS0, NT_STATE0, M_STATE0,
	NT_NOTIFY0, M_NOTIFY0, NT_STAMPED0, M_STAMPED0,
	NT_ENTER, M_ENTER, NT_EXIT, M_EXIT,
	NR_CONSTANTS
};

static void method_ref(struct image *c, uint16_t class, uint16_t name, uint16_t type, uint16_t pair_at)
{
	pair(c, CP_NAME_AND_TYPE, name, type);
	pair(c, CP_METHOD, class, pair_at);
}

static void constants(struct image *c)
{
	static const char *const texts[] = {
		"Code", "(Ljava/lang/Object;I)V", "(Ljava/lang/Object;)V", "()V",
		"(Ljava/lang/Object;Ljava/lang/Thread;)V", "(Ljava/lang/Object;II)V",
		"(Ljava/lang/Object;IILjava/lang/Thread;)V", "(Ljava/lang/Object;III)V",
		"(Ljava/lang/Object;ZJJ)V",
		"enter", "entered", "exit", "waited", "owns", "state", "enter0", "exit0", "owns0", "state0",
		"calibrate", "notify", "notifyAll", "notify0", "stamped", "stamped0", "java/lang/System",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(texts); i++)
		utf8(c, texts[i]);
	u1(c, CP_CLASS);
	u2(c, N_SYSTEM);
	utf8(c, "identityHashCode");
	utf8(c, "(Ljava/lang/Object;)I");
	method_ref(c, C_SYSTEM, N_HASH, T_HASH, NT_HASH);
	utf8(c, "getClass");
	utf8(c, "()Ljava/lang/Class;");
	method_ref(c, 4, N_GET_CLASS, T_GET_CLASS, NT_GET_CLASS);
	method_ref(c, 2, N_ENTER0, T_HASHES, NT_ENTER0);
	method_ref(c, 2, N_EXIT0, T_HASHES, NT_EXIT0);
	method_ref(c, 2, N_OWNS0, T_HASHES_THREAD, NT_OWNS0);
	method_ref(c, 2, N_STATE0, T_HASHES_INT, NT_STATE0);
	method_ref(c, 2, N_NOTIFY0, T_HASHES_INT, NT_NOTIFY0);
	method_ref(c, 2, N_STAMPED0, T_HASHES_INT, NT_STAMPED0);
	method_ref(c, 2, N_ENTER, T_INT, NT_ENTER);
	method_ref(c, 2, N_EXIT, T_OBJECT, NT_EXIT);
}

struct bytes {
	uint8_t b[40];
	uint32_t len;
};

static void op(struct bytes *b, uint8_t v)
{
	b->b[b->len++] = v;
}

static void op16(struct bytes *b, uint8_t v, uint16_t arg)
{
	op(b, v);
	op(b, arg >> 8);
	op(b, arg);
}

static void put_hash(struct bytes *b)
{
	op(b, OP_ALOAD_0);
	op16(b, OP_INVOKESTATIC, M_HASH);
}

static void put_class_hash(struct bytes *b)
{
	op(b, OP_ALOAD_0);
	op16(b, OP_INVOKEVIRTUAL, M_GET_CLASS);
	op16(b, OP_INVOKESTATIC, M_HASH);
}

static void method(struct image *c, uint16_t name, uint16_t type, const struct bytes *b)
{
	enum { STACK = 7, LOCALS = 6, BESIDE = 12 };
	uint32_t i;

	u2(c, ACC_PUBLIC | ACC_STATIC);
	u2(c, name);
	u2(c, type);
	u2(c, 1);
	u2(c, CODE);
	u4(c, b->len + BESIDE);
	u2(c, STACK);
	u2(c, LOCALS);
	u4(c, b->len);
	for (i = 0; i < b->len; i++)
		u1(c, b->b[i]);
	u2(c, 0);		/* exceptions */
	u2(c, 0);		/* attributes */
}

enum hash { NO_HASH, OWN_HASH, GIVEN_HASH };

/*
 * Build a method that passes the object, its hash, that of its class, and what load pushes (0: nothing) to
 * native.
 */
static void probe(struct image *c, uint16_t name, uint16_t type, enum hash hash, uint8_t load,
		  uint16_t native)
{
	struct bytes b = { .len = 0 };

	op(&b, OP_ALOAD_0);
	if (hash == NO_HASH)
		op(&b, OP_ICONST_0);
	else if (hash == GIVEN_HASH)
		op(&b, OP_ILOAD_1);
	else
		put_hash(&b);
	put_class_hash(&b);
	if (load)
		op(&b, load);
	op16(&b, OP_INVOKESTATIC, native);
	op(&b, OP_RETURN);
	method(c, name, type, &b);
}

static void stamped(struct image *c)
{
	struct bytes b = { .len = 0 };
	uint32_t at;

	op(&b, OP_ILOAD_1);
	at = b.len;
	op16(&b, OP_IFEQ, 0);
	op(&b, OP_ALOAD_0);
	put_hash(&b);
	put_class_hash(&b);
	op(&b, OP_LLOAD);
	op(&b, 4);
	op(&b, OP_LLOAD_2);
	op(&b, OP_LSUB);
	op(&b, OP_L2I);
	op16(&b, OP_INVOKESTATIC, M_STAMPED0);
	b.b[at + 2] = b.len - at;
	op(&b, OP_RETURN);
	method(c, N_STAMPED, T_LONGS, &b);
}

static void put_calibrate(struct image *c)
{
	struct bytes b = { .len = 0 };
	uint32_t at;

	op(&b, OP_ILOAD_1);
	at = b.len;
	op16(&b, OP_IFLE, 0);
	op(&b, OP_ALOAD_0);
	put_hash(&b);
	op16(&b, OP_INVOKESTATIC, M_ENTER);
	op(&b, OP_ALOAD_0);
	op16(&b, OP_INVOKESTATIC, M_EXIT);
	op(&b, OP_IINC);
	op(&b, 1);
	op(&b, 0xff);
	op16(&b, OP_GOTO, (uint16_t)-(int)b.len);
	b.b[at + 2] = b.len - at;
	op(&b, OP_RETURN);
	method(c, N_CALIBRATE, T_INT, &b);
}

bool exact_has_hash_in_lock(void)
{
	enum { LIGHTWEIGHT_LOCKING = 23 };

	return vm.major && *vm.major >= LIGHTWEIGHT_LOCKING;
}

static void make_class(struct image *c)
{
	enum hash in_lock = exact_has_hash_in_lock() ? OWN_HASH : NO_HASH;

	image_begin(c, JDK_5, EXACT_HELPER, NR_CONSTANTS);
	constants(c);
	image_methods(c, 16);
	probe(c, N_ENTER, T_INT, GIVEN_HASH, 0, M_ENTER0);
	probe(c, N_ENTERED, T_OBJECT, in_lock, 0, M_ENTER0);
	probe(c, N_EXIT, T_OBJECT, in_lock, 0, M_EXIT0);
	probe(c, N_NOTIFY, T_OBJECT, in_lock, OP_ICONST_0, M_NOTIFY0);
	probe(c, N_NOTIFY_ALL, T_OBJECT, in_lock, OP_ICONST_1, M_NOTIFY0);
	probe(c, N_OWNS, T_THREAD, OWN_HASH, OP_ALOAD_1, M_OWNS0);
	probe(c, N_STATE, T_INT, OWN_HASH, OP_ILOAD_1, M_STATE0);
	stamped(c);
	put_calibrate(c);
	image_native(c, N_ENTER0, T_HASHES);
	image_native(c, N_EXIT0, T_HASHES);
	image_native(c, N_OWNS0, T_HASHES_THREAD);
	image_native(c, N_STATE0, T_HASHES_INT);
	image_native(c, N_NOTIFY0, T_HASHES_INT);
	image_native(c, N_STAMPED0, T_HASHES_INT);
	image_native(c, N_WAITED, T_NONE);
	u2(c, 0);		/* attributes of the class */
}

static jclass helper;
static bool bound;
static const struct exact_natives *natives;

static void JNICALL bind(JNIEnv *env, jclass cls)
{
	JNINativeMethod m[] = {
		{ (char *)"enter0", (char *)"(Ljava/lang/Object;II)V", natives->enter },
		{ (char *)"exit0", (char *)"(Ljava/lang/Object;II)V", natives->exit },
		{ (char *)"owns0", (char *)"(Ljava/lang/Object;IILjava/lang/Thread;)V", natives->owns },
		{ (char *)"state0", (char *)"(Ljava/lang/Object;III)V", natives->state },
		{ (char *)"notify0", (char *)"(Ljava/lang/Object;III)V", natives->notify },
		{ (char *)"stamped0", (char *)"(Ljava/lang/Object;III)V", natives->stamped },
		{ (char *)"waited", (char *)"()V", natives->waited },
	};

	bound = (*env)->RegisterNatives(env, helper, m, ARRAY_SIZE(m)) == JNI_OK;
}

jclass exact_helper(JNIEnv *env, const struct exact_natives *n)
{
	struct image c;

	if (!helper) {
		make_class(&c);
		helper = helper_add_class(env, EXACT_HELPER, &c);
	}
	natives = n;
	if (helper && !bound)
		helper_bind(env, bind);
	return bound ? helper : NULL;
}
