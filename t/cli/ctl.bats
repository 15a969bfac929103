#!/usr/bin/env bats
# Controlling a running recording.
load ../lib
load ../java
load ../live

# calls_of <method> <option of report>...
calls_of() {
	arcprof report -i trace "${@:2}" --xprof --format json >xprof
	jq --arg f "Live.$1" '[.rows[] | select(.name == $f) | .n] | add // 0' xprof
}

value_of() {	# <name>
	ctl status | sed -n "s/^$1: //p"
}

@test "ctl: calls are stored, dropped and shown from a zero point on command" {
	skip_unless_java
	use_jdk "$(jdks | tail -n 1)"
	start_live
	start_recorder -p "$LIVE" --callflow
	say calls 100
	[ "$(value_of records)" = "process $LIVE" ]
	[ "$(value_of calls)" -ge 401 ]
	ctl snapshot
	# readable during the recording
	[ "$(calls_of outer 2>err)" -eq 100 ]
	say calls 10
	ctl reset
	say calls 20
	ctl zero
	say calls 3
	[ "$(value_of calls)" -ge 533 ]
	ctl snapshot
	say calls 4
	ctl pause
	say calls 1000
	ctl resume
	end_recorder "$ARCPROF" ctl stop -p
	arcprof report -i trace --check >check || { cat check; return 1; }
	[ "$(calls_of outer)" -eq 27 ]
	[ "$(calls_of inner)" -eq 81 ]
	[ "$(calls_of outer --from-zero)" -eq 7 ]
	[ "$(calls_of inner --from-zero)" -eq 21 ]
	say calls 1
	end_live
}

until_samples() {	# <at least>
	local i
	for ((i = 0; i < 1200; i++)); do
		[ "$(value_of samples)" -lt "$1" ] || return 0
		sleep 0.05
	done
	return 1
}

@test "ctl: a reset drops samples, and a pause takes none" {
	skip_unless_perf
	local n
	start_recorder -F 500 -- sh -c 'while :; do :; done'
	until_samples 20
	ctl pause
	[ "$(value_of state)" = paused ]
	run_arcprof ctl -p "$RECORDER" pause
	[ "$status" -eq 1 ]
	[ "$stderr" = "arcprof ctl: it is paused already" ]
	ctl resume
	until_samples $(($(value_of samples) + 20))
	ctl pause
	sleep 0.5	# what was taken before is read
	n=$(value_of samples)
	sleep 0.5
	[ "$(value_of samples)" -eq "$n" ]
	ctl reset
	end_recorder "$ARCPROF" ctl stop -p || [ $? -eq 143 ]
	[ "$(sed -n 's/.*: \([0-9]*\) samples .*/\1/p' recorder.err)" -eq "$n" ]
	arcprof report -i trace --xprof --format json | jq -e '.quality.n == 0'
	run_arcprof report -i trace --from-zero
	[ "$status" -eq 1 ]
	[[ $stderr == *"the trace has no zero point"*"arcprof ctl zero"* ]]
}

# The recorder waits for a JVM that has started and is not ready yet.
@test "ctl: while the recorder waits for a JVM, commands work, and a signal ends the recording" {
	skip_unless_root
	skip_unless_perf
	use_jdk "$(jdks | tail -n 1)"
	lock_jvms -x
	start_recorder -a -F 19
	java -XX:+UnlockDiagnosticVMOptions -XX:+PauseAtStartup -XX:PauseAtStartupFile="$PWD/paused" \
		-version >out 2>&1 3>&- & jvm=$!
	until [ -e paused ]; do sleep .05; done
	sleep 1.5	# it looks for JVMs once a second
	# it waits until the JVM is ten seconds old
	ctl status >state 3>&- &
	until [ -s state ] || [ "$(ps -o etimes= -p "$jvm")" -ge 8 ]; do sleep .05; done
	grep -qx 'state: recording' state
	grep -qxE 'cost: [0-9]+\.[0-9]+ % of a CPU, [0-9]+\.[0-9] MiB' state
	kill "$RECORDER"
	for _ in $(seq 200); do
		kill -0 "$RECORDER" 2>/dev/null || break
		sleep .05
	done
	! kill -0 "$RECORDER" 2>/dev/null || false
	rm paused
	wait "$jvm"
	end_recorder true
	grep -q 'wrote trace' recorder.err
}

# Calls outer() as often as each line says, which calls inner() three times.
c_program() {
	[ -f "$BUILD/libarcprof-hookit.a" ] || make -s -C "$TOP" build/libarcprof-hookit.a >&2
	cat >live.c <<-'EOF'
	#include <stdio.h>
	static volatile long sink;
	void inner(void) { sink++; }
	void outer(void) { inner(); inner(); inner(); }
	int main(void)
	{
		int n;
		while (scanf("%d", &n) == 1) {
			for (int i = 0; i < n; i++)
				outer();
			printf("%d\n", n);
			fflush(stdout);
		}
		return 0;
	}
	EOF
	gcc -O1 -g -finstrument-functions live.c "$BUILD/libarcprof-hookit.a" -o live -pthread
}

c_calls() {	# <function> <option of report>...
	arcprof report -i trace "${@:2}" --xprof --format json | jq --arg f "$1" '[.rows[] | select(.name == $f) | .n] | add // 0'
}

@test "ctl: calls of a C program are stored and reset like those of a JVM" {
	skip_unless_command gcc
	c_program
	mkfifo live.in
	"$ARCPROF" record -o trace --callflow -- ./live <live.in >live.out 2>recorder.err 3>&- &
	RECORDER=$!
	exec 7>live.in
	until_it_records
	LIVE=$RECORDER NR_SAID=0
	say 100
	ctl reset
	say 20
	ctl snapshot
	[ "$(c_calls outer 2>err)" -eq 20 ]
	ctl zero
	say 3
	exec 7>&-
	wait "$RECORDER"
	LIVE='' RECORDER=''
	arcprof report -i trace --check >check || { cat check; return 1; }
	[ "$(c_calls outer) $(c_calls inner)" = "23 69" ]
	[ "$(c_calls outer --from-zero) $(c_calls inner --from-zero)" = "3 9" ]
}

@test "ctl: without a recording, or with an unknown command, it fails with one line" {
	run_arcprof ctl -p 1 snapshot
	[ "$status" -eq 1 ]
	[ "$stderr" = "arcprof ctl: process 1 does not record" ]
	run_arcprof ctl flush
	[ "$status" -eq 2 ]
	[[ $stderr == "arcprof ctl: unknown command 'flush' (expected one of: status, threads, snapshot, dump, reset, zero, pause, resume, enable, disable, set, stop)"* ]]
	run_arcprof ctl snapshot stop
	[ "$status" -eq 2 ]
}

# squat <pid>...: takes the names of control sockets, and never answers; returns when it has them.
squat() {
	# those of root and of our own could be recorders in containers
	python3 -c 'import os, socket, sys, time
held = []
if os.environ.get("STRANGER"):
	os.setuid(65534)
for pid in sys.argv[1:]:
	held.append(socket.socket(socket.AF_UNIX))
	held[-1].bind("\0arcprof-ctl-" + pid)
	held[-1].listen(8)
sys.stdout.write("squatted")
sys.stdout.flush()
time.sleep(60)' "$@" >squatted 3>&- &
	SQUATTER=$!
	until [ -s squatted ] || ! kill -0 "$SQUATTER"; do sleep 0.1; done
}

@test "ctl: sockets with the names of recorders that belong to no recorder do not hold it up" {
	skip_unless_command python3
	mapfile -t pids < <(seq $((1 << 30)) $(((1 << 30) + 30)))
	squat "${pids[@]}"
	# a minute for each is what they took before
	status=0
	timeout 30 "$ARCPROF" ctl status >out 2>err || status=$?
	kill "$SQUATTER"
	[ "$status" -ne 124 ]
}

@test "ctl: a message names the process that has taken the name of a recorder" {
	skip_unless_command python3
	skip_unless_root
	STRANGER=1 squat $((1 << 30)) $(((1 << 30) + 1))
	"$ARCPROF" ctl status >out 2>err || true
	kill "$SQUATTER"
	grep -qE "skipped [0-9]+ control sockets that other processes have taken .*\(one by process $SQUATTER of user 65534\)" err
}

@test "ctl: a recorder whose name was taken reports by which process, and is still found" {
	skip_unless_command python3
	mkfifo go
	bash -c 'echo $$ >pid; read -r _ <go; exec "$0" record -e cpu-clock -o trace -- sleep 60' "$ARCPROF" >out 2>err 3>&- &
	until [ -s pid ]; do sleep 0.1; done
	pid=$(cat pid)
	squat "$pid"
	echo >go
	for ((i = 0; i < 300; i++)); do
		grep -q "warning: process $SQUATTER of user $(id -u) has taken the name of this recording's control socket" err && break
		kill -0 "$pid" 2>kill || skip "events cannot be opened"
		sleep 0.1
	done
	[ "$i" -lt 300 ]
	# it says so before it listens itself
	for ((i = 0; i < 60; i++)); do
		"$ARCPROF" ctl -p "$pid" status >own 2>err2 && break
		sleep 0.1
	done
	grep -qx "recorder: $pid" own
	"$ARCPROF" ctl status >list 2>err2 || true
	grep -qx "recorder: $pid" list
	"$ARCPROF" ctl -p "$pid" stop
	while kill -0 "$pid" 2>kill; do sleep 0.1; done
	kill "$SQUATTER"
	arcprof report -i trace >report
}

log_goes_on() {
	java -Xmx64m -Xlog:gc:file=jvm.log -cp "$CLASSES" Allocated 16 30 >out 3>&- &
	LIVE=$!
	until [ "$(wc -l <out)" -eq 3 ]; do sleep .05; done
	start_recorder -e gc,alloc=512k -p "$LIVE"
	ctl set interval alloc=256k
	local before
	before=$(grep -cE 'Pause .*ms$' jvm.log)
	until [ "$(grep -cE 'Pause .*ms$' jvm.log)" -ge $((before + 20)) ]; do sleep .05; done
	ctl set interval alloc=128k
	end_recorder
	kill_live
	LIVE=
	[ "$(arcprof report --gc --format json trace | jq '[.rows[] | select(.kind == "pause") | .n] | add')" -ge 20 ]
}

@test "ctl: events of the JVM's log go on while something else changes" {
	skip_unless_java
	one_jdk newest log_goes_on
}

@test "ctl: a new interval of a clock applies at once" {
	skip_unless_perf
	start_recorder -F 1000 -- sh -c 'while :; do :; done'
	until_samples 100
	ctl set interval cpu-clock=20ms
	until_samples $(($(value_of samples) + 20))
	end_recorder || [ $? -eq 143 ]	# the shell got SIGTERM
	# by clocks of CPUs 0.9 to 1.08 of it, by those of threads all of it
	arcprof query trace 'select count(*) from samples where weight > 15000000' --format csv | tail -n +2 >late
	cat late
	[ "$(cat late)" -ge 10 ]
}
