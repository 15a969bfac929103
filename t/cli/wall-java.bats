#!/usr/bin/env bats
# Where Java threads waited, and for what: programs that know it, and stacks that nobody disturbs.
load ../lib
load ../jdks
load ../wall

# ended <thread> <reason> <waker> <percent>: so much of those waits it ended at least, as --wakers has it in
# ./wakers, of what is known: some kernels hide what happens while certain threads run.
ended() {
	jq -r --arg t "$1" --arg r "$2" --arg w "$3" '
		[.wakers[] | select(.thread == $t and (.reason | startswith($r)) and .ended_by != "not known")] as $all |
		([$all[] | select((.waker // .ended_by) == $w) | .blocked_ns] | add // 0) /
		([$all[].blocked_ns] | add) * 100' wakers |
		awk -v what="$*" -v least="$4" '{ print what ": " $1; exit $1 < least }'
}

waits() {
	"$ARCPROF" record -q -e wall=4ms -o trace -- java -cp "$CLASSES" Waits 4 >truth
	[ "$(grep -c TRUTH truth)" -eq 13 ]
	agrees_java 5 40
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
	"$ARCPROF" report -i trace --metric wall --format folded >folded
	# whole stacks, from the thread's beginning to the system call, with what it waits for
	grep -q '^[^;]*;parker [^;]*;.*;java.lang.Thread.run;.*;Waits.parks;.*Unsafe.park;.*;\[park: Waits$Gate\] ' folded
	grep -q ';Waits.locks;.*;\[park: java.util.concurrent.locks.ReentrantLock$NonfairSync\] ' folded
	grep -q ';Waits.enters;.*\[monitor\] ' folded
	grep -q ';main [^;]*;.*;Waits.main;.*\[sleep\] ' folded
	# short waits that the agent has seen, too, have their wakers
	"$ARCPROF" report -i trace --wakers --format json >wakers
	ended sleeper '[sleep' timer 90
	ended brief '[park' timer 90
	ended locker '[park: java.util.concurrent.locks.ReentrantLock' jholder 90
	ended enterer '[monitor]' holder 50	# on JDK 17 it looks by itself now and then
	ended reader '[read' writer 90
	# reasons stand below each other, however long a name is
	"$ARCPROF" report -i trace --threads >table
	"$ARCPROF" report -i trace --threads --format json | jq -e '.totals.reasons["VM lock"] > 0'
	awk '/Most blocked in/ { at = index($0, "Most") }
	     at && /\]$/ { rows++; bad += substr($0, at - 2, 3) != "  [" }
	     END { exit bad || rows < 5 }' table || { cat table; return 1; }
}

@test "wall: waits of Java threads, and their reasons, are those that they measured" {
	skip_unless_wall
	on_each_jdk waits
}

# References to objects differ with the collector, and with it whether they can be read.
with_a_collector() {
	local gc=$1
	java "-XX:+$gc" -version >/dev/null 2>&1 || return 0
	"$ARCPROF" record -q -e wall=4ms -o trace -- java "-XX:+$gc" -cp "$CLASSES" Waits 1 >truth
	"$ARCPROF" report -i trace --metric wall --format folded >folded
	if [ "$gc" = UseShenandoahGC ]; then
		"$ARCPROF" report -i trace | grep -q '^not recorded: classes of what threads are parked for of process [0-9]*: this JVM has no references that can be followed while it runs$'
		grep -q ';Waits.parks;.*;\[park\] ' folded
	else
		grep -q ';Waits.parks;.*;\[park: Waits$Gate\] ' folded
	fi
}

with_each_collector() {
	local gc
	for gc in UseSerialGC UseParallelGC UseZGC UseShenandoahGC; do
		with_a_collector $gc
	done
}

@test "wall: the class that a thread is parked for is known with each collector, or reported as unknown" {
	skip_unless_wall
	on_each_jdk with_each_collector
}

own_threads() {
	cat >Named.java <<-'EOF'
		public class Named {
			public static void main(String[] args) throws Exception {
				Thread t = new Thread(() -> sleep(), "arcprof");
				t.start();
				t.join();
			}
			static void sleep() {
				try { Thread.sleep(1000); } catch (InterruptedException e) { }
			}
		}
	EOF
	javac -nowarn Named.java
	"$ARCPROF" record -q -e wall -o trace -- java -cp . Named
	"$ARCPROF" report -i trace --metric wall --format folded >folded
	! grep '^[^;]*;\[arcprof\] \[tid' folded || false
	# whoever is called like that is a thread like any other
	awk '/^[^;]*;arcprof \[tid.*;Named.sleep;.*\[sleep\] / { ns += $NF } END { exit ns < 0.9e9 }' folded
	"$ARCPROF" report -i trace --threads >threads
	for report in --xprof --threads; do
		"$ARCPROF" report -i trace $report | head -n 6 >head
		grep -Ex "not shown \(--own-threads shows it\): [0-9.]+ m?s of wall in [0-9]+ threads? of arcprof's own" head
	done
	! grep -F '[arcprof]' threads || false
	"$ARCPROF" report -i trace --metric wall --format folded --own-threads >all
	grep -q '^[^;]*;\[arcprof\] \[tid' all
	# nothing is lost but that
	awk -v own="$("$ARCPROF" report -i trace --format json | jq .quality.own_wall_ns)" '
		FILENAME == "all" { all += $NF; next }
		{ shown += $NF }
		END { print all, shown, own; exit own <= 0 || all != shown + own }' all folded
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
	"$ARCPROF" report -i trace --own-threads --check >check || { cat check; return 1; }
}

@test "wall: waits of arcprof's own threads are not the program's, and reports say how long they are" {
	skip_unless_wall
	on_each_jdk own_threads
}

virtual() {
	mkfifo fifo
	"$ARCPROF" record -q -e wall -o trace -- java -Djdk.virtualThreadScheduler.parallelism=4 -cp "$CLASSES" \
		VirtualWaits 700 fifo >truth
	[ "$(grep -c TRUTH truth)" -eq 3 ]
	agrees_java 5 60
	"$ARCPROF" report -i trace --metric wall --format folded >folded
	grep -q ';pinned[^;]*;.*VirtualWaits$Pinned.*;.*Unsafe.park;.*\[park' folded
	grep -q ';asleep[^;]*;.*Thread.sleep;.*\[sleep\]' folded
	! grep -q ';unmounted[^;]*;.*\[park' folded || false
}

@test "wall: a virtual thread that blocks its carrier has the time" {
	skip_unless_wall
	on_each_jdk 21 virtual
}

attached() {
	local pid
	java -cp "$CLASSES" Waits 6 >truth &
	pid=$!
	until grep -qs mixed /proc/"$pid"/task/*/comm; do	# its last thread
		sleep 0.1
	done
	# the agent is there before the recording begins: what it walks until then nobody hears
	"$ARCPROF" record -q -e wall,lock --delay 300ms -p "$pid" -d 2s -o trace
	wait "$pid"
	[ "$(grep -c TRUTH truth)" -eq 13 ]
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
	# main sleeps since before, and goes on to
	"$ARCPROF" report -i trace --metric wall --format folded >folded
	awk '
	/;Waits.main;/ && /;\[sleep\] / { ns += $NF }
	/;Waits.parks;/ && /\[park: Waits\$Gate\] / { parked += $NF }
	END { print ns, parked; exit !(ns > 1.7e9 && ns < 3e9 && parked > 1e9) }' folded ||
		{ grep -E ';(parker|main) ' folded; return 1; }
	# a park is timed for -e lock by a function of arcprof, which is not in the way, nor are waits its work
	grep -q 'Unsafe.park;Unsafe_Park;' folded
	! grep -q '\[arcprof\];Unsafe_Park' folded || false
	"$ARCPROF" report -i trace --off-cpu | head -n 1 | tee head
	awk 'match($0, /[0-9.]+ % in \[arcprof\]/) && substr($0, RSTART) + 0 >= 1 { exit 1 }' head
}

@test "wall: attached to a JVM, with threads that were waiting before" {
	skip_unless_wall
	on_each_jdk attached
}

complete() {	# the percentage of complete stacks in the line before
	sed -n '1,/complete stacks/s/.*, \(> \)\{0,1\}\([0-9.]*\) % complete stacks.*/\2/p'
}

crowded() {
	local pid
	mkfifo in
	java -cp "$CLASSES" Locks idle:4000 <in >out &
	pid=$!
	exec 8>in
	until grep -qs ready out; do
		sleep 0.1
	done
	"$ARCPROF" record -e wall -p "$pid" -d 2s -o trace 2>said
	exec 8>&-
	wait "$pid"
	cat said
	grep -q ', 0 lost, ' said
	"$ARCPROF" report -i trace --metric wall >report
	echo "$(complete <said) $(complete <report)" | awk '{ print; exit !($1 >= 99 && $1 - $2 < 0.11 && $2 - $1 < 0.11) }'
	"$ARCPROF" report -i trace --metric wall --format folded >folded
	[ "$(grep -c ';idle [^;]*;.*;Locks.sleep;.*\[sleep\]' folded)" -ge 3960 ]
	rm in
}

@test "wall: attached to a JVM with thousands of threads that wait, each has its stack and none is lost" {
	skip_unless_wall
	on_each_jdk crowded
}

restless() {
	"$ARCPROF" record -q -e cpu-clock,wall=1ms -o trace -- java -Xmx64m -cp "$CLASSES" Restless 3 1 >out
	[ "$(cat out)" = "sum 0" ]
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
	"$ARCPROF" report -i trace --metric wall --format folded >folded
	# unloaded classes keep their names, and deep stacks are whole
	grep -q ';Restless$Guest.nap;.*\[park: Restless$Guest\] ' folded
	grep ';deep0 ' folded | awk -F ';' '/Restless.deep;.*\[sleep\]/ && NF > 200 && $3 !~ /^\[/ { n++ } END { exit !n }'
}

@test "wall: classes, stacks and threads come and go while threads are walked" {
	skip_unless_wall
	on_one_jdk newest restless
}

@test "wall: a JVM does not get the registers of other users' processes" {
	skip_unless_wall
	skip_unless_root
	use_jdk "$(jdks | head -n 1)"
	open=$(mktemp -d /tmp/arcprof-test-XXXXXX)
	chmod 755 "$open"
	cp "$CLASSES"/Waits*.class "$open"
	setpriv --reuid=65534 --regid=65534 --clear-groups "$JAVA_HOME/bin/java" -cp "$open" Waits 4 >/dev/null &
	pid=$!
	for _ in $(seq 100); do
		[ -e "/tmp/hsperfdata_nobody/$pid" ] && break
		sleep 0.1
	done
	sleep 30 &
	other=$!
	"$ARCPROF" record -q -e wall -d 1s -o trace -p $pid,$other
	kill $pid $other
	rm -r "$open"
	run_arcprof report -i trace
	[[ $output == *"Java frames of wall of process $pid: its user may not look at the other processes"* ]]
}

wakes() {
	"$ARCPROF" record -q -e wall,wakers -o trace -- java -cp "$CLASSES" Wakes 2 >truth
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
	"$ARCPROF" report -i trace --wakers=code --format json >table
	# what was waited until each of the donor's two methods woke the patient
	while read -r name ms; do
		got=$(jq --arg f "Wakes.$name" '[.code[] | select(.waiter.thread == "patient" and .waker.thread == "donor" and
			(.stack | index($f))).blocked_ns] | add / 1e6 | floor' table)
		echo "$name: $got of $ms ms"
		# what the patient says has its time without a CPU on its way into the wait; the other method's is four times this
		awk -v got="$got" -v ms="$ms" 'BEGIN { exit got < ms * 0.7 - 20 || got > ms * 1.08 + 20 }'
	done <truth
	# whole stacks, from the thread's beginning through Java to the system call
	jq -e '[.code[] | select(.waiter.thread == "patient" and .waker.thread == "donor" and
		(.stack | index("java.lang.Thread.run") as $r | index("java.util.concurrent.locks.LockSupport.unpark") as $u |
			$r > 1 and $u > $r and length > $u + 2))] | length >= 2' table
	jq -e '[.code[] | select(.waiter.thread == "enterer" and .reason == "[monitor]" and .waker.thread == "holder")] |
		([.[] | select(.stack | index("Wakes.hold")).blocked_ns] | add) / ([.[].blocked_ns] | add) > 0.7' table
}

@test "wall: wakers that are Java threads have the stacks that they had then" {
	skip_unless_wall
	on_one_jdk oldest wakes
}

# without_carrier <percent>: of Unmounted, what each virtual thread waited is what it says, and for that reason. What
# it says has the time in which its carrier waited for a CPU, which is no wait: so there may be less on a busy machine.
without_carrier() {
	"$ARCPROF" report -i trace --metric wall --hide-files --format folded >folded
	awk -v percent="$1" '
	FILENAME == "folded" {
		if (/PrintStream|Unmounted.locks/ || !/;Unmounted.lambda.main/)
			next
		ns = $NF
		sub(/ [0-9]+$/, "")
		n = split($0, f, ";")
		reason = f[n]
		all[f[2]] += ns / 1e6
		if (reason ~ /^\[park: .*ReentrantLock/)
			reason = "lock"
		else if (reason == "[park: Unmounted$Gate]")
			reason = "park"
		else if (reason ~ /^\[(read|poll)/)
			reason = "io"
		else if (reason == "[Object.wait]")
			reason = "wait"
		gsub(/[][]/, "", reason)
		sum[f[2] " " reason] += ns / 1e6
		next
	}
	$1 == "TRUTH" {
		known = sum[$2 " " $3]
		ok = known > $4 * (1 - percent / 50) - 50 && known < $4 * (1 + percent / 100) + 50
		printf "%-10s %8.1f ms, %s %8.1f of %8.1f%s\n", $2, $4, $3, known, all[$2], ok ? "" : ": not as it should be"
		bad += !ok
		rows++
	}
	END { exit bad || rows != 6 }' folded truth
}

unmounted() {
	"$ARCPROF" record -q -e wall,virtual -o trace -- java -cp "$CLASSES" Unmounted 5 30 >truth
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
	grep -q '^ok   CPU + runnable + blocked = life' check
	without_carrier 5
	# lives are what was mounted and what was not
	"$ARCPROF" dump trace | grep proc.virtual | tail -n 1 >totals
	awk '{
		for (i = 1; i <= NF; i++)
			if (split($i, f, "=") == 2)
				v[f[1]] = f[2]
		exit v["threads"] < 36 || v["life"] != v["mounted"] + v["runnable"] + v["blocked"]
	}' totals || { cat totals; return 1; }
	# those that never came back have all their time, where they wait
	"$ARCPROF" report -i trace --threads --format json >threads
	jq -e '[.threads[] | select(.name | startswith("idle-"))] |
		length == 30 and all(.blocked_ns > 4.9e9 and .most_blocked_in == "[park: Unmounted$Gate]")' threads
	"$ARCPROF" report -i trace >report
	grep -q '^virtual threads: [0-9]*, of whose ' report
	grep -q '^not recorded: when virtual threads that waited could go on' report
}

@test "wall: with virtual, waits of threads without a carrier are those that they measured" {
	skip_unless_wall
	on_each_jdk 24 unmounted
}

were_waiting() {
	local pid
	java -cp "$CLASSES" Unmounted 15 200 >truth &
	pid=$!
	sleep 2.5
	"$ARCPROF" record -q -e wall,virtual -p "$pid" -d 2s -o trace
	wait "$pid"
	[ "$(grep -c TRUTH truth)" -eq 6 ]
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
	"$ARCPROF" report -i trace --threads --format json >threads
	jq -e '.source.duration_ns as $all | [.threads[] | select(.name | startswith("idle-"))] |
		length == 200 and all(.blocked_ns > $all * 0.9 and .blocked_ns < $all + 5e8)' threads ||
		{ jq -c '.source, [.threads[] | select(.name == "idle-7")]' threads; return 1; }
}

@test "wall: with virtual, threads that have waited since before have their time and their names" {
	skip_unless_wall
	on_each_jdk 24 were_waiting
}

@test "wall: virtual is of wall, and needs a JVM that has such threads" {
	run_arcprof record -e virtual -o trace -- true
	[ "$status" -eq 2 ] || [ "$status" -eq 125 ]
	[[ $stderr == *"event 'virtual': it needs wall, as in -e wall,virtual"* ]]
	skip_unless_wall
	use_jdk "$(jdks | head -n 1)"
	[ "$JDK" -lt 21 ] || skip "needs a JDK before 21"
	"$ARCPROF" record -q -e wall,virtual -o trace -- java -version 2>err
	run_arcprof report -i trace
	[[ $output == *"not recorded: virtual of process "*": this JVM has no virtual threads: JDK 21 and later have"* ]]
	"$ARCPROF" report -i trace --check
}
