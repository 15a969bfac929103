// SPDX-License-Identifier: GPL-2.0-or-later
/* hprof_text.c - see hprof.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/opt.h"
#include "report/hprof.h"

void hprof_put_date(uint64_t start_ns, FILE *out)
{
	time_t at = start_ns ? (time_t)(start_ns / 1000000000) : time(NULL);
	char text[64];
	struct tm tm;

	/* as ctime() writes it whatever the language is; a dump can say any year */
	if (!localtime_r(&at, &tm) || tm.tm_year > 8099 ||
	    !strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", &tm))
		fputs("Thu Jan  1 00:00:00 1970\n", out);
	else
		fprintf(out, "%s\n", text);
}

void hprof_put_head(uint64_t start_ns, FILE *out)
{
	fputs("JAVA PROFILE 1.0.1, created ", out);
	hprof_put_date(start_ns, out);
	fputs("\n--------\n\n", out);
}

void hprof_put_empty_trace(FILE *out)
{
	fprintf(out, "TRACE %d:\n\t<empty>\n", HPROF_EMPTY_TRACE);
}

static int parse_option(const char *option, bool *threads, uint64_t *depth, struct err *e)
{
	enum { MOST = 1 << 20 };
	bool yes = !strcmp(option, "thread=y");

	if (yes || !strcmp(option, "thread=n")) {
		*threads = yes;
		return 0;
	}
	if (strncmp(option, "depth=", strlen("depth=")))
		return err_set(e, EINVAL, "unknown option '%s' (expected one of: thread=y, thread=n, depth=<n>)",
			       option);
	if (opt_parse_u64(option + strlen("depth="), depth, e))
		return -EINVAL;
	return *depth && *depth <= MOST ? 0 : err_set(e, EINVAL, "depth: must be between 1 and %d", MOST);
}

int hprof_parse(const char *text, bool *threads, uint64_t *depth, struct err *e)
{
	char *copy = xstrdup(text), *rest = copy, *option;
	int r = 0;

	while (!r && (option = strsep(&rest, ",")))
		r = parse_option(option, threads, depth, e);
	free(copy);
	return r;
}

double hprof_percent(uint64_t part, uint64_t all)
{
	return all ? 100. * part / all : 0;
}

void hprof_begin_sites(const char *order, uint64_t start_ns, FILE *out)
{
	fprintf(out, "SITES BEGIN (ordered by %s) ", order);
	hprof_put_date(start_ns, out);
	fputs("          percent          live          alloc'ed  stack class\n"
	      " rank   self  accum     bytes objs     bytes  objs trace name\n", out);
}

static void hprof_text_put_value(bool known, uint64_t v, int width, FILE *out)
{
	if (known)
		fprintf(out, " %*" PRIu64, width, v);
	else
		fprintf(out, " %*s", width, "-");
}

void hprof_put_site(const struct hprof_site *s, FILE *out)
{
	fprintf(out, "%5" PRIu64 " %5.2f%% %5.2f%%", s->rank, hprof_percent(s->self, s->total),
		hprof_percent(s->accum, s->total));
	hprof_text_put_value(s->has_live, s->live, 9, out);
	hprof_text_put_value(s->has_live_objects, s->live_objects, 4, out);
	hprof_text_put_value(s->has_alloc, s->alloc, 9, out);
	hprof_text_put_value(s->has_alloc_objects, s->alloc_objects, 5, out);
	fprintf(out, " %5" PRIu32 " %s\n", s->trace, s->class);
}
