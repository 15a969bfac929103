/* SPDX-License-Identifier: MIT */
/*
 * area.h - finds the memory with a session's values, maps it for reading, and reads it by the
 * sequence protocol of arcprof_uapi.h. For libarcprof.a and lib/ptt.
 */
#ifndef API_AREA_H
#define API_AREA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "arcprof_uapi.h"
#include "base/atomic.h"

/* where BPF's maps and links are pinned ("header", "cpus", "slots", "threads", "pids", "on_*") */
#define ARCPROF_BPF_DIR "/sys/fs/bpf/arcprof"

enum arcprof_source { ARCPROF_BPF, ARCPROF_MODULE };

struct arcprof_area {
	enum arcprof_source source;
	const struct arcprof_ptt_header *header;
	const struct arcprof_cpu *cpus;
	const struct arcprof_slot *slots;
	size_t header_len, cpus_len, slots_len;	/* of the mappings; the module's is header's alone */
	int fd;					/* the map of threads, or the device */
};

/*
 * Map the area of the running session. Return 0; -ENOENT: there is none; -EACCES, -EPERM: this
 * user may not read it; -EPROTO: it has another version; or another -errno.
 */
int arcprof_area_open(struct arcprof_area *a, enum arcprof_source source);
void arcprof_area_close(struct arcprof_area *a);

/* Return true while the kernel side writes; after that the values stay as they are. */
static inline bool arcprof_area_live(const struct arcprof_area *a)
{
	return load_relaxed(&a->header->generation) != 0;
}

/*
 * Return false in a PID namespace, where the numbers in BPF's slots mean other threads.
 */
bool arcprof_area_same_numbers(void);
/* Return the slot of the calling thread, which tid names; 0: it has none. */
uint32_t arcprof_area_own_slot(const struct arcprof_area *a, pid_t tid);
/* Return how many slots were ever used, slot 0 included. */
uint32_t arcprof_area_nr_used(const struct arcprof_area *a);

/* Return the time of the session's clock, and ticks of it in ns. */
uint64_t arcprof_area_now(const struct arcprof_ptt_header *h);
uint64_t arcprof_area_ns(const struct arcprof_ptt_header *h, uint64_t ticks);

/*
 * Make a consistent copy; acc[0] of the slot includes the time since its last dispatch, as does the right
 * bucket of the CPU, whose last[0] then is the time of the reading. Returns false if the writer did not
 * finish for a long time.
 */
bool arcprof_area_slot(const struct arcprof_area *a, uint32_t idx, struct arcprof_slot *copy);
bool arcprof_area_cpu(const struct arcprof_area *a, uint32_t cpu, struct arcprof_cpu *copy);

#endif
