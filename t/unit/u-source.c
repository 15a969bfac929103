// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sym/disasm.h"
#include "sym/source.h"
#include "unit.h"

static char dir[] = "/tmp/arcprof-source.XXXXXX";

static void write_file(const char *name, const char *text)
{
	char path[200];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	CHECK(f);
	fputs(text, f);
	fclose(f);
}

static void make_dir(const char *name)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	CHECK(!mkdir(path, 0700));
}

static void remove_all(void)
{
	char command[200];

	snprintf(command, sizeof(command), "rm -r %s", dir);
	CHECK(!system(command));
}

static char *items[] = { dir };
static const struct opt_list dirs = { items, 1, 1 };

TEST(source_lines_are_counted_from_1_and_lose_their_ends)
{
	struct buf line = BUF_INIT;
	struct source s;

	CHECK(mkdtemp(dir));
	write_file("a.c", "one\r\n\nthree");
	source_open(&s, "/build/lib/a.c", "", &dirs);
	CHECK_U64(s.nr_lines, 3);
	CHECK(!source_line(&s, 0, &line));
	CHECK(source_line(&s, 1, &line));
	CHECK_STR(line.data, "one");
	CHECK(source_line(&s, 2, &line));
	CHECK_U64(line.len, 0);
	CHECK(source_line(&s, 3, &line));
	CHECK_STR(line.data, "three");
	CHECK(!source_line(&s, 4, &line));
	source_release(&s);
	buf_release(&line);
	remove_all();
}

TEST(source_the_longest_end_of_the_path_is_found_first)
{
	struct source s;

	CHECK(mkdtemp(dir));
	make_dir("util");
	write_file("List.java", "outer\n");
	write_file("util/List.java", "inner\n");
	source_open(&s, "List.java", "java/util", &dirs);
	CHECK(s.path && strstr(s.path, "/util/List.java"));
	source_release(&s);
	source_open(&s, "List.java", "java/awt", &dirs);
	CHECK(s.path && !strstr(s.path, "util"));
	source_release(&s);
	source_open(&s, "Other.java", "java/util", &dirs);
	CHECK(!s.path);
	source_release(&s);
	remove_all();
}

TEST(source_names_of_others_do_not_leave_the_folders)
{
	char below[200], path[200];
	struct opt_list inner = { (char *[]){ below }, 1, 1 };
	struct source s;

	CHECK(mkdtemp(dir));
	make_dir("util");
	write_file("secret", "outer\n");
	write_file("util/a.c", "inner\n");
	snprintf(below, sizeof(below), "%s/util", dir);
	snprintf(path, sizeof(path), "%s/secret", dir);
	source_open(&s, path, "", &inner);
	CHECK(s.path);
	source_release(&s);
	source_open_below(&s, path, "", &inner);
	CHECK(!s.path);
	source_release(&s);
	source_open_below(&s, "x/../../secret", "", &inner);
	CHECK(!s.path);
	source_release(&s);
	source_open_below(&s, "../util/a.c", "", &inner);	/* without what goes up it is there */
	CHECK(s.path);
	source_release(&s);
	remove_all();
}

TEST(source_a_pipe_or_a_folder_is_not_read)
{
	char path[200];
	struct source s;

	CHECK(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/pipe", dir);
	CHECK(!mkfifo(path, 0600));
	source_open(&s, path, "", &(struct opt_list){ 0 });
	CHECK(!s.path);
	source_release(&s);
	source_open(&s, dir, "", &(struct opt_list){ 0 });
	CHECK(!s.path);
	source_release(&s);
	remove_all();
}

/* The first size bytes of a file that is said to have a build-id of so many bytes. */
static int disassemble(const char *path, size_t id_len, uint64_t size)
{
	static const uint8_t id[] = { 1, 2, 3 };
	const struct disasm_code code = { path, id, id_len, 0, size };
	struct disasm d;
	struct err e;
	int r = disasm_file(&d, &code, &e);

	disasm_release(&d);
	return r;
}

TEST(disasm_refuses_what_it_cannot_know)
{
	static const uint8_t id[] = { 1, 2, 3 };
	struct disasm d;
	struct err e;

	CHECK(disassemble("/proc/self/exe", 0, 16) == -ESTALE);
	CHECK(disassemble("/proc/self/exe", 3, 16) == -ESTALE);
	CHECK(disassemble("/proc/self/exe", 3, 2 << 20) == -EFBIG);
	CHECK(disassemble("/nosuch", 3, 16) == -ENOENT);
	CHECK(disasm_bytes(&d, id, sizeof(id), 0, "vax", &e) == -EINVAL);
	disasm_release(&d);
}
