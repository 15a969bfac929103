// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * walk.c - from frame to frame.
 *
 * Invariants:
 *  [1] memory is read through stack_read() only;
 *  [2] the stack pointer grows with each frame but over a signal, and there are at most
 *      SIGNALS_MAX of those, so every walk ends;
 *  [3] all searches of a walk take SEARCH_STEPS steps at most.
 */
#include "arch/x86/regs.h"
#include "unwind/epilogue.h"
#include "unwind/gorules.h"
#include "unwind/guess.h"
#include "unwind/module.h"

enum {
	SIGNALS_MAX = 64,
	DEEPEST = 1 << 20,	/* frames that are followed of a stack of which both ends are kept */
	SEARCH_WORDS = 4096,	/* how far from the stack pointer a return address is looked for */
	SEARCH_STEPS = 1 << 14,
	SEARCH_DEPTH = 32,	/* searches within each other: after so many there is no doubt left */
	SEARCHES_MAX = 128,	/* of a walk that are remembered */
};

enum step {
	STEP_OK,
	STEP_SIGNAL,		/* the next frame was interrupted, not calling */
	STEP_END,
	STEP_FAILED,
};

/* what was found on the stack for frames of which nothing else is known */
struct search {
	struct {
		uint64_t sp;	/* the frame's */
		uint64_t at;	/* where its return address is; 0: nowhere */
	} found[SEARCHES_MAX];
	size_t nr;
	int steps;
};

struct walk {
	const struct unwind_space *space;
	const struct unwind_stack *st;
	struct unwind_regs *regs;
	struct unwind_module *mod;
	uint64_t off;
	bool innermost, exact;
	bool known;		/* pc is in executable memory */
	bool is_trial;		/* nothing but rules and searches counts */
	int depth;		/* of trials */
	bool on_beam;		/* the stack is that of one of its processes */
	bool guessed, searched;	/* the step that was taken last */
	int nr_signals;
	uint32_t module;
	struct search *search;
	enum frame_mark why;
};

static enum step unwind_failed(struct walk *w, enum frame_mark why)
{
	w->why = why;
	return STEP_FAILED;
}

/* Return the outcome for memory that is not in the copy: above it, the copy was too short. */
static enum step missing(struct walk *w, uint64_t addr)
{
	return unwind_failed(w, addr >= w->st->sp && addr - w->st->sp >= w->st->len ?
			 MARK_TRUNCATED_STACK : MARK_BAD_UNWIND_INFO);
}

static const struct cfi *row_section(const struct walk *w, const struct row *row)
{
	return w->mod->sections[row->flags & ROW_DEBUG_FRAME ? 1 : 0].c;
}

static bool eval(struct walk *w, const struct row *row, const struct rule *r,
		 const uint64_t *initial, uint64_t *v)
{
	const struct expr_input in = { w->regs, w->st, initial };
	uint64_t addr;

	if (expr_eval(row_section(w, row), r->val, &in, v, &addr))
		return true;
	if (addr)
		missing(w, addr);
	else
		unwind_failed(w, MARK_BAD_UNWIND_INFO);
	return false;
}

static bool read_saved(struct walk *w, uint64_t addr, uint64_t *v)
{
	if (stack_read(w->st, addr, v))
		return true;
	missing(w, addr);
	return false;
}

/*
 * Compute the CFA from the code between the start of the function and here, as it is relative to a register
 * whose value is unknown.
 */
static bool cfa_by_code(struct walk *w, const struct row *row, uint64_t *cfa)
{
	struct guess g = { w->space, w->st, w->mod, w->off, w->off + !w->exact, w->exact };
	uint64_t depth, ra;
	bool stop;

	if (!w->mod || row->cfa.kind != RULE_REG || row->flags & ROW_SIGNAL ||
	    !epilogue_cfa(w->mod, g.off, g.ra_off, &depth))
		return false;
	*cfa = w->regs->sp + depth;
	if (!stack_read(w->st, *cfa - 8, &ra))
		return false;
	stop = ra >= w->space->stop_lo && ra < w->space->stop_hi;
	return stop || guess_may_follow_call(&g, ra);
}

static bool find_cfa(struct walk *w, const struct row *row, uint64_t *cfa)
{
	if (row->cfa.kind == RULE_REG && w->regs->valid >> row->cfa.reg & 1) {
		*cfa = w->regs->r[row->cfa.reg] + row->cfa.val;
		return true;
	}
	if (row->cfa.kind == RULE_IS_EXPR)
		return eval(w, row, &row->cfa, NULL, cfa);
	if (cfa_by_code(w, row, cfa))
		return true;
	unwind_failed(w, MARK_BAD_UNWIND_INFO);
	return false;
}

/*
 * Find what the rule's register was in the caller; *known is false if that is unknown. Returns false on
 * failure, as w->why says. False: w->why.
 *
 * Epilogues restore registers one by one, and compilers do not say so: the rule still names a
 * slot that is below the stack pointer now.  The register has its value back then, while the
 * slot is not in the copy, which starts at the stack pointer.
 */
static bool apply_rule(struct walk *w, const struct row *row, const struct row_rule *of, uint64_t cfa,
		       uint64_t *v, bool *known)
{
	const struct rule *r = &of->rule;
	uint8_t kind = r->kind, reg = of->reg;

	if (kind == RULE_AT_CFA && cfa + r->val < w->regs->sp && reg != module_cpu(w->mod)->ra)
		kind = RULE_SAME;
	*known = true;
	switch (kind) {
	case RULE_AT_CFA:
		return read_saved(w, cfa + r->val, v);
	case RULE_IS_CFA:
		*v = cfa + r->val;
		return true;
	case RULE_AT_EXPR:
		return eval(w, row, r, &cfa, v) && read_saved(w, *v, v);
	case RULE_IS_EXPR:
		return eval(w, row, r, &cfa, v);
	case RULE_REG:
		reg = r->reg;
		__attribute__((fallthrough));
	case RULE_SAME:
		*v = w->regs->r[reg];
		*known = w->regs->valid >> reg & 1;
		return true;
	case RULE_UNDEFINED:
		*known = false;
		return true;
	default:
		unwind_failed(w, MARK_BAD_UNWIND_INFO);
		return false;
	}
}

static bool apply_all(struct walk *w, const struct row *row, uint64_t cfa)
{
	const struct cpu *cpu = module_cpu(w->mod);
	uint64_t vals[UNWIND_NR_REGS], valid = w->regs->valid & cpu->saved;
	bool known;
	size_t i;

	for (i = 0; i < row->nr_rules; i++) {	/* all from the old registers */
		if (!apply_rule(w, row, &row->rules[i], cfa, &vals[i], &known))
			return false;
		valid = (valid & ~(1ull << row->rules[i].reg)) | (uint64_t)known << row->rules[i].reg;
	}
	w->regs->r[cpu->sp] = cfa;
	for (i = 0; i < row->nr_rules; i++)
		w->regs->r[row->rules[i].reg] = vals[i];
	w->regs->valid = valid | 1ull << cpu->sp;
	w->regs->sp = w->regs->r[cpu->sp];
	return true;
}

static bool is_doubtful(const struct walk *w)
{
	return w->innermost && w->space->doubts;
}

static enum step by_rules(struct walk *w, const struct row *row)
{
	const struct cpu *cpu = module_cpu(w->mod);
	uint64_t cfa, ra, old_sp = w->regs->sp, old_pc = w->regs->pc;
	struct row_rule ra_rule = { row->ra, cpu->ra };
	bool known;

	if (!find_cfa(w, row, &cfa))
		return STEP_FAILED;
	if (row->ra.kind == RULE_UNSET && cpu->ra_in_reg >= 0)
		ra_rule.rule = (struct rule){ RULE_REG, cpu->ra_in_reg, 0 };
	if (!apply_rule(w, row, &ra_rule, cfa, &ra, &known))
		return STEP_FAILED;
	if ((w->is_trial || is_doubtful(w)) && known && !ra)
		return unwind_failed(w, MARK_BAD_UNWIND_INFO);
	if (!known || !ra)
		return STEP_END;
	if (!apply_all(w, row, cfa))
		return STEP_FAILED;
	w->regs->pc = ra & cpu->ra_mask;
	if (cpu->ra_in_reg < 0) {
		w->regs->r[cpu->ra] = ra;
		w->regs->valid |= 1ull << cpu->ra;
	}
	if (row->flags & ROW_SIGNAL)
		return STEP_SIGNAL;
	if (w->regs->sp > old_sp)
		return STEP_OK;
	/* A leaf of a CPU with a link register has no frame. */
	if (w->regs->sp == old_sp && w->exact && cpu->ra_in_reg >= 0 && w->regs->pc != old_pc)
		return STEP_OK;
	return unwind_failed(w, MARK_BAD_UNWIND_INFO);
}

/* Take the stack pointer from the register in which a function has it that was called on the copied stack. */
static bool take_kept_sp(struct walk *w)
{
	const struct cpu *cpu = w->mod->cpu;
	uint8_t reg = gorules_sp_reg(cpu);
	uint64_t sp = w->regs->r[reg];

	if (!(w->regs->valid >> reg & 1) || sp < w->regs->sp || sp - w->st->sp >= w->st->len)
		return false;
	w->regs->r[cpu->sp] = w->regs->sp = sp;
	return true;
}

/*
 * Unwind over code of Go's runtime that continues on another stack. What it calls there has no caller on that
 * one. If it was interrupted before the switch, it has a caller itself.
 */
static enum step over_switch(struct walk *w, const struct row *row)
{
	const struct guess g = { w->space, w->st, w->mod, w->off, w->off + !w->exact, w->exact };
	const struct unwind_regs before = *w->regs;

	if (!w->exact && !(row->flags & ROW_KEEPS_SP && take_kept_sp(w)))
		return STEP_END;
	if (by_rules(w, row) == STEP_OK && guess_follows_call(&g, w->regs->pc))
		return STEP_OK;
	*w->regs = before;
	return STEP_END;
}

/*
 * Find rules in the code itself; return false, with the registers unchanged, if none hold. *returns: a way to
 * a return was found.
 */
static bool by_code(struct walk *w, const struct guess *g, bool *returns)
{
	const struct row *row = w->mod ? epilogue_row(w->mod, g->ra_off, !g->interrupted) : NULL;
	struct unwind_regs before;

	*returns = row;
	if (!row)
		return false;
	before = *w->regs;
	if (by_rules(w, row) == STEP_OK && guess_follows_call(g, w->regs->pc))
		return true;
	*w->regs = before;
	return false;
}

/* Do the same for code in no module, which has no place where rules are kept: if the return is near. */
static bool by_code_of_runtime(struct walk *w, const struct guess *g)
{
	const struct unwind_space *s = w->space;
	struct unwind_regs before = *w->regs;
	uint8_t code[UNWIND_CODE_MAX];
	struct rule_state state;
	union any_row u;

	if (w->mod || cpu_host != &cpu_x86 || !s->code ||
	    !s->code(s->ctx, g->ra_off, !g->interrupted, code, sizeof(code)) ||
	    !epilogue_near(code, sizeof(code), !g->interrupted, &state))
		return false;
	row_init(&u, &state, cpu_host);
	if (by_rules(w, &u.row) == STEP_OK && guess_follows_call(g, w->regs->pc))
		return true;
	*w->regs = before;
	return false;
}

static bool leads_to_root(const struct walk *from, const struct unwind_regs *start);

/*
 * Return the frame that the return address at addr leads to; of the registers only what that says is
 * known.
 */
static struct unwind_regs frame_above(uint64_t addr, uint64_t ra)
{
	struct unwind_regs regs = { .pc = ra, .sp = addr + 8 };

	regs.r[X86_RIP] = regs.pc;
	regs.r[X86_RSP] = regs.sp;
	regs.valid = 1ull << X86_RIP | 1ull << X86_RSP;
	return regs;
}

/*
 * Return where the nearest return address into described code is from which rules lead to a root, or 0 if
 * there is none.
 */
static uint64_t find_return(const struct walk *w, const struct guess *g)
{
	uint64_t addr = (w->regs->sp + 7) & ~7ull, ra;
	struct unwind_regs regs;
	size_t i;

	for (i = 0; i < SEARCH_WORDS && stack_read(w->st, addr, &ra); i++, addr += 8) {
		if (!guess_may_enter(g, ra))
			continue;
		regs = frame_above(addr, ra);
		if (leads_to_root(w, &regs))
			return addr;
	}
	return 0;
}

/*
 * No rules describe the code, and it has no frame pointer: search its caller on the stack. A word that an
 * earlier call has left there is hardly ever taken for it: rules have to lead from there to where the
 * thread begins, by calls all the way.
 */
static bool by_search(struct walk *w, const struct guess *g)
{
	struct search *s = w->search;
	uint64_t sp = w->regs->sp, at = 0, ra;
	size_t i;

	for (i = 0; i < s->nr && s->found[i].sp != sp; i++)
		;
	if (i < s->nr)
		at = s->found[i].at;
	else if (s->steps < SEARCH_STEPS)
		at = find_return(w, g);
	if (i == s->nr && s->nr < SEARCHES_MAX) {
		s->found[s->nr].sp = sp;
		s->found[s->nr++].at = at;
	}
	if (!at || !stack_read(w->st, at, &ra))
		return false;
	*w->regs = frame_above(at, ra);
	w->searched = true;
	return true;
}

/*
 * Unwind BEAM, which has a stack for each of its processes, in their heaps: of its words only return
 * addresses have neither of the lowest two bits set. The outermost one is that of the code that ends a
 * process.
 */
static enum step by_tags(struct walk *w, const struct guess *g)
{
	uint64_t addr = (w->regs->sp + 7) & ~7ull, ra;

	for (; stack_read(w->st, addr, &ra); addr += 8) {
		if (ra == w->space->beam_exit)
			return STEP_END;
		if (ra & 3 || !guess_is_of_runtime(g, ra) || !guess_follows_call(g, ra))
			continue;
		*w->regs = frame_above(addr, ra);
		w->searched = true;
		return STEP_OK;
	}
	return missing(w, addr);
}

static enum step without_rules(struct walk *w)
{
	struct guess g = { w->space, w->st, w->mod, w->off, w->off + !w->exact, w->exact };
	uint64_t old_sp = w->regs->sp, old_pc = w->regs->pc;
	bool at_end, returns, is_runtime = w->known && !w->module && w->space->searches;

	if (guess_signal(&g, w->regs, &w->why))
		return STEP_SIGNAL;
	if (w->why)
		return STEP_FAILED;
	if (guess_is_root(&g))
		return STEP_END;
	if (by_code(w, &g, &returns) || by_code_of_runtime(w, &g))
		return STEP_OK;
	if (!returns && guess_by_scan(&g, w->regs))
		return STEP_OK;
	w->on_beam |= w->innermost && is_runtime && w->space->beam_exit;
	if (w->is_trial && is_runtime && w->depth == SEARCH_DEPTH)
		return STEP_END;
	if (w->is_trial)
		return is_runtime && by_search(w, &g) ? STEP_OK : unwind_failed(w, MARK_NO_UNWIND_INFO);
	if (!guess_caller(&g, w->regs, &at_end, &w->why)) {
		if (is_runtime && !w->on_beam && by_search(w, &g))
			return STEP_OK;
		w->on_beam |= is_runtime && w->space->beam_exit;
		if (w->on_beam)
			return by_tags(w, &g);
		if (at_end || !guess_by_top_of_stack(&g, w->regs))
			return at_end ? STEP_END : STEP_FAILED;
	}
	w->guessed = !w->mod;
	if (w->regs->sp > old_sp)
		return STEP_OK;
	/* The link register said so. */
	if (w->regs->sp == old_sp && w->exact && module_cpu(w->mod)->ra_in_reg >= 0 && w->regs->pc != old_pc)
		return STEP_OK;
	return unwind_failed(w, MARK_BAD_UNWIND_INFO);
}

/*
 * Use the runtime's description of its code. Returns false and leaves the registers if that does not lead
 * behind a call.
 */
static bool by_description(struct walk *w)
{
	const struct unwind_described *d = w->known && !w->module ? w->space->described : NULL;
	const struct guess g = { w->space, w->st, NULL, w->off, w->off + !w->exact, w->exact };
	const struct row *row = d ? described_row(d, w->off) : NULL;
	struct unwind_regs before;

	if (!row || row->flags & ROW_SIGNAL)
		return false;
	before = *w->regs;
	if (by_rules(w, row) == STEP_OK && guess_follows_call(&g, w->regs->pc))
		return true;
	*w->regs = before;
	return false;
}

/*
 * Unwind code that leads into and out of a runtime's code: it is written in assembler, and its rules hold for
 * a part of it only. LuaJIT's interpreter has saved all registers when generated code returns to it.
 */
static enum step by_doubtful_rules(struct walk *w, const struct row *row)
{
	const struct guess g = { w->space, w->st, w->mod, w->off, w->off, true };
	struct unwind_regs before = *w->regs, after;
	enum step s = by_rules(w, row);

	if (s == STEP_END || s == STEP_SIGNAL || (s == STEP_OK && guess_may_follow_call(&g, w->regs->pc)))
		return s;
	after = *w->regs;
	*w->regs = before;
	if (by_search(w, &g))
		return STEP_OK;
	*w->regs = after;
	return s;
}

static enum step unwind_step(struct walk *w)
{
	const struct row *row = w->mod ? module_row(w->mod, w->off) : NULL;
	uint64_t old_sp = w->regs->sp, old_pc = w->regs->pc;

	if (row)
		return row->flags & ROW_SWITCHES ? over_switch(w, row) :
		       is_doubtful(w) ? by_doubtful_rules(w, row) : by_rules(w, row);
	if (!w->mod && w->space->step && w->space->step(w->space->ctx, w->regs, w->st)) {
		if (!w->regs->pc)
			return STEP_END;
		if (w->regs->sp > old_sp || (w->regs->sp == old_sp && w->regs->pc != old_pc && w->exact))
			return STEP_OK;
		return unwind_failed(w, MARK_BAD_UNWIND_INFO);
	}
	return by_description(w) ? STEP_OK : without_rules(w);
}

static void unwind_start(struct unwind_regs *regs, const struct cpu *cpu)
{
	regs->r[cpu->sp] = regs->sp;
	regs->r[cpu->pc] = regs->pc;
	regs->valid |= 1ull << cpu->sp | 1ull << cpu->pc;
}

/* Locate pc; return false if it cannot be code, and a caller's frame is not worth showing. */
static bool locate(struct walk *w, struct unwind_frame *f)
{
	uint64_t pc = w->regs->pc - !w->exact;

	w->mod = NULL;
	f->module = 0;
	f->pc = f->off = pc;
	f->sp = w->regs->sp;
	w->known = w->space->find(w->space->ctx, pc, &f->module, &f->off, &w->mod);
	w->module = f->module;
	w->off = f->off;
	return w->known || w->innermost || (pc >= 4096 && pc < 1ull << 56);
}

/* Frames as they come: when there is no room, each new one replaces the innermost of the second half. */
struct chain {
	struct unwind_frame *out;
	size_t max;
	size_t most;		/* frames that are followed */
	size_t nr;
};

static struct unwind_frame *frame_at(const struct chain *c, size_t nr)
{
	size_t half = c->max / 2;

	return &c->out[nr < c->max ? nr : half + (nr - half) % (c->max - half)];
}

/* Go from a frame that locate() has found to its caller. */
static enum step go_on(struct walk *w)
{
	const struct unwind_regs *regs = w->regs;
	enum step s;

	w->guessed = w->searched = false;
	s = unwind_step(w);
	if (s == STEP_SIGNAL && ++w->nr_signals > SIGNALS_MAX)
		return unwind_failed(w, MARK_BAD_UNWIND_INFO);
	if (s == STEP_END || s == STEP_FAILED)
		return s;
	w->innermost = false;
	w->exact = w->regs->exact = s == STEP_SIGNAL;
	if (!w->exact && !regs->pc)
		return STEP_END;
	return regs->pc >= w->space->stop_lo && regs->pc < w->space->stop_hi ? STEP_END : s;
}

/*
 * Return whether rules alone, with each return address behind a call, lead to where the thread begins: a zero
 * is no such place.
 */
static bool leads_to_root(const struct walk *from, const struct unwind_regs *start)
{
	struct unwind_regs regs = *start;
	struct walk w = *from;

	w.regs = &regs;
	w.is_trial = true;
	w.depth++;
	w.innermost = w.exact = false;
	while (w.search->steps++ < SEARCH_STEPS) {
		struct unwind_frame f;
		struct guess g;
		enum step s;

		if (!locate(&w, &f))
			return false;
		s = go_on(&w);
		if (s == STEP_END)
			return true;
		g = (struct guess){ w.space, w.st, w.mod, w.off, w.off + 1, false };
		if (s == STEP_FAILED || (s == STEP_OK && !guess_follows_call(&g, regs.pc)))
			return false;
	}
	return false;
}

static enum frame_mark unwind_follow(const struct unwind_space *sp, struct unwind_regs *regs,
				     const struct unwind_stack *st, struct chain *c)
{
	struct search search;
	struct walk w = { .space = sp, .st = st, .regs = regs, .innermost = true, .exact = true,
			  .search = &search };

	search.nr = search.steps = 0;
	regs->exact = true;
	while (c->nr < c->most) {
		struct unwind_frame *f = frame_at(c, c->nr), next;
		enum step s;

		if (!locate(&w, &next))
			return MARK_BAD_UNWIND_INFO;
		if (w.innermost)
			unwind_start(regs, module_cpu(w.mod));
		*f = next;
		f->signal = w.exact && !w.innermost;
		f->guessed = w.guessed;
		f->searched = w.searched;
		c->nr++;
		s = go_on(&w);
		if (s == STEP_END || s == STEP_FAILED)
			return s == STEP_END ? MARK_NONE : w.why;
	}
	return MARK_TRUNCATED_DEPTH;
}

size_t unwind_walk(const struct unwind_space *sp, struct unwind_regs *regs, const struct unwind_stack *st,
		   struct unwind_frame *out, size_t max, enum frame_mark *end)
{
	struct chain c = { out, max, max, 0 };

	*end = unwind_follow(sp, regs, st, &c);
	return c.nr;
}

static void reverse(struct unwind_frame *from, size_t nr)
{
	size_t i;

	for (i = 0; i < nr / 2; i++) {
		struct unwind_frame f = from[i];

		from[i] = from[nr - 1 - i];
		from[nr - 1 - i] = f;
	}
}

/* Rotate the frames so that frame number "first" comes first. */
static void rotate(struct unwind_frame *frames, size_t nr, size_t first)
{
	reverse(frames, first);
	reverse(frames + first, nr - first);
	reverse(frames, nr);
}

size_t unwind_walk_ends(const struct unwind_space *sp, struct unwind_regs *regs,
			const struct unwind_stack *st, struct unwind_frame *out, size_t max,
			struct unwind_ends *ends)
{
	struct chain c = { out, max, DEEPEST, 0 };
	size_t half = max / 2;

	ends->end = unwind_follow(sp, regs, st, &c);
	ends->left_out = c.nr > max ? c.nr - max : 0;
	if (!ends->left_out)
		return c.nr;
	rotate(out + half, max - half, (c.nr - half) % (max - half));
	return max;
}
