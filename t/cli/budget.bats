#!/usr/bin/env bats
# bats file_tags=stored
load ../lib

TREE=$TOP/t/data/sources/tree
HOWTO=$TOP/Documentation/howto/hold-a-budget-in-ci.adoc

# limits <line>...: a file of them
limits() {
	printf '%s\n' "$@" >limits
}

# The n-th block of that language in the how-to.
block() {
	awk -v want="[source,$1]" -v nr="$2" '
		inside && $0 == "----" { exit }
		inside { print }
		found && $0 == "----" { inside = 1 }
		$0 == want && ++n == nr { found = 1 }' "$HOWTO"
}

@test "budget: a violated limit is one line with the value, and status 1" {
	limits '# shares' 'parse base cpu <= 30%' 'parse2 base cpu <= 50 %	# too much'
	run_arcprof budget -f limits --tree "$TREE"
	[ "$status" -eq 1 ]
	[ "$output" = "limits:3: violated: parse2 base cpu is 60 %, limit <= 50 %
2 limits: 1 kept, 1 violated" ]
	[ -z "$stderr" ]
	limits 'parse base cpu <= 30%' 'parse n = 20' 'parse n <= 20 per run'
	run_arcprof budget -f limits --tree "$TREE"
	[ "$status" -eq 0 ]
	[ "$output" = "3 limits: 3 kept" ]
	[ "$(arcprof budget -f limits --tree "$TREE" --all | grep -c ': kept: ')" -eq 3 ]
}

@test "budget: what cannot be judged is an error, and never passes" {
	limits 'gone.* n <= 3' 'parse n <= 3 per gone' 'parse base alloc <= 3' 'parse base cpu <= 3B'
	run_arcprof budget -f limits --tree "$TREE"
	[ "$status" -eq 1 ]
	[[ $output == *"limits:1: error: gone.* n: no function of the trace matches 'gone.*'"* ]]
	[[ $output == *"limits:2: error: "*"'gone'"* ]]
	[[ $output == *"limits:3: error: "*"no metric 'alloc'"* ]]
	[[ $output == *"limits:4: error: "*"measured in us"* ]]
	[[ $output == *"4 limits: 0 kept, 4 errors" ]]
}

@test "budget: a sampled value that is not certain passes, unless --strict" {
	limits 'read base cpu-clock <= 30%'
	run_arcprof budget -f limits --tree "$TREE"
	[ "$status" -eq 0 ]
	[[ $output == "limits:1: not decided: read base cpu-clock is 38.89 % (29.47 to 49.22), limit <= 30 %"* ]]
	run_arcprof budget -f limits --tree "$TREE" --strict
	[ "$status" -eq 1 ]
}

@test "budget: wrong options and wrong limits are usage errors that name the line" {
	run_arcprof budget --tree "$TREE"
	[ "$status" -eq 2 ]
	[[ $stderr == *"--file is missing"* ]]
	limits 'parse n <= 3' 'parse is small'
	run_arcprof budget -f limits --tree "$TREE"
	[ "$status" -eq 2 ]
	[ "$stderr" = "arcprof budget: limits: line 2: expected base, cum or n, not 'is'" ]
	run_arcprof budget -f nosuch --tree "$TREE"
	[ "$status" -eq 2 ]
	: >limits
	run_arcprof budget -f limits --tree "$TREE"
	[ "$status" -eq 2 ]
	[[ $stderr == *"it has no limits"* ]]
}

@test "budget: a trace that lacks a metric, or is none, fails" {
	limits 'demo.* base alloc <= 3KiB'
	run_arcprof budget -f limits "$TOP/t/data/mixed/trace"
	[ "$status" -eq 1 ]
	[[ $stderr == *"unknown metric 'alloc'"* ]]
	run_arcprof budget -f limits limits
	[ "$status" -eq 1 ]
	[ -z "$output" ]
}

@test "budget: cpu is the metric of whichever clock took the samples" {
	limits '[total] base cpu > 1 ms' '[total] base cpu < 1 ns'
	run_arcprof budget -f limits --all "$TOP/t/data/java/trace"
	[ "$status" -eq 1 ]
	grep -q '^limits:1: kept: ' <<<"$output"
	grep -q '^limits:2: violated: ' <<<"$output"
}

@test "budget: JUnit's XML is read by an XML parser as the JSON says" {
	skip_unless_command python3
	limits 'parse base cpu <= 30%' 'parse2 base cpu <= 50%' 'read base cpu-clock <= 30%' '"<&\">" n <= 1' $'p\x01\xffq n < 1'
	for strict in '' --strict; do
		arcprof budget -f limits --tree "$TREE" $strict --format junit -o budget.xml || [ $? -eq 1 ]
		arcprof budget -f limits --tree "$TREE" $strict --format json >budget.json || [ $? -eq 1 ]
		python3 - $strict <<-'END'
			import json, sys
			import xml.etree.ElementTree as xml
			root = xml.parse('budget.xml').getroot()
			told = json.load(open('budget.json', errors='replace'))
			assert root.tag == 'testsuites' and [s.tag for s in root] == ['testsuite']
			suite, cases = root[0], root[0].findall('testcase')
			assert len(cases) == len(suite) == int(suite.get('tests')) == len(told['verdicts']) == 5
			kinds = {'kept': None, 'violated': 'failure', 'not decided': 'failure' if sys.argv[1:] else 'skipped', 'error': 'error'}
			for case, verdict in zip(cases, told['verdicts']):
			    assert [e.tag for e in case] == [k for k in [kinds[verdict['state']]] if k], verdict
			    assert case.get('classname') == 'limits'
			    if verdict['error'] and verdict['error'].isascii() and verdict['error'].isprintable():
			        assert verdict['error'] in case.find('error').get('message')
			for kind, attribute in ('failure', 'failures'), ('error', 'errors'), ('skipped', 'skipped'):
			    assert int(suite.get(attribute)) == len(suite.findall('.//' + kind))
			assert cases[0].get('name') == 'parse base cpu <= 30%' and cases[3].get('name') == r'"<&\">" n <= 1'
			assert not told['passed']
		END
	done
}

@test "budget: CSV has the numbers of JSON" {
	limits 'parse base cpu <= 30%' 'read base cpu-clock <= 30%' 'gone n < 1'
	arcprof budget -f limits --tree "$TREE" --format csv >csv || [ $? -eq 1 ]
	arcprof budget -f limits --tree "$TREE" --format json >json || [ $? -eq 1 ]
	awk -F, 'NR > 1 { print $1, $2, $4, $5, $7, $8, $9 }' csv >got
	jq -r '.verdicts[] | [.line, .state, .operator, .bound, .value, .low, .high] | map(. // "") | join(" ")' json | diff - got
}

@test "budget: the how-to for CI works, word by word" {
	skip_unless_java
	block java 1 >Shop.java
	block limits 1 >shop.limits
	block sh 1 >commands
	block sh 2 >>commands
	[ "$(wc -l <commands)" -eq 4 ]
	PATH="$(dirname "$ARCPROF"):$PATH" bash -e commands >out 2>&1 || { cat out; false; }
	grep -qx '3 limits: 3 kept' out
	grep -q '<testsuite .*tests="3" failures="0" errors="0"' budget.xml
	# and the change that it speaks of
	sed -i 's/item < 3/item < 4/' Shop.java
	rm budget.xml
	run_status=0
	PATH="$(dirname "$ARCPROF"):$PATH" bash -e commands >out 2>&1 || run_status=$?
	[ "$run_status" -eq 1 ]
	[ ! -e budget.xml ]
	sed -n '/^limits:\|^shop.limits:/,/^3 limits/p' "$HOWTO" | sed '/^----/d' >want
	grep -A 1 '^shop.limits:' out | diff want -
}

@test "budget: the profile of another program is judged, too" {
	arcprof report --import "$TOP/t/data/import/flamegraph.folded" --xprof --format json >report
	name=$(jq -r '.rows | max_by(.base[0]).name' report)
	metric=$(jq -r '.metrics[0].name' report)
	base=$(jq '.rows | max_by(.base[0]).base[0]' report)
	limits "\"$name\" base $metric <= $((3 * base))" "\"$name\" base $metric < $((base / 3))"
	run_arcprof budget -f limits --import "$TOP/t/data/import/flamegraph.folded"
	[ "$status" -eq 1 ]
	[[ $output == "limits:2: violated: "*"2 limits: 1 kept, 1 violated" ]]
	run_arcprof budget -f limits --import "$TOP/t/data/import/flamegraph.folded" --tree "$TREE"
	[ "$status" -eq 2 ]
	[ "$stderr" = "arcprof budget: cannot be combined: --import and --tree" ]
}

@test "budget: growth is compared with a baseline" {
	diff=$TOP/t/data/diff
	limits 'parse base samples grows <= 5 %' 'parse cum samples grows <= 900 % per total' '[total] base samples grows < 60 %'
	run_arcprof budget -f limits --baseline "$diff/before.folded" --import "$diff/after.folded" --all
	[ "$status" -eq 1 ]
	[[ $output == "limits:1: violated: parse base samples grows by "*"limits:2: kept: parse cum samples per total grows by "* ]]
	run_arcprof budget -f limits --import "$diff/after.folded"
	[ "$status" -eq 2 ]
	[[ $stderr == *"--baseline must say against what"* ]]
	limits 'parse base samples grows <= 5 ms'
	run_arcprof budget -f limits --baseline "$diff/before.folded" --import "$diff/after.folded"
	[ "$status" -eq 2 ]
	[[ $stderr == *"line 1: growth is limited in percent" ]]
	limits '[total] n grows = 0 %'		# counts are exact
	run_arcprof budget -f limits --baseline "$TOP/t/data/calls/trace" "$TOP/t/data/calls/trace" --all
	[ "$status" -eq 0 ]
	[[ $output == *"[total] n grows by 0 %, limit = 0 %"* ]]
}
