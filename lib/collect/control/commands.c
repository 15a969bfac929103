// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * commands.c - carries out the commands for a running recording (control.h).
 *
 * Nothing recorded is removed from the file: "reset" and "zero" are moments, stored in the
 * labels reset.mono_ns and zero.mono_ns. The consumption of calls up to such a moment is stored
 * before it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/quote.h"
#include "collect/engine/recording.h"

static void put_targets(const struct collect *c, struct buf *b)
{
	const struct collect_opts *o = c->o;
	size_t i;

	if (!o->nr_pids && !o->nr_tids) {
		buf_str(b, "records: ");
		quote_add(b, o->command_line);
		buf_putc(b, '\n');
		return;
	}
	buf_fmt(b, "records: %s", o->nr_pids ? "process" : "thread");
	for (i = 0; i < o->nr_pids; i++)
		buf_fmt(b, "%s %d", i ? "," : "", o->pids[i]);
	for (i = 0; i < o->nr_tids; i++)
		buf_fmt(b, "%s %d", i ? "," : "", o->tids[i]);
	buf_putc(b, '\n');
}

static int status(struct collect *c, struct buf *b, struct err *e)
{
	uint64_t now = clock_mono_ns();
	struct callflow_count n;

	buf_fmt(b, "recorder: %d\n", (int)getpid());
	put_targets(c, b);
	buf_fmt(b, "state: %s\n", !c->begun_ns ? "waiting" : c->paused ? "paused" : "recording");
	switches_list(c, b);
	filters_list(c, b);
	buf_fmt(b, "seconds: %.1f\n", c->begun_ns ? (now - c->begun_ns) / 1e9 : 0);
	if (c->ev.conf.nr_events)
		buf_fmt(b, "samples: %" PRIu64 "\nlost: %" PRIu64 "\n", c->res->nr_samples, c->res->nr_lost);
	if (c->sched)
		buf_fmt(b, "dispatches: %" PRIu64 "\nlost dispatches: %" PRIu64 "\n", c->res->nr_dispatches,
			c->res->nr_lost_sched);
	if (c->o->callflow.on) {
		callflows_count(&c->calls, &n);
		buf_fmt(b, "calls: %" PRIu64 "\ncontexts: %" PRIu64 "\ncounted threads: %" PRIu64 "\n",
			n.nr_calls,
			n.nr_contexts, n.nr_threads);
	}
	cost_put(c, b);
	buf_fmt(b, "JVMs: %" PRIu64 "\nfile: ", c->res->nr_jvms);
	quote_add(b, segments_folder(c) ? segments_folder(c) : c->o->output);
	buf_fmt(b, "\nbytes: %" PRIu64 "\n", trace_writer_bytes(c->w));
	return 0;
}

static int ctl_store(struct collect *c, struct err *e)
{
	if (c->o->callflow.on)
		callflows_store(&c->calls);
	trace_writer_flush(c->w);
	if (trace_writer_error(c->w))
		return err_set(e, EIO, "the trace cannot be written");
	return 0;
}

/* List the JVMs that are being recorded, one per line. */
static int jvms(struct collect *c, struct buf *b, struct err *e)
{
	const struct java *j;

	for (j = c->javas; j; j = j->next)
		if (!j->gone && !j->marks)
			buf_fmt(b, "%d\n", j->proc->pid);
	return 0;
}

static int snapshot(struct collect *c, struct buf *b, struct err *e)
{
	return ctl_store(c, e);
}

static int ctl_mark(struct collect *c, const char *label, struct err *e)
{
	int r = ctl_store(c, e);

	if (r)
		return r;
	trace_write_label(c->w, label, "%" PRIu64, clock_mono_ns());
	trace_writer_flush(c->w);
	return 0;
}

static int reset(struct collect *c, struct buf *b, struct err *e)
{
	return ctl_mark(c, "reset.mono_ns", e);
}

static int zero(struct collect *c, struct buf *b, struct err *e)
{
	return ctl_mark(c, "zero.mono_ns", e);
}

static int set_paused(struct collect *c, bool paused, struct err *e)
{
	if (c->sched)
		return err_set(e, EINVAL, "dispatches cannot be paused: what a thread does follows from all that came before");
	if (c->switches.calls.fixed)
		return err_set(e, EINVAL, "--calltrace and --trace cannot be paused: each event follows from those before");
	if (switches_any_fixed(c))
		return err_set(e, EINVAL, "live objects and native memory cannot be paused: what is freed during the pause would not be known");
	if (!c->begun_ns)
		return err_set(e, EINVAL, "the recording has not begun");
	if (c->paused == paused)
		return err_set(e, EINVAL, paused ? "it is paused already" : "it is not paused");
	c->paused = paused;
	switches_pause(c);
	return 0;
}

static int pause_it(struct collect *c, struct buf *b, struct err *e)
{
	return set_paused(c, true, e);
}

static int ctl_resume(struct collect *c, struct buf *b, struct err *e)
{
	return set_paused(c, false, e);
}

static int set_events(struct collect *c, const char *names, bool on, struct buf *b, struct err *e)
{
	if (!c->begun_ns)
		return err_set(e, EINVAL, "the recording has not begun");
	return switches_set(c, names, on, b, e);
}

static int set_intervals(struct collect *c, const char *settings, struct buf *b, struct err *e)
{
	if (!c->begun_ns)
		return err_set(e, EINVAL, "the recording has not begun");
	return switches_set_intervals(c, settings, b, e);
}

static int set_filter(struct collect *c, const char *conditions, struct err *e)
{
	if (!c->begun_ns)
		return err_set(e, EINVAL, "the recording has not begun");
	return filters_set(c, conditions, e);
}

/*
 * Carry out "dump" or "dump PATH", and answer its number. The mark tells readers of this and later dumps why
 * it was made.
 */
static int ctl_dump(struct collect *c, const char *path, struct buf *b, struct err *e)
{
	static const char when[] = "ctl dump";
	int64_t number = flight_ask(c, path, "ctl", e);

	if (number < 0)
		return (int)number;
	trace_write_trigger(c->w, &(struct rec_trigger){
		.time_ns = clock_mono_ns(), .when = when, .when_len = strlen(when), .cause = "by hand",
		.cause_len = strlen("by hand"),
	});
	buf_fmt(b, "%" PRId64 "\n", number);
	return 0;
}

static int ctl_stop(struct collect *c, struct buf *b, struct err *e)
{
	c->stop_asked = true;
	return 0;
}

int collect_command(void *ctx, const char *command, struct buf *reply, struct err *e)
{
	static const struct {
		const char *word;
		int (*run)(struct collect *c, struct buf *reply, struct err *e);
	} commands[] = {
		{ "status", status }, { "jvms", jvms }, { "snapshot", snapshot }, { "reset", reset }, { "zero", zero },
		{ "pause", pause_it }, { "resume", ctl_resume }, { "stop", ctl_stop },
	};
	size_t i;

	if (!strncmp(command, "enable ", 7))
		return set_events(ctx, command + 7, true, reply, e);
	if (!strncmp(command, "disable ", 8))
		return set_events(ctx, command + 8, false, reply, e);
	if (!strncmp(command, "set interval ", 13))
		return set_intervals(ctx, command + 13, reply, e);
	if (!strncmp(command, "set filter ", 11))
		return set_filter(ctx, command + 11, e);
	if (!strcmp(command, "dump") || !strncmp(command, "dump ", 5))
		return ctl_dump(ctx, command[4] ? command + 5 : NULL, reply, e);
	if (!strncmp(command, "dumped ", 7))
		return flight_state(ctx, strtoull(command + 7, NULL, 10), reply, e);
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i].word, command))
			return commands[i].run(ctx, reply, e);
	return err_set(e, EINVAL, "this recorder does not know '%s'", command);
}
