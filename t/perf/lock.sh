#!/bin/bash
# What "record -e lock" costs a JVM whose threads wait for a monitor or a lock all the time, on every JDK: the
# ratio of its CPU time with and without, in turns, as median with the spread; the waits a second; and what
# the recorder takes, in percent of the JVM's CPU time. The last column is the same ratio with no waits at
# all (Mixed, which computes).
#
# How often such threads wait is chance, and differs between two runs by more than the cost. So next are a lock
# and a monitor that are handed over (Fair): they are waited for each time. "added" is what -e lock adds to a wait, in ns of CPU time;
# -e gc has the agent, too, so what it takes to start is not in it; "at 100000" is the share of a CPU that so many
# waits a second add.
#
# Then what --lock-exact adds to locking and unlocking with nobody else there, in ns of CPU time a pair, and that as a
# ratio to the 40 that are allowed.
#
# Last, what -e lock adds to locking and unlocking a native mutex that is free, in ns of CPU time a pair.
#
# usage: t/perf/lock.sh [TURNS [TIMES]]		run it on a quiet machine
set -u
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"
turns=${1:-5}
times=${2:-60000}
cd "$DIR" || exit 1

cat >timed <<'EOT'
#!/bin/bash
TIMEFORMAT='%R %U %S'
{ time "$@" >/dev/null 2>/dev/null; } 2>cpu
EOT
chmod +x timed

all_cpu() {	# into the file "all": CPU seconds of all children that have ended
	times >times.now
	awk 'NR == 2 { split($0, v, /[ms ]+/); print v[1] * 60 + v[2] + v[3] * 60 + v[4] }' times.now >all
}

one_turn() {	# <java arguments>: appends "ratio waits/s recorder" to ratios
	local base after before with recorder n
	./timed java "$@"
	base=$(awk '{ print $2 + $3 }' cpu)
	all_cpu
	before=$(cat all)
	"$ARCPROF" record -q -e lock -o trace -- ./timed java "$@" >/dev/null 2>/dev/null
	with=$(awk '{ print $2 + $3, $1 }' cpu)
	all_cpu
	recorder=$(cat all)
	./timed java "$@"
	after=$(awk '{ print $2 + $3 }' cpu)
	n=$("$ARCPROF" report -i trace --locks --format json | jq '.source.waits')
	echo "$base $after $with $before $recorder $n" |
		awk '{ print $3 / (($1 + $2) / 2), $7 / $4, 100 * ($6 - $5 - $3) / $3 }' >>ratios
}

line() {	# <what>
	sort -n ratios | awk -v jdk="$JDK" -v what="$1" '
		{ r[NR] = $1; w[NR] = $2; c[NR] = $3 }
		END { m = int((NR + 1) / 2)
		      printf "%-4s %-12s %.3f (%.3f..%.3f) %9.0f %6.1f\n", jdk, what, r[m], r[1], r[NR], w[m], c[m] }'
	rm ratios
}

printf '%-4s %-12s %-22s %9s %6s\n' JDK program 'CPU ratio (min..max)' waits/s 'rec %'
for home in $(jdks); do
	use_jdk "$home" || exit 1
	for what in monitor lock; do
		for ((i = 0; i < turns; i++)); do
			one_turn -cp "$CLASSES" LockWaits "$what" p 8 "$times" 0
		done
		line "$what"
	done
	for ((i = 0; i < turns; i++)); do
		one_turn -cp "$CLASSES" Mixed 4 2
	done
	line none
done

with_cpu() {	# <event> <java arguments>: CPU seconds of the JVM
	"$ARCPROF" record -q -e "$1" -o trace -- taskset -c 0 ./timed java "${@:2}" >/dev/null 2>/dev/null
	awk '{ print $2 + $3 }' cpu
}

printf '\n%-4s %-12s %8s %12s\n' JDK handed-over added 'at 100000'
for home in $(jdks); do
	use_jdk "$home" || exit 1
	javac -d fair "$TOP/t/perf/Fair.java" || exit 1
	for what in lock monitor; do
		arguments=(-cp fair Fair 600000 4)
		[ "$what" = lock ] || arguments+=("$what")
		for ((i = 0; i < turns; i++)); do
			base=$(with_cpu gc "${arguments[@]}")
			with=$(with_cpu lock "${arguments[@]}")
			n=$("$ARCPROF" report -i trace --locks --format json | jq '.source.waits')
			echo "$base $with $n" | awk '{ print 1e9 * ($2 - $1) / $3 }'
		done | sort -n | awk -v jdk="$JDK" -v what="$what" '
			{ ns[NR] = $1 }
			END { m = ns[int((NR + 1) / 2)]
			      printf "%-4s %-12s %8.0f %10.1f %%\n", jdk, what, m, m * 100000 / 1e7 }'
	done
done

printf '\n%-4s %-12s %8s %8s %8s %6s\n' JDK pair ns counted added ratio
for home in $(jdks); do
	use_jdk "$home" || exit 1
	for what in block method lock; do
		without=$(java -cp "$CLASSES" LockPairs "$what" 200)
		with=$("$ARCPROF" record -q --lock-exact='LockPairs,java.util.concurrent.locks.*' -o trace java -cp "$CLASSES" LockPairs "$what" 200)
		echo "$without $with" | awk -v jdk="$JDK" -v what="$what" '
			{ printf "%-4s %-12s %8.1f %8.1f %8.1f %6.2f\n", jdk, what, $1, $2, $2 - $1, ($2 - $1) / 40 }'
	done
done

gcc -O1 -o known "$TOP/t/cli/native-locks.c" -lpthread || exit 1
for ((i = 0; i < turns; i++)); do
	echo "$(./known pairs 2000000) $("$ARCPROF" record -q -e lock -o trace ./known pairs 2000000)"
done | awk '
	{ a = NR == 1 || $1 < a ? $1 : a; b = NR == 1 || $2 < b ? $2 : b }
	END { printf "\nmutex     %8.1f %8.1f %8.1f\n", a, b, b - a }'
