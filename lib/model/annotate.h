/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * annotate.h - samples of the functions of one name, by source line and by instruction.
 *
 * Of a line, n counts samples whose innermost function is there, cum those whose stack goes through it: of a
 * recursive function the outermost call counts, so that the lines add up to the function in both.
 */
#ifndef MODEL_ANNOTATE_H
#define MODEL_ANNOTATE_H

#include "model/columns.h"
#include "model/cut.h"
#include "model/filter.h"
#include "model/names.h"

struct annotate_opts {
	const char *pattern;		/* the function's name, or the shell's pattern */
	/* Chooses functions in place of the pattern and of select's modules. NULL: those choose. */
	bool (*wanted)(const void *ctx, const struct model *m, const struct consumer *c);
	const void *ctx;
	const struct selection *select;	/* modules are those of the function; symbols are ignored */
	const struct opt_list *metrics;	/* NULL or empty: the first event */
};

struct annotate {
	struct names *names;
	const struct annotate_opts *o;
	struct event_columns events;
	struct window window;
	struct cut cut;
	uint64_t n;			/* samples that were selected */
	struct filter *kept;
	uint64_t nr_left_out;		/* samples, by the filter */
	uint64_t first_ns, last_ns;
	struct annotate_function {
		uint32_t name, module;	/* strtab ids; module 0: Java, or none */
		uint64_t n, cum;
		uint32_t outermost;	/* while a stack is walked: the line of it; MAP_NONE: none yet */
	} *functions;			/* most samples first */
	size_t nr_functions, alloc_functions;
	/* a way in which the code of a function ran */
	struct annotate_way {
		uint32_t function, kind;	/* enum consumer_kind */
		uint32_t into;		/* strtab id of what it is inlined in; 0: it is not */
		uint64_t n, cum;
	} *ways;			/* by function, most samples first */
	size_t nr_ways, alloc_ways;
	struct annotate_line {
		uint32_t function, way;
		uint32_t file;		/* strtab id; 0: not known */
		uint32_t line;
		uint64_t n, cum;
	} *lines;			/* by function, file, line and way */
	size_t nr_lines, alloc_lines;
	/* A piece of code with instructions: a symbol, or what a JIT compiled once. */
	struct annotate_code {
		struct name_range range;
		uint32_t name, kind;	/* strtab id of the function whose code it is */
		uint32_t function;	/* of annotate.functions, as of each instruction */
		uint64_t n;
	} *codes;			/* by function, most samples first */
	size_t nr_codes, alloc_codes;
	struct annotate_insn {
		uint32_t code;
		uint32_t file, line;
		uint64_t off;		/* from the start of the code */
		uint64_t n;
	} *insns;			/* by code and offset */
	size_t nr_insns, alloc_insns;

	/* while samples are read */
	struct map line_at, way_at, code_at, insn_at, function_at;
	uint32_t *function_of;		/* [consumer]: index + 2; 1: none; 0: not asked yet */
	size_t nr_function_of;
	struct annotate_epoch {
		uint32_t number;
		uint64_t *counts;	/* [stack]: samples of this run */
		size_t nr_counts;
		struct name_run *runs;	/* [frame]; nr UINT32_MAX: not resolved yet */
		size_t nr_runs;
		uint32_t *touched;	/* stacks with counts */
		size_t nr_touched, alloc_touched;
	} epoch;
	struct map wanted_threads;	/* number -> whether it is selected */
};

/*
 * Reads the trace; x is initialised and filled by this, with lines and kinds of code, and outlives a; m is
 * that of names_init().  -ENODATA: the trace has no samples; -EINVAL: a metric is wanted that it has not.
 */
int annotate_read(struct annotate *a, struct names *x, struct trace_reader *t, const struct annotate_opts *o,
		  struct err *e);
void annotate_release(struct annotate *a);

/* Return whether the consumer is a function, which may have lines. */
bool annotate_is_function(const struct consumer *c);

#endif
