#!/bin/bash
# Dispatches: bytes each in the trace, and the CPU time that recording them takes, the program's and the
# recorder's together, against perf sched record; needs root.  Two processes pass a byte to and fro.
# usage: sched.sh [ROUNDS]	a round is two dispatches
cd "$(dirname "$0")/../.." || exit 1
arcprof=$PWD/build/arcprof
make -s all workloads perf >/dev/null || exit 1
rounds=${1:-50000}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
TIMEFORMAT='%U %S'

cat >ping.py <<'END'
import os, sys
a, b = os.pipe(), os.pipe()
n = int(sys.argv[1])
os.sched_setaffinity(0, {0})
if os.fork() == 0:
    for _ in range(n):
        os.read(a[0], 1)
        os.write(b[1], b"x")
    os._exit(0)
for _ in range(n):
    os.write(a[1], b"x")
    os.read(b[0], 1)
os.wait()
END

# ping FILE COMMAND...: prints the CPU time of all processes, in ns a dispatch
ping() {
	{ time "$@" python3 ping.py "$rounds" >/dev/null 2>&1; } 2>&1 | tail -n 1 |
		awk -v n="$rounds" '{ printf "%.0f\n", ($1 + $2) * 1e9 / (2 * n) }'
}

# row NAME NS FILE DISPATCHES
row() {
	printf '%-24s %7s ns a dispatch, %6.0f of them added' "$1" "$2" "$(($2 - alone))"
	[ $# -lt 4 ] || printf '; %9s bytes, %.1f a dispatch' "$(stat -c %s "$3")" \
		"$(echo "$(stat -c %s "$3") $4" | awk '{ print $1 / $2 }')"
	echo
}

dispatches() {
	"$arcprof" report -i "$1" --threads --format json | jq .totals.dispatches
}

alone=$(ping env)
row "alone" "$alone"
ns=$(ping "$arcprof" record -q --sched --no-samples -o one.data --)
row "arcprof, the program's" "$ns" one.data "$(dispatches one.data)"
ns=$(ping "$arcprof" record -q --sched --no-samples --no-compress -o raw.data --)
row "  not compressed" "$ns" raw.data "$(dispatches raw.data)"
ns=$(ping "$arcprof" record -q --sched --no-samples -a -o all.data --)
row "arcprof, all CPUs" "$ns" all.data "$(dispatches all.data)"
command -v perf >/dev/null || exit 0
ns=$(ping perf sched record -q -o perf.data --)
n=$(perf script -i perf.data -F event 2>/dev/null | grep -c sched:sched_switch)
[ "${n:-0}" -gt 0 ] || { echo "perf sched record does not work here"; exit 0; }
row "perf sched record" "$ns" perf.data "$n"
echo "CPU seconds to show them:"
for c in "$arcprof report -i all.data --threads" "$arcprof report -i all.data --sched" "perf sched -i perf.data latency" \
	"perf sched -i perf.data timehist"; do
	{ time $c >/dev/null 2>&1; } 2>&1 | awk -v c="${c##*/}" '{ printf "  %6.2f  %s\n", $1 + $2, c }'
done
