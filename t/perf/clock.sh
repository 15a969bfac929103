#!/bin/bash
# What clocks of CPUs and clocks of threads see, and what they cost, perf record beside them where it is installed.
#
#	seen	percent of a program's own CPU time that its samples are: threads that are short, processes that are
#		executed and gone, and programs that beat in step with the clock
#	halves	of a program that runs two functions for the same time, one after the other, in each beat: the first's
#		percent of both
#	cost	CPU time of two threads that let each other go on, with a recording, to that without: the median of
#		paired runs
#	start	CPU time of a whole recording of a program that is over at once, by the recorder and the program
#	others	CPU time of a program that has page faults and is not recorded: ns for each
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
for options in "-F 1000 --clock=cpu" "-F 1000 --clock=thread" "-F 1000 -e wall" "-e lock"; do
	for ((i = 0; i < 2 * runs - 1; i++)); do
		alone=$(cpu_of)
		# shellcheck disable=SC2086
		with=$(cpu_of "$ARCPROF" record -q $options -o trace --)
		awk -v a="$alone" -v w="$with" 'BEGIN { printf "%.3f\n", w / a }'
	done | sort -n | awk -v o="$options" '{ r[NR] = $1 } END { printf "%-34s %.3f (%.3f..%.3f)\n", "record " o, r[int((NR + 1) / 2)], r[1], r[NR] }'
done

# cpu_ms <command>...: user and system time, of the command and what it has waited for.
cpu_ms() {
	{ time "$@" >/dev/null 2>&1 </dev/null; } 2>&1 | tail -n 1 | awk '{ print ($1 + $2) * 1000 }'
}
TIMEFORMAT='%U %S'
median() {
	sort -n | awk '{ r[NR] = $1 } END { printf "%.1f (%.1f..%.1f)", r[int((NR + 1) / 2)], r[1], r[NR] }'
}

# starts <program>...: rows that were measured in turn
starts() {
	local i row
	for ((i = 0; i < 7 * runs; i++)); do
		echo "alone,$(cpu_ms "$@")"
		echo "record,$(cpu_ms "$ARCPROF" record -q -o trace -- "$@")"
		echo "record --clock=thread,$(cpu_ms "$ARCPROF" record -q --clock=thread -o trace -- "$@")"
		echo "record; libbpf reads all types,$(cpu_ms "$BUILD/t/tools/deny" -n bpf-run "$ARCPROF" record -q -o trace -- "$@")"
		echo "record without BPF,$(cpu_ms "$BUILD/t/tools/deny" bpf "$ARCPROF" record -q -o trace -- "$@")"
		! command -v perf >/dev/null || echo "perf record -g,$(cpu_ms perf record -q -g -o perf.data -- "$@")"
	done >rows
	cut -d , -f 1 rows | awk '!seen[$0]++' | while read -r row; do
		printf '%-34s %s\n' "$row" "$(awk -F , -v row="$row" '$1 == row { print $2 }' rows | median)"
	done
}

echo
echo "start: CPU time of 'record -- true', ms"
starts true
use_jdk "$(jdks | head -n 1)"
echo "start: the same of a JVM that prints (JDK $JDK)"
runs=1 starts "$JAVA_HOME/bin/java" -cp "$CLASSES" Hellop 1

# faults_beside <options>: a row; "none": nothing is recorded meanwhile
faults_beside() {
	local i recorder=''
	if [ "$1" != none ]; then
		"$ARCPROF" record -q -e page-faults "$1" -o trace -- sleep 1000 &
		recorder=$!
		sleep 1
	fi
	for ((i = 0; i < 2 * runs + 1; i++)); do
		cpu_ms "$W/touch" 40 5000 | awk '{ print $1 * 1e6 / 200000 }'
	done | median | awk -v name="$1" '{ printf "%-34s %s\n", name, $0 }'
	[ -z "$recorder" ] || { kill $recorder; wait $recorder; }
}

echo
echo "others: page faults of a program, ns each, while another is recorded"
for options in none --clock=cpu --clock=thread; do
	faults_beside $options
done
