// SPDX-License-Identifier: GPL-2.0-or-later
/* flight.c - keeps the last part of an endless recording, and dumps it (flight.h). */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/place.h"
#include "collect/engine/recording.h"
#include "collect/files/flight.h"
#include "collect/files/segments.h"
#include "trace/splice.h"

enum {
	LEAST_NS = 1000000000,		/* of a segment: one that is full of names is not closed at once */
	LEAST_FAST_NS = 100000000,	/* and one that is twice as large as it should be */
	MOST_PARTS = 2,			/* that is all that samples may take in it: what exceeds it is lost */
	MAX_DUMPS = 16,			/* that are remembered */
	NAME_BYTES = 64,
	MOST_SAME = 99,			/* dumps of one second and cause */
};

struct stretch {
	char name[NAME_BYTES];
	uint64_t bytes, begun_ns, ended_ns;
};

struct flight {
	char *output, *ring;
	int dir;			/* the ring; -1: not open yet */
	struct stretch *parts;		/* closed, in their order */
	size_t nr_parts, alloc_parts;
	uint64_t bytes;			/* of all */
	/* the current one: since when, and what the writer had written before */
	uint64_t begun_ns, bytes_before;
	struct flight_dump dumps[MAX_DUMPS];	/* number n is at n % MAX_DUMPS */
	uint64_t nr_dumps, nr_begun;
	/* while it writes: */
	pthread_t thread;
	bool writing;
	char **names;			/* the thread's, of descriptors: what is removed can still be read */
	int *fds;
	size_t nr_names;
	int result, finished;		/* the thread's, which sets finished last */
};

static struct flight_dump *dump_at(struct flight *f, uint64_t number)
{
	return &f->dumps[number % MAX_DUMPS];
}

/* ---- names ---- */

/* Return the last part of a path. */
static const char *file_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Return where the suffix of a file's name begins, or its end. */
static const char *suffix_of(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot && dot > file_of(path) ? dot : path + strlen(path);
}

/* "arcprof-2026-11-23T04.05.06Z-gc.data" of "arcprof.data" */
static char *dump_path(const char *output, const char *what, uint64_t real_ns)
{
	const char *suffix = suffix_of(output);
	int len = suffix - output;
	char when[32] = "";
	struct stat st;
	unsigned int i;
	char *path;

	keep_put_time(when, sizeof(when), real_ns);
	path = xasprintf("%.*s-%s-%s%s", len, output, when, what, suffix);
	for (i = 2; i <= MOST_SAME && !lstat(path, &st); i++) {
		free(path);
		path = xasprintf("%.*s-%s-%s-%u%s", len, output, when, what, i, suffix);
	}
	return path;
}

/* "-gc", "-SIGUSR1-2" */
static bool is_what(const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (!isalnum((unsigned char)s[i]) && s[i] != '-')
			return false;
	return len > 1 && *s == '-';
}

/* Set how dumps beside the output are named; return the prefix, to be freed. */
static char *name_dumps(const struct flight *f, struct keep *k)
{
	const char *suffix = suffix_of(f->output), *file = file_of(f->output);
	char *prefix = xasprintf("%.*s-", (int)(suffix - file), file);

	*k = (struct keep){ .prefix = prefix, .suffix = suffix, .middle = is_what,
			    .is_one = segment_is_dump };
	return prefix;
}

static int open_beside(const char *output)
{
	char *folder = xasprintf("%.*s.", (int)(file_of(output) - output), output);
	struct err e;
	int dir = place_open_folder(folder, 0, &e);

	free(folder);
	return dir;
}

/* Dumps beside the output go until there is room for one more: it is as large as the ring at most. */
static void make_room_for(const struct collect *c, const char *path)
{
	const struct flight_opts *o = &c->o->flight;
	const struct flight *f = c->flight;
	struct keep k;
	char *prefix = name_dumps(f, &k);
	int dir = -1;

	k.max_bytes = o->keep_bytes ? MAX(o->keep_bytes - MIN(o->keep_bytes, f->bytes), (uint64_t)1) : 0;
	k.max_age_ns = o->keep_ns;
	if ((k.max_bytes || k.max_age_ns) && keep_is_name(&k, file_of(path)))
		dir = open_beside(f->output);
	if (dir >= 0) {
		keep_remove(&k, dir, file_of(path));
		close(dir);
	}
	free(prefix);
}

/*
 * Return whether newfile.h called a dump so whose recorder was killed:
 * "arcprof-2026-11-23T04.05.06Z-gc.data.5Xb2zQ".
 */
static bool is_unfinished(const struct keep *k, const char *name)
{
	enum { SUFFIX = 7 };
	size_t len = strlen(name), i;
	char whole[NAME_MAX + 1];

	if (len <= SUFFIX || len > NAME_MAX || name[len - SUFFIX] != '.')
		return false;
	for (i = len - SUFFIX + 1; i < len; i++)
		if (!isalnum((unsigned char)name[i]))
			return false;
	snprintf(whole, sizeof(whole), "%.*s", (int)(len - SUFFIX), name);
	return keep_is_name(k, whole);
}

/* Remove unfinished dumps. The ring is locked, so no other recorder writes dumps beside this output. */
static void remove_unfinished(const struct flight *f)
{
	int dir = open_beside(f->output);
	DIR *d = dir < 0 ? NULL : keep_open_folder(dir);
	struct dirent *entry;
	struct keep k;
	char *prefix = name_dumps(f, &k);

	while (d && (entry = readdir(d)))
		if (is_unfinished(&k, entry->d_name))
			unlinkat(dir, entry->d_name, 0);
	if (d)
		closedir(d);
	if (dir >= 0)
		close(dir);
	free(prefix);
}

/* ---- the ring ---- */

static void remove_first(struct flight *f)
{
	unlinkat(f->dir, f->parts[0].name, 0);
	f->bytes -= f->parts[0].bytes;
	memmove(f->parts, f->parts + 1, --f->nr_parts * sizeof(*f->parts));
}

/* Remove parts until the rest has max_bytes at most; the last stays. */
static void remove_beyond(struct flight *f, uint64_t max_bytes)
{
	while (f->nr_parts > 1 && f->bytes > max_bytes)
		remove_first(f);
}

static uint64_t bytes_in_hand(const struct collect *c)
{
	return trace_writer_bytes(c->w) - c->flight->bytes_before;
}

void flight_closed(struct collect *c, const char *name)
{
	struct flight *f = c->flight;
	struct stretch p = { .begun_ns = f->begun_ns, .ended_ns = clock_mono_ns() };
	struct stat st;

	f->begun_ns = p.ended_ns;
	if (fstatat(f->dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return;			/* it could not be written: the disk is full */
	snprintf(p.name, sizeof(p.name), "%s", name);
	p.bytes = st.st_size;
	*VEC_ADD(f->parts, f->nr_parts, f->alloc_parts) = p;
	f->bytes += p.bytes;
	remove_beyond(f, c->o->flight.max_bytes - c->o->flight.max_bytes / FLIGHT_PARTS);
	if (f->nr_parts > 1 && !segments_has_room(c))
		remove_first(f);
}

void flight_begun(struct collect *c)
{
	c->flight->bytes_before = trace_writer_bytes(c->w);
}

void flight_make_room(struct collect *c)
{
	struct flight *f = c->flight;

	while (f->nr_parts && !f->writing && !segments_has_room(c))
		remove_first(f);
}

uint64_t flight_most_bytes(const struct collect *c)
{
	return MOST_PARTS * (c->o->flight.max_bytes / FLIGHT_PARTS);
}

/* ---- dumps ---- */

static void *write_dump(void *ctx)
{
	struct flight *f = ctx;
	struct flight_dump *d = dump_at(f, f->nr_begun);

	struct stat st;

	f->result = splice_files((const char *const *)f->names, f->nr_names, d->path, &d->e);
	d->nr_bytes = !f->result && !stat(d->path, &st) ? st.st_size : 0;
	store_release(&f->finished, 1);
	return NULL;
}

/* Take the parts of the next dump. */
static struct flight_dump *take_parts(const struct collect *c)
{
	struct flight *f = c->flight;
	struct flight_dump *d = dump_at(f, ++f->nr_begun);
	size_t i;

	f->names = xcalloc(f->nr_parts + 1, sizeof(*f->names));
	f->fds = xcalloc(f->nr_parts + 1, sizeof(*f->fds));
	for (i = 0; i < f->nr_parts; i++) {
		f->fds[i] = openat(f->dir, f->parts[i].name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		f->names[i] = f->fds[i] < 0 ? xasprintf("/proc/self/fd/%d/%s", f->dir, f->parts[i].name) :
			xasprintf("/proc/self/fd/%d", f->fds[i]);
	}
	f->nr_names = f->nr_parts;
	/* the first file is there before the recording begins */
	if (f->nr_parts)
		d->span_ns = f->parts[f->nr_parts - 1].ended_ns - MAX(f->parts[0].begun_ns, c->begun_ns);
	d->state = FLIGHT_WRITING;
	f->finished = 0;
	return d;
}

static void give_names_back(struct flight *f)
{
	size_t i;

	for (i = 0; i < f->nr_names; i++) {
		free(f->names[i]);
		if (f->fds[i] >= 0)
			close(f->fds[i]);
	}
	free(f->names);
	free(f->fds);
	f->names = NULL;
	f->fds = NULL;
	f->nr_names = 0;
}

static void end_dump(struct collect *c)
{
	struct flight *f = c->flight;
	struct flight_dump *d = dump_at(f, f->nr_begun);

	give_names_back(f);
	f->writing = false;
	d->state = f->result ? FLIGHT_FAILED : FLIGHT_DONE;
	if (c->o->flight.dumped)
		c->o->flight.dumped(d);
}

static void begin_dump(struct collect *c)
{
	struct flight *f = c->flight;

	make_room_for(c, take_parts(c)->path);
	f->writing = !pthread_create(&f->thread, NULL, write_dump, f);
	if (f->writing)
		return;
	write_dump(f);			/* no thread can be had: the recording waits */
	end_dump(c);
}

static void wait_for_dump(struct collect *c)
{
	if (!c->flight->writing)
		return;
	pthread_join(c->flight->thread, NULL);
	end_dump(c);
}

static int64_t add_dump(struct flight *f, char *path)
{
	struct flight_dump *d = dump_at(f, ++f->nr_dumps);

	free(d->path);
	*d = (struct flight_dump){ .number = f->nr_dumps, .path = path };
	return (int64_t)f->nr_dumps;
}

int64_t flight_ask(struct collect *c, const char *path, const char *what, struct err *e)
{
	struct flight *f = c->flight;

	if (!f)
		return err_set(e, EINVAL, "only a recording with --mode wrap can be dumped");
	if (!c->begun_ns)
		return err_set(e, EINVAL, "the recording has not begun");
	if (f->nr_dumps - f->nr_begun >= MAX_DUMPS - 1)
		return err_set(e, EAGAIN, "too many dumps are waiting to be written");
	return add_dump(f, path ? xstrdup(path) : dump_path(f->output, what, clock_real_ns()));
}

int flight_state(struct collect *c, uint64_t number, struct buf *reply, struct err *e)
{
	struct flight *f = c->flight;
	const struct flight_dump *d = f ? dump_at(f, number) : NULL;

	if (!d || !number || d->number != number)
		return err_set(e, EINVAL, "there was no dump of that number");
	if (d->state == FLIGHT_FAILED)
		return err_set(e, d->e.code, "%s", d->e.msg);
	if (d->state == FLIGHT_DONE)
		buf_fmt(reply, "done %" PRIu64 " %" PRIu64 " %s\n", d->nr_bytes, d->span_ns, d->path);
	else
		buf_str(reply, "writing\n");
	return 0;
}

/* ---- the recording ---- */

static bool is_long_enough(struct collect *c, uint64_t now_ns)
{
	const uint64_t part = c->o->flight.max_bytes / FLIGHT_PARTS;
	const uint64_t bytes = bytes_in_hand(c);

	return bytes >= part &&
	       now_ns >= c->flight->begun_ns + (bytes >= MOST_PARTS * part ? LEAST_FAST_NS : LEAST_NS);
}

void flight_turn(struct collect *c, uint64_t now_ns)
{
	struct flight *f = c->flight;

	if (!f || !c->begun_ns)
		return;
	if (f->writing && load_acquire(&f->finished))
		wait_for_dump(c);
	if (!f->writing && f->nr_begun < f->nr_dumps) {
		segments_change(c, now_ns);
		begin_dump(c);
	} else if (is_long_enough(c, now_ns)) {
		segments_change(c, now_ns);
	}
	remove_beyond(f, c->o->flight.max_bytes - MIN(c->o->flight.max_bytes, bytes_in_hand(c)));
}

int flight_open(struct collect *c, struct err *e)
{
	struct flight *f;
	int r;

	if (!c->o->flight.max_bytes)
		return 0;
	c->flight = f = xcalloc(1, sizeof(*f));
	f->dir = -1;
	f->output = xstrdup(c->o->output);
	f->ring = xasprintf("%s.ring", f->output);
	r = segments_set_aside(f->ring, e);
	if (r)
		return r;
	c->opts.output = f->ring;
	c->opts.segment.length_ns = UINT64_MAX / 4;
	c->opts.trace.file_bytes = flight_most_bytes(c);
	return 0;
}

void flight_begin(struct collect *c)
{
	struct flight *f = c->flight;

	if (!f)
		return;
	f->dir = fcntl(c->o->trace.dir_fd, F_DUPFD_CLOEXEC, 3);
	f->begun_ns = clock_mono_ns();
	remove_unfinished(f);
}

/* Write the output, and dumps for which there was no time, as of a condition met by the program's end. */
static void flight_write_all(struct collect *c)
{
	struct flight *f = c->flight;
	const struct flight_dump *d;

	while (f->nr_begun < f->nr_dumps) {
		make_room_for(c, take_parts(c)->path);
		write_dump(f);
		end_dump(c);
	}
	add_dump(f, xstrdup(f->output));
	d = take_parts(c);
	write_dump(f);
	c->res->kept_ns = d->span_ns;
	c->res->nr_bytes = d->nr_bytes;
	c->res->write_error = f->result ? -f->result : c->res->write_error;
	if (f->result)
		end_dump(c);
	give_names_back(f);
}

static void free_flight(struct flight *f)
{
	size_t i;

	for (i = 0; i < MAX_DUMPS; i++)
		free(f->dumps[i].path);
	if (f->dir >= 0)
		close(f->dir);
	free(f->parts);
	free(f->ring);
	free(f->output);
	free(f);
}

void flight_close(struct collect *c)
{
	struct flight *f = c->flight;

	if (!f)
		return;
	if (f->dir >= 0 && f->nr_parts) {
		wait_for_dump(c);
		flight_write_all(c);
	}
	if (f->dir >= 0 && !f->result) {
		while (f->nr_parts)
			remove_first(f);
		rmdir(f->ring);
	}
	free_flight(f);
}
