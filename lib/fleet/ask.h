/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ask.h - flat profiles and stanzas that a server of ClickHouse adds up itself: what fetch_tree() would show
 * in them, without the tree.  What threads consumed themselves is one function, FLEET_OWN (id.h); above the
 * outermost functions is FLEET_OUTERMOST.
 */
#ifndef FLEET_ASK_H
#define FLEET_ASK_H

#include "base/buf.h"
#include "fleet/fetch.h"

#define FLEET_OUTERMOST "[outermost]"

struct ask_row {
	const char *what;		/* of a stanza: "Parent", "rSelf", ...; "" */
	const char *name, *kind, *module;
	uint64_t n, base, cum;
	uint64_t cum_recursive;		/* of a flat profile */
};

struct ask_answer {
	struct fetch_metric metric;
	struct ask_row *rows;
	size_t nr_rows, alloc_rows;
	struct buf text;		/* which rows point into */
};

/*
 * The flat profile, most base first; with a function the stanza of that name: rParent, Parent, Self, rSelf,
 * Child, rChild, each with most cum first. Initialises *a. Errors as of fetch_tree(); -ENODATA also for an
 * unknown function.
 */
int ask_server(struct ask_answer *a, const struct fetch *f, const char *function, struct err *e);
void ask_release(struct ask_answer *a);

/*
 * Parse the rows of an answer, whose text is changed: what, name, kind, module and four numbers, with tabs.
 */
int ask_parse(struct ask_answer *a, char *text, struct err *e);

#endif
