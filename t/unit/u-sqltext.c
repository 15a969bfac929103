// SPDX-License-Identifier: GPL-2.0-or-later
/* Texts of SQL statements: what is the same, and what must not be in them. */
#include <string.h>

#include "agent/sources/sqltext.c"
#include "base/mem.h"
#include "unit.h"

static char got[SQLTEXT_MAX + 1];

static const char *text_with(const char *sql, size_t len, bool more, bool quoted_too)
{
	uint16_t units[2 * SQLTEXT_READ];
	size_t i, n;

	for (i = 0; i < len; i++)
		units[i] = (uint8_t)sql[i];
	memset(got, '#', sizeof(got));
	n = sqltext_put(units, len, more, quoted_too, got);
	CHECK(n <= SQLTEXT_MAX);
	got[n] = 0;
	return got;
}

static const char *text(const char *sql)
{
	return text_with(sql, strlen(sql), false, false);
}

TEST(sqltext_literals_and_parameters_are_marks)
{
	CHECK_STR(text("select * from t1 where a = 'x' and b=12 and c > 1.5e-10"),
		  "select * from t1 where a = ? and b=? and c > ?");
	CHECK_STR(text("select a from t where b = ? and c = $1 and d = :name"),
		  "select a from t where b = ? and c = ? and d = :name");
	CHECK_STR(text("values ('it''s', N'x', X'ff', 0xFF, .5, DATE '2020-01-01')"), "values (?, DATE ?)");
	CHECK_STR(text("select a - 5, b from t where c = -5 and d > - 7"), "select a - ?, b from t where c = ? and d > ?");
	CHECK_STR(text("do $x$ select 'secret' $x$; select $$a$$"), "do ?; select ?");
	CHECK_STR(text("select q'[it's a secret]', nq from dual"), "select ?, nq from dual");
	CHECK_STR(text(""), "");
}

TEST(sqltext_what_differs_by_form_is_the_same)
{
	CHECK_STR(text("  select\n\ta ,b -- why\n from /* who */ t ;\n"), "select a, b from t");
	CHECK_STR(text("select a from t where b in (1, 2,3, ?)"), "select a from t where b in (?)");
	CHECK_STR(text("select a from t where b in ( -1,-2 )"), "select a from t where b in (?)");
	CHECK_STR(text("insert into t(a, b) values (1, 'x'), (2, 'y'),(?,?)"), "insert into t(a, b) values (?)");
	CHECK_STR(text("select f(1), g(?)"), "select f(?), g(?)");
	CHECK_STR(text("/* all of it"), "");
}

TEST(sqltext_names_stay)
{
	CHECK_STR(text("select \"a 1\", `b 2`, c3 from \"s'\".t_4$5"), "select \"a 1\", `b 2`, c3 from \"s'\".t_4$5");
	CHECK_STR(text("select \xe4\xf6 from t"), "select \xc3\xa4\xc3\xb6 from t");
	/* those of MySQL are literals, and have comments of their own */
	CHECK_STR(text_with("select \"a\" from `t` # x", 23, false, true), "select ? from `t`");
}

TEST(sqltext_ends_where_a_literal_may_go_on)
{
	CHECK_STR(text("select 'it\\'s a secret' from t"), "select ? ...");
	CHECK_STR(text("select 'C:\\\\' from t"), "select ? from t");
	CHECK_STR(text("select 'secret"), "select ? ...");
	CHECK_STR(text("select $a$ secret $b$"), "select ? ...");
	CHECK_STR(text_with("select 1 ", 9, true, false), "select ? ...");
}

TEST(sqltext_of_a_long_one_the_middle_is_left_out)
{
	char sql[SQLTEXT_READ + 1], before = 0;
	size_t i;

	for (i = 0; i < SQLTEXT_READ; i++)
		sql[i] = (char)(i % 7 ? 'a' + (int)(i % 26) : ' ');
	memcpy(sql, "select ", 7);
	memcpy(sql + SQLTEXT_READ - 15, " where id = 123", 15);
	CHECK_U64(strlen(text_with(sql, SQLTEXT_READ, false, false)), SQLTEXT_MAX);
	CHECK(!strncmp(got, "select ", 7) && strstr(got, " ... "));
	CHECK_STR(got + SQLTEXT_MAX - 13, " where id = ?");
	/* of two bytes each, more than are kept: no half ones */
	memset(sql, 0xe4, sizeof(sql));
	text_with(sql, SQLTEXT_READ, true, false);
	for (i = 0; got[i]; before = got[i++])
		CHECK(got[i] == ' ' || got[i] == '.' ||
		      (uint8_t)got[i] == (before == (char)0xc3 ? 0xa4 : 0xc3));
	CHECK(strstr(got, " ... ") && !strcmp(got + i - 4, " ..."));
}

TEST(sqltext_reads_what_there_is)
{
	static const char *const begins[] = { "'", "\"", "`", "$", "$a", "$1", "q'", "q'[", "N'", "/*", "/", "--",
					      "-", "1e", "1e-", ".", "'\\", "(", "(?", "?,", "(?),(?" };
	uint16_t units[8], pair[] = { 0xd83d, 0xde00, 0xd83d, 'a', 0xde00 };
	size_t i, k, len;

	for (i = 0; i < ARRAY_SIZE(begins); i++) {
		len = strlen(begins[i]);
		for (k = 0; k < len; k++)
			units[ARRAY_SIZE(units) - len + k] = (uint8_t)begins[i][k];
		CHECK(sqltext_put(units + ARRAY_SIZE(units) - len, len, false, false, got) <= 10);
	}
	len = sqltext_put(pair, ARRAY_SIZE(pair), false, false, got);
	CHECK(len == 7 && !memcmp(got, "\xf0\x9f\x98\x80?a?", 7));
}
