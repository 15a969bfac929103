// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * insnq.c - lengths and branch kinds of the instructions objdump shows: reads its lines
 * ("address: bytes text"), says what differs.  With an argument, of A64 code.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/insn.h"

static bool is_one_of(const char *word, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(word, *list))
			return true;
	return false;
}

static const char *const x86_prefixes[] = { "bnd", "notrack", "rep", "repz", "repnz", "lock", "data16", "addr32", "cs",
					    "ds", "es", "fs", "gs", "ss", "repe", "repne", "xacquire", "xrelease", NULL };

/* The kind that objdump's mnemonic means; operands tell indirect ones ("*%rax"). */
static int kind_x86(const char *word, const char *rest)
{
	static const char *const traps[] = { "int3", "int", "int1", "icebp", "ud2", "ud1", "ud0", NULL };
	static const char *const conds[] = { "loop", "loope", "loopne", "xbegin", "jrcxz", "jecxz", NULL };
	static const char *const irets[] = { "iret", "iretq", "iretw", "sysret", "sysretl", "sysretq", "sysexit",
					     "sysexitl", "sysexitq", "sysretd", NULL };
	bool indirect = rest[strspn(rest, " \t")] == '*';

	if (!strncmp(word, "call", 4) || !strcmp(word, "lcall"))
		return indirect ? INSN_CALL_INDIRECT : INSN_CALL;
	if (!strncmp(word, "jmp", 3) || !strcmp(word, "ljmp"))
		return indirect ? INSN_JUMP_INDIRECT : INSN_JUMP;
	if (!strcmp(word, "ret") || !strcmp(word, "retq") || !strcmp(word, "retw") ||
	    !strncmp(word, "lret", 4))
		return INSN_RETURN;
	if (is_one_of(word, traps))
		return INSN_TRAP;
	if (is_one_of(word, irets))
		return INSN_IRET;
	if (!strcmp(word, "syscall") || !strcmp(word, "sysenter"))
		return INSN_SYSCALL;
	return word[0] == 'j' || is_one_of(word, conds) ? INSN_COND : INSN_PLAIN;
}

static int kind_arm64(const char *word, const char *rest)
{
	static const char *const conds[] = { "cbz", "cbnz", "tbz", "tbnz", NULL };
	static const char *const traps[] = { "brk", "hlt", "udf", "hvc", "smc", "dcps1", "dcps2", "dcps3",
		NULL };

	if (!strcmp(word, "b"))
		return INSN_JUMP;
	if (!strcmp(word, "bl"))
		return INSN_CALL;
	if (!strncmp(word, "blr", 3))
		return INSN_CALL_INDIRECT;
	if (!strncmp(word, "br", 2) && strcmp(word, "brk"))
		return INSN_JUMP_INDIRECT;
	if (!strncmp(word, "ret", 3))
		return INSN_RETURN;
	if (!strncmp(word, "eret", 4) || !strcmp(word, "drps"))
		return INSN_IRET;
	if (!strcmp(word, "svc"))
		return INSN_SYSCALL;
	if (is_one_of(word, traps))
		return INSN_TRAP;
	return !strncmp(word, "b.", 2) || !strncmp(word, "bc.", 3) || is_one_of(word, conds) ? INSN_COND :
		INSN_PLAIN;
}

/* First word of the text that is not a prefix; *rest is what follows it. */
static char *mnemonic(char *text, char **rest)
{
	char *word = strtok_r(text, " \t\n", rest);

	while (word && (is_one_of(word, x86_prefixes) || !strncmp(word, "rex", 3) || strstr(word, ",p")))
		word = strtok_r(NULL, " \t\n", rest);
	if (word && strchr(word, ','))		/* jne,pn: a hint */
		*strchr(word, ',') = '\0';
	return word;
}

/* The target as objdump prints it; 0: none. */
static unsigned long target_of(const char *rest)
{
	const char *hex = strrchr(rest, ',');
	char *end;
	unsigned long v = strtoul(hex ? hex + 1 : rest, &end, 16);

	return *end == ' ' || *end == '\n' || !*end ? v : 0;
}

static size_t code_bytes(const char *p, const char *text, bool arm64, uint8_t *code)
{
	size_t n = 0;

	if (arm64) {
		uint32_t w = strtoul(p, NULL, 16);

		memcpy(code, &w, 4);
		return 4;
	}
	for (; n < 15 && p + 2 < text && p[0] != ' '; p += 3)
		code[n++] = (uint8_t)strtoul(p, NULL, 16);
	return n;
}

int main(int argc, char **argv)
{
	bool arm64 = argc > 1;
	char line[1024], shown[1024];
	unsigned long nr = 0, bad = 0, nr_kind[INSN_NR] = { 0 };
	int k;

	while (fgets(line, sizeof(line), stdin)) {
		uint8_t code[16] = { 0 };
		struct insn in;
		char *p = strstr(line, ":\t"), *text = p ? strchr(p + 2, '\t') : NULL, *word, *rest = "";
		unsigned long addr = strtoul(line, NULL, 16), target;
		bool ok;
		size_t n;
		int want;

		if (!text || strstr(line, "(bad)") || strstr(line, ".inst") || strstr(line, ".word"))
			continue;
		strcpy(shown, line);
		n = code_bytes(p + 2, text, arm64, code);
		word = mnemonic(text + 1, &rest);
		want = !word ? INSN_PLAIN : arm64 ? kind_arm64(word, rest) : kind_x86(word, rest);
		nr++;
		ok = (arm64 ? insn_decode_arm64 : insn_decode_x86)(code, n, &in) && in.len == n &&
			in.kind == want;
		target = ok && in.direct ? target_of(rest) : 0;
		ok &= !target || target == addr + in.rel;
		nr_kind[in.kind]++;
		if (!ok && bad++ < 20)
			printf("length %u kind %u (want %d) to %lx: %s", in.len, in.kind, want, addr + in.rel,
			       shown);
	}
	for (k = INSN_CALL; k < INSN_NR; k++)
		printf("kind %d: %lu\n", k, nr_kind[k]);
	printf("%lu instructions, %lu differ\n", nr, bad);
	return bad || !nr;
}
