// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/near.h"
#include "base/opt.h"
#include "unit.h"

struct test_opts {
	bool kernel, user, java, lines;
	const char *output, *graph;
	uint64_t pid, window_ns, ring_bytes;
	double percent;
	int clock, view;
	const char *function;
	struct opt_list events;
};

static const char *const clocks[] = { "tsc", "mono", "cpu", NULL };

static const struct opt table[] = {
	OPT_GROUP("What"),
	OPT_U64('p', "pid", struct test_opts, pid, "pid", NULL, "a process"),
	OPT_FLAG('k', "kernel", struct test_opts, kernel, "kernel code too"),
	OPT_FLAG('u', "user", struct test_opts, user, "user code"),
	OPT_FLAG(0, "no-java", struct test_opts, java, "no agent"),
	{ .type = OPT_TYPE_FLAG, .name = "lines", .offset = OPT_FIELD(struct test_opts, lines, bool), .def = "true",
	  .help = "store lines" },
	OPT_LIST('e', "event", struct test_opts, events, "event", "what to count"),
	OPT_GROUP("How"),
	OPT_STR('o', "output", struct test_opts, output, "file", "arcprof.data", "the trace"),
	OPT_STR_OPTARG('g', "graph", struct test_opts, graph, "how", "call stacks"),
	OPT_TIME('d', "duration", struct test_opts, window_ns, "time", "10ms", "for so long"),
	OPT_SIZE('m', "ring", struct test_opts, ring_bytes, "size", "64k", "of the ring"),
	OPT_DOUBLE(0, "percent", struct test_opts, percent, "percent", "0.5", "the least"),
	OPT_ENUM(0, "clock", struct test_opts, clock, clocks, "mono", "stamps the events"),
	OPT_SET(0, "xarc", struct test_opts, view, 1, "parents and children"),
	OPT_SET(0, "xtree", struct test_opts, view, 2, "the tree"),
	OPT_END
};

static struct test_opts o;
static struct err e;
static char *args[32], words[32][64];
static int nr_operands;

static char **operands(void)
{
	int argc = 0;

	while (args[argc])
		argc++;
	return args + argc - nr_operands;
}

static int parse_as(bool stop_at_operand, const char *const *argv)
{
	int argc;

	opt_release(table, &o);
	memset(&o, 0, sizeof(o));
	memset(&e, 0, sizeof(e));
	for (argc = 0; argv[argc]; argc++) {
		snprintf(words[argc], sizeof(words[argc]), "%s", argv[argc]);
		args[argc] = words[argc];
	}
	args[argc] = NULL;
	return opt_parse(table, &o, argc, args, stop_at_operand, &nr_operands, &e);
}

#define PARSE(...) parse_as(false, (const char *const[]){ __VA_ARGS__, NULL })
#define PARSE_COMMAND(...) parse_as(true, (const char *const[]){ __VA_ARGS__, NULL })

/* Whether argv is refused with this message and hint. */
#define REFUSES(message, advice, ...)                          \
	do {                                                   \
		CHECK_U64(PARSE(__VA_ARGS__), (uint64_t)-EINVAL); \
		CHECK_STR(e.msg, message);                     \
		CHECK_STR(e.hint, advice);                     \
	} while (0)

TEST(opt_defaults_are_stored_when_nothing_is_given)
{
	CHECK_U64(parse_as(false, (const char *const[]){ NULL }), 0);
	CHECK_U64(nr_operands, 0);
	CHECK_STR(o.output, "arcprof.data");
	CHECK(!o.graph);
	CHECK_U64(o.window_ns, 10000000);
	CHECK_U64(o.ring_bytes, 65536);
	CHECK(o.percent > 0.49 && o.percent < 0.51);
	CHECK_U64(o.clock, 1);
	CHECK_U64(o.pid, 0);
}

TEST(opt_long_takes_its_argument_after_equals_or_as_next_word)
{
	CHECK_U64(PARSE("--pid=12", "--output", "x=y"), 0);
	CHECK_U64(o.pid, 12);
	CHECK_STR(o.output, "x=y");
	CHECK_U64(PARSE("--output="), 0);
	CHECK_STR(o.output, "");
	CHECK_U64(PARSE("--output", "--pid"), 0);
	CHECK_STR(o.output, "--pid");
}

TEST(opt_letters_bundle_and_take_their_argument_attached_or_next)
{
	CHECK_U64(PARSE("-kup12"), 0);
	CHECK(o.kernel && o.user);
	CHECK_U64(o.pid, 12);
	CHECK_U64(PARSE("-kp", "13", "-o-"), 0);
	CHECK(o.kernel && !o.user);
	CHECK_U64(o.pid, 13);
	CHECK_STR(o.output, "-");
}

TEST(opt_flags_are_cleared_by_no_and_the_last_one_counts)
{
	CHECK_U64(PARSE("--kernel", "--no-kernel"), 0);
	CHECK(!o.kernel);
	CHECK_U64(PARSE("--no-kernel", "-k"), 0);
	CHECK(o.kernel);
	CHECK_U64(PARSE("--no-java"), 0);
	CHECK(o.java);
	CHECK_U64(PARSE("--no-java", "--java"), 0);
	CHECK(!o.java);
	CHECK(o.lines);
	CHECK_U64(PARSE("--no-lines"), 0);
	CHECK(!o.lines);
}

TEST(opt_sets_share_a_field_and_only_one_is_given)
{
	CHECK_U64(PARSE("--xtree"), 0);
	CHECK_U64(o.view, 2);
	CHECK_U64(PARSE("--xtree", "--xtree"), 0);
	CHECK_U64(o.view, 2);
	REFUSES("cannot be combined: --xtree and --xarc", "", "--xtree", "--xarc");
	REFUSES("unknown option '--no-xarc'", "did you mean '--xarc'?", "--no-xarc");
}

TEST(opt_optional_argument_only_counts_when_attached)
{
	CHECK_U64(PARSE("--graph", "dwarf"), 0);
	CHECK_STR(o.graph, "");
	CHECK_U64(nr_operands, 1);
	CHECK_U64(PARSE("--graph=dwarf"), 0);
	CHECK_STR(o.graph, "dwarf");
	CHECK_U64(PARSE("-gfp"), 0);
	CHECK_STR(o.graph, "fp");
	CHECK_U64(PARSE("-kg"), 0);
	CHECK_STR(o.graph, "");
}

TEST(opt_lists_grow_with_each_use_and_split_at_commas)
{
	CHECK_U64(PARSE("-e", "cycles,faults", "--event=x"), 0);
	CHECK_U64(o.events.nr_items, 3);
	CHECK_STR(o.events.items[0], "cycles");
	CHECK_STR(o.events.items[1], "faults");
	CHECK_STR(o.events.items[2], "x");
	opt_release(table, &o);
	CHECK(!o.events.items);
	REFUSES("--event: an item of the list is empty", "", "-e", "a,,b");
	REFUSES("--event: an item of the list is empty", "", "--event=");
	opt_release(table, &o);
}

TEST(opt_operands_come_last_wherever_they_stood)
{
	CHECK_U64(PARSE("a", "-k", "b", "--pid", "3", "-", "c"), 0);
	CHECK_U64(nr_operands, 4);
	CHECK_STR(operands()[0], "a");
	CHECK_STR(operands()[1], "b");
	CHECK_STR(operands()[2], "-");
	CHECK_STR(operands()[3], "c");
	CHECK(!operands()[4]);
	CHECK(o.kernel);
	CHECK_U64(o.pid, 3);
}

TEST(opt_double_dash_ends_the_options)
{
	CHECK_U64(PARSE("a", "-k", "--", "-u", "--", "x"), 0);
	CHECK(o.kernel && !o.user);
	CHECK_U64(nr_operands, 4);
	CHECK_STR(operands()[0], "a");
	CHECK_STR(operands()[1], "-u");
	CHECK_STR(operands()[2], "--");
	CHECK_STR(operands()[3], "x");
}

TEST(opt_a_command_line_keeps_its_own_options)
{
	CHECK_U64(PARSE_COMMAND("-k", "ls", "-u", "--pid", "--"), 0);
	CHECK(o.kernel && !o.user);
	CHECK_U64(nr_operands, 4);
	CHECK_STR(operands()[0], "ls");
	CHECK_STR(operands()[3], "--");
	CHECK_U64(PARSE_COMMAND("-k", "--", "-u"), 0);
	CHECK_U64(nr_operands, 1);
	CHECK_STR(operands()[0], "-u");
}

TEST(opt_unknown_names_are_refused_with_the_nearest_known)
{
	REFUSES("unknown option '--pdi'", "did you mean '--pid'?", "--pdi=3");
	REFUSES("unknown option '--dur'", "did you mean '--duration'?", "--dur", "3");
	REFUSES("unknown option '--no-kernal'", "did you mean '--no-kernel'?", "--no-kernal");
	REFUSES("unknown option '--k'", "did you mean '-k'?", "--k");
	REFUSES("unknown option '--durations'", "did you mean '--duration'?", "--durations", "3");
	REFUSES("unknown option '--mono'", "did you mean '--clock=mono'?", "--mono");
	REFUSES("unknown option '-K'", "did you mean '-k'?", "-K");
	REFUSES("unknown option '-f'", "did you mean '--clock=tsc'?", "-f", "tsc");
	REFUSES("unknown option '-c'", "did you mean '--clock'?", "-c");
	REFUSES("unknown option '--zzzzzz'", "", "--zzzzzz");
	REFUSES("unknown option '-z'", "", "-z");
	REFUSES("unknown option '-z' in '-kz'", "", "-kz");
	REFUSES("unknown option '-i' in '-kid'", "", "-kid");
	REFUSES("--pid: 'id' is not a number", "examples: 4000, 10k, 1M, 64Ki, 0xc0de", "-pid");
}

TEST(opt_errors_name_the_option)
{
	REFUSES("--pid needs an argument <pid>", "", "-k", "-p");
	REFUSES("--output needs an argument <file>", "", "--output");
	REFUSES("--clock needs an argument", "", "--clock");
	REFUSES("--kernel takes no argument", "", "--kernel=yes");
	REFUSES("--no-kernel takes no argument", "", "--no-kernel=yes");
	REFUSES("--percent: '1,5' is not a number", "", "--percent=1,5");
	REFUSES("--clock: invalid value 'mnoo' (expected one of: tsc, mono, cpu)", "did you mean 'mono'?", "--clock=mnoo");
	REFUSES("--duration: '3 s' is not a duration",
		"examples: 250us, 10ms, 1.5s, 2m, 1h; without a unit it is seconds", "-d", "3 s");
	REFUSES("--ring: '1Q' is not a size", "examples: 65536, 64k, 1.5M, 2G", "-m1Q");
}

static uint64_t u64(const char *s)
{
	uint64_t v = 77777;

	return opt_parse_u64(s, &v, &e) ? 77777 : v;
}

TEST(opt_numbers_use_the_whole_word_and_every_value)
{
	static const char *const bad[] = {
		"", "-1", "+1", " 1", "1 ", "1.5", "k", ".", "0x", "0xg", "1kk", "1e3",
		"18446744073709551616",
		"99999999999999999999999999999999999999999", "0x10000000000000000", "18446744073709552k", "1.0001k",
	};
	size_t i;

	CHECK_U64(u64("0"), 0);
	CHECK_U64(u64("007"), 7);
	CHECK_U64(u64("10k"), 10000);
	CHECK_U64(u64("2M"), 2000000);
	CHECK_U64(u64("3G"), 3000000000u);
	CHECK_U64(u64("2Ki"), 2048);
	CHECK_U64(u64("1.5k"), 1500);
	CHECK_U64(u64("1.0"), 1);
	CHECK_U64(u64("0xFfff"), 65535);
	CHECK_U64(u64("18446744073709551615"), UINT64_MAX);
	CHECK_U64(u64("0xffffffffffffffff"), UINT64_MAX);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		uint64_t v = 0;

		if (!opt_parse_u64(bad[i], &v, &e))
			printf("# taken: \"%s\" as %llu\n", bad[i], (unsigned long long)v);
		CHECK(opt_parse_u64(bad[i], &v, &e));
	}
}

static uint64_t ns(const char *s)
{
	uint64_t v = 77777;

	return opt_parse_time(s, &v, &e) ? 77777 : v;
}

TEST(opt_times_are_seconds_unless_they_say_otherwise)
{
	CHECK_U64(ns("3"), 3000000000u);
	CHECK_U64(ns("0.5"), 500000000);
	CHECK_U64(ns(".5s"), 500000000);
	CHECK_U64(ns("10ms"), 10000000);
	CHECK_U64(ns("250us"), 250000);
	CHECK_U64(ns("250µs"), 250000);
	CHECK_U64(ns("7ns"), 7);
	CHECK_U64(ns("2m"), 120000000000u);
	CHECK_U64(ns("1.5h"), 5400000000000u);
	CHECK_U64(ns("0.000000000999"), 0);
	CHECK_U64(ns("0.1234567890123456789012345678901234567890"), 123456789);
	CHECK_U64(ns("1000000h"), 3600000000000000000u);
	CHECK_U64(ns("10000000h"), 77777);
	CHECK_U64(ns("1d"), 86400000000000u);
	CHECK_U64(ns("1w"), 77777);
	CHECK_U64(ns("0x10"), 77777);
}

TEST(opt_sizes_are_powers_of_1024)
{
	uint64_t v;

	CHECK(!opt_parse_size("64k", &v, &e) && v == 65536);
	CHECK(!opt_parse_size("1.5M", &v, &e) && v == 1572864);
	CHECK(!opt_parse_size("2GiB", &v, &e) && v == 2147483648u);
	CHECK(!opt_parse_size("1m", &v, &e) && v == 1 << 20);
	CHECK(!opt_parse_size("1M", &v, &e) && v == 1 << 20);
	CHECK(!opt_parse_size("3g", &v, &e) && v == 3221225472u);
	CHECK(!opt_parse_size("100", &v, &e) && v == 100);
	CHECK(opt_parse_size("17000000T", &v, &e));
	CHECK(opt_parse_size("-1", &v, &e));
}

/* Text of a printing function; the caller frees it. */
static char *text_of(void (*print)(const struct opt *, FILE *), const struct opt *t)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	print(t, f);
	fclose(f);
	return text;
}

TEST(opt_help_shows_groups_arguments_and_defaults)
{
	char *text = text_of(opt_print_help, table);

	CHECK_STR(text, "What\n"
			"    -p, --pid=<pid>         a process\n"
			"    -k, --kernel            kernel code too\n"
			"    -u, --user              user code\n"
			"        --no-java           no agent\n"
			"        --[no-]lines        store lines (default: yes)\n"
			"    -e, --event=<event>[,...]\n"
			"                            what to count\n"
			"\n"
			"How\n"
			"    -o, --output=<file>     the trace (default: arcprof.data)\n"
			"    -g, --graph[=<how>]     call stacks\n"
			"    -d, --duration=<time>   for so long (default: 10ms)\n"
			"    -m, --ring=<size>       of the ring (default: 64k)\n"
			"        --percent=<percent>\n"
			"                            the least (default: 0.5)\n"
			"        --clock=(tsc|mono|cpu)\n"
			"                            stamps the events (default: mono)\n"
			"        --xarc              parents and children\n"
			"        --xtree             the tree\n");
	free(text);
}

#define OR "\302\240|\302\240"	/* no line breaks there */

TEST(opt_synopsis_shows_alternatives_in_one_bracket)
{
	char *text = text_of(opt_print_synopsis, table);

	CHECK_STR(text, "[-p" OR "--pid=<pid>] [-k" OR "--kernel] [-u" OR "--user] [--no-java] [--no-lines] "
			"[-e" OR "--event=<event>[,...]...] [-o" OR "--output=<file>] [-g" OR "--graph[=<how>]] "
			"[-d" OR "--duration=<time>] [-m" OR "--ring=<size>] [--percent=<percent>] "
			"[--clock=(tsc|mono|cpu)] [--xarc | --xtree]");
	free(text);
}

TEST(opt_words_are_what_a_shell_may_complete)
{
	char *text = text_of(opt_print_words, table);

	CHECK(strstr(text, "-p\n--pid=\n-k\n--kernel\n--no-kernel\n") == text);
	CHECK(strstr(text, "--no-java\n--java\n"));
	CHECK(strstr(text, "--graph\n"));
	CHECK(!strstr(text, "What"));
	free(text);
}

TEST(opt_check_finds_what_is_wrong_with_a_table)
{
	struct opt bad[] = { table[1], table[2], OPT_END };

	CHECK_U64(opt_check(table, &e), 0);
	bad[1].letter = 'p';
	CHECK_U64(opt_check(bad, &e), (uint64_t)-EINVAL);
	CHECK_STR(e.msg, "--kernel: -p is used twice");
	bad[1].letter = 'k';
	bad[1].name = "pid";
	CHECK(opt_check(bad, &e));
	bad[1].name = "kernel";
	bad[1].help = "";
	CHECK(opt_check(bad, &e));
	bad[1].help = "ends with a stop.";
	CHECK(opt_check(bad, &e));
	bad[1].help = "good";
	CHECK_U64(opt_check(bad, &e), 0);
	bad[0].def = "many";
	CHECK(opt_check(bad, &e));
	CHECK_STR(e.msg, "--pid: 'many' is not a number");
	bad[0].def = NULL;
	bad[0].arg = NULL;
	CHECK(opt_check(bad, &e));
	bad[0] = table[2];
	bad[0].letter = 0;
	bad[0].name = "no-kernel";
	CHECK(opt_check(bad, &e));
}

static const char *nearest(const char *word)
{
	struct near n = near_init(word);

	near_try(&n, "record");
	near_try(&n, "report");
	near_try(&n, "doctor");
	near_try(&n, "dump");
	return n.best;
}

TEST(near_finds_typing_errors_and_beginnings_but_no_other_words)
{
	CHECK_STR(nearest("recrod"), "record");
	CHECK_STR(nearest("reprot"), "report");
	CHECK_STR(nearest("doc"), "doctor");
	CHECK_STR(nearest("dmup"), "dump");
	CHECK_STR(nearest("rec"), "record");
	CHECK(!nearest("flamegraph"));
	CHECK(!nearest("x"));
	CHECK(!nearest(""));
	CHECK(!nearest("a word that is longer than any that could be near to another"));
}

TEST(opt_changed_finds_the_first_value_that_is_not_the_default)
{
	CHECK_U64(PARSE("file"), 0);
	CHECK(!opt_changed(table, &o));
	CHECK_U64(PARSE("--clock=mono", "--percent=.5", "--lines", "--duration=10000us"), 0);
	CHECK(!opt_changed(table, &o));
	CHECK_U64(PARSE("--clock=tsc", "-k"), 0);
	CHECK_STR(opt_changed(table, &o)->name, "kernel");
	CHECK_U64(PARSE("--no-lines"), 0);
	CHECK_STR(opt_changed(table, &o)->name, "lines");
	CHECK_U64(PARSE("--percent=.25"), 0);
	CHECK_STR(opt_changed(table, &o)->name, "percent");
	CHECK_U64(PARSE("--event=a"), 0);
	CHECK_STR(opt_changed(table, &o)->name, "event");
}

TEST(opt_join_gives_each_table_a_struct_of_its_own)
{
	struct more {
		bool deep;
		uint64_t nr;
	} *more;
	const struct opt more_opts[] = {
		OPT_FLAG(0, "deep", struct more, deep, "go deep"),
		OPT_U64(0, "nr", struct more, nr, "n", "7", "how many"),
		OPT_END
	};
	char word[] = "--deep", *argv[] = { word };
	struct opt_join j = { 0 };
	size_t first = opt_join_struct(&j, sizeof(o)), second;
	struct test_opts *values;

	opt_join_add(&j, table, first);
	second = opt_join_struct(&j, sizeof(*more));
	opt_join_add(&j, more_opts, second);
	CHECK_U64(first, 0);
	CHECK(second >= sizeof(o) && second % _Alignof(max_align_t) == 0);
	CHECK_U64(opt_check(j.table, &e), 0);
	values = xcalloc(1, j.size);
	CHECK_U64(opt_parse(j.table, values, 1, argv, false, &nr_operands, &e), 0);
	more = (void *)((char *)values + second);
	CHECK(more->deep);
	CHECK_U64(more->nr, 7);
	CHECK_STR(values->output, "arcprof.data");
	opt_release(j.table, values);
	free(values);
	free(j.table);
}

static const char *shared_word(unsigned int i)
{
	return i < 4 ? (const char *const[]){ "none", "red", "green", "blue" }[i] : NULL;
}

TEST(opt_takes_only_its_words_of_a_shared_list)
{
	static const struct opt some[] = {
		OPT_SHARED_ENUM(0, "colour", struct test_opts, clock, shared_word, 1 << 1 | 1 << 3, "red", "which"),
		OPT_END
	};
	char *blue[] = { (char[]){ "--colour=blue" } }, *green[] = { (char[]){ "--colour=green" } };
	char *help;
	int nr;

	CHECK(!opt_check(some, &e));
	CHECK(!opt_parse(some, &o, 1, blue, false, &nr, &e));
	CHECK_U64(o.clock, 3);
	CHECK(opt_parse(some, &o, 1, green, false, &nr, &e));
	CHECK_STR(e.msg, "--colour: invalid value 'green' (expected one of: red, blue)");
	help = text_of(opt_print_synopsis, some);
	CHECK_STR(help, "[--colour=(red|blue)]");
	free(help);
}

static const struct opt bounded[] = {
	OPT_COUNT('n', "limit", struct test_opts, pid, "n", NULL, "so many"),
	OPT_SPAN('t', "interval", struct test_opts, window_ns, "time", NULL, "so often"),
	OPT_LEAST(OPT_TYPE_SIZE, 64 << 10, 'm', "ring", struct test_opts, ring_bytes, "size", NULL, "so large"),
	OPT_DOUBLE(0, "prune", struct test_opts, percent, "percent", NULL, "below that"),
	OPT_END
};

TEST(opt_numbers_that_mean_nothing_are_refused)
{
	static const struct {
		const char *arg, *message;
	} bad[] = {
		{ "--limit=0", "--limit: must be at least 1" },
		{ "-t0", "--interval: must be more than 0" },
		{ "--ring=3", "--ring: must be at least 64 KiB" },
		{ "--prune=-1", "--prune: must be from 0 to 100" },
		{ "--prune=101", "--prune: must be from 0 to 100" },
		{ "--limit=-1", "--limit: '-1' is not a number" },
	};
	char *good[] = { "--limit=1", "-t1ns", "--ring=64k", "--prune=100" };
	size_t i;

	memset(&o, 0, sizeof(o));
	CHECK(!opt_parse(bounded, &o, 4, good, false, &nr_operands, &e));
	CHECK_U64(o.ring_bytes, 64 << 10);
	/* what is not given has no bounds */
	CHECK(!opt_parse(bounded, &o, 0, good, false, &nr_operands, &e));
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		char *one[] = { (char *)bad[i].arg };

		CHECK(opt_parse(bounded, &o, 1, one, false, &nr_operands, &e) == -EINVAL);
		CHECK_STR(e.msg, bad[i].message);
	}
}

static const struct opt modes[] = {
	OPT_SET(0, "xarc", struct test_opts, view, 1, "parents and children"),
	OPT_SET_STR("lines-of", struct test_opts, function, view, 3, "function", "lines of a function"),
	OPT_END
};

TEST(opt_a_mode_switch_may_take_an_argument)
{
	char *first[] = { "--xarc", "--lines-of", "main", NULL }, *last[] = { "--lines-of=main", "--xarc", NULL };

	memset(&o, 0, sizeof(o));
	CHECK(!opt_parse(modes, &o, 2, first + 1, false, &nr_operands, &e));
	CHECK_U64(o.view, 3);
	CHECK_STR(o.function, "main");
	CHECK(opt_parse(modes, &o, 3, first, false, &nr_operands, &e) == -EINVAL);
	CHECK_STR(e.msg, "cannot be combined: --xarc and --lines-of");
	CHECK(opt_parse(modes, &o, 2, last, false, &nr_operands, &e) == -EINVAL);
	CHECK_STR(e.msg, "cannot be combined: --lines-of and --xarc");
	CHECK(opt_parse(modes, &o, 1, first + 1, false, &nr_operands, &e) == -EINVAL);
}

TEST(opt_a_mode_switch_with_an_argument_is_an_alternative)
{
	char *text = text_of(opt_print_synopsis, modes);

	CHECK_STR(text, "[--xarc | --lines-of=<function>]");
	free(text);
}

static const struct opt renamed[] = {
	OPT_SPAN('t', "interval", struct test_opts, window_ns, "time", NULL, "so often"),
	OPT_OLD_SPAN('i', "every", struct test_opts, window_ns),
	OPT_END
};

TEST(opt_an_old_name_works_and_nothing_shows_it)
{
	char *argv[] = { "-i", "2s" }, *mistyped[] = { "--evry", "1" };
	void (*const prints[])(const struct opt *, FILE *) = {
		opt_print_help, opt_print_synopsis, opt_print_words
	};
	size_t i;

	CHECK(!opt_check(renamed, &e));
	CHECK(!opt_parse(renamed, &o, 2, argv, false, &nr_operands, &e));
	CHECK_U64(o.window_ns, 2000000000);
	CHECK(opt_parse(renamed, &o, 2, mistyped, false, &nr_operands, &e) == -EINVAL);
	CHECK_STR(e.hint, "");
	for (i = 0; i < ARRAY_SIZE(prints); i++) {
		char *text = text_of(prints[i], renamed);

		CHECK(strstr(text, "interval") && !strstr(text, "every"));
		free(text);
	}
}

TEST(opt_a_joined_mode_switch_stores_both_where_its_struct_is)
{
	struct opt_join j = { .table = NULL };
	size_t at;

	opt_join_struct(&j, 100);
	at = opt_join_struct(&j, sizeof(struct test_opts));
	opt_join_add(&j, modes, at);
	CHECK_U64(j.table[1].offset, at + offsetof(struct test_opts, function));
	CHECK_U64(j.table[1].sets_offset, at + offsetof(struct test_opts, view));
	free(j.table);
}
