// SPDX-License-Identifier: MIT
/*
 * preload.c - loaded by LD_PRELOAD into every program of a recording; adds the agent to the options
 * of a JVM that is created there. A JVM says nothing about it, as it would about JAVA_TOOL_OPTIONS.
 *
 * Launchers find JNI_CreateJavaVM by dlsym(), other programs are linked with libjvm; so both names
 * are defined here.
 *
 * Invariants:
 *  [1] no library is needed, and a symbol that is missing changes nothing: one file serves every C library;
 *  [2] no frame of ours is on a stack while a JVM is being created;
 *  [3] whoever asks for another symbol gets what the C library would have given, his return address included,
 *      because RTLD_NEXT and RTLD_DEFAULT mean something else for each caller.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <jni.h>

#include "agent/elf.h"
#include "agent/sys.h"
#include "preload/objects.h"
#include "preload/preload.h"

#define CREATE "JNI_CreateJavaVM"

typedef void *dlsym_fn(void *handle, const char *name);
typedef jint create_fn(JavaVM **vm, void **env, void *args);

PRELOAD_EXPORT create_fn JNI_CreateJavaVM;

__attribute__((weak)) extern char *getenv(const char *name);

struct preload_variable preload_variable;
bool preload_has_begun;
static void *real[NR_REALS];
static create_fn *real_create;	/* HotSpot's, found last */

/* ---- when we are loaded ---- */

static void preload_look_up(void)
{
	static const char *const names[NR_REALS] = {
		"dlsym", "execv", "execve", "execvp", "execvpe", "posix_spawn", "posix_spawnp",
	};

	objects_find_next(real, names, NR_REALS);
}

void *preload_real(enum preload_real what)
{
	if (!real[what])
		preload_look_up();
	return real[what];
}

/* Keep the variable, as a program may write over its environment, or lose it. */
static void keep_variable(const char *value)
{
	static const char name[] = "ARCPROF_AGENT=";
	struct preload_variable *v = &preload_variable;
	size_t len = str_len(value), i;

	if (sizeof(name) + len > sizeof(v->text))
		return;
	memcpy(v->text, name, sizeof(name) - 1);
	memcpy(v->text + sizeof(name) - 1, value, len);
	v->library = v->text + sizeof(name) - 1;
	for (i = 0; v->library[i] && v->library[i] != ' '; i++)
		;
	v->library_len = i;
	if (v->library[i])
		v->option = v->library + i + 1;
}

void preload_begin(void)
{
	const char *value = getenv ? getenv("ARCPROF_AGENT") : NULL;

	preload_look_up();
	if (value)
		keep_variable(value);
	if (preload_begin_memory && preload_variable.option)
		preload_begin_memory(preload_variable.option);
	if (preload_begin_waits && preload_variable.option)
		preload_begin_waits(preload_variable.option);
}

__attribute__((constructor)) static void begin(void)
{
	preload_begin();
	preload_has_begun = true;
}

/* ---- creating a JVM ---- */

/*
 * Return whether it is HotSpot, which the agent knows; other JVMs, and libraries that only look like one, are
 * left alone.
 */
static bool is_hotspot(uintptr_t base)
{
	return elf_symbol(base, "gHotSpotVMStructs");
}

/* ---- creating a JVM ---- */

/*
 * Copies the path in "-agentpath:<path>=<options>" to path; false when the file is not there, because a JVM
 * that cannot load an agent exits.
 */
static bool agent_exists(const char *option, char *path)
{
	size_t n = 0;

	while (*option && *option != ':')
		option++;
	while (*option && option[1 + n] && option[1 + n] != '=') {
		path[n] = option[1 + n];
		n++;
	}
	path[n] = '\0';
	return !sys(__NR_faccessat, AT_FDCWD, path, R_OK);
}

/* Return args with one more option, in memory that stays: HotSpot may keep what it was given, and [2]. */
static void *with_agent(void *args)
{
	const JavaVMInitArgs *a = args;
	const char *option = preload_variable.option;
	JavaVMInitArgs *n;
	JavaVMOption *o;
	size_t size;
	jint i;

	if (!option || !a || a->version < JNI_VERSION_1_2 || a->nOptions < 0 || a->nOptions > 1 << 20)
		return args;
	size = sizeof(*n) + (a->nOptions + 1) * sizeof(*o) + str_len(option) + 1;
	n = sys_pages(size);
	if (!n)
		return args;
	o = (JavaVMOption *)(n + 1);
	if (!agent_exists(option, (char *)(o + a->nOptions + 1))) {
		sys(__NR_munmap, n, size);
		return args;
	}
	*n = *a;
	n->options = o;
	n->nOptions++;
	o->optionString = (char *)option;
	for (i = 0; i < a->nOptions; i++)
		o[i + 1] = a->options[i];
	return n;
}

static void found_hotspot(uintptr_t base, void *create)
{
	real_create = (create_fn *)create;
	if (waits_leave_out)
		waits_leave_out(base);
}

/* Find the function in the libjvm that the program is linked with. */
__attribute__((noinline)) static create_fn *linked_create(void)
{
	struct search s = { .name = CREATE, .after_us = true };

	if (!objects_find(&s))
		return NULL;
	if (is_hotspot(s.base))
		found_hotspot(s.base, s.found);
	return (create_fn *)s.found;
}

/*
 * Remove our option in place from JAVA_TOOL_OPTIONS. A JVM that starts another one (-XX:AOTCacheOutput)
 * passes its options on there, which the other one prints. The agent comes as with any JVM.
 */
static void *without_option(void *args)
{
	char *v = getenv ? getenv("JAVA_TOOL_OPTIONS") : NULL;
	size_t len = preload_variable.option ? str_len(preload_variable.option) : 0, i;

	for (; len && v && *v; v++) {
		for (i = 0; i < len && v[i] == preload_variable.option[i]; i++)
			;
		if (i < len)
			continue;
		for (i += v[i] == ' '; (*v = v[i]); v++)
			;
		break;
	}
	return args;
}

jint JNI_CreateJavaVM(JavaVM **vm, void **env, void *args)
{
	create_fn *create = real_create ? real_create : linked_create();

	if (!create)
		return JNI_ERR;
	return create(vm, env, create == real_create ? with_agent(without_option(args)) : args);
}

/* ---- dlsym ---- */

static void *find_nothing(void *handle, const char *name)
{
	return NULL;
}

/*
 * Search after us: to callers that would find only our JNI_CreateJavaVM it does not exist. This is a call
 * from here, not a jump.
 */
static void *find_next(void *handle, const char *name)
{
	void *p = ((dlsym_fn *)preload_real(REAL_DLSYM))(RTLD_NEXT, name);

	__asm__ volatile("" : "+r"(p));
	return p;
}

/*
 * Return whether another HotSpot is loaded: of two in one process only one gets the agent, as a call does not
 * say which one it means.
 */
static bool other_hotspot_is_loaded(void *create)
{
	struct search s = { .name = CREATE, .at = (void *)real_create };

	return real_create && (void *)real_create != create && objects_find(&s);
}

static void *find_create(void *handle, const char *name)
{
	void *create = ((dlsym_fn *)preload_real(REAL_DLSYM))(handle, name);
	struct search s = { .name = CREATE }, theirs = { .name = CREATE, .at = create };

	if (create == (void *)JNI_CreateJavaVM)
		return objects_find(&s) ? create : find_next(handle, name);
	if (!create || !objects_find(&theirs) || !is_hotspot(theirs.base) || other_hotspot_is_loaded(create))
		return create;
	found_hotspot(theirs.base, create);
	return (void *)JNI_CreateJavaVM;
}

/* Choose who is to answer: dlsym(), in x86/dlsym.c and arm64/dlsym.c, jumps there [3]. */
__attribute__((used)) dlsym_fn *preload_answer(void *handle, const char *name)
{
	struct search s = { .name = CREATE };
	dlsym_fn *next = (dlsym_fn *)preload_real(REAL_DLSYM);

	if (!next)
		return find_nothing;
	if (!name || name[0] != 'J' || !str_eq(name, CREATE))
		return next;
	if (handle == RTLD_DEFAULT || handle == RTLD_NEXT)
		return objects_find(&s) ? next : find_next;
	return find_create;
}
