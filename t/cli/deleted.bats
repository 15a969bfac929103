#!/usr/bin/env bats
# Libraries and programs that are deleted or replaced while they run, of a user who may not open them again.
load ../lib

setup_file() {
	cat >"$BATS_FILE_TMPDIR/work.c" <<-'EOC'
	#include <time.h>
	volatile double sink;
	__attribute__((noinline)) void exported_work(void)
	{
		for (int i = 0; i < 20000; i++)
			sink += i * 1.5;
	}
	__attribute__((noinline)) static void hidden_work(void)
	{
		for (int i = 0; i < 10000; i++)
			sink += i * 2.5;
		asm volatile("");
	}
	void run_for(double seconds)
	{
		struct timespec a, b;
		clock_gettime(CLOCK_MONOTONIC, &a);
		do {
			exported_work();
			hidden_work();
			clock_gettime(CLOCK_MONOTONIC, &b);
		} while (b.tv_sec - a.tv_sec + (b.tv_nsec - a.tv_nsec) / 1e9 < seconds);
	}
	EOC
	cat >"$BATS_FILE_TMPDIR/main.c" <<-'EOC'
	#include <dlfcn.h>
	#include <stdio.h>
	#include <unistd.h>
	int main(int argc, char **argv)
	{
		void *lib = dlopen(argv[1], RTLD_NOW);
		void (*run)(double) = lib ? (void (*)(double))dlsym(lib, "run_for") : 0;

		if (!run)
			return fprintf(stderr, "%s\n", dlerror()), 1;
		if (argc > 2)		/* another file takes its name */
			rename(argv[2], argv[1]);
		else
			unlink(argv[1]);
		run(1);
		return 0;
	}
	EOC
	gcc -O1 -fno-optimize-sibling-calls -fPIC -shared -o "$BATS_FILE_TMPDIR/libwork.so" "$BATS_FILE_TMPDIR/work.c"
	gcc -O1 -o "$BATS_FILE_TMPDIR/main" "$BATS_FILE_TMPDIR/main.c" -ldl
}

# A folder in which anybody may write, and the trace of that user there.
setup() {
	skip_unless_perf
	place=$(mktemp -d /tmp/arcprof-deleted.XXXXXX)
	chmod 777 "$place"
	cp "$BATS_FILE_TMPDIR/libwork.so" "$place/libwork.so"
	cp "$BATS_FILE_TMPDIR/main" "$place/main"
	chmod 755 "$place"/*
}

teardown() {
	[ -z "$place" ] || rm -rf "$place"
}

# share <function>: percent of the samples in it
share() {
	jq --arg f "$1" '([.rows[] | select(.name == $f) | .base[0]] | add // 0) * 100 / .metrics[0].total | floor' rows
}

record_as_nobody() {
	cp "$ARCPROF" "$place/arcprof"
	cd "$place"
	as_nobody env HOME="$place" ./arcprof record -q --no-java -o trace -- ./main "$@" 2>err ||
		{ grep -q "perf_event" err && skip "perf_event_open() is not permitted to users"; cat err; return 1; }
	"$ARCPROF" report -i trace --xprof --format json >rows
	jq -c .quality rows
	[ ! -e libwork.so ] || ! cmp -s libwork.so "$BATS_FILE_TMPDIR/libwork.so"
	complete=$(jq '.quality | .complete_stacks * 100 / .samples | floor' rows)
}

@test "deleted: a library that is gone has names and complete stacks for an ordinary user" {
	record_as_nobody ./libwork.so
	[ "$complete" -ge 97 ]
	[ "$(share exported_work)" -ge 40 ]
	# what is not exported is known by the bounds of its unwind rules, or has at least its library
	jq -e '[.rows[] | select(.module // "" | endswith("libwork.so")) | .base[0]] | add > 0' rows
	"$ARCPROF" report -i trace --xtree --format json | jq -e '
		[.nodes[] | {(.id | tostring): .}] | add as $n |
		any($n[]; .name == "exported_work" and $n[.parent | tostring].name == "run_for")'
}

@test "deleted: a replaced file has the names of what is mapped, not of its successor" {
	printf 'int exported_work(void) { return 1; }\nint run_for(void) { return 2; }\n' >other.c
	gcc -fPIC -shared -o "$place/next.so" other.c
	chmod 755 "$place/next.so"
	record_as_nobody ./libwork.so ./next.so
	[ "$complete" -ge 97 ]
	[ "$(share exported_work)" -ge 40 ]
}
