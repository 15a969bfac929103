# shellcheck shell=bash
# lib.bash - what the tests of the command line share; "load ../lib" in t/cli/<command>.bats.
#
#	@test "record: a period that is no number is a usage error naming the option" {
#		run_arcprof record -c many -- true
#		[ "$status" -eq 2 ]
#		[[ $stderr == *--count* ]]
#	}

TOP=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
ARCPROF=${ARCPROF:-$TOP/build/arcprof}
BUILD=$TOP/build
export LC_ALL=C.UTF-8 TERM=xterm
unset ARCPROF_PAGER PAGER NO_COLOR JAVA_TOOL_OPTIONS

# Every test has its own folder, and stands in it.
setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

arcprof() {
	"$ARCPROF" "$@"
}

# As bats' run, with stdout in $output and stderr in $stderr; shown when the test fails.
run_arcprof() {
	status=0
	"$ARCPROF" "$@" >"$BATS_TEST_TMPDIR/.out" 2>"$BATS_TEST_TMPDIR/.err" </dev/null || status=$?
	output=$(cat "$BATS_TEST_TMPDIR/.out")
	stderr=$(cat "$BATS_TEST_TMPDIR/.err")
	echo "\$ arcprof $* (status $status)"
	printf '%s\n' "$output" "$stderr" | head -n 50
}

# Value of a jq expression over $output (or the file given), without quotes.
json() {
	if [ $# -gt 1 ]; then
		jq -r "$1" "$2"
	else
		jq -r "$1" <<<"$output"
	fi
}

# The same as a command's output on a terminal of 80 columns (script(1) gives it one).
on_terminal() {
	script -qec "stty cols 80 rows 24; $(printf '%q ' "$@")" /dev/null </dev/null | tr -d '\r'
}

skip_unless_command() {
	command -v "$1" >/dev/null || skip "$1 is not installed"
}

skip_unless_terminal() {
	[ "$(script -qec 'echo yes' /dev/null </dev/null 2>/dev/null | tr -d '\r')" = yes ] ||
		skip "no pseudo-terminal can be opened (script(1), /dev/pts)"
}

skip_unless_root() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
}

# A sampling event can be opened by this user on its own processes.
skip_unless_perf() {
	[ "$(arcprof doctor --format json | jq -r '.checks[] | select(.id == "cpu-clock") | .state')" != no ] ||
		skip "perf_event_open() is not permitted here"
}

skip_unless_java() {
	command -v java >/dev/null && command -v javac >/dev/null || skip "no JDK is installed"
}

# A path that another user may reach, for tests that drop privileges; removed by the test's end.
as_nobody() {
	skip_unless_root
	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all "$@"
}

# C program in build/t/workloads, built by t/check.
workload() {
	local program=$BUILD/t/workloads/$1
	[ -x "$program" ] || make -s -C "$TOP" "build/t/workloads/$1" >&2
	echo "$program"
}

# Folder of compiled t/workloads/<name>.java, for -cp.
java_workload() {
	local classes=$BUILD/t/java/$1
	if [ "$TOP/t/workloads/$1.java" -nt "$classes/$1.class" ]; then
		mkdir -p "$classes"
		javac -d "$classes" "$TOP/t/workloads/$1.java" >&2
	fi
	echo "$classes"
}

# within <got> <want> <percent>
within() {
	awk -v got="$1" -v want="$2" -v p="$3" 'BEGIN {
		d = got - want
		exit !(d * 100 <= want * p && -d * 100 <= want * p)
	}' || { echo "$1 is not within $3 % of $2"; return 1; }
}
