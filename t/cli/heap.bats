#!/usr/bin/env bats
# Heap dumps of real JVMs against what they say of themselves, and against planted objects.
# bats file_tags=stored
load ../lib
load ../java

setup_file() {
	skip_unless_java
	prepare_jdks
	for home in $(jdks); do
		use_jdk "$home"
		"$JAVA_HOME/bin/java" -XX:+UseSerialGC -cp "$CLASSES" Heap "$BATS_FILE_TMPDIR/$JDK" || return 1
	done
}

dump() {
	echo "$BATS_FILE_TMPDIR/$JDK.hprof"
}

# n, base and cum of a class in the flat profile of the JDK's dump.
numbers() {
	jq -r --arg c "$1" '.rows[] | select(.name == $c) | "\(.n) \(.base[0]) \(.cum[0])"' flat.json
}

# Names as the histogram of the JVM writes them: "[[I", "Main$$Lambda/0x1" and a module.
histogram_of_jvm() {
	awk '
	BEGIN { split("Z boolean B byte C char S short I int J long F float D double", t, " ") }
	$1 ~ /^[0-9]+:$/ {
		name = $4
		dims = ""
		while (sub(/^\[/, "", name))
			dims = dims "[]"
		if (dims && sub(/^L/, "", name))
			sub(/;$/, "", name)
		for (i = 1; dims && length(name) == 1 && i < 16; i += 2)
			if (t[i] == name)
				name = t[i + 1]
		print $2, $3, name dims
	}' "$1"
}

agrees_with_histogram() {
	arcprof heap report --histogram --format json "$(dump)" |
		jq -r '.classes[] | "\(.n) \(.bytes) \(.class)"' | sort >ours
	histogram_of_jvm "$BATS_FILE_TMPDIR/$JDK.histogram" | sort >theirs
	comm -13 ours theirs >differ
	cat differ
	[ "$(wc -l <theirs)" -gt 200 ]
	# the JVM dumps no Class objects of arrays; what the histogram's own text is made of comes and goes
	[ "$(wc -l <differ)" -le $(($(wc -l <theirs) / 20)) ]
	grep -qx '1000 [0-9]* Heap$Order' ours
	[ "$(grep -c 'Heap\$' differ)" -eq 0 ]
}

@test "heap: objects and bytes of classes are those that the JVM reports" {
	on_each_jdk agrees_with_histogram
}

retains_what_was_planted() {
	local n base cum order lines
	arcprof heap report --format json "$(dump)" >flat.json
	read -r n base cum <<<"$(numbers 'Heap$Order')"
	[ "$n" -eq 1000 ]
	order=$((base / n))
	lines=$(numbers 'Heap$Line[]' | cut -d ' ' -f 2)
	# orders hold their lines, and not the product that all share
	[ "$cum" -eq $((1000 * order + lines + $(numbers 'Heap$Line' | cut -d ' ' -f 2))) ]
	read -r n base cum <<<"$(numbers 'Heap$Product')"
	[ "$n" -eq 1 ]
	[ "$cum" -ge $(((1 << 20) + 16)) ] && [ "$cum" -le $(((1 << 20) + 48)) ]
	# a list is one row, which holds the arrays of all its nodes
	read -r n base cum <<<"$(numbers 'Heap$Node')"
	[ "$n" -eq 100000 ]
	[ "$cum" -eq $((base + 100000 * 96)) ]
	arcprof heap report --xtree --format json "$(dump)" >tree.json
	[ "$(jq '[.. | objects | select(.name? == "Heap$Node")] | length' tree.json)" -eq 1 ]
}

@test "heap: retained sizes of planted objects are exact" {
	on_one_jdk newest retains_what_was_planted
}

paths_lead_to_planted_objects() {
	arcprof heap report --paths 'Heap$Line' --format json "$(dump)" >paths.json
	[ "$(jq '[.. | objects | select(.name? == "Heap$Line")] | length' paths.json)" -eq 1 ]
	[ "$(jq '.quality.n' paths.json)" -eq 5000 ]
	arcprof heap report --paths 'Heap$Line' "$(dump)" >paths
	cat paths
	sed -n '/HkName/,$p' paths | awk 'NR > 1 { printf "%s ", $NF } END { print "" }' >names
	grep -q 'Heap Heap$Shop java.util.ArrayList java.lang.Object\[\] Heap$Order Heap$Line\[\] Heap$Line $' names
	run_arcprof heap report --paths NoSuchClass "$(dump)"
	[ "$status" -eq 1 ]
	[[ $stderr == *"nothing matches"* ]]
}

@test "heap: paths lead from the roots to planted objects" {
	on_one_jdk newest paths_lead_to_planted_objects
}

names_the_fields() {
	arcprof heap report --by field --format json "$(dump)" >flat.json
	[ "$(numbers 'Heap$Order.lines: Heap$Line[]' | cut -d ' ' -f 1)" -eq 1000 ]
	[ "$(numbers 'Heap$Node.next: Heap$Node' | cut -d ' ' -f 1)" -eq 99999 ]
	[ "$(numbers 'Heap$Shop.list: Heap$Node' | cut -d ' ' -f 1)" -eq 1 ]
	[ "$(numbers 'Heap$Line[].[element]: Heap$Line' | cut -d ' ' -f 1)" -eq 5000 ]
	# in which frame the local variable is that holds the array of the thread that waits
	jq -e '[.rows[] | select(.name | test("^local of Heap.lambda.holdInThread.0.Heap.java:[0-9]+.: double..$")) | .n] == [1]' flat.json
	# and which variable it is, by class files that tell, and by others that do not
	mkdir with
	compile_java -g -d with "$TOP/t/workloads/Heap.java"
	"$JAVA_HOME/bin/jar" cf app.jar -C with .
	arcprof heap report --by field --class-path "$CLASSES:app.jar" --format json "$(dump)" >named.json
	jq -e '[.rows[].name | select(startswith("local held of Heap."))] == []' named.json
	arcprof heap report --by field --class-path app.jar --format json "$(dump)" >named.json
	jq -e '[.rows[].name | select(test("^local held of Heap.lambda.holdInThread.0.Heap.java:[0-9]+.: double..$"))] | length == 1' named.json
	arcprof heap report --by field --class-path with --format json "$(dump)" | cmp - named.json
	# all lines refer to it, and none keeps it
	[ "$(numbers 'Heap$Product' | cut -d ' ' -f 1)" -eq 1 ]
	[ "$(jq '[.rows[].base[0]] | add' flat.json)" -eq \
		"$(arcprof heap report --histogram --format json "$(dump)" | jq .bytes)" ]
}

@test "heap: contexts can be fields" {
	on_one_jdk newest names_the_fields
}

contains_what_was_planted() {
	arcprof heap report --containment --xtree --format json "$(dump)" >tree.json
	# the first line that reaches it contains the product
	[ "$(jq '[.nodes[] | select(.name == "Heap$Line") | .id] as $lines |
		[.nodes[] | select(.name == "Heap$Product") | select(.parent | IN($lines[])) | .n] | add' tree.json)" -eq 1 ]
	[ "$(jq '[.nodes[] | select(.name == "Heap$Order") | .n] | add' tree.json)" -eq 1000 ]
	[ "$(jq .metrics[0].total tree.json)" -eq \
		"$(arcprof heap report --histogram --format json "$(dump)" | jq .bytes)" ]
}

@test "heap: containment shows what is in what" {
	on_one_jdk newest contains_what_was_planted
}

# After each of three full collections there is one box more, with a hundred things.
contains_after_each_collection() {
	local dump
	rm -rf dumps && mkdir dumps
	java -XX:+UseSerialGC -Xmx16m -XX:+HeapDumpAfterFullGC -XX:HeapDumpPath=dumps -cp "$CLASSES" Contained 3 >out
	for dump in $(ls -v dumps/*); do
		arcprof heap report --xtree --containment --format json "$dump" | jq '. as $all |
			[.nodes[] | select(.name == "Contained$Box").id] as $boxes |
			[.nodes[] | select(.name == "Contained$Thing[]" and (.parent | IN($boxes[]))).id] as $arrays |
			[.nodes[] | select(.name == "Contained$Thing" and (.parent | IN($arrays[]))).n] | add'
	done >series
	[ "$(paste -sd, series)" = 100,200,300 ]
}

@test "heap: what contains what is known after each full collection, by the dumps of the JVM" {
	on_each_jdk contains_after_each_collection
}

waste_is_what_was_planted() {
	arcprof heap report --histogram --format json "$(dump)" >histogram.json
	arcprof heap report --waste --format json "$(dump)" >waste.json
	# the arrays of the list's nodes are zeros, and so is the picture
	[ "$(jq '.rows[] | select(.kind == "zeros" and .what == "long[]") | .n' waste.json)" -ge 100000 ]
	[ "$(jq '.rows[] | select(.kind == "zeros" and .what == "byte[]") | .wasted' waste.json)" -ge 1048592 ]
	[ "$(jq '.rows[] | select(.kind == "texts" and .what == "planted text") | .n' waste.json)" -eq 51 ]
	[ "$(jq '.rows[] | select(.kind == "slots" and .what == "Heap.sparse") | [.slots, .unused] | join(" ")' \
		waste.json)" = '"1000 997"' ]
	[ "$(jq '.rows[] | select(.kind == "boxes" and .what == "java.lang.Long") | .n' waste.json)" -ge 30 ]
	[ "$(jq '.rows[] | select(.kind == "empty" and .what == "Heap$Product[]") | .n' waste.json)" -eq 20 ]
	[ "$(jq '[.rows[].wasted] | add' waste.json)" -eq "$(jq .wasted waste.json)" ]
	[ "$(jq '[.kinds[].wasted] | add' waste.json)" -eq "$(jq .wasted waste.json)" ]
	[ "$(jq .wasted waste.json)" -lt "$(jq .bytes histogram.json)" ]
}

@test "heap: waste finds what was planted, and counts nothing twice" {
	on_one_jdk newest waste_is_what_was_planted
}

loaders_have_their_classes() {
	arcprof heap report --loaders --format json "$(dump)" >loaders.json
	[ "$(jq '.loaders[] | select(.name == "planted") | .classes' loaders.json)" -eq 1 ]
	[ "$(jq '.loaders[] | select(.name == "planted") | .n' loaders.json)" -eq 1 ]
	[ "$(jq '.loaders[] | select(.name == "app") | .n' loaders.json)" -gt 100000 ]
	[ "$(jq '[.loaders[].bytes] | add' loaders.json)" -eq "$(jq .bytes loaders.json)" ]
	[ "$(jq '[.loaders[].n] | add' loaders.json)" -eq \
		"$(arcprof heap report --histogram --format json "$(dump)" | jq .objects)" ]
}

@test "heap: class loaders have their classes and objects" {
	on_each_jdk loaders_have_their_classes
}

shows_single_objects() {
	local id list
	arcprof heap report --objects 'Heap$Shop' --format json "$(dump)" >shop.json
	[ "$(jq .objects shop.json)" -eq 1 ]
	id=$(jq -r '.rows[0].id' shop.json)
	arcprof heap report --object "$id" --format json "$(dump)" >object.json
	[ "$(jq -r .class object.json)" = 'Heap$Shop' ]
	[ "$(jq .retained object.json)" -eq "$(jq '.rows[0].retained' shop.json)" ]
	[ "$(jq -r '.referrers.rows[].by' object.json)" = Heap.shop ]
	list=$(jq -r '.fields.rows[] | select(.field == "list") | .value' object.json)
	arcprof heap report --object "$list" "$(dump)" >node
	cat node
	grep -q "^$list, Heap\$Node: [0-9]* bytes, retains [0-9]*$" node
	grep -q "^$id .* Heap\$Shop.list$" node
	[ "$(arcprof heap report --objects java.lang.String --limit 100000 --format json "$(dump)" |
		jq -r '[.rows[] | select(.text == "\"planted text\"")] | length')" -ge 50 ]
}

@test "heap: single objects show what they hold and who refers to them" {
	on_one_jdk newest shows_single_objects
	use_jdk "$(jdks | head -n 1)"
	for bad in 1 x 0x 18446744073709551616 -1; do
		run_arcprof heap report --object "$bad" "$(dump)"
		[ "$status" -eq 1 ]
		[ "$(wc -l <<<"$stderr")" -eq 1 ]
	done
	run_arcprof heap report --histogram --format folded "$(dump)"
	[ "$status" -eq 2 ]
	[ -z "$output" ]
}

query() {
	arcprof query -q --format json "$(dump)" "$@"
}

# What queries say is what reports say.
answers_as_reports_do() {
	local id
	arcprof heap report --histogram --format json "$(dump)" >histogram.json
	follows_columns n,class n heap report --histogram "$(dump)"
	follows_columns retained,id retained heap report --loaders "$(dump)"
	follows_columns wasted,what wasted heap report --waste "$(dump)"
	follows_columns bytes,id,class bytes heap report --objects 'Heap$Order' "$(dump)"
	follows_columns n,name n heap report --xprof "$(dump)"
	follows_columns n,name - heap report --xtree "$(dump)"
	run_arcprof heap report --xtree --sort module "$(dump)"
	[[ $status -eq 2 && $stderr == *"--sort=module: --xtree is sorted by cum, base, n or name"* ]]
	run_arcprof heap report --object 0x10 --columns n "$(dump)"
	[[ $status -eq 2 && $stderr == *"--columns is for tables"* ]]
	jq -r '.classes[] | "\(.class) \(.n) \(.bytes)"' histogram.json | sort >expected
	query 'SELECT name, sum(n) AS n, sum(bytes) AS bytes FROM classes WHERE n > 0 GROUP BY name' |
		jq -r '.rows[] | "\(.name) \(.n) \(.bytes)"' | sort >got
	diff expected got
	query 'SELECT name, count(*) AS n, sum(size) AS bytes FROM objects GROUP BY name' |
		jq -r '.rows[] | "\(.name) \(.n) \(.bytes)"' | sort >got
	diff expected got
	arcprof heap report --format json "$(dump)" | jq -r '.rows[] | "\(.name) \(.n) \(.base[0]) \(.cum[0])"' |
		sort >expected
	query 'SELECT name, n, base, cum FROM xprof' | jq -r '.rows[] | "\(.name) \(.n) \(.base) \(.cum)"' |
		sort >got
	diff expected got
	arcprof heap report --objects 'Heap$Order' --limit 1000 --format json "$(dump)" |
		jq -r '.rows[] | "\(.id) \(.bytes) \(.retained)"' | sort >expected
	query "SELECT printf('0x%x', address) AS a, size, retained FROM objects WHERE name = 'Heap\$Order'" |
		jq -r '.rows[] | "\(.a) \(.size) \(.retained)"' | sort >got
	diff expected got
	[ "$(wc -l <got)" -eq 1000 ]
	id=$(arcprof heap report --objects 'Heap$Product' --format json "$(dump)" | jq -r '.rows[0].id')
	arcprof heap report --object "$id" --limit 10000 --format json "$(dump)" |
		jq -r '.referrers.rows[] | "\(.id) \(.by)"' | sort >expected
	query "SELECT printf('0x%x', s.address) AS a, field FROM objects o JOIN refs r ON r.target = o.id
		JOIN objects s ON s.id = r.source WHERE o.address = $((id))" |
		jq -r '.rows[] | "\(.a) \(.field)"' | sort >got
	diff expected got
	[ "$(wc -l <got)" -eq 5000 ]
	# what was planted
	query "SELECT count(*) AS n FROM strings WHERE text = 'planted text'" | jq -e '.rows[0].n == 51'
	query "SELECT count(*) AS n FROM objects
		WHERE name = 'java.lang.Long' AND field(id, 'value') = 123456789" | jq -e '.rows[0].n == 30'
	query "SELECT field(object, 'NODES') AS nodes, field(object, 'no') AS none FROM classes WHERE name = 'Heap'" |
		jq -ce '.rows == [{ nodes: 100000, none: null }]'
	query "SELECT a.length FROM roots r JOIN objects a ON a.id = r.object
		WHERE r.kind = 'frame' AND r.name = 'holder' AND a.name = 'double[]'" | jq -e '.rows[0].length == 50000'
}

@test "heap: queries say what reports say" {
	on_one_jdk newest answers_as_reports_do
}

@test "heap: the page's questions have answers, and queries are bounded" {
	use_jdk "$(jdks | head -n 1)"
	sed -n '/^=== Questions about heaps/,/^== MARKS/p' "$TOP/Documentation/arcprof-query.adoc" |
		awk '/^----$/ { n++; next } n % 2 { print >sprintf("question.%02d", n / 2) }'
	[ "$(ls question.* | wc -l)" -eq 8 ]
	for q in question.*; do
		arcprof query -q -i "$(dump)" --sql "$q" --format json | jq -e '.rows | length > 0'
	done
	run_arcprof query --memory 3M "$(dump)" 'SELECT max(retained) FROM objects'
	[ "$status" -eq 1 ]
	[[ $stderr == *"the rows of the heap take more than 3 MiB of memory"* ]]
	run_arcprof query --from 1s "$(dump)" 'SELECT 1'
	[ "$status" -eq 2 ]
	run_arcprof query "$(dump)" 'SELECT * FROM samples'
	[ "$status" -eq 1 ]
	[[ $stderr == *"no such table: samples"* ]]
	head -c 3000000 "$(dump)" >cut
	run_arcprof query cut 'SELECT count(*) FROM objects'
	[ "$status" -eq 1 ]
	[[ $stderr == *"cut: the dump is truncated at byte "* ]]
}

# Every object, and references: those of the tables of queries are the non-weak ones.
is_text_of_hprof() {
	arcprof heap report --histogram --format json "$(dump)" >histogram.json
	arcprof heap report --format hprof "$(dump)" | tee hprof.txt | "$TOP/t/formats/hprof-read" >hprof.json
	grep -q '^THREAD START .*, name="main", group="main")$' hprof.txt
	rm hprof.txt
	# Class objects are CLS there, but those of int and the like
	jq -S '.objects | del(.["java.lang.Class"])' hprof.json >got
	jq -S '[.classes[] | select(.class != "java.lang.Class") | { key: .class, value: [.n, .bytes] }] | from_entries' \
		histogram.json | diff - got
	[ "$(jq -c '.totals["HEAP DUMP"]' hprof.json)" = "$(jq -c '[.objects, .bytes]' histogram.json)" ]
	[ "$(jq .references hprof.json)" -ge "$(query "SELECT count(*) AS n FROM refs
		WHERE field NOT LIKE '%.[class]'" | jq '.rows[0].n')" ]
	arcprof heap report --histogram --format hprof "$(dump)" | "$TOP/t/formats/hprof-read" |
		jq -S '.SITES | map_values(.[:2] | reverse)' >got
	jq -S '[.classes[] | { key: .class, value: [.n, .bytes] }] | from_entries' histogram.json | diff - got
}

@test "heap: the text of HPROF has all objects" {
	on_one_jdk newest is_text_of_hprof
	use_jdk "$(jdks | head -n 1)"
	run_arcprof heap report --format hprof --paths 'Heap*' "$(dump)"
	[ "$status" -eq 2 ]
}

differs_by_what_was_added() {
	"$JAVA_HOME/bin/java" -XX:+UseSerialGC -Dnodes=120000 -cp "$CLASSES" Heap more
	arcprof heap diff --format json "$(dump)" more.hprof >diff.json
	[ "$(jq '.rows[] | select(.name == "Heap$Node") | .delta * 5 == .a' diff.json)" = true ]
	[ "$(jq '[.rows[] | select(.name == "Heap$Order")] | length' diff.json)" -eq 0 ]
	follows_columns a,name - heap diff "$(dump)" more.hprof
	arcprof heap diff --xtree "$(dump)" more.hprof >tree
	grep -q '+20.0 \* -* *Heap$Node$' tree
	rm more.*
}

@test "heap: diff shows what grew" {
	on_one_jdk newest differs_by_what_was_added
}

thread_holds_its_local() {
	arcprof heap report --xtree --thread holder "$(dump)" >tree
	cat tree
	grep -q ' holder$' tree
	grep -qE '^ *1 .* 4000(16|24) .*double\[\]$' tree
	grep -qE ' 600(16|24) .* char\[\]$' tree
	[ "$(grep -c ' holder$' tree)" -eq 1 ]
}

@test "heap: a thread with its name holds its local variables and thread locals" {
	on_each_jdk thread_holds_its_local
}

@test "heap: a compressed dump gives the same report" {
	use_jdk "$(jdks | head -n 1)"
	gzip -c "$(dump)" >dump.gz
	arcprof heap report "$(dump)" >plain
	arcprof heap report dump.gz >unzipped
	cmp plain unzipped
}

@test "heap: a truncated dump gives what it has, and says so" {
	use_jdk "$(jdks | head -n 1)"
	head -c 3000000 "$(dump)" >cut
	run_arcprof heap report cut
	[ "$status" -eq 1 ]
	[[ $output == *"the dump is truncated"* ]]
	[[ $output == *'Heap$Node'* ]]
	[[ $output == *"[lost]"* ]]
	[[ $output != *"[unreachable]"* ]]
	[[ $stderr == *"cut: the dump is truncated at byte "* ]]
	# the record that says that the dump is whole has no contents
	head -c -9 "$(dump)" >cut
	run_arcprof heap report --histogram cut
	[ "$status" -eq 1 ]
	[[ $stderr == *"cut: the dump is truncated at byte "* ]]
	head -c 10000 "$(dump)" >head
	run_arcprof heap report head
	[ "$status" -eq 1 ]
	[[ $stderr == "arcprof heap: head: heap dump without objects: truncated before the first" ]]
}

# ids.py ID_SIZE STRIDE FIRST: a dump of ten instances (two references and an int), ten byte[100] and ten Object[3]
# in the file "dump". STRIDE 0: ids are addresses.
dump_with_ids() {
	python3 - "$@" <<-'END'
		import struct, sys
		size, stride, first = map(int, sys.argv[1:])
		def i(v): return struct.pack(">Q" if size == 8 else ">I", v)
		u4 = lambda v: struct.pack(">I", v)
		def record(tag, body): return bytes([tag]) + u4(0) + u4(len(body)) + body
		names = {1: b"Pair", 2: b"left", 3: b"right", 4: b"n", 5: b"[B", 6: b"[Ljava/lang/Object;", 7: b"java/lang/Object",
			 8: b"java/lang/Class"}
		at = first
		def new(bytes_in_memory):
		    global at
		    v, at = at, at + (stride or bytes_in_memory)
		    return v
		classes = {k: new(112) for k in (7, 8, 1, 5, 6)}
		out = b"".join(record(1, i(k) + v) for k, v in names.items())
		out += b"".join(record(2, u4(n) + i(c) + u4(0) + i(k)) for n, (k, c) in enumerate(classes.items(), 1))
		heap = b""
		for k, c in classes.items():
		    fields = i(2) + b"\2" + i(3) + b"\2" + i(4) + b"\12" if k == 1 else b""
		    heap += b"\x20" + i(c) + u4(0) + i(0 if k == 7 else classes[7]) + i(0) * 5 + u4(2 * size + 4 if fields else 0)
		    heap += b"\0\0\0\0" + struct.pack(">H", 3 if fields else 0) + fields
		for n in range(10):
		    p, b, o = new(24), new(120), new(32)
		    heap += b"\xff" + i(o)
		    heap += b"\x21" + i(p) + u4(0) + i(classes[1]) + u4(2 * size + 4) + i(b) + i(0) + u4(n)
		    heap += b"\x23" + i(b) + u4(0) + u4(100) + b"\x08" + b"x" * 100
		    heap += b"\x22" + i(o) + u4(0) + u4(3) + i(classes[6]) + i(p) + i(0) * 2
		out += record(0x1c, heap) + record(0x2c, b"")
		open("dump", "wb").write(b"JAVA PROFILE 1.0.2\0" + u4(size) + bytes(8) + out)
	END
}

@test "heap: sizes are right where ids are not addresses, and the report says what was assumed" {
	local how assumed="the ids of its objects are no addresses"
	skip_unless_command python3
	for how in "8 0 65536" "4 1 1" "8 1 1" "8 8 8" "4 3 1000" "4 40000000 1" "8 1000003 7" "8 1125899906842624 1"; do
		# shellcheck disable=SC2086
		dump_with_ids $how
		run_arcprof heap report --histogram --format csv dump
		echo "$how: $output $stderr"
		[ "$status" -eq 0 ]
		grep -qx '10,240,[0-9.]*,Pair' <<<"$output"
		grep -qx '10,1200,[0-9.]*,byte\[\]' <<<"$output"
		grep -qx '10,320,[0-9.]*,java.lang.Object\[\]' <<<"$output"
		grep -qx '5,560,[0-9.]*,java.lang.Class' <<<"$output"
		run_arcprof heap report dump
		[ "$status" -eq 0 ]
		if [ "$how" = "8 0 65536" ]; then
			[ -z "$stderr" ]
		else
			[[ $stderr == *"dump: $assumed"*"sizes are those of HotSpot"* ]]
			[[ $output == *"$assumed"* ]]
		fi
		# an Object[] keeps its instance, and that its bytes
		grep -Eq '^ +10 +13.79 +75.86 +0.00 +320 +1760 +[0-9]+  java.lang.Object\[\]$' <<<"$output"
	done
}

@test "heap: reports say where a dump is damaged, and how much of it" {
	skip_unless_command python3
	dump_with_ids 8 0 65536
	cp dump whole
	# the last object's bytes, but for its head, become no item
	python3 -c 'd = bytearray(open("whole", "rb").read()); at = d.index(b"x" * 100) + 100; d[at] = 0x77; open("dump", "wb").write(d)
print(at)' >at
	run_arcprof heap report --histogram dump
	[ "$status" -eq 1 ]
	[[ $stderr == *"warning: dump: 1 damaged place, the first at byte $(cat at): "*" bytes were skipped"* ]]
	head -c 700 whole >dump
	run_arcprof heap report --histogram dump
	[ "$status" -eq 1 ]
	[[ $stderr == *"warning: dump: the dump is truncated at byte 700: objects behind that are missing"* ]]
}

@test "heap: a file that is not a dump is refused in one line" {
	for file in /dev/null "$TOP/README.md" /nonexistent "$TOP" /dev/zero; do
		run_arcprof heap report "$file"
		[ "$status" -eq 1 ]
		[ -z "$output" ]
		[ "$(wc -l <<<"$stderr")" -eq 1 ]
	done
	run_arcprof heap
	[ "$status" -eq 2 ]
	run_arcprof heap report
	[ "$status" -eq 2 ]
}

@test "heap: the other formats have the whole tree" {
	use_jdk "$(jdks | head -n 1)"
	run_arcprof report -i "$(dump)"
	[ "$status" -eq 1 ]
	[[ $stderr == *"this is a heap dump: 'arcprof heap report "* ]]
	run_arcprof heap report --waste --format folded "$(dump)"
	[ "$status" -eq 2 ]
	[ "$(arcprof heap report --format folded "$(dump)" | awk '{ s += $NF } END { printf "%d", s }')" -eq \
		"$(arcprof heap report --histogram --format json "$(dump)" | jq .bytes)" ]
}

# What the page has beside its first tree, as JSON.
page_more() {
	sed -n '/<script id="more"/,/<\/script>/p' heap.html | sed '1d;$d'
}

@test "heap: the page has both trees and all tables, as the reports have them" {
	skip_unless_command node
	use_jdk "$(jdks | head -n 1)"
	id=$(arcprof heap report --objects 'Heap$Shop' --format json "$(dump)" | jq -r '.rows[0].id')
	arcprof heap report --object "$id" --format html -o heap.html "$(dump)"
	page_more >more.json
	[ "$(jq -r '.trees | join(" ")' more.json) $(jq -r .at more.json)" = 'dominators containment object' ]
	for shape in '' containment; do
		# shellcheck disable=SC2086
		arcprof heap report --xarc ${shape:+--$shape} --format json "$(dump)" >xarc.json
		node "$TOP/t/page/agree.mjs" heap.html xarc.json "#shape=$shape"
	done
	arcprof heap report --xarc --fold package --format json "$(dump)" >xarc.json
	node "$TOP/t/page/agree.mjs" heap.html xarc.json '#fold=package'
	for table in histogram loaders "waste --limit 1000" "objects=* --limit 200" "object $id"; do
		# shellcheck disable=SC2086
		arcprof heap report --$table --format json "$(dump)" | jq -S . >want
		jq -S ".${table%%[ =]*}" more.json | diff want - || { echo "$table"; return 1; }
	done
	# what a click on an object shows: of all in the list
	[ "$(jq '[.objects.rows[].id] - [.details[].id] | length' more.json)" -eq 0 ]
	[ "$(jq --arg id "$id" -c '.details[] | select(.id == $id).referrers.rows' more.json)" = "$(jq -c .object.referrers.rows more.json)" ]
	# names come from programs
	[ "$(page_more | grep -c '<')" -eq 0 ]
	arcprof heap report --waste --containment --format html -o heap.html "$(dump)"
	[ "$(page_more | jq -r '.trees[0] + " " + .at')" = 'containment waste' ]
}

@test "heap: in a browser, a click opens an object, and tabs show the other reports" {
	skip_unless_command chromium
	use_jdk "$(jdks | head -n 1)"
	arcprof heap report --objects 'Heap$Order' --format html -o heap.html "$(dump)"
	cat >>heap.html <<-'EOF'
		<script>
		const click = what => document.querySelector(what).click();
		const shown = () => [...document.querySelectorAll('[data-list]')].filter(e => !e.hidden)
			.map(e => e.dataset.list + ': ' + e.textContent).join();
		const told = [];
		const use = () => {
			if (!window.arcprof)
				return setTimeout(use, 10);
			click('[data-list="objects"] a');
			told.push(shown());
			click('[data-key="histogram"]');
			told.push(shown());
			document.title = JSON.stringify(told);
		};
		use();
		</script>
	EOF
	timeout 60 chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
		--disable-background-networking --disable-component-update --disable-sync \
		--user-data-dir="$BATS_TEST_TMPDIR/chromium" --virtual-time-budget=10000 \
		--dump-dom "file://$PWD/heap.html" >dom 2>/dev/null
	sed -n 's/.*<title>\(\[.*\]\)<\/title>.*/\1/p' dom | head -n 1 >told
	cut -c -2000 told
	jq -e '.[0] | test("^fields: 0x[0-9a-f]+, Heap.Order: .*lines.*Heap.Line\\[\\]")' told
	jq -e '.[1] | test("^histogram: .*1,000[0-9.]+ .?B[0-9.]+Heap.Order")' told
}

dumps_a_running_jvm() {
	"$JAVA_HOME/bin/java" -cp "$CLASSES" Heap "$JDK" wait >out &
	pid=$!
	for _ in $(seq 300); do
		[ -s out ] && break
		sleep 0.1
	done
	arcprof heap dump -p $pid -o live.hprof
	run_arcprof heap dump --samples -p $pid -o samples.hprof
	kill $pid
	[ "$status" -eq 1 ] && [ ! -e samples.hprof ]
	[[ $stderr == *"process $pid is not being recorded by this arcprof"*"hint: record what is live first"* ]]
	[ "$(stat -c %a live.hprof)" = 600 ]
	! ls -d /tmp/arcprof-heap-* 2>/dev/null || false
	arcprof heap report --histogram --format json live.hprof >histogram.json
	[ "$(jq '.classes[] | select(.class == "Heap$Order") | .n' histogram.json)" -eq 1000 ]
}

@test "heap: dump has a running JVM write its heap" {
	on_each_jdk dumps_a_running_jvm
}

@test "heap: dump refuses a process that is not a JVM" {
	sleep 60 &
	run_arcprof heap dump -p $! -o sleep.hprof
	kill $!
	[ "$status" -eq 1 ]
	[ ! -e sleep.hprof ]
	run_arcprof heap dump
	[ "$status" -eq 2 ]
}

@test "heap: sizes are right with another alignment of objects" {
	use_jdk "$(jdks | head -n 1)"
	"$JAVA_HOME/bin/java" -XX:+UseSerialGC -XX:ObjectAlignmentInBytes=16 -Dnodes=1000 -cp "$CLASSES" Heap aligned
	arcprof heap report --histogram --format json aligned.hprof |
		jq -r '.classes[] | select(.class | startswith("Heap")) | "\(.n) \(.bytes) \(.class)"' | sort >ours
	histogram_of_jvm aligned.histogram | grep ' Heap[^/]*$' | sort >theirs
	cat ours theirs
	[ "$(wc -l <theirs)" -ge 8 ]
	# JVM and dump spell lambdas in two ways
	[ -z "$(comm -3 ours theirs | grep -v Lambda)" ]
}

# The planted classes, to the byte: JVM and dump spell lambdas in two ways.
planted_with() {
	rm -f laid-out.*
	"$JAVA_HOME/bin/java" "$@" -Xmx256m -Dnodes=1000 -cp "$CLASSES" Heap "laid-out" >said 2>&1 || {
		grep -qE 'Unrecognized VM option|not supported' said && return 0
		cat said
		return 1
	}
	arcprof heap report --histogram --format json laid-out.hprof |
		jq -r '.classes[] | select(.class | startswith("Heap")) | "\(.n) \(.bytes) \(.class)"' | sort >ours
	histogram_of_jvm laid-out.histogram | grep ' Heap[^/]*$' | grep -v Lambda | sort >theirs
	echo "JDK $JDK $*: $(tr '\n' ';' <theirs)"
	[ "$(wc -l <theirs)" -ge 8 ]
	[ -z "$(comm -3 ours theirs | grep -v Lambda)" ] || { comm -3 ours theirs; return 1; }
	nr=$((nr + 1))
}

laid_out() {	# <collector>...
	local gc nr=0
	for gc; do
		planted_with "-XX:+Use${gc}GC"
	done
	[ "$JDK" -lt 24 ] || planted_with -XX:+UseG1GC -XX:+UnlockExperimentalVMOptions -XX:+UseCompactObjectHeaders
	planted_with -XX:+UseSerialGC -XX:-UseCompressedOops
	[ "$nr" -ge 2 ]
}

@test "heap: sizes are right with each collector, and layout of objects" {
	on_one_jdk oldest laid_out G1
	on_one_jdk newest laid_out Parallel Z Shenandoah
}

@test "heap: a dump that does not fit leaves the file that was there" {
	skip_unless_root
	mkdir small
	mount -t tmpfs -o size=1m tmpfs small 2>/dev/null || skip "no file system can be mounted here"
	echo before >small/heap.hprof
	use_jdk "$(jdks | head -n 1)"
	"$JAVA_HOME/bin/java" -cp "$CLASSES" Heap "$JDK" wait >out &
	pid=$!
	for _ in $(seq 300); do
		[ -s out ] && break
		sleep 0.1
	done
	run_arcprof heap dump -p $pid -o small/heap.hprof
	kill $pid
	ls -A small >left
	cat small/heap.hprof >kept
	umount small
	[ "$status" -eq 1 ]
	[[ $stderr == *"No space left on device"* ]]
	[ "$(cat kept)" = before ]
	[ "$(cat left)" = heap.hprof ]
}
