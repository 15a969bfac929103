// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * jvmti-calls.c - a JVMTI agent that counts method entries the plain way, with MethodEntry events:
 * what exact callflow is compared with. It makes the JVM interpret everything.
 *
 * -agentpath:<file>=<output>[,<prefix of class>...]   default: classes of application loaders
 *
 * "+exit" among the prefixes has MethodExit events sent too; with "+step" the bytecodes that each method
 * executes are counted instead, by SingleStep. At the end it writes
 * "<class.method><signature> <entries>" for each method, with dots, to <output>.<process>. Methods
 * that cannot have probes are none of them: native ones, those of classes that nobody can
 * retransform (hidden ones), and the accessors that reflection generates.
 */
#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NR_SLOTS = 1 << 20 };

struct slot {
	jmethodID method;		/* NULL: free */
	uint64_t entries;
	char *name;			/* NULL: not counted */
};

static struct slot slots[NR_SLOTS];
static jvmtiEnv *ti;
static jrawMonitorID lock;
static jobject platform_loader;
static char *output, *prefixes[64];
static int nr_prefixes;
static bool exits, steps;
static uint64_t nr_exits;

static void die(const char *what)
{
	fprintf(stderr, "jvmti-calls: %s\n", what);
	exit(3);
}

static bool has_prefix(const char *class_name)
{
	int i;

	for (i = 0; i < nr_prefixes; i++)
		if (!strncmp(class_name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

static bool is_application(JNIEnv *env, jclass cls)
{
	jobject loader = NULL;
	bool yes;

	if ((*ti)->GetClassLoader(ti, cls, &loader) || !loader)
		return false;
	yes = !(*env)->IsSameObject(env, loader, platform_loader);
	(*env)->DeleteLocalRef(env, loader);
	return yes;
}

/* What HotSpot's reflection generates, in loaders of its own. */
static bool is_accessor(const char *class_name)
{
	return !strncmp(class_name, "jdk.internal.reflect.", 21) || !strncmp(class_name, "sun.reflect.", 12);
}

static bool is_asked_for(JNIEnv *env, jclass cls, const char *class_name)
{
	return nr_prefixes ? has_prefix(class_name) : is_application(env, cls) && !is_accessor(class_name);
}

/* "com.example.Class.method(I)V", or NULL when it is none of those that are asked for. */
static char *name_of(JNIEnv *env, jmethodID method)
{
	char *class_sig, *name, *sig, *out = NULL, *p;
	jboolean modifiable, native;
	jclass cls;

	if ((*ti)->GetMethodDeclaringClass(ti, method, &cls) ||
	    (*ti)->IsModifiableClass(ti, cls, &modifiable) || (*ti)->IsMethodNative(ti, method, &native) ||
	    (*ti)->GetClassSignature(ti, cls, &class_sig, NULL) ||
	    (*ti)->GetMethodName(ti, method, &name, &sig, NULL))
		die("a method has no name");
	class_sig[strlen(class_sig) - 1] = '\0';
	for (p = class_sig; *p; p++)
		if (*p == '/')
			*p = '.';
	if (modifiable && !native && is_asked_for(env, cls, class_sig + 1) &&
	    asprintf(&out, "%s.%s%s", class_sig + 1, name, sig) < 0)
		die("no memory");
	(*ti)->Deallocate(ti, (void *)class_sig);
	(*ti)->Deallocate(ti, (void *)name);
	(*ti)->Deallocate(ti, (void *)sig);
	(*env)->DeleteLocalRef(env, cls);
	return out;
}

static struct slot *find(jmethodID method)
{
	size_t i = ((uintptr_t)method >> 3) * 0x9e3779b97f4a7c15ull >> 44;

	for (;; i++) {
		jmethodID m = __atomic_load_n(&slots[i % NR_SLOTS].method, __ATOMIC_ACQUIRE);

		if (m == method || !m)
			return &slots[i % NR_SLOTS];
	}
}

static void JNICALL on_entry(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jmethodID method)
{
	struct slot *s = find(method);

	if (!s->method) {
		char *name = name_of(env, method);

		(*ti)->RawMonitorEnter(ti, lock);
		s = find(method);
		if (!s->method) {
			s->name = name;
			__atomic_store_n(&s->method, method, __ATOMIC_RELEASE);
		}
		(*ti)->RawMonitorExit(ti, lock);
	}
	__atomic_fetch_add(&s->entries, 1, __ATOMIC_RELAXED);
}

static void JNICALL on_step(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jmethodID method, jlocation at)
{
	on_entry(jvmti, env, thread, method);
}

static void JNICALL on_exit_(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jmethodID method, jboolean thrown,
			     jvalue v)
{
	__atomic_fetch_add(&nr_exits, 1, __ATOMIC_RELAXED);
}

static void JNICALL on_init(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	jclass cls = (*env)->FindClass(env, "java/lang/ClassLoader");
	jmethodID get = (*env)->GetStaticMethodID(env, cls, "getPlatformClassLoader", "()Ljava/lang/ClassLoader;");

	platform_loader = (*env)->NewGlobalRef(env, (*env)->CallStaticObjectMethod(env, cls, get));
	(*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE,
					steps ? JVMTI_EVENT_SINGLE_STEP : JVMTI_EVENT_METHOD_ENTRY, NULL);
	if (exits)
		(*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_METHOD_EXIT, NULL);
}

static void JNICALL on_death(jvmtiEnv *jvmti, JNIEnv *env)
{
	char *path;
	size_t i;
	FILE *f;

	if (asprintf(&path, "%s.%d", output, (int)getpid()) < 0 || !(f = fopen(path, "w")))
		die("cannot write");
	for (i = 0; i < NR_SLOTS; i++)
		if (slots[i].name)
			fprintf(f, "%s %lu\n", slots[i].name, (unsigned long)slots[i].entries);
	fclose(f);
	free(path);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	jvmtiCapabilities want = { 0 };
	jvmtiEventCallbacks cb = { 0 };
	char *o = options ? strdup(options) : NULL;

	output = o ? strtok(o, ",") : NULL;
	if (!output)
		die("no output file");
	while (nr_prefixes < 64 && (prefixes[nr_prefixes] = strtok(NULL, ","))) {
		if (!strcmp(prefixes[nr_prefixes], "+exit"))
			exits = true;
		else if (!strcmp(prefixes[nr_prefixes], "+step"))
			steps = true;
		else
			nr_prefixes++;
	}
	if ((*vm)->GetEnv(vm, (void **)&ti, JVMTI_VERSION_1_2) != JNI_OK)
		die("no JVMTI");
	want.can_generate_method_entry_events = 1;
	/* With the second one HotSpot makes no single bytecode of two. */
	want.can_generate_single_step_events = want.can_generate_breakpoint_events = steps;
	want.can_generate_method_exit_events = exits;
	want.can_retransform_classes = 1;
	want.can_retransform_any_class = 1;
	cb.MethodEntry = on_entry;
	cb.MethodExit = on_exit_;
	cb.SingleStep = on_step;
	cb.VMInit = on_init;
	cb.VMDeath = on_death;
	if ((*ti)->AddCapabilities(ti, &want) || (*ti)->SetEventCallbacks(ti, &cb, sizeof(cb)) ||
	    (*ti)->CreateRawMonitor(ti, "jvmti-calls", &lock))
		die("refused");
	(*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL);
	(*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, NULL);
	return JNI_OK;
}
