// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "base/mem.h"
#include "report/sheet.h"
#include "unit.h"

static const struct sheet_column columns[] = {
	{ "unix_ns", .outer = true },
	{ "name", "Name", -6 },
	{ "cpu", "CPU", 4 },
	{ "ran_ns", "Ran", 6, 2, .unit = UNIT_S },
	{ "share", "Share", 6, 1, .unit = 10, .before = "  " },
	{ "ok", .value = true },
	{ "nr", .value = true },
	{ NULL, "Note", .before = "  ", .note = true },
	{ .width = 9 },
};

/* The rows in that format, with what surrounds them in JSON. */
static char *print(int format)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	struct sheet s;

	sheet_init(&s, format, f);
	json_object(&s.json, NULL);
	json_array(&s.json, "rows");
	sheet_columns(&s, columns, ARRAY_SIZE(columns));
	sheet_row(&s, NULL, (const struct cell[]){ cell_u64(7), cell_text("=a,\033"), cell_u64(3),
		cell_u64(1500000000), cell_real(10 / 3.0), cell_bool(true), cell_u64(UINT64_MAX),
		cell_text("in\npart"), cell_text("left out") });
	sheet_row(&s, NULL, (const struct cell[]){ cell_u64(8), cell_text(NULL), cell_label("all"),
		cell_absent, cell_real(NAN), cell_bool(false), cell_none, cell_none, cell_u64(9) });
	json_end(&s.json);
	json_end(&s.json);
	fclose(f);
	return text;
}

static void check(int format, const char *want)
{
	char *got = print(format);

	CHECK_STR(got, want);
	free(got);
}

TEST(sheet_prints_cells_as_text_with_units_and_notes)
{
	check(FORMAT_TEXT, "Name    CPU    Ran   Share  Note\n"
			   "=a,\\x1b    3   1.50     0.3  in\\npart\n"
			   "n/a     all      -     n/a\n");
}

TEST(sheet_prints_cells_as_csv_without_formulas)
{
	check(FORMAT_CSV, "unix_ns,name,cpu,ran_ns,share,ok,nr\n"
			  "7,\"'=a,\\x1b\",3,1500000000,3.33333333333333,true,18446744073709551615\n"
			  "8,,all,,,false,\n");
}

TEST(sheet_prints_cells_as_exact_json)
{
	check(FORMAT_JSON, "{\n\"rows\":[\n"
			   "{\"name\":\"=a,\\u001b\",\"cpu\":3,\"ran_ns\":1500000000,\"share\":3.33333333333333,"
			   "\"ok\":true,\"nr\":18446744073709551615},\n"
			   "{\"name\":null,\"share\":null,\"ok\":false,\"nr\":null}]}\n");
}

TEST(sheet_prints_only_values)
{
	check(FORMAT_HEX, "0xffffffffffffffff\n");
	check(FORMAT_DEC, "18446744073709551615\n");
}

/* Columns that are of one of several, and a name that is too long. */
static char *print_of(int format)
{
	static const struct sheet_column of[] = {
		{ "n", "N", 3, .before = " " }, { "base", "Base", 6, 2, .of = "cpu" },
		{ "base", "Base", 6, .of = "a,b" }, { .json = "tid" }, { .json = "callers" },
		{ "ratio", "Ratio", 5, .digits = 3, .json = "" },
		{ "name", "Name", .before = "  ", .cut = true },
	};
	static const char *const callers[] = { "f", "g" };
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	struct sheet s;

	sheet_init(&s, format, f);
	s.width = 44;
	json_object(&s.json, NULL);
	sheet_member(&s, "nr", &cell_u64(1));
	sheet_columns(&s, of, ARRAY_SIZE(of));
	sheet_row(&s, "row", (const struct cell[]){ cell_u64(1234), { CELL_FIXED, true, { .u64 = 5 } },
		cell_u64(7), cell_absent, cell_list(callers, 2), cell_real(10 / 3.0),
		cell_text("a.quit\303\244.e.long.name") });
	json_end(&s.json);
	fclose(f);
	return text;
}

static void check_of(int format, const char *want)
{
	char *got = print_of(format);

	CHECK_STR(got, want);
	free(got);
}

TEST(sheet_prints_columns_of_several)
{
	check_of(FORMAT_TEXT, "        cpu    a,b      \n"
			      "   N   Base   Base Ratio  Name\n"
			      " 1234  ~0.05      7     3  a.quit...ng.name\n");
	check_of(FORMAT_CSV, "n,base:cpu,\"base:a,b\",ratio,name\n"
			     "1234,0.05,7,3.33,a.quit\303\244.e.long.name\n");
	check_of(FORMAT_JSON, "{\n\"nr\":1,\n\"row\":{\n\"n\":1234,\n\"base\":[0.05,7],\n\"callers\":[\"f\",\"g\"],\n"
			      "\"name\":\"a.quit\303\244.e.long.name\"}}\n");
}

/* Two tables, of which the second has a column of its own, with that choice; the error, if there is one. */
static char *print_chosen(int format, char *column, const char *sort, struct err *e)
{
	static const struct sheet_column of[] = {
		{ "unix_ns", .outer = true }, { "name", "Name", -6 }, { "cpu", "CPU", 4 },
	}, more[] = { { "name", "Name", -6 }, { "n", "N", 4 }, { .json = "tid" } };
	const struct sheet_choice choice = { { .items = &column, .nr_items = column ? 1 : 0 }, sort };
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	struct sheet_held h;
	struct sheet s;

	e->msg[0] = '\0';
	sheet_init(&s, format, sheet_hold(&h, &choice, f));
	sheet_choose(&s, &h.choice);
	json_array(&s.json, NULL);
	s.table = "CPUs";
	sheet_columns(&s, of, ARRAY_SIZE(of));
	sheet_row(&s, NULL, (const struct cell[]){ cell_u64(5), cell_text("a"), cell_u64(1) });
	sheet_row(&s, NULL, (const struct cell[]){ cell_u64(6), cell_text("b"), cell_u64(2) });
	s.table = "threads";
	sheet_columns(&s, more, ARRAY_SIZE(more));
	sheet_row(&s, NULL, (const struct cell[]){ cell_text("c"), cell_u64(3), cell_u64(4) });
	sheet_end(&s);
	json_end(&s.json);
	sheet_let_go(&h, 0, e);
	fclose(f);
	return text;
}

static void check_chosen(int format, char *column, const char *sort, const char *want)
{
	struct err e;
	char *got = print_chosen(format, column, sort, &e);

	CHECK_STR(*e.msg ? e.msg : got, want);
	CHECK(!*e.msg || !*got);
	free(got);
}

TEST(sheet_shows_chosen_columns_and_says_which_table_has_which)
{
	static char name[] = "NAME", outer[] = "unix_ns", tid[] = "tid", none[] = "none";

	check_chosen(FORMAT_TEXT, name, "cpu", "Name  \nb     \na     \nName  \nc     \n");
	check_chosen(FORMAT_CSV, outer, NULL, "unix_ns\n5\n6\n");
	check_chosen(FORMAT_JSON, outer, NULL, "[]\n");
	check_chosen(FORMAT_JSON, tid, NULL, "[\n{\n\"tid\":4}]\n");
	check_chosen(FORMAT_CSV, none, NULL,
		     "--columns=none: no such column (expected one of: name; of CPUs: unix_ns, cpu; of threads: n)");
	check_chosen(FORMAT_TEXT, NULL, "-none",
		     "--sort=-none: no such column (expected one of: name; of CPUs: unix_ns, cpu; of threads: n)");
}

TEST(formats_print_rows_or_a_tree)
{
	int i;

	for (i = 0; format_name(i); i++) {
		const unsigned int no_rows = FORMAT_BIT(FORMAT_JUNIT) | FORMAT_BIT(FORMAT_HPROF) |
					     FORMAT_BIT(FORMAT_SVG);
		const struct format *f = format_get(i);

		CHECK_U64(!!f->print_tree, format_is_of_tree(i));
		CHECK_U64(!!f->row, !format_is_of_tree(i) && !(no_rows & FORMAT_BIT(i)));
	}
	CHECK(i > FORMAT_TREE && i < 32);	/* a set of them is an unsigned int */
}
