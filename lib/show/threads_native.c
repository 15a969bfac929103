// SPDX-License-Identifier: GPL-2.0-or-later
/* threads_native.c - threads seen from outside, as text, JSON and CSV (threads.h). */
#include <inttypes.h>
#include <string.h>

#include "base/quote.h"
#include "show/threads.h"

static const char *const no_stack[] = {
	[NATIVE_RUNS] = "no stack: it is running", [NATIVE_NO_CODE] = "no stack: it has no user code",
	[NATIVE_DENIED] = "no stack: this user may not look at it (ptrace)",
	[NATIVE_CUT] = "... the rest is not known",
};

static void threads_native_put_frame(const struct native_frame *f, struct buf *b)
{
	buf_str(b, "    at ");
	if (f->function)
		quote_add(b, f->function);
	else
		buf_fmt(b, "0x%" PRIx64, f->addr);
	if (f->file)
		buf_str(b, " (");
	else
		buf_str(b, f->module ? " (" : "");
	if (f->file) {
		quote_add(b, f->file);
		if (f->line)
			buf_fmt(b, ":%" PRIu32, f->line);
	} else if (f->module) {
		quote_add(b, f->module);
	}
	buf_str(b, f->file || f->module ? ")\n" : "\n");
}

static void threads_native_put_thread(const struct natives *n, const struct native_thread *t, struct buf *b)
{
	size_t i;

	buf_putc(b, '"');
	quote_add(b, t->name);
	buf_fmt(b, "\", %s, tid %d", natives_state(t->state), t->tid);
	if (t->cpu_ns)
		buf_fmt(b, ", CPU time %.3f s", t->cpu_ns / 1e9);
	buf_putc(b, '\n');
	if (t->reason) {
		buf_str(b, "    ");
		quote_add(b, t->reason);
		if (t->file) {
			buf_putc(b, ' ');
			quote_add(b, t->file);
		}
		buf_putc(b, '\n');
	}
	for (i = 0; i < t->nr_frames; i++)
		threads_native_put_frame(&n->frames[t->first_frame + i], b);
	if (t->end != NATIVE_COMPLETE)
		buf_fmt(b, "    %s\n", no_stack[t->end]);
	buf_putc(b, '\n');
}

void threads_text_natives(const struct natives *n, FILE *out)
{
	struct buf b = BUF_INIT;
	size_t i;

	for (i = 0; i < n->nr_threads; i++) {
		threads_native_put_thread(n, &n->threads[i], &b);
		fwrite(b.data, 1, b.len, out);
		buf_reset(&b);
	}
	buf_release(&b);
}

static void threads_native_json_thread(const struct natives *n, const struct native_thread *t, struct json *j)
{
	size_t i;

	json_object(j, NULL);
	json_u64(j, "tid", t->tid);
	json_str(j, "name", t->name);
	json_str(j, "state", natives_state(t->state));
	json_u64_known(j, "cpu_ns", t->cpu_ns, t->cpu_ns);
	json_str(j, "reason", t->reason);
	json_str(j, "waits_for_file", t->file);
	json_bool(j, "complete", t->end == NATIVE_COMPLETE);
	json_array(j, "frames");
	for (i = 0; i < t->nr_frames; i++) {
		const struct native_frame *f = &n->frames[t->first_frame + i];

		json_object(j, NULL);
		json_str(j, "function", f->function);
		json_str(j, "module", f->module);
		json_str(j, "file", f->file);
		json_u64_known(j, "line", f->line, f->line);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

void threads_json_natives(const struct natives *n, struct json *j)
{
	size_t i;

	json_array(j, "native_threads");
	for (i = 0; i < n->nr_threads; i++)
		threads_native_json_thread(n, &n->threads[i], j);
	json_end(j);
}

void threads_csv_natives(const struct natives *n, struct sheet *s)
{
	size_t i;

	for (i = 0; i < n->nr_threads; i++) {
		const struct native_thread *t = &n->threads[i];
		const struct native_frame *f = t->nr_frames ? &n->frames[t->first_frame] : NULL;
		const struct cell cells[] = {
			cell_none, cell_text(t->name), cell_bool(false), cell_u64(t->tid),
			cell_text(natives_state(t->state)),
			t->cpu_ns ? cell_u64(t->cpu_ns) : cell_none, cell_none,
			cell_text(t->reason), cell_none, cell_none, cell_text(f ? f->function : NULL),
			cell_text(f ? f->file : NULL), f && f->line ? cell_u64(f->line) : cell_none,
		};

		sheet_row(s, NULL, cells);
	}
}
