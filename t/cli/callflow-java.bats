#!/usr/bin/env bats
# Exact callflow of Java programs, on every JDK of this machine: what the program says it called is
# what must have been counted, to the last call.
load ../lib
load ../jdks
load ../callflow/lib.bash

# Records exact calls into ./trace; the program's output is in ./out, messages in ./err.
record() {
	status=0
	"$ARCPROF" record -o trace "$@" >out 2>err </dev/null || status=$?
	echo "\$ arcprof record $* (status $status)"
	cat err
	arcprof report -i trace --check >check || { cat check; return 1; }
	! grep -v '^ok' check || false
}

# All base values of a metric in rows whose kind and name match, from a tree of the last recording.
base_of() {	# <column> <kind> <name>
	arcprof report -i trace --xtree --format tree |
		awk -F '\t' -v c="$1" -v kind="$2" -v name="$3" '
			/^# metric/ { m++ }
			!/^#/ && $(m + 4) ~ kind && $(m + 3) ~ name { n += $(c + 2) }
			END { printf "%.0f\n", n }'
}

expect_calls() {	# <file with what is wanted>
	ARCPROF=$ARCPROF "$TOP/t/expect-calls" trace "$1"
}

about() {	# <got> <want> <percent> <slack>
	awk -v got="$1" -v want="$2" -v p="$3" -v slack="$4" 'BEGIN {
		d = got - want
		if (d < 0)
			d = -d
		if (d <= want * p / 100 + slack)
			exit 0
		print got " is not about " want
		exit 1
	}'
}

calls() {
	local mode
	for mode in -XX:+TieredCompilation -Xint; do
		record --callflow --metric thrown -- java $mode -cp "$CLASSES" Calls
		[ "$status" -eq 0 ]
		expect_calls out
	done
}

# bats test_tags=stored
@test "callflow: calls of every kind are counted in their contexts, to the last one" {
	on_each_jdk calls
}

# As in a container; the program is one that starts a JVM.
calls_without_perf() {
	"$BUILD/t/tools/deny" perf_event_open "$ARCPROF" record -q --callflow -e gc --metric thrown -o trace -- \
		sh -c 'java -XX:+UseSerialGC -cp "$1" Calls && java -version' sh "$CLASSES" >out
	expect_calls out
	arcprof report -i trace --check
}

# bats test_tags=stored
@test "callflow: calls and events of JVMs need no perf events" {
	on_one_jdk newest calls_without_perf
}

# A filter without a rule for perf events may kill for them: the services of systemd have such.
calls_under_filter() {
	"$ARCPROF" record -q --callflow --metric cpu,thrown -o trace -- \
		"$BUILD/t/tools/deny" -k perf_event_open java -XX:+UseSerialGC -cp "$CLASSES" Calls >out
	expect_calls out
	[ "$(base_of 1 thread main)" -gt 0 ]
}

# bats test_tags=stored
@test "callflow: a JVM whose filter kills for perf events is counted, and lives" {
	skip_unless_perf
	on_one_jdk newest calls_under_filter
}

virtual_calls() {
	record --callflow --metric cpu -- java -cp "$CLASSES" VirtualCalls 200 1000
	[ "$status" -eq 0 ]
	expect_calls out
	# what the carriers consumed is theirs or a virtual thread's
	arcprof report -i trace --xtree --format tree | awk -F '\t' '
		!/^#/ && $1 == 1 { on = $4 ~ /^(ForkJoinPool-1-worker-|v-)/ }
		!/^#/ && on { n += $3 }
		END { printf "%.0f\n", n }' >trees
	about "$(cat trees)" "$(awk '/^carriers/ { print $2 }' out)" 1 3000000
}

# bats test_tags=stored
@test "callflow: virtual threads have their calls and the CPU time of their carriers" {
	on_each_jdk 21 virtual_calls
}

hellop() {
	# with all calls of a method "slow", the tree is the same
	record --callflow --trace='Hellop.myA>0ns' -- java -cp "$CLASSES" Hellop
	[ "$status" -eq 0 ]
	cat >want <<-END
		path Hellop.main;Hellop.myA 1000
		path Hellop.main;Hellop.myA;Hellop.myC 1000
		total Hellop.main 1
		total Hellop.myC 1000
	END
	expect_calls want
	[ "$(tail -n 1 out)" = "hello 1000" ]
	[ "$(arcprof report -i trace --calls --format json | jq -c '[.rows[].n], [.source.only[] | .calls, .slow]')" = \
		$'[1000,1000]\n[1000,1000]' ]
}

# Each context has its calls, and the share of the samples that it has of the work.
grafted() {
	local f total p path got
	record --callflow=Graft --metric cpu -F 997 -- java -cp "$CLASSES" Graft 1500 30000
	[ "$status" -eq 0 ]
	[ "$(arcprof report -i trace --xprof --format json | jq '.quality.missing_contexts')" -eq 0 ]
	tree_paths -i trace >tree
	[ "$(awk -F '\t' '{ n += $2 } END { print n }' tree)" -eq "$(arcprof report -i trace --samples --xprof --format json | jq .quality.n)" ]
	for f in "1 main" "1500 once" "1500 thrice" "9000 leaf" "16500 deep" "1500 each"; do
		[ "$(awk -F '\t' -v f=";Graft.${f#* }" 'substr($3, length($3) - length(f) + 1) == f { n += $1 } END { print n }' tree)" -eq "${f% *}" ]
	done
	# all work is below a counted method, and no frame of the JDK between each() and its lambda is left
	total=$(awk -F '\t' '$3 ~ /;Spin\.part$/ { n += $2 } END { print n }' tree)
	while read -r p path; do
		got=$(awk -F '\t' -v path=";main;Graft.main;$path;Spin.part" 'index($3, path) { n += $2 } END { print n + 0 }' tree)
		echo "$path: $got of $total"
		proportion "$got" "$total" "$p"
	done <<-END
		12.5 Graft.once;Graft.leaf
		37.5 Graft.thrice;Graft.leaf
		25 Graft.deep;Graft.deep;Graft.deep;Graft.deep;Graft.deep;Graft.deep;Graft.deep;Graft.deep;Graft.deep;Graft.deep;Graft.deep
		25 Graft.each;Graft.lambda\$each\$1;Graft.leaf
	END
}

# bats test_tags=stored
@test "callflow: samples hang below the methods that were open" {
	skip_unless_perf
	on_one_jdk oldest grafted
}

natives_library() {
	[ -f "$BUILD/libarcprof-hookit.a" ] || make -s -C "$TOP" build/libarcprof-hookit.a >&2
	gcc -O1 -g -fPIC -shared -finstrument-functions -I"$JAVA_HOME/include" -I"$JAVA_HOME/include/linux" \
		"$TOP/t/data/callflow/natives.c" "$BUILD/libarcprof-hookit.a" -o libnatives.so -pthread
}

# "calls path" of the contexts of a thread.
paths_of() {
	arcprof report -i trace --xtree --metric cpu --format json >tree
	jq -r --arg thread "$1" 'reduce .nodes[] as $n ({}; .[$n.id | tostring] =
			(if $n.kind == "thread" then $n.name else (.[$n.parent // -1 | tostring] // "") + ";" + $n.name end))
		| . as $path | input.nodes[] | select(.kind != "thread" and .n > 0 and ($path[.id | tostring] | startswith($thread + ";")))
		| "\(.n) \($path[.id | tostring] | ltrimstr($thread + ";"))"' tree tree |
		sed 's/Java_Natives_/N_/g; s/Natives\.//g' | sort
}

natives() {
	natives_library
	record --callflow -F 997 -- java -cp "$CLASSES" Natives "$PWD/libnatives.so" 100
	[ "$status" -eq 0 ]
	paths_of main >got
	sort <<-END | diff - got
		1 main
		1 main;JNI_OnLoad
		100 main;once
		100 main;once;N_work
		200 main;once;N_work;leaf
		100 main;once;N_work;back
		100 main;once;N_work;back;N_work
		200 main;once;N_work;back;N_work;leaf
		100 main;once;N_work;back;N_work;back
		100 main;once;N_work;back;N_work;back;N_work
		200 main;once;N_work;back;N_work;back;N_work;leaf
		100 main;once;N_work;back;N_work;back;N_work;back
		100 main;jumps
		100 main;jumps;N_jump
		100 main;jumps;N_jump;deep
		100 main;jumps;N_jump;deep;deep
		100 main;jumps;N_jump;deep;deep;deep
		100 main;jumps;N_jump;deep;deep;deep;deep
		100 main;jumps;N_jump;deep;deep;deep;deep;deep
		100 main;jumps;N_jump;leaf
		100 main;jumps;N_work
		200 main;jumps;N_work;leaf
		100 main;jumps;N_work;back
		100 main;N_catches
		100 main;N_catches;thrower
		100 main;N_catches;thrower;thrower
		100 main;N_catches;thrower;thrower;thrower
		100 main;N_catches;thrower;thrower;thrower;thrower
		100 main;N_catches;leaf
		1 main;N_thread
	END
	# A thread that Java knows for a while has one tree; its name is the last that Java gave it.
	paths_of "$(jq -r '.nodes[] | select(.kind == "thread" and (.name | startswith("Thread-"))) | .name' tree)" >got
	sort <<-END | diff - got
		1 run
		3 run;leaf
		2 run;back
		2 run;back;N_work
		4 run;back;N_work;leaf
		2 run;back;N_work;back
	END
	# the only calls that were not left: five deep() a longjmp()
	[ "$(jq -c .quality.repairs tree)" = '{"inserted":0,"popped":500,"closed":0,"backwards":0}' ]
}

# bats test_tags=stored
@test "callflow: native functions are below the methods that call them, and above those they call" {
	skip_unless_perf
	on_one_jdk newest natives
}

few_natives() {
	natives_library
	record --callflow='Natives,libnatives.so:leaf,-Natives.back' --metric cpu,alloc -- \
		java -cp "$CLASSES" Natives "$PWD/libnatives.so" 10
	[ "$status" -eq 0 ]
	[ "$(paths_of main | grep -c leaf)" -eq 3 ]
	[ "$(paths_of main | grep leaf | awk '{ n += $1 } END { print n }')" -eq 100 ]
	[ "$(paths_of main | grep -cE 'back|deep|N_')" -eq 0 ]
}

# bats test_tags=stored
@test "callflow: rules choose among methods and native functions alike" {
	on_one_jdk oldest few_natives
}

# bats test_tags=stored
@test "callflow: hellop has its thousand calls in one context" {
	on_one_jdk newest hellop
}

# Coarse calls: what it costs to measure does not show.
treetest() {
	record --callflow --metric cpu -- java -cp "$CLASSES" TreeTest 150 100000
	[ "$status" -eq 0 ]
	arcprof report -i trace --xprof --format json | jq -r '
		[.rows[] | select(.name | startswith("TreeTest.")) | { (.name[9:]): .cum[0] }] | add |
		. as $r | ($r.mainA30 + $r.mainB70) as $all |
		to_entries[] | select(.key | test("[0-9]$")) | "\(.key) \(.value / $all * 100)"' >shares
	cat shares
	[ "$(wc -l <shares)" -eq 6 ]
	while read -r name share; do
		about "$share" "${name: -2}" 0 2
	done <shares
}

@test "callflow: treetest's methods have the shares that their names say" {
	on_one_jdk oldest treetest
}

# Objects of the last recording: "method class bytes objects"; of what no class has, the class is "-".
objects() {
	arcprof report -i trace --metric alloc,objects --xtree --format tree | awk -F '\t' '
		/^#/ { next }
		{ path[$1] = $5 }
		$6 == "class" { print path[$1 - 1], $5, $3, $4 }
		$6 == "java" && $3 + $4 { print $5, "-", $3, $4 }'
}

alloc() {
	record --callflow --metric alloc,objects -- java -cp "$CLASSES" Alloc
	[ "$status" -eq 0 ]
	[ "$(base_of 2 class '^byte.*$')" -gt 25000 ]
	[ "$(objects | grep '^Alloc\.[sl]')" = "$(printf 'Alloc.%s\n' 'small byte[] 10000000 10000' \
		'large byte[] 5000000 2500' 'small byte[] 10000000 10000' 'large byte[] 5000000 2500')" ]
	# each size in its method, allocated by bytecodes and by the VM
	record --callflow='+Allocations.*' --metric alloc,objects -- java -cp "$CLASSES" Allocations 2
	[ "$status" -eq 0 ]
	objects >objects
	sed 's/^/Allocations./' out | awk '
		FILENAME == "-" {
			class = "byte[]"
			if ($1 ~ /tiny/) class = "Allocations$Tiny"
			if ($1 ~ /reflected/) class = "int[]"
			if ($1 ~ /deser|cloned|huge/) next
			want[$1 " " class] = $2 * $3 " " $3
			next
		}
		$1 " " $2 in want { if (want[$1 " " $2] != $3 " " $4) { print; bad = 1 } n++ }
		# each call clones a new one, 16 times
		$2 == "Allocations$Copied" { if ($3 != 80 * $4 || $4 != 16 + 26208) { print; bad = 1 } n++ }
		# classes of arrays, which JDK 17 keeps for itself
		$2 == "-" { rest += $3; if ($4) { print; bad = 1 } }
		END { print n, rest; exit bad || n != 6 || rest > 10000 }' - objects || { cat objects; return 1; }
}

# bats test_tags=stored
@test "callflow: allocated objects are counted by context and class, and their bytes" {
	on_one_jdk oldest alloc
}

# A thread's tree holds all the CPU time that the kernel gave it.
sum_law() {
	record --callflow='+*' --metric cpu -- java -cp "$CLASSES" Ragged return
	[ "$status" -eq 0 ] || return 1
	cpu_of_threads trace >cpu
	[ "$(wc -l <cpu)" -ge 31 ] && grep -q ' main$' cpu || return 1
	while read -r kernel tree name; do
		echo "$name"
		about "$tree" "$kernel" 1 20000 || return 1
	done <cpu
}

# The hypervisor takes the CPU away now and then, and the kernel does not count that: one of five must do.
sum_law_once() {
	local i
	for i in 1 2 3 4 5; do
		! sum_law || return 0
	done
	return 1
}

@test "callflow: the CPU time in each thread's tree is the kernel's" {
	on_one_jdk newest sum_law_once
}

# javac does the same in every run when no identity hash orders its tables and nothing is collected.
javac_twice() {
	local java="-J-XX:+UnlockExperimentalVMOptions -J-XX:hashCode=2 -J-XX:+UseSerialGC -J-Xmn300m"
	java_sources . 1
	mkdir -p classes
	# shellcheck disable=SC2086
	javac $java "-J-agentpath:$BUILD/t/tools/jvmti-calls.so=$PWD/wanted" -proc:none -cp none -d classes src/gen/*.java
	# shellcheck disable=SC2086
	record --callflow --metric calls -- javac $java -proc:none -cp none -d classes src/gen/*.java
	[ "$status" -eq 0 ]
	methods_entered trace wanted.* >wanted-calls
	counted trace >got-calls
	[ "$(wc -l <got-calls)" -gt 1000 ]
	diff wanted-calls got-calls
}

# bats test_tags=stored
@test "callflow: javac's calls are those that JVMTI's MethodEntry counts, each method's" {
	on_one_jdk newest javac_twice
}

# tiers_are <what calls of Hellop.myA and of myC are> <JVM option>...: all, but that the first of code by C2, where the
# call of the probe is not linked yet, may be interpreted.
tiers_are() {
	record --callflow='Hellop.my*' --call-tier --calltrace --metric calls -- java -XX:CompileCommand=quiet "${@:3}" -cp "$CLASSES" Hellop
	[ "$(arcprof report -i trace --xtree --by-kind --format json |
		jq -r '.nodes[] | select(.n >= 999) | "\(.name) \(.kind)"' | sort)" = \
		"$(printf 'Hellop.my%s java-%s\n' A "$1" C "$2")" ] || { arcprof report -i trace --xtree --by-kind; return 1; }
	[ "$(arcprof report -i trace --xprof --format json | jq -c '[.rows[] | select(.n == 1000) | .kind]')" = '["java","java"]' ]
}

# Whatever HotSpot does with the code, the calls are the same.
tiers() {
	local compile=(-Xcomp -XX:CompileCommand=compileonly,Hellop::\* -XX:CompileCommand=dontinline,Hellop::myA)
	tiers_are interpreted interpreted -Xint
	arcprof report -i trace --gen | awk '/> I:Hellop.my/ { n++ } END { exit n != 2000 }'
	[ "$(arcprof report -i trace --calls --by-kind --format json | jq -c '[.rows[].name] | sort')" = \
		'["Hellop.myA [java-interpreted]","Hellop.myC [java-interpreted]"]' ]
	tiers_are c1 c1 "${compile[@]}" -XX:TieredStopAtLevel=1 -XX:CompileCommand=dontinline,Hellop::myC
	tiers_are c1 inlined "${compile[@]}" -XX:TieredStopAtLevel=1 -XX:CompileCommand=inline,Hellop::myC
	arcprof report -i trace --gen | awk '/> J:Hellop.my/ { n++ } END { exit n != 2000 }'
	tiers_are c2 c2 "${compile[@]}" -XX:-TieredCompilation -XX:CompileCommand=dontinline,Hellop::myC
}

# bats test_tags=stored
@test "callflow: calls are counted separately by how their code runs" {
	on_each_jdk tiers
}

# "caller:line callee times" of the last recording; from a thread, without the times.
calls_from() {
	arcprof report -i trace --format folded | awk '
		{
			match($0, / [0-9]+$/)
			n = split(substr($0, 1, RSTART - 1), f, ";")
			if (f[n] !~ /^Sites/ || f[n] ~ /(:| bci_)[0-9]+$/)
				next
			sub(/ \[tid .*/, "", f[n - 1])
			times[f[n - 1] " " f[n]] += $NF
		}
		END { for (x in times) print x ~ /(:| bci_)[0-9]+ / ? x " " times[x] : x }' | LC_ALL=C sort
}

# Where each method is called from is what the stack traces of the JVM say.
sites() {
	record --callflow='Sites*' --call-sites --metric calls -- java -cp "$CLASSES" Sites
	[ "$status" -eq 0 ]
	mv out want
	printf '%s\n' 'Thread-0 Sites.leaf' 'main Sites.main' | LC_ALL=C sort - want | diff - <(calls_from)
	# the same calls, of a class without lines, one by one
	mkdir bare
	compile_java -g:none -d bare "$TOP/t/workloads/Sites.java"
	record --callflow='Sites*' --call-sites --call-tier --calltrace --metric calls -- java -cp bare Sites
	calls_from >from
	grep -q '^Sites.main bci_[0-9]* Sites.recursive 3$' from
	diff <(sed 's/:[0-9]* / /' want | by_caller) <(grep bci from | sed 's/ bci_[0-9]* / /' | by_caller)
}

# The times of the same caller and callee, added up.
by_caller() {
	awk '{ n[$1 " " $2] += $3 } END { for (x in n) print x, n[x] }' | LC_ALL=C sort
}

# bats test_tags=stored
@test "callflow: --call-sites says of each call which line of the caller made it" {
	on_one_jdk newest sites
}

# "method bytecodes" of the last recording.
executed() {
	arcprof report -i trace --xprof --metric bytecodes --format json |
		jq -r '.rows[] | select(.kind == "java") | "\(.name) \(.base[0])"' | sort
}

# As the interpreter of a JVM without probes executes them, which JVMTI's SingleStep tells one by one.
bytecodes() {
	java "-agentpath:$BUILD/t/tools/jvmti-calls.so=$PWD/steps,+step,Bytecodes" -cp "$CLASSES" Bytecodes
	sed 's/([^ ]*//' steps.* | awk '$1 ~ /[.](passes|catches)$/ { $2 += 100 } 1' | sort >want
	record --callflow='Bytecodes*' --metric bytecodes -- java -XX:TieredStopAtLevel=1 -cp "$CLASSES" Bytecodes
	executed | diff want -
	grep -qx "$(sed 's/^bytecodes //' out)" want
	record --callflow='Bytecodes*' --metric bytecodes -- java -Xcomp -XX:CompileCommand=compileonly,Bytecodes*::* \
		-XX:CompileCommand=quiet -cp "$CLASSES" Bytecodes
	executed | diff want -
	echo 'Bytecodes.sum base bytecodes = 54459' >limits
	arcprof budget -i trace -f limits
}

# bats test_tags=stored
@test "callflow: the bytecodes of each method are those that JVMTI's SingleStep counts" {
	on_one_jdk newest bytecodes
}

refusals() {
	record --callflow=java.lang.Math,java.lang.Object --metric calls -- java -cp "$CLASSES" Hellop
	[ "$status" -eq 0 ]
	arcprof report -i trace --xprof >xprof
	grep 'not recorded: calls of [0-9]* methods: the compiler may replace its calls (java.lang.Math.abs' xprof
	arcprof dump -i trace | grep -q 'call.refused .*class="java/lang/Math" name="max"'
}

# bats test_tags=stored
@test "callflow: methods that the compiler replaces are left alone, and named" {
	on_each_jdk refusals
}

# Retransformed and redefined all the time, with transformers before and behind.
meddler() {
	printf 'Premain-Class: Meddler\nCan-Retransform-Classes: true\nCan-Redefine-Classes: true\n' >manifest
	jar cfm meddler.jar manifest -C "$CLASSES" Meddler.class -C "$CLASSES" 'Meddler$Copier.class'
}

meddled() {
	meddler
	record --callflow --metric thrown -- java -javaagent:meddler.jar=Calls -cp "$CLASSES" Calls
	[ "$status" -eq 0 ]
	expect_calls out
}

# bats test_tags=stored
@test "callflow: counts stay exact beside an agent that changes the same classes" {
	on_one_jdk oldest meddled
}

# Another agent's change of a class, and ours.
changed() {
	meddler
	record --callflow --metric calls -- java -javaagent:meddler.jar=Hellop,hello=howdy -cp "$CLASSES" Hellop
	[ "$status" -eq 0 ]
	[ "$(tail -n 1 out)" = "howdy 1000" ]
	echo "path Hellop.main;Hellop.myA;Hellop.myC 1000" >want
	expect_calls want
}

# bats test_tags=stored
@test "callflow: what another agent changes in a class happens, and is counted" {
	on_one_jdk newest changed
}

# The flight recorder puts code of its own into classes of the JDK that reads files, where they have none yet.
flight() {
	seq 3 >file
	record --callflow='Reads,java.io.FileInputStream' --metric calls -- java -Xlog:disable \
		'-XX:StartFlightRecording:filename=f.jfr,jdk.FileRead#threshold=0ns' -cp "$CLASSES" Reads file
	[ "$status" -eq 0 ]
	grep '^path' out >want
	expect_calls want
	[ "$(jfr print --events FileRead f.jfr | grep -c 'path = .*file')" -gt 10 ]
}

# bats test_tags=stored
@test "callflow: the flight recorder's changes of the JDK's classes hold beside ours" {
	use_jdk "$(jdks | head -n 1)"
	command -v jfr >/dev/null || skip "no JDK with a flight recorder is installed"
	flight
}

crowd() {
	record --callflow --metric cpu,wall -- java -Xint -cp "$CLASSES" Crowd 1000
	[ "$status" -eq 0 ]
	expect_calls out
	[ "$(arcprof report -i trace --xtree --format tree | grep -c '	c-[0-9]*	thread')" -eq 1000 ]
}

# bats test_tags=stored
@test "callflow: a thousand threads at once have a tree each" {
	on_one_jdk newest crowd
}

ragged() {
	local how want
	for how in exit:3 halt:4 kill:137; do
		want=${how#*:}
		record --callflow --metric thrown -- java -cp "$CLASSES" Ragged "${how%:*}"
		[ "$status" -eq "$want" ]
		expect_calls out
	done
}

# bats test_tags=stored
@test "callflow: a program that ends in the middle of its calls has all it made" {
	on_one_jdk oldest ragged
}

# One computes, one sleeps, two wait for each other; main has the CPU time and the time of the VM's start.
open_at_end() {
	record --callflow --metric cpu,wall -- java -cp "$CLASSES" Open 400 "$@"
	[ "$status" -eq $((3 * $#)) ]
	grep 'CPU time of calls = the kernel.s' check
	# no less than it had when it was asked, and no more than it got until the VM had ended, however long that took
	cpu_of_threads trace >cpu
	awk -v got="$(base_of 1 java '^Open.burn$')" '
		FILENAME == "out" { if ($1 == "cpu") least = $2 * 0.95 - 10e6; next }
		$4 == "burner" { most = $1 * 1.05 + 10e6 }
		END { print least, got, most; exit !least || got < least || got > most }' out cpu
	arcprof report -i trace --xprof --metric wall --format json |
		jq -r '.rows[] | select(.name | test("^Open.(burn|rest|lock)$")) | .base[0]' >wall
	awk -v open="$(awk '/^open/ { print $2 }' out)" '{ n++; short += $1 < open } END { exit !(n == 3 && !short) }' wall
	arcprof report -i trace --xtree --format json |
		jq -e '.nodes[] | select(.kind == "thread" and .name == "main") | .base[0] <= .base[1]'
}

ends_open() {
	open_at_end
	open_at_end halt
}

@test "callflow: calls that are open when the VM ends have their time, and a thread's clocks cover the same span" {
	on_one_jdk oldest ends_open
}

hidden() {
	record --callflow --metric calls -- java -cp "$CLASSES" Hidden
	[ "$status" -eq 0 ]
	expect_calls out
	! arcprof report -i trace --xprof | grep '^not recorded' || false
}

# bats test_tags=stored
@test "callflow: calls of hidden classes that a program defines are counted" {
	on_each_jdk hidden
}

untouchable() {
	record --callflow='java.lang.VirtualThread,Hellop' --metric calls -- java -cp "$CLASSES" Hellop
	if [ "$JDK" -ge 21 ]; then
		arcprof report -i trace --xprof | grep '^not recorded: calls of .* in it the JVM passes from one thread to another (java.lang.VirtualThread'
	fi
}

# bats test_tags=stored
@test "callflow: classes that may not have probes are named when rules ask for them" {
	on_each_jdk untouchable
}

stopped() {
	[ "$JDK" -lt 20 ] || return 0	# Thread.stop is no more
	record --callflow --metric calls -- java -cp "$CLASSES" Stops 300
	[ "$status" -eq 0 ]
	expect_calls out
	[ "$(arcprof report -i trace --xprof --format json | jq .quality.repairs.inserted)" -eq 0 ]
}

# bats test_tags=stored
@test "callflow: a thread stopped in the middle of its calls has the calls after that" {
	on_each_jdk stopped
}

unloaded() {
	record --callflow --metric thrown -- java -XX:+UseSerialGC -cp "$CLASSES" Ragged return 300
	[ "$status" -eq 0 ]
	[ "$(awk '/^unloaded/ { print $2 }' out)" -ge 400 ]
	[ "$(grep -c '^total RaggedW[0-9]*.step' out)" -eq 300 ]
	expect_calls out
}

# bats test_tags=stored
@test "callflow: classes that were unloaded have their names and their calls" {
	on_one_jdk newest unloaded
}

calls_in_all() {
	arcprof report -i trace --xtree --format tree |
		awk -F '\t' '/^# metric/ { m++ } !/^#/ && $(m + 4) ~ /^(java|mark)$/ { n += $2 } END { print n }'
}

folded() {
	local all
	record --callflow --metric thrown -- java -cp "$CLASSES" Ragged return
	expect_calls out
	all=$(calls_in_all)
	record --callflow --metric thrown --call-memory 1M -- java -cp "$CLASSES" Ragged return
	[ "$(calls_in_all)" -eq "$all" ]
	grep -q 'calls are counted in merged contexts' err
	# the first thread has ended when the one that ends the VM begins, which does not take its tree and name
	"$ARCPROF" report -q -i trace --xprof --format json |
		jq -r '.rows[] | select(.kind == "thread").name' >names
	grep -qx main names
	# one that found no room is reported to share a tree
	[ "$(grep -c '^\[several threads' names)" -eq "$("$ARCPROF" report -q -i trace | grep -c '^not recorded: a tree for itself of')" ]
	record --callflow --metric thrown --call-depth 50 -- java -cp "$CLASSES" Ragged return
	[ "$(calls_in_all)" -eq "$all" ]
	grep -E ' Ragged\.(climb|down|both) ' out >want	# a recursion is folded into itself
	expect_calls want
}

# bats test_tags=stored
@test "callflow: with little memory, and beyond the depth, calls lose their context, not their count" {
	on_one_jdk newest folded
}

# As without arcprof, and sampling sees no JVMTI capability that slows the VM.
off() {
	record --no-java -- java -cp "$CLASSES" Hellop
	[ "$status" -eq 0 ]
	"$ARCPROF" record -o plain -- java -Xlog:class+load:file=loaded -cp "$CLASSES" Hellop >out 2>err
	! grep -q 'ArcProbe\|arcprof.Init' loaded || false
	"$ARCPROF" record -o calls --callflow -- java -Xlog:class+load:file=loaded -cp "$CLASSES" Hellop >out 2>err
	grep -q 'java.lang.ArcProbe' loaded
	! grep -v '^hello [0-9]*$' out || false
}

# bats test_tags=stored
@test "callflow: nothing is added to a JVM that is only sampled, and nothing printed by one that is not" {
	on_each_jdk off
}
