// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * server.c - the recorder's end of the JVM agent (server.h, proto.h).
 *
 * What a JVM shares with us it can change at any time, and it may mean harm: sizes are those
 * we chose, records are copied before they are looked at, and a JVM that contradicts itself
 * is dropped, nothing else.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "jvm/attach.h"
#include "jvm/doorway.h"
#include "jvm/inject.h"
#include "jvm/memory.h"
#include "jvm/peer.h"
#include "jvm/server_priv.h"
#include "jvm/target.h"
#include "jvm/vmlog.h"
#include "jvm/waiting.h"
#include "jvm/wire.h"

enum { RINGS_OFF = JVM_PAGE + sizeof(struct jvm_root) * JVM_NR_ROOTS };
enum {
	LOG_LIMIT = 256 << 20, LOG_PIECE = 8 << 20, DRAIN_BYTES = 16 << 20, PUNCH_BYTES = 4 << 20,
	NR_EVENTS = 16
};
/*
 * Connections: in all, of one process (its agent, and JNI libraries with libarcprof-hookit), and
 * before HELLO.
 */
enum { MAX_PEERS = 4096, MAX_OF_PROCESS = 16, MAX_WAITING = 256 };

/* An agent says HELLO as soon as it is connected, READY after some work. */
static const uint64_t hello_ns = 5000000000;
enum { READY_TIMES = 12 };

static bool has_memory(const struct jvm_server *s)
{
	return s->o.inject & INJECT_MEMORY;
}

static size_t ring_stride(const struct jvm_server *s)
{
	return JVM_PAGE + s->o.ring_bytes;
}

static struct jvm_ring *jvm_ring_at(const struct jvm *j, uint32_t i)
{
	return (void *)((uint8_t *)j->ctl + RINGS_OFF + i * ring_stride(j->s));
}

static struct jvm_root *root_at(const struct jvm *j, uint32_t i)
{
	return (struct jvm_root *)((uint8_t *)j->ctl + JVM_PAGE) + i;
}

/* --- from wire_sink to the caller's callbacks --- */

static void server_on_sample(void *ctx, const struct jvm_sample *v)
{
	struct jvm *j = ctx;
	struct jvm_sample sample = *v;

	sample.tid = nstid_host(&j->tids, v->tid);
	if (j->s->cb.sample && !j->marks)
		j->s->cb.sample(j->s->ctx, j, &sample);
}

/* Translate threads to the numbers that we know. */
static void translate_tids(struct jvm *j, enum jvm_rec_type type, union jvm_record *r)
{
	const struct wire_kind *k = &wire_kinds[type];
	uint32_t i, nr, tid;
	const struct wire_field *f = k->fields(&nr);

	if (type == JVM_REC_thread)
		nstid_forget(&j->tids, r->thread.thread);	/* most names are those of new threads */
	for (i = 0; i < nr; i++, f++) {
		if (f->op != WIRE_TID)
			continue;
		memcpy(&tid, (char *)r + f->off, sizeof(tid));
		tid = tid ? nstid_host(&j->tids, tid) : 0;
		memcpy((char *)r + f->off, &tid, sizeof(tid));
	}
}

static bool is_mark(enum jvm_rec_type type, const union jvm_record *r)
{
	return type == JVM_REC_labels || type == JVM_REC_marked ||
	       (type == JVM_REC_event &&
		(r->event.kind == JVM_EVENT_MARK || r->event.kind == JVM_EVENT_PHASE));
}

static void server_on_record(void *ctx, enum jvm_rec_type type, union jvm_record *r)
{
	struct jvm *j = ctx;
	const struct jvm_callbacks *cb = &j->s->cb;

	if (j->marks && !is_mark(type, r))
		return;
	translate_tids(j, type, r);
	switch (type) {
#define RECORD(name, ...) \
	case JVM_REC_##name: \
		if (cb->name) \
			cb->name(j->s->ctx, j, &r->name); \
		break;
#include "jvm/table.h"
	default:
		break;
	}
}

struct wire_sink jvm_sink(struct jvm *j)
{
	return (struct wire_sink){ .sample = server_on_sample, .record = server_on_record, .ctx = j };
}

/* --- draining --- */

/* Drop a JVM whose shared data are invalid: it is not measured any more. */
static void __attribute__((format(printf, 2, 3))) drop_jvm(struct jvm *j, const char *fmt, ...)
{
	char what[128];
	struct err e;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	err_set(&e, EPROTO, "JVM %d: agent's data is damaged: %s", j->pid, what);
	j->dead = true;
	if (j->s->cb.broken)
		j->s->cb.broken(j->s->ctx, j, &e);
}

/*
 * Drain the log first, and of the rings what came before its end, since samples refer to what is in the log.
 * What exceeds a drain's share of it waits.
 */
static void drain_log(struct jvm *j, bool all)
{
	struct jvm_server *s = j->s;
	struct wire_sink sink = jvm_sink(j);
	uint64_t head = load_acquire(&j->ctl->log_head);
	struct err e;

	if (head - j->log_read > LOG_LIMIT) {
		drop_jvm(j, "log from %llu to %llu", (unsigned long long)j->log_read,
			 (unsigned long long)head);
		return;
	}
	if (!all)
		head = MIN(head, j->log_read + DRAIN_BYTES);
	while (j->log_read < head && !j->dead) {
		size_t want = MIN(head - j->log_read, (uint64_t)LOG_PIECE);
		ssize_t got, used;

		buf_reset(&s->copy);
		got = pread(j->log_fd, buf_room(&s->copy, want), want, j->log_read);
		if (got <= 0)
			break;
		used = wire_records(s->copy.data, got, &sink, &s->scratch, &e);
		if (used <= 0) {
			drop_jvm(j, "log at %llu", (unsigned long long)j->log_read);
			break;
		}
		j->log_read += used;
		store_release(&j->ctl->log_read, j->log_read);
	}
	if (j->log_read - j->log_punched >= PUNCH_BYTES) {
		uint64_t to = j->log_read & ~4095ull;

		fallocate(j->log_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, j->log_punched,
			  to - j->log_punched);
		j->log_punched = to;
	}
}

/* Drain a ring up to its end before the log was read, or to a record that is being written. */
static void drain_ring(struct jvm *j, uint32_t i)
{
	struct jvm_server *s = j->s;
	struct wire_sink sink = jvm_sink(j);
	struct jvm_ring *r = jvm_ring_at(j, i);
	uint8_t *data = (uint8_t *)r + JVM_PAGE;
	uint64_t size = s->o.ring_bytes, tail = j->tails[i];
	uint64_t head = j->heads[i];
	struct err e;

	if (head - tail > size) {
		drop_jvm(j, "ring from %llu to %llu", (unsigned long long)tail, (unsigned long long)head);
		return;
	}
	while (tail != head) {
		uint8_t *p = data + (tail & (size - 1));
		uint64_t h = load_acquire((uint64_t *)p);
		uint32_t len = h, type = h >> 32 & 0xff;

		if (!type || (h >> 32 & ~0xffull) != jvm_ring_stamp(tail, size))
			break;
		if (len < sizeof(struct jvm_rec) || (len & 7) || len > head - tail ||
		    (tail & (size - 1)) + len > size) {
			drop_jvm(j, "record of %u bytes at %llu of %llu", len, (unsigned long long)tail,
				 (unsigned long long)head);
			break;
		}
		if (type != JVM_REC_PAD) {
			buf_reset(&s->copy);
			memcpy(buf_room(&s->copy, len), p, len);
			*(struct jvm_rec *)s->copy.data = (struct jvm_rec){ len, type };
			if (wire_record(s->copy.data, len, &sink, &s->scratch, &e))
				s->cb.lost(s->ctx, j, 1);
		}
		tail += len;
		store_release(&r->tail, tail);
	}
	j->tails[i] = tail;
}

static void report_lost(struct jvm *j)
{
	uint64_t nr = 0, now;
	uint32_t i;

	for (i = 0; i < j->s->nr_rings; i++) {
		now = load_relaxed(&jvm_ring_at(j, i)->lost);
		nr += now - j->lost[i];
		j->lost[i] = now;
	}
	now = load_relaxed(&j->ctl->log_lost);
	nr += now - j->log_lost;
	j->log_lost = now;
	if (nr)
		j->s->cb.lost(j->s->ctx, j, nr);
}

static void on_vmlog(void *ctx, struct jvm_event *e)
{
	struct jvm *j = ctx;

	if (e->kind == JVM_EVENT_SAFEPOINT && e->values[2] != UINT64_MAX)	/* the thread that was last */
		e->values[2] = nstid_host(&j->tids, e->values[2]);
	server_on_record(ctx, JVM_REC_event, &(union jvm_record){ .event = *e });
}

static bool is_unchanged(const struct jvm *j)
{
	return j->ctl && !j->dead && load_acquire(&j->ctl->changed) != j->ctl->change;
}

void jvm_drain_vmlog(struct jvm *j, bool all)
{
	uint64_t skipped = vmlog_drain(&j->vmlog, all, &j->s->copy, on_vmlog, j);

	if (skipped)
		j->s->cb.lost(j->s->ctx, j, skipped);
}

/* Read the log's next file, to which the JVM writes from now on. */
static void change_vmlog(struct jvm *j)
{
	jvm_drain_vmlog(j, true);
	vmlog_close(&j->vmlog);
	j->vmlog = j->next_vmlog;
	j->next_vmlog.fd = -1;
}

static void drain_jvm(struct jvm *j, bool all)
{
	uint32_t i;

	/* not before hello(): the callbacks would not know whose it is */
	if (!j->ctl || j->dead || !j->told)
		return;
	for (i = 0; i < j->s->nr_rings; i++)
		j->heads[i] = load_acquire(&jvm_ring_at(j, i)->head);
	if (!j->marks && !j->deputy)
		drain_log(j, all);
	jvm_drain_vmlog(j, all);
	if (j->next_vmlog.fd >= 0 && !is_unchanged(j))
		change_vmlog(j);
	for (i = 0; i < j->s->nr_rings && !j->dead; i++)
		drain_ring(j, i);
	report_lost(j);
}

void jvm_server_drain(struct jvm_server *s, bool all)
{
	struct jvm *j;

	for (j = s->jvms; j; j = j->next)
		drain_jvm(j, all);
}

/* --- a JVM's life --- */

int jvm_memfd(const char *name, size_t size, bool seal)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, size) ||
	    (seal && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	return fd;
}

static bool send_msg(struct jvm *j, const struct jvm_msg *m, const int *fds, size_t nr_fds)
{
	return peer_send(j->sock, m, j->has_key ? &j->key : NULL, fds, nr_fds);
}

/* Make the area of call trees; -1: there is none. */
static int callflow_area(struct jvm *j, bool program, struct jvm_msg *m)
{
	struct jvm_server *s = j->s;
	int fd;

	if (!s->o.callflow)
		return -1;
	fd = s->cb.callflow(s->ctx, j, j->pid, program, &m->setup.callflow_bytes);
	if (fd >= 0) {
		j->callflow = true;
		m->flags |= JVM_CALLFLOW;
	}
	return fd;
}

/* Return where the agent's process has its hook for samples of native memory, or 0 if it has none. */
static uint64_t memory_hook_of(const struct jvm *j)
{
	const struct jvm *o;

	for (o = j->s->jvms; o && (o == j || o->pid != j->pid || !o->memory || o->dead); o = o->next)
		;
	return o ? o->hook : 0;
}

static void set_wishes(struct jvm *j)
{
	const struct jvm_server_opts *o = &j->s->o;

	j->ctl->sources = o->sources;
	memcpy(j->ctl->intervals, o->intervals, sizeof(j->ctl->intervals));
	j->ctl->tell = j->tell = o->tell;
	j->ctl->may_tell = o->may_tell;
	snprintf(j->ctl->lock_filter, sizeof(j->ctl->lock_filter), "%s", o->lock_filter ? o->lock_filter : "");
	j->ctl->lock_cpu = o->lock_cpu;
	j->ctl->off = o->off;
}

bool jvm_make_rings(struct jvm *j, int fd, uint32_t flags)
{
	struct jvm_server *s = j->s;
	/* the agent fills it with pages: they are to count as the JVM's memory, not as ours */
	void *p = mmap(NULL, s->area_bytes, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_NORESERVE | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);

	if (p == MAP_FAILED)
		return false;
	j->ctl = p;
	*j->ctl = (struct jvm_ctl){
		.magic = JVM_PROTO_MAGIC, .version = JVM_PROTO_VERSION,
		.nr_rings = s->nr_rings, .ring_bytes = s->o.ring_bytes,
		.max_depth = s->o.max_depth, .max_stack = s->o.max_stack_bytes,
		.flags = flags | (s->o.places ? JVM_PLACES : 0) | (s->o.stuck ? JVM_STUCK : 0) |
			 (s->o.live_gc ? JVM_LIVE_GC : 0) | (s->o.live_adapts ? JVM_LIVE_ADAPTS : 0),
		.log_limit = LOG_LIMIT,
		.memory_hook = memory_hook_of(j),
	};
	set_wishes(j);
	j->tails = xcalloc(s->nr_rings, sizeof(*j->tails));
	j->heads = xcalloc(s->nr_rings, sizeof(*j->heads));
	j->lost = xcalloc(s->nr_rings, sizeof(*j->lost));
	return true;
}

/* Return whether hardly any descriptor is left: what was tried needs a few at once. */
static bool lacks_files(void)
{
	int fds[4], why = 0;
	size_t nr = 0;

	while (nr < ARRAY_SIZE(fds) && !why) {
		fds[nr] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		why = fds[nr] < 0 ? errno : 0;
		nr += !why;
	}
	while (nr)
		close(fds[--nr]);
	return why == EMFILE || why == ENFILE;
}

static bool set_up(struct jvm *j)
{
	struct jvm_server *s = j->s;
	struct jvm_msg m = { .type = JVM_MSG_SETUP, .setup = { .area_bytes = s->area_bytes } };
	int fds[JVM_MAX_FDS], trees;
	size_t nr = 2;
	bool ok;

	fds[0] = jvm_memfd("arcprof-rings", s->area_bytes, true);
	if (fds[0] < 0)
		s->refusals.no_memory = errno;
	fds[1] = jvm_memfd("arcprof-log", 0, false);
	s->refusals.no_files |= (fds[0] < 0 || fds[1] < 0) && lacks_files();
	trees = callflow_area(j, false, &m);
	m.flags |= s->o.sample ? JVM_SAMPLE : 0;
	j->log_fd = fds[1];
	if (trees >= 0)
		fds[nr++] = trees;
	if (s->o.tell & JVM_TELL_BY_LOG && vmlog_open(&j->vmlog)) {
		m.flags |= JVM_VM_LOG;
		fds[nr++] = j->vmlog.fd;
	}
	ok = fds[0] >= 0 && fds[1] >= 0 && jvm_make_rings(j, fds[0], m.flags) && send_msg(j, &m, fds, nr);
	if (fds[0] >= 0)
		close(fds[0]);
	if (trees >= 0)
		close(trees);
	return ok;
}

/* Return the JVM that keeps call trees in the same process, or NULL. */
static struct jvm *host_of(const struct jvm *j)
{
	struct jvm *h;

	for (h = j->s->jvms; h && (h->pid != j->pid || !h->host || h->dead); h = h->next)
		;
	return h;
}

/* Set up a program with libarcprof-hookit, which needs trees and nothing else. */
static bool set_up_program(struct jvm *j)
{
	struct jvm_msg m = { .type = JVM_MSG_SETUP };
	const struct jvm *host = host_of(j);
	int fd;
	bool ok;

	if (host) {
		j->guest = true;
		m.flags = JVM_CALLFLOW | JVM_GUEST;
		m.setup.host = host->host;
		return send_msg(j, &m, NULL, 0);
	}
	fd = callflow_area(j, true, &m);
	ok = fd >= 0 && send_msg(j, &m, &fd, 1);
	if (fd >= 0)
		close(fd);
	return ok;
}

/* Set up rings for marks and labels, if they are recorded. */
static bool set_up_marks(struct jvm *j)
{
	struct jvm_server *s = j->s;
	struct jvm_msg m = {
		.type = JVM_MSG_SETUP, .flags = JVM_MARKS, .setup = { .area_bytes = s->area_bytes },
	};
	bool wanted = s->o.tell & JVM_TELL_BY_PROGRAM && s->cb.marks;
	int fd = wanted ? jvm_memfd("arcprof-marks", s->area_bytes, true) : -1;
	bool ok = fd >= 0 && jvm_make_rings(j, fd, JVM_MARKS);

	if (ok) {
		j->marks = true;
		s->cb.marks(s->ctx, j, j->pid);
		j->told = true;
		ok = send_msg(j, &m, &fd, 1);
	}
	if (fd >= 0)
		close(fd);
	return ok;
}

static bool answer_jvm(struct jvm *j, uint64_t addr)
{
	struct jvm_msg m = { .type = JVM_MSG_FUNCTION, .function = { addr } };
	struct jvm *owner = j->guest ? host_of(j) : j;

	m.flags = owner && j->s->cb.function(j->s->ctx, owner, addr) ? JVM_INCLUDED : 0;
	return send_msg(j, &m, NULL, 0);
}

/*
 * Set up a program whose native memory or locks are recorded: it closes the socket when it has the area, and
 * ends with its process.
 */
static bool set_up_memory(struct jvm *j)
{
	struct jvm_server *s = j->s;
	struct jvm_msg m = { .type = JVM_MSG_SETUP, .setup = { .area_bytes = s->area_bytes } };
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = j };
	int process = syscall(SYS_pidfd_open, j->pid, 0);
	int fd = process < 0 ? -1 : jvm_memfd("arcprof-memory", s->area_bytes, true);
	bool ok = fd >= 0 && jvm_make_rings(j, fd, 0) && send_msg(j, &m, &fd, 1) &&
		  !epoll_ctl(s->epoll, EPOLL_CTL_ADD, process, &ev);

	if (fd >= 0)
		close(fd);
	close(j->sock);
	j->sock = process;
	j->memory = true;
	return ok;
}

static void read_jvm(struct jvm *j);
static void drain_process(struct jvm_server *s, int pid);

/* End the earlier program of a process, which is another one now: what it left is complete. */
static void end_earlier_program(struct jvm *j)
{
	struct jvm *o;

	for (o = j->s->jvms; o; o = o->next) {
		if (o == j || o->pid != j->pid || !o->memory || o->dead)
			continue;
		drain_process(o->s, o->pid);
		o->dead = true;
	}
}

/*
 * Return whether the process already has an agent's area. It may have become another program, and the end of
 * the old one be still unread.
 */
static bool has_area(const struct jvm *j)
{
	struct jvm *o;

	for (o = j->s->jvms; o; o = o->next) {
		if (o == j || o->pid != j->pid || !o->ctl || o->memory || o->marks || o->dead)
			continue;
		read_jvm(o);
		if (!o->dead)
			return true;
	}
	return false;
}

/* Return whether it waits for the answer for a limited time (JVM_GO_TIMEOUT_MS). */
static bool has_gone_on(const struct jvm *j)
{
	struct pollfd p = { .fd = j->sock, .events = POLLRDHUP };

	return poll(&p, 1, 0) == 1;
}

static void on_jvm_hello(struct jvm *j, const struct jvm_msg *m)
{
	if (has_gone_on(j)) {
		j->s->refusals.late++;
		j->dead = true;
		return;
	}
	nstid_init(&j->tids, j->pid, j->own_pid);
	j->tid = nstid_host(&j->tids, m->hello.tid);
	if (!nstid_is_of(j->pid, j->tid))
		j->tid = j->pid;
	if (m->flags & (JVM_PROGRAM | JVM_MARKS)) {
		j->state = RUNNING;
		j->dead = !(m->flags & JVM_MARKS ? set_up_marks(j) : set_up_program(j));
	} else if (m->flags & JVM_MEMORY) {
		end_earlier_program(j);
		j->state = RUNNING;
		j->hook = m->hello.hook;
		j->dead = !j->s->o.inject || !set_up_memory(j);
		j->told = !j->dead;
		if (j->told)
			j->s->cb.program(j->s->ctx, j, j->pid);
	} else {
		j->state = AWAIT_READY;
		j->dead = j->s->o.programs || has_area(j) || !set_up(j);
	}
}

bool jvm_has_wall_maps(const struct jvm *j)
{
	const struct jvm_wall_maps *m = &j->s->wall;

	return m->slots_fd >= 0 && (!m->own_user_only || j->uid == geteuid());
}

/*
 * Send a change. A VM keeps its log while the kinds of events in it stay the same. The file of the last
 * change is useless if it was not taken yet.
 */
static bool send_change(struct jvm *j)
{
	struct jvm_msg m = { .type = JVM_MSG_CHANGE };
	struct vmlog *v = &j->next_vmlog;
	bool logs_other = (j->s->o.tell ^ j->tell) & JVM_TELL_BY_LOG, ok;

	if (v->fd >= 0)
		change_vmlog(j);
	if (logs_other && j->s->o.tell & JVM_TELL_BY_LOG && vmlog_open(v))
		m.flags |= JVM_VM_LOG;
	set_wishes(j);
	store_release(&j->ctl->change, j->ctl->change + 1);
	ok = send_msg(j, &m, &v->fd, v->fd >= 0);
	j->change_due = false;
	if (!ok)
		vmlog_close(v);
	return ok;
}

void jvm_server_change(struct jvm_server *s, const struct jvm_server_opts *o)
{
	struct jvm *j;

	s->o.sources = o->sources;
	memcpy(s->o.intervals, o->intervals, sizeof(s->o.intervals));
	s->o.tell = o->tell;
	s->o.off = o->off;
	for (j = s->jvms; j; j = j->next) {
		if (!j->ctl || j->dead || j->memory || j->marks || j->deputy)
			continue;
		if (j->state == RUNNING)
			send_change(j);
		else
			j->change_due = true;
	}
}

size_t jvm_server_nr_unchanged(const struct jvm_server *s)
{
	const struct jvm *j;
	size_t nr = 0;

	for (j = s->jvms; j; j = j->next)
		nr += j->state == RUNNING && is_unchanged(j);
	return nr;
}

/* Let the JVM start, or continue. */
static bool let_jvm_go(struct jvm *j, bool sample)
{
	const struct jvm_server *s = j->s;
	struct jvm_msg go = { .type = JVM_MSG_GO, .flags = sample ? JVM_SAMPLE : 0 };
	const int fds[] = {
		s->wall.slots_fd, s->wall.stamps_fd, s->wall.marks_fd, s->wall.wakes_fd, s->wall.anchors_fd,
	};
	bool wall = jvm_has_wall_maps(j), wakes = wall && !s->wall.late && s->wall.wakes_fd >= 0;

	if (sample && s->timer_ns) {
		go.flags |= JVM_TIMERS;
		go.go.timer_ns = s->timer_ns;
	}
	if (wall) {
		go.flags |= JVM_WALL | (s->wall.late ? JVM_WALL_LATE : 0) | (wakes ? JVM_WALL_WAKES : 0);
		go.go.wall_ns = s->wall.interval_ns;
		go.go.wall_slots = s->wall.nr_slots;
	}
	return send_msg(j, &go, fds, !wall ? 0u : wakes ? 5u : 3u - s->wall.late) &&
	       (!j->change_due || send_change(j));
}

/* Return whether it was loaded by us, as far as its first message can prove that. */
static bool msg_is_ours(const struct jvm *j, const struct jvm_msg *m)
{
	if (j->state != AWAIT_HELLO || !j->has_key)
		return true;
	return jvm_key_same(j->key.agents, m->type == JVM_MSG_REFUSED ? m->refused.key : m->hello.key);
}

static void on_message(struct jvm *j, const struct jvm_msg *m)
{
	struct jvm_server *s = j->s;

	if (m->magic != JVM_PROTO_MAGIC || m->version != JVM_PROTO_VERSION) {
		j->dead = true;
	} else if (!msg_is_ours(j, m)) {
		s->refusals.strangers++;
		j->dead = true;
	} else if (j->state == AWAIT_HELLO && m->type == JVM_MSG_HELLO) {
		on_jvm_hello(j, m);
	} else if (j->state == AWAIT_READY && m->type == JVM_MSG_READY) {
		j->state = RUNNING;
		j->told = true;
		j->host = j->callflow ? m->ready.host : 0;
		j->dead = !let_jvm_go(j, s->cb.hello(s->ctx, j, j->pid, j->tid));
	} else if (j->state == AWAIT_HELLO && m->type == JVM_MSG_REFUSED) {
		if (j->pid == s->attaching)
			s->refusal = m->refused.reason;
		else if (m->refused.reason == JVM_REFUSED_VM)
			s->refusals.unknown_vms++;
		j->dead = true;
	} else if (j->state == RUNNING && m->type == JVM_MSG_FUNCTION && !j->ctl &&
		   (j->callflow || j->guest)) {
		j->dead = !answer_jvm(j, m->function.addr);
	} else {
		j->dead = true;
	}
}

static void drain_process(struct jvm_server *s, int pid)
{
	struct jvm *j;

	for (j = s->jvms; j; j = j->next)
		if (j->pid == pid)
			drain_jvm(j, true);
}

/* Count a refused peer; the head of a message is the same in all versions. */
static void count_foreign(struct jvm_refusals *r, uint32_t flags)
{
	if (flags & JVM_PROGRAM)
		r->foreign_hooks++;
	else if (flags & JVM_MARKS)
		r->foreign_marks++;
	else
		r->foreign++;
}

static void read_jvm(struct jvm *j)
{
	struct jvm_msg m;
	ssize_t n = j->memory || j->deputy ? 0 : recv(j->sock, &m, sizeof(m), MSG_DONTWAIT | MSG_TRUNC);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (j->state == AWAIT_HELLO && n >= 16 && m.magic == JVM_PROTO_MAGIC &&
	    m.version != JVM_PROTO_VERSION)
		count_foreign(&j->s->refusals, m.flags);
	if (j->memory)
		drain_process(j->s, j->pid);	/* samples of its blocks that the agent took */
	if (n == sizeof(m))
		on_message(j, &m);
	else if (n <= 0 && j->ctl)
		drain_jvm(j, true), j->dead = true;	/* it ended: what it left is complete */
	else
		j->dead = true;
}

void jvm_free(struct jvm *j)
{
	if (j->callflow)
		j->s->cb.callflow_gone(j->s->ctx, j);
	if (j->told && j->s->cb.gone)
		j->s->cb.gone(j->s->ctx, j);
	if (j->ctl)
		munmap(j->ctl, j->s->area_bytes);
	if (j->log_fd >= 0)
		close(j->log_fd);
	vmlog_close(&j->vmlog);
	vmlog_close(&j->next_vmlog);
	if (j->sock >= 0)
		close(j->sock);
	if (j->deputy > 0) {
		kill(j->deputy, SIGKILL);
		while (waitpid(j->deputy, NULL, 0) < 0 && errno == EINTR)
			;
	}
	nstid_release(&j->tids);
	free(j->tails);
	free(j->heads);
	free(j->lost);
	free(j);
}

static void bury_dead(struct jvm_server *s)
{
	struct jvm **p = &s->jvms, *j;

	while ((j = *p)) {
		if (!j->dead) {
			p = &j->next;
			continue;
		}
		*p = j->next;
		s->nr_jvms--;
		jvm_free(j);
	}
}

/*
 * Return whether a peer may connect: root measures all JVMs, others only their own. only: 0, or the one
 * process that may.
 */
static bool is_welcome(const struct jvm_server *s, const struct peer *p, int only)
{
	if (geteuid() && p->uid != geteuid())
		return false;
	return only ? p->pid == only : !s->cb.admit || s->cb.admit(s->ctx, p->pid, p->start_ns);
}

static bool is_crowded(const struct jvm_server *s, int pid)
{
	size_t waiting = 0, same = 0;
	const struct jvm *j;

	for (j = s->jvms; j; j = j->next) {
		waiting += j->state == AWAIT_HELLO;
		same += j->pid == pid;
	}
	return s->nr_jvms >= MAX_PEERS || waiting >= MAX_WAITING || same >= MAX_OF_PROCESS;
}

static bool add_jvm(struct jvm_server *s, int fd, const struct peer *p, const struct jvm_key *key)
{
	struct jvm *j = xcalloc(1, sizeof(*j));
	struct epoll_event ev = { .events = EPOLLIN | EPOLLRDHUP, .data.ptr = j };

	if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &ev)) {
		free(j);
		return false;
	}
	j->s = s;
	j->sock = fd;
	j->pid = p->pid;
	j->own_pid = p->own_pid;
	j->uid = p->uid;
	j->has_key = key;
	if (key)
		j->key = *key;
	j->came_ns = clock_mono_ns();
	j->log_fd = -1;
	j->vmlog.fd = j->next_vmlog.fd = -1;
	j->next = s->jvms;
	s->jvms = j;
	s->nr_jvms++;
	return true;
}

/* Accept a connection. only: 0, or the one process that may use this door; it must have the door's key. */
static void accept_jvm(struct jvm_server *s, const struct doorway *door, int only)
{
	int fd = accept4(door->fd, NULL, NULL, SOCK_CLOEXEC);
	struct peer p;

	if (fd < 0) {
		s->refusals.no_files |= lacks_files();
		return;
	}
	if (!peer_identify(fd, &p)) {
		if (lacks_files())
			s->refusals.no_files = true;
		else
			s->refusals.late++;
	} else if (!is_welcome(s, &p, only)) {
		s->refusals.strangers++;
	} else if (s->o.kernels_clock && clock_ahead_ns(p.pid)) {
		s->refusals.clocks++;
	} else if (is_crowded(s, p.pid)) {
		s->refusals.crowd++;
	} else if (add_jvm(s, fd, &p, only ? &door->key : NULL)) {
		return;
	}
	close(fd);
}

/* Close connections whose peers send nothing. */
static void dismiss_silent(struct jvm_server *s)
{
	uint64_t now = clock_mono_ns();
	struct jvm *j;

	for (j = s->jvms; j; j = j->next) {
		uint64_t patience = s->o.patience_ns * (j->state == AWAIT_HELLO ? 1 : READY_TIMES);

		if (j->dead || j->state == RUNNING || now - j->came_ns < patience)
			continue;
		j->dead = true;
		s->refusals.silent++;
	}
}

void jvm_server_use_timers(struct jvm_server *s, uint64_t period_ns)
{
	s->timer_ns = period_ns;
}

void jvm_server_use_wall(struct jvm_server *s, const struct jvm_wall_maps *maps)
{
	s->wall = *maps;
}

void jvm_server_poll(struct jvm_server *s)
{
	enum { ROUNDS = 64 };		/* those that begin at once are answered at once */
	struct epoll_event ev[NR_EVENTS];
	int i, n, rounds = 0;

	do {
		n = epoll_wait(s->epoll, ev, NR_EVENTS, 0);
		for (i = 0; i < n; i++) {
			if (!ev[i].data.ptr)
				accept_jvm(s, &s->door, 0);
			else
				read_jvm(ev[i].data.ptr);
		}
		dismiss_silent(s);
		bury_dead(s);
	} while (n > 0 && ++rounds < ROUNDS);
}

/* --- a running JVM --- */

static struct jvm *find_running(const struct jvm_server *s, int pid)
{
	struct jvm *j;

	for (j = s->jvms;
	     j && (j->pid != pid || j->state != RUNNING || !j->ctl || j->memory || j->marks); j = j->next)
		;
	return j;
}

static enum attach_serves serve_attaching(void *ctx)
{
	struct jvm_server *s = ctx;

	if (s->cb.meanwhile && !s->cb.meanwhile(s->ctx))
		return ATTACH_STOPS;
	accept_jvm(s, &s->inside, s->attaching);
	jvm_server_poll(s);
	jvm_server_drain(s, false);
	return find_running(s, s->attaching) ? ATTACH_TALKS : ATTACH_WAITS;
}

/*
 * Have the JVM load the library that samples its malloc(), which connects by itself; before the agent does.
 */
static int attach_memory(struct jvm_server *s, const struct target *t, const char *file, const char *option,
			 struct err *e)
{
	int r = attach_load(t->pid, file, option, serve_attaching, s, e);

	return !r || !*option ? r : err_wrap(e, "its native memory");
}

/* Load the agent, again until the JVM has started. *talks: the agent has begun. */
static int load_agent(struct jvm_server *s, const struct target *t, const char *file, bool *talks,
		      struct err *e)
{
	enum { TURN_NS = 10000000, PATIENCE_S = 10 };
	const uint64_t until_ns = clock_mono_ns() + PATIENCE_S * 1000000000ull;
	enum attach_serves serves;
	int r;

	for (;;) {
		s->refusal = 0;
		r = attach_load(t->pid, file, s->inside.path, serve_attaching, s, e);
		serves = r ? ATTACH_STOPS : serve_attaching(s);
		*talks = serves == ATTACH_TALKS;
		if (serves != ATTACH_WAITS || s->refusal != JVM_REFUSED_EARLY || clock_mono_ns() > until_ns)
			return r;
		clock_sleep_ns(TURN_NS);
	}
}

static int attach_agent(struct jvm_server *s, const struct target *t, const char *file, struct err *e)
{
	bool talks;
	int r = load_agent(s, t, file, &talks, e);

	if (!r && !talks && s->refusals.no_memory)
		r = err_set(e, s->refusals.no_memory,
			    "process %d: there is no memory to share with it (memfd_create): %s", t->pid,
			    strerror(s->refusals.no_memory));
	else if (!r && !talks)
		r = err_set(e, s->refusal == JVM_REFUSED_BUSY ? EBUSY : ENOTSUP,
			    s->refusal == JVM_REFUSED_BUSY ?
				    "process %d is being recorded already" :
				    s->refusal == JVM_REFUSED_VM ?
				    "process %d is a JVM of which the agent knows too little" :
				    s->refusal == JVM_REFUSED_EARLY ?
				    "process %d is a JVM that has not started yet" :
				    "process %d: the agent was loaded but did not answer",
			    t->pid);
	return r;
}

static int server_attach(struct jvm_server *s, const struct target *t, struct err *e)
{
	const struct foreign_user u = { t->euid, t->egid };
	struct buf file = BUF_INIT, memory = BUF_INIT;
	int root = foreign_root(t->pid, e), r = root < 0 ? root : 0;
	struct err ignored;

	if (!r)
		r = inject_place_for(t->pid, root, &u, false, &file, e);
	if (!r && has_memory(s))
		r = inject_place_for(t->pid, root, &u, true, &memory, e);
	if (!r)
		r = doorway_open_in(&s->inside, root, &u, e);
	if (!r && has_memory(s))
		r = attach_memory(s, t, memory.data, s->inside.path, e);
	if (!r) {
		r = attach_agent(s, t, file.data, e);
		if (r && has_memory(s))
			attach_memory(s, t, memory.data, "", &ignored);
	}
	doorway_close(&s->inside);
	buf_release(&memory);
	buf_release(&file);
	if (root >= 0)
		close(root);
	return r;
}

int jvm_server_attach(struct jvm_server *s, int pid, struct err *e)
{
	struct target t;
	int r = target_check(&t, pid, e);

	if (r)
		return r;
	s->attaching = pid;
	s->refusal = 0;
	r = server_attach(s, &t, e);
	s->attaching = 0;
	return r;
}

/* --- the server --- */

static void choose_sizes(struct jvm_server *s)
{
	long ncpu = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t bytes = 1 << 16;

	s->o.patience_ns = s->o.patience_ns ? s->o.patience_ns : hello_ns;
	if (!s->o.max_depth || s->o.max_depth > JVM_MAX_DEPTH)
		s->o.max_depth = JVM_MAX_DEPTH;
	s->o.max_stack_bytes = MIN(s->o.max_stack_bytes, 1u << 20) & ~7u;
	while (bytes < s->o.ring_bytes && bytes < 1ull << 30)
		bytes *= 2;
	s->o.ring_bytes = bytes;
	s->nr_rings = 1;
	while (s->nr_rings < ncpu && s->nr_rings < JVM_MAX_RINGS)
		s->nr_rings *= 2;
	s->area_bytes = RINGS_OFF + s->nr_rings * ring_stride(s) +
			(s->o.inject ? sizeof(struct waiting_table) + sizeof(struct memory_table) : 0);
}

int jvm_server_open(struct jvm_server **out, const struct jvm_server_opts *o, const struct jvm_callbacks *cb,
		    void *ctx, struct err *e)
{
	struct jvm_server *s = xcalloc(1, sizeof(*s));

	s->o = *o;
	s->cb = *cb;
	s->ctx = ctx;
	s->door = s->inside = (struct doorway)DOORWAY_CLOSED;
	s->wall.slots_fd = s->wall.stamps_fd = s->wall.marks_fd = s->wall.wakes_fd = -1;
	choose_sizes(s);
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll < 0) {
		free(s);
		return err_errno(e, "cannot wait for agents (epoll)");
	}
	*out = s;
	return 0;
}

void jvm_server_close(struct jvm_server *s)
{
	struct jvm *j;

	if (!s)
		return;
	for (j = s->jvms; j; j = j->next)
		j->dead = true;
	bury_dead(s);
	doorway_close(&s->door);
	close(s->epoll);
	buf_release(&s->agent);
	buf_release(&s->copy);
	free(s);
}

int jvm_server_listen(struct jvm_server *s, struct err *e)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int r = s->door.fd >= 0 ? 0 : doorway_open(&s->door, e);

	if (!r && epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->door.fd, &ev) && errno != EEXIST)
		r = err_errno(e, "cannot wait for agents (epoll)");
	return r;
}

int jvm_server_setenv(struct jvm_server *s, struct err *e)
{
	int r = jvm_server_listen(s, e);

	if (r || s->o.programs)
		return r;
	r = s->agent.len ? 0 : inject_place(&s->agent, e);
	return r ? r : inject_setenv(s->agent.data, s->door.path, s->o.inject, e);
}

const char *jvm_server_path(const struct jvm_server *s)
{
	return s->door.path;
}

int jvm_host_tid(struct jvm *j, int tid)
{
	return nstid_host(&j->tids, tid);
}

int jvm_server_fd(const struct jvm_server *s)
{
	return s->epoll;
}

const struct jvm_refusals *jvm_server_refusals(const struct jvm_server *s)
{
	return &s->refusals;
}

size_t jvm_server_nr_jvms(const struct jvm_server *s)
{
	return s->nr_jvms;
}

void jvm_set_user(struct jvm *j, void *user)
{
	j->user = user;
}

void *jvm_user(const struct jvm *j)
{
	return j->user;
}

void jvm_code_cache(const struct jvm *j, uint64_t *lo, uint64_t *hi)
{
	*lo = j->ctl ? load_relaxed(&j->ctl->code_lo) : 0;
	*hi = j->ctl ? load_relaxed(&j->ctl->code_hi) : 0;
}

/* The agent may have changed seq, but would only deceive itself. */
void jvm_tell_root(struct jvm *j, const struct jvm_root *r)
{
	struct jvm_root *to = j && j->ctl ? root_at(j, jvm_root_slot(r->end)) : NULL;
	uint64_t seq;

	if (!to)
		return;
	seq = load_relaxed(&to->seq) | 1;
	store_relaxed(&to->seq, seq);
	fence_release();
	to->end = r->end;
	to->top = r->top;
	to->sp = r->sp;
	to->hash = r->hash;
	to->len = r->len;
	to->id = r->id;
	store_release(&to->seq, seq + 1);
}

void jvm_trap_cost(const struct jvm *j, struct jvm_trap_cost *c)
{
	size_t i;

	*c = (struct jvm_trap_cost){ 0 };
	if (!j->ctl)
		return;
	c->nr = load_relaxed(&j->ctl->nr_traps);
	c->ns = load_relaxed(&j->ctl->trap_ns);
	for (i = 0; i < ARRAY_SIZE(c->log2); i++)
		c->log2[i] = load_relaxed(&j->ctl->trap_log2[i]);
}
