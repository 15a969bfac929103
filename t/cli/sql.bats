#!/usr/bin/env bats
# Statements of JDBC: a program that knows how many it executes, in a database in memory.
load ../lib
load ../java

H2=/usr/share/java/h2.jar

setup_file() {
	[ -e "$H2" ] || skip "libh2-java is not installed"
	prepare_jdks
}

# The statements of a recording: how many, in which method of the program's, and the text.
statements() {	# <file>
	arcprof report -q --metric "${2-sql}" --xtree --format json "$1" | jq -r '
		reduce .nodes[] as $n ({}; .[$n.id | tostring] = $n + {
			by: (if $n.name | startswith("Sql.") then $n.name else .[$n.parent | tostring].by end) }) |
		.[] | select(.base[0] > 0) | "\(.n) \(.by) \(.name)"' | LC_ALL=C sort -k 2
}

counted() {
	run_arcprof record -q -e sql -o sql.data -- java -cp "$CLASSES:$H2" Sql 10
	[ "$status" -eq 0 ] || { echo "$stderr"; return 1; }
	arcprof report --check sql.data >check || { cat check; return 1; }
	statements sql.data >got
	diff - got <<-'E'
		1 Sql.execute create table item(id int, text varchar(?))
		1 Sql.fails select nothing from nowhere
		1 Sql.main create alias inner_one for ?
		1 Sql.main shutdown
		1 Sql.prepared [batch]
		10 Sql.prepared select text from item where id in (?)
		1 Sql.prepared update item set text = ? where id = ?
		1 Sql.run COMMIT
		10 Sql.texts insert into item values (?)
		10 Sql.texts select * from item where id = ?
		1 Sql.texts select inner_one(?)
	E
	run grep -c secret sql.data
	[ "$output" = 0 ]
}

@test "sql: each statement is counted once, by its text without literals" {
	on_one_jdk newest counted
}
