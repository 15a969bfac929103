#!/bin/bash
# What formats of other programs cost: a trace of 10^6 samples is written in each of them and read again, and
# profiles as other programs would write them are read. One table: CPU time, memory and size, how often pprof's
# time that is, and whether the total is that of the trace. The last column says what the tests hold the format
# against.
# usage: t/perf/formats.sh [SAMPLES]	the default is 1000000; needs the programs time, jq and python3
cd "$(dirname "$0")/../.." || exit 1
samples=${1:-1000000}
bin=$PWD/build/arcprof
gen=$PWD/build/t/perf/trace-gen
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for tool in time jq python3; do
	command -v "$tool" >/dev/null || { echo "formats.sh: needs the program $tool" >&2; exit 1; }
done
make -s build/arcprof build/t/perf/trace-gen >/dev/null || exit 1
"$gen" --samples "$samples" --stacks $((samples / 10)) --compress "$dir/trace" 2>/dev/null

floor=
# row FORMAT DIRECTION FILE CHECKED TOTAL WANTED COMMAND...: the total is known after the command ran.
row() {
	local format=$1 direction=$2 file=$3 checked=$4 wanted=$5 total equal cpu mb
	command time -f '%U %S %M' -o "$dir/cost" "${@:6}" >"$dir/out" 2>/dev/null || { echo "$format $direction: failed" >&2; return; }
	if [ "$direction" = in ]; then
		total=$(jq '[.metrics[]? | select(.name != "idle")][0].total // ((.events | length) + .not_shown)' "$dir/out")
		equal=$(awk -v a="$total" -v b="$wanted" 'BEGIN { print a == b ? "yes" : sprintf("%+.1e", a / b - 1) }')
	fi
	read -r cpu mb < <(tail -n 1 "$dir/cost" | awk '{ print $1 + $2, int($3 / 1024) }')
	: "${floor:=$cpu}"
	awk -v format="$format" -v direction="$direction" -v cpu="$cpu" -v floor="$floor" -v mb="$mb" -v bytes="$(stat -c %s "$file")" -v equal="${equal:--}" -v checked="$checked" 'BEGIN {
		printf "%-12s %-3s %7.2f %6.1f %7d %8.1f  %-8s %s\n", format, direction, cpu, cpu / floor, mb, bytes / 1e6, equal, checked
	}'
}

# both FORMAT CHECKED WANTED [OPTION...]: writes it, then reads it.
both() {
	row "$1" out "$dir/$1" "$2" - "$bin" report -q --format "$1" -o "$dir/$1" "${@:4}" "$dir/trace"
	row "$1" in "$dir/$1" "what was written" "$3" "$bin" report -q --xprof --limit 1 --format json --import "$dir/$1"
	rm -f "$dir/$1"
}

# foreign FORMAT CHECKED WANTED: reads what formats-gen.py writes.
foreign() {
	t/perf/formats-gen.py "$1" <"$dir/stacks" >"$dir/$1"
	row "$1" in "$dir/$1" "$2" "$3" "$bin" report -q --xprof --limit 1 --format json --import "$dir/$1"
	rm -f "$dir/$1"
}

ns=$((samples * 1000000))
echo "$samples samples; CPU time in s, pprof's out as 1, memory in MB, size of the file in MB"
printf '%-12s %-3s %7s %6s %7s %8s  %-8s %s\n' format way CPU pprof memory size total 'checked by'
both pprof 'go tool pprof, t/pprof-read' "$ns"
both folded 'flamegraph.pl' "$ns"
both speedscope 'its schema' "$ns"
both callgrind 'callgrind_annotate' "$ns"
both jfr 'jfr of the JDK' "$ns"
both otlp 'protoc and its .proto' "$ns"
both otlp-json 'protobuf and its .proto' "$ns"
both firefox 'its types, version 70' "$ns"
both chrome 'Trace Event Format, V8' "$ns"
both hprof 't/formats/hprof-read' "$samples"
"$bin" report -q --format folded "$dir/trace" >"$dir/stacks"
foreign perf-script 'perf script' "$ns"
foreign perf-data 'perf script' "$ns"
foreign cpuprofile 'Node.js' "$ns"
foreign heapprofile 'Node.js' "$samples"
foreign gperftools 'pprof' "$samples"
foreign heaptrack 'heaptrack_print' "$samples"
foreign dhat 'valgrind' "$samples"
foreign jstack 'the dump itself' "$samples"
t/perf/formats-gen.py gc-log <"$dir/stacks" >"$dir/gc-log"
row gc-log in "$dir/gc-log" 'the log itself' "$samples" "$bin" report -q --log --limit 1 --format json --import "$dir/gc-log"
