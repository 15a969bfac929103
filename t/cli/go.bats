#!/usr/bin/env bats
# Go programs as they are shipped: stripped of symbols and debug information. What the runtime itself needs stays.
load ../lib

setup_file() {
	command -v go >/dev/null || return 0
	export GOCACHE=$BATS_FILE_TMPDIR/cache GO111MODULE=off
	cd "$BATS_FILE_TMPDIR" || return 1
	cp "$BATS_TEST_DIRNAME/../workloads/goroutines.go" .
	go build -ldflags='-s -w' goroutines.go
	go build -ldflags='-s -w' -buildmode=pie -o goroutines-pie goroutines.go
	cat >calls-c.go <<-'END'
		package main

		/*
		extern int goBack(int);
		static __attribute__((noinline)) int spin(int n) { volatile int x = 1; while (n--) x = x * 3 + 1; return x; }
		static __attribute__((noinline)) int through(int n) { return goBack(n) + spin(1); }
		*/
		import "C"

		//export goBack
		func goBack(n C.int) C.int {
			for i := 0; i < 20000; i++ { n = n*1664525 + 1013904223 }
			return n
		}

		func main() {
			for i := 0; i < 8000; i++ { C.spin(20000); C.through(3) }
		}
	END
	for mode in exe pie; do
		go build -ldflags='-s -w' -buildmode=$mode -o calls-c-$mode calls-c.go
	done
}

# go_program <name>: a program of setup_file, without symbols.
go_program() {
	skip_unless_perf
	skip_unless_command go
	skip_unless_command readelf
	cp "$BATS_FILE_TMPDIR/$1" .
	! readelf -SW "$1" | grep -Eq ' \.(symtab|debug_info) '
}

# The last recording, of goroutines: names of all that has samples, inlined calls and whole stacks.
check_goroutines() {
	jq -e '.quality.complete_stacks * 100 >= .quality.n * 99' .report--xprof
	jq -e '[.rows[] | select(.module // "" | test("/goroutines")) | .name | select(test("unknown|\\+0x"))] == []' .report--xprof
	[ "$(cum_of_arc main.main.func1 main.deep)" -gt 0 ]
	[ "$(cum_of_arc main.deep main.mixed)" -gt 0 ]
	[ "$(cum_of_arc main.mixed main.step)" -gt 0 ]
	[ "$(cum_of_arc runtime.goexit main.main.func1)" -gt 0 ]
}

@test "go: a stripped program has names, inlined calls, lines, and complete stacks" {
	go_program goroutines
	record -F 1999 -- ./goroutines 150
	check_goroutines
	run_arcprof report -i trace --annotate main.mixed
	[[ $output == */goroutines.go*"x = step(x)"* ]]
}

@test "go: a position-independent program has names and complete stacks" {
	go_program goroutines-pie
	record -F 1999 -- ./goroutines-pie 150
	check_goroutines
}

@test "go: a program without a section table has names and complete stacks" {
	go_program goroutines
	printf '\0\0\0\0\0\0\0\0' | dd of=goroutines bs=1 seek=40 conv=notrunc status=none
	printf '\0\0\0\0' | dd of=goroutines bs=1 seek=60 conv=notrunc status=none
	[[ $(readelf -SW goroutines) == *"no sections"* ]]
	record -F 1999 -- ./goroutines 150
	check_goroutines
}

@test "go: stacks go from C back to Go and its callers, and those of C begin where Go called it" {
	for mode in exe pie; do
		go_program calls-c-$mode
		record -F 1999 -- ./calls-c-$mode
		jq -e '.quality.complete_stacks * 100 >= .quality.n * 99' .report--xprof
		tree_paths -i trace >paths
		grep -Eq ';main.main;main._Cfunc_through;.*runtime.cgocallback;.*;main.goBack' paths
		grep -Eq ';runtime.asmcgocall;_cgo_[^;]*_spin' paths
	done
}

@test "go: a program's own profile, sent to fleet push --listen, has its functions and its total" {
	skip_unless_command go
	skip_unless_command curl
	cat >own.go <<-'END'
		package main

		import (
			"os"
			"runtime/pprof"
		)

		//go:noinline
		func burn() (n int) {
			for i := 0; i < 400000000; i++ { n += n ^ i }
			return
		}

		func main() {
			pprof.StartCPUProfile(os.Stdout)
			burn()
			pprof.StopCPUProfile()
		}
	END
	go build own.go
	./own >cpu.pb.gz
	arcprof report --import cpu.pb.gz --format json >want.json
	"$ARCPROF" fleet push http://127.0.0.1:1/ --listen 0 --spool spool --retry 0 2>said 3>&- &
	until at=$(grep -o 'http://127.0.0.1:[0-9]*/$' said); do kill -0 $!; sleep 0.02; done
	curl -sS -g --fail-with-body --data-binary @cpu.pb.gz "${at}ingest?name=shop{version=1.2}" || { kill $!; false; }
	kill $!
	zcat spool/*.tables.gz | awk -F'\t' -v OFS='\t' 'NF == 5 { name[$1] = $3 } NF == 23 && $12 == "cpu" { row[nr++] = $0 }
		END { for (i = 0; i < nr; i++) { split(row[i], f, "\t"); print f[3], f[4], f[8], name[f[16]], f[22] } }' >got
	[ "$(awk -F'\t' '{ s += $5 } END { print s }' got)" -eq "$(jq '.metrics[0].total' want.json)" ]
	awk -F'\t' '$1 == "shop" && $2 == "1.2" && $3 == "service=shop,version=1.2" && $4 == "main.burn" && $5 > 0 { ok = 1 }
		END { exit !ok }' got
}
