// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * walkprog.c - runs a program, stops it now and then, and says how many of its stacks lib/unwind
 * walks to the root.
 *
 *	walkprog [-v] [-s STACK_BYTES] program...
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "sym/maps.h"
#include "sym/symfile_int.h"
#include "unwind/unwind.h"

enum { MODULES_MAX = 512, STACK_MAX = 1 << 20, DEPTH = 1024 };

static struct maps maps;
static struct symfile *files[MODULES_MAX];
static struct unwind_module *mods[MODULES_MAX];
static char *paths[MODULES_MAX];
static uint32_t nr_modules = 1;
static uint8_t stack[STACK_MAX], vdso[1 << 16];
static size_t stack_bytes = 65528;
static bool verbose;

static uint32_t module_of(pid_t pid, const char *path, uint64_t start, uint64_t len)
{
	struct iovec to = { vdso, MIN(len, sizeof(vdso)) }, from = { (void *)start, MIN(len, sizeof(vdso)) };
	struct err e;
	uint32_t i;
	int r;

	for (i = 1; i < nr_modules; i++)
		if (!strcmp(paths[i], path))
			return i;
	if (nr_modules == MODULES_MAX)
		return 0;
	if (!strcmp(path, "[vdso]"))
		r = process_vm_readv(pid, &to, 1, &from, 1, 0) < 0 ||
		    symfile_open_memory(&files[i], vdso, to.iov_len, path, &e);
	else
		r = symfile_open(&files[i], "", path, NULL, 0, &e);
	paths[i] = xstrdup(path);
	if (!r)
		mods[i] = unwind_module_new(files[i]);
	return nr_modules++;
}

static void read_maps(pid_t pid)
{
	uint64_t start, end, pgoff;
	char line[4096], perm[8], path[2048];
	FILE *in;

	snprintf(line, sizeof(line), "/proc/%d/maps", pid);
	in = fopen(line, "r");
	maps_reset(&maps);
	while (in && fgets(line, sizeof(line), in)) {
		path[0] = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %2047[^\n]", &start, &end,
			   perm, &pgoff, path) >= 4 && perm[2] == 'x')
			maps_add(&maps, start, end, pgoff,
				 path[0] ? module_of(pid, path, start, end - start) : 0);
	}
	if (in)
		fclose(in);
}

static bool find(void *ctx, uint64_t addr, uint32_t *module, uint64_t *off, struct unwind_module **mod)
{
	const struct map_entry *m = maps_find(&maps, addr);

	if (!m)
		return false;
	*module = m->module;
	*off = map_entry_off(m, addr);
	*mod = mods[m->module];
	return true;
}

static void take_regs(const struct user_regs_struct *u, struct unwind_regs *r)
{
	const uint64_t v[17] = { u->rax, u->rdx, u->rcx, u->rbx, u->rsi, u->rdi, u->rbp, u->rsp, u->r8, u->r9,
				 u->r10, u->r11, u->r12, u->r13, u->r14, u->r15, u->rip };

	memcpy(r->r, v, sizeof(v));
	r->valid = 0x1ffff;
	r->pc = u->rip;
	r->sp = u->rsp;
}

static void show(const struct unwind_frame *f, size_t nr, enum frame_mark end)
{
	struct symbol s;
	size_t i;

	printf("# end %d after %zu frames\n", end, nr);
	for (i = nr > 8 ? nr - 8 : 0; i < nr; i++) {
		bool known =
			f[i].module && files[f[i].module] && symfile_symbol(files[f[i].module], f[i].off, &s);

		printf("#   %" PRIx64 " sp %" PRIx64 " %s %s off %" PRIx64 "\n", f[i].pc, f[i].sp,
		       known ? s.name : "?",
		       f[i].module ? paths[f[i].module] : "", f[i].off);
	}
}

static unsigned long ends[MARK_NR], nr_samples, nr_frames;

static void sample(pid_t pid)
{
	static struct unwind_frame f[DEPTH];
	static const struct unwind_space space = { find, NULL, NULL };
	struct iovec to = { stack, stack_bytes }, from;
	struct unwind_regs regs = { 0 };
	struct user_regs_struct u;
	struct unwind_stack st;
	enum frame_mark end;
	ssize_t got;
	size_t nr;

	if (ptrace(PTRACE_GETREGS, pid, 0, &u))
		return;
	read_maps(pid);
	take_regs(&u, &regs);
	for (got = -1; got < 0 && to.iov_len >= 4096; to.iov_len -= got < 0 ? 4096 : 0) {
		from = (struct iovec){ (void *)u.rsp, to.iov_len };
		got = process_vm_readv(pid, &to, 1, &from, 1, 0);
	}
	st = (struct unwind_stack){ u.rsp, stack, got < 0 ? 0 : got };
	nr = unwind_walk(&space, &regs, &st, f, DEPTH, &end);
	nr_samples++;
	nr_frames += nr;
	if (ends[end]++ < 4 && end && verbose)
		show(f, nr, end);
}

int main(int argc, char **argv)
{
	int opt, status, i;
	pid_t pid;

	while ((opt = getopt(argc, argv, "+vs:")) != -1) {
		if (opt == 's')
			stack_bytes = MIN(strtoul(optarg, NULL, 0), STACK_MAX);
		verbose |= opt == 'v';
	}
	pid = fork();
	if (!pid) {
		execvp(argv[optind], argv + optind);
		_exit(127);
	}
	usleep(5000);
	if (ptrace(PTRACE_SEIZE, pid, 0, 0))
		return 1;
	while (nr_samples < 20000) {
		usleep(500);
		ptrace(PTRACE_INTERRUPT, pid, 0, 0);
		if (waitpid(pid, &status, __WALL) != pid || WIFEXITED(status) || WIFSIGNALED(status))
			break;
		if (status >> 16 == PTRACE_EVENT_STOP)
			sample(pid);
		ptrace(PTRACE_CONT, pid, 0, status >> 16 ? 0 : WSTOPSIG(status));
	}
	printf("%lu samples, %.1f frames, %.2f %% complete;", nr_samples, (double)nr_frames / nr_samples,
	       100. * ends[0] / nr_samples);
	for (i = 1; i < MARK_NR; i++)
		if (ends[i])
			printf(" end %d: %lu", i, ends[i]);
	printf("\n");
	return 0;
}
