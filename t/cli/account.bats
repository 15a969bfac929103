#!/usr/bin/env bats
# How much of the CPU time that the kernel charged has samples, against what programs say that they used.
load ../lib
load ../jdks
load ../live

# What a test has started and not ended.
teardown() {
	local left
	left=$(jobs -p)
	# shellcheck disable=SC2086	# a list
	[ -z "$left" ] || kill -KILL $left 2>/dev/null || true
}

# ms <json key>: of all threads of ./trace, by the account.
ms() {
	arcprof report --account --format json trace | jq ".totals.$1 / 1e6 | round"
}

# share: percent of the CPU time charged that has samples.
share() {
	arcprof report --account --format json trace | jq '.totals.share * 100 | round'
}

# counted <thread>: bytes that it has allocated, by the account.
counted() {
	arcprof report --account --metric alloc --format json trace |
		jq --arg name "$1" '[.threads[] | select(.name == $name) | .counted] | add'
}

# duration: ms that ./trace was recorded: how far load may stretch what it has
duration() {
	arcprof report --format json trace | jq '.source.duration_ns / 1e6 | ceil'
}

# is_between <least> <value> <most>
is_between() {
	echo "$2: between $1 and $3"
	[ "$2" -ge "$1" ] && [ "$2" -le "$3" ]
}

@test "account: threads that are shorter than the interval have their share" {
	skip_unless_clocks_of_cpus
	local spun all in_spin us
	for us in 200 500; do
		arcprof record -F $((us == 200 ? 3000 : 1000)) -o trace -- "$(workload short)" 2000 $us >truth 2>err
		cat err truth
		read -r spun all <truth
		arcprof report --check trace >check || { cat check; return 1; }
		grep -q 'account' check
		# the kernel's own account is the program's, and samples are that but for chance
		is_between $((all - all / 25 - 10)) "$(ms cpu_ns)" $((all + all / 4 + 20))
		is_between 88 "$(share)" 120
		in_spin=$(arcprof report --xprof --format json trace |
			jq '[.rows[] | select(.name == "spin") | .cum[0]] | add / 1e6 | round')
		is_between $((spun * 85 / 100)) "$in_spin" $((spun * 120 / 100))
		# nobody has no number
		[ "$(arcprof dump trace | grep -c 'tid=4294967295')" -eq 0 ]
	done
}

@test "account: reports say how much clocks of threads miss, and in which threads" {
	skip_unless_perf
	arcprof record --clock=thread -o trace -- "$(workload short)" 400 1300 >truth 2>err
	cat err
	grep -q 'of CPU time were not sampled: clocks of threads start again in each thread' err
	is_between 20 "$(share)" 95
	run_arcprof report --xprof trace
	[[ $output == *" % of CPU time sampled"* ]]
	[[ $output == *"not sampled: "*" of CPU time: clocks of threads"*"report --account"* ]]
	arcprof report --xprof --format json trace | jq -e '.quality | .charged_ns > .sampled_ns'
	run_arcprof report --account --limit 3 trace
	[[ $output == *"clock: thread"* ]]
	[[ $output == *"of all "*" threads; "*" are not shown"* ]]
	# how many there were, beside those with samples
	lived=$(arcprof report --summary --format json trace | jq '.quality.threads_lived // 0')
	[ "$lived" -eq 0 ] || [ "$(arcprof query trace 'SELECT count(*) FROM threads WHERE charged IS NOT NULL' --format csv | tail -n 1)" -eq "$lived" ]
	sampled=$(arcprof report --summary --format json trace | jq .quality.threads)
	run_arcprof report --summary trace
	[[ $lived -le $sampled || $output =~ ,\ $sampled\ of\ (at\ least\ )?$lived\ threads\ sampled[,:] ]]
	arcprof report --summary --from 1ms --format json trace | jq -e '.quality.threads_lived == null'
}

@test "account: if all threads are too short for a clock of threads, reports say so" {
	skip_unless_perf
	run_arcprof record --clock=thread -F 50 -o trace -- "$(workload short)" 2000 300
	# where the first thread was hit, that is a warning
	[[ $stderr == *"no samples of "*" s of CPU time: "* ]] || [[ $stderr == *"of CPU time were not sampled: "* ]]
	[[ $stderr == *"miss threads shorter than the interval"* ]]
}

@test "account: --not-sampled shows what has no sample, and sums are the kernel's" {
	skip_unless_perf
	arcprof record -q --clock=thread -o trace -- "$(workload short)" 400 1300 >truth
	local charged
	charged=$(arcprof report --account --format json trace | jq .totals.cpu_ns)
	[ "$(arcprof report --not-sampled --xprof --format json trace | jq '.metrics[0].total')" -eq "$charged" ]
	arcprof report --not-sampled --check trace >check || { cat check; return 1; }
	[ "$(arcprof report --not-sampled --format folded trace | awk '{ ns += $NF } END { printf "%d", ns }')" -eq "$charged" ]
	# threads that nobody knows were charged nothing here
	[ "$(arcprof query trace 'SELECT sum(charged) FROM threads' --format csv | tail -n 1)" -eq "$(
		arcprof report --account --format json trace | jq '[.threads[].cpu_ns | numbers] | add')" ]
	arcprof report --not-sampled --format folded trace | grep -q ';\[not sampled\] '
	[ "$(arcprof report --format folded trace | grep -c 'not sampled')" -eq 0 ]
	run_arcprof report --format pprof -o out.pb trace
	[[ $stderr == *"leaves out: "*" % of the CPU time, which has no samples"* ]]
	run_arcprof report --not-sampled --from 10ms trace
	[ "$status" -ne 0 ]
	[[ $stderr == *"--not-sampled: what was counted is known of the whole recording"* ]]
	printf '"[not sampled]" base cpu-clock <= %s %%\n' 1 99 >limits
	run_arcprof budget --all -f limits trace
	[ "$status" -eq 1 ]
	[[ $output == *"violated: [not sampled] base cpu-clock"*"kept: [not sampled] base cpu-clock"* ]]
}

@test "account: processes that are executed and gone, and those that fork and end" {
	skip_unless_clocks_of_cpus
	arcprof record -o trace -- sh -c 'i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i + 1)); done; times' >times 2>err
	cat err times
	arcprof report --check trace >check || { cat check; return 1; }
	is_between 85 "$(share)" 120
	# "0m0.040s 0m0.080s" of the shell, and of its children
	awk '{ for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); ms += t[1] * 60000 + t[2] * 1000 } }
		END { printf "%d\n", ms }' times >truth
	is_between $(($(cat truth) * 90 / 100 - 20)) "$(ms cpu_ns)" $(($(cat truth) * 115 / 100 + 40))
}

# charged_meanwhile <process> <option of record>...: what the kernel has of its CPU time when the recorder runs and before it
# ends, and no more than from before that to after it; as the kernel has it at its last tick.
charged_meanwhile() {
	local pid=$1 first from to last charged
	ran() {
		echo $(($(cut -d ' ' -f 1 "/proc/$pid/schedstat") / 1000000))
	}
	shift
	first=$(ran)
	start_recorder "$@"
	from=$(ran)
	sleep .8
	to=$(ran)
	end_recorder
	last=$(ran)
	arcprof report --check trace >check || { cat check; return 1; }
	charged=$(ms cpu_ns)
	is_between $((to - from - 10)) "$charged" $((last - first + 10))
	is_between $((charged * 88 / 100 - 4)) "$(ms sampled_ns)" $((charged * 120 / 100 + 4))
}

@test "account: what is attached to is charged from then on" {
	skip_unless_perf
	sh -c 'while :; do :; done' 3>&- &
	local pid=$! clock
	for clock in cpu thread; do
		[ $clock = thread ] || arcprof record -q --clock=cpu -o probe -- true 2>/dev/null || continue
		charged_meanwhile $pid --clock=$clock -p $pid
	done
	kill $pid
	wait $pid || true
}

@test "account: of several processes that are attached to, each is sampled once" {
	skip_unless_perf
	local clock pids=() i
	for i in 1 2 3; do
		sh -c 'while :; do :; done' 3>&- &
		pids+=($!)
	done
	for clock in cpu thread; do
		[ $clock = thread ] || arcprof record -q --clock=cpu -o probe -- true 2>/dev/null || continue
		arcprof record -q --clock=$clock -p "${pids[0]},${pids[1]},${pids[2]}" -d 1 -o trace
		arcprof report --check trace >check || { cat check; return 1; }
		is_between 85 "$(share)" 120
	done
	kill "${pids[@]}"
	wait "${pids[@]}" || true
}

@test "account: single threads have what they were charged, until one ends" {
	skip_unless_perf
	sh -c 'while :; do :; done' 3>&- &
	local pid=$!
	charged_meanwhile $pid -t $pid
	start_recorder -t $pid
	sleep .3
	kill $pid
	wait
	RECORDER=
	run_arcprof report --account trace
	[ "$status" -eq 1 ]
	run_arcprof report --xprof trace
	[[ $output != *"of CPU time sampled"* ]]
}

jvm_is_sampled() {
	arcprof record -o trace -- java -cp "$CLASSES" Shares 40 >/dev/null 2>err
	cat err
	arcprof report --check trace >check || { cat check; return 1; }
	is_between 88 "$(share)" 120
}

@test "account: a JVM, from its start to its end" {
	skip_unless_clocks_of_cpus
	on_each_jdk jvm_is_sampled
}

allocation_is_counted() {
	local name bytes total
	arcprof record -q -e alloc=64k -o trace -- java -cp "$CLASSES" Allocated 16 >truth
	[ "$(wc -l <truth)" -eq 3 ]
	while read -r name bytes; do
		# what it allocates to print that comes after it has asked
		is_between "$bytes" "$(counted "$name")" $((bytes + 300000))
	done <truth
	run_arcprof report --check trace
	[ "$status" -eq 0 ]
	[[ $output == *"ok   samples and threads of accounts = what was counted"*" 2 checked"* ]]
	run_arcprof report --xprof trace
	[[ $output == *" % of allocated bytes sampled; "* ]]
	arcprof report --xprof --format json trace |
		jq -e '.quality.accounts[0] | .metric == "alloc" and .unit == "bytes" and .counted > 100e6'
	total=$(arcprof report --account --format json trace | jq '.totals | [.counted, .sampled] | max')
	[ "$(arcprof report --not-sampled --xprof --format json trace | jq '.metrics[0].total')" -eq "$total" ]
	arcprof report --not-sampled --check trace >check || { cat check; return 1; }
	arcprof report --account trace | grep -q '^[0-9]* allocated bytes counted by the JVM, '
	printf '"[not sampled]" base alloc <= %s %%\n' 99 >limits
	arcprof budget --all -f limits trace
}

@test "account: allocated bytes are what each thread has, by the JVM's count" {
	on_each_jdk allocation_is_counted
}

allocation_from_then_on() {
	local pid
	java -cp "$CLASSES" Allocated 16 20 >truth 3>&- &
	pid=$!
	until [ "$(wc -l <truth)" -eq 3 ]; do sleep .05; done
	arcprof record -q -e alloc=64k -p $pid -d 1 -o trace
	# nothing of what was before
	[ "$(counted worker-0)" = null ]
	arcprof report --check trace >check || { cat check; return 1; }
	[ "$(arcprof report --account --format json trace | jq '.totals.share * 100 | . > 97 and . < 103')" = true ]
	arcprof record -q -e alloc=64k -p $pid -o trace 3>&- &
	sleep 1
	kill -KILL $pid
	wait
	run_arcprof report --account --metric alloc trace
	[ "$status" -eq 1 ]
	[[ $stderr == *"the trace has no account of alloc: a JVM ended without telling it"* ]]
	run_arcprof report --xprof trace
	[[ $output != *"of allocated bytes sampled"* ]]
}

@test "account: allocated bytes are counted from when the recording begins, and not of a JVM that is killed" {
	on_each_jdk allocation_from_then_on
}

# lived <process>: ms that its threads lived, by the account
lived() {
	arcprof report --account --metric wall --format json trace |
		jq --arg name "$1" '[.threads[] | select(.process == $name) | .counted_ns] | add / 1e6 | round'
}

@test "account: threads have samples of wall for as long as they lived" {
	skip_unless_perf
	local n
	arcprof record -q -e wall -o trace -- sh -c 'sleep .3; sleep .2 & sleep .2 & wait; /bin/true'
	arcprof report --check trace >check || { cat check; return 1; }
	grep -q 'ok   samples and threads of accounts = what was counted  *2 checked' check
	# two of the three at the same time
	is_between 700 "$(lived sleep)" $((2 * $(duration) - 200))
	is_between 500 "$(lived sh)" $((2 * $(duration)))
	[ "$(arcprof report --account --format json trace | jq '.totals.share > .97 and .totals.share < 1.03')" = true ]
	run_arcprof report --xprof trace
	[[ $output == *" % of thread lifetime sampled; "* ]]
	arcprof report --account trace | grep -q ' of thread lifetime by the kernel.s records of forks and exits, '
	# 400 threads that live for some ms
	arcprof record -q -e wall -o trace -- "$(workload short)" 400 300 >truth
	arcprof report --check trace >check || { cat check; return 1; }
	n=$(arcprof report --account --format json trace | jq '[.threads[] | select(.counted_ns > 0)] | length')
	[ "$n" -eq 401 ]
}

@test "account: the lifetime before exec of the program is not counted" {
	skip_unless_perf
	local i pids=()
	# it waits for the recorder's CPU before it is executed
	for i in 1 2 3 4 5 6; do
		taskset -c 0 sh -c 'while :; do :; done' 3>&- &
		pids+=($!)
	done
	for i in 1 2 3 4; do
		taskset -c 0 "$ARCPROF" record -q -e wall -o trace$i -- sleep .1
	done
	kill "${pids[@]}"
	wait "${pids[@]}" || true
	for i in 1 2 3 4; do
		arcprof report --account --format json trace$i | jq -e '.totals | .share > .98 and .share < 1.02'
	done
}

@test "account: the waker of a thread is not recorded, and charged nothing" {
	skip_unless_perf
	mkfifo fifo
	sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done; exec >fifo
		while [ $i -lt 300040 ]; do echo x; sleep .02; i=$((i + 1)); done; exec sleep 10' 3>&- &
	local waker=$!
	arcprof record -q -e cpu -e wall -e wakers -o trace -- \
		sh -c 'exec <fifo; while [ "${#n}" -lt 40 ]; do read -r _; n=x$n; done'
	kill $waker
	wait $waker || true
	[ "$(arcprof report --account --format json trace | jq '[.threads[].pid] | unique | length')" -eq 1 ]
	[ "$(arcprof report --account --metric wall --format json trace | jq '[.threads[].pid] | unique | length')" -eq 1 ]
	[ "$(arcprof report --account --metric wall --format json trace | jq '.totals.share > .97 and .totals.share < 1.03')" = true ]
}

@test "account: after attaching, threads live from that moment on" {
	skip_unless_perf
	sh -c 'while :; do sleep .01; done' 3>&- &
	local pid=$!
	sleep .5
	arcprof record -q -e wall -p $pid -d 1 -o trace
	kill $pid
	wait $pid || true
	arcprof report --check trace >check || { cat check; return 1; }
	is_between 900 "$(lived sh)" $(($(duration) * 16 / 10))
}

# is_whole <metric> <trace or folder>: its account, which --check finds right
is_whole() {
	arcprof report --check "$2" >check || { cat check; return 1; }
	arcprof report --account --metric "$1" --format json "$2" >account.json
	jq -c .totals account.json
	jq -e '.totals.samples < 1000 or (.totals.share > .95 and .totals.share < 1.05)' account.json
}

# told <file>...: each has what JVMs counted. One that is busy may not answer in the 100 ms that the end of a file waits.
told() {
	local f
	for f; do
		run_arcprof report --account --metric alloc "$f"
		[[ $stderr != *"did not answer in time"* && $stderr != *"not all JVMs count"* ]] || return 1
	done
}

# until_told <told> <command>...: repeats the command, which records into ./dir, until what is there has been told.
until_told() {
	local i
	for i in {1..6}; do
		rm -rf dir
		"${@:2}" || true
		! "$1" dir/*.arc || return 0
	done
	return 1
}

several_files_of_a_jvm() {
	local f sum metric
	until_told told \
		arcprof record -q -e alloc=64k,gc,wall --segment 500ms -o dir -- java -Xmx64m -cp "$CLASSES" Allocated 64 2 >truth
	set -- dir/*.arc
	[ $# -ge 3 ]
	for metric in alloc wall; do
		sum=0
		for f; do
			is_whole $metric "$f"
			sum=$((sum + $(jq '.totals | .counted // .counted_ns' account.json)))
		done
		is_whole $metric dir
		[ "$(jq '.totals | .counted // .counted_ns' account.json)" -eq $sum ]
	done
	sum=$(arcprof report --gc --format json dir | jq '.counted[0] | select(.pauses == .recorded) | .pauses')
	echo "$sum pauses"
	[ "$sum" -gt 10 ]
	# of what is kept
	rm "$1"
	is_whole alloc dir
	is_whole wall dir
	# and of a pause in which that file ended, the count may be in the other one
	arcprof report --gc --format json dir | tee gc.json | jq -e '.counted[0] | .pauses - .recorded | . >= -2 and . <= 2' ||
		{ jq -c .counted gc.json; return 1; }
}

@test "account: record reports allocation that was not sampled, and nothing if all was" {
	skip_unless_perf
	use_any_jdk
	arcprof record -o trace -e alloc=64k,gc,wall,lock -- java -cp "$CLASSES" Allocated 64 >truth 2>err
	cat err
	[ "$(grep -cE 'not sampled|were not recorded' err)" -eq 0 ]
	# the recorder stands still, so that samples are lost
	"$ARCPROF" record -o trace -e alloc=64 -- java -cp "$CLASSES" Allocations 16 >truth 2>err 3>&- &
	sleep .8
	kill -STOP $!
	sleep 1.5
	kill -CONT $!
	wait $!
	cat err
	[[ "$(arcprof report --account trace)" == *"not sampled: samples were lost"* ]]
	grep -qE 'warning: [0-9.]+ % of alloc was not sampled, as samples were lost: .arcprof report --account --metric alloc. has' err
}

@test "account: several files of a JVM have what it allocated, its pauses and its threads' lives" {
	skip_unless_perf
	on_each_jdk several_files_of_a_jvm
}

@test "account: several files of a JVM that was killed have none together, and later ones their own" {
	skip_unless_perf
	use_any_jdk
	local pid
	cat >both <<-END
		java -Xmx64m -cp "$CLASSES" Allocated 64 20 >truth & pid=\$!
		java -Xmx64m -cp "$CLASSES" Allocated 64 4 >/dev/null &
		sleep 1.5; kill -KILL \$pid; wait
	END
	told_around() {
		told "$1" "${@: -2:1}"
	}
	until_told told_around arcprof record -q -e alloc=64k,gc --segment 500ms -o dir -- sh both
	set -- dir/*.arc
	[ $# -ge 5 ]
	is_whole alloc "$1"
	[ "$(jq .totals.samples account.json)" -gt 0 ]
	is_whole alloc "${@: -2:1}"
	run_arcprof report --account --metric alloc dir
	[ "$status" -eq 1 ]
	[[ $stderr == *"the trace has no account of alloc: a JVM ended without telling it, or did not answer in time"* ]]
	arcprof report --check dir >check || { cat check; return 1; }
	arcprof report --gc --format json dir | jq -c '.counted[]'
	[ "$(arcprof report --gc --format json dir | jq '[.counted[] | select(.why)] | length')" -eq 1 ]
}

@test "account: several files have what was charged in each" {
	skip_unless_clocks_of_cpus
	arcprof record -q --segment 300ms -o dir -d 1500ms -- sh -c 'while :; do :; done' || [ $? -eq 143 ]
	local f sum=0 all=0
	for f in dir/*.arc; do
		cp "$f" trace
		arcprof report --check trace >check || { cat check; return 1; }
		sum=$((sum + $(ms sampled_ns))) all=$((all + $(ms cpu_ns)))
	done
	is_between $((all * 88 / 100)) $sum $((all * 120 / 100))
	is_between 100 $all 1600
	# and all together the sum, to the rounding of each
	arcprof report --account --format json dir | jq '.totals | .cpu_ns / 1e6 | round' >together
	is_between $((all - 6)) "$(cat together)" $((all + 6))
}

@test "account: several files of a recording that was paused have none" {
	skip_unless_clocks_of_cpus
	sh -c 'while :; do :; done' 3>&- &
	local pid=$! f
	"$ARCPROF" record --segment 400ms -o dir -p $pid 2>recorder.err </dev/null 3>&- &
	RECORDER=$!
	until_it_records
	until compgen -G 'dir/*.arc' >before; do sleep .05; done
	ctl pause
	compgen -G 'dir/*.arc' >ended
	sleep .5
	ctl resume
	until [ "$(compgen -G 'dir/*.arc' | wc -l)" -gt "$(wc -l <ended)" ]; do sleep .05; done
	end_recorder
	kill $pid
	wait $pid || true
	set -- dir/*.arc
	# those that ended before the pause; which of them that ended as it was asked for, cannot be known
	run_arcprof report --xprof "$(head -n 1 before)"
	[[ $output == *"of CPU time sampled"* ]]
	shift "$(wc -l <ended)"
	[ $# -ge 1 ]
	for f in "$@" dir; do
		run_arcprof report --account "$f"
		[ "$status" -eq 1 ]
		[[ $stderr == *"the trace has no account of CPU time"* ]]
		run_arcprof report --xprof "$f"
		[[ $output != *"of CPU time sampled"* ]]
	done
}

# busy: ms that CPUs ran threads since the machine was booted, by the kernel's sum
busy() {
	awk -v hz="$(getconf CLK_TCK)" '$1 == "cpu" { printf "%d\n", ($2 + $3 + $4) * 1000 / hz }' /proc/stat
}

@test "account: the machine has what the kernel counts for its CPUs" {
	skip_unless_clocks_of_cpus
	local i before after from to pids=() rows
	for ((i = 0; i < $(nproc); i++)); do
		sh -c 'while :; do :; done' 3>&- &
		pids+=($!)
	done
	before=$(busy)
	start_recorder -a --no-java -m 16M -F 1000
	from=$(busy)
	sleep 1
	to=$(busy)
	end_recorder
	after=$(busy)
	arcprof record -q -a --no-java -m 16M -F 1000 --segment 500ms -d 1500ms -o dir
	kill "${pids[@]}"
	wait "${pids[@]}" || true
	arcprof report --check trace >check || { cat check; return 1; }
	grep -q 'ok   samples and threads of accounts = what was counted  *2 checked' check
	# as the kernel has it at its last ticks; not all of the recorder's own life is in it
	is_between $(((to - from) * 95 / 100 - 20 * $(nproc))) "$(ms cpu_ns)" $((after - before))
	is_between 85 "$(share)" 115
	rows=$(arcprof report --account --format csv trace | cut -d , -f 1 | tail -n +2 | sort)
	[ "$(wc -l <<<"$rows")" -eq "$(nproc)" ]
	[[ $rows == "CPU 0"* ]]
	run_arcprof report --xprof trace
	[[ $output == *" % of CPU time sampled; "* ]]
	arcprof report --not-sampled --check trace >check || { cat check; return 1; }
	arcprof report --check dir >check || { cat check; return 1; }
	[ "$(arcprof report --account --format json dir | jq '.totals.share > .8 and .totals.share < 1.2')" = true ]
}

@test "account: the machine has none where the kernel counts more of a CPU than time has passed" {
	skip_unless_clocks_of_cpus
	cp /proc/stat stat
	unshare --mount true 2>/dev/null || skip "mounts are not permitted"
	# shellcheck disable=SC2016	# for the other shell
	unshare --mount sh -c 'mount --bind stat /proc/stat && exec "$@"' sh \
		"$ARCPROF" record -a --no-java -m 16M -o trace 2>recorder.err </dev/null 3>&- &
	RECORDER=$!
	until_it_records
	awk '/^cpu/ { $2 += 100000 } { print }' stat >later
	cat later >stat
	end_recorder
	run_arcprof report --account trace
	[ "$status" -eq 1 ]
	arcprof report --xprof trace >out
	! grep -q 'of CPU time sampled' out || false
	grep -q '^not recorded: an account of CPU time: the kernel counts more of CPU 0 than time has passed' out
	check_trace trace
}

@test "account: the machine is sampled by clocks that are in step with nothing" {
	skip_unless_clocks_of_cpus
	arcprof record -q -a --no-java -F 1000 -o trace -- "$(workload shares)" 100 >/dev/null
	arcprof report --check trace >check || { cat check; return 1; }
	# never the interval that was asked for: evset.c has the parts of it that are taken
	arcprof query trace 'select distinct weight from samples' --format csv | tail -n +2 >weights
	cat weights
	awk '$1 < 900000 || $1 > 1078000 || ($1 > 990000 && $1 < 1010000) { exit 1 } END { exit !NR }' weights
}

@test "account: a program that is stopped for a while, and children that never execute anything" {
	skip_unless_clocks_of_cpus
	arcprof record -q -o trace -- bash -c 'for i in {1..200}; do (for j in {1..200}; do :; done) & done; wait
		for i in {1..100000}; do :; done' 3>&- &
	local recorder=$! i
	sleep .2
	for i in 1 2 3; do
		pkill -STOP -P $recorder || true
		sleep .1
		pkill -CONT -P $recorder || true
	done
	wait $recorder
	arcprof report --check trace >check || { cat check; return 1; }
	is_between 85 "$(share)" 120
}

@test "account: a recorder that is killed leaves none, and no share is printed" {
	skip_unless_perf
	"$ARCPROF" record -q -o trace -- "$(workload shares)" 3000 >/dev/null 3>&- &
	local recorder=$!
	sleep 1.5
	kill -KILL $recorder
	wait $recorder || true
	pkill -KILL -f "$(workload shares) 3000" || true
	run_arcprof report --xprof trace
	[[ $output == *cpu-clock* ]]
	[[ $output != *"of CPU time sampled"* ]]
	arcprof report --check trace >check || true	# it is not whole
	[ "$(grep -c account check)" -eq 0 ]
}

@test "account: of a trace that was full the reason is that" {
	skip_unless_clocks_of_cpus
	arcprof record -q -F 4000 --mode normal --max-size 64K --no-compress -o trace -- "$(workload shares)" 100 >/dev/null || true
	run_arcprof report --xprof trace
	[[ $output == *"stopped storing after"* ]]
	[[ $output == *"not sampled: "*"of CPU time: storing stopped when --max-size was reached"* ]]
}

@test "account: without one, the report says so, and no share is printed" {
	skip_unless_perf
	arcprof record -q -D 10ms -o trace -- sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done'
	run_arcprof report --account trace
	[ "$status" -eq 1 ]
	[[ $stderr == *"the trace has no account of CPU time"* ]]
	run_arcprof report --xprof trace
	[[ $output != *"of CPU time sampled"* ]]
}

# clock_of <trace>: whose it says they were
clock_of() {
	arcprof dump "$1" | sed -n 's/.* label key="clock" value="\(.*\)"$/\1/p'
}

# of <event> <function>: what samples of ./trace weigh
of() {
	arcprof report --xprof --format json trace |
		jq --arg f "$2" '[.rows[] | select(.name == $f) | .base[0]] | add // 0'
}

@test "account: page faults of short threads are counted one by one, by counters of CPUs as by those of threads" {
	skip_unless_clocks_of_cpus
	local clock touched faults
	for clock in auto thread; do
		# meanwhile others have some, too
		sh -c 'while :; do /bin/true; done' 3>&- &
		arcprof record -q -m 16M --clock=$clock -e minor-faults -o trace -- "$(workload touch)" 400 20 >truth
		kill $!
		wait $! || true
		read -r touched faults _ <truth
		[ "$(clock_of trace)" = "${clock/auto/cpu}" ]
		# when memory is short the kernel moves a page, which is then touched twice
		is_between $((touched - 8)) "$(of minor-faults touch)" $((touched + 8))
		# the kernel has some of its own, as when it copies arguments
		is_between $((faults - 40)) "$(arcprof report --xprof --format json trace | jq '.metrics[0].total')" $((faults + 10))
	done
}

@test "account: page faults beside a clock, and of a program with more threads than there may be files" {
	skip_unless_clocks_of_cpus
	arcprof record -q -m 16M -e cpu-clock,page-faults -o trace -- "$(workload touch)" 400 20 >truth
	arcprof report --check trace >check || { cat check; return 1; }
	[ "$(clock_of trace)" = cpu ]
	[ "$(arcprof report --account --format json trace | jq .totals.cpu_ns)" -gt 0 ]
	"$(workload touch)" 200 5 wait >truth 3>&- &
	local pid=$!
	until [ "$(ls /proc/$pid/task | wc -l)" -gt 200 ]; do sleep .05; done
	(ulimit -n 120 && exec "$ARCPROF" record -q -e page-faults -p $pid -d 0.2 -o trace)
	[ "$(clock_of trace)" = cpu ]
	kill $pid
	wait $pid || true
}

@test "account: context switches equal those of getrusage(2), with either clock" {
	skip_unless_clocks_of_cpus
	local clock switches
	for clock in cpu thread auto; do
		arcprof record -q --clock=$clock -e context-switches -o trace -- "$(workload touch)" 400 5 >truth
		read -r _ _ switches <truth
		is_between $((switches * 98 / 100 - 5)) \
			"$(arcprof report --xprof --format json trace | jq '.metrics[0].total')" $((switches + 10))
	done
	# others would pay for it
	[[ $(clock_of trace) == "thread (each switch between other programs would take "* ]]
}

faults_of_java() {
	local clock
	for clock in cpu thread; do
		arcprof record -q -m 16M --clock=$clock -e page-faults -o trace -- java -cp "$CLASSES" Touch 100 50
		arcprof report --check trace >check || { cat check; return 1; }
		# those of the agent, which is above Touch.touch as well, come on top
		is_between 4800 "$(arcprof report --xprof --format json trace |
			jq '[.rows[] | select(.name == "Touch.touch") | .cum[0]] | add')" 30000
	done
}

@test "account: page faults of Java threads have Java stacks" {
	skip_unless_clocks_of_cpus
	on_each_jdk faults_of_java
}

@test "account: clocks of CPUs that cannot be had are refused, and why" {
	skip_unless_perf
	run_arcprof record --clock=cpu -e gc -o trace -- true	# nothing is sampled
	[ "$status" -eq 0 ]
	run_arcprof record --clock=cpus -o trace -- true
	[ "$status" -ne 0 ]
	[[ $stderr == *"--clock"* ]]
}

@test "account: a tracepoint is left to others unfiltered, with a message" {
	skip_unless_clocks_of_cpus
	arcprof record -q -e sched:sched_switch -o trace -- true || skip "no tracepoints"
	[ "$(clock_of trace)" = "thread (a tracepoint cannot be filtered for one recording alone)" ]
	run_arcprof record --clock=cpu -e cpu-clock,sched:sched_switch -o trace -- true
	[ "$status" -eq 125 ]
	[[ $stderr == "arcprof record: no clocks of CPUs: a tracepoint cannot be filtered"* ]]
}

@test "account: users who may not use BPF get clocks of threads, and a message" {
	skip_unless_perf
	skip_unless_root
	chmod 755 . && mkdir -m 777 theirs
	setpriv --reuid=65534 --regid=65534 --clear-groups "$ARCPROF" record -o theirs/trace -- "$(workload short)" 400 300 \
		>truth 2>err || skip "$(cat err)"
	cat err
	grep -q 'were not sampled: ' err
	arcprof dump theirs/trace | grep 'key="clock"' | grep -q 'thread (BPF: CAP_BPF and CAP_PERFMON are missing)'
}

@test "account: samples of idle CPUs are charged to no thread" {
	skip_unless_clocks_of_cpus
	[ "$(nproc)" -gt 1 ] || skip "a machine with one CPU has none that is idle beside a busy one"
	for clock in cpu thread; do
		arcprof record -q -a --no-java -m 16M --clock=$clock -o trace -- timeout .8 sh -c 'while :; do :; done' || true
		arcprof report --check trace >check || { cat check; return 1; }
		is_between 85 "$(share)" 115
	done
}

one_timer_a_cpu() {
	strace -qq -s 1 -e trace=perf_event_open -o calls "$ARCPROF" record -q -F 1000 -o trace -- java -cp "$CLASSES" Touch 100 50
	"$ARCPROF" report --check trace
	[ "$(grep -c 'SW_CPU_CLOCK.*}, -1, [0-9]*, -1, PERF_FLAG_FD_CLOEXEC) = [0-9]' calls)" -eq $(($(nproc) + 1)) ] || { cat calls; return 1; }
}

# Each interrupt is charged to who is interrupted. One more event is opened to see whether any can be.
@test "account: beside agents' samples, a CPU has one clock" {
	skip_unless_clocks_of_cpus
	skip_unless_command strace
	[[ $("$ARCPROF" doctor) != *"of JVMs by events of their threads"* ]] || skip "Linux before 6.18 gives threads of JVMs clocks"
	on_one_jdk newest one_timer_a_cpu
}
