// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dlang.c - D's mangling: a qualified name, the parameters of each function in it, and a type that is not
 * shown.
 *
 * References lead back to what was said before, so depth, output and steps are bounded, as in rust-v0.c.
 *
 * Source: "Name Mangling" in the D language specification.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "sym/languages.h"

enum {
	DEPTH_MAX = 200,
	OUTPUT_MAX = 1 << 16,
	STEPS_MAX = 1 << 16,
};

struct parser {
	const char *s;
	size_t len, at;
	struct buf *out;
	size_t start;		/* out->len at the beginning */
	bool bad, quiet;	/* quiet: parsed, not shown */
	int depth, steps;
};

static void d_type(struct parser *p);
static void qualified(struct parser *p, bool modifiers);
static void value(struct parser *p, char of);

static void put_len(struct parser *p, const char *s, size_t len)
{
	if (p->quiet || p->bad)
		return;
	if (p->out->len - p->start + len > OUTPUT_MAX)
		p->bad = true;
	else
		buf_add(p->out, s, len);
}

static void d_put(struct parser *p, const char *s)
{
	put_len(p, s, strlen(s));
}

static char peek_at(const struct parser *p, size_t n)
{
	return p->at < p->len && n < p->len - p->at ? p->s[p->at + n] : '\0';
}

static char d_peek(const struct parser *p)
{
	return peek_at(p, 0);
}

static char d_next(struct parser *p)
{
	if (p->at >= p->len) {
		p->bad = true;
		return '\0';
	}
	return p->s[p->at++];
}

static bool eat(struct parser *p, const char *what)
{
	size_t len = strlen(what);

	if (p->bad || p->len - p->at < len || memcmp(p->s + p->at, what, len))
		return false;
	p->at += len;
	return true;
}

static bool d_enter(struct parser *p)
{
	if (++p->depth > DEPTH_MAX || ++p->steps > STEPS_MAX)
		p->bad = true;
	return !p->bad;
}

static bool d_is_digit(char c)
{
	return isdigit((unsigned char)c);
}

static uint64_t d_number(struct parser *p)
{
	uint64_t v = 0;

	if (!d_is_digit(d_peek(p)))
		p->bad = true;
	while (!p->bad && d_is_digit(d_peek(p))) {
		uint64_t d = d_next(p) - '0';

		if (v > (UINT64_MAX - d) / 10)
			p->bad = true;
		v = v * 10 + d;
	}
	return v;
}

/*
 * Read, behind a "Q", how far before it the thing referred to is, and set *to to its place. Returns false if
 * there is none.
 */
static bool reference(struct parser *p, size_t *to)
{
	size_t q = p->at - 1;
	uint64_t v = 0;

	while (!p->bad) {
		char c = d_next(p);

		if (islower((unsigned char)c)) {
			v = v * 26 + (c - 'a');
			break;
		}
		if (!isupper((unsigned char)c) || v > UINT32_MAX)
			p->bad = true;
		v = v * 26 + (c - 'A');
	}
	if (!v || v > q)
		p->bad = true;
	*to = q - v;
	return !p->bad;
}

static bool is_convention(char c)
{
	return c && strchr("FUWVRY", c);
}

/* ---- names ---- */

static bool d_is_symbol(const struct parser *p)
{
	struct parser ahead = *p;
	size_t to;

	if (d_is_digit(d_peek(p)) || (d_peek(p) == '_' && peek_at(p, 1) == '_' &&
				      (peek_at(p, 2) == 'T' || peek_at(p, 2) == 'U')))
		return true;
	if (d_peek(p) != 'Q')
		return false;
	ahead.at++;
	return reference(&ahead, &to) && d_is_digit(p->s[to]);
}

static void identifier(struct parser *p);

/* Parse what follows _D. What a function returns, and the type of a variable, are not shown. */
static void whole(struct parser *p)
{
	bool quiet = p->quiet;

	qualified(p, true);
	p->quiet = true;
	if (!p->bad && !eat(p, "Z"))
		d_type(p);
	p->quiet = quiet;
}

/* Parse a value, whose type decides how it is shown; that of a structure is shown before it. */
static void value_argument(struct parser *p)
{
	bool quiet = p->quiet;
	char of = d_peek(p);
	size_t to;

	if (of == 'Q') {
		struct parser ahead = *p;

		ahead.at++;
		of = reference(&ahead, &to) ? p->s[to] : '\0';
	}
	p->quiet |= of != 'S';
	d_type(p);
	p->quiet = quiet;
	value(p, of);
}

/* Parse a name that is mangled as in another language. */
static void foreign_name(struct parser *p)
{
	uint64_t n = d_number(p);

	if (p->bad || n > p->len - p->at) {
		p->bad = true;
		return;
	}
	put_len(p, p->s + p->at, n);
	p->at += n;
}

static void template_argument(struct parser *p)
{
	eat(p, "H");
	switch (d_next(p)) {
	case 'T':
		d_type(p);
		break;
	case 'S':
		if (eat(p, "_D"))
			whole(p);
		else
			qualified(p, false);
		break;
	case 'V':
		value_argument(p);
		break;
	case 'X':
		foreign_name(p);
		break;
	default:
		p->bad = true;
	}
}

/* Parse what follows __T: the name, arguments, and a "Z". */
static void template_instance(struct parser *p)
{
	size_t n;

	if (!d_enter(p))
		return;
	identifier(p);
	d_put(p, "!(");
	for (n = 0; !p->bad && !eat(p, "Z"); n++) {
		if (n)
			d_put(p, ", ");
		template_argument(p);
	}
	d_put(p, ")");
	p->depth--;
}

static void plain_name(struct parser *p, size_t len)
{
	static const struct { const char *name, *shown; } specials[] = {
		{ "__ctor", "this" }, { "__dtor", "~this" },
	};
	const char *s = p->s + p->at;
	size_t i;

	p->at += len;
	for (i = 0; i < ARRAY_SIZE(specials); i++) {
		if (len == strlen(specials[i].name) && !memcmp(s, specials[i].name, len)) {
			d_put(p, specials[i].shown);
			return;
		}
	}
	put_len(p, s, len);
}

static void identifier(struct parser *p)
{
	size_t len, to, at;

	if (!d_enter(p))
		return;
	if (eat(p, "Q")) {
		if (reference(p, &to)) {
			at = p->at;
			p->at = to;
			if (d_is_digit(d_peek(p)))
				identifier(p);
			else
				p->bad = true;
			p->at = at;
		}
	} else if (eat(p, "__T") || eat(p, "__U")) {
		template_instance(p);
	} else {
		len = d_number(p);
		if (p->bad || !len || len > p->len - p->at) {
			p->bad = true;
		} else if (len > 5 && !memcmp(p->s + p->at, "__", 2) && strchr("TU", p->s[p->at + 2])) {
			to = p->at + len;
			p->at += 3;
			template_instance(p);
			p->bad |= p->at != to;
		} else {
			plain_name(p, len);
		}
	}
	p->depth--;
}

/* ---- functions ---- */

static void attributes(struct parser *p)
{
	while (d_peek(p) == 'N' && peek_at(p, 1) && strchr("abcdefijlm", peek_at(p, 1)))
		p->at += 2;
}

static void parameter(struct parser *p)
{
	if (eat(p, "M"))
		d_put(p, "scope ");
	if (eat(p, "Nk"))
		d_put(p, "return ");
	if (eat(p, "I")) {
		d_put(p, "in ");
		if (eat(p, "K"))
			d_put(p, "ref ");
	} else if (eat(p, "J")) {
		d_put(p, "out ");
	} else if (eat(p, "K")) {
		d_put(p, "ref ");
	} else if (eat(p, "L")) {
		d_put(p, "lazy ");
	}
	d_type(p);
}

/* Parse a function's type up to what it returns: calling convention, attributes and parameters. */
static void parameters(struct parser *p)
{
	size_t n;

	if (!d_enter(p))
		return;
	if (!is_convention(d_next(p)))
		p->bad = true;
	attributes(p);
	d_put(p, "(");
	for (n = 0; !p->bad && !eat(p, "Z"); n++) {
		if (eat(p, "X")) {
			d_put(p, "...");
			break;
		}
		if (eat(p, "Y")) {
			d_put(p, n ? ", ..." : "...");
			break;
		}
		if (n)
			d_put(p, ", ");
		parameter(p);
	}
	d_put(p, ")");
	p->depth--;
}

/* Return the modifiers of a method's object, which follow its "M". */
static const char *modifiers_of(struct parser *p)
{
	bool shared = eat(p, "O");

	if (eat(p, "y"))
		return " immutable";
	if (eat(p, "Ng"))
		return shared ? " shared inout" : " inout";
	if (eat(p, "x"))
		return shared ? " shared const" : " const";
	return shared ? " shared" : "";
}

/*
 * Parse parameters, which have to be followed by something: else they are a type, not part of a
 * function's name.
 */
static void try_parameters(struct parser *p, bool modifiers)
{
	struct parser before = *p;
	size_t len = p->out->len;
	const char *mods = eat(p, "M") ? modifiers_of(p) : "";

	parameters(p);
	if (modifiers)
		d_put(p, mods);
	if (!p->bad && d_peek(p))
		return;
	before.steps = p->steps;
	*p = before;
	p->out->len = len;
}

static void qualified(struct parser *p, bool modifiers)
{
	size_t n = 0;

	if (!d_enter(p))
		return;
	do {
		while (eat(p, "0"))	/* without a name */
			;
		if (n++)
			d_put(p, ".");
		identifier(p);
		if (!p->bad && (d_peek(p) == 'M' || is_convention(d_peek(p))))
			try_parameters(p, modifiers);
	} while (!p->bad && d_is_symbol(p));
	p->depth--;
}

/* ---- types ---- */

static const char *basic(char c)
{
	static const char *const names[128] = {
		['v'] = "void", ['g'] = "byte", ['h'] = "ubyte", ['s'] = "short", ['t'] = "ushort", ['i'] = "int",
		['k'] = "uint", ['l'] = "long", ['m'] = "ulong", ['f'] = "float", ['d'] = "double", ['e'] = "real",
		['o'] = "ifloat", ['p'] = "idouble", ['j'] = "ireal", ['q'] = "cfloat", ['r'] = "cdouble",
		['c'] = "creal", ['b'] = "bool", ['a'] = "char", ['u'] = "wchar", ['w'] = "dchar",
		['n'] = "typeof(null)",
	};

	return (unsigned char)c < 128 ? names[(unsigned char)c] : NULL;
}

static void wrapped(struct parser *p, const char *before)
{
	d_put(p, before);
	d_type(p);
	d_put(p, ")");
}

/* Put what the function returns first; its parameters were first in the mangling. */
static void function(struct parser *p, const char *kind)
{
	bool quiet = p->quiet;
	size_t from = p->at, to;

	p->quiet = true;
	parameters(p);
	p->quiet = quiet;
	d_type(p);
	to = p->at;
	d_put(p, kind);
	p->at = from;
	parameters(p);
	p->at = to;
}

static void associative(struct parser *p)
{
	bool quiet = p->quiet;
	size_t from = p->at, to;

	p->quiet = true;
	d_type(p);
	p->quiet = quiet;
	d_type(p);
	to = p->at;
	d_put(p, "[");
	p->at = from;
	d_type(p);
	p->at = to;
	d_put(p, "]");
}

static void fixed_array(struct parser *p)
{
	char length[24];

	snprintf(length, sizeof(length), "[%" PRIu64 "]", d_number(p));
	d_type(p);
	d_put(p, length);
}

static void tuple(struct parser *p)
{
	uint64_t i, nr = d_number(p);

	d_put(p, "tuple(");
	for (i = 0; i < nr && !p->bad; i++) {
		if (i)
			d_put(p, ", ");
		d_type(p);
	}
	d_put(p, ")");
}

static void type_reference(struct parser *p, const char *kind)
{
	size_t to, at;

	if (!reference(p, &to))
		return;
	at = p->at;
	p->at = to;
	if (kind)
		function(p, kind);
	else
		d_type(p);
	p->at = at;
}

static void delegate(struct parser *p)
{
	const char *mods = modifiers_of(p);

	if (eat(p, "Q"))
		type_reference(p, " delegate");
	else
		function(p, " delegate");
	d_put(p, mods);
}

static void suffixed(struct parser *p, const char *suffix)
{
	d_type(p);
	d_put(p, suffix);
}

static void compound(struct parser *p, char c)
{
	switch (c) {
	case 'O':
		wrapped(p, "shared(");
		break;
	case 'x':
		wrapped(p, "const(");
		break;
	case 'y':
		wrapped(p, "immutable(");
		break;
	case 'A':
		suffixed(p, "[]");
		break;
	case 'G':
		fixed_array(p);
		break;
	case 'H':
		associative(p);
		break;
	case 'P':
		if (is_convention(d_peek(p)))
			function(p, " function");
		else
			suffixed(p, "*");
		break;
	case 'C':
	case 'S':
	case 'E':
	case 'T':
		qualified(p, false);
		break;
	case 'D':
		delegate(p);
		break;
	case 'B':
		tuple(p);
		break;
	case 'Q':
		type_reference(p, NULL);
		break;
	default:
		p->bad = true;
	}
}

static void d_type(struct parser *p)
{
	char c = d_peek(p);

	if (!d_enter(p))
		return;
	if (is_convention(c))
		function(p, "");
	else if (eat(p, "Ng"))
		wrapped(p, "inout(");
	else if (eat(p, "Nh"))
		wrapped(p, "__vector(");
	else if (eat(p, "Nn"))
		d_put(p, "typeof(*null)");
	else if (eat(p, "zi"))
		d_put(p, "cent");
	else if (eat(p, "zk"))
		d_put(p, "ucent");
	else if (basic(d_next(p)))
		d_put(p, basic(c));
	else
		compound(p, c);
	p->depth--;
}

/* ---- values of template arguments ---- */

static void integer(struct parser *p, char of)
{
	uint64_t v = d_number(p);
	char text[32];

	if (of == 'b')
		snprintf(text, sizeof(text), "%s", v ? "true" : "false");
	else if ((of == 'a' || of == 'u' || of == 'w') && v >= ' ' && v < 127)
		snprintf(text, sizeof(text), "'%c'", (int)v);
	else
		snprintf(text, sizeof(text), "%" PRIu64 "%s", v, of == 'h' || of == 't' || of == 'k' ? "u" :
			 of == 'l' ? "L" : of == 'm' ? "uL" : "");
	d_put(p, text);
}

static void d_string(struct parser *p)
{
	uint64_t i, n = d_number(p);

	if (!eat(p, "_"))
		p->bad = true;
	d_put(p, "\"");
	for (i = 0; i < n && !p->bad; i++) {
		int high = hex_digit(d_next(p)), low = hex_digit(d_next(p));
		char c = high * 16 + low;

		p->bad |= high < 0 || low < 0;
		if (isprint((unsigned char)c))
			put_len(p, &c, 1);
		else
			d_put(p, "?");
	}
	d_put(p, "\"");
}

static void d_list(struct parser *p, const char *before, const char *after, bool pairs)
{
	uint64_t i, n = d_number(p);

	d_put(p, before);
	for (i = 0; i < n && !p->bad; i++) {
		if (i)
			d_put(p, ", ");
		value(p, '\0');
		if (!pairs)
			continue;
		d_put(p, ":");
		value(p, '\0');
	}
	d_put(p, after);
}

/* Parse a number in hexadecimal, with a "P" and the exponent. */
static void real(struct parser *p)
{
	size_t at;

	if (eat(p, "NAN")) {
		d_put(p, "NaN");
		return;
	}
	if (eat(p, "INF") || eat(p, "NINF")) {
		d_put(p, p->s[p->at - 4] == 'N' ? "-Inf" : "Inf");
		return;
	}
	if (eat(p, "N"))
		d_put(p, "-");
	d_put(p, "0x");
	at = p->at;
	while (hex_digit(d_peek(p)) >= 0)
		p->at++;
	if (p->at == at)
		p->bad = true;
	put_len(p, p->s + at, p->at > at);
	d_put(p, ".");
	put_len(p, p->s + at + 1, p->at > at ? p->at - at - 1 : 0);
	if (!eat(p, "P"))
		p->bad = true;
	d_put(p, eat(p, "N") ? "p-" : "p");
	at = p->at;
	d_number(p);
	if (!p->bad)
		put_len(p, p->s + at, p->at - at);
}

static void value(struct parser *p, char of)
{
	if (!d_enter(p))
		return;
	if (d_is_digit(d_peek(p))) {
		integer(p, of);
		p->depth--;
		return;
	}
	switch (d_next(p)) {
	case 'n':
		d_put(p, "null");
		break;
	case 'N':
		d_put(p, "-");
		integer(p, of);
		break;
	case 'i':
		integer(p, of);
		break;
	case 'e':
		real(p);
		break;
	case 'a':
	case 'w':
	case 'd':
		d_string(p);
		break;
	case 'A':
		d_list(p, "[", "]", of == 'H');
		break;
	case 'S':
		d_list(p, "(", ")", false);
		break;
	case 'f':
		if (!eat(p, "_D"))
			p->bad = true;
		whole(p);
		break;
	default:
		p->bad = true;
	}
	p->depth--;
}

bool dlang_demangle(const char *name, struct buf *out)
{
	struct parser p = { .s = name, .len = strcspn(name, "."), .at = 2, .out = out, .start = out->len };

	if (strncmp(name, "_D", 2))
		return false;
	if (!strcmp(name, "_Dmain")) {
		buf_str(out, "D main");
		return true;
	}
	if (!d_is_digit(name[2]) && name[2] != '_')
		return false;
	whole(&p);
	if (name[p.len]) {	/* the compiler's part of a function, or copy of it */
		d_put(&p, " [clone ");
		d_put(&p, name + p.len);
		d_put(&p, "]");
	}
	if (!p.bad && p.at == p.len)
		return true;
	out->len = p.start;
	if (out->data)
		out->data[out->len] = '\0';
	return false;
}
