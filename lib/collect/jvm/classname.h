/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * classname.h - the name of a class as Java's programmers write it.
 */
#ifndef COLLECT_CLASSNAME_H
#define COLLECT_CLASSNAME_H

#include <stddef.h>

#include "base/buf.h"

/*
 * Append the name of the class with that JVM signature or name: [[Ljava/lang/String; -> java.lang.String[][],
 * but Foo$$Lambda.0x12 -> Foo$$Lambda/0x12 as in Java.
 */
void classname_put(struct buf *b, const char *s, size_t len);

#endif
