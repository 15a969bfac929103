#!/bin/bash
# What exact calls cost a large C program: SQLite's own benchmark, in memory, as ratio of CPU time to the
# same without instrumentation. Least of three runs each; takes some minutes, most of them to compile.
#
# usage: t/perf/callflow-sqlite.sh FOLDER	with sqlite3.c and speedtest1.c
#        t/perf/callflow-sqlite.sh --fetch	makes the two of Debian's source package, which needs apt-get, tclsh and
#						the network
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
arcprof=${ARCPROF:-$top/build/arcprof}
make -s -C "$top" all >/dev/null
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

# Lists and packages go into the folder in hand: nothing of the machine's own apt is changed.
fetch() {
	local suite
	suite=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
	mkdir -p lists/partial cache
	echo "deb-src http://deb.debian.org/debian ${suite:-stable} main" >sources.list
	local apt=(apt-get -qq -o "Dir::Etc::sourcelist=$dir/sources.list" -o Dir::Etc::sourceparts=-
		-o "Dir::State::lists=$dir/lists" -o "Dir::Cache=$dir/cache" -o APT::Sandbox::User=root)
	"${apt[@]}" update && "${apt[@]}" source --download-only sqlite3 && tar xf sqlite3_*.orig.tar.xz &&
		mkdir build && cd build && sh ../sqlite3-*/configure --disable-tcl --disable-readline && make sqlite3.c &&
		cp ../sqlite3-*/test/speedtest1.c .
}

case ${1-} in
'') echo "needs SQLite's source: name a folder with sqlite3.c and speedtest1.c, or --fetch"; exit 0 ;;
--fetch) fetch >"$dir/log" 2>&1 || { tail -n 3 "$dir/log"; exit 1; } ;;
*) cd "$1" ;;
esac
build() {
	gcc -O2 -w -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -I. sqlite3.c speedtest1.c "$@" -lm -pthread
}
build -o "$dir/plain" &
build -finstrument-functions -o "$dir/bare" &
build -finstrument-functions "$top/build/libarcprof-hookit.a" -o "$dir/hooked"
wait
cd "$dir"
cat >timed <<'END'
#!/bin/bash
TIMEFORMAT='cpu %U'
time "$@" --size 20 :memory: >/dev/null 2>&1
END
chmod +x timed

best() {
	for _ in 1 2 3; do "$@" 2>&1 | sed -n 's/^cpu //p'; done | sort -n | head -n 1
}
base=$(best ./timed ./plain)
row() {
	local name=$1
	shift
	echo "$(best "$@") $base" | awk -v n="$name" '{ printf "%-34s %8.2f %8.1f\n", n, $1, $1 / $2 }'
}

printf '%-34s %8s %8s\n' "SQLite's speedtest1" 'CPU s' ratio
printf '%-34s %8.2f %8.1f\n' "no instrumentation" "$base" 1
row "hooks, no recorder" ./timed ./hooked
row "arcprof, calls" "$arcprof" record -q --callflow --metric calls -o t -- ./timed ./hooked
row "arcprof, calls and CPU time" "$arcprof" record -q --callflow --metric cpu -o t -- ./timed ./hooked
row "arcprof, calls, CPU and wall time" "$arcprof" record -q --callflow -o t -- ./timed ./hooked
if command -v uftrace >/dev/null; then
	# Writes gigabytes. What its recorder needs is in the figure: it comes out of the same pocket.
	data=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
	row "uftrace with its recorder" ./timed uftrace record --no-libcall -d "$data/t" ./bare
	rm -rf "$data"
else
	echo "uftrace: not installed"
fi
"$arcprof" report -i t --xprof | sed -n 1p
