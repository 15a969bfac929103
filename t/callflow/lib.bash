# shellcheck shell=bash
# lib.bash - what a trace of exact calls is held against, for t/callflow/programs and t/cli/callflow-java.bats.
# Needs TOP, ARCPROF and BUILD.

# counted <trace> [<option of report>...]: "method calls", of the trees.
counted() {
	"$ARCPROF" report -i "$1" --xtree --format tree "${@:2}" | awk -F '\t' '
		/^# metric/ { m++ }
		!/^#/ && $(m + 4) == "java" { n[$(m + 3)] += $2 }
		END { for (x in n) print x, n[x] }' | sed 's/\\\\/\\/g' | LC_ALL=C sort
}

# entered <trace>: the same, of the entries that --gen prints.
entered() {
	"$ARCPROF" report -i "$1" --gen | awk '
		{ for (i = 1; i < NF && $i ~ /^[0-9.]+$/; i++) ; }
		$i == ">" { n[$(i + 1)]++ }
		END { for (x in n) print substr(x, 3), n[x] }' | LC_ALL=C sort
}

# methods_entered <file of jvmti-calls>...: the same, as JVMTI's MethodEntry had it, without what a trace says
# has no probes.
methods_entered() {	# <trace> <file>...
	"$ARCPROF" dump -i "$1" | grep -F 'call.refused' |
		sed -n 's/.*call\.refused.* class="\([^"]*\)" name="\([^"]*\)" sig="\([^"]*\)".*/\1.\2\3/p' | tr / . >.refused
	awk '
		FILENAME == ".refused" { gsub(/\//, ".", $1); refused[$1] = 1; next }
		{ sig = $1; gsub(/\//, ".", sig) }
		!(sig in refused) { sub(/\(.*/, "", $1); n[$1] += $2 }
		END { for (x in n) print x, n[x] }' .refused "${@:2}" | LC_ALL=C sort
}

# contexts <trace> [<option of report>...]: level, calls and name of each method's node, sorted.
contexts() {
	"$ARCPROF" report -i "$1" --format tree "${@:2}" | awk -F '\t' '
		/^# metric/ { m++ }
		!/^#/ && $(m + 4) == "java" { print $1, $2, $(m + 3) }' | LC_ALL=C sort
}

# cpu_of_threads <trace>: "kernel tree name", in nanoseconds, of each thread whose end was seen. The first metric is cpu;
# no virtual threads.
cpu_of_threads() {
	"$ARCPROF" dump -i "$1" | grep -E '  (thread|call\.tree) ' | awk '
		function field(name) { match($0, " " name "=[0-9]+"); return substr($0, RSTART + length(name) + 2, RLENGTH - length(name) - 2) }
		/  thread / { tid[field("thread")] = field("tid"); next }
		{
			n = field("tree")
			kernel[n] = field("kernel_cpu")
			name[n] = tid[field("thread")] " "
			match($0, / name=".*"$/)
			name[n] = name[n] substr($0, RSTART + 7, RLENGTH - 8)
		}
		END { for (n in kernel) if (kernel[n] + 0) printf "%s\t%s\n", name[n], kernel[n] }' >.kernel
	"$ARCPROF" report -i "$1" --format tree | awk -F '\t' '
		FNR == NR { kernel[$1] += $2; next }
		/^# metric/ { m++ }
		/^#/ { next }
		$1 == 1 { thread = $NF % 4294967296 " " $(m + 3) }
		$1 && thread in kernel { tree[thread] += $3 }
		END { for (t in tree) printf "%.0f %.0f %s\n", kernel[t], tree[t], t }' .kernel -
}
