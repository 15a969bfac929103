/* SPDX-License-Identifier: GPL-2.0-or-later */
/* heap.h - the reports of "arcprof heap" that are not trees. */
#ifndef SHOW_HEAP_H
#define SHOW_HEAP_H

#include <stdio.h>

#include "base/opt.h"
#include "heap/heap.h"
#include "report/sheet.h"

struct heap_table_opts {
	int format;			/* of FORMATS_TABLE: report/format.h */
	FILE *out;
	uint64_t limit;			/* rows; 0: as many as the table shows by itself */
	bool keep_soft;
	const struct opt_list *classes;	/* of --objects */
	const char *object;		/* of --object: an id */
	struct sheet_choice choice;	/* of tables; its limit is not looked at */
};

/* heap_notes.c: what the reader must know of a dump. */
enum { HEAP_MAX_NOTES = 8 };
struct heap_notes {
	char *items[HEAP_MAX_NOTES];	/* owned */
	size_t nr;
};
void heap_add_note(struct heap_notes *n, char *text);
void heap_notes_release(struct heap_notes *n);
/* Add what is wrong with it, and what had to be assumed; its objects have been read. */
void heap_note_dump(struct heap_notes *n, const struct heap *h);
/* Warn of the same, for outputs without a place for notes. */
void heap_warn(const char *path, const struct heap *h);

/* A class name with its objects. */
struct heap_rank {
	uint64_t nr, bytes;
	const char *name;
};

/* heap_hprof.c: print all objects, reading those of h, or classes, as text of HPROF. */
int heap_print_hprof_dump(struct heap *h, FILE *out, struct err *e);
void heap_print_hprof_sites(struct heap *h, const struct heap_rank *ranks, size_t nr, FILE *out);

/* heap_tables.c: print to o->out, reading the objects of h, which must not have been read before. */
int heap_print_histogram(struct heap *h, const struct heap_table_opts *o, struct err *e);
int heap_print_loaders(struct heap *h, const struct heap_table_opts *o, struct err *e);
int heap_print_waste(struct heap *h, const struct heap_table_opts *o, struct err *e);
/* heap_objects.c: the same. -EINVAL: invalid id; -ENOENT: no object of that class, or with that id. */
int heap_print_objects(struct heap *h, const struct heap_table_opts *o, struct err *e);
int heap_print_object(struct heap *h, const struct heap_table_opts *o, struct err *e);
/* Print, for the page, as JSON: the objects that its tables name, o->limit of each, and what keeps them. */
int heap_print_details(struct heap *h, const struct heap_table_opts *o, struct err *e);

/*
 * heap_page.c: make JSON of what the page for a browser has beside the tree
 * (Documentation/technical/page.adoc): the tables of the dump at path. trees: names of the trees, separated
 * by commas; at: the table that is shown first, NULL: none. *json is the caller's.
 */
int heap_page_json(const char *path, const struct heap_table_opts *o, const char *trees, const char *at,
		   char **json, struct err *e);

#endif
