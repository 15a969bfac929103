#!/usr/bin/env bats
# Source lines and instructions of a function: t/workloads/lines.c and Lines.java say where their time goes.
# bats file_tags=stored
load ../lib
load ../jdks

# Of the rows that a jq condition selects, the sum of a column: sum <column> <condition>
sum() {
	json "[.functions[].rows[] | select($2) | .$1] | add // 0"
}

# annotate <file> <function> [<option>...]: the report as JSON in $output; rows add up to the function.
annotate() {
	run_arcprof report -i "$1" --annotate "$2" --format json "${@:3}"
	[ "$status" -eq 0 ]
	jq -e 'all(.functions[]; .samples as $n | .cum as $c
		| ([.rows[] | select(.row == "line") | .samples] | add) == $n
		and ([.rows[] | select(.row == "line") | .cum] | add) == $c
		and ([.rows[] | select(.row == "way") | .samples] | add) == $n
		and ([.rows[] | select(.row == "way") | .cum] | add) == $c)' <<<"$output"
}

record_lines() {
	skip_unless_perf
	record -F 1999 -- "$(workload lines)" 1200
	[ "$status" -eq 0 ]
	while read -r name line share; do
		declare -g "${name}_line=$line" "${name}_share=$share"
	done <<<"$output"
	n=$(samples)
}

@test "annotate: the lines of a C function have the samples that its source says" {
	record_lines
	annotate trace hot --source "$TOP"
	within "$(sum samples ".row == \"line\" and (.line == $hot_line or .line == $hot_line - 1)")" \
		"$((n * hot_share / 100))" 20
	[ "$(sum samples '.row == "line"')" -eq "$(samples_in hot)" ]
	[ "$(json '.functions[0].rows[] | select(.line == '"$hot_line"' and .row == "line") | .text')" = \
		$'\t\tMANY(x);\t/* HOT_LINE */' ]
}

@test "annotate: an inlined function says what it is inlined into" {
	record_lines
	annotate trace inlined
	[ "$(json '.functions[0].rows[] | select(.row == "way") | .kind + " " + .into')" = "native-inlined main" ]
	within "$(sum samples ".row == \"line\" and .line == $inlined_line")" "$((n * inlined_share / 100))" 50
}

@test "annotate: each sample of compiled code is at an instruction that objdump knows" {
	skip_unless_command objdump
	record_lines
	annotate trace hot
	[ "$(sum samples '.row == "instruction"')" -eq "$(samples_in hot)" ]
	within "$(sum samples '.row == "instruction" and (.text | test("mul|add|mov|sub|lea|cmp|jn?e"))')" \
		"$(samples_in hot)" 2
	run_arcprof report -i trace --annotate hot
	[[ $output == *imul* && $output == *"(skid)"* ]]
}

@test "annotate: instructions have offsets and a reason when the program's file is another one" {
	skip_unless_perf
	cp "$(workload lines)" program
	record -F 1999 -- ./program 20
	rm program
	cp "$(workload shares)" program
	run_arcprof report -i trace --annotate hot
	[ "$status" -eq 0 ]
	[[ $output == *"not disassembled: the file has changed since"* ]]
	[[ $output == *"+0x"* && $output != *imul* ]]
	annotate trace hot
	[ "$(json '[.functions[].rows[] | select(.row == "instruction" and .text == null) | .not_disassembled] | unique | map(test("^the file has changed since")) | tostring')" = '[true]' ]
	run_arcprof report -i trace --annotate hot --format csv
	[ "$(grep -c 'hot,.*,instruction,.*the file has changed since' <<<"$output")" -gt 0 ]
	rm program
	run_arcprof report -i trace --annotate hot
	[[ $output == *"not disassembled: the file: No such file"* ]]
}

@test "annotate: source is looked for where --source says, and marked when it is newer" {
	skip_unless_perf
	mkdir -p build/deep new/deep
	sed 's/HOT_LINE \*/ORIGINAL */' "$TOP/t/workloads/lines.c" >build/deep/lines.c
	cc -O2 -g -o program "$PWD/build/deep/lines.c"
	touch -d yesterday build/deep/lines.c
	record -F 1999 -- ./program 20
	run_arcprof report -i trace --annotate hot
	[[ $output == *ORIGINAL* && $output != *"changed after"* ]]
	mv build/deep/lines.c new/deep/
	run_arcprof report -i trace --annotate hot
	[[ $output != *ORIGINAL* && $output == *"lines.c (not found; --source says where to look)"* ]]
	touch new/deep/lines.c
	run_arcprof report -i trace --annotate hot --source new
	[[ $output == *ORIGINAL* && $output == *"new/deep/lines.c (changed after the recording began"* ]]
}

@test "annotate: --confined reads no file that only the trace names, and runs no objdump" {
	skip_unless_perf
	mkdir here
	cp "$TOP/t/workloads/lines.c" here/lines.c
	cc -O2 -g -o program "$PWD/here/lines.c"
	record -F 1999 -- ./program 20
	run_arcprof report -i trace --annotate hot --confined
	[ "$status" -eq 0 ]
	[[ $output != *HOT_LINE* && $output == *"lines.c (not found"*"not disassembled: --confined"* ]]
	annotate trace hot --confined --source here
	[ "$(sum samples '.row == "line"')" -eq "$(samples_in hot)" ]
	[[ $output == *HOT_LINE* && $output == *'"not_disassembled":"--confined"'* ]]
}

@test "annotate: an unknown function is an error that names a near one" {
	record_lines
	run_arcprof report -i trace --annotate hott
	[ "$status" -eq 1 ]
	[[ $stderr == *"no sample is in a function 'hott'"* && $stderr == *"did you mean 'hot'?"* ]]
	run_arcprof report -i trace --annotate nline
	[[ $stderr == *"did you mean 'inlined'?"* ]]
	run_arcprof report -i trace --annotate hot --module nosuch
	[ "$status" -eq 1 ]
}

@test "annotate: a pattern gives all functions, most samples first" {
	record_lines
	annotate trace '*[hi]*[dn]*'
	[ "$(json '.functions | sort_by(-.samples) == .')" = true ]
	annotate trace '*'
	[ "$(json '[.functions[].samples] | add')" -le "$(json .samples)" ]
	run_arcprof report -i trace --annotate '*' --format csv
	[ "$(sed -n 1p <<<"$output")" = "function,module,row,kind,into,file,line,code,code_start,offset,samples,cum,text,bytes,not_disassembled" ]
}

@test "annotate: --symbol and other reports' options are refused, and a function is needed" {
	run_arcprof report --annotate hot --symbol main
	[ "$status" -eq 2 ]
	[[ $stderr == *"--symbol does not apply to --annotate: its argument names the functions"* ]]
	run_arcprof report --xarc --around 3
	[ "$status" -eq 2 ]
	[[ $stderr == *"--around is only valid with --annotate"* ]]
	run_arcprof report --annotate
	[ "$status" -eq 2 ]
	[[ $stderr == *"--annotate needs an argument <function>"* ]]
}

java_lines() {
	local hot cold
	record -F 999 -- java -cp "$CLASSES" Lines 150
	[ "$status" -eq 0 ]
	annotate trace Lines.hot --source "$TOP/t/workloads"
	hot=$(sum samples '.row == "line" and (.line == 12 or .line == 13)')
	[ "$(json '[.functions[].rows[] | select(.row == "line" and .line == 13)][0].text | test("6364136223846793005L")')" = true ]
	[ "$(json 'any(.functions[].rows[]; .row == "way" and .kind == "java-c2")')" = true ]
	annotate trace Lines.cold
	cold=$(sum samples '.row == "line" and (.line == 19 or .line == 20)')
	within "$hot" "$((9 * cold))" 40
}

@test "annotate: the lines of a Java method have the samples that its source says" {
	skip_unless_perf
	one_jdk oldest java_lines
}

# The JVM is gone when the report is made.
java_code() {
	record -F 999 -- java -cp "$CLASSES" Lines 150
	annotate trace Lines.hot
	all=$(sum samples '.row == "instruction"')
	[ "$all" -gt 20 ]
	within "$(sum samples '.row == "instruction" and .text != null and .bytes != null')" "$all" 5
	[ "$(sum samples '.row == "instruction" and .line != null')" -gt "$((all * 9 / 10))" ]
	run_arcprof report -i trace --annotate Lines.hot
	[[ $output == *idiv* || $output == *sdiv* ]]
	record --no-code -F 999 -- java -cp "$CLASSES" Lines 20
	[ "$(arcprof dump -i trace | grep -c code.bytes)" -eq 0 ]
	run_arcprof report -i trace --annotate Lines.hot
	[[ $output == *"not disassembled: the trace does not have its bytes"* ]]
}

@test "annotate: machine code of Java methods is disassembled when the JVM is gone" {
	skip_unless_command objdump
	one_jdk newest java_code
}
