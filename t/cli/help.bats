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

@test "help: a copied binary alone shows each page, without markup or lines that are too long" {
	cp "$ARCPROF" alone
	mkdir pages
	for page in $(arcprof --dump commands) $(arcprof --dump pages); do
		env -i ./alone help "$page" >"pages/$page" </dev/null
		name=arcprof-$page
		[ "$page" != arcprof ] || name=arcprof
		head -n 1 "pages/$page" | grep -qE "^$name\([1357]\)$"
		! grep -E '(^|[ (])[*_][*_]?[A-Za-z][^ *_]*[*_][*_]?([] ;,.):]|$)|^ *\+$|include::|\{[a-z]+\}|<<[A-Z]' "pages/$page" || false
		! grep -E '^ {7}[^ ].{73}' "pages/$page" | grep -E '[^ ] ' || false
	done
	# what the tables say of options is there
	grep -q -- '-e | --event=<event>' pages/record
	grep -q '^   samples$' pages/query
	[ "$(ls pages | wc -l)" -ge 34 ]
}

@test "help: a page has a terminal's styles, and the options are short" {
	run_arcprof help version --color=always
	[ "$status" -eq 0 ]
	[[ $output == *$'\e[1mNAME\e[0m\n'* && $output == *$'\e[4m'* || $output == *$'\e[1m--format\e[0m'* ]]
	[ "$(arcprof help -s version)" = "$(arcprof version -h)" ]
	[ "$(arcprof help arcprof-version)" = "$(arcprof help version)" ]
}

@test "help: an unknown command is a usage error with the nearest name" {
	run_arcprof help verzion
	[ "$status" -eq 2 ]
	[[ $stderr == *"unknown command 'verzion'"* ]]
	[[ $stderr == *"hint: did you mean 'arcprof help version'?"* ]]
	run_arcprof help traec
	[[ $status -eq 2 && $stderr == *"did you mean 'arcprof help trace'?"* ]]
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
