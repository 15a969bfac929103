#!/bin/bash
# What clocks of CPUs and clocks of threads see, and what they cost, perf record beside them where it is installed.
#
#	seen	percent of a program's own CPU time that its samples are: threads that are short, processes that are
#		executed and gone, and programs that beat in step with the clock
#	halves	of a program that runs two functions for the same time, one after the other, in each beat: the first's
#		percent of both
#	cost	CPU time of two threads that let each other go on, with a recording, to that without: the median of
#		paired runs
#
# usage: t/perf/clock.sh [RUNS]	the default is 3; run it on a quiet machine
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"
runs=${1:-3}
cd "$DIR" || exit 1
W=$BUILD/t/workloads
javac -d "$DIR" "$TOP/t/perf/HandOver.java" || exit 1

# sampled <way> <command>...: ms that samples have; the folded stacks are in ./folded.
sampled() {
	local way=$1
	shift
	case $way in
	perf)
		perf record -q -e cpu-clock -F 1000 --call-graph dwarf,16384 -o perf.data -- "$@" >truth 2>/dev/null </dev/null
		perf script -i perf.data -F ip,sym 2>/dev/null | awk 'NF == 0 { print s, 1; s = "" } NF { s = $2 ";" s }' >folded
		;;
	*)
		"$ARCPROF" record -q --clock="$way" -F 1000 -o trace -- "$@" >truth 2>/dev/null </dev/null
		"$ARCPROF" report --format folded trace 2>/dev/null >stacks
		awk '{ n = $NF; $NF = ""; print $0, n / 1e6 }' stacks >folded
		;;
	esac
	awk '{ ms += $NF } END { print ms + 0 }' folded
}

ways=(cpu thread)
! command -v perf >/dev/null || ways+=(perf)

# row <name> <command>...: of each way percent of what the program says that it used, run by run.
row() {
	local name=$1 way i ms used line=''
	shift
	for way in "${ways[@]}"; do
		line+=" $way"
		for ((i = 0; i < runs; i++)); do
			ms=$(sampled "$way" "$@")
			used=$(awk 'END { print $NF }' truth)
			line+=$(awk -v ms="$ms" -v used="$used" 'BEGIN { printf " %5.1f", 100 * ms / used }')
		done
	done
	printf '%-34s%s\n' "$name" "$line"
}

echo "seen, % of the CPU time that the program says it used"
for us in 200 500 1000 1300; do
	row "threads of $us us" "$W/short" $((1000000 / us)) $us
done
# shellcheck disable=SC2016
row "300 /bin/true" sh -c 'i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i + 1)); done; times >used
	awk "{ for (i = 1; i <= 2; i++) { split(\$i, t, /[ms]/); ms += t[1] * 60000 + t[2] * 1000 } } END { print ms }" used'

echo
echo "seen of two functions together, and of that the first, %: in step with the clock"
for beat in "1000 100" "2000 200" "4000 400" "5000 500" "10000 1000" "10000 100"; do
	# shellcheck disable=SC2086
	set -- $beat
	line=''
	for way in "${ways[@]}"; do
		line+=" $way"
		for ((i = 0; i < runs; i++)); do
			sampled "$way" "$W/beat" "$1" "$2" 2 >/dev/null
			read -r a b <truth
			line+=$(awk -v used=$((a + b)) '/first/ { a += $NF } /second/ { b += $NF }
				END { printf " %5.1f/%-5.1f", 100 * (a + b) / used, a + b ? 100 * a / (a + b) : 0 }' folded)
		done
	done
	printf '%-34s%s\n' "$2 us each $1 us" "$line"
done

# cpu_of <command>...: seconds of HandOver.
cpu_of() {
	"$@" taskset -c 0 java -XX:+UseSerialGC -cp . HandOver 100000 cpu 2>/dev/null | tail -n 1
}

echo
echo "cost: HandOver, CPU time as a ratio to that without"
for options in --clock=cpu --clock=thread "-e wall"; do
	for ((i = 0; i < 2 * runs - 1; i++)); do
		alone=$(cpu_of)
		# shellcheck disable=SC2086
		with=$(cpu_of "$ARCPROF" record -q -F 1000 $options -o trace --)
		awk -v a="$alone" -v w="$with" 'BEGIN { printf "%.3f\n", w / a }'
	done | sort -n | awk -v o="$options" '{ r[NR] = $1 } END { printf "%-34s %.3f (%.3f..%.3f)\n", "record " o, r[int((NR + 1) / 2)], r[1], r[NR] }'
done
