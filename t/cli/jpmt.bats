#!/usr/bin/env bats
# Configuration files of JPMT, as the paper on it shows them.
load ../lib
load ../jdks

as_the_paper_says() {
	mkdir -p log
	cat >jpmt.conf <<-'END'
		Output log/mylogfile.bin
		Method_Invocation yes
		Bytecode_Rewriting yes
		garbage_collection YES
		Include_Method Happ?ns fail
		Include_Method Happens thr*
		Exclude_Method * *
	END
	arcprof record -q --config jpmt.conf -- java -cp "$CLASSES" Happens 7 >out
	arcprof report --gen --format json log/mylogfile.bin >gen
	[ "$(jq '[.events[] | select(.kind == "entry" and .name == "Happens.fail")] | length' gen)" -eq 700 ]
	[ "$(jq -r '[.events[] | select(.kind == "entry") | .name] | unique | join(" ")' gen)" = 'Happens.fail Happens.threads' ]
	[ "$(jq '[.events[] | select(.kind == "pause" and (.cause | test("System.gc")))] | length' gen)" -eq 7 ]
	[ "$(jq '[.events[] | select(.kind == "thread-start" and (.name | test("^happens-")))] | length' gen)" -eq 7 ]
	# the same rules choose when it is shown
	arcprof record -q --calltrace -o all -- java -cp "$CLASSES" Happens 7 >out
	[ "$(arcprof report --xprof --config jpmt.conf --format json all |
		jq -r '[.rows[] | select(.kind != "thread" and .kind != "process") | .name] | unique | join(" ")')" = 'Happens.fail Happens.threads' ]
}

@test "jpmt: the file of the paper records those calls, and writes where it says" { one_jdk newest as_the_paper_says; }

@test "jpmt: impossible requests are refused with the reason" {
	printf 'Output x\nMethod_Invocation yes\n' >jpmt.conf
	run_arcprof record --config jpmt.conf -- touch started
	[ "$status" -eq 2 ]
	[[ $stderr == *"Method_Invocation needs 'Bytecode_Rewriting yes'"* ]]
	[ ! -e started ]
}
