// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * class-dump.c - a JVMTI agent that keeps every class file the JVM reads, as it was before any
 * agent changed it: what t/tools/edges.c compares stacks with.
 *
 * -agentpath:<file>=<output>
 *
 * Each class is appended to the output as its length (four bytes of this machine) and its bytes, by
 * one write(), so that several JVMs may share a file. Hidden classes never come this way.
 */
#include <fcntl.h>
#include <jvmti.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int out = -1;

static void die(const char *what)
{
	fprintf(stderr, "class-dump: %s\n", what);
	exit(3);
}

static void JNICALL on_class(jvmtiEnv *ti, JNIEnv *env, jclass again, jobject loader, const char *name,
			     jobject domain, jint len, const unsigned char *bytes, jint *new_len,
			     unsigned char **new_bytes)
{
	uint32_t n = len;
	char *record = again ? NULL : malloc(sizeof(n) + n);

	if (!record)
		return;
	memcpy(record, &n, sizeof(n));
	memcpy(record + sizeof(n), bytes, n);
	if (write(out, record, sizeof(n) + n) != (ssize_t)(sizeof(n) + n))
		die("cannot write");
	free(record);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	jvmtiCapabilities want = { 0 };
	jvmtiEventCallbacks cb = { 0 };
	jvmtiEnv *ti;

	out = options ? open(options, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
	if (out < 0)
		die("no output file");
	if ((*vm)->GetEnv(vm, (void **)&ti, JVMTI_VERSION_1_2) != JNI_OK)
		die("no JVMTI");
	want.can_generate_all_class_hook_events = 1;
	want.can_generate_early_class_hook_events = 1;
	cb.ClassFileLoadHook = on_class;
	if ((*ti)->AddCapabilities(ti, &want) || (*ti)->SetEventCallbacks(ti, &cb, sizeof(cb)) ||
	    (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL))
		die("refused");
	return JNI_OK;
}
