// SPDX-License-Identifier: GPL-2.0-or-later
/* dump.c - "arcprof dump": the records of a trace as they are (show/dump.h). */
#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "cmd.h"
#include "input.h"
#include "report/format.h"
#include "show/dump.h"

struct dump_request {
	const char *input, *import;
	struct opt_list majors;
	struct dump_opts dump;
};

static const struct opt dump_opts[] = {
	OPT_GROUP("What to show"),
	OPT_STR('i', "input", struct dump_request, input, "file", "arcprof.data", "read the trace <file>; - is standard input"),
	OPT_IMPORT(struct dump_request, import),
	OPT_LIST('M', "major", struct dump_request, majors, "codes",
		 "show only records with these major codes, in hexadecimal (10: samples, 19: processes, modules, code)"),
	OPT_FLAG(0, "chunks", struct dump_request, dump.chunks,
		 "show the chunks of the file in place of its records"),
	OPT_FLAG(0, "schema", struct dump_request, dump.schema, "show the kinds of records that the file describes"),
	OPT_GROUP("Output"),
	OPT_FLAG(0, "raw", struct dump_request, dump.raw, "show the bytes of each record below it"),
	OPT_FORMAT(struct dump_request, dump.format, FORMATS_TEXT_JSON, "output format"),
	OPT_END
};

static int set_majors(struct dump_request *q, struct err *e)
{
	const struct opt_list *l = &q->majors;
	struct dump_opts *d = &q->dump;
	size_t i;

	for (i = 0; i < l->nr_items; i++) {
		char *end;
		unsigned long v = strtoul(l->items[i], &end, 16);

		if (*end || end == l->items[i] || v > 0xffff || i == ARRAY_SIZE(d->majors))
			return err_set(e, EINVAL, "--major: '%s' is not the hexadecimal code of a record",
				       l->items[i]);
		d->majors[d->nr_majors++] = v;
	}
	return 0;
}

static int dump_run(void *opts, int nr_operands, char **operands)
{
	struct dump_request *q = opts;
	struct dump_opts *o = &q->dump;
	struct err e = { 0 };
	struct walk *walk;
	int r;

	if ((r = command_input(&q->input, q->import, nr_operands, operands)))
		return r;

	if ((o->schema || o->chunks) && (o->raw || q->majors.nr_items || (o->schema && o->chunks))) {
		log_error("cannot be combined: --%s and --%s", o->schema ? "schema" : "chunks",
			  o->schema && o->chunks ? "chunks" : o->raw ? "raw" : "major");
		return EXIT_USAGE;
	}
	if (set_majors(q, &e)) {
		log_err(&e);
		return EXIT_USAGE;
	}
	if (o->schema && !o->nr_majors)
		o->majors[o->nr_majors++] = TRF_MAJOR_FILE;
	if (input_walk(&walk, q->input, q->import, &e))
		return log_err(&e);
	r = dump_print(walk, o, stdout, &e);
	r = r ? log_err(&e) : warn_of_damage(walk_path(walk), walk_damage(walk));
	walk_close(walk);
	return r;
}

const struct command cmd_dump = {
	.name = "dump",
	.summary = "show the records of a trace as they are",
	.operands = "[<file>]",
	.flags = CMD_PAGER,
	.opts = dump_opts,
	.opts_size = sizeof(struct dump_request),
	.run = dump_run,
};
