#!/usr/bin/env bats
# Events of JVMs in time, on every JDK of this machine: what the program did a known number of times, and what
# the JVM's own log and Flight Recorder say of the same run.
load ../lib
load ../jdks
load ../live

# Rows of a report that match the filter, as CSV.
rows() {	# <report> <pattern>
	arcprof report "--$1" --format csv trace | grep -cE -- "$2" || true
}

# A cell of the row of a summary: <report> <column> <pattern>
cell() {
	arcprof report "--$1" --format json trace |
		jq -r --arg re "$3" "[.rows[] | select([.kind, .what // \"-\", .cause // \"-\"] | join(\" \") | test(\$re)) | .$2] | add"
}

known_numbers() {
	arcprof record -q -e jvm,exception,throws -o trace -- java -cp "$CLASSES" Happens 7 >out
	cat out
	[ "$(cell exceptions n 'exception java.lang.IllegalStateException Happens.fail')" -eq 700 ]
	[ "$(cell classes n 'load - Happens.Own@')" -eq 7 ]
	[ "$(cell gc n 'pause Pause Full System.gc')" -eq 7 ]
	[ "$(rows log=thread-start ',happens-[0-9]+,[0-9]+,happens-')" -eq 7 ]
	[ "$(rows log=thread-end ',happens-[0-9]+,[0-9]+,happens-')" -eq 7 ]
	# where they are thrown, with the stack of each
	arcprof report --metric throws --format folded trace | sed 's/.*;\(Happens.main;\)/\1/' | tee folded
	[ "$(cat folded)" = "Happens.main;Happens.exceptions;Happens.fail;java.lang.IllegalStateException 700" ]
	# the hot method: by C1, then by C2
	[ "$(rows log=compile ',Happens::hot,')" -ge 2 ]
	arcprof report --log=exception --thread main --limit 1 trace | tee list
	grep -qE '^ +[0-9]+\.[0-9]{6} +- exception +main +java\.lang\.IllegalStateException in Happens\.fail$' list
	grep -qx '\.\.\. 699 more' list
}

# JVMs count the pauses of Serial, Parallel, G1 and ZGC, and phases of Shenandoah, and log them all.
pauses_are_counted() {
	local gc
	for gc in UseSerialGC UseParallelGC UseG1GC UseZGC UseShenandoahGC; do
		java "-XX:+$gc" -version >/dev/null 2>&1 || continue
		arcprof record -q -e gc -o trace -- java "-XX:+$gc" -Xmx64m -Xlog:gc,gc+phases:file=jvm.log \
			-cp "$CLASSES" Happens 20 >out
		arcprof report --check trace >check || { cat check; return 1; }
		arcprof report --gc --format json trace | jq -c '.counted[]' >counted
		cat counted
		if [ $gc = UseShenandoahGC ]; then
			jq -e '.pauses == null and .why == "Shenandoah counts phases, not pauses"' counted
			arcprof report --gc trace | grep -q '^the JVM.s own count, of process [0-9]*: n/a: Shenandoah'
			continue
		fi
		grep -q 'ok   pauses, waits for monitors = those that JVMs count  *2 checked' check
		# lines with a time: each pause has one
		jq -e --argjson n "$(grep -cE 'Pause .*[0-9]ms$' jvm.log)" '.pauses == $n and .recorded == $n and $n > 0 and
			.pauses_ns > 0 and .pauses_ns < 1.05 * .recorded_ns + 2000 * $n' counted
		arcprof report --gc trace | grep -qE "^the JVM's own count, of process [0-9]+: [0-9]+ pauses in .*, of which [0-9]+ in .* were recorded$"
	done
}

@test "events: pauses are as many, and as long, as the JVM itself counts" {
	on_each_jdk pauses_are_counted
}

pauses_without_perf() {
	"$BUILD/t/tools/deny" perf_event_open "$ARCPROF" record -q -e gc -o trace -- sh -c 'java -cp "$1" Happens 3 && java -version' sh "$CLASSES" >out
	arcprof report --gc --format json trace | jq -e '.counted[0] | .pauses >= 3 and .recorded == .pauses'
}

@test "events: of JVMs in a container without perf events" {
	on_one_jdk newest pauses_without_perf
}

uncounted_pauses() {
	arcprof record -q -e gc -o trace -- java -XX:-UsePerfData -cp "$CLASSES" Happens 3 >out
	arcprof report --gc trace | grep -q "^the JVM's own count, of process [0-9]*: n/a: it keeps no performance data"
}

pauses_from_then_on() {
	local pid
	java -Xmx64m -cp "$CLASSES" Allocated 16 20 >out 3>&- &
	pid=$!
	until [ "$(wc -l <out)" -eq 3 ]; do sleep .05; done
	arcprof record -q -e gc,alloc -p $pid -d 1 -o trace
	kill $pid
	wait $pid || true
	arcprof report --check trace >check || { cat check; return 1; }
	grep -q 'ok   pauses, waits for monitors = those that JVMs count  *2 checked' check
	arcprof report --gc --format json trace | jq -e '.counted[0] | .pauses > 5 and .recorded > 5'
}

@test "events: pauses of a running JVM are counted from when the recording begins" {
	on_each_jdk pauses_from_then_on
}

@test "events: reports say so if the JVM does not count its pauses" {
	on_one_jdk newest uncounted_pauses
}

@test "events: exceptions, classes, collections and threads are as many as the program says" { each_jdk known_numbers; }

# The JVM's own log has all loads from the first on.
before_us() {
	local before all told
	arcprof record -q -e jvm -o trace -- java -Xlog:class+load:file=loads -cp "$CLASSES" Happens 7 >out
	arcprof report --classes trace | tee report
	before=$(sed -n 's/^not recorded: events .* of process .*: classes loaded: \([0-9]*\),.* before the agent listened, [0-9]* ms after the JVM loaded it$/\1/p' report)
	all=$(grep -c ' source: ' loads) told=$(rows log=load ',load,')
	echo "before $before, told $told, in all $all"
	[ $((before + told)) -ge $((all - 5)) ]
	[ $((before + told)) -le $((all + 5)) ]
	# and each is named
	[ "$(arcprof report --classes --format json trace | jq '[.rows[] | select(.kind == "present") | .n] | add')" -eq "$before" ]
	arcprof report --log=present --format csv trace >present
	[ "$(grep -c ',present,.*,java.lang.Object,boot' present)" -eq 1 ]
	arcprof report --log --format json trace | jq -e '.source.refused | map(select(test("before the agent listened"))) | length == 1'
	# without the VM's counters
	arcprof record -q -e gc,class -o trace -- java -XX:-UsePerfData -cp "$CLASSES" Happens 7 >out
	arcprof report --log trace | grep -qE "^not recorded: events gc,class of process [0-9]+: classes loaded: $before, collections: not known before the agent listened, "
}

@test "events: reports say what happened before the agent listened, as the JVM's log counts it" { each_jdk before_us; }

with_calls() {
	arcprof record -q -e gc,exception,alloc=16k --calltrace -o trace -- java -cp "$CLASSES" Happens 7 >out
	arcprof report --gen --format csv trace >gen
	tail -n +2 gen | cut -d, -f 1 | sort -nc
	[ "$(grep -c ',jvm,pause,' gen)" -eq "$(rows log=pause ,pause,)" ]
	# each is thrown in a call of the method that throws it, which an exception then ends
	arcprof report --gen --event entry,exception --symbol Happens.fail --format csv trace >fail
	awk -F, '$4 == "Happens.fail" || $4 == "java.lang.IllegalStateException" { print $2, $3 }' fail | uniq -c | sort | uniq -c |
		awk '{ print $1, $2, $3, $4 }' >turns
	printf '%s\n' '700 1 call entry' '700 1 call exception' '700 1 jvm exception' | diff - turns
	# and what was allocated, all of it
	arcprof report --samples --metric alloc --format json trace >alloc
	arcprof report --gen --event sample --format csv trace | awk -F, '$3 == "alloc" { n++; sum += $12 }
		END { print n, sum }' | tee sums
	[ "$(cat sums)" = "$(jq -r '"\(.quality.samples) \(.metrics[0].total)"' alloc)" ]
	arcprof report --gen --event sample --symbol Happens.fail trace | tee in-fail | grep -qE \
		' \. \[alloc [0-9]+ bytes, objects [0-9]+: (java\.lang\.IllegalStateException|java\.lang\.Object\[\]|[a-z].*) in M:.*\] main$'
	arcprof report --calls=Happens.fail --limit 1 --format json trace |
		jq -e '.n == 700 and (.slowest[0].inside | map(select(.kind == "exception" and .name == "java.lang.IllegalStateException")) | length == 1)'
}

@test "events: in one order with calls" { one_jdk oldest with_calls; }

# Marks and phases of the last recording: number, kind, name.
marked() {
	arcprof report --log=mark --format csv "$@" trace | tail -n +2 | cut -d, -f 3,6 | sort | uniq -c | sed 's/^ *//'
}

# Named values of the last recording's events: as JSON, as text, and in Chrome's format.
fields_are_true() {
	local cart='{"path":"/cart","status":200,"seconds":0.25}' odd='"path":"/a \"b\"\n,c"'
	arcprof report --log=mark --format json trace >log
	jq -c '.events[] | select(.what == "request") | .fields' log >fields
	[ "$(sed -n 1,2p fields)" = '{"path":"","status":0,"seconds":0.1}'$'\n'"$cart" ]
	grep -qF "$odd" fields
	# numbers to the last digit
	grep -qF '"status":-9223372036854775808' log
	grep -qF '"status":9223372036854775807' log
	[ "$(jq -c 'select(.path == null)' fields | jq -r 'has("seconds"), .seconds')" = $'true\nnull' ]
	arcprof report --log=mark trace | grep -qF ' request: path="/a \"b\"\n,c" status=-9223372036854775808 seconds=-1e+300'
	arcprof query -q -i trace --format json "SELECT count(*) AS n, sum(fields IS NOT NULL) AS named,
		sum(duration) AS ns, max(json_extract(fields, '\$.seconds')) AS most FROM log WHERE kind IN ('mark', 'phase')" | jq -c '.rows[0]' >asked
	jq -c '{ n: [.events[]] | length, named: [.events[].fields | select(.)] | length,
		ns: [.events[].duration_ns | select(.)] | add, most: 0.25 }' log | diff asked -
	arcprof report --marks --format json trace |
		jq -c '[.rows[] | select(.what == "request") | { kind, n, total_ns }]' >sums
	jq -c '[.events[] | select(.what == "request")] | [
		{ kind: "mark", n: [.[] | select(.kind == "mark")] | length },
		{ kind: "phase", n: 1, total_ns: [.[].duration_ns | select(.)] | add }]' log >known
	jq -c 'map(del(.total_ns | nulls))' sums | diff - known
	arcprof report --marks --by-label path --format json trace |
		jq -c '[.rows[] | select(.what == "request" and .kind == "phase") | [.label, .n, .mean_ns, .p95_ns]]' >sums
	jq -c '[.events[] | select(.what == "request" and .kind == "phase") |
		["path=" + .fields.path, 1, .duration_ns, .duration_ns]]' log | diff sums -
	arcprof report -q --format chrome trace | gunzip |
		jq -ce '[.traceEvents[] | select(.args.path == "/cart")] | length == 1 and .[0].args.status == 200 and .[0].name == "request"'
}

@test "events: marks of a program in C, of its threads and of its child" {
	gcc -O1 -I "$TOP/lib/api" "$TOP/t/data/marks/marks.c" "$BUILD/libarcprof.a" -o marks -pthread
	run_arcprof record -e mark -o trace -- ./marks 4 1000
	[ "$status" -eq 0 ]
	[[ $stderr == *"4010 JVM events"* ]]
	marked | diff - <(printf '%s\n' '1 mark,child' '4000 mark,from a thread' '4 mark,request' '3 mark,step' \
		'1 phase,"all' '1 phase,request')
	arcprof report --log=mark --format json trace >log
	[ "$(jq -c '[.events[] | select(.what == "step") | .value]' log)" = "[0,1,2]" ]
	[ "$(jq '[.events[] | select(.what == "from a thread") | .tid] | unique | length' log)" -eq 4 ]
	# the phase lasts from before the first mark to after the last
	jq -e '(.events[] | select(.what == "all, of \"it\"")) as $p | $p.duration_ns >= 20000000 and
		([.events[] | select(.kind == "mark") | .time_ns >= $p.time_ns and .time_ns <= $p.time_ns + $p.duration_ns] | all)' log
	arcprof report -q --format chrome trace | gunzip | jq -e '[.traceEvents[] | select(.name == "all, of \"it\"" and .ph == "X")] | length == 1'
	arcprof report --timeline trace | grep -qE '^phase +2 '
	fields_are_true
	[ "$(jq -r '.events[] | select(.fields.path // "" | length > 100) | .fields.path' log)" = "$(printf 'x%.0s' {1..1022})" ]
	# each process has its own
	[ "$(jq -r '[.events[] | select(.what == "child" or .what == "step") | .tid] | unique | length' log)" -eq 2 ]
	# nobody records
	./marks 1 10 | grep -qx '3 step'
	run_arcprof record -e gc -o none -- ./marks 1 10
	[[ $stderr != *"JVM events"* ]] || [[ $stderr == *" 0 JVM events"* ]]
	# what the environment names is no recorder
	ARCPROF_MARKS=$PWD/nothing ./marks 1 10 | grep -qx '3 step'
}

@test "events: what happens in a call is between its entry and its exit" {
	[ -f "$BUILD/libarcprof-hookit.a" ] || make -s -C "$TOP" build/libarcprof-hookit.a >&2
	cat >inside.c <<-END
		#include <arcprof.h>
		#include <unistd.h>
		void inside(void) { arcprof_mark("inside"); }
		int main(void) { for (int i = 0; i < 100; i++) { inside(); usleep(3000); } }
	END
	gcc -O1 -finstrument-functions -I "$TOP/lib/api" inside.c "$BUILD/libarcprof.a" "$BUILD/libarcprof-hookit.a" \
		-o inside -pthread
	arcprof record -q --calltrace -e mark -o trace -- ./inside
	arcprof report --log=mark --format csv trace | tail -n +2 | cut -d, -f 1 >marks
	arcprof report --flow --format csv trace | grep ',inside$' | cut -d, -f 1,2 >calls
	# two clocks, read one after the other
	paste -d, marks calls | awk -F, '$1 < $2 - 2000 || $1 > $3 + 2000 { bad++ } END { print NR, bad + 0; exit NR != 100 || bad > 5 }'
}

marks_of_java() {
	local run=(java -Darcprof.library="$BUILD/libarcprof-java.so" -cp "$BUILD/arcprof.jar:$CLASSES" Marks 500)
	arcprof record -q -e mark,thread --calltrace -o trace -- "${run[@]}"
	marked | diff - <(printf '%s\n' '5 mark,request' '1000 mark,étape' '1 phase,all' '1 phase,request')
	[ "$(marked --thread other)" = "500 mark,étape" ]
	# with calls and threads in one order
	arcprof report --gen --format csv --event entry,mark,thread trace >gen
	tail -n +2 gen | cut -d, -f 1 | sort -nc
	[ "$(grep -c ',jvm,mark,étape,' gen)" -eq 1000 ]
	[ "$(grep -c ',call,entry,Marks.step,' gen)" -eq 500 ]
	[ "$(grep -c ',jvm,thread-start,other,' gen)" -eq 1 ]
	arcprof report --gen --event mark trace | grep -qE ' \* \[mark: request: path="/cart" status=200 seconds=0.25\] main$'
	fields_are_true
	grep -qxF '{"path":"é€😀?"}' fields
	[ "$(jq -r '.path | select(. != null and length > 100)' fields)" = "$(printf 'x%.0s' {1..1022})" ]
	# without the library nothing is marked, and nothing fails
	java -cp "$BUILD/arcprof.jar:$CLASSES" Marks 5
}

@test "events: marks of a program in Java" {
	one_jdk newest marks_of_java
}

# Lines of the JVM's log, and the sum of what sed finds in them, in ns.
own_log() {	# <pattern> <sed expression>
	grep -E "$1" jvm.log | sed -nE "$2" | awk '{ n++; s += $1 } END { printf "%d %d\n", n, s }'
}

as_the_log_says() {	# <option of the JVM>
	arcprof record -q -e gc,safepoint,jit -o trace -- java "$@" -Xmx64m \
		"-Xlog:gc,gc+phases,safepoint,jit+compilation=debug,nmethod+install:file=jvm.log:timenanos,tid,tags" -cp "$CLASSES" Happens 3 >out
	own_log '\]\[safepoint *\] Safepoint' 's/.*Total: +([0-9]+) ns.*/\1/p' >want
	arcprof report --log=safepoint --format json trace |
		jq -r '[.events[].duration_ns] | "\(length) \(add)"' >got
	diff want got
	own_log 'GC\([0-9]+\) ([YyOo]: )?Pause .* [0-9.]+ms' 's/.* ([0-9]+)\.([0-9]{3})ms.*/\1\2000/p' >want
	arcprof report --log=pause --format json trace |
		jq -r '[.events[].duration_ns] | "\(length) \(add // 0)"' >got
	diff want got
	# from the moment on when the VM is up, when two threads may be about to say something
	arcprof report --log=compile --format json trace |
		jq -r '.events[] | "\(.compile_id) \(.what)"' >ours
	sed -nE '/made not|COMPILE SKIPPED/d; s/.*\[jit,compilation\] +([0-9]+) .* ([^ ]+::[^ ]+) .*/\1 \2/p' jvm.log |
		awk 'NR == FNR { has[$0] = 1; next } has[$0] { on = 1 } on' ours - >own
	sort ours >ours.sorted
	sort own | comm -3 - ours.sorted >differ
	cat differ
	[ "$(wc -l <ours)" -gt 5 ]
	[ "$(wc -l <differ)" -le 2 ]
	# each lasts until the same thread installs code, by the same clock
	awk -F '[][]+' '/jit,compilation/ && !/made not|COMPILE SKIPPED|native/ { split($5, w, " "); id[$3] = w[1]; at[$3] = $2 }
		/nmethod,install/ && id[$3] { printf "%s %.0f\n", id[$3], $2 - at[$3]; id[$3] = "" }' jvm.log | sort >took
	arcprof report --log=compile --format json trace |
		jq -r '.events[] | select(.duration_ns) | "\(.compile_id) \(.duration_ns)"' | sort >timed
	[ "$(wc -l <timed)" -gt 5 ]
	comm -13 took timed | tee differ
	[ ! -s differ ]
	arcprof report --jit --format json trace >jit
	jq -e --argjson total "$(awk '{ s += $2 } END { print s }' timed)" --argjson max "$(sort -k 2n timed | awk 'END { print $2 }')" \
		'([.rows[].total_ns // 0] | add) == $total and .slowest[0].duration_ns == $max' jit
}

# C2 is denied the memory that it needs.
gives_up() {
	arcprof record -q -e jit -o trace -- java -XX:NodeLimitFudgeFactor=100 -XX:MaxNodeLimit=1000 \
		-XX:+PrintCompilation -cp "$CLASSES" Words 1 >out
	sed -nE 's/^ *[0-9]+ +([0-9]+) .*COMPILE SKIPPED.*/\1/p' out | sort >skipped
	arcprof report --log=not-compiled --format json trace | jq -r '.events[].compile_id' | sort >ours
	arcprof report --log=compile --format json trace | jq -r '.events[] | select(.duration_ns) | .compile_id' | sort >timed
	wc -l skipped ours timed
	[ "$(comm -12 skipped ours | wc -l)" -ge 1 ]
	[ "$(comm -12 skipped timed | wc -l)" -eq 0 ]
	# where the JVM does not report deoptimisations, reports say so
	arcprof report --jit trace | grep -c '^not recorded: deoptimisations of process' >untold || true
	[ "$(<untold)" -eq $((JDK < 18)) ]
}

@test "events: compilations that install nothing" { each_jdk gives_up; }

@test "events: pauses, safepoints and compilations are those of the JVM's log, with G1" { each_jdk as_the_log_says -XX:+UseG1GC; }
@test "events: the same with the serial collector" { one_jdk oldest as_the_log_says -XX:+UseSerialGC; }
@test "events: the same with the parallel collector" { one_jdk oldest as_the_log_says -XX:+UseParallelGC; }
@test "events: the same with ZGC" { one_jdk newest as_the_log_says -XX:+UseZGC; }
@test "events: the same with Shenandoah" { one_jdk newest as_the_log_says -XX:+UseShenandoahGC; }

attached() {
	start_live
	say spin 50
	start_recorder -e jvm,exception -p "$LIVE"
	say spin 300
	end_recorder
	[ "$(rows log=pause,compile ,)" -ge 1 ]
	# classes from before it was attached to have their loader
	arcprof report --log=present --format csv trace >present
	[ "$(grep -c ',present,.*,java.lang.Object,boot' present)" -eq 1 ]
	grep -q ',present,.*,app' present
	arcprof report --log=thread trace >list || true
	grep -q '^not recorded: events exception of process .*: a JVM reports exceptions only if it was started' list
	# nothing of ours is left in the VM's configuration
	for i in {1..100}; do
		jcmd "$LIVE" VM.log list >outputs
		grep -q '/proc/self/fd' outputs || break
		sleep 0.1
	done
	! grep '/proc/self/fd' outputs || false
	end_live
}

@test "events: a running JVM, and its log configuration afterwards" { one_jdk oldest attached; }

not_asked() {
	arcprof record -q -e gc -o trace -- java -cp "$CLASSES" Happens 1 >out
	[ "$(rows 'log=safepoint,jit,class,exception,thread' ,)" -eq 0 ] ||
		[ "$(arcprof report --log --format json trace | jq -r '[.events[].kind] | unique - ["pause", "concurrent"] | length')" -eq 0 ]
	start_live
	start_recorder -p "$LIVE"
	jcmd "$LIVE" VM.log list >outputs
	! grep '/proc/self/fd' outputs || false
	end_recorder
	end_live
}

# A JVM that takes as long as some files to begin, and is asked for its counts at the end of each.
asked_before_it_began() {
	arcprof record -q -e gc --segment 100ms -o dir -- java -Xint -Xshare:off -cp "$CLASSES" Flight steady=300 gc >out
	arcprof report --gc dir | tee report
	! grep '^not recorded: events gc' report || false
}

@test "events: a JVM that is asked for its counts before it has begun logs what it was asked for first" {
	one_jdk oldest asked_before_it_began
}

@test "events: nothing is logged that was not asked for" { one_jdk newest not_asked; }

with_samples() {
	arcprof record -q -e cpu-clock,jvm -o trace -- java -cp "$CLASSES" Happens 7 >out
	arcprof report --check trace
	arcprof report --xprof trace | grep -q 'Happens.hot'
	arcprof report --timeline trace | tee list
	grep -qE '^pause +[0-9]+ .*\|.*\|$' list
	# each is in the trace events, with its duration
	arcprof report --format chrome -o trace.gz trace
	gzip -d <trace.gz | jq '[.traceEvents[] | select(.cat == "pause") | .dur * 1000 | round] | [length, add]' -c >got
	arcprof report --log=pause --format json trace | jq -c '[.events[].duration_ns] | [length, add]' >want
	diff want got
	# selections: a window has its events alone, and halves add up
	all=$(rows log ,)
	# what lasts would be in both, so where nothing does
	at=$(arcprof report --log --format json trace | jq '[.events[] | [.time_ns, .time_ns + (.duration_ns // 0)]] as $e |
		first(range(200; 400) | . as $t | select(all($e[]; .[1] / 1e6 < $t - 0.01 or .[0] / 1e6 > $t + 0.01)))')
	first=$(arcprof report --log --to "${at}ms" --format csv trace | wc -l)
	rest=$(arcprof report --log --from "${at}ms" --format csv trace | wc -l)
	echo "$all $first $rest"
	[ $((first + rest - 1)) -eq "$all" ]
}

@test "events: beside samples, drawn, and by time" { one_jdk newest with_samples; }

@test "events: impossible requests are refused in one line" {
	run_arcprof record -e gc -F 99 -- true
	[ "$status" -eq 2 ]
	[[ $stderr == *"need an event that is sampled"* ]]
	run_arcprof record -e gc --no-java -- true
	[ "$status" -eq 2 ]
	[[ $stderr == *"--no-java and events of JVMs"* ]]
	run_arcprof top -e gc --once
	[ "$status" -eq 2 ]
	skip_unless_perf
	arcprof record -q -e cpu-clock -o trace -- true
	run_arcprof report --gc trace
	[ "$status" -eq 1 ]
	[[ $stderr == *"events of JVMs were not recorded (arcprof record -e jvm)"* ]]
	run_arcprof report --log=pause,nonsense trace
	[ "$status" -eq 2 ]
	[[ $stderr == *"unknown kind of event 'nonsense'"*"kinds: pause, "* ]]
	run_arcprof report --jit --cpu 0 trace
	[ "$status" -eq 2 ]
}
