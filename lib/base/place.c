// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * place.c - place.h says what for.
 *
 * Source: path_resolution(7), symlink(7), proc_pid_fd(5).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/foreign.h"
#include "base/mem.h"
#include "base/place.h"

enum { MAX_LINKS = 40, FOLDER = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

/* A path on its way. */
struct way {
	const char *path;	/* as it was given, for messages */
	char *rest, *next;	/* what is not looked up yet, in what is to be freed */
	int nr_links;
	bool folder;		/* that is what is looked for: place_find_folder() */
};

static bool is_stranger(uid_t uid)
{
	return uid && uid != geteuid() && uid != foreign_caller();
}

static bool is_planted(int dir, const struct stat *st)
{
	struct stat folder;

	if (!is_stranger(st->st_uid))
		return false;
	return fstat(dir, &folder) || is_stranger(folder.st_uid) || folder.st_mode & (S_IWGRP | S_IWOTH);
}

bool place_is_planted(const struct place *p)
{
	return p->exists && is_planted(p->dir, &p->st);
}

static bool is_proc(int dir)
{
	struct statfs fs;

	return !fstatfs(dir, &fs) && fs.f_type == PROC_SUPER_MAGIC;
}

/* Moves p to that folder. */
static int place_enter(struct place *p, const char *name, const struct way *w, struct err *e)
{
	int dir = openat(p->dir, name, FOLDER);

	if (dir < 0)
		return err_errno(e, "%s", w->path);
	if (p->dir >= 0)
		close(p->dir);
	p->dir = dir;
	return 0;
}

/* Return our descriptor that a link of /proc/.../fd stands for, or -1. */
static int own_descriptor(const struct place *p)
{
	char *end;
	long n = strtol(p->name, &end, 10);
	struct stat there, ours;

	if (*end || n < 0 || n > INT_MAX || fstatat(p->dir, p->name, &there, 0) || fstat(n, &ours) ||
	    there.st_dev != ours.st_dev || there.st_ino != ours.st_ino)
		return -1;
	return n;
}

/* Follow a link: its content comes before the rest of the path. */
static int place_follow_link(struct place *p, struct way *w, struct err *e)
{
	char to[PATH_MAX], *rest;
	ssize_t len;

	if (is_planted(p->dir, &p->st))
		return err_set(e, EPERM, "%s: '%s' is a link that another user has made, and is not followed",
			       w->path, p->name);
	if (++w->nr_links > MAX_LINKS)
		return err_set(e, ELOOP, "%s: %s", w->path, strerror(ELOOP));
	len = readlinkat(p->dir, p->name, to, sizeof(to));
	if (len < 0 || (size_t)len >= sizeof(to))
		return err_set(e, len < 0 ? errno : ENAMETOOLONG, "%s: a link that cannot be read", w->path);
	rest = xasprintf("%.*s/%s", (int)len, to, w->next);
	if (!w->next[strspn(w->next, "/")])
		rest[len] = '\0';
	free(w->rest);
	w->rest = w->next = rest;
	return *rest == '/' ? place_enter(p, "/", w, e) : 0;
}

/* Takes the next part of the way into p->name; *last: there is no other. */
static int place_next_part(struct place *p, struct way *w, bool *last, struct err *e)
{
	size_t len;

	w->next += strspn(w->next, "/");
	len = strcspn(w->next, "/");
	if (!len)
		return err_set(e, EISDIR, "%s: is a folder, not a file", w->path);
	if (len > NAME_MAX)
		return err_set(e, ENAMETOOLONG, "%s: %s", w->path, strerror(ENAMETOOLONG));
	memcpy(p->name, w->next, len);
	p->name[len] = '\0';
	w->next += len;
	*last = !w->next[strspn(w->next, "/")];
	if (*last && *w->next && !w->folder)		/* "name/" can be a folder only */
		return err_set(e, EISDIR, "%s: names a folder, not a file", w->path);
	return 0;
}

/* Go one step; return 1 if p is there. */
static int place_step(struct place *p, struct way *w, struct err *e)
{
	bool last;
	int r = place_next_part(p, w, &last, e);

	if (r)
		return r;
	p->exists = !fstatat(p->dir, p->name, &p->st, AT_SYMLINK_NOFOLLOW);
	if (!p->exists)
		return last && errno == ENOENT ? 1 : err_errno(e, "%s", w->path);
	if (S_ISLNK(p->st.st_mode) && last)
		p->is_linked = true;
	if (S_ISLNK(p->st.st_mode) && !(last && w->folder && !w->nr_links)) {
		if (!last || !is_proc(p->dir))
			return place_follow_link(p, w, e);
		p->descriptor = own_descriptor(p);
		return p->descriptor >= 0 ? 1 :
			err_set(e, EINVAL, "%s: is not an open file of this process", w->path);
	}
	return last ? 1 : place_enter(p, p->name, w, e);
}

static int place_open_part(struct place *p, int from, const char *path, bool folder, struct err *e)
{
	struct way w = { .path = path, .folder = folder };
	int r;

	*p = (struct place){ .dir = -1, .descriptor = -1 };
	if (!*path)
		return err_set(e, ENOENT, "the name of the file is empty");
	p->dir = openat(from, *path == '/' ? "/" : ".", FOLDER);
	if (p->dir < 0)
		return err_errno(e, "%s", path);
	w.rest = w.next = xstrdup(path);
	do {
		r = place_step(p, &w, e);
	} while (!r);
	free(w.rest);
	if (r > 0)
		return 0;
	place_release(p);
	return r;
}

int place_find(struct place *p, int from, const char *path, struct err *e)
{
	return place_open_part(p, from, path, false, e);
}

int place_find_folder(struct place *p, int from, const char *path, struct err *e)
{
	return place_open_part(p, from, path, true, e);
}

void place_release(struct place *p)
{
	if (p->dir >= 0)
		close(p->dir);
	p->dir = -1;
}

int place_open_folder(const char *path, mode_t mode, struct err *e)
{
	char *inside = xasprintf("%s/.", path);
	struct place p;
	int r = 0;

	if (mode && !(r = place_find_folder(&p, AT_FDCWD, path, e))) {
		r = p.exists || !mkdirat(p.dir, p.name, mode) ? 0 : err_errno(e, "%s", path);
		place_release(&p);
	}
	/* of what is in it, the place is the folder */
	if (!r && (r = place_find(&p, AT_FDCWD, inside, e)))
		err_set(e, -r, "%s: %s", path, strerror(-r));
	free(inside);
	return r ? r : p.dir;
}

void place_make_folders(const char *path, mode_t mode)
{
	char *above = xstrdup(path), *slash;
	struct place p;
	struct err e;

	for (slash = strchr(above + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (!place_find(&p, AT_FDCWD, above, &e)) {
			if (!p.exists)
				mkdirat(p.dir, p.name, mode);
			place_release(&p);
		}
		*slash = '/';
	}
	free(above);
}
