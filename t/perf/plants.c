// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * plants.c - the same work in each run, but for one function: difference.sh compares recordings of it. Prints
 * the CPU time of score(), which is the truth, and of all.
 *
 *	plants <rounds of score()> <units> [new|gone]	validate() is new, or audit() is gone
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

static volatile uint64_t sink;
static uint64_t seed = 88172645463325252ull;

APART static uint64_t draw(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

static int compare(const void *p, const void *q)
{
	uint64_t a = *(const uint64_t *)p, b = *(const uint64_t *)q;

	return a < b ? -1 : a > b;
}

APART static uint64_t sort_numbers(void)
{
	static uint64_t list[900];
	size_t i;

	for (i = 0; i < 900; i++)
		list[i] = draw();
	qsort(list, 900, sizeof(*list), compare);
	return list[450];
}

struct word {
	struct word *next;
	char text[24];
};

APART static uint64_t hash(const char *s)
{
	uint64_t h = 14695981039346656037ull;

	while (*s)
		h = (h ^ (uint8_t)*s++) * 1099511628211ull;
	return h;
}

APART static struct word *find(struct word **slots, const char *text)
{
	struct word *w = slots[hash(text) % 512];

	while (w && strcmp(w->text, text) != 0)
		w = w->next;
	return w;
}

APART static uint64_t count_words(void)
{
	struct word *slots[512] = { NULL }, *w, *next;
	uint64_t nr = 0;
	char text[24];
	int i;

	for (i = 0; i < 700; i++) {
		snprintf(text, sizeof(text), "word-%u", (unsigned int)(draw() % 300));
		if (find(slots, text))
			continue;
		w = malloc(sizeof(*w));
		memcpy(w->text, text, sizeof(text));
		w->next = slots[hash(text) % 512];
		slots[hash(text) % 512] = w;
		nr++;
	}
	for (i = 0; i < 512; i++)
		for (w = slots[i]; w; w = next) {
			next = w->next;
			free(w);
		}
	return nr;
}

APART static double multiply(void)
{
	static double a[40][40], b[40][40], c[40][40];
	int i, k, n;

	for (i = 0; i < 40; i++)
		for (k = 0; k < 40; k++) {
			a[i][k] = i + k;
			b[i][k] = i - k;
			for (c[i][k] = n = 0; n < 40; n++)
				c[i][k] += a[i][n] * b[n][k];
		}
	return c[7][9];
}

APART static double waves(void)
{
	double sum = 0;
	int i;

	for (i = 0; i < 900; i++)
		sum += sin(i * .01) * exp(-i * .001);
	return sum;
}

APART static uint64_t format(void)
{
	char text[64];
	uint64_t len = 0;
	int i;

	for (i = 0; i < 120; i++)
		len += snprintf(text, sizeof(text), "{%d:%.3f,%s}", i, i * .7, "name");
	return len;
}

APART static uint64_t crc(const uint8_t *p, size_t len)
{
	uint32_t c = ~0u;
	int k;

	while (len--)
		for (c ^= *p++, k = 0; k < 8; k++)
			c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
	return ~c;
}

APART static int distance(const char *a, const char *b)
{
	int row[32], n = strlen(b), k, corner, above, best;

	for (k = 0; k <= n; k++)
		row[k] = k;
	for (; *a; a++)
		for (corner = row[0]++, k = 1; k <= n; k++) {
			above = row[k];
			best = corner + (*a != b[k - 1]);
			best = best < above + 1 ? best : above + 1;
			row[k] = best < row[k - 1] + 1 ? best : row[k - 1] + 1;
			corner = above;
		}
	return row[n];
}

APART static uint64_t pipes(const int *fds)
{
	char text[256] = { 0 };
	uint64_t nr = 0;
	int i;

	for (i = 0; i < 12; i++)
		nr += write(fds[1], text, sizeof(text)) + read(fds[0], text, sizeof(text));
	return nr;
}

/* What plants change. */
APART static uint64_t score(const uint32_t *row, int rounds)
{
	uint32_t h = 17;
	int i;

	while (rounds--)
		for (i = 0; i < 64; i++) {
			h = h * 31 + row[i];
			h ^= (h & 7) == 3 ? h >> 11 : 0;
		}
	return h;
}

APART static uint64_t audit(const uint8_t *text, int rounds)
{
	uint64_t h = 1;
	int i;

	while (rounds--)
		for (i = 0; i < 64; i++)
			h += (h ^ text[i]) * 5 + (h >> 33);
	return h;
}

APART static uint64_t validate(const uint8_t *text, int rounds)
{
	uint64_t h = 1;
	int i;

	while (rounds--)
		for (i = 0; i < 64; i++)
			h = (h ^ text[i]) * 0x5851f42d4c957f2dull + (h >> 33);
	return h;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[1]) : 0, units = argc > 2 ? atoi(argv[2]) : 0, i, fds[2];
	const char *plant = argc > 3 ? argv[3] : "";
	uint64_t of_score = 0, start;
	uint32_t row[64] = { 0 };
	uint8_t text[512];

	if (rounds <= 0 || units <= 0 || pipe(fds))
		return 2;
	for (; units; units--) {
		for (i = 0; i < 512; i++)
			text[i] = row[i % 64] += i;
		sink += sort_numbers() + count_words() + multiply() + waves() + format();
		sink += crc(text, 512) + pipes(fds);
		for (i = 0; i < 12; i++)
			sink += distance("widget-12345.x", "gear-7234-bolt");
		start = now_ns();
		sink += score(row, rounds * 10);
		of_score += now_ns() - start;
		if (strcmp(plant, "gone") != 0)
			sink += audit(text, 40);
		if (!strcmp(plant, "new"))
			sink += validate(text, 60);
	}
	printf("%llu %llu\n", (unsigned long long)of_score, (unsigned long long)now_ns());
	return 0;
}
