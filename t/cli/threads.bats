#!/usr/bin/env bats
# Threads of JVMs whose locks are known: who waits for whom, and deadlocks of all kinds.
load ../lib
load ../java

setup_file() {
	skip_unless_java
	prepare_jdks
}

teardown() {
	[ -z "${JVM-}" ] || kill -KILL "$JVM" || true
}

# start_locks <plan>...: runs t/workloads/Locks.java, with its number in $JVM.
start_locks() {
	local i
	rm -f in out
	mkfifo in
	"$JAVA_HOME/bin/java" ${JAVA_OPTS-} -cp "$CLASSES" Locks "$@" <in >out 2>err 3>&- &
	JVM=$!
	exec 7>in
	for ((i = 0; i < 1200; i++)); do
		grep -qx ready out && return
		kill -0 "$JVM" || { cat err; return 1; }
		sleep 0.05
	done
	return 1
}

end_locks() {
	exec 7>&-
	wait "$JVM"
	local status=$?
	JVM=
	return $status
}

look() {
	arcprof threads -p "$JVM" --format json >threads.json
}

# The names of each deadlock's threads, sorted: one line a deadlock.
cycles() {
	jq -r '. as $d | .deadlocks[] | map(. as $i | $d.threads[] | select(.id == $i) | .name) | sort | join(", ")' \
		threads.json | sort
}

# What a thread waits for, and what it holds: "enter java.lang.Object pp-mm 2".
wait_of() {
	jq -r --arg n "$1" '. as $d | .threads[] | select(.name == $n).waits_for |
		.owner as $o | "\(.how) \(.class) \($d.threads[] | select(.id == $o) | .name)"' threads.json
}

plans() {
	local x plans="pp-mm pp-rr pp-ww pp-mr pp-rw"
	[ "$JDK" -lt 25 ] || plans+=" vv-mm vv-rr vv-mr vv-ww pv-mm pv-rr pv-mr vp-mr"
	echo "$plans"
}

finds_every_cycle() {
	local plan
	start_locks $(plans)
	look
	end_locks
	for plan in $(plans); do
		echo "$plan 1, $plan 2"
	done | sort >planted
	cycles | tee found
	diff planted found
	[ "$(wait_of "pp-mr 1")" = "park java.util.concurrent.locks.ReentrantLock\$NonfairSync pp-mr 2" ]
	[ "$(wait_of "pp-mr 2")" = "enter java.lang.Object pp-mr 1" ]
	# the monitor that one wants is that which the other holds, in the frame that locked it
	jq -e '[.threads[] | select(.name | startswith("pp-mm"))] | length == 2 and
		.[0].waits_for.hash == .[1].holds[0].hash and .[1].waits_for.hash == .[0].holds[0].hash and
		all(.[]; .state == "blocked" and .frames[.holds[0].frame].method == "with" and
			.frames[0].file == "Locks.java" and .frames[0].line > 50)' threads.json
	if [ "$JDK" -ge 25 ]; then
		[ "$(wait_of "pv-mm 2")" = "enter java.lang.Object pv-mm 1" ]
		[ "$(wait_of "vp-mr 2")" = "enter java.lang.Object vp-mr 1" ]
		jq -e '.threads[] | select(.name == "vv-mm 1") | .virtual and .tid == null and
			.holds[0].class == "java.lang.Object"' threads.json
	fi
}
@test "threads: deadlocks of both kinds of thread and lock are found, with owners and stacks" {
	on_each_jdk finds_every_cycle
}

knows_what_is_no_deadlock() {
	JAVA_OPTS=-Xcheck:jni start_locks ring:7 pp-mm behind timed upgrade idle:50
	look
	end_locks
	# the JVM has nothing to say against what the agent did
	! grep -i warning out || false
	[ "$(cycles)" = "pp-mm 1, pp-mm 2
ring 0, ring 1, ring 2, ring 3, ring 4, ring 5, ring 6
upgrade" ]
	[ "$(wait_of upgrade)" = 'park java.util.concurrent.locks.ReentrantReadWriteLock$NonfairSync upgrade' ]
	# each waits for the next, in the order that is printed
	jq -e '. as $d | .deadlocks[] | . as $c | range(length) | . as $i | $c[.] as $t |
		$d.threads[] | select(.id == $t).waits_for.owner == $c[($i + 1) % ($c | length)]' threads.json |
		sort -u >follows
	[ "$(cat follows)" = true ]
	jq -e '.threads[] | select(.name == "behind") | .behind_deadlock and .deadlock == null and
		.waits_for.how == "enter"' threads.json
	jq -e '[.threads[] | select(.name | startswith("timed"))] | length == 2 and
		all(.[]; .state == "timed parked" and .deadlock == null and .waits_for.owner)' threads.json
}
@test "threads: long cycles; a thread that waits behind one, or with a timeout, is in none" {
	on_one_jdk newest knows_what_is_no_deadlock
}

never_raises_a_false_alarm() {
	local i seen nr=0
	start_locks busy:12
	# they are contended indeed
	for ((i = 0; i < 200 && (i < 6 || nr < 10); i++)); do
		look
		seen=$(jq 'if .deadlocks == [] and ([.threads[] | select(.name | startswith("busy"))] | length == 12)
			then [.threads[] | select(.waits_for.owner)] | length else empty end' threads.json)
		[ -n "$seen" ] || { cat threads.json; return 1; }
		nr=$((nr + seen))
	done
	end_locks
	[ "$nr" -ge 10 ]
}
@test "threads: no false alarm where locks are contended" {
	on_one_jdk newest never_raises_a_false_alarm
}

agrees_with_jstack() {
	start_locks pp-mm pp-mr idle:20
	look
	"$JAVA_HOME/bin/jstack" "$JVM" >jstack
	end_locks
	# threads with the same names and kernel numbers, but for those that are there to answer
	sed -n 's/^"\(.*\)" #\([0-9]*\).* nid=\([0-9a-fx]*\).*/\1|\2|\3/p' jstack |
		while IFS='|' read -r name id nid; do
			echo "$name|$id|$((nid))"
		done | grep -v "Attach Listener\|^[CG][12] Comp\|Service Thread\|Monitor Deflation\|Notification\|Sweeper" | sort >theirs
	jq -r '.threads[] | select(.virtual | not) | "\(.name)|\(.id)|\(.tid)"' threads.json |
		grep -v "Attach Listener\|Notification" | sort >ours
	diff theirs ours
	[ "$(wc -l <ours)" -ge 26 ]
	# frames of one of them
	sed -n '/^"idle 7"/,/^$/s/^\tat \(.*\)(.*/\1/p' jstack | sed 's|.*/||' >theirs
	jq -r '.threads[] | select(.name == "idle 7").frames[] | .class + "." + .method' threads.json >ours
	grep -q Locks.sleep ours
	diff <(grep Locks theirs | grep -v Lambda) <(grep Locks ours | grep -v Lambda)
}
@test "threads: names, numbers and stacks are those that jstack prints" {
	on_each_jdk agrees_with_jstack
}

prints_all_formats() {
	start_locks pp-mm "idle:3"
	arcprof threads -p "$JVM" >text
	arcprof threads -p "$JVM" --format csv -o csv
	arcprof threads -p "$JVM" --format hprof >hprof
	end_locks
	cat text
	grep -Eq "^process [0-9]+: [0-9]+ threads of Java, 0 of them virtual; 1 deadlock$" text
	grep -q '^Deadlock 1 of 1: 2 threads, each waiting for the next$' text
	grep -Eq '^    wants the monitor of java.lang.Object@[0-9a-f]+, held by "pp-mm 2" #[0-9]+$' text
	grep -Eq '^    at Locks.with\(Locks.java:[0-9]+\)$' text
	# the deadlock is first
	[ "$(grep -n '"pp-mm 1" #' text | head -n 1 | cut -d : -f 1)" -lt "$(grep -n '"main" #' text | cut -d : -f 1)" ]
	[ "$(grep -c '^"pp-mm [12]" #' text)" -eq 2 ]
	head -n 1 csv | grep -qx 'id,name,virtual,tid,state,cpu_ns,deadlock,waits_for,owner,held,innermost,file,line'
	grep -Eq '^[0-9]+,pp-mm 1,false,[0-9]+,blocked,[0-9]*,1,java.lang.Object@[0-9a-f]+,[0-9]+,1,Locks.with,Locks.java,[0-9]+$' csv
	grep -Eq '^THREAD START \(obj=[0-9a-f]+, id = 2[0-9]+, name="pp-mm 1", group="main"\)$' hprof
	[ "$(grep -c '^    THREAD 2[0-9]*, trace 3[0-9]*, status: MW$' hprof)" -eq 2 ]
	grep -A 2 '^    MONITOR Ljava/lang/Object;$' hprof >monitor
	[ "$(grep -Ec '^	owner: thread 2[0-9]+, entry count: 1$' monitor)" -eq 2 ]
	[ "$(grep -Ec '^	waiting to enter: thread 2[0-9]+$' monitor)" -eq 2 ]
	sed -n '/^MONITOR DUMP BEGIN/,$p' hprof | tail -n 1 | grep -qx 'MONITOR DUMP END'
}
@test "threads: text, CSV and the old profiler's monitor dump" {
	on_one_jdk oldest prints_all_formats
}

many_at_once() {
	start_locks vv-mm vidle:3000 idle:100
	look
	end_locks
	[ "$(jq '[.threads[] | select(.virtual)] | length' threads.json)" -eq 3002 ]
	[ "$(cycles)" = "vv-mm 1, vv-mm 2" ]
	[ "$(jq '[.threads[] | select(.name | startswith("vidle")) | select(.state == "timed waiting" or .state == "timed parked" or .state == "sleeping")] | length' threads.json)" -eq 3000 ]
}
@test "threads: thousands of virtual threads" {
	on_each_jdk 25 many_at_once
}

# One line on stderr, of that text, and exit status 1.
fails_with() {
	local status=0
	arcprof threads -p "$1" >stdout 2>stderr || status=$?
	cat stdout stderr
	[ "$status" -eq 1 ]
	! [ -s stdout ] || false
	[ "$(grep -vc "^hint: " stderr)" -eq 1 ]
	[[ $(head -n 1 stderr) == "arcprof threads: "$2* ]]
}

@test "threads: a number without a process, or a JVM that does not answer, is refused in one line" {
	local home
	fails_with 999999999 "no process"
	run arcprof threads
	[ "$status" -eq 2 ]
	run arcprof threads -p 1 more
	[ "$status" -eq 2 ]
	home=$(jdks | tail -n 1)
	use_jdk "$home"
	start_locks idle:1
	kill -STOP "$JVM"
	fails_with "$JVM" "process $JVM"
	kill -CONT "$JVM"
	look
	end_locks
	JAVA_OPTS=-XX:+DisableAttachMechanism start_locks idle:1
	fails_with "$JVM" "process $JVM"
	end_locks
	JAVA_OPTS=
}

# Waits until record has warned of as many deadlocks.
warned() {
	local i
	for ((i = 0; i < 1200; i++)); do
		[ "$(cat record.err 2>/dev/null | grep -c 'deadlock of')" -ge "$1" ] && return 0
		sleep 0.05
	done
	cat record.err
	return 1
}

notices_deadlocks() {
	local plans="pp-mm pp-rr pp-mr" nr=3 recorder i
	if [ "$JDK" -ge 25 ]; then
		plans+=" vv-mm vv-mr pv-rr"
		nr=6
	fi
	start_locks $plans timed busy:4
	"$ARCPROF" record -o trace -p "$JVM" 2>record.err 3>&- 7>&- &
	recorder=$!
	warned "$nr"
	arcprof ctl -p "$recorder" threads >text
	# none is reported twice
	sleep 2
	arcprof ctl -p "$recorder" stop
	wait "$recorder"
	end_locks
	cat record.err
	[ "$(grep -c 'deadlock of' record.err)" -eq "$nr" ]
	grep -Eq '^arcprof record: warning: process [0-9]+: deadlock of 2 threads: "pp-mr 1" #[0-9]+ \(Locks.with, Locks.java:[0-9]+\) waits for java.util.concurrent.locks.ReentrantLock\$NonfairSync@[0-9a-f]+ of "pp-mr 2" #' record.err
	grep -q "$nr deadlocks\$" text
	arcprof report -i trace >text
	[ "$(grep -c '^deadlock: process [0-9]*, seen after [0-9.]* s: 2 threads: ' text)" -eq "$nr" ]
	[ "$(arcprof report -i trace --format json | jq '.quality.deadlocks | length')" -eq "$nr" ]
}
# bats test_tags=stored
@test "threads: deadlocks are noticed while a recording runs, once, and reports name them" {
	one_jdk newest notices_deadlocks
}

is_seen_while_recorded() {
	start_locks pp-mm
	"$ARCPROF" record -o trace -p "$JVM" 2>record.err 3>&- 7>&- &
	local recorder=$! i
	for ((i = 0; i < 600; i++)); do
		arcprof ctl -p "$recorder" 2>/dev/null | grep -qx 'state: recording' && break
		sleep 0.05
	done
	look
	[ "$(cycles)" = "pp-mm 1, pp-mm 2" ]
	arcprof ctl -p "$recorder" stop
	wait "$recorder"
	look
	end_locks
	arcprof report -i trace --check
}
@test "threads: a JVM that is being recorded" {
	one_jdk newest is_seen_while_recorded
}
