#!/bin/sh
# What a call of a C function costs, entry and exit, against the same program without instrumentation:
# exact calls, call traces, gprof, and uftrace where it is installed. Fastest of five runs each. Then what an event of the
# call trace with dispatches and samples has cost, half a call, and its bytes before compression and in the file.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
arcprof=$top/build/arcprof
make -s -C "$top" all >/dev/null
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

cat >p.c <<'END'
#include <stdio.h>
#include <time.h>
static volatile int sink;
__attribute__((noinline)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__attribute__((noinline)) void leaf(void) { sink++; }
__attribute__((no_instrument_function)) static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}
int main(void)
{
	double t = now();
	int i;
	for (i = 0; i < 3000000; i++) leaf();
	double loop = (now() - t) / 3e6;
	t = now();
	fib(29);
	printf("%f %f\n", loop, (now() - t) / 1664079);
}
END
gcc -O2 p.c -o plain
gcc -O2 -finstrument-functions p.c "$top/build/libarcprof-hookit.a" -o hooked -pthread
gcc -O2 -finstrument-functions p.c -o for-uftrace
gcc -O2 -pg p.c -o gprof

# best <command>...: the least of five runs, of both numbers
best() {
	for _ in 1 2 3 4 5; do "$@" 2>/dev/null | tail -n 1; done |
		awk 'NR == 1 || $1 < a { a = $1 } NR == 1 || $2 < b { b = $2 } END { print a, b }'
}

base=$(best ./plain)
row() {
	name=$1
	shift
	echo "$(best "$@") $base" | awk -v n="$name" '{ printf "%-34s %8.1f %8.1f\n", n, $1 - $3, $2 - $4 }'
}

printf '%-34s %8s %8s\n' "ns a call above uninstrumented" loop fib
row "hooks, no recorder" ./hooked
row "arcprof, calls" "$arcprof" record -q --callflow --metric calls -o t -- ./hooked
row "arcprof, calls and CPU time" "$arcprof" record -q --callflow --metric cpu -o t -- ./hooked
row "arcprof, calls, CPU and wall time" "$arcprof" record -q --callflow -o t -- ./hooked
row "arcprof, call trace" "$arcprof" record -q --calltrace -o t -- ./hooked
row "the same, with all else" "$arcprof" record -q --calltrace --sched -e cpu,mark -o t -- ./hooked | tee all
row "gprof (calls, no time)" ./gprof
if command -v uftrace >/dev/null; then
	row "uftrace (calls, time)" uftrace record --no-libcall -d u ./for-uftrace
else
	echo "uftrace: not installed"
fi

events=$("$arcprof" report --calls --format json t | jq .source.events)
ns=$(awk '{ print $(NF - 1) / 2 " to " $NF / 2 }' all)
raw=$("$arcprof" dump -i t --chunks | awk -v n="$events" '$3 == "Call" && match($0, /bytes of *[0-9]+/) {
	sum += substr($0, RSTART + 8, RLENGTH - 8)
} END { printf "%.1f", sum / n }')
echo "an event of $events: $ns ns, $raw bytes, in the file $(stat -c %s t | awk -v n="$events" '{ printf "%.1f", $1 / n }')"
