// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rust-v0.c - Rust's own mangling (RFC 2603): paths, types and constants in prefix notation,
 * with references back to what was said before.
 *
 * References make the output of a short name long and its nesting deep, so both are bounded
 * and so are the steps: a name from a file cannot make us loop.
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
	PUNYCODE_MAX = 256,	/* code points of one identifier */
};

struct parser {
	const char *s;		/* after _R */
	size_t len, at;
	struct buf *out;
	size_t start;		/* out->len at the beginning */
	bool bad, quiet;	/* quiet: parsed, not shown */
	int depth, steps;
	uint64_t lifetimes;	/* bound so far */
};

struct ident {
	const char *s;
	size_t len;
	bool puny;
	uint64_t dis;
};

static void path(struct parser *p, bool in_value);
static void rust_type(struct parser *p);
static void rust_constant(struct parser *p);

static void rust_put(struct parser *p, const char *s)
{
	if (p->quiet || p->bad)
		return;
	if (p->out->len - p->start > OUTPUT_MAX)
		p->bad = true;
	else
		buf_str(p->out, s);
}

static char rust_peek(const struct parser *p)
{
	return p->at < p->len ? p->s[p->at] : '\0';
}

static char rust_next(struct parser *p)
{
	if (p->at >= p->len) {
		p->bad = true;
		return '\0';
	}
	return p->s[p->at++];
}

static bool eat(struct parser *p, char c)
{
	if (p->bad || rust_peek(p) != c || !c)
		return false;
	p->at++;
	return true;
}

/* Enter a level of the grammar; return false if too deep or too long. */
static bool rust_enter(struct parser *p)
{
	if (++p->depth > DEPTH_MAX || ++p->steps > STEPS_MAX)
		p->bad = true;
	return !p->bad;
}

/* "_" is 0, else the digits plus one. */
static uint64_t base62(struct parser *p)
{
	uint64_t v = 0;

	if (eat(p, '_'))
		return 0;
	while (!p->bad && !eat(p, '_')) {
		char c = rust_next(p);
		uint64_t d = isdigit((unsigned char)c) ? c - '0' : islower((unsigned char)c) ? c - 'a' + 10 :
			     isupper((unsigned char)c) ? c - 'A' + 36 : 62;

		if (d == 62 || v > (UINT64_MAX - d) / 62)
			p->bad = true;
		else
			v = v * 62 + d;
	}
	if (v == UINT64_MAX)
		p->bad = true;
	return v + 1;
}

static uint64_t opt_base62(struct parser *p, char tag)
{
	return eat(p, tag) ? base62(p) + 1 : 0;
}

static void identifier(struct parser *p, struct ident *id)
{
	uint64_t n = 0;

	memset(id, 0, sizeof(*id));
	id->puny = eat(p, 'u');
	if (!isdigit((unsigned char)rust_peek(p))) {
		p->bad = true;
		return;
	}
	if (!eat(p, '0'))
		while (isdigit((unsigned char)rust_peek(p)) && n < 1 << 20)
			n = n * 10 + (rust_next(p) - '0');
	eat(p, '_');
	if (p->bad || n > p->len - p->at) {
		p->bad = true;
		return;
	}
	id->s = p->s + p->at;
	id->len = n;
	p->at += n;
}

static void identifier_with_dis(struct parser *p, struct ident *id)
{
	uint64_t dis = opt_base62(p, 's');

	identifier(p, id);
	id->dis = dis;
}

/* Read one number of punycode; return false if it is damaged. */
static bool puny_delta(const char **s, const char *end, uint32_t bias, uint32_t *delta)
{
	uint64_t w = 1, v = 0;
	uint32_t k;

	for (k = 36;; k += 36) {
		uint32_t t = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias, d;
		char c;

		if (*s >= end)
			return false;
		c = *(*s)++;
		if (c >= 'a' && c <= 'z')
			d = c - 'a';
		else if (c >= '0' && c <= '9')
			d = c - '0' + 26;
		else
			return false;
		v += d * w;
		if (v > UINT32_MAX)
			return false;
		*delta = (uint32_t)v;
		if (d < t)
			return true;
		w *= 36 - t;
		if (w > UINT32_MAX)
			return false;
	}
}

static uint32_t puny_adapt(uint32_t delta, uint32_t nr, bool first)
{
	uint32_t k = 0;

	delta /= first ? 700 : 2;
	delta += delta / nr;
	for (; delta > 35 * 26 / 2; k += 36)
		delta /= 35;
	return k + 36 * delta / (delta + 38);
}

/* Decode RFC 3492, with _ between the plain letters and the rest. */
static bool punycode(const struct ident *id, uint32_t *chars, size_t *nr)
{
	const char *s = id->s, *end = s + id->len, *sep = memrchr(s, '_', id->len);
	uint32_t c = 0x80, i = 0, bias = 72, delta;
	bool first = true;

	*nr = 0;
	if (sep) {
		for (; s < sep && *nr < PUNYCODE_MAX; s++)
			chars[(*nr)++] = (unsigned char)*s;
		s = sep + 1;
	}
	while (s < end) {
		if (*nr == PUNYCODE_MAX || !puny_delta(&s, end, bias, &delta) || delta > UINT32_MAX - i)
			return false;
		i += delta;
		(*nr)++;
		bias = puny_adapt(delta, *nr, first);
		first = false;
		if (i / *nr > 0x10ffff - c)
			return false;
		c += i / *nr;
		i %= *nr;
		memmove(chars + i + 1, chars + i, (*nr - 1 - i) * sizeof(*chars));
		chars[i++] = c;
	}
	return *nr;
}

static void put_ident(struct parser *p, const struct ident *id)
{
	uint32_t chars[PUNYCODE_MAX + 1];
	size_t nr, i;

	if (p->bad || p->quiet)
		return;
	rust_put(p, "");
	if (!id->puny) {
		buf_add(p->out, id->s, id->len);
	} else if (punycode(id, chars, &nr)) {
		for (i = 0; i < nr; i++)
			rust_put_utf8(p->out, chars[i]);
	} else {
		rust_put(p, "punycode{");
		buf_add(p->out, id->s, id->len);
		rust_put(p, "}");
	}
}

static void rust_put_number(struct parser *p, uint64_t v)
{
	char s[24];

	snprintf(s, sizeof(s), "%" PRIu64, v);
	rust_put(p, s);
}

/* Append a lifetime. They count from the innermost binder: '_ is erased, then 'a, 'b. */
static void put_lifetime(struct parser *p, uint64_t lt)
{
	char s[3] = "'_";
	uint64_t depth;

	if (lt > p->lifetimes) {
		p->bad = true;
		return;
	}
	depth = p->lifetimes - lt;
	if (lt && depth < 26)
		s[1] = (char)('a' + depth);
	else if (lt)
		s[1] = 'z';
	rust_put(p, s);
	if (lt && depth >= 26)
		rust_put_number(p, depth - 25);
}

/* Parse for<'a, 'b> ; the caller takes the lifetimes back. */
static uint64_t binder(struct parser *p)
{
	uint64_t nr = opt_base62(p, 'G'), i;

	if (!nr)
		return 0;
	if (nr > 1024) {
		p->bad = true;
		return 0;
	}
	rust_put(p, "for<");
	for (i = 0; i < nr; i++) {
		if (i)
			rust_put(p, ", ");
		p->lifetimes++;
		put_lifetime(p, 1);
	}
	rust_put(p, "> ");
	return nr;
}

/* Runs what at the place said before, once more. */
static void backref(struct parser *p, void (*what)(struct parser *p))
{
	size_t here = p->at - 1, to = base62(p), back = p->at;

	if (p->bad || to >= here) {
		p->bad = true;
		return;
	}
	if (p->quiet)
		return;
	p->at = to;
	what(p);
	p->at = back;
}

static void path_of_value(struct parser *p)
{
	path(p, true);
}

static void path_of_type(struct parser *p)
{
	path(p, false);
}

static void generic_args(struct parser *p)
{
	bool first = true;

	for (; !p->bad && !eat(p, 'E'); first = false) {
		if (!first)
			rust_put(p, ", ");
		if (eat(p, 'L'))
			put_lifetime(p, base62(p));
		else if (eat(p, 'K'))
			rust_constant(p);
		else
			rust_type(p);
	}
}

static void nested_path(struct parser *p, bool in_value)
{
	char ns = rust_next(p);
	struct ident id;
	char s[2] = { ns, '\0' };

	path(p, in_value);
	identifier_with_dis(p, &id);
	if (isupper((unsigned char)ns)) {
		rust_put(p, "::{");
		rust_put(p, ns == 'C' ? "closure" : ns == 'S' ? "shim" : s);
		if (id.len) {
			rust_put(p, ":");
			put_ident(p, &id);
		}
		rust_put(p, "#");
		rust_put_number(p, id.dis);
		rust_put(p, "}");
	} else if (islower((unsigned char)ns)) {
		if (id.len) {
			rust_put(p, "::");
			put_ident(p, &id);
		}
	} else {
		p->bad = true;
	}
}

/* Skip where an impl is, as only what it is for is shown. */
static void skip_impl_path(struct parser *p)
{
	bool quiet = p->quiet;

	p->quiet = true;
	opt_base62(p, 's');
	path(p, false);
	p->quiet = quiet;
}

static void path(struct parser *p, bool in_value)
{
	char tag = rust_next(p);
	struct ident id;

	if (!rust_enter(p))
		return;
	switch (tag) {
	case 'C':
		identifier_with_dis(p, &id);
		put_ident(p, &id);
		break;
	case 'N':
		nested_path(p, in_value);
		break;
	case 'M':
	case 'X':
		skip_impl_path(p);
		__attribute__((fallthrough));
	case 'Y':
		rust_put(p, "<");
		rust_type(p);
		if (tag != 'M') {
			rust_put(p, " as ");
			path(p, false);
		}
		rust_put(p, ">");
		break;
	case 'I':
		path(p, in_value);
		rust_put(p, in_value ? "::<" : "<");
		generic_args(p);
		rust_put(p, ">");
		break;
	case 'B':
		backref(p, in_value ? path_of_value : path_of_type);
		break;
	default:
		p->bad = true;
	}
	p->depth--;
}

static const char *basic_type(char tag)
{
	static const char *const names[26] = {
		['a' - 'a'] = "i8", ['b' - 'a'] = "bool", ['c' - 'a'] = "char", ['d' - 'a'] = "f64",
		['e' - 'a'] = "str", ['f' - 'a'] = "f32", ['h' - 'a'] = "u8", ['i' - 'a'] = "isize",
		['j' - 'a'] = "usize", ['l' - 'a'] = "i32", ['m' - 'a'] = "u32", ['n' - 'a'] = "i128",
		['o' - 'a'] = "u128", ['p' - 'a'] = "_", ['s' - 'a'] = "i16", ['t' - 'a'] = "u16",
		['u' - 'a'] = "()", ['v' - 'a'] = "...", ['x' - 'a'] = "i64", ['y' - 'a'] = "u64",
		['z' - 'a'] = "!",
	};

	return islower((unsigned char)tag) ? names[tag - 'a'] : NULL;
}

static void fn_abi(struct parser *p)
{
	struct ident id = { .s = "C", .len = 1 };
	size_t i;

	if (!eat(p, 'C'))
		identifier(p, &id);
	if (p->bad || !id.len || id.puny) {
		p->bad = true;
		return;
	}
	rust_put(p, "extern \"");
	for (i = 0; i < id.len && !p->bad; i++)	/* dashes were made underscores */
		rust_put(p, (char[2]){ id.s[i] == '_' ? '-' : id.s[i], '\0' });
	rust_put(p, "\" ");
}

static void fn_type(struct parser *p)
{
	uint64_t bound = binder(p);
	bool first = true;

	if (eat(p, 'U'))
		rust_put(p, "unsafe ");
	if (eat(p, 'K'))
		fn_abi(p);
	rust_put(p, "fn(");
	for (; !p->bad && !eat(p, 'E'); first = false) {
		if (!first)
			rust_put(p, ", ");
		rust_type(p);
	}
	rust_put(p, ")");
	if (!eat(p, 'u')) {	/* () is not shown */
		rust_put(p, " -> ");
		rust_type(p);
	}
	p->lifetimes -= bound;
}

/* Parse a path whose generic arguments are left open, for the associated types that follow. */
static bool rust_open_path(struct parser *p)
{
	bool open = false;

	if (!rust_enter(p))
		return false;
	if (eat(p, 'B')) {
		size_t here = p->at - 1, to = base62(p), back = p->at;

		if (p->bad || to >= here) {
			p->bad = true;
		} else if (!p->quiet) {
			p->at = to;
			open = rust_open_path(p);
			p->at = back;
		}
	} else if (eat(p, 'I')) {
		path(p, false);
		rust_put(p, "<");
		generic_args(p);
		open = true;
	} else {
		path(p, false);
	}
	p->depth--;
	return open;
}

static void dyn_trait(struct parser *p)
{
	bool open = rust_open_path(p);
	struct ident id;

	while (eat(p, 'p')) {
		rust_put(p, open ? ", " : "<");
		open = true;
		identifier(p, &id);
		put_ident(p, &id);
		rust_put(p, " = ");
		rust_type(p);
	}
	if (open)
		rust_put(p, ">");
}

static void dyn_type(struct parser *p)
{
	uint64_t bound, lt;
	bool first = true;

	rust_put(p, "dyn ");
	bound = binder(p);
	for (; !p->bad && !eat(p, 'E'); first = false) {
		if (!first)
			rust_put(p, " + ");
		dyn_trait(p);
	}
	p->lifetimes -= bound;
	if (!eat(p, 'L')) {
		p->bad = true;
		return;
	}
	lt = base62(p);
	if (lt) {
		rust_put(p, " + ");
		put_lifetime(p, lt);
	}
}

static void reference(struct parser *p, char tag)
{
	uint64_t lt;

	rust_put(p, "&");
	if (eat(p, 'L')) {
		lt = base62(p);
		if (lt) {
			put_lifetime(p, lt);
			rust_put(p, " ");
		}
	}
	if (tag == 'Q')
		rust_put(p, "mut ");
	rust_type(p);
}

static void tuple(struct parser *p)
{
	size_t nr;

	rust_put(p, "(");
	for (nr = 0; !p->bad && !eat(p, 'E'); nr++) {
		if (nr)
			rust_put(p, ", ");
		rust_type(p);
	}
	rust_put(p, nr == 1 ? ",)" : ")");
}

static void rust_type(struct parser *p)
{
	char tag = rust_next(p);
	const char *basic = basic_type(tag);

	if (basic) {
		rust_put(p, basic);
		return;
	}
	if (!rust_enter(p))
		return;
	switch (tag) {
	case 'R':
	case 'Q':
		reference(p, tag);
		break;
	case 'P':
	case 'O':
		rust_put(p, tag == 'P' ? "*const " : "*mut ");
		rust_type(p);
		break;
	case 'A':
	case 'S':
		rust_put(p, "[");
		rust_type(p);
		if (tag == 'A') {
			rust_put(p, "; ");
			rust_constant(p);
		}
		rust_put(p, "]");
		break;
	case 'T':
		tuple(p);
		break;
	case 'F':
		fn_type(p);
		break;
	case 'D':
		dyn_type(p);
		break;
	case 'B':
		backref(p, rust_type);
		break;
	default:
		p->at--;
		path(p, false);
	}
	p->depth--;
}

/* Read hexadecimal digits up to _; return how many, and their value if it fits. */
static size_t hex_number(struct parser *p, const char **digits, uint64_t *v)
{
	size_t from = p->at, len;

	*v = 0;
	while (!p->bad && !eat(p, '_')) {
		char c = rust_next(p);

		if (!isdigit((unsigned char)c) && (c < 'a' || c > 'f'))
			p->bad = true;
		*v = *v << 4 | (isdigit((unsigned char)c) ? c - '0' : c - 'a' + 10);
	}
	if (p->bad)
		return 0;
	*digits = p->s + from;
	len = p->at - 1 - from;
	while (len > 1 && **digits == '0') {
		(*digits)++;
		len--;
	}
	return len;
}

static void integer(struct parser *p)
{
	const char *digits;
	uint64_t v;
	size_t len = hex_number(p, &digits, &v), i;

	if (len <= 16) {
		rust_put_number(p, v);
		return;
	}
	rust_put(p, "0x");
	for (i = 0; i < len; i++)
		rust_put(p, (char[2]){ digits[i], '\0' });
}

static void character(struct parser *p)
{
	const char *digits;
	uint64_t v;
	char s[32];

	if (hex_number(p, &digits, &v) > 8 || v > 0x10ffff)
		p->bad = true;
	if (p->bad || p->quiet)
		return;
	if (v == '\t' || v == '\n' || v == '\r') {
		rust_put(p, v == '\t' ? "'\\t'" : v == '\n' ? "'\\n'" : "'\\r'");
	} else if (v == '\'' || v == '\\') {
		snprintf(s, sizeof(s), "'\\%c'", (char)v);
		rust_put(p, s);
	} else if (v < 0x20 || v == 0x7f) {
		snprintf(s, sizeof(s), "'\\u{%" PRIx64 "}'", v);
		rust_put(p, s);
	} else {
		rust_put(p, "'");
		rust_put_utf8(p->out, (uint32_t)v);
		rust_put(p, "'");
	}
}

/* "e": the bytes of a string in hexadecimal. */
static void rust_string(struct parser *p)
{
	const char *digits = p->s + p->at;
	size_t len = 0, i;

	while (!p->bad && !eat(p, '_')) {
		if (!isxdigit((unsigned char)rust_next(p)))
			p->bad = true;
		len++;
	}
	if (len & 1)
		p->bad = true;
	rust_put(p, "\"");
	for (i = 0; i + 1 < len && !p->bad; i += 2) {
		char hex[3] = { digits[i], digits[i + 1], '\0' };
		int c = (int)strtoul(hex, NULL, 16);

		if (c == '"' || c == '\\')
			rust_put(p, "\\");
		rust_put(p, (char[2]){ c < 0x20 ? '.' : (char)c, '\0' });
	}
	rust_put(p, "\"");
}

static void constants(struct parser *p, const char *open, const char *close, bool is_tuple)
{
	size_t nr;

	rust_put(p, open);
	for (nr = 0; !p->bad && !eat(p, 'E'); nr++) {
		if (nr)
			rust_put(p, ", ");
		rust_constant(p);
	}
	if (nr == 1 && is_tuple)
		rust_put(p, ",");
	rust_put(p, close);
}

static void field_constants(struct parser *p)
{
	struct ident id;
	size_t nr;

	rust_put(p, " { ");
	for (nr = 0; !p->bad && !eat(p, 'E'); nr++) {
		if (nr)
			rust_put(p, ", ");
		identifier_with_dis(p, &id);
		put_ident(p, &id);
		rust_put(p, ": ");
		rust_constant(p);
	}
	rust_put(p, " }");
}

/* "V": a value of a named type. */
static void variant(struct parser *p)
{
	path(p, true);
	switch (rust_next(p)) {
	case 'U':
		break;
	case 'T':
		constants(p, "(", ")", false);
		break;
	case 'S':
		field_constants(p);
		break;
	default:
		p->bad = true;
	}
}

static void boolean(struct parser *p)
{
	const char *digits;
	uint64_t v;

	if (!hex_number(p, &digits, &v) || v > 1)
		p->bad = true;
	rust_put(p, v ? "true" : "false");
}

static void rust_constant(struct parser *p)
{
	char tag = rust_next(p);

	if (!rust_enter(p))
		return;
	switch (tag) {
	case 'p':
		rust_put(p, "_");
		break;
	case 'a': case 's': case 'l': case 'x': case 'n': case 'i':
		if (eat(p, 'n'))
			rust_put(p, "-");
		__attribute__((fallthrough));
	case 'h': case 't': case 'm': case 'y': case 'o': case 'j':
		integer(p);
		break;
	case 'b':
		boolean(p);
		break;
	case 'c':
		character(p);
		break;
	case 'e':
		rust_put(p, "*");
		rust_string(p);
		break;
	case 'R':
	case 'Q':
		if (tag == 'R' && eat(p, 'e')) {
			rust_string(p);
			break;
		}
		rust_put(p, tag == 'R' ? "&" : "&mut ");
		rust_constant(p);
		break;
	case 'A':
		constants(p, "[", "]", false);
		break;
	case 'T':
		constants(p, "(", ")", true);
		break;
	case 'V':
		variant(p);
		break;
	case 'B':
		backref(p, rust_constant);
		break;
	default:
		p->bad = true;
	}
	p->depth--;
}

/* Cut off what the compiler and LLVM append: ".llvm.123" says nothing, others are kept. */
static size_t mangled_length(const char *s)
{
	return strcspn(s, ".$");
}

bool rust_demangle_v0(const char *name, struct buf *out)
{
	struct parser p = { .s = name + 2, .out = out, .start = out->len };

	if (strncmp(name, "_R", 2) || !isupper((unsigned char)name[2]))
		return false;
	p.len = mangled_length(p.s);
	path(&p, true);
	if (!p.bad && p.at < p.len) {	/* the crate that made the instance */
		p.quiet = true;
		path(&p, false);
	}
	if (p.bad || p.at != p.len) {
		out->len = p.start;
		if (out->data)
			out->data[out->len] = '\0';
		return false;
	}
	if (strncmp(p.s + p.len, ".llvm.", 6))
		buf_str(out, p.s + p.len);
	return true;
}
