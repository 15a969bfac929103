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

# ---- V8 and Chrome ----

@test "import: a .cpuprofile of Node.js has all of its samples, and their time" {
	run_arcprof report --import "$DATA/node.cpuprofile.gz"
	[ "$(sed -n 1p <<<"$output")" = "imported from cpuprofile: 244 ms of cpu over 261 ms, 100 samples; showing 100 %" ]
	[ "$(sed -n 2p <<<"$output")" = "not known: processes, threads, lost samples" ]
	gunzip -c "$DATA/node.cpuprofile.gz" >p.json
	read -r cpu nr_cpu <<<"$(sum_of p.json cpu)"
	read -r idle nr_idle <<<"$(sum_of p.json idle)"
	[ "$((nr_cpu + nr_idle))" = "$(jq '.samples | length' p.json)" ]
	[ "$((cpu + idle))" = "$(jq '(.endTime - .startTime - .timeDeltas[0]) * 1000' p.json)" ]
	arcprof report --import p.json --xprof --lines >lines
	grep -q ' spin (/home/me/busy.js:2)' lines
	arcprof report --import p.json --check >checked
}

@test "import: a node that is its own caller, or that a sample has and the file has not, is damage" {
	local node='{"id":1,"callFrame":{"functionName":"f"},"children":[2]},{"id":2,"callFrame":{"functionName":"g"},"children":'
	printf '{"nodes":[%s[1]}],"samples":[2],"timeDeltas":[1]}' "$node" >p.json
	run_arcprof report --import p.json
	[ "$stderr" = "arcprof report: p.json: damaged: a function is below itself without end, or below more than 65536" ]
	printf '{"nodes":[%s[]}],"samples":[3],"timeDeltas":[1]}' "$node" >p.json
	run_arcprof report --import p.json
	[ "$stderr" = "arcprof report: p.json: damaged: a sample of node 3, which there is not" ]
	printf '{"nodes":[%s[]}],"samples":[2,1],"timeDeltas":[1]}' "$node" >p.json
	run_arcprof report --import p.json
	[ "$stderr" = "arcprof report: p.json: damaged: it has more samples than times" ]
}

@test "import: a .heapprofile of Node.js has the sizes of all its nodes" {
	gunzip -c "$DATA/node.heapprofile.gz" >p.json
	[ "$(sum_of p.json memory | cut -d ' ' -f 1)" = "$(jq '[.. | .selfSize? // empty] | add' p.json)" ]
	bases --import p.json >got
	grep -q '^keep	' got
}

@test "import: slices of a Chrome trace are the time of the innermost one" {
	run_arcprof report --import "$DATA/node-trace.json.gz"
	[[ $(sed -n 1p <<<"$output") == "imported from Chrome trace: 205 ms of slices in 1 thread over 353 ms; "* ]]
	# B and E, X inside them, a time that two share, an end without a beginning, and no end of the list
	cat >t.json <<-'E'
		[{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"worker"}},
		 {"ph":"E","pid":1,"tid":2,"ts":5},
		 {"ph":"B","pid":1,"tid":2,"ts":10,"name":"outer"},
		 {"ph":"X","pid":1,"tid":2,"ts":10,"dur":4,"name":"inner"},
		 {"ph":"X","pid":1,"tid":2,"ts":10,"dur":1.5,"name":"innermost"},
		 {"ph":"C","pid":1,"tid":2,"ts":11,"name":"counter"},
		 {"ph":"X","pid":1,"tid":2,"ts":20,"dur":-3,"name":"endless"},
		 {"ph":"E","pid":1,"tid":2,"ts":30},
	E
	arcprof report -q --import t.json --format folded | grep -v '^#' | sort >got
	diff - got <<-'E'
		[no name] [pid 1];worker [tid 2];outer 16000
		[no name] [pid 1];worker [tid 2];outer;inner 2500
		[no name] [pid 1];worker [tid 2];outer;inner;innermost 1500
	E
	run_arcprof report --import t.json
	grep -q '^left out: 1 events that are no times of functions' <<<"$output"
	grep -qx '1 events have no valid duration, and no time' <<<"$output"
	grep -q '^1 events begin without an end, or end without a beginning' <<<"$output"
	# a part that was cut out of a trace, whose chunks are in no order
	sed 's/^ *//' >t.json <<-'E'
		{"traceEvents":[{"ph":"P","pid":1,"tid":2,"name":"Profile","id":"0x1","ts":1,"args":{"data":{"startTime":0}}},
		{"ph":"P","pid":1,"tid":3,"name":"ProfileChunk","id":"0x1","ts":9,"args":{"data":{"cpuProfile":{"samples":[1,7,1]},"timeDeltas":[4,2,2]}}},
		{"ph":"P","pid":1,"tid":3,"name":"ProfileChunk","id":"0x1","ts":5,"args":{"data":{"cpuProfile":{"nodes":[{"id":1,"callFrame":{"functionName":"f"}}],"samples":[1]},"timeDeltas":[1]}}}]}
	E
	[ "$(arcprof report -q --import t.json --format folded | grep -v '^#')" = "[no name] [pid 1];[no name] [tid 2];f 6000" ]
	run_arcprof report --import t.json
	grep -qx 'left out: 1 samples of functions that are in no part of the file' <<<"$output"
	echo '{"traceEvents":[{"ph":"C","ts":1,"name":"x"}]}' >t.json
	run_arcprof report --import t.json
	[ "$stderr" = "arcprof report: t.json: it has neither a CPU profile nor events that begin and end, but 1 others" ]
}

@test "import: samples of a Chrome trace with stackFrames, as Hermes writes them" {
	cat >h.json <<-'END'
		{"traceEvents":[{"ph":"M","name":"thread_name","pid":7,"tid":"2","args":{"name":"js"}}],
		 "samples":[{"ts":"1000","pid":7,"tid":"2","sf":3,"weight":"1"},{"ts":2000.5,"pid":7,"tid":"2","sf":"2","weight":4},
		            {"ts":3000,"pid":7,"tid":"2","sf":9,"weight":1},{"ts":"no","sf":1}],
		 "stackFrames":{"3":{"name":"leaf","parent":2},"1":{"name":"[root]"},"2":{"name":"work","category":"JavaScript","parent":"1"}}}
	END
	[ "$(sum_of h.json samples)" = "6 6" ]
	arcprof report -q --import h.json --format folded | grep -v '^#' | sort >got
	printf '%s\n' '[no name] [pid 7];js [tid 2] 1' '[no name] [pid 7];js [tid 2];[root];work 4' '[no name] [pid 7];js [tid 2];[root];work;leaf 1' | diff - got
	run_arcprof report --import h.json
	grep -qx 'left out: 1 samples of functions that are in no part of the file' <<<"$output"
	sed -i 's/"name":"\[root\]"/"name":"[root]","parent":3/' h.json
	run_arcprof report --import h.json
	[ "$status" -eq 1 ]
}

@test "import: what --format chrome and --format firefox wrote has the same functions and times" {
	# A thread that is in no function is one of itself.
	bases -i "$MIXED" | grep -v '^java' >want
	for format in chrome firefox; do
		arcprof report -q -i "$MIXED" --format $format -o p.$format
		bases --import p.$format | grep -v '^java' | diff want -
		arcprof report --import p.$format --check >checked
	done
}

# ---- Firefox and samply ----

@test "import: a profile of the Firefox Profiler whose tables are of each thread" {
	cat >p.json <<-'E'
		{"meta":{"interval":1,"startTime":1000,"processType":0,"preprocessedProfileVersion":24,
		         "sampleUnits":{"time":"ms","eventDelay":"ms","threadCPUDelta":"µs"}},
		 "libs":[{"name":"app","path":"/usr/bin/app","codeId":"00ff"}],
		 "threads":[{"name":"main","processName":"app","pid":"12","tid":13,
		   "samples":{"stack":[1,null,0,1],"time":[1,2,3,4],"weight":[1,1,2,1],"weightType":"samples","threadCPUDelta":[0,5,1000,250],"length":4},
		   "markers":{"name":[0],"length":1},
		   "stackTable":{"frame":[0,1],"prefix":[null,0],"length":2},
		   "frameTable":{"address":[4096,-1],"func":[0,1],"line":[null,7],"length":2},
		   "funcTable":{"name":[0,1],"resource":[0,-1],"fileName":[null,2],"length":2},
		   "resourceTable":{"lib":[0],"name":[0],"length":1},
		   "stringArray":["0x1000","leaf \"é\"","leaf.c"]}]}
	E
	arcprof report -q --import p.json --format folded | grep -v '^#' | sort >got
	diff - got <<-'E'
		app [pid 12];main [tid 13];0x1000 2
		app [pid 12];main [tid 13];0x1000;leaf "é" 2
	E
	[ "$(sum_of p.json cpu)" = "1250000 2" ]
	run_arcprof report --import p.json
	grep -qx 'left out: 1 markers' <<<"$output"
	echo '{"meta":{"processType":0,"version":4},"libs":[],"threads":[]}' >raw.json
	run_arcprof report --import raw.json
	[ "$stderr" = "arcprof report: raw.json: this is a raw profile of Firefox, which is not read
hint: open it at https://profiler.firefox.com and save it: what is saved can be imported" ]
}

@test "import: addresses of a profile of samply get the names of the file that has the build-id" {
	local id address
	command -v readelf >/dev/null || skip "no readelf"
	echo 'int leaf(int n) { return n * 3; } int main(int n, char **v) { return leaf(n); }' >app.c
	gcc -O0 -Wl,--build-id=sha1 -o app app.c
	id=$(readelf -n app | sed -n 's/.*Build ID: //p')
	address=$((0x$(nm app | sed -n 's/ T leaf$//p') + 4))
	address=$((address - $(readelf -lW app | awk '$1 == "LOAD" { print $3; exit }')))
	mkdir -p root/opt && mv app root/opt/app
	check() {
		cat >p.json <<-E
			{"meta":{"preprocessedProfileVersion":24,"processType":0},
			 "libs":[{"name":"app","path":"/opt/app","codeId":"$1"}],
			 "threads":[{"name":"main","pid":1,"tid":1,"samples":{"stack":[0],"time":[1],"length":1},
			   "stackTable":{"frame":[0],"prefix":[null]},"frameTable":{"address":[$address],"func":[0]},
			   "funcTable":{"name":[0],"resource":[0]},"resourceTable":{"lib":[0]},"stringArray":["0x1234"]}]}
		E
		arcprof report -q --symfs root --import p.json --xprof --format json | jq -r '.rows[] | select(.base[0] > 0) | .name'
	}
	[ "$(check "$id")" = leaf ]
	[ "$(check 00112233445566778899)" = 0x1234 ]
}

# ---- perf ----

@test "import: what perf script printed has its samples, periods and frames" {
	gunzip -c "$DATA/perf-script.txt.gz" >text
	awk '/ cpu-clock:u: *$/ { n++; sum += $4 } END { printf "%d %d\n", sum, n }' text >want
	sum_of text cpu-clock:u | diff want -
	bases --import text | cut -f 1 | xargs >got
	[ "$(cat got)" = "spin_long spin_short" ]
	arcprof report -q --import text --format folded >got
	grep -q ';main;spin_long ' got
	# without callers and periods, with processes, and lines that are something else
	printf '%s\n' '# cmdline : perf record' '   a b c 7/8     1.5: cycles:  12ab f(int) [clone .x]+0x1f (/usr/lib/l.so)' 'Warning:' '   a b c 7/8 [002] 1.6: cycles:  34 [unknown] (/usr/lib/l.so)' >text
	arcprof report -q --import text --format folded | grep -v '^#' | sort >got
	diff - got <<-'E'
		a b c [pid 7];a b c [tid 8];[unknown] 1
		a b c [pid 7];a b c [tid 8];f(int) [clone .x] 1
	E
	run_arcprof report --import text
	grep -qx 'left out: 1 of 4 lines, which are neither samples nor frames; the first is line 3' <<<"$output"
	# as other programs print it: no time, and frames that are not indented
	printf '%s\n' 'java 19983 cycles:' 'ffffffff8103d0ca native_write ([kernel.kallsyms])' '7f0012345678 start (/lib/l.so)' '' >text
	[ "$(arcprof report -q --import text --format folded | grep -v '^#')" = 'java [tid 19983];start;native_write 1' ]
}

# ---- heaps ----

@test "import: massif's heap at its peak" {
	xz -dc "$DATA/massif.out.xz" >m.out
	awk -F = '/^mem_heap_B/ { n = $2 } /^heap_tree=peak/ { print n, 0 }' m.out >want
	sum_of m.out memory | diff want -
	arcprof report -q --import m.out --format folded | grep -v '^#' | sort >got
	printf '%s\n' 'main;big;leaf 50000' 'main;fill;leaf 66016' | diff - got
	sed -i 's/^  n1: 66016/  n1: 116017/' m.out
	run_arcprof report --import m.out
	[ "$stderr" = "arcprof report: m.out: damaged: callers have more bytes than what they called" ]
}

@test "import: dhat's and heaptrack's bytes and blocks, in all, at the peak and at the end" {
	# "Total: 116,016 bytes in 65 blocks, At t-gmax: the same, At t-end: 33,520 bytes in 32 blocks"
	[ "$(sum_of "$DATA/dhat.json" alloc)" = "116016 65" ]
	[ "$(sum_of "$DATA/dhat.json" peak)" = "116016 65" ]
	[ "$(sum_of "$DATA/dhat.json" end)" = "33520 32" ]
	# heaptrack_print: 66 calls to allocation functions, a peak of 188.72K, 33.52K leaked
	[ "$(sum_of "$DATA/heaptrack.zst" alloc)" = "188720 66" ]
	[ "$(sum_of "$DATA/heaptrack.zst" peak)" = "188720 66" ]
	[ "$(sum_of "$DATA/heaptrack.zst" leaked)" = "33520 32" ]
	arcprof report -q --import "$DATA/heaptrack.zst" --format folded >got
	grep -q ';main;fill;leaf 66016' got
	printf 'v 10400 3\na 10 0\n+ 0\n- 0\n- 0\n' >h
	run_arcprof report --import h
	[ "$stderr" = "arcprof report: h: line 5 cannot be read" ]
	printf 'v 10550 3\nX ./p\nm 1 -\nt 7bd7ea53f9 0\n' >h
	run_arcprof report --import h
	[ "$(head -n 1 <<<"$stderr")" = "arcprof report: h: this is what heaptrack recorded, with addresses (--raw), which cannot be imported" ]
}

@test "import: a heap profile of gperftools, and a sampled one scaled as pprof does" {
	[ "$(sum_of "$DATA/gperftools.heap" inuse_space)" = "33520 32" ]
	[ "$(sum_of "$DATA/gperftools.heap" alloc_space)" = "116016 65" ]
	printf 'heap profile: 1: 1024 [1: 1024] @ heap_v2/524288\n1: 1024 [1: 1024] @ 0x10\nwhat\n' >h
	[ "$(sum_of h inuse_space)" = "524800 512" ]
	run_arcprof report --import h
	grep -qx 'left out: 1 lines, which are no stacks; the first is line 3' <<<"$output"
	# the list of modules as older ones have it
	printf 'heap profile: 1: 8 [1: 8] @ heapprofile\n1: 8 [1: 8] @ 0x401234\n--- Memory map: ---\n  source=/h\n  400000-402000: /none/p\n' >h
	run_arcprof report --import h --xprof --format json
	[ "$(jq -r '.rows[0].module' <<<"$output")" = /none/p ]
	[ "$(arcprof report --import h | grep -c 'which are no stacks')" -eq 0 ]
}

@test "import: a heap profile of jemalloc has what its stacks have together, scaled as pprof does" {
	printf 'heap_v2/1048576\n  t*: 3: 66580 [0: 0]\n  t0: 3: 66580 [0: 0]\n@ 0x30 0x20 0x10\n  t*: 1: 65556 [0: 0]\n  t7: 1: 65556 [0: 0]\n@ 0x20\n  t*: 2: 1024 [5: 2560]\n' >h
	# 1 / (1 - exp(-size / rate)) of each
	[ "$(sum_of h inuse_space)" = "$(python3 -c 'from math import exp
def scaled(n, size): return n / (1 - exp(-(size / n) / 1048576))
print(int(65556 * scaled(1, 65556)) + int(512 * scaled(2, 1024)), int(scaled(1, 65556)) + int(scaled(2, 1024)))')" ]
	arcprof report -q --import h --xtree --format csv >got
	run_arcprof report --import h
	[ "$(sed -n 1p <<<"$output" | cut -d: -f 1)" = "imported from jemalloc heap" ]
	sed -i '$d' h
	echo '  t*: what' >>h
	run_arcprof report --import h
	grep -qx 'left out: 1 lines, which are no stacks; the first is line 8' <<<"$output"
}

@test "import: hprof's text of CPU samples, as --format hprof writes it" {
	arcprof report -q -i "$MIXED" --format hprof -o p.txt
	awk '/^CPU SAMPLES BEGIN/ { on = 1 } /^CPU SAMPLES END/ { on = 0 } on && $1 + 0 { n += $4 } END { print n, n }' p.txt >want
	sum_of p.txt samples | diff want -
	printf 'JAVA PROFILE 1.0.1, created today\nTRACE 7:\n\ta.B.c(B.java:9)\nSITES BEGIN (ordered by live bytes)\n1 50%% 50%% 64 2 96 3 7 a.X\nSITES END\n' >p.txt
	[ "$(sum_of p.txt live)" = "64 2" ]
	[ "$(sum_of p.txt alloc)" = "96 3" ]
	# shares of the total, and numbers of calls
	printf 'JAVA PROFILE 1.0.1, created today\nTRACE 7:\n\ta.B.c(B.java:9)\nTRACE 8:\n\ta.B.d(B.java:3)\nCPU TIME (ms) BEGIN (total = 5142) today\nrank   self  accum   count trace method\n   1 14.39%% 14.39%%  211977 7 a.B.c\n   2  4.06%% 18.45%% 3 8 a.B.d\nCPU TIME (ms) END\n' >p.txt
	[ "$(sum_of p.txt times)" = "$((514200 * 1845)) 211980" ]
}

# ---- OpenTelemetry ----

@test "import: what --format otlp wrote has the same functions, processes, threads and times" {
	numbers() {
		arcprof report -q "$@" --xprof --format json | jq -r '.rows[] | "\(.name)\t\(.n)\t\(.base)\t\(.cum)"' | sort
	}
	arcprof report -q -i "$MIXED" --format otlp -o p.otlp
	numbers -i "$MIXED" | grep -v '^java' >want
	numbers --import p.otlp | grep -v '^java' | diff want -
	arcprof report --import p.otlp --check >checked
	run_arcprof report --import p.otlp
	[ "$(sed -n 2p <<<"$output")" = "not known: lost samples" ]
}

@test "import: JSON of OpenTelemetry's profiles is what they are in protobuf, and requests line by line are one profile" {
	arcprof report -q -i "$MIXED" --format otlp -o p.otlp
	arcprof report -q -i "$MIXED" --format otlp-json -o p.json
	rows() { arcprof report -q --import "$1" --xtree --format json | jq '.metrics, .rows'; }
	rows p.otlp >want
	rows p.json | diff want -
	# names as protobuf has them, in another order, and numbers that are no text
	jq -c '{dictionary, resource_profiles: .resourceProfiles} | del(.dictionary.linkTable)
		| .resource_profiles[].scopeProfiles[].profiles[].samples[] |= (.stack_index = .stackIndex | del(.stackIndex)
			| .values |= map(tonumber) | .linkIndex = null)' p.json >other.json
	rows other.json | diff want -
	cat p.json other.json >two.json
	[ "$(arcprof report -q --import two.json --format json | jq .metrics[0].total)" -eq "$((2 * $(jq '.[0].total' <<<"$(jq -s '.[0]' want)")))" ]
	head -c 2000 p.json >cut.json
	run_arcprof report --import cut.json
	[ "$status" -eq 1 ]
	[ "$stderr" = "arcprof report: cut.json: damaged or truncated at offset 2000" ]
	echo '{"resourceProfiles":[{"scopeProfiles":[{"profiles":[{"sample":[{"locationsLength":2,"value":["3"]}]}]}]}]}' >old.json
	run_arcprof report --import old.json
	[ "$stderr" = "arcprof report: old.json: JSON of OpenTelemetry's profiles of version 1.7 or older; as protobuf they can be imported" ]
}

@test "import: older versions of OpenTelemetry's profiles, distinguished by their contents" {
	python3 - <<-'END'
		def varint(n):
		    out = b""
		    while n > 127: out += bytes([n & 127 | 128]); n >>= 7
		    return out + bytes([n])
		def number(field, v): return varint(field << 3) + varint(v)
		def text(field, b): return varint(field << 3 | 2) + varint(len(b)) + b
		def packed(field, *v): return text(field, b"".join(map(varint, v)))
		def file(name, profile, more):
		    strings = (b"", b"samples", b"count", b"cpu", b"nanoseconds", b"f", b"g")
		    tables = b"".join(text(2, text(3, number(1, i))) for i in (0, 1, 2))
		    tables += text(3, b"") + text(3, number(1, 5)) + text(3, number(1, 6))
		    tables += b"".join(text(5, s) for s in strings) + more
		    open(name, "wb").write(text(1, text(2, text(2, profile))) + text(2, tables))
		thread = text(6, text(1, b"thread.name") + text(2, text(1, b"worker")))
		types = text(1, number(1, 1) + number(2, 2)) + text(1, number(1, 3) + number(2, 4))
		sample = number(1, 1) + number(2, 2) + packed(3, 3, 700) + packed(4, 0)
		file("1.7", types + text(2, sample) + packed(3, 2, 2, 1), thread)
		file("1.8", text(1, number(1, 3) + number(2, 4)) + text(2, number(1, 1) + packed(2, 700) + packed(3, 0)),
		     text(6, number(1, 0)) + text(7, b"") + text(7, packed(1, 2, 1)))
	END
	[ "$(arcprof report -q --import 1.7 --metric cpu --format folded | grep -v '^#')" = "worker;f;g 700" ]
	[ "$(sum_of 1.7 samples)" = "3 3" ]
	[ "$(arcprof report -q --import 1.8 --format folded | grep -v '^#')" = "f;g 700" ]
}

# ---- JVMs ----

@test "import: pauses, concurrent phases and safepoints of a log of the collector are events" {
	awk '/\] GC\([0-9]+\) (Pause|Concurrent) .*[0-9]ms$/ { sub("ms", "", $NF); n++; sum += $NF }
		/Safepoint "/ { sub(/.*Total: /, ""); n++; sum += $1 / 1e6 } END { printf "%d %.3f\n", n, sum }' "$DATA/gc.log" >want
	arcprof report --import "$DATA/gc.log" --log --format csv >log
	python3 -c 'import csv
rows = list(csv.DictReader(open("log")))
print(len(rows), "%.3f" % (sum(float(r["duration_ns"]) for r in rows) / 1e6))' | diff want -
	grep -q 'Pause Full.*System.gc()' log
	run_arcprof report --import "$DATA/gc.log"
	grep -qx 'a log has events, and no samples: --gc and --log show them' <<<"$output"
	# a locale with decimal commas
	sed -E 's/([0-9])\.([0-9]+(s\]|ms$))/\1,\2/g' "$DATA/gc.log" >comma.log
	grep -q '^\[0,' comma.log
	arcprof report --import comma.log --log --format csv | diff log -
	echo '2026-01-01T00:00:00.000+0000: 0.123: [GC (Allocation Failure) 1024K->512K(2048K), 0.0012 secs]' >old.log
	run_arcprof report --import old.log
	[ "$stderr" = "arcprof report: old.log: this is a log of the garbage collector of JDK 8 or older, which cannot be imported
hint: that of JDK 9 and later (-Xlog:gc*) can be imported" ]
}

@test "import: a dump of threads has each with its stack and what it waits for, as text and as JSON" {
	gunzip -c "$DATA/jstack.txt.gz" >dump
	[ "$(sum_of dump threads)" = "$(grep -c 'java.lang.Thread.State:' dump) $(grep -c 'java.lang.Thread.State:' dump)" ]
	arcprof report -q --import dump --format folded >got
	grep -q '^JVM;main \[tid [0-9]*\];W.main;java.lang.Thread.sleep;TIMED_WAITING (sleeping) 1$' got
	grep -q ';blocked one \[tid .*;BLOCKED (on object monitor) 1$' got
	gunzip -c "$DATA/threads.json.gz" >dump
	[ "$(sum_of dump threads)" = "$(grep -c '"name":' dump) $(grep -c '"name":' dump)" ]
	arcprof report -q --import dump --format folded >got
	grep -q '^JVM;main;W.main;java.lang.Thread.sleep;.*;TIMED_WAITING 1$' got
	# what made blanks of tabs, no header, and states on the first line alone, as JDK 5 and ThreadMXBean have them
	cat >dump <<-'E'
		2026-01-01

		"a" #1 prio=5 tid=0x7 nid=0x1 runnable
		   java.lang.Thread.State: RUNNABLE
		        at A.f(A.java:1)

		"b" daemon prio=1 tid=0x2 nid=0x2 in Object.wait() [0x5..0x6]
		    at B.g(B.java:2)
		    at B.f(B.java:1)

		"c" id=3 in WAITING on lock=C@1
		    at C.f(C.java:1)
	E
	arcprof report -q --import dump --format folded | grep -v '^#' | sort >got
	printf '%s\n' 'JVM;a [tid 1];A.f 1' 'JVM;b [tid 2];B.f;B.g;in Object.wait() 1' 'JVM;c;C.f;WAITING 1' | diff - got
}

# ---- the file as a whole ----

@test "import: zstd, xz, bzip2 and zip are decompressed, and truncated or unknown ones are errors" {
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

@test "import: marks of UTF-8 and line ends of other systems change nothing" {
	local file how
	! command -v zstd >/dev/null || zstd -dqc "$DATA/heaptrack.zst" >heaptrack
	xz -dc "$DATA/massif.out.xz" >massif
	gzip -dc "$DATA/threads.json.gz" >threads
	gzip -dc "$DATA/perf-script.txt.gz" >script
	cp "$DATA/flamegraph.folded" "$DATA/gperftools.heap" "$DATA/gc.log" "$DATA/dhat.json" "$DATA/events.speedscope.json" .
	for file in callgrind hprof; do
		arcprof report -q -i "$MIXED" --format $file -o $file
	done
	for file in *; do
		how=--xtree
		[ "$file" != gc.log ] || how=--log
		arcprof report --import "$file" $how >want
		{ printf '\357\273\277'; sed 's/$/\r/' "$file"; } >other
		arcprof report --import other $how | diff want - || { echo "$file"; return 1; }
		rm want other
	done
	{ printf ' \n'; cat threads; } >blank
	arcprof report --import threads --xtree >want
	arcprof report --import blank --xtree | diff want -
	tr '\n' '\r' <flamegraph.folded >old
	run_arcprof report --import old
	[ "$status" -eq 1 ]
	[ "$(sed -n 1p <<<"$stderr")" = "arcprof report: old: its lines end in carriage returns alone" ]
	[ "$(sed -n 2p <<<"$stderr")" = "hint: tr '\\r' '\\n' makes a text of it that can be imported" ]
}

@test "import: a file that is truncated says so, where a reader can tell" {
	# says NAME BYTES NOTE: of the first bytes of the file; without a number, of the whole
	says() {
		head -c "${2:--0}" "$1" >cut
		arcprof report --import cut | sed '/^ Units ::/,$d' >head
		grep -qx "$3" head || { echo "$1:"; cat head; return 1; }
		arcprof report --import "$1" | sed '/^ Units ::/,$d' >head
		! grep -q 'truncated' head || { cat head; return 1; }
	}
	local end="the last line has no end: if the file is truncated, the number in it is wrong"
	cp "$DATA/flamegraph.folded" folded
	says folded 66 "$end"
	gzip -dc "$DATA/jstack.txt.gz" >jstack
	says jstack 714 "$end"
	gzip -dc "$DATA/perf-script.txt.gz" >script
	says script 1687 "$end"
	says "$DATA/gc.log" 1222 "$end"
	xz -dc "$DATA/massif.out.xz" >massif
	says massif "$(($(grep -bm 1 '^heap_tree=peak' massif | cut -d : -f 1) + 80))" \
		"truncated: the tree of who allocated what is not whole, and there may have been larger ones"
	says "$DATA/gperftools.heap" "$(grep -b -m 2 @ "$DATA/gperftools.heap" | sed -n '2s/:.*//p')" \
		"truncated, or not whole: its stacks add up to 0 of 33520 bytes in use, and 0 of 116016 allocated"
	arcprof report -q -i "$MIXED" --format hprof -o hprof
	says hprof "$(grep -b '^CPU SAMPLES END' hprof | sed 's/:.*//')" "truncated, or not finished: its last table has no end"
	arcprof report -q -i "$MIXED" --format callgrind -o callgrind
	says callgrind "$(grep -b '^ob=' callgrind | tail -n 1 | sed 's/:.*//')" \
		"truncated, or not whole: its lines add up to 98000000 of 100000000 cpu-clock"
	# what cannot be read further is an error that names the format
	python3 "$DATA/make-pprof.py" p.pb.gz cpu
	gzip -dc p.pb.gz | head -c 60 >cut
	run_arcprof report --import cut
	[[ $stderr == "arcprof report: cut: damaged or truncated: "* ]]
	arcprof report -q -i "$MIXED" --format firefox -o p.firefox
	gzip -dc p.firefox | head -c 400 >cut
	run_arcprof report --import cut
	[ "$stderr" = 'arcprof report: cut: JSON that begins with "meta": not a profile of a known format, and damaged or truncated' ]
	gzip -c p.firefox >twice
	run_arcprof report --import twice
	[ "$stderr" = "arcprof report: twice: this is compressed twice, which cannot be imported
hint: decompress it once, and import what that makes" ]
}

@test "import: a file of a format that is not read is refused by its name, with what to do" {
	check() {
		run_arcprof report --import f
		[ "$status" -eq 1 ]
		[ "$(sed -n 1p <<<"$stderr")" = "arcprof report: f: $1" ]
		[ "$(sed -n 2p <<<"$stderr")" = "${2:+hint: $2}" ]
	}
	printf 'go 1.22 trace\0\0\0' >f
	check "this is an execution trace of Go, which cannot be imported" \
		"'go tool trace -pprof=sched <file>' makes pprof profiles of it, also with net, sync and syscall"
	printf 'JAVA PROFILE 1.0.2\0\0\0\0\10' >f
	check "this is a heap dump of a JVM, which cannot be imported" "'arcprof heap report <file>' reads it"
	cp "$MIXED" f
	check "this is a trace of arcprof, which cannot be imported" "'arcprof report <file>' reads it, without --import"
	echo '{"snapshot":{"meta":{}},"nodes":[]}' >f
	check "this is a heap snapshot of V8, which cannot be imported" \
		"Chrome's developer tools show it; 'node --heap-prof' writes a profile that can be imported"
	echo '{"name":"x","version":"1","scripts":{},"more":1}' >f
	check 'JSON that begins with "name", "version", "scripts": not a profile of a known format'
	echo '{ "version": 1, "names": "a;b;c 1" }' >f
	check 'JSON that begins with "version", "names": not a profile of a known format'
	echo '{ "version": 1, "recording": "a;b;c 1" }' >f
	check "this is a recording of Safari's Web Inspector, which cannot be imported"
	echo '{ "header": { "event": "Exception" }, "javascriptStack": {} }' >f
	check "this is a report of Node.js (--report-on-signal and the like), which cannot be imported"
	printf '\n\012\002\x18\1\012\002\x18\2\012\002\x18\3' | tail -c +2 >f
	check "this is a trace of Perfetto, which cannot be imported" "Perfetto's 'traceconv json <file>' makes a Chrome trace of it"
	printf '{Heap before gc invocations=1:\n def new generation total 1K\n' >f
	check "this is a log of the garbage collector of JDK 8 or older, which cannot be imported" \
		"that of JDK 9 and later (-Xlog:gc*) can be imported"
	printf 'PSAdaptiveSizePolicy::compute: costs minor_time: 0.05 live: 7 promoted: 13 overflow: true\n' >f
	run_arcprof report --import f
	[[ $stderr == "arcprof report: f: not a profile of a known format: "* ]]
	printf 'Weight\tSelf Weight\tSymbol Names\n4.93 s\t0 s\tstart\n' >f
	check "this is what was copied from Xcode's Instruments, which cannot be imported"
	printf '\xff\xfea\0;\0b\0 \0001\0\n\0' >f
	check "this is text in UTF-16, which cannot be imported" \
		"'iconv -f UTF-16 -t UTF-8' makes a text of it that may be imported"
	echo '<svg width="10">' >f
	check "this is a picture (SVG), which cannot be imported" "if it is a flame graph, import the stacks it was made of"
}
