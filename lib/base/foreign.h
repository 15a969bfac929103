/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * foreign.h - files that another user can make, change, replace or remove while we look at them.
 *
 * A name is resolved once, to a descriptor, and everything after that acts on the descriptor. Reading
 * never waits (for the writer of a FIFO, for a lease to be given up), touches no device, and is
 * bounded. What is made in the files of a process is made as that process's user: the kernel then
 * refuses whatever that user may not do.
 */
#ifndef BASE_FOREIGN_H
#define BASE_FOREIGN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

/* --- reading --- */

#define FOREIGN_ANYBODY ((uid_t)-1)

/* what a file must be to be read; regular in any case */
struct foreign_rule {
	uid_t owner;		/* or root, or we; FOREIGN_ANYBODY: whoever */
	uint64_t max_bytes;	/* -EFBIG above */
	bool links;		/* symbolic links are followed, below a root never out of it; else -ELOOP */
};

/*
 * Return a descriptor for reading path, or -errno (*e is filled). root: a descriptor of the folder where path
 * starts, in which ".." and absolute links end; AT_FDCWD: our own files, where only the last part of path
 * must not be a link.
 */
int foreign_open(int root, const char *path, const struct foreign_rule *rule, struct err *e);
/* Appends what is in the file to *b; also bounded when the file grows meanwhile. */
int foreign_read(int root, const char *path, const struct foreign_rule *rule, struct buf *b, struct err *e);

/* --- the files of a process --- */

struct foreign_user {
	uid_t uid;
	gid_t gid;
};

/* Open what the process sees as "/": return a descriptor (O_PATH), or -errno. */
int foreign_root(int pid, struct err *e);
/*
 * Open the folder where paths begin that the process's maps and links contain: return a descriptor
 * (O_PATH), or -errno. With our mounts they begin at our root, also after a chroot(2) of the process;
 * else at its own.
 */
int foreign_paths_root(int pid, struct err *e);
/* Return whether the process has our mounts and our root, or cannot be looked into. */
bool foreign_has_our_files(int pid);
/* Return a descriptor (O_PATH) of a folder below root, without following a link on the way; or -errno. */
int foreign_dir(int root, const char *path);

/*
 * Do what the calls of these names do, in the folder dir and as that user. With u NULL, or when we are not
 * root, they act as ourselves. name has no slash. They return 0 or a descriptor, or -errno.
 */
int foreign_mkdir(int dir, const char *name, mode_t mode, const struct foreign_user *u);
/* Open with O_NOFOLLOW, for listing and locking. */
int foreign_opendir(int dir, const char *name, const struct foreign_user *u);
/* Create a new file, for writing. */
int foreign_create(int dir, const char *name, mode_t mode, const struct foreign_user *u);
int foreign_unlink(int dir, const char *name, int flags, const struct foreign_user *u);
int foreign_rename(int dir, const char *from, const char *to, const struct foreign_user *u);
/* Bind a Unix socket to a name there, with exactly this mode. */
int foreign_bind(int dir, const char *name, int sock, mode_t mode, const struct foreign_user *u);
/* Connect to the socket there; follow no link, and do not become the user. */
int foreign_connect(int dir, const char *name, int sock);

/* --- sudo --- */

/*
 * Give what "sudo arcprof ..." has written to the user who typed that. It stays root's without sudo, and
 * where files have no owners.
 */
void foreign_give_to_caller(int fd);
/* Return the user to whom it is given; our own, if nothing is. */
uid_t foreign_caller(void);

#endif
