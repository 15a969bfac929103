// SPDX-License-Identifier: MIT
/* area.c - finds, maps and reads the memory of a session (area.h). */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "api/area.h"
#include "api/ticks.h"
#include "base/atomic.h"

enum { MAX_TRIES = 1 << 20, TRIES_A_YIELD = 64 };

static int bpf_call(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

/* ---- mapping ---- */

/*
 * Open a map. The kernel maps for reading only what may be written or is frozen; those maps are frozen
 * (lib/ptt/bpf.c).
 */
static int open_map(const char *name, unsigned int flags)
{
	char path[128];
	union bpf_attr attr;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", ARCPROF_BPF_DIR, name);
	memset(&attr, 0, sizeof(attr));
	attr.pathname = (uintptr_t)path;
	attr.file_flags = flags;
	fd = bpf_call(BPF_OBJ_GET, &attr);
	return fd < 0 ? -errno : fd;
}

static const void *map_pages(int fd, size_t len, off_t off, int *r)
{
	void *p = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, off);

	if (p != MAP_FAILED)
		return p;
	*r = -errno;
	return NULL;
}

static size_t round_to_page(size_t len)
{
	size_t page = sysconf(_SC_PAGESIZE);

	return (len + page - 1) / page * page;
}

static bool is_sane(const struct arcprof_ptt_header *h)
{
	return h->magic == ARCPROF_MAGIC && h->abi == ARCPROF_ABI && h->size == sizeof(*h) && h->nr_metrics &&
	       h->nr_metrics <= ARCPROF_MAX_METRICS && h->nr_cpus && h->nr_cpus <= 65536 && h->nr_slots &&
	       h->nr_slots <= 1 << 20 && h->shift < 64;
}

static int map_bpf(const char *name, size_t len, const void **p)
{
	int fd = open_map(name, 0), r = 0;

	if (fd < 0)
		return fd;
	*p = map_pages(fd, len, 0, &r);
	close(fd);
	return r;
}

static int open_bpf(struct arcprof_area *a)
{
	const struct arcprof_ptt_header *h;
	int r;

	a->header_len = round_to_page(sizeof(*h));
	r = map_bpf("header", a->header_len, (const void **)&a->header);
	if (r)
		return r;
	h = a->header;
	if (!is_sane(h))
		return -EPROTO;
	a->cpus_len = round_to_page(h->nr_cpus * sizeof(*a->cpus));
	r = map_bpf("cpus", a->cpus_len, (const void **)&a->cpus);
	if (r)
		return r;
	a->slots_len = round_to_page(h->nr_slots * sizeof(*a->slots));
	r = map_bpf("slots", a->slots_len, (const void **)&a->slots);
	if (r)
		return r;
	a->fd = open_map("threads", BPF_F_RDONLY);
	return a->fd < 0 ? a->fd : 0;
}

/* Open the module's area, whose header says how much more there is to map. */
static int open_module(struct arcprof_area *a)
{
	size_t page = round_to_page(1), len;
	struct arcprof_ptt_header h;
	const void *p;
	int r = 0;

	a->fd = open(ARCPROF_DEVICE, O_RDONLY | O_CLOEXEC);
	if (a->fd < 0)
		return -errno;
	p = map_pages(a->fd, page, ARCPROF_MMAP_PTT, &r);
	if (!p)
		return r == -ENXIO ? -ENOENT : r;
	memcpy(&h, p, sizeof(h));
	munmap((void *)p, page);
	len = h.slot_off + (size_t)h.nr_slots * sizeof(*a->slots);
	if (!is_sane(&h) || h.cpu_off < sizeof(h) || h.cpu_off > 1 << 30 || h.slot_off > 1 << 30 ||
	    h.slot_off < h.cpu_off + h.nr_cpus * sizeof(*a->cpus))
		return -EPROTO;
	a->header_len = round_to_page(len);
	p = map_pages(a->fd, a->header_len, ARCPROF_MMAP_PTT, &r);
	if (!p)
		return r;
	a->header = p;
	a->cpus = (const void *)((const char *)p + h.cpu_off);
	a->slots = (const void *)((const char *)p + h.slot_off);
	return 0;
}

int arcprof_area_open(struct arcprof_area *a, enum arcprof_source source)
{
	int r;

	memset(a, 0, sizeof(*a));
	a->source = source;
	a->fd = -1;
	r = source == ARCPROF_BPF ? open_bpf(a) : open_module(a);
	if (!r && !arcprof_area_live(a))
		r = -ENOENT;
	if (r)
		arcprof_area_close(a);
	return r == -ENOTDIR ? -ENOENT : r;
}

void arcprof_area_close(struct arcprof_area *a)
{
	if (a->header)
		munmap((void *)a->header, a->header_len);
	if (a->cpus_len && a->cpus)
		munmap((void *)a->cpus, a->cpus_len);
	if (a->slots_len && a->slots)
		munmap((void *)a->slots, a->slots_len);
	if (a->fd >= 0)
		close(a->fd);
	memset(a, 0, sizeof(*a));
	a->fd = -1;
}

/* ---- finding ---- */

bool arcprof_area_same_numbers(void)
{
	char link[64];
	ssize_t n = readlink("/proc/self/ns/pid", link, sizeof(link) - 1);

	if (n < 0)
		return false;
	link[n] = '\0';
	/* the first namespace has the same number on every kernel since Linux 3.8 (PROC_PID_INIT_INO) */
	return !strcmp(link, "pid:[4026531836]");
}

static uint32_t api_area_look_up(const struct arcprof_area *a, uint32_t tid)
{
	union bpf_attr attr;
	uint32_t idx = 0;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = a->fd;
	attr.key = (uintptr_t)&tid;
	attr.value = (uintptr_t)&idx;
	return arcprof_area_same_numbers() && !bpf_call(BPF_MAP_LOOKUP_ELEM, &attr) ? idx : 0;
}

uint32_t arcprof_area_own_slot(const struct arcprof_area *a, pid_t tid)
{
	struct arcprof_ptt_register reg = { .size = sizeof(reg) };
	uint32_t idx;

	if (a->source == ARCPROF_BPF)
		idx = api_area_look_up(a, tid);
	else
		idx = ioctl(a->fd, ARCPROF_IOC_PTT_REGISTER, &reg) ? 0 : reg.slot;
	return idx < a->header->nr_slots ? idx : 0;
}

uint32_t arcprof_area_nr_used(const struct arcprof_area *a)
{
	uint32_t nr = load_acquire(&a->header->next_slot);

	return nr < a->header->nr_slots ? nr : a->header->nr_slots;
}

/* ---- reading ---- */

uint64_t arcprof_area_now(const struct arcprof_ptt_header *h)
{
	return arcprof_ticks(h->clock);
}

uint64_t arcprof_area_ns(const struct arcprof_ptt_header *h, uint64_t ticks)
{
	return arcprof_ticks_ns(h, ticks);
}

/*
 * Copies len bytes from where *seq says whether a writer is at them; *now, unless NULL, is the time
 * of that. False: a writer was at them each time.
 */
static bool copy_steady(const struct arcprof_area *a, const uint32_t *seq, void *copy, size_t len,
			const void *from, uint64_t *now)
{
	unsigned int try;
	uint32_t before;

	for (try = 0; try <= MAX_TRIES; try++) {
		before = load_acquire(seq);
		memcpy(copy, from, len);
		if (now)
			*now = arcprof_area_now(a->header);
		fence_acquire();
		if (!(before & 1) && before == load_relaxed(seq))
			return true;
		if (try % TRIES_A_YIELD == TRIES_A_YIELD - 1)
			sched_yield();		/* its CPU may be that of a virtual machine, and not run */
	}
	return false;
}

/* Return the time since last; without a clock, a session that has ended stays as it was. */
static uint64_t api_area_since(uint64_t now, uint64_t last)
{
	return now > last ? now - last : 0;
}

bool arcprof_area_slot(const struct arcprof_area *a, uint32_t idx, struct arcprof_slot *copy)
{
	const struct arcprof_slot *s = &a->slots[idx];
	bool live = arcprof_area_live(a);
	uint64_t now;

	if (!copy_steady(a, &s->seq, copy, sizeof(*copy), s, live ? &now : NULL))
		return false;
	if (live && copy->flags & ARCPROF_SLOT_RUNNING)
		copy->acc[0] += api_area_since(now, copy->last[0]);
	copy->comm[sizeof(copy->comm) - 1] = '\0';
	return true;
}

static enum arcprof_bucket bucket_now(const struct arcprof_cpu *c)
{
	if (c->state & ARCPROF_CPU_HARDIRQ)
		return ARCPROF_BUCKET_HARDIRQ;
	if (c->state)
		return ARCPROF_BUCKET_SOFTIRQ;
	if (c->cur)
		return ARCPROF_BUCKET_THREADS;
	return c->flags & ARCPROF_CPU_IDLE ? ARCPROF_BUCKET_IDLE : ARCPROF_BUCKET_OTHER;
}

bool arcprof_area_cpu(const struct arcprof_area *a, uint32_t cpu, struct arcprof_cpu *copy)
{
	const struct arcprof_cpu *c = &a->cpus[cpu];
	bool live = arcprof_area_live(a);
	uint64_t now;

	if (!copy_steady(a, &c->seq, copy, sizeof(*copy), c, live ? &now : NULL))
		return false;
	if (live && copy->flags & ARCPROF_CPU_STARTED) {
		copy->bucket[bucket_now(copy)] += api_area_since(now, copy->last[0]);
		copy->last[0] += api_area_since(now, copy->last[0]);
	}
	return true;
}
