// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * neighbour.c - a JVMTI agent that behaves in a JVM as other profilers do: it makes pages of libjvm's table
 * of imports writable, puts functions of its own there, writes there again and again; has handlers of SIGPROF
 * and of SIGTRAP, which pass on what is not its own; and when a file "late" appears in the working folder it
 * takes everything once more, over whoever came meanwhile. It removes the file then. When the JVM ends it
 * prints
 *
 *	neighbour: waits W prof P own R/S passed R/S slot mine|changed
 *
 * calls through its functions, signals of its timer, and of two kinds of SIGTRAP how many it raised and got.
 */
#include <dlfcn.h>
#include <elf.h>
#include <jvmti.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

typedef int wait_fn(void *cond, void *mutex);

static wait_fn **slot, *next[2];	/* below the first of its functions, and the second */
static unsigned long nr_waits, nr_prof, raised[2], seen[2];
static struct sigaction below_top;
static __thread volatile int raising = -1;	/* 0: own, 1: to be passed on */

static int first_wait(void *cond, void *mutex)
{
	__atomic_add_fetch(&nr_waits, 1, __ATOMIC_RELAXED);
	return next[0](cond, mutex);
}

static int late_wait(void *cond, void *mutex)
{
	__atomic_add_fetch(&nr_waits, 1, __ATOMIC_RELAXED);
	return next[1](cond, mutex);
}

static void find_in(const ElfW(Rela) *r, size_t bytes, const ElfW(Sym) *sym, const char *str, uintptr_t bias)
{
	const ElfW(Rela) *end = r + bytes / sizeof(*r);

	for (; r && r < end && !slot; r++)
		if (!strcmp(str + sym[ELF64_R_SYM(r->r_info)].st_name, "pthread_cond_wait"))
			slot = (wait_fn **)(bias + r->r_offset);
}

static void find_slot(JavaVM *vm)
{
	const ElfW(Rela) *rela = NULL, *plt = NULL;
	size_t rela_bytes = 0, plt_bytes = 0;
	const ElfW(Sym) *sym = NULL;
	const char *str = NULL;
	struct link_map *m;
	const ElfW(Dyn) *d;
	Dl_info info;

	if (!dladdr1((void *)(*vm)->GetEnv, &info, (void **)&m, RTLD_DL_LINKMAP))
		return;
	for (d = m->l_ld; d->d_tag != DT_NULL; d++) {
		rela = d->d_tag == DT_RELA ? (void *)d->d_un.d_ptr : rela;
		plt = d->d_tag == DT_JMPREL ? (void *)d->d_un.d_ptr : plt;
		sym = d->d_tag == DT_SYMTAB ? (void *)d->d_un.d_ptr : sym;
		str = d->d_tag == DT_STRTAB ? (void *)d->d_un.d_ptr : str;
		rela_bytes = d->d_tag == DT_RELASZ ? d->d_un.d_val : rela_bytes;
		plt_bytes = d->d_tag == DT_PLTRELSZ ? d->d_un.d_val : plt_bytes;
	}
	find_in(plt, plt_bytes, sym, str, m->l_addr);
	find_in(rela, rela_bytes, sym, str, m->l_addr);
}

static void on_prof(int sig)
{
	(void)sig;
	__atomic_add_fetch(&nr_prof, 1, __ATOMIC_RELAXED);
}

/* The program's own, from before anybody came. */
static void on_base_trap(int sig, siginfo_t *si, void *uc)
{
	(void)sig;
	(void)si;
	(void)uc;
	if (raising >= 0)
		__atomic_add_fetch(&seen[raising], 1, __ATOMIC_RELAXED);
}

static void on_top_trap(int sig, siginfo_t *si, void *uc)
{
	if (raising == 0)
		__atomic_add_fetch(&seen[0], 1, __ATOMIC_RELAXED);
	else
		below_top.sa_sigaction(sig, si, uc);
}

static void take_trap(void (*handler)(int, siginfo_t *, void *), struct sigaction *old)
{
	struct sigaction sa = { .sa_flags = SA_SIGINFO | SA_RESTART };

	sa.sa_sigaction = handler;
	sigaction(SIGTRAP, &sa, old);
}

static bool took_late(void)
{
	return next[1];
}

static void take_late(void)
{
	next[1] = *slot;
	*slot = late_wait;
	take_trap(on_top_trap, &below_top);
	unlink("late");
}

static void *meddle(void *arg)
{
	unsigned long turn;

	(void)arg;
	for (turn = 0;; turn++) {
		wait_fn *was = __atomic_load_n(slot, __ATOMIC_ACQUIRE);

		/* the page is writable, as it was left */
		__atomic_compare_exchange_n(slot, &was, was, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
		raising = turn % 2;
		raised[raising]++;
		syscall(SYS_tgkill, getpid(), gettid(), SIGTRAP);
		raising = -1;
		if (!took_late() && !access("late", F_OK))
			take_late();
		usleep(1000);
	}
	return NULL;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	const struct itimerval every = { { 0, 5000 }, { 0, 5000 } };
	const struct sigaction prof = { .sa_handler = on_prof, .sa_flags = SA_RESTART };
	pthread_t t;

	(void)options;
	(void)reserved;
	find_slot(vm);
	if (!slot || mprotect((void *)((uintptr_t)slot & ~4095ul), 4096, PROT_READ | PROT_WRITE))
		return JNI_ERR;
	next[0] = *slot;
	*slot = first_wait;
	take_trap(on_base_trap, NULL);
	sigaction(SIGPROF, &prof, NULL);
	setitimer(ITIMER_PROF, &every, NULL);
	return pthread_create(&t, NULL, meddle, NULL) ? JNI_ERR : JNI_OK;
}

JNIEXPORT void JNICALL Agent_OnUnload(JavaVM *vm)
{
	(void)vm;
	fprintf(stderr, "neighbour: waits %lu prof %lu own %lu/%lu passed %lu/%lu slot %s\n",
		nr_waits, nr_prof, raised[0], seen[0], raised[1], seen[1],
		*slot == (took_late() ? late_wait : first_wait) ? "mine" : "changed");
	fflush(stderr);
}
