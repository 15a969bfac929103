// SPDX-License-Identifier: GPL-2.0-or-later
/* inline.c - formats the text inside a paragraph of AsciiDoc (inline.h). */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "manual/inline.h"

/* Marks that are none, as codes until all others are replaced. */
static const char literals[] = "*_`+{<";
enum { FIRST_LITERAL = 16 };

static char as_literal(char c)
{
	const char *s = c ? strchr(literals, c) : NULL;

	return s ? FIRST_LITERAL + (s - literals) : c;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c & 0x80;
}

/*
 * Return whether a mark may open: it follows neither a word nor what Asciidoctor takes for the end of an
 * entity or attribute.
 */
static bool may_open(const struct buf *b, size_t i)
{
	char before = i ? b->data[i - 1] : ' ';

	return !is_word(before) && !strchr(";:}<>&\\", before);
}

/* Return where the pair of the mark at i ends, or 0. */
static size_t find_end(const struct buf *b, size_t i, const char *mark)
{
	size_t len = strlen(mark), k;
	bool constrained = len == 1;
	const char *s = b->data;

	if (i + 2 * len >= b->len || strncmp(s + i, mark, len) ||
	    (constrained ? !may_open(b, i) || isspace((unsigned char)s[i + 1]) : s[i + len] == *mark))
		return 0;
	for (k = i + len + 1; k + len <= b->len; k++)
		if (!strncmp(s + k, mark, len) &&
		    (!constrained || (!isspace((unsigned char)s[k - 1]) && !is_word(s[k + 1]))))
			return k;
	return 0;
}

static void replace_pairs(struct buf *b, const char *mark, char begin, char end)
{
	struct buf out = BUF_INIT;
	size_t i = 0, k;

	while (i < b->len) {
		k = find_end(b, i, mark);
		if (!k) {
			buf_putc(&out, b->data[i++]);
			continue;
		}
		buf_putc(&out, begin);
		buf_add(&out, b->data + i + strlen(mark), k - i - strlen(mark));
		buf_putc(&out, end);
		i = k + strlen(mark);
	}
	buf_release(b);
	*b = out;
}

/* "+text+" has no marks, and "\_" is none. */
static void protect_literals(struct buf *b)
{
	struct buf out = BUF_INIT;
	size_t i = 0, k;

	while (i < b->len) {
		k = find_end(b, i, "+");
		if (k) {
			while (++i < k)
				buf_putc(&out, as_literal(b->data[i]));
			i++;
		} else if (b->data[i] == '\\' && (b->data[i + 1] == '_' || b->data[i + 1] == '<')) {
			buf_putc(&out, as_literal(b->data[i + 1]));
			i += 2;
		} else {
			buf_putc(&out, b->data[i++]);
		}
	}
	buf_release(b);
	*b = out;
}

/* Append the title of the section that "[[id]]" is in front of; without one the id itself. */
static void add_title(struct buf *out, const char *id, size_t len, const struct buf *page)
{
	const char *s = page->data;

	for (; (s = strstr(s, "\n[[")); s += 3) {
		if (strncmp(s + 3, id, len) || strncmp(s + 3 + len, "]]\n", 3))
			continue;
		s += len + 6;
		s += strspn(s, "= ");
		buf_add(out, s, strcspn(s, "\n"));
		return;
	}
	buf_add(out, id, len);
}

static void replace_references(struct buf *b, const struct buf *page)
{
	struct buf out = BUF_INIT;
	const char *s = b->data, *end;

	while (*s) {
		end = strncmp(s, "<<", 2) ? NULL : strstr(s, ">>");
		if (end) {
			add_title(&out, s + 2, end - s - 2, page);
			s = end + 2;
		} else {
			buf_putc(&out, *s++);
		}
	}
	buf_release(b);
	*b = out;
}

/* Restore the literals, and the attributes that pages use. */
static void restore_literals(struct buf *b)
{
	static const char asterisk[] = "{asterisk}", zero_width[] = "{zwsp}";
	struct buf out = BUF_INIT;
	const char *s = b->data;

	while (*s) {
		if (!strncmp(s, asterisk, sizeof(asterisk) - 1)) {
			buf_putc(&out, '*');
			s += sizeof(asterisk) - 1;
		} else if (!strncmp(s, zero_width, sizeof(zero_width) - 1)) {
			s += sizeof(zero_width) - 1;
		} else if (*s >= FIRST_LITERAL && *s < FIRST_LITERAL + (int)sizeof(literals) - 1) {
			buf_putc(&out, literals[*s++ - FIRST_LITERAL]);
		} else {
			buf_putc(&out, *s++);
		}
	}
	buf_release(b);
	*b = out;
}

void inline_marks(struct buf *text, const struct buf *page)
{
	if (!text->len)
		return;
	replace_references(text, page);
	protect_literals(text);
	replace_pairs(text, "**", INLINE_BOLD, INLINE_BOLD_END);
	replace_pairs(text, "*", INLINE_BOLD, INLINE_BOLD_END);
	replace_pairs(text, "`", INLINE_BOLD, INLINE_BOLD_END);
	replace_pairs(text, "__", INLINE_ITALIC, INLINE_ITALIC_END);
	replace_pairs(text, "_", INLINE_ITALIC, INLINE_ITALIC_END);
	restore_literals(text);
}
