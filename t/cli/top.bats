#!/usr/bin/env bats
load ../lib

# Of the screen in $output: share, in percent, of the row of that name in a column: 1 self, 2 total.
share_of() {
	awk -v name="$1" -v c="$2" '$4 == name { sub("%", "", $c); print $c; exit }' <<<"$output"
}

# Two binomial shares of n1 and n2 samples, in percent, differ by no more than two standard errors.
same_share() {
	awk -v p="$1" -v n1="$2" -v q="$3" -v n2="$4" 'BEGIN {
		m = (p * n1 + q * n2) / (n1 + n2) / 100
		d = p - q
		exit !(d * d <= 4 * 1e4 * m * (1 - m) * (1 / n1 + 1 / n2))
	}' || { echo "$1 % of $2 and $3 % of $4 differ"; return 1; }
}

@test "top: one screen as text has functions, process, CPU time and memory" {
	skip_unless_perf
	run_arcprof top -n 1 -- "$(workload shares)" 20
	[ "$status" -eq 0 ]
	[[ ${lines[0]-$output} != *$'\033'* ]]
	grep -qE '^arcprof top: .*shares 20; [0-9.]+ s, [0-9]+ samples of (cpu-clock|cycles), 0 lost$' <<<"$output"
	grep -qE '^ +PID +SHARE +CPU% +RSS +HEAP +PROCESS$' <<<"$output"
	grep -qE '^ *[0-9]+ 100\.0% ' <<<"$output"
	grep -qE '^ +SELF +TOTAL +N +FUNCTION$' <<<"$output"
	grep -qE '^ *[0-9.]+% +[0-9.]+% +[0-9]+  sixteen  shares' <<<"$output"
}

@test "top: -n says how many screens, and the program is asked to end" {
	skip_unless_perf
	run_arcprof top -n 3 -I 0.2 -- "$(workload shares)" 1000000
	[ "$status" -eq 143 ]
	[ "$(grep -c '^arcprof top: ' <<<"$output")" -eq 3 ]
}

@test "top: folds, sorts, filters and limits as asked" {
	skip_unless_perf
	w=$(workload shares)
	run_arcprof top -n 1 --fold module --limit 1 -- "$w" 20
	grep -q '^ *SELF *TOTAL *N  MODULE$' <<<"$output"
	[ "$(sed '1,/SELF/d' <<<"$output" | wc -l)" -eq 1 ]
	run_arcprof top -n 1 --fold thread -- "$w" 20
	grep -qE '^100\.00% 100\.00% .*\[tid [0-9]+\]$' <<<"$output"
	run_arcprof top -n 1 --fold process -- "$w" 20
	grep -qE '^100\.00% 100\.00% .*\[pid [0-9]+\]$' <<<"$output"
	run_arcprof top -n 1 --filter SIXTEEN -- "$w" 20
	[ "$(sed '1,/SELF/d' <<<"$output" | awk '{ print $4 }')" = sixteen ]
	run_arcprof top -n 1 --sort total -- "$w" 20
	sed '1,/SELF/d' <<<"$output" | awk '{ sub("%", "", $2); if (NR > 1 && $2 + 0 > last) exit 1; last = $2 + 0 }'
}

@test "top: invalid options are a usage error" {
	for o in "-I 0.01" "-I x" "--sort up" "--fold all"; do
		# shellcheck disable=SC2086
		run_arcprof top $o -- true
		[ "$status" -eq 2 ]
	done
	run_arcprof top -p 1 -a
	[ "$status" -eq 2 ]
	run_arcprof top -n 1 -- ./nowhere
	[ "$status" -eq 127 ]
}
