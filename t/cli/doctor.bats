#!/usr/bin/env bats
# bats file_tags=stored
load ../lib

@test "doctor: it succeeds, says what it found on stdout, and nothing on stderr" {
	run_arcprof doctor
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[[ $output == "arcprof "*" on Linux "* ]]
	grep -qE '^[0-9]+ ok, [0-9]+ limited, [0-9]+ no$' <<<"$output"
}

@test "doctor: every check has a state, says what it enables, and how to get it if missing" {
	run_arcprof doctor --format json
	[ "$status" -eq 0 ]
	[ "$(json '[.checks[] | select(.state | IN("ok", "limited", "no") | not)] | length')" -eq 0 ]
	[ "$(json '[.checks[] | select(.gives == "")] | length')" -eq 0 ]
	[ "$(json '[.checks[] | select(.state == "no" and .found == "")] | length')" -eq 0 ]
	[ "$(json '[.checks[].id] | length == (unique | length)')" = true ]
}

@test "doctor: text and JSON count the same" {
	text=$(arcprof doctor | tail -n 1)
	run_arcprof doctor --format json
	for state in ok limited no; do
		n=$(json "[.checks[] | select(.state == \"$state\")] | length")
		[[ " $text," == *" $n $state,"* ]]
	done
}

@test "doctor: no line is wider than 100 columns, on a terminal not wider than that" {
	# a path or command that is longer than the line is not cut
	arcprof doctor | tail -n +2 >text
	! grep -E '.{101}' text | grep -v '[^ ]\{70\}' || false
	skip_unless_terminal
	on_terminal "$ARCPROF" doctor --no-pager --color=never | tail -n +2 >text
	! grep -E '.{81}' text | grep -v '[^ ]\{50\}' || false
}

@test "doctor: without privileges it names the sysctl that is in the way" {
	skip_unless_root
	skip_unless_command setpriv
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 1 ] || skip "perf_event_paranoid is below 1"
	cp "$ARCPROF" "$BATS_RUN_TMPDIR/arcprof-copy"
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/arcprof-copy"
	output=$(as_nobody "$BATS_RUN_TMPDIR/arcprof-copy" doctor --format json)
	rm -f "$BATS_RUN_TMPDIR/arcprof-copy"
	[ "$(json '.uid')" -eq 65534 ]
	[ "$(json '.checks[] | select(.id == "all-cpus") | .state')" = no ]
	[[ $(json '.checks[] | select(.id == "all-cpus") | .found') == *"kernel.perf_event_paranoid is "* ]]
	[[ $(json '.checks[] | select(.id == "all-cpus") | .remedy') == *"sudo sysctl kernel.perf_event_paranoid=0"* ]]
	[ "$(json '.checks[] | select(.id == "wall") | .state')" = limited ]
	[[ $(json '.checks[] | select(.id == "wall") | .found') == "own programs; "*CAP_BPF* ]]
}

@test "doctor: the JDK in PATH is found with its version" {
	skip_unless_java
	run_arcprof doctor --format json
	version=$(json '.jdks[] | select(.in_path) | .version')
	java -version 2>&1 | head -n 1 | grep -qF "\"$version\""
}

@test "doctor: an empty environment is not a failure" {
	env -i "$ARCPROF" doctor >text
	grep -q '^Java$' text
}

@test "doctor: CSV has a row for each check of JSON" {
	arcprof doctor --format json | jq -r '.checks[] | "\(.id)"' >ids
	run_arcprof doctor --format csv
	[ "$(head -n 1 <<<"$output")" = id,group,title,state,gives,found,remedy ]
	sed 1d <<<"$output" | cut -d , -f 1 | diff ids -
}
