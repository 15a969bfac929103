#!/bin/bash
# What recording costs virtual threads that do nothing but let each other go on, on one CPU: the JVM's CPU time with
# -e wall and with -e wall,virtual, as ratios to that without a recording. In turns, and of each the median. Needs root
# and JDK 21 or later.
#
# usage: t/perf/wall-virtual.sh [TIMES [TURNS]]		run it on a quiet machine
set -u
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"
times=${1:-5}
turns=${2:-200000}
use_jdk "$(jdks | tail -n 1)" || exit 1
javac -d "$DIR" "$TOP/t/perf/PingPong.java" || exit 1
cd "$DIR" || exit 1

cat >timed <<'EOT'
#!/bin/bash
TIMEFORMAT='%U %S'
{ time taskset -c 0 java -XX:+UseSerialGC -cp . PingPong "$1" >/dev/null 2>&1; } 2>seconds
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
	for e in wall wall,virtual; do
		one "$e" "$ARCPROF" record -q -e "$e" -o trace -- ./timed "$turns"
	done
done
for e in wall wall,virtual; do
	awk -v e="$e" -v s="$(median "$e")" -v alone="$(median alone)" -v wall="$(median wall)" 'BEGIN {
		printf "-e %-14s %.2f s, x %.3f of none, x %.3f of -e wall\n", e, s, s / alone, s / wall
	}'
done
