// SPDX-License-Identifier: MIT
/* key.c - reads the recorder's key beside its socket (key.h). */
#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/stat.h>
#include <string.h>

#include "callflow/cpu.h"
#include "client/client.h"

/* Reads the beginning of a file of /proc. */
static bool key_read_text(const char *path, char *text, size_t size)
{
	long fd = sys(__NR_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC), n;

	if (fd < 0)
		return false;
	n = sys(__NR_read, fd, text, size - 1);
	sys(__NR_close, fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* Parse a number after blanks. */
static uint32_t key_number_at(const char **text)
{
	uint32_t n = 0;

	while (**text == ' ' || **text == '\t')
		(*text)++;
	while (**text >= '0' && **text <= '9')
		n = n * 10 + *(*text)++ - '0';
	return n;
}

/* "0 0 4294967295": all users are distinguished. */
static bool knows_all_users(void)
{
	char text[64] = "";
	const char *at = text;
	uint32_t first, outside, count;

	if (!key_read_text("/proc/self/uid_map", text, sizeof(text)))
		return false;
	first = key_number_at(&at);
	outside = key_number_at(&at);
	count = key_number_at(&at);
	return first == 0 && outside == 0 && count == UINT32_MAX;
}

/*
 * Return whether our user is one that a user namespace does not map: all these look the same there, and so do
 * files' owners; a file of ours may then be anybody's.
 */
static bool we_are_nobody(uint32_t euid)
{
	char text[16] = "";
	const char *at = text;
	bool known = key_read_text("/proc/sys/kernel/overflowuid", text, sizeof(text));

	return euid == (known ? key_number_at(&at) : 65534) && !knows_all_users();
}

/* Return whether the file was made by our user, and is not readable by others. */
static bool is_private(int fd)
{
	uint32_t euid = sys(__NR_geteuid);
	struct statx st;

	if (sys(__NR_statx, fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &st))
		return false;
	return (st.stx_mode & 0170077) == 0100000 && st.stx_nlink == 1 && st.stx_uid == euid &&
	       st.stx_size == sizeof(struct jvm_key) && !we_are_nobody(euid);
}

bool client_find_key(const char *socket_path, struct jvm_key *key)
{
	static const char suffix[] = JVM_KEY_SUFFIX;
	char path[128];
	size_t len;
	bool ok;
	long fd;

	for (len = 0; socket_path[len]; len++) {
		if (len + sizeof(suffix) >= sizeof(path))
			return false;
		path[len] = socket_path[len];
	}
	memcpy(path + len, suffix, sizeof(suffix));
	fd = sys(__NR_openat, AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return false;
	ok = is_private(fd) && sys(__NR_read, fd, key, sizeof(*key)) == sizeof(*key);
	sys(__NR_close, fd);
	return ok;
}
