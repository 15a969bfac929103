/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table.h - models of recordings as two tables for a database: a row for each node and metric, and one for
 * each function.  Documentation/arcprof-export.adoc lists the columns.
 *
 * Contexts of all recordings that are the same (model/same.h) have the same path, so that trees are merged
 * by adding up rows of equal path.
 *
 *	fleet_table_header(FLEET_NODE_COLUMNS, nodes);
 *	fleet_table_init(&t, nodes, &same);
 *	fleet_table_add(&t, &recording, &m, &e);	for each
 *	fleet_table_header(FLEET_NAME_COLUMNS, names);
 *	fleet_table_names(&t, names);
 *	fleet_table_release(&t);
 */
#ifndef FLEET_TABLE_H
#define FLEET_TABLE_H

#include <stdio.h>

#include "base/err.h"
#include "base/hash.h"
#include "model/same.h"

/* The names of the columns, in their order. */
#define FLEET_NODE_COLUMNS \
	"t,trace,service,version,host,process,thread,labels,pid,tid,source,metric,unit,path,parent,func,pfunc," \
	"depth,rl,prl,n,base,cum"
#define FLEET_NAME_COLUMNS "func,kind,name,module,detail"

/* Writes them as the first line of a table. */
void fleet_table_header(const char *columns, FILE *out);

/* Strings are borrowed for the call; NULL is none. */
struct fleet_recording {
	int64_t id;
	uint32_t start_s;		/* since 1970; 0: not known */
	const char *host;
};

struct fleet_table {
	FILE *out;
	struct same_opts same;
	uint64_t nr_rows;
	uint64_t nr_collisions;		/* of paths and functions that had the number of another one */
	struct strtab texts;		/* "kind TAB name TAB module TAB detail" */
	struct map func_text;		/* func -> strtab id */
	struct map path_at;		/* path -> index in paths */
	struct fleet_path_key {
		int64_t parent, func;
	} *paths;
	size_t nr_paths, alloc_paths;
	struct fleet_name {
		int64_t func;
		uint32_t text;
	} *names;
	size_t nr_names, alloc_names;
};

/* Nodes go to out, which is the caller's to check and to close. */
void fleet_table_init(struct fleet_table *t, FILE *out, const struct same_opts *same);
void fleet_table_release(struct fleet_table *t);

/* Add a finished model. -ERANGE: a value needs 64 bits. */
int fleet_table_add(struct fleet_table *t, const struct fleet_recording *r, const struct model *m,
		    struct err *e);
/* Print the functions of everything that was added. */
void fleet_table_names(const struct fleet_table *t, FILE *out);

/*
 * Make the first columns of rows, from t to tid, separated by tabs: for each process and thread of a
 * finished model, and with node 0 for what is in neither. Text is borrowed for the call.
 */
void fleet_table_heads(const struct same_opts *same, const struct fleet_recording *r, const struct model *m,
		       void (*head)(void *ctx, uint32_t node, const char *columns), void *ctx);

#endif
