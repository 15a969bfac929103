/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names.h - the names in a trace, stored in tables (names.c), which resolve a frame to its
 * consumers (resolve.c).
 */
#ifndef MODEL_NAMES_H
#define MODEL_NAMES_H

#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"
#include "flow/model.h"
#include "model/select.h"
#include "sym/symfile.h"
#include "trace/reader.h"

struct name_label {
	const char *key, *val;
};

struct name_stub_lines {	/* of one file, as struct rec_stub_lines has them */
	struct name_stub_lines *next;	/* of other offsets, in no order */
	const char *file;
	const uint8_t *table;
	size_t len;
};

struct name_proc {
	uint32_t number, pid;
	uint32_t comm;		/* strtab ids of the model */
	uint32_t cgroup;	/* 0: not known */
	uint32_t resource;	/* labels by its environment; 0: none */
	uint32_t labels;	/* "key=value,...", with cgroup and container; when has_labels */
	bool has_labels;
	struct name_stub {
		uint64_t addr, size, time_ns;
		const char *name;
		struct name_stub_lines *lines;	/* NULL: none, or none was asked for */
	} *stubs;
	size_t nr_stubs, alloc_stubs;
	bool sorted;
	uint32_t *codes;	/* of names.codes, by address and time; made when first asked for */
	size_t nr_codes;
	bool has_codes;
	uint64_t jvm;		/* name_module.content of its libjvm.so; 0: it has none */
};

struct name_thread {
	uint32_t number, proc, tid;
	uint32_t name, group;	/* group: of Java, 0: not known */
	uint64_t used_ns;	/* CPU time that the kernel charged (rec_used), when */
	bool has_used;
	bool java;
	bool own;		/* arcprof's, not the program's */
};

/* The amount that a thread has of an event (rec_counted), by its index in names.threads. */
struct name_counted {
	uint32_t thread, event;
	uint64_t amount;
};

struct name_module {
	uint32_t number, flags;
	const char *path, *base;
	uint8_t build_id[BUILD_ID_MAX];
	size_t build_id_len;
	uint64_t content;	/* a hash of its build-id, else of its size and time */
	struct name_symbol {
		uint64_t off, size;
		const char *name;
	} *symbols;
	size_t nr_symbols, alloc_symbols;
	bool sorted, tried_file, gave_names;
	struct symfile *file;	/* NULL: the trace has the symbols, or this machine does not have the file */
};

struct name_line {		/* one inline level of one address; innermost first */
	uint32_t line;
	const char *func, *file;
};

struct name_lines {
	uint32_t first, nr;	/* in names.lines */
};

struct name_method {
	uint32_t text;		/* strtab id: package.Class.method, with signature when asked */
	uint32_t sig;		/* strtab id */
	const char *source;
	const uint8_t *lines;	/* as struct rec_method_lines has them */
	size_t lines_len;
	bool own;		/* arcprof's: it is part of what calls it */
};

struct name_function {		/* known by its name alone */
	uint32_t kind;		/* enum consumer_kind */
	uint32_t text;		/* strtab id */
	uint32_t module;	/* strtab id; 0: not known */
	const char *file;
};

struct name_code {
	uint32_t next;		/* another one with the same key, index + 1 */
	uint32_t proc, method, level, compile_id;
	uint64_t addr, time_ns;
	uint32_t size;
	const uint8_t *inl;
	size_t inl_len;
	/* Machine code around it; NULL: the trace has it not, with another place, or it was not asked for. */
	const uint8_t *bytes;
	uint64_t bytes_addr;
	size_t nr_bytes;
	struct name_pc {	/* made when first asked for */
		uint32_t pc, off;
	} *pcs;
	size_t nr_pcs;
	bool indexed;
};

struct resolve_opts {
	bool signatures, lines, addresses, by_kind, hide_inlined, hide_kernel, hide_files;
	bool no_files;		/* nothing but the trace: never look at this machine's files */
	bool functions;		/* levels say which function they are */
	bool merge_tiers;	/* exact calls of a method are of one kind, however it ran */
	bool split_tiers;	/* without by_kind: their keys have the tier, until calibrate() is done */
	bool code;		/* keep the machine code of compiled methods */
	bool own_threads;	/* what arcprof's own threads wait is wanted, too */
};

struct name_run {		/* consumers of a frame, outermost first: names.levels[first..first + nr) */
	uint32_t first, nr;
};

struct name_bracket {
	uint64_t time_ns;
	uint32_t proc, thread, method;
};

/* The labels that a thread has from then on (threadlabels.h). */
struct name_labelled {
	uint64_t time_ns;
	uint32_t thread, labels;	/* labels: strtab id */
};

/* An event begins to be recorded, or ends. */
struct name_recorded {
	uint64_t time_ns;
	const char *event;
	bool on;
};

/* The reason why the recording, or this part of it, was kept. */
struct name_trigger {
	uint64_t time_ns;
	const char *when, *cause;
};

/*
 * The rules from a time on, or the number of an event's records that were left out since the last such
 * record.
 */
struct name_filter {
	uint64_t time_ns, left_out;
	const char *event;	/* "": this is of rules */
	const char *rules;	/* "": all was kept */
};

struct names {
	struct model *m;	/* its string table holds all names */
	struct resolve_opts o;
	struct arena text;
	uint32_t own_labels;	/* strtab id: of all processes, "key=value,..." */
	bool has_own_labels;	/* that is known */
	struct name_labels {
		struct name_labelled *list;
		size_t nr, alloc;
		bool sorted;	/* by thread and time */
	} thread_labels;
	struct name_label *labels;
	size_t nr_labels, alloc_labels;
	/* Numbers of the trace -> index in the vectors. */
	struct map proc_of, thread_of, module_of, method_of, code_of, lines_of, function_of;
	struct name_proc *procs;
	size_t nr_procs, alloc_procs;
	struct name_thread *threads;
	size_t nr_threads, alloc_threads;
	uint32_t nr_own;		/* of them, arcprof's own */
	struct name_busy {		/* of a recording of the whole machine */
		uint32_t cpu;
		uint64_t ns;
	} *busy;			/* several of a CPU are to be added up */
	size_t nr_busy, alloc_busy;
	struct name_group_used {	/* of a recording of control groups */
		uint32_t path;		/* of the model's strings */
		uint64_t ns;
	} *groups_used;			/* several of a group are to be added up */
	size_t nr_groups_used, alloc_groups_used;
	struct name_counted *counted;	/* several of a thread and event are to be added up */
	size_t nr_counted, alloc_counted;
	struct name_module *modules;
	size_t nr_modules, alloc_modules;
	struct name_method *methods;
	size_t nr_methods, alloc_methods;
	struct name_function *functions;
	size_t nr_functions, alloc_functions;
	struct name_code *codes;
	size_t nr_codes, alloc_codes;
	struct name_bracket *brackets;	/* by time */
	size_t nr_brackets, alloc_brackets;
	struct name_recorded *recorded;	/* as they were written: by time */
	size_t nr_recorded, alloc_recorded;
	bool labels_were_off;		/* at some times: those of threads are unknown then */
	bool has_label_frames;		/* stacks of an imported profile begin with labels */
	struct name_trigger *triggers;	/* as they were written: by time */
	size_t nr_triggers, alloc_triggers;
	struct name_filter *filters;	/* as they were written: by time */
	size_t nr_filters, alloc_filters;
	struct name_line *lines;
	size_t nr_lines, alloc_lines;
	struct name_lines *places;
	size_t nr_places, alloc_places;
	uint64_t lost, throttled, skipped;
	uint64_t stopped_ns;		/* storing stopped then, as the trace was full; 0: it did not */
	uint64_t nr_after;		/* samples from then on; 0: or not known */
	uint64_t nr_local_modules;	/* whose names came from this machine's files */
	/* Consumers of frames, outermost first: levels[first..first+nr). */
	struct resolved {
		struct frame_key {	/* compared as bytes */
			struct frame frame;
			const char *stub;	/* of a frame in one: which; its address is then 0 */
		} key;
		uint32_t first, nr;
	} *frames;
	size_t nr_frames, alloc_frames;
	uint32_t *frame_slots;
	size_t alloc_frame_slots;
	struct name_level {
		uint32_t consumer;
		uint32_t kind;	/* of this frame; the consumer's is settled by names_settle_kinds() */
		/*
		 * The same for all frames of one function, however it ran and is shown: two strtab ids,
		 * its name and what distinguishes it from others of that name. 0: none, or not requested.
		 */
		uint64_t function;
		uint64_t weight;	/* how much it stands for, beside others of its function */
		/* with lines: strtab id of the source file, 0 not known; line of it, 0 not known */
		uint32_t file, line;
	} *levels;
	size_t nr_levels, alloc_levels;
	struct buf name;	/* scratch */
};

/* Return a key for something that is numbered within a proc. */
static inline uint64_t names_pair(uint32_t a, uint32_t b)
{
	return (uint64_t)a << 32 | b;
}

void names_init(struct names *x, struct model *m, const struct resolve_opts *o);
void names_release(struct names *x);
/*
 * Read what names things, for callers that want texts alone: strings becomes a model that has these, and no
 * file of this machine is asked. Both must be released in any case.
 */
int names_read_texts(struct names *x, struct model *strings, struct trace_reader *t, struct err *e);

/* Callbacks of a pass over everything but the samples; ctx is the struct names. */
extern const struct trace_sink names_sink;

/* Return whether threads or samples have labels, not just the recording. */
static inline bool names_has_labels(const struct names *x)
{
	return x->thread_labels.nr || x->has_label_frames;
}

/* Return a label, NULL if the trace has none. */
const char *names_label(const struct names *x, const char *key);
uint64_t names_label_u64(const struct names *x, const char *key);
/* Return when storing stopped, in ns after the beginning of the recording, at least 1; 0: it did not. */
uint64_t names_stopped_ns(const struct names *x);
/* Return the label "event.N" of an event of samples, with what after it. */
const char *names_event(const struct names *x, uint32_t event, const char *what);
/* Return the number of the event of that name; UINT32_MAX: it was not recorded. */
uint32_t names_find_event(const struct names *x, const char *wanted);
/* Return the event by which that one is recorded, or not: itself, or the first of its source. */
const char *names_event_of(const struct names *x, uint32_t event);
/*
 * Return, as bits, the events whose samples stand for the time before them, as long as their weight: waits,
 * and charges for them. Imported profiles have none.
 */
uint64_t names_lasting_events(const struct names *x);
/* Return how long that event was recorded between two times (CLOCK_MONOTONIC). */
uint64_t names_recorded_ns(const struct names *x, const char *event, uint64_t from_ns, uint64_t to_ns);
/* Return whether it was recorded at that time. */
bool names_recorded_at(const struct names *x, const char *event, uint64_t time_ns);
/*
 * Return whether the tree of a trace has that level: "processes", "threads". Only imported profiles lack
 * any.
 */
bool names_has_level(const struct names *x, const char *level);
/* Get the trace's zero point, CLOCK_MONOTONIC. -ENODATA: it has none. */
int names_zero(const struct names *x, uint64_t *zero_ns, struct err *e);
/* Get the selected time; s NULL: all. -ENODATA: as names_zero(), or the trace has no times. */
int names_window(const struct names *x, const struct selection *s, struct window *w, struct err *e);

/*
 * Return the id of the container that the process is in; "": of none, or that is not known. Valid until
 * the next call.
 */
const char *names_container(struct names *x, const struct name_proc *p);

/* Return the labels that all of its threads have, as a strtab id; for an unknown thread the recording's. */
uint32_t names_labels_of_thread(struct names *x, uint32_t thread);
/* Return whether it stands for CPUs that had nothing to do. */
bool names_is_idle(const struct names *x, uint32_t thread);
/* Check whether arcprof put the thread with that number into a program. */
bool names_is_own_thread(const struct names *x, uint32_t thread);

/* Return the consumer of a process, or of a thread; number 0 or an unknown one gives "[unknown ...]". */
uint32_t names_process(struct names *x, uint32_t proc);
uint32_t names_thread(struct names *x, uint32_t thread, uint32_t *proc);

/* The same as they are: name and process as long as the model; tid 0: a virtual thread. */
struct thread_name {
	const char *name, *process;
	uint32_t pid, tid;
};
struct thread_name names_thread_name(const struct names *x, uint32_t thread);

/*
 * Settle the kind of functions that run as several kinds of code (interpreted, compiled, inlined): each is
 * one consumer, with the kind whose levels weigh most. With by_kind the kinds are separate from the start,
 * and this does nothing.
 */
void names_settle_kinds(struct names *x);

/* Return the method whose call contains the thread's branches at that time, or 0. */
uint32_t names_bracket(struct names *x, uint32_t thread, uint64_t time_ns);

/* Return the frame of code without a file: compiled Java code, a stub, or a foreign runtime's. */
struct frame names_code_frame(struct names *x, uint32_t proc, uint64_t addr, uint64_t time_ns);
/*
 * Return the distance of the frame's address from the start of its function; the address itself if that
 * is unknown.
 */
uint64_t names_offset(struct names *x, const struct frame *f, uint64_t time_ns);
/*
 * The code that the frame's address is in: a function as the linker knows it, or what a JIT compiled.
 * start is an offset in the module's file (of the kernel an address), or an address in the process. False:
 * not known.
 */
struct name_range {
	uint64_t start, size;
	uint32_t module;	/* index in x->modules, or MAP_NONE */
	uint32_t code;		/* index in x->codes, or MAP_NONE */
};
bool names_range(struct names *x, const struct frame *f, struct name_range *r);
/*
 * Return the function of which that consumer is a part that the compiler split off ("f.cold"); itself
 * when it is none.
 */
uint32_t names_whole_function(struct names *x, uint32_t consumer, uint32_t kind);
/* Return the line of the address in the trace, 0 if it has none. */
uint32_t names_line(struct names *x, const struct frame *f);

/*
 * Return whether the frame's address was of different code at different times, so that its consumers
 * depend on the time.
 */
bool names_varies(struct names *x, const struct frame *f);
/* Index in x->frames of the frame's consumers; time_ns distinguishes reused addresses. */
uint32_t names_resolve(struct names *x, const struct frame *f, uint64_t time_ns);

static inline struct name_run names_consumers(struct names *x, const struct frame *f, uint64_t time_ns)
{
	uint32_t at = names_resolve(x, f, time_ns);

	return (struct name_run){ x->frames[at].first, x->frames[at].nr };
}

#endif
