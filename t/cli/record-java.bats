#!/usr/bin/env bats
# Recordings of JVMs, each on every JDK of this machine: what the workloads say they did is what
# the reports must show, within what the number of samples allows.
load ../lib
load ../jdks

# Records into ./trace; the program's output is in ./out, messages in ./err, and $status is set.
record() {
	status=0
	"$ARCPROF" record -o trace "$@" >out 2>err </dev/null || status=$?
	echo "\$ arcprof record $* (status $status)"
	head -n 20 out err
	stacks
}

# What the trace has, one folded stack a line, in ./stacks; with all of it, fails when an invariant does.
stacks() {
	ARCPROF=$ARCPROF "$TOP/t/folded" --kinds trace "$@" >stacks 2>notes || { cat notes; return 1; }
	[ $# -gt 0 ] || arcprof report -i trace --check >check || { cat check; return 1; }
}

# Number of samples whose stack matches.
count() {
	awk -v re="$1" '$0 ~ re { n += $NF } END { print n + 0 }' "${2:-stacks}"
}

lost() {
	arcprof report -i trace --xprof --format json --limit 1 | jq .source.lost
}

jvms() {
	sed -n 's/.* \([0-9]*\) JVMs\{0,1\}[;,].*/\1/p' err | tail -n 1
}

# got samples where want are expected: four standard deviations, and two for the ends.
about() {
	awk -v got="$1" -v want="$2" 'BEGIN { d = got - want; exit !(d * d <= 16 * (want + 1) + 4 * 8 + .0004 * want * want) }' ||
		{ echo "$1 samples, about $2 expected"; return 1; }
}

at_least() {
	[ "$1" -ge "$2" ] || { echo "$1 is less than $2"; return 1; }
}

# part is 0.3 percent of all (javac: 1 percent), and what chance adds to so few samples: the budget is
# held on longer runs by t/perf/java-stacks.sh; a second's worth of samples is 1000 to 5000.
few() {
	awk -v part="$1" -v all="$2" -v p="$3" 'BEGIN { w = all * p / 1000; exit !(all > 0 && part <= w + 3 * sqrt(w) + 1) }' ||
		{ echo "$1 of $2 are more than $3 per mille"; return 1; }
}

java_shares() {
	# long enough that what runs before it is compiled does not matter
	record -- java -cp "$CLASSES" Shares 300
	[ "$status" -eq 0 ]
	[ "$(lost)" -eq 0 ]
	local all name part
	all=$(count ';Shares\.(sixteen|eight|four|two|one) ')
	at_least "$all" 300
	for part in sixteen:16 eight:8 four:4 two:2 one:1; do
		name=${part%:*}
		about "$(count ";Shares\\.$name ")" $((all * ${part#*:} / 31))
		about "$(count ";Shares\\.$name [^;]*;Shares\\.shared ")" $((all * ${part#*:} / 62))
	done
	about "$(count ';Shares\.shared ')" $((all / 2))

	# The same in the reports themselves.
	arcprof report -i trace --xprof --format json >xprof
	all=$(jq '[.rows[] | select(.name | test("^Shares.(sixteen|eight|four|two|one)$")) | .cum[0] + .cum_recursive[0]] | add' xprof)
	[ "$(jq '[.rows[] | select(.name == "Shares.shared") | .n] | add' xprof)" -gt 100 ]
	within "$(jq '.rows[] | select(.name == "Shares.sixteen") | .cum[0]' xprof)" $((all * 16 / 31)) 25
	arcprof report -i trace --xarc --format json >xarc
	jq -e '[.. | objects | select(.name? == "Shares.shared")] | length > 1' xarc
}
@test "java: shares of methods and of the callee that they share are what the program caused" {
	one_jdk newest java_shares
}

# Each thread of Paths says what CPU time it used.
java_paths() {
	record -- java -cp "$CLASSES" Paths 250
	[ "$status" -eq 0 ]
	[ "$(wc -l <out)" -eq 7 ]
	local name ms work
	while read -r name ms; do
		about "$(count ";$name;")" $((ms * 999 / 1000))
	done <out
	# Where the work of each is done, its whole path is known.  How much of a thread is that work depends
	# on how soon the compiler gets a CPU.
	while read -r name frames; do
		echo "$name"
		work=$(count ";$name;.*;${frames##*;}")
		few $((work - $(count ";$name;.*;$frames"))) "$work" 3
		at_least $((work * 5)) "$(count ";$name;.*;Paths\\.$name ")"
	done <<-'EOF'
	plain Paths\.plain [^;]*;Paths\.burn
	exceptions Paths\.exceptions [^;]*;Paths\.thrower
	lambda Paths\.lambda [^;]*;Paths\$\$Lambda[^;]*;Paths\.lambda\$lambda\$[0-9] [^;]*;Paths\.burn
	reflection Paths\.reflection [^;]*;java\.lang\.reflect\.Method\.invoke .*;Paths\.reflected [^;]*;Paths\.burn
	recursion Paths\.recursion [^;]*;Paths\.deep .*;Paths\.deep [^;]*;Paths\.bottom
	deflate Paths\.deflate [^;]*;java\.util\.zip\.Deflater\.deflate .*;java\.util\.zip\.Deflater\.deflateBytesBytes .*deflate \(native
	write Paths\.write [^;]*;java\.io\.RandomAccessFile\.(write|seek)
	EOF
	about "$(awk '/;recursion;/ && gsub(/;Paths\.deep /, "&") == 501 { n += $NF } END { print n }' stacks)" \
		"$(count ';recursion;.*;Paths\.bottom ')"
	# The JVM copies what is to be written, the rest is the kernel's.
	at_least $(($(count 'RandomAccessFile\.writeBytes.*;entry_SYSCALL_64_after_hwframe .*vfs_write \(kernel') * 4)) "$(count ';Paths\.write ')"
	# Threads of the JVM itself have names, and their stacks begin where a thread does.
	at_least "$(count ';C[12] CompilerThre')" 1
	at_least "$(count ';C[12] CompilerThre[^;]*;.*CompileBroker::compiler_thread_loop')" 1
	[ "$(count ';DestroyJavaVM;')" -eq 0 ]	# as a thread: jni_DestroyJavaVM is a function
}
@test "java: threads have their names and CPU time, stacks what exceptions, lambdas, reflection, recursion, zlib and the kernel are called by" {
	each_jdk java_paths
}

# kinds_of <options...>: share of Kinds.inlined and Kinds.called by kind, in permille.
kinds_of() {
	record -- java "$@" -XX:CompileCommand=quiet -XX:CompileCommand=inline,Kinds.inlined \
		-XX:CompileCommand=dontinline,Kinds.called -cp "$CLASSES" Kinds "$rounds"
	[ "$status" -eq 0 ]
	stacks --by-kind
	all=$(count 'Kinds\.(called|inlined) ')
	at_least "$all" 100
}
java_kinds() {
	local all rounds=1500
	kinds_of -Xint
	[ "$(count 'Kinds\.(called|inlined) \(java-interpreted\)')" -eq "$all" ]
	[ "$(count '\(java-(c1|c2|compiled|inlined)\)')" -eq 0 ]
	rounds=25000
	kinds_of -XX:TieredStopAtLevel=1
	at_least "$(count 'Kinds\.called \(java-c1\)')" $((all * 2 / 5))
	at_least "$(count 'Kinds\.both \(java-c1\);Kinds\.inlined \(java-inlined\)')" $((all * 3 / 10))
	[ "$(count '\(java-c2\)')" -eq 0 ]
	kinds_of -XX:-TieredCompilation
	at_least "$(count 'Kinds\.called \(java-c2\)')" $((all * 2 / 5))
	at_least "$(count 'Kinds\.(both|main) \(java-c2\);(Kinds.both \(java-inlined\);)?Kinds\.inlined \(java-inlined\)')" $((all / 10))
	[ "$(count '\(java-c1\)')" -eq 0 ]
}
# Samples in work(), where virtual threads are, and those of them that are a virtual thread's own, from its root on,
# with the 61 calls of deep() that are in the heap since it slept there the first time.
virtual_threads() {
	"$ARCPROF" record -o trace -F 997 "$@" -- java -cp "$CLASSES" Virtual 40 >out 2>err
	arcprof report -i trace --check | grep -v '^ok' && return 1
	# a tenth of a second at least, and all of the threads had the same work
	arcprof report -i trace --format folded --metric cpu-clock | awk -v root="$ROOT" '
	/;Virtual\.work[; ]/ {
		n = $NF
		sub(/ [0-9.]+$/, "")
		depth = split($0, frame, ";")
		for (i = deep = 0; i++ < depth; )
			deep += frame[i] == "Virtual.deep"
		all += n
		if (frame[2] ~ /^virtual-/ && frame[3] == root && deep == 61)
			rooted += n
		threads += !seen[frame[2]]++
	}
	END {
		printf "%.1f of %.1f ms are rooted, of %d threads\n", rooted / 1e6, all / 1e6, threads
		exit !(all >= 1e8 && rooted >= .99 * all && threads >= 15)
	}'
}

@test "java: samples of virtual threads have their frames from the root on, frozen ones included" {
	skip_unless_perf
	ROOT=jdk.internal.vm.Continuation.enter on_each_jdk 21 virtual_threads
}

@test "java: samples of virtual threads have their frames when calls are counted, too" {
	skip_unless_perf
	ROOT='Virtual.lambda$main$0' on_each_jdk 21 virtual_threads --callflow
}

@test "java: interpreted, C1, C2 and inlined code is distinguished" {
	each_jdk java_kinds
}

native_wrapper() {
	cat >Free.java <<-'END'
		public class Free {
			public static void main(String[] args) {
				long sum = 0, end = System.nanoTime() + 400_000_000;
				while (System.nanoTime() < end)
					for (int i = 0; i < 1000; i++)
						sum += Runtime.getRuntime().freeMemory();
				System.out.println(sum != 0);
			}
		}
	END
	compile_java -d . Free.java
	record -- java -XX:-TieredCompilation -cp . Free
	stacks --by-kind
	at_least "$(count 'Runtime\.freeMemory \(java-compiled\)')" 50
	[ "$(count '\(java-c1\)')" -eq 0 ]
}

@test "java: what leads to a native method was compiled by neither C1 nor C2" {
	each_jdk native_wrapper
}

java_started_by() {
	local java=$JAVA_HOME/bin/java
	# through a shell that stays
	record -- sh -c "'$java' -cp '$CLASSES' Family 300; echo after"
	[ "$status" -eq 0 ]
	[ "$(cat out)" = "done
after" ]
	[ "$(jvms)" -eq 1 ]
	at_least "$(count ';Family\.main [^;]*;Family\.work ')" 100
	# through a script that execs
	printf '#!/bin/sh\nexec "%s" "$@"\n' "$java" >script
	chmod +x script
	record -- ./script -cp "$CLASSES" Family 300
	[ "$status" -eq 0 ]
	[ "$(jvms)" -eq 1 ]
	at_least "$(count ';Family\.main [^;]*;Family\.work ')" 100
	# through a static program that clears its environment: a native recording, which says so, and the program works
	echo 'int execve(const char *, char **, char **); int main(int n, char **v) { return execve(v[1], v + 1, 0); }' >clear.c
	gcc -static clear.c -o clear
	record -- ./clear "$java" -cp "$CLASSES" Family 200
	[ "$status" -eq 0 ]
	[ "$(cat out)" = "done" ]
	[ "$(count ';Family')" -eq 0 ]
	at_least "$(count '^java;')" 50
	grep -q 'warning: 1 JVM ran without the agent' err
}
of_an_unknown_jvm() {
	local JAVA_TOOL_OPTIONS=-agentpath:$BUILD/t/tools/hide-fields.so=CodeCache._heaps
	export JAVA_TOOL_OPTIONS
	run_arcprof record -o trace -- java -cp "$CLASSES" Family 300
	[ "$status" -eq 0 ]
	[[ $stderr == *"warning: 1 JVM ran without the agent"* ]]
	[[ $stderr == *"hint: the agent knows too little of it: "* ]]
	[[ $stderr != *sudo* ]]
	arcprof report -i trace | grep -qx 'not recorded: what 1 JVM would have told: the agent knows too little of it'
	# nor is it only seen by samples in its code
	run_arcprof record -F 1 -o trace -- java -version
	[[ $stderr == *"hint: the agent knows too little of it: "* ]]
	run_arcprof record --callflow -o trace -- java -cp "$CLASSES" Family 10
	[ "$status" -eq 125 ]
	[[ $stderr == *"arcprof record: nothing was instrumented: the agent knows too little of the JVM"* ]]
	[[ $stderr != *"no JVM"* ]]
}
@test "record: a JVM of which the agent knows too little is named, and nothing else is blamed" {
	make -s -C "$TOP" build/t/tools/hide-fields.so >&2
	one_jdk newest of_an_unknown_jvm
}

of_a_jvm_without_some() {
	local JAVA_TOOL_OPTIONS=-agentpath:$BUILD/t/tools/hide-fields.so=JavaThread._threadObj,nmethod._osr_entry_point
	export JAVA_TOOL_OPTIONS
	run_arcprof record -e cpu-clock,wall -o trace -- java -cp "$CLASSES" Family 300
	[ "$status" -eq 0 ]
	[[ $stderr == *"warning: 1 JVM is unlike those that arcprof knows"* ]]
	arcprof report -i trace >out
	grep -q '^not recorded: stacks at the edges of compiled code of process [0-9]*: this JVM has no nmethod._osr_entry_point$' out
	grep -q '^not recorded: what threads wait for of process [0-9]*: this JVM has no JavaThread._threadObj$' out
	# what rests on neither says nothing
	run_arcprof record --callflow -o trace -- java -cp "$CLASSES" Family 10
	[[ $stderr != *"unlike"* ]]
}
@test "record: facts that a JVM lacks are named, with the features that rely on them" {
	make -s -C "$TOP" build/t/tools/hide-fields.so >&2
	one_jdk newest of_a_jvm_without_some
}

# another_form <what hide-fields.so changes> <how it is recorded> <what is missing> [<program>...]
another_form() {
	local program=(Stress 1)
	[ $# -le 3 ] || program=("${@:4}")
	JAVA_TOOL_OPTIONS=-agentpath:$BUILD/t/tools/hide-fields.so=$1 \
		run_arcprof record -e "$2" -o trace -- java -cp "$CLASSES" "${program[@]}"
	[ "$status" -eq 0 ]
	[[ $stderr == *"warning: 1 JVM is unlike those that arcprof knows"* ]]
	arcprof report -i trace >out
	grep "^not recorded: " out | sed 's/ of process [0-9]*//' | grep -Fx "not recorded: $3" || { cat out; return 1; }
}

# What the JVM exports may be there and mean something else, and what Java has may not be there.
of_a_jvm_in_another_form() {
	another_form PcDesc._scope_decode_offset=8 cpu-clock \
		'inlined methods between calls: this JVM has no scopes of compiled code that lead to its method' Stress 8
	at_least "$(arcprof report -i trace --format folded | grep -c Stress)" 5
	another_form ConstMethod._code_size=36 cpu-clock \
		'source lines of Java methods: this JVM has no line tables that say what JVMTI says'
	another_form frame::interpreter_frame_sender_sp_offset=-2 cpu-clock \
		'Java methods on stacks: this JVM has no frame::interpreter_frame_sender_sp_offset in its place'
	another_form MONITOR_WAIT=4 wall \
		'notified threads that wait for their monitor: this JVM has no MONITOR_WAIT = 3'
	another_form PerfDataEntry.name_offset=8 cpu-clock \
		'compilers, and certainty of names: this JVM has no PerfDataEntry.name_offset = 4'
	another_form java/lang/Thread.parkBlocker wall \
		'classes of what threads are parked for: this JVM has no java/lang/Thread.parkBlocker'
	another_form java/lang/Thread.eetop wall \
		'classes of what threads are parked for: this JVM has no references that can be followed while it runs'
	[ "$JDK" -ge 21 ] || return 0
	another_form java/lang/VirtualThread.PARKING wall,virtual \
		'for what virtual threads wait: this JVM has no java/lang/VirtualThread.PARKING' LockWaits lock v 3 20 1
}
@test "record: facts that differ in a JVM are not used, and named" {
	make -s -C "$TOP" build/t/tools/hide-fields.so >&2
	on_each_jdk of_a_jvm_in_another_form
}

# As Zero is, whose frames nobody can walk: what rests on none works.
without_frames() {
	local JAVA_TOOL_OPTIONS=-agentpath:$BUILD/t/tools/hide-fields.so=JavaFrameAnchor._last_Java_fp
	export JAVA_TOOL_OPTIONS
	run_arcprof record -e cpu-clock,alloc=1k -o trace -- java -cp "$CLASSES" Family 300
	[ "$status" -eq 0 ]
	arcprof report -i trace >out
	grep -q '^not recorded: Java methods on stacks of process [0-9]*: this JVM has no JavaFrameAnchor._last_Java_fp$' out
	arcprof report -i trace --metric alloc --format json | jq -e '.quality | .samples > 0 and .complete_stacks == 0'
	run_arcprof record --callflow -o trace -- java -cp "$CLASSES" Family 10
	[ "$status" -eq 0 ]
	arcprof report -i trace --xprof --format json | jq -e '[.rows[] | select(.name == "Family.main") | .n] == [1]'
}
@test "record: a JVM whose frames cannot be walked has all but Java methods on stacks" {
	make -s -C "$TOP" build/t/tools/hide-fields.so >&2
	one_jdk newest without_frames
}

# Sizes of the code records, one of each; nothing but places where compiled code was sampled.
sizes_of_code() {
	arcprof dump -i trace -M 19 --format json |
		jq -c '[.records[] | select(.name == "code") | .fields.size] | unique'
}
only_places() {
	record -- java -cp "$CLASSES" Mixed 1
	[ "$status" -eq 0 ]
	[ "$(sizes_of_code)" = '[1]' ]
	arcprof report -i trace --xprof --by-kind --format csv | grep -q 'C2'
}
@test "java: of compiled code the trace has the places that samples hit" { one_jdk newest only_places; }

@test "java: a JVM is found through a shell, and through a script that execs it" {
	one_jdk newest java_started_by
}

java_family() {
	local java=$JAVA_HOME/bin/java shares
	shares=$(workload shares)
	record -- "$java" -cp "$CLASSES" Family 300 "$java" -cp "$CLASSES" Family 300 "$shares" 40
	[ "$status" -eq 0 ]
	[ "$(grep -c '^done' out)" -eq 2 ]
	[ "$(grep -c 'child ended with 0' out)" -eq 2 ]
	[ "$(jvms)" -eq 2 ]
	arcprof report -i trace --xtree --format json >tree
	# Both JVMs have Java stacks of their own; what they forked was java as well, for less than a millisecond ...
	[ "$(jq '[.. | objects | select(.kind? == "process" and .name == "java" and .cum[0] > 50000000)] | length' tree)" -eq 2 ]
	at_least "$(count '^java;main;.*Family\.work ')" 500
	# ... and what the second one started is sampled from its first instruction.
	at_least "$(count '^shares;shares;')" 100
	about "$(count '^shares;.*;sixteen [^;]*$')" "$(($(count '^shares;.*;main [^;]*;') * 8 / 31))"
}
@test "java: a JVM that a JVM starts is covered, and a native program that this one starts" {
	one_jdk oldest java_family
}

java_options() {
	export JAVA_TOOL_OPTIONS="-Dkept=yes '-Dspace=a b'"
	record -- java -XshowSettings:properties -cp "$CLASSES" Family 100
	unset JAVA_TOOL_OPTIONS
	[ "$status" -eq 0 ]
	grep -q 'kept = yes' out err
	grep -q 'space = a b' out err
	[ "$(jvms)" -eq 1 ]
	at_least "$(count 'Family\.work ')" 30
}
@test "java: JAVA_TOOL_OPTIONS that were there are kept" {
	one_jdk newest java_options
}

java_without_recorder() {
	"$ARCPROF" record -o trace -- java -cp "$CLASSES" Paths 300 plain lambda deflate >out 2>err </dev/null &
	local recorder=$! i
	for i in $(seq 100); do
		[ -s out ] && break
		sleep .1
	done
	kill -9 "$recorder"
	wait "$recorder" || true
	for i in $(seq 200); do
		grep -q '^deflate' out && break
		sleep .1
	done
	[ "$(sed 's/ .*//' out)" = "plain
lambda
deflate" ]
	[ ! -s err ]
	# What it had flushed can be read.
	status=0
	arcprof report -i trace --xprof >/dev/null 2>notes || status=$?
	[ "$status" -eq 1 ]
	grep -q 'has no end' notes
}
@test "java: when the recorder is killed the program goes on, and the trace can be read" {
	one_jdk oldest java_without_recorder
}

# Of each kind what is in the trace fits together, and what is not there is not said to be nothing. They mostly wait: all
# run at once.
cut_recordings() {
	local kinds=('-e wall' '-e lock' '--callflow' '-e cpu-clock,wall,alloc,lock') recorders=() child i
	cat >Queue.java <<-'END'
		public class Queue {
			static long n;
			static synchronized void take() throws Exception {
				n++;
				Thread.sleep(2);
			}
			public static void main(String[] args) {
				for (int i = 0; i < 4; i++)
					new Thread(() -> {
						try {
							for (int k = 0; k < 10000; k++)
								take();
						} catch (Exception e) {
						}
					}).start();
			}
		}
	END
	"$JAVA_HOME/bin/javac" -d . Queue.java
	for i in "${!kinds[@]}"; do
		# shellcheck disable=SC2086
		"$ARCPROF" record -q ${kinds[i]} -o "$i.trace" -- java -cp . Queue >out 2>err </dev/null 3>&- &
		recorders+=($!)
	done
	# until each has stored something, and then for a while
	for i in "${!kinds[@]}"; do
		for _ in {1..200}; do
			! arcprof report --format json "$i.trace" 2>/dev/null | jq -e '.quality.n > 0' >/dev/null || break
			sleep .1
		done
	done
	sleep 1
	for i in "${!kinds[@]}"; do
		child=$(pgrep -P "${recorders[i]}")
		kill -KILL "${recorders[i]}"
		kill -KILL "$child"
		wait "${recorders[i]}" || true
		arcprof report --check "$i.trace" >check || true
		! grep -v '^ok' check || false
		run_arcprof report --format json "$i.trace"
		[ "$(jq .quality.n <<<"$output")" -gt 0 ]
		[[ $stderr == *'trace has no end: the recording was cut off after '* ]]
		[[ ${kinds[i]} == *lock* ]] || continue
		run_arcprof report --locks "$i.trace"
		[ "$status" -eq 1 ]
		[[ $stderr == *'the recording was cut off before the waits for each lock were added up'* ]]
	done
}
@test "java: what a killed recorder leaves of waits, locks and calls fits together" {
	one_jdk newest cut_recordings
}

java_daemon() {
	record -- sh -c "(sleep 1; '$JAVA_HOME/bin/java' -cp '$CLASSES' Family 50 >daemon.out 2>daemon.err; echo \$? >daemon.status) >/dev/null 2>&1 </dev/null & true"
	[ "$status" -eq 0 ]
	local i
	for i in $(seq 600); do
		[ -s daemon.status ] && break
		sleep .1
	done
	cat daemon.err
	[ "$(cat daemon.status)" = 0 ]
	[ "$(cat daemon.out)" = "done" ]
	[ ! -s daemon.err ]
}
@test "java: a JVM that starts after the recording, with the environment inherited, works as ever" {
	one_jdk oldest java_daemon
}

# ended <how> <status>: recorded, it ends as it does without a recorder.
ended() {
	record -- java -XX:-CreateCoredumpOnCrash -cp "$CLASSES" Ends "$1"
	[ "$status" -eq "$2" ]
	[ "$(head -n 1 out)" = "ends by $1" ]
	at_least "$(count ';main;.*Ends\.work ')" 150
	at_least "$(count ';other;.*Ends\.work ')" 50
	[ "$(lost)" -le 1 ]
}
java_ends() {
	local how
	ulimit -c 0
	for how in return:0 exit:3 halt:4 throw:1 kill:137; do
		ended "${how%:*}" "${how#*:}"
	done
}
# bats test_tags=stored
@test "java: exit, halt, an exception and kill -9 keep their status and all samples" {
	one_jdk newest java_ends
}

java_crash_report() {
	ulimit -c 0
	ended crash 1	# no core: it does not abort
	grep -q 'Ends\.crash' hs_err*
	grep -q '^END' hs_err*
	! grep -q 'error occurred during error reporting' hs_err* || false
	! grep -q 'SIGTRAP' out || false
}
@test "java: a crash keeps its status, its samples and the JVM's report of it" {
	each_jdk java_crash_report
}

# Codes of a GenNN that lie where code of an earlier GenNN was; of each the trace has the places of samples.
reused() {
	arcprof dump -i trace -M 19 --format json | jq '
		([.records[] | select(.name == "method" and (.fields.class | test("^Gen[0-9][0-9]$")))
			| { key: "\(.fields.method)", value: .fields.class }] | from_entries) as $gen
		| [[.records[] | select(.name == "code") | .fields | select($gen["\(.method)"])] | group_by(.compile_id)[]
			| { gen: $gen["\(.[0].method)"], from: (map(.addr) | min), to: (map(.addr) | max + 1) }]
		| [range(length) as $i | .[$i] as $c
			| any(.[:$i][]; .gen != $c.gen and .from < $c.to and $c.from < .to) | select(.)] | length'
}
java_generations() {
	record -- java -XX:ReservedCodeCacheSize=3m -XX:+UseSerialGC -cp "$CLASSES" Generations 30 60
	[ "$status" -eq 0 ]
	at_least "$(sed -n 's/unloaded //p' out)" 15
	[ "$(lost)" -eq 0 ]
	# The test means something: code of later generations lies where that of earlier ones was.
	at_least "$(reused)" 10
	local start k begin end cpu named all others gone=0 strangers=0
	start=$(arcprof dump -i trace -M c3 --format json | jq -r '.records[].fields | select(.key == "start.mono_ns") | .value')
	while read -r k begin end cpu; do
		[ "$k" != unloaded ] || continue
		k=$(printf %02d "$k")
		stacks --thread main --from "$((begin - start))ns" --to "$((end - start))ns"
		all=$(count ';Generations\.live ')
		named=$(count ";Generations\\.live .*;Gen$k\\.work$k ")
		others=$(count ';Gen[0-9][0-9]\.')
		others=$((others - $(count ";Gen$k\\.")))
		# Code of live() that the compiler made for the generation before has that one's method in it, behind a
		# check of the class, and the JVM does not say where the check ends and the method begins.
		[ "$others" -le 1 ] || { echo "$others samples of other generations in that of $k"; return 1; }
		strangers=$((strangers + others))
		about "$all" $((cpu / 1000000))
		at_least $((named * 2)) "$all"		# the rest is work before it is compiled, and its caller's
		gone=$((gone + $(count 'unwalkable|\(unresolved\)')))
	done <out
	[ "$strangers" -le 2 ] || { echo "$strangers samples are of another generation"; return 1; }
	stacks
	few "$gone" "$(count ';Generations\.live ')" 3
}
# bats test_tags=stored
@test "java: classes that are unloaded and code whose addresses are used again keep their names" {
	one_jdk oldest java_generations
}

# What real programs print, recorded or not.
printed() {
	case $1 in
	mixed) echo "done" ;;
	javac) ;;
	ant) printf '\nBUILD SUCCESSFUL\n' ;;
	maven) echo valid ;;
	groovy) printf '%s\n' '[w1:40, w10:40, w100:40]' 7412359368854705817 ;;
	jruby) printf '%s\n' '[["w1", 99], ["w10", 99], ["w100", 99]]' 46368 350853 ;;
	clojure) printf '%s\n' '([w0 99] [w1 99] [w10 99])' 755922 ;;
	h2) echo 57434380 57434380 ;;
	esac
}

# The same output as without a recorder, nothing lost, and stacks that reach the root.
java_real() {
	local program=$1 limit=$2 all
	java_program "$program" "${3:-1}"
	[ -z "$WHY_NOT" ] || { echo "# JDK $JDK: $program: $WHY_NOT" >&3; return 0; }
	record -- "${COMMAND[@]}"
	[ "$status" -eq 0 ]
	[ "$(lost)" -eq 0 ]
	sed 's/\x1b\[[0-9;]*m//g' out | diff - <(printed "$program")
	all=$(count '^java;|^javac;')
	at_least "$all" 300
	grep -E '^javac?;.*(unwalkable|\(unresolved\))' stacks || true
	few "$(count '^javac?;.*(unwalkable|\(unresolved\))')" "$all" "$limit"
}
# bats test_tags=stored
@test "java: a bit of everything, with stacks to the root" { each_jdk java_real mixed 3 1/2; }
# bats test_tags=stored
@test "java: javac of 50 sources, with stacks to the root" { one_jdk newest java_real javac 10 1/4; }
# bats test_tags=stored
@test "java: an Ant build, with stacks to the root" { one_jdk oldest java_real ant 3 1/4; }
# bats test_tags=stored
@test "java: Maven, with stacks to the root" { one_jdk newest java_real maven 3; }
# bats test_tags=stored
@test "java: a Groovy script, with stacks to the root" { one_jdk oldest java_real groovy 3; }
# bats test_tags=stored
@test "java: a JRuby script, with stacks to the root" { one_jdk oldest java_real jruby 3; }
# bats test_tags=stored
@test "java: a Clojure script, with stacks to the root" { one_jdk newest java_real clojure 3; }
@test "java: H2 under load, with stacks to the root" { one_jdk newest java_real h2 3; }

@test "java: under stress nothing crashes, changes or breaks an invariant" {
	skip_unless_perf
	[ -n "$(jdks)" ] || skip "no JDK is installed"
	VERBOSE=1 "$TOP/t/stress-java" 8 10
}

java_alone() {
	local report
	record -- java -cp "$CLASSES" Mixed 2 1
	[ "$status" -eq 0 ]
	rm -rf empty
	mkdir empty
	cp "$ARCPROF" trace empty
	for report in --xarc --xtree --xprof --tprof "--xprof --format json" "--xtree --by-kind --signatures --lines"; do
		# shellcheck disable=SC2086
		arcprof report -i trace $report >here
		# shellcheck disable=SC2086
		chroot empty /arcprof report -i /trace $report >there
		cmp here there
		# of others a sample may be in what has no name, as between two functions
		! grep -qE 'unknown in lib(jvm|c)\.so' there || false
	done
}

@test "java: the trace alone gives the same reports in an empty root" {
	skip_unless_root
	chroot / true 2>/dev/null || skip "chroot is not permitted"
	one_jdk oldest java_alone
}

# How often a method was on the stack, weighed by the CPU time that the samples stand for.
cum_of() {
	json "[.rows[] | select(.name == \"$1\") | .cum[0]][0]" report
}

java_without_perf() {
	"$BUILD/t/tools/deny" perf_event_open "$ARCPROF" record -o trace -- java -cp "$CLASSES" Shares 300 >out 2>said || { cat said; return 1; }
	cat said
	grep -q 'warning: JVMs were sampled by CPU timers.*a system call filter forbids perf events' said
	arcprof report -i trace --xprof | head -n 1 | grep -q 'by CPU timers (tick-bound, user code of JVMs only)'
	arcprof report -i trace --check
	arcprof report -i trace --xprof --format json >report
	# in the proportions of the program, by time: a sample stands for all periods since the one before
	sixteen=$(cum_of Shares.sixteen) eight=$(cum_of Shares.eight) total=$(json '.metrics[0].total' report)
	echo "sixteen $sixteen eight $eight total $total"
	[ "$((sixteen * 10))" -gt "$((eight * 14))" ] && [ "$((sixteen * 10))" -lt "$((eight * 28))" ]
	[ "$((sixteen * 10))" -gt "$((total * 3))" ]
	# a process that is not a JVM is refused as before
	! "$BUILD/t/tools/deny" perf_event_open "$ARCPROF" record -o none -- true 2>said || false
	grep -q 'a system call filter forbids perf events' said
	[ ! -e none ]
}

@test "record: in a container without perf events JVMs sample themselves, with a message" { on_one_jdk newest java_without_perf; }

java_lines() {
	record -- java -cp "$CLASSES" Kinds 20000
	[ "$status" -eq 0 ]
	# as javap has them: of the program and of a class of the JDK
	arcprof dump -i trace --format json | "$TOP/t/tools/java-lines" "$CLASSES" Kinds java/lang/String >tables || { cat tables; return 1; }
	cat tables
	at_least "$(sed -n 's/ tables$//p' tables)" 3
	# where the time is: in the loops, called from both(), from main()
	arcprof report -i trace --xtree --lines --format json >tree
	jq -r '.. | objects | select(.detail? // "" | startswith("Kinds.java:")) | "\(.name) \(.detail)"' tree | sort -u >lines
	cat lines
	grep -q '^Kinds.both Kinds.java:28$' lines
	grep -q '^Kinds.main Kinds.java:37$' lines
	! grep -vE '^Kinds\.(inlined Kinds.java:1[0-5]|called Kinds.java:(19|2[0-4])|both Kinds.java:28|main Kinds.java:3[1-9])$' lines || false
	# what was not hit has no table: fewer tables than methods
	arcprof dump -i trace -M 19 >methods
	[ "$(grep -c ' method.lines ' methods)" -lt "$(grep -c ' method proc' methods)" ]
	# a JVM that the recorder has forgotten by the end
	record -- sh -c "java -cp '$CLASSES' Kinds 3000; sleep 3"
	[ "$(arcprof dump -i trace -M 19 | grep -c ' method.lines ')" -gt 0 ]
	record --no-lines -- java -cp "$CLASSES" Kinds 2000
	[ "$(arcprof dump -i trace -M 19 | grep -c ' method.lines ')" -eq 0 ]
}
# bats test_tags=stored
@test "java: source lines are those of the class files, of callers the line of the call" { one_jdk newest java_lines; }

# What was opened for a JVM is closed when the next one comes, at the latest.
@test "java: JVMs that have ended leave no files open in the recorder" {
	skip_unless_perf
	record -- sh -c "for i in 1 2 3 4 5 6; do
		java -Xshare:auto -cp '$CLASSES' Hellop >/dev/null; ls /proc/\$PPID/fd | wc -l; done"
	cat out
	[ "$(wc -l <out)" -eq 6 ]
	[ "$(sed -n 6p out)" -le $(($(sed -n 2p out) + 8)) ]
}

deepest() {
	record -c 1000 --java-depth 16000 -- timeout -s KILL 100 java -cp "$CLASSES" Deepest 1500
	[ "$status" -eq 0 ]
	local used told
	used=$(tail -n 1 out)
	told=$(arcprof query --format csv trace "select sum(s.weight) from samples s join threads t
		on s.thread = t.id where t.name = 'deepest'" | tail -n 1)
	echo "$used ns used, $told ns told"
	awk -v used="$used" -v told="$told" 'BEGIN { exit !(told > .93 * used && told < 1.07 * used) }'
	grep -q ', [0-9]* throttled, ' err
	arcprof report -i trace >shown
	grep -q ', [0-9]* throttled, ' shown
	grep -q '^throttled: [0-9]* hits of JVMs without a sample, .*; the next samples have their weight' shown
}

@test "a thread whose stack takes longer to walk than the interval gets on, and its CPU time is all there" {
	one_jdk newest deepest
}
