#!/usr/bin/env bats
# The library that reads traces, as a program has it that is built with an installed arcprof.
# bats file_tags=stored
load ../lib

setup_file() {
	skip_unless_command gcc
	make -s -C "$TOP" install DESTDIR="$BATS_FILE_TMPDIR/root" prefix=/usr >/dev/null
}

setup() {
	trace_errors_only
	cd "$BATS_TEST_TMPDIR" || return 1
	export ARCPROF PYTHONDONTWRITEBYTECODE=1
	root=$BATS_FILE_TMPDIR/root
	flags="-I$root/usr/include -L$root/usr/lib -larcprof -lz"
}

compile() {	# <source> <program>
	gcc -Wall -Wextra -Werror -O2 -o "$2" "$1" $flags
}

@test "reader: rows of every stored trace are those of reports and queries" {
	skip_unless_command python3
	compile "$TOP/t/reader/rows.c" rows
	python3 "$TOP/t/reader/compare-rows.py" ./rows "$TOP"/t/data/*/trace
}

@test "reader: the example of the page compiles, and prints what report does" {
	skip_unless_command jq
	awk '/^----$/ { n++; next } n == 3' "$TOP/Documentation/arcprof-reader.adoc" >example.c
	compile example.c example
	./example "$TOP/t/data/java/trace" >out
	arcprof report -q -i "$TOP/t/data/java/trace" --xprof --sort base --format json |
		jq -r '.rows[] | "\(.base[0])\t\(.cum[0])\t\(.name)"' >want
	[ "$(head -10 out | cut -f 1)" = "$(head -10 want | cut -f 1)" ]
	[ "$(head -10 out | grep -cxFf want)" -eq 10 ]
	grep -q 'inlined tcache_thread_shutdown (./malloc/malloc.c:3220)' out
	cp "$TOP/t/data/events/trace" arcprof.data
	./example | grep -q 'Seed.main'
	status=0
	./example nope 2>err || status=$?
	[ "$status" -eq 1 ]
	grep -q 'nope: No such file' err
}

# has_more_than <ns>: waits until functions have consumed more in what the recorder has written by then; prints it.
has_more_than() {
	local i sum
	for ((i = 0; i < 600; i++)); do
		sum=$(./example trace 2>err | awk -F '\t' 'NF == 3 { n += $1 } END { print n + 0 }')
		[ "$sum" -le "$1" ] || break
		sleep 0.1
	done
	echo "$sum"
	[ "$sum" -gt "$1" ]
}

@test "reader: a trace is read while it is written, and has more each time" {
	skip_unless_perf
	local first
	awk '/^----$/ { n++; next } n == 3' "$TOP/Documentation/arcprof-reader.adoc" >example.c
	compile example.c example
	cat >spin.c <<-END
		#include <unistd.h>
		static volatile int x;
		__attribute__((noinline)) int spin(void) { for (int i = 0; i < 100000; i++) x += i; return access("stop", F_OK); }
		int main(void) { while (spin()); }
	END
	gcc -O1 -g -o spin spin.c
	"$ARCPROF" record -q -o trace ./spin 3>&- &
	first=$(has_more_than 0) || { touch stop; cat err; return 1; }
	has_more_than "$first" || { touch stop; return 1; }
	touch stop
	wait $!
	# the names of functions in files come at the end
	./example trace >out
	grep -q $'\tspin$' out
}

@test "reader: pkg-config knows what to link with" {
	skip_unless_command pkg-config
	PKG_CONFIG_PATH=$root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 \
		PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 pkg-config --cflags --libs arcprof-trace >said
	[ "$(xargs -n 1 <said | sort)" = "$(xargs -n 1 <<<"$flags" | sort)" ]
	PKG_CONFIG_PATH=$root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 \
		PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 pkg-config --cflags --libs arcprof >said
	[ "$(xargs -n 1 <said | sort)" = "$(xargs -n 1 <<<"${flags/-lz/}" | sort)" ]
}

@test "reader: it needs nothing but the C library and zlib, in programs and in shared libraries" {
	compile "$TOP/t/reader/rows.c" rows
	readelf -d rows | grep NEEDED >needed
	! grep -vE 'libc\.|libz\.' needed || false
	gcc -shared -Wl,-z,defs -o all.so -Wl,--whole-archive "$root/usr/lib/libarcprof.a" -Wl,--no-whole-archive -lz
	! nm -D --defined-only all.so | grep -v ' arcprof_' || false
	gcc -static -o static "$TOP/t/reader/rows.c" $flags
	./static "$TOP/t/data/minimal/trace" nodes | grep -q '"id":0'
}

@test "reader: a program that reads its own metrics gets nothing of it, and needs no zlib" {
	printf '#include <arcprof.h>\nint main(void) { return arcprof_init("clock"); }\n' >own.c
	gcc -o own own.c -I"$root/usr/include" "$root/usr/lib/libarcprof.a"
	! nm own | grep -q arcprof_trace || false
	./own
}

@test "reader: the header compiles as C++, too" {
	skip_unless_command g++
	g++ -x c++ -std=c++11 -Wall -Wextra -Werror -fsyntax-only "$root/usr/include/arcprof-trace.h"
}

@test "reader: names come from the trace and from no file of this machine" {
	skip_unless_command strace
	compile "$TOP/t/reader/rows.c" rows
	strace -f -e trace=open,openat,connect -o calls ./rows "$TOP/t/data/java/trace" all >out
	! grep -vE '/trace"|/etc/ld|/lib|exited' calls || false
}
