/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * labels.h - what a recording is called by those who made it: "service=shop,version=1.2", by key.
 *
 * A key has letters, digits and _ - . , and begins with a letter or _; a value is UTF-8 without commas and
 * control characters.
 */
#ifndef BASE_LABELS_H
#define BASE_LABELS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

/* keys that come from arcprof itself */
#define LABEL_CGROUP "cgroup"		/* the path of its control group */
#define LABEL_CONTAINER "container"	/* the id of its container */

enum {
	LABELS_MAX_KEY = 63,
	LABELS_MAX_VALUE = 255,
};

/* "key=value": 0, or -EINVAL with what is wrong. */
int label_check(const char *label, struct err *e);
/*
 * Adds a label to the text; one of the same key is replaced. False: the two are not a label, as a file
 * may have them.
 */
bool labels_add(struct buf *text, const char *key, const char *value);
/*
 * Adds what somebody else calls so: in the key '_' stands for what no key has, in the value '?', and what is
 * too long is cut.  False: it is not as it was, or the key was there before, or nothing is left of it.
 */
bool labels_add_foreign(struct buf *text, const char *key, size_t len, const char *value, size_t value_len);
/* Appends the value that the text has for the key; false: none. */
bool labels_value(const char *text, const char *key, struct buf *value);
/* Replaces key and value by those of the next label and goes behind it; false: there are no more. */
bool labels_next(const char **text, struct buf *key, struct buf *value);

#endif
