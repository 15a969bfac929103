// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pmu/cpus.h"
#include "pmu/msr.h"
#include "unit.h"

TEST(msr_numbers_are_decimal_or_hexadecimal_and_fit)
{
	static const char *const bad[] = { "", "x", "0x", "0x0x1", "-1", " 1", "1 ", "1k", "0x100000000", "4294967296" };
	struct err e = { 0 };
	uint64_t val;
	uint32_t reg;
	size_t i;

	CHECK(!msr_parse_reg("0x1a4", &reg, &e));
	CHECK_U64(reg, 0x1a4);
	CHECK(!msr_parse_reg("010", &reg, &e));
	CHECK_U64(reg, 10);
	CHECK(!msr_parse_reg("0XC0010200", &reg, &e));
	CHECK_U64(reg, 0xc0010200);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(msr_parse_reg(bad[i], &reg, &e) == -EINVAL);
	CHECK(!msr_parse_value("0xffffffffffffffff", &val, &e));
	CHECK_U64(val, UINT64_MAX);
	CHECK(msr_parse_value("0x1ffffffffffffffff", &val, &e) < 0);
	CHECK(msr_parse_value("-1", &val, &e) < 0);
}

TEST(msr_fields_are_taken_out_and_put_back)
{
	static const char *const bad[] = { "", ":", "8:15", "64:0", "8:", ":8", "a:b", "1:2:3", "-1", "1:0x",
		"99999:0" };
	struct msr_field f;
	struct err e = { 0 };
	uint64_t reg = 0x123456789abcdef0;
	size_t i;

	CHECK(!msr_parse_field("15:8", &f, &e));
	CHECK_U64(msr_field_get(&f, reg), 0xde);
	CHECK(!msr_field_set(&f, &reg, 0x11, &e));
	CHECK_U64(reg, 0x123456789abc11f0);
	CHECK(msr_field_set(&f, &reg, 0x100, &e) == -ERANGE);
	CHECK_U64(reg, 0x123456789abc11f0);
	CHECK(!msr_parse_field("63:0", &f, &e));
	CHECK_U64(msr_field_get(&f, reg), reg);
	CHECK(!msr_field_set(&f, &reg, UINT64_MAX, &e));
	CHECK_U64(reg, UINT64_MAX);
	CHECK(!msr_parse_field("63", &f, &e));
	CHECK_U64(msr_field_get(&f, 1ull << 63), 1);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(msr_parse_field(bad[i], &f, &e) == -EINVAL);
}

TEST(msr_field_of_any_width_reads_what_was_set)
{
	struct err e = { 0 };
	int i;

	for (i = 0; i < 10000; i++) {
		struct msr_field f = { .high = unit_random() % 64 };
		uint64_t reg = unit_random(), old = reg, val;

		f.low = unit_random() % (f.high + 1);
		val = unit_random() >> (63 - (f.high - f.low));
		CHECK(!msr_field_set(&f, &reg, val, &e));
		CHECK_U64(msr_field_get(&f, reg), val);
		CHECK(!msr_field_set(&f, &reg, msr_field_get(&f, old), &e));
		CHECK_U64(reg, old);
	}
}

TEST(msr_only_registers_of_performance_work_are_writable)
{
	CHECK(msr_is_writable(0xc1) && msr_is_writable(0x18d) && msr_is_writable(0x1a4));
	CHECK(msr_is_writable(0x390) && msr_is_writable(0xc001020b));
	CHECK(!msr_is_writable(0xc0) && !msr_is_writable(0x18e) && !msr_is_writable(0x38e));
	CHECK(!msr_is_writable(0x10));			/* the time stamp counter */
	CHECK(!msr_is_writable(0x1b));			/* IA32_APIC_BASE */
	CHECK(!msr_is_writable(0xc0000080));		/* EFER */
	CHECK(!msr_is_writable(0xc0000082));		/* LSTAR */
}

/* A folder like /dev/cpu with regular files: CPUs 0, 2 and 10, of 64 KiB each. */
static const char *fake_devices(void)
{
	static char root[] = "/tmp/arcprof-unit-XXXXXX";
	static const int cpus[] = { 10, 0, 2 };
	char path[64];
	size_t i;

	if (!mkdtemp(root))
		unit_skip("no folder in /tmp");
	for (i = 0; i < 3; i++) {
		int fd;

		snprintf(path, sizeof(path), "%s/%d", root, cpus[i]);
		mkdir(path, 0700);
		strcat(path, "/msr");
		fd = open(path, O_CREAT | O_RDWR, 0600);
		CHECK(!ftruncate(fd, 65536));
		close(fd);
	}
	snprintf(path, sizeof(path), "%s/microcode", root);
	mkdir(path, 0700);
	return root;
}

static void remove_devices(const char *root)
{
	char cmd[64];

	snprintf(cmd, sizeof(cmd), "rm -r %s", root);
	CHECK(!system(cmd));
}

TEST(msr_register_is_eight_bytes_at_its_number)
{
	const char *root = fake_devices();
	struct err e = { 0 };
	uint64_t val = 7;

	CHECK(!msr_read(root, 2, 0x186, &val, &e));
	CHECK_U64(val, 0);
	CHECK(!msr_write(root, 2, 0x186, 0x1122334455667788, &e));
	CHECK(!msr_read(root, 2, 0x186, &val, &e));
	CHECK_U64(val, 0x1122334455667788);
	CHECK(!msr_read(root, 2, 0x187, &val, &e));
	CHECK_U64(val, 0x0011223344556677);
	CHECK(!msr_read(root, 0, 0x186, &val, &e));	/* another CPU's is another */
	CHECK_U64(val, 0);
	CHECK(msr_read(root, 0, 0x10000000, &val, &e) == -EIO);
	CHECK(strstr(e.msg, "no register 0x10000000"));
	remove_devices(root);
}

TEST(msr_errors_say_what_is_missing)
{
	const char *root = fake_devices();
	struct err e = { 0 };
	char path[64];
	uint64_t val;

	CHECK(msr_read(root, 1, 0x10, &val, &e) == -ENOENT);
	CHECK_STR(e.msg, "no CPU 1");
	snprintf(path, sizeof(path), "%s/2/msr", root);
	unlink(path);
	CHECK(msr_read(root, 2, 0x10, &val, &e) == -ENOENT);
	CHECK(strstr(e.msg, "no such device"));
	CHECK(strstr(e.hint, "modprobe msr"));
	CHECK(msr_read("/nonexistent", 0, 0x10, &val, &e) == -ENOENT);
	CHECK(strstr(e.hint, "modprobe msr"));
	CHECK(msr_open_err(root, 0, EPERM, &e) == -EPERM);
	CHECK(strstr(e.hint, "CAP_SYS_RAWIO"));
	CHECK(msr_access_err(0, 0x1b, true, EIO, &e) == -EIO);
	CHECK(strstr(e.msg, "does not take the value"));
	CHECK(msr_access_err(0, 0x1b, true, EPERM, &e) == -EPERM);
	CHECK(e.hint[0]);
	remove_devices(root);
}

TEST(cpus_are_numbers_and_ranges_each_once)
{
	static const char *const bad[] = { "", "-1", "3-1", "1-", "x", "0-99999999", "1,2", "1x", "1-2-3", " 1" };
	const char *root = fake_devices();
	struct cpus c = { 0 };
	struct err e = { 0 };
	size_t i;

	CHECK(!cpus_add(&c, "2-4", &e));
	CHECK(!cpus_add(&c, "3", &e));
	CHECK(!cpus_add(&c, "0", &e));
	CHECK_U64(c.nr_cpu, 4);
	CHECK_U64(c.cpu[3], 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(cpus_add(&c, bad[i], &e) == -EINVAL);
	CHECK(!cpus_in_dir(&c, root, &e));
	CHECK_U64(c.nr_cpu, 3);
	CHECK_U64(c.cpu[2], 10);
	cpus_online(&c);
	CHECK_U64(c.nr_cpu, sysconf(_SC_NPROCESSORS_ONLN));
	cpus_release(&c);
	remove_devices(root);
}

TEST(msr_registers_have_the_names_of_the_manuals)
{
	char name[MSR_NAME];
	struct err e;
	uint32_t reg, back;
	size_t i;

	CHECK(!msr_parse_reg("tsc", &reg, &e) && reg == 0x10);
	CHECK(!msr_parse_reg("IA32_PERFEVTSEL3", &reg, &e) && reg == 0x189);
	CHECK(!msr_parse_reg("perf_ctl", &reg, &e) && reg == 0x199);
	CHECK(!msr_parse_reg("PERF_CTL5", &reg, &e) && reg == 0xc001020a);
	CHECK(!msr_parse_reg("fixed_ctr_ctrl", &reg, &e) && reg == 0x38d);
	CHECK(msr_parse_reg("IA32_PERFEVTSEL8", &reg, &e) == -EINVAL);
	CHECK(msr_parse_reg("IA32_", &reg, &e) == -EINVAL);
	CHECK(!msr_name(0x11, name));
	for (i = 0; msr_at(i, &reg, name); i++) {
		CHECK(msr_named(name, &back));
		CHECK_U64(back, reg);
		CHECK(msr_name(reg, name) && msr_named(name, &back));
		CHECK_U64(back, reg);
	}
	CHECK(i > 100);
}
