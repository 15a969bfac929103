#!/usr/bin/env bats
# bats file_tags=stored
# Exact calls of C and C++ programs: libarcprof-hookit, the trees in the trace, the reports of them.
load ../lib

HOOKIT=$BUILD/libarcprof-hookit.a

# build <output> <source> [<gcc option>...]
build() {
	[ -f "$HOOKIT" ] || make -s -C "$TOP" build/libarcprof-hookit.a >&2
	local output=$1 source=$2
	shift 2
	g++ -O1 -g -finstrument-functions "$source" "$HOOKIT" -o "$output" -pthread "$@"
}

# calls <option>...: records into the file "trace", whose trees must hold their invariants.
calls() {
	run_arcprof record -o trace "$@"
	arcprof report -i trace --check >.check || { cat .check; return 1; }
	arcprof report -i trace --xarc >/dev/null
}

ways() {
	skip_unless_perf
	build ways "$TOP/t/data/callflow/ways.cc"
}

# "calls function" of the trace, as the program prints them.
counts() {
	arcprof report -i "${1:-trace}" --xprof --format json "${@:2}" |
		jq -r '.rows[] | select(.kind == "native" and .n > 0) | "\(.n) \(.name)"' | sort
}

total_calls() {
	arcprof report -i "${1:-trace}" --xprof --format json "${@:2}" | jq .quality.n
}

@test "callflow: every call is counted, by whatever way in and out" {
	ways
	calls --callflow -- ./ways
	[ "$status" -eq 0 ]
	sort <<<"$output" >want
	counts | diff want -
	# longjmp left 5 frames 10 times; in the child, forks() and main() were entered before its first event.
	[ "$(arcprof report -i trace --xprof --format json | jq .quality.repairs.popped)" -eq 50 ]
}

@test "callflow: every call is counted in optimised programs, with functions inlined, too" {
	ways
	for level in -O0 -O2 -O3; do
		build ways "$TOP/t/data/callflow/ways.cc" $level
		calls --callflow -- ./ways 1000
		sort <<<"$output" >want
		counts | diff want -
		[ "$(arcprof report -i trace --xprof --format json | jq .quality.repairs.popped)" -eq 50 ]
	done
}

@test "callflow: --call-sites keeps the lines apart that a function calls another from" {
	ways
	# each call is the same as without, whatever the way out
	calls --callflow --call-sites -- ./ways 1000
	sort <<<"$output" >want
	counts | grep -vE '(:[0-9]+|\+0x[0-9a-f]+)$' | diff want -
	cat >sites.cc <<-END
		static volatile int sink;
		static inline __attribute__((always_inline)) void small() { sink = 1; }
		__attribute__((noinline)) void leaf() { small(); }
		__attribute__((noinline)) void twice(int n) {
			leaf();
			if (n)
				leaf();
		}
		int main() {
			for (int i = 0; i < 10; i++)
				twice(i % 2);
			twice(1);
		}
	END
	build sites sites.cc
	calls --callflow --call-sites --metric calls -- ./sites
	arcprof report -i trace --format folded >text
	# the one that is inlined has its caller's place
	diff <(sed -n 's/.*;main;/main;/p' text | sort) - <<-END
		main;main:11 10
		main;main:11;twice(int) 10
		main;main:11;twice(int);twice(int):5 10
		main;main:11;twice(int);twice(int):5;leaf() 10
		main;main:11;twice(int);twice(int):5;leaf();small() 10
		main;main:11;twice(int);twice(int):7 5
		main;main:11;twice(int);twice(int):7;leaf() 5
		main;main:11;twice(int);twice(int):7;leaf();small() 5
		main;main:12 1
		main;main:12;twice(int) 1
		main;main:12;twice(int);twice(int):5 1
		main;main:12;twice(int);twice(int):5;leaf() 1
		main;main:12;twice(int);twice(int):5;leaf();small() 1
		main;main:12;twice(int);twice(int):7 1
		main;main:12;twice(int);twice(int):7;leaf() 1
		main;main:12;twice(int);twice(int):7;leaf();small() 1
	END
	run_arcprof record --callflow --call-sites -F 99 -o trace -- ./sites
	[[ $status -eq 2 && $stderr == *"--call-sites and --event"* ]]
	run_arcprof record --call-sites -o trace -- ./sites
	[[ $status -eq 2 && $stderr == *"--call-sites needs --callflow"* ]]
}

@test "callflow: contexts are distinguished, and signals appear where they came" {
	ways
	calls --callflow -- ./ways
	arcprof report -i trace --xtree --format json >tree
	# fib(15) of a thread: 1, 2, 4, ... calls at its first levels, each below works().
	[ "$(jq '[.nodes[] | select(.name == "fib(int)" and .rl == 3 and .level == 5)] | map(.n) | unique | .[]' tree)" -eq 4 ]
	[ "$(jq '[.nodes[] | select(.name == "works(void*)")] | length' tree)" -eq 8 ]
	main=$(jq '.nodes[] | select(.name == "main" and .level == 2) | .id' tree | head -n 1)
	[ "$(jq --argjson main "$main" '.nodes[] | select(.name == "handled(int)" and .parent == $main) | .n' tree)" -eq 5 ]
}

@test "callflow: a thread's total is the kernel's value within 1 %" {
	skip_unless_perf
	cat >spin.cc <<-END
		#include <pthread.h>
		#include <unistd.h>
		static volatile unsigned sink;
		static void leaf() { for (int i = 0; i < 100; i++) sink = sink * 3 + 1; }
		static void spin(int n) { for (int i = 0; i < n; i++) leaf(); usleep(100); }
		static void *run(void *) { for (int i = 0; i < 100; i++) spin(5000); return nullptr; }
		int main() { pthread_t t[2]; for (auto &x : t) pthread_create(&x, nullptr, run, nullptr);
			for (auto &x : t) pthread_join(x, nullptr); }
	END
	build spin spin.cc
	calls --callflow -- ./spin
	# Of the threads that ended: the kernel's account at the end, and the sum of all base of its tree.
	arcprof dump -i trace --format json |
		jq -r '.records[] | select(.name == "call.tree" and .fields.kernel_cpu > 0) | .fields | "\(.thread) \(.kernel_cpu)"' |
		sort -u >kernel
	arcprof dump -i trace --format json |
		jq -r '.records[] | select(.name == "thread") | .fields | "\(.thread) \(.tid)"' | sort -u >tids
	arcprof report -i trace --xtree --metric cpu --format json |
		jq -r '.nodes[] | select(.kind == "thread") | "\(.tid) \(.cum[0])"' | sort >sums
	[ "$(wc -l <kernel)" -eq 3 ]	# main() noted its own before the process ended
	while read -r thread ns; do
		tid=$(awk -v t="$thread" '$1 == t { print $2 }' tids)
		within "$(awk -v t="$tid" '$1 == t { print $2 }' sums)" "$ns" 1
	done <kernel
}

@test "callflow: the tree of the events is the tree of the process" {
	ways
	calls --calltrace -- ./ways 300
	[ "$status" -eq 0 ]
	[[ $stderr == *" events, 0 lost"* ]]
	arcprof report -i trace --format tree | cut -f 1,2,5 | sort >process
	arcprof report -i trace --replay --format tree | cut -f 1,2,5 | sort >events
	diff process events
	sort <<<"$output" >want
	counts trace --replay | diff want -
	# Consumption, too, but for what came after a thread's last event, and rounding.
	arcprof report -i trace --xprof --format json | jq '.rows[] | select(.name == "fib(int)") | .base[0]' >a
	arcprof report -i trace --replay --xprof --format json | jq '.rows[] | select(.name == "fib(int)") | .base[0]' >b
	within "$(cat a)" "$(cat b)" 1
}

# Samples in part() below the function, whatever is between, of the trace's tree.
parts_below() {
	jq --arg f "$1" 'reduce .nodes[] as $n ({}; .[$n.id | tostring] = (.[$n.parent // -1 | tostring] or $n.name == $f))
		| . as $below | input | [.nodes[] | select(.name == "part(int)" and $below[.id | tostring]) | .base[-1]] | add // 0' tree tree
}

# grafted <rounds> <depth>: of the last recording of graft.cc, and its tree.
grafted() {
	local f p total
	counts >got
	sort <<-END | diff - got
		1 main
		$1 once(int)
		$1 thrice(int)
		$((5 * $1)) leaf(int)
		$(($2 * $1)) deep(int, int)
	END
	[ "$(jq '.metrics[-1].name' tree)" = '"samples"' ]
	[ "$(jq '.metrics[-1].total' tree)" -eq "$(total_calls trace --samples)" ]
	[ "$(jq '[.nodes[].base[-1]] | add' tree)" -eq "$(jq '.quality.samples' tree)" ]
	[ "$(jq '[.nodes[] | select(.name == "between(void (*)(int), int)")] | length' tree)" -eq 0 ]
	total=$(jq '[.nodes[] | select(.name == "part(int)") | .base[-1]] | add' tree)
	while read -r p f; do
		echo "$f: $(parts_below "$f") of $total"
		proportion "$(parts_below "$f")" "$total" "$p"
	done <<-END
		16.667 once(int)
		50 thrice(int)
		33.333 deep(int, int)
	END
}

@test "callflow: samples hang below the calls that were open, and neither is added to the other" {
	skip_unless_perf
	for level in -O0 -O2; do
		build graft "$TOP/t/data/callflow/graft.cc" $level
		# many samples a round: with one, they could be in step with it
		calls --callflow -F 4999 -- ./graft 50 240000 20
		arcprof report -i trace --xtree --format json >tree
		[ "$(jq '.quality.missing_contexts' tree)" -eq 0 ]
		grafted 50 21
		# the end of the recursion is where they are
		[ "$(jq '[.nodes[] | select(.name == "part(int)" and .level == 25)] | length' tree)" -eq 1 ]
	done
	# a report of one of the two has nothing of the other
	run_arcprof report -i trace --xprof --metric cpu
	[[ $output != *amples* && $output != *sampled* ]]
	run_arcprof report -i trace --xprof --samples
	[[ $output != *Calls* ]]
	# and the table of both is read back as it was
	arcprof report -i trace --format tree >text
	arcprof report --tree text --xprof --format csv >again
	arcprof report -i trace --xprof --format csv | diff - again
}

@test "callflow: samples in calls counted in merged contexts go to [pruned] only" {
	skip_unless_perf
	build graft "$TOP/t/data/callflow/graft.cc"
	calls --callflow --call-depth 8 -F 4999 -- ./graft 50 240000 20
	arcprof report -i trace --xtree --format json >tree
	# deep() is folded into itself; leaf() at its end has no context, and is in [pruned]
	[ "$(jq '[.nodes[] | select(.name == "deep(int, int)" and .n > 0) | .n] | add' tree)" -eq 1050 ]
	[ "$(jq '[.nodes[] | select(.name == "[pruned]")] | map(.n) | add' tree)" -eq 50 ]
	pruned=$(jq '.nodes[] | select(.name == "[pruned]") | .id' tree)
	[ "$(jq --argjson p "$pruned" '.nodes[] | select(.name == "leaf(int)" and .parent == $p) | .n' tree)" -eq 0 ]
	missing=$(jq '.quality.missing_contexts' tree)
	[ "$missing" -ge "$(parts_below "[pruned]")" ]
	[ "$(parts_below "[pruned]")" -eq "$(parts_below "deep(int, int)")" ]
	proportion "$(parts_below "[pruned]")" "$(jq '[.nodes[] | select(.name == "part(int)") | .base[-1]] | add' tree)" 33.333
	run_arcprof report -i trace --xprof
	[[ $output == *"samples in calls that the tree of calls does not have: $missing"* ]]
}

@test "report: --gen prints a line for each entry and exit" {
	ways
	calls --calltrace -- ./ways 10
	arcprof report -i trace --gen >gen
	[[ $(head -n 1 gen) == *" events of "*", 0 lost; cpu in ns, wall in ns"* ]]
	calls=$(awk '{ n += $1 } END { print n }' <<<"$output")
	[ "$(grep -c ' > N:' gen)" -eq "$calls" ]
	[ "$(grep -c ' ? ev_5_UNWOUND ' gen)" -eq 10 ]
	grep -qE '^ *[0-9]+\.[0-9]{9} +[0-9]+ +[0-9]+ < N:fib\(int\) ways$' gen
	[ "$(arcprof report -i trace --gen --limit 5 | wc -l)" -eq 6 ]
	follows_columns time_ns,kind,name time_ns report -i trace --gen
	arcprof report -i trace --gen --columns time,event --limit 3 | tail -n 4 | head -n 1 | grep -qE '^ +Time Event$'
}

# entries <option of report --gen>...: "n function" of the entries it shows
entries() {
	arcprof report -i trace --gen --event entry "$@" | sed -n 's/^[0-9. ]* > N:\(.*\) ways$/\1/p' | sort | uniq -c |
		sed 's/^ *//'
}

# lines <option of report --gen>...: how many events it shows
lines() {
	arcprof report -i trace --gen "$@" | tail -n +2 | wc -l
}

@test "report: --gen shows what happens in calls of a function, of a kind, of a thread, in a time" {
	ways
	calls --calltrace -- ./ways 10
	diff <(entries --symbol 'catches()') <(printf '%s\n' '10 catches()' '10 leaf()' '40 throws(int)')
	diff <(entries --symbol 'lands()' --symbol 'handled(int)') \
		<(printf '%s\n' '5 handled(int)' '50 jumps(int)' '10 lands()' '15 leaf()')
	# in calls of both: of the module, which all are in
	diff <(entries --symbol 'catches()' --module ways) <(entries --symbol 'catches()')
	[ "$(entries --symbol 'catches()' --module nothing | wc -l)" -eq 0 ]
	# what longjmp left is not open any more
	[ "$(lines --symbol 'jumps(int)' --event unwound,exit)" -eq 10 ]
	all=$(lines)
	[ $(($(lines --event entry) + $(lines --event exit,exception) + $(lines --event unwound))) -eq "$all" ]
	[ $(($(lines --to 1ms) + $(lines --from 1ms))) -eq "$all" ]
	[ $(($(lines --symbol 'fib(int)' --to 1ms) + $(lines --symbol 'fib(int)' --from 1ms))) -eq "$(lines --symbol 'fib(int)')" ]
	[ "$(lines --thread 'way?')" -eq "$all" ]
	run_arcprof report -i trace --gen --thread none --pid 1
	[ "$status" -eq 1 ]
	[[ $stderr == *": nothing matches --pid '1' --thread 'none'"* ]]
	run_arcprof report -i trace --gen --event entry,calls
	[ "$status" -eq 1 ]
	[[ $stderr == *"unknown event 'calls' (available: entry, "* ]]
	run_arcprof report -i trace --event entry
	[ "$status" -eq 2 ]
	[[ $stderr == *"--event is only valid with --gen"* ]]
	run_arcprof report -i trace --gen --cpu 0
	[ "$status" -eq 2 ]
}

@test "report: --calls has as many calls as the tree, and their time" {
	ways
	calls --calltrace -- ./ways 300
	sort <<<"$output" >want
	arcprof report -i trace --calls --format json >rows
	jq -r '.rows[] | "\(.n) \(.name)"' rows | sort | diff want -
	# what each function consumed itself, and n, are to the last ns what the tree has that is built from the same events
	for metric in cpu wall; do
		arcprof report -i trace --xprof --replay --metric "$metric" --format json |
			jq -r '.rows[] | select(.kind == "native") | "\(.n) \(.base[0]) \(.name)"' | sort >tree
		arcprof report -i trace --calls --metric "$metric" --format json |
			jq -r '.rows[] | "\(.n) \(.self) \(.name)"' | sort | diff tree -
	done
	# each call is in the histogram, and SQL finds the same sums and percentiles in its own table of calls
	jq -e '[.rows[] | (.histogram | map(.n) | add) == .n and .open == 0] | all' rows
	arcprof query -i trace --format csv "with c as (select name, duration, row_number() over w as rank,
			count(*) over (partition by name) as n from calls window w as (partition by name order by duration))
		select name, n, sum(duration), max(duration), max(case when rank = (n + 1) / 2 then duration end),
			max(case when rank = (n * 99 + 99) / 100 then duration end)
		from c group by name order by name" | tail -n +2 >sql
	jq -r '.rows | sort_by(.name)[] | [.name, .n, .total, .max, .p50, .p99] | @csv' rows | tr -d '"' >ours
	[ "$(wc -l <ours)" -gt 10 ]
	tr -d '"' <sql | paste -d, - ours | awk -F, '{
		for (i = 1; i <= 4; i++) bad += $i != $(i + 6)
		for (i = 5; i <= 6; i++) bad += $2 <= 1000 ? $i != $(i + 6) : ($i - $(i + 6)) ^ 2 > ($i * 0.008 + 1) ^ 2
	} END { print NR, bad + 0; exit bad }'
	# parts of the time: each call is in one of them, by when it began; and those in calls of a function
	middle=$(arcprof query -i trace --format csv 'select time from calls order by time limit 1 offset 9999' | tail -n 1)
	arcprof report -i trace --calls --format csv --to "${middle}ns" >early
	arcprof report -i trace --calls --format csv --from "${middle}ns" >late
	[ "$(tail -qn +2 early | awk -F, '{ n += $1 } END { print n }')" -ge 9000 ]
	[ "$(tail -qn +2 early late | awk -F, '{ n += $1 } END { print n }')" -eq "$(awk '{ n += $1 } END { print n }' want)" ]
	arcprof report -i trace --calls --format json --symbol 'catches()' | jq -r '.rows[] | "\(.n) \(.name)"' | sort |
		diff - <(printf '%s\n' '10 catches()' '10 leaf()' '40 throws(int)')
	follows_columns mean,n,name mean report -i trace --calls
	run_arcprof report -i trace --calls --metric cycles
	[ "$status" -eq 1 ]
	[[ $stderr == *"unknown metric 'cycles' (available: elapsed, cpu, wall"* ]]
}

@test "report: --flow has each call, and --condu the same in fewer lines" {
	ways
	calls --calltrace -- ./ways 300
	# as SQL has them, in the order in which they ended
	arcprof query -i trace --format csv 'select time, time + duration, duration, level, name from calls' |
		tail -n +2 | tr -d '"' | sort >sql
	arcprof report -i trace --flow --format csv >flow
	[ "$(head -n 1 flow)" = start_ns,stop_ns,elapsed,base,level,thread,name ]
	tail -n +2 flow | tr -d '"' | cut -d, -f 1-3,5,7- | sort | diff sql -
	tail -n +2 flow | cut -d, -f 2 | sort -nc
	# n, elapsed and base of each function are the same in all three
	for report in flow condu; do
		arcprof report -i trace --"$report" --format json |
			jq -r '.calls | group_by(.name)[] | [.[0].name, (map(.n // 1) | add), (map(.elapsed) | add), (map(.base) | add)] | @csv' >"$report.sums"
	done
	follows_columns elapsed,start_ns,name elapsed report -i trace --flow
	follows_columns n,elapsed,name n report -i trace --condu
	arcprof report -i trace --calls --format json | jq -r '.rows | sort_by(.name)[] | [.name, .n, .total, .self] | @csv' >calls.sums
	diff flow.sums calls.sums
	diff condu.sums calls.sums
	# 50 jumps in tens of 5, in turn with other calls; ten times the same
	arcprof report -i trace --condu --symbol 'catches()' >text
	[ "$(grep -cE ' ways +(throws\(int\)|leaf\(\)|catches\(\))$' text)" -eq 6 ]
	[ "$(tail -n +5 text | awk '{ print $1 }' | sort -u)" = 10 ]
	grep -qE '^ +10 +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ ways + {3}catches\(\)$' text
	[ "$(arcprof report -i trace --flow --limit 7 --format csv | wc -l)" -eq 8 ]
	# who has enough before the end does not say that there is none
	for report in flow condu gen; do
		run_arcprof report -i trace --"$report" --limit 3
		[ "$status" -eq 0 ]
		[ -z "$stderr" ]
	done
}

@test "report: --calls=FUNCTION shows the slowest calls and what was in them" {
	skip_unless_perf
	cat >slow.cc <<-END
		#include <unistd.h>
		void pause_for(int us) { usleep(us); }
		void quick() { }
		void serve(int i) { quick(); pause_for(i % 10 == 3 ? 20000 + 10000 * i / 10 : 100); quick(); }
		int main() { for (int i = 0; i < 50; i++) serve(i); }
	END
	build slow slow.cc
	calls --calltrace -- ./slow
	arcprof report -i trace --calls='serve(int)' --limit 6 --format json >slow.json
	[ "$(jq .n slow.json)" -eq 50 ]
	# the slow ones in order, each with its callees, which are the call but for what is its own
	jq -e '[.slowest[:5][] | .duration_ns >= 20000000] | all' slow.json
	jq -e '[.slowest[].duration_ns] | length == 6 and . == (sort | reverse)' slow.json
	jq -e '[.slowest[] | (.inside | map(.name + " \(.n)") | sort) == ["pause_for(int) 1", "quick() 2"]] | all' slow.json
	jq -e '[.slowest[] | .cum == .self + (.inside | map(.cum) | add)] | all' slow.json
	arcprof report -i trace --calls='serve(int)' >text
	grep -qE '^50 calls: .*by elapsed time' text
	grep -qE '^   1 +[0-9]+\.[0-9]{9} +- +[0-9]+\.[0-9]{3} +[0-9]+\.[0-9]{3} slow +serve\(int\)$' text
	grep -qE '^   - +- +2 +[0-9.]+ +- - +  quick\(\)$' text
	[ "$(arcprof report -i trace --calls='serve(int)' --limit 2 --format csv | wc -l)" -eq 7 ]
	run_arcprof report -i trace --calls=serve
	[ "$status" -eq 1 ]
	[[ $stderr == *"no calls of 'serve'"* ]]
	follows_columns duration_ns,name - report -i trace --calls='*'
	run_arcprof report -i trace --calls='*' --sort n
	[[ $status -eq 2 && $stderr == *"--sort=n: --calls=FUNCTION has the slowest calls first"* ]]
	# as a picture: each call is in one column of the distribution, and their time has parts
	arcprof report -i trace --calls='serve(int)' --format svg >calls.svg
	n=$(jq .n slow.json)
	grep -q "^<text[^>]*>$n calls: mean " calls.svg
	[ "$(sed -n 's/^<g><title>.* and more: \([0-9]*\) calls.*/\1/p' calls.svg | awk '{ sum += $1 } END { print sum }')" -eq "$n" ]
	grep -o '>[A-Z][A-Za-z/ ,]* [0-9.]* %<' calls.svg | grep -o '[0-9.]* %' | awk '{ sum += $1 } END { exit !(sum > 99.7 && sum < 100.3) }'
	run_arcprof report -i trace --calls --format svg
	[[ $status -eq 2 && $stderr == *"--calls=FUNCTION"* ]]
}

@test "record: --trace stores slow calls with what is in them, and counts all" {
	skip_unless_perf
	cat >slow.cc <<-END
		#include <unistd.h>
		void pause_for(int us) { usleep(us); }
		void quick() { }
		void serve(int i) { quick(); pause_for(i % 10 == 3 ? 300000 : 10); quick(); }
		int main() { for (int i = 0; i < 30; i++) serve(i); }
	END
	build slow slow.cc
	calls --trace='serve(int)>250ms,absent>1ms' -- ./slow
	[[ $stderr == *"no call of 'absent>1ms' has ended"* ]]
	arcprof report -i trace --xprof --format json | jq -r '.rows[] | "\(.name) \(.n)"' | sort >counts
	grep -qxF 'serve(int) 30' counts
	grep -qxF 'quick() 60' counts
	arcprof report -i trace --calls --format json | jq -r '.rows[] | "\(.name) \(.n)"' | sort >slow.calls
	diff slow.calls - <<<$'pause_for(int) 3\nquick() 6\nserve(int) 3'
	arcprof report -i trace --gen --format json >gen.json
	[ "$(jq -c .source.only gen.json)" = \
		'[{"rule":"serve(int)>250ms","calls":30,"slow":3},{"rule":"absent>1ms","calls":0,"slow":0}]' ]
	[ "$(jq -r '[.events[] | .kind + " " + .name] | join(",")' gen.json)" = "$(for i in 1 2 3; do
		echo 'entry serve(int)' 'entry quick()' 'exit quick()' 'entry pause_for(int)' 'exit pause_for(int)' \
			'entry quick()' 'exit quick()' 'exit serve(int)'; done | sed 's/ \(entry\|exit\)/,\1/g' | paste -sd,)" ]
	grep -q '^only slow calls, and calls in them: 3 of 30 are serve(int)>250ms' <(arcprof report -i trace --flow)
	run_arcprof report -i trace --xprof --replay
	[ "$status" -eq 1 ]
	[[ $stderr == *"--replay needs all calls"* ]]
	run_arcprof record --trace=serve -- ./slow
	[ "$status" -eq 2 ]
	[[ $stderr == *"give a method and a time"* ]]
}

@test "report: --gen has the dispatches of the threads whose calls it shows" {
	skip_unless_root
	ways
	calls --calltrace --sched -- ./ways 10
	[ "$(arcprof report -i trace --threads --format json 2>/dev/null | jq '.totals.dispatches')" -gt 0 ] ||
		skip "dispatches cannot be recorded here"
	arcprof report -i trace --gen >gen
	[[ $(head -n 1 gen) == *" events and "*" dispatches of "* ]]
	grep -qE '^ *[0-9.]+ +- +- \+ \[gets CPU [0-9]+\] ways$' gen
	grep -qE '^ *[0-9.]+ +- +- - \[loses CPU [0-9]+: [RSDTXIB?]\] ways$' gen
	# a child of fork() that never called anything has no dispatches here; the others have all theirs
	[ "$(lines --event dispatch)" -eq "$(grep -cE '(gets|loses) CPU' gen)" ]
	# built from the events, contexts have their dispatches and interrupts: all but those after a thread's last event
	calls --calltrace --irq -- ./ways 1000
	arcprof report -i trace --replay --rt --format json >rt
	jq -e '[.rows[] | .in != null and .ds != null] | all' rt
	arcprof report -i trace --threads --format json >threads
	dispatches=$(jq '[.rows[].ds] | add' rt) interrupts=$(jq '[.rows[].in] | add' rt)
	[ "$dispatches" -gt 0 ]
	[ "$dispatches" -le "$(jq .totals.dispatches threads)" ]
	[ "$interrupts" -le "$(jq .totals.interrupts threads)" ]
	[ "$(jq '[.rows[] | select(.name == "main") | .ds] | add' rt)" -gt 0 ]
	arcprof report -i trace --replay --rt | grep -qE ' +[0-9]+ +[0-9]+ N:main$'
	arcprof report -i trace --replay --check >checked
	# main() waits for its threads and its child
	calls --calltrace --sched -- ./ways 10
	[ "$(lines --event dispatch --symbol main)" -gt 0 ]
	[ "$(lines --event dispatch --symbol main)" -lt "$(lines --event dispatch)" ]
}

@test "report: --gen and --replay say when a trace has no events" {
	ways
	calls --callflow -- ./ways 10
	for option in --gen --replay; do
		run_arcprof report -i trace "$option"
		[ "$status" -eq 1 ]
		[[ $stderr == *"record it with --calltrace"* ]]
	done
	run_arcprof report -i trace --gen --format pprof
	[ "$status" -eq 2 ]
}

@test "callflow: memory and depth that do not suffice cost the context, not the count" {
	ways
	calls --callflow --call-depth 50 -- ./ways 300000
	calls=$(awk '{ n += $1 } END { print n }' <<<"$output")
	threads=$(arcprof report -i trace --xprof --format json | jq .quality.threads)
	[ "$(total_calls)" -eq $((calls + threads)) ]
	sort <<<"$output" >want
	counts | diff want -	# the recursion is folded into itself: its name stays
	cat >wide.cc <<-END
		#include <cstdio>
		static volatile int sink;
		template <int N> struct f {
			static void go(int depth) { sink = N; if (depth) { f<N + 1>::go(depth - 1); f<N + 2>::go(depth - 1); } }
		};
		template <> struct f<40> { static void go(int) { sink = 40; } };
		template <> struct f<41> { static void go(int) { sink = 41; } };
		int main() { f<0>::go(19); }
	END
	build wide wide.cc
	calls --callflow --call-memory 1M --metric calls -- ./wide
	[ "$status" -eq 0 ]
	few=$(total_calls)
	[[ $stderr == *"calls are counted in merged contexts"* ]]
	[ "$(arcprof report -i trace --xprof --format json | jq '[.rows[] | select(.name == "[pruned]") | .n] | add')" -gt 0 ]
	# contexts that make room between snapshots have their counts once
	calls --callflow --call-memory 1M --metric cpu --snapshot=5ms -- ./wide
	[ "$(total_calls)" -eq "$few" ]
	grep 'ok .*CPU time of calls = the kernel.s .* 1 checked' .check
	calls --callflow --metric calls -- ./wide
	[[ $stderr != *"merged contexts"* ]]
	[ "$(total_calls)" -eq "$few" ]
	# half of what f<N> does is in each of the two that it calls: neither stays
	calls --callflow --call-prune 70/1ms --metric calls -- ./wide
	[[ $stderr == *"merged contexts, by --call-prune"* ]]
	[ "$(total_calls)" -eq "$few" ]
	[[ $stderr =~ calls\ in\ ([0-9]+)\ contexts ]]
	[ "${BASH_REMATCH[1]}" -lt 100000 ]
}

@test "callflow: a killed program keeps its calls" {
	skip_unless_perf
	cat >killed.cc <<-END
		#include <csignal>
		static volatile int sink;
		static void leaf() { sink = 1; }
		int main() { for (int i = 0; i < 12345; i++) leaf(); raise(SIGKILL); }
	END
	build killed killed.cc
	calls --callflow -- ./killed
	[ "$status" -eq 137 ]
	[ "$(counts)" = "1 main
12345 leaf()" ]
}

@test "callflow: a recorder that is killed leaves the calls of all but the last seconds" {
	skip_unless_perf
	cat >goes.cc <<-END
		#include <unistd.h>
		static volatile int sink;
		static void leaf() { sink = 1; }
		int main() { for (int i = 0; i < 12345; i++) leaf(); for (int i = 0; i < 600; i++) usleep(100000); }
	END
	build goes goes.cc
	"$ARCPROF" record -q --callflow -o trace -- ./goes &
	recorder=$!
	for _ in $(seq 300); do
		[ ! -s trace ] || [ "$(total_calls trace 2>/dev/null)" -lt 12346 ] 2>/dev/null || break
		sleep .1
	done
	child=$(pgrep -P $recorder)
	kill -KILL $recorder
	kill -KILL "$child"
	wait $recorder || true
	run_arcprof report -i trace --xprof --format json
	[ "$status" -eq 1 ]
	[[ $stderr == *'trace has no end: the recording was cut off after '*' s, or still goes on'* ]]
	[ "$(counts trace 2>/dev/null || true)" = "1 main
12345 leaf()" ]
	arcprof report -i trace --check >check || true
	cat check
	! grep -v '^ok' check || false
}

# "consumer cum" of a metric, in the reports of the last recording of open.cc.
cums() {
	arcprof report -i trace --xprof --metric "$1" --format json | jq -r '.rows[] | "\(.name) \(.cum[0])"'
}

@test "callflow: threads whose process ends by _exit() have the time that they measured, without an error" {
	skip_unless_perf
	cat >leavers.c <<-'EOF'
		#include <sys/wait.h>
		#include <time.h>
		#include <unistd.h>
		static volatile unsigned long sink;
		__attribute__((no_instrument_function)) static double cpu_ms(void)
		{
			struct timespec t;
			clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
			return 1e3 * t.tv_sec + 1e-6 * t.tv_nsec;
		}
		static void step(void) { for (int i = 0; i < 20000; i++) sink += i; }
		static void work(double ms) { for (ms += cpu_ms(); cpu_ms() < ms;) step(); }
		int main(void)
		{
			for (int i = 0; i < 40; i++)
				if (!fork()) {
					work(7 * (i % 10 + 1));
					_exit(0);
				}
			while (wait(NULL) > 0)
				;
			return 0;
		}
	EOF
	build leavers leavers.c
	calls --callflow -- ./leavers
	within "$(arcprof report -i trace --xprof --metric cpu --format json |
		jq '.rows[] | select(.name | startswith("work")).cum[0]')" $((4 * 7 * 55 * 1000000)) 5
}

@test "callflow: a process that gets no answer in time runs as ever, and is reported as missing" {
	ways
	run_arcprof record -o trace --callflow -- sh -c 'kill -STOP $PPID; ./ways; kill -CONT $PPID; exec ./ways'
	[ "$status" -eq 0 ]
	[ "$(counts | grep ' main$')" = '1 main' ]
	run_arcprof report -i trace
	[[ $output == *"what 1 process would have told: it was not answered before it ended, or in time"* ]]
}

@test "callflow: calls open at the end have their consumption up to it" {
	skip_unless_perf
	cat >open.cc <<-END
		#include <csignal>
		#include <cstdio>
		#include <ctime>
		#include <pthread.h>
		#include <unistd.h>
		static volatile unsigned sink;
		static volatile int inside[2];
		static void burns() { for (inside[0] = 1;;) sink = sink * 3 + 1; }
		static void waits() { for (inside[1] = 1;;) pause(); }
		static void *burn(void *) { burns(); return nullptr; }
		static void *wait(void *) { waits(); return nullptr; }
		int main(int argc, char **argv)
		{
			pthread_t t, u;
			clockid_t clock;
			timespec s;
			pthread_create(&t, nullptr, burn, nullptr);
			pthread_create(&u, nullptr, wait, nullptr);
			while (!inside[0] || !inside[1])
				usleep(1000);
			usleep(400000);
			pthread_getcpuclockid(t, &clock);
			clock_gettime(clock, &s);
			printf("%ld\\n", s.tv_sec * 1000000000l + s.tv_nsec);
			fflush(stdout);
			if (argc > 1)
				raise(SIGKILL);
		}
	END
	build open open.cc
	for how in "" killed; do
		for snapshot in "" --snapshot=100ms; do
			# shellcheck disable=SC2086
			calls --callflow --metric cpu,wall $snapshot -- ./open $how
			# what the kernel says of one that is killed was known a moment before, and is no figure of its end
			grep "ok .*CPU time of calls = the kernel.s .* $([ -z "$how" ] && echo 3 || echo '[0-3]') checked" .check
			cums cpu >cpu
			cums wall >wall
			# one that is killed was last looked at a moment before
			awk -v got="$(awk '$1 == "burns()" { print $2 }' cpu)" -v want="$output" -v slack="${how:+150}" \
				'BEGIN { print got, want; exit !(got > want * 0.97 - slack * 1e6 && got < want * 1.03 + 5e6) }'
			[ "$(awk '$1 ~ /^(burns|waits)/ && $2 >= 400000000' wall | wc -l)" -eq 2 ]
			[ "$(arcprof report -i trace --xprof --format json | jq .quality.repairs.closed)" -eq $((4 + (${#how} > 0))) ]
			[[ $(arcprof report -i trace --xprof | head -n 1) == *" $((4 + (${#how} > 0))) open at the end"* ]]
		done
	done
	calls --calltrace -- ./open
	within "$(arcprof report -i trace --replay --xprof --metric cpu --format json |
		jq '.rows[] | select(.name == "burns()") | .base[0]')" "$output" 3
}

@test "callflow: snapshots add up to the totals without them" {
	ways
	calls --callflow --snapshot 5ms -- ./ways
	[ "$status" -eq 0 ]
	sort <<<"$output" >want
	counts | diff want -
}

@test "callflow: rules choose functions and threads" {
	ways
	calls --callflow='leaf()' -- ./ways 10
	counts >got
	[ "$(cat got)" = "$(grep ' leaf()' <<<"$output")" ]
	calls --callflow='-fib*,-leaf*' -- ./ways 10
	grep -vE ' (fib|leaf)\(' <<<"$output" | sort >want
	counts | diff want -
	printf '# ours\ninclude_method ways:l*\nexclude_method jumps*\ninclude_method *s(int)\n' >rules
	calls --callflow --config rules -- ./ways 10
	grep -E ' (leaf|lands|throws|sinks)\(' <<<"$output" | sort >want
	counts | diff want -
	echo 'exclude_thread ways' >rules
	calls --callflow --config rules -- ./ways 10
	[ "$(total_calls)" -eq 0 ]
}

@test "callflow: metrics that a native program lacks are reported, not shown as zero" {
	ways
	calls --callflow --metric alloc,objects,cpu -- ./ways 10
	arcprof report -i trace --xprof >out
	grep '^not recorded: alloc of [0-9]* threads*: only JVMs tell$' out
	grep '^not recorded: objects of [0-9]* threads*: only JVMs from JDK 11 on tell, when recorded from their start$' out
	[ "$(grep -c '^not recorded: cpu' out)" -eq 0 ]
	# the names are the same where they are recorded and where they are shown
	for metric in alloc objects cpu; do
		arcprof report -i trace --metric $metric --xprof | grep -q " ($metric); Total :: "
	done
}

@test "callflow: bad filters, configurations and metrics keep the program from starting" {
	printf 'include_method a\nnonsense b\n' >rules
	for bad in --callflow=+ --callflow=a,,b "--callflow=max(" "--callflow --metric nosuch" "--callflow --config nowhere" \
		"--callflow --config rules" "--config rules" "--metric cpu" "--callflow --call-depth 3" \
		"--callflow --call-memory 1k" "--callflow --call-prune 100" "--snapshot 1s"; do
		# shellcheck disable=SC2086
		run_arcprof record $bad -o trace -- touch started
		[ "$status" -eq 2 ] || [ "$status" -eq 125 ]
		[ "$(grep -c '' <<<"$stderr")" -eq 1 ]
	done
	[ ! -e started ]
	[ ! -e trace ]
	run_arcprof record --callflow --config rules -- true
	[[ $stderr == *"rules:2: invalid rule 'nonsense'"* ]]
	run_arcprof record --callflow -a
	[ "$status" -eq 2 ]
}

@test "callflow: rules that select no called function are reported" {
	ways
	calls --callflow=nosuch -- ./ways 10
	[[ $stderr == *" 0 calls in 0 contexts of "*"no selected function was called"* ]]
	arcprof report -i trace | head -n 1 | grep ', 0 calls, 0 lost'
	calls --callflow='sinks*' --metric calls -- ./ways 10
	n=$(awk '/ sinks\(/ { n += $1 } END { print n }' <<<"$output")
	[[ $stderr == *" $n calls in "*" contexts of "* && $stderr != *"no selected function"* ]]
	arcprof report -i trace | head -n 1 | grep "^$n calls in "
}

@test "callflow: a program without hooks is reported" {
	skip_unless_perf
	run_arcprof record --callflow -o trace -- true
	[ "$status" -eq 0 ]
	[[ $stderr == *"nothing was instrumented"* ]]
}

@test "callflow: a program with the library of another version is reported" {
	skip_unless_perf
	run_arcprof record --callflow -o trace -- python3 -c '
import os, socket, struct
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(os.environ["ARCPROF_CALLFLOW"])
s.send(struct.pack("<IIIIII", 0x4a435241, 999, 1, 4, os.getpid(), os.getpid()))
s.recv(1)'
	[ "$status" -eq 0 ]
	[[ $stderr == *"1 program was turned away: libarcprof-hookit of another version"* ]]
}

@test "record: agents and libraries of another version are reported" {
	skip_unless_perf
	cat >foreign.py <<-'END'
		import os, socket, struct
		for flags in 0, 1 << 12, 1 << 13:
		    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
		    s.connect(os.environ["ARCPROF_MARKS"])
		    s.send(struct.pack("<IIIIII", 0x4a435241, 999, 1, flags, os.getpid(), os.getpid()))
		    s.recv(1)
	END
	arcprof record -q -e mark -o trace -- python3 foreign.py
	run_arcprof report -i trace --log
	[[ $output == *"marks of 1 process: linked with libarcprof of another version"* ]]
	[[ $output == *"records of 2 processes: an agent or library of another version of arcprof"* ]]
}

@test "hookit: without a recorder a program runs unchanged" {
	[ -f "$HOOKIT" ] || make -s -C "$TOP" build/libarcprof-hookit.a >&2
	build ways "$TOP/t/data/callflow/ways.cc"
	./ways 10 >alone
	ARCPROF_CALLFLOW=/nowhere/s ./ways 10 | diff alone -
	g++ -O1 "$TOP/t/data/callflow/ways.cc" -o plain -pthread
	./plain 10 | diff alone -
	# Only its hooks are visible, and what libarcprof reports about labels.
	[ "$(nm -g --defined-only "$HOOKIT" | sed -n 's/.* [A-Z] //p' | sort | xargs)" = \
		"__cyg_profile_func_enter __cyg_profile_func_exit arcprof_hookit_label" ]
}

@test "report: --rt has the columns of log-rt" {
	ways
	calls --callflow --metric cpu,dispatches -- ./ways 10
	arcprof report -i trace --rt >rt
	grep -qE '^ LV +CALLS +CEE +BASE +DELTA +BASE +DELTA +DS +IN +NAME$' rt
	grep -qE '^ +0 +1 +1 .* [0-9a-f]{8}_ways$' rt
	grep -qE '^ +2 +10 +20 .* N:lands\(\)$' rt
	arcprof report -i trace --rt --format csv >csv
	[ "$(wc -l <csv)" -gt 20 ]
	arcprof report -i trace --rt --format json | jq -e '.rows[] | select(.name == "lands()") | .callees == 20'
}
