#!/usr/bin/env bats
# Recording when something goes wrong, or there is much of it.
load ../lib

# The last trace has so many records of this name.
records() {
	[ -s .dump ] && [ .dump -nt trace ] || arcprof dump -i trace --format json >.dump
	jq --arg n "$1" '[.records[] | select(.name == $n)] | length' .dump
}

# Starts a recorder that gets SIGINT as if in the foreground (a shell ignores it for background jobs).
in_background() {
	perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' "$@" 2>said &
	background=$!
}

# Its exit status; fails when it goes on for a minute: a loaded machine needs more than the two seconds promised.
wait_for_end() {
	local i
	for ((i = 0; i < 600; i++)); do
		kill -0 "$1" 2>/dev/null || break
		sleep 0.1
	done
	if ((i == 600)); then
		kill -KILL "$1"
		echo "process $1 does not end"
		return 1
	fi
	status=0
	wait "$1" || status=$?
}

# Waits until the file has grown to more than so many bytes.
wait_for_bytes() {
	local i
	for ((i = 0; i < 200; i++)); do
		[ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -gt "$2" ] && return
		sleep 0.05
	done
	echo "$1 does not grow"
	return 1
}

until_it_records_as() {	# <process>
	until "$ARCPROF" ctl -p "$1" 2>/dev/null | grep -qx 'state: recording'; do
		kill -0 "$1" || return 1
		sleep 0.02
	done
}

wait_for_file() {
	local i
	for ((i = 0; i < 200; i++)); do
		[ -e "$1" ] && return
		sleep 0.05
	done
	echo "no $1"
	return 1
}

teardown() {
	cd /
	umount "$BATS_TEST_TMPDIR/small" 2>/dev/null || true
	[ -z "${mounted-}" ] || umount "$mounted" || true
	[ -z "${background-}" ] || kill_recorder "$background"
	[ -z "${target-}" ] || kill -9 "$target" 2>/dev/null || true
	wait 2>/dev/null || true	# and no word about it
}

@test "record: it ends with the status of the program" {
	skip_unless_perf
	record -- sh -c 'exit 42'
	[ "$status" -eq 42 ]
	record -- true
	[ "$status" -eq 0 ]
	for s in 6 9 11 15; do
		record -- sh -c "kill -$s \$\$"
		[ "$status" -eq $((128 + s)) ]
	done
}

@test "record: a program that cannot run is 127 or 126, a failed recording 125, with one line each" {
	skip_unless_perf
	run_arcprof record -- ./nowhere
	[ "$status" -eq 127 ]
	[ "$stderr" = "arcprof record: cannot run './nowhere': No such file or directory" ]
	touch plain
	run_arcprof record -- ./plain
	[ "$status" -eq 126 ]
	[ "$stderr" = "arcprof record: cannot run './plain': Permission denied" ]
	run_arcprof record -o nowhere/trace -- true
	[ "$status" -eq 125 ]
	[ "$stderr" = "arcprof record: nowhere/trace: No such file or directory" ]
	run_arcprof record -o 'cannot run/trace' -- true	# the status is not read out of the message
	[ "$status" -eq 125 ]
	run_arcprof record -C 4095 -- true
	[ "$status" -eq 125 ]
	[ "$stderr" = "arcprof record: CPU 4095 is not online" ]
}

@test "record: a signal to it is passed to the program, and the trace is whole" {
	skip_unless_perf
	for s in TERM INT HUP; do
		rm -f ready
		in_background "$ARCPROF" record -q -o trace -- sh -c "trap 'exit 9' $s; : >ready; while :; do :; done"
		wait_for_file ready
		kill -$s "$background"
		status=0
		wait "$background" || status=$?
		[ "$status" -eq 9 ]
		check_trace trace
		[ "$(samples)" -gt 0 ]
	done
}

@test "record: a recording that fails leaves the trace before it alone" {
	skip_unless_perf
	run_arcprof record -q -o trace -- true
	cp trace before
	for target in '-p 999999' '-- ./nowhere' '-C 4095 -- true'; do
		run_arcprof record -q -o trace $target
		[ "$status" -ge 125 ]
	done
	cmp trace before
	[ "$(ls)" = "$(printf 'before\ntrace')" ]
	run_arcprof record -q -o trace -- true
	cmp trace.old before
}

@test "record: to standard output goes the trace alone, and no trace goes to a terminal" {
	skip_unless_perf
	"$ARCPROF" record -o - -- echo hello >trace 2>said
	grep -qx hello said
	grep -q 'wrote .* KiB to standard output' said
	check_trace trace
	skip_unless_terminal
	on_terminal "$ARCPROF" record -o - -- true | grep -q 'standard output is a terminal'
}

@test "record: under sudo the trace belongs to the invoking user" {
	skip_unless_root
	skip_unless_perf
	SUDO_UID=12345 SUDO_GID=54321 run_arcprof record -q -o trace -- true
	[ "$(stat -c %u:%g:%a trace)" = 12345:54321:600 ]
	SUDO_UID=-1 SUDO_GID=0x run_arcprof record -q -o trace -- true
	[ "$(stat -c %u:%g trace)" = 0:0 ]
}

@test "record: options as users of perf type them" {
	skip_unless_perf
	run_arcprof record -g -o trace -- true
	[ "$status" -eq 0 ]
	run_arcprof report trace --xprof
	[ "$status" -eq 0 ]
	run_arcprof report trace another
	[ "$status" -eq 2 ]
	run_arcprof record -F 0 -- true
	[ "$status" -eq 2 ]
	[[ $stderr == *"--freq: must be at least 1"* ]]
	run_arcprof record -F 100000000 -o trace -- true
	[ "$status" -eq 0 ]
	[[ $stderr == *" samples per second are capped at "* || $stderr == *"warning: a sample is taken every "* ]]
	run_arcprof record -u no-such-user
	[ "$status" -ne 0 ]
	[[ $stderr == *"--user: unknown user 'no-such-user'"* ]]
}

@test "record: running processes are named at the begin, also with spaces between their numbers, or by user" {
	skip_unless_perf
	sleep 20 &
	target=$!
	sleep 20 &
	background=$!
	run_arcprof record -o trace -d 0.1 -p "$target"$'\n'"$background"
	[ "$status" -eq 0 ]
	[[ ${stderr%%$'\n'*} == "arcprof record: recording processes $target, $background for 0.1 s" ]]
	arcprof dump trace >records
	grep -qw "$target" records && grep -qw "$background" records
	run_arcprof record -o trace -d 0.1 -p "1,x"
	[ "$status" -eq 2 ]
	skip_unless_root
	chmod 755 .
	kill "$target"
	setpriv --reuid=54321 --clear-groups sleep 20 &
	target=$!
	for ((i = 0; i < 200; i++)); do
		[ "$(stat -c %u /proc/$target)" = 54321 ] && break
		sleep 0.05
	done
	run_arcprof record -o trace -d 0.1 -u 54321
	[[ $stderr == "arcprof record: recording process $target for 0.1 s"* ]]
}

# arcprof with these arguments, while the n-th call of a system call that makes a descriptor fails, for each n (up to a
# dozen, after which openat reads the program's files): it ends by itself, well or with a line that says why.
fail_each_descriptor() {	# "n..." <argument>...
	local call n which=$1
	shift
	for call in signalfd4 epoll_create1 socket pipe2 memfd_create openat perf_event_open; do
		for n in $which; do
			status=0
			timeout -s KILL 20 strace -o calls -e trace=$call -e inject=$call:error=EMFILE:when=$n \
				"$ARCPROF" "$@" </dev/null >/dev/null 2>said || status=$?
			grep -q INJECTED calls || break
			case $status in
			0) ;;
			1 | 125) grep -q "^arcprof [a-z]*: .*[Tt]oo many open files" said || { cat said; tail -n 3 calls; return 1; } ;;
			*) echo "$call $n: status $status"; cat said; return 1 ;;
			esac
		done
	done
}

# bats test_tags=stored
@test "record: a descriptor that cannot be had is a clean end, whichever it is" {
	skip_unless_perf
	skip_unless_command strace
	strace -o /dev/null true 2>/dev/null || skip "programs cannot be traced here"
	fail_each_descriptor '1 2 3 4 6 9 12' record -o trace -- true
	fail_each_descriptor '1 2 3 4 6 9 12' itrace --limit 1000 -o trace -- true
}

# bats test_tags=stored
@test "record: few descriptors are a clean end, or enough" {
	skip_unless_perf
	skip_unless_root	# who may not raise the limit
	chmod 755 .
	mkdir -m 777 out
	cp "$ARCPROF" out/
	cd out
	good=0
	for ((n = 8; n < 30; n += 1 + (n > 20))); do
		status=0
		as_nobody sh -c "ulimit -n $n; exec timeout -s KILL 20 ./arcprof record -q -- true" 2>said || status=$?
		[ "$status" -eq 0 ] && good=$((good + 1)) && continue
		[ "$status" -eq 125 ]
		grep -q 'oo many open files' said
	done
	[ "$good" -gt 0 ]
}

# With these options: the CPU time of a program, in ms, as the kernel tells whoever waited for it.
cpu_ms_of_shares() {
	timeout -s KILL 100 "$ARCPROF" record -o trace "$@" -- \
		bash -c 'TIMEFORMAT="cpu %3U %3S"; time "$1" 60 >/dev/null' - "$(workload shares)" 2>err
	awk '$1 == "cpu" { print 1000 * ($2 + $3) }' err
}

@test "record: however short the interval, a program gets on and its CPU time is all there" {
	skip_unless_perf
	local how used told
	for how in '-c 1' '-F max' '-F 999'; do
		# shellcheck disable=SC2086
		used=$(cpu_ms_of_shares $how)
		told=$(arcprof query --format csv trace "select sum(s.weight) / 1000000 from samples s join threads t
			on s.thread = t.id where t.name = 'shares'" | tail -n 1)
		echo "$how: $used ms used, $told ms told"
		awk -v used="$used" -v told="$told" 'BEGIN { exit !(used > 100 && told > .9 * used && told < 1.1 * used) }'
		# the kernel may allow so few by now that there is nothing to warn of
		[ "$how" != '-F max' ] || [ "$(</proc/sys/kernel/perf_event_max_sample_rate)" -ge 100000 ] || continue
		[ "$how" = '-F 999' ] || grep -q 'warning: a sample is taken every [0-9.]* us: ' err
	done
	! grep -q 'a sample is taken every' err || false		# 999 Hz is what was asked for
}

# With a kernel that claims to allow $1 samples per second.
with_limit() {
	echo "$1" >limit
	shift
	unshare --mount sh -c 'mount --bind limit /proc/sys/kernel/perf_event_max_sample_rate && exec "$@"' - "$@"
}

@test "record: where the kernel allows few samples, clocks take fewer, the default rate as well" {
	skip_unless_perf
	with_limit 500 true 2>/dev/null || skip "no mount namespace can be made"
	for how in '' '-F 5000' '-c 10000' '-F max' '--clock=thread'; do
		# shellcheck disable=SC2086
		with_limit 500 "$ARCPROF" record -e cpu-clock $how -o trace -- true 2>err
		grep -q 'warning: a sample is taken every .* (kernel.perf_event_max_sample_rate)' err
		[ "$(grep -c warning: err)" -eq 1 ]
	done
	with_limit 5000 "$ARCPROF" record -e cpu-clock -o trace -- true 2>err
	! grep warning: err || false
}

@test "record: an interval that is shorter than the kernel's is refused while it is recorded" {
	skip_unless_perf
	in_background "$ARCPROF" record -q -e cpu-clock -o trace -- sleep 100
	wait_for_file trace
	run_arcprof ctl --pid "$background" set interval cpu-clock=12us || true
	kill -INT "$background"
	wait "$background" || true
	[[ $stderr == *"cpu-clock"*"at least"*"us"* ]] || { echo "$stderr"; return 1; }
}

@test "record: a signal ends a recording whose program does not end, and leaves the program alone" {
	skip_unless_perf
	local first
	in_background "$ARCPROF" record -o trace -- sh -c "trap '' INT TERM; echo \$\$ >pid; while :; do sleep 0.1; done"
	wait_for_file pid
	kill -INT "$background"
	wait_for_end "$background"
	grep -q "did not end after the signal: it runs on as process $(<pid)" said
	kill -0 "$(<pid)"
	kill -KILL "$(<pid)"
	[ "$status" -eq 130 ]
	check_trace trace
}

@test "record: a signal ends a recording whose program is stopped" {
	skip_unless_perf
	in_background "$ARCPROF" record -o trace -- sh -c 'echo $$ >pid; while :; do :; done'
	wait_for_file pid
	kill -STOP "$(<pid)"
	kill -TERM "$background"
	wait_for_end "$background"
	kill -KILL "$(<pid)" 2>/dev/null || true	# nobody's stopped program goes on, and gets the signal
	[ "$status" -eq 143 ]
	check_trace trace
}

@test "record: a second signal ends the recording at once" {
	skip_unless_perf
	in_background "$ARCPROF" record -q -o trace -- sh -c "trap '' TERM; echo \$\$ >pid; while :; do sleep 0.1; done"
	wait_for_file pid
	kill -TERM "$background"
	kill -TERM "$background"
	wait_for_end "$background"
	kill -KILL "$(<pid)"
	[ "$status" -eq 143 ]
	check_trace trace
}

@test "record: after --duration the program is asked to end" {
	skip_unless_perf
	record -d 0.3 -- "$(workload shares)" 100000
	[ "$status" -eq 143 ]
	grep -q "shares' was still running, so it was sent SIGTERM; exit status 143" <<<"$stderr"
	[ "$(samples)" -gt 0 ]
	record -d 20 -- "$(workload shares)" 5
	[ "$status" -eq 0 ]
}

@test "record: a recorder that is killed leaves a trace that can be read, and the program unharmed" {
	skip_unless_perf
	"$(workload shares)" 100000 >/dev/null &
	target=$!
	in_background "$ARCPROF" record -q -F 999 -o trace -p $target
	wait_for_bytes trace 4000
	wait_for_bytes trace 6000
	kill -9 "$background"
	wait "$background" || true
	kill -0 $target
	check_trace trace damaged
	[ "$(samples)" -gt 100 ]
	check_shares
	grep -q 'has no end: the recording was cut off' .report.err
}

@test "record: a program under a recorder that is killed runs to its end" {
	skip_unless_perf
	in_background "$ARCPROF" record -q -o trace -- sh -c ': >ready; sleep 1; : >finished'
	wait_for_file ready
	kill -9 "$background"
	wait "$background" || true
	wait_for_file finished
}

@test "record: a full disk is reported, and the program continues" {
	skip_unless_root
	skip_unless_perf
	mkdir small
	mount -t tmpfs -o size=64k none small 2>/dev/null || skip "no tmpfs can be mounted"
	run_arcprof record --no-compress -F 20000 -o small/trace -- sh -c "$(workload shares) 400; : >finished; exit 4"
	[ "$status" -eq 125 ]
	[[ $stderr == *"small/trace is not complete: No space left on device"* ]]
	[ -e finished ]
	arcprof report -i small/trace --check >check || true
	! grep -v '^ok ' check || false
	arcprof report -i small/trace --xprof | head -n 1 | grep -E '[1-9][0-9]* lost'
}

@test "record: a limit on the file's size is reported, and kills nothing" {
	skip_unless_perf
	status=0
	(ulimit -f 8; exec "$ARCPROF" record --no-compress -F 20000 -o trace -- sh -c "trap '' XFSZ; $(workload shares) 100; exit 4") \
		2>err || status=$?
	[ "$status" -eq 125 ]
	grep -q 'trace is not complete: File too large' err
	arcprof report -i trace --check >check || true
	! grep -v '^ok ' check || false
}

@test "record: a file that may not be written is refused before the program runs" {
	skip_unless_perf
	mkdir trace
	run_arcprof record -o trace -- sh -c ': >ran'
	[ "$status" -eq 125 ]
	[[ $stderr == "arcprof record: trace: "* ]]
	[ ! -e ran ]
}

# bats test_tags=stored
@test "record: 600 short-lived processes are all seen" {
	skip_unless_perf
	record -- "$(workload crowd)" processes 600
	[ "$status" -eq 3 ]
	[ "$(records fork)" -eq 600 ]
	[ "$(records exec)" -eq 601 ]
	[ "$(records thread.end)" -eq 601 ]
	[ "$(records lost)" -eq 0 ]
}

# bats test_tags=stored
@test "record: 5000 threads are all seen" {
	skip_unless_perf
	record -- "$(workload crowd)" threads 5000
	[ "$status" -eq 3 ]
	[ "$(records thread)" -ge 5001 ]
	[ "$(records thread.end)" -eq 5001 ]
	[ "$(records fork)" -eq 0 ]
	[ "$(records lost)" -eq 0 ]
}

# bats test_tags=stored
@test "record: a process that execs 200 times is 200 programs" {
	skip_unless_perf
	record -- "$(workload crowd)" execs 200
	[ "$status" -eq 3 ]
	[ "$(records exec)" -eq 201 ]
	[ "$(records thread.end)" -ge 1 ]
}

@test "record: a program that ends at once gives a trace" {
	skip_unless_perf
	for i in 1 2 3 4 5; do
		record -- true
		[ "$status" -eq 0 ]
	done
}

@test "record: a missing process or thread is reported" {
	skip_unless_perf
	true &
	wait $!
	run_arcprof record -p $!
	[ "$status" -eq 125 ]
	[[ $stderr == "arcprof record: no process "* ]]
	run_arcprof record -t $!
	[ "$status" -eq 125 ]
	[[ $stderr == "arcprof record: no thread "* ]]
}

@test "record: -p takes all threads of a process and its children, and ends when it does" {
	skip_unless_perf
	"$(workload ways)" threads threads fork threads >/dev/null &
	target=$!
	record -F 999 -p $target
	[ "$status" -eq 0 ]
	[ "$(samples_in burn)" -gt 100 ]
	[ "$(cum_of_arc forks in_child)" -gt 0 ]
	[ "$(jq '[.rows[] | select(.kind == "thread" and .cum[0] > 0)] | length' .report--xprof)" -ge 6 ]
}

@test "record: -p ends when its process does" {
	skip_unless_perf
	sleep 60 3>&- &
	target=$!
	"$ARCPROF" record -q -o trace -p $target 2>err 3>&- &
	background=$!
	until_it_records_as "$background"
	kill $target
	wait_for_end "$background"
	[ "$status" -eq 0 ]
	check_trace trace
}

# ends_as <signal>: of a process whose parent does not ask how it ended
ends_as() {
	sh -c 'sleep 60 & echo $! >pid; exec sleep 60' 3>&- &
	parent=$!
	until [ -s pid ]; do sleep 0.02; done
	read -r pid <pid
	"$ARCPROF" record -q -p "$pid" -o trace 2>err &
	recorder=$!
	until_it_records_as "$recorder"
	kill "-$1" "$pid"
	status=0
	wait "$recorder" || status=$?
	kill "$parent"
	rm pid
	cat err
	[ "$status" -eq 0 ]
}

@test "record: -p says in one line that the process crashed or was killed, and nothing of one that ended" {
	ends_as SEGV
	[ "$(cat err)" = "arcprof record: warning: process $pid died of SIGSEGV while it was recorded" ]
	ends_as KILL
	[ "$(cat err)" = "arcprof record: warning: process $pid died of SIGKILL while it was recorded" ]
	ends_as TERM
	[ ! -s err ]
}

@test "record: -t takes one thread" {
	skip_unless_perf
	"$(workload shares)" 100000 >/dev/null &
	target=$!
	record -F 999 -t $target -d 0.5
	[ "$status" -eq 0 ]
	[ "$(jq '[.rows[] | select(.kind == "thread")] | length' .report--xprof)" -eq 1 ]
	check_shares
}

@test "record: --delay leaves out what comes before, and does not outlast the program" {
	skip_unless_perf
	record -D 100 -- true
	[ "$status" -eq 0 ]
	[ "$(samples)" -eq 0 ]
	record -D 0.5 -F 999 -- sh -c "sleep 1; $(workload shares) 60"
	check_shares
	arcprof dump -i trace | awk '/ sample\./ && $1 < 0.5 { exit 1 }'
}

@test "record: several events stand beside each other, each with its own total" {
	skip_unless_perf
	record -F 999 -e cpu-clock,page-faults -- "$(workload shares)" 30
	arcprof report -i trace --xprof --metric cpu-clock,page-faults --format json >both
	total() {
		jq --arg m "$1" '.metrics[] | select(.name == $m) | .total' both
	}
	arcprof dump -i trace | sed -n 's/.*"event.1.count" value="\([0-9]*\)"/\1/p' >counted
	[ "$(total page-faults)" -eq "$(cat counted)" ]
	[ "$(total cpu-clock)" -gt 50000000 ]
	arcprof report -i trace --xprof --metric cpu-clock,page-faults | grep -q '^ Units :: events (page-faults); Total :: '
	[ "$(jq -c '[.metrics[].name]' .report--xprof)" = '["cpu-clock"]' ]	# the first, unless others are asked for
}

@test "record: page faults are as many as the kernel counted" {
	skip_unless_perf
	gcc -x c -O2 -o toucher - <<-'END'
		#include <stdio.h>
		#include <sys/mman.h>
		#include <sys/resource.h>
		int main(void)
		{
			struct rusage a, b;
			char *p = mmap(0, 4096 * 1000, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			madvise(p, 4096 * 1000, MADV_NOHUGEPAGE);
			getrusage(RUSAGE_SELF, &a);
			for (int i = 0; i < 1000; i++)
				p[i * 4096] = 1;
			getrusage(RUSAGE_SELF, &b);
			printf("%ld\n", b.ru_minflt - a.ru_minflt);
		}
	END
	record -e page-faults -m 64M -- ./toucher
	[ "$output" -ge 1000 ]
	lost=$(jq '.source.lost' .report--xprof)
	within "$(($(samples_in main) + lost))" "$output" 2
	total=$(arcprof dump -i trace | sed -n 's/.*"event.0.count" value="\([0-9]*\)"/\1/p')
	[ "$(($(samples) + lost))" -eq "$total" ]
}

@test "record: tracepoints are taken one by one" {
	skip_unless_root
	skip_unless_perf
	if [ ! -d /sys/kernel/tracing/events ]; then
		mount -t tracefs none /sys/kernel/tracing 2>/dev/null || skip "no tracefs"
		mounted=/sys/kernel/tracing
	fi
	record -e sched:sched_process_exec -- sh -c '/bin/true; /bin/true; /bin/true; :'
	[ "$status" -eq 0 ]
	[ "$(samples)" -eq 4 ]
}

@test "record: with -c n, every nth page fault is a sample that stands for n" {
	skip_unless_perf
	record -c 100 --clock=thread -e page-faults -- "$(workload touch)" 1 4000
	[ "$status" -eq 0 ]
	[ "$(samples)" -ge 40 ]
	[ "$(samples)" -le 45 ]
	[ "$(jq '.metrics[0].total' .report--xprof)" -eq $((100 * $(samples))) ]
}

@test "record: an overflowing ring counts its losses: samples and losses add up" {
	skip_unless_perf
	# A recorder that stands still for a while: the rings hold some tens of milliseconds. Much faster, timers come late.
	"$ARCPROF" record -o trace -F 2000 --clock=thread -m 64K -- "$(workload shares)" 120 2>err &
	recorder=$!
	sleep .3
	kill -STOP $recorder
	sleep .3
	kill -CONT $recorder
	wait $recorder
	stderr=$(cat err)
	check_trace trace
	lost=$(jq '.source.lost' .report--xprof)
	[ "$lost" -gt 0 ]
	arcprof report -i trace --xprof | head -n 1 | grep -q " $lost lost"
	ns=$(arcprof dump -i trace | sed -n 's/.*"event.0.count" value="\([0-9]*\)"/\1/p')
	within "$(($(samples) + lost))" "$((ns / 500000))" 5
	[[ $stderr == *" $lost lost"* ]]
	run_arcprof report -i trace --strict
	[ "$status" -eq 1 ]
}

@test "record: -a with -C takes samples on that CPU only, and names what was started elsewhere" {
	skip_unless_root
	skip_unless_perf
	last=$(($(nproc) - 1))
	record -F 999 -a --no-java -C 0 -- taskset -c 0 "$(workload shares)" 30
	[ "$status" -eq 0 ]
	check_shares
	arcprof dump -i trace | awk '/ sample\./ && !/ cpu=0 / { exit 1 }'
	record -F 999 -C 0 -- taskset -c $last sh -c "exec taskset -c 0 $(workload shares) 30"
	check_shares
}

# For tests that need the machine's settings otherwise; put back at the end.
with_sysctl() {
	local name=$1 value=$2 old
	shift 2
	old=$(cat /proc/sys/kernel/$name)
	echo "$value" >/proc/sys/kernel/$name || skip "kernel.$name cannot be set"
	status=0
	"$@" || status=$?
	echo "$old" >/proc/sys/kernel/$name
	return "$status"
}

nobodys() {
	(umask 0; mkdir -p nobody)
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/.." 2>/dev/null || true
	cp "$ARCPROF" "$(workload shares)" nobody/
	(cd nobody && as_nobody ./shares 1 >/dev/null) || skip "another user cannot reach this folder"
}

record_as_nobody() {
	cd nobody
	as_nobody ./arcprof record -F 1999 -o trace -- ./shares 60 >out 2>err
}

@test "record: another user records own programs, as far as perf_event_paranoid says" {
	skip_unless_root
	nobodys
	with_sysctl perf_event_paranoid 2 record_as_nobody
	cat err
	grep -q 'user code only' err
	check_trace trace
	check_shares
	! arcprof dump -i trace | grep -q ' sample.kernel ' || false
}

@test "record: a kernel allowed by perf_event_paranoid but without names (kptr_restrict) is reported" {
	skip_unless_root
	nobodys
	allowed() { with_sysctl perf_event_paranoid 1 record_as_nobody; }
	with_sysctl kptr_restrict 1 allowed
	cat err
	! grep -q 'user code only' err || false
	if arcprof dump -i trace | grep -q ' sample.kernel '; then
		grep -q 'kernel functions have no names: kernel.kptr_restrict' err
	fi
	check_trace trace
	check_shares
}

@test "record: if perf_event_paranoid allows nothing, another user sees an error" {
	skip_unless_root
	nobodys
	refused() { ! record_as_nobody; }
	with_sysctl perf_event_paranoid 3 refused || skip "this kernel knows no perf_event_paranoid 3"
	cat err
	grep -q perf_event_paranoid err
}

@test "record: another user may not record the whole system, and sees what would allow it" {
	skip_unless_root
	nobodys
	cd nobody
	status=0
	as_nobody ./arcprof record -a -d 0.1 -o trace 2>err || status=$?
	cat err
	[ "$status" -eq 125 ]
	grep -q perf_event_paranoid err
}
