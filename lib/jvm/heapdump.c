// SPDX-License-Identifier: GPL-2.0-or-later
/* heapdump.c - see heapdump.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/foreign.h"
#include "base/progress.h"
#include "jvm/attach.h"
#include "jvm/heapdump.h"
#include "jvm/target.h"

#define DUMP "heap.hprof"

/* A folder of the JVM's user, below its /tmp. */
struct place {
	struct foreign_user user;
	int tmp, dir;
	char name[40];
};

static int make_place(struct place *p, int pid, struct err *e)
{
	uint64_t number;
	int root = foreign_root(pid, e), r;

	if (root < 0)
		return root;
	p->tmp = foreign_dir(root, "tmp");
	close(root);
	if (p->tmp < 0)
		return err_set(e, -p->tmp, "process %d: its /tmp cannot be opened: %s", pid,
			       strerror(-p->tmp));
	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return err_errno(e, "no random number");
	snprintf(p->name, sizeof(p->name), "arcprof-heap-%016llx", (unsigned long long)number);
	r = foreign_mkdir(p->tmp, p->name, 0700, &p->user);
	p->dir = r ? r : foreign_opendir(p->tmp, p->name, &p->user);
	if (p->dir < 0)
		return err_set(e, -p->dir, "process %d: no folder can be made in its /tmp: %s", pid,
			       strerror(-p->dir));
	return 0;
}

static void remove_place(struct place *p)
{
	if (p->dir >= 0) {
		foreign_unlink(p->dir, DUMP, 0, &p->user);
		close(p->dir);
		foreign_unlink(p->tmp, p->name, AT_REMOVEDIR, &p->user);
	}
	if (p->tmp >= 0)
		close(p->tmp);
}

static int copy(int from, int out, struct err *e)
{
	struct progress p;
	struct stat st;
	uint64_t done = 0;
	ssize_t n;

	if (fstat(from, &st))
		return err_errno(e, "the dump");
	progress_start(&p, "copying the dump", st.st_size);
	while ((n = sendfile(out, from, NULL, 16 << 20)) > 0)
		progress_update(&p, done += n);
	progress_end(&p);
	return n < 0 ? err_errno(e, "writing the dump") : 0;
}

static int ask(const struct place *p, int pid, bool live, struct err *e)
{
	char path[80];
	const char *const words[ATTACH_WORDS] = { "dumpheap", path, live ? "-live" : "-all", "" };
	struct buf reply = BUF_INIT;
	int r;

	snprintf(path, sizeof(path), "/tmp/%s/%s", p->name, DUMP);
	r = attach_command(pid, words, &reply, e);
	buf_release(&reply);
	return r;
}

int heapdump(int pid, bool live, int out, struct err *e)
{
	struct place p = { .tmp = -1, .dir = -1 };
	struct foreign_rule rule = { .max_bytes = UINT64_MAX };
	struct target t;
	int fd = -1, r = target_check(&t, pid, e);

	if (r)
		return r;
	p.user = (struct foreign_user){ t.euid, t.egid };
	rule.owner = t.euid;
	r = make_place(&p, pid, e);
	if (!r)
		r = ask(&p, pid, live, e);
	if (!r && (fd = foreign_open(p.dir, DUMP, &rule, e)) < 0)
		r = err_wrap(e, "process %d said that it wrote a dump, but", pid);
	if (!r)
		r = copy(fd, out, e);
	if (fd >= 0)
		close(fd);
	remove_place(&p);
	return r;
}
