// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/foreign.h"
#include "base/io.h"
#include "unit.h"

enum { NOBODY = 65534, NR_SWAPS = 400 };

static char dir[64];
static int at;

static void make_folder(void)
{
	snprintf(dir, sizeof(dir), "/tmp/arcprof-unit-XXXXXX");
	if (!mkdtemp(dir))
		abort();
	at = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static void remove_folder(void)
{
	char command[96];

	close(at);
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	CHECK(!system(command));
}

static void put(const char *name, const char *text, mode_t mode)
{
	int fd = openat(at, name, O_WRONLY | O_CREAT | O_CLOEXEC, mode);

	CHECK(fd >= 0 && !io_write_all(fd, text, strlen(text)) && !fchmod(fd, mode));
	close(fd);
}

static int try_read(int root, const char *path, bool links, uint64_t max, const char **text)
{
	const struct foreign_rule rule = { .owner = geteuid(), .max_bytes = max, .links = links };
	static struct buf b;
	struct err e;
	int r;

	buf_reset(&b);
	r = foreign_read(root, path, &rule, &b, &e);
	*text = b.data && !r ? b.data : "";
	return r;
}

static char *path_of(const char *name)
{
	static char path[160];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

TEST(foreign_reads_regular_files_only)
{
	const char *text;

	make_folder();
	put("file", "content", 0600);
	CHECK(!mkfifoat(at, "fifo", 0600) && !symlinkat("file", at, "link") && !mkdirat(at, "folder", 0700));
	CHECK_U64(try_read(AT_FDCWD, path_of("file"), false, 7, &text), 0);
	CHECK_STR(text, "content");
	/* nobody writes to it: a reader that waits, waits for ever */
	CHECK(try_read(AT_FDCWD, path_of("fifo"), false, 100, &text) == -EINVAL);
	CHECK(try_read(at, "fifo", true, 100, &text) == -EINVAL);
	CHECK(try_read(AT_FDCWD, path_of("folder"), false, 100, &text) == -EINVAL);
	CHECK(try_read(AT_FDCWD, "/dev/zero", false, 100, &text) == -EINVAL);
	CHECK(try_read(AT_FDCWD, path_of("link"), false, 100, &text) == -ELOOP);
	CHECK(try_read(AT_FDCWD, path_of("none"), false, 100, &text) == -ENOENT);
	CHECK(try_read(AT_FDCWD, path_of("file"), false, 6, &text) == -EFBIG);
	/* says that it has no bytes at all, and has more */
	CHECK(try_read(AT_FDCWD, "/proc/self/status", true, 100, &text) == -EFBIG);
	remove_folder();
}

TEST(foreign_stays_below_the_root)
{
	const char *text;

	/* without it, links are not followed at all */
	if (syscall(SYS_openat2, -1, "", NULL, 0) == -1 && errno == ENOSYS)
		unit_skip("the kernel has no openat2()");
	make_folder();
	CHECK(!mkdirat(at, "etc", 0700) && !mkdirat(at, "root", 0700) && !symlinkat("/etc", at, "root/etc"));
	put("etc/passwd", "mine", 0600);
	CHECK(!symlinkat("/proc/self/root/etc/passwd", at, "magic") && !symlinkat("../../../../etc/passwd",
										  at, "up"));
	CHECK_U64(try_read(at, "/etc/passwd", false, 100, &text), 0);
	CHECK_STR(text, "mine");
	CHECK(try_read(at, "/root/etc/passwd", false, 100, &text) == -ELOOP);
	CHECK_U64(try_read(at, "/root/etc/passwd", true, 100, &text), 0);
	CHECK_STR(text, "mine");
	CHECK_U64(try_read(at, "/up", true, 100, &text), 0);
	CHECK_STR(text, "mine");
	CHECK(try_read(at, "/magic", true, 100, &text) < 0);
	remove_folder();
}

TEST(foreign_files_of_another_owner_are_not_read)
{
	const char *text;

	if (geteuid())
		unit_skip("only root can give a file away");
	make_folder();
	put("file", "content", 0644);
	CHECK(!fchownat(at, "file", NOBODY, NOBODY, 0));
	CHECK(try_read(AT_FDCWD, path_of("file"), false, 100, &text) == -EPERM);
	remove_folder();
}

/* --- the attack: what a user can swap leads root nowhere --- */

static bool stop;

/* A folder of its user's, and a link to the victim's, under one name in turn. */
static void *swap(void *arg)
{
	unsigned long *nr = arg;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		renameat2(at, "trap", at, "open/x", RENAME_EXCHANGE);
		*nr += 1;
	}
	return NULL;
}

static void check_victim(void)
{
	struct stat st;

	CHECK(!fstatat(at, "victim/file", &st, 0));
	CHECK_U64(st.st_mode & 07777, 0600);
	CHECK_U64(st.st_uid, geteuid());
	CHECK_U64(st.st_size, 6);
	CHECK(!fstatat(at, "victim", &st, 0));
	CHECK_U64(st.st_nlink, 2);
}

static void act_once(const struct foreign_user *u)
{
	int x = foreign_opendir(at, "open", u), inner = x < 0 ? -1 : foreign_opendir(x, "x", u), fd, sock;

	if (inner >= 0) {
		fd = foreign_create(inner, "made", 0666, u);
		if (fd >= 0)
			close(fd);
		sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		foreign_bind(inner, "s", sock, 0666, u);
		close(sock);
		foreign_rename(inner, "s", "file", u);
		foreign_unlink(inner, "file", 0, u);
		foreign_unlink(inner, "made", 0, u);
		foreign_mkdir(inner, "folder", 0777, u);
		foreign_unlink(inner, "folder", AT_REMOVEDIR, u);
		close(inner);
	}
	if (x >= 0)
		close(x);
}

TEST(foreign_acts_on_what_was_opened_and_as_its_user)
{
	const struct foreign_user u = { geteuid() ? geteuid() : NOBODY, geteuid() ? getegid() : NOBODY };
	unsigned long nr = 0, i;
	pthread_t t;

	make_folder();
	CHECK(!mkdirat(at, "victim", 0700) && !mkdirat(at, "open", 0777) && !mkdirat(at, "open/x", 0777));
	put("victim/file", "secret", 0600);
	CHECK(!symlinkat("../victim", at, "trap"));
	if (!geteuid())
		CHECK(!fchmodat(at, ".", 0755, 0) && !fchownat(at, "open", NOBODY, NOBODY, 0) &&
		      !fchownat(at, "open/x", NOBODY, NOBODY, 0));
	stop = false;
	CHECK(!pthread_create(&t, NULL, swap, &nr));
	for (i = 0; i < 100000 && __atomic_load_n(&nr, __ATOMIC_RELAXED) < NR_SWAPS; i++)
		act_once(&u);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(t, NULL);
	CHECK(nr >= NR_SWAPS);
	check_victim();
	CHECK_U64(geteuid(), u.uid == NOBODY ? 0 : u.uid);
	remove_folder();
}

/* What root makes for a user is that user's, and where the user may not, root does not either. */
TEST(foreign_has_the_rights_of_the_user)
{
	const struct foreign_user u = { NOBODY, NOBODY };
	struct stat st;
	int fd;

	if (geteuid())
		unit_skip("only root can be another user");
	make_folder();
	CHECK(!fchmodat(at, ".", 0755, 0));
	CHECK(foreign_mkdir(at, "folder", 0777, &u) == -EACCES && foreign_create(at, "file", 0600,
										 &u) == -EACCES);
	put("ours", "", 0666);
	CHECK(foreign_unlink(at, "ours", 0, &u) == -EACCES && foreign_rename(at, "ours", "file",
									     &u) == -EACCES);
	CHECK(!fchmodat(at, ".", 0777, 0));
	fd = foreign_create(at, "file", 0600, &u);
	CHECK(fd >= 0 && !fstat(fd, &st) && st.st_uid == NOBODY && st.st_gid == NOBODY);
	close(fd);
	/* and afterwards it is root again */
	fd = foreign_create(at, "root's", 0600, NULL);
	CHECK(fd >= 0 && !fstat(fd, &st) && !st.st_uid && !st.st_gid);
	close(fd);
	remove_folder();
}

TEST(foreign_binds_and_connects_without_following)
{
	int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0),
	    sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const struct foreign_user u = { geteuid(), getegid() };
	struct stat st;
	mode_t mask = umask(077);

	make_folder();
	CHECK_U64(foreign_bind(at, "s", listening, 0666, &u), 0);
	umask(mask);
	CHECK(!fstatat(at, "s", &st, 0) && (st.st_mode & 07777) == 0666);
	CHECK(!listen(listening, 1));
	CHECK(!symlinkat("s", at, "link"));
	put("file", "", 0666);
	CHECK(foreign_connect(at, "link", sock) == -ENOTSOCK);
	CHECK(foreign_connect(at, "file", sock) == -ENOTSOCK);
	CHECK(foreign_connect(at, "none", sock) == -ENOENT);
	CHECK_U64(foreign_connect(at, "s", sock), 0);
	close(sock);
	close(listening);
	remove_folder();
}
