// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * account.c - what the kernel charged the threads of a recording, against which the samples of a clock are
 * measured: no sampler knows what it has not seen.
 *
 * Of each thread: from BPF when it ends, where that is allowed; else from /proc, of those that live at the
 * end. The trace gets a record of each, and the total as label "account.cpu_ns". It is kept where all CPU
 * time from the first to the last moment was to be sampled.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "collect/engine/clocks.h"
#include "collect/engine/recording.h"
#include "cpuclock/cpuclock.h"
#include "trace/format.h"

enum {
	LEAST_NS = 50000000,	/* what one tick of the kernel can hide is no CPU time to speak of */
	LEAST_PERIODS = 20,
	TICK_NS = 10000000,	/* the longest between two ticks: each counts for all since the last */
	LEAST_CPU_NS = 200000000,	/* of each CPU */
	SLACK_NS = 100000000,		/* between a reading of the clock and one of /proc/stat */
};

struct used {
	uint64_t user_ns, all_ns;
};

struct group_used {
	uint64_t charged_ns;		/* by the group's own account */
	uint64_t counted_ns;		/* by the clock on it, which outlives the group */
	bool has_account;		/* that was there */
	uint32_t set;			/* whose clock it is: another interval takes another one */
};

struct cpu_account {
	struct cpuclock *bpf;			/* NULL: nothing reports threads that end */
	struct cpuclock_end *ends;		/* that came, and whose threads may not be known yet */
	size_t nr_ends, alloc_ends;
	uint64_t nr_told, nr_exits;		/* ends that came; and exits that the kernel recorded */
	uint64_t file_ns;			/* what threads were charged in this file */
	uint64_t untold_ns;			/* by threads that are not known, up to this file */
	uint64_t all_ns;			/* in all files */
	struct used *before;			/* [nr_pids]: what processes had used, without BPF */
	struct used attached;			/* then: what they have used since */
	uint64_t uncharged_ns;			/* time of CPUs that was charged to nobody, before */
	uint64_t child_ns;			/* what was used before the program was let go */
	uint64_t *busy;				/* [nr_cpus]: of the whole machine, when the file began; */
	size_t nr_cpus;
	uint64_t busy_at_ns;			/* when that was */
	bool of_cpus;				/* it is that */
	struct group_used *groups;		/* [of the recording's]: when the file began; NULL: of none */
	uint64_t begin_ns;			/* of threads that are recorded alone: */
	bool ended_untold;			/* one has ended, or a group, or CPUs have no true count */
};

/* ---- what /proc says ---- */

/* Read the CPU time of a living thread, up to the last tick or switch; return false if it has ended. */
static bool read_used(int pid, int tid, uint64_t *ns)
{
	struct buf b = BUF_INIT;
	char path[64];
	bool ok;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", pid, tid);
	ok = !io_slurp(path, &b) && b.len && sscanf(b.data, "%" SCNu64, ns) == 1;
	buf_release(&b);
	return ok;
}

/* Return the CPU time of a process, including its ended threads, to a clock tick; 0: it has ended. */
static struct used process_used(int pid)
{
	const uint64_t tick_ns = 1000000000ull / sysconf(_SC_CLK_TCK);
	struct buf b = BUF_INIT;
	unsigned long utime = 0, stime = 0;
	char path[64];
	const char *p;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	p = io_slurp(path, &b) || !b.len ? NULL : strrchr(b.data, ')');
	if (p && sscanf(p + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &utime, &stime) != 2)
		utime = stime = 0;
	buf_release(&b);
	return (struct used){ utime * tick_ns, (utime + stime) * tick_ns };
}

/*
 * Time in which CPUs ran for no thread, or not at all, since the machine was booted: in interrupts, and while
 * the hypervisor had them. A clock goes on meanwhile.
 */
static uint64_t uncharged_ns(void)
{
	struct buf b = BUF_INIT;
	unsigned long long irq = 0, softirq = 0, steal = 0;

	if (io_slurp("/proc/stat", &b) || !b.len ||
	    sscanf(b.data, "cpu %*u %*u %*u %*u %*u %llu %llu %llu", &irq, &softirq, &steal) != 3)
		irq = softirq = steal = 0;
	buf_release(&b);
	return (irq + softirq + steal) * (1000000000ull / sysconf(_SC_CLK_TCK));
}

/* Return the line after that, or NULL. */
static const char *account_next_line(const char *p)
{
	p = strchr(p, '\n');
	return p && p[1] ? p + 1 : NULL;
}

/*
 * Return the time in which CPUs ran threads since the machine was booted, to a clock tick: [CPU], of online
 * ones. It is what the kernel has in the line "cpuN" for user, nice and system.
 */
static uint64_t *busy_ns(size_t *nr)
{
	const uint64_t tick_ns = 1000000000ull / sysconf(_SC_CLK_TCK);
	unsigned long long user, nice, system;
	struct buf b = BUF_INIT;
	uint64_t *list = NULL;
	size_t alloc = 0;
	unsigned int cpu;
	const char *p;

	*nr = 0;
	for (p = io_slurp("/proc/stat", &b) ? NULL : b.data; p; p = account_next_line(p)) {
		if (sscanf(p, "cpu%u %llu %llu %llu", &cpu, &user, &nice, &system) != 4 || cpu > UINT16_MAX)
			continue;
		while (*nr <= cpu) {
			VEC_GROW(list, *nr, alloc);
			list[(*nr)++] = 0;
		}
		list[cpu] = (user + nice + system) * tick_ns;
	}
	buf_release(&b);
	return list;
}

/* ---- whether there is one ---- */

/* Return whether all CPU time of what is recorded is to be sampled, from the first to the last moment. */
static bool account_is_wanted(const struct collect *c)
{
	const struct collect_opts *o = c->o;
	const struct pmu_event *ev = o->ev.events;

	if (!collect_nr_events(&o->ev) || !ev->clock || ev->attr.exclude_user || ev->attr.exclude_kernel ||
	    o->ev.exclude_user || o->ev.exclude_kernel || o->cpus.nr_cpu || c->flight)
		return false;
	return switches_are_none(o);
}

/*
 * Return whether it was: nothing was switched off meanwhile, and samples began when the recording did.
 * Where single threads are recorded, what one had used when it ended is unknown; so is what a group had
 * whose clock was replaced.
 */
static bool account_was_kept(const struct collect *c)
{
	return c->account && !c->account->ended_untold && !c->paused && !c->switches.nr_dropped &&
	       c->switches.perf[0].nr_times <= 1;
}

static void read_groups(const struct collect *c, struct group_used *list)
{
	size_t i;

	for (i = 0; i < c->o->groups->nr; i++) {
		list[i].has_account = cgroups_used(c->o->groups, i, &list[i].charged_ns);
		list[i].set = c->main_set;
		list[i].counted_ns = evset_counted(&c->ev, c->main_set, i, 0);
	}
}

static void account_ready(struct collect *c)
{
	struct cpu_account *a;
	size_t i;

	if (!account_is_wanted(c))
		return;
	a = c->account = xcalloc(1, sizeof(*a));
	a->bpf = clocks_bpf(c);
	a->begin_ns = clock_mono_ns();
	a->uncharged_ns = uncharged_ns();
	if (c->o->groups && !cgroups_are_all(c->o->groups)) {
		a->groups = xcalloc(c->o->groups->nr, sizeof(*a->groups));
		read_groups(c, a->groups);
		return;
	}
	a->of_cpus = c->o->system_wide;
	if (a->of_cpus) {
		a->bpf = NULL;
		a->busy = busy_ns(&a->nr_cpus);
		a->busy_at_ns = a->begin_ns;
		return;
	}
	a->before = xcalloc(c->o->nr_pids + 1, sizeof(*a->before));
	for (i = 0; i < c->o->nr_tids; i++)
		tasks_by_tid(&c->tasks, c->o->tids[i], a->begin_ns);
	for (i = 0; i < c->tasks.nr_all; i++) {
		struct thread *th = c->tasks.threads[i];

		if (!th->dead)
			read_used(th->proc->pid, th->tid, &th->used_ns);
	}
	for (i = 0; !a->bpf && i < c->o->nr_pids; i++)
		a->before[i] = process_used(c->o->pids[i]);
	if (c->child_pid)
		read_used(c->child_pid, c->child_pid, &a->child_ns);
}

/* ---- threads ---- */

/* Charge the thread with what it has used of its life's used_ns since last time. */
static void account_charge(struct collect *c, struct thread *th, uint64_t used_ns, uint64_t time_ns)
{
	struct rec_used r = { .time_ns = time_ns, .thread = th->id };

	r.cpu_ns = used_ns > th->used_ns ? used_ns - th->used_ns : 0;
	th->used_ns = MAX(used_ns, th->used_ns);
	if (!r.cpu_ns)
		return;
	trace_write_used(c->w, &r);
	c->account->file_ns += r.cpu_ns;
}

/* Return the thread that ended then: the latest that had the number before. */
static struct thread *who_ended(struct collect *c, const struct cpuclock_end *end)
{
	struct thread *th = tasks_any(&c->tasks, end->tid);

	while (th && (th->born_ns > end->time_ns || th->proc->pid != (int)end->pid))
		th = th->older;
	return th;
}

static void account_on_end(void *ctx, const struct cpuclock_end *end)
{
	struct cpu_account *a = ctx;

	a->nr_told++;
	*VEC_ADD(a->ends, a->nr_ends, a->alloc_ends) = *end;
}

/* Ends of threads that the kernel's records have reported by now, which are handled up to until_ns. */
static void take_ends(struct collect *c, uint64_t until_ns)
{
	struct cpu_account *a = c->account;
	size_t i, nr = 0;

	if (!a->bpf)
		return;
	cpuclock_ends(a->bpf, account_on_end, a);
	for (i = 0; i < a->nr_ends; i++) {
		const struct cpuclock_end end = a->ends[i];
		struct thread *th;

		if (end.time_ns > until_ns) {
			a->ends[nr++] = end;
			continue;
		}
		th = who_ended(c, &end);
		if (th)
			account_charge(c, th, end.used_ns, end.time_ns);
		else
			a->file_ns += end.used_ns;
	}
	a->nr_ends = nr;
}

/*
 * Return whether to charge the thread. With single threads, others of their processes are known, too, but
 * only those and what they start are recorded.
 */
static bool is_recorded(struct collect *c, const struct thread *th)
{
	size_t i;

	for (i = 0; i < c->o->nr_tids && c->o->tids[i] != th->tid; i++)
		;
	if (!c->o->nr_tids)
		return collect_is_recorded(c, th);
	return i < c->o->nr_tids || (!th->provisional && th->born_ns > c->account->begin_ns);
}

static void charge_living(struct collect *c, uint64_t now_ns)
{
	uint64_t ns;
	size_t i;

	for (i = 0; i < c->tasks.nr_all; i++) {
		struct thread *th = c->tasks.threads[i];

		if (!th->dead && th->tid && is_recorded(c, th) &&
		    read_used(th->proc->pid, th->tid, &ns))
			account_charge(c, th, ns, now_ns);
	}
}

/*
 * Write how long each CPU was busy. An idle one gets a record as well, which shows that the account is of
 * CPUs. No CPU is busy for longer than time has passed: one that was offline when the file began has a
 * count from before, and ticks of an emulated machine may be of any length. Then there is no account.
 */
static void charge_cpus(struct collect *c, uint64_t now_ns)
{
	struct cpu_account *a = c->account;
	const uint64_t at_ns = clock_mono_ns(), passed_ns = at_ns - a->busy_at_ns;
	size_t nr, i;
	uint64_t *now = busy_ns(&nr);

	for (i = 0; i < nr; i++) {
		uint64_t before = i < a->nr_cpus ? a->busy[i] : 0;
		struct rec_cpu_used r = {
			.time_ns = now_ns, .cpu = i, .busy_ns = now[i] - MIN(now[i], before),
		};

		if (r.busy_ns > passed_ns + passed_ns / 20 + SLACK_NS && !a->ended_untold) {
			a->ended_untold = true;
			refused_text(&c->refused, "an account of CPU time: the kernel counts more of CPU %zu than time has passed",
				     i);
		}
		trace_write_cpu_used(c->w, &r);
		a->file_ns += r.busy_ns;
	}
	a->busy_at_ns = at_ns;
	free(a->busy);
	a->busy = now;
	a->nr_cpus = nr;
}

/*
 * Write what each group used. The kernel's account ends with the group; what its clock event has counted
 * stays, except while that was throttled.
 */
static void charge_groups(struct collect *c, uint64_t now_ns)
{
	const struct cgroups *g = c->o->groups;
	struct cpu_account *a = c->account;
	struct group_used *now = xcalloc(g->nr, sizeof(*now));
	size_t i;

	read_groups(c, now);
	for (i = 0; i < g->nr; i++) {
		struct rec_cgroup_used r = {
			.time_ns = now_ns, .path = g->paths[i], .path_len = strlen(g->paths[i]),
		};

		if (now[i].has_account && a->groups[i].has_account)
			r.cpu_ns = now[i].charged_ns - MIN(now[i].charged_ns, a->groups[i].charged_ns);
		else if (now[i].set == a->groups[i].set)
			r.cpu_ns = now[i].counted_ns - MIN(now[i].counted_ns,
							   a->groups[i].counted_ns);
		else
			a->ended_untold = true;
		trace_write_cgroup_used(c->w, &r);
		a->file_ns += r.cpu_ns;
	}
	free(a->groups);
	a->groups = now;
}

/* Return whether what threads have used is counted together, by CPUs or control groups. */
static bool account_is_whole(const struct cpu_account *a)
{
	return a->of_cpus || a->groups;
}

/* Charge what is counted together; return false if it is counted by threads. */
static bool charge_whole(struct collect *c, uint64_t now_ns)
{
	if (c->account->of_cpus)
		charge_cpus(c, now_ns);
	else if (c->account->groups)
		charge_groups(c, now_ns);
	return account_is_whole(c->account);
}

/* ---- a file ends, or all ---- */

static void account_close_file(struct collect *c)
{
	struct cpu_account *a = c->account;
	uint64_t untold_ns = 0, uncharged = uncharged_ns();

	if (a->bpf && cpuclock_untold(a->bpf, &untold_ns)) {
		a->file_ns += untold_ns - a->untold_ns;
		a->untold_ns = untold_ns;
	}
	a->all_ns += a->file_ns;
	trace_writer_keep(c->w, false);
	if (a->of_cpus)
		trace_write_label(c->w, "account.tick_ns", "%d", TICK_NS);
	if (a->bpf || account_is_whole(a))
		trace_write_label(c->w, "account.cpu_ns", "%" PRIu64, a->file_ns);
	a->file_ns = 0;
	trace_write_label(c->w, "account.uncharged_ns", "%" PRIu64,
			  uncharged - MIN(uncharged, a->uncharged_ns));
	trace_writer_keep(c->w, true);
	a->uncharged_ns = uncharged;
}

/*
 * Wait for threads that still run for some microseconds after their exit is recorded, and their process has
 * ended; longer, where others have the CPUs. Without them there is no account.
 */
static void wait_for_ends(struct cpu_account *a)
{
	enum { STEP_NS = 200000, MOST_NS = 2000000000 };
	const uint64_t until_ns = clock_mono_ns() + MOST_NS;
	uint64_t untold_ns;

	while (a->bpf) {
		cpuclock_ends(a->bpf, account_on_end, a);
		if (a->nr_told + cpuclock_untold(a->bpf, &untold_ns) >= a->nr_exits)
			return;
		if (clock_mono_ns() > until_ns) {
			a->ended_untold = true;
			return;
		}
		nanosleep(&(struct timespec){ 0, STEP_NS }, NULL);
	}
}

/* Note that the end of a thread is to come. */
static void thread_exited(struct collect *c, int tid, uint64_t time_ns)
{
	if (!c->account)
		return;
	c->account->nr_exits++;
	c->account->ended_untold |= c->o->nr_tids;
}

static void account_recording_has_ended(struct collect *c, uint64_t now_ns)
{
	struct cpu_account *a = c->account;
	size_t i;

	if (!account_was_kept(c))
		return;
	if (charge_whole(c, now_ns))
		return;
	wait_for_ends(a);
	if (!account_was_kept(c))
		return;
	take_ends(c, UINT64_MAX);
	charge_living(c, now_ns);
	for (i = 0; !a->bpf && i < c->o->nr_pids; i++) {
		struct used now = process_used(c->o->pids[i]);

		a->attached.all_ns += now.all_ns - MIN(now.all_ns, a->before[i].all_ns);
		a->attached.user_ns += now.user_ns - MIN(now.user_ns, a->before[i].user_ns);
	}
}

static uint64_t timeval_ns(const struct timeval *t)
{
	return t->tv_sec * 1000000000ull + t->tv_usec * 1000ull;
}

/* Return the known CPU time. Without BPF, that of ended threads is known only for whole processes. */
static uint64_t known_ns(const struct collect *c, const struct rusage *used)
{
	const struct cpu_account *a = c->account;
	uint64_t ns;

	if (a->bpf || account_is_whole(a) || !used)
		return MAX(a->all_ns, a->attached.all_ns);
	ns = timeval_ns(&used->ru_utime) + timeval_ns(&used->ru_stime);
	return ns - MIN(ns, a->child_ns);
}

/* Return how much of that was to be sampled, as far as it is known: where it is user code alone, roughly. */
static uint64_t wanted_ns(const struct collect *c, const struct rusage *used)
{
	if (!c->ev.conf.exclude_kernel)
		return c->res->charged_ns;
	return used ? timeval_ns(&used->ru_utime) : c->account->attached.user_ns;
}

static uint64_t period_ns(const struct collect *c)
{
	const struct ev_rate *r = &c->o->ev.rates[0];

	return r->freq_hz ? 1000000000 / r->freq_hz : r->period;
}

/* Return whether that much time must have samples, so that their share means something. */
static bool is_much(const struct collect *c, uint64_t ns)
{
	if (c->account->of_cpus && ns < LEAST_CPU_NS * c->account->nr_cpus)
		return false;
	return ns >= LEAST_NS && ns / LEAST_PERIODS >= period_ns(c);
}

/*
 * Return whether the program gains rights that we do not have when it is executed: the kernel takes our
 * events away then.
 */
static bool gains_rights(const char *name)
{
	const char *path = getenv("PATH"), *end;
	char file[4096];
	struct stat st;

	if (!geteuid())
		return false;
	for (; path; path = *end ? end + 1 : NULL) {
		end = path + strcspn(path, ":");
		if (strchr(name, '/'))
			snprintf(file, sizeof(file), "%s", name);
		else
			snprintf(file, sizeof(file), "%.*s/%s", (int)(end - path), path, name);
		if (!stat(file, &st) && S_ISREG(st.st_mode))
			return (st.st_mode & S_ISUID && st.st_uid != geteuid()) || st.st_mode & S_ISGID ||
			       getxattr(file, "security.capability", NULL, 0) > 0;
	}
	return false;
}

/* Return why part of it has no samples. */
static const char *why_part(const struct collect *c, struct buf *b)
{
	const char *no_cpus = clocks_why_not(c);

	if (c->res->nr_lost)
		return "samples were lost";
	if (c->res->nr_held_back > c->res->nr_samples / 10)
		return "the kernel held sampling back (kernel.perf_event_max_sample_rate)";
	if (c->only_jvms)
		return "perf events are forbidden: only threads of Java are sampled";
	if (c->ev.conf.exclude_kernel)
		buf_str(b, "kernel code may not be sampled (kernel.perf_event_paranoid)");
	if (!c->ev.conf.filter_fd && !account_is_whole(c->account))
		buf_fmt(b, "%sclocks of threads start again in each thread, and miss threads shorter than the interval (%s%s)",
			b->len ? "; " : "", *no_cpus ? "no clocks of CPUs: " : "--clock=cpu has others",
			no_cpus);
	if (b->len)
		return b->data;
	if (c->account->of_cpus)
		return "what runs for some microseconds at a time no clock sees, and the kernel counts time of CPUs by its ticks";
	if (c->account->bpf && cpuclock_refused(c->account->bpf))
		return "there were too many processes at once";
	return "the program runs only for some microseconds at a time, of which no clock sees the first ones";
}

static const char *why_none(const struct collect *c, struct buf *b)
{
	if (c->timer_ns)
		return "timers on CPU time gave none; a system call filter may refuse timer_create() to it";
	if (c->o->argv && gains_rights(c->o->argv[0]))
		return "the program gets rights of its own (setuid, setgid or file capabilities), and the kernel takes events away from it; record as root";
	if (c->res->charged_ns / MAX(c->tasks.nr_threads, 1u) < period_ns(c))
		return why_part(c, b);
	return "the kernel gave none; 'arcprof doctor' shows which events work here, -e lists others";
}

/* Label that there is no account: all files together have none, even if others have one. */
static void give_none(struct collect *c)
{
	if (!c->account || !c->segments)
		return;
	trace_writer_keep(c->w, false);
	trace_write_label(c->w, "account.cpu_ns", ACCOUNT_NONE);
	trace_writer_keep(c->w, true);
}

/* Compare the account with the samples; before the last labels are written. */
static void account_end_file(struct collect *c, uint64_t until_ns, bool last)
{
	const struct rusage *used = c->program_used;
	struct collect_result *res = c->res;
	struct buf why = BUF_INIT;

	if (!last)
		return;			/* account_stand() has written the account of that file */
	if (!account_was_kept(c)) {
		give_none(c);
		return;
	}
	account_close_file(c);
	res->charged_ns = known_ns(c, used);
	res->sampled_ns = c->clock_ns;
	if (!c->account->bpf && !account_is_whole(c->account) && !c->segments && res->charged_ns)
		trace_write_label(c->w, "account.cpu_ns", "%" PRIu64, res->charged_ns);
	if (!is_much(c, res->charged_ns)) {
		res->charged_ns = 0;
		return;
	}
	res->no_samples = !res->nr_of_event[0] && !res->nr_lost && is_much(c, wanted_ns(c, used));
	snprintf(res->why_unsampled, sizeof(res->why_unsampled), "%s",
		 res->no_samples ? why_none(c, &why) : why_part(c, &why));
	buf_release(&why);
	trace_write_label(c->w, "account.why", "%s", res->why_unsampled);
	if (res->no_samples)
		refused_text(&c->refused, "%s: no samples of %.2f s of CPU time: %s", c->o->ev.events[0].name,
			     res->charged_ns / 1e9, res->why_unsampled);
}

static void account_turn(struct collect *c, uint64_t now_ns)
{
	if (c->account)
		take_ends(c, c->merged_ns);
}

static void account_stand(struct collect *c)
{
	if (account_was_kept(c) && !charge_whole(c, c->merged_ns)) {
		take_ends(c, c->merged_ns);
		charge_living(c, c->merged_ns);
	}
	if (account_was_kept(c))
		account_close_file(c);
	else
		give_none(c);
}

static void account_close_part(struct collect *c)
{
	if (!c->account)
		return;
	free(c->account->ends);
	free(c->account->busy);
	free(c->account->groups);
	free(c->account->before);
	free(c->account);
	c->account = NULL;
}

const struct part account_part = {
	.ready = account_ready, .exited = thread_exited, .turn = account_turn,
	.ended = account_recording_has_ended,
	.stand = account_stand, .end_file = account_end_file, .close = account_close_part,
};
