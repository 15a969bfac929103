#!/usr/bin/env bats
# Filters of events: what they keep is what a program says of itself, while recording and afterwards.
load ../lib
load ../java
load ../live

# The oldest there is.
first_jdk() {
	skip_unless_java
	use_jdk "$(jdks | head -n 1)"
}

# objects <class> <option of report>...: how many the trace has of it
objects() {
	"$ARCPROF" report -i trace --xprof --metric objects --format json "${@:2}" >xprof 2>err
	jq --arg c "$1" '[.rows[] | select(.name == $c) | .base[0]] | add // 0' xprof
}

all_objects() {	# <option of report>...
	"$ARCPROF" report -i trace --xprof --metric objects --format json "$@" 2>err | jq '.metrics[0].total'
}

head_of() {	# <option of report>...
	"$ARCPROF" report -i trace --xprof --metric objects --limit 1 "$@" 2>err
}

filtered() {	# <option of record>... -- <argument of Filtered>...
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	"$ARCPROF" record -q "${options[@]}" -o trace java -cp "$CLASSES" Filtered "${@:2}" >out 2>err || { cat err; return 1; }
}

readonly SMALL='Filtered$Small'

# bats test_tags=stored
@test "filter: report shows exactly what meets the conditions" {
	first_jdk
	filtered -e alloc=0 -- alloc 1000
	local all small
	all=$(all_objects)
	[ "$(objects "$SMALL")" -eq 3000 ]
	[ "$(objects "$SMALL" --filter 'thread=worker-?')" -eq 2000 ]
	[ "$(objects "$SMALL" --filter 'thread=worker-*,-thread=worker-1')" -eq 1000 ]
	[ "$(all_objects --filter 'thread=other')" -ge 2000 ]
	[ "$(all_objects --filter 'alloc:class=Filtered$Small,kind=platform')" -eq 3000 ]
	# what is kept, and what is not, are all
	[ $(($(all_objects --filter 'class=byte[]') + $(all_objects --filter '-class=byte[]'))) -eq "$all" ]
	small=$(all_objects --filter="-class=$SMALL")
	[ "$small" -eq $((all - 3000)) ]
	head_of --filter "class=$SMALL,lock>1ms" >report
	[[ $(sed -n 2p report) == "filter: class=$SMALL,lock>1ms; $((all - 3000)) samples left out" ]]
	# a kind of which there is nothing
	run_arcprof report -i trace --filter kind=virtual
	[ "$status" -eq 1 ]
	[[ $stderr == *"nothing matches --filter 'kind=virtual'"* ]]
}

# bats test_tags=stored
@test "filter: record stores exactly what meets the conditions" {
	first_jdk
	filtered -e alloc=0 --filter 'thread=worker-*,-thread=worker-1' -- alloc 1000
	[ "$(objects "$SMALL")" -eq 1000 ]
	[ "$(all_objects)" -eq 2000 ]
	head_of >report
	[[ $(sed -n 2p report) == 'filter while recording: thread=worker-*,-thread=worker-1' ]]
	[[ $(sed -n 3p report) =~ ^left\ out\ while\ recording:\ ([0-9]+)\ of\ alloc$ ]]
	[ "${BASH_REMATCH[1]}" -ge 4000 ]
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
	"$ARCPROF" report -i trace --xprof --format json >json
	[ "$(jq -r '[.quality.filters[].rules // empty] | join(" ")' json)" = 'thread=worker-*,-thread=worker-1' ]
	[ "$(jq '.quality.filters[1].left_out' json)" -eq "${BASH_REMATCH[1]}" ]
}

# bats test_tags=stored
@test "filter: virtual threads can be selected" {
	skip_unless_java
	use_jdk "$(jdks | tail -n 1)"
	[ "$JDK" -ge 21 ] || skip "virtual threads need JDK 21"
	filtered -e alloc=0 -- alloc 1000 v
	[ "$(objects "$SMALL" --filter kind=virtual)" -eq 1000 ]
	[ "$(objects "$SMALL" --filter kind=platform)" -eq 2000 ]
	[ "$(objects "$SMALL" --filter thread=worker-1)" -eq 1000 ]
	filtered -e alloc=0 --filter=-kind=virtual -- alloc 1000 v
	[ "$(objects "$SMALL")" -eq 2000 ]
	filtered -e alloc=0 --filter kind=virtual,thread=worker-1 -- alloc 1000 v
	[ "$(objects "$SMALL")" -eq 1000 ]
}

groups() {
	filtered -e alloc=0 -- alloc 1000 $([ "$JDK" -lt 21 ] || echo v)
	local nr=0 worker=$([ "$JDK" -lt 21 ] && echo 1000 || echo 0)
	[ "$(objects "$SMALL" --filter group=workers)" -eq $((1000 + worker)) ]
	[ "$(objects "$SMALL" --filter group=main)" -eq 1000 ]
	[ "$(objects "$SMALL" --filter 'group=m*,group=work*')" -eq $((2000 + worker)) ]
	[ "$(objects "$SMALL" --filter group=VirtualThreads)" -eq $((1000 - worker)) ]
	[ "$(objects "$SMALL" --filter=-alloc:group=workers)" -eq $((2000 - worker)) ]
	filtered -e alloc=0 --filter group=workers -- alloc 1000
	[ "$(objects "$SMALL")" -eq 2000 ]
	[ "$(all_objects --filter=-thread=worker-*)" -eq 0 ]
	printf 'include_group main\nexclude_thread main\n' >rules
	filtered -e alloc=0 --config rules -- alloc 1000
	[ "$(objects "$SMALL")" -eq 1000 ]
	# each file has the groups of its threads
	rm trace
	filtered --segment 200ms -e cpu-clock -- burn 300
	"$ARCPROF" merge --splice trace -o spliced
	for file in trace/*.arc spliced; do
		"$ARCPROF" dump "$file" >dumped
		sed -n 's/.*thread.java \(thread=[0-9]*\) .*name="worker-.*/\1/p' dumped | sort -u >workers
		sed -n 's/.*thread.group \(thread=[0-9]*\) name="workers"/\1/p' dumped | sort -u | diff workers -
		nr=$((nr + $(wc -l <workers)))
	done
	[ "$nr" -ge 5 ]
	rm -r trace
	filtered --callflow='+Filtered.*' --calltrace -- alloc 10
	[ "$("$ARCPROF" report -i trace --calls --format json --filter group=workers | jq '[.rows[] | select(.name == "Filtered.allocate").n] | add')" -eq 2 ]
	[ "$("$ARCPROF" report -i trace --xtree --format json --filter group=main | jq '[.nodes[] | select(.name == "Filtered.allocate").n] | add')" -eq 1 ]
	rm trace
}

# bats test_tags=stored
@test "filter: threads can be selected by their group" {
	skip_unless_java
	on_one_jdk newest groups
}

waits() {	# <option of report>...: number and ns
	"$ARCPROF" report -i trace --xprof --metric lock --format json "$@" 2>err |
		jq -r '"\(.source.n // .sources[0].n) \(.metrics[0].total)"'
}

@test "filter: waits for locks by their length are those that the program had" {
	first_jdk
	filtered -e lock -- lock 20
	local all long short n ns
	read -r n ns < <(awk '$1 > 3e6 { n++; s += $1 } END { print n, s }' out)
	read -r -a all < <(waits)
	read -r -a long < <(waits --filter 'lock>3ms,thread=waiter')
	read -r -a short < <(waits --filter 'lock<3ms,thread=waiter')
	# the JVM spins before it waits
	within "${long[0]}" "$n" 10
	within "${long[1]}" "$ns" 10
	[ $((long[0] + short[0])) -le "${all[0]}" ]
	[ "$(waits --filter 'lock>3ms' | cut -d' ' -f2)" -le "${all[1]}" ]
	filtered -e lock --filter 'lock>3ms,thread=waiter' -- lock 20
	read -r n ns < <(awk '$1 > 3e6 { n++; s += $1 } END { print n, s }' out)
	"$ARCPROF" report -i trace --locks --format json >table
	within "$(jq '[.locks[].slow] | add' table)" "$n" 10
	within "$(jq '[.locks[].wait_ns] | add' table)" "$ns" 10
	[ "$(jq '[.locks[].wait_ns] | add' table)" = "$(waits | cut -d' ' -f2)" ]
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
	# who had them is charged with as much
	[ "$("$ARCPROF" report -i trace --blame --format json | jq '.metrics[0].total')" = "$(waits | cut -d' ' -f2)" ]
}

@test "filter: it selects CPU time by thread" {
	first_jdk
	filtered -F 1000 -e cpu-clock -- burn 300
	cpu() {
		"$ARCPROF" report -i trace --xprof --format json "$@" 2>err | jq '.metrics[0].total'
	}
	within "$(cpu --filter 'thread=worker-*')" $((2 * $(cpu --filter 'cpu:thread=other'))) 20
	[ "$(cpu --filter 'alloc:thread=other')" -eq "$(cpu)" ]
	[ $(($(cpu --filter 'thread=worker-1') + $(cpu --filter=-thread=worker-1))) -eq "$(cpu)" ]
}

# Three times as much CPU time: in a phase "warm", in one "hot" and another inside that, and in none.
phases() {
	cat >phases.c <<-'EOF'
	#include <time.h>
	#include "arcprof.h"
	static void burn(double seconds)
	{
		clock_t end = clock() + seconds * CLOCKS_PER_SEC;
		while (clock() < end)
			;
	}
	int main(void)
	{
		uint64_t begun = arcprof_phase_begin(), inner;
		burn(.2);
		arcprof_phase_end(begun, "warm");
		begun = arcprof_phase_begin();
		burn(.1);
		inner = arcprof_phase_begin();
		burn(.1);
		arcprof_phase_end(inner, "inner");
		arcprof_phase_end(begun, "hot");
		burn(.2);
		return 0;
	}
	EOF
	gcc -O1 -I "$TOP/lib/api" phases.c "$BUILD/libarcprof.a" -o phases -pthread
	"$ARCPROF" record -q -F 1000 -e cpu-clock,mark -o trace ./phases
}

@test "filter: report selects what happens in a phase" {
	phases
	cpu() {
		"$ARCPROF" report -i trace --xprof --format json "$@" 2>err | jq '.metrics[0].total'
	}
	within "$(cpu --filter phase=warm)" 200000000 10
	within "$(cpu --filter phase=hot)" 200000000 10
	within "$(cpu --filter 'phase=*,-phase=inner')" 300000000 10
	[ $(($(cpu --filter phase=warm) + $(cpu --filter=-phase=warm))) -eq "$(cpu)" ]
	[ "$(cpu --filter phase=warm,phase=hot)" -eq $(($(cpu --filter phase=warm) + $(cpu --filter phase=hot))) ]
	"$ARCPROF" report -i trace --log --format csv --filter 'phase>1h' >log || true
	[ "$(wc -l <log)" -eq 1 ]
	"$ARCPROF" report -i trace --log --format csv --filter 'phase>10ms,phase=hot' >log	# and what is in it
	[ "$(wc -l <log)" -eq 3 ]
}

# bats test_tags=stored
@test "filter: it can be changed in a running recording" {
	first_jdk
	LIVE_MAIN='Filtered serve 0' start_live
	start_recorder -p "$LIVE" -e alloc=0
	say 100
	ctl set filter 'thread=worker-*'
	[ "$(ctl status | sed -n 's/^filter: //p')" = 'thread=worker-*' ]
	say 1000
	ctl set filter -- '-thread=worker-*'
	say 10000
	run_arcprof ctl -p "$RECORDER" set filter 'threat=x'
	[ "$status" -eq 1 ]
	[[ $stderr == *"unknown condition 'threat='"* ]]
	ctl set filter none
	[ -z "$(ctl status | sed -n 's/^filter: //p')" ]
	say 30000
	end_recorder "$ARCPROF" ctl stop -p
	end_live
	[ "$(objects "$SMALL")" -eq $((3 * 100 + 2 * 1000 + 10000 + 3 * 30000)) ]
	[ "$(objects "$SMALL" --filter thread=other)" -eq 40100 ]
	head_of >report
	[ "$(grep -c '^filter while recording, from .* on: ' report)" -eq 3 ]
	grep -q '^filter while recording, from .* on: none$' report
	grep -q '^left out while recording: [0-9]* of alloc$' report
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
}

# bats test_tags=stored
@test "filter: a file of rules has the same effect, while recording and in reports" {
	first_jdk
	cat >rules <<-'EOF'
	# the second worker alone, and no arrays
	exclude_thread worker-1
	include_thread worker-*
	exclude_class alloc:byte[]
	include_event lock>1h
	EOF
	filtered -e alloc=0 -- alloc 1000
	[ "$(all_objects --config rules)" -eq 1000 ]
	[ "$(objects "$SMALL" --config rules)" -eq 1000 ]
	[ "$(objects "$SMALL" --config rules --filter thread=worker-1)" -eq 2000 ]
	filtered -e alloc=0 --config rules -- alloc 1000
	[ "$(all_objects)" -eq 1000 ]
	head_of >report
	[[ $(sed -n 2p report) == 'filter while recording: exclude thread=worker-1, include thread=worker-*, exclude alloc:class=byte[], include lock>3600s' ]]
	# methods that it excludes are part of their callers
	echo 'exclude_method Filtered.allocate' >methods
	[ "$("$ARCPROF" report -i trace --xprof --format json --config methods | jq '[.rows[] | select(.name == "Filtered.allocate")] | length')" -eq 0 ]
	[ "$("$ARCPROF" report -i trace --xprof --format json | jq '[.rows[] | select(.name == "Filtered.allocate")] | length')" -eq 1 ]
	[ "$(all_objects --config methods)" -eq 1000 ]
	# calls and objects by one file
	filtered --callflow -e alloc=0 --config rules -- alloc 10
	"$ARCPROF" report -i trace --xtree --format json >json
	[ "$(jq '[.nodes[] | select(.name == "worker-2")] | length' json)" -ge 1 ]
	[ "$(jq '[.nodes[] | select(.name == "worker-1")] | length' json)" -eq 0 ]
	run_arcprof record -o none --config methods -- true
	[ "$status" -eq 2 ]
	echo 'include_klass x' >rules
	run_arcprof report -i trace --config rules
	[ "$status" -eq 2 ]
	[[ $stderr == *"rules:1: invalid rule 'include_klass'"* ]]
}

# parts <jq expression> <option of report>...: of what meets thread=worker-1, and of what does not
parts() {
	"$ARCPROF" report -i trace --format json "${@:2}" --filter thread=worker-1 >part
	"$ARCPROF" report -i trace --format json "${@:2}" --filter=-thread=worker-1 >rest
	"$ARCPROF" report -i trace --format json "${@:2}" >all
	part=$(jq "$1" part) rest=$(jq "$1" rest) all=$(jq "$1" all)
	echo "${*:2}: $part + $rest = $all"
	[ "$part" -gt 0 ]
	[ "$rest" -gt 0 ]
	[ $((part + rest)) -eq "$all" ]
}

# bats test_tags=stored
@test "filter: it applies to lists and tables of calls" {
	first_jdk
	filtered --callflow='+Filtered.*' --calltrace -- alloc 20
	parts '[.rows[] | select(.name == "Filtered.allocate").n] | add' --calls
	[ "$part $rest" = '1 2' ]
	parts '[.events[] | select(.kind == "entry")] | length' --gen
	parts '[.calls[] | select(.name == "Filtered.allocate")] | length' --flow
	parts '[.calls[] | .n // 1] | add' --condu
	"$ARCPROF" report -i trace --calls --filter thread=worker-1 >text
	[[ $(sed -n 2p text) =~ ^filter:\ thread=worker-1\;\ [0-9]+\ threads\ left\ out$ ]]
	"$ARCPROF" report -i trace --gen --filter kind=platform >text
	[[ $(sed -n 2p text) == 'filter: kind=platform; 0 threads left out' ]]
}

# bats test_tags=stored
@test "filter: calls in a phase" {
	cat >calls.c <<-'EOF'
	#include "arcprof.h"
	__attribute__((noinline)) void work(volatile int *x) { ++*x; }
	int main(void)
	{
		volatile int x = 0;
		uint64_t begun;
		for (int i = 0; i < 3; i++)
			work(&x);
		begun = arcprof_phase_begin();
		for (int i = 0; i < 5; i++)
			work(&x);
		arcprof_phase_end(begun, "hot");
		return 0;
	}
	EOF
	gcc -O1 -finstrument-functions -I "$TOP/lib/api" calls.c "$BUILD/libarcprof-hookit.a" "$BUILD/libarcprof.a" -o calls \
		-pthread -ldl
	"$ARCPROF" record -q -e mark --calltrace -o trace ./calls
	calls() {
		"$ARCPROF" report -i trace --calls --format json "$@" | jq '[.rows[] | select(.name == "work").n] | add // 0'
	}
	[ "$(calls)" -eq 8 ]
	[ "$(calls --filter phase=hot)" -eq 5 ]
	[ "$(calls --filter=-phase=hot)" -eq 3 ]
	[ "$("$ARCPROF" report -i trace --gen --event entry --format json --filter phase=hot |
		jq '[.events[] | select(.name | test("work"))] | length')" -eq 5 ]
}

@test "filter: it applies to tables of locks and waits, and to dispatches" {
	first_jdk
	filtered -e lock,wall -- lock 20
	local class='Filtered$Long' all long rest
	ns() {
		"$ARCPROF" report -i trace --locks --format json "$@" | jq '[.locks[].wait_ns] | add // 0'
	}
	all=$(ns) long=$(ns --filter "class=$class") rest=$(ns --filter="-lock:class=$class")
	[ "$long" -gt 0 ]
	[ $((long + rest)) -eq "$all" ]
	[ "$("$ARCPROF" report -i trace --locks --filter "class=$class" | sed -n 2p | cut -d';' -f1)" = "filter: class=$class" ]
	run_arcprof report -i trace --locks --filter thread=waiter
	[ "$status" -eq 2 ]
	[[ $stderr == "arcprof report: --locks cannot be filtered by thread, only by event, class" ]]
	run_arcprof report -i trace --locks --filter class=None
	[ "$status" -eq 1 ]
	[[ $stderr == *"nothing matches --filter 'class=None'"* ]]
	# a thread has the row that it had
	row() {
		"$ARCPROF" report -i trace --threads --format json "$@" | jq -S '.threads[] | select(.name == "waiter")'
	}
	row >one
	[ -s one ]
	row --filter thread=waiter | diff one -
	[ "$("$ARCPROF" report -i trace --threads --format json --filter thread=waiter | jq '.threads | length')" -eq 1 ]
	if "$ARCPROF" report -i trace --wakers --format json >wakers 2>err; then
		all=$(jq .source.blocked_ns wakers)
		long=$("$ARCPROF" report -i trace --wakers --format json --filter thread=waiter | jq .source.blocked_ns)
		rest=$("$ARCPROF" report -i trace --wakers --format json --filter=-thread=waiter | jq .source.blocked_ns)
		[ "$long" -gt 0 ]
		[ $((long + rest)) -eq "$all" ]
	fi
}

@test "filter: it applies to dispatches" {
	first_jdk
	filtered --sched -- burn 50 || skip "dispatches cannot be recorded here"
	parts .totals.cpu_ns --threads
	parts '.threads | length' --threads
	"$ARCPROF" report -i trace --sched --format json --filter thread=worker-1 >lines
	jq -e '.lines | length > 0 and all(.[]; .out.name == "worker-1" or .in.name == "worker-1")' lines
	[ "$(jq .source.left_out lines)" -gt 3 ]
}

@test "filter: it applies to live objects, and to lines" {
	first_jdk
	"$ARCPROF" record -q -e live=1k -o trace java -XX:+UseSerialGC -Xmn2m -Xmx256m -cp "$CLASSES" -Dseconds=1 -Dgarbage=20 \
		-Dleak=600000 Survivors >truth
	live() {
		"$ARCPROF" report -i trace --leaks --format json "$@" | jq .source.samples
	}
	local node='Survivors$Node'
	[ "$(live --filter "class=$node")" -gt 100 ]
	[ $(($(live --filter "class=$node") + $(live --filter="-class=$node"))) -eq "$(live)" ]
	[ "$("$ARCPROF" report -i trace --leaks --format json --filter "class=$node" | jq -r '[.leaks[].class] | unique | join(" ")')" = "$node" ]
	[ $(($(live --filter thread=main) + $(live --filter=-thread=main))) -eq "$(live)" ]
	filtered -F 1000 -e cpu-clock -- burn 200
	parts .samples --annotate Filtered.burn
	[ "$(jq .source.left_out part)" -eq "$(jq .samples rest)" ]
	printf 'exclude_method Filtered.burn\n' >methods
	run_arcprof report -i trace --annotate Filtered.burn --config methods
	[ "$status" -eq 2 ]
	[[ $stderr == *"cannot be combined: --annotate, and rules about methods in 'methods'"* ]]
}

# bats test_tags=stored
@test "filter: it applies to both sides of a difference" {
	first_jdk
	filtered -e alloc=0 -- alloc 100
	mv trace a
	filtered -e alloc=0 -- alloc 150
	differs() {
		"$ARCPROF" diff a trace --metric objects --normalize none --format json "$@" >json
		jq -r '"\(.a[0].total) \(.b[0].total) \(.a[0].left_out) \(.filter)"' json
	}
	[ "$(differs --filter "class=$SMALL,thread=worker-*" | cut -d' ' -f1,2,4)" = "200 300 class=$SMALL,thread=worker-*" ]
	[ "$(differs --filter "class=$SMALL" | cut -d' ' -f1)" -eq 300 ]
	[ $((300 + $(differs --filter="class=$SMALL" | cut -d' ' -f3))) -eq "$(differs | cut -d' ' -f1)" ]
	echo 'include_thread other' >rules
	[ "$(differs --filter "class=$SMALL" --config rules | cut -d' ' -f1,2)" = "100 150" ]
	"$ARCPROF" diff a trace --metric objects --filter "class=$SMALL" >text
	grep -q "^ filter: class=$SMALL$" text
	run_arcprof diff a trace --filter nosuch=x
	[ "$status" -eq 2 ]
}

# bats test_tags=stored
@test "filter: impossible conditions are refused with the reason" {
	first_jdk
	local bad
	for bad in 'thread=' 'threads=x' 'wall>1ms' 'lock>soon' 'nosuch' 'nosuch:thread=x' 'kind=green' ',' 'phase=x'; do
		run_arcprof record -o trace --filter "$bad" -- true
		[ "$status" -eq 2 ] || [ "$status" -eq 125 ]
		[[ $stderr == "arcprof record: "*[Ff]ilter* ]]
		[ ! -e trace ]
	done
	"$ARCPROF" record -q -o trace -- true
	for bad in '--check --filter thread=x' '--filter nosuch' '--filter lock' \
			'--stacks nowhere --filter lock>1ms' '--format chrome --filter thread=x -o out' \
			'--blame --filter lock>1ms'; do
		# shellcheck disable=SC2086 # several options
		run_arcprof report -i trace $bad
		[ "$status" -ne 0 ]
		[[ $stderr == "arcprof report: "* ]]
	done
}
