// SPDX-License-Identifier: GPL-2.0-or-later
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/atomic.h"
#include "base/mem.h"
#include "cpuclock/cpuclock.h"
#include "pmu/bpf.h"

extern const char cpuclock_bpf_file[], cpuclock_bpf_file_end[];
extern const char cpuclock_traps_bpf_file[], cpuclock_traps_bpf_file_end[];

enum { MAX_LINKS = 8 };

struct cpuclock {
	struct bpf_object *obj;
	struct bpf_link *links[MAX_LINKS];
	size_t nr_links;
	struct ring_buffer *ends;
	const struct cpuclock_control *control;
	int all_fd;
	bool has_traps, all;
	/* of who reads the ends at this moment */
	void (*each)(void *ctx, const struct cpuclock_end *end);
	void *ctx;
};

/* The kernel's own number of the first PID namespace; there is no other way to know it. */
static bool is_outermost(void)
{
	enum { PROC_PID_INIT_INO = (int)0xEFFFFFFC };
	struct stat st;

	return !stat("/proc/self/ns/pid", &st) && (int)st.st_ino == PROC_PID_INIT_INO;
}

static int load_file(struct cpuclock *c, const char *file, const char *end, struct err *e)
{
	const struct cpuclock_config config = { .all = c->all };
	int r;

	bpf_object__close(c->obj);
	c->obj = bpf_open_packed(file, end, "arcprof_clock", e);
	if (!c->obj)
		return -e->code;
	r = bpf_set_constants(c->obj, &config, sizeof(config), e);
	return r ? r : bpf_load(c->obj, e);
}

/* Where the kernel does not take what sends traps: without that. */
static int load(struct cpuclock *c, struct err *e)
{
	int r = load_file(c, cpuclock_traps_bpf_file, cpuclock_traps_bpf_file_end, e);

	c->has_traps = !r;
	if (r && r != -EPERM && r != -ENOMEM)
		r = load_file(c, cpuclock_bpf_file, cpuclock_bpf_file_end, e);
	return r;
}

static int on_end(void *ctx, void *data, size_t size)
{
	struct cpuclock *c = ctx;

	if (size >= sizeof(struct cpuclock_end))
		c->each(c->ctx, data);
	return 0;
}

static int open_maps(struct cpuclock *c, struct err *e)
{
	c->all_fd = bpf_map_named(c->obj, "cpuclock_all");
	c->control = bpf_map_memory(bpf_map_named(c->obj, "cpuclock_state"), sizeof(*c->control), false);
	if (c->control)
		c->ends = ring_buffer__new(bpf_map_named(c->obj, "cpuclock_ends"), on_end, c, NULL);
	return c->ends ? 0 : bpf_failed(e, errno, "mapping what they tell");
}

static int add_targets(struct cpuclock *c, const int *pids, size_t nr, struct err *e)
{
	const struct cpuclock_process any = { 0 };
	size_t i;

	for (i = 0; i < nr; i++)
		if (bpf_map_update_elem(c->all_fd, &pids[i], &any, BPF_ANY))
			return bpf_failed(e, errno, "the list of processes");
	return 0;
}

int cpuclock_open(struct cpuclock **clock, const int *pids, size_t nr_pids, struct err *e)
{
	struct cpuclock *c;
	int r = bpf_allowed(e);

	*clock = NULL;
	if (r)
		return r;
	if (!is_outermost())
		return err_set(e, ENOTSUP, "BPF: this is a PID namespace, where numbers of processes are others");
	c = xcalloc(1, sizeof(*c));
	c->all = !pids;
	r = load(c, e);
	if (!r)
		r = open_maps(c, e);
	/* births first: what a process starts before it is in the list was there already */
	if (!r)
		r = bpf_attach(c->obj, c->links, ARRAY_SIZE(c->links), &c->nr_links, e);
	if (!r)
		r = add_targets(c, pids, nr_pids, e);
	if (r)
		cpuclock_close(c);
	else
		*clock = c;
	return r;
}

void cpuclock_close(struct cpuclock *c)
{
	size_t i;

	if (!c)
		return;
	for (i = 0; i < c->nr_links; i++)
		bpf_link__destroy(c->links[i]);
	ring_buffer__free(c->ends);
	if (c->control)
		munmap((void *)c->control, sizeof(*c->control));
	bpf_object__close(c->obj);
	free(c);
}

int cpuclock_filter(const struct cpuclock *c)
{
	return bpf_program_named(c->obj, "is_recorded");
}

int cpuclock_trap_filter(const struct cpuclock *c)
{
	return c->has_traps ? bpf_program_named(c->obj, "is_trapped") : 0;
}

int cpuclock_trap(struct cpuclock *c, int pid)
{
	struct cpuclock_process p;

	if (bpf_map_lookup_elem(c->all_fd, &pid, &p)) {
		if (!c->all)
			return -errno;
		memset(&p, 0, sizeof(p));
	}
	p.agent = 1;
	return bpf_map_update_elem(c->all_fd, &pid, &p, c->all ? BPF_ANY : BPF_EXIST) ? -errno : 0;
}

void cpuclock_ends(struct cpuclock *c, void (*each)(void *ctx, const struct cpuclock_end *end), void *ctx)
{
	c->each = each;
	c->ctx = ctx;
	ring_buffer__consume(c->ends);
}

uint64_t cpuclock_untold(const struct cpuclock *c, uint64_t *ns)
{
	*ns = load_relaxed(&c->control->untold_ns);
	return load_relaxed(&c->control->nr_untold);
}

uint32_t cpuclock_refused(const struct cpuclock *c)
{
	return load_relaxed(&c->control->nr_refused);
}
