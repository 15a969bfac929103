#!/usr/bin/env bats
load ../lib

DATA=$TOP/t/data/import
MIXED=$TOP/t/data/mixed/trace

# Name, share of base, share of cum of each function; of text.
shares() {
	awk 'seen && NF > 6 { name = $8; for (i = 9; i <= NF; i++) name = name " " $i; print name "\t" $2 "\t" $3 "\t" $4 }
		/%Base/ { seen = 1 }' | sort
}

@test "import: folded stacks are a tree of functions, and the head says what is not known" {
	run_arcprof report --import "$DATA/flamegraph.folded" --xtree --format csv
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	grep -q ',org.example.Worker$1.work,java-' <<<"$output"
	grep -q ',default_idle,kernel,' <<<"$output"
	run_arcprof report --import "$DATA/flamegraph.folded"
	[ "$(sed -n 1p <<<"$output")" = "imported from folded stacks: 31 samples in 2 threads; showing 100 %" ]
	[ "$(sed -n 2p <<<"$output")" = "not known: processes, times, lost samples" ]
}

@test "import: the functions of folded stacks have the numbers that the lines add up to" {
	arcprof report --import "$DATA/flamegraph.folded" --xprof --format csv >got
	# The leaf is what has a base; the lines are summed by a program of the test's own.
	awk '!/^$/ { n = $NF ~ /^[0-9]+$/ ? $NF : 1; sub(/ +[0-9]+ *$/, ""); sub(/.*;/, ""); sub(/_\[.\]$/, "")
		gsub("/", "."); base[$0] += n } END { for (f in base) print f "\t" base[f] }' "$DATA/flamegraph.folded" | sort >want
	python3 -c 'import csv, sys
for row in csv.DictReader(open("got")):
	if row["base:samples"] != "0":
		print(row["name"], row["base:samples"], sep="\t")' | sort | diff want -
}

@test "import: what --format folded wrote has the same functions and shares" {
	for input in "-i $MIXED" "--events $TOP/t/data/ac_test/ac_test.events"; do
		# shellcheck disable=SC2086
		arcprof report $input --format folded >folded
		# shellcheck disable=SC2086
		arcprof report $input --xprof | shares >want
		arcprof report --import folded --xprof | shares | diff want -
		arcprof report --import folded --check
	done
}

@test "import: a file that begins with a metric says what the numbers are" {
	printf '# metric wall us\nmain;read 1500\nmain;write 500\n' >stacks
	run_arcprof report --import stacks
	[ "$(sed -n 1p <<<"$output")" = "imported from folded stacks: 2000 us of wall; showing 100 %" ]
	[ "$(sed -n 2p <<<"$output")" = "not known: processes, threads, times, sample counts, lost samples" ]
}

@test "import: gzip is undone, and standard input is read" {
	gzip -c "$DATA/flamegraph.folded" >stacks.gz
	arcprof report --import "$DATA/flamegraph.folded" --xtree >want
	arcprof report --import stacks.gz --xtree | diff want -
	arcprof report --import - --xtree <stacks.gz | diff want -
	head -c 100 stacks.gz >cut.gz
	run_arcprof report --import cut.gz
	[ "$status" -eq 1 ]
	[ "$stderr" = "arcprof report: cut.gz: the compressed data is truncated" ]
}

@test "import: a foreign file without --import gets a hint, of report, view and dump" {
	for command in report "view --no-browser" dump; do
		# shellcheck disable=SC2086
		run_arcprof $command "$DATA/flamegraph.folded"
		[ "$status" -eq 1 ]
		[[ $stderr == *"not an arcprof trace"*"hint: this is a file of folded stacks: '--import $DATA/flamegraph.folded' reads it" ]]
	done
}

@test "import: what is no profile is an error, and so is a broken line" {
	printf 'Dear reader,\nthis is a letter\n' >letter
	run_arcprof report --import letter
	[ "$status" -eq 1 ]
	[ "$stderr" = "arcprof report: letter: not a profile of a known format" ]
	printf 'a;b 1\na;c 99999999999999999999\n' >large
	run_arcprof report --import large
	[ "$status" -eq 1 ]
	[ "$stderr" = "arcprof report: large: line 2: the number is too large" ]
	: >empty
	run_arcprof report --import empty
	[ "$stderr" = "arcprof report: empty: empty" ]
	run_arcprof report --import "$MIXED"
	[ "$status" -eq 1 ]
}

@test "import: times that a profile has not cannot be selected" {
	run_arcprof report --import "$DATA/flamegraph.folded" --from 1s
	[ "$status" -eq 1 ]
	[[ $stderr == *": the profile does not say when its samples were taken" ]]
}

@test "import: view makes a page of it, and dump shows what it became" {
	run_arcprof view --no-browser -o page.html --import "$DATA/flamegraph.folded"
	[ "$status" -eq 0 ]
	[ "$output" = "$PWD/page.html" ]
	run_arcprof dump --import "$DATA/flamegraph.folded"
	grep -q 'function=.* kind=3 name="default_idle"' <<<"$output"
}
