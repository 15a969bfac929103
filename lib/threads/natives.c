// SPDX-License-Identifier: GPL-2.0-or-later
/* natives.c - looks at each thread in /proc, and walks its stack if it waits; pictures of all threads. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "arch/cpu.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"
#include "collect/engine/modules.h"
#include "collect/engine/tasks.h"
#include "collect/wall/wallstack.h"
#include "jvm/target.h"
#include "sym/demangle.h"
#include "sym/maps.h"
#include "sym/symfile.h"
#include "threads/natives.h"
#include "unwind/unwind.h"
#include "wall/switches.h"

enum { MAX_TRIES = 20, MAX_LOOK_FRAMES = 512, MAX_LEVELS = 32, PAUSE_NS = 500000, STACK_BYTES = 256 << 10 };

struct file {
	char *path;
	uint64_t dev, inode;
	struct symfile *sym;		/* NULL: it cannot be read */
	struct unwind_module *unwind;
};

struct look {
	int pid;
	struct natives *n;
	struct maps maps;		/* module: index of files, plus one */
	struct file *files;
	size_t nr_files, alloc_files;
	struct unwind_frame unwound[MAX_LOOK_FRAMES];
	uint8_t stack[STACK_BYTES];
};

/* ---- the code that is mapped ---- */

static uint32_t natives_file_of(struct look *k, const struct module_id *id)
{
	struct file *f;
	size_t i;

	for (i = 0; i < k->nr_files; i++)
		if (k->files[i].inode == id->inode && k->files[i].dev == id->dev &&
		    !strcmp(k->files[i].path, id->path))
			return i + 1;
	f = VEC_ADD(k->files, k->nr_files, k->alloc_files);
	*f = (struct file){ .path = xstrdup(id->path), .dev = id->dev, .inode = id->inode };
	f->sym = modules_open_file(id);
	if (f->sym)
		f->unwind = unwind_module_new(f->sym);
	return k->nr_files;
}

static void read_maps(struct look *k)
{
	struct buf text = BUF_INIT;
	char path[64], *line, *save;
	uint64_t pgoff;

	snprintf(path, sizeof(path), "/proc/%d/maps", k->pid);
	if (!io_slurp(path, &text) && text.data)
		for (line = strtok_r(text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
			struct module_id id = { .pid = k->pid };

			if (!tasks_map_line(line, &id, &pgoff))
				continue;
			maps_add(&k->maps, id.start, id.end, pgoff,
				 modules_has_file(&id) ? natives_file_of(k, &id) : 0);
		}
	buf_release(&text);
}

static bool natives_find_module(void *ctx, uint64_t addr, uint32_t *module, uint64_t *off,
				struct unwind_module **mod)
{
	struct look *k = ctx;

	*mod = NULL;
	if (!maps_module(&k->maps, addr, module, off))
		return false;
	*mod = k->files[*module - 1].unwind;
	return true;
}

/* ---- frames ---- */

static const char *natives_keep(struct look *k, const char *s)
{
	return s ? arena_strndup(&k->n->text, s, strlen(s)) : NULL;
}

static const char *natives_readable(struct look *k, const char *name)
{
	struct buf b = BUF_INIT;
	const char *s;

	if (!name)
		return NULL;
	demangle(name, &b);
	s = natives_keep(k, b.data);
	buf_release(&b);
	return s;
}

static const char *natives_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void natives_add_frame(struct look *k, struct native_frame f)
{
	*VEC_ADD(k->n->frames, k->n->nr_frames, k->n->alloc_frames) = f;
}

/* Add frames; inlined functions have frames of their own. */
static void natives_add_frames(struct look *k, const struct unwind_frame *u)
{
	struct native_frame f = { .addr = u->pc };
	struct srcline lines[MAX_LEVELS];
	struct symbol symbol;
	size_t i, nr = 0;
	struct file *file;

	if (!u->module)
		return natives_add_frame(k, f);
	file = &k->files[u->module - 1];
	f.module = natives_keep(k, natives_base_name(file->path));
	if (file->sym && symfile_symbol(file->sym, u->off, &symbol)) {
		f.function = natives_readable(k, symbol.name);
		nr = symfile_lines(file->sym, u->off, lines, MAX_LEVELS);
	}
	for (i = 0; i < nr; i++) {
		struct native_frame level = f;

		if (i + 1 < nr && lines[i].func)
			level.function = natives_readable(k, lines[i].func);
		level.file = lines[i].file ? natives_keep(k, natives_base_name(lines[i].file)) : NULL;
		level.line = lines[i].line;
		natives_add_frame(k, level);
	}
	if (!nr)
		natives_add_frame(k, f);
}

static size_t natives_read_stack(struct look *k, uint64_t sp)
{
	struct iovec local = { k->stack, sizeof(k->stack) };
	struct iovec remote = { (void *)(uintptr_t)sp, sizeof(k->stack) };
	ssize_t r = process_vm_readv(k->pid, &local, 1, &remote, 1, 0);

	return r > 0 ? r : 0;
}

static void natives_walk(struct look *k, struct native_thread *t, const struct wall_slot *s, size_t len)
{
	struct unwind_regs regs = { .pc = s->regs.pc, .sp = s->regs.sp };
	struct unwind_space space = { .find = natives_find_module, .ctx = k };
	struct unwind_stack stack = { s->regs.sp, k->stack, len };
	enum frame_mark end = MARK_NONE;
	size_t nr, i;

	regs.r[cpu_host->pc] = regs.pc;
	regs.r[cpu_host->sp] = regs.sp;
	regs.valid = 1ull << cpu_host->pc | 1ull << cpu_host->sp;
	nr = unwind_walk(&space, &regs, &stack, k->unwound, MAX_LOOK_FRAMES, &end);
	t->first_frame = k->n->nr_frames;
	for (i = 0; i < nr; i++)
		natives_add_frames(k, &k->unwound[i]);
	t->nr_frames = k->n->nr_frames - t->first_frame;
	t->end = end == MARK_NONE ? NATIVE_COMPLETE : NATIVE_CUT;
}

/* ---- threads ---- */

/*
 * Read the CPU time of a thread, and how often it got a CPU; if both stay the same, it has not run. Returns
 * false if it has ended.
 */
static bool read_runs(int pid, int tid, uint64_t *cpu_ns, uint64_t *times)
{
	struct buf text = BUF_INIT;
	char path[64];
	bool ok;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", pid, tid);
	ok = !io_slurp(path, &text) && text.data &&
	     sscanf(text.data, "%" SCNu64 " %*u %" SCNu64, cpu_ns, times) == 2;
	buf_release(&text);
	return ok;
}

/* Return the state, after the name, which may be anything. */
static char read_state(int pid, int tid)
{
	struct buf text = BUF_INIT;
	char path[64], state = '\0', *end;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	if (!io_slurp(path, &text) && text.data && (end = strrchr(text.data, ')')) && end[1] == ' ')
		state = end[2];
	buf_release(&text);
	return state;
}

static void name_wait(struct look *k, struct native_thread *t, const struct wall_slot *s)
{
	struct waitfile *file = xcalloc(1, sizeof(*file));
	struct buf reason = BUF_INIT;

	wallstack_reason(s, &reason, file);
	t->reason = natives_keep(k, reason.data);
	t->file = *file->name ? natives_keep(k, file->name) : NULL;
	buf_release(&reason);
	free(file);
}

/* Look at a thread; return false if it ran meanwhile. */
static bool look_once(struct look *k, struct native_thread *t)
{
	struct wall_slot s = { .pid = k->pid, .tid = t->tid };
	uint64_t before = 0, after = 0;
	size_t len;
	int r;

	read_runs(k->pid, t->tid, &t->cpu_ns, &before);
	t->state = read_state(k->pid, t->tid);
	r = wall_ask_kernel(&s);
	if (r == -EACCES) {
		t->end = NATIVE_DENIED;
		return true;
	}
	if (!r && !s.regs.sp) {
		t->end = NATIVE_NO_CODE;
		return true;
	}
	if (r)
		return false;
	len = natives_read_stack(k, s.regs.sp);
	if (!read_runs(k->pid, t->tid, &t->cpu_ns, &after) || after != before || !len)
		return false;
	name_wait(k, t, &s);
	natives_walk(k, t, &s, len);
	return true;
}

/* Look at a thread; if it runs, it will perhaps wait soon. */
static void natives_look_at(struct look *k, struct native_thread *t)
{
	int tries;

	t->end = NATIVE_RUNS;
	for (tries = 0; tries < MAX_TRIES && !look_once(k, t); tries++)
		clock_sleep_ns(PAUSE_NS);
	if (t->state == 'Z' || t->state == 'X')
		t->end = NATIVE_NO_CODE;
}

static const char *natives_name_of(struct look *k, int tid)
{
	struct buf text = BUF_INIT;
	const char *name;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", k->pid, tid);
	if (io_slurp(path, &text) || !text.len)
		name = NULL;
	else
		name = arena_strndup(&k->n->text, text.data, text.len - (text.data[text.len - 1] == '\n'));
	buf_release(&text);
	return name;
}

static void look_at_thread(struct look *k, int tid)
{
	struct native_thread t = { .tid = tid, .name = natives_name_of(k, tid) };

	if (t.name)
		natives_look_at(k, &t);
	if (!t.name || !t.state) {
		k->n->nr_ended++;
		return;
	}
	*VEC_ADD(k->n->threads, k->n->nr_threads, k->n->alloc_threads) = t;
}

static int by_number(const void *p, const void *q)
{
	const struct native_thread *a = p, *b = q;

	return COMPARE(a->tid, b->tid);
}

int natives_look(int pid, const struct map *known, struct natives *n, struct err *e)
{
	DIR *dir = io_open_threads(pid);
	struct look *k;
	size_t i;
	int tid;

	if (!dir)
		return err_set(e, ESRCH, "no process %d", pid);
	k = xcalloc(1, sizeof(*k));
	k->pid = pid;
	k->n = n;
	n->command = natives_name_of(k, pid);
	read_maps(k);
	while ((tid = io_next_number(dir)))
		if (!known || map_get(known, (uint64_t)tid) == MAP_NONE)
			look_at_thread(k, tid);
	closedir(dir);
	if (n->nr_threads)
		qsort(n->threads, n->nr_threads, sizeof(*n->threads), by_number);
	for (i = 0; i < k->nr_files; i++) {
		if (k->files[i].unwind)
			unwind_module_free(k->files[i].unwind);
		if (k->files[i].sym)
			symfile_close(k->files[i].sym);
		free(k->files[i].path);
	}
	free(k->files);
	maps_release(&k->maps);
	free(k);
	return 0;
}

void natives_release(struct natives *n)
{
	free(n->threads);
	free(n->frames);
	arena_release(&n->text);
	*n = (struct natives)NATIVES_INIT;
}

const char *natives_state(char state)
{
	switch (state) {
	case 'R':
		return "running";
	case 'S':
	case 'I':
		return "waiting";
	case 'D':
		return "waiting, not to be interrupted";
	case 'T':
	case 't':
		return "stopped";
	case 'Z':
	case 'X':
		return "ended";
	default:
		return "unknown";
	}
}

/* Whoever runs no Java, of a JVM: the collector's threads, the compilers', and others that are native. */
static int look_at_natives(struct picture *p, struct err *e)
{
	struct map known = MAP_INIT;
	size_t i;
	int r;

	for (i = 0; i < p->java.nr_threads; i++)
		if (p->java.threads[i].tid)
			*map_put(&known, (uint64_t)p->java.threads[i].tid) = 1;
	r = natives_look(p->pid, &known, &p->natives, e);
	map_release(&known);
	return r;
}

int picture_take(struct picture *p, int pid, struct err *e)
{
	int r = 0;

	*p = (struct picture){
		.pid = pid, .jvm = target_is_jvm(pid), .java = THREADS_INIT, .natives = NATIVES_INIT,
	};
	if (p->jvm)
		r = threads_look(pid, &p->java, e);
	return r ? r : look_at_natives(p, e);
}

void picture_release(struct picture *p)
{
	threads_release(&p->java);
	natives_release(&p->natives);
}
