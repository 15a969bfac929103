/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bpf.h - whether BPF programs can be loaded, how ours are, and what was wrong when they could not. */
#ifndef PMU_BPF_H
#define PMU_BPF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct bpf_link;
struct bpf_object;

#define BPF_TYPES "/sys/kernel/btf/vmlinux"

/* 0, or -ENOTSUP (the kernel) or -EPERM (this user), with a hint. */
int bpf_allowed(struct err *e);
/* Before libbpf is used: its messages are kept for bpf_failed(), not printed. */
void bpf_listen(void);
/* what: what was attempted. Fills *e, with what libbpf said; returns -code. */
int bpf_failed(struct err *e, int code, const char *what);

/*
 * Opens an object that is embedded in the binary, from file to end, compressed by gzip; NULL: *e says why.
 * Its maps can be given sizes and its constants values until bpf_load().
 */
struct bpf_object *bpf_open_packed(const char *file, const char *end, const char *name, struct err *e);
/* The constants of the programs, one struct; -EINVAL: they expect others. */
int bpf_set_constants(struct bpf_object *obj, const void *constants, size_t size, struct err *e);
int bpf_load(struct bpf_object *obj, struct err *e);
/*
 * Attaches all programs but those for perf events and iterators, in their order. The links are the caller's,
 * also after an error.
 */
int bpf_attach(struct bpf_object *obj, struct bpf_link **links, size_t max_links, size_t *nr, struct err *e);
int bpf_map_named(const struct bpf_object *obj, const char *name);
int bpf_program_named(const struct bpf_object *obj, const char *name);
/* Map the memory of a map; writable: it is shared with the programs, else frozen. NULL, and errno. */
void *bpf_map_memory(int fd, size_t bytes, bool writable);

#endif
