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

#include <stdbool.h>

#include "base/buf.h"

/* Appends the name without what was made up. java: it is a method for certain, and no text from elsewhere. */
void made_put(const char *name, bool java, struct buf *b);

#endif
