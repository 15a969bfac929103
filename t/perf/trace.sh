#!/bin/sh
# What a trace costs to write and to read: many native samples, and fewer deep Java ones.
set -e
cd "$(dirname "$0")/../.."
build=${BUILD:-build}/t/perf
make -s perf >/dev/null
file=$(mktemp)
trap 'rm -f "$file" "$file.old"' EXIT

one() {
	echo "-- $*"
	rm -f "$file"
	"$build/trace-gen" "$@" "$file"
	"$build/trace" "$file"
}

one --samples 2200000 --stacks 222000 --depth 6 --compress
one --samples 2200000 --stacks 222000 --depth 6
one --java --samples 326000 --stacks 25000 --depth 60 --max-depth 496 --compress
one --java --samples 326000 --stacks 25000 --depth 60 --max-depth 496
