#!/bin/bash
# What "record -e jvm" costs a JVM, on every JDK: the ratio of its CPU time with and without, in turns, as
# median with the spread, of a program that collects, compiles and loads (Happens), and of one that computes
# (Mixed). What it costs under load, load.sh says.
#
# Then what a mark takes, in ns, and an event with three named values: in C without a recorder and with one, in
# Java with one.
#
# usage: t/perf/events.sh [TURNS [PART...]]	parts: programs, marks; run it on a quiet machine
set -u
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"
turns=${1:-5}
shift
parts=" ${*:-programs marks} "
cd "$DIR" || exit 1
mkdir marks.java

cat >timed <<'EOT'
#!/bin/bash
TIMEFORMAT='%U %S'
{ time "$@" >/dev/null 2>/dev/null; } 2>cpu
EOT
chmod +x timed

cpu() {	# seconds
	awk '{ print $1 + $2 }' cpu
}

ratio() {	# <java arguments>: of one turn
	local before after with
	./timed java "$@"
	before=$(cpu)
	"$ARCPROF" record -q -e jvm -o trace -- ./timed java "$@" >/dev/null 2>/dev/null
	with=$(cpu)
	./timed java "$@"
	after=$(cpu)
	echo "$before $after $with" | awk '{ print 2 * $3 / ($1 + $2) }'
}

programs() {
	local i program
	for program in 'Happens 200' 'Mixed 3'; do
		# shellcheck disable=SC2086
		for ((i = 0; i < turns; i++)); do
			ratio -cp "$CLASSES" $program
		done | median_and_spread >result
		echo "JDK $JDK  -e jvm, CPU time of ${program% *}: x $(cat result)"
	done
}

marks_in_c() {
	local i what
	gcc -O2 -I "$TOP/lib/api" "$TOP/t/data/marks/marks.c" "$BUILD/libarcprof.a" -o marks -pthread || exit 1
	for what in cost emit; do	# a mark, an event with three values
		for ((i = 0; i < turns; i++)); do
			./marks $what 10000
		done | median_and_spread >off
		for ((i = 0; i < turns; i++)); do
			"$ARCPROF" record -q -e mark -o trace -- ./marks $what 1000
		done | median_and_spread >on
		echo "C  $what: $(cat off) ns without a recorder, $(cat on) ns with one"
	done
}

marks_in_java() {	# cost or emit
	local i
	for ((i = 0; i < turns; i++)); do
		"$ARCPROF" record -q -e mark -o trace -- java -Darcprof.library="$TOP/build/libarcprof-java.so" \
			-cp "$TOP/build/arcprof.jar:marks.java" Marks "$1" 3000 2>/dev/null
	done | median_and_spread
}

wanted() {	# <part>
	case $parts in *" $1 "*) true ;; *) false ;; esac
}

one_jdk() {
	if wanted programs; then
		programs
	fi
	if wanted marks; then
		javac -cp "$TOP/build/arcprof.jar" -d marks.java "$TOP/t/workloads/Marks.java" || exit 1
		echo "JDK $JDK  a mark: $(marks_in_java cost) ns, an event with a text and two numbers: $(marks_in_java emit) ns"
	fi
}

make -s -C "$TOP" java >&2 || exit 1
if wanted marks; then
	marks_in_c
fi
for home in $(jdks); do
	use_jdk "$home" || exit 1
	one_jdk
done
