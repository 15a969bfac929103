// SPDX-License-Identifier: GPL-2.0-or-later
/* ptt.c - sessions of Per-Thread Time, whatever the back end (ptt.h). */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "ptt/ptt.h"

const struct ptt_backend *const ptt_backends[] = { &ptt_bpf, &ptt_module, &ptt_proc, NULL };

static const struct ptt_backend *ptt_find(const char *name)
{
	size_t i;

	for (i = 0; ptt_backends[i]; i++)
		if (!strcmp(ptt_backends[i]->name, name))
			return ptt_backends[i];
	return NULL;
}

/* Return whether a session of a better back end runs, beside which that of "proc" would go unseen. */
static bool is_running(void)
{
	struct ptt p;
	struct err ignored = { 0 };
	int r = ptt_open(&p, &ignored);

	if (!r)
		ptt_close(&p);
	return !r;
}

/* Tries the back ends from the best to the worst; the final error also says why the best one failed. */
static int start_best(const struct ptt_config *c, const struct ptt_backend **used, struct err *e)
{
	struct err why = { 0 };
	size_t i;
	int r = -ENOTSUP;

	for (i = 0; ptt_backends[i] && r; i++) {
		memset(e, 0, sizeof(*e));
		*used = ptt_backends[i];
		r = ptt_backends[i]->start(c, e);
		if (r == -EEXIST)
			return r;
		if (r && !why.code)
			why = *e;
	}
	if (!r && *used == &ptt_proc)
		*e = why;
	return r;
}

int ptt_start(const struct ptt_config *c, const struct ptt_backend **used, struct err *e)
{
	if (is_running()) {
		err_set(e, EEXIST, "a session is running already");
		err_hint(e, "'arcprof ptt term' ends it, 'arcprof ptt info' says what it is");
		return -EEXIST;
	}
	if (!c->backend)
		return start_best(c, used, e);
	*used = ptt_find(c->backend);
	return *used ? (*used)->start(c, e) : err_set(e, EINVAL, "'%s' is not a back end", c->backend);
}

int ptt_open(struct ptt *p, struct err *e)
{
	struct err first = { 0 };
	size_t i;
	int r;

	for (i = 0; ptt_backends[i]; i++) {
		p->backend = ptt_backends[i];
		r = p->backend->open(&p->session, e);
		if (!r)
			return 0;
		if (r != -ENOENT && !first.code)
			first = *e;
	}
	if (first.code) {
		*e = first;
		return -first.code;
	}
	err_set(e, ENOENT, "no session is running");
	err_hint(e, "'arcprof ptt init' begins one");
	return -ENOENT;
}

int ptt_stop(struct err *e)
{
	struct err first = { 0 };
	bool stopped = false;
	size_t i;

	for (i = 0; ptt_backends[i]; i++) {
		int r = ptt_backends[i]->stop(e);

		if (!r)
			stopped = true;
		else if (r != -ENOENT && !first.code)
			first = *e;
	}
	if (first.code) {
		*e = first;
		return -first.code;
	}
	return stopped ? 0 : err_set(e, ENOENT, "no session is running");
}

void ptt_close(struct ptt *p)
{
	p->backend->close(p->session);
}

/* ---- snapshots ---- */

static int by_thread(const void *a, const void *b)
{
	const struct ptt_thread *x = a, *y = b;

	if (x->pid != y->pid)
		return COMPARE(x->pid, y->pid);
	if (x->tid != y->tid)
		return COMPARE(x->tid, y->tid);
	return COMPARE(x->id, y->id);
}

int ptt_read(struct ptt *p, struct ptt_snapshot *s, struct err *e)
{
	int r;

	s->nr_threads = s->nr_cpus = 0;
	s->nr_gone = s->nr_refused = 0;
	memset(s->gone, 0, sizeof(s->gone));
	r = p->backend->read(p->session, s, e);
	s->time_ns = clock_mono_ns();
	if (s->nr_threads)
		qsort(s->threads, s->nr_threads, sizeof(*s->threads), by_thread);
	return r;
}

void ptt_snapshot_release(struct ptt_snapshot *s)
{
	free(s->threads);
	free(s->cpus);
	memset(s, 0, sizeof(*s));
}

void ptt_snapshot_copy(struct ptt_snapshot *to, const struct ptt_snapshot *from)
{
	struct ptt_thread *threads = to->threads;
	struct ptt_cpu *cpus = to->cpus;

	threads = xrealloc(threads, (from->nr_threads + 1) * sizeof(*threads));
	cpus = xrealloc(cpus, (from->nr_cpus + 1) * sizeof(*cpus));
	*to = *from;
	to->threads = threads;
	to->alloc_threads = from->nr_threads + 1;
	to->cpus = cpus;
	to->alloc_cpus = from->nr_cpus + 1;
	if (from->nr_threads)
		memcpy(threads, from->threads, from->nr_threads * sizeof(*threads));
	if (from->nr_cpus)
		memcpy(cpus, from->cpus, from->nr_cpus * sizeof(*cpus));
}

static void subtract(uint64_t *v, const uint64_t *before, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		v[i] -= MIN(v[i], before[i]);
}

static void diff_threads(struct ptt_snapshot *now, const struct ptt_snapshot *before)
{
	struct map old = MAP_INIT;
	size_t i, nr = 0;

	for (i = 0; i < before->nr_threads; i++)
		*map_put(&old, before->threads[i].id) = i;
	for (i = 0; i < now->nr_threads; i++) {
		struct ptt_thread *t = &now->threads[i];
		uint32_t o = map_get(&old, t->id);

		if (o != MAP_NONE)
			subtract(t->v, before->threads[o].v, PTT_NR_FIELDS);
		if (t->v[PTT_TIME] || t->v[PTT_DISPATCHES] || t->v[PTT_IRQ_TIME])
			now->threads[nr++] = *t;
	}
	now->nr_threads = nr;
	map_release(&old);
}

static void diff_cpus(struct ptt_snapshot *now, const struct ptt_snapshot *before)
{
	size_t i, k;

	for (i = 0; i < now->nr_cpus; i++) {
		struct ptt_cpu *c = &now->cpus[i];

		for (k = 0; k < before->nr_cpus && before->cpus[k].cpu != c->cpu; k++)
			;
		if (k == before->nr_cpus)
			continue;
		subtract(&c->elapsed_ns, &before->cpus[k].elapsed_ns, 1);
		subtract(c->bucket_ns, before->cpus[k].bucket_ns, PTT_NR_BUCKETS);
		subtract(&c->nr_hardirqs, &before->cpus[k].nr_hardirqs, 1);
		subtract(&c->nr_softirqs, &before->cpus[k].nr_softirqs, 1);
		subtract(&c->nr_switches, &before->cpus[k].nr_switches, 1);
		subtract(&c->nr_lost, &before->cpus[k].nr_lost, 1);
	}
}

void ptt_snapshot_diff(struct ptt_snapshot *now, const struct ptt_snapshot *before)
{
	diff_threads(now, before);
	diff_cpus(now, before);
	subtract(now->gone, before->gone, PTT_NR_FIELDS);
	subtract(&now->nr_gone, &before->nr_gone, 1);
	subtract(&now->nr_refused, &before->nr_refused, 1);
	subtract(&now->session_ns, &before->session_ns, 1);
}
