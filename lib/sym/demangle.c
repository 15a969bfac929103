// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * demangle.c - which language a linkage name is of, and C++ by the compiler's own library.
 */
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "sym/demangle.h"
#include "sym/languages.h"
#include "sym/rust.h"

enum { OUTPUT_MAX = 1 << 16 };	/* substitutions can make a short name grow without end */

/* libsupc++ has it: demangle as __cxa_demangle() does, in pieces and without allocating. */
int __gcclibcxx_demangle_callback(const char *name, void (*piece)(const char *, size_t, void *), void *ctx);

struct output {
	struct buf *out;
	size_t start;
	jmp_buf enough;
};

static void take_piece(const char *s, size_t len, void *ctx)
{
	struct output *o = ctx;

	if (o->out->len - o->start + len > OUTPUT_MAX)
		longjmp(o->enough, 1);
	buf_add(o->out, s, len);
}

static void rewind_to(struct buf *b, size_t len)
{
	b->len = len;
	if (b->data)
		b->data[len] = '\0';
}

static int demangle_until_enough(const char *name, struct output *o)
{
	if (setjmp(o->enough))
		return -1;
	return __gcclibcxx_demangle_callback(name, take_piece, o);
}

static int demangle_cpp(const char *name, struct buf *out)
{
	struct output o = { .out = out, .start = out->len };
	int r = demangle_until_enough(name, &o);

	if (r)
		rewind_to(out, o.start);
	return r;
}

/* A name that is all mangled; false: it is in no language we know. */
static bool demangle_whole(const char *name, struct buf *out)
{
	if (rust_demangle_legacy(name, out) || rust_demangle_v0(name, out) || dlang_demangle(name, out) ||
	    fortran_demangle(name, out) || ocaml_demangle(name, out))
		return true;
	return !strncmp(name, "_Z", 2) && !demangle_cpp(name, out);
}

/* "name@plt", "name@@VERSION": what follows is not part of the mangling. */
void demangle(const char *name, struct buf *out)
{
	const char *at = name[0] == '_' ? strchr(name, '@') : NULL;
	char *plain = at && at - name < OUTPUT_MAX ? xstrndup(name, at - name) : NULL;
	bool done = demangle_whole(plain ? plain : name, out);

	if (!done)
		buf_str(out, name);
	else if (plain)
		buf_str(out, at);
	free(plain);
}
