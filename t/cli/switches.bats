#!/usr/bin/env bats
# Events that are turned on and off while a recording runs, on every JDK of this machine: there is all of
# what happened while they were on, and nothing else.
load ../lib
load ../java
load ../live

setup_file() {
	prepare_jdks
}

teardown() {
	kill_live
}

objects_of() {	# <class>: those that its own threads made
	arcprof report --metric objects --thread 'guest-*' --xprof --format json trace |
		jq --arg f "$1" '[.rows[] | select(.name == $f) | .base[0]] | add // 0'
}

events_of() {	# <kind> <what>
	arcprof report --log="$1" --format json trace | jq --arg w "$2" '[.events[] | select(.what == $w)] | length'
}

# Each command works on a class and in a thread that nobody has seen before.
exact() {
	start_live
	start_recorder -e cpu,alloc=0,class -p "$LIVE"
	ctl status | grep -qx 'on: cpu-clock,alloc,class'
	say guest 100
	ctl enable alloc=1G	# hits next to nothing
	say guest 50
	ctl enable alloc=0
	ctl disable alloc
	say guest 1000
	ctl disable class,cpu
	say guest 2000
	ctl enable alloc,thread
	say guest 30
	ctl pause
	say guest 4000
	ctl resume
	say guest 5
	ctl status | grep -qx 'on: alloc,thread'
	ctl status | grep -qx 'off: cpu-clock,class'
	ctl enable class
	say guest 0
	end_recorder "$ARCPROF" ctl stop -p
	say calls 1
	end_live
	arcprof report --check trace >check || { cat check; return 1; }
	objects_of 'Live$Guest' >objects
	[ "$(cat objects)" -eq 135 ] || { cat objects; return 1; }
	[ "$(events_of load 'Live$Guest')" -eq 4 ]
	[ "$(events_of thread-start 'guest-4')" -eq 1 ]
	[ "$(events_of thread-start 'guest-5')" -eq 0 ]
	[ "$(arcprof report --log=thread-start --format csv trace | grep -c guest-)" -eq 3 ]
	arcprof report --metric alloc trace | head -n 1 | grep -qE ', alloc recorded for [0-9.]+ m?s \([0-9.]+ %\), '
	arcprof report --metric alloc --xprof --format json trace |
		jq -e '.metrics[0].recorded_ns > 0 and .metrics[0].recorded_ns < .source.duration_ns'
	arcprof report --log trace | head -n 1 | grep -qE ', class recorded for .*, thread recorded for '
	! arcprof report --metric alloc --xtree trace | grep -i unknown
}

@test "switches: objects, classes and threads of the time when they were on, and no others" { each_jdk exact; }


at_random() {
	local all=(cpu alloc lock gc safepoint jit class exception thread) i verb
	rm -f live.in live.out
	mkfifo live.in
	"$ARCPROF" record -o trace -e cpu,alloc=16k,lock,jvm,exception --disabled exception,gc -- \
		java -cp "$CLASSES" Live <live.in >live.out 2>recorder.err 3>&- &
	RECORDER=$!
	exec 7>live.in
	NR_SAID=0
	LIVE=$RECORDER		# it ends with the program
	heard ready
	say guest 10
	ctl enable exception
	say guest 20
	ctl disable exception
	RANDOM=7
	for ((i = 0; i < 40; i++)); do
		verb=enable
		((RANDOM % 2)) && verb=disable
		ctl "$verb" "${all[RANDOM % 7]},${all[RANDOM % 7]},thread"
		((i % 4)) || say guest 300
	done
	ctl enable exception,gc
	say guest 7
	exec 7>&-
	status=0
	wait "$RECORDER" || status=$?
	RECORDER='' LIVE=''
	[ "$status" -eq 0 ] || { cat recorder.err; return 1; }
	[ "$(cat live.out | tail -n 1)" = 'guest 7' ]
	[ "$(events_of exception java.lang.IllegalStateException)" -eq 27 ]
	arcprof report --log=pause --format json trace >pauses
	jq -e "[.events[] | select(.cause == \"System.gc()\")] | length >= 1" pauses || { tail -c 600 pauses; return 1; }
	arcprof report --check trace >check || { cat check; return 1; }
	! arcprof report --metric alloc --xtree trace | grep -i unknown
}

@test "switches: forty changes at random do no harm, and leave no holes in names" { each_jdk at_random; }

@test "switches: what cannot be is said" {
	skip_unless_perf
	start_recorder --disabled page-faults -e cpu-clock,page-faults -- sh -c 'while :; do :; done'
	ctl status | grep -qx 'off: page-faults'
	run_arcprof ctl -p "$RECORDER" enable wall
	[ "$status" -eq 1 ]
	[[ $stderr == "arcprof ctl: event 'wall' is not in this recording, which has: cpu-clock, page-faults; name it in 'arcprof record --event'"* ]]
	run_arcprof ctl -p "$RECORDER" disable cpu-clock,nonsense
	[ "$status" -eq 1 ]
	ctl status | grep -qx 'on: cpu-clock'
	ctl disable cpu-clock
	ctl enable page-faults
	run_arcprof ctl enable
	[ "$status" -eq 2 ]
	[[ $stderr == *"enable needs an event"* ]]
	printf '%s\n' '# twice' 'repeat 2' ' enable cpu-clock' ' wait 1ms' ' disable cpu-clock' end >script
	ctl -f script
	printf '%s\n' pause 'wait 1ms' nonsense >script
	run_arcprof ctl -p "$RECORDER" -f script
	[ "$status" -eq 2 ]
	[[ $stderr == "arcprof ctl: script:3: unknown command 'nonsense'"* ]]
	ctl status | grep -qx 'state: recording'
	run_arcprof ctl -p "$RECORDER" -f script pause
	[ "$status" -eq 2 ]
	run_arcprof ctl --all status
	[ "$status" -eq 0 ]
	[[ $output == *"recorder: $RECORDER"* ]]
	printf '%s\n' pause stop 'wait 300ms' pause >script
	run_arcprof ctl -p "$RECORDER" -f script
	[ "$status" -eq 1 ]
	[[ $stderr == "arcprof ctl: script:4: process $RECORDER does not record"* ]]
	wait "$RECORDER" || [ $? -eq 143 ]
	RECORDER=
	[ "$(arcprof dump -i trace | grep -c 'recorded.*on=1 event="cpu-clock"')" -eq 2 ]
	run_arcprof record --disabled nonsense -o none -- true
	[ "$status" -ne 0 ]
	[[ $stderr == *"--disabled: event 'nonsense' is not in this recording"* ]]
	run_arcprof record --window 2s/1s -o none -- true
	[ "$status" -eq 2 ]
	[[ $stderr == *"--window '2s/1s': at least 1ms, of a time that is longer"* ]]
}

@test "switches: windows have their share of a program that does the same all the time" {
	skip_unless_perf
	arcprof record -q -F 1000 --window 40ms/100ms -d 2s -o trace -- sh -c 'while :; do :; done' || [ $? -eq 143 ]
	arcprof report --check trace >check || { cat check; return 1; }
	# the program wants a CPU at each moment, so what it had of one is what the windows had
	arcprof report --xprof --format json trace | jq -e '
		(.metrics[0].recorded_ns / .source.duration_ns) as $share |
		.metrics[0].recorded_ns >= .metrics[0].total * 0.9 and $share > 0.2 and $share < 0.8'
}
