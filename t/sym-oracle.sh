#!/bin/bash
# Holds lib/sym and lib/unwind against binutils on real files, which neither of us wrote:
#	rows	readelf --debug-dump=frames-interp	every row of every function
#	syms	nm					every function has one of its names
#	lines	addr2line -i -f				every address asked, with inlined calls
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
		if (n == "ra") return v == "u" ? " ra=u" : " ra=" v
		return v == "u" || v == "s" ? "" : " r" reg(n) "=" (v in num ? "r" num[v] : v)
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
		if (infde && $1 != at) flush_row()
		if (infde && $1 >= stop) next
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
		if ($1 != at) flush_row()
		at = $1
		row = " " $2
		ra = " ra=u"
		for (i = 3; i <= NF; i++) if ($i ~ /^ra=/) ra = " " $i; else if ($i !~ /=[us]$/) row = row " " $i
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
}

for f; do
	compare_$what "$f"
done
exit $bad
