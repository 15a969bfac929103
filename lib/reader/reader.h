/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reader.h - what the files of lib/reader share. */
#ifndef READER_READER_H
#define READER_READER_H

#include "query/table.h"
#include "reader/arcprof-trace.h"

struct arcprof_trace {
	struct trace_reader *reader;
	struct query_data data;
	uint64_t used_bytes;		/* for rows of its tables */
	struct profile_opts profile;	/* data has a pointer to it */
	struct selection select;	/* profile has one to it */
	bool is_loaded[ARCPROF_NR_TABLES];
	uint32_t *nr_nodes_of;		/* [consumer], with functions */
	uint32_t nr_consumers;
	uint32_t *first_level;		/* [frame], with stacks: in data.levels; one more at the end */
	struct reader_maps *maps;	/* address.c's, with mappings */
};

/* Return whether the table was read and has that row. */
static inline bool reader_has(const struct arcprof_trace *t, enum arcprof_table table, uint64_t row,
			      uint64_t nr)
{
	return t->is_loaded[table] && row < nr;
}

/* model.c: return a function of a frame. */
struct arcprof_frame reader_frame(const struct query_data *d, const struct frame *f,
				  const struct query_level *l);

/* address.c: read the table of mappings. */
int reader_maps_load(struct arcprof_trace *t, struct err *e);
uint32_t reader_maps_nr(const struct arcprof_trace *t);
void reader_maps_free(struct reader_maps *m);

#endif
