#!/bin/bash
# Holds lib/sym and lib/unwind against other tools on real files that no test made:
#	rows	readelf --debug-dump=frames-interp	every row of every function
#	syms	nm					every function has one of its names
#	lines	llvm-symbolizer				three addresses in functions, with inlined calls
#		(binutils 2.40 confuses the file numbers of DWARF 5)
#	names	c++filt					every mangled name
# usage: t/sym-oracle.sh <symq> <what> <file>...	prints what differs; status 1 when any does
set -u
export LC_ALL=C
symq=$1
what=$2
shift 2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
bad=0

report() {	# file differing total
	echo "$what $1: $3 compared, $2 differ"
	[ "$2" = 0 ] && [ "$3" != 0 ] || bad=1
}

# "fde start end", then "address cfa rules..."; a row equal to the one before is dropped, and of
# rows at one address the last counts.  readelf prints u both for unset and for undefined, and
# nothing at all for a function without instructions of its own: that has its CIE's row.
readelf_rows() {
	readelf --debug-dump=frames-interp "$1" 2>/dev/null | awk '
	function reg(n) { return n in num ? num[n] : n }
	function rule(n, v) {
		if (n ~ /^[dv][0-9]/) return ""	# vector registers have no part in finding frames
		if (v == "u" || v == "s") return ""
		return n == "ra" ? " ra=" v : " r" reg(n) "=" (v in num ? "r" num[v] : v)
	}
	function cfa(v,  m) {
		match(v, /^[a-z0-9]+/)
		m = substr(v, 1, RLENGTH)
		return m in num ? "r" num[m] substr(v, RLENGTH + 1) : v
	}
	function flush_row() { if (row != "" && row != last) { print at row; last = row } row = "" }
	function end_fde() {
		flush_row()
		if (infde && !nrows && ciename in cierow) print start cierow[ciename]
		infde = 0
	}
	BEGIN {
		split("rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15", r, " ")
		for (i in r) num[r[i]] = i - 1
		for (i = 0; i < 31; i++) num["x" i] = i	# arm64
		num["sp"] = 31
	}
	/^Contents of the/ { end_fde(); section = $4; if (section == ".debug_frame") { nosec = seen } seen = 1 }
	nosec || / ZERO terminator/ { next }
	{ gsub(/ \([a-z0-9]+\)/, "") }	# r1 (rdx)
	/ CIE / { end_fde(); incie = 1; ciename = $1; next }
	/ FDE / {
		end_fde()
		incie = 0; infde = 1; nrows = 0; last = ""
		match($0, /cie=[0-9a-f]+/); ciename = substr($0, RSTART + 4, RLENGTH - 4)
		match($0, /pc=[0-9a-f]+\.\.[0-9a-f]+/)
		split(substr($0, RSTART + 3, RLENGTH - 3), pc, /\.\./)
		start = pc[1]; stop = pc[2]
		print "fde " pc[1] " " pc[2]
		next
	}
	/^ +LOC / { n = split($0, col, " "); next }
	/^[0-9a-f]+ / && (incie || infde) {
		if (infde && ("x" $1) != ("x" at)) flush_row()	# not as numbers: 00270e7 is one
		if (infde && ("x" $1) >= ("x" stop)) next
		at = $1
		row = " " cfa($2)
		ra = ""
		for (i = 3; i <= n; i++) if (col[i] == "ra") ra = rule("ra", $i); else row = row rule(col[i], $i)
		row = row ra
		if (incie) { cierow[ciename] = row; row = "" } else nrows++
	}
	END { end_fde() }'
}

symq_rows() {
	"$symq" "$1" rows | awk '
	function flush_row() { if (row != "" && row != last) { print at row; last = row } row = "" }
	/^fde/ { flush_row(); last = ""; print; next }
	{
		if (("x" $1) != ("x" at)) flush_row()
		at = $1
		row = " " $2
		ra = ""
		for (i = 3; i <= NF; i++) if ($i ~ /=[us]$/) continue; else if ($i ~ /^ra=/) ra = " " $i; else row = row " " $i
		row = row ra
	}
	END { flush_row() }'
}

# One line a function, so that the order of functions does not matter.
by_function() {
	awk '/^fde/ { if (l) print l; l = $0; next } { l = l " | " $0 } END { print l }' | sort
}

compare_rows() {
	readelf_rows "$1" | by_function > "$tmp/want"
	symq_rows "$1" | by_function > "$tmp/got"
	diff "$tmp/want" "$tmp/got" > "$tmp/diff"
	head -${SHOW:-6} "$tmp/diff"
	report "$1" "$(grep -c '^[<>]' "$tmp/diff")" "$(tr '|' '\n' < "$tmp/got" | wc -l)"
	"$symq" "$1" cache | grep -q ' 0 differ' || { echo "cached rows differ"; bad=1; }
}

# Which table symq takes: the file's, its debug file's, else the dynamic one.
table_of() {
	case $("$symq" "$1" info | tail -1) in
	.symtab) echo "$1 .symtab" ;;
	*debug\ file) echo "$(debug_file "$1") .symtab" ;;
	*) echo "$1 .dynsym" ;;
	esac
}

debug_file() {
	local id
	id=$("$symq" "$1" info | head -1)
	echo "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
}

# Every function of the table has an entry of ours at its address, and every entry of ours one
# of the names the table has there.
compare_syms() {
	# shellcheck disable=SC2046	# two words
	set -- "$1" $(table_of "$1")
	readelf -sW "$2" 2>/dev/null | awk -v want="'$3'" '
		/^Symbol table/ { on = index($0, want) }
		on && ($4 == "FUNC" || $4 == "IFUNC") && $7 != "UND" && $7 != "ABS" && $8 != "" {
			sub(/@.*/, "", $8); print $2, $8
		}' | sort -u > "$tmp/want"
	"$symq" "$1" syms | awk '{ sub(/@@?[A-Z].*/, "", $3); if ($3 !~ /@plt$/) print $1, $3 }' |
		sort -u > "$tmp/got"
	awk 'NR == FNR { want[$1]; name[$1 " " $2]; next }
		{ have[$1]; if ($1 in want && !($1 " " $2 in name)) print "wrong name", $0 }
		END { for (a in want) if (!(a in have)) print "missing", a }' \
		"$tmp/want" "$tmp/got" > "$tmp/diff"
	head -${SHOW:-6} "$tmp/diff"
	report "$1 ($3)" "$(wc -l < "$tmp/diff")" "$(wc -l < "$tmp/want")"
}

# Functions and files, one line an address; paths by their last part, since tools differ in how
# they join directories; not the outermost function's name, which is the symbol table's.
one_line_each() {
	awk 'function out(  i, l) {
			if (!n) return
			l = addr
			for (i = 1; i <= n; i += 2) {
				loc = v[i + 1]; sub(/ \(disc.*/, "", loc); sub(/.*\//, "", loc); sub(/:\?$/, ":0", loc)
				if (loc ~ /:0$/) loc = "?"	# some take the file of the symbol table then
				l = l " " (i + 1 == n ? "" : v[i]) "@" loc
			}
			print l
		}
		/^0x/ { out(); n = 0; addr = $0; sub(/^0x0*/, "", addr); next }
		{ v[++n] = $0 }
		END { out() }'
}

compare_lines() {
	local obj=$1 debug
	debug=$(debug_file "$1")
	[ -e "$debug" ] && obj=$debug
	"$symq" "$1" syms | awk -v every="${EVERY:-1}" 'NR % every == 0 && $3 !~ /@plt/ { print $1, $2 }' |
		while read -r addr size; do
			printf '0x%x\n0x%x\n0x%x\n' $((16#$addr)) $((16#$addr + 16#$size / 2)) \
				$((16#$addr + 16#$size - 1))
		done > "$tmp/addrs"
	llvm-symbolizer --obj="$obj" --no-demangle --addresses --inlines --functions=linkage \
		--output-style=GNU < "$tmp/addrs" | one_line_each > "$tmp/want"
	"$symq" "$1" lines < "$tmp/addrs" | one_line_each > "$tmp/got"
	diff "$tmp/want" "$tmp/got" > "$tmp/diff"
	head -${SHOW:-6} "$tmp/diff"
	report "$1" "$(grep -c '^[<]' "$tmp/diff")" "$(wc -l < "$tmp/addrs")"
}

# What follows a dot is the compiler's business: c++filt drops it from Rust's names. It writes out what
# std::string and the like stand for.
compare_names() {
	{ nm "$1"; nm -D "$1"; } 2>/dev/null | awk '{ sub(/@.*/, "", $NF); print $NF }' |
		grep -E '^_(R[A-Z]|Z)' | grep -v '[.]' | sort -u > "$tmp/names"
	c++filt -i < "$tmp/names" | sed -E \
		's/std::(__cxx11::|__1::)?basic_([a-z_]+)<char, std::(__1::)?char_traits<char>(, std::(__1::)?allocator<char>)? >( (>))?/std::\2\7/g' \
		> "$tmp/want"
	"$symq" - demangle < "$tmp/names" > "$tmp/got"
	diff "$tmp/want" "$tmp/got" > "$tmp/diff"
	head -${SHOW:-6} "$tmp/diff"
	report "$1" "$(grep -c '^<' "$tmp/diff")" "$(wc -l < "$tmp/names")"
}

for f; do
	compare_$what "$f"
done
exit $bad
