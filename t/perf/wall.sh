#!/bin/bash
# What "record -e wall" costs; needs root.  The recorder's CPU time with idle threads, as a share of one CPU; and
# what a context switch takes, of threads that are recorded and of others, with the recorder's own CPU time.
# usage: wall.sh [THREADS]
cd "$(dirname "$0")/../.." || exit 1
arcprof=$PWD/build/arcprof
cost=$PWD/build/t/perf/ptt-cost
threads=${1:-10000}
make -s build/arcprof build/t/perf/ptt-cost >/dev/null || exit 1
dir=$(mktemp -d)
trap 'kill $idle 2>/dev/null; rm -rf "$dir"' EXIT
cd "$dir" || exit 1
TIMEFORMAT='%U %S'

cat >idle.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int wakes;	/* once a second */

static void *idle(void *arg)
{
	while (wakes)
		usleep(1000000);
	pause();
	return arg;
}

int main(int argc, char **argv)
{
	pthread_attr_t a;
	pthread_t t;
	int n = atoi(argv[1]);

	wakes = argc > 2;

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

# waiting <text> <threads> <argument or ""> <command>...: beginning and end take their time, too; what a second of
# recording takes is the difference.
waiting() {
	local text=$1 n=$2 how=$3
	shift 3
	rm -f ready
	mkfifo ready
	./idle "$n" ${how:+"$how"} >ready &
	idle=$!
	read -r _ <ready
	short=$(cpu_ms "$@" "$arcprof" record -q -e wall -o t.data -p "$idle" -d 2)
	long=$(cpu_ms "$@" "$arcprof" record -q -e wall -o t.data -p "$idle" -d 8)
	awk -v n="$n" -v text="$text" -v a="$short" -v b="$long" 'BEGIN {
		printf "%6d %s: %.2f %% of a CPU, and %d ms once\n", n, text, (b - a) / 60, a - (b - a) / 3
	}'
	kill "$idle"
	wait "$idle" 2>/dev/null
}

for n in 100 "$threads"; do
	waiting "idle threads" "$n" ""
done
without=(setpriv --inh-caps=-all '--bounding-set=-bpf,-sys_admin')
for n in 100 1000; do
	waiting "idle threads, without BPF" "$n" "" "${without[@]}"
done
waiting "threads that wake once a second" 1000 wakes
waiting "threads that wake once a second, without BPF" 1000 wakes "${without[@]}"

# Configurations in turn, and of each the least: a busy machine only adds.
sleep 1000 &
idle=$!
for _ in 1 2 3 4 5; do
	"$cost" switch >>alone
	"$arcprof" record -q -e wall -o t.data -- "$cost" switch >>recorded
	"$cost" switch 2000 >>attached &
	"$arcprof" record -q -e wall -o t.data -p $!
	"${without[@]}" "$arcprof" record -q -e wall -o t.data -- "$cost" switch >>without-bpf
	"$arcprof" record -q -e wall -o t.data -p "$idle" &
	other=$!
	sleep 0.5
	"$cost" switch >>others
	kill -INT "$other"
	wait "$other"
done
least() { sort -n "$1" | head -n 1; }
for f in alone recorded attached others without-bpf; do
	awk -v f="$f" -v ns="$(least "$f")" -v alone="$(least alone)" 'BEGIN {
		printf "a context switch, %-12s %6d ns, x %.3f\n", f ":", ns, ns / alone
	}'
done
