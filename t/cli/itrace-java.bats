#!/usr/bin/env bats
# arcprof itrace of Java methods, on every JDK of this machine: a program whose calls are known.
# bats file_tags=stored
load ../lib
load ../java
load ../live

setup_file() {
	[ "$(uname -m)" != x86_64 ] || prepare_jdks
}

setup() {
	trace_errors_only
	cd "$BATS_TEST_TMPDIR" || return 1
	[ "$(uname -m)" = x86_64 ] || skip "the agent is not for this CPU"
	skip_unless_java
}

# known <options of itrace> -- <options of java, and how many calls>: must print what it prints untraced.
known() {
	local options=()
	while [ "$1" != -- ]; do options+=("$1"); shift; done
	run_arcprof itrace -o trace "${options[@]}" -- java -Xshare:auto -cp "$CLASSES" "${@:2:$#-2}" Known "${!#}"
	[ "$output" = "$(java -cp "$CLASSES" Known "${!#}")" ]
	! "$ARCPROF" report -i trace --check | grep -v '^ok ' || false
	"$ARCPROF" report -i trace --xprof --format json >.xprof
	"$ARCPROF" report -i trace --xarc --format json >.xarc
}

calls_of() {
	jq --arg f "$1" '[.rows[] | select(.name == $f) | .n] | add // 0' .xprof
}

calls_of_arc() {	# <caller> <callee>
	jq --arg p "$1" --arg f "$2" '[.stanzas[] | select(.name == $f) | .parents[] | select(.name == $p) | .n] | add // 0' .xarc
}

compiled_calls() {
	local quiet=(-XX:CompileCommand=quiet -XX:CompileCommand=dontinline,Known.leaf)
	known --method Known.twice --skip 30000 --times 2 -- -Xbatch "${quiet[@]}" 40000
	[ "$status" -eq 0 ]
	[[ $stderr == *"2 calls of 'Known.twice' traced, after 30000 left alone"* ]]
	[ "$(calls_of Known.twice)" -eq 2 ]
	[ "$(calls_of_arc Known.twice Known.leaf)" -eq 4 ]
	jq -e 'all(.rows[] | select(.name | startswith("Known.")); .kind == "java-compiled")' .xprof
	[ "$(calls_of Known.main)" -eq 0 ]
}

@test "itrace --method: a compiled method and its callees, from entry to exit" {
	on_each_jdk compiled_calls
}

# transitions <option of java>...: in ./steady "<calls> <code before>><code>><code behind> <instructions>", of each stay in
# a method of Transitions that is the same in all forty calls of static methods, and then of others.
transitions() {
	"$ARCPROF" itrace -q -o trace --method Transitions.traced -- java -Xshare:auto -Xbatch -XX:CompileCommand=quiet \
		'-XX:CompileCommand=dontinline,Transitions::*' "$@" -cp "$CLASSES" Transitions
	"$ARCPROF" report -i trace --arc --every-instruction --format csv | sed 's/Transitions\.//g' | awk -F , '
		$6 != last { print before ">" last ">" $6, nr; before = last; last = $6; nr = 0 }
		{ nr++ }' | sort | uniq -c | awk '$1 >= 39 { print $1, $2, $3 }' >steady
	cat steady
	[ "$(grep -c '^40 .*[oO]uter\|^40 .*[eE]mpty' steady)" -eq 6 ]
	[ "$(grep -c '^39 .*[lL]oop' steady)" -eq 2 ]
}

steady_transitions() {
	transitions
	# from an entry to the next, to its exit, and to the one behind: static or not
	[ "$(grep '^40' steady | tr 'A-Z' 'a-z' | sed 's/own//g' | sort -u | wc -l)" -eq 3 ]
	c2=$(awk '{ n += $3 } END { print n }' steady)
	transitions -XX:TieredStopAtLevel=1
	[ "$c2" -lt "$(awk '{ n += $3 } END { print n }' steady)" ]
}

@test "itrace --method: how many instructions there are from one entry or exit to the next" {
	on_one_jdk newest steady_transitions
}

interpreted_calls() {
	known --method Known.down --skip 1 --times 2 -- -Xint 10
	[ "$status" -eq 0 ]
	[ "$(calls_of Known.down)" -eq 2 ]
	[ "$(calls_of_arc Known.down Interpreter)" -eq 2 ]
	# the trace ends in the probe of the exit: the method was left
	! arcprof report -i trace --xprof | grep 'open at the end' || return 1
	jq -e '[.rows[] | select(.name == "Interpreter") | .base[0]] | add > 100' .xprof
	known --method Known.thrower -- -Xint 10
	[ "$status" -eq 0 ]
	[[ $stderr == *"1 call of 'Known.thrower' traced"* ]]
	[ "$(calls_of Known.thrower)" -eq 1 ]
	jq -e '.rows[] | select(.name | startswith("InterpreterRuntime::exception_handler_for_exception"))' .xprof
}

@test "itrace --method: an interpreted method; recursion is one call, and an exception ends it" {
	on_each_jdk interpreted_calls
}

# while_live <command> <arcprof's command> <option>...: gives the program the command until arcprof has ended.
while_live() {
	local command=$1 what=$2 i
	shift 2
	"$ARCPROF" "$what" -o trace -p "$LIVE" "$@" >out 2>err </dev/null 3>&- 7>&- &
	RECORDER=$!
	for ((i = 0; i < 300; i++)); do
		kill -0 "$RECORDER" 2>/dev/null || break
		say "$command"
		sleep 0.1
	done
	status=0
	wait "$RECORDER" || status=$?
	RECORDER=
	cat err
	[ "$status" -eq 0 ]
	! "$ARCPROF" report -i trace --check | grep -v '^ok ' || false
	"$ARCPROF" report -i trace --xprof --format json >.xprof
	"$ARCPROF" report -i trace --xarc --format json >.xarc
}

running() {
	start_live -Xint
	while_live 'calls 3' itrace --method Live.outer --skip 4 --times 2
	grep -q "2 calls of 'Live.outer' traced, after 4 left alone" err
	[ "$(calls_of Live.outer)" -eq 2 ]
	[ "$(calls_of_arc Live.outer Interpreter)" -eq 2 ]
	# the same probes count for others, and trace again
	while_live 'calls 3' record --callflow=Live.inner -d 1s
	[ "$(calls_of Live.inner)" -ge 9 ]
	while_live 'calls 3' itrace --method Live.inner
	[ "$(calls_of Live.inner)" -eq 1 ]
	if [ "$JDK" -ge 21 ]; then
		while_live 'virtual 2' itrace --method Live.outer
		[ "$(calls_of Live.outer)" -eq 1 ]
	fi
	while_live 'calls 3' itrace -d 1s	# what it executes has names
	jq -e '[.rows[] | select(.name == "Interpreter") | .base[0]] | add > 0' .xprof
	say calls 1
	end_live
}

@test "itrace -p: calls and names of a running JVM, which continues afterwards" {
	on_one_jdk oldest running
}

@test "itrace: a JVM that is let go at a limit ends as if it had not been traced" {
	local limit
	use_jdk "$(jdks | tail -n 1)"
	for limit in 30000 200000; do
		known --limit $limit -- -Xint 10
		[ "$status" -eq 0 ]
		[[ $stderr == *"stopped after "*"as asked by --limit"* ]]
	done
	known --method Known.main --limit 20000 -- -Xint 10
	[ "$status" -eq 0 ]
	[[ $stderr == *"stopped after "*"as asked by --limit"* ]]
	[ "$(calls_of Known.main)" -eq 1 ]
	arcprof report -i trace --xprof | grep 'open at the end'
}

@test "itrace --method: calls that were not traced are reported in one line" {
	local home
	home=$(jdks | tail -n 1)
	use_jdk "$home"
	known --method Known.nosuch -- 10
	[ "$status" -eq 125 ]
	[[ $stderr == *"nothing that was loaded matches 'Known.nosuch'"* ]]
	known --method Known.twice --skip 99 -- 10
	[ "$status" -eq 125 ]
	[[ $stderr == *"'Known.twice' was called 11 times, and --skip leaves the first 99 alone"* ]]
	run_arcprof itrace --method Known.twice -- true
	[ "$status" -eq 125 ]
	[[ $stderr == *"no JVM took the agent"* ]]
	run_arcprof itrace -o trace --method Known.twice -p $$
	[ "$status" -eq 125 ]
	[[ $stderr == *"none of the processes is a JVM"* ]]
	run_arcprof itrace --times 3 -- true
	[ "$status" -eq 2 ]
	[[ $stderr == *"--times needs --method"* ]]
}
