// SPDX-License-Identifier: GPL-2.0-or-later
/* tasks.c - follows processes and threads by the kernel's records (tasks.h). */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cgroup.h"
#include "base/resource.h"
#include "base/clock.h"
#include "base/foreign.h"
#include "base/io.h"
#include "base/mem.h"
#include "collect/control/filters.h"
#include "collect/engine/jitfiles.h"
#include "collect/engine/runtimes.h"
#include "collect/engine/tasks.h"

void tasks_init(struct tasks *t, struct trace_writer *w, struct modules *m)
{
	memset(t, 0, sizeof(*t));
	t->procs_tail = &t->procs;
	t->w = w;
	t->modules = m;
}

static void free_proc(struct proc *p)
{
	free(p->cgroup);
	free(p->resource);
	jitfiles_free(p->jit);
	maps_release(&p->maps);
	free(p);
}

void tasks_release(struct tasks *t)
{
	struct proc *p;
	size_t i;

	while ((p = t->procs)) {
		t->procs = p->next;
		free_proc(p);
	}
	for (i = 0; i < t->nr_all; i++)
		free(t->threads[i]);
	free(t->threads);
	map_release(&t->by_tid);
	map_release(&t->virtual);
	free(t->virtuals);
	memset(t, 0, sizeof(*t));
}

struct thread *tasks_find(struct tasks *t, int tid)
{
	uint32_t i = map_get(&t->by_tid, (uint32_t)tid);

	return i == MAP_NONE || t->threads[i]->dead ? NULL : t->threads[i];
}

static void mark_dead(struct tasks *t, struct thread *th, uint64_t time_ns)
{
	th->dead = true;
	th->dead_ns = time_ns;
	t->nr_dead++;
	if (!--th->proc->nr_live)
		th->proc->dead_ns = time_ns;
}

/*
 * Find the control group. A forked process is in its parent's, and moved to another one before the exec; for
 * a process that has ended by the time its record is handled, only the parent's is known.
 */
static void find_cgroup(struct tasks *t, struct proc *p, const struct proc *parent, uint64_t time_ns)
{
	bool forked = parent && !p->execed;
	struct buf path = BUF_INIT;
	struct rec_cgroup r = { .time_ns = time_ns, .proc = p->id };

	if (!t->cgroups || !p->pid || t->replayed_ns)
		return;
	if (!forked || !parent->cgroup)
		cgroup_of(p->pid, NULL, &path);
	if (!path.len && parent && parent->cgroup)
		buf_str(&path, parent->cgroup);
	if (!path.len)
		return;
	r.path_len = path.len;
	r.path = p->cgroup = buf_take(&path);
	trace_write_cgroup(t->w, &r);
}

/* Find the resource attributes, which children inherit, unless all processes are asked. */
static void find_resource(struct tasks *t, struct proc *p, const struct proc *parent, uint64_t time_ns)
{
	bool inherits = parent && (!p->execed || !t->cgroups);
	struct rec_resource r = { .time_ns = time_ns, .proc = p->id };
	struct buf labels = BUF_INIT;

	if (!p->pid || t->replayed_ns)
		return;
	if (!inherits)
		resource_of(p->pid, &labels);
	else if (parent->resource)
		buf_str(&labels, parent->resource);
	if (!labels.len)
		return;
	r.labels_len = labels.len;
	r.labels = p->resource = buf_take(&labels);
	trace_write_resource(t->w, &r);
}

static struct proc *add_proc(struct tasks *t, int pid, const struct proc *parent, const char *comm, bool exec,
			     uint64_t time_ns)
{
	struct proc *p = xcalloc(1, sizeof(*p));
	struct rec_proc r = {
		.time_ns = time_ns, .proc = ++t->nr_procs, .parent = parent ? parent->id : 0, .pid = pid,
		.exec = exec, .comm = comm, .comm_len = strlen(comm),
	};

	p->id = r.proc;
	p->pid = pid;
	p->execed = exec;
	*t->procs_tail = p;
	t->procs_tail = &p->next;
	trace_write_proc(t->w, &r);
	find_cgroup(t, p, parent, time_ns);
	find_resource(t, p, parent, time_ns);
	return p;
}

static void write_name(struct tasks *t, struct thread *th, const char *name, bool java, uint64_t time_ns)
{
	struct rec_thread r = {
		.time_ns = time_ns, .thread = th->id, .proc = th->proc->id, .tid = th->tid,
		.java = java, .name = name, .name_len = strlen(name),
	};

	if (!java)
		snprintf(th->comm, sizeof(th->comm), "%s", name);
	filters_thread(t->filters, th->id, name, java, false);
	trace_write_thread(t->w, &r);
}

static struct thread *tasks_add_thread(struct tasks *t, struct proc *p, int tid, const char *name,
				       uint64_t time_ns)
{
	struct thread *th = xcalloc(1, sizeof(*th));
	uint32_t older = map_get(&t->by_tid, (uint32_t)tid);

	th->id = ++t->nr_threads;
	th->tid = tid;
	th->born_ns = time_ns;
	th->older = older == MAP_NONE ? NULL : t->threads[older];
	th->proc = p;
	p->nr_live++;
	p->nr_threads++;
	th->kernel_tail = &th->kernel;
	th->user_tail = &th->user;
	VEC_GROW(t->threads, t->nr_all, t->alloc_threads);
	*map_put(&t->by_tid, (uint32_t)tid) = t->nr_all;
	t->threads[t->nr_all++] = th;
	write_name(t, th, name, false, time_ns);
	return th;
}

/* Return the thread before its process became another program, for those that ask for its beginning. */
static struct thread *before_exec(const struct thread *th)
{
	struct thread *older = th->older;

	return th->proc->execed && older && older->dead && older->dead_ns == th->born_ns ? older : NULL;
}

/* Choose the threads that stay, each marked by a number above 0 in keep[]. */
static uint8_t *choose_threads(const struct tasks *t, uint64_t now_ns)
{
	const uint64_t late_ns[] = { now_ns - MIN(now_ns, TASKS_LATE_NS),
				     t->keeps_ended ? 0 : now_ns - MIN(now_ns, TASKS_AGENT_LATE_NS) };
	uint8_t *keep = xcalloc(t->nr_all, 1);
	size_t i;

	for (i = t->nr_all; i-- > 0;) {		/* from the young to the old, which may be needed by them */
		const struct thread *th = t->threads[i];
		struct thread *older = before_exec(th);

		keep[i] |= !th->dead || th->dead_ns >= late_ns[th->proc->java || th->proc->nr_holders] ||
			th->proc->nr_thread_holders || th->queued;
		if (keep[i] && older)
			older->needed = true;
		keep[i] |= th->needed;
	}
	return keep;
}

static void forget_procs(struct tasks *t)
{
	struct proc **at = &t->procs, *p;

	while ((p = *at)) {
		if (p->nr_threads || p->java || p->nr_holders || p->nr_thread_holders || p->has_anon_hits) {
			at = &p->next;
			continue;
		}
		*at = p->next;
		t->nr_without_memory += p->execed && !p->memory;
		trace_writer_forget_proc(t->w, p->id);
		free_proc(p);
	}
	t->procs_tail = at;
}

enum { FORGET_MIN = 512 };	/* dead threads that are worth it */

void tasks_forget(struct tasks *t, uint64_t now_ns)
{
	size_t i, nr = 0;
	uint8_t *keep;

	if (t->nr_dead < FORGET_MIN || t->nr_dead * 2 < t->nr_all || now_ns < t->forget_ns)
		return;
	t->forget_ns = now_ns + TASKS_LATE_NS / 2;
	keep = choose_threads(t, now_ns);
	map_reset(&t->by_tid);
	for (i = 0; i < t->nr_all; i++) {
		struct thread *th = t->threads[i];
		uint32_t *slot;

		if (!keep[i]) {
			th->proc->nr_threads--;
			t->nr_dead--;
			trace_writer_forget_thread(t->w, th->id);
			filters_forget_thread(t->filters, th->id);
			free(th);
			continue;
		}
		slot = map_put(&t->by_tid, (uint32_t)th->tid);
		th->older = *slot == MAP_NONE ? NULL : t->threads[*slot];
		th->needed = false;
		*slot = nr;
		t->threads[nr++] = th;
	}
	t->nr_all = nr;
	free(keep);
	forget_procs(t);
}

/* Read the first line of a file of /proc, "" if it cannot be read. */
static void proc_line(const struct tasks *t, char *out, size_t size, const char *fmt, int pid, int tid)
{
	struct buf b = BUF_INIT;
	char path[64];

	out[0] = '\0';
	if (t->replayed_ns) {
		snprintf(out, size, "%s", t->replayed_name);
		return;
	}
	snprintf(path, sizeof(path), fmt, pid, tid);
	if (!io_slurp(path, &b) && b.len)
		snprintf(out, size, "%.*s", (int)strcspn(b.data, "\n"), b.data);
	buf_release(&b);
}

bool tasks_map_line(char *line, struct module_id *id, uint64_t *pgoff)
{
	char perms[8];
	unsigned int major, minor;
	int path_at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %n", &id->start, &id->end,
		   perms, pgoff, &major, &minor, &id->inode, &path_at) < 7 || !path_at)
		return false;
	id->dev = makedev(major, minor);
	id->path = line + path_at;
	return perms[2] == 'x';
}

void tasks_maps_text(struct tasks *t, int pid, char *text, uint64_t time_ns)
{
	char *line, *save;

	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct module_id id = { .pid = pid };
		uint64_t pgoff;

		if (tasks_map_line(line, &id, &pgoff))
			tasks_mmap(t, &id, pgoff, pid, time_ns);
	}
}

static void scan_maps(struct tasks *t, struct proc *p, uint64_t time_ns)
{
	struct buf b = BUF_INIT;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", p->pid);
	if (!io_slurp(path, &b) && b.data)
		tasks_maps_text(t, p->pid, b.data, time_ns);
	buf_release(&b);
}

static void scan_threads(struct tasks *t, struct proc *p, uint64_t time_ns)
{
	DIR *dir = io_open_threads(p->pid);
	char comm[64];
	int tid;

	while ((tid = io_next_number(dir))) {
		if (tasks_find(t, tid))
			continue;
		proc_line(t, comm, sizeof(comm), "/proc/%d/task/%d/comm", p->pid, tid);
		tasks_add_thread(t, p, tid, comm, time_ns);
	}
	io_close_folder(dir);
}

static struct thread *scan_process(struct tasks *t, int pid, uint64_t time_ns)
{
	struct thread *leader;
	char comm[64];
	struct proc *p;

	proc_line(t, comm, sizeof(comm), "/proc/%d/comm", pid, 0);
	if (!pid)
		strcpy(comm, "swapper");
	p = add_proc(t, pid, NULL, comm, false, time_ns);
	leader = tasks_add_thread(t, p, pid, comm, time_ns);
	if (pid && !t->replayed_ns) {
		scan_threads(t, p, time_ns);
		scan_maps(t, p, time_ns);
	}
	return leader;
}

void tasks_rescan(struct tasks *t, int pid)
{
	struct thread *leader = tasks_find(t, pid);

	if (leader && !t->replayed_ns)
		scan_threads(t, leader->proc, clock_mono_ns());
}

void tasks_maps_again(struct tasks *t, struct proc *p, char *text, uint64_t time_ns)
{
	char *line, *save;

	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct module_id id = {
			.pid = t->replayed_ns ? 0 : p->pid,
			.replayed_ns = t->replayed_ns, .other_kernel = t->other_kernel,
		};
		const struct map_entry *known;
		uint64_t pgoff;

		if (!tasks_map_line(line, &id, &pgoff) || id.start >= id.end)
			continue;
		known = maps_find(&p->maps, id.start);
		if (!known || known->start != id.start || known->end != id.end || known->pgoff != pgoff)
			tasks_mmap(t, &id, pgoff, p->pid, time_ns);
	}
}

void tasks_rescan_maps(struct tasks *t, struct proc *p)
{
	struct buf b = BUF_INIT;
	char path[64];

	if (t->replayed_ns)
		return;
	snprintf(path, sizeof(path), "/proc/%d/maps", p->pid);
	if (!io_slurp(path, &b) && b.data)
		tasks_maps_again(t, p, b.data, clock_mono_ns());
	buf_release(&b);
}

int tasks_scan(struct tasks *t, int pid, struct err *e)
{
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? err_set(e, ESRCH, "no process %d", pid) : err_errno(e, "%s", path);
	closedir(dir);
	if (!tasks_find(t, pid))
		scan_process(t, pid, clock_mono_ns());
	return 0;
}

/*
 * Return whether the thread belongs to a program that its process has become meanwhile: it looks like one of
 * the old program, for which /proc was read too late.
 */
static bool is_of_old_image(struct tasks *t, const struct thread *th, uint64_t time_ns)
{
	const struct proc *p = th->proc;

	return p->replaced_ns && p->replaced_ns <= time_ns && tasks_find(t, p->pid);
}

struct thread *tasks_get(struct tasks *t, int pid, int tid, uint64_t time_ns)
{
	uint32_t at = map_get(&t->by_tid, (uint32_t)tid);
	struct thread *th = at == MAP_NONE ? NULL : t->threads[at], *leader;
	char comm[64];

	/* This may be a dead one: a CPU's event still samples it in the kernel, after its exit record. */
	if (th && th->proc->pid == pid && !is_of_old_image(t, th, time_ns))
		return th;
	if (th && !th->dead)
		mark_dead(t, th, time_ns);	/* its exit was lost and the number is in use again */
	leader = tasks_find(t, pid);
	if (!leader) {
		leader = scan_process(t, pid, time_ns);
		th = tasks_find(t, tid);
		if (th)
			return th;
	}
	if (tid == pid)
		return leader;
	proc_line(t, comm, sizeof(comm), "/proc/%d/task/%d/comm", pid, tid);
	th = tasks_add_thread(t, leader->proc, tid, comm, time_ns);
	th->provisional = true;
	return th;
}

struct thread *tasks_any(struct tasks *t, int tid)
{
	uint32_t at = map_get(&t->by_tid, (uint32_t)tid);

	return at == MAP_NONE ? NULL : t->threads[at];
}

struct thread *tasks_at(struct tasks *t, int tid, uint64_t time_ns)
{
	struct thread *th = tasks_any(t, tid), *next = NULL;

	for (; th && th->born_ns > time_ns; th = th->older)
		next = th;
	/* of what began before it was heard of, the beginning is known too late */
	return th && (!next || !th->dead || time_ns < th->dead_ns) ? th : next;
}

/* Return a number in /proc/PID/status, or fallback if it cannot be read. */
static int status_number(int pid, const char *key, int fallback)
{
	struct buf b = BUF_INIT;
	const char *line;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if (!io_slurp(path, &b) && b.len && (line = strstr(b.data, key)))
		fallback = atoi(line + strlen(key));
	buf_release(&b);
	return fallback;
}

bool tasks_descends(int pid, int from)
{
	enum { MAX_LEVELS = 256 };
	int i;

	for (i = 0; i < MAX_LEVELS && pid > 1 && pid != from; i++)
		pid = status_number(pid, "\nPPid:", 0);
	return from > 0 && pid == from;
}

struct thread *tasks_by_tid(struct tasks *t, int tid, uint64_t time_ns)
{
	struct thread *th = tasks_any(t, tid);

	return th ? th : tasks_get(t, tid ? status_number(tid, "\nTgid:", tid) : 0, tid, time_ns);
}

struct thread *tasks_leader(struct tasks *t, int pid, uint64_t start_ns)
{
	enum { TICK_NS = 20000000 };	/* at 50 Hz, the longest there is */
	struct thread *th = tasks_find(t, pid);

	return th && th->tid == th->proc->pid && start_ns <= th->born_ns + TICK_NS ? th : NULL;
}

/*
 * Return whether the thread belongs to another process: agents may lie, and a live thread is not taken from
 * it.
 */
static bool is_foreign(struct tasks *t, const struct proc *p, int tid)
{
	const struct thread *th = tasks_find(t, tid);
	char path[64];

	if (!th || th->proc == p)
		return false;
	if (t->replayed_ns)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/task/%d", p->pid, tid);
	return access(path, F_OK);
}

struct thread *tasks_get_at(struct tasks *t, struct proc *p, int tid, uint64_t time_ns)
{
	uint32_t i = map_get(&t->by_tid, (uint32_t)tid);
	struct thread *th = i == MAP_NONE ? NULL : t->threads[i];

	for (; th; th = th->older)
		if (th->proc == p && (th->dead ? time_ns <= th->dead_ns : th->provisional || !th->older ||
									   th->born_ns <= time_ns))
			return th;
	return tasks_get(t, p->pid, is_foreign(t, p, tid) ? p->pid : tid, time_ns);
}

static void inherit_events(struct thread *th, const struct thread *parent, uint64_t time_ns)
{
	th->evset = parent->evset;
	th->evset_ns = parent->evset_ns;
	if (!th->trap_ns && th->proc == parent->proc && parent->trap_ns && parent->trap_ns < time_ns)
		th->trap_ns = time_ns;
}

/* Check whether children of the process descend from the program. */
static bool descends(const struct tasks *t, const struct proc *parent)
{
	return parent->descends || (t->program && parent->pid == t->program);
}

struct thread *tasks_fork(struct tasks *t, int pid, int ppid, int tid, int ptid, uint64_t time_ns)
{
	struct thread *parent = tasks_find(t, ptid), *th = tasks_find(t, tid);
	struct proc *p;

	if (!parent)
		parent = tasks_get(t, ppid, ptid, time_ns);
	if (th && th->provisional && th->proc->pid == pid) {	/* an agent spoke of it first */
		th->provisional = false;
		th->proc->descends = descends(t, parent->proc);
		inherit_events(th, parent, time_ns);
		return th;
	}
	if (pid == ppid) {
		p = parent->proc;
	} else {
		p = add_proc(t, pid, parent->proc, parent->comm, false, time_ns);
		p->descends = descends(t, parent->proc);
		maps_copy(&p->maps, &parent->proc->maps);
		p->runtime = parent->proc->runtime;
	}
	th = tasks_add_thread(t, p, tid, parent->comm, time_ns);
	inherit_events(th, parent, time_ns);
	return th;
}

bool tasks_is_alive(const struct proc *p)
{
	return p->pid > 0 && (!kill(p->pid, 0) || errno == EPERM);
}

void tasks_exit(struct tasks *t, int pid, int tid, uint64_t time_ns)
{
	struct thread *th = tasks_find(t, tid);
	struct rec_end r = { .time_ns = time_ns };

	if (!th)
		return;
	mark_dead(t, th, time_ns);
	r.thread = th->id;
	trace_write_end(t->w, &r);
}

bool tasks_is_gone(const struct thread *th)
{
	return th->tid > 0 && th->proc->pid > 0 && syscall(SYS_tgkill, th->proc->pid, th->tid, 0) &&
	       errno == ESRCH;
}

void tasks_look_again(struct tasks *t, uint64_t time_ns)
{
	size_t i;

	for (i = 0; i < t->nr_all; i++) {
		const struct thread *th = t->threads[i];

		if (!th->dead && tasks_is_gone(th) && tasks_find(t, th->tid) == th)
			tasks_exit(t, th->proc->pid, th->tid, time_ns);
	}
}

/* Return whether HotSpot renamed the main thread after main() returned: its samples keep the name "main". */
static bool is_main_at_end(const char *name)
{
	return !strcmp(name, "DestroyJavaVM");
}

void tasks_comm(struct tasks *t, int pid, int tid, const char *comm, bool exec, uint64_t time_ns)
{
	struct thread *th = tasks_find(t, tid), *image;
	struct proc *p;

	if (!th) {
		tasks_get(t, pid, tid, time_ns);
		return;
	}
	if (!exec) {
		if (!th->proc->java || !is_main_at_end(comm))
			write_name(t, th, comm, false, time_ns);
		return;
	}
	/* The new image keeps nothing of the old but its number; the exec'ing thread becomes the leader. */
	p = add_proc(t, pid, th->proc, comm, true, time_ns);
	p->descends = th->proc->descends;
	th->proc->replaced_ns = time_ns;
	mark_dead(t, th, time_ns);
	image = tasks_add_thread(t, p, pid, comm, time_ns);
	image->used_ns = th->used_ns;
	image->evset = th->evset;
	image->evset_ns = th->evset_ns;
}

static bool is_libjvm(const char *path)
{
	const char *name = strrchr(path, '/');

	return name && !strcmp(name, "/libjvm.so");
}

uid_t tasks_owner(int pid)
{
	struct stat st;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	return stat(path, &st) ? FOREIGN_ANYBODY : st.st_uid;
}

static void add_dump(struct proc *p, const struct module_id *id, uint64_t time_ns)
{
	if (!p->jit)
		p->jit = jitfiles_new(p->pid, tasks_owner(p->pid), time_ns);
	jitfiles_add_dump(p->jit, id);
}

void tasks_mmap(struct tasks *t, const struct module_id *id, uint64_t pgoff, int tid, uint64_t time_ns)
{
	struct thread *th = tasks_find(t, tid);
	struct rec_map r = { .time_ns = time_ns, .addr = id->start, .size = id->end - id->start,
		.pgoff = pgoff };

	if (!th)
		th = tasks_get(t, id->pid, tid, time_ns);
	r.proc = th->proc->id;
	r.module = modules_get(t->modules, id, t->w);
	th->proc->has_libjvm |= is_libjvm(id->path);
	if (!th->proc->runtime)
		th->proc->runtime = runtime_of_file(id->path);
	if (jitfiles_is_dump(id->path) && !t->replayed_ns)
		add_dump(th->proc, id, time_ns);
	maps_add(&th->proc->maps, id->start, id->end, pgoff, r.module);
	trace_write_map(t->w, &r);
}

void tasks_java_name(struct tasks *t, struct thread *th, const char *name, uint64_t time_ns)
{
	th->java = true;
	if (!is_main_at_end(name))
		write_name(t, th, name, true, time_ns);
}

void tasks_java_group(struct tasks *t, struct thread *th, const char *name, uint64_t time_ns)
{
	filters_group(t->filters, th->id, name);
	trace_write_thread_group(t->w, &(struct rec_thread_group){
		.time_ns = time_ns, .thread = th->id, .name = name, .name_len = strlen(name),
	});
}

static uint64_t virtual_key(uint32_t proc, uint64_t java_id)
{
	return (uint64_t)proc << 40 | (java_id & ((1ull << 40) - 1));
}

uint32_t tasks_find_virtual(const struct tasks *t, uint32_t proc, uint64_t java_id)
{
	uint32_t at = map_get(&t->virtual, virtual_key(proc, java_id));

	return at == MAP_NONE ? 0 : t->virtuals[at].id;
}

/* *is_new: it was not known. */
static struct virtual *get_virtual(struct tasks *t, uint32_t proc, uint64_t java_id, bool *is_new)
{
	uint64_t key = virtual_key(proc, java_id);
	uint32_t *at = map_put(&t->virtual, key);

	*is_new = *at == MAP_NONE;
	if (*is_new) {
		*at = t->nr_virtuals;
		*VEC_ADD(t->virtuals, t->nr_virtuals, t->alloc_virtuals) = (struct virtual){
			.id = ++t->nr_threads, .proc = proc, .key = key,
		};
	}
	return &t->virtuals[*at];
}

uint32_t tasks_virtual(struct tasks *t, struct proc *p, uint64_t java_id, const char *name, uint64_t time_ns)
{
	struct rec_thread r = { .time_ns = time_ns, .proc = p->id, .java = true, .name = name ? name : "" };
	bool is_new;
	struct virtual *v = get_virtual(t, p->id, java_id, &is_new);

	v->used_ns = MAX(v->used_ns, time_ns);
	r.thread = v->id;
	if (!is_new && !name)
		return r.thread;
	r.name_len = strlen(r.name);
	filters_thread(t->filters, r.thread, r.name, true, true);
	trace_write_thread(t->w, &r);
	return r.thread;
}

uint32_t tasks_pseudo(struct tasks *t, struct proc *p, uint64_t java_id, const char *name, uint64_t time_ns)
{
	uint32_t id = tasks_virtual(t, p, java_id, name, time_ns);

	t->virtuals[map_get(&t->virtual, virtual_key(p->id, java_id))].fixed = true;
	return id;
}

static int compare_times(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return COMPARE(*x, *y);
}

/* Return the time at which the nr-th of the virtual threads, from the latest back, was used. */
static uint64_t nth_time(const struct tasks *t, size_t nr)
{
	uint64_t *times = xcalloc(t->nr_virtuals, sizeof(*times)), time;
	size_t i;

	for (i = 0; i < t->nr_virtuals; i++)
		times[i] = t->virtuals[i].used_ns;
	qsort(times, t->nr_virtuals, sizeof(*times), compare_times);
	time = times[t->nr_virtuals - nr];
	free(times);
	return time;
}

static void forget_virtual(struct tasks *t, uint32_t thread)
{
	trace_writer_forget_thread(t->w, thread);
	filters_forget_thread(t->filters, thread);
}

void tasks_forget_virtual(struct tasks *t, const struct map *procs, size_t max)
{
	uint64_t from_ns = t->nr_virtuals > max ? nth_time(t, max / 2) : 0;
	size_t i, nr = 0, before = t->nr_virtuals;

	for (i = 0; i < before; i++) {
		const struct virtual *v = &t->virtuals[i];

		if (map_get(procs, v->proc) != MAP_NONE && (v->fixed || v->used_ns >= from_ns))
			t->virtuals[nr++] = *v;
		else
			forget_virtual(t, v->id);
	}
	if (nr == before)
		return;
	t->nr_virtuals = nr;
	map_release(&t->virtual);
	for (i = 0; i < nr; i++)
		*map_put(&t->virtual, t->virtuals[i].key) = i;
}
