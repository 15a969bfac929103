// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * top_procs.c - what is shown beside the names of processes.
 *
 * A process whose first sample comes has been read before, when all were, or has begun since: its CPU
 * time is known from the first interval on.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/mem.h"
#include "jvm/perfdata.h"
#include "show/top_procs.h"

enum { MAX_LOOKS = 3 };	/* for the heap of what is not a JVM, or was none */

struct reading {
	uint64_t cpu_ticks, start, rss_bytes;
};

/* /proc/PID/stat: the name in brackets may have any characters; fields 14, 15, 22 and 24 come after it. */
static bool read_stat(int pid, struct reading *x)
{
	unsigned long long user, sys, start;
	struct buf b = BUF_INIT;
	const char *at = NULL;
	char path[64];
	long rss;
	bool ok;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (!io_slurp(path, &b) && b.len)
		at = strrchr(b.data, ')');
	ok = at && sscanf(at, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %*d "
			      "%*d %llu %*u %ld", &user, &sys, &start, &rss) == 4;
	if (ok)
		*x = (struct reading){ user + sys, start, (uint64_t)MAX(rss, 0l) * sysconf(_SC_PAGESIZE) };
	buf_release(&b);
	return ok;
}

static bool read_heap(int pid, struct perfdata_heap *heap)
{
	struct buf maps = BUF_INIT, data = BUF_INIT;
	bool known = false;
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (stat(path, &st))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	if (!io_slurp(path, &maps) && maps.len && !perfdata_read(pid, st.st_uid, maps.data, &data))
		known = perfdata_heap(data.data, data.len, heap);
	buf_release(&maps);
	buf_release(&data);
	return known;
}

static struct top_proc *top_procs_find(struct top_procs *p, int pid)
{
	size_t i;

	for (i = 0; i < p->nr; i++)
		if (p->list[i].pid == pid && !p->list[i].gone)
			return &p->list[i];
	return NULL;
}

static struct top_proc *top_procs_add(struct top_procs *p, int pid, uint64_t start, uint64_t ticks)
{
	struct top_proc *x;

	x = VEC_ADD(p->list, p->nr, p->alloc);
	*x = (struct top_proc){ .pid = pid, .start = start, .cpu_ticks = ticks, .read_ns = p->time_ns };
	memset(x->track, 0xff, sizeof(x->track));
	return x;
}

void top_procs_begin(struct top_procs *p, uint64_t now_ns)
{
	DIR *dir = opendir("/proc");
	struct reading x;
	int pid;

	p->time_ns = now_ns;
	while ((pid = io_next_number(dir)))
		if (read_stat(pid, &x))
			top_procs_add(p, pid, x.start, x.cpu_ticks);
	io_close_folder(dir);
}

static void top_procs_push(uint64_t *track, uint64_t v)
{
	memmove(track, track + 1, (TOP_TRACK - 1) * sizeof(*track));
	track[TOP_TRACK - 1] = v;
}

static uint64_t cpu_percent(uint64_t ticks, uint64_t elapsed_ns)
{
	return 100.0 * ticks * 1e9 / sysconf(_SC_CLK_TCK) / MAX(elapsed_ns, (uint64_t)1) + 0.5;
}

/* Measure a process. One that has ended keeps its line until its tracks are over. */
static void top_procs_measure(struct top_proc *x, uint64_t now_ns)
{
	uint64_t cpu = TOP_UNKNOWN, rss = TOP_UNKNOWN, heap = TOP_UNKNOWN;
	struct perfdata_heap h;
	struct reading now;

	x->gone = x->gone || !read_stat(x->pid, &now);
	if (!x->gone) {
		if (now.start != x->start)	/* another one got the number */
			x->cpu_ticks = 0;
		x->start = now.start;
		cpu = cpu_percent(now.cpu_ticks - MIN(x->cpu_ticks, now.cpu_ticks), now_ns - x->read_ns);
		x->cpu_ticks = now.cpu_ticks;
		x->read_ns = now_ns;
		rss = now.rss_bytes;
		if ((x->heap_max || x->nr_looks++ < MAX_LOOKS) && read_heap(x->pid, &h)) {
			x->heap_max = h.committed;
			heap = h.used ? h.used : TOP_UNKNOWN;	/* nothing is known before it collects */
		}
	}
	top_procs_push(x->track[TOP_CPU], cpu);
	top_procs_push(x->track[TOP_RSS], rss);
	top_procs_push(x->track[TOP_HEAP], heap);
}

/* Count the samples of processes, which are the roots of the tree. */
static void take_samples(struct top_procs *p, const struct model *m, const struct flow *f)
{
	struct top_proc *x;
	size_t i;

	for (i = 0; i < p->nr; i++)
		p->list[i].samples = 0;
	for (i = 1; i < f->nr_nodes; i++) {
		const struct consumer *c = &m->consumers.items[f->nodes[i].consumer];

		if (f->nodes[i].parent || c->kind != CONSUMER_PROCESS)
			continue;
		x = top_procs_find(p, (int)(c->key >> 32));
		if (!x)
			x = top_procs_add(p, (int)(c->key >> 32), 0, 0);
		if (strcmp(x->name, model_str(m, c->name)))
			x->nr_looks = 0;	/* it may have become a JVM */
		snprintf(x->name, sizeof(x->name), "%s", model_str(m, c->name));
		x->samples += *flow_cum(f, i);
		x->last_interval = p->interval;
	}
}

static int most_first(const void *p, const void *q)
{
	const struct top_proc *a = p, *b = q;

	return COMPARE(b->samples, a->samples) ?: COMPARE(b->last_interval, a->last_interval) ?:
	       a->pid - b->pid;
}

static bool is_active(const struct top_procs *p, const struct top_proc *x)
{
	return x->last_interval && p->interval - x->last_interval < TOP_TRACK;
}

/* Return whether to keep a process. Inactive ones are not read, but dropped when they have ended. */
static bool is_left(const struct top_procs *p, const struct top_proc *x)
{
	return is_active(p, x) || (!x->gone && (!kill(x->pid, 0) || errno != ESRCH));
}

void top_procs_update(struct top_procs *p, const struct model *m, const struct flow *f, uint64_t now_ns)
{
	size_t i, nr = 0;

	p->interval++;
	take_samples(p, m, f);
	for (i = 0; i < p->nr; i++)
		if (is_active(p, &p->list[i]))
			top_procs_measure(&p->list[i], now_ns);
	for (i = 0; i < p->nr; i++)
		if (is_left(p, &p->list[i]))
			p->list[nr++] = p->list[i];
	p->nr = nr;
	if (nr)
		qsort(p->list, nr, sizeof(*p->list), most_first);
	p->time_ns = now_ns;
}

size_t top_procs_nr_active(const struct top_procs *p)
{
	size_t i, nr = 0;

	for (i = 0; i < p->nr; i++)
		nr += is_active(p, &p->list[i]);
	return nr;
}

void top_procs_release(struct top_procs *p)
{
	free(p->list);
}
