// SPDX-License-Identifier: GPL-2.0-or-later
/* near.c - finds the known word nearest to a mistyped one (near.h). */
#include <string.h>

#include "base/mem.h"
#include "base/near.h"

enum { WORD_MAX = 40 };		/* longer words have no near neighbour */

struct near near_init(const char *word)
{
	return (struct near){ .word = word };
}

/*
 * Return how many edits (insert, delete, replace, swap of neighbours) turn a into b: the optimal string
 * alignment distance, with three rows of the usual table at a time.
 */
static unsigned int edit_distance(const char *a, size_t len_a, const char *b, size_t len_b)
{
	unsigned int row[3][WORD_MAX + 1];
	size_t i, j;

	for (j = 0; j <= len_b; j++)
		row[0][j] = j;
	for (i = 1; i <= len_a; i++) {
		unsigned int *cur = row[i % 3], *prev = row[(i + 2) % 3], *prev2 = row[(i + 1) % 3];

		cur[0] = i;
		for (j = 1; j <= len_b; j++) {
			unsigned int best = prev[j - 1] + (a[i - 1] != b[j - 1]);

			best = MIN(best, prev[j] + 1);
			best = MIN(best, cur[j - 1] + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				best = MIN(best, prev2[j - 2] + 1);
			cur[j] = best;
		}
	}
	return row[len_a % 3][len_b];
}

void near_try(struct near *n, const char *candidate)
{
	size_t len = strlen(n->word), len_c = strlen(candidate);
	unsigned int d;

	if (!len || len > WORD_MAX || len_c > WORD_MAX)
		return;
	d = edit_distance(n->word, len, candidate, len_c);
	/*
	 * The beginning of a word is near to it, and a longer form of it is, but less near than a typing
	 * error.
	 */
	if ((len >= 2 && len < len_c && !strncmp(n->word, candidate, len)) ||
	    (len_c >= 4 && len_c < len && !strncmp(n->word, candidate, len_c)))
		d = MIN(d, 2);
	else if (d > (len < 3 ? 1 : len < 6 ? 2 : 3) || d >= MAX(len, len_c))
		return;
	if (!n->best || d < n->distance) {
		n->best = candidate;
		n->distance = d;
	}
}
