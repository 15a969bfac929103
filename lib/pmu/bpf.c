// SPDX-License-Identifier: GPL-2.0-or-later
/* bpf.c - loads BPF programs and explains failures (bpf.h). */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
/* after errno.h, which it uses */
#include <bpf/skel_internal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/gzip.h"
#include "base/mem.h"
#include "pmu/bpf.h"
#include "pmu/probe.h"

/* The last complaint of libbpf: there is one library, and one place to keep it. */
static char complaint[200];
static bool has_reason;		/* the kernel's own, after which nothing better comes */

/*
 * Keep the reason: the last line of the kernel's verifier before its statistics; the program's name is in
 * quotes.
 */
static void keep_reason(char *said)
{
	char *log = strstr(said, "BEGIN PROG LOAD LOG"), *name = strchr(said, '\''), *end, *line;
	int len = name ? (int)strcspn(name + 1, "'") : 0;

	end = log ? strstr(log, "\nprocessed ") : NULL;
	if (log && !end)
		end = strstr(log, "\n-- END");
	if (!end)
		return;
	*end = '\0';
	line = strrchr(log, '\n');
	if (!line)
		return;
	snprintf(complaint, sizeof(complaint), "%.*s: %s", len, name ? name + 1 : "", line + 1);
	has_reason = true;
}

static int keep_complaint(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	struct buf said = BUF_INIT;

	if (level != LIBBPF_WARN || has_reason)
		return 0;
	buf_vfmt(&said, fmt, ap);
	snprintf(complaint, sizeof(complaint), "%.*s", (int)strcspn(said.data, "\n"), said.data);
	keep_reason(said.data);
	buf_release(&said);
	return 0;
}

void bpf_listen(void)
{
	complaint[0] = '\0';
	has_reason = false;
	libbpf_set_print(keep_complaint);
}

int bpf_failed(struct err *e, int code, const char *what)
{
	err_set(e, code, "BPF: %s: %s%s%s%s", what, strerror(code), complaint[0] ? " (" : "", complaint,
		complaint[0] ? ")" : "");
	if ((code == EPERM || code == EACCES || code == ENOSYS) && probe_has_cap(CAP_SYS_ADMIN)) {
		/* the verifier refuses as well, and says why */
		if (!has_reason)
			err_hint(e, "a system call filter may forbid it: start the container with --security-opt seccomp=unconfined; or kernel lockdown does");
	} else if (code == EPERM || code == EACCES) {
		err_hint(e, "run %s", probe_remedy("cap_bpf,cap_perfmon,cap_sys_admin").text);
	}
	return -code;
}

int bpf_allowed(struct err *e)
{
	if (access(BPF_TYPES, R_OK))
		return err_set(e, ENOTSUP, "BPF: the kernel does not describe its types (CONFIG_DEBUG_INFO_BTF)");
	if (probe_has_cap(CAP_SYS_ADMIN) || (probe_has_cap(CAP_BPF) && probe_has_cap(CAP_PERFMON)))
		return 0;
	err_set(e, EPERM, "BPF: CAP_BPF and CAP_PERFMON are missing");
	err_hint(e, "run %s", probe_remedy("cap_bpf,cap_perfmon,cap_sys_admin").text);
	return -EPERM;
}

bool bpf_kernel_has_struct(const char *name)
{
	struct btf *types = btf__load_vmlinux_btf();
	bool has = types && btf__find_by_name_kind(types, name, BTF_KIND_STRUCT) >= 0;

	btf__free(types);
	return has;
}

struct bpf_object *bpf_open_packed(const struct bpf_packed *file, const char *name, struct err *e)
{
	enum { MOST_BYTES = 16 << 20 };
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = name);
	struct bpf_object *obj = NULL;
	struct buf object = BUF_INIT;

	bpf_listen();
	if (gunzip_bytes(file->file, file->end - file->file, MOST_BYTES, &object, e)) {
		err_set(e, EINVAL, "BPF: the programs are damaged");
	} else {
		obj = bpf_object__open_mem(object.data, object.len, &opts);
		if (!obj)
			bpf_failed(e, errno, "the programs");
	}
	buf_release(&object);
	return obj;
}

int bpf_set_constants(struct bpf_object *obj, const void *constants, size_t size, struct err *e)
{
	struct bpf_map *m;

	bpf_object__for_each_map(m, obj)
		if (strstr(bpf_map__name(m), ".rodata"))
			return bpf_map__set_initial_value(m, constants, size) ?
				       err_set(e, EINVAL, "BPF: the programs expect other constants") : 0;
	return err_set(e, EINVAL, "BPF: the programs have no constants");
}

int bpf_load(struct bpf_object *obj, struct err *e)
{
	int r = bpf_object__load(obj);

	return r ? bpf_failed(e, -r, "loading the programs") : 0;
}

/* ---- sets of programs ---- */

static void bpf_make_room(struct bpf_programs *p)
{
	struct bpf_program *program;
	struct bpf_map *m;

	bpf_object__for_each_map(m, p->obj)
		p->nr_maps++;
	bpf_object__for_each_program(program, p->obj)
		p->nr_programs++;
	p->map_fds = xcalloc(p->nr_maps + 1, sizeof(*p->map_fds));
	p->program_fds = xcalloc(p->nr_programs + 1, sizeof(*p->program_fds));
}

/*
 * Load the programs with a loader, a program which the kernel runs; libbpf makes it without a look at the
 * kernel's types.
 */
static int load_by_kernel(struct bpf_programs *p)
{
	LIBBPF_OPTS(gen_loader_opts, loader);
	struct bpf_load_and_run_opts run;
	struct bpf_loader_ctx *ctx;
	struct bpf_map_desc *maps;
	struct bpf_prog_desc *programs;
	size_t size = sizeof(*ctx) + p->nr_maps * sizeof(*maps) + p->nr_programs * sizeof(*programs), i;
	int r = bpf_object__gen_loader(p->obj, &loader);

	if (!r)
		r = bpf_object__load(p->obj);
	if (r)
		return r;
	ctx = xcalloc(1, size);
	ctx->sz = size;
	maps = (void *)(ctx + 1);
	programs = (void *)(maps + p->nr_maps);
	run = (struct bpf_load_and_run_opts){
		.ctx = ctx, .data = loader.data, .data_sz = loader.data_sz,
		.insns = loader.insns, .insns_sz = loader.insns_sz,
	};
	r = bpf_load_and_run(&run);
	for (i = 0; !r && i < p->nr_maps; i++)
		p->map_fds[i] = maps[i].map_fd;
	for (i = 0; !r && i < p->nr_programs; i++)
		p->program_fds[i] = programs[i].prog_fd;
	p->owns_fds = !r;
	free(ctx);
	return r;
}

static int load_by_libbpf(struct bpf_programs *p, struct err *e)
{
	struct bpf_program *program;
	struct bpf_map *m;
	size_t i = 0;
	int r = bpf_load(p->obj, e);

	if (r)
		return r;
	bpf_object__for_each_map(m, p->obj)
		p->map_fds[i++] = bpf_map__fd(m);
	i = 0;
	bpf_object__for_each_program(program, p->obj)
		p->program_fds[i++] = bpf_program__fd(program);
	return 0;
}

static int load_file(struct bpf_programs *p, const struct bpf_packed *file, bool by_kernel,
		     const struct bpf_prepare *prepare, struct err *e)
{
	int r;

	p->obj = bpf_open_packed(file, prepare->name, e);
	if (!p->obj)
		return -e->code;
	bpf_make_room(p);
	r = prepare->it(prepare->ctx, p->obj, e);
	if (!r)
		r = by_kernel ? load_by_kernel(p) : load_by_libbpf(p, e);
	if (r)
		bpf_programs_release(p);
	return r;
}

int bpf_programs_load(struct bpf_programs *p, const struct bpf_packed *files, size_t nr,
		      const struct bpf_prepare *prepare, struct err *e)
{
	int by_kernel, r = -EINVAL;
	size_t i;

	for (by_kernel = !prepare->by_libbpf; by_kernel >= 0; by_kernel--)
		for (i = 0; i < nr; i++) {
			*e = (struct err){ 0 };
			r = load_file(p, &files[i], by_kernel, prepare, e);
			if (!r)
				return i;
			/* neither would another file be taken */
			if (r == -EPERM || r == -ENOMEM)
				break;
		}
	return r;
}

int bpf_programs_attach(struct bpf_programs *p, struct err *e)
{
	struct bpf_program *program;
	size_t i = 0;
	int fd;

	bpf_object__for_each_program(program, p->obj) {
		fd = p->program_fds[i++];
		if (bpf_program__expected_attach_type(program) == BPF_TRACE_ITER ||
		    bpf_program__type(program) == BPF_PROG_TYPE_PERF_EVENT || p->nr_links == BPF_MAX_LINKS)
			continue;
		fd = bpf_link_create(fd, 0, bpf_program__expected_attach_type(program), NULL);
		if (fd < 0)
			return bpf_failed(e, errno, bpf_program__name(program));
		p->links[p->nr_links++] = fd;
	}
	return 0;
}

int bpf_programs_map(const struct bpf_programs *p, const char *name)
{
	struct bpf_map *m;
	size_t i = 0;

	bpf_object__for_each_map(m, p->obj) {
		if (!strcmp(bpf_map__name(m), name))
			return p->map_fds[i];
		i++;
	}
	return -ENOENT;
}

int bpf_programs_fd(const struct bpf_programs *p, const char *name)
{
	struct bpf_program *program;
	size_t i = 0;

	bpf_object__for_each_program(program, p->obj) {
		if (!strcmp(bpf_program__name(program), name))
			return p->program_fds[i];
		i++;
	}
	return -ENOENT;
}

static void bpf_close_all(const int *fds, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		close(fds[i]);
}

void bpf_programs_release(struct bpf_programs *p)
{
	bpf_close_all(p->links, p->nr_links);
	if (p->owns_fds) {
		bpf_close_all(p->map_fds, p->nr_maps);
		bpf_close_all(p->program_fds, p->nr_programs);
	}
	free(p->map_fds);
	free(p->program_fds);
	bpf_object__close(p->obj);
	*p = (struct bpf_programs){ 0 };
}

int bpf_map_set_event(int map, uint32_t cpu, int event)
{
	return bpf_map_update_elem(map, &cpu, &event, BPF_ANY) ? -1 : 0;
}

void *bpf_map_memory(int fd, size_t bytes, bool writable)
{
	void *p = !writable && bpf_map_freeze(fd) ? MAP_FAILED :
		mmap(NULL, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}
