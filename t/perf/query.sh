#!/bin/bash
# How fast queries are: a synthetic trace with 1.43 million contexts and 2.2 million samples.  Times are those of
# the CPU, without reading the trace, which takes a multiple of them: a query that can be asked again and again in
# one statement is, 20 times, and the time of once more is shown.  Tables that arcprof makes when it is first asked
# are compared with a query of one function alone, by turns.
# usage: query.sh
cd "$(dirname "$0")/../.." || exit 1
bin=$PWD/build/arcprof
gen=$PWD/build/t/perf/trace-gen
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
make -s build/arcprof build/t/perf/trace-gen >/dev/null || exit 1
"$gen" --samples 2200000 --stacks 310000 --depth 6 --compress "$dir/big.data" 2>/dev/null

# cpu <sql>: milliseconds
cpu() {
	{ TIMEFORMAT='%U %S'; time "$bin" query -q -i "$dir/big.data" "$1" >/dev/null; } 2>&1 |
		awk '{ print ($1 + $2) * 1000 }'
}

# repeated <sql> <times>
repeated() {
	for _ in $(seq "$2"); do
		echo "SELECT * FROM ($1)"
	done | paste -sd, | sed 's/,SELECT/ UNION ALL SELECT/g'
}

# compare <sql> <sql> <runs of the second more than of the first>: milliseconds, of the least of five of each
compare() {
	for _ in 1 2 3 4 5; do
		echo "$(cpu "$1") $(cpu "$2")"
	done | awk -v by="$3" '{ if (!n || $1 < a) a = $1; if (!n++ || $2 < b) b = $2 } END { print (b - a) / by }'
}

show() {	# <what> <budget in ms> <ms>
	printf '%-28s %6.0f ms (budget %d ms)\n' "$1" "$3" "$2"
}

ask() {		# <what> <budget in ms> <sql>
	show "$1" "$2" "$(compare "$(repeated "$3" 1)" "$(repeated "$3" 21)" 20)"
}

make_table() {	# <what> <budget in ms> <sql>
	show "$1" "$2" "$(compare 'SELECT * FROM functions WHERE id = 1' "$3" 1)"
}

ask 'full scan' 50 'SELECT count(*) FROM nodes'
ask 'sum of all nodes' 200 'SELECT sum(base) FROM nodes'
ask 'GROUP BY function' 1500 'SELECT function, sum(base) FROM nodes GROUP BY function ORDER BY 2 DESC LIMIT 20'
ask 'joined with names' 2500 'SELECT f.name, sum(n.base) FROM nodes n JOIN functions f ON f.id = n.function
	GROUP BY f.name ORDER BY 2 DESC LIMIT 20'
make_table 'xprof' 300 'SELECT * FROM xprof ORDER BY base DESC LIMIT 20'
make_table 'arcs' 300 "SELECT * FROM arcs WHERE function = 11 AND row = 'parent'"
ask 'subtree' 300 'SELECT count(*), sum(base) FROM nodes WHERE id BETWEEN 1000 AND 700000'
ask 'samples by second' 1500 'SELECT time / 1000000000 AS s, count(*) FROM samples GROUP BY s'
ask 'a range of time' 200 'SELECT count(*) FROM samples WHERE time BETWEEN 1000000000 AND 2000000000'
