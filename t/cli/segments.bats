#!/usr/bin/env bats
# Recordings in several files: each is a trace of its own, and together they are what one would have been.
load ../lib
load ../java

# Records about a second in segments of 200 ms, once for all tests.
setup_file() {
	export SEGMENTS=$BATS_FILE_TMPDIR/dir
	prepare_jdks
	skip_unless_perf
	arcprof record --segment 200ms -o "$SEGMENTS" -e cpu,wall -- "$(workload shares)" 200 \
		2>"$BATS_FILE_TMPDIR/said" >"$BATS_FILE_TMPDIR/out"
}

teardown() {
	[ -z "${recorder-}" ] || kill_recorder "$recorder"
	[ -z "${jvm-}" ] || kill -KILL "$jvm" 2>/dev/null || true
	[ -z "${open-}" ] || rm -r "$open"
}

numbers() {	# <jq expression> <file>...: of the reports of each, a line each
	local f expr=$1
	shift
	for f in "$@"; do
		arcprof report --xprof --format json --metric cpu-clock "$f" | jq "$expr"
	done
}

add_up() {
	awk '{ sum += $1 } END { print sum }'
}

@test "record --segment: closed traces with times in their names, each complete by itself" {
	local f
	cat "$BATS_FILE_TMPDIR/said"
	ls -A "$SEGMENTS"
	[ "$(stat -c %a "$SEGMENTS")" = 700 ]
	[ "$(find "$SEGMENTS" -name '20[0-9][0-9]-*Z*.arc' | wc -l)" -ge 3 ]
	[ -z "$(find "$SEGMENTS" -type f ! -name '*.arc')" ]
	for f in "$SEGMENTS"/*.arc; do
		cp "$f" alone
		check_trace alone
		! arcprof report --xprof alone | grep -F '[unknown' || return 1
		arcprof dump alone | grep -q ' label .*symbols.*complete'
	done
}

@test "record --segment: the segments add up to what was recorded, and follow each other without a gap" {
	local said sum
	said=$(sed -n 's/.*: \([0-9]*\) samples of .*/\1/p' "$BATS_FILE_TMPDIR/said")
	sum=$(numbers .quality.n "$SEGMENTS"/*.arc | add_up)
	echo "said $said, in segments $sum"
	[ "$said" -eq "$sum" ]
	arcprof merge "$SEGMENTS"/*.arc -o all
	[ "$(numbers .metrics[0].total all)" -eq "$(numbers .metrics[0].total "$SEGMENTS"/*.arc | add_up)" ]
	for f in "$SEGMENTS"/*.arc; do
		arcprof dump "$f" | grep -oE '(start|end).mono_ns.*' | grep -oE '[0-9]+' | sort | sed -n '1p;$p'
	done >times
	sed '1d;$d' times | uniq -c | awk '$1 != 2 { exit 1 }'
}

@test "merge --splice: one trace of all segments, with all samples and times; reports read a folder as that" {
	local r
	arcprof merge --splice "$SEGMENTS" -o whole 2>said
	grep -q "segments; wrote whole" said
	check_trace whole
	[ "$(numbers .quality.n whole)" -eq "$(numbers .quality.n "$SEGMENTS"/*.arc | add_up)" ]
	for r in --xprof --xarc '--xtree --metric wall' --check; do
		# shellcheck disable=SC2086
		diff <(arcprof report $r whole) <(arcprof report $r "$SEGMENTS") >diffs || { head diffs; return 1; }
	done
	for f in "$SEGMENTS"/*.arc; do
		arcprof dump "$f" | grep -oE 'sample.(user|kernel) .*' | wc -l
	done >samples
	[ "$(arcprof dump whole | grep -cE 'sample.(user|kernel) ')" -eq "$(add_up <samples)" ]
	run_arcprof merge --splice "$SEGMENTS" "$SEGMENTS" -o twice
	[ "$status" -eq 1 ]
	[[ $stderr == *"there twice"* ]]
	! [ -e twice ] || false
	arcprof record --segment 1s -o dir -- true
	run_arcprof merge --splice "$SEGMENTS" dir -o both
	[ "$status" -eq 1 ]
	[[ $stderr == *"of another recording"* ]]
	! [ -e both ] || false
	run_arcprof merge --splice whole -o again
	[ "$status" -eq 1 ]
	[[ $stderr == *"not a segment of a recording"* ]]
}

@test "record --segment: what is off at a change is off in the next segment, by its records" {
	arcprof record --segment 150ms -o dir -e cpu,wall --disabled wall -- "$(workload shares)" 100 2>said >out
	cat said
	[ "$(find dir -name '*.arc' | wc -l)" -ge 2 ]
	for f in dir/*.arc; do
		arcprof dump "$f" | grep -qE 'recorded on=0 event="?wall' || { arcprof dump "$f"; return 1; }
	done
}

churn() {
	timeout 60 "$ARCPROF" record --segment 200ms -o dir -e cpu,wall,alloc=64k,lock,gc,class -- \
		"$JAVA_HOME/bin/java" -cp "$CLASSES" Churn 25 2>said >out || { cat said out; return 1; }
	cat said
	[ "$(find dir -name '*.arc' | wc -l)" -ge 4 ]
	arcprof merge dir/*.arc -o all
	for f in dir/*.arc all; do
		for metric in cpu-clock wall bytes; do
			arcprof report --xprof --metric "$metric" "$f" 2>/dev/null || :
		done
	done >reports
	! grep -E '\[unknown (Java method|function|thread|process|in \[kernel)|unknown module' reports || return 1
	for g in 0002 0010 0020; do
		grep -q "Churn\$Work$g.spin" reports
	done
}

# bats test_tags=stored
@test "record --segment: classes that are unloaded in between have their names in each segment" {
	on_one_jdk oldest churn
}

# Calls and what was consumed, of each function together: "name calls cpu wall".
of_functions() {	# <trace>...
	local f
	for f in "$@"; do
		arcprof report --xtree --format tree -i "$f"
	done | awk -F '\t' '!/^#/ { n[$5] += $2; cpu[$5] += $3; wall[$5] += $4 }
		END { for (f in n) printf "%s %d %d %d\n", f, n[f], cpu[f], wall[f] }' | sort
}

calls_in_segments() {
	local f
	rm -rf seg
	arcprof record --callflow --segment 200ms -o seg -- java -cp "$CLASSES" Flight steady=900 steady=10 >said
	# twice the same names
	awk '{ n[$1 " " $2] += $3 } END { for (k in n) print k, n[k] }' said >want
	arcprof merge --splice seg -o trace
	ARCPROF=$ARCPROF "$TOP/t/expect-calls" trace want
	for f in seg/*.arc; do
		arcprof dump "$f" 2>&1 >/dev/null | tee damage
		[ ! -s damage ]
	done
	of_functions seg/*.arc | diff - <(of_functions trace)
	# a call that was open when one began has its time there, and is no call of it
	for f in seg/*.arc; do
		of_functions "$f" | awk '/^Flight.steady 0 [0-9]+ [1-9]/ || /^Flight.step [1-9]/ { n++ } END { exit n != 2 }' &&
			return 0
	done
	return 1
}

# bats test_tags=stored
@test "record --segment --callflow: calls and their time add up to the call and the nanosecond" {
	one_jdk newest calls_in_segments
}

# Of events of calls: "kind name" and how many there are of each.
of_events() {	# <trace>...
	local f
	for f in "$@"; do
		arcprof report --gen --format csv "$f" 2>/dev/null || :	# in one nothing may have happened
	done | awk -F , '$2 == "call" { print $3, $4 }' | sort | uniq -c
}

events_in_segments() {
	local f middle n=0
	rm -rf seg
	arcprof record --calltrace --callflow='Flight.*' --segment 200ms -o seg -- \
		java -cp "$CLASSES" Flight steady=150 serve=700 steady=150 >said
	awk '{ n[$2] += $3 } END { for (k in n) print k, n[k] }' said | sort >want
	arcprof merge --splice seg -o trace
	# each call is there once, with its end, as in one file
	arcprof report --calls --format csv trace | tee calls
	awk -F , '$NF ~ /Flight.(leaf|stea|step)/ { print $NF, $1 }' calls | sort | diff - want
	[ "$(awk -F , 'NR > 1 { n += $9 } END { print n }' calls)" -eq 0 ]
	of_events trace >events
	! grep -E ' (open|unwound) ' events || false
	# and in the segment in which it began or ended
	of_events seg/*.arc | grep -vE ' (open|unwound) ' | diff - events
	arcprof report --xtree --replay --format tree trace | awk -F '\t' '/Flight/ { print $2, $5 }' >replayed
	arcprof report --xtree --format tree trace | awk -F '\t' '/Flight/ { print $2, $5 }' | diff - replayed
	for f in seg/*.arc; do
		arcprof dump "$f" 2>&1 >/dev/null | tee damage
		[ ! -s damage ]
		# a segment in the middle of a call: open calls come first, and all its time is in them
		[ "$(of_events "$f" | awk '{ $1 = ""; print }' | xargs)" = 'open Flight.main open Flight.serve open Flight.sleep unwound' ] || continue
		n=$((n + 1))
		middle=$f
		arcprof report --calls --format csv "$f" | awk -F , '/Flight.sleep/ && $1 == 0 && $3 > 150000 { exit 1 }' && return 1
	done
	[ "$n" -ge 2 ]
	# without the segments before, it begins there
	f=(seg/*.arc)
	arcprof merge --splice "${f[0]}" "$middle" -o gap
	of_events gap | grep -q 'open Flight.serve'
}

# bats test_tags=stored
@test "record --segment --calltrace: a segment begins with the calls that are open, and all are one recording" {
	one_jdk newest events_in_segments
}

# bats test_tags=stored
@test "record --segment --trace: a slow call that lasts for several is one again when they are joined" {
	use_jdk "$(jdks | tail -n 1)"
	arcprof record --trace='Flight.serve>50ms' --callflow='Flight.*' --segment 100ms -o seg -- \
		java -cp "$CLASSES" Flight serve=500
	arcprof merge --splice seg -o trace
	arcprof report --calls trace | tee calls
	grep -q ' 1 of 1000 are Flight.serve>50ms$' calls
	of_events trace | diff - <(printf '      1 %s\n' 'entry Flight.serve' 'entry Flight.sleep' 'exit Flight.serve' 'exit Flight.sleep')
}

@test "record --segment --callflow: what was written of contexts that are pruned later is written once" {
	use_jdk "$(jdks | tail -n 1)"
	arcprof record --callflow='Flight.m?' --call-memory 1M --segment 100ms -o seg -- \
		java -cp "$CLASSES" Flight many=600 >want
	arcprof merge --splice seg -o trace
	of_functions trace | grep -E '^(Flight.m|.pruned)' | tee functions
	[ "$(awk '$1 == "[pruned]" { print $2 }' functions)" -gt 0 ]
	[ "$(awk '{ n += $2 } END { print n }' functions)" -eq "$(cat want)" ]
	of_functions seg/*.arc | grep -E '^(Flight.m|.pruned)' | diff - functions
}

@test "record --segment: a recorder that is killed leaves what it had, and the next gives it its name" {
	"$ARCPROF" record --segment 10s -o dir -- "$(workload shares)" 1500 2>said >out &
	recorder=$!
	for _ in $(seq 100); do
		sleep 0.1
		! "$ARCPROF" report --xprof dir/.*.part 2>/dev/null | grep -q shared || break
	done
	program=$(cat "/proc/$recorder/task/$recorder/children")
	kill -9 "$recorder"
	[ -z "$program" ] || kill $program
	part=$(cd dir && echo .*.part)
	arcprof report --xprof "dir/$part" 2>err | grep -q shared
	grep -q 'has no end' err
	# as a machine leaves files that went down
	: >dir/2026-01-01T00.00.00Z.arc
	: >dir/.2026-01-01T00.00.01Z.arc.part
	: >dir/.2026-01-01.part
	arcprof record --segment 10s -o dir -- true 2>said
	[ "$(find dir -empty)" = dir/.2026-01-01.part ]
	# said, and in the trace, is for how long nothing was recorded
	grep -qE '^arcprof record: continues [0-9]+\.[0-9] s after the last trace there was closed$' said
	arcprof dump "$(find dir -name '*.arc' | sort | tail -n 1)" | grep -qE 'key="segment.idle_ns" value="[1-9][0-9]+"'
	! [ -e "dir/$part" ] || false
	part=${part#.}
	arcprof report --xprof "dir/${part%.part}" 2>err | grep -q shared
}

# What a recorder that was stopped early may leave: no file that has no name yet.
left_whole() {
	local f
	cat said
	[ -z "$(find dir -name '.?*')" ]
	for f in dir/*; do
		[ ! -e "$f" ] || check_trace "$f"
	done
}

# Stops one as soon as its file is there.
stop_early() {	# <option>...
	rm -rf dir
	mkdir -m 700 dir
	"$ARCPROF" record --segment 60s -o dir "$@" 2>said &
	recorder=$!
	until compgen -G 'dir/.*.part' >/dev/null || ! kill -0 $recorder 2>/dev/null; do :; done
	kill -STOP $recorder
	kill -TERM $recorder
	kill -CONT $recorder
	wait $recorder || [ $? -eq 143 ] || { cat said; return 1; }
	left_whole
	grep -q "; wrote $(find dir -type f | wc -l) trace" said
}

@test "record --segment: one that is stopped before it records leaves nothing, and what it did record is whole" {
	skip_unless_perf
	for _ in 1 2 3 4 5; do
		stop_early -p $$
	done
	stop_early -- sleep 60
	stop_early -p $$ --delay 100s
	[ -z "$(ls -A dir)" ]
}

# A stopped JVM does not let the agent in, so that the recorder waits for it, unless another one holds it.
attaches_to_stopped_jvm() {
	local uid=54321 i
	open=$(mktemp -d /tmp/arcprof-test-XXXXXX)
	chmod 755 "$open"
	cp "$CLASSES"/Passing.class "$open"
	: >out
	setpriv --reuid=$uid --regid=$uid --clear-groups "$JAVA_HOME/bin/java" -Xmx16m -verbose:class \
		-cp "$open" Passing 2 600000 >out 3>&- &
	jvm=$!
	until grep -q ' Passing ' out || ! kill -0 $jvm; do sleep 0.05; done
	kill -STOP $jvm
	mkdir -m 700 dir
	"$ARCPROF" record --segment 60s -o dir --user $uid 2>said &
	recorder=$!
	until compgen -G 'dir/.*.part' >/dev/null || ! kill -0 $recorder 2>/dev/null; do :; done
	kill -TERM $recorder
	for ((i = 0; i < 1200; i++)); do
		kill -0 $recorder 2>/dev/null || break
		sleep 0.05
	done
	! kill -KILL $recorder 2>/dev/null || { echo "it goes on after SIGTERM"; return 1; }
	left_whole
}

@test "record --segment: one that is stopped while it waits for a JVM ends, and leaves nothing" {
	skip_unless_root
	one_jdk oldest attaches_to_stopped_jvm
}

@test "record --keep: the oldest segments go, and nobody else's files" {
	mkdir -m 700 dir
	echo mine >dir/2000-01-01T00.00.00Z.arc
	echo mine >dir/notes
	cp "$SEGMENTS"/*.arc dir/
	arcprof record --segment 10s --keep 1M -o dir -- true
	first=$(cd dir && echo 20[1-9]*.arc)
	# those of a clock that was set back since then go before all others
	for f in $(cd "$SEGMENTS" && echo *.arc); do
		cp "$SEGMENTS/$f" "dir/2999${f#????}"
	done
	truncate -s 2M "dir/2999${f#????}"
	arcprof record --segment 10s --keep 1M -o dir -- true
	[ -z "$(find dir -name '2999*')" ]
	[ "$(cd dir && echo 20[1-9]*.arc | wc -w)" -gt "$(wc -w <<<"$first")" ]
	arcprof record --segment 100ms --keep 250ms -o dir -- "$(workload shares)" 120 2>said >out
	ls -l dir
	for f in $(cd "$SEGMENTS" && echo *.arc); do
		! [ -e "dir/$f" ] || false
	done
	[ "$(find dir -name '20[1-9]*.arc' | wc -l)" -ge 1 ]
	[ "$(cat dir/2000-01-01T00.00.00Z.arc dir/notes)" = "mine
mine" ]
	[ "$(wc -w <<<"$first")" -gt 2 ]
}

@test "record --segment: a full disk pauses the recording, is reported once, and losses are counted" {
	skip_unless_root
	mkdir small
	mount -t tmpfs -o size=800k,mode=700 none small || skip "no tmpfs can be mounted"
	head -c 730k /dev/zero >small/fill
	"$ARCPROF" record --segment 200ms -F 9999 -e cpu,wall -o small/dir -- \
		sh -c 'while [ ! -e stop ]; do i=0; while [ $i -lt 1000 ]; do i=$((i + 1)); done; done' 2>said &
	recorder=$!
	for _ in $(seq 100); do
		sleep 0.1
		! grep -q 'nothing is stored' said || break
	done
	sleep 0.5
	rm small/fill
	for _ in $(seq 100); do
		! grep -q 'storing again' said || break
		sleep 0.1
	done
	touch stop
	wait "$recorder" || true
	mkdir copy
	cp small/dir/*.arc copy/
	umount small
	cat said
	[ "$(grep -c 'nothing is stored until there is room again: No space left on device' said)" -eq 1 ]
	[ "$(grep -c 'storing again; [1-9][0-9]* samples were lost meanwhile' said)" -eq 1 ]
	lost=$(sed -n 's/.*storing again; \([0-9]*\) samples.*/\1/p' said)
	told=$(for f in copy/*.arc; do
		arcprof report --xprof "$f" 2>/dev/null | sed -n '1s/.* \([0-9]*\) lost.*/\1/p'
	done | add_up)
	echo "lost $lost, told $told"
	[ "$told" -ge "$lost" ]
}

@test "record --segment: a disk that stays full: what was closed before is whole, the rest is counted" {
	skip_unless_root
	mkdir small
	mount -t tmpfs -o size=800k,mode=700 none small || skip "no tmpfs can be mounted"
	head -c 730k /dev/zero >small/fill
	run_arcprof record --segment 100ms -F 9999 -o small/dir -- "$(workload shares)" 300
	mkdir copy
	cp small/dir/*.arc copy/
	umount small
	[ "$status" -ne 0 ]
	[ "$(grep -c 'nothing is stored until there is room again: No space left on device' <<<"$stderr")" -eq 1 ]
	! grep -q 'storing again' <<<"$stderr" || false
	lost=$(sed -nE 's/.* ([0-9]+) lost.*/\1/p' <<<"$stderr" | head -n 1)
	[ "$lost" -gt 0 ]
	# told are those that are there, however often it was tried to begin another
	[ "$(sed -nE 's/.*; wrote ([0-9]+) traces? to .*/\1/p' <<<"$stderr")" -eq "$(find copy -name '*.arc' | wc -l)" ]
	# except for the current one, whose end had no room
	rm "$(find copy -name '*.arc' | sort | tail -n 1)"
	for f in copy/*.arc; do
		check_trace "$f"
	done
	[ "$(arcprof report --format json "$(find copy -name '*.arc' | sort | head -n 1)" | jq .quality.samples)" -gt 0 ]
}

@test "record --segment: folders that others can change are refused, and a second recording" {
	mkdir real && ln -s real link
	run_arcprof record --segment 1s -o link -- true
	[ "$status" -ne 0 ]
	[[ $stderr == *"link: is not a folder, and links are not followed"* ]]
	mkdir -m 770 shared
	run_arcprof record --segment 1s -o shared -- true
	[ "$status" -ne 0 ]
	[[ $stderr == *"others may write in the folder"* ]]
	[ -z "$(find real shared -type f)" ]
	mkdir -m 700 busy
	run_arcprof record --segment 1s -o busy -- "$ARCPROF" record --segment 1s -o busy -- true
	[[ $stderr == *"busy: another recording writes there"* ]]
}

@test "record --max-memory: beyond it names go with the current trace, and come back; a message says what is left" {
	skip_unless_perf
	arcprof record --segment 60s --max-memory 8M -d 5 -o dir -- sh -c 'while :; do :; done' 2>said || [ $? -eq 143 ]
	cat said
	grep -qE '^arcprof record: warning: takes [0-9.]+ MiB, more than --max-memory, and has nothing left to drop$' said
	[ "$(find dir -name '*.arc' | wc -l)" -ge 2 ]
	for f in dir/*.arc; do
		check_trace "$f"
		! arcprof report --xprof "$f" | grep -F '[unknown' || return 1
	done
	run_arcprof record --max-memory 100M -- true
	[ "$status" -eq 2 ]
	[[ $stderr == *"--max-memory needs --segment"* ]]
}

@test "record --segment: each option that it cannot be combined with is refused in one line" {
	local o
	for o in '--max-size 1M' '--keep 3' '--keep many'; do
		# shellcheck disable=SC2086
		run_arcprof record --segment 1s -o dir $o -- true
		[ "$status" -eq 2 ]
		[ "$(grep -vc hint: <<<"$stderr")" -eq 1 ]
		! [ -e dir ] || false
	done
	run_arcprof record --segment 1s -- true
	[ "$status" -eq 2 ]
	[[ $stderr == *"needs a folder"* ]]
	run_arcprof record --keep 1G -- true
	[ "$status" -eq 2 ]
	[[ $stderr == *"--keep needs --segment or --mode=wrap"* ]]
}

# bats test_tags=stored
@test "record --segment: files that no process has mapped any more are closed, and named by then" {
	local f
	mkdir programs
	cat >run <<-'EOF'
		"$PASSING" programs 150 0 2 4
		for i in $(seq 60); do
			left=$(ls "/proc/$PPID/fd" | wc -l)
			[ "$left" -ge 75 ] || break
			sleep 0.5
		done
		echo "$left"
	EOF
	PASSING=$(workload passing) arcprof record -q --segment 1s -F 999 -o dir -- bash run >out
	cat out
	[ "$(head -n 1 out)" -eq 150 ]
	[ "$(tail -n 1 out)" -lt 75 ]
	# whichever segment they are in, programs that ran are named
	for f in dir/*.arc; do
		check_trace "$f"
		arcprof report --xprof --format json "$f" | jq -r '.rows[] | select(.module | test("program-")?) | .name'
	done >names
	sort names | uniq -c | sort -rn | head
	[ "$(grep -cx burn names)" -ge 1 ]
	! grep -q unknown names || false
}
