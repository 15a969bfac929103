#!/usr/bin/env bats
# bats file_tags=stored
load ../lib

@test "exit status: no command at all is a usage error with the help on stderr" {
	run_arcprof
	[ "$status" -eq 2 ]
	[ -z "$output" ]
	[[ $stderr == "usage: arcprof "* ]]
}

@test "exit status: an unknown command is a usage error with the nearest name" {
	run_arcprof doctro
	[ "$status" -eq 2 ]
	[ "$stderr" = "arcprof: 'doctro' is not a command
hint: did you mean 'arcprof doctor'?" ]
}

@test "exit status: commands that other profilers have lead to those that do it here" {
	run_arcprof stat ls
	[ "$status" -eq 2 ]
	[[ $stderr == *"hint: 'arcprof cpi' counts events of a program, 'arcprof mpevt' those of all CPUs" ]]
	run_arcprof report --json
	[[ $stderr == *"hint: did you mean '--format=json'?" ]]
	run_arcprof record --frequency 99 -- true
	[[ $stderr == *"hint: did you mean '--freq'?" ]]
	run_arcprof record -f 99 -- true
	[[ $stderr == *"hint: did you mean '-F'?" ]]
	run_arcprof report -f json
	[[ $stderr == *"hint: did you mean '--format=json'?" ]]
}

@test "exit status: a full disk is an error that names the cause" {
	for args in version "version --format=json" help "doctor -h" --version; do
		status=0
		# shellcheck disable=SC2086
		"$ARCPROF" $args 2>err >/dev/full || status=$?
		[ "$status" -eq 1 ]
		grep -q "cannot write to standard output: No space left on device" err
	done
}

@test "exit status: a reader that closes the pipe is not an error" {
	set -o pipefail
	arcprof doctor | true
	arcprof help | head -n 1
	[ "${PIPESTATUS[0]}" -eq 0 ]
}

@test "exit status: closed standard streams are survived" {
	arcprof version >&-
	arcprof version <&-
	arcprof version 2>&-
}

@test "exit status: a recorded program's own status is passed on" {
	skip_unless_perf
	run_arcprof record -q -- sh -c 'exit 7'
	[ "$status" -eq 7 ]
	run_arcprof record -q -- true
	[ "$status" -eq 0 ]
}

@test "exit status: a recorded program that a signal killed gives 128 + its number" {
	skip_unless_perf
	run_arcprof record -q -- sh -c 'kill -TERM $$'
	[ "$status" -eq 143 ]
}

@test "exit status: a program that does not exist is 127, one that cannot be run 126" {
	skip_unless_perf
	run_arcprof record -q -- ./no-such-program
	[ "$status" -eq 127 ]
	[[ $stderr == *"no-such-program"* ]]
	echo text >text
	run_arcprof record -q -- ./text
	[ "$status" -eq 126 ]
}

@test "exit status: arcprof's own failure is 125, and the program is not run" {
	skip_unless_perf
	run_arcprof record -q -o no/such/folder/x -- touch ran
	[ "$status" -eq 125 ]
	[[ $stderr == *"no/such/folder/x"* ]]
	[ ! -e ran ]
}

@test "exit status: contradicting options are a usage error, and the program is not run" {
	run_arcprof record -F 99 -c 1000 -- touch ran
	[ "$status" -eq 2 ]
	[[ $stderr == *"--freq"*"--count"* ]]
	[ ! -e ran ]
}

@test "exit status: reading a file that is not a trace fails with a message that names it" {
	echo "this is no trace" >data
	for c in report dump; do
		run_arcprof "$c" -i data
		[ "$status" -eq 1 ]
		[ -z "$output" ]
		[[ $stderr == "arcprof $c: "*data* ]]
		run_arcprof "$c" -i no-such-file
		[ "$status" -eq 1 ]
		[[ $stderr == *"no-such-file: No such file or directory"* ]]
	done
}

@test "exit status: a recording whose own stderr is closed still writes its trace" {
	skip_unless_perf
	arcprof record -o x -- true 2>&-
	[ -s x ]
}

@test "pager: output that is not for a terminal never starts one" {
	ARCPROF_PAGER='echo paged; cat' run_arcprof doctor
	[[ $output != *paged* ]]
}

@test "pager: on a terminal ARCPROF_PAGER wins over PAGER and gets the output" {
	skip_unless_terminal
	export PAGER='sed s/^/pager:/' ARCPROF_PAGER='sed s/^/mine:/'
	on_terminal "$ARCPROF" doctor >text
	grep -q '^mine:' text
	unset ARCPROF_PAGER
	on_terminal "$ARCPROF" doctor >text
	grep -q '^pager:' text
	on_terminal "$ARCPROF" doctor --no-pager >text
	! grep -q '^pager:' text || false
}

@test "pager: one that cannot be started leaves the output as it is" {
	skip_unless_terminal
	ARCPROF_PAGER=/nonexistent/pager on_terminal "$ARCPROF" doctor >text
	grep -q kernel text
}

@test "colours: only on a terminal, and neither with NO_COLOR nor with --color=never" {
	skip_unless_terminal
	esc=$(printf '\033')
	export ARCPROF_PAGER=cat
	arcprof doctor >plain
	! grep -q "$esc" plain || false
	arcprof doctor --color=always >colour
	grep -q "$esc" colour
	on_terminal "$ARCPROF" doctor >colour
	grep -q "$esc" colour
	NO_COLOR=1 on_terminal "$ARCPROF" doctor >plain
	! grep -q "$esc" plain || false
	on_terminal "$ARCPROF" doctor --color=never >plain
	! grep -q "$esc" plain || false
}
