#!/usr/bin/env bats
# bats file_tags=stored
load ../lib

MIXED=$TOP/t/data/mixed/trace
CALLS=$TOP/t/data/calls/trace
BRANCHES=$TOP/t/data/branches/trace
JAVA=$TOP/t/data/java/trace

# The tree of a trace, without the comments that name its metrics.
tree() {
	arcprof report -i "$1" --format tree "${@:2}"
}

# The same without numbers of processes and threads, and folders of modules.
shape() {
	tree "$@" | awk -F'\t' -v OFS='\t' '!/^#/ && NF > 5 { $NF = ""; sub(".*/", "", $(NF - 2)) } 1'
}

# Value of a metric's total in a trace.
total() {
	arcprof report -i "$1" --xprof --metric "$2" --format json | jq ".metrics[] | select(.name == \"$2\") | .total"
}

@test "merge: a trace merged alone has the contexts and values of its report" {
	for trace in "$MIXED" "$CALLS" "$BRANCHES" "$JAVA"; do
		arcprof merge -q "$trace" -o one.data
		tree "$trace" | sort >want
		tree one.data | sort | diff want -
		arcprof report one.data --check >/dev/null
	done
}

@test "merge: values of the same context are added, others stand beside each other" {
	arcprof merge -q "$MIXED" "$MIXED" -o twice.data
	[ "$(total twice.data cpu-clock)" -eq $((2 * $(total "$MIXED" cpu-clock))) ]
	# the same contexts, each number doubled
	tree "$MIXED" | awk -F'\t' -v OFS='\t' '!/^#/ { $2 *= 2; $3 *= 2 } 1' | sort >want
	tree twice.data | sort | diff want -
	arcprof merge -q "$MIXED" "$CALLS" -o both.data
	[ "$(total both.data cpu-clock)" -eq $(($(total "$MIXED" cpu-clock) + $(total "$CALLS" cpu-clock))) ]
	[ "$(total both.data cpu)" -eq "$(total "$CALLS" cpu)" ]
	arcprof report both.data --format json >json
	[ "$(jq '.sources[0].kind' json)" = '"calls"' ]
	[ "$(jq '.sources[0].n' json)" -eq "$(arcprof report "$CALLS" --format json | jq '.sources[0].n')" ]
	arcprof report both.data --check >/dev/null
}

@test "merge: neither order nor grouping changes what any report says" {
	arcprof merge -q "$MIXED" "$CALLS" "$BRANCHES" -o a.data
	arcprof merge -q "$BRANCHES" "$MIXED" -o part.data
	arcprof merge -q "$CALLS" part.data -o b.data
	for report in "--format tree" "--xarc --format json" --xtree; do
		# shellcheck disable=SC2086
		arcprof report a.data $report >a
		# shellcheck disable=SC2086
		arcprof report b.data $report | diff a -
	done
	arcprof dump a.data | awk '$3 ~ /^tree/' | cut -d ' ' -f 2- >a
	arcprof dump b.data | awk '$3 ~ /^tree/' | cut -d ' ' -f 2- | diff a -
}

@test "merge: any order and any grouping give the same records" {
	local traces=("$MIXED" "$CALLS" "$BRANCHES" "$JAVA") i
	records() { arcprof dump "$1" | awk '$3 ~ /^(tree|label)/' | cut -d ' ' -f 2-; }	# but when it was written
	arcprof merge -q "${traces[@]}" -o all.data
	records all.data >want
	for i in 1 2 3 4 5 6; do
		mapfile -t traces < <(shuf -e -- "${traces[@]}")
		arcprof merge -q "${traces[@]:0:2}" -o left.data
		case $i in
		[12]) arcprof merge -q left.data "${traces[@]:2}" -o other.data ;;
		[34]) arcprof merge -q "${traces[@]:2}" -o right.data
			arcprof merge -q left.data right.data -o other.data ;;
		*) arcprof merge -q "${traces[2]}" left.data -o left2.data
			arcprof merge -q "${traces[3]}" left2.data -o other.data ;;
		esac
		records other.data | cmp want - || { echo "order: ${traces[*]}"; return 1; }
	done
}

@test "record --label: labels stay in merged traces and select, and tables have them" {
	skip_unless_perf
	arcprof record -q --label service=shop,version=1.2 -o a.data -- perl -e '1 for 1 .. 3e6'
	arcprof record -q --label version=1.10 --label service=shop -o b.data -- perl -e '1 for 1 .. 3e6'
	arcprof merge -q a.data b.data -o both.data
	for one in a b; do
		total $one.data cpu-clock >$one.total
	done
	selected() { arcprof report both.data --xprof --format json "$@" | jq '[.rows[].base[0]] | add'; }
	[ "$(selected --label version=1.2)" -eq "$(cat a.total)" ]
	[ "$(selected --label service=shop,version=1.10)" -eq "$(cat b.total)" ]
	[ "$(selected --label 'version=1.*')" -eq $(($(cat a.total) + $(cat b.total))) ]
	[ "$(selected --label version=1.2,version=1.10)" -eq $(($(cat a.total) + $(cat b.total))) ]
	arcprof report both.data --xtree | grep -q 'perl .*(service=shop,version=1.2)'
	# merged processes are one again
	[ "$(arcprof report both.data --merge-processes --xtree --format json | jq '[.nodes[] | select(.kind == "process")] | length')" -eq 1 ]
	run_arcprof report both.data --label version=1.2,service=other
	[ "$status" -eq 1 ]
	[[ $stderr == *"nothing matches --label"* ]]
	arcprof export -q --table - both.data | zcat | cut -f 3,4,8 | sort -u >labels
	printf '%s\n' $'service\tversion\tlabels' $'shop\t1.10\tservice=shop,version=1.10' \
		$'shop\t1.2\tservice=shop,version=1.2' | diff labels -
	# what differs between two versions is not their label
	arcprof diff a.data b.data --format json >/dev/null
	run_arcprof record --label 1=2 -- true
	[ "$status" -ne 0 ]
	[[ $stderr == *"'1=2' is not a label: key=value"* ]]
}

@test "merge: the report and its JSON say which recordings it is made of" {
	arcprof merge -q "$MIXED" "$MIXED" "$CALLS" -o three.data
	arcprof report three.data | grep -q '^3 recordings of '
	[ "$(arcprof report three.data --format json | jq '.source.recordings | length')" -eq 3 ]
	[ "$(arcprof report three.data --format json | jq '.source.lost')" -eq \
		"$(($(arcprof report "$CALLS" --format json | jq .source.lost) + 2 * $(arcprof report "$MIXED" --format json | jq .source.lost)))" ]
	[ "$(arcprof report "$MIXED" --format json | jq '.source | has("recordings")')" = false ]
}

@test "merge: subtracting what was added gives what was there; what is below zero has metrics of its own" {
	arcprof merge -q "$MIXED" "$JAVA" -o both.data
	arcprof merge -q --op subtract both.data "$JAVA" -o rest.data
	shape "$MIXED" | sort >want
	shape rest.data | sort | diff want -
	run_arcprof merge --op subtract "$MIXED" both.data -o none.data
	[ "$status" -eq 0 ]
	[[ $stderr == *"values are below zero, in the metrics minus-..."* ]]
	arcprof report none.data | grep -q 'values are below zero, in the metrics minus-'
	event=$(arcprof report "$JAVA" --format json | jq -r '.metrics[0].name')
	[ "$(arcprof report none.data --metric "minus-$event" --format json | jq '.metrics[0].total')" = \
		"$(arcprof report "$JAVA" --metric "$event" --format json | jq '.metrics[0].total')" ]
}

@test "merge: the minimum of a trace and more of it is the trace" {
	arcprof merge -q "$CALLS" "$MIXED" "$CALLS" -o more.data
	arcprof merge -q --op minimum more.data "$CALLS" -o least.data
	# the trace itself, as it is when merged
	arcprof merge -q "$CALLS" -o alone.data
	shape alone.data | sort >want
	shape least.data | sort | diff want -
}

@test "merge: the page, folded stacks, pprof, budget and correlate read the result" {
	arcprof merge -q "$MIXED" "$CALLS" -o both.data
	arcprof view both.data --no-browser -o page.html >/dev/null
	[ "$(stat -c %s page.html)" -gt 100000 ]
	arcprof report both.data --format folded >folded
	[ -s folded ]
	arcprof report both.data --format pprof -o both.pb.gz
	echo 'demo.* cum cpu-clock <= 100%' >limits
	arcprof budget -f limits both.data
	arcprof report both.data --correlate calls,cpu-clock >/dev/null
}

@test "merge: asking for what a merged trace does not have is an error that says so" {
	arcprof merge -q "$MIXED" -o one.data
	for option in "--from 1ms" "--to 1s" "--cpu 0"; do
		# shellcheck disable=SC2086
		run_arcprof report one.data $option
		[ "$status" -eq 1 ]
		[[ $stderr == *"a merged trace does not say"* ]]
	done
	run_arcprof report "$TOP/t/data/merged/trace" --samples
	[ "$status" -eq 1 ]
	[[ $stderr == *"has its samples in the tree of its calls"* ]]
	run_arcprof report one.data --samples
	[ "$status" -eq 0 ]
	run_arcprof report one.data --metric nosuch
	[ "$status" -eq 1 ]
	[[ $stderr == *"unknown metric 'nosuch' (available: cpu-clock)"* ]]
}

@test "merge: without traces or --output it is a usage error, and a file that is not a trace leaves nothing" {
	run_arcprof merge -o x.data
	[ "$status" -eq 2 ]
	run_arcprof merge "$MIXED"
	[ "$status" -eq 2 ]
	[[ $stderr == *"--output is missing"* ]]
	echo no trace >bad.data
	run_arcprof merge "$MIXED" bad.data -o x.data
	[ "$status" -eq 1 ]
	[[ $stderr == *bad.data* ]]
	[ ! -e x.data ]
}

@test "merge: a trace that was cut off is merged as far as it goes, with status 1" {
	head -c $(($(stat -c %s "$MIXED") - 100)) "$MIXED" >cut.data
	run_arcprof merge "$MIXED" cut.data -o x.data
	[ "$status" -eq 1 ]
	[[ $stderr == *"cut.data has no end"* ]]
	arcprof report x.data --check >/dev/null
}

@test "merge: profiles of other programs are merged as what they are" {
	folded=$TOP/t/data/import/flamegraph.folded
	arcprof merge -q "$folded" "$folded" "$MIXED" -o both.data
	arcprof report --import "$folded" --xprof --format json >report
	metric=$(jq -r '.metrics[0].name' report)
	[ "$(total both.data "$metric")" -eq $((2 * $(jq '.metrics[0].total' report))) ]
	[ "$(total both.data cpu-clock)" -eq "$(total "$MIXED" cpu-clock)" ]
	arcprof report both.data --check >/dev/null
}
