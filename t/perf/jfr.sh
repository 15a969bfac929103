#!/bin/bash
# arcprof beside the JDK's own Flight Recorder, on the newest JDK, which must be 25 or later.
#
#	shares	a program that knows how its CPU time is divided between two loops: what samples say, and by how
#		much they are wrong; with jdk.CPUTimeSample
#	calls	what counting and timing a call of a small method adds to it, in ns; with jdk.MethodTiming
#
# usage: t/perf/jfr.sh [RUNS]	the default is 3; run it on a quiet machine
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"
runs=${1:-3}
cd "$DIR" || exit 1
use_jdk "$(jdks | tail -n 1)" || exit 1
[ "$("$JAVA_HOME/bin/java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p')" -ge 25 ] ||
	{ echo "no JDK 25 or later is installed" >&2; exit 1; }
"$JAVA_HOME/bin/javac" -d . "$TOP/t/perf/Parts.java" || exit 1
java=$JAVA_HOME/bin/java

# with_jfr <settings> <argument>...: the recording is rival.jfr.
with_jfr() {
	"$java" "-XX:StartFlightRecording=filename=rival.jfr,settings=default,$1" -Xlog:disable -cp . Parts "${@:2}" 2>/dev/null |
		tail -n 1
}

# of_jfr <seconds>: percent of the samples from then on that are in the first loop.
of_jfr() {
	"$JAVA_HOME/bin/jfr" print --json --events jdk.CPUTimeSample --stack-depth 8 rival.jfr | jq -r --argjson from "$1" '
		[.recording.events[].values | select(.stackTrace) |
		 { t: ((.startTime[:19] + "Z" | fromdate) + ("0" + .startTime[19:29] | tonumber)),
		   m: ([.stackTrace.frames[].method | select(.type.name == "Parts") | .name][0]) }] |
		(map(.t) | min) as $begin |
		map(select(.t - $begin >= $from)) | (map(select(.m == "integers")) | length) as $a |
		(map(select(.m == "reals")) | length) as $b | "\(100 * $a / ($a + $b)) \($a + $b)"'
}

# of_ours <seconds>
of_ours() {
	"$ARCPROF" report --from "$1" --xprof --format json trace | jq -r '
		[.rows[] | select(.name == "Parts.integers" or .name == "Parts.reals") | { (.name): [.cum[0], .n] }] | add |
		.["Parts.integers"] as $a | .["Parts.reals"] as $b |
		"\(100 * $a[0] / ($a[0] + $b[0])) \($a[1] + $b[1])"'
}

echo "shares: % of the first loop by the program's own clock, by samples, and the difference"
for ((i = 0; i < runs; i++)); do
	for way in cpu thread jfr; do
		case $way in
		jfr)
			said=$(with_jfr "jdk.CPUTimeSample#enabled=true,jdk.CPUTimeSample#throttle=1ms" 6)
			got=$(of_jfr "${said#* }") ;;
		*)
			said=$("$ARCPROF" record -q -F 1000 --clock=$way -o trace -- "$java" -cp . Parts 6 2>/dev/null | tail -n 1)
			got=$(of_ours "${said#* }") ;;
		esac
		awk -v way="$way" -v said="${said% *}" -v got="$got" 'BEGIN {
			split(got, g, " ")
			printf "%-22s %6.2f %6.2f %+6.2f of %d samples\n", way == "jfr" ? "jdk.CPUTimeSample" : "arcprof --clock=" way,
				said, g[1], g[1] - said, g[2]
		}'
	done
done

least() { sort -n | head -n 1; }
calls=2000000
alone=$(for ((i = 0; i < runs; i++)); do "$java" -cp . Parts $calls calls; done | least)
ours=$(for ((i = 0; i < runs; i++)); do
	"$ARCPROF" record -q --callflow=Parts.step -o trace -- "$java" -cp . Parts $calls calls 2>/dev/null | tail -n 1
done | least)
theirs=$(for ((i = 0; i < runs; i++)); do with_jfr "method-timing=Parts::step" $calls calls; done | least)
echo
echo "calls: ns that a call takes longer"
awk -v a="$alone" -v o="$ours" -v t="$theirs" 'BEGIN {
	printf "%-22s %6.1f\n%-22s %6.1f\n", "arcprof --callflow", o - a, "jdk.MethodTiming", t - a
}'
