// SPDX-License-Identifier: GPL-2.0-or-later
/* formats.c - the list of output formats. */
#include "base/mem.h"
#include "flow/input.h"
#include "report/format.h"
#include "report/report.h"

/* In the order of enum format_id, then as help shows them. */
static const struct format formats[] = {
	[FORMAT_TEXT] = { "text" },
	[FORMAT_HEX] = { "hex" },
	[FORMAT_DEC] = { "dec" },
	[FORMAT_JSON] = { "json" },
	[FORMAT_CSV] = { "csv" },
	[FORMAT_TREE] = { "tree", .print_tree = tree_print },
	{ "folded", .print_tree = folded_print },
	{ "pprof", .print_tree = pprof_print, .binary = true, .detailed = true },
};

const struct format *format_get(int id)
{
	return &formats[id];
}

const char *format_name(unsigned int id)
{
	return id < ARRAY_SIZE(formats) ? formats[id].name : NULL;
}

int tree_print(struct view *v, FILE *out, struct err *e)
{
	output_tree(v->m, out);
	return 0;
}
