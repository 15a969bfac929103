#!/bin/bash
# Can the stacks of real Java programs be true? Each program on each JDK of this machine in each mode, sampled at a
# high rate; where a method is shown to call another, its bytecode there must be a call of that one (t/tools/edges.c).
#
# usage: t/perf/java-edges.sh [-v] [SIZE [PROGRAM...]]	SIZE 1: about a second; -v: each wrong call, too
# MODES (tiered c1 int c2), HZ (4999) and JDKS (homes) choose less.
set -u
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"
verbose=
[ "${1:-}" = -v ] && { verbose=-v; shift; }
size=${1:-4}
shift
programs=${*:-$JAVA_PROGRAMS}

flags_of() {
	case $1 in
	tiered) echo ;;
	c1) echo -XX:TieredStopAtLevel=1 ;;
	c2) echo -XX:-TieredCompilation ;;
	int) echo -Xint ;;
	*) echo "$1" ;;
	esac
}

# one <program> <mode>: in the current folder
one() {
	local flags
	flags=$(flags_of "$2")
	JAVA_TOOL_OPTIONS="$flags -agentpath:$BUILD/t/tools/class-dump.so=$PWD/classes.bin" \
		"$ARCPROF" record -q -F "${HZ:-4999}" -o trace -- "${COMMAND[@]}" >out 2>err || {
		echo "failed with status $?"
		tail -n 5 out err
		return 1
	}
	"$BUILD/t/tools/edges" $verbose trace classes.bin
}

bad=0
for home in ${JDKS:-$(jdks)}; do
	use_jdk "$home" || exit 1
	for program in $programs; do
		for mode in ${MODES:-tiered c1 int c2}; do
			mkdir "$DIR/w"
			cd "$DIR/w" || exit 1
			java_program "$program" "$size"
			printf '%-3s %-8s %-6s ' "$JDK" "$program" "$mode"
			if [ -n "$WHY_NOT" ]; then
				echo "$WHY_NOT"
			else
				one "$program" "$mode" || bad=1
			fi
			[ -z "${KEEP:-}" ] || cp trace "$KEEP/$JDK-$program-$mode.data"
			[ -z "${KEEP:-}" ] || cp classes.bin "$KEEP/$JDK-$program-$mode.classes"
			cd "$DIR" || exit 1
			rm -rf w
		done
	done
done
exit $bad
