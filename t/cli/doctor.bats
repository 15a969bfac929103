#!/usr/bin/env bats
# bats file_tags=stored
load ../lib
load ../jdks

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
}

teardown() {
	[ -z "${JVM-}" ] || kill -9 "$JVM" 2>/dev/null || true
}

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

@test "doctor: where BPF or perf events are refused, wall is as record has it" {
	skip_unless_perf
	[ -x "$BUILD/t/tools/deny" ] || make -s -C "$TOP" build/t/tools/deny
	local rc=0
	"$BUILD/t/tools/deny" bpf true 2>/dev/null || rc=$?
	[ "$rc" -ne 77 ] || skip "system call filters are not permitted here"
	output=$("$BUILD/t/tools/deny" bpf "$ARCPROF" doctor --format json) || :
	[[ $(json '.checks[] | select(.id == "wall") | .found') == "own programs; without wakers"* ]]
	output=$("$BUILD/t/tools/deny" perf_event_open,bpf "$ARCPROF" doctor --format json) || :
	[ "$(json '.checks[] | select(.id == "wall") | .state')" = limited ]
	[[ $(json '.checks[] | select(.id == "wall") | .found') == "own programs; states of threads are read from /proc"* ]]
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

home_of_java() {
	dirname "$(dirname "$(readlink -f "$(command -v java)")")"
}

all_facts() {
	run_arcprof doctor --jvm "$(home_of_java)" --format json
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[ "$(json .jdk)" = "$JDK" ]
	[ "$(json '[.facts[] | select(.state == "no")] | length')" -eq 0 ]
	[ "$(json '[.facts[] | select(.state == "ok" and .found == null)] | length')" -eq 0 ]
	[ "$(json '[.facts[] | select(.state == "ok")] | length')" -ge 90 ]
	# no JVM and nothing of ours stays
	! pgrep -f PauseAtStartupFile=/tmp/arcprof-jvm- || false
	! compgen -G '/tmp/arcprof-jvm-*' || false
}

@test "doctor: --jvm finds each fact that arcprof rests on, in each JDK" {
	on_each_jdk 25 all_facts
}

of_a_process() {
	JAVA_TOOL_OPTIONS=-agentpath:$BUILD/t/tools/hide-fields.so=ConstMethod._constMethod_size,CodeBlob._name,MONITOR_WAIT=4,PerfDataEntry.data_type=9 \
		java -cp "$CLASSES" Kept wait <<<"" >out 2>err 3>&- &
	JVM=$!
	for ((i = 0; i < 600; i++)); do grep -q hidden err && break; sleep 0.1; done
	run_arcprof doctor -p "$JVM"
	kill "$JVM"
	[ "$status" -eq 0 ]
	grep -qx '  no     field         ConstMethod._constMethod_size' <<<"$output"
	grep -qx '  reports say "not recorded: source lines of Java methods: this JVM has no ConstMethod._constMethod_size"' <<<"$output"
	grep -qx '  reports say "the agent knows too little of it"' <<<"$output"
	# what is there, and is another
	grep -qx '  no     number        MONITOR_WAIT = 3' <<<"$output"
	grep -qx '  no     field         PerfDataEntry.data_type = 12' <<<"$output"
	grep -qx '  reports say "not recorded: notified threads that wait for their monitor: this JVM has no MONITOR_WAIT = 3"' <<<"$output"
	[ "$(grep -c '^  no ' <<<"$output")" -eq 4 ]
}

@test "doctor: -p says what a running JVM lacks, and what reports say then" {
	make -s -C "$TOP" build/t/tools/hide-fields.so >&2
	one_jdk newest of_a_process
}

@test "doctor: a process that is not a JVM is named as such" {
	run_arcprof doctor -p $$
	[ "$status" -eq 1 ]
	[ "$stderr" = "arcprof doctor: process $$ is not a HotSpot JVM" ]
	run_arcprof doctor --jvm /nowhere
	[ "$status" -eq 1 ]
	[[ $stderr == *"'/nowhere' is not a JAVA_HOME: "* ]]
	mkdir -p false/bin
	ln -sf "$(type -P false)" false/bin/java
	run_arcprof doctor --jvm false
	[ "$status" -eq 1 ]
	[[ $stderr == *"does not start a HotSpot JVM"* ]]
	run_arcprof doctor -p 1 --jvm /nowhere
	[ "$status" -eq 2 ]
}
