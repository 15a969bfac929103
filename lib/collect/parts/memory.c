// SPDX-License-Identifier: GPL-2.0-or-later
/* memory.c - samples of native allocations, and of blocks that were not freed (memory.h). */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "base/clock.h"
#include "base/mem.h"
#include "collect/engine/recording.h"
#include "jvm/jdk.h"
#include "jvm/target.h"

enum { FIRST_PURGE = 4096, NR_BLOCKS = MEMORY_SLOTS + MEMORY_REACH };

/* ---- the blocks of a process ---- */

void memory_release(struct memory_blocks *m)
{
	map_release(&m->by_id);
	keptstacks_release(&m->stacks);
	free(m->items);
	*m = (struct memory_blocks){ 0 };
}

/* Return the sample of a slot of the table, which is untrusted; NULL: we have none. */
static const struct memory_sample *memory_look_up(const struct memory_blocks *m, const struct memory_block *b)
{
	uint64_t addr = load_acquire(&b->addr);
	uint32_t id = load_relaxed(&b->id), i;

	if (!addr || addr == MEMORY_RESERVED || !id)
		return NULL;
	i = map_get(&m->by_id, id);
	return i == MAP_NONE ? NULL : &m->items[i];
}

static const struct memory_block *slot_at(const struct memory_table *t, size_t i)
{
	return i < NR_BLOCKS ? &t->blocks[i] : &t->mappings[i - NR_BLOCKS];
}

void memory_live(const struct memory_blocks *m, const struct memory_table *table,
		 void (*live)(void *ctx, const struct memory_sample *s), void *ctx)
{
	const size_t nr = NR_BLOCKS + MEMORY_MAPPINGS;
	uint8_t *told = xcalloc(m->nr + 1, 1);
	size_t i;

	for (i = 0; i < nr && m->nr; i++) {
		const struct memory_sample *s = memory_look_up(m, slot_at(table, i));

		if (!s || told[s - m->items])
			continue;
		told[s - m->items] = true;
		live(ctx, s);
	}
	free(told);
}

static void memory_add(struct memory_blocks *m, const struct memory_sample *s, const struct frame *frames,
		       size_t nr)
{
	uint32_t *at = map_put(&m->by_id, s->id);

	if (*at == MAP_NONE) {
		*at = m->nr;
		VEC_GROW(m->items, m->nr, m->alloc);
		m->nr++;
	} else {			/* a process that lies, or has had 2^32 samples */
		keptstacks_put(&m->stacks, m->items[*at].stack);
	}
	m->items[*at] = *s;
	m->items[*at].stack = keptstacks_get(&m->stacks, frames, nr);
}

struct purge {
	const struct memory_blocks *from;
	struct memory_blocks to;
};

static void keep_live(void *ctx, const struct memory_sample *s)
{
	struct purge *p = ctx;
	const struct keptstack *stack = keptstacks_at(&p->from->stacks, s->stack);

	memory_add(&p->to, s, stack->frames, stack->nr_frames);
}

void memory_keep(struct memory_blocks *m, const struct memory_sample *s, const struct frame *frames,
		 size_t nr, const struct memory_table *table)
{
	if (table && m->nr >= MAX(m->purge_at, (size_t)FIRST_PURGE)) {
		struct purge p = { .from = m };

		memory_live(m, table, keep_live, &p);
		memory_release(m);
		*m = p.to;
		m->purge_at = m->nr * 2;
	}
	memory_add(m, s, frames, nr);
}

/* ---- a recording ---- */

/* Refuse a running process; pid 0: all processes. */
static int refuse_running(int pid, struct err *e)
{
	if (pid)
		err_set(e, ENOTSUP, "process %d: native-memory of a running process can be recorded of JVMs only", pid);
	else
		err_set(e, ENOTSUP, "native-memory needs a program to start, or JVMs (-p)");
	err_hint(e, "only a JVM loads what sees its allocations; of others they are seen from the start: arcprof record -e native-memory -- program");
	return -ENOTSUP;
}

/* Return the first running target that is not a JVM; 0: none. */
static int find_native(const struct collect *c)
{
	size_t i;

	for (i = 0; i < c->o->nr_pids; i++)
		if (!kill(c->o->pids[i], 0) && !target_is_jvm(c->o->pids[i]))
			return c->o->pids[i];
	return 0;
}

static int refuse_locks(int pid, struct err *e)
{
	err_set(e, ENOTSUP, "process %d: lock of a running process can be recorded of JVMs only", pid);
	err_hint(e, "of others waits are seen from the start: arcprof record -e lock -- program; or their time and stacks, without the lock: -e wall");
	return -ENOTSUP;
}

int memory_check_program(const struct collect *c, struct err *e)
{
	const char *program = c->o->argv ? c->o->argv[0] : NULL;
	int native = find_native(c);

	if (native && sources_is_recorded(c, JVM_SOURCE_LOCK))
		return refuse_locks(native, e);
	if (!sources_is_recorded(c, JVM_SOURCE_MEMORY))
		return 0;
	if (native)
		return refuse_running(native, e);
	if (!program && !c->o->nr_pids)
		return refuse_running(0, e);
	if (!program)
		return 0;
	if (!launcher_is_static(program))
		return 0;
	err_set(e, ENOTSUP, "native-memory of '%s' cannot be recorded: it is linked statically", program);
	err_hint(e, "only the dynamic linker puts another malloc() in the place of the C library's");
	return -ENOTSUP;
}

static void take_program(void *ctx, struct jvm *jvm, int pid)
{
	struct collect *c = ctx;
	struct proc *p;
	struct java *j;

	collect_merge(c, clock_mono_ns());	/* its exec comes first */
	p = tasks_get(&c->tasks, pid, pid, clock_mono_ns())->proc;
	p->memory = true;
	if (collect_attached(c, p))
		refused_source(&c->refused, "native-live", pid, "blocks from before the recording");
	j = java_new_program(jvm, p);
	j->next = c->programs;
	c->programs = j;
	jvm_set_user(jvm, j);
	c->res->nr_programs++;
}

uint32_t memory_function(struct collect *c, uint32_t call)
{
	static const char *const names[MEMORY_NR_CALLS] = {
		[MEMORY_MALLOC] = "malloc",
		[MEMORY_CALLOC] = "calloc",
		[MEMORY_REALLOC] = "realloc",
		[MEMORY_POSIX_MEMALIGN] = "posix_memalign",
		[MEMORY_ALIGNED_ALLOC] = "aligned_alloc",
		[MEMORY_MEMALIGN] = "memalign",
		[MEMORY_VALLOC] = "valloc",
		[MEMORY_MMAP] = "mmap",
		[MEMORY_MREMAP] = "mremap",
	};
	uint32_t *f = &c->memory_functions[MIN(call, MEMORY_NR_CALLS - 1u)];

	if (!*f)
		*f = sources_new_reason(c, names[MIN(call, MEMORY_NR_CALLS - 1u)]);
	return *f;
}

/* Return the number of frames without the innermost ones of our own library. */
size_t memory_without_ours(struct collect *c, const struct frame *frames, size_t nr)
{
	while (nr && frames[nr - 1].kind == FRAME_NATIVE &&
	       modules_at(&c->modules, frames[nr - 1].module)->flags & MODULE_ARCPROF)
		nr--;
	return nr;
}

/* Write a block for which the table had no room: whether it is freed is not known. */
static void write_untracked(struct collect *c, const struct jvm_sample *s, uint32_t thread, size_t nr)
{
	sources_untracked(c, &(struct rec_sample){
		.time_ns = s->time_ns, .thread = thread, .cpu = UINT16_MAX, .user = true,
		.stack = trace_write_stack(c->w, c->frames, nr),
	}, s->value);
}

/* Write a sample whose stack is in c->frames. program: the one whose table has the block, or NULL. */
static void memory_write_sample(struct collect *c, struct java *program, struct java *j,
				const struct jvm_sample *s, uint32_t thread, size_t nr)
{
	struct memory_sample kept = {
		.id = s->id, .thread = thread, .time_ns = s->time_ns, .value = s->value,
	};

	nr = sources_sample(c, j, s, thread, c->frames, memory_without_ours(c, c->frames, nr));
	if (nr && s->event == JVM_SOURCE_MEMORY && !s->id)
		write_untracked(c, s, thread, nr);
	if (nr && program && s->id && collect_is_on(c))
		memory_keep(&program->blocks, &kept, c->frames, nr, jvm_memory_table(program->jvm));
}

void memory_program_sample(struct collect *c, struct java *j, const struct jvm_sample *s)
{
	uint32_t thread;

	if (!s->of_source || (s->event != JVM_SOURCE_MEMORY && s->event != JVM_SOURCE_LOCK))
		return;
	collect_merge(c, s->time_ns);	/* what was mapped and forked before it */
	thread = tasks_get_at(&c->tasks, j->proc, s->tid, s->time_ns)->id;
	memory_write_sample(c, s->event == JVM_SOURCE_MEMORY ? j : NULL, j, s, thread,
			    stack_java(c, j, s, c->frames));
}

static void take_java_sample(struct collect *c, struct java *j, const struct jvm_sample *s, uint32_t thread,
			     size_t nr)
{
	struct java *program;

	for (program = c->programs; program && (program->proc != j->proc || program->gone);
	     program = program->next)
		;
	memory_write_sample(c, program, j, s, thread, nr);
}

struct program {
	struct collect *c;
	const struct java *j;
};

static void write_live(void *ctx, const struct memory_sample *s)
{
	const struct program *p = ctx;
	const struct keptstack *stack = keptstacks_at(&p->j->blocks.stacks, s->stack);

	sources_live(p->c, &(struct rec_sample){
		.time_ns = s->time_ns, .thread = s->thread, .cpu = UINT16_MAX, .user = true,
		.stack = trace_write_stack(p->c->w, stack->frames, stack->nr_frames),
	}, s->value);
}

static const struct memory_table *write_live_of(struct collect *c, const struct java *j)
{
	const struct memory_table *t = j->jvm ? jvm_memory_table(j->jvm) : NULL;

	if (t)
		memory_live(&j->blocks, t, write_live, &(struct program){ c, j });
	return t;
}

static void memory_stand(struct collect *c)
{
	const struct java *j;

	for (j = c->programs; j; j = j->next)
		write_live_of(c, j);
}

void memory_end_program(struct collect *c, struct java *j)
{
	const struct memory_table *t = write_live_of(c, j);

	if (!t)
		return;
	c->res->nr_untracked += MIN(load_relaxed(&t->nr_untracked), c->res->nr_samples);
	memory_release(&j->blocks);
	j->jvm = NULL;
}

/* Count programs without the library. */
static void count_others(struct collect *c)
{
	uint64_t nr = c->tasks.nr_without_memory;
	const struct proc *p;

	for (p = c->tasks.procs; p; p = p->next)
		nr += p->execed && !p->memory;
	refused_memory(&c->refused, c->o->system_wide ? 0 : nr, c->res->nr_untracked);
}

static void memory_recording_has_ended(struct collect *c, uint64_t now_ns)
{
	struct java *j;

	if (!sources_is_recorded(c, JVM_SOURCE_MEMORY))
		return;
	for (j = c->programs; j; j = j->next)
		memory_end_program(c, j);
	count_others(c);
}

static const struct jvm_callbacks from_agents = { .program = take_program };

/* Keep ended threads: what is reported may be of threads that ended long ago. */
static void memory_init(struct collect *c)
{
	c->tasks.keeps_ended |= sources_is_recorded(c, JVM_SOURCE_MEMORY);
}

const struct part memory_part = {
	.init = memory_init, .agent = &from_agents, .source = JVM_SOURCE_MEMORY,
	.java_sample = take_java_sample, .ended = memory_recording_has_ended, .stand = memory_stand,
};
