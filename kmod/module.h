/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * module.h - what the files of arcprof.ko share.
 *
 * Locking: arcprof_mutex is held around every request and mapping, so that starting, stopping and
 * mapping never meet; user memory is not touched under it.  What runs in hooks (interrupts off,
 * often under a run queue's lock) says so in its name: no sleeping, no allocation, no printk, no
 * page fault.
 */
#ifndef ARCPROF_MODULE_H
#define ARCPROF_MODULE_H

#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/tracepoint.h>
#include <linux/types.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include "arcprof_uapi.h"
#include "cpu.h"

extern struct mutex arcprof_mutex;

/*
 * Return the task, with a reference, of a thread id as the caller sees it, 0 is the caller; NULL: there is
 * none.
 */
struct task_struct *find_task(s32 tid);

struct itrace;

/* An open descriptor. */
struct arcprof_file {
	u64 ptt_generation;		/* of the session of metrics that ends with it, or 0 */
	struct itrace *itrace;		/* trace of instructions that ends with it */
};

/* ---- area.c: memory that user space maps, zeroed ---- */

#define AREA_MAX	(1ul << 30)

struct cred;

struct area {
	void *mem;			/* NULL: there is none */
	size_t len;			/* whole pages */
	/* The user whose locked memory it is, held; NULL for one who may lock any amount. */
	const struct cred *cred;
	unsigned long charged;		/* pages */
};

/*
 * -EINVAL: more than AREA_MAX; -EPERM: more than the caller's RLIMIT_MEMLOCK, without CAP_IPC_LOCK;
 * -ENOMEM: there is none, or none in its memory cgroup, which is charged.
 */
int area_alloc(struct area *a, size_t len);
void area_free(struct area *a);		/* pages that are mapped live on until they are not */
int area_map(const struct area *a, struct vm_area_struct *vma, unsigned long first_page);

/* ---- probes.c: tracepoints by name, since the kernel exports none of them ---- */

struct probe {
	const char *name;
	void *fn;			/* first argument: the data given below */
	bool optional;			/* some kernels do not have it */
	struct tracepoint *tp;
	bool on;
};

/* The argument of sched_process_exit hooks beside the task. */
#ifdef EXIT_HAS_GROUP
#define EXIT_GROUP	, bool group_dead
#else
#define EXIT_GROUP
#endif

/* Attaches all up to the one without a name, or none: -ENOENT for a missing one. */
int probes_attach(struct probe *probes, void *data);
/* Detaches what is attached; afterwards no hook runs nor will. */
void probes_detach(struct probe *probes, void *data);

/* ---- counters.c: perf events, one per CPU and metric ---- */

struct perf_event;

struct counters {
	u32 nr;				/* metrics, metric 0 (time) included */
	struct perf_event **event;	/* event[metric * nr_cpu_ids + cpu]; NULL for CPUs that are off */
};

int counters_open(struct counters *c, const struct arcprof_metric *metric, u32 nr);
void counters_close(struct counters *c);
/* Read raw values on this CPU; interrupts must be off. */
void counters_read_hook(const struct counters *c, u64 *value);

/* ---- ptt.c ---- */

long ptt_start(struct arcprof_file *f, struct arcprof_ptt_start *arg);
long ptt_register(struct arcprof_ptt_register *arg);
long ptt_unregister(struct arcprof_ptt_register *arg);
long ptt_stop(struct arcprof_file *f);
int ptt_mmap(struct vm_area_struct *vma);
void ptt_release(struct arcprof_file *f);
/* End everything, also what was to outlive its descriptor, as the module goes. */
void ptt_exit(void);

/* ---- itrace.c ---- */

#ifdef ARCPROF_ITRACE

#define ITRACE_FEATURES (ARCPROF_FEATURE_ITRACE | ARCPROF_FEATURE_ITRACE_SYNC)

long itrace_start(struct arcprof_file *f, struct arcprof_itrace_start *arg);
long itrace_stop(struct arcprof_file *f);
long itrace_stat(struct arcprof_file *f, struct arcprof_itrace_stat *arg);
long itrace_join(struct arcprof_file *f, struct arcprof_itrace_join *arg);
long itrace_leave(struct arcprof_file *f);
long itrace_consume(struct arcprof_file *f, struct arcprof_itrace_consume *arg);
__poll_t itrace_poll(struct arcprof_file *f, struct file *file, struct poll_table_struct *wait);
int itrace_mmap(struct arcprof_file *f, struct vm_area_struct *vma);
void itrace_flush(struct arcprof_file *f, fl_owner_t who);
void itrace_release(struct arcprof_file *f);
int itrace_init(void);
void itrace_exit(void);

#else

#define ITRACE_FEATURES 0

static inline long itrace_start(struct arcprof_file *f, struct arcprof_itrace_start *arg)
{
	return -ENOTTY;
}

static inline long itrace_stop(struct arcprof_file *f)
{
	return -ENOTTY;
}

static inline long itrace_stat(struct arcprof_file *f, struct arcprof_itrace_stat *arg)
{
	return -ENOTTY;
}

static inline long itrace_join(struct arcprof_file *f, struct arcprof_itrace_join *arg)
{
	return -ENOTTY;
}

static inline long itrace_leave(struct arcprof_file *f)
{
	return -ENOTTY;
}

static inline long itrace_consume(struct arcprof_file *f, struct arcprof_itrace_consume *arg)
{
	return -ENOTTY;
}

static inline __poll_t itrace_poll(struct arcprof_file *f, struct file *file, struct poll_table_struct *wait)
{
	return DEFAULT_POLLMASK;
}

static inline int itrace_mmap(struct arcprof_file *f, struct vm_area_struct *vma)
{
	return -EINVAL;
}

static inline void itrace_flush(struct arcprof_file *f, fl_owner_t who)
{
}

static inline void itrace_release(struct arcprof_file *f)
{
}

static inline int itrace_init(void)
{
	return 0;
}

static inline void itrace_exit(void)
{
}

#endif

#endif
