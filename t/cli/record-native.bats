#!/usr/bin/env bats
# Native programs whose profile is known by construction, and whose names are hard to find.
load ../lib

compile() {	# compile <C source on stdin>: <gcc options>
	gcc -x c -O2 -g -fno-inline "$@" -
}

plugin() {
	compile -shared -fPIC -o plugin.so <<-END
		static volatile unsigned long sink;
		__attribute__((visibility("default"))) void plugin_burn(unsigned long n)
		{
			unsigned long x = n;
			while (n--)
				x = x * 6364136223846793005ul + 1442695040888963407ul;
			sink += x;
		}
		void plugin_work(unsigned long n) { plugin_burn(n); sink++; }
	END
}

# The last recording has <caller> above <callee>, and at least a few samples.
has_arc() {
	[ "$(cum_of_arc "$1" "$2")" -gt 0 ] || { echo "no arc $1 -> $2"; return 1; }
}

@test "record: functions and arcs have the shares that the program gave them" {
	skip_unless_perf
	record -F 1999 -- "$(workload shares)" 100
	[ "$status" -eq 0 ]
	[ "$(samples)" -gt 500 ]
	check_shares
}

@test "record: callers of code made at run time are found by frame pointers, with a mark" {
	skip_unless_perf
	record -- "$(workload jitted)" 300
	[ "$status" -eq 0 ]
	[[ $stderr == *" 100.0 % complete stacks"* ]]
	[ "$(json .quality.complete_stacks .report--xprof)" -eq "$(samples)" ]
	has_arc main enters
	has_arc enters "[by frame pointers]"
	has_arc "[by frame pointers]" "[unknown in anonymous memory]"
	has_arc "[unknown in anonymous memory]" spin
	# of three such functions each has its frame
	[ "$(json '[.. | objects | select(.name? == "[unknown in anonymous memory]").rl] | max' .report--xtree)" -eq 3 ]
}

@test "record: callers of code without frame pointers are searched on the stack, with a mark" {
	skip_unless_perf
	[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
	record -- "$(workload jitted)" 300 unframed
	[ "$status" -eq 0 ]
	[[ $stderr == *" 100.0 % complete stacks"* ]]
	has_arc main enters
	has_arc enters "[by search of the stack]"
	has_arc "[by search of the stack]" "[unknown in anonymous memory]"
	has_arc "[unknown in anonymous memory]" spin
}

# deep_stacks <expected frames of down()>: a stack that is whole has them, and was read later. How many are goes with the
# load: of the last samples the process has ended, and on a busy machine that may be most.
deep_stacks() {
	[ "$status" -eq 0 ]
	has_arc main first
	has_arc first down
	has_arc down "[read later]"
	ARCPROF=$ARCPROF "$TOP/t/folded" trace | awk -v want="$1" '
		/;bottom / { all += $NF }
		/;bottom / && !/\[unwalkable/ { whole += $NF; right += /\[read later\]/ && gsub(/;down/, "&") == want ? $NF : 0 }
		END { print right + 0 " of " whole + 0 " have all calls, of " all + 0; exit right != whole || whole < all * 0.05 }'
}

@test "record: the rest of a stack above its copy is read from the process, with a mark" {
	skip_unless_perf
	# a megabyte of stack
	record -- "$(workload deepstack)" 8000 64 300000000
	deep_stacks 8000
	# frames that are larger than the copy
	record -- "$(workload deepstack)" 5 100000 300000000
	deep_stacks 5
	record --stack-size 4096 -- "$(workload deepstack)" 100 1000 300000000
	deep_stacks 100
}

@test "record: callers of JavaScript are known, and its names where node was asked for them" {
	skip_unless_perf
	skip_unless_command node
	cat >fib.js <<-'END'
	function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }
	function asks() { let x = 0; const end = Date.now() + 1000; while (Date.now() < end) x += fib(20); return x }
	asks()
	END
	record -- node fib.js
	[ "$status" -eq 0 ]
	[[ $stderr == *"hint: code in anonymous memory has names with: node --perf-basic-prof"* ]]
	[ "$(($(json .quality.complete_stacks .report--xprof) * 100))" -ge "$(($(samples) * 95))" ]
	record -- node --perf-basic-prof fib.js
	[[ $stderr != *"hint: code in anonymous memory"* ]]
	json '.rows[] | select(.name | test("fib.js")) | "\(.n) \(.name)"' .report--xprof
	[ "$(json '[.rows[] | select(.name | test("fib .*fib.js:1")) | .n] | add // 0' .report--xprof)" -gt 50 ]
}

@test "record: at 4 kHz the shares are the same" {
	skip_unless_perf
	record -F 3989 -- "$(workload shares)" 60
	[ "$status" -eq 0 ]
	check_shares
}

@test "record: so they are with frame pointers" {
	skip_unless_perf
	gcc -std=gnu11 -O0 -g -o shares "$TOP/t/workloads/shares.c"	# every function has a frame
	record --call-graph fp -F 1999 -- ./shares 30
	[ "$status" -eq 0 ]
	check_shares
}

@test "record: a chain of frame pointers is complete only where a thread begins" {
	skip_unless_perf
	local program
	program=$(workload shares)	# optimised: no frame pointers
	record --call-graph fp -F 1999 -- "$program" 30
	[ "$status" -eq 0 ]
	[[ $stderr != *"100.0 % complete"* ]]
	[ "$(jq '.quality | .complete_stacks / .samples < 0.5' .report--xtree)" = true ]
	gcc -std=gnu11 -O0 -o shares "$TOP/t/workloads/shares.c"
	gcc -std=gnu11 -O0 -s -static -o stripped "$TOP/t/workloads/shares.c"
	for program in shares stripped; do
		record --call-graph fp -F 1999 -- "./$program" 30
		[ "$status" -eq 0 ]
		jq '.quality | .complete_stacks, .samples' .report--xtree
		[ "$(jq '.quality | .complete_stacks / .samples > 0.9' .report--xtree)" = true ]
	done
}

@test "record: of an event in the kernel only, or in user code only, no sample is lost" {
	skip_unless_perf
	for mode in k u; do
		for stacks in dwarf fp no; do
			record -e "cpu-clock:$mode" -F 1999 --call-graph="$stacks" -- \
				bash -c "for i in {1..40000}; do echo \$i; done >out.$mode"
			[ "$(samples)" -gt 10 ]
			[[ $stderr == *' 0 lost'* ]]
			arcprof report --check -i trace >check
		done
	done
	# where the kernel was called from is in a stack, as in perf's
	record -e cpu-clock:k -F 1999 -- bash -c 'for i in {1..40000}; do echo $i; done >out.k'
	jq -e 'any(.rows[]; .name | startswith("__libc_start_main"))' .report--xprof
	[[ $stderr == *' 100.0 % complete stacks'* ]]
}

@test "record: without call stacks each function still has its share" {
	skip_unless_perf
	record --call-graph no -F 1999 -- "$(workload shares)" 100
	[ "$status" -eq 0 ]
	check_shares flat
}

@test "record: the shares hold in a static program without ASLR" {
	skip_unless_perf
	gcc -std=gnu11 -O2 -g -fno-inline -static -no-pie -o shares "$TOP/t/workloads/shares.c"
	record -F 1999 -- setarch -R ./shares 60
	[ "$status" -eq 0 ]
	check_shares
}

@test "record: threads, forks, execs, plugins and signal handlers have their callers" {
	skip_unless_perf
	plugin
	record -F 999 -- "$(workload ways)" threads fork exec signal ./plugin.so
	[ "$status" -eq 0 ]
	has_arc in_thread burn
	[ "$(jq '[.rows[] | select(.kind == "thread" and .cum[0] > 20000000)] | length' .report--xprof)" -ge 6 ]
	has_arc forks in_child
	has_arc in_child burn
	has_arc main in_new_image
	has_arc in_new_image burn
	has_arc in_handler burn
	has_arc main raises
	has_arc loads plugin_work
	has_arc plugin_work plugin_burn
	[ "$(jq '[.rows[] | select(.kind == "process" and .name == "exe")] | length' .report--xprof)" -eq 1 ]
}

@test "record: a signal handler lies below the function it interrupted" {
	skip_unless_perf
	record -F 999 -- "$(workload ways)" signal
	jq -e '[.nodes[]] as $n
		| def path($i): if $i == null then [] else path($n[$i].parent) + [$n[$i].name] end;
		any($n[]; .name == "burn" and (path(.id) | index("raises") and index("in_handler")))' .report--xtree
	[ "$(jq '.quality.n - .quality.complete_stacks' .report--xprof)" -le 3 ]
}

@test "record: the vdso has names and callers" {
	skip_unless_perf
	record -F 1999 -- "$(workload ways)" clock
	jq -e 'any(.rows[]; .module == "[vdso]" and (.name | test("clock_gettime")))' .report--xprof
	has_arc main clocks
	[ "$(jq '.quality.complete_stacks * 100 >= .quality.n * 97' .report--xprof)" = true ]
}

@test "record: C++ has demangled names, and inlined calls with file and line" {
	skip_unless_perf
	skip_unless_command g++
	cat >cplus.cpp <<-'END'
		#include <cstdint>
		#include <cstdlib>
		static volatile uint64_t sink;
		namespace mill {
		static inline __attribute__((always_inline)) uint64_t step(uint64_t x)
		{
			for (int i = 0; i < 64; i++)
				x = x * 6364136223846793005ull + (x >> 32);
			return x;
		}
		template <typename T> struct Wheel {
			__attribute__((noipa)) void turn(T n)
			{
				uint64_t x = n;
				for (T i = 0; i < n; i++)
					x = step(x);
				sink += x;
			}
		};
		}
		int main()
		{
			mill::Wheel<unsigned long> w;
			w.turn(1500000);
			sink++;
		}
	END
	g++ -O2 -g -o cplus cplus.cpp
	record -F 999 -- ./cplus
	has_arc main 'mill::Wheel<unsigned long>::turn(unsigned long)'
	arcprof report -i trace --xprof --lines --format json >lines
	jq -e 'any(.rows[]; .name == "step" and (.detail | test("cplus.cpp:[5678]$")) and .n > 20)' lines ||
		{ jq -c '.rows[] | [.name, .n, .kind]' lines; false; }
	arcprof report -i trace --xprof --hide-inlined --format json >hidden
	jq -e 'all(.rows[]; .name | test("step") | not)' hidden
}

@test "record: Rust has readable names" {
	skip_unless_perf
	skip_unless_command rustc
	cat >mill.rs <<-'END'
		mod mill {
		    #[inline(never)]
		    pub fn turn<T: Into<u64> + Copy>(n: T) -> u64 {
		        let mut x: u64 = n.into();
		        for i in 0..n.into() { x = x.wrapping_mul(6364136223846793005).wrapping_add(i); }
		        x
		    }
		}
		fn main() { println!("{}", mill::turn(std::hint::black_box(150000000u32))); }
	END
	rustc -O -g -o mill mill.rs 2>rustc.err || skip "rustc does not work here"
	record -F 999 -- ./mill
	arcprof report -i trace --xprof --hide-inlined --format json >hidden
	jq -e 'any(.rows[]; (.name | test("^mill::mill::turn(::<u32>|<u32>)?(::h[0-9a-f]{16})?$")) and .n > 10)' hidden ||
		{ jq -c '.rows[] | [.name, .n]' hidden; false; }
}

# A stripped program in ./shares, its debug information in ./shares.debug
stripped() {
	cp "$(workload shares)" full
	objcopy --only-keep-debug full shares.debug
	objcopy -S full shares
	! nm shares 2>/dev/null | grep -q sixteen || false
}

@test "record: a stripped program has no invented names, and complete stacks" {
	skip_unless_perf
	stripped
	rm shares.debug full
	record -F 999 -- ./shares 20
	[ "$(samples_in sixteen)" -eq 0 ]
	jq -e '.quality.complete_stacks * 100 >= .quality.n * 97' .report--xprof
	jq -e '[.rows[] | select(.module != null and (.module | endswith("/shares"))) | .n] | add > 50' .report--xprof
}

@test "record: a stripped program with .gnu_debugdata has its names" {
	skip_unless_perf
	skip_unless_command xz
	stripped
	nm full --format=posix --defined-only | awk '$2 ~ /[Tt]/ { print $1 }' | sort >keep
	objcopy -S --remove-section .comment --keep-symbols=keep shares.debug mini
	xz mini
	objcopy --add-section .gnu_debugdata=mini.xz shares
	rm shares.debug full
	record -F 999 -- ./shares 100
	check_shares
}

@test "record: a stripped program with .gnu_debuglink has names and lines" {
	skip_unless_perf
	stripped
	rm full
	objcopy --add-gnu-debuglink=shares.debug shares
	record -F 999 -- ./shares 100
	check_shares
	arcprof report -i trace --xprof --lines | grep -q 'shares\.c:[0-9]'
}

# A program with a library, recorded, in ./alone; and the four reports of it.
record_with_library() {
	mkdir alone
	plugin
	mv plugin.so alone/libplugin.so
	compile -o alone/program -Wl,--no-as-needed -L alone -lplugin -Wl,-rpath,"$PWD/alone" <<-'END'
		void plugin_work(unsigned long n);
		int main(void) { plugin_work(200000000); return 0; }
	END
	record -F 1999 "$@" -- alone/program
	[ "$status" -eq 0 ]
	for r in xarc xtree xprof tprof; do
		arcprof report -i trace --$r >$r.before
	done
	grep -q plugin_burn xprof.before
	grep -q plugin_work xprof.before
}

@test "record: reports say the same when the programs are gone and nothing but arcprof is there" {
	skip_unless_root
	skip_unless_perf
	record_with_library
	rm -r alone
	mkdir empty
	cp "$ARCPROF" empty/arcprof
	cp trace empty/
	for r in xarc xtree xprof tprof; do
		chroot empty /arcprof report -i /trace --$r >$r.after 2>$r.err
		cmp $r.before $r.after
		[ ! -s $r.err ]
	done
	arcprof report -i trace --xprof --lines | grep -q '<stdin>:[0-9]'
}

@test "record: a program that only its mount namespace can see has its names" {
	skip_unless_root
	skip_unless_perf
	unshare -m true 2>/dev/null || skip "mount namespaces are not permitted"
	mkdir hidden
	cp "$(workload shares)" copy
	record -F 999 -- unshare -m sh -c 'mount -t tmpfs none hidden && cp copy hidden/shares && hidden/shares 60'
	[ "$status" -eq 0 ]
	[ ! -e hidden/shares ]
	check_shares
}

@test "record: a program that is deleted while it runs has its names" {
	skip_unless_perf
	cp "$(workload shares)" shares
	# deleted when it has begun
	record -F 999 -- sh -c './shares 60 & for i in $(seq 1000); do
		[ "$(readlink /proc/$!/exe)" != "$PWD/shares" ] || break; sleep 0.01; done; rm shares; wait'
	[ ! -e shares ]
	check_shares
}

# bats test_tags=stored
@test "record: at least 97 % of the stacks of distribution programs are complete" {
	skip_unless_perf
	"$TOP/t/perf/stacks.sh" --check
}

@test "record: an event that is spelled wrong gets the nearest one" {
	run_arcprof record -e alocs -- true
	[[ $status -ne 0 && $stderr == *"unknown event 'alocs'"*"did you mean 'alloc'?"* ]]
	run_arcprof record -e context-switch -- true
	[[ $status -ne 0 && $stderr == *"did you mean 'context-switches'?"* ]]
}
