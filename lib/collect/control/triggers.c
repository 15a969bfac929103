// SPDX-License-Identifier: GPL-2.0-or-later
/* triggers.c - watches the conditions of "record --when" (triggers.h). */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "collect/control/crashes.h"
#include "collect/control/triggers.h"
#include "collect/engine/recording.h"
#include "jvm/proto.h"

enum { LOOK_NS = 1000000000, FIELD_UTIME = 11 };

struct cpu_look {
	uint64_t time_ns, cpu_ns;
};

struct triggers {
	uint64_t *ready_ns;		/* of each condition: not again before */
	bool wanted[CONDITION_NR];
	uint64_t looked_ns;
	/* the last looks, a ring: as many as the longest condition goes back, and one */
	struct cpu_look *looks;
	size_t nr_looks, alloc_looks;
	struct map ticks;		/* pid -> clock ticks of CPU at the last look */
	uint64_t proc_cpu_ns;		/* what they add up to */
	struct crashes crashes;
	uint64_t oom_kills, oom_kills_all;	/* in the targets' group; of the machine, at the begin */
};

/* ---- a condition is met ---- */

static void trigger_dump(struct collect *c, const struct condition *w)
{
	char what[32];
	struct err e;

	if (w->kind == CONDITION_SIGNAL)
		snprintf(what, sizeof(what), "SIG%s", condition_signal_name((int)w->limit));
	else
		snprintf(what, sizeof(what), "%s", condition_kind_name(w->kind));
	if (flight_ask(c, NULL, what, &e) < 0 && c->o->trigger.missed)
		c->o->trigger.missed(w, &e);
}

void triggers_call(struct collect *c, size_t when, uint32_t proc, const char *cause)
{
	const struct trigger_opts *o = &c->o->trigger;
	const struct condition *w = &o->conditions[when];
	uint64_t now = clock_mono_ns();

	if (now < c->triggers->ready_ns[when])
		return;
	c->triggers->ready_ns[when] = now + o->holdoff_ns;
	trace_write_trigger(c->w, &(struct rec_trigger){
		.time_ns = now, .proc = proc, .when = w->text, .when_len = strlen(w->text),
		.cause = cause, .cause_len = strlen(cause),
	});
	trace_writer_flush(c->w);
	if (o->met)
		o->met(w, cause);
	if (c->flight)
		trigger_dump(c, w);
}

/* Trigger all conditions of that kind and limit; return whether there are any. */
static bool met_all(struct collect *c, enum condition_kind kind, uint64_t limit, uint32_t proc,
		    const char *cause)
{
	const struct trigger_opts *o = &c->o->trigger;
	bool any = false;
	size_t i;

	for (i = 0; i < o->nr_conditions; i++) {
		if (o->conditions[i].kind != kind || o->conditions[i].limit != limit)
			continue;
		triggers_call(c, i, proc, cause);
		any = true;
	}
	return any;
}

/* ---- CPU time ---- */

/* Return whether the samples have all CPU time. */
static bool samples_tell(const struct collect *c)
{
	const struct evconf *ev = &c->ev.conf;

	return collect_nr_events(ev) && ev->events[0].clock && !ev->exclude_kernel && !ev->exclude_user &&
	       !ev->events[0].attr.exclude_kernel && !ev->events[0].attr.exclude_user;
}

/* Return the fields of a line of numbers from the one at first on, nr of them, added up. */
static uint64_t add_fields(const char *s, size_t first, size_t nr)
{
	uint64_t sum = 0, v;
	size_t i;
	int n;

	for (i = 0; i < first + nr; i++) {
		s += strspn(s, " ");
		if (i < first) {
			s += strcspn(s, " \n");
			continue;
		}
		if (sscanf(s, "%" SCNu64 "%n", &v, &n) != 1)
			break;
		sum += v;
		s += n;
	}
	return sum;
}

static uint64_t ticks_ns(uint64_t ticks)
{
	long hz = sysconf(_SC_CLK_TCK);

	return ticks * (1000000000ull / (hz > 0 ? (uint64_t)hz : 100));
}

/* Return the CPU time of the machine: user nice system and, after idle and iowait, irq softirq. */
static uint64_t machine_cpu_ns(void)
{
	struct buf b = BUF_INIT;
	uint64_t ticks = 0;

	if (!io_slurp("/proc/stat", &b) && b.len)
		ticks = add_fields(b.data, 1, 3) + add_fields(b.data, 6, 2);
	buf_release(&b);
	return ticks_ns(ticks);
}

static uint64_t process_ticks(int pid)
{
	struct buf b = BUF_INIT;
	const char *name_end;
	uint64_t ticks = 0;
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (!io_slurp(path, &b) && b.len && (name_end = strrchr(b.data, ')')))
		ticks = add_fields(name_end + 1, FIELD_UTIME, 2);
	buf_release(&b);
	return ticks;
}

static bool target_lives(const struct proc *p)
{
	return p->pid > 0 && p->nr_live && !p->replaced_ns;
}

/* Check the CPU time of processes; first: those that ran before the recording count from now on. */
static void look_at_processes(struct collect *c, bool first)
{
	struct triggers *t = c->triggers;
	struct map living = { 0 };
	const struct proc *p;

	for (p = c->tasks.procs; p; p = p->next) {
		uint32_t was, now;

		if (!target_lives(p))
			continue;
		now = process_ticks(p->pid);
		was = map_get(&t->ticks, p->pid);
		if (was == MAP_NONE || now < was)	/* it is new, or another of that number */
			was = first ? now : 0;
		t->proc_cpu_ns += ticks_ns(now - was);
		*map_put(&living, p->pid) = now;
	}
	map_release(&t->ticks);
	t->ticks = living;
}

static uint64_t cpu_ns(struct collect *c, bool first)
{
	if (samples_tell(c))
		return c->clock_ns;
	if (c->o->system_wide)
		return machine_cpu_ns();
	look_at_processes(c, first);
	return c->triggers->proc_cpu_ns;
}

/* Return the look that was taken "back" looks ago. */
static const struct cpu_look *look_before(const struct triggers *t, size_t back)
{
	return &t->looks[(t->nr_looks - 1 - back) % t->alloc_looks];
}

static void look_at_cpu(struct collect *c, uint64_t now_ns)
{
	const struct trigger_opts *o = &c->o->trigger;
	struct triggers *t = c->triggers;
	const struct cpu_look *now, *then;
	char cause[80];
	size_t i, back;

	t->looks[t->nr_looks % t->alloc_looks] = (struct cpu_look){ now_ns, cpu_ns(c, !t->nr_looks) };
	t->nr_looks++;
	now = look_before(t, 0);
	for (i = 0; i < o->nr_conditions; i++) {
		uint64_t span = o->conditions[i].span_ns, ns;

		if (o->conditions[i].kind != CONDITION_CPU)
			continue;
		/* looks may be further apart than they should be, never closer */
		for (back = 0; back + 1 < MIN(t->nr_looks, t->alloc_looks); back++)
			if (now_ns - look_before(t, back)->time_ns >= span)
				break;
		then = look_before(t, back);
		if (now_ns - then->time_ns < span)
			continue;
		ns = now_ns - then->time_ns;
		if ((double)(now->cpu_ns - then->cpu_ns) / ns <= (double)o->conditions[i].limit / 1e9)
			continue;
		snprintf(cause, sizeof(cause), "%.1f %% of a CPU over %.1f s",
			 100.0 * (now->cpu_ns - then->cpu_ns) / ns, ns / 1e9);
		triggers_call(c, i, 0, cause);
	}
}

/* ---- memory ---- */

static uint64_t resident_bytes(int pid)
{
	struct buf b = BUF_INIT;
	uint64_t pages = 0;
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/statm", pid);
	if (!io_slurp(path, &b) && b.len)
		pages = add_fields(b.data, 1, 1);
	buf_release(&b);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* "process 4711 (java)" */
static void put_process(struct collect *c, int pid, struct buf *b)
{
	const struct thread *th = tasks_find(&c->tasks, pid);

	buf_fmt(b, "process %d", pid);
	if (th && *th->comm)
		buf_fmt(b, " (%.16s)", th->comm);
}

static void look_at_memory(struct collect *c)
{
	const struct trigger_opts *o = &c->o->trigger;
	const struct proc *p, *largest = NULL;
	struct buf cause = BUF_INIT;
	uint64_t most = 0, bytes;
	size_t i;

	for (p = c->tasks.procs; p; p = p->next) {
		bytes = target_lives(p) ? resident_bytes(p->pid) : 0;
		if (bytes <= most)
			continue;
		most = bytes;
		largest = p;
	}
	for (i = 0; largest && i < o->nr_conditions; i++) {
		if (o->conditions[i].kind != CONDITION_RSS || most <= o->conditions[i].limit)
			continue;
		buf_reset(&cause);
		buf_fmt(&cause, "%.1f MiB resident in ", most / 1048576.0);
		put_process(c, largest->pid, &cause);
		triggers_call(c, i, largest->id, cause.data);
	}
	buf_release(&cause);
}

/* Return the number after a word at the beginning of a line, or 0. */
static uint64_t proc_number_in(const char *path, const char *word)
{
	struct buf b = BUF_INIT;
	const char *line;
	uint64_t v = 0;

	if (!io_slurp(path, &b))
		for (line = b.data; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
			if (!strncmp(line, word, strlen(word)) && line[strlen(word)] == ' ')
				v = strtoull(line + strlen(word), NULL, 10);
	buf_release(&b);
	return v;
}

/* Return how many processes in the control group of pid the kernel has killed for want of memory. */
static uint64_t group_kills(int pid)
{
	struct buf b = BUF_INIT;
	char path[512];
	const char *at;
	uint64_t n = 0;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	if (io_slurp(path, &b) || !b.len) {
		buf_release(&b);
		return 0;
	}
	if ((at = strstr(b.data, ":memory:"))) {
		at += strlen(":memory:");
		snprintf(path, sizeof(path), "/sys/fs/cgroup/memory%.*s/memory.oom_control",
			 (int)strcspn(at, "\n"), at);
		n = proc_number_in(path, "oom_kill");
	} else if (!strncmp(b.data, "0::", 3)) {
		snprintf(path, sizeof(path), "/sys/fs/cgroup%.*s/memory.events", (int)strcspn(b.data + 3, "\n"),
			 b.data + 3);
		n = proc_number_in(path, "oom_kill");
	}
	buf_release(&b);
	return n;
}

static uint64_t target_kills(const struct collect *c)
{
	uint64_t n = c->child_pid ? group_kills(c->child_pid) : 0;
	size_t i;

	for (i = 0; i < c->o->nr_pids; i++)
		n = MAX(n, group_kills(c->o->pids[i]));
	return n;
}

static uint64_t machine_kills(void)
{
	return proc_number_in("/proc/vmstat", "oom_kill");
}

static void look_at_kills(struct collect *c)
{
	uint64_t n = target_kills(c);

	if (n > c->triggers->oom_kills && c->triggers->looked_ns)
		met_all(c, CONDITION_OOM, 0, 0, "the kernel killed a process of the control group for want of memory");
	c->triggers->oom_kills = MAX(n, c->triggers->oom_kills);
}

/* ---- what others notice ---- */

void triggers_event(struct collect *c, const struct jvm_event *r, uint32_t proc)
{
	const struct trigger_opts *o = &c->o->trigger;
	struct buf cause = BUF_INIT;
	size_t i;

	if (!c->triggers)
		return;
	if (r->kind == JVM_EVENT_OUT_OF_MEMORY && c->triggers->wanted[CONDITION_OOM]) {
		buf_add(&cause, r->what, r->what_len);
		met_all(c, CONDITION_OOM, 0, proc, cause.len ? cause.data : "memory of a JVM is exhausted");
	}
	for (i = 0; i < o->nr_conditions; i++) {
		if (o->conditions[i].kind != CONDITION_GC || r->kind != JVM_EVENT_GC ||
		    r->duration_ns == EVENT_UNKNOWN || r->duration_ns <= o->conditions[i].limit)
			continue;
		buf_reset(&cause);
		buf_fmt(&cause, "%.1f ms of ", r->duration_ns / 1e6);
		buf_add(&cause, r->what, r->what_len);
		triggers_call(c, i, proc, cause.data);
	}
	buf_release(&cause);
}

bool triggers_signal(struct collect *c, int sig)
{
	char cause[32];

	snprintf(cause, sizeof(cause), "SIG%s", condition_signal_name(sig) ? condition_signal_name(sig) : "");
	return c->triggers && met_all(c, CONDITION_SIGNAL, sig, 0, cause);
}

static void trigger_missed(struct collect *c, enum condition_kind kind, const struct err *e)
{
	const struct trigger_opts *o = &c->o->trigger;
	size_t i;

	for (i = 0; i < o->nr_conditions; i++)
		if (o->conditions[i].kind == kind && o->missed)
			o->missed(&o->conditions[i], e);
}

static bool was_named(const struct collect *c, int pid)
{
	size_t i;

	for (i = 0; i < c->o->nr_pids && c->o->pids[i] != pid; i++)
		;
	return i < c->o->nr_pids;
}

/* Report who died and left which file. The command's own status tells its parent. */
static void on_ended(void *ctx, const struct crash *x)
{
	struct buf cause = BUF_INIT;
	struct collect *c = ctx;
	int sig = x->status >= 0 ? crashes_signal(x->status) : 0;
	struct err e;

	if (sig) {
		if (x->pid == c->child_pid)
			buf_str(&cause, "the program");
		else
			put_process(c, x->pid, &cause);
		buf_fmt(&cause, " died of SIG%s", sigabbrev_np(sig));
	}
	if (x->error_file)
		buf_fmt(&cause, "%sa JVM crashed and wrote %s", cause.len ? "; " : "", x->error_file);
	if (cause.len) {
		met_all(c, CONDITION_CRASH, 0, 0, cause.data);
	} else if (x->status < 0 && was_named(c, x->pid)) {
		err_set(&e, ENODATA, "how process %d ended only its parent knows%s", x->pid,
			x->is_jvm ? ", and no file of a crash was found" : "");
		trigger_missed(c, CONDITION_CRASH, &e);
	}
	buf_release(&cause);
}

static void look_for_crashes(struct collect *c)
{
	if (c->triggers->wanted[CONDITION_CRASH])
		crashes_look(&c->triggers->crashes, on_ended, c);
}

void triggers_jvm(struct collect *c, int pid)
{
	if (c->triggers && c->triggers->wanted[CONDITION_CRASH])
		crashes_watch(&c->triggers->crashes, pid);
}

int triggers_fd(const struct collect *c, int pid)
{
	return c->triggers ? crashes_fd(&c->triggers->crashes, pid) : -1;
}

void triggers_last(struct collect *c)
{
	if (c->triggers)
		look_for_crashes(c);
}

void triggers_ended(struct collect *c, int status)
{
	bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	int sig = crashes_signal(status);
	char cause[80];

	if (!c->triggers)
		return;
	if (c->triggers->wanted[CONDITION_OOM])
		look_at_kills(c);
	if (c->triggers->wanted[CONDITION_OOM] && killed && machine_kills() > c->triggers->oom_kills_all)
		met_all(c, CONDITION_OOM, 0, 0, "the program was killed when the kernel wanted memory");
	look_for_crashes(c);		/* a JVM says more */
	if (c->triggers->wanted[CONDITION_CRASH] && sig) {
		snprintf(cause, sizeof(cause), "the program died of SIG%s", sigabbrev_np(sig));
		met_all(c, CONDITION_CRASH, 0, 0, cause);
	}
	if (WIFSIGNALED(status))
		snprintf(cause, sizeof(cause), "the program died of SIG%s",
			 sigabbrev_np(WTERMSIG(status)) ? sigabbrev_np(WTERMSIG(status)) : "RT");
	else
		snprintf(cause, sizeof(cause), "exit status %d", WEXITSTATUS(status));
	if (status)
		met_all(c, CONDITION_FAILURE, 0, 0, cause);
}

/* ---- the recording ---- */

uint32_t triggers_tell(const struct trigger_opts *o)
{
	static const uint32_t tells[CONDITION_NR] = {
		[CONDITION_GC] = JVM_TELL_GC, [CONDITION_OOM] = JVM_TELL_OOM,
	};
	uint32_t tell = 0;
	size_t i;

	for (i = 0; i < o->nr_conditions; i++)
		tell |= tells[o->conditions[i].kind];
	return tell;
}

static void triggers_turn(struct collect *c, uint64_t now_ns)
{
	struct triggers *t = c->triggers;

	if (!t || !c->begun_ns)
		return;
	look_for_crashes(c);
	if (now_ns < t->looked_ns + LOOK_NS)
		return;
	if (t->wanted[CONDITION_CPU])
		look_at_cpu(c, now_ns);
	/* at the begin the program is not there yet */
	if (t->wanted[CONDITION_RSS] && t->looked_ns)
		look_at_memory(c);
	if (t->wanted[CONDITION_OOM])
		look_at_kills(c);
	t->looked_ns = now_ns;
}

void triggers_open(struct collect *c)
{
	const struct trigger_opts *o = &c->o->trigger;
	uint64_t span_ns = 0;
	struct triggers *t;
	size_t i;

	if (!o->nr_conditions)
		return;
	c->triggers = t = xcalloc(1, sizeof(*t));
	t->ready_ns = xcalloc(o->nr_conditions, sizeof(*t->ready_ns));
	for (i = 0; i < o->nr_conditions; i++) {
		t->wanted[o->conditions[i].kind] = true;
		span_ns = MAX(span_ns, o->conditions[i].span_ns);
	}
	t->alloc_looks = span_ns / LOOK_NS + 2;
	t->looks = xcalloc(t->alloc_looks, sizeof(*t->looks));
	t->oom_kills_all = machine_kills();
	for (i = 0; i < c->o->nr_pids; i++)
		triggers_jvm(c, c->o->pids[i]);
}

static void triggers_close_part(struct collect *c)
{
	struct triggers *t = c->triggers;

	if (!t)
		return;
	map_release(&t->ticks);
	crashes_release(&t->crashes);
	free(t->looks);
	free(t->ready_ns);
	free(t);
}

const struct part triggers_part = { .turn = triggers_turn, .close = triggers_close_part };
