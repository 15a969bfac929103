#!/usr/bin/env bats
# Where the time of threads went, recorded in PID namespaces: of a container from within, and from the machine.
load ../lib
load ../jdks
load ../wall

skip_unless_namespaces() {
	skip_unless_root
	unshare --mount --pid --fork --mount-proc true 2>/dev/null || skip "no namespaces can be made here"
	skip_unless_wall
}

teardown() {
	[ -z "${inside:-}" ] || kill -KILL "$inside" 2>/dev/null || true
	[ -z "${holder:-}" ] || kill -KILL "$holder" 2>/dev/null || true
	[ -z "${open:-}" ] || rm -r "$open"
}

# Numbers of processes, /proc and mounts of its own.
contained() {
	unshare --mount --pid --fork --mount-proc "$@"
}

# by_bpf: ./trace was recorded with BPF.
by_bpf() {
	! "$ARCPROF" report -i trace --threads | grep '^not recorded: wakers' || false
}

# The program is the one that the recorder started, under the number that it has there.
numbers_are_theirs() {
	"$ARCPROF" report -i trace --threads --format json |
		jq -e '[.threads[].pid] | length > 0 and all(. > 0 and . < 1000)'
}

@test "wall: in a PID namespace, waits are as long as the program itself measured" {
	skip_unless_namespaces
	contained "$ARCPROF" record -q -e wall -o trace "$(workload waits)" 2 >truth
	agrees 5
	check_trace trace
	run_arcprof report -i trace --check
	[[ $output == *"CPU + runnable + blocked = life"* ]]
	by_bpf
	numbers_are_theirs
	# the kernel's part, as outside
	"$ARCPROF" report -i trace --metric wall --format folded | grep -q 'nanosleep.*;\[sleep\] '
}

@test "wall: in a PID namespace, wakers have the numbers that they have there" {
	skip_unless_namespaces
	contained "$ARCPROF" record -q -e wall,wakers -o trace "$(workload waits)" 2 >truth
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
	"$ARCPROF" report -i trace --wakers --format json >wakers
	jq -e '[.wakers[] | select(.ended_by == "thread")] | length > 0 and all(.waker != null)' wakers
	"$ARCPROF" report -i trace --threads --format json | jq '[.threads[].tid]' >tids
	jq -e --slurpfile t tids '[.wakers[].waker_tid | select(. != null)] | all(. as $x | $t[0] | index($x))' wakers
}

@test "wall: in a PID namespace, processes that were there before have all of their time" {
	skip_unless_namespaces
	contained sh -c '
		sleep 1000 &
		sh -c "while :; do :; done" &
		"$0" record -q -e wall -o trace -p $!,$(($! - 1)) -d 1
		echo $(($! - 1)) $! >pids
		kill -KILL $! $(($! - 1))' "$ARCPROF"
	read -r sleeps busy <pids
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
	by_bpf
	"$ARCPROF" report -i trace --threads --format json >threads
	jq -c '.threads[] | [.pid, .wall_ns, .cpu_ns, .runnable_ns, .blocked_ns, .most_blocked_in]' threads
	of() { jq ".threads[] | select(.pid == $1) | $2" threads; }
	[ "$(of "$sleeps" .blocked_ns)" -gt 900000000 ]
	[ "$(of "$sleeps" .most_blocked_in)" = '"[sleep]"' ]
	[ "$(of "$busy" '.cpu_ns + .runnable_ns')" -gt 900000000 ]
}

@test "wall: in a PID namespace, programs in a further one have all of their time" {
	skip_unless_namespaces
	contained "$ARCPROF" record -q -e wall -o trace -- \
		unshare --mount --pid --fork --mount-proc "$(workload waits)" 2 >truth
	agrees 6
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
	by_bpf
}

@test "wall: in a PID namespace, -a records what can be seen there" {
	skip_unless_namespaces
	sleep 1000 3>&- &
	holder=$!
	contained sh -c 'sleep 1000 & "$0" record -q -e wall -o trace -a -d 1; kill $!' "$ARCPROF"
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
	"$ARCPROF" report -i trace --metric wall --format folded >folded
	[ "$(grep -c '^sleep \[pid' folded)" -eq 1 ]
	numbers_are_theirs
}

# Starts a program in a container; its number, as the machine sees it, is $inside.
start_inside() {
	local i
	unshare --mount --pid --fork --mount-proc "$@" >said 3>&- &
	holder=$!
	for ((i = 0; i < 500; i++)); do
		inside=$(tr -d ' ' <"/proc/$holder/task/$holder/children")
		[ -z "$inside" ] || [ "$(<"/proc/$inside/comm")" != "${1##*/}" ] || return 0
		sleep 0.02
	done
	return 1
}

@test "wall: programs in a PID namespace are recorded from outside, and where they are attached to" {
	skip_unless_namespaces
	"$ARCPROF" record -q -e wall -o trace -- unshare --mount --pid --fork --mount-proc "$(workload waits)" 2 >truth
	agrees 6
	by_bpf
	start_inside sleep 1000
	sleep 0.2
	"$ARCPROF" record -q -e wall -o trace -p "$inside" -d 1
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
	"$ARCPROF" report -i trace --threads --format json |
		jq -e --argjson p "$inside" '.threads | length == 1 and .[0].pid == $p and .[0].blocked_ns > 900000000 and
			.[0].most_blocked_in == "[sleep]"'
}

# What Waits says it waited, of a JVM that is recorded in one of these ways.
java_agrees() {
	[ "$(grep -c TRUTH truth)" -eq 13 ]
	agrees_java 15 100
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
	"$ARCPROF" report -i trace --metric wall --format folded >folded
	grep -q '^[^;]*;parker [^;]*;.*;java.lang.Thread.run;.*;Waits.parks;.*Unsafe.park;.*;\[park: Waits$Gate\] ' folded
	grep -q ';Waits.enters;.*\[monitor\] ' folded
	grep -q ';main [^;]*;.*;Waits.main;.*\[sleep\] ' folded
	by_bpf
}

java_in_a_namespace() {
	contained "$ARCPROF" record -q -e wall=4ms -o trace -- "$JAVA_HOME/bin/java" -cp "$CLASSES" Waits 3 >truth
	java_agrees
	"$ARCPROF" record -q -e wall=4ms -o trace -- unshare --mount --pid --fork --mount-proc \
		"$JAVA_HOME/bin/java" -cp "$CLASSES" Waits 3 >truth
	java_agrees
}

@test "wall: in a PID namespace, waits of Java threads, and their reasons, are those that they measured" {
	skip_unless_namespaces
	on_each_jdk java_in_a_namespace
}

java_attached() {
	start_inside "$JAVA_HOME/bin/java" -cp "$CLASSES" Waits 9
	until grep -qs mixed /proc/"$inside"/task/*/comm; do sleep 0.1; done	# its last thread
	"$ARCPROF" record -q -e wall=4ms -o trace -p "$inside" -d 1
	kill -KILL "$inside"
	wait "$holder" || :
	inside=
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
	"$ARCPROF" report -i trace --metric wall --format folded >folded
	grep -q ';Waits.parks;.*Unsafe.park;.*;\[park: Waits$Gate\] ' folded
	grep -q ';main [^;]*;.*;Waits.main;' folded
	contained sh -c '"$1/bin/java" -cp "$2" Waits 9 >said &
		until grep -qs mixed /proc/$!/task/*/comm; do sleep 0.1; done
		"$0" record -q -e wall=4ms -o trace -p $! -d 1; kill -KILL $!' "$ARCPROF" "$JAVA_HOME" "$CLASSES"
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
	"$ARCPROF" report -i trace --metric wall --format folded >folded
	grep -q ';Waits.parks;.*Unsafe.park;.*;\[park: Waits$Gate\] ' folded
	grep -q ';main [^;]*;.*;Waits.main;' folded
}

@test "wall: a JVM in a PID namespace is attached to, from within and from outside" {
	skip_unless_namespaces
	on_one_jdk newest java_attached
}

@test "wall: a user in a container, who may not load BPF, gets the time of the threads, too" {
	skip_unless_namespaces
	open=$(mktemp -d /tmp/arcprof-test-XXXXXX)
	chmod 777 "$open"
	cp "$ARCPROF" "$(workload waits)" "$open"
	as_nobody unshare --user --map-root-user --pid --fork --mount --mount-proc true 2>/dev/null ||
		skip "no user namespaces here"
	(cd "$open" && as_nobody unshare --user --map-root-user --pid --fork --mount --mount-proc \
		./arcprof record -q -e wall -o trace ./waits 3) >truth
	cp "$open/trace" trace
	agrees 8 sum
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
	numbers_are_theirs
}

@test "wall: where /proc belongs to another PID namespace, this is an error and nothing is recorded" {
	skip_unless_namespaces
	run unshare --pid --fork "$ARCPROF" record -e wall -o trace -- true
	[ "$status" -eq 125 ]
	[[ $output == *"/proc has the processes of another PID namespace"* ]]
	[ ! -e trace ]
	run unshare --mount sh -c 'mount -t tmpfs none /proc && exec "$@"' sh "$ARCPROF" record -o trace -- true
	[ "$status" -eq 125 ]
	[ "$output" = "arcprof record: /proc has no processes: it is not mounted
hint: mount -t proc proc /proc" ]
	[ ! -e trace ]
}
