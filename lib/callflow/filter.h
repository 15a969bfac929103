/* SPDX-License-Identifier: MIT */
/*
 * filter.h - ordered rules that say which methods are instrumented and which threads counted:
 * the first that matches decides; what none matches is included. The recorder compiles them, and
 * ends them with a rule for all the rest.
 *
 * A pattern of a method is matched against "package.Class.method" with dots, or with a
 * parenthesis in it against "package.Class.method(signature)". '*' stands for any characters,
 * '?' for one. A pattern without '*' that names a class or package is about all that is in it:
 * "com.example.App" matches "com.example.App.main". A native function is matched as
 * "module:function", where the module is the file's name without its directory, and as "function"
 * alone. A pair is two patterns with a space between: of the whole class or module, and of the name.
 *
 * The compiled form has no pointers: it lies in the shared area.
 *	struct callflow_rules, then nr_rules of (struct callflow_rule, pattern, padding to 4)
 */
#ifndef CALLFLOW_FILTER_H
#define CALLFLOW_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum callflow_rule_kind {
	CALLFLOW_RULE_METHOD = 1,
	CALLFLOW_RULE_THREAD,
	CALLFLOW_RULE_PAIR,		/* of methods, too */
};

struct callflow_rules {
	uint32_t bytes;			/* of all, with this head */
	uint32_t nr_rules;
};

struct callflow_rule {
	uint8_t kind;			/* enum callflow_rule_kind */
	uint8_t include;
	uint16_t len;			/* of the pattern that follows */
};

/* False: the bytes at r are not rules; the other functions must not be called then. */
bool callflow_rules_valid(const void *r, size_t bytes);

/* A Java method's names, without ends. */
struct callflow_method {
	struct callflow_text {
		const char *s;
		size_t len;
	} class_name, name, sig;	/* class_name: with slashes or dots; sig may be empty */
};

/* rules NULL: everything is included. */
bool callflow_wants_method(const struct callflow_rules *rules, const struct callflow_method *m);
/* Return false when no method of that class can be wanted: saves looking at it. */
bool callflow_may_want_class(const struct callflow_rules *rules, const char *class_name, size_t class_len);
bool callflow_wants_function(const struct callflow_rules *rules, const char *module, size_t module_len,
			     const char *name, size_t name_len);
bool callflow_wants_thread(const struct callflow_rules *rules, const char *name, size_t name_len);
/* Return whether there is no rule about methods, so that the caller's default applies. */
bool callflow_rules_no_methods(const struct callflow_rules *rules);

/* Return the rules of the area that was adopted; NULL if there are none. */
const struct callflow_rules *callflow_rules(void);

#endif
