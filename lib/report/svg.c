// SPDX-License-Identifier: GPL-2.0-or-later
/* svg.c - writes the common parts of SVG pictures (svg.h). */
#include "base/quote.h"
#include "report/report.h"
#include "report/svg.h"

void svg_begin(struct buf *b, int width, int height)
{
	buf_fmt(b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#1c2430\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
		width, height, width, height);
}

void svg_end(struct buf *b)
{
	buf_str(b, "</svg>\n");
}

void svg_text(struct buf *b, double x, double y, const char *more, const char *text)
{
	buf_fmt(b, "<text x=\"%.1f\" y=\"%.1f\"%s>", x, y, more);
	quote_add_xml(b, text);
	buf_str(b, "</text>\n");
}

void svg_amount(struct buf *b, double x, double y, const char *more, const char *unit, uint64_t n)
{
	struct buf text = BUF_INIT;

	report_put_amount(&text, unit, n);
	svg_text(b, x, y, more, text.data);
	buf_release(&text);
}

void svg_axes(struct buf *b, int left, int right, int top, int high)
{
	buf_fmt(b, "<path d=\"M%d %dV%dH%d\" fill=\"none\" stroke=\"#5c6675\"/>\n", left, top, top + high,
		right);
}
