/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bpf.h - whether BPF programs can be loaded, and what was wrong when they could not. */
#ifndef PMU_BPF_H
#define PMU_BPF_H

#include "base/err.h"

#define BPF_TYPES "/sys/kernel/btf/vmlinux"

/* 0, or -ENOTSUP (the kernel) or -EPERM (this user), with a hint. */
int bpf_allowed(struct err *e);
/* Before libbpf is used: its messages are kept for bpf_failed(), not printed. */
void bpf_listen(void);
/* what: what was attempted. Fills *e, with what libbpf said; returns -code. */
int bpf_failed(struct err *e, int code, const char *what);

#endif
