#!/usr/bin/env bats
# Formats of other programs: totals and functions are those of the report of the same trace.
# bats file_tags=stored
load ../lib
load ../java

DATA=$TOP/t/data

# Stored traces: Java with native code and the kernel, calls with samples, instructions; and, where events
# can be opened, a C++ program with its dispatches, and the kernel.
setup_file() {
	local t
	cd "$BATS_FILE_TMPDIR" || return 1
	for t in mixed java calls branches; do
		cp "$DATA/$t/trace" "$t.data"
	done
	if g++ -O2 -g -o program "$TOP/t/formats/program.cc"; then
		"$BUILD/arcprof" record -F 4999 --sched -o program.data -- ./program >out 2>&1
		"$BUILD/arcprof" record -F 4999 --all-kernel -o kernel.data -- dd if=/dev/zero of=/dev/null bs=64k \
			count=20000 >>out 2>&1
	fi || true
	for t in *.data; do
		"$BUILD/arcprof" report -i "$t" --xprof --format json >"${t%.data}.json" 2>>out || rm -f "$t"
	done
}

# all_agree FORMAT: of every trace the profile has the totals and the functions of the report.
all_agree() {
	local trace
	for trace in "$BATS_FILE_TMPDIR"/*.data; do
		echo "$trace"
		arcprof report -i "$trace" --format "$1" -o profile 2>notes
		"$TOP/t/exported" "$1" "${trace%.data}.json" <profile
		[ "$(grep -c "^arcprof report: --format=$1 leaves out: " notes)" -le 1 ]
	done
}

# Names as nobody should choose them, in ./tree.
foreign_names() {
	printf '# levels\n# n samples\n# metric cpu-clock ns\n'
	printf '0\t0\t0\tp"1"\tprocess\t\t\t18219251269632\n1\t0\t0\ta\\nb\tthread\t\t\t18219251273875\n'
	printf '2\t3\t3000000\t<script>alert(1)</script>\tnative\t/x y/"z"\\n\n'
	printf '3\t1\t1000000\tx\\x1b[31m\\xff\\\\"\tjava-compiled\n3\t1\t18446744073709551\t=1+1;fn=\tnative\n'
}

@test "formats: speedscope has each thread's samples, as the report" {
	all_agree speedscope
}

@test "formats: speedscope escapes foreign names" {
	foreign_names >tree
	arcprof report --tree tree --format speedscope >profile
	[ "$(jq -r '.profiles[0].name' profile)" = 'p"1" [pid 4242] a\nb [tid 4243]' ]
	jq -r '.shared.frames[].name' profile >names
	printf '%s\n' 'x\x1b[31m\xff\"' '<script>alert(1)</script>' '=1+1;fn=' | sort | diff - <(sort names)
	grep -qF '"weights":[3000000,1000000,18446744073709551]' profile
}

# The same numbers as the JDK's reader says.
jfr_agrees() {
	arcprof report "$@" --format jfr -o profile.jfr 2>notes
	arcprof report "$@" --xprof --format json >want.json
	JFR_CLASSES=$BATS_FILE_TMPDIR "$TOP/t/exported" jfr want.json <profile.jfr
	jfr summary profile.jfr | awk -v n="$(jq .quality.n want.json)" '$1 == "jdk.ExecutionSample" { found = $2 == n } END { exit !found }'
}

@test "formats: jfr has each sample, as the report, for the JDK's reader" {
	local trace
	use_any_jdk
	compile_java -d "$BATS_FILE_TMPDIR" "$TOP/t/formats/JfrSums.java"
	for trace in "$BATS_FILE_TMPDIR"/*.data; do
		echo "$trace"
		case $trace in
		*/branches.data)
			run_arcprof report --format jfr -o profile.jfr "$trace"
			[ "$status" -eq 1 ]
			[[ $stderr == *"a JFR file consists of samples and events with their times"* ]]
			continue
			;;
		esac
		jfr_agrees --samples -i "$trace"
		[ "$(grep -c '^arcprof report: --format=jfr leaves out: ' notes)" -eq 1 ]
	done
}

@test "formats: jfr has the JDK's fields of jdk.ExecutionSample, and types of frames that converters know" {
	skip_unless_command python3
	for trace in mixed java; do
		arcprof report -q --format jfr -o profile.jfr "$TOP/t/data/$trace/trace"
		# As converters with fixed layouts read it: the next event is where the last field of this one ended.
		python3 - >got <<-'END'
			import struct
			data = open("profile.jfr", "rb").read()
			size, tables, meta = struct.unpack(">QQQ", data[8:32])
			def number(at):
			    v = shift = 0
			    while shift < 56:
			        b = data[at]; at += 1; v |= (b & 127) << shift; shift += 7
			        if b < 128: return v, at
			    return v | data[at] << 56, at + 1
			def string(at):
			    kind = data[at]
			    if kind < 2: return "", at + 1
			    n, at = number(at + 1)
			    return data[at:at + n].decode(), at + n
			def event(at):
			    begin = at
			    n, at = number(at)
			    kind, at = number(at)
			    return begin + n, kind, at
			end, kind, at = event(meta)
			for i in range(3): _, at = number(at)
			n, at = number(at)
			names = []
			for i in range(n): text, at = string(at); names.append(text)
			types = {}
			def element(at):
			    name, at = number(at); n, at = number(at)
			    attributes = {}
			    for i in range(n):
			        key, at = number(at); value, at = number(at)
			        attributes[names[key]] = names[value]
			    if names[name] == "class": types[attributes["name"]] = int(attributes["id"])
			    n, at = number(at)
			    for i in range(n): at = element(at)
			    return at
			element(at)
			at, nr = 68, 0
			while at < size:
			    end, kind, at = event(at)
			    if kind == types["jdk.ExecutionSample"]:
			        for i in range(4): _, at = number(at)	# time, thread, stack, state
			        assert at == end, "something is behind the state"
			        nr += 1
			    at = end
			print(nr)
		END
		[ "$(cat got)" -eq "$(arcprof report --format json "$TOP/t/data/$trace/trace" | jq .quality.n)" ]
	done
	skip_unless_java
	arcprof report -q --format jfr -o profile.jfr "$TOP/t/data/java/trace"
	jfr print --json profile.jfr | jq -r '.. | .frames? // empty | .[].type' | sort -u >types
	[ -s types ]
	! grep -qvxE 'Interpreted|JIT compiled|Inlined|Native|Kernel|C1 compiled' types || false
}

@test "formats: jfr has waits, allocations, exceptions and events of JVMs as the JDK writes them" {
	local metric type sum
	arcprof report -q --format jfr -o facts.jfr "$DATA/facts/trace"
	for metric in "wall wall" "alloc jdk.ObjectAllocationSample" "throws jdk.JavaExceptionThrow" \
		"lock jdk.JavaMonitorEnter jdk.JavaMonitorWait jdk.ThreadPark profiler.NativeLock"; do
		sum=0
		for type in ${metric#* }; do
			arcprof report --import facts.jfr --metric "$type" --xprof --format json >got.json
			sum=$((sum + $(jq '.metrics[0].total' got.json)))
		done
		arcprof report --metric "${metric%% *}" --xprof --format json "$DATA/facts/trace" >want.json
		[ "$sum" -eq "$(jq '.metrics[0].total' want.json)" ]
	done
	skip_unless_java
	jfr summary facts.jfr >summary
	arcprof report -q --log --format csv "$DATA/facts/trace" >log
	for type in jdk.GCPhasePause=pause jdk.ExecuteVMOperation=safepoint jdk.ThreadStart=thread-start arcprof.Mark=mark; do
		[ "$(awk -v type="${type%=*}" '$1 == type { print $2 }' summary)" -eq "$(grep -c ",${type#*=}," log)" ]
	done
	jfr print --events jdk.ObjectAllocationSample,jdk.JavaMonitorWait,jdk.JavaExceptionThrow,jdk.GCHeapSummary facts.jfr >events
	grep -q 'objectClass = byte\[\]' events
	grep -q 'monitorClass = java.lang.Thread ' events
	grep -q 'thrownClass = java.lang.IllegalStateException ' events
	grep -q 'when = "After GC"' events
	grep -q '"server 0 😀"' events
}

@test "formats: jfr view hot-methods counts as the report" {
	local jfr
	jfr=$(ls /usr/lib/jvm/*/bin/jfr | while read -r f; do "$f" help view >/dev/null 2>&1 && echo "$f"; done | head -n 1)
	[ "$jfr" ] || skip "no JDK with 'jfr view' (21 or later)"
	arcprof report --format jfr -o profile.jfr "$BATS_FILE_TMPDIR/mixed.data"
	"$jfr" view --width 200 hot-methods profile.jfr | awk '$NF ~ /%$/ { print $(NF - 1) }' | head >got
	arcprof report --xprof --signatures --sort base --format json "$BATS_FILE_TMPDIR/mixed.data" |
		jq '[.rows[].n | select(. > 0)] | sort | reverse[:10][]' >want
	diff got want
	arcprof report -q --format jfr -o facts.jfr "$DATA/facts/trace"
	"$jfr" view --width 200 allocation-by-class facts.jfr | grep -q '^byte\[\] '
	"$jfr" view --width 200 exception-by-type facts.jfr | grep -q '^java.lang.IllegalStateException '
	"$jfr" view --width 200 gc facts.jfr | grep -q 'Old Garbage Collection'
}

@test "formats: callgrind has what each function consumed, itself and with its calls" {
	skip_unless_command callgrind_annotate
	all_agree callgrind
	# a recursion: calls into what is active already cost nothing, so that cum is right
	printf '# metric cpu ns\nmain;a;b;a;b;x 5\nmain;a;b;b;a 3\nmain;c;b 2\n' >stacks
	arcprof report --stacks stacks --xprof --format json >want.json
	arcprof report --stacks stacks --format callgrind >profile
	"$TOP/t/exported" callgrind want.json <profile
	[ "$(jq -cS '.rows | map({(.name): .cum[0]}) | add' want.json)" = '{"a":8,"b":10,"c":2,"main":10,"x":5}' ]
}

@test "formats: callgrind escapes foreign names" {
	skip_unless_command callgrind_annotate
	foreign_names >tree
	arcprof report --tree tree --format callgrind >profile
	callgrind_annotate --auto=no --threshold=100 profile >got
	grep -F '18,446,744,073,709,551 (100.0%) 1 (20.00%)  ???:=1+1;fn=' got
	grep -F '???:x\x1b[31m\xff\"' got
	grep -F '???:<script>alert(1)</script> [/x y/"z"\n]' got
	# one word for an event; the unit is in its long name
	printf '# metric a,b:c us\nmain 3\n' >stacks
	arcprof report --stacks stacks --format callgrind | grep '^event' >got
	printf 'event: a_b_c : a,b:c (us)\nevent: samples : samples (count)\nevents: a_b_c samples\n' | diff got -
}

@test "formats: otlp has each thread's samples, as the report, by OpenTelemetry's own messages" {
	skip_unless_command protoc
	all_agree otlp
	all_agree otlp-json
}

@test "formats: otlp has processes, threads, lines, what is inlined, and build-ids" {
	arcprof report -i "$DATA/mixed/trace" --format otlp-json >got
	[ "$(jq -c '.resourceProfiles[0].resource.attributes | map({(.key): .value | (.stringValue // .intValue)}) | add' got)" = \
		'{"host.name":"example","process.executable.name":"java","process.pid":"4242","arcprof.command":"java -cp classes Demo","arcprof.lost_samples":"3"}' ]
	[ "$(jq -c '.resourceProfiles[0].scopeProfiles[0].profiles[0] | [.timeUnixNano, .durationNano, .period]' got)" = \
		'["1700000000123456789","105000000","1000000"]' ]
	# innermost first: what is inlined, then the code that it is in
	[ "$(jq -c '.dictionary as $d | [$d.locationTable[] | select((.lines | length) > 1) |
		[.lines[] | $d.stringTable[$d.functionTable[.functionIndex].nameStrindex]]] | unique' got)" = \
		'[["java.lang.Math.max","demo.Demo.fib"]]' ]
	[ "$(jq -c '[.dictionary.attributeTable[] | .value.stringValue] | map(select(. == "kernel" or . == "jvm" or . == "native")) | unique' got)" = \
		'["jvm","kernel","native"]' ]
	arcprof report -i "$DATA/java/trace" --format otlp-json >got
	[ "$(jq -r '.dictionary as $d | $d.mappingTable[] | select(.filenameStrindex) |
		select($d.stringTable[.filenameStrindex] | endswith("libjvm.so")) |
		$d.attributeTable[.attributeIndices[0]].value.stringValue' got)" = 97da31b249941f25ff26a6126471221bb579d67f ]
}

@test "formats: pprof has all metrics and the labels of threads, and otlp links their spans" {
	local metric
	arcprof report -q --format pprof "$DATA/facts/trace" | "$TOP/t/pprof-read" >got.json
	for metric in cpu-clock wall lock alloc throws; do
		arcprof report --metric "$metric" --xprof --format json "$DATA/facts/trace" >want.json
		[ "$(jq --arg m "$metric" '[.sample_types[][0]] as $t | ($t | index($m)) as $i | [.samples[].values[$i]] | add' got.json)" \
			-eq "$(jq '.metrics[0].total' want.json)" ]
	done
	arcprof report --label endpoint=/cart --metric alloc --xprof --format json "$DATA/facts/trace" >want.json
	[ "$(jq '[.sample_types[][0]] as $t | ($t | index("alloc")) as $i |
		[.samples[] | select(.labels.endpoint == "/cart") | .values[$i]] | add' got.json)" -eq "$(jq '.metrics[0].total' want.json)" ]
	arcprof report -q --format otlp-json "$DATA/facts/trace" >got
	[ "$(jq -c '[.dictionary.linkTable[] | select(.traceId | test("[1-9a-f]")) | [.traceId, .spanId]] | sort' got)" = \
		'[["0000000000000000000000abcdef0000","0000000000001230"],["0000000000000000000000abcdef0001","0000000000001231"]]' ]
	# each sample with a link has its labels, and no frame for them
	[ "$(jq -c '.dictionary as $d | [.. | .samples? // empty | .[] | select(.linkIndex) |
		[.attributeIndices[] | $d.stringTable[$d.attributeTable[.].keyStrindex]] | index("endpoint") != null] | unique' got)" = '[true]' ]
	[ "$(jq '[.dictionary.stringTable[] | select(startswith("endpoint="))] | length' got)" -eq 0 ]
}

@test "formats: a message names what a format has no place for" {
	local lacks
	lacks() { arcprof report --format "$1" -o profile "$DATA/facts/trace" 2>&1 | grep -o 'leaves out: .*'; }
	lacks folded >got
	for lacks in 'samples of wall' 'samples of alloc' 'times of samples' 'events of JVMs' 'marks and phases' 'labels of threads' \
		'source lines'; do
		grep -q "$lacks" got
	done
	lacks pprof >got
	grep -q 'times of samples; events of JVMs; marks and phases$' got
	! lacks jfr | grep -q 'samples of\|events of JVMs\|labels' || false
	lacks chrome >got
	grep -q ': source lines' got
	lacks firefox >got
	! grep -q 'events\|marks\|labels' got || false
}

@test "formats: jfr, chrome and firefox have labels for as long as threads had them" {
	by_label() { arcprof report -q "$@" --by-label endpoint --metric "$metric" --xprof --format json |
		jq -r '.rows[] | select(.kind == "label") | "\(.name) \(.cum[0])"' | sort; }
	arcprof report -q --format jfr -o p.jfr "$DATA/facts/trace"
	metric=cpu-clock by_label "$DATA/facts/trace" >want
	grep -q 'endpoint=/search' want
	metric=cpu-clock by_label --import p.jfr | diff want -
	arcprof report -q --format chrome "$DATA/facts/trace" | gunzip >chrome
	arcprof report -q --format firefox "$DATA/facts/trace" | gunzip >firefox
	# key, times in ns and all labels of each
	jq -r '[.traceEvents[] | select(.cat == "labels")] | map(select(.ph == "b")) as $b | map(select(.ph == "e")) as $e |
		range($b | length) | [$b[.].tid, ($b[.].ts, $e[.].ts) * 1000 | round] + [$b[.].name] | @tsv' chrome | sort >spans
	jq -r '.shared.stringArray as $s | .threads[] | .tid as $t | .markers | range(.length) as $i |
		select(.data[$i].kind == "labels") | [$t, ((.startTime[$i], .endTime[$i]) * 1e6 | round)] + [$s[.name[$i]]] | @tsv' \
		firefox | sort >got
	grep -q 'endpoint=/cart' got
	diff <(cut -f 2- spans) <(cut -f 2- got)
	[ "$(jq '[.traceEvents[] | select(.cat == "labels" and .ph == "b" and .args.endpoint == "/cart")] | length > 0' chrome)" = true ]
	# what JVMs and programs tell is there as well, with a length or without
	jq -r '.traceEvents[] | select(.cat == "pause" or .cat == "phase" or .cat == "mark") | .cat' chrome | sort | uniq -c >want
	jq -r '.threads[].markers.data[].kind | select(. == "pause" or . == "phase" or . == "mark")' firefox | sort | uniq -c | diff want -
	arcprof report -q --format firefox --label endpoint=/cart "$DATA/facts/trace" | gunzip |
		jq -r '.shared.stringArray as $s | .threads[].markers | range(.length) as $i | select(.data[$i].kind == "labels") | $s[.name[$i]]' |
		grep -v 'endpoint=/cart' | wc -l | grep -qx 0
}

@test "formats: otlp escapes foreign names" {
	foreign_names >tree
	arcprof report --tree tree --format otlp-json >profile
	[ "$(jq -r '.dictionary.attributeTable[] | select(.value.stringValue) | .value.stringValue' profile | head -n 1)" = 'a\nb' ]
	grep -qF '"18446744073709551"' profile
	jq -r '.dictionary.stringTable[]' profile >names
	grep -qFx 'x\x1b[31m\xff\"' names
	grep -qFx '/x y/"z"\n' names
	skip_unless_command protoc
	arcprof report --tree tree --format otlp | protoc -I "$TOP/t/formats/otlp" \
		--decode opentelemetry.proto.profiles.v1development.ProfilesData \
		opentelemetry/proto/profiles/v1development/profiles.proto >got
	grep -qF 'string_table: "<script>alert(1)</script>"' got
	grep -qF 'values: 18446744073709551' got
}

@test "formats: firefox has each thread's samples, as the report" {
	all_agree firefox
}

@test "formats: firefox has categories, lines, what is inlined, build-ids, and one metric" {
	arcprof report -i "$DATA/mixed/trace" --format firefox | gzip -d >got
	[ "$(jq -c '.threads | map([.processName, .pid, .name, .tid])' got)" = '[["java","4242","main",4243],["java","4242","java",4242]]' ]
	[ "$(jq -c '.meta | [.interval, .extra[0].entries[].value]' got)" = \
		'[1,"java -cp classes Demo","example","cpu-clock","3"]' ]
	[ "$(jq -c '.shared as $s | [range($s.frameTable.length) | select($s.frameTable.inlineDepth[.] == 1) |
		$s.stringArray[$s.funcTable.name[$s.frameTable.func[.]]]] | unique' got)" = '["java.lang.Math.max"]' ]
	arcprof report -i "$DATA/java/trace" --format firefox | gzip -d >got
	# the build-id as it is, and as Breakpad writes it
	[ "$(jq -r '.libs[] | select(.name == "libjvm.so") | .codeId + " " + .breakpadId' got)" = \
		"97da31b249941f25ff26a6126471221bb579d67f B231DA979449251FFF26A6126471221B0" ]
	printf '# metric cpu ns\n# metric faults\nmain;a 100 3\nmain;b 200 0\n' >stacks
	run_arcprof report --stacks stacks --format firefox --metric faults,cpu -o profile
	[[ $stderr == *"--format=firefox leaves out: cpu, which --metric shows; "* ]]
	[ "$(gzip -d <profile | jq -c '.threads[0].samples | [.weight, .weightType]')" = '[[3],"samples"]' ]
}

@test "formats: firefox escapes foreign names" {
	foreign_names >tree
	arcprof report --tree tree --format firefox | gzip -d >profile
	[ "$(jq -r '.threads[0] | .processName + " " + .name' profile)" = 'p"1" a\nb' ]
	grep -qF '18446744073.709551' profile
	jq -r '.shared.stringArray[]' profile >names
	grep -qFx 'x\x1b[31m\xff\"' names
	grep -qFx '<script>alert(1)</script>' names
}

@test "formats: chrome has samples, dispatches and calls, as the reports" {
	local trace
	for trace in "$BATS_FILE_TMPDIR"/*.data; do
		echo "$trace"
		case $trace in
		*/branches.data)
			run_arcprof report --format chrome -o refused "$trace"
			[ "$status" -eq 1 ]
			[ ! -e refused ]
			[[ $stderr == *"trace events consist of what has a time, and this has none: "* ]]
			continue
			;;
		esac
		arcprof report -i "$trace" --format chrome -o profile
		"$TOP/t/exported" chrome "${trace%.data}.json" <profile
	done
	trace=$BATS_FILE_TMPDIR/program.data
	[ -e "$trace" ] || skip "no events can be opened here"
	# each thread's time on CPUs
	arcprof report -i "$trace" --threads --format json |
		jq -c '[.threads[] | select(.cpu_ns > 0) | [.tid, .cpu_ns]] | sort' >want
	arcprof report -i "$trace" --format chrome | gzip -d | jq -c '[.traceEvents[] | select(.cat == "dispatch")] |
		group_by(.args.tid) | map([.[0].args.tid, (map(.dur * 1000) | add | round)]) | sort' | diff want -
	[ "$(jq length want)" -ge 1 ]
}

# The same counts of each function: of samples, or calls.
hprof_agrees() {
	arcprof report -i "$DATA/$1/trace" --format hprof -o profile 2>notes
	"$TOP/t/formats/hprof-read" <profile >got.json
	arcprof report -i "$DATA/$1/trace" "${@:3}" --xprof --format json >want.json
	# the empty trace is of threads in no function
	jq -S --arg k "$2" '.[$k] | del(.["<empty_trace>"]) | map_values(.[0])' got.json >got
	jq -S '[.rows[] | select(.n > 0 and .kind != "thread" and .kind != "process")] | group_by(.name) |
		map({ key: .[0].name | gsub(" "; "_"), value: map(.n) | add }) | from_entries' want.json >want
	diff want got
	[ "$(wc -l <got)" -gt 3 ]
}

@test "formats: hprof has the counts of samples and calls, and the time of calls" {
	hprof_agrees mixed 'CPU SAMPLES'
	hprof_agrees java 'CPU SAMPLES'
	hprof_agrees calls 'CPU TIME (ms)' --metric cpu
	[ "$(jq '.totals["CPU TIME (ms)"]' got.json)" -eq "$(jq '[.rows[] | select(.kind != "thread" and
		.kind != "process") | .base[0]] | add / 1000000 | floor' want.json)" ]
	foreign_names >tree
	arcprof report --tree tree --format hprof | "$TOP/t/formats/hprof-read" >got.json
	[ "$(jq '.totals["CPU SAMPLES"]' got.json)" -eq 5 ]
	run_arcprof report -i "$DATA/branches/trace" --format hprof
	[ "$status" -eq 1 ]
	[[ $stderr == *"HPROF has no table for the metric instructions"* ]]
}

@test "formats: chrome has each call of a call trace, as often as the report" {
	use_any_jdk
	skip_unless_perf
	compile_java -d . "$DATA/java/Seed.java"
	arcprof record --calltrace --callflow='Seed*' -o calls.data -- java -cp . Seed 1 >out 2>&1
	arcprof report -i calls.data --xprof --format json >want.json
	arcprof report -i calls.data --format chrome -o profile
	"$TOP/t/exported" chrome want.json <profile
	gzip -d <profile >events
	[ "$(jq '[.traceEvents[] | select(.ph == "B")] | length' events)" -ge 10 ]
	# without samples there are no profiles of threads: speedscope would show these, and nothing else
	arcprof report -i calls.data --format chrome --metric cpu | gzip -d | jq -e '[.traceEvents[] | select(.ph == "P")] == []'
	arcprof report -i calls.data --format chrome --symbol nosuch 2>notes | gzip -d >none || true
	[ "$(jq '[.traceEvents[] | select(.ph == "B")] | length' none)" -eq 0 ]
}
