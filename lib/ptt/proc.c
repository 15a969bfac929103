// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * proc.c - a session without privileges. /proc has what each thread has consumed since it began,
 * and a file in the user's own folder has the same as of the session's beginning. Times include interrupts,
 * and threads that have ended are missing.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"
#include "pmu/mpevt.h"
#include "ptt/proc.h"

#define NOTE_HEAD "arcprof ptt 1"
enum { MAX_NOTE = 64 << 20 };

static const uint32_t known = 1u << PTT_DISPATCHES | 1u << PTT_TIME | 1u << PTT_FAULTS | 1u << PTT_SWITCHES;

/* ---- one thread ---- */

/* Parse "TID (NAME) STATE ...", where NAME may hold anything. */
bool ptt_proc_stat(const char *text, struct ptt_thread *t)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	uint64_t minor, major;

	if (!open || !close || close < open)
		return false;
	snprintf(t->comm, sizeof(t->comm), "%.*s", (int)MIN(close - open - 1, 15), open + 1);
	if (sscanf(close + 1, " %*c %*d %*d %*d %*d %*d %*u %" SCNu64 " %*u %" SCNu64 " %*u %*u %*u %*d %*d %*d %*d "
		   "%*d %*d %" SCNu64, &minor, &major, &t->id) != 3)
		return false;
	t->v[PTT_FAULTS] = minor + major;
	return true;
}

bool ptt_proc_schedstat(const char *text, struct ptt_thread *t)
{
	return sscanf(text, "%" SCNu64 " %*u %" SCNu64, &t->v[PTT_TIME], &t->v[PTT_DISPATCHES]) == 2;
}

bool ptt_proc_status(const char *text, struct ptt_thread *t)
{
	const char *p = strstr(text, "\nvoluntary_ctxt_switches:");
	uint64_t given, taken;

	if (!p || sscanf(p, "\nvoluntary_ctxt_switches: %" SCNu64 " nonvoluntary_ctxt_switches: %" SCNu64,
			 &given,
			 &taken) != 2)
		return false;
	t->v[PTT_SWITCHES] = given + taken;
	return true;
}

static bool read_one(const struct ptt_thread *t, const char *file, struct buf *b)
{
	char path[64];

	buf_reset(b);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", t->pid, t->tid, file);
	return !io_slurp(path, b) && b->len;
}

/* Read a thread; return false if it has ended, or is hidden. */
static bool read_thread(struct ptt_thread *t, struct buf *b)
{
	if (!read_one(t, "stat", b) || !ptt_proc_stat(b->data, t))
		return false;
	if (!read_one(t, "status", b) || !ptt_proc_status(b->data, t))
		return false;
	if (!read_one(t, "schedstat", b) || !ptt_proc_schedstat(b->data, t))
		return false;
	t->id = hash_pair((uint64_t)t->pid << 32 | (uint32_t)t->tid, t->id);
	t->alive = true;
	return true;
}

/* ---- all threads ---- */

static void add_process(struct ptt_snapshot *s, int pid, struct buf *b)
{
	DIR *dir = io_open_threads(pid);
	int tid;

	while ((tid = io_next_number(dir))) {
		struct ptt_thread t = { .pid = pid, .tid = tid };

		if (!read_thread(&t, b))
			continue;
		*VEC_ADD(s->threads, s->nr_threads, s->alloc_threads) = t;
	}
	io_close_folder(dir);
}

static int ptt_proc_read_all(struct ptt_snapshot *s, const int *pids, size_t nr_pids, struct err *e)
{
	struct buf b = BUF_INIT;
	size_t i;
	int pid;
	DIR *d;

	for (i = 0; i < nr_pids; i++)
		add_process(s, pids[i], &b);
	if (!nr_pids) {
		d = opendir("/proc");
		if (!d)
			return err_errno(e, "/proc");
		while ((pid = io_next_number(d)))
			add_process(s, pid, &b);
		closedir(d);
	}
	buf_release(&b);
	s->known = known;
	return 0;
}

/* ---- the note ---- */

void ptt_note_release(struct ptt_note *n)
{
	free(n->pids);
	free(n->threads);
	memset(n, 0, sizeof(*n));
}

static bool ptt_proc_parse_line(const char *line, struct ptt_note *n)
{
	struct ptt_thread t = { 0 };
	int used = 0, pid;

	if (sscanf(line, "process %d%n", &pid, &used) == 1 && !line[used] && pid > 0) {
		*VEC_ADD(n->pids, n->nr_pids, n->alloc_pids) = pid;
		return true;
	}
	used = 0;
	if (sscanf(line, "thread %" SCNx64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 "%n", &t.id,
		   &t.v[PTT_TIME],
		   &t.v[PTT_DISPATCHES], &t.v[PTT_FAULTS], &t.v[PTT_SWITCHES], &used) != 5 || line[used])
		return false;
	*VEC_ADD(n->threads, n->nr_threads, n->alloc_threads) = t;
	return true;
}

int ptt_note_parse(char *text, struct ptt_note *n, struct err *e)
{
	char *save, *line = strtok_r(text, "\n", &save);

	memset(n, 0, sizeof(*n));
	if (!line || sscanf(line, NOTE_HEAD " %" SCNu64, &n->start_ns) != 1)
		return err_set(e, EPROTO, "the note of the session is of another version");
	while ((line = strtok_r(NULL, "\n", &save))) {
		if (ptt_proc_parse_line(line, n))
			continue;
		ptt_note_release(n);
		return err_set(e, EPROTO, "the note of the session is damaged");
	}
	return 0;
}

/* Return the path of the note; NULL: *e says why there can be none. */
static char *note_path(struct err *e)
{
	char *dir = mpevt_dir(e), *path;

	if (!dir)
		return NULL;
	path = xasprintf("%s/ptt", dir);
	free(dir);
	return path;
}

static void ptt_proc_describe(struct buf *b, const struct ptt_config *c, const struct ptt_snapshot *s)
{
	size_t i;

	buf_fmt(b, NOTE_HEAD " %" PRIu64 "\n", clock_mono_ns());
	for (i = 0; i < c->nr_pids; i++)
		buf_fmt(b, "process %d\n", c->pids[i]);
	for (i = 0; i < s->nr_threads; i++) {
		const uint64_t *v = s->threads[i].v;

		buf_fmt(b, "thread %" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			s->threads[i].id,
			v[PTT_TIME], v[PTT_DISPATCHES], v[PTT_FAULTS], v[PTT_SWITCHES]);
	}
}

static int write_note(const char *path, const struct buf *b, struct err *e)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600), r;

	if (fd < 0)
		return err_errno(e, "%s", path);
	r = io_write_all(fd, b->data, b->len);
	if (close(fd) && !r)
		r = -errno;
	if (!r)
		return 0;
	unlink(path);
	return err_set(e, -r, "%s: %s", path, strerror(-r));
}

/* ---- the back end ---- */

static int ptt_proc_check(struct err *e)
{
	return access("/proc/self/schedstat", R_OK) ? err_errno(e, "/proc/self/schedstat") : 0;
}

static int ptt_proc_start(const struct ptt_config *c, struct err *e)
{
	char *path = note_path(e);
	struct ptt_snapshot s = { 0 };
	struct buf b = BUF_INIT;
	int r;

	if (!path)
		return -e->code;
	r = ptt_proc_read_all(&s, c->pids, c->nr_pids, e);
	if (!r) {
		ptt_proc_describe(&b, c, &s);
		r = write_note(path, &b, e);
	}
	ptt_snapshot_release(&s);
	buf_release(&b);
	free(path);
	return r;
}

static int ptt_proc_stop(struct err *e)
{
	char *path = note_path(e);
	int r = 0;

	if (!path)
		return -ENOENT;
	if (unlink(path))
		r = err_errno(e, "%s", path);
	free(path);
	return r;
}

static int ptt_proc_open_session(void **session, struct err *e)
{
	char *path = note_path(e);
	struct ptt_note *n;
	struct buf b = BUF_INIT;
	int r;

	if (!path)
		return -e->code;
	if (access(path, F_OK)) {
		free(path);
		return err_set(e, ENOENT, "no session is running");
	}
	n = xcalloc(1, sizeof(*n));
	r = io_read_file(path, &b, MAX_NOTE, e);
	if (!r && !b.len)
		r = err_set(e, EPROTO, "%s: is empty", path);
	if (!r)
		r = ptt_note_parse(b.data, n, e);
	if (r)
		free(n);
	else
		*session = n;
	buf_release(&b);
	free(path);
	return r;
}

static void close_session(void *session)
{
	ptt_note_release(session);
	free(session);
}

static int read_session(void *session, struct ptt_snapshot *s, struct err *e)
{
	const struct ptt_note *n = session;
	struct map old = MAP_INIT;
	size_t i, f, nr = 0;
	int r = ptt_proc_read_all(s, n->pids, n->nr_pids, e);

	for (i = 0; i < n->nr_threads; i++)
		*map_put(&old, n->threads[i].id) = i;
	for (i = 0; i < s->nr_threads; i++) {
		struct ptt_thread *t = &s->threads[i];
		uint32_t o = map_get(&old, t->id);

		for (f = 0; o != MAP_NONE && f < PTT_NR_FIELDS; f++)
			t->v[f] -= MIN(t->v[f], n->threads[o].v[f]);
		if (t->v[PTT_TIME] || t->v[PTT_DISPATCHES])
			s->threads[nr++] = *t;
	}
	s->nr_threads = nr;
	map_release(&old);
	s->session_ns = clock_mono_ns() - n->start_ns;
	return r;
}

static bool no_counter(void *session, size_t i, char *name, size_t size)
{
	return false;
}

const struct ptt_backend ptt_proc = {
	.name = "proc",
	.check = ptt_proc_check,
	.start = ptt_proc_start,
	.stop = ptt_proc_stop,
	.open = ptt_proc_open_session,
	.read = read_session,
	.counter = no_counter,
	.close = close_session,
};
