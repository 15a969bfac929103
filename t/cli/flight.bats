#!/usr/bin/env bats
# Conditions of a recording: what is met is in the trace with its cause, and said where it is read.
load ../lib
load ../java

setup_file() {
	prepare_jdks
}

# Conditions that a trace says were met, in order: "when: cause".
triggers() {	# <trace>
	arcprof report --format json --limit 1 "$1" | jq -r '(.quality.triggers // [])[] | .when + ": " + .cause'
}

conditions_of_jvms() {
	run_arcprof record --when oom,failure --when 'gc > 1us' -o trace -- java -Xmx64m -cp "$CLASSES" Flight gc oom exit=3
	[ "$status" -eq 3 ]
	# once each: the holdoff is a minute
	triggers trace | tee list
	[ "$(wc -l <list)" -eq 3 ]
	grep -qE '^gc > 1us: [0-9.]+ ms of Pause ' list
	grep -qx 'oom: Java heap space' list
	[ "$(tail -n 1 list)" = 'failure: exit status 3' ]
	# on standard error while it records, in the first lines of reports, with other events
	grep -qx 'arcprof record: oom: Java heap space' <<<"$stderr"
	arcprof report --limit 1 trace | grep -qE '^trigger at [0-9.]+ m?s: oom: Java heap space$'
	arcprof report --log=trigger --format csv trace | grep -c ',trigger,' | grep -qx 3
	[ "$(arcprof report --log=oom --format csv trace | grep -c ',out-of-memory,main,.*,Java heap space')" -ge 1 ]
	arcprof dump trace | grep -qE '24/3 +trigger .*when="oom" cause="Java heap space"'
}

@test "record --when: pauses, exhausted memory and the exit status of a JVM" { each_jdk conditions_of_jvms; }

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

@test "record --when crash: a program that dies of a signal, and one that ends well" {
	skip_unless_perf
	run_arcprof record --when crash,failure -o trace -- sh -c 'kill -SEGV $$'
	[ "$status" -eq 139 ]
	triggers trace | diff - <(printf '%s\n' 'crash: the program died of SIGSEGV' 'failure: the program died of SIGSEGV')
	run_arcprof record --when crash,failure -o trace -- true
	[ "$status" -eq 0 ]
	[ -z "$(triggers trace)" ]
}

@test "record --when: what is wrong is said, and what is right" {
	run_arcprof record --when 'cpu>80' -o trace -- true
	[ "$status" -eq 2 ]
	[[ $stderr == *"--when: 'cpu>80': '80' is not a share of a CPU, such as 80%"* ]]
	run_arcprof record --when 'disk>1G' -o trace -- true
	[ "$status" -eq 2 ]
	[[ $stderr == *"hint: conditions: signal:USR2, cpu>80%:10s, gc>200ms"* ]]
	run_arcprof record --when crash -p $$ -o trace
	[ "$status" -eq 2 ]
	[[ $stderr == *'--when crash needs a program to run'* ]]
	run_arcprof record --when oom --no-java -o trace -- true
	[ "$status" -eq 2 ]
	[ ! -e trace ]
}

# A sample for each millisecond, of stacks that differ: the ring goes round.
last_part() {
	"$ARCPROF" record --mode wrap --max-size 1M -F 20000 --when failure -o w.data -- \
		java -cp "$CLASSES" Flight early=2500 late=2500 exit=3 2>err &
	recorder=$!
	until arcprof ctl status -p $recorder 2>/dev/null | grep -q 'state: recording'; do sleep 0.1; done
	[ "$(stat -c %a w.data.ring)" = 700 ]
	sleep 2
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

@test "record --mode wrap: what is dumped is a whole trace, by hand, by a condition and at the end" {
	skip_unless_perf
	use_jdk "$(jdks | tail -n 1)"
	last_part
}

@test "record --mode wrap: keeps the last part, and what a killed recorder leaves can be read" {
	skip_unless_perf
	"$ARCPROF" record --mode wrap --max-size 1M --no-compress -F 20000 -o w.data -- \
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
	[ "$(du -sb w.data.ring | cut -f 1)" -lt 4000000 ]
	child=$(pgrep -P $recorder)
	kill -KILL $recorder
	kill -KILL "$child"
	wait $recorder || true
	for f in w.data.ring/*.arc w.data.ring/.*.part; do
		[ "$(stat -c %a "$f")" = 600 ]
		arcprof report --format json "$f" | jq -e '.nodes != null or .stanzas != null' >/dev/null
	done
	# the next recorder leaves them where they are found
	arcprof record --mode wrap --max-size 1M -o w.data -- true
	[ -d w.data.ring.old ]
	[ ! -e w.data.ring ]
	[ -z "$(find w.data.ring.old -name '*.part')" ]
}

@test "record --mode wrap: what it cannot do is said; links are not followed" {
	for args in '--mode wrap' '--mode wrap --max-size 64k' '--mode wrap --max-size 1M --sched' \
		'--mode wrap --max-size 1M --callflow' '--mode wrap --max-size 1M -o -'; do
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
