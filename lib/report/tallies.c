// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>

#include "base/quote.h"
#include "report/report.h"
#include "report/tallies.h"

static bool is_selected(const struct tally *y, uint32_t kind, const struct selection *select)
{
	return y->kind == kind && (!select || select_number(&select->pids, y->pid));
}

static void put_one(struct buf *b, const struct tally *y)
{
	buf_fmt(b, "the JVM's own count, of process %" PRIu32 ": ", y->pid);
	if (*y->why) {
		buf_str(b, "n/a: ");
		quote_add(b, y->why);
	} else if (y->kind == TALLY_PAUSES) {
		buf_fmt(b, "%" PRIu64 " pause%s in ", y->n, plural(y->n));
		report_put_duration(b, y->ns);
		buf_fmt(b, ", of which %" PRIu64 " in ", y->recorded_n);
		report_put_duration(b, y->recorded_ns);
		buf_str(b, " were recorded");
	} else {
		buf_fmt(b, "%" PRIu64 " wait%s for monitors, and %" PRIu64 " recorded", y->n, plural(y->n),
			y->recorded_n);
	}
	buf_putc(b, '\n');
}

void tallies_put(const struct tallies *t, uint32_t kind, const struct selection *select, FILE *out)
{
	struct buf b = BUF_INIT;
	size_t i;

	for (i = 0; i < t->nr; i++) {
		const struct tally *y = &t->list[i];

		if (is_selected(y, kind, select) && (*y->why || y->n || y->recorded_n))
			put_one(&b, y);
	}
	fputs(b.data ? b.data : "", out);
	buf_release(&b);
}

void tallies_json(const struct tallies *t, uint32_t kind, const struct selection *select, struct json *j)
{
	size_t i;

	json_array(j, "counted");
	for (i = 0; i < t->nr; i++) {
		const struct tally *y = &t->list[i];

		if (!is_selected(y, kind, select))
			continue;
		json_object(j, NULL);
		json_u64(j, "pid", y->pid);
		json_u64_known(j, kind == TALLY_PAUSES ? "pauses" : "enters", !*y->why, y->n);
		if (kind == TALLY_PAUSES)
			json_u64_known(j, "pauses_ns", !*y->why, y->ns);
		json_u64(j, "recorded", y->recorded_n);
		if (kind == TALLY_PAUSES)
			json_u64(j, "recorded_ns", y->recorded_ns);
		json_str(j, "why", *y->why ? y->why : NULL);
		json_end(j);
	}
	json_end(j);
}
