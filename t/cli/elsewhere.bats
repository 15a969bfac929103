#!/usr/bin/env bats
# Debug information, and programs, that are not where they were: in a folder that is named, in perf's copies, at a server.
load ../lib

# A stripped program in ./shares, its debug information in ./shares.debug, and its build-id in $id.
stripped() {
	skip_unless_perf
	skip_unless_command readelf
	cp "$(workload shares)" full
	objcopy --only-keep-debug full shares.debug
	objcopy -S full shares
	id=$(readelf -n shares | sed -n 's/.*Build ID: //p')
	[ -n "$id" ]
	rm full
}

has_no_names() {
	[ "$(samples_in sixteen)" -eq 0 ]
}

@test "record: --symfs finds stripped debug information" {
	stripped
	mkdir -p "root/usr/lib/debug/.build-id/${id:0:2}"
	mv shares.debug "root/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
	record -F 999 --symfs root -- ./shares 60
	check_shares
	# not of another build
	objcopy --remove-section .note.gnu.build-id shares
	record -F 999 --symfs root -- ./shares 10
	has_no_names
	run_arcprof record --symfs "$PWD/none" -- true
	[ "$status" -eq 2 ]
	[ "$stderr" = "arcprof record: --symfs=$PWD/none: No such file or directory" ]
}

@test "record: stripped debug information is found in perf's copies" {
	stripped
	mkdir -p "home/.debug/.build-id/${id:0:2}/${id:2}"
	mv shares.debug "home/.debug/.build-id/${id:0:2}/${id:2}/debug"
	HOME=$PWD/home record -F 999 -- ./shares 60
	check_shares
}

# find_by <shell commands>: what debuginfod-find does, and notes that it was called.
find_by() {
	mkdir -p bin
	printf '#!/bin/sh\necho "$@" >>"%s/called"\n%s\n' "$PWD" "$1" >bin/debuginfod-find
	chmod +x bin/debuginfod-find
	PATH=$PWD/bin:$PATH
}

@test "record: debuginfod-find is asked for stripped debug information, only if DEBUGINFOD_URLS is set" {
	stripped
	find_by "test \"\$2\" != $id || echo $PWD/shares.debug"
	unset DEBUGINFOD_URLS
	record -F 999 -- ./shares 10
	has_no_names
	DEBUGINFOD_URLS=" " record -F 999 -- ./shares 10
	[ ! -e called ]
	DEBUGINFOD_URLS=http://127.0.0.1:9/ record -F 999 -- ./shares 60
	check_shares
	grep -qx "debuginfo $id" called
	[ "$(sort called | uniq -d)" = "" ]
	# what it gives has to be the right file
	objcopy --remove-section .note.gnu.build-id shares.debug
	DEBUGINFOD_URLS=http://127.0.0.1:9/ record -F 999 -- ./shares 10
	has_no_names
}

@test "record: a server that does not answer is waited for once, and not for long" {
	stripped
	find_by "exec sleep 60"
	began=$SECONDS
	DEBUGINFOD_TIMEOUT=1 DEBUGINFOD_URLS=http://127.0.0.1:9/ record -F 999 -- ./shares 10
	[ $((SECONDS - began)) -lt 30 ]
	has_no_names
	[ "$(wc -l <called)" -eq 1 ]
	# nor longer than whoever ends it wants
	find_by "kill -INT \$PPID; exec sleep 60"
	began=$SECONDS
	DEBUGINFOD_URLS=http://127.0.0.1:9/ record -F 999 -- ./shares 10
	[ $((SECONDS - began)) -lt 25 ]
}

@test "record: stripped debug information comes from a debuginfod server" {
	stripped
	skip_unless_command debuginfod
	skip_unless_command debuginfod-find
	mkdir files
	mv shares.debug files
	port=$((20000 + RANDOM % 10000))
	debuginfod -d "$PWD/db" -p $port -F files >server 2>&1 3>&- &
	echo $! >server.pid
	export DEBUGINFOD_URLS=http://127.0.0.1:$port/ DEBUGINFOD_CACHE_PATH=$PWD/cache DEBUGINFOD_RETRY_LIMIT=0
	for _ in {1..100}; do
		debuginfod-find debuginfo "$id" >/dev/null 2>&1 && break
		rm -rf cache
		sleep 0.1
	done
	rm -rf cache
	record -F 999 -- ./shares 60
	check_shares
	[ -e "cache/$id/debuginfo" ]
}

teardown() {
	[ ! -e "$BATS_TEST_TMPDIR/server.pid" ] || kill "$(cat "$BATS_TEST_TMPDIR/server.pid")" || true
}

@test "import: --symfs has programs of another machine" {
	skip_unless_command perf
	stripped
	cp "$(workload shares)" full
	mkdir -p "root$PWD"
	cp full "root$PWD/program"
	cp full program
	HOME=$PWD/home timeout 60 perf record -q -e cpu-clock:u -F 999 -o p.data ./program 20 2>err >/dev/null || skip "perf record: $(head -n 1 err)"
	rm program full
	run_arcprof report --import p.data --xprof
	[[ $output != *sixteen* ]]
	run_arcprof report --import p.data --symfs root --xprof
	[[ $output == *sixteen* ]]
}
