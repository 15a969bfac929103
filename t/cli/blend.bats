#!/usr/bin/env bats
load ../lib
load ../java

# Each run is as fast as the machine lets it be: by the program's own clock, inlining shows in both pairs.
is_quiet() {
	local kind
	for kind in truth sampled; do
		[ "$(($(sed -n 's/^small //p' $kind-) * 10))" -gt "$(($(sed -n 's/^small //p' $kind+) * 14))" ] || return 1
	done
}

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return 1
	[ -n "$(jdks)" ] || return 0
	use_jdk "$(jdks | head -n 1)"
	for _ in 1 2 3 4; do
		record_both
		! is_quiet || break
	done
}

record_both() {
	for inline in + -; do
		java -XX:${inline}Inline -cp "$CLASSES" Inlining 20000 >truth$inline
		"$ARCPROF" record -q -F 4999 -o cpu$inline.data -- java -XX:${inline}Inline -cp "$CLASSES" Inlining 20000 >sampled$inline 2>/dev/null || true
		"$ARCPROF" record -q --callflow='Inlining.*' -o calls$inline.data -- java -XX:${inline}Inline -cp "$CLASSES" Inlining 20000 \
			>/dev/null 2>&1 || true
	done
}

setup() {
	trace_errors_only
	cd "$BATS_FILE_TMPDIR" || return 1
}

blended() {
	arcprof report "cpu$1.data" --blend "calls$1.data" "${@:2}"
}

# Cost of a call of small(), with what it calls, in ns: by the blend, by probes, by the program itself.
blend_cost() {
	blended "$1" --xtree --format csv | awk -F, '$5 == "Inlining.small" { printf "%.0f\n", $NF }'
}
probe_cost() {
	arcprof report "calls$1.data" --no-calibrate --xtree --metric cpu --format csv |
		awk -F, '$5 == "Inlining.small" { printf "%.0f\n", $10 / $8 }'
}
true_cost() {
	sed -n 's/^small //p' "truth$1"
}
# The same in the run whose samples are blended: they take time, too, and runs differ.
sampled_cost() {
	sed -n 's/^small //p' "sampled$1"
}

@test "blend: costs show the effect of inlining as undisturbed runs do; probes cannot" {
	skip_unless_perf
	skip_unless_java
	for inline in + -; do
		echo "$inline: blend $(blend_cost $inline), probes $(probe_cost $inline)," \
			"program $(true_cost $inline), sampled $(sampled_cost $inline)"
	done
	# the program is about twice as slow without inlining, and the blend agrees; sampling 5000 times a
	# second adds as much to both
	[ "$(($(true_cost -) * 10))" -gt "$(($(true_cost +) * 14))" ]
	[ "$(($(blend_cost -) * 10))" -gt "$(($(blend_cost +) * 12))" ]
	# probes take many times as long as what they count, and hide the difference
	[ "$(probe_cost +)" -gt "$((4 * $(true_cost +)))" ]
	[ "$(($(probe_cost -) * $(true_cost +) * 10))" -lt "$(($(probe_cost +) * $(true_cost -) * 9))" ]
	for inline in + -; do
		[ "$(($(blend_cost $inline) * 100))" -gt "$(($(sampled_cost $inline) * 85))" ]
		[ "$(($(blend_cost $inline) * 100))" -lt "$(($(sampled_cost $inline) * 115))" ]
	done
}

@test "blend: counts come from the calls, consumption from the samples, and nearly all of it matches" {
	skip_unless_perf
	skip_unless_java
	for inline in + -; do
		blended $inline --xprof --format json >json
		[ "$(jq '.rows[] | select(.name == "Inlining.next") | .n' json)" -eq 20000000 ]
		[ "$(jq '.metrics[] | select(.name == "cpu-clock") | .total' json)" -eq \
			"$(arcprof report "cpu$inline.data" --xprof --format json | jq '.metrics[0].total')" ]
		jq -e '.quality.unmatched_share <= 0.05' json
		jq -e '[.metrics[].name] | index("cpu") == null and index("wall") == null' json
		blended $inline --check >/dev/null
	done
	blended + --xprof | grep -q '^calls and samples of two recordings; no calls were counted for '
	blended + --xprof | grep -q 'Base/Call'
	! arcprof report calls+.data --xprof | grep -q 'Base/Call' || false
}

@test "blend: traces that do not match are an error that says why" {
	calls=$TOP/t/data/calls/trace mixed=$TOP/t/data/mixed/trace
	run_arcprof report "$mixed" --blend "$mixed"
	[ "$status" -eq 1 ]
	[[ $stderr == *"the recording to take calls from has no exact calls"* ]]
	run_arcprof report "$TOP/t/data/branches/trace" --blend "$calls"
	[ "$status" -eq 1 ]
	[[ $stderr == *"the recording to take samples from has none"* ]]
	arcprof record -q -F 1 -o none.data -- true
	run_arcprof report none.data --blend "$calls"
	[ "$status" -eq 1 ]
	[[ $stderr == *"the recording to take samples from has none"* ]]
	run_arcprof report --tree "$TOP/t/data/sources/tree" --blend "$calls"
	[ "$status" -eq 2 ]
	run_arcprof report "$mixed" --blend "$calls" --threads
	[ "$status" -eq 2 ]
	run_arcprof report "$mixed" --blend nosuch
	[ "$status" -eq 1 ]
	[[ $stderr == *nosuch* ]]
	run_arcprof report "$mixed" --blend "$calls" --xprof
	[ "$status" -eq 0 ]
}
