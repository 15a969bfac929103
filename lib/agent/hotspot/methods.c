// SPDX-License-Identifier: MIT
/*
 * methods.c - methods.h says what for.
 *
 * Source: HotSpot's oops/method.hpp (jmethodID up to JDK 25), oops/jmethodIDTable.hpp (since 26),
 * classfile/classLoaderData.hpp (the list of a loader's classes), oops/array.hpp.
 */
#include "agent/hashes.h"
#include "agent/hotspot/methods.h"
#include "agent/hotspot/names.h"
#include "agent/hotspot/vm.h"
#include "agent/sys.h"
#include "base/mix.h"

enum { MAX_CLASSES = 1 << 20, MAX_METHODS = 1 << 16 };

static JavaVM *vm_of;

void methods_init(JavaVM *jvm)
{
	vm_of = jvm;
}

/* ---- by name ---- */

static bool is_class(uintptr_t klass, const char *name)
{
	size_t len = str_len(name);
	char text[64];
	uintptr_t sym;
	uint16_t its;

	return len <= sizeof(text) && sys_peek_all(&sym, klass + vm.o.klass_name, 8) &&
	       sys_peek_all(&its, sym + vm.o.sym_len, 2) && its == len &&
	       sys_peek_all(text, sym + vm.o.sym_body, len) && !memcmp(text, name, len);
}

static uintptr_t method_in(uintptr_t klass, const char *class_name, const char *name, const char *sig)
{
	uintptr_t methods, m;
	int32_t i, nr;

	if (!sys_peek_all(&methods, klass + vm.o.ik_methods, 8) ||
	    !sys_peek_all(&nr, methods + vm.o.vmarray_len, 4) || nr > MAX_METHODS)
		return 0;
	for (i = 0; i < nr; i++)
		if (sys_peek_all(&m, methods + vm.o.vmarray_methods + i * 8ul, 8) &&
		    names_are(m, class_name, name, sig))
			return m;
	return 0;
}

/* The boot loader is that of java.lang.Object. */
static uintptr_t find_in_boot_loader(const char *class_name, const char *name, const char *sig)
{
	uintptr_t loader, klass;
	int i;

	if (!vm.object_klass || vm.o.klass_loader < 0 || vm.o.loader_klasses < 0 || vm.o.klass_next < 0 ||
	    vm.o.ik_methods < 0 || vm.o.vmarray_len < 0 || vm.o.vmarray_methods < 0 ||
	    !sys_peek_all(&loader, *vm.object_klass + vm.o.klass_loader, 8) ||
	    !sys_peek_all(&klass, loader + vm.o.loader_klasses, 8))
		return 0;
	for (i = 0; klass && i < MAX_CLASSES; i++) {
		if (is_class(klass, class_name))
			return method_in(klass, class_name, name, sig);
		if (!sys_peek_all(&klass, klass + vm.o.klass_next, 8))
			return 0;
	}
	return 0;
}

/* Return the method that the id points to; 0 if it does not point. */
static uintptr_t pointed(jmethodID id)
{
	uintptr_t method;

	return id && sys_peek_all(&method, (uintptr_t)id, 8) ? method : 0;
}

uintptr_t methods_find(jmethodID id, const char *class_name, const char *name, const char *sig)
{
	uintptr_t method = pointed(id);

	if (method && names_are(method, class_name, name, sig))
		return method;
	return find_in_boot_loader(class_name, name, sig);
}

/* ---- by id ---- */

/* A VM has either: known from the first method that was asked for. */
static bool ids_point;

/* An id that does not point is a small number, never given twice: id << 32 | our number. */
static uint64_t known[4096];
static struct hashes numbers;
static struct sys_lock lock;	/* of numbers */

void methods_forget(void)
{
	sys_lock(&lock);
	hashes_forget(&numbers);
	memset(known, 0, sizeof(known));
	sys_unlock(&lock);
}

static struct names_text names_text_of(const char *s, size_t len)
{
	return (struct names_text){ s, len > JVM_MAX_STRING ? JVM_MAX_STRING : len };
}

/* Return the class's name as in class files, without "L" and ";". */
static uint32_t number_method(jmethodID id, char *class_sig, const char *name, const char *sig,
			      const char *source)
{
	size_t len = str_len(class_sig);
	struct names_method m = { 0 };
	struct hashes_key k;

	if (len < 3 || class_sig[0] != 'L')
		return 0;
	class_sig[len - 1] = '\0';
	if (names_are(pointed(id), class_sig + 1, name, sig))
		store_relaxed(&ids_point, true);
	m.class_name = names_text_of(class_sig + 1, len - 2);
	m.name = names_text_of(name, str_len(name));
	m.sig = names_text_of(sig, str_len(sig));
	if (source)
		m.source = names_text_of(source, str_len(source));
	k = names_key(&m);
	return names_number(&numbers, &lock, &k, &m);
}

static uint32_t ask_jvmti(jvmtiEnv *ti, jmethodID id)
{
	char *class_sig = NULL, *name = NULL, *sig = NULL, *source = NULL;
	jclass cls = NULL;
	uint32_t number = 0;
	JNIEnv *env;

	if ((*vm_of)->GetEnv(vm_of, (void **)&env, JNI_VERSION_1_6) != JNI_OK)
		return 0;
	if ((*ti)->GetMethodDeclaringClass(ti, id, &cls) == JVMTI_ERROR_NONE &&
	    (*ti)->GetClassSignature(ti, cls, &class_sig, NULL) == JVMTI_ERROR_NONE && class_sig &&
	    (*ti)->GetMethodName(ti, id, &name, &sig, NULL) == JVMTI_ERROR_NONE) {
		(*ti)->GetSourceFileName(ti, cls, &source);
		number = number_method(id, class_sig, name, sig, source);
	}
	if (cls)
		(*env)->DeleteLocalRef(env, cls);
	(*ti)->Deallocate(ti, (void *)class_sig);
	(*ti)->Deallocate(ti, (void *)name);
	(*ti)->Deallocate(ti, (void *)sig);
	(*ti)->Deallocate(ti, (void *)source);
	return number;
}

uint32_t methods_number(jvmtiEnv *ti, jmethodID id)
{
	uint64_t key = (uint64_t)(uintptr_t)id, *at = &known[mix64(key) >> 52], was;
	struct method_info m;
	uint32_t number;

	if (!id)
		return 0;
	if (load_relaxed(&ids_point))
		return names_get(pointed(id), NAMES_ALIVE, 0, NULL, &m) == NAMES_OK ? m.id : 0;
	was = load_relaxed(at);
	if (was >> 32 == key)
		return was;
	number = ask_jvmti(ti, id);
	if (number && key <= UINT32_MAX)
		store_relaxed(at, key << 32 | number);
	return number;
}
