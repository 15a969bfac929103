#!/usr/bin/env bats
load ../lib

# A folder of the test's own, so that no counters of the user's are touched.
start_counting() {
	export XDG_RUNTIME_DIR=$BATS_TEST_TMPDIR/run
	mkdir -m 700 "$XDG_RUNTIME_DIR"
	"$ARCPROF" mpevt start "$@" 2>err || {
		grep -q "not permitted" err && skip "$(head -n 1 err)"
		cat err
		return 1
	}
}

teardown() {
	[ -z "$XDG_RUNTIME_DIR" ] || "$ARCPROF" mpevt stop 2>/dev/null || true
}

@test "mpevt: list says of each event whether it can be counted, or why not" {
	run_arcprof mpevt list --format json
	[ "$status" -eq 0 ]
	[ "$(json '[.events[] | select(.works == (.because == null))] | length')" -eq "$(json '.events | length')" ]
	arcprof mpevt list >text
	[ "$(grep -cE ' (yes|n/a: .+)$' text)" -eq "$(json '.events | length')" ]
	for event in $(json '.events[] | select(.works) | .event'); do
		grep -qE "^$event +[^ ].* yes$" text
	done
}

@test "mpevt: an event that list calls n/a does not start, for the reason listed" {
	event=$(arcprof mpevt list --format json | jq -r '[.events[] | select(.works | not)][0].event // empty')
	[ -n "$event" ] || skip "every event works here"
	export XDG_RUNTIME_DIR=$BATS_TEST_TMPDIR
	run_arcprof mpevt start "$event"
	[ "$status" -eq 1 ]
	[[ $stderr == *"$event: $(arcprof mpevt list --format json | jq -r ".events[] | select(.event == \"$event\") | .because")"* ]]
	run_arcprof mpevt read
	[ "$status" -eq 1 ]
}

@test "mpevt: of several events, those that exist are counted, and the others named" {
	event=$(arcprof mpevt list --format json | jq -r '[.events[] | select(.works | not)][0].event // empty')
	[ -n "$event" ] || skip "every event works here"
	start_counting cpu-clock "$event" page-faults
	grep -qF "n/a: $event: $(arcprof mpevt list --format json | jq -r ".events[] | select(.event == \"$event\") | .because")" err
	[ "$(arcprof mpevt read --summary --format json | jq -c '[.samples[0].counts[].event]')" = '["cpu-clock","page-faults"]' ]
	run_arcprof mpevt start minor-faults no-such-event
	[ "$status" -eq 1 ]
	[[ $stderr == *"unknown event 'no-such-event'"* ]]
	run_arcprof mpevt read minor-faults
	[ "$status" -eq 1 ]
}

# Of $1 (JSON): the count of event $2 over all CPUs.
total() {
	jq "[.samples[0].counts[] | select(.event == \"$2\" and .cpu == \"all\") | .count][0]" <<<"$1"
}

@test "mpevt: counters outlive the command, rise, and are gone after stop" {
	start_counting cpu-clock context-switches
	first=$(arcprof mpevt read --format json)
	sleep 0.3
	second=$(arcprof mpevt read --format json)
	rise=$(($(total "$second" cpu-clock) - $(total "$first" cpu-clock)))
	[ "$rise" -ge $(($(getconf _NPROCESSORS_ONLN) * 300000000)) ]
	[ "$(jq '[.samples[0].counts[] | select(.event == "cpu-clock" and .cpu != "all") | .count] | add' <<<"$second")" \
		-eq "$(total "$second" cpu-clock)" ]
	arcprof mpevt stop
	run_arcprof mpevt read
	[ "$status" -eq 1 ]
	[[ $stderr == *"nothing is being counted"*"mpevt start"* ]]
	[ ! -e "$XDG_RUNTIME_DIR/arcprof/mpevt" ]
}

@test "mpevt: context switches are as many as /proc/stat counts" {
	outer=$(awk '$1 == "ctxt" { print $2 }' /proc/stat)
	start_counting context-switches
	inner=$(awk '$1 == "ctxt" { print $2 }' /proc/stat)
	sleep 1
	inner=$(($(awk '$1 == "ctxt" { print $2 }' /proc/stat) - inner))
	seen=$(total "$(arcprof mpevt read --format json)" context-switches)
	outer=$(($(awk '$1 == "ctxt" { print $2 }' /proc/stat) - outer))
	echo "$inner <= $seen <= $outer"
	[ "$seen" -ge $((inner - 2)) ]
	[ "$seen" -le $((outer + 2)) ]
}

@test "mpevt: events are added and ended one by one" {
	start_counting cpu-clock
	arcprof mpevt start page-faults
	run_arcprof mpevt start minor-faults cpu-clock
	[ "$status" -eq 1 ]
	[[ $stderr == *"cpu-clock: is being counted already"* ]]
	[ "$(arcprof mpevt read --summary --format json | jq -c '[.samples[0].counts[].event]')" = '["cpu-clock","page-faults"]' ]
	[ "$(arcprof mpevt read page-faults --summary | tail -n +2 | wc -l)" -eq 1 ]
	arcprof mpevt stop cpu-clock
	[ "$(arcprof mpevt read --summary --format json | jq -c '[.samples[0].counts[].event]')" = '["page-faults"]' ]
	run_arcprof mpevt stop cpu-clock
	[ "$status" -eq 1 ]
	[[ $stderr == *"cpu-clock: is not being counted"* ]]
}

@test "mpevt: query prints each interval alone, until the run time is over" {
	start_counting cpu-clock
	run_arcprof mpevt query -t 0.3 -d 0.9 --summary --format json
	[ "$status" -eq 0 ]
	[ "$(json '.samples | length')" -eq 3 ]
	cpus=$(getconf _NPROCESSORS_ONLN)
	for i in 0 1 2; do
		within "$(json ".samples[$i].counts[0].count / $cpus")" "$(json ".samples[$i].counts[0].counted_for_ns")" 5
	done
	[ "$(json '[.samples[].counts[0].counted_for_ns] | add | . > 800000000 and . < 2000000000')" = true ]
	arcprof mpevt read -f copy >text
	cmp copy text
}

@test "mpevt: query is ended by SIGINT, and the counters go on" {
	start_counting cpu-clock
	setsid env --default-signal=INT "$ARCPROF" mpevt query -t 0.1 --format json >out 2>err &
	pid=$!
	until_it_waits "$pid"
	sleep 0.2
	kill -INT "$pid"
	wait "$pid"
	[ "$(jq '.samples | length' out)" -ge 1 ]
	arcprof mpevt read >/dev/null
}

@test "mpevt: a process that was killed leaves nothing in the way" {
	start_counting cpu-clock
	socket=$XDG_RUNTIME_DIR/arcprof/mpevt
	pid=$(ss -xlpH "src = $socket" 2>/dev/null | sed -nE 's/.*pid=([0-9]+).*/\1/p')
	[ -n "$pid" ] || skip "ss(8) does not say who listens"
	kill -9 "$pid"
	run_arcprof mpevt read
	[ "$status" -eq 1 ]
	[[ $stderr == *"nothing is being counted"* ]]
	arcprof mpevt start page-faults
	arcprof mpevt read >/dev/null
}

@test "mpevt: a folder that others may enter is refused" {
	export XDG_RUNTIME_DIR=$BATS_TEST_TMPDIR
	mkdir -m 755 arcprof
	run_arcprof mpevt start cpu-clock
	[ "$status" -eq 1 ]
	[[ $stderr == *"is not a folder of this user alone"* ]]
}

@test "mpevt: without privileges it says what is missing" {
	skip_unless_command setpriv
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 1 ] || skip "perf_event_paranoid is below 1"
	mkdir "$BATS_RUN_TMPDIR/open"
	cp "$ARCPROF" "$BATS_RUN_TMPDIR/open/arcprof"
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/open" "$BATS_RUN_TMPDIR/open/arcprof"
	status=0
	output=$(as_nobody env -u XDG_RUNTIME_DIR "$BATS_RUN_TMPDIR/open/arcprof" mpevt start cpu-clock 2>&1) || status=$?
	rm -rf "$BATS_RUN_TMPDIR/open" /tmp/arcprof-65534
	[ "$status" -eq 1 ]
	[[ $output == *"kernel.perf_event_paranoid is "*CAP_PERFMON* ]]
}

@test "mpevt: usage errors are reported before anything is started" {
	while read -r args; do
		# shellcheck disable=SC2086
		run_arcprof mpevt $args
		[ "$status" -eq 2 ]
		[ -z "$output" ]
		[ -n "$stderr" ]
	done <<-'END'

		count
		start
		list cycles
		read -r 5
		query -t 0
	END
}

@test "mpevt: CSV says of each event what JSON says" {
	run_arcprof mpevt list --format csv
	mapfile -t rows <<<"$output"
	[ "${rows[0]}" = event,description,works,because ]
	arcprof mpevt list --format json >list.json
	[ "$(arcprof mpevt list --columns event,works --format csv | sed 1d)" = "$(jq -r '.events[] | "\(.event),\(.works)"' list.json)" ]
	follows_columns works,event - mpevt list
	arcprof mpevt list --columns event --sort event --format csv | tail -n +2 | LC_ALL=C sort -c
}
