// SPDX-License-Identifier: MIT
/*
 * preload.c - loaded by LD_PRELOAD into every program of a recording; adds the agent to the options of a JVM that
 * is created there. A JVM says nothing about it, as it would about JAVA_TOOL_OPTIONS.
 *
 * Launchers find JNI_CreateJavaVM by dlsym(), other programs are linked with libjvm; so both names are defined here.
 *
 * Invariants:
 *  [1] no library is needed, and a symbol that is missing changes nothing: one file serves every C library;
 *  [2] nothing runs when a program starts, and no frame of ours is on a stack while a JVM is being created;
 *  [3] whoever asks for another symbol gets what the C library would have given, his return address included,
 *      because RTLD_NEXT and RTLD_DEFAULT mean something else for each caller.
 */
#include <link.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <jni.h>

#include "agent/elf.h"
#include "agent/sys.h"

#define EXPORT __attribute__((visibility("default")))
#define CREATE "JNI_CreateJavaVM"

typedef void *dlsym_fn(void *handle, const char *name);
typedef jint create_fn(JavaVM **vm, void **env, void *args);

EXPORT create_fn JNI_CreateJavaVM;

__attribute__((weak)) extern int dl_iterate_phdr(int (*f)(struct dl_phdr_info *, size_t, void *), void *ctx);
__attribute__((weak)) extern char *getenv(const char *name);
__attribute__((visibility("hidden"))) extern const ElfW(Ehdr) __ehdr_start;

static dlsym_fn *real_dlsym;	/* NULL until it is asked for */
static create_fn *real_create;	/* HotSpot's, found last */

/* ---- objects that are loaded ---- */

/* What to look for: a symbol of an object after ours, or of any that has it at this address. */
struct search {
	const char *name;
	void *at;		/* NULL: wherever it is */
	bool after_us, passed_us;
	void *found;
	uintptr_t base;		/* of the object that has it */
};

static uintptr_t base_of(const struct dl_phdr_info *o)
{
	int i;

	for (i = 0; i < o->dlpi_phnum; i++)
		if (o->dlpi_phdr[i].p_type == PT_LOAD && !o->dlpi_phdr[i].p_offset)
			return o->dlpi_addr + o->dlpi_phdr[i].p_vaddr;
	return 0;
}

static int look(struct dl_phdr_info *o, size_t size, void *ctx)
{
	uintptr_t base = base_of(o);
	struct search *s = ctx;
	void *p;

	if (base == (uintptr_t)&__ehdr_start) {
		s->passed_us = true;
		return 0;
	}
	if (!base || (s->after_us && !s->passed_us))
		return 0;
	p = elf_symbol(base, s->name);
	if (!p || (s->at && p != s->at))
		return 0;
	s->found = p;
	s->base = base;
	return 1;
}

static bool find(struct search *s)
{
	return dl_iterate_phdr && dl_iterate_phdr(look, s) && s->found;
}

/* The agent knows HotSpot; other JVMs, and libraries that only look like one, are left alone. */
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
	return !sys(__NR_access, path, R_OK);
}

/* args with one more option, in memory that stays: HotSpot may keep what it was given, and [2]. */
static void *with_agent(void *args)
{
	const JavaVMInitArgs *a = args;
	char *option = getenv ? getenv("ARCPROF_AGENT") : NULL;
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
	o->optionString = option;
	for (i = 0; i < a->nOptions; i++)
		o[i + 1] = a->options[i];
	return n;
}

/* Of the libjvm that the program is linked with. */
__attribute__((noinline)) static create_fn *linked_create(void)
{
	struct search s = { .name = CREATE, .after_us = true };

	if (!find(&s))
		return NULL;
	if (is_hotspot(s.base))
		real_create = (create_fn *)s.found;
	return (create_fn *)s.found;
}

jint JNI_CreateJavaVM(JavaVM **vm, void **env, void *args)
{
	create_fn *create = real_create ? real_create : linked_create();

	if (!create)
		return JNI_ERR;
	return create(vm, env, create == real_create ? with_agent(args) : args);
}

/* ---- dlsym ---- */

static dlsym_fn *find_dlsym(void)
{
	struct search s = { .name = "dlsym", .after_us = true };

	if (!load_relaxed(&real_dlsym) && find(&s))
		store_relaxed(&real_dlsym, (dlsym_fn *)s.found);
	return load_relaxed(&real_dlsym);
}

static void *find_nothing(void *handle, const char *name)
{
	return NULL;
}

/* For whom JNI_CreateJavaVM is ours only: as if it were nowhere. Asked from here, not by a jump. */
static void *find_next(void *handle, const char *name)
{
	void *p = find_dlsym()(RTLD_NEXT, name);

	__asm__ volatile("" : "+r"(p));
	return p;
}

/* Of two HotSpots in one process only one gets the agent: a call does not say which one it means. */
static bool other_hotspot_is_loaded(void *create)
{
	struct search s = { .name = CREATE, .at = (void *)real_create };

	return real_create && (void *)real_create != create && find(&s);
}

static void *find_create(void *handle, const char *name)
{
	void *create = find_dlsym()(handle, name);
	struct search s = { .name = CREATE }, theirs = { .name = CREATE, .at = create };

	if (create == (void *)JNI_CreateJavaVM)
		return find(&s) ? create : find_next(handle, name);
	if (!create || !find(&theirs) || !is_hotspot(theirs.base) || other_hotspot_is_loaded(create))
		return create;
	real_create = (create_fn *)create;
	return (void *)JNI_CreateJavaVM;
}

/* Who is to answer: dlsym() below jumps there [3]. */
__attribute__((used)) dlsym_fn *preload_answer(void *handle, const char *name)
{
	struct search s = { .name = CREATE };
	dlsym_fn *next = find_dlsym();

	if (!next)
		return find_nothing;
	if (!name || name[0] != 'J' || !str_eq(name, CREATE))
		return next;
	if (handle == RTLD_DEFAULT || handle == RTLD_NEXT)
		return find(&s) ? next : find_next;
	return find_create;
}

__asm__(".text\n"
	".globl dlsym\n"
	".type dlsym, @function\n"
	"dlsym:\n"
	"	.cfi_startproc\n"
	"	push %rdi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	push %rsi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	sub $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call preload_answer\n"
	"	add $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	pop %rsi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	pop %rdi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	jmp *%rax\n"
	"	.cfi_endproc\n"
	".size dlsym, . - dlsym\n");
