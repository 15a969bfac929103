#!/usr/bin/env bats
load ../lib

stanzas='["Process","Process_Module","Process_Module_Symbol","Process_Thread","Process_Thread_Module","Process_Thread_Module_Symbol","Module","Module_Symbol"]'

@test "tprof: eight stanzas, each the sum of its rows, with the shares of the program" {
	skip_unless_perf
	arcprof tprof --program-only -F 1999 --format json -- "$(workload shares)" 100 2>err | sed 1d >out.json
	[ "$(jq -c '[.stanzas[].name]' out.json)" = "$stanzas" ]
	jq -e '.total_ticks as $n | all(.stanzas[]; ([.tree[].ticks] | add) == $n)' out.json
	jq -e 'def whole: (.children | length) == 0 or (.ticks == ([.children[].ticks] | add) and all(.children[]; whole));
		all(.stanzas[].tree[]; whole)' out.json
	check_trace arcprof.data
	check_shares flat
	n=$(jq '[.stanzas[7].tree[] | .children[] | select(.name == "shared") | .ticks] | add' out.json)
	[ "$n" -eq "$(samples_in shared)" ]
}

@test "tprof: the text has the stanzas in order" {
	skip_unless_perf
	arcprof tprof --program-only -- "$(workload shares)" 10 2>err >out
	[ "$(grep -c '^   LAB    TKS   %%%     NAMES$' out)" -eq 8 ]
	grep -A 1 '^   =*$' out | sed -n 's/^    )) //p' | tail -n 8 | jq -R . | jq -cs . >order
	[ "$(cat order)" = "$stanzas" ]
}

# No more ticks than the CPUs had time; but fewer, because the clock of an idle CPU may not tick.
@test "tprof: system-wide it has the program, and no more ticks than there was time" {
	skip_unless_root
	skip_unless_perf
	arcprof tprof -F 999 --format json -- sh -c "$(workload shares) 20; sleep 0.5" 2>err | sed 1d >out.json
	jq -e 'any(.stanzas[0].tree[]; .name | startswith("shares_"))' out.json
	check_trace arcprof.data
	ticks=$(jq .total_ticks out.json)
	cpus=$(nproc)
	ns=$(jq '.source.duration_ns' .report--tprof)
	lost=$(jq '.source.lost' .report--tprof)
	[ $((ticks + lost)) -le $((ns / 1000000 * cpus * 115 / 100)) ]
	[ "$(jq '[.stanzas[0].tree[].ticks] | add' out.json)" -eq "$ticks" ]
}

@test "tprof: an option that the report refuses is a usage error, before anything is recorded" {
	for o in --clip=101 --stanza=XY; do
		run_arcprof tprof --program-only $o -- touch ran
		[ "$status" -eq 2 ]
		[[ $stderr == *"${o#*=}"* || $stderr == *"from 0 to 100"* ]]
		[ ! -e ran ]
	done
}

@test "tprof: its exit status is the report's, and 127 if the program cannot run" {
	skip_unless_perf
	run_arcprof tprof --program-only -- ./nowhere
	[ "$status" -eq 127 ]
	run_arcprof tprof --program-only -o nowhere/trace -- true
	[ "$status" -eq 125 ]
	run_arcprof tprof --program-only
	[ "$status" -eq 2 ]
}

@test "tprof: --program-only works for another user, and says what whole-system needs" {
	skip_unless_root
	skip_unless_perf
	(umask 0; mkdir -p nobody)
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/.." 2>/dev/null || true
	cp "$ARCPROF" "$(workload shares)" nobody/
	cd nobody
	as_nobody ./shares 1 || skip "another user cannot reach this folder"
	as_nobody ./arcprof tprof --program-only -- ./shares 20 2>err | grep -q 'sixteen'
	status=0
	as_nobody ./arcprof tprof -- ./shares 1 2>err >out || status=$?
	cat err
	[ "$status" -eq 125 ]
	grep -q -- '--program-only' err
}
