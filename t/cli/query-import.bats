#!/usr/bin/env bats
# The command query over profiles of other programs: its totals are those of reports, and what a profile does not
# say is NULL.
# bats file_tags=stored
load ../lib

# equal FILE: rows and totals of the report, and the sum of the samples. Says how many samples there are.
equal() {
	arcprof report -q --import "$1" --xprof --format json 2>err | jq -c '([.rows[] | [.name, .base[0], .cum[0]]] | sort),
		.metrics[0].total' >want
	[ -s want ] || { cat err; return 1; }
	for sql in "SELECT name, base, cum FROM xprof" "SELECT total, (SELECT sum(weight) FROM samples WHERE metric = 1) AS sum,
		(SELECT sum(base) FROM nodes) AS tree, (SELECT count(*) FROM samples) AS n FROM metrics WHERE id = 1"; do
		arcprof query -q --import "$1" --format json "$sql" | jq -c .rows
	done >rows
	sed -n 1p rows | jq -c '[.[] | [.name, .base, .cum]] | sort' | diff <(sed -n 1p want) -
	jq -e --argjson total "$(sed -n 2p want)" '.[0] | .total == $total and .sum == $total and .tree == $total and .n > 0' \
		<<<"$(sed -n 2p rows)" >/dev/null || { echo "$1: $(cat want rows)"; return 1; }
}

@test "query: totals over an import of each kind are those of its reports" {
	local dir=$TOP/t/data/import file
	python3 "$dir/make-perf.py" >p.data
	python3 "$dir/make-pprof.py" p.pb.gz cpu --label 'endpoint=/cart'
	"$TOP/t/formats/jfr-async" >p.jfr
	for format in otlp firefox chrome callgrind speedscope; do
		arcprof report -q -i "$TOP/t/data/mixed/trace" --format $format -o p.$format
	done
	for file in p.data p.pb.gz p.jfr p.otlp p.firefox p.chrome p.callgrind p.speedscope "$dir"/flamegraph.folded \
		"$dir"/events.speedscope.json "$dir"/node* "$dir"/perf-script.txt.gz "$dir"/massif.out.xz "$dir"/dhat.json \
		"$dir"/heaptrack.zst "$dir"/gperftools.heap "$dir"/jstack.txt.gz "$dir"/threads.json.gz; do
		equal "$file"
	done
	# of what has no samples there are events
	[ "$(arcprof query -q --import "$dir/gc.log" --format csv "SELECT count(*) FROM log" | tail -n 1)" -eq \
		"$(arcprof report -q --import "$dir/gc.log" --log --format json | jq '.events | length')" ]
}

@test "query: values that a profile does not contain are NULL" {
	ask() {
		arcprof query -q --import "$1" --format csv "$2" | tail -n 1
	}
	# threads by name alone, and values without a number of samples
	[ "$(ask "$TOP/t/data/import/events.speedscope.json" 'SELECT count(*) > 0, count(pid), count(tid), count(java) FROM threads')" = 1,0,0,0 ]
	python3 "$TOP/t/data/import/make-pprof.py" p.pb.gz cpu
	[ "$(ask p.pb.gz 'SELECT count(*), count(n), count(base) FROM nodes')" = 2,0,2 ]
	[ "$(ask p.pb.gz 'SELECT n IS NULL, total FROM metrics')" = 1,5000 ]
	[ "$(ask p.pb.gz "SELECT count(*), count(address), count(line), count(file) FROM frames
		WHERE kind = 'named'")" = 2,0,0,0 ]
}
