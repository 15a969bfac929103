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
