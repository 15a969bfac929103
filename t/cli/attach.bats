#!/usr/bin/env bats
# Recording a running JVM, with every JDK of this machine.
load ../lib
load ../jdks
load ../live

teardown() {
	kill_live
	[ -z "${OPEN-}" ] || rm -rf "$OPEN"
}

# Says of the last run that it failed with this line, and left nothing behind.
refused() {	# <exit status> <pattern>
	[ "$status" -eq "$1" ]
	[[ $stderr == *"arcprof record: "$2* ]]
	[ "$(grep -c '^arcprof record: ' <<<"$stderr")" -eq 1 ]
	! ls /tmp/.attach_pid* 2>/dev/null || false
}

# Number of samples whose stack matches, and all.
count() {
	awk -v re="$1" '$0 ~ re { n += $NF } END { print n + 0 }' stacks
}

crashes() {
	start_live -XX:-CreateCoredumpOnCrash
	start_recorder -p "$LIVE"
	say spin 20
	kill -SEGV "$LIVE"
	end_recorder true
	[ "$(grep -c "process $LIVE .*, and wrote $PWD/hs_err_pid$LIVE.log while it was recorded" recorder.err)" -eq 1 ]
	LIVE=
}

@test "attach: a JVM that crashes while it is recorded is named, with the file that it wrote" {
	one_jdk newest crashes
}

# Another agent changes what we change, before us, while we are there and after us.
beside_another() {
	local i said
	make -s -C "$TOP" build/t/tools/neighbour.so >&2
	start_live "-agentpath:$BUILD/t/tools/neighbour.so"
	say spin 20
	for i in 1 2 3; do
		start_recorder -e cpu-clock,lock -p "$LIVE"
		say spin 50
		if [ "$i" -eq 1 ]; then
			touch late
			while [ -e late ] && kill -0 "$LIVE"; do sleep 0.02; done
		fi
		say spin 100
		end_recorder
		# of some JDKs not all waits can be known
		[ "$(grep -v ' of lock ' recorder.err | grep -c warning)" -eq 0 ]
		alone
	done
	say spin 50
	end_live
	said=$(grep ^neighbour: live.err)
	echo "$said"
	# each trap came to one of its handlers, but for one that was under way when they were counted
	awk 'function differ(x) { return x[1] - x[2] > 1 || x[2] - x[1] > 1 }
	     { split($7, own, "/"); split($9, passed, "/")
	       exit !($3 > 0 && $5 > 0 && own[1] > 20 && !differ(own) && !differ(passed)) }' <<<"$said"
	[[ $said == *'slot mine' ]]
}

@test "attach: beside an agent that changes imports and handlers as well, both go on, and nothing of it is undone" {
	each_jdk beside_another
}

attach_three_times() {
	local i
	start_live
	say spin 50
	for i in 1 2 3; do
		start_recorder -p "$LIVE"
		say spin 300
		end_recorder
		ARCPROF=$ARCPROF "$TOP/t/folded" --kinds trace >stacks
		arcprof report -i trace --check >check || { cat check; return 1; }
		head -n 3 stacks
		all=$(count ';main;.*Live\.(most|rest) ')
		[ "$all" -ge 150 ]
		# nine tenths, but what the compilers do with both in such a short time is theirs
		[ "$(count 'Live\.most ')" -ge $((all * 2 / 3)) ]
		# names of what was compiled and interpreted before we came, and of threads
		[ "$(count ';main;.*call_stub .*;Live\.main [^;]*;Live\.run [^;]*;Live\.spin [^;]*;Live\.(most|rest) ')" -ge $((all * 9 / 10)) ]
		alone
	done
	say calls 10
	end_live
	[ "$JDK" -ge 21 ] || ! [ -s live.err ]
}
@test "attach: a running JVM is recorded any number of times, with all names, and goes on" {
	skip_unless_perf
	on_one_jdk newest attach_three_times
}

# calls_of <method>: its calls, from what is in the trace.
calls_of() {
	arcprof report -i trace "${@:2}" --xprof --format json >xprof
	jq --arg f "Live.$1" '[.rows[] | select(.name == $f) | .n] | add // 0' xprof
}

count_calls_twice() {
	local i virtual=0 fds maps
	start_live
	for i in 1 2; do
		start_recorder -p "$LIVE" --callflow
		say calls 1000
		say threads 10
		if [ "$JDK" -ge 21 ]; then
			say virtual 10
			virtual=10
		fi
		end_recorder
		arcprof report -i trace --check >check || { cat check; return 1; }
		[ "$(calls_of outer)" -eq $((1010 + virtual)) ]
		[ "$(calls_of inner)" -eq $((3 * (1010 + virtual))) ]
		[ "$(calls_of calls)" -eq 1 ]
		# each thread has a tree, and its name
		[ "$(jq '[.rows[] | select(.kind == "thread" and (.name | startswith("worker-")))] | length' xprof)" -eq 10 ]
		alone
		[ $i -eq 1 ] || [ "$(ls "/proc/$LIVE/fd" | wc -l) $(grep -c memfd "/proc/$LIVE/maps")" = "$fds 0" ]
		fds=$(ls "/proc/$LIVE/fd" | wc -l)
	done
	# without a recorder, and while one dies
	say calls 1000
	start_recorder -p "$LIVE" --callflow='+*'
	echo calls 100000 >&7
	end_recorder kill -KILL || [ $? -eq 137 ]
	heard 'calls 100000'
	alone
	start_recorder -p "$LIVE" --callflow --metric objects
	say calls 7
	end_recorder
	[ "$(calls_of outer)" -eq 7 ]
	# its threads would report the first objects too late
	arcprof report -i trace --xprof | grep '^not recorded: objects of '
	end_live
}
@test "attach: calls of a running JVM are counted exactly, any number of times, also after a recorder died" {
	on_one_jdk oldest count_calls_twice
}

# What was open when counting began is there, as long as it is: it has the calls that it makes, and not those after it.
open_before() {
	start_live
	echo open 2000 >&7
	start_recorder -p "$LIVE" --callflow
	heard 'open 2000'
	say calls 10
	end_recorder
	end_live
	arcprof report -i trace --xtree --format json |
		jq -r 'reduce .nodes[] as $n ({}; .[$n.id | tostring] = $n + { path:
			(if $n.kind == "java" then .[$n.parent | tostring].path + ";" + ($n.name | ltrimstr("Live.")) else "" end) }) |
			.[] | select(.path != "" and (.path | endswith("inner") | not)) | "\(.n) \(.path)"' | sort >paths
	cat paths
	# ";outer": while the classes get their probes
	sed '/ ;outer$/d; s/^[0-9]* ;main;run;open;outer$/N ;main;run;open;outer/' paths | sort | diff <(printf '%s\n' '1 ;main' '10 ;main;run;calls;outer' \
		'1 ;main;run;calls' '1 ;main;run;open' '2 ;main;run' 'N ;main;run;open;outer' | sort) -
	[ "$(jq -n --argjson n "$(calls_of outer)" '$n > 20')" = true ]
}
@test "attach: calls that were open before are above those that they make, until they return" {
	on_one_jdk newest open_before
}

# Those that are there already cannot be changed, and are named; those that come are counted.
hidden_classes() {
	local i
	rm -f live.in
	mkfifo live.in
	java -cp "$CLASSES" Hidden attach <live.in >live.out 2>live.err 3>&- &
	LIVE=$!
	exec 7>live.in
	NR_SAID=0
	heard ready
	start_recorder -p "$LIVE" --callflow
	echo >&7
	for ((i = 0; i < 400 && $(wc -l <live.out) < 5; i++)); do
		sleep 0.05
	done
	end_recorder || true
	end_live
	sed -n '/^total.*Adder/p' live.out >want
	ARCPROF=$ARCPROF "$TOP/t/expect-calls" trace want
	arcprof report -i trace --xprof | grep '^not recorded: calls of 3 classes: a hidden class from before counting began (Hidden$Adder'
}
@test "attach: hidden classes from before are named, those that come are counted" {
	on_each_jdk hidden_classes
}

branches_of_a_jvm() {
	start_live
	say spin 50
	# the JVM's other threads may have had nearly all instructions, or main compiles just then: once more
	for _ in 1 2 3 4 5; do
		echo spin 1500 >&7
		run_arcprof itrace -o trace -p "$LIVE" --limit 30000
		[ "$status" -eq 0 ]
		heard 'spin 1500'
		arcprof report -i trace --thread main --xprof --format json >of_main || continue
		jq -e '([.rows[].base[0]] | add) > 1000 and any(.rows[]; .name | startswith("Live."))' of_main && break
	done
	jq -e 'any(.rows[]; .name | startswith("Live."))' of_main
	alone
	say calls 5
	end_live
}
@test "attach: an instruction trace of a running JVM names its methods" {
	on_one_jdk oldest branches_of_a_jvm
}

# Its own pid namespace, /tmp and /var/tmp, as in a container; and its own users, so that root is nobody there.
in_a_container() {
	local i holder=
	rm -f live.in
	mkfifo live.in
	local enter=
	if unshare --user true 2>/dev/null; then
		unshare --user sleep 600 3>&- &
		holder=$!
		until [ "$(readlink /proc/$holder/ns/user)" != "$(readlink /proc/self/ns/user)" ]; do sleep 0.02; done
		echo 0 100000 65536 >/proc/$holder/uid_map
		echo 0 100000 65536 >/proc/$holder/gid_map
		enter="nsenter --user --target $holder --setuid 0 --setgid 0"
	fi
	$enter unshare --mount --pid --fork --mount-proc sh -c "mount -t tmpfs none /mnt && cp -r '$CLASSES'/. /mnt &&
		mount -t tmpfs none /tmp && mount -t tmpfs none /var/tmp && exec '$JAVA_HOME/bin/java' -cp /mnt Live" <live.in >live.out 2>live.err 3>&- &
	OUTSIDE=$!
	exec 7>live.in
	LIVE=$OUTSIDE NR_SAID=0
	heard ready
	LIVE=$(tr -d ' ' <"/proc/$OUTSIDE/task/$OUTSIDE/children")
	start_recorder -p "$LIVE" --callflow -F 999
	say calls 100
	say spin 100
	end_recorder
	arcprof report -i trace --check >check || { cat check; return 1; }
	[ "$(calls_of outer)" -eq 100 ]
	arcprof report -i trace --samples --xprof --format json |
		jq -e '[.rows[] | select(.name == "Live.spin") | .cum[0]] | add > 30000000'
	arcprof report -i trace --samples --xprof --format json | jq -e 'any(.rows[]; .name == "main")'
	# another one at the same time is told so, there too
	start_recorder -p "$LIVE" --callflow
	run_arcprof record -o other -p "$LIVE" --callflow -d 10ms
	refused 125 "process $LIVE is being recorded already"
	end_recorder
	run_arcprof threads -p "$LIVE"
	[[ $output == *'"main" #'* ]]
	run_arcprof record -o native -p "$LIVE" -e native-memory -d 10ms
	[ "$status" -eq 0 ]
	# what is left there is the agent; and nothing here
	[ -z "$(find "/proc/$LIVE/root/tmp" -name '*arcprof*' -o -name '.attach*')" ]
	exec 7>&-
	wait "$OUTSIDE"
	[ -z "$holder" ] || kill "$holder"
	LIVE=
}
@test "attach: a JVM in a container with users of its own" {
	skip_unless_root
	skip_unless_perf
	unshare --mount --pid --fork --mount-proc true 2>/dev/null || skip "no namespaces can be made here"
	on_one_jdk newest in_a_container
}

# Starts Live with our mounts, but in a root and a /tmp and /var/tmp of its own; arcprof is run from beside that.
start_in_a_chroot() {	# <option of java>...
	rm -f live.in live.out
	mkfifo live.in
	mkdir -p root
	unshare --mount sh -c 'mount --bind / root && mount -t proc proc root/proc && mount -t tmpfs none root/tmp &&
		mount -t tmpfs none root/var/tmp && cp -r "$0"/. root/tmp && exec chroot root env -C /var/tmp "$@" -cp /tmp Live' \
		"$CLASSES" "$JAVA_HOME/bin/java" "$@" <live.in >live.out 2>live.err 3>&- &
	LIVE=$!
	exec 7>live.in
	NR_SAID=0
	heard ready
	printf '#!/bin/sh\nexec nsenter --mount --target %s --wd=%q %q "$@"\n' "$LIVE" "$PWD" "$BUILD/arcprof" >beside
	chmod +x beside
}

in_a_chroot() {
	local ARCPROF=$PWD/beside
	start_in_a_chroot
	start_recorder -p "$LIVE" --callflow -F 999
	say calls 100
	say spin 100
	end_recorder
	arcprof report -i trace --check >check || { cat check; return 1; }
	[ "$(calls_of outer)" -eq 100 ]
	arcprof report -i trace --samples --xprof --format json |
		jq -e '[.rows[] | select(.name == "Live.spin") | .cum[0]] | add > 30000000'
	arcprof report -i trace --samples --xprof --format json | jq -e 'any(.rows[]; .name == "main")'
	run_arcprof threads -p "$LIVE"
	[[ $output == *'"main" #'* ]]
	run_arcprof heap dump -o heap -p "$LIVE"
	[ "$status" -eq 0 ]
	run_arcprof record -o native -p "$LIVE" -e native-memory -d 10ms
	[ "$status" -eq 0 ]
	[ -z "$(find "/proc/$LIVE/root/tmp" -name '*arcprof*' -o -name '.attach*')" ]
	end_live
	start_in_a_chroot -XX:-CreateCoredumpOnCrash
	start_recorder -p "$LIVE"
	kill -SEGV "$LIVE"
	end_recorder true
	[ "$(grep -c "process $LIVE .*, and wrote /var/tmp/hs_err_pid$LIVE.log while it was recorded" recorder.err)" -eq 1 ]
	start_in_a_chroot -XX:+DisableAttachMechanism
	run_arcprof record --java=agent -o trace -p "$LIVE" -d 10ms
	refused 125 "process $LIVE lets nothing attach: it runs with -XX:+DisableAttachMechanism"
	end_live
}
@test "attach: a JVM in a chroot, with our mounts" {
	skip_unless_root
	skip_unless_perf
	unshare --mount sh -c 'mkdir root && mount --bind / root' 2>/dev/null || skip "nothing can be mounted here"
	on_one_jdk newest in_a_chroot
}

# Who listens there is another user, as root of the machine is in a container with users of its own.
posed() {	# <the recorder's half of the key> [<what the key's file is made with>]
	rm -rf "$OPEN/door" posed	# what the last one said would be taken for this one's
	mkdir -m 777 "$OPEN/door"
	as_nobody "$OPEN/stranger" "$OPEN/door/s" pose "$1" >posed 3>&- 7>&- &
	until grep -qs listens posed; do sleep 0.02; done
	chmod 755 "$OPEN/door"
	[ -z "${2-}" ] || (cd "$OPEN/door" && eval "$2")
	jcmd "$LIVE" JVMTI.agent_load "$agent" "threads:$OPEN/door/s" >/dev/null
	wait $!
	tail -n 1 posed
}

@test "attach: an agent talks to its user's recorder, root's, or one with a key, and to nobody else" {
	skip_unless_java
	skip_unless_root
	make -s -C "$TOP" build/t/tools/stranger
	OPEN=$(mktemp -d "${TMPDIR:-/tmp}/attach-XXXXXX")
	chmod 755 "$OPEN"
	cp "$BUILD/t/tools/stranger" "$OPEN/"
	use_jdk "$(jdks | tail -n 1)"
	start_live
	local agent key='umask 77; printf %s agent-says-this.recorder-answers >s.key'
	agent=$BUILD/libarcprof-jvm.so
	[ "$(posed '')" = "no hello" ]
	[ "$(posed recorder-answers "$key")" = "hello, key agent-says-this.; told" ]
	# with the wrong half, and keys that another user can read, has made, or has made of another file
	[ "$(posed recorder-answerS "$key")" = "hello, key agent-says-this.; told nothing" ]
	[ "$(posed recorder-answers "$key; chmod 640 s.key")" = "no hello" ]
	[ "$(posed recorder-answers "$key; chown 65534 s.key")" = "no hello" ]
	[ "$(posed recorder-answers "$key; ln s.key other")" = "no hello" ]
	say calls 1
	end_live
}

@test "attach: one recorder at a time" {
	skip_unless_java
	use_jdk "$(jdks | tail -n 1)"
	start_live
	start_recorder -p "$LIVE" --callflow
	run_arcprof record -o other -p "$LIVE" --callflow -d 10ms
	refused 125 "process $LIVE is being recorded already, by process $RECORDER"
	[[ $stderr == *"hint: 'arcprof ctl -p $RECORDER' says what it records, 'arcprof ctl -p $RECORDER stop' ends it" ]]
	run_arcprof record -o other -p "$LIVE" -d 10ms
	refused 125 "process $LIVE is being recorded already"
	[[ $stderr == *"--java=outside records beside it" ]]
	# which is true
	run_arcprof record -o other -p "$LIVE" -d 10ms --java=outside
	[ "$status" -eq 0 ]
	say calls 5
	end_recorder
	[ "$(calls_of outer)" -eq 5 ]
	run_arcprof record -o other -p $$ --callflow -d 10ms
	refused 125 "process $$: calls of a running process can be counted in JVMs only"
	end_live
}

# The inode of what a JVM shares with its recorder.
rings_of() {
	awk '/memfd:arcprof-rings/ { print $5 }' "/proc/$1/maps" | sort -u
}

@test "attach: with -a, a JVM that refused at first is asked again" {
	skip_unless_java
	skip_unless_root
	use_jdk "$(jdks | tail -n 1)"
	lock_jvms -x
	start_live
	# it works for another recorder for a while
	"$ARCPROF" record -q -o other -p "$LIVE" 2>other.err 3>&- &
	first=$!
	until arcprof ctl status -p $first 2>/dev/null | grep -q 'state: recording'; do sleep 0.1; done
	"$ARCPROF" record -a -F 99 -o trace 2>err 3>&- &
	second=$!
	until arcprof ctl status -p $second 2>/dev/null | grep -q 'state: recording'; do sleep 0.1; done
	sleep 0.5
	rings=$(rings_of "$LIVE")
	arcprof ctl stop -p $first
	wait $first || true
	# its own, not any JVM of the machine
	for _ in $(seq 200); do
		! rings_of "$LIVE" | grep -vqx "$rings" || break
		say spin 50
	done
	say spin 300
	arcprof ctl stop -p $second
	wait $second || true
	end_live
	ARCPROF=$ARCPROF "$TOP/t/folded" --kinds trace >stacks
	[ "$(count ';main;.*Live\.(most|rest) ')" -gt 0 ]
}

# Those that may be starting are waited for until they are ten seconds old: the two at once.
# bats test_tags=stored
@test "attach: what is not a JVM, and one with -Xrs, are sent no signal; that has the agent by its socket" {
	local other
	skip_unless_java
	use_jdk "$(jdks | tail -n 1)"
	# a program that has libjvm.so mapped and does not expect SIGQUIT
	"$BUILD/t/workloads/maps" "$JAVA_HOME/lib/server/libjvm.so" >out 3>&- &
	other=$!
	until [ -s out ]; do sleep 0.05; done
	start_live -Xrs
	run_arcprof record -o trace -p "$LIVE" -d 10ms
	[ "$status" -eq 0 ]
	[[ $stderr == *", 1 JVM; "* ]]
	run_arcprof record --java=agent -o trace -p "$other" -d 10ms
	refused 125 "process $other takes no signal"
	kill "$other"	# it lives
	rm "/tmp/.java_pid$LIVE"
	run_arcprof record --java=agent -o trace -p "$LIVE" -d 10ms
	refused 125 "process $LIVE takes no signal"
	[[ $stderr == *"hint: it runs with -Xrs, and its socket /tmp/.java_pid$LIVE"* ]]
	say calls 1
	end_live
}

@test "attach: a JVM is known by what it does with SIGQUIT, not by names of its threads" {
	skip_unless_java
	use_jdk "$(jdks | tail -n 1)"
	start_live
	say "rename 0"
	[ "$(cat "/proc/$LIVE"/task/*/comm | grep -c '^Signal')" -eq "$(cat "/proc/$LIVE"/task/*/comm | grep -cx 'Signal..patcher')" ]
	run_arcprof record -o trace -p "$LIVE" -d 10ms
	[ "$status" -eq 0 ]
	[[ $stderr == *", 1 JVM; "* ]]
	end_live
}

@test "attach: a stopped, a guarded and a vanished JVM are reported in one line" {
	skip_unless_java
	use_jdk "$(jdks | tail -n 1)"
	start_live -XX:+DisableAttachMechanism
	run_arcprof record --java=agent -o trace -p "$LIVE" -d 10ms
	refused 125 "process $LIVE lets nothing attach: it runs with -XX:+DisableAttachMechanism"
	kill -STOP "$LIVE"
	run_arcprof record -o trace -p "$LIVE" -d 10ms
	refused 125 "process $LIVE is stopped"
	kill -CONT "$LIVE"
	[ "$(wc -l <live.out)" -eq 1 ]	# no thread dump
	end_live
	start_live -XX:-EnableDynamicAgentLoading
	run_arcprof record --java=agent -o trace -p "$LIVE" -d 10ms
	refused 125 "process $LIVE loads no agents"
	say calls 1
	local gone=$LIVE
	end_live
	run_arcprof record -o trace -p "$gone" -d 10ms
	refused 125 "no process $gone"
}

@test "attach: another user's JVM is refused in one line" {
	skip_unless_java
	skip_unless_root
	use_jdk "$(jdks | tail -n 1)"
	start_live
	as_nobody "$ARCPROF" true 2>/dev/null || [ $? -eq 2 ] || skip "another user cannot run arcprof from here"
	status=0
	as_nobody "$ARCPROF" record -o /dev/null -p "$LIVE" -d 10ms 2>err || status=$?
	stderr=$(cat err)
	echo "$stderr"
	refused 125 "process $LIVE may not be measured by this user"
	end_live
}

# Runs a command while this system call takes as long in the JVM, as where it gets no CPU.
while_late() {	# <system call> <microseconds> <command>...
	local tracer i
	strace -qq -f -p "$LIVE" -e trace="$1" -e inject="$1:delay_enter=$2" -o calls 2>/dev/null 3>&- &
	tracer=$!
	for ((i = 0; i < 100; i++)); do
		grep -q '^TracerPid:.0$' "/proc/$LIVE/status" || break
		sleep 0.1
	done
	shift 2
	"$@"
	sleep 3
	kill "$tracer"
	wait "$tracer" || true
}

threads_are_late() {
	java -cp "$CLASSES" Comers 600 >out 2>err 3>&- &
	LIVE=$!
	sleep 2
	# new threads run when it is over
	while_late mprotect 2000000 arcprof record -q -e wall,virtual -p "$LIVE" -d 0.1s -o trace
	kill -0 "$LIVE"
	# what was under way when it ended goes on
	while_late gettid 700000 arcprof record -q -e class -p "$LIVE" -d 0.3s -o trace
	kill -0 "$LIVE"
	kill -KILL "$LIVE"
	wait "$LIVE" || true
	LIVE=
	cat err
	[ ! -s out ]
}

# bats test_tags=stored
@test "attach: a JVM whose threads are late lives on when the recording is over" {
	skip_unless_perf
	skip_unless_root
	skip_unless_command strace
	on_each_jdk 24 threads_are_late
}

threads_start_meanwhile() {
	local threads calls
	java -cp "$CLASSES" Starts 1500 >out 2>err 3>&- &
	LIVE=$!
	for ((i = 0; i < 300; i++)); do
		grep -q half out && break
		sleep 0.05
	done
	strace -f -qq -c -e trace=perf_event_open -o calls "$ARCPROF" record -q --clock=thread -e cpu -p "$LIVE" -d 1 -o trace 3>&-
	threads=$(awk '$1 == "Threads:" { print $2 }' "/proc/$LIVE/status")
	calls=$(awk '$NF == "perf_event_open" { print $4 }' calls)
	kill -KILL "$LIVE"
	wait "$LIVE" || true
	LIVE=
	arcprof report -i trace --check >check || { cat check; return 1; }
	# per CPU: one that samples, one asleep until an exec, and what both replace
	echo "$calls events for $threads threads"
	[ "$threads" -gt 800 ]
	[ "$calls" -gt 800 ]
	[ "$calls" -lt $((threads * $(nproc) * 8)) ]
}

# bats test_tags=stored
@test "attach: files for a JVM's threads are opened once, even for threads that start meanwhile" {
	skip_unless_perf
	skip_unless_root
	skip_unless_command strace
	on_each_jdk threads_start_meanwhile
}

# A JVM that listens already while it starts, and waits in VMStart until somebody has come.
is_early() {
	gcc -shared -fPIC -I "$JAVA_HOME/include" -I "$JAVA_HOME/include/linux" -x c -o early.so - <<-'C'
		#include <jvmti.h>
		#include <string.h>
		#include <unistd.h>

		static void JNICALL on_start(jvmtiEnv *ti, JNIEnv *env)
		{
			write(1, "starts\n", 7);
			sleep(2);
			write(1, "goes on\n", 8);
		}

		JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
		{
			jvmtiEventCallbacks cb;
			jvmtiCapabilities caps;
			jvmtiEnv *ti;

			memset(&cb, 0, sizeof(cb));
			memset(&caps, 0, sizeof(caps));
			cb.VMStart = on_start;
			caps.can_generate_early_vmstart = 1;
			return (*vm)->GetEnv(vm, (void **)&ti, JVMTI_VERSION_9) || (*ti)->AddCapabilities(ti, &caps) ||
				(*ti)->SetEventCallbacks(ti, &cb, sizeof(cb)) ||
				(*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_VM_START, NULL);
		}
	C
	java -XX:+StartAttachListener -agentpath:"$PWD/early.so" -cp "$CLASSES" Words 600 >out 2>err 3>&- &
	LIVE=$!
	for ((i = 0; i < 300; i++)); do
		grep -q starts out && break
		sleep 0.05
	done
	run_arcprof record -p "$LIVE" -d 0.5s -o trace
	kill "$LIVE"
	wait "$LIVE" || true
	LIVE=
	[ "$status" -eq 0 ]
	grep -q 'goes on' out
	[[ $stderr == *", 1 JVM; "* ]]
}

@test "attach: a JVM that does not take agents yet is asked again" {
	skip_unless_perf
	skip_unless_command gcc
	on_each_jdk 25 is_early
}

# On a busy machine, so that it takes a while to start. JDK 17 takes agents before it gives them anything.
just_started() {
	local i jvm spinners=()
	for i in 1 2 3 4; do
		timeout 60 sh -c 'while :; do :; done' 3>&- &
		spinners+=($!)
	done
	for i in 1 2 3; do
		java -cp "$CLASSES" Waits 60 >/dev/null 3>&- &
		jvm=$!
		until [ -e "/tmp/hsperfdata_$(id -un)/$jvm" ]; do
			kill -0 "$jvm"
		done
		status=0
		"$ARCPROF" record -q -d 500ms -o trace -p "$jvm" 2>err || status=$?
		kill -KILL "$jvm"
		cat err
		[ "$status" -eq 0 ] || break
	done
	kill "${spinners[@]}"
	return "$status"
}

# bats test_tags=stored
@test "attach: a JVM that has only just been started" {
	one_jdk oldest just_started
}
