// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * opt.c - parses argv by a command's option table, and checks such tables.
 *
 * Names match exactly: an abbreviation that works today is ambiguous once an option is added,
 * and scripts would break; the nearest name is suggested instead.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/near.h"
#include "base/opt.h"

static bool opt_is_option(const struct opt *o)
{
	return o->type != OPT_TYPE_GROUP && o->type != OPT_TYPE_END;
}

static bool takes_arg(const struct opt *o)
{
	return o->type != OPT_TYPE_FLAG && o->type != OPT_TYPE_SET;
}

/* Return the option's name for messages; borrowed until the next call. */
static const char *display_name(const struct opt *o)
{
	static char name[64];

	if (o->name)
		snprintf(name, sizeof(name), "--%s", o->name);
	else
		snprintf(name, sizeof(name), "-%c", o->letter);
	return name;
}

static const struct opt *find_letter(const struct opt *table, char letter)
{
	const struct opt *o;

	for (o = table; o->type != OPT_TYPE_END; o++)
		if (opt_is_option(o) && o->letter == letter)
			return o;
	return NULL;
}

static const struct opt *find_name(const struct opt *table, const char *name, size_t len)
{
	const struct opt *o;

	for (o = table; o->type != OPT_TYPE_END; o++)
		if (opt_is_option(o) && o->name && !strncmp(o->name, name, len) && !o->name[len])
			return o;
	return NULL;
}

/* Return the flag that name turns off: "no-x" the flag x, "x" the flag no-x. */
static const struct opt *find_negated(const struct opt *table, const char *name, size_t len)
{
	const struct opt *o;

	for (o = table; o->type != OPT_TYPE_END; o++) {
		if (o->type != OPT_TYPE_FLAG || !o->name)
			continue;
		if (len > 3 && !strncmp(name, "no-", 3) && !strncmp(o->name, name + 3, len - 3) &&
		    !o->name[len - 3])
			return o;
		if (!strncmp(o->name, "no-", 3) && !strncmp(o->name + 3, name, len) && !o->name[3 + len])
			return o;
	}
	return NULL;
}

static int parse_double(const char *s, double *v, struct err *e)
{
	char *end;

	*v = strtod(s, &end);
	if (end == s || *end || isspace((unsigned char)*s) || !isfinite(*v))
		return err_set(e, EINVAL, "'%s' is not a number", s);
	if (*v < 0 || *v > 100)
		return err_set(e, EINVAL, "must be from 0 to 100");
	return 0;
}

static int check_least(const struct opt *o, const void *field, struct err *e)
{
	uint64_t v;

	if (!o->least)
		return 0;
	memcpy(&v, field, sizeof(v));
	if (v >= o->least)
		return 0;
	if (o->type == OPT_TYPE_SIZE)
		return err_set(e, EINVAL, "must be at least %" PRIu64 " KiB", o->least >> 10);
	return err_set(e, EINVAL, o->type == OPT_TYPE_TIME ? "must be more than 0" : "must be at least %" PRIu64,
		       o->least);
}

const char *opt_word(const struct opt *o, unsigned int *i)
{
	const char *word;

	if (o->words)
		return o->words[*i];
	while ((word = o->word(*i)) && o->only && !(o->only >> *i & 1))
		++*i;
	return word;
}

/* Parse a word; s NULL: the first. */
static int parse_word(const struct opt *o, const char *s, int *v, struct err *e)
{
	struct near n = near_init(s ? s : "");
	char list[200] = "";
	const char *word;
	unsigned int i;
	size_t len = 0;

	for (i = 0; (word = opt_word(o, &i)); i++) {
		if (!s || !strcmp(word, s)) {
			*v = i;
			return 0;
		}
		near_try(&n, word);
		if (len < sizeof(list))
			len += snprintf(list + len, sizeof(list) - len, "%s%s", len ? ", " : "", word);
	}
	err_set(e, EINVAL, "invalid value '%s' (expected one of: %s)", s, list);
	if (n.best)
		err_hint(e, "did you mean '%s'?", n.best);
	return -EINVAL;
}

int opt_list_add(struct opt_list *l, const char *s, struct err *e)
{
	while (1) {
		size_t len = strcspn(s, ",");

		if (!len)
			return err_set(e, EINVAL, "an item of the list is empty");
		*VEC_ADD(l->items, l->nr_items, l->alloc_items) = xstrndup(s, len);
		if (!s[len])
			return 0;
		s += len + 1;
	}
}

/* Stores what the text s means; s is NULL when an optional argument was left out. */
static int set_value(const struct opt *o, void *field, const char *s, struct err *e)
{
	switch (o->type) {
	case OPT_TYPE_FLAG:
		*(bool *)field = !s || !strcmp(s, "true");
		return 0;
	case OPT_TYPE_SET:
		*(int *)field = o->value;
		return 0;
	case OPT_TYPE_STR:
		*(const char **)field = s ? s : o->words ? o->words[0] : "";
		return 0;
	case OPT_TYPE_ENUM:
		return parse_word(o, s, field, e);
	case OPT_TYPE_U64:
		return opt_parse_u64(s, field, e);
	case OPT_TYPE_TIME:
		return opt_parse_time(s, field, e);
	case OPT_TYPE_SIZE:
		return opt_parse_size(s, field, e);
	case OPT_TYPE_DOUBLE:
		return parse_double(s, field, e);
	case OPT_TYPE_LIST:
		return opt_list_add(field, s, e);
	case OPT_TYPE_GROUP:
	case OPT_TYPE_END:
		break;
	}
	return err_set(e, EINVAL, "no option");
}

static int set_defaults(const struct opt *table, char *opts, struct err *e)
{
	const struct opt *o;

	for (o = table; o->type != OPT_TYPE_END; o++)
		if (opt_is_option(o) && o->def && set_value(o, opts + o->offset, o->def, e))
			return err_wrap(e, "%s: default", display_name(o));
	return 0;
}

struct parser {
	const struct opt *table;
	char *opts;
	char **argv;
	int argc;
	int next;		/* index of the argument after the one being parsed */
	const struct opt *mode;	/* the mode switch that was given last; NULL: none */
};

/* Check that a field gets one mode: which of two was meant is not known. */
static int opt_choose(struct parser *p, const struct opt *o, struct err *e)
{
	const struct opt *m = p->mode;

	if ((o->type != OPT_TYPE_SET && !o->sets) || !o->name)
		return 0;
	if (m && m != o && (m->sets ? m->sets_offset : m->offset) == (o->sets ? o->sets_offset : o->offset))
		return err_set(e, EINVAL, "cannot be combined: --%s and --%s", m->name, o->name);
	p->mode = o;
	return 0;
}

static int opt_store(struct parser *p, const struct opt *o, const char *s, struct err *e)
{
	if (opt_choose(p, o, e))
		return -EINVAL;
	if (set_value(o, p->opts + o->offset, s, e) || check_least(o, p->opts + o->offset, e))
		return err_wrap(e, "%s", display_name(o));
	if (o->sets)
		*(int *)(p->opts + o->sets_offset) = o->value;
	return 0;
}

/* Do the same as opt_store() where the argument is the next word of the command line. */
static int store_next(struct parser *p, const struct opt *o, struct err *e)
{
	if (o->arg_optional)
		return opt_store(p, o, NULL, e);
	if (p->next == p->argc)
		return err_set(e, EINVAL, "%s needs an argument%s%s%s", display_name(o), o->arg ? " <" : "",
			       o->arg ? o->arg : "", o->arg ? ">" : "");
	return opt_store(p, o, p->argv[p->next++], e);
}

static const char *without_no(const char *name)
{
	return strncmp(name, "no-", 3) ? name : name + 3;
}

/* Return the option that takes this word as its value, or NULL. */
static const struct opt *find_value(const struct opt *table, const char *word)
{
	const struct opt *o;
	const char *known;
	unsigned int i;

	for (o = table; o->type != OPT_TYPE_END; o++)
		for (i = 0; o->type == OPT_TYPE_ENUM && o->name && (known = opt_word(o, &i)); i++)
			if (!strcmp(known, word))
				return o;
	return NULL;
}

static int unknown_name(const struct opt *table, const char *name, int len, struct err *e)
{
	char *word = xstrndup(name, len);
	struct near n = near_init(without_no(word));
	const struct opt *o, *best = NULL, *with_value = find_value(table, word);
	bool negate;

	for (o = table; o->type != OPT_TYPE_END; o++) {
		if (!opt_is_option(o) || !o->name || o->hidden)
			continue;
		near_try(&n, without_no(o->name));
		if (n.best == without_no(o->name))
			best = o;
	}
	err_set(e, EINVAL, "unknown option '--%s'", word);
	if (len == 1 && find_letter(table, *word)) {
		err_hint(e, "did you mean '-%c'?", *word);
	} else if (with_value && (!best || n.distance)) {
		err_hint(e, "did you mean '--%s=%s'?", with_value->name, word);
	} else if (best) {
		negate = best->type == OPT_TYPE_FLAG && without_no(word) != word &&
			 without_no(best->name) == best->name;
		err_hint(e, "did you mean '--%s%s'?", negate ? "no-" : "", best->name);
	}
	free(word);
	return -EINVAL;
}

static int parse_long(struct parser *p, const char *name, struct err *e)
{
	size_t len = strcspn(name, "=");
	const char *arg = name[len] ? name + len + 1 : NULL;
	const struct opt *o = find_name(p->table, name, len);
	const struct opt *off = o ? NULL : find_negated(p->table, name, len);

	if (!o && !off)
		return unknown_name(p->table, name, len, e);
	if (arg && (off || !takes_arg(o)))
		return err_set(e, EINVAL, "--%.*s takes no argument", (int)len, name);
	if (off) {
		*(bool *)(p->opts + off->offset) = false;
		return 0;
	}
	if (!arg && takes_arg(o))
		return store_next(p, o, e);
	return opt_store(p, o, arg, e);
}

/*
 * Suggest what was meant by an unknown letter: an option that takes the next word, the letter in the
 * other case, or options whose long names begin with it.
 */
static void hint_letter(const struct opt *table, char letter, const char *next, struct err *e)
{
	const struct opt *o = next ? find_value(table, next) : NULL;
	const char *names[3] = { NULL };
	size_t nr = 0;

	if (o) {
		err_hint(e, "did you mean '--%s=%s'?", o->name, next);
		return;
	}
	if (find_letter(table, letter ^ 0x20)) {
		err_hint(e, "did you mean '-%c'?", letter ^ 0x20);
		return;
	}
	for (o = table; o->type != OPT_TYPE_END; o++) {
		if (!opt_is_option(o) || !o->name || o->hidden || o->name[0] != letter)
			continue;
		if (nr == ARRAY_SIZE(names))
			return;
		names[nr++] = o->name;
	}
	if (nr == 1)
		err_hint(e, "did you mean '--%s'?", names[0]);
	else if (nr == 2)
		err_hint(e, "did you mean '--%s' or '--%s'?", names[0], names[1]);
	else if (nr)
		err_hint(e, "did you mean '--%s', '--%s' or '--%s'?", names[0], names[1], names[2]);
}

static int unknown_letter(struct parser *p, const char *word, char letter, struct err *e)
{
	if (word[2])
		err_set(e, EINVAL, "unknown option '-%c' in '%s'", letter, word);
	else
		err_set(e, EINVAL, "unknown option '%s'", word);
	if (find_name(p->table, word + 1, strcspn(word + 1, "=")))
		err_hint(e, "did you mean '-%s'?", word);
	else
		hint_letter(p->table, letter, word[2] || p->next == p->argc ? NULL : p->argv[p->next], e);
	return -EINVAL;
}

/* Parse -abc, -xVAL, -x VAL; "-x=VAL" gives "=VAL", as everywhere. */
static int parse_letters(struct parser *p, const char *word, struct err *e)
{
	const char *s;
	int r;

	for (s = word + 1; *s; s++) {
		const struct opt *o = find_letter(p->table, *s);

		if (!o)
			return unknown_letter(p, word, *s, e);
		if (takes_arg(o))
			return s[1] ? opt_store(p, o, s + 1, e) : store_next(p, o, e);
		r = opt_store(p, o, NULL, e);
		if (r)
			return r;
	}
	return 0;
}

int opt_parse(const struct opt *table, void *opts, int argc, char **argv, bool stop_at_operand,
	      int *nr_operands, struct err *e)
{
	struct parser p = { .table = table, .opts = opts, .argv = argv, .argc = argc };
	char **operands = xcalloc(argc + 1, sizeof(*operands));
	int i, nr = 0, r;

	*nr_operands = 0;
	r = set_defaults(table, opts, e);
	while (!r && p.next < argc) {
		char *word = argv[p.next];

		if (!strcmp(word, "--")) {
			p.next++;
			break;
		}
		if (word[0] != '-' || !word[1]) {
			if (stop_at_operand)
				break;
			operands[nr++] = word;
			p.next++;
			continue;
		}
		p.next++;
		r = word[1] == '-' ? parse_long(&p, word + 2, e) : parse_letters(&p, word, e);
	}
	/* operands that follow options reuse the places of these */
	for (i = p.next; !r && i < argc; i++)
		operands[nr++] = argv[i];
	if (!r && nr)
		memcpy(argv + argc - nr, operands, nr * sizeof(*argv));
	*nr_operands = r ? 0 : nr;
	free(operands);
	return r;
}

void opt_release(const struct opt *table, void *opts)
{
	const struct opt *o;
	size_t i;

	for (o = table; o->type != OPT_TYPE_END; o++) {
		struct opt_list *l = (void *)((char *)opts + o->offset);

		if (o->type != OPT_TYPE_LIST)
			continue;
		for (i = 0; i < l->nr_items; i++)
			free(l->items[i]);
		free(l->items);
		memset(l, 0, sizeof(*l));
	}
}

union opt_value {
	uint64_t u64;
	double d;
	const char *s;
	int i;
	bool b;
	struct opt_list list;
};

static size_t value_size(enum opt_type type)
{
	static const size_t sizes[] = {
		[OPT_TYPE_FLAG] = sizeof(bool), [OPT_TYPE_STR] = sizeof(const char *),
		[OPT_TYPE_U64] = sizeof(uint64_t), [OPT_TYPE_TIME] = sizeof(uint64_t),
		[OPT_TYPE_SIZE] = sizeof(uint64_t), [OPT_TYPE_DOUBLE] = sizeof(double),
		[OPT_TYPE_ENUM] = sizeof(int), [OPT_TYPE_LIST] = sizeof(struct opt_list),
		[OPT_TYPE_SET] = sizeof(int),
	};

	return sizes[type];
}

const struct opt *opt_changed(const struct opt *table, const void *opts)
{
	const struct opt *o;
	struct err e;

	for (o = table; o->type != OPT_TYPE_END; o++) {
		union opt_value def = { .list = { 0 } };

		if (opt_is_option(o) && o->def)
			set_value(o, &def, o->def, &e);
		if (opt_is_option(o) &&
		    memcmp((const char *)opts + o->offset, &def, value_size(o->type)) != 0)
			return o;
	}
	return NULL;
}

size_t opt_join_struct(struct opt_join *j, size_t size)
{
	size_t offset = j->size;

	j->size += opt_join_room(size);
	return offset;
}

void opt_join_add(struct opt_join *j, const struct opt *table, size_t offset)
{
	const struct opt *o;

	for (o = table;; o++) {
		VEC_GROW(j->table, j->nr, j->alloc);
		j->table[j->nr] = *o;
		if (o->type == OPT_TYPE_END)
			break;
		j->table[j->nr].offset += offset;
		j->table[j->nr++].sets_offset += offset;
	}
}

static int check_default(const struct opt *o, struct err *e)
{
	union opt_value field = { .list = { 0 } };

	if (!o->def)
		return 0;
	if (o->type == OPT_TYPE_LIST || o->type == OPT_TYPE_SET)
		return err_set(e, EINVAL, "such an option has no default");
	if (o->type == OPT_TYPE_FLAG && strcmp(o->def, "true"))
		return err_set(e, EINVAL, "the default of a flag is \"true\" or none");
	return set_value(o, &field, o->def, e);
}

static bool has_words(const struct opt *o)
{
	unsigned int i = 0;

	return (o->words || o->word) && opt_word(o, &i);
}

static int check_row(const struct opt *table, const struct opt *o, struct err *e)
{
	const struct opt *twin;

	if (!o->name && !o->letter)
		return err_set(e, EINVAL, "an option has neither name nor letter");
	if (o->name && (strlen(o->name) < 2 || o->name[0] == '-' || strpbrk(o->name, "= ,")))
		return err_set(e, EINVAL, "not a name for an option");
	if (o->letter && !isalnum((unsigned char)o->letter))
		return err_set(e, EINVAL, "'%c' is not a letter", o->letter);
	if (!o->help || !*o->help || o->help[strlen(o->help) - 1] == '.')
		return err_set(e, EINVAL, "help is missing, or ends with a full stop");
	if (o->type == OPT_TYPE_ENUM ? !has_words(o) : takes_arg(o) && !o->arg)
		return err_set(e, EINVAL, "nothing says what the argument is");
	if (o->arg_optional && o->type != OPT_TYPE_STR && o->type != OPT_TYPE_ENUM)
		return err_set(e, EINVAL, "the argument of this type cannot be optional");
	twin = o->letter ? find_letter(table, o->letter) : o;
	if (twin != o)
		return err_set(e, EINVAL, "-%c is used twice", o->letter);
	twin = o->name ? find_name(table, o->name, strlen(o->name)) : o;
	if (twin != o || (o->name && find_negated(table, o->name, strlen(o->name))))
		return err_set(e, EINVAL, "the name is used twice, or also turns another flag off");
	return check_default(o, e);
}

int opt_check(const struct opt *table, struct err *e)
{
	const struct opt *o;

	for (o = table; o->type != OPT_TYPE_END; o++) {
		if (o->type == OPT_TYPE_GROUP && !o->name)
			return err_set(e, EINVAL, "a group has no title");
		if (opt_is_option(o) && check_row(table, o, e))
			return err_wrap(e, "%s", o->name || o->letter ? display_name(o) : "option table");
	}
	return 0;
}
