// SPDX-License-Identifier: GPL-2.0-or-later
/* perfsample.c - parses PERF_RECORD_SAMPLE (perfsample.h). */
#include <linux/perf_event.h>
#include <stddef.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/cpu.h"
#include "base/mem.h"
#include "unwind/perfsample.h"

static void skip_read(struct span *s, uint64_t format)
{
	size_t times = 8 * (!!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			    !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING));
	size_t value = 8 + 8 * !!(format & PERF_FORMAT_ID) + 8 * !!(format & 1 << 4);	/* _LOST */
	uint64_t nr = 1;

	if (format & PERF_FORMAT_GROUP)
		nr = span_u64(s);
	if (nr > span_left(s) / 8)
		s->bad = true;
	span_bytes(s, times);
	if (!s->bad)
		span_bytes(s, nr * value);
}

static void skip_branches(struct span *s, uint64_t branch_type)
{
	uint64_t nr = span_u64(s);

	if (branch_type & 1 << 17)		/* PERF_SAMPLE_BRANCH_HW_INDEX */
		span_u64(s);
	if (nr > span_left(s) / 24)
		s->bad = true;
	else
		span_bytes(s, nr * 24);
}

/*
 * Read registers; mask: perf's numbers of those present. Those that unwinding knows get DWARF's numbers; what
 * a perf.data does not have is 0.
 */
static void perf_sample_regs(struct span *s, uint64_t mask, struct perf_sample *ps)
{
	if (!span_u64(s))	/* PERF_SAMPLE_REGS_ABI_NONE: of a kernel thread */
		return;
	ps->has_regs = true;
	if (arch_perf_regs_mask & ~mask)
		memset(&ps->regs, 0, sizeof(ps->regs));
	for (; mask; mask &= mask - 1) {
		uint64_t below = (mask & -mask) - 1, v = span_u64(s);
		unsigned int reg;

		if (!(arch_perf_regs_mask & (below + 1)))
			continue;
		reg = arch_perf_regs_dwarf[__builtin_popcountll(arch_perf_regs_mask & below)];
		ps->regs.r[reg] = v;
		ps->regs.valid |= 1ull << reg;
	}
	ps->regs.pc = ps->regs.r[cpu_host->pc];
	ps->regs.sp = ps->regs.r[cpu_host->sp];
}

static void perf_sample_stack(struct span *s, struct perf_sample *ps)
{
	uint64_t size = span_u64(s), used;
	const uint8_t *data;

	if (!size)
		return;
	data = span_bytes(s, size);
	used = span_u64(s);
	if (!s->bad)
		ps->stack = (struct unwind_stack){ ps->has_regs ? ps->regs.sp : 0, data, MIN(used, size) };
}

static void read_chain(struct span *s, struct perf_sample *ps)
{
	ps->nr_chain = span_u64(s);
	if (ps->nr_chain > span_left(s) / 8)
		s->bad = true;
	else
		ps->chain = span_bytes(s, ps->nr_chain * 8);
}

bool perf_sample_read(struct perf_sample *ps, const struct perf_sample_format *format, struct span s)
{
	const uint64_t type = format->sample_type;

	memset(ps, 0, offsetof(struct perf_sample, regs));	/* of these, only what is valid is set */
	ps->regs.valid = 0;
	if (type & PERF_SAMPLE_IDENTIFIER)
		ps->id = span_u64(&s);
	if (type & PERF_SAMPLE_IP)
		ps->ip = span_u64(&s);
	if (type & PERF_SAMPLE_TID) {
		ps->pid = span_u32(&s);
		ps->tid = span_u32(&s);
	}
	if (type & PERF_SAMPLE_TIME)
		ps->time_ns = span_u64(&s);
	if (type & PERF_SAMPLE_ADDR)
		ps->data_addr = span_u64(&s);
	if (type & PERF_SAMPLE_ID)
		span_u64(&s);
	if (type & PERF_SAMPLE_STREAM_ID)
		span_u64(&s);
	ps->cpu = type & PERF_SAMPLE_CPU ? (uint32_t)span_u64(&s) : PERF_SAMPLE_NO_CPU;
	if (type & PERF_SAMPLE_PERIOD)
		ps->period = span_u64(&s);
	if (type & PERF_SAMPLE_READ)
		skip_read(&s, format->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN)
		read_chain(&s, ps);
	if (type & PERF_SAMPLE_RAW) {
		ps->nr_raw = span_u32(&s);
		ps->raw = span_bytes(&s, ps->nr_raw);
	}
	if (type & PERF_SAMPLE_BRANCH_STACK)
		skip_branches(&s, format->branch_type);
	if (type & PERF_SAMPLE_REGS_USER)
		perf_sample_regs(&s, format->regs_user, ps);
	if (type & PERF_SAMPLE_STACK_USER)
		perf_sample_stack(&s, ps);
	return !s.bad;
}
