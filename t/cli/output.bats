#!/usr/bin/env bats
# bats file_tags=stored
load ../lib

MIXED=$TOP/t/data/mixed/trace
TEXT=$TOP/t/data/folded/stacks

teardown() {
	# who still waits for a reader of a FIFO has the output of this test open
	jobs -p | xargs -r kill 2>/dev/null || true
	[ -z "${DISK-}" ] || umount "$DISK"
	[ -z "${OPEN-}" ] || rm -rf "$OPEN"
}

# <command>: it fails, says why in one line and a hint, and leaves x.data as it was.
refuses() {
	run_arcprof "$@"
	echo "$* -> $status: $stderr"
	[ "$status" -ne 0 ]
	[ -z "$output" ]
	[ "$(grep -vc '^hint:\|: warning:' <<<"$stderr")" -eq 1 ]
	cmp x.data before
	[ -z "$(find . -name '*.??????')" ]
}

@test "output: nothing is written over what is read, by whatever name" {
	cp "$MIXED" x.data
	cp x.data before
	ln x.data hard
	ln -s x.data soft
	mkdir folder
	ln x.data folder/one
	printf '[total] base cpu-clock < 20s\n' >limits
	for name in x.data ./x.data "$PWD/x.data" hard soft folder/../x.data; do
		refuses report x.data -o "$name"
	done
	refuses report x.data -o x.data --format folded
	refuses report -i hard -o x.data --format json
	refuses report --blend x.data "$MIXED" -o x.data
	refuses view --no-browser x.data -o x.data
	refuses view --no-browser "$MIXED" --diff x.data -o x.data
	refuses diff x.data "$MIXED" -o x.data
	refuses diff "$MIXED" x.data -o x.data
	refuses budget --file limits x.data -o x.data
	refuses merge x.data "$MIXED" -o x.data
	refuses merge "$MIXED" x.data -o hard
	refuses merge folder -o x.data
	refuses export --table x.data x.data
	refuses export --table nodes.gz --names x.data x.data
	[ ! -e nodes.gz ]
	refuses export --table new --names x.data x.data
	[ ! -e new ]
	refuses report - -o x.data <x.data
	refuses report /dev/stdin -o x.data <x.data
	refuses report /dev/fd/7 -o x.data 7<x.data
	refuses report x.data -o /dev/fd/7 7<>x.data
	cp x.data x.old
	ln -f x.data y.data.old
	cp x.data y.data
	refuses merge y.data.old "$MIXED" -o y.data
	cmp y.data before
}

@test "output: nor over texts, profiles, heap dumps and lists of rules" {
	printf 'a;b 1\n' >before
	cp before x.data
	refuses report --stacks x.data -o x.data
	refuses report --import x.data -o x.data
	refuses query --import x.data --sql x.data 'SELECT 1'
	printf 'lock > 1ms\n' >before
	cp before x.data
	refuses report --config x.data "$MIXED" -o x.data
	printf 'JAVA PROFILE 1.0.2\0\0\0\0\10\0\0\0\0\0\0\0\0' >before
	cp before x.data
	refuses heap report x.data -o x.data
	refuses heap report x.data -o x.data --format html
	refuses heap diff x.data x.data -o x.data
}

@test "output: standard output that is the input is refused before anything is written" {
	cp "$MIXED" x.data
	cp x.data before
	for command in report dump 'export --table -' 'diff x.data'; do
		# shellcheck disable=SC2086
		! "$ARCPROF" $command x.data 2>said >>x.data || false
		cmp x.data before
	done
	! "$ARCPROF" report - <x.data 2>said 1<>x.data || false
	grep -q 'x.data\|standard input' said
	cmp x.data before
}

@test "output: a report does not take the place of a recording" {
	cp "$MIXED" x.data
	cp x.data before
	refuses report "$MIXED" -o x.data
	refuses view --no-browser "$MIXED" -o x.data
	arcprof merge -q "$MIXED" -o x.data
	cmp x.data.old before
}

@test "output: a page, a table and a merged trace are no more readable than what they are made of" {
	cp "$MIXED" x.data
	umask 022
	for mode in 600 640 644; do
		chmod "$mode" x.data
		rm -rf page.html new all
		arcprof view --no-browser x.data -o page.html >/dev/null
		arcprof export -q --table new x.data
		arcprof merge -q x.data -o all
		[ "$(stat -c %a page.html)" = "$mode" ]
		[ "$(stat -c %a new/nodes.tsv.gz)" = "$mode" ]
		[ "$(stat -c %a new/names.tsv.gz)" = "$mode" ]
		[ "$(stat -c %a all)" = 600 ]
	done
	chmod 600 page.html			# what the user has closed stays closed
	arcprof report x.data -o page.html
	[ "$(stat -c %a page.html)" = 600 ]
	chmod 644 page.html
	(umask 027 && arcprof report x.data -o page.html)
	[ "$(stat -c %a page.html)" = 640 ]
}

@test "output: a group that could not read a trace cannot read what is made of it" {
	skip_unless_root
	cp "$MIXED" x.data
	chgrp 12 x.data
	chmod 640 x.data
	arcprof report x.data -o page
	[ "$(stat -c %a page)" = 600 ]
}

@test "output: links of another user are not followed, our own are" {
	skip_unless_root
	OPEN=$(mktemp -d "${TMPDIR:-/tmp}/output-XXXXXX")
	chmod 755 "$OPEN"
	cd "$OPEN"
	mkdir theirs victims
	chown 65534:65534 theirs
	chmod 700 victims
	echo keep >victims/file
	as_nobody ln -s "$OPEN/victims/file" theirs/x
	as_nobody ln -s "$OPEN/victims/new" theirs/dangling
	as_nobody ln -s "$OPEN/victims" theirs/folder
	as_nobody mkfifo theirs/fifo
	for name in x dangling folder/new fifo; do
		for command in 'report -o' 'view --no-browser -o' 'merge -o' 'export --table' \
				'diff -o' 'heap report -o'; do
			# shellcheck disable=SC2086
			set -- $command "theirs/$name" "$MIXED"
			[[ $command != diff* ]] || set -- "$@" "$MIXED"
			run_arcprof "$@"
			echo "$* -> $status: $stderr"
			[ "$status" -ne 0 ]
		done
		run_arcprof agent install -o "theirs/$name"
		[ "$status" -ne 0 ]
	done
	run_arcprof export --table theirs/folder "$MIXED"
	[ "$status" -ne 0 ]
	run_arcprof export --table theirs/folder/deep "$MIXED"
	[ "$status" -ne 0 ]
	run_arcprof record -q --segment 1s -o theirs/folder/deep -- true
	[ "$status" -ne 0 ]
	[ "$(ls victims)" = file ]
	[ "$(cat victims/file)" = keep ]
	ln -s victims/file ours
	arcprof report "$MIXED" -o ours
	[ -L ours ]
	arcprof report "$MIXED" | cmp - victims/file
}

@test "output: a full disk is one line, and leaves no part of a file" {
	skip_unless_root
	mkdir disk
	mount -t tmpfs -o size=8k none disk 2>/dev/null || skip "no file system can be mounted here"
	DISK=$PWD/disk
	cp "$MIXED" x.data
	cp x.data before
	echo old >disk/old
	head -c 4096 /dev/zero >disk/full
	refuses report --format html -o disk/x x.data
	refuses view --no-browser -o disk/x x.data
	refuses merge -o disk/x x.data
	refuses export --table disk/new x.data
	refuses export --table disk/nodes.gz x.data
	refuses export --table nodes.gz --names disk/names.gz x.data
	[ ! -e nodes.gz ]
	refuses agent install -o disk
	refuses report --format html -o disk/old x.data
	[ "$(echo disk/*)" = 'disk/full disk/old' ]
	[ "$(cat disk/old)" = old ]
}

@test "output: a file at its size limit, and a device that takes nothing, are errors" {
	cp "$MIXED" x.data
	cp x.data before
	for command in 'report --format html -o page' 'merge -o page'; do
		status=0
		# shellcheck disable=SC2086
		(ulimit -f 1 && exec "$ARCPROF" $command x.data 2>said) || status=$?
		cat said
		[ "$status" -eq 1 ]
		[ "$(wc -l <said)" -eq 1 ]
		[ -z "$(find . -name 'page*')" ]
	done
	refuses report -o /dev/full x.data
	refuses export --table new --names /dev/full x.data
	[ ! -e new ]
	! "$ARCPROF" export --table - x.data >/dev/full 2>said || false
	[ "$(wc -l <said)" -eq 1 ]
	grep -q 'standard output' said
	! grep -q wrote said || false
}

@test "output: devices, pipes and open files are written to as they are" {
	arcprof report "$MIXED" >want
	arcprof report "$MIXED" -o /dev/null
	[ -c /dev/null ]
	arcprof report "$MIXED" -o /dev/stdout >got
	cmp got want
	arcprof report "$MIXED" -o - >got
	cmp got want
	arcprof report "$MIXED" -o /dev/fd/7 7>got
	cmp got want
	arcprof report "$MIXED" -o /dev/stdout | cmp - want
	arcprof merge -q "$MIXED" -o /dev/stdout | arcprof report - >/dev/null
	[ ! -e ./- ]
	run_arcprof report "$MIXED" -o /dev/stdin
	[ "$status" -ne 0 ]
	run_arcprof report "$MIXED" -o .
	[ "$status" -ne 0 ]
	[[ $stderr == *"is a folder, not a file"* ]]
}

# <command>: it ends at once, with one line and nothing that it has read in memory.
ends_at_once() {
	local status=0
	(ulimit -v 2000000 && timeout 60 "$ARCPROF" "$@" >got 2>said) || status=$?
	echo "$* -> $status: $(cat said)"
	[ "$status" -ne 0 ]
	[ "$status" -lt 124 ]
	[ "$(grep -vc '^hint:' said)" -eq 1 ]
}

@test "input: endless input is checked before it is read" {
	printf '[total] base cpu-clock < 20s\n' >limits
	mkfifo fifo
	for file in /dev/zero . fifo -; do
		for command in report 'view --no-browser' dump 'merge -o out' 'budget --file limits' 'budget --file' \
				'export --table new' 'report --import' 'report --stacks' 'report --events' \
				'report --tree' "diff $MIXED" 'heap report' 'fleet report' "report --blend"; do
			case "$command $file" in
			'merge'*' .' | 'export'*' -' | 'heap'* | 'fleet'* | 'diff'*' -' | 'report --blend -') continue ;;
			esac
			[ "$file" != fifo ] || { cat /dev/zero >fifo 2>/dev/null & }
			# shellcheck disable=SC2086
			ends_at_once $command "$file" < <(exec cat /dev/zero 2>/dev/null)
			# it is waiting still if the command has not opened the file
			[ "$file" != fifo ] || { kill $! 2>/dev/null || true; wait $! || true; }
		done
	done
	: >empty
	for command in report dump 'report --import' 'merge -o out' 'heap report'; do
		# shellcheck disable=SC2086
		ends_at_once $command empty
	done
	ends_at_once heap report /dev/zero
	ends_at_once heap report .
	ends_at_once report --stacks - < <(exec yes 'no number')
	ends_at_once report --events - < <(exec yes 'no event')
	ends_at_once report --import - < <(exec yes 'no profile')
	ends_at_once report - < <(exec yes 'no trace')
	[ ! -e out ]
	[ ! -e new ]
}

@test "input: a trace that comes through a pipe ends where it says, whatever follows" {
	arcprof report "$MIXED" >want
	ulimit -v 2000000
	arcprof report - 2>/dev/null < <(cat "$MIXED"; exec cat /dev/zero) >got || true
	cmp got want
	arcprof report - <"$MIXED" | cmp - want
	arcprof report <(cat "$MIXED") | cmp - want
}

@test "input: a FIFO without a writer is waited for, with a message" {
	mkfifo fifo
	"$ARCPROF" report fifo >got 2>said &
	for _ in {1..600}; do
		! grep -q 'waiting for a program that writes to fifo' said || break
		sleep 0.1
	done
	grep -q 'waiting for a program that writes to fifo' said
	cat "$MIXED" >fifo
	wait
	arcprof report "$MIXED" | cmp - got
}
