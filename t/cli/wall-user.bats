#!/usr/bin/env bats
# Where the time of threads went, recorded by users who may not load BPF programs.
load ../lib
load ../java
load ../wall

# A folder that nobody may reach and write, as "out": with out/arcprof and out/<name>...
prepare() {
	skip_unless_perf
	skip_unless_root
	open=$(mktemp -d /tmp/arcprof-test-XXXXXX)
	chmod 777 "$open"
	ln -s "$open" out
	cp "$ARCPROF" out/
	for name in "$@"; do
		cp "$(workload "$name")" out/
	done
}

teardown() {
	[ -z "${open:-}" ] || rm -r "$open"
	[ -z "${busy:-}" ] || kill -KILL "$busy" 2>/dev/null || true
}

# Root without the capabilities that BPF takes: a container's.
without_bpf() {
	setpriv --inh-caps=-all --bounding-set=-bpf,-sys_admin "$@"
}

@test "wall: without BPF, waits are as long as the program itself measured" {
	prepare waits
	as_nobody out/arcprof record -q -e wall -o out/trace out/waits 3 >truth
	cp out/trace trace
	agrees 8 sum
	check_trace trace
	run_arcprof report -i trace --check
	[[ $output == *"CPU + runnable + blocked = life"* ]]
	# whole stacks, although of the registers only two are known
	"$ARCPROF" report -i trace --format json | jq -e '.quality | .complete_stacks > .samples * 0.95'
	for report in --xprof --threads; do
		"$ARCPROF" report -i trace $report | head -n 4 >head
		grep -q '^not recorded: wakers, kernel frames and peers of waits, and what those were for that no sample hit (BPF: CAP_BPF and CAP_PERFMON are missing)$' head
	done
	[[ $("$ARCPROF" report -i trace --threads --format json | jq -r '.source.refused[]') == *wakers* ]]
}

@test "wall: without BPF, a thread that never waits has its CPU time, below its own functions" {
	skip_unless_perf
	skip_unless_root
	spin=$(workload spin)
	for run in 1 2 3; do
		without_bpf "$ARCPROF" record -q -e wall=1ms -o trace sh -c "exec $spin 60" >said
		ran_in_burn "$(cat said)"
		without_bpf taskset -c 0 "$ARCPROF" record -q -e wall=1ms -o trace \
			taskset -c $(($(nproc) - 1)) "$spin" 60 >said
		ran_in_burn "$(cat said)"
	done
}

@test "wall: without BPF, 61 kinds of blocking calls return what they return without it, and not too early" {
	prepare blocking
	as_nobody out/blocking >without
	as_nobody out/arcprof record -q -e wall=1ms -o out/trace out/blocking >with
	[ "$(wc -l <with)" -eq 61 ]
	diff <(cut -d ' ' -f 1-3 without) <(cut -d ' ' -f 1-3 with)
	[ "$(grep -c EINTR with)" -eq 0 ]
	awk '$5 && $4 < $5 - 1 { print; bad = 1 } END { exit bad }' with
	"$ARCPROF" report -i out/trace --check >check
	"$ARCPROF" report -i out/trace --off-cpu --xprof >reasons
	grep -q '\[flock: file\]' reasons
	grep -q '\[read: timerfd\]' reasons
	grep -q '\[read: signalfd\]' reasons
	grep -q '\[msgrcv\]' reasons
}

@test "wall: without BPF, processes that were there before, and a CPU clock beside it" {
	prepare
	sleep 1000 &
	sleeps=$!
	sh -c 'while :; do :; done' &
	busy=$!
	sleep 1000 &
	stopped=$!
	kill -STOP $stopped
	without_bpf "$ARCPROF" record -q -e cpu-clock,wall -o trace -p $sleeps,$busy,$stopped -d 1
	kill -KILL $sleeps $busy $stopped
	"$ARCPROF" report -i trace --check >check
	slept_ran_and_stopped "$sleeps" "$busy" "$stopped"
	[ "$("$ARCPROF" report -i trace --metric cpu-clock --format json | jq '.quality.samples')" -gt 0 ]
}

@test "wall: without BPF, threads and processes that come, go, fork and execute have each moment of their lives" {
	prepare crowd
	without_bpf "$ARCPROF" record -q -e wall -o trace sh -c "$(workload crowd) >/dev/null 2>&1; for i in 1 2 3 4 5 6 7 8; do sleep 0.05; done; exec sleep 0.2"
	"$ARCPROF" report -i trace --check >check
	"$ARCPROF" report -i trace --metric wall --format folded >folded
	[ "$(cut -d ';' -f 1 folded | sort -u | grep -c '^sleep \[pid' || true)" -ge 9 ]
	awk '/^sleep \[pid.*\[sleep\] [0-9]+$/ { ns += $NF } END { print ns; exit ns < 550e6 }' folded
	awk '/^sh \[pid.*\[wait4\] [0-9]+$/ { ns += $NF } END { print ns; exit ns < 400e6 }' folded
}

@test "wall: without BPF, switches that found their buffer full are counted, and the recorder goes on" {
	prepare sleeps
	# the recorder stands still meanwhile
	without_bpf "$ARCPROF" record -m 64K -e wall -o trace -- \
		sh -c 'kill -STOP $PPID; "$1" 5000 1 >/dev/null; kill -CONT $PPID; exec sleep 0.3' sh "$(workload sleeps)"
	"$ARCPROF" report -i trace --xprof | grep '^not recorded: .*switches of threads, whose states are wrong there: a buffer was full'
}

# The JVM, its agent and the recorder all run as nobody.
java_waits() {
	cp "$CLASSES"/Waits*.class "$open"
	as_nobody "$open/arcprof" record -q -e wall -o "$open/trace" -- java -cp "$open" Waits 2 >truth
	[ "$(grep -c TRUTH truth)" -eq 13 ]
	cp "$open/trace" trace
	agrees_java 12 100
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
	grep -q '^[^;]*;parker [^;]*;.*;java.lang.Thread.run;.*;Waits.parks;.*Unsafe.park;.*;\[park: Waits$Gate\] ' folded
	grep -q ';Waits.enters;.*\[monitor\] ' folded
	grep -q ';main [^;]*;.*;Waits.main;.*\[sleep\] ' folded
	! grep -q "not recorded: .*Java" <("$ARCPROF" report -i trace --xprof | head) || false
}

@test "wall: without BPF, waits of Java threads, and their reasons, are those that they measured" {
	prepare
	on_each_jdk java_waits
}
