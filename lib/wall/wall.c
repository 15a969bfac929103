// SPDX-License-Identifier: GPL-2.0-or-later
/* wall.c - loads the BPF programs, and maps the slots of threads (wall.h). */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "api/area.h"
#include "base/atomic.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "pmu/bpf.h"
#include "wall/inner.h"
#include "wall/syscalls.h"

extern const char wall_bpf_file[], wall_bpf_file_end[];
extern const char wall_traps_bpf_file[], wall_traps_bpf_file_end[];
extern const char wall_traps_7_bpf_file[], wall_traps_7_bpf_file_end[];
extern const char wall_basic_bpf_file[], wall_basic_bpf_file_end[];

/* ---- loading ---- */

/* Records, /proc and who names a process speak of the numbers there. */
static int find_pid_namespace(struct wall_bpf_config *config, struct err *e)
{
	struct stat ns;

	if (arcprof_area_same_numbers())
		return 0;
	if (stat("/proc/self/ns/pid", &ns))
		return err_errno(e, "/proc/self/ns/pid");
	config->pid_ns = ns.st_ino;
	return 0;
}

static int set_constants(const struct wall *w, const struct wall_opts *o, struct bpf_object *obj,
			 struct err *e)
{
	struct wall_bpf_config config = {
		.nr_slots = w->nr_slots, .all = o->all, .wakes = o->wakes,
	};
	const struct wall_syscall *call;
	unsigned int i;

	if (random_bytes(&config.secret, sizeof(config.secret)))
		return err_set(e, EIO, "BPF: no random number");
	for (i = 0; (call = wall_syscall_at(i)); i++)
		if (call->nr < WALL_NR_SYSCALLS) {
			config.class_of[call->nr] = call->class;
			config.files[call->nr] = call->files;
		}
	wall_find_interrupts(&config);
	if (find_pid_namespace(&config, e))
		return -e->code;
	return bpf_set_constants(obj, &config, sizeof(config), e);
}

static void wall_set_sizes(const struct wall *w, const struct wall_opts *o, struct bpf_object *obj)
{
	static const char *const of_slots[] = {
		"wall_slots", "wall_stamps", "wall_marks", "wall_threads", "wall_free",
	};
	static const char *const some_have[] = { "wall_traps", "wall_fresh" };
	struct bpf_map *m;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(some_have); i++) {
		m = bpf_object__find_map_by_name(obj, some_have[i]);
		if (m)
			bpf_map__set_max_entries(m, w->nr_slots);
	}
	for (i = 0; i < ARRAY_SIZE(of_slots); i++)
		bpf_map__set_max_entries(bpf_object__find_map_by_name(obj, of_slots[i]), w->nr_slots);
	if (o->wakes) {
		bpf_map__set_max_entries(bpf_object__find_map_by_name(obj, "wall_wakes"), WALL_NR_WAKES);
		bpf_map__set_max_entries(bpf_object__find_map_by_name(obj, "wall_anchors"), w->nr_slots);
	}
}

struct request {
	const struct wall *w;
	const struct wall_opts *o;
};

static int wall_prepare(void *ctx, struct bpf_object *obj, struct err *e)
{
	const struct request *q = ctx;

	wall_set_sizes(q->w, q->o, obj);
	return set_constants(q->w, q->o, obj, e);
}

static int wall_load(struct wall *w, const struct wall_opts *o, struct err *e)
{
	static const struct bpf_packed files[] = {
		{ wall_traps_bpf_file, wall_traps_bpf_file_end },
		{ wall_traps_7_bpf_file, wall_traps_7_bpf_file_end },
		/* where the kernel does not take what sends traps */
		{ wall_bpf_file, wall_bpf_file_end },
	};
	static const struct bpf_packed basic = { wall_basic_bpf_file, wall_basic_bpf_file_end };
	struct request q = { .w = w, .o = o };
	const struct bpf_prepare how = {
		.name = "arcprof_wall", .it = wall_prepare, .ctx = &q, .by_libbpf = true,
	};
	int r = o->basic ? -EINVAL : bpf_programs_load(&w->programs, files, ARRAY_SIZE(files), &how, e);

	/* since Linux 6.9, which takes the others, the registers of threads may be elsewhere */
	if (r < 0 && r != -EPERM && (o->basic || !bpf_kernel_has_struct("fred_cs")))
		r = bpf_programs_load(&w->programs, &basic, 1, &how, e);
	if (r < 0 && r != -EPERM && !*e->hint)
		err_hint(e, "-e wall needs Linux 5.10 or later");
	return MIN(r, 0);
}

static int map_all(struct wall *w, const struct wall_opts *o, struct err *e)
{
	w->control = bpf_map_memory(bpf_programs_map(&w->programs, "wall_control"), sizeof(*w->control),
				    true);
	w->marks_fd = bpf_programs_map(&w->programs, "wall_marks");
	w->marks = bpf_map_memory(w->marks_fd, w->nr_slots * sizeof(*w->marks), true);
	w->slots_fd = bpf_programs_map(&w->programs, "wall_slots");
	w->stamps_fd = bpf_programs_map(&w->programs, "wall_stamps");
	w->free_fd = bpf_programs_map(&w->programs, "wall_free");
	w->slots = bpf_map_memory(w->slots_fd, w->nr_slots * sizeof(*w->slots), false);
	w->stamps = bpf_map_memory(w->stamps_fd, w->nr_slots * sizeof(*w->stamps), false);
	w->wheres = bpf_map_memory(bpf_programs_map(&w->programs, "wall_wheres"),
				   WALL_NR_WHERES * sizeof(*w->wheres), false);
	w->wakes_fd = w->anchors_fd = -1;
	if (o->wakes) {
		w->wakes_fd = bpf_programs_map(&w->programs, "wall_wakes");
		w->anchors_fd = bpf_programs_map(&w->programs, "wall_anchors");
		w->wakes = bpf_map_memory(w->wakes_fd, WALL_NR_WAKES * sizeof(*w->wakes), false);
	}
	if (!w->control || !w->marks || !w->slots || !w->stamps || !w->wheres || (o->wakes && !w->wakes))
		return bpf_failed(e, errno, "mapping the slots");
	w->control->next_slot = 1;
	return 0;
}

/* Fill the list of fresh slots; slot 0 is never used. */
static int fill_fresh(const struct wall *w)
{
	int fd = bpf_programs_map(&w->programs, "wall_fresh"), r = 0;
	uint32_t slot;

	for (slot = 1; fd >= 0 && slot < w->nr_slots && !r; slot++)
		r = bpf_map_update_elem(fd, NULL, &slot, BPF_ANY);
	return r;
}

static int add_targets(struct wall *w, const int *numbers, size_t nr, uint8_t what)
{
	int fd = bpf_programs_map(&w->programs, "wall_targets"), r = 0;
	uint8_t is;
	size_t i;

	for (i = 0; i < nr && !r; i++) {
		if (bpf_map_lookup_elem(fd, &numbers[i], &is))
			is = 0;
		is |= what;
		r = bpf_map_update_elem(fd, &numbers[i], &is, BPF_ANY);
	}
	return r;
}

/* Reads what an iterator over the threads of the machine writes, to its end; all goes to out. */
static int iterate(struct wall *w, const char *program, struct buf *out)
{
	int link = bpf_link_create(bpf_programs_fd(&w->programs, program), 0, BPF_TRACE_ITER, NULL);
	int fd = link < 0 ? -1 : bpf_iter_create(link), r;
	char bytes[16 << 10];

	do {
		r = fd < 0 ? -errno : read(fd, bytes, sizeof(bytes));
		if (r > 0)
			buf_add(out, bytes, r);
		else if (r < 0 && fd >= 0)
			r = -errno;
	} while (r > 0 || r == -EAGAIN || r == -EINTR);
	if (fd >= 0)
		close(fd);
	if (link >= 0)
		close(link);
	return r;
}

static int seed(struct wall *w, struct err *e)
{
	struct buf nothing = BUF_INIT;
	int r = iterate(w, "seed", &nothing);

	buf_release(&nothing);
	return r ? bpf_failed(e, -r, "looking at the threads there are") : 0;
}

int wall_open(struct wall **wall, const struct wall_opts *o, struct err *e)
{
	struct wall *w;
	int r = bpf_allowed(e);

	*wall = NULL;
	if (r)
		return r;
	w = xcalloc(1, sizeof(*w));
	w->nr_slots = o->nr_slots ? o->nr_slots : WALL_DEFAULT_SLOTS;
	r = wall_load(w, o, e);
	if (!r)
		r = map_all(w, o, e);
	if (!r && (add_targets(w, o->pids, o->nr_pids, WALL_PROCESS) ||
		   add_targets(w, o->tids, o->nr_tids, WALL_THREAD) || fill_fresh(w)))
		r = bpf_failed(e, errno, "the list of processes");
	/* births first: who seed() comes too early for has a parent with a slot, or is seen by it */
	if (!r)
		r = bpf_programs_attach(&w->programs, e);
	/* what a thread without a slot starts while the first pass has not come to it has none either */
	if (!r)
		r = seed(w, e);
	if (!r)
		r = seed(w, e);
	if (r)
		wall_close(w);
	else
		*wall = w;
	return r;
}

void wall_close(struct wall *w)
{
	if (!w)
		return;
	if (w->switches) {
		switches_close(w);
		free(w);
		return;
	}
	if (w->slots)
		munmap((void *)w->slots, w->nr_slots * sizeof(*w->slots));
	if (w->stamps)
		munmap((void *)w->stamps, w->nr_slots * sizeof(*w->stamps));
	if (w->marks)
		munmap(w->marks, w->nr_slots * sizeof(*w->marks));
	if (w->control)
		munmap(w->control, sizeof(*w->control));
	if (w->wheres)
		munmap((void *)w->wheres, WALL_NR_WHERES * sizeof(*w->wheres));
	if (w->wakes)
		munmap((void *)w->wakes, WALL_NR_WAKES * sizeof(*w->wakes));
	bpf_programs_release(&w->programs);
	free(w);
}

/* ---- reading ---- */

uint32_t wall_nr_used(const struct wall *w)
{
	uint32_t next = load_relaxed(&w->control->next_slot);

	return MIN(next, w->nr_slots);
}

uint32_t wall_nr_refused(const struct wall *w)
{
	return load_relaxed(&w->control->nr_refused);
}

void wall_look(struct wall *w, uint64_t now_ns)
{
	w->look_ns = now_ns;
}

void wall_mark(struct wall *w, uint32_t slot, uint32_t block_nr)
{
	if (w->marks)
		store_relaxed(&w->marks[slot], block_nr);
}

uint64_t wall_stamp_of(const struct wall *w, uint32_t slot)
{
	return load_relaxed(&w->stamps[slot]);
}

const struct wall_slot *wall_slot_at(const struct wall *w, uint32_t slot)
{
	return &w->slots[slot];
}

bool wall_read(const struct wall *w, uint32_t slot, struct wall_slot *copy)
{
	const struct wall_slot *s = &w->slots[slot];
	int tries = 1000;
	uint32_t seq;

	while (tries--) {
		seq = load_acquire(&s->seq);
		if (seq & 1)
			continue;
		/* first, because woken() changes it without a step, after what belongs to it */
		copy->state = load_acquire(&s->state);
		memcpy(copy, s, offsetof(struct wall_slot, state));
		memcpy(&copy->seq, &s->seq, sizeof(*copy) - offsetof(struct wall_slot, seq));
		fence_acquire();
		if (load_relaxed(&s->seq) == seq)
			return true;
	}
	return false;
}

bool wall_read_surely(const struct wall *w, uint32_t slot, struct wall_slot *copy)
{
	enum { MOMENT_NS = 100000 };
	int tries = 10000;

	while (!wall_read(w, slot, copy)) {
		if (!--tries)
			return false;
		clock_sleep_ns(MOMENT_NS);
	}
	return true;
}

bool wall_where_of(const struct wall *w, uint32_t slot, uint32_t block_nr, struct wall_where *copy)
{
	const struct wall_where *at = w->wheres ? &w->wheres[wall_where_at(slot, block_nr)] : NULL;

	if (!at || load_acquire(&at->block_nr) != block_nr)
		return false;
	memcpy(copy, at, sizeof(*copy));
	fence_acquire();
	return load_relaxed(&at->block_nr) == block_nr && copy->slot == slot;
}

bool wall_wake_of(const struct wall *w, uint32_t slot, uint32_t block_nr, struct wall_wake *copy)
{
	const struct wall_wake *at = w->wakes ? &w->wakes[wall_wake_at(slot, block_nr)] : NULL;

	if (!at || load_acquire(&at->block_nr) != block_nr)
		return false;
	memcpy(copy, at, offsetof(struct wall_wake, stack));
	copy->nr_bytes = MIN(copy->nr_bytes, (uint32_t)sizeof(copy->stack));
	memcpy(copy->stack, at->stack, copy->nr_bytes);
	fence_acquire();
	return load_relaxed(&at->block_nr) == block_nr && copy->slot == slot;
}

void wall_each_where(struct wall *w, void (*each)(void *ctx, const struct wall_where *at), void *ctx)
{
	struct wall_where at;
	struct buf all = BUF_INIT;
	size_t i;

	if (w->programs.obj && !iterate(w, "wheres", &all)) {
		for (i = 0; i + sizeof(at) <= all.len; i += sizeof(at)) {
			memcpy(&at, all.data + i, sizeof(at));
			each(ctx, &at);
		}
	}
	buf_release(&all);
}

void wall_give_back(struct wall *w, uint32_t slot)
{
	if (w->switches)
		switches_give_back(w, slot);
	else
		bpf_map_update_elem(w->free_fd, NULL, &slot, BPF_ANY);
}

void wall_maps(const struct wall *w, struct wall_maps *m)
{
	*m = (struct wall_maps){
		.slots_fd = w->slots_fd, .stamps_fd = w->stamps_fd, .marks_fd = w->marks_fd,
		.wakes_fd = w->wakes ? w->wakes_fd : -1, .anchors_fd = w->wakes ? w->anchors_fd : -1,
		.nr_slots = w->nr_slots,
	};
}

int wall_filter(const struct wall *w)
{
	return w->programs.obj ? bpf_programs_fd(&w->programs, "is_recorded") : 0;
}

int wall_trapped(const struct wall *w)
{
	int fd = w->programs.obj ? bpf_programs_map(&w->programs, "trapped") : 0;

	return MAX(fd, 0);
}

int wall_trap(struct wall *w, int pid)
{
	int process = syscall(SYS_pidfd_open, pid, 0), r;
	const uint8_t yes = 1;

	if (process < 0)
		return -errno;
	r = bpf_map_update_elem(bpf_programs_map(&w->programs, "wall_agents"), &process, &yes,
				BPF_ANY);
	close(process);
	return r;
}

static uint64_t past(uint64_t now_ns, uint64_t then_ns)
{
	return now_ns > then_ns ? now_ns - then_ns : 0;
}

const struct wall_done *wall_done_of(const struct wall_slot *s, uint32_t block_nr)
{
	size_t i;

	for (i = 0; i < WALL_NR_DONE; i++)
		if (s->done[i].nr == block_nr)
			return &s->done[i];
	return NULL;
}

bool wall_cpu_at(const struct wall_slot *s, uint64_t time_ns, uint64_t *cpu_ns)
{
	enum { NEAR_NS = 50000 };	/* the BPF program runs when the kernel takes the sample */
	size_t i;

	for (i = 0; i < WALL_NR_TICKS; i++) {
		uint64_t tick_ns = s->ticks[i].time_ns;

		if (MAX(tick_ns, time_ns) - MIN(tick_ns, time_ns) < NEAR_NS && tick_ns >= s->born_ns) {
			*cpu_ns = s->ticks[i].cpu_ns;
			return true;
		}
	}
	return false;
}

uint64_t wall_moment(const struct wall_slot *s, uint64_t now_ns)
{
	uint64_t changed = s->since_ns;

	if (s->state == WALL_RUNNABLE && s->block_nr & 1)
		changed = s->woken_ns;
	return s->state == WALL_GONE ? changed : MAX(changed, now_ns);
}

unsigned int wall_place(const struct wall_slot *s, uint32_t class, uint32_t site)
{
	unsigned int i = (site & 15) - 1;

	if (i < WALL_NR_SITES && wall_site_id(i, s->sites[i].nr) == site)
		return WALL_NR_CLASSES + i;
	return MIN(class, (uint32_t)WALL_NR_CLASSES - 1);
}

void wall_times_over(const struct wall_slot *s, struct wall_times *t)
{
	size_t i;

	t->cpu_ns = s->cpu_ns;
	t->preempted_ns = s->preempted_ns;
	memcpy(t->blocked_ns, s->blocked_ns, sizeof(s->blocked_ns));
	memcpy(t->queued_ns, s->queued_ns, sizeof(s->queued_ns));
	for (i = 0; i < WALL_NR_SITES; i++) {
		t->blocked_ns[WALL_NR_CLASSES + i] = s->sites[i].blocked_ns;
		t->queued_ns[WALL_NR_CLASSES + i] = s->sites[i].queued_ns;
	}
}

void wall_times_move(struct wall_times *t, unsigned int to, unsigned int from)
{
	t->blocked_ns[to] += t->blocked_ns[from];
	t->queued_ns[to] += t->queued_ns[from];
	t->blocked_ns[from] = t->queued_ns[from] = 0;
}

void wall_times_at(const struct wall_slot *s, uint64_t now_ns, struct wall_times *t)
{
	unsigned int place = wall_place(s, s->class, s->site);

	wall_times_over(s, t);
	switch (s->state) {
	case WALL_ON_CPU:
		t->cpu_ns += past(now_ns, s->since_ns);
		break;
	case WALL_BLOCKED:
		t->blocked_ns[place] += past(now_ns, s->since_ns);
		break;
	case WALL_RUNNABLE:
		if (s->block_nr & 1) {
			t->blocked_ns[place] += past(s->woken_ns, s->since_ns);
			t->queued_ns[place] += past(now_ns, s->woken_ns);
		} else {
			t->preempted_ns += past(now_ns, s->since_ns);
		}
		break;
	case WALL_PREEMPTED:
		t->preempted_ns += past(now_ns, s->since_ns);
		break;
	}
}

/* Return the total of the wait for a CPU that goes on, and since when; NULL: there is none. */
static uint64_t *waiting(const struct wall_slot *s, struct wall_times *t, uint64_t *since_ns)
{
	bool woken = s->state == WALL_RUNNABLE && s->block_nr & 1;

	*since_ns = woken ? s->woken_ns : s->since_ns;
	if (s->state != WALL_RUNNABLE && s->state != WALL_PREEMPTED)
		return NULL;
	return woken ? &t->queued_ns[wall_place(s, s->class, s->site)] : &t->preempted_ns;
}

void wall_times_charged(const struct wall_slot *s, uint64_t now_ns, struct wall_times *t)
{
	enum { TICK_NS = 10000000 };	/* what runs is charged that late */
	uint64_t since_ns, exec_ns, ran;
	uint64_t *wait = waiting(s, t, &since_ns);
	char path[64];
	FILE *f;

	if (!wait || past(now_ns, since_ns) < TICK_NS)
		return;
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/schedstat", s->pid, s->tid);
	f = fopen(path, "re");
	if (!f)
		return;
	if (fscanf(f, "%" SCNu64, &exec_ns) == 1) {
		ran = MIN(past(exec_ns, s->exec_ns), past(now_ns, since_ns));
		*wait -= ran;
		t->cpu_ns += ran;
	}
	fclose(f);
}

/* *ns at least told_ns; what that adds is added to *debt_ns. */
static void raise_to(uint64_t *ns, uint64_t told_ns, uint64_t *debt_ns)
{
	*debt_ns += past(told_ns, *ns);
	*ns = MAX(*ns, told_ns);
}

static void pay(uint64_t *ns, uint64_t told_ns, uint64_t *debt_ns)
{
	uint64_t paid = MIN(*ns - told_ns, *debt_ns);

	*ns -= paid;
	*debt_ns -= paid;
}

void wall_times_level(struct wall_times *t, const struct wall_times *told)
{
	uint64_t debt = 0;
	size_t i;

	raise_to(&t->cpu_ns, told->cpu_ns, &debt);
	raise_to(&t->preempted_ns, told->preempted_ns, &debt);
	for (i = 0; i < WALL_NR_PLACES; i++) {
		raise_to(&t->blocked_ns[i], told->blocked_ns[i], &debt);
		raise_to(&t->queued_ns[i], told->queued_ns[i], &debt);
	}
	pay(&t->cpu_ns, told->cpu_ns, &debt);
	pay(&t->preempted_ns, told->preempted_ns, &debt);
	for (i = 0; i < WALL_NR_PLACES; i++)
		pay(&t->queued_ns[i], told->queued_ns[i], &debt);
	for (i = 0; i < WALL_NR_PLACES; i++)
		pay(&t->blocked_ns[i], told->blocked_ns[i], &debt);
}
