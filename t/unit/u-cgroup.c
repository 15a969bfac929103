// SPDX-License-Identifier: GPL-2.0-or-later
/* u-cgroup.c - paths of control groups, as several systems write them, and hostile ones. */
#include <string.h>

#include "base/cgroup.h"
#include "base/mem.h"
#include "unit.h"

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"

static const char *parsed(const char *text)
{
	static char path[CGROUP_MAX_PATH + 1];
	const char *at;
	size_t len = cgroup_parse(text, strlen(text), &at);

	memcpy(path, len ? at : "", len);
	path[len] = '\0';
	return path;
}

static const char *container(const char *path)
{
	static struct buf id;

	buf_reset(&id);
	buf_str(&id, "");
	cgroup_container(path, strlen(path), &id);
	return id.data;
}

TEST(cgroup_is_that_of_version_2_or_the_best_of_version_1)
{
	CHECK_STR(parsed("0::/system.slice/cron.service\n"), "/system.slice/cron.service");
	CHECK_STR(parsed("0::/\n"), "/");
	CHECK_STR(parsed("12:pids:/a\n4:perf_event:/b\n1:name=systemd:/c\n0::/\n"), "/b");
	CHECK_STR(parsed("12:pids:/a\n4:perf_event:/\n1:name=systemd:/c\n0::/\n"), "/c");
	CHECK_STR(parsed("5:cpu,cpuacct:/a\n4:memory:/b\n0::/\n"), "/a");
	CHECK_STR(parsed("5:net_cls,perf_event:/a\n1:name=systemd:/c\n"), "/a");
	CHECK_STR(parsed("5:perf_event:/a\n0::/d\n"), "/d");
	CHECK_STR(parsed("0::/a:b,c d\n"), "/a:b,c d");
	CHECK_STR(parsed("0::/gone (deleted)\n"), "/gone");
	CHECK_STR(parsed("0::/ (deleted)\n"), "/ (deleted)");
}

TEST(cgroup_is_found_in_the_hierarchy_of_a_controller)
{
	static const char text[] = "9:net_cls,perf_event:/v1\n4:pids:/p\n0::/v2\n";
	const char *at;

	CHECK_U64(cgroup_parse_of(text, strlen(text), "perf_event", &at), 3);
	CHECK(!memcmp(at, "/v1", 3));
	CHECK_U64(cgroup_parse_of(text, strlen(text), "", &at), 3);
	CHECK(!memcmp(at, "/v2", 3));
	CHECK_U64(cgroup_parse_of(text, strlen(text), "perf", &at), 0);
}

TEST(cgroup_of_a_text_that_names_none_is_empty)
{
	static const char *const texts[] = { "", "\n", "0::/a", "0::\n", "0:/a\n", "::a\n", "0::a\n", ":\n:\n", "::\n" };
	static char longest[CGROUP_MAX_PATH + 16] = "0::/";
	const char *at;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(texts); i++)
		CHECK_STR(parsed(texts[i]), "");
	CHECK_U64(cgroup_parse("0::/a\0b\n", 8, &at), 0);
	memset(longest + 4, 'x', CGROUP_MAX_PATH - 1);
	longest[4 + CGROUP_MAX_PATH - 1] = '\n';
	CHECK_U64(cgroup_parse(longest, 4 + CGROUP_MAX_PATH, &at), CGROUP_MAX_PATH);
	longest[4 + CGROUP_MAX_PATH - 1] = 'x';
	longest[4 + CGROUP_MAX_PATH] = '\n';
	CHECK_U64(cgroup_parse(longest, 5 + CGROUP_MAX_PATH, &at), 0);
}

TEST(cgroup_names_the_container)
{
	CHECK_STR(container("/docker/" HEX), HEX);
	CHECK_STR(container("/../docker/" HEX), HEX);
	CHECK_STR(container("/system.slice/docker-" HEX ".scope"), HEX);
	CHECK_STR(container("/system.slice/docker-" HEX ".scope/init"), HEX);
	CHECK_STR(container("/docker/" HEX "/docker/" OTHER), OTHER);
	CHECK_STR(container("/machine.slice/libpod-" HEX ".scope/container"), HEX);
	CHECK_STR(container("/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" HEX ".scope"), HEX);
	CHECK_STR(container("/kubepods/besteffort/pod12345678-1234-1234-1234-123456789012/" HEX), HEX);
	CHECK_STR(container("/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice/cri-containerd-" HEX ".scope"), HEX);
	CHECK_STR(container("/kubepods.slice/kubepods-pod1.slice/crio-" HEX ".scope"), HEX);
	CHECK_STR(container("/system.slice/containerd.service/kubepods-burstable-pod1.slice:cri-containerd:" HEX), HEX);
	CHECK_STR(container("/ecs/7a2b/" HEX), HEX);
	CHECK_STR(container("/lxc/web"), "web");
	CHECK_STR(container("/lxc.payload/web/system.slice"), "web");
	CHECK_STR(container("/lxc.payload.web/system.slice/cron.service"), "web");
	CHECK_STR(container("/machine.slice/systemd-nspawn@web\\x2d1.service/payload"), "web-1");
	CHECK_STR(container("/machine.slice/machine-deb12.scope"), "deb12");
}

TEST(cgroup_without_a_container_names_none)
{
	static const char *const paths[] = {
		"", "/", "//", "/system.slice/docker.service", "/docker/" "0123", "/x" HEX,
		"/machine.slice/libpod-conmon-" HEX ".scope", "/kubepods.slice/crio-conmon-" HEX ".scope",
		"/kubepods/besteffort/pod12345678-1234-1234-1234-123456789012",
		"/machine.slice/machine-qemu\\x2d1\\x2dvm.scope", "/lxc.monitor.web", "/lxc", "/machine-.scope",
		"/user.slice/user-1000.slice/session-3.scope",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(paths); i++)
		CHECK_STR(container(paths[i]), "");
}

TEST(cgroup_is_below_its_parents)
{
	CHECK(cgroup_is_below("/a/b", "/a/b"));
	CHECK(cgroup_is_below("/a/b", "a"));
	CHECK(cgroup_is_below("/a/b", "/a/"));
	CHECK(cgroup_is_below("/a/b", "/"));
	CHECK(!cgroup_is_below("/a/b", "/a/b/c"));
	CHECK(!cgroup_is_below("/ab", "/a"));
	CHECK(!cgroup_is_below("/", "/a"));
}
