#!/usr/bin/env bats
# Where the resident memory of processes is: programs of known sizes, and JVMs that keep an account of their own.
load ../lib
load ../java

setup_file() {
	gcc -O1 -o "$BATS_FILE_TMPDIR/known" "$TOP/t/cli/memory.c" -lpthread
}

teardown() {
	[ -z "${PROGRAM-}" ] || kill -KILL "$PROGRAM" 2>/dev/null || true
}

# start <program>...: its number is in $PROGRAM; it is ready.
start() {
	local i
	rm -f in out
	mkfifo in
	"$@" <in >out 2>err 3>&- &
	PROGRAM=$!
	exec 7>in
	for ((i = 0; i < 1200; i++)); do
		grep -qx ready out && return
		kill -0 "$PROGRAM" || { cat err; return 1; }
		sleep 0.05
	done
	return 1
}

finish() {
	exec 7>&-
	wait "$PROGRAM"
	PROGRAM=
}

look() {
	arcprof memory -p "$PROGRAM" --format json "$@" >look.json
}

# part <name>: its resident KiB.
part() {
	jq --arg p "$1" '[.parts[] | select(.part == $p).resident / 1024] | add // 0 | floor' look.json
}

# between <low> <value> <high>
between() {
	[ "$1" -le "$2" ] && [ "$2" -le "$3" ] || { echo "$2 is not in $1 to $3"; jq . look.json; return 1; }
}

sums_up() {
	jq -e '([.parts[].resident] | add) == .resident and ([.mappings[].resident] | add) == .resident' look.json
}

@test "a program's memory of known sizes is where it was allocated" {
	start "$BATS_FILE_TMPDIR/known" file
	look --mappings
	sums_up
	# it does nothing: the kernel's own sum is the same
	[ "$(awk '/^Rss:/ { print $2 * 1024 }' "/proc/$PROGRAM/smaps_rollup")" = "$(jq .resident look.json)" ]
	# 1008 bytes for each of 1000
	between 40896 "$(part malloc)" 41500
	# what the C library itself says is free, but for the few blocks that the thread keeps for itself
	between 8040 "$(part malloc_free)" 8300
	between 4096 "$(part files)" 4096
	between 2048 "$(part shared)" 2048
	between 2048 "$(part stacks)" 2400
	between 6144 "$(part not_accounted)" 6300
	[ "$(jq .threads look.json)" = 6 ]
	finish
}

@test "text, CSV and JSON have the same numbers" {
	start "$BATS_FILE_TMPDIR/known" file
	look
	arcprof memory -p "$PROGRAM" --format csv >look.csv
	arcprof memory -p "$PROGRAM" -o look.txt
	[ "$(awk -F , 'NR > 1 { s += $1 } END { print s }' look.csv)" = "$(jq .resident look.json)" ]
	[ "$(awk '/malloc, in use$/ { print $1 }' look.txt)" = "$(part malloc)" ]
	follows_columns resident,part resident memory -p "$PROGRAM"
	follows_columns resident,name,start resident memory -p "$PROGRAM" --mappings
	[[ $(head -n 1 look.txt) == "process $PROGRAM (known), 6 threads: $(($(jq .resident look.json) / 1024)) KiB resident" ]]
	finish
}

# What the JVM calls it, and whether what we measured is within 5 %, or the unit of its account.
agrees() {
	jq -e --arg c "$1" '.native_memory_tracking[] | select(.category == $c) |
		(.measured - .committed | fabs) <= ([.committed * 0.05, 65536] | max)' look.json ||
		{ echo "$1"; jq -c '.native_memory_tracking[]' look.json; return 1; }
}

check_jvm() {
	local c most=10
	# room for all code: it is asked for its account before it is measured, and may compile in between
	start "$JAVA_HOME/bin/java" -Xmx256m -XX:NativeMemoryTracking=summary -XX:InitialCodeCacheSize=16m "$@" \
		-cp "$CLASSES" Resident
	look --mappings
	sums_up
	for c in "Java Heap" Class Metaspace Thread Code "Shared class space"; do
		agrees "$c"
	done
	# since then it says where those tables are
	[ "$JDK" -lt 24 ] || agrees GC
	# 20 of 1 MiB; where they cannot be read, the report says so
	if [[ " $* " == *ZGC* ]]; then
		jq -e '.direct_buffers == null and (.direct_buffers_not_read | test("moves objects"))' look.json
	else
		jq -e '.direct_buffers == 20 and .direct_buffer_bytes == 20971520' look.json
	fi
	between 40960 "$(part java_heap)" 110000
	between 20480 "$(part malloc)" 60000
	# JDK 17's ZGC tells nobody of a mapping of 16 MiB, which may be resident
	[[ " $* " != *ZGC* ]] || most=20
	between 0 "$(part not_accounted)" $(($(jq .resident look.json) / 1024 * most / 100))
	jq -e '[.mappings[] | select(.name == "sleeper-3" and .part == "stacks")] | length >= 1' look.json
	if [ "${record-}" ]; then
		record_memory 0.2s
		diff <(jq .jvm look.json) <(jq '.processes[0].jvm' recorded.json)
		diff <(jq '[.native_memory_tracking[].category]' look.json) \
			<(jq '[.processes[0].native_memory_tracking[].category]' recorded.json)
		jq -e '.processes[0] | .direct_buffers == null and .is_jvm and ([.parts[].resident] | add) == .resident and .native_memory == null' recorded.json
	fi
	finish
}

@test "the parts of a JVM are those of its own account, and nearly all is accounted for" {
	skip_unless_java
	prepare_jdks
	local home
	for home in $(jdks); do
		use_jdk "$home"
		check_jvm -XX:+UseG1GC
	done
}

# record_memory <seconds>: of $PROGRAM, ./recorded.json
record_memory() {
	"$ARCPROF" record -q --memory -o trace -p "$PROGRAM" -d "$1"
	arcprof memory trace --format json >recorded.json
}

@test "a recording has the parts of the memory that its processes have when it ends, and what grew" {
	start "$BATS_FILE_TMPDIR/known" file
	look
	record_memory 0.2s
	# it does nothing
	diff <(jq -S '[.parts[] | {part, resident, swapped, committed, mapped}]' look.json) \
		<(jq -S '[.processes[0].parts[] | {part, resident, swapped, committed, mapped}]' recorded.json)
	jq -e --argjson pid "$PROGRAM" '.processes | length == 1 and .[0].pid == $pid and .[0].readings == 1' recorded.json
	jq -e '.processes[0] | .growth_since_ns == null and .parts[0].growth == null and .threads == 6' recorded.json
	[[ $(arcprof memory trace) == "process $PROGRAM (known), 6 threads: $(($(jq .resident look.json) / 1024)) KiB resident, "* ]]
	# two readings: after a second, and in the end
	record_memory 1.2s
	jq -e '.processes[0] | .readings == 2 and .growth_since_ns < .time_ns and ([.parts[].growth] | all(. == 0))' recorded.json
	[ "$(arcprof memory trace --readings --format csv | awk -F , 'NR > 1 { s += $3 } END { print s }')" = \
		"$(jq '2 * .resident' look.json)" ]
	follows_columns resident,part resident memory trace --readings
	# the sum is no part
	[ "$(arcprof memory trace --columns part --sort -resident | sed -n '/^Part/,/^$/p' | grep . | tail -n 1)" = all ]
	finish
	run arcprof memory trace -p 1
	[ "$status" = 1 ]
	[ "${lines[0]}" = "arcprof memory: trace: resident memory of this process was not recorded" ]
	run arcprof memory "$TOP/t/data/mixed/trace"
	[ "$status" = 1 ]
	[ "${lines[1]}" = "hint: arcprof record --memory" ]
	run arcprof record --memory -a -o trace true
	[ "$status" = 2 ]
	[ "${lines[0]}" = "arcprof record: cannot be combined: --memory and --all-cpus" ]
	run arcprof record --memory=10ms -o trace true
	[ "$status" = 2 ]
	[ "${lines[0]}" = "arcprof record: --memory '10ms': must be at least 1s" ]
}

who_has_native_memory() {
	start "$ARCPROF" record -q --memory=1s -e native-memory=16k -o trace "$JAVA_HOME/bin/java" -cp "$CLASSES" Resident
	sleep 1.5
	finish
	arcprof memory trace --format json >recorded.json
	jq '.processes[] | select(.is_jvm).native_memory' recorded.json >places.json
	# its direct buffers of 1 MiB are all samples
	jq -e 'map(select(.site == "Resident.main" and .call == "malloc")) | length == 1 and
		(.[0] | .bytes >= 20971520 and .bytes < 23068672)' places.json
	# the same as the report of leaks has
	diff <(jq -c '.[] | [.call, .site, .samples]' places.json) \
		<(arcprof report -i trace --leaks=native --format json | jq -c '.not_freed[] | [.call, .site, .samples]')
	arcprof memory trace | grep -q ' malloc in Resident.main$'
}

@test "a recording of native memory says who has it, direct buffers by the Java code that made them" {
	skip_unless_java
	on_each_jdk who_has_native_memory
}

@test "a JVM that does not answer is read as any other program" {
	skip_unless_java
	prepare_jdks
	use_jdk "$(jdks | tail -n 1)"
	start "$ARCPROF" record -q --memory=1s -o trace "$JAVA_HOME/bin/java" -cp "$CLASSES" Resident
	local java
	java=$(pgrep -P "$PROGRAM" java)
	kill -STOP "$java"
	sleep 3
	kill -CONT "$java"
	finish
	arcprof memory trace --readings --format json >recorded.json
	jq -e --arg why "process $java is stopped" '.processes | any(.is_jvm and .resident > 20 * 1048576 and
		(.jvm_not_asked | strings | startswith($why)))' recorded.json
}

# The JVM reads one request after the other: who connects and says nothing keeps all others waiting.
# bats test_tags=stored
@test "a JVM whose attach listener is busy holds nothing up for longer than the manual says" {
	skip_unless_java
	skip_unless_command python3
	prepare_jdks
	use_jdk "$(jdks | tail -n 1)"
	start "$ARCPROF" record -q --memory=1s -o trace "$JAVA_HOME/bin/java" -cp "$CLASSES" Resident
	local java silent i
	java=$(pgrep -P "$PROGRAM" java)
	# the first reading starts the listener
	for ((i = 0; i < 600; i++)); do
		[ -S "/tmp/.java_pid$java" ] && break
		sleep 0.05
	done
	timeout 60 python3 -c '
import socket, sys, time
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
print("connected", flush=True)
time.sleep(60)' "/tmp/.java_pid$java" >silent 3>&- 7>&- &
	silent=$!
	for ((i = 0; i < 600; i++)); do
		grep -q connected silent && break
		sleep 0.05
	done
	arcprof memory -p "$java" --format json >look.json
	jq -e --arg why "process $java did not answer in 10 s" '.jvm_not_asked == $why and .is_jvm and .jvm == null' look.json
	jq -e '([.parts[].resident] | add) == .resident' look.json
	kill "$silent"
	finish
	arcprof memory trace --readings --format json >recorded.json
	jq -e --arg why "process $java did not answer in 5 s" '.processes | any(.jvm_not_asked == $why and
		.resident > 60 * 1048576 and ([.parts[].resident] | add) == .resident)' recorded.json
}

@test "a heap that is mapped three times is shown once" {
	skip_unless_java
	prepare_jdks
	use_jdk "$(jdks | head -n 1)"
	[ "$JDK" = 17 ] || skip "JDK 17's ZGC"
	record=yes check_jvm -XX:+UseZGC
	jq -e '.parts[] | select(.part == "java_heap_again" and .mapped == 536870912)' look.json
}

@test "a JVM that does not allow attaching is shown as far as the kernel knows it, with a message" {
	skip_unless_java
	prepare_jdks
	use_jdk "$(jdks | head -n 1)"
	start "$JAVA_HOME/bin/java" -XX:+DisableAttachMechanism -cp "$CLASSES" Resident
	look --mappings
	sums_up
	[ "$(jq -r .jvm_not_asked look.json)" = "process $PROGRAM lets nothing attach: it runs with -XX:+DisableAttachMechanism" ]
	[[ $(arcprof memory -p "$PROGRAM") == *"what is the JVM's is not known: process $PROGRAM lets nothing attach"* ]]
	finish
}

@test "processes that cannot be looked into are refused in one line" {
	run arcprof memory -p 2147483646
	[ "$status" = 1 ]
	[ "$output" = "arcprof memory: no process 2147483646" ]
	run arcprof memory
	[ "$status" = 2 ]
	[ "$(id -u)" = 0 ] || skip "needs root to be somebody else"
	start "$BATS_FILE_TMPDIR/known" file
	run setpriv --reuid 65534 --regid 65534 --clear-groups "$ARCPROF" memory -p "$PROGRAM"
	[ "$status" = 1 ]
	[ "${lines[0]}" = "arcprof memory: process $PROGRAM may not be looked into: Permission denied" ]
	[[ "$output" == *"it belongs to another user"* ]]
	finish
}
