#!/usr/bin/env bats
# bats file_tags=stored
load ../lib

minimal() {
	echo "$TOP/t/data/minimal/trace"
}

# A copy of the minimal trace with the given bytes at an offset.
damaged() {
	cp "$(minimal)" damaged
	chmod u+w damaged
	printf '%b' "$2" | dd of=damaged bs=1 seek="$1" conv=notrunc status=none
}

# Where the first chunk of that type begins.
offset_of() {
	arcprof dump -i "$(minimal)" --chunks --format json | jq "first(.chunks[] | select(.type == \"$1\").offset)"
}

@test "dump: a record is a line with time, codes, name and fields" {
	run_arcprof dump -i "$(minimal)"
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[[ ${output%%$'\n'*} == "trace version 1, mode continuous, begun 2026-"* ]]
	grep -qE '^0\.[0-9]{9}  19/34  proc proc=1 parent=0 pid=4711 comm="sh"$' <<<"$output"
	grep -qE ' 19/82  module module=1 .* size=9000 bytes .* build_id=deadbeef path="/usr/bin/java"$' <<<"$output"
	grep -qE ' 10/30060  sample.kernel event=0 cpu=3 thread=1 stack=6 weight=1000000$' <<<"$output"
	grep -qE ' 10/200a3  sample.user .* event_wide=300$' <<<"$output"
	grep -qE ' c0/2  stacks first=1 runs=2 \[ \{ up=1 n=6 \[ \{ frame=1 \} ' <<<"$output"
}

@test "dump: unknown records are shown by the description in the file" {
	run_arcprof dump -i "$TOP/t/data/future/trace"
	[ "$status" -eq 1 ]	# that trace has no end
	[[ $stderr != *" is damaged"* ]]
	grep -qE ' 1234/742  novelty n=7 kind=9 hits=500 debt=-5 cents list=2 \[ \{ id=0xbeef tags=2 \[ \{ tag="one" \} ' <<<"$output"
}

@test "dump: records that nothing describes are shown as bytes" {
	run_arcprof dump -i "$TOP/t/data/future/trace"
	grep -qE ' 4321/1  \? 44332211$' <<<"$output"
}

@test "dump: --format json says the same with raw numbers" {
	run_arcprof dump -i "$(minimal)" --format json
	[ "$status" -eq 0 ]
	[ "$(json '.records[] | select(.name == "proc") | .fields.pid')" = 4711 ]
	[ "$(json '[.records[] | select(.name | startswith("sample"))] | length')" = 3 ]
	[ "$(json '.records[] | select(.name == "stacks") | .fields["runs[]"][0]["n[]"] | length')" = 6 ]
	[ "$(json '.truncated')" = false ]
	[ "$(json '.damaged_places')" = 0 ]
}

@test "dump: text and JSON have as many records" {
	n=$(arcprof dump -i "$(minimal)" | tail -n +2 | wc -l)
	run_arcprof dump -i "$(minimal)" --format json
	[ "$(json '.records | length')" -eq "$n" ]
}

@test "dump: --major keeps the records of these codes" {
	run_arcprof dump -i "$(minimal)" --major 10,c3
	[ "$(tail -n +2 <<<"$output" | wc -l)" -eq 7 ]
	run_arcprof dump -i "$(minimal)" -M 10 -M c3
	[ "$(tail -n +2 <<<"$output" | wc -l)" -eq 7 ]
}

@test "dump: an invalid major code is a usage error" {
	run_arcprof dump -i "$(minimal)" --major=tprof
	[ "$status" -eq 2 ]
	[[ $stderr == *"--major: 'tprof' is not the hexadecimal code of a record"* ]]
}

@test "dump: --chunks lists all chunks, and they fill the file" {
	run_arcprof dump -i "$(minimal)" --chunks --format json
	[ "$(json '[.chunks[].type] | join(" ")')" = "schm Meta Stak Samp schd indx done" ]
	[ "$(json '[.chunks[] | .stored_bytes + 64] | add + 64')" -eq "$(stat -c %s "$(minimal)")" ]
}

@test "dump: --raw prints the bytes of each record, head included" {
	run_arcprof dump -i "$(minimal)" --raw -M 10
	grep -qE '^    0000  18 00 10 00 23 00 03 00 ' <<<"$output"
}

@test "dump: --schema shows what the file says about its records" {
	run_arcprof dump -i "$(minimal)" --schema
	grep -qF 'name="symbol" fields="off:x64 size:x64 module:u32 name:s"' <<<"$output"
	[ "$(grep -c ' c4/1  schema ' <<<"$output")" -ge 25 ]
}

@test "dump: damage is reported where it is, and everything else is shown" {
	at=$(offset_of Samp)
	damaged $((at + 80)) 'xxxx'
	run_arcprof dump -i damaged
	[ "$status" -eq 1 ]
	[[ $stderr == "arcprof dump: warning: damaged is damaged: 156 bytes in 1 place and 0 records skipped; first: "* ]]
	grep -qF -- "--- damage at offset $at: 156 bytes skipped: chunk 3 'Samp' has a wrong checksum" <<<"$output"
	grep -q ' c4/3  end ' <<<"$output"
	! grep -q ' sample\.' <<<"$output" || false
}

@test "dump: a damaged file header is reported, and the chunks are shown" {
	damaged 3 'zzzz'
	run_arcprof dump -i damaged
	[ "$status" -eq 1 ]
	[[ $stderr == *"damaged is damaged: 64 bytes in 1 place "*"the file header is damaged" ]]
	grep -qF "the file header is damaged" <<<"$output"
	grep -q ' 19/34  proc ' <<<"$output"
}

@test "dump: a trace that was cut off is shown up to the cut" {
	at=$(offset_of Samp)
	head -c $((at + 80)) "$(minimal)" >cut
	run_arcprof dump -i cut
	[ "$status" -eq 1 ]
	[[ $stderr == *"cut is damaged: 80 bytes in 1 place "* ]]
	[[ $stderr == *"cut has no end: the recording was cut off after "*" s, or still goes on" ]]
	grep -q ' 19/34  proc ' <<<"$output"
	grep -qE -- "^--- damage at offset $at: 80 bytes skipped: chunk 3 'Samp' needs 92 bytes" <<<"$output"
	grep -qF -- '--- no end chunk' <<<"$output"
}

# Puts the checksums of the chunk at that offset right.
repair() {
	python3 - "$1" "$2" <<-'EOF'
		import sys, struct, zlib
		path, at = sys.argv[1], int(sys.argv[2])
		b = bytearray(open(path, "rb").read())
		stored = struct.unpack_from("<I", b, at + 16)[0]
		struct.pack_into("<I", b, at + 24, zlib.crc32(b[at + 64:at + 64 + stored]))
		struct.pack_into("<I", b, at + 60, zlib.crc32(b[at:at + 60]))
		open(path, "wb").write(b)
	EOF
}

@test "dump: invalid records in a whole chunk are damage, in every format" {
	at=$(offset_of Samp)
	damaged $((at + 64)) '\x04'	# the length of the first sample: less than its head
	repair damaged "$at"
	for format in text json; do
		run_arcprof dump -i damaged --format $format
		[ "$status" -eq 1 ]
		[[ $stderr == *"damaged is damaged: 0 bytes in 0 places and 1 record skipped; first: chunk 3 at offset $at has a "* ]]
	done
	damaged $((at + 64)) '\x14'	# without its weight
	repair damaged "$at"
	run_arcprof dump -i damaged -M 10
	[ "$status" -eq 1 ]
	[[ $stderr == *" 2 records skipped; first: record 10/30060 (sample.kernel) is truncated" ]]
	[[ $output == *"(truncated)"* ]]
}

@test "dump: it reads standard input" {
	arcprof dump -i - <"$(minimal)" >from_stdin
	arcprof dump -i "$(minimal)" | cmp - from_stdin
	# shellcheck disable=SC2002
	cat "$(minimal)" | arcprof dump -i - | cmp - from_stdin
}

@test "dump: a file that is not a trace is refused in one line" {
	for f in /dev/null "$TOP/COPYING" /proc/self/maps; do
		run_arcprof dump -i "$f"
		[ "$status" -eq 1 ]
		[ "$(wc -l <<<"$stderr")" -eq 1 ]
	done
	run_arcprof dump -i "$TOP/COPYING"
	[[ $stderr == "arcprof dump: $TOP/COPYING: not an arcprof trace" ]]
	run_arcprof dump -i nowhere
	[[ $stderr == "arcprof dump: nowhere: No such file or directory" ]]
}

@test "dump: another version is refused with both numbers" {
	{ head -c 8 "$(minimal)"; printf '\x63\0'; tail -c +11 "$(minimal)" | head -c 50; } >header
	gzip -c header | tail -c 8 | head -c 4 >crc	# gzip ends in the CRC-32 of what it packed
	cat header crc >later
	run_arcprof dump -i later
	[ "$status" -eq 1 ]
	[ "$stderr" = "arcprof dump: later: trace version 99, this arcprof reads version 1" ]
}

@test "arcprof-trace(5): its bytes are those of t/data/minimal" {
	grep -E '^[0-9a-f]{6}( [0-9a-f]{2}){1,16}$' "$TOP/Documentation/arcprof-trace.adoc" >shown
	[ "$(wc -l <shown)" -ge 20 ]
	while read -r off bytes; do
		# shellcheck disable=SC2086
		set -- $bytes
		real=$(od -A n -t x1 -v -j $((16#$off)) -N $# "$(minimal)")
		[ "$real" = " $bytes" ] || { echo "$off: $real, the page says $bytes"; return 1; }
	done <shown
}

@test "arcprof-trace(5): it lists every record that a stored trace describes" {
	arcprof dump -i "$(minimal)" --schema --format json |
		jq -r '.records[].fields | "\(.major) \(.minor) \(.name) \(.fields)"' >rows
	while read -r major minor name fields; do
		code=$(printf '%x/%x' "$major" "$minor")
		awk -v c="$code" -v n="$name" -v f="$fields" '
			$1 == c && $2 == n { sub(/^[^ ]+ +[^ ]+ +/, ""); found = found || $0 == f } END { exit !found }' \
			"$TOP/Documentation/arcprof-trace.adoc" || { echo "$code $name is not in the page"; return 1; }
	done <rows
	[ "$(wc -l <rows)" -ge 40 ]
}

@test "arcprof-trace(5): a new trace describes every record that the one shown there does" {
	skip_unless_perf
	arcprof record -q -o new -- true
	arcprof dump --schema -i new | tail -n +2 | sed 's/^[^ ]* *//' | sort >now
	arcprof dump --schema -i "$(minimal)" | tail -n +2 | sed 's/^[^ ]* *//' | sort >then
	[ "$(wc -l <then)" -ge 40 ]
	[ -z "$(comm -23 then now)" ]
}

@test "dump: the type of a chunk cannot speak to the terminal" {
	at=$(offset_of schd)
	damaged $((at + 8)) 's\033]0'	# the first bytes of a terminal's title
	repair damaged "$at"
	run_arcprof dump -i damaged --chunks
	[[ $output == *" s?]0 at "* ]]
	damaged $((at + 8)) 'S\033]0'
	repair damaged "$at"
	run_arcprof report -i damaged
	[[ $stderr == *"is of the unknown type 'S?]0'"* ]]
}

@test "arcprof-trace(5): it lists the labels of every stored trace" {
	for trace in "$TOP"/t/data/*/trace "$TOP"/t/fuzz/corpus/trace/*; do
		arcprof dump -i "$trace" -M c3 --format json 2>/dev/null | jq -r '.records[].fields.key // empty'
	done | sed -E 's/^(call\.java)\.[0-9]+/\1.K/; s/\.[0-9]+/.N/g; s/event\.N\.(rate_hz|mode)/event.0.\1/' | sort -u >labels
	[ "$(wc -l <labels)" -ge 35 ]
	while read -r label; do
		grep -qE "(^|[ *,])${label//./\\.}([ *,]|\$)" "$TOP/Documentation/arcprof-trace.adoc" ||
			{ echo "$label is not in the page"; missing=1; }
	done <labels
	[ -z "${missing-}" ]
}
