// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * threadlook.c - asks a running JVM for a picture of its threads (threads.h).
 *
 * The agent is loaded with an option that names our socket, gets a file from us there, and writes. What it
 * wrote is read when the JVM has said that the agent is done, and is hostile input: the JVM still has the
 * file.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "jvm/attach.h"
#include "jvm/doorway.h"
#include "jvm/inject.h"
#include "jvm/peer.h"
#include "jvm/target.h"
#include "jvm/threads.h"
#include "jvm/wire.h"

enum { PIECE = 8 << 20 };
static const uint64_t max_bytes = 1ull << 31;	/* a million frames of 2 KB */

struct asked {
	int pid;
	struct doorway door;
	int sock, file;			/* -1: none yet */
	bool given, foreign;		/* it has the file; it is of another version */
};

static bool give_file(const struct asked *a)
{
	const struct jvm_msg m = { .type = JVM_MSG_SETUP, .flags = JVM_DUMP };

	return peer_send(a->sock, &m, &a->door.key, &a->file, 1);
}

/* Let only that process in. */
static void let_in(struct asked *a)
{
	int fd = accept4(a->door.fd, NULL, NULL, SOCK_CLOEXEC);
	struct peer p;

	if (fd < 0)
		return;
	if (a->sock < 0 && peer_identify(fd, &p) && p.pid == a->pid)
		a->sock = fd;
	else
		close(fd);
}

static enum attach_serves threadlook_serve(void *ctx)
{
	struct asked *a = ctx;
	struct jvm_msg m;

	let_in(a);
	if (a->sock < 0 || a->given || recv(a->sock, &m, sizeof(m), MSG_DONTWAIT) != sizeof(m) ||
	    m.magic != JVM_PROTO_MAGIC)
		return a->given ? ATTACH_TALKS : ATTACH_WAITS;
	a->foreign = m.version != JVM_PROTO_VERSION;
	if (!a->foreign && m.type == JVM_MSG_HELLO && m.flags & JVM_DUMP &&
	    jvm_key_same(a->door.key.agents, m.hello.key))
		a->given = give_file(a);
	return a->given ? ATTACH_TALKS : ATTACH_WAITS;
}

/* --- what it wrote --- */

struct reading {
	struct threads *t;
	struct nstid tids;
};

static void threadlook_on_record(void *ctx, enum jvm_rec_type type, union jvm_record *r)
{
	struct reading *x = ctx;

	if (type == JVM_REC_dump_thread && r->dump_thread.thread)
		r->dump_thread.thread = nstid_host(&x->tids, r->dump_thread.thread);
	threads_add(x->t, type, r);
}

static void threadlook_on_sample(void *ctx, const struct jvm_sample *s)
{
}

static int read_records(int file, struct reading *x, struct err *e)
{
	const struct wire_sink sink = {
		.sample = threadlook_on_sample, .record = threadlook_on_record, .ctx = x
	};
	struct wire_scratch *scratch = xcalloc(1, sizeof(*scratch));
	char *piece = xmalloc(PIECE);
	uint64_t at = 0;
	ssize_t got, used = 1;

	while (used > 0 && at < max_bytes && (got = pread(file, piece, PIECE, at)) > 0) {
		used = wire_records(piece, got, &sink, scratch, e);
		at += used > 0 ? used : 0;
	}
	free(piece);
	free(scratch);
	if (used < 0 || !x->t->complete)
		return err_set(e, EPROTO, "what the JVM wrote about its threads is inconsistent");
	return 0;
}

static int read_threads_file(const struct asked *a, const struct target *target, struct threads *t,
			     struct err *e)
{
	struct reading x = { .t = t };
	struct stat st;
	int r;

	if (!a->given || fstat(a->file, &st) || !st.st_size)
		return err_set(e, EPROTO, a->foreign ? "process %d has the agent of another version of arcprof" :
			       "process %d: the agent was loaded but did not answer", a->pid);
	nstid_init(&x.tids, a->pid, target->own_pid);
	r = read_records(a->file, &x, e);
	nstid_release(&x.tids);
	return r;
}

static int threadlook_ask(struct asked *a, const struct target *target, int root, struct err *e)
{
	const struct foreign_user u = { target->euid, target->egid };
	struct buf agent = BUF_INIT, option = BUF_INIT;
	int r = inject_place_for(a->pid, root, &u, false, &agent, e);

	if (!r)
		r = doorway_open_in(&a->door, root, &u, e);
	if (!r) {
		buf_fmt(&option, JVM_DUMP_OPTION "%s", a->door.path);
		r = attach_load(a->pid, agent.data, option.data, threadlook_serve, a, e);
	}
	doorway_close(&a->door);
	buf_release(&agent);
	buf_release(&option);
	return r;
}

int threads_look(int pid, struct threads *t, struct err *e)
{
	struct asked a = { .pid = pid, .door = DOORWAY_CLOSED, .sock = -1 };
	struct target target;
	int root, r = target_check(&target, pid, e);

	*t = (struct threads)THREADS_INIT;
	if (r)
		return r;
	a.file = memfd_create("arcprof-threads", MFD_CLOEXEC);
	if (a.file < 0)
		return err_errno(e, "memory for the threads (memfd_create)");
	root = foreign_root(pid, e);
	r = root < 0 ? root : threadlook_ask(&a, &target, root, e);
	if (!r)
		r = read_threads_file(&a, &target, t, e);
	if (!r && t->why)
		r = err_set(e, ENOTSUP, "process %d: %s", pid, t->why);
	if (root >= 0)
		close(root);
	if (a.sock >= 0)
		close(a.sock);
	close(a.file);
	return r;
}
