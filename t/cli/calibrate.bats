#!/usr/bin/env bats
# What counting calls costs: measured, kept, put into traces, taken away by reports.
load ../lib
load ../java

setup_file() {
	gcc -O1 -g -finstrument-functions "$TOP/t/data/callflow/treetest.c" "$BUILD/libarcprof-hookit.a" \
		-o "$BATS_FILE_TMPDIR/treetest" -pthread
	# Whether time is stable here is not what these tests are about.
	"$ARCPROF" calibrate --quiet --native --accept-unstable --metric cpu >"$BATS_FILE_TMPDIR/calibrate.out"
	for program in steps callers; do
		gcc -O2 -g -finstrument-functions "$TOP/t/data/callflow/$program.c" "$BUILD/libarcprof-hookit.a" \
			-o "$BATS_FILE_TMPDIR/$program" -pthread
	done
}

# treetest [<option>...]: records it into ./trace.
treetest() {
	run_arcprof record --callflow --metric cpu "$@" -o trace -- "$BATS_FILE_TMPDIR/treetest" 300
	[ "$status" -eq 0 ]
	arcprof report -i trace --check >check || { cat check; return 1; }
}

# What mainA30 has of the two, in percent.
share() {
	arcprof report -i trace --xprof --format json "$@" | jq -r '[.rows[] | { (.name): .cum[0] }] | add |
		.mainA30 / (.mainA30 + .mainB70) * 100'
}

# Rows of rt as "level name n base".
rows() {
	arcprof report -i trace --rt --format json "$@" | jq -r ".rows[] | \"\(.level) \(.name) \(.n) \($ROW)\""
}

@test "calibrate: costs are measured and kept, and shown again" {
	grep -qE '^hookit-[0-9a-f]{16} on ' "$BATS_FILE_TMPDIR/calibrate.out"
	grep -qE '^  cpu +cpu +[0-9]+ +[0-9]+ .* yes' "$BATS_FILE_TMPDIR/calibrate.out"
	grep -q 'Java methods are not calibrated' "$BATS_FILE_TMPDIR/calibrate.out"
	run_arcprof calibrate --show
	[ "$status" -eq 0 ]
	[ "$output" = "$(cat "$BATS_FILE_TMPDIR/calibrate.out")" ]
	run_arcprof calibrate --show --format json
	[ "$(json '.rows | length')" -eq 1 ]
	[ "$(json '.rows[0] | .within + .between > 0')" = true ]
	follows_columns within,metric,client within calibrate --show
	XDG_DATA_HOME=$PWD run_arcprof calibrate --show
	[ "$status" -eq 0 ]
	[[ $output == "nothing is calibrated"* ]]
}

@test "calibrate: usage errors and unknown metrics are reported" {
	run_arcprof calibrate --show --accept-unstable
	[ "$status" -eq 2 ]
	run_arcprof calibrate --metric nosuch
	[ "$status" -eq 1 ]
	[[ $stderr == *"unknown metric 'nosuch'"* ]]
	XDG_DATA_HOME='' HOME='' run_arcprof calibrate
	[ "$status" -eq 1 ]
	[[ $stderr == *"neither XDG_DATA_HOME nor HOME"* ]]
}

@test "calibrate: --verify says how far calls of known lengths are off" {
	local status=0
	"$ARCPROF" calibrate --verify --native --format json >verified 2>err || status=$?
	# no more is left than was measured, and longer calls take longer without hooks
	jq -e '[.rows[].steps] == [8,25,75,250,750,20,60,200,600,2000] and
		[.rows[].work] == [range(5) | "chain"] + [range(5) | "stores"] and
		all(.rows[]; .calls == "native functions" and .measured >= .calibrated) and
		all([.rows[:5], .rows[5:]][] | [.[].own]; . == sort and .[4] > 20 * .[0]) and
		all(.rows[]; (.off_percent - (.calibrated / .own - 1) * 100 | fabs) < 1e-6)' verified
	# the exit status is that of the values that are not marked
	[ "$(jq '[.rows[] | select((.marked | not) and (.off_percent | fabs) > 5)] | length > 0' verified)" = "$([ "$status" -eq 0 ] && echo false || echo true)" ]
	run_arcprof calibrate --verify --native --metric wall
	[[ $status -eq 1 && $stderr == *"nothing to verify: not calibrated"* ]]
	run_arcprof calibrate --verify --show
	[ "$status" -eq 2 ]
}

@test "calibrate: BASE and DELTA add up to the measured value in every context" {
	treetest
	ROW='(.base[0] + .base[1])' rows >sums
	ROW='.base[0]' rows --no-calibrate >measured
	diff sums measured
	arcprof report -i trace --rt --format json | jq -e '[.rows[].base[1]] | add > 0'
	arcprof report -i trace --rt --format json | jq -e '[.rows[] | .delta == [.base[1]]] | all'
	run_arcprof report -i trace --rt
	[[ $output == *"calibrated, native functions only: cpu"* ]]
	run_arcprof report -i trace --rt --no-calibrate
	[[ $output == *"not calibrated: --no-calibrate"* ]]
	grep -qE '^ +4 +[0-9]+ +0 +[0-9]+ +- +- +- N:bit$' <<<"$output"
}

@test "calibrate: treetest is nearer to the shares its names say than without" {
	for try in 1 2 3 4 5; do
		treetest
		share >calibrated
		share --no-calibrate >measured
		paste calibrated measured
		awk 'function off(x) { return x < 30 ? 30 - x : x - 30 }
			{ exit off($1) < off($2) ? 0 : 1 }' <(paste calibrated measured) && return 0
	done
	return 1
}

# Each reading of the time stamp counter (0f31): who read it, and how many instructions after the one before.
readings() {
	arcprof report -i instructions --arc --every-instruction --format csv >rows
	awk -F, '{ n++ } $15 == "0f31" { print $6, n - last; last = n }' rows
}

@test "calibrate: the hooks of each call execute the same instructions, whatever the function does" {
	[ "$(uname -m)" = x86_64 ] || skip "the time stamp counter is read by another instruction"
	gcc -std=gnu11 -O2 -fno-optimize-sibling-calls -static -finstrument-functions -DTURNS=1 -DCALLS=30 -o trainer \
		"$TOP/lib/calibrate/trainer.c" "$BUILD/libarcprof-hookit.a" -pthread
	run_arcprof record -q --callflow --metric wall -o trace -- "$ARCPROF" itrace -q --no-java -o instructions -- ./trainer
	[ "$status" -eq 0 ]
	readings | sort | uniq -c | awk '$1 >= 20' >steady
	cat steady
	# between two calls of the four functions, and of a caller with work; within the empty one, and the other three.
	# The first call of each makes a node.
	[ "$(awk '$2 == "callflow_enter_function" { print $1 }' steady | xargs)" = "29 116" ]
	[ "$(awk '$2 == "callflow_leave_function"' steady | wc -l)" -eq 4 ]
	# within, less what the function has of its own, is the same: what calibration supposes
	arcprof report -i instructions --xprof --format json | jq -r '[.rows[] | select(.name | startswith("bare_")) | .base[0] / .n] |
		sort | .[1:][] - .[0]' >own
	awk 'NR == FNR { own[NR] = $1; next } $2 == "callflow_leave_function" { v[n++] = $3 }
		END { for (i = 1; i < 4; i++) { off = v[i] - v[0] - own[i]; print "off by", off; bad += off < -2 || off > 2 } exit bad }' own steady
}

@test "calibrate: the trace has the figures, so that any machine reports it alike" {
	treetest
	share >here
	XDG_DATA_HOME=/nonexistent share >there
	diff here there
}

@test "calibrate: reports say if the costs were measured with another kernel" {
	local original=$XDG_DATA_HOME here
	here=$(arcprof calibrate --show --format json | jq -r '.rows[0].environment')
	[[ $here == "Linux $(uname -r), clock "* ]]
	arcprof calibrate --show | grep -F " on " | grep -F ", $here"
	treetest
	! arcprof report -i trace --rt | grep -F 'measured in another environment' || false
	table '!/^#/ { $11 = "Linux 5.10.0, clock hpet" } { print }'
	treetest
	arcprof report -i trace --rt | grep -F 'calibrated, native functions only: cpu (measured in another environment: Linux 5.10.0, clock hpet)'
	# an earlier table does not say
	XDG_DATA_HOME=$original
	table '!/^#/ { NF = 9 } { print }'
	treetest
	arcprof report -i trace --rt >rt
	grep -F 'calibrated, native functions only: cpu' rt
	! grep -F 'measured in another environment' rt || false
}

@test "calibrate: call traces are calibrated from event to event, and nothing is lost" {
	export XDG_DATA_HOME=$PWD/data
	"$ARCPROF" calibrate --quiet --native --calltrace --accept-unstable --metric cpu >table
	grep -qE '^  cpu trace +cpu ' table
	arcprof calibrate --sequences --format json | jq -e '[.rows[] | select(.metrics == "cpu trace") | [.from, .to]] ==
		[["entry", "entry"], ["entry", "exit"], ["exit", "entry"], ["exit", "exit"]] and all(.rows[]; .cost > 0)'
	run_arcprof record --calltrace --metric cpu -o trace -- "$BATS_FILE_TMPDIR/treetest" 1
	arcprof report -i trace --gen | head -n 1 | grep -F "since the thread's event before; calibrated"
	arcprof report -i trace --gen --no-calibrate --format json | jq -c '[.events[].consumed_cpu]' >measured
	arcprof report -i trace --gen --format json | jq -c '[.events[] | .consumed_cpu + (.delta_cpu // 0)]' >sums
	diff measured sums
	arcprof report -i trace --gen --format json | jq -e '([.events[].delta_cpu] | add) > 0'
	arcprof report -i trace --rt | grep -F 'calibrated, native functions only: cpu'
}

@test "calibrate: an unmeasured metric is not calibrated, and the report says so" {
	run_arcprof record --callflow --metric wall -o trace -- "$BATS_FILE_TMPDIR/treetest" 1
	run_arcprof report -i trace --rt
	[[ $output == *"not calibrated: measured for other metrics or options; 'arcprof calibrate --metric wall'"* ]]
	[ "$(arcprof report -i trace --rt --format json | jq '.metrics | length')" -eq 1 ]
	[ "$(share)" = "$(share --no-calibrate)" ]
	run_arcprof record --calltrace --metric cpu -o trace -- "$BATS_FILE_TMPDIR/treetest" 1
	run_arcprof report -i trace --rt
	[[ $output == *"not calibrated"* ]]
}

@test "calibrate: calls of Java methods in an unmeasured JVM are left as they are, and the report says so" {
	use_any_jdk
	run_arcprof record --callflow --metric cpu -o trace -- java -cp "$CLASSES" Hellop
	[ "$status" -eq 0 ]
	run_arcprof report -i trace --rt
	[[ $output == *"not calibrated: 'arcprof calibrate --java'"* ]]
	ROW='(.base[0] + .base[1])' rows >sums
	ROW='.base[0]' rows --no-calibrate | diff sums -
}

@test "calibrate: reports without calibration say which costs the table has instead" {
	local original=$XDG_DATA_HOME
	table '!/^#/ { $2 = "Z80"; print }'
	treetest
	arcprof report -i trace --rt | grep -F "not calibrated: measured on another processor (Z80); 'arcprof calibrate'"
	XDG_DATA_HOME=$original
	table '!/^#/ { $1 = "hookit-0123456789abcdef"; print }'
	treetest
	arcprof report -i trace --rt | grep -F "not calibrated: measured with another arcprof; 'arcprof calibrate'"
	XDG_DATA_HOME=$original
	treetest --call-sites
	arcprof report -i trace --rt | grep -F "'arcprof calibrate --call-sites --metric cpu' before a recording measures these"
	treetest --call-sites --calltrace
	arcprof report -i trace --rt | grep -F 'not calibrated: with call sites the events of a call trace cost something else'
}

@test "calibrate: with --call-sites caller, site and callee lose what each has of a call" {
	local original=$XDG_DATA_HOME
	table '!/^#/ { $3 = "cpu sites"; $5 = 1000; $6 = 2000; $9 = 0; $10 = "0 4000" } { print }'
	arcprof calibrate --show --format json | jq -e '.rows[0].site == 4'
	arcprof calibrate --sequences --format json | jq -e '[.rows[] | [.from, .to, .cost]] ==
		[["entry", "exit", 1], ["exit", "entry", 2], ["site", "site", 4]]'
	treetest --call-sites
	arcprof report -i trace --xtree --format json >tree
	# each function is called from one line; all that had more than that lost it
	jq -e '[.nodes[] | .site = (.name | test(":[0-9]+$")) | . + { delta: .base[1], left: .base[0] }] as $nodes |
		([$nodes[] | select(.site) | { (.id | tostring): .parent }] | add) as $above |
		(reduce ($nodes[] | select($above[.parent | tostring])) as $x
			({}; .[$above[$x.parent | tostring] | tostring] += $x.n)) as $calls |
		[$nodes[] | select((.site or $above[.parent | tostring]) and .left > 0) |
			.delta == (if .site then 4 * .n else .n + 2 * ($calls[.id | tostring] // 0) end)] | length > 10 and all' tree
	arcprof report -i trace --rt | grep -F 'calibrated, native functions only: cpu'
	ROW='(.base[0] + .base[1])' rows >sums
	ROW='.base[0]' rows --no-calibrate | diff sums -
	! command -v python3 >/dev/null || ARCPROF=$ARCPROF PYTHONPATH=$BUILD/python PYTHONDONTWRITEBYTECODE=1 \
		python3 "$TOP/t/reader/compare-module.py" trace
	# what is measured, after the costs of calls without
	export XDG_DATA_HOME=$original
	table '{ print }'
	"$ARCPROF" calibrate --quiet --native --call-sites --accept-unstable --metric cpu --format json >measured
	jq -e '[.rows[] | [.metrics, .used]] == [["cpu", true], ["cpu sites", true]] and .rows[0].site == 0 and .rows[1].site > 0' measured
	run_arcprof calibrate --call-sites --calltrace
	[ "$status" -eq 2 ]
	run_arcprof calibrate --call-sites --show
	[ "$status" -eq 2 ]
}

# table <awk program>: a changed copy of the table is the one that counts.
table() {
	mkdir -p data/arcprof
	awk -F '\t' -v OFS='\t' "$1" "$XDG_DATA_HOME/arcprof/calibration" >data/arcprof/calibration
	export XDG_DATA_HOME=$PWD/data
}

@test "calibrate: nothing becomes less than nothing, and that is counted" {
	table '!/^#/ { $5 = 900000000 } { print }'
	treetest
	run_arcprof report -i trace --rt
	[[ $output == *"contexts had less than that (over-corrected, now 0)"* ]]
	ROW='(.base[0] + .base[1])' rows >sums
	ROW='.base[0]' rows --no-calibrate >measured
	diff sums measured
	[ "$(ROW='.base[0]' rows | awk '/ bit / { n += $4 } END { print n + 0 }')" -eq 0 ]
	[ "$(arcprof report -i trace --rt --format json | jq '.quality.over_corrected >= 2')" = true ]
}

@test "calibrate: a value of which calibration took half or more is marked, and the first line says so" {
	treetest
	# six tenths of what a call of the smallest function took
	within=$(arcprof report -i trace --rt --no-calibrate --format json |
		jq '[.rows[] | select(.name == "bit")] | (map(.base[0]) | add) / (map(.n) | add) * 600 | floor')
	table "!/^#/ { \$5 = $within; \$6 = 0 } { print }"
	treetest
	arcprof report -i trace --rt >rt
	arcprof report -i trace --rt --format json >rows
	marked='.rows[] | select((.base[1] > 0 and .base[1] >= .base[0]) or (.base[2] > 0 and .base[2] >= .base[0]))'
	[ "$(grep -cE '^ +[0-9].* ~[0-9]' rt)" -eq "$(jq "[$marked] | length" rows)" ]
	grep -E '^ .* ~[0-9]+ .* N:bit$' rt
	head -n 1 rt | grep -qE ', ~ on [0-9.<> ]+ % of cpu; '
	grep -q '(~: may be off by 5 % or more; record with --precise-time to measure short calls correctly)' rt
	jq -e "([$marked | .base[0]] | add) / .metrics[0].total - .quality.marked_shares.cpu | fabs < 0.001" rows
	# sums of several contexts by what the sums are
	arcprof report -i trace --xprof | grep -qE '^ +[0-9]+ +~[0-9.]+ .* bit$'
	! arcprof report -i trace --xtree --no-calibrate | grep -q '~' || false
}

# steps <program> [<option>...]: functions that are due as much as the one of 1000 steps, as "name, percent off,
# marked", in ./off.
steps() {
	local program=$1
	shift
	"$ARCPROF" record -q --callflow --metric cpu "$@" -o trace -- "$BATS_FILE_TMPDIR/$program" 12000000 >&2
	arcprof report -i trace --rt --format json >rows
	jq -r '([.rows[] | select(.name == "s1000").base[0]] | add) as $true | .rows[] | select(.name | test("^s[0-9]")) |
		"\(.name) \(.base[0] / $true * 100 - 100 | fabs | floor) \(
			(.base[1] > 0 and .base[1] >= .base[0]) or (.base[2] > 0 and .base[2] >= .base[0]))"' rows >off
	cat off
}

# No value that is not marked is off by more than this.
marks_are_true() {
	! awk '$3 == "false" && $2 > 8' off | grep .
}

# What counting cost beyond its calibration is less than three quarters of that: half is what it leaves in functions
# that do nothing, and more is another program's on the same core.
was_quiet() {
	jq -e '([.rows[] | select(.name == "s1000").base[0]] | add) as $true |
		[.rows[] | select(.name | test("^(s[0-9]|caller|leaf)"))] |
		(map(.base[0]) | add) - $true * (map(select(.name | startswith("s"))) | length) < 0.75 * (map(.base[1]) | add)' rows
}

# record_until_true <program> [<option>...]: some times, as long as the machine is busy.
record_until_true() {
	local quiet=0
	for _ in {1..12}; do
		steps "$@"
		marks_are_true && return
		! was_quiet || quiet=$((quiet + 1))
		[ "$quiet" -lt 3 ] || return 1
	done
	skip "the machine is too busy: counting calls costs more than when it was measured"
}

@test "calibrate: what may be off is marked, and with precise time calls of 60 steps are not" {
	table '{ print }'
	steps steps --precise-time
	arcprof report -i trace --rt | grep -F "'arcprof calibrate --precise-time --metric cpu'"
	"$ARCPROF" calibrate --quiet --native --accept-unstable --metric cpu --precise-time >table
	[ "$(grep -c precise table)" -eq 1 ]
	# in per mille, from one measurement to the next
	spread=$(awk -F '\t' '/cpu precise/ { print $7 }' "$XDG_DATA_HOME/arcprof/calibration")
	for program in steps callers; do
		record_until_true "$program"
		[ "$(awk '$1 == "s30" || $1 == "s60" || $1 == "s120" { print $3 }' off | sort -u)" = true ]
		echo "spread $spread"
		record_until_true "$program" --precise-time || {
			[ "$spread" -gt 100 ] && skip "what counting a call costs varies by $((spread / 10)) % on this machine"
			return 1
		}
		# calls of 30 steps take 35 to 50 ns: the doubt is about as much, or more where costs vary
		[ "$spread" -gt 40 ] || [ "$(awk '$1 != "s10" && $1 != "s30" { print $3 }' off | sort -u)" = false ]
	done
	! arcprof report -i trace --rt | grep -F 'record with --precise-time' || false
}

@test "calibrate: an unstable metric is not used" {
	table '!/^#/ { $7 = 900; $8 = 0 } { print }'
	run_arcprof calibrate --show
	[[ $output == *"no: unstable"* ]]
	treetest
	run_arcprof report -i trace --rt
	[[ $output == *"found no stable cost"* ]]
}

@test "calibrate: a damaged table is reported, and the program recorded" {
	table '{ print } END { print "nonsense" }'
	treetest
	[[ $stderr == *"line 3 is not a row of a calibration: nothing is calibrated"* ]]
	run_arcprof calibrate
	[ "$status" -eq 1 ]
	[[ $stderr == *"line 3"* ]]
}
