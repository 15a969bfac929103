#!/usr/bin/env bats
# arcprof itrace, and the reports of what it traces: programs that know what they do, a single-stepper
# that knows nothing of arcprof, and laws that hold for any trace.
# bats file_tags=stored
load ../lib

setup_file() {
	local bin=$BATS_FILE_TMPDIR/bin src=$BATS_TEST_DIRNAME/../itrace
	[ "$(uname -m)" = x86_64 ] || return 0
	make -s -C "$BATS_TEST_DIRNAME/../.." build/t/tools/stepcount >&2
	mkdir -p "$bin"
	gcc -nostdlib -static -o "$bin/known" "$src/known.S"
	gcc -O1 -fno-optimize-sibling-calls -fno-stack-protector -nostdlib -static -o "$bin/calls" "$src/calls.c"
	gcc -O1 -static -o "$bin/busy" "$src/busy.c" -pthread
	gcc -O1 -static -o "$bin/traps" "$src/traps.c"
	gcc -O1 -static -o "$bin/family" "$src/family.c" -pthread
	g++ -O1 -static-pie -fPIE -o "$bin/throws" "$src/throws.cc"
	gcc -O1 -x c -o "$bin/dynamic" - <<-'END'
		#include <unistd.h>
		int main(void) { return write(1, "out\n", 4) != 4; }
	END
	gcc -nostdlib -static -x assembler -o "$bin/endless" - <<-'END'
		.globl _start
		_start: call f
		jmp _start
		f: ret
	END
	export BIN=$bin STEPCOUNT=$BATS_TEST_DIRNAME/../../build/t/tools/stepcount
}

setup() {
	trace_errors_only
	cd "$BATS_TEST_TMPDIR" || return 1
	[ "$(uname -m)" = x86_64 ] || skip "the programs are for another CPU"
}

# itrace <arguments>: traces into the file "trace"; laws of any trace are checked.
itrace() {
	local status_of_it output_of_it stderr_of_it
	run_arcprof itrace -o trace "$@"
	status_of_it=$status output_of_it=$output stderr_of_it=$stderr
	check_itrace trace
	status=$status_of_it output=$output_of_it stderr=$stderr_of_it
}

# The model's invariants hold; rows of every kind of arc file add up to the instructions traced.
check_itrace() {
	local total fold
	! "$ARCPROF" report -i "$1" --check | grep -v '^ok ' || return 1
	"$ARCPROF" report -i "$1" --arc --format json >.arc || return 1
	total=$(jq .source.instructions .arc)
	jq -e '([.rows[].instructions] | add) == .source.instructions and
		.shown == {rows: (.rows | length), instructions: .source.instructions}' .arc >.sum || return 1
	for fold in --compact --collapse-plt '--compact --collapse-plt --collapse-kernel' --every-instruction; do
		# shellcheck disable=SC2086	# a list of words
		"$ARCPROF" report -i "$1" --arc $fold | grep -v '^#' |
			awk -v total="$total" '{ n += $4 } END { exit n != total }' ||
			{ echo "$fold: rows do not add up to $total"; return 1; }
	done
	"$ARCPROF" report -i "$1" --xarc --format json >.xarc
	"$ARCPROF" report -i "$1" --xprof --format json >.xprof
	jq -e --argjson n "$total" '.metrics[0].total == $n and ([.rows[].base[0]] | add) == $n' .xprof >.sum ||
		{ echo "xprof: the bases are not the total"; return 1; }
}

instructions() {
	jq .source.instructions .arc
}

calls_of() {
	jq --arg f "$1" '[.rows[] | select(.name == $f) | .n] | add // 0' .xprof
}

calls_of_arc() {	# <caller> <callee>
	jq --arg p "$1" --arg f "$2" '[.stanzas[] | select(.name == $f) | .parents[] | select(.name == $p) | .n] | add // 0' .xarc
}

blocks_ended_by() {
	jq --arg k "$1" '[.rows[] | select(.branch == $k)] | length' .arc
}

@test "itrace: branches of every kind are counted exactly" {
	itrace -- "$BIN/known"
	[ "$status" -eq 0 ]
	[ "$(instructions)" -eq $((3 + 100 * 16 + 14)) ]
	[ "$(blocks_ended_by call)" -eq 101 ]
	[ "$(blocks_ended_by call-indirect)" -eq 100 ]
	[ "$(blocks_ended_by return)" -eq 200 ]
	[ "$(blocks_ended_by jump)" -eq 201 ]
	[ "$(blocks_ended_by jump-indirect)" -eq 100 ]
	[ "$(blocks_ended_by conditional)" -eq 100 ]
	[ "$(blocks_ended_by exit)" -eq 1 ]
	[ "$(jq '.rows | length' .arc)" -eq 803 ]
	[ "$(calls_of direct)" -eq 100 ]
	[ "$(calls_of indirect)" -eq 100 ]
	[ "$(jq '.rows[] | select(.name == "direct") | .base[0]' .xprof)" -eq 200 ]
}

@test "itrace: each instruction has a row with its bytes, and they are the program's" {
	itrace -- "$BIN/known"
	objdump -d "$BIN/known" --insn-width=15 | awk -F'\t' '/^ / { gsub(" ", "", $2); print $2 }' | sort -u >program
	arcprof report -i trace --arc --every-instruction | grep -v '^#' >rows
	[ "$(wc -l <rows)" -eq "$(instructions)" ]
	awk '{ print $NF }' rows | sort -u | grep -vxFf program >strange || true
	[ ! -s strange ]
	[ "$(grep -c ' f3aa$' rows)" -eq 1 ]
}

@test "itrace: totals are those of an independent single-stepper" {
	local p got want
	for p in known calls dynamic; do
		setarch -R "$ARCPROF" itrace -q --no-java -o trace -- "$BIN/$p" >out	# the same environment
		got=$(arcprof report -i trace --arc --format json | jq .shown.instructions)
		want=$(setarch -R "$STEPCOUNT" "$BIN/$p" 3>&1 >out)
		echo "$p: $got, single-stepper $want"
		[ "$got" -eq "$want" ]
	done
}

@test "itrace: breakpoints find what single steps find, instruction by instruction" {
	local p
	for p in known calls; do
		for how in --single-steps --no-single-steps; do
			itrace $how -- "$BIN/$p"
			arcprof report -i trace --arc --every-instruction | grep -v '^#' | sed 's/ [0-9a-f]*_[0-9a-f]*_/ /' >$how
			arcprof dump -i trace | sed -n 's/.*key="itrace.\([sb][a-z]*\)" value="\([a-z0-9]*\)".*/\1 \2/p' >labels
			cat labels
			[ $how = --single-steps ] || continue
			grep -qx 'breakpoints no' labels
		done
		cmp ./--single-steps ./--no-single-steps
	done
	grep -qx 'breakpoints yes' labels || skip "the machine has no breakpoints that work"
	[ "$(sed -n 's/^stops //p' labels)" -lt $(($(instructions) * 2 / 3)) ]
}

@test "itrace: totals are lackey's, but for repeated string instructions" {
	skip_unless_command valgrind
	run_arcprof itrace -o trace -- "$BIN/calls"
	valgrind --tool=lackey "$BIN/calls" 2>lackey
	[ "$(awk '/guest instrs:/ { gsub(",", ""); print $NF }' lackey)" -eq "$(arcprof report -i trace --arc --format json | jq .shown.instructions)" ]
	valgrind --tool=lackey "$BIN/known" 2>lackey
	# it begins the one with five rounds six times
	[ "$(awk '/guest instrs:/ { gsub(",", ""); print $NF }' lackey)" -eq $((3 + 100 * 16 + 14 + 5)) ]
}

# callgrind <program>: the instructions of which callgrind counts more or fewer than ./trace has: "callgrind ours bytes".
callgrind() {
	local name addr n symbol offset bytes
	local -A start
	while read -r addr _ name; do
		start[$name]=$((16#$addr))
	done < <(nm "$1")
	arcprof report -i trace --arc --every-instruction --format csv >rows.csv
	tail -n +2 rows.csv | cut -d, -f5,6,15 | tr , ' ' | sort | uniq -c >ours.rows
	while read -r n offset symbol bytes; do
		echo "$((start[$symbol] + offset)) $n $bytes"
	done <ours.rows | sort >ours
	valgrind --tool=callgrind --dump-instr=yes --compress-pos=no --callgrind-out-file=callgrind.out "$1" 2>callgrind.err
	awk '/^calls=/ { getline; next } /^0x/ { n[$1] += $3 } END { for (a in n) print a, n[a] }' callgrind.out >theirs.rows
	while read -r addr n; do
		echo "$((addr)) $n"
	done <theirs.rows | sort >theirs
	join -a 1 -a 2 -e 0 -o 1.2,2.2,2.3 theirs ours | awk '$1 != $2' | sort
}

@test "itrace: what other programs read of a trace with lines has as many calls as there were" {
	printf '%s\n' 'static int f(int n)' '{' 'int r = 0;' 'while (n)' 'r += n--;' 'return r;' '}' 'void _start(void)' '{' \
		'for (int i = 0; i < 7; i++)' 'f(i);' '__asm__("syscall" :: "a"(60), "D"(0));' '}' >lines.c
	gcc -g -O0 -nostdlib -static -o lines lines.c
	itrace --limit 5000 -- ./lines
	[ "$(arcprof report trace --xprof --format json | jq '.rows[] | select(.name == "f").n')" = 7 ]
	arcprof report trace --format pprof -o p.pb.gz
	[ "$(arcprof report --import p.pb.gz --xprof --format json | jq '.rows[] | select(.name == "f").n')" = 7 ]
	arcprof report trace --format callgrind -q >c.out
	[ "$(grep -A1 '^cfn=.*f$' c.out | sed -n 's/^calls=\([0-9]*\).*/\1/p')" = 7 ]
}

@test "itrace: every instruction is executed as often as callgrind says, but where it never sees a block's end" {
	skip_unless_command valgrind
	itrace -- "$BIN/calls"
	# the handlers' restorer, twice, and the end of the program
	[ "$(callgrind "$BIN/calls")" = "0 1 0f05
0 1 89c7
0 1 b83c000000
0 2 0f05
0 2 b80f000000" ]
	itrace -- "$BIN/known"
	# the end, and the repeated instruction, which valgrind begins again for each round
	[ "$(callgrind "$BIN/known")" = "0 1 0f05
0 1 31ff
0 1 b83c000000
6 1 f3aa" ]
}

@test "itrace: calls, tail calls, recursion, handlers and longjmp are matched" {
	itrace -- "$BIN/calls"
	[ "$status" -eq 0 ]
	[ "$(calls_of thrice)" -eq 2 ]
	[ "$(calls_of_arc thrice leaf)" -eq 6 ]
	[ "$(calls_of recurse)" -eq 5 ]
	[ "$(calls_of_arc run tail)" -eq 1 ]
	[ "$(calls_of_arc run leaf)" -eq 1 ]
	[ "$(calls_of on_signal)" -eq 2 ]
	[ "$(calls_of_arc on_signal leaf)" -eq 2 ]
	[ "$(calls_of_arc send on_signal)" -eq 2 ]
	[ "$(calls_of_arc run send)" -eq 2 ]
	[ "$(calls_of_arc between jumper)" -eq 1 ]
	[ "$(calls_of_arc catcher thrice)" -eq 1 ]
	[ "$(calls_of_arc run catcher)" -eq 1 ]
	[ "$(calls_of leaf)" -eq 9 ]
	[ "$(blocks_ended_by interrupt)" -eq 2 ]
	[ "$(blocks_ended_by iret)" -eq 2 ]
}

@test "itrace: an exception closes what it passes" {
	itrace -- "$BIN/throws"
	[ "$status" -eq 0 ]
	[ "$(calls_of_arc main 'catches()')" -eq 2 ]
	[ "$(calls_of_arc 'catches()' 'middle()')" -eq 2 ]
	[ "$(calls_of_arc 'catches()' 'after()')" -eq 2 ]
	[ "$(calls_of_arc 'middle()' 'thrower()')" -eq 2 ]
}

@test "itrace: a linkage stub and its function are called by the same caller, or the stub is folded away" {
	itrace -- "$BIN/dynamic"
	[ "$output" = out ]
	[ "$(calls_of_arc main write@plt)" -eq 1 ]
	[ "$(jq '[.stanzas[] | select(.name | test("^(__)?write$")) | .parents[] | select(.name == "main") | .n] | add' .xarc)" -eq 1 ]
	arcprof report -i trace --xprof --format json --collapse-plt >folded
	[ "$(jq '[.rows[] | select(.name | endswith("@plt"))] | length' folded)" -eq 0 ]
	[ "$(jq '.metrics[0].total' folded)" -eq "$(instructions)" ]
	[ "$(jq '.rows[] | select(.name == "main") | .n' folded)" -eq 1 ]
	[[ $(arcprof report -i trace --arc | grep -v '^#' | head -n 1) == *" U 1   "*" ? "*"_dynamic CALL "* ]]
}

@test "itrace: threads are traced; children and what they become with -f" {
	itrace -- "$BIN/family"
	[ "$status" -eq 3 ]
	[ "$output" = "3675 5" ]
	[ "$(calls_of in_thread)" -eq 3 ]
	[ "$(calls_of in_child)" -eq 0 ]
	[ "$(jq '[.rows[].tid] | unique | length' .arc)" -eq 4 ]
	itrace -f -- "$BIN/family"
	[ "$status" -eq 3 ]
	[ "$output" = "3675 5" ]
	[ "$(calls_of in_child)" -eq 1 ]
	[ "$(calls_of in_image)" -eq 1 ]
	[ "$(jq '[.rows[].pid] | unique | length' .arc)" -eq 2 ]
	[ "$(blocks_ended_by exec)" -eq 1 ]
}

@test "itrace: a program keeps its own traps, and no trap flag is left in what it saved" {
	itrace -- "$BIN/traps"
	[ "$output" = "4 traps" ]
	[ "$status" -eq 0 ]
	run_arcprof itrace -o trace --limit 40000 -- "$BIN/busy"
	[ "$output" = done ]
	[ "$status" -eq 0 ]
	[[ $stderr == *"stopped after "*"as asked by --limit"* ]]
}

@test "itrace: only brackets are traced, each alike; without a tracer they do nothing" {
	gcc -O1 -static -I"$TOP/lib" -o bracket "$TOP/t/itrace/bracket.c" "$BUILD/libarcprof.a" -pthread
	[ "$(./bracket)" = "on -57 off -66 again -22" ]
	itrace --bracket -- ./bracket
	[ "$output" = "on 0 off 0 again -22" ]
	[ "$(calls_of work)" -eq 3 ]
	[ "$(calls_of_arc work leaf)" -eq 12 ]
	[ "$(calls_of_arc main arcprof_itrace_off)" -eq 3 ]
	[ "$(blocks_ended_by stop)" -eq 3 ]
	jq -e '[.rows | to_entries[] | select(.value.branch == "stop").key] as [$a, $b, $c] | ($b - $a) == ($a + 1) and ($c - $b) == ($a + 1)' .arc
}

@test "itrace: Java methods between brackets have their names" {
	skip_unless_java
	make -s -C "$TOP" java >&2
	mkdir classes
	cat >Between.java <<-'END'
		public class Between {
			static int sink;
			static int add(int a, int b) { return a * 31 + b; }
			static void one(int[] x) { for (int v : x) sink = add(sink, v); }
			public static void main(String[] a) {
				int[] x = new int[20];
				for (int i = 0; i < 100000; i++) { x[i % 20] = i; one(x); }
				int on = arcprof.InstructionTrace.on();
				for (int i = 0; i < 3; i++) one(x);
				System.out.println(on + " " + arcprof.InstructionTrace.off() + " " + sink);
			}
		}
	END
	javac -cp "$BUILD/arcprof.jar" -d classes Between.java
	local run=(java -Darcprof.library="$BUILD/libarcprof-java.so" -cp "$BUILD/arcprof.jar:classes" Between)
	itrace --bracket -- "${run[@]}"
	[ "$status" -eq 0 ]
	[ "$output" = "0 0 $("${run[@]}" | cut -d ' ' -f 3)" ]
	jq -e '[.rows[] | select(.name | test("^Between[.](main|one)$")) | .base[0]] | add > 100' .xprof
	jq -e 'all(.rows[] | select(.name | startswith("Between.")); .kind == "java-compiled")' .xprof
}

@test "itrace: a program outlives arcprof's death, whenever that is" {
	local i p killed=0
	for i in 1 2 3 4 5; do
		rm -f trace
		"$ARCPROF" itrace -o trace -- "$BIN/busy" >out 2>/dev/null 3>&- &
		p=$!
		# before that there is no program yet
		while [ ! -e trace ] && kill -0 $p 2>/dev/null; do
			sleep 0.01
		done
		sleep 0.$((RANDOM % 2))$((RANDOM % 10))
		kill -9 $p 2>/dev/null || true	# a quick machine may be done
		wait $p || [ $? -ne 137 ] || killed=$((killed + 1))
		for _ in $(seq 200); do
			! grep -q . out || break
			sleep 0.05
		done
		[ "$(cat out)" = done ]
	done
	[ $killed -gt 0 ]
}

@test "itrace: a running process is traced, let go, and runs on" {
	"$BIN/endless" &
	local p=$! t
	run_arcprof itrace -o trace -p $p --limit 3000
	[ "$status" -eq 0 ]
	check_itrace trace
	[ "$(instructions)" -eq 3000 ]
	run_arcprof itrace -o trace -t $p -d 200ms
	[ "$status" -eq 0 ]
	check_itrace trace
	[ "$(instructions)" -gt 0 ]
	for _ in 1 2 3; do	# over before it has begun: that nothing was traced is no success
		run_arcprof itrace -o trace -p $p -d 1us
		[[ $status -eq 0 && $(instructions) -gt 0 || $stderr == *"no instruction was traced"* ]]
	done
	t=$(awk '{ print $14 }' /proc/$p/stat)
	for _ in $(seq 100); do
		[ "$(awk '{ print $14 }' /proc/$p/stat)" -le "$t" ] || break
		sleep 0.05
	done
	[ "$(awk '{ print $14 }' /proc/$p/stat)" -gt "$t" ]
	grep -q '^TracerPid:.0$' /proc/$p/status
	kill $p
}

@test "itrace: a trace that would grow too large stops at the limit, and says so" {
	"$BIN/endless" &
	local p=$!
	run_arcprof itrace -o trace --no-compress --max-size 128k -p $p
	kill $p
	[ "$status" -eq 0 ]
	[[ $stderr == *"stopped because the trace has reached --max-size"* ]]
	[ "$(stat -c %s trace)" -le $((160 << 10)) ]
	check_itrace trace
}

@test "itrace: a full disk stops the trace, not the program" {
	skip_unless_root
	mkdir small
	mount -t tmpfs -o size=64k tmpfs small || skip "no file system can be mounted"
	status=0
	"$ARCPROF" itrace --no-compress -o small/trace -- "$BIN/busy" >out 2>err || status=$?
	umount small
	[ "$(cat out)" = done ]
	[ "$status" -eq 125 ]
	grep -q 'No space left on device' err
}

@test "itrace: a truncated trace still shows what it contains" {
	run_arcprof itrace -f -o whole -- "$BIN/family"
	head -c $(($(stat -c %s whole) * 3 / 4)) whole >trace
	run_arcprof report -i trace --arc
	[ "$status" -eq 1 ]
	[[ $stderr == *"has no end"* ]]
	[ "$(grep -vc '^#' <<<"$output")" -gt 10 ]
}

@test "itrace: a target that cannot be traced is refused in one line" {
	run_arcprof itrace -o trace
	[ "$status" -eq 2 ]
	[[ $stderr == *"nothing to trace"* ]]
	run_arcprof itrace -o trace -p 1 -- true
	[ "$status" -eq 2 ]
	run_arcprof itrace -o trace -- ./no-such-program
	[ "$status" -eq 127 ]
	[[ $stderr == *"cannot run './no-such-program'"* ]]
	run_arcprof itrace -o trace -p 999999999
	[ "$status" -eq 125 ]
	[[ $stderr == *"cannot attach to process 999999999"* ]]
	run_arcprof itrace -o trace --max-size 1k -- true
	[ "$status" -eq 2 ]
	run_arcprof report -i "$TOP/t/data/mixed/trace" --arc
	[ "$status" -eq 1 ]
	[[ $stderr == *"not an instruction trace"* ]]
	run_arcprof report --compact
	[ "$status" -eq 2 ]
}

@test "itrace: --limit, --tid and --symbol choose rows of an arc file; CSV has a column each" {
	itrace -- "$BIN/calls"
	[ "$(arcprof report -i trace --arc --limit 5 | grep -vc '^#')" -eq 5 ]
	arcprof report -i trace --arc --symbol leaf --format csv >csv
	[ "$(tail -n +2 csv | cut -d, -f6 | sort -u)" = leaf ]
	[ "$(head -n 1 csv | tr , '\n' | wc -l)" -eq 15 ]
	[ "$(arcprof report -i trace --arc --tid 1 | grep -vc '^#')" -eq 0 ]
}

@test "itrace: --engine=module without the module says what makes it available; ptrace steps otherwise" {
	[ ! -e /dev/arcprof ] || skip "the module is loaded here"
	run_arcprof itrace --engine=module -o none -- "$BIN/known"
	[ "$status" -eq 125 ]
	[[ $stderr == *"/dev/arcprof: No such file or directory"*"hint: load the module arcprof:"*insmod* ]]
	run_arcprof itrace -o auto -- "$BIN/known"
	[ "$status" -eq 0 ]
	run_arcprof report -i auto --arc
	[[ $output == "# 1617 instructions, "*" branches by ptrace"* ]]
}
