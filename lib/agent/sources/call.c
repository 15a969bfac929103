// SPDX-License-Identifier: MIT
/*
 * call.c - calls between programs: the class java.lang.ArcCall (java/ArcCall.java), which the probes below
 * call, and what it reports. It gives calls numbers that both ends know, by which "merge --join rpc" finds
 * the one for the other, and their threads the label "rpc". Each protocol is a source of the time of its
 * calls, with the stack of who calls.
 */
#include "agent/session/recording.h"
#include "agent/sources/given.h"
#include "agent/sources/part.h"
#include "agent/sources/sources.h"

/* The number of a probe; ArcCall.java has the same. */
enum call_probe {
	CALL_SEND, CALL_SENDS, CALL_GET, CALL_WRITES, CALL_EXCHANGE, CALL_SERVICE,
	CALL_EXECUTE, CALL_DISPATCH, CALL_CONNECTION, CALL_ANSWER,
	CALL_BLOCKING, CALL_START, CALL_HANDLER, CALL_LISTENER,
};

/* Compiled from java/ArcCall.java; without a compiler it is empty. */
__asm__(".pushsection .rodata\n"
	".balign 16\n"
	"call_class_file:\n"
#ifdef CALL_CLASS
	".incbin \"" CALL_CLASS "\"\n"
#endif
	"call_class_file_end:\n"
	".popsection\n");
extern const jbyte call_class_file[] __attribute__((visibility("hidden")));
extern const jbyte call_class_file_end[] __attribute__((visibility("hidden")));

static struct given_class call_class;

/* The source of the calls by a protocol whose methods with probes are PROTOCOL_methods. */
#define CALLS_BY(protocol, SOURCE)                                                          \
	static struct given protocol = {                                                    \
		.source = SOURCE, .helper = &call_class,                                    \
		.methods = protocol##_methods, .nr_methods = ARRAY_SIZE(protocol##_methods), \
	};                                                                                  \
	static const char *protocol##_begin(JavaVM *jvm, JNIEnv *env, uint64_t interval)    \
	{                                                                                   \
		return given_on(&protocol, jvm, env);                                       \
	}                                                                                   \
	static void protocol##_vm_is_up(JNIEnv *env)                                        \
	{                                                                                   \
		given_up(&protocol, env);                                                   \
	}                                                                                   \
	static bool protocol##_turn_off(JNIEnv *env)                                        \
	{                                                                                   \
		given_off(&protocol, env);                                                  \
		return true;                                                                \
	}                                                                                   \
	const struct part protocol##_part = {                                               \
		.source = SOURCE, .on = protocol##_begin, .up = protocol##_vm_is_up,        \
		.off = protocol##_turn_off,                                                 \
	}

/* Over HTTP, a call carries its number in a header. */
static const struct given_method http_methods[] = {
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

CALLS_BY(http, JVM_SOURCE_HTTP);

/* RMI calls are distinguished by what they send anyway; nothing is added. */
static const struct given_method rmi_methods[] = {
	{ "sun/rmi/transport/StreamRemoteCall", "executeCall", "()V", CLASSFILE_GIVEN(CALL_EXECUTE, 0, 1) },
	{ "sun/rmi/transport/Transport", "serviceCall", "(Ljava/rmi/server/RemoteCall;)Z",
	  CLASSFILE_GIVEN(CALL_DISPATCH, 1, 1) },
	/* a server: a connection begins, and an answer's UID is about to be written */
	{ "sun/rmi/transport/tcp/TCPTransport", "handleMessages", "(Lsun/rmi/transport/Connection;Z)V",
	  CLASSFILE_GIVEN(CALL_CONNECTION, 1, 0) },
	{ "sun/rmi/transport/ConnectionOutputStream", "writeID", "()V",
	  CLASSFILE_GIVEN(CALL_ANSWER, 0, 0) },
};

CALLS_BY(rmi, JVM_SOURCE_RMI);

/*
 * By gRPC, a call carries its number in its metadata. The classes are those that generated stubs use.
 */
#define SERVER_CALLS "io/grpc/stub/ServerCalls$"
#define UNARY SERVER_CALLS "UnaryServerCallHandler"
#define STREAMING SERVER_CALLS "StreamingServerCallHandler"
#define START "(Lio/grpc/ServerCall;Lio/grpc/Metadata;)Lio/grpc/ServerCall$Listener;"

static const struct given_method grpc_methods[] = {
	{ "io/grpc/stub/ClientCalls", "blockingUnaryCall", "(Lio/grpc/Channel;*",
	  CLASSFILE_GIVEN(CALL_BLOCKING, 0, 1) },
	{ "io/grpc/internal/ClientCallImpl", "start", "(Lio/grpc/ClientCall$Listener;Lio/grpc/Metadata;)V",
	  CLASSFILE_GIVEN(CALL_START, 2, 1) },
	/* a handler returns a listener, which gets the messages, and their end */
	{ UNARY, "startCall", START, CLASSFILE_GIVEN(CALL_HANDLER, 2, 1) | CLASSFILE_GIVEN_RESULT },
	{ STREAMING, "startCall", START, CLASSFILE_GIVEN(CALL_HANDLER, 2, 1) | CLASSFILE_GIVEN_RESULT },
	{ UNARY "$UnaryServerCallListener", "onHalfClose", "()V", CLASSFILE_GIVEN(CALL_LISTENER, 0, 1) },
	{ STREAMING "$StreamingServerCallListener", "onHalfClose", "()V",
	  CLASSFILE_GIVEN(CALL_LISTENER, 0, 1) },
	{ STREAMING "$StreamingServerCallListener", "onMessage", "(Ljava/lang/Object;)V",
	  CLASSFILE_GIVEN(CALL_LISTENER, 0, 1) },
};

CALLS_BY(grpc, JVM_SOURCE_GRPC);

static struct given *source_of(jint what)
{
	return what < CALL_EXECUTE ? &http : what < CALL_BLOCKING ? &rmi : &grpc;
}

static void JNICALL called(JNIEnv *env, jclass cls, jlong ns, jint what)
{
	sources_sample(source_of(what)->source, ns > 0 ? (uint64_t)ns : 1, 0, 0);
}

static void JNICALL missed(JNIEnv *env, jclass cls, jstring why, jint what)
{
	given_missed(source_of(what), env, why);
}

static void JNICALL call_bind(JNIEnv *env, jclass cls)
{
	const JNINativeMethod m[] = {
		{ (char *)"called", (char *)"(JI)V", (void *)called },
		{ (char *)"missed", (char *)"(Ljava/lang/String;I)V", (void *)missed },
	};

	(*env)->RegisterNatives(env, call_class.class, m, ARRAY_SIZE(m));
}

static struct given_class call_class = {
	.name = "java/lang/ArcCall", .file = call_class_file, .file_end = call_class_file_end,
	.calls = { "enter", "leave", "result" }, .bind = call_bind,
	.prepare = label_on,		/* it looks for the class of labels */
};
