# shellcheck shell=sh
# An apt of its own, for scripts that fetch packages and install nothing: fetch and tree.

# Says why there is nothing to be had, and ends.
unavailable() {
	echo "$0: $*" >&2
	exit 3
}

# apt_begin FOLDER ARCHITECTURES "ARCHIVE SUITE"...: apt-get and the like, called from now on, know the main
# parts of these suites for these architectures (the first one is the system's), and keep all in the folder.
# Lists are fetched once.  DEBIAN_MIRROR=<URL> names another mirror, which has the archives below it.
apt_begin() {
	apt_mirror=${DEBIAN_MIRROR:-http://deb.debian.org}
	apt_keys=/usr/share/keyrings/debian-archive-keyring.gpg
	apt_dir=$1 apt_archs=$2
	shift 2
	command -v apt-get >/dev/null || unavailable "Debian's apt-get is needed"
	command -v dpkg-deb >/dev/null || unavailable "Debian's dpkg-deb is needed"
	test -e $apt_keys || unavailable "$apt_keys is missing (package debian-archive-keyring)"
	mkdir -p "$apt_dir/state/lists/partial" "$apt_dir/cache/archives/partial"
	: >"$apt_dir/status"
	for apt_suite; do
		echo "deb [signed-by=$apt_keys] $apt_mirror/$apt_suite main"
	done >"$apt_dir/sources.list"
	cat >"$apt_dir/apt.conf" <<END
APT::Architecture "${apt_archs%% *}";
APT::Architectures { $(echo "$apt_archs" | sed 's/[^ ]*/"&";/g') };
APT::Install-Recommends "false";
Acquire::Languages "none";
Acquire::Retries "2";
Acquire::http::Timeout "20";
Debug::NoLocking "1";
Dir::State "$apt_dir/state";
Dir::State::status "$apt_dir/status";
Dir::Cache "$apt_dir/cache";
Dir::Etc::sourcelist "$apt_dir/sources.list";
Dir::Etc::sourceparts "-";
END
	export APT_CONFIG="$apt_dir/apt.conf"
	test ! -e "$apt_dir/updated" || return 0
	timeout 300 apt-get -qq update >"$apt_dir/log" 2>&1 </dev/null ||
		unavailable "apt-get update failed; see $apt_dir/log"
	: >"$apt_dir/updated"
}
