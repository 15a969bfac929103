# shellcheck shell=bash disable=SC2034
# lib.bash - what the scripts of t/perf that run Java begin with: TOP, BUILD, ARCPROF, all of t/java.bash,
# and a folder $DIR that goes when they end.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=$TOP/build
make -s -C "$TOP" all workloads tools perf >/dev/null || exit 1
export ARCPROF=${ARCPROF:-$BUILD/arcprof}
unset JAVA_TOOL_OPTIONS
# shellcheck source=../java.bash
. "$TOP/t/java.bash"

median() {	# <file> [<column>]
	awk -v c="${2:-1}" '{ print $c }' "$1" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

median_and_spread() {	# of lines: median (least - greatest)
	sort -n | awk '{ v[NR] = $1 } END { printf "%.3f (%.3f - %.3f)", v[int((NR + 1) / 2)], v[1], v[NR] }'
}

DIR=$(mktemp -d)
trap 'rm -rf "$DIR"' EXIT
