// SPDX-License-Identifier: GPL-2.0-or-later
/* segments.c - closes the file of a recording and begins the next (segments.h). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/foreign.h"
#include "base/mem.h"
#include "base/place.h"
#include "collect/engine/recording.h"
#include "collect/files/segments.h"
#include "trace/splice.h"

enum {
	NAME_BYTES = 64,
	NAMING_NS = 250000000,		/* between two times that hits are named */
	FEW_NAMES = 2000,		/* unnamed addresses that a change does not wait for */
	PATIENCE_NS = 2000000000,	/* but not for long */
	ROOM_NS = 1000000000,		/* between two looks whether there is room again */
	ROOM_BYTES = 16 << 20,		/* what that is, or */
	ROOM_SHARE = 8,			/* such a part of a small disk */
	MOST_SAME = 999,		/* files of one second */
};

struct segments {
	int dir;
	char name[NAME_BYTES];
	char *folder;
	uint64_t idle_ns;		/* since a recorder before closed its last trace; 0: not known */
	uint64_t next_ns;		/* when it is closed; 0: not begun */
	uint64_t named_ns;
	/* Nothing is stored: */
	int error;			/* errno; 0: it is */
	bool has_none;			/* no file is open */
	uint64_t looked_ns, lost;
};

/* ---- names ---- */

/* Return whether s, after the time in a name, is that of another file of the same second: "_001". */
static bool is_again(const char *s, size_t len)
{
	return !len || (*s == '_' && strspn(s + 1, "0123456789") == len - 1);
}

static const struct keep names = { .prefix = "", .suffix = ".arc", .middle = is_again,
				   .is_one = segment_is_one };

/* 2026-11-23T04.05.06Z.arc, in UTC; again: the number of such a name that was taken, 0 none. */
static void put_segment_name(char *name, size_t size, uint64_t real_ns, unsigned int again)
{
	size_t len;

	*name = '\0';
	keep_put_time(name, size, real_ns);
	len = strlen(name);
	if (again)
		len += snprintf(name + len, size - len, "_%03u", again);
	snprintf(name + len, size - len, "%s", names.suffix);
}

static bool is_taken(int dir, const char *name)
{
	char part[NAME_BYTES + 8];
	struct stat st;

	snprintf(part, sizeof(part), ".%s.part", name);
	return !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) || !fstatat(dir, part, &st, AT_SYMLINK_NOFOLLOW);
}

static void choose_name(struct segments *s)
{
	uint64_t now = clock_real_ns();
	unsigned int again = 0;

	do {
		put_segment_name(s->name, sizeof(s->name), now, again);
	} while (is_taken(s->dir, s->name) && again++ < MOST_SAME);
}

/* ---- the folder ---- */

/*
 * Check that only its owner may write into the folder: else a file could be replaced before it gets its name.
 */
static int check_folder(int dir, const char *path, struct err *e)
{
	struct stat st;

	if (fstat(dir, &st))
		return err_errno(e, "%s", path);
	if (st.st_uid != geteuid() && st.st_uid != foreign_caller())
		return err_set(e, EPERM, "%s: the folder belongs to somebody else", path);
	if (st.st_mode & (S_IWGRP | S_IWOTH)) {
		err_set(e, EPERM, "%s: others may write in the folder", path);
		err_hint(e, "chmod go-w %s", path);
		return -EPERM;
	}
	return 0;
}

/* Open it locked, and only if it is ours. */
static int open_existing(const char *path, bool made, struct err *e)
{
	struct place p;
	int dir, r = place_find_folder(&p, AT_FDCWD, path, e);

	if (r)
		return r;
	dir = openat(p.dir, p.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	place_release(&p);
	if (dir < 0) {
		r = errno == ELOOP || errno == ENOTDIR ? ENOTDIR : errno;
		return err_set(e, r, "%s: %s", path,
			       r == ENOTDIR ? "is not a folder, and links are not followed" : strerror(r));
	}
	if (made)
		foreign_give_to_caller(dir);
	r = check_folder(dir, path, e);
	if (!r && flock(dir, LOCK_EX | LOCK_NB))
		r = err_set(e, EBUSY, "%s: another recording writes there", path);
	if (r)
		close(dir);
	return r ? r : dir;
}

static int open_segment_folder(const char *path, struct err *e)
{
	struct place p;
	bool made;
	int r = place_find_folder(&p, AT_FDCWD, path, e);

	if (r)
		return r;
	made = !mkdirat(p.dir, p.name, 0700);
	r = made || errno == EEXIST ? 0 : err_errno(e, "%s", path);
	place_release(&p);
	return r ? r : open_existing(path, made, e);
}

/* Put the name that ".NAME.arc.part" would get into name; return whether it is such a file. */
static bool name_of_part(const char *part, char name[static NAME_BYTES])
{
	size_t len = strlen(part);

	if (len < 7 || len - 6 >= NAME_BYTES || part[0] != '.' || strcmp(part + len - 5, ".part"))
		return false;
	snprintf(name, NAME_BYTES, "%.*s", (int)len - 6, part + 1);
	return keep_is_name(&names, name);
}

/* The machine went down before anything of it was on the disk. */
static bool is_empty(int dir, const char *file)
{
	struct stat st;

	return !fstatat(dir, file, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) && !st.st_size;
}

/* Give what a killed recorder has left the name it would have had, and remove what is empty. */
static void take_over(int dir, const char *file)
{
	char name[NAME_BYTES];
	bool is_part = name_of_part(file, name);
	struct stat st;

	if ((is_part || keep_is_name(&names, file)) && is_empty(dir, file))
		foreign_unlink(dir, file, 0, NULL);
	else if (is_part && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) && segment_is_one(dir, file))
		foreign_rename(dir, file, name, NULL);
}

static void take_over_all(int dir)
{
	DIR *d = keep_open_folder(dir);
	struct dirent *entry;

	while (d && (entry = readdir(d)))
		take_over(dir, entry->d_name);
	if (d)
		closedir(d);
}

/*
 * Return for how long nothing was recorded into the folder; 0: nothing ever was, or the clock was set back
 * since.
 */
static uint64_t idle_ns(int dir)
{
	uint64_t now = clock_real_ns(), last = 0, ns;
	DIR *d = keep_open_folder(dir);
	struct dirent *entry;
	struct stat st;

	while (d && (entry = readdir(d))) {
		if (!keep_is_name(&names, entry->d_name) ||
		    fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		ns = (uint64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
		last = MAX(last, ns);
	}
	if (d)
		closedir(d);
	return last && last < now ? now - last : 0;
}

/* ---- what is kept ---- */

static void remove_beyond(int dir, const char *newest, uint64_t max_bytes, uint64_t max_age_ns)
{
	struct keep k = names;

	k.max_bytes = max_bytes;
	k.max_age_ns = max_age_ns;
	keep_remove(&k, dir, newest);
}

/* Remove old files, assuming that the next one will be as large as the last. */
static void remove_old(struct collect *c, const char *closed)
{
	const struct segment_opts *o = &c->o->segment;
	struct stat st;
	uint64_t keep = o->keep_bytes;

	if (!keep && !o->keep_ns)
		return;
	if (keep && !fstatat(c->segments->dir, closed, &st, AT_SYMLINK_NOFOLLOW))
		keep -= MIN(keep - 1, (uint64_t)st.st_size);
	remove_beyond(c->segments->dir, closed, keep, o->keep_ns);
}

int segments_set_aside(const char *path, struct err *e)
{
	char *old = xasprintf("%s.old", path);
	int dir = open_existing(path, false, e), old_dir, r = 0;

	if (dir < 0) {
		free(old);
		return dir == -ENOENT ? 0 : dir;
	}
	take_over_all(dir);
	old_dir = open_existing(old, false, e);
	if (old_dir >= 0) {
		remove_beyond(old_dir, "", 1, 0);
		close(old_dir);
	} else if (old_dir != -ENOENT) {
		r = old_dir;
	}
	if (!r && renameat(AT_FDCWD, path, AT_FDCWD, old))
		r = err_errno(e, "%s: cannot be renamed to %s", path, old);
	close(dir);
	free(old);
	return r;
}

/* ---- changes ---- */

static void segments_say(struct collect *c, const char *why, uint64_t nr_lost)
{
	if (c->o->segment.storing)
		c->o->segment.storing(why, nr_lost);
}

void segments_change(struct collect *c, uint64_t now_ns)
{
	struct segments *s = c->segments;
	char closed[NAME_BYTES];
	bool opened;
	struct err e;
	int r;

	strcpy(closed, s->name);
	choose_name(s);
	r = collect_rotate(c, s->name, &opened, &e);
	c->res->nr_files += !s->has_none;
	s->has_none = !opened;
	s->next_ns = now_ns + c->o->segment.length_ns;
	remove_old(c, closed);
	if (c->flight) {
		flight_closed(c, closed);
		flight_begun(c);
	}
	if (opened && s->error) {
		s->error = 0;
		segments_say(c, NULL, trace_writer_lost_samples(c->w) - s->lost);
	} else if (!opened && !s->error) {
		s->error = -r;
		s->lost = trace_writer_lost_samples(c->w);
		segments_say(c, strerror(s->error), 0);
	}
}

/*
 * Wait for room on a full disk: the current file is lost, what was recorded before stays, and what comes may
 * be kept.
 */
bool segments_wait(struct collect *c)
{
	int error = -trace_writer_error(c->w);
	struct segments *s = c->segments;

	if (!s || (error != ENOSPC && error != EDQUOT && !s->error))
		return false;
	if (s->error)
		return true;
	s->error = error;
	s->lost = trace_writer_lost_samples(c->w);
	s->looked_ns = c->flight ? 0 : clock_mono_ns();		/* it can make room itself */
	segments_say(c, strerror(error), 0);
	return true;
}

bool segments_has_room(const struct collect *c)
{
	uint64_t bytes = c->flight ? flight_most_bytes(c) : ROOM_BYTES;
	struct statvfs v;

	return !fstatvfs(c->segments->dir, &v) &&
		v.f_bavail >= MIN((uint64_t)v.f_blocks / ROOM_SHARE,
				  MIN(bytes, (uint64_t)ROOM_BYTES) / (uint64_t)v.f_frsize);
}

static void look_for_room(struct collect *c, uint64_t now_ns)
{
	struct segments *s = c->segments;

	if (now_ns < s->looked_ns + ROOM_NS)
		return;
	s->looked_ns = now_ns;
	remove_old(c, "");
	if (c->flight)
		flight_make_room(c);
	if (segments_has_room(c))
		segments_change(c, now_ns);
}

const char *segments_folder(const struct collect *c)
{
	return c->segments ? c->segments->folder : NULL;
}

void segments_begin(struct collect *c, uint64_t now_ns)
{
	if (c->segments)
		c->segments->next_ns = now_ns + c->o->segment.length_ns;
	c->since.begun_ns = now_ns;
}

void segments_label(const struct collect *c)
{
	uint64_t ns = c->segments ? c->segments->idle_ns : 0;

	if (!ns)
		return;
	trace_writer_keep(c->w, false);		/* of the first alone */
	trace_write_label(c->w, "segment.idle_ns", "%" PRIu64, ns);
	trace_writer_keep(c->w, true);
}

void segments_turn(struct collect *c, uint64_t now_ns)
{
	struct segments *s = c->segments;
	bool due;

	if (!s || !s->next_ns)
		return;
	if (s->error) {
		look_for_room(c, now_ns);
		return;
	}
	due = now_ns >= s->next_ns;
	if (due && (trace_writer_nr_unnamed(c->w) <= FEW_NAMES || now_ns > s->next_ns + PATIENCE_NS)) {
		segments_change(c, now_ns);
	} else if (due || now_ns >= s->named_ns + NAMING_NS) {
		collect_name_hits(c, false, false);
		s->named_ns = now_ns;
	}
}

void segments_end_early(struct collect *c, uint64_t now_ns)
{
	if (c->segments && c->segments->next_ns)
		c->segments->next_ns = MIN(c->segments->next_ns, now_ns);
}

uint64_t segments_turn_ns(const struct collect *c, uint64_t turn_ns)
{
	uint64_t next = c->segments && !c->segments->error ? c->segments->next_ns : 0;

	return next && (!turn_ns || next < turn_ns) ? next : turn_ns;
}

/* ---- the beginning and the end ---- */

int segments_open(struct collect *c, struct err *e)
{
	struct segments *s;
	int dir;

	if (!c->o->segment.length_ns)
		return 0;
	dir = open_segment_folder(c->o->output, e);
	if (dir < 0)
		return dir;
	c->segments = s = xcalloc(1, sizeof(*s));
	s->dir = dir;
	s->folder = xstrdup(c->o->output);
	take_over_all(dir);
	s->idle_ns = c->flight ? 0 : idle_ns(dir);
	if (s->idle_ns && c->o->segment.goes_on)
		c->o->segment.goes_on(s->idle_ns);
	choose_name(s);
	c->opts.output = s->name;
	c->opts.trace.dir_fd = dir;
	c->opts.trace.carry = c->opts.trace.until_closed = true;
	return 0;
}

void segments_close(struct collect *c)
{
	struct segments *s = c->segments;

	if (!s)
		return;
	if (!c->res->write_error)	/* the disk has been full until now */
		c->res->write_error = s->error;
	if (c->begun_ns) {
		c->res->nr_files += !s->has_none;
		remove_old(c, s->name);
		if (c->flight)
			flight_closed(c, s->name);
	}
	close(s->dir);
	free(s->folder);
	free(s);
}
