#!/usr/bin/env bats
# refusals.bats - each system call of a list fails in turn, with EPERM, ENOSYS or EACCES: a command works by other means,
# or says in one line what failed and ends with a failure.  It does not hang or crash, and is not empty and content.
# And programs that take rights from themselves end as they do without a recorder.
#
# REFUSALS=all tries each error with each command (minutes).
load ../lib
load ../java

CALLS="perf_event_open bpf ptrace process_vm_readv timer_create memfd_create pidfd_open getrandom openat2 epoll_create1
	ioctl capget"

setup_file() {
	local rc=0
	[ -x "$BUILD/t/tools/deny" ] || make -s -C "$TOP" build/t/tools/deny
	"$BUILD/t/tools/deny" bpf true 2>/dev/null || rc=$?
	[ "$rc" -ne 77 ] || skip "system call filters are not permitted here"
}

teardown() {
	[ ! -s pid ] || kill -9 "$(<pid)" || :
}

# refused <error> <call> <command>...
refused() {
	local option=()
	case $1 in
	ENOSYS) option=(-n) ;;
	EACCES) option=(-a) ;;
	esac
	status=0
	rm -rf t t.hprof
	timeout -k 5 60 "$BUILD/t/tools/deny" "${option[@]}" "$2" "$ARCPROF" "${@:3}" >out 2>err </dev/null || status=$?
	slurp output out
	slurp stderr err
	echo "\$ $1 of $2: ${*:3} (status $status)"
	printf '%.1000s\n' "$output" "$stderr"
	if [ "$status" -eq 0 ]; then
		[[ -s t.hprof || $stderr$output == *[1-9]* ]]
		[[ ! $stderr =~ (^|[^0-9])0\ (samples|branches|instructions|calls)\ [^,]*\ in ]]
	else
		[ "$status" -le 125 ] && [ "$status" -ne 124 ]
		[[ $stderr == "arcprof $3: "* ]]
	fi
}

# sweep <command> for each line of stdin: EPERM of each call, the other errors by turns
sweep() {
	local commands=() call command errors=(ENOSYS EACCES) n=0
	mapfile -t commands
	for call in "$@"; do
		for command in "${commands[@]}"; do
			# shellcheck disable=SC2086	# words
			refused EPERM "$call" $command
			if [ "${REFUSALS:-}" = all ]; then
				refused ENOSYS "$call" $command
				refused EACCES "$call" $command
			fi
		done
		# shellcheck disable=SC2086	# words
		refused "${errors[n % 2]}" "$call" ${commands[n / 2 % ${#commands[@]}]}
		n=$((n + 1))
	done
}

# Not beside others: ptt has one session a machine.
@test "refusals: native programs are still recorded, traced and counted, or an error says why not" {
	skip_unless_perf
	local pid shares
	shares=$(workload shares)
	"$(workload spin)" 1000000 >spin.out &
	pid=$!
	echo "$pid" >pid
	# shellcheck disable=SC2086	# words
	sweep $CALLS <<-end
		record -o t -- $shares 2
		record -d 200ms -o t -p $pid
		record -e wall=1ms -o t -- sleep 0.05
		itrace -o t -- true
		ptt run -- $shares 1
		top -n 1 -d 100ms
	end
}

# bats test_tags=stored
@test "refusals: running JVMs are still recorded and inspected, or an error says why not" {
	use_any_jdk
	skip_unless_perf
	local pid
	java -XX:-UsePerfData -cp "$CLASSES" Shares 1000000 >java.out 2>&1 &
	pid=$!
	echo "$pid" >pid
	sleep 1
	sweep perf_event_open process_vm_readv memfd_create getrandom <<-end
		record -d 300ms -o t -p $pid
		threads -p $pid
		heap dump -p $pid -o t.hprof
	end
	kill -0 "$pid"
}

# bats test_tags=stored
@test "refusals: a program whose agents cannot be heard is not started, and that is an error" {
	use_any_jdk
	refused EPERM socket record --callflow=Shares -o t -- java -cp "$CLASSES" Shares 10
	[ "$status" -eq 125 ]
	[ ! -e t ]
	[[ $stderr == "arcprof record: "*"Operation not permitted"* ]]
}

# bats test_tags=stored
@test "refusals: without pidfds a running JVM takes the agent, and signals find it" {
	use_any_jdk
	skip_unless_perf
	java -XX:-UsePerfData -cp "$CLASSES" Shares 1000000 >java.out 2>&1 &
	echo $! >pid
	sleep 1
	refused ENOSYS pidfd_open record -d 300ms -o t -p "$(<pid)"
	[ "$status" -eq 0 ]
	[[ $stderr == *", 1 JVM; "* ]]
	refused EPERM pidfd_open,pidfd_send_signal threads -p "$(<pid)"
	[ "$status" -eq 0 ]
	[[ $output == *'"main"'* ]]
}

# bats test_tags=stored
@test "refusals: what is denied is named, and a hint fits" {
	skip_unless_perf
	refused EPERM ioctl record -o t -- true
	[[ $stderr == *": perf events cannot share a buffer (ioctl): "* ]]
	refused EPERM epoll_create1 record -o t -- true
	[[ $stderr == *"(epoll): "* ]]
	[ "$(id -u)" -eq 0 ] || return 0
	refused EACCES bpf record -e wall=1ms -o t -- sleep 0.2
	[[ $stderr == *"BPF: loading the programs: Permission denied"*"a system call filter may forbid it"* ]]
	[[ $stderr != *"needs Linux"* ]]
}

# bats test_tags=stored
@test "refusals: record -e wall says that stacks cannot be read, before and after" {
	skip_unless_perf
	refused EPERM process_vm_readv record -e wall=1ms -o t -- sleep 0.2
	[ "$status" -eq 0 ]
	[[ $stderr == *"not recorded: callers of waits"*"process_vm_readv: Operation not permitted"*seccomp* ]]
	run_arcprof report -i t
	[[ $output == *"not recorded: callers of waits"* ]]
}

# bats test_tags=stored
@test "refusals: programs that confine themselves end as they do alone" {
	skip_unless_perf
	local how want got way confined
	confined=$(workload confined)
	[ -x "$confined" ]
	for how in strict kill errno user chroot mounts pids users; do
		want=0
		"$confined" "$how" >want.out || want=$?
		[ "$want" -ne 77 ] || continue
		for way in "" "-e wall" "-e native-memory" "-e lock"; do
			got=0
			# shellcheck disable=SC2086	# words
			timeout 60 "$ARCPROF" record -q $way -o t -- "$confined" "$how" >got.out 2>got.err || got=$?
			echo "$how, record $way: $got, alone $want: $(cat got.err)"
			[ "$got" -eq "$want" ]
			cmp want.out got.out
		done
	done
}
