#!/usr/bin/env bats
# bats file_tags=stored
load ../lib
load ../fleet/clickhouse

DATA=$TOP/t/data
JAVA=$DATA/java/trace
MIXED=$DATA/mixed/trace
CALLS=$DATA/calls/trace

teardown() {
	stop_servers
}

# Sum of a column of nodes.tsv.gz, of the rows of a metric.
column_sum() {
	zcat "$1" | awk -F'\t' -v of="$2" -v metric="$3" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["metric"] == metric { sum += $at[of] }
		END { printf "%.0f", sum }'
}

@test "export: n and base of the rows add up to those of the report" {
	local metric report
	for metric in "$JAVA cpu-clock" "$CALLS cpu" "$CALLS bytes"; do
		# shellcheck disable=SC2086
		set -- $metric
		arcprof report "$1" --metric "$2" --xprof --format json >report 2>/dev/null || continue
		arcprof export -q --table tables "$1"
		[ "$(column_sum tables/nodes.tsv.gz base "$2")" -eq "$(jq '.metrics[0].total' report)" ]
		[ "$(column_sum tables/nodes.tsv.gz n "$2")" -eq "$(jq '.sources[0].n' report)" ]
	done
	[ -e tables/nodes.tsv.gz ]
}

@test "export: rows of several traces are those of each, and equal contexts have equal paths" {
	arcprof export -q --table a "$JAVA"
	arcprof export -q --table both "$JAVA" "$MIXED"
	arcprof export -q --table b.gz "$MIXED"
	{ zcat a/nodes.tsv.gz; zcat b.gz | tail -n +2; } | cmp - <(zcat both/nodes.tsv.gz)
	# a trace merged with itself: each value doubled, all names and numbers as they were
	arcprof merge -q "$JAVA" "$JAVA" -o twice
	arcprof export -q --table twice.d twice
	zcat a/nodes.tsv.gz | awk -F'\t' -v OFS='\t' 'NR > 1 { $21 *= 2; $22 *= 2; $23 *= 2; $2 = 0 } 1' | sort >want
	zcat twice.d/nodes.tsv.gz | awk -F'\t' -v OFS='\t' 'NR > 1 { $2 = 0 } 1' | sort | diff want -
	cmp <(zcat a/names.tsv.gz | sort) <(zcat twice.d/names.tsv.gz | sort)
}

@test "export: nodes go to standard output, names to the file that is given" {
	arcprof export -q --table - --names names.gz "$MIXED" >nodes.gz
	arcprof export -q --table dir "$MIXED"
	cmp <(zcat nodes.gz) <(zcat dir/nodes.tsv.gz)
	cmp <(zcat names.gz) <(zcat dir/names.tsv.gz)
}

@test "export: errors are reported, and leave no table" {
	run_arcprof export "$MIXED"
	[ "$status" -eq 2 ]
	[[ $stderr == *"one of --table, --schema, --queries and --roll-up"* ]]
	run_arcprof export --table dir
	[ "$status" -eq 2 ]
	[[ $stderr == *"no traces to export"* ]]
	run_arcprof export --schema oracle
	[ "$status" -eq 2 ]
	[[ $stderr == *"clickhouse, duckdb"* ]]
	run_arcprof export --table dir "$MIXED" /nonexistent
	[ "$status" -eq 1 ]
	[[ $stderr == *"/nonexistent"* ]]
	[ ! -e dir/nodes.tsv.gz ]
	[ ! -e dir/names.tsv.gz ]
}

@test "export: two servers of ClickHouse have every number of arcprof's own merge" {
	skip_unless_clickhouse
	local all=(of_metric=cpu-clock "of_service=%" "of_version=%") traces=("$JAVA" "$MIXED" "$DATA/sources/trace")
	local n table function tcp
	read -r -a tcp < <(free_ports 2)
	[ -e "${traces[2]}" ] || unset 'traces[2]'
	for n in 1 2; do
		configure_server "$n" "${tcp[@]}"
		start_server "$n"
		# the tables as they are, and those that are Distributed over both servers
		arcprof fleet create -q "$(cat "server$n/url")"
		# Tables that are Distributed need settings.
		echo "$(cat "server$n/url")?allow_experimental_low_cardinality_type=1&insert_distributed_sync=1&distributed_product_mode=global" >"server$n/url"
		ask "$n" "DROP TABLE hours_of_nodes"
		ask "$n" "DROP TABLE days_of_nodes"
		for table in nodes names; do
			ask "$n" "RENAME TABLE $table TO ${table}_local"
		done
		ask "$n" "CREATE TABLE nodes AS nodes_local ENGINE = Distributed(fleet, default, nodes_local, trace)"
		ask "$n" "CREATE TABLE names AS names_local ENGINE = Distributed(fleet, default, names_local, func)"
	done
	for table in "${traces[@]}"; do
		arcprof export -q --table tables "$table"
		for n in nodes names; do
			curl -sS --fail-with-body -H 'Content-Encoding: gzip' --data-binary "@tables/$n.tsv.gz" \
				"$(cat server1/url)&query=INSERT+INTO+$n+FORMAT+TabSeparatedWithNames"
		done
	done
	# the server computes the numbers of all functions and contexts
	[ "$(ask 1 "SELECT countIf(func != toInt64(sipHash64(concat(kind, '\\0', module, '\\0', name, '\\0', detail, '\\0')))) FROM names")" -eq 0 ]
	[ "$(ask 2 "SELECT countIf(path != toInt64(sipHash64(concat(toFixedString(reinterpretAsString(parent), 8),
		toFixedString(reinterpretAsString(func), 8))))) FROM nodes")" -eq 0 ]
	[ -z "$(ask 2 "$(view collisions)")" ]
	arcprof merge -q "${traces[@]}" -o all.data
	arcprof report all.data --metric cpu-clock --xprof --format json >xprof.json
	arcprof report all.data --metric cpu-clock --xarc --format json >xarc.json
	ask 2 "SELECT name, n, base, cum, cum_recursive FROM ($(view xprof "${all[@]}"))" >answer
	"$TOP/t/fleet/compare" xprof xprof.json answer
	view stanza "${all[@]}" >query
	"$TOP/t/fleet/compare" stanzas xarc.json "$(cat server1/url)" query 8
	# and its tree, read back
	{ printf '# nodes\n# n samples\n# metric cpu-clock ns\n'; ask 2 "$(view tree "${all[@]}")"; } >tree
	arcprof report --tree tree --check >/dev/null
	arcprof report --tree tree --xprof --format json |
		jq -r '.rows[] | [.name, .n, .base[0], .cum[0], .cum_recursive[0]] | @tsv' >answer
	"$TOP/t/fleet/compare" xprof xprof.json answer
}

@test "export: DuckDB's tables are made before they are filled" {
	arcprof export --schema duckdb >schema
	awk '/INSERT/ { last = NR } /^CREATE TABLE/ { table = NR } END { exit !(table && last > table) }' schema
}

@test "export: DuckDB adds up hours and days, exactly, once, and keeps them when recordings go" {
	node -e 'require("@duckdb/node-api")' 2>/dev/null ||
		skip "DuckDB is not installed (npm install @duckdb/node-api, and NODE_PATH)"
	local up sums days='SELECT * EXCLUDE (trace, host, pid, tid, t, n, base, cum), t // 86400 * 86400 AS t, sum(n), sum(base),
		sum(cum) FROM nodes GROUP BY ALL'
	up=$(arcprof export --roll-up duckdb)
	arcprof export -q --table tables "$JAVA" "$MIXED"
	# without the counts that statements answer
	duckdb() {
		node "$TOP/t/fleet/duckdb.cjs" "$ARCPROF" "$TOP/Documentation/arcprof-export.adoc" tables "$@" | grep -v '^[0-9]*$'
	}
	sums="SELECT metric, sum(n), sum(base), sum(cum), count() FROM days GROUP BY metric ORDER BY metric"
	duckdb "SELECT metric, sum(n), sum(base), sum(cum) FROM nodes GROUP BY metric ORDER BY metric" >want
	# one recording after the other, one of them twice, and one that shares its hour and day with another
	duckdb "CREATE TABLE all_nodes AS FROM nodes" "DELETE FROM nodes WHERE trace <> (SELECT min(trace) FROM all_nodes)" "$up" \
		"$up" "INSERT INTO nodes FROM all_nodes WHERE trace <> (SELECT min(trace) FROM all_nodes)" "$up" "$sums" >twice
	duckdb "$up" "$sums" >once
	diff once twice
	cut -f 1-4 once | diff want -
	duckdb "$up" "SELECT 'hours', count(), sum(cum) FROM hours" "SELECT 'nodes', count(), sum(cum) FROM nodes" \
		"SELECT 'left', count() FROM (FROM days EXCEPT ALL SELECT t, * EXCLUDE (t) FROM ($days))" >got
	grep -qx 'left	0' got
	duckdb "FROM xprof('cpu-clock')" | sort >want
	duckdb "$up" "DELETE FROM nodes" "FROM xprof('cpu-clock', of_table := 'days')" | sort | diff want -
	duckdb "$up" "INSERT INTO nodes SELECT * REPLACE (trace + 1 AS trace) FROM nodes" "$up" "$sums" |
		cut -f 1-4 | awk -F'\t' '{ printf "%s\t%.0f\t%.0f\t%.0f\n", $1, $2 / 2, $3 / 2, $4 / 2 }' >half
	cut -f 1-4 once | diff - half
	[ "$(arcprof export --roll-up duckdb | grep -c 'BEGIN TRANSACTION')" -eq 1 ]
	run_arcprof export --roll-up clickhouse
	[ "$status" -eq 2 ]
	[[ $stderr == *"clickhouse adds up hours and days itself"* ]]
}

@test "export: DuckDB's hours and days are exact around midnight, and of what is inserted again" {
	node -e 'require("@duckdb/node-api")' 2>/dev/null ||
		skip "DuckDB is not installed (npm install @duckdb/node-api, and NODE_PATH)"
	local up unit table
	up=$(arcprof export --roll-up duckdb)
	around_midnight new
	arcprof export -q --table tables new/*.otlp
	zcat tables/nodes.tsv.gz | tail -n +2 >rows.tsv
	for table in hours days; do
		[ $table = hours ] && unit=3600 || unit=86400
		# half of them first, and these once more with the others
		node "$TOP/t/fleet/duckdb.cjs" "$ARCPROF" "$TOP/Documentation/arcprof-export.adoc" tables \
			"CREATE TABLE all_nodes AS FROM nodes" "DELETE FROM nodes WHERE t % 2 = 0" "$up" \
			"INSERT INTO nodes FROM all_nodes" "$up" "$up" "$(sums_of $table)" |
			grep -v '^[0-9]*$' | LC_ALL=C sort | diff <(added_up $unit rows.tsv) -
	done
}

@test "export: DuckDB has every number of arcprof's own merge" {
	node -e 'require("@duckdb/node-api")' 2>/dev/null ||
		skip "DuckDB is not installed (npm install @duckdb/node-api, and NODE_PATH)"
	local traces=("$JAVA" "$MIXED")
	arcprof export -q --table tables "${traces[@]}"
	arcprof merge -q "${traces[@]}" -o all.data
	arcprof report all.data --metric cpu-clock --xprof --format json >xprof.json
	duckdb() { node "$TOP/t/fleet/duckdb.cjs" "$ARCPROF" "$TOP/Documentation/arcprof-export.adoc" tables "$1"; }
	duckdb "SELECT name, n, base, cum, cum_recursive FROM xprof('cpu-clock')" >answer
	"$TOP/t/fleet/compare" xprof xprof.json answer
	{ printf '# nodes\n# n samples\n# metric cpu-clock ns\n'; duckdb "SELECT * FROM tree('cpu-clock')"; } >tree
	arcprof report --tree tree --xprof --format json |
		jq -r '.rows[] | [.name, .n, .base[0], .cum[0], .cum_recursive[0]] | @tsv' >answer
	"$TOP/t/fleet/compare" xprof xprof.json answer
	[ "$(duckdb "SELECT what, n, base, cum FROM stanza('Seed.fib', 'cpu-clock') WHERE what LIKE '%Self'" | sort)" = \
		"$(arcprof report all.data --xarc --format json | jq -r '.stanzas[] | select(.name == "Seed.fib") |
			["Self", .self.n, .self.base[0], .self.cum[0]],
			["rSelf", .rself.n, .rself.base[0], .rself.cum[0]] | @tsv')" ]
	[ -z "$(duckdb 'SELECT * FROM collisions()')" ]
	[ "$(duckdb "SELECT round(sum(share_b), 9) FROM diff('none', '%', 'cpu-clock')")" = 1 ]
}
