#!/bin/bash
# What "record -e wall" costs; needs root.  The recorder's CPU time with idle threads, as a share of one CPU; and
# what a context switch takes, of threads that are recorded and of others, with the recorder's own CPU time.
# usage: wall.sh [THREADS]
cd "$(dirname "$0")/../.." || exit 1
arcprof=$PWD/build/arcprof
cost=$PWD/build/t/perf/ptt-cost
threads=${1:-10000}
dir=$(mktemp -d)
trap 'kill $idle 2>/dev/null; rm -rf "$dir"' EXIT
cd "$dir" || exit 1
TIMEFORMAT='%U %S'

cat >idle.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *idle(void *arg)
{
	pause();
	return arg;
}

int main(int argc, char **argv)
{
	pthread_attr_t a;
	pthread_t t;
	int n = atoi(argv[argc - 1]);

	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 65536);
	while (n-- > 0)
		if (pthread_create(&t, &a, idle, NULL))
			return 1;
	puts("ready");
	fflush(stdout);
	pause();
}
END
gcc -O1 -o idle idle.c -pthread

# The least CPU time of three, in ms.
cpu_ms() {
	for _ in 1 2 3; do
		{ time "$@" >/dev/null 2>&1; } 2>&1 | tail -n 1 | awk '{ printf "%.0f\n", ($1 + $2) * 1000 }'
	done | sort -n | head -n 1
}

# Beginning and end take their time, too: what a second of recording takes is the difference.
for n in 100 "$threads"; do
	rm -f ready
	mkfifo ready
	./idle "$n" >ready &
	idle=$!
	read -r _ <ready
	short=$(cpu_ms "$arcprof" record -q -e wall -o t.data -p "$idle" -d 2)
	long=$(cpu_ms "$arcprof" record -q -e wall -o t.data -p "$idle" -d 8)
	awk -v n="$n" -v a="$short" -v b="$long" 'BEGIN {
		printf "%6d idle threads: %.2f %% of a CPU, and %d ms once\n", n, (b - a) / 60, a - (b - a) / 3
	}'
	kill "$idle"
	wait "$idle" 2>/dev/null
done

# Configurations in turn, and of each the least: a busy machine only adds.
sleep 1000 &
idle=$!
for _ in 1 2 3 4 5; do
	"$cost" switch >>alone
	"$arcprof" record -q -e wall -o t.data -- "$cost" switch >>recorded
	"$arcprof" record -q -e wall -o t.data -p "$idle" &
	other=$!
	sleep 0.5
	"$cost" switch >>others
	kill -INT "$other"
	wait "$other"
done
least() { sort -n "$1" | head -n 1; }
for f in alone recorded others; do
	awk -v f="$f" -v ns="$(least "$f")" -v alone="$(least alone)" 'BEGIN {
		printf "a context switch, %-9s %6d ns, x %.3f\n", f ":", ns, ns / alone
	}'
done
