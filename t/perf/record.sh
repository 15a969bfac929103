#!/bin/bash
# What a recording costs: CPU time of a program by itself, under arcprof and under perf, in
# turn; the program's own time and the time of all processes together, as ratios. Then the
# shortest recording there is, the size of the binary, and the bytes a sample takes.
# usage: record.sh [RUNS]
cd "$(dirname "$0")/../.." || exit 1
runs=${1:-5}
bin=$PWD/build/arcprof
prog=$PWD/build/t/workloads/shares
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
make -s build/arcprof "$prog" >/dev/null 2>&1 || make -s all workloads >/dev/null || exit 1
have_perf=$(command -v perf)
inner='TIMEFORMAT="%U %S"; time "$0" 200 >/dev/null'

# Runs "$2..." and appends "own all" CPU seconds to file $1: the program's and everybody's.
measure() {
	local out=$1 all
	shift
	TIMEFORMAT='%U %S'
	all=$({ time "$@" 2>"$dir/err"; } 2>&1 | tail -n 1)
	echo "$(grep -E '^[0-9.]+ [0-9.]+$' "$dir/err" | tail -n 1) $all" |
		awk '{ print $1 + $2, $3 + $4 }' >>"$dir/$out"
}

median() {
	awk -v c="$2" '{ print $c }' "$dir/$1" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

row() {
	[ -s "$dir/$1" ] || return 0
	printf '%-28s own x %.3f   with the profiler x %.3f\n' "$2" \
		"$(echo "$(median "$1" 1) $(median none 1)" | awk '{ print $1 / $2 }')" \
		"$(echo "$(median "$1" 2) $(median none 2)" | awk '{ print $1 / $2 }')"
}

for ((i = 0; i < runs; i++)); do
	measure none bash -c "$inner" "$prog"
	for hz in 1000 10000; do
		measure arcprof-$hz "$bin" record -q -F $hz -o "$dir/a.data" -- bash -c "$inner" "$prog"
		[ -z "$have_perf" ] ||
			measure perf-$hz perf record -q -e cpu-clock -g -F $hz -o "$dir/p.data" -- bash -c "$inner" "$prog"
	done
done
echo "CPU time of a program that only computes, medians of $runs runs in turn (budget at 1 kHz x 1.02, at 10 kHz x 1.30)"
row arcprof-1000 "arcprof, 1 kHz, complete"
row perf-1000 "perf -g, 1 kHz"
row arcprof-10000 "arcprof, 10 kHz, complete"
row perf-10000 "perf -g, 10 kHz"

wall() {
	local t0 t1
	for ((i = 0; i < runs; i++)); do
		t0=$(date +%s%N)
		"$@" >/dev/null 2>&1
		t1=$(date +%s%N)
		echo $(((t1 - t0) / 1000))
	done | sort -n | awk '{ v[NR] = $1 } END { printf "%.1f ms", v[int((NR + 1) / 2)] / 1000 }'
}

echo
echo "record -- true (budget 50 ms):      arcprof $(wall "$bin" record -q -o "$dir/t.data" -- true)${have_perf:+, perf $(wall perf record -q -o "$dir/tp.data" -- true)}"
echo "report of that trace (budget 20 ms): arcprof $(wall "$bin" report -i "$dir/t.data")"
cp "$bin" "$dir/stripped" && strip "$dir/stripped"
echo "stripped binary (budget 5 MB):       $(stat -c %s "$dir/stripped" | awk '{ printf "%.2f MB", $1 / 1e6 }')"

"$bin" record -q -F 10000 -o "$dir/s.data" -- "$prog" 400 >/dev/null
"$bin" dump --chunks -i "$dir/s.data" | awk '
	/ Samp | Stak / { for (i = 1; i < NF; i++) { if ($i == "records," && / Samp /) n += $(i - 1); if ($i == "of") raw += $(i + 1); if ($i == "bytes" && $(i + 1) == "of") stored += $(i - 1) } }
	END { if (n) printf "bytes a sample (budget 32):          %.1f, stored %.1f (%d samples)\n", raw / n, stored / n, n }'
