#!/usr/bin/env bats
# The page for a browser: its program by unit tests, its numbers against the reports', and a real browser.
# bats file_tags=stored
load ../lib

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return 1
	"$BUILD/arcprof" record -F 2000 -e cpu-clock,page-faults -o shares.data -- "$BUILD/t/workloads/shares" >out 2>&1
	"$BUILD/arcprof" report -i shares.data --format html >shares.html
}

teardown() {
	[ -z "${pid-}" ] || kill "$pid" || true
}

# Needs the trace of setup_file.
page_of_shares() {
	PAGE=$BATS_FILE_TMPDIR/shares.html
	TRACE=$BATS_FILE_TMPDIR/shares.data
	[ -s "$PAGE" ]
}

# Compares the page with the xarc report that has the options, in the state given.
agree() {
	local page=$1 trace=$2 state=$3
	shift 3
	arcprof report -i "$trace" --format json "$@" >report.json
	node "$TOP/t/page/agree.mjs" "$page" report.json "$state"
}

# The page's document after its program has run, in $output.
browse() {
	run timeout 60 chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
		--disable-background-networking --disable-component-update --disable-sync \
		--user-data-dir="$BATS_TEST_TMPDIR/chromium" --virtual-time-budget=10000 --dump-dom "${2:-file://}$1"
}

@test "page: the unit tests of its program pass" {
	skip_unless_command node
	# one script is made of all modules, where the second function of a name would replace the first
	"$TOP/lib/page/concat" | grep -oE '^(async )?(function|const|let|class) [A-Za-z0-9_]+' | awk '{ print $NF }' |
		sort | uniq -d >twice
	[ ! -s twice ]
	[ "$("$TOP/lib/page/concat" | grep -cE '^\s*(/\*|//)')" -eq 0 ]
	run node --test "$TOP"/t/page/tree.test.mjs "$TOP"/t/page/words.test.mjs "$TOP"/t/page/live.test.mjs
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "page: stanzas of samples equal those of the report, whole, folded and for part of the time" {
	skip_unless_command node
	page_of_shares
	metrics=(--metric cpu-clock,page-faults)
	agree "$PAGE" "$TRACE" '' "${metrics[@]}"
	agree "$PAGE" "$TRACE" '#fold=module' "${metrics[@]}" --fold module
	agree "$PAGE" "$TRACE" '#hide=kernel' "${metrics[@]}" --hide-kernel
	agree "$PAGE" "$TRACE" '#merge=1' "${metrics[@]}" --merge-threads
	read -r tick ticks _ <<<"$(ticks_of "$PAGE")"
	from=$((ticks / 4)) to=$((ticks * 3 / 4))
	agree "$PAGE" "$TRACE" "#from=$from&to=$to" "${metrics[@]}" --from $((tick * from))ns --to $((tick * to))ns
}

# How long a tick of a page is, in ns, how many it has, and the metrics of its menu.
ticks_of() {
	node --input-type=module -e '
		import { readFileSync } from "node:fs";
		import { decode, unpack } from "'"$TOP"'/lib/page/js/data.mjs";
		const text = /<script id="data"[^>]*>\s*([^\s<]*)/.exec(readFileSync(process.argv[1], "utf8"))[1];
		const { meta } = decode(await unpack(text));
		console.log(meta.tick_ns, meta.ticks, meta.metrics.filter(m => m.shown).map(m => m.name).join());' "$1"
}

# Compares the page's first answers with those of the report that has the options, in the state given.
answers() {
	local page=$1 trace=$2 state=$3
	shift 3
	arcprof report -i "$trace" --summary --top-stacks 3 --format json "$@" >summary.json
	node "$TOP/t/page/answers.mjs" "$page" summary.json "$state"
}

@test "page: its first answers equal those of the report, for all and for part of the time" {
	skip_unless_command node
	page_of_shares
	answers "$PAGE" "$TRACE" ''
	read -r tick ticks _ <<<"$(ticks_of "$PAGE")"
	answers "$PAGE" "$TRACE" "#from=$((ticks / 4))&to=$((ticks / 2))" --from $((tick * (ticks / 4)))ns --to $((tick * (ticks / 2)))ns
	jq '.mine[0].mine += 1' summary.json >wrong.json
	run node "$TOP/t/page/answers.mjs" "$PAGE" wrong.json "#from=$((ticks / 4))&to=$((ticks / 2))"
	[ "$status" -eq 1 ]
	nr=0
	for trace in "$TOP"/t/data/*/trace; do
		arcprof report -i "$trace" --format html >page.html 2>err || continue
		echo "$trace"
		answers page.html "$trace" '' || return 1
		nr=$((nr + 1))
	done
	[ "$nr" -ge 3 ]
}

@test "page: a part of the time has the part of each wait that is in it, as reports have" {
	skip_unless_command node
	arcprof record -q -e wall,cpu-clock -o wall.data -- sh -c 'sleep 0.5 & sleep 0.3; wait' 2>err || skip "$(<err)"
	arcprof report -i wall.data --format html >wall.html
	run node --input-type=module -e '
		import { readFileSync } from "node:fs";
		import { decode, unpack } from "'"$TOP"'/lib/page/js/data.mjs";
		const text = /<script id="data"[^>]*>\s*([^\s<]*)/.exec(readFileSync("wall.html", "utf8"))[1];
		const { meta } = decode(await unpack(text));
		const wall = meta.sources.find(s => meta.metrics[s.metric].name === "wall");
		if (!wall.lasts)
			throw new Error("waits last");
		console.log(meta.tick_ns, meta.ticks);'
	echo "$output"
	read -r tick ticks <<<"$output"
	for range in "0 $((ticks / 2))" "$((ticks / 2)) $((ticks * 3 / 4))" "$((ticks * 3 / 4)) $ticks"; do
		read -r from to <<<"$range"
		agree wall.html wall.data "#from=$from&to=$to" --metric cpu-clock,wall --from $((tick * from))ns --to $((tick * to))ns
		answers wall.html wall.data "#from=$from&to=$to" --from $((tick * from))ns --to $((tick * to))ns
	done
}

@test "page: it has all metrics of a recording with many" {
	skip_unless_command node
	events=cpu-clock,task-clock,page-faults,minor-faults,major-faults,context-switches,cpu-migrations,alignment-faults,emulation-faults
	arcprof record -q -e "$events" -o many.data -- "$(workload shares)" 1 >/dev/null
	arcprof report -i many.data --format html >many.html
	agree many.html many.data '' --metric "$events"
	[ "$(ticks_of many.html | cut -d ' ' -f 3)" = "$events" ]
}

@test "page: a number that differs from the report's is found" {
	skip_unless_command node
	page_of_shares
	arcprof report -i "$TRACE" --metric cpu-clock,page-faults --format json >report.json
	jq '.stanzas[3].self.cum[0] += 1' report.json >wrong.json
	run node "$TOP/t/page/agree.mjs" "$PAGE" wrong.json
	echo "$output"
	[ "$status" -eq 1 ]
	[[ $output == *"1 differ"* ]]
}

@test "page: pages of stored traces have the numbers of their reports" {
	skip_unless_command node
	nr=0
	for trace in "$TOP"/t/data/*/trace; do
		arcprof report -i "$trace" --format html >page.html 2>err || continue
		echo "$trace"
		# the page has all of them, a report the first event
		agree page.html "$trace" '' --metric "$(ticks_of page.html | cut -d ' ' -f 3-)" || return 1
		nr=$((nr + 1))
	done
	[ "$nr" -ge 3 ]
}

@test "page: its lists, its tree, its threads and its tables are those of the reports" {
	skip_unless_command node
	trace=$TOP/t/data/facts/trace
	arcprof report -i "$trace" --format html >facts.html
	metrics=$(ticks_of facts.html | cut -d ' ' -f 3-)
	[[ $metrics == cpu-clock,wall,lock,* ]]
	mkdir csv
	for report in xprof xtree; do
		arcprof report -i "$trace" --$report --metric "$metrics" --format csv >csv/$report.csv
	done
	for report in threads account locks gc exceptions marks; do
		arcprof report -i "$trace" --$report --format csv >csv/$report.csv
	done
	node "$TOP/t/page/views.mjs" facts.html csv | tee compared
	for view in 'flat by wall' 'tree by alloc' threads Account Locks GC Marks; do
		grep -q "^$view: [1-9]" compared
	done
	sed -i 's/^main,/niam,/' csv/account.csv
	run node "$TOP/t/page/views.mjs" facts.html csv
	[ "$status" -eq 1 ]
	read -r tick ticks _ <<<"$(ticks_of facts.html)"
	from=$((ticks / 3)) to=$((ticks * 2 / 3))
	part=(--from $((tick * from))ns --to $((tick * to))ns --format csv)
	arcprof report -i "$trace" --xprof --metric "$metrics" "${part[@]}" >csv/xprof.csv
	arcprof report -i "$trace" --xtree --metric "$metrics" "${part[@]}" >csv/xtree.csv
	arcprof report -i "$trace" --threads "${part[@]}" >csv/threads.csv
	node "$TOP/t/page/views.mjs" facts.html csv "#from=$from&to=$to" | grep '^threads: [1-9]'
}

@test "page: threads have the states that the report of dispatches says" {
	skip_unless_command node
	arcprof record -q --sched -e cpu-clock -o sched.data -- "$BUILD/t/workloads/sleeps" >out 2>err || true
	grep -q 'not recorded' err && skip "no dispatches here: $(<err)"
	arcprof report -i sched.data --format html >sched.html
	arcprof report -i sched.data --threads --format json >threads.json
	run node --input-type=module -e '
		import assert from "node:assert/strict";
		import { readFileSync } from "node:fs";
		import { decode, unpack } from "'"$TOP"'/lib/page/js/data.mjs";
		const text = /<script id="data"[^>]*>\s*([^\s<]*)/.exec(readFileSync("sched.html", "utf8"))[1];
		const { meta, states } = decode(await unpack(text)), report = JSON.parse(readFileSync("threads.json"));
		const cell = meta.ticks * meta.tick_ns / states.cells;
		assert.equal(states.threads.length, report.threads.length);
		for (const t of report.threads) {
			const mine = states.threads.find(s => s.tid === t.tid);
			assert.deepEqual(mine.ns, [t.cpu_ns + (t.interrupt_ns), t.runnable_ns, t.sleep_ns, t.disk_ns, t.unknown_ns]);
			mine.ns.slice(0, 4).forEach((ns, k) => {
				const shown = mine.shares.subarray(k * states.cells, (k + 1) * states.cells)
					.reduce((a, b) => a + b, 0) / states.whole * cell;
				assert.ok(Math.abs(shown - ns) <= cell * states.cells / states.whole, `${k}: ${shown}, ${ns}`);
			});
		}'
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "page: of a difference it has the numbers of arcprof diff" {
	skip_unless_command node
	page_of_shares
	b=$TOP/t/data/diff/before.folded a=$TOP/t/data/diff/after.folded
	arcprof record -q -F 2000 -e cpu-clock -o again.data -- "$(workload shares)" 10 >/dev/null
	for sides in "$TRACE again.data" "$b,$a $a" "$TOP/t/data/calls/trace $TOP/t/data/calls/trace"; do
		# shellcheck disable=SC2086	# two
		arcprof diff $sides --format html >diff.html
		for how in "--xprof" "--xprof --of cum" --xtree --xarc "--xarc --of base"; do
			# shellcheck disable=SC2086
			arcprof diff $sides $how --min-share 0 --format json >diff.json
			echo "$sides $how"
			node "$TOP/t/page/difference.mjs" diff.html diff.json
		done
	done
	jq '.rows[2].a *= 1.01' diff.json >wrong.json
	run node "$TOP/t/page/difference.mjs" diff.html wrong.json
	[ "$status" -eq 1 ]
	arcprof diff "$TRACE" again.data --format html >diff.html
	arcprof view --no-browser --diff again.data "$TRACE" -o view.html
	cmp diff.html view.html
	run_arcprof diff "$TOP/t/data/calls/trace" "$TOP/t/data/calls/trace" --per call --format html
	[ "$status" -eq 2 ]
}

@test "page: of a call trace it has the distributions of report --calls, and draws them" {
	trace=$TOP/t/data/events/trace
	arcprof report -i "$trace" --format html >calls.html
	arcprof report -i "$trace" --calls --format json >calls.json
	sed -n '/<script id="more"/,/<\/script>/p' calls.html | sed '1d;$d' | jq -S .calls >mine.json
	jq -S . calls.json | diff - mine.json
	arcprof report -i "$trace" --calls=Seed.fib --format svg >fib.svg
	node "$TOP/t/page/plots.mjs" calls.html calls.json Seed.fib fib.svg
	arcprof report -i "$TOP/t/data/calls/trace" --format html | sed -n '/<script id="more"/,/<\/script>/p' |
		sed '1d;$d' | jq -e '.calls == null'
	skip_unless_command chromium
	browse "$PWD/calls.html#below=calls&view=plots&pick=Seed.fib"
	[[ $output == *'✓ all sums hold'* && $output == *'How long its calls took'* ]]
	[[ $output == *'>number of calls by duration<'* && $output == *' calls, mean '*', longest '*'; CPU '* ]]
	# the first row: its number of calls, and a column of its histogram
	n=$(jq '.rows[0].n' calls.json | sed ':a; s/\B[0-9]\{3\}\>/,&/; ta')
	[[ $output == *">$n</td>"* ]]
	jq -r '.rows[0].histogram | max_by(.n).n' calls.json | sed ':a; s/\B[0-9]\{3\}\>/,&/; ta' >most
	[[ $output == *": $(<most) calls, "* ]]
}

@test "page: means of calls against a label are those that the report draws" {
	skip_unless_command node
	cat >sizes.c <<-END
		#include <stdio.h>
		#include "arcprof.h"
		volatile long sum;
		void inner(long n) { for (long i = 0; i < n * 200; i++) sum += i; }
		void handle(long n) { inner(n); sum++; }
		int main()
		{
			for (long n = 100; n <= 500; n += 100) {
				char text[16];
				snprintf(text, sizeof(text), "%ld", n);
				arcprof_label("size", text);
				for (int i = 0; i < 10; i++)
					handle(n);
			}
		}
	END
	gcc -O1 -fno-inline -finstrument-functions -I "$TOP/lib/api" sizes.c "$BUILD/libarcprof-hookit.a" \
		"$BUILD/libarcprof.a" -o sizes -pthread
	arcprof record -q --callflow -e label -o sizes.data -- ./sizes
	arcprof report -i sizes.data --xprof --by-label size --format svg >sizes.svg
	arcprof report -i sizes.data --by-label size --format html >sizes.html
	node "$TOP/t/page/means.mjs" sizes.html sizes.svg size | tee means
	[ "$(grep -c '^handle, size=[1-5]00: 10 calls, mean ' means)" -eq 5 ]
	[ "$(grep -c '^inner, ' means)" -eq 5 ]
	[ "$(wc -l <means)" -eq 10 ]
	arcprof report -i sizes.data --xprof --by-label size --symbol inner --format svg | grep -c '<title>' | grep -qx 5
	run_arcprof report -i sizes.data --xprof --format svg
	[[ $status -eq 2 && $stderr == *"--by-label=KEY"* ]]
	run_arcprof report -i sizes.data --xprof --by-label other --format svg
	[[ $status -eq 1 && $stderr == *"'other' was a number"* ]]
}

@test "page: a browser shows both sides of a difference" {
	skip_unless_command chromium
	arcprof diff "$TOP"/t/data/diff/{before,after}.folded --format html >diff.html
	browse "$PWD/diff.html"
	[[ $output == *'✓ all sums hold'* ]]
	[[ $output == *'>A, 100.0 %: '*'before.folded<'*'>B, 105.5 %: '*'after.folded<'* ]]
	[[ $output == *'callers and callees add up'* && $output == *'▲ +'* && $output == *'▼ −'* ]]
	for view in inverted time; do
		browse "$PWD/diff.html#view=$view&below=tree"
		[[ $output == *'✓ all sums hold'* ]]
	done
}

@test "page: a browser shows it, with sums that hold and the report's hottest function" {
	skip_unless_command chromium
	page_of_shares
	# a link of a page that had locks
	browse "$PAGE#below=locks"
	[[ $output == *'✓ all sums hold'* && $output == *'<div data-list="flat" id="flat" class="pane">'* ]]
	[[ $output == *'callers and callees add up'* ]]
	hottest=$(arcprof report -i "$TRACE" --summary --format json | jq -r '.mine[0].name')
	echo "$hottest"
	[[ $output == *"<h2>$hottest</h2>"* ]]
	[[ $output == *"<title>shares – arcprof</title>"*"Hottest functions of the program"*">$hottest</a>"*"What stands out"* ]]
	[[ $output == *"Hottest stacks"*"<b>"*" ‹ "* ]]
	for view in flame sandwich time order; do
		browse "$PAGE#view=$view&below=tree&fold=module"
		[[ $output == *'✓ all sums hold'* ]]
	done
}

@test "page: while a trace grows a browser shows what is new, and keeps what is selected" {
	skip_unless_command node
	skip_unless_command chromium
	printf '%s\n' 'p;main;f 3' 'p;main;g 2' >a
	printf '%s\n' 'o;main;x 40' 'p;init;y 9' 'p;main;e 4' 'p;main;g;h 1' 'p;main;g 6' >b
	for side in a b; do
		arcprof report --stacks $side --format html >$side.html
	done
	node "$TOP/t/page/growing.mjs" a.html b.html >port 3>&- &
	pid=$!
	for _ in {1..200}; do
		[ ! -s port ] || break
		sleep 0.02
	done
	# g is the fourth context of a, and another of b
	browse "$(<port)/#view=flame&below=tree&zoom=4&pick=g" http://127.0.0.1:
	echo "$output" | grep -A 1 'id="trail"' | sed 's/<[^>]*>//g' | tee trail
	grep -q 'all › p › main › g$' trail
	[[ $output == *'>no longer live</span>'*'✓ all sums hold'* && $output == *'<h2>g</h2>'* ]]
	# of 60, with what it calls
	[[ $output == *'<b>11.7 %</b> with callees (7)'* ]]
}

@test "page: names are text, whatever is in them" {
	skip_unless_command chromium
	printf '%s\n' '<script>document.title="taken"</script>;a"b</script>;<img src=x onerror=alert(1)> 5' \
		'<script>document.title="taken"</script>;ok 1' >stacks
	arcprof report --stacks stacks --format html >page.html
	browse "$PWD/page.html"
	[[ $output == *'✓ all sums hold'* ]]
	[[ $output == *'<title>arcprof</title>'* ]]
	[[ $output != *'<img src=x'* ]]
	[[ $output == *'&lt;img src=x onerror=alert(1)&gt;'* ]]
}
