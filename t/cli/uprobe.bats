#!/usr/bin/env bats
# Calls of native functions as events: -e uprobe:FILE:FUNCTION. How many calls there are is known.
load ../lib
load ../java

skip_unless_uprobes() {
	skip_unless_root
	skip_unless_perf
	arcprof record -q -e "uprobe:$(workload probed):counted" -o tried -- true 2>refused || skip "$(cat refused)"
}

# In tracefs nothing of ours is left.
nothing_stays() {
	local left=(/sys/kernel/tracing/events/arcprof_*)
	[ ! -e "${left[0]}" ] || { echo "${left[@]}"; return 1; }
}

@test "record: each call of a native function is a sample, in threads and children" {
	skip_unless_uprobes
	cp "$(workload probed)" ./probed
	record -e uprobe:probed:counted,uprobe:libc.so.6:getppid -- ./probed 400
	[ "$status" -eq 0 ]
	[[ $stderr == *": 900 samples of uprobe:probed:counted, 900 of uprobe:libc.so.6:getppid in "*" 0 lost, 100.0 % complete"* ]]
	[ "$(samples_of_arc outer counted)" -eq 900 ]
	[ "$(tree_paths -i trace | awk -F '\t' '$3 ~ /;outer;counted$/ { print $1 }' | sort -n | xargs)" = "100 200 200 400" ]
	arcprof report -i trace --metric uprobe:libc.so.6:getppid --xarc --format json >.report--xarc
	[ "$(samples_of_arc counted getppid)" -eq 900 ]
	nothing_stays
}

@test "record: each return of a native function is a sample, so that each call has its time" {
	skip_unless_uprobes
	record -e "uprobe:$(workload probed):outer,uprobe-return:$(workload probed):outer" -- "$(workload probed)" 40
	[ "$status" -eq 0 ]
	[[ $stderr == *": 4 samples of uprobe:"*", 4 of uprobe-return:"*" 0 lost, 100.0 % complete"* ]]
	# each call ends in its thread, and has taken longer than the shortest counted() in it
	arcprof query -i trace --metric "uprobe:$(workload probed):outer,uprobe-return:$(workload probed):outer" --format csv "
		SELECT thread, metric, lead(metric) OVER w, lead(time) OVER w - time > 1000 FROM samples
		WINDOW w AS (PARTITION BY thread ORDER BY time)" | cut -d , -f 2- | sed 1d | sort | uniq -c | sed 's/^ *//' >pairs
	cat pairs
	[ "$(grep -c . pairs)" -eq 2 ]
	grep -qx '4 1,2,1' pairs
	nothing_stays
}

@test "report --calls: functions whose entries and returns were sampled, with what others consumed meanwhile" {
	skip_unless_uprobes
	f=$(workload probed)
	record -e "page-faults,uprobe:$f:outer,uprobe-return:$f:outer,uprobe:$f:counted,uprobe-return:$f:counted" -- "$f" 40
	[ "$status" -eq 0 ]
	arcprof report -i trace --calls --format json >calls
	jq -e '[.rows[] | { (.name): .n }] | add == { outer: 4, counted: 90 }' calls
	# each is inside its caller, which takes longer than all that it calls
	jq -e '[.rows[] | { (.name): . }] | add | .outer.total > .counted.total and .outer.self == .outer.total - .counted.total' calls
	arcprof report -i trace --calls=outer --format json | jq -e '.slowest | map(select(.name == "outer")) | length == 4'
	# each event is listed once, and samples of others beside them
	arcprof report -i trace --gen --format json | jq -e '[.events[] | select(.kind | test("uprobe"))] == [] and
		([.events[] | select(.kind == "entry")] | length == 94) and any(.events[]; .kind == "page-faults")'
	arcprof query -i trace --format csv "SELECT name, count(*) FROM calls GROUP BY name ORDER BY 1" | sed 1d >table
	diff table - <<<$'counted,90\nouter,4'
	# what all threads consumed while it ran: Others
	arcprof report -i trace --calls --metric page-faults | grep -F Others
	run_arcprof report -i trace --calls --metric "uprobe:$f:counted" --format json
	# of the metric itself: 40, 20, 20 and 10 calls in four of the caller
	jq -e '[.rows[] | select(.name == "outer") | .total] == [90]' <<<"$output"
	record -e "uprobe:$f:outer" -- "$f" 40
	run_arcprof report -i trace --calls
	[ "$status" -eq 1 ]
	[[ $stderr == *"record both entries and returns of a function"* ]]
}

@test "record: with -a, the first calls of the program are recorded" {
	skip_unless_uprobes
	for i in 1 2 3; do
		record -a --no-java -e "uprobe:$(workload probed):counted" -- "$(workload probed)" 40
		[ "$(samples)" -eq 90 ]
	done
}

@test "record: an unknown function or file of an event is an error before the program runs" {
	skip_unless_uprobes
	for event in uprobe: uprobe:libc.so.6 uprobe:libc.so.6: uprobe::malloc; do
		run_arcprof record -e "$event" -o trace -- touch ran
		[ "$status" -eq 2 ]
		[[ $stderr == *"want uprobe:FILE:FUNCTION"* ]]
	done
	refused() {	# <event> <message>
		run_arcprof record -e "$1" -o trace -- touch ran
		[ "$status" -eq 125 ]
		[[ $stderr == "arcprof record: event '$1': $2"* ]]
	}
	refused uprobe:libnone.so:f "cannot find a program or library 'libnone.so'"
	refused uprobe:/none/lib.so:f "/none/lib.so: No such file"
	refused "uprobe:$(workload probed):countet" "$(workload probed): no function 'countet'"
	[[ $stderr == *"did you mean 'counted'?"* ]]
	refused "uprobe:$(workload probed):getppid" "$(workload probed): 'getppid' is a function of another file"
	refused uprobe:libc.so.6:memcpy "libc.so.6: 'memcpy' is one of several functions"
	[ ! -e ran ]
	nothing_stays
}

@test "record: users who may not make uprobes get a hint" {
	skip_unless_perf
	chmod 755 . && mkdir -m 777 theirs
	cp "$(workload probed)" theirs/probed
	status=0
	as_nobody "$ARCPROF" record -e uprobe:theirs/probed:counted -o theirs/trace -- theirs/probed 2>err || status=$?
	cat err
	[ "$status" -eq 125 ]
	grep -q "calls of native functions are recorded by uprobes, which this user may not use" err
	grep -q "hint: run as root" err
	as_nobody "$ARCPROF" doctor --format json | jq -r '.checks[] | select(.id == "native-calls") | .state' >state
	[ "$(<state)" = no ]
}

@test "record: calls of functions of the JVM have stacks that go on into Java" {
	skip_unless_uprobes
	skip_unless_java
	use_jdk "$(jdks | head -n 1)"
	record -e uprobe:libjvm.so:JVM_StartThread -- java -cp "$CLASSES" Crowd 50
	[ "$status" -eq 0 ]
	tree_paths -i trace | awk -F '\t' '$3 ~ /Crowd\.main;.*;JVM_StartThread$/ { n += $2 } END { print n }' >got
	[ "$(<got)" -eq 50 ]
	nothing_stays
}
