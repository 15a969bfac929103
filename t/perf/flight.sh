#!/bin/bash
# A flight recorder that is switched on and off all the time, and what it costs when it is on and has nothing to
# do, and when all is off. On every JDK:
#	- CYCLES times on and off ("arcprof ctl enable", "disable") in a program that loads and unloads classes,
#	  with a dump every now and then: none may be damaged, and names that are missing are counted;
#	- CPU time of a fixed piece of work, as a ratio to that without a recorder.
#
# usage: t/perf/flight.sh [CYCLES [RUNS]]		the defaults are 500 and 5
set -u
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"
cycles=${1:-500}
runs=${2:-5}
cd "$DIR" || exit 1

is_up() {	# <recorder>
	"$ARCPROF" ctl status -p "$1" 2>/dev/null | grep -q 'state: recording'
}

# Looks at dumps: damaged ones, and how many rows of one have no name.
look() {	# <trace>...
	local f bad=0 all=0 unknown=0 n
	for f in "$@"; do
		[ -z "$("$ARCPROF" dump "$f" 2>&1 >/dev/null)" ] || bad=$((bad + 1))
		n=$("$ARCPROF" report --format json "$f" | jq .quality.samples)
		all=$((all + n))
		n=$("$ARCPROF" report --xprof "$f" | grep -cE '\[unknown')
		[ "$n" -le "$unknown" ] || unknown=$n
	done
	echo "$# dumps, $bad damaged, $all samples, at most $unknown rows without a name"
}

on_and_off() {
	local recorder i failed=0
	rm -f w*.data
	"$ARCPROF" record -q --mode wrap --max-size 8M -e cpu,wall,gc,jit -o w.data -- \
		"$JAVA_HOME/bin/java" -cp "$CLASSES" Churn 9999 >/dev/null 2>said &
	recorder=$!
	until is_up $recorder; do sleep 0.1; done
	for ((i = 1; i <= cycles; i++)); do
		"$ARCPROF" ctl disable cpu,wall,gc,jit -p $recorder >/dev/null || failed=$((failed + 1))
		"$ARCPROF" ctl enable cpu,wall,gc,jit -p $recorder >/dev/null || failed=$((failed + 1))
		[ $((i % 50)) -ne 0 ] || "$ARCPROF" ctl dump -p $recorder -o "w$i.data" >/dev/null ||
			failed=$((failed + 1))
	done
	"$ARCPROF" ctl stop -p $recorder >/dev/null
	wait $recorder
	"$ARCPROF" record -q -d 5 -e cpu,wall,gc,jit -o one.data -- \
		"$JAVA_HOME/bin/java" -cp "$CLASSES" Churn 9999 >/dev/null 2>&1
	echo "JDK $JDK: $cycles times off and on, $failed commands failed; $(look w*.data); of 5 s without: $(look one.data)"
	sort said | uniq -c
}

cpu_ms() {	# <command>...: user and system time
	local t
	TIMEFORMAT='%U %S'
	t=$({ time "$@" >/dev/null 2>&1; } 2>&1 | tail -n 1)
	awk '{ printf "%d\n", 1000 * ($1 + $2) }' <<<"$t"
}

least() {	# <command>...: of the runs, the least
	local i
	for ((i = 0; i < runs; i++)); do
		cpu_ms "$@"
	done | sort -n | head -n 1
}

costs() {
	local work=("$JAVA_HOME/bin/java" -XX:+UseSerialGC -cp "$DIR" Work) alone on off
	alone=$(least "${work[@]}")
	on=$(least "$ARCPROF" record -q --mode wrap --max-size 8M -F 49 -o on.data -- "${work[@]}")
	off=$(least "$ARCPROF" record -q --mode wrap --max-size 8M -F 49 --disabled cpu-clock -o off.data -- "${work[@]}")
	awk -v a="$alone" -v n="$on" -v f="$off" -v jdk="$JDK" 'BEGIN {
		printf "JDK %s: CPU time %d ms; with the recorder %.3f of it, with all of it off %.3f\n",
			jdk, a, n / a, f / a }'
}

cat >Work.java <<'END'
public class Work {
	static volatile long sink;

	static long step(int i) {
		long x = i;

		for (int k = 0; k < 1000; k++)
			x = x * 31 + k;
		return x;
	}

	public static void main(String[] args) {
		for (int i = 0; i < 3000000; i++)
			sink += step(i);
	}
}
END
for home in $(jdks); do
	use_jdk "$home"
	on_and_off
	"$JAVA_HOME/bin/javac" -d "$DIR" Work.java && costs
done
