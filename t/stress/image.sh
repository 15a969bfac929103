#!/bin/bash
# The image of Documentation/examples/Dockerfile and the DaemonSet beside it: checks daemonset.yaml against Kubernetes'
# schema (kubernetes-models of npm), builds the image, with a bare Debian tree (t/fresh) as "debian:stable-slim" where no
# registry can be asked, and prints what podman would run the two containers with as the DaemonSet says.
#
# usage: t/stress/image.sh [SUITE]	a release of Debian, default bookworm. Needs root, podman, npm and ruby
set -u
cd "$(dirname "$0")/../.." || exit 1
suite=${1:-bookworm}
work=$PWD/build/units
examples=$PWD/Documentation/examples
for program in podman ruby npm; do
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
# What the containers are run with: a line each, with the node's name and the server's in place of variables.
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
			words += ["-v", "#{host}:#{m["mountPath"]}"]
		end
		args = c["args"].map { |a| a.gsub("$(NODE)", "node-1").gsub("$(ARCPROF_URL)", "http://127.0.0.1:8123/") }
		puts Shellwords.join(words + ["localhost/arcprof"] + args)
	end' "$work/daemonset.json" "${store[*]}"
