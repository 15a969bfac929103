/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tree.h - between input_tree.c and input_nodes.c: what the forms of trees as text share. */
#ifndef FLOW_TREE_H
#define FLOW_TREE_H

#include "base/buf.h"
#include "flow/text.h"

struct tree_parser {
	struct text t;
	struct model *m;
	uint32_t *path;		/* levels: the open node of each level */
	size_t nr_path, alloc_path;
	struct buf name;
};

/*
 * Return the next tab-separated field of the line at *p, which becomes NULL at its end; NULL: there is none.
 */
const char *tree_field(const char **p, const char *end, size_t *len);
/* Parse n, and base of all metrics; return false if a number is missing or invalid. */
bool tree_numbers(struct tree_parser *x, const char **p, const char *end, uint64_t *n, uint64_t *base);
/* Parse the rest of a line, from NAME on. */
int tree_consumer(struct tree_parser *x, const char *p, const char *end, uint32_t *id, struct err *e);

/* Reads all lines of the form "# nodes" into x->m. */
int tree_nodes(struct tree_parser *x, struct err *e);

#endif
