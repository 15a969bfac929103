// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hide-fields.c - a JVMTI agent that makes a JVM look like another version to whoever reads the tables that
 * HotSpot exports, or asks for members of Java classes. Its option names what it hides or changes, with
 * commas between:
 *
 *	JavaThread._vthread	a field, taken out of gHotSpotVMStructs; "JavaThread.*": all of the type
 *	PcDesc._pc_offset=4	the same, which is elsewhere now
 *	MONITOR_WAIT=4		a constant with another value
 *	java/lang/Thread.tid	a field or method that JNI does not find
 *
 * It says on stderr how many of the VM's it has hidden or changed.
 *
 *	JAVA_TOOL_OPTIONS=-agentpath:hide-fields.so=JavaThread._monitor_owner_id arcprof record ...
 */
#include <dlfcn.h>
#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *libjvm;

static uint64_t exported(const char *name)
{
	const uint64_t *p = dlsym(libjvm, name);

	return p ? *p : 0;
}

/* The part of the option that is about type.field, up to its comma or "="; NULL: none. field may be NULL. */
static const char *named(const char *names, const char *type, const char *field)
{
	size_t type_len = strlen(type), len;
	const char *p;

	for (p = names; *p; p += strcspn(p, ","), p += *p == ',') {
		len = strcspn(p, ",=");
		if (len < type_len || memcmp(p, type, type_len))
			continue;
		if (!field && len == type_len)
			return p;
		if (!field || len < type_len + 2 || p[type_len] != '.')
			continue;
		if (p[len - 1] == '*' && len == type_len + 2)
			return p;
		if (len == type_len + 1 + strlen(field) && !memcmp(p + type_len + 1, field, strlen(field)))
			return p;
	}
	return NULL;
}

static void *writable(uintptr_t slot)
{
	mprotect((void *)(slot & ~4095ul), 8192, PROT_READ | PROT_WRITE);
	return (void *)slot;
}

/* NULL: it is to be hidden. */
static const char *new_value(const char *part)
{
	part += strcspn(part, ",=");
	return *part == '=' ? part + 1 : NULL;
}

static int change_fields(const char *names)
{
	uint64_t type_off = exported("gHotSpotVMStructEntryTypeNameOffset");
	uint64_t name_off = exported("gHotSpotVMStructEntryFieldNameOffset");
	uint64_t offset_off = exported("gHotSpotVMStructEntryOffsetOffset");
	uint64_t stride = exported("gHotSpotVMStructEntryArrayStride");
	uintptr_t e = exported("gHotSpotVMStructs");
	const char *type, *part, *value;
	int nr = 0;

	for (; e && stride && (type = *(const char **)(e + type_off)); e += stride) {
		part = named(names, type, *(const char **)(e + name_off));
		if (!part)
			continue;
		value = new_value(part);
		if (value)
			*(uint64_t *)writable(e + offset_off) = strtoul(value, NULL, 0);
		else
			*(const char **)writable(e + name_off) = "hidden";
		nr++;
	}
	return nr;
}

static int change_constants(const char *names)
{
	uint64_t name_off = exported("gHotSpotVMIntConstantEntryNameOffset");
	uint64_t value_off = exported("gHotSpotVMIntConstantEntryValueOffset");
	uint64_t stride = exported("gHotSpotVMIntConstantEntryArrayStride");
	uintptr_t e = exported("gHotSpotVMIntConstants");
	const char *name, *part;
	int nr = 0;

	for (; e && stride && (name = *(const char **)(e + name_off)); e += stride) {
		part = named(names, name, NULL);
		if (!part || !new_value(part))
			continue;
		*(int *)writable(e + value_off) = strtol(new_value(part), NULL, 0);
		nr++;
	}
	return nr;
}

/* ---- members of Java classes ---- */

static const char *hidden;
static jvmtiEnv *ti;
static jfieldID(JNICALL *get_field)(JNIEnv *env, jclass cls, const char *name, const char *sig);
static jfieldID(JNICALL *get_static)(JNIEnv *env, jclass cls, const char *name, const char *sig);
static jmethodID(JNICALL *get_method)(JNIEnv *env, jclass cls, const char *name, const char *sig);

static bool is_hidden(JNIEnv *env, jclass cls, const char *name)
{
	char *sig = NULL;
	size_t len;
	bool is;

	if ((*ti)->GetClassSignature(ti, cls, &sig, NULL) != JVMTI_ERROR_NONE)
		return false;
	len = strlen(sig);
	sig[len - 1] = '\0';		/* "Ljava/lang/Thread;" */
	is = named(hidden, sig + 1, name);
	(*ti)->Deallocate(ti, (unsigned char *)sig);
	if (is)
		(*env)->ThrowNew(env, (*env)->FindClass(env, "java/lang/NoSuchFieldError"), name);
	return is;
}

static jfieldID JNICALL our_get_field(JNIEnv *env, jclass cls, const char *name, const char *sig)
{
	return is_hidden(env, cls, name) ? NULL : get_field(env, cls, name, sig);
}

static jfieldID JNICALL our_get_static(JNIEnv *env, jclass cls, const char *name, const char *sig)
{
	return is_hidden(env, cls, name) ? NULL : get_static(env, cls, name, sig);
}

static jmethodID JNICALL our_get_method(JNIEnv *env, jclass cls, const char *name, const char *sig)
{
	return is_hidden(env, cls, name) ? NULL : get_method(env, cls, name, sig);
}

/* The functions are there once the VM is up; this agent's event comes first where it is named first. */
static void JNICALL on_init(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	jniNativeInterface *table;

	(void)env;
	(void)thread;
	if ((*jvmti)->GetJNIFunctionTable(jvmti, &table) != JVMTI_ERROR_NONE)
		return;
	get_field = table->GetFieldID;
	get_static = table->GetStaticFieldID;
	get_method = table->GetMethodID;
	table->GetFieldID = our_get_field;
	table->GetStaticFieldID = our_get_static;
	table->GetMethodID = our_get_method;
	(*jvmti)->SetJNIFunctionTable(jvmti, table);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)table);
}

static void hide_members(JavaVM *vm, const char *names)
{
	jvmtiEventCallbacks on = { .VMInit = on_init };

	hidden = strdup(names);
	if (strchr(names, '/') && (*vm)->GetEnv(vm, (void **)&ti, JVMTI_VERSION_1_2) == JNI_OK) {
		(*ti)->SetEventCallbacks(ti, &on, sizeof(on));
		(*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL);
	}
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	Dl_info d;

	(void)reserved;
	if (!options || !dladdr((void *)(*vm)->GetEnv, &d) ||
	    !(libjvm = dlopen(d.dli_fname, RTLD_LAZY | RTLD_NOLOAD)))
		return JNI_ERR;
	hide_members(vm, options);
	fprintf(stderr, "hidden: %d\n", change_fields(options) + change_constants(options));
	return JNI_OK;
}
