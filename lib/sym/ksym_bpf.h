/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ksym_bpf.h - one kernel address at a time, named by the kernel itself: by a BPF program that
 * formats it as %pS; and the address of a function whose name is known.
 *
 * /proc/kallsyms takes the kernel 40 ms to print, a question about one address a microsecond, and
 * only a few hundred functions are hit.  The answer covers the modules that are loaded at the time,
 * as the file does.
 */
#ifndef SYM_KSYM_BPF_H
#define SYM_KSYM_BPF_H

#include <stdbool.h>
#include <stdint.h>

struct ksym;
struct ksym_bpf;

/* NULL: no right to load BPF programs, or a kernel before 5.14. */
struct ksym_bpf *ksym_bpf_open(void);
void ksym_bpf_close(struct ksym_bpf *b);
/*
 * Find the symbol that covers addr; return false for none. The strings in *s are valid until the next
 * call.
 */
bool ksym_bpf_find(struct ksym_bpf *b, uint64_t addr, struct ksym *s);
/*
 * The first function of that name, whole; its strings as above. -ENOENT: there is none; other errors:
 * the kernel does not say. One before 6.2 has no index of names, and takes milliseconds.
 */
int ksym_bpf_named(struct ksym_bpf *b, const char *name, struct ksym *s);
/*
 * Takes "name+0x1/0x20 [module]", as the kernel prints addr, apart in place; false: it is not of that
 * form.
 */
bool ksym_bpf_parse(char *text, uint64_t addr, struct ksym *s);

#endif
