#!/bin/bash
# What "report --wakers" takes beside "report --threads" of the same trace, as a ratio of CPU times, the least of five
# each; and what the records of wakers (thread.wake) take of the trace's records. Needs root.
#
# usage: t/perf/wakers.sh [THREADS [SECONDS]]		run it on a quiet machine
cd "$(dirname "$0")/../.." || exit 1
arcprof=${ARCPROF:-$PWD/build/arcprof}
make -s all >/dev/null || exit 1
threads=${1:-200}
seconds=${2:-5}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
TIMEFORMAT='%U %S'

# A ring of threads in which each wakes the next, with several tokens on their way at any time.
cat >ring.c <<'END_OF_C'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int nr, (*pipes)[2];

static void *pass(void *arg)
{
	long i = (long)arg;
	char c;

	while (read(pipes[i][0], &c, 1) == 1) {
		usleep(1000);
		if (write(pipes[(i + 1) % nr][1], &c, 1) != 1)
			break;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t;
	long i;

	if (argc != 3 || (nr = atoi(argv[1])) < 1 || !(pipes = calloc(nr, sizeof(*pipes))))
		return 1;
	for (i = 0; i < nr; i++)
		if (pipe(pipes[i]) || pthread_create(&t, NULL, pass, (void *)i))
			return 1;
	for (i = 0; i < nr; i += 10)
		if (write(pipes[i][1], "", 1) != 1)
			return 1;
	sleep(atoi(argv[2]));
	_exit(0);
}
END_OF_C
gcc -O1 -o ring ring.c -pthread || exit 1
ulimit -n 65536 2>/dev/null
"$arcprof" record -q -e wall -o t.data -- ./ring "$threads" "$seconds" || exit 1

cpu_ms() {	# the least of five, in ms
	for _ in 1 2 3 4 5; do
		{ time "$@" >/dev/null 2>&1; } 2>&1 | tail -n 1 | awk '{ print ($1 + $2) * 1000 }'
	done | sort -n | head -n 1
}

wakes=$("$arcprof" dump -i t.data | grep -c 'thread\.wake')
records=$("$arcprof" dump -i t.data | wc -l)
[ "$wakes" -gt 0 ] || { echo "$0: no record of a waker" >&2; exit 1; }
plain=$(cpu_ms "$arcprof" report -i t.data --threads)
wakers=$(cpu_ms "$arcprof" report -i t.data --wakers)
awk -v n="$threads" -v w="$wakes" -v r="$records" -v a="$plain" -v b="$wakers" 'BEGIN {
	printf "%d threads, %d records of wakers of %d: --threads %.0f ms, --wakers %.0f ms, x %.2f\n", n, w, r, a, b, b / a
}'
