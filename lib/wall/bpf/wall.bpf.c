// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wall.bpf.c - accounts for every moment of the threads that have a slot (jvm/wall.h).
 *
 * Who writes a slot when:
 *  [1] leave() and enter() run with the lock of a run queue, one after the other for a thread;
 *  [2] woken() runs on any CPU, and writes woken_ns, waker and state only, and only when leave() was through:
 *      the state is the last that leave() writes.  A waker that was earlier than that leaves a note, and
 *      enter() puts it right: the thread cannot run before its waker is through;
 *  [3] an exit is not an end: a thread still blocks after sched_process_exit.  Its last switch is the
 *      one with TASK_DEAD, or, when its number was given away before that, the birth of the next with
 *      that number;
 *  [4] there are kernels that hide switches from and to some threads.  What a thread ran when its coming
 *      or its going was not seen is what the kernel charged it; the rest is waiting for a CPU.
 */
#define bpf_task_work bpf_task_work_of_headers	/* which have it since Linux 6.18 */
#include <linux/bpf.h>
#undef bpf_task_work
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "cpu.h"
#include "file.h"
#include "jvm/wall.h"
#include "pmu/bpf/task.h"
#include "pmu/bpf/trap.h"
#include "regs.h"
#include "wall/bpf/config.h"

enum {
	TASK_STOPPED_OR_TRACED = 0x4 | 0x8,
	STATE_DEAD = 0x80,
	STATE_WAKING = 0x200,
	STATE_FROZEN = 0x8000,
	KTHREAD = 0x00200000,		/* PF_KTHREAD */
	MAX_PID_LEVELS = 32,		/* PID namespaces inside each other, with the first */
	LOW_NUMBERS = 1 << 16,
	MAX_STACK = 40,
	USUAL_STACK = 16384,		/* of a thread in the kernel */
	UNUSED_NS = 1000000000,		/* whoever was elsewhere for so long need not be at a site again */
	FILE_TYPE = 0170000, SOCKET = 0140000,		/* of inode.i_mode */
	FAMILY_UNIX = 1, FAMILY_IPV4 = 2, FAMILY_IPV6 = 10,
};

struct ns_common {
	unsigned int inum;
} __attribute__((preserve_access_index));

struct pid_namespace {
	struct ns_common ns;
} __attribute__((preserve_access_index));

struct upid {
	int nr;
	struct pid_namespace *ns;
} __attribute__((preserve_access_index));

struct pid {
	unsigned int level;
	struct upid numbers[1];
} __attribute__((preserve_access_index));

struct sched_entity {
	__u64 sum_exec_runtime;			/* ns that the kernel charged the thread */
	unsigned char sched_delayed;
} __attribute__((preserve_access_index));

struct task_struct {
	int pid, tgid;
	unsigned int flags, on_cpu, on_rq;	/* the latter two are bytes in later kernels */
	void *stack;
	struct pid *thread_pid;
	struct task_struct *group_leader;
	unsigned long nvcsw, nivcsw;
	struct sched_entity se;
	struct files_struct *files;
} __attribute__((preserve_access_index));

struct linux_binprm;

struct bpf_iter_meta {
	struct seq_file *seq;
} __attribute__((preserve_access_index));

struct bpf_iter__task {
	union {
		struct bpf_iter_meta *meta;
	};
	union {
		struct task_struct *task;
	};
} __attribute__((preserve_access_index));

const volatile struct wall_bpf_config config;

MAP_SHARED(wall_slots, 1, struct wall_slot);
MAP_SHARED(wall_stamps, 1, __u64);
MAP_SHARED(wall_marks, 1, __u64);		/* not frozen: whoever looks says which block it walks */
MAP_SHARED(wall_control, 1, struct wall_bpf_control);

/*
 * The slot of the latest thread with the same low bits of its tid, or 0 for none. Most lookups end here.
 * Others with the same bits are in the hash, so what is here is never taken away.
 */
MAP_ARRAY(wall_low, LOW_NUMBERS, __u32);
MAP_HASH(wall_threads, 1, __u32);
MAP_QUEUE(wall_free, 1);			/* slots that the recorder has given back */

#ifdef BPF_BASIC
MAP_QUEUE(wall_fresh, 1);			/* slots that nobody has had; the loader fills it */
#endif

/* those whose slots seed() makes: WALL_PROCESS, WALL_THREAD by number */
MAP_HASH(wall_targets, 4096, __u8);
MAP_SHARED(wall_wheres, WALL_NR_WHERES, struct wall_where);
MAP_SHARED(wall_wakes, 1, struct wall_wake);	/* WALL_NR_WAKES when they are asked for */
MAP_SHARED(wall_anchors, 1, __u64);		/* not frozen: agents write it */

static __always_inline struct wall_bpf_control *control(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&wall_control, &zero);
}

static __always_inline struct wall_slot *slot_at(__u32 idx)
{
	return bpf_map_lookup_elem(&wall_slots, &idx);
}

static __always_inline void stamp(__u32 idx, __u64 now)
{
	__u64 *at = bpf_map_lookup_elem(&wall_stamps, &idx);

	if (at)
		*(volatile __u64 *)at = now;
}

/*
 * Return a number that is unique to each living thread, even while exec lets one take the number of another.
 */
static __always_inline __u64 identity(struct task_struct *t)
{
	return (__u64)FIELD(t, stack) ^ config.secret;
}

/* 0: none. */
static __always_inline __u32 find(struct task_struct *t, struct wall_slot **slot)
{
	__u32 tid = FIELD(t, pid), low = tid & (LOW_NUMBERS - 1), *idx;

	if (!tid)
		return 0;
	idx = bpf_map_lookup_elem(&wall_low, &low);
	if (!idx || !*idx)
		return 0;
	*slot = slot_at(*idx);
	if (*slot && (*slot)->kernel_tid == tid && (*slot)->identity == identity(t))
		return *idx;
	idx = bpf_map_lookup_elem(&wall_threads, &tid);
	if (!idx)
		return 0;
	*slot = slot_at(*idx);
	return *slot && (*slot)->identity == identity(t) ? *idx : 0;
}

/* ---- the beginning and the end of a slot ---- */

static __always_inline void clear(struct wall_slot *s)
{
	__u32 i;

	s->cpu_ns = s->preempted_ns = s->nr_blocks = 0;
	s->waker = s->woken_early = 0;
	s->woken_ns = s->nr_done = 0;
#pragma unroll
	for (i = 0; i < WALL_NR_DONE; i++)
		s->done[i].nr = 0;
#pragma unroll
	for (i = 0; i < WALL_NR_CLASSES; i++)
		s->blocked_ns[i] = s->queued_ns[i] = 0;
#pragma unroll
	for (i = 0; i < WALL_NR_SITES; i++) {
		s->sites[i].key = s->sites[i].used_ns = 0;
		s->sites[i].blocked_ns = s->sites[i].queued_ns = 0;
	}
}

#ifdef BPF_BASIC
static __always_inline __u32 take_fresh(struct wall_bpf_control *c)
{
	__u32 idx;

	if (bpf_map_pop_elem(&wall_fresh, &idx))
		return 0;
	__sync_fetch_and_add(&c->next_slot, 1);
	return idx;
}

/* Try to lock; whoever is second leaves it alone: an addition whose result is unused is atomic, too. */
static __always_inline bool try_lock(__u32 *busy)
{
	__sync_fetch_and_add(busy, 1);
	if (*(volatile __u32 *)busy == 1)
		return true;
	__sync_fetch_and_add(busy, -1);
	return false;
}

static __always_inline void unlock(__u32 *busy)
{
	__sync_fetch_and_add(busy, -1);
}
#else
static __always_inline __u32 take_fresh(struct wall_bpf_control *c)
{
	__u32 idx;

	if (c->next_slot >= config.nr_slots)
		return 0;
	idx = __sync_fetch_and_add(&c->next_slot, 1);
	return idx < config.nr_slots ? idx : 0;
}

static __always_inline bool try_lock(__u32 *busy)
{
	return !__sync_val_compare_and_swap(busy, 0, 1);
}

static __always_inline void unlock(__u32 *busy)
{
	*(volatile __u32 *)busy = 0;
}
#endif

static __always_inline __u32 take(void)
{
	struct wall_bpf_control *c = control();
	__u32 idx;

	if (!c)
		return 0;
	if (!bpf_map_pop_elem(&wall_free, &idx))
		return idx;
	idx = take_fresh(c);
	if (!idx)
		__sync_fetch_and_add(&c->nr_refused, 1);
	return idx;
}

/* Return its number in the namespace at that level; the first level is 0. */
static __always_inline struct upid *number_at(struct pid *p, __u32 level)
{
	return (void *)p->numbers + (level & (MAX_PID_LEVELS - 1)) * bpf_core_type_size(struct upid);
}

/* Return the thread's own number. */
static __always_inline __u32 own_number(struct task_struct *t)
{
	struct pid *p = FIELD(t, thread_pid);
	__u32 level = p ? FIELD(p, level) : 0;

	return p ? BPF_CORE_READ(number_at(p, level), nr) : 0;
}

/* Return the recorder's number of it; 0: none, as the thread is in another PID namespace. */
static __noinline __u32 number_in(struct pid *p, __u32 level)
{
	__u32 i;

	for (i = 0; i < MAX_PID_LEVELS; i++) {
		if (i > level)
			return 0;
		if (BPF_CORE_READ(number_at(p, i), ns, ns.inum) == config.pid_ns)
			return BPF_CORE_READ(number_at(p, i), nr);
	}
	return 0;
}

static __always_inline __u32 number(struct task_struct *t)
{
	struct pid *p = FIELD(t, thread_pid);

	if (!config.pid_ns)
		return FIELD(t, pid);
	return p ? number_in(p, FIELD(p, level)) : 0;
}

static __always_inline void retire(struct wall_slot *s, __u32 idx, __u64 now)
{
	__u32 tid = s->kernel_tid, *mine = bpf_map_lookup_elem(&wall_threads, &tid);

	s->own_tid = s->own_pid = 0;
	s->since_ns = now;
	*(volatile __u32 *)&s->state = WALL_GONE;
	if (mine && *mine == idx)
		bpf_map_delete_elem(&wall_threads, &tid);
	stamp(idx, now);
}

/* Prepare a free slot for a new thread, with all but its state. */
static __always_inline struct wall_slot *prepare(struct task_struct *t, __u32 *idx, __u64 now)
{
	__u32 tid = number(t);
	struct wall_slot *s;

	*idx = tid ? take() : 0;
	if (!*idx)
		return NULL;
	s = slot_at(*idx);
	if (!s)
		return NULL;
	SEQ_STEP(s->seq);
	clear(s);
	s->kernel_tid = t->pid;
	s->tid = tid;
	s->pid = number(t->group_leader);
	s->own_tid = own_number(t);
	s->own_pid = own_number(t->group_leader);
	s->identity = identity(t);
	s->exec_ns = t->se.sum_exec_runtime;
	s->block_nr = (s->block_nr + 3) & ~1u;
	s->born_ns = s->since_ns = s->woken_ns = now;
	s->state = WALL_NEW;
	SEQ_STEP(s->seq);
	return s;
}

/* Let events find it from here on. */
static __always_inline void publish(struct wall_slot *s, __u32 idx, __u64 now)
{
	__u32 tid = s->kernel_tid, low = tid & (LOW_NUMBERS - 1), *old;
	struct wall_slot *before;

	old = bpf_map_lookup_elem(&wall_threads, &tid);
	before = old ? slot_at(*old) : NULL;
	if (before && before->state != WALL_GONE && before->kernel_tid == tid)
		retire(before, *old, now);
	bpf_map_update_elem(&wall_threads, &tid, &idx, BPF_ANY);
	bpf_map_update_elem(&wall_low, &low, &idx, BPF_ANY);
	stamp(idx, now);
}

/* ---- switches ---- */

static __always_inline __u32 class_of(struct task_struct *t, __u32 state, __s32 nr)
{
	if (state & (TASK_STOPPED_OR_TRACED | STATE_FROZEN))
		return WALL_CLASS_STOPPED;
	if (FIELD(t, flags) & KTHREAD)
		return WALL_CLASS_KERNEL;
	if (nr < 0)
		return WALL_CLASS_FAULT;
	return nr < WALL_NR_SYSCALLS ? config.class_of[nr & (WALL_NR_SYSCALLS - 1)] : WALL_CLASS_OTHER;
}

/*
 * Return what a site is worth. A thread that waits at more places than there are sites keeps those where it
 * waits longest. Others share the rest: by the time of their last use they would push each other out, and the
 * long ones with them, at every turn.
 */
static __always_inline __u64 worth(const struct wall_site *site, __u64 now)
{
	return now - site->used_ns > UNUSED_NS ? 0 : site->blocked_ns + 1;
}

/* Replace the site that is worth least. */
static __always_inline __u32 new_site(struct wall_slot *s, __u64 key, __u64 now)
{
	__u64 least = worth(&s->sites[0], now), is;
	__u32 i, victim = 0, class;
	struct wall_site *site;

	for (i = 1; i < WALL_NR_SITES; i++) {
		is = worth(&s->sites[i], now);
		if (is < least) {
			least = is;
			victim = i;
		}
	}
	victim &= WALL_NR_SITES - 1;
	site = &s->sites[victim];
	class = site->class;
	if (class < WALL_NR_CLASSES) {
		s->blocked_ns[class] += site->blocked_ns;
		s->queued_ns[class] += site->queued_ns;
	}
	site->key = key;
	site->class = s->class;
	site->nr++;
	site->blocked_ns = site->queued_ns = 0;
	return victim;
}

static __always_inline __u32 site_of(struct wall_slot *s, __u64 now)
{
	__u64 key = s->regs.sp << 4 | (s->class & 15);
	__u32 i = (s->site - 1) & (WALL_NR_SITES - 1);	/* mostly it is where it was before */

	if (s->sites[i].key != key)
		for (i = 0; i < WALL_NR_SITES; i++)
			if (s->sites[i].key == key)
				break;
	if (i == WALL_NR_SITES)
		i = new_site(s, key, now);
	i &= WALL_NR_SITES - 1;
	s->sites[i].used_ns = now;
	return wall_site_id(i, s->sites[i].nr);
}

static __always_inline __u8 files_of(const struct wall_slot *s)
{
	return s->syscall >= 0 && s->syscall < WALL_NR_SYSCALLS ?
	       config.files[s->syscall & (WALL_NR_SYSCALLS - 1)] : WALL_NO_FILE;
}

/*
 * Replace a list of one file by that file. The thread's memory is readable only while it is on its way out.
 */
static __always_inline void read_list(struct wall_slot *s, struct task_struct *t)
{
	__u32 file;

	if (files_of(s) != WALL_LIST || s->args[1] != 1)
		return;
	if (bpf_get_current_task() == (__u64)t &&
	    !bpf_probe_read_user(&file, sizeof(file), (void *)s->args[0]))
		s->args[0] = file;
	else
		s->args[1] = 0;
}

#ifdef BPF_BASIC
union thread_union {
	unsigned long stack[1];
};

/* Return the registers, which are at the end of the thread's stack. */
static __always_inline struct pt_regs *regs_of(struct task_struct *t)
{
	__u64 size = bpf_core_type_size(union thread_union);

	return (void *)((__u64)FIELD(t, stack) + (size ? size : USUAL_STACK) -
			bpf_core_type_size(struct pt_regs));
}
#else
static __always_inline struct pt_regs *regs_of(struct task_struct *t)
{
	return (void *)bpf_task_pt_regs(t);
}
#endif

static __always_inline void note_block(struct wall_slot *s, struct task_struct *t, __u32 state,
				       __u64 now)
{
	struct pt_regs *r = regs_of(t);

	s->syscall = -1;
	if (r && !(t->flags & KTHREAD)) {
		read_regs(&s->regs, r);
		read_call(s, r);
		read_list(s, t);
	}
	s->class = class_of(t, state, s->syscall);
	s->site = r && !(t->flags & KTHREAD) ? site_of(s, now) : 0;
	s->waker = 0;
}

/* ---- where it blocked ---- */

static __always_inline void note_unix(struct wall_where *w, struct unix_sock *u)
{
	struct unix_address *addr = NULL;
	struct sock *peer;
	__u32 len;

	if (!bpf_core_type_exists(struct unix_sock))
		return;
	peer = BPF_CORE_READ(u, peer);
	if (peer)
		addr = BPF_CORE_READ((struct unix_sock *)peer, addr);
	if (!addr)
		addr = BPF_CORE_READ(u, addr);
	if (!addr)
		return;
	len = BPF_CORE_READ(addr, len) - sizeof(short);
	if (len <= sizeof(((struct sockaddr_un *)NULL)->sun_path))
		bpf_probe_read_kernel(w->path, len < sizeof(w->path) ? len : sizeof(w->path),
				      addr->name[0].sun_path);
}

static __always_inline void note_socket(struct wall_where *w, struct sock *sk)
{
	w->family = BPF_CORE_READ(sk, __sk_common.skc_family);
	if (w->family == FAMILY_UNIX)
		return note_unix(w, (struct unix_sock *)sk);
	if (w->family != FAMILY_IPV4 && w->family != FAMILY_IPV6)
		return;
	w->local_port = BPF_CORE_READ(sk, __sk_common.skc_num);
	w->peer_port = bpf_ntohs(BPF_CORE_READ(sk, __sk_common.skc_dport));
	if (w->family == FAMILY_IPV4) {
		BPF_CORE_READ_INTO((__u32 *)w->local, sk, __sk_common.skc_rcv_saddr);
		BPF_CORE_READ_INTO((__u32 *)w->peer, sk, __sk_common.skc_daddr);
	} else if (bpf_core_field_exists(sk->__sk_common.skc_v6_daddr)) {
		BPF_CORE_READ_INTO(&w->local, sk, __sk_common.skc_v6_rcv_saddr);
		BPF_CORE_READ_INTO(&w->peer, sk, __sk_common.skc_v6_daddr);
	}
}

/* Note the file; its inode shows whether another has taken the descriptor since. */
static __always_inline void note_file(struct wall_where *w, struct task_struct *t, __u64 number)
{
	struct fdtable *table = BPF_CORE_READ(t, files, fdt);
	struct file **files, *f = NULL;
	struct socket *socket;

	if (!table || number >= BPF_CORE_READ(table, max_fds))
		return;
	files = BPF_CORE_READ(table, fd);
	if (bpf_probe_read_kernel(&f, sizeof(f), files + number) || !f)
		return;
	w->inode = BPF_CORE_READ(f, f_inode, i_ino);
	if ((BPF_CORE_READ(f, f_inode, i_mode) & FILE_TYPE) != SOCKET)
		return;
	socket = BPF_CORE_READ(f, private_data);
	note_socket(w, BPF_CORE_READ(socket, sk));
}

/* Note where t is, which does not run, and has not since it blocked. */
static __noinline struct wall_where *note_where(struct wall_slot *s, __u32 idx, struct task_struct *t)
{
	__u32 nr = s->block_nr, at = wall_where_at(idx, nr);
	struct wall_where *w = bpf_map_lookup_elem(&wall_wheres, &at);
	__u8 files;
	long bytes;

	if (!w || !try_lock(&w->busy))
		return NULL;
	*(volatile __u32 *)&w->block_nr = 0;
	barrier();
	w->slot = idx;
	w->family = w->local_port = w->peer_port = 0;
	w->inode = 0;
	__builtin_memset(w->path, 0, sizeof(w->path));
	bytes = bpf_get_task_stack(t, w->addrs, sizeof(w->addrs), 0);
	w->nr_addrs = bytes > 0 ? bytes / sizeof(*w->addrs) : 0;
	files = files_of(s);
	if (files == WALL_FILE || (files == WALL_LIST && s->args[1] == 1))
		note_file(w, t, s->args[0]);
	barrier();
	*(volatile __u32 *)&w->block_nr = nr;
	barrier();
	unlock(&w->busy);
	return w;
}

/* End a block; t: the thread, which has not run since it blocked; NULL: it may have. */
static __always_inline void end_block(struct wall_slot *s, __u32 idx, struct task_struct *t, __u64 now)
{
	__u64 len = s->woken_ns - s->since_ns, *mark = bpf_map_lookup_elem(&wall_marks, &idx);
	__u32 class = s->class;
	struct wall_done *done;
	struct wall_site *site;

	if (s->site) {
		site = &s->sites[(s->site - 1) & (WALL_NR_SITES - 1)];
		site->blocked_ns += len;
		site->queued_ns += now - s->woken_ns;
		site->used_ns = now;
	} else if (class < WALL_NR_CLASSES) {
		s->blocked_ns[class] += len;
		s->queued_ns[class] += now - s->woken_ns;
	}
	s->nr_blocks++;
	if (!mark || *mark != s->block_nr)
		return;
	done = &s->done[s->nr_done++ & (WALL_NR_DONE - 1)];
	done->nr = s->block_nr;
	done->ns = len;
	done->waker = s->waker;
	if (t)
		note_where(s, idx, t);
	stamp(idx, now);
}

/* End the previous state: the thread is on a CPU since then. */
static __always_inline void go_on_cpu(struct wall_slot *s, __u32 idx, struct task_struct *t, __u64 now)
{
	if (s->state == WALL_BLOCKED)	/* it was woken while it went to sleep, or nobody saw who woke it */
		s->woken_ns = s->woken_early ? s->since_ns : now;
	s->woken_early = 0;
	if (s->block_nr & 1) {
		end_block(s, idx, t, now);
		SEQ_STEP(s->block_nr);
	} else {
		s->preempted_ns += now - s->since_ns;
	}
	s->since_ns = now;
}

/* [4] What it ran since it lost a CPU last, which no switch showed; not more than there was time. */
static __always_inline __u64 ran_unseen(const struct wall_slot *s, struct task_struct *t, __u64 since,
					__u64 now)
{
	__u64 ran = t->se.sum_exec_runtime - s->exec_ns, time = now - since;

	return ran < time ? ran : time;
}

/* Return since when it could have run. */
static __always_inline __u64 ready_since(const struct wall_slot *s)
{
	return s->state == WALL_RUNNABLE ? s->woken_ns : s->since_ns;
}

static __always_inline void leave(struct wall_slot *s, __u32 idx, struct task_struct *t, bool preempt,
				  __u32 state, __u64 now)
{
	SEQ_STEP(s->seq);
	if (s->state != WALL_ON_CPU)
		go_on_cpu(s, idx, NULL, now - ran_unseen(s, t, ready_since(s), now));
	s->cpu_ns += now - s->since_ns;
	s->since_ns = now;
	s->exec_ns = t->se.sum_exec_runtime;
	if (state & STATE_DEAD) {
		retire(s, idx, now);
		SEQ_STEP(s->seq);
	} else if (preempt || !state) {
		*(volatile __u32 *)&s->state = WALL_PREEMPTED;
		SEQ_STEP(s->seq);
	} else {
		note_block(s, t, state, now);
		SEQ_STEP(s->block_nr);
		*(volatile __u32 *)&s->state = WALL_BLOCKED;
		SEQ_STEP(s->seq);
		stamp(idx, now);
	}
}

static __always_inline void enter(struct wall_slot *s, __u32 idx, struct task_struct *t, __u64 now)
{
	__u64 ran;

	SEQ_STEP(s->seq);
	if (s->state == WALL_ON_CPU) {		/* [4] */
		ran = ran_unseen(s, t, s->since_ns, now);
		s->cpu_ns += ran;
		s->since_ns += ran;
		s->exec_ns = t->se.sum_exec_runtime;
	}
	go_on_cpu(s, idx, s->exec_ns == t->se.sum_exec_runtime ? t : NULL, now);
	*(volatile __u32 *)&s->state = WALL_ON_CPU;
	SEQ_STEP(s->seq);
}

static __always_inline void switched(bool preempt, struct task_struct *prev, struct task_struct *next,
				     __u32 prev_state)
{
	struct wall_slot *s = NULL;
	__u64 now = 0;
	__u32 idx = find(prev, &s);

	if (idx && s) {
		now = bpf_ktime_get_ns();
		leave(s, idx, prev, preempt, prev_state, now);
	}
	idx = find(next, &s);
	if (idx && s)
		enter(s, idx, next, now ? now : bpf_ktime_get_ns());
}

#ifdef BPF_BASIC
/*
 * Before Linux 5.18 the tracepoint does not have the state. A thread that is being woken by now was blocked,
 * too.
 */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	switched(preempt, prev, next, task_state(prev));
	return 0;
}
#else
SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	switched(preempt, prev, next, prev_state);
	return 0;
}
#endif

/* ---- samples of a CPU's clock ---- */

/* Note a tick of a thread that has the CPU, so that no switch of it runs beside us. */
static __always_inline void note_tick(struct wall_slot *s, __u64 now)
{
	struct wall_tick *tick = &s->ticks[s->nr_ticks & (WALL_NR_TICKS - 1)];

	if (s->state != WALL_ON_CPU)		/* [4] */
		return;
	SEQ_STEP(s->seq);
	tick->time_ns = now;
	tick->cpu_ns = s->cpu_ns + (now - s->since_ns);
	s->nr_ticks++;
	SEQ_STEP(s->seq);
}

#ifdef WALL_TRAPS
struct {			/* by its first thread: a process whose agent walks its samples */
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u8);
} wall_agents SEC(".maps");

static __always_inline bool has_agent(struct task_struct *t)
{
	return bpf_task_storage_get(&wall_agents, t->group_leader, NULL, 0);
}

static __always_inline void forget_agent(struct task_struct *t)
{
	bpf_task_storage_delete(&wall_agents, t);
}

struct wall_trap {
	__u64 time_ns;
	struct bpf_task_work work;
};

MAP_ARRAY(wall_traps, 1, struct wall_trap);

void bpf_rcu_read_lock(void) __ksym;
void bpf_rcu_read_unlock(void) __ksym;

/*
 * Send the trap as the thread is about to return to user code: its system call is over, so the signal
 * interrupts none.
 */
static int send_trap(struct bpf_map *map, void *key, void *value)
{
	const struct wall_trap *trap = value;
	struct task_struct *t = (void *)bpf_get_current_task_btf();
	bool still;		/* no exec since */

	bpf_rcu_read_lock();
	still = has_agent(t);
	bpf_rcu_read_unlock();
	if (still)
		bpf_send_signal_task(t, TRAP, PIDTYPE_PID, trap->time_ns);
	return 0;
}

/*
 * Trap a thread that an agent walks, when it returns to user code. The signal's value is the time, by
 * which the agent knows it.
 */
static __always_inline void trap(struct bpf_perf_event_data *ctx, struct task_struct *t, struct wall_slot *s,
				 __u32 idx)
{
	struct wall_trap *trap = bpf_map_lookup_elem(&wall_traps, &idx);
	__u64 now = bpf_ktime_get_ns();

	if (!trap || !tell_of_sample(ctx))
		return;
	trap->time_ns = now;
	note_tick(s, now);
	/* where the signal before is still on its way, that is for this sample, too */
	ON_RETURN(t, &trap->work, &wall_traps, send_trap);
}
#else
static __always_inline void trap(struct bpf_perf_event_data *ctx, struct task_struct *t, struct wall_slot *s,
				 __u32 idx)
{
}

static __always_inline bool has_agent(struct task_struct *t)
{
	return false;
}

static __always_inline void forget_agent(struct task_struct *t) { }
#endif

/* Let samples of a CPU's perf event through if their thread has a slot. */
SEC("perf_event")
int is_recorded(struct bpf_perf_event_data *ctx)
{
	struct task_struct *t = CURRENT();
	struct wall_slot *s = NULL;
	__u32 idx = find(t, &s);

	if (!idx || !s)
		return 0;
	if (has_agent(t)) {
		trap(ctx, t, s, idx);
		return 0;
	}
	note_tick(s, bpf_ktime_get_ns());
	return 1;
}

/* ---- wake-ups ---- */

/*
 * Return whether one of a stack's addresses is in one of these functions; 0 is in none. It has no
 * branches, of which the verifier follows every combination: the sign of a difference says what is less.
 */
static __always_inline bool is_in(const volatile struct wall_bpf_code *codes, const __u64 *addrs)
{
	__u64 in = 0;
	__u32 i, k;

	for (i = 0; i < MAX_STACK; i++)
		for (k = 0; k < WALL_NR_CODES; k++) {
			__u64 off = addrs[i] - codes[k].start;

			in |= (off - (codes[k].end - codes[k].start)) & ~off;
		}
	return in >> 63;
}

/*
 * Return the thread on whose behalf the current one wakes another, when an interrupt may be on top of it;
 * own_stack: that is on the thread's stack, as it is when user code was interrupted. Other stacks belong
 * to interrupts only.
 */
static __noinline __u32 interrupt_or_thread(void *ctx, __u32 tid, bool own_stack, bool sends)
{
	__u64 addrs[MAX_STACK] = { 0 };

	if (bpf_get_stack(ctx, addrs, sizeof(addrs), 0) <= 0)
		return own_stack ? WALL_WAKER_UNKNOWN : WALL_WAKER_INTERRUPT;
	if (is_in(config.timers, addrs))
		return WALL_WAKER_TIMER;
	/* what a thread sends to this machine arrives in a softirq on top of it */
	if (sends)
		return tid;
	return !own_stack || is_in(config.interrupts, addrs) ? WALL_WAKER_INTERRUPT : tid;
}

static __always_inline __u32 waker(void *ctx)
{
	struct task_struct *t = CURRENT();
	struct pt_regs *r = regs_of(t);
	__u32 stack = (__u64)FIELD(t, stack);
	/* what called us keeps ctx on the stack in use; at the end of a thread's are the user registers */
	bool own_stack = (__u32)(__u64)ctx - stack < (__u32)(__u64)r - stack;
	__s32 call = FIELD(t, flags) & KTHREAD ? -1 : syscall_of(r);

	if (own_stack && (call >= 0 || FIELD(t, flags) & KTHREAD))
		return number(t);
	return interrupt_or_thread(ctx, number(t), own_stack, class_of(t, 0, call) == WALL_CLASS_WRITE);
}

/* Copy the stack page by page, as it may end at any. Returns how many bytes there were. */
static __always_inline __u32 copy_stack(__u8 *to, __u64 sp)
{
	__u32 have = WALL_PAGE - (sp & (WALL_PAGE - 1)), i;

	if (bpf_probe_read_user(to, have & (2 * WALL_PAGE - 1), (void *)sp))
		return 0;
	for (i = 0; i < WALL_WAKE_PAGES; i++) {
		if (have > WALL_WAKE_PAGES * WALL_PAGE)
			break;
		if (bpf_probe_read_user(to + have, WALL_PAGE, (void *)(sp + have)))
			break;
		have += WALL_PAGE;
	}
	return have;
}

/* Note where the current thread is that ends the block. */
static __noinline int note_wake(struct wall_slot *s, __u32 idx)
{
	struct task_struct *t = CURRENT();
	struct pt_regs *r = regs_of(t);
	__u32 nr, at, mine;
	struct wall_wake *w;
	struct wall_slot *own = NULL;
	__u64 *anchor;

	if (!s || !r || (FIELD(t, flags) & KTHREAD))
		return 0;
	mine = find(t, &own);
	if (!mine || !own)
		return 0;
	nr = s->block_nr;
	at = wall_wake_at(idx, nr);
	w = bpf_map_lookup_elem(&wall_wakes, &at);
	if (!w || !try_lock(&w->busy))
		return 0;
	*(volatile __u32 *)&w->block_nr = 0;
	barrier();
	w->slot = idx;
	w->tid = own->tid;
	w->pid = own->pid;
	w->own_tid = own->own_tid;
	w->own_pid = own->own_pid;
	read_regs(&w->regs, r);
	anchor = bpf_map_lookup_elem(&wall_anchors, &mine);
	w->anchor_at = anchor ? *(volatile __u64 *)anchor : 0;
	if (w->anchor_at && bpf_probe_read_user(w->anchor, sizeof(w->anchor), (void *)w->anchor_at))
		w->anchor_at = 0;
	w->nr_bytes = copy_stack(w->stack, w->regs.sp);
	barrier();
	*(volatile __u32 *)&w->block_nr = nr;
	barrier();
	unlock(&w->busy);
	return 0;
}

/* Note the waker, which matters for blocks that are marked. */
static __always_inline void woken(void *ctx, struct task_struct *t)
{
	struct wall_slot *s = NULL;
	__u32 idx = find(t, &s);
	__u64 *mark;

	if (!idx || !s)
		return;
	if (s->state != WALL_BLOCKED) {
		s->woken_early = 1;	/* if it goes to sleep now; it may not */
		return;
	}
	mark = bpf_map_lookup_elem(&wall_marks, &idx);
	s->waker = mark && *mark == s->block_nr ? waker(ctx) : WALL_WAKER_UNKNOWN;
	s->woken_ns = bpf_ktime_get_ns();
	barrier();
	*(volatile __u32 *)&s->state = WALL_RUNNABLE;
	/* it does not run before we are through */
	if (config.wakes && s->waker && s->waker < WALL_WAKER_FIRST)
		note_wake(s, idx);
}

/* Runs in the waker's context, as soon as possible. */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *t)
{
	woken(ctx, t);
	return 0;
}

/* ---- new threads ---- */

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	struct wall_slot *s = NULL;
	__u64 now;
	__u32 idx;

	if (!config.all && !find(parent, &s))
		return 0;
	if (find(child, &s))		/* seed() was faster */
		return 0;
	now = bpf_ktime_get_ns();
	s = prepare(child, &idx, now);
	if (!s)
		return 0;
	*(volatile __u32 *)&s->state = WALL_RUNNABLE;
	publish(s, idx, now);
	return 0;
}

/*
 * Give the program that a thread has begun to execute a slot of its own, so that each slot is of one program
 * and what each has used is exact. Tracepoints are called with preemption off, so no switch of the thread
 * comes in between. Without a free slot it keeps the old one.
 */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *t, int old_tid)
{
	__u32 tid = old_tid, *found, idx, old_idx;
	struct wall_slot *old, *s;
	__u64 now;

	forget_agent(t);	/* it went with the old program */
	found = bpf_map_lookup_elem(&wall_threads, &tid);
	old = found ? slot_at(*found) : NULL;
	if (!old || old->identity != identity(t))
		return 0;
	old_idx = *found;
	now = bpf_ktime_get_ns();
	s = prepare(t, &idx, now);
	if (s) {
		*(volatile __u32 *)&s->state = WALL_ON_CPU;
		SEQ_STEP(old->seq);
		if (old->state != WALL_ON_CPU)		/* [4] */
			go_on_cpu(old, old_idx, NULL, now - ran_unseen(old, t, ready_since(old), now));
		old->cpu_ns += now - old->since_ns;
		retire(old, old_idx, now);
		SEQ_STEP(old->seq);
		publish(s, idx, now);
	} else if (t->pid != old_tid) {		/* it takes the number of the first thread */
		bpf_map_delete_elem(&wall_threads, &tid);
		old->kernel_tid = t->pid;
		old->tid = number(t);
		old->own_tid = own_number(t);
		publish(old, old_idx, now);
	}
	return 0;
}

static __always_inline bool is_blocked(struct task_struct *t)
{
	__u32 state = task_state(t);

	if (t->on_cpu || !state || (state & STATE_WAKING))
		return false;
	return !t->on_rq || (bpf_core_field_exists(((struct sched_entity *)NULL)->sched_delayed) &&
			     t->se.sched_delayed);
}

/*
 * A thread that is there already. It may run while its slot is made, which the counts of its switches
 * tell: then what was written of its block counts for nothing, and the next switch puts it right.
 */
#ifdef BPF_BASIC
/* The next switch corrects it, by what the kernel charged. */
static __always_inline void unblock(struct wall_slot *s, __u32 nr) { }
#else
static __always_inline void unblock(struct wall_slot *s, __u32 nr)
{
	if (__sync_val_compare_and_swap(&s->block_nr, nr, nr + 1) == nr)
		__sync_val_compare_and_swap(&s->state, WALL_BLOCKED, WALL_RUNNABLE);
}
#endif

static __always_inline void seed_one(struct task_struct *t)
{
	__u64 switches = t->nvcsw + t->nivcsw, now = bpf_ktime_get_ns();
	struct wall_slot *s;
	__u32 idx, nr;

	s = prepare(t, &idx, now);
	if (!s)
		return;
	if (is_blocked(t)) {
		note_block(s, t, task_state(t), now);
		s->block_nr++;
		*(volatile __u32 *)&s->state = WALL_BLOCKED;
	} else {
		*(volatile __u32 *)&s->state = t->on_cpu ? WALL_ON_CPU : WALL_PREEMPTED;
	}
	nr = s->block_nr;
	publish(s, idx, now);
	if ((nr & 1) && (switches != t->nvcsw + t->nivcsw || !is_blocked(t)))
		unblock(s, nr);
}

static __always_inline bool is_target(__u32 number, __u8 what)
{
	__u8 *is = bpf_map_lookup_elem(&wall_targets, &number);

	return is && (*is & what);
}

SEC("iter/task")
int seed(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct wall_slot *s = NULL;

	if (!t || !t->pid || (task_state(t) & STATE_DEAD) || find(t, &s))
		return 0;
	if (config.all || is_target(number(t->group_leader), WALL_PROCESS) ||
	    is_target(number(t), WALL_THREAD))
		seed_one(t);
	return 0;
}

/* Write a struct wall_where for each thread that is in a block. */
SEC("iter/task")
int wheres(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct wall_slot *s = NULL;
	struct wall_where *w;
	__u32 idx, nr;

	if (!t || !t->pid)
		return 0;
	idx = find(t, &s);
	if (!idx || !s || t->on_cpu)
		return 0;
	nr = *(volatile __u32 *)&s->block_nr;
	if (!(nr & 1))
		return 0;
	w = note_where(s, idx, t);
	/* else it ran meanwhile */
	if (w && *(volatile __u32 *)&s->block_nr == nr && !t->on_cpu)
		bpf_seq_write(ctx->meta->seq, w, sizeof(*w));
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
