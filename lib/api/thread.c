// SPDX-License-Identifier: MIT
/*
 * thread.c - the functions of arcprof.h.  Each back end gives a thread its time; the slots of a
 * session give the rest.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "api/anchor.h"
#include "api/arcprof.h"
#include "api/area.h"
#include "api/perf.h"
#include "api/ticks.h"
#include "base/atomic.h"

enum backend { NONE, BPF, MODULE, PERF, CLOCK };

static const char *const names[] = { "none", "bpf", "module", "perf", "clock" };

static struct {				/* one per process, as the session is one per machine */
	enum backend backend;
	struct arcprof_area area;
} self = { .area = { .fd = -1 } };

struct arcprof_thread {
	const struct arcprof_slot *slot;
	const struct arcprof_ptt_header *header;
	bool in_ns;			/* there is a slot, and its ticks are ns of CLOCK_MONOTONIC */
	uint32_t clock, idx;
	uint64_t floor_ns;		/* what was answered last */
	struct arcprof_anchor anchor;	/* of the slot's time */
	struct arcprof_perf perf;
};

/* ---- the process ---- */

static int try_backend(enum backend b)
{
	if (b == BPF || b == MODULE)
		return arcprof_area_open(&self.area, b == BPF ? ARCPROF_BPF : ARCPROF_MODULE);
	return b == PERF ? arcprof_perf_works() : 0;
}

/* Return whether the session measures the caller: one of other processes does not. */
static bool serves_caller(void)
{
	if (!self.area.header || arcprof_area_own_slot(&self.area, syscall(SYS_gettid)))
		return true;
	arcprof_area_close(&self.area);
	return false;
}

int arcprof_init(const char *backend)
{
	bool known = false;
	enum backend b;

	if (self.backend != NONE)
		return -EBUSY;
	arcprof_anchor_init();
	for (b = BPF; b <= CLOCK; b++) {
		if (backend && strcmp(backend, names[b]))
			continue;
		known = true;
		if (!try_backend(b) && (backend || serves_caller())) {
			self.backend = b;
			return 0;
		}
	}
	return known ? -ENODEV : -EINVAL;
}

void arcprof_term(void)
{
	arcprof_area_close(&self.area);
	self.backend = NONE;
}

const char *arcprof_backend(void)
{
	return names[self.backend];
}

int arcprof_counter(unsigned int i, uint32_t *type, uint64_t *config)
{
	const struct arcprof_ptt_header *h = self.area.header;

	if (!h || i >= ARCPROF_NR_COUNTERS || i + 1 >= h->nr_metrics)
		return -ENOENT;
	*type = h->metric[i + 1].type;
	*config = h->metric[i + 1].config;
	return 0;
}

/* ---- a thread ---- */

static int open_slot(struct arcprof_thread *t)
{
	t->idx = arcprof_area_own_slot(&self.area, syscall(SYS_gettid));
	if (!t->idx)
		return -ESRCH;
	t->slot = &self.area.slots[t->idx];
	t->header = self.area.header;
	t->clock = t->header->clock;
	t->in_ns = t->clock == ARCPROF_CLOCK_MONOTONIC;
	return 0;
}

struct arcprof_thread *arcprof_thread_open(void)
{
	struct arcprof_thread *t = calloc(1, sizeof(*t));
	int r = -EINVAL;

	if (!t)
		return NULL;
	arcprof_perf_init(&t->perf);
	if (self.backend == BPF || self.backend == MODULE)
		r = open_slot(t);
	else if (self.backend == PERF)
		r = arcprof_perf_open(&t->perf);
	else if (self.backend == CLOCK)
		r = 0;
	if (!r)
		return t;
	free(t);
	errno = -r;
	return NULL;
}

void arcprof_thread_close(struct arcprof_thread *t)
{
	if (!t)
		return;
	arcprof_perf_close(&t->perf);
	free(t);
}

static uint64_t thread_clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/*
 * Set an anchor from the thread's slot and the machine's clock, as arcprof_own_ticks() reads it; until the
 * next switch or interrupt the CPU's counter continues it.
 */
static __attribute__((noinline)) uint64_t anchor_slot(struct arcprof_thread *t)
{
	const volatile struct arcprof_slot *s = t->slot;
	struct arcprof_moment now;
	uint64_t acc, last, ns;
	uint32_t seq, flags;

	do {
		seq = s->seq;
		acc = s->acc[0];
		last = s->last[0];
		flags = s->flags;
		now = arcprof_moment_now();
	} while (seq != s->seq);
	ns = acc;
	if (flags & ARCPROF_SLOT_RUNNING && now.mono_ns > last)
		ns += now.mono_ns - last;
	arcprof_anchor_set(&t->anchor, seq, ns, &now);
	/* A switch that the kernel hid: it is unknown since when the thread has been running. */
	if (!(flags & ARCPROF_SLOT_RUNNING))
		t->anchor.mult = t->anchor.refine = 0;
	return ns;
}

/* Handle all but the common case: another clock, no session, or one that has ended. */
static __attribute__((noinline)) uint64_t time_otherwise(struct arcprof_thread *t)
{
	if (t->slot && arcprof_area_live(&self.area))
		return arcprof_ticks_ns(self.area.header, arcprof_own_ticks(t->slot, t->clock));
	if (t->slot)
		return arcprof_ticks_ns(self.area.header, t->slot->acc[0]);
	return self.backend == PERF ? arcprof_perf_ns(&t->perf) : thread_clock_ns();
}

uint64_t arcprof_thread_time_ns(struct arcprof_thread *t)
{
	uint64_t ns;

	if (!t->in_ns || !load_relaxed(&t->header->generation))
		ns = time_otherwise(t);
	else if (!arcprof_anchor_ns(&t->anchor, &t->slot->seq, &ns))
		ns = anchor_slot(t);
	if (ns > t->floor_ns)
		t->floor_ns = ns;
	return t->floor_ns;
}

static void add_slot(struct arcprof_values *v, const struct arcprof_slot *s,
		     const struct arcprof_ptt_header *h)
{
	unsigned int i;

	v->time_ns += arcprof_ticks_ns(h, s->acc[0]);
	v->irq_time_ns += arcprof_ticks_ns(h, s->irq_time);
	v->dispatches += s->dispatches;
	v->interrupts += s->interrupts;
	v->switches += s->switches;
	v->migrations += s->migrations;
	v->faults += s->faults;
	for (i = 1; i < h->nr_metrics; i++)
		v->counter[i - 1] += s->acc[i];
}

static uint32_t known_of(const struct arcprof_ptt_header *h)
{
	uint32_t known = ARCPROF_KNOW_TIME | ARCPROF_KNOW_DISPATCHES | ARCPROF_KNOW_SWITCHES |
			 ARCPROF_KNOW_MIGRATIONS | ARCPROF_KNOW_FAULTS;
	unsigned int i;

	if (!(h->flags & ARCPROF_PTT_NO_IRQ))
		known |= ARCPROF_KNOW_IRQ_TIME | ARCPROF_KNOW_INTERRUPTS;
	for (i = 1; i < h->nr_metrics; i++)
		known |= ARCPROF_KNOW_COUNTER << (i - 1);
	return known;
}

int arcprof_thread_read(struct arcprof_thread *t, struct arcprof_values *v)
{
	struct arcprof_slot copy;

	memset(v, 0, sizeof(*v));
	v->nr_threads = 1;
	if (!t->slot) {
		v->known = ARCPROF_KNOW_TIME;
		v->time_ns = arcprof_thread_time_ns(t);
		return 0;
	}
	if (!arcprof_area_slot(&self.area, t->idx, &copy))
		return -EAGAIN;
	v->known = known_of(self.area.header);
	add_slot(v, &copy, self.area.header);
	if (v->time_ns > t->floor_ns)
		t->floor_ns = v->time_ns;
	v->time_ns = t->floor_ns;
	return arcprof_area_live(&self.area) ? 0 : -ESHUTDOWN;
}

/* ---- a process ---- */

static int read_process_clock(pid_t pid, struct arcprof_values *v)
{
	struct timespec ts;
	clockid_t id;
	int r = clock_getcpuclockid(pid, &id);

	if (!r && clock_gettime(id, &ts))
		r = errno;
	if (r)
		return -r;
	v->known = ARCPROF_KNOW_TIME;
	v->time_ns = ts.tv_sec * 1000000000ull + ts.tv_nsec;
	return 0;
}

int arcprof_process_read(pid_t pid, struct arcprof_values *v)
{
	struct arcprof_slot copy;
	uint32_t i, nr;

	memset(v, 0, sizeof(*v));
	if (self.backend == NONE)
		return -EINVAL;
	if (!self.area.header)
		return read_process_clock(pid, v);
	if (!pid)
		pid = getpid();
	nr = arcprof_area_nr_used(&self.area);
	for (i = 1; i < nr; i++) {
		if (self.area.slots[i].tgid != pid || !arcprof_area_slot(&self.area, i, &copy) ||
		    copy.tgid != pid)
			continue;
		add_slot(v, &copy, self.area.header);
		v->nr_threads++;
	}
	v->known = known_of(self.area.header);
	return v->nr_threads ? 0 : -ESRCH;
}
