#!/usr/bin/env bats
# Are the stacks of Java programs true, and do they go down to the root? Longer and with more programs:
# t/perf/java-edges.sh.
load ../lib
load ../java

setup_file() {
	prepare_jdks
	[ -x "$BUILD/t/tools/edges" ] || make -s -C "$TOP" tools >&2
}

# Records into ./trace, and what classes the JVM read into ./classes.bin.
record() {
	rm -f classes.bin
	JAVA_TOOL_OPTIONS="$FLAGS -agentpath:$BUILD/t/tools/class-dump.so=$PWD/classes.bin" \
		"$ARCPROF" record -q -F 9999 -o trace -- "$@" >out 2>err </dev/null || { tail -n 20 out err; return 1; }
}

# These are 20000 stacks. Of 10^5 less than one is known to be wrong: code that is patched or replaced meanwhile may
# look like anything for an instant. So one is let pass; there were 6 to 10 while the walker did not know inline caches
# that change, the ends of native methods, and how exceptions find their handlers.
true_calls() {
	FLAGS=-XX:TieredStopAtLevel=1
	java_program javac 1/20
	record "${COMMAND[@]}"
	"$BUILD/t/tools/edges" -v -s 5 -n 1 trace classes.bin >edges || { cat edges; return 1; }
	[ "$(sed -n 's/.* \([0-9]*\) ok,.*/\1/p' edges)" -gt 150000 ]
	# code that the VM announces by no event
	arcprof dump -i trace -M 19 --format json | jq -r '.records[] | select(.name == "stub") | .fields.name' >stubs
	grep -qx 'native signature handlers' stubs
	[ "$JDK" -ge 23 ] || grep -qx InlineCacheBuffer stubs
}
# bats test_tags=stored
@test "java stacks: where a method calls another, its bytecode there is a call of that one" {
	one_jdk newest true_calls
}

# Its last two instructions have the return address in a register.
without_frame() {
	FLAGS="-Xbatch -XX:TieredStopAtLevel=1 -XX:CompileCommand=quiet -XX:+UnlockDiagnosticVMOptions
		-XX:DisableIntrinsic=_Reference_get -XX:CompileCommand=exclude,java.lang.ref.Reference::get
		-XX:CompileCommand=dontinline,Frameless::gets"
	record java -cp "$CLASSES" Frameless
	"$BUILD/t/tools/edges" -v -s 5 trace classes.bin >edges || { cat edges; return 1; }
	ARCPROF=$ARCPROF "$TOP/t/folded" --kinds trace >stacks
	[ "$(grep -c ';Frameless.gets (java-compiled);java.lang.ref.Reference.get (java-interpreted)' stacks)" -gt 0 ]
}
# bats test_tags=stored
@test "java stacks: of an interpreter's entry that builds no frame the caller is there" {
	one_jdk oldest without_frame
}

# Compiled into the method that calls itself, and called at the bottom only: below less than 31 of it, it is a fault.
inlined_at_depth() {
	record java -XX:CompileCommand=quiet -XX:CompileCommand=dontinline,Depths.work \
		-XX:CompileCommand=inline,Depths.bottom -cp "$CLASSES" Depths 4000
	ARCPROF=$ARCPROF "$TOP/t/folded" --kinds trace >stacks
	local all wrong
	read -r all wrong < <(awk '/;Depths\.down / { all += $NF }
		/;Depths\.bottom / && gsub(/;Depths\.down /, "&") < 31 { wrong += $NF } END { print all + 0, wrong + 0 }' stacks)
	echo "$wrong of $all samples show it where it was not called"
	[ "$all" -ge 300 ]
	[ $((wrong * 100)) -le "$all" ]
}
@test "java stacks: a method that is inlined is shown where it is called, not where its caller returns" {
	FLAGS=
	one_jdk newest inlined_at_depth
}

# The JVM's first thread has pages on its stack that it never used: the copy of the stack ends before these.
start_up() {
	record java -version
	ARCPROF=$ARCPROF "$TOP/t/folded" --kinds trace >stacks
	local own cut
	own=$(awk '/;\[arcprof\] / { n += $NF } END { print n + 0 }' stacks)
	cut=$(awk '/;\[arcprof\] / && /deeper than the stack copy/ { n += $NF } END { print n + 0 }' stacks)
	echo "$cut of the agent's $own samples are cut off"
	[ "$own" -ge 8 ]
	[ $((cut * 20)) -le "$own" ]
	# and the reports say how much that was
	arcprof report -i trace --xprof >report
	head -n 1 report | grep -q 'complete stacks, [0-9.]* % in \[arcprof\]'
	[ "$(grep -c ' \[arcprof\]$' report)" -eq 1 ]
}
@test "java stacks: the agent's own work is [arcprof], with stacks from the thread's start" {
	FLAGS=
	one_jdk newest start_up
}

# Called by compiled code, and by the interpreter, whose return addresses have no call before them.
moved_stack_pointer() {
	local option all right
	for option in quiet exclude,Seeks.seekAll; do
		record java -XX:+UseSerialGC -Xmx64m -XX:CompileCommand=quiet -XX:CompileCommand=dontinline,Seeks.seek \
			-XX:CompileCommand=$option -cp "$CLASSES" Seeks 1500
		ARCPROF=$ARCPROF "$TOP/t/folded" trace >stacks
		read -r all right < <(awk '/;Seeks\.seek;/ { all += $NF }
			/;call_stub;Seeks\.main;Seeks\.seekAll;Seeks\.seek;/ { right += $NF } END { print all + 0, right + 0 }' stacks)
		echo "$right of $all samples of a search in short strings have its caller"
		[ "$all" -ge 100 ]
		[ $((right * 100)) -ge $((all * 98)) ]
	done
}
@test "java stacks: String.indexOf(), which moves the stack pointer, has its caller" {
	[ "$(uname -m)" = x86_64 ] || skip "code of x86"
	FLAGS=
	outer_jdks moved_stack_pointer
}

# Whoever is searched on the stack may be found in what calls before have left there: then the rest of the stack is not
# there, or the native code's own rules contradict. Where a thread begins and ends is no such method.
leaf_calls() {
	local what all right
	for what in $LEAF_CALLS; do
		"$ARCPROF" record -q -F 4999 -o trace -- ${cpus[$what]-} java -Xbatch -XX:-TieredCompilation -cp "$CLASSES" \
			LeafCalls "$what" "${ms[$what]-500}"
		ARCPROF=$ARCPROF "$TOP/t/folded" trace --thread leaves >stacks
		read -r all right < <(awk '{ all += $NF } /;call_stub;.*;LeafCalls\.during[; ]/ && !/unwalkable/ { right += $NF }
			END { print all + 0, right + 0 }' stacks)
		echo "$right of $all samples of $what go down to the root"
		[ "$all" -ge 100 ]
		[ $((right * 100)) -ge $((all * 95)) ]
	done
}
@test "java stacks: native code and stubs that leave no word of their caller have it" {
	local LEAF_CALLS="unlock remainder check sort"
	# so that the next thread waits already when the monitor is left
	local -A cpus=([unlock]="taskset -c 0") ms=([unlock]=100)
	one_jdk newest leaf_calls
}

# Where generated code has its caller is a guess, and that may be beyond where Java begins: no reason to doubt that.
undescribed_code() {
	gcc -O2 -shared -fPIC -I "$JAVA_HOME/include" -I "$JAVA_HOME/include/linux" -x c -o libundescribed.so - <<'C'
#include <jni.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
static volatile long sum;
static void spin(void)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 4;
	while (clock() < end)
		for (int i = 0; i < 10000; i++)
			sum += i;
}
/* push rbp; lea rbp, [rsp + 8192]; call rdi; pop rbp; ret */
static const char code[] = "\x55\x48\x8d\xac\x24\x00\x20\x00\x00\xff\xd7\x5d\xc3";
JNIEXPORT jint JNI_OnLoad(JavaVM *vm, void *reserved)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(p, code, sizeof(code));
	((void (*)(void (*)(void)))p)(spin);
	return JNI_VERSION_1_8;
}
C
	"$ARCPROF" record -q -F 999 -o trace -- java -cp "$CLASSES" Traps "$PWD/libundescribed.so" >out
	ARCPROF=$ARCPROF "$TOP/t/folded" trace >stacks
	awk '/;spin[; ]/ { all += $NF } /;Traps\.main;.*;spin[; ]/ && !/no known kind/ { right += $NF }
		END { print right + 0 " of " all + 0; exit all < 50 || right < all * 0.95 }' stacks
}
@test "java stacks: code without a library that native code calls does not make the frames beneath it doubtful" {
	[ "$(uname -m)" = x86_64 ] || skip "code of x86"
	one_jdk newest undescribed_code
}

null_checks() {
	FLAGS=
	record java -XX:-OmitStackTraceInFastThrow -cp "$CLASSES" Faults nulls 60000
	[ "$(cat out)" = 30000 ]
	"$BUILD/t/tools/edges" -s 5 trace classes.bin
	ARCPROF=$ARCPROF "$TOP/t/folded" --kinds trace >stacks
	local all through
	all=$(awk '/;PosixSignals::pd_hotspot_signal_handler/ { n += $NF } END { print n + 0 }' stacks)
	through=$(awk '/;Faults\.nulls [^;]*;Faults\.read [^;]*;.*;PosixSignals::pd_hotspot_signal_handler/ { n += $NF } END { print n + 0 }' stacks)
	echo "$through of $all in the handler of the signal have the method beneath it"
	[ "$all" -ge 50 ]
	[ $((through * 100)) -ge $((all * 95)) ]
}
@test "java stacks: what HotSpot's handler of a null check interrupted is beneath it" {
	one_jdk oldest null_checks
}

# Percent of complete stacks, of the trace there is.
complete() {
	arcprof report -i trace --xprof --format json --limit 1 | jq '.quality | .complete_stacks * 100 / .samples | floor'
}

# Samples come by SIGTRAP: the program's handler gets what is none, and nothing else changes.
own_trap_handler() {
	"$ARCPROF" record -q -o trace -- java -cp "$CLASSES" Traps >out
	grep -qx '5 handled' out
	[ "$(complete)" -ge 95 ]
	# set by native code, about which the JVM knows nothing
	gcc -shared -fPIC -I "$JAVA_HOME/include" -I "$JAVA_HOME/include/linux" -x c -o libtrap.so - <<'C'
#include <jni.h>
#include <signal.h>
static void handle(int sig) { }
JNIEXPORT jint JNI_OnLoad(JavaVM *vm, void *reserved) { signal(SIGTRAP, handle); return JNI_VERSION_1_8; }
C
	"$ARCPROF" record -q -o trace -- java -cp "$CLASSES" Traps "$PWD/libtrap.so" >out
	[ "$(complete)" -ge 80 ]
}
@test "java stacks: a program may have a handler of its own for the signal of the samples" {
	one_jdk oldest own_trap_handler
}

# With the flag, each access that is not aligned is a SIGBUS; HotSpot sets it for a moment at its start.
alignment_check() {
	gcc -O2 -shared -fPIC -I "$JAVA_HOME/include" -I "$JAVA_HOME/include/linux" -x c -o libaligned.so - <<'C'
#include <jni.h>
JNIEXPORT jint JNI_OnLoad(JavaVM *vm, void *reserved)
{
	long n = 1000000000;
	__asm__ volatile("pushfq; orl $0x40000, (%%rsp); popfq; 1: dec %0; jnz 1b; pushfq; andl $~0x40000, (%%rsp); popfq"
			 : "+r"(n) : : "memory", "cc");
	return JNI_VERSION_1_8;
}
C
	"$ARCPROF" record -q -o trace -- java -cp "$CLASSES" Traps "$PWD/libaligned.so" >out
	arcprof report -i trace --xprof | grep JNI_OnLoad
}
@test "java stacks: samples of code that checks alignment do no harm" {
	[ "$(uname -m)" = x86_64 ] || skip "a flag of x86"
	one_jdk newest alignment_check
}

# Some thousands more than there were of in a trace once. Few samples: each is a megabyte.
deeper_than_usual() {
	"$ARCPROF" record -q -F 50 --java-depth 20000 -o trace -- java -Xint -cp "$CLASSES" Deep 12000
	arcprof report -i trace --thread deep --xtree >tree
	[ "$(grep -c 'Deep\.down' tree)" -ge 12000 ]
	arcprof report -i trace --check
	run_arcprof record --java-depth 65001 -- true
	[ "$status" -eq 2 ]
}
# 12000 calls, and those of the thread: 1024 inner frames are kept, and 512 to 1024 outer ones.
both_ends() {
	"$ARCPROF" record -q -F 50 -o trace -- java -Xint -cp "$CLASSES" Deep 12000
	arcprof report -i trace --check
	ARCPROF=$ARCPROF "$TOP/t/folded" trace --thread deep >stacks
	grep -E ';java\.lang\.Thread\.run;.*;Deep\.down;.*;\[\.\.\. about (9900|10000) frames \.\.\.\];(Deep\.down;){1000}' stacks |
		awk '{ n += $NF } END { print n + 0; exit n < 3 }'
	arcprof report -i trace | grep -E '^incomplete stacks: .*\[\.\.\. about [0-9]* frames \.\.\.\]'
	# and in what other programs read, back again
	arcprof report -i trace --format folded >folded
	arcprof report --import folded --xtree --format tree |
		awk -F '\t' '$5 == "mark" && $4 ~ /^\[\.\.\. about [0-9]* frames/ { n++ } END { exit !n }'
}
# Each of these calls passes native code: of 200 such stretches the agent keeps up to 64.
native_between() {
	"$ARCPROF" record -q -o trace -- java -Dsun.reflect.inflationThreshold=1000000000 -Djdk.reflect.useNativeAccessorOnly=true \
		-cp "$CLASSES" Reflected 200
	arcprof report -i trace --check >/dev/null
	ARCPROF=$ARCPROF "$TOP/t/folded" trace --thread main >stacks
	awk '/;Reflected\.down [0-9]+$/ { all += $NF
			if (/;Reflected\.main;Reflected\.down;.*;\[\.\.\. about [0-9]* frames \.\.\.\];.*JVM_InvokeMethod/) right += $NF }
		END { print right + 0 " of " all + 0; exit all < 30 || right < all * 0.95 }' stacks
}
@test "java stacks: of many native stretches between Java frames both ends are kept" {
	outer_jdks native_between
}

@test "java stacks: with more frames than the limit, both ends are kept, and the missing ones are counted" {
	outer_jdks both_ends
}

@test "java stacks: as deep as they were asked for" {
	each_jdk deeper_than_usual
}

# Frozen frames are read where objects move meanwhile: whatever is shown as whole is whole, 61 calls of itself and what is
# below them. With little to collect nearly all are.
moving_collectors() {
	local gc
	for gc in -XX:+UseZGC "-XX:+UseZGC -XX:+ZGenerational" -XX:+UseShenandoahGC; do
		read -ra gc <<<"$gc"
		java "${gc[@]}" -version >/dev/null 2>&1 || continue
		"$ARCPROF" record -q -F 997 -o trace -- java "${gc[@]}" -cp "$CLASSES" Virtual 60 >out
		ARCPROF=$ARCPROF "$TOP/t/folded" --kinds trace >stacks 2>notes
		awk '/Virtual\.work/ {
			all += $NF
			if ($0 !~ /unwalkable/) {
				whole += $NF
				bad += gsub(/Virtual\.deep/, "") != 61
			}
		} END { print all, whole, bad + 0; exit !(all > 50 && whole > all * 0.8 && !bad) }' stacks
	done
}
@test "java stacks: virtual threads have whole stacks with collectors that move objects meanwhile" {
	skip_unless_perf
	on_each_jdk 21 moving_collectors
}

# What the compiler noted of its instructions is often of other code (scopes.c): box() had then 60 times its time, and
# the others a third to a half. How the phases' CPU times are shared is the thread's own clock's word.
own_clock() {
	"$ARCPROF" record -q -F 999 -o trace "$@" -- java -cp "$CLASSES" Notes 1500 >own
	"$ARCPROF" report -i trace --xprof --thread main --format csv |
		awk -F, '$2 ~ /^Notes\.[a-z]*$/ { print substr($2, 7), $7 / 1000 }' >seen
	cat own seen
	awk 'NR == FNR { own[$1] = $2; all += $2; next } $1 in own { seen[$1] = $2; of_all += $2 }
		END {
			for (p in own)
				if (p != "box" && (seen[p] / of_all < 0.7 * own[p] / all || seen[p] / of_all > 1.4 * own[p] / all))
					exit 1
			exit seen["box"] / of_all > 0.05 + own["box"] / all
		}' own seen
}
@test "java stacks: methods inlined into one have the CPU time that the thread's own clock says" {
	outer_jdks own_clock
}

@test "java stacks: inlined methods have that CPU time where the JVM reports all its code, too" {
	one_jdk newest own_clock -a
}
