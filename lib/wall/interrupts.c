// SPDX-License-Identifier: GPL-2.0-or-later
/* interrupts.c - lists the kernel's functions below which interrupts are handled (interrupts.h). */
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "sym/kallsyms.h"
#include "wall/inner.h"

enum { MAX_KALLSYMS = 256 << 20, SLOW_NS = 10000000 };

/* Their names have changed between versions, and compilers inline some: one of each on a stack is enough. */
static const char *const timers[] = {
	"__hrtimer_run_queues", "hrtimer_interrupt", "hrtimer_run_softirq", "run_timer_softirq", "__run_timers",
	"call_timer_fn", "timer_expire_remote", "hrtimer_run_queues",
};
static const char *const interrupts[] = {
	"handle_softirqs", "__do_softirq", "__handle_irq_event_percpu", "handle_irq_event",
	"__flush_smp_call_function_queue", "flush_smp_call_function_queue", "irq_work_run", "irq_work_run_list",
};

_Static_assert(ARRAY_SIZE(timers) == WALL_NR_CODES && ARRAY_SIZE(interrupts) == WALL_NR_CODES, "one each");

static struct wall_bpf_code *interrupts_find(struct wall_bpf_code *codes, const char *const *names,
					     const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < WALL_NR_CODES; i++)
		if (strlen(names[i]) == len && !memcmp(names[i], name, len))
			return &codes[i];
	return NULL;
}

/* A line is "ffffffff81360070 t handle_softirqs"; a module's name may follow. */
void wall_parse_interrupts(struct wall_bpf_config *c, const char *text, size_t len)
{
	const char *p = text, *end = text + len, *line_end;
	struct wall_bpf_code *open = NULL, *code;

	for (; p < end; p = line_end + 1) {
		uint64_t addr = 0;

		line_end = memchr(p, '\n', end - p);
		if (!line_end)
			return;
		for (; p < line_end && *p != ' '; p++)
			addr = addr << 4 | (*p <= '9' ? *p - '0' : (*p | 0x20) - 'a' + 10);
		if (open && addr > open->start) {
			open->end = addr;
			open = NULL;
		}
		if (line_end - p < 4 || !addr)
			continue;
		p += 3;
		code = interrupts_find(c->timers, timers, p, line_end - p);
		code = code ? code : interrupts_find(c->interrupts, interrupts, p, line_end - p);
		if (!code || code->end)
			continue;
		code->start = addr;
		open = code;
	}
}

static bool ask_kernel_for(struct ksym_bpf *b, struct wall_bpf_code *codes, const char *const *names)
{
	const uint64_t began_ns = clock_mono_ns();
	struct ksym s;
	size_t i;

	for (i = 0; i < WALL_NR_CODES; i++) {
		int r = ksym_bpf_named(b, names[i], &s);

		if ((r && r != -ENOENT) || clock_mono_ns() - began_ns > SLOW_NS)
			return false;
		if (!r)
			codes[i] = (struct wall_bpf_code){ s.addr, s.addr + s.size };
	}
	return true;
}

/* Look the functions up by name, where the kernel has an index of names. */
static bool ask_kernel(struct wall_bpf_config *c)
{
	struct ksym_bpf *b = ksym_bpf_open();
	bool known = b && ask_kernel_for(b, c->timers, timers) &&
		     ask_kernel_for(b, c->interrupts, interrupts);

	ksym_bpf_close(b);
	return known;
}

void wall_find_interrupts(struct wall_bpf_config *c)
{
	struct buf text = BUF_INIT;
	struct err ignored;

	if (ask_kernel(c))
		return;
	memset(c->timers, 0, sizeof(c->timers));
	memset(c->interrupts, 0, sizeof(c->interrupts));
	if (!io_read_file("/proc/kallsyms", &text, MAX_KALLSYMS, &ignored))
		wall_parse_interrupts(c, text.data, text.len);
	buf_release(&text);
}
