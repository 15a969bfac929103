#!/usr/bin/env bats
# bats file_tags=stored
load ../lib

# Long names (or -x) of the options that head paragraphs of a page, one per line.
options_of_page() {
	awk '/^\*-.*::$/ {
		names = long = ""
		while (match($0, /\*--?[a-zA-Z0-9-]+\*/)) {
			name = substr($0, RSTART + 1, RLENGTH - 2)
			names = names name "\n"
			if (name ~ /^--/)
				long = long name "\n"
			$0 = substr($0, RSTART + RLENGTH)
		}
		printf "%s", long ? long : names
	}' "$1"
}

@test "docs: every command has a manual page" {
	for c in $(arcprof --dump commands); do
		[ -f "$TOP/Documentation/arcprof-$c.adoc" ] || { echo "no page for $c"; return 1; }
	done
}

@test "docs: table and page of every command list the same options" {
	bad=0
	for c in $(arcprof --dump commands); do
		page=$TOP/Documentation/arcprof-$c.adoc
		[ -f "$page" ] || continue
		arcprof --dump options "$c" | sort >table
		cp "$page" whole
		! grep -q "{options}/$c-choices.adoc" "$page" || arcprof --dump choices "$c" >>whole
		options_of_page whole | sort >documented
		diff -U 0 --label "options of $c" --label "$c.adoc" table documented || bad=1
	done
	[ "$bad" -eq 0 ]
}

# What an option takes is a list in help, which may be broken into lines.
@test "docs: pages name every value that an option can have" {
	for c in $(arcprof --dump commands); do
		page=$TOP/Documentation/arcprof-$c.adoc
		[ -f "$page" ] || continue
		cat "$page" "$TOP"/Documentation/include/*.adoc >whole
		! grep -q "{options}/$c-choices.adoc" "$page" || arcprof --dump choices "$c" >>whole
		arcprof "$c" -h 2>&1 | sed 's/^ *//' | tr -d '\n' | grep -oE -- '--[a-z-]+=\([a-z0-9|_-]+\)' >lists || true
		while IFS='=' read -r option values; do
			echo >>seen
			for value in $(tr '(|)' '   ' <<<"$values"); do
				grep -qwF -- "$value" whole || echo "$c $option: $value"
			done
		done <lists
	done >unnamed
	cat unnamed
	[ ! -s unnamed ]
	[ "$(wc -l <seen)" -gt 20 ]
}

@test "docs: the page of report explains every report" {
	arcprof --dump choices report | sed -n 's/^\*--\(.*\)\*::$/\1/p' >reports
	grep -qx xarc reports
	while read -r name; do
		sed -n '/^== REPORTS/,/^== COLUMNS/p' "$TOP/Documentation/arcprof-report.adoc" | grep -qxF "*$name*::" ||
			{ echo "REPORTS does not have $name"; return 1; }
	done <reports
}

@test "docs: letters in the pages are those of the tables" {
	for c in $(arcprof --dump commands); do
		page=$TOP/Documentation/arcprof-$c.adoc
		[ -f "$page" ] || continue
		sed -nE 's/^\*(-.)\*, \*(--[a-z0-9-]+)\*.*::$/\2 \1/p' "$page" | sort >documented
		arcprof "$c" -h | sed '/^Common options/q' |
			sed -nE 's/^    (-.), (--[a-z0-9-]+).*/\2 \1/p' | sort >table
		diff -U 0 --label "letters of $c" --label "$c.adoc" table documented
	done
}

@test "docs: the NAME line of each page is the command's summary" {
	arcprof --dump summaries | while IFS=$'\t' read -r c summary; do
		page=$TOP/Documentation/arcprof-$c.adoc
		[ ! -f "$page" ] || grep -qxF "arcprof-$c - $summary" "$page" ||
			{ echo "$c: '$summary' is not the NAME line"; return 1; }
	done
}

@test "docs: defaults in the pages are those of the tables" {
	for c in $(arcprof --dump commands); do
		page=$TOP/Documentation/arcprof-$c.adoc
		[ -f "$page" ] || continue
		arcprof --dump defaults "$c" >defaults
		while read -r name value; do
			awk -v n="*$name*" 'index($0, n) && /::$/ { on = 1; next } /::$/ { on = 0 } on' "$page" |
				grep -qF -- "$value" || { echo "$c: default $value of $name is not in the page"; return 1; }
		done <defaults
	done
}

@test "docs: the pages build without a warning" {
	skip_unless_command asciidoctor
	make -s -C "$TOP" man 2>&1 | tee log
	[ "${PIPESTATUS[0]}" -eq 0 ]
	! grep -iE 'warn|error' log || false
}

# With what man calls, once for all pages.
@test "docs: man shows the pages without complaint, and no page shows its markup" {
	skip_unless_command groff
	skip_unless_command asciidoctor
	make -s -C "$TOP" man >/dev/null
	groff -K utf8 -t -mandoc -ww -T utf8 -r LL=100n "$BUILD"/man/*.[1357] 2>warnings | col -b >shown
	awk '/^ARCPROF.*\([1357]\)$/ { page = $1; n++ }
		/(^|[ (])[*_][*_]?[A-Za-z][^ *_]*[*_][*_]?([] ;,.):]|$)|_[a-z]+_;|_\[\*/ { print page ": " $0 }
		END { exit n < 30 }' shown >marked
	cat warnings marked
	[ ! -s warnings ]
	[ ! -s marked ]
}

@test "docs: pages that are referred to exist" {
	cd "$TOP/Documentation"
	grep -ohE 'arcprof-[a-z]+\([1357]\)' ./*.adoc | sort -u | while read -r ref; do
		[ -f "${ref%(*}.adoc" ] || { echo "$ref does not exist"; return 1; }
	done
}

@test "docs: files that texts refer to exist" {
	cd "$TOP"
	grep -ohP '(?<![\w/])(t|lib|cmd|share|Documentation)/[\w./-]*\w(?![\w./-]*[*<])' README.md CONTRIBUTING.md \
		Documentation/{technical,howto,contributing}/*.adoc | sort -u | while read -r path; do
		# "hot" is the example of the how-to
		[ -e "$path" ] || [[ $path == *hot* ]] || { echo "$path does not exist"; return 1; }
	done
}

@test "docs: help, messages and pages use the words that were agreed on" {
	"$TOP/t/words"
}
