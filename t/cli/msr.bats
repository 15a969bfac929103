#!/usr/bin/env bats
load ../lib

skip_unless_msr() {
	[ -r /dev/cpu/0/msr ] || skip "there is no /dev/cpu/0/msr that this user can read (modprobe msr)"
	"$ARCPROF" msr read 0x10 >/dev/null 2>&1 || skip "register 0x10 cannot be read here"
}

@test "msr: without the device it fails, naming it, and says which module creates it" {
	[ ! -e /dev/cpu/0/msr ] || skip "this machine has the device"
	run_arcprof msr read 0x10
	[ "$status" -eq 1 ]
	[ -z "$output" ]
	[[ $stderr == *"/dev/cpu/0/msr: no such device"*"modprobe msr"* ]]
	run_arcprof msr read -a 0x10
	[ "$status" -eq 1 ]
	[[ $stderr == *"modprobe msr"* ]]
}

@test "msr: JSON says for each CPU why it could not be read, and is complete" {
	[ ! -e /dev/cpu/0/msr ] || skip "this machine has the device"
	run_arcprof msr read 0x1a4 -C 0-2 --field 3:0 --format json
	[ "$status" -eq 1 ]
	[ "$(json '.register')" -eq 420 ]
	[ "$(json '.register_hex')" = 0x1a4 ]
	[ "$(json '.field | "\(.high_bit):\(.low_bit)"')" = 3:0 ]
	[ "$(json '[.cpus[] | select(.value == null and (.error | length) > 0) | .cpu] | join(",")')" = 0,1,2 ]
}

@test "msr: the time stamp counter rises, and its field is its bits" {
	skip_unless_msr
	first=$(arcprof msr read 0x10 --format dec)
	second=$(arcprof msr read 0x10 --format dec)
	[ "$second" -gt "$first" ]
	run_arcprof msr read 0x10 -a --field 31:0 --format json
	[ "$status" -eq 0 ]
	[ "$(json '.cpus | length')" -eq "$(getconf _NPROCESSORS_ONLN)" ]
	for i in $(json '.cpus | keys[]'); do
		value=$(json ".cpus[$i].value_hex")
		[ "$(json ".cpus[$i].field_value")" -eq $((value & 0xffffffff)) ]
	done
}

@test "msr: a register that performance work does not write needs --force" {
	for reg in 0x1b 0xc0000080 0x10; do
		run_arcprof msr write "$reg" 0
		[ "$status" -eq 1 ]
		[ -z "$output" ]
		[[ $stderr == *"register $reg is none that performance work writes"*--force* ]]
	done
}

@test "msr: an allowed write gets as far as the device" {
	[ ! -e /dev/cpu/0/msr ] || skip "this machine has the device"
	run_arcprof msr write 0x1a4 1 --field 0 --verify
	[ "$status" -eq 1 ]
	[[ $stderr == *"/dev/cpu/0/msr"* ]]
}

@test "msr: usage errors are reported before anything is touched" {
	while read -r args; do
		# shellcheck disable=SC2086
		run_arcprof msr $args
		[ "$status" -eq 2 ]
		[ -z "$output" ]
		[ -n "$stderr" ]
	done <<-'END'

		dump 0x10
		read
		read 0x10 0x11
		read nosuch
		list 0x10
		list --format dec
		read 0x100000000
		read 0x10 --field 8:15
		read 0x10 --field 64
		read 0x10 --verify
		read 0x10 --force
		read 0x10 -C 3-1
		read 0x10 -a -C 0
		write 0x1a4
		write 0x1a4 all
		write 0x1a4 16 --field 3:0
	END
}
