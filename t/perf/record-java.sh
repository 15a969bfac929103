#!/bin/bash
# What recording costs a JVM that is busy: its CPU time with a sample every 1 ms and every 100 us
# against none, in turns, as median of the ratios with the spread; then the time and the bytes that a
# sample took, and the share of stacks that do not reach the root.
#
# usage: t/perf/record-java.sh [TURNS [PROGRAM]]	Mixed by default; run it on a quiet machine
set -u
TOP=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=$TOP/build
export ARCPROF=${ARCPROF:-$BUILD/arcprof}
# shellcheck source=../java.bash
. "$TOP/t/java.bash"
unset JAVA_TOOL_OPTIONS
turns=${1:-5}
program=${2:-mixed}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1

# CPU seconds of the JVM alone: the recorder's own time is apart.
cat >timed <<'EOF'
#!/bin/bash
TIMEFORMAT='%U %S'
time "$@" >/dev/null 2>/dev/null
EOF
chmod +x timed
busy() {
	"$@" 2>&1 | awk 'NF == 2 && $1 + 0 == $1 { print $1 + $2 }' | tail -n 1
}

printf '%-4s %-8s %8s %22s %12s %12s %12s %8s %6s\n' \
	JDK program period 'CPU ratio (min..max)' 'us a sample' 'bytes, raw' 'in the file' '% cut' lost
for home in $(jdks); do
	use_jdk "$home" || exit 1
	java_program "$program" 4
	for hz in 1000 10000; do
		: >ratios
		for ((turn = 0; turn < turns; turn++)); do
			base=$(busy ./timed "${COMMAND[@]}")
			with=$(busy "$ARCPROF" record -q -F $hz -o trace -- ./timed "${COMMAND[@]}")
			again=$(busy ./timed "${COMMAND[@]}")
			"$ARCPROF" report -i trace --xprof --format json --limit 1 2>/dev/null >json
			n=$(jq .quality.n json)
			echo "$base $with $again $n" | awk '{ b = ($1 + $3) / 2; print $2 / b, ($2 - b) * 1e6 / $4 }' >>ratios
		done
		bytes=$(stat -c %s trace)
		raw=$("$ARCPROF" dump -i trace --chunks 2>/dev/null | awk '
			$3 ~ /Samp|Stak/ && match($0, /bytes of *[0-9]+/) {
				n += substr($0, RSTART + 8, RLENGTH - 8)
			}
			END { print n + 0 }')
		sort -n ratios | awk -v jdk="$JDK" -v program="$program" -v hz=$hz -v n="$n" -v bytes="$bytes" -v raw="$raw" \
			-v cut="$(jq '[.quality.incomplete_stacks[].n] | add // 0' json)" -v lost="$(jq .source.lost json)" '
			{ r[NR] = $1; us[NR] = $2 }
			END {
				m = int((NR + 1) / 2)
				printf "%-4s %-8s %6d us %8.3f (%.3f..%.3f) %12.1f %12.1f %12.1f %8.2f %6d\n", jdk, program,
				       1e6 / hz, r[m], r[1], r[NR], us[m], raw / n, bytes / n, 100 * cut / n, lost
			}'
	done
done
