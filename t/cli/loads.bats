#!/usr/bin/env bats
# How long classes take to load, and which thread is the last at a safepoint, on every JDK of this machine:
# programs that know it, and the JVM's own log.
load ../lib
load ../jdks

slow_loader() {
	arcprof record -q -e class-time -o trace -- java -cp "$CLASSES" -Xlog:class+load:file=own.log Loading classes 30
	arcprof report --log=load --format json trace >log
	jq -c '.events[] | select(.what | test("^Loading.(Above|Below)$")) | select(.cause | test("^Loading.Slow@"))' log >two
	cat two
	# one within the other, each with what its loader took; from the same method
	jq -se 'length == 2 and map(.what) == ["Loading$Below", "Loading$Above"] and
		(map(.own_ns >= 30000000) | all) and .[0].duration_ns >= .[1].duration_ns + 30000000 and
		.[0].own_ns <= .[0].duration_ns - .[1].duration_ns and
		.[1].own_ns <= .[1].duration_ns and (map(.by == "Loading.cause") | all) and
		.[0].time_ns < .[1].time_ns' two
	arcprof report --classes --format json trace >classes
	jq -e '(.rows[] | select(.cause // "" | test("^Loading.Slow@")) | .n == 2 and .total_ns >= 60000000) and
		(.causes[] | select(.by == "Loading.cause") | .n >= 2) and
		(.causes | map(.total_ns) | . == (sort | reverse)) and
		(.slowest | map(.duration_ns) | . == (sort | reverse)) and
		(.slowest | map(.what) | index("Loading$Below") < index("Loading$Above"))' classes
	arcprof report --classes trace | tee text
	grep -qE '^( +[0-9]+\.[0-9]{6}){3} Loading.Below by Loading.Slow@[0-9a-f]+ for Loading\.cause$' text
	# sums are those of the list, and no load is reported that the JVM did not log
	jq -c '[.events[].own_ns // 0] | add' log >want
	jq -c '[.rows[].total_ns // 0] | add' classes | diff want -
	jq -r '.events[].what' log | grep -vF '0x' | sort -u >ours
	sed -nE 's/.*\] ([^ ]+) source: .*/\1/p' own.log | sort -u >own
	comm -23 ours own | tee differ
	[ ! -s differ ]
	# a class that the JVM reported again is counted by no report, and is not a load in a part of the time
	for report in gc jit exceptions log=safepoint; do
		arcprof report "--$report" --format json trace | jq .source.events
	done | sort -u >totals
	[ "$(<totals)" = "$(jq '.source.events' log)" ]
	last=$(jq '[.events[].time_ns] | max' log)
	[ "$(arcprof report --log=load --from $((last / 2))ns --format json trace | jq '.events | length')" -eq \
		"$(jq --argjson from $((last / 2)) '[.events[] | select(.time_ns + (.duration_ns // 0) >= $from)] | length' log)" ]
	# nearly all of them are timed
	jq -e '[.events[] | select(.duration_ns)] | length >= 10' log
	arcprof report --timeline trace | grep -qE '^load +[0-9]+ '
	arcprof report -q --format chrome trace | gunzip |
		jq -e '[.traceEvents[] | select(.name == "Loading$Above" and .ph == "X" and .args.by == "Loading.cause")] | length == 1'
}

@test "loads: each lasts as long as its loader takes, within another, and knows what it was for" { one_jdk oldest slow_loader; }

# Threads that use the same classes at once: one prepares what the other is about to report.
all_of_the_log() {
	arcprof record -q -e class -o trace -- java -cp "$CLASSES" -Xlog:class+load:file=own.log Mixed 2 2
	arcprof report --log=load --format json trace | jq -r '.events[].what' | grep -vF 0x | sort >ours
	# none has a time, which is another thing than a time of 0
	arcprof report --timeline trace | grep -qE '^load +[0-9]+ +n/a [|]'
	uniq -d ours | tee twice
	[ ! -s twice ]
	# from the first of ours on
	sed -nE 's/.*\] ([^ ]+) source: .*/\1/p' own.log | grep -vE '0x|Lambda|LForm' |
		awk 'NR == FNR { ours[$1]; next } $1 in ours { begun = 1 } begun && !($1 in ours)' ours - | tee missing
	[ ! -s missing ]
	[ "$(wc -l <ours)" -gt 500 ]
}

@test "loads: none is missing, and none there twice" { one_jdk newest all_of_the_log; }

searches_first() {
	arcprof record -q -e class-time -o trace -- java -cp "$CLASSES" -Xlog:class+load:file=own.log Loading first 30
	arcprof report --log=load --format json trace >log
	jq -c '.events[] | select(.what | test("^Loading.(Above|Below)$"))' log | tee two
	# its search is in the time, and what it searched for in vain is not
	jq -se 'length == 2 and map(.what) == ["Loading$Below", "Loading$Above"] and
		(map(.own_ns >= 30000000 and .by == "Loading.first") | all) and .[0].duration_ns >= .[1].duration_ns + 30000000' two
	# of one recording with nothing else to do, all have a time, hidden ones as well
	jq -r '.events[] | select(.duration_ns == null) | .what' log | tee untimed
	[ ! -s untimed ]
	[ "$(arcprof report --classes trace | grep -c 'without time')" -eq 0 ]
	jq -e '[.events[] | select(.what | test("^Loading[$][$]Lambda.*/0x"))] | length == 1' log
	# from the first of ours on, what the JVM logs, hidden ones included
	jq -r '.events[].what' log | sort >ours
	sed -nE 's/.*\] ([^ ]+) source: .*/\1/p' own.log | sort >own
	comm -23 ours own | tee differ
	[ ! -s differ ]
	[ "$(grep -c 0x ours)" -ge 1 ]
}

@test "loads: by loaders that search before they ask anybody, from where they begin" { each_jdk searches_first; }

of_virtual_threads() {
	arcprof record -q -e class-time -o trace -- java -cp "$CLASSES" VirtualLoads
	arcprof report --log=load --format json trace | tee log
	# the JVM's log knows the carrier only
	jq -e '.events[] | select(.what == "VirtualLoads$Later") |
		.thread == "virtual" and .duration_ns > 0 and .own_ns > 0 and .by == "VirtualLoads.cause"' log
	jq -e '[.events[] | select(.thread == "virtual" and .duration_ns == null)] | length == 0' log
}

@test "loads: classes loaded by virtual threads have their time and method, too" { each_jdk 21 of_virtual_threads; }

not_timed() {
	arcprof record -q -e class -o trace -- java -cp "$CLASSES" Loading classes 1
	arcprof report --log=load --format json trace |
		jq -e '([.events[] | select(.duration_ns)] | length == 0) and ([.events[] | select(.by == "Loading.cause")] | length >= 2)'
	arcprof report --classes trace | tee text
	grep -q '^Times: n/a, record -e class-time has them$' text
	arcprof record -q -e safepoint -o trace -- java -cp "$CLASSES" Loading safepoints 2
	arcprof report --log=safepoint --format json trace | jq -e '[.events[] | select(.last or .last_tid)] | length == 0'
}

@test "loads: without class-time and safepoint-last nothing of it is logged" { one_jdk oldest not_timed; }

late_thread() {
	arcprof record -q -e safepoint-last -o trace -- java -XX:+UseSerialGC -XX:-UseCountedLoopSafepoints -cp "$CLASSES" \
		"-Xlog:safepoint:file=own.log:timenanos" Loading safepoints 20
	arcprof report --log=safepoint --format json trace >log
	# another thread may be last when late is quick, not when it is really late
	jq -r '.events[] | select(.reach_ns > 3000000) | .last // .cause' log | sort | uniq -c | tee who
	[ "$(jq '[.events[] | select(.reach_ns > 3000000)] | length' log)" -lt 4 ] ||
		[ "$(awk '$2 == "late" { print $1 }' who)" -ge "$(awk '$2 != "late" { n += $1 } END { print n + 0 }' who)" ]
	[ "$(jq '[.events[] | select(.last == "late")] | length' log)" -ge 1 ]
	arcprof report --gc --format json trace | jq -e '[.lasts[] | select(.thread == "late")] | length == 1'
	# the times are those of the log, with its lines in between
	sed -nE 's/.*Safepoint .*Total: +([0-9]+) ns.*/\1/p' own.log >own
	jq -r '.events[].duration_ns' log >ours
	diff own ours
}

@test "loads: the thread that is last at safepoints is named" { each_jdk late_thread; }

@test "loads: both are known by name, and to be combined" {
	run_arcprof record -e class-times -- true
	[ "$status" -eq 2 ]
	prepare_jdks
	arcprof record -q -e gc,class-time,safepoint-last -o trace -- java -version 2>/dev/null
	arcprof report --log trace | grep -qF '(gc,safepoint,class,class-time,safepoint-last)'
}
