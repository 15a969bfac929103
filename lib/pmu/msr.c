// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * msr.c - registers through /dev/cpu/N/msr.  Numbers of registers: Intel SDM volume 4, AMD64 APM
 * volume 2 appendix A.  Errors of the device: arch/x86/kernel/msr.c of Linux.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/mem.h"
#include "pmu/msr.h"

static const struct { uint32_t first, last; } writable[] = {
	{ 0xc1, 0xc8 },			/* IA32_PMC0-7 */
	{ 0x186, 0x18d },		/* IA32_PERFEVTSEL0-7 */
	{ 0x1a4, 0x1a4 },		/* MSR_MISC_FEATURE_CONTROL: prefetchers */
	{ 0x1b0, 0x1b0 },		/* IA32_ENERGY_PERF_BIAS */
	{ 0x309, 0x30c },		/* IA32_FIXED_CTR0-3 */
	{ 0x38d, 0x38d },		/* IA32_FIXED_CTR_CTRL */
	{ 0x38f, 0x390 },		/* IA32_PERF_GLOBAL_CTRL, _OVF_CTRL */
	{ 0x4c1, 0x4c8 },		/* IA32_A_PMC0-7 */
	{ 0x774, 0x774 },		/* IA32_HWP_REQUEST */
	{ 0xc0010000, 0xc0010007 },	/* AMD PerfEvtSel0-3, PerfCtr0-3 */
	{ 0xc0010200, 0xc001020b },	/* AMD PERF_CTL0-5, PERF_CTR0-5 */
};

bool msr_is_writable(uint32_t reg)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(writable); i++)
		if (reg >= writable[i].first && reg <= writable[i].last)
			return true;
	return false;
}

/* Parse a number, never octal: a register is not "010". */
static int parse_msr_number(const char *text, const char *what, uint64_t max, uint64_t *val, struct err *e)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	const char *digits = hex ? text + 2 : text;
	char *end;

	errno = 0;
	*val = strtoull(digits, &end, hex ? 16 : 10);
	if (*end || !isxdigit((unsigned char)*digits) || errno || *val > max ||
	    (hex && tolower((unsigned char)digits[1]) == 'x')) {
		err_set(e, EINVAL, "'%s' is not %s", text, what);
		err_hint(e, "numbers are decimal, or hexadecimal after 0x");
		return -EINVAL;
	}
	return 0;
}

int msr_parse_reg(const char *text, uint32_t *reg, struct err *e)
{
	uint64_t v;
	int r;

	if (msr_named(text, reg))
		return 0;
	r = parse_msr_number(text, "a register: its number (32 bits), or a name of 'arcprof msr list'",
			     UINT32_MAX, &v, e);
	*reg = r ? 0 : v;
	return r;
}

int msr_parse_value(const char *text, uint64_t *val, struct err *e)
{
	return parse_msr_number(text, "a value of 64 bits", UINT64_MAX, val, e);
}

int msr_parse_field(const char *text, struct msr_field *f, struct err *e)
{
	unsigned int high, low;
	int used = 0;

	if (isdigit((unsigned char)text[0]) && strspn(text, "0123456789:") == strlen(text) &&
	    strlen(text) <= 5) {
		if (sscanf(text, "%u:%u%n", &high, &low, &used) < 2 || text[used]) {
			used = 0;
			if (!strchr(text, ':') && sscanf(text, "%u%n", &high, &used) == 1)
				low = high;
		}
	}
	if (!used || text[used] || high > 63 || low > high)
		return err_set(e, EINVAL, "'%s' is not a field: <high bit>:<low bit>, such as 15:8, or one bit", text);
	f->high = high;
	f->low = low;
	return 0;
}

static uint64_t field_mask(const struct msr_field *f)
{
	return UINT64_MAX >> (63 - (f->high - f->low));
}

uint64_t msr_field_get(const struct msr_field *f, uint64_t reg_val)
{
	return reg_val >> f->low & field_mask(f);
}

int msr_field_set(const struct msr_field *f, uint64_t *reg_val, uint64_t val, struct err *e)
{
	if (val & ~field_mask(f))
		return err_set(e, ERANGE, "0x%" PRIx64 " has more bits than the field %u:%u", val, f->high,
			       f->low);
	*reg_val = (*reg_val & ~(field_mask(f) << f->low)) | val << f->low;
	return 0;
}

/* Return whether the kernel protects itself from root ("none [integrity] confidentiality"). */
static bool is_locked_down(void)
{
	struct buf b = BUF_INIT;
	bool locked = !io_slurp("/sys/kernel/security/lockdown", &b) && b.len && !strstr(b.data, "[none]");

	buf_release(&b);
	return locked;
}

int msr_open_err(const char *root, uint32_t cpu, int code, struct err *e)
{
	char dir[300];

	switch (code) {
	case ENOENT:
		snprintf(dir, sizeof(dir), "%s/%u", root, cpu);
		if (!access(root, F_OK) && access(dir, F_OK))
			return err_set(e, code, "no CPU %u", cpu);
		err_set(e, code, "%s/msr: no such device", dir);
		err_hint(e, "'sudo modprobe msr' creates it, on x86 and where the kernel was built with CONFIG_X86_MSR");
		return -code;
	case ENXIO:
		err_set(e, code, "CPU %u is offline, or no driver serves its %s/%u/msr", cpu, root, cpu);
		err_hint(e, "'sudo modprobe msr' loads the driver");
		return -code;
	case EACCES:
	case EPERM:
		err_set(e, code, "%s/%u/msr: this user may not open it", root, cpu);
		err_hint(e, "run as root; besides the rights of the file it takes the capability CAP_SYS_RAWIO");
		return -code;
	default:
		return err_set(e, code, "%s/%u/msr: %s", root, cpu, strerror(code));
	}
}

int msr_access_err(uint32_t cpu, uint32_t reg, bool write, int code, struct err *e)
{
	if (code == EIO && write)
		return err_set(e, code, "CPU %u has no register 0x%x, or does not take the value", cpu, reg);
	if (code == EIO)
		return err_set(e, code, "CPU %u has no register 0x%x, or none that can be read", cpu, reg);
	err_set(e, code, "CPU %u, register 0x%x: cannot %s it: %s", cpu, reg, write ? "write" : "read",
		strerror(code));
	if (code != EPERM)
		return -code;
	if (is_locked_down())
		err_hint(e, "the kernel is locked down (/sys/kernel/security/lockdown), usually by Secure Boot");
	else if (write)
		err_hint(e, "the kernel may forbid it: /sys/module/msr/parameters/allow_writes");
	return -code;
}

static int open_device(const char *root, uint32_t cpu, int flags, struct err *e)
{
	char path[300];
	int fd;

	snprintf(path, sizeof(path), "%s/%u/msr", root, cpu);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? msr_open_err(root, cpu, errno, e) : fd;
}

int msr_read(const char *root, uint32_t cpu, uint32_t reg, uint64_t *val, struct err *e)
{
	int fd = open_device(root, cpu, O_RDONLY, e);
	ssize_t n;
	int r = 0;

	if (fd < 0)
		return fd;
	n = pread(fd, val, sizeof(*val), reg);
	if (n != sizeof(*val))
		r = msr_access_err(cpu, reg, false, n < 0 ? errno : EIO, e);
	close(fd);
	return r;
}

int msr_write(const char *root, uint32_t cpu, uint32_t reg, uint64_t val, struct err *e)
{
	int fd = open_device(root, cpu, O_WRONLY, e);
	ssize_t n;
	int r = 0;

	if (fd < 0)
		return fd;
	n = pwrite(fd, &val, sizeof(val), reg);
	if (n != sizeof(val))
		r = msr_access_err(cpu, reg, true, n < 0 ? errno : EIO, e);
	close(fd);
	return r;
}
