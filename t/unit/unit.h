/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit.h - unit tests: a TEST() registers itself in a linker section; unit.c runs each in a
 * child, so that a crash is one failure, and prints TAP.
 *
 *	TEST(strtab_same_bytes_same_id)
 *	{
 *		CHECK_U64(strtab_adds(&t, "a"), strtab_adds(&t, "a"));
 *	}
 */
#ifndef UNIT_H
#define UNIT_H

#include <stdbool.h>
#include <stdint.h>

struct unit_test {
	const char *name;
	void (*run)(void);
};

#define TEST(id)                                                                            \
	static void test_##id(void);                                                        \
	static const struct unit_test entry_##id = { #id, test_##id };                      \
	static const struct unit_test *const ptr_##id                                       \
		__attribute__((used, section("unit_tests"))) = &entry_##id;                 \
	static void test_##id(void)

void unit_check(bool ok, const char *file, int line, const char *expr);
void unit_check_u64(uint64_t got, uint64_t want, const char *file, int line, const char *expr);
void unit_check_str(const char *got, const char *want, const char *file, int line, const char *expr);
void unit_skip(const char *why) __attribute__((noreturn));
/* Skips what the kernel is asked of this process, where that is an emulator which runs it (qemu-user). */
void unit_skip_if_emulated(void);

/* Waits until a thread of this process is blocked in that system call; returns false if not within 30 s. */
bool unit_until_blocked(int tid, long number);

#define CHECK(expr) unit_check(!!(expr), __FILE__, __LINE__, #expr)
#define CHECK_U64(got, want) unit_check_u64((got), (want), __FILE__, __LINE__, #got)
#define CHECK_STR(got, want) unit_check_str((got), (want), __FILE__, __LINE__, #got)

/* Path of a file of the source tree; borrowed until the next call. */
const char *unit_source(const char *path);
/* xorshift generator for property tests; the seed is printed when a test fails. */
uint64_t unit_random(void);
/*
 * With sanitizers, or in an emulator, tests of each position of a file, or of thousands of random ones, take
 * one of so many: they take 20 times as long there. All of them are tested as optimised for this CPU
 * (PLAIN_SRC), and the fuzzers run with sanitizers as well.
 */
#if defined(SANITIZED) || defined(EMULATED)
#define UNIT_SLOW
#define UNIT_STRIDE 13
#else
#define UNIT_STRIDE 1
#endif

#endif
