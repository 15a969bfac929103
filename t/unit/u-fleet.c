// SPDX-License-Identifier: GPL-2.0-or-later
/* u-fleet.c - numbers of functions and contexts, and the rows of tables. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/labels.h"
#include "base/mem.h"
#include "base/siphash.h"
#include "fleet/answer.h"
#include "fleet/ask.h"
#include "fleet/collector.h"
#include "fleet/http.h"
#include "fleet/id.h"
#include "fleet/push.h"
#include "fleet/sql.h"
#include "fleet/table.h"
#include "fleet/where.h"
#include "flow/input.h"
#include "unit.h"

/* From the paper, appendix A; the second is ClickHouse's sipHash64(''). */
TEST(siphash_is_that_of_its_authors)
{
	static const uint64_t key[2] = { 0x0706050403020100ull, 0x0f0e0d0c0b0a0908ull }, none[2];
	uint8_t bytes[15];
	size_t i;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = i;
	CHECK_U64(siphash(bytes, sizeof(bytes), key), 0xa129ca6149be45e5ull);
	CHECK_U64(siphash("", 0, none), 2202906307356721367ull);
}

/* They are in Documentation/technical/fleet.adoc, and databases are full of them: they never change. */
TEST(fleet_numbers_of_functions_and_contexts_never_change)
{
	int64_t main = fleet_func("java", "", "demo.Demo.main", "");
	int64_t entry = fleet_func("native", "libjvm.so", "thread_native_entry(Thread*)", "");

	CHECK(main == -7577601337822145185);
	CHECK(entry == 814435159623919807);
	CHECK(fleet_func("mark", "", FLEET_OWN, "") == -6495312882289776552);
	CHECK(fleet_path(0, entry) == 3421274423879602794);
	CHECK(fleet_path(fleet_path(0, entry), main) == -2634238495438163270);
}

TEST(fleet_text_needs_no_escapes_anywhere)
{
	struct buf b = BUF_INIT;

	fleet_text(&b, "a\tb\nc\\d \xff \xc3\xa4 \x7f'\"");
	CHECK_STR(b.data, "a?b?c?d ? \xc3\xa4 ?'\"");
	fleet_text(&b, "");
	CHECK_STR(b.data, "");
	buf_release(&b);
}

static int add_text(struct fleet_table *t, const char *text, struct err *e)
{
	const struct fleet_recording r = { .id = 7, .start_s = 100, .host = "h" };
	struct model m;
	int ret;

	CHECK(!input_tree(&m, text, strlen(text), e));
	ret = fleet_table_add(t, &r, &m, e);
	model_release(&m);
	return ret;
}

static char *table_of(const char *text, const struct same_opts *same, char **names)
{
	struct fleet_table t;
	struct err e = { 0 };
	char *nodes = NULL;
	size_t len;
	FILE *out = open_memstream(&nodes, &len);

	fleet_table_header(FLEET_NODE_COLUMNS, out);
	fleet_table_init(&t, out, same);
	CHECK(!add_text(&t, text, &e));
	fclose(out);
	CHECK_U64(t.nr_collisions, 0);
	out = open_memstream(names, &len);
	fleet_table_names(&t, out);
	fclose(out);
	fleet_table_release(&t);
	return nodes;
}

/* The columns of each row from one on, with blanks between. */
static const char *columns_from(const char *line, int column, char *to, size_t size)
{
	size_t len;

	while (--column)
		line += strcspn(line, "\t\n") + 1;
	len = strcspn(line, "\n");
	CHECK(len < size);
	memcpy(to, line, len);
	to[len] = '\0';
	for (; *to; to++)
		*to = *to == '\t' ? ' ' : *to;
	return line + len + 1;
}

/* f calls itself through g; the thread has a value of its own; h has none and no row. */
static const char recursive[] =
	"# levels\n# n samples\n# metric cpu ns\n"
	"0\t0\t0\tjava\tprocess\t\tservice=shop,version=2\t47244640256\n"
	"1\t1\t5\tmain\tthread\t\t\t47244640267\n"
	"2\t1\t10\tf\tjava-compiled\t\t\t0\n"
	"3\t2\t20\tg\tnative\t/lib/libg.so.1\t\t0\n"
	"4\t3\t30\tf\tjava-inlined\t\t\t0\n"
	"3\t0\t0\th\tjava\t\t\t0\n";

TEST(fleet_rows_have_what_xprof_and_stanzas_need)
{
	static const struct same_opts same = { .labels = true };
	char *names, *nodes = table_of(recursive, &same, &names), row[400];
	const char *p = strchr(nodes, '\n') + 1;

	p = columns_from(p, 1, row, sizeof(row));
	CHECK_STR(row, "100 7 shop 2 h java main service=shop,version=2 11 11 cpu cpu ns 1683774526561908935 0 "
		       "-6495312882289776552 0 1 1 0 1 5 5");
	p = columns_from(p, 18, row, sizeof(row));
	CHECK_STR(row, "1 1 0 1 10 60");
	p = columns_from(p, 18, row, sizeof(row));
	CHECK_STR(row, "2 1 1 2 20 50");
	p = columns_from(p, 18, row, sizeof(row));
	CHECK_STR(row, "3 2 1 3 30 30");
	CHECK_STR(p, "");
	CHECK(strstr(names, "\tjava\tf\t\t\n"));
	CHECK(strstr(names, "\tnative\tg\tlibg.so\t\n"));
	free(nodes);
	free(names);
}

/* Also of a recording that has only one of them. */
TEST(fleet_threads_are_called_alike_everywhere)
{
	static const struct same_opts same = { .thread_digits = true };
	char *names, *nodes = table_of("# levels\n# n samples\n# metric cpu ns\n"
				       "0\t1\t5\tpool-1-thread-7\tthread\t\t\t7\n", &same, &names), row[200];

	columns_from(strchr(nodes, '\n') + 1, 7, row, sizeof(row));
	CHECK(!strncmp(row, "pool-*-thread-* ", 16));
	free(nodes);
	free(names);
}

TEST(fleet_calls_without_metrics_have_rows_of_n)
{
	static const struct same_opts same;
	char *names, *nodes = table_of("# levels\n# n calls\n# metric cpu ns s\n# metric s samples\n"
				       "0\t2\t0\t0\ta\n1\t3\t7\t1\tb\n", &same, &names), row[200];
	const char *p = strchr(nodes, '\n') + 1;

	p = columns_from(p, 11, row, sizeof(row));
	CHECK(!strncmp(row, "cpu cpu ns", 10) && !strcmp(strstr(row, " 0 1 1 0 ") + 9, "0 0 7"));
	p = columns_from(p, 21, row, sizeof(row));
	CHECK_STR(row, "1 7 7");
	columns_from(p, 11, row, sizeof(row));
	CHECK(!strncmp(row, "calls calls calls ", 18));
	p = columns_from(p, 21, row, sizeof(row));
	CHECK_STR(row, "2 2 5");
	p = columns_from(p, 21, row, sizeof(row));
	CHECK_STR(row, "3 3 3");
	CHECK_STR(p, "");
	free(nodes);
	free(names);
}

TEST(fleet_values_beyond_an_engine_are_refused)
{
	static const struct same_opts same;
	struct fleet_table t;
	struct err e = { 0 };
	FILE *out = fopen("/dev/null", "w");

	fleet_table_init(&t, out, &same);
	CHECK(add_text(&t, "# levels\n# n samples\n# metric cpu ns\n0\t1\t9223372036854775808\ta\n", &e) ==
	      -ERANGE);
	CHECK(strstr(e.msg, "cpu"));
	fleet_table_release(&t);
	fclose(out);
}

TEST(fleet_views_have_the_parameters_of_the_engine)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	sql_queries(SQL_DUCKDB, out);
	fclose(out);
	CHECK(strstr(text, "MACRO xprof(of_metric, of_service := '%', of_version := '%', of_table := 'nodes') AS TABLE\n"));
	CHECK(strstr(text, "MACRO collisions(of_table := 'nodes') AS TABLE\n"));
	CHECK(strstr(text, "FROM query_table(of_table)") && !strstr(text, "FROM nodes"));
	CHECK(strstr(text, ") AS q LEFT JOIN (") && strstr(text, "\n LEFT JOIN (\n"));
	CHECK(strstr(text, "metric = of_metric AND"));
	CHECK(!strchr(text, '{') && !strstr(text, "--@"));
	free(text);
	out = open_memstream(&text, &len);
	sql_queries(SQL_CLICKHOUSE, out);
	fclose(out);
	CHECK(strstr(text, "CREATE VIEW xprof AS\n"));
	CHECK(strstr(text, "metric = {of_metric:String} AND"));
	CHECK(strstr(text, ") AS q ANY LEFT JOIN ("));
	free(text);
	CHECK(sql_engine_parse("sqlite") == SQL_NR_ENGINES);
}

TEST(labels_are_sorted_and_the_last_of_a_key_stays)
{
	struct buf b = BUF_INIT, value = BUF_INIT;

	CHECK(labels_add(&b, "version", "1.2"));
	CHECK(labels_add(&b, "service", "shop"));
	CHECK(labels_add(&b, "service-x", "y=z"));
	CHECK(labels_add(&b, "zone", "eu"));
	CHECK(labels_add(&b, "service", "other shop"));
	CHECK_STR(b.data, "service=other shop,service-x=y=z,version=1.2,zone=eu");
	CHECK(labels_value(b.data, "service-x", &value));
	CHECK_STR(value.data, "y=z");
	CHECK(!labels_value(b.data, "servic", &value) && !labels_value(b.data, "zones", &value));
	CHECK(!labels_value("", "a", &value) && !labels_value(",,=,", "", &value));
	buf_release(&b);
	buf_release(&value);
}

TEST(labels_that_are_none_are_refused)
{
	static const char *const bad[] = { "", "a", "=b", "1a=b", "a b=c", "a=", "a=b\n", "a=b\\c", "a=\xff" };
	struct buf b = BUF_INIT;
	struct err e = { 0 };
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK(label_check(bad[i], &e));
	CHECK(!label_check("service=shop", &e) && !label_check("_x.y-1=a = b", &e));
	CHECK(!labels_add(&b, "a", "b,c=d") && !labels_add(&b, "", "b") && !labels_add(&b, "a=b", "c"));
	CHECK(!b.len);
	buf_release(&b);
}

TEST(foreign_labels_become_ours)
{
	static const struct {
		const char *key, *value, *text;
		bool same;
	} cases[] = {
		{ "http.route", "/cart?id=1", "http.route=/cart?id=1", true },
		{ "thread name", "a,b\\c\n", "thread_name=a?b?c?", false },
		{ "1st", "x", "_1st=x", false }, { "\xc3\xa9", "\xc3\xa9", "__=\xc3\xa9", false },
		{ "a", "\xff", "a=?", false }, { "a", "", "", false }, { "", "a", "", false },
	};
	char key[LABELS_MAX_KEY + 2], value[LABELS_MAX_VALUE + 2];
	struct buf b = BUF_INIT;
	struct err e;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		buf_reset(&b);
		buf_str(&b, "");
		CHECK(labels_add_foreign(&b, cases[i].key, strlen(cases[i].key), cases[i].value,
					 strlen(cases[i].value)) == cases[i].same);
		CHECK_STR(b.data, cases[i].text);
		CHECK(!b.len || !label_check(b.data, &e));
	}
	buf_reset(&b);
	memset(key, 'k', sizeof(key));
	memset(value, 'v', sizeof(value));
	CHECK(!labels_add_foreign(&b, key, sizeof(key), value, sizeof(value)));
	CHECK(!label_check(b.data, &e));
	CHECK(b.len == LABELS_MAX_KEY + 1 + LABELS_MAX_VALUE);
	CHECK(labels_add_foreign(&b, "a", 1, "1", 1) && !labels_add_foreign(&b, "a", 1, "2", 1));
	CHECK(!strncmp(b.data, "a=2,", 4));
	buf_release(&b);
}

static const char names_said[] =
	"7\tjava\tMain.f\t\t\n8\tnative\tg\\'s\tlibg.so\t\n9\tmark\t[thread]\t\t\n";

static const char heads_said[] = "-5\tjava\tmain\tservice=shop\n18446744073709551610\t\t\t\n";

/* Threads with what they consumed themselves; two functions of one path; rows before their parents. */
TEST(fleet_answers_are_trees_with_threads)
{
	static const struct answer answer = {
		names_said, heads_said,
		"-5\t80\t70\t8\t7\t2\t6\n"
		"-5\t70\t0\t7\t0\t1\t5\n"
		"-5\t70\t0\t8\t0\t4\t40\n"
		"-5\t90\t0\t9\t0\t1\t3\n"
		"18446744073709551610\t70\t0\t7\t0\t1\t1\n",
	};
	struct buf tree = BUF_INIT;
	char *text = NULL;
	struct model m;
	struct err e;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	buf_str(&tree, "# nodes\n# n samples\n# metric cpu ns\n");
	CHECK(!answer_tree(&answer, &tree, &e));
	CHECK(!input_tree(&m, tree.data, tree.len, &e));
	output_tree(&m, out);
	fclose(out);
	CHECK(strstr(text, "0\t0\t0\tjava\tprocess\t\tservice=shop\t0\n1\t1\t3\tmain\tthread\t\t\t0\n"));
	CHECK(strstr(text, "2\t1\t5\tMain.f\tjava\t\t\t0\n3\t2\t6\tg's\tnative\tlibg.so\t\t0\n"));
	CHECK(strstr(text, "2\t4\t40\tg's\tnative\tlibg.so\t\t0\n"));
	CHECK(strstr(text, "0\t1\t1\tMain.f\tjava\t\t\t0\n"));
	CHECK(!strstr(text, "[thread]"));
	model_release(&m);
	buf_release(&tree);
	free(text);
}

TEST(fleet_answers_that_are_none_are_refused)
{
	static const char *const bad[] = {
		"-5\t80\t70\t8\t7\t2\n", "Code: 241, e.displayText() = DB::Exception\n",
		"-5\t80\t0\t5\t0\t2\t6\n", "-5\t80\t0\t8\t0\t2\t6\tx\n", "5\t80\t0\t8\t0\t2\t6\n",
	};
	struct answer answer = { names_said, heads_said, "" };
	struct buf tree = BUF_INIT;
	struct err e;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		answer.rows = bad[i];
		CHECK(answer_tree(&answer, &tree, &e) == -EINVAL);
		CHECK(strstr(e.msg, "line 1"));
	}
	answer = (struct answer){ "7\tjava\n", "", "" };
	CHECK(answer_tree(&answer, &tree, &e) == -EINVAL);
	answer = (struct answer){ "", "7\tjava\n", "" };
	CHECK(answer_tree(&answer, &tree, &e) == -EINVAL);
	buf_release(&tree);
}

TEST(fleet_segments_are_known_by_name)
{
	struct segment s, again;
	char *path;

	CHECK(segment_parse("1790000000-fbeceaae4f5bbf35-15-4711-89.tables.gz", &s));
	CHECK(s.start_s == 1790000000 && s.id == -293601841309302987 && s.nr_rows == 15);
	CHECK(s.nodes_len == 4711 && s.len == 4800);
	path = segment_path("spool", &s);
	CHECK_STR(path, "spool/1790000000-fbeceaae4f5bbf35-15-4711-89.tables.gz");
	CHECK(segment_parse(path + 6, &again) && again.id == s.id);
	free(path);
	CHECK(!segment_parse("1790000000-fbeceaae4f5bbf35-15-4711-89.tables.gz.old", &s) && !segment_parse("", &s));
	CHECK(!segment_parse("fbeceaae4f5bbf35-15.nodes.gz", &s) && !segment_parse(".tables.GXl2iq", &s));
}

/* What bounds a batch: how many, rows, bytes, weeks, and two of one recording. */
TEST(fleet_batches_are_bounded)
{
	struct segment s[300];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(s); i++)
		s[i] = (struct segment){ .id = i, .start_s = 1790000000 + i, .nr_rows = 100, .len = 1000 };
	CHECK_U64(segments_batch(s, ARRAY_SIZE(s)), 250);
	CHECK_U64(segments_batch(s, 7), 7);
	s[5].nr_rows = 2000000;
	CHECK_U64(segments_batch(s, 300), 5);
	CHECK_U64(segments_batch(s + 5, 295), 1);
	s[4].len = 64 << 20;
	CHECK_U64(segments_batch(s, 300), 4);
	s[3].id = 2;
	CHECK_U64(segments_batch(s, 300), 3);
	s[2].start_s += 52 * 7 * 86400;
	CHECK_U64(segments_batch(s, 300), 2);
}

TEST(fleet_counts_are_taken_from_the_answer)
{
	static const char *const bad[] = { "7\t5", "7\n", "8\t1\n", "7\t5\t1\n", "x\t1\n", "7\t\n",
					   "7\t99999999999999999999\n" };
	struct segment s[2] = { { .id = 7 }, { .id = -9, .nr_there = 3 } };
	struct err e = { 0 };
	size_t i;

	CHECK(!segments_count(s, 2, "-9\t12\n7\t5\n", &e));
	CHECK(s[0].nr_there == 5 && s[1].nr_there == 12);
	CHECK(!segments_count(s, 2, "", &e));
	CHECK(!s[0].nr_there && !s[1].nr_there);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK(segments_count(s, 2, bad[i], &e) == -EPROTO);
}

TEST(labels_come_one_by_one)
{
	const char *text = "a=1,b=x=y,c";
	struct buf key = BUF_INIT, value = BUF_INIT;

	CHECK(labels_next(&text, &key, &value) && !strcmp(key.data, "a") && !strcmp(value.data, "1"));
	CHECK(labels_next(&text, &key, &value) && !strcmp(key.data, "b") && !strcmp(value.data, "x=y"));
	CHECK(labels_next(&text, &key, &value) && !strcmp(key.data, "c") && !value.len);
	CHECK(!labels_next(&text, &key, &value));
	buf_release(&key);
	buf_release(&value);
}

TEST(http_waits_for_as_long_as_the_last_answer_asks)
{
	const char *date = "HTTP/1.1 503 x\r\nRETRY-AFTER:  Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n";

	CHECK_U64(http_retry_after("", 0), 0);
	CHECK_U64(http_retry_after("HTTP/1.1 503 x\r\nRetry-After: 17\r\nA: b\r\n\r\n", 0), 17);
	CHECK_U64(http_retry_after("HTTP/1.1 503\r\nRetry-After: 17\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", 0), 0);
	CHECK_U64(http_retry_after("X: Retry-After: 17\r\nRetry-After: soon\r\n", 0), 0);
	CHECK_U64(http_retry_after(date, 784111777 - 60), 60);
	CHECK_U64(http_retry_after(date, 784111777 + 60), 0);
	CHECK_U64(http_retry_after("Retry-After: -5", 9), 0);
}

static bool hides(const char *url, const char *want)
{
	char copy[128];

	snprintf(copy, sizeof(copy), "%s", url);
	http_hide_secrets(copy);
	return !strcmp(copy, want);
}

TEST(http_passwords_are_not_shown)
{
	CHECK(hides("http://host/", "http://host/"));
	CHECK(hides("http://me:p@ss@host:8123/a@b:c", "http://me:****@host:8123/a@b:c"));
	CHECK(hides("https://h?user=u&password=abc&x=y", "https://h?user=u&password=***&x=y"));
	CHECK(hides("https://me@h/?password=&password=z", "https://me@h/?password=&password=*"));
}

static bool becomes(const char *url, const char *want)
{
	char *got = collector_url(url);
	bool same = !strcmp(got, want);

	free(got);
	return same;
}

TEST(otlp_has_a_path_of_its_own)
{
	CHECK(becomes("http://h", "http://h/v1development/profiles"));
	CHECK(becomes("http://h:4318/", "http://h:4318/v1development/profiles"));
	CHECK(becomes("http://h/?a=b", "http://h/v1development/profiles?a=b"));
	CHECK(becomes("http://h?a=/b", "http://h/v1development/profiles?a=/b"));
	CHECK(becomes("http://h/otlp/v1/profiles", "http://h/otlp/v1/profiles"));
}

TEST(otlp_answers_are_read_and_whatever_else_is_refused)
{
	static const char partly[] = "\x0a\x07\x08\x05\x12\x03" "a\nb", text[] = "<html>", cut[] = "\x0a\x07\x08";
	struct collector_answer a = { 0 };
	char *message;
	size_t i;

	CHECK(!collector_parse_response("", 0, &a) && !a.nr_rejected && !a.message);
	CHECK(!collector_parse_response(partly, sizeof(partly) - 1, &a));
	CHECK_U64(a.nr_rejected, 5);
	CHECK_STR(a.message, "a\\nb");
	free(a.message);
	a.message = NULL;
	CHECK(collector_parse_response(text, sizeof(text) - 1, &a));
	for (i = 1; i < sizeof(cut); i++)
		CHECK(collector_parse_response(cut, i, &a));
	message = collector_parse_status("\x08\x03\x12\x02no", 6);
	CHECK_STR(message, "no");
	free(message);
	CHECK(!collector_parse_status("\x12\x02no<", 5));
	CHECK(!collector_parse_status("", 0));
}

/* The sum of base of what is left of the text's tree; 0: nothing is. */
static uint64_t base_where(const char *text, const char *condition)
{
	static const struct same_opts same = { .labels = true };
	const struct fleet_recording r = { .id = 7, .start_s = 100, .host = "h" };
	struct where *w;
	struct model m;
	struct err e = { 0 };
	uint64_t base;
	int ret;

	CHECK(!input_tree(&m, text, strlen(text), &e));
	CHECK(!where_open(&w, condition, &e));
	ret = where_apply(w, &same, &r, &m, &e);
	base = flow_cum(&m.flow, FLOW_NONE)[0];
	CHECK((ret == 1) == !base);
	where_close(w);
	model_release(&m);
	return base;
}

TEST(fleet_conditions_cut_a_recording_by_process_and_thread)
{
	static const char text[] = "# levels\n# n samples\n# metric cpu ns\n"
		"0\t1\t1\tjava\tprocess\t\tservice=shop,tenant=a\t0\n"
		"1\t1\t2\tmain\tthread\n2\t1\t4\tf\tjava\n"
		"1\t0\t0\tother\tthread\n2\t0\t0\tg\tjava\n3\t1\t8\tf\tjava\n"
		"0\t0\t0\tjava\tprocess\t\tservice=x\t0\n1\t0\t0\tmain\tthread\n2\t1\t16\tf\tjava\n"
		"0\t1\t32\tmain\n";
	struct where *w;
	struct err e = { 0 };

	CHECK_U64(base_where(text, "1"), 63);
	CHECK_U64(base_where(text, "service = 'shop'"), 15);
	CHECK_U64(base_where(text, "labels LIKE '%tenant=a%' AND thread IN ('other', '')"), 9);
	CHECK_U64(base_where(text, "labels LIKE '%TENANT=a%'"), 0);
	CHECK_U64(base_where(text, "thread = 'main'"), 22);
	CHECK_U64(base_where(text, "process = ''"), 32);
	CHECK_U64(base_where(text, "t = 100 AND trace = 7 AND host = 'h' AND NULL IS NULL -- all"), 63);
	CHECK_U64(base_where(text, "t < 100 OR NULL"), 0);
	CHECK(where_open(&w, "depth = 1", &e) == -EINVAL && strstr(e.msg, "depth"));
	CHECK(where_open(&w, "process = \"java\"", &e) == -EINVAL);
	CHECK(where_open(&w, "1)); SELECT ((1", &e) == -EINVAL);
	CHECK(where_open(&w, "?11 = 1", &e) == -EINVAL);
	CHECK(where_open(&w, "", &e) == -EINVAL);
}

TEST(fleet_rows_of_an_answer_are_read_or_refused)
{
	static const char *const bad[] = { "a\n", "a\tb\tc\td\t1\t2\t3\n", "a\tb\tc\td\t1\t2\t3\t4\t5\n",
		"a\tb\tc\td\t1\t2\t3\t-4\n", "a\tb\tc\td\t1\t2\t3\t\n", "a\tb\tc\td\t1\t2x\t3\t4\n", "\n",
		"a\tb\tc\td\t1\t2\t3\t99999999999999999999\n" };
	char text[] = "\tit\\'s\tjava\t\t1\t2\t3\t4\nSelf\tb\\\\\tnative\tlib\t18446744073709551615\t0\t0\t0\n";
	struct ask_answer a = { .rows = NULL };
	struct err e;
	char copy[64];
	size_t i;

	CHECK(!ask_parse(&a, text, &e));
	CHECK_U64(a.nr_rows, 2);
	CHECK_STR(a.rows[0].what, "");
	CHECK_STR(a.rows[0].name, "it's");
	CHECK_STR(a.rows[0].module, "");
	CHECK_U64(a.rows[0].cum_recursive, 4);
	CHECK_STR(a.rows[1].name, "b\\");
	CHECK_STR(a.rows[1].module, "lib");
	CHECK_U64(a.rows[1].n, UINT64_MAX);
	ask_release(&a);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		a = (struct ask_answer){ .rows = NULL };
		snprintf(copy, sizeof(copy), "%s", bad[i]);
		CHECK(ask_parse(&a, copy, &e) == -EINVAL);
		ask_release(&a);
	}
}
