/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * made.h - names that a program makes up while it runs, told by their shape and not by who made them:
 *
 *	Main$$Lambda/0x00007f0124001400.run	Main$$Lambda.run	an address of a hidden class
 *	Main$$Lambda$14/0x00000800c03000.run	Main$$Lambda.run	and a count
 *	Main$$Lambda.0x00007f0124001400.run	Main$$Lambda.run	of async-profiler; JFR has a +
 *	GeneratedMethodAccessor12.invoke	GeneratedMethodAccessor*.invoke
 *	jdk.proxy2.$Proxy7.run			jdk.proxy*.$Proxy*.run
 *	Shop$$SpringCGLIB$$0.buy		Shop$$SpringCGLIB$$*.buy	after $$WORD$$
 *	Order_$$_jvst5a2_1c.id			Order_$$_*.id
 *	Shop$ByteBuddy$aZ3kQ9xW.buy		Shop$ByteBuddy$*.buy	random letters
 *	Shop$MockitoMock$1849201180.buy		Shop$MockitoMock$*.buy	a long number
 *	user$eval1234$fn__5678.invoke		user$eval*$fn__*.invoke
 *	Rule_<UUID>, Filter_20230101_123456_00012_abcde_1
 *
 * Numbers that a compiler gives from source text stay: lambda$run$3, Main$1, Vector2.
 */
#ifndef MODEL_MADE_H
#define MODEL_MADE_H

#include <ctype.h>
#include <stdbool.h>

#include "base/buf.h"

/*
 * Return how many digits, or hexadecimal ones, s begins with. They are asked for at each letter of each name:
 * strspn() would make a table first.
 */
static inline size_t len_digits(const char *s)
{
	size_t len = 0;

	while (s[len] >= '0' && s[len] <= '9')
		len++;
	return len;
}

static inline size_t len_hex(const char *s)
{
	size_t len = 0;

	while (isxdigit((unsigned char)s[len]))
		len++;
	return len;
}

/* Appends the name without what was made up. java: it is a method for certain, and no text from elsewhere. */
void made_put(const char *name, bool java, struct buf *b);

#endif
