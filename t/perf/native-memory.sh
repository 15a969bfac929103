#!/usr/bin/env bash
# native-memory.sh - a pair of malloc() and free() with -e native-memory, against one without, and the libraries
# alone (an LD_PRELOAD that only calls on: what any interposing costs); and in a running JVM. Minimum of several
# runs; ns of CPU time.
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

# A running JVM: a pair by Unsafe, before, while and after it is recorded.
. "$TOP/t/java.bash"
home=$(jdks | head -n 1)
[ -n "$home" ] || exit 0
cat >Pairs.java <<'EOF2'
public class Pairs {
	public static void main(String[] args) throws Exception {
		java.lang.reflect.Field f = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
		f.setAccessible(true);
		sun.misc.Unsafe u = (sun.misc.Unsafe) f.get(null);
		java.lang.management.ThreadMXBean m = java.lang.management.ManagementFactory.getThreadMXBean();
		for (;;) {
			long t = m.getCurrentThreadCpuTime();
			for (int i = 0; i < 200000; i++)
				u.freeMemory(u.allocateMemory(64 + (i & 63)));
			System.out.printf("%.2f%n", (m.getCurrentThreadCpuTime() - t) / 200000.);
		}
	}
}
EOF2
"$home/bin/javac" -nowarn Pairs.java 2>/dev/null
"$home/bin/java" Pairs >pairs.out 2>/dev/null &
jvm=$!
# The least of what is printed from now on, for four seconds.
phase() {
	local from
	from=$(wc -l <pairs.out)
	sleep 4
	tail -n "+$((from + 2))" pairs.out | head -n -1 | sort -n | head -n 1
}
sleep 2
before=$(phase)
"$ARCPROF" record -q -e native-memory -o trace -p $jvm -d 7s 2>/dev/null &
sleep 1.5
during=$(phase)
wait $!
sleep 0.5
after=$(phase)
kill $jvm
awk -v b="$before" -v d="$during" -v a="$after" 'BEGIN {
	printf "running JVM, a pair by Unsafe: %s ns before, %s recorded (ratio %.3f), %s after (ratio %.3f)\n",
		b, d, d / b, a, a / b }'
