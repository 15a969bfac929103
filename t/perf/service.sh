#!/bin/bash
# What the service takes (arcprof-service(7)) with the options that arcprof.service has: CPU time of the recorder, as a
# share of one CPU, by its control group, and its memory, while the machine is idle, with 50 processes that compute,
# with 50 that wake 100 times a second, with 4 JVMs, and with 200 JVMs.  Needs root.
#
# usage: t/perf/service.sh [SECONDS]	of each measurement, after as long as it takes to begin; the default is 60
set -u
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"
seconds=${1:-60}
PROCESSES=50 JVMS=200 BEGIN=10
cd "$DIR" || exit 1
make -s -C "$TOP" build/t/workloads/shares
use_jdk "$(jdks | head -n 1)"
read -ra options < <(sed -nE 's/^Environment="ARCPROF_OPTIONS=(.*)"$/\1/p' "$TOP/share/systemd/arcprof.service.in" | sed 's/%%/%/')
group=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)/arcprof-service-$$
mkdir "$group" || exit 1
pids=()

end_all() {
	[ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null
	wait "${pids[@]}" 2>/dev/null
	pids=()
}
trap 'end_all; rmdir "$group"; rm -rf "$DIR"' EXIT

cpu_us() {	# of the recorder and all that it started, by the kernel
	awk '$1 == "usage_usec" { print $2 }' "$group/cpu.stat"
}

percent() {	# <us> <us>, <seconds> later
	awk -v us=$(($2 - $1)) -v s="$3" 'BEGIN { printf "%.2f", us / s / 1e4 }'
}

memory() {	# <VmRSS or VmHWM> in MiB
	awk -v name="$1:" '$1 == name { printf "%d", $2 / 1024 }' "/proc/$recorder/status"
}

row() {	# <name> [<seconds to begin>]: with what runs by now
	local first begun ended begin=${2:-$BEGIN}
	rm -rf out
	first=$(cpu_us)
	(echo "$BASHPID" >"$group/cgroup.procs"; exec "$ARCPROF" record "${options[@]}" -o out/ >said 2>&1) &
	recorder=$!
	sleep "$begin"
	begun=$(cpu_us)
	sleep "$seconds"
	ended=$(cpu_us)
	printf '%-34s %8s %8s %6s %6s' "$1" "$(percent "$first" "$begun" "$begin")" "$(percent "$begun" "$ended" "$seconds")" \
		"$(memory VmRSS)" "$(memory VmHWM)"
	kill -INT "$recorder"
	wait "$recorder"
	"$ARCPROF" report --xprof --format json out 2>/dev/null |
		jq -r '"\(.quality.n // 0) \(.quality.lost // 0)"' | { read -r n lost; printf ' %9d %9d\n' "$n" "$lost"; }
	grep -E 'max-|less often' said
}

start() {	# <count> <command...>
	local i
	for ((i = 0; i < $1; i++)); do
		"${@:2}" >/dev/null 2>&1 &
		pids+=($!)
	done
}

echo "load $(cut -d ' ' -f 1 /proc/loadavg) before; ${options[*]}"
printf '%-34s %17s %13s\n' '' '% of one CPU' MiB
printf '%-34s %8s %8s %6s %6s %9s %9s\n' '' "at first" after now most samples lost
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
start $JVMS "$JAVA_HOME/bin/java" -Xmx16m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$CLASSES" Passing 40 100000000
sleep $((JVMS / 4))
row "$JVMS JVMs that wait, after 2 minutes" 120
end_all
