// SPDX-License-Identifier: MIT
/*
 * hidden.c - puts probes into classes that a program defines with Lookup.defineHiddenClass() (flow.h). They
 * have no JVMTI event and cannot be retransformed, but all come with their bytes through one function of
 * libjvm that libjava imports.
 *
 * Source: JDK 15+ share/native/libjava/ClassLoader.c, defineClass0(); prims/jvm.cpp, JVM_LookupDefineClass().
 */
#include "agent/calls/flow.h"
#include "agent/elf.h"
#include "agent/hotspot/vm.h"
#include "agent/sys.h"

enum { HIDDEN_CLASS = 2 };		/* of flags; the others are reported as always */

#define DEFINE "JVM_LookupDefineClass"

typedef jclass JNICALL define_fn(JNIEnv *env, jclass lookup, const char *name, const jbyte *buf, jsize len,
				 jobject pd, jboolean init, int flags, jobject data);

static define_fn on_define;
static struct elf_hook hook = { .ours = (void *)on_define };
static jvmtiEnv *ti;			/* NULL: nothing is instrumented now */

static jclass JNICALL on_define(JNIEnv *env, jclass lookup, const char *name, const jbyte *buf, jsize len,
				jobject pd, jboolean init, int flags, jobject data)
{
	jvmtiEnv *now = flags & HIDDEN_CLASS && buf ? load_acquire(&ti) : NULL;
	struct instrumented in = { .data = buf, .len = len };
	jclass cls;

	if (now && probe_begin()) {
		instrument_hidden(now, env, lookup, &in);
		probe_end();
	}
	cls = ((define_fn *)hook.was)(env, lookup, name, in.data, in.len, pd, init, flags, data);
	instrument_hidden_done(&in);
	return cls;
}

bool hidden_on(jvmtiEnv *env)
{
	uintptr_t libjava;

	if (!elf_symbol(vm.libjvm, DEFINE))
		return true;		/* JDK 14 and older have no such classes */
	libjava = elf_base_named("libjava.so");
	if (!libjava || !elf_hook(libjava, DEFINE, &hook))
		return false;
	store_release(&ti, env);
	return true;
}

void hidden_off(void)
{
	store_release(&ti, NULL);
}
