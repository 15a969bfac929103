#!/usr/bin/env bats
load ../lib
load ../jdks

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

# Each micro stanza of the report in out.json adds up to its symbol, which has the same ticks in the tree.
check_micro() {
	jq -e '.micro | length > 0' out.json
	jq -e 'all(.micro[]; .ticks == ([.offsets[].ticks] | add))' out.json
	jq -e '[.stanzas[] | select(.name == "Module_Symbol") | .tree[] | .name as $m | .children[] | [$m, .name, .ticks]] as $rows
		| all(.micro[]; [.module, .name, .ticks] as $s | any($rows[]; . == $s))' out.json
	jq -e '.total_ticks as $n | [.stanzas[] | select(.name == "Module_Symbol") | .tree[].children[].ticks | select(. * 100 >= $n)]
		| sort == ($micro | sort)' --argjson micro "$(jq '[.micro[].ticks]' out.json)" out.json
}

@test "tprof: micro stanzas of a C program add up, and have its instructions" {
	skip_unless_perf
	arcprof tprof --program-only -F 1999 -- "$(workload lines)" 400 >out 2>err
	arcprof report --tprof --micro --format json >out.json
	check_micro
	check_trace arcprof.data
	hot=$(samples_in hot)
	[ "$(jq '[.micro[] | select(.name == "hot") | .offsets[] | select(.offset != null) | .ticks] | add' out.json)" -eq "$hot" ]
	jq -e 'all(.micro[] | select(.name == "hot") | .offsets[]; .file | endswith("lines.c"))' out.json
	if command -v objdump; then
		jq -e '[.micro[] | select(.name == "hot") | .offsets[] | select(.text | not)] == []' out.json
		arcprof report --tprof --micro=1 >out
		grep -qE '^ +[0-9]+ +[0-9.]+ +\+0x[0-9a-f]+ +[0-9]+  (i?mul|add|madd|sub|lea|cmp|jn?e|b\.ne)' out
	fi
	arcprof report --tprof --micro=2 >out
	[ "$(sed -n '/)) Micro/,$p' out | grep -c '^   SYM ')" -eq 2 ]
	[[ $(sed -n '/)) Micro/,$p' out | grep '^   SYM ') == *"hot in "* ]]
}

@test "tprof: micro stanzas say why a program's code is not disassembled" {
	skip_unless_perf
	cp "$(workload lines)" program
	arcprof tprof --program-only -F 1999 -- ./program 20 >out 2>err
	rm program
	arcprof report --tprof --micro=1 >out
	grep -q '^code of hot: .*not disassembled: the file: No such file' out
	grep -qE '^ +[0-9]+ +[0-9.]+ +\+0x' out
}

java_micro() {
	arcprof tprof --program-only -F 999 -- java -cp "$CLASSES" Lines 100 >out 2>err
	arcprof report --tprof --micro --format json >out.json
	check_micro
	jq -e '[.micro[] | select(.name == "Lines.hot") | .offsets[] | select(.line == 12 or .line == 13) | .ticks] | add > 20' out.json
	jq -e 'any(.micro[]; .name == "Lines.hot" and .module == "JITCODE")' out.json
	if command -v objdump; then
		jq -e '[.micro[] | select(.name == "Lines.hot") | .offsets[] | select(.bytes) | .ticks] | add > 20' out.json
	fi
}

@test "tprof: micro stanzas of a Java program add up when the JVM is gone" {
	skip_unless_perf
	one_jdk newest java_micro
}

@test "tprof: --micro is refused where the trace cannot be read the same way again" {
	i=$TOP/t/data/mixed/trace
	for o in --symbol=fib --module=libc.so.6 --fold=class --prune=1 --by-kind --format=csv --format=pprof; do
		run_arcprof report -i "$i" --tprof --micro "$o"
		[ "$status" -eq 2 ]
		[[ $stderr == *--micro* ]]
	done
	for n in 0 x; do
		run_arcprof report -i "$i" --tprof --micro=$n
		[ "$status" -eq 2 ]
		[[ $stderr == *"'$n'"* ]]
	done
	run_arcprof report --tree "$TOP/t/data/sources/tree" --tprof --micro
	[ "$status" -eq 1 ]
	run_arcprof report --import "$TOP/t/data/import/flamegraph.folded" --tprof --micro
	[ "$status" -eq 1 ]
	[[ $stderr == *"--micro needs samples with addresses"* ]]
}

@test "tprof: micro stanzas follow the selection of processes, threads, CPUs and times" {
	for o in --comm=java --thread=main --cpu=0 --from=100ms --to=400ms --hide-kernel --signatures --lines \
		--addresses --merge-threads; do
		# without objdump, whose text is looked at above
		PATH='' run_arcprof report -i "$TOP/t/data/java/trace" --tprof --micro "$o" --format json
		echo "$o"
		[ "$status" -eq 0 ]
		echo "$output" >out.json
		check_micro
	done
}
