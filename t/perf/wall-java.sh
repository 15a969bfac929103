#!/bin/bash
# What recording costs two Java threads that do nothing but let each other go on, on one CPU: the JVM's CPU time
# with -e wall, with -e cpu, and with -e cpu,wall,lock,alloc, as ratios to that without a recording and to that
# with -e cpu. In turns, and of each the median. Needs root.
#
# usage: t/perf/wall-java.sh [TIMES [TURNS]]		run it on a quiet machine
set -u
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"
times=${1:-5}
turns=${2:-1000000}
use_jdk "$(jdks | head -n 1)" || exit 1
javac -d "$DIR" "$TOP/t/perf/HandOver.java" || exit 1
cd "$DIR" || exit 1

cat >timed <<'EOT'
#!/bin/bash
TIMEFORMAT='%U %S'
{ time taskset -c 0 java -XX:+UseSerialGC -cp . HandOver "$1" >/dev/null 2>&1; } 2>seconds
EOT
chmod +x timed

# one NAME COMMAND...: runs it, and adds the JVM's CPU seconds to the file NAME
one() {
	local name=$1
	shift
	"$@" || exit 1
	awk '{ print $1 + $2 }' seconds >>"$name"
}

for ((i = 0; i < times; i++)); do
	one alone ./timed "$turns"
	for e in wall cpu cpu,wall,lock,alloc; do
		one "$e" "$ARCPROF" record -q -e "$e" -o trace -- ./timed "$turns"
	done
done
median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
for e in wall cpu cpu,wall,lock,alloc; do
	awk -v e="$e" -v s="$(median "$e")" -v alone="$(median alone)" -v cpu="$(median cpu)" 'BEGIN {
		printf "-e %-20s %.2f s, x %.3f of none, x %.3f of -e cpu\n", e, s, s / alone, s / cpu
	}'
done
