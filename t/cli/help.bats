#!/usr/bin/env bats
# bats file_tags=stored
load ../lib

@test "help: without arguments it lists every command" {
	run_arcprof help
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	for c in $(arcprof --dump commands); do
		grep -q "^    $c " <<<"$output"
	done
}

@test "help: --help and -h of arcprof itself print the same" {
	arcprof help >a
	arcprof --help >b
	arcprof -h >c
	cmp a b
	cmp a c
}

@test "help: -h of every command prints usage to stdout and succeeds" {
	for c in $(arcprof --dump commands); do
		run_arcprof "$c" -h
		[ "$status" -eq 0 ]
		[ -z "$stderr" ]
		[[ $output == "usage: arcprof $c "* ]]
		[[ $output == *"--help"* ]]
	done
}

@test "help: --help wins over a mistake that follows it" {
	run_arcprof version --help --wrong
	[ "$status" -eq 0 ]
	[[ $output == "usage: "* ]]
}

@test "help: no line is wider than 100 columns, and none ends in a space" {
	for c in $(arcprof --dump commands); do
		arcprof "$c" -h >text
		! grep -E '.{101}' text || false
		! grep -E ' $' text || false
	done
	arcprof help >text
	! grep -E '.{101}' text || false
}

@test "help: a command without manual page is explained by its options" {
	run env PATH=/nonexistent "$ARCPROF" help version
	[ "$status" -eq 0 ]
	[[ $output == "usage: arcprof version "* ]]
	[[ $output == *"arcprof-version(1)"* ]]
}

@test "help: with the manual installed it shows the page" {
	skip_unless_command man
	mkdir -p man/man1
	printf '.TH ARCPROF-VERSION 1\n.SH NAME\narcprof-version \\- the page itself\n' >man/man1/arcprof-version.1
	MANPATH=$PWD/man run_arcprof help version
	[ "$status" -eq 0 ]
	[[ $output == *"the page itself"* ]]
}

@test "help: an unknown command is a usage error with the nearest name" {
	run_arcprof help verzion
	[ "$status" -eq 2 ]
	[[ $stderr == *"unknown command 'verzion'"* ]]
	[[ $stderr == *"hint: did you mean 'arcprof help version'?"* ]]
}

@test "version: --version is one line, and 'version' starts with the same" {
	run_arcprof --version
	[ "$status" -eq 0 ]
	[[ $output =~ ^arcprof\ [0-9]+\.[0-9]+\.[0-9]+ ]]
	[ "$(arcprof version | head -n 1)" = "$output" ]
}

@test "version: JSON has the version, the compiler and the libraries" {
	run_arcprof version --format json
	[ "arcprof $(json .version)" = "$(arcprof --version)" ]
	[ "$(json '.libraries | keys | length')" -ge 3 ]
	[[ $(json .build.compiler) == *[0-9]* ]]
}
