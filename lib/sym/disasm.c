// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * disasm.c - runs objdump and reads what it writes.
 *
 * objdump gets an open file, never a path, so that what it reads is what was checked.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "sym/disasm.h"
#include "sym/places.h"
#include "sym/symfile.h"

enum {
	CODE_MAX = 1 << 20,
	OUTPUT_MAX = 128 << 20,
	CODE_FD = 3,
};
#define CODE_PATH "/proc/self/fd/3"

void disasm_release(struct disasm *d)
{
	free(d->insns);
	buf_release(&d->out);
}

/* ---- objdump ---- */

static int disasm_start(char *const argv[], int code, int out, pid_t *pid)
{
	static char *const env[] = { "LC_ALL=C", NULL };
	posix_spawn_file_actions_t a;
	int r;

	posix_spawn_file_actions_init(&a);
	posix_spawn_file_actions_addopen(&a, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&a, out, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&a, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&a, code, CODE_FD);
	r = posix_spawnp(pid, argv[0], &a, NULL, argv, env);
	posix_spawn_file_actions_destroy(&a);
	return r;
}

static int disasm_read_all(int fd, struct buf *b)
{
	ssize_t n;

	while (b->len < OUTPUT_MAX) {
		n = read(fd, buf_room(b, 65536), 65536);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : 0;
		b->len += n;
	}
	return -EFBIG;
}

/* Run objdump; code: a descriptor above those that are replaced. */
static int run_objdump(char *const argv[], int code, struct buf *b, struct err *e)
{
	int fds[2], r, status = 0;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return err_set(e, errno, "pipe: %s", strerror(errno));
	r = disasm_start(argv, code, fds[1], &pid);
	close(fds[1]);
	if (r) {
		close(fds[0]);
		return r == ENOENT ? err_set(e, r, "objdump is not installed") :
				     err_set(e, r, "objdump: %s", strerror(r));
	}
	r = disasm_read_all(fds[0], b);
	close(fds[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (r)
		return err_set(e, -r, "objdump: %s", strerror(-r));
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return err_set(e, EINVAL, "objdump cannot read it");
	return 0;
}

/* ---- what it writes ---- */

static void strip_end(char *s)
{
	size_t len = strlen(s);

	while (len && isspace((unsigned char)s[len - 1]))
		s[--len] = '\0';
}

/* "  401136:\t0f af c0             \timul   %eax,%eax" */
static void disasm_read_line(struct disasm *d, char *line, uint64_t start_addr, uint64_t size)
{
	char *end, *bytes, *text;
	uint64_t addr;

	addr = strtoull(line, &end, 16);
	if (end == line || end[0] != ':' || end[1] != '\t' || addr - start_addr >= size)
		return;
	bytes = end + 2;
	text = strchr(bytes, '\t');
	if (!text)
		return;
	*text++ = '\0';
	strip_end(bytes);
	strip_end(text);
	*VEC_ADD(d->insns, d->nr_insns, d->alloc_insns) =
		(struct disasm_insn){ addr - start_addr, bytes, text };
}

static int read_output(struct disasm *d, uint64_t start_addr, uint64_t size, struct err *e)
{
	char *rest = d->out.data, *line;

	buf_putc(&d->out, '\0');
	for (rest = d->out.data; (line = strsep(&rest, "\n"));)
		disasm_read_line(d, line, start_addr, size);
	return d->nr_insns ? 0 : err_set(e, EINVAL, "objdump found no instructions");
}

/* ---- where code comes from ---- */

static int check_build_id(int fd, const struct disasm_code *code, uint64_t *vaddr, struct err *e)
{
	struct symfile *f;
	const uint8_t *own;
	size_t own_len;
	int r = symfile_open_fd(&f, fd, "", code->path, e);

	if (r)
		return r;
	own = symfile_build_id(f, &own_len);
	if (!own || own_len != code->build_id_len || memcmp(own, code->build_id, own_len))
		r = err_set(e, ESTALE, "the file has changed since (its build-id differs)");
	*vaddr = symfile_off_to_vaddr(f, code->off);
	if (!r && *vaddr == UINT64_MAX)
		r = err_set(e, EINVAL, "the file has no code there");
	symfile_close(f);
	return r;
}

/* Open a regular file, with a descriptor that collides with neither the standard ones nor CODE_FD. */
static int open_regular(const char *path, struct err *e)
{
	int low = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), fd;
	struct stat st;

	if (low < 0)
		return err_set(e, errno, "the file: %s", strerror(errno));
	fd = fcntl(low, F_DUPFD_CLOEXEC, CODE_FD + 1);
	close(low);
	if (fd < 0)
		return err_set(e, errno, "the file: %s", strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return err_set(e, EINVAL, "it is not a regular file");
	}
	return fd;
}

/* Open the file of the code, if it has its build-id; -1: it is missing. */
static int disasm_open_below(const char *root, const struct disasm_code *code, uint64_t *vaddr, struct err *e)
{
	char *path = xasprintf("%s%s", root, code->path);
	int fd = open_regular(path, e);

	free(path);
	if (fd < 0 || !check_build_id(fd, code, vaddr, e))
		return fd < 0 ? -1 : fd;
	close(fd);
	return -1;
}

int disasm_file(struct disasm *d, const struct disasm_code *code, struct err *e)
{
	char from[48], to[48];
	char *const argv[] = { "objdump", "-d", "-w", "-C", from, to, CODE_PATH, NULL };
	uint64_t vaddr;
	int fd, r;

	*d = (struct disasm){ .insns = NULL };
	if (!code->build_id_len)
		return err_set(e, ESTALE, "the trace has no build-id to know the file by");
	if (!code->size || code->size > CODE_MAX)
		return err_set(e, EFBIG, "the function's size is not known, or above 1 MiB");
	fd = places_symfs()[0] ? disasm_open_below(places_symfs(), code, &vaddr, e) : -1;
	if (fd < 0)
		fd = disasm_open_below("", code, &vaddr, e);
	if (fd < 0)
		return -e->code;
	snprintf(from, sizeof(from), "--start-address=0x%" PRIx64, vaddr);
	snprintf(to, sizeof(to), "--stop-address=0x%" PRIx64, vaddr + code->size);
	r = run_objdump(argv, fd, &d->out, e);
	close(fd);
	return r ? r : read_output(d, vaddr, code->size, e);
}

static char *objdump_machine(const char *machine)
{
	if (!strcmp(machine, "x86_64"))
		return "i386:x86-64";
	return !strcmp(machine, "aarch64") ? "aarch64" : NULL;
}

int disasm_bytes(struct disasm *d, const uint8_t *code, size_t len, uint64_t addr, const char *machine,
		 struct err *e)
{
	char vma[48];
	char *const argv[] = { "objdump", "-D", "-w", "-b", "binary", "-m", objdump_machine(machine), vma,
		CODE_PATH, NULL };
	int low, fd, r;

	*d = (struct disasm){ .insns = NULL };
	if (!argv[6])
		return err_set(e, EINVAL, "objdump is not asked for code of '%s'", machine);
	snprintf(vma, sizeof(vma), "--adjust-vma=0x%" PRIx64, addr);
	low = memfd_create("arcprof-code", MFD_CLOEXEC);
	fd = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, CODE_FD + 1);
	if (low >= 0)
		close(low);
	if (fd < 0)
		return err_set(e, errno, "memfd_create: %s", strerror(errno));
	r = io_write_all(fd, code, len);
	r = r ? err_set(e, -r, "memfd: %s", strerror(-r)) : run_objdump(argv, fd, &d->out, e);
	close(fd);
	return r ? r : read_output(d, addr, len, e);
}
