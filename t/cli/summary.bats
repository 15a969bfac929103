#!/usr/bin/env bats
# The first answers: what is the program's own, what is on the way, and what threads wait for.
load ../lib
load ../java

printed() {
	run_arcprof "$@"
	[ "$status" -eq 0 ]
}

# refused <what it says> <arguments>...
refused() {
	local says=$1
	shift
	run_arcprof "$@"
	[[ $status -ne 0 && -z $output && $stderr == *"$says"* ]]
}

# A library below the program's own method, ways into the program.
folded() {
	cat <<'EOT'
app;java.lang.Thread.run;com.x.Server.serve;com.x.Json.write;java.lang.StringBuilder.append 60
app;java.lang.Thread.run;com.x.Server.serve;com.x.Json.write;java.lang.StringBuilder.append 20
app;java.lang.Thread.run;com.x.Server.serve;com.x.Json.write 10
app;java.lang.Thread.run;com.x.Server.serve 9
app;java.util.TimerThread.run 1
EOT
}

@test "summary: what libraries do counts for their callers, and sums hold" {
	folded >stacks
	printed report --summary --stacks stacks --format json
	jq -e '.mine | map({(.name): [.self, .mine]}) | add ==
		{"com.x.Json.write": [10, 90], "com.x.Server.serve": [9, 9], "app": [0, 1]}' <<<"$output"
	jq -e '.functions[0] | .name == "java.lang.StringBuilder.append" and .self == 80' <<<"$output"
	jq -e '([.mine[].mine] | add) == .metrics[0].total' <<<"$output"
}

@test "summary: the hottest stacks are of all threads, the innermost function first" {
	folded >stacks
	printed report --summary --stacks stacks --top-stacks 1
	grep -q '^ *80.0 *80  java.lang.StringBuilder.append < com.x.Json.write$' <<<"$output"
	grep -q '^ *< com.x.Server.serve < app$' <<<"$output"
	[[ $output != *"Json.write < com.x.Server.serve < app"*"Json.write <"* ]]
}

@test "summary: --mine says what the program's own functions are" {
	folded >stacks
	printed report --summary --stacks stacks --mine 'com.x.Server.*' --format json
	jq -e '.mine | length == 1 and .[0].name == "com.x.Server.serve" and .[0].mine == 99' <<<"$output"
	run_arcprof report --summary --stacks stacks --mine 'org.*' --format json
	jq -e 'has("mine") | not' <<<"$output"
	refused "--mine is only valid with --summary" report --xprof --stacks stacks --mine x
}

@test "summary: templates of the C++ library count for the program's function that calls them" {
	cat >stacks <<-'END'
		app;main;stem(std::string const&);char* std::__copy<true>::move<char>(char const*) 20
		app;main;stem(std::string const&);bool std::operator< <char>(std::string const&, std::string const&) 10
		app;main;std::vector<int> (anonymous namespace)::take<int>(int) 3
		app;main;std::vector<int> my::give<std::less<int> >(int);__gnu_cxx::__ops::end(int) 2
	END
	printed report --summary --stacks stacks --format json
	jq -e '.mine | map({(.name): [.self, .mine]}) | add == {"stem(std::string const&)": [0, 30],
		"std::vector<int> (anonymous namespace)::take<int>(int)": [3, 3], "std::vector<int> my::give<std::less<int> >(int)": [0, 2]}' <<<"$output"
}

@test "summary: in stacks names of C++ are without parameters, arguments of templates, and ways into threads" {
	tr '|' '\t' >tree <<-'END'
		# levels
		# n samples
		# metric cpu-clock ns
		0|0|0|app|process
		1|0|0|app|thread
		2|0|0|std::thread::_State_impl<std::thread::_Invoker<std::tuple<main::{lambda()#1}> > >::_M_run()|native|/bin/app
		3|0|0|__invoke<main()::<lambda()> >|native-inlined|/bin/app
		4|0|0|main::{lambda(int)#1}::operator()(int) const|native|/bin/app
		5|0|0|f(int)::{lambda()#2}::operator()() const|native|/bin/app
		6|0|0|std::vector<int> (anonymous namespace)::Index<int>::add(int)|native|/bin/app
		7|0|0|bool std::operator< <char>(std::string const&, std::string const&)|native|/bin/app
		8|9|9|__gthread_mutex_lock|native-inlined|/bin/app
	END
	printed report --summary --tree tree --format json
	jq -e '.mine | length == 1 and .[0].mine == 9 and (.[0].name | test("Index"))' <<<"$output"
	printed report --summary --tree tree
	[ "$(sed -n '/^Hottest stacks/,$p' <<<"$output" | sed -n '2,$p' | tr -s ' \n' ' ')" = " 100.0 9 ns __gthread_mutex_lock < std::operator< <> < (anonymous namespace)::Index<>::add < f::{lambda}::operator() < main::{lambda}::operator() What stands out there are 9 samples only: small shares are chance " ]
}

@test "summary: it is the default on a terminal, and what was piped stays" {
	skip_unless_terminal
	arcprof report --xarc -i "$TOP/t/data/mixed/trace" >xarc
	arcprof report -i "$TOP/t/data/mixed/trace" | cmp - xarc
	on_terminal "$ARCPROF" --no-pager report -i "$TOP/t/data/mixed/trace" >terminal
	grep -q "Hottest stacks" terminal
	on_terminal "$ARCPROF" --no-pager report --limit 3 -i "$TOP/t/data/mixed/trace" >terminal
	grep -q "Parent" terminal
}

@test "summary: lines of text end where a terminal does, and commands are in one piece" {
	skip_unless_terminal
	on_terminal "$ARCPROF" --no-pager --color=never report --summary -i "$TOP/t/data/facts/trace" >terminal
	sed -n '2,/^$/p; /^What stands out/,$p' terminal >text
	awk 'length($0) > 80 { print; bad = 1 } END { exit bad || NR < 6 }' text
	grep -q '^      arcprof report --xtree --metric=wall$' text
	printed report --summary -i "$TOP/t/data/facts/trace"
	grep -q '^  threads that could .*: arcprof report --xtree --metric=wall$' <<<"$output"
}

@test "summary: as Markdown, names are code and tables are tables" {
	printf 'app;a|b`c 3\napp;x;y 1\n' >stacks
	printed report --summary --stacks stacks --format markdown
	[[ $output == *"| %Self | Self | Function |"$'\n'"|--:|--:|:--|"* || $output == *"| %Self | %Mine | Mine | Function |"* ]]
	[[ $output == *'`a\|b'"'"'c` |'* ]]
	[[ $output == *"### Hottest stacks"*"- 75.0 %, 3: "* && $output == *': `y < x < app`'* ]]
	# each row has as many cells as the head
	awk -F '|' '/^\|/ { gsub(/\\\|/, ""); if (n && NF != n) exit 1; n = NF } !/^\|/ { n = 0 }' <<<"$output"
}

@test "summary: a note says that shares of few samples are chance" {
	printf 'p;f 60\np;g 39\n' >stacks
	printed report --summary --stacks stacks
	[[ $output == *"What stands out"*"there are 99 samples only"* ]]
	printf 'p;f 60\np;g 40\n' >stacks
	printed report --summary --stacks stacks
	[[ $output != *"What stands out"* ]]
}

@test "summary: what its rows cannot be is refused" {
	folded >stacks
	refused "--sort does not apply to --summary" report --summary --stacks stacks --sort name
	refused "--limit does not apply to --summary" report --summary --stacks stacks --limit 2
	refused "--format=csv is not valid with --summary" report --summary --stacks stacks --format csv
}

@test "summary: threads that wait for work are apart from those that wait inside it" {
	skip_unless_wall
	use_any_jdk
	arcprof record -q -e cpu,wall=4ms,alloc,lock -o trace -- java -cp "$CLASSES" Idlers 2
	printed report --summary -i trace --format json
	# eight of the pool, and main, which joins; the JVM's own come on top
	jq -e '.idle.threads >= 9 and .idle.wait > 8 * 1.5e9' <<<"$output"
	jq -e '.waits[0] | .name == "Idlers.work" and .reason == "[sleep]" and .wait > .3e9 and .wait < 2.5e9' \
		<<<"$output"
	jq -e '[.waits[] | select(.name | test("ThreadPool|Queue|join"))] == []' <<<"$output"
	jq -e '.allocations[0] | .name == "Idlers.allocates" and .class == "byte[]"' <<<"$output"
	# nothing is lost: waits, idle ones and the rest are the whole of wall
	printed report --xtree --metric wall --off-cpu -i trace --format json
	blocked=$(jq '[.nodes[].base[0]] | add' <<<"$output")
	printed report --summary -i trace --format json
	jq -e --argjson all "$blocked" '([.waits[].wait] | add) + .idle.wait | . > $all * .97 and . <= $all' \
		<<<"$output"
}

# A first thread that waits for its workers, for the answer of a server, and for files.
waits() {
	printf '# levels\n# n samples\n# metric wall ns\n'
	tr '|' '\t' <<'EOT'
0|0|0|java|process
1|0|0|main|thread
2|0|0|Shop.main|java
3|0|0|java.util.concurrent.FutureTask.get|java
4|8|8000000000|[park: java.util.concurrent.FutureTask]|reason
3|0|0|jdk.internal.net.http.HttpClientImpl.send|java
4|0|0|java.util.concurrent.CompletableFuture.get|java
5|1|100000000|[park: java.util.concurrent.CompletableFuture$Signaller]|reason
3|0|0|Shop.load|java
4|0|0|java.io.FileInputStream.read|java
5|0|0|vfs_read|kernel
6|0|0|[read: file]|reason
7|2|2000000000|/srv/catalog|file
7|1|1000000000|/srv/prices|file
1|0|0|http-1|thread
2|0|0|Shop.serve|java
3|0|0|java.util.concurrent.FutureTask.get|java
4|1|500000000|[park: java.util.concurrent.FutureTask]|reason
EOT
}

@test "summary: a first thread that waits for its workers is idle, any other is not" {
	waits >tree
	printed report --summary --tree tree --format json
	jq -e '.idle == {"wait": 8e9, "threads": 1}' <<<"$output"
	jq -e '[.waits[] | [.wait, .reason, .name]] == [[3e9, "[read: file]", "Shop.load"],
		[5e8, "[park: java.util.concurrent.FutureTask]", "Shop.serve"],
		[1e8, "[park: java.util.concurrent.CompletableFuture$Signaller]", "Shop.main"]]' <<<"$output"
}

@test "summary: waits for files have the name of the one with most" {
	waits >tree
	printed report --summary --tree tree
	grep -q '^ \{22\}/srv/catalog and 1 more$' <<<"$output"
	printed report --summary --tree tree --format json
	jq -e '[.waits[] | [.file, .files]] == [["/srv/catalog", 2], [null, null], [null, null]]' <<<"$output"
	printed report --summary --tree tree --format markdown
	grep -qF '| `[read: file]` | `/srv/catalog` | `Shop.load` |' <<<"$output"
}

@test "summary: a note says why nothing is known about live objects" {
	use_any_jdk
	arcprof record -q -e live=16k -o trace -- java -Xmx64m -cp "$CLASSES" Kept return 2>err
	printed report --summary trace
	grep -q 'no collection has told which objects are still there: arcprof record -e live --live-gc$' <<<"$output"
	arcprof record -q -e live=64M --live-gc -o trace -- java -Xmx64m -cp "$CLASSES" Kept return 2>err
	printed report --summary trace
	grep -q 'live objects are too few ([0-9]*) to tell what grows: arcprof record -e live=16k --live-gc$' <<<"$output"
}

@test "summary: who allocates native memory is shown, by the call" {
	tr '|' '\t' >tree <<-'END'
		# levels
		# n samples
		# metric native-memory bytes
		0|0|0|app|process
		1|0|0|app|thread
		2|0|0|ns::Index::add(int)|native|/bin/app
		3|0|0|std::vector<int>::push_back(int const&)|native|/bin/app
		4|3|3000|operator new(unsigned long)|native|/lib/libstdc++.so.6
		3|1|1000|malloc|native|/lib/libc.so.6
	END
	printed report --summary --tree tree --format json
	jq -e '[.native_allocations[] | [.allocated, .name, .call]] == [[3000, "ns::Index::add(int)", "operator new(unsigned long)"],
		[1000, "ns::Index::add(int)", "malloc"]]' <<<"$output"
	printed report --summary --tree tree
	grep -q '^ *75.0 *3.00 [kK]i*B  ns::Index::add(int)  *operator new(unsigned long)$' <<<"$output"
}

@test "summary: of a program that hardly computes it says that its waits were not recorded" {
	skip_unless_perf
	arcprof record -q -F 2000 -o trace -- sh -c 'i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done; sleep 0.3' 2>err
	printed report --summary trace
	[[ $output =~ it\ used\ 0\.[0-9]+\ CPUs\;\ what\ its\ threads\ waited\ for\ was\ not\ recorded:\ arcprof\ record\ -e\ cpu,wall ]]
	# of a part that was chosen nothing is missing
	printed report --summary --metric cpu-clock trace
	[[ $output != *"was not recorded"* ]]
	printed report --summary --from 1ms trace
	[[ $output != *"was not recorded"* ]]
}
