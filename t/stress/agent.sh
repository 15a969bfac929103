#!/bin/bash
# Programs that record themselves again and again, each time with other events, while threads allocate, wait, throw,
# load classes and collect: t/workloads/Recordings.java. Says what went wrong: a crash, a journal that cannot be read
# or breaks an invariant, a descriptor that is left.
#
# usage: t/stress/agent.sh [SECONDS a JDK]
set -u
TOP=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=$TOP/build
ARCPROF=${ARCPROF:-$BUILD/arcprof}
# shellcheck source=../java.bash
. "$TOP/t/java.bash"
unset JAVA_TOOL_OPTIONS
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
ulimit -c 0
failures=0

"$ARCPROF" agent install -q -o "$dir" || exit 1
for home in $(jdks); do
	use_jdk "$home"
	rm -rf classes ./*.journal hs_err*
	"$home/bin/javac" -nowarn -d classes "$TOP/lib/api/java/arcprof/Recording.java" "$TOP/t/workloads/Recordings.java" || exit 1
	for gc in Serial Parallel G1 Z; do
		timeout $((${1:-20} + 60)) java "-agentpath:$dir/libarcprof-jvm.so" "-XX:+Use${gc}GC" -Xmx256m -cp classes \
			Recordings stress "${1:-20}" >out 2>&1 || { failures=$((failures + 1)); echo "FAILED: JDK $JDK, $gc"; }
		sort out | uniq -c | sort -rn | head -n 3
		for f in ./*.journal; do
			"$ARCPROF" report --check "$f" >check 2>&1 || { failures=$((failures + 1)); echo "FAILED: JDK $JDK, $gc, $f"; tail -n 5 check; }
		done
		rm -f ./*.journal
	done
done
[ -z "$(ls hs_err* 2>/dev/null)" ] || failures=$((failures + 1))
echo "$failures failures"
exit $((failures > 0))
