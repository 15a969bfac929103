#!/usr/bin/env bats
load ../lib

# The recording "trace" has wakeups and states: tracepoints can be had.
skip_unless_tracepoints() {
	skip_unless_root
	arcprof record -q --irq --no-samples -o probe -- true 2>/dev/null || skip "dispatches cannot be recorded here"
	[ "$(arcprof report --threads --format json -i probe | jq .source.states)" = true ] ||
		skip "tracepoints are not permitted here"
}

# What a CPU does while it is idle is not made up: then parts and the whole differ.
skip_if_deaf() {
	arcprof doctor --format json >checks
	jq -e '.checks[] | select(.id == "tracepoints") | .state == "ok"' checks >/dev/null ||
		skip "tracepoints: $(jq -r '.checks[] | select(.id == "tracepoints") | .found' checks)"
}

# threads <jq expression over the report>
threads() {
	arcprof report -i trace --threads --format json | jq -r "$1"
}

# On a machine where others switch so much that the recorder cannot follow, exact counts cannot be had.
skip_if_lost() {
	[ "$(threads .source.lost)" -eq 0 ] || skip "the machine is too busy: $(threads .source.lost) records were lost"
}

# Every moment of each thread in one column, of each CPU too; computed here once more.
check_sums() {
	arcprof report -i trace --check >checked
	grep -q '^ok .* states of threads and CPUs fill their time ' checked
	arcprof report -i trace --threads --format json >sums
	jq -e '[.threads[] | .cpu_ns + .interrupt_ns + .runnable_ns + .sleep_ns + .disk_ns + .unknown_ns == .life_ns] | all' sums
	jq -e '.source.elapsed_ns as $all |
		[.cpus[] | .busy_ns + .idle_ns + .interrupt_ns + .unknown_ns == $all] | all' sums
	jq -e '[.threads[].dispatches] | add == $sums[0].totals.dispatches' --slurpfile sums sums sums
}

@test "sched: a program's dispatches, switches and times are what the kernel counted" {
	skip_unless_tracepoints
	arcprof record -q --irq --no-samples -o trace -- "$(workload sleeps)" 150 200000 >counted
	read -r times voluntary involuntary cpu ran waited <counted
	check_sums
	skip_if_lost
	[ "$voluntary" -ge "$times" ]
	# Before and after what it counted of itself it may have been preempted, or slept for a page.
	threads '.threads[] | select(.name == "sleeps") | "\(.voluntary) \(.preemptions) \(.dispatches)"' >got
	read -r v p d <got
	echo "counted $voluntary $involuntary, got $v $p, dispatches $d"
	[ "$v" -ge "$voluntary" ]
	[ "$v" -le $((voluntary + 20)) ]
	[ "$p" -ge "$involuntary" ]
	[ "$p" -le $((involuntary + 20)) ]
	[ "$d" -ge "$times" ]
	[ "$d" -le $((v + p)) ]
	threads '.threads[] | select(.name == "sleeps") |
		"\(.cpu_ns + .interrupt_ns) \(.runnable_ns) \(.sleep_ns) \(.unknown_ns)"' >got
	read -r on_cpu runnable slept unknown <got
	echo "ran $ran, waited $waited; got $on_cpu $runnable $slept $unknown"
	within "$on_cpu" "$ran" 25
	within "$on_cpu" "$cpu" 25
	# Unknown is where the kernel kept a wakeup from us; what it was is then in no other column.
	[ $((runnable + unknown)) -ge $((waited * 9 / 10)) ]
	[ $((slept + unknown)) -ge $((times * 1000000 * 9 / 10)) ]
}

@test "sched: of the whole machine each CPU is busy, idle or in an interrupt all the time" {
	skip_unless_tracepoints
	arcprof record -q --irq --no-samples -a --no-java -o trace -- "$(workload sleeps)" 100 200000 >counted
	check_sums
	[ "$(threads '.cpus | length')" -ge "$(nproc)" ]
	[ "$(threads '[.threads[] | select(.tid == 0)] | length')" -eq 0 ]
	[ "$(threads '[.threads[] | select(.name == "sleeps")] | length')" -ge 1 ]	# others may run one
	[ "$(threads '.source.interrupts_taken')" -gt 0 ]
	run_arcprof report -i trace --threads
	grep -qE '^ +CPU +Busy +Idle +Intr +Unknown +Disp +Intrs$' <<<"$output"
}

@test "sched: the timeline has a line per dispatch, and the sums of the table" {
	skip_unless_tracepoints
	arcprof record -q --irq --no-samples -o trace -- "$(workload sleeps)" 50 100000 >counted
	arcprof report -i trace --sched --format json >lines
	tid=$(threads '.threads[] | select(.name == "sleeps") | .tid')
	[ "$(jq "[.lines[] | select(.kind == \"dispatch\" and .in.tid == $tid and .in.name == \"sleeps\")] | length" lines)" -eq \
		"$(threads '.threads[] | select(.name == "sleeps") | .dispatches')" ]
	[ "$(jq "[.lines[] | select(.kind == \"dispatch\" and .out.name == \"sleeps\" and .ran_ns) | .ran_ns] | add" lines)" -eq \
		"$(threads '.threads[] | select(.name == "sleeps") | .cpu_ns + .interrupt_ns')" ]
	jq -e '[.lines[].time_ns] | . == sort' lines
	# the first lines are about all lines, and the same in every report
	[ "$(jq .source.dispatches lines)" -eq "$(threads .source.dispatches)" ]
	jq -e '.source.dispatches == ([.lines[] | select(.kind == "dispatch" and .in != null and .in.tid > 0)] | length)' lines
	[ "$(jq .source.elapsed_ns lines)" -eq "$(threads .source.elapsed_ns)" ]
	arcprof report -i trace --sched --format csv >csv
	[ "$(tail -n +2 csv | wc -l)" -eq "$(jq '.lines | length' lines)" ]
	follows_columns ran_ns,time_ns,out ran_ns report -i trace --sched
	follows_columns wait_max_ns,name wait_max_ns report -i trace --threads
	arcprof report -i trace --threads --sort sleep_ns --format json | jq -e '.totals.tid == null and
		([.threads[].sleep_ns] | . == (sort | reverse))' >/dev/null
	run_arcprof report -i trace --sched --limit 5
	[ "$(grep -cE '^ +[0-9]+\.[0-9]{6} +[0-9]+ ' <<<"$output")" -eq 5 ]
}

@test "sched: with samples in the same run, and a program of several threads and processes" {
	skip_unless_tracepoints
	record --sched -- sh -c "$(workload sleeps) 20 100000; $(workload crowd) 2>/dev/null | tail -n 1; true"
	[ "$status" -eq 0 ]
	[[ $stderr == *" samples of "*" dispatches, "* ]]
	check_sums
	skip_if_lost
	[ "$(threads '[.threads[] | select(.name == "sleeps" and .voluntary >= 20)] | length')" -eq 1 ]
	[ "$(arcprof report -i trace --xprof --format json | jq .quality.n)" -gt 0 ]
}

# add <what of a thread> <trace>...: over all of its threads
add() {
	local what=$1 f
	shift
	for f in "$@"; do
		arcprof report -i "$f" --threads --format json | jq "[.threads[].$what] | add"
	done | awk '{ n += $1 } END { printf "%.0f\n", n }'
}

@test "sched: in several files, each begins with what threads did then, and together they are one" {
	local f what
	skip_unless_tracepoints
	skip_if_deaf
	arcprof record -q --irq --no-samples -a --no-java --segment 300ms -o dir -- "$(workload sleeps)" 500 200000 >counted
	ls dir
	[ "$(find dir -name '*.arc' | wc -l)" -ge 2 ]
	arcprof merge --splice dir -o trace
	check_sums
	skip_if_lost
	for f in dir/*.arc; do
		cp "$f" alone
		arcprof report -i alone --check | grep -q '^ok .* states of threads and CPUs fill their time '
	done
	[ "$(add dispatches dir/*.arc)" -eq "$(add dispatches trace)" ]
	# but for threads that came or went at a change
	for what in cpu_ns interrupt_ns runnable_ns sleep_ns; do
		echo "$what: $(add $what dir/*.arc) in parts, $(add $what trace) in all"
		within "$(add $what dir/*.arc)" "$(add $what trace)" 5
	done
	# one that is missing is not made up
	rm "$(find dir -name '*.arc' | sort | sed -n 2p)"
	arcprof merge --splice dir -o trace
	check_sums
}

@test "sched: a flight recorder's" {
	skip_unless_tracepoints
	arcprof record -q --sched --no-samples -a --no-java --mode wrap --max-size 1M -o trace -- "$(workload sleeps)" 100 200000 >counted
	check_sums
	threads '.threads[] | select(.name == "sleeps") | .voluntary' >got
	skip_if_lost
	[ "$(cat got)" -ge 100 ]
}

@test "sched: a window, a selection and an order" {
	skip_unless_tracepoints
	arcprof record -q --sched --no-samples -o trace -- sh -c "$(workload sleeps) 100 100000; true" >counted
	arcprof report -i trace --threads --from 50ms --to 100ms --format json >window
	[ "$(jq .source.elapsed_ns window)" -eq 50000000 ]
	jq -e '[.threads[] | .life_ns <= 50000000 and
		.cpu_ns + .runnable_ns + .sleep_ns + .disk_ns + .unknown_ns == .life_ns] | all' window
	[ "$(arcprof report -i trace --threads --comm sleeps --format csv | tail -n +2 | cut -d, -f1)" = sleeps ]
	for key in name base cum n wait blocked latency; do
		arcprof report -i trace --threads --sort $key --limit 1 --format csv | tail -n +2 | wc -l | grep -qx 1
	done
	arcprof report -i trace --threads --sort n --format csv | tail -n +2 | cut -d, -f12 >order
	sort -rn order | cmp - order
}

@test "sched: without privileges it is the program's own time on CPUs, and missing data is reported" {
	skip_unless_perf
	skip_unless_root
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 0 ] || skip "everybody may have tracepoints here"
	chmod 755 .
	mkdir -m 777 out
	cp "$ARCPROF" "$(workload sleeps)" out/
	! as_nobody out/arcprof record -q --irq --no-samples -o out/trace -- true 2>refused || false
	grep -q -- '--irq: interrupts cannot be recorded: tracepoints take CAP_PERFMON' refused
	! as_nobody out/arcprof record -q --all-kernel -o out/trace -- true 2>refused || [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -lt 2 ]
	[ ! -e out/trace ]
	as_nobody out/arcprof record -q --sched --no-samples -o out/trace -- out/sleeps 200 200000 >counted
	cp out/trace trace
	read -r times voluntary involuntary cpu _ <counted
	check_sums
	run_arcprof report -i trace --threads
	grep -q '^not recorded: wakeups, and how threads were blocked: ' <<<"$output"
	grep -q ' OffCPU ' <<<"$output"
	[ "$(threads .source.states)" = false ]
	# with what the program did until it began to count: some milliseconds
	within "$(threads '.threads[] | select(.name == "sleeps") | .cpu_ns')" "$cpu" 25
	v=$(threads '.threads[] | select(.name == "sleeps") | .voluntary')
	[ "$v" -ge "$voluntary" ]
	[ "$v" -le $((voluntary + 20)) ]
}

@test "sched: a selection that matches nothing is an error" {
	skip_unless_tracepoints
	arcprof record -q --sched --no-samples -o trace -- true
	for report in --threads --sched; do
		run_arcprof report -i trace $report --comm nosuch
		[ "$status" -eq 1 ]
		[[ $stderr == *": nothing matches --comm 'nosuch'"* ]]
	done
}

@test "sched: a trace without dispatches is refused with a hint" {
	run_arcprof report -i "$TOP/t/data/mixed/trace" --threads
	[ "$status" -eq 1 ]
	[[ $stderr == *"the trace has no dispatches"* ]]
	[[ $stderr == *"hint: "*"arcprof record --sched"* ]]
}

@test "sched: options that do not go together are usage errors" {
	run_arcprof record --no-samples -- true
	[ "$status" -eq 2 ]
	[[ $stderr == *"--no-samples"*"--sched"* ]]
	run_arcprof record --sched --no-samples -F 100 -- true
	[ "$status" -eq 2 ]
	run_arcprof report --xprof --sort latency
	[ "$status" -eq 2 ]
	[[ $stderr == *"--sort=latency is only valid with --threads"* ]]
	run_arcprof report --threads --stacks nowhere
	[ "$status" -eq 2 ]
}

@test "sched: every report says how long was recorded, without delay and without what ending takes" {
	skip_unless_tracepoints
	arcprof record -q --sched -F 999 -D 1 -o trace -- "$(workload sleeps)" 1500 1000 >/dev/null
	arcprof report -i trace --xprof --format json >samples
	spans=$(($(threads .source.elapsed_ns) - $(jq .source.duration_ns samples)))
	[ "${spans#-}" -lt 500000000 ]
}
