#!/usr/bin/env bats
# bats file_tags=stored
load ../lib

@test "options: the tables of all commands are consistent" {
	run_arcprof --dump check
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
}

@test "options: letters mean the same in every command" {
	# letter and name, as the help of all commands has them; one line a pair
	for c in $(arcprof --dump commands); do
		arcprof "$c" -h
	done | sed -nE 's/^    (-[A-Za-z0-9]), --(no-)?([a-z0-9-]+).*/\1 \3/p' | sort -u >pairs
	cut -d ' ' -f 1 pairs | sort | uniq -d >twice
	# what users of perf and strace know wins over uniformity: only these may differ
	grep -vxE -e '-[srtdf]' twice >unexpected || true
	cat unexpected
	[ ! -s unexpected ]
}

@test "options: a mistyped option is a usage error with the nearest name" {
	run_arcprof version --fromat=json
	[ "$status" -eq 2 ]
	[ -z "$output" ]
	[ "$stderr" = "arcprof version: unknown option '--fromat'
hint: did you mean '--format'?" ]
}

@test "options: an unknown option without neighbours points to -h" {
	run_arcprof version --zzzzzzzz
	[ "$status" -eq 2 ]
	[[ $stderr == *"hint: 'arcprof version -h' lists the options" ]]
}

@test "options: a wrong word lists the right ones" {
	run_arcprof version --format=xml
	[ "$status" -eq 2 ]
	[[ $stderr == *"--format: invalid value 'xml' (expected one of: text, json"* ]]
}

@test "options: a missing argument is a usage error naming the option" {
	run_arcprof version --format
	[ "$status" -eq 2 ]
	[[ $stderr == *"--format needs an argument"* ]]
}

@test "options: an argument a command does not take is a usage error" {
	run_arcprof version extra
	[ "$status" -eq 2 ]
	[[ $stderr == *"unexpected argument 'extra'"* ]]
}

@test "options: common ones may stand before the command" {
	[ "$(arcprof --color=always -q version)" = "$(arcprof version)" ]
	run_arcprof --colour=never version
	[ "$status" -eq 2 ]
	[[ $stderr == *"did you mean '--color'?"* ]]
}

@test "options: every word the completions offer is accepted by the parser" {
	for c in $(arcprof --dump commands); do
		for w in $(arcprof --dump words "$c"); do
			case $w in
			*=) w=${w}0 ;;
			--no-help) continue ;;
			esac
			# a wrong argument is fine, an unknown option is not; --help keeps it from running,
			# but must not become the argument of a letter
			case $w in
			-?) arcprof "$c" --help "$w" ;;
			*) arcprof "$c" "$w" --help ;;
			esac </dev/null >/dev/null 2>>said || true
		done
	done
	[ -e said ]
	! grep "unknown option" said || false
}

@test "completions: bash completes commands, options and values" {
	bash -n "$BUILD/share/arcprof.bash"
	complete_line() {
		bash -c 'source "$0"; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); compopt() { :; }; _arcprof
			echo "${COMPREPLY[*]}"' "$BUILD/share/arcprof.bash" "$@"
	}
	[ "$(complete_line arcprof versi)" = version ]
	[ "$(complete_line arcprof version --form)" = --format= ]
	[ "$(complete_line arcprof version --format j)" = json ]
	[ "$(complete_line arcprof help doc)" = doctor ]
	[ "$(complete_line arcprof help pyt)" = python ]
	# what a command does is its first operand
	[ "$(complete_line arcprof ctl snap)" = snapshot ]
	[ "$(complete_line arcprof ptt inf)" = info ]
	[ -z "$(complete_line arcprof heap report rep)" ]
	# names of events, also as further ones of a list
	[ "$(complete_line arcprof record -e wak)" = wakers ]
	[ "$(complete_line arcprof record --event cpu,page-f)" = cpu,page-faults ]
	[[ $(complete_line arcprof record -e gc) == gc && $(complete_line arcprof top -e cpu-cl) == cpu-clock ]]
	# a letter's argument is completed as that of its name, and what follows is the program's own command line
	complete_line arcprof record -p $$ | grep -qw $$
	[ "$(complete_line arcprof record --mode=normal -o x --dur)" = --duration= ]
	[ -z "$(complete_line arcprof record -- java --dur)" ]
	[ -z "$(complete_line arcprof record -o x java --dur)" ]
	complete_line arcprof record -e cpu-clock -- jav | grep -qw java
	complete_line arcprof cpi jav | grep -qw java
}

@test "completions: zsh and fish can read theirs" {
	command -v zsh >/dev/null || command -v fish >/dev/null || skip "neither zsh nor fish is installed"
	! command -v zsh >/dev/null || zsh -n "$BUILD/share/_arcprof"
	! command -v fish >/dev/null || fish -n "$BUILD/share/arcprof.fish"
	! command -v fish >/dev/null || [ -z "$(HOME=$PWD fish --no-config -c "source $BUILD/share/arcprof.fish" 2>&1)" ]
}

@test "options: numbers that mean nothing, and rules that match nothing, are usage errors in one line" {
	local args
	while read -r args; do
		# shellcheck disable=SC2086
		run_arcprof $args
		echo "arcprof $args: $status $stderr"
		[ "$status" -eq 2 ]
		[[ $stderr == "arcprof ${args%% *}: "* && $(grep -vc '^hint: ' <<<"$stderr") = 1 ]]
	done <<-'END'
		record -c 0 -- true
		record -c -1 -- true
		record -F 0 -- true
		record -d 0 -- true
		record -m 3 -- true
		record --max-size 1 -- true
		record --max-size 1M -- true
		record --max-size 1 --mode normal -- true
		record --segment 0 -o x/ -- true
		record --snapshot 0 --callflow -- true
		record -e wall=0 -- true
		record -e exception=0 -- true
		record --callflow=[ -- true
		record --callflow=+a.[bc]* -- true
		report --limit 0
		report --to 0
		report --prune -1
		report --prune 101
		report --xtree --xprof
		diff --limit 0 a b
		diff --min-share -1 a b
		diff --xtree --xarc a b
		query --limit 0 x
		query --memory 1 x
		heap report --limit 0 x
		heap report --prune 101 x
		itrace --limit 0 -- true
		itrace --times 0 -- true
		itrace --max-size 1 -- true
		itrace --max-size 0 -- true
		report -i x --import y
		report --import y x
		view -i x --import y
		query -i x --import y sql
		budget -i x --import y -f z
		dump -i x --import y
		dump --schema --major c2 x
		dump --schema --raw x
		dump --chunks --raw x
		dump --chunks --schema x
		export --schema duckdb --by-pid
		export --queries duckdb --metric cpu
		export --roll-up duckdb --merge-numbers
		top -n 0
		top -I 0
		ptt -t 0
		ptt --threads 0
		cpi -t 0
		cpi -r 0
		mpevt -t 0
		aboveidle -r 0
		tprof -c 0 -- true
		tprof -r 0 -- true
		ctl -p 0 status
		threads -p 0
		memory -p 0
		fleet push --every 0 x
		fleet report --limit 0
	END
}
