#!/bin/bash
# What recording costs a JVM that is busy: its CPU time with a sample every 1 ms and every 100 us
# against none, in turns, as median of the ratios with the spread; then the time and the bytes that a
# sample took, and the share of stacks that do not reach the root.
#
# With ASYNC_PROFILER set to the path of its library, each turn has a run with that as well, and it
# gets a line of its own. "rec %" is the recorder's own CPU time, in percent of the JVM's; async-profiler
# has no recorder. With FLOOR=1, so has perf without stacks: what the kernel's timer and its record take, which
# is the least that any profiler with such a clock takes of the program.
#
# usage: t/perf/record-java.sh [TURNS [PROGRAM [SIZE]]]	Mixed of size 4 by default; run it on a quiet machine
set -u
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"
turns=${1:-5}
program=${2:-mixed}
size=${3:-4}
rival=${ASYNC_PROFILER:-}
others=(${rival:+async-profiler} ${FLOOR:+perf-no-stacks})
cd "$DIR" || exit 1

# CPU seconds of the JVM alone go to the file "cpu": the recorder's own time is apart.
cat >timed <<'EOT'
#!/bin/bash
TIMEFORMAT='%U %S'
{ time "$@" >/dev/null 2>/dev/null; } 2>cpu
EOT
chmod +x timed
busy() {	# <command...>: CPU seconds of the JVM in it
	"$@" >/dev/null 2>/dev/null
	awk '{ print $1 + $2 }' cpu
}
all_cpu() {	# into the file "all": CPU seconds of all children that have ended
	times >times.now	# in a pipe it would be those of the pipe
	awk 'NR == 2 { split($0, v, /[ms ]+/); print v[1] * 60 + v[2] + v[3] * 60 + v[4] }' times.now >all
}
with_other() {	# <which>: its CPU seconds, and how many samples it has
	rm -f rival
	case $1 in
	async-profiler)
		JAVA_TOOL_OPTIONS="-agentpath:$rival=start,event=cpu,interval=$((1000000000 / hz)),file=$DIR/rival,collapsed" \
			busy ./timed "${COMMAND[@]}"
		awk '{ n += $NF } END { print n + 0 }' rival
		;;
	*)
		busy perf record -q -e cpu-clock -c $((1000000000 / hz)) -o perf.data -- ./timed "${COMMAND[@]}"
		perf script -i perf.data -F comm 2>/dev/null | wc -l
		;;
	esac | xargs
}

# ratios: lines of <ratio> <us a sample> <recorder's share>
print_line() {	# <who> <bytes, raw> <bytes in the file> <% cut> <lost>
	sort -n ratios | awk -v jdk="$JDK" -v program="$program" -v hz="$hz" -v who="$1" -v raw="$2" -v bytes="$3" \
		-v cut="$4" -v lost="$5" '
		{ r[NR] = $1; us[NR] = $2; rec[NR] = $3 }
		END {
			m = int((NR + 1) / 2)
			printf "%-4s %-8s %6d us %-14s %8.3f (%.3f..%.3f) %11.1f %6s %10s %11s %6s %6s\n", jdk, program,
			       1e6 / hz, who, r[m], r[1], r[NR], us[m], rec[m], raw, bytes, cut, lost
		}'
}

one_turn() {	# appends to ours, and to a file for each of the others
	local base with again before recorder n other
	base=$(busy ./timed "${COMMAND[@]}")
	all_cpu
	before=$(cat all)
	"$ARCPROF" record -q -F "$hz" -o trace -- ./timed "${COMMAND[@]}" >/dev/null 2>/dev/null
	with=$(awk '{ print $1 + $2 }' cpu)
	all_cpu
	recorder=$(cat all)
	for other in "${others[@]}"; do
		echo "$base $(with_other "$other")" >"$other.now"
	done
	again=$(busy ./timed "${COMMAND[@]}")
	"$ARCPROF" report -i trace --xprof --format json --limit 1 2>/dev/null >json
	n=$(jq .quality.n json)
	echo "$base $with $again $n $before $recorder" | awk '{
		b = ($1 + $3) / 2
		printf "%s %s %.1f\n", $2 / b, ($2 - b) * 1e6 / $4, 100 * ($6 - $5 - $2) / $2
	}' >>ours
	for other in "${others[@]}"; do
		echo "$again $(cat "$other.now")" | awk '{
			b = ($1 + $2) / 2
			print $3 / b, ($3 - b) * 1e6 / ($4 ? $4 : 1), "-"
		}' >>"$other"
	done
}

printf '%-4s %-8s %9s %-14s %24s %11s %6s %10s %11s %6s %6s\n' JDK program period profiler \
	'CPU ratio (min..max)' 'us a sample' 'rec %' 'bytes, raw' 'in the file' '% cut' lost
for home in $(jdks); do
	use_jdk "$home" || exit 1
	java_program "$program" "$size"
	for hz in 1000 10000; do
		rm -f ours "${others[@]}"
		for ((turn = 0; turn < turns; turn++)); do
			one_turn
		done
		raw=$("$ARCPROF" dump -i trace --chunks 2>/dev/null | awk -v n="$(jq .quality.n json)" '
			$3 ~ /Samp|Stak/ && match($0, /bytes of *[0-9]+/) {
				sum += substr($0, RSTART + 8, RLENGTH - 8)
			}
			END { printf "%.1f", sum / n }')
		cp ours ratios
		print_line arcprof "$raw" "$(stat -c %s trace | awk -v n="$(jq .quality.n json)" '{ printf "%.1f", $1 / n }')" \
			"$(jq '100 * ([.quality.incomplete_stacks[].n] | add // 0) / .quality.n * 100 | round / 100' json)" \
			"$(jq .source.lost json)"
		for other in "${others[@]}"; do
			cut=-
			[ "$other" != async-profiler ] ||
				cut=$(awk '{ n += $NF } /unknown|break_|no_Java|_error/ { bad += $NF }
					END { printf "%.2f", 100 * bad / (n ? n : 1) }' rival)
			cp "$other" ratios
			print_line "$other" - - "$cut" -
		done
	done
done
