/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inline.h - what is inside a paragraph of AsciiDoc: *bold* and _italic_ words, references, attributes.
 *
 * The rules are those of Asciidoctor for pairs of marks: one mark is one if no word is in front of the first
 * and behind the second; two marks always are.
 */
#ifndef MANUAL_INLINE_H
#define MANUAL_INLINE_H

#include "base/buf.h"

/* Bytes in place of marks; no page has them. */
enum inline_code {
	INLINE_BOLD = 1, INLINE_BOLD_END, INLINE_ITALIC, INLINE_ITALIC_END,
};

/* Replace *text by the same with codes in place of marks; page is where references find titles. */
void inline_marks(struct buf *text, const struct buf *page);

#endif
