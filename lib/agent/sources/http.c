// SPDX-License-Identifier: MIT
/*
 * http.c - calls over HTTP: a source of their time, with the stack of who calls; and the number that a call
 * carries from client to server, by which "merge --join rpc" finds the one for the other (call.h).
 */
#include "agent/sources/call.h"
#include "agent/sources/part.h"

static const struct given_method methods[] = {
	/* java.net.http: a constructor has the request that is about to be sent */
	{ "jdk/internal/net/http/HttpClientImpl", "send", "(Ljava/net/http/HttpRequest;*",
	  CLASSFILE_GIVEN(CALL_SEND, 1, 1) },
	{ "jdk/internal/net/http/HttpClientImpl", "sendAsync", "(Ljava/net/http/HttpRequest;*",
	  CLASSFILE_GIVEN(CALL_SEND, 1, 1) },
	{ "jdk/internal/net/http/MultiExchange", "<init>",
	  "(Ljava/net/http/HttpRequest;Ljdk/internal/net/http/HttpRequestImpl;*",
	  CLASSFILE_GIVEN(CALL_SENDS, 2, 0) },
	/* java.net.HttpURLConnection, also of https */
	{ "sun/net/www/protocol/http/HttpURLConnection", "getInputStream", "()Ljava/io/InputStream;",
	  CLASSFILE_GIVEN(CALL_GET, 0, 1) },
	{ "sun/net/www/protocol/http/HttpURLConnection", "writeRequests", "()V",
	  CLASSFILE_GIVEN(CALL_WRITES, 0, 0) },
	/* servers: com.sun.net.httpserver, and servlets of any container */
	{ "com/sun/net/httpserver/Filter$Chain", "doFilter", "(Lcom/sun/net/httpserver/HttpExchange;)V",
	  CLASSFILE_GIVEN(CALL_EXCHANGE, 1, 1) },
	{ "jakarta/servlet/http/HttpServlet", "service", "(Ljakarta/servlet/ServletRequest;*",
	  CLASSFILE_GIVEN(CALL_SERVICE, 1, 1) },
	{ "javax/servlet/http/HttpServlet", "service", "(Ljavax/servlet/ServletRequest;*",
	  CLASSFILE_GIVEN(CALL_SERVICE, 1, 1) },
};

struct given http = {
	.source = JVM_SOURCE_HTTP, .helper = &call_class,
	.methods = methods, .nr_methods = ARRAY_SIZE(methods),
};

static const char *http_begin(JavaVM *jvm, JNIEnv *env, uint64_t interval)
{
	return given_on(&http, jvm, env);
}

static void http_vm_is_up(JNIEnv *env)
{
	given_up(&http, env);
}

static bool http_turn_off(JNIEnv *env)
{
	given_off(&http, env);
	return true;
}

const struct part http_part = {
	.source = JVM_SOURCE_HTTP, .on = http_begin, .up = http_vm_is_up, .off = http_turn_off,
};
