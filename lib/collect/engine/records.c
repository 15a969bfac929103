// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * records.c - one function per kind of perf record.  Layouts: include/uapi/linux/perf_event.h.
 */
#include <string.h>
#include <sys/sysmacros.h>

#include "arch/cpu.h"
#include "base/mem.h"
#include "base/span.h"
#include "collect/control/rates.h"
#include "collect/engine/recording.h"
#include "collect/jvm/outside.h"
#include "pmu/bpf/trapped.h"
#include "pmu/probe.h"
#include "unwind/perfsample.h"

/* Splits the chain at the kernel's context marks. */
static void split_chain(const struct perf_sample *ps, const uint64_t **kernel, size_t *nr_kernel,
			const uint64_t **user, size_t *nr_user)
{
	const uint64_t **part = NULL, *chain = ps->chain;
	size_t *nr = NULL, i;

	*kernel = *user = NULL;
	*nr_kernel = *nr_user = 0;
	for (i = 0; i < ps->nr_chain; i++) {
		if (chain[i] == (uint64_t)PERF_CONTEXT_KERNEL) {
			part = kernel;
			nr = nr_kernel;
		} else if (chain[i] == (uint64_t)PERF_CONTEXT_USER) {
			part = user;
			nr = nr_user;
		} else if (chain[i] >= (uint64_t)PERF_CONTEXT_MAX) {
			part = NULL;
		} else if (part) {
			if (!(*nr)++)
				*part = &chain[i];
		}
	}
}

/*
 * Return whether a sample is inside execve. While it builds the new image, the user registers are still those
 * of the old one, whose memory is gone: there is no user stack, and that is not a gap.
 */
static bool inside_exec(const struct thread *th, const struct perf_sample *ps)
{
	return !ps->user &&
		(!ps->stack.len || (th->proc->execed && !maps_find(&th->proc->maps, ps->regs.pc)));
}

/*
 * Return the agent's frame if the thread was interrupted in the agent. It takes the trap after the agent has
 * handled the previous one, and its frames do not show the agent, which was above them.
 */
static size_t agent_frame(struct collect *c, struct thread *th, const struct perf_sample *ps,
			  struct frame *out)
{
	const struct map_entry *m = maps_find(&th->proc->maps, ps->ip);

	if (!m || !m->module || !(modules_at(&c->modules, m->module)->flags & MODULE_ARCPROF))
		return 0;
	return stack_user_chain(c, th->proc, &ps->ip, 1, out);
}

/* Return whether the kernel's chain has as many addresses as it may have. */
static bool is_full(struct collect *c, size_t nr)
{
	enum { USUAL = 127 };
	struct perf_limits l;

	if (!c->max_chain) {
		perf_limits_read(&l);
		c->max_chain = l.max_stack > 0 ? l.max_stack : USUAL;
	}
	return nr >= c->max_chain;
}

static size_t fp_frames(struct collect *c, struct thread *th, const struct perf_sample *ps,
			const uint64_t *user, size_t nr_user, bool full)
{
	if (!nr_user)
		return ps->user ? stack_user_fp(c, th->proc, &ps->ip, 1, full, c->frames) : 0;
	/* as in inside_exec() */
	if (!ps->user && nr_user == 1 && (!*user || (th->proc->execed && !maps_find(&th->proc->maps, *user))))
		return 0;
	return stack_user_fp(c, th->proc, user, nr_user, full, c->frames);
}

/*
 * Join user frames and kernel frames, outermost first. *to_java: the innermost part for a JVM that is walked
 * from outside, up to its own code, where ps->regs are then.
 */
static size_t sample_frames(struct collect *c, struct thread *th, struct perf_sample *ps, bool trap,
			    bool *to_java)
{
	const uint64_t *kernel, *user;
	size_t nr_kernel, nr_user, nr = 0;

	if (c->ev.conf.callgraph == CALLGRAPH_NO) {
		if (ps->user)
			return stack_user_chain(c, th->proc, &ps->ip, 1, c->frames);
		return stack_kernel(c, &ps->ip, 1, c->frames);
	}
	split_chain(ps, &kernel, &nr_kernel, &user, &nr_user);
	if (!nr_kernel && !ps->user) {
		kernel = &ps->ip;
		nr_kernel = 1;
	}
	if (ps->has_regs && !inside_exec(th, ps) && outside_walks(th->proc->java))
		nr = stack_native(c, th->proc->java, &ps->regs, &ps->stack, c->frames, to_java);
	else if (ps->has_regs && !inside_exec(th, ps))
		nr = stack_user_sample(c, th->proc, ps, c->frames);
	else if (trap)
		nr = ps->user ? agent_frame(c, th, ps, c->frames) : 0;
	else if (!c->ev.conf.exclude_user)
		nr = fp_frames(c, th, ps, user, nr_user, is_full(c, nr_kernel + nr_user));
	return nr + stack_kernel(c, kernel, nr_kernel, c->frames + nr);
}

void collect_sample(struct collect *c, const struct thread *th, struct rec_sample *s,
		    const struct frame *frames, size_t nr)
{
	bool on = switches_perf(c, s->event, s->time_ns);
	bool wanted = !on || filters_want_perf(c, s->event, s->thread, s->time_ns);

	if (wanted)
		java_keep_code(c, frames, nr);
	parts_sample(c, th, s, frames, nr, on && wanted);
	if (!on || !wanted) {
		c->switches.nr_dropped += !s->event;
		return;
	}
	stack_count_marks(c, stack_marks(frames, nr));
	s->stack = trace_write_stack(c->w, frames, nr);
	trace_write_sample(c->w, s);
	collect_count_sample(c, s->event);
	c->clock_ns += s->event ? 0 : s->weight;
}

/* Return whether this task is recorded, where the side band is of the whole machine. */
static bool record_is_ours(struct collect *c, int pid, int tid)
{
	const struct thread *leader;

	if (!c->ev.conf.side_of_all || tasks_find(&c->tasks, tid))
		return true;
	/* an exec gives the number of a first thread that has ended to another */
	leader = tasks_any(&c->tasks, pid);
	return leader && leader->proc->pid == pid && leader->proc->nr_live;
}

/* Return whether the process of the program has not executed it yet, where events are of CPUs. */
static bool is_before_exec(const struct collect *c, const struct thread *th)
{
	return c->ev.conf.filter_fd && th->proc->pid == c->child_pid && !th->proc->execed;
}

/*
 * Return whether the kernel counts this of a thread that has ended, such as its last switch. getrusage(2)
 * does not have it, nor do events of threads. What it computes until then is CPU time.
 */
static bool is_after_end(const struct collect *c, const struct thread *th, size_t event)
{
	const struct pmu_event *ev = &c->ev.conf.events[event];

	return th->dead && c->ev.conf.side_of_all && ev->attr.type == PERF_TYPE_SOFTWARE && !ev->clock;
}

/*
 * The kernel's number of a thread that it has released already, but that still runs: it is the one that
 * ended last on that CPU.
 */
static const int NO_NUMBER = -1;

static void note_exit(struct collect *c, uint32_t cpu, int pid, int tid)
{
	if (cpu >= c->nr_exited) {
		c->exited = xrealloc(c->exited, (cpu + 1) * sizeof(*c->exited));
		memset(c->exited + c->nr_exited, 0, (cpu + 1 - c->nr_exited) * sizeof(*c->exited));
		c->nr_exited = cpu + 1;
	}
	c->exited[cpu] = (struct exited){ pid, tid };
}

static struct thread *who_was_hit(struct collect *c, const struct perf_sample *ps, uint64_t time_ns)
{
	const struct exited *x = ps->cpu < c->nr_exited ? &c->exited[ps->cpu] : NULL;
	struct thread *th;

	if ((int)ps->tid != NO_NUMBER)
		return tasks_get(&c->tasks, ps->pid, ps->tid, time_ns);
	th = x && ((int)ps->pid == NO_NUMBER || (int)ps->pid == x->pid) ? tasks_any(&c->tasks, x->tid) : NULL;
	if (th && th->proc->pid == x->pid)
		return th;
	return (int)ps->pid == NO_NUMBER ? NULL : tasks_get(&c->tasks, ps->pid, ps->pid, time_ns);
}

/* Take a sample that a clock's BPF program wrote; the kernel pads it. */
static void take_clock(struct perf_sample *ps)
{
	struct trapped_sample of;

	if (ps->nr_raw < sizeof(of))
		return;
	memcpy(&of, ps->raw, sizeof(of));
	ps->period = of.period;
	ps->data_addr = of.data_addr;
}

static void record_sample(struct collect *c, const struct perf_event_header *h, uint64_t time_ns)
{
	struct ev_source *src;
	struct perf_sample ps;
	struct rec_sample s;
	struct thread *th;
	bool to_java = false;
	uint64_t id;
	size_t nr;

	memcpy(&id, h + 1, sizeof(id));
	src = evsets_source(&c->ev, id);
	if (!src || !perf_sample_read(&ps, &src->format, span_init(h + 1, h->size - sizeof(*h)))) {
		c->res->nr_lost++;
		return;
	}
	if (src->trap && ps.nr_raw)
		take_clock(&ps);
	ps.user = (h->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER;
	th = who_was_hit(c, &ps, time_ns);
	if (!th || is_before_exec(c, th) || is_after_end(c, th, src->event))
		return;
	if (src->varies)
		ps.period = evsets_clock_period(&c->ev, src->event, ps.cpu, time_ns);
	else if (src->period)
		ps.period = src->period;
	src->told += ps.period;
	/* The agent's own events cover this thread: the machine-wide one must not count it again. */
	if (!src->trap && th->proc->java && th->proc->java->sampled && time_ns >= th->proc->java->since_ns)
		return;
	s = (struct rec_sample){
		.time_ns = time_ns, .thread = th->id, .weight = ps.period, .event = src->event,
		.cpu = ps.cpu, .user = ps.user, .data_addr = ps.data_addr,
	};
	if (c->rates)
		s.weight += rates_left_over(c, s.event, ps.period);
	/* Do not unwind samples that will be dropped. */
	nr = trace_writer_is_full(c->w) && !src->trap && !c->walls ? 0 :
		sample_frames(c, th, &ps, src->trap, &to_java);
	if (to_java &&
	    !outside_ask(th->proc->java, &s, th->tid, &ps, ps.stack.len >= c->ev.conf.stack_bytes)) {
		memmove(c->frames + 1, c->frames, nr * sizeof(*c->frames));
		c->frames[0] = (struct frame){ FRAME_MARK, .mark = MARK_JAVA_LATE };
		nr++;
		to_java = false;
	}
	if (to_java || (src->trap && th->proc->java)) {
		java_kernel_half(th->proc->java, th, &s, c->frames, nr);
		return;
	}
	collect_sample(c, th, &s, c->frames, nr);
}

static void on_task_fork(struct collect *c, const struct perf_event_header *h, uint64_t time_ns)
{
	const struct { struct perf_event_header h; uint32_t pid, ppid, tid, ptid; } *r = (const void *)h;
	struct thread *th;
	struct err e;

	if (!record_is_ours(c, r->ppid, r->ptid))
		return;
	th = tasks_fork(&c->tasks, r->pid, r->ppid, r->tid, r->ptid, time_ns);
	parts_forked(c, r->pid, r->tid, time_ns);
	/* Forked while the events changed hands: it inherited the old ones. */
	if (!th->evset || th->evset_ns <= time_ns)
		return;
	if (!evset_add(&c->ev, th->evset, r->tid, false, &e) &&
	    c->ev.sets[th->evset - 1].kind == EVSET_MAIN && collect_is_on(c))
		evset_enable(&c->ev, th->evset, true);
	th->evset_ns = time_ns;
}

static void on_task_exit(struct collect *c, const struct ring *ring, const struct perf_event_header *h,
			 uint64_t time_ns)
{
	const struct { struct perf_event_header h; uint32_t pid, ppid, tid, ptid; } *r = (const void *)h;

	if (!record_is_ours(c, r->pid, r->tid))
		return;
	tasks_exit(&c->tasks, r->pid, r->tid, time_ns);
	note_exit(c, ring->cpu, r->pid, r->tid);
	parts_exited(c, r->tid, time_ns);
}

static void on_comm(struct collect *c, const struct perf_event_header *h, uint64_t time_ns)
{
	const struct { struct perf_event_header h; uint32_t pid, tid; char comm[]; } *r = (const void *)h;

	if (!record_is_ours(c, r->pid, r->tid))
		return;
	tasks_comm(&c->tasks, r->pid, r->tid, r->comm, h->misc & PERF_RECORD_MISC_COMM_EXEC, time_ns);
	if (h->misc & PERF_RECORD_MISC_COMM_EXEC)
		parts_executed(c, r->pid, time_ns);
}

static void on_mmap2(struct collect *c, const struct perf_event_header *h, uint64_t time_ns)
{
	const struct {
		struct perf_event_header h;
		uint32_t pid, tid;
		uint64_t addr, len, pgoff;
		uint32_t major, minor;
		uint64_t inode, generation;
		uint32_t prot, flags;
		char path[];
	} *r = (const void *)h;
	struct module_id id = {
		.path = r->path, .dev = makedev(r->major, r->minor), .inode = r->inode,
		.generation = r->generation,
		.pid = r->pid, .start = r->addr, .end = r->addr + r->len,
	};

	if ((h->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL ||
	    !record_is_ours(c, r->pid, r->tid))
		return;
	tasks_mmap(&c->tasks, &id, r->pgoff, r->tid, time_ns);
}

static void record_lost(struct collect *c, const struct ring *ring, const struct perf_event_header *h,
			uint64_t time_ns)
{
	const struct { struct perf_event_header h; uint64_t id, lost; } *r = (const void *)h;
	struct rec_lost lost = { .time_ns = time_ns, .cause = LOST_RING, .stream = ring->cpu,
		.count = r->lost };

	if (parts_record(c, ring, h, time_ns))
		return;
	trace_write_lost(c->w, &lost);
	c->res->nr_lost += r->lost;
	if (ring >= c->ev.sample_rings)
		c->nr_lost_told += r->lost;
}

static void on_throttle(struct collect *c, const struct ring *ring, uint64_t time_ns)
{
	struct rec_lost lost = { .time_ns = time_ns, .cause = LOST_THROTTLED, .stream = ring->cpu,
		.count = 1 };

	trace_write_lost(c->w, &lost);
	c->res->nr_held_back++;
}

void collect_record(void *ctx, const struct ring *r, const struct perf_event_header *h, uint64_t time_ns)
{
	struct collect *c = ctx;

	switch (h->type) {
	case PERF_RECORD_SAMPLE:
		if (!parts_record(c, r, h, time_ns))
			record_sample(c, h, time_ns);
		break;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		parts_record(c, r, h, time_ns);
		break;
	case PERF_RECORD_FORK:
		on_task_fork(c, h, time_ns);
		break;
	case PERF_RECORD_EXIT:
		on_task_exit(c, r, h, time_ns);
		break;
	case PERF_RECORD_COMM:
		on_comm(c, h, time_ns);
		break;
	case PERF_RECORD_MMAP2:
		on_mmap2(c, h, time_ns);
		break;
	case PERF_RECORD_LOST:
		record_lost(c, r, h, time_ns);
		break;
	case PERF_RECORD_THROTTLE:
		on_throttle(c, r, time_ns);
		break;
	}
}
