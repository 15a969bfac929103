/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * same.h - which consumer of one run is that of another: for unions of models (flow/union.h).
 *
 * A function is its kind of code (Java, native, kernel, stub), the last part of the path of its module, and
 * its name, with what differs from run to run left out:
 *
 *	Main$$Lambda/0x00007f0124001400.run	Main$$Lambda.run	what a program makes up (made.h)
 *	f.constprop.0, f.cold, f [clone .part]	f			what compilers made of it
 *	a::b::h0123456789abcdef			a::b			Rust's hash of the crate
 *	/lib/libz.so.1.2.13			libz.so			a version
 *	/tmp/libz123456.so			libz*.so		a temporary name
 *
 * Whether it was interpreted, compiled or inlined does not matter. Processes and threads are their names,
 * whatever their numbers. Numbers that a compiler gives from source text (lambda$run$3, Main$1) are kept.
 */
#ifndef MODEL_SAME_H
#define MODEL_SAME_H

#include "base/buf.h"
#include "flow/model.h"

struct same_opts {
	bool pids, tids;	/* these are of the identity, too: processes and threads stay separate */
	bool thread_digits;	/* each number in names of threads is "*": threads of a pool are one */
	bool labels;		/* processes of recordings with other labels are separate, */
	bool groups;		/* also those of other control groups and containers */
	bool kinds;		/* interpreted, compiled and inlined code are separate */
};

/* Identify a consumer, for union_opts.identify; ctx is a struct same_opts, NULL: all false. */
void same_identify(const void *ctx, const struct model *from, uint32_t consumer, struct strtab *to,
		   struct consumer *x);

/* Replaces *b by the name, of that kind (enum consumer_kind), without what differs from run to run. */
void same_name(const char *name, uint32_t kind, struct buf *b);
/* Append a module's path in the same way. */
void same_module(const char *path, struct buf *b);

#endif
