#!/bin/bash
# What the agent costs a million virtual threads (Skynet), on every JDK that has them: CPU time of the JVM with
# the agent loaded and nothing recorded, with samples, and with -e jvm, against none, in turns, as median of the
# ratios with the spread. The second column compares runs without the agent: how much is noise.
#
# usage: t/perf/skynet.sh [TURNS [THREADS]]	run it on a quiet machine
set -u
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"
turns=${1:-5}
n=${2:-1000000}
cd "$DIR" || exit 1

cat >timed <<'EOT'
#!/bin/bash
TIMEFORMAT='%U %S'
{ time "$@" >/dev/null 2>/dev/null; } 2>cpu
EOT
chmod +x timed

cpu() {	# <command...>: CPU seconds of the JVM in it
	"$@" >/dev/null 2>/dev/null || echo "failed: $*" >&2
	awk '{ print $1 + $2 }' cpu
}

one_jdk() {
	local java=(java -Xmx2g -cp . Skynet "$n") i before after
	[ "$JDK" -ge 21 ] || return
	javac -d . "$TOP/t/perf/Skynet.java" || exit 1
	rm -f noise idle samples jvm
	before=$(cpu ./timed "${java[@]}")
	for ((i = 0; i < turns; i++)); do
		idle=$(cpu ./timed java "-agentpath:$BUILD/libarcprof-jvm.so" "${java[@]:1}")
		samples=$(cpu "$ARCPROF" record -q -o trace -- ./timed "${java[@]}")
		jvm=$(cpu "$ARCPROF" record -q -e jvm -o trace -- ./timed "${java[@]}")
		after=$(cpu ./timed "${java[@]}")
		echo "$before $after $idle $samples $jvm" | awk '{
			base = ($1 + $2) / 2
			print $2 / $1 >>"noise"; print $3 / base >>"idle"; print $4 / base >>"samples"; print $5 / base >>"jvm"
		}'
		before=$after
	done
	echo "JDK $JDK  $n threads in $before s; without again: x $(median_and_spread <noise);" \
		"agent idle: x $(median_and_spread <idle); samples: x $(median_and_spread <samples);" \
		"-e jvm: x $(median_and_spread <jvm)"
}

for home in $(jdks); do
	use_jdk "$home" || exit 1
	one_jdk
done
