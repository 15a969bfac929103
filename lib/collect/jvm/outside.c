// SPDX-License-Identifier: GPL-2.0-or-later
/* outside.c - see outside.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "collect/engine/recording.h"
#include "collect/jvm/outside.h"
#include "jvm/deputy.h"
#include "jvm/reserve.h"
#include "outside/outside.h"

struct outside {
	int pid;
	struct outside_share *share;
	int wake_fd;			/* -1: it was told to end */
	bool told;			/* why it gave up */
	bool labelled;			/* the trace has why we are here: */
	char why[256];
};

const char *outside_lacks(const struct collect *c)
{
	const struct collect_opts *o = c->o;

	return o->java != JAVA_SAMPLE ? "names of Java code without samples" :
	       c->only_jvms ? "samples without perf events" :
	       o->callflow.on || c->timed ? "exact calls" :
	       o->nr_sources ? "sources of samples other than perf events" :
	       o->jvm_events ? "events of JVMs" :
	       o->ev.callgraph != CALLGRAPH_DWARF ? "stacks by other means than --call-graph=dwarf" : NULL;
}

static void outside_part_run(void *ctx, struct jvm_ctl *area, int keep_fd)
{
	const struct outside *o = ctx;

	outside_run(o->pid, area, o->share, keep_fd);
}

static struct outside *new_outside(int pid, int *keep_fd, struct err *e)
{
	struct outside *o = xcalloc(1, sizeof(*o));
	int fds[2];

	*o = (struct outside){ .pid = pid, .wake_fd = -1 };
	o->share = mmap(NULL, OUTSIDE_SHARE_BYTES, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (o->share == MAP_FAILED || pipe2(fds, O_CLOEXEC)) {
		err_errno(e, "a process that walks Java stacks");
		if (o->share != MAP_FAILED)
			munmap(o->share, OUTSIDE_SHARE_BYTES);
		free(o);
		return NULL;
	}
	o->wake_fd = fds[1];
	*keep_fd = fds[0];
	/* a full pipe wakes as well */
	fcntl(o->wake_fd, F_SETFL, O_NONBLOCK);
	return o;
}

static void outside_part_end(struct outside *o)
{
	if (o->wake_fd >= 0)
		close(o->wake_fd);
	o->wake_fd = -1;
}

void outside_free(struct outside *o)
{
	if (!o)
		return;
	outside_part_end(o);
	munmap(o->share, OUTSIDE_SHARE_BYTES);
	free(o);
}

static struct java *add_java(struct collect *c, struct jvm *jvm, struct proc *p, struct outside *o)
{
	struct java *j = java_new(jvm, p);

	j->outside = o;
	j->next = c->javas;
	c->javas = j;
	p->had_agent = true;
	c->res->nr_strange_jvms -= p->strange;
	p->strange = false;
	jvm_set_user(jvm, j);
	c->res->nr_jvms++;
	return j;
}

/* Note that it is a JVM without Java stacks. */
static void forget_java(struct collect *c, const struct java *j)
{
	j->outside->told = true;
	j->proc->had_agent = false;
	c->res->nr_jvms--;
}

static bool outside_part_is_known(const struct java *j)
{
	return j->gone || load_acquire(&j->outside->share->state) != OUTSIDE_STARTS;
}

static int wait_until_known(struct collect *c, const struct java *j, struct err *e)
{
	enum { PATIENCE_MS = 8000 };
	int ms;

	for (ms = 0; !outside_part_is_known(j) && ms < PATIENCE_MS; ms++) {
		clock_sleep_ns(1000000);
		jvm_server_poll(c->jvm);
		collect_merge(c, clock_mono_ns() - 10000000);
	}
	if (j->gone || load_acquire(&j->outside->share->state) != OUTSIDE_WALKS) {
		forget_java(c, j);
		return err_set(e, ENOTSUP, "process %d: its Java stacks cannot be walked from outside: %s", j->outside->pid,
			       *j->outside->share->why ? j->outside->share->why : "it has not started yet");
	}
	return 0;
}

/* Label a JVM once it is walked, as the file then has such stacks. */
static void outside_part_tell(struct collect *c, struct java *j)
{
	struct outside *o = j->outside;
	char key[32];

	if (o->labelled || load_acquire(&o->share->state) != OUTSIDE_WALKS)
		return;
	o->labelled = true;
	snprintf(key, sizeof(key), "outside.%" PRIu64, c->res->nr_outside++);
	trace_write_label(c->w, key, "process %d%s%s", o->pid, *o->why ? ": " : "", o->why);
}

int outside_begin(struct collect *c, struct proc *p, bool wait, const char *why, struct err *e)
{
	struct java *j;
	struct outside *o;
	struct jvm *jvm;
	int keep_fd;

	p->try_ns = UINT64_MAX;
	if (!outside_possible())
		return err_set(e, ENOTSUP, "Java stacks are walked from outside on x86-64 only");
	o = new_outside(p->pid, &keep_fd, e);
	if (!o)
		return -e->code;
	jvm = jvm_deputy(c->jvm, p->pid, keep_fd, outside_part_run, o, e);
	close(keep_fd);
	if (!jvm) {
		outside_free(o);
		return -e->code;
	}
	snprintf(o->why, sizeof(o->why), "%s", why);
	j = add_java(c, jvm, p, o);
	return wait ? wait_until_known(c, j, e) : 0;
}

static void look_for_new(struct collect *c)
{
	struct proc *p;
	struct err e;

	for (p = c->tasks.procs; p; p = p->next)
		if (p->has_libjvm && !p->had_agent && p->nr_live && !p->replaced_ns && !p->try_ns &&
		    outside_begin(c, p, false, c->why_outside ? c->why_outside : "", &e))
			refused_source(&c->refused, "Java stacks", p->pid, e.msg);
}

static void tell_end(struct collect *c, struct outside *o, const char *why)
{
	o->told = true;
	refused_source(&c->refused, "Java stacks from outside", o->pid, why);
}

static bool outside_part_is_gone(int pid)
{
	return kill(pid, 0) && errno == ESRCH;
}

/* Look for JVMs that were started without the agent, such as those whose environment was cleared. */
static void look_for_lonely(struct collect *c)
{
	enum { PATIENCE_NS = 2000000000 };
	const char *why = *c->res->no_agent ? c->res->no_agent : "no agent was loaded when it started";
	const uint64_t now = clock_mono_ns();
	struct proc *p;
	struct err ignored;

	for (p = c->tasks.procs; p; p = p->next) {
		if (!p->has_libjvm || p->had_agent || !p->nr_live || p->replaced_ns || now < p->try_ns)
			continue;
		if (clock_ahead_ns(p->pid))
			outside_begin(c, p, false, OUTSIDE_OTHER_CLOCK, &ignored);
		else if (!p->try_ns)
			p->try_ns = now + PATIENCE_NS;
		else
			outside_begin(c, p, false, why, &ignored);
	}
}

/* Return whether to look for JVMs here; those of the whole machine get theirs by agents_attach_jvms(). */
static bool are_looked_for(const struct collect *c)
{
	return c->o->java_by == JAVA_AUTO && c->jvm && c->o->argv && !c->o->all_jvms && outside_possible() &&
	       !outside_lacks(c);
}

void outside_turn(struct collect *c)
{
	struct java *j;

	if (collect_from_outside(c) && c->jvm)
		look_for_new(c);
	else if (are_looked_for(c))
		look_for_lonely(c);
	for (j = c->javas; j; j = j->next) {
		struct outside *o = j->outside;

		if (!o)
			continue;
		outside_part_tell(c, j);
		if (!j->proc->nr_live || j->proc->replaced_ns)
			outside_part_end(o);
		if (o->told)
			continue;
		if (load_acquire(&o->share->state) == OUTSIDE_GAVE_UP) {
			tell_end(c, o, o->share->why);
			forget_java(c, j);
		} else if (j->gone && o->wake_fd >= 0 && !outside_part_is_gone(o->pid)) {
			tell_end(c, o, "the process that walked them has ended");
		}
	}
}

bool outside_walks(const struct java *j)
{
	return j && j->outside && !j->gone && j->outside->wake_fd >= 0 &&
	       load_acquire(&j->outside->share->state) == OUTSIDE_WALKS;
}

static bool has_all_answers(const struct collect *c)
{
	const struct java *j;

	for (j = c->javas; j; j = j->next)
		if (outside_walks(j) && load_acquire(&j->outside->share->ring.tail) !=
						load_relaxed(&j->outside->share->ring.head))
			return false;
	return true;
}

void outside_wait(struct collect *c)
{
	enum { TURN_NS = 1000000, MOST_NS = 300000000 };
	const uint64_t until_ns = clock_mono_ns() + collect_patience_ns(c, MOST_NS);

	while (!has_all_answers(c) && clock_mono_ns() < until_ns) {
		jvm_server_drain(c->jvm, false);	/* there must be room for them */
		clock_sleep_ns(TURN_NS);
	}
}

bool outside_ask(struct java *j, const struct rec_sample *s, int tid, const struct perf_sample *ps, bool cut)
{
	struct outside *o = j->outside;
	const struct unwind_regs *r = &ps->regs;
	uint64_t off = r->sp - ps->stack.sp;
	size_t len = off < ps->stack.len ? MIN(ps->stack.len - off, (size_t)OUTSIDE_MAX_STACK) & ~7ul : 0;
	size_t size = sizeof(struct outside_ask) + len, i;
	struct outside_ask *a = jvm_ring_reserve(&o->share->ring, OUTSIDE_RING_BYTES, size);

	if (!a)
		return false;
	memset((char *)a + sizeof(a->h), 0, sizeof(*a) - sizeof(a->h));
	a->time_ns = s->time_ns;
	a->tid = tid;
	a->event = s->event;
	for (i = 0; i < OUTSIDE_NR_REGS; i++)
		a->reg[i] = r->valid >> i & 1 ? r->r[i] : 0;
	a->pc = r->pc;
	a->sp = r->sp;
	a->exact = r->exact;
	a->cut = cut;
	a->stack_bytes = len;
	if (len)
		memcpy(a + 1, ps->stack.data + off, len);
	jvm_ring_commit(a, OUTSIDE_RING_BYTES, size, JVM_REC_SAMPLE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	/* if that fails, it has ended */
	if (load_relaxed(&o->share->sleeps) && write(o->wake_fd, "", 1) < 0)
		return errno == EAGAIN;
	return true;
}
