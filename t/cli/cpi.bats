#!/usr/bin/env bats
load ../lib

busy_program='i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'

@test "cpi: the machine and each CPU have a line per interval, and the run time ends it" {
	run_arcprof cpi -t 0.2 -d 0.6
	[ "$status" -eq 0 ]
	cpus=$(getconf _NPROCESSORS_ONLN)
	[ "$(grep -cE '^all +0\.[0-9]{3} ' <<<"$output")" -eq 3 ]
	[ "$(grep -cE '^[0-9]+ +0\.[0-9]{3} ' <<<"$output")" -eq $((3 * cpus)) ]
	grep -qx '\*\* Utilisation: /proc/stat' <<<"$output"
	run_arcprof cpi --summary -d 0.1
	[ "$(grep -cE '^(all|[0-9]+) ' <<<"$output")" -eq 1 ]
}

@test "cpi: counters are counted, or n/a with the reason; utilisation is always shown" {
	run_arcprof cpi -d 0.5 --format json
	[ "$status" -eq 0 ]
	[ "$(json '.samples | length')" -eq 1 ]
	[ "$(json '.samples[0].system | .idle_percent + .busy_percent | . > 99.9 and . < 100.1')" = true ]
	if [ "$(json .counters)" = true ] && [ "$(json .counters_missing_because)" = null ]; then
		[ "$(json '.samples[0].system | .cycles > 0 and .instructions > 0')" = true ]
		[ "$(json '.samples[0].system | .cpi * .instructions / .cycles | . > 0.999 and . < 1.001')" = true ]
		# the machine is the sum of its CPUs
		[ "$(json '.samples[0] | .system.cycles == ([.cpus[].cycles] | add)')" = true ]
	elif [ "$(json .counters)" = true ]; then
		[ "$(json '.samples[0] | [.system, .cpus[]] | all(.cpi == null and ((.cycles == null) != (.instructions == null)))')" = true ]
		arcprof cpi -d 0.1 >text
		grep -qE '^\*\* Counters: (cycles|instructions)$' text
		grep -qF "CPI: n/a: $(json .counters_missing_because)" text
	else
		[ -n "$(json .counters_missing_because)" ]
		[ "$(json '.samples[0] | [.system, .cpus[]] | map(.cycles, .instructions, .cpi) | all(. == null)')" = true ]
		arcprof cpi -d 0.1 >text
		grep -qF "** Counters: n/a: $(json .counters_missing_because)" text
		[ "$(grep -cE 'n/a +n/a +n/a$' text)" -gt 1 ]
	fi
}

@test "cpi: a program's CPU time is that which the shell measures" {
	run_arcprof cpi --format json -- bash -c "TIMEFORMAT='%U %S'; time { $busy_program; }"
	[ "$status" -eq 0 ]
	[ "$(json .measured)" = program ]
	seconds=$(awk '{ print $1 + $2 }' <<<"$stderr")
	within "$(json '.samples[0].program.cpu_time_ns / 1e9')" "$seconds" 25
	[ "$(json '.samples[0] | .program.busy_percent / (100 * .program.cpu_time_ns / .elapsed_ns) | . > 0.99 and . < 1.01')" = true ]
}

@test "cpi: a program is measured with its children, and each interval separately" {
	run_arcprof cpi -t 0.1 --format json -- bash -c "bash -c '$busy_program'; sleep 0.3"
	[ "$status" -eq 0 ]
	[ "$(json '.samples | length')" -ge 4 ]
	[ "$(json '[.samples[].program.cpu_time_ns] | add | . > 50000000')" = true ]
	# asleep at the end
	[ "$(json '.samples[-2].program.busy_percent < 20')" = true ]
}

@test "cpi: the exit status is the program's, or 126 and 127 as of env" {
	run_arcprof cpi -- sh -c 'exit 7'
	[ "$status" -eq 7 ]
	run_arcprof cpi -a -- sh -c 'kill -9 $$'
	[ "$status" -eq 137 ]
	run_arcprof cpi -- ./no-such-program
	[ "$status" -eq 127 ]
	[ -z "$output" ]
	: >file
	run_arcprof cpi -s 1 -- ./file
	[ "$status" -eq 126 ]
	[ -z "$output" ]
}

@test "cpi: with --all-cpus the machine is measured while the program runs" {
	run_arcprof cpi -a --format json -- sleep 0.3
	[ "$status" -eq 0 ]
	[ "$(json .measured)" = machine ]
	[ "$(json '.samples[0].elapsed_ns | . > 300000000 and . < 3000000000')" = true ]
	[ "$(json '.samples[0].cpus | length')" -eq "$(getconf _NPROCESSORS_ONLN)" ]
}

@test "cpi: --duration ends a program that takes longer, --start leaves its beginning out" {
	run_arcprof cpi -d 0.2 -- sleep 60
	[ "$status" -eq 143 ]
	local began=${EPOCHREALTIME/./}
	run_arcprof cpi -s 0.3 --format json -- sh -c 'sleep 0.6'
	[ "$status" -eq 0 ]
	[ "$(json .samples[0].elapsed_ns)" -le $(((${EPOCHREALTIME/./} - began) * 1000 - 300000000)) ]
	run_arcprof cpi -s 5 -- true
	[ "$status" -eq 125 ]
	[[ $stderr == *"ended before --start"* ]]
}

@test "cpi: interrupted, it prints what it has and succeeds" {
	setsid env --default-signal=INT "$ARCPROF" cpi >out 2>err &
	pid=$!
	until_it_waits "$pid"
	kill -INT "$pid"
	wait "$pid"
	[ "$(grep -c '^all' out)" -eq 1 ]
}

@test "cpi: a signal is passed on to the program, and its end is waited for" {
	setsid env --default-signal=INT "$ARCPROF" cpi -- sh -c 'trap "exit 9" TERM; echo >ready; while :; do sleep 0.05; done' >out 2>err &
	pid=$!
	for _ in $(seq 1200); do [ -e ready ] && break; sleep 0.05; done
	kill -TERM "$pid"
	wait "$pid" && status=0 || status=$?
	[ "$status" -eq 9 ]
	[ "$(grep -c '^program' out)" -eq 1 ]
}

@test "cpi: -f prints the same into a file" {
	arcprof cpi -d 0.1 --timestamp -f copy >text
	cmp text copy
	[ "$(grep -cE '^[0-9]{2}:[0-9]{2}:[0-9]{2} all ' text)" -eq 1 ]
	run_arcprof cpi -d 0.1 -f /nonexistent/file
	[ "$status" -eq 1 ]
}

@test "cpi: an interval below a tick is a usage error" {
	run_arcprof cpi -t 1ms -d 1
	[ "$status" -eq 2 ]
	[[ $stderr == *"--interval"* ]]
}

@test "cpi: without privileges it measures the user's own program, and says what is missing" {
	skip_unless_root
	skip_unless_command setpriv
	cp "$ARCPROF" "$BATS_RUN_TMPDIR/arcprof-copy"
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/arcprof-copy"
	output=$(as_nobody "$BATS_RUN_TMPDIR/arcprof-copy" cpi --format json -- sh -c "$busy_program")
	[ "$(json '.samples[0].program.cpu_time_ns > 10000000')" = true ]
	as_nobody "$BATS_RUN_TMPDIR/arcprof-copy" cpi -r 0.1 >text 2>err
	rm -f "$BATS_RUN_TMPDIR/arcprof-copy"
	grep -q '^all ' text
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 1 ] || return 0
	grep -qF 'n/a: measuring all processes is not permitted: kernel.perf_event_paranoid is' text
	grep -qF CAP_PERFMON err
}

@test "cpi: CSV has a row for each line of text, and names its columns as JSON" {
	run_arcprof cpi -d 0.1 --format csv
	mapfile -t rows <<<"$output"
	[ "$status" -eq 0 ]
	[ "${rows[0]}" = unix_ns,cpu,elapsed_ns,cpu_time_ns,idle_percent,busy_percent,cycles,instructions,cpi,share_counted ]
	[ "$(cut -d , -f 2 <<<"$output" | sed 1d | head -n 2 | paste -s -d ' ')" = "all 0" ]
	[ "${#rows[@]}" -eq $((2 + $(getconf _NPROCESSORS_ONLN))) ]
	run_arcprof cpi --format csv -- true
	mapfile -t rows <<<"$output"
	[[ ${rows[1]} =~ ^[0-9]+,program,[0-9]+,[0-9]+,, ]]
	# the machine comes before its CPUs in any order
	arcprof cpi -d 0.1 --format csv --columns cpu,busy_percent --sort busy_percent >rows
	[ "$(head -n 2 rows | cut -d , -f 1 | paste -s -d ' ')" = "cpu all" ]
	tail -n +3 rows | LC_ALL=C sort -c -s -t, -k2,2gr
	arcprof cpi -d 0.1 --format json --columns cpu | jq -e '.samples[0] | .system == {} and .cpus[0] == {cpu: 0}'
	run_arcprof cpi --columns speed -- touch ran
	[[ $status -eq 2 && ! -e ran && $stderr == *"--columns=speed: no such column (expected one of: unix_ns, cpu, "* ]]
}
