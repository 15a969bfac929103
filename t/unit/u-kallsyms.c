// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sym/kallsyms.h"
#include "unit.h"

static struct kallsyms *parse(const char *text)
{
	struct kallsyms *k = NULL;
	struct err e;

	CHECK_U64(kallsyms_parse(&k, text, strlen(text), &e), 0);
	return k;
}

static const char *name_at(struct kallsyms *k, uint64_t addr)
{
	const struct ksym *s = kallsyms_find(k, addr);

	return s ? s->name : NULL;
}

TEST(kallsyms_a_function_reaches_to_the_next_symbol_of_any_kind)
{
	struct kallsyms *k = parse("0000000000000000 A fixed_percpu_data\n"
				   "ffffffff81000000 T _stext\n"
				   "ffffffff81000000 T startup_64\n"
				   "ffffffff81000100 t second\n"
				   "ffffffff81000200 D some_data\n"
				   "ffffffff81000300 T third\n");

	CHECK_STR(name_at(k, 0xffffffff81000000), "startup_64");
	CHECK_STR(name_at(k, 0xffffffff810000ff), "startup_64");
	CHECK_STR(name_at(k, 0xffffffff81000100), "second");
	CHECK_U64(kallsyms_find(k, 0xffffffff81000100)->size, 0x100);
	CHECK_STR(name_at(k, 0xffffffff81000200), NULL);
	CHECK_STR(name_at(k, 0xffffffff81000fff), "third");
	CHECK_STR(name_at(k, 0xffffffff81001000), NULL);
	CHECK_STR(name_at(k, 0), NULL);
	CHECK_STR(kallsyms_find(k, 0xffffffff81000100)->module, "");
	kallsyms_close(k);
}

TEST(kallsyms_modules_are_named_and_order_does_not_matter)
{
	struct kallsyms *k = parse("ffffffffc0002000 t fn_b\t[two]\n"
				   "ffffffffc0001000 t fn_a\t[one]\n"
				   "ffffffff81000000 T core\n"
				   "ffffffffc0009000 t bpf_prog_6deef7357e7b4530\t[bpf]");

	CHECK_STR(name_at(k, 0xffffffffc0001010), "fn_a");
	CHECK_STR(kallsyms_find(k, 0xffffffffc0001010)->module, "one");
	CHECK_STR(kallsyms_find(k, 0xffffffffc0002010)->module, "two");
	CHECK_STR(kallsyms_find(k, 0xffffffffc0009010)->module, "bpf");
	/* What is far from the next symbol ends with its page. */
	CHECK_STR(name_at(k, 0xffffffff81001000), NULL);
	kallsyms_close(k);
}

TEST(kallsyms_hidden_addresses_are_eperm_with_a_hint)
{
	static const char text[] = "0000000000000000 T _stext\n0000000000000000 t x\t[m]\n";
	struct kallsyms *k;
	struct err e;

	CHECK_U64(-kallsyms_parse(&k, text, strlen(text), &e), EPERM);
	CHECK(strstr(e.hint, "kptr_restrict"));
	CHECK_U64(-kallsyms_parse(&k, "", 0, &e), ENODATA);
	CHECK_U64(-kallsyms_parse(&k, "rubbish\n\n \nx\n", 13, &e), ENODATA);
}

TEST(kallsyms_of_this_kernel_agree_with_the_file)
{
	FILE *in = fopen("/proc/kallsyms", "r");
	struct kallsyms *k;
	char line[1024], name[512], type;
	uint64_t addr, nr = 0, same = 0;
	struct err e;
	int r = kallsyms_read(&k, &e);

	if (r == -EPERM || r == -ENODATA)
		unit_skip("this user does not see kernel addresses");
	CHECK_U64(r, 0);
	while (in && fgets(line, sizeof(line), in)) {
		const struct ksym *s;

		if (sscanf(line, "%" SCNx64 " %c %511s", &addr, &type, name) != 3 || !strchr("tTwW", type) ||
		    !addr || strstr(line, "[bpf]"))	/* programs of BPF come and go */
			continue;
		s = kallsyms_find(k, addr);
		CHECK(s && s->addr == addr);
		nr++;
		same += s && !strcmp(s->name, name);
	}
	if (in)
		fclose(in);
	CHECK(nr > 1000);
	CHECK(same * 100 > nr * 80);	/* the others have several names */
	kallsyms_close(k);
}

static void check_parsed(const char *text, uint64_t addr, const char *name, uint64_t start, uint64_t size,
			 const char *module)
{
	struct ksym s;
	char copy[128];

	snprintf(copy, sizeof(copy), "%s", text);
	CHECK(ksym_bpf_parse(copy, addr, &s));
	CHECK_STR(s.name, name);
	CHECK_U64(s.addr, start);
	CHECK_U64(s.size, size);
	CHECK_STR(s.module, module);
}

TEST(ksym_bpf_takes_apart_what_the_kernel_prints)
{
	static const char *const refused[] = { "", "0xffffffff81000000", "+0x1/0x2", "f+0x2/0x2", "f+0x1", "f+0x1/0x8x",
					       "f+0x100/0x200" };
	struct ksym s;
	char copy[128];
	size_t i;

	check_parsed("do_exit+0x10/0xa40", 0x1010, "do_exit", 0x1000, 0xa40, "");
	check_parsed("f.isra.0+0x0/0x8 [nf_tables]", 0x1000, "f.isra.0", 0x1000, 8, "nf_tables");
	check_parsed("bpf_prog_1_x+0x4/0x20 [bpf]", 0x1004, "bpf_prog_1_x", 0x1000, 0x20, "bpf");
	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		snprintf(copy, sizeof(copy), "%s", refused[i]);
		CHECK(!ksym_bpf_parse(copy, 0x80, &s));
	}
}

/*
 * Programs of BPF come and go beside the tests, and a symbol before one ends where it begins: what
 * two readings around a test say alike can be compared with what was read between them.
 */
static const struct ksym *stayed(struct kallsyms *before, struct kallsyms *after, uint64_t addr)
{
	const struct ksym *a = kallsyms_find(before, addr), *b = kallsyms_find(after, addr);

	if (!a || !b || !strcmp(a->module, "bpf"))
		return NULL;
	return a->addr == b->addr && a->size == b->size && !strcmp(a->name, b->name) &&
		!strcmp(a->module, b->module) ? a : NULL;
}

TEST(ksym_bpf_agrees_with_the_file_of_this_kernel)
{
	struct ksym_bpf *b = ksym_bpf_open();
	struct kallsyms *k;
	uint64_t nr = 0, same = 0, addr, step = 65536 + 24;
	const struct ksym *want;
	struct ksym got;
	struct err e;

	if (!b)
		unit_skip("this user may not load BPF programs, or the kernel is older than 5.14");
	CHECK_U64(kallsyms_read(&k, &e), 0);
	for (addr = 0xffffffff80000000; addr < 0xffffffffff000000 && addr >= step; addr += step) {
		want = kallsyms_find(k, addr);
		if (!want || !strcmp(want->module, "bpf") || !ksym_bpf_find(b, addr, &got))
			continue;
		nr++;
		same += want->addr == got.addr && !strcmp(want->module, got.module);
	}
	CHECK(nr > 100);
	CHECK_U64(same, nr);
	CHECK(!ksym_bpf_find(b, 0x1000, &got));
	kallsyms_close(k);
	ksym_bpf_close(b);
}

TEST(kallsyms_of_the_image_are_the_same_from_the_cache)
{
	struct kallsyms *k = parse("ffffffff81000000 T _stext\n"
				   "ffffffff81000100 t do_one\n"
				   "ffffffff81000180 D data\n"
				   "ffffffff81000200 T do_two\n"
				   "ffffffff81000300 T last\n"
				   "ffffffffc0001000 t of_module\t[one]\n");
	const uint64_t addrs[] = { 0xffffffff81000000, 0xffffffff81000150, 0xffffffff81000190,
		0xffffffff810002ff };
	char dir[] = "/tmp/arcprof-kallsyms.XXXXXX", path[300];
	struct cache_key key, other;
	struct cache_entry e;
	struct cache *c;
	struct ksym syms[5], s;
	size_t i, nr = 0;

	CHECK(mkdtemp(dir));
	c = cache_open_at(dir, 1 << 20);
	for (i = 0; i < 5; i++) {
		static const uint64_t at[] = { 0xffffffff81000000, 0xffffffff81000100, 0xffffffff81000200,
					       0xffffffff81000300, 0xffffffffc0001000 };
		const struct ksym *found = kallsyms_find(k, at[i]);

		if (found)
			syms[nr++] = *found;
	}
	CHECK_U64(nr, 5);
	CHECK(kallsyms_key(&key, "ffffffff81000000 T _stext", 25));
	CHECK(kallsyms_key(&other, "ffffffff91000000 T _stext", 25));
	kallsyms_put(c, &key, syms, nr);
	CHECK(!cache_get(c, &other, &e));
	CHECK(cache_get(c, &key, &e) && kallsyms_is_sound(&e));
	for (i = 0; i < sizeof(addrs) / sizeof(addrs[0]); i++) {
		const struct ksym *want = kallsyms_find(k, addrs[i]);

		CHECK_U64(kallsyms_cached(&e, addrs[i], &s), want != NULL);
		if (want)
			CHECK(s.addr == want->addr && s.size == want->size && !strcmp(s.name, want->name));
	}
	CHECK(kallsyms_cached(&e, 0xffffffff81000300, &s) == -1);	/* where it ends is not known */
	CHECK(kallsyms_cached(&e, 0xffffffffc0001010, &s) == -1);
	CHECK(kallsyms_cached(&e, 0xffffffff80ffffff, &s) == -1);
	cache_entry_release(&e);
	/* A module among the functions of the image: then nothing is said of the image. */
	syms[2].module = "one";
	snprintf(path, sizeof(path), "rm -rf %s/*", dir);
	CHECK(!system(path));
	kallsyms_put(c, &key, syms, nr);
	CHECK(!cache_get(c, &key, &e));
	cache_close(c);
	rmdir(dir);
	kallsyms_close(k);
}

TEST(kallsyms_of_this_kernel_are_the_same_from_the_cache)
{
	char dir[] = "/tmp/arcprof-kallsyms.XXXXXX", command[300];
	struct kallsyms *all, *after, *cached = NULL;
	uint64_t addr, nr = 0, same = 0;
	struct cache *c;
	struct err e;

	if (kallsyms_read(&all, &e))
		unit_skip("this user does not see kernel addresses");
	CHECK(mkdtemp(dir));
	c = cache_open_at(dir, 64 << 20);
	CHECK(!kallsyms_read_cached(&cached, c, &e));
	kallsyms_close(cached);
	CHECK(!kallsyms_read_cached(&cached, c, &e));
	kallsyms_find(cached, UINT64_MAX - 1);
	CHECK_U64(kallsyms_read(&after, &e), 0);
	/* Modules lie above the image: from there on the file is read. */
	for (addr = 0xffffffff80000000; addr >= 0xffffffff80000000; addr += 65536 + 24) {
		const struct ksym *want = stayed(all, after, addr), *got;

		if (!want)
			continue;
		got = kallsyms_find(cached, addr);
		nr++;
		same += got && got->addr == want->addr && got->size == want->size &&
			!strcmp(got->name, want->name) && !strcmp(got->module, want->module);
	}
	CHECK_U64(same, nr);
	kallsyms_close(cached);
	kallsyms_close(after);
	kallsyms_close(all);
	cache_close(c);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	CHECK(!system(command));
}
