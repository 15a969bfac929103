/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * classpath.h - class files, in folders and JARs as "java -cp" has them. A JAR may be anything: what makes no
 * sense in it is not found.
 */
#ifndef HEAP_CLASSPATH_H
#define HEAP_CLASSPATH_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

struct classpath;

/* list: paths with colons between them. NULL: one cannot be read, or is neither a folder nor a JAR. */
struct classpath *classpath_open(const char *list, struct err *e);
void classpath_free(struct classpath *cp);		/* NULL: nothing */

/*
 * Find the file of java.util.Map$Entry, for example: the first that there is. Returns false if there is none;
 * out is unchanged then.
 */
bool classpath_find(const struct classpath *cp, const char *class_name, struct buf *out);

#endif
