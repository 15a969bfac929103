#!/bin/bash
# How fast traces are merged: recordings with 10 000 contexts each, and what merge made of one, many times over.
# The time for 1000 of each, by that for as many as are merged here, and memory of few and of all.
# usage: merge.sh [traces]
cd "$(dirname "$0")/../.." || exit 1
bin=$PWD/build/arcprof
gen=$PWD/build/t/perf/trace-gen
nr=${1:-200}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
make -s build/arcprof build/t/perf/trace-gen >/dev/null || exit 1
"$gen" --samples 20000 --stacks 1900 --depth 6 --compress "$dir/one.data" 2>/dev/null
"$bin" merge -q "$dir/one.data" -o "$dir/merged.data" || exit 1

# many <file>: nr arguments
many() {
	yes "$1" | head -n "$nr"
}

# merge <file>: milliseconds for 1000, and those of the CPUs, the least of three runs
merge() {
	for _ in 1 2 3; do
		{ TIMEFORMAT='%R %U %S'; time many "$1" | xargs "$bin" merge -q -o "$dir/out.data"; } 2>&1
	done | awk -v nr="$nr" '{ t = $1 * 1e6 / nr; if (!n || t < least) least = t
		t = ($2 + $3) * 1e6 / nr; if (!n++ || t < cpu) cpu = t }
		END { printf "%.0f ms (budget 5000), %.0f ms of CPU", least, cpu }'
}

# Kilobytes at most.
memory() {
	xargs python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$bin" merge -q -o "$dir/out.data"
}

echo "contexts: $("$bin" report "$dir/one.data" --format tree | grep -vc '^#')"
echo "1000 recordings: $(merge "$dir/one.data")"
echo "1000 merged traces: $(merge "$dir/merged.data")"
echo "memory: $(echo "$dir/merged.data" | memory) kB for 1, $(many "$dir/merged.data" | memory) kB for $nr"
