#!/usr/bin/env bats
# bats file_tags=stored
load ../lib

DATA=$TOP/t/data
BEFORE=$DATA/diff/before.folded
AFTER=$DATA/diff/after.folded
CALLS=$DATA/calls/trace

@test "diff: two recordings are wanted" {
	run_arcprof diff "$BEFORE"
	[ "$status" -eq 2 ]
	[[ $stderr == *"expected two recordings"* ]]
	run_arcprof diff "$BEFORE" "$AFTER" "$AFTER"
	[ "$status" -eq 2 ]
}

@test "diff: the first line says what is compared, and how it is normalized" {
	run_arcprof diff "$BEFORE" "$AFTER"
	[ "$status" -eq 0 ]
	[[ ${output%%$'\n'*} == "Difference B - A of samples (base), scaled to runs of equal size;"* ]]
	run_arcprof diff "$CALLS" "$CALLS" --metric calls
	[[ ${output%%$'\n'*} == "Difference B - A of calls (base), not normalized; exact counts of one run each" ]]
	run_arcprof diff "$CALLS" "$CALLS" --per second --of cum
	[[ ${output%%$'\n'*} == *"(cum), per second; noise unknown: one run each" ]]
}

@test "diff: changes are marked, and --significant shows nothing else" {
	run_arcprof diff "$BEFORE" "$AFTER" --significant
	[[ $output == *" * parse"* ]]
	[[ $output != *render* ]]
	run_arcprof diff "$BEFORE" "$AFTER" --significant --xtree --of base
	[[ $output == *" * --- parse"* ]]
	[[ $output == *"   -- handle"* ]]
	[[ $output != *render* ]]
}

@test "diff: a renamed function is one row" {
	run_arcprof diff "$BEFORE" "$AFTER" --format json
	[ "$(json '.rows[] | select(.name == "collect") | .was')" = scan ]
	[ "$(json '[.rows[] | select(.name == "scan")] | length')" -eq 0 ]
}

@test "diff: a recording does not differ from itself" {
	for args in --xprof --xtree --xarc '--normalize none' '--of cum'; do
		# shellcheck disable=SC2086	# a list of words
		run_arcprof diff "$DATA/mixed/trace" "$DATA/mixed/trace" --format json --min-share 0 $args
		[ "$(json '[.rows[] | select(.delta != 0 or .changed)] | length')" -eq 0 ]
		[ "$(json .nr_changed)" -eq 0 ]
	done
}

@test "diff: the numbers are those of the reports" {
	arcprof report --import "$BEFORE" --xprof --format json |
		jq -r '.rows[] | select(.base[0] > 0) | "\(.name) \(.base[0]) \(.cum[0])"' | sort >report
	for of in base cum; do
		arcprof diff "$BEFORE" "$BEFORE" --format json --normalize none --of $of --min-share 0 >$of.json
	done
	jq -rs '.[1] as $cum | .[0].rows[] | .name as $n |
		"\(.name) \(.a) \($cum.rows[] | select(.name == $n) | .b)"' base.json cum.json | sort >diff
	diff report diff
	arcprof report -i "$CALLS" --xprof --format json | jq -r '.rows[] | select(.n > 0) | "\(.name) \(.n)"' |
		sort >report
	arcprof diff "$CALLS" "$CALLS" --metric calls --format json --min-share 0 |
		jq -r '.rows[] | "\(.name) \(.sum_b)"' | sort >diff
	diff report diff
}

@test "diff: JSON and CSV have the same rows" {
	for view in --xprof --xtree --xarc; do
		arcprof diff "$BEFORE" "$AFTER" $view --format csv | tail -n +2 >csv
		arcprof diff "$BEFORE" "$AFTER" $view --format json |
			jq -r '.rows[] | "\(.name) \(.sum_a) \(.sum_b) \(.changed)"' >json
		[ "$(wc -l <csv)" -eq "$(wc -l <json)" ]
	done
	for view in --xprof --xtree --xarc; do
		follows_columns q,a,name - diff "$BEFORE" "$AFTER" $view
	done
	[[ $(arcprof diff "$BEFORE" "$AFTER" --columns interval,function) == *" Units :: % (A, B), points (Delta), % (Change, Interval, Seen, Shares)"*" parse"* ]]
}

@test "diff: several runs of a side are compared by their spread" {
	for side in before after; do	# as samples make noise
		for i in 1 2 3; do
			awk -v i=$i '{ $NF = int($NF + sqrt($NF) * sin(3 * i + 5 * NR)); print }' \
				"$DATA/diff/$side.folded" >$side$i
		done
	done
	run_arcprof diff before1,before2,before3 after1,after2,after3
	[ "$status" -eq 0 ]
	[[ $output == *"noise estimated from the repeated runs"* ]]
	[[ $output == *" A  3 runs, "* ]]
	[[ $output == *" * parse"* ]]
	cp "$BEFORE" a,b	# a name with a comma is one file
	run_arcprof diff a,b "$AFTER"
	[[ $output == *" A  2544 samples: a,b"* ]]
}

@test "diff: exact times of one run have no intervals, and --significant says so" {
	run_arcprof diff "$CALLS" "$CALLS" --significant
	[ "$status" -eq 1 ]
	[[ $stderr == *"the noise of 'cpu', which is exact, is not known from one run per side"*hint:* ]]
	run_arcprof diff "$CALLS,$CALLS" "$CALLS" --significant
	[ "$status" -eq 0 ]
}

@test "diff: normalizing by an unknown metric is refused" {
	run_arcprof diff "$BEFORE" "$AFTER" --per second
	[ "$status" -eq 2 ]
	[[ $stderr == *"not all of the recordings say how long they recorded 'samples'"* ]]
	run_arcprof diff "$BEFORE" "$AFTER" --per call
	[ "$status" -eq 2 ]
	[[ $stderr == *"'samples' was sampled"* ]]
}

@test "diff: an unknown metric or file is named" {
	run_arcprof diff "$CALLS" "$CALLS" --metric cycles
	[ "$status" -eq 1 ]
	[[ $stderr == *"$CALLS: "*cycles* ]]
	run_arcprof diff "$CALLS" "$CALLS,gone"
	[ "$status" -eq 1 ]
	[[ $stderr == *"gone: "* ]]
	run_arcprof diff "$CALLS" "$DATA/mixed/trace"
	[ "$status" -eq 1 ]
	[[ $stderr == *mixed/trace* ]]
	run_arcprof diff "$BEFORE" "$AFTER" --symbol nothing
	[ "$status" -eq 1 ]
	[[ $stderr == *"nothing matches"* ]]
}

@test "diff: --exit-code distinguishes differences from failures" {
	run_arcprof diff "$BEFORE" "$AFTER" --exit-code
	[ "$status" -eq 1 ]
	run_arcprof diff "$BEFORE" "$BEFORE" --exit-code
	[ "$status" -eq 0 ]
	run_arcprof diff "$BEFORE" gone --exit-code
	[ "$status" -eq 2 ]
	run_arcprof diff "$BEFORE" "$AFTER"
	[ "$status" -eq 0 ]
}

@test "diff: what selects and folds does so on both sides" {
	run_arcprof diff "$BEFORE" "$AFTER" --symbol 'parse' --normalize none --format json
	[ "$(json '.a[0].total')" -eq 500 ]
	[ "$(json '.b[0].total')" -eq 690 ]
	run_arcprof diff "$DATA/mixed/trace" "$DATA/mixed/trace" --fold package --format json
	[ "$(json '.rows[0].name')" = java.lang ]
}

@test "diff: --exit-code is a gate with --at-least and --direction" {
	run_arcprof diff "$BEFORE" "$AFTER" --exit-code --direction up --at-least 5%
	[ "$status" -eq 1 ]
	[[ $output == *"functions grew by at least 5 %"* ]]
	run_arcprof diff "$BEFORE" "$AFTER" --exit-code --direction down
	[ "$status" -eq 0 ]
	run_arcprof diff "$BEFORE" "$AFTER" --exit-code --at-least 100000
	[ "$status" -eq 0 ]
	run_arcprof diff "$BEFORE" "$AFTER" --at-least 5ms
	[ "$status" -eq 2 ]
	[[ $stderr == *"invalid percentage '5ms'"* ]]
}

@test "diff: --baseline takes what a store has of a commit" {
	mkdir -p store/abc123 store/abd456
	cp "$DATA/mixed/trace" store/abc123/1.data
	cp "$DATA/mixed/trace" store/abc123/2.data
	cp "$DATA/mixed/trace" store/abd456/1.data
	run_arcprof diff --baseline store@abc "$DATA/mixed/trace"
	[ "$status" -eq 0 ]
	[[ $output == *" A  2 runs, "*store/abc123/1.data,\ store/abc123/2.data* ]]
	run_arcprof diff --baseline "$DATA/mixed/trace" "$DATA/mixed/trace" --exit-code
	[ "$status" -eq 0 ]
	touch -d 2001-01-01 store/abc123
	run_arcprof diff --baseline store "$DATA/mixed/trace"
	[[ $output == *store/abd456/1.data* ]]
	run_arcprof diff --baseline store@ab "$DATA/mixed/trace"
	[ "$status" -eq 1 ]
	[[ $stderr == *"'ab' is the beginning of 2 commits"* ]]
	run_arcprof diff --baseline store@f00 "$DATA/mixed/trace"
	[[ $stderr == *"no recordings of commit 'f00'"* ]]
	run_arcprof diff --baseline store@abc
	[ "$status" -eq 2 ]
}

@test "diff: --per is the cost of a unit of work, with shares beside it" {
	arcprof diff "$DATA/mixed/trace" "$DATA/mixed/trace" --per second >text
	grep -q Shares text
	run_arcprof diff "$DATA/mixed/trace" "$DATA/mixed/trace" --per mark=request
	[ "$status" -eq 1 ]
	[[ $stderr == *"nothing was recorded of 'mark=request', which --per divides by"* ]]
	run_arcprof diff "$DATA/mixed/trace" "$DATA/mixed/trace" --per label=request
	[ "$status" -eq 2 ]
	[[ $stderr == *"operations without a sample are not counted"*hint:*mark=* ]]
	run_arcprof diff "$CALLS" "$CALLS" --per wall --format json
	metric=$(json '.metric.name')
	[ "$(json .per)" = wall ]
	[ "$metric" = cpu ]
	run_arcprof diff "$CALLS" "$CALLS" --per second --normalize total
	[ "$status" -eq 2 ]
}
