#!/usr/bin/env bash
# native-memory.sh - a pair of malloc() and free() with -e native-memory, against one without, and the libraries
# alone (an LD_PRELOAD that only calls on: what any interposing costs). Minimum of several runs; ns of CPU time.
. "$(dirname "$0")/lib.bash"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit
cat >pairs.c <<'EOF2'
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(void)
{
	const long n = 5000000;
	struct timespec a, b;
	long i;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	for (i = 0; i < n; i++) {
		void *p = malloc(64 + (i & 63));

		__asm__ volatile("" : : "r"(p) : "memory");
		free(p);
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	printf("%.2f\n", ((b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec)) / n);
}
EOF2
cat >floor.c <<'EOF2'
#define _GNU_SOURCE
#include <stddef.h>
extern void *__libc_malloc(size_t);
extern void __libc_free(void *);
void *malloc(size_t n) { return __libc_malloc(n); }
void free(void *p) { __libc_free(p); }
EOF2
gcc -O2 -o pairs pairs.c && gcc -O2 -shared -fPIC -o floor.so floor.c

least() {
	for _ in 1 2 3 4 5 6 7; do "$@"; done | sort -n | head -n 1
}

bare=$(least ./pairs)
floor=$(least env LD_PRELOAD="$dir/floor.so" ./pairs)
echo "without: $bare ns a pair; a library that only calls on: $floor"
for interval in 4M 512k 64k; do
	with=$(least "$ARCPROF" record -q -e native-memory=$interval -o trace ./pairs)
	awk -v i=$interval -v b="$bare" -v w="$with" 'BEGIN {
		printf "%5s: %.2f ns, ratio %.2f; of a program with 10^6 pairs a second x %.4f\n", i, w, w / b,
			1 + (w - b) * 1e-9 * 1e6 }'
done
