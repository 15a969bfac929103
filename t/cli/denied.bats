#!/usr/bin/env bats
# denied.bats - what is refused to arcprof, or to what it records: it works all the same, or says why it does not,
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
