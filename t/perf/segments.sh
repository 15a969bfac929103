#!/bin/bash
# What a change from one segment to the next costs ("record --segment"): how long the recorder does nothing else,
# samples lost, bytes of a segment beside one file's, and names that are missing though one file has them; on
# every JDK, of a program that loads and unloads classes, and of one that computes.
#
# usage: t/perf/segments.sh [GENERATIONS]		the default is 500
set -u
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"
generations=${1:-500}
cd "$DIR" || exit 1

unknown() {	# <trace>: contexts without a name
	"$ARCPROF" report --xprof "$1" 2>/dev/null | grep -cE '\[unknown'
}

one() {	# <name> <command>...
	local name=$1 f worst=0 n
	shift
	"$ARCPROF" record -q -e cpu,wall -o one -- "$@" >/dev/null 2>&1
	rm -rf dir
	"$ARCPROF" -v record --segment 200ms -e cpu,wall -o dir -- "$@" >/dev/null 2>said
	for f in dir/*.arc; do
		n=$(unknown "$f")
		[ "$n" -le "$worst" ] || worst=$n
	done
	echo "$name: $(grep -o '[0-9]* changes of files.*' said); $(grep -o '[0-9]* lost' said | head -n 1);" \
		"$(($(du -sb dir | cut -f 1) / $(find dir -name '*.arc' | wc -l))) bytes a segment," \
		"$(stat -c %s one) in one file; unknown names $worst, $(unknown one) in one file"
}

make -s -C "$TOP" build/t/workloads/shares
one shares "$BUILD/t/workloads/shares" 1000
for home in $(jdks); do
	use_jdk "$home"
	one "JDK $JDK" "$JAVA_HOME/bin/java" -cp "$CLASSES" Churn "$generations"
done
