#!/usr/bin/env bats
# The command query: the questions of its manual page, its numbers against those of reports, its bounds.
# bats file_tags=stored
load ../lib

page=$TOP/Documentation/arcprof-query.adoc
events=$TOP/t/data/events/trace

query() {
	arcprof query -q -i "$events" --format json "$@"
}

# answer <beginning of a question> [<option>...]: the query that the page has for it, asked.
answer() {
	awk -v begin="$1" '
		index($0, begin) == 1 { found = 1 }
		found && /^----$/ { if (inside) exit; inside = 1; next }
		inside' "$page" >sql
	[ -s sql ] || { echo "no question '$1'"; return 1; }
	query --sql sql "${@:2}" >answer
}

# same <jq expression over the answer> <jq expression over "report">
same() {
	jq -c "$1" answer >got
	jq -c "$2" report >expected
	diff expected got
	[ "$(cat got)" != '[]' ]
}

report() {
	arcprof report -q -i "$events" --format json "$@" >report
}

@test "query: without SQL it lists the tables and has an example" {
	run_arcprof query "$TOP/t/data/mixed/trace"
	[ "$status" -eq 0 ]
	[[ $output == "$(arcprof query .tables)"* ]]
	# the example is one, of that file
	eval "$(grep -o 'arcprof query .*LIMIT 10.$' <<<"$output")" >rows
	grep -q '^name' rows
	cp "$TOP/t/data/mixed/trace" arcprof.data
	run_arcprof query
	[[ $status -eq 0 && $output == *"arcprof query 'SELECT "* ]]
}

@test "query: the page has a question about each table, and each has an answer in a stored trace" {
	sed -n '/^== QUESTIONS/,/^== EXIT/p' "$page" | awk '/^----$/ { n++; next } n % 2 { q[int(n / 2)] = q[int(n / 2)] $0 "\n" }
		END { for (i in q) { f = sprintf("question.%02d", i); printf "%s", q[i] >f; close(f) } }'
	[ "$(ls question.* | wc -l)" -ge 24 ]
	sed -n '/^== MARKS/,/^== EXIT/p' "$page" >questions
	for table in $(arcprof query .tables | cut -d ' ' -f 1); do
		grep -qE "(FROM|JOIN) $table\b" questions || { echo "no question about $table"; return 1; }
	done
	for q in question.*; do
		for trace in "$events" "$TOP/t/data/java/trace"; do
			query -i "$trace" --sql "$q" >answer || { cat "$q"; return 1; }
			jq -e '(.rows | length) > 0 and (.truncated | not)' answer >/dev/null && continue 2
		done
		cat "$q"
		return 1
	done
}

@test "query: what consumes most is what xprof shows" {
	answer "What consumes most by itself"
	report --xprof --sort base --limit 10
	same '[.rows[].base]' '[.rows[].base[0]]'
	answer "What consumes most together"
	report --xprof
	same '[.rows[].cum]' '[.rows[] | select(.kind != "process" and .kind != "thread") | .cum[0]] | sort | reverse[:10]'
}

@test "query: callers and callees equal those of xarc, in the examples of the query page" {
	answer "Who calls a function"
	report --xarc
	same '[.rows[] | [.other_name, .n, .cum]]' \
		'[.stanzas[] | select(.name == "Seed.fib") | .parents[] | [.name, .n, .cum[0]]] | sort_by(-.[2])'
	query "SELECT name, n FROM xprof WHERE name = 'Seed.fib'" >answer
	[ "$(jq '.rows[0].n' answer)" -eq $((8361 + 3193)) ]
	answer "What does it call"
	same '[.rows[] | [.other_name, .n, .cum]] | sort' \
		'[.stanzas[] | select(.name == "Seed.main") | .children[] | [.name, .n, .cum[0]]] | sort'
}

@test "query: a subtree is a range of nodes, and adds up to cum" {
	answer "In which modules"
	report --xprof
	same '[[.rows[].base] | add]' '[.rows[] | select(.name == "Seed.main") | .cum[0]]'
}

@test "query: nodes are those of xtree, by the same numbers" {
	query 'SELECT id, parent, level, rl, name, n, base, base2, cum FROM nodes ORDER BY id' >answer
	report --xtree
	same '[.rows[] | [.id, .parent, .level, .rl, .name, .n, .base, .base2, .cum]]' \
		'[.nodes[] | [.id, .parent, .level, .rl, .name, .n, .base[0], .base[1], .cum[0]]]'
	answer "How does the program get"
	same '.rows[-1].cum' '.nodes | sort_by(-.base[0], .id)[0].cum[0]'
	same '[.rows[0].level]' '[0]'
	answer "How deep are the recursions"
	same '[.rows[] | select(.name == "Seed.fib") | .depth]' '[[.nodes[] | select(.name == "Seed.fib") | .rl] | max]'
}

@test "query: sums by thread, class and kind are those of the tree" {
	answer "What is the hottest function of each thread"
	report --xtree
	same '[.rows[] | select(.thread == "worker") | [.name, .base]]' \
		'[.nodes as $n | $n[] | select(.kind == "thread" and .name == "worker") | .id as $t |
			[$n[] | select(.name == "Seed.fib" and .id > $t and .id < $t + 200) | .base[0]] | ["Seed.fib", add]]'
	answer "Which classes"
	report --xprof --fold class
	same '[.rows[] | select(.class == "Seed") | .base]' '[.rows[] | select(.name == "Seed") | .base[0]]'
	answer "How much is Java"
	report --xprof
	same '[[.rows[].base] | add]' '[[.rows[].base[0]] | add]'
	same '[.rows[] | select(.code == "Java") | .base]' \
		'[[.rows[] | select(.kind | startswith("java")) | .base[0]] | add]'
}

@test "query: samples equal those of the report, with their times" {
	answer "When was the program busy" --samples
	report --xprof --samples
	same '[([.rows[].samples] | add), ([.rows[].cpu] | add)]' '[([.rows[].n] | add), ([.rows[].base[0]] | add)]'
	arcprof query -i "$events" --format csv 'SELECT time FROM samples' | sed 1d >times
	sort -n -c times
	answer "What started to run only" --samples
	jq -e '[.rows[].first] | min > 0' answer
	answer "What is the longest time for which each thread was not sampled" --samples
	arcprof dump -q -i "$events" --format json | jq '[.records[] | select(.name | startswith("sample")) |
		[.fields.thread, .time_ns]] | group_by(.[0]) |
		[.[] | [.[][1]] | sort | [.[1:], .[:-1]] | transpose | map(.[0] - .[1]) | max // 0] | max' >expected
	jq '.rows[0].gap' answer | diff expected -
}

@test "query: samples by source line are those of --annotate" {
	answer "On which source lines" -i "$TOP/t/data/java/trace"
	arcprof report -q -i "$TOP/t/data/java/trace" --annotate 'Seed.*' --format json >report
	jq '[.rows[].samples] | add' answer >got
	arcprof report -q -i "$TOP/t/data/java/trace" --annotate 'Seed.*' --format csv |
		awk -F , '$3 == "line" { n += $11 } END { print n }' | diff - got
}

@test "query: calls equal those of the events, and of the program" {
	answer "Which methods have slow calls"
	[ "$(jq '.rows[] | select(.name == "Seed.fib") | .calls' answer)" -eq 11554 ]
	jq -e 'all(.rows[]; .p50 <= .p99 and .p99 <= .longest)' answer
	arcprof report -q -i "$events" --gen | grep -c ' > M:Seed.fib ' | diff - <(echo 11554)
	answer "When did its thread lose"
	jq -e '[.rows[].kind] | unique == ["off", "on"]' answer
	answer "Which methods ended with an exception"
	jq -c '[.rows[] | [.name, .exceptions]]' answer | diff <(echo '[["Seed.boom",1]]') -
	# the percentiles by another way
	query "SELECT percentile(column1, 25) AS a, median(column1) AS b, percentile(column1, 100) AS c
		FROM (VALUES (4), (1), (2), (3), (NULL), ('x'))" >answer
	jq -c '.rows' answer | diff <(echo '[{"a":1.75,"b":2.5,"c":4}]') -
}

@test "query: a call contains the calls it made, and what they consumed" {
	query "SELECT count(*) AS bad FROM calls c JOIN calls p ON p.id = c.parent
		WHERE c.time < p.time OR c.time + c.duration > p.time + p.duration OR c.level <> p.level + 1" >answer
	[ "$(jq .rows[0].bad answer)" -eq 0 ]
	query "SELECT count(*) AS bad FROM calls p WHERE p.cum <> p.base +
		(SELECT coalesce(sum(c.cum), 0) FROM calls c WHERE c.parent = p.id)" >answer
	[ "$(jq .rows[0].bad answer)" -eq 0 ]
}

@test "query: dispatches are those of --threads and --sched" {
	answer "Which threads waited longest"
	report --threads --sort wait
	same '[.rows[] | [.name, .tid, .cpu, .runnable, .max_wait]]' \
		'[.threads[] | select(.runnable_ns > 0) | [.name, .tid, .cpu_ns, .runnable_ns, .wait_max_ns]] |
			sort_by(-.[3], .[1])[:5]'
	answer "Why did threads lose the CPU"
	report --sched
	same '[.rows[] | [.name, .state, .times]] | sort' \
		'[[.lines[] | select(.kind == "dispatch" and .out.tid > 0)] | group_by(.out.tid, .state)[] |
			[.[0].out.name, .[0].state, length]] | sort'
}

@test "query: metrics of calls stand beside each other" {
	answer "Which methods waited rather"
	report --xprof
	same '[.rows[] | [.name, .cpu, .wall]] | sort' \
		'[.rows[] | select((.kind | startswith("java")) and .base[1] > 0) | [.name, .base[0], .base[1]]] | sort'
}

@test "query: xprof and arcs are the reports' of every stored trace" {
	for trace in "$TOP"/t/data/*/trace; do
		events=$trace
		report --xprof || continue
		query 'SELECT name, n, base, cum, cum_recursive FROM xprof' >answer
		jq -c '[.rows[] | [.name, .n, .base, .cum, .cum_recursive]] | sort' answer >got
		jq -c '[.rows[] | [.name, .n, .base[0], .cum[0], .cum_recursive[0]]] | sort' report | diff - got
		report --xarc
		query 'SELECT * FROM arcs' >answer
		jq -c '[.rows[] | [.name, .row, .other_name, .n, .base, .cum]] | sort' answer >got
		jq -c 'def rows($k; $r): .name as $f | (.[$k] // [])[] |
				[$f, $r, (if .name == "[root]" then null else .name end), .n, .base[0], .cum[0]];
			def one($k; $r): .name as $f | .[$k] | select(. != null) | [$f, $r, null, .n, .base[0], .cum[0]];
			[.stanzas[] | one("self"; "self"), one("rself"; "rself"), rows("parents"; "parent"),
				rows("children"; "child"), rows("rparents"; "rparent"), rows("rchildren"; "rchild")] | sort' report |
			diff - got
	done
}

@test "query: identifiers and ranges find the rows that a search of all finds" {
	for where in 'id = 7' 'id > 3 AND id <= 9' 'function = 5' 'parent = 2' 'id BETWEEN 2.5 AND 6.5' \
		"id < 'x'" 'id = NULL' 'id < -1' 'id > -1' 'id = 1e30' 'id <= 1e30' 'id IN (1, 3, 300000)' 'function < 4'; do
		query "SELECT id FROM nodes WHERE $where ORDER BY id" | jq -c .rows >got
		query "SELECT id FROM nodes WHERE $(sed -E 's/\b(id|function|parent)\b/+\1/g' <<<"$where") ORDER BY +id" |
			jq -c .rows >expected
		diff expected got || { echo "$where"; return 1; }
	done
	for order in 'function' 'function DESC' 'id DESC' 'parent'; do
		query "SELECT $order FROM nodes ORDER BY $order" 2>/dev/null | jq -c '[.rows[][]]' >got ||
			query "SELECT ${order% *} AS v FROM nodes ORDER BY $order" | jq -c '[.rows[][]]' >got
		query "SELECT +${order% *} AS v FROM nodes ORDER BY +$order" | jq -c '[.rows[][]]' | diff - got
	done
	query 'SELECT time FROM samples WHERE time > 50000000 AND time < 90000000 ORDER BY time DESC' | jq -c .rows >got
	query 'SELECT time FROM samples WHERE +time > 50000000 AND +time < 90000000 ORDER BY +time DESC' | jq -c .rows |
		diff - got
}

@test "query: rows of one value in a small table are in the order that is asked for" {
	printf 'main;a 1\nmain;b 3\nmain;c 2\n' >folded
	arcprof query -q --import folded --format csv \
		'SELECT name FROM nodes WHERE parent = 0 ORDER BY base' | tail -n +2 | xargs >got
	[ "$(cat got)" = "a c b" ]
}

@test "query: a name is looked for first, and what is below it once for each" {
	query -i "$TOP/t/data/java/trace" "EXPLAIN QUERY PLAN SELECT f.module, sum(n.base) FROM nodes b
		JOIN nodes n ON n.id BETWEEN b.id AND b.last JOIN functions f ON f.id = n.function
		WHERE b.name = 'main' GROUP BY 1" | jq -r '.rows[].detail' >plan
	[[ $(head -1 plan) == 'SCAN b '* ]] || { cat plan; return 1; }
}

@test "query: a limit is loud" {
	query --limit 3 'SELECT id FROM nodes' >answer
	jq -e '.truncated and .not_shown > 3 and (.rows | length) == 3' answer
	run_arcprof query -i "$events" --limit 3 'SELECT id FROM nodes'
	[ "$status" -eq 0 ]
	[[ $stderr == *"3 of "*" rows are shown"* ]]
	query 'SELECT 1 AS a, 2 AS a, 3 AS a' >answer
	jq -c .rows answer | diff <(echo '[{"a":1,"a:1":2,"a:2":3}]') -
}

@test "query: a table of what was not recorded is empty and says so" {
	run_arcprof query -i "$TOP/t/data/mixed/trace" 'SELECT count(*) FROM calls, dispatches'
	[ "$status" -eq 0 ]
	[[ $stderr == *"calls is empty: the trace has no events: record it with --calltrace"* ]]
	[[ $stderr == *"dispatches is empty: "* ]]
}

@test "query: SQL can read, and do nothing else" {
	for sql in "ATTACH 'x.db' AS x" "CREATE TABLE t(a)" "CREATE TEMP TABLE t(a)" "INSERT INTO nodes VALUES(1)" \
		"DELETE FROM nodes" "UPDATE nodes SET n = 1" "DROP TABLE nodes" "PRAGMA query_only = 0" \
		"PRAGMA temp_store_directory = '.'" "PRAGMA hard_heap_limit = 0" "VACUUM INTO 'x.db'" "BEGIN" \
		"CREATE VIRTUAL TABLE t USING fts5(a)" "SELECT load_extension('x')" "SELECT writefile('x.db', 'y')" \
		"SELECT readfile('/etc/passwd')" "SELECT fts3_tokenizer('simple')" "REINDEX" "ANALYZE" \
		"WITH a AS (SELECT 1) DELETE FROM nodes" "SELECT * FROM pragma_database_list"; do
		run_arcprof query -i "$events" "$sql"
		[ "$status" -eq 1 ]
		[ -n "$stderr" ]
		[ "$(grep -c '^arcprof query: ' <<<"$stderr")" -ge 1 ]
		[ -z "$(find . -name '*.db*')" ]
	done
	if command -v strace >/dev/null; then
		strace -f -e trace=openat,open,creat,unlink,socket -o calls "$ARCPROF" query -q -i "$events" \
			'SELECT f.name, count(*) FROM nodes a JOIN functions f ON f.id = a.function GROUP BY 1 ORDER BY 2' >/dev/null
		! grep -vE "$events|/proc|/sys|/dev/null|locale|ENOENT|exited|SIG" calls || false
	fi
}

@test "query: too long and too large ends in one line" {
	run_arcprof query -i "$events" --timeout 300ms \
		'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) FROM c'
	[ "$status" -eq 1 ]
	[[ $stderr == *"the query takes longer than 0.3 s"* ]]
	run_arcprof query -i "$events" --timeout 300ms 'SELECT count(*) FROM nodes, nodes, nodes, nodes'
	[[ $stderr == *"the query takes longer than"* || $stderr == *"ambiguous"* ]]
	run_arcprof query -i "$events" --memory 8M \
		'WITH RECURSIVE c(x) AS (SELECT 1 UNION SELECT x + 1 FROM c) SELECT max(x) FROM c'
	[ "$status" -eq 1 ]
	[[ $stderr == *"more than 8 MiB of memory"* ]]
	run_arcprof query -i "$events" --memory 16K 'SELECT 1'
	[ "$status" -eq 1 ]
	run_arcprof query -i "$events" --memory 1M 'SELECT count(*) FROM calls'
	[ "$status" -eq 1 ]
	[[ $stderr == *"1 MiB of memory"* ]]
	run_arcprof query -i "$events" 'SELECT zeroblob(2000000000)'
	[ "$status" -eq 1 ]
	run_arcprof query -i "$events" "SELECT $(printf '(%.0s' {1..5000})1$(printf ')%.0s' {1..5000})"
	[ "$status" -eq 1 ]
	[[ $stderr == *"parser stack overflow"* || $stderr == *"depth"* ]]
}

@test "query: an error in the SQL is one line, with a hint" {
	run_arcprof query -i "$events" 'SELEC 1'
	[ "$status" -eq 1 ]
	[[ $stderr == *"syntax error"* ]]
	run_arcprof query -i "$events" 'SELECT nam FROM xprof'
	[[ $stderr == *"no such column: nam"*"hint: "*".schema"* ]]
	run_arcprof query -i "$events" 'SELECT * FROM node'
	[[ $stderr == *"no such table: node"*"hint: "*".tables"* ]]
	run_arcprof query -i "$events" 'SELECT 1; SELECT 2'
	[[ $stderr == *"more than one statement"* ]]
	run_arcprof query -i "$events" ' ; -- nothing'
	[[ $stderr == *"no SQL statement"* ]]
	run_arcprof query SELECT 1
	[ "$status" -eq 2 ]
	[[ $stderr == *"put it in quotes"* ]]
	run_arcprof query .schema
	[ "$status" -eq 0 ]
	run_arcprof query '.schema nothing'
	[ "$status" -eq 1 ]
}

@test "query: every column of every table can be read, in every trace" {
	tables=$(arcprof query .tables | cut -d ' ' -f 1)
	for table in $tables; do
		arcprof query ".schema $table" | awk -v table="$table" 'NR > 1 { print table ": " $1 }'
	done >want
	for trace in "$TOP"/t/data/*/trace; do
		for table in $tables; do
			arcprof query -q -i "$trace" --format csv "SELECT * FROM $table" >rows 2>>errors || [ $? -eq 1 ]
			read -r columns <rows
			printf "$table: %s\n" ${columns//,/ }
		done | sed -E '/: (n|base|cum|cum_recursive)[2-8]$/d' | diff want -
	done
	! grep -v 'empty\|lost\|no end\|damaged' errors || false
}

@test "query: SQL from a file and from standard input" {
	echo 'SELECT count(*) AS n FROM nodes; -- all' >file.sql
	arcprof query -i "$events" --sql file.sql >one
	arcprof query -i "$events" --sql - <file.sql >two
	arcprof query -i "$events" 'SELECT count(*) AS n FROM nodes' | diff - one
	diff one two
	run_arcprof query --sql file.sql 'SELECT 1'
	[ "$status" -eq 2 ]
}

@test "query: names are foreign text" {
	run_arcprof query -i "$events" "SELECT char(27) || '[2J' AS \"a$(printf '\033')b\", char(65, 0, 66) AS z"
	[ "$status" -eq 0 ]
	[[ $output == *'\x1b[2J'* ]]
	[[ $output == *"X'410042'"* ]]
	! grep -q "$(printf '\033')" <<<"$output" || false
	run_arcprof query -i "$events" --format csv "SELECT '=1+1' AS a"
	[[ $output == *"'=1+1"* ]]
}

@test "query: with several traces each table has the rows of all, and says whose they are" {
	printf 'main;a;b 5\nmain;a 2\n' >a.folded
	printf 'main;b 4\nmain;a;b 1\n' >b.folded
	ask() {
		arcprof query -q a.folded b.folded --format csv "$1" | tail -n +2
	}
	for table in functions nodes xprof arcs samples stacks frames processes threads modules metrics labels; do
		for file in a b; do
			arcprof query -q --import $file.folded --format csv "SELECT trace, * FROM $table" | tail -n +2
		done >want
		ask "SELECT * FROM $table" | diff want -
	done
	# a name or a number finds the rows of the trace that is wanted, and of all where none is
	[ "$(ask "SELECT name, sum(base) FROM xprof WHERE name = 'b' AND trace = 'b.folded'")" = b,5 ]
	[ "$(ask "SELECT count(*), count(DISTINCT trace) FROM functions WHERE id = 1")" = 2,2 ]
	[ "$(ask "SELECT group_concat(total) FROM metrics WHERE id = 1 AND trace = 'b.folded'")" = 5 ]
	[ "$(ask "SELECT count(*) FROM functions WHERE trace = 'c' OR trace = 1 OR trace IS NULL")" = 0 ]
	[ "$(ask "SELECT sum(s.weight) FROM samples s JOIN nodes n ON n.id = s.node AND n.trace = s.trace
		WHERE n.name = 'b'")" = 10 ]
	[ "$(ask "SELECT group_concat(id) FROM (SELECT id FROM nodes ORDER BY id DESC, trace)")" = 2,2,1,1,0,0 ] ||
		ask "SELECT id, trace FROM nodes ORDER BY id DESC"
	[ "$(ask "SELECT a.base || ' ' || b.base FROM xprof a JOIN xprof b USING (name)
		WHERE a.trace < b.trace AND name = 'b'")" = '5 5' ]
	arcprof query -q a.folded b.folded --format json 'SELECT count(*) FROM nodes' | jq -c '[.sources[].trace]' >got
	[ "$(cat got)" = '["a.folded","b.folded"]' ]
	# what cannot be put side by side is refused
	run_arcprof query a.folded "$events" 'SELECT * FROM xprof'
	[ "$status" -eq 1 ]
	[[ $stderr == *"a.folded has the metrics samples"*"--metric chooses those that all have"* ]]
	run_arcprof query a.folded a.folded 'SELECT 1'
	[[ $status -eq 2 && $stderr == *"given twice: a.folded"* ]]
	run_arcprof query -i "$events" a.folded 'SELECT 1'
	[[ $status -eq 2 && $stderr == *"cannot be combined: --input"* ]]
	run_arcprof query a.folded b.folded
	[[ $status -eq 0 && $output == *"arcprof query a.folded b.folded 'SELECT trace, "* ]]
}

@test "query: profiles of other programs have the same tables" {
	printf 'main;a;b 5\nmain;a 2\nmain;a;a 3\n' >folded
	arcprof query -q --import folded --format csv \
		"SELECT name, n, base, cum FROM xprof WHERE kind NOT IN ('process', 'thread') ORDER BY name" >got
	diff got - <<-'E'
		name,n,base,cum
		a,5,5,10
		b,5,5,5
		main,0,0,10
	E
	arcprof query -q --import folded --format csv "SELECT DISTINCT kind FROM frames ORDER BY kind" >got
	printf 'kind\nmark\nnamed\n' | diff got -
}

@test "report: rows that a limit leaves out are counted in JSON" {
	cases=("xarc stanzas" "xtree nodes" "xprof rows" "rt rows" "threads threads" "sched lines")
	for c in "${cases[@]}"; do
		read -r name rows <<<"$c"
		report "--$name" && all=$(jq ".$rows | length" report)
		jq -e '.truncated == false and .not_shown == 0' report
		report "--$name" --limit 2
		jq -e --argjson all "$all" ".truncated and .not_shown + 2 == \$all and (.$rows | length) == 2" report ||
			{ jq '{truncated, not_shown}' report; echo "$name $all"; return 1; }
	done
	arcprof report -q -i "$TOP/t/data/branches/trace" --arc --format json >whole
	arcprof report -q -i "$TOP/t/data/branches/trace" --arc --format json --limit 2 >cut
	[ "$(jq .not_shown cut)" -eq $(($(jq .shown.rows whole) - 2)) ]
	arcprof report -q -i "$TOP/t/data/java/trace" --annotate 'Seed.*' --format json --limit 1 | jq -e '.not_shown > 1'
}
