#!/usr/bin/env bats
load ../lib
load ../java

# A session of BPF or of the module is one for the machine: the user's own stays as it is.
setup() {
	trace_errors_only
	cd "$BATS_TEST_TMPDIR" || return 1
	export XDG_RUNTIME_DIR=$BATS_TEST_TMPDIR/run
	mkdir -m 700 "$XDG_RUNTIME_DIR"
	arcprof ptt info | grep -q "^No session" || skip "a session is running on this machine"
}

teardown() {
	[ -z "$ours" ] || "$ARCPROF" ptt term 2>/dev/null || true
	rm -rf "$BATS_RUN_TMPDIR/open" /tmp/arcprof-65534
}

begin() {
	"$ARCPROF" ptt init -q "$@" 2>err || { cat err; return 1; }
	ours=yes
}

have_bpf() {
	[ "$(arcprof doctor --format json | jq -r '.checks[] | select(.id == "bpf") | .state')" = ok ]
}

skip_unless_bpf() {
	have_bpf || skip "BPF sessions do not work here: $(arcprof ptt info | sed -n 's/^  bpf *//p')"
}

# A loop of $1 million rounds; "spin 3 &" leaves the loop's own process in $!.
spin() {
	local loop='BEGIN { for (i = 0; i < n * 1000000; i++) x += i }'
	if [ "$BASHPID" = "$$" ]; then
		awk -v n="$1" "$loop"
	else
		exec awk -v n="$1" "$loop"
	fi
}

thread_field() {	# <pid> <field>, of the JSON in $output
	json "[.samples[0].processes[] | select(.pid == $1) | .threads[] | select(.tid == $1) | .\"$2\"][0]"
}

@test "ptt: info without a session says which back ends work, and why the others do not" {
	run_arcprof ptt info
	[ "$status" -eq 0 ]
	[ "$(grep -cE '^  (bpf|module|proc) +(works here|n/a: .+)$' <<<"$output")" -eq 3 ]
	run_arcprof ptt dump
	[ "$status" -eq 1 ]
	[[ $stderr == *"no session is running"*"arcprof ptt init"* ]]
	run_arcprof ptt term
	[ "$status" -eq 1 ]
}

@test "ptt: a session outlives init, sees threads that come later, and is gone after term" {
	skip_unless_bpf
	begin
	spin 3 &
	pid=$!
	wait "$pid"
	run_arcprof ptt dump --format json
	[ "$status" -eq 0 ]
	[ "$(json .backend)" = bpf ]
	[ "$(thread_field "$pid" alive)" = false ]
	[ "$(thread_field "$pid" dispatches)" -ge 1 ]
	[ "$(thread_field "$pid" task-clock_ns)" -ge 10000000 ]
	[ "$(thread_field "$pid" page-faults)" -ge 10 ]
	run_arcprof ptt init
	[ "$status" -eq 1 ]
	[[ $stderr == *"a session is running already"* ]]
	arcprof ptt info | grep -q '^Back end: *bpf$'
	arcprof ptt term
	ours=
	arcprof ptt info | grep -q '^No session'
	[ ! -e /sys/fs/bpf/arcprof ]
}

@test "ptt: the time of a process and of its interrupts is what the kernel counted for it" {
	skip_unless_bpf
	begin
	# the shell's own figure, in clock ticks, from /proc
	sh -c 'i=0; while [ $i -lt 400000 ]; do i=$((i + 1)); done; read -r line </proc/self/schedstat; echo "$line $$"' >own
	read -r ns _ _ pid <own
	run_arcprof ptt dump --format json
	got=$(($(thread_field "$pid" task-clock_ns) + $(thread_field "$pid" irq-time_ns)))
	echo "$got against $ns"
	within "$got" "$ns" 10
}

@test "ptt: each process is the sum of its threads, and every CPU that of its buckets" {
	skip_unless_bpf
	begin
	spin 1
	run_arcprof ptt dump --format json
	jq -e 'all(.samples[0].processes[]; ([.threads[]."task-clock_ns"] | add) == .total."task-clock_ns" and
		([.threads[].dispatches] | add) == .total.dispatches)' <<<"$output"
	jq -e 'all(.samples[0].cpus[]; .idle_ns + .other_ns + .threads_ns + .hardirq_ns + .softirq_ns == .elapsed_ns)' \
		<<<"$output"
	[ "$(json '.samples[0].cpus | length')" -eq "$(getconf _NPROCESSORS_ONLN)" ]
	# what threads have, CPUs gave them; both are read one after the other
	threads=$(json '[.samples[0].processes[].total."task-clock_ns"] | add')
	cpus=$(json '[.samples[0].cpus[].threads_ns] | add')
	within "$threads" "$cpus" 5
}

@test "ptt: text, CSV and JSON have the same rows, in the order asked for" {
	skip_unless_bpf
	begin
	spin 1
	arcprof ptt dump --format csv >rows
	head -n 1 rows | grep -qx 'unix_ns,pid,tid,alive,dispatches,interrupts,task-clock_ns,irq-time_ns,page-faults,context-switches,migrations,name'
	arcprof ptt dump --sort pid --format csv | awk -F, 'NR > 2 && $2 < last { exit 1 } { last = $2 }'
	arcprof ptt dump --sort dispatches --format json |
		jq -e '[.samples[0].processes[].total.dispatches] as $d | $d == ($d | sort | reverse)'
	arcprof ptt dump --metric task-clock,dispatches --cpus >text
	grep -qE '^ +PID +TID +Time ms +Disp +Name$' text
	follows_columns dispatches,tid - ptt dump
	arcprof ptt dump --columns dispatches,name | sed -n 3p | grep -qE '^ +Disp +Name *$'
	[ "$(grep -cE '^[0-9]+ +[0-9]+\.[0-9]{6}' text)" -eq "$(getconf _NPROCESSORS_ONLN)" ]
	[ "$(arcprof ptt dump --alive --format json | jq '[.samples[0].processes[].threads[] | select(.alive | not)] | length')" -eq 0 ]
	arcprof ptt dump -p 999999999 | grep -qx '999999999 \*\* No Data \*\*'
	run_arcprof ptt dump --metric cycles
	[ "$status" -eq 1 ]
	[[ $stderr == *"--metric: 'cycles' is not a metric of this session"* ]]
}

@test "ptt: with --pid only these processes and their children have places" {
	skip_unless_bpf
	mkfifo go
	sh -c 'read -r line <go; sh -c "awk \"BEGIN { for (i = 0; i < 500000; i++) x += i }\"; exit"; exit' &
	pid=$!
	begin --pid $pid
	spin 1 &
	other=$!
	echo >go
	wait $pid $other
	run_arcprof ptt dump --format json
	[ "$(thread_field $pid dispatches)" -ge 1 ]
	[ "$(thread_field $other dispatches)" = null ]
	[ "$(json '[.samples[0].processes[].threads[].name] | index("awk") != null')" = true ]
}

@test "ptt: with --interval each table is that of its interval" {
	skip_unless_bpf
	begin
	spin 1000 &
	pid=$!
	run_arcprof ptt dump -t 0.2 -d 0.6 --format json
	kill $pid
	[ "$status" -eq 0 ]
	[ "$(json '.samples | length')" -eq 3 ]
	jq -e 'all(.samples[]; .elapsed_ns as $t | all(.processes[].threads[]; ."task-clock_ns" <= $t * 1.05 + 5000000))' <<<"$output"
	jq -e 'all(.samples[].cpus[]; .elapsed_ns >= 150000000)' <<<"$output"
}

@test "ptt: when places run out, those of ended threads are used again and nothing gets lost" {
	skip_unless_bpf
	begin --threads 64 --pid $BASHPID
	for ((i = 0; i < 120; i++)); do
		/bin/true
	done
	run_arcprof ptt dump --format json
	[ "$(json '.samples[0].threads_ended_before')" -ge 50 ]
	[ "$(json '.samples[0].ended_before."task-clock_ns"')" -gt 0 ]
	[ "$(json '[.samples[0].processes[].threads[]] | length')" -le 64 ]
}

@test "ptt: without interrupts set apart, they are in the time and have no column" {
	skip_unless_bpf
	begin --noints
	run_arcprof ptt dump
	[[ ${output%%$'\n'*} == *"interrupts in the threads' time"* ]]
	[ "$(grep -c Intr <<<"$output")" -eq 0 ]
	[ ! -e /sys/fs/bpf/arcprof/on_softirq_entry ]
}

@test "ptt: an event that the machine counts has a column, others are n/a with the reason" {
	skip_unless_bpf
	ours=yes
	run_arcprof ptt init page-faults cpu-clock context-switches
	[ "$status" -eq 0 ]
	spin 1
	run_arcprof ptt dump --format json --cpi
	[ "$(json '.metrics | index("cpu-clock") != null')" = true ]
	[ "$(json '[.samples[0].processes[].total."cpu-clock"] | add > 0')" = true ]
	[ "$(json '.samples[0].processes[0].total.cpi')" = null ]
	arcprof ptt term
	event=$(arcprof mpevt list --format json | jq -r '[.events[] | select(.works | not)][0].event // empty')
	[ -n "$event" ] || skip "every event works here"
	run_arcprof ptt init "$event"
	[ "$status" -eq 0 ]
	[[ $stderr == *"n/a: $event: "* ]]
}

@test "ptt: run shows a program's threads and children, and ends with its status" {
	run_arcprof ptt run --format json -f out -- sh -c 'awk "BEGIN { for (i = 0; i < 300000; i++) x += i }"; exit 7'
	[ "$status" -eq 7 ]
	[ "$(json '.samples | length' out)" -eq 1 ]
	if [ "$(json .backend out)" = bpf ]; then
		[ "$(json '[.samples[0].processes[].name] | sort | join(" ")' out)" = "awk sh" ]
	fi
	arcprof ptt info | grep -q '^No session'
	run_arcprof ptt run -- /nonexistent
	[ "$status" -eq 127 ]
	arcprof ptt info | grep -q '^No session'
	run_arcprof ptt run -- sh -c 'kill -TERM $$'
	[ "$status" -eq 143 ]
}

@test "ptt: run accounts for a program's consumption with every back end" {
	for b in bpf proc; do
		[ $b = proc ] || have_bpf || continue
		arcprof ptt run -q --backend $b --format json -f out -- sh -c '
			awk "BEGIN { for (i = 0; i < 3000000; i++) x += i }"; sh -c times' >/dev/null
		total=$(json '([.samples[0].processes[].total."task-clock_ns"] + [.samples[0].ended_before."task-clock_ns"]) | add' out)
		echo "$b: $total"
		[ "$total" -ge 20000000 ]
	done
}

@test "ptt: a user without privileges has a session of his own" {
	skip_unless_root
	mkdir "$BATS_RUN_TMPDIR/open"
	cp "$ARCPROF" "$BATS_RUN_TMPDIR/open/arcprof"
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/open" "$BATS_RUN_TMPDIR/open/arcprof"
	as_user() { as_nobody env -u XDG_RUNTIME_DIR "$BATS_RUN_TMPDIR/open/arcprof" ptt "$@"; }
	as_user init >out 2>&1
	[[ $(cat out) == *"with proc"* ]]
	! have_bpf || [[ $(cat out) == *"CAP_BPF"* ]]
	spin 3
	as_user dump --format json >dump
	as_user term
	status=0
	as_user dump >out 2>&1 || status=$?
	[ "$status" -eq 1 ]
	[ "$(json .backend dump)" = proc ]
	[ "$(json '.samples[0].cpus | length' dump)" -eq 0 ]
	[ "$(json '[.samples[0].processes[].total."task-clock_ns"] | add > 0' dump)" = true ]
}

@test "ptt: others may read a session only with --all-users, and never end it" {
	skip_unless_root
	skip_unless_bpf
	mkdir "$BATS_RUN_TMPDIR/open"
	cp "$ARCPROF" "$BATS_RUN_TMPDIR/open/arcprof"
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/open" "$BATS_RUN_TMPDIR/open/arcprof"
	as_user() { as_nobody env -u XDG_RUNTIME_DIR "$BATS_RUN_TMPDIR/open/arcprof" ptt "$@"; }
	begin
	run as_user dump
	[ "$status" -eq 1 ]
	echo "$output" >out
	grep -q -- --all-users out
	arcprof ptt term
	begin --all-users
	as_user dump --format json >dump
	run as_user term
	[ "$status" -eq 1 ]
	rm -rf "$BATS_RUN_TMPDIR/open" /tmp/arcprof-65534
	[ "$(json .backend dump)" = bpf ]
	arcprof ptt info | grep -q '^Back end: *bpf$'
}

@test "ptt: metrics agree with the kernel's clocks, CPUs with the time elapsed, reads never go back" {
	skip_unless_bpf
	"$BUILD/t/tools/ptt-agree" bpf
}

@test "ptt: without a session a thread's own time agrees too, by perf's page and by the clock" {
	skip_unless_perf
	"$BUILD/t/tools/ptt-agree" perf busy
	"$BUILD/t/tools/ptt-agree" clock busy
}

@test "ptt: reading one's own time makes no system call" {
	skip_unless_bpf
	skip_unless_command strace
	strace -o calls "$BUILD/t/tools/ptt-agree" bpf reads 100000
	[ "$(grep -c getppid calls)" -eq 2 ]
	[ "$(sed -n '/getppid/,/getppid/p' calls | wc -l)" -eq 2 ]
}

@test "ptt: the examples of the library compile and run, with a session and without" {
	skip_unless_command gcc
	for example in "$TOP"/Documentation/examples/*.c; do
		gcc -Wall -Wextra -Werror -O2 -I "$TOP/lib/api" -o example "$example" "$BUILD/libarcprof.a" -pthread
		./example >plain
		grep -qE '(perf|clock)' plain
		have_bpf || continue
		begin
		./example >session
		arcprof ptt term
		grep -q 'bpf' session
		sleep 100 &
		other=$!
		begin --pid $other
		./example >of_another
		arcprof ptt term
		kill $other
		grep -qE '(perf|clock)' of_another
	done
}

@test "ptt: the header is C++ too, and the library exports nothing but its own names" {
	skip_unless_command g++
	g++ -x c++ -std=c++11 -Wall -Werror -fsyntax-only "$TOP/lib/api/arcprof.h"
	! nm -g --defined-only "$BUILD/libarcprof.a" | awk 'NF == 3 { print $3 }' | grep -v '^arcprof_' || false
}

# The back end, and that threads' times differ by less: time that the hypervisor takes away is in one clock only, so
# on a busy machine not each try will do.
own_time() {	# <back end's pattern> <percent>
	local percent backend i
	for i in 1 2 3 4; do
		read -r percent backend <<<"$(own OwnTime)"
		echo "$backend: $percent %"
		[[ $backend =~ ^($1)$ ]] || return 1
		awk -v p="$percent" -v most="$2" 'BEGIN { exit !(p < most) }' && return
	done
	return 1
}

@test "ptt: Java threads measure themselves as the JVM's clock does" {
	use_any_jdk
	compile_java -d . "$TOP/Documentation/examples/ThreadTimeExample.java"
	own() { java -cp "$BUILD/arcprof.jar:$CLASSES:." -Djava.library.path="$BUILD" "$@" 2>&1 | tail -n 1; }
	own_time 'perf|clock' 5
	own ThreadTimeExample | grep -qE '^(perf|clock): [0-9.]+ ms$'
	have_bpf || return 0
	begin
	own_time bpf 10
	own ThreadTimeExample | grep -qE '^bpf: [0-9.]+ ms, and [0-9.]+ ms in [0-9]+ interrupts$'
}

@test "ptt: on a machine without /sys these tests pass or skip, and leave nothing in /tmp" {
	skip_unless_root
	unshare -m true 2>/dev/null || skip "no mount namespace can be made"
	mkdir "$BATS_RUN_TMPDIR/inner"
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/inner"
	env -i PATH="${PATH#*bats-core:}" TMPDIR="$BATS_RUN_TMPDIR/inner" unshare -m sh -c 'umount -l /sys && exec bats --tap -f "without privileges|examples|outlives" "$1"' \
		sh "$BATS_TEST_FILENAME" >inner 2>&1 </dev/null || { cat inner; return 1; }
	grep -q '^1\.\.3' inner
	[ ! -e /tmp/arcprof-65534 ]
}

@test "ptt: usage errors are reported before anything is started" {
	while read -r args; do
		# shellcheck disable=SC2086
		run_arcprof ptt $args
		[ "$status" -eq 2 ]
		[ -z "$output" ]
		[ -n "$stderr" ]
	done <<-'END'

		begin
		run
		dump 5
		dump -r 5
		dump -t 0.0001
		init -t 1
		init -p x
		init -p 999999999
		init --threads 1
		init no-such-event
		term -p 1
		info --backend bpf
	END
}

@test "ptt: names of threads are escaped in text and CSV" {
	name=$'=p\e[3m\n\x9b1m'
	cp "$(command -v sh)" "./$name"
	for format in text csv json; do
		# shellcheck disable=SC2016
		arcprof ptt run --backend=proc --format "$format" -- "./$name" -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done' >out
		iconv -f UTF-8 -t UTF-8 out >/dev/null
		[ "$(LC_ALL=C grep -cP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' out)" -eq 0 ]
		[ "$format" = json ] || grep -qF '=p\x1b[3m\n\x9b1m' out
	done
	arcprof ptt run --backend=proc --format csv -- "./$name" -c : | grep -qF "\"'=p"
}
