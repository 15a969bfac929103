// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * selfwalk.c - interrupts itself by a timer, takes registers and a copy of the stack as the
 * kernel would, and compares what lib/unwind makes of them with what the compiler's own
 * unwinder (backtrace()) said at the same moment.
 *
 *	selfwalk [milliseconds a workload]
 *
 * Prints a line a workload: samples, equal, complete, and the first that differ.  Status 1
 * when more than one in a thousand differs.
 */
#include <execinfo.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/mem.h"
#include "sym/maps.h"
#include "sym/symfile_int.h"
#include "unwind/unwind.h"

enum {
	SAMPLES_MAX = 1500,
	STACK_COPY = 48 * 1024,
	DEPTH = 256,
	MODULES_MAX = 64,
};

struct sample {
	struct unwind_regs regs;
	size_t stack_len;
	int nr_want;
	void *want[DEPTH];
	uint8_t stack[STACK_COPY];
};

static struct sample *samples;
static volatile int nr_samples;
static __thread uint64_t stack_top;
static uint64_t main_top;
extern void *__libc_stack_end;	/* where _start found argc */

static struct maps maps;
static struct symfile *files[MODULES_MAX];
static struct unwind_module *mods[MODULES_MAX];
static char *paths[MODULES_MAX];
static uint32_t nr_modules = 1;

static void on_timer(int sig, siginfo_t *info, void *ctx)
{
	static const int order[17] = {
		REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
		REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP,
	};
	ucontext_t *uc = ctx;
	struct sample *s;
	int i;

	if (nr_samples == SAMPLES_MAX)
		return;
	s = &samples[nr_samples];
	memset(&s->regs, 0, sizeof(s->regs));
	for (i = 0; i < 17; i++)
		s->regs.r[i] = uc->uc_mcontext.gregs[order[i]];
	s->regs.valid = (1 << 17) - 1;
	s->regs.pc = s->regs.r[16];
	s->regs.sp = s->regs.r[7];
	s->stack_len = MIN(stack_top - s->regs.sp, STACK_COPY);
	memcpy(s->stack, (void *)s->regs.sp, s->stack_len);
	s->nr_want = backtrace(s->want, DEPTH);
	nr_samples = nr_samples + 1;
}

static uint32_t module_of(const char *path)
{
	struct err e;
	uint32_t i;

	for (i = 1; i < nr_modules; i++)
		if (!strcmp(paths[i], path))
			return i;
	if (nr_modules == MODULES_MAX)
		return 0;
	if (!strcmp(path, "[vdso]") ? 0 : symfile_open(&files[i], "", path, NULL, 0, &e))
		return 0;
	if (!files[i])
		return 0;
	paths[i] = xstrdup(path);
	mods[i] = unwind_module_new(files[i]);
	return nr_modules++;
}

static void read_maps(void)
{
	FILE *in = fopen("/proc/self/maps", "r");
	uint64_t start, end, pgoff;
	char line[4096], perm[8], path[2048];
	struct err e;

	while (in && fgets(line, sizeof(line), in)) {
		path[0] = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %2047[^\n]", &start, &end,
			   perm, &pgoff, path) < 4 || perm[2] != 'x')
			continue;
		if (!strcmp(path, "[vdso]") &&
		    symfile_open_memory(&files[nr_modules], (void *)start, end - start, path, &e))
			continue;
		maps_add(&maps, start, end, pgoff, module_of(path));
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

static void print_frame(const char *what, uint64_t pc)
{
	struct symbol s = { .name = "?" };
	struct unwind_module *mod;
	uint32_t module = 0;
	uint64_t off = 0;

	if (find(NULL, pc, &module, &off, &mod) && module)
		symfile_symbol(files[module], off, &s);
	printf("#   %s %" PRIx64 " %s+0x%" PRIx64 " %s\n", what, pc, s.name, off - s.off,
	       module ? paths[module] : "");
}

/* The interrupted address is in want[] after the handler and the trampoline. */
static bool same(const struct sample *s, const struct unwind_frame *f, size_t nr)
{
	int first = 0;
	size_t i;

	while (first < s->nr_want && (uint64_t)s->want[first] != s->regs.r[16])
		first++;
	if ((size_t)(s->nr_want - first) != nr)
		return false;
	for (i = 0; i < nr; i++)
		if (f[i].pc + (i && !f[i].signal) != (uint64_t)s->want[first + i])
			return false;
	return true;
}

static void show(const struct sample *s, const struct unwind_frame *f, size_t nr, enum frame_mark end)
{
	size_t i;

	printf("# differs: ours has %zu frames, end %d\n", nr, end);
	for (i = 0; i < MIN(nr, 12); i++)
		print_frame("ours", f[i].pc);
	for (i = 0; i < (size_t)MIN(s->nr_want, 12); i++)
		print_frame("want", (uint64_t)s->want[i]);
}

static bool compare(const char *name)
{
	const struct unwind_space space = { find, NULL, NULL };
	int i, equal = 0, complete = 0, cut = 0, shown = 0;

	for (i = 0; i < nr_samples; i++) {
		struct sample *s = &samples[i];
		struct unwind_stack st = { s->regs.r[7], s->stack, s->stack_len };
		struct unwind_frame f[DEPTH];
		enum frame_mark end;
		size_t nr = unwind_walk(&space, &s->regs, &st, f, DEPTH, &end);

		s->regs.r[16] = f[0].pc;
		complete += end == MARK_NONE;
		cut += end == MARK_TRUNCATED_STACK;
		if (same(s, f, nr))
			equal++;
		else if (end != MARK_TRUNCATED_STACK && shown++ < 3)
			show(s, f, nr, end);
	}
	printf("%s: %d samples, %d equal, %d complete, %d deeper than the copy\n", name, nr_samples, equal,
	       complete, cut);
	fflush(stdout);
	return nr_samples > 10 && (nr_samples - equal - cut) * 1000 <= nr_samples;
}

/* Workloads; each returns something so that it is not optimised away. */

static volatile uint64_t sink;

static int by_value(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return x < y ? -1 : x > y;
}

static void work_qsort(void)
{
	static int v[20000];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(v); i++)
		v[i] = (int)(i * 2654435761u >> 8);
	qsort(v, ARRAY_SIZE(v), sizeof(v[0]), by_value);
	sink += v[7];
}

static __attribute__((noinline)) uint64_t recurse(uint64_t n, uint64_t (*leaf)(uint64_t))
{
	volatile char pad[24];

	pad[n % 24] = (char)n;
	return n ? recurse(n - 1, leaf) + pad[n % 24] : leaf(n);
}

static uint64_t leaf_spin(uint64_t n)
{
	int i;

	for (i = 0; i < 20000; i++)
		n = n * 6364136223846793005ull + 1442695040888963407ull;
	return n;
}

static void work_recursion(void)
{
	sink += recurse(100, leaf_spin);
}

static void work_library(void)
{
	char text[256], copy[256];
	double d = 0;
	int i;

	for (i = 1; i < 300; i++) {
		snprintf(text, sizeof(text), "%d %s %g %p", i, "some words to print", sqrt(i) * 1e10,
			 (void *)text);
		d += strtod(strstr(text, "words") + 15, NULL) + exp(1.0 / i) + sin(i) + pow(i, 0.3);
		memset(copy, i, sizeof(copy));
		memmove(copy + 1, text, strlen(text));
		sink += strlen(copy) + (uint64_t)d + (strchr(copy, 'w') != NULL);
	}
}

static void work_regex(void)
{
	regex_t re;

	if (regcomp(&re, "^(a|b)*c+[0-9]{2,4}(x|y|z)?$", REG_EXTENDED))
		return;
	sink += regexec(&re, "abababababccccc123z", 0, NULL, 0);
	regfree(&re);
}

static __attribute__((noinline)) void with_alloca(size_t n)
{
	volatile char *p = __builtin_alloca(n);

	p[n - 1] = (char)n;
	sink += p[n - 1] + leaf_spin(n) % 3;
}

static void work_alloca(void)
{
	size_t n;

	for (n = 16; n < 4096; n += 16)
		with_alloca(n);
}

static void work_system_calls(void)
{
	struct timespec ts;
	int i;

	for (i = 0; i < 200; i++) {
		clock_gettime(CLOCK_MONOTONIC, &ts);
		sink += getppid() + ts.tv_nsec + time(NULL);
	}
}

/* A signal inside which the timer strikes: two signal frames on one stack. */
static void on_usr1(int sig)
{
	sink += leaf_spin(sig);
}

static void work_signal(void)
{
	raise(SIGUSR1);
	sink += recurse(5, leaf_spin);
}

static void *thread_main(void *arg)
{
	void (*work)(void) = *(void (**)(void))arg;
	uint64_t end;
	bool is_main = getpid() == gettid();
	struct timespec ts;

	/* A thread's own descriptor is above its stack, in the same mapping. */
	stack_top = is_main ? main_top : (uint64_t)__builtin_frame_address(0) + 2048;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	end = ts.tv_sec * 1000ull + ts.tv_nsec / 1000000 + ((uint64_t *)arg)[1];
	do {
		work();
		clock_gettime(CLOCK_MONOTONIC, &ts);
	} while ((uint64_t)(ts.tv_sec * 1000ull + ts.tv_nsec / 1000000) < end);
	return NULL;
}

static bool run(const char *name, void (*work)(void), uint64_t ms, bool thread)
{
	struct { void (*work)(void); uint64_t ms; } arg = { work, ms };
	struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF };
	struct itimerspec every = { { 0, 150037 }, { 0, 150037 } };
	pthread_t t;
	timer_t timer;

	nr_samples = 0;
	if (timer_create(CLOCK_MONOTONIC, &ev, &timer))
		return false;
	if (thread) {
		sigset_t set;

		sigemptyset(&set);
		sigaddset(&set, SIGPROF);
		pthread_create(&t, NULL, thread_main, &arg);
		pthread_sigmask(SIG_BLOCK, &set, NULL);
		timer_settime(timer, 0, &every, NULL);
		pthread_join(t, NULL);
		timer_delete(timer);
		pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	} else {
		timer_settime(timer, 0, &every, NULL);
		thread_main(&arg);
		timer_delete(timer);
	}
	return compare(name);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*work)(void);
		bool thread;
	} all[] = {
		{ "qsort", work_qsort, false }, { "recursion", work_recursion, false },
		{ "library", work_library, false }, { "regex", work_regex, false },
		{ "alloca", work_alloca, false }, { "system-calls", work_system_calls, false },
		{ "signal", work_signal, false }, { "thread-qsort", work_qsort, true },
		{ "thread-library", work_library, true },
	};
	uint64_t ms = argc > 1 ? strtoull(argv[1], NULL, 0) : 150;
	struct sigaction sa = { .sa_sigaction = on_timer, .sa_flags = SA_SIGINFO | SA_RESTART };
	void *first[2];
	bool ok = true;
	size_t i;

	samples = xcalloc(SAMPLES_MAX, sizeof(*samples));
	memset(samples, 1, SAMPLES_MAX * sizeof(*samples));
	main_top = (uint64_t)__libc_stack_end + 8;
	backtrace(first, 2);	/* loads what it needs, outside of a handler */
	read_maps();
	sigaction(SIGPROF, &sa, NULL);
	signal(SIGUSR1, on_usr1);
	for (i = 0; i < ARRAY_SIZE(all); i++)
		ok &= run(all[i].name, all[i].work, ms, all[i].thread);
	return !ok;
}
