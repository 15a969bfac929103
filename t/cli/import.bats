#!/usr/bin/env bats
# bats file_tags=stored
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

@test "import: a file that is not a profile is an error, and so is a broken line" {
	printf 'Dear reader,\nthis is a letter\n' >letter
	run_arcprof report --import letter
	[ "$status" -eq 1 ]
	[ "$stderr" = 'arcprof report: letter: not a profile of a known format: line 1 is no folded stack, "outermost;...;innermost number": it has no number at its end' ]
	printf 'a;b 1\na;c 99999999999999999999\n' >large
	run_arcprof report --import large
	[ "$status" -eq 1 ]
	[[ $stderr == *'line 2 is no folded stack, "outermost;...;innermost number": the number is too large' ]]
	: >empty
	run_arcprof report --import empty
	[ "$stderr" = "arcprof report: empty: empty" ]
	run_arcprof report --import "$MIXED"
	[ "$status" -eq 1 ]
}

@test "import: text other than folded stacks is refused with the line, also text that arcprof writes" {
	arcprof report -i "$MIXED" --format tree >tree
	arcprof report -i "$MIXED" >text
	printf '\n\n\0\n' >zero
	printf 'main;a 1 2\nmain;b 3 4\n' >pairs
	for file in tree text zero pairs "$TOP/arcprof.c" "$TOP/README.md" "$TOP/t/cli/import.bats"; do
		run_arcprof report --import "$file"
		[ "$status" -eq 1 ]
		[ -z "$output" ]
		[[ $(wc -l <<<"$stderr") -eq 1 && $stderr =~ (line [0-9]+ is no folded stack|a zero byte at offset 2|each line has two numbers) ]]
	done
}

@test "import: a few lines that are not stacks are counted and named, and never become names of functions" {
	seq 40 | sed 's/.*/main;f& &/' >stacks
	printf 'main;g -5\nmain;h 1e3\n' >>stacks
	run_arcprof report --import stacks
	[ "$status" -eq 0 ]
	[ "$(sed -n 1p <<<"$output")" = "imported from folded stacks: 820 samples; showing 100 %" ]
	[ "$(sed -n 3p <<<"$output")" = "left out: 2 of 42 lines, which are no stacks; the first is line 41: its number cannot be read" ]
	arcprof report --import stacks --xprof --format csv >got
	[ -z "$(grep -E ',(g|h)' got)" ]
	seq 10 | sed 's/.*/main;f& nan/' >>stacks
	run_arcprof report --import stacks
	[ "$status" -eq 1 ]
	[[ $stderr == *": line 41 is no folded stack, "* ]]
}

@test "import: numbers with fractions are counted in thousandths, and times in ns" {
	printf 'main;a 1.5\nmain;b 0.25\nmain;a 2.\nmain;c 3\n' >stacks
	arcprof report --import stacks --format folded | sort >got
	printf 'main;%s\n' 'a 3500' 'b 250' 'c 3000' | diff - got
	run_arcprof report --import stacks
	[ "$(sed -n 1p <<<"$output")" = "imported from folded stacks: 6750 thousandths of value; showing 100 %" ]
	grep -q '^not known: .*sample counts' <<<"$output"
	sed 's/^/x;/; 1i # metric wall ms' stacks >times
	arcprof report --import times --format folded | awk '{ n += $NF } END { print n }' >got
	[ "$(cat got)" = 6750000 ]
	# Zeros after the point are no fraction: these are samples.
	printf 'main;a 2.0\nmain;b 1.00\n' >whole
	run_arcprof report --import whole
	[ "$(sed -n 1p <<<"$output")" = "imported from folded stacks: 3 samples; showing 100 %" ]
}

@test "import: weights of speedscope that are not whole stay so" {
	cat >p.json <<-'E'
		{"$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": [{"name": "f"}, {"name": "g"}]},
		 "profiles": [{"type": "sampled", "name": "x", "unit": "none", "startValue": 0, "endValue": 1,
		               "samples": [[0], [0, 1]], "weights": [0.25, 1.5]}]}
	E
	[ "$(arcprof report --import p.json | sed -n 1p)" = "imported from speedscope: 1750000 millionths of weight; showing 100 %" ]
	[ "$(arcprof report --import p.json --format folded | sort | xargs)" = "f 250000 f;g 1500000" ]
}

@test "import: weights whose sum no number can hold are refused, and no other sum wraps" {
	seq 100 | sed 's/.*/a;f& 4611686018427387904/' >large
	run_arcprof report --import large
	[ "$status" -eq 1 ]
	[ "$stderr" = "arcprof report: large: weights add up to 2^63 or more, which cannot be shown, at sample 2" ]
	# f below itself: 19 times what is weighed, in the sums of recursive contexts
	echo "f$(printf ';f%.0s' {1..19}) 4000000000000000000" >deep
	arcprof report --import deep --xprof --format csv | tail -n 1 >got
	grep -q ',4000000000000000000,4000000000000000000,18446744073709551615$' got
	arcprof report --import deep --check
	seq 5 | sed 's/.*/a;f& 9223372036854775807/' >stacks
	run_arcprof report --stacks stacks
	grep -qx 'too large to be added up: samples; where 18446744073709551615 is shown, it is that or more' <<<"$output"
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

# ---- perf.data ----

# The total, and the ten largest functions by base and by cum, as t/perf-top prints them.
top_ten() {
	arcprof report --import "$1" --xprof --hide-inlined --metric "$2" --format csv | python3 -c '
import collections, csv, sys
base, cum, total = collections.Counter(), collections.Counter(), 0
for row in csv.DictReader(sys.stdin):
	n = int(row["base:" + sys.argv[1]])
	total += n
	if row["kind"] not in ("process", "thread", "mark"):
		base[row["name"]] += n
		cum[row["name"]] += int(row["cum:" + sys.argv[1]])
print(total)
for which in base, cum:
	for name, n in sorted(which.items(), key=lambda x: (-x[1], x[0]))[:10]:
		if n:
			print(n, name, sep="\t")' "$2"
}

# Without what has less than a twentieth: a sample in the loader or the vdso may have another name in perf.
large() {
	awk -F '\t' 'NR == 1 { total = $1 } $1 * 20 >= total'
}

# Few functions, and all their own: names of libraries have aliases.
build_busy() {
	cat >busy.c <<'EOS'
#define OWN __attribute__((noinline, noclone))
volatile unsigned long sum;
OWN void spin_long(void) { for (int i = 0; i < 30000000; i++) sum += i; }
OWN void spin_short(void) { for (int i = 0; i < 10000000; i++) sum += i; }
OWN unsigned fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
OWN void middle(void) { spin_short(); spin_long(); sum++; }
int main(void) { sum = fib(30); for (int i = 0; i < 3; i++) middle(); spin_short(); return 0; }
EOS
	gcc -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -o busy busy.c
}

record() {
	command -v perf >/dev/null || skip "no perf"
	build_busy
	timeout 60 perf record -q -e cpu-clock:u -F 999 "$@" ./busy 2>err || skip "perf record: $(head -n 1 err)"
}

@test "import: perf.data has the totals and top ten of perf script, without and with callers" {
	for options in "-o p.data" "-g -o p.data" "-g -e page-faults:u -o p.data"; do
		# shellcheck disable=SC2086
		record $options
		"$TOP/t/perf-top" p.data cpu-clock:u | large >want
		[ "$(wc -l <want)" -ge 3 ]
		top_ten p.data cpu-clock:u | large | diff want -
		arcprof report --import p.data --check
	done
	"$TOP/t/perf-top" p.data page-faults:u | head -n 1 >want
	top_ten p.data page-faults:u | head -n 1 | diff want -
}

@test "import: stack copies of perf.data are unwound to the callers that perf finds" {
	record --call-graph dwarf,8192 -o p.data
	"$TOP/t/perf-top" p.data cpu-clock:u >want
	grep -q '	middle$' want && grep -q '	main$' want
	top_ten p.data cpu-clock:u >got
	head -n 1 want | diff - <(head -n 1 got)
	# The one or the other may fail on a sample in the loader or a prologue.
	awk -F '\t' 'NR == FNR { want[$2] = $1; next } $2 in want { got[$2] = $1 }
		END { for (f in want) if (f != "" && (got[f] < want[f] * .9 - 4e6 || got[f] > want[f] * 1.1 + 4e6)) {
			print f, want[f], got[f]; bad = 1 } exit bad }' want got
}

@test "import: what perf record writes to a pipe is read from it" {
	record -g -o - >p.data
	"$TOP/t/perf-top" p.data cpu-clock:u | large >want
	top_ten - cpu-clock:u <p.data | large | diff want -
}

@test "import: perf.data knows what each process was at each sample" {
	python3 "$DATA/make-perf.py" >p.data
	python3 "$DATA/make-perf.py" --pipe >pipe.data
	run_arcprof report --import p.data --xtree --addresses --sort name
	[ "$(sed -n 1p <<<"$output")" = "imported from perf.data: 6.00 ms of cpu-clock in 5 threads over 6.70 us, 5 samples, 4 lost; showing 100 %" ]
	grep -q "^not shown .*: 1 sample of page-faults$" <<<"$output"
	arcprof report --import p.data --xtree --addresses --format folded | sort >got
	sort <<'EOS' | diff - got
inner [pid 200];inner [tid 200];inner+0x100 1000000
outer [pid 200];outer [tid 200];outer+0x1200;outer+0x1100 2000000
outer [pid 100];helper [tid 101];outer+0x1300;outer+0x1100;[kernel.kallsyms]+0xffffffff81000020;[kernel.kallsyms]+0xffffffff81000010 1000000
outer [pid 100];outer [tid 100];outer+0x1200;outer+0x1100 1000000
[no name] [pid 300];[no name] [tid 300];anonymous memory+0x700100 1000000
EOS
	arcprof report --import pipe.data --addresses --format folded | sort | diff got -
	[ "$(arcprof report --import p.data --from 5us --format folded | wc -l)" -eq 2 ]
}

@test "import: samples of perf.data with only an address and a time have no thread, CPU or weight" {
	python3 -c 'import struct, sys
def record(kind, misc, body):
	return struct.pack("<IHH", kind, misc, 8 + len(body)) + body
attr = struct.pack("<IIQQQQQ", 1, 112, 0, 999, 1 | 4, 0, 1 << 10).ljust(112, b"\0")
sys.stdout.buffer.write(struct.pack("<8sQ", b"PERFILE2", 16) + record(64, 0, attr + struct.pack("<Q", 1)) +
	record(9, 1, struct.pack("<QQ", 0xffffffff81000010, 5)) * 2 + record(9, 2, struct.pack("<QQ", 0x400100, 7)))' >bare.data
	run_arcprof report --import bare.data
	[ "$(sed -n 1p <<<"$output")" = "imported from perf.data: 3 samples of cpu-clock over 2 ns, 0 lost; showing 100 %" ]
	[ "$(sed -n 2p <<<"$output")" = "not known: processes, threads" ]
	run_arcprof query --import bare.data --format csv \
		'select time, thread, cpu, user, count(*) from samples group by user order by user'
	[ "$output" = "time,thread,cpu,user,count(*)
0,,,0,2
2,,,1,1" ]
	[ "$(arcprof query --import bare.data --format csv 'select count(*) from processes' | tail -n 1)" = 0 ]
}

@test "import: SQL has no CPU, mode or time for a sample whose profile does not have them" {
	arcprof report -i "$MIXED" --format jfr >p.jfr
	run_arcprof query --import p.jfr --format csv \
		'select cpu, user, time is null, thread is null, count(*) from samples group by 1, 2, 3, 4'
	[ "$(tail -n 1 <<<"$output")" = ",,0,0,100" ]
	# What the profile does tell is there.
	python3 "$DATA/make-perf.py" >p.data
	run_arcprof query --import p.data --format csv 'select cpu, user from samples where metric = 1 order by time'
	[ "$(tail -n +2 <<<"$output" | sort | uniq -c | xargs)" = "1 0,0 3 0,1 1 1,1" ]
}

@test "import: a truncated perf.data is shown as far as it goes, and the head says so" {
	python3 "$DATA/make-perf.py" --pipe >pipe.data
	head -c -20 pipe.data >cut.data
	run_arcprof report --import cut.data --xprof
	[ "$status" -eq 0 ]
	grep -q '^the file is truncated: what follows its last whole record is missing$' <<<"$output"
	head -c 60 pipe.data >cut.data
	run_arcprof report --import cut.data
	[ "$status" -eq 1 ]
	[ "$stderr" = "arcprof report: cut.data: damaged: it has no events" ]
}

@test "import: compressed records of perf.data are read, one stream over all of them" {
	skip_unless_command zstd
	python3 "$DATA/make-perf.py" --pipe >pipe.data
	arcprof report --import pipe.data --xtree >want
	for nr in 1 7; do
		python3 "$DATA/compress-perf.py" pipe.data $nr >z.data
		arcprof report --import z.data --xtree | diff want -
	done
	head -c -9 z.data >cut.data
	run_arcprof report --import cut.data
	grep -q '^the file is truncated: ' <<<"$output"
	python3 -c 'import sys; d = open("z.data", "rb").read(); sys.stdout.buffer.write(d[:-40] + b"x" * 40)' >bad.data
	run_arcprof report --import bad.data
	[ "$status" -eq 1 ]
	[[ $stderr == "arcprof report: bad.data: damaged: a compressed record: "* ]]
}

@test "import: the folder of perf record --threads has the totals of perf script, also compressed" {
	for options in "" "-z"; do
		rm -rf p.data
		record $options --threads -o p.data
		[ -e p.data/data.0 ]
		"$TOP/t/perf-top" p.data cpu-clock:u | head -n 1 >want
		top_ten p.data cpu-clock:u | head -n 1 | diff want -
	done
}

# ---- pprof ----

# The name and all numbers of each function by --xprof.
numbers() {
	arcprof report "$@" --xprof --format json | jq -r '.rows[] | "\(.name)\t\(.n)\t\(.base)\t\(.cum)\t\(.cum_recursive)"' | sort
}

@test "import: what --format pprof wrote has the same functions and numbers, and the same processes" {
	for trace in mixed java; do
		arcprof report -i "$TOP/t/data/$trace/trace" --format pprof -o p.pb.gz
		numbers -i "$TOP/t/data/$trace/trace" >want
		numbers --import p.pb.gz | diff want -
		gunzip p.pb.gz
		arcprof report --import p.pb --check
		rm p.pb
	done
}

@test "import: a pprof profile has the total and top ten of go tool pprof" {
	command -v go >/dev/null || skip "no go"
	arcprof report -i "$TOP/t/data/java/trace" --format pprof -o ours.pb.gz
	go tool pprof -proto -output go.pb.gz ours.pb.gz 2>err || skip "go tool pprof: $(head -n 1 err)"
	go tool pprof -top -unit ns -nodecount 10 go.pb.gz 2>err |
		awk 'seen { sub("ns", "", $1); sub("ns", "", $4); name = $6; for (i = 7; i <= NF; i++) if ($i != "(inline)") name = name " " $i
			print $1 + 0, $4 + 0, name } $1 == "flat" { seen = 1 }' | sort >want
	[ "$(wc -l <want)" -eq 10 ]
	arcprof report --import go.pb.gz --xprof --format json >got.json
	json '.rows[] | "\(.base[0]) \(.cum[0]) \(.name)"' got.json >got
	# pprof cuts long names
	while read -r base cum name; do
		name=${name%%<*}	# templates are shortened
		grep -qF "$base $cum ${name%%\(*}" got
	done <want
	[ "$(go tool pprof -top -unit ns go.pb.gz 2>err | sed -n 's/.*% of \([0-9]*\)ns total/\1/p')" = \
		"$(json '.metrics[0].total' got.json)" ]
}

@test "import: a pprof profile is recognised by what it has before and in a first sample of any length" {
	skip_unless_command python3
	python3 - <<-'END'
		def varint(n):
		    out = b""
		    while n > 127: out += bytes([n & 127 | 128]); n >>= 7
		    return out + bytes([n])
		def number(field, v): return varint(field << 3) + varint(v)
		def text(field, b): return varint(field << 3 | 2) + varint(len(b)) + b
		sample = text(1, b"\x01" * 70000) + text(2, varint(5))
		rest = text(4, number(1, 1) + text(4, number(1, 1))) + text(5, number(1, 1) + number(2, 3))
		rest += b"".join(text(6, s) for s in (b"", b"cpu", b"ns", b"fn"))
		open("long.pb", "wb").write(text(1, number(1, 1) + number(2, 2)) + text(2, sample) + rest)
		# a type of samples that is none, and no other field that a profile has
		open("none", "wb").write(text(1, text(1, b"cpu")) + text(2, sample) + rest)
		open("nothing", "wb").write(text(1, number(1, 1)) + text(99, sample))
	END
	run_arcprof report --import long.pb --format folded
	[ "$status" -eq 0 ]
	[ "$(tail -n 1 <<<"$output" | tr ';' '\n' | grep -c 'fn')" -eq 65535 ]
	for file in none nothing; do
		run_arcprof report --import $file
		[ "$status" -eq 1 ]
		[[ $stderr == *"not a profile of a known format"* ]]
	done
}

@test "import: a pprof profile whose stacks are long out of proportion is refused at once" {
	skip_unless_command python3
	python3 - <<-'END'
		import random
		def varint(n):
		    out = b""
		    while n > 127: out += bytes([n & 127 | 128]); n >>= 7
		    return out + bytes([n])
		def number(field, v): return varint(field << 3) + varint(v)
		def text(field, b): return varint(field << 3 | 2) + varint(len(b)) + b
		r = random.Random(1)
		p = text(1, number(1, 1) + number(2, 2))
		for i in range(300): p += text(2, text(1, bytes(r.randrange(1, 100) for i in range(255))) + text(2, varint(5)))
		for i in range(99): p += text(4, number(1, i + 1) + b"".join(text(4, number(1, (i * 7 + k) % 300 + 1)) for k in range(256)))
		for i in range(300): p += text(5, number(1, i + 1) + number(2, 3 + i))
		p += b"".join(text(6, s) for s in [b"", b"cpu", b"ns"] + [b"f%d" % i for i in range(300)])
		open("wide.pb", "wb").write(p)
	END
	run_arcprof report --import wide.pb
	[ "$status" -eq 1 ]
	[[ $stderr == *"wide.pb: damaged: its stacks are longer than such a file can have"* ]]
}

@test "import: what a pprof profile has below zero is in metrics of its own" {
	python3 - <<-'END'
		def varint(n):
		    n, out = n & (1 << 64) - 1, b""
		    while n > 127: out += bytes([n & 127 | 128]); n >>= 7
		    return out + bytes([n])
		def number(field, v): return varint(field << 3) + varint(v)
		def text(field, b): return varint(field << 3 | 2) + varint(len(b)) + b
		p = text(1, number(1, 1) + number(2, 2)) + text(1, number(1, 3) + number(2, 4))
		for location, n, v in (1, 2, 500), (2, -3, -700), (1, 1, -1):
		    p += text(2, text(1, varint(location)) + text(2, varint(n) + varint(v)))
		for i in 1, 2: p += text(4, number(1, i) + text(4, number(1, i))) + text(5, number(1, i) + number(2, 4 + i))
		open("diff.pb", "wb").write(p + b"".join(text(6, s) for s in (b"", b"samples", b"count", b"cpu", b"nanoseconds", b"up", b"down")))
	END
	run_arcprof report --import diff.pb
	grep -qx '2 values are below zero, in the metrics minus-...' <<<"$output"
	[ "$(arcprof report -q --import diff.pb --format folded | grep -v '^#')" = "up 500" ]
	arcprof report -q --import diff.pb --metric minus-cpu --format folded | grep -v '^#' | sort | xargs >got
	[ "$(cat got)" = "down 700 up 1" ]
	arcprof report --import diff.pb --check >checked
}

@test "import: a damaged pprof profile is refused" {
	arcprof report -i "$MIXED" --format pprof | gunzip >p.pb
	head -c $(($(wc -c <p.pb) - 10)) p.pb >cut.pb
	run_arcprof report --import cut.pb
	[ "$status" -eq 1 ]
	[[ $stderr == *": not a profile of a known format" || $stderr == *"damaged or truncated"* ]]
}

# ---- speedscope ----

@test "import: what --format speedscope wrote has the same functions and shares" {
	for trace in mixed java; do
		arcprof report -q -i "$TOP/t/data/$trace/trace" --format speedscope -o p.json
		# It has no numbers of samples, functions of one name are one, and so is a thread without functions.
		numbers -i "$TOP/t/data/$trace/trace" | grep -v '^java\|^futex_wait' | cut -f 1,3- >want
		numbers --import p.json | grep -v '^java\|^futex_wait' | cut -f 1,3- | diff want -
		arcprof report --import p.json --check
	done
}

@test "import: events of speedscope are times of functions, and know when" {
	run_arcprof report --import "$DATA/events.speedscope.json" --format folded
	diff - <(sort <<<"$output") <<'EOS'
helper "é";read\it 2000000
main;main 4500000
main;main;outer 500000
main;main;outer;read\it 3500000
main;main;read\it 2000000
EOS
	run_arcprof report --import "$DATA/events.speedscope.json"
	[ "$(sed -n 1p <<<"$output")" = "imported from speedscope: 12.5 ms of time in 2 threads over 10.5 ms; showing 100 %" ]
	[ "$(sed -n 2p <<<"$output")" = "not known: processes, sample counts, lost samples" ]
	[ "$(arcprof report --import "$DATA/events.speedscope.json" --from 7ms --format folded)" = 'main;main 500000
main;main;read\it 2000000' ]
}

# events.py SEED: events of speedscope at random in p.json, and the folded stacks that they mean in want.
random_events() {
	python3 - "$1" <<-'END'
		import collections, json, random, sys
		r = random.Random(int(sys.argv[1]))
		events, stack, sums, at = [], [], collections.Counter(), 0
		for i in range(4000):
		    step = r.choice((0, 1, 7))
		    if stack and step: sums[";".join(f"f{f}" for f in stack)] += step
		    at += step
		    if stack and r.random() < .5:
		        events.append({"type": "C", "frame": stack.pop(), "at": at})
		    else:
		        stack.append(r.randrange(3))
		        events.append({"type": "O", "frame": stack[-1], "at": at})
		json.dump({"shared": {"frames": [{"name": f"f{i}"} for i in range(3)]}, "profiles": [{"type": "evented",
			   "name": "x", "unit": "none", "startValue": 0, "endValue": at, "events": events}]}, open("p.json", "w"))
		print(*sorted(f"{k} {v}" for k, v in sums.items()), sep="\n", file=open("want", "w"))
	END
}

@test "import: events of speedscope have the stacks that they mean, whatever changes between two of them" {
	skip_unless_command python3
	for seed in 1 2 3; do
		random_events $seed
		arcprof report -q --import p.json --format folded | grep -v '^#' | LC_ALL=C sort >got
		LC_ALL=C sort want | diff - got
	done
}

@test "import: deep stacks of speedscope take time in proportion to the file" {
	local depth took TIMEFORMAT=%U
	skip_unless_command python3
	for depth in 10 60000; do
		python3 - "$depth" >"$depth.json" <<-'END'
			import json, sys
			depth, events, at = int(sys.argv[1]), [], 0
			for what in ["O0"] * depth + ["O1", "C1"] * 60000 + ["C0"] * depth:
			    events.append({"type": what[0], "frame": int(what[1]), "at": at})
			    at += 1
			print(json.dumps({"shared": {"frames": [{"name": "f"}, {"name": "g"}]}, "profiles": [{"type": "evented",
					  "name": "x", "unit": "none", "startValue": 0, "endValue": at, "events": events}]}))
		END
		# levels, as folded stacks of them have gigabytes
		{ time arcprof report -q --import "$depth.json" --xtree --format tree >"$depth.out" 2>err; } 2>"$depth.time"
		[ "$(awk '/^[0-9]/ { sum += $3 } END { print sum }' "$depth.out")" -eq $((2 * depth + 120000 - 1)) ]
		grep -qx "$depth	0	60000	g" "$depth.out"
	done
	took=$(cat 60000.time)
	echo "10 functions: $(cat 10.time) s, 60000: $took s"
	# 120000 stacks of 60000 functions, each hashed as a whole, would take more than ten seconds
	awk -v took="$took" 'BEGIN { exit took > 5 }'
}

@test "import: a small file that gzip compressed does not become a large one" {
	head -c 100000000 /dev/zero | gzip >zeros.gz
	run_arcprof report --import zeros.gz
	[ "$status" -eq 1 ]
	[[ $stderr == *"zeros.gz: no text, with a zero byte at offset 0"* ]]
	yes 'a;b;c 1' | head -c 70000000 | gzip >lines.gz
	run_arcprof report --import lines.gz
	[ "$status" -eq 1 ]
	[[ $stderr == *"lines.gz: "*" bytes decompress to more than 64 MiB"*"hint: "*"gzip -d"* ]]
	# what is behind a member that ends is read on
	{ echo 'a;b 1' | gzip; echo 'a;c 2' | gzip; } >two.gz
	[ "$(arcprof report -q --import two.gz --format folded | grep -vc '^#')" -eq 2 ]
}

@test "import: broken speedscope files are refused with the place" {
	local shared='"shared":{"frames":[{"name":"f"}]}'
	check() {
		printf '{"profiles":[%s],%s}' "$1" "$shared" >p.json
		run_arcprof report --import p.json
		[ "$status" -eq 1 ]
		[ "$stderr" = "arcprof report: p.json: profile 0: $2" ]
	}
	check '{"type":"sampled","unit":"none","samples":[[1]],"weights":[1]}' "frame 1, of which there are 1"
	check '{"type":"sampled","unit":"none","samples":[[0],[0]],"weights":[1]}' "a profile has more samples than weights"
	check '{"type":"sampled","unit":"none","samples":[[0]],"weights":[-1]}' "a weight of -1"
	check '{"type":"evented","unit":"none","events":[{"type":"C","frame":0,"at":1}]}' "an event that leaves what was not entered"
	check '{"type":"other"}' "a profile is neither sampled nor of events"
	printf '{"profiles":[{"type":"sampled","samples":[[0' >p.json
	run_arcprof report --import p.json
	[[ $stderr == "arcprof report: p.json: its JSON is damaged or truncated at offset "* ]]
}

# ---- callgrind ----

# "NAME NUMBER" of what callgrind_annotate lists, the levels of recursion and the files of a function added up.
annotated() {
	callgrind_annotate --threshold=100 "$@" | sed -n 's/^ *\([0-9,]*\) *( *[0-9.]*%)  *[^:]*:\([^[]*[^[ ]\).*/\1 \2/p' | tr -d , |
		awk '{ n = $1; sub(/^[0-9]* /, ""); sub(/\x27[0-9]+$/, ""); sum[$0] += n } END { for (f in sum) print f "\t" sum[f] }' | sort
}

# The same of --xprof, of column base or cum.
imported() {
	arcprof report --import "$1" --xprof --format json --metric Ir |
		jq -r ".rows[] | \"\\(.name)\\t\\(.$2[0])\"" | awk -F '\t' '{ sum[$1] += $2 } END { for (f in sum) print f "\t" sum[f] }' | sort
}

record_callgrind() {
	command -v valgrind >/dev/null || skip "no valgrind"
	cat >calls.c <<'EOS'
#define OWN __attribute__((noinline, noclone))
OWN int leaf(int n) { int s = 0; for (int i = 0; i < n; i++) s += i ^ n; return s; }
OWN int left(int n) { return leaf(n) + leaf(n * 2); }
OWN int right(int n) { return leaf(n * 10) + 1; }
OWN int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
OWN int odd(int n);
OWN int even(int n) { return n ? odd(n - 1) : 1; }
OWN int odd(int n) { return n ? even(n - 1) : leaf(5); }
int main(void) { int s = 0; for (int i = 0; i < 100; i++) s += left(i) + right(i); return (s + fib(15) + even(40) + odd(7)) & 1; }
EOS
	gcc -g -O1 -fno-optimize-sibling-calls -o calls calls.c
	timeout 60 valgrind -q --tool=callgrind --callgrind-out-file=calls.out "$@" ./calls >/dev/null 2>err || [ $? -eq 1 ] ||
		skip "valgrind: $(head -n 1 err)"
}

@test "import: callgrind's functions have what callgrind_annotate says, and callers what was called for them" {
	record_callgrind
	annotated calls.out | awk -F '\t' '$2 > 50' >want
	imported calls.out base | awk -F '\t' '$2 > 50' >got
	[ "$(grep -c . want)" -ge 10 ]
	for f in main leaf left right fib even odd; do
		grep "^$f	" want >w
		grep "^$f	" got | diff w -
	done
	# With what they call; of recursive functions callgrind counts some of that twice.
	annotated --inclusive=yes calls.out >want
	imported calls.out cum >got
	for f in left right leaf; do
		grep "^$f	" want >w
		grep "^$f	" got | diff w -
	done
	[ "$(sed -n 's/^summary: //p' calls.out)" = "$(arcprof report --import calls.out --format json | json '.metrics[0].total' -)" ]
	arcprof report --import calls.out --check
	# What leaf consumed for left and right is exact, though all of it is one function.
	arcprof report --import calls.out --xarc --format json >xarc
	run_arcprof report --import calls.out --xprof --metric calls --format json
	[ "$(json '.rows[] | select(.name == "leaf") | .base[0]')" = 300 ]
	[ "$(json '.rows[] | select(.name == "fib") | .base[0]')" = 1973 ]
	[ "$(json '.rows[] | select(.name == "left") | .base[0]')" = 100 ]
}

@test "import: callgrind's other ways to write positions and names are the same profile" {
	record_callgrind
	imported calls.out base >want
	for options in "--dump-instr=yes" "--compress-strings=no" "--compress-pos=no" "--dump-line=no" "--collect-jumps=yes"; do
		record_callgrind "$options"
		imported calls.out base | diff want -
	done
}

@test "import: metrics that --format speedscope wrote stay apart" {
	local trace=$TOP/t/data/calls/trace metric
	arcprof report "$trace" --metric cpu,wall --format speedscope -q -o s.json
	for metric in cpu wall; do
		arcprof report "$trace" --metric $metric --xprof --format json | jq '[.rows[].base[0]] | add' >want
		arcprof report --import s.json --metric $metric --xprof --format json | jq '[.rows[].base[0]] | add' | diff want -
	done
}

@test "import: every metric that a format of ours has comes back with its total and its samples" {
	local trace=$TOP/t/data/facts/trace format metric
	sums() {
		arcprof report -q "$@" --xprof --format json | jq -c '[.metrics[0].total, ([.rows[].base[0]] | add)]'
	}
	for format in pprof otlp speedscope; do
		arcprof report -q "$trace" --format $format -o p.$format
		for metric in cpu-clock wall lock waits blame alloc objects throws; do
			sums "$trace" --metric $metric >want
			sums --import p.$format --metric $metric | diff want - || { echo "$format: $metric"; return 1; }
		done
		arcprof report --import p.$format --xprof >out
		! grep -q '^not shown.* time' out || false
	done
	# pprof has one number of samples, that of its first metric
	arcprof report --import p.pprof >out
	head -n 1 out | grep -q ', 47 samples; '
	grep -x 'not shown (--metric shows it): wall, .*throws.*' out
	arcprof report --import p.pprof --metric throws >out
	[ "$(head -n 1 out)" = "imported from pprof: 16 exceptions of throws in 2 threads over 1.61 s; showing 100 %" ]
}

@test "import: samples that weigh nothing stay so, before and after those that do" {
	local i
	for i in 1 2 3; do
		printf 'busy 7 1.00%d000:          0 cpu-clock:u:\n\t     1 a+0x1 (/busy)\n\t     2 main+0x1 (/busy)\n\n' $i
	done >script
	printf 'busy 7 1.009000:       1000 cpu-clock:u:\n\t     3 b+0x1 (/busy)\n\t     2 main+0x1 (/busy)\n\n' >>script
	arcprof report -q --import script --format folded | grep -v '^#' >got
	[ "$(cat got)" = "busy [tid 7];main;b 1000" ]
}

@test "import: what --format callgrind wrote has the same functions" {
	arcprof report -q -i "$MIXED" --format callgrind -o c.out
	numbers -i "$MIXED" | cut -f 1,3 | grep -v '^java	\|^main	' >want
	numbers --import c.out | cut -f 1,3 | grep -v '^java \[\|^main \[' | diff want -
}

@test "import: a line of a callgrind file that cannot be read is named" {
	printf 'version: 1\nevents: Ir\nfn=(1) f\n1 5\nfn=(2)\n' >c.out
	run_arcprof report --import c.out
	[ "$status" -eq 1 ]
	[ "$stderr" = "arcprof report: c.out: line 5 cannot be read" ]
}

@test "import: a type with the name of one of our events still adds up" {
	local types
	for types in wall 'wakers wall' 'samples lock' 'alloc live cpu'; do
		# shellcheck disable=SC2086
		python3 "$TOP/t/data/import/make-pprof.py" p.pb.gz $types
		run_arcprof report --import p.pb.gz --check
		[ "$status" -eq 0 ]
		[[ $output != *BAD* ]]
	done
}
