/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * place.h - where a file is that will be written: the folder and the name in it, which links lead to.
 *
 * A symbolic link is followed if its owner is root, we, or the user who typed sudo(8), or where nobody else
 * could have put it. Each part of the path is looked up once, to a descriptor, so that who swaps names
 * meanwhile gains nothing.
 */
#ifndef BASE_PLACE_H
#define BASE_PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "base/err.h"

struct place {
	int dir;			/* the folder (O_PATH); its owner closes it by place_release() */
	char name[NAME_MAX + 1];	/* no link, when it was looked up */
	bool is_linked;			/* the last part of the path is a link, which was followed */
	bool exists;
	struct stat st;			/* if it does */
	int descriptor;			/* the path names this open file of ours, as /dev/stdout; -1: none */
};

/*
 * Find a place; from: the folder where a path begins that does not begin with '/'; AT_FDCWD: the working one.
 */
int place_find(struct place *p, int from, const char *path, struct err *e);
/* Find a folder that is to be used: if path itself is a link, that is the place. It may end in '/'. */
int place_find_folder(struct place *p, int from, const char *path, struct err *e);
void place_release(struct place *p);
/* Return whether another user than those above could have put this there. */
bool place_is_planted(const struct place *p);

/*
 * Opens the folder at path: a descriptor (O_PATH), or -errno. If the last part of path is missing, it is made
 * with that mode; 0: it is not.
 */
int place_open_folder(const char *path, mode_t mode, struct err *e);

/* Create the missing folders above path as far as possible. */
void place_make_folders(const char *path, mode_t mode);

#endif
