#!/usr/bin/env bats
# Samples of allocated objects: programs that say what they allocate, against what reports estimate.
load ../lib
load ../java

setup_file() {
	prepare_jdks
	cat >"$BATS_FILE_TMPDIR/alloc.c" <<-'EOF'
		#include <jni.h>
		JNIEXPORT void JNICALL Java_Allocations_nativeArrays(JNIEnv *env, jclass cls, jint n)
		{
			int i;

			for (i = 0; i < n; i++)
				(*env)->DeleteLocalRef(env, (*env)->NewByteArray(env, 2000 - 16));
		}
	EOF
	local home
	home=$(jdks | head -n 1)
	gcc -shared -fPIC -I"$home/include" -I"$home/include/linux" "$BATS_FILE_TMPDIR/alloc.c" \
		-o "$BATS_FILE_TMPDIR/liballoc.so"
}

setup() {
	trace_errors_only
	LIBRARY=$BATS_FILE_TMPDIR/liballoc.so
	cd "$BATS_TEST_TMPDIR" || exit
}

# record <interval> <java option>... <class> <megabytes>: ./truth has what the program says it allocated.
record() {
	local interval=$1 heap=-Xmx256m
	shift
	"$ARCPROF" record -e "alloc=$interval" -o trace java $heap -cp "$CLASSES" "$@" "$LIBRARY" >truth 2>err ||
		{ cat truth err; return 1; }
	[[ $(cat err) == *" 0 lost"* ]] || { cat err; return 1; }
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
}

# Which class each method allocates, and where: "method context class" of the lines that are compared.
readonly CONTEXTS='tiny tiny Allocations$Tiny
hundred hundred byte[]
thousand thousand byte[]
large large byte[]
huge huge byte[]
reflected reflected int[]
cloned cloned Allocations$Copied
deserialised readAll long[]
nativeArrays nativeArrays byte[]'

# ./contexts: by context and class, the leaf: "context class samples bytes objects".
by_class() {
	"$ARCPROF" report -i trace --metric alloc,objects --xtree --format tree | awk -F '\t' '
	/^#/ { next }
	{ path[$1] = $6 }
	$2 > 0 {
		for (i = $1 - 1; i > 0 && path[i] !~ /^Allocations\./; i--)
			;
		where = path[i]
		sub(/^Allocations\./, "", where)
		key = where " " $6
		n[key] += $2; bytes[key] += $3; objects[key] += $4
	}
	END { for (k in n) print k, n[k], bytes[k], objects[k] }' >contexts
}

# Each method of ./truth within 4.5 standard errors, which one in 100000 is not by chance, and what
# rounding adds; a sample is one of the things with the probability p.
agrees() {
	by_class
	echo "$CONTEXTS" | awk -v interval="$1" '
	FILENAME == "-" { context[$1] = $2 " " $3; next }
	FILENAME == "contexts" { n[$1 " " $2] = $3; bytes[$1 " " $2] = $4; objects[$1 " " $2] = $5; next }
	{
		c = context[$1]
		p = interval ? 1 - exp(-$2 / interval) : 1
		se = sqrt($3 * p * (1 - p)) / p
		ok = 1
		d = objects[c] - $3
		if (d * d > 4.5 * 4.5 * (se * se + $3 * p / 4 * (p < 1)))
			ok = 0
		d = bytes[c] / $2 - $3
		if (d * d > 4.5 * 4.5 * se * se + 1e-6 * $3 * $3)
			ok = 0
		printf "%-12s %8d bytes, %8d objects: %12.0f and %9d of %7d samples, %.1f se%s\n", $1, $2, $3,
			bytes[c], objects[c], n[c], se ? d / se : 0, ok ? "" : ": not as it should be"
		bad += !ok
		rows++
	}
	END { exit bad || rows != 9 }' - contexts truth
}

small_interval() {
	record 4k Allocations 16
	agrees 4096
	record 4k -Xint Allocations 4
	agrees 4096
}

# bats test_tags=stored
@test "alloc: bytes and objects of known sizes are right, compiled and interpreted, at 4k" {
	on_each_jdk small_interval
}

# Sizes alternate every 100 kB: JDK 17's own sampler has 8 % too few of that size at 64k.
any_interval() {
	record 64k -Drounds=2600 Allocations 128
	agrees 65536
	record 512k -XX:+UseSerialGC -Drounds=2600 Allocations 128
	agrees 524288
}

# bats test_tags=stored
@test "alloc: and at any interval, with sizes mixed" {
	on_one_jdk oldest any_interval
}

virtual() {
	record 16k VirtualAllocations 32
	agrees 16384
	"$ARCPROF" report -i trace --xtree --metric alloc >tree
	grep -q 'virtual large' tree
}

# bats test_tags=stored
@test "alloc: objects of virtual threads are theirs" {
	on_each_jdk 21 virtual
}

collector() {
	for gc in UseParallelGC UseZGC UseShenandoahGC; do
		java "-XX:+$gc" -version >/dev/null 2>&1 || continue
		record 4k "-XX:+$gc" -XX:TieredStopAtLevel=1 Allocations 8
		agrees 4096
	done
}

# bats test_tags=stored
@test "alloc: with each collector" {
	on_one_jdk newest collector
}

every() {
	"$ARCPROF" record -e alloc=0 -o trace java -cp "$CLASSES" Alloc >out 2>err || { cat err; return 1; }
	"$ARCPROF" report -i trace --check
	# two threads, the first of which begins before the VM is up; by line: 2 x 10000 and 2 x 2500
	"$ARCPROF" report -i trace -q --metric objects --annotate Alloc.run >lines
	[ "$(awk '$3 >= 2500 && $5 ~ /^[0-9]+$/ { printf "%s ", $3 }' lines)" = '20000 5000 ' ] || { cat lines; return 1; }
}

# bats test_tags=stored
@test "alloc: with the interval 0 every object is a sample, by the line that allocates it" {
	on_each_jdk every
}

beside() {
	"$ARCPROF" record -e cpu-clock,alloc=64k -o trace java -cp "$CLASSES" Allocations 32 "$LIBRARY" >truth 2>err
	grep -Eq ' samples of cpu-clock at [0-9.]+ Hz, [0-9]+ of alloc in ' err
	"$ARCPROF" report -i trace --check
	"$ARCPROF" report -i trace --xprof --metric cpu-clock,alloc,objects --format json >json
	jq -e '[.metrics[].name] | contains(["cpu-clock", "alloc", "objects"])' json
}

@test "alloc: beside a perf event, each has its own samples and metrics" {
	on_one_jdk oldest beside
}

running() {
	java -cp "$CLASSES" Allocations 400000 "$LIBRARY" >out & pid=$!
	until [ -e "/tmp/hsperfdata_$(id -un)/$pid" ]; do sleep .1; done
	sleep 1
	"$ARCPROF" record -e alloc=64k -d 2 -o trace -p "$pid" 2>err
	kill "$pid"
	"$ARCPROF" report -i trace --check
	by_class
	grep -q '^tiny Allocations$Tiny [1-9]' contexts
}

# bats test_tags=stored
@test "alloc: in a running JVM" {
	on_one_jdk newest running
}

exact_calls() {
	"$ARCPROF" record --callflow='+Allocations.*' -e alloc=0 -o trace java -cp "$CLASSES" Allocations 1 "$LIBRARY" \
		>truth 2>err || { cat err; return 1; }
	"$ARCPROF" report -i trace --check
	"$ARCPROF" report -i trace --metric alloc,objects --xtree --format tree >tree
	# the class is below its method, and that was called once a round
	awk -F '\t' '
	/^# metric/ { if ($0 ~ / alloc /) col = nr + 3; nr++ }
	FILENAME == "truth" { split($0, f, " "); if (f[1] == "hundred") want = f[2] * f[3]; next }
	$0 ~ /\tAllocations.hundred\tjava/ { calls = $2; inside = 1; level = $1; next }
	inside && $1 == level + 1 && $0 ~ /\tbyte\[\]\tclass/ { bytes = $col; inside = 0 }
	END { print calls, bytes, want; exit !(calls == 16 && bytes == want) }' truth tree || { head -n 40 tree; return 1; }
}

# bats test_tags=stored
@test "alloc: below exact calls, every object by class" {
	on_each_jdk 25 exact_calls
}

without_perf() {
	"$BUILD/t/tools/deny" perf_event_open "$ARCPROF" record -e alloc=4k -o trace -- java -cp "$CLASSES" Allocations 16 "$LIBRARY" \
		>truth 2>err || { cat err; return 1; }
	"$ARCPROF" report -i trace --check
	agrees 4096
}

# bats test_tags=stored
@test "alloc: where perf events are forbidden" {
	on_one_jdk newest without_perf
}

# Switches between threads with events take longer; without samples, what the kernel says of the whole machine will do.
by_the_side_band_of_cpus() {
	sh -c 'while :; do /bin/true; done' 3>&- &
	strace -qq -e trace=perf_event_open -o calls "$ARCPROF" record -q -e alloc=64k -o trace java -cp "$CLASSES" Allocations 16 "$LIBRARY" >truth
	kill $!
	wait $! || true
	agrees 65536
	grep -Ec '}, -1, [0-9]' calls
	[ "$(grep -Ec '}, [1-9][0-9]*, ' calls)" -eq 0 ] || { cat calls; return 1; }
	"$ARCPROF" dump trace | grep ' proc proc=' >processes
	[ "$(wc -l <processes)" -eq 1 ] || { cat processes; return 1; }
}

# bats test_tags=stored
@test "alloc: no thread has perf events, and nobody else is in the trace" {
	skip_unless_clocks_of_cpus
	skip_unless_command strace
	on_one_jdk newest by_the_side_band_of_cpus
}

exported() {
	record 64k Allocations 16
	"$ARCPROF" report -i trace --metric alloc,objects --format jfr -o trace.jfr
	jfr summary trace.jfr >summary
	grep -Eq 'jdk.ObjectAllocationSample +[1-9]' summary
	! grep -Eq 'jdk.ExecutionSample +[1-9]' summary || false
	"$ARCPROF" report -i trace --format hprof | "$TOP/t/formats/hprof-read" | jq -S '.SITES | map_values(.[2:])' >sites
	"$ARCPROF" report -i trace --metric alloc,objects --xprof --format json |
		jq -S '[.rows[] | select(.kind == "class") | { key: .name, value: .base[:2] }] | from_entries' | diff - sites
	# of the JVM's own recordings the class is known as one, as it is here
	java -XX:StartFlightRecording=filename=jvm.jfr,settings=profile -cp "$CLASSES" Allocations 16 "$LIBRARY" >truth 2>err
	"$ARCPROF" report --import jvm.jfr --metric jdk.ObjectAllocationSample --xtree --format tree >tree
	grep -Pq '\tbyte\[\]\tclass' tree
}

# bats test_tags=stored
@test "alloc: other programs get bytes as bytes, and objects of JFR have their classes" {
	on_one_jdk newest exported
}

# bats test_tags=stored
@test "alloc: impossible requests are refused in one line" {
	run "$ARCPROF" record -e alloc=x true
	[ "$status" -eq 2 ]
	[[ $output == *"event 'alloc=x': 'x' is not a size"* ]]
	run "$ARCPROF" record -e alloc,alloc=4k true
	[ "$status" -eq 2 ]
	[[ $output == *"event 'alloc' is there twice"* ]]
	run "$ARCPROF" record -e alloc -F 99 true
	[ "$status" -eq 2 ]
	[[ $output == *"-e alloc=<interval>"* ]]
	run "$ARCPROF" record -e alloc --no-java true
	[ "$status" -eq 2 ]
	run "$ARCPROF" record -e alloc --callflow --metric objects true
	[ "$status" -eq 2 ]
	[[ $output == *"--metric objects"* ]]
	run "$ARCPROF" top -e alloc
	[ "$status" -eq 2 ]
	run "$ARCPROF" record -e alloc -o trace true
	[ "$status" -eq 0 ]
	[[ $output == *"no samples of alloc: no JVM was recorded with the agent"* ]]
}
