#!/bin/bash
# How fast reports are: a synthetic trace as large as those the budgets name, and then the
# same program recorded by arcprof and by perf, each reported as a tree with inclusive numbers.
# usage: report.sh
cd "$(dirname "$0")/../.." || exit 1
bin=$PWD/build/arcprof
gen=$PWD/build/t/perf/trace-gen
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
make -s build/arcprof build/t/perf/trace-gen >/dev/null || exit 1

# CPU seconds and largest memory of a command.
cost() {
	command time -f '%U %S %M' -o "$dir/cost" "$@" >/dev/null 2>&1
	tail -n 1 "$dir/cost" | awk '{ printf "%.2f s CPU, %.0f MB", $1 + $2, $3 / 1024 }'
}

if ! command -v time >/dev/null; then
	echo "report.sh: needs the program time (package time)" >&2
	exit 1
fi
"$gen" --samples 2200000 --stacks 222000 --depth 6 --compress "$dir/big.data" 2>/dev/null
echo "2.2 M native samples, 222 000 stacks (budget 0.6 s, 150 MB; perf's default needs 11 to 12 s, 1260 MB)"
echo "  xprof                $(cost "$bin" report -i "$dir/big.data" --xprof)"
echo "  xtree, $("$bin" report -i "$dir/big.data" --xtree 2>/dev/null | wc -l) lines  $(cost "$bin" report -i "$dir/big.data" --xtree)"
echo "  xarc                 $(cost "$bin" report -i "$dir/big.data" --xarc)"
"$gen" --java --samples 326000 --stacks 25000 --depth 60 --max-depth 496 --compress "$dir/deep.data" 2>/dev/null
echo "326 000 deep Java samples, 25 000 stacks (budget 0.1 s, 50 MB; jfrconv needs 0.46 s, 170 MB)"
echo "  xprof                $(cost "$bin" report -i "$dir/deep.data" --xprof)"
echo "  xtree, $("$bin" report -i "$dir/deep.data" --xtree 2>/dev/null | wc -l) lines  $(cost "$bin" report -i "$dir/deep.data" --xtree)"

command -v perf >/dev/null || exit 0
cat >"$dir/work.sh" <<'W'
for i in 1 2 3 4 5 6; do
	cc -O2 -D_GNU_SOURCE -Ilib -S -o /dev/null lib/collect/engine/collect.c lib/trace/writer.c 2>/dev/null ||
		for f in lib/collect/engine/collect.c lib/trace/writer.c lib/model/resolve.c; do
			cc -O2 -D_GNU_SOURCE -Ilib -S -o /dev/null "$f"
		done
done
W
"$bin" record -q -F 10000 -o "$dir/a.data" -- sh "$dir/work.sh"
perf record -q -e cpu-clock -g -F 10000 -o "$dir/p.data" -- sh "$dir/work.sh" >/dev/null 2>&1
samples=$("$bin" report -i "$dir/a.data" --format json --xprof | jq '[.rows[].n] | add')
echo "a compiler run at 10 kHz, $samples samples"
echo "  arcprof xtree        $(cost "$bin" report -i "$dir/a.data" --xtree)"
echo "  perf report --stdio  $(cost perf report --stdio -i "$dir/p.data")"
