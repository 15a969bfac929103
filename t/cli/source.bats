#!/usr/bin/env bats
# bats file_tags=stored
load ../lib

@test "source: rooms use only the rooms below them" {
	run "$TOP/t/layers"
	echo "$output"
	[ "$status" -eq 0 ]
}

# A line a room, and no room that is not there.
@test "source: the list of rooms has all of them, in the order that holds" {
	cd "$TOP/lib"
	ls -d -- */ | tr -d / | sort >"$BATS_TEST_TMPDIR/there"
	sed -nE 's/^([a-z]+)  .*/\1/p' README | sort >"$BATS_TEST_TMPDIR/listed"
	diff "$BATS_TEST_TMPDIR/there" "$BATS_TEST_TMPDIR/listed"
	# what another includes stands above it, but for those at the end, which bring their own world
	sed -nE '/^Inside/q; s/^([a-z]+)  .*/\1/p' README | awk '{ place[$1] = NR; print $1 }' >"$BATS_TEST_TMPDIR/order"
	grep -oE '^#include "[a-z]+/' -r ./*/ --include='*.[ch]' | sed -nE 's|^\./([a-z]+)/.*"([a-z]+)/$|\1 \2|p' | sort -u |
		awk 'NR == FNR { place[$1] = FNR; next }
			$1 in place && $2 in place && place[$2] > place[$1] { print "up: " $0; bad = 1 }
			END { exit bad }' "$BATS_TEST_TMPDIR/order" -
}

@test "source: files of a room do not all need each other" {
	[ -e "$BUILD/t/tools/edges.o" ] || skip "the tools are not built"
	run "$TOP/t/circles"
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "source: code and prose keep to the layout" {
	run "$TOP/t/layout"
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "source: no function is dead or visible without need" {
	[ -e "$BUILD/t/tools/edges.o" ] || skip "the tools are not built"
	run "$TOP/t/unused"
	echo "$output"
	[ "$status" -eq 0 ]
}

# Lists have a plural, numbers may have their unit. "short" is a word of C; a segment's length is one of several
# things that are known of it. An old name stands for another.
@test "source: a field that an option fills has the option's name" {
	cd "$TOP"
	python3 - <<-'E'
		import glob, re, sys
		row = re.compile(r'OPT_(?!SET|OLD)\w+\([^"\n]*?"([a-z][a-z0-9-]*)",\s*(?:struct \w+|O), ([\w.]+)')
		seen = wrong = 0
		for path in glob.glob("cmd/*.c") + glob.glob("lib/report/*.c"):
		    for option, field in row.findall(open(path).read()):
		        name, last = option.replace("-", "_"), field.split(".")[-1]
		        seen += 1
		        if last not in (name, name + "s", name + "_ns") and option not in ("short", "segment"):
		            wrong += print(f"{path}: --{option} fills {field}") is None
		print(seen, "rows")
		sys.exit(seen < 200 or wrong > 0)
	E
}

@test "source: subjects of commits are short, and say what a commit does" {
	skip_unless_command git
	run "$TOP/t/subjects"
	[ "$status" -ne 77 ] || skip "the history is not here"
	echo "$output"
	[ "$status" -eq 0 ]
	mkdir t
	cp "$TOP/t/subjects" t
	git init -q .
	for subject in 'report: adds a view' 'report: added a view' 'A view' 'report: add a view.' \
		"report: add a view that nobody would have thought of before it was there" 'report: add a view'; do
		git -c user.name=x -c user.email=x@y commit -q --allow-empty -m "$subject"
	done
	run t/subjects
	echo "$output"
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 5 ]
	mkdir many
	for i in $(seq 151); do
		seq "$i" 400 >"many/$i"
	done
	git add many
	git -c user.name=x -c user.email=x@y commit -q -m "report: add a lot"
	git mv many moved
	git -c user.name=x -c user.email=x@y commit -q -m "report: move a lot"
	run t/subjects
	[ "${lines[5]}" = "151 files, not only moved: report: add a lot" ]
	[ "${#lines[@]}" -eq 6 ]
}

@test "source: the version is written before what includes it is compiled" {
	cd "$TOP"
	make -np BUILD="$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/version.h" >"$BATS_TEST_TMPDIR/rules"
	for file in $(grep -l '"version.h"' arcprof.c cmd/*.c lib/*/*.c lib/*/*/*.c); do
		grep -q "^$BATS_TEST_TMPDIR/${file%c}o: .*/version\.h" "$BATS_TEST_TMPDIR/rules" || { echo "$file does not wait"; false; }
	done
	grep -q '/arcprof\.o: .*/version\.h' "$BATS_TEST_TMPDIR/rules"
}

@test "source: each header compiles alone" {
	[ -e "$BUILD/version.h" ] || skip "nothing is built"
	run "$TOP/t/headers"
	echo "$output"
	[ "$status" -eq 0 ]
}

# base/newfile.c opens what is written: it follows no foreign links, spares what is read, and leaves no half file.
# The others, each with its reason, write no file that a user names:
@test "source: one place opens files to write them" {
	cd "$TOP"
	found=$BATS_TEST_TMPDIR/found
	LC_ALL=C grep -nE '\bO_(WRONLY|RDWR|CREAT|TMPFILE)\b|\b(creat|mkstemp|mkostemp|rename|renameat2?)\(|fopen\(.*, "([wa]|r\+)' \
			arcprof.c cmd/*.c lib/*/*.c lib/*/*/*.c | grep -vE '^[^:]*:[0-9]+:[[:space:]]*(/?\*|//)' >"$found"
	while read -r file reason; do
		grep -q "^$file:" "$found" || { echo "$file opens nothing any more: it needs no exception"; false; }
		grep -v "^$file:" "$found" >"$found.left" || true
		mv "$found.left" "$found"
		[ -n "$reason" ]
	done <<-'EOF'
		lib/base/newfile.c	the one place
		cmd/doctor_jvm.c	/dev/null, for what a JVM prints
		lib/base/foreign.c	files of a process, made as its user
		lib/base/screen.c	/dev/null
		lib/pmu/mpevt.c	/dev/null
		arcprof.c	/dev/null
		lib/sym/disasm.c	/dev/null
		lib/sym/places.c	/dev/null
		lib/pmu/msr.c	registers of CPUs
		lib/pmu/uprobe.c	the kernel's list of uprobe events
		lib/ring/ring.c	the kernel module's device
		lib/agent/session/journal.c	in the JVM, which has nothing of arcprof
		lib/sym/cache.c	in a folder of its own, by its descriptor, where nobody else may write
		lib/ptt/proc.c	in a folder of its own, new or not at all
		lib/fleet/push.c	a mark in the spool, and nothing is written to it
		lib/collect/files/segments.c	renames a folder that it has locked
		cmd/fleet_otlp.c	renames in the spool
		cmd/fleet_sent.c	appends to its list in the spool
		cmd/train.c	in a folder of mkdtemp()
	EOF
	cat "$found"
	[ ! -s "$found" ]
}

@test "source: scripts that measure build what they need" {
	run grep -LE '/lib\.bash|make -s' "$TOP"/t/perf/*.sh
	[ -z "$output" ]
}

@test "source: shell scripts pass shellcheck" {
	skip_unless_command shellcheck
	cd "$TOP"
	grep -lE '^#!/bin/(sh|bash)' -r t share .ci GIT-VERSION-GEN | grep -v '/data/' |
		xargs shellcheck -S warning
}

@test "source: every file says its licence, and what the JVM loads is MIT" {
	cd "$TOP"
	missing=$(grep -LE 'SPDX-License-Identifier' arcprof.c cmd/*.[ch] lib/*/*.[ch] lib/*/*/*.[ch] t/unit/*.[ch])
	echo "$missing"
	[ -z "$missing" ]
	! grep -L 'SPDX-License-Identifier: MIT' lib/agent/*.[ch] lib/agent/*/*.[ch] lib/callflow/*.[ch] \
		lib/callflow/*/*.[ch] lib/classfile/*.[ch] lib/base/atomic.h lib/base/chance.h \
		lib/hookit/*.[ch] lib/jvm/proto.h 2>/dev/null | grep . || false
}

@test "source: no condition of a test is one that bash lets pass" {
	# "! command" and "[ a ] && [ b ]" end no test, wherever they are but at its end
	run awk '
	/^@test/ { inside = 1 }
	/^}/ { inside = 0 }
	inside && (/^\t+! / || /^\t+\[.*\] && \[/) && !/\|\|/ && !/\\$/ && !/&& (return|break|continue)$/ {
		print FILENAME ":" FNR ": " $0
	}' "$TOP"/t/cli/*.bats
	echo "$output"
	[ -z "$output" ]
}

# In a README the name x.h or x.c stands for both, and that of a file in a folder may have the folder's before it.
@test "source: every room says what it owns, and names each of its files" {
	missing=0
	for room in "$TOP"/lib/*/; do
		[ -s "$room/README" ] || { echo "$room has no README"; return 1; }
		slurp readme "$room/README"
		for file in "$room"*.[ch] "$room"*/*.[ch]; do
			[ -e "$file" ] || continue
			name=${file##*/}
			within=${file#"$room"}
			within=${within%"$name"}
			[[ $readme =~ (^|[^a-zA-Z0-9_./-])("$within")?"${name%.?}"\.[ch]([^a-zA-Z0-9_]|$) ]] && continue
			echo "${room#"$TOP"/}README does not name ${file#"$room"}"
			missing=1
		done
	done
	[ "$missing" -eq 0 ]
}

@test "source: no function is longer than 150 lines, no file than 1200" {
	cd "$TOP"
	t/stats
	awk '$1 > 150 { print; bad = 1 } END { exit bad }' build/functions.txt
	! wc -l lib/*/*.[ch] lib/*/*/*.[ch] cmd/*.[ch] | grep -v ' total$' | awk '$1 > 1200' | grep . || false
}

@test "source: no more names than before are shared by static functions of three files" {
	cd "$TOP"
	t/stats >/dev/null
	cat build/names.txt
	[ "$(wc -l <build/names.txt)" -le 10 ]
}

# git has 6.3 % by this measure, uftrace 3.4 %
@test "source: at most 1 % of the comments begin with a fragment, and few puzzle or are long" {
	cd "$TOP"
	t/comments
	cat build/comments.txt
	[ "$(grep -c ': fragment: ' build/comments.txt)" -le 65 ]
	[ "$(grep -cE ': (long|phrase): ' build/comments.txt)" -le 30 ]
}

@test "source: a .c file begins with what it does" {
	cd "$TOP"
	find cmd lib -name '*.c' -exec awk 'FNR == 2 && !/^\/\*/ { print FILENAME }' {} + | sort >"$BATS_TEST_TMPDIR/without"
	cat "$BATS_TEST_TMPDIR/without"
	[ ! -s "$BATS_TEST_TMPDIR/without" ]
}

@test "source: no more functions than before have over six parameters, which a struct would name" {
	cd "$TOP"
	t/stats >/dev/null
	# what the JVM calls has the parameters that JVMTI says
	grep -vxE 'lib/agent/(session/events.c:session_on_code|locks/exact_classes.c:on_load|calls/hidden.c:on_define|calls/instrument.c:instrument_hook|sources/(given.c:on_load|vmevents.c:on_exception))' \
		build/parameters.txt >"$BATS_TEST_TMPDIR/ours" || true
	cat "$BATS_TEST_TMPDIR/ours"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/ours")" -le 1 ]
}

@test "t/stress/soak.sh: what it takes" {
	local minutes
	for minutes in 0 3 1h -n '5 6'; do
		run "$TOP/t/stress/soak.sh" "$minutes"
		[ "$status" -eq 2 ]
		[ "$output" = 'usage: t/stress/soak.sh [MINUTES]: 4 or more; 60 are the default' ]
	done
}
