#!/usr/bin/env bats
# denied.bats - what is refused to arcprof, or to what it records: it still works, or says why it does not,
# soon, and its exit status is that of a failure. It never says "0" as if that were the answer.
load ../lib
load ../java

deny() {
	printf '%s\n' "$BUILD/t/tools/deny"
}

setup_file() {
	export ORIGINAL_PATH
	[ -x "$BUILD/t/tools/deny" ] || make -s -C "$TOP" build/t/tools/deny
}

skip_unless_filters() {
	local rc=0
	"$(deny)" bpf true 2>/dev/null || rc=$?
	[ "$rc" -ne 77 ] || skip "system call filters are not permitted here"
}

teardown() {
	[ ! -s pid ] || kill -9 "$(<pid)" || :
}

# run_denied <calls> <command>...: as run_arcprof, within 60 s
run_denied() {
	status=0
	timeout -k 5 60 "$(deny)" $1 "$ARCPROF" "${@:2}" >out 2>err </dev/null || status=$?
	slurp output out
	slurp stderr err
	echo "\$ deny $* (status $status)"
	printf '%.2000s\n' "$output" "$stderr"
	[ "$status" -ne 124 ] && [ "$status" -ne 137 ]
}

# One line that says what failed, a status of failure, and no number.
fails_with() {
	[ "$status" -ne 0 ]
	[[ $stderr == *"$1"* ]]
	[[ $stderr != *"100.0 % complete"* ]]
}

@test "denied: each command works without a system call, or says why not" {
	skip_unless_perf
	skip_unless_filters
	local shares calls command
	shares="$(workload shares) 20"
	while IFS='|' read -r calls command; do
		run_denied "$calls" ${command//SHARES/$shares}
		if [ "$status" -eq 0 ]; then
			# something was measured
			[[ $stderr$output == *[1-9]* ]]
			[[ ! $stderr =~ (^|[^0-9])0\ (samples|branches|instructions|calls|JVM\ events) ]]
		else
			[[ $stderr == "arcprof ${command%% *}: "* ]]
		fi
	done <<-'end'
		perf_event_open|record -o t -- SHARES
		ring|record -o t -- SHARES
		bpf|record -o t -- SHARES
		bpf|record -e wall -o t -- SHARES
		ring|record -e wall -o t -- SHARES
		memfd_create,pidfd_open|record -o t -- SHARES
		getrandom|record -o t -- SHARES
		-n getrandom|record -e wall -o t -- SHARES
		-n perf_event_open|record --sched -o t -- SHARES
		process_vm_readv|itrace -o t -- true
		ptrace|itrace -o t -- true
		-n ptrace|itrace -o t -- true
		-k ptrace|itrace -o t -- true
		perf_event_open|tprof -o t -- SHARES
		perf_event_open|top -n 1
		perf_event_open|cpi -- SHARES
		bpf,perf_event_open|ptt run -- SHARES
		perf_event_open|mpevt start cpu-clock
		bpf,perf_event_open|aboveidle 0.1 1
	end
}

@test "denied: where the kernel does not look up its types itself, BPF programs are loaded by libbpf" {
	skip_unless_perf
	skip_unless_filters
	arcprof record -q --clock=cpu -o probe -- true 2>probe.err || skip "$(cat probe.err)"
	local way
	for way in --clock=cpu "-e wall"; do
		# shellcheck disable=SC2086
		run_denied "-n bpf-run" record $way -o trace -- $(workload shares) 20
		[ "$status" -eq 0 ]
		[[ $stderr == *" samples of "* ]]
		arcprof report --check trace
	done
}

@test "denied: doctor, ptt and record, before the program runs, say which BPF the kernel refuses" {
	skip_unless_perf
	skip_unless_root
	skip_unless_filters
	run_denied bpf doctor --format json
	[ "$status" -eq 0 ]
	[ "$(json '.checks[] | select(.id == "bpf") | .state')" = no ]
	[[ $(json '.checks[] | select(.id == "bpf") | .found') == "BPF: "*"Operation not permitted"* ]]
	[ "$(json '.checks[] | select(.id == "wall") | .state')" = limited ]
	run_denied bpf ptt info
	[[ $output == *"bpf     n/a: BPF: "*"Operation not permitted"* ]]
	run_denied bpf record -e wall -o t -- sh -c 'echo began >&2'
	[ "$status" -eq 0 ]
	[[ $stderr == "arcprof record: not recorded: wakers, "*"(BPF: "*"Operation not permitted"*"seccomp"*began* ]]
}

@test "denied: itrace says in one line that a program may not be traced, or its code not be read" {
	skip_unless_filters
	run_denied ptrace itrace -o t -- true
	fails_with "cannot trace 'true': Operation not permitted"
	run_denied process_vm_readv itrace -o t -- true
	fails_with "process_vm_readv"
	[[ $stderr != *branches* ]]
}

@test "denied: itrace is refused the same for a process that runs" {
	skip_unless_filters
	sleep 60 &
	run_denied ptrace itrace -o t -p $!
	fails_with "cannot attach to process"
	run_denied process_vm_readv itrace -o t -p $!
	kill $!
	fails_with "process_vm_readv"
}

@test "denied: in a time namespace our times are not the kernel's, and that is an error" {
	skip_unless_root
	unshare --time --monotonic 5 --fork true 2>/dev/null || skip "no time namespaces can be made here"
	local command ahead
	for command in record tprof; do
		for ahead in 86400 -5; do
			status=0
			unshare --time --monotonic $ahead --fork "$ARCPROF" $command -o t -- touch began 2>err || status=$?
			slurp stderr err
			fails_with "arcprof $command: the clock of this time namespace is not the kernel's"
			[ ! -e t ]
			[ ! -e began ]
		done
	done
	# the other clock is nobody's
	unshare --time --boottime 86400 --fork "$ARCPROF" record -q -o t -- true
}

@test "denied: few open files are an error that says so, or suffice" {
	skip_unless_perf
	status=0
	(ulimit -n 12; timeout 60 "$ARCPROF" record -o t -- "$(workload shares)" 20) >out 2>err || status=$?
	cat err
	[ "$status" -eq 0 ] || { [ "$status" -eq 125 ] && grep -q 'open files' err; }
}

@test "denied: where too few files may be open for Java stacks, the summary says so" {
	skip_unless_perf
	use_any_jdk
	local files
	for files in 54 60 64; do
		status=0
		(ulimit -n $files; exec "$ARCPROF" record -e wall -o t -- java -cp "$CLASSES" Shares 5) >out 2>err || status=$?
		slurp stderr err
		[[ $status -eq 0 || $stderr == *"Too many open files"* ]]
		[[ $stderr != *"are unknown"* || $stderr == *"Too many open files"* ]]
	done
}

@test "denied: a program that gains rights has no samples, and that is an error" {
	skip_unless_perf
	skip_unless_root
	local rc=0
	chmod 755 . "$BATS_TEST_TMPDIR"
	mkdir -m 777 theirs
	cp "$(workload shares)" theirs/shares
	cp "$ARCPROF" theirs/arcprof
	chmod 4755 theirs/shares
	cd theirs
	as_nobody test -x ./arcprof || skip "another user cannot reach $PWD"
	as_nobody ./arcprof record -o t -- true 2>err || skip "$(head -1 err)"
	as_nobody ./arcprof record -o t -- ./shares 60 >out 2>err || rc=$?
	cat err
	[ "$rc" -eq 125 ]
	grep -q 'no samples of [0-9.]* s of CPU time: the program gets rights of its own' err
	! grep -q 'complete' err || false
	run_arcprof report -i t
	[[ $output == *"no samples of "*" s of CPU time"* ]]
	[[ $output != *"complete"* && $output != *"showing"* ]]
}

@test "denied: a JVM that can be sampled in no way is an error before it runs" {
	use_any_jdk
	skip_unless_filters
	run_denied perf_event_open,timer_create record -o t -- java -cp "$CLASSES" Shares 20
	fails_with "timers on CPU time are forbidden as well (timer_create)"
	[ ! -e t ]
}

@test "denied: a JVM of which names alone are wanted is not sampled by it, and that is an error" {
	use_any_jdk
	skip_unless_filters
	run_denied perf_event_open tprof --program-only -o t -- java -cp "$CLASSES" Shares 20
	fails_with "a system call filter forbids perf events"
	[ ! -e t ]
	run_denied perf_event_open record --no-java --callflow -e cpu -o t -- java -cp "$CLASSES" Shares 20
	fails_with "a system call filter forbids perf events"
}

@test "denied: a JVM whose timers are refused has no samples, and that is an error" {
	use_any_jdk
	skip_unless_filters
	"$(deny)" timer_create java -XX:-UsePerfData -cp "$CLASSES" Shares 1000000 >java.out 2>&1 &
	echo $! >pid
	sleep 1
	run_denied perf_event_open record -d 2s -o t -p "$(<pid)"
	[ "$status" -eq 125 ]
	[[ $stderr == *"no samples of "*" s of CPU time: timers on CPU time gave none"* ]]
	[[ $stderr != *complete* ]]
}

@test "denied: JVMs with which no memory can be shared are an error" {
	use_any_jdk
	skip_unless_perf
	skip_unless_filters
	run_denied memfd_create record -e jvm -o t -- java -cp "$CLASSES" Shares 20
	fails_with "JVMs could tell nothing: there is no memory to share with them (memfd_create)"
	run_arcprof report -i t --gc
	[[ $output == *memfd_create* ]]
	java -XX:-UsePerfData -cp "$CLASSES" Shares 1000000 >java.out 2>&1 &
	echo $! >pid
	sleep 1
	run_denied memfd_create record --java=agent -d 1s -o t -p "$(<pid)"
	[ "$status" -eq 125 ]
	[[ $stderr == *"process $(<pid): there is no memory to share with it (memfd_create): "* ]]
	# stacks alone are known from outside, and the report says why
	run_denied memfd_create record -d 1s -o t -p "$(<pid)"
	[[ $status -eq 0 && $stderr != *"tell nothing"* ]]
	run_arcprof report -i t --xprof
	[[ $output == *" Shares."* && $output == *"from outside"*"there is no memory to share with it"* ]]
	run_denied memfd_create threads -p "$(<pid)"
	fails_with memfd_create
}

@test "denied: no events of JVMs where there was none" {
	skip_unless_perf
	run_arcprof record -e jvm -o t -- true
	[[ $stderr == *"no events of JVMs: no JVM was recorded with the agent"* ]]
}
