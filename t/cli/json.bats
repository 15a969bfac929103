#!/usr/bin/env bats
# arcprof-json(7) against what the commands print.
# bats file_tags=stored
load ../lib

page=$TOP/Documentation/arcprof-json.adoc

# Members of the object in a file; those whose names are given by the trace, the query or the machine are not listed.
members() {
	jq -r 'del(.build?, .libraries?, .running_on?) |
		[paths | select((index("fields") // infinite) >= length - 1) | .[-1] | select(type == "string" and test("^[a-z_]+$"))] | unique[]' "$1"
}

# printed <arguments>: adds the members of what the command prints; some commands cannot work everywhere.
printed() {
	"$ARCPROF" "$@" --format json >object 2>/dev/null </dev/null || true
	if [ -s object ]; then
		members object | sed "s|\$| $1|" >>all
		echo "$*" >>worked
	fi
}

@test "json: every member that a command prints is in the page" {
	: >all
	for trace in "$TOP"/t/data/{events,mixed,branches}/trace; do
		for r in xarc xtree xprof rt tprof threads sched arc annotate=*; do
			printed report -i "$trace" "--$r"
		done
		printed dump -i "$trace" --chunks
	done
	for trace in "$TOP"/t/data/*/trace; do
		printed report -i "$trace" --xtree --limit 1 --lines
	done
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
	"$ARCPROF" cpi --format json -- true >object 2>/dev/null && members object | sed 's/$/ cpi/' >>all
	"$ARCPROF" ptt run --cpus --format json -- true >object 2>/dev/null && members object | sed 's/$/ ptt/' >>all
	echo 'Seed.main cum cpu <= 1s per call' >limits
	printed budget -f limits -i "$TOP/t/data/events/trace"
	printed query -i "$TOP/t/data/events/trace" 'SELECT 1 AS cpu'
	sort -u all >members
	[ "$(wc -l <members)" -gt 150 ]
	cat worked
	while read -r member command; do
		grep -q "_${member}_" "$page" || echo "$command prints $member"
	done <members >missing
	cat missing
	[ ! -s missing ]
}

@test "json: every member in the page is one that arcprof prints" {
	sed -n '/^== IN MOST/,/^== SEE/p' "$page" | grep -oE '_[a-z_]*[a-z]_' | sed 's/^_//; s/_$//' | sort -u >documented
	[ "$(wc -l <documented)" -gt 150 ]
	grep -ohE '"[a-z_]+"' "$TOP"/cmd/*.c "$TOP"/lib/*/*.c | tr -d '"' | sed 'p; s/$/_ns/' | sort -u >strings
	comm -23 documented strings >unknown
	cat unknown
	[ ! -s unknown ]
}
