// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "base/buf.h"
#include "collect/engine/jitfiles.h"
#include "collect/engine/runtimes.h"
#include "sym/jitdump.h"
#include "unit.h"

static bool parse(struct perfmap_code *c, const char *line)
{
	return perfmap_line(c, line, strlen(line));
}

TEST(jit_a_line_of_a_map_has_address_size_and_name)
{
	struct perfmap_code c;

	CHECK(parse(&c, "7f00a0 1c LazyCompile:*fib /tmp/a b.js:1"));
	CHECK_U64(c.addr, 0x7f00a0);
	CHECK_U64(c.size, 0x1c);
	CHECK_U64(c.name_len, strlen("LazyCompile:*fib /tmp/a b.js:1"));
	CHECK(parse(&c, "0x7F00A0 0X1C  f\r"));
	CHECK_U64(c.addr, 0x7f00a0);
	CHECK_U64(c.name_len, 1);
	CHECK(parse(&c, "ffffffffffffff00 ff end"));
	CHECK(!parse(&c, "ffffffffffffff00 100 beyond"));
	CHECK(!parse(&c, "7f00a0 0 empty"));
	CHECK(!parse(&c, "7f00a0 10 "));
	CHECK(!parse(&c, "7f00a0 10"));
	CHECK(!parse(&c, "12345678123456781 10 long"));
	CHECK(!parse(&c, "x 10 f"));
	CHECK(!parse(&c, ""));
}

static void header(struct buf *b, uint64_t flags)
{
	buf_u32(b, 0x4a695444);
	buf_u32(b, 1);
	buf_u32(b, 48);		/* longer than today's */
	buf_u32(b, 62);
	buf_u64(b, 0);
	buf_u64(b, 1000);
	buf_u64(b, flags);
	buf_u64(b, 0);
}

static void load(struct buf *b, uint64_t time_ns, uint64_t addr, uint64_t size, const char *name)
{
	buf_u32(b, 0);
	buf_u32(b, 56 + strlen(name) + 1 + 4);
	buf_u64(b, time_ns);
	buf_u64(b, 0);
	buf_u64(b, addr);
	buf_u64(b, addr);
	buf_u64(b, size);
	buf_u64(b, 5);
	buf_add(b, name, strlen(name) + 1);
	buf_u32(b, 0xc3c3c3c3);
}

static void lines(struct buf *b)
{
	buf_u32(b, 2);
	buf_u32(b, 32 + 16 + 4 + 16 + 2);
	buf_u64(b, 2000);
	buf_u64(b, 0x7000);
	buf_u64(b, 2);
	buf_u64(b, 0x7000);
	buf_u32(b, 10);
	buf_u32(b, 0);
	buf_add(b, "a.c", 4);
	buf_u64(b, 0x7004);
	buf_u32(b, 11);
	buf_u32(b, 0);
	buf_add(b, "\xff", 2);
}

TEST(jit_a_dump_is_read_wherever_it_ends_for_now)
{
	struct buf b = BUF_INIT;
	size_t len;

	header(&b, 0);
	lines(&b);
	load(&b, 2000, 0x7000, 4, "first one");
	for (len = 0; len <= b.len; len++) {
		struct jitdump_record r;
		struct jitdump d = { 0 };
		size_t at = 0, nr = 0;

		for (;;) {
			jitdump_next(&d, b.data + at, len - at, &r);
			if (r.kind == JITDUMP_INCOMPLETE)
				break;
			CHECK(r.kind != JITDUMP_DAMAGED && r.len && r.len <= len - at);
			at += r.len;
			nr++;
		}
		CHECK_U64(nr, (len >= 48) + (len >= 48 + 70) + (len >= b.len));
	}
	buf_release(&b);
}

TEST(jit_a_dump_says_what_when_and_where)
{
	struct jitdump_line l = { 0 };
	struct jitdump_record r;
	struct jitdump d = { 0 };
	struct buf b = BUF_INIT;
	size_t at;

	header(&b, 0);
	lines(&b);
	load(&b, 2000, 0x7000, 4, "first one");
	jitdump_next(&d, b.data, b.len, &r);
	CHECK_U64(r.kind, JITDUMP_OTHER);
	at = r.len;
	jitdump_next(&d, b.data + at, b.len - at, &r);
	CHECK_U64(r.kind, JITDUMP_LINES);
	CHECK(jitdump_line(&r.lines, &l));
	CHECK_U64(l.line, 10);
	CHECK(jitdump_line(&r.lines, &l));
	CHECK_U64(l.line, 11);
	CHECK_U64(l.addr, 0x7004);
	CHECK_U64(l.file_len, 3);
	CHECK(!memcmp(l.file, "a.c", 3));
	CHECK(!jitdump_line(&r.lines, &l));
	at += 70;
	jitdump_next(&d, b.data + at, b.len - at, &r);
	CHECK_U64(r.kind, JITDUMP_CODE);
	CHECK_U64(r.time_ns, 2000);
	CHECK_U64(r.addr, 0x7000);
	CHECK_U64(r.size, 4);
	CHECK_U64(r.index, 5);
	CHECK_U64(r.name_len, 9);
	buf_release(&b);
}

TEST(jit_a_dump_by_another_clock_or_with_nonsense)
{
	struct jitdump_record r;
	struct jitdump d = { 0 };
	struct buf b = BUF_INIT;

	header(&b, 1);
	load(&b, 2000, 0x7000, 4, "f");
	load(&b, 2000, UINT64_MAX - 2, 4, "f");
	buf_u32(&b, 0);
	buf_u32(&b, 8);		/* shorter than what every record has */
	buf_u64(&b, 0);
	jitdump_next(&d, b.data, b.len, &r);
	jitdump_next(&d, b.data + 48, b.len - 48, &r);
	CHECK_U64(r.kind, JITDUMP_CODE);
	CHECK_U64(r.time_ns, 0);
	jitdump_next(&d, b.data + 48 + r.len, b.len - 48 - r.len, &r);
	CHECK_U64(r.kind, JITDUMP_OTHER);
	jitdump_next(&d, b.data + b.len - 16, 16, &r);
	CHECK_U64(r.kind, JITDUMP_DAMAGED);
	d = (struct jitdump){ 0 };
	jitdump_next(&d, b.data + 4, b.len - 4, &r);
	CHECK_U64(r.kind, JITDUMP_DAMAGED);
	buf_release(&b);
}

/* Two lines whose names are rubbish as long as "/a.js", and what fills the record up. */
TEST(jit_names_of_scripts_that_are_lost_are_in_that_of_the_function)
{
	static const char name[] = "JS:*get x /a.js:1:13", other[] = "JS:*get x /a/b/c.js:1:13";
	struct jitdump_record lines = { .nr_lines = 2 }, c = { .name = name, .name_len = sizeof(name) - 1 };
	struct jitdump_line file, l = { 0 };
	struct buf b = BUF_INIT;
	uint32_t i;

	for (i = 0; i < 2; i++) {
		buf_u64(&b, 0x7000 + i);
		buf_u32(&b, 10 + i);
		buf_u32(&b, 0);
		buf_add(&b, "\0\1.js", 6);
	}
	buf_u32(&b, 0);
	lines.lines = span_init(b.data, b.len);
	CHECK(jitdump_lost_names(&lines, &c, &file));
	CHECK_U64(file.file_len, 5);
	CHECK(!memcmp(file.file, "/a.js", 5));
	CHECK(jitdump_line_of(&file, &lines.lines, &l) && l.line == 10);
	CHECK(jitdump_line_of(&file, &lines.lines, &l) && l.line == 11 && l.addr == 0x7001);
	CHECK(!jitdump_line_of(&file, &lines.lines, &l));
	lines.lines = span_init(b.data, b.len);
	c = (struct jitdump_record){ .name = other, .name_len = sizeof(other) - 1 };
	CHECK(!jitdump_lost_names(&lines, &c, &file));
	c.name_len = 3;
	CHECK(!jitdump_lost_names(&lines, &c, &file));
	buf_release(&b);
}

TEST(jit_dumps_are_known_by_their_names)
{
	CHECK(jitfiles_is_dump("/tmp/jit-123.dump"));
	CHECK(!jitfiles_is_dump("jit-123.dump"));
	CHECK(!jitfiles_is_dump("/tmp/jit-.dump"));
	CHECK(!jitfiles_is_dump("/tmp/jit-12x.dump"));
	CHECK(!jitfiles_is_dump("/tmp/jit-12.dump.1"));
}

static const char *how(const char *path)
{
	int runtime = runtime_of_file(path);

	return runtime ? runtime_how_named(runtime) : "";
}

TEST(jit_runtimes_are_known_by_their_files)
{
	CHECK_STR(how("/usr/bin/node"), "node --perf-basic-prof");
	CHECK_STR(how("/usr/lib/x86_64-linux-gnu/libnode.so.108"), "node --perf-basic-prof");
	CHECK_STR(how("/usr/bin/python3.13"), "python3 -X perf");
	CHECK_STR(how("/usr/lib/libpython3.12.so.1.0"), "python3 -X perf");
	CHECK_STR(how("/usr/bin/python3.11"), "");
	CHECK_STR(how("/usr/lib/libpython3.10.so.1.0"), "");
	CHECK_STR(how("/usr/share/dotnet/shared/Microsoft.NETCore.App/8.0.0/libcoreclr.so"),
		  "DOTNET_PerfMapEnabled=1 in the environment");
	CHECK_STR(how("/usr/bin/nodejs-like"), "");
	CHECK_STR(how("[vdso]"), "");
	CHECK(runtime_interprets(runtime_of_file("/usr/bin/python3.13")));
	CHECK(!runtime_interprets(runtime_of_file("/usr/bin/node")));
}
