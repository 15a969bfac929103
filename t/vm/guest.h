/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest.h - what the guest's test programs share: results as TAP without numbers, and
 * /dev/arcprof.  A program returns done(), which is 1 when something failed.
 */
#ifndef GUEST_H
#define GUEST_H

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "arcprof_uapi.h"

static int nr_failed;

static inline __attribute__((format(printf, 2, 3))) bool ok(bool good, const char *fmt, ...)
{
	va_list ap;

	printf("%sok - ", good ? "" : "not ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
	nr_failed += !good;
	return good;
}

static inline int done(void)
{
	return nr_failed > 0;
}

/* Result of a call that must fail in one way. */
static inline bool fails(long r, int want, const char *what)
{
	int got = r < 0 ? errno : 0;

	return ok(got == want, "%s: %s (got: %s)", what, strerror(want), got ? strerror(got) : "success");
}

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static inline uint64_t ticks(void)
{
#ifdef __x86_64__
	uint32_t lo, hi;

	__asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
	return (uint64_t)hi << 32 | lo;
#else
	uint64_t v;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
	return v;
#endif
}

#define barrier() __asm__ volatile("" : : : "memory")

static inline int device(void)
{
	return open("/dev/arcprof", O_RDWR | O_CLOEXEC);
}

/* ---- a session of per-thread metrics ---- */

struct ptt {
	int fd;
	const struct arcprof_ptt_header *header;
	const struct arcprof_cpu *cpu;
	const struct arcprof_slot *slot;
	size_t len;
};

static inline int ptt_map(struct ptt *p, int fd, size_t len)
{
	const char *area = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, ARCPROF_MMAP_PTT);

	if (area == MAP_FAILED)
		return -errno;
	p->fd = fd;
	p->len = len;
	p->header = (const void *)area;
	p->cpu = (const void *)(area + p->header->cpu_off);
	p->slot = (const void *)(area + p->header->slot_off);
	return 0;
}

static inline int ptt_open(struct ptt *p, uint32_t flags, uint32_t nr_slots, uint32_t nr_metrics,
			   const struct arcprof_metric *metric)
{
	struct arcprof_ptt_start start = {
		.size = sizeof(start),
		.flags = flags,
		.nr_slots = nr_slots,
		.nr_metrics = nr_metrics,
	};
	int fd = device();

	if (metric)
		memcpy(start.metric, metric, nr_metrics * sizeof(*metric));
	if (fd < 0)
		return -errno;
	if (ioctl(fd, ARCPROF_IOC_PTT_START, &start)) {
		int e = errno;

		close(fd);
		return -e;
	}
	return ptt_map(p, fd, start.area_len);
}

static inline void ptt_close(struct ptt *p)
{
	munmap((void *)p->header, p->len);
	close(p->fd);
}

/* Slot of a thread, or -errno. */
static inline int ptt_register(int fd, int tid)
{
	struct arcprof_ptt_register r = { .size = sizeof(r), .tid = tid };

	return ioctl(fd, ARCPROF_IOC_PTT_REGISTER, &r) ? -errno : (int)r.slot;
}

static inline int ptt_unregister(int fd, int tid)
{
	struct arcprof_ptt_register r = { .size = sizeof(r), .tid = tid };

	return ioctl(fd, ARCPROF_IOC_PTT_UNREGISTER, &r) ? -errno : 0;
}

static inline uint64_t ptt_ns(const struct ptt *p, uint64_t t)
{
	return (unsigned __int128)t * p->header->mult >> p->header->shift;
}

/* Ticks of the calling thread, whose slot it is. */
static inline uint64_t ptt_own(const struct arcprof_slot *slot)
{
	const volatile struct arcprof_slot *s = slot;
	uint32_t seq;
	uint64_t v;

	do {
		seq = s->seq;
		barrier();
		v = s->acc[0] + (ticks() - s->last[0]);
		barrier();
	} while (seq != s->seq);
	return v;
}

/* Any slot, as of its last event. */
static inline struct arcprof_slot ptt_read(const struct arcprof_slot *slot)
{
	struct arcprof_slot copy;
	uint32_t seq;

	do {
		seq = __atomic_load_n(&slot->seq, __ATOMIC_ACQUIRE);
		memcpy(&copy, slot, sizeof(copy));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while ((seq & 1) || seq != __atomic_load_n(&slot->seq, __ATOMIC_RELAXED));
	return copy;
}

#endif
