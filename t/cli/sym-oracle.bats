#!/usr/bin/env bats
# lib/sym and lib/unwind against tools and libraries that are not ours, on real files.
# bats file_tags=stored

setup_file() {
	cd "$BATS_TEST_DIRNAME/../.."
	make -s build/t/tools/symq build/t/tools/selfwalk build/t/tools/selfwalk-shared build/t/tools/walkprog build/t/tools/insnq >&2
	export SYMQ=$PWD/build/t/tools/symq
	libc=$(ldconfig -p | awk '/libc\.so\.6 .*x86-64/ { print $NF; exit }')
	export LIBC=$(readlink -f "$libc")
	export LIBS="$LIBC $(dirname "$LIBC")/libstdc++.so.6 $(dirname "$LIBC")/libm.so.6 $SYMQ"
	cat > "$BATS_FILE_TMPDIR/prog.cc" <<-'END'
		#include <algorithm>
		#include <map>
		#include <stdexcept>
		#include <string>
		#include <vector>
		static int depth(int n) { if (n < 0) throw std::runtime_error("deep"); return n ? depth(n - 1) + n : 0; }
		template <typename T> T fold(const std::vector<T> &v) { T s{}; for (auto &x : v) s += x; return s; }
		int main(int argc, char **) {
			std::map<std::string, std::vector<int>> m;
			for (int i = 0; i < 1000 * argc; i++) m[std::to_string(i % 97)].push_back(i);
			int s = 0;
			for (auto &p : m) { std::sort(p.second.begin(), p.second.end(), [](int a, int b) { return a > b; }); s += fold(p.second); }
			try { s += depth(50) + depth(-1); } catch (std::exception &e) { s += e.what()[0]; }
			return s == 42;
		}
	END
	g++ -O2 -g -o "$BATS_FILE_TMPDIR/prog" "$BATS_FILE_TMPDIR/prog.cc"
	export PROG=$BATS_FILE_TMPDIR/prog
}

oracle() {
	cd "$BATS_TEST_DIRNAME/../.."
	run t/sym-oracle.sh "$SYMQ" "$@"
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "sym: every row of call frame information is what readelf prints" {
	oracle rows $LIBS "$PROG"
}

@test "sym: every row of a JVM is what readelf prints" {
	jvm=$(find -L "${JAVA_HOME:-/usr/lib/jvm}" -name libjvm.so 2>/dev/null | head -1)
	[ -n "$jvm" ] || skip "no JVM here"
	oracle rows "$jvm"
}

@test "sym: functions have the names and addresses readelf lists" {
	oracle syms $LIBS "$PROG"
}

@test "sym: lines and inlined calls are what llvm-symbolizer says" {
	command -v llvm-symbolizer >/dev/null || skip "no llvm-symbolizer here"
	oracle lines "$PROG"
	EVERY=5 oracle lines "$LIBC"
}

@test "sym: names are demangled as c++filt does" {
	oracle names "$(dirname "$LIBC")/libstdc++.so.6" "$PROG"
}

@test "unwind: stacks at any instruction are those the compiler's unwinder sees, static program" {
	run "$BATS_TEST_DIRNAME/../../build/t/tools/selfwalk" 50
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "unwind: stacks at any instruction are those the compiler's unwinder sees, shared libraries" {
	run "$BATS_TEST_DIRNAME/../../build/t/tools/selfwalk-shared" 50
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "unwind: what the code alone says after calls is what the rules say, in all but 1 of 100" {
	for f in "$LIBC" "$(command -v bash)"; do
		run "$SYMQ" "$f" code
		echo "$output"
		echo "$output" | awk '/ calls, / { seen = 1; if ($3 < 85 || $13 > 1) bad = 1 } END { exit bad || !seen }'
	done
}

@test "arch: instructions of x86-64 are as long as objdump says" {
	[ "$(uname -m)" = x86_64 ] || skip "another CPU"
	objdump -d --insn-width=15 "$LIBC" | "$BATS_TEST_DIRNAME/../../build/t/tools/insnq"
	objdump -d --insn-width=15 "$SYMQ" | "$BATS_TEST_DIRNAME/../../build/t/tools/insnq"
}

# At least 97 of 100, of those the copied part of the stack holds.
complete() {
	run "$BATS_TEST_DIRNAME/../../build/t/tools/walkprog" -v "$@"
	echo "$output"
	[ "$status" -eq 0 ]
	echo "$output" | awk '/ samples, / { seen = 1; sub(/.*frames, /, ""); if ($1 < 97) bad = 1 } END { exit bad || !seen }'
}

@test "unwind: stacks of the distribution's programs reach the root" {
	complete bash -c 'for ((i = 0; i < 20000; i++)); do x=$((i * i)); y=${x//1/2}; done'
	complete awk 'BEGIN { for (i = 0; i < 300000; i++) s = substr(s i, 1, 50) }'
	complete "$(gcc -print-prog-name=cc1plus)" -quiet -O2 -imultiarch x86_64-linux-gnu -o /dev/null "$BATS_FILE_TMPDIR/prog.cc"
}

@test "unwind: stacks of a program with neither rules nor frame pointers reach the root" {
	cat > "$BATS_TEST_TMPDIR/no.c" <<-'END'
		int f(int n, volatile int *p) { volatile double d = 1; if (n) return f(n - 1, p) + *p; for (int i = 0; i < 100000; i++) d += 1 / d; return d < 0; }
		int main(void) { int s = 0; for (int i = 0; i < 200; i++) s += f(20, &s); return s == 1; }
	END
	gcc -O2 -fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-optimize-sibling-calls -fno-ipa-icf \
		-o "$BATS_TEST_TMPDIR/no" "$BATS_TEST_TMPDIR/no.c"
	complete "$BATS_TEST_TMPDIR/no"
}

@test "unwind: stacks of a program with frame pointers and no rules reach the root" {
	cat > "$BATS_TEST_TMPDIR/fp.c" <<-'END'
		int f(int n) { volatile double d = 1; if (n) return f(n - 1) + 1; for (int i = 0; i < 100000; i++) d += 1 / d; return d < 0; }
		int main(void) { int s = 0; for (int i = 0; i < 200; i++) s += f(20); return s == 1; }
	END
	gcc -O1 -fno-omit-frame-pointer -fno-asynchronous-unwind-tables -fno-optimize-sibling-calls \
		-o "$BATS_TEST_TMPDIR/fp" "$BATS_TEST_TMPDIR/fp.c"
	complete "$BATS_TEST_TMPDIR/fp"
}

@test "insn: lengths, branch kinds and targets of A64 code are objdump's" {
	local libc=/usr/aarch64-linux-gnu/lib/libc.so.6
	command -v aarch64-linux-gnu-objdump >/dev/null && [ -e "$libc" ] || skip "no arm64 tools are installed"
	aarch64-linux-gnu-objdump -d "$libc" | "$BATS_TEST_DIRNAME/../../build/t/tools/insnq" arm64
}
