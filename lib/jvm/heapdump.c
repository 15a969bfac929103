// SPDX-License-Identifier: GPL-2.0-or-later
/* heapdump.c - see heapdump.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/foreign.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/progress.h"
#include "jvm/attach.h"
#include "jvm/heapdump.h"
#include "jvm/inject.h"
#include "jvm/roster.h"
#include "jvm/target.h"

#define DUMP "heap.hprof"
#define RECORD_HINT "record what is live first: arcprof record -e live -p %d"

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
	if (random_bytes(&number, sizeof(number)))
		return err_set(e, EIO, "no random number");
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

/* Copy what exists when the JVM reports the end: its user may go on writing. */
static int heapdump_copy(int from, int out, struct err *e)
{
	enum { PIECE = 16 << 20 };
	struct progress p;
	struct stat st;
	uint64_t done = 0, size;
	ssize_t n = 0;

	if (fstat(from, &st))
		return err_errno(e, "the dump");
	size = st.st_size;
	progress_start(&p, "copying the dump", size);
	while (done < size && (n = sendfile(out, from, NULL, MIN(size - done, (uint64_t)PIECE))) > 0)
		progress_update(&p, done += n);
	progress_end(&p);
	return n < 0 ? err_errno(e, "writing the dump") : 0;
}

static int heapdump_ask(const struct place *p, int pid, bool live, struct err *e)
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

/* --- the roster --- */

/* Return whether our agent is in the process, so that nothing new needs to be loaded. */
static bool has_agent(int pid)
{
	struct buf name = BUF_INIT;
	char path[32], line[4096 + 128];
	bool found = false;
	FILE *f;

	buf_str(&name, "/agent-");
	inject_build_id(&name);
	buf_str(&name, ".so\n");
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f))
		found = strstr(line, name.data);
	if (f)
		fclose(f);
	buf_release(&name);
	return found;
}

/* Check the line "return code: N", which follows that of the attach protocol. */
static int check_answer(int pid, const char *reply, struct err *e)
{
	static const char code[] = "return code: ";
	const char *at = strstr(reply, code), *text = strchr(reply, '\n');

	switch (at ? atoi(at + sizeof(code) - 1) : -1) {
	case JVM_ROSTER_DONE:
		return 0;
	case JVM_ROSTER_NOT_LIVE:
		err_set(e, ENOENT, "process %d: its live objects are not being recorded", pid);
		err_hint(e, RECORD_HINT, pid);
		return -ENOENT;
	case JVM_ROSTER_NO_ROOM:
		err_set(e, ENOMEM, "process %d: its heap is too full for references to the sampled objects", pid);
		err_hint(e, "record with a larger interval, or try after a collection (jcmd %d GC.run)", pid);
		return -ENOMEM;
	case JVM_ROSTER_COUNTED:
		return err_set(e, ENOTSUP, "process %d: its calls are being counted, and this would add to them",
			       pid);
	case JVM_ROSTER_LATE:
		return err_set(e, ETIMEDOUT, "process %d: its agent did not get to its sampled objects in time",
			       pid);
	}
	text = text ? text + 1 : reply;
	return err_set(e, EIO, "process %d: the agent was not asked: %.*s", pid, (int)strcspn(text, "\n"), text);
}

static int ask_agent(const struct place *p, int pid, char what, uint64_t cookie, struct err *e)
{
	struct buf agent = BUF_INIT, reply = BUF_INIT;
	char option[40];
	int root = foreign_root(pid, e), r;

	r = root < 0 ? root : inject_place_for(pid, root, &p->user, false, &agent, e);
	if (root >= 0)
		close(root);
	snprintf(option, sizeof(option), JVM_ROSTER_OPTION "%c%016" PRIx64, what, cookie);
	if (!r) {
		const char *const words[ATTACH_WORDS] = { "load", agent.data, "true", option };

		r = attach_command(pid, words, &reply, e);
	}
	if (!r)
		r = check_answer(pid, reply.data, e);
	buf_release(&agent);
	buf_release(&reply);
	return r;
}

static int ask_with_roster(const struct place *p, int pid, bool live, struct err *e)
{
	struct err ignored;
	uint64_t cookie = 0;
	int r;

	if (!has_agent(pid)) {
		err_set(e, ENOENT, "process %d is not being recorded by this arcprof", pid);
		err_hint(e, RECORD_HINT, pid);
		return -ENOENT;
	}
	if (random_bytes(&cookie, sizeof(cookie)))
		return err_set(e, EIO, "no random number");
	cookie |= !cookie;
	r = ask_agent(p, pid, '+', cookie, e);
	if (r)
		return r;
	r = heapdump_ask(p, pid, live, e);
	ask_agent(p, pid, '-', cookie, &ignored);	/* or else it is let go when the recording ends */
	return r;
}

int heapdump(int pid, const struct heapdump_opts *o, int out, struct err *e)
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
		r = o->samples ? ask_with_roster(&p, pid, !o->all, e) : heapdump_ask(&p, pid, !o->all, e);
	if (!r && (fd = foreign_open(p.dir, DUMP, &rule, e)) < 0)
		r = err_wrap(e, "process %d said that it wrote a dump, but", pid);
	if (!r)
		r = heapdump_copy(fd, out, e);
	if (fd >= 0)
		close(fd);
	remove_place(&p);
	return r;
}
