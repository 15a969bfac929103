#!/usr/bin/env bats
# Events that are turned on and off while a recording runs, on every JDK of this machine: there is all of
# what happened while they were on, and nothing else.
load ../lib
load ../jdks
load ../live

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
	ctl set interval alloc=1G,cpu=3ms	# hits next to nothing
	ctl status | grep -qx 'interval: cpu-clock=3ms,alloc=1073741824'
	say guest 50
	ctl set interval alloc=0
	ctl disable alloc
	ctl set interval alloc=1G,alloc=0,cpu=1ms
	ctl status | grep -qx 'on: cpu-clock,class'
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
	! arcprof report --metric alloc --xtree trace | grep -i unknown || false
}

@test "switches: objects, classes and threads of the time when they were on, and no others" { one_jdk newest exact; }


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
	! arcprof report --metric alloc --xtree trace | grep -i unknown || false
}

@test "switches: forty changes at random do no harm, and leave no holes in names" { one_jdk oldest at_random; }

@test "switches: what cannot be switched is reported" {
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
	# others of this machine may be about to end
	[ "$status" -eq 0 ] || [[ $stderr != *"recording $RECORDER:"* ]]
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
	[[ $stderr == *"--window '2s/1s': must be at least 1ms, and shorter than the period"* ]]
}

nr_samples() {
	ctl status | sed -n 's/^samples: //p'
}

more_samples() {	# <at least>
	local i want=$(($(nr_samples) + $1))
	for ((i = 0; i < 1200; i++)); do
		[ "$(nr_samples)" -lt "$want" ] || return 0
		sleep 0.05
	done
	return 1
}

@test "switches: another interval changes no total" {
	skip_unless_perf
	# clocks of threads are opened anew, and what the old ones have counted is known
	start_recorder -F 1000 --clock=thread -- sh -c 'for i in 1 2; do (while kill -0 $$ 2>/dev/null; do :; done) & done; while :; do :; done'
	printf '%s\n' 'repeat 4' 'set interval cpu-clock=5ms' 'wait 10ms' 'set interval cpu=2000hz' 'wait 10ms' end >script
	ctl -f script
	ctl set interval cpu-clock=5ms
	more_samples 4
	ctl set interval cpu=2000hz
	more_samples 300	# what the changes have left over is in these
	ctl status | grep -qx 'interval: cpu-clock=500us'
	# a set's samples that nobody knows any more would be lost
	ctl status | grep -qx 'lost: 0'
	run_arcprof ctl -p "$RECORDER" set interval cpu-clock=2ms,page-faults=3
	[ "$status" -eq 1 ]
	[[ $stderr == "arcprof ctl: event 'page-faults' is not in this recording"* ]]
	run_arcprof ctl -p "$RECORDER" set interval cpu-clock=0
	[ "$status" -eq 1 ]
	[[ $stderr == "arcprof ctl: event 'cpu-clock': '0': at least 10us" ]]
	run_arcprof ctl -p "$RECORDER" set interval cpu-clock
	[ "$status" -eq 1 ]
	[[ $stderr == "arcprof ctl: 'cpu-clock': invalid setting (expected EVENT=INTERVAL, such as cpu-clock=10ms or alloc=64k)" ]]
	run_arcprof ctl -p "$RECORDER" set cpu-clock=1ms
	[ "$status" -eq 2 ]
	ctl status | grep -qx 'interval: cpu-clock=500us'
	end_recorder "$ARCPROF" ctl stop -p || [ $? -eq 143 ]
	arcprof report --check trace >check || { cat check; return 1; }
	arcprof query trace 'select distinct weight from samples' --format csv >weights
	grep -qx 500000 weights && [ "$(sort -n weights | tail -n 1)" -ge 5000000 ] || { cat weights; return 1; }
	# what the kernel has counted, but for what three threads have left over in the end
	arcprof dump trace | sed -n 's/.*key="event.0.count" value="\([0-9]*\)"/\1/p' >count
	arcprof report --xprof --format json trace | jq -e --argjson all "$(cat count)" '
		.metrics[0].total / $all | . > 0.9 and . <= 1' || { cat count; return 1; }
}

@test "switches: windows have their share of a program that does the same all the time" {
	skip_unless_perf
	arcprof record -q -F 1000 --window 40ms/100ms -d 2s -o trace -- sh -c 'while :; do :; done' || [ $? -eq 143 ]
	arcprof report --check trace >check || { cat check; return 1; }
	# the program wants a CPU at each moment, so what it had of one is what the windows had
	arcprof report --xprof --format json trace | jq -e '
		(.metrics[0].recorded_ns / .source.duration_ns) as $share |
		.metrics[0].recorded_ns >= .metrics[0].total * 0.9 and $share > 0.2 and $share < 0.8'
	# a second is one that was recorded
	arcprof diff trace trace --per second --format json >diff
	[ "$(jq '.a[0].recorded_ns' diff)" -eq "$(arcprof report --xprof --format json trace | jq '.metrics[0].recorded_ns')" ]
	jq -e '.a[0].recorded_ns as $on | .rows[0] | (.a * $on / 1e9 / .sum_a - 1) | fabs < 1e-6' diff
	arcprof diff trace trace | grep -qE '^ A .* over [0-9.]+ s, recorded for [0-9.]+ ms|^ A .* over [0-9.]+ s, recorded for [0-9.]+ s'
}

# outer() as often as each line says, which calls inner() three times; another thread is in hold() all the time.
held_program() {
	[ -f "$BUILD/libarcprof-hookit.a" ] || make -s -C "$TOP" build/libarcprof-hookit.a >&2
	cat >held.c <<-'EOF'
	#include <pthread.h>
	#include <stdio.h>
	#include <unistd.h>
	static volatile long sink;
	void inner(void) { sink++; }
	void outer(void) { inner(); inner(); inner(); }
	void hold(void) { for (;;) pause(); }
	void *run(void *p) { hold(); return p; }
	int main(void)
	{
		pthread_t t;
		int n;
		pthread_create(&t, NULL, run, NULL);
		while (scanf("%d", &n) == 1) {
			for (int i = 0; i < n; i++)
				outer();
			printf("%d\n", n);
			fflush(stdout);
		}
		_exit(0);
	}
	EOF
	gcc -O1 -g -finstrument-functions held.c "$BUILD/libarcprof-hookit.a" -o held -pthread
}

start_held() {	# <option of record>...
	rm -f live.in
	mkfifo live.in
	"$ARCPROF" record "$@" -- ./held <live.in >live.out 2>recorder.err 3>&- &
	RECORDER=$!
	exec 7>live.in
	until_it_records
	LIVE=$RECORDER NR_SAID=0
}

end_held() {
	exec 7>&-
	wait "$RECORDER"
	LIVE='' RECORDER=''
}

calls_of() {	# <trace> <function>
	arcprof report --xprof --format json "$1" | jq --arg f "$2" '[.rows[] | select(.name == $f) | .n] | add // 0'
}

# What was on of the time, in ns, and what the function has of it with all that it called.
wall_of() {	# <trace> <function>
	arcprof report --metric wall --xtree --format json "$1" | jq --arg f "$2" '
		.metrics[0].recorded_ns, ([.. | objects | select(.name? == $f) | .cum[0]] | add // 0)'
}

@test "switches: exact calls are those of the time when they were on, to the call" {
	skip_unless_command gcc
	held_program
	start_held -o trace --callflow --metric wall --disabled calls
	ctl status | grep -qx 'off: calls'
	say 100000
	ctl enable calls
	say 100
	sleep 0.3
	ctl disable calls
	sleep 0.3
	say 50000
	ctl snapshot
	[ "$(calls_of trace outer)" -eq 100 ]
	ctl enable calls
	say 20
	ctl pause
	say 7000
	ctl resume
	for n in 10 20 25; do
		ctl disable calls
		say 1000
		ctl enable calls
		say "$n"
	done
	ctl disable calls
	say 9
	end_held
	arcprof report --check trace >check || { cat check; return 1; }
	[ "$(calls_of trace outer) $(calls_of trace inner)" = '175 525' ]
	[ "$(calls_of trace main)" -eq 0 ]	# it began before
	arcprof report trace | head -n 1 | grep -qE ', calls recorded for [0-9.]+ m?s \([0-9.]+ %\), '
	# calls that are open all the time have all of the time that was recorded, and no more
	for f in hold main; do
		wall_of trace $f | paste -sd' ' | tee wall |
			awk '{ exit !($1 > 3e8 && $2 > $1 * 0.97 - 1e7 && $2 < $1 * 1.03 + 1e7) }' || { cat wall; return 1; }
	done
}

@test "switches: windows of exact calls have all of their time, and phases their share" {
	skip_unless_command gcc
	[ -f "$BUILD/libarcprof-hookit.a" ] || make -s -C "$TOP" build/libarcprof-hookit.a >&2
	cat >phases.c <<-'EOF'
	#include <time.h>
	static volatile long sink;
	void step(void) { for (int i = 0; i < 2000; i++) sink++; }
	void most(void) { for (int i = 0; i < 90; i++) step(); }
	void rest(void) { for (int i = 0; i < 10; i++) step(); }
	int main(void) { for (;;) { most(); rest(); } }
	EOF
	gcc -O1 -g -finstrument-functions phases.c "$BUILD/libarcprof-hookit.a" -o phases
	arcprof record -q --callflow --window 40ms/100ms -d 2s -o trace -- ./phases || [ $? -eq 143 ]
	arcprof report --check trace >check || { cat check; return 1; }
	arcprof report --xprof --format json trace >all
	jq -e '.metrics[1].name == "wall" and (.metrics[1] | .total / .recorded_ns | . > 0.95 and . < 1.05) and
		(.metrics[1].recorded_ns / .source.duration_ns | . > 0.2 and . < 0.8) and
		.metrics[0].total <= .metrics[1].total * 1.05' all || { jq .metrics,.source all; return 1; }
	# what began in a window
	jq -e '(.rows[] | select(.name == "most") | .n) as $most | (.rows[] | select(.name == "step") | .n / $most / 100 - 1) |
		fabs < 0.2' all || { jq '.rows[] | [.name, .n]' all; return 1; }
	arcprof report --xtree --format json trace | jq -e '([.nodes[] | select(.name == "most") | .cum[0]] | add) as $most |
		([.nodes[] | select(.name == "rest") | .cum[0]] | add) as $rest | $most / ($most + $rest) | . > 0.85 and . < 0.95'
	arcprof diff trace trace --metric calls --per second --format json |
		jq -e --argjson on "$(jq '.metrics[1].recorded_ns' all)" '.a[0].recorded_ns == $on'
	for other in --calltrace '--trace most>1s' --sched; do
		# shellcheck disable=SC2086
		run_arcprof record --callflow $other --window 40ms/100ms -o none -- ./phases
		[ "$status" -eq 2 ]
		[[ $stderr == *"cannot be combined: --window and ${other%% *}, because each event follows"* ]]
	done
}

# A large tree takes milliseconds to read, and the thread often wakes meanwhile.
@test "switches: a thread that goes on while its tree is read is charged once" {
	skip_unless_command gcc
	[ -f "$BUILD/libarcprof-hookit.a" ] || make -s -C "$TOP" build/libarcprof-hookit.a >&2
	cat >naps.c <<-'EOF'
	#include <time.h>
	static volatile long sink;
	void leaf(void) { sink++; }
	void nap(void) { struct timespec t = { 0, 15000000 }; nanosleep(&t, 0); }
	void one(int n);
	void two(int n) { if (n) { one(n - 1); two(n - 1); } }
	void one(int n) { if (n) { one(n - 1); two(n - 1); } }
	int main(void) { one(17); for (;;) { nap(); for (int i = 0; i < 5; i++) leaf(); } }
	EOF
	gcc -O1 -g -finstrument-functions naps.c "$BUILD/libarcprof-hookit.a" -o naps
	# when the tree is there
	arcprof record -q --callflow --delay 500ms --window 50ms/100ms -d 3s -o trace -- ./naps || [ $? -eq 143 ]
	arcprof report --xprof --format json trace >all
	jq -e '.metrics[1] | .total / .recorded_ns | . > 0.99 and . < 1.01' all || { jq .metrics all; return 1; }
}

# In early() before the end of the phase "warmup", in late() after it.
@test "switches: a recording, and each event, begins at a mark, later, or for a time" {
	skip_unless_perf
	cat >marks.c <<-'EOF'
	#include <unistd.h>
	#include "arcprof.h"
	static volatile long sink;
	__attribute__((noinline)) void spin(void) { for (long i = 0; i < 60000000; i++) sink++; }
	__attribute__((noinline)) void early(void) { spin(); sink++; }
	__attribute__((noinline)) void late(void) { spin(); sink++; }
	int main(void)
	{
		uint64_t t = arcprof_phase_begin();
		early();
		arcprof_phase_end(t, "warmup");
		usleep(300000);		/* the recorder looks every 20 ms */
		late();
		return 0;
	}
	EOF
	gcc -O1 -I "$TOP/lib/api" marks.c "$BUILD/libarcprof.a" -o marks -pthread
	arcprof record -q -F 1000 --start-at warmup -o trace -- ./marks
	arcprof report --xprof trace >funcs
	grep -q ' late$' funcs && ! grep -q ' early$' funcs || { cat funcs; return 1; }
	arcprof report --check trace >check || { cat check; return 1; }
	arcprof record -q -e cpu-clock,page-faults,mark --start-at cpu-clock=warmup --duration cpu-clock=50ms \
		--delay page-faults=10ms -o trace -- ./marks
	arcprof dump trace | sed -n 's/.*recorded.*on=\(.\) event="\(.*\)"/\2 \1/p' | sort | paste -sd, >turns
	[ "$(cat turns)" = 'cpu-clock 0,cpu-clock 0,cpu-clock 1,page-faults 0,page-faults 1' ] || { cat turns; return 1; }
	arcprof report --log=phase --format csv trace | grep -q warmup
	arcprof record -q --start-at nobody,page-faults=none -e cpu,page-faults -o trace -- ./marks
	arcprof report trace >report
	grep -qx 'not recorded: --start-at nobody: no program set this mark, or ended a phase of this name' report
	grep -qx "not recorded: event page-faults: no program set the mark 'none', or ended a phase of this name" report
	while read -r args; do
		# shellcheck disable=SC2086
		run_arcprof record -o none $args -- true
		[ "$status" -ne 0 ] || { echo "$args"; return 1; }
		[[ $stderr == *"${args%% *}"* ]] || { echo "$args: $stderr"; return 1; }
	done <<-'EOF'
	--delay lock=1s
	--delay =1s
	--delay cpu-clock=soon
	--delay live=1s -e live
	--duration cpu-clock=0
	--duration x=y=1s
	--start-at =warm
	--start-at cpu-clock=
	--start-at warm,hot
	--start-at warm --no-java
	EOF
}

@test "switches: a program turns its own recording on and off" {
	skip_unless_perf
	cat >own.c <<-'EOF'
	#include <stdio.h>
	#include "arcprof.h"
	static volatile long sink;
	__attribute__((noinline)) void before(void) { for (long i = 0; i < 20000000; i++) sink++; sink++; }
	__attribute__((noinline)) void inside(void) { for (long i = 0; i < 60000000; i++) sink++; sink++; }
	__attribute__((noinline)) void after(void) { for (long i = 0; i < 20000000; i++) sink++; sink++; }
	int main(void)
	{
		int on, off, unknown;

		before();
		on = arcprof_recording_on("cpu-clock");
		inside();
		off = arcprof_recording_off(NULL);
		after();
		unknown = arcprof_recording_on("nonsense");
		printf("%d %d %d\n", on, off, unknown);
		return 0;
	}
	EOF
	gcc -O1 -I "$TOP/lib/api" own.c "$BUILD/libarcprof.a" -o own -pthread
	[ "$(arcprof record -q -F 1000 -e cpu-clock,mark --disabled cpu-clock -o trace -- ./own)" = '0 0 -22' ]
	arcprof report --xprof trace >funcs
	grep -q ' inside$' funcs || { cat funcs; return 1; }
	! grep -qE ' (before|after)$' funcs || { cat funcs; return 1; }
	# nobody records, or nobody that knows the program
	[ "$(./own)" = '-19 -19 -19' ]
	[ "$(arcprof record -q -o trace -- ./own)" = '-19 -19 -19' ]
}

# "LABEL": goes on with that label, "-" with the one it has; and works so long.
@test "switches: labels are unknown while they are off, and known at once when they are on" {
	skip_unless_perf
	cat >held.c <<-'EOF'
	#include <stdio.h>
	#include <time.h>
	#include "arcprof.h"
	static volatile long sink;
	int main(void)
	{
		char s[64];
		while (scanf("%63s", s) == 1) {
			if (*s != '-')
				arcprof_label("k", s);
			for (clock_t begin = clock(); clock() < begin + CLOCKS_PER_SEC / 10;)
				for (long i = 0; i < 10000; i++)
					sink++;
			puts(s);
			fflush(stdout);
		}
		return 0;
	}
	EOF
	gcc -O1 -I "$TOP/lib/api" held.c "$BUILD/libarcprof.a" -o held -pthread
	start_held -o trace -F 1000 -e cpu,label
	say a
	ctl disable label
	ctl status | grep -qx 'off: label'
	say b
	ctl enable label
	say -
	say c
	run_arcprof ctl -p "$RECORDER" enable nonsense
	[ "$status" -eq 1 ]
	end_held
	arcprof report --check trace >check || { cat check; return 1; }
	arcprof report --by-label k --format folded trace |
		awk '{ match($0, /k=[abc]|\[[^];]*k[^];]*\]/); n[substr($0, RSTART, RLENGTH)] += $NF }
		     END { for (l in n) print l, n[l] / 1e6 }' | sort | tee labels
	for l in k=a k=b k=c '\[k unknown\]'; do
		grep -q "^$l " labels
	done
	# each of four had 100 ms of a CPU
	awk '/^k=|unknown/ { bad += $NF < 70 || $NF > 130 } END { exit bad > 0 }' labels
	start_held -o trace -F 100
	run_arcprof ctl -p "$RECORDER" enable label
	[ "$status" -eq 1 ]
	[[ $stderr == "arcprof ctl: event 'label' is not in this recording"* ]]
	# calls over HTTP need labels; what agents can begin at any time does not
	run_arcprof ctl -p "$RECORDER" enable http
	[ "$status" -eq 1 ]
	[[ $stderr == "arcprof ctl: event 'http' is not in this recording"* ]]
	"$ARCPROF" ctl -p "$RECORDER" enable alloc
	run_arcprof ctl -p "$RECORDER" enable mark
	[ "$status" -eq 1 ]
	end_held
}

flight_objects() {	# <trace>
	arcprof report --metric objects --thread 'guest-*' --xprof --format json "$1" |
		jq '[.rows[] | select(.name == "Live$Guest") | .base[0]] | add // 0'
}

# Each command works on a class and in a thread that nobody has seen before.
@test "switches: a flight recorder switched on for moments has these moments whole, and nothing else" {
	skip_unless_java
	use_jdk "$(jdks | tail -n 1)"
	start_live
	"$ARCPROF" record --mode wrap --max-size 32M -o trace -e alloc=0,class,thread --disabled alloc,class \
		-p "$LIVE" >recorder.out 2>recorder.err </dev/null 3>&- 7>&- &
	RECORDER=$!
	until_it_records
	say guest 3000
	ctl enable alloc,class
	say guest 40
	ctl disable alloc,class
	say guest 2000
	ctl dump -o first
	[ "$(flight_objects first)" -eq 40 ]
	printf '%s\n' 'repeat 40' 'enable alloc,class' 'disable alloc,class' end >script
	ctl -f script
	for n in 1 2 3 4; do
		ctl enable alloc,class
		say guest "$n"
		ctl -f script
		say guest 500
	done
	[ "$(ctl status | sed -n 's/^lost: //p')" = '' ] || [ "$(ctl status | sed -n 's/^lost: //p')" -eq 0 ]
	end_recorder "$ARCPROF" ctl stop -p
	say calls 1
	end_live
	arcprof report --check trace >check || { cat check; return 1; }
	[ "$(flight_objects trace)" -eq 50 ]
	[ "$(arcprof report --log=load --format csv trace | grep -c 'Live$Guest')" -eq 5 ]
	[ "$(arcprof dump trace | grep -c 'recorded.*on=1 event="alloc"')" -eq 201 ]	# of 205, four were on already
	! arcprof report --metric alloc --xtree trace | grep -i unknown || false
}

@test "switches: --max-cpu has samples taken more rarely while the recorder takes more, and each weighs more" {
	skip_unless_perf
	start_recorder -F 4000 --max-cpu 0.01%:1s -- sh -c 'while :; do :; done'
	until grep -qE '^arcprof record: warning: takes [0-9.]+ % of a CPU: samples are taken at 1/2 of the rate$' recorder.err; do
		kill -0 "$RECORDER"
		sleep 0.05
	done
	more_samples 20
	end_recorder "$ARCPROF" ctl stop -p || [ $? -eq 143 ]
	arcprof query trace 'select distinct weight from samples' --format csv >weights
	# about 250 us, then 500 or more
	awk '$1 > 200000 && $1 < 300000 { n++ } $1 > 400000 { m++ } END { exit !n || !m }' weights ||
		{ cat weights; return 1; }
	arcprof report --check trace >check || { cat check; return 1; }
	# with a limit or without, a trace says what the recorder took
	arcprof dump trace | grep -qE 'key="cost.cpu_ns" value="[1-9][0-9]*"'
	arcprof dump trace | grep -qE 'key="cost.resident_bytes" value="[1-9][0-9]*"'
	run_arcprof record --max-cpu 1 -- true
	[ "$status" -eq 2 ]
	[[ $stderr == *"--max-cpu: '1' is not a share of a CPU, such as 80%"* ]]
}
