#!/usr/bin/env bats
# Conditions of a recording: what is met is in the trace with its cause, and said where it is read.
load ../lib
load ../jdks

# Conditions that a trace says were met, in order: "when: cause".
triggers() {	# <trace>
	arcprof report --format json --limit 1 "$1" | jq -r '(.quality.triggers // [])[] | .when + ": " + .cause'
}

conditions_of_jvms() {
	run_arcprof record --when oom,failure --when 'gc > 1us' --when 'method Flight.serve>120ms' \
		--when 'method Flight.refuse > 20ms' --when 'method Flight.sleep>1h,method Flight.nothing>1ms' \
		-o trace -- java -Xmx64m -cp "$CLASSES" Flight serve=250 refuse=40 gc oom exit=3
	[ "$status" -eq 3 ]
	# once each: the holdoff is a minute
	triggers trace | tee list
	[ "$(wc -l <list)" -eq 5 ]
	# of a thousand calls the one that was slow, before it was over; and the outermost of 20
	sed -nE "s/^method (.*>) ?([0-9]+)ms: Flight\.[a-z]+ (has run for|took) ([0-9.]+) ms in thread 'main'$/\1 \2 \4/p" list |
		awk '$NF >= $(NF - 1) { print $1 }' | diff - <(printf '%s\n' 'Flight.serve>' 'Flight.refuse')
	arcprof report --limit 1 trace | grep -qx 'not recorded: method Flight.nothing>1ms: no class that was loaded has such a method'
	grep -qE '^gc > 1us: [0-9.]+ ms of Pause ' list
	grep -qx 'oom: Java heap space' list
	[ "$(tail -n 1 list)" = 'failure: exit status 3' ]
	# on standard error while it records, in the first lines of reports, with other events
	grep -qx 'arcprof record: oom: Java heap space' <<<"$stderr"
	arcprof report --limit 1 trace | grep -qE '^trigger at [0-9.]+ m?s: oom: Java heap space$'
	arcprof report --log=trigger --format csv trace | grep -c ',trigger,' | grep -qx 5
	[ "$(arcprof report --log=oom --format csv trace | grep -c ',out-of-memory,main,.*,Java heap space')" -ge 1 ]
	arcprof dump trace | grep -qE '24/3 +trigger .*when="oom" cause="Java heap space"'
}

@test "record --when: pauses, exhausted memory and the exit status of a JVM" { one_jdk newest conditions_of_jvms; }

@test "record --when: a signal, CPU time and memory of native programs; once per holdoff" {
	skip_unless_perf
	arcprof record --when 'signal:USR2,cpu>1%:1s,rss>1k,rss>1T' --holdoff 1h -o trace -- \
		sh -c 'kill -USR2 $PPID; kill -USR2 $PPID; i=0; while [ $i -lt 400000 ]; do i=$((i + 1)); done; sleep 2.5' 2>err
	triggers trace | tee list
	[ "$(wc -l <list)" -eq 3 ]
	grep -qx 'signal:USR2: SIGUSR2' list
	grep -qE '^cpu>1%:1s: [0-9.]+ % of a CPU over [0-9.]+ s$' list
	grep -qE '^rss>1k: [0-9.]+ MiB resident in process [0-9]+ \((sh|sleep)\)$' list
}

events_in_ring() {
	local f
	arcprof record --calltrace --callflow='Flight.*' --mode wrap --max-size 1M -o trace -- \
		java -cp "$CLASSES" Flight many=2500
	[ "$(stat -c %s trace)" -le 1048576 ]
	# the last part, which begins with what was open then, and has an entry or that for each end
	arcprof report --gen --event entry,exit,exception,open --thread main --format csv trace |
		cut -d , -f 3 | sed 1d >kinds
	[ "$(head -n 1 kinds)" = open ]
	awk '/entry|open/ { n++ } /exit|exception/ && --n < 0 { exit 1 }' kinds
}

@test "record --mode wrap --calltrace: the last calls, and those that were open before them" {
	use_jdk "$(jdks | tail -n 1)"
	events_in_ring
}

@test "record --when crash: a program that dies of a signal triggers, one that ends normally does not" {
	skip_unless_perf
	run_arcprof record --when crash,failure -o trace -- sh -c 'kill -SEGV $$'
	[ "$status" -eq 139 ]
	triggers trace | diff - <(printf '%s\n' 'crash: the program died of SIGSEGV' 'failure: the program died of SIGSEGV')
	run_arcprof record --when crash,failure -o trace -- true
	[ "$status" -eq 0 ]
	[ -z "$(triggers trace)" ]
	# a JVM says more
	use_jdk "$(jdks | tail -n 1)"
	run_arcprof record --when crash -o trace -- java -Xint -XX:-CreateCoredumpOnCrash -cp "$CLASSES" Flight crash
	[ "$status" -eq 1 ]
	triggers trace | grep -qxF "crash: a JVM crashed and wrote $(ls "$PWD"/hs_err_pid*.log)"
	# of others' processes: a JVM that was told in a file where to write, and what the kernel says of any
	to=$PWD/of_
	echo "-XX:ErrorFile=$to%p" >args
	( cd / && exec java -XX:-CreateCoredumpOnCrash @"$OLDPWD/args" -cp "$CLASSES" Flight steady=1500 crash ) >out 2>&1 3>&- &
	jvm=$!
	until grep -q . "/tmp/hsperfdata_$(id -un)/$jvm" 2>/dev/null; do sleep .1; done
	run_arcprof record --when crash --no-java -o trace -p $jvm
	triggers trace | grep -qxF "crash: a JVM crashed and wrote $to$jvm"
	sleep 60 3>&- &
	program=$!
	"$ARCPROF" record --when crash -o trace -p $program 2>err 3>&- &
	recorder=$!
	until arcprof ctl status -p $recorder 2>/dev/null | grep -q 'state: recording'; do kill -0 $recorder; sleep 0.1; done
	kill -SEGV $program
	wait $recorder || true
	cat err
	triggers trace | grep -qxF "crash: process $program (sleep) died of SIGSEGV" ||
		grep -q "how process $program ended only its parent knows" err
}

# Where the kernel lets us have one, of either version: a control group with 64 MiB.
memory_group() {
	local limit=memory.limit_in_bytes
	GROUP=/sys/fs/cgroup/memory/arcprof-test-$$
	if [ ! -d /sys/fs/cgroup/memory ]; then
		GROUP=/sys/fs/cgroup/arcprof-test-$$
		limit=memory.max
	fi
	mkdir "$GROUP" 2>/dev/null || return 1
	{ echo 64M >"$GROUP/$limit"; } 2>/dev/null && return
	rmdir "$GROUP"
	return 1
}

@test "record --when oom: the kernel kills a program for want of memory" {
	skip_unless_perf
	skip_unless_root
	memory_group || skip "no control group with a limit of memory can be made"
	run_arcprof record --when oom -o trace -- \
		sh -c "echo \$\$ >$GROUP/cgroup.procs; exec perl -e '\$x = \"a\" x 300e6; sleep 60'"
	rmdir "$GROUP"
	[ "$status" -eq 137 ]
	triggers trace | grep -E '^oom: the (program was killed when the kernel wanted memory|kernel killed a process of the control group)'
}

@test "record --when: invalid conditions are reported, with what is valid" {
	run_arcprof record --when 'cpu>80' -o trace -- true
	[ "$status" -eq 2 ]
	[[ $stderr == *"--when: 'cpu>80': '80' is not a share of a CPU, such as 80%"* ]]
	run_arcprof record --when 'disk>1G' -o trace -- true
	[ "$status" -eq 2 ]
	[[ $stderr == *"hint: conditions: signal:USR2, cpu>80%:10s, gc>200ms"* ]]
	run_arcprof record --when failure -p $$ -o trace
	[ "$status" -eq 2 ]
	[[ $stderr == *'--when failure needs a program to run'* ]]
	run_arcprof record --when oom --no-java -o trace -- true
	[ "$status" -eq 2 ]
	run_arcprof record --when 'method com.example.App.serve' -o trace -- true
	[ "$status" -eq 2 ]
	[[ $stderr == *"it is written as in 'method com.example.App.serve>500ms'"* ]]
	run_arcprof record --when 'method App.serve>1s' --callflow -o trace -- true
	[ "$status" -eq 2 ]
	[[ $stderr == *'cannot be combined: --when method and --callflow'* ]]
	[ ! -e trace ]
}

# Twenty samples for each millisecond: about half of what the ring takes.
last_part() {
	"$ARCPROF" record --mode wrap --max-size 2M -F 20000 --when failure -o w.data -- \
		java -cp "$CLASSES" Flight ready early=1500 late=1500 exit=3 >out 2>err &
	recorder=$!
	until arcprof ctl status -p $recorder 2>/dev/null | grep -q 'state: recording'; do sleep 0.1; done
	[ "$(stat -c %a w.data.ring)" = 700 ]
	until grep -q ready out; do sleep 0.1; done
	sleep 0.8
	arcprof ctl dump -p $recorder -o hand.data | grep -qE "^wrote the last [0-9.]+ s to $PWD/hand.data \([0-9.]+ KiB\)$"
	status=0
	wait $recorder || status=$?
	cat err
	[ "$status" -eq 3 ]
	# by hand, while it went on; by the condition, with time and cause; and at the end
	[ "$(stat -c %a hand.data)" = 600 ]
	triggers hand.data | grep -qx 'ctl dump: by hand'
	triggers w-*Z-failure.data | grep -qx 'failure: exit status 3'
	# whole traces: names, nothing damaged, every sample that the recorder counted
	arcprof report --xprof hand.data | grep -q 'Flight\.early'
	arcprof report --xprof w.data | grep -q 'Flight\.late'
	for f in hand.data w.data w-*Z-failure.data; do
		arcprof dump "$f" 2>&1 >/dev/null | tee damage
		[ ! -s damage ]
	done
	[ "$(arcprof report --format json w.data | jq .quality.samples)" -eq \
		"$(sed -n 's/^arcprof record: \([0-9]*\) samples of .*/\1/p' err)" ]
	[ ! -e w.data.ring ]
}

@test "record --mode wrap: a dump is a whole trace, by hand, by a condition and at the end" {
	skip_unless_perf
	use_jdk "$(jdks | tail -n 1)"
	last_part
}

@test "record --mode wrap: keeps the last part, and what a killed recorder leaves can be read" {
	skip_unless_perf
	"$ARCPROF" record --mode wrap --max-size 1M --no-compress -F 49999 -o w.data -- \
		sh -c 'while :; do i=0; while [ $i -lt 1000 ]; do i=$((i + 1)); done; done' 2>err &
	recorder=$!
	# each second a part, of which the first goes
	for _ in $(seq 200); do
		first=$(basename "$(find w.data.ring -name '2*.arc' 2>/dev/null | sort | head -n 1)")
		[ -z "$first" ] || break
		sleep 0.1
	done
	for _ in $(seq 300); do
		[ -e "w.data.ring/$first" ] || break
		sleep 0.1
	done
	[ ! -e "w.data.ring/$first" ]
	# what there is does not exceed the size but for names, however fast it comes
	for _ in $(seq 20); do
		du -sb w.data.ring 2>/dev/null | cut -f 1
		sleep 0.05
	done | sort -n | tee sizes
	[ "$(tail -n 1 sizes)" -lt 1200000 ]
	arcprof ctl dump -p $recorder -o hand.data
	[ "$(arcprof report --format json hand.data | jq .quality.samples)" -gt 0 ]
	child=$(pgrep -P $recorder)
	kill -KILL $recorder
	kill -KILL "$child"
	wait $recorder || true
	for f in w.data.ring/*.arc w.data.ring/.*.part; do
		[ "$(stat -c %a "$f")" = 600 ]
		arcprof report --format json "$f" | jq -e '.nodes != null or .stanzas != null' >/dev/null
	done
	# together, with the last one, they are one trace
	arcprof report w.data 2>&1 | grep -qF "hint: a flight recorder that was killed, or still runs, has left w.data.ring"
	arcprof merge --splice w.data.ring -o whole 2>&1 | grep -qE "^arcprof merge: $(find w.data.ring -name '*.arc*' | wc -l) segments?; wrote whole"
	[ "$(arcprof report --format json whole | jq .quality.samples)" -gt 0 ]
	# which ends where the part does that was cut off, not where the one before it has
	! arcprof dump whole | grep -q 'key="end.mono_ns"' || false
	# the next recorder leaves them where they are found
	arcprof record --mode wrap --max-size 1M -o w.data -- true
	[ -d w.data.ring.old ]
	[ ! -e w.data.ring ]
	[ -z "$(find w.data.ring.old -name '*.part')" ]
}

# What a file holds of a file system until there is no more.
fill() {	# <file>
	head -c 8M /dev/zero >"$1" 2>/dev/null || true
}

# A ring on a disk of its own with 1 MiB.
small_disk() {
	skip_unless_perf
	skip_unless_root
	mkdir small
	mount -t tmpfs -o size=3m,mode=700 none small || skip "no tmpfs can be mounted"
	head -c 2M /dev/zero >small/most
	"$ARCPROF" record --mode wrap --max-size 1M --no-compress -F 9999 -o small/w.data -- \
		sh -c 'while [ ! -e stop ]; do i=0; while [ $i -lt 1000 ]; do i=$((i + 1)); done; done' 2>said &
	recorder=$!
	for _ in $(seq 200); do
		[ "$(find small/w.data.ring -name '2*.arc' 2>/dev/null | wc -l)" -lt 2 ] || break
		sleep 0.1
	done
}

# How often it has stopped storing and not begun again: 1 or 0.
paused() {
	echo $(($(grep -c 'nothing is stored' said) - $(grep -c 'storing again' said)))
}

# Whoever fills the disk takes what the oldest parts had, too, until there is none.
fill_up() {
	local i
	for i in $(seq 200); do
		fill "small/fill$i"
		sleep 0.05
		[ "$(paused)" -eq 1 ] || continue
		fill "small/fill$i.more"
		sleep 1.2
		[ "$(paused)" -eq 0 ] || break
	done
}

@test "record --mode wrap: on a full disk the oldest goes; then it pauses, says so, and goes on" {
	small_disk
	fill small/fill
	sleep 0.5
	fill_up
	rm small/fill* small/most
	for _ in $(seq 100); do
		[ "$(paused)" -ne 0 ] || break
		sleep 0.1
	done
	sleep 0.5
	arcprof ctl dump -p $recorder -o hand.data
	touch stop
	wait $recorder || true
	cp small/w.data whole
	left=$(ls small)
	umount small
	cat said
	[ "$left" = w.data ]
	# as often as it stopped it went on
	[ "$(grep -c 'nothing is stored until there is room again: No space left on device' said)" -ge 1 ]
	[ "$(grep -c 'nothing is stored' said)" -eq "$(grep -c 'storing again; [1-9][0-9]* samples were lost meanwhile' said)" ]
	for f in hand.data whole; do
		arcprof dump "$f" 2>&1 >/dev/null | tee damage
		[ ! -s damage ]
		[ "$(arcprof report --format json "$f" | jq .quality.samples)" -gt 0 ]
	done
	# of the last trace that was closed while nothing could be stored, or the first after it
	[ "$(arcprof report --format json whole | jq .source.lost)" -ge 1 ]
}

@test "record --mode wrap: a disk that stays full" {
	small_disk
	fill_up
	run_arcprof ctl dump -p $recorder -o hand.data
	touch stop
	status=0
	wait $recorder || status=$?
	left=$(ls small)
	umount small
	cat said
	[ "$status" -ne 0 ]
	grep -q 'w.data is not complete: No space left on device' said
	[ "$(grep -c 'nothing is stored until there is room again' said)" -ge 1 ]
	# what there was room for, or the parts
	[[ $left == *w.data* ]]
}

@test "record --mode wrap: impossible requests are refused; links are not followed" {
	for args in '--mode wrap' '--mode wrap --max-size 64k' \
		'--mode wrap --max-size 1M -o -'; do
		# shellcheck disable=SC2086
		run_arcprof record $args -- true
		[ "$status" -eq 2 ]
		[[ $stderr == *wrap* ]]
	done
	mkdir elsewhere
	ln -s elsewhere w.data.ring
	run_arcprof record --mode wrap --max-size 1M -o w.data -- true
	[ "$status" -ne 0 ]
	[[ $stderr == *'links are not followed'* ]]
	[ -z "$(ls elsewhere)" ]
	run_arcprof ctl status -o x
	[ "$status" -eq 2 ]
	[[ $stderr == *'--output is only valid with dump'* ]]
}

@test "record --mode wrap --keep: dumps have a bound together, and other files stay" {
	skip_unless_perf
	run_arcprof record --mode wrap --max-size 2M --keep 1M -- true
	[ "$status" -eq 2 ]
	[[ $stderr == *'--keep: must be at least --max-size'* ]]
	touch w-2001-01-01T00.00.00Z-gc.data.Ab12Cd w.data.Ab12Cd	# the first is what a killed recorder wrote
	"$ARCPROF" record --mode wrap --max-size 1M --keep 1M -o w.data -- \
		sh -c 'while [ ! -e stop ]; do sleep 0.01; done' 2>err &
	recorder=$!
	until arcprof ctl status -p $recorder 2>/dev/null | grep -q 'state: recording'; do sleep 0.1; done
	arcprof ctl dump -p $recorder
	[ "$(echo *.Ab12Cd)" = w.data.Ab12Cd ]
	first=$(echo w-2*Z-ctl.data)
	# of a clock that was set back since, the oldest, and the next
	for year in 2999 2001 2002; do
		cp "$first" w-$year-01-01T00.00.00Z-gc.data
		truncate -s 600k w-$year-01-01T00.00.00Z-gc.data
	done
	echo mine >w-2000-01-01T00.00.00Z-gc.data
	cp "$first" other-2000-01-01T00.00.00Z-gc.data
	cp "$first" w-2000-01-01T00.00.00Z.data
	arcprof ctl dump -p $recorder
	touch stop
	wait $recorder
	ls -l
	[ ! -e w-2999-01-01T00.00.00Z-gc.data ]
	[ ! -e w-2001-01-01T00.00.00Z-gc.data ]
	[ -e w-2002-01-01T00.00.00Z-gc.data ]
	[ -e "$first" ]
	[ "$(find . -name 'w-20*Z-ctl*.data' | wc -l)" -eq 2 ]
	[ "$(cat w-2000-01-01T00.00.00Z-gc.data)" = mine ]
	[ -e other-2000-01-01T00.00.00Z-gc.data ]
	[ -e w-2000-01-01T00.00.00Z.data ]
}

@test "record --mode normal: reports say when it stopped, and count what came later separately from losses" {
	skip_unless_perf
	local args
	for args in "-e cpu-clock -F 4999 -- $(workload shares) 75" "-e wall=1ms -- $(workload sleeps) 2000 10"; do
		# shellcheck disable=SC2086
		arcprof record --mode normal --max-size 64k --no-compress -o n.data $args 2>said
		cat said
		grep -qE ', 0 lost, [0-9]+ not stored as they came after [0-9.]+ s, when --max-size was reached' said
		arcprof report -i n.data | head -n 1 | tee head
		grep -qE ', 0 lost, stopped storing after [0-9.]+ m?s at --max-size \([0-9]+ came later\)' head
		arcprof report --format json -i n.data |
			jq -e '.source.lost == 0 and .quality.after_stop > 0 and .quality.stopped_ns > 0 and
				.quality.stopped_ns < .source.duration_ns'
		arcprof report --check -i n.data
		run_arcprof report --strict -i n.data
		[ "$status" -eq 1 ]
		[[ $stderr == *'stopped storing after'* ]]
	done
	arcprof record --sched --no-samples --mode normal --max-size 64k --no-compress -o n.data -- \
		"$(workload sleeps)" 4000 10 2>said
	cat said
	grep -qE ' dispatches, 0 lost \(those after [0-9.]+ s, when --max-size was reached, are not stored\)' said
	arcprof report --sched -i n.data | head -n 1 | tee head
	grep -qE ' 0 lost, stopped storing after [0-9.]+ m?s at --max-size \([0-9]+ came later\)' head
	arcprof report --check -i n.data
}
