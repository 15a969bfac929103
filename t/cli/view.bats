#!/usr/bin/env bats
# The command view, and where --output writes; page.bats has the page itself.
# bats file_tags=stored
load ../lib

minimal=t/data/minimal/trace

@test "view: without a browser it prints where the page is, in a folder of the user's own" {
	export TMPDIR=$PWD XDG_RUNTIME_DIR=
	run_arcprof view --no-browser -i "$TOP/$minimal"
	[ "$status" -eq 0 ]
	[[ $output == "$PWD"/arcprof-view-*/trace.html ]]
	grep -q '<script id="data"' "$output"
	[ "$(stat -c %a "${output%/*}")" = 700 ]
}

@test "view: the page of sudo belongs to the user who typed that" {
	skip_unless_root
	export TMPDIR=$PWD XDG_RUNTIME_DIR= SUDO_UID=12345 SUDO_GID=54321
	run_arcprof view --no-browser -i "$TOP/$minimal"
	[ "$status" -eq 0 ]
	[ "$(stat -c '%u %g %a' "${output%/*}")" = "12345 54321 700" ]
	[ "$(stat -c '%u %g' "$output")" = "12345 54321" ]
	run_arcprof view --no-browser -o page.html "$TOP/$minimal"
	[ "$(stat -c '%u %g' page.html)" = "12345 54321" ]
}

@test "view: --output keeps the page there" {
	run_arcprof view --no-browser -o page.html "$TOP/$minimal"
	[ "$status" -eq 0 ]
	[ "$output" = "$PWD/page.html" ]
	arcprof report --format html "$TOP/$minimal" | cmp - page.html
}

@test "view: a trace that cannot be read leaves nothing behind, and shows no older page" {
	export TMPDIR=$PWD XDG_RUNTIME_DIR=
	run_arcprof view --no-browser -i missing
	[ "$status" -eq 1 ]
	[ -z "$output" ]
	[[ $stderr == *"missing: No such file or directory"* ]]
	[ -z "$(find . -name 'arcprof-view-*')" ]
	echo older >page.html
	run_arcprof view --no-browser -o page.html -i missing
	[ "$status" -eq 1 ]
	[ -z "$output" ]
	[ "$(cat page.html)" = older ]
}

@test "report: --output replaces a file when the report is complete, and only then" {
	echo older >out
	run_arcprof report -o out missing
	[ "$status" -eq 1 ]
	[ "$(cat out)" = older ]
	run_arcprof report -o out "$TOP/$minimal"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	arcprof report "$TOP/$minimal" | cmp - out
	[ -z "$(find . -name 'out.*')" ]
}

@test "report: --output writes to a pipe and a device, and does not replace them" {
	mkfifo pipe
	cat pipe >got &
	run_arcprof report -o pipe "$TOP/$minimal"
	[ "$status" -eq 0 ]
	wait
	[ -p pipe ]
	arcprof report "$TOP/$minimal" | cmp - got
	ln -s /dev/full full
	run_arcprof report -o full "$TOP/$minimal"
	[ "$status" -ne 0 ]
	[ -L full ]
	[[ $stderr == *"full: No space left on device"* ]]
}
