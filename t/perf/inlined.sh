#!/bin/bash
# How CPU time is shared among methods that a compiler inlined into one: percent of four methods of Notes.java by the
# thread's own clock, by arcprof, by JFR (jdk.ExecutionSample of 10 ms; jdk.CPUTimeSample of 1 ms where the JDK has it),
# and with ASYNC_PROFILER=/path/to/libasyncProfiler.so by async-profiler, each in a run of its own; and how much of all
# time each says of another method than the one that had it. Then the part that score() has of Plants.java, with ten
# methods.
#
# usage: t/perf/inlined.sh [RUNS]	the default is 3, of 3 s
set -u
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"
runs=${1:-3}
cd "$DIR" || exit 1

# Prints "method percent" of those of a class that are called by its main(), from folded stacks.
of_folded() {	# <class> <file>
	sed -nE "s/^.*$1\\.main[^;]*;$1\\.([A-Za-z]+)[^;]*(;.*)? ([0-9]+)\$/\\1 \\3/p" "$2" |
		awk '{ n[$1] += $2; all += $2 } END { for (m in n) print m, 100 * n[m] / all }'
}

of_jfr() {	# <class> <event>
	"$JAVA_HOME/bin/jfr" print --json --events "$2" --stack-depth 64 run.jfr | jq -r --arg class "$1" '
		.recording.events[].values.stackTrace.frames // [] | map(.method | "\(.type.name).\(.name)") |
		index("\($class).main") as $i | select($i > 0) | .[$i - 1] | select(startswith("\($class).")) |
		ltrimstr("\($class).")' | sort | uniq -c |
		awk '{ n[$2] = $1; all += $1 } END { for (m in n) print m, 100 * n[m] / all }'
}

# shares WAY CLASS ARGUMENT...: runs it; "said" has what it prints, "seen" what is seen.
shares() {
	local way=$1 class=$2
	shift
	case $way in
	arcprof)
		"$ARCPROF" record -q -F 999 -o trace -- java -cp "$CLASSES:." "$@" >said
		"$ARCPROF" report -q -i trace --thread main --format folded >folded
		of_folded "$class" folded >seen ;;
	async-profiler)
		java -agentpath:"$ASYNC_PROFILER=start,event=cpu,interval=1ms,file=ap.collapsed" -cp "$CLASSES:." "$@" >said 2>&1
		of_folded "$class" ap.collapsed >seen ;;
	*)
		local on="$way#enabled=true"
		[ "$way" = jdk.CPUTimeSample ] && on+=",$way#throttle=1ms" || on+=",$way#period=10ms"
		java "-XX:StartFlightRecording=filename=run.jfr,settings=default,$on" -Xlog:disable -cp "$CLASSES:." "$@" >said 2>&1
		of_jfr "$class" "$way" >seen ;;
	esac
}

printf '%-4s %-20s %-13s %-13s %-13s %-13s %-16s %s\n' JDK 'who: own, seen' poll hash multiply box 'wrong, % of all' Plants.score
for home in $(jdks); do
	use_jdk "$home" || exit 1
	javac -nowarn -d . "$TOP/t/perf/Plants.java" || exit 1
	ways=(arcprof jdk.ExecutionSample)
	[ "$JDK" -lt 25 ] || ways+=(jdk.CPUTimeSample)
	[ -z "${ASYNC_PROFILER-}" ] || ways+=(async-profiler)
	for ((i = 0; i < runs; i++)); do
		for way in "${ways[@]}"; do
			[ -x "$JAVA_HOME/bin/jfr" ] || [ "${way#jdk.}" = "$way" ] || continue
			shares "$way" Notes 3000
			awk 'NF == 2 && $1 ~ /^(poll|hash|multiply|box)$/ { n[$1] = $2; all += $2 }
				END { for (m in n) print m, 100 * n[m] / all }' said >own
			awk -v jdk="$JDK" -v way="$way" 'NR == FNR { own[$1] = $2; next } { seen[$1] = $2 }
				END {
					printf "%-4s %-20s", jdk, way
					for (i = split("poll hash multiply box", m, " "); i; i--)
						wrong += (d = seen[m[i]] - own[m[i]]) > 0 ? d : 0
					for (i = 1; i <= 4; i++)
						printf " %-13s", sprintf("%.1f %.1f", own[m[i]], seen[m[i]])
					printf " %-16.1f", wrong
				}' own seen
			shares "$way" Plants 20 6000 base
			awk '/^[0-9]+ [0-9]+$/ { own = 100 * $1 / $2 } $1 == "score" { seen = $2 }
				END { printf " %.1f %.1f\n", own, seen }' said seen
		done
	done
done
