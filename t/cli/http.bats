#!/usr/bin/env bats
# Calls over HTTP: the number that they carry, and trees over services. The programs tell what arrived.
load ../lib
load ../jdks

# The server and the client, recorded with these options; server.data and client.data, and what the client prints.
record_both() {	# <option of the server>...
	local i
	rm -f port
	"$ARCPROF" record -q "$@" -o server.data -- java -cp "$CLASSES" Http serve port &
	for ((i = 0; i < 600; i++)); do
		[ -s port ] && break
		sleep 0.05
	done
	"$ARCPROF" record -q -e http -o client.data -- java -cp "$CLASSES" Http call "$(cat port)" 3 >said
	wait $!
}

# How often a function was called below that caller, over the border.
below() {	# <caller>
	arcprof report -q --xtree --format json both | jq -r '.nodes[] | [.level, .name, .n] | @tsv' |
		awk -F '\t' -v caller="Http.$1" '{ path[$1] = (($1 ? path[$1 - 1] : "") ";" $2) }
			$2 == "Http.work" && path[$1] ~ (";" caller ";(.*;)?\\[rpc\\];") { n += $3 } END { print n + 0 }'
}

over_http() {
	local of
	record_both --callflow='Http.*' -e http
	cat said
	printf '%s\n' "async - number" "client - number" "given-client $GIVEN -" "given-url ${GIVEN/b7-/b8-} -" "url - number" >want
	sort -u said | diff want -
	# each call once, with its stack, though an answer is asked for twice
	arcprof report --check client.data >check || { cat check; return 1; }
	arcprof report -q --metric http --xtree --format json client.data >tree
	[ "$(jq '[.nodes[].n] | add' tree)" -eq 12 ]
	! grep -q ArcCall tree || false
	! grep -q 'not as expected' check || false
	run_arcprof merge --join rpc client.data server.data -o both
	[ "$status" -eq 0 ] || { echo "$stderr"; return 1; }
	for of in "byClient 4" "byUrl 5" "later 3"; do
		[ "$(below "${of% *}")" -eq "${of#* }" ] || { echo "$of"; arcprof report --xtree both; return 1; }
	done
}

GIVEN=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01

@test "http: what a server does hangs below the call of its client, and a program's own traceparent is kept" {
	on_one_jdk newest over_http
}

servlets() {
	mkdir -p classes
	compile_java -sourcepath "$TOP/t/data/servlet" -d classes "$TOP/t/data/servlet/Servlets.java"
	run_arcprof record -q --callflow='Servlets.work' -e http -o servlets -- \
		java -cp classes Servlets "$GIVEN" - 00-none "${GIVEN/b7-/G7-}" throws "${GIVEN^^}"
	[ "$status" -eq 0 ] && [ "$output" = done ] || { echo "$stderr"; return 1; }
	arcprof report -q --by-label rpc --xtree --format json servlets |
		jq -r 'foreach .nodes[] as $r (""; if $r.kind == "label" then $r.name else . end; [., $r.name, $r.n]) |
			select(.[1] == "Servlets.work") | "\(.[0]) \(.[2])"' | sort >got
	printf '%s\n' '[no rpc] 16' 'rpc=00f067aa0ba902b7> 8' | diff - got
	# a program that does something unexpected is reported, and not disturbed
	arcprof report servlets | grep -E 'http of process [0-9]+: 1 time something was not as expected: .*'
}

@test "http: a servlet serves the call that its request names, and other classes are left alone" {
	on_one_jdk newest servlets
}

# That many calls, once they have been answered.
calls() {	# <number>
	local i nr
	nr=$(wc -l <out)
	echo "$1" >&7
	for ((i = 0; i < 600; i++)); do
		[ "$(wc -l <out)" -eq "$nr" ] || return 0
		sleep 0.05
	done
	return 1
}

on_and_off() {
	local recorder
	mkfifo in
	: >out
	"$ARCPROF" record -q -e http --disabled http -o off.data -- java -cp "$CLASSES" Http both <in >out &
	recorder=$!
	exec 7>in
	calls 1
	"$ARCPROF" ctl -p "$recorder" enable http
	calls 2
	"$ARCPROF" ctl -p "$recorder" disable http
	calls 4
	"$ARCPROF" ctl -p "$recorder" enable http
	calls 8
	exec 7>&-
	wait "$recorder"
	printf '%s\n' '1 - -' '2 - number' '4 - -' '8 - number' | diff - out
	arcprof report -q --metric http --xtree --format json off.data >tree
	[ "$(jq '[.nodes[].n] | add' tree)" -eq 10 ]
}

@test "http: nothing is carried, and no call recorded, while it is off" {
	on_one_jdk oldest on_and_off
}
