// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fleet_otlp.c - recordings in the spool as requests to a receiver of OpenTelemetry (fleet/collector.h): a
 * file ID.otlp.gz each, which is ID.otlp.refused once a receiver has said that it will never take it.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "cmd.h"
#include "fleet/collector.h"
#include "formats/otlp/otlp.h"
#include "input.h"
#include "spool.h"

static char *path_of(const char *spool, int64_t id, const char *end)
{
	return xasprintf("%s/%016" PRIx64 ".otlp.%s", spool, (uint64_t)id, end);
}

static bool parse_name(const char *name, struct segment *s)
{
	uint64_t id;
	int end = 0;

	if (sscanf(name, "%16" SCNx64 ".otlp.gz%n", &id, &end) != 1 || !end || name[end])
		return false;
	*s = (struct segment){ .id = id };
	return true;
}

struct request {
	struct trace_reader *t;
	struct origin origin;
	struct names names;
	struct model m;
	struct view v;
	int64_t id;
	char *data;
	size_t len;
};

/* Encode the trace as "report --format otlp" does. */
static int encode(struct request *q, const struct export_source *from, struct err *e)
{
	const struct profile_opts po = {
		.names = { .lines = true, .by_kind = true, .no_files = from->received }, .calibrate = true,
		.times = true, .all_events = true, .whole_functions = true,
	};
	const struct report_opts ro = { .report = &report_xarc, .format = FORMAT_TREE, .profile = &po };
	FILE *out;
	int r = profile_read(&q->names, &q->m, &q->origin, q->t, &po, e);

	if (!r)
		r = view_init(&q->v, &q->m, &q->origin, &ro, e);
	q->id = from->id;
	if (!r && !q->id)
		r = trace_number(from->path, &q->id, e);
	if (r)
		return r;
	out = open_memstream(&q->data, &q->len);
	r = out ? otlp_request(&q->v, q->id, out) : err_errno(e, "%s", from->path);
	if (out && fclose(out))
		r = err_errno(e, "%s", from->path);
	if (!r && q->len > COLLECTOR_MAX_REQUEST) {
		r = err_set(e, EFBIG, "%zu MiB are more than the 64 MiB that receivers of OpenTelemetry take",
			    q->len >> 20);
		err_hint(e, "shorter recordings are smaller: 'arcprof record -d 60'");
	}
	return r;
}

static int write_request(const struct request *q, const char *spool, uint64_t *len, struct err *e)
{
	char *path = path_of(spool, q->id, "gz");
	struct packed p;
	int r = pack_begin(&p, spool, "otlp", e);

	if (!r)
		fwrite(q->data, 1, q->len, p.out);
	r = r ? (pack_end(&p, NULL, &(struct err){ 0 }), r) : pack_end(&p, path, e);
	*len += r ? 0 : p.len;
	free(path);
	return r;
}

static int otlp_add_trace(const struct fleet_opts *o, const char *spool, const struct export_source *from,
			  uint64_t *len, struct err *e)
{
	struct request q = { .t = NULL };
	int r = input_open_any(&q.t, from->path, e);

	if (r)
		return r;
	trace_reader_no_standing(q.t);
	r = encode(&q, from, e);
	if (r)
		err_wrap(e, "%s", from->path);
	else if (q.m.flow.nr_nodes > 1)
		r = write_request(&q, spool, len, e);
	else if (!from->received)
		log_warn("%s has no samples and no calls; nothing of it is sent", from->path);
	if (!r)
		r = warn_of_damage(from->path, trace_reader_damage(q.t));
	free(q.data);
	view_release(&q.v);
	names_release(&q.names);
	model_release(&q.m);
	trace_reader_close(q.t);
	return r;
}

static void drop(const char *spool, const struct segment *s)
{
	char *path = path_of(spool, s->id, "gz");

	unlink(path);
	free(path);
}

/* Rename the segment: it stays, but no push sends it again. */
static void put_aside(const char *spool, const struct segment *s, const char *path, const struct err *why)
{
	char *aside = path_of(spool, s->id, "refused");

	log_err(why);
	if (!rename(path, aside))
		log_hint("what it refused is now %s, and is not sent again", aside);
	free(aside);
}

/* Report what the receiver answered, and return what became of the segment. */
static enum segment_fate judge(const struct collector_answer *a)
{
	if (a->nr_rejected)
		log_warn("the receiver rejected %" PRIu64 " profile%s%s%s", a->nr_rejected,
			 plural(a->nr_rejected), a->message ? ": " : "", a->message ? a->message : "");
	else if (a->message)
		log_warn("the receiver took it, and says: %s", a->message);
	return a->nr_rejected ? SEGMENT_PARTLY : SEGMENT_SENT;
}

static size_t one(const struct segment *s, size_t nr)
{
	(void)s;
	(void)nr;
	return 1;
}

static int send_request(const struct http_server *server, const char *spool, struct segment *s, size_t nr,
			uint64_t *wait_s, struct err *e)
{
	char *path = path_of(spool, s->id, "gz");
	struct collector_answer a = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), r;

	assert(nr == 1);
	r = fd < 0 ? err_errno(e, "%s", path) : collector_send(server, fd, &a, e);
	if (fd >= 0)
		close(fd);
	*wait_s = a.wait_s;
	if (!r) {
		s->fate = judge(&a);
	} else if (r == -EBADMSG) {
		put_aside(spool, s, path, e);
		s->fate = SEGMENT_REFUSED;
		r = 0;
	}
	free(a.message);
	free(path);
	return r;
}

const struct spool_kind spool_profiles = {
	.ask = collector_ask,
	.add = otlp_add_trace,
	.parse = parse_name,
	.batch = one,
	.send = send_request,
	.drop = drop,
};
