#!/bin/bash
# What the service takes (arcprof-service(7)): the recorder's CPU time, as a share of one CPU, and its memory, while
# the machine is idle, with 50 processes that compute, with 50 that wake 100 times a second, and with 4 JVMs.  Needs root.
#
# usage: t/perf/service.sh [SECONDS]	of each measurement, after as long as it takes to begin; the default is 60
set -u
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"
seconds=${1:-60}
PROCESSES=50 BEGIN=5
cd "$DIR" || exit 1
make -s -C "$TOP" build/t/workloads/shares
use_jdk "$(jdks | head -n 1)"
pids=()

end_all() {
	[ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null
	wait "${pids[@]}" 2>/dev/null
	pids=()
}
trap 'end_all; rm -rf "$DIR"' EXIT

cpu_ns() {	# of all its threads
	cat "/proc/$recorder/task/"*/schedstat | awk '{ n += $1 } END { printf "%.0f\n", n }'
}

row() {	# <name>: with what runs by now
	local before after rss
	rm -rf out
	"$ARCPROF" record -q -a -F 19 --segment 10s -o out &
	recorder=$!
	sleep "$BEGIN"
	before=$(cpu_ns)
	sleep "$seconds"
	after=$(cpu_ns)
	rss=$(awk '$1 == "VmRSS:" { print $2 }' "/proc/$recorder/status")
	kill -INT "$recorder"
	wait "$recorder"
	printf '%-34s %8.3f %11d %9d %9d\n' "$1" "$(awk -v ns=$((after - before)) -v s="$seconds" \
		'BEGIN { print ns / s / 1e7 }')" "$rss" \
		"$("$ARCPROF" report --xprof --format json out 2>/dev/null | jq '.quality.n // 0')" \
		"$("$ARCPROF" report --xprof --format json out 2>/dev/null | jq '.quality.lost // 0')"
}

start() {	# <count> <command...>
	local i
	for ((i = 0; i < $1; i++)); do
		"${@:2}" >/dev/null 2>&1 &
		pids+=($!)
	done
}

echo "load $(cut -d ' ' -f 1 /proc/loadavg) before"
printf '%-34s %8s %11s %9s %9s\n' "19 Hz, a segment each 10 s" "% of CPU" "memory KiB" samples lost
row idle
start $PROCESSES "$BUILD/t/workloads/shares" 100000000
row "$PROCESSES processes that compute"
end_all
start $PROCESSES perl -e 'while (1) { select undef, undef, undef, 0.01 }'
row "$PROCESSES processes, 100 wakes a second"
end_all
start 4 "$JAVA_HOME/bin/java" -Xmx64m -cp "$CLASSES" Shares 100000000
row "4 JVMs that compute"
end_all
