#!/usr/bin/env bats
# Are the stacks of Java programs true, and do they go down to the root? Longer and with more programs:
# t/perf/java-edges.sh.
load ../lib
load ../java

setup_file() {
	export ORIGINAL_PATH=$PATH
	for home in $(jdks); do
		use_jdk "$home"
	done
	[ -x "$BUILD/t/tools/edges" ] || make -s -C "$TOP" tools >&2
}

each_jdk() {
	skip_unless_perf
	on_each_jdk "$@"
}

# Records into ./trace, and what classes the JVM read into ./classes.bin.
record() {
	rm -f classes.bin
	JAVA_TOOL_OPTIONS="$FLAGS -agentpath:$BUILD/t/tools/class-dump.so=$PWD/classes.bin" \
		"$ARCPROF" record -q -F 9999 -o trace -- "$@" >out 2>err </dev/null || { tail -n 20 out err; return 1; }
}

# These are 30000 stacks. Of 10^5 less than one is known to be wrong: code that is patched or replaced meanwhile may
# look like anything for an instant. So one is let pass; there were 6 to 10 while the walker did not know inline caches
# that change, the ends of native methods, and how exceptions find their handlers.
true_calls() {
	FLAGS=-XX:TieredStopAtLevel=1
	java_program javac 1/2
	record "${COMMAND[@]}"
	"$BUILD/t/tools/edges" -v -s 5 -n 1 trace classes.bin >edges || { cat edges; return 1; }
	[ "$(sed -n 's/.* \([0-9]*\) ok,.*/\1/p' edges)" -gt 300000 ]
}
@test "java stacks: where a method calls another, its bytecode there is a call of that one" {
	each_jdk true_calls
}

null_checks() {
	FLAGS=
	record java -XX:-OmitStackTraceInFastThrow -cp "$CLASSES" Faults nulls 50000
	[ "$(cat out)" = 25000 ]
	"$BUILD/t/tools/edges" -s 5 trace classes.bin
	ARCPROF=$ARCPROF "$TOP/t/folded" --kinds trace >stacks
	local all through
	all=$(awk '/;PosixSignals::pd_hotspot_signal_handler/ { n += $NF } END { print n + 0 }' stacks)
	through=$(awk '/;Faults\.nulls [^;]*;Faults\.read [^;]*;.*;PosixSignals::pd_hotspot_signal_handler/ { n += $NF } END { print n + 0 }' stacks)
	echo "$through of $all in the handler of the signal have the method beneath it"
	[ "$all" -ge 100 ]
	[ $((through * 100)) -ge $((all * 95)) ]
}
@test "java stacks: what HotSpot's handler of a null check interrupted is beneath it" {
	each_jdk null_checks
}
