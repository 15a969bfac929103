/* SPDX-License-Identifier: MIT */
/*
 * arcprof.h - a program reads what its own threads consume, without a system call.
 *
 * Link with libarcprof.a, which needs nothing but the C library.  Where a session of
 * "arcprof ptt init" runs, values come from it: exact times with interrupts set apart, dispatches,
 * page faults and counters.  Elsewhere the time comes from perf's page or from clock_gettime().
 * arcprof-api(3) has the details.
 */
#ifndef ARCPROF_H
#define ARCPROF_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ARCPROF_API_VERSION 1

enum {
	ARCPROF_NR_COUNTERS = 7,

	/* Bits of "known": which members are measured. */
	ARCPROF_KNOW_TIME = 1 << 0,
	ARCPROF_KNOW_IRQ_TIME = 1 << 1,		/* and then interrupts are not in time_ns */
	ARCPROF_KNOW_DISPATCHES = 1 << 2,
	ARCPROF_KNOW_INTERRUPTS = 1 << 3,
	ARCPROF_KNOW_SWITCHES = 1 << 4,
	ARCPROF_KNOW_MIGRATIONS = 1 << 5,
	ARCPROF_KNOW_FAULTS = 1 << 6,
	ARCPROF_KNOW_COUNTER = 1 << 8,		/* shifted left by i: counter[i] */
};

/*
 * Values since the session or the thread began, whichever was later; without a session, since the thread
 * began. All but the time are as of the thread's last dispatch or interrupt.
 */
struct arcprof_values {
	uint32_t known;				/* ARCPROF_KNOW_*; the rest is 0 */
	uint32_t nr_threads;			/* of arcprof_process_read(): threads summed up */
	uint64_t time_ns;			/* on a CPU */
	uint64_t irq_time_ns;			/* in interrupts that hit it */
	uint64_t dispatches;			/* times it got a CPU */
	uint64_t interrupts;			/* hardware interrupts that hit it */
	uint64_t switches;			/* times it left its CPU */
	uint64_t migrations;			/* dispatches on another CPU than before */
	uint64_t faults;			/* page faults */
	uint64_t counter[ARCPROF_NR_COUNTERS];	/* of the session, in its order */
};

struct arcprof_thread;				/* a thread's view of itself */

/*
 * Once a process, before the rest.  backend: "bpf", "module", "perf", "clock", or NULL for the
 * first of these that works here and measures the caller, which is always one.  0, or -ENODEV: not that one;
 * -EINVAL: unknown back end; -EBUSY: initialised already.
 */
int arcprof_init(const char *backend);
/* Close the session after the last thread has closed; the process can begin again. */
void arcprof_term(void);
/* Return the name of the back end in use; "none" before arcprof_init(). */
const char *arcprof_backend(void);
/* Returns what counter[i] counts, as in struct perf_event_attr. 0, or -ENOENT: there is no counter i. */
int arcprof_counter(unsigned int i, uint32_t *type, uint64_t *config);

/*
 * Open the calling thread; the result serves that thread alone and stays valid until it closes it. NULL with
 * errno: ESRCH, the session does not measure this thread; else why not.
 */
struct arcprof_thread *arcprof_thread_open(void);
void arcprof_thread_close(struct arcprof_thread *t);

/*
 * Return the thread's time on a CPU in ns, never less than the previous call did. No system call with "bpf"
 * and "module"; with "perf" one after each dispatch; with "clock" one.
 */
uint64_t arcprof_thread_time_ns(struct arcprof_thread *t);
/* Read all values at one time; return 0, or -ESHUTDOWN: the session has ended, and *v is as of its end. */
int arcprof_thread_read(struct arcprof_thread *t, struct arcprof_values *v);

/*
 * Sum a process's threads, ended ones included (those whose place another thread has taken are not); pid 0:
 * the caller's. -ESRCH: no thread of it is measured; "perf" and "clock" know the time only.
 */
int arcprof_process_read(pid_t pid, struct arcprof_values *v);

/*
 * Trace the calling thread's instructions between these two calls, if the program runs under "arcprof itrace
 * --bracket"; as often as needed, each thread for itself. What the two execute themselves inside is traced
 * too, and is always the same. on: 0, or -ENODEV: there is no tracer (or the program has closed the
 * descriptor that it inherited); -EALREADY: it is on; -EAGAIN: SIGURG is blocked. off: 0, or -EINVAL: it is
 * not on; -EAGAIN: the tracer has ended meanwhile.
 */
int arcprof_itrace_on(void);
int arcprof_itrace_off(void);

/*
 * Mark a point in time, or a phase with its duration, of the calling thread, if the program runs under
 * "arcprof record -e mark". The name is copied. Elsewhere these calls cost next to nothing. None requires
 * arcprof_init(); any thread may call them, in a forked child, too. The first call in a process connects to
 * the recorder, so it must not be in a signal handler.
 */
void arcprof_mark(const char *name);
/* Do the same with a value; UINT64_MAX: none. */
void arcprof_mark_value(const char *name, uint64_t value);
/* Begins a phase for arcprof_phase_end(); 0: nothing is recorded. */
uint64_t arcprof_phase_begin(void);
void arcprof_phase_end(uint64_t begun, const char *name);

/*
 * An event with named values: defined once, emitted often, any thread, like marks and phases.
 *
 *	static struct arcprof_event_kind *request;	// of all threads
 *	request = arcprof_define("request", "path status seconds");
 *	...
 *	ARCPROF_EMIT(request, arcprof_string(path), arcprof_i64(200), arcprof_f64(0.25));
 *	ARCPROF_EMIT_SINCE(request, begun, arcprof_string(path));	// begun: of arcprof_phase_begin()
 *
 * The values are those of the names in their order; what is missing at the end is left out, what is too much
 * is ignored. A string is copied up to 1023 bytes; NULL: its value is left out.
 */
struct arcprof_event_kind;

enum arcprof_type { ARCPROF_I64 = 1, ARCPROF_F64, ARCPROF_STRING };

struct arcprof_field {
	enum arcprof_type type;
	union {
		int64_t i64;
		double f64;
		const char *string;
	} u;
};

static inline struct arcprof_field arcprof_i64(int64_t v)
{
	struct arcprof_field f;

	f.type = ARCPROF_I64;
	f.u.i64 = v;
	return f;
}

static inline struct arcprof_field arcprof_f64(double v)
{
	struct arcprof_field f;

	f.type = ARCPROF_F64;
	f.u.f64 = v;
	return f;
}

static inline struct arcprof_field arcprof_string(const char *v)
{
	struct arcprof_field f;

	f.type = ARCPROF_STRING;
	f.u.string = v;
	return f;
}

/*
 * names: up to 16, with blanks between them, each up to 63 letters, digits and _ - . , first a letter or _.
 * Kept for ever. NULL, with errno EINVAL: they are not that, or one is there twice; ENOMEM. Emitting NULL
 * does nothing.
 */
struct arcprof_event_kind *arcprof_define(const char *name, const char *names);
void arcprof_emit(const struct arcprof_event_kind *k, const struct arcprof_field *values, size_t nr);
/* Emit an event that began then and has lasted until now; begun 0: nothing is recorded. */
void arcprof_emit_since(const struct arcprof_event_kind *k, uint64_t begun,
			const struct arcprof_field *values, size_t nr);

#define ARCPROF_EMIT(kind, ...) \
	do { \
		const struct arcprof_field arcprof_values_[] = { __VA_ARGS__ }; \
		arcprof_emit((kind), arcprof_values_, sizeof(arcprof_values_) / sizeof(*arcprof_values_)); \
	} while (0)
#define ARCPROF_EMIT_SINCE(kind, begun, ...) \
	do { \
		const struct arcprof_field arcprof_values_[] = { __VA_ARGS__ }; \
		arcprof_emit_since((kind), (begun), arcprof_values_, \
				   sizeof(arcprof_values_) / sizeof(*arcprof_values_)); \
	} while (0)

/*
 * Turn events of the recording in which the program runs on or off, as "arcprof ctl enable" and "disable" do:
 * "cpu", "alloc,lock", "calls", or any others with which it began. NULL: everything, as "resume" and
 * "pause". This applies to the whole recording, not only to this program or thread. Returns when it is done,
 * after some milliseconds, or half a second for a JVM that does not answer.
 *
 * Returns 0, or -ENODEV: the program is not recorded with "-e mark" or "label", or from another pid
 * namespace; -EINVAL: the recording cannot do that; -EPERM: it belongs to another user; -ETIMEDOUT. Must not
 * be called in a signal handler.
 */
int arcprof_recording_on(const char *events);
int arcprof_recording_off(const char *events);

/*
 * Labels say what the calling thread works for: ("endpoint", "/cart"), ("trace-id", "4bf92f35"). Where the
 * program runs under "arcprof record -e label", each sample has those that its thread had at its time, and
 * reports select and group by them. Elsewhere they cost next to nothing. As for marks: any thread, no
 * arcprof_init(), the first call in a process not in a signal handler.
 *
 * A key has up to 63 letters, digits and _ - . and begins with a letter or _. A value is UTF-8 of 1 to 255
 * bytes without commas, backslashes and control characters. All of a thread take up to ARCPROF_LABELS_BYTES,
 * "key=value" each and a comma between two.
 *
 * 0, also where nothing is recorded; -EINVAL: the key or value is none, -ENOSPC: too many; then the thread
 * has no label of that key, rather than an old one. value NULL: the same on purpose.
 */
int arcprof_label(const char *key, const char *value);

enum { ARCPROF_LABELS_BYTES = 510 };

struct arcprof_labels {			/* all labels of a thread */
	uint16_t len;
	char text[ARCPROF_LABELS_BYTES];
};

/* A scope: save, set some, restore. Restored in another thread, they become that thread's. */
void arcprof_labels_save(struct arcprof_labels *l);
void arcprof_labels_restore(const struct arcprof_labels *l);

#ifdef __cplusplus
}
#endif

#endif
