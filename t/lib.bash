# shellcheck shell=bash
# lib.bash - what the tests of the command line share; "load ../lib" in t/cli/<command>.bats.
#
#	@test "record: an invalid period is a usage error that names the option" {
#		run_arcprof record -c many -- true
#		[ "$status" -eq 2 ]
#		[[ $stderr == *--count* ]]
#	}

TOP=${BATS_TEST_DIRNAME%/*/*}
ARCPROF=${ARCPROF:-$TOP/build/arcprof}
BUILD=$TOP/build
export LC_ALL=C.UTF-8 TERM=xterm
unset ARCPROF_PAGER PAGER NO_COLOR JAVA_TOOL_OPTIONS
# No calibration of the user who runs the tests.
export XDG_DATA_HOME=${BATS_FILE_TMPDIR:-/nonexistent}/data

# Every test has its own folder, and stands in it.
setup() {
	trace_errors_only
	cd "$BATS_TEST_TMPDIR" || return 1
}

# To say where a test failed, bats notes the stack before every command of it, which takes a third of the time that
# bash has. The stack at the failure is the same.
trace_errors_only() {
	declare -F bats_capture_stack_trace bats_error_trap >/dev/null || return 0
	trap - DEBUG
	trap where_it_failed ERR
}
where_it_failed() {
	local failed=$?
	bats_capture_stack_trace
	with_status "$failed" || bats_error_trap
}
with_status() {
	return "$1"
}

# bats looks at its clock three times a test, each of which forked twice and started date(1): a third of its time.
get_mills_since_epoch() {
	if [ $# -eq 0 ]; then
		echo "$((${EPOCHREALTIME/./} / 1000))"
	else
		printf -v "$1" %s "$((${EPOCHREALTIME/./} / 1000))"	# bats 1.9 and later names a variable for it
	fi
}

# The text of a file without the newlines at its end, into a variable: $(cat) forks twice.
slurp() {
	IFS= read -r -d '' "$1" <"$2" || :
	while [[ ${!1} == *$'\n' ]]; do
		printf -v "$1" %s "${!1%$'\n'}"
	done
}

arcprof() {
	"$ARCPROF" "$@"
}

# As bats' run, with stdout in $output and stderr in $stderr; shown when the test fails.
run_arcprof() {
	status=0
	"$ARCPROF" "$@" >"$BATS_TEST_TMPDIR/.out" 2>"$BATS_TEST_TMPDIR/.err" </dev/null || status=$?
	slurp output "$BATS_TEST_TMPDIR/.out"
	slurp stderr "$BATS_TEST_TMPDIR/.err"
	echo "\$ arcprof $* (status $status)"
	printf '%.5000s\n' "$output" "$stderr"
}

# follows_columns <columns> <column> <arcprof's arguments>: whether this table has these columns, in each format, and the
# order of that one, the first of them and numbers; "-": it has its own order. Then it has no JSON if it is a tree there.
follows_columns() {
	local columns=$1 sort=$2
	shift 2
	set -- "$@" --columns "$columns"
	echo "\$ arcprof $*"
	arcprof "$@" --format csv >columns.csv
	[ "$(head -n 1 columns.csv | sed 's/:[^,]*//g')" = "$columns" ]
	if [ "$sort" != - ]; then
		arcprof "$@" --sort "$sort" --format csv | tail -n +2 | LC_ALL=C sort -c -s -t, -k1,1gr
		arcprof "$@" --sort "+$sort" --format csv | tail -n +2 | grep -v '^,' | LC_ALL=C sort -c -s -t, -k1,1g
	fi
	arcprof "$@" | grep -q .
	! arcprof "$@" --format json >columns.json 2>columns.err ||
		jq -e --arg c "${columns##*,}" '[.. | objects | select(has($c))] | length > 0' columns.json >/dev/null
	[ -s columns.json ] || grep -q "in JSON .* a tree" columns.err
	run_arcprof "$@,nothing"
	[[ $status -ne 0 && -z $output ]]
	[[ ${stderr,,} == *"--columns=nothing: no such column (expected one of: "*"${columns##*,}"* ]]
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

# until_it_waits <process>: for signals, that is; one that comes before is lost, or ends the program.
until_it_waits() {
	local i
	for i in {1..400}; do
		[[ $(cat "/proc/$1/wchan") != *sigtimedwait* ]] || return 0
		sleep 0.05
	done
}

# For teardown(): a recorder, and the program that it has started, which would go on without it.
kill_recorder() {
	pkill -KILL -P "$1" || true
	kill -KILL "$1" 2>/dev/null || true
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

# A sampling event can be opened by this user on its own processes; asked once in a run of bats.
skip_unless_perf() {
	local known=$BATS_RUN_TMPDIR/cpu-clock
	[ -s "$known" ] ||
		arcprof doctor --format json | jq -r '.checks[] | select(.id == "cpu-clock") | .state' >"$known"
	[ "$(<"$known")" != no ] || skip "perf_event_open() is not permitted here"
}

skip_unless_clocks_of_cpus() {
	skip_unless_perf
	"$ARCPROF" record -q --clock=cpu -o probe -- true 2>probe.err || skip "$(cat probe.err)"
}

skip_unless_wall() {
	skip_unless_perf
	arcprof record -q -e wall -o probe -- true 2>probe.err || skip "$(cat probe.err)"
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

# within <got> <want> <percent>
within() {
	awk -v got="$1" -v want="$2" -v p="$3" 'BEGIN {
		d = got - want
		exit !(d * 100 <= want * p && -d * 100 <= want * p)
	}' || { echo "$1 is not within $3 % of $2"; return 1; }
}

# Records into the file "trace" as run_arcprof record, then checks what must hold of any trace.
record() {
	local recorded stdout stderr_of_it
	run_arcprof record -o trace "$@"
	recorded=$status stdout=$output stderr_of_it=$stderr
	check_trace trace
	status=$recorded output=$stdout stderr=$stderr_of_it
}

# check_trace <file> [damaged]: the model's invariants hold, each report is JSON, bases sum up to totals.
check_trace() {
	local r want=0
	[ "${2-}" = damaged ] && want=1
	for r in --check --xarc --xtree --xprof --tprof; do
		status=0
		"$ARCPROF" report -i "$1" "$r" --format json >".report$r" 2>.report.err || status=$?
		[ "$status" -eq "$want" ] || { echo "report $r: status $status"; cat .report.err; return 1; }
	done
	! grep -v '^ok ' .report--check || return 1
	jq -rs 'def differs(bases): [.metrics[].total] as $t | ([bases] | transpose | map(add)) as $s
			| $s != $t and ($s != [] or any($t[]; . != 0));
		(.[0] | select(differs(.rows[].base)) | "xprof: the bases are not the total"),
		(.[1] | select(differs(.nodes[].base)) | "xtree: the bases are not the total"),
		(.[2] | select(differs(.stanzas[] | .self.base, (.rself // empty).base)) |
			"xarc: the bases are not the total"),
		(.[3] | .total_ticks as $n | select(any(.stanzas[]; ([.tree[].ticks] | add // 0) != $n)) |
			"tprof: a stanza is not the total")' .report--xprof .report--xtree .report--xarc .report--tprof >.sum
	[ ! -s .sum ] || { cat .sum; return 1; }
}

# What check_trace left of the trace: samples in a function, and those below a caller of it.
samples_in() {
	jq --arg f "$1" '[.rows[] | select(.name == $f and .kind != "process" and .kind != "thread") | .n] | add // 0' .report--xprof
}

samples_of_arc() {	# <caller> <callee>
	jq --arg p "$1" --arg f "$2" '[.stanzas[] | select(.name == $f) | .parents[] | select(.name == $p) | .n] | add // 0' .report--xarc
}

cum_of_arc() {	# <caller> <callee>, of the first metric
	jq --arg p "$1" --arg f "$2" '[.stanzas[] | select(.name == $f) | .parents[] | select(.name == $p) | .cum[0]] | add // 0' .report--xarc
}

samples() {
	jq '.quality.n' .report--xprof
}

# tree_paths <option of report>...: of each its n, its base of the last metric, and the names of its frames from the
# process on, joined by ";". jq takes seconds for the paths of some thousand nodes.
tree_paths() {
	"$ARCPROF" report "$@" --xtree --format tree | awk -F '\t' -v OFS='\t' '
	/^#/ { metrics += /^# metric/; next }
	{
		path[$1] = ($1 ? path[$1 - 1] ";" : "") $(3 + metrics)
		print $2, $(2 + metrics), path[$1]
	}'
}

# proportion <got> <of> <percent>: within four standard deviations of a binomial sample, and one sample.
proportion() {
	awk -v got="$1" -v of="$2" -v p="$3" 'BEGIN {
		p /= 100
		d = got - of * p
		if (d < 0) d = -d
		exit !(of > 0 && d <= 4 * sqrt(of * p * (1 - p)) + 1)
	}' || { echo "$1 of $2 is not $3 %"; return 1; }
}

# Of the last recording of t/workloads/shares.c: each function and each arc has its share.
check_shares() {
	local total=0 in_shared n f
	for f in sixteen eight four two one shared; do
		total=$((total + $(samples_in $f)))
	done
	in_shared=$(samples_in shared)
	proportion "$in_shared" "$total" 50
	while read -r f p; do
		n=$(samples_in "$f")
		echo "$f: $n of $((total - in_shared)) directly"
		proportion "$n" $((total - in_shared)) "$p"
		[ "${1-}" = flat ] || proportion "$(samples_of_arc "$f" shared)" "$in_shared" "$p"
	done <<-END
		sixteen 51.613
		eight 25.806
		four 12.903
		two 6.452
		one 3.226
	END
}
