/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * opt.h - one const table describes a command's options; parsing, -h, the man
 * page's synopsis and the shell completions all come from it.
 *
 * A row stores into a field of the command's own struct, which opt_parse() first
 * fills with the defaults.  The macros do not compile when the field has another type.
 */
#ifndef BASE_OPT_H
#define BASE_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"

enum opt_type {
	OPT_TYPE_END,
	OPT_TYPE_GROUP,
	OPT_TYPE_FLAG,		/* bool: --x sets, --no-x clears */
	OPT_TYPE_STR,		/* const char * */
	OPT_TYPE_U64,		/* uint64_t; accepts k, M, G suffixes (powers of 1000; Ki, Mi, Gi of 1024) */
	OPT_TYPE_TIME,		/* uint64_t ns; accepts ns, us, ms, s, m, h, d; a plain number is seconds */
	OPT_TYPE_SIZE,		/* uint64_t bytes; k, M, G are powers of 1024 */
	OPT_TYPE_DOUBLE,	/* double: a percentage, from 0 to 100 */
	OPT_TYPE_ENUM,		/* int: index into a list of words */
	OPT_TYPE_LIST,		/* struct opt_list: may be given again; commas separate */
	OPT_TYPE_SET,		/* int: a flag without argument that stores row->value (mode switches) */
};

struct opt_list {		/* borrowed from argv or the heap, freed by opt_release() */
	char **items;
	size_t nr_items, alloc_items;
};

struct opt {
	enum opt_type type;
	char letter;		/* 0: none */
	const char *name;	/* long name; of a GROUP: its title */
	size_t offset;
	const char *arg;	/* what -h calls the argument, without <> */
	const char *def;	/* default, as the user would type it; NULL: zero */
	const char *help;
	const char *const *words;	/* ends with NULL */
	/*
	 * Used in place of words: a list that options share, and which of it this one takes (bit i: the
	 * i-th; 0: all). A LIST takes other words, too.
	 */
	const char *(*word)(unsigned int i);	/* NULL at the end */
	unsigned int only;
	int value;
	/* A mode switch with an argument: it also stores value, in the int at sets_offset. */
	bool sets;
	size_t sets_offset;
	bool arg_optional;	/* --name[=arg]; without "=" the field becomes the first word or "" */
	uint64_t least;		/* of what is given for a number, time (ns) or size */
	bool hidden;		/* an old name, which still works; nothing shows it */
};

#define OPT_SAME_OR_ZERO(s, f, T) \
	(0 * sizeof(char[__builtin_types_compatible_p(__typeof__(((s *)0)->f), T) ? 1 : -1]))
#define OPT_FIELD(s, f, T) (offsetof(s, f) + OPT_SAME_OR_ZERO(s, f, T))

#define OPT_GROUP(title) { .type = OPT_TYPE_GROUP, .name = (title) }
/* A row of help alone: a value, with an argument or NULL, that the option above it takes. */
#define OPT_VALUE(n, a, h) { .type = OPT_TYPE_GROUP, .name = (n), .arg = (a), .help = (h) }
#define OPT_FLAG(l, n, s, f, h) \
	{ .type = OPT_TYPE_FLAG, .letter = (l), .name = (n), .offset = OPT_FIELD(s, f, bool), .help = (h) }
/* A flag that is set by default. */
#define OPT_ON(n, s, f, h) \
	{ .type = OPT_TYPE_FLAG, .name = (n), .offset = OPT_FIELD(s, f, bool), .def = "true", .help = (h) }
#define OPT_VAL(t, T, l, n, s, f, a, d, h) \
	{                                                                                         \
		.type = (t), .letter = (l), .name = (n), .offset = OPT_FIELD(s, f, T), .arg = (a), \
		.def = (d), .help = (h)                                                           \
	}
#define OPT_STR(l, n, s, f, a, d, h) OPT_VAL(OPT_TYPE_STR, const char *, l, n, s, f, a, d, h)
#define OPT_U64(l, n, s, f, a, d, h) OPT_VAL(OPT_TYPE_U64, uint64_t, l, n, s, f, a, d, h)
#define OPT_TIME(l, n, s, f, a, d, h) OPT_VAL(OPT_TYPE_TIME, uint64_t, l, n, s, f, a, d, h)
#define OPT_SIZE(l, n, s, f, a, d, h) OPT_VAL(OPT_TYPE_SIZE, uint64_t, l, n, s, f, a, d, h)
#define OPT_LEAST(t, m, l, n, s, f, a, d, h) \
	{                                                                                                \
		.type = (t), .letter = (l), .name = (n), .offset = OPT_FIELD(s, f, uint64_t), .arg = (a), \
		.def = (d), .help = (h), .least = (m)                                                    \
	}
/* The same where 0 has no meaning, or stands for an option that is not given. */
#define OPT_COUNT(l, n, s, f, a, d, h) OPT_LEAST(OPT_TYPE_U64, 1, l, n, s, f, a, d, h)
#define OPT_SPAN(l, n, s, f, a, d, h) OPT_LEAST(OPT_TYPE_TIME, 1, l, n, s, f, a, d, h)
/* The name that a duration had before: the field is that of the option which has its place. */
#define OPT_OLD_SPAN(l, n, s, f) \
	{                                                                                        \
		.type = OPT_TYPE_TIME, .letter = (l), .name = (n), .offset = OPT_FIELD(s, f, uint64_t), \
		.arg = "time", .help = "an old name", .least = 1, .hidden = true                  \
	}
#define OPT_DOUBLE(l, n, s, f, a, d, h) OPT_VAL(OPT_TYPE_DOUBLE, double, l, n, s, f, a, d, h)
#define OPT_LIST(l, n, s, f, a, h) OPT_VAL(OPT_TYPE_LIST, struct opt_list, l, n, s, f, a, NULL, h)
#define OPT_LIST_OF(l, n, s, f, w, a, h) \
	{ .type = OPT_TYPE_LIST, .letter = (l), .name = (n), .offset = OPT_FIELD(s, f, struct opt_list), \
	  .word = (w), .arg = (a), .help = (h) }
#define OPT_ENUM(l, n, s, f, w, d, h) \
	{ .type = OPT_TYPE_ENUM, .letter = (l), .name = (n), .offset = OPT_FIELD(s, f, int), \
	  .words = (w), .def = (d), .help = (h) }
/* The first word, where the option is given without one. */
#define OPT_ENUM_OPTARG(l, n, s, f, w, d, h) \
	{ .type = OPT_TYPE_ENUM, .letter = (l), .name = (n), .offset = OPT_FIELD(s, f, int), \
	  .words = (w), .def = (d), .help = (h), .arg_optional = true }
#define OPT_SHARED_ENUM(l, n, s, f, w, o, d, h) \
	{ .type = OPT_TYPE_ENUM, .letter = (l), .name = (n), .offset = OPT_FIELD(s, f, int), \
	  .word = (w), .only = (o), .def = (d), .help = (h) }
#define OPT_SET(l, n, s, f, v, h) \
	{ .type = OPT_TYPE_SET, .letter = (l), .name = (n), .offset = OPT_FIELD(s, f, int), \
	  .value = (v), .help = (h) }
/* OPT_SET with an argument, which f takes; the int g gets the value. */
#define OPT_SET_STR(n, s, f, g, v, a, h) \
	{ .type = OPT_TYPE_STR, .name = (n), .offset = OPT_FIELD(s, f, const char *), .arg = (a), \
	  .help = (h), .sets = true, .sets_offset = OPT_FIELD(s, g, int), .value = (v) }
#define OPT_STR_OPTARG(l, n, s, f, a, h) \
	{ .type = OPT_TYPE_STR, .letter = (l), .name = (n), .offset = OPT_FIELD(s, f, const char *), \
	  .arg = (a), .help = (h), .arg_optional = true }
#define OPT_END { .type = OPT_TYPE_END }

/*
 * Fills *opts (which the caller zeroed) with the defaults, then with argv.  argv is permuted
 * so that the operands come last, and *nr_operands says how many; options end at "--" or,
 * when stop_at_operand, at the first operand (a command line to run keeps its own options).
 * -EINVAL: *e says which option and why, with the nearest known name when it is unknown; or which two
 * mode switches of one field (OPT_SET) were given.
 */
int opt_parse(const struct opt *table, void *opts, int argc, char **argv, bool stop_at_operand,
	      int *nr_operands, struct err *e);
/*
 * Appends the items of s, with commas between, as an option of type LIST does.  -EINVAL: one of them is
 * empty.
 */
int opt_list_add(struct opt_list *l, const char *s, struct err *e);
/* Frees what opt_parse() allocated in *opts (lists). */
void opt_release(const struct opt *table, void *opts);
/* Return the first row whose field does not have its default; NULL: all have. */
const struct opt *opt_changed(const struct opt *table, const void *opts);

/* Tables joined to one; each fills a struct of its own, and all structs are in one block of memory. */
struct opt_join {
	struct opt *table;		/* ends with OPT_END; freed by the caller */
	size_t nr, alloc;
	size_t size;			/* of the block */
};

/* Return how many bytes of the block a struct takes. */
static inline size_t opt_join_room(size_t size)
{
	return (size + 15) & ~(size_t)15;
}

/* Makes room for a struct; returns its offset in the block. */
size_t opt_join_struct(struct opt_join *j, size_t size);
/* Appends rows that fill the struct at that offset. */
void opt_join_add(struct opt_join *j, const struct opt *table, size_t offset);

/*
 * Return the i-th word that an option has, or the next valid one; *i becomes its value. NULL: there are
 * no more.
 */
const char *opt_word(const struct opt *o, unsigned int *i);

/* Parse a number or a duration as options accept it; the whole string must be used. */
int opt_parse_u64(const char *s, uint64_t *v, struct err *e);
int opt_parse_time(const char *s, uint64_t *ns, struct err *e);
/* Append a time for opt_parse_time(), in the largest unit of which it is a multiple. */
void opt_put_time(struct buf *b, uint64_t ns);
int opt_parse_size(const char *s, uint64_t *bytes, struct err *e);

void opt_print_help(const struct opt *table, FILE *out);
/* Print "[-p | --pid=<pid>] ..." for the manual page. */
void opt_print_synopsis(const struct opt *table, FILE *out);
/* Print one option word per line (--pid=, --kernel, --no-kernel, -p ...), for completions. */
void opt_print_words(const struct opt *table, FILE *out);
/* Check for a letter or name used twice, a default that does not parse, and missing help: -EINVAL. */
int opt_check(const struct opt *table, struct err *e);

#endif
