#!/usr/bin/env bats
# bats file_tags=stored
# Others on the machine who mean harm: a recorder is root as a rule.
load ../lib

teardown() {
	exec 8>&- 9>&-
	[ -z "${HOSTILE-}" ] || kill -KILL "$HOSTILE" 2>/dev/null || true
	[ -z "${RECORDER-}" ] || kill -KILL "$RECORDER" 2>/dev/null || true
	[ -z "${OPEN-}" ] || rm -rf "$OPEN"
	wait 2>/dev/null || true
}

# A folder that other users reach, unlike the test's own.
open_folder() {
	OPEN=$(mktemp -d "${TMPDIR:-/tmp}/hostile-XXXXXX")
	chmod 755 "$OPEN"
}

tool() {
	[ -x "$BUILD/t/tools/$1" ] || make -s -C "$TOP" "build/t/tools/$1" >&2
	echo "$BUILD/t/tools/$1"
}

wait_for_line() {	# <pattern> <file>
	local i
	for ((i = 0; i < 400; i++)); do
		! grep -q "$1" "$2" 2>/dev/null || return 0
		sleep 0.05
	done
	echo "no '$1' in $2"
	return 1
}

victims() {
	stat -c '%a %u %g %s' "$OPEN/victim/file" "$OPEN/victim"
	cat "$OPEN/victim/file"
	ls -A "$OPEN/victim"
}

@test "hostile: a JVM's user who swaps what root makes for symbolic links gets nothing for it" {
	skip_unless_perf
	skip_unless_root
	skip_unless_command strace
	as_nobody unshare --user --map-root-user --mount true 2>/dev/null || skip "no user namespaces here"
	local i before
	open_folder
	mkdir -m 777 "$OPEN/f"
	mkdir -m 700 "$OPEN/victim"
	echo secret >"$OPEN/victim/file"
	chmod 600 "$OPEN/victim/file"
	cp "$(tool swapper)" "$OPEN/swapper"
	mkfifo "$OPEN/in"
	before=$(victims)
	as_nobody unshare --user --map-root-user --mount "$OPEN/swapper" "$OPEN/f" "$OPEN/victim/file" "$OPEN/victim" \
		<"$OPEN/in" >swaps 2>&1 3>&- &
	exec 8>"$OPEN/in"
	wait_for_line ready swaps
	HOSTILE=$(sed -n 's/ready //p' swaps)
	# the recorder is held up before what it does, as on a machine that is busy
	calls=chmod,fchmod,fchmodat,bind,rename,renameat,renameat2,unlink,unlinkat
	for ((i = 0; i < 16; i++)); do
		timeout 60 strace -o /dev/null -e "trace=$calls" -e "inject=$calls:delay_enter=1000" \
			"$ARCPROF" record -o trace -p "$HOSTILE" -d 1ms </dev/null >out 2>&1 8>&- || true
		[ "$(victims)" = "$before" ] || { echo "after $i attempts:"; victims; return 1; }
	done
	cat out
	exec 8>&-
	wait_for_line ' swaps$' swaps
	cat swaps
	[ "$(sed -n 's/ swaps$//p' swaps)" -ge 100 ]
	HOSTILE=
}

# Its socket is known from the environment of the program it runs; the test is no part of what is recorded.
start_recorder_of_calls() {
	mkfifo go
	"$ARCPROF" record -o trace --callflow -F 99 "$@" -- sh -c 'echo "$ARCPROF_CALLFLOW" >socket; read go <go' \
		>recorder.out 2>recorder.err </dev/null 3>&- &
	RECORDER=$!
	wait_for_line . socket
}

end_recorder() {
	echo >go
	wait "$RECORDER"
	RECORDER=
	cat recorder.err
}

@test "hostile: processes that are not recorded are turned away, counted, and shown" {
	skip_unless_perf
	start_recorder_of_calls
	run "$(tool stranger)" "$(cat socket)" hello 40
	echo "$output"
	[ "$output" = "40 made, 0 answered" ]
	end_recorder
	grep -q ', 40 foreign connections refused' recorder.err
	run_arcprof report -i trace --xprof
	[[ $output == *"not recorded: 40 connections to the recorder: 40 of processes that are not recorded"* ]]
	run_arcprof report -i trace --samples --xprof --format json
	[ "$(json '.quality.refused | length')" -ge 1 ]
	[ "$(json '[.rows[] | select(.name == "stranger")] | length')" -eq 0 ]
}

@test "hostile: processes that an instruction trace does not follow are refused, too" {
	skip_unless_java	# else there is no agent, and no socket
	mkfifo go
	printf '%s\n' '#!/bin/sh' 'echo "${ARCPROF_AGENT##*=}" >socket' 'read go <go' >script
	chmod +x script
	"$ARCPROF" itrace -o trace --limit 100000 -- ./script >recorder.out 2>recorder.err </dev/null 3>&- &
	RECORDER=$!
	wait_for_line . socket
	run "$(tool stranger)" "$(cat socket)" hello 3
	echo "$output"
	[ "$output" = "3 made, 0 answered" ]
	end_recorder
	grep -q ' 3 foreign connections were refused' recorder.err
	arcprof dump -i trace >dump
	grep -q '3 connections to the recorder: 3 of processes that are not recorded' dump
}

@test "hostile: other users do not find the socket" {
	skip_unless_perf
	skip_unless_root
	start_recorder_of_calls
	local path folder
	path=$(cat socket) folder=$(dirname "$(cat socket)")
	[ -S "$path" ]
	[ -z "$(as_nobody ls "$folder" 2>/dev/null)" ]
	[ -z "$(grep -F -e "/$(basename "$path")" -e "$folder" /proc/net/unix)" ]
	end_recorder
	[ ! -e "$folder" ]
}

@test "hostile: connections that say nothing are few, and closed" {
	skip_unless_perf
	mkfifo hold
	cp "$(tool stranger)" stranger
	"$ARCPROF" record -o trace --callflow -F 99 -- sh -c './stranger "$ARCPROF_CALLFLOW" idle 400 <hold >idle' \
		>recorder.out 2>recorder.err </dev/null 3>&- 9>&- &
	RECORDER=$!
	exec 9>hold
	sleep 1
	exec 9>&-
	wait "$RECORDER"
	RECORDER=
	cat idle recorder.err
	# 16, and what the recorder has not come to yet: the socket's queue is 64
	[ "$(sed -n 's/.*made, \([0-9]*\) open/\1/p' idle)" -le 80 ]
	grep -q ' foreign connections refused' recorder.err
}

@test "hostile: a program that writes garbage in place of its marks does not harm other marks" {
	cp "$(tool stranger)" stranger
	gcc -O1 -I "$TOP/lib/api" "$TOP/t/data/marks/marks.c" "$BUILD/libarcprof.a" -o marks -pthread
	run_arcprof record -e mark -o trace -- sh -c './stranger "$ARCPROF_MARKS" scribble 20 && exec ./marks 1 1000'
	[ "$status" -eq 0 ]
	grep -qx '20 made, 20 answered' <<<"$output"
	arcprof report --log --format json trace >log
	[ "$(jq '[.events[] | select(.what == "from a thread")] | length' log)" -eq 1000 ]
	[ "$(jq -c '[.events[] | select(.what == "request") | .fields.status] | .[:2]' log)" = '[0,200]' ]
	# and some of what the stranger wrote is well formed
	[ "$(jq '[.events[] | select(.what == "strange" and .fields.path == "/cart")] | length' log)" -gt 0 ]
	arcprof report --marks trace >/dev/null
	arcprof report -q --format chrome trace | gunzip | jq -e '.traceEvents | length > 1000' >/dev/null
}

# What another user hears who listens where a program looks for its recorder.
impostor_hears() {	# <key, both halves; "": there is none> <shell command>
	rm -rf "$OPEN/door" heard
	mkdir -m 777 "$OPEN/door"
	as_nobody timeout 60 "$OPEN/stranger" "$OPEN/door/s" pose wrong >heard 3>&- &
	HOSTILE=$!
	wait_for_line listens heard
	chmod 755 "$OPEN/door"
	[ -z "$1" ] || (umask 77 && printf %s "$1" >"$OPEN/door/s.key")
	sh -c "$2" >program.out
	wait "$HOSTILE"
	HOSTILE=
	sed 's/;.*//' heard | tail -n 1
}

@test "hostile: programs say nothing to another user, and no more than half a key where there is one" {
	skip_unless_root
	local programs=("ARCPROF_MARKS={} ./marks 1 1" "ARCPROF_CALLFLOW={} ./deep 3") program
	open_folder
	cp "$(tool stranger)" "$OPEN/"
	gcc -O1 -I "$TOP/lib/api" "$TOP/t/data/marks/marks.c" "$BUILD/libarcprof.a" -o marks -pthread
	gcc -O1 -finstrument-functions "$TOP/t/data/callflow/treetest.c" "$BUILD/libarcprof-hookit.a" -o deep -pthread
	[ ! -s "$BUILD/libarcprof-memory.so" ] ||
		programs+=("LD_PRELOAD=$BUILD/libarcprof-memory.so ARCPROF_AGENT=x\\ -agentpath:x={} ls")
	for program in "${programs[@]}"; do
		program=${program//\{\}/$OPEN/door/s}
		[ "$(impostor_hears '' "$program")" = "no hello" ]
		[ "$(impostor_hears programs-say-it.recorder-answers "$program")" = "hello, key programs-say-it." ]
	done
}

@test "hostile: an agent that never stops talking does not keep the recorder from its end" {
	skip_unless_perf
	cp "$(tool stranger)" stranger
	status=0
	timeout 60 "$ARCPROF" record -o trace -d 300ms --callflow -F 99 -- \
		sh -c 'exec ./stranger "$ARCPROF_CALLFLOW" flood' >out 2>err </dev/null || status=$?
	cat err out
	grep -qx in out
	[ "$status" -ne 124 ]
	grep -q ' 1 JVM' err
}

@test "hostile: a recorder that is killed leaves nothing for longer than until the next" {
	skip_unless_perf
	start_recorder_of_calls
	local folder
	folder=$(dirname "$(cat socket)")
	[ -d "$folder" ]
	kill -KILL "$RECORDER"
	wait "$RECORDER" 2>/dev/null || true
	RECORDER=
	# one that lives keeps its own
	rm go socket
	start_recorder_of_calls
	[ ! -e "$folder" ]
	folder=$(dirname "$(cat socket)")
	run_arcprof record -o other -- true
	[ "$status" -eq 0 ]
	[ -S "$(cat socket)" ]
	end_recorder
	[ ! -e "$folder" ]
}

@test "hostile: a FIFO where names of code are looked for does not stop the recorder" {
	skip_unless_perf
	status=0
	timeout 60 "$ARCPROF" record -o trace -- "$(workload anon)" 100000000 fifo >out 2>err </dev/null || status=$?
	rm -f "$(cat out)"
	cat err
	[ "$status" -eq 0 ]
	check_trace trace
	[ "$(samples)" -ge 10 ]
}

# With /var/tmp, /var/cache and /dev/shm as the commands make them, in a mount namespace of its own.
with_folders() {	# <commands> <argument of arcprof>...
	local commands=$1
	shift
	status=0
	ARCPROF=$ARCPROF unshare --mount sh -c 'for f in /var/tmp /var/cache /dev/shm; do mount -t tmpfs none $f || exit 99; done
		'"$commands"'
		exec "$ARCPROF" "$@"' sh "$@" >out 2>err </dev/null || status=$?
	cat out err
	[ "$status" -ne 99 ] || skip "no tmpfs can be mounted here"
}

@test "hostile: a folder that another user took first, or none at all, keeps no program from being recorded" {
	skip_unless_perf
	skip_unless_root
	unshare --mount true 2>/dev/null || skip "no mount namespaces here"
	mkdir -m 700 run
	local taken='mkdir /var/tmp/arcprof-0 && chown 65534 /var/tmp/arcprof-0 && chmod 1777 /var/tmp'
	local most='for f in /var/tmp /var/cache /dev/shm; do mount -o remount,ro $f; done'
	local none="$most; mount --bind /tmp /tmp && mount -o remount,bind,ro /tmp; unset TMPDIR XDG_RUNTIME_DIR"
	with_folders "$taken" record -o trace -- true
	[ "$status" -eq 0 ]
	with_folders "$none" record -o trace -- true
	[ "$status" -eq 0 ]
	with_folders "$none" itrace -o trace --limit 1000 -- /bin/true
	[ "$status" -eq 0 ]
	skip_unless_java
	with_folders "$taken" record -o trace -- java -version
	[ "$status" -eq 0 ]
	grep -q ' 1 JVM' err
	with_folders "$most; export TMPDIR=/nowhere XDG_RUNTIME_DIR='$PWD/run'" record -o trace -- java -version
	[ "$status" -eq 0 ]
	grep -q ' 1 JVM' err
	[ "$(find run -name 'agent-*.so' | wc -l)" -eq 1 ]
	with_folders "$none" record -o trace -F 4999 -- java -version
	[ "$status" -eq 0 ]
	grep -q 'without the agent' err
	grep -q 'cannot place the JVM agent' err
}

@test "hostile: caches and spools are not put where the link of another user leads" {
	skip_unless_root
	skip_unless_command setpriv
	local planted
	open_folder
	mkdir -m 777 "$OPEN/home" "$OPEN/out"	# without the sticky bit, for which the kernel would see to it
	mkdir -m 755 "$OPEN/victim"
	cp "$ARCPROF" "$OPEN/arcprof"
	chown 65534:65534 "$OPEN/victim"
	# who made the link decides: another user, then the user of arcprof
	for planted in 65532 65534; do
		setpriv --reuid=$planted --clear-groups ln -s "$OPEN/victim" "$OPEN/home/.cache"
		as_nobody env -u XDG_CACHE_HOME HOME="$OPEN/home" "$OPEN/arcprof" record -q -o "$OPEN/out/trace" -- true
		find "$OPEN/victim" -mindepth 1 >$planted
		rm "$OPEN/home/.cache"
		setpriv --reuid=$planted --clear-groups ln -s "$OPEN/victim" "$OPEN/home/data"
		as_nobody env XDG_DATA_HOME="$OPEN/home/data" "$OPEN/arcprof" fleet push --retry 0 http://127.0.0.1:1/ 2>err || true
		cat err
		find "$OPEN/victim" -path '*spool*' >$planted.spool
		rm "$OPEN/home/data"
	done
	cat 65532 65534 ./*.spool
	[ ! -s 65532 ]
	[ ! -s 65532.spool ]
	grep -q '/victim/arcprof$' 65534
	grep -q '/victim/arcprof/spool$' 65534.spool
}
