/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * msr.h - model-specific registers of x86 processors, through the kernel's devices
 * /dev/cpu/N/msr (msr(4)): eight bytes at the offset that is the register's number.
 *
 * root is the folder of the devices: MSR_ROOT, or one of a test.
 */
#ifndef PMU_MSR_H
#define PMU_MSR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define MSR_ROOT "/dev/cpu"

struct msr_field {
	unsigned int high, low;		/* bits, both in it; 63 >= high >= low */
};

enum { MSR_NAME = 32 };

/*
 * msr_names.c: find the register with that name in the manuals, in any case, with or without "IA32_" or
 * "MSR_"; "TSC" is the time stamp counter. Returns false if it is not known.
 */
bool msr_named(const char *name, uint32_t *reg);
/* Get its name; return false if it is not known, and leave name untouched. */
bool msr_name(uint32_t reg, char name[MSR_NAME]);
/* Number i of those with names, in no order that means anything; false: there are no more. */
bool msr_at(size_t i, uint32_t *reg, char name[MSR_NAME]);

/* Parse "0x1a4", "420", or a name. */
int msr_parse_reg(const char *text, uint32_t *reg, struct err *e);
int msr_parse_value(const char *text, uint64_t *val, struct err *e);
/* Parse "15:8", or "8" for one bit. */
int msr_parse_field(const char *text, struct msr_field *f, struct err *e);

uint64_t msr_field_get(const struct msr_field *f, uint64_t reg_val);
/* Replace the field in reg_val; -ERANGE: val has more bits than the field. */
int msr_field_set(const struct msr_field *f, uint64_t *reg_val, uint64_t val, struct err *e);

/*
 * Return whether performance work writes the register: counters and their controls, prefetchers, and
 * hints about energy. A wrong value there spoils a measurement, not the machine.
 */
bool msr_is_writable(uint32_t reg);

int msr_read(const char *root, uint32_t cpu, uint32_t reg, uint64_t *val, struct err *e);
int msr_write(const char *root, uint32_t cpu, uint32_t reg, uint64_t val, struct err *e);

/* Explains why opening the device, reading or writing failed with that errno; exposed for tests. */
int msr_open_err(const char *root, uint32_t cpu, int code, struct err *e);
int msr_access_err(uint32_t cpu, uint32_t reg, bool write, int code, struct err *e);

#endif
