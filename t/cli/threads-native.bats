#!/usr/bin/env bats
# Threads of native programs, seen from outside: what they wait for, and where.
load ../lib

teardown() {
	[ -z "${PROGRAM-}" ] || kill -KILL "$PROGRAM" || true
}

make_all_of() {	# <process>
	local i
	for i in 1 2 3 4 5; do
		"$ARCPROF" threads -p "$1" --format json >threads.$i
	done
	"$ARCPROF" threads -p "$1" >text
	"$ARCPROF" threads -p "$1" --format csv >csv
	"$ARCPROF" threads -p "$1" --format csv --columns tid,name --sort +tid >tids
}

# looks_like <extended regular expression>: in time, "threads -p $PROGRAM" with the other arguments prints that.
looks_like() {
	local i
	for ((i = 0; i < 200; i++)); do
		run_arcprof threads -p "$PROGRAM" "${@:2}"
		! grep -qE -- "$1" <<<"$output" || return 0
		sleep 0.05
	done
	return 1
}

@test "threads: of a native program, where each waits and for what, and it goes on as if nothing were" {
	local seconds
	# for longer, where it has ended before all were made
	for seconds in 3 12 48; do
		"$(workload waits)" $seconds >truth &
		PROGRAM=$!
		until grep -qs wait_mixed /proc/$PROGRAM/task/*/comm || [ "$(ls /proc/$PROGRAM/task | wc -l)" -ge 11 ]; do
			sleep 0.05
		done
		make_all_of $PROGRAM || true
		[ -s truth ] || break
		wait $PROGRAM
	done
	[ "$(cut -d , -f 1 tids)" = "$(printf 'tid\n%s' "$(tail -n +2 csv | cut -d , -f 4 | sort -n)")" ]
	run_arcprof threads -p $PROGRAM --columns tid
	[[ $status -eq 2 && $stderr == *"--columns is for --format=csv"* ]]
	wait $PROGRAM
	PROGRAM=
	[ "$(wc -l <truth)" -eq 12 ]
	jq -r '.native_threads[] | select(.frames | length > 0) | [.reason, .complete, (.frames | map(.function) | join(";"))] | @tsv' \
		threads.? | sort -u >seen
	cat seen
	for pair in 'wait_sleep=[sleep]' 'wait_read=[read: pipe]' 'wait_accept=[accept: TCP socket]' \
		'wait_poll=[poll: TCP socket]' 'wait_condition=[futex]' 'wait_child=[wait4]' 'wait_receive=[recvfrom: Unix socket]'; do
		grep -F "${pair#*=}	true	" seen | grep -q ";${pair%=*};.*start" || { echo "no $pair"; return 1; }
	done
	[ "$(jq -s 'map(.is_jvm or (.threads | length > 0)) | any' threads.?)" = false ]
	head -n 1 text | grep -Eq "^process [0-9]+ \(waits\): [0-9]+ threads$"
	grep -Eq '^    at wait_sleep \(waits' text
	grep -Eq '^,[^,]*,false,[0-9]+,waiting,[0-9]*,,\[sleep\],,,' csv

	run_arcprof threads -p 999999999
	[ "$status" -eq 1 ]
	[[ $stderr == *"no process 999999999"* ]]
	sleep 10 &
	PROGRAM=$!
	run_arcprof threads -p $PROGRAM --format hprof
	[ "$status" -eq 1 ]
	[[ $stderr == *"is not a JVM"* ]]
}

@test "threads: file that is waited for, a thread that runs, and one that cannot be looked at" {
	skip_unless_root
	: >"locked file"
	exec 8>"locked file"
	flock 8
	flock "locked file" true 8>&- &
	PROGRAM=$!
	looks_like "\[flock: file\] $PWD/locked file"
	exec 8>&-
	sh -c 'while :; do :; done' &
	PROGRAM=$!
	looks_like '"state": ?"running"' --format json
	[ "$(json '.native_threads[0] | .state + " " + (.complete | tostring)')" = "running false" ]
	cp "$ARCPROF" "$BATS_TEST_TMPDIR/ap"
	chmod 755 "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/ap"
	as_nobody "$BATS_TEST_TMPDIR/ap" threads -p $PROGRAM >text
	grep -q 'no stack: this user may not look at it (ptrace)' text
}
