// SPDX-License-Identifier: GPL-2.0-or-later
/* fleet_rows.c - which rows of a server, or which parts of the traces in a folder, the options choose. */
#include <string.h>

#include "base/labels.h"
#include "fleet.h"
#include "fleet/id.h"

const char *const fleet_tables[] = { "nodes", "hours", "days", NULL };

static void put_literal(struct buf *b, const char *s, bool of_server)
{
	if (of_server) {
		fetch_put_literal(b, s);
		return;
	}
	buf_putc(b, '\'');
	for (; *s; s++) {
		if (*s == '\'')
			buf_putc(b, '\'');
		buf_putc(b, *s);
	}
	buf_putc(b, '\'');
}

/* The column of labels has commas between two; service and version have columns of their own. */
static int put_one_label(struct buf *b, const char *label, bool of_server, struct err *e)
{
	const size_t key_len = strcspn(label, "=");
	struct buf text = BUF_INIT, whole = BUF_INIT;
	int r = label_check(label, e);

	if (r)
		return err_wrap(e, "--label");
	fleet_text(&text, label);	/* as rows have it */
	if (!strncmp(label, "service=", key_len + 1) || !strncmp(label, "version=", key_len + 1)) {
		buf_fmt(b, "%.*s = ", (int)key_len, label);
		put_literal(b, text.data + key_len + 1, of_server);
	} else {
		buf_str(b, of_server ? "position(concat(',', labels, ','), " : "instr(',' || labels || ',', ");
		buf_fmt(&whole, ",%s,", text.data);
		put_literal(b, whole.data, of_server);
		buf_str(b, ") > 0");
	}
	buf_release(&whole);
	buf_release(&text);
	return 0;
}

int fleet_condition(struct buf *b, const struct fleet_opts *o, bool of_server, struct err *e)
{
	size_t i;
	int r = 0;

	if (o->where)
		buf_fmt(b, o->labels.nr_items ? "(%s\n)" : "%s", o->where);
	for (i = 0; i < o->labels.nr_items && !r; i++) {
		buf_str(b, b->len ? " AND " : "");
		r = put_one_label(b, o->labels.items[i], of_server, e);
	}
	return r;
}

int fleet_choose(const struct fleet_opts *o, const struct http_server *server, struct fetch *f,
		 struct buf *where, struct err *e)
{
	int r = fleet_condition(where, o, true, e);

	*f = (struct fetch){ .server = server, .table = fleet_tables[o->table], .metric = o->metric,
			     .where = where->len ? where->data : NULL };
	return r ? r : fleet_times(o, &f->since_s, &f->until_s, e);
}
