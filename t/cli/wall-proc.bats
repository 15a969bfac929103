#!/usr/bin/env bats
# Where the time of threads went, recorded where perf events and BPF are refused, as by a container's default filter of
# system calls: their states are read from /proc.
load ../lib
load ../java
load ../wall

setup_file() {
	prepare_jdks
	[ -x "$BUILD/t/tools/deny" ] || make -s -C "$TOP" build/t/tools/deny
}

skip_unless_filters() {
	local rc=0
	"$BUILD/t/tools/deny" bpf true 2>/dev/null || rc=$?
	[ "$rc" -ne 77 ] || skip "system call filters are not permitted here"
}

teardown() {
	[ -z "${open:-}" ] || rm -r "$open"
	for pid in ${pids:-}; do
		kill -KILL "$pid" 2>/dev/null || true
	done
}

# What a container may not do, as the kernel says it: EPERM, or with -n ENOSYS.
denied() {
	"$BUILD/t/tools/deny" "$@"
}

head_says() {
	"$ARCPROF" report -i trace --threads | head -n 8 >head
	grep -q '^not recorded: switches of threads, and where native code ran: .*States of threads are by /proc, sampled every [0-9.]* ms; threads that lived shorter may be missing$' head || {
		cat head
		return 1
	}
}

checked() {
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
	grep -q 'CPU + runnable + blocked = life' check
}

@test "wall: by /proc, waits are as long as the program itself measured" {
	skip_unless_filters
	local how
	for how in perf_event_open,bpf "-n perf_event_open,bpf" perf_event_open perf_event_open,bpf,process_vm_readv; do
		# shellcheck disable=SC2086 # options
		denied $how "$ARCPROF" record -e wall -o trace "$(workload waits)" 2 >said 2>err
		grep -v '^burn ' said >truth
		agrees 30 sum 11 || { cat err; return 1; }
		checked
		head_says
		grep -q 'states of threads were read from /proc, every [0-9.]* ms' err
		# whole stacks
		"$ARCPROF" report -i trace --format json | jq -e '.quality | .complete_stacks > .samples * 0.95'
	done
}

@test "wall: by /proc, the wall time of each thread is its life, as far as that is known" {
	skip_unless_filters
	cat >naps.c <<-'EOF'
		#include <pthread.h>
		#include <stdio.h>
		#include <time.h>
		static void *nap(void *ms)
		{
			struct timespec t = { (long)ms / 1000, (long)ms % 1000 * 1000000 };
			char name[16];
			snprintf(name, sizeof(name), "nap%ld", (long)ms);
			pthread_setname_np(pthread_self(), name);
			nanosleep(&t, 0);
			return 0;
		}
		int main(void)
		{
			pthread_t t[4];
			for (long i = 0; i < 4; i++)
				pthread_create(&t[i], 0, nap, (void *)(400 + 300 * i));
			for (int i = 0; i < 4; i++)
				pthread_join(t[i], 0);
			return 0;
		}
	EOF
	gcc -D_GNU_SOURCE -pthread -o naps naps.c
	denied perf_event_open,bpf "$ARCPROF" record -q -e wall -o trace ./naps
	checked
	"$ARCPROF" report -i trace --threads --format json >threads
	jq -c '.threads[] | [.name, .wall_ns, .cpu_ns, .runnable_ns, .blocked_ns]' threads
	for ms in 400 700 1000 1300; do
		jq -e --arg n "nap$ms" --argjson ms $ms '[.threads[] | select(.name == $n)] | length == 1 and (.[0] |
			.wall_ns > ($ms - 30) * 1e6 and .wall_ns < ($ms + 150) * 1e6 and
			.most_blocked_in == "[sleep]" and .cpu_ns + .runnable_ns + .blocked_ns == .wall_ns)' threads
	done
}

@test "wall: by /proc, processes that come, go, fork and execute have their lives" {
	skip_unless_filters
	denied perf_event_open,bpf "$ARCPROF" record -q -e wall -o trace \
		sh -c 'for i in 1 2 3 4; do sleep 0.2; done; (sleep 0.3; exec sleep 0.4); exec sleep 0.5'
	checked
	"$ARCPROF" report -i trace --metric wall --format folded >folded
	[ "$(cut -d ';' -f 1 folded | sort -u | grep -c '^sleep \[pid' || true)" -ge 7 ]
	awk '/^sleep \[pid.*\[sleep\] [0-9]+$/ { ns += $NF } END { print ns; exit ns < 1700e6 || ns > 2300e6 }' folded
	awk '/^sh \[pid.*\[wait4\] [0-9]+$/ { ns += $NF } END { print ns; exit ns < 1000e6 }' folded
}

@test "wall: by /proc, processes that were there before" {
	skip_unless_filters
	sleep 1000 3>&- &
	sleeps=$!
	sh -c 'while :; do :; done' 3>&- &
	busy=$!
	sleep 1000 3>&- &
	stopped=$!
	pids="$sleeps $busy $stopped"
	kill -STOP $stopped
	denied perf_event_open,bpf "$ARCPROF" record -q -e wall -o trace -p $sleeps,$busy,$stopped -d 1
	checked
	slept_ran_and_stopped "$sleeps" "$busy" "$stopped"
}

@test "wall: by /proc, 61 kinds of blocking calls return what they return without it, and not too early" {
	skip_unless_filters
	"$(workload blocking)" >without
	denied perf_event_open,bpf "$ARCPROF" record -q -e wall=1ms -o trace "$(workload blocking)" >with
	[ "$(wc -l <with)" -eq 61 ]
	diff <(cut -d ' ' -f 1-3 without) <(cut -d ' ' -f 1-3 with)
	[ "$(grep -c EINTR with)" -eq 0 ]
	awk '$5 && $4 < $5 - 1 { print; bad = 1 } END { exit bad }' with
	checked
}

@test "wall: by /proc, a process that may not be looked at has a mark in place of a stack" {
	skip_unless_filters
	skip_unless_root
	open=$(mktemp -d /tmp/arcprof-test-XXXXXX)
	chmod 777 "$open"
	cp "$ARCPROF" "$BUILD/t/tools/deny" "$open"
	cp "$(type -P sleep)" "$open/napper"
	chmod 711 "$open/napper"	# who cannot read it may not look at its processes
	(cd "$open" && as_nobody ./deny perf_event_open,bpf ./arcprof record -q -e wall -o trace ./napper 1)
	cp "$open/trace" trace
	checked
	"$ARCPROF" report -i trace --metric wall --format folded >folded
	cat folded
	awk '/^napper \[pid.*;\[unwalkable: no user stack\];\[[a-z]*\] [0-9]+$/ { ns += $NF } END { exit ns < 800e6 }' folded
	"$ARCPROF" report -i trace --threads | grep -q '^not recorded: stacks of [0-9]* waits: this user may not look at the process (ptrace)$'
}

@test "wall: by /proc, of very many threads looks are further apart, and waits without a look are counted once" {
	skip_unless_filters
	cat >many.c <<-'EOF'
		#include <pthread.h>
		#include <unistd.h>
		static void *wake(void *x) { for (;;) usleep(1000000); return x; }
		int main(void)
		{
			pthread_attr_t a;
			pthread_t t;
			pthread_attr_init(&a);
			pthread_attr_setstacksize(&a, 65536);
			for (int i = 0; i < 3000; i++)
				pthread_create(&t, &a, wake, 0);
			sleep(3);
			return 0;
		}
	EOF
	gcc -pthread -o many many.c
	denied perf_event_open,bpf "$ARCPROF" record -q -e wall -o trace ./many
	checked
	"$ARCPROF" report -i trace --threads >table
	sed -n 's/.*sampled every \([0-9]*\).*/\1/p' table >ms
	[ "$(cat ms)" -gt 30 ]
	sed -n 's/^not recorded: stacks of \([0-9]*\) waits.*/\1/p' table >missed
	echo "$(cat missed) waits"
	# each thread waits four or five times
	[ ! -s missed ] || [ "$(cat missed)" -le 15000 ]
}

@test "wall: by /proc, in a PID namespace, for root and for a user" {
	skip_unless_filters
	skip_unless_root
	unshare --mount --pid --fork --mount-proc true 2>/dev/null || skip "no namespaces can be made here"
	unshare --mount --pid --fork --mount-proc "$BUILD/t/tools/deny" perf_event_open,bpf \
		"$ARCPROF" record -q -e wall -o trace "$(workload waits)" 2 >said
	grep -v '^burn ' said >truth
	agrees 30 sum 11
	checked
	open=$(mktemp -d /tmp/arcprof-test-XXXXXX)
	chmod 777 "$open"
	cp "$ARCPROF" "$BUILD/t/tools/deny" "$(workload waits)" "$open"
	as_nobody unshare --user --map-root-user --pid --fork --mount --mount-proc true 2>/dev/null ||
		skip "no user namespaces here"
	(cd "$open" && as_nobody unshare --user --map-root-user --pid --fork --mount --mount-proc \
		./deny perf_event_open,bpf ./arcprof record -q -e wall -o trace ./waits 2) >said
	grep -v '^burn ' said >truth
	cp "$open/trace" trace
	agrees 30 sum 11
	checked
}

@test "wall: by /proc there is neither the whole machine nor another event" {
	skip_unless_filters
	run denied perf_event_open,bpf "$ARCPROF" record -e wall -a -d 0.1 -o trace
	[ "$status" -eq 125 ]
	run denied perf_event_open,bpf "$ARCPROF" record -e cpu,wall -o trace true
	[ "$status" -eq 125 ]
	[[ $output == *"a system call filter forbids perf events"* ]]
	[ ! -e trace ]
}

# The functions in which Waits waits for a reason are the only ones that have it.
no_wrong_stacks() {
	"$ARCPROF" report -i trace --metric wall --format folded >folded
	awk '
	/;Waits\./ && / [0-9]+$/ {
		all += $NF
		if (/;Waits.parks;/ && !/\[park: Waits|\[on CPU\]|\[runnable\]|\[futex\]/)
			bad += $NF
		if (/;Waits.enters;/ && !/\[monitor\]|\[on CPU\]|\[runnable\]|\[futex\]|\[Object.wait\]|\[sleep\]/)
			bad += $NF
	}
	END { print bad + 0, "of", all; exit !all || bad > 0 }' folded
}

java_by_proc() {
	denied perf_event_open,bpf "$ARCPROF" record -e wall=4ms -o trace -- java -cp "$CLASSES" Waits 4 >truth 2>err
	[ "$(grep -c TRUTH truth)" -eq 13 ]
	agrees_java 20 200 || { cat err; return 1; }
	checked
	head_says
	no_wrong_stacks
	grep -q '^[^;]*;parker [^;]*;.*;java.lang.Thread.run;.*;Waits.parks;.*Unsafe.park;.*;\[park: Waits$Gate\] ' folded
	grep -q ';Waits.enters;.*\[monitor\] ' folded
	grep -q ';main [^;]*;.*;Waits.main;.*\[sleep\] ' folded
}

@test "wall: by /proc, waits of Java threads, and their reasons, are those that they measured" {
	skip_unless_filters
	on_each_jdk java_by_proc
}

# Where Java threads run their agents' timers say.
java_runs() {
	printf '#!/bin/sh\ncd /\nexec java -cp "%s" Shares 60\n' "$CLASSES" >start
	chmod +x start
	denied perf_event_open,bpf "$ARCPROF" record -q -e wall -o trace -- ./start
	checked
	"$ARCPROF" report -i trace --metric wall --format folded >folded
	awk '/;main \[tid.*\[on CPU\] [0-9]+$/ { all += $NF; java += /;Shares\./ ? $NF : 0 }
		END { print java, all; exit !all || java < all * 0.6 }' folded
}

@test "wall: by /proc, a start script's JVM has the stacks where it runs" {
	skip_unless_filters
	on_one_jdk newest java_runs
}

java_is_attached() {
	local filter
	for filter in env "$BUILD/t/tools/deny perf_event_open,bpf"; do
		# shellcheck disable=SC2086 # a command with its options
		$filter java -cp "$CLASSES" Waits 9 >said 2>&1 3>&- &
		pids=$!
		until grep -qs mixed /proc/"$pids"/task/*/comm; do sleep 0.1; done	# its last thread
		denied perf_event_open,bpf "$ARCPROF" record -q -e wall=4ms -o trace -p "$pids" -d 1
		kill -KILL "$pids"
		wait "$pids" || :
		checked
		no_wrong_stacks
		grep -q ';Waits.parks;.*Unsafe.park;.*;\[park: Waits$Gate\] ' folded
		grep -q ';main [^;]*;.*;Waits.main;' folded
		"$ARCPROF" report -i trace --format json | jq -e '.quality | .complete_stacks > .samples * 0.9'
	done
}

@test "wall: by /proc, a running JVM is attached to" {
	skip_unless_filters
	on_one_jdk newest java_is_attached
}
