// SPDX-License-Identifier: GPL-2.0-or-later
/* u-formats.c - the manual's table of what formats have a place for is that of the program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "report/format.h"
#include "unit.h"

enum { MAX_COLUMNS = 16 };

/* The cells of a row: "|a |b |c" without blanks at their ends. Returns how many. */
static int split(char *line, char **cells)
{
	int nr = 0;
	char *at;

	line[strcspn(line, "\n")] = '\0';
	for (at = strchr(line, '|'); at && nr < MAX_COLUMNS; nr++) {
		cells[nr] = at + 1;
		at = strchr(at + 1, '|');
		if (at)
			at[-1] = '\0';		/* the blank before it */
	}
	return nr;
}

static int find_format(const char *name)
{
	int id;

	for (id = 0; format_name(id) && strcmp(format_name(id), name); id++)
		;
	return format_name(id) ? id : -1;
}

/* The next table in f: one column a format, one row a fact. Returns how many formats it has. */
static int check_table(FILE *f)
{
	char head[256] = "", line[256], *formats[MAX_COLUMNS], *cells[MAX_COLUMNS];
	int nr, i, fact = 0;

	while (fgets(line, sizeof(line), f) && strncmp(line, "|What a trace has |", 19))
		;
	memcpy(head, line, sizeof(head));
	nr = split(head, formats);
	while (fact < FACT_NR && fgets(line, sizeof(line), f)) {
		if (split(line, cells) != nr)
			continue;
		CHECK_STR(cells[0], format_fact_name(fact));
		for (i = 1; i < nr; i++) {
			int id = find_format(formats[i]);

			CHECK(id >= 0);
			if (id >= 0)
				CHECK_STR(cells[i], format_get(id)->lacks & FACT_BIT(fact) ? "-" : "yes");
		}
		fact++;
	}
	CHECK_U64(fact, FACT_NR);
	return nr - 1;
}

TEST(formats_have_in_the_manual_what_they_have)
{
	const char *source = getenv("ARCPROF_SOURCE");
	struct buf path = BUF_INIT;
	FILE *f;

	buf_fmt(&path, "%s/Documentation/arcprof-report.adoc", source ? source : ".");
	f = fopen(path.data, "re");
	buf_release(&path);
	CHECK(f);
	if (!f)
		return;
	CHECK_U64(check_table(f) + check_table(f), 9);
	fclose(f);
}
