/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arcprof-trace.h - programs read traces of arcprof: contexts with their numbers, functions, samples and
 * stacks, calls, events and dispatches.
 *
 * Link with -larcprof -lz, as "pkg-config --libs arcprof-trace" says. arcprof-reader(3) has the details.
 * Names and numbers are those of "arcprof report"; all come from the trace, never from other files.
 *
 * Tables have rows, numbered from 0. Texts are UTF-8 as far as the trace has that, are NULL where a thing has
 * none, and live until arcprof_trace_close(). A trace is used by one thread at a time.
 */
#ifndef ARCPROF_TRACE_H
#define ARCPROF_TRACE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ARCPROF_TRACE_VERSION 1

enum {
	ARCPROF_MAX_METRICS = 8,
};
#define ARCPROF_NONE UINT32_MAX		/* no node, no call */
#define ARCPROF_UNKNOWN UINT64_MAX	/* of a time or a sum: not known */

struct arcprof_trace;

struct arcprof_error {
	int code;			/* an errno value */
	char text[256];			/* one line, without newline */
};

enum arcprof_flags {			/* options of arcprof-report(1) */
	ARCPROF_SAMPLES = 1 << 0,	/* --samples */
	ARCPROF_REPLAY = 1 << 1,	/* --replay */
	ARCPROF_NO_CALIBRATE = 1 << 2,	/* --no-calibrate */
	ARCPROF_BY_KIND = 1 << 3,	/* --by-kind */
	ARCPROF_SIGNATURES = 1 << 4,	/* --signatures */
	ARCPROF_LINES = 1 << 5,		/* --lines */
	ARCPROF_ADDRESSES = 1 << 6,	/* --addresses */
	ARCPROF_COLLAPSE_PLT = 1 << 7,	/* --collapse-plt */
};

struct arcprof_options {		/* zeroed: as reports without options */
	uint32_t flags;			/* enum arcprof_flags */
	const char *metrics;		/* "cpu,wall"; NULL: as --metric is without */
	const char *cpus;		/* "0,3"; NULL: all */
	uint64_t from_ns, to_ns;	/* since the start; 0: no limit */
	uint64_t memory_bytes;		/* for rows; 0: 1 GiB */
};

/*
 * Reads the contexts. path "-" is standard input; a descriptor is the trace's from then on, also when
 * opening fails. o may be NULL. 0, or a negative errno value with *e filled and *t NULL. A damaged trace is
 * read as far as it is whole.
 */
int arcprof_trace_open(struct arcprof_trace **t, const char *path, const struct arcprof_options *o,
		       struct arcprof_error *e);
int arcprof_trace_open_fd(struct arcprof_trace **t, int fd, const struct arcprof_options *o,
			  struct arcprof_error *e);
/* Do the same with bytes that outlive the trace. */
int arcprof_trace_open_memory(struct arcprof_trace **t, const void *data, size_t len,
			      const struct arcprof_options *o, struct arcprof_error *e);
void arcprof_trace_close(struct arcprof_trace *t);	/* NULL is fine */

/* Return the first damage found so far, in words; NULL: none. */
const char *arcprof_trace_damage(const struct arcprof_trace *t);
/* Samples that are not in the contexts: lost by the recorder, or of an unknown event. */
uint64_t arcprof_trace_lost(const struct arcprof_trace *t);

enum arcprof_table {
	ARCPROF_TABLE_LABELS,
	ARCPROF_TABLE_METRICS,
	ARCPROF_TABLE_PROCESSES,
	ARCPROF_TABLE_THREADS,
	ARCPROF_TABLE_MODULES,
	ARCPROF_TABLE_FUNCTIONS,
	ARCPROF_TABLE_NODES,
	ARCPROF_TABLE_SAMPLES,		/* in order of time */
	ARCPROF_TABLE_STACKS,
	ARCPROF_TABLE_CALLS,		/* of a call trace, in order of their start */
	ARCPROF_TABLE_EVENTS,		/* of a call trace, in order of time */
	ARCPROF_TABLE_DISPATCHES,	/* in order of time */
	ARCPROF_TABLE_MAPPINGS,		/* as they appeared */
	ARCPROF_NR_TABLES
};

/*
 * Returns how many rows a table has; it is read now if it was not before. Negative errno value with *e
 * filled: the trace cannot be read, or -ENOMEM, the rows take more than memory_bytes. 0 with *e filled:
 * the trace has no such rows, and why.
 */
int64_t arcprof_trace_rows(struct arcprof_trace *t, enum arcprof_table table, struct arcprof_error *e);

/*
 * The functions below fill *x with a row and return 0, or -ERANGE: there is no such row, or
 * arcprof_trace_rows() of its table was not called. What is numbered from 1 is row number - 1; 0 is none.
 */

struct arcprof_label {
	const char *key, *value;
};
int arcprof_trace_label(struct arcprof_trace *t, uint32_t row, struct arcprof_label *x);
/* Return the value of a key; NULL: the trace has none. */
const char *arcprof_trace_label_of(const struct arcprof_trace *t, const char *key);

/* Row m is metric m of the arrays n, base and cum. */
struct arcprof_metric {
	const char *name, *unit;
	const char *source;		/* whose n it has: "calls", or the event */
	const char *counts;		/* what n counts: "calls" or "samples" */
	uint64_t n, total;		/* sums of n and base over all nodes */
};
int arcprof_trace_metric(struct arcprof_trace *t, uint32_t row, struct arcprof_metric *x);

struct arcprof_process {		/* a process image: exec makes a new one */
	uint32_t number, pid;
	uint32_t parent;		/* number of the one that forked it or became it; 0: not known */
	uint32_t function;
	const char *name;
	uint64_t start_ns, end_ns;	/* seen first, ended; ARCPROF_UNKNOWN */
};
int arcprof_trace_process(struct arcprof_trace *t, uint32_t row, struct arcprof_process *x);

struct arcprof_thread_row {
	uint32_t number, tid;		/* tid 0: a virtual thread */
	uint32_t process;		/* its number */
	uint32_t function;
	const char *name;
	uint64_t start_ns, end_ns;	/* seen first, ended; ARCPROF_UNKNOWN */
	int is_java;
};
int arcprof_trace_thread(struct arcprof_trace *t, uint32_t row, struct arcprof_thread_row *x);

struct arcprof_module {
	uint32_t number;
	int is_kernel;
	const char *path;
	const uint8_t *build_id;
	uint32_t build_id_len;		/* 0: it has none */
};
int arcprof_trace_module(struct arcprof_trace *t, uint32_t row, struct arcprof_module *x);

/* what consumes: functions, and processes, threads and marks like them, as in report --xprof */
struct arcprof_function {
	const char *name;
	const char *kind;		/* "native", "kernel", "java-compiled", ...; "process", "thread", "mark" */
	const char *module;		/* path */
	const char *detail;		/* with ARCPROF_LINES: file and line */
	uint32_t pid, tid;		/* of processes and threads, else 0 */
	uint32_t nr_nodes;		/* 0: the numbers are 0 */
	uint64_t n[ARCPROF_MAX_METRICS], base[ARCPROF_MAX_METRICS];
	uint64_t cum[ARCPROF_MAX_METRICS];		/* of the outermost nodes: recursion counts once */
	uint64_t cum_recursive[ARCPROF_MAX_METRICS];	/* of the others */
};
int arcprof_trace_function(struct arcprof_trace *t, uint32_t number, struct arcprof_function *x);

/* A context, in preorder, as report --xtree has them: a subtree is the rows from its node to last. */
struct arcprof_node {
	uint32_t parent;		/* ARCPROF_NONE: a root */
	uint32_t last;
	uint32_t level;			/* 0: a root */
	uint32_t recursion;		/* 1: the outermost of its function */
	uint32_t function, process, thread;	/* functions; 0: it is in none */
	const char *name;		/* of the function */
	uint64_t n[ARCPROF_MAX_METRICS], base[ARCPROF_MAX_METRICS], cum[ARCPROF_MAX_METRICS];
};
int arcprof_trace_node(struct arcprof_trace *t, uint32_t row, struct arcprof_node *x);

struct arcprof_sample {
	uint64_t time_ns;		/* since the start */
	uint64_t weight;		/* in the unit of the metric */
	uint32_t thread;		/* its number; 0: not known */
	uint32_t cpu;
	uint32_t metric;		/* row */
	uint32_t node;			/* row */
	uint32_t stack;			/* its number; 0: none */
	int is_user;			/* else in the kernel */
};
int arcprof_trace_sample(struct arcprof_trace *t, uint32_t row, struct arcprof_sample *x);

struct arcprof_frame {
	const char *name;		/* of the function, as reports show it */
	const char *kind;		/* as functions have it */
	const char *code;		/* how it ran: "native", "kernel", "jit", "interp", "stub", "anon", ... */
	const char *module;		/* path */
	const char *file;		/* source file */
	uint32_t line;			/* 0: not known */
	uint32_t function;		/* its number; 0: no context has it */
	uint64_t address;		/* offset in the file; kernel, JIT: address; interp: bytecode index */
	int is_inlined;			/* into the frame before it */
};
/*
 * The functions of a stack, outermost first, inlined ones included: fills at most max of frames[], the
 * outermost ones, and returns how many there are. -ERANGE: there is no such stack, or ARCPROF_TABLE_STACKS
 * was not read.
 */
int64_t arcprof_trace_stack(struct arcprof_trace *t, uint32_t number, struct arcprof_frame *frames,
			    uint32_t max);

struct arcprof_mapping {		/* what a process has mapped executable */
	uint32_t process, module;	/* their numbers */
	uint64_t time_ns;		/* since the start; 0: when the process was found, or before */
	uint64_t address, size, offset;	/* offset: of its begin in the module's file; bytes */
};
int arcprof_trace_mapping(struct arcprof_trace *t, uint32_t row, struct arcprof_mapping *x);

/*
 * Address to name: what was at an address of a process at a time. What was mapped or compiled there by then
 * counts, or else what was the first to be there later.
 *
 * Fills at most max of frames[]: the function, then what is inlined in it there, innermost last, and returns
 * how many there are. *offset: of the address in the function, where its begin is known, else in the module's
 * file; may be NULL. 0: nothing is known to be there. Of functions of files the trace names those that were
 * hit; of others it has the module, and where in its file the address is. -ERANGE: ARCPROF_TABLE_MAPPINGS was
 * not read.
 */
struct arcprof_address {
	uint32_t process;		/* its number; 0 for the kernel */
	uint64_t time_ns;		/* since the start; ARCPROF_UNKNOWN: at the end */
	uint64_t address;		/* with the highest bit set the kernel's, of any process */
};
int64_t arcprof_trace_a2n(struct arcprof_trace *t, const struct arcprof_address *a,
			  struct arcprof_frame *frames, uint32_t max, uint64_t *offset);

struct arcprof_call {
	uint64_t time_ns;		/* since the start */
	uint64_t duration_ns;		/* ARCPROF_UNKNOWN: it did not end */
	uint64_t base, cum;		/* of the first metric; costs of counting included */
	uint32_t thread;		/* its number; 0: a virtual thread */
	uint32_t function;
	uint32_t parent;		/* row; ARCPROF_NONE: none is known */
	uint32_t level;
	const char *name, *thread_name;
	const char *how;		/* it ended: "exit", "exception", "unwound"; NULL: it did not */
};
int arcprof_trace_call(struct arcprof_trace *t, uint32_t row, struct arcprof_call *x);

struct arcprof_event {
	uint64_t time_ns;		/* since the start */
	uint64_t consumed;		/* of the first metric, by the thread since its event before */
	uint32_t thread;		/* its number; 0: a virtual thread */
	uint32_t function;		/* 0: "unwound", "off", "on" */
	uint32_t cpu;			/* of "off" and "on" */
	const char *kind;		/* "entry", "exit", "exception", "unwound"; "off", "on": of the CPU */
	const char *name, *thread_name;
	const char *state;		/* of "off": R runnable, S asleep, D disk sleep, T stopped, X ended */
};
int arcprof_trace_event(struct arcprof_trace *t, uint32_t row, struct arcprof_event *x);

struct arcprof_dispatch {
	uint64_t time_ns;		/* the CPU went on, or the interrupt ended */
	uint64_t ran_ns;		/* by out, or the interrupt took; ARCPROF_UNKNOWN */
	uint64_t waited_ns, blocked_ns;	/* by in, before; ARCPROF_UNKNOWN */
	uint32_t out, in;		/* threads; 0: idle, or not recorded */
	uint32_t cpu;
	uint32_t number;		/* of interrupts */
	const char *interrupt;		/* "device", "soft", "vector", "ipi"; NULL: a dispatch */
	const char *state;		/* of out, as events have it */
};
int arcprof_trace_dispatch(struct arcprof_trace *t, uint32_t row, struct arcprof_dispatch *x);

#ifdef __cplusplus
}
#endif

#endif
