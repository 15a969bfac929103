// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * root.c - where processes and threads begin.
 *
 * A chain of frame pointers ends at the first function that uses the register for something else: only the
 * place tells whether that is the outermost. Its name does where the file has symbols, and the code behind
 * the call where it has none: what main() returns is passed to exit(), and what a thread's function returns
 * is kept in the thread's own memory.
 */
#include <fnmatch.h>
#include <string.h>

#include "arch/x86/code.h"
#include "base/mem.h"
#include "unwind/module.h"

/* glibc, musl, Go. */
static const char *const names[] = {
	"_start", "_start_c", "_dl_start_user", "__libc_start_main*", "__libc_start_call_main",
	"libc_start_main_stage2", "start_thread", "thread_start", "runtime.goexit*", "runtime.mstart*",
	"runtime.mcall*", "runtime.rt0_go*", "_rt0_*",
};

/* these return in the thread that called them, too, and call nothing there */
static const char *const callers[] = { "clone", "clone3", "__clone", "__clone3" };

static bool is_root_name(const char *name, const char *const *list, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (!fnmatch(list[i], name, 0))
			return true;
	return false;
}

static bool has_root_name(struct symfile *f, uint64_t off, bool calls)
{
	struct symbol s;

	return symfile_symbol(f, off, &s) && (is_root_name(s.name, names, ARRAY_SIZE(names)) ||
					      (calls && is_root_name(s.name, callers, ARRAY_SIZE(callers))));
}

static bool follows_direct_call(const struct unwind_module *m, uint64_t off)
{
	uint8_t code[X86_CALL_DIRECT];
	int32_t rel;

	return off < sizeof(code) || !module_code(m, off - sizeof(code), code, sizeof(code)) ||
	       x86_is_direct_call(code, &rel);
}

/*
 * Return whether the code behind a call passes the result to exit(). Where functions have no names, one that
 * was called by its address is taken for main().
 */
static bool exits_with_result(const struct unwind_module *m, uint64_t off)
{
	uint8_t code[X86_EXIT_RESULT];
	struct symbol s;
	int32_t rel;

	if (!module_code(m, off, code, sizeof(code)) || !x86_is_exit_result(code, &rel))
		return false;
	if (!symfile_symbol(m->f, off + X86_EXIT_RESULT + rel, &s) || strchr(s.name, '+'))
		return !follows_direct_call(m, off);
	return !strcmp(s.name, "exit") || !strncmp(s.name, "exit@", 5);
}

static bool keeps_result(const struct unwind_module *m, uint64_t off)
{
	uint8_t code[X86_THREAD_RESULT];
	int32_t rel;

	if (!module_code(m, off, code, sizeof(code)))
		return false;
	if (x86_is_jump(code, &rel) && !module_code(m, off + X86_JUMP + rel, code, sizeof(code)))
		return false;
	return x86_is_thread_result(code);
}

static bool thread_exits(const struct unwind_module *m, uint64_t off)
{
	uint8_t code[X86_THREAD_EXIT];

	return module_code(m, off, code, sizeof(code)) && x86_is_thread_exit(code);
}

static bool root_look(const struct unwind_module *m, uint64_t off, bool calls)
{
	if (module_is_entry(m, off) || has_root_name(m->f, off, calls))
		return true;
	return calls && m->cpu == &cpu_x86 &&
	       (thread_exits(m, off + 1) || keeps_result(m, off + 1) || exits_with_result(m, off + 1));
}

bool unwind_is_root(struct unwind_module *m, uint64_t off, bool calls)
{
	uint32_t *known = map_put(&m->roots, off << 1 | calls);

	if (*known == MAP_NONE)
		*known = root_look(m, off, calls);
	return *known;
}
