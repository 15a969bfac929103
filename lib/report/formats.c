// SPDX-License-Identifier: GPL-2.0-or-later
/* formats.c - the list of output formats. */
#include "base/mem.h"
#include "report/format.h"

static const char *const formats[] = {
	[FORMAT_TEXT] = "text",
	[FORMAT_HEX] = "hex",
	[FORMAT_DEC] = "dec",
	[FORMAT_JSON] = "json",
	[FORMAT_CSV] = "csv",
	[FORMAT_TREE] = "tree",
};

const char *format_name(unsigned int id)
{
	return id < ARRAY_SIZE(formats) ? formats[id] : NULL;
}
