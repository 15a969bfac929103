#!/bin/bash
# What a recording adds to a program that is over at once, from the command to its end: to true, and to a JVM that
# prints; the least of some runs, as a ratio to the program alone. perf record beside it, where it is installed.
#
# usage: t/perf/short.sh [RUNS]	the default is 10
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"
runs=${1:-10}
cd "$DIR" || exit 1
TIMEFORMAT=%R

# least <command>...: s
least() {
	local i
	for ((i = 0; i < runs; i++)); do
		{ time "$@" >/dev/null 2>&1 </dev/null; } 2>&1 | tail -n 1
	done | sort -n | head -n 1
}

# row <name> <seconds alone> <command>...
row() {
	local s
	s=$(least "${@:3}")
	awk -v name="$1" -v s="$s" -v alone="$2" 'BEGIN { printf "%-28s %6.3f s  %+.3f  x %.2f\n", name, s, s - alone, s / alone }'
}

# rows <program>...
rows() {
	local alone options
	alone=$(least "$@")
	printf '%-28s %6.3f s\n' alone "$alone"
	for options in "" "-e wall" "-e cpu-clock,wall,lock" "-e jvm" --callflow --sched; do
		# shellcheck disable=SC2086
		row "record $options" "$alone" "$ARCPROF" record -q $options -o trace -- "$@"
	done
	command -v perf >/dev/null && row "perf record -g" "$alone" perf record -q -g -o perf.data -- "$@"
}

echo "true"
rows true
for home in $(jdks); do
	use_jdk "$home"
	echo
	echo "JDK $JDK"
	rows "$JAVA_HOME/bin/java" -cp "$CLASSES" Hellop 1
done
