// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ksym_bpf.c - BPF programs of the type that is run by a system call. One has an address as its
 * argument: bpf_snprintf() writes what "%pS" says of it into a map that is mapped here. The other
 * has a name, behind which it puts the address.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "sym/kallsyms.h"

enum {
	TEXT_BYTES = 1024,	/* the kernel's longest: KSYM_SYMBOL_LEN, below 700 */
	NAME_BYTES = 64,	/* of a function that is asked for */
};

struct ksym_bpf {
	int prog, by_name;	/* by_name: -1 until it is used */
	char *text;		/* mapped: what the program wrote last */
	char copy[TEXT_BYTES];
};

#define INSN(c, d, s, o, i) { .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) }
/* A map's value takes two instructions. */
#define INSN_MAP_VALUE(d, fd) INSN(BPF_LD | BPF_IMM | BPF_DW, d, BPF_PSEUDO_MAP_VALUE, 0, fd), \
	INSN(0, 0, 0, 0, 0)

/* Load a program that calls bpf_snprintf(text, TEXT_BYTES, format, (u64[]){ argument }, 8). */
static int load_program(int format, int text)
{
	const struct bpf_insn prog[] = {
		INSN(BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, BPF_REG_1, 0, 0),
		INSN(BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, BPF_REG_1, -8, 0),
		INSN_MAP_VALUE(BPF_REG_1, text),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_2, 0, 0, TEXT_BYTES),
		INSN_MAP_VALUE(BPF_REG_3, format),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_4, BPF_REG_10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_4, 0, 0, -8),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_5, 0, 0, 8),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_snprintf),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .prog_flags = BPF_F_SLEEPABLE);

	return bpf_prog_load(BPF_PROG_TYPE_SYSCALL, "arcprof_ksym", "GPL", prog, ARRAY_SIZE(prog), &opts);
}

/* The argument of the program that looks up names: it is copied there and back. */
struct named {
	char name[NAME_BYTES];
	uint64_t addr;
};

/*
 * Load addr = 0; return bpf_kallsyms_lookup_name(name, NAME_BYTES, 0, &addr), with both on the stack
 * meanwhile.
 */
static int load_by_name(void)
{
	enum { WORDS = NAME_BYTES / 8, ADDR = -NAME_BYTES - 8 };
	struct bpf_insn prog[2 * WORDS + 14];
	unsigned int n = 0, i;
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .prog_flags = BPF_F_SLEEPABLE);

#define ADD(...) (prog[n++] = (struct bpf_insn)INSN(__VA_ARGS__))
	ADD(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_6, BPF_REG_1, 0, 0);
	for (i = 0; i < WORDS; i++) {
		ADD(BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, BPF_REG_6, 8 * i, 0);
		ADD(BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, BPF_REG_1, 8 * i - NAME_BYTES, 0);
	}
	ADD(BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, ADDR, 0);
	ADD(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_1, BPF_REG_10, 0, 0);
	ADD(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_1, 0, 0, -NAME_BYTES);
	ADD(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_2, 0, 0, NAME_BYTES);
	ADD(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_3, 0, 0, 0);
	ADD(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_4, BPF_REG_10, 0, 0);
	ADD(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_4, 0, 0, ADDR);
	ADD(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_kallsyms_lookup_name);
	ADD(BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, BPF_REG_10, ADDR, 0);
	ADD(BPF_STX | BPF_MEM | BPF_DW, BPF_REG_6, BPF_REG_1, NAME_BYTES, 0);
	ADD(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
#undef ADD
	return bpf_prog_load(BPF_PROG_TYPE_SYSCALL, "arcprof_named", "GPL", prog, n, &opts);
}

/* Make the format, which must be a constant of the program: a map that cannot be changed. */
static int make_format(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_RDONLY_PROG);
	const char format[8] = "%pS";
	const uint32_t zero = 0;
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "arcprof_format", sizeof(zero), sizeof(format), 1, &opts);

	if (fd >= 0 && (bpf_map_update_elem(fd, &zero, format, BPF_ANY) || bpf_map_freeze(fd))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static void *map_text(int fd)
{
	void *p = mmap(NULL, TEXT_BYTES, PROT_READ, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

struct ksym_bpf *ksym_bpf_open(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	struct ksym_bpf *b = xcalloc(1, sizeof(*b));
	int format = make_format(), text = -1;

	b->prog = b->by_name = -1;
	if (format >= 0)
		text = bpf_map_create(BPF_MAP_TYPE_ARRAY, "arcprof_text", sizeof(uint32_t), TEXT_BYTES, 1,
				      &opts);
	if (text >= 0)
		b->text = map_text(text);
	if (b->text)
		b->prog = load_program(format, text);
	if (format >= 0)
		close(format);
	if (text >= 0)
		close(text);	/* the program and the mapping hold it */
	if (b->prog >= 0)
		return b;
	ksym_bpf_close(b);
	return NULL;
}

void ksym_bpf_close(struct ksym_bpf *b)
{
	if (!b)
		return;
	if (b->text)
		munmap(b->text, TEXT_BYTES);
	if (b->prog >= 0)
		close(b->prog);
	if (b->by_name >= 0)
		close(b->by_name);
	free(b);
}

bool ksym_bpf_parse(char *text, uint64_t addr, struct ksym *s)
{
	char *plus = strstr(text, "+0x"), *end;
	uint64_t off;

	if (!plus || plus == text)
		return false;
	off = strtoull(plus + 1, &end, 16);
	if (strncmp(end, "/0x", 3))
		return false;
	s->size = strtoull(end + 1, &end, 16);
	if (off >= s->size || off > addr || (*end && strncmp(end, " [", 2)))
		return false;
	*plus = '\0';
	s->name = text;
	s->addr = addr - off;
	s->module = *end ? end + 2 : "";
	end = strchr(s->module, ']');
	if (end)
		*end = '\0';
	return true;
}

bool ksym_bpf_find(struct ksym_bpf *b, uint64_t addr, struct ksym *s)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &addr, .ctx_size_in = sizeof(addr));

	if (bpf_prog_test_run_opts(b->prog, &opts))
		return false;
	memcpy(b->copy, b->text, TEXT_BYTES);
	b->copy[TEXT_BYTES - 1] = '\0';
	return ksym_bpf_parse(b->copy, addr, s);
}

int ksym_bpf_named(struct ksym_bpf *b, const char *name, struct ksym *s)
{
	struct named n = { .addr = 0 };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &n, .ctx_size_in = sizeof(n));
	int r;

	if (strlen(name) >= NAME_BYTES)
		return -ENOENT;
	memcpy(n.name, name, strlen(name));
	if (b->by_name < 0)
		b->by_name = load_by_name();
	if (b->by_name < 0)
		return -EOPNOTSUPP;
	r = bpf_prog_test_run_opts(b->by_name, &opts);
	if (r || (int)opts.retval)
		return r ? -EIO : (int)opts.retval;
	return ksym_bpf_find(b, n.addr, s) && s->addr == n.addr ? 0 : -ENOENT;
}
