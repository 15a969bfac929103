#!/usr/bin/env bats
# bats file_tags=stored
load ../lib

DATA=$TOP/t/data
AC=$DATA/ac_test
MIXED=$DATA/mixed/trace

# The lines of one kind in the published results, without the kind.
published() {
	grep "^$1	" "$AC/ac_test.expected.tsv" | cut -f 2-
}

@test "report: the model of AC_test is Table 3 of the paper" {
	arcprof report --events "$AC/ac_test.events" --xtree --format csv >tree.csv
	# id,parent,level,rl,name,kind,module,n,base,cum -> path, n, base; the thread is left out
	awk -F, 'NR > 1 {
		path[$1] = $2 == "" ? "" : (path[$2] == "" ? $5 : path[$2] ";" $5)
		if ($2 != "")
			print path[$1] "\t" $8 "\t" $9
	}' tree.csv >got
	published model | diff - got
}

@test "report: xprof of AC_test is Figure 6" {
	arcprof report --events "$AC/ac_test.events" --xprof |
		awk 'NR > 4 && NF == 8 { print $7 "\t" $1 "\t" $2 "\t" $3 "\t" $8 }' >got
	published xprof | diff - got
	[ "$(arcprof report --events "$AC/ac_test.events" --xprof | tail -n 1)" -eq 13 ]
}

@test "report: xtree of AC_test is Figure 5" {
	arcprof report --events "$AC/ac_test.events" --xtree |
		awk 'NR > 4 { print $1 "\t" $3 "\t" $4 "\t" $5 "\t" $NF }' >got
	published xtree | diff - got
}

@test "report: xarc of AC_test is Figure 4, and the default" {
	arcprof report --events "$AC/ac_test.events" >xarc
	arcprof report --events "$AC/ac_test.events" --xarc | diff xarc -
	awk 'function flush(i) { for (i = 1; i <= n; i++) print self "\t" rows[i]; n = 0 }
		/^=======$/ { flush(); next }
		$1 == "Self" { self = $NF }
		$1 ~ /^(Parent|Self|Child)$/ { rows[++n] = tolower($1) "\t" $2 "\t" $3 "\t" $4 "\t" $NF }' xarc >got
	published xarc | diff - got
}

@test "report: a total of one has its unit in the singular" {
	printf '# levels\n# n samples\n# metric notify calls\n0\t1\t%s\tmain\tnative\t\n' 1 >one
	sed 's/\t1\tmain/\t2\tmain/' one >two
	arcprof report --tree one | head -n 1 | grep '^1 call of notify'
	arcprof report --tree two | head -n 1 | grep '^2 calls of notify'
}

@test "report: --tree reads what --format tree wrote, whatever the input was" {
	for input in "--events $AC/ac_test.events" "-i $MIXED"; do
		# shellcheck disable=SC2086
		arcprof report $input --format tree >one
		arcprof report --tree one --format tree >two
		diff one two
		# shellcheck disable=SC2086
		arcprof report $input --xprof --format csv >from-input
		arcprof report --tree one --xprof --format csv | diff from-input -
	done
}

@test "report: --format folded has every context once, and adds up to the profile" {
	for input in "-i $MIXED" "-i $DATA/java/trace" "--events $AC/ac_test.events"; do
		# shellcheck disable=SC2086
		arcprof report $input --format folded >stacks
		# shellcheck disable=SC2086
		arcprof report $input --xprof --format json >want.json
		python3 - <<-'END'
			import json, re
			want = json.load(open("want.json"))
			lines = [re.fullmatch(r"(.+) (\d+)", line.rstrip("\n")).groups() for line in open("stacks")]
			assert len({stack for stack, value in lines}) == len(lines)
			assert sum(int(value) for stack, value in lines) == want["metrics"][0]["total"]
			base = {}
			for stack, value in lines:
			    last = stack.split(";")[-1]
			    base[last] = base.get(last, 0) + int(value)
			rows = {}
			for row in want["rows"]:
			    name = row["name"].replace(";", ":")
			    number = {"process": row.get("pid"), "thread": row.get("tid")}.get(row["kind"])
			    if number:
			        name += " [%s %d]" % ("pid" if row["kind"] == "process" else "tid", number)
			    if row["base"][0]:
			        rows[name] = rows.get(name, 0) + row["base"][0]
			assert base == rows, (base, rows)
		END
		# what --stacks makes of it has the same functions with the same values
		arcprof report --stacks stacks --format folded | diff <(sort stacks) <(sort)
	done
}

@test "report: --format folded keeps names apart from separators and values" {
	printf '# levels\n0\t1\t0\tmain\n1\t1\t5\tf(La;I)V\n1\t1\t4\tWorker 12\n1\t1\t2\tx\033y\n' >tree
	printf 'main;f(La:I)V 5\nmain;Worker_12 4\nmain;x\\x1by 2\n' |
		diff - <(arcprof report --tree tree --format folded)
	printf '# metric cpu ns\n# metric faults\nmain;a 5 3\nmain;b 4 0\n' >stacks
	run_arcprof report --stacks stacks --format folded --metric faults
	[ "$output" = "main;a 3" ]
	# without consumption: how often
	printf '# levels\n0\t7\t0\tmain\n' >tree
	run_arcprof report --tree tree --format folded
	[ "$output" = "main 7" ]
}

@test "report: --format pprof is the profile, read by its wire format alone" {
	for input in "-i $MIXED" "-i $DATA/java/trace" "-i $DATA/branches/trace"; do
		# shellcheck disable=SC2086
		arcprof report $input --format pprof | "$TOP/t/pprof-read" >got.json
		# shellcheck disable=SC2086
		arcprof report $input --xprof --format json >want.json
		python3 - <<-'END'
			import json
			got, want = json.load(open("got.json")), json.load(open("want.json"))
			units = {"ns": "nanoseconds", "events": "count"}
			types = [[want["n_means"], "count"]]
			types += [[m["name"], units.get(m["unit"], m["unit"])] for m in want["metrics"]]
			assert got["sample_types"] == types, got["sample_types"]
			assert got["default_sample_type"] == want["metrics"][0]["name"]
			assert got["duration_nanos"] == want["source"]["duration_ns"]
			assert "command: %s" % want["source"]["command"] in got["comments"] + ["command: None"]
			threads = {"process", "thread"}
			base, rows = {}, {}
			for s in got["samples"]:
			    name = s["stack"][0]["lines"][0]["name"]
			    if "[tid " in name or "[pid " in name:
			        name = name[:name.rindex(" [")]
			    base[name] = base.get(name, 0) + s["values"][1]
			    assert threads < set(s["labels"]), s["labels"]
			for r in want["rows"]:
			    rows[r["name"]] = rows.get(r["name"], 0) + r["base"][0]
			assert {n: v for n, v in base.items() if v} == {n: v for n, v in rows.items() if v}
		END
	done
}

@test "report: --format pprof has what is inlined in its code, lines, labels and build-ids" {
	arcprof report -i "$MIXED" --format pprof | "$TOP/t/pprof-read" >got.json
	# innermost first: what is inlined, then the code that it is in; the line is that of the call
	[ "$(json '[.samples[] | .stack[0].lines | select(length > 1) | map(.name) | join(" < ")] | unique | .[0]' got.json)" = \
		"java.lang.Math.max < demo.Demo.fib" ]
	[ "$(json '[.samples[].values[0]] | add' got.json)" -eq 100 ]
	[ "$(json '[.samples[] | select(.labels.tid == 4243 and .labels.thread == "main" and .labels.process == "java" and .labels.pid == 4242) | .values[0]] | add' got.json)" -eq 97 ]
	period='"\(.period) \(.period_type | join(" "))"'
	[ "$(json "$period" got.json)" = "1000000 cpu-clock nanoseconds" ]
	grep -q '"time_nanos": 1700000000123456789,' got.json
	# the period is that of the event, whatever calls consumed
	arcprof report -i "$DATA/calls/trace" --format pprof | "$TOP/t/pprof-read" >got.json
	[ "$(json .default_sample_type got.json)" = cpu ]
	[ "$(json "$period" got.json)" = "5000000 cpu-clock nanoseconds" ]
	[ "$(json '.sample_types | map(.[0]) | join(" ")' got.json)" = "calls cpu wall cpu-clock samples" ]
	arcprof report -i "$DATA/java/trace" --format pprof | "$TOP/t/pprof-read" >got.json
	[ "$(json '.mappings[] | select(.[0] | endswith("libjvm.so"))[1]' got.json)" = 97da31b249941f25ff26a6126471221bb579d67f ]
	[ "$(json '[.samples[].stack[].lines[] | select(.name == "java.lang.Thread.run") | "\(.file):\(.line)"] | unique[0]' got.json)" = Thread.java:840 ]
}

@test "report: --format pprof is for files and pipes, not for a terminal" {
	skip_unless_terminal
	run on_terminal "$ARCPROF" report -i "$MIXED" --format pprof
	[[ $output == *"standard output is a terminal, and --format=pprof is nothing to read"* ]]
}

@test "report: stacks and trees give the same model as events" {
	arcprof report --events "$AC/ac_test.events" --xtree --format csv | awk -F, 'NR > 1 {
		path[$1] = $2 == "" ? $5 : path[$2] ";" $5
		print path[$1] " " $9 >"stacks"
		print path[$1] "\t" $8 "\t" $9 >"tree"
	}'
	arcprof report --events "$AC/ac_test.events" --xprof --format csv | cut -d , -f 2,6,7 | sed 1d | sort >want
	arcprof report --stacks stacks --xprof --format csv | cut -d , -f 2,6,7 | sed 1d | sort | diff want -
	arcprof report --tree tree --xprof --format csv | cut -d , -f 2,6,7 | sed 1d | sort | diff want -
	arcprof report --tree tree --xprof | tail -n 1 | grep -qx ' *13'
}

@test "report: several numbers are several metrics, in groups" {
	printf '# metric cpu ns\n# metric faults\nmain;a 100 3\nmain;b 200 0\nmain;a;a 50 1\n' >stacks
	run_arcprof report --stacks stacks --xprof --format json
	[ "$(json '.metrics | map("\(.name) \(.unit) \(.total)") | join(",")')" = "cpu ns 350,faults  4" ]
	[ "$(json '.rows[] | select(.name == "a") | [.n] + .base + .cum + .cum_recursive | join(" ")')" = "2 150 4 150 4 50 1" ]
	run_arcprof report --stacks stacks --xprof --metric faults,cpu --format json
	[ "$(json '.metrics | map(.name) | join(" ")')" = "faults cpu" ]
	[ "$(json '.rows[] | select(.name == "b") | .base | join(" ")')" = "0 200" ]
	run_arcprof report --stacks stacks --metric cycles
	[ "$status" -eq 1 ]
	[[ $stderr == *"unknown metric 'cycles' (available: cpu, faults)"* ]]
	run_arcprof report --stacks stacks --xprof
	[[ $output == *"Samples   %Base    %Cum %Cum2   Base   Cum   %Base    %Cum %Cum2   Base   Cum  Ind  Name"* ]]
}

@test "report: recursion goes to r-rows, and cum counts nothing twice" {
	printf 'f;f;f 4\nf;g;f 2\nf 1\n' >stacks
	run_arcprof report --stacks stacks --xarc --format json
	f='.stanzas[] | select(.name == "f")'
	[ "$(json "$f | .self | [.n] + .base + .cum | join(\" \")")" = "1 1 7" ]
	[ "$(json "$f | .rself | [.n] + .base + .cum | join(\" \")")" = "6 6 10" ]
	[ "$(json "$f | .parents | length")" -eq 0 ]
	[ "$(json "$f | .rparents | map(\"\(.name) \(.cum[0])\") | join(\",\")")" = "g 2,f 8" ]
	run_arcprof report --stacks stacks --check
	[ "$status" -eq 0 ]
}

@test "report: a consumer that is a root here and called there keeps the sums by a root row" {
	printf 'a;b 1\nb 2\n' >stacks
	run_arcprof report --stacks stacks --xarc --format json
	[ "$(json '.stanzas[] | select(.name == "b") | .parents | map("\(.name) \(.index) \(.cum[0])") | join(",")')" \
		= "a 1 1,[root] null 2" ]
	run_arcprof report --stacks stacks --xarc
	[[ $output == *"    -) [root]"* ]]
}

@test "report: text, JSON and CSV say the same" {
	for r in xprof xtree; do
		arcprof report -i "$MIXED" --$r --format json |
			jq -r '(.rows // .nodes)[] | "\(.n) \(.base[0]) \(.cum[0])"' >json
		arcprof report -i "$MIXED" --$r --format csv | sed 1d | python3 -c '
import csv, sys
for r in csv.reader(sys.stdin):
    print(*(r[-4:-1] if sys.argv[1] == "xprof" else r[-3:]))' $r | diff json -
		arcprof report -i "$MIXED" --$r --absolute |
			awk -v r=$r '/^ *[0-9]/ && !/cpu-clock/ { if (r == "xprof" && NF > 3) print $1, $2, $3; if (r == "xtree") print $3, $4, $5 }' |
			diff json -
	done
	arcprof report -i "$MIXED" --xarc --format json >xarc.json
	arcprof report -i "$MIXED" --xarc --format csv >xarc.csv
	python3 - <<-'END'
		import csv, json
		rows = list(csv.DictReader(open("xarc.csv")))
		key = {"parents": "parent", "children": "child", "rparents": "rparent", "rchildren": "rchild"}
		got = []
		for s in json.load(open("xarc.json"))["stanzas"]:
		    for k in ("parents", "self", "children", "rparents", "rself", "rchildren"):
		        for r in ([s[k]] if k.endswith("self") else s[k]) if s[k] else []:
		            got.append((s["index"], key.get(k, k), r["n"], r["base"][0], r["cum"][0]))
		want = [(int(r["stanza"]), r["row"], int(r["n"]), int(r["base:cpu-clock"]), int(r["cum:cpu-clock"])) for r in rows]
		assert got == want, (got, want)
	END
}

@test "report: JSON has the documented shape" {
	for r in xarc xtree xprof tprof; do
		arcprof report -i "$MIXED" --$r --format json >$r.json
	done
	python3 - <<-'END'
		import json
		for name, key in ("xarc", "stanzas"), ("xtree", "nodes"), ("xprof", "rows"), ("tprof", "stanzas"):
		    j = json.load(open(name + ".json"))
		    assert j["arcprof"]["report"] == name and j["arcprof"]["version"]
		    assert set(j["source"]) == {"command", "host", "start", "duration_ns", "lost", "rate_hz", "rate_mode"}
		    assert j["source"]["duration_ns"] == 105000000 and j["source"]["lost"] == 3
		    assert j["n_means"] == "samples"
		    assert j["metrics"] == [{"name": "cpu-clock", "unit": "ns", "total": 100000000}]
		    assert j[key]
		nodes = json.load(open("xtree.json"))["nodes"]
		seen = set()
		for n in nodes:
		    assert n["parent"] is None or n["parent"] in seen
		    seen.add(n["id"])
		assert sum(n["n"] for n in nodes) == 100
		assert sum(n["base"][0] for n in nodes) == 100000000
		kinds = {n["kind"] for n in nodes}
		assert kinds == {"process", "thread", "native", "java-interpreted", "java-compiled", "java-inlined", "kernel",
		                 "stub", "unresolved", "mark"}, kinds
		main = [n for n in nodes if n["kind"] == "thread" and n["name"] == "main"]
		assert main[0]["tid"] == 4243 and main[0]["pid"] == 4242
		t = json.load(open("tprof.json"))
		assert t["total_ticks"] == 100 and len(t["stanzas"]) == 8
		def check(tree, ticks):
		    assert sum(x["ticks"] for x in tree) == ticks
		    for x in tree:
		        if x["children"]:
		            check(x["children"], x["ticks"])
		for s in t["stanzas"]:
		    check(s["tree"], 100)
	END
}

@test "report: the first line says what was measured and what is missing" {
	run_arcprof report -i "$MIXED" --xprof
	[ "${output%%$'\n'*}" = "100 ms of cpu-clock in 2 threads over 105 ms, 100 samples at 998.7 Hz, 3 lost, 99.0 % complete stacks (1 without); showing 100 %" ]
	[[ $output == *"incomplete stacks: 1 [unwalkable: JVM stub without a frame]"* ]]
	[[ $output == *"not recorded: kernel frames"* ]]
	run_arcprof report -i "$MIXED" --xprof --thread main
	[[ ${output%%$'\n'*} == "97.0 ms of cpu-clock in 1 thread"*"showing 97.0 %" ]]
}

@test "report: stacks are complete, or not, whatever functions rules leave out" {
	echo 'exclude_method *' >rules
	arcprof report -i "$TOP/t/data/mixed/trace" --xprof >all
	arcprof report -i "$TOP/t/data/mixed/trace" --xprof --config rules >none
	diff <(head -n 2 all) <(head -n 2 none)
	grep -q ' 99.0 % complete stacks (1 without);' none
}

@test "report: selections apply to the nodes of a path" {
	total() {
		arcprof report -i "$MIXED" --xprof --format json "$@" | jq '.metrics[0].total / 1000000'
	}
	[ "$(total --pid 4242)" -eq 100 ]
	[ "$(total --pid 1)" -eq 0 ]
	[ "$(total --tid 4242)" -eq 3 ]
	[ "$(total --tid 4242,4243)" -eq 100 ]
	[ "$(total --comm java --thread main)" -eq 97 ]
	[ "$(total --symbol demo.Demo.fib)" -eq 89 ]
	[ "$(total --symbol 'java.lang.*')" -eq 55 ]
	[ "$(total --symbol 'java.lang.*' --symbol Interpreter)" -eq 60 ]
	[ "$(total --module libjvm.so)" -eq 98 ]
	[ "$(total --module libjvm.so --tid 4242)" -eq 2 ]
	[ "$(total --from 10ms)" -lt 100 ]
	[ "$(($(total --from 20ms) + $(total --to 20ms)))" -eq 100 ]
	[ "$(($(total --cpu 0) + $(total --cpu 1,2) + $(total -C 3)))" -eq 100 ]
}

@test "report: folding and merging keep all sums" {
	for o in "--fold module" "--fold class" "--fold package" --merge-threads --merge-processes --hide-inlined \
		--hide-kernel --by-kind "--prune 20" --signatures --addresses --lines; do
		# shellcheck disable=SC2086
		run_arcprof report -i "$MIXED" --xtree --format json $o
		[ "$status" -eq 0 ]
		[ "$(json '[.nodes[].base[0]] | add')" -eq 100000000 ]
		[ "$(json '[.nodes[].n] | add')" -eq 100 ]
		# shellcheck disable=SC2086
		run_arcprof report -i "$MIXED" --check $o
		[ "$status" -eq 0 ]
	done
	run_arcprof report -i "$MIXED" --xprof --format json --hide-inlined
	[ "$(json '.rows[] | select(.name == "demo.Demo.fib") | .base[0]')" -eq 81000000 ]
	run_arcprof report -i "$MIXED" --xprof --format json --signatures
	[ "$(json '.rows[] | select(.name == "demo.Demo.fib(I)I") | .base[0]')" -eq 26000000 ]
}

@test "report: objects stand below the classes that created them" {
	printf '%s\t\t\t0\n' '0	0	0	app	process' '1	0	0	main	thread' '2	0	0	demo.Main.main	java' \
		'3	2	200	demo.Order	class' '3	0	0	demo.Order.<init>	java' '4	3	300	demo.Item	class' \
		'4	1	900	java.util.ArrayList.add	java' '5	1	100	java.lang.Object[]	class' \
		'3	0	0	[stub]	stub' '4	1	50	byte[]	class' '2	1	7	demo.Main	class' |
		{ printf '# levels\n# n samples\n# metric alloc bytes\n'; cat; } >tree
	arcprof report --tree tree --created --xtree --format csv >csv
	cat csv
	awk -F, 'NR > 1 {
		path[$1] = $2 == "" ? $5 : path[$2] ";" $5
		if ($8)
			print path[$1], $6, $8, $9
	}' csv | sort >got
	diff - got <<-'END'
	app;main;[java];byte[] class 1 50
	app;main;demo.Main class 1 7
	app;main;demo.Main;demo.Order class 2 200
	app;main;demo.Order;demo.Item class 3 300
	app;main;java.util.ArrayList;java.lang.Object[] class 1 100
	END
	run_arcprof report --tree tree --created --xtree --hide '^java' --format folded
	[[ "$output" == *"demo.Order;java.lang.Object[] 100"* ]]
	run_arcprof report --tree "$DATA/sources/tree" --created
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"such as --metric alloc,objects: 'cpu' is not"* ]]
	run_arcprof report -i "$MIXED" --created
	[[ "$stderr" == *"unknown metric 'alloc'"*"hint: 'arcprof record -e alloc' records it"* ]]
	run_arcprof report -i "$MIXED" --created --blame
	[ "$status" -eq 2 ]
}

@test "report: --locks says which locks are counted" {
	arcprof report -i "$DATA/facts/trace" --locks >locks
	grep -F -e '-: not counted; record --lock-exact counts locks of the classes that it names' locks
}

@test "report: pruning leaves a connected tree and says what is shown" {
	run_arcprof report -i "$MIXED" --xtree --prune 10 --format json
	[ "$(json '[.nodes[] | select(.name == "[pruned]") | .base[0]] | add')" -eq 17000000 ]
	[ "$(json .quality.shown)" = 0.83 ]
	run_arcprof report -i "$MIXED" --xtree --prune 10
	[[ ${output%%$'\n'*} == *"showing 83.0 %" ]]
}

@test "report: order and limits are as asked" {
	[ "$(arcprof report -i "$MIXED" --xprof --sort base --limit 2 --format csv | cut -d , -f 2 | tr '\n' ' ')" \
		= "name java.lang.Math.max demo.Demo.fib " ]
	[ "$(arcprof report -i "$MIXED" --xprof --sort name --limit 1 --format csv | tail -n 1 | cut -d , -f 2)" = Interpreter ]
	[ "$(arcprof report -i "$MIXED" --xarc --limit 3 --format json | jq '.stanzas | length')" -eq 3 ]
	[ "$(arcprof report -i "$MIXED" --xtree --limit 4 --format json | jq '.nodes | length')" -eq 4 ]
	[ "$(arcprof report -i "$MIXED" --xtree --limit 1 --format json | jq '.nodes | length')" -eq 1 ]
}

@test "report: tprof clips and selects stanzas" {
	run_arcprof report -i "$MIXED" --tprof --stanza ms --clip 5
	[ "$status" -eq 0 ]
	[[ $output == *" TOTAL TICKS            100
 (Clipping Level :   5.0 %    5 Ticks)"* ]]
	[[ $output != *")) Process"* ]]
	[[ $output == *"
   MOD     86 86.00    JITCODE
    SYM     81 81.00     demo.Demo.fib
    SYM      5  5.00     Interpreter

   MOD      8  8.00    [kernel.kallsyms]
    SYM      8  8.00     asm_exc_page_fault"* ]]
	[[ $output != *INTERPRETED* ]]
	run_arcprof report -i "$MIXED" --tprof --stanza XY
	[ "$status" -eq 2 ]
	[[ $stderr == *"unknown stanza 'XY' (available: P, PM, "* ]]
	run_arcprof report --events "$AC/ac_test.events" --tprof
	[ "$status" -eq 1 ]
	[[ $stderr == *"tprof counts samples"* ]]
}

@test "report: bad lines are named by number, with a failure" {
	fails() {
		printf '%b' "$2" >in
		run_arcprof report "--$1" in
		[ "$status" -eq 1 ]
		[ -z "$output" ]
		# shellcheck disable=SC2053
		[[ $stderr == "arcprof report: in: "$3 ]] || { echo "want: $3"; return 1; }
	}
	fails events '0 pidtid T\n1 > A\nx < A\n' "line 3: want 1 value, a kind and a name"
	fails events '0 pidtid T\n5 > A\n4 < A\n' "line 3: value 4 is lower than 5 before it"
	fails events '0 pidtid T\n\n5 ! A\n' "line 3: invalid line (expected one of*"
	fails events '0 > \n' "line 1: invalid line (expected one of*"
	fails events '# metric a\n# metric b\n0 > x\n' "line 3: 1 values, but 2 metrics were named"
	fails stacks 'a;b 1\na;b\n' "line 2: want a stack and 1 number"
	fails stacks 'a;b 1\na;;b 3\n' "line 2: empty name in the stack"
	fails stacks 'a 99999999999999999999\n' "line 1: want a stack and 1 number"
	fails tree 'a;b\t1\t2\na\t1\n' "line 2: want a path, n and 1 number, with tabs between"
	fails tree 'a\\x\t1\t2\n' "line 1: bad escape in a name"
	fails tree '# levels\n0\t1\t2\ta\n2\t1\t2\tb\n' "line 3: level 2 does not follow level 0"
	fails tree '# levels\n0\t1\t2\ta\tgreen\n' "line 2: unknown kind 'green'"
	fails tree '# nodes\n7\t0\t2\ta\n' "line 2: want path, parent, n, 1 number and a name, with tabs between"
	fails tree '# nodes\n7\t8\t1\t2\ta\n' "line 2: the parent '8' has no row"
	fails tree '# nodes\n7\t8\t1\t2\ta\n8\t7\t1\t2\ta\n' "line 3: the parent '7' is below this node itself"
	fails tree '# nodes\n7\t0\t1\t2\ta\n7\t0\t1\t2\tb\n' "line 3: path '7' has another parent or name than in line 2"
}

@test "report: events that do not nest are repaired, and the repairs shown" {
	printf '0 pidtid T\n1 > A\n2 > B\n3 < A\n4 < X\n5 > C\n' >in
	run_arcprof report --events in --xprof
	[ "$status" -eq 0 ]
	[[ $output == *"repaired: 1 left without having been entered, 1 closed because an outer one was left"* ]]
	run_arcprof report --events in --check
	[ "$status" -eq 0 ]
}

@test "report: text comes from standard input as -" {
	[ "$("$ARCPROF" report --stacks - --xprof --format csv <<<'a;b 3' | wc -l)" -eq 3 ]
}

@test "report: an empty text is an empty report" {
	: >in
	for kind in events stacks tree; do
		for r in xarc xtree xprof; do
			for f in text json csv tree; do
				run_arcprof report --$kind in --$r --format $f
				[ "$status" -eq 0 ]
				[ "$f" != json ] || jq . >/dev/null <<<"$output"
			done
		done
		run_arcprof report --$kind in --check
		[ "$status" -eq 0 ]
	done
}

@test "report: options that contradict each other are usage errors" {
	for o in "--events a --stacks b" "--events a --from 1s" "--from 2s --to 1s" "--prune 101" "--clip=-1" "--pid x"; do
		# shellcheck disable=SC2086
		run_arcprof report $o
		[ "$status" -eq 2 ]
		[ -z "$output" ]
	done
}

@test "report: a missing trace is an error that names it" {
	run_arcprof report -i nothing.here
	[ "$status" -eq 1 ]
	[[ $stderr == *"nothing.here"* ]]
}

@test "report: a truncated trace is reported as far as it goes, with a warning and status 1" {
	head -c $(($(stat -c %s "$MIXED") - 200)) "$MIXED" >cut
	run_arcprof report -i cut --xprof
	[ "$status" -eq 1 ]
	[[ $output == *" samples"*"Name"* ]]
	[[ $stderr == *"cut has no end"* ]]
}

@test "report: a damaged trace loses only the damaged part, and says so" {
	cp "$MIXED" damaged
	chmod u+w damaged
	printf 'XXXXXXXX' | dd of=damaged bs=1 seek=600 conv=notrunc status=none
	run_arcprof report -i damaged --xprof
	[ "$status" -eq 1 ]
	[[ $stderr == *"damaged is damaged:"* ]]
}

@test "report: --strict fails when samples were lost" {
	run_arcprof report -i "$MIXED" --xprof
	[ "$status" -eq 0 ]
	run_arcprof report -i "$MIXED" --xprof --strict
	[ "$status" -eq 1 ]
	[[ $output == *"showing 100 %"* ]]
	[[ $stderr == *"3 samples were lost"* ]]
}

@test "report: stacks of a hundred thousand frames work in every report" {
	awk 'BEGIN { for (i = 0; i < 100000; i++) printf "%sf%d", i ? ";" : "", i % 10; print " 1" }' >deep
	for r in xarc xtree xprof tprof; do
		run_arcprof report --stacks deep --$r --format csv
		[ "$status" -eq 0 ]
	done
	arcprof report --stacks deep --format tree >tree
	[ "$(wc -l <tree)" -eq 100003 ]
	arcprof report --tree tree --format tree | cmp - tree
	run_arcprof report --stacks deep --check
	[ "$status" -eq 0 ]
}

@test "report: names are cut in the middle on a terminal, and only there" {
	skip_unless_terminal
	long=$(printf 'x%.0s' $(seq 200))
	echo "begin$long.end 1" >in
	arcprof report --stacks in --xprof | grep -q "begin$long.end"
	on_terminal "$ARCPROF" report --no-pager --color=never --stacks in --xprof | grep '1  100.00' >line
	[ "$(tr -d '\n' <line | wc -c)" -eq 80 ]
	grep -q 'begin.*\.\.\..*\.end' line
}

@test "report: CSV quotes what needs it" {
	printf 'a,b;say "hi";c 1\n' >in
	arcprof report --stacks in --xprof --format csv | python3 -c '
import csv, sys
assert sorted(r["name"] for r in csv.DictReader(sys.stdin)) == ["a,b", "c", "say \"hi\""]'
}

# No bytes but lines of printable UTF-8: what a name in it says, a terminal does not obey.
plain() {
	iconv -f UTF-8 -t UTF-8 "$1" >/dev/null
	if LC_ALL=C grep -nP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]' "$1"; then
		return 1
	fi
}

@test "report: names are escaped in every report and format, and read back from a tree" {
	printf 'main;\e]0;title\a;=cmd|\xc2\x9b31m 5\nmain;+x\xff\t 3\nmain;-y\r\xe2\x80\xae 2\nmain;-3 1\n' >stacks
	for report in xprof xarc xtree rt tprof; do
		for format in text csv json tree; do
			arcprof report --stacks stacks --$report --format $format >out
			plain out
		done
	done
	# neither are formulas those of a spreadsheet, and numbers stay numbers
	arcprof report --stacks stacks --xprof --format csv >csv
	cut -d, -f 2 csv >names
	grep -qxF "\"'=cmd|\\xc2\\x9b31m\"" names
	grep -qxF "\"'+x\\xff\\t\"" names
	grep -qxF -e -3 names
	[ "$(grep -cE '^"?[=+@]' names)" -eq 0 ]
	arcprof report --stacks stacks --format tree >tree
	arcprof report --tree tree --format tree | diff tree -
	# what is JSON of either is the same, to the byte
	arcprof report --stacks stacks --xtree --sort name --format json | jq -c .nodes >want
	arcprof report --tree tree --xtree --sort name --format json | jq -c .nodes | diff want -
	jq -e 'map(.name) | index("=cmd|\u009b31m") and index("-y\r\u202e")' want
	printf '# metric two\\x20words\\n a;b\n# levels\n0\t1\t2\tx\n' >tree
	run_arcprof report --tree tree --xprof
	[[ $output == *" (two words\\n)"* ]]
	arcprof report --tree tree --format tree | grep -qxF '# metric two\x20words\n a\;b'
	run_arcprof report -i $'\e[31m\nred'
	printf '%s\n' "$stderr" >message
	plain message
	[[ $stderr == *'\x1b[31m\nred: '* ]]
}

@test "report: the name that a process gives itself is escaped everywhere" {
	skip_unless_perf
	name=$'=A\e[3m\n\x9b1m'
	cp "$(workload sleeps)" "./$name"
	arcprof record -F 999 -o trace -- "./$name" 5 5000000 >/dev/null 2>status
	plain status
	arcprof record -q --sched --no-samples -o sched -- "./$name" 5 100000 >/dev/null 2>&1 || true
	for format in text csv json; do
		for report in xprof tprof; do
			arcprof report -i trace --$report --format $format >out
			plain out
		done
		for report in threads sched; do
			arcprof report -i sched --$report --format $format >out 2>&1 || true
			plain out
		done
	done
	arcprof report -i trace --xtree --format tree >tree
	plain tree
	grep -qF '=A\x1b[3m\n\x9b1m' tree
	for format in text json; do
		arcprof dump -i trace --format $format >out
		plain out
	done
	arcprof dump -i trace | grep -qF '"=A\x1b[3m\n\x9b1m"'
}

# samples <metric>: how many there are of it, in the JSON of xprof
samples() {
	arcprof report -i trace --xprof --metric "$1" --format json | jq .quality.n
}

@test "report: samples of two events are never added up" {
	skip_unless_perf
	arcprof record -e page-faults,cpu-clock -o trace -- sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done; ls -R /usr/share >/dev/null' 2>status
	faults=$(samples page-faults) ticks=$(samples cpu-clock)
	[ "$faults" -gt 0 ]
	[ "$ticks" -gt 0 ]
	grep -q " $faults samples of page-faults, $ticks of cpu-clock in " status
	# the first event alone, and a word about the other
	run_arcprof report -i trace --xprof
	[[ $output == *", $faults samples, 0 lost"* ]]
	[[ $output == *"not shown (--metric shows it): $ticks samples of cpu-clock"* ]]
	[ "$(arcprof report -i trace --xarc --format json | jq .quality.n)" -eq "$faults" ]
	# both side by side, each with its samples, also from a tree
	arcprof report -i trace --metric cpu-clock,page-faults --format tree >tree
	for input in "-i trace" "--tree tree"; do
		# shellcheck disable=SC2086
		run_arcprof report $input --metric cpu-clock,page-faults --xprof
		[[ $output == *", $ticks samples of cpu-clock, $faults samples of page-faults"* ]]
		# shellcheck disable=SC2086
		arcprof report $input --metric cpu-clock,page-faults --xprof --format csv >csv
		[ "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "n") n = i } { t += $n } END { print t }' csv)" -eq "$ticks" ]
		[ "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "samples:page-faults") n = i } { t += $n } END { print t }' csv)" -eq "$faults" ]
	done
	# a tree of both has the functions of both
	arcprof report -i trace --metric page-faults --xprof --format csv >want
	arcprof report --tree tree --metric page-faults --xprof --format csv | grep -v ',0,0,0,0$' | diff want -
	arcprof report -i trace --tprof --metric cpu-clock --format json | jq -e ".total_ticks == $ticks"
	# each has its period
	arcprof report -i trace --tprof --metric page-faults | grep -q 'Event-based mode, page-faults, ticks every 1 events'
	arcprof report -i trace --tprof --metric cpu-clock | grep -q 'Time-based mode, ticks every [1-9][0-9]* microseconds'
	# and what is shown of each is what the trace has of it
	arcprof report -i trace --metric cpu-clock,page-faults --check >check
	[ "$(grep -c '^ok   n and Sum(Base) of' check)" -eq 2 ]
}

@test "report: a metric that is not there, or not for the report, is refused with those that are" {
	local data=$TOP/t/data
	refused() {
		local want=$1
		shift
		run_arcprof report "$@"
		[ "$status" -eq 1 ]
		[[ $stderr == *"$want" ]]
	}
	refused "unknown metric 'foo' (the trace has: cpu-clock)" -i "$MIXED" --metric foo
	refused "unknown metric 'foo' (the trace has: cpu, wall, cpu-clock)" -i "$data/calls/trace" --metric wall,foo
	refused "unknown metric 'foo' (available: instructions)" -i "$data/branches/trace" --metric foo
	refused "unknown metric 'foo' (available: cpu, cpu-clock, page-faults)" --tree "$data/sources/tree" --metric foo
	refused "metric 'cpu-clock' is of samples, which this report does not show" -i "$data/calls/trace" --rt --metric cpu-clock
	refused "metric 'wall' is of calls, which this report does not show" -i "$data/calls/trace" --tprof --metric wall
	# what JSON names can be asked for
	for name in $(arcprof report -i "$data/calls/trace" --xprof --format json | jq -r '.sources[].metrics[]'); do
		[ "$(arcprof report -i "$data/calls/trace" --metric "$name" --xprof --format json | jq -r '.metrics[0].name')" = "$name" ]
	done
}

@test "report: sources are distinguished in every format" {
	local data=$TOP/t/data
	arcprof report --tree "$data/sources/tree" --xtree --format json >tree
	[ "$(jq -c '[.sources[] | [.name, .kind, .n]]' tree)" = '[["calls","calls",30],["cpu-clock","samples",90],["page-faults","samples",7]]' ]
	[ "$(jq -c '[.nodes[].ns] | transpose | map(add)' tree)" = '[30,90,7]' ]
	[ "$(jq '[.nodes[] | .n == .ns[0]] | all' tree)" = true ]
	# one source: its n is n
	[ "$(arcprof report -i "$MIXED" --xtree --format json | jq -c '[.sources, (.nodes | any(has("ns")))]')" = \
		'[[{"name":"cpu-clock","kind":"samples","n":100,"metrics":["cpu-clock"]}],false]' ]
	# a tree of one metric has the n of its source alone, and calls to hang it in
	[ "$(arcprof report --tree "$data/sources/tree" --metric page-faults --xprof --format json | jq -c '[.sources[].n]')" = '[30,7]' ]
	# order by n is by that of the first metric
	[ "$(arcprof report --tree "$data/sources/tree" --metric page-faults --sort n --xprof --format json | jq -c '[.rows[].ns[1]]')" = '[4,2,1,0,0,0]' ]
}

@test "report: colours reach reports and messages, and only where they are wanted" {
	trace=$TOP/t/data/mixed/trace
	arcprof report -i "$trace" --xprof --color=always >coloured
	grep -q $'^\033\[1m.*Name\033\[0m$' coloured
	grep -q $'^\033\[31m' coloured
	# without its escape sequences it is the plain report
	sed $'s/\033\[[0-9]*m//g' coloured | cmp - <(arcprof report -i "$trace" --xprof --color=never)
	arcprof report -i "$trace" --xprof >plain
	! grep -q $'\033' plain || false
	run_arcprof report --color=always -i nowhere
	[[ $stderr == *$'\033[31mnowhere: No such file or directory\033[0m'* ]]
	run_arcprof report -i nowhere
	[[ $stderr != *$'\033'* ]]
}

@test "report: the kernel has one name, and --module takes it as it is" {
	for report in xprof xarc xtree tprof; do
		arcprof report -i "$MIXED" --$report --format csv >csv
		[ "$(grep -c vmlinux csv)" -eq 0 ]
	done
	arcprof report -i "$MIXED" --tprof --stanza M | grep -q ' 8.00 *\[kernel.kallsyms\]$'
	for module in '[kernel.kallsyms]' '*kernel*' '\[kernel.*'; do
		[ "$(arcprof report -i "$MIXED" --xprof --module "$module" --format json | jq .quality.n)" -eq 8 ]
	done
	branches=$DATA/branches/trace
	all=$(arcprof report -i "$branches" --arc | grep -vc '^#')
	some=$(arcprof report -i "$branches" --arc --symbol 'm*' | grep -vc '^#')
	[ "$some" -gt 0 ]
	[ "$some" -lt "$all" ]
}

@test "record: where only user code is sampled, the rate is the one that was set" {
	skip_unless_perf
	run_arcprof record -e cpu-clock:u -F 500 -o trace -- sh -c 'ls -R /usr/share >/dev/null'
	[[ $stderr == *" at 500.0 Hz in user code in "* ]]
	arcprof report -i trace --xprof --format json >json
	jq -e '.source.rate_mode == "user" and .source.rate_hz == 500' json
	[[ $(arcprof report -i trace | head -n 1) == *" at 500.0 Hz in user code, "* ]]
}

@test "report: rt says the same in text, JSON and CSV" {
	for input in "--events $AC/ac_test.events" "-i $MIXED --samples"; do
		# shellcheck disable=SC2086
		arcprof report $input --rt --format json >json
		# shellcheck disable=SC2086
		arcprof report $input --rt --format csv >csv
		# shellcheck disable=SC2086
		arcprof report $input --rt | sed -n '/^ LV /,/^$/p' | sed '/ Process :: /d; /^$/d; 1d' | awk '{ print $1, $2, $3 }' >text
		jq -r '.rows[] | select(.kind != "process") | "\(.level) \(.n) \(.callees)"' json | diff text -
		awk -F, 'NR > 1 && $1 != "" { print $1, $2, $3 }' csv | diff text -
		jq -r '.rows[] | "\(.n) \(.base[0]) \(.cum[0]) \(.delta[0] // "") \(.ds // "") \(.in // "")"' json >all
		awk -F, 'NR > 1 { print $2, $4, $5, $6, $7, $8 }' csv | diff all -
	done
	[ "$(jq '[.rows[] | select(.kind == "process") | .level == null] | all' json)" = true ]
}

# nothing <option>...: the report is printed, and says that nothing matches
nothing() {
	run_arcprof report "$@"
	[ "$status" -eq 1 ] && [ -n "$output" ] && [[ $stderr == *": nothing matches "* ]]
}

@test "report: a selection that matches nothing is an error that repeats it, and JSON stays whole" {
	for report in --xarc --xtree --xprof --rt --tprof "--xprof --format json" "--xprof --format csv" --check; do
		# shellcheck disable=SC2086
		nothing -i "$MIXED" $report --samples --symbol nosuch
		[[ $stderr == *": nothing matches --symbol 'nosuch'"*"hint: names are compared as a whole"* ]]
	done
	nothing -i "$MIXED" --format json --thread 'x*' --pid 1 --from 1h
	jq -e '.stanzas == []' <<<"$output"
	[[ $stderr == *"nothing matches --pid '1' --thread 'x*' --from"* ]]
	[[ $stderr != *hint:* ]]
	nothing --events "$AC/ac_test.events" --symbol Z
	nothing -i "$DATA/branches/trace" --arc --symbol nosuch
	# without a selection an empty report is none that fails
	printf '' >empty
	run_arcprof report --stacks empty
	[ "$status" -eq 0 ]
	run_arcprof report -i "$MIXED" --symbol 'demo.*'
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
}

@test "report: --correlate asks for its metrics itself, and its rows have the values of --xprof" {
	skip_unless_perf
	arcprof record -F 2000 -e cpu-clock,page-faults -o shares.data -- "$BUILD/t/workloads/shares" >/dev/null 2>&1
	arcprof report -i shares.data --correlate page-faults,cpu-clock --min-share 0 --format json >pairs
	arcprof report -i shares.data --xprof --metric page-faults,cpu-clock --format json >flat
	# every function with base, and its base and numbers of samples
	jq -c '[.rows[] | select(.base[0] > 0 or .base[1] > 0) | [.name, .module, .base[:2], .ns]] | sort' flat >want
	jq -c '[.rows[] | [.name, .module, .values, .ns]] | sort' pairs | diff want -
	jq -e '.truncated == false and ([.rows[].low] | . == (sort | reverse))' pairs
	jq -e '.rows | length > 3 and all(
		(.high == null or .low <= .high) and (.ratio == null or (.low <= .ratio and (.high == null or .ratio <= .high))))' pairs
	# what is hidden is counted
	run_arcprof report -i shares.data --correlate page-faults,cpu-clock --limit 2 --format json
	[ "$(json '.not_shown + 2')" -eq "$(jq '.rows | length' pairs)" ]
}

@test "report: --correlate wants two different metrics that the trace has" {
	tree=$DATA/sources/tree
	for bad in cpu cpu, ,cpu cpu,cpu cpu,cpu-clock,page-faults; do
		run_arcprof report --tree "$tree" --correlate "$bad"
		[ "$status" -eq 2 ]
		[[ $stderr == *"--correlate"*"'$bad'"* ]]
	done
	run_arcprof report --tree "$tree" --correlate cpu,bytes
	[ "$status" -eq 1 ]
	[[ $stderr == *"unknown metric 'bytes' (available: cpu, cpu-clock, page-faults)"* ]]
	run_arcprof report --stacks /dev/stdin --correlate calls,samples
	[ "$status" -eq 1 ]
	run_arcprof report --tree "$tree" --xprof --by context
	[ "$status" -eq 2 ]
	[[ $stderr == *"--by is only valid with --correlate"* ]]
}

# A report of a trace as it is follows few of the options that all have: it must refuse the others.
@test "report: an option that a report does not follow is refused" {
	local report options option
	cat >rows <<-'EOT'
		threads prune=20 absolute percent fold=module merge-threads merge-processes hide-kernel by-kind lines metric=x
		sched prune=20 absolute percent fold=module group=cgroup hide-kernel hide-inlined signatures
		wakers prune=20 absolute percent fold=module merge-threads hide-kernel hide-files addresses samples
		locks prune=20 percent fold=class hide-kernel lines collapse-plt replay
		leaks percent fold=package hide-kernel metric=x
		log percent fold=class merge-threads signatures
		gc percent fold=class
		jit percent fold=class
		classes percent fold=class
		exceptions percent fold=class
		marks percent merge-processes hide-kernel
		timeline sort=name columns=n limit=1 percent fold=class hide-kernel
		gen percent fold=class by-kind
		calls percent fold=class hide-kernel lines
		flow percent fold=class hide-kernel lines
		condu percent fold=class hide-kernel lines
		arc percent fold=module hide-kernel
	EOT
	while read -r report options; do
		for option in $options; do
			run_arcprof report "--$report" "--$option" "$TOP/t/data/mixed/trace"
			echo "--$report --$option -> $status: $stderr"
			[ "$status" -eq 2 ]
			[ "$stderr" = "arcprof report: --${option%%=*} does not apply to --$report" ]
		done
	done <rows
}

# There is no such file: what is followed goes on to that, and what is not is refused before.
@test "report: an option that does not apply to a report is refused by name" {
	local all="pid=1 tid=1 comm=x thread=x label=k=v cgroup=x container=x cpu=1 from=1s from-zero to=9s module=x symbol=x off-cpu"
	local report follows option name
	cat >rows <<-'EOT'
		threads pid tid comm thread label cgroup container cpu from from-zero to module symbol off-cpu
		sched pid tid comm thread cpu from from-zero to
		wakers pid tid comm thread from from-zero to
		locks pid comm
		leaks pid tid comm thread
		account pid tid comm thread
		log pid tid comm thread label cgroup container from from-zero to
		gc pid tid comm thread label cgroup container from from-zero to
		timeline pid tid comm thread label cgroup container from from-zero to
		gen pid tid comm thread label cgroup container from from-zero to module symbol off-cpu
		calls pid tid comm thread label cgroup container from from-zero to module symbol
		flow pid tid comm thread label cgroup container from from-zero to module symbol
		annotate=x pid tid comm thread cpu from from-zero to module
		arc pid tid comm thread from to module symbol
		xprof pid tid comm thread label cgroup container cpu from from-zero to module symbol off-cpu
	EOT
	while read -r report follows; do
		for option in $all; do
			name=${option%%=*}
			run_arcprof report "--$report" "--$option" nothing
			echo "--$report --$option -> $status: $stderr"
			if [[ " $follows " == *" $name "* ]]; then
				[[ $status -eq 1 && $stderr == *"nothing: No such file"* ]]
			else
				[[ $status -eq 2 && $stderr == "arcprof report: --$name does not apply to --${report%%=*}"* ]]
			fi
		done
	done <rows
	run_arcprof report --gen --cpu 1 nothing
	[ "$stderr" = "arcprof report: --cpu does not apply to --gen: calls do not say on which CPU they were" ]
	run_arcprof report --threads --no-calibrate nothing
	[ "$stderr" = "arcprof report: --no-calibrate does not apply to --threads" ]
}

@test "report: tables have the columns that are asked for, and the order where it is not their meaning" {
	follows_columns base,name - report -q -i "$MIXED" --xarc
	follows_columns base,level - report -q -i "$MIXED" --rt
	follows_columns ticks,name - report -q -i "$MIXED" --tprof
	follows_columns instructions,offset,symbol instructions report -q -i "$TOP/t/data/branches/trace" --arc
	set -- report -q -i "$TOP/t/data/java/trace" --annotate Seed.* --columns samples,row,line
	[ "$(arcprof "$@" --format csv | head -n 1)" = samples,row,line ]
	arcprof "$@" --format json | jq -e '.functions[0].rows[0] | keys == ["row", "samples"]' >/dev/null
	run_arcprof "$@"
	[[ $status -eq 2 && $stderr == *"--columns: of --annotate text is the source itself"* ]]
	run_arcprof report -q -i "$MIXED" --tprof --columns ticks --format json
	[[ $status -ne 0 && $stderr == *"in JSON --tprof is a tree"* ]]
}

# A column of a stored trace, as CSV has it: each value is that of the report without an order.
@test "report: rows are sorted by any column, and the columns are those that are asked for" {
	arcprof report -q -i "$MIXED" --xprof --format csv >all
	arcprof report -q -i "$MIXED" --xprof --format csv --sort module --columns module,name,n >by-module
	[ "$(head -n 1 by-module)" = module,name,n ]
	python3 - <<-'E'
		import csv
		rows = [[r["module"], r["name"], r["n"]] for r in csv.DictReader(open("all"))]
		got = list(csv.reader(open("by-module")))[1:]
		assert sorted(map(tuple, rows)) == sorted(map(tuple, got))
		modules = [r[0] for r in got]
		known = [m for m in modules if m]
		assert len(known) > 2 and known == sorted(known) and modules == known + [""] * (len(modules) - len(known))
	E
	arcprof report -q -i "$MIXED" --xprof --format json --sort +n --limit 3 --columns n >few
	[ "$(jq -c '.rows[0]' few)" = '{"n":0}' ]
	[ "$(jq '.rows | length' few)" -eq 3 ]
	[ "$(jq .not_shown few)" -eq $(($(wc -l <all) - 4)) ]
	# text: one that it does not show by itself, and the name in another place
	arcprof report -q -i "$MIXED" --xprof --columns name,samples --sort -samples --limit 1 | grep -A1 'Name  *Samples' | tail -n 1 >first
	[ "$(awk '{ print $NF }' first)" = "$(tail -n +2 all | cut -d, -f5 | sort -n | tail -n 1)" ]
	for wrong in "--columns=n,nothing" "--sort=nothing"; do
		run_arcprof report -q -i "$MIXED" --xprof "$wrong"
		[ "$status" -ne 0 ]
		[[ $stderr == *"${wrong%%=*}=nothing: no such column (expected one of: index, "* ]]
		[ -z "$output" ]
	done
	run_arcprof report -q -i "$MIXED" --xtree --sort module
	[[ $status -ne 0 && $stderr == *"--sort=module: --xtree is sorted by cum, base, n or name"* ]]
}

@test "report: --symbol finds functions by the last parts of their names" {
	printf 'p;a.b.Json.toJson;x 3\np;ns::f(int, char) 2\np;toJsonx 1\np;exact 5\np;a.exact 7\n' >stacks
	symbol_total() {
		"$ARCPROF" report --stacks stacks --xprof --format json --symbol "$1" | jq .metrics[0].total
	}
	[ "$(symbol_total toJson)" -eq 3 ]
	[ "$(symbol_total Json.toJson)" -eq 3 ]
	[ "$(symbol_total f)" -eq 2 ]
	[ "$(symbol_total exact)" -eq 5 ]
	[ "$(symbol_total exact,toJson)" -eq 8 ]
	run_arcprof report --stacks stacks --symbol son
	[[ $status -eq 1 && $stderr == *"nothing matches --symbol 'son'"* ]]
}

@test "report: expressions select stacks, leave them out, and charge functions to their callers" {
	cat >stacks <<-'END'
		main;Shop.buy;Json.write;memcpy 3
		main;Shop.buy;Json.write 4
		main;Shop.sell;malloc 5
		main;idle 6
	END
	base() {
		arcprof report --stacks stacks --xprof --format json "$@" |
			jq -r '.rows[] | select(.base[0] > 0) | "\(.name) \(.base[0])"' | sort | paste -s -d ,
	}
	[ "$(base --focus '^Shop[.]')" = "Json.write 4,malloc 5,memcpy 3" ]
	[ "$(base --focus 'Shop|idle' --ignore 'mem|mal')" = "Json.write 4,idle 6" ]
	[ "$(base --ignore '^Shop')" = "idle 6" ]
	[ "$(base --hide '^(Json|mem)')" = "Shop.buy 7,idle 6,malloc 5" ]
	[ "$(base --focus Json --hide Json)" = "Shop.buy 4,memcpy 3" ]
	run_arcprof report --stacks stacks --focus 'nobody'
	[[ $status -eq 1 && $stderr == *"nothing matches --focus 'nobody'"* ]]
	run_arcprof report --stacks stacks --hide '('
	[[ $status -ne 0 && $stderr == *"--hide: '(' is not a regular expression: "* ]]
}

@test "report: --normalize-names merges names that each run makes up, and nothing else" {
	cat >stacks <<-'END'
		main;Main$$Lambda/0x00007f0124001400.run 3
		main;Main$$Lambda+0x00007f0124009999.run 4
		main;Shop$$SpringCGLIB$$0.buy 5
		main;Shop$$SpringCGLIB$$17.buy 6
		main;Main.lambda$main$0 7
		main;Main.lambda$main$1 8
	END
	arcprof report --stacks stacks --xprof --format json | jq -r '.rows | length' >plain
	[ "$(cat plain)" -eq 7 ]
	arcprof report --stacks stacks --xprof --format json --normalize-names |
		jq -r '.rows[] | select(.base[0] > 0) | "\(.name) \(.base[0])"' | sort >names
	diff names - <<-'END'
		Main$$Lambda.run 7
		Main.lambda$main$0 7
		Main.lambda$main$1 8
		Shop$$SpringCGLIB$$*.buy 11
	END
	# so exports of two runs are the same file
	mkdir one two
	mv stacks one
	sed 's/0x00007f0124/0x000000a4c0/; s/\$\$17/$$3/' one/stacks >two/stacks
	for format in folded pprof speedscope callgrind otlp firefox; do
		for run in one two; do
			(cd $run && arcprof report -q --stacks stacks --format $format --normalize-names -o out)
		done
		cmp one/out two/out
	done
}
