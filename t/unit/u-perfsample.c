// SPDX-License-Identifier: GPL-2.0-or-later
/* The registers of a perf sample: those that are there, those that are not, those unknown. */
#include <linux/perf_event.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/cpu.h"
#include "unit.h"
#include "unwind/perfsample.h"

/* A perf.data chooses its registers: here the lowest and the highest that unwinding knows. */
TEST(perfsample_registers_that_are_not_there_are_nought)
{
	const uint64_t low = arch_perf_regs_mask & -arch_perf_regs_mask;
	const uint64_t high = 1ull << (63 - __builtin_clzll(arch_perf_regs_mask));
	const unsigned int nr = __builtin_popcountll(arch_perf_regs_mask);
	const struct perf_sample_format format = { PERF_SAMPLE_IP | PERF_SAMPLE_REGS_USER,
						   .regs_user = low | high };
	const uint64_t data[] = { 0x4711, PERF_SAMPLE_REGS_ABI_64, 1, 2 };
	struct perf_sample ps;
	size_t i, others = 0;

	memset(&ps, 0xff, sizeof(ps));
	CHECK(perf_sample_read(&ps, &format, span_init(data, sizeof(data))));
	CHECK_U64(ps.ip, 0x4711);
	CHECK(ps.has_regs && ps.cpu == PERF_SAMPLE_NO_CPU);
	CHECK_U64(ps.regs.r[arch_perf_regs_dwarf[0]], 1);
	CHECK_U64(ps.regs.r[arch_perf_regs_dwarf[nr - 1]], 2);
	CHECK_U64(ps.regs.valid, 1ull << arch_perf_regs_dwarf[0] | 1ull << arch_perf_regs_dwarf[nr - 1]);
	for (i = 0; i < sizeof(ps.regs.r) / sizeof(ps.regs.r[0]); i++)
		others += ps.regs.r[i] > 2;
	CHECK_U64(others, 0);
	CHECK_U64(ps.regs.sp, ps.regs.r[cpu_host->sp]);
}

TEST(perfsample_registers_that_unwinding_does_not_know_are_passed_over)
{
	const uint64_t unknown = ~arch_perf_regs_mask & -~arch_perf_regs_mask;
	const uint64_t mask = arch_perf_regs_mask | unknown;
	const struct perf_sample_format format = { PERF_SAMPLE_REGS_USER, .regs_user = mask };
	uint64_t data[65] = { PERF_SAMPLE_REGS_ABI_64 };
	unsigned int bit, at = 1;
	struct perf_sample ps;

	for (bit = 0; bit < 64; bit++)
		if (mask >> bit & 1)
			data[at++] = 100 + bit;
	CHECK(perf_sample_read(&ps, &format, span_init(data, at * 8)));
	for (bit = 0, at = 0; bit < 64; bit++)
		if (arch_perf_regs_mask >> bit & 1)
			CHECK_U64(ps.regs.r[arch_perf_regs_dwarf[at++]], 100 + bit);
	CHECK(!perf_sample_read(&ps, &format, span_init(data, 8 * at)));
}

TEST(perfsample_address_of_the_data_is_there_if_the_event_has_it)
{
	const struct perf_sample_format with = { PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_PERIOD },
					without = { PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD };
	const uint64_t data[] = { 0x4711, 0x7f00deadb000, 3 };
	struct perf_sample ps;

	CHECK(perf_sample_read(&ps, &with, span_init(data, sizeof(data))));
	CHECK_U64(ps.data_addr, 0x7f00deadb000);
	CHECK_U64(ps.period, 3);
	CHECK(perf_sample_read(&ps, &without, span_init(data, sizeof(data))));
	CHECK_U64(ps.data_addr, 0);
	CHECK_U64(ps.period, 0x7f00deadb000);
}
