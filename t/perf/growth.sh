#!/bin/bash
# How recording and reports grow with threads, processes, JVMs, samples, contexts, depth of stacks and compiled
# methods: CPU time, most memory and bytes, of the recorder alone and of each report; and where a curve
# bends, that is, where a step grew by more than 1.5 times what n log n allows.
#
# Each figure is the least of two runs. Below 60 ms, 30 MB and 1 MB nothing is said to bend: there start-up counts.
#
# usage: t/perf/growth.sh [CURVE...]	threads processes jvms samples contexts calls depth javadepth methods
#	 FULL=1: to the largest sizes, 10^7 contexts among them, which takes 6 GB of memory
set -u
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"
cd "$TOP" || exit 1
make -s build/arcprof build/t/perf/{cost,grow,trace-gen} >/dev/null || exit 1
tools=$BUILD/t/perf
cd "$DIR" || exit 1
rows=$DIR/rows
: >"$rows"

# least <command...>: "CPU ms, KiB" of it, into $cost; its output is in the file "out"
least() {
	rm -f cost
	for _ in 1 2; do
		"$tools/cost" cost "$@" >out 2>err || { echo "growth.sh: $*: $(head -1 err)" >&2; break; }
	done
	cost=$(awk 'NR == 1 || $1 < ms { ms = $1 } NR == 1 || $2 < kb { kb = $2 } END { print ms + 0, kb + 0 }' cost)
}

# row <curve> <n> <of what> <bytes>
row() {
	echo "$1 $2 $3 $cost $4" >>"$rows"
	echo "$1 $2 $3 $cost $4" | awk '{ printf "%-10s %9d  %-8s %9.0f ms %8.1f MB %10.0f KB\n", $1, $2, $3, $4, $5 / 1024, $6 / 1024 }'
}

reports() {	# <curve> <n>
	local r
	for r in xprof xtree xarc; do
		least "$ARCPROF" report -i trace --"$r"
		row "$1" "$2" "$r" "$(stat -c %s out)"
	done
}

recorded() {	# <curve> <n> <record's arguments...>
	local curve=$1 n=$2
	shift 2
	least "$ARCPROF" record -q -o trace "$@"
	row "$curve" "$n" record "$(stat -c %s trace)"
	reports "$curve" "$n"
}

generated() {	# <curve> <n> <trace-gen's arguments...>
	local curve=$1 n=$2
	shift 2
	rm -f trace
	"$tools/trace-gen" --compress "$@" trace 2>/dev/null
	cost="0 0"
	row "$curve" "$n" trace "$(stat -c %s trace)"
	reports "$curve" "$n"
}

java_ready() {
	use_jdk "$(jdks | tail -1)" || return 1
	[ -e classes/Grow.class ] || "$JAVA_HOME/bin/javac" -d classes "$TOP/t/perf/Grow.java"
}

threads() { for n in 10 100 1000 10000; do recorded threads $n "$tools/grow" threads $n; done; }
processes() { for n in 1 10 100 1000 5000; do recorded processes $n "$tools/grow" processes $n; done; }
jvms() {
	java_ready || return
	for n in 1 5 20 50; do
		# shellcheck disable=SC2016
		recorded jvms $n sh -c 'for i in $(seq "$1"); do java -Xshare:auto -cp classes Grow methods 10; done' sh $n
	done
}
samples() { for n in 10000 100000 1000000 10000000; do generated samples $n --samples $n --stacks 5000 --depth 20; done; }
contexts() {
	for n in 1000 10000 100000 1000000 ${FULL:+10000000}; do generated contexts $n --samples $((2 * n)) --stacks $n --depth 6; done
}
# Exact calls: each of ten functions calls all ten.
calls() {
	cat >tree.c <<-'END'
	#include <stdlib.h>
	#define F(n) static __attribute__((noinline)) void f##n(int deeper) { all(deeper); }
	static void all(int deeper) __attribute__((no_instrument_function, noinline));
	F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9)
	static void (*const f[])(int) = { f0, f1, f2, f3, f4, f5, f6, f7, f8, f9 };
	static void all(int deeper) { for (int i = 0; deeper && i < 10; i++) f[i](deeper - 1); }
	int main(int argc, char **argv) { for (int i = 0; i < 3; i++) all(atoi(argv[1])); }
	END
	gcc -O1 -fno-optimize-sibling-calls -finstrument-functions tree.c "$BUILD/libarcprof-hookit.a" -o tree -pthread || return
	for d in 3 4 5 6 ${FULL:+7}; do recorded calls $((10 ** d)) --callflow --call-memory 1G ./tree "$d"; done
}
depth() { for n in 10 100 1000 4000; do generated depth $n --samples 20000 --stacks 200 --depth $n --max-depth $((2 * n)); done; }
javadepth() {
	java_ready || return
	for n in 10 100 1000 4000; do recorded javadepth $n --java-depth 4096 java -cp classes Grow depth $n; done
}
methods() {
	java_ready || return
	for n in 1000 10000 100000; do
		recorded methods $n java -Xcomp -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=500m \
			-XX:CompileCommand=quiet '-XX:CompileCommand=dontinline,*::*' -cp classes Grow methods $n
	done
}

[ $# -gt 0 ] || set -- threads processes jvms samples contexts calls depth javadepth methods
for curve; do
	$curve || exit 1
done
awk '
function check(what, a, b, floor) {
	if (b > floor && a > 0 && b / a > 1.5 * allowed) {
		printf "bends: %s of %s, %s from %d to %d: x %.1f, where n log n is x %.1f\n", what, $3, $1, n0, $2, b / a, allowed
		bad = 1
	}
}
{
	key = $1 " " $3
	if (key in n) {
		n0 = n[key]
		allowed = $2 * log($2 + 2) / (n0 * log(n0 + 2))
		check("time", ms[key] > 60 ? ms[key] : 60, $4, 60)
		check("memory", kb[key] > 30720 ? kb[key] : 30720, $5, 30720)
		check("bytes", bytes[key] > 1048576 ? bytes[key] : 1048576, $6, 1048576)
	}
	n[key] = $2; ms[key] = $4; kb[key] = $5; bytes[key] = $6
}
END { if (!bad) print "no curve bends" }' "$rows"
