// SPDX-License-Identifier: GPL-2.0-or-later
/* cpuclock.c - loads the BPF programs that filter samples of CPU clocks by process (cpuclock.h). */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "api/area.h"
#include "base/atomic.h"
#include "base/mem.h"
#include "cpuclock/cpuclock.h"
#include "pmu/bpf.h"

extern const char cpuclock_bpf_file[], cpuclock_bpf_file_end[];
extern const char cpuclock_traps_bpf_file[], cpuclock_traps_bpf_file_end[];
extern const char cpuclock_traps_7_bpf_file[], cpuclock_traps_7_bpf_file_end[];

struct cpuclock {
	struct bpf_programs programs;
	struct ring_buffer *ends;
	const struct cpuclock_control *control;
	int all_fd;
	bool has_traps, all;
	/* of who reads the ends at this moment */
	void (*each)(void *ctx, const struct cpuclock_end *end);
	void *ctx;
};

static int cpuclock_prepare(void *ctx, struct bpf_object *obj, struct err *e)
{
	const struct cpuclock *c = ctx;
	const struct cpuclock_config config = { .all = c->all };

	return bpf_set_constants(obj, &config, sizeof(config), e);
}

static int cpuclock_load(struct cpuclock *c, struct err *e)
{
	static const struct bpf_packed files[] = {
		{ cpuclock_traps_bpf_file, cpuclock_traps_bpf_file_end },
		{ cpuclock_traps_7_bpf_file, cpuclock_traps_7_bpf_file_end },
		/* where the kernel does not take what sends traps */
		{ cpuclock_bpf_file, cpuclock_bpf_file_end },
	};
	const struct bpf_prepare how = { .name = "arcprof_clock", .it = cpuclock_prepare, .ctx = c };
	int r = bpf_programs_load(&c->programs, files, ARRAY_SIZE(files), &how, e);

	c->has_traps = r >= 0 && bpf_programs_map(&c->programs, "trapped") >= 0;
	return MIN(r, 0);
}

static int cpuclock_on_end(void *ctx, void *data, size_t size)
{
	struct cpuclock *c = ctx;

	if (size >= sizeof(struct cpuclock_end))
		c->each(c->ctx, data);
	return 0;
}

static int open_maps(struct cpuclock *c, struct err *e)
{
	c->all_fd = bpf_programs_map(&c->programs, "cpuclock_all");
	c->control = bpf_map_memory(bpf_programs_map(&c->programs, "cpuclock_state"), sizeof(*c->control),
				    false);
	if (c->control)
		c->ends = ring_buffer__new(bpf_programs_map(&c->programs, "cpuclock_ends"), cpuclock_on_end,
					   c, NULL);
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
	if (!arcprof_area_same_numbers())
		return err_set(e, ENOTSUP, "BPF: this is a PID namespace, where numbers of processes are others");
	c = xcalloc(1, sizeof(*c));
	c->all = !pids;
	r = cpuclock_load(c, e);
	if (!r)
		r = open_maps(c, e);
	/* births first: what a process starts before it is in the list was there already */
	if (!r)
		r = bpf_programs_attach(&c->programs, e);
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
	if (!c)
		return;
	ring_buffer__free(c->ends);
	if (c->control)
		munmap((void *)c->control, sizeof(*c->control));
	bpf_programs_release(&c->programs);
	free(c);
}

int cpuclock_filter(const struct cpuclock *c)
{
	return bpf_programs_fd(&c->programs, "is_recorded");
}

int cpuclock_trapped(const struct cpuclock *c)
{
	return c->has_traps ? bpf_programs_map(&c->programs, "trapped") : 0;
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
