// SPDX-License-Identifier: GPL-2.0-or-later
/* area.c - makes snapshots from a session's memory (area.h). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/mem.h"
#include "ptt/area.h"

int ptt_area_open(enum arcprof_source source, void **session, struct err *e)
{
	struct arcprof_area *a = xcalloc(1, sizeof(*a));
	int r = arcprof_area_open(a, source);

	if (!r) {
		*session = a;
		return 0;
	}
	free(a);
	/* bpf() may be refused whatever is asked */
	if (source == ARCPROF_BPF && access(ARCPROF_BPF_DIR, F_OK) && errno == ENOENT)
		r = -ENOENT;
	if (r == -EPROTO)
		return err_set(e, EPROTO, "the session is of another version of arcprof");
	if (r == -EACCES || r == -EPERM) {
		err_set(e, -r, "the running session belongs to another user");
		err_hint(e, "run as root, or use a session started with 'arcprof ptt init --all-users'");
		return r;
	}
	return err_set(e, -r, "%s", r == -ENOENT ? "no session is running" : strerror(-r));
}

void ptt_area_close(void *session)
{
	arcprof_area_close(session);
	free(session);
}

/* Read the name now, as it changes while a thread lives; the slot has it as of the thread's begin or end. */
static void name_now(struct ptt_thread *t)
{
	struct buf b = BUF_INIT;
	char path[64];

	if (!t->alive)
		return;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", t->pid, t->tid);
	if (!io_slurp(path, &b) && b.len)
		snprintf(t->comm, sizeof(t->comm), "%.*s", (int)strcspn(b.data, "\n"), b.data);
	buf_release(&b);
}

static void values_of(const struct arcprof_slot *s, const struct arcprof_ptt_header *h, uint64_t *v)
{
	unsigned int i;

	v[PTT_DISPATCHES] = s->dispatches;
	v[PTT_INTERRUPTS] = s->interrupts;
	v[PTT_TIME] = arcprof_area_ns(h, s->acc[0]);
	v[PTT_IRQ_TIME] = arcprof_area_ns(h, s->irq_time);
	v[PTT_FAULTS] = s->faults;
	v[PTT_SWITCHES] = s->switches;
	v[PTT_MIGRATIONS] = s->migrations;
	for (i = 0; i < PTT_MAX_COUNTERS; i++)
		v[PTT_COUNTER + i] = i + 1 < h->nr_metrics ? s->acc[i + 1] : 0;
}

static void add_thread(struct ptt_snapshot *s, const struct arcprof_area *a, uint32_t idx, bool same_numbers)
{
	struct arcprof_slot slot;
	struct ptt_thread t = { 0 };

	if (!arcprof_area_slot(a, idx, &slot) || !(slot.flags & ARCPROF_SLOT_USED))
		return;
	t.pid = slot.tgid;
	t.tid = slot.tid;
	t.alive = !(slot.flags & ARCPROF_SLOT_DEAD);
	t.id = (uint64_t)idx << 40 ^ slot.gen;
	memcpy(t.comm, slot.comm, sizeof(t.comm));
	if (same_numbers)
		name_now(&t);
	values_of(&slot, a->header, t.v);
	*VEC_ADD(s->threads, s->nr_threads, s->alloc_threads) = t;
}

static void add_cpu(struct ptt_snapshot *s, const struct arcprof_area *a, uint32_t cpu)
{
	const struct arcprof_ptt_header *h = a->header;
	struct ptt_cpu c = { .cpu = cpu };
	struct arcprof_cpu v;
	size_t i;

	if (!arcprof_area_cpu(a, cpu, &v) || !(v.flags & ARCPROF_CPU_STARTED))
		return;
	for (i = 0; i < PTT_NR_BUCKETS; i++)
		c.bucket_ns[i] = arcprof_area_ns(h, v.bucket[i]);
	c.elapsed_ns = arcprof_area_ns(h, v.last[0] - v.start);
	c.nr_hardirqs = v.nr_hardirqs;
	c.nr_softirqs = v.nr_softirqs;
	c.nr_switches = v.nr_switches;
	c.nr_lost = v.nr_lost;
	*VEC_ADD(s->cpus, s->nr_cpus, s->alloc_cpus) = c;
}

static uint32_t known_of(const struct arcprof_ptt_header *h)
{
	uint32_t known = (1u << (PTT_COUNTER + h->nr_metrics - 1)) - 1;

	if (h->flags & ARCPROF_PTT_NO_IRQ)
		known &= ~(1u << PTT_INTERRUPTS | 1u << PTT_IRQ_TIME);
	return known;
}

int ptt_area_read(void *session, struct ptt_snapshot *s, struct err *e)
{
	const struct arcprof_area *a = session;
	const struct arcprof_ptt_header *h = a->header;
	struct arcprof_slot gone;
	uint32_t i, nr = arcprof_area_nr_used(a);
	bool same_numbers = arcprof_area_same_numbers();

	if (!arcprof_area_live(a))
		return err_set(e, ENOENT, "the session has ended");
	s->known = known_of(h);
	s->nr_gone = h->nr_recycled;
	s->nr_refused = h->nr_refused;
	if (arcprof_area_slot(a, 0, &gone))
		values_of(&gone, h, s->gone);
	for (i = 1; i < nr; i++)
		add_thread(s, a, i, same_numbers);
	for (i = 0; i < h->nr_cpus; i++)
		add_cpu(s, a, i);
	s->session_ns = arcprof_area_ns(h, arcprof_area_now(h) - h->start);
	return 0;
}

/* Return a generic name if there is one of the same type and config, else perf's numbers. */
bool ptt_area_counter(void *session, size_t i, char *name, size_t size)
{
	const struct arcprof_ptt_header *h = ((const struct arcprof_area *)session)->header;
	const struct arcprof_metric *m = &h->metric[i + 1];
	const char *generic;
	struct pmu_event ev;
	struct err ignored;
	size_t g;

	if (i + 1 >= h->nr_metrics)
		return false;
	for (g = 0; (generic = pmu_event_generic(g)); g++) {
		if (pmu_event_parse(generic, &ev, &ignored) || ev.attr.type != m->type ||
		    ev.attr.config != m->config)
			continue;
		snprintf(name, size, "%s", generic);
		return true;
	}
	snprintf(name, size, "event-%u-%" PRIx64, m->type, (uint64_t)m->config);
	return true;
}
