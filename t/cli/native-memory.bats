#!/usr/bin/env bats
# Samples of native memory: a program that says what it allocates and keeps, against what reports estimate.
load ../lib
load ../java

setup_file() {
	gcc -O1 -g -o "$BATS_FILE_TMPDIR/known" "$TOP/t/cli/native-memory.c" -lpthread
	prepare_jdks
	cat >"$BATS_FILE_TMPDIR/jni.c" <<-'EOF2'
		#include <jni.h>
		#include <stdlib.h>
		static void *volatile kept;
		JNIEXPORT void JNICALL Java_NativeBlocks_jniBlocks(JNIEnv *env, jclass cls, jint n)
		{
			int i;

			for (i = 0; i < n; i++) {
				kept = malloc(2000);
				if (i % 2)
					free(kept);
			}
		}
	EOF2
	local home
	home=$(jdks | head -n 1)
	gcc -O1 -shared -fPIC -I"$home/include" -I"$home/include/linux" "$BATS_FILE_TMPDIR/jni.c" \
		-o "$BATS_FILE_TMPDIR/libjni.so"
}

setup() {
	trace_errors_only
	KNOWN=$BATS_FILE_TMPDIR/known
	cd "$BATS_TEST_TMPDIR" || exit
}

# record <interval> <rounds>: ./truth has what the program says it allocated.
record() {
	"$ARCPROF" record -e "native-memory=$1" -o trace "$KNOWN" "$2" >truth 2>err || { cat truth err; return 1; }
	[[ $(cat err) == *" 0 lost"*" 100.0 % complete stacks"* ]] || { cat err; return 1; }
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
}

# ./functions: "function bytes blocks live live-blocks" of all functions.
by_function() {
	"$ARCPROF" report -q -i trace --xprof --format csv \
		--metric native-memory,native-blocks,native-live,native-live-blocks >csv
	awk -F, '
	/^#/ { next }
	!cum["native-memory"] { for (i = 1; i <= NF; i++) if (sub(/^cum:/, "", $i)) cum[$i] = i; next }
	{ print $2, $cum["native-memory"], $cum["native-blocks"], $cum["native-live"], $cum["native-live-blocks"] }
	' csv >functions
}

total() {	# <metric> <trace>
	arcprof report -q -i "$2" --xprof --format json --metric "$1" | jq '.metrics[0].total'
}

# Each line of ./truth within 4.5 standard errors, which one in 100000 is not by chance, and what rounding adds.
agrees() {
	by_function
	awk -v interval="$1" '
	function check(what, estimate, size, n,   p, se, d, ok) {
		p = interval ? 1 - exp(-size / interval) : 1
		se = sqrt(n * p * (1 - p)) / p
		d = estimate - n
		ok = d * d <= 4.5 * 4.5 * (se * se + n * p / 4 * (p < 1)) + 1e-6 * n * n
		if (!ok)
			printf "%s %s: %.0f of %d, %.1f se\n", $1, what, estimate, n, se ? d / se : 0
		bad += !ok
	}
	FILENAME == "functions" { bytes[$1] = $2; blocks[$1] = $3; live[$1] = $4; left[$1] = $5; next }
	{
		check("bytes", bytes[$1] / $2, $2, $3)
		check("blocks", blocks[$1], $2, $3)
		check("live bytes", live[$1] / $2, $2, $4)
		check("live blocks", left[$1], $2, $4)
		rows++
	}
	END { print rows, "rows"; exit bad || rows != 13 }' functions truth
}

@test "native-memory: all functions and sizes are right, in threads and children, freed or not" {
	record 16k 40
	agrees 16384
	# the same by age, blamed on the same functions: what is not freed of 16 kB blocks, and of all
	"$ARCPROF" report -i trace --leaks --format json >json
	awk '$1 == "large" { print $4 }' functions | diff - <(jq '.not_freed[] | select(.site == "large").bytes' json)
	jq -e '.source.bytes == ([.not_freed[].bytes] | add) and .source.bytes == ([.ages[].bytes] | add)' json
	jq -e '[.not_freed[] | select(.oldest_ns < .median_ns or .median_ns < .newest_ns)] == []' json
	jq -e '.not_freed | map(select(.site == "huge"))[0] | .freed_percent == 80 and .call == "malloc"' json
	follows_columns bytes,call,site bytes report -i trace --leaks
	"$ARCPROF" report -i trace --leaks | grep -q ' mmap in mapped$'
	record 512k 200
	agrees 524288
}

@test "native-memory: with the interval 0 every block is a sample" {
	record 0 1
	agrees 0
	# in segments too: of those that are joined, and added up, each block is there once
	arcprof record -q --segment 100ms -e native-memory=16k -o seg "$KNOWN" 100 >truth
	[ "$(find seg -name '*.arc' | wc -l)" -ge 2 ]
	arcprof merge --splice seg -o trace
	agrees 16384
	arcprof merge seg/*.arc -o sum
	[ "$(total native-live sum)" -eq "$(total native-live trace)" ]
	# and each has what lived when it was closed, so that they have more than one has
	[ "$(for f in seg/*.arc; do total native-live "$f"; done | awk '{ n += $1 } END { printf "%.0f", n }')" -gt "$(total native-live trace)" ]
}

# bats test_tags=stored
@test "native-memory: growth is distinguished from caches, with its rate" {
	record 0 0
	arcprof report -i trace --leaks --format json >json
	jq '.not_freed | map({ key: .site, value: . }) | from_entries' json >rows
	jq -e '.cached | .bytes == 1000000 and .bytes_per_s_high == 0 and .bytes_per_s_low == 0' rows
	jq -e '.replaced | .samples == 10 and .bytes_per_s_low == null' rows
	# the program's own times of its blocks: those in the second half, from its first block on
	jq -r '[.leaked.oldest_ns, .cached.oldest_ns, .leaked.bytes_per_s_low, .leaked.bytes_per_s_high] | @tsv' rows >ages
	awk '
	NR == FNR { oldest = $1; time = $2; low = $3; high = $4; next }
	FNR == 1 { middle = $1 + oldest - time / 2 }
	$1 >= middle { n++ }
	{ all++ }
	END {
		told = high * time / 2e9 / 1000
		print n, "of", all, "blocks; told:", told
		exit !(n > 0 && low == high && (told - n) ^ 2 <= 4)
	}' ages truth
	arcprof report -i trace --leaks | grep -q 'n/a .* malloc in replaced$'
}

# Addresses of equal-sized blocks are an arithmetic progression, of each size another.
@test "native-memory: not one of a thousand blocks of one size is lost" {
	cat >equal.c <<-'EOF2'
		#include <stdlib.h>
		#include <string.h>
		enum { N = 1000 };
		static void *volatile kept[4][N];
		static __attribute__((noinline)) void *of(int size) { return memset(malloc(size), 1, size); }
		static __attribute__((noinline)) void of_16(int i) { kept[0][i] = of(16); }
		static __attribute__((noinline)) void of_64(int i) { kept[1][i] = of(64); }
		static __attribute__((noinline)) void of_2000(int i) { kept[2][i] = of(2000); }
		static __attribute__((noinline)) void of_4096(int i) { kept[3][i] = aligned_alloc(4096, 4096); }
		static __attribute__((noinline)) void freed(void) { for (int i = 0; i < N; i++) free(of(3000)); }
		int main(void)
		{
			void (*const each[])(int) = { of_16, of_64, of_2000, of_4096 };

			for (int k = 0; k < 4; k++)
				for (int i = 0; i < N; i++)
					each[k](i);
			freed();
			return 0;
		}
	EOF2
	gcc -O1 -fno-optimize-sibling-calls -o equal equal.c
	"$ARCPROF" record -q -e native-memory=0 -o trace ./equal
	"$ARCPROF" report -q -i trace --metric native-live-blocks,native-live --xprof --format csv >csv
	cat csv
	for size in 16 64 2000 4096; do
		awk -F, -v name="of_$size" -v size="$size" '
		/^#/ { next }
		!cum { for (i = 1; i <= NF; i++) { if ($i == "cum:native-live-blocks") cum = i; if ($i == "cum:native-live") bytes = i }; next }
		$2 == name { ok = $cum == 1000 && $bytes == 1000 * size }
		END { exit !ok }' csv
	done
	run_arcprof report -i trace --leaks
	[[ $output != *"not recorded"* ]]
}

@test "native-memory: with another malloc, and in programs that are run without the environment" {
	local jemalloc
	jemalloc=$(find /usr/lib -name 'libjemalloc.so.2' | head -n 1)
	[ -n "$jemalloc" ] || skip "jemalloc is not installed"
	LD_PRELOAD=$jemalloc record 16k 10
	agrees 16384
	"$ARCPROF" record -e native-memory=16k -o trace env -i LD_PRELOAD="$jemalloc" "$KNOWN" 10 >truth 2>err
	agrees 16384
}

@test "native-memory: beside a perf event, our library is on no stack" {
	"$ARCPROF" record -q -e cpu-clock,native-memory -F 5000 -o trace "$KNOWN" 300 >truth
	"$ARCPROF" report -i trace --xtree --format tree >tree
	awk -F '\t' '
	/^#/ { next }
	{ name[$1] = $4 }
	$5 == "native" && $4 != "[arcprof]" && name[$1 - 1] == "[arcprof]" { print $4; exit 1 }
	$4 ~ /malloc|free/ { found = 1 }
	END { exit !found }' tree
}

@test "native-memory: agrees with valgrind on a program of C++" {
	skip_unless_command valgrind
	cat >new.cc <<-'EOF2'
		#include <map>
		#include <string>
		int *volatile kept;
		int main()
		{
			std::map<int, std::string> m;

			for (int i = 0; i < 1000; i++)
				m[i] = std::string(100 + i, 'x');
			kept = new int[1000];
		}
	EOF2
	g++ -O1 -o new new.cc
	valgrind ./new 2>&1 | tr -d , >valgrind
	"$ARCPROF" record -q -e native-memory=0 -o trace ./new
	"$ARCPROF" report -i trace --metric native-memory,native-blocks,native-live,native-live-blocks | head -n 1 >line
	cat valgrind line
	[[ $(cat valgrind) =~ in\ use\ at\ exit:\ ([0-9]+)\ bytes\ in\ ([0-9]+) ]]
	left="${BASH_REMATCH[1]} bytes of native-live, ${BASH_REMATCH[2]} native-live-blocks"
	[[ $(cat valgrind) =~ usage:\ ([0-9]+)\ allocs.*\ ([0-9]+)\ bytes\ allocated ]]
	# libstdc++'s reserve for exceptions, which valgrind has it free in the end
	[[ $(cat line) == "${BASH_REMATCH[2]} bytes of native-memory, ${BASH_REMATCH[1]} native-blocks, "* ]]
	[ "$left" = "4000 bytes of native-live, 1 native-live-blocks" ]
	[[ $(cat line) =~ ", "([0-9]+)" bytes of native-live, 2 native-live-blocks in " ]]
	# 72704 bytes, and 73728 since gcc 13
	[[ $((BASH_REMATCH[1] - 4000)) == 7[23][0-9][0-9][0-9] ]]
}

# Direct buffers are blocks of malloc() below the Java code that makes them; it makes small ones as well.
in_java() {
	"$ARCPROF" record -e native-memory=16k -o trace java -cp "$CLASSES" NativeBlocks 400 \
		"$BATS_FILE_TMPDIR/libjni.so" >truth 2>err || { cat truth err; return 1; }
	java_agrees
}

# ./truth has what the program in Java allocated, ./trace and ./err are of it.
java_agrees() {
	[[ $(cat err) == *" 0 lost"* ]] || { cat err; return 1; }
	"$ARCPROF" report -i trace --check
	by_function
	awk '
	function check(what, estimate, size, n,   p, se, d) {
		p = 1 - exp(-size / 16384)
		se = sqrt(n * p * (1 - p)) / p
		d = estimate / size - n
		if (d * d > 4.5 * 4.5 * se * se + (0.02 * n) ^ 2) {
			printf "%s %s: %.0f of %d\n", $1, what, estimate / size, n
			bad++
		}
	}
	FILENAME == "functions" { bytes[$1] = $2; live[$1] = $4; next }
	{ check("bytes", bytes[$1], $2, $3); check("live", live[$1], $2, $4); rows++ }
	END { exit bad || rows != 3 }' functions truth
	"$ARCPROF" report -i trace --xtree --metric native-live >tree
	grep -q 'NativeBlocks.direct' tree
	# who made direct buffers is to be blamed, not the JDK
	"$ARCPROF" report -i trace --leaks=native --format csv | grep -q 'malloc,NativeBlocks.direct$'
}

@test "native-memory: of a JVM with its Java callers, direct buffers and JNI code" {
	on_each_jdk in_java
}

# wait_for <pattern> <file>
wait_for() {
	local i
	for ((i = 0; i < 1200; i++)); do
		grep -q "$1" "$2" && return
		sleep 0.05
	done
	cat "$2"
	return 1
}

# start_recording: of $JVM, until signalled; its number is in $RECORDER
start_recording() {
	rm -f err
	touch err
	"$ARCPROF" record -e native-memory=16k -o trace -p "$JVM" 2>err 3>&- &
	RECORDER=$!
	wait_for 'recording process' err
}

# How many addresses of functions of our library the data of other files has; it is loaded.
nr_ours() {
	python3 - "$JVM" <<-'EOF2'
		import re, sys
		pid = sys.argv[1]
		maps = [l.split(None, 5) for l in open(f"/proc/{pid}/maps")]
		maps = [([int(x, 16) for x in m[0].split("-")], m[1], m[5].strip() if len(m) > 5 else "") for m in maps]
		code = [m[0] for m in maps if "/memory-" in m[2] and "x" in m[1]]
		assert code
		nr = 0
		with open(f"/proc/{pid}/mem", "rb") as mem:
		    for (lo, hi), perms, name in maps:
		        if ".so" not in name or "/memory-" in name or "/agent-" in name or "x" in perms or "r" not in perms:
		            continue
		        mem.seek(lo)
		        data = mem.read(hi - lo)
		        for a, b in code:
		            for top in range(a >> 16, (b - 1 >> 16) + 1):
		                for m in re.finditer(re.escape(top.to_bytes(6, "little")), data):
		                    at = m.start() - 2
		                    nr += at % 8 == 0 and a <= int.from_bytes(data[at:at + 8], "little") < b
		print(nr)
	EOF2
}

in_running_java() {
	local i
	rm -f in out
	mkfifo in
	java -cp "$CLASSES" NativeBlocks 400 "$BATS_FILE_TMPDIR/libjni.so" attached <in >out 2>jvm.err 3>&- &
	JVM=$!
	exec 7>in
	wait_for ready out
	start_recording
	[ "$(nr_ours)" -ge 20 ]
	echo >&7
	wait_for jniBlocks out
	kill -INT "$RECORDER"
	wait "$RECORDER"
	grep -v ready out >truth
	java_agrees
	[ "$(nr_ours)" = 0 ]
	# killed: the agent notices, and a recording after it is none the worse
	start_recording
	kill -KILL "$RECORDER"
	wait "$RECORDER" || true
	for ((i = 0; i < 200; i++)); do
		[ "$(nr_ours)" != 0 ] || break
		sleep 0.1
	done
	[ "$(nr_ours)" = 0 ]
	start_recording
	kill -INT "$RECORDER"
	wait "$RECORDER"
	exec 7>&-
	wait "$JVM"
}

@test "native-memory: of a running JVM, which is left as it was" {
	on_one_jdk newest in_running_java
}

@test "native-memory: reports say what cannot be recorded" {
	echo 'int main(void) { return 0; }' >none.c
	gcc -static -o static none.c
	run_arcprof record -e native-memory -o trace ./static
	[ "$status" -eq 125 ]
	[[ $stderr == *"'./static' cannot be recorded: it is linked statically"* ]]
	run_arcprof record -e native-memory -o trace -p $$
	[ "$status" -eq 125 ]
	[[ $stderr == *"process $$: native-memory of a running process can be recorded of JVMs only"* ]]
	run_arcprof record -e native-live -o trace true
	[ "$status" -eq 2 ]
	[[ $stderr == *"comes with native-memory"* ]]
	"$ARCPROF" record -q -e native-memory -o trace sh -c './static; ./static'
	run_arcprof report -i trace
	[[ $output == *"not recorded: native-memory of 2 programs: linked statically"* ]]
}
