// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kbranch.c - the kernel module's decoder of branches against objdump.
 *
 * usage: objdump -d -w --insn-width=15 PROGRAM... | kbranch
 *
 * Each instruction is followed by bytes that must not matter.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../../kmod/branch.c"

enum { NR_KINDS = ARCPROF_BRANCH_COND + 1 };

static const char *const kind_names[NR_KINDS] = {
	[ARCPROF_BRANCH_CALL] = "call",		 [ARCPROF_BRANCH_RETURN] = "ret",
	[ARCPROF_BRANCH_JUMP] = "jmp",		 [ARCPROF_BRANCH_CALL_INDIRECT] = "call *",
	[ARCPROF_BRANCH_JUMP_INDIRECT] = "jmp *", [ARCPROF_BRANCH_COND] = "cond",
};

/* What objdump's words say of it; -1: no branch. */
static int kind_by_name(const char *text)
{
	static const char *const prefixes[] = { "bnd ", "notrack ", "data16 ", "cs ", "ds ", "rex.W ",
		"repz ", "repnz " };
	bool again = true;

	while (again) {
		again = false;
		for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
			if (!strncmp(text, prefixes[i], strlen(prefixes[i]))) {
				text += strlen(prefixes[i]);
				again = true;
			}
		while (*text == ' ')
			text++;
	}
	if (!strncmp(text, "call", 4) || !strncmp(text, "lcall", 5))
		return strstr(text, " *") ? ARCPROF_BRANCH_CALL_INDIRECT : ARCPROF_BRANCH_CALL;
	if (!strncmp(text, "jmp", 3) || !strncmp(text, "ljmp", 4))
		return strstr(text, " *") ? ARCPROF_BRANCH_JUMP_INDIRECT : ARCPROF_BRANCH_JUMP;
	if (!strncmp(text, "ret", 3) || !strncmp(text, "lret", 4))
		return ARCPROF_BRANCH_RETURN;
	if (text[0] == 'j' || !strncmp(text, "loop", 4) || !strncmp(text, "xbegin", 6))
		return ARCPROF_BRANCH_COND;
	return -1;
}

/* The class objdump's words give to what is not a branch. */
static int class_by_name(const char *text)
{
	if (!strncmp(text, "syscall", 7) || !strncmp(text, "int    $0x80", 12))
		return CLASS_SYSCALL;
	if (!strncmp(text, "int3", 4) || !strncmp(text, "int1", 4) || !strncmp(text, "icebp", 5) ||
	    !strncmp(text, "int ", 4))
		return CLASS_TRAP;
	if (!strncmp(text, "pushf", 5))
		return CLASS_PUSHF;
	if (!strncmp(text, "rep", 3)) {
		const char *op = strchr(text, ' ');

		while (op && *op == ' ')
			op++;
		if (op && (!strncmp(op, "movs", 4) || !strncmp(op, "stos", 4) || !strncmp(op, "cmps", 4) ||
			   !strncmp(op, "scas", 4) || !strncmp(op, "lods", 4)))
			return CLASS_REPEATED;
	}
	return CLASS_PLAIN;
}

static bool check(const __u8 *code, unsigned int len, const char *text)
{
	struct branch_insn in = branch_decode(code, 15);
	int kind = kind_by_name(text);

	if (kind >= 0)
		return in.cls == CLASS_BRANCH && in.kind == kind && in.len == len;
	return in.cls == class_by_name(text) || (in.cls == CLASS_IRET && strstr(text, "iret"));
}

int main(void)
{
	uint64_t nr = 0, nr_kind[NR_KINDS] = { 0 }, nr_bad = 0;
	char line[4096];

	while (fgets(line, sizeof(line), stdin)) {
		__u8 code[32];
		unsigned int len = 0, value;
		char *p = strchr(line, ':'), *text;
		int n, kind;

		if (line[0] != ' ' || !p)
			continue;
		memset(code, 0xcc, sizeof(code));
		for (p++; len < 15 && sscanf(p, " %2x%n", &value, &n) == 1 &&
		     (isspace(p[n]) || !p[n]); p += n)
			code[len++] = value;
		text = p + strspn(p, " \t");
		if (!len || strstr(text, "(bad)") || !*text || *text == '\n')
			continue;
		nr++;
		kind = kind_by_name(text);
		if (kind >= 0)
			nr_kind[kind]++;
		if (!check(code, len, text) && ++nr_bad <= 20)
			fputs(line, stdout);
	}
	for (int k = 0; k < NR_KINDS; k++)
		if (kind_names[k])
			printf("%" PRIu64 " %s\n", nr_kind[k], kind_names[k]);
	printf("%" PRIu64 " instructions, %" PRIu64 " are not what objdump says\n", nr, nr_bad);
	return nr_bad || !nr;
}
