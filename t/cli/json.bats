#!/usr/bin/env bats
# arcprof-json(7) against what the commands print.
# bats file_tags=stored
load ../lib

page=$TOP/Documentation/arcprof-json.adoc

# Members of the objects in files, with the command in the file's name; those whose names are given by the trace, the
# query or the machine are not listed.
members() {
	jq -r 'def names: if type == "object" then keys_unsorted[], (del(.fields) | .[] | names)
			elif type == "array" then .[] | names else empty end;
		del(.build?, .libraries?, .running_on?) | [names] | unique[] | select(test("^[a-z_]+$")) + " " +
		(input_filename | sub(".*/[0-9]*-"; ""))' "$@"
}

# printed <arguments>: keeps what the command prints; some commands cannot work everywhere.
printed() {
	nr=$((nr + 1))
	"$ARCPROF" "$@" --format json >"objects/$nr-$1" 2>/dev/null </dev/null || true
	[ ! -s "objects/$nr-$1" ] || echo "$*"
}

@test "json: every member that a command prints is in the page" {
	mkdir objects
	nr=100
	for trace in "$TOP"/t/data/{events,mixed,branches}/trace; do
		for r in xarc xtree xprof rt tprof threads sched arc; do
			printed report -i "$trace" "--$r"
		done
		printed dump -i "$trace" --chunks
	done
	for trace in "$TOP"/t/data/*/trace; do
		printed report -i "$trace" --xtree --limit 1 --lines
	done
	printed report -i "$TOP/t/data/events/trace" --annotate='Seed*'
	printed report -i "$TOP/t/data/mixed/trace" --annotate='*'
	printed dump -i "$TOP/t/data/mixed/trace"
	printed dump -i "$TOP/t/data/mixed/trace" --raw
	printed report -i "$TOP/t/data/events/trace" --correlate cpu,wall
	printed dump -i "$TOP/t/data/events/trace" --schema
	for r in xprof xtree xarc; do
		printed diff "$TOP/t/data/diff/before.folded" "$TOP/t/data/diff/after.folded" "--$r"
	done
	printed doctor
	printed version
	printed aboveidle 1 1
	printed mpevt list
	printed calibrate --show
	printed msr read 0x10
	"$ARCPROF" cpi --format json -- true >objects/0-cpi 2>/dev/null || true
	"$ARCPROF" ptt run --cpus --format json -- true >objects/0-ptt 2>/dev/null || true
	echo 'Seed.main cum cpu <= 1s per call' >limits
	printed budget -f limits -i "$TOP/t/data/events/trace"
	printed query -i "$TOP/t/data/events/trace" 'SELECT 1 AS cpu'
	members objects/* >all		# which fails where one of them is no JSON
	sort -u all >members
	[ "$(wc -l <members)" -gt 150 ]
	slurp text "$page"
	while read -r member command; do
		[[ $text == *"_${member}_"* ]] || echo "$command prints $member"
	done <members >missing
	cat missing
	[ ! -s missing ]
}

@test "json: every member in the page is one that arcprof prints" {
	sed -n '/^== IN MOST/,/^== SEE/p' "$page" | grep -oE '_[a-z_]*[a-z]_' | sed 's/^_//; s/_$//' | sort -u >documented
	[ "$(wc -l <documented)" -gt 150 ]
	grep -ohE '"[a-z_]+"' "$TOP"/cmd/*.c "$TOP"/lib/*/*.c "$TOP"/lib/*/*/*.c | tr -d '"' | sed 'p; s/$/_ns/' | sort -u >strings
	comm -23 documented strings >unknown
	cat unknown
	[ ! -s unknown ]
}
