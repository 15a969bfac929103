// SPDX-License-Identifier: GPL-2.0-or-later
/* export.c - "arcprof export": traces as tables for a database, and what it needs to read them. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/gzip.h"
#include "base/inputs.h"
#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/term.h"
#include "cmd.h"
#include "fleet/id.h"
#include "fleet/sql.h"
#include "fleet/table.h"
#include "input.h"
#include "model/profile.h"
#include "output.h"
#include "reuse.h"

struct export_opts {
	const char *table, *names;
	struct opt_list metrics;
	const char *schema, *queries, *roll_up;
	bool by_pid, by_tid, merge_numbers, calibrate;
};

#define O struct export_opts
static const struct opt export_table[] = {
	OPT_STR(0, "table", O, table, "dir", NULL, "write the tables nodes.tsv.gz and names.tsv.gz into <dir>; into a file or -, only the nodes"),
	OPT_STR(0, "names", O, names, "file", NULL, "write the table of names to <file>"),
	OPT_LIST(0, "metric", O, metrics, "name", "only these metrics"),
	OPT_ON("calibrate", O, calibrate, "subtract what counting the calls cost"),
	OPT_GROUP("What is merged"),
	OPT_FLAG(0, "by-pid", O, by_pid, "keep processes of the same name apart"),
	OPT_FLAG(0, "by-tid", O, by_tid, "keep threads of the same name apart"),
	OPT_FLAG(0, "merge-numbers", O, merge_numbers, "merge threads whose names differ only in numbers"),
	OPT_GROUP("For the database"),
	OPT_STR(0, "schema", O, schema, "engine", NULL, "print the statements that create the tables, for clickhouse or duckdb"),
	OPT_STR(0, "queries", O, queries, "engine", NULL, "print the statements that create the views, for clickhouse or duckdb"),
	OPT_STR(0, "roll-up", O, roll_up, "engine", NULL, "print the statements that add up hours and days, for duckdb; clickhouse does it itself"),
	OPT_END
};
#undef O

int trace_number(const char *path, int64_t *id, struct err *e)
{
	struct io_map m;
	int r = inputs_map(path, &m, e);

	if (r)
		return r;
	*id = fleet_trace(m.data, m.len);
	io_unmap(&m);
	return 0;
}

int export_trace(struct fleet_table *t, const struct export_source *from, const struct opt_list *metrics,
		 bool calibrate, struct fleet_recording *rec, struct err *e)
{
	const struct profile_opts po = { .names.no_files = from->received, .metrics = *metrics,
					 .calibrate = calibrate, .all_events = true };
	struct trace_reader *reader;
	struct origin origin = { 0 };
	struct names names;
	struct model m;
	int r = input_open_any(&reader, from->path, e);

	*rec = (struct fleet_recording){ .id = from->id };
	if (r)
		return r;
	trace_reader_no_standing(reader);
	r = profile_read(&names, &m, &origin, reader, &po, e);
	rec->start_s = MIN(origin.start_ns / 1000000000, (uint64_t)UINT32_MAX);
	rec->host = origin.host;
	if (!r && !rec->id)
		r = trace_number(from->path, &rec->id, e);
	if (!r)
		r = fleet_table_add(t, rec, &m, e);
	rec->host = NULL;
	r = r ? err_wrap(e, "%s", from->path) : warn_of_damage(from->path, trace_reader_damage(reader));
	names_release(&names);
	model_release(&m);
	trace_reader_close(reader);
	return r;
}

/* Register the inputs before the first line of output, which might go into one of them. */
static int note_inputs(int nr, char **paths, struct err *e)
{
	int i, fd, r = 0;

	for (i = 0; i < nr && !r; i++) {
		fd = open(paths[i], O_PATH | O_CLOEXEC);
		if (fd < 0)
			continue;	/* who reads it says why */
		r = inputs_add(fd, paths[i], e);
		close(fd);
	}
	return r;
}

/* Write the nodes of all traces to standard output. */
static int export_put_nodes(struct fleet_table *t, const struct export_opts *o, int nr, char **paths,
			    struct err *e)
{
	const struct same_opts same = { .pids = o->by_pid, .tids = o->by_tid,
					.thread_digits = o->merge_numbers, .labels = true, .groups = true };
	int i, r = note_inputs(nr, paths, e), status = 0;
	FILE *out = r ? NULL : gzip_open(stdout, e);
	struct export_source from = { .id = 0 };
	struct fleet_recording rec;

	if (!out)
		return -e->code;
	fleet_table_header(FLEET_NODE_COLUMNS, out);
	fleet_table_init(t, out, &same);
	for (i = 0; i < nr && r >= 0; i++) {
		from.path = paths[i];
		r = export_trace(t, &from, &o->metrics, o->calibrate, &rec, e);
		status |= r;
	}
	fclose(out);
	return r < 0 ? r : status;
}

/* Write the names; output_commit() follows if this returns 0. */
static int put_names(const struct fleet_table *t, struct output *file, const char *path, struct err *e)
{
	FILE *out;
	int r = output_begin(file, path, e);

	if (r)
		return r;
	out = gzip_open(stdout, e);
	if (!out) {
		output_abandon(file);
		return -e->code;
	}
	fleet_table_header(FLEET_NAME_COLUMNS, out);
	fleet_table_names(t, out);
	fclose(out);
	return output_finish(file, e);
}

static void export_say(const struct fleet_table *t, int nr, const char *where)
{
	log_info("%d recording%s, %" PRIu64 " rows of nodes, %zu functions; wrote %s", nr, plural(nr),
		 t->nr_rows, t->nr_names, where);
	if (t->nr_collisions)
		log_warn("%" PRIu64 " contexts or functions had the number of another one, and got the next",
			 t->nr_collisions);
}

struct job {
	struct fleet_table *t;
	const struct export_opts *o;
	int nr;
	char **paths;
};

/*
 * Write nodes to that file, or with NULL to standard output: as export_put_nodes(); output_commit() follows.
 */
static int nodes_to(struct output *file, const char *nodes, const struct job *j, struct err *e)
{
	int r = nodes ? output_begin(file, nodes, e) : 0, status;

	if (r)
		return r;
	status = export_put_nodes(j->t, j->o, j->nr, j->paths, e);
	if (nodes && status < 0)
		output_abandon(file);
	else if (nodes && (r = output_finish(file, e)))
		status = r;
	else if (!nodes && status >= 0 && (fflush(stdout) || ferror(stdout)))
		status = -EIO;		/* main() says why */
	return status;
}

/*
 * Write nodes to a file, or with NULL to standard output; then names. Both files are of the same traces, or
 * stay as they were. Returns the exit status.
 */
static int write_tables(const struct export_opts *o, const char *nodes, const char *names, int nr,
			char **paths)
{
	struct fleet_table t = { 0 };
	struct output nodes_file, names_file;
	const struct job j = { &t, o, nr, paths };
	struct err e = { 0 };
	int status = nodes_to(&nodes_file, nodes, &j, &e), r = 0;

	if (status >= 0 && names && (r = put_names(&t, &names_file, names, &e)) && nodes)
		newfile_abandon(&nodes_file.file);
	if (status >= 0 && !r && nodes && (r = output_commit(&nodes_file, &e)) && names)
		newfile_abandon(&names_file.file);
	if (status >= 0 && !r && names)
		r = output_commit(&names_file, &e);
	if (r)
		status = r;
	if (status < 0 && !e.code)
		status = 1;
	else if (status < 0)
		status = log_err(&e);
	else
		export_say(&t, nr, nodes ? o->table : "the nodes to standard output");
	fleet_table_release(&t);
	return status;
}

/*
 * Return whether path is a folder, perhaps a new one: "x.gz", and what exists and is not a folder, are files.
 */
static bool is_folder(const char *path)
{
	size_t len = strlen(path);
	struct stat st;

	if (!stat(path, &st))
		return S_ISDIR(st.st_mode);
	return len < 3 || strcmp(path + len - 3, ".gz") != 0;
}

/* Make the folder; return 1 if it did not exist. */
static int export_make_folder(const char *path, struct err *e)
{
	struct place p;
	int r;

	if (io_is_folder(path))
		return 0;
	r = place_find_folder(&p, AT_FDCWD, path, e);
	if (r)
		return r;
	r = mkdirat(p.dir, p.name, 0777) ? err_errno(e, "%s", path) : 1;
	place_release(&p);
	return r;
}

static int write_folder(const struct export_opts *o, int nr, char **paths)
{
	char *nodes = xasprintf("%s/nodes.tsv.gz", o->table);
	char *names = o->names ? xstrdup(o->names) : xasprintf("%s/names.tsv.gz", o->table);
	struct err e;
	int status, made = export_make_folder(o->table, &e);

	if (made < 0) {
		status = log_err(&e);
	} else {
		status = write_tables(o, nodes, names, nr, paths);
		if (made)		/* of no use without them */
			rmdir(o->table);
	}
	free(nodes);
	free(names);
	return status;
}

static int print_sql(const struct export_opts *o)
{
	const char *engine = o->schema ? o->schema : o->queries ? o->queries : o->roll_up;
	enum sql_engine which = sql_engine_parse(engine);

	if (which == SQL_NR_ENGINES) {
		log_error("'%s' is no engine that arcprof knows: clickhouse, duckdb", engine);
		return EXIT_USAGE;
	}
	if (o->schema) {
		sql_schema(which, stdout);
	} else if (o->queries) {
		sql_queries(which, stdout);
	} else if (sql_roll_up(which, stdout)) {
		log_error("%s adds up hours and days itself, as rows come: 'arcprof fleet create'", engine);
		return EXIT_USAGE;
	}
	return 0;
}

static int export_run(void *opts, int nr_operands, char **operands)
{
	const struct export_opts *o = opts;

	if (!!o->table + !!o->schema + !!o->queries + !!o->roll_up != 1) {
		log_error("one of --table, --schema, --queries and --roll-up is needed");
		return EXIT_USAGE;
	}
	if (!o->table) {
		if (nr_operands || o->names || o->metrics.nr_items || o->by_pid || o->by_tid ||
		    o->merge_numbers) {
			log_error("--%s prints the same for all traces",
				  o->schema ? "schema" : o->queries ? "queries" : "roll-up");
			return EXIT_USAGE;
		}
		return print_sql(o);
	}
	if (!nr_operands) {
		log_error("no traces to export");
		log_hint("arcprof export --table tables/ arcprof.data");
		return EXIT_USAGE;
	}
	if (strcmp(o->table, "-") != 0)
		return is_folder(o->table) ? write_folder(o, nr_operands, operands) :
					     write_tables(o, o->table, o->names, nr_operands, operands);
	if (term_is_tty()) {
		log_error("standard output is a terminal, and compressed tables are nothing to read");
		return 1;
	}
	return write_tables(o, NULL, o->names, nr_operands, operands);
}

const struct command cmd_export = {
	.name = "export",
	.summary = "write traces as tables for a database, and its schema and queries",
	.operands = "[<file>...]",
	.opts = export_table,
	.opts_size = sizeof(struct export_opts),
	.run = export_run,
};
