// SPDX-License-Identifier: MIT
/*
 * searches.c - lines of ours in the VM's log, for how long classes take to load (jvm/loads.h): a class loader
 * in Java begins to search for a class, or gives the VM the bytes of one.
 *
 * The log has what the VM is asked for, and loaders may ask it for nothing before they have searched
 * themselves. But each of them has to look first whether it has the class already, for a second definition
 * is an error; and the bytes of every class go the same way. Both are functions of libjvm that libjava calls
 * by slots of its global offset table: they lead here while the times are recorded.
 */
#include <jni.h>

#include "agent/elf.h"
#include "agent/sources/vmevents.h"
#include "agent/sys.h"
#include "base/atomic.h"

enum { MAX_NAME = 1024, MAX_LINE = MAX_NAME + 96, WAIT_MS = 1000 };

/* the parameters of libjvm's functions */
#define FIND_TAKES JNIEnv *env, jobject loader, jstring name
#define DEFINE_TAKES \
	JNIEnv *env, const char *name, jobject loader, const jbyte *bytes, jsize len, jobject domain, \
	const char *source
#define LOOKUP_TAKES \
	JNIEnv *env, jclass lookup, const char *name, const jbyte *bytes, jsize len, jobject domain, \
	jboolean initialize, int flags, jobject data
/* The arguments for lambdas in the VM's archive. */
#define ARCHIVED_TAKES \
	JNIEnv *env, jclass caller, jstring name, jobject factory, jobject type, \
	jobject member, jobject dynamic

typedef jclass JNICALL find_fn(FIND_TAKES);
typedef jclass JNICALL define_fn(DEFINE_TAKES);
typedef jclass JNICALL lookup_fn(LOOKUP_TAKES);
typedef jclass JNICALL archived_fn(ARCHIVED_TAKES);

static find_fn on_find;
static define_fn on_define;
static lookup_fn on_lookup;
static archived_fn on_archived;

static struct function {
	const char *name;
	struct elf_hook hook;		/* hook.was: what libjava called */
} functions[] = {
	{ "JVM_FindLoadedClass", { .ours = (void *)on_find } },
	{ "JVM_DefineClassWithSource", { .ours = (void *)on_define } },
	{ "JVM_LookupDefineClass", { .ours = (void *)on_lookup } },
	{ "JVM_LookupLambdaProxyClassFromArchive", { .ours = (void *)on_archived } },
};
static bool is_replaced;

#define VMS(i, type) ((type *)functions[i].hook.was)

static int file = -1;
static bool on;
static uint32_t nr_inside;	/* threads that look whether it is on, or write */

/* ---- a line ---- */

struct line {
	char s[MAX_LINE];
	size_t len;
};

static void searches_put(struct line *l, const char *s)
{
	while (*s && l->len < sizeof(l->s))
		l->s[l->len++] = *s++;
}

static void searches_put_number(struct line *l, uint64_t v, unsigned int base)
{
	char digits[24];
	int i = sizeof(digits) - 1;

	digits[i] = 0;
	do
		digits[--i] = "0123456789abcdef"[v % base];
	while (v /= base);
	searches_put(l, digits + i);
}

/* Return whether it is printable: programs can ask for any text. */
static bool searches_is_name(const char *name)
{
	size_t len = 0;

	for (; name[len]; len++)
		if ((unsigned char)name[len] <= ' ' || len == MAX_NAME)
			return false;
	return len;
}

/* Write the line at once, so that no other thread's line is inside. */
static void searches_say(const char *what, uint64_t time_ns, uintptr_t sp, const char *name)
{
	struct line l;

	if (!searches_is_name(name))
		return;
	l.len = 0;
	searches_put(&l, "[");
	searches_put_number(&l, time_ns, 10);
	searches_put(&l, "ns][");
	searches_put_number(&l, (uint64_t)sys_tid(), 10);
	searches_put(&l, "][arcprof,load] ");
	searches_put(&l, what);
	searches_put_number(&l, sp, 16);
	searches_put(&l, " ");
	searches_put(&l, name);
	searches_put(&l, "\n");
	__atomic_fetch_add(&nr_inside, 1, __ATOMIC_SEQ_CST);
	if (load_seq_cst(&on))
		sys(__NR_write, file, l.s, l.len);
	__atomic_fetch_sub(&nr_inside, 1, __ATOMIC_RELEASE);
}

/* ---- what loaders do ---- */

static __attribute__((noinline)) void say_search(JNIEnv *env, uint64_t time_ns, uintptr_t sp, jstring name)
{
	char s[MAX_NAME + 1];
	jsize len;

	if (!name || (*env)->ExceptionCheck(env) || (*env)->GetStringUTFLength(env, name) > MAX_NAME)
		return;
	len = (*env)->GetStringLength(env, name);
	memset(s, 0, sizeof(s));
	(*env)->GetStringUTFRegion(env, name, 0, len, s);
	searches_say("searches ", time_ns, sp, s);
}

static jclass JNICALL on_find(FIND_TAKES)
{
	uint64_t now = sys_now();
	jclass cls = VMS(0, find_fn)(env, loader, name);

	if (!cls && load_relaxed(&on))
		say_search(env, now, (uintptr_t)__builtin_frame_address(0), name);
	return cls;
}

/* Report a definition; the name may be only in the bytes of the class. */
static void say_bytes(const char *what, uintptr_t sp, const char *name)
{
	if (load_relaxed(&on))
		searches_say(what, sys_now(), sp, name ? name : "?");
}

static jclass JNICALL on_define(DEFINE_TAKES)
{
	const uintptr_t sp = (uintptr_t)__builtin_frame_address(0);
	jclass cls;

	say_bytes("gives ", sp, name);
	cls = VMS(1, define_fn)(env, name, loader, bytes, len, domain, source);
	say_bytes("gave ", sp, name);
	return cls;
}

static jclass JNICALL on_lookup(LOOKUP_TAKES)
{
	const uintptr_t sp = (uintptr_t)__builtin_frame_address(0);
	jclass cls;

	say_bytes("gives ", sp, name);
	cls = VMS(2, lookup_fn)(env, lookup, name, bytes, len, domain, initialize, flags, data);
	say_bytes("gave ", sp, name);
	return cls;
}

static jclass JNICALL on_archived(ARCHIVED_TAKES)
{
	const uintptr_t sp = (uintptr_t)__builtin_frame_address(0);
	jclass cls;

	say_bytes("gives ", sp, NULL);
	cls = VMS(3, archived_fn)(env, caller, name, factory, type, member, dynamic);
	say_bytes("gave ", sp, NULL);
	return cls;
}

/* ---- on and off ---- */

/* Replace the functions, or restore them. Threads inside return through ours, so the originals stay known. */
static void searches_replace(bool with_ours)
{
	uintptr_t libjava = elf_base_named("libjava.so");
	size_t i;

	if (!libjava || with_ours == is_replaced)
		return;
	is_replaced = with_ours;
	for (i = 0; i < ARRAY_SIZE(functions); i++) {
		if (with_ours)
			elf_hook(libjava, functions[i].name, &functions[i].hook);
		else
			elf_unhook(&functions[i].hook);
	}
}

void searches_on(const char *log)
{
	enum { O_WRONLY_ = 1, O_APPEND_ = 02000, O_CLOEXEC_ = 02000000, AT_FDCWD_ = -100 };

	searches_off();
	if (file >= 0)		/* a thread still writes there */
		return;
	file = (int)sys(__NR_openat, AT_FDCWD_, log, O_WRONLY_ | O_APPEND_ | O_CLOEXEC_);
	if (file < 0)
		return;
	store_seq_cst(&on, true);
	searches_replace(true);
}

void searches_off(void)
{
	int ms;

	if (file < 0)
		return;
	searches_replace(false);
	store_seq_cst(&on, false);
	for (ms = 0; load_acquire(&nr_inside) && ms < WAIT_MS; ms++)
		sys_sleep_ms(1);
	if (load_acquire(&nr_inside))
		return;
	sys(__NR_close, file);
	file = -1;
}
