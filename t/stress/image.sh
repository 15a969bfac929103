#!/bin/bash
# The image of Documentation/examples/Dockerfile and the DaemonSet beside it: checks daemonset.yaml against Kubernetes'
# schema (kubernetes-models of npm), builds the image, with a bare Debian tree (t/fresh) as "debian:stable-slim" where no
# registry can be asked, prints what podman would run the two containers with as the DaemonSet says, and runs the one
# that sends: by the host's loopback to a server of ClickHouse, as root and as another user, both without capabilities.
# The server must then have what was recorded.
#
# usage: t/stress/image.sh [SUITE]	a release of Debian, default bookworm. Needs root, podman, npm, ruby and
#					clickhouse-server
set -u
cd "$(dirname "$0")/../.." || exit 1
suite=${1:-bookworm}
work=$PWD/build/units
examples=$PWD/Documentation/examples
export ARCPROF=$PWD/build/arcprof
# shellcheck source=../fleet/clickhouse.bash
. t/fleet/clickhouse.bash	# clickhouse-server may be in /usr/sbin
for program in podman ruby npm clickhouse-server; do
	command -v $program >/dev/null || { echo "image.sh: needs $program" >&2; exit 1; }
done
deb=$(t/deb | tail -n 1)
[ -f "$deb" ] || { echo "image.sh: there is no package" >&2; exit 1; }
mkdir -p "$work/context" "$work/image" || exit 1

ruby -ryaml -rjson -e 'puts JSON.generate(YAML.load_file(ARGV[0]))' "$examples/daemonset.yaml" >"$work/daemonset.json" || exit 1
npm install --silent --no-audit --no-fund --prefix "$work/npm" kubernetes-models@5.1.0 || exit 1
(cd "$work/npm" && node --input-type=module -e '
	import { DaemonSet } from "kubernetes-models/apps/v1";
	import { readFileSync } from "fs";
	const given = JSON.parse(readFileSync(process.argv[1]));
	new DaemonSet(given).validate();
	// and it does look
	given.spec.template.spec.containers[0].args = "no list";
	try { new DaemonSet(given).validate(); } catch (e) { process.exit(0); }
	process.exit(1);' "$work/daemonset.json") || { echo "not ok - daemonset.yaml is valid"; exit 1; }
echo "ok - daemonset.yaml is valid"

# ---- the image ----

store=(podman --root "$work/image/store" --runroot "$work/image/run" --cgroup-manager cgroupfs)
base=docker.io/library/debian:stable-slim
if ! timeout 60 "${store[@]}" pull -q "$base" >/dev/null 2>&1; then
	echo "# no registry: $base is a bare tree of $suite"
	t/fresh -k "$work/image/base" "$suite" true || exit 1
	tar -C "$work/image/base/tree" --one-file-system -c . | "${store[@]}" import -q - "$base" || exit 1
fi
cp "$examples/Dockerfile" "$work/context/"
cp "$deb" "$work/context/arcprof.deb"
if ! "${store[@]}" build --isolation chroot --pull-never --network host -t arcprof "$work/context" >"$work/image/log" 2>&1; then
	tail -n 20 "$work/image/log"
	echo "not ok - the image is built"
	exit 1
fi
echo "ok - the image is built"

# ---- the containers ----

# containers <server> <folder>: what they are run with, a line each; the folder is the node's /var/lib/arcprof.
containers() {
	# shellcheck disable=SC2016	# Ruby
	ruby -rjson -rshellwords -e '
	spec = JSON.parse(File.read(ARGV[0]))["spec"]["template"]["spec"]
	spec["containers"].each do |c|
		words = ARGV[1].split + %w[run -d --network host] + ["--name", c["name"]]
		words += %w[--pid host] if spec["hostPID"]
		s = c["securityContext"]
		words += %w[--privileged] if s["privileged"]
		words += %w[--security-opt no-new-privileges] if s["allowPrivilegeEscalation"] == false
		words += (s.dig("capabilities", "drop") || []).flat_map { |d| ["--cap-drop", d] }
		words += ["--memory", c["resources"]["limits"]["memory"].sub(/i$/, "")]
		c["volumeMounts"].each do |m|
			host = spec["volumes"].find { |v| v["name"] == m["name"] }["hostPath"]["path"]
			words += ["-v", "#{host.sub("/var/lib/arcprof", ARGV[3])}:#{m["mountPath"]}"]
		end
		args = c["args"].map { |a| a.gsub("$(NODE)", "node-1").gsub("$(ARCPROF_URL)", ARGV[2]) }
		puts Shellwords.join(words + ["localhost/arcprof"] + args)
	end' "$work/daemonset.json" "${run[*]}" "$1" "$2"
}

run=("${store[@]}")
containers http://127.0.0.1:8123/ /var/lib/arcprof

# Limits that any host allows, and another runtime where the first cannot be used, as with both kinds of control groups.
run=("${store[@]}" --runtime "$(command -v crun || command -v runc)")
limits="--ulimit nofile=1024:1024 --ulimit nproc=4096:4096"
# shellcheck disable=SC2086	# words
"${run[@]}" run --rm --network none $limits localhost/arcprof version >/dev/null 2>&1 ||
	run=("${store[@]}" --runtime "$(command -v runc || command -v crun)")

state=$work/image/state
# shellcheck disable=SC2317,SC2329	# called by trap
clean_up() {
	"${run[@]}" rm -f -t 5 push >/dev/null 2>&1
	(cd "$work/image" && stop_servers)
}
trap clean_up EXIT
rm -rf "$state" "$work/image/server1"
mkdir -p "$state"
# shellcheck disable=SC2016	# Perl
"$ARCPROF" record -q --segment 1s --label service=image -o "$state/traces" -- \
	perl -e 'my $end = time + 4; while (time < $end) { $h{$_ % 100} .= "x" for 1 .. 1e4; %h = () }' || exit 1
"$ARCPROF" export -q --table "$work/image/table" "$state"/traces/*.arc || exit 1
recorded=$(zcat "$work/image/table/nodes.tsv.gz" | awk -F '\t' '
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	!seen[$at["trace"]]++ { nr++ }
	{ rows++; n += $at["n"]; base += $at["base"]; cum += $at["cum"] }
	END { printf "%d\t%d\t%.0f\t%.0f\t%.0f\n", nr, rows, n, base, cum }')
rm -r "$work/image/table"

cd "$work/image" || exit 1
read -r -a tcp < <(free_ports 2)
configure_server 1 "${tcp[@]}"
start_server 1 || exit 1
url=$(cat server1/url)
ask 1 "CREATE DATABASE other"
"$ARCPROF" fleet create -q "$url" && "$ARCPROF" fleet create -q "$url?database=other" || exit 1
failed=0

# arrived <what> <database>
arrived() {
	local there
	there=$(ask 1 "SELECT uniqExact(trace), count(), sum(n), sum(base), sum(cum) FROM $2.nodes")
	if [ "$there" = "$recorded" ]; then
		echo "ok - $1: $there"
	else
		echo "not ok - $1: there is $there, recorded was $recorded"
		failed=1
	fi
}
echo "# traces, rows, samples, and what they measured without and with callees:"

push=$(containers "$url" "$state" | grep -e '--name push ')
eval "${push/ run -d / run -d $limits }" >/dev/null || exit 1
for ((i = 0; i < 600; i++)); do
	[ "$(ask 1 'SELECT uniqExact(trace) FROM nodes')" = "${recorded%%$'\t'*}" ] && break
	sleep 0.2
done
"${run[@]}" stop -t 30 push >/dev/null || failed=1
"${run[@]}" logs push 2>&1 | sed 's/^/# push: /'
arrived "the DaemonSet's container sends, as root without capabilities" default
[ -z "$(find "$state/spool" -name '*.gz')" ] || { echo "not ok - its spool is empty"; failed=1; }

rm -r "$state/spool"
chown -R 12345:12345 "$state"
# shellcheck disable=SC2086	# words
"${run[@]}" run --rm --network host $limits --user 12345:12345 --cap-drop ALL --security-opt no-new-privileges \
	-v "$state:/var/lib/arcprof" localhost/arcprof fleet push --spool /var/lib/arcprof/spool \
	"$url?database=other" /var/lib/arcprof/traces || failed=1
arrived "so does another user" other
exit "$failed"
