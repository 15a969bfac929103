// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hide-fields.c - a JVMTI agent that makes a JVM look like another version to whoever reads the tables that
 * HotSpot exports: it takes fields out of gHotSpotVMStructs. Its option names them, "JavaThread._vthread",
 * with commas between; "Type.*" are all of a type. It says on stderr how many it has taken out.
 *
 *	JAVA_TOOL_OPTIONS=-agentpath:hide-fields.so=JavaThread._monitor_owner_id arcprof record ...
 */
#include <dlfcn.h>
#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static void *libjvm;

static uint64_t exported(const char *name)
{
	const uint64_t *p = dlsym(libjvm, name);

	return p ? *p : 0;
}

static bool is_named(const char *names, const char *type, const char *field)
{
	size_t type_len = strlen(type), len;
	const char *p;

	for (p = names; *p; p += len + (p[len] == ',')) {
		len = strcspn(p, ",");
		if (len < type_len + 2 || memcmp(p, type, type_len) || p[type_len] != '.')
			continue;
		if (p[len - 1] == '*' && len == type_len + 2)
			return true;
		if (len == type_len + 1 + strlen(field) && !memcmp(p + type_len + 1, field, strlen(field)))
			return true;
	}
	return false;
}

static void hide(uintptr_t slot)
{
	mprotect((void *)(slot & ~4095ul), 8192, PROT_READ | PROT_WRITE);
	*(const char **)slot = "hidden";
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	uint64_t type_off, name_off, stride;
	const char *type;
	uintptr_t e;
	int nr = 0;
	Dl_info d;

	(void)reserved;
	if (!options || !dladdr((void *)(*vm)->GetEnv, &d) ||
	    !(libjvm = dlopen(d.dli_fname, RTLD_LAZY | RTLD_NOLOAD)))
		return JNI_ERR;
	type_off = exported("gHotSpotVMStructEntryTypeNameOffset");
	name_off = exported("gHotSpotVMStructEntryFieldNameOffset");
	stride = exported("gHotSpotVMStructEntryArrayStride");
	e = exported("gHotSpotVMStructs");
	for (; e && stride && (type = *(const char **)(e + type_off)); e += stride)
		if (is_named(options, type, *(const char **)(e + name_off))) {
			hide(e + name_off);
			nr++;
		}
	fprintf(stderr, "hidden: %d\n", nr);
	return JNI_OK;
}
