// SPDX-License-Identifier: MIT
/*
 * http.c - calls over HTTP: a source of their time, with the stack of who calls; and the number that a call
 * carries from client to server, by which "merge --join rpc" finds the one for the other.
 *
 * Methods of clients and servers get probes, which call java.lang.ArcHttp (java/ArcHttp.java). It gives the
 * request its number, and the threads the label "rpc".
 */
#include <jvmti.h>

#include "agent/agent.h"
#include "agent/calls/flow.h"
#include "agent/ring.h"
#include "agent/session/label.h"
#include "agent/sources/part.h"
#include "agent/sources/sources.h"
#include "agent/sys.h"
#include "classfile/rewrite.h"

#define HELPER "java/lang/ArcHttp"

/* Compiled from java/ArcHttp.java; without a compiler it is empty. */
__asm__(".pushsection .rodata\n"
	".balign 16\n"
	"http_class_file:\n"
#ifdef HTTP_CLASS
	".incbin \"" HTTP_CLASS "\"\n"
#endif
	"http_class_file_end:\n"
	".popsection\n");
extern const jbyte http_class_file[] __attribute__((visibility("hidden")));
extern const jbyte http_class_file_end[] __attribute__((visibility("hidden")));

/* The helper is told one of these; the same is in ArcHttp.java. */
enum { SEND, SENDS, GET, WRITES, EXCHANGE, SERVICE };

/* Methods with probes. type: their descriptor, or how it begins, with a '*'. */
static const struct probed {
	const char *class, *method, *type;
	int32_t answer;
} methods[] = {
	/* java.net.http: a constructor has the request that is about to be sent */
	{ "jdk/internal/net/http/HttpClientImpl", "send", "(Ljava/net/http/HttpRequest;*",
	  CLASSFILE_GIVEN(SEND, 1, 1) },
	{ "jdk/internal/net/http/HttpClientImpl", "sendAsync", "(Ljava/net/http/HttpRequest;*",
	  CLASSFILE_GIVEN(SEND, 1, 1) },
	{ "jdk/internal/net/http/MultiExchange", "<init>",
	  "(Ljava/net/http/HttpRequest;Ljdk/internal/net/http/HttpRequestImpl;*",
	  CLASSFILE_GIVEN(SENDS, 2, 0) },
	/* java.net.HttpURLConnection, also of https */
	{ "sun/net/www/protocol/http/HttpURLConnection", "getInputStream", "()Ljava/io/InputStream;",
	  CLASSFILE_GIVEN(GET, 0, 1) },
	{ "sun/net/www/protocol/http/HttpURLConnection", "writeRequests", "()V",
	  CLASSFILE_GIVEN(WRITES, 0, 0) },
	/* servers: com.sun.net.httpserver, and servlets of any container */
	{ "com/sun/net/httpserver/Filter$Chain", "doFilter", "(Lcom/sun/net/httpserver/HttpExchange;)V",
	  CLASSFILE_GIVEN(EXCHANGE, 1, 1) },
	{ "jakarta/servlet/http/HttpServlet", "service", "(Ljakarta/servlet/ServletRequest;*",
	  CLASSFILE_GIVEN(SERVICE, 1, 1) },
	{ "javax/servlet/http/HttpServlet", "service", "(Ljavax/servlet/ServletRequest;*",
	  CLASSFILE_GIVEN(SERVICE, 1, 1) },
};

static jvmtiEnv *ti;			/* NULL: it is off */
static jclass helper;
static uint32_t nr_missed;

static void refuse(const char *why, size_t len)
{
	send_no_source(NULL, &(struct jvm_no_source){
		.time_ns = sys_now(), .source = JVM_SOURCE_HTTP, .why = why, .why_len = len,
	});
}

/* ---- natives of the helper ---- */

static void JNICALL called(JNIEnv *env, jclass cls, jlong ns)
{
	sources_sample(JVM_SOURCE_HTTP, ns > 0 ? (uint64_t)ns : 1, 0, 0);
}

static size_t put_number(char *to, uint32_t v)
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

static size_t put_text(char *to, const char *s, size_t max)
{
	size_t len = str_len(s);

	len = len < max ? len : max;
	memcpy(to, s, len);
	return len;
}

/* Told at the first time, the tenth and so on: a program may do it for each of a million. */
static void JNICALL missed(JNIEnv *env, jclass cls, jstring why)
{
	enum { MAX_WHY = 160 };
	uint32_t nr = __atomic_add_fetch(&nr_missed, 1, __ATOMIC_RELAXED), n = nr;
	char text[MAX_WHY + 64];
	const char *s;
	size_t len;

	while (n > 1 && n % 10 == 0)
		n /= 10;
	if (n != 1 || !sample_begin())
		return;
	s = (*env)->GetStringUTFChars(env, why, NULL);
	len = put_number(text, nr);
	len += put_text(text + len, nr == 1 ? " time something was not as expected: " :
					      " times something was not as expected, last: ", 48);
	len += put_text(text + len, s ? s : "?", MAX_WHY - 1);
	if (s)
		(*env)->ReleaseStringUTFChars(env, why, s);
	refuse(text, len);
	sample_end();
}

static void JNICALL bind(JNIEnv *env, jclass cls)
{
	const JNINativeMethod m[] = {
		{ (char *)"called", (char *)"(J)V", (void *)called },
		{ (char *)"missed", (char *)"(Ljava/lang/String;)V", (void *)missed },
	};

	(*env)->RegisterNatives(env, helper, m, ARRAY_SIZE(m));
}

static void clear_exception(JNIEnv *env)
{
	if ((*env)->ExceptionCheck(env))
		(*env)->ExceptionClear(env);
}

static bool define(JNIEnv *env)
{
	const jsize len = (jsize)(http_class_file_end - http_class_file);
	jclass cls;

	if (helper || !len)
		return helper;
	cls = (*env)->DefineClass(env, HELPER, NULL, http_class_file, len);
	helper = cls ? (*env)->NewGlobalRef(env, cls) : NULL;
	clear_exception(env);
	if (helper)
		helper_bind(env, bind);
	return helper;
}

/* Off with 0. */
static bool turn(JNIEnv *env, uint64_t random)
{
	jmethodID m = helper ? (*env)->GetStaticMethodID(env, helper, "turn", "(J)V") : NULL;
	bool failed;

	if (m)
		(*env)->CallStaticVoidMethod(env, helper, m, (jlong)random);
	failed = !m || (*env)->ExceptionCheck(env);
	clear_exception(env);
	return !failed;
}

/* ---- probes ---- */

static bool is_text(const struct classfile_text *t, const char *s)
{
	size_t i;

	for (i = 0; s[i] && s[i] != '*'; i++)
		if (i >= t->len || t->p[i] != s[i])
			return false;
	return s[i] == '*' || i == t->len;
}

static int32_t select_method(void *ctx, const struct classfile_method *m)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(methods); i++)
		if (is_text(&m->class_name, methods[i].class) && is_text(&m->name, methods[i].method) &&
		    is_text(&m->descriptor, methods[i].type) && !(m->flags & CLASSFILE_ACC_STATIC))
			return methods[i].answer;
	return CLASSFILE_LEAVE_ALONE;
}

static void skipped(void *ctx, const struct classfile_method *m, enum classfile_reason reason)
{
	const char *why = classfile_reason_text(reason);

	if (!sample_begin())
		return;
	refuse(why, str_len(why));
	sample_end();
}

/* Each class has memory of its own; what is not touched of it takes none. */
struct memory {
	char *p;
	size_t size, used;
};

static void *get(void *ctx, size_t size)
{
	struct memory *m = ctx;

	size = (size + 15) & ~(size_t)15;
	if (size > m->size - m->used)
		return NULL;
	m->used += size;
	return m->p + m->used - size;
}

static void rewrite(jvmtiEnv *jvmti, const unsigned char *data, jint len, jint *new_len,
		    unsigned char **new_data)
{
	static const struct classfile_given given = { "enter", "leave" };
	struct memory memory = { .size = 64 * (size_t)len + (32 << 20) };
	const struct classfile_probe probe = {
		.helper = HELPER, .given = &given, .select = select_method, .skipped = skipped,
		.mem = get, .mem_ctx = &memory,
	};
	struct classfile_out out;
	unsigned char *copy;

	memory.p = sys_pages(memory.size);
	if (!memory.p)
		return;
	if (!classfile_rewrite(data, len, &probe, &out) && out.data &&
	    (*jvmti)->Allocate(jvmti, out.len, &copy) == JVMTI_ERROR_NONE) {
		memcpy(copy, out.data, out.len);
		*new_len = out.len;
		*new_data = copy;
	}
	sys(__NR_munmap, memory.p, memory.size);
}

static bool is_probed(const char *name, size_t len)
{
	const struct classfile_text t = { name, len };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(methods) && !is_text(&t, methods[i].class); i++)
		;
	return i < ARRAY_SIZE(methods);
}

static void JNICALL on_load(jvmtiEnv *jvmti, JNIEnv *env, jclass redefined, jobject loader, const char *name,
			    jobject domain, jint len, const unsigned char *data, jint *new_len,
			    unsigned char **new_data)
{
	if (name && is_probed(name, str_len(name)) && !log_closed())
		rewrite(jvmti, data, len, new_len, new_data);
}

/* Give loaded classes their probes, or with the hook disabled take them away. */
static void retransform(JNIEnv *env)
{
	jclass *classes;
	char *sig;
	jint nr, i;

	if ((*ti)->GetLoadedClasses(ti, &nr, &classes) != JVMTI_ERROR_NONE)
		return;
	for (i = 0; i < nr; i++) {
		if ((*ti)->GetClassSignature(ti, classes[i], &sig, NULL) == JVMTI_ERROR_NONE) {
			if (sig[0] == 'L' && is_probed(sig + 1, str_len(sig) - 2))
				(*ti)->RetransformClasses(ti, 1, &classes[i]);
			(*ti)->Deallocate(ti, (void *)sig);
		}
		(*env)->DeleteLocalRef(env, classes[i]);
	}
	(*ti)->Deallocate(ti, (void *)classes);
}

/* ---- the source ---- */

static bool ask_vm(JavaVM *jvm)
{
	jvmtiCapabilities want;
	jvmtiEventCallbacks cb;

	if ((*jvm)->GetEnv(jvm, (void **)&ti, JVMTI_VERSION_1_2) != JNI_OK) {
		ti = NULL;
		return false;
	}
	memset(&want, 0, sizeof(want));
	memset(&cb, 0, sizeof(cb));
	want.can_retransform_classes = 1;
	cb.ClassFileLoadHook = on_load;
	if ((*ti)->AddCapabilities(ti, &want) == JVMTI_ERROR_NONE &&
	    (*ti)->SetEventCallbacks(ti, &cb, sizeof(cb)) == JVMTI_ERROR_NONE &&
	    (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL) ==
		    JVMTI_ERROR_NONE)
		return true;
	(*ti)->DisposeEnvironment(ti);
	ti = NULL;
	return false;
}

static uint64_t random_number(void)
{
	uint64_t v = sys_now();

	sys(__NR_getrandom, &v, sizeof(v), 0);
	return v | 1;
}

static const char *on_live(JavaVM *jvm, JNIEnv *env)
{
	label_on(env);		/* which the helper looks for */
	nr_missed = 0;
	if (!define(env) || !turn(env, random_number()))
		return "its classes for calls over HTTP are not there, or this JVM does not take them";
	if (ask_vm(jvm)) {
		retransform(env);
		return NULL;
	}
	turn(env, 0);
	return "this JVM does not let its classes be changed";
}

static const char *begin(JavaVM *jvm, JNIEnv *env, uint64_t interval)
{
	return env ? on_live(jvm, env) : NULL;
}

static void vm_is_up(JNIEnv *env)
{
	uint64_t interval;
	const char *why;
	JavaVM *jvm;

	if (!part_is_wanted(JVM_SOURCE_HTTP, &interval) || ti || (*env)->GetJavaVM(env, &jvm))
		return;
	why = on_live(jvm, env);
	if (why)
		refuse(why, str_len(why));
}

static bool turn_off(JNIEnv *env)
{
	if (!ti || !env)
		return true;
	turn(env, 0);
	(*ti)->SetEventNotificationMode(ti, JVMTI_DISABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL);
	retransform(env);
	(*ti)->DisposeEnvironment(ti);
	ti = NULL;
	return true;
}

const struct part http_part = {
	.source = JVM_SOURCE_HTTP, .on = begin, .up = vm_is_up, .off = turn_off,
};
