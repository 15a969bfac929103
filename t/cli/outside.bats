#!/usr/bin/env bats
# Java stacks without an agent: the recorder walks them itself, in the memory of the JVM.
load ../lib
load ../java

setup_file() {
	prepare_jdks
	[ "$(uname -m)" = x86_64 ] || skip "Java stacks are walked from outside on x86-64 only"
}

teardown() {
	[ -z "${JVM-}" ] || kill -KILL "$JVM" 2>/dev/null || true
}

# Starts the program with threads whose calls are known; JVM is its process.
start_chained() {	# <option of java>...
	"${ENTER[@]}" "$JAVA_HOME/bin/java" "$@" -cp "$CLASSES" Chained 60 >chained.out 2>chained.err 3>&- &
	JVM=$!
	until grep -q ready chained.out; do
		kill -0 "$JVM"
		sleep 0.05
	done
	sleep 1		# most of it is compiled then
}

# Of the threads with known calls: the samples, those with a mark, and those that are not as the program calls. Where
# the recorder gets no CPU for some ms frames are not read in time, as many as the machine is busy, but there is never
# another stack.
# The compilers' notes of inlined code are coarse: how deep the recursion is inside one frame is not looked at.
check_stacks() {	# <least number of samples> <most marks in a thousand>
	ARCPROF=$ARCPROF "$TOP/t/folded" --kinds trace >stacks
	awk -F ';' -v least="$1" -v most="$2" '
		BEGIN {
			of["chain"] = "^ chain( first( second( third( work)?)?)?)?$"
			of["recursion"] = "^ recursion( down)*( work)?$"
			of["natives"] = "^ natives( throwing)*$"
		}
		{
			for (i = 1; i < 5 && !($i in of); i++)
				;
			if (i == 5)
				next
			thread = $i
			n = $NF
			sub(/.* /, "", n)
			all += n
			if ($0 ~ /\[unwalkable: Java frames not read in time/) {
				late += n
				next
			}
			if ($0 ~ /\[unwalkable/) {
				marked += n
				next
			}
			calls = root = ""
			for (i = 1; i <= NF; i++) {
				if ($i !~ / \(java/)
					continue
				name = $i
				sub(/ \(java.*/, "", name)
				if (root == "")
					root = name
				if (sub(/^Chained\./, "", name))
					calls = calls " " name
			}
			# at its start and at its end a thread has no Java frames, or is in the kernel alone
			if (root == "" && $0 ~ / \(native\)/ && $0 !~ /thread_native_entry|start_thread|clone/)
				wrong += n
			else if (root != "" && (root != "java.lang.Thread.run" || (calls && calls !~ of[thread]))) {
				wrong += n
				print thread ":" calls, "from", root
			}
		}
		END {
			printf "%d samples, %d late, %d marked, %d wrong\n", all, late, marked, wrong
			exit !(all >= least && late * 2 <= all && marked * 1000 <= most * all && wrong * 2000 <= all)
		}' stacks >checked || { tail -n 20 checked; return 1; }
	cat checked
}

guarded() {
	start_chained -XX:+DisableAttachMechanism "$@"
	arcprof record --java=outside -F 2000 -o trace -p "$JVM" -d 1 2>record.err
	check_stacks 100 60
	# nothing of ours is in it
	! grep -q arcprof "/proc/$JVM/maps"
	arcprof report -i trace >report
	grep -qx "Java stacks from outside, without an agent: process $JVM" report
	[ "$(arcprof report -i trace --format json | jq -r '.quality.java_from_outside[0]')" = "process $JVM" ]
	[[ $* == -Xint ]] || grep -q 'Chained.work (java-inlined)\|Chained.work (java-compiled)' stacks
	kill -KILL "$JVM"
}
@test "outside: stacks of a JVM that takes no agent are those of the program" { each_jdk guarded; }
@test "outside: it works for a JVM without compilers" { one_jdk newest guarded -Xint; }
@test "outside: the same with a collector that moves objects while threads run" { one_jdk newest guarded -XX:+UseZGC; }

by_itself() {
	start_chained -XX:+DisableAttachMechanism
	arcprof record -F 1000 -o trace -p "$JVM" -d 1 2>record.err
	check_stacks 100 100
	arcprof report -i trace >report
	grep -qx "Java stacks from outside, without an agent: process $JVM: process $JVM lets nothing attach: it runs with -XX:+DisableAttachMechanism" report
	run_arcprof record --java=agent -o trace -p "$JVM" -d 10ms
	[ "$status" -eq 125 ]
	[[ $stderr == *"lets nothing attach"* ]]
	# what only an agent knows is not left out without a word
	run_arcprof record -e cpu-clock,alloc -o trace -p "$JVM" -d 10ms
	[ "$status" -eq 125 ]
	[[ $stderr == *"lets nothing attach"* ]]
}
@test "outside: where no agent can come it is done without one, and the report says why" { one_jdk newest by_itself; }

elsewhere() {
	# its files are not readable by others, its numbers are others
	ENTER=(unshare --mount --pid --fork --mount-proc --kill-child setpriv --reuid 65534 --regid 65534 --clear-groups)
	start_chained -XX:+DisableAttachMechanism
	JVM=$(pgrep -P "$JVM")
	arcprof record --java=outside -F 2000 -o trace -p "$JVM" -d 1 2>record.err
	check_stacks 100 60
}
@test "outside: a JVM of another user, in namespaces of its own" {
	skip_unless_root
	unshare --mount --pid --fork --mount-proc true 2>/dev/null || skip "no namespaces can be made here"
	one_jdk newest elsewhere
}

other_clock() {
	ENTER=(unshare --time --monotonic 86400 --fork --kill-child)
	start_chained
	JVM=$(pgrep -P "$JVM")
	arcprof record -F 2000 -o trace -p "$JVM" -d 1 2>record.err
	check_stacks 100 60
	arcprof report -i trace >report
	grep -q "process $JVM: its clock is another than ours" report
	run_arcprof record -e lock -o none -p "$JVM" -d 1
	[ "$status" -eq 125 ]
	[ "$stderr" = "arcprof record: process $JVM: its clock is another than ours (time_namespaces(7))" ]
}
@test "outside: a JVM in a time namespace, by itself" {
	skip_unless_root
	unshare --time --monotonic 86400 --fork true 2>/dev/null || skip "no time namespaces can be made here"
	one_jdk newest other_clock
}

other_clock_started() {
	local enter minutes
	for minutes in 1440 -1; do
		enter=(unshare --time --monotonic $((minutes * 60)) --fork --kill-child)
		arcprof record -F 2000 -o trace -- "${enter[@]}" "$JAVA_HOME/bin/java" -cp "$CLASSES" Chained 2 \
			>out 2>record.err
		check_stacks 100 200
		arcprof report -i trace >report
		grep -q "without an agent: process [0-9]*: its clock is another than ours" report
	done
	# nothing of it has a time that is another's
	arcprof record -e jvm -o trace -- "${enter[@]}" "$JAVA_HOME/bin/java" -cp "$CLASSES" Chained 1 >out 2>record.err
	grep -q "no events of JVMs: .*: its clock is another than ours" record.err
}
@test "outside: a JVM that is started in a time namespace" {
	skip_unless_root
	unshare --time --monotonic 86400 --fork true 2>/dev/null || skip "no time namespaces can be made here"
	one_jdk newest other_clock_started
}

started() {
	arcprof record --java=outside -F 2000 -o trace -- "$JAVA_HOME/bin/java" -cp "$CLASSES" Chained 2 >out 2>record.err
	check_stacks 100 100
	! grep -q agentpath record.err
}
@test "outside: a program that is started" { one_jdk newest started; }

lonely() {
	# a static program that clears its environment
	echo 'int execve(const char *, char **, char **); int main(int n, char **v) { return execve(v[1], v + 1, 0); }' >clear.c
	gcc -static clear.c -o clear
	arcprof record -F 1000 -o trace -- ./clear "$JAVA_HOME/bin/java" -cp "$CLASSES" Chained 4 >out 2>record.err
	arcprof report -i trace >report
	grep -q 'Java stacks from outside, without an agent: process [0-9]*: no agent was loaded when it started$' report
	ARCPROF=$ARCPROF "$TOP/t/folded" --kinds trace >stacks
	[ "$(awk '/;Chained.chain / { n += $NF } END { print n + 0 }' stacks)" -gt 10 ]
	# not so with the agent alone
	arcprof record --java=agent -F 200 -o trace -- ./clear "$JAVA_HOME/bin/java" -cp "$CLASSES" Chained 1 >out 2>record.err
	grep -q '1 JVM ran without the agent' record.err
}
@test "outside: a JVM that was started without the agent" { one_jdk newest lonely; }

# Who walks may crash: nobody else is harmed.
killed() {
	start_chained -XX:+DisableAttachMechanism
	"$ARCPROF" record -F 1000 -o trace -p "$JVM" -d 3 2>record.err &
	local recorder=$! walker
	until walker=$(pgrep -x -P "$recorder" arcprof-java); do
		kill -0 "$recorder"
		sleep 0.05
	done
	sleep 1
	kill -SEGV "$walker"
	wait "$recorder"
	arcprof report -i trace >report
	grep -q "not recorded: Java stacks from outside of process $JVM: the process that walked them has ended" report
	ARCPROF=$ARCPROF "$TOP/t/folded" --kinds trace >stacks
	[ "$(awk '/;Chained.chain / { n += $NF } END { print n + 0 }' stacks)" -gt 5 ]
	[ "$(awk '/unwalkable/ { n += $NF } END { print n + 0 }' stacks)" -gt 5 ]
}
@test "outside: without the process that walks, samples go on without Java frames" { one_jdk newest killed; }

# Held up, the recorder reads what has changed since: code of classes that come and go.
held_up() {
	"$JAVA_HOME/bin/java" -XX:ReservedCodeCacheSize=16m -cp "$CLASSES" Churn 400 >churn.out 2>&1 3>&- &
	JVM=$!
	sleep 1
	"$ARCPROF" record --java=outside -F 1000 -o trace -p "$JVM" -d 4 2>record.err &
	local recorder=$! i
	for i in {1..8}; do
		sleep 0.3
		kill -STOP "$recorder" || break
		sleep 0.2
		kill -CONT "$recorder" || break
	done
	wait "$recorder"
	ARCPROF=$ARCPROF "$TOP/t/folded" --kinds trace >stacks
	[ "$(grep -c 'unwalkable: Java frames not read in time' stacks)" -gt 0 ]
	# a generation of classes calls no other
	awk '/unwalkable/ { next }
		match($0, /Churn\$Work[0-9a-z]+\.spin/) {
			class = substr($0, RSTART, RLENGTH - 4)
			seen++
			wrong += match($0, /Churn\$Work[0-9a-z]+\.step/) && substr($0, RSTART, RLENGTH - 4) != class
		}
		END { print seen, wrong; exit !(seen > 5 && !wrong) }' stacks
}
@test "outside: a stack that is read too late becomes a mark" { each_jdk 17 held_up; }

@test "outside: requests that need an agent are refused" {
	use_any_jdk
	skip_unless_perf
	run_arcprof record --java=outside -e cpu-clock,alloc -o trace -- java -version
	[ "$status" -eq 125 ]
	[[ $stderr == *"sources of samples other than perf events need the agent: Java stacks alone are known from outside"* ]]
	run_arcprof record --java=outside -e gc -o trace -- java -version
	[[ $stderr == *"need the agent"* ]]
	run_arcprof record --java=outside --call-graph fp -o trace -- java -version
	[[ $stderr == *"need the agent"* ]]
}
