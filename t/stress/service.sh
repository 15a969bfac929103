#!/bin/bash
# Weeks of "record -a" in minutes: short processes, each of a program of its own, and JVMs that come and go, while
# the recorder writes segments. Prints what the recorder takes meanwhile: memory, descriptors, threads, CPU time; it
# fails if memory or descriptors grow, or if a JVM of the last round has no names.
#
# usage: t/stress/service.sh [PROCESSES [JVMS [OPTION OF RECORD...]]]	the default is 10000 and 200
# With ARCPROF_GROUP=1, in a control group, and only that is recorded (-G): where other things happen as well.
set -u
# shellcheck source=../perf/lib.bash
. "$(dirname "$0")/../perf/lib.bash"
processes=${1:-10000} jvms=${2:-200}
shift $(($# < 2 ? $# : 2))
ROUNDS=${ARCPROF_ROUNDS:-20} AT_A_TIME=5
cd "$DIR" || exit 1
mkdir programs
make -s -C "$TOP" build/t/workloads/passing
use_jdk "$(jdks | head -n 1)"

kib() {	# <name>: of the recorder's memory
	awk -v key="$1:" '$1 == key { print $2 }' "/proc/$recorder/status"
}

nr_fds() {
	find "/proc/$recorder/fd" -mindepth 1 2>/dev/null | wc -l
}

cpu_ms() {
	awk -v hz="$(getconf CLK_TCK)" '{ print ($14 + $15) * 1000 / hz }' "/proc/$recorder/stat"
}

some_jvms() {	# <count>: as many, some at a time
	local left=$1 i
	while [ "$left" -gt 0 ]; do
		for ((i = 0; i < AT_A_TIME && left > 0; i++, left--)); do
			"$JAVA_HOME/bin/java" -Xmx16m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$CLASSES" \
				Passing 200 2500 &
		done
		wait_for_jvms
	done
}

wait_for_jvms() {
	local job
	for job in $(jobs -p); do
		[ "$job" = "$recorder" ] || wait "$job"
	done
}

show() {	# <processes so far> <JVMs so far>
	printf '%6d s %9d %6d %10d %9d %7d %4d %9d %8d\n' "$SECONDS" "$1" "$2" "$(kib VmRSS)" "$(kib RssAnon)" \
		"$(nr_fds)" "$(kib Threads)" "$(cpu_ms)" "$(find out -name '*.arc' | wc -l)"
	echo "$(kib RssAnon) $(nr_fds)" >>figures
}

of=(-a)
if [ -n "${ARCPROF_GROUP-}" ]; then
	group=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)/arcprof-stress-$$
	mkdir "$group" || exit 1
	trap 'echo $$ >"${group%/*}/cgroup.procs"; rm -rf "$DIR"; rmdir "$group"' EXIT
	of=(-G "/${group##*/}")
fi
"$ARCPROF" record -q "${of[@]}" -F 499 --segment 2s --keep 64M -o out "$@" &
recorder=$!
[ -z "${group-}" ] || echo $$ >"$group/cgroup.procs"
sleep 2
kill -0 "$recorder" || exit 1
printf '%8s %9s %6s %10s %9s %7s %4s %9s %8s\n' time processes JVMs 'RSS (KiB)' anonymous files thr. 'CPU (ms)' segments
show 0 0
good=0
for ((round = 1; round <= ROUNDS; round++)); do
	some_jvms $((jvms * round / ROUNDS - jvms * (round - 1) / ROUNDS)) &
	nr=$((processes * round / ROUNDS - processes * (round - 1) / ROUNDS))
	good=$((good + $("$BUILD/t/workloads/passing" programs $nr $((processes * (round - 1) / ROUNDS)) 3 4)))
	wait $!
	show $((processes * round / ROUNDS)) $((jvms * round / ROUNDS))
done
kill -INT "$recorder"
wait "$recorder"
echo "exit status $?; $good of $processes programs ended as they should"
# a JVM sleeps for longer than a segment
named=$(find out -name '*.arc' | sort | tail -n 6 | while read -r last; do
	"$ARCPROF" report --xprof "$last" 2>/dev/null | grep ' Passing\.burn$'
done | wc -l)
echo "of the last 6 segments, $named have the JVMs' code by name"
[ "$named" -gt 0 ] || exit 1
# the third quarter and the last one: what grows for ever has not stopped by then
awk -v rounds="$ROUNDS" '
	NR > rounds / 2 + 1 && NR <= rounds * 3 / 4 + 1 { early += $1; early_fds += $2 }
	NR > rounds * 3 / 4 + 1 { late += $1; late_fds += $2 }
	END {
		n = rounds / 4
		printf "anonymous memory %.0f KiB in the third quarter, %.0f in the last; files %.0f and %.0f\n",
			early / n, late / n, early_fds / n, late_fds / n
		exit late > early * 1.05 + 512 * n || late_fds > early_fds * 1.3 + 20 * n
	}' figures
