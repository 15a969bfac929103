#!/usr/bin/env bats
# Where the time of threads went: programs that know how long they waited, and for what.
load ../lib
load ../wall
load ../live

@test "wall: waits, and their reasons, are those that the program itself measured" {
	skip_unless_wall
	"$ARCPROF" record -q -e wall -o trace "$(workload waits)" 2 >truth
	agrees 5
	check_trace trace
	run_arcprof report -i trace --check
	[[ $output == *"CPU + runnable + blocked = life"* ]]
}

@test "wall: beside a clock, that does not begin again with each look" {
	skip_unless_wall
	# half a period is lost each time, so it changes its period four times a second, and not fifty
	arcprof record -q -e wall=10ms,cpu-clock --clock=cpu -o trace -- "$(workload shares)" 100
	arcprof query -q trace --format csv "SELECT cpu, weight, time FROM samples WHERE metric = 1 ORDER BY time" >samples
	awk -F , 'NR > 1 {
			nr += ($1 in at) && at[$1] != $2
			at[$1] = $2
			first = first ? first : $3
			last = $3
		}
		END {
			cpus = length(at)
			print NR - 1 " samples, " nr " changes on " cpus " CPUs"
			exit NR < 20 || nr > cpus * ((last - first) / 250000000 + 2)
		}' samples
}

@test "wall: a thread waits for a CPU after the block that ended, not in it" {
	skip_unless_wall
	# it wakes every 30 ms, and somebody else has the CPU
	arcprof record -q -e wall=10ms -o trace -- taskset -c 0 sh -c \
		'timeout 1 sh -c "while :; do :; done" & for i in 1 2 3 4 5 6 7 8; do nice -n 19 sleep 0.03; done; wait'
	arcprof query --metric wall trace "SELECT thread, time, began, name FROM samples WHERE name IN ('[sleep]', '[runnable]')
		AND weight > 1000000" --format csv >samples
	awk -F , '$4 == "[sleep]" { ended[$1, $2] = 1; nr++ } $4 == "[runnable]" { queued[$1, $2] = $3 }
		END { for (at in queued) if (at in ended) print at ": in the queue before it was woken"; print nr + 0 " slept" }' samples | tee found
	grep -qx '[1-9][0-9]* slept' found
	[ "$(wc -l <found)" -eq 1 ]
}

@test "wall: waits that go with the load of the CPUs are as long as they are" {
	skip_unless_wall
	"$ARCPROF" record -q -e wall -o trace "$(workload served)" 3 >truth
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
	"$ARCPROF" report -i trace --format folded >folded
	while read -r name ms _; do
		got=$(awk -v name=";$name;" 'index($0, name) { ns += $NF } END { printf "%.0f", ns / 1e6 }' folded)
		echo "$name: $got of $ms ms"
		[ "$name" = wait_lock ] || within "$got" "${ms%.*}" 4
	done <truth
}

@test "wall: of a thread that waits at very many places each has its time" {
	skip_unless_wall
	"$ARCPROF" record -q -e wall -o trace "$(workload places)" 2 >truth
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
	"$ARCPROF" report -i trace --xprof --format json >prof
	while read -r name ms; do
		got=$(jq --arg n "$name" '[.rows[] | select(.name == $n) | .cum[0]] | add // 0 | . / 1e6 | floor' prof)
		echo "$name: $got of $ms ms"
		within "$got" "${ms%.*}" 20
	done <truth
}

@test "wall: no program is in step with the looks" {
	skip_unless_wall
	local got name ms i round nr=0 recorders
	# a turn of it is 48 ms, of which it waits there for 4; looks at equal distances saw none of that in half of the runs
	for round in {1..6}; do
		recorders=()
		for i in 1 2 3 4; do
			"$ARCPROF" record -q -e wall=10ms -o "trace$i" "$(workload places)" 1 >"truth$i" 3>&- &
			recorders+=($!)
		done
		wait "${recorders[@]}"
		for i in 1 2 3 4; do
			read -r name ms < <(tail -n 1 "truth$i")
			got=$("$ARCPROF" report -i "trace$i" --xprof --format json |
				jq '[.rows[] | select(.name == "wait_rare") | .cum[0]] | add // 0 | . / 1e6 | floor')
			echo "$got of $name $ms"
			# else it got no CPU when it was due, nor did who looks
			[ "${ms%.*}" -ge 70 ] && [ "${ms%.*}" -le 105 ] || continue
			[ $((got * 2)) -ge "${ms%.*}" ]
			nr=$((nr + 1))
		done
		[ "$nr" -lt 8 ] || return 0
	done
	[ "$nr" -ge 3 ] || skip "the machine is too busy: a program that waits gets no CPU when it is due"
}

@test "wall: what a program computes between its waits is in the functions that do it" {
	skip_unless_wall
	"$ARCPROF" record -q -e wall=4ms -o trace "$(workload steps)" 4
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
	"$ARCPROF" report -i trace --format folded | awk '
	/;first;.*\[on CPU\] / { first += $NF }
	/;second;.*\[on CPU\] / { second += $NF }
	END { share = first / (first + second); print first, second, share; exit !(share > 0.62 && share < 0.80) }'
}

@test "wall: with a CPU clock beside it, each is what it is" {
	skip_unless_wall
	"$ARCPROF" record -q -e cpu-clock,wall=20ms -o trace "$(workload waits)" 2 >truth
	agrees 6
	run_arcprof report -i trace --metric cpu-clock,wall --xtree --format json
	[ "$(json '.metrics | map(.name) | join(" ")')" = "cpu-clock wall wall.samples" ]
	# on the CPU it is the same, by the kernel's clock and by switches
	cpu=$(json '.metrics[0].total')
	on_cpu=$("$ARCPROF" report -i trace --metric wall --format folded | awk '/\[on CPU\] [0-9]+$/ { ns += $NF } END { print ns }')
	within "$on_cpu" "$cpu" 25
}

@test "wall: a thread that waits all the time is there, with all of it" {
	skip_unless_wall
	sleep 1000 &
	pid=$!
	"$ARCPROF" record -q -e wall -o trace -p "$pid" -d 1
	kill "$pid"
	run_arcprof report -i trace --xtree --metric wall
	[[ $output == *"1 thread over"* ]]
	[[ $output == *"[sleep]"* ]]
	total=$("$ARCPROF" report -i trace --format json | jq '.metrics[0].total')
	slept=$("$ARCPROF" report -i trace --metric wall --format folded | awk '/\[sleep\] [0-9]+$/ { ns += $NF } END { print ns }')
	[ "$total" -ge 1000000000 ]
	[ "$total" -lt 3000000000 ]
	within "$slept" "$total" 1
}

@test "wall: a range of time has the part of each wait that is in it" {
	skip_unless_wall
	cat >waiting.c <<-'EOF'
		#include <pthread.h>
		#include <unistd.h>
		static void *wait_long(void *x) { usleep(1200000); return x; }
		int main(void)
		{
			pthread_t t[10];
			for (int i = 0; i < 10; i++)
				pthread_create(t + i, 0, wait_long, 0);
			for (int i = 0; i < 10; i++)
				pthread_join(t[i], 0);
			return 0;
		}
	EOF
	gcc -pthread -o waiting waiting.c
	"$ARCPROF" record -q -e wall,wakers -o trace ./waiting
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
	# while all threads wait, as long as that is on this machine
	read -r from to < <("$ARCPROF" dump trace | awk '
		/^trace version/ { zero = $(NF - 1) / 1e9 }
		/"start.mono_ns"/ { split($0, f, "\""); start = f[4] / 1e9 }
		/ thread.wake / {
			split($0, f, "duration=")
			ns = f[2] + 0
			if (ns < 300e6)
				next
			if ($1 - ns / 1e9 > from)
				from = $1 - ns / 1e9
			if (!to || $1 < to)
				to = $1
		}
		END { printf "%.3f %.3f\n", from + zero - start + 0.001, to + zero - start - 0.001 }')
	awk -v from="$from" -v to="$to" 'BEGIN { exit to - from < 0.05 }' || skip "threads began too late: busy machine"
	want=$(awk -v from="$from" -v to="$to" 'BEGIN { print (to - from) * 11e9 }')
	for report in "--xtree --off-cpu --metric wall" --threads --wakers; do
		# shellcheck disable=SC2086 # options
		"$ARCPROF" report -i trace --from "$from" --to "$to" $report --format json >part
		got=$(jq '.metrics[0].total // .totals.blocked_ns // ([.wakers[].blocked_ns] | add)' part)
		echo "$report from $from to $to: $got of $want"
		within "$got" "$want" 1
	done
	"$ARCPROF" report -i trace --check --from "$from" --to "$to" >check || { cat check; return 1; }
	# the same from the times of all samples, and of those that are cut
	got=$(jq '.metrics[0].total' <("$ARCPROF" report -i trace --metric wall --from "$from" --to "$to" --format json))
	read -r a b < <(awk -v a="$from" -v b="$to" 'BEGIN { printf "%.0f %.0f\n", a * 1e9, b * 1e9 }')
	run_arcprof query -i trace --metric wall --format csv \
		"SELECT sum(min(time, $b) - max(began, $a)) AS ns FROM samples WHERE began < $b AND time > $a"
	[ "$output" = "ns
$got" ]
	run_arcprof query -i trace --metric wall --from "$from" --to "$to" --format csv \
		'SELECT sum(weight) AS ns, sum(time - began) AS lasted FROM samples'
	[ "$output" = "ns,lasted
$got,$got" ]
	# and what is before, in it and behind it is the whole
	sum=0
	for range in "--to $from" "--from $from --to $to" "--from $to" ""; do
		# shellcheck disable=SC2086 # two options
		got=$("$ARCPROF" report -i trace --metric wall $range --format json | jq '.metrics[0].total')
		[ -z "$range" ] || sum=$((sum + got))
	done
	[ "$sum" -eq "$got" ]
}

@test "wall: the same with pauses, in which new threads take the slots of ended ones" {
	skip_unless_wall
	cat >program <<-'EOF'
		while :; do
			for i in 1 2 3 4 5 6; do
				sh -c 'i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done; sleep 0.01' &
			done
			wait
		done
	EOF
	printf '%s\n' 'repeat 8' 'wait 60ms' pause 'wait 20ms' resume end 'wait 60ms' stop >script
	start_recorder -e cpu-clock,wall=1ms -- sh program
	"$ARCPROF" ctl -p "$RECORDER" -f script
	wait "$RECORDER" || [ $? -eq 143 ]
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
}

@test "wall: threads and processes that come and go have each moment of their lives" {
	skip_unless_wall
	"$ARCPROF" record -q -e wall -o trace sh -c 'for i in 1 2 3 4 5 6 7 8; do sleep 0.05; done; exec sleep 0.2'
	"$ARCPROF" report -i trace --metric wall --format folded >folded
	cat folded
	[ "$(cut -d ';' -f 1 folded | grep -c '^sleep \[pid' || true)" -ge 9 ]
	awk '/^sleep \[pid.*\[sleep\] [0-9]+$/ { ns += $NF } END { exit ns < 600e6 }' folded
	awk '/^sh \[pid.*\[wait4\] [0-9]+$/ { ns += $NF } END { exit ns < 400e6 }' folded
}

# The looks find a thread when it blocks; and this one is never blocked, nor the shell that it was.
@test "wall: a thread that never waits has its CPU time, below its own functions" {
	skip_unless_wall
	spin=$(workload spin)
	for run in 1 2 3; do
		"$ARCPROF" record -q -e wall=1ms -o trace "$spin" 60 >said
		ran_in_burn "$(cat said)"
		"$ARCPROF" record -q -e wall=1ms -o trace sh -c "exec $spin 60" >said
		ran_in_burn "$(cat said)"
		# on another CPU than the recorder, so that neither waits for the other
		taskset -c 0 "$ARCPROF" record -q -e wall=1ms -o trace taskset -c $(($(nproc) - 1)) "$spin" 60 >said
		ran_in_burn "$(cat said)"
	done
}

@test "wall: programs beside the recorded ones are left out, and everything that these start is recorded" {
	skip_unless_wall
	cat >program <<-'EOF'
		read -r _
		sh -c 'i=0; while [ $i -lt 10000 ]; do i=$((i+1)); done; sleep 0.1; :'
		exec sleep 0.3
	EOF
	cp "$(type -P true)" stranger
	sh -c 'while :; do ./stranger; i=0; while [ $i -lt 10000 ]; do i=$((i+1)); done; done' &
	others=$!
	echo | "$ARCPROF" record -q -e wall=2ms -o run sh program
	mkfifo go
	sh program <go &
	pid=$!
	exec 5>go
	start_recorder -e wall=2ms -p "$pid"
	echo >&5
	wait "$RECORDER"
	kill "$others"
	for trace in run trace; do
		"$ARCPROF" report -i "$trace" --check >check || { cat check; return 1; }
		"$ARCPROF" report -i "$trace" --metric wall --format folded >folded
		cut -d ';' -f 1 folded | sort | uniq -c
		# sh, the child, its sleep, and what sh executes in the end
		[ "$(cut -d ';' -f 1 folded | grep -o 'pid [0-9]*' | sort -u | wc -l)" -eq 3 ]
		[ "$(cut -d ';' -f 1 folded | sort -u | grep -c '^sleep \[pid')" -eq 2 ]
		[ "$(cut -d ';' -f 1 folded | grep -vc '^sh \[pid\|^sleep \[pid')" -eq 0 ]
		awk '/^sleep \[pid.*;.*;.*;\[sleep\] [0-9]+$/ { ns += $NF } END { exit ns < 390e6 }' folded
	done
}

@test "wall: 61 kinds of blocking calls return what they return without it, and not too early" {
	skip_unless_wall
	program=$(workload blocking)
	"$program" >without
	"$ARCPROF" record -q -e wall=1ms -o trace "$program" >with
	[ "$(wc -l <with)" -eq 61 ]
	diff <(cut -d ' ' -f 1-3 without) <(cut -d ' ' -f 1-3 with)
	[ "$(grep -c EINTR with)" -eq 0 ]
	# a timer's resolution is a tick for some; only earlier would be wrong
	awk '$5 && $4 < $5 - 1 { print; bad = 1 } END { exit bad }' with
	"$ARCPROF" report -i trace --check >check
	"$ARCPROF" report -i trace --off-cpu --xprof >reasons
	grep -q '\[flock: file\]' reasons
	grep -q '\[read: timerfd\]' reasons
	grep -q '\[read: signalfd\]' reasons
	grep -q '\[msgrcv\]' reasons
}

@test "wall: waits have the kernel's functions, and the file or the other end of the socket" {
	skip_unless_wall
	"$ARCPROF" record -q -e wall=2ms -o trace "$(workload files)" "$PWD" >truth
	cat truth
	[ "$(wc -l <truth)" -ge 5 ]
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
	"$ARCPROF" report -i trace --off-cpu --hide-kernel --format folded >folded
	# of what main() waits for, which is also what others wait for who answer
	while read -r ms name; do
		got=$(awk -v name=";$name " '/;main;/ && index($0, name) && !/\[(accept|connect)/ { ns += $NF } END { printf "%.0f", ns / 1e6 }' folded)
		echo "$name: $got of $ms ms"
		within "$got" "${ms%.*}" 20
	done <truth
	[ "$("$ARCPROF" report -i trace --off-cpu --hide-files --format folded | grep -c "$PWD")" -eq 0 ]
	run_arcprof report -i trace --off-cpu --format folded
	[[ $output =~ \;vfs_read\;[^$'\n']*\;\[read:\ pipe\]\;"$PWD"/fifo\  ]]
	# a list of one file is that file
	[[ $output =~ \;\[poll:\ TCP\ socket\]\;127.0.0.1:[0-9]+\  ]]
	[[ $output =~ \;\[poll:\ pipe\]\;"$PWD"/fifo\  ]]
	[[ $output =~ \;[a-z_]*tcp[a-z_]*\;[^$'\n']*\;\[read:\ TCP\ socket\]\;127.0.0.1: ]]
	[[ $output =~ hrtimer_nanosleep\;\[sleep\]\  ]]
	"$ARCPROF" query -i trace --format csv "SELECT name FROM xprof WHERE kind = 'file'" >files
	grep -qF "$PWD/locked file" files
}

@test "wall: on the whole machine, threads are on CPUs no longer than there are CPUs" {
	skip_unless_wall
	"$ARCPROF" record -q -e wall --no-java -o trace -a -- sleep 1
	run_arcprof report -i trace --check
	[ "$status" -eq 0 ]
	run_arcprof report -i trace --threads --format json
	[ "$(json '.threads | length')" -gt 3 ]
	cpus=$(getconf _NPROCESSORS_ONLN)
	json "\"\(.totals.cpu_ns) of \(.source.duration_ns * $cpus)\""
	[ "$(json ".totals.cpu_ns <= .source.duration_ns * $cpus * 1.02")" = true ]
}

@test "report: --off-cpu shows what was blocked alone, --threads the states of each thread" {
	skip_unless_wall
	"$ARCPROF" record -q -e wall -o trace sleep 0.4
	run_arcprof report -i trace --off-cpu --xprof
	[[ $output == *"[sleep]"* ]]
	[[ $output != *"[on CPU]"* ]]
	[[ $output != *"[runnable]"* ]]
	all=$("$ARCPROF" report -i trace --format json | jq '.metrics[0].total')
	blocked=$("$ARCPROF" report -i trace --off-cpu --format json | jq '.metrics[0].total')
	[ "$blocked" -ge 400000000 ]
	[ "$blocked" -lt "$all" ]

	# beside another event as well
	"$ARCPROF" record -q -e cpu,wall -o both sleep 0.4
	[ "$("$ARCPROF" report -i both --off-cpu --format json | jq '.metrics[0].total')" -ge 400000000 ]

	run_arcprof report -i trace --threads --format json
	[ "$(json '.threads | length')" -eq 1 ]
	[ "$(json '.threads[0].most_blocked_in')" = "[sleep]" ]
	[ "$(json '.totals.blocked_ns')" -eq "$blocked" ]
	[ "$(json '.totals.wall_ns')" -eq "$all" ]
	[ "$(json '.totals | .cpu_ns + .runnable_ns + .blocked_ns == .wall_ns')" = true ]
	[ "$(json '.totals.reasons | add')" -eq "$blocked" ]
	[ "$(json '.threads[0].reasons.sleep')" -ge 400000000 ]
	run_arcprof report -i trace --threads
	[[ $output == *"1 thread over"*"Most blocked in"*"[sleep]"* ]]
	run_arcprof report -i trace --threads --format csv
	[[ $output == name,process,pid,tid,wall_ns,* ]]
	follows_columns blocked_ns,name,process,tid blocked_ns report -i trace --threads
	for key in cum base n name wait blocked latency; do
		"$ARCPROF" report -i trace --threads --sort "$key" >/dev/null
	done
}

# ended <thread> <reason> <ended_by> [<waker>]: the share in % of those waits that it ended, of the trace's table, and
# of what is known: some kernels hide what happens while certain threads run.
ended() {
	jq -r --arg t "$1" --arg r "$2" --arg by "$3" --arg w "${4-}" '
		[.wakers[] | select(.thread == $t and .reason == $r and .ended_by != "not known")] as $all |
		([$all[] | select(.ended_by == $by and (.waker // "") == $w) | .blocked_ns] | add // 0) /
		([$all[].blocked_ns] | add) * 100 | floor' table
}

# in_code <waiter> <waker> <function>: the share in % of the waits that one ended of the other that it ended in that
# function, of ./table.
in_code() {
	jq -r --arg t "$1" --arg w "$2" --arg f "$3" '
		[.code[] | select(.waiter.thread == $t and .waker.thread == $w and .known)] as $all |
		([$all[] | select(.stack | index($f)).blocked_ns] | add // 0) / ([$all[].blocked_ns] | add) * 100 | floor' table
}

@test "report: --wakers says who ended each wait, in which code, and what it waited for" {
	skip_unless_wall
	"$ARCPROF" record -q -e wall,wakers -o trace "$(workload handover)" 2 >truth
	"$ARCPROF" report -i trace --check >check
	grep -q 'samples and wakers are that' check
	"$ARCPROF" report -i trace --wakers --format json >table
	jq -r '.wakers[] | "\(.thread) \(.reason) \(.ended_by) \(.waker) \(.blocked_ns)"' table
	[ "$(ended taker '[futex]' thread giver)" -ge 90 ]
	[ "$(ended reader '[read: pipe]' thread taker)" -ge 90 ]
	[ "$(ended pong '[read: pipe]' thread ping)" -ge 90 ]
	[ "$(ended ping '[read: pipe]' thread pong)" -ge 90 ]
	[ "$(ended giver '[sleep]' timer)" -ge 90 ]
	[ "$(ended ping '[sleep]' timer)" -ge 90 ]
	[ "$(ended poller '[poll: pipe]' timer)" -ge 90 ]
	[ "$(ended handover '[futex]' thread giver)" -ge 90 ]

	# whole stacks, of nearly all of these waits
	[ "$(in_code taker giver giver)" -ge 95 ]
	[ "$(in_code reader taker put)" -ge 95 ]
	[ "$(in_code pong ping ping)" -ge 95 ]
	[ "$(in_code ping pong pong)" -ge 95 ]
	by_threads=$(jq '[.wakers[] | select(.ended_by == "thread").blocked_ns] | add' table)
	[ "$(jq '[.code[].blocked_ns] | add' table)" -eq "$by_threads" ]
	[ "$(jq '[.code[] | select(.known).blocked_ns] | add' table)" -ge $((by_threads * 95 / 100)) ]
	# a waker's two functions share what was waited for it as the program measured
	while read -r name ms; do
		got=$(jq --arg f "$name" '[.code[] | select(.waiter.thread == "patient" and (.stack | index($f))).blocked_ns] | add / 1e6 | floor' table)
		echo "$name: $got of $ms ms"
		within "$got" "${ms%.*}" 10
	done <truth
	# and so has every other report
	"$ARCPROF" report -i trace --metric wakers --format folded >folded
	grep -q ';giver [^;]*;.*;giver;sem_post.*;\[futex\] ' folded
	[ "$(awk '{ ns += $NF } END { printf "%.0f", ns }' folded)" -eq "$by_threads" ]

	# both tables add up to what was blocked
	blocked=$("$ARCPROF" report -i trace --off-cpu --format json | jq '.metrics[0].total')
	[ "$(jq '[.wakers[].blocked_ns] | add' table)" -eq "$blocked" ]
	[ "$(jq '[.chains[].blocked_ns] | add' table)" -eq "$blocked" ]
	[ "$(jq .source.blocked_ns table)" -eq "$blocked" ]

	# while the reader waited for the taker, that waited for the giver, which slept or had to wait for a CPU
	jq '[.chains[] | select(.chain[0].thread == "reader")] |
		([.[] | select([.chain[0:3][].thread] == ["reader", "taker", "giver"]).blocked_ns] | add) /
			([.[].blocked_ns] | add),
		([.[] | select(.chain[2].reason == "[sleep]").blocked_ns] | add) /
			([.[].blocked_ns] | add)' table >share
	awk '{ print; bad += $1 < (NR == 1 ? 0.6 : 0.2) } END { exit bad || NR != 2 }' share
	# ping and pong do not wait at the same time
	[ "$(jq '[.chains[] | select(.cut)] | length' table)" -eq 0 ]
	jq '[.chains[] | select(.chain[0].thread == "ping" and .chain[0].reason == "[read: pipe]")] |
		([.[] | select(.chain | length == 2).blocked_ns] | add) / ([.[].blocked_ns] | add)' table >share
	awk '{ print; exit $1 < 0.7 }' share
}

@test "report: --wakers selects threads and times, and shows chains alone" {
	skip_unless_wall
	"$ARCPROF" record -q -e wall -o trace "$(workload handover)" 0.5
	run_arcprof report -i trace --wakers
	[[ $output == *" blocked in 9 threads: "*" by timers"*"Who ended the waits"*"What they waited for meanwhile"* ]]
	[[ $output == *" reader [tid "*"[read: pipe] <- taker [tid "*"[futex] <- giver [tid "*"[sleep] <- [timer]"* ]]
	run_arcprof report -i trace --wakers --thread taker --format csv
	[[ $output == "thread,pid,tid,reason,ended_by,waker,waker_pid,waker_tid,samples,blocked_ns"* ]]
	[ "$(cut -d , -f 1 <<<"$output" | sort -u | wc -l)" -eq 2 ]
	run_arcprof report -i trace --wakers=chains --limit 3 --format csv
	[ "$(wc -l <<<"$output")" -eq 4 ]
	run_arcprof report -i trace --wakers --from 1h
	[ "$status" -ne 0 ]
	run_arcprof report -i trace --wakers --symbol main
	[ "$status" -eq 2 ]
	run_arcprof report -i trace --wakers=trees
	[ "$status" -eq 2 ]
	[[ $stderr == *"invalid value 'trees' of --wakers"* ]]
	run_arcprof report -i trace --wakers=code
	[ "$status" -eq 1 ]
	[[ $stderr == *"not recorded in which code"*"record -e wall,wakers"* ]]
	run_arcprof record -e wakers true
	[ "$status" -eq 2 ]
	[[ $stderr == *"-e wall,wakers"* ]]
	run_arcprof record -e wall,wakers=1ms true
	[ "$status" -eq 2 ]
	[[ $stderr == *"takes no interval"* ]]
	"$ARCPROF" record -q -e wall,wakers -o codes "$(workload handover)" 0.3
	run_arcprof report -i codes --wakers=code --limit 2 --format csv
	[[ $output == thread,pid,tid,reason,waker,waker_pid,waker_tid,stack,samples,blocked_ns* ]]
	[ "$(wc -l <<<"$output")" -eq 3 ]
	follows_columns blocked_ns,reason,stack blocked_ns report -i codes --wakers=code
	follows_columns blocked_ns,chain blocked_ns report -i codes --wakers=chains
	follows_columns blocked_ns,waker blocked_ns report -i codes --wakers
	[[ $stderr == *"; of chains: cut, chain)"* || $stderr == *"; of chains: chain)"* ]]
	run_arcprof report -i codes --wakers --thread taker
	[[ $output == *"Where those were who ended them"*"giver [tid "*", taker [tid "*"[futex]"*" sem_post"* ]]
	"$ARCPROF" record -q -o plain true
	run_arcprof report -i plain --wakers
	[ "$status" -eq 1 ]
	[[ $stderr == *"waits were not recorded"* ]]
}

@test "wall: of the whole machine it is an error without the rights, which says what helps" {
	skip_unless_root
	cp "$ARCPROF" "$BATS_TEST_TMPDIR/ap"
	chmod 755 "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/ap"
	status=0
	as_nobody "$BATS_TEST_TMPDIR/ap" record -e wall -a -o /dev/null true 2>err || status=$?
	cat err
	[ "$status" -ne 0 ]
	grep -q 'wall: .*CAP_BPF' err
	grep -q '^hint: run as root' err
	run_arcprof record -e wall=10us true
	[ "$status" -eq 2 ]
	[[ $stderr == *"at least 1 ms"* ]]
}
