// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fleet_push.c - the spool of "arcprof fleet push": what is new goes into it, and what is in it goes to the
 * server, a batch at a time.
 */
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
#include "fleet_receive.h"
#include "fleet_sent.h"
#include "spool.h"
#include "trace/splice.h"

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

/* ---- sending ---- */

enum {
	FIRST_WAIT_MS = 100,
	LONGEST_WAIT_MS = 30000,
	LONGEST_ASKED_S = 86400,
	LEAST_QUESTION_S = 10,
	FIRST_QUESTION_S = 30,
};

enum { LISTENING_EVERY_S = 10 };

enum { GROUP = 250 };			/* recordings that are prepared before they are sent */

struct sender {
	const struct fleet_opts *o;
	const struct http_server *server;
	const char *spool;
	const struct spool_kind *kind;
	int dir;			/* the spool, locked */
	struct sent sent;
	struct new_file {		/* in the spool, and not yet in the list of sent ones */
		const char *folder;
		uint64_t key;
	} new_files[GROUP];
	size_t nr_new_files, nr_new;	/* nr_new: also those that are of no folder */
	uint64_t deadline_ns;		/* CLOCK_MONOTONIC: no attempt begins after that, but the first */
	unsigned int wait_ms;
	uint64_t spool_len;		/* bytes of all files in the spool */
	/* These are of one round of preparing and sending. */
	bool stop;			/* nothing more is sent */
	size_t nr_sent, nr_known, nr_left, nr_no_room;
	int status;			/* for the exit */
};

/* List the spool in the order in which it is sent, and sum its size. */
static int list_spool(struct sender *x, struct segment **list, size_t *nr, struct err *e)
{
	size_t alloc = *nr = 0;
	struct dirent *entry;
	struct segment *s;
	DIR *d = opendir(x->spool);
	struct stat st;

	*list = NULL;
	x->spool_len = 0;
	if (!d)
		return err_errno(e, "%s", x->spool);
	while ((entry = readdir(d))) {
		if (fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		VEC_GROW(*list, *nr, alloc);
		s = &(*list)[*nr];
		if (x->kind->parse(entry->d_name, s)) {
			if (s->len && s->len != (uint64_t)st.st_size) {	/* torn when the machine died */
				unlinkat(dirfd(d), entry->d_name, 0);
				continue;
			}
			s->len = st.st_size;
			++*nr;
		}
		x->spool_len += st.st_size;
	}
	closedir(d);
	if (*nr)
		qsort(*list, *nr, sizeof(**list), segment_compare);
	return 0;
}

/*
 * Wait before the next attempt: as long as the server asks, else longer each time. The time is random, so
 * that the server does not get all senders at once; the last attempt is made at the deadline. Returns false
 * if that has passed, or the server asks for more.
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

/* Takes what has left the spool into account. */
static void settle(struct sender *x, struct segment *s)
{
	if (s->fate == SEGMENT_WAITS || s->fate == SEGMENT_DONE)
		return;
	x->nr_sent += s->fate == SEGMENT_SENT || s->fate == SEGMENT_PARTLY;
	x->nr_known += s->fate == SEGMENT_KNOWN;
	if (s->fate != SEGMENT_SENT && s->fate != SEGMENT_KNOWN)
		x->status = 1;
	if (s->fate != SEGMENT_DIFFERS) {
		x->kind->drop(x->spool, s);
		x->spool_len -= s->len;
		x->nr_left--;
	}
	s->fate = SEGMENT_DONE;
}

/* Try once. A question must not take longer than there is still time to try. */
static int attempt(struct sender *x, struct segment *s, size_t nr, uint64_t *wait_s, struct err *e)
{
	struct http_server server = *x->server;
	uint64_t now_ns = clock_mono_ns(), left_s;
	size_t i;
	int r;

	left_s = now_ns < x->deadline_ns ? (x->deadline_ns - now_ns) / 1000000000 : 0;
	server.question_s = MIN((uint64_t)server.question_s, MAX(left_s, (uint64_t)LEAST_QUESTION_S));
	r = x->kind->send(&server, x->spool, s, nr, wait_s, e);
	for (i = 0; i < nr; i++)
		settle(x, &s[i]);
	return r;
}

/* Send one batch until it has arrived or waiting is useless; returns as the kind's send(). */
static int send_batch(struct sender *x, struct segment *s, size_t nr, struct err *e)
{
	struct buf patience = BUF_INIT;
	bool said = false;
	uint64_t wait_s;
	int r;

	opt_put_time(&patience, x->o->retry_ns);
	x->deadline_ns = clock_mono_ns() + x->o->retry_ns;
	while ((r = attempt(x, s, nr, &wait_s, e)) == -EAGAIN && wait_for_server(x, wait_s)) {
		if (!said)
			log_info("%s; trying again for %s (--retry)", e->msg, patience.data);
		said = true;
	}
	buf_release(&patience);
	if (!r)
		x->wait_ms = FIRST_WAIT_MS;
	return r;
}

/* Halve a batch of which something cannot be sent, until that is alone. */
static void send_part(struct sender *x, struct segment *s, size_t nr, struct err *e)
{
	int r = send_batch(x, s, nr, e);

	if (!r)
		return;
	if (r == -EPROTO && nr > 1 && !x->kind->ask(x->server, e)) {
		send_part(x, s, nr / 2, e);
		if (!x->stop)
			send_part(x, s + nr / 2, nr - nr / 2, e);
		return;
	}
	x->stop |= r == -EAGAIN || r == -EACCES || nr > 1;
	x->status = log_err(e);
}

static void send_spool(struct sender *x)
{
	struct segment *list;
	struct err e = { 0 };
	size_t nr, i, n;

	if (list_spool(x, &list, &nr, &e)) {
		x->status = log_err(&e);
		x->stop = true;
		return;
	}
	x->nr_left = nr;
	for (i = 0; i < nr && !x->stop; i += n) {
		n = x->kind->batch(list + i, nr - i);
		send_part(x, list + i, n, &e);
	}
	free(list);
}

/* ---- preparing ---- */

/*
 * Sends what has been prepared. What is still in the spool after that must be on the disk before the list
 * says that it need not be read again; what the server has need never have been.
 */
static int end_group(struct sender *x, struct err *e)
{
	size_t i;
	int r = 0;

	if (!x->stop)
		send_spool(x);
	if ((x->stop || x->nr_left) && syncfs(x->dir))
		r = err_errno(e, "%s", x->spool);
	for (i = 0; i < x->nr_new_files && !r; i++)
		r = sent_add(&x->sent, x->new_files[i].folder, x->new_files[i].key, e);
	x->nr_new_files = x->nr_new = 0;
	return r;
}

/* Check whether one more trace may go into the spool; where it is full, send what is there. */
static bool have_room(struct sender *x)
{
	if (x->spool_len < x->o->spool_size)
		return true;
	if (!x->stop)
		send_spool(x);
	if (x->spool_len < x->o->spool_size)
		return true;
	x->stop = true;
	x->nr_no_room++;
	x->status = 1;
	return false;
}

/*
 * Add a trace to the spool; return 0, 1 if it was damaged or had no room, or -errno. *taken: it is in the
 * spool.
 */
static int add_trace(struct sender *x, const char *path, bool *taken, struct err *e)
{
	const struct export_source from = { .path = path };
	int r = x->nr_new < GROUP ? 0 : end_group(x, e);

	*taken = false;
	if (r)
		return r;
	*taken = have_room(x);
	x->nr_new += *taken;
	return *taken ? x->kind->add(x->o, x->spool, &from, &x->spool_len, e) : 1;
}

struct folder {
	const char *path;
	struct sent *sent;
	int dir;
	struct map keys;		/* of files that are there */
	size_t nr_open;
};

/*
 * Return whether to leave a file out: it was put into the spool before, or is still being written. A segment
 * gets its name when it is closed, or was left by a recorder that was killed.
 */
static bool leave_out(void *ctx, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct folder *f = ctx;
	uint64_t key;

	if (!sent_key(f->sent, path, &key))
		return true;
	*map_put(&f->keys, key) = 1;
	if (sent_has(f->sent, key))
		return true;
	if (segment_is_one(f->dir, name) || segment_is_closed(path))
		return false;
	f->nr_open += segment_is_dump(f->dir, name);	/* else it is no trace at all */
	return true;
}

/* Add a file of a folder, as add_trace() does; it may have been removed meanwhile. */
static int add_file(struct sender *x, const struct folder *f, const char *path, struct err *e)
{
	uint64_t key;
	bool taken;
	int r;

	if (!sent_key(f->sent, path, &key))
		return 0;
	r = add_trace(x, path, &taken, e);
	if (r == -ENOENT)
		return 0;
	if (r >= 0 && taken)
		x->new_files[x->nr_new_files++] = (struct new_file){ f->path, key };
	return r;
}

/* Add what is new in a folder. */
static void add_folder(struct sender *x, const char *folder)
{
	struct folder f = { .path = folder, .sent = &x->sent, .keys = MAP_INIT };
	struct fleet_paths p = { .leave_out = leave_out, .ctx = &f };
	struct err e = { 0 };
	int i, r;

	f.dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = f.dir < 0 ? err_errno(&e, "%s", folder) : fleet_list(&p, folder, &e);
	for (i = 0; !r && i < p.nr; i++) {
		int one = add_file(x, &f, p.list[i], &e);

		x->status |= one < 0 ? log_err(&e) : one;
	}
	if (!r || r == -ENODATA)
		r = sent_keep(&x->sent, folder, &f.keys, &e);
	if (r)
		x->status |= log_err(&e);
	if (f.nr_open)
		log_info("%s: %zu trace%s still being written; a later push sends %s", folder, f.nr_open,
			 f.nr_open == 1 ? " is" : "s are", f.nr_open == 1 ? "it" : "them");
	fleet_list_release(&p);
	map_release(&f.keys);
	if (f.dir >= 0)
		close(f.dir);
}

static void add_all(struct sender *x, int nr, char **operands)
{
	struct err e;
	bool taken;
	int i, r;

	for (i = 1; i < nr; i++) {
		if (io_is_folder(operands[i])) {
			add_folder(x, operands[i]);
			continue;
		}
		r = add_trace(x, operands[i], &taken, &e);
		x->status |= r < 0 ? log_err(&e) : r;
	}
}

/* ---- the command ---- */

static void say(const struct sender *x)
{
	if (!x->o->every_ns || x->nr_sent)	/* do not report "nothing" again and again */
		log_info("sent %zu recording%s%s", x->nr_sent, plural(x->nr_sent),
			 x->nr_known ? "; others the server had" : "");
	if (x->nr_left)
		log_warn("%zu recording%s in %s; the next push sends %s", x->nr_left,
			 x->nr_left == 1 ? " stays" : "s stay", x->spool, x->nr_left == 1 ? "it" : "them");
	if (x->nr_no_room)
		log_warn("%s is full (--spool-size): %zu recording%s not put into it", x->spool,
			 x->nr_no_room, x->nr_no_room == 1 ? " was" : "s were");
}

/* Prepares what is new, and sends all that there is. */
static void push_round(struct sender *x, int nr, char **operands)
{
	struct segment *list;
	struct err e = { 0 };
	size_t before;

	x->stop = false;
	x->nr_sent = x->nr_known = x->nr_left = x->nr_no_room = 0;
	x->status = 0;
	if (list_spool(x, &list, &before, &e)) {	/* for its size */
		x->status = log_err(&e);
		return;
	}
	free(list);
	add_all(x, nr, operands);
	if (end_group(x, &e))
		x->status = log_err(&e);
	if (x->stop && !list_spool(x, &list, &x->nr_left, &e))
		free(list);
	say(x);
}

/*
 * Ask the server before anything is prepared; return 0 to go on. A server that does not answer is no reason
 * to stop if a spool was requested.
 */
static int ask_first(const struct sender *x, struct err *e)
{
	struct http_server server = *x->server;
	int r;

	server.question_s = MIN(server.question_s, (unsigned int)FIRST_QUESTION_S);
	r = x->kind->ask(&server, e);
	if (r != -EAGAIN)
		return r;
	if (x->o->spool || x->o->every_ns) {
		log_warn("%s; what is new goes into %s", e->msg, x->spool);
		return 0;
	}
	if (!*e->hint)
		err_hint(e, "nothing was prepared; with --spool or --every recordings wait for the server");
	return r;
}

/* Starts what --listen asks for. Returns the exit status of a failure, or 0. */
static int start_receiver(const struct sender *x, struct receiver *receiver)
{
	struct err e = { 0 };
	int r;

	*receiver = (struct receiver){ .o = x->o, .kind = x->kind, .spool = x->spool };
	r = x->o->listen ? receiver_start(receiver, x->dir, &e) : 0;
	if (!r)
		return 0;
	log_err(&e);
	return r == -EINVAL ? EXIT_USAGE : 1;
}

/*
 * Push everything; return the exit status. The lock makes the spool ours, so the list of what was sent is
 * read once.
 */
static int push_all(struct sender *x, int nr, char **operands)
{
	struct receiver receiver;
	struct err e = { 0 };

	spool_sweep(x->spool);
	if (ask_first(x, &e))
		return log_err(&e);
	x->status = start_receiver(x, &receiver);
	if (x->status)
		return x->status;
	sent_open(&x->sent, x->spool, x->server->url, x->o->otlp);
	for (;;) {
		push_round(x, nr, operands);
		if (!x->o->every_ns)
			break;
		clock_sleep_ns(x->o->every_ns);	/* whatever ends us: nothing is lost of the spool */
		if (x->o->listen && !receiver_runs(&receiver)) {
			log_error("the process that takes profiles has ended");
			x->status = 1;
			break;
		}
	}
	sent_close(&x->sent);
	return x->status;
}

int fleet_push(const struct fleet_opts *given, int nr_operands, char **operands)
{
	struct fleet_opts own = *given;
	const struct fleet_opts *o = &own;
	struct sender x = { .o = o, .kind = o->otlp ? &spool_profiles : &spool_tables,
			    .wait_ms = FIRST_WAIT_MS };
	struct http_server server;
	struct err e = { 0 };
	char *spool;
	int status;

	if (!nr_operands || !http_is_url(operands[0])) {
		log_error("push takes the URL of a server: %s", o->otlp ? "http://host:4318/" : "http://host:8123/");
		return EXIT_USAGE;
	}
	if (o->listen && !o->every_ns)
		own.every_ns = LISTENING_EVERY_S * 1000000000ull;
	spool = spool_name(o);
	if (!spool) {
		log_error("neither XDG_DATA_HOME nor HOME names a folder for the spool: --spool does");
		return EXIT_USAGE;
	}
	server = fleet_server(o, operands[0]);
	x.server = &server;
	x.spool = spool;
	x.dir = open_spool(spool, &e);
	if (x.dir < 0) {
		status = log_err(&e);
	} else {
		status = push_all(&x, nr_operands, operands);
		close(x.dir);
	}
	free(spool);
	return status;
}
