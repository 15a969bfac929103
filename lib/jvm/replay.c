// SPDX-License-Identifier: GPL-2.0-or-later
/* replay.c - calls the callbacks of server.h with the content of a journal (replay.h). */
#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "jvm/replay.h"
#include "jvm/server_priv.h"

struct jvm *jvm_without_agent(struct jvm_server *s, int pid, int fd)
{
	struct jvm *j = xcalloc(1, sizeof(*j));
	int code;

	j->s = s;
	j->sock = j->log_fd = j->vmlog.fd = j->next_vmlog.fd = -1;
	j->pid = j->own_pid = j->tid = pid;
	j->state = RUNNING;
	j->came_ns = clock_mono_ns();
	nstid_init(&j->tids, pid, pid);
	if (jvm_make_rings(j, fd, 0))
		return j;
	code = errno;
	nstid_release(&j->tids);
	free(j);
	errno = code;
	return NULL;
}

/* Its shared area exists but stays empty: messages to the agent are discarded. */
struct jvm *jvm_replay_begin(struct jvm_server *s, int pid)
{
	int fd = jvm_memfd("arcprof-replay", s->area_bytes, false);
	struct jvm *j = fd < 0 ? NULL : jvm_without_agent(s, pid, fd);

	if (fd >= 0)
		close(fd);
	if (!j)
		return NULL;
	j->next = s->jvms;
	s->jvms = j;
	s->nr_jvms++;
	j->told = true;
	s->cb.hello(s->ctx, j, pid, pid);
	return j;
}

void jvm_replay_code_cache(struct jvm *j, uint64_t lo, uint64_t hi)
{
	j->ctl->code_lo = lo;
	j->ctl->code_hi = hi;
}

int jvm_replay_records(struct jvm *j, const void *data, size_t len, struct err *e)
{
	struct wire_sink sink = jvm_sink(j);
	ssize_t used = wire_records(data, len, &sink, &j->s->scratch, e);

	if (used >= 0 && (size_t)used < len)
		return err_set(e, EILSEQ, "a record is longer than its chunk");
	return used < 0 ? (int)used : 0;
}

/* Lines continue from one piece to the next: the file from which the log's reader takes them has them all. */
int jvm_replay_vm_log(struct jvm *j, const void *data, size_t len, struct err *e)
{
	int r;

	if (j->vmlog.fd < 0 && !vmlog_open(&j->vmlog))
		return err_errno(e, "memory for the log of a JVM");
	r = io_write_all(j->vmlog.fd, data, len);
	if (r)
		return err_set(e, -r, "memory for the log of a JVM");
	jvm_drain_vmlog(j, false);
	return 0;
}

void jvm_replay_end(struct jvm *j)
{
	jvm_drain_vmlog(j, true);
}
