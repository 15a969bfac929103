// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fields.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/quote.h"
#include "base/span.h"
#include "base/strtab.h"
#include "unit.h"

TEST(strtab_same_bytes_give_the_same_id)
{
	struct strtab t;
	char name[32];
	uint32_t i;

	strtab_init(&t);
	CHECK_U64(strtab_adds(&t, ""), 0);
	for (i = 1; i <= 5000; i++) {
		snprintf(name, sizeof(name), "name-%u", i);
		CHECK_U64(strtab_adds(&t, name), i);
	}
	CHECK_U64(strtab_adds(&t, "name-77"), 77);
	CHECK_STR(strtab_get(&t, 5000), "name-5000");
	strtab_release(&t);
}

static bool is_even(void *ctx, uint64_t key, uint32_t val)
{
	return !(val & 1);
}

TEST(map_keeps_what_a_filter_wants_in_less_memory)
{
	struct map m = MAP_INIT;
	size_t before;
	uint32_t i;

	map_filter(&m, is_even, NULL);
	for (i = 0; i < 10000; i++)
		*map_put(&m, (uint64_t)i * 4096) = i < 9000 ? i | 1 : i;
	before = m.alloc;
	map_filter(&m, is_even, NULL);
	CHECK_U64(m.nr, 500);
	CHECK(m.alloc < before);
	for (i = 0; i < 10000; i++)
		CHECK_U64(map_get(&m, (uint64_t)i * 4096), i < 9000 || i & 1 ? MAP_NONE : i);
	map_release(&m);
}

TEST(map_finds_every_key_that_was_put)
{
	struct map m = MAP_INIT;
	uint32_t i;

	for (i = 0; i < 10000; i++)
		*map_put(&m, (uint64_t)i * 4096) = i;
	for (i = 0; i < 10000; i++)
		CHECK_U64(map_get(&m, (uint64_t)i * 4096), i);
	CHECK_U64(map_get(&m, 1), MAP_NONE);
	map_release(&m);
}

static void put_field(struct buf *b, enum field_type type, const char *name, uint64_t v, const char *text)
{
	uint16_t len = text ? strlen(text) : 0;

	buf_putc(b, type);
	buf_putc(b, strlen(name));
	buf_str(b, name);
	if (text)
		buf_add(b, &len, sizeof(len));
	buf_add(b, text ? text : (char *)&v, text ? len : sizeof(v));
}

TEST(fields_are_shown_and_whatever_cuts_or_damages_them_is_refused)
{
	static const char *const bad[] = { "", "1a", "a b", "a,", "\303\251", "=a" };
	struct buf b = BUF_INIT, text = BUF_INIT;
	double half = 0.5;
	uint64_t bits;
	size_t cut, at[4], i;

	memcpy(&bits, &half, sizeof(bits));
	put_field(&b, FIELD_TEXT, "path", 0, "/a \"b\"\n");
	at[0] = b.len;
	put_field(&b, FIELD_I64, "_x.1-", UINT64_MAX, NULL);
	at[1] = b.len;
	put_field(&b, FIELD_F64, "half", bits, NULL);
	CHECK(fields_valid(b.data, b.len));
	CHECK(fields_valid(NULL, 0));
	fields_put_text(&text, b.data, b.len);
	CHECK_STR(text.data, "path=\"/a \\\"b\\\"\\n\" _x.1-=-1 half=0.5");
	for (cut = 1; cut < b.len; cut++)
		CHECK(fields_valid(b.data, cut) == (cut == at[0] || cut == at[1]));
	put_field(&b, FIELD_I64, "path", 0, NULL);	/* there is one of that name */
	CHECK(!fields_valid(b.data, b.len));
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		buf_reset(&b);
		put_field(&b, FIELD_I64, bad[i], 0, NULL);
		CHECK(!fields_valid(b.data, b.len));
	}
	buf_reset(&b);
	put_field(&b, FIELD_F64 + 2, "type", 0, NULL);
	CHECK(!fields_valid(b.data, b.len));
	buf_reset(&b);
	for (i = 0; i <= FIELDS_MAX; i++) {
		put_field(&b, FIELD_I64, (char[]){ 'a' + i, '\0' }, 0, NULL);
		CHECK(fields_valid(b.data, b.len) == (i < FIELDS_MAX));
	}
	buf_release(&text);
	buf_release(&b);
}

TEST(varint_of_any_value_reads_back_and_refuses_every_truncation)
{
	int i;

	for (i = 0; i < 1000; i++) {
		uint64_t v = unit_random() >> (unit_random() % 64);
		struct buf b = BUF_INIT;
		struct span s;
		size_t cut;

		buf_varint(&b, v);
		s = span_init(b.data, b.len);
		CHECK_U64(span_varint(&s), v);
		CHECK(!s.bad);
		for (cut = 0; cut < b.len; cut++) {
			s = span_init(b.data, cut);
			span_varint(&s);
			CHECK(s.bad);
		}
		buf_release(&b);
	}
}

TEST(arena_gives_an_address_even_for_zero_bytes)
{
	struct arena a = ARENA_INIT;

	CHECK(arena_alloc(&a, 0));
	arena_release(&a);
}

TEST(arena_pieces_are_aligned_and_do_not_overlap)
{
	struct arena a = ARENA_INIT;
	char *prev = NULL;
	int i;

	for (i = 0; i < 1000; i++) {
		char *p = arena_alloc(&a, i % 100 + 1);

		CHECK_U64((uintptr_t)p % 16, 0);
		CHECK(p != prev);
		memset(p, 0xaa, i % 100 + 1);
		CHECK_STR(arena_strndup(&a, "abcdef", 3), "abc");
		prev = p;
	}
	arena_release(&a);
}

TEST(mem_min_and_max_evaluate_each_argument_once)
{
	uint32_t n = 5;
	int i = 0;

	CHECK_U64(MIN(i++, 9), 0);
	CHECK_U64(i, 1);
	CHECK_U64(MAX(n++, (uint64_t)2), 5);
	CHECK_U64(n, 6);
	CHECK_U64(MIN(MAX(3, 7), MIN(9, 8)), 7);
}

TEST(mem_bisect_finds_the_first_that_is_not_before_in_any_length)
{
	uint32_t v[9], nr, x, n;

	for (nr = 0; nr <= ARRAY_SIZE(v); nr++) {
		for (n = 0; n < nr; n++)
			v[n] = 2 * n / 4 * 4;		/* 0 0 4 4 8 8 ... */
		for (x = 0; x < 20; x++) {
			for (n = 0; n < nr && v[n] < x; n++)
				;
			CHECK_U64(BISECT(i, nr, v[i] < x), n);
		}
	}
}

TEST(mem_compare_orders_what_a_difference_would_not)
{
	uint64_t most = UINT64_MAX, none = 0;

	CHECK(COMPARE(most, none) > 0);
	CHECK(COMPARE(none, most) < 0);
	CHECK(COMPARE(-1, 1) < 0);
	CHECK_U64(COMPARE(7, 7), 0);
	CHECK((COMPARE(3, 3) ?: COMPARE(2, 1)) > 0);
}

TEST(buf_hex_writes_bytes_that_digits_read_back)
{
	struct buf b = BUF_INIT;
	const char digits[] = "0123456789abcdef", *at;
	char text[7];
	int c;

	buf_str(&b, "id ");
	buf_hex(&b, "\0\x1f\xfe", 3);
	CHECK_STR(b.data, "id 001ffe");
	CHECK_U64(b.len, 9);
	buf_hex(&b, "", 0);
	CHECK_U64(b.len, 9);
	hex_put(text, "\xab\xcd\xef", 3);
	CHECK_STR(text, "abcdef");
	for (c = 0; c < 256; c++) {
		int v = c && (at = strchr(digits, c)) ? (int)(at - digits) : -1;

		CHECK(hex_lower((char)c) == v);
		CHECK(hex_digit((char)c) == (c >= 'A' && c <= 'F' ? c - 'A' + 10 : v));
	}
	buf_release(&b);
}

TEST(io_lists_the_threads_of_a_process_and_none_of_what_is_none)
{
	DIR *dir = io_open_threads(getpid());
	int tid, nr_ours = 0;

	while ((tid = io_next_number(dir)))	/* an emulator has threads of its own */
		nr_ours += tid == getpid();
	CHECK_U64(nr_ours, 1);
	io_close_folder(dir);
	CHECK(!io_open_threads(0));
	CHECK_U64(io_next_number(NULL), 0);
	io_close_folder(NULL);
}

TEST(plurals_are_of_all_but_one)
{
	CHECK_STR(plural(0), "s");
	CHECK_STR(plural(1), "");
	CHECK_STR(plural(UINT64_MAX), "s");
	CHECK_STR(plural_es(1), "");
	CHECK_STR(plural_es(2), "es");
}

static void check_quoted(const char *s, size_t len, const char *want)
{
	struct buf b = BUF_INIT;

	quote_add_also(&b, s, len, "");
	CHECK_STR(b.data, want);
	buf_release(&b);
}

TEST(quote_escapes_what_a_terminal_obeys)
{
	check_quoted("", 0, "");
	check_quoted("a\0b", 3, "a\\x00b");
	check_quoted("\x1b[31mred\x7f", 9, "\\x1b[31mred\\x7f");
	check_quoted("two\nlines\r\t", 11, "two\\nlines\\r\\t");
	/* C1 as UTF-8 has it, and as the byte that older terminals take for it. */
	check_quoted("\xc2\x9b" "31m", 5, "\\xc2\\x9b31m");
	check_quoted("\x9b" "31m", 4, "\\x9b31m");
	/* The order of what follows is turned around, a line is ended. */
	check_quoted("\xe2\x80\xae" "x\xe2\x80\xa8", 7, "\\xe2\\x80\\xaex\\xe2\\x80\\xa8");
	check_quoted("gr\xc3\xbc\xc3\x9f" "e \xe2\x82\xac \xf0\x9f\x98\x80 \\x1b", 21,
		     "gr\xc3\xbc\xc3\x9f" "e \xe2\x82\xac \xf0\x9f\x98\x80 \\x1b");
	/* overlong, a surrogate, too high, cut off */
	check_quoted("\xc0\x9b", 2, "\\xc0\\x9b");
	check_quoted("\xed\xa0\x80", 3, "\\xed\\xa0\\x80");
	check_quoted("\xf4\x90\x80\x80", 4, "\\xf4\\x90\\x80\\x80");
	check_quoted("\xe2\x82", 2, "\\xe2\\x82");
}

TEST(quote_of_any_bytes_is_plain_and_can_be_undone)
{
	static const char also[] = "\\;";
	char s[24];
	size_t len, i, n;
	int k;

	for (k = 0; k < 20000; k++) {
		struct buf b = BUF_INIT, back = BUF_INIT;

		len = unit_random() % sizeof(s);
		for (i = 0; i < len; i++)
			s[i] = unit_random() % 4 ? (char)unit_random() : "\\;nx0a"[unit_random() % 6];
		quote_add_also(&b, s, len, also);
		for (i = 0; i < b.len; i += n)
			if (!(n = quote_plain_len(b.data + i, b.len - i)))
				break;
		CHECK_U64(i, b.len);
		CHECK(quote_undo(&back, b.data ? b.data : "", b.len, also));
		CHECK_U64(back.len, len);
		CHECK(!len || !memcmp(back.data, s, len));
		buf_release(&b);
		buf_release(&back);
	}
}

static void check_csv(const char *s, const char *want)
{
	struct buf b = BUF_INIT;

	quote_csv(&b, s, strlen(s));
	CHECK_STR(b.data ? b.data : "", want);
	buf_release(&b);
}

TEST(quote_csv_has_no_formulas_and_leaves_numbers)
{
	static const char *const numbers[] = { "0", "-12", "+3.5", "-1e-9", "12.", "1E+300", "-", "7" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		check_csv(numbers[i], numbers[i]);
	check_csv("", "");
	check_csv("a b", "a b");
	check_csv("a,\"b\"", "\"a,\"\"b\"\"\"");
	check_csv("=1+1", "\"'=1+1\"");
	check_csv("-2+cmd|' /C calc'!A0", "\"'-2+cmd|' /C calc'!A0\"");
	check_csv("+1-1", "\"'+1-1\"");
	check_csv("-1e", "\"'-1e\"");
	check_csv("@SUM(A1,\"x\")", "\"'@SUM(A1,\"\"x\"\")\"");
	check_csv("-[Foo bar:]", "\"'-[Foo bar:]\"");
	check_csv("\t=1", "\\t=1");
	check_csv("\r=1", "\\r=1");
	check_csv("a\nb,c", "\"a\\nb,c\"");
}

TEST(json_strings_are_exact_and_plain)
{
	char *text = NULL;
	struct json j;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	json_init(&j, out);
	json_array(&j, NULL);
	json_str(&j, NULL, "\x1b[1m\"\\\n\x7f");
	json_str(&j, NULL, "\xc2\x9b\xe2\x80\xae\xc3\xbc\xff");
	json_end(&j);
	fclose(out);
	CHECK_STR(text, "[\n\"\\u001b[1m\\\"\\\\\\u000a\\u007f\",\n\"\\u009b\\u202e\xc3\xbc\xef\xbf\xbd\"]\n");
	free(text);
}
