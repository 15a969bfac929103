// SPDX-License-Identifier: GPL-2.0-or-later
/* evset.c - opens and replaces the perf events of a recording (evset.h). */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/chance.h"
#include "base/clock.h"
#include "base/mem.h"
#include "collect/engine/evset.h"
#include "pmu/bpf.h"
#include "pmu/probe.h"

enum { MIN_RING_BYTES = 64 * 1024, MIN_STACK_BYTES = 1024, SAMPLE_HEAD_BYTES = 1024 };

/* Every event samples these in every record, so that merge.c finds the time. */
#define SAMPLE_ID_TYPE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

static int perf_open_on(struct perf_event_attr *attr, const struct ev_target *on, int cpu)
{
	return syscall(SYS_perf_event_open, attr, on->id, cpu, -1,
		       PERF_FLAG_FD_CLOEXEC | (on->cgroup ? PERF_FLAG_PID_CGROUP : 0));
}

static int perf_open(struct perf_event_attr *attr, int tid, int cpu)
{
	return perf_open_on(attr, &(struct ev_target){ .id = tid }, cpu);
}

void evset_common_attr(struct perf_event_attr *a)
{
	a->size = sizeof(*a);
	a->sample_id_all = 1;
	a->sample_type |= SAMPLE_ID_TYPE;
	a->use_clockid = 1;
	a->clockid = CLOCK_MONOTONIC;
}

void evset_dummy_attr(struct perf_event_attr *a, bool exclude_kernel, size_t ring_bytes)
{
	memset(a, 0, sizeof(*a));
	a->type = PERF_TYPE_SOFTWARE;
	a->config = PERF_COUNT_SW_DUMMY;
	a->exclude_kernel = exclude_kernel;
	a->exclude_hv = exclude_kernel;
	a->inherit = 1;
	a->watermark = 1;
	a->wakeup_watermark = ring_bytes / 4;
	evset_common_attr(a);
}

static void side_attr(struct perf_event_attr *a, bool exclude_kernel, size_t ring_bytes)
{
	evset_dummy_attr(a, exclude_kernel, ring_bytes);
	a->mmap = a->mmap2 = 1;
	a->comm = a->comm_exec = 1;
	a->task = 1;
}

static int open_ring(struct ring *ring, uint32_t cpu, int target, struct perf_event_attr *a, size_t bytes,
		     struct err *e)
{
	int fd = perf_open(a, target, cpu), r;

	if (fd < 0)
		return perf_open_err(e, errno, a, target, cpu);
	r = ring_open(ring, fd, cpu, bytes);
	if (!r)
		return 0;
	close(fd);
	return perf_mmap_err(e, -r, bytes);
}

/* Open the rings, each owned by a dummy event; the sample events are redirected to them. */
static int open_rings(struct evsets *s, int target, struct err *e)
{
	size_t ring_bytes = s->conf.ring_bytes, side_bytes = MIN(ring_bytes, (size_t)512 * 1024), i;
	struct perf_event_attr a;
	int r = 0;

	if (target)
		side_attr(&a, s->conf.exclude_kernel, side_bytes);
	else
		evset_dummy_attr(&a, s->conf.exclude_kernel, side_bytes);
	for (i = 0; i < s->nr_cpus && !r; i++)
		r = open_ring(&s->side_rings[i], s->cpus[i], target, &a, side_bytes, e);
	evset_dummy_attr(&a, s->conf.exclude_kernel, ring_bytes);
	for (i = 0; i < s->nr_sampled && !r; i++)
		r = open_ring(&s->sample_rings[i], s->sampled[i], target, &a, ring_bytes, e);
	if (s->nr_sched)
		evset_dummy_attr(&a, s->conf.exclude_kernel, s->conf.sched_ring_bytes);
	a.context_switch = s->nr_sched && s->conf.switch_records && target;
	a.disabled = a.enable_on_exec = target > 0 && !s->conf.switches_at_once;
	for (i = 0; i < s->nr_sched && !r; i++)
		r = open_ring(&s->sched_rings[i], s->cpus[i], target, &a, s->conf.sched_ring_bytes, e);
	return r;
}

static void close_rings(struct evsets *s)
{
	size_t i;

	for (i = 0; i < s->nr_rings; i++)
		ring_close(&s->rings[i]);
}

/*
 * Open rings of the same size on every CPU. The size is halved until what this user may lock suffices for
 * all, and the stack copies with it, so that a ring holds at least some samples.
 */
static int open_all_rings(struct evsets *s, int target, struct err *e)
{
	struct evconf *conf = &s->conf;
	size_t room;
	int r;

	for (;;) {
		r = open_rings(s, target, e);
		if (!r || (r != -EPERM && r != -ENOMEM) || conf->ring_bytes <= MIN_RING_BYTES)
			break;
		close_rings(s);
		conf->ring_bytes /= 2;
		conf->sched_ring_bytes = MIN(conf->sched_ring_bytes, conf->ring_bytes);
	}
	room = conf->ring_bytes / conf->ring_samples;
	room = room > SAMPLE_HEAD_BYTES + MIN_STACK_BYTES ? room - SAMPLE_HEAD_BYTES : MIN_STACK_BYTES;
	conf->stack_bytes = MIN(conf->stack_bytes, (uint32_t)room & ~7u);
	return r;
}

/* Return whether kernel samples are allowed, by a real event, as they need more rights than user ones. */
static bool kernel_allowed(const struct evsets *s, int target)
{
	struct perf_event_attr a;
	int fd;

	if (s->conf.nr_events)
		a = s->conf.events[0].attr;
	else
		evset_dummy_attr(&a, false, 0);
	a.disabled = 1;
	fd = perf_open(&a, target, s->nr_sampled ? s->sampled[0] : s->cpus[0]);
	if (fd >= 0)
		close(fd);
	return fd >= 0 || (errno != EACCES && errno != EPERM);
}

static bool kernel_tells_lost(void)
{
	struct perf_event_attr a;
	int fd;

	evset_dummy_attr(&a, true, 0);
	a.inherit = 0;
	a.read_format = PERF_FORMAT_LOST;
	fd = perf_open(&a, 0, -1);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static uint32_t *copy_cpus(const struct cpus *l)
{
	uint32_t *cpus = xcalloc(l->nr_cpu, sizeof(*cpus));

	return memcpy(cpus, l->cpu, l->nr_cpu * sizeof(*cpus));
}

/* Sample user code only, without the right to sample the kernel, unless nothing would be left then. */
static int kernel_or_user(struct evsets *s, int target, struct err *e)
{
	struct perf_event_attr a;

	if (s->conf.exclude_kernel || kernel_allowed(s, target))
		return 0;
	s->conf.exclude_kernel = true;
	if (!s->conf.exclude_user)
		return 0;
	a = s->conf.events[0].attr;
	a.exclude_kernel = 0;
	return perf_open_err(e, EACCES, &a, MAX(target, 0), -1);
}

int evsets_open(struct evsets *s, const struct evconf *conf, const struct cpus *all,
		const struct cpus *sampled, int target, struct err *e)
{
	size_t i;
	int r;

	memset(s, 0, sizeof(*s));
	s->conf = *conf;
	s->nr_cpus = all->nr_cpu;
	s->cpus = copy_cpus(all);
	s->nr_sampled = sampled->nr_cpu;
	s->sampled = copy_cpus(sampled);
	s->counts = xcalloc(conf->nr_events, sizeof(*s->counts));
	s->off = xcalloc(conf->nr_events, sizeof(*s->off));
	s->periods = xcalloc(conf->nr_events * s->nr_sampled, sizeof(*s->periods));
	s->nr_sched = conf->sched_ring_bytes ? all->nr_cpu : 0;
	s->nr_rings = s->nr_cpus + s->nr_sampled + s->nr_sched;
	s->rings = xcalloc(s->nr_rings, sizeof(*s->rings));
	s->side_rings = s->rings;
	s->sample_rings = s->rings + s->nr_cpus;
	s->sched_rings = s->sample_rings + s->nr_sampled;
	for (i = 0; i < s->nr_rings; i++)
		s->rings[i].fd = -1;
	s->random = clock_mono_ns() | 1;
	s->tells_lost = kernel_tells_lost();
	r = kernel_or_user(s, target, e);
	if (!r)
		r = open_all_rings(s, target, e);
	if (r)
		evsets_close(s);
	return r;
}

void evsets_init_empty(struct evsets *s, const struct evconf *conf)
{
	memset(s, 0, sizeof(*s));
	s->conf = *conf;
	s->counts = xcalloc(conf->nr_events, sizeof(*s->counts));
	s->off = xcalloc(conf->nr_events, sizeof(*s->off));
}

static void close_fds(struct evset *set)
{
	size_t i;

	for (i = 0; i < set->nr_fds; i++)
		close(set->fds[i]);
	free(set->fds);
	set->fds = NULL;
	set->nr_fds = set->alloc_fds = 0;
}

void evsets_close(struct evsets *s)
{
	size_t i;

	for (i = 0; i < s->nr_sets; i++)
		evset_close(s, i + 1);
	close_fds(&s->side);
	free(s->counts);
	free(s->off);
	if (s->rings)
		close_rings(s);
	free(s->rings);
	free(s->cpus);
	free(s->sampled);
	free(s->periods);
	free(s->sets);
	free(s->sources);
	map_release(&s->by_id);
	memset(s, 0, sizeof(*s));
}

static int redirect(int fd, const struct ring *to)
{
	return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, to->fd) < 0 ? -errno : 0;
}

/* Add a task or control group: an event on each CPU, which writes into that CPU's ring. */
static int evsets_put_in_rings(struct evsets *s, struct ring *rings, const struct perf_event_attr *attr,
			       const struct ev_target *on, struct err *e)
{
	struct evset *set = &s->side;
	struct perf_event_attr a = *attr;
	size_t i;

	for (i = 0; i < s->nr_cpus; i++) {
		int fd = perf_open_on(&a, on, s->cpus[i]);

		if (fd < 0)
			return errno == ESRCH ? 0 : perf_open_err(e, errno, &a, on->id, s->cpus[i]);
		if (redirect(fd, &rings[i])) {
			close(fd);
			return err_errno(e, "perf events cannot share a buffer (ioctl)");
		}
		*VEC_ADD(set->fds, set->nr_fds, set->alloc_fds) = fd;
	}
	return 0;
}

int evsets_watch(struct evsets *s, struct ev_target on, struct err *e)
{
	struct perf_event_attr a;

	side_attr(&a, s->conf.exclude_kernel, s->side_rings[0].mask + 1);
	return evsets_put_in_rings(s, s->side_rings, &a, &on, e);
}

int evsets_watch_switches(struct evsets *s, int tid, struct err *e)
{
	struct perf_event_attr a;

	evset_dummy_attr(&a, s->conf.exclude_kernel, s->sched_rings[0].mask + 1);
	a.context_switch = 1;
	return evsets_put_in_rings(s, s->sched_rings, &a, &(struct ev_target){ .id = tid }, e);
}

uint32_t evset_new(struct evsets *s, enum evset_kind kind)
{
	size_t i;

	for (i = 0; i < s->nr_sets; i++)
		if (s->sets[i].free) {
			s->sets[i] = (struct evset){ .kind = kind };
			return i + 1;
		}
	*VEC_ADD(s->sets, s->nr_sets, s->alloc_sets) = (struct evset){ .kind = kind };
	return s->nr_sets;
}

/*
 * Return whether samples of the event have their period. Software events that are counted one by one are
 * then sampled each time, whatever the period: the kernel takes it to mean a period of one
 * (perf_swevent_event()).
 */
static bool says_period(const struct pmu_event *ev, const struct ev_rate *rate)
{
	uint32_t type = ev->attr.type;

	return ev->clock || rate->period <= 1 ||
	       (type != PERF_TYPE_SOFTWARE && type != PERF_TYPE_TRACEPOINT && type != PERF_TYPE_BREAKPOINT);
}

static void sample_attr(const struct evsets *s, size_t ev, enum evset_kind kind, bool start_on_exec,
			bool system_wide, struct perf_event_attr *a)
{
	const struct ev_rate *rate = &s->conf.rates[ev];

	*a = s->conf.events[ev].attr;
	evset_common_attr(a);
	a->sample_type |= PERF_SAMPLE_IP | (says_period(&s->conf.events[ev], rate) ? PERF_SAMPLE_PERIOD : 0);
	if (ev < 64 && s->conf.with_data_addr >> ev & 1)
		a->sample_type |= PERF_SAMPLE_ADDR;
	a->read_format = s->tells_lost ? PERF_FORMAT_LOST : 0;
	if (rate->freq_hz) {
		a->freq = 1;
		a->sample_freq = rate->freq_hz;
	} else {
		a->sample_period = rate->period;
	}
	a->exclude_kernel |= s->conf.exclude_kernel;
	a->exclude_user |= s->conf.exclude_user;
	a->exclude_hv = a->exclude_kernel;
	a->disabled = 1;
	a->enable_on_exec = (start_on_exec && !s->off[ev]) || kind == EVSET_LATENT;
	a->inherit = !system_wide;
	if (s->conf.callgraph != CALLGRAPH_NO) {
		a->sample_type |= PERF_SAMPLE_CALLCHAIN;
		a->exclude_callchain_user = kind == EVSET_TRAP || s->conf.callgraph == CALLGRAPH_DWARF;
		a->exclude_callchain_kernel = a->exclude_kernel;
	}
	if (s->conf.callgraph == CALLGRAPH_DWARF && kind != EVSET_TRAP && !s->conf.exclude_user) {
		a->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		a->sample_regs_user = arch_perf_regs_mask;
		a->sample_stack_user = s->conf.stack_bytes;
	}
	if (kind == EVSET_TRAP && !system_wide) {
		a->sigtrap = 1;
		a->inherit_thread = 1;
		a->remove_on_exec = 1;
	}
}

/*
 * Set the attributes of an event into which the clock's BPF program writes (struct trapped_sample), so that
 * no timer of its own interrupts a CPU.
 */
static void trapped_attr(struct perf_event_attr *a)
{
	a->type = PERF_TYPE_SOFTWARE;
	a->config = PERF_COUNT_SW_BPF_OUTPUT;
	a->config1 = a->config2 = 0;
	a->freq = 0;
	a->sample_period = 0;
	a->sample_type |= PERF_SAMPLE_RAW;
	a->disabled = 0;
}

/* Return whether the set has the samples that the clocks' program writes. */
static bool is_trapped(const struct evsets *s, const struct evset *set)
{
	return s->conf.trapped_fd && set->kind == EVSET_TRAP && !set->proc;
}

static int evsets_remember(struct evsets *s, uint32_t number, int fd, const struct perf_event_attr *a,
			   size_t event, size_t cpu)
{
	struct evset *set = &s->sets[number - 1];
	uint64_t id;

	*VEC_ADD(set->fds, set->nr_fds, set->alloc_fds) = fd;
	if (redirect(fd, &s->sample_rings[cpu]) || ioctl(fd, PERF_EVENT_IOC_ID, &id) < 0)
		return -errno;
	VEC_GROW(s->sources, s->nr_sources, s->alloc_sources);
	*map_put(&s->by_id, id) = s->nr_sources;
	s->sources[s->nr_sources++] = (struct ev_source){
		.id = id, .evset = number, .event = event, .trap = set->kind == EVSET_TRAP,
		.period = a->sample_type & PERF_SAMPLE_PERIOD ? 0 : a->sample_period,
		.varies = s->conf.odd_periods && s->conf.events[event].clock &&
			(set->filtered || is_trapped(s, set)),
		.format = { a->sample_type, a->read_format, a->branch_sample_type, a->sample_regs_user },
	};
	return 0;
}

/* Return the BPF program that filters the samples; 0: none. */
static int filter_of(const struct evsets *s, enum evset_kind kind, const struct ev_target *on)
{
	return on->id == -1 && kind != EVSET_TRAP ? s->conf.filter_fd : 0;
}

/*
 * Vary the clock's period. With a period of one millisecond, it would see what a program does every
 * millisecond, or every ten, always or never. With these factors, in millionths, a thousand samples fall
 * evenly on all phases, at most 0.6 % off. That holds for 21 usual periods of programs from 0.5 to 100 ms,
 * and six of the clock from 0.25 to 10 ms. A program that repeats itself may have any period, and be in step
 * with one of these, so the clock takes another one at random from time to time.
 */
static uint64_t odd_period(struct evsets *s, uint64_t period)
{
	static const uint32_t parts[] = {
		900300, 915400, 920600, 931550, 944850, 951400, 966900, 973850,
		983900, 1019100, 1025100, 1033100, 1047900, 1050150, 1065050, 1077800,
	};

	return period * parts[chance_next(&s->random) % ARRAY_SIZE(parts)] / 1000000;
}

static uint64_t asked_period(const struct evsets *s, size_t ev)
{
	const struct ev_rate *rate = &s->conf.rates[ev];

	return rate->freq_hz ? 1000000000 / rate->freq_hz : rate->period;
}

/* 0: the event keeps what was asked for: nothing that counts work is in step with time. */
static uint64_t filtered_period(struct evsets *s, size_t ev)
{
	uint64_t period = asked_period(s, ev);

	if (!s->conf.events[ev].clock)
		return 0;
	return !period ? 0 : s->conf.odd_periods ? odd_period(s, period) : chance_around(&s->random, period);
}

/*
 * Open an event. The kernel may have lowered its limit since the rate was chosen, when samples took too long.
 */
static int open_sampled(struct perf_event_attr *a, const struct ev_target *on, int cpu)
{
	int fd = perf_open_on(a, on, cpu);
	struct perf_limits l;

	if (fd >= 0 || errno != EINVAL || !a->freq)
		return fd;
	perf_limits_read(&l);
	errno = EINVAL;
	if (l.max_rate <= 0 || a->sample_freq <= (uint64_t)l.max_rate)
		return fd;
	a->sample_freq = l.max_rate;
	return perf_open_on(a, on, cpu);
}

static int evsets_open_event(struct evsets *s, uint32_t number, size_t ev, const struct ev_target *on,
			     bool start_on_exec, struct err *e)
{
	enum evset_kind kind = s->sets[number - 1].kind;
	const bool trapped = kind == EVSET_TRAP && on->id == -1;
	int fd, filter = filter_of(s, kind, on);
	struct perf_event_attr a;
	size_t cpu;

	s->sets[number - 1].filtered |= filter != 0;
	sample_attr(s, ev, kind, start_on_exec, on->id == -1 || on->cgroup, &a);
	a.exclude_idle = filter && s->conf.side_of_all && s->conf.events[ev].clock;
	a.sig_data = kind == EVSET_TRAP ? ev : 0;
	if (trapped)
		trapped_attr(&a);
	for (cpu = 0; cpu < s->nr_sampled; cpu++) {
		struct ev_period *p = &s->periods[ev * s->nr_sampled + cpu];

		if (filter && !p->now)
			p->now = p->before = filtered_period(s, ev);
		if (filter && p->now) {
			a.freq = 0;
			a.sample_period = p->now;
		}
		fd = open_sampled(&a, on, s->sampled[cpu]);
		if (fd < 0 && errno == ESRCH)
			return -ESRCH;
		if (fd < 0) {
			perf_open_err(e, errno, &a, on->id, s->sampled[cpu]);
			return err_wrap(e, "event '%s'", s->conf.events[ev].name);
		}
		if (evsets_remember(s, number, fd, &a, ev, cpu))
			return err_errno(e, "perf events cannot share a buffer (ioctl)");
		if (filter && ioctl(fd, PERF_EVENT_IOC_SET_BPF, filter) < 0)
			return err_errno(e, "cannot filter samples");
		if (trapped && bpf_map_set_event(s->conf.trapped_fd, s->sampled[cpu], fd))
			return err_errno(e, "cannot have samples of JVMs written");
	}
	return 0;
}

int evset_add_on(struct evsets *s, uint32_t number, struct ev_target on, bool start_on_exec, struct err *e)
{
	struct evset *set = &s->sets[number - 1];
	size_t before = set->nr_fds, ev;
	int r = 0;

	for (ev = 0; ev < s->conf.nr_events && !r; ev++)
		r = evsets_open_event(s, number, ev, &on, start_on_exec, e);
	while (r && set->nr_fds > before)	/* all or nothing, or evset_close() would miscount */
		close(set->fds[--set->nr_fds]);
	return r;
}

int evset_add(struct evsets *s, uint32_t number, int tid, bool start_on_exec, struct err *e)
{
	return evset_add_on(s, number, (struct ev_target){ .id = tid }, start_on_exec, e);
}

/* evset_add() opened the events task by task, event by event, CPU by CPU. */
static size_t evset_event(const struct evsets *s, size_t i)
{
	return i / s->nr_sampled % s->conf.nr_events;
}

void evset_enable(struct evsets *s, uint32_t number, bool on)
{
	struct evset *set = &s->sets[number - 1];
	size_t i;

	for (i = 0; i < set->nr_fds; i++) {
		bool off = !on || s->off[evset_event(s, i)];

		ioctl(set->fds[i], off ? PERF_EVENT_IOC_DISABLE : PERF_EVENT_IOC_ENABLE, 0);
	}
}

uint64_t evsets_longest_period(const struct evsets *s)
{
	uint64_t longest = 0;
	size_t i;

	for (i = 0; i < s->conf.nr_events; i++)
		if (s->conf.events[i].clock)
			longest = MAX(longest, asked_period(s, i));
	return longest;
}

void evsets_vary_periods(struct evsets *s)
{
	const uint32_t turns = s->conf.odd_periods ? 1 : 8;
	const size_t nr = s->conf.nr_events * s->nr_sampled;
	size_t set, i;

	if (!s->conf.filter_fd || !nr)
		return;
	s->turn = (s->turn + 1) % turns;
	for (i = s->turn; i < nr; i += turns) {
		s->periods[i].before = s->periods[i].now;
		s->periods[i].now = filtered_period(s, evset_event(s, i));
	}
	for (set = 0; set < s->nr_sets; set++)
		for (i = 0; i < s->sets[set].nr_fds && s->sets[set].filtered; i++) {
			struct ev_period *p = &s->periods[i % nr];

			if (i % nr % turns != s->turn || !p->now)
				continue;
			ioctl(s->sets[set].fds[i], PERF_EVENT_IOC_PERIOD, &p->now);
			p->since_ns = clock_mono_ns();
		}
}

void evsets_renew_periods(struct evsets *s, size_t event)
{
	size_t i;

	for (i = event * s->nr_sampled; s->periods && i < (event + 1) * s->nr_sampled; i++) {
		struct ev_period *p = &s->periods[i];

		if (!p->now)
			continue;
		p->before = p->now;
		p->now = filtered_period(s, event);
		p->since_ns = clock_mono_ns();
	}
}

uint64_t evsets_clock_period(const struct evsets *s, uint16_t event, uint32_t cpu, uint64_t time_ns)
{
	const struct ev_period *p;
	size_t i = cpu;

	if (i >= s->nr_sampled || s->sampled[i] != cpu)
		for (i = 0; i < s->nr_sampled && s->sampled[i] != cpu; i++)
			;
	if (i == s->nr_sampled)
		return 0;
	p = &s->periods[event * s->nr_sampled + i];
	return time_ns < p->since_ns ? p->before : p->now;
}

/* Return whether the set counts what is recorded, and no other set counts. */
static bool is_counted(const struct evsets *s, const struct evset *set)
{
	return !s->conf.filter_fd && !(s->conf.main_has_all && set->kind == EVSET_TRAP);
}

/* Add the weights of the set's samples that were read. */
static void add_told(const struct evsets *s, uint32_t number, uint64_t *counts)
{
	size_t i;

	for (i = 0; i < s->nr_sources; i++)
		if (s->sources[i].evset == number)
			counts[s->sources[i].event] += s->sources[i].told;
}

void evset_close(struct evsets *s, uint32_t number)
{
	struct evset *set = &s->sets[number - 1];
	uint64_t v[2] = { 0 };		/* what was counted, what was lost */
	size_t i;

	for (i = 0; i < set->nr_fds; i++) {
		if (read(set->fds[i], v, sizeof(v)) < (ssize_t)sizeof(v[0]))
			continue;
		if (is_counted(s, set))
			s->counts[evset_event(s, i)] += v[0];
		s->nr_lost += v[1];
	}
	if (s->conf.filter_fd)
		add_told(s, number, s->counts);
	close_fds(set);
	set->closed = true;
}

/* Sets of other kinds stay, as threads know them by their numbers. */
void evsets_forget_closed(struct evsets *s)
{
	size_t i, nr = 0;

	for (i = 0; i < s->nr_sources; i++)
		if (!s->sets[s->sources[i].evset - 1].closed)
			s->sources[nr++] = s->sources[i];
	for (i = 0; i < s->nr_sets; i++)
		s->sets[i].free = s->sets[i].closed && s->sets[i].kind == EVSET_TRAP;
	if (nr == s->nr_sources)
		return;
	s->nr_sources = nr;
	map_release(&s->by_id);
	for (i = 0; i < nr; i++)
		*map_put(&s->by_id, s->sources[i].id) = i;
}

bool evset_told(const struct evsets *s, uint32_t number, size_t ev, uint64_t *count, uint64_t *told)
{
	const struct evset *set = &s->sets[number - 1];
	size_t i;

	*count = *told = 0;
	for (i = 0; i < s->nr_sources; i++)
		if (s->sources[i].evset == number && s->sources[i].event == ev)
			*told += s->sources[i].told;
	if (s->conf.filter_fd)		/* it counts for others, too */
		return false;
	for (i = 0; i < set->nr_fds; i++) {
		uint64_t v[2] = { 0 };

		if (evset_event(s, i) != ev)
			continue;
		if (read(set->fds[i], v, sizeof(v)) < (ssize_t)sizeof(v[0]) || v[1])
			return false;
		*count += v[0];
	}
	return s->tells_lost;
}

uint64_t evset_counted(const struct evsets *s, uint32_t number, size_t target, size_t ev)
{
	const struct evset *set = &s->sets[number - 1];
	size_t first = (target * s->conf.nr_events + ev) * s->nr_sampled, i;
	uint64_t v[2], count = 0;

	for (i = first; i < MIN(first + s->nr_sampled, set->nr_fds); i++)
		if (read(set->fds[i], v, sizeof(v)) >= (ssize_t)sizeof(v[0]))
			count += v[0];
	return count;
}

void evsets_counts(const struct evsets *s, uint64_t *counts)
{
	uint64_t v[2];
	size_t i, k;

	if (s->conf.nr_events)
		memcpy(counts, s->counts, s->conf.nr_events * sizeof(*counts));
	for (k = 0; k < s->nr_sets; k++) {
		const struct evset *set = &s->sets[k];

		if (s->conf.filter_fd && !set->closed)
			add_told(s, k + 1, counts);
		for (i = 0; is_counted(s, set) && !set->closed && i < set->nr_fds; i++)
			if (read(set->fds[i], v, sizeof(v)) >= (ssize_t)sizeof(v[0]))
				counts[evset_event(s, i)] += v[0];
	}
}
