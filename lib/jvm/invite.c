// SPDX-License-Identifier: GPL-2.0-or-later
/* invite.c - asks a running program to connect to us (invite.h). */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

#include "base/buf.h"
#include "jvm/invitation.h"
#include "jvm/invite.h"

/* of a module's data; a longer one has none of ours */
enum { MAX_BYTES = 16 << 20 };

static bool read_memory(int pid, uint64_t addr, void *to, size_t len)
{
	struct iovec local = { to, len }, remote = { (void *)(uintptr_t)addr, len };

	return process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)len;
}

static bool write_memory(int pid, uint64_t addr, const void *from, size_t len)
{
	struct iovec local = { (void *)from, len }, remote = { (void *)(uintptr_t)addr, len };

	return process_vm_writev(pid, &local, 1, &remote, 1, 0) == (ssize_t)len;
}

/*
 * Write the path. Only pointers into the process's own data are followed, by the kernel, which refuses
 * others.
 */
static int write_invitation(int pid, uint64_t addr, const struct jvm_invitation *x, const char *path,
			    struct err *e)
{
	const uint64_t none = 0;
	char text[sizeof(x->path)] = "";
	uint64_t known;
	uint32_t state;

	if (!read_memory(pid, (uintptr_t)x->recorder, &known, sizeof(known)))
		return err_set(e, EPERM, "process %d: its memory cannot be read", pid);
	if (*path && known && read_memory(pid, known + x->state_at, &state, sizeof(state)) &&
	    state == x->state_on)
		return err_set(e, EBUSY, "process %d is being recorded already", pid);
	snprintf(text, sizeof(text), "%s", path);
	if (!write_memory(pid, addr + offsetof(struct jvm_invitation, path), text, sizeof(text)) ||
	    !write_memory(pid, (uintptr_t)x->recorder, &none, sizeof(none)))
		return err_set(e, EPERM, "process %d: its memory cannot be written", pid);
	return 0;
}

/* Search one mapping for invitations; return -ENOENT if it has none. */
static int invite_search(int pid, uint64_t addr, const struct buf *data, const char *path, struct err *e)
{
	struct jvm_invitation x;
	int r = -ENOENT;
	size_t at;

	for (at = 0; at + sizeof(x) <= data->len; at += 8) {
		if (memcmp(data->data + at, JVM_INVITATION_MAGIC, sizeof(JVM_INVITATION_MAGIC)))
			continue;
		memcpy(&x, data->data + at, sizeof(x));
		r = write_invitation(pid, addr + at, &x, path, e);
		if (r)
			return r;
	}
	return r;
}

int invite_process(int pid, const char *path, struct err *e)
{
	char name[64], line[4096], perms[5];
	uint64_t from, to, inode;
	struct buf data = BUF_INIT;
	int r = -ENOENT, one, nr;
	bool hidden = false;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	f = fopen(name, "re");
	if (!f && (errno == EACCES || errno == EPERM))
		return err_set(e, EPERM, "process %d belongs to another user", pid);
	if (!f)
		return err_errno(e, "%s", name);
	while (fgets(line, sizeof(line), f)) {
		nr = sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*x %*s %" SCNu64, &from, &to, perms, &inode);
		if (nr != 4 || perms[0] != 'r' || perms[1] != 'w' || !inode || to - from > MAX_BYTES)
			continue;
		buf_reset(&data);
		if (!read_memory(pid, from, buf_room(&data, to - from), to - from)) {
			hidden = true;
			continue;
		}
		data.len = to - from;
		one = invite_search(pid, from, &data, path, e);
		if (one != -ENOENT)
			r = one;
		if (r && r != -ENOENT)
			break;
	}
	fclose(f);
	buf_release(&data);
	if (r == -ENOENT && hidden)
		return err_set(e, EPERM, "process %d: its memory cannot be read", pid);
	return r == -ENOENT ? err_set(e, ENOENT, "process %d has not loaded arcprof's library", pid) : r;
}
