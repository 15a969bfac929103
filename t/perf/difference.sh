#!/bin/bash
# difference.sh [<folder>] - how often "arcprof diff" finds a planted change, and what it calls one where there
# is none: 1+1, 3+3 and 5+5 runs drawn at random (diff-power.c) from recordings of plants.c and Plants.java.
# SCALE=full records 16 equal runs and 6 of each plant, where the default has 10 and 5 of fewer plants;
# <folder> keeps the recordings, and a second run with it records nothing.
#
# PROGRAMS="h2 tomcat javac" does it with programs that others wrote (libh2-java; libtomcat10-java, tomcat10-common
# and apache2-utils; libasm-java for the agent of Spin.java, by which a method of theirs gets a loop): a hot
# method of each, of which the number of turns is changed.
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"
# shellcheck source=tomcat.bash
. "$TOP/t/perf/tomcat.bash"
make -s -C "$TOP" build/t/perf/plants >/dev/null || exit 1
OUT=${1:-$DIR/runs}
programs=${PROGRAMS:-c java}
use_jdk "$(jdks | head -n 1)" || exit 1
mkdir -p "$OUT"
OUT=$(realpath "$OUT")
cd "$DIR" || exit 1

if [ "${SCALE-}" = full ]; then
	plants="m50 m20 p5 p10 p20 p50 p100 new gone" equal=16 each=6 draws=200
else
	plants="m50 p20 p50 new gone" equal=10 each=5 draws=50
fi
# Rounds of score(), of which a run without a plant has 20, and in programs of others percents of the turns.
declare -A rounds=([base]=20 [m50]=10 [m20]=16 [p5]=21 [p10]=22 [p20]=24 [p50]=30 [p100]=40 [new]=20 [gone]=20)
declare -A spun=([h2]=org/h2/mvstore/Page.binarySearch [tomcat]=org/apache/coyote/http11/Http11InputBuffer.parseHeader
	[javac]=com/sun/tools/javac/parser/JavaTokenizer.readToken)
declare -A turns=([h2]=${TURNS_H2:-40} [tomcat]=${TURNS_TOMCAT:-4000} [javac]=${TURNS_JAVAC:-5000})

# mix SEED: lines of the input in a random order that is the same each time
mix() {
	awk -v seed="$1" 'BEGIN { srand(seed) } { print rand() "\t" $0 }' | sort -n | cut -f2-
}

# has PROGRAM PLANT: whether that can be planted in it
has() {
	case $1:$2 in
	c:* | java:*) return 0 ;;
	*:new | *:gone) return 1 ;;
	esac
}

list_runs() {
	local p v i
	for p in $programs; do
		for ((i = 1; i <= equal; i++)); do echo "$p base $i"; done
		for v in $plants; do
			has "$p" "$v" || continue
			for ((i = 1; i <= each; i++)); do echo "$p $v $i"; done
		done
	done
}

prepare() {
	local jars=/usr/share/java
	javac -nowarn -d . "$TOP/t/perf/Plants.java" || exit 1
	case $programs in *h2* | *tomcat* | *javac*) ;; *) return ;; esac
	[ -e $jars/asm-tree.jar ] || { echo "difference.sh: needs libasm-java" >&2; exit 1; }
	javac -nowarn -cp $jars/asm.jar:$jars/asm-tree.jar -d spin "$TOP/t/perf/Spin.java" || exit 1
	printf 'Premain-Class: Spin\nBoot-Class-Path: spin.jar %s %s\n' $jars/asm.jar $jars/asm-tree.jar >manifest
	jar cfm spin.jar manifest -C spin . || exit 1
	java_sources . 80
	mkdir -p classes
	case $programs in *tomcat*) tomcat_can && web || { echo "difference.sh: no Tomcat, or no ab" >&2; exit 1; } ;; esac
}

# start PROGRAM PLANT COMMAND...: runs it under the command
start() {
	local p=$1 v=$2
	shift 2
	options=(-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote -XX:-BytecodeVerificationLocal -Xmx512m
		"-javaagent:$DIR/spin.jar=${spun[$p]-}:$((${turns[$p]-0} * ${rounds[$v]} / 20))")
	case $p in
	c) "$@" "$BUILD/t/perf/plants" "${rounds[$v]}" "${UNITS_C:-4000}" "$v" ;;
	java) "$@" java -Xmx256m -XX:+UseSerialGC -cp . Plants "${rounds[$v]}" "${UNITS_JAVA:-3000}" "$v" ;;
	h2) "$@" java "${options[@]}" -cp "$CLASSES:/usr/share/java/h2.jar" H2Load 50 ;;
	tomcat) turns_of_ab=1 requests=12000 tomcat "$@" ;;
	javac) "$@" javac "${options[@]/#/-J}" -proc:none -d classes src/gen/*.java ;;
	esac
}

record_runs() {
	local p v i
	prepare
	while read -r p v i; do
		[ -s "$OUT/$p-$v-$i.data" ] && continue
		start "$p" "$v" nice "$ARCPROF" record -q -F 1999 -o "$OUT/$p-$v-$i.data" -- \
			>"$OUT/$p-$v-$i.truth" 2>log </dev/null || { cat log >&2; exit 1; }
	done < <(list_runs | mix 1)
}

# target PROGRAM PLANT: the function that the plant changes
target() {
	local f=score
	[ "$2" = new ] && f=validate
	[ "$2" = gone ] && f=audit
	case $1 in
	c) echo "$f" ;;
	java) echo "Plants.$f" ;;
	*) echo "${spun[$1]//\//.}" ;;
	esac
}

# truth PROGRAM PLANT: what the program itself says of score(), the median of all its runs
truth() {
	cat "$OUT/$1-$2"-*.truth | sort -n | awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }'
}

record_runs
for p in $programs; do
	base=
	case $p in c | java) base=$(truth "$p" base) ;; esac
	for v in $plants; do
		case $v in new | gone) continue ;; esac
		if [ -z "$base" ]; then
			echo "$p: $v is $((5 * ${rounds[$v]} - 100)) % more of the loop in $(target "$p" "$v")()"
		else
			echo "$p: $v is $(truth "$p" "$v" | awk -v b="$base" '{ printf "%+.0f%%", 100 * ($1 / b - 1) }') of score() by its own clock"
		fi
	done
	list=()
	for v in $plants; do
		has "$p" "$v" && list+=("$v=$(target "$p" "$v")")
	done
	"$BUILD/t/perf/diff-power" "$OUT" "$p" "$draws" "${list[@]}"
done
