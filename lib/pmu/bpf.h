/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bpf.h - whether BPF programs can be loaded, how ours are, and what was wrong when they could not. */
#ifndef PMU_BPF_H
#define PMU_BPF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct bpf_object;

#define BPF_TYPES "/sys/kernel/btf/vmlinux"

/* 0, or -ENOTSUP (the kernel) or -EPERM (this user), with a hint. */
int bpf_allowed(struct err *e);
/* Return whether this kernel's types have such a struct. It takes 15 ms. */
bool bpf_kernel_has_struct(const char *name);
/* Keep messages of libbpf for bpf_failed() instead of printing them; must be called before it is used. */
void bpf_listen(void);
/* Fill *e with what libbpf said; what: what was attempted. Returns -code. */
int bpf_failed(struct err *e, int code, const char *what);

/* A compiled object that is embedded in the binary, compressed by gzip. */
struct bpf_packed {
	const char *file, *end;
};

/* Open the programs. Maps can be given sizes and constants values until bpf_load(); NULL: *e says why. */
struct bpf_object *bpf_open_packed(const struct bpf_packed *file, const char *name, struct err *e);
/* Set the constants of the programs, one struct; -EINVAL: they expect others. */
int bpf_set_constants(struct bpf_object *obj, const void *constants, size_t size, struct err *e);
/* Have libbpf load it, which reads the types of the whole kernel for that: 15 ms. */
int bpf_load(struct bpf_object *obj, struct err *e);

enum { BPF_MAX_LINKS = 8 };

/* Loaded programs and their maps; zeroed: none. */
struct bpf_programs {
	struct bpf_object *obj;		/* for names and types */
	int *map_fds, *program_fds;	/* in its order */
	size_t nr_maps, nr_programs, nr_links;
	int links[BPF_MAX_LINKS];
	bool owns_fds;			/* or libbpf does */
};

/* Before an object called so is loaded: gives its maps sizes and its constants values. */
struct bpf_prepare {
	const char *name;
	int (*it)(void *ctx, struct bpf_object *obj, struct err *e);
	void *ctx;
	bool by_libbpf;			/* alone: what runs at each switch is a tenth slower by the kernel */
};

/*
 * Loads the first of the files that this kernel takes; returns which, or -errno. Since Linux 5.17 the kernel
 * itself finds what programs ask of its types, in a few ms; where it does not, bpf_load() is tried.
 */
int bpf_programs_load(struct bpf_programs *p, const struct bpf_packed *files, size_t nr,
		      const struct bpf_prepare *prepare, struct err *e);
/* Attaches all but those for perf events and iterators, in their order. */
int bpf_programs_attach(struct bpf_programs *p, struct err *e);
/*
 * Return file descriptors, which bpf_programs_release() closes, or a negative number if no map or program
 * has that name.
 */
int bpf_programs_map(const struct bpf_programs *p, const char *name);
int bpf_programs_fd(const struct bpf_programs *p, const char *name);
void bpf_programs_release(struct bpf_programs *p);
/*
 * Set the event that programs on that CPU write samples into, in a BPF_MAP_TYPE_PERF_EVENT_ARRAY. Returns
 * -1 and errno on failure.
 */
int bpf_map_set_event(int map, uint32_t cpu, int event);
/* Map the memory of a map; writable: it is shared with the programs, else frozen. NULL, and errno. */
void *bpf_map_memory(int fd, size_t bytes, bool writable);

#endif
