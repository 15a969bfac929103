#!/usr/bin/env bats
# bats file_tags=stored
# What "fleet push" does when a server is away, slow, wrong or lost in the middle: t/fleet/house answers as
# ClickHouse does, and as it should not.
load ../lib

# Starts it; its URL in $url.
house() {
	skip_unless_command curl
	skip_unless_command python3
	"$TOP/t/fleet/house" . 2>house.err 3>&- &
	echo $! >house.pid
	until [ -e url ]; do
		kill -0 "$(cat house.pid)"
		sleep 0.02
	done
	url=$(cat url)
}

teardown() {
	[ -e house.pid ] || return 0
	kill "$(cat house.pid)" 2>/dev/null || true
	wait "$(cat house.pid)" 2>/dev/null || true
	cat house.err
}

# profiles <nr>: as many small profiles, in traces/, of three rows each.
profiles() {
	local i
	mkdir traces
	for ((i = 1; i <= $1; i++)); do
		printf 'main;f 1%03d\nmain;g 7\n' "$i" >"traces/$i.folded"
	done
}

# What a database of the house has: "TRACE ROWS" for each, and "inserts N".
stored() {
	curl -sS "$url?database=$1"
}

# stored_are <nr> <database>: it has so many recordings, of three rows each.
stored_are() {
	stored "$2" | tee stored.txt
	[ "$(grep -cE '^[-0-9]+ 3$' stored.txt)" -eq "$1" ]
	[ "$(wc -l <stored.txt)" -eq $(($1 + 1)) ]
}

@test "fleet push: a server that is not there or has no tables ends it before anything is prepared" {
	house
	profiles 3
	export HOME=$PWD/home
	mkdir home
	unset XDG_DATA_HOME
	run_arcprof fleet push http://127.0.0.1:1/ traces/*
	[ "$status" -eq 1 ]
	[ "$(wc -l <<<"$stderr")" -eq 2 ]
	[[ $stderr == "arcprof fleet: 127.0.0.1:1: curl: (7) "*"hint: nothing was prepared; "* ]]
	run_arcprof fleet push --every 1h "$url?database=bare" traces
	[ "$status" -eq 1 ]
	[[ $stderr == *"does not have the tables nodes and names"*"hint: 'arcprof fleet create URL'"* ]]
	run_arcprof fleet push --otlp http://127.0.0.1:1/ traces/*
	[ "$status" -eq 1 ]
	[[ $stderr == *"hint: nothing was prepared; "* ]]
	[ -z "$(find home -type f)" ]
}

@test "fleet push: many recordings are one block of nodes, and each is there once" {
	house
	profiles 30
	arcprof fleet push "$url?database=plain" --spool spool traces/* 2>said
	grep -qx 'arcprof fleet: sent 30 recordings' said
	stored_are 30 plain
	grep -qx 'inserts 1' stored.txt
	# of those that are there nothing is sent again
	arcprof fleet push "$url?database=plain" --spool spool traces/1.folded traces/2.folded 2>said
	grep -q 'sent 0 recordings; others the server had' said
	stored plain | cmp stored.txt
	[ -z "$(ls spool)" ]
}

@test "fleet push: a block whose answer is lost is not sent again" {
	house
	profiles 5
	arcprof fleet push "$url?database=lost" --spool spool traces/* 2>said
	cat said
	grep -q 'trying again for 60s (--retry)' said
	stored_are 5 lost
	grep -qx 'inserts 1' stored.txt
	[ -z "$(ls spool)" ]
}

@test "fleet push: one recording that a server refuses keeps no other from being sent" {
	house
	profiles 3
	echo 'main;h 666' >traces/bad.folded
	run_arcprof fleet push "$url?database=poison" --spool spool traces/*
	[ "$status" -eq 1 ]
	[ "$(grep -c 'Code: 27' <<<"$stderr")" -eq 1 ]
	[[ $stderr == *"sent 3 recordings"*"1 recording stays in spool"* ]]
	stored_are 3 poison
	# nor does a file of the spool that is damaged
	printf 'no gzip' | dd of="$(find spool -name '*.tables.gz')" conv=notrunc status=none
	run_arcprof fleet push "$url?database=again" --spool spool traces/[1-3].folded
	[ "$status" -eq 1 ]
	[[ $stderr == *"damaged"*"sent 3 recordings"*"1 recording stays in spool"* ]]
	stored_are 3 again
}

@test "fleet push: a recording counts as sent only once the server has it" {
	house
	profiles 2
	run_arcprof fleet push "$url?database=liar" --spool spool traces/*
	[ "$status" -eq 1 ]
	[[ $stderr == *"the server took 6 rows, but has 0 of them"*"2 recordings stay in spool"* ]]
	[ "$(find spool -name '*.tables.gz' | wc -l)" -eq 2 ]
}

@test "fleet push: a spool has a limit, and what does not fit stays where it was" {
	house
	profiles 8
	run_arcprof fleet push http://127.0.0.1:1/ --spool spool --spool-size 1k --retry 0 traces/*
	[ "$status" -eq 1 ]
	[[ $stderr == *"stay in spool; "*"spool is full (--spool-size): "*" were not put into it"* ]]
	[ "$(du -cb spool/*.gz | tail -n 1 | cut -f 1)" -lt 2048 ]
	# with the server there the same spool passes all of them on
	arcprof fleet push "$url?database=small" --spool spool --spool-size 1k traces/*
	stored_are 8 small
	[ -z "$(find spool -name '*.gz')" ]
}

@test "fleet push: a disk without room for the spool is named, and what there is stays" {
	skip_unless_root
	skip_unless_command curl
	mkdir small
	mount -t tmpfs -o size=64k,mode=700 none small || skip "no tmpfs can be mounted"
	head -c 1M /dev/zero >small/fill || true
	run_arcprof fleet push http://127.0.0.1:1/ --retry 1s --spool small/spool "$TOP/t/data/mixed/trace"
	left=$(find small/spool -type f)
	umount small
	[ "$status" -eq 1 ]
	[[ $stderr == *"small/spool: No space left on device"* ]]
	[ -z "$left" ]
}
