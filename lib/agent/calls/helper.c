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
#include "agent/calls/flow.h"
#include "agent/calls/image.h"

enum { VERSION = 52 };		/* JDK 8, and every later one takes it */

static void make_probe_class(struct image *c)
{
	enum { TYPE = 5, ENTER, EXIT, THROWN, CAUGHT, COUNT, LINE, BCI, NR_CONSTANTS };

	image_begin(c, VERSION, HELPER_CLASS, NR_CONSTANTS);
	utf8(c, "(I)V");
	utf8(c, HELPER_ENTER);
	utf8(c, HELPER_EXIT);
	utf8(c, HELPER_THROWN);
	utf8(c, HELPER_CAUGHT);
	utf8(c, HELPER_COUNT);
	utf8(c, HELPER_LINE);
	utf8(c, HELPER_BCI);
	image_methods(c, 7);
	image_native(c, ENTER, TYPE);
	image_native(c, EXIT, TYPE);
	image_native(c, THROWN, TYPE);
	image_native(c, CAUGHT, TYPE);
	image_native(c, COUNT, TYPE);
	image_native(c, LINE, TYPE);
	image_native(c, BCI, TYPE);
	u2(c, 0);
}

static void make_init_class(struct image *c)
{
	enum { TYPE = 5, INIT, BIND, CODE, BIND_TYPE, BIND_METHOD, NR_CONSTANTS };

	image_begin(c, VERSION, HELPER_INIT_CLASS, NR_CONSTANTS);
	utf8(c, "()V");
	utf8(c, "init");
	utf8(c, "bind");
	utf8(c, "Code");
	pair(c, CP_NAME_AND_TYPE, BIND, TYPE);
	pair(c, CP_METHOD, 2, BIND_TYPE);
	image_methods(c, 2);
	image_native(c, BIND, TYPE);
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

/* The other probes are the same for all kinds. */
static const struct probes {
	uint32_t flag;
	void *enter, *exit, *thrown;
} kinds[] = {
	{ CALLFLOW_BRACKETS, (void *)bracket_enter, (void *)bracket_exit, (void *)bracket_thrown },
	{ CALLFLOW_TIMED, (void *)timed_enter, (void *)timed_exit, (void *)timed_thrown },
	{ CALLFLOW_SITES, (void *)site_enter, (void *)site_exit, (void *)site_thrown },
	{ CALLFLOW_TIERS, (void *)tier_enter, (void *)tier_exit, (void *)tier_thrown },
	{ CALLFLOW_TREES, (void *)probe_enter, (void *)probe_exit, (void *)probe_thrown },
};

/* bound again when another recorder wants other probes */
static const struct probes *bound;

static const struct probes *wanted_probes(void)
{
	uint32_t flags = callflow_area()->flags;
	const struct probes *p = kinds;

	while (p < kinds + ARRAY_SIZE(kinds) - 1 && !(flags & p->flag))
		p++;
	return p;
}

static void JNICALL bind_probes(JNIEnv *env, jclass cls)
{
	const struct probes *p = wanted_probes();
	JNINativeMethod m[] = {
		{ (char *)HELPER_ENTER, (char *)"(I)V", p->enter },
		{ (char *)HELPER_EXIT, (char *)"(I)V", p->exit },
		{ (char *)HELPER_THROWN, (char *)"(I)V", p->thrown },
		{ (char *)HELPER_CAUGHT, (char *)"(I)V", (void *)probe_caught },
		{ (char *)HELPER_COUNT, (char *)"(I)V", (void *)probe_count },
		{ (char *)HELPER_LINE, (char *)"(I)V", (void *)site_line },
		{ (char *)HELPER_BCI, (char *)"(I)V", (void *)site_bci },
	};

	if (callflow_area()->flags & CALLFLOW_TIERS)
		tier_try(__builtin_frame_address(0));
	bound = (*env)->RegisterNatives(env, probe_class, m, ARRAY_SIZE(m)) == JNI_OK ? p : NULL;
}

/* Define the class, or find the one of another version of the agent, whose probes are no longer called. */
static jclass define(JNIEnv *env, const char *name, const struct image *c)
{
	jclass cls = (*env)->DefineClass(env, name, NULL, (const jbyte *)c->data, c->len);

	if (!cls && (*env)->ExceptionCheck(env)) {
		(*env)->ExceptionClear(env);
		cls = (*env)->FindClass(env, name);
	}
	return cls;
}

jclass helper_add_class(JNIEnv *env, const char *name, const struct image *c)
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
		init_class = helper_add_class(env, HELPER_INIT_CLASS, &c);
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

	if (bound == wanted_probes())
		return true;
	if (!probe_class) {
		make_probe_class(&c);
		probe_class = helper_add_class(env, HELPER_CLASS, &c);
	}
	bound = NULL;
	if (probe_class)
		helper_bind(env, bind_probes);
	return bound;
}
