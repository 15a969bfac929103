// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * footprint.c - "record --memory": where the resident memory of the recorded processes is (lib/resident),
 * read now and then, and once more before the recording ends.
 *
 * A child of ours does the reading: a JVM answers when it has time, and the recording goes on meanwhile. Who
 * does not answer in time is left out, and named.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "collect/engine/recording.h"
#include "resident/resident.h"

/* A first reading comes soon, for what is over early; no process is waited for longer than SILENCE_NS. */
static const uint64_t FIRST_NS = 1000000000, SILENCE_NS = 10000000000;
/* Time for a JVM to answer: in a reading between others, and in the last, for which the user waits. */
static const uint64_t PATIENCE_NS = 5000000000, LAST_PATIENCE_NS = 2000000000;
enum { FAILED = UINT32_MAX };

/* A line from the child, which is ours. */
struct line {
	uint64_t time_ns;
	uint32_t proc, kind;		/* enum footprint_kind, or FAILED: text is why */
	uint64_t resident, swapped, committed, mapped;
	char text[256];
};

struct target {
	uint32_t proc;
	int pid;
};

struct footprints {
	uint64_t due_ns, heard_ns;
	pid_t child;			/* 0: no reading is on */
	int fd;				/* what it writes to */
	struct buf said;
	uint64_t nr_asked, nr_answers;	/* processes of the reading that is on */
	uint64_t nr_silent, nr_failed;
	char why[256];			/* the first that failed */
};

/* ---- the child ---- */

static void footprint_put(struct buf *b, const struct line *line, uint32_t kind, const char *text,
			  const struct resident_sum *s)
{
	struct line l = *line;

	l.kind = kind;
	l.resident = s->rss;
	l.swapped = s->swap;
	l.committed = s->usable;
	l.mapped = s->mapped;
	snprintf(l.text, sizeof(l.text), "%s", text);
	buf_add(b, &l, sizeof(l));
}

static void put_resident(struct buf *b, const struct line *line, const struct resident *r)
{
	const struct resident_sum head = {
		.rss = (r->is_jvm ? FOOTPRINT_IS_JVM : 0) | (r->not_read ? FOOTPRINT_NOT_READ : 0),
		.swap = r->nr_threads, .usable = r->malloc_unknown,
	};
	size_t i;

	footprint_put(b, line, FOOTPRINT_PROCESS, r->jvm, &head);
	if (*r->not_asked)
		footprint_put(b, line, FOOTPRINT_NOT_ASKED, r->not_asked, &(struct resident_sum){ 0 });
	if (r->is_jvm)
		footprint_put(b, line, FOOTPRINT_BUFFERS, r->buffers.why,
			      &(struct resident_sum){ .rss = r->buffers.nr, .usable = r->buffers.bytes });
	for (i = 0; i < RESIDENT_NR_PARTS; i++)
		if (r->parts[i].rss || r->parts[i].mapped)
			footprint_put(b, line, FOOTPRINT_PART, resident_keys[i], &r->parts[i]);
	for (i = 0; i < r->nmt.nr; i++)
		footprint_put(b, line, FOOTPRINT_CATEGORY, r->nmt.items[i].name, &(struct resident_sum){
			.rss = r->nmt.items[i].malloc, .usable = r->nmt.items[i].mapped });
}

/* Write a reading in one write, if it fits in what the recorder takes. */
static void read_one(const struct target *t, uint64_t patience_ns, int out)
{
	struct line line = { .time_ns = clock_mono_ns(), .proc = t->proc };
	struct buf b = BUF_INIT;
	struct resident r;
	struct err e;

	if (!resident_read(&r, t->pid, patience_ns, &e))
		put_resident(&b, &line, &r);
	else
		footprint_put(&b, &line, FAILED, e.code == ESRCH || e.code == ENOENT ? "" : e.msg,
			      &(struct resident_sum){ 0 });
	resident_release(&r);
	io_write_all(out, b.data, b.len);
	buf_release(&b);
}

/* ---- a reading ---- */

static bool footprint_proc_lives(const struct proc *p)
{
	return p->pid > 0 && p->pid != getpid() && p->nr_live && !p->replaced_ns;
}

static struct target *targets_of(const struct collect *c, size_t *nr)
{
	struct target *list = NULL;
	const struct proc *p;
	size_t alloc = 0;

	*nr = 0;
	for (p = c->tasks.procs; p; p = p->next) {
		if (!footprint_proc_lives(p))
			continue;
		VEC_GROW(list, *nr, alloc);
		list[(*nr)++] = (struct target){ p->id, p->pid };
	}
	return list;
}

static void footprint_start(struct collect *c, struct footprints *f, uint64_t patience_ns, uint64_t now_ns)
{
	int fds[2] = { -1, -1 };
	struct target *list;
	size_t nr, i;

	list = targets_of(c, &nr);
	if (!nr || pipe2(fds, O_CLOEXEC))
		goto out;
	f->child = fork();
	if (!f->child) {
		for (i = 0; i < nr; i++)
			read_one(&list[i], patience_ns, fds[1]);
		_exit(0);
	}
	close(fds[1]);
	if (f->child < 0 || fcntl(fds[0], F_SETFL, O_NONBLOCK)) {
		close(fds[0]);
		f->child = MAX(f->child, 0);
		goto out;
	}
	f->fd = fds[0];
	f->heard_ns = now_ns;
	f->nr_asked = nr;
	f->nr_answers = 0;
	buf_reset(&f->said);
out:
	free(list);
}

static void footprint_add_line(struct collect *c, struct footprints *f, const struct line *l)
{
	if (l->kind == FAILED && *l->text && !f->nr_failed++)
		memcpy(f->why, l->text, sizeof(f->why));
	f->nr_answers += l->kind == FAILED || l->kind == FOOTPRINT_PROCESS;
	if (l->kind == FAILED)
		return;
	trace_write_footprint(c->w, &(struct rec_footprint){
		.time_ns = l->time_ns, .proc = l->proc, .kind = l->kind, .resident = l->resident,
		.swapped = l->swapped, .committed = l->committed, .mapped = l->mapped,
		.text = l->text, .text_len = strlen(l->text),
	});
}

static void end_child(struct footprints *f)
{
	close(f->fd);
	kill(f->child, SIGKILL);
	while (waitpid(f->child, NULL, 0) < 0 && errno == EINTR)
		;
	f->child = 0;
}

static void footprint_finish(struct collect *c, struct footprints *f)
{
	struct line l;
	size_t at;

	for (at = 0; at + sizeof(l) <= f->said.len; at += sizeof(l)) {
		memcpy(&l, f->said.data + at, sizeof(l));
		footprint_add_line(c, f, &l);
	}
	f->nr_silent += f->nr_asked - MIN(f->nr_asked, f->nr_answers);
	end_child(f);
}

/* Takes what the child has said; it has ended, or nothing more is expected of it: so is the reading. */
static void listen_to(struct collect *c, struct footprints *f, uint64_t now_ns)
{
	struct line lines[64];
	ssize_t n;

	while ((n = read(f->fd, lines, sizeof(lines))) > 0) {
		buf_add(&f->said, lines, n);
		f->heard_ns = now_ns;
	}
	if (!n || (n < 0 && errno != EAGAIN && errno != EINTR) || now_ns > f->heard_ns + SILENCE_NS)
		footprint_finish(c, f);
}

/* ---- a recording ---- */

static struct footprints *footprints_of(struct collect *c)
{
	struct footprints *f = c->own[PART_footprint];

	if (!f) {
		c->own[PART_footprint] = f = xcalloc(1, sizeof(*f));
		f->due_ns = c->begun_ns + MIN(FIRST_NS, c->o->memory_ns);
	}
	return f;
}

static void footprint_turn(struct collect *c, uint64_t now_ns)
{
	struct footprints *f;

	if (!c->o->memory_ns || !c->begun_ns)
		return;
	f = footprints_of(c);
	if (f->child)
		listen_to(c, f, now_ns);
	if (f->child || now_ns < f->due_ns)
		return;
	footprint_start(c, f, PATIENCE_NS, now_ns);
	while (f->due_ns <= now_ns)
		f->due_ns += c->o->memory_ns;
}

static void footprint_wait_for(struct collect *c, struct footprints *f)
{
	while (f->child) {
		struct pollfd p = { .fd = f->fd, .events = POLLIN };

		poll(&p, 1, c->give_up_ns ? 20 : 100);
		listen_to(c, f, clock_mono_ns());
		if (f->child && collect_hurries(c))
			footprint_finish(c, f);
	}
}

static void footprint_recording_ends(struct collect *c, uint64_t now_ns)
{
	struct footprints *f;

	if (!c->o->memory_ns || !c->begun_ns)
		return;
	f = footprints_of(c);
	footprint_wait_for(c, f);
	footprint_start(c, f, LAST_PATIENCE_NS, clock_mono_ns());
	footprint_wait_for(c, f);
	if (f->nr_silent)
		refused_text(&c->refused, "memory of processes, %" PRIu64 " times: no answer in %" PRIu64 " s",
			     f->nr_silent, SILENCE_NS / 1000000000);
	if (f->nr_failed)
		refused_text(&c->refused, "memory of processes, %" PRIu64 " times: %s", f->nr_failed, f->why);
}

static void footprint_close_part(struct collect *c)
{
	struct footprints *f = c->own[PART_footprint];

	if (!f)
		return;
	if (f->child)
		end_child(f);
	buf_release(&f->said);
	free(f);
	c->own[PART_footprint] = NULL;
}

const struct part footprint_part = {
	.turn = footprint_turn, .ends = footprint_recording_ends, .close = footprint_close_part,
};
