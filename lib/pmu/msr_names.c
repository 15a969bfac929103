// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * msr_names.c - what the manuals call registers: Intel SDM volume 4, AMD64 APM volume 2 appendix A and the
 * PPRs. A row may stand for several, whose names end in numbers from 0 on.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "pmu/msr.h"

static const struct row {
	const char *name;
	uint32_t reg, nr, step;		/* nr 0: one, and no number */
} rows[] = {
	{ "IA32_TIME_STAMP_COUNTER", 0x10 }, { "IA32_PLATFORM_ID", 0x17 }, { "IA32_APIC_BASE", 0x1b },
	{ "IA32_FEATURE_CONTROL", 0x3a }, { "IA32_TSC_ADJUST", 0x3b }, { "IA32_SPEC_CTRL", 0x48 },
	{ "IA32_BIOS_SIGN_ID", 0x8b }, { "IA32_PMC", 0xc1, 8, 1 }, { "MSR_PLATFORM_INFO", 0xce },
	{ "IA32_MPERF", 0xe7 }, { "IA32_APERF", 0xe8 }, { "IA32_MTRRCAP", 0xfe },
	{ "IA32_ARCH_CAPABILITIES", 0x10a }, { "IA32_SYSENTER_CS", 0x174 }, { "IA32_SYSENTER_ESP", 0x175 },
	{ "IA32_SYSENTER_EIP", 0x176 }, { "IA32_MCG_CAP", 0x179 }, { "IA32_MCG_STATUS", 0x17a },
	{ "IA32_PERFEVTSEL", 0x186, 8, 1 }, { "IA32_PERF_STATUS", 0x198 }, { "IA32_PERF_CTL", 0x199 },
	{ "IA32_CLOCK_MODULATION", 0x19a }, { "IA32_THERM_INTERRUPT", 0x19b },
	{ "IA32_THERM_STATUS", 0x19c }, { "IA32_MISC_ENABLE", 0x1a0 }, { "MSR_TEMPERATURE_TARGET", 0x1a2 },
	{ "MSR_MISC_FEATURE_CONTROL", 0x1a4 }, { "MSR_TURBO_RATIO_LIMIT", 0x1ad },
	{ "IA32_ENERGY_PERF_BIAS", 0x1b0 }, { "IA32_PACKAGE_THERM_STATUS", 0x1b1 },
	{ "IA32_DEBUGCTL", 0x1d9 }, { "IA32_PAT", 0x277 }, { "IA32_FIXED_CTR", 0x309, 4, 1 },
	{ "IA32_PERF_CAPABILITIES", 0x345 }, { "IA32_FIXED_CTR_CTRL", 0x38d },
	{ "IA32_PERF_GLOBAL_STATUS", 0x38e }, { "IA32_PERF_GLOBAL_CTRL", 0x38f },
	{ "IA32_PERF_GLOBAL_OVF_CTRL", 0x390 }, { "IA32_PEBS_ENABLE", 0x3f1 },
	{ "IA32_A_PMC", 0x4c1, 8, 1 }, { "IA32_RTIT_CTL", 0x570 }, { "IA32_RTIT_STATUS", 0x571 },
	{ "IA32_DS_AREA", 0x600 }, { "MSR_RAPL_POWER_UNIT", 0x606 }, { "MSR_PKG_POWER_LIMIT", 0x610 },
	{ "MSR_PKG_ENERGY_STATUS", 0x611 }, { "MSR_DRAM_ENERGY_STATUS", 0x619 },
	{ "MSR_PP0_ENERGY_STATUS", 0x639 }, { "IA32_TSC_DEADLINE", 0x6e0 }, { "IA32_PM_ENABLE", 0x770 },
	{ "IA32_HWP_CAPABILITIES", 0x771 }, { "IA32_HWP_REQUEST", 0x774 }, { "IA32_HWP_STATUS", 0x777 },
	{ "IA32_EFER", 0xc0000080 }, { "IA32_STAR", 0xc0000081 }, { "IA32_LSTAR", 0xc0000082 },
	{ "IA32_CSTAR", 0xc0000083 }, { "IA32_FMASK", 0xc0000084 }, { "IA32_FS_BASE", 0xc0000100 },
	{ "IA32_GS_BASE", 0xc0000101 }, { "IA32_KERNEL_GS_BASE", 0xc0000102 },
	{ "IA32_TSC_AUX", 0xc0000103 },
	/* AMD */
	{ "PERF_LEGACY_CTL", 0xc0010000, 4, 1 }, { "PERF_LEGACY_CTR", 0xc0010004, 4, 1 },
	{ "HWCR", 0xc0010015 },
	{ "PStateCurLim", 0xc0010061 }, { "PStateCtl", 0xc0010062 }, { "PStateStat", 0xc0010063 },
	{ "PStateDef", 0xc0010064, 8, 1 }, { "PERF_CTL", 0xc0010200, 6, 2 },
	{ "PERF_CTR", 0xc0010201, 6, 2 }, { "RAPL_PWR_UNIT", 0xc0010299 },
	{ "CORE_ENERGY_STAT", 0xc001029a }, { "PKG_ENERGY_STAT", 0xc001029b },
	{ "IBS_FETCH_CTL", 0xc0011030 }, { "IBS_OP_CTL", 0xc0011033 },
};

/*
 * Return the name without the prefix with which both manuals begin names of registers that all processors
 * have, or with which Intel's begins its own.
 */
static const char *without_prefix(const char *name)
{
	return !strncasecmp(name, "IA32_", 5) ? name + 5 : !strncasecmp(name, "MSR_", 4) ? name + 4 : name;
}

static bool is_row(const struct row *r, const char *name, uint32_t *reg)
{
	const char *own = without_prefix(r->name), *rest;
	size_t len = strlen(own);

	name = without_prefix(name);
	if (strncasecmp(name, own, len))
		return false;
	rest = name + len;
	*reg = r->reg;
	if (!r->nr)
		return !*rest;
	if (rest[0] < '0' || rest[0] > '9' || rest[1] || (uint32_t)(rest[0] - '0') >= r->nr)
		return false;
	*reg += (uint32_t)(rest[0] - '0') * r->step;
	return true;
}

bool msr_named(const char *name, uint32_t *reg)
{
	size_t i;

	if (!strcasecmp(without_prefix(name), "TSC"))
		name = rows[0].name;
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (is_row(&rows[i], name, reg))
			return true;
	return false;
}

/* Register k of the row. */
static void put_msr_name(const struct row *r, uint32_t k, char name[MSR_NAME])
{
	if (r->nr)
		snprintf(name, MSR_NAME, "%s%u", r->name, k);
	else
		snprintf(name, MSR_NAME, "%s", r->name);
}

bool msr_name(uint32_t reg, char name[MSR_NAME])
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		uint32_t at = reg - rows[i].reg, step = MAX(rows[i].step, 1u);

		if (reg < rows[i].reg || at % step || at / step >= MAX(rows[i].nr, 1u))
			continue;
		put_msr_name(&rows[i], at / step, name);
		return true;
	}
	return false;
}

bool msr_at(size_t i, uint32_t *reg, char name[MSR_NAME])
{
	size_t row;

	for (row = 0; row < ARRAY_SIZE(rows); row++) {
		uint32_t nr = MAX(rows[row].nr, 1u);

		if (i < nr) {
			*reg = rows[row].reg + (uint32_t)i * rows[row].step;
			put_msr_name(&rows[row], (uint32_t)i, name);
			return true;
		}
		i -= nr;
	}
	return false;
}
