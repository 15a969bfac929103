// SPDX-License-Identifier: GPL-2.0-or-later
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "arch/insn.h"
#include "base/io.h"
#include "base/mem.h"
#include "sym/mapped.h"
#include "sym/symfile_int.h"
#include "unit.h"
#include "unwind/module.h"

static const char *const tiny[] = {
	"t/fuzz/corpus/elf/tiny-dwarf5.so", "t/fuzz/corpus/elf/tiny-dwarf4-z.so",
	"t/fuzz/corpus/elf/tiny-mini.so",   "t/fuzz/corpus/elf/tiny-plain.so",
	"t/fuzz/corpus/elf/tiny-noshdr.so", "t/fuzz/corpus/elf/tiny-32.so",
};

static struct symfile *open_source(const char *path)
{
	struct symfile *f = NULL;
	struct err e = { 0 };

	symfile_open(&f, "", unit_source(path), NULL, 0, &e);
	CHECK_STR(e.msg, "");
	return f;
}

static void check_symbol(struct symfile *f, uint64_t off, const char *name, uint64_t start, uint64_t size)
{
	struct symbol s = { .name = NULL };
	bool found = symfile_symbol(f, off, &s);

	CHECK_STR(found ? s.name : NULL, name);
	if (!found)
		return;
	CHECK_U64(s.off, start);
	CHECK_U64(s.size, size);
}

TEST(symfile_symbols_of_symtab_and_linkage_stubs)
{
	struct symfile *f = open_source(tiny[0]);

	CHECK_STR(symfile_symbol_source(f), ".symtab");
	check_symbol(f, 0x330, "f", 0x330, 0x52);
	check_symbol(f, 0x381, "f", 0x330, 0x52);
	check_symbol(f, 0x390, "g", 0x390, 0x41);
	check_symbol(f, 0x320, "label", 0x320, 0x10);
	check_symbol(f, 0x300, "memcpy@plt", 0x300, 0x10);
	check_symbol(f, 0x31f, "puts@plt", 0x310, 0x10);
	check_symbol(f, 0x10, NULL, 0, 0);
	check_symbol(f, UINT64_MAX, NULL, 0, 0);
	symfile_close(f);
}

static int function(const char *path, const char *name, uint64_t *off, struct err *e)
{
	struct symfile *f = open_source(path);
	int r = symfile_function(f, name, off, e);

	symfile_close(f);
	return r;
}

TEST(symfile_finds_a_function_by_its_name)
{
	struct err e = { 0 };
	uint64_t off;

	CHECK_U64(function(tiny[0], "f", &off, &e), 0);
	CHECK_U64(off, 0x330);
	CHECK_U64(function(tiny[0], "label", &off, &e), 0);
	CHECK_U64(off, 0x320);
	CHECK_U64(function("t/data/elf/linked.so", "hidden", &off, &e), 0);	/* of its debug file */
	CHECK_U64(off, 0x1c0);
	CHECK_U64(-function(tiny[0], "puts", &off, &e), ENOENT);
	CHECK(strstr(e.msg, "of another file"));
	CHECK_U64(-function("t/data/elf/linked.so", "hiddem", &off, &e), ENOENT);
	CHECK_STR(e.hint, "did you mean 'hidden'?");
	CHECK_U64(-function(tiny[5], "f", &off, &e), ENOTSUP);
}

TEST(symfile_finds_where_a_function_ends)
{
	struct symfile *f = open_source(tiny[0]);
	struct err e = { 0 };
	struct insn in;
	uint64_t at[2];

	if (!insn_decode((const uint8_t *)"\xc3", 1, &in) || in.kind != INSN_RETURN)
		unit_skip("the code is of another CPU");
	CHECK_U64(symfile_returns(f, 0x330, at, 2, &e), 1);
	CHECK_U64(at[0], 0x36c);
	CHECK_U64(symfile_returns(f, 0x390, at, 2, &e), 2);
	CHECK_U64(at[0], 0x3b2);
	CHECK_U64(at[1], 0x3d0);
	CHECK_U64(-symfile_returns(f, 0x390, at, 1, &e), E2BIG);
	CHECK_U64(-symfile_returns(f, 0x391, at, 2, &e), ENOTSUP);
	symfile_close(f);
}

/* A breakpoint in what is not an instruction would change what the program computes. */
TEST(symfile_knows_no_ends_where_instructions_are_not_one_after_the_other)
{
	enum { JUMP = 0x3a8 };		/* jne, to an instruction */
	struct symfile *f;
	struct buf b = BUF_INIT;
	struct err e = { 0 };
	struct insn in;
	uint64_t at[2];

	if (!insn_decode((const uint8_t *)"\xc3", 1, &in) || in.kind != INSN_RETURN)
		unit_skip("the code is of another CPU");
	CHECK(!io_slurp(unit_source(tiny[0]), &b) && (uint8_t)b.data[JUMP] == 0x75);
	b.data[JUMP + 1]++;
	CHECK(!symfile_open_memory(&f, b.data, b.len, "tiny", &e));
	CHECK_U64(-symfile_returns(f, 0x390, at, 2, &e), EILSEQ);
	CHECK_U64(symfile_returns(f, 0x330, at, 2, &e), 1);
	symfile_close(f);
	buf_release(&b);
}

TEST(symfile_symbols_of_a_compressed_minimal_table)
{
	struct symfile *f = open_source(tiny[2]);

	CHECK_STR(symfile_symbol_source(f), ".gnu_debugdata");
	check_symbol(f, 0x340, "f", 0x330, 0x52);
	check_symbol(f, 0x3a0, "g", 0x390, 0x41);
	symfile_close(f);
}

TEST(symfile_functions_without_names_are_module_and_address)
{
	struct symfile *f = open_source(tiny[4]);
	struct symbol a, b;

	CHECK_STR(symfile_symbol_source(f), "CFI");
	check_symbol(f, 0x340, "tiny-noshdr.so+0x330", 0x330, 0x52);
	check_symbol(f, 0x3a0, "tiny-noshdr.so+0x390", 0x390, 0x41);
	CHECK(symfile_symbol(f, 0x340, &a) && symfile_symbol(f, 0x350, &b) && a.name == b.name);
	symfile_close(f);
}

TEST(symfile_symbols_of_a_debug_file_by_its_link)
{
	struct symfile *f = open_source("t/data/elf/linked.so");

	CHECK_STR(symfile_symbol_source(f), ".symtab of the debug file");
	check_symbol(f, 0x1c2, "hidden", 0x1c0, 5);
	check_symbol(f, 0x1d2, "shown", 0x1d0, 0x12);
	symfile_close(f);
}

static char dir[] = "/tmp/u-symfile.XXXXXX";

static char *in_dir(const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

static void copy_file(const char *from, const char *to)
{
	struct buf b = BUF_INIT;
	struct err e;
	int fd;

	CHECK_U64(io_read_file(unit_source(from), &b, 1 << 20, &e), 0);
	fd = open(to, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	CHECK_U64(io_write_all(fd, b.data, b.len), 0);
	close(fd);
	buf_release(&b);
}

static void clean_up(void)
{
	char *cmd = xasprintf("rm -rf %s", dir);

	CHECK_U64(system(cmd), 0);
	free(cmd);
}

TEST(symfile_a_debug_file_with_another_checksum_is_not_taken)
{
	char *file, *debug;
	struct symfile *f;
	struct err e;
	int fd;

	CHECK(mkdtemp(dir));
	file = in_dir("linked.so");
	debug = in_dir("linked.so.debug");
	copy_file("t/data/elf/linked.so", file);
	copy_file("t/data/elf/linked.so.debug", debug);
	fd = open(debug, O_WRONLY);
	CHECK(pwrite(fd, "?", 1, 2600) == 1);
	close(fd);
	CHECK_U64(symfile_open(&f, "", file, NULL, 0, &e), 0);
	CHECK_STR(symfile_symbol_source(f), ".dynsym");
	check_symbol(f, 0x1d2, "shown", 0x1d0, 0x12);
	check_symbol(f, 0x1c2, "linked.so+0x1c0", 0x1c0, 5);
	symfile_close(f);
	clean_up();
	free(file);
	free(debug);
}

TEST(symfile_links_below_a_root_stay_below_it)
{
	char *lib, *file, *sub, *link;
	struct symfile *f;
	struct err e;

	CHECK(mkdtemp(dir));
	lib = in_dir("lib");
	sub = in_dir("lib/real");
	file = in_dir("lib/real/x.so");
	link = in_dir("lib/x.so");
	CHECK(!mkdir(lib, 0700) && !mkdir(sub, 0700));
	copy_file(tiny[0], file);
	CHECK(!symlink("/lib/real/x.so", link));
	if (syscall(SYS_openat2, -1, "", NULL, 0) < 0 && errno == ENOSYS)
		unit_skip("this kernel cannot look up names below a root");
	CHECK_U64(symfile_open(&f, dir, "/lib/x.so", NULL, 0, &e), 0);
	if (f)
		check_symbol(f, 0x330, "f", 0x330, 0x52);
	symfile_close(f);
	CHECK_U64(-symfile_open(&f, dir, "/lib/none.so", NULL, 0, &e), ENOENT);
	clean_up();
	free(lib);
	free(sub);
	free(file);
	free(link);
}

TEST(symfile_open_says_what_is_wrong)
{
	uint8_t id[20] = { 1, 2, 3 };
	struct symfile *f;
	struct err e;

	CHECK_U64(-symfile_open(&f, "", "/nonexistent/x.so", NULL, 0, &e), ENOENT);
	CHECK(strstr(e.msg, "/nonexistent/x.so"));
	CHECK_U64(-symfile_open(&f, "", unit_source("Makefile"), NULL, 0, &e), ENOEXEC);
	CHECK(strstr(e.msg, "not an ELF file"));
	CHECK_U64(-symfile_open(&f, "", "/tmp", NULL, 0, &e), EINVAL);
	CHECK_U64(-symfile_open(&f, "", unit_source(tiny[0]), id, sizeof(id), &e), ESTALE);
	CHECK(!f);
}

TEST(symfile_build_id_is_found_and_wanted)
{
	struct symfile *f = open_source(tiny[0]), *again;
	struct err e;
	size_t len;
	const uint8_t *id = symfile_build_id(f, &len);

	CHECK_U64(len, 20);
	CHECK_U64(symfile_open(&again, "", unit_source(tiny[0]), id, len, &e), 0);
	symfile_close(again);
	symfile_close(f);
}

static void check_level(const struct srcline *l, const char *func, const char *file, uint32_t line)
{
	CHECK_STR(l->func, func);
	CHECK_STR(l->file, file);
	CHECK_U64(l->line, line);
}

static void check_lines_of_tiny(struct symfile *f, uint64_t in_twice, uint64_t in_f, uint64_t outside)
{
	struct srcline l[8];

	CHECK_U64(symfile_lines(f, in_twice, l, 8), 3);
	check_level(&l[0], "twice", "/src/tiny.c", 2);
	check_level(&l[1], "more", "/src/tiny.c", 3);
	check_level(&l[2], NULL, "/src/tiny.c", 4);
	CHECK_U64(symfile_lines(f, in_twice, l, 2), 2);
	check_level(&l[1], "more", "/src/tiny.c", 3);
	CHECK_U64(symfile_lines(f, in_f, l, 8), 1);
	check_level(&l[0], NULL, "/src/tiny.c", 4);
	CHECK_U64(symfile_lines(f, outside, l, 8), 0);
}

TEST(symfile_lines_and_inlined_calls_of_dwarf_5)
{
	struct symfile *f = open_source(tiny[0]);

	check_lines_of_tiny(f, 0x370, 0x34d, 0x300);
	symfile_close(f);
}

TEST(symfile_lines_and_inlined_calls_of_compressed_dwarf_4)
{
	struct symfile *f = open_source(tiny[1]);

	check_lines_of_tiny(f, 0x330, 0x30d, 0x2c0);
	symfile_close(f);
}

/* All sections that become smaller by it are, not the others. */
TEST(symfile_lines_and_inlined_calls_of_dwarf_5_compressed_by_zstd)
{
	struct symfile *f = open_source("t/fuzz/corpus/elf/tiny-dwarf5-zstd.so");

#ifdef HAVE_ZSTD
	check_lines_of_tiny(f, 0x370, 0x34d, 0x300);
	CHECK_STR(symfile_lines_source(f), "DWARF");
#else
	CHECK_STR(symfile_lines_source(f), "DWARF compressed in a way that is not built in (arcprof version)");
#endif
	symfile_close(f);
}

TEST(symfile_lines_of_a_debug_file)
{
	struct symfile *f = open_source("t/data/elf/linked.so");
	struct srcline l[4];

	CHECK_U64(symfile_lines(f, 0x1c0, l, 4), 1);
	check_level(&l[0], NULL, "/src/linked.c", 1);
	symfile_close(f);
}

TEST(symfile_offsets_and_addresses_translate_both_ways)
{
	struct symfile *f = NULL;
	struct err e;
	uint64_t off, nr = 0;

	CHECK_U64(symfile_open(&f, "", "/proc/self/exe", NULL, 0, &e), 0);
	for (off = 0; off < 1 << 24; off += 4093) {
		uint64_t vaddr = symfile_off_to_vaddr(f, off);

		if (vaddr == UINT64_MAX)
			continue;
		nr++;
		CHECK_U64(symfile_vaddr_to_off(f, vaddr), off);
	}
	CHECK(nr > 100);
	CHECK_U64(symfile_vaddr_to_off(f, UINT64_MAX - 5), UINT64_MAX);
	symfile_close(f);
}

/* Asks everything there is to ask. */
static void ask_all(struct symfile *f)
{
	struct unwind_module *m = unwind_module_new(f);
	struct srcline l[8];
	struct symbol s;
	uint64_t off;

	symfile_symbol_source(f);
	symfile_exported(f, "f", &off);
	for (off = 0; off < 8192; off += 31) {
		symfile_symbol(f, off, &s);
		symfile_lines(f, off, l, 8);
		module_row(m, off);
	}
	unwind_module_free(m);
	symfile_close(f);
}

/* The file's "f" as a variable, which it exports. */
TEST(symfile_where_a_variable_is_that_a_file_exports)
{
	const struct image_section *dyn;
	struct buf b = BUF_INIT;
	struct symfile *f;
	struct err e = { 0 };
	uint64_t vaddr, off;
	Elf64_Sym s;

	CHECK_U64(io_read_file(unit_source("t/fuzz/corpus/elf/tiny-plain.so"), &b, 1 << 20, &e), 0);
	CHECK_U64(symfile_open_memory(&f, b.data, b.len, "made-up", &e), 0);
	CHECK(!symfile_exported(f, "f", &vaddr));	/* a function */
	dyn = image_section(symfile_image(f), ".dynsym");
	for (off = dyn->off; off < dyn->off + dyn->size; off += sizeof(s)) {
		memcpy(&s, b.data + off, sizeof(s));
		s.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
		memcpy(b.data + off, &s, sizeof(s));
	}
	CHECK(symfile_exported(f, "f", &vaddr));
	CHECK_U64(vaddr, 0x330);
	CHECK(!symfile_exported(f, "", &vaddr) && !symfile_exported(f, "ff", &vaddr));
	symfile_close(f);
	buf_release(&b);
}

TEST(symfile_bears_every_truncation)
{
	struct buf b = BUF_INIT;
	struct symfile *f;
	struct err e;
	size_t i, len;

	for (i = 0; i < ARRAY_SIZE(tiny); i++) {
		buf_reset(&b);
		CHECK_U64(io_read_file(unit_source(tiny[i]), &b, 1 << 20, &e), 0);
		for (len = 0; len < b.len; len += (1 + len % 3) * UNIT_STRIDE) {
			uint8_t *copy = xmalloc(len);

			memcpy(copy, b.data, len);
			if (!symfile_open_memory(&f, copy, len, "cut", &e))
				ask_all(f);
			free(copy);
		}
	}
	buf_release(&b);
}

TEST(symfile_bears_a_file_cut_while_it_is_open)
{
	size_t i, len;
	char *file;

	CHECK(mkdtemp(dir));
	file = in_dir("cut.so");
	for (i = 0; i < ARRAY_SIZE(tiny); i++) {
		for (len = 0; len < 6000; len += 513) {
			struct symfile *f;
			struct err e;

			copy_file(tiny[i], file);
			CHECK_U64(symfile_open(&f, "", file, NULL, 0, &e), 0);
			CHECK(!truncate(file, len));
			ask_all(f);
		}
	}
	clean_up();
	free(file);
}

/* ---- of files that are mapped, and cannot be opened ---- */

struct mapping {
	char path[PATH_MAX];
	uint64_t inode;
	uint8_t *at;
	size_t len;
};

/* All of the file in one mapping, whose bytes can be changed without changing it. */
static void map_source(struct mapping *m, const char *path)
{
	uint64_t from = 1, to = 0;
	struct iovec local = { &to, sizeof(to) }, remote = { &from, sizeof(from) };
	int fd = open(unit_source(path), O_RDONLY);
	struct stat st;

	if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) != sizeof(to))
		unit_skip("no memory of processes can be read here");
	CHECK(fd >= 0 && !fstat(fd, &st) && realpath(unit_source(path), m->path));
	m->inode = st.st_ino;
	m->len = st.st_size;
	m->at = mmap(NULL, m->len, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	CHECK(m->at != MAP_FAILED);
	close(fd);
}

static struct symfile *open_mapping(const struct mapping *m, struct err *e)
{
	struct symfile *f = NULL;
	int fd = mapped_open(getpid(), m->inode, m->path, e);

	if (fd < 0)
		return NULL;
	if (symfile_open_fd(&f, fd, "", m->path, e))
		f = NULL;
	close(fd);
	return f;
}

TEST(symfile_what_is_mapped_has_the_exported_symbols)
{
	struct mapping m;
	struct symfile *f;
	struct err e = { 0 };

	map_source(&m, "t/fuzz/corpus/elf/tiny-plain.so");
	f = open_mapping(&m, &e);
	CHECK_STR(e.msg, "");
	if (f) {
		check_symbol(f, 0x330, "f", 0x330, 0x52);
		check_symbol(f, 0x390, "g", 0x390, 0x41);
		CHECK_STR(symfile_symbol_source(f), ".dynsym");
		symfile_close(f);
	}
	CHECK(mapped_open(getpid(), m.inode + 1, m.path, &e) < 0);
	CHECK(mapped_open(getpid(), m.inode, "/nowhere", &e) < 0);
	munmap(m.at, m.len);
}

TEST(symfile_what_is_mapped_may_be_anything)
{
	struct mapping m;
	struct symbol s;
	uint64_t seed = 1;
	int i, k;

	map_source(&m, "t/fuzz/corpus/elf/tiny-plain.so");
	for (i = 0; i < 2000; i++) {
		uint8_t was[4];
		size_t at[4];
		struct symfile *f;
		struct err e;

		for (k = 0; k < 4; k++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			at[k] = (seed >> 33) % m.len;
			was[k] = m.at[at[k]];
			m.at[at[k]] = seed >> 24;
		}
		f = open_mapping(&m, &e);
		if (f) {
			symfile_symbol(f, 0x330, &s);
			symfile_close(f);
		}
		for (k = 4; k--;)
			m.at[at[k]] = was[k];
	}
	munmap(m.at, m.len);
}
