#!/usr/bin/env bats
# Each statement of the five papers is shown by the command that Documentation/technical/papers.adoc has beside it, or by
# the test that is named there.
# bats file_tags=stored
load ../lib

PAGE=$TOP/Documentation/technical/papers.adoc
US=$'\x1f'

# The rows of the page, one per line: number, paper, statement, command, who checks it.
rows() {
	awk -v OFS="$US" '
	function end() {
		if (nr)
			print nr, paper, cell[1], cell[2], cell[3]
		nr = ""
		split("", cell)
	}
	/^== / { paper = substr($0, 4) }
	/^\|===$/ || /^$/ { end(); next }
	/^\|[0-9]+(-[0-9]+)? \|/ { nr = substr($1, 2); n = 1; sub(/^[^ ]* \|/, ""); cell[n] = $0; next }
	nr && /^\|/ { cell[++n] = substr($0, 2); next }
	nr { cell[n] = cell[n] " " $0 }' "$PAGE"
}

# What the last column says of each row, a line each: the number, the trace or the test's file, and the text or the
# words. Then the commands of the row.
checks() {
	rows | awk -F "$US" -v OFS="$US" '
	function bare(text) {
		gsub(/`\+|\+`|`/, "", text)
		return text
	}
	{
		n = 0
		if (match($5, /^_[a-z_]+_: /)) {
			check[++n] = substr($5, 2, RLENGTH - 4) OFS bare(substr($5, RLENGTH + 1))
		} else {
			nr = split($5, tests, /; */)
			for (i = 1; i <= nr; i++) {
				check[++n] = bare(tests[i])
				sub(/ /, OFS, check[n])
				check[n] = "t/" check[n]
			}
		}
		commands = ""
		for (text = $3 " " $4; match(text, /`[^`]*`/); text = substr(text, RSTART + RLENGTH)) {
			command = bare(substr(text, RSTART, RLENGTH))
			if (command ~ /^arcprof /)
				commands = commands OFS command
		}
		print $1, n ? check[1] : OFS, substr(commands, 2)
		for (i = 2; i <= n; i++)
			print $1, check[i]
	}'
}

@test "papers: statements are numbered one after the other, and the sums of the page are those of its rows" {
	rows | awk -F "$US" -v OFS='|' '
	{
		split($1, n, "-")
		last = n[2] ? n[2] : n[1]
		if (n[1] != ++seen || NF != 5 || $3 == "" || $4 == "") {
			print "row " $1 " is not complete, or not the next one" >"/dev/stderr"
			exit bad = 1
		}
		seen = last
		kind = $4 ~ /_In part:_/ ? 4 : $4 ~ /_Not yet:_/ ? 5 : $4 ~ /_n\/a:_/ ? 6 : 3
		if (kind == 6 && $4 !~ /_n\/a:_ [^.]*; available /) {
			print "row " $1 " does not say with what it is available" >"/dev/stderr"
			exit bad = 1
		}
		if ($5 == "" && kind < 5) {
			print "row " $1 " says that it works, and not how that is known" >"/dev/stderr"
			exit bad = 1
		}
		if (!($2 in all))
			paper[++papers] = $2
		all[$2] += last - n[1] + 1
		sum[$2, kind] += last - n[1] + 1
		sum["all", kind] += last - n[1] + 1
	}
	END {
		if (bad)
			exit bad
		all[paper[++papers] = "all"] = seen
		for (i = 1; i <= papers; i++)
			print "", paper[i] " ", all[paper[i]] " ", sum[paper[i], 3] + 0 " ", sum[paper[i], 4] + 0 " ",
				sum[paper[i], 5] + 0 " ", sum[paper[i], 6] + 0
	}' >counted
	sed -n '/^|Paper /,/^|===$/p' "$PAGE" | grep -E '^\|.*[0-9]$' >said
	diff said counted
	[ "$(wc -l <said)" -eq 6 ]
}

# A folder for each stored trace, in which it is what a command reads that names no file.
stored_trace() {
	[ ! -d "$1" ] || return 0
	[ -f "$TOP/t/data/$1/README" ] || return 1
	mkdir "$1"
	ln -s "$TOP/t/data/$1"/* "$1"
	[ ! -e "$1/trace" ] || ln -s trace "$1/arcprof.data"
}

@test "papers: each command prints what the page says, of a stored trace" {
	local ran=0 nr trace text commands command
	while IFS=$US read -r nr trace text commands; do
		[[ $trace != t/* && $trace ]] || continue
		stored_trace "$trace" || { echo "$nr: no trace '$trace'"; continue; }
		while IFS= read -r -d "$US" command; do
			ran=$((ran + 1))
			(cd "$trace" && eval "$command") >>"printed.$nr" 2>&1 </dev/null || echo "$nr: status $?: $command"
		done <<<"$commands$US"
		[[ $text ]] && grep -qF -- "$text" "printed.$nr" || { echo "$nr: '$text' is not in:"; head -n 30 "printed.$nr"; }
	done < <(checks) >wrong
	cat wrong
	[ ! -s wrong ]
	echo "$ran commands"
	[ "$ran" -gt 60 ]
}

@test "papers: commands have the options that the page gives them, and tests that it names are there" {
	local name
	checks | awk -F "$US" '{ for (i = 4; i <= NF; i++) print $i }' | sed -E 's/"[^"]*"//g; s/ -- .*//' >commands
	# the command and each of its options: --name, or -x
	awk 'NF > 1 { for (i = 3; i <= NF; i++) if ($i ~ /^-[^-]/) print $2, substr($i, 1, 2);
		else if ($i ~ /^--/) { sub(/=.*/, "", $i); print $2, $i }; print $2, "" }' commands | sort -u >used
	cut -d ' ' -f 1 used | sort -u | while read -r name; do
		arcprof --dump words "$name" | awk -v name="$name" '{ sub(/=.*/, ""); print name, $0 } END { print name, "" }'
	done | sort -u >there
	comm -23 used there >unknown
	cat unknown
	[ ! -s unknown ]
	[ "$(wc -l <used)" -gt 80 ]

	grep -H '^@test\|^TEST(' "$TOP"/t/cli/*.bats "$TOP"/t/unit/u-*.c | sed -E 's,^[^:]*/,,; s,\.(bats|c):, ,' >tests
	checks | awk -F "$US" '
	NR == FNR { file = $0; sub(/ .*/, "", file); names[file] = names[file] "\n" $0; next }
	$2 !~ /^t\// || $2 == "t/" { next }
	{ n++ }
	$3 == "" || !index(names[substr($2, 3)], $3) { print $1 ": no test \"" $3 "\" in " substr($2, 3); bad = 1 }
	END { exit bad || n < 100 }' tests -
}
