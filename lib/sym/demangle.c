// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * demangle.c - which language a linkage name is of, and C++ by the compiler's own library.
 */
#include <ctype.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "sym/demangle.h"
#include "sym/languages.h"

enum { OUTPUT_MAX = 1 << 16 };	/* substitutions can make a short name grow without end */

/* from libsupc++: demangles as __cxa_demangle() does, in pieces and without allocating */
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

static size_t skip(const char *s, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(s, prefix, len) ? 0 : len;
}

/*
 * Return the length of the full name of a template of characters that has a short name in the library, such
 * as std::string; *name: where "string" is in it. 0: s is another name.
 */
static size_t template_of_chars(const char *s, const char **name, size_t *name_len)
{
	static const char *const begins[] = { "std::__cxx11::basic_", "std::basic_", "std::__1::basic_" };
	static const char *const ends[] = {
		"<char, std::char_traits<char>, std::allocator<char> >", "<char, std::char_traits<char> >",
		"<char, std::__1::char_traits<char>, std::__1::allocator<char> >",
		"<char, std::__1::char_traits<char> >",
	};
	size_t i, begin = 0, end = 0;

	for (i = 0; i < ARRAY_SIZE(begins) && !begin; i++)
		begin = skip(s, begins[i]);
	if (!begin)
		return 0;
	*name = s + begin;
	*name_len = strspn(*name, "abcdefghijklmnopqrstuvwxyz_");
	for (i = 0; i < ARRAY_SIZE(ends) && !end; i++)
		end = skip(*name + *name_len, ends[i]);
	return end ? begin + *name_len + end : 0;
}

/* Put the names of the library in place of its templates, from start on: they are what is in the source. */
static void shorten(struct buf *out, size_t start)
{
	static const char space[] = "std::";
	char *to = out->data ? out->data + start : NULL;
	const char *from = to, *name;
	size_t len, name_len;
	bool begins = true;	/* no name goes on here */

	for (; from && *from; begins = !isalnum((unsigned char)from[-1]) && !strchr("_:", from[-1])) {
		len = begins && *from == 's' ? template_of_chars(from, &name, &name_len) : 0;
		if (!len) {
			*to++ = *from++;
			continue;
		}
		memcpy(to, space, strlen(space));
		memmove(to + strlen(space), name, name_len);
		to += strlen(space) + name_len;
		from += len;
		from += !strncmp(from, " >", 2);	/* the blank parted it from the template's own end */
	}
	rewind_to(out, to ? to - out->data : 0);
}

/* Demangle a name that is all mangled; return false if it is in no language we know. */
static bool demangle_whole(const char *name, struct buf *out)
{
	size_t start = out->len;

	if (rust_demangle_legacy(name, out) || rust_demangle_v0(name, out) || dlang_demangle(name, out) ||
	    fortran_demangle(name, out) || ocaml_demangle(name, out))
		return true;
	if (strncmp(name, "_Z", 2) || demangle_cpp(name, out))
		return false;
	shorten(out, start);
	return true;
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
