// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stack.c - from the addresses of a sample to frames of the trace, outermost first.
 */
#include <string.h>
#include <sys/uio.h>

#include "arch/arm64/regs.h"
#include "arch/cpu.h"
#include "arch/x86/regs.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/span.h"
#include "collect/engine/jitfiles.h"
#include "collect/engine/recording.h"
#include "collect/engine/runtimes.h"

struct walk {
	struct collect *c;
	struct proc *proc;
};

/*
 * Return whether it is a file without a folder, in which runtimes also have code, to map it a second time for
 * writing.
 */
static bool is_memory(const struct module *m)
{
	return m && m->path && !strncmp(m->path, "/memfd:", 7);
}

static bool stack_find_module(void *ctx, uint64_t addr, uint32_t *module, uint64_t *off,
			      struct unwind_module **mod)
{
	const struct walk *walk = ctx;

	*mod = NULL;
	if (maps_module(&walk->proc->maps, addr, module, off)) {
		*mod = modules_unwind(&walk->c->modules, *module);
		if (*mod || !is_memory(modules_at(&walk->c->modules, *module)))
			return true;
	}
	/* compiled Java code has other things in the frame pointer: what is left there is no caller's */
	if (walk->proc->has_libjvm || !maps_find(&walk->proc->maps, addr))
		return false;
	*module = 0;
	*off = addr;
	return true;
}

static bool proc_read_code(const struct proc *p, uint64_t addr, void *buf, size_t len)
{
	struct iovec local = { buf, len }, remote = { (void *)addr, len };

	return process_vm_readv(p->pid, &local, 1, &remote, 1, 0) == (ssize_t)len;
}

/*
 * Read code, with a cache: the same calls recur, and what is later made in place of one is likely to be a
 * call, too.
 */
static bool code_of_runtime(void *ctx, uint64_t addr, bool calls, void *buf, size_t len)
{
	const struct walk *walk = ctx;
	struct called *known;

	if (!calls)
		return proc_read_code(walk->proc, addr, buf, len);
	known = &walk->c->called[mix64(addr ^ (uint64_t)walk->proc->id << 48) % NR_CALLED];
	if (known->proc != walk->proc->id || known->addr != addr || known->len != len) {
		if (!proc_read_code(walk->proc, addr, buf, len))
			return false;
		*known = (struct called){ .proc = walk->proc->id, .len = len, .addr = addr };
		memcpy(known->code, buf, len);
	}
	memcpy(buf, known->code, len);
	return true;
}

/* Note what can be asked for only while the process lives. */
static void note_anon_hit(const struct collect *c, struct proc *p)
{
	p->has_anon_hits = true;
	if (!p->jit)
		p->jit = jitfiles_new(p->pid, tasks_owner(p->pid), c->begun_ns);
}

static void user_frame(struct collect *c, struct proc *p, uint64_t pc, struct frame *f)
{
	uint64_t off;
	uint32_t module;

	if (maps_module(&p->maps, pc, &module, &off))
		*f = (struct frame){ FRAME_NATIVE, .module = module, .off = off };
	else if (p->java)
		java_name_pc(p->java, pc, f);
	else {
		*f = (struct frame){ FRAME_ANON, .proc = p->id, .addr = pc };
		if (!p->has_anon_hits)
			note_anon_hit(c, p);
	}
}

static struct frame mark_frame(enum frame_mark why)
{
	return (struct frame){ FRAME_MARK, .mark = why };
}

size_t stack_kernel(struct collect *c, const uint64_t *chain, size_t nr, struct frame *out)
{
	size_t i, n = nr > MAX_KERNEL_FRAMES ? MAX_KERNEL_FRAMES : nr;

	for (i = 0; i < n; i++)
		out[n - 1 - i] = (struct frame){
			FRAME_KERNEL, .module = c->modules.kernel, .off = chain[i] - (i > 0),
		};
	return n;
}

size_t stack_user_chain(struct collect *c, struct proc *p, const uint64_t *chain, size_t nr,
			struct frame *out)
{
	size_t i, n = nr > MAX_USER_FRAMES ? MAX_USER_FRAMES : nr;

	for (i = 0; i < n; i++)
		user_frame(c, p, chain[i] - (i > 0), &out[n - 1 - i]);
	return n;
}

/*
 * Return how many addresses of a chain that frame pointers led to are of the thread; *whole: it reached
 * the function in which the thread begins. The register may hold anything where it is used for something
 * else. So an address outside of code, and any beyond the thread's first function, is not a caller.
 */
static size_t fp_length(struct collect *c, struct proc *p, const uint64_t *chain, size_t nr, bool *whole)
{
	struct walk walk = { c, p };
	size_t i, to_root = 0;

	for (i = 0; i < nr && (!i || p->java || maps_find(&p->maps, chain[i] - 1)); i++) {
		struct unwind_module *mod;
		uint32_t module;
		uint64_t off;

		if (stack_find_module(&walk, chain[i] - (i > 0), &module, &off, &mod) && mod &&
		    (i || nr == 1) && unwind_is_root(mod, off, i > 0))
			to_root = i + 1;
	}
	*whole = to_root;
	return to_root ? to_root : i;
}

size_t stack_user_fp(struct collect *c, struct proc *p, const uint64_t *chain, size_t nr, bool full,
		     struct frame *out)
{
	size_t n, cut = 0;
	bool whole;

	n = fp_length(c, p, chain, nr < MAX_USER_FRAMES ? nr : MAX_USER_FRAMES - 1, &whole);
	if (!whole)
		out[cut++] = mark_frame(n == nr && full ? MARK_TRUNCATED_DEPTH : MARK_NO_FRAME_POINTER);
	return cut + stack_user_chain(c, p, chain, n, out + cut);
}

/*
 * Return whether what the frame's caller left for it, the return address first, is above the copy: it is
 * just below its stack pointer.
 */
static bool is_above(const struct unwind_stack *st, const struct unwind_frame *u)
{
	return st->above && u->sp > st->sp + st->len;
}

/* A native stack has at most this many marks: its end's, that of what was left out, and three of below. */
enum { NATIVE_MARKS = 5 };

/*
 * Write frames [0, nr) of c->unwound, innermost first, to out in the other order, without those that only
 * call on; return how many there are. A mark shows where frame pointers alone, or a search, led to the
 * outer ones, and another where what led to these is above the copy of the stack. left_out: frames that
 * are missing in the middle.
 */
static size_t unwound_frames(struct collect *c, struct proc *p, size_t nr, size_t left_out,
			     const struct unwind_stack *st, struct frame *out)
{
	bool guessed = false, searched = false, later = false;
	size_t i, n = 0;

	for (i = nr; i-- > 0;) {
		const struct unwind_frame *u = &c->unwound[i];
		struct frame *f;

		if (left_out && i == nr / 2 - 1)
			out[n++] = (struct frame){ FRAME_MARK, .count = MIN(left_out, (size_t)UINT32_MAX),
						   .mark = MARK_LEFT_OUT };
		if (later && !is_above(st, u))
			out[n++] = mark_frame(MARK_READ_LATER);
		later = is_above(st, u);
		f = &out[n];
		if (i && u->module && modules_at(&c->modules, u->module)->passes_on)
			continue;
		if (u->module)
			*f = (struct frame){ FRAME_NATIVE, .module = u->module, .off = u->off };
		else
			user_frame(c, p, u->pc, f);
		n++;
		if (u->guessed && !guessed)
			out[n++] = mark_frame(MARK_GUESSED);
		guessed |= u->guessed;
		if (u->searched && !searched)
			out[n++] = mark_frame(MARK_SEARCHED);
		searched |= u->searched;
	}
	return n;
}

size_t stack_user_dwarf(struct collect *c, struct proc *p, struct unwind_regs *regs,
			const struct unwind_stack *st, struct frame *out)
{
	struct walk walk = { c, p };
	struct unwind_space space = { .find = stack_find_module, .code = code_of_runtime, .ctx = &walk,
				      .described = jitfiles_rules(p->jit), .searches = cpu_host == &cpu_x86,
				      .doubts = p->has_anon_hits && cpu_host == &cpu_x86,
				      .beam_exit = beam_exit(c, p) };
	struct unwind_ends ends;
	size_t nr;

	nr = unwind_walk_ends(&space, regs, st, c->unwound, MAX_USER_FRAMES - NATIVE_MARKS, &ends);

	if (ends.end != MARK_NONE)
		*out++ = mark_frame(ends.end);
	return unwound_frames(c, p, nr, ends.left_out, st, out) + (ends.end != MARK_NONE);
}

size_t stack_user_sample(struct collect *c, struct proc *p, struct perf_sample *ps, struct frame *out)
{
	struct unwind_stack st = stackrest_begin(&c->rest, p->pid, &ps->stack, ps->time_ns);
	size_t nr = stack_user_dwarf(c, p, &ps->regs, &st, out);

	stackrest_end(&c->rest);
	return nr;
}

size_t stack_native(struct collect *c, const struct java *j, struct unwind_regs *regs,
		    const struct unwind_stack *st, struct frame *out, bool *to_java)
{
	struct walk walk = { c, j->proc };
	struct unwind_space space = { .find = stack_find_module, .ctx = &walk };
	struct unwind_ends ends = { MARK_NONE, 0 };
	size_t nr = 0;

	jvm_code_cache(j->jvm, &space.stop_lo, &space.stop_hi);
	regs->exact = true;
	*to_java = regs->pc >= space.stop_lo && regs->pc < space.stop_hi;
	if (!*to_java) {
		nr = unwind_walk_ends(&space, regs, st, c->unwound, MAX_USER_FRAMES - NATIVE_MARKS, &ends);
		*to_java = ends.end == MARK_NONE && regs->pc >= space.stop_lo && regs->pc < space.stop_hi;
	}
	if (ends.end != MARK_NONE)
		*out++ = mark_frame(ends.end);
	return unwound_frames(c, j->proc, nr, ends.left_out, st, out) + (ends.end != MARK_NONE);
}

size_t stack_up_to_java(struct collect *c, struct java *j, struct unwind_regs *regs,
			const struct unwind_stack *st, struct frame *out)
{
	struct walk walk = { c, j->proc };
	struct unwind_space space = { .find = stack_find_module, .ctx = &walk };
	struct unwind_ends ends;
	size_t nr;

	if (j->jvm)		/* it has not gone */
		jvm_code_cache(j->jvm, &space.stop_lo, &space.stop_hi);
	nr = unwind_walk_ends(&space, regs, st, c->unwound, MAX_USER_FRAMES - NATIVE_MARKS, &ends);
	if (regs->pc >= space.stop_lo && regs->pc < space.stop_hi)
		ends.end = MARK_JAVA_NOT_WALKABLE;
	if (ends.end != MARK_NONE)
		*out++ = mark_frame(ends.end);
	return unwound_frames(c, j->proc, nr, ends.left_out, st, out) + (ends.end != MARK_NONE);
}

static void set_reg(struct unwind_regs *r, unsigned int number, uint64_t value)
{
	r->r[number] = value;
	r->valid |= 1ull << number;
}

static void segment_regs_x86(const struct jvm_segment *s, struct unwind_regs *r)
{
	static const uint8_t numbers[] = { X86_RBX, X86_R12, X86_R13, X86_R14, X86_R15 };
	const uint64_t values[] = { s->rbx, s->r12, s->r13, s->r14, s->r15 };
	size_t i;

	/* the kernel tells no more of a thread that waits */
	if (s->fp || s->valid)
		set_reg(r, X86_RBP, s->fp);
	for (i = 0; i < sizeof(numbers); i++)
		if (s->valid >> i & 1)
			set_reg(r, numbers[i], values[i]);
}

static void segment_regs_arm64(const struct jvm_segment *s, struct unwind_regs *r)
{
	if (s->fp || s->valid)
		set_reg(r, ARM64_FP, s->fp);
	if (s->valid & 1)
		set_reg(r, ARM64_LR, s->rbx);
}

static void segment_regs(const struct jvm_segment *s, struct unwind_regs *r)
{
	uint64_t pc = s->pc - !s->exact;	/* inside the call that it returns from */

	*r = (struct unwind_regs){ .pc = pc, .sp = s->sp };
	set_reg(r, cpu_host->sp, s->sp);
	set_reg(r, cpu_host->pc, pc);
	if (cpu_host == &cpu_arm64)
		segment_regs_arm64(s, r);
	else
		segment_regs_x86(s, r);
}

/* The result of unwinding a segment: nr frames in c->unwound. */
struct unwound {
	size_t nr;
	struct unwind_ends ends;
	bool to_java;		/* it ended at Java code */
};

static struct unwound unwind_segment(struct collect *c, struct java *j, const struct jvm_segment *s,
				     const struct unwind_stack *st)
{
	struct walk walk = { c, j->proc };
	struct unwind_space space = { .find = stack_find_module, .ctx = &walk };
	struct unwind_regs regs;
	struct unwound u;

	segment_regs(s, &regs);
	jvm_code_cache(j->jvm, &space.stop_lo, &space.stop_hi);
	u.nr = unwind_walk_ends(&space, &regs, st, c->unwound, MAX_USER_FRAMES / 2, &u.ends);
	u.to_java = regs.pc >= space.stop_lo && regs.pc < space.stop_hi;
	return u;
}

/*
 * Return how much of a stack, unwound to its root in nr frames, is needed: up to the outermost frame and a
 * bit, if that gives the same frames, else 0.
 */
static size_t needed_stack(struct collect *c, struct java *j, const struct jvm_segment *s, size_t nr)
{
	enum { SLACK = 64 };
	uint64_t first = c->unwound[0].pc, last = c->unwound[nr - 1].pc, last_sp = c->unwound[nr - 1].sp;
	size_t len = (last_sp - s->sp + SLACK) & ~7ul;
	const struct unwind_stack st = { s->sp, s->stack, len };
	struct unwound again;

	if (last_sp < s->sp || len >= s->len)
		return 0;
	again = unwind_segment(c, j, s, &st);
	return again.ends.end == MARK_NONE && again.nr == nr && c->unwound[0].pc == first &&
			c->unwound[nr - 1].pc == last && c->unwound[nr - 1].sp == last_sp ?
		len :
		0;
}

/*
 * Find how much of a segment that ends with its thread's stack, and was unwound to frames, need not be sent
 * again.
 */
static void learn_root(struct collect *c, struct java *j, const struct jvm_segment *s,
		       const struct unwound *u, const struct frame *frames, size_t nr)
{
	size_t len;

	if (u->ends.end != MARK_NONE) {
		if (s->trimmed)
			roots_doubt(&j->roots, j->jvm, s);
		return;
	}
	if (!u->nr || !roots_want(&j->roots, s))
		return;
	len = s->trimmed ? s->len : needed_stack(c, j, s, u->nr);
	if (len)
		roots_learn(&j->roots, j->jvm, s, s->sp + len, frames, nr);
}

/* Check that no caller of these was guessed. */
static bool are_in_modules(const struct unwind_frame *f, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (!f[i].module || f[i].guessed || f[i].searched)
			return false;
	return true;
}

static size_t native_segment(struct collect *c, struct java *j, const struct jvm_segment *s,
			     uint64_t time_ns, struct frame *out)
{
	bool is_cut = s->len >= SEGMENT_BYTES;
	struct unwind_stack st = { s->sp, s->stack, s->len };
	struct unwound u;
	size_t nr;

	if (is_cut && !s->trimmed)
		st = stackrest_begin(&c->rest, j->proc->pid, &st, time_ns);
	u = unwind_segment(c, j, s, &st);
	if (st.above)
		stackrest_end(&c->rest);
	/* who walks from outside has found no Java frames there: that is a gap */
	if (s->to_root && u.to_java && j->outside)
		u.ends.end = MARK_JAVA_NOT_WALKABLE;
	/*
	 * A copy between Java frames that was not cut ends where the next one begins: this is not a gap. But
	 * the innermost code is unwound from its own pc and registers: then that is not where it was called.
	 */
	if (!s->to_root && !is_cut && u.ends.end == MARK_TRUNCATED_STACK)
		u.ends.end = s->exact && are_in_modules(c->unwound, u.nr) ? MARK_JAVA_NOT_WALKABLE :
									    MARK_NONE;
	if (u.ends.end != MARK_NONE)
		*out++ = mark_frame(u.ends.end);
	nr = unwound_frames(c, j->proc, u.nr, u.ends.left_out, &st, out);
	if (s->to_root && s->end && !u.to_java)
		learn_root(c, j, s, &u, out, nr);
	return nr + (u.ends.end != MARK_NONE);
}

/* Append the native code below a thread's first Java frame, which was unwound earlier. */
static size_t known_root(const struct java *j, uint32_t id, struct frame *out)
{
	size_t nr;
	const struct frame *frames = roots_get(&j->roots, id, &nr);

	if (!frames) {
		*out = mark_frame(MARK_JAVA_NOT_WALKABLE);
		return 1;
	}
	memcpy(out, frames, nr * sizeof(*out));
	return nr;
}

static size_t java_frame(struct collect *c, struct java *j, const struct jvm_sample *s,
			 const struct jvm_frame *f, struct frame *out)
{
	switch (f->kind) {
	case JVM_COMPILED:
		*out = (struct frame){
			FRAME_JIT, .proc = j->proc->id, .addr = f->pc, .method = f->method,
			.compile_id = f->compile_id & ~JVM_NOT_INLINED,
			.not_inlined = !!(f->compile_id & JVM_NOT_INLINED),
		};
		return 1;
	case JVM_INTERPRETED:
		*out = (struct frame){
			FRAME_INTERP, .proc = j->proc->id, .method = f->method, .bci = f->bci,
		};
		return 1;
	case JVM_STUB:
		*out = (struct frame){ FRAME_STUB, .proc = j->proc->id, .addr = f->pc };
		return 1;
	case JVM_NATIVE:
		return native_segment(c, j, &s->segments[f->segment], s->time_ns, out);
	case JVM_ROOT:
		return known_root(j, f->root, out);
	default:
		*out = mark_frame(f->mark);
		if (f->mark == MARK_LEFT_OUT)
			out->count = MIN(f->pc, (uint64_t)UINT32_MAX);
		return 1;
	}
}

size_t stack_java(struct collect *c, struct java *j, const struct jvm_sample *s, struct frame *out)
{
	size_t i, nr = 0;

	roots_check_maps(&j->roots, j->jvm, j->proc->maps.nr_changes);
	for (i = s->nr_frames; i-- > 0;) {
		bool native = s->frames[i].kind == JVM_NATIVE || s->frames[i].kind == JVM_ROOT;

		if (nr + MAX_USER_FRAMES / 2 + NATIVE_MARKS > MAX_USER_FRAMES && native) {
			out[nr++] = mark_frame(MARK_TRUNCATED_DEPTH);
			continue;
		}
		if (nr >= MAX_USER_FRAMES - 1)
			break;
		nr += java_frame(c, j, s, &s->frames[i], out + nr);
	}
	return nr;
}

/* Store the methods outermost first, up to the end of the free space. */
static size_t put_methods(const struct java *j, const uint8_t *pairs, uint32_t len, struct frame *end)
{
	struct span s = span_init(pairs, len);
	size_t nr = 0;

	while (span_left(&s) && nr < MAX_USER_FRAMES - 2) {
		uint64_t method = span_varint(&s), times = span_varint(&s);

		for (; times && nr < MAX_USER_FRAMES - 2; times--)
			*(end - ++nr) = method && method <= UINT32_MAX ?
				(struct frame){ FRAME_METHOD, .proc = j->proc->id, .method = method } :
				(struct frame){ FRAME_MARK, .mark = MARK_JAVA_NOT_WALKABLE };
	}
	return nr;
}

size_t stack_methods(struct collect *c, const struct java *j, const uint8_t *pairs, uint32_t len, bool cut)
{
	struct frame *end = c->frames + MAX_USER_FRAMES - 1;
	size_t nr = put_methods(j, pairs, len, end);

	if (cut)
		c->frames[0] = (struct frame){ FRAME_MARK, .mark = MARK_TRUNCATED_DEPTH };
	memmove(c->frames + cut, end - nr, nr * sizeof(*end));
	return nr + cut;
}

uint32_t stack_marks(const struct frame *frames, size_t nr)
{
	uint32_t marks = 0;
	size_t i;

	_Static_assert(MARK_NR <= 32, "a bit for each");
	for (i = 0; i < nr; i++)
		if (frames[i].kind == FRAME_MARK && !frame_mark_is_note(frames[i].mark))
			marks |= 1u << frames[i].mark;
	return marks;
}

void stack_count_marks(struct collect *c, uint32_t marks)
{
	c->res->nr_incomplete += !!marks;
	for (; marks; marks &= marks - 1)
		c->res->nr_marks[__builtin_ctz(marks)]++;
}
