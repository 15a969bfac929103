#!/usr/bin/env bats
# Marks of running programs: none is missing between the first and the last of a recording.
load ../lib
load ../java

teardown() {
	[ -z "${TICKS:-}" ] || kill "$TICKS" 2>/dev/null || true
}

# Two recordings, one after the other, of the process that ticks.
record_twice() {
	local n
	for n in 1 2; do
		arcprof record -q -e mark --duration 300ms -o "trace$n" -p "$TICKS"
		arcprof report --log=mark --format json "trace$n" | jq -c '[.events[] | select(.what == "tick") | .value]' >"values$n"
		jq -e 'length > 5 and . == [range(.[0]; .[0] + length)]' "values$n"
	done
	# the second began later
	jq -se '.[1][0] > .[0][-1]' values1 values2
}

@test "marks: of a running program in C, twice" {
	cat >ticks.c <<-END
		#include <arcprof.h>
		#include <unistd.h>
		int main(void) { for (int i = 0; i < 20000; i++) { arcprof_mark_value("tick", i); usleep(1000); } }
	END
	gcc -O1 -I "$TOP/lib/api" ticks.c "$BUILD/libarcprof.a" -o ticks -pthread
	strip ticks
	./ticks 3>&- &
	TICKS=$!
	until [ "$(readlink "/proc/$TICKS/exe")" = "$PWD/ticks" ]; do sleep 0.02; done
	sleep 0.1
	record_twice
	# one that works for another recorder stays with it
	"$ARCPROF" record -q -e mark -o first -p "$TICKS" 3>&- &
	local recorder=$!
	until arcprof ctl -p $recorder 2>/dev/null | grep -qx 'state: recording'; do kill -0 $recorder; sleep 0.05; done
	sleep 0.5
	arcprof record -q -e mark --duration 100ms -o second -p "$TICKS"
	arcprof ctl -p $recorder stop
	wait $recorder || true
	arcprof report --log=mark second | grep -qE '^not recorded: events mark of process .*: process [0-9]+ is being recorded already$'
	[ "$(arcprof report --log=mark --format csv first | grep -c ',tick,')" -gt 20 ]
}

marks_of_a_running_jvm() {
	java -Darcprof.library="$BUILD/libarcprof-java.so" -cp "$BUILD/arcprof.jar:$CLASSES" Ticks 20000 2>/dev/null 3>&- &
	TICKS=$!
	until grep -q libarcprof-java "/proc/$TICKS/maps"; do sleep 0.05; done
	sleep 0.2
	record_twice
	local n
	for n in 1 2; do
		arcprof report --log=mark --format json "trace$n" >log
		# the same numbers in events, but for the first and last moment, and a phase for each
		jq -e '[.events[] | select(.what == "tock") | .fields] | length > 5 and all(.name == "t\(.number)")' log
		jq -e '[.events[] | select(.what == "tock") | .fields.number] | . == [range(.[0]; .[0] + length)]' log
		arcprof report --marks --format json "trace$n" |
			jq -e '[.rows[] | select(.what | test("^(tick|tock|lap)$")) | .n] | length == 3 and max - min <= 1'
	done
	kill "$TICKS"
	wait "$TICKS" || true
	TICKS=
}

@test "marks: of a running program in Java, twice" {
	one_jdk oldest marks_of_a_running_jvm
}

@test "marks: a message says why there are none in a container" {
	unshare --mount true 2>/dev/null || skip "no mount namespace can be made"
	unshare --mount sleep 600 3>&- &
	TICKS=$!
	until [ "$(readlink "/proc/$TICKS/ns/mnt")" != "$(readlink /proc/self/ns/mnt)" ]; do sleep 0.05; done
	arcprof record -q -e mark --duration 100ms -o trace -p "$TICKS"
	arcprof report --log=mark trace |
		grep -qE "^not recorded: events mark of process .*: its files are not ours \\(a container, or chroot\\(1\\)\\), so it cannot find the recorder's socket: "
}

@test "marks: a message says that a program without the library has none" {
	sleep 5 3>&- &
	TICKS=$!
	run_arcprof record -e mark --duration 100ms -o trace -p "$TICKS"
	[ "$status" -eq 0 ]
	arcprof report --log=mark trace | grep -qE "^not recorded: events mark of process .* has not loaded arcprof's library$"
}

@test "marks: diff --per mark=NAME divides by their number" {
	skip_unless_perf
	gcc -O1 -I "$TOP/lib/api" "$TOP/t/data/labels/labels.c" "$BUILD/libarcprof.a" -o labels -pthread
	arcprof record -q -e cpu-clock,mark -F 1000 -o trace -- ./labels work 1 3 >truth
	arcprof diff trace trace --per mark=paid --format json >json
	jq -e '.per == "mark=paid" and (.rows[0] | .sum_a / .a | round) == 3' json
}
