#!/usr/bin/env bats
# The server of the Model Context Protocol: its answers against those of reports, and clients that mean harm.
# bats file_tags=stored
load ../lib

EVENTS=$TOP/t/data/events/trace
JAVA=$TOP/t/data/java/trace

# ask <line>...: the server's answers to these lines, one per line, in "answers".
ask() {
	printf '%s\n' "$@" | arcprof mcp "${OPTIONS[@]}" "${TRACES[@]}" >answers 2>messages
}

# call <tool> [<arguments>]: the result in "result", its first text in "text", and the second in "notes".
call() {
	ask "$(jq -nc --arg tool "$1" --argjson arguments "${2:-{\}}" \
		'{jsonrpc: "2.0", id: 7, method: "tools/call", params: {name: $tool, arguments: $arguments}}')"
	jq -e '.id == 7 and .jsonrpc == "2.0"' answers >/dev/null
	jq -e .result answers >result
	jq -j '.result.content[0].text' answers >text
	jq -r '.result.content[1].text // ""' answers >notes
}

# same <tool> <arguments> <arcprof's arguments>: both say the same.
same() {
	call "$1" "$2"
	jq -e '.isError == false' result >/dev/null
	arcprof "${@:3}" --format json >expected
	cmp expected text
}

# fails <tool> <arguments> <pattern>: as a result that the assistant can read.
fails() {
	call "$1" "$2"
	cat text
	jq -e '.isError' result >/dev/null
	grep -qe "$3" text
}

setup() {
	trace_errors_only
	cd "$BATS_TEST_TMPDIR" || return 1
	TRACES=("$EVENTS" "$JAVA")
	OPTIONS=()
}

@test "mcp: a client is greeted in its version of the protocol, or the newest" {
	for version in 2024-11-05 2025-03-26 2025-06-18; do
		ask '{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"'$version'","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}' \
			'{"jsonrpc":"2.0","method":"notifications/initialized"}' '' '{"jsonrpc":"2.0","id":2,"method":"ping"}'
		[ "$(jq -r .result.protocolVersion answers | head -n 1)" = "$version" ]
		[ "$(jq -sc '[.[].id]' answers)" = '["a",2]' ]
	done
	ask '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2077-01-01"}}'
	jq -e '.result | .protocolVersion == "2025-06-18" and .serverInfo.name == "arcprof" and .capabilities.tools == {}' answers
}

@test "mcp: each tool has a schema, and the manual names it" {
	ask '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
	jq -e '.result.tools | length == 12 and all(.[]; .inputSchema.type == "object" and .annotations.readOnlyHint
		and (.inputSchema | .required - (.properties | keys) == [])
		and all(.inputSchema.properties[]; .type and .description))' answers
	for tool in $(jq -r '.result.tools[].name' answers); do
		sed -n '/^== TOOLS/,/^== PROTOCOL/p' "$TOP/Documentation/arcprof-mcp.adoc" | grep -qF "*$tool*"
	done
}

@test "mcp: traces are listed, those of a folder as well" {
	mkdir dir
	cp "$EVENTS" dir/a
	cp "$JAVA" dir/b
	echo text >none
	TRACES=(dir "$TOP/t/data/mixed/trace" none)
	call traces
	jq -e 'map(.trace) == [1, 2, 3, 4] and .[0].name == "dir/a" and .[0].events == ["cpu-clock", "cpu", "wall"]
		and .[1].command == "java -cp . Seed 300" and .[1].duration_ns == 480061007
		and .[1].bytes > 1000 and (.[3].error | test("none"))' text
}

@test "mcp: answers are those of the commands" {
	same summary '{"trace":2}' report --summary "$JAVA"
	same summary '{"trace":1,"thread":"main","from":0.01}' report --summary --thread main --from 0.01 "$EVENTS"
	same hottest '{"trace":"1","limit":7,"metric":"cpu-clock"}' report --xprof --sort base --limit 7 --metric cpu-clock "$EVENTS"
	same hottest '{"trace":"1","fold":"module","sort":"cum","to":0.1}' report --xprof --sort cum --limit 20 --fold module --to 0.1 "$EVENTS"
	same tree '{"trace":2,"prune":5}' report --xtree --prune 5 --limit 200 "$JAVA"
	same waits '{"trace":1}' report --threads --limit 40 "$EVENTS"
	same annotate '{"trace":1,"function":"Seed.fib"}' report --confined --annotate Seed.fib --limit 3 "$EVENTS"
	same diff '{"before":2,"after":1,"limit":3}' diff --limit 3 "$JAVA" "$EVENTS"
	same query '{"trace":2,"sql":"SELECT name, base FROM xprof ORDER BY base DESC"}' \
		query --limit 100 -i "$JAVA" 'SELECT name, base FROM xprof ORDER BY base DESC'
	TRACES=("$TOP/t/data/arm64-java/trace")
	same account '{}' report --account "$TRACES"
	fails gc '{}' "were not recorded"
	fails locks '{}' "were not recorded"
}

@test "mcp: callers and callees are those of xarc" {
	call callers '{"trace":1,"function":"Seed.fib"}'
	jq -c '.rows | [(.[] | select(.row == "self") | [.n, .base, .cum]), (map(select(.row == "parent") | .other_name) | sort)]' text >got
	arcprof report --xarc --format json "$EVENTS" | jq -c '.stanzas[] | select(.name == "Seed.fib") |
		[[.self.n, .self.base[0], .self.cum[0]], (.parents | map(.name) | sort)]' >expected
	cmp expected got
	call callers "{\"trace\":1,\"function\":\"x' OR name GLOB '*\"}"
	jq -e '.rows == []' text
}

@test "mcp: source lines are there if the server knows the folder" {
	mkdir src
	printf 'line %s\n' {1..20} >src/Seed.java
	OPTIONS=(--source src)
	call annotate '{"trace":1,"function":"Seed.fib"}'
	jq -e '[.functions[].rows[] | select(.row == "line") | .text] | unique == ["line 6"]' text
}

@test "mcp: the profile of another program is one of the traces" {
	TRACES=("$TOP/t/data/import/flamegraph.folded")
	same hottest '{"limit":3}' report --xprof --sort base --limit 3 --import "$TRACES"
}

@test "mcp: an invalid request is a JSON-RPC error, and the next one is answered" {
	ask '{bad' '{"jsonrpc":"2.0","id":1,"method":"tools/call"' '[1' 'x' '7' '{"id":1,"method":"ping"}' \
		'{"jsonrpc":"2.0","id":[1],"method":"ping"}' '{"jsonrpc":"2.0","id":1.5,"method":"ping"}' \
		'{"jsonrpc":"2.0","id":null,"method":"ping"}' '{"jsonrpc":"2.0","id":1,"method":7}' \
		'{"jsonrpc":"2.0","id":1,"method":"ping","params":3}' '{"jsonrpc":"2.0","id":1,"method":"resources/list"}' \
		'{"jsonrpc":"2.0","id":1,"method":"tools/call"}' \
		'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"../record"}}' \
		'{"jsonrpc":"2.0","id":1,"result":{}}' '{"jsonrpc":"2.0","id":"\u0000","method":"ping"}' \
		"$(printf '[%.0s' {1..5000})" '[{"jsonrpc":"2.0","id":8,"method":"ping"},1,{"jsonrpc":"2.0","method":"x"}]' \
		'{"jsonrpc":"2.0","id":9,"method":"ping"}'
	[ "$(jq -sc '[.[] | if type == "array" then map(.id) else .error.code // .id end]' answers)" = \
		'[-32700,-32700,-32700,-32600,-32600,-32600,-32600,-32600,-32600,-32600,-32600,-32601,-32602,-32602,-32600,-32700,[8,null],9]' ]
}

@test "mcp: a line of 2 MiB is refused, and the next one is answered" {
	{
		printf '{"jsonrpc":"2.0","id":1,"method":"'
		head -c 2097152 /dev/zero | tr '\0' x
		printf '"}\n{"jsonrpc":"2.0","id":2,"method":"ping"}'	# the last line has no end
	} | arcprof mcp "$JAVA" >answers
	[ "$(jq -sc '[.[] | .error.code // .id]' answers)" = '[-32600,2]' ]
}

@test "mcp: only traces of the command line can be named" {
	cp "$JAVA" other
	for name in ../x /etc/passwd other ./other - 0 3 -1 "$JAVA/../trace" ''; do
		fails hottest "$(jq -nc --arg name "$name" '{trace: $name}')" "no trace is called"
	done
	fails hottest '{"trace":3}' "no trace is called"
	fails hottest '{}' "there are several"
	fails diff '{"before":"1","after":"other"}' "no trace is called"
}

@test "mcp: arguments are as the schema says, and text is never an option" {
	fails hottest '{"trace":1,"limit":"5"}' "limit: a number is expected"
	fails hottest '{"trace":1,"limit":0}' "limit: a number as the schema has it"
	fails hottest '{"trace":1,"limit":1.5}' "limit: a number as the schema has it"
	fails hottest '{"trace":[1]}' "trace: a string is expected"
	fails hottest '{"trace":1,"metric":true}' "metric: a string is expected"
	fails hottest '{"trace":1,"sort":"--output=x"}' "not a word that the schema lists"
	fails hottest '{"trace":1,"output":"x"}' "hottest has no argument 'output'"
	fails tree '{"trace":1,"prune":101}' "prune: a number as the schema has it"
	fails tree '{"trace":1,"symbol":"a\u0000b"}' "zero byte"
	fails hottest '[]' "not a JSON object"
	fails callers '{"trace":1}' "function: this argument is required"
	call hottest '{"trace":1,"symbol":"--output=x"}'
	jq -e '.rows == []' text
	grep -qF "nothing matches --symbol '--output=x'" notes
	call hottest '{"trace":1,"thread":"main,--output=x"}'	# one name: no list of them
	grep -qF "nothing matches --thread 'main?--output=x'" notes
	fails annotate '{"trace":1,"function":"--output=x"}' "output=x"
	fails query '{"trace":1,"sql":"--output=x"}' .
	[ ! -e x ]
}

@test "mcp: SQL reads the trace, and nothing else" {
	for sql in "ATTACH 'x' AS x" "VACUUM INTO 'x'" "CREATE TABLE x(a)" "SELECT load_extension('x')" \
		"SELECT readfile('/etc/passwd')" "SELECT writefile('x', 'y')" "PRAGMA journal_mode = DELETE" ".output x" ".read x"; do
		fails query "$(jq -nc --arg sql "$sql" '{trace: 1, sql: $sql}')" .
	done
	[ "$(ls)" = "$(printf '%s\n' answers messages notes result text)" ]
}

@test "mcp: a long answer is cut, and says so" {
	call query '{"trace":2,"sql":"SELECT * FROM nodes","limit":100000}'
	jq -e '.isError == false' result
	[ "$(wc -c <text)" -eq 60000 ]
	grep -q '^truncated: the answer is cut after 60000 bytes' notes
}

@test "mcp: an answer that takes too long is stopped" {
	OPTIONS=(--timeout 1s)
	fails query '{"trace":2,"sql":"WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT max(x) FROM r"}' \
		'^stopped: no whole answer in 1 s'
}

@test "mcp: warnings are beside the answer" {
	TRACES=(cut)
	head -c 60000 "$EVENTS" >cut
	call hottest '{"limit":2}'
	jq -e '.isError == false' result
	jq -e .rows text
	grep -q "^arcprof report: warning: cut has no end" notes
}

@test "mcp: nothing but the protocol is on standard output; it ends with its input" {
	ask
	[ ! -s answers ]
	run_arcprof mcp missing
	[ "$status" -eq 1 ]
	[[ -z $output && $stderr == *missing* ]]
	for trace in - /dev/null; do
		run_arcprof mcp "$trace"
		[ "$status" -eq 1 ]
		[ -n "$stderr" ]
	done
	printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"ping"}'{,,,} | "$ARCPROF" mcp "$JAVA" 2>messages | true
	[ ! -s messages ]
}

@test "mcp: no program is started, and no file of the trace's choice is read" {
	skip_unless_command strace
	local lines
	for tool in traces summary hottest tree waits annotate; do
		lines+=("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"$tool\",\"arguments\":{}}}")
	done
	lines[5]=${lines[5]/'{}'/'{"function":"Seed.*"}'}
	printf '%s\n' "${lines[@]}" | strace -f -qq -e trace=execve,execveat,openat,open,creat -o calls "$ARCPROF" mcp "$EVENTS" >answers
	[ "$(grep -c . answers)" -eq 6 ]
	[ "$(grep -c exec calls)" -eq 1 ]
	! grep -E 'O_WRONLY|O_RDWR|O_CREAT' calls | grep -v '"/dev/null"' || false
	grep -qF "$EVENTS" calls
	! grep -E '"[^"]*\.java"' calls || false
}

@test "mcp: the protocol's own client is served" {
	node -e 'require("@modelcontextprotocol/sdk/client/index.js")' 2>/dev/null ||
		skip "the client is not installed (npm install @modelcontextprotocol/sdk, and NODE_PATH)"
	node "$TOP/t/mcp-client.cjs" "$ARCPROF" "$EVENTS" "$JAVA" >got
	arcprof report --xprof --sort base --limit 3 --format json "$JAVA" | jq -c '[.rows[] | [.name, .base[0]]]' >expected
	tail -n 1 got | cmp expected -
	head -n 1 got | grep -qx 'arcprof 12'
}
