// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * callcheck.c - compares exact calls with the kernel: the contexts of a thread must add up to the CPU
 * time in the kernel's accounting.
 *
 * Virtual threads consume CPU time of their carriers, and threads that share a tree have no
 * account of their own: in a process that has any, the sums over all threads are compared. The two
 * clocks are not the same: the kernel counts a thread's time from one switch to the next, the trees
 * count cycles while it has the CPU, including those that a hypervisor takes away; and the time of a
 * thread that had not returned was read when it last entered the kernel, at most a tick before.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "model/checks.h"
#include "trace/walk.h"

struct account {
	uint64_t charged_ns, kernel_ns;
	uint32_t proc;
	bool known;		/* the kernel's account is */
	bool some_unknown;	/* of a process: not that of each thread */
	bool virtual;
};

struct accounts {
	struct map of;		/* number of a tree, or of a process -> index */
	struct account *list;
	size_t nr, alloc;
	bool has_cpu;
};

static struct account *account_of_tree(struct accounts *a, uint32_t number)
{
	uint32_t *at = map_put(&a->of, number);

	if (*at == MAP_NONE) {
		*at = a->nr;
		*VEC_ADD(a->list, a->nr, a->alloc) = (struct account){ 0 };
	}
	return &a->list[*at];
}

static int callcheck_take_label(void *ctx, const char *key, size_t key_len, const char *val, size_t val_len)
{
	static const char first[] = "call.metric.0", cpu[] = "cpu";
	struct accounts *a = ctx;

	if (key_len == sizeof(first) - 1 && !memcmp(key, first, key_len))
		a->has_cpu = val_len == sizeof(cpu) - 1 && !memcmp(val, cpu, val_len);
	return 0;
}

static int callcheck_take_tree(void *ctx, const struct rec_call_tree *r)
{
	struct account *t = account_of_tree(ctx, r->tree);

	t->proc = r->proc;
	t->virtual = r->flags & CALL_TREE_VIRTUAL;
	t->known = r->kernel_cpu_ns;
	t->kernel_ns = r->kernel_cpu_ns;
	return 0;
}

static int callcheck_take_values(void *ctx, const struct rec_call_values *r)
{
	struct account *t = account_of_tree(ctx, r->tree);
	uint32_t i;

	for (i = 0; i < r->nr && r->nr_metrics; i++)
		t->charged_ns += r->values[i].base[0];
	return 0;
}

static void callcheck_compare(const struct account *t, const char *what, uint32_t number,
			      struct sums_check *out)
{
	uint64_t most = t->kernel_ns / 100 * CALLS_CHECK_PERCENT + CALLS_CHECK_NS;
	uint64_t off =
		t->charged_ns > t->kernel_ns ? t->charged_ns - t->kernel_ns : t->kernel_ns - t->charged_ns;

	sums_check_that(out, off <= most, "%s %" PRIu32 ": %" PRIu64 " ns charged, %" PRIu64 " ns by the kernel",
			what, number, t->charged_ns, t->kernel_ns);
}

static void compare_all(const struct accounts *a, struct sums_check *out)
{
	struct accounts procs = { 0 };
	uint32_t i, number;

	for (i = 0; i < a->nr; i++) {
		struct account *p = account_of_tree(&procs, a->list[i].proc);

		p->charged_ns += a->list[i].charged_ns;
		p->kernel_ns += a->list[i].kernel_ns;
		p->virtual |= a->list[i].virtual;
		p->some_unknown |= !a->list[i].known && !a->list[i].virtual;
	}
	for (i = 0; i < a->nr; i++)
		if (a->list[i].known && !account_of_tree(&procs, a->list[i].proc)->virtual)
			callcheck_compare(&a->list[i], "thread", i + 1, out);
	for (i = 0; i < a->nr; i++) {
		struct account *p = account_of_tree(&procs, number = a->list[i].proc);

		if (p->virtual && !p->some_unknown)
			callcheck_compare(p, "process", number, out);
		p->virtual = false;
	}
	free(procs.list);
	map_release(&procs.of);
}

int calls_check(struct trace_reader *t, struct sums_check *out, struct err *e)
{
	const struct trace_sink sink = { .label = callcheck_take_label, .call_tree = callcheck_take_tree,
		.call_values = callcheck_take_values };
	struct accounts a = { 0 };
	int r = trace_read(t, &sink, &a, e);

	memset(out, 0, sizeof(*out));
	if (!r && a.has_cpu)
		compare_all(&a, out);
	free(a.list);
	map_release(&a.of);
	return r;
}
