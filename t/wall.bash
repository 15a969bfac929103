# shellcheck shell=bash
# wall.bash - what programs of t/workloads say they waited, and what a trace has of it.

# by_function <trace> <regex>: "function leaf ns" of the process that begins in main(), and "function all ns".
by_function() {
	"$ARCPROF" report -i "$1" --metric wall --hide-files --format folded >folded
	awk -v want="$2" -v first="$(sed -n '/;main;/{s/;.*//p;q}' folded)" '
	{
		ns = $NF
		sub(/ [0-9]+$/, "")
		n = split($0, f, ";")
		if (f[1] != first)
			next
		for (i = 1; i < n && f[i] !~ want; i++)
			;
		if (i < n) {
			sum[f[i] "\tall"] += ns
			sum[f[i] "\t" f[n]] += ns
		}
	}
	END { for (k in sum) print k "\t" sum[k] }' folded
}

# agrees <percent> [sum [11]]: what "waits" says it waited, in each of its functions, is what the trace has there;
# sum: of the two in which one thread waits in turn, the sum is. 11: without burn(), and by looks, which see less of waits
# that end when a CPU is free.
agrees() {
	by_function trace '^(wait_|burn$)' >got
	awk -F '\t' -v tolerance="$1" -v sum="${2:-}" -v functions="${3:-12}" '
	FILENAME == "got" { got[$1 "\t" $2] = $3 / 1e6; next }
	{
		split($0, f, " ")
		reason = substr($0, length(f[1] f[2] f[3]) + 4)
		all = got[f[1] "\tall"]
		known = got[f[1] "\t" reason] + got[f[1] "\t[runnable]"] + got[f[1] "\t[on CPU]"]
		if (reason == "[on CPU]")
			known -= got[f[1] "\t[on CPU]"]
		rows++
		if (sum && f[1] ~ /mixed/) {
			want_mixed += f[2]
			got_mixed += all
			few += known <= all * 0.97 || all < f[2] / (functions < 12 ? 5 : 2)
			next
		}
		# the shorter the wait, the more the clock is read outside of what the program times
		allowed = f[2] * tolerance / 100 + 20
		ok = all > f[2] - allowed && all < f[2] + allowed && known > all * 0.97
		printf "%-18s %9.1f ms, %s %9.1f of %9.1f%s\n", f[1], f[2], reason, known, all, ok ? "" : ": not as it should be"
		bad += !ok
	}
	END {
		if (sum)
			printf "mixed %9.1f of %9.1f, %d of the two wrong\n", got_mixed, want_mixed, few
		allowed = want_mixed * tolerance / 100 + 20
		exit bad || rows != functions || few || got_mixed < want_mixed - allowed || got_mixed > want_mixed + allowed
	}' got truth
}

# ran_in_burn <ms>: of ./trace: the CPU time of the program "spin" is what it printed, and is in its function burn().
ran_in_burn() {
	"$ARCPROF" report -q -i trace --check >check || { grep -v '^ok' check; return 1; }
	"$ARCPROF" report -i trace --metric wall --format folded >folded
	awk -v want="$1" '
	/^spin \[pid.*\[on CPU\] [0-9]+$/ { all += $NF / 1e6; burn += /;burn;/ ? $NF / 1e6 : 0 }
	END {
		printf "spin %.1f ms on CPUs, of it burn %.1f; it says %.1f, and it was loaded before\n", all, burn, want
		exit all < want * 0.95 || all > want + 25 || burn < want * 0.75
	}' folded
}

# slept_ran_and_stopped <process>...: of ./trace, a second long: what three processes, recorded by number, did in it.
slept_ran_and_stopped() {
	local sleeps=$1 busy=$2 stopped=$3
	"$ARCPROF" report -i trace --threads --format json >threads
	jq -c '.threads[] | [.pid, .wall_ns, .cpu_ns, .runnable_ns, .blocked_ns, .most_blocked_in]' threads
	of() { jq ".threads[] | select(.pid == $1) | $2" threads; }
	[ "$(of "$sleeps" .blocked_ns)" -gt 900000000 ]
	[ "$(of "$sleeps" .most_blocked_in)" = '"[sleep]"' ]
	[ "$(of "$stopped" .blocked_ns)" -gt 900000000 ]
	[ "$(of "$stopped" .most_blocked_in)" = '"[stopped]"' ]
	[ "$(of "$busy" '.cpu_ns + .runnable_ns')" -gt 900000000 ]
	[ "$(of "$busy" .cpu_ns)" -gt 50000000 ]
}

# Of t/workloads/Waits.java and its like:

# by_reason: "thread reason ns" of ./trace, with parking, reading and accepting as the program calls them.
by_reason() {
	"$ARCPROF" report -i trace --metric wall --hide-files --format folded >folded
	awk '
	{
		ns = $NF
		sub(/ [0-9]+$/, "")
		n = split($0, f, ";")
		thread = f[2]
		sub(/ \[.*/, "", thread)
		reason = f[n]
		gsub(/[][]/, "", reason)
		sub(/^park: .*/, "park", reason)
		sub(/^Object.wait/, "wait", reason)
		sub(/^(read|recv|recvfrom|accept|accept4|poll|openat).*/, "io", reason)
		sum[thread " " reason] += ns
	}
	END { for (k in sum) print k, sum[k] }' folded
}

# agrees_java <percent> <ms>: what the program printed, but for short waits that share a thread, of which the sum counts.
# As far as a thread waited for CPUs, the program cannot tell exactly what a wait was. Where the agent came too late for
# a stack, as on a busy machine, there is a futex in place of the reason: a quarter may be so.
agrees_java() {
	by_reason >got
	awk -v percent="$1" -v ms="$2" '
	FILENAME == "got" { got[$1 " " $2] += $3 / 1e6; next }
	$1 != "TRUTH" { next }
	$2 == "mixed" { want_mixed += $4; late_mixed += $5; got_mixed += got[$2 " " $3]; few += got[$2 " " $3] < $4 / 2; next }
	{ check($2 " " $3, got[$2 " " $3], $4, $5, got[$2 " futex"]) }
	function check(what, is, should, late, unknown) {
		allowed = should * percent / 100 + ms + late
		unknown = unknown < should / 4 ? unknown : should / 4
		ok = is + unknown > should - allowed && is < should + allowed
		printf "%-18s %9.1f ms, should be %9.1f, and waited %.1f for CPUs, %.1f unknown%s\n", what, is, should,
			late, unknown, ok ? "" : ": not as it should be"
		bad += !ok
		rows++
	}
	END {
		if (want_mixed)
			check("mixed", got_mixed, want_mixed, late_mixed)
		exit bad || few || !rows
	}' got truth
}
