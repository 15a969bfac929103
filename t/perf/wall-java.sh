#!/bin/bash
# What recording costs two Java threads that do nothing but let each other go on, on one CPU: the JVM's CPU time
# with -e wall, with -e cpu, and with -e cpu,wall,lock,alloc, as ratios to that without a recording and to that
# with -e cpu. In turns, and of each the median. Needs root.
#
# usage: t/perf/wall-java.sh [TIMES [TURNS]]		run it on a quiet machine
# With ASYNC_PROFILER=/path/to/libasyncProfiler.so, its wall mode stands beside them.
set -u
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"
times=${1:-5}
turns=${2:-1000000}
use_jdk "$(jdks | head -n 1)" || exit 1
javac -d "$DIR" "$TOP/t/perf/HandOver.java" || exit 1
cd "$DIR" || exit 1

# one NAME [COMMAND...]: runs it, after the command, and adds the JVM's CPU seconds to the file NAME
one() {
	local name=$1
	shift
	"$@" taskset -c 0 java ${OPTION-} -XX:+UseSerialGC -cp . HandOver "$turns" cpu 2>said |
		grep -E '^[0-9.]+$' >>"$name" || { cat said >&2; exit 1; }
}

for ((i = 0; i < times; i++)); do
	one alone env
	for e in wall cpu cpu,wall,lock,alloc; do
		one "$e" "$ARCPROF" record -q -e "$e" -o trace --
	done
	[ -z "${ASYNC_PROFILER-}" ] || OPTION="-agentpath:$ASYNC_PROFILER=start,event=wall,wall=10ms,file=async.jfr" \
		one async-profiler env
done
for e in wall cpu cpu,wall,lock,alloc async-profiler; do
	[ -e "$e" ] || continue
	awk -v e="$e" -v s="$(median "$e")" -v alone="$(median alone)" -v cpu="$(median cpu)" 'BEGIN {
		printf "%-20s %.2f s, x %.3f of none, x %.3f of -e cpu\n", e, s, s / alone, s / cpu
	}'
done
