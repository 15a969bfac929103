// SPDX-License-Identifier: MIT
/*
 * http.c - calls over HTTP: a source of their time, with the stack of who calls; and the number that a call
 * carries from client to server, by which "merge --join rpc" finds the one for the other.
 *
 * Methods of clients and servers get probes, which call java.lang.ArcHttp (java/ArcHttp.java). It gives the
 * request its number, and the threads the label "rpc".
 */
#include "agent/session/label.h"
#include "agent/sources/given.h"
#include "agent/sources/part.h"
#include "agent/sources/sources.h"

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

static const struct given_method methods[] = {
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

static struct given http;
static struct given_class helper;

/* ---- natives of the helper ---- */

static void JNICALL called(JNIEnv *env, jclass cls, jlong ns)
{
	sources_sample(JVM_SOURCE_HTTP, ns > 0 ? (uint64_t)ns : 1, 0, 0);
}

static void JNICALL missed(JNIEnv *env, jclass cls, jstring why)
{
	given_missed(&http, env, why);
}

static void JNICALL bind(JNIEnv *env, jclass cls)
{
	const JNINativeMethod m[] = {
		{ (char *)"called", (char *)"(J)V", (void *)called },
		{ (char *)"missed", (char *)"(Ljava/lang/String;)V", (void *)missed },
	};

	(*env)->RegisterNatives(env, helper.class, m, ARRAY_SIZE(m));
}

/* ---- the source ---- */

static struct given_class helper = {
	.name = "java/lang/ArcHttp", .file = http_class_file, .file_end = http_class_file_end,
	.calls = { "enter", "leave" }, .bind = bind,
	.prepare = label_on,		/* it looks for the class of labels */
};

static struct given http = {
	.source = JVM_SOURCE_HTTP, .helper = &helper, .methods = methods, .nr_methods = ARRAY_SIZE(methods),
};

static const char *begin(JavaVM *jvm, JNIEnv *env, uint64_t interval)
{
	return given_on(&http, jvm, env);
}

static void vm_is_up(JNIEnv *env)
{
	given_up(&http, env);
}

static bool turn_off(JNIEnv *env)
{
	given_off(&http, env);
	return true;
}

const struct part http_part = {
	.source = JVM_SOURCE_HTTP, .on = begin, .up = vm_is_up, .off = turn_off,
};
