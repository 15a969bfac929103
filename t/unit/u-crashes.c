// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * u-crashes.c - where a JVM was told to write its error file, and how a process ended that is waited for or
 * not.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/control/crashes.h"
#include "unit.h"

#define WORDS(s) s, sizeof(s) - 1

static bool says(const char *want, const char *args, size_t args_len, const char *vars, size_t vars_len)
{
	char *path = crashes_error_file(args, args_len, vars, vars_len);
	bool same = want ? path && !strcmp(path, want) : !path;

	free(path);
	return same;
}

TEST(crashes_know_where_a_jvm_writes_its_report)
{
	CHECK(says(NULL, NULL, 0, NULL, 0));
	CHECK(says(NULL, WORDS("java\0-XX:ErrorFile=\0Main"), WORDS("A=-XX:ErrorFile=x")));
	CHECK(says("/a b/%p", WORDS("java\0-XX:ErrorFile=/a b/%p\0Main\0"), NULL, 0));
	CHECK(says("2", WORDS("java\0-XX:ErrorFile=1\0-XX:ErrorFile=2"), WORDS("JAVA_TOOL_OPTIONS=-XX:ErrorFile=3")));
	CHECK(says("3", WORDS("java\0"), WORDS("A=1\0JAVA_TOOL_OPTIONS=-Xmx1g -XX:ErrorFile=3 -Xint\0")));
	CHECK(says("4", WORDS("-XX:ErrorFile=1"), WORDS("_JAVA_OPTIONS=\t-XX:ErrorFile=4\0JDK_JAVA_OPTIONS=-XX:ErrorFile=5")));
	CHECK(says(NULL, NULL, 0, WORDS("JAVA_TOOL_OPTIONS")));
}

static bool is_told(const char *want, const char *flags, const char *args, const char *seen)
{
	char *path = crashes_told_file(flags, args, seen ? strdup(seen) : NULL);
	bool same = want ? path && !strcmp(path, want) : !path;

	free(path);
	return same;
}

TEST(crashes_believe_what_a_jvm_says_of_itself)
{
	CHECK(is_told(NULL, "", "", NULL));
	CHECK(is_told("x", "", "", "x"));
	CHECK(is_told("1", "Xint ErrorFile=1 A=2", "-Xmx1g", NULL));
	CHECK(is_told("2", "ErrorFile=1", "-XX:ErrorFile=0 -Dx=-XX:ErrorFile -XX:ErrorFile=2", NULL));
	CHECK(is_told("2", "", "-XX:ErrorFile=2", "1"));
	CHECK(is_told("/a b", "", "-XX:ErrorFile=/a b -Xint", "/a b"));
	CHECK(is_told("1", "", "-XX:ErrorFile=/very/lo...", "1"));
}

static void on_ended(void *ctx, const struct crash *crash)
{
	*(struct crash *)ctx = *crash;
}

static struct crash end_of(int sig)
{
	struct crash last = { .pid = 0 };
	struct crashes s = { 0 };
	int pid = fork(), i;

	if (!pid) {
		pause();
		_exit(0);
	}
	crashes_watch(&s, pid);
	crashes_look(&s, on_ended, &last);
	CHECK(!last.pid && crashes_fd(&s, pid) >= 0);
	kill(pid, sig);
	for (i = 0; i < 10000 && !last.pid; i++) {
		usleep(1000);
		crashes_look(&s, on_ended, &last);
	}
	waitpid(pid, NULL, 0);
	CHECK(last.pid == pid && !last.is_jvm && !last.error_file);
	crashes_release(&s);
	return last;
}

TEST(crashes_see_how_a_process_ended_whose_parent_has_not_asked)
{
	struct crash x = end_of(SIGTERM);

	CHECK(WIFSIGNALED(x.status) && WTERMSIG(x.status) == SIGTERM);
	x = end_of(SIGKILL);
	CHECK(WIFSIGNALED(x.status) && WTERMSIG(x.status) == SIGKILL);
}
