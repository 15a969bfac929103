// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * replay.c - runs a fuzz target over files and folders of them, without libFuzzer, and then
 * over mutations of each: so every compiler checks every input that was ever found.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
/* A target's own way to change its inputs. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t len, size_t max_len, unsigned int seed)
	__attribute__((weak));

static unsigned long nr_inputs;
static unsigned long nr_mutations;
static uint64_t seed = 0x9e3779b97f4a7c15ull;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

/* FUZZ_KEEP=<file> has the latest input: after a crash, the one that did it. */
static void keep(const uint8_t *data, size_t len)
{
	const char *path = getenv("FUZZ_KEEP");
	FILE *f = path ? fopen(path, "w") : NULL;

	if (f) {
		fwrite(data, 1, len, f);
		fclose(f);
	}
}

static void one_input(const uint8_t *data, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);	/* exact size: ASan sees an overrun by one */

	memcpy(copy, data, len);
	keep(data, len);
	LLVMFuzzerTestOneInput(copy, len);
	free(copy);
	nr_inputs++;
}

static void mutate(const struct buf *b)
{
	size_t room = 2 * b->len + (256 << 10);
	unsigned long i;

	for (i = 0; i < nr_mutations && b->len; i++) {
		size_t len = next_random() % 4 ? b->len : next_random() % (b->len + 1);
		uint8_t *copy = malloc(b->len);
		size_t hits = next_random() % 8;

		memcpy(copy, b->data, b->len);
		if (LLVMFuzzerCustomMutator) {
			copy = realloc(copy, room);
			len = LLVMFuzzerCustomMutator(copy, b->len, room, next_random() >> 11);
			hits = 0;
		}
		while (hits--)
			copy[next_random() % b->len] = next_random() >> 13;
		one_input(copy, len);
		free(copy);
	}
}

static int one_path(const char *path)
{
	struct buf b = BUF_INIT;
	struct stat st;
	struct err e;
	struct dirent *d;
	DIR *dir;
	char name[4096];

	if (stat(path, &st) < 0)
		return 0;
	if (S_ISDIR(st.st_mode)) {
		dir = opendir(path);
		while (dir && (d = readdir(dir))) {
			if (d->d_name[0] == '.')
				continue;
			snprintf(name, sizeof(name), "%s/%s", path, d->d_name);
			one_path(name);
		}
		if (dir)
			closedir(dir);
		return 0;
	}
	if (!io_read_file(path, &b, 1 << 26, &e)) {
		one_input((const uint8_t *)b.data, b.len);
		mutate(&b);
	}
	buf_release(&b);
	return 0;
}

int main(int argc, char **argv)
{
	FILE *out = stdout;	/* a target may make its own nowhere */
	int i;

	if (getenv("FUZZ_SEED"))
		seed ^= strtoull(getenv("FUZZ_SEED"), NULL, 0) << 20;
	nr_mutations = getenv("FUZZ_MUTATIONS") ? strtoul(getenv("FUZZ_MUTATIONS"), NULL, 0) : 500;
	one_input((const uint8_t *)"", 0);
	for (i = 1; i < argc; i++)
		one_path(argv[i]);
	fprintf(out, "%s: %lu inputs, no crash\n", argv[0], nr_inputs);
	return fflush(out) ? 1 : 0;
}
