// SPDX-License-Identifier: GPL-2.0-or-later
/* mcp_traces.c - describes traces for clients of arcprof mcp (mcp_traces.h). */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/mem.h"
#include "folder.h"
#include "input.h"
#include "mcp.h"

enum { MAX_EVENTS = 64 };

struct about {
	char *command, *host;
	uint64_t start_ns, end_ns;	/* by one clock; 0: not known */
	char *events[MAX_EVENTS];
	size_t nr_events;
};

static void replace_text(char **s, const char *val, size_t len)
{
	free(*s);
	*s = xstrndup(val, len);
}

/* "event.0", but not "event.0.unit"; the same of "call.metric.". */
static bool is_numbered(const char *key, const char *prefix)
{
	size_t len = strlen(prefix);

	return !strncmp(key, prefix, len) && key[len] && !key[len + strspn(key + len, "0123456789")];
}

static void about_add_event(struct about *x, const char *val, size_t len)
{
	size_t i;

	for (i = 0; i < x->nr_events; i++)	/* labels are written again at the end */
		if (strlen(x->events[i]) == len && !memcmp(x->events[i], val, len))
			return;
	if (x->nr_events < MAX_EVENTS)
		x->events[x->nr_events++] = xstrndup(val, len);
}

static int about_take_label(void *ctx, const char *key_text, size_t key_len, const char *val, size_t val_len)
{
	struct about *x = ctx;
	char key[64], number[24];

	snprintf(key, sizeof(key), "%.*s", (int)MIN(key_len, sizeof(key)), key_text);
	snprintf(number, sizeof(number), "%.*s", (int)MIN(val_len, sizeof(number)), val);
	if (!strcmp(key, "command"))
		replace_text(&x->command, val, val_len);
	else if (!strcmp(key, "host"))
		replace_text(&x->host, val, val_len);
	else if (!strcmp(key, "start.mono_ns"))
		x->start_ns = strtoull(number, NULL, 10);
	else if (!strcmp(key, "end.mono_ns"))
		x->end_ns = strtoull(number, NULL, 10);
	else if (is_numbered(key, "event.") || is_numbered(key, "call.metric."))
		about_add_event(x, val, val_len);
	return 0;
}

static void put_about(struct json *j, const struct about *x, const struct trace_damage *d)
{
	size_t i;

	json_str(j, "command", x->command);
	json_str(j, "host", x->host);
	if (x->start_ns && x->end_ns > x->start_ns)
		json_u64(j, "duration_ns", x->end_ns - x->start_ns);
	else
		json_u64_known(j, "duration_ns", d->span_ns, d->span_ns);
	json_array(j, "events");
	for (i = 0; i < x->nr_events; i++)
		json_str(j, NULL, x->events[i]);
	json_end(j);
	json_bool(j, "damaged", d->nr_places || d->truncated);
}

static void print_trace(struct json *j, const char *path)
{
	static const struct trace_sink sink = { .label = about_take_label };
	struct about x = { .command = NULL };
	struct trace_reader *t;
	struct err e;
	int r = input_open_any(&t, path, &e);

	if (!r) {
		r = trace_read(t, &sink, &x, &e);
		if (!r)
			put_about(j, &x, trace_reader_damage(t));
		trace_reader_close(t);
	}
	if (r)
		json_str(j, "error", e.msg);
	while (x.nr_events)
		free(x.events[--x.nr_events]);
	free(x.command);
	free(x.host);
}

int mcp_traces_print(const struct fleet_paths *traces, FILE *out)
{
	struct json j;
	struct stat st;
	int i;

	json_init(&j, out);
	json_array(&j, NULL);
	for (i = 0; i < traces->nr; i++) {
		const char *path = traces->list[i];

		json_object(&j, NULL);
		json_u64(&j, "trace", i + 1);
		json_str(&j, "name", path);
		if (!stat(path, &st))
			json_u64(&j, "bytes", st.st_size);
		print_trace(&j, path);
		json_end(&j);
	}
	json_end(&j);
	return 0;
}
