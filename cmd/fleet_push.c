// SPDX-License-Identifier: GPL-2.0-or-later
/* fleet_push.c - the spool of "arcprof fleet push". */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/place.h"
#include "cmd.h"
#include "fleet.h"
#include "fleet/http.h"
#include "fleet_sent.h"
#include "spool.h"
#include "trace/segment.h"

/* ---- the spool ---- */

static char *spool_name(const struct fleet_opts *o)
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");

	if (o->spool)
		return xstrdup(o->spool);
	if (data && *data == '/')
		return xasprintf("%s/arcprof/spool", data);
	return home && *home == '/' ? xasprintf("%s/.local/share/arcprof/spool", home) : NULL;
}

/* A descriptor that holds the lock: one push at a time works on a spool. */
static int open_spool(const char *spool, struct err *e)
{
	struct stat st;
	int at, fd;

	place_make_folders(spool, 0777);
	at = place_open_folder(spool, 0700, e);
	if (at < 0)
		return at;
	fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	close(at);
	if (fd < 0)
		return err_errno(e, "%s", spool);
	if (fstat(fd, &st) || st.st_uid != geteuid() || st.st_mode & 022) {
		close(fd);
		err_set(e, EACCES, "%s: another user may write there, and say what its files are", spool);
		err_hint(e, "--spool takes a folder of your own");
		return -EACCES;
	}
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		close(fd);
		return err_set(e, EBUSY, "%s: another push works on it", spool);
	}
	return fd;
}

static int list_spool(const char *spool, const struct spool_kind *kind, struct segment **list, size_t *nr,
		      struct err *e)
{
	size_t alloc = *nr = 0;
	struct dirent *entry;
	DIR *d = opendir(spool);

	*list = NULL;
	if (!d)
		return err_errno(e, "%s", spool);
	while ((entry = readdir(d))) {
		VEC_GROW(*list, *nr, alloc);
		*nr += kind->parse(entry->d_name, &(*list)[*nr]);
	}
	closedir(d);
	return 0;
}

/* ---- into it ---- */

struct folder {
	const char *path;
	struct sent *sent;
	int dir;
	struct map keys;		/* of files that are there */
	size_t nr_open;
};

/*
 * What was put into the spool before; and what is still being written: a segment has its name when it is
 * closed, or when the recorder was killed.
 */
static bool leave_out(void *ctx, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct folder *f = ctx;
	uint64_t key;

	if (!sent_key(f->sent, path, &key))
		return true;
	*map_put(&f->keys, key) = 1;
	if (sent_has(f->sent, key))
		return true;
	if (segment_is_one(f->dir, slash ? slash + 1 : path) || segment_is_closed(path))
		return false;
	f->nr_open++;
	return true;
}

/* One file of a folder: 0, 1 if it was damaged, or -errno; it may have been removed meanwhile. */
static int add_file(const struct fleet_opts *o, const struct spool_kind *kind, const char *spool,
		    const struct folder *f, const char *path, struct err *e)
{
	uint64_t key;
	int r, kept;

	if (!sent_key(f->sent, path, &key))
		return 0;
	r = kind->add(o, spool, path, e);
	if (r == -ENOENT)
		return 0;
	kept = r < 0 ? r : sent_add(f->sent, f->path, key, e);
	return kept < 0 ? kept : r;
}

/* What is new in a folder; returns the exit status. */
static int add_folder(const struct fleet_opts *o, const struct spool_kind *kind, const char *spool,
		      struct sent *sent, const char *folder)
{
	struct folder f = { .path = folder, .sent = sent, .keys = MAP_INIT };
	struct fleet_paths p = { .leave_out = leave_out, .ctx = &f };
	struct err e = { 0 };
	int i, r, status = 0;

	f.dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = f.dir < 0 ? err_errno(&e, "%s", folder) : fleet_list(&p, folder, &e);
	for (i = 0; !r && i < p.nr; i++) {
		int one = add_file(o, kind, spool, &f, p.list[i], &e);

		status |= one < 0 ? log_err(&e) : one;
	}
	if (!r || r == -ENODATA)
		r = sent_keep(sent, folder, &f.keys, &e);
	if (r)
		status = log_err(&e);
	if (f.nr_open)
		log_info("%s: %zu trace%s still being written; a later push sends %s", folder, f.nr_open,
			 f.nr_open == 1 ? " is" : "s are", f.nr_open == 1 ? "it" : "them");
	fleet_list_release(&p);
	map_release(&f.keys);
	if (f.dir >= 0)
		close(f.dir);
	return status;
}

static int add_all(const struct fleet_opts *o, const struct spool_kind *kind, const char *spool,
		   struct sent *sent, int nr, char **operands)
{
	int i, r, status = 0;
	struct err e;

	for (i = 1; i < nr; i++) {
		if (io_is_folder(operands[i])) {
			status |= add_folder(o, kind, spool, sent, operands[i]);
			continue;
		}
		r = kind->add(o, spool, operands[i], &e);
		status |= r < 0 ? log_err(&e) : r;
	}
	return status;
}

/* ---- sending ---- */

enum {
	FIRST_WAIT_MS = 100,
	LONGEST_WAIT_MS = 30000,
	LONGEST_ASKED_S = 86400,
	LEAST_QUESTION_S = 10,
};

struct sender {
	const struct http_server *server;
	const char *spool;
	const struct spool_kind *kind;
	uint64_t retry_ns;
	uint64_t deadline_ns;		/* CLOCK_MONOTONIC: no attempt begins after that, but the first */
	unsigned int wait_ms;
	size_t nr_sent, nr_known;
	bool quiet;			/* says nothing of nothing */
};

/*
 * Waits until the next attempt: for as long as the server asks, else longer each time, and never as long as
 * other senders, which it would see all at once; but the last one is made at the deadline.  False: that has
 * passed, or the server asks for more.
 */
static bool wait_for_server(struct sender *x, uint64_t wait_s)
{
	uint64_t ns = x->wait_ms * 1000000ull, now_ns = clock_mono_ns();

	if (wait_s)
		ns = MIN(wait_s, (uint64_t)LONGEST_ASKED_S) * 1000000000;
	if (now_ns >= x->deadline_ns || (wait_s && now_ns + ns > x->deadline_ns))
		return false;
	clock_sleep_ns(MIN(ns + clock_real_ns() % (ns / 2), x->deadline_ns - now_ns));
	x->wait_ms = MIN(x->wait_ms * 2, (unsigned int)LONGEST_WAIT_MS);
	return true;
}

/* One attempt.  What is only asked must not take longer than there is still time to try. */
static int attempt(const struct sender *x, const struct segment *s, uint64_t *wait_s, struct err *e)
{
	struct http_server server = *x->server;
	uint64_t now_ns = clock_mono_ns(), left_s;

	left_s = now_ns < x->deadline_ns ? (x->deadline_ns - now_ns) / 1000000000 : 0;
	server.question_s = MIN((uint64_t)server.question_s, MAX(left_s, (uint64_t)LEAST_QUESTION_S));
	return x->kind->send(&server, x->spool, s, wait_s, e);
}

/* One segment, until it is there or waiting has no use: as the kind's send(). */
static int send_segment(struct sender *x, const struct segment *s, struct err *e)
{
	struct buf patience = BUF_INIT;
	bool said = false;
	uint64_t wait_s;
	int r;

	opt_put_time(&patience, x->retry_ns);
	x->deadline_ns = clock_mono_ns() + x->retry_ns;
	while ((r = attempt(x, s, &wait_s, e)) == -EAGAIN && wait_for_server(x, wait_s)) {
		if (!said)
			log_info("%s; trying again for %s (--retry)", e->msg, patience.data);
		said = true;
	}
	buf_release(&patience);
	if (r < 0)
		return r;
	x->wait_ms = FIRST_WAIT_MS;
	x->nr_sent += r == SPOOL_SENT || r == SPOOL_PARTLY;
	x->nr_known += r == SPOOL_KNOWN;
	x->kind->drop(x->spool, s);
	return r;
}

/* Returns the exit status. */
static int send_spool(struct sender *x, struct err *e)
{
	struct segment *list;
	size_t nr, i, nr_left;
	int r = list_spool(x->spool, x->kind, &list, &nr, e), status = 0;

	if (r)
		return log_err(e);
	for (i = 0, nr_left = nr; i < nr && r != -EAGAIN && r != -EACCES; i++) {
		r = send_segment(x, &list[i], e);
		nr_left -= r >= 0;
		if (r < 0)
			log_err(e);
		if (r < 0 || r == SPOOL_PARTLY || r == SPOOL_REFUSED)
			status = 1;
	}
	free(list);
	if (!x->quiet || x->nr_sent)
		log_info("sent %zu recording%s%s", x->nr_sent, x->nr_sent == 1 ? "" : "s",
			 x->nr_known ? "; others the server had" : "");
	if (nr_left)
		log_warn("%zu recording%s in %s; the next push sends %s", nr_left, nr_left == 1 ? " stays" : "s stay",
			 x->spool, nr_left == 1 ? "it" : "them");
	return status;
}

/* The spool is ours by its lock, so the list of what was sent is read once. */
static int push_all(const struct fleet_opts *o, struct sender *x, int nr, char **operands)
{
	struct err e = { 0 };
	struct sent sent;
	int status;

	spool_sweep(x->spool);
	sent_open(&sent, x->spool, x->server->url, o->otlp);
	for (;;) {
		status = add_all(o, x->kind, x->spool, &sent, nr, operands);
		x->nr_sent = x->nr_known = 0;
		status |= send_spool(x, &e);
		if (!o->every_ns)
			break;
		clock_sleep_ns(o->every_ns);	/* whatever ends us: nothing is lost of the spool */
	}
	sent_close(&sent);
	return status;
}

int fleet_push(const struct fleet_opts *o, int nr_operands, char **operands)
{
	struct sender x = { .kind = o->otlp ? &spool_profiles : &spool_tables, .wait_ms = FIRST_WAIT_MS,
			    .retry_ns = o->retry_ns, .quiet = o->every_ns };
	struct http_server server;
	struct err e = { 0 };
	char *spool;
	int lock, status;

	if (!nr_operands || !http_is_url(operands[0])) {
		log_error("push takes the URL of a server: %s", o->otlp ? "http://host:4318/" : "http://host:8123/");
		return EXIT_USAGE;
	}
	spool = spool_name(o);
	if (!spool) {
		log_error("neither XDG_DATA_HOME nor HOME names a folder for the spool: --spool does");
		return EXIT_USAGE;
	}
	server = fleet_server(o, operands[0]);
	x.server = &server;
	x.spool = spool;
	lock = open_spool(spool, &e);
	if (lock < 0) {
		status = log_err(&e);
	} else {
		status = push_all(o, &x, nr_operands, operands);
		close(lock);
	}
	free(spool);
	return status;
}
