// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vmlog.c - reads HotSpot's log (vmlog.h).
 *
 * Sources: share/runtime/safepoint.cpp (SafepointTracing::end), share/gc/shared/gcTraceTime.inline.hpp and
 * gcCause.cpp, share/compiler/compileTask.cpp (CompileTask::print_impl), share/ci/ciEnv.cpp
 * (register_method), share/runtime/deoptimization.cpp (log_deopt), share/classfile/javaClasses and
 * systemDictionary.cpp, of JDK 17 to 25.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "jvm/proto.h"
#include "jvm/vmlog.h"

#define UNKNOWN UINT64_MAX

/* --- words of a line --- */

struct text {
	const char *p, *end;
};

static size_t left(const struct text *t)
{
	return t->end - t->p;
}

static bool vmlog_skip(struct text *t, const char *word)
{
	size_t len = strlen(word);

	if (left(t) < len || memcmp(t->p, word, len))
		return false;
	t->p += len;
	return true;
}

static void vmlog_skip_blanks(struct text *t)
{
	while (t->p < t->end && *t->p == ' ')
		t->p++;
}

/* Take the word up to the next blank; t goes on behind that. */
static struct text vmlog_word(struct text *t)
{
	struct text w;

	vmlog_skip_blanks(t);
	w.p = t->p;
	while (t->p < t->end && *t->p != ' ')
		t->p++;
	w.end = t->p;
	vmlog_skip_blanks(t);
	return w;
}

static bool vmlog_is(const struct text *t, const char *s)
{
	return left(t) == strlen(s) && !memcmp(t->p, s, left(t));
}

static bool contains(const struct text *t, const char *s)
{
	return memmem(t->p, left(t), s, strlen(s));
}

/* Read decimal digits; return false if there are none, or too many. */
static bool vmlog_number(struct text *t, uint64_t *v)
{
	const char *from = t->p;

	*v = 0;
	for (; t->p < t->end && *t->p >= '0' && *t->p <= '9'; t->p++) {
		if (*v > (UINT64_MAX - 9) / 10)
			return false;
		*v = *v * 10 + (*t->p - '0');
	}
	return t->p > from;
}

static bool hexadecimal(struct text *t, uint64_t *v)
{
	const char *from = t->p;
	int digit;

	for (*v = 0; t->p < t->end && !(*v >> 60); t->p++) {
		digit = hex_lower(*t->p);
		if (digit < 0)
			break;
		*v = *v << 4 | (uint64_t)digit;
	}
	return t->p > from;
}

/* "label123 ns" anywhere in the line; UNKNOWN: it is not there. */
static uint64_t vmlog_value(const struct text *line, const char *label)
{
	const char *at = memmem(line->p, left(line), label, strlen(label));
	struct text t = { at ? at + strlen(label) : NULL, line->end };
	uint64_t v;

	return at && vmlog_number(&t, &v) ? v : UNKNOWN;
}

/* "5.664ms", "0.041s". */
static bool duration(struct text *t, uint64_t *ns)
{
	uint64_t whole, scale;
	const char *point;

	if (!vmlog_number(t, &whole) || !vmlog_skip(t, "."))
		return false;
	for (point = t->p; t->p < t->end && *t->p >= '0' && *t->p <= '9'; t->p++)
		;
	scale = t->end - t->p >= 2 && !memcmp(t->p, "ms", 2) ? 1000000 :
		t->p < t->end && *t->p == 's' ? 1000000000 : 0;
	if (!scale || whole > UINT64_MAX / scale / 2)
		return false;
	*ns = whole * scale;
	for (; point < t->p; point++)
		*ns += (*point - '0') * (scale /= 10);
	return (vmlog_skip(t, "ms") || vmlog_skip(t, "s")) && !left(t);
}

static void trim(struct text *t)
{
	while (t->p < t->end && t->end[-1] == ' ')
		t->end--;
}

static void set_what(struct jvm_event *e, struct text t)
{
	trim(&t);
	e->what = t.p;
	e->what_len = MIN(left(&t), (size_t)JVM_MAX_STRING);
}

static void set_cause(struct jvm_event *e, struct text t)
{
	trim(&t);
	e->cause = t.p;
	e->cause_len = MIN(left(&t), (size_t)JVM_MAX_STRING);
}

/* Set the duration; the log has the time at which it ended. */
static void set_duration(struct jvm_event *e, uint64_t ns)
{
	e->duration_ns = ns;
	e->time_ns -= MIN(e->time_ns, ns);
}

/* --- collections --- */

/* "15M", "512K", in bytes. */
static bool size(struct text *t, uint64_t *bytes)
{
	static const char units[] = "BKMGT";
	const char *unit;

	if (!vmlog_number(t, bytes) || !left(t) || !*t->p || !(unit = strchr(units, *t->p)) ||
	    *bytes >> (64 - 10 * (unit - units) - 1))
		return false;
	*bytes <<= 10 * (unit - units);
	t->p++;
	return true;
}

/* "(3%)", which ZGC puts behind sizes. */
static void skip_share(struct text *t)
{
	const char *end = t->p < t->end && *t->p == '(' ? memchr(t->p, ')', left(t)) : NULL;

	if (end && end[-1] == '%')
		t->p = end + 1;
}

/* "15M->4M(64M)", "20M(10%)->6M(3%)". */
static bool sizes(struct text t, struct jvm_event *e)
{
	uint64_t before, after, capacity = UNKNOWN;

	if (!size(&t, &before))
		return false;
	skip_share(&t);
	if (!vmlog_skip(&t, "->") || !size(&t, &after))
		return false;
	skip_share(&t);
	if (vmlog_skip(&t, "(") && (!size(&t, &capacity) || !vmlog_skip(&t, ")")))
		return false;
	if (left(&t))
		return false;
	e->values[0] = before;
	e->values[1] = after;
	e->values[2] = capacity;
	return true;
}

static struct text last_word(const struct text *t)
{
	struct text w = { t->end, t->end };

	while (w.p > t->p && w.p[-1] != ' ')
		w.p--;
	return w;
}

/* Find the group in parentheses at the end of the title, which may contain others. */
static bool last_group(struct text title, struct text *group)
{
	const char *p;
	int depth = 0;

	trim(&title);
	if (title.p == title.end || title.end[-1] != ')')
		return false;
	for (p = title.end; p > title.p; p--) {
		depth += p[-1] == ')' ? 1 : p[-1] == '(' ? -1 : 0;
		if (!depth)
			break;
	}
	if (depth || p <= title.p + 1)
		return false;
	*group = (struct text){ p, title.end - 1 };
	return true;
}

/*
 * "Pause Young (Normal) (G1 Evacuation Pause)": what comes last is the cause, which begins with a capital; a
 * kind of pause of G1 does, too, but is never the only one.
 */
static void split_title(struct text title, struct jvm_event *e)
{
	struct text head = title, group, before;

	set_what(e, title);
	if (!last_group(title, &group))
		return;
	if (vmlog_skip(&group, "Evacuation Failure")) {
		head.end = group.p - strlen("(Evacuation Failure");
		trim(&head);
		if (!last_group(head, &group))
			return;
	}
	if (group.p == group.end || *group.p < 'A' || *group.p > 'Z')
		return;
	before = (struct text){ title.p, group.p - 1 };
	set_cause(e, group);
	set_what(e, before);
}

/* "Pause ...", "Concurrent ...", "Major Collection ..."; generational ZGC puts "Y: " before. */
static bool collection_kind(struct text t, bool is_cycle, struct jvm_event *e)
{
	if (left(&t) > 3 && t.p[1] == ':' && t.p[2] == ' ')
		t.p += 3;
	if (vmlog_skip(&t, "Pause "))
		e->kind = JVM_EVENT_GC;
	else if (vmlog_skip(&t, "Concurrent ") ||
		 (is_cycle && (vmlog_skip(&t, "Garbage Collection") || contains(&t, " Collection ("))))
		e->kind = JVM_EVENT_GC_CONCURRENT;
	else
		return false;
	return true;
}

static bool collection(struct text t, bool is_cycle, struct jvm_event *e)
{
	uint64_t nr, ns = UNKNOWN;
	struct text w;

	if (!vmlog_skip(&t, "GC(") || !vmlog_number(&t, &nr) || !vmlog_skip(&t, ") ") ||
	    !collection_kind(t, is_cycle, e))
		return false;
	trim(&t);
	w = last_word(&t);
	if (duration(&w, &ns)) {
		t.end = last_word(&t).p;
		trim(&t);
	}
	w = last_word(&t);
	if (sizes(w, e)) {
		t.end = w.p;
		trim(&t);
	}
	/* "Concurrent Mark Cycle" alone says that it begins */
	if (ns == UNKNOWN && e->values[0] == UNKNOWN)
		return false;
	split_title(t, e);
	if (ns != UNKNOWN)
		set_duration(e, ns);
	return true;
}

/* --- safepoints --- */

static bool safepoint(struct text t, struct jvm_event *e)
{
	uint64_t total = vmlog_value(&t, "Total: ");
	const char *quote;

	if (!vmlog_skip(&t, "Safepoint \"") || !(quote = memchr(t.p, '"', left(&t))) || total == UNKNOWN)
		return false;
	e->kind = JVM_EVENT_SAFEPOINT;
	set_what(e, (struct text){ t.p, quote });
	e->values[0] = vmlog_value(&t, "Reaching safepoint: ");
	e->values[1] = vmlog_value(&t, "At safepoint: ");
	set_duration(e, total);
	return true;
}

/*
 * "Safepoint synchronization initiated ...", "Thread: 0x00007f1adc11ac00  [0x2308] State: _running ...",
 * "... found polling page loop exception at pc = ...": they tell who is last.
 */
static bool arrival(struct arrivals *a, const struct jvm_event *head, struct text t)
{
	const char *id = memchr(t.p, '[', left(&t));
	uint64_t tid;

	if (vmlog_skip(&t, "Safepoint synchronization ")) {
		arrivals_begin(a);
	} else if (vmlog_skip(&t, "Thread: ") && id) {
		t.p = id + 1;
		if (vmlog_skip(&t, "0x") && hexadecimal(&t, &tid) && tid <= INT32_MAX && vmlog_skip(&t, "] State: _running"))
			arrivals_runs(a, tid);
	} else if (vmlog_skip(&t, "... found polling page ")) {
		arrivals_polls(a, head->thread, head->time_ns);
	} else {
		return false;
	}
	return true;
}

/* Set the last thread as the third value; if there are several, how many. */
static void put_last(struct arrivals *a, struct jvm_event *e, struct buf *scratch)
{
	size_t together;
	uint32_t tid = arrivals_last(a, &together);

	arrivals_begin(a);
	if (tid)
		e->values[2] = tid;
	if (tid || !together)
		return;
	buf_reset(scratch);
	buf_fmt(scratch, "one of %zu was last", together);
	e->cause = scratch->data;
	e->cause_len = scratch->len;
}

/* --- compilations --- */

static bool all_of(const struct text *t, const char *chars)
{
	const char *p;

	for (p = t->p; p < t->end; p++)
		if (!*p || !strchr(chars, *p))
			return false;
	return t->p < t->end;
}

/* Take what stands between the number and the name: "% s! 4"; with several compilers, the tier. */
static struct text flags_and_name(struct text *t, bool *osr, uint64_t *tier)
{
	struct text w = vmlog_word(t);

	while (all_of(&w, "%sb!n*-")) {
		*osr |= contains(&w, "%");
		w = vmlog_word(t);
	}
	if (left(&w) == 1 && *w.p >= '0' && *w.p <= '4') {
		*tier = *w.p - '0';
		w = vmlog_word(t);
	}
	return w;
}

/* "@ 10 (97 bytes)", "(0 bytes)", "(native)   (static)". */
static uint64_t bytecodes(struct text *t, bool *native)
{
	uint64_t v, bytes = UNKNOWN;

	*native = false;
	if (vmlog_skip(t, "@ "))
		vmlog_word(t);
	if (vmlog_skip(t, "(native)")) {
		*native = true;
		vmlog_skip_blanks(t);
		vmlog_skip(t, "(static)");
	} else if (vmlog_skip(t, "(") && vmlog_number(t, &v) && vmlog_skip(t, " bytes)"))
		bytes = v;
	return bytes;
}

/* "16 % !   3       G::main @ 10 (97 bytes)   made not entrant: reason", "... COMPILE SKIPPED: reason". */
static bool compilation(struct text t, struct jvm_event *e)
{
	struct text name, why;
	bool osr = false, native;
	uint64_t id;

	vmlog_skip_blanks(&t);
	if (!vmlog_number(&t, &id))
		return false;
	e->values[2] = id;
	name = flags_and_name(&t, &osr, &e->values[0]);
	if (!contains(&name, "::"))
		return false;
	set_what(e, name);
	e->values[1] = bytecodes(&t, &native);
	vmlog_skip_blanks(&t);
	why = t;
	if (vmlog_skip(&why, "COMPILE SKIPPED: ")) {
		e->kind = JVM_EVENT_NOT_COMPILED;
	} else if (vmlog_skip(&why, "made not entrant") || vmlog_skip(&why, "made not used") ||
		   vmlog_skip(&why, "made zombie")) {
		e->kind = JVM_EVENT_INVALIDATE;
		vmlog_skip(&why, ": ");
	} else if (left(&t)) {
		return false;
	} else {
		e->kind = JVM_EVENT_COMPILE;
		why = (struct text){ native ? "native wrapper" : osr ? "OSR" : "", NULL };
		why.end = why.p + strlen(why.p);
	}
	set_cause(e, why);
	return true;
}

/* "cid=  16 osr level=4 G.main([Ljava/lang/String;)V trap_bci=13 osr_bci=10 unstable_if reinterpret pc=...". */
static bool deoptimization(struct text t, struct jvm_event *e)
{
	struct text reason = { NULL, NULL }, w;

	if (!vmlog_skip(&t, "cid="))
		return false;
	vmlog_skip_blanks(&t);
	if (!vmlog_number(&t, &e->values[2]))
		e->values[2] = UNKNOWN;
	e->values[0] = vmlog_value(&t, "level=");
	e->values[1] = vmlog_value(&t, "trap_bci=");
	for (w = vmlog_word(&t); left(&w); w = vmlog_word(&t)) {
		if (!e->what_len && contains(&w, "(") && contains(&w, "."))
			set_what(e, w);
		else if (e->what_len && !contains(&w, "=") && !reason.p)
			reason = w;
		else if (reason.p && !contains(&w, "=") && reason.end + 1 == w.p)
			reason.end = w.end;
	}
	e->kind = JVM_EVENT_DEOPT;
	if (reason.p)
		set_cause(e, reason);
	return e->what_len;
}

/* "unloading class Foo 0x0000000801234567". */
static bool unloading(struct text t, struct jvm_event *e)
{
	if (!vmlog_skip(&t, "unloading class "))
		return false;
	set_what(e, vmlog_word(&t));
	e->kind = JVM_EVENT_CLASS_UNLOAD;
	return e->what_len;
}

/* --- classes that load --- */

/* "LOAD_INSTANCE ..."; JDK 25 calls the second otherwise. */
static bool load_step(struct text *t, enum load_step *step)
{
	*step = LOAD_ASKS;
	if (vmlog_skip(t, "LOAD_INSTANCE "))
		return true;
	*step = LOAD_RESOLVES;
	if (vmlog_skip(t, "LOAD_SUPER ") || vmlog_skip(t, "DETECT_CIRCULARITY "))
		return true;
	*step = LOAD_DEFINES;
	return vmlog_skip(t, "DEFINE_CLASS ");
}

/*
 * "find_and_add LOAD_INSTANCE 'A', loader ...", since JDK 23 "entry A : find_and_add LOAD_INSTANCE ".
 */
static bool placeholder(struct text t, struct load_line *l)
{
	struct text name = { NULL, NULL };

	if (vmlog_skip(&t, "entry ")) {
		name = vmlog_word(&t);
		vmlog_skip(&t, ": ");
	}
	l->ends = vmlog_skip(&t, "find_and_remove ");
	if ((!l->ends && !vmlog_skip(&t, "find_and_add ")) || !load_step(&t, &l->step))
		return false;
	if (!name.p && vmlog_skip(&t, "'")) {
		const char *quote = memchr(t.p, '\'', left(&t));

		name = (struct text){ t.p, quote ? quote : t.p };
	}
	l->name = name.p;
	l->name_len = left(&name);
	return name.p && l->name_len;
}

/* "java.lang.Object source: shared objects file", "A$$Lambda/0x0000000032040a48 source: A". */
static bool loaded(struct text t, struct load_line *l)
{
	struct text name = vmlog_word(&t);
	const char *slash = memchr(name.p, '/', left(&name));

	if (!vmlog_skip(&t, "source: "))
		return false;
	trim(&t);
	l->step = LOAD_LOADED;
	l->name = name.p;
	l->name_len = (slash ? slash : name.end) - name.p;
	l->full_len = left(&name);
	l->source = t.p;
	l->source_len = left(&t);
	return l->name_len;
}

/* "searches 7ffd01234560 java.lang.String", "gives ...", "gave 7ffd01234560 ?": the agent's lines. */
static bool searched(struct text t, struct load_line *l)
{
	l->ends = vmlog_skip(&t, "gave ");
	l->step = l->ends || vmlog_skip(&t, "gives ") ? LOAD_GIVEN : LOAD_SEARCHES;
	if (l->step == LOAD_SEARCHES && !vmlog_skip(&t, "searches "))
		return false;
	if (!hexadecimal(&t, &l->sp) || !vmlog_skip(&t, " "))
		return false;
	l->name = t.p;
	l->name_len = l->step == LOAD_GIVEN && vmlog_is(&t, "?") ? 0 : left(&t);
	return left(&t);
}

static bool loading(const struct text *tags, struct text t, struct load_line *l)
{
	if (vmlog_is(tags, "class,load,placeholders"))
		return placeholder(t, l);
	return vmlog_is(tags, "arcprof,load") ? searched(t, l) : vmlog_is(tags, "class,load") && loaded(t, l);
}

/* --- the log --- */

/* "123  ][": the VM makes each column as wide as it ever was. */
static bool vmlog_column(struct text *t, const char *unit, uint64_t *v)
{
	if (!vmlog_number(t, v) || !vmlog_skip(t, unit))
		return false;
	vmlog_skip_blanks(t);
	return vmlog_skip(t, "][");
}

/* "[123ns][456][gc,phases   ] " */
static bool vmlog_head(struct text *t, struct jvm_event *e, struct text *tags)
{
	const char *end;
	uint64_t tid;

	*e = (struct jvm_event){
		.duration_ns = UNKNOWN, .values = { UNKNOWN, UNKNOWN, UNKNOWN }, .what = "", .cause = "",
	};
	if (!vmlog_skip(t, "[") || !vmlog_column(t, "ns", &e->time_ns) || !vmlog_column(t, "", &tid) ||
	    tid > INT32_MAX)
		return false;
	end = memchr(t->p, ']', left(t));
	if (!end)
		return false;
	e->thread = tid;
	*tags = (struct text){ t->p, end };
	trim(tags);
	t->p = end + 1;
	return vmlog_skip(t, " ");
}

/* "Installing method (4) java.lang.String.coder()B ", "Installing osr method (3) Jit.f(I)I @ 4". */
static bool installation(const char *line, size_t len, struct installed *i)
{
	struct text t = { line, line + len }, tags, name;
	struct jvm_event e;

	if (!vmlog_head(&t, &e, &tags) || !vmlog_is(&tags, "nmethod,install") ||
	    !vmlog_skip(&t, "Installing "))
		return false;
	*i = (struct installed){ .time_ns = e.time_ns, .thread = e.thread, .osr = vmlog_skip(&t, "osr ") };
	if (!vmlog_skip(&t, "method (") || !vmlog_number(&t, &i->tier) || !vmlog_skip(&t, ") "))
		return false;
	name = vmlog_word(&t);
	i->name = name.p;
	i->name_len = left(&name);
	return i->name_len;
}

static bool vmlog_event(const struct text *tags, struct text t, struct jvm_event *e)
{
	if (vmlog_is(tags, "gc"))
		return collection(t, true, e);
	if (vmlog_is(tags, "gc,phases") || vmlog_is(tags, "gc,marking"))
		return collection(t, false, e);
	if (vmlog_is(tags, "safepoint"))
		return safepoint(t, e);
	if (vmlog_is(tags, "jit,compilation"))
		return compilation(t, e);
	if (vmlog_is(tags, "deoptimization"))
		return deoptimization(t, e);
	return vmlog_is(tags, "class,unload") && unloading(t, e);
}

bool vmlog_line(const char *line, size_t len, struct jvm_event *e)
{
	struct text t = { line, line + len }, tags;

	return vmlog_head(&t, e, &tags) && vmlog_event(&tags, t, e);
}

/*
 * Return whether a compilation is open. A native wrapper, which has no bytecodes, is made by any thread, and
 * at once.
 */
static bool is_going_on(const struct jvm_event *e)
{
	return e->kind == JVM_EVENT_COMPILE && e->values[1] != UNKNOWN;
}

/* Take a line that has only a part of an event; return false if it may have a whole one. */
static bool vmlog_take_part(struct vmlog *v, const char *line, size_t len,
			    void (*event)(void *ctx, struct jvm_event *e), void *ctx)
{
	struct text t = { line, line + len }, tags;
	struct installed i;
	struct load_line l;
	struct jvm_event e;

	if (installation(line, len, &i)) {
		compiles_installed(&v->compiles, &i, event, ctx);
		return true;
	}
	if (!vmlog_head(&t, &e, &tags))
		return true;
	l = (struct load_line){ .time_ns = e.time_ns, .thread = e.thread };
	if (loading(&tags, t, &l)) {
		loads_take(&v->loads, &l, event, ctx);
		return true;
	}
	return vmlog_is(&tags, "safepoint") && arrival(&v->arrivals, &e, t);
}

void vmlog_take(struct vmlog *v, const char *line, size_t len, void (*event)(void *ctx, struct jvm_event *e),
		void *ctx)
{
	struct jvm_event e;

	if (vmlog_take_part(v, line, len, event, ctx) || !vmlog_line(line, len, &e))
		return;
	if (is_going_on(&e)) {
		compiles_begin(&v->compiles, &e, event, ctx);
		return;
	}
	if (e.kind == JVM_EVENT_NOT_COMPILED)
		compiles_given_up(&v->compiles, &e, event, ctx);
	if (e.kind == JVM_EVENT_SAFEPOINT)
		put_last(&v->arrivals, &e, &v->together);
	event(ctx, &e);
}

/* Flush open events, whose ends are not in what is read from now on. */
static void vmlog_flush(struct vmlog *v, void (*event)(void *ctx, struct jvm_event *e), void *ctx)
{
	compiles_flush(&v->compiles, event, ctx);
	loads_release(&v->loads);
	arrivals_begin(&v->arrivals);
}

enum { PIECE = 1 << 20, SHARE = 16 << 20, MOST = 256 << 20, PUNCH = 4 << 20 };

bool vmlog_open(struct vmlog *v)
{
	*v = (struct vmlog){ .fd = memfd_create("arcprof-vm-log", MFD_CLOEXEC) };
	return v->fd >= 0;
}

void vmlog_close(struct vmlog *v)
{
	if (v->fd >= 0)
		close(v->fd);
	v->fd = -1;
	compiles_release(&v->compiles);
	loads_release(&v->loads);
	buf_release(&v->together);
}

/* Take the whole lines of data; return their bytes. */
static size_t vmlog_take_lines(struct vmlog *v, const char *data, size_t len,
			       void (*event)(void *ctx, struct jvm_event *e), void *ctx)
{
	const char *p = data, *nl;

	while ((nl = memchr(p, '\n', data + len - p))) {
		vmlog_take(v, p, nl - p, event, ctx);
		p = nl + 1;
	}
	return p - data;
}

/* Skip what is left if the JVM writes faster than we read. */
static uint64_t skip_backlog(struct vmlog *v)
{
	struct stat st;

	if (fstat(v->fd, &st) || (uint64_t)st.st_size < v->read || st.st_size - v->read <= MOST)
		return 0;
	v->read = st.st_size;
	return 1;
}

uint64_t vmlog_drain(struct vmlog *v, bool all, struct buf *scratch,
		     void (*event)(void *ctx, struct jvm_event *e), void *ctx)
{
	uint64_t skipped, budget = all ? MOST : SHARE;

	if (v->fd < 0)
		return 0;
	skipped = skip_backlog(v);
	if (skipped)
		vmlog_flush(v, event, ctx);
	while (budget) {
		ssize_t got;
		size_t used;

		buf_reset(scratch);
		got = pread(v->fd, buf_room(scratch, PIECE), PIECE, v->read);
		if (got <= 0)
			break;
		used = vmlog_take_lines(v, scratch->data, got, event, ctx);
		if (!used && got < PIECE)
			break;
		if (!used) {
			vmlog_flush(v, event, ctx);
			skipped++;
		}
		v->read += used ? used : PIECE;
		budget -= MIN(budget, (uint64_t)PIECE);
	}
	if (v->read - v->punched >= PUNCH) {
		uint64_t to = v->read & ~4095ull;

		fallocate(v->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, v->punched, to - v->punched);
		v->punched = to;
	}
	if (all)
		vmlog_flush(v, event, ctx);
	return skipped;
}
