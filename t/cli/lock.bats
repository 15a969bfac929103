#!/usr/bin/env bats
# Waits for locks: programs that say how long they waited, against what reports say.
load ../lib
load ../jdks
load ../live

# make_table: of ./trace, the files table and rows; what this has of each lock is all that most tests ask for.
make_table() {
	"$ARCPROF" report -i trace --locks --format json >table
	jq -r '.locks[] | [.class, .kind, .slow, .wait_ns, .waiters] | @tsv' table >rows
}

# locks <class> <kind> <field>: of the rows of the table
locks() {
	awk -F '\t' -v class="$1" -v kind="$2" -v field="$3" '
	BEGIN { column["slow"] = 3; column["wait_ns"] = 4; column["waiters"] = 5 }
	$1 == class && $2 == kind { sum += $column[field] }
	END { printf "%.0f\n", sum }' rows
}

# waits <argument of LockWaits>...: the files truth, table, tree and check; TRUE_N and TRUE_NS
waits() {
	"$ARCPROF" record -e lock -o trace java -cp "$CLASSES" LockWaits "$@" >truth 2>err || { cat truth err; return 1; }
	[[ $(cat err) == *" 0 lost"* ]] || { cat err; return 1; }
	[ "$(wc -l <truth)" -eq 1 ] || { cat truth; return 1; }
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
	grep -q '^ok  *waits for locks add up ' check
	make_table
	"$ARCPROF" report -i trace --xtree --metric lock --format json >tree
	# what all locks have, the source has, and what all contexts have
	[ "$(jq '[.locks[].wait_ns] | add' table)" = "$(jq '[.nodes[].base[0]] | add' tree)" ]
	[ "$(jq '.source.wait_ns' table)" = "$(jq '.metrics[0].total' tree)" ]
	"$ARCPROF" report -i trace --locks --format hprof | "$TOP/t/formats/hprof-read" >monitors
	[ "$(jq '[.["MONITOR TIME"][][0]] | add // 0' monitors)" = "$(jq '.source.lock_waits' table)" ]
	# the same by stack
	"$ARCPROF" report -q -i trace --format hprof --hprof thread=y | "$TOP/t/formats/hprof-read" >stacks
	[ "$(jq '.totals["MONITOR TIME"]' stacks)" -eq "$(jq '.source.wait_ns / 1000000 | floor' table)" ]
	jq -e '.threads | index([["main", "main"]])' stacks
	read -r _ TRUE_N _ TRUE_NS <truth
}

readonly SYNC='java.util.concurrent.locks.ReentrantLock$NonfairSync'
readonly CONDITION='java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject'

on_platform_threads() {
	waits monitor p 3 60 2000
	within "$(locks 'LockWaits$Monitor' enter wait_ns)" "$TRUE_NS" 3
	# who comes late finds it free
	[ "$(locks 'LockWaits$Monitor' enter slow)" -le "$TRUE_N" ]
	within "$(locks 'LockWaits$Monitor' enter slow)" "$TRUE_N" 10
	[ "$(locks 'LockWaits$Monitor' enter waiters)" -eq 3 ]
	# it may park more than once until it has the lock
	waits lock p 3 60 2000
	within "$(locks "$SYNC" lock wait_ns)" "$TRUE_NS" 10
	# whom it favours may never wait
	[[ $(locks "$SYNC" lock waiters) == [23] ]]
	waits wait p 3 60 1000
	[ "$(locks 'LockWaits$Monitor' wait slow)" -eq "$TRUE_N" ]
	# getting the monitor back is no part of it
	[ "$(locks 'LockWaits$Monitor' wait wait_ns)" -le "$TRUE_NS" ]
	[ "$(locks 'LockWaits$Monitor' wait wait_ns)" -ge 180000000 ]
	# so long that it does not end before the thread parks
	waits condition p 3 20 10000
	[ "$(locks "$CONDITION" park slow)" -ge 60 ]
	[ "$(locks "$CONDITION" park wait_ns)" -le "$TRUE_NS" ]
	[ "$(locks "$CONDITION" park wait_ns)" -ge 600000000 ]
}

@test "lock: waits of platform threads take as long as the program says" {
	each_jdk on_platform_threads
}

# Not before JDK 24 does a thread's id stand where no call is needed. A JVM without: its waits, and who has what.
without_ids() {
	local JAVA_TOOL_OPTIONS=-agentpath:$BUILD/t/tools/hide-fields.so=JavaThread._monitor_owner_id kind owner
	export JAVA_TOOL_OPTIONS
	waits lock p 3 60 2000
	within "$(locks "$SYNC" lock wait_ns)" "$TRUE_NS" 10
	[[ $(locks "$SYNC" lock waiters) == [23] ]]
	waits condition p 3 20 10000
	[ "$(locks "$CONDITION" park slow)" -ge 60 ]
	waits held lock 300
	[ "$(jq -r --arg c "$SYNC" '.locks[] | select(.class == $c) | .owner' table)" = holder ]
	[ "$JDK" -ge 21 ] || return 0
	waits lock v 3 100 1000
	within "$(locks "$SYNC" lock wait_ns)" "$TRUE_NS" 10
	waits monitor v 3 60 2000
	initialised p 2
}

@test "lock: a JVM that has the ids of threads in their objects alone is not harmed, and its waits are reported" {
	make -s -C "$TOP" build/t/tools/hide-fields.so >&2
	each_jdk without_ids
}

on_virtual_threads() {
	waits monitor v 3 100 1000
	within "$(locks 'LockWaits$Monitor' enter wait_ns)" "$TRUE_NS" 3
	waits lock v 3 100 1000
	within "$(locks "$SYNC" lock wait_ns)" "$TRUE_NS" 10
	[ "$(locks "$SYNC" lock waiters)" -ge 2 ]
	waits wait v 3 60 1000
	within "$(locks 'LockWaits$Monitor' wait slow)" "$TRUE_N" 1
	waits condition v 3 20 10000
	[ "$(locks "$CONDITION" park slow)" -ge 60 ]
	[ "$(locks "$CONDITION" park wait_ns)" -le "$TRUE_NS" ]
}

@test "lock: waits of virtual threads take as long as the program says" {
	each_jdk 25 on_virtual_threads
}

held() {
	local kind class
	for kind in monitor lock; do
		class='LockWaits$Monitor'
		[ "$kind" = monitor ] || class=$SYNC
		waits held "$kind" 300
		jq -r --arg c "$class" '.locks[] | select(.class == $c and (.kind == "enter" or .kind == "lock")) | "\(.owner) \(.slow) \(.wait_ns) \(.owner_wait_ns)"' table >held
		cat held
		read -r owner slow ns owner_ns <held
		[ "$owner" = holder ]
		[ "$slow" -ge 3 ]
		# each of the three had to wait for most of it, and nearly all for the holder
		[ "$ns" -ge 300000000 ]
		[ $((owner_ns * 10)) -ge $((ns * 8)) ]
		"$ARCPROF" report -i trace --locks=chains --format json >chains
		jq -e --arg c "$class" --argjson ns "$owner_ns" '.chains as $all |
			[$all[] | select(.level == 1 and .state == "has" and .thread == "holder" and $all[.parent].class == $c).wait_ns] |
			add * 10 >= $ns * 9' chains
	done
	# names stand below each other, however long an owner's is
	"$ARCPROF" report -i trace --locks >table
	awk '/MON-NAME/ { at = index($0, "MON-NAME") }
	     /^$/ { at = 0 }
	     at && !/MON-NAME/ { rows++; bad += substr($0, at - 1) !~ /^ [^ ]/ }
	     END { exit bad || !rows }' table || { cat table; return 1; }
}

readers() {
	waits readers 100
	jq -r '.locks[] | select(.class == "java.util.concurrent.locks.ReentrantReadWriteLock$NonfairSync") | "\(.kind) \(.owner) \(.waiters)"' table >rows
	cat rows
	[ "$(cat rows)" = 'lock reader-1 1' ]
	"$ARCPROF" report -i trace --xprof --blame --format json >blame
	[ "$(jq '.metrics[0].total' blame)" = "$(jq .source.lock_wait_ns table)" ]
	# the first who reads, and then the one that goes on
	[ "$(charged LockWaits.readsFirst)" -gt 0 ]
	[ "$(charged LockWaits.readsOn)" -gt 0 ]
}

@test "lock: the reader that has a lock is charged with the waits of writers" {
	each_jdk readers
}

initialised() {	# p|v <waiters>
	waits initialise "$1" "$2" 500
	jq -r '.locks[] | select(.kind == "class" and .class == "LockWaits$Slow") | "\(.class) \(.owner) \(.slow) \(.waiters) \(.wait_ns)"' table >classes
	cat classes
	[[ $(cat classes) == "LockWaits\$Slow initialiser $2 $2 "* ]]
	within "$(locks 'LockWaits$Slow' class wait_ns)" "$TRUE_NS" 3
	"$ARCPROF" report -i trace --xprof --metric lock --format json >prof
	"$ARCPROF" report -i trace --xprof --blame --format json >blame
	[ "$(jq -r '.rows[] | select(.name == "LockWaits$Slow") | .cum[0]' prof)" = "$(locks 'LockWaits$Slow' class wait_ns)" ]
	# and what it waits there for locks of the JVM's own code
	within "$(jq -r '.rows[] | select(.name == "LockWaits.useSlow") | .cum[0]' prof)" "$(locks 'LockWaits$Slow' class wait_ns)" 1
	[ "$(charged '[initialises a class]')" = "$(jq '[.locks[] | select(.kind == "class").wait_ns] | add' table)" ]
	[ "$(jq '.metrics[0].total' blame)" = "$(jq .source.lock_wait_ns table)" ]
}

initialised_by() {
	initialised p 2
	# since JDK 26 a virtual thread leaves its carrier for this, and nothing reports it
	[ "$JDK" -lt 21 ] || [ "$JDK" -ge 26 ] || initialised v 1
}

@test "lock: threads wait for the one that initialises a class" {
	each_jdk initialised_by
}

@test "lock: the table names the owner" {
	each_jdk held
}

# charged <function>: ns that its contexts made others wait
charged() {
	[ charges -nt blame ] || jq -r '.rows[] | [.name, .cum[0]] | @tsv' blame >charges
	awk -F '\t' -v f="$1" '$1 == f { ns += $2 } END { printf "%.0f\n", ns }' charges
}

blame() {
	local kind
	for kind in $1; do
		"$ARCPROF" record -q -e lock -o trace java -cp "$CLASSES" LockWaits owners "$kind" "$2" 40 >truth
		read -r _ in_sleeper _ in_spinner <truth
		"$ARCPROF" report -i trace --xprof --blame --format json >blame
		"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
		# who has a lock is charged with all that others wait for it, and no more
		[ "$(jq '.metrics[0].total' blame)" = "$("$ARCPROF" report -i trace --locks --format json | jq .source.lock_wait_ns)" ]
		[ "$(jq -r '.metrics[0].name' blame)" = blame ]
		echo "$kind $2: $(cat truth); $(charged LockWaits.sleeper) $(charged LockWaits.spinner)"
		[ $((100 * $(charged LockWaits.sleeper))) -ge $((40 * in_sleeper)) ]
		[ $((100 * $(charged LockWaits.sleeper))) -le $((140 * in_sleeper)) ]
		# on a busy machine the lock is given back before the stack is read: that has a row of its own
		[ "$(($(charged LockWaits.spinner) + $(charged '[given back before its stack was read]')))" -gt 0 ]
		[ $((100 * $(charged LockWaits.spinner))) -le $((200 * in_spinner)) ]
		[ "$(charged LockWaits.waitForBoth)" -lt $((in_spinner / 4)) ]
	done
	"$ARCPROF" report -i trace --locks --blame >tree
	grep -q ' LockWaits.sleeper' tree
}

@test "lock: the owner of a lock is charged with the waits of others, where it holds it" {
	each_jdk blame 'monitor lock' p
	each_jdk 25 blame lock v
	run_arcprof report --locks --blame --metric lock
	[ "$status" -eq 2 ]
	run_arcprof report --gc --blame
	[ "$status" -eq 2 ]
	[[ $stderr == *"--gc charges nobody"* ]]
}

# one_open <ns>: the wait that has not ended is there, with that time at least, and where it waits
one_open() {
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
	make_table
	"$ARCPROF" report -i trace --xprof --metric lock --format json >blame
	[ "$(locks 'LockWaits$Monitor' enter slow)" -eq 1 ]
	ns=$(locks 'LockWaits$Monitor' enter wait_ns)
	echo "$ns of $1"
	[ "$ns" -ge "$1" ]
	[ "$ns" -le $(($1 + 5000000000)) ]
	[ "$(charged LockWaits.waitForKeeper)" -eq "$ns" ]
	"$ARCPROF" report -i trace --xprof --blame --format json >blame
	[ $((2 * $(charged LockWaits.keeper))) -ge "$ns" ]
}

open_waits() {
	local recorder
	"$ARCPROF" record -q -e lock -o trace java -cp "$CLASSES" LockWaits open 200 >truth
	read -r _ _ _ ns <<<"$(tail -1 truth)"
	one_open "$ns"
	"$ARCPROF" record -q -e lock -o trace java -cp "$CLASSES" LockWaits open 60000 >said &
	recorder=$!
	for _ in $(seq 600); do
		! grep -q waiting said || break
		sleep 0.05
	done
	sleep 0.2
	kill -TERM "$recorder"
	wait "$recorder" || true
	one_open 200000000
}

@test "lock: waits that have not ended count until the recording does" {
	one_jdk newest open_waits
}

contexts() {
	waits monitor p 2 100 2000
	"$ARCPROF" report -i trace --xprof --metric lock --format json >xprof
	all=$(jq '[.rows[] | select(.name == "LockWaits$Monitor") | .base[0]] | add' xprof)
	[ "$all" -eq "$(locks 'LockWaits$Monitor' enter wait_ns)" ]
	# waits as long as this have their stacks
	in_it=$(jq '[.rows[] | select(.name == "LockWaits.monitor") | .cum[0]] | add' xprof)
	[ $((in_it * 100)) -ge $((all * 98)) ]
}

@test "lock: a wait is charged to where it waited, with the lock's class as the leaf" {
	one_jdk oldest contexts
}

# The VM says which native methods are bound anew: only with -e lock, and silently.
hooks() {
	local event
	for event in cpu-clock lock; do
		"$ARCPROF" record -q -e "$event" -o trace java -Xlog:jni+resolve=debug -cp "$CLASSES" LockWaits held lock 5 >log 2>err
		grep -c 'Registering JNI native method jdk.internal.misc.Unsafe.park' log >"$event" || true
		! grep -i 'warning' log err || false
	done
	[ "$(cat lock)" -eq $(($(cat cpu-clock) + 1)) ]
}

@test "lock: nothing is replaced in a JVM that is not asked for locks" {
	one_jdk newest hooks
}

attach() {
	local i
	start_live
	say spin 50
	for i in 1 2; do
		start_recorder -e lock --lock-exact='*' -p "$LIVE"
		say spin 100
		end_recorder
		arcprof report -i trace --check >check || { cat check; return 1; }
		[ "$(arcprof report -i trace --locks --format json | jq '[.locks[].gets] | add')" -gt 0 ]
		say spin 50
	done
	end_live
	! grep -i register live.out live.err || false
}

readonly COUNTED='LockCounts,java.lang.Class,*.ReentrantLock,java.util.concurrent.locks.ReentrantReadWriteLock'

# counts <p|v> <threads> <times>: the table has what the program has counted, and how long locks were held
counts() {
	local kind class nonrec rec held row
	"$ARCPROF" record --lock-exact="$COUNTED" -o trace java -cp "$CLASSES" LockCounts "$@" >truth 2>err || { cat truth err; return 1; }
	[[ $(cat err) == *" 0 lost"* ]] || { cat err; return 1; }
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
	"$ARCPROF" report -i trace --locks --format json >table
	[ "$(wc -l <truth)" -eq 8 ]
	while read -r kind class nonrec rec held; do
		# of java.lang.Class there are others
		row=$(jq -c --arg c "$class" --arg k "$kind" '[.locks[] | select(.class == $c and .kind == $k)] | max_by(.gets)' table)
		echo "$class $nonrec $rec $held: $row"
		jq -e --argjson n "$nonrec" --argjson r "$rec" '.nonrec == $n and .rec == $r and .gets == $n + $r' <<<"$row"
		# it has the lock from before it looks at the clock until after it does
		jq -e --argjson h "$held" '(.hold_mean_ns + 1) * .nonrec >= $h * 0.98' <<<"$row"
	done <truth
	# and not all the time
	jq -e '[.locks[] | select(.util_percent != null and (.util_percent < 0 or .util_percent > 100))] == []' table
	"$ARCPROF" dump -i trace | grep -c ' lock.use ' >uses
	[ "$(cat uses)" -ge 8 ]
}

counts_platform() {
	counts p 4 300
}

counts_virtual() {
	counts v 4 300
}

# cpu_ms <command>...: of Java, into the variable; on one CPU, where each turn is a switch
cpu_ms() {
	{ TIMEFORMAT='%U %S'; time "$@" taskset -c 0 java -XX:+UseSerialGC -cp . HandOver 20000 2>/dev/null; } 2>&1 |
		awk '{ printf "%d\n", 1000 * ($1 + $2) }'
}

hands_over() {
	compile_java -d . "$TOP/t/perf/HandOver.java"
	without=$(cpu_ms env)
	with=$(cpu_ms "$ARCPROF" record -q -e lock -o trace)
	echo "JDK $JDK: $without ms, with -e lock $with ms"
	# also what the recorder takes; it was 10 times as much when each looked through its stack
	[ "$with" -lt $((3 * without + 500)) ]
}

@test "lock: threads that park for nothing that has a name go on as before" {
	one_jdk oldest hands_over
}

browser_lists_them() {
	"$ARCPROF" report -i trace --format html >page.html
	timeout 60 chromium --headless --no-sandbox --disable-gpu --no-first-run --user-data-dir="$BATS_TEST_TMPDIR/chromium" \
		--virtual-time-budget=10000 --dump-dom "file://$PWD/page.html#below=locks" >dom
	grep -o 'data-list="locks".*' dom >list
	grep -q '>LockWaits$Monitor<' list
	grep -q ">$(jq '.[0].slow' locks.json)</td>" list
}

on_the_page() {
	"$ARCPROF" record -q -e lock -o trace java -cp "$CLASSES" LockWaits monitor p 2 20 1000 >truth
	"$ARCPROF" report -i trace --locks --format json | jq -S .locks >locks.json
	[ "$(jq length locks.json)" -gt 0 ]
	"$ARCPROF" report -i trace --format html | sed -n '/<script id="more"/,/<\/script>/p' | sed '1d;$d' >more.json
	jq -S '.tables[] | select(.key == "locks" and .title == "Locks").data.locks' more.json | diff locks.json -
	command -v chromium >/dev/null && browser_lists_them
	# of a part of the recording there is none
	"$ARCPROF" report -i trace --format html --from 0.01s | sed -n '/<script id="more"/,/<\/script>/p' | sed '1d;$d' |
		jq -e '.tables == [] and .summary.locks == null' >none
}

@test "lock: the page for a browser has the locks of the report" {
	one_jdk newest on_the_page
}

@test "lock: every acquisition of selected locks is counted" {
	each_jdk counts_platform
	each_jdk 25 counts_virtual
	# what was not selected is not
	"$ARCPROF" record -q --lock-exact='LockCounts$Block' -o trace java -cp "$CLASSES" LockCounts p 2 10 >truth
	"$ARCPROF" report -i trace --locks --format json >table
	[ "$(jq -r '[.locks[] | select(.gets != null) | .class] | unique | join(" ")' table)" = 'LockCounts$Block' ]
}

# cpu <class>: CPU time in us of the 20 holds
cpu() {
	jq --arg c "$1" '[.locks[] | select(.class == $c and .cpu_holds == 20)] | max_by(.cpu_ns).cpu_ns / 1000 | floor' table
}

holds_cpu() {
	"$ARCPROF" record -q --lock-exact='LockCounts,*.ReentrantLock' --lock-cpu -o trace java -cp "$CLASSES" LockCounts cpu 20
	"$ARCPROF" report -i trace --locks --format json >table
	echo "$(cpu 'LockCounts$Asleep') $(cpu 'LockCounts$Busy') $(cpu "$SYNC")"
	[ "$(cpu 'LockCounts$Asleep')" -lt 20000 ]
	[ "$(cpu 'LockCounts$Busy')" -ge 100000 ]
	[ "$(cpu 'LockCounts$Busy')" -lt 120000 ]
	[ "$(cpu "$SYNC")" -ge 100000 ]
	[ "$(cpu "$SYNC")" -lt 120000 ]
	"$ARCPROF" report -i trace --locks | grep -q ' AVER-CPU '
}

@test "lock: CPU time that threads consume while they have a lock is measured" {
	each_jdk holds_cpu
	run_arcprof record --lock-cpu -o trace -- true
	[ "$status" -eq 2 ]
	[[ $stderr == *"--lock-cpu requires --lock-exact"* ]]
}

notifies() {
	"$ARCPROF" record -q --lock-exact='LockCounts' -o trace java -cp "$CLASSES" LockCounts notify
	"$ARCPROF" report -i trace --locks --format json >table
	[ "$(jq -c '[.locks[] | select(.class == "LockCounts$Notified" and .kind == "enter") | .notify, .notify_all, .notify_idle]' table)" = '[2,1,1]' ]
	jq -r '.notified[] | select(.class == "LockCounts$Notified") | "\(.notifier) \(.waiter) \(.waits)"' table | sort >pairs
	cat pairs
	[ "$(paste -sd, pairs)" = 'everyone waiter-2 1,everyone waiter-3 1,notifier waiter-1 1' ]
	"$ARCPROF" report -i trace --locks | grep -q '^ notify() 2, notifyAll() 1, of both 1 while nobody waited$'
}

@test "lock: reports say which thread notified which, and which notified none" {
	each_jdk notifies
}

# Three calls, each from a place of its own: one wakes one, one wakes two, and one nobody.
notifies_by_stack() {
	"$ARCPROF" record -q --lock-exact='LockCounts' -e notify -o trace java -cp "$CLASSES" LockCounts notify
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
	for metric in notify notified; do
		"$ARCPROF" report -q -i trace --metric $metric --format folded | sed 's/lambda\$notifies\$/lambda/' |
			sed -E 's/^.*;(LockCounts[^;]*;LockCounts\$Notified .*)$/\1/' | sort >$metric
	done
	tail notify notified
	[ "$(sed -E 's/lambda[0-9]+/lambda/' notify | paste -sd,)" = 'LockCounts.lambda;LockCounts$Notified 1,LockCounts.lambda;LockCounts$Notified 1,LockCounts.notifies;LockCounts$Notified 1' ]
	[ "$(sed -E 's/lambda[0-9]+/lambda/' notified | sort | paste -sd,)" = 'LockCounts.lambda;LockCounts$Notified 1,LockCounts.lambda;LockCounts$Notified 2' ]
}

@test "lock: where threads notify others is known, and how many that wakes" {
	each_jdk notifies_by_stack
	run_arcprof record -e notify -o trace -- true
	[ "$status" -eq 2 ]
	[[ $stderr == *"--event notify requires --lock-exact"* ]]
}

reads() {
	"$ARCPROF" record -q --lock-exact='*.ReentrantReadWriteLock' -o trace java -cp "$CLASSES" LockCounts reads 1000
	"$ARCPROF" report -i trace --locks --format json >table
	[ "$(jq -c '[.locks[] | select(.reads >= 1500) | .gets, .nonrec, .reads]' table)" = '[1,1,1500]' ]
	"$ARCPROF" report -i trace --locks | grep -q ' READS '
}

@test "lock: acquisitions for reading are counted" {
	each_jdk reads
}

# one_stamped <threads> <times>: what the program has counted, and how long the lock was held for writing
one_stamped() {
	local writes reads held
	"$ARCPROF" record -q --lock-exact='*.StampedLock' -o trace java -cp "$CLASSES" LockCounts stamped "$@" >truth
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
	"$ARCPROF" report -i trace --locks --format json >table
	read -r writes reads held <truth
	jq -c '.locks[] | select(.class == "java.util.concurrent.locks.StampedLock")' table >rows
	cat truth rows
	jq -se --argjson w "$writes" --argjson r "$reads" --argjson h "$held" 'length == 1 and (.[0] |
		.kind == "lock" and .nonrec == $w and .gets == $w and .reads == $r and
		(.hold_mean_ns + 1) * .nonrec >= $h * 0.98 and .util_percent <= 100)' rows
}

stamped() {
	one_stamped 1 300
	one_stamped 3 300
}

@test "lock: acquisitions of a StampedLock are counted, and tries that fail are not" {
	each_jdk stamped
}

in_segments() {
	"$ARCPROF" record -q --segment=300ms --lock-exact='LockCounts$Block' -o segments java -cp "$CLASSES" LockCounts p 3 1500 >truth
	"$ARCPROF" merge -q --splice -o whole segments
	"$ARCPROF" report -i whole --check >check || { cat check; return 1; }
	"$ARCPROF" report -i whole --locks --format json >table
	read -r _ _ nonrec rec _ < <(grep Block truth)
	jq -e --argjson n "$nonrec" --argjson r "$rec" '[.locks[] | select(.gets != null)] |
		(map(.nonrec) | add) == $n and (map(.rec) | add) == $r and all(.slow <= .nonrec)' table
	# a row each
	[ "$("$ARCPROF" dump -i whole | grep -c ' lock.use ')" -eq "$(jq '[.locks[] | select(.gets != null)] | length' table)" ]
}

@test "lock: what is counted is in the segment in which it was" {
	each_jdk 25 in_segments
}

@test "lock: comes into a running JVM, and leaves it, twice" {
	one_jdk oldest attach
}

@test "lock: wrong requests say what is wrong" {
	skip_unless_perf
	arcprof record -q -e cpu-clock -o plain -- true
	run_arcprof report -i plain --locks
	[ "$status" -eq 1 ]
	[[ $stderr == *"waits for locks were not recorded"*"arcprof record -e lock"* ]]
	run_arcprof report -i plain --locks --tid 3
	[ "$status" -eq 2 ]
	run_arcprof report -i plain --locks --from 1s
	[ "$status" -eq 2 ]
	run_arcprof record -e lock=soon -o trace -- true
	[ "$status" -eq 2 ]
	[[ $stderr == *"lock=soon"* ]]
	run_arcprof record --lock-exact=+a.B -o trace -- true
	[ "$status" -eq 2 ]
	[[ $stderr == *"names of classes with * and ?"* ]]
	run_arcprof record --lock-exact=a,,b -o trace -- true
	[ "$status" -eq 2 ]
	run_arcprof record --lock-exact=a --callflow -o trace -- true
	[ "$status" -eq 2 ]
	[[ $stderr == *"--lock-exact and --callflow"* ]]
}

# JDK 24 and later count no waits for monitors.
enters_are_counted() {
	"$ARCPROF" record -q -e lock -o trace java -cp "$CLASSES" LockWaits monitor p 4 300 100 >out
	"$ARCPROF" report --check -i trace >check || { cat check; return 1; }
	"$ARCPROF" report --locks --format json -i trace | jq -c .counted >counted
	cat counted
	if [ "$JDK" -ge 24 ]; then
		[ "$(cat counted)" = '[]' ]
		[ "$("$ARCPROF" report --locks -i trace | grep -c 'own count')" -eq 0 ]
		return
	fi
	grep -q 'ok   pauses, waits for monitors = those that JVMs count  *1 checked' check
	jq -e '.[0] | .enters > 100 and .recorded >= .enters and .recorded <= 1.02 * .enters' counted
	"$ARCPROF" report --locks -i trace | grep -qE "^the JVM's own count, of process [0-9]+: [0-9]+ waits for monitors, and [0-9]+ recorded$"
	# of several files, all together
	rm -rf dir
	"$ARCPROF" record -q -e lock --segment 200ms -o dir java -cp "$CLASSES" LockWaits monitor p 4 300 100 >out
	"$ARCPROF" report --locks --format json -i dir | jq -c .counted | tee counted
	jq -e '.[0] | .enters > 100 and .recorded >= .enters and .recorded <= 1.02 * .enters' counted
}

# A wait is in the segment in which it ends, and the owner of the lock is charged while it goes on.
segments_add_up() {
	local file
	rm -rf long
	"$ARCPROF" record -q -e lock --segment 200ms -o long java -cp "$CLASSES" LockWaits held monitor 1500 >out
	for file in long/*.arc long; do
		"$ARCPROF" report -i "$file" --check >check 2>&1 || { echo "$file"; cat check; return 1; }
	done
	for file in long/*.arc; do
		"$ARCPROF" dump -i "$file"
	done >dumped
	grep -q 'lock.charged.ahead_ns' dumped
	grep -q 'lock.charged.before_ns' dumped
}

@test "lock: in each segment waits add up to what their owners are charged with" {
	each_jdk segments_add_up
}

@test "lock: waits for monitors are as many as the JVM itself counts" {
	on_each_jdk enters_are_counted
}
