// SPDX-License-Identifier: GPL-2.0-or-later
/* refused.c - collects what could not be counted, and writes it as labels (refused.h). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "collect/calls/refused.h"
#include "wall/wall.h"

enum { NR_EXAMPLES = 3, MAX_REASONS = 64 };

static struct reason *reason_of(struct refused *f, const char *why)
{
	size_t i;

	for (i = 0; i < f->nr_reasons; i++)
		if (!strcmp(f->reasons[i].why, why))
			return &f->reasons[i];
	if (f->nr_reasons == MAX_REASONS)
		return NULL;	/* they come from a JVM: there may be any number of them */
	VEC_GROW(f->reasons, f->nr_reasons, f->alloc_reasons);
	f->reasons[f->nr_reasons] = (struct reason){ .why = xstrdup(why) };
	return &f->reasons[f->nr_reasons++];
}

static void add_example(struct reason *x, const struct rec_call_refused *r)
{
	char *name = xasprintf("%s%s%s", r->class_name, *r->name ? "." : "", r->name), *both, *p;

	for (p = name; *p; p++)
		if (*p == '/')
			*p = '.';
	if (x->examples && strstr(x->examples, name)) {	/* with another signature */
		free(name);
		return;
	}
	both = x->examples ? xasprintf("%s, %s", x->examples, name) : xstrdup(name);
	free(x->examples);
	free(name);
	x->examples = both;
	x->nr_examples++;
}

void refused_add(struct refused *f, struct trace_writer *w, const struct rec_call_refused *r)
{
	struct reason *x = reason_of(f, r->why);

	trace_write_call_refused(w, r);
	if (!x)
		return;
	if (x->nr_examples < NR_EXAMPLES)
		add_example(x, r);
	*(*r->name ? &x->nr_methods : &x->nr_classes) += 1;
}

static void refused_put_number(struct buf *b, uint64_t n, const char *one, const char *many)
{
	buf_fmt(b, "%" PRIu64 " %s", n, n == 1 ? one : many);
}

static const char *why_not(uint32_t kind)
{
	switch (kind) {
	case CALLFLOW_ALLOC_BYTES:
	case CALLFLOW_BYTECODES:
		return "only JVMs tell";
	case CALLFLOW_ALLOC_OBJECTS:
		return "only JVMs from JDK 11 on tell, when recorded from their start";
	case CALLFLOW_DISPATCHES:
		return "perf_event_open is not permitted to them, or a filter of system calls might be against it";
	default:
		return "the counter cannot be read by them";
	}
}

void refused_metric(struct refused *f, uint32_t kind, const char *name, uint64_t nr_threads)
{
	VEC_GROW(f->lines, f->nr_lines, f->alloc_lines);
	f->lines[f->nr_lines++] = xasprintf("%s of %" PRIu64 " thread%s: %s", name, nr_threads,
						plural(nr_threads), why_not(kind));
}

static bool refused_is_known(const struct refused *f, const char *line)
{
	size_t i;

	for (i = 0; i < f->nr_lines; i++)
		if (!strcmp(f->lines[i], line))
			return true;
	return false;
}

void refused_source(struct refused *f, const char *name, int pid, const char *why)
{
	char *line = xasprintf("%s of process %d: %s", name, pid, why);

	/* they come from JVMs, too, and again when what they are to report changes */
	if (f->nr_lines == MAX_REASONS || refused_is_known(f, line)) {
		free(line);
		return;
	}
	*VEC_ADD(f->lines, f->nr_lines, f->alloc_lines) = line;
}

void refused_memory(struct refused *f, uint64_t nr_programs, uint64_t nr_untracked)
{
	if (nr_programs)
		refused_text(f, "native-memory of %" PRIu64 " program%s: linked statically, or with rights of %s own",
			     nr_programs, plural(nr_programs), nr_programs == 1 ? "its" : "their");
	if (nr_untracked)
		refused_text(f, "native-live of %" PRIu64 " sample%s: more blocks than the table has room for; native-unknown has what they stand for",
			     nr_untracked, plural(nr_untracked));
}

static void put_foreign(struct refused *f, const char *what, uint64_t nr, const char *why)
{
	if (nr)
		refused_text(f, "%s of %" PRIu64 " process%s: %s", what, nr, plural_es(nr), why);
}

uint64_t refused_peers(struct refused *f, const struct jvm_refusals *r)
{
	uint64_t nr = r->strangers + r->crowd + r->silent;

	if (r->late)
		refused_text(f, "what %" PRIu64 " process%s would have told: %s not answered before %s ended, or in time",
			     r->late, plural_es(r->late), r->late == 1 ? "it was" : "they were",
			     r->late == 1 ? "it" : "they");
	put_foreign(f, "what an agent or library tells", r->clocks, "its clock is another than ours (time_namespaces(7))");
	put_foreign(f, "marks", r->foreign_marks, "linked with libarcprof of another version");
	put_foreign(f, "records", r->foreign, "an agent or library of another version of arcprof");
	if (!nr)
		return 0;
	VEC_GROW(f->lines, f->nr_lines, f->alloc_lines);
	f->lines[f->nr_lines++] = xasprintf("%" PRIu64 " connection%s to the recorder: %" PRIu64 " of processes that are "
					    "not recorded, %" PRIu64 " too many, %" PRIu64 " silent", nr,
					    plural(nr), r->strangers, r->crowd, r->silent);
	return nr;
}

void refused_text(struct refused *f, const char *fmt, ...)
{
	struct buf b = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vfmt(&b, fmt, ap);
	va_end(ap);
	*VEC_ADD(f->lines, f->nr_lines, f->alloc_lines) = xstrdup(b.data);
	buf_release(&b);
}

void refused_walls(struct refused *f, uint64_t nr_threads)
{
	VEC_GROW(f->lines, f->nr_lines, f->alloc_lines);
	f->lines[f->nr_lines++] = xasprintf("wall of %" PRIu64 " thread%s: more than %d at a time",
					    nr_threads, plural(nr_threads), WALL_DEFAULT_SLOTS - 1);
}

static void put_label(struct trace_writer *w, size_t nr, const char *text)
{
	char key[32];

	snprintf(key, sizeof(key), "refused.%zu", nr);
	trace_write_label(w, key, "%s", text);
}

void refused_labels(const struct refused *f, struct trace_writer *w, size_t first)
{
	struct buf b = BUF_INIT;
	size_t i;

	for (i = 0; i < f->nr_reasons; i++) {
		const struct reason *x = &f->reasons[i];

		buf_reset(&b);
		buf_str(&b, "calls of ");
		if (x->nr_methods)
			refused_put_number(&b, x->nr_methods, "method", "methods");
		if (x->nr_methods && x->nr_classes)
			buf_str(&b, " and ");
		if (x->nr_classes)
			refused_put_number(&b, x->nr_classes, "class", "classes");
		buf_fmt(&b, ": %s (%s%s)", x->why, x->examples,
			x->nr_methods + x->nr_classes > x->nr_examples ? ", ..." : "");
		put_label(w, first++, b.data);
	}
	for (i = 0; i < f->nr_lines; i++)
		put_label(w, first++, f->lines[i]);
	buf_release(&b);
}

void refused_cut(struct refused *f, size_t nr_lines)
{
	while (f->nr_lines > nr_lines)
		free(f->lines[--f->nr_lines]);
}

void refused_release(struct refused *f)
{
	size_t i;

	for (i = 0; i < f->nr_reasons; i++) {
		free(f->reasons[i].why);
		free(f->reasons[i].examples);
	}
	free(f->reasons);
	for (i = 0; i < f->nr_lines; i++)
		free(f->lines[i]);
	free(f->lines);
}
