// SPDX-License-Identifier: MIT
/*
 * grpc.c - calls by gRPC: a source of their time, with the stack of who calls; and the number that a call
 * carries from client to server in its metadata (call.h). The classes are those that generated stubs use.
 */
#include "agent/sources/call.h"
#include "agent/sources/part.h"

#define CALLS "io/grpc/stub/ServerCalls$"
#define UNARY CALLS "UnaryServerCallHandler"
#define STREAMING CALLS "StreamingServerCallHandler"
#define START "(Lio/grpc/ServerCall;Lio/grpc/Metadata;)Lio/grpc/ServerCall$Listener;"

static const struct given_method methods[] = {
	{ "io/grpc/stub/ClientCalls", "blockingUnaryCall", "(Lio/grpc/Channel;*",
	  CLASSFILE_GIVEN(CALL_BLOCKING, 0, 1) },
	{ "io/grpc/internal/ClientCallImpl", "start", "(Lio/grpc/ClientCall$Listener;Lio/grpc/Metadata;)V",
	  CLASSFILE_GIVEN(CALL_START, 2, 1) },
	/* a handler returns a listener, which is told of messages, and that there are no more */
	{ UNARY, "startCall", START, CLASSFILE_GIVEN(CALL_HANDLER, 2, 1) | CLASSFILE_GIVEN_RESULT },
	{ STREAMING, "startCall", START, CLASSFILE_GIVEN(CALL_HANDLER, 2, 1) | CLASSFILE_GIVEN_RESULT },
	{ UNARY "$UnaryServerCallListener", "onHalfClose", "()V", CLASSFILE_GIVEN(CALL_LISTENER, 0, 1) },
	{ STREAMING "$StreamingServerCallListener", "onHalfClose", "()V",
	  CLASSFILE_GIVEN(CALL_LISTENER, 0, 1) },
	{ STREAMING "$StreamingServerCallListener", "onMessage", "(Ljava/lang/Object;)V",
	  CLASSFILE_GIVEN(CALL_LISTENER, 0, 1) },
};

struct given grpc = {
	.source = JVM_SOURCE_GRPC, .helper = &call_class,
	.methods = methods, .nr_methods = ARRAY_SIZE(methods),
};

static const char *grpc_begin(JavaVM *jvm, JNIEnv *env, uint64_t interval)
{
	return given_on(&grpc, jvm, env);
}

static void grpc_vm_is_up(JNIEnv *env)
{
	given_up(&grpc, env);
}

static bool grpc_turn_off(JNIEnv *env)
{
	given_off(&grpc, env);
	return true;
}

const struct part grpc_part = {
	.source = JVM_SOURCE_GRPC, .on = grpc_begin, .up = grpc_vm_is_up, .off = grpc_turn_off,
};
