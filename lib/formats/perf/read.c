// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * read.c - the records of a perf.data file, in the order of time, as a trace: processes, threads and mappings
 * as they were at each sample.
 *
 * The callers that perf recorded are kept. Where it kept copies of stacks instead (--call-graph dwarf), they
 * are unwound here, as perf itself does when it reports.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/clock.h"
#include "base/foreign.h"
#include "base/mem.h"
#include "collect/engine/jitfiles.h"
#include "collect/engine/tasks.h"
#include "formats/modules.h"
#include "formats/perf/read.h"
#include "formats/text.h"
#include "sym/kallsyms.h"
#include "sym/maps.h"

enum { MAX_FRAMES = 1024 };

struct perf_proc {
	uint32_t number, pid;
	struct import_text comm;	/* in the file */
	bool has_anon_hits;
	struct maps maps;
};

struct perf_thread {
	uint32_t number, proc;		/* proc: index in procs */
	uint32_t tid;
	struct import_text name;	/* in the file */
};

struct perf {
	struct import *im;
	struct perf_file file;
	struct import_modules modules;
	uint32_t kernel;			/* its module; 0: not hit */
	uint64_t kernel_at;			/* where its code begins; 0: not known */
	struct perf_proc *procs;
	size_t nr_procs, alloc_procs;
	struct perf_thread *threads;
	size_t nr_threads, alloc_threads;
	struct perf_proc nobody;		/* of samples that do not say whose they are */
	bool has_thread;			/* some event says */
	struct map proc_of;			/* pid -> index, of the latest */
	struct map thread_of;			/* (pid, tid) -> index + 1; 0: it ended */
	struct frame *frames;			/* of the sample: [0, nr_frames) of 2 * MAX_FRAMES + 2 */
	struct unwind_frame *unwound;		/* [MAX_FRAMES] */
	size_t nr_frames;
	bool can_unwind;			/* stacks are of a CPU like ours */
	uint64_t first_ns, last_ns;		/* of samples */
	uint64_t nr_bad, nr_not_unwound;
};

/* ---- processes and threads ---- */

/* Add a process; parent: after fork or exec, the number of the previous process, else 0. */
static struct perf_proc *new_proc(struct perf *p, uint32_t pid, uint64_t time_ns, struct import_text comm,
				  bool exec, uint32_t parent)
{
	uint32_t *at = map_put(&p->proc_of, pid);
	struct perf_proc *x;

	*at = p->nr_procs;
	x = VEC_ADD(p->procs, p->nr_procs, p->alloc_procs);
	*x = (struct perf_proc){ .number = ++p->im->nr_procs, .pid = pid, .comm = comm };
	trace_write_proc(p->im->w, &(struct rec_proc){ .time_ns = time_ns, .proc = x->number,
			 .parent = parent, .pid = pid, .exec = exec, .comm = comm.s, .comm_len = comm.len });
	return x;
}

static struct perf_proc *get_proc(struct perf *p, uint32_t pid, uint64_t time_ns)
{
	uint32_t at = map_get(&p->proc_of, pid);
	const char *name = pid ? "" : "swapper";

	if (at != MAP_NONE)
		return &p->procs[at];
	return new_proc(p, pid, time_ns, (struct import_text){ name, strlen(name) }, false, 0);
}

static struct perf_thread *new_thread(struct perf *p, uint32_t pid, uint32_t tid, uint64_t time_ns,
				      struct import_text name)
{
	const struct perf_proc *proc = get_proc(p, pid, time_ns);
	uint32_t *at = map_put(&p->thread_of, (uint64_t)pid << 32 | tid);
	struct perf_thread *x;

	x = VEC_ADD(p->threads, p->nr_threads, p->alloc_threads);
	*at = p->nr_threads;
	*x = (struct perf_thread){ ++p->im->nr_threads, proc - p->procs, tid, name };
	trace_write_thread(p->im->w, &(struct rec_thread){ .time_ns = time_ns, .thread = x->number,
			   .proc = proc->number, .tid = tid, .name = name.s, .name_len = name.len });
	return x;
}

static struct perf_thread *get_thread(struct perf *p, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	uint32_t at = map_get(&p->thread_of, (uint64_t)pid << 32 | tid);

	return at && at != MAP_NONE ? &p->threads[at - 1] :
				      new_thread(p, pid, tid, time_ns, (struct import_text){ "", 0 });
}

/* Return the text that follows. */
static struct import_text rest(const struct span *s)
{
	const char *p = (const char *)s->p;

	return (struct import_text){ p, s->bad ? 0 : strnlen(p, span_left(s)) };
}

static void on_comm(struct perf *p, const struct perf_event_header *h, struct span s, uint64_t time_ns)
{
	uint32_t pid = span_u32(&s), tid = span_u32(&s), at;
	struct import_text name = rest(&s);
	struct perf_thread *t;

	if (s.bad)
		return;
	at = map_get(&p->proc_of, pid);
	if (h->misc & PERF_RECORD_MISC_COMM_EXEC || at == MAP_NONE) {
		uint32_t parent = at == MAP_NONE ? 0 : p->procs[at].number;

		new_proc(p, pid, time_ns, name, at != MAP_NONE, parent);
		new_thread(p, pid, tid, time_ns, name);
		return;
	}
	if (pid == tid) {
		p->procs[at].comm = name;
		trace_write_proc(p->im->w, &(struct rec_proc){ .time_ns = time_ns, .pid = pid,
				 .proc = p->procs[at].number, .comm = name.s, .comm_len = name.len });
	}
	t = get_thread(p, pid, tid, time_ns);
	t->name = name;
	trace_write_thread(p->im->w, &(struct rec_thread){ .time_ns = time_ns, .thread = t->number,
			   .tid = tid, .proc = p->procs[t->proc].number, .name = name.s,
			   .name_len = name.len });
}

static void on_fork(struct perf *p, struct span s, uint64_t time_ns)
{
	uint32_t pid = span_u32(&s), ppid = span_u32(&s), tid = span_u32(&s), ptid = span_u32(&s);
	uint32_t at = map_get(&p->proc_of, ppid);
	struct import_text name;

	if (s.bad || at == MAP_NONE)
		return;
	name = get_thread(p, ppid, ptid, time_ns)->name;
	if (pid != ppid) {
		struct perf_proc *child =
			new_proc(p, pid, time_ns, p->procs[at].comm, false, p->procs[at].number);

		maps_copy(&child->maps, &p->procs[at].maps);
	}
	new_thread(p, pid, tid, time_ns, name);
}

/* Forget the number, which may be another thread's from now on. */
static void on_end(struct perf *p, struct span s)
{
	uint32_t pid = span_u32(&s), tid;

	span_u32(&s);
	tid = span_u32(&s);
	if (s.bad)
		return;
	*map_put(&p->thread_of, (uint64_t)pid << 32 | tid) = 0;
}

/* ---- mappings ---- */

/* Return whether the mapping is memory, not a file. */
static bool has_no_file(const struct import_text *path)
{
	static const char *const memory[] = { "//anon", "/dev/zero", "/SYSV", "/memfd:", "/anon_hugepage" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(memory); i++)
		if (import_begins(*path, memory[i]))
			return true;
	return !import_begins(*path, "/");
}

static void find_build_id(const struct perf *p, const struct import_text *path, struct import_module *m)
{
	size_t i;

	for (i = 0; i < p->file.nr_build_ids && !m->build_id_len; i++) {
		const struct perf_build_id *b = &p->file.build_ids[i];

		if (b->path.len != path->len || memcmp(b->path.s, path->s, path->len))
			continue;
		memcpy(m->build_id, b->id, b->len);
		m->build_id_len = b->len;
	}
}

/* Take the address of the kernel: of "[kernel.kallsyms]_text", pgoff is the address of the symbol _text. */
static void map_kernel(struct perf *p, const struct import_text *path, uint64_t pgoff)
{
	if (import_begins(*path, "[kernel.kallsyms]_") && !p->kernel_at)
		p->kernel_at = pgoff;
}

static void on_mmap(struct perf *p, const struct perf_event_header *h, struct span s, uint64_t time_ns)
{
	uint32_t pid = span_u32(&s), prot = 0, number;
	uint64_t addr, len, pgoff;
	struct import_module like = { .path = NULL };
	struct import_text path;
	const uint8_t *id;

	span_u32(&s);
	addr = span_u64(&s);
	len = span_u64(&s);
	pgoff = span_u64(&s);
	if (h->type == PERF_RECORD_MMAP2) {
		id = span_bytes(&s, 24);
		if (id && h->misc & PERF_MISC_MMAP_BUILD_ID) {
			like.build_id_len = MIN(id[0], (uint8_t)20);
			memcpy(like.build_id, id + 4, like.build_id_len);
		} else if (id) {
			memcpy(&like.inode, id + 8, sizeof(like.inode));
		}
		prot = span_u32(&s);
		span_u32(&s);
	}
	path = rest(&s);
	if (s.bad || !len || addr + len < addr)
		return;
	if ((h->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL) {
		map_kernel(p, &path, pgoff);
		return;
	}
	if (h->misc & PERF_RECORD_MISC_MMAP_DATA || (prot && !(prot & 4)))
		return;
	like.flags = path.len == 6 && import_begins(path, "[vdso]") ? MODULE_VDSO : 0;
	if (!like.flags && has_no_file(&path)) {
		maps_add(&get_proc(p, pid, time_ns)->maps, addr, addr + len, pgoff, 0);
		return;
	}
	find_build_id(p, &path, &like);
	number = import_modules_get(&p->modules, p->im, &like, path);
	maps_add(&get_proc(p, pid, time_ns)->maps, addr, addr + len, pgoff, number);
	trace_write_map(p->im->w, &(struct rec_map){ .time_ns = time_ns, .module = number, .addr = addr,
			.proc = get_proc(p, pid, time_ns)->number, .size = len, .pgoff = pgoff });
}

/* ---- stacks ---- */

static void user_frame(struct perf_proc *proc, uint64_t pc, struct frame *f)
{
	uint64_t off;
	uint32_t module;

	if (maps_module(&proc->maps, pc, &module, &off)) {
		*f = (struct frame){ FRAME_NATIVE, .module = module, .off = off };
	} else {
		*f = (struct frame){ FRAME_ANON, .proc = proc->number, .addr = pc };
		proc->has_anon_hits = true;
	}
}

static uint32_t kernel_module(struct perf *p)
{
	static const struct import_text path = { "[kernel.kallsyms]", 17 };
	struct import_module like = { .flags = MODULE_KERNEL };

	if (!p->kernel) {
		find_build_id(p, &path, &like);
		p->kernel = import_modules_get(&p->modules, p->im, &like, path);
	}
	return p->kernel;
}

struct walk {
	struct perf *p;
	struct perf_proc *proc;
};

static bool find_module(void *ctx, uint64_t addr, uint32_t *module, uint64_t *off, struct unwind_module **mod)
{
	const struct walk *walk = ctx;

	*mod = NULL;
	if (!maps_module(&walk->proc->maps, addr, module, off))
		return false;
	*mod = import_modules_unwind(&walk->p->modules, *module);
	return true;
}

/* Unwind into frames, outermost first. */
static void unwind(struct perf *p, struct perf_proc *proc, struct perf_sample *ps)
{
	struct walk walk = { p, proc };
	struct unwind_space space = { .find = find_module, .ctx = &walk };
	enum frame_mark end = MARK_NONE;
	size_t nr = unwind_walk(&space, &ps->regs, &ps->stack, p->unwound, MAX_FRAMES, &end);

	if (end != MARK_NONE)
		p->frames[p->nr_frames++] = (struct frame){ FRAME_MARK, .mark = end };
	while (nr--)
		user_frame(proc, p->unwound[nr].pc, &p->frames[p->nr_frames++]);
}

/* Numbers first..last of the chain, which are of one mode, outermost first. */
static void add_chain(struct perf *p, struct perf_proc *proc, const struct perf_sample *ps, size_t first,
		      size_t end, bool kernel)
{
	size_t i, most = MIN(end, first + MAX_FRAMES - 1);
	uint64_t pc;

	if (most < end)
		p->frames[p->nr_frames++] = (struct frame){ FRAME_MARK, .mark = MARK_TRUNCATED_DEPTH };
	for (i = most; i-- > first;) {
		memcpy(&pc, (const char *)ps->chain + i * 8, 8);
		pc -= i > first;	/* inside the call that it returns to */
		if (kernel)
			p->frames[p->nr_frames++] =
				(struct frame){ FRAME_KERNEL, .module = kernel_module(p), .off = pc };
		else
			user_frame(proc, pc, &p->frames[p->nr_frames++]);
	}
}

/* Find the part of the chain with that mode; return false if it has none. */
static bool find_part(const struct perf_sample *ps, uint64_t context, size_t *first, size_t *end)
{
	uint64_t v, now = 0;
	size_t i;

	*first = *end = 0;
	for (i = 0; i < ps->nr_chain; i++) {
		memcpy(&v, (const char *)ps->chain + i * 8, 8);
		if (v >= (uint64_t)PERF_CONTEXT_MAX)
			now = v;
		if (v >= (uint64_t)PERF_CONTEXT_MAX && *end)
			break;
		if (v < (uint64_t)PERF_CONTEXT_MAX && now == context) {
			*first = *end ? *first : i;
			*end = i + 1;
		}
	}
	return *end;
}

static void add_frames(struct perf *p, struct perf_proc *proc, struct perf_sample *ps, bool kernel)
{
	size_t first, end;

	p->nr_frames = 0;
	if (ps->has_regs && (ps->stack.len || !kernel)) {
		if (p->can_unwind)
			unwind(p, proc, ps);
		else
			p->nr_not_unwound++;
	}
	if (!p->nr_frames && find_part(ps, PERF_CONTEXT_USER, &first, &end))
		add_chain(p, proc, ps, first, end, false);
	if (!p->nr_frames && !kernel)
		user_frame(proc, ps->ip, &p->frames[p->nr_frames++]);
	if (find_part(ps, PERF_CONTEXT_KERNEL, &first, &end))
		add_chain(p, proc, ps, first, end, true);
	else if (kernel)
		p->frames[p->nr_frames++] =
			(struct frame){ FRAME_KERNEL, .module = kernel_module(p), .off = ps->ip };
}

static uint64_t weight_of(const struct perf_event *ev, const struct perf_sample *ps)
{
	if (ev->format.sample_type & PERF_SAMPLE_PERIOD)
		return ps->period;
	return ev->freq ? 1 : ev->period;
}

static void on_sample(struct perf *p, const struct perf_event_header *h, struct span body, uint64_t time_ns)
{
	const struct perf_event *ev = perf_event_of(&p->file, h, &body);
	unsigned int mode = h->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	bool kernel = mode != PERF_RECORD_MISC_USER && mode != PERF_RECORD_MISC_GUEST_USER;
	struct perf_thread *t = NULL;
	struct perf_sample ps;
	struct rec_sample s;

	if (!ev || !perf_sample_read(&ps, &ev->format, body)) {
		p->nr_bad++;
		return;
	}
	if (ev->format.sample_type & PERF_SAMPLE_TID)
		t = get_thread(p, ps.pid, ps.tid, time_ns);
	add_frames(p, t ? &p->procs[t->proc] : &p->nobody, &ps, kernel);
	s = (struct rec_sample){
		.time_ns = time_ns, .thread = t ? t->number : 0, .weight = weight_of(ev, &ps),
		.event = ev->number, .cpu = MIN(ps.cpu, (uint32_t)IMPORT_NO_CPU), .user = !kernel,
	};
	s.stack = trace_write_stack(p->im->w, p->frames, p->nr_frames);
	import_sample(p->im, &s);
	p->first_ns = p->first_ns ? p->first_ns : time_ns;
	p->last_ns = time_ns;
}

/* ---- records ---- */

static void on_lost(struct perf *p, struct span s, uint64_t time_ns, bool samples)
{
	struct rec_lost r = { .time_ns = time_ns, .cause = LOST_RING };

	if (!samples)
		span_u64(&s);
	r.count = span_u64(&s);
	if (!s.bad)
		trace_write_lost(p->im->w, &r);
}

static void on_record(struct perf *p, const struct perf_record *r)
{
	struct perf_event_header h;
	struct span s;

	memcpy(&h, perf_file_at(&p->file, r->off), sizeof(h));
	s = span_init(perf_file_at(&p->file, r->off) + sizeof(h), h.size - sizeof(h));
	switch (h.type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		on_mmap(p, &h, s, r->time_ns);
		break;
	case PERF_RECORD_COMM:
		on_comm(p, &h, s, r->time_ns);
		break;
	case PERF_RECORD_FORK:
		on_fork(p, s, r->time_ns);
		break;
	case PERF_RECORD_EXIT:
		on_end(p, s);
		break;
	case PERF_RECORD_LOST:
		on_lost(p, s, r->time_ns, false);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		on_lost(p, s, r->time_ns, true);
		break;
	case PERF_RECORD_THROTTLE:
		trace_write_lost(p->im->w, &(struct rec_lost){ .time_ns = r->time_ns, .cause = LOST_THROTTLED,
				 .count = 1 });
		break;
	case PERF_RECORD_SAMPLE:
		on_sample(p, &h, s, r->time_ns);
		break;
	}
}

/* ---- events ---- */

static struct import_text event_name(const struct perf_event *ev)
{
	static const char *const hardware[] = {
		"cycles", "instructions", "cache-references", "cache-misses", "branches", "branch-misses",
		"bus-cycles", "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles",
	}, *const software[] = {
		"cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations", "minor-faults",
		"major-faults", "alignment-faults", "emulation-faults", "dummy", "bpf-output", "cgroup-switches",
	};
	const char *name = "unknown event";

	if (ev->name.len)
		return ev->name;
	if (ev->type == PERF_TYPE_HARDWARE && ev->config < ARRAY_SIZE(hardware))
		name = hardware[ev->config];
	else if (ev->type == PERF_TYPE_SOFTWARE && ev->config < ARRAY_SIZE(software))
		name = software[ev->config];
	else if (ev->type == PERF_TYPE_TRACEPOINT)
		name = "tracepoint";
	return (struct import_text){ name, strlen(name) };
}

/* Name the events that sampled something; perf opens more for its own use. */
static void perf_name_events(struct perf *p)
{
	bool branches = false;
	size_t i;

	for (i = 0; i < p->file.nr_events; i++) {
		struct perf_event *ev = &p->file.events[i];
		bool clock = ev->type == PERF_TYPE_SOFTWARE && ev->config <= PERF_COUNT_SW_TASK_CLOCK;
		bool weighed = !ev->freq || ev->format.sample_type & PERF_SAMPLE_PERIOD;

		if (!ev->nr_samples)
			continue;
		ev->number = import_event(p->im, event_name(ev),
					  !weighed ? "samples" : clock ? "ns" : "events");
		p->has_thread |= !!(ev->format.sample_type & PERF_SAMPLE_TID);
		branches |= ev->format.sample_type & PERF_SAMPLE_BRANCH_STACK &&
			    ev->format.branch_type & 1 << 11;
	}
	if (branches)
		import_note(p->im, "call stacks that the CPU recorded (--call-graph lbr) are not read");
}

/* ---- this machine ---- */

static bool is_text(const struct import_text *t, const char *s)
{
	return t->len == strlen(s) && !memcmp(t->s, s, t->len);
}

/* Return whether the samples are of this machine since it was booted. */
static bool is_here(const struct perf *p)
{
	struct utsname u;

	uname(&u);
	return is_text(&p->file.host, u.nodename) && is_text(&p->file.release, u.release) &&
	       p->last_ns <= clock_mono_ns();
}

/* Return whether the trace's kernel runs here: at each boot it moves, and the symbol with it. */
static bool is_this_kernel(const struct perf *p)
{
	const struct ksym *s;
	struct kallsyms *k;
	bool same;
	struct err e;

	if (!p->kernel || !p->kernel_at || !is_here(p) || kallsyms_open(&k, NULL, &e))
		return false;
	s = kallsyms_find(k, p->kernel_at);
	same = s && s->addr == p->kernel_at;
	kallsyms_close(k);
	return same;
}

static void write_perf_map(struct perf *p, const struct perf_proc *proc)
{
	struct jitfiles *j = jitfiles_new(proc->pid, FOREIGN_ANYBODY, p->first_ns);

	jitfiles_read(j, proc->number, p->im->w, SIZE_MAX);
	jitfiles_free(j);
}

static void write_perf_maps(struct perf *p)
{
	bool here = is_here(p);
	size_t i;

	for (i = 0; i < p->nr_procs && here; i++)
		if (p->procs[i].has_anon_hits)
			write_perf_map(p, &p->procs[i]);
}

/* ---- the whole ---- */

static void write_labels(struct perf *p)
{
	const struct perf_file *f = &p->file;
	struct trace_writer *w = p->im->w;

	if (f->command.len)
		trace_write_label(w, "command", "%s", f->command.data);
	if (f->host.len)
		trace_write_label(w, "host", "%.*s", (int)MIN(f->host.len, (size_t)255), f->host.s);
	if (f->release.len)
		trace_write_label(w, "kernel", "Linux %.*s", (int)MIN(f->release.len, (size_t)255),
				  f->release.s);
	if (f->arch.len)
		trace_write_label(w, "arch", "%.*s", (int)MIN(f->arch.len, (size_t)255), f->arch.s);
	if (f->nr_cpus)
		trace_write_label(w, "cpus", "%u", f->nr_cpus);
	if (!p->has_thread)
		p->im->unknown |= IMPORT_NO_PROCESSES | IMPORT_NO_THREADS;
	if (!p->last_ns) {
		p->im->unknown |= IMPORT_NO_TIMES;
		return;
	}
	trace_write_label(w, "start.mono_ns", "%llu", (unsigned long long)p->first_ns);
	trace_write_label(w, "end.mono_ns", "%llu", (unsigned long long)p->last_ns);
	if (f->wall_ns && f->wall_ns > f->wall_at_ns)
		import_start(p->im, f->wall_ns - f->wall_at_ns + p->first_ns);
}

static void write_notes(struct perf *p, bool kernel)
{
	if (p->kernel && !kernel)
		import_note(p->im, "the kernel's functions have no names: the profile is not of the kernel that runs here, or its symbols are hidden");
	if (p->nr_not_unwound)
		import_note(p->im, "%llu copies of stacks are of another kind of CPU, and not unwound",
			    (unsigned long long)p->nr_not_unwound);
	if (p->nr_bad)
		import_note(p->im, "%llu samples are damaged, and left out", (unsigned long long)p->nr_bad);
	if (p->file.truncated)
		import_note(p->im, "the file is truncated: what follows its last whole record is missing");
}

static void perf_release(struct perf *p)
{
	size_t i;

	for (i = 0; i < p->nr_procs; i++)
		maps_release(&p->procs[i].maps);
	free(p->procs);
	free(p->threads);
	free(p->frames);
	free(p->unwound);
	map_release(&p->proc_of);
	map_release(&p->thread_of);
	import_modules_release(&p->modules);
	perf_file_release(&p->file);
}

static int perf_read(struct import *im, const char *data, size_t len, struct err *e)
{
	struct perf p = { .im = im };
	struct utsname u;
	bool kernel;
	size_t i;
	int r = perf_file_read(&p.file, data, len, e);

	if (!r) {
		uname(&u);
		p.can_unwind = !p.file.arch.len || is_text(&p.file.arch, u.machine);
		p.frames = xcalloc(2 * MAX_FRAMES + 2, sizeof(*p.frames));
		p.unwound = xcalloc(MAX_FRAMES, sizeof(*p.unwound));
		perf_name_events(&p);
		for (i = 0; i < p.file.nr_records; i++)
			on_record(&p, &p.file.records[i]);
		write_labels(&p);
		kernel = is_this_kernel(&p);
		import_modules_names(&p.modules, im, kernel);
		write_perf_maps(&p);
		write_notes(&p, kernel);
	}
	perf_release(&p);
	return r;
}

static bool perf_is(const char *data, size_t len)
{
	return len >= 8 && !memcmp(data, "PERFILE2", 8);
}

const struct import_format import_perf = {
	.name = "perf.data",
	.what = "a perf.data file",
	.is = perf_is,
	.read = perf_read,
};
