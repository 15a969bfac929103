#!/usr/bin/env bats
load ../lib

# "idle busy intr" of a CPU, in ticks, as /proc/stat has them now.
ticks_of_cpu() {
	awk -v cpu="cpu$1" '$1 == cpu { print $5 + $6, $2 + $3 + $4 + $9, $7 + $8 }' /proc/stat
}

@test "aboveidle: the text has Performance Inspector's form, and ends after the count" {
	run_arcprof aboveidle 0.1 3
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	grep -qxF "**        Processors: $(grep -c '^cpu[0-9]' /proc/stat)" <<<"$output"
	grep -qxF "**   Sample interval: 0.1 Second(s)" <<<"$output"
	grep -qxF "** Number of samples: 3 (Run time: 0.3 Seconds)" <<<"$output"
	grep -qE '^\*\*            Source: /proc/stat, in ticks of 10 ms: one is 10.00% of an interval$' <<<"$output"
	[ "$(grep -cE '^\([ 0-9.]{5,6},[ 0-9.]{5,6},[ 0-9.]{5,6}\)( \(.*\))+$' <<<"$output")" -eq 3 ]
	[ "$(grep -c '^System Summary      processor #0' <<<"$output")" -eq 1 ]
	[ "${output##*$'\n'}" = "** Requested number of samples reached.  Ending." ]
}

@test "aboveidle: the head is repeated every 20 lines" {
	run_arcprof aboveidle 10ms 21
	[ "$status" -eq 0 ]
	[ "$(grep -c '^(idle%,busy%,intr%)' <<<"$output")" -eq 2 ]
}

@test "aboveidle: idle, busy and intr of each line add up to 100" {
	arcprof aboveidle 0.2 5 | grep -oE '\([ 0-9]+\.[^)]*\)' | tr -d '()' >cells
	[ -s cells ]
	awk -F, '{ d = $1 + $2 + $3 - 100; if (d > 0.03 || d < -0.03) { print; bad = 1 } } END { exit bad }' cells
}

@test "aboveidle: the ticks are what /proc/stat itself counted meanwhile" {
	for cpu in $(sed -nE 's/^cpu([0-9]+) .*/\1/p' /proc/stat); do
		ticks_of_cpu "$cpu" >"before.$cpu"
	done
	arcprof aboveidle 0.5 4 --format json >json
	for cpu in $(sed -nE 's/^cpu([0-9]+) .*/\1/p' /proc/stat); do
		jq -r "[.samples[].cpus[] | select(.cpu == $cpu)] |
			[(map(.idle_ticks) | add), (map(.busy_ticks) | add), (map(.intr_ticks) | add)] | join(\" \")" \
			json >seen
		ticks_of_cpu "$cpu" >after
		paste -d ' ' "before.$cpu" after seen | tee line
		# none counted more than the kernel did around it (idle may step back by a tick), and the
		# sum is the time that was measured
		awk '{ for (i = 1; i <= 3; i++) if ($(i + 6) > $(i + 3) - $i + 2) exit 1
			sum = $7 + $8 + $9; exit !(sum > 180 && sum < 220) }' line
	done
}

@test "aboveidle: a processor that a loop is pinned to is busy" {
	skip_unless_command taskset
	cpu=$(taskset -cp $$ | sed -E 's/.*[^0-9]([0-9]+)$/\1/')
	taskset -c "$cpu" sh -c 'while :; do :; done' &
	loop=$!
	run_arcprof aboveidle 1 2 --format json
	kill "$loop"
	[ "$status" -eq 0 ]
	[ "$(json "[.samples[].cpus[] | select(.cpu == $cpu) | .idle_percent < 5] | all")" = true ]
	[ "$(json "[.samples[].cpus[] | select(.cpu == $cpu) | .busy_percent > 80] | all")" = true ]
}

@test "aboveidle: a summary is one line in words, with --per-cpu one more a processor" {
	arcprof aboveidle -s 0.1 2 >text
	[ "$(grep -cE '^System idle: [ 0-9.]{5,6}%  busy: [ 0-9.]{5,6}%  intr: [ 0-9.]{5,6}%$' text)" -eq 2 ]
	! grep -q processor text || false
	arcprof aboveidle -sP 0.1 2 >text
	[ "$(grep -c '^CPU [0-9]* *idle: ' text)" -eq $((2 * $(grep -c '^cpu[0-9]' /proc/stat))) ]
	[ "$(arcprof aboveidle -s 0.1 1 --format json | jq '.samples[0] | has("cpus")')" = false ]
}

@test "aboveidle: -t puts the time of day before each line" {
	arcprof aboveidle -st 0.1 2 >text
	[ "$(grep -cE '^[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3} System idle' text)" -eq 2 ]
}

@test "aboveidle: -l prints the same to a file, and reports a failure" {
	arcprof aboveidle -l log 0.1 2 >text
	cmp log text
	run_arcprof aboveidle -l /nonexistent/log 0.1 1
	[ "$status" -eq 1 ]
	[[ $stderr == *"/nonexistent/log"* ]]
	[ -w /dev/full ] || skip "no /dev/full"
	run_arcprof aboveidle -l /dev/full 0.1 1
	[ "$status" -eq 1 ]
	[[ $stderr == *"cannot write /dev/full: No space left on device"* ]]
	[[ $output == *"Requested number of samples reached"* ]]
}

@test "aboveidle: a run time gives the number of intervals, and excludes a count" {
	run_arcprof aboveidle 0.1 -d 500ms
	[ "$status" -eq 0 ]
	grep -qxF "** Number of samples: 5 (Run time: 0.5 Seconds)" <<<"$output"
	run_arcprof aboveidle 1 2 -d 3
	[ "$status" -eq 2 ]
	[[ $stderr == *"cannot be combined: --duration and a count"* ]]
}

# An unlimited run in the background whose SIGINT the shell has not turned off.
start_unlimited() {
	: >out
	setsid env --default-signal=INT "$ARCPROF" aboveidle "$@" >out 2>err &
	pid=$!
	for _ in $(seq 100); do
		[ "$(wc -l <out)" -lt 4 ] || break
		sleep 0.1
	done
}

@test "aboveidle: without a count it runs until interrupted, and then ends cleanly" {
	start_unlimited -r 1d -s 0.1
	grep -qF "(Run time: 1 Day)" out
	kill -INT "$pid"
	wait "$pid"
	[ "$(tail -n 1 out)" = "** Interrupted.  Ending." ]
	start_unlimited 0.1 --format json
	kill -TERM "$pid"
	wait "$pid"
	[ "$(jq '.interrupted' out)" = true ]
	[ ! -s err ]
}

@test "aboveidle: wrong intervals and counts are usage errors that say why" {
	for args in "1ms" "0" "abc" "1 0" "1 x" "1 2 3" "-P 1 1"; do
		# shellcheck disable=SC2086
		run_arcprof aboveidle $args
		[ "$status" -eq 2 ]
		[ -z "$output" ]
		[ -n "$stderr" ]
	done
}

@test "aboveidle: CSV has a row for each processor and one for all, interval by interval" {
	arcprof aboveidle 0.1 1 --format csv --columns cpu,idle_percent --sort idle_percent >rows
	[ "$(head -n 2 rows | cut -d , -f 1 | paste -s -d ' ')" = "cpu all" ]
	tail -n +3 rows | LC_ALL=C sort -c -s -t, -k2,2gr
	run_arcprof aboveidle 0.1 1 --columns cpu
	[[ $status -eq 2 && $stderr == *"--columns: text is that of Performance Inspector"* ]]
	run_arcprof aboveidle 0.1 2 --format csv
	mapfile -t rows <<<"$output"
	[ "$status" -eq 0 ]
	[ "${rows[0]}" = unix_ns,elapsed_ns,cpu,idle_ticks,busy_ticks,intr_ticks,steal_ticks,idle_percent,busy_percent,intr_percent ]
	[ "$(grep -c '^[0-9]*,[0-9]*,all,,,,,' <<<"$output")" -eq 2 ]
	[ "${#rows[@]}" -eq $((3 + 2 * $(getconf _NPROCESSORS_ONLN))) ]
}
