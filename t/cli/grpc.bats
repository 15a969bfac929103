#!/usr/bin/env bats
# Calls by gRPC: the number that they carry in their metadata.
load ../lib
load ../java

JARS=/usr/share/java
LIBRARIES=(grpc-api grpc-core grpc-stub grpc-context guava perfmark-api)

setup_file() {
	[ -e "$JARS/grpc-stub.jar" ] || skip "libgrpc-java is not installed"
	prepare_jdks
}

by_grpc() {
	local path
	path=$(printf ":$JARS/%s.jar" "${LIBRARIES[@]}")
	mkdir -p classes
	compile_java -cp "$path" -d classes "$TOP/t/data/grpc/Calls.java"
	run_arcprof record -q --callflow='Calls.work' -e grpc -o grpc.data -- \
		java -cp "classes$path" Calls 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
	[ "$status" -eq 0 ] || { echo "$stderr"; return 1; }
	arcprof report --check grpc.data >check || { cat check; return 1; }
	! grep 'not as expected' check || return 1
	arcprof report -q --metric grpc --xtree --format json grpc.data | jq -r '
		reduce .nodes[] as $n ({}; .[$n.id | tostring] = $n + {
			by: (if $n.name | test("^Calls.(blocking|later|given)") then $n.name else .[$n.parent | tostring].by end) }) |
		reduce .[] as $n ({}; if $n.base[0] > 0 then .[$n.by] += $n.ns[1] else . end) | to_entries[] | "\(.key) \(.value)"' |
		sort | diff - <(printf '%s\n' "Calls.blocking 3" "Calls.given 4" "Calls.later 2")
	arcprof report -q --by-label rpc --xtree --format json grpc.data |
		jq -r 'foreach .nodes[] as $r (""; if $r.kind == "label" then $r.name else . end; [., $r.name, $r.n]) |
			select(.[1] == "Calls.work") | "\(.[0]) \(.[2])"' | sed -E 's/=[89a-f][0-9a-f]{15}>/=number>/' |
		awk '{ n[$1] += $2 } END { for (s in n) print s, n[s] }' | sort >got
	printf '%s\n' 'rpc=00f067aa0ba902b7> 4' 'rpc=number> 5' | diff - got
}

@test "grpc: a server works for the call that its metadata names" {
	on_one_jdk newest by_grpc
}
