# shellcheck shell=bash
# clickhouse.bash - servers of ClickHouse for tests, on ports that nobody has, with all they write below one folder.
#
#	start_server 1		makes the folder server1 and server1/url
#	ask 1 "SELECT 1"	prints the answer; further arguments go to curl
#	stop_servers
#
# and recordings for sums of hours and days of any engine:
#
#	around_midnight new		makes them in that folder
#	added_up 3600 <rows>		what the table hours should have of these rows of export
#	sums_of hours			the query for what it has

PATH=$PATH:/usr/sbin

# Some free ports at a time, below those that the kernel gives away.
free_ports() {
	python3 -c '
import random, socket, sys
found = []
while len(found) < int(sys.argv[1]):
    with socket.socket() as s:
        port = random.randrange(20000, 32000)
        try:
            s.bind(("127.0.0.1", port))
            found.append(str(port))
        except OSError:
            pass
print(*found)' "$1"
}

skip_unless_clickhouse() {
	command -v clickhouse-server >/dev/null ||
		skip "clickhouse-server is not installed (apt-get install clickhouse-server)"
	command -v curl >/dev/null || skip "curl is not installed"
}

# configure_server <number> <tcp port of server 1> <of server 2>
# Settings of users and their queries are those that the package installs.
configure_server() {
	local dir=$PWD/server$1 http tcp inter
	read -r http inter < <(free_ports 2)
	tcp=$2
	[ "$1" -eq 2 ] && tcp=$3
	mkdir -p "$dir/data" "$dir/tmp" "$dir/files"
	echo "http://127.0.0.1:$http/" >"$dir/url"
	cat >"$dir/config.xml" <<-XML
		<?xml version="1.0"?>
		<yandex>
		<logger><level>warning</level><log>$dir/log</log><errorlog>$dir/err</errorlog></logger>
		<http_port>$http</http_port><tcp_port>$tcp</tcp_port><interserver_http_port>$inter</interserver_http_port>
		<listen_host>127.0.0.1</listen_host>
		<mark_cache_size>67108864</mark_cache_size>
		<path>$dir/data/</path><tmp_path>$dir/tmp/</tmp_path><user_files_path>$dir/files/</user_files_path>
		<users_config>/etc/clickhouse-server/users.xml</users_config><default_profile>default</default_profile>
		<default_database>default</default_database>
		<remote_servers><fleet>
		<shard><replica><host>127.0.0.1</host><port>$2</port></replica></shard>
		<shard><replica><host>127.0.0.1</host><port>$3</port></replica></shard>
		</fleet></remote_servers>
		</yandex>
	XML
}

# Starts a configured server, and waits until it answers; a port that was taken meanwhile fails the test.
start_server() {
	local dir=$PWD/server$1 i
	(cd "$dir" && exec clickhouse-server --config-file="$dir/config.xml" >"$dir/out" 2>&1 3>&- </dev/null) &
	echo $! >"$dir/pid"
	for ((i = 0; i < 600; i++)); do
		[ "$(curl -s "$(cat "$dir/url")ping")" = Ok. ] && return 0
		kill -0 "$(cat "$dir/pid")" 2>/dev/null || break
		sleep 0.05
	done
	cat "$dir/out" "$dir/err" >&2
	return 1
}

stop_servers() {
	local dir
	for dir in "$PWD"/server*; do
		[ -e "$dir/pid" ] || continue
		kill -KILL "$(cat "$dir/pid")" 2>/dev/null || true
		wait "$(cat "$dir/pid")" 2>/dev/null || true
	done
}

ask() {
	curl -sS --fail-with-body "$(cat "server$1/url")" --data-binary "$2" "${@:3}"
}

# The text of a view, with values for its parameters: view <name> [<parameter>=<value>]...
view() {
	local sql p
	sql=$("$ARCPROF" export --queries clickhouse |
		awk -v first="CREATE VIEW $1 AS" '$0 == first { on = 1; next } /^;/ { on = 0 } on')
	for p in "${@:2}"; do
		sql=${sql//"{${p%%=*}:String}"/"'${p#*=}'"}
	done
	printf '%s\n' "$sql"
}

# Midnight, where a day, a week and four weeks of partitions begin.
MIDNIGHT=1792627200

# around_midnight <folder>: recordings that began around it, one without a time. What they consume is the same, in two
# processes, so that they are rows of one key; labels of one have what is no text in a table.
around_midnight() {
	local t
	mkdir -p "$1"
	for t in -90000 -3601 -3600 -2 -1 +0 +1 +3599 +3600 +86399 +86400 "-$MIDNIGHT"; do
		python3 "$TOP/t/data/import/make-otlp.py" "$1/$t.otlp" "$((MIDNIGHT + t))000000000" \
			'service.name=x;service.version=1' 'service.name=x' 'service.name=x;zone=\N'
	done
}

# added_up <seconds> <file of rows without a header>...: the key of each sum, and n, base and cum, in order.
added_up() {
	awk -F'\t' -v OFS='\t' -v unit="$1" '{
		key = $1 - $1 % unit OFS $3 OFS $4 OFS $6 OFS $7 OFS $8
		for (i = 11; i <= 20; i++)
			key = key OFS $i
		n[key] += $21; base[key] += $22; cum[key] += $23
	} END { for (key in n) print key, n[key], base[key], cum[key] }' "${@:2}" | LC_ALL=C sort
}

# sums_of <table>: a query for the same, of any engine.
sums_of() {
	local key="t, service, version, process, thread, labels, source, metric, unit, path, parent, func, pfunc, depth, rl, prl"
	echo "SELECT $key, sum(n), sum(base), sum(cum) FROM $1 GROUP BY $key"
}
