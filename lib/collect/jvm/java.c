// SPDX-License-Identifier: GPL-2.0-or-later
/* java.c - joins a JVM thread's perf sample with the stack from its agent (java.h). */
#include <string.h>

#include "base/mem.h"
#include "collect/engine/recording.h"
#include "collect/jvm/java.h"
#include "collect/jvm/outside.h"

struct java_code {
	uint64_t addr;
	uint32_t size, compile_id, method;
};

struct java *java_new_program(struct jvm *jvm, struct proc *proc)
{
	struct java *j = xcalloc(1, sizeof(*j));

	j->jvm = jvm;
	j->deadlocks = (struct deadlocks)DEADLOCKS_INIT;
	j->proc = proc;
	j->program = true;
	proc->nr_holders++;
	return j;
}

struct java *java_new(struct jvm *jvm, struct proc *proc)
{
	struct java *j = java_new_program(jvm, proc);

	j->program = false;
	proc->java = j;
	return j;
}

static void free_list(struct pending **head, struct pending ***tail)
{
	while (*head) {
		struct pending *p = *head;

		*head = p->next;
		free(p);
	}
	*tail = head;
}

void java_free(struct java *j)
{
	size_t i;

	for (i = 0; i < j->nr_queued; i++) {
		free_list(&j->queued[i]->kernel, &j->queued[i]->kernel_tail);
		free_list(&j->queued[i]->user, &j->queued[i]->user_tail);
		j->queued[i]->queued = false;
	}
	if (j->proc->java == j)
		j->proc->java = NULL;
	j->proc->nr_holders--;
	roots_release(&j->roots);
	javalines_release(&j->lines);
	javacode_release(&j->code);
	deadlocks_release(&j->deadlocks);
	outside_free(j->outside);
	free(j->queued);
	free(j->codes);
	free(j);
}

static struct pending *new_half(const struct rec_sample *s, const struct frame *frames, size_t nr_frames)
{
	struct pending *p = xmalloc(sizeof(*p) + nr_frames * sizeof(*frames));

	p->next = NULL;
	p->late = false;
	p->skipped_ns = 0;
	p->sample = *s;
	p->nr_frames = nr_frames;
	if (nr_frames)
		memcpy(p->frames, frames, nr_frames * sizeof(*frames));
	return p;
}

static void enqueue(struct java *j, struct thread *th)
{
	if (th->queued)
		return;
	*VEC_ADD(j->queued, j->nr_queued, j->alloc_queued) = th;
	th->queued = true;
}

bool java_is_there(const struct java *list, uint32_t proc)
{
	for (; list; list = list->next)
		if (list->proc->id == proc && !list->gone)
			return true;
	return false;
}

void java_kernel_half(struct java *j, struct thread *th, const struct rec_sample *s,
		      const struct frame *frames, size_t nr_frames)
{
	struct pending *p = new_half(s, frames, nr_frames);

	*th->kernel_tail = p;
	th->kernel_tail = &p->next;
	enqueue(j, th);
}

void java_user_half(struct java *j, struct thread *th, const struct rec_sample *s, struct java_hit hit,
		    const struct frame *frames, size_t nr_frames)
{
	struct pending *p = new_half(s, frames, nr_frames), **at = th->user_tail;

	p->late = hit.late;
	p->skipped_ns = hit.skipped_ns;
	/* A thread that changed its CPU changed its ring, and the new one may be read first. */
	if (th->user && s->time_ns < th->user_last_ns)
		for (at = &th->user; *at && (*at)->sample.time_ns <= s->time_ns; at = &(*at)->next)
			;
	p->next = *at;
	*at = p;
	if (!p->next) {
		th->user_tail = &p->next;
		th->user_last_ns = s->time_ns;
	}
	enqueue(j, th);
}

static struct pending *java_pop(struct pending **head, struct pending ***tail)
{
	struct pending *p = *head;

	*head = p->next;
	if (!*head)
		*tail = head;
	return p;
}

/* Join both halves; user NULL: the thread never returned from the kernel. */
static void emit_joined(const struct thread *th, const struct pending *kernel, const struct pending *user,
			java_emit_fn emit, void *ctx)
{
	static const struct frame no_user = { .kind = FRAME_MARK, .mark = MARK_NO_USER_STACK };
	size_t nr_user = user ? user->nr_frames : 1;
	size_t nr = nr_user + kernel->nr_frames;
	struct rec_sample s = kernel->sample;
	struct frame few[256], *all = nr <= ARRAY_SIZE(few) ? few : xmalloc(nr * sizeof(*all));

	if (user && user->sample.thread)
		s.thread = user->sample.thread;
	memcpy(all, user ? user->frames : &no_user, nr_user * sizeof(*all));
	memcpy(all + nr_user, kernel->frames, kernel->nr_frames * sizeof(*all));
	emit(ctx, th, &s, all, nr);
	if (all != few)
		free(all);
}

/* Takes the oldest kernel half of event that is not younger than until_ns; NULL: there is none. */
static struct pending *take_kernel(struct thread *th, uint32_t event, uint64_t until_ns)
{
	struct pending **at, *k;

	for (at = &th->kernel; (k = *at) && k->sample.time_ns <= until_ns; at = &k->next) {
		if (k->sample.event != event)
			continue;
		*at = k->next;
		if (!*at)
			th->kernel_tail = at;
		return k;
	}
	return NULL;
}

/*
 * Join all kernel halves that belong to the user half; return false if there are none. Of skipped ones
 * only the weight counts: the kernel's part of their stacks has nothing to do with the user half.
 */
static bool join_half(struct java *j, struct thread *th, const struct pending *u, java_emit_fn emit,
		      void *ctx)
{
	struct pending *k, *last = NULL;
	uint64_t weight = 0;
	bool skipped = false;

	while ((k = take_kernel(th, u->sample.event, u->sample.time_ns))) {
		if (last && !skipped)
			emit_joined(th, last, u, emit, ctx);
		j->nr_throttled += skipped;
		free(last);
		last = k;
		skipped = k->sample.time_ns <= u->skipped_ns;
		if (skipped) {
			weight += k->sample.weight;
		} else {
			k->sample.weight += weight;
			weight = 0;
		}
	}
	if (!last)
		return false;
	if (skipped)
		last->sample.weight = weight;
	emit_joined(th, last, u, emit, ctx);
	free(last);
	return true;
}

static void join_thread(struct java *j, struct thread *th, uint64_t until_ns, bool all, java_emit_fn emit,
			void *ctx)
{
	struct pending *u, *k;

	while (th->user && th->user->sample.time_ns <= until_ns) {
		u = java_pop(&th->user, &th->user_tail);
		/*
		 * A period that ends on the way into the handler is older than the time the handler takes,
		 * so the half before has joined it already; its own signal had to wait for the handler.
		 */
		j->nr_unpaired += !join_half(j, th, u, emit, ctx) && !u->late;
		free(u);
	}
	while (all && th->kernel) {
		k = java_pop(&th->kernel, &th->kernel_tail);
		emit_joined(th, k, NULL, emit, ctx);
		free(k);
	}
}

void java_join(struct java *j, uint64_t until_ns, bool all, java_emit_fn emit, void *ctx)
{
	size_t i, kept = 0;

	for (i = 0; i < j->nr_queued; i++) {
		struct thread *th = j->queued[i];

		join_thread(j, th, until_ns, all, emit, ctx);
		if (th->kernel || th->user)
			j->queued[kept++] = th;
		else
			th->queued = false;
	}
	j->nr_queued = kept;
}

/* Index of the first code that starts above addr. */
static size_t code_above(const struct java *j, uint64_t addr)
{
	return BISECT(i, j->nr_codes, j->codes[i].addr <= addr);
}

void java_add_code(struct java *j, const struct jvm_code *c)
{
	struct java_code code = { c->addr, c->size, c->compile_id, c->method };
	size_t at = code_above(j, c->addr), first = at, last = at;

	/* Code that it overlaps is dead, whether or not its end was reported. */
	while (first && j->codes[first - 1].addr + j->codes[first - 1].size > c->addr)
		first--;
	while (last < j->nr_codes && j->codes[last].addr < c->addr + c->size)
		last++;
	if (first == last) {
		VEC_GROW(j->codes, j->nr_codes, j->alloc_codes);
		memmove(&j->codes[first + 1], &j->codes[first], (j->nr_codes - first) * sizeof(code));
		j->nr_codes++;
	} else {
		memmove(&j->codes[first + 1], &j->codes[last], (j->nr_codes - last) * sizeof(code));
		j->nr_codes -= last - first - 1;
	}
	j->codes[first] = code;
}

void java_code_gone(struct java *j, uint64_t addr)
{
	size_t at = code_above(j, addr);

	if (!at || j->codes[at - 1].addr != addr)
		return;
	memmove(&j->codes[at - 1], &j->codes[at], (j->nr_codes - at) * sizeof(*j->codes));
	j->nr_codes--;
}

void java_name_pc(struct java *j, uint64_t pc, struct frame *f)
{
	size_t at = code_above(j, pc);
	const struct java_code *c = at ? &j->codes[at - 1] : NULL;

	*f = (struct frame){ FRAME_ANON, .proc = j->proc->id, .addr = pc };
	if (!c || pc >= c->addr + c->size)
		return;
	f->kind = FRAME_JIT;
	f->compile_id = c->compile_id;
	f->method = c->method;
}

/* ---- its machine code ---- */

struct javacode_to java_code_to(struct collect *c, const struct java *j)
{
	return (struct javacode_to){ c->w, &c->nr_code_left, j->proc->id, j->proc->pid };
}

void java_keep_code(struct collect *c, const struct frame *frames, size_t nr)
{
	struct javacode_to to;
	struct java *j;

	if (!c->o->code || !nr || frames[nr - 1].kind != FRAME_JIT)
		return;
	for (j = c->javas; j; j = j->next) {
		if (j->proc->id != frames[nr - 1].proc || j->gone)
			continue;
		to = java_code_to(c, j);
		javacode_hit(&j->code, frames[nr - 1].compile_id, &to);
	}
}
