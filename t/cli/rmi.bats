#!/usr/bin/env bats
# Calls by RMI: which call of a client it is that a server works for, with nothing added to what they send.
load ../lib
load ../jdks

# How often a function was called below that caller, over the border.
below() {	# <caller>
	arcprof report -q --xtree --format json both | jq -r '.nodes[] | [.level, .name, .n] | @tsv' |
		awk -F '\t' -v caller="Rmi.$1" '{ path[$1] = (($1 ? path[$1 - 1] : "") ";" $2) }
			$2 == "Rmi.work" && path[$1] ~ (";" caller ";(.*;)?\\[rpc\\];") { n += $3 } END { print n + 0 }'
}

by_rmi() {
	local i of
	"$ARCPROF" record -q --callflow='Rmi.*' -e rmi -o server.data -- java -cp "$CLASSES" Rmi serve object &
	for ((i = 0; i < 600; i++)); do
		[ -s object ] && break
		sleep 0.05
	done
	run_arcprof record -q -e rmi -o client.data -- java -cp "$CLASSES" Rmi call object
	[ "$status" -eq 0 ] || { echo "$stderr"; return 1; }
	wait $!
	for of in client server; do
		arcprof report --check "$of.data" >check || { cat check; return 1; }
		! grep 'not as expected' check || return 1
	done
	run_arcprof merge --join rpc client.data server.data -o both
	[ "$status" -eq 0 ] || { echo "$stderr"; return 1; }
	for of in one other fails; do
		[ "$(below "$of")" -eq 9 ] || { echo "$of"; arcprof report --xtree both; return 1; }
	done
}

@test "rmi: what a server does hangs below the call of its client" {
	on_one_jdk newest by_rmi
}
