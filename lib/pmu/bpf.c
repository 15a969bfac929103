// SPDX-License-Identifier: GPL-2.0-or-later
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/gzip.h"
#include "pmu/bpf.h"
#include "pmu/probe.h"

/* What libbpf complained about last: one library, one place to keep it. */
static char complaint[200];

static int keep_complaint(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (level == LIBBPF_WARN)
		vsnprintf(complaint, sizeof(complaint), fmt, ap);
	complaint[strcspn(complaint, "\n")] = '\0';
	return 0;
}

void bpf_listen(void)
{
	complaint[0] = '\0';
	libbpf_set_print(keep_complaint);
}

int bpf_failed(struct err *e, int code, const char *what)
{
	err_set(e, code, "BPF: %s: %s%s%s%s", what, strerror(code), complaint[0] ? " (" : "", complaint,
		complaint[0] ? ")" : "");
	if (code == EPERM || code == EACCES)
		err_hint(e, "run %s", probe_remedy("cap_bpf,cap_perfmon,cap_sys_admin").text);
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

struct bpf_object *bpf_open_packed(const char *file, const char *end, const char *name, struct err *e)
{
	enum { MOST_BYTES = 16 << 20 };
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = name);
	struct bpf_object *obj = NULL;
	struct buf object = BUF_INIT;

	bpf_listen();
	if (gunzip_bytes(file, end - file, MOST_BYTES, &object, e)) {
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

int bpf_attach(struct bpf_object *obj, struct bpf_link **links, size_t max_links, size_t *nr, struct err *e)
{
	struct bpf_program *p;

	bpf_object__for_each_program(p, obj) {
		if (bpf_program__expected_attach_type(p) == BPF_TRACE_ITER ||
		    bpf_program__type(p) == BPF_PROG_TYPE_PERF_EVENT || *nr == max_links)
			continue;
		links[*nr] = bpf_program__attach(p);
		if (!links[*nr])
			return bpf_failed(e, errno, bpf_program__name(p));
		(*nr)++;
	}
	return 0;
}

int bpf_map_named(const struct bpf_object *obj, const char *name)
{
	return bpf_object__find_map_fd_by_name(obj, name);
}

int bpf_program_named(const struct bpf_object *obj, const char *name)
{
	return bpf_program__fd(bpf_object__find_program_by_name(obj, name));
}

void *bpf_map_memory(int fd, size_t bytes, bool writable)
{
	void *p = !writable && bpf_map_freeze(fd) ? MAP_FAILED :
		mmap(NULL, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}
