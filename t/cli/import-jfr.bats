#!/usr/bin/env bats
# Recordings of Java Flight Recorder: what the JDK's own reader says of them.
# bats file_tags=stored
load ../lib
load ../java

MIXED=$TOP/t/data/mixed/trace

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return 1
	"$TOP/t/formats/jfr-async" >async.jfr
	"$TOP/t/formats/jfr-async" plain >plain.jfr
	if [ -n "$(jdks)" ]; then
		use_jdk "$(jdks | head -n 1)"
		compile_java -d . "$TOP/t/formats/JfrSums.java" "$TOP/t/formats/JfrWork.java" >out 2>&1
	fi || true
}

# agrees FILE: each type of event that the JDK's reader ($JAVA) finds has the same sums here. Says how many.
agrees() {
	local metric nr=0 metrics
	"${JAVA:-java}" -cp "$BATS_FILE_TMPDIR" JfrSums "$1" >sums
	metrics=$(cut -f 2 sums | sort -u)
	for metric in $metrics; do
		# events of which none has a stack, though they could
		arcprof report --import "$1" --metric "$metric" --xprof --format json >want.json 2>err || continue
		echo "$metric"
		JFR_SUMS=sums "$TOP/t/exported" jfr want.json <"$1"
		nr=$((nr + 1))
	done
	echo "$nr types"
	[ "$nr" -ge "$2" ]
}

@test "import jfr: recordings of each JDK have the events, weights and functions that its reader says" {
	local java settings nr=0
	skip_unless_java
	for java in $(for f in /usr/lib/jvm/*/bin/jfr; do readlink -f "${f%jfr}java"; done | sort -u); do
		JAVA=$java
		settings=settings=profile,jdk.ObjectAllocationInNewTLAB#enabled=true,jdk.ObjectAllocationOutsideTLAB#enabled=true
		"$java" -XX:StartFlightRecording=filename=jvm.jfr,$settings,jdk.CPUTimeSample#enabled=true \
			-cp "$BATS_FILE_TMPDIR" JfrWork 1000 >out 2>&1 ||
			"$java" -XX:StartFlightRecording=filename=jvm.jfr,settings=profile \
				-cp "$BATS_FILE_TMPDIR" JfrWork 1000 >out 2>&1 || continue
		nr=$((nr + 1))
		agrees "$PWD/jvm.jfr" 6
		"${java%java}jfr" summary jvm.jfr >summary
		grep -q 'Chunks: [2-9]' summary
		# what is no sample: collections and classes as those of a trace, all others with their values
		arcprof report -q --import jvm.jfr --log --format csv >log
		[ "$(grep -c '^[^,]*,[^,]*,pause,' log)" -eq "$(awk '$1 == "jdk.GCPhasePause" { print $2 }' summary)" ]
		[ "$(grep -c '^[^,]*,[^,]*,thread-start,' log)" -eq "$(awk '$1 == "jdk.ThreadStart" { print $2 }' summary)" ]
		[ "$(grep -c ',jdk.GCHeapSummary,.*heapUsed' log)" -eq "$(awk '$1 == "jdk.GCHeapSummary" { print $2 }' summary)" ]
		# numbers as their types and annotations mean them
		arcprof report -q --import jvm.jfr --log --format json >log
		[ "$(jq -c '.events[] | select(.what == "work.Numbers") | .fields' log)" = \
			'{"small":-3,"large":200,"low":-7,"letter":44032,"most":4294967295,"whole":18446744073709600000,"yes":1}' ]
		arcprof report -q --import jvm.jfr --gc >gc
		arcprof report --import jvm.jfr --check >/dev/null
		run_arcprof report --import jvm.jfr --xprof
		[[ $output == *" [pid "* && $output == *"JfrWork.fib"* ]]
		rm -f jvm.jfr
	done
	[ "$nr" -ge 1 ] || skip "no JDK here has Flight Recorder"
}

@test "import jfr: events, native code and strings as async-profiler has them" {
	run_arcprof report --import "$BATS_FILE_TMPDIR/async.jfr" --xtree --format csv
	[ "$status" -eq 0 ]
	grep -q ',malloc,native,libc.so.6,' <<<"$output"
	grep -q ',do_futex,kernel,kernel,' <<<"$output"
	grep -q ',demo.Main$1.naïve,java-inlined,' <<<"$output" || grep -q ',demo.Main$1.naïve,java' <<<"$output"
	grep -q ',demo.Main$1.中😀,' <<<"$output"
	grep -q 'virtual' <<<"$output"
	run_arcprof report --import "$BATS_FILE_TMPDIR/async.jfr"
	[[ $output == "imported from JFR: 9.00 us of profiler.WallClockSample in 3 threads over 2.00 ms, 92 samples"* ]]
	skip_unless_java
	agrees "$BATS_FILE_TMPDIR/async.jfr" 4
}

@test "import jfr: text and numbers of ids that a sample has are its labels" {
	local metric=profiler.Malloc
	for file in async plain; do
		arcprof report --import "$BATS_FILE_TMPDIR/$file.jfr" --metric $metric --by-label operation --xprof \
			--format json | jq -c '[.rows[] | select(.kind == "label") | [.name, .cum[0]]] | sort' >got
		[ "$(cat got)" = '[["[no operation]",10040],["operation=GET /cart",10050]]' ]
	done
	[ "$(arcprof report --import "$BATS_FILE_TMPDIR/async.jfr" --metric $metric --label spanId=77 --format json | jq '.metrics[0].total')" -eq 10050 ]
	arcprof query --import "$BATS_FILE_TMPDIR/async.jfr" --metric $metric --format csv \
		'SELECT labels, count(*) FROM samples GROUP BY labels' | tail -n +2 >got
	printf ',10\n"operation=GET /cart,spanId=77",10\n' | diff - got
	# they leave in formats that have a place for them, and come back
	arcprof report -q --import "$BATS_FILE_TMPDIR/async.jfr" --metric $metric --format otlp -o p.otlp
	arcprof report --import p.otlp --by-label spanId --xprof --format json |
		jq -c '[.rows[] | select(.kind == "label") | [.name, .cum[0]]] | sort' >got
	[ "$(cat got)" = '[["[no spanId]",10040],["spanId=77",10050]]' ]
}

@test "import jfr: integers that are not compressed are the same" {
	local metric
	for metric in profiler.WallClockSample profiler.Malloc jdk.JavaMonitorEnter jdk.ObjectAllocationInNewTLAB; do
		arcprof report --import "$BATS_FILE_TMPDIR/async.jfr" --xtree --lines --metric $metric >want
		arcprof report --import "$BATS_FILE_TMPDIR/plain.jfr" --xtree --lines --metric $metric | diff want -
	done
}

@test "import jfr: what --format jfr wrote has the same functions, contexts and times" {
	local trace how
	for trace in mixed java; do
		trace=$TOP/t/data/$trace/trace
		arcprof report --format jfr -o out.jfr "$trace" 2>notes
		for how in --xprof --xtree "--xprof --from 100ms --to 300ms"; do
			# shellcheck disable=SC2086
			arcprof report $how --format csv "$trace" >want
			# shellcheck disable=SC2086
			arcprof report $how --format csv --import out.jfr | diff want -
		done
		arcprof report --import out.jfr --format jfr -o again.jfr 2>notes
		arcprof report --xtree --format csv "$trace" >want
		arcprof report --xtree --format csv --import again.jfr | diff want -
	done
}

@test "import jfr: a recording that is truncated or not finished says what is missing" {
	local file=$BATS_FILE_TMPDIR/async.jfr size
	size=$(stat -c %s "$file")
	head -c $((size - 100)) "$file" >cut
	run_arcprof report --import cut
	[ "$status" -eq 0 ]
	grep -Eq '^the last chunk \([0-9]+ bytes\) is not finished: its events are missing' <<<"$output"
	grep -q ' 46 samples' <<<"$output"
	head -c $((size / 3)) "$file" >cut
	run_arcprof report --import cut
	[ "$status" -eq 1 ]
	[ "$stderr" = "arcprof report: cut: truncated, or not finished: its only chunk has no end" ]
	# of a JVM that was killed: what was written after the last flush is not of the chunk
	local first
	first=$(od -An -j8 -N8 --endian=big -tu8 "$file" | tr -d ' ')
	{ head -c "$first" "$file"; printf 'written later'; } >open
	printf '\4' | dd of=open bs=1 seek=64 conv=notrunc status=none
	cat open "$file" >joined
	for file in open joined; do
		run_arcprof report --import $file
		[ "$status" -eq 0 ]
		grep -qx "the recording was not ended: what the JVM had not written by its last flush is missing" <<<"$output"
		grep -q " $([ $file = open ] && echo 46 || echo 138) samples" <<<"$output"
	done
	file=$BATS_FILE_TMPDIR/async.jfr
	run_arcprof report --import "$file"
	! grep -q 'not ended' <<<"$output" || false
	{ head -c 68 "$file"; printf "\377\377\377\377\377"; tail -c +74 "$file"; } >bad
	run_arcprof report --import bad
	[ "$status" -eq 1 ]
	[[ $stderr == "arcprof report: bad: chunk 1 at byte 0: damaged: "* ]]
	run_arcprof report "$file"
	[[ $stderr == *"hint: this is a recording of Java Flight Recorder: '--import $file' reads it" ]]
}

@test "import jfr: samples of threads that did not run are below their state, and no others" {
	arcprof report -q -i "$MIXED" --format jfr -o run.jfr
	arcprof report --import run.jfr --format folded >run
	! grep -q blocked run || false
	LC_ALL=C sed 's/STATE_DEFAULT/STATE_BLOCKED/' run.jfr >waits.jfr
	arcprof report --import waits.jfr >out
	grep -qx 'of threads that did not run: 100 samples, below the state of each' out
	arcprof report --import waits.jfr --format folded >waits
	diff <(sort run) <(sed 's/;\[blocked\] / /' waits | sort)
	[ "$(grep -c ';\[blocked\] [0-9]*$' waits)" -eq "$(wc -l <run)" ]
	arcprof query --import waits.jfr --format csv "select distinct kind from functions where name = '[blocked]'" >kind
	[ "$(tail -n 1 kind)" = reason ]
}

@test "import jfr: events that are not samples are listed and queried, with their values" {
	arcprof report -q --format jfr -o facts.jfr "$TOP/t/data/facts/trace"
	arcprof report --import facts.jfr --log=mark --format json >log
	[ "$(jq -c '[.events[] | select(.what == "arcprof.Mark") | .fields.name]' log)" = '["served","served"]' ]
	[ "$(jq '[.events[] | select(.what == "jdk.GCHeapSummary" and .fields.when == "After GC") | .fields["heapSpace.committedSize"]] | min' log)" -gt 1000000 ]
	[ "$(jq '[.events[] | select(.what == "jdk.SafepointBegin")][0].fields.safepointId' log)" -eq 1 ]
	arcprof query --import facts.jfr --format csv \
		"select count(*) from log where what = 'jdk.GCHeapSummary' and json_extract(fields, '$.heapUsed') > 0" >got
	[ "$(tail -n 1 got)" -ge 1 ]
	# by a named value: as many as there are of it
	arcprof report --import facts.jfr --marks --by-label when --format json |
		jq -c '[.rows[] | select(.what == "jdk.GCHeapSummary") | [.label, .n]] | sort' >got
	jq -c '[.events[] | select(.what == "jdk.GCHeapSummary") | "when=" + .fields.when] | group_by(.) |
		map([.[0], length]) | sort' log | diff got -
	# pauses with their causes and sizes are those of the trace
	arcprof report -q --log=pause --format csv "$TOP/t/data/facts/trace" >want
	arcprof report -q --log=pause --format csv --import facts.jfr | diff want -
	[ "$(wc -l <want)" -ge 2 ]
}
