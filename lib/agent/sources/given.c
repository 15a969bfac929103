// SPDX-License-Identifier: MIT
/*
 * given.c - puts probes into methods of libraries, which pass their arguments to a class of ours (given.h).
 */
#include "agent/agent.h"
#include "agent/calls/flow.h"
#include "agent/ring.h"
#include "agent/sources/given.h"
#include "agent/sources/part.h"

static void given_refuse(const struct given *g, const char *why, size_t len)
{
	send_no_source(NULL, &(struct jvm_no_source){
		.time_ns = sys_now(), .source = g->source, .why = why, .why_len = len,
	});
}

static size_t given_put_number(char *to, uint32_t v)
{
	char digits[10];
	size_t nr = 0, i;

	do
		digits[nr++] = '0' + v % 10;
	while (v /= 10);
	for (i = 0; i < nr; i++)
		to[i] = digits[nr - 1 - i];
	return nr;
}

static size_t given_put_text(char *to, const char *s, size_t max)
{
	size_t len = str_len(s);

	len = len < max ? len : max;
	memcpy(to, s, len);
	return len;
}

void given_missed(struct given *g, JNIEnv *env, jstring why)
{
	enum { MAX_WHY = 160 };
	uint32_t nr = __atomic_add_fetch(&g->nr_missed, 1, __ATOMIC_RELAXED), n = nr;
	char text[MAX_WHY + 64];
	const char *s;
	size_t len;

	while (n > 1 && n % 10 == 0)
		n /= 10;
	if (n != 1 || !sample_begin())
		return;
	s = (*env)->GetStringUTFChars(env, why, NULL);
	len = given_put_number(text, nr);
	len += given_put_text(text + len, nr == 1 ? " time something was not as expected: " :
					      " times something was not as expected, last: ", 48);
	len += given_put_text(text + len, s ? s : "?", MAX_WHY - 1);
	if (s)
		(*env)->ReleaseStringUTFChars(env, why, s);
	given_refuse(g, text, len);
	sample_end();
}

static void clear_exception(JNIEnv *env)
{
	if ((*env)->ExceptionCheck(env))
		(*env)->ExceptionClear(env);
}

static bool given_define(struct given_class *h, JNIEnv *env)
{
	const jsize len = (jsize)(h->file_end - h->file);
	jclass cls;

	if (h->class || !len)
		return h->class;
	cls = (*env)->DefineClass(env, h->name, NULL, h->file, len);
	h->class = cls ? (*env)->NewGlobalRef(env, cls) : NULL;
	clear_exception(env);
	if (h->class)
		helper_bind(env, h->bind);
	return h->class;
}

/* Turn the class on, or off with random 0. */
static bool given_turn(const struct given_class *h, JNIEnv *env, uint64_t random)
{
	jmethodID m = (*env)->GetStaticMethodID(env, h->class, "turn", "(J)V");
	bool failed;

	if (m)
		(*env)->CallStaticVoidMethod(env, h->class, m, (jlong)random);
	failed = !m || (*env)->ExceptionCheck(env);
	clear_exception(env);
	return !failed;
}

/* ---- probes ---- */

/* Return whether t is s, or begins with the part of s before a '*'. */
static bool given_is_text(const struct classfile_text *t, const char *s)
{
	size_t i;

	for (i = 0; s[i] && s[i] != '*'; i++)
		if (i >= t->len || t->p[i] != s[i])
			return false;
	return s[i] == '*' || i == t->len;
}

/* Return whether the method can have the probes: what they are given exists. */
static bool can_be(const struct classfile_method *m, int32_t answer)
{
	const char *type = m->descriptor.p, *end = type + m->descriptor.len;

	while (type < end && *type != ')')
		type++;
	return !(m->flags & CLASSFILE_ACC_STATIC && answer & CLASSFILE_GIVEN_THIS) &&
	       !(answer & CLASSFILE_GIVEN_RESULT && !(end - type > 1 && (type[1] == 'L' || type[1] == '[')));
}

static int32_t given_select_method(void *ctx, const struct classfile_method *m)
{
	const struct given *g = ctx;
	size_t i;

	if (m->class_flags & CLASSFILE_ACC_INTERFACE)
		return CLASSFILE_LEAVE_ALONE;
	for (i = 0; i < g->nr_methods; i++) {
		const struct given_method *of = &g->methods[i];

		if ((!of->class || given_is_text(&m->class_name, of->class)) &&
		    given_is_text(&m->name, of->name) &&
		    given_is_text(&m->descriptor, of->type) && can_be(m, of->answer))
			return of->answer;
	}
	return CLASSFILE_LEAVE_ALONE;
}

static void given_skipped(void *ctx, const struct classfile_method *m, enum classfile_reason reason)
{
	const char *why = classfile_reason_text(reason);

	if (!sample_begin())
		return;
	given_refuse(ctx, why, str_len(why));
	sample_end();
}

/* Each class has memory of its own; what is not touched of it takes none. */
struct memory {
	char *p;
	size_t size, used;
};

static void *given_get(void *ctx, size_t size)
{
	struct memory *m = ctx;

	size = (size + 15) & ~(size_t)15;
	if (size > m->size - m->used)
		return NULL;
	m->used += size;
	return m->p + m->used - size;
}

static bool given_rewrite(struct given *g, jvmtiEnv *jvmti, const unsigned char *data, jint len,
			  jint *new_len, unsigned char **new_data)
{
	struct memory memory = { .size = 64 * (size_t)len + (32 << 20) };
	const struct classfile_probe probe = {
		.helper = g->helper->name, .given = &g->helper->calls, .select = given_select_method,
		.skipped = given_skipped, .ctx = g, .mem = given_get, .mem_ctx = &memory,
	};
	struct classfile_out out;
	unsigned char *copy;
	bool ok = false;

	memory.p = sys_pages(memory.size);
	if (!memory.p)
		return false;
	if (!classfile_rewrite(data, len, &probe, &out) && out.data &&
	    (*jvmti)->Allocate(jvmti, out.len, &copy) == JVMTI_ERROR_NONE) {
		memcpy(copy, out.data, out.len);
		*new_len = out.len;
		*new_data = copy;
		ok = true;
	}
	sys(__NR_munmap, memory.p, memory.size);
	return ok;
}

static bool is_probed(struct given *g, const char *name, size_t len, bool now)
{
	struct hashes_key k = HASHES_KEY;
	uint32_t *at;
	bool is;

	hashes_text(&k, name, len);
	sys_lock(&g->lock);
	at = now ? hashes_put(&g->probed, &k) : NULL;
	if (at)
		*at = 1;
	is = at || hashes_get(&g->probed, &k);
	sys_unlock(&g->lock);
	return is;
}

static bool given_is_named(const struct given *g, const char *name, size_t len)
{
	const struct classfile_text t = { name, len };
	size_t i;

	for (i = 0; i < g->nr_methods && !given_is_text(&t, g->methods[i].class); i++)
		;
	return i < g->nr_methods;
}

static bool may_have(const struct given *g, const char *name, const unsigned char *data, size_t len)
{
	return g->may_have ? g->may_have(name, data, len) : given_is_named(g, name, str_len(name));
}

static void JNICALL on_load(jvmtiEnv *jvmti, JNIEnv *env, jclass redefined, jobject loader, const char *name,
			    jobject domain, jint len, const unsigned char *data, jint *new_len,
			    unsigned char **new_data)
{
	struct given *g;

	if (name && (*jvmti)->GetEnvironmentLocalStorage(jvmti, (void **)&g) == JVMTI_ERROR_NONE && g &&
	    may_have(g, name, data, len) && !log_closed() &&
	    given_rewrite(g, jvmti, data, len, new_len, new_data))
		is_probed(g, name, str_len(name), true);
}

static bool is_concerned(struct given *g, JNIEnv *env, jclass cls, const char *sig, bool undo)
{
	size_t len = str_len(sig);

	if (sig[0] != 'L')
		return false;
	if (undo)
		return is_probed(g, sig + 1, len - 2, false);
	return g->has ? g->has(env, cls, sig) : given_is_named(g, sig + 1, len - 2);
}

/* Give loaded classes their probes, or with the hook disabled take them away. */
static void given_retransform(struct given *g, JNIEnv *env, bool undo)
{
	jclass *classes;
	char *sig;
	jint nr, i;

	if ((*g->ti)->GetLoadedClasses(g->ti, &nr, &classes) != JVMTI_ERROR_NONE)
		return;
	for (i = 0; i < nr; i++) {
		if ((*g->ti)->GetClassSignature(g->ti, classes[i], &sig, NULL) == JVMTI_ERROR_NONE) {
			if (is_concerned(g, env, classes[i], sig, undo))
				(*g->ti)->RetransformClasses(g->ti, 1, &classes[i]);
			(*g->ti)->Deallocate(g->ti, (void *)sig);
		}
		(*env)->DeleteLocalRef(env, classes[i]);
	}
	(*g->ti)->Deallocate(g->ti, (void *)classes);
}

/* ---- on and off ---- */

static bool given_ask_vm(struct given *g, JavaVM *jvm)
{
	jvmtiCapabilities want;
	jvmtiEventCallbacks cb;

	if ((*jvm)->GetEnv(jvm, (void **)&g->ti, JVMTI_VERSION_1_2) != JNI_OK) {
		g->ti = NULL;
		return false;
	}
	memset(&want, 0, sizeof(want));
	memset(&cb, 0, sizeof(cb));
	want.can_retransform_classes = 1;
	cb.ClassFileLoadHook = on_load;
	if ((*g->ti)->AddCapabilities(g->ti, &want) == JVMTI_ERROR_NONE &&
	    (*g->ti)->SetEnvironmentLocalStorage(g->ti, g) == JVMTI_ERROR_NONE &&
	    (*g->ti)->SetEventCallbacks(g->ti, &cb, sizeof(cb)) == JVMTI_ERROR_NONE &&
	    (*g->ti)->SetEventNotificationMode(g->ti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL) ==
		    JVMTI_ERROR_NONE)
		return true;
	(*g->ti)->DisposeEnvironment(g->ti);
	g->ti = NULL;
	return false;
}

static uint64_t random_number(void)
{
	uint64_t v = sys_now();

	sys(__NR_getrandom, &v, sizeof(v), 0);
	return v | 1;
}

const char *given_on(struct given *g, JavaVM *jvm, JNIEnv *env)
{
	if (!env)
		return NULL;
	g->nr_missed = 0;
	g->helper->prepare(env);
	if (!given_define(g->helper, env) || !given_turn(g->helper, env, random_number()))
		return "its classes are not there, or this JVM does not take them";
	if (given_ask_vm(g, jvm)) {
		given_retransform(g, env, false);
		return NULL;
	}
	given_turn(g->helper, env, 0);
	return "this JVM does not let its classes be changed";
}

void given_up(struct given *g, JNIEnv *env)
{
	uint64_t interval;
	const char *why;
	JavaVM *jvm;

	if (!part_is_wanted(g->source, &interval) || g->ti || (*env)->GetJavaVM(env, &jvm))
		return;
	why = given_on(g, jvm, env);
	if (why)
		given_refuse(g, why, str_len(why));
}

void given_off(struct given *g, JNIEnv *env)
{
	if (!g->ti || !env)
		return;
	given_turn(g->helper, env, 0);
	(*g->ti)->SetEventNotificationMode(g->ti, JVMTI_DISABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL);
	given_retransform(g, env, true);
	(*g->ti)->DisposeEnvironment(g->ti);
	g->ti = NULL;
	sys_lock(&g->lock);
	hashes_forget(&g->probed);
	sys_unlock(&g->lock);
}
