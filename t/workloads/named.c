// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * named.c - makes code at run time and names it in a file for profilers, as other runtimes do: "first one"
 * runs for a while, then "second" in its place, then "third" in another place. Prints the path of the file.
 *
 *	named <how> <milliseconds of CPU time for each>
 *		map		in /tmp/perf-PID.map, each as it is made; the file is removed at the end
 *		late		the same at the end, and the file is left
 *		link		as map, but that is a link to named.map of this folder
 *		rewrite		the map is written anew for each, and has what is there by then
 *		dump		in jit-PID.dump of this folder, with lines: 10 of one.src, for the loop 11
 *				(of "third" 7 of two.src); "third" is described elsewhere and moved
 *		dump-late	the same, written at the end
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Counts its argument down to 0. */
#ifdef __x86_64__
/* dec rdi; jnz; ret */
static const uint8_t code[] = { 0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3 };
#else
/* subs x0, x0, 1; b.ne; ret */
static const uint32_t code[] = { 0xf1000400, 0x54ffffe1, 0xd65f03c0 };
#endif

static const struct {
	const char *name;
	unsigned int at;
} codes[] = { { "first one", 0 }, { "second", 0 }, { "third", 512 } };

enum { NR = sizeof(codes) / sizeof(codes[0]) };

static char path[64];
static FILE *file;
static uint8_t *memory;

static void write_map(int i)
{
	fprintf(file, "%llx %zx %s\n", (unsigned long long)(uintptr_t)(memory + codes[i].at), sizeof(code),
		codes[i].name);
	fflush(file);
}

enum { LOAD, MOVE, LINES, CLOSE };

static void put(const void *p, size_t len)
{
	fwrite(p, 1, len, file);
}

static void put32(uint32_t v)
{
	put(&v, sizeof(v));
}

static void put64(uint64_t v)
{
	put(&v, sizeof(v));
}

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void begin_record(uint32_t id, size_t len, uint64_t time_ns)
{
	put32(id);
	put32(16 + len);
	put64(time_ns);
}

/* The page that is mapped says where the file is. */
static int begin_dump(void)
{
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(file), 0) == MAP_FAILED)
		return -1;
	put32(0x4a695444);
	put32(1);
	put32(40);
	put32(62);
	put32(0);
	put32(getpid());
	put64(now());
	put64(0);
	fflush(file);
	return 0;
}

static void write_dump(int i, uint64_t time_ns)
{
	static const char one[] = "one.src", same[] = "\xff", two[] = "two.src";
	const char *name = codes[i].name, *second = i == 2 ? two : same;
	size_t len = i == 2 ? sizeof(two) : sizeof(same);
	uint64_t at = (uintptr_t)memory + codes[i].at, described = i == 2 ? at + 1024 : at;

	begin_record(LINES, 16 + 2 * 16 + sizeof(one) + len, time_ns);
	put64(described);
	put64(2);
	put64(described);
	put32(10);
	put32(0);
	put(one, sizeof(one));
	put64(described + 3);	/* jnz; b.ne is one byte behind */
	put32(i == 2 ? 7 : 11);
	put32(0);
	put(second, len);
	begin_record(LOAD, 40 + strlen(name) + 1 + sizeof(code), time_ns);
	put32(getpid());
	put32(getpid());
	put64(described);
	put64(described);
	put64(sizeof(code));
	put64(i);
	put(name, strlen(name) + 1);
	put(code, sizeof(code));
	if (described != at) {
		begin_record(MOVE, 48, time_ns);
		put32(getpid());
		put32(getpid());
		put64(at);
		put64(described);
		put64(at);
		put64(sizeof(code));
		put64(i);
	}
	fflush(file);
}

static void run(int i, int ms)
{
	void (*count_down)(uint64_t);
	struct timespec ts, end;
	uint8_t *at = memory + codes[i].at;

	memcpy(at, code, sizeof(code));
	__builtin___clear_cache((char *)at, (char *)at + sizeof(code));
	memcpy(&count_down, &at, sizeof(at));
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
	end.tv_sec += ms / 1000;
	end.tv_nsec += ms % 1000 * 1000000;
	do {
		count_down(100000);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	} while ((ts.tv_sec - end.tv_sec) * 1000000000ll + ts.tv_nsec - end.tv_nsec < 0);
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[1] : "";
	int ms = argc > 2 ? atoi(argv[2]) : 0, dump = !strncmp(how, "dump", 4), late = !!strstr(how, "late"), i;
	uint64_t times[NR];
	char real[4096 + 16];

	memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	snprintf(path, sizeof(path), dump ? "jit-%d.dump" : "/tmp/perf-%d.map", (int)getpid());
	if (!strcmp(how, "link") && symlink(realpath(".", real) && strcat(real, "/named.map") ? real : "", path))
		return 1;
	file = fopen(path, "w+");
	if (memory == MAP_FAILED || !file || !ms || (dump && begin_dump()))
		return 1;
	printf("%s\n", path);
	fflush(stdout);
	for (i = 0; i < NR; i++) {
		if (!strcmp(how, "rewrite"))
			file = freopen(path, "w", file);
		times[i] = now();
		if (!late)
			dump ? write_dump(i, times[i]) : write_map(i);
		if (i == 2 && !strcmp(how, "rewrite"))
			write_map(1);
		run(i, ms);
	}
	for (i = 0; late && i < NR; i++)
		dump ? write_dump(i, times[i]) : write_map(i);
	if (dump)
		begin_record(CLOSE, 0, now());
	fclose(file);
	return !strcmp(how, "map") ? unlink(path) : 0;
}
