#!/usr/bin/env bats
# A JVM's agent without a recorder: what it writes, against what the program says that it did.
# bats file_tags=stored
load ../lib
load ../java
load ../live

setup_file() {
	prepare_jdks
	export AGENT=$BATS_FILE_TMPDIR/libarcprof-jvm.so
	"$ARCPROF" agent install -q -o "$BATS_FILE_TMPDIR"
}

# A cell of the row of a summary: <journal> <report> <column> <pattern>
cell() {
	arcprof report "--$2" --format json "$1" |
		jq -r --arg re "$4" "[.rows[] | select([.kind, .what // \"-\", .cause // \"-\"] | join(\" \") | test(\$re)) | .$3] | add"
}

# Rows of a report that match the filter: <journal> <report> <pattern>
rows() {
	arcprof report "--$2" --format csv "$1" | grep -cE -- "$3" || true
}

known_numbers() {
	rm -f app.journal*
	java "-agentpath:$AGENT=file=app.journal,cpu,alloc=256k,events=jvm,exception" -cp "$CLASSES" Happens 7 >out 2>err
	[ ! -s err ]
	[ "$(tail -n 1 out)" = 'gcs 7' ]
	[ "$(stat -c %a app.journal)" = 600 ]
	[ "$(cell app.journal exceptions n 'exception java.lang.IllegalStateException Happens.fail')" -eq 700 ]
	[ "$(cell app.journal classes n 'load - Happens.Own@')" -eq 7 ]
	[ "$(cell app.journal gc n 'pause Pause Full System.gc')" -eq 7 ]
	arcprof report --log=thread-start,thread-end --format csv app.journal >log
	[ "$(grep -cE ',thread-start,happens-[0-9]+,[0-9]+,happens-' log)" -eq 7 ]
	[ "$(grep -cE ',thread-end,happens-[0-9]+,[0-9]+,happens-' log)" -eq 7 ]
	arcprof report --xprof app.journal >samples
	grep -q 'by CPU timers (tick-bound, user code of JVMs only), 0 lost' samples
	grep -q '^not recorded: kernel code: .*without a recorder' samples
	# what work() allocates, 70000 times 2016 bytes, and what little else there is
	arcprof report --xprof --metric alloc --format csv app.journal >alloc
	awk -F, '$2 == "byte[]" { bytes = $6 } END { exit bytes < 120e6 || bytes > 165e6 }' alloc
	# the same as a trace, without the journal
	arcprof agent convert app.journal -o trace
	arcprof report --check trace
	arcprof report --xprof --format csv app.journal >of-journal
	arcprof report --xprof --format csv trace | diff of-journal -
	# a second run keeps the first one's
	java "-agentpath:$AGENT=gc,file=app.journal" -cp "$CLASSES" Happens 0 >out
	[ "$(cell app.journal.old gc n 'pause Pause Full System.gc')" -eq 7 ]
	arcprof report --log=pause app.journal >log		# options before file= as well
}

@test "agent: a JVM without a recorder records what the program did, as often as it did" { on_each_jdk known_numbers; }

records_itself() {
	rm -f ./*.journal
	java "$@" Recordings 4 >out 2>err
	cat out err
	diff out - <<-'END'
		twice: IllegalStateException: this JVM is being recorded already
		folder: IOException: nowhere/x.journal: no such directory
		event: IOException: unknown event, or one that needs a recorder: 'wall'
		interval: IOException: invalid interval: 'alloc=lots'
		usual: was recorded
	END
	[ ! -e twice.journal ]
	[ "$(find . -name '*.journal' | wc -l)" -eq 5 ]
	local i
	for i in 0 3; do
		arcprof report --log=thread-start,pause --format csv "rec-$i.journal" >log
		[ "$(grep -c ',thread-start,.*,work-' log)" -eq "$i" ]
		[ "$(grep -c ",thread-start,.*,work-$i," log)" -eq "$i" ]
		[ "$(grep -c ',pause,.*System.gc' log)" -eq "$i" ]
	done
}

with_its_option() {
	records_itself "-agentpath:$AGENT" -cp "$CLASSES"
}

@test "agent: a program records itself, any number of times" { on_one_jdk newest with_its_option; }

@test "agent: a program records itself with an agent that it loads" {
	use_jdk "$(jdks | tail -n 1)"
	records_itself "-Darcprof.agent=$AGENT" -cp "$CLASSES:$BUILD/arcprof.jar"
}

# The recorder's agent is another file, and so another copy in the JVM.
one_at_a_time() {
	start_live "-agentpath:$AGENT=file=live.journal,thread"
	run arcprof record -p "$LIVE" --duration 1 -o trace
	[ "$status" -ne 0 ]
	[[ $output == *"process $LIVE is being recorded already"* ]]
	end_live
	[ "$(rows live.journal log=thread-start ",main,[0-9]+,main,")" -eq 1 ]
	arcprof record -q -e alloc -o trace -- java "-agentpath:$AGENT=file=x.journal,cpu" -cp "$CLASSES" Happens 0 2>err
	grep -qx 'arcprof: this JVM is being recorded already' err
	[ ! -e x.journal ]
}

@test "agent: a recorder and a journal do not share a JVM" {
	use_jdk "$(jdks | tail -n 1)"
	one_at_a_time
}

@test "agent: an invalid option is reported, and the program runs" {
	use_jdk "$(jdks | head -n 1)"
	local java=(java -cp "$CLASSES" Happens 0) option
	while IFS='|' read -r option want; do
		JAVA_TOOL_OPTIONS="-agentpath:$AGENT=$option" "${java[@]}" >out 2>err
		grep -qxF "arcprof: $want" err || { cat err; return 1; }
		[ "$(tail -n 1 out)" = 'gcs 0' ]
	done <<-'END'
		file=x,wall|unknown event, or one that needs a recorder: 'wall'
		file=x,limit=12|invalid limit, at least 64k: 'limit=12'
		cpu,rate=lots,file=x|invalid rate, samples per second: 'rate=lots'
		cpu=10ms,alloc=64k,wall,file=x|unknown event, or one that needs a recorder: 'wall'
		file=x,cpu=18446744074s|invalid interval: 'cpu=18446744074s'
		file=x,cpu=1001s|interval is too long: 'cpu=1001s'
		file=,cpu|invalid name of a file: ''
		file=nowhere/x,cpu|nowhere/x: no such directory
		help|unknown event, or one that needs a recorder: 'help'
	END
	mkdir x
	java "-agentpath:$AGENT=file=x" -cp "$CLASSES" Happens 0 2>err >out
	grep -qx 'arcprof: x: it exists, and cannot be renamed' err
}

# What work() allocates would be some 9000 samples.
bounded() {
	java "-agentpath:$AGENT=alloc=16k,rate=100,file=app.journal" -cp "$CLASSES" Happens 7 >out 2>err
	[ ! -s err ]
	arcprof report --xprof --metric alloc app.journal >report
	grep -qE '^bounded: [0-9]{4,} samples were left out, as the journal was to take 100 a second of each source;' report
	arcprof report --xprof --metric alloc --format json app.journal >json
	jq -e '.quality.n < 2000' json
	arcprof report --xprof --metric alloc --format csv app.journal | awk -F, '$2 == "byte[]" { bytes = $6 }
		END { exit bytes < 70e6 || bytes > 240e6 }'
	[ "$(stat -c %s app.journal)" -lt 400000 ]
}

@test "agent: samples beyond the rate are left out, and others stand for them" { on_one_jdk newest bounded; }

@test "agent: a journal that ended too early, or is damaged, is read as far as it is whole, and says so" {
	use_jdk "$(jdks | head -n 1)"
	java "-agentpath:$AGENT=file=app.journal,alloc=4k,rate=0,thread,limit=64k" -cp "$CLASSES" Happens 9 >out 2>err
	grep -qE '^arcprof: app.journal: its limit is reached, [0-9]+ records are lost$' err
	arcprof report --log app.journal >log
	grep -qE '^not recorded: [0-9]+ records of the journal: it had reached its limit' log
	# behind the code that the JVM generates first, which is twice as much where the CPU has AVX-512
	head -c 50000 app.journal >cut
	arcprof report --xprof --metric alloc cut
	[ "$(rows cut log=thread-start ",main,[0-9]+,main,")" -eq 1 ]
	# not closed: its end in the header is 0
	printf '\0\0\0\0\0\0\0\0' | dd of=app.journal bs=1 seek=48 conv=notrunc status=none
	arcprof report --log app.journal | grep -q '^not recorded: everything from [0-9.]* s on: the journal was not closed, because the JVM was killed or still runs'
	printf '\1\0\0\0' | dd of=cut bs=1 seek=4096 conv=notrunc status=none
	arcprof report --log cut | grep -q '^not recorded: everything from 0.000 s on: the journal is damaged at byte 4096'
	printf '\377' | dd of=cut bs=1 seek=8 conv=notrunc status=none
	run arcprof report --log cut
	[ "$status" -eq 1 ]
	[[ $output == *'another version'*'agent install'* ]]
}

@test "agent: a journal that is truncated while it is read is an error" {
	skip_unless_command strace
	use_jdk "$(jdks | head -n 1)"
	java "-agentpath:$AGENT=file=app.journal,alloc=64k" -cp "$CLASSES" Happens 1 >out
	local reader i
	# it has mapped the journal by then, and read no more than its header
	strace -f -o calls -e trace=memfd_create -e inject=memfd_create:delay_enter=2000000 \
		"$ARCPROF" report --xprof app.journal >report 2>err 3>&- &
	reader=$!
	for ((i = 0; i < 200; i++)); do
		! grep -q memfd_create calls 2>/dev/null || break
		sleep 0.05
	done
	truncate -s 4096 app.journal
	status=0
	wait "$reader" || status=$?
	[ "$status" -eq 1 ]
	[ "$(cat err)" = 'arcprof: a file was truncated while it was read' ]
}

# What the JDK's old profiler took, and the text that it wrote.
options_of_hprof() {
	java "-agentpath:$AGENT=cpu=samples,interval=5,heap=sites,depth=3,thread=y,file=java.journal" -cp "$CLASSES" Happens 7 >out 2>err
	[ ! -s err ]
	arcprof report -q --format hprof -o text java.journal
	"$TOP/t/formats/hprof-read" <text >got.json
	jq -e '.depth == 3 and (.SITES["byte[]"][2] > 120e6) and (.["CPU SAMPLES"] | length > 0) and
		(.threads | index([["main", "main"]]))' got.json
	grep -qE '^TRACE 3000[0-9]{2}: \(thread=2000[0-9]{2}\)$' text
	# others than what it was recorded with
	arcprof report -q --format hprof --hprof thread=n,depth=2 java.journal | tee text | "$TOP/t/formats/hprof-read" | jq -e '.depth == 2'
	[ "$(grep -c 'TRACE.*thread=' text)" -eq 0 ]
	java "-agentpath:$AGENT=cpu=times,file=x" -cp "$CLASSES" Happens 0 2>err >out
	grep -qxF "arcprof: exact calls need a recorder, 'arcprof record --callflow': 'cpu=times'" err
	[ ! -e x ]
}

@test "agent: options of HPROF record, and its text has their depth, threads and groups" { on_one_jdk newest options_of_hprof; }
