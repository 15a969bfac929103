// SPDX-License-Identifier: MIT
/*
 * ring.c - sample rings and metadata log (ring.h).
 */
#include <errno.h>
#include <linux/futex.h>
#include <linux/poll.h>
#include <linux/time_types.h>
#include <sys/socket.h>

#include "agent/agent.h"
#include "agent/ring.h"
#include "agent/session/journal.h"
#include "jvm/encode.h"
#include "jvm/reserve.h"

enum { POLL_NS = 10000000 };	/* how often the log looks whether its reader is still there */

static struct {
	struct jvm_ctl *ctl;
	size_t area_bytes;
	uint64_t ring_bytes;
	uint32_t nr_rings;
	int sock, log_fd;
	uint64_t polled_ns;	/* when the socket was looked at last */
	uint64_t log_head;
	bool closed;
	bool alone;		/* no recorder, and none of these: a journal */
	struct sys_lock lock;
	char *buf;
} out = { .sock = -1, .log_fd = -1, .closed = true };

static uint32_t vm_ends;	/* bool; a futex of those who wait where there is no recorder */

bool ring_init(void *area, size_t area_bytes, int sock, int log_fd)
{
	struct jvm_ctl *ctl = area;

	if (!out.buf)
		out.buf = sys_pages(LOG_RECORD_MAX);
	if (!jvm_area_fits(ctl, area_bytes) || !out.buf)
		return false;
	out.ctl = ctl;
	out.area_bytes = area_bytes;
	out.ring_bytes = ctl->ring_bytes;
	out.nr_rings = ctl->nr_rings;
	out.sock = sock;
	out.log_fd = log_fd;
	out.log_head = out.polled_ns = 0;
	out.alone = false;
	store_release(&out.closed, false);
	return true;
}

bool ring_init_alone(void *area, size_t area_bytes)
{
	bool ok = ring_init(area, area_bytes, -1, -1);

	out.alone = ok;
	return ok;
}

/* Whoever writes to the log holds the lock, and looks at closed first. */
void ring_release(void)
{
	sys_lock(&out.lock);
	store_relaxed(&out.closed, true);
	if (out.ctl)
		sys(__NR_munmap, out.ctl, out.area_bytes);
	if (out.sock >= 0)
		sys(__NR_close, out.sock);
	if (out.log_fd >= 0)
		sys(__NR_close, out.log_fd);
	out.ctl = NULL;
	out.sock = out.log_fd = -1;
	sys_unlock(&out.lock);
}

static bool poll_closed(void)
{
	struct pollfd p = { .fd = out.sock, .events = 0 };
	struct timespec64 {
		int64_t s, ns;
	} zero = { 0, 0 };

	if (load_relaxed(&out.closed) || out.alone)
		return load_relaxed(&out.closed);
	if (sys(__NR_ppoll, &p, 1, &zero, 0, 8) > 0 && (p.revents & (POLLHUP | POLLERR | POLLNVAL))) {
		store_relaxed(&out.closed, true);
		link_unclaim();		/* another copy of the agent may serve the next one */
	}
	return load_relaxed(&out.closed);
}

/* A few more records for a reader that has gone do no harm: their room is bounded. */
bool log_closed(void)
{
	uint64_t now;

	if (out.alone)
		return load_relaxed(&out.closed);
	now = sys_now();
	if (now - load_relaxed(&out.polled_ns) < POLL_NS)
		return load_relaxed(&out.closed);
	store_relaxed(&out.polled_ns, now);
	return poll_closed();
}

void log_close(void)
{
	store_release(&out.closed, true);
}

/* Wake whoever waits for the recorder, which has nothing more to say but still listens. */
void ring_death(void)
{
	store_release(&vm_ends, 1);
	sys(__NR_futex, &vm_ends, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT32_MAX);
	sys_lock(&out.lock);
	if (out.sock >= 0)
		sys(__NR_shutdown, out.sock, SHUT_RD);
	sys_unlock(&out.lock);
}

bool ring_vm_ends(void)
{
	return load_acquire(&vm_ends);
}

/* Wait for events; timeout NULL: for as long as it takes. */
static bool wait_for(short events, const struct __kernel_timespec *timeout)
{
	struct pollfd p = { .fd = out.sock, .events = events | POLLRDHUP };

	if (poll_closed() || ring_vm_ends())
		return false;
	if (out.alone)
		sys(__NR_futex, &vm_ends, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, timeout);
	else
		sys(__NR_ppoll, &p, 1, timeout, 0, 8);
	return !poll_closed() && !ring_vm_ends();
}

void ring_wait_closed(void)
{
	while (wait_for(0, NULL))
		;
}

void ring_nap(uint64_t ns)
{
	const struct __kernel_timespec timeout = { ns / 1000000000, ns % 1000000000 };

	wait_for(0, &timeout);
}

bool ring_wait(int ms)
{
	const struct __kernel_timespec timeout = { ms / 1000, ms % 1000 * 1000000l };

	return wait_for(POLLIN, &timeout);
}

struct jvm_ctl *ring_ctl(void)
{
	return out.ctl;
}

static struct jvm_root *roots(void)
{
	return (void *)((char *)out.ctl + JVM_PAGE);
}

struct jvm_ring *ring_of(int tid)
{
	return jvm_ring_of(out.ctl, out.nr_rings, out.ring_bytes, (uint32_t)tid);
}

bool ring_root(uint64_t end, struct jvm_root *r)
{
	const struct jvm_root *known = &roots()[jvm_root_slot(end)];
	uint64_t seq = load_acquire(&known->seq);

	if (seq & 1 || load_relaxed(&known->end) != end)
		return false;
	memcpy(r, known, sizeof(*r));
	fence_acquire();
	return load_relaxed(&known->seq) == seq && r->end == end;
}

void ring_count_lost(struct jvm_ring *r)
{
	add_relaxed(&r->lost, 1);
}

bool ring_is_half_full(struct jvm_ring *r)
{
	uint64_t tail = load_acquire(&r->tail);

	return load_relaxed(&r->head) - tail >= out.ring_bytes / 2;
}

void *ring_reserve(struct jvm_ring *r, size_t size)
{
	return jvm_ring_reserve(r, out.ring_bytes, size);
}

void ring_commit(void *rec, size_t size, enum jvm_rec_type type)
{
	jvm_ring_commit(rec, out.ring_bytes, size, type);
}

/* Locks the log; the buffer for one record of at most LOG_RECORD_MAX bytes. */
static void *log_begin(void)
{
	sys_lock(&out.lock);
	return out.buf;
}

static bool ring_write_all(const char *p, size_t len, uint64_t off)
{
	while (len) {
		long n = sys(__NR_pwrite64, out.log_fd, p, len, off);

		if (n == -EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		off += n;
		len -= n;
	}
	return true;
}

/* Write the record in the buffer to the log. */
static bool log_write(size_t size)
{
	struct jvm_ctl *ctl = out.ctl;

	if (out.alone)
		return journal_record(out.buf, size);
	if (out.log_head + size - load_acquire(&ctl->log_read) > ctl->log_limit ||
	    !ring_write_all(out.buf, size, out.log_head))
		return false;
	out.log_head += size;
	store_release(&ctl->log_head, out.log_head);
	return true;
}

/* Sets its header, writes it and unlocks; size 0: nothing. */
static void log_end(size_t size, enum jvm_rec_type type)
{
	if (size && !log_closed()) {
		*(struct jvm_rec *)out.buf = (struct jvm_rec){ size, type };
		if (size > LOG_RECORD_MAX || !log_write(size))
			add_relaxed(&out.ctl->log_lost, 1);
	}
	sys_unlock(&out.lock);
}

void *send_begin(struct jvm_ring *ring, size_t size)
{
	return ring ? ring_reserve(ring, size) : log_begin();
}

void send_end(struct jvm_ring *ring, void *rec, size_t size, enum jvm_rec_type type)
{
	if (ring)
		ring_commit(rec, size, type);
	else
		log_end(size, type);
}

#define RECORD(s, ...) \
	bool send_##s(struct jvm_ring *ring, const struct jvm_##s *r) \
	{ \
		size_t size = jvm_size_##s(r); \
		void *rec = send_begin(ring, size); \
\
		if (!rec) \
			return false; \
		jvm_encode_##s(rec, size, r); \
		send_end(ring, rec, size, JVM_REC_##s); \
		return true; \
	}
#include "jvm/table.h"

void ring_set_code_bounds(uintptr_t lo, uintptr_t hi)
{
	sys_lock(&out.lock);
	if (out.ctl) {
		store_relaxed(&out.ctl->code_lo, lo);
		store_relaxed(&out.ctl->code_hi, hi);
	}
	sys_unlock(&out.lock);
}
