#!/usr/bin/env bats
# bats file_tags=stored
# Files that the tools themselves made, kept in t/data/import, with the totals that the tools print.
load ../lib

DATA=$TOP/t/data/import
MIXED=$TOP/t/data/mixed/trace

# "TOTAL N" of a metric of an imported file.
sum_of() {
	arcprof report -q --import "$1" --xprof --metric "$2" --format json >sum.json
	json '"\(.metrics[0].total) \([.rows[].n] | add)"' sum.json
}

# The base of each function, by name.
bases() {
	arcprof report -q "$@" --xprof --format json | jq -r '.rows[] | select(.base[0] > 0) | "\(.name)\t\(.base[0])"' | sort
}

# ---- the file as a whole ----

@test "import: zstd, xz, bzip2 and zip are undone, and what is truncated or not undone is said" {
	local stacks=$DATA/flamegraph.folded how
	arcprof report --import "$stacks" --xtree >want
	cp "$stacks" plain
	for how in zstd xz bzip2; do
		command -v $how >/dev/null || continue
		$how -qc plain >"packed.$how"
		arcprof report --import "packed.$how" --xtree | diff want -
		arcprof report --import - --xtree <"packed.$how" | diff want -
		head -c 60 "packed.$how" >cut
		run_arcprof report --import cut
		[ "$stderr" = "arcprof report: cut: the compressed data is truncated" ]
	done
	python3 -c 'import zipfile
for name, files in ("one.zip", ["plain"]), ("two.zip", ["plain", "want"]):
	with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as z:
		for f in files: z.write(f)'
	arcprof report --import one.zip --xtree | diff want -
	run_arcprof report --import two.zip
	[ "$stderr" = "arcprof report: two.zip: a zip archive of 2 files
hint: unzip it, and import one of its files" ]
	printf '\x04\x22\x4d\x18\x64\x40\xa7' >packed.lz4
	run_arcprof report --import packed.lz4
	[ "$stderr" = "arcprof report: packed.lz4: compressed by lz4, which is not decompressed here
hint: decompress the file first: lz4 -d" ]
}
