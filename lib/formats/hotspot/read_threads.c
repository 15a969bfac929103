// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * read_threads.c - dumps of a JVM's threads: as text (jstack, jcmd Thread.print, kill -QUIT), and as JSON
 * (jcmd Thread.dump_to_file -format=json). Each thread is a sample with its stack, and what it waits for
 * below that.
 *
 *	"main" #1 prio=5 os_prio=0 cpu=44.16ms elapsed=2.93s tid=0x00007f0cb0019210 nid=0x51b7 waiting
 *	   java.lang.Thread.State: TIMED_WAITING (sleeping)
 *		at java.lang.Thread.sleep(java.base@17.0.15/Native Method)
 *		- waiting on <0x00000000fc092e88> (a java.lang.Object)
 *
 * JDK 5 and programs that ask the JVM (ThreadMXBean) have the state on the first line alone.
 *
 * Sources: vframe.cpp, thread.cpp and HotSpotDiagnosticMXBean of the JDK. Several dumps of one file add up,
 * as samples of a moment each would.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/jsonin.h"
#include "formats/text.h"

enum { MAX_FRAMES = 65536 };

struct threads {
	struct import *im;
	struct frame *stack;		/* [MAX_FRAMES], filled from its end: the innermost is first */
	size_t nr_frames;
	uint32_t event, proc;
	uint64_t nr_threads, nr_bare;	/* nr_bare: of the JVM, without Java code */
	struct buf text;
};

struct thread {
	struct import_text name, state;
	struct import_text rest;	/* of the first line */
	uint32_t tid;
};

static void push_frame(struct threads *x, struct frame f)
{
	if (x->nr_frames < MAX_FRAMES)
		x->stack[MAX_FRAMES - ++x->nr_frames] = f;
}

/* "java.lang.Thread.sleep(java.base@17.0.15/Thread.java:540)", or with the module before the class. */
static void push_method(struct threads *x, struct import_text t)
{
	struct import_function fn = { FUNCTION_JAVA, .module = { "", 0 }, .file = { "", 0 } };
	const char *open = memchr(t.s, '(', t.len), *slash, *colon;
	struct import_text place = { "", 0 };
	uint64_t line = 0;

	if (open) {
		place = (struct import_text){ open + 1, t.s + t.len - open - 1 };
		place.len -= place.len && place.s[place.len - 1] == ')';
		t.len = open - t.s;
	}
	slash = memrchr(place.s, '/', place.len);
	if (slash)
		place = (struct import_text){ slash + 1, place.s + place.len - slash - 1 };
	colon = memrchr(place.s, ':', place.len);
	if (colon) {
		const char *at;

		for (at = colon + 1; at < place.s + place.len && isdigit((unsigned char)*at); at++)
			line = MIN(line * 10 + (*at - '0'), (uint64_t)UINT32_MAX);
		fn.file = (struct import_text){ place.s, colon - place.s };
	}
	slash = memchr(t.s, '/', t.len);
	/* "java.base/java.lang.Thread.sleep", but "Main$$Lambda/0x0000.run" */
	if (slash && slash + 1 < t.s + t.len && !isdigit((unsigned char)slash[1]))
		t = (struct import_text){ slash + 1, t.s + t.len - slash - 1 };
	fn.name = t;
	if (!t.len)
		fn = (struct import_function){ FUNCTION_UNRESOLVED, .name = { "[no name]", 9 } };
	push_frame(x, (struct frame){ FRAME_NAMED, .function = import_function(x->im, &fn), .line = line });
}

/* Add the state below the innermost method; a thread that may run has none. */
static void push_state(struct threads *x, struct import_text state)
{
	const struct import_function fn = { FUNCTION_REASON, .name = state, .module = { "", 0 },
					    .file = { "", 0 } };

	if (state.len && !import_begins(state, "RUNNABLE"))
		push_frame(x, (struct frame){ FRAME_NAMED, .function = import_function(x->im, &fn) });
}

static void put_thread(struct threads *x, const struct thread *t)
{
	struct rec_sample s = { .cpu = IMPORT_NO_CPU, .event = x->event, .weight = 1 };

	x->nr_threads++;
	s.thread = import_thread(x->im, x->proc, t->tid, t->name);
	s.stack = trace_write_stack(x->im->w, x->stack + MAX_FRAMES - x->nr_frames, x->nr_frames);
	import_sample(x->im, &s);
	x->nr_frames = 0;
}

/* ---- text ---- */

/* Read nid=0x51b7, or nid=20919 since JDK 20. */
static uint32_t read_nid(struct import_text t)
{
	const char *at = memmem(t.s, t.len, " nid=", 5), *end = t.s + t.len;
	unsigned int base = 10;
	uint64_t v = 0;

	if (!at)
		return 0;
	at += 5;
	if (end - at > 2 && !memcmp(at, "0x", 2)) {
		base = 16;
		at += 2;
	}
	for (; at < end && isxdigit((unsigned char)*at) && v <= INT32_MAX; at++)
		v = v * base + (isdigit((unsigned char)*at) ? *at - '0' : (*at | ' ') - 'a' + 10);
	return v <= INT32_MAX ? v : 0;
}

/* Read a thread's line. Its name may have quotes in it: it ends at the last one that attributes follow. */
static bool read_thread_line(struct import_text t, struct thread *x)
{
	const char *close = NULL, *at = t.s + 1, *next;

	if (t.len < 3 || *t.s != '"')
		return false;
	while ((next = memchr(at, '"', t.s + t.len - at))) {
		if (next + 2 < t.s + t.len && next[1] == ' ')
			close = next;
		at = next + 1;
	}
	if (!close)
		return false;
	*x = (struct thread){ .name = { t.s + 1, close - t.s - 1 }, .state = { "", 0 },
			      .rest = { close + 1, t.s + t.len - close - 1 } };
	x->tid = read_nid(x->rest);
	return true;
}

/* " runnable", " in Object.wait()", " in WAITING on lock=...": how it waits. */
static struct import_text state_of(struct import_text rest)
{
	static const struct { const char *text, *state; } states[] = {
		{ " in Object.wait()", "in Object.wait()" }, { " in TIMED_WAITING", "TIMED_WAITING" },
		{ " in WAITING", "WAITING" }, { " in BLOCKED", "BLOCKED" },
		{ " waiting for monitor entry", "waiting for monitor entry" },
		{ " waiting on condition", "waiting on condition" }, { " sleeping", "sleeping" },
	};
	const char *state = "RUNNABLE";
	size_t i;

	for (i = 0; i < ARRAY_SIZE(states); i++)
		if (memmem(rest.s, rest.len, states[i].text, strlen(states[i].text))) {
			state = states[i].state;
			break;
		}
	return (struct import_text){ state, strlen(state) };
}

static void end_text_thread(struct threads *x, struct thread *t, bool *open)
{
	if (*open && t->state.len)
		put_thread(x, t);
	else if (*open)
		x->nr_bare++;
	x->nr_frames = 0;
	*open = false;
}

/* "\tat java.lang.Thread.run(...)", of which programs make blanks: the method. */
static bool cut_at(struct import_text *l)
{
	struct import_text t = import_trim(l->s, l->s + l->len);

	if (!import_begins(t, "at ") || t.s == l->s)
		return false;
	*l = (struct import_text){ t.s + 3, t.len - 3 };
	return true;
}

static void read_text(struct threads *x, const char *data, size_t len)
{
	static const char state[] = "   java.lang.Thread.State: ";
	const char *at = data, *end = data + len;
	struct thread t = { .name = { "", 0 } }, next;
	bool open = false;

	while (at < end) {
		struct import_text l = import_chop(import_line(&at, end));

		if (read_thread_line(l, &next)) {
			end_text_thread(x, &t, &open);
			t = next;
			open = true;
		} else if (import_begins(l, "Found ") || import_begins(l, "JNI global ")) {
			end_text_thread(x, &t, &open);	/* deadlocks name threads again */
		} else if (open && import_begins(l, state) && !t.state.len) {
			t.state = (struct import_text){ l.s + strlen(state), l.len - strlen(state) };
			push_state(x, t.state);
		} else if (open && cut_at(&l)) {
			if (!t.state.len)
				push_state(x, t.state = state_of(t.rest));
			push_method(x, l);
		}
	}
	end_text_thread(x, &t, &open);
}

/* ---- JSON ---- */

static void read_stack(struct threads *x, struct jsonin j)
{
	jsonin_open(&j, '[');
	while (jsonin_element(&j))
		push_method(x, jsonin_text(jsonin_string(&j), &x->text));
}

static void read_json_thread(struct threads *x, struct jsonin *j)
{
	struct thread t = { .name = { "", 0 }, .state = { "", 0 } };
	struct jsonin stack = { 0 };
	struct import_text key;

	jsonin_open(j, '{');
	while (jsonin_member(j, &key))
		if (jsonin_is(key, "name") && jsonin_peek(j) == '"')
			t.name = jsonin_string(j);
		else if (jsonin_is(key, "state") && jsonin_peek(j) == '"')
			t.state = jsonin_string(j);
		else if (jsonin_is(key, "stack") && jsonin_peek(j) == '[')
			stack = jsonin_skip(j);
		else
			jsonin_skip(j);
	if (j->bad)
		return;
	push_state(x, t.state);
	if (stack.p)
		read_stack(x, stack);
	t.name = jsonin_text(t.name, &x->text);
	put_thread(x, &t);
}

static void read_container(struct threads *x, struct jsonin *j)
{
	struct import_text key;

	jsonin_open(j, '{');
	while (jsonin_member(j, &key)) {
		if (!jsonin_is(key, "threads") || jsonin_peek(j) != '[') {
			jsonin_skip(j);
			continue;
		}
		jsonin_open(j, '[');
		while (jsonin_element(j))
			read_json_thread(x, j);
	}
}

static int read_json(struct threads *x, const char *data, size_t len, struct err *e)
{
	struct jsonin j = jsonin_init(data, len);
	struct import_text key;

	jsonin_open(&j, '{');
	while (jsonin_member(&j, &key)) {
		if (!jsonin_is(key, "threadDump") || jsonin_peek(&j) != '{') {
			jsonin_skip(&j);
			continue;
		}
		jsonin_open(&j, '{');
		while (jsonin_member(&j, &key)) {
			if (!jsonin_is(key, "threadContainers") || jsonin_peek(&j) != '[') {
				jsonin_skip(&j);
				continue;
			}
			jsonin_open(&j, '[');
			while (jsonin_element(&j))
				read_container(x, &j);
		}
	}
	return j.bad ? err_set(e, EINVAL, "its JSON is damaged or truncated at offset %zu",
			       (size_t)(j.p - j.start)) : 0;
}

/* ---- the whole ---- */

static int threads_read(struct import *im, const char *data, size_t len, struct err *e)
{
	const struct import_text jvm = { "JVM", 3 };
	struct jsonin j = jsonin_init(data, len);
	struct threads x = { .im = im };
	int r = 0;

	im->unknown = IMPORT_NO_TIMES | IMPORT_NO_LOST | IMPORT_NO_MODES;
	x.stack = xcalloc(MAX_FRAMES, sizeof(*x.stack));
	x.event = import_event(im, (struct import_text){ "threads", 7 }, "threads");
	x.proc = import_proc(im, 0, jvm);
	if (jsonin_peek(&j) == '{')
		r = read_json(&x, data, len, e);
	else
		read_text(&x, data, len);
	if (!r && jsonin_peek(&j) != '{')
		import_note_end(im, data, len);
	if (!r && !x.nr_threads)
		r = err_set(e, EINVAL, "no threads in it that run Java code");
	if (x.nr_bare)
		import_note(im, "left out: %" PRIu64 " threads of the JVM itself, which have no Java stack",
			    x.nr_bare);
	free(x.stack);
	buf_release(&x.text);
	return r;
}

static bool threads_is(const char *data, size_t len)
{
	struct jsonin j = jsonin_init(data, len);
	struct import_text key;

	if (jsonin_peek(&j) == '{') {
		jsonin_open(&j, '{');
		return jsonin_member(&j, &key) && jsonin_is(key, "threadDump");
	}
	return !memchr(data, '\0', len) && (memmem(data, len, "Full thread dump ", 17) ||
					    memmem(data, len, "\n   java.lang.Thread.State: ", 28));
}

const struct import_format import_threads = {
	.name = "thread dump",
	.what = "a dump of a JVM's threads",
	.is = threads_is,
	.read = threads_read,
};
