// SPDX-License-Identifier: GPL-2.0-or-later
/* msr.c - "arcprof msr": reads and writes model-specific registers of chosen CPUs. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "cmd.h"
#include "pmu/cpus.h"
#include "pmu/msr.h"
#include "report/sheet.h"

struct msr_opts {
	struct opt_list cpus;
	bool all_cpus, verify, force;
	const char *field;
	int format;
};

#define O struct msr_opts
static const struct opt msr_table[] = {
	OPT_GROUP("Where"),
	OPT_FLAG('a', "all-cpus", O, all_cpus, "access the register on every CPU"),
	OPT_LIST('C', "cpu", O, cpus, "cpus",
		 "access the register on these CPUs, such as 0,2-3 (default: 0)"),
	OPT_STR(0, "field", O, field, "bits", NULL, "access only the bits <high>:<low> of the register"),
	OPT_GROUP("Writing"),
	OPT_FLAG(0, "verify", O, verify, "read the register back, and fail if it is not what was written"),
	OPT_FLAG(0, "force", O, force, "allow any register, even one that has nothing to do with performance"),
	OPT_GROUP("What to print"),
	OPT_FORMAT(O, format, FORMATS_VALUE, "output format"),
	OPT_END
};
#undef O

struct msr {
	const struct msr_opts *o;
	struct cpus cpus;
	bool write, has_field;
	uint32_t reg;
	uint64_t val;			/* to write: the register, or its field */
	struct msr_field field;
	struct sheet sheet;
};

static int parse_operands(struct msr *m, int nr, char **operands, struct err *e)
{
	if (!nr || (strcmp(operands[0], "read") && strcmp(operands[0], "write")))
		return err_set(e, EINVAL, "'read', 'write' or 'list' comes first");
	m->write = operands[0][0] == 'w';
	if (nr != 2 + m->write)
		return err_set(e, EINVAL, "%s needs a register%s, and no more", operands[0],
			       m->write ? " and a value" : "");
	if (msr_parse_reg(operands[1], &m->reg, e))
		return e->code;
	return m->write ? msr_parse_value(operands[2], &m->val, e) : 0;
}

static int parse_options(struct msr *m, struct err *e)
{
	const struct msr_opts *o = m->o;
	uint64_t none = 0;
	size_t i;

	if (!m->write && (o->verify || o->force))
		return err_set(e, EINVAL, "%s is only valid with write", o->verify ? "--verify" : "--force");
	if (o->all_cpus && o->cpus.nr_items)
		return err_set(e, EINVAL, "cannot be combined: --all-cpus and --cpu");
	m->has_field = o->field;
	if (o->field && msr_parse_field(o->field, &m->field, e))
		return err_wrap(e, "--field");
	if (m->write && m->has_field && msr_field_set(&m->field, &none, m->val, e))
		return e->code;
	for (i = 0; i < o->cpus.nr_items; i++)
		if (cpus_add(&m->cpus, o->cpus.items[i], e))
			return err_wrap(e, "--cpu");
	if (!m->cpus.nr_cpu)
		return cpus_add(&m->cpus, "0", e);
	return 0;
}

/* ---- output ---- */

static void msr_print_start(struct msr *m)
{
	/* Many readers of JSON keep 53 bits of a number: the string has all of them. */
	static const struct sheet_column columns[] = {
		{ "cpu" }, { "value" }, { "value_hex" }, { "field_value" }, { "error" },
		{ .value = true },	/* of those the one that is asked for */
	};
	struct json *j = &m->sheet.json;
	char hex[16], name[MSR_NAME];

	snprintf(hex, sizeof(hex), "0x%x", m->reg);
	sheet_init(&m->sheet, m->o->format, stdout);
	json_object(j, NULL);
	json_u64(j, "register", m->reg);
	json_str(j, "register_hex", hex);
	json_str(j, "register_name", msr_name(m->reg, name) ? name : NULL);
	if (m->has_field) {
		json_object(j, "field");
		json_u64(j, "high_bit", m->field.high);
		json_u64(j, "low_bit", m->field.low);
		json_end(j);
	}
	json_array(j, "cpus");
	sheet_columns(&m->sheet, columns, ARRAY_SIZE(columns));
}

static void print_end(struct msr *m)
{
	json_end(&m->sheet.json);
	json_end(&m->sheet.json);
}

static void msr_print_text(const struct msr *m, uint32_t cpu, uint64_t val, uint64_t shown)
{
	char name[MSR_NAME];

	printf("CPU %u: 0x%x", cpu, m->reg);
	if (msr_name(m->reg, name))
		printf(" %s", name);
	printf(" = 0x%016" PRIx64, val);
	if (m->has_field)
		printf(", bits %u:%u = 0x%" PRIx64 " (%" PRIu64 ")", m->field.high, m->field.low, shown,
		       shown);
	putchar('\n');
}

static void print_value(struct msr *m, uint32_t cpu, uint64_t val)
{
	uint64_t shown = m->has_field ? msr_field_get(&m->field, val) : val;
	char hex[32];

	snprintf(hex, sizeof(hex), "0x%016" PRIx64, val);
	if (sheet_is_text(&m->sheet))
		msr_print_text(m, cpu, val, shown);
	else
		sheet_row(&m->sheet, NULL, (const struct cell[]){
			cell_u64(cpu), cell_u64(val), cell_text(hex),
			m->has_field ? cell_u64(shown) : cell_absent, cell_absent, cell_u64(shown),
		});
}

static void print_failure(struct msr *m, uint32_t cpu, const struct err *e)
{
	sheet_row(&m->sheet, NULL, (const struct cell[]){
		cell_u64(cpu), cell_none, cell_absent, cell_absent, cell_text(e->msg), cell_none,
	});
}

/* ---- the work ---- */

static int write_one(struct msr *m, uint32_t cpu, uint64_t *val, struct err *e)
{
	uint64_t got;
	int r = 0;

	*val = m->val;
	if (m->has_field) {
		r = msr_read(MSR_ROOT, cpu, m->reg, val, e);
		if (!r)
			r = msr_field_set(&m->field, val, m->val, e);
	}
	if (!r)
		r = msr_write(MSR_ROOT, cpu, m->reg, *val, e);
	if (r || !m->o->verify)
		return r;
	r = msr_read(MSR_ROOT, cpu, m->reg, &got, e);
	if (!r && got != *val)
		r = err_set(e, EIO, "CPU %u, register 0x%x: wrote 0x%" PRIx64 ", but it reads 0x%" PRIx64,
			    cpu, m->reg,
			    *val, got);
	return r;
}

/* Try each CPU, even if another one fails. */
static int each_cpu(struct msr *m)
{
	int status = 0;
	size_t i;

	msr_print_start(m);
	for (i = 0; i < m->cpus.nr_cpu; i++) {
		uint32_t cpu = m->cpus.cpu[i];
		struct err e = { 0 };
		uint64_t val;

		if (m->write ? write_one(m, cpu, &val, &e) : msr_read(MSR_ROOT, cpu, m->reg, &val, &e)) {
			status = log_err(&e);
			print_failure(m, cpu, &e);
		} else {
			print_value(m, cpu, val);
		}
	}
	print_end(m);
	return status;
}

static int msr_list(const struct msr_opts *o)
{
	static const struct sheet_column columns[] = {
		{ "register" }, { "register_hex", "Register", 10 }, { "name", "Name", -1, .before = "  " },
	};
	char hex[16], name[MSR_NAME];
	struct sheet s;
	uint32_t reg;
	size_t i;

	sheet_init(&s, o->format, stdout);
	json_object(&s.json, NULL);
	json_array(&s.json, "registers");
	sheet_columns(&s, columns, ARRAY_SIZE(columns));
	for (i = 0; msr_at(i, &reg, name); i++) {
		snprintf(hex, sizeof(hex), "0x%x", reg);
		sheet_row(&s, NULL, (const struct cell[]){
			cell_u64(reg), cell_text(hex), cell_text(name),
		});
	}
	sheet_end(&s);
	json_end(&s.json);
	json_end(&s.json);
	return 0;
}

static int msr_run(void *opts, int nr_operands, char **operands)
{
	struct msr m = { .o = opts };
	struct err e = { 0 };
	int status;

	if (nr_operands == 1 && !strcmp(operands[0], "list") &&
	    (m.o->format == FORMAT_TEXT || m.o->format == FORMAT_JSON))
		return msr_list(m.o);
	if (parse_operands(&m, nr_operands, operands, &e) || parse_options(&m, &e)) {
		log_err(&e);
		status = EXIT_USAGE;
	} else if (m.write && !m.o->force && !msr_is_writable(m.reg)) {
		log_error("register 0x%x is none that performance work writes", m.reg);
		log_hint("a wrong value can stop the machine; --force writes it anyway");
		status = 1;
	} else if (m.o->all_cpus && cpus_in_dir(&m.cpus, MSR_ROOT, &e)) {
		msr_open_err(MSR_ROOT, 0, e.code, &e);
		status = log_err(&e);
	} else {
		status = each_cpu(&m);
	}
	cpus_release(&m.cpus);
	return status;
}

const struct command cmd_msr = {
	.name = "msr",
	.summary = "read and write model-specific registers",
	.operands = "(list | read <register> | write <register> <value>)",
	.opts = msr_table,
	.opts_size = sizeof(struct msr_opts),
	.run = msr_run,
};
