// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * agent-probe.c - runs a command with the JVM agent and sampling traps, and prints what came
 * out: how many samples, which marks, which names were missing. For tests of the agent alone.
 *
 *	agent-probe [-c period_ns] [-s max_stack] [-d depth] [-m marks] [-q] command...
 *	-m n: print the frames of n marked samples; -t n: of the first n samples of any kind
 *	-w ms: look at threads that wait at that interval, and print for what they waited (as root)
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "jvm/server.h"
#include "trace/frame.h"
#include "wall/wall.h"

enum { RING_PAGES = 256 };

struct names {
	char **names;
	size_t nr_names, alloc_names;
};

struct ring {
	struct perf_event_mmap_page *page;
};

/* What a thread waited for, in one method. */
struct wait {
	uint32_t tid, reason, leaf;
	uint64_t vthread;
	char *frame;
	uint64_t n, marked, ns;
};

/* A block whose end is awaited, by slot. */
struct pending {
	uint32_t block_nr;
	size_t wait;
	uint64_t since_ns, interval_ns;
};

struct range {
	uint64_t lo, hi;
	char *name;
};

/* By compile id: what its code record said, and where samples saw it. */
struct compiled {
	uint64_t lo, hi;
	uint64_t min_pc, max_pc;
	uint32_t code_method, stack_method;
};

static struct {
	int pid;
	uint64_t period, samples, late, lost, frames, java, segments, seg_bytes, truncated, to_root;
	uint64_t marks[MARK_NR], empty, native_only, kinds[8];
	uint64_t methods, codes, codes_named, inl_bytes, stubs, threads, gone;
	uint64_t compiled_frames, no_code, no_name, no_code_method, ring_samples, ring_lost, interp_frames;
	uint64_t traps, trap_ns, trap_log2[32];
	long print_marks, print_first;
	bool check_ground;
	uint64_t ground, ground_bad;
	uint32_t max_stack;
	const char *find;
	uint64_t found, rooted;
	struct names methods_by_id;
	struct compiled *compiled;
	size_t nr_compiled, alloc_compiled;
	struct ring rings[4096];
	size_t nr_rings;
	struct range *ranges;
	size_t nr_ranges, alloc_ranges;
	uint64_t first_ns, last_ns;
	uint64_t wall_ns;
	struct wall *wall;
	struct wait *waits;
	size_t nr_waits, alloc_waits;
	struct pending *pending;
	struct names leaves, thread_names;	/* by leaf and by tid */
} p = { .period = 1000000, .max_stack = 16384 };

static const char *method_name(uint32_t id)
{
	return id < p.methods_by_id.nr_names && p.methods_by_id.names[id] ? p.methods_by_id.names[id] : "?";
}

static const char *stub_name(uint64_t pc)
{
	const char *best = "?";
	uint64_t size = UINT64_MAX;
	size_t i;

	for (i = 0; i < p.nr_ranges; i++)
		if (pc >= p.ranges[i].lo && pc < p.ranges[i].hi && p.ranges[i].hi - p.ranges[i].lo < size) {
			best = p.ranges[i].name;
			size = p.ranges[i].hi - p.ranges[i].lo;
		}
	return best;
}

/* Code around an address of the running JVM, for a disassembler. */
static void print_code(uint64_t pc)
{
	uint8_t code[48];
	char path[64];
	size_t i;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", p.pid);
	fd = open(path, O_RDONLY);
	if (fd >= 0 && pread(fd, code, sizeof(code), pc - 16) == sizeof(code)) {
		printf("  code");
		for (i = 0; i < sizeof(code); i++)
			printf("%s%02x", i == 16 ? " | " : " ", code[i]);
		printf("\n");
	}
	if (fd >= 0)
		close(fd);
}

/* Registers and words on the stack; those in the code cache by name. */
static void print_stack(const struct jvm_segment *g)
{
	uint64_t w;
	size_t i;

	printf("       rbx %" PRIx64 " r12 %" PRIx64 " r13 %" PRIx64 " r14 %" PRIx64 " r15 %" PRIx64 "\n",
	       g->rbx,
	       g->r12, g->r13, g->r14, g->r15);
	for (i = 0; i + 8 <= g->len; i += 8) {
		memcpy(&w, g->stack + i, 8);
		printf("       %03zx %" PRIx64 " %s\n", i, w, w > 4096 ? stub_name(w) : "");
	}
}

static void print_sample(const struct jvm_sample *s)
{
	size_t i;

	printf("sample tid %u event %u%s\n", s->tid, s->event, s->late ? " late" : "");
	for (i = 0; i < s->nr_frames; i++) {
		const struct jvm_frame *f = &s->frames[i];
		const struct jvm_segment *g;

		if (i > 12 && i + 6 < s->nr_frames) {
			if (i == 13)
				printf("  ...\n");
			continue;
		}
		switch (f->kind) {
		case JVM_COMPILED:
			printf("  jit  %" PRIx64 " #%u %s\n", f->pc, f->compile_id, method_name(f->method));
			break;
		case JVM_INTERPRETED:
			printf("  int  %s @%u %" PRIx64 " %s\n", method_name(f->method), f->bci, f->pc,
			       i ? "" : stub_name(f->pc));
			break;
		case JVM_STUB:
			printf("  stub %" PRIx64 " %s\n", f->pc, stub_name(f->pc));
			break;
		case JVM_NATIVE:
			g = &s->segments[f->segment];
			printf("  nat  pc %" PRIx64 " sp %" PRIx64 " fp %" PRIx64 " len %zu%s%s\n", g->pc,
			       g->sp,
			       g->fp, g->len, g->exact ? " exact" : "", g->to_root ? " root" : "");
			if (i && s->frames[i - 1].kind == JVM_MARK)
				print_stack(g);
			break;
		case JVM_MARK:
			if (s->frames[0].kind != JVM_NATIVE)
				print_code(s->frames[0].pc);
			if (i > 1 && s->frames[i - 1].kind != JVM_NATIVE)
				print_code(s->frames[i - 1].pc + 1);
			printf("  MARK %u line %u\n", f->mark, f->line);
		}
	}
}

static struct compiled *compiled(uint32_t id)
{
	static struct compiled none;

	if (id > 10000000)
		return &none;
	while (p.nr_compiled <= id) {
		VEC_GROW(p.compiled, p.nr_compiled, p.alloc_compiled);
		p.compiled[p.nr_compiled++] = (struct compiled){ 0 };
	}
	return &p.compiled[id];
}

static void count_frame(const struct jvm_sample *s, const struct jvm_frame *f)
{
	struct compiled *c;

	p.kinds[f->kind]++;
	if (f->kind == JVM_COMPILED) {
		p.compiled_frames++;
		c = compiled(f->compile_id);
		c->min_pc = c->min_pc ? MIN(c->min_pc, f->pc) : f->pc;
		c->max_pc = MAX(c->max_pc, f->pc);
		c->stack_method = f->method;
	}
	if (f->kind == JVM_COMPILED || f->kind == JVM_INTERPRETED)
		p.java++;
	if (f->kind == JVM_MARK)
		p.marks[f->mark]++;
}

static void find_in(const struct jvm_sample *s)
{
	size_t i;

	for (i = 0; p.find && i < s->nr_frames; i++)
		if ((s->frames[i].kind == JVM_COMPILED || s->frames[i].kind == JVM_INTERPRETED) &&
		    strstr(method_name(s->frames[i].method), p.find)) {
			p.found++;
			return;
		}
}

/*
 * Ground.java: f0 to f9 call each other in a row, only f9 calls anything else. Methods are
 * named after the run, so names may come late: such samples are skipped.
 */
static bool ground_violated(const struct jvm_sample *s)
{
	int expect = -1;
	bool others = false;
	size_t i;

	for (i = 0; i < s->nr_frames; i++) {
		const struct jvm_frame *f = &s->frames[i];
		const char *name;
		int nr;

		if (f->kind != JVM_COMPILED && f->kind != JVM_INTERPRETED) {
			if (expect >= 0 && f->kind != JVM_MARK)
				return true;
			continue;
		}
		name = method_name(f->method);
		if (!strncmp(name, "Ground.main", 11))
			return expect > 0;
		if (sscanf(name, "Ground.f%d(", &nr) != 1) {
			if (expect >= 0)
				return true;
			others = true;
			continue;
		}
		p.ground++;
		if (expect < 0 ? others && nr != 9 : nr != expect)
			return true;
		expect = nr - 1;
		if (!nr)
			expect = 0;
	}
	return expect >= 0;
}

/* --- threads that wait --- */

static void put_name(struct names *n, size_t i, const char *name)
{
	while (n->nr_names <= i && i < 10000000) {
		VEC_GROW(n->names, n->nr_names, n->alloc_names);
		n->names[n->nr_names++] = NULL;
	}
	if (i < n->nr_names) {
		free(n->names[i]);
		n->names[i] = xstrdup(name);
	}
}

static const char *name_at(const struct names *n, size_t i)
{
	return i < n->nr_names && n->names[i] ? n->names[i] : "?";
}

static const char *java_frame(const struct jvm_sample *s)
{
	size_t i;

	for (i = 0; i < s->nr_frames; i++)
		if (s->frames[i].kind == JVM_COMPILED || s->frames[i].kind == JVM_INTERPRETED)
			return method_name(s->frames[i].method);
	return "(native)";
}

static size_t find_wait(const struct jvm_sample *s)
{
	const char *frame = java_frame(s);
	size_t i;

	for (i = 0; i < p.nr_waits; i++) {
		const struct wait *w = &p.waits[i];

		if (w->tid == s->tid && w->reason == s->wall->reason && w->leaf == s->wall->leaf &&
		    w->vthread == s->vthread && !strcmp(w->frame, frame))
			return i;
	}
	VEC_GROW(p.waits, p.nr_waits, p.alloc_waits);
	p.waits[p.nr_waits++] = (struct wait){
		.tid = s->tid, .reason = s->wall->reason, .leaf = s->wall->leaf, .vthread = s->vthread,
		.frame = xstrdup(frame),
	};
	return i;
}

/*
 * The block has ended, or goes on: so long it was. One that began and ended between two of our looks was
 * short.
 */
static void end_wait(uint32_t slot, uint64_t now)
{
	struct pending *w = &p.pending[slot];
	const struct wall_slot *s = wall_slot_at(p.wall, slot);
	const struct wall_done *done;
	uint64_t ns;

	if (!w->block_nr || (s->block_nr == w->block_nr && !now))
		return;
	done = wall_done_of(s, w->block_nr);
	ns = s->block_nr == w->block_nr ? now - w->since_ns : done ? done->ns : 0;
	p.waits[w->wait].ns += MAX(ns, w->interval_ns);
	w->block_nr = 0;
}

static void on_wait(const struct jvm_sample *s, bool marked)
{
	struct pending *w = &p.pending[s->wall->slot];

	end_wait(s->wall->slot, 0);
	*w = (struct pending){ s->wall->block_nr, find_wait(s), s->wall->since_ns, s->wall->interval_ns };
	p.waits[w->wait].n++;
	p.waits[w->wait].marked += marked;
}

static void look_at_waits(uint64_t now)
{
	uint32_t i;

	for (i = 1; i < wall_nr_used(p.wall); i++)
		end_wait(i, now);
}

static void report_waits(void)
{
	static const char *const reasons[WALL_NR_REASONS] = {
		"unknown", "monitor", "park", "wait", "sleep", "safepoint", "gc", "io", "lock", "fault", "stopped",
		"other",
	};
	uint64_t nr = 0;
	uint32_t slot;
	size_t i;

	for (i = 0; i < p.nr_waits; i++)
		nr += p.waits[i].n;
	for (slot = 1; slot < wall_nr_used(p.wall); slot++) {
		const struct wall_slot *s = wall_slot_at(p.wall, slot);

		if (s->cpu_ns && !strcmp(name_at(&p.thread_names, s->tid), "arcprof"))
			fprintf(stderr, "probe: looks took %.2f ms of CPU in %.2f s, %" PRIu64 " waits of %.2f us\n",
				s->cpu_ns / 1e6, (clock_mono_ns() - s->born_ns) / 1e9, nr,
				s->cpu_ns / 1e3 / MAX(1, nr));
	}
	for (i = 0; i < p.nr_waits; i++) {
		const struct wait *w = &p.waits[i];

		printf("WAIT\t%s\t%" PRIu64 "\t%s\t%s\t%s\t%.1f\t%" PRIu64 "\t%" PRIu64 "\n",
		       name_at(&p.thread_names, w->tid), w->vthread, reasons[w->reason],
		       w->leaf ? name_at(&p.leaves, w->leaf) : "-", w->frame, w->ns / 1e6, w->n, w->marked);
	}
}

static void on_leaf(void *ctx, struct jvm *j, const struct jvm_leaf *l)
{
	put_name(&p.leaves, l->leaf, l->name);
}

static void on_sample(void *ctx, struct jvm *j, const struct jvm_sample *s)
{
	uint64_t java = p.java;
	bool marked = false;
	size_t i;

	p.samples++;
	p.late += s->late;
	p.frames += s->nr_frames;
	p.segments += s->nr_segments;
	if (!p.first_ns)
		p.first_ns = s->time_ns;
	p.last_ns = s->time_ns;
	for (i = 0; i < s->nr_frames; i++) {
		count_frame(s, &s->frames[i]);
		marked |= s->frames[i].kind == JVM_MARK;
		if (s->frames[i].kind == JVM_COMPILED || s->frames[i].kind == JVM_INTERPRETED)
			p.no_name += !s->frames[i].method;
	}
	for (i = 0; i < s->nr_segments; i++) {
		p.seg_bytes += s->segments[i].len;
		p.truncated += s->segments[i].len == p.max_stack;
		p.to_root += s->segments[i].to_root;
	}
	find_in(s);
	if (s->wall && p.wall)
		on_wait(s, marked);
	if (p.check_ground && !marked && ground_violated(s) && p.ground_bad++ < 30) {
		printf("GROUND\n");
		print_sample(s);
	}
	p.empty += !s->nr_frames;
	p.native_only += p.java == java;
	if ((marked && p.print_marks-- > 0) || p.print_first-- > 0)
		print_sample(s);
}

static void on_method(void *ctx, struct jvm *j, const struct jvm_method *m)
{
	uint32_t id = m->method;

	p.methods++;
	while (p.methods_by_id.nr_names <= id && id < 10000000) {
		VEC_GROW(p.methods_by_id.names, p.methods_by_id.nr_names, p.methods_by_id.alloc_names);
		p.methods_by_id.names[p.methods_by_id.nr_names++] = NULL;
	}
	if (id < p.methods_by_id.nr_names) {
		free(p.methods_by_id.names[id]);
		p.methods_by_id.names[id] = xasprintf("%s.%s%s (%s)", m->class_name, m->name, m->sig,
						      m->source);
	}
}

static void on_code(void *ctx, struct jvm *j, const struct jvm_code *c)
{
	p.codes++;
	p.inl_bytes += c->inl_len;
	p.no_code_method += !c->method;
	compiled(c->compile_id)->lo = c->addr;
	compiled(c->compile_id)->hi = c->addr + c->size;
	compiled(c->compile_id)->code_method = c->method;
	if (p.print_marks > 0 || p.print_first > 0) {
		VEC_GROW(p.ranges, p.nr_ranges, p.alloc_ranges);
		p.ranges[p.nr_ranges++] = (struct range){ c->addr, c->addr + c->size,
							  xasprintf("#%u %s", c->compile_id,
								    method_name(c->method)) };
	}
}

static void on_code_gone(void *ctx, struct jvm *j, const struct jvm_code_gone *gone)
{
	p.gone++;
}

static void on_stub(void *ctx, struct jvm *j, const struct jvm_stub *s)
{
	p.stubs++;
	VEC_GROW(p.ranges, p.nr_ranges, p.alloc_ranges);
	p.ranges[p.nr_ranges++] = (struct range){ s->addr, s->addr + s->size, xstrdup(s->name) };
}

static void on_thread(void *ctx, struct jvm *j, const struct jvm_thread *t)
{
	p.threads++;
	put_name(&p.thread_names, t->thread, t->name);
	if (getenv("PROBE_THREADS"))
		printf("thread %u \"%s\"\n", t->thread, t->name);
}

static void on_lost(void *ctx, struct jvm *j, uint64_t nr)
{
	p.lost += nr;
}

static void on_gone(void *ctx, struct jvm *j)
{
	struct jvm_trap_cost c;
	size_t i;

	jvm_trap_cost(j, &c);
	p.traps += c.nr;
	p.trap_ns += c.ns;
	for (i = 0; i < ARRAY_SIZE(c.log2); i++)
		p.trap_log2[i] += c.log2[i];
}

static void on_broken(void *ctx, struct jvm *j, const struct err *e)
{
	fprintf(stderr, "probe: %s\n", e->msg);
}

static bool open_event(int tid, int cpu)
{
	struct perf_event_attr a = {
		.size = sizeof(a), .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = p.period, .use_clockid = 1, .clockid = CLOCK_MONOTONIC,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN,
		.exclude_callchain_user = 1, .inherit = 1, .inherit_thread = 1, .remove_on_exec = 1,
		.sigtrap = 1, .sig_data = 7,
	};
	int fd = syscall(SYS_perf_event_open, &a, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	void *m;

	if (fd < 0) {
		fprintf(stderr, "perf_event_open: %s\n", strerror(errno));
		return false;
	}
	m = mmap(NULL, (RING_PAGES + 1) * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (m == MAP_FAILED || p.nr_rings == ARRAY_SIZE(p.rings))
		return false;
	p.rings[p.nr_rings++].page = m;
	return true;
}

static bool on_hello(void *ctx, struct jvm *j, int pid, int tid)
{
	long cpu, ncpu = sysconf(_SC_NPROCESSORS_ONLN);
	char path[64];
	struct dirent *d;
	DIR *dir;

	p.pid = pid;
	if (getenv("PROBE_NAMES"))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (d = readdir(dir))) {
		int t = atoi(d->d_name);

		for (cpu = 0; t && cpu < ncpu; cpu++)
			if (!open_event(t, cpu))
				return false;
	}
	if (dir)
		closedir(dir);
	return true;
}

static void drain_perf(void)
{
	size_t i;

	for (i = 0; i < p.nr_rings; i++) {
		struct perf_event_mmap_page *pg = p.rings[i].page;
		uint64_t head = __atomic_load_n(&pg->data_head, __ATOMIC_ACQUIRE), tail = pg->data_tail;
		const uint8_t *data = (uint8_t *)pg + 4096;

		while (tail < head) {
			const struct perf_event_header *h = (const void *)(data + tail % (RING_PAGES * 4096));

			p.ring_samples += h->type == PERF_RECORD_SAMPLE;
			p.ring_lost += h->type == PERF_RECORD_LOST;
			tail += h->size;
		}
		__atomic_store_n(&pg->data_tail, tail, __ATOMIC_RELEASE);
	}
}

static void report(void)
{
	uint64_t marked = 0, outside = 0, other = 0;
	size_t i;

	for (i = 0; i < p.nr_compiled; i++) {
		const struct compiled *c = &p.compiled[i];

		if (!c->max_pc)
			continue;
		p.no_code += !c->lo;
		outside += c->lo && (c->min_pc < c->lo || c->max_pc >= c->hi);
		other += c->lo && c->code_method != c->stack_method &&
			 strcmp(method_name(c->code_method), method_name(c->stack_method));
	}
	for (i = 0; i < MARK_NR; i++)
		marked += p.marks[i];
	fprintf(stderr, "probe: samples %" PRIu64 " kernel %" PRIu64 " traps %" PRIu64 " lost %" PRIu64
		" late %" PRIu64 " native-only %" PRIu64 " depth %.1f\n", p.samples, p.ring_samples, p.traps,
		p.lost, p.late, p.native_only, p.samples ? (double)p.frames / p.samples : 0);
	fprintf(stderr, "probe: marked %" PRIu64 " = %.3f %% of Java:", marked,
		100.0 * marked / MAX(1, p.samples - p.native_only));
	for (i = 0; i < MARK_NR; i++)
		if (p.marks[i])
			fprintf(stderr, " mark%zu %" PRIu64, i, p.marks[i]);
	fprintf(stderr, "\nprobe: frames jit %" PRIu64 " int %" PRIu64 " stub %" PRIu64 " nat %" PRIu64
		" unnamed %" PRIu64 "; segments %" PRIu64 " of %.0f B, cut %" PRIu64 "\n", p.kinds[1],
		p.kinds[2],
		p.kinds[3], p.kinds[4], p.no_name, p.segments,
		p.segments ? (double)p.seg_bytes / p.segments : 0, p.truncated);
	fprintf(stderr,
		"probe: methods %" PRIu64 " code %" PRIu64 " (no method %" PRIu64
		", inl %.0f B) gone %" PRIu64 " stubs %" PRIu64 " threads %" PRIu64
		" ids on stacks without code %" PRIu64 ", pc outside %" PRIu64 ", other method %" PRIu64 "\n",
		p.methods, p.codes, p.no_code_method, p.codes ? (double)p.inl_bytes / p.codes : 0, p.gone,
		p.stubs, p.threads, p.no_code, outside, other);
	fprintf(stderr, "probe: handler %.0f ns mean;", p.traps ? (double)p.trap_ns / p.traps : 0);
	for (i = 6; i < ARRAY_SIZE(p.trap_log2); i++)
		if (p.trap_log2[i] * 1000 > p.traps)
			fprintf(stderr, " %lu: %.1f %%", 1ul << i, 100.0 * p.trap_log2[i] / p.traps);
	fprintf(stderr, "\n");
	if (p.check_ground)
		fprintf(stderr, "probe: %" PRIu64 " frames of Ground, %" PRIu64 " samples wrong\n", p.ground,
			p.ground_bad);
	if (p.find)
		fprintf(stderr, "probe: with %s %.2f %%\n", p.find, 100.0 * p.found / MAX(1, p.samples));
}

static const struct jvm_callbacks callbacks = {
	.hello = on_hello, .sample = on_sample, .method = on_method, .code = on_code,
	.code_gone = on_code_gone, .stub = on_stub, .thread = on_thread, .lost = on_lost,
	.gone = on_gone, .broken = on_broken, .leaf = on_leaf,
};

static int die(const struct err *e)
{
	fprintf(stderr, "agent-probe: %s\n", e->msg);
	return 125;
}

static int open_wall(struct jvm_server *s, int pid, struct err *e)
{
	const struct wall_opts o = { .pids = &pid, .nr_pids = 1 };
	int r = wall_open(&p.wall, &o, e);
	struct wall_maps m;

	if (r)
		return r;
	wall_maps(p.wall, &m);
	jvm_server_use_wall(s, &(struct jvm_wall_maps){
		m.slots_fd, m.stamps_fd, m.marks_fd, m.nr_slots, p.wall_ns, false, false });
	p.pending = xcalloc(m.nr_slots, sizeof(*p.pending));
	return 0;
}

int main(int argc, char **argv)
{
	struct jvm_server_opts o = { .sample = true, .max_depth = 2048, .ring_bytes = 4 << 20 };
	struct jvm_server *s;
	struct pollfd pfd;
	struct err e;
	int c, status, go[2];
	pid_t pid;

	while ((c = getopt(argc, argv, "+c:s:d:m:t:f:gw:")) > 0) {
		switch (c) {
		case 'c': p.period = strtoull(optarg, NULL, 0); break;
		case 's': p.max_stack = strtoul(optarg, NULL, 0); break;
		case 'd': o.max_depth = strtoul(optarg, NULL, 0); break;
		case 'm': p.print_marks = strtol(optarg, NULL, 0); break;
		case 't': p.print_first = strtol(optarg, NULL, 0); break;
		case 'f': p.find = optarg; break;
		case 'w': p.wall_ns = strtod(optarg, NULL) * 1e6; break;
		case 'g': p.check_ground = true; break;
		default: return 2;
		}
	}
	o.max_stack_bytes = p.max_stack;
	if (jvm_server_open(&s, &o, &callbacks, NULL, &e) || jvm_server_setenv(s, &e))
		return die(&e);
	if (pipe(go))
		return 125;
	pid = fork();
	if (!pid) {
		close(go[1]);
		if (read(go[0], &c, 1))
			_exit(127);
		execvp(argv[optind], argv + optind);
		_exit(127);
	}
	if (p.wall_ns && open_wall(s, pid, &e))
		return die(&e);
	close(go[1]);
	pfd = (struct pollfd){ .fd = jvm_server_fd(s), .events = POLLIN };
	while (waitpid(pid, &status, WNOHANG) != pid) {
		poll(&pfd, 1, 5);
		jvm_server_poll(s);
		jvm_server_drain(s, false);
		drain_perf();
		if (p.wall)
			look_at_waits(0);
	}
	jvm_server_poll(s);
	jvm_server_drain(s, true);
	drain_perf();
	jvm_server_close(s);
	if (p.wall) {
		look_at_waits(clock_mono_ns());
		report_waits();
	}
	wall_close(p.wall);
	report();
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
