// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bpf.c - a session of BPF programs: loads them, hangs them on their tracepoints, and pins links
 * and maps in the BPF file system, where they stay until ptt_bpf_stop().  No process has to run.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "pmu/bpf.h"
#include "pmu/cpus.h"
#include "pmu/probe.h"
#include "ptt/area.h"
#include "ptt/bpf/config.h"

#define BPF_FS "/sys/fs/bpf"

extern const char ptt_bpf_file[], ptt_bpf_file_end[];
extern const char ptt_basic_bpf_file[], ptt_basic_bpf_file_end[];

struct loader {
	const struct ptt_config *c;
	struct bpf_object *obj;
	struct btf *kernel;
	uint32_t nr_cpus;
};

/* ---- the place where a session is ---- */

static int mount_bpf_fs(struct err *e)
{
	struct statfs s;

	if (!statfs(BPF_FS, &s) && (unsigned long)s.f_type == BPF_FS_MAGIC)
		return 0;
	if (mount("bpf", BPF_FS, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0755"))
		return err_errno(e, "cannot mount the BPF file system on %s", BPF_FS);
	return 0;
}

static int make_place(struct err *e)
{
	int r = mount_bpf_fs(e);

	if (r)
		return r;
	if (!mkdir(ARCPROF_BPF_DIR, 0700))
		return 0;
	if (errno != EEXIST)
		return err_errno(e, "%s", ARCPROF_BPF_DIR);
	err_set(e, EEXIST, "%s: is there already, of a session or of one that was not ended",
		ARCPROF_BPF_DIR);
	err_hint(e, "'arcprof ptt term' removes it");
	return -EEXIST;
}

/* Remove the pins: a link without them detaches its program. */
static int remove_place(struct err *e)
{
	/* not what a link of that name leads to */
	int fd = open(ARCPROF_BPF_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), r = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!d)
		return errno == ENOENT ? err_set(e, ENOENT, "no session is running") :
					 err_errno(e, "%s", ARCPROF_BPF_DIR);
	while (!r && (entry = readdir(d)))
		if (entry->d_name[0] != '.' && unlinkat(dirfd(d), entry->d_name, 0))
			r = err_errno(e, "%s/%s", ARCPROF_BPF_DIR, entry->d_name);
	closedir(d);
	if (!r && rmdir(ARCPROF_BPF_DIR))
		r = err_errno(e, "%s", ARCPROF_BPF_DIR);
	return r;
}

/* ---- loading ---- */

static struct bpf_map *map_named(struct loader *l, const char *name)
{
	return bpf_object__find_map_by_name(l->obj, name);
}

static int map_fd(struct loader *l, const char *name)
{
	return bpf_map__fd(map_named(l, name));
}

/*
 * Return whether to load a program: those for interrupts only if requested, for children only if not all
 * processes are seen, and none for a tracepoint that the kernel lacks.
 */
static bool ptt_bpf_is_wanted(struct loader *l, const struct bpf_program *p)
{
	const char *name = bpf_program__name(p);
	char type[128];

	snprintf(type, sizeof(type), "btf_trace_%s", strchr(bpf_program__section_name(p), '/') + 1);
	if (!strcmp(name, "on_switch") || !strcmp(name, "end"))
		return true;
	if (btf__find_by_name_kind(l->kernel, type, BTF_KIND_TYPEDEF) < 0)
		return false;
	return !strcmp(name, "on_fork") ? l->c->nr_pids > 0 : l->c->interrupts;
}

static void choose_programs(struct loader *l)
{
	struct bpf_program *p;

	bpf_object__for_each_program(p, l->obj)
		bpf_program__set_autoload(p, ptt_bpf_is_wanted(l, p));
}

static int set_constants(struct loader *l, struct err *e)
{
	struct ptt_bpf_config config = {
		.nr_cpus = l->nr_cpus,
		.nr_slots = l->c->nr_slots,
		.nr_metrics = 1 + l->c->nr_counters,
		.all_threads = !l->c->nr_pids,
	};
	struct bpf_map *m;
	const char *name;

	if (random_bytes(&config.secret, sizeof(config.secret)))
		return err_set(e, EIO, "BPF: no random number");
	bpf_object__for_each_map(m, l->obj) {
		name = bpf_map__name(m);
		if (strstr(name, ".rodata"))
			return bpf_map__set_initial_value(m, &config, sizeof(config)) ?
				       err_set(e, EINVAL, "BPF: the programs expect other constants") : 0;
	}
	return err_set(e, EINVAL, "BPF: the programs have no constants");
}

static void ptt_bpf_set_sizes(struct loader *l)
{
	static const char *const of_slots[] = { "slots", "threads", "ended" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(of_slots); i++)
		bpf_map__set_max_entries(map_named(l, of_slots[i]), l->c->nr_slots);
	if (map_named(l, "fresh"))
		bpf_map__set_max_entries(map_named(l, "fresh"), l->c->nr_slots);
	bpf_map__set_max_entries(map_named(l, "cpus"), l->nr_cpus);
	bpf_map__set_max_entries(map_named(l, "events"), l->nr_cpus * ARCPROF_MAX_METRICS);
}

static int load_file(struct loader *l, const struct bpf_packed *file, struct err *e)
{
	int r;

	l->obj = bpf_open_packed(file, "arcprof_ptt", e);
	if (!l->obj)
		return -e->code;
	choose_programs(l);
	ptt_bpf_set_sizes(l);
	r = set_constants(l, e);
	if (!r)
		r = bpf_load(l->obj, e);
	if (r) {
		bpf_object__close(l->obj);
		l->obj = NULL;
	}
	return r;
}

static int ptt_bpf_load(struct loader *l, struct err *e)
{
	static const struct bpf_packed files[] = {
		{ ptt_bpf_file, ptt_bpf_file_end },
		/* where the kernel lacks what those use */
		{ ptt_basic_bpf_file, ptt_basic_bpf_file_end },
	};
	int r = libbpf_num_possible_cpus();
	size_t i;

	l->nr_cpus = MAX(r, 1);
	bpf_listen();
	l->kernel = btf__load_vmlinux_btf();
	if (!l->kernel)
		return bpf_failed(e, errno, BPF_TYPES);
	r = -EINVAL;
	for (i = 0; i < ARRAY_SIZE(files) && r && r != -EPERM && r != -ENOMEM; i++) {
		*e = (struct err){ 0 };
		r = load_file(l, &files[i], e);
	}
	return r;
}

static void ptt_bpf_release(struct loader *l)
{
	bpf_object__close(l->obj);
	btf__free(l->kernel);
}

/* Check whether the kernel takes the programs, which is known only by loading them. */
static int ptt_bpf_check(struct err *e)
{
	enum { SOME_SLOTS = 64 };
	static const struct ptt_config config = { .nr_slots = SOME_SLOTS, .interrupts = true };
	struct loader l = { .c = &config };
	int r = bpf_allowed(e);

	if (!r) {
		r = ptt_bpf_load(&l, e);
		ptt_bpf_release(&l);
	}
	return r;
}

/* ---- what the programs need before they run ---- */

static int open_counter(struct loader *l, size_t i, uint32_t cpu, struct err *e)
{
	struct perf_event_attr attr = l->c->counters[i].attr;
	uint32_t key = (i + 1) * l->nr_cpus + cpu;
	int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC), r;

	if (fd < 0) {
		perf_open_err(e, errno, &attr, -1, cpu);
		return err_wrap(e, "%s", l->c->counters[i].name);
	}
	r = bpf_map_update_elem(map_fd(l, "events"), &key, &fd, BPF_ANY);
	close(fd);		/* the map holds it */
	return r ? bpf_failed(e, -r, l->c->counters[i].name) : 0;
}

static int open_counters(struct loader *l, struct err *e)
{
	struct cpus cpus = { 0 };
	size_t i, k;
	int r = 0;

	cpus_online(&cpus);
	for (i = 0; i < l->c->nr_counters; i++)
		for (k = 0; k < cpus.nr_cpu && !r; k++)
			if (cpus.cpu[k] < l->nr_cpus)
				r = open_counter(l, i, cpus.cpu[k], e);
	cpus_release(&cpus);
	return r;
}

static int fill_pids(struct loader *l, struct err *e)
{
	uint8_t yes = 1;
	size_t i;
	int r = 0;

	for (i = 0; i < l->c->nr_pids && !r; i++)
		r = bpf_map_update_elem(map_fd(l, "pids"), &l->c->pids[i], &yes, BPF_ANY);
	return r ? bpf_failed(e, -r, "the list of processes") : 0;
}

/* Fill the list of fresh slots; slot 0 is never used. */
static int fill_fresh(struct loader *l, struct err *e)
{
	int fd = map_named(l, "fresh") ? map_fd(l, "fresh") : -1, r = 0;
	uint32_t slot;

	for (slot = 1; fd >= 0 && slot < l->c->nr_slots && !r; slot++)
		r = bpf_map_update_elem(fd, NULL, &slot, BPF_ANY);
	return r ? bpf_failed(e, -r, "the list of slots") : 0;
}

static int ptt_bpf_write_header(struct loader *l, struct err *e)
{
	struct arcprof_ptt_header h = {
		.magic = ARCPROF_MAGIC,
		.abi = ARCPROF_ABI,
		.size = sizeof(h),
		.nr_metrics = 1 + l->c->nr_counters,
		.nr_cpus = l->nr_cpus,
		.nr_slots = l->c->nr_slots,
		.clock = ARCPROF_CLOCK_MONOTONIC,
		.mult = 1,
		.start = clock_mono_ns(),
		.generation = clock_real_ns(),
		.next_slot = 1,
		.flags = (l->c->interrupts ? 0 : ARCPROF_PTT_NO_IRQ) | ARCPROF_PTT_FOLLOW |
			 (l->c->nr_pids ? 0 : ARCPROF_PTT_ALL),
	};
	uint32_t zero = 0;
	size_t i;
	int r;

	for (i = 0; i < l->c->nr_counters; i++) {
		h.metric[i + 1].type = l->c->counters[i].attr.type;
		h.metric[i + 1].config = l->c->counters[i].attr.config;
	}
	r = bpf_map_update_elem(map_fd(l, "header"), &zero, &h, BPF_ANY);
	return r ? bpf_failed(e, -r, "the header") : 0;
}

/* ---- going live ---- */

static int pin(const char *name, int mode, int (*how)(void *what, const char *path), void *what,
	       struct err *e)
{
	char path[128];
	int r;

	snprintf(path, sizeof(path), "%s/%s", ARCPROF_BPF_DIR, name);
	r = how(what, path);
	if (!r && chmod(path, mode))
		r = -errno;
	return r ? bpf_failed(e, -r, path) : 0;
}

static int pin_link(void *link, const char *path)
{
	return bpf_link__pin(link, path);
}

static int pin_map(void *map, const char *path)
{
	return bpf_map__pin(map, path);
}

static int pin_program(void *program, const char *path)
{
	return bpf_program__pin(program, path);
}

static int attach_one(struct bpf_program *p, struct err *e)
{
	const char *name = bpf_program__name(p);
	struct bpf_link *link;
	int r;

	if (!strcmp(name, "end"))
		return pin(name, 0600, pin_program, p, e);
	link = bpf_program__attach(p);
	if (!link)
		return bpf_failed(e, errno, name);
	r = pin(name, 0600, pin_link, link, e);
	if (!r)
		bpf_link__disconnect(link);
	bpf_link__destroy(link);
	return r;
}

/*
 * Attach the programs. The switch comes first in the object, so that threads are known when interrupts are
 * seen.
 */
static int attach(struct loader *l, struct err *e)
{
	struct bpf_program *p;
	int r = 0;

	bpf_object__for_each_program(p, l->obj)
		if (!r && bpf_program__autoload(p))
			r = attach_one(p, e);
	return r;
}

/*
 * Pin the maps. Mapping a map takes the right to write it, so the maps to read are frozen: user space cannot
 * write them then, whatever the mode says.
 */
static int pin_maps(struct loader *l, struct err *e)
{
	static const struct { const char *name; bool frozen; int shared_mode; } maps[] = {
		{ "cpus", true, 0666 }, { "slots", true, 0666 }, { "threads", false, 0644 },
		{ "pids", false, 0600 }, { "header", true, 0666 },
	};
	size_t i;
	int r = 0;

	for (i = 0; i < ARRAY_SIZE(maps) && !r; i++) {
		if (maps[i].frozen)
			r = bpf_map_freeze(map_fd(l, maps[i].name));
		r = r ? bpf_failed(e, -r, "freezing a map") :
			pin(maps[i].name, l->c->all_users ? maps[i].shared_mode : 0600, pin_map,
			    map_named(l, maps[i].name), e);
	}
	if (!r && l->c->all_users && chmod(ARCPROF_BPF_DIR, 0755))
		r = err_errno(e, "%s", ARCPROF_BPF_DIR);
	return r;
}

/* Run on each CPU for a moment, which makes it switch: from then on its threads and its time are known. */
static void visit_cpus(void)
{
	struct cpus cpus = { 0 };
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX + 1), i;
	cpu_set_t *before = CPU_ALLOC(CPUS_MAX + 1), *one = CPU_ALLOC(CPUS_MAX + 1);

	cpus_online(&cpus);
	if (before && one && !sched_getaffinity(0, size, before)) {
		for (i = 0; i < cpus.nr_cpu; i++) {
			CPU_ZERO_S(size, one);
			CPU_SET_S(cpus.cpu[i], size, one);
			sched_setaffinity(0, size, one);
		}
		sched_setaffinity(0, size, before);
	}
	CPU_FREE(before);
	CPU_FREE(one);
	cpus_release(&cpus);
}

static int ptt_bpf_start(const struct ptt_config *c, struct err *e)
{
	struct loader l = { .c = c };
	struct err ignored;
	int r = bpf_allowed(e);

	if (!r && c->nr_pids && !arcprof_area_same_numbers())
		r = err_set(e, ENOTSUP, "BPF: processes cannot be named from inside a container: their numbers are others");
	if (!r)
		r = make_place(e);
	if (r)
		return r;
	r = ptt_bpf_load(&l, e);
	if (!r)
		r = open_counters(&l, e);
	if (!r)
		r = fill_pids(&l, e);
	if (!r)
		r = fill_fresh(&l, e);
	if (!r)
		r = ptt_bpf_write_header(&l, e);
	if (!r)
		r = attach(&l, e);
	if (!r)
		r = pin_maps(&l, e);
	if (r)
		remove_place(&ignored);
	else
		visit_cpus();
	ptt_bpf_release(&l);
	return r;
}

/* Mark the end for readers that have it mapped. */
static void mark_ended(void)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	int fd = bpf_obj_get(ARCPROF_BPF_DIR "/end");

	if (fd < 0)
		return;
	bpf_prog_test_run_opts(fd, &opts);
	close(fd);
}

static int ptt_bpf_stop(struct err *e)
{
	if (access(ARCPROF_BPF_DIR, F_OK) && (errno == ENOENT || errno == ENOTDIR))
		return err_set(e, ENOENT, "no session is running");
	mark_ended();
	return remove_place(e);
}

static int ptt_bpf_open_session(void **session, struct err *e)
{
	return ptt_area_open(ARCPROF_BPF, session, e);
}

const struct ptt_backend ptt_bpf = {
	.name = "bpf",
	.counts_events = true,
	.check = ptt_bpf_check,
	.start = ptt_bpf_start,
	.stop = ptt_bpf_stop,
	.open = ptt_bpf_open_session,
	.read = ptt_area_read,
	.counter = ptt_area_counter,
	.close = ptt_area_close,
};
