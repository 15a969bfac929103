#!/usr/bin/env bats
# bats file_tags=stored
load ../lib
load ../fleet/clickhouse

DATA=$TOP/t/data
JAVA=$DATA/java/trace
MIXED=$DATA/mixed/trace
CALLS=$DATA/calls/trace
BRANCHES=$DATA/branches/trace

teardown() {
	stop_servers
	stop_evil
}

# One server with the tables; its URL in $url.
one_server() {
	local tcp
	skip_unless_clickhouse
	read -r -a tcp < <(free_ports 2)
	configure_server 1 "${tcp[@]}"
	start_server 1
	url=$(cat server1/url)
	arcprof fleet create -q "$url"
}

tree() {
	arcprof report "$1" --format tree "${@:2}"
}

@test "fleet report: a folder of traces is shown as merge adds them up" {
	mkdir traces
	cp "$JAVA" traces/a.data
	cp "$MIXED" traces/b.data
	echo "no trace" >traces/notes.txt
	arcprof merge -q "$JAVA" "$MIXED" -o all.data
	arcprof fleet report traces/ -- --xarc --format json >got
	arcprof report all.data --xarc --format json | diff - got
	arcprof fleet fetch -q traces -o got.data
	tree all.data | diff - <(tree got.data)
	# one of them began in 2023, the other later
	arcprof fleet report traces --until 2024-01-01 -- --xprof --format json | jq '.quality.n' >n
	[ "$(cat n)" = "$(arcprof report "$MIXED" --format json | jq '.quality.n')" ]
	run_arcprof fleet report traces --since 2999-01-01
	[ "$status" -eq 1 ]
	[[ $stderr == *"no traces of that time"* ]]
	# a condition on columns, as for a server
	arcprof fleet fetch -q traces --where "process = 'java' AND t < 1750000000" -o part.data
	arcprof merge -q "$MIXED" -o mixed.data
	tree mixed.data --comm java | diff - <(tree part.data)
	run_arcprof fleet report traces --where "service LIKE 'shop%'"
	[ "$status" -eq 1 ]
	[[ $stderr == *"in none of the 2 recordings"* ]]
	run_arcprof fleet report traces --where "depth > 3"
	[ "$status" -eq 1 ]
	[[ $stderr == *"no such column: depth"*"t, trace, service"* ]]
	for condition in "1) OR (1" "1; SELECT 1" "?1 = 1 --" "load_extension('x')" 'process = "java"' "abs(-9223372036854775807 - 1) = 1" "?99"; do
		run_arcprof fleet report traces --where "$condition" -- --xprof
		[[ $stderr == *"--where: "* ]] || [ "$condition" = "1) OR (1" ] || [ "$condition" = "?1 = 1 --" ]
	done
}

@test "fleet diff, view: two parts of a folder side by side" {
	local a="t < 1750000000" b="t > 1750000000" page
	mkdir traces tmp
	export TMPDIR=$PWD/tmp
	cp "$JAVA" traces/a.data
	cp "$MIXED" traces/b.data
	arcprof merge -q "$MIXED" -o old.data
	arcprof merge -q "$JAVA" -o new.data
	arcprof diff old.data new.data --format json | jq 'del(.a, .b)' >want
	arcprof fleet diff traces --where "$b" --against "$a" -- --format json | tee got.json | jq 'del(.a, .b)' | diff want -
	grep -q "/against $a\"" got.json
	arcprof view new.data -o want.html --no-browser
	arcprof fleet view traces --where "$b" -- -o got.html --no-browser
	arcprof view old.data --diff new.data -o want2.html --no-browser
	arcprof fleet view traces --where "$b" --against "$a" -- -o got2.html --no-browser
	for page in "" 2; do
		# but for its title, the name of the file
		[ "$(wc -c <"got$page.html")" -gt 100000 ]
	done
	[ -z "$(ls tmp)" ]
}

@test "fleet budget: limits over a folder, and growth beyond other rows and an earlier time" {
	mkdir traces
	cp "$JAVA" traces/a.data
	cp "$MIXED" traces/b.data
	echo '[total] base cpu < 1us' >limits
	run_arcprof fleet budget traces -- -f limits --format json
	[ "$status" -eq 1 ]
	[ "$(jq -r '.trace + " " + .verdicts[0].state' <<<"$output")" = "traces violated" ]
	# b has 100 ms of 2023, a has 70 ms, of 1104 days later
	echo '[total] base cpu grows <= 5%' >limits
	for rows in "--where t>1750000000 --against t<1750000000" "--since 2026-11-22 --until 2026-11-23 --earlier 1104d"; do
		run_arcprof fleet budget traces $rows -- -f limits --all
		[ "$status" -eq 0 ]
		[[ $output == "limits:1: kept: [total] base cpu grows by -29.86 % "* ]]
	done
	run_arcprof fleet budget traces --where "t < 1750000000" --against "t > 1750000000" -- -f limits --strict
	[ "$status" -eq 1 ]
	[[ $output == "limits:1: not decided: [total] base cpu grows by 42.57 % "* ]]
	run_arcprof fleet budget traces --earlier 7d -- -f limits
	[ "$status" -eq 2 ]
	[[ $stderr == *"--since is missing"* ]]
	run_arcprof fleet budget traces -- -f limits
	[ "$status" -eq 2 ]
	[[ $stderr == *"--baseline must say against what"* ]]
}

@test "fleet: errors are reported" {
	run_arcprof fleet
	[ "$status" -eq 2 ]
	[[ $stderr == *"push, report, diff, view, budget, fetch or prune"* ]]
	run_arcprof fleet pull http://localhost/
	[ "$status" -eq 2 ]
	[[ $stderr == *"'pull'"* ]]
	run_arcprof fleet push "$MIXED"
	[ "$status" -eq 2 ]
	[[ $stderr == *"URL of a server"* ]]
	run_arcprof fleet fetch http://localhost/
	[ "$status" -eq 2 ]
	[[ $stderr == *--output* ]]
	run_arcprof fleet report . --metric cpu
	[ "$status" -eq 2 ]
	[[ $stderr == *"--metric is for a server"* ]]
	run_arcprof fleet report . --xprof
	[ "$status" -eq 2 ]
	[[ $stderr == *"of a folder: -- --xprof"* ]]
	run_arcprof fleet report . --columns n
	[ "$status" -eq 2 ]
	[[ $stderr == *"--columns, --sort and --format of a report come behind --"* ]]
	run_arcprof fleet report http://localhost/ --xprof --function x
	[ "$status" -eq 2 ]
	[[ $stderr == *"cannot be combined"* ]]
	run_arcprof fleet report http://localhost/ --xprof -- --limit 3
	[ "$status" -eq 2 ]
	[[ $stderr == *"no report options behind --"* ]]
	run_arcprof fleet report . --table days
	[ "$status" -eq 2 ]
	[[ $stderr == *"--table is for a server"* ]]
	run_arcprof fleet report . --label =x
	[ "$status" -eq 1 ]
	[[ $stderr == *"--label: "* ]]
	run_arcprof fleet diff .
	[ "$status" -eq 2 ]
	[[ $stderr == *"--against or --earlier must say"* ]]
	run_arcprof fleet prune http://localhost/
	[ "$status" -eq 2 ]
	[[ $stderr == *--keep-nodes* ]]
	run_arcprof fleet prune http://localhost/ --keep-nodes 30d --keep-hours 7d
	[ "$status" -eq 2 ]
	[[ $stderr == *"at least as long"* ]]
	run_arcprof fleet report . --since yesterday
	[ "$status" -eq 1 ]
	[[ $stderr == *"'yesterday' is neither a date"* ]]
	run_arcprof fleet report . -- --no-such-option
	[ "$status" -ne 0 ]
}

@test "fleet push: a spool that others may write to is refused" {
	mkdir -m 777 open
	run_arcprof fleet push http://localhost:1 --spool open --retry 0
	[ "$status" -eq 1 ]
	[[ $stderr == "arcprof fleet: open: another user may write there"* ]]
	[ -z "$(ls open)" ]
}

# evil MODE: a server whose answers have no end, or are of no use; its URL in $url.
evil() {
	rm -f port
	cat >evil.py <<-'END'
		import os, socket, sys, threading, time
		mode, s = sys.argv[1], socket.create_server(("127.0.0.1", 0))
		def serve(c):
		    try:
		        request, head = b"", b"HTTP/1.1 200 OK\r\n"
		        while not b"\r\n\r\n" in request or request.endswith(b"\r\n\r\n"): request += c.recv(65536)
		        if mode == "rows" and b"LIMIT 1" in request:
		            c.sendall(head + b"\r\ncpu-clock\tns\tsamples\n")
		        elif mode in ("endless", "rows"):
		            c.sendall(head + b"\r\n")
		            while True: c.sendall(b"a\tb\tc\n" * 10000)
		        elif mode == "headers":
		            c.sendall(head)
		            while True: c.sendall(b"X-A: " + b"b" * 5000 + b"\r\n")
		        elif mode == "slow":
		            c.sendall(head + b"\r\n")
		            for i in range(600): c.sendall(b"1"); time.sleep(0.1)
		        elif mode == "silent":
		            time.sleep(60)
		        elif mode == "redirect":
		            c.sendall(b"HTTP/1.1 302 F\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n")
		        elif mode == "later":
		            c.sendall(b"HTTP/1.1 503 X\r\nRetry-After: 99999999999999999999\r\nContent-Length: 0\r\n\r\n")
		        elif mode == "escape":
		            c.sendall(b"HTTP/1.1 500 X\r\n\r\n\x1b]0;pwned\x07\x1b[31mEVIL")
		        c.close()
		    except OSError: pass
		open("port.new", "w").write(str(s.getsockname()[1]))
		os.rename("port.new", "port")
		while True: threading.Thread(target=serve, args=(s.accept()[0],), daemon=True).start()
	END
	python3 evil.py "$1" 3>&- 2>evil.err &
	echo $! >evil.pid
	until [ -e port ]; do
		kill -0 "$(cat evil.pid)"
		sleep 0.1
	done
	url=http://127.0.0.1:$(cat port)/
}

stop_evil() {
	[ -e evil.pid ] || return 0
	kill "$(cat evil.pid)" 2>/dev/null || true
	wait "$(cat evil.pid)" 2>/dev/null || true
	rm evil.pid
}

@test "fleet: a hostile server cannot hold us up, fill memory, or print to the terminal" {
	local -A said=([endless]="the answer is longer than 64 KiB" [headers]="the answer is longer than 64 KiB"
		[slow]="curl: (28) Operation" [silent]="curl: (28) Operation" [redirect]="status 302 without text" [escape]=EVIL [later]="status 503 without text")
	local mode
	skip_unless_command curl
	skip_unless_command python3
	for mode in endless headers slow silent redirect escape later; do
		evil "$mode"
		run_arcprof fleet report "$url" --timeout 1s
		stop_evil
		echo "$mode: $status $stderr"
		[ "$status" -eq 1 ]
		[ -z "$output" ]
		[[ $stderr == *"127.0.0.1:"*"${said[$mode]}"* ]]
		[ "$(grep -vc '^hint: ' <<<"$stderr")" -eq 1 ]
		[ -z "$(tr -d '[:print:]\n' <<<"$stderr")" ]
	done
	for mode in slow silent later; do
		evil "$mode"
		SECONDS=0
		run_arcprof fleet push "$url" --retry 1s --timeout 1s --spool spool "$MIXED"
		stop_evil
		echo "$mode: $status after $SECONDS s: $stderr"
		[ "$status" -eq 1 ]
		[[ $stderr == *"1 recording stays in spool; the next push sends it"* ]]
		[ "$SECONDS" -lt 30 ]
	done
	# what may be long has the bound that was asked for
	evil rows
	run_arcprof fleet report "$url" --max-answer 3M --timeout 5s
	echo "$stderr"
	[ "$status" -eq 1 ]
	[[ $stderr == *"the answer is longer than 3 MiB"*"hint: "*--max-answer* ]]
}

@test "fleet push: while no server answers, recordings stay in the spool" {
	command -v curl >/dev/null || skip "curl is not installed"
	run_arcprof fleet push http://127.0.0.1:1/ --spool spool --retry 0 "$MIXED" "$JAVA"
	[ "$status" -eq 1 ]
	[[ $stderr == *"2 recordings stay in spool"* ]]
	# the same ones are the same segments
	run_arcprof fleet push http://127.0.0.1:1/ --spool spool --retry 0 "$MIXED" "$JAVA"
	[ "$(find spool -name '*.tables.gz' | wc -l)" -eq 2 ]
	arcprof fleet push -q http://127.0.0.1:1/ --spool numbers --retry 0 --merge-numbers "$JAVA" 2>/dev/null || true
	zcat numbers/*.tables.gz | cut -f 7 | grep -q 'C\* CompilerThre'
	run_arcprof fleet report http://127.0.0.1:1/
	[ "$status" -eq 1 ]
	[[ $stderr == *"127.0.0.1:1: curl: "* ]]
}

@test "fleet: what a server answers is, to the last digit, what merge adds up" {
	one_server
	arcprof fleet push -q "$url" --spool spool "$JAVA" "$MIXED" "$CALLS"
	arcprof fleet push "$url" --spool spool "$JAVA" "$MIXED" "$CALLS" 2>said
	grep -q 'sent 0 recordings; others the server had' said
	[ -z "$(ls spool)" ]
	arcprof merge -q "$JAVA" "$MIXED" "$CALLS" -o all.data
	for metric in cpu-clock cpu; do
		tree all.data --metric "$metric" >want
		arcprof fleet fetch -q "$url" --metric "$metric" -o got.data
		tree got.data --metric "$metric" >got
		"$TOP/t/fleet/compare" trees want got
		arcprof report got.data --check >/dev/null
	done
	# what the server makes itself is what the fetched tree has
	arcprof fleet fetch -q "$url" -o got.data
	arcprof report got.data --xprof --format json >xprof.json
	arcprof fleet report "$url" --xprof --format json >asked
	follows_columns n,name n fleet report "$url" --xprof
	jq -r '.rows[] | [.name, .n, .base, .cum, .cum_recursive] | @tsv' asked >answer
	"$TOP/t/fleet/compare" xprof xprof.json answer
	[ "$(jq -c '[.metric, .n, .total]' asked)" = "$(jq -c '["cpu-clock", .quality.n, .metrics[0].total]' xprof.json)" ]
	arcprof report got.data --xarc --format json >xarc.json
	for function in Seed.fib exc_page_fault "Compile::Optimize()"; do
		arcprof fleet report "$url" --metric cpu-clock --function "$function" --format json |
			jq -r '.rows[] | [.what, .name, .n, .base, .cum] | @tsv' >answer
		"$TOP/t/fleet/compare" stanza xarc.json "$function" answer
	done
	arcprof fleet report "$url" --function Seed.fib --where "host = 'vm'" --limit 3 | tee shown
	grep -q 'samples of Seed.fib, by cpu-clock in us; added up' shown && grep -q ' more row' shown
	run_arcprof fleet report "$url" --function "no'such"
	[ "$status" -eq 1 ]
	[[ $stderr == *"no function 'no'such'"* ]]
	# sums of hours and days have the same
	tree got.data >want
	for table in hours days; do
		[ "$(ask 1 "SELECT metric, sum(n), sum(base), sum(cum) FROM $table GROUP BY metric ORDER BY metric")" = \
			"$(ask 1 'SELECT metric, sum(n), sum(base), sum(cum) FROM nodes GROUP BY metric ORDER BY metric')" ]
		arcprof fleet fetch -q "$url" --table "$table" -o sums.data
		"$TOP/t/fleet/compare" trees want <(tree sums.data)
		arcprof fleet report "$url" --table "$table" --xprof --format json | jq .rows | diff - <(jq .rows asked)
	done
	# some of the rows
	arcprof fleet fetch -q "$url" --where "process = 'java' AND t < 1750000000" -o part.data
	tree part.data >got
	tree "$MIXED" --comm java >want
	"$TOP/t/fleet/compare" trees want got
	# a condition says the same of a server and of a folder
	mkdir traces
	cp "$JAVA" traces/java.data; cp "$MIXED" traces/mixed.data; cp "$CALLS" traces/calls.data
	for condition in "thread LIKE 'C%'" "NOT (thread = 'main' OR process <> 'java')" "pid = 4242 OR host = 'vm' AND thread = ''"; do
		arcprof fleet fetch -q traces --where "trace <> 0 AND ($condition)" -o got.data
		tree got.data --metric cpu-clock >got
		arcprof fleet fetch -q "$url" --where "trace <> 0 AND ($condition)" -o want.data
		tree want.data >want
		"$TOP/t/fleet/compare" trees want got
		[ "$(arcprof report got.data --format json | jq -c '.source.recordings | length')" = \
			"$(arcprof report want.data --format json | jq -c '.source.recordings | length')" ]
	done
	run_arcprof fleet report "$url" --where "service='none'"
	[ "$status" -eq 1 ]
	[[ $stderr == *"no rows of any metric where service='none'"* ]]
	run_arcprof fleet report "$url" --where "nothing = 1"
	[ "$status" -eq 1 ]
	[[ $stderr == *"nothing"* ]]
	[ "$(arcprof fleet report "$url" --metric cpu-clock -- --xprof --format json | jq '.source.recordings | length')" -ge 2 ]
	prune_the_oldest
}

# Of the test above: one of its traces is of 2023. What a server that was killed did not add up is added up first.
prune_the_oldest() {
	local of="t < 1750000000" keep=$((EPOCHSECONDS - 1750000000))s week
	tree "$MIXED" --metric cpu-clock >want
	[ "$(ask 1 "SELECT count() > 0 FROM nodes WHERE $of")" -eq 1 ]
	week=$(ask 1 "SELECT DISTINCT intDiv(t, 604800) FROM nodes WHERE $of")
	ask 1 "ALTER TABLE hours DROP PARTITION $week"
	arcprof fleet prune "$url" --keep-nodes "$keep" 2>said
	cat said
	grep -q 'warning: hours lacked part of [1-9][0-9]* sums, ' said
	grep -q 'dropped 1 partition of nodes: [1-9][0-9]* rows, ' said
	[ "$(ask 1 "SELECT count() FROM nodes WHERE $of")" -eq 0 ]
	[ "$(ask 1 "SELECT count() > 0 FROM nodes")" -eq 1 ]
	for table in hours days; do
		arcprof fleet fetch -q "$url" --table "$table" --where "$of" --metric cpu-clock -o sums.data
		"$TOP/t/fleet/compare" trees want <(tree sums.data)
	done
	# nothing is left to do, and hours go when days have them
	arcprof fleet prune "$url" --keep-nodes "$keep" 2>said
	[ ! -s said ]
	arcprof fleet prune "$url" --keep-nodes "$keep" --keep-hours "$keep" 2>said
	[[ $(cat said) == *"dropped 1 partition of hours: "* ]]
	arcprof fleet fetch -q "$url" --table days --where "$of" --metric cpu-clock -o sums.data
	"$TOP/t/fleet/compare" trees want <(tree sums.data)
}

@test "fleet: sums of hours and days are exact around midnight, after steps of the clock, and of what is pushed again" {
	local file keep
	one_server
	around_midnight new
	arcprof export -q --table tables new/*.otlp
	zcat tables/nodes.tsv.gz | tail -n +2 >rows.tsv
	sums_are_exact() {
		ask 1 "$(sums_of hours)" | LC_ALL=C sort | diff <(added_up 3600 "$@") -
		ask 1 "$(sums_of days)" | LC_ALL=C sort | diff <(added_up 86400 "$@") -
	}
	# one by one, the latest first, as after a clock that is set back, and all again from another machine
	while read -r file; do
		arcprof fleet push -q "$url" --spool spool "new/$file"
	done < <(ls -r new)
	arcprof fleet push "$url" --spool other new/*.otlp 2>said
	cat said
	grep -q 'sent 0 recordings; others the server had' said
	[ "$(wc -l <rows.tsv)" -eq "$(ask 1 'SELECT count() FROM nodes')" ]
	[ "$(added_up 86400 rows.tsv | cut -f 1 | sort -u | wc -l)" -eq 5 ]
	sums_are_exact rows.tsv
	# the week that ends at midnight goes, and no other
	keep=$((EPOCHSECONDS - MIDNIGHT))s
	arcprof fleet prune "$url" --keep-nodes "$keep" 2>said
	grep -q 'dropped 1 partition of nodes: ' said
	! grep -q lacked said || false
	[ "$(awk -v m=$MIDNIGHT '$1 >= m || !$1' rows.tsv | wc -l)" -eq "$(ask 1 'SELECT count() FROM nodes')" ]
	sums_are_exact rows.tsv
	# what comes late for it is added, and goes as well
	python3 "$TOP/t/data/import/make-otlp.py" late.otlp "$((MIDNIGHT - 3))000000000" 'service.name=x'
	arcprof export -q --table late late.otlp
	zcat late/nodes.tsv.gz | tail -n +2 >late.tsv
	arcprof fleet push -q "$url" --spool spool late.otlp
	sums_are_exact rows.tsv late.tsv
	arcprof fleet prune "$url" --keep-nodes "$keep" --keep-hours "$keep" 2>said
	grep -q 'dropped 1 partition of hours: ' said
	[ "$(ask 1 "SELECT count() FROM hours WHERE t > 0 AND t < $MIDNIGHT")" -eq 0 ]
	ask 1 "$(sums_of days)" | LC_ALL=C sort | diff <(added_up 86400 rows.tsv late.tsv) -
}

@test "fleet push: nothing is lost and nothing double when server and sender are killed" {
	local i sender pushed=("$JAVA" "$MIXED" "$CALLS" "$BRANCHES") want
	one_server
	for i in 0 1 2 3; do
		arcprof merge -q "${pushed[i]}" "${pushed[(i + 1) % 4]}" -o "m$i.data"
		pushed+=("m$i.data")
	done
	arcprof export -q --table tables "${pushed[@]}"
	want=$(zcat tables/nodes.tsv.gz | tail -n +2 | cut -f 2 | sort | uniq -c | awk '{ print $2, $1 }' | sort)
	arcprof fleet push -q "$url" --spool spool --retry 0 "${pushed[@]:0:1}"
	for i in 1 2 3 4 5 6; do
		"$ARCPROF" fleet push -q "$url" --spool spool --retry 20s "${pushed[@]}" 3>&- &
		sender=$!
		sleep "0.$((RANDOM % 6))$((RANDOM % 9))"
		if [ $((i % 3)) -eq 0 ]; then
			kill -KILL "$(cat server1/pid)"
			wait "$(cat server1/pid)" || true
			sleep 0.1
			start_server 1
		fi
		kill -KILL "$sender" 2>/dev/null || true
		wait "$sender" || true
	done
	for i in 1 2 3; do
		arcprof fleet push "$url" --spool spool --retry 20s "${pushed[@]}" && break
	done
	[ -z "$(find spool -name '*.tables.gz')" ]
	# what a sender leaves half done goes; what is not a sender's stays
	touch spool/.tables.aB3xYz spool/.otlp.abcdef spool/sent.new spool/.tables.long123 spool/mine.gz
	arcprof fleet push -q "$url" --spool spool --retry 0
	[ "$(cd spool; find . -type f ! -name sent ! -name '*.pb' | sort | paste -s -d ' ')" = "./.tables.long123 ./mine.gz" ]
	[ "$(ask 1 'SELECT trace, count() FROM nodes GROUP BY trace' | tr '\t' ' ' | sort)" = "$want" ]
	[ "$(ask 1 'SELECT sum(base) FROM nodes')" = "$(zcat tables/nodes.tsv.gz | awk -F'\t' '{ s += $22 } END { printf "%.0f", s }')" ]
}

@test "fleet push: a folder that a recording writes, by a sender that is killed: each segment once, none in part" {
	local recorder sender
	skip_unless_perf
	one_server
	"$ARCPROF" record -q -d 3 --segment 400ms -o dir -- "$(workload shares)" 100000000 >out 3>&- &
	recorder=$!
	until [ -n "$(find dir -name '*.arc' 2>/dev/null)" ]; do
		kill -0 "$recorder"
		sleep 0.05
	done
	while kill -0 "$recorder" 2>/dev/null; do
		"$ARCPROF" fleet push -q --every 100ms "$url" --spool spool --retry 20s dir 3>&- &
		sender=$!
		sleep "0.$((RANDOM % 5 + 3))"
		kill -KILL "$sender" 2>/dev/null || true
		wait "$sender" || true
	done
	wait "$recorder" || true		# it ended the program
	# a recording that goes on is left alone, whatever its name, and what is none is not called one
	echo mine >dir/notes
	"$ARCPROF" record -q -o dir/other -- sleep 600 3>&- &
	recorder=$!
	until [ -s dir/other ]; do
		sleep 0.05
	done
	arcprof fleet push "$url" --spool spool --retry 20s dir 2>said
	cat said
	grep -q '1 trace is still being written' said
	kill "$recorder"
	wait "$recorder" || true
	rm dir/other
	find spool -type f
	[ "$(find spool -type f ! -name sent | wc -l)" -eq 0 ]
	arcprof export -q --table tables dir/*.arc
	zcat tables/nodes.tsv.gz | tail -n +2 | cut -f 2 | sort | uniq -c | awk '{ print $2, $1 }' | sort >want
	ask 1 'SELECT trace, count() FROM nodes GROUP BY trace' | tr '\t' ' ' | sort | diff want -
	[ "$(wc -l <want)" -ge 3 ]
	# nothing is new, so nothing is read; what is gone from the folder is forgotten
	[ "$(wc -l <spool/sent)" -eq "$(find dir -name '*.arc' | wc -l)" ]
	arcprof fleet push "$url" --spool spool dir 2>said
	grep -qx 'arcprof fleet: sent 0 recordings' said
	rm "$(find dir -name '*.arc' | head -n 1)"
	arcprof fleet push -q "$url" --spool spool dir
	[ "$(wc -l <spool/sent)" -eq "$(find dir -name '*.arc' | wc -l)" ]
}

@test "how-to: a fleet in ten minutes, followed literally" {
	skip_unless_perf
	local steps tcp
	skip_unless_clickhouse
	read -r -a tcp < <(free_ports 2)
	configure_server 1 "${tcp[@]}"
	start_server 1
	steps=$(grep -P '^\t' "$TOP/Documentation/howto/a-fleet-in-ten-minutes.adoc")
	mkdir bin
	ln -s "$ARCPROF" bin/arcprof
	# the same commands; only where the server listens is ours
	steps=${steps/"http://localhost:8123/"/$(cat server1/url)}
	PATH=$PWD/bin:$PATH HOME=$PWD bash -e -o pipefail -c "$steps" >said 2>errors || { cat said errors; return 1; }
	cat said
	[ -s shop.html ]
	grep -q '^1.1' said && grep -q 'sent 2 recordings' errors
	grep -q '^Difference B - A of cpu-clock' said
	[ "$(grep -c 'of cpu-clock in' said)" -eq 4 ]
}
