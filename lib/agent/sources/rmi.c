// SPDX-License-Identifier: MIT
/*
 * rmi.c - calls by RMI: a source of their time, with the stack of who calls; and which call of a client it is
 * that a server works for (call.h). Nothing is added to what they send.
 */
#include "agent/sources/call.h"
#include "agent/sources/part.h"

static const struct given_method methods[] = {
	{ "sun/rmi/transport/StreamRemoteCall", "executeCall", "()V", CLASSFILE_GIVEN(CALL_EXECUTE, 0, 1) },
	{ "sun/rmi/transport/Transport", "serviceCall", "(Ljava/rmi/server/RemoteCall;)Z",
	  CLASSFILE_GIVEN(CALL_DISPATCH, 1, 1) },
	/* a server: a connection begins, and an answer's UID is about to be written */
	{ "sun/rmi/transport/tcp/TCPTransport", "handleMessages", "(Lsun/rmi/transport/Connection;Z)V",
	  CLASSFILE_GIVEN(CALL_CONNECTION, 1, 0) },
	{ "sun/rmi/transport/ConnectionOutputStream", "writeID", "()V",
	  CLASSFILE_GIVEN(CALL_ANSWER, 0, 0) },
};

struct given rmi = {
	.source = JVM_SOURCE_RMI, .helper = &call_class,
	.methods = methods, .nr_methods = ARRAY_SIZE(methods),
};

static const char *rmi_begin(JavaVM *jvm, JNIEnv *env, uint64_t interval)
{
	return given_on(&rmi, jvm, env);
}

static void rmi_vm_is_up(JNIEnv *env)
{
	given_up(&rmi, env);
}

static bool rmi_turn_off(JNIEnv *env)
{
	given_off(&rmi, env);
	return true;
}

const struct part rmi_part = {
	.source = JVM_SOURCE_RMI, .on = rmi_begin, .up = rmi_vm_is_up, .off = rmi_turn_off,
};
