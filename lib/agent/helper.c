// SPDX-License-Identifier: MIT
/*
 * helper.c - the two classes that callflow adds to a JVM, as class files built here.
 *
 * java.lang.ArcProbe has the probes, as native methods. Instrumented classes of any module and any
 * loader must see it: java.base is read by all modules, and every loader leaves java.* to the
 * boot loader.
 *
 * Binding native methods of a class in a named module of the boot loader makes HotSpot print
 * a warning on the program's stdout, unless the caller is a Java method of that loader. So
 * arcprof.Init, in the boot loader's unnamed module, is there to be that caller: its init() calls a
 * native method that binds the probes.
 *
 * Source: The Java Virtual Machine Specification, chapter 4; the warning: prims/jni.cpp,
 * jni_RegisterNatives().
 */
#include "agent/flow.h"
#include "agent/sys.h"

enum {
	CP_UTF8 = 1,
	CP_CLASS = 7,
	CP_METHOD = 10,
	CP_NAME_AND_TYPE = 12,
	ACC_PUBLIC = 0x0001,
	ACC_STATIC = 0x0008,
	ACC_FINAL = 0x0010,
	ACC_SUPER = 0x0020,
	ACC_NATIVE = 0x0100,
	OP_RETURN = 0xb1,
	OP_INVOKESTATIC = 0xb8,
	VERSION = 52,			/* JDK 8, and every later one takes it */
};

struct image {
	uint8_t data[512];
	size_t len;
};

static void u1(struct image *c, uint8_t v)
{
	c->data[c->len++] = v;
}

static void u2(struct image *c, uint16_t v)
{
	u1(c, v >> 8);
	u1(c, v);
}

static void u4(struct image *c, uint32_t v)
{
	u2(c, v >> 16);
	u2(c, v);
}

static void utf8(struct image *c, const char *s)
{
	size_t len = str_len(s);

	u1(c, CP_UTF8);
	u2(c, len);
	memcpy(c->data + c->len, s, len);
	c->len += len;
}

static void pair(struct image *c, uint8_t tag, uint16_t a, uint16_t b)
{
	u1(c, tag);
	u2(c, a);
	u2(c, b);
}

/* Constants 1 to 4: the class and its superclass; more follow up to nr_constants - 1. */
static void begin(struct image *c, const char *name, uint16_t nr_constants)
{
	c->len = 0;
	u4(c, 0xcafebabe);
	u2(c, 0);
	u2(c, VERSION);
	u2(c, nr_constants);
	utf8(c, name);
	u1(c, CP_CLASS);
	u2(c, 1);
	utf8(c, "java/lang/Object");
	u1(c, CP_CLASS);
	u2(c, 3);
}

/* No interfaces, no fields. */
static void methods(struct image *c, uint16_t nr)
{
	u2(c, ACC_PUBLIC | ACC_FINAL | ACC_SUPER);
	u2(c, 2);
	u2(c, 4);
	u2(c, 0);
	u2(c, 0);
	u2(c, nr);
}

static void native_method(struct image *c, uint16_t name, uint16_t type)
{
	u2(c, ACC_PUBLIC | ACC_STATIC | ACC_NATIVE);
	u2(c, name);
	u2(c, type);
	u2(c, 0);
}

static void make_probe_class(struct image *c)
{
	enum { TYPE = 5, ENTER, EXIT, THROWN, CAUGHT, NR_CONSTANTS };

	begin(c, HELPER_CLASS, NR_CONSTANTS);
	utf8(c, "(I)V");
	utf8(c, HELPER_ENTER);
	utf8(c, HELPER_EXIT);
	utf8(c, HELPER_THROWN);
	utf8(c, HELPER_CAUGHT);
	methods(c, 4);
	native_method(c, ENTER, TYPE);
	native_method(c, EXIT, TYPE);
	native_method(c, THROWN, TYPE);
	native_method(c, CAUGHT, TYPE);
	u2(c, 0);
}

static void make_init_class(struct image *c)
{
	enum { TYPE = 5, INIT, BIND, CODE, BIND_TYPE, BIND_METHOD, NR_CONSTANTS };

	begin(c, HELPER_INIT_CLASS, NR_CONSTANTS);
	utf8(c, "()V");
	utf8(c, "init");
	utf8(c, "bind");
	utf8(c, "Code");
	pair(c, CP_NAME_AND_TYPE, BIND, TYPE);
	pair(c, CP_METHOD, 2, BIND_TYPE);
	methods(c, 2);
	native_method(c, BIND, TYPE);
	u2(c, ACC_PUBLIC | ACC_STATIC);
	u2(c, INIT);
	u2(c, TYPE);
	u2(c, 1);
	u2(c, CODE);
	u4(c, 16);			/* of the attribute from here */
	u2(c, 0);			/* operand stack */
	u2(c, 0);			/* locals */
	u4(c, 4);
	u1(c, OP_INVOKESTATIC);
	u2(c, BIND_METHOD);
	u1(c, OP_RETURN);
	u2(c, 0);			/* exceptions */
	u2(c, 0);			/* attributes of the code */
	u2(c, 0);			/* of the class */
}

static jclass probe_class, init_class;
/* once bound, they are bound anew when another recorder wants other ones */
static bool bound, bound_to_brackets;

static bool brackets_wanted(void)
{
	return callflow_area()->flags & CALLFLOW_BRACKETS;
}

static void JNICALL bind_probes(JNIEnv *env, jclass cls)
{
	bool brackets = brackets_wanted();
	JNINativeMethod m[] = {
		{ (char *)HELPER_ENTER, (char *)"(I)V", (void *)(brackets ? bracket_enter : probe_enter) },
		{ (char *)HELPER_EXIT, (char *)"(I)V", (void *)(brackets ? bracket_exit : probe_exit) },
		{ (char *)HELPER_THROWN, (char *)"(I)V", (void *)(brackets ? bracket_thrown : probe_thrown) },
		{ (char *)HELPER_CAUGHT, (char *)"(I)V", (void *)probe_caught },
	};

	bound = (*env)->RegisterNatives(env, probe_class, m, ARRAY_SIZE(m)) == JNI_OK;
	bound_to_brackets = brackets;
}

/* It may exist already, from another version of the agent, whose probes are no longer called. */
static jclass define(JNIEnv *env, const char *name, const struct image *c)
{
	jclass cls = (*env)->DefineClass(env, name, NULL, (const jbyte *)c->data, c->len);

	if (!cls && (*env)->ExceptionCheck(env)) {
		(*env)->ExceptionClear(env);
		cls = (*env)->FindClass(env, name);
	}
	return cls;
}

static jclass define_for_good(JNIEnv *env, const char *name, const struct image *c)
{
	jclass cls = define(env, name, c);

	return cls ? (*env)->NewGlobalRef(env, cls) : NULL;
}

void helper_bind(JNIEnv *env, void (JNICALL *bind)(JNIEnv *env, jclass cls))
{
	JNINativeMethod m = { (char *)"bind", (char *)"()V", (void *)bind };
	struct image c;
	jmethodID init;

	if (!init_class) {
		make_init_class(&c);
		init_class = define_for_good(env, HELPER_INIT_CLASS, &c);
	}
	if (init_class && (*env)->RegisterNatives(env, init_class, &m, 1) == JNI_OK) {
		init = (*env)->GetStaticMethodID(env, init_class, "init", "()V");
		if (init)
			(*env)->CallStaticVoidMethod(env, init_class, init);
	}
	if ((*env)->ExceptionCheck(env))
		(*env)->ExceptionClear(env);
}

bool helper_define(JNIEnv *env)
{
	struct image c;

	if (bound && bound_to_brackets == brackets_wanted())
		return true;
	if (!probe_class) {
		make_probe_class(&c);
		probe_class = define_for_good(env, HELPER_CLASS, &c);
	}
	bound = false;
	if (probe_class)
		helper_bind(env, bind_probes);
	return bound;
}
