// SPDX-License-Identifier: MIT
/* journal.c - writes a journal in place of talking to a recorder (journal.h). */
#include <asm/stat.h>
#include <errno.h>
#include <linux/falloc.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include <linux/utsname.h>

#include "agent/agent.h"
#include "agent/ownthread.h"
#include "agent/ring.h"
#include "agent/session/journal.h"
#include "agent/session/pack.h"
#include "agent/sources/vmevents.h"
#include "jvm/journal.h"

enum {
	TURN_MS = 20, BUSY_MS = 2,	/* between two turns, and after one that found much */
	LOG_BYTES = 8 << 20, PIECE = 1 << 20, PUNCH = 4 << 20,
	RING_LEAST = 4 << 20, RING_MOST = 64 << 20, MUCH = RING_LEAST / 16,
	MAX_DEPTH = 2048, MAX_STACK = 64 << 10,
	HEAD = sizeof(struct journal_chunk), DIRENT_NAME = 19, WAIT_MS = 1000, MAX_RANGES = 2048,
};
static const uint64_t header_ns = 1000000000;
/* The time between two looks at what is mapped. Looks take a hundredth of all time at most. */
static const uint64_t look_ns = 100000000, look_most_ns = 2000000000;
enum { LOOK_SHARE = 100 };

/* Each buffer has room for the chunk's header in front, and for what fills it up. */
static struct {
	struct sys_lock lock;		/* held while anything is written, or opened or closed */
	int fd;				/* -1: closed */
	int pid;			/* whose it is: not those that it forks */
	uint32_t serial;		/* of how many that were opened */
	uint64_t at, limit;		/* where the next chunk goes; at most, 0: no limit */
	struct jvm_ctl *ctl;
	struct journal_header h;
	uint64_t lost;			/* records that were taken, and could not be written */
	uint64_t taken;			/* bytes of records */
	char *buf, *packed;		/* LOG_BYTES, and what these may become */
	bool fresh;			/* the next chunk refers to nothing */
	uint64_t maps_hash;
	int vm_log;			/* -1: none */
	uint64_t vm_log_read, vm_log_punched;
	uint64_t header_ns;		/* when that was last done */
	uint64_t look_ns;		/* when that is to be done next */
	char file[512];			/* its name, for messages */
} j = { .fd = -1, .vm_log = -1 };

static struct pack pack;
static struct lz lz;
static struct pack_range ranges[MAX_RANGES];	/* of code */

static struct {
	struct sys_lock lock;		/* taken last */
	char *data, *other;		/* LOG_BYTES each; the other is being written, or free */
	size_t len;			/* HEAD: nothing is there */
	uint64_t nr;			/* records */
	bool open;
} pending;

/* --- the file --- */

static bool journal_is_ours(void)
{
	return j.fd >= 0 && sys(__NR_getpid) == j.pid;
}

static bool journal_write_all(const char *p, size_t len, uint64_t at)
{
	while (len) {
		long n = sys(__NR_pwrite64, j.fd, p, len, at);

		if (n == -EINTR)
			continue;
		if (n <= 0) {
			if (!j.h.error)
				j.h.error = n ? (uint32_t)-n : ENOSPC;
			return false;
		}
		p += n;
		at += n;
		len -= n;
	}
	return true;
}

/* Forget what was written: a reader does not know the content of a chunk that was not written. */
static void begin_afresh(void)
{
	pack_forget(&pack);
	lz_forget(&lz);
	j.fresh = true;
}

/*
 * Return whether to compress: not if a reader would refuse the result as expanding too much. told: bytes of
 * the records before packing.
 */
static bool is_worth_it(size_t packed, size_t len, size_t told)
{
	return packed < len && len / JOURNAL_LZ_RATIO < packed && told / JOURNAL_EXPANDS < packed;
}

/*
 * Compress len bytes, which follow the room for a header in buf. Returns where they are then, with *len set.
 */
static char *compress(char *buf, size_t *len, size_t told, uint32_t *kind)
{
	const uint32_t raw = (uint32_t)*len;
	char *to = j.packed + HEAD + sizeof(raw);
	size_t packed = sizeof(raw) + lz_pack(&lz, buf + HEAD, raw, (uint8_t *)to);

	if (!is_worth_it(packed, raw, told))
		return buf;
	memcpy(j.packed + HEAD, &raw, sizeof(raw));
	*len = packed;
	*kind |= JOURNAL_LZ;
	return j.packed;
}

struct batch {
	size_t len;
	size_t told;		/* bytes of its records, */
	uint64_t nr;		/* and how many */
};

/* Write a chunk whose bytes follow the room for a header in buf. */
static void write_chunk(char *buf, const struct batch *b, enum journal_kind what)
{
	uint32_t kind = what | (j.fresh ? JOURNAL_FRESH : 0);
	size_t len = b->len, whole;

	if (!len || !journal_is_ours())
		return;
	if (j.h.full) {
		j.lost += b->nr;
		return;
	}
	buf = compress(buf, &len, b->told, &kind);
	whole = ALIGN8(HEAD + len);
	*(struct journal_chunk *)buf = (struct journal_chunk){
		.len = (uint32_t)(HEAD + len), .kind = kind, .time_ns = sys_now(),
	};
	memset(buf + HEAD + len, 0, whole - HEAD - len);
	j.h.full = j.limit && j.at + whole > j.limit;
	if (!j.h.full && journal_write_all(buf, whole, j.at)) {
		j.at += whole;
		j.fresh = false;
		return;
	}
	j.lost += b->nr;
	begin_afresh();
	sys(__NR_ftruncate, j.fd, j.at);	/* half of it would be taken for damage */
}

/* Write a chunk of something other than records. */
static void journal_write_bytes(char *buf, size_t len, enum journal_kind kind)
{
	write_chunk(buf, &(struct batch){ .len = len }, kind);
}

static struct jvm_ring *ring_at(uint32_t i)
{
	return (void *)((char *)j.ctl + JVM_PAGE + sizeof(struct jvm_root) * JVM_NR_ROOTS +
			i * (JVM_PAGE + j.ctl->ring_bytes));
}

static uint64_t clock_real(void)
{
	int64_t t[2] = { 0, 0 };

	sys(__NR_clock_gettime, 0, t);
	return (uint64_t)t[0] * 1000000000 + (uint64_t)t[1];
}

/*
 * Write the header, whose room exists since the file was made: so lost records can be reported on a full
 * disk, too.
 */
static void journal_write_header(bool end)
{
	uint32_t i;

	j.h.lost = j.lost + load_relaxed(&j.ctl->log_lost);
	for (i = 0; i < j.ctl->nr_rings; i++)
		j.h.lost += load_relaxed(&ring_at(i)->lost);
	j.h.code_lo = load_relaxed(&j.ctl->code_lo);
	j.h.code_hi = load_relaxed(&j.ctl->code_hi);
	j.h.nr_traps = load_relaxed(&j.ctl->nr_traps);
	j.h.trap_ns = load_relaxed(&j.ctl->trap_ns);
	j.h.left_out = load_relaxed(&j.ctl->left_out);
	if (end) {
		j.h.end_ns = sys_now();
		j.h.end_real_ns = clock_real();
		j.h.end_tsc = cpu_tsc();
	}
	if (journal_is_ours())
		journal_write_all((const char *)&j.h, sizeof(j.h), 0);
}

/* --- what goes into it --- */

bool journal_record(const void *rec, size_t size)
{
	bool fits;

	sys_lock(&pending.lock);
	fits = pending.open && pending.len + size + 8 <= LOG_BYTES;
	if (fits) {
		memcpy(pending.data + pending.len, rec, size);
		pending.len += size;
		pending.nr++;
	}
	sys_unlock(&pending.lock);
	return fits;
}

static void write_pending(void)
{
	struct batch b;
	char *data;

	sys_lock(&pending.lock);
	data = pending.data;
	b = (struct batch){ .len = pending.len - HEAD, .nr = pending.nr };
	pending.data = pending.other;
	pending.other = data;
	pending.len = HEAD;
	pending.nr = 0;
	sys_unlock(&pending.lock);
	write_chunk(data, &b, JOURNAL_RECORDS);
}

static void write_batch(struct batch *b)
{
	write_chunk(j.buf, b, JOURNAL_ITEMS);
	pack_begin(&pack);
	*b = (struct batch){ 0 };
}

/* Take a record with its header, as in proto.h, and a stamp that is not written. */
static void take_record(struct batch *b, const char *p, uint32_t len, uint32_t type)
{
	uint8_t *to;

	if (HEAD + b->len + pack_most(len) + 8 > LOG_BYTES || b->told + len > LOG_BYTES)
		write_batch(b);
	if (pack_is_full(&pack)) {
		write_batch(b);
		begin_afresh();
	}
	to = (uint8_t *)j.buf + HEAD + b->len;
	b->len += (size_t)(pack_record(&pack, p, len, type, to) - to);
	b->told += len;
	b->nr++;
	j.taken += len;
}

/* Free the pages of the ring between two positions, all of which were taken. */
static void free_pages(struct jvm_ring *r, uint64_t from, uint64_t to)
{
	const uint64_t size = j.ctl->ring_bytes;
	char *data = (char *)r + JVM_PAGE;

	from &= ~(uint64_t)(JVM_PAGE - 1);
	to &= ~(uint64_t)(JVM_PAGE - 1);
	while (from < to) {
		uint64_t at = from & (size - 1), len = to - from < size - at ? to - from : size - at;

		sys_clear_pages(data + at, len);
		from += len;
	}
}

/* Copy up to where it ends, or to a record that is being written. */
static void drain_ring(struct jvm_ring *r, struct batch *b)
{
	const uint64_t size = j.ctl->ring_bytes, from = load_relaxed(&r->tail);
	uint64_t tail = from, head = load_acquire(&r->head);

	while (tail != head) {
		char *p = (char *)r + JVM_PAGE + (tail & (size - 1));
		uint64_t h = load_acquire((uint64_t *)p);
		uint32_t len = (uint32_t)h, type = h >> 32 & 0xff;

		if (!type || (h >> 32 & ~0xffull) != jvm_ring_stamp(tail, size))
			break;
		if (type != JVM_REC_PAD)
			take_record(b, p, len, type);
		tail += len;
	}
	free_pages(r, from, tail);
	store_release(&r->tail, tail);
}

static void drain_rings(void)
{
	struct batch b = { 0 };
	uint32_t i;

	for (i = 0; i < j.ctl->nr_rings; i++)
		drain_ring(ring_at(i), &b);
	write_batch(&b);
}

static void drain_vm_log(void)
{
	long n;

	while (j.vm_log >= 0 &&
	       (n = sys(__NR_pread64, j.vm_log, j.buf + HEAD, PIECE, j.vm_log_read)) > 0) {
		write_chunk(j.buf, &(struct batch){ .len = (size_t)n, .nr = 1 }, JOURNAL_VM_LOG);
		j.vm_log_read += (uint64_t)n;
	}
	if (j.vm_log_read - j.vm_log_punched >= PUNCH) {
		uint64_t to = j.vm_log_read & ~4095ull;

		sys(__NR_fallocate, j.vm_log, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, j.vm_log_punched,
		    to - j.vm_log_punched);
		j.vm_log_punched = to;
	}
}

/* "start-end r-xp ...": keeps the lines of code, in place; returns their bytes. */
static size_t keep_code(char *s, size_t len)
{
	char *end = s + len, *to = s, *from = s;

	while (from < end) {
		char *p = from;
		bool code;

		while (p < end && *p != ' ' && *p != '\n')
			p++;
		code = end - p > 3 && *p == ' ' && p[3] == 'x';
		while (p < end && *p != '\n')
			p++;
		if (p == end)
			break;		/* the buffer ends in it */
		for (p++; from < p; from++)
			if (code)
				*to++ = *from;
	}
	return (size_t)(to - s);
}

static const char *hex(const char *s, uint64_t *v)
{
	for (*v = 0;; s++)
		if (*s >= '0' && *s <= '9')
			*v = *v << 4 | (uint64_t)(*s - '0');
		else if (*s >= 'a' && *s <= 'f')
			*v = *v << 4 | (uint64_t)(*s - 'a' + 10);
		else
			return s;
}

/* Learn code from lines of executable mappings. If there are too many, none are known. */
static void know_code(const char *s, size_t len)
{
	const char *end = s + len;

	pack.code = ranges;
	for (pack.nr_code = 0; s < end; s++) {
		struct pack_range *r = &ranges[pack.nr_code++];

		if (pack.nr_code == MAX_RANGES) {
			pack.nr_code = 0;
			return;
		}
		s = hex(hex(s, &r->lo) + 1, &r->hi);
		while (*s != '\n')	/* each line ends */
			s++;
	}
}

static uint64_t journal_hash(const char *s, size_t len)
{
	uint64_t h = len;
	size_t i;

	for (i = 0; i < len; i++)
		h = (h ^ (unsigned char)s[i]) * 0x100000001b3ull;
	return h;
}

static void look_at_maps(void)
{
	long n = sys_slurp("/proc/self/maps", j.buf + HEAD, LOG_BYTES - HEAD - 8);
	size_t len = n > 0 ? keep_code(j.buf + HEAD, (size_t)n) : 0;
	uint64_t h = journal_hash(j.buf + HEAD, len);

	if (h == j.maps_hash)
		return;
	j.maps_hash = h;
	know_code(j.buf + HEAD, len);
	journal_write_bytes(j.buf, len, JOURNAL_MAPS);
}

static void look_now_and_then(uint64_t now)
{
	uint64_t wait;

	look_at_maps();
	wait = look_ns + (sys_now() - now) * LOOK_SHARE;
	j.look_ns = now + (wait < look_most_ns ? wait : look_most_ns);
}

static size_t put_path(char *path, const char *tid)
{
	static const char folder[] = "/proc/self/task/", file[] = "/comm";
	size_t len = sizeof(folder) - 1, tid_len = str_len(tid);

	memcpy(path, folder, len);
	memcpy(path + len, tid, tid_len);
	memcpy(path + len + tid_len, file, sizeof(file));
	return len;
}

static void add_thread(const char *tid, struct journal_thread *t)
{
	char path[64];
	const char *s;
	long n;

	*t = (struct journal_thread){ 0 };
	for (s = tid; *s >= '0' && *s <= '9'; s++)
		t->tid = t->tid * 10 + (uint32_t)(*s - '0');
	if (!t->tid)
		return;
	put_path(path, tid);
	n = sys_slurp(path, t->name, sizeof(t->name) - 1);
	t->name[n > 0 ? n - 1 : 0] = 0;		/* without the newline */
}

/* Write names of native threads; Java's threads report their own. */
static void look_at_threads(void)
{
	int dir = sys(__NR_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char buf[4096];
	size_t used = 0;
	long len, at;

	while (dir >= 0 && (len = sys(__NR_getdents64, dir, buf, sizeof(buf))) > 0)
		for (at = 0; at < len; at += *(uint16_t *)(buf + at + DIRENT_NAME - 3)) {
			struct journal_thread *t = (void *)(j.buf + HEAD + used);

			if (HEAD + used + sizeof(*t) + 8 > LOG_BYTES)
				break;
			add_thread(buf + at + DIRENT_NAME, t);
			used += t->tid ? sizeof(*t) : 0;
		}
	if (dir >= 0)
		sys(__NR_close, dir);
	journal_write_bytes(j.buf, used, JOURNAL_THREADS);
}

/*
 * Drain the log first, since samples mostly refer to what is in it, and mappings before the samples in them.
 * Returns the bytes of the records that were in rings.
 */
static uint64_t journal_turn(void)
{
	const uint64_t now = sys_now(), taken = j.taken;

	if (j.h.timer_ns && now >= j.look_ns)
		look_now_and_then(now);
	write_pending();
	drain_vm_log();
	drain_rings();
	if (now - j.header_ns >= header_ns) {
		j.header_ns = now;
		journal_write_header(false);
	}
	return j.taken - taken;
}

/* --- the thread --- */

static void JNICALL work(jvmtiEnv *ti, JNIEnv *env, void *arg)
{
	uint32_t serial = load_relaxed(&j.serial);
	uint64_t taken = 0;
	bool open = true;

	while (open) {
		sys_sleep_ms(taken >= MUCH ? BUSY_MS : TURN_MS);
		sys_lock(&j.lock);
		open = j.fd >= 0 && j.serial == serial;
		taken = open ? journal_turn() : 0;
		sys_unlock(&j.lock);
	}
}

void journal_live(JNIEnv *env)
{
	sys_lock(&j.lock);
	look_at_maps();
	look_at_threads();
	sys_unlock(&j.lock);
	ownthread_run(env, work);
}

/* --- from the beginning to the end --- */

static bool have_memory(void)
{
	j.buf = j.buf ? j.buf : sys_pages(LOG_BYTES);
	j.packed = j.packed ? j.packed : sys_pages(HEAD + lz_most(LOG_BYTES) + 2 * sizeof(uint64_t));
	lz.window = lz.window ? lz.window : sys_pages(LZ_WINDOW);
	pending.data = pending.data ? pending.data : sys_pages(LOG_BYTES);
	pending.other = pending.other ? pending.other : sys_pages(LOG_BYTES);
	return j.buf && j.packed && lz.window && pending.data && pending.other && pack_init(&pack);
}

static void say_errno(struct message *t, long error)
{
	static const struct {
		int error;
		const char *text;
	} texts[] = {
		{ ENOENT, "no such directory" }, { EACCES, "permission denied" },
		{ ENOSPC, "no space left on device" }, { EROFS, "read-only file system" },
		{ EDQUOT, "disk quota exceeded" }, { EFBIG, "file too large" },
		{ EIO, "input/output error" }, { EISDIR, "is a directory" }, { ENOTDIR, "not a directory" },
		{ EMFILE, "too many open files" }, { EPERM, "operation not permitted" },
		{ EEXIST, "it exists, and cannot be renamed" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(texts); i++)
		if (texts[i].error == error) {
			options_say(t, texts[i].text);
			return;
		}
	options_say(t, "it cannot be written");
}

static int create(const char *path)
{
	return sys(__NR_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/* Create the file; as recorders do, rename an existing one to PATH.old. */
static int create_file(const char *path)
{
	static const char suffix[] = ".old";
	char old[sizeof(((struct options *)0)->file) + sizeof(suffix)];
	size_t len = str_len(path);
	struct stat st;
	int fd = create(path);

	if (fd != -EEXIST)
		return fd;
	if (sys(__NR_newfstatat, AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) ||
	    (st.st_mode & 0170000) != 0100000)
		return -EEXIST;
	memcpy(old, path, len);
	memcpy(old + len, suffix, sizeof(suffix));
	return sys(__NR_renameat, AT_FDCWD, path, AT_FDCWD, old) ? -EEXIST : create(path);
}

static uint32_t nr_cpus(void)
{
	uint64_t mask[128];
	long len = sys(__NR_sched_getaffinity, 0, sizeof(mask), mask), i;
	uint32_t nr = 0;

	for (i = 0; i < len * 8; i++)
		nr += mask[i / 64] >> i % 64 & 1;
	return nr ? nr : 1;
}

/*
 * Return the bytes that threads write in a quarter of a second: they allocate a gigabyte a second, or
 * wait on 64 CPUs' worth of threads. Memory is taken as far as it is needed.
 */
static uint64_t ring_bytes(const struct options *w)
{
	enum { SAMPLE_BYTES = 6 << 10, MOST_HZ = 250000 };
	uint64_t hz = 0, bytes = RING_LEAST;
	uint32_t i;

	for (i = 0; i < JVM_NR_SOURCES; i++) {
		uint64_t a_second = i == JVM_SOURCE_LOCK ? 64000000000 : 1000000000;

		if (w->sources >> i & 1)
			hz += w->intervals[i] > a_second / MOST_HZ ? a_second / w->intervals[i] : MOST_HZ;
	}
	while (bytes < hz / 4 * SAMPLE_BYTES && bytes < RING_MOST)
		bytes *= 2;
	return bytes;
}

static struct jvm_ctl *make_area(const struct options *w, size_t *bytes)
{
	const uint64_t of_ring = ring_bytes(w);
	uint32_t nr_rings = 1;
	struct jvm_ctl *ctl;

	while (nr_rings < nr_cpus() && nr_rings < JVM_MAX_RINGS)
		nr_rings *= 2;
	*bytes = JVM_PAGE + sizeof(struct jvm_root) * JVM_NR_ROOTS +
		 nr_rings * (JVM_PAGE + of_ring);
	ctl = sys_pages(*bytes);
	if (!ctl)
		return NULL;
	*ctl = (struct jvm_ctl){
		.magic = JVM_PROTO_MAGIC, .version = JVM_PROTO_VERSION, .nr_rings = nr_rings,
		.ring_bytes = of_ring, .max_depth = MAX_DEPTH, .max_stack = MAX_STACK,
		.flags = JVM_SAMPLE | JVM_PLACES, .sources = w->sources, .tell = w->tell, .rate = w->rate,
		.may_tell = w->tell | (w->sources >> JVM_SOURCE_THROW & 1 ? JVM_TELL_EXCEPTION : 0),
	};
	memcpy(ctl->intervals, w->intervals, sizeof(ctl->intervals));
	return ctl;
}

static void fill_command(char *to, size_t size)
{
	long n = sys_slurp("/proc/self/cmdline", to, size - 1), i;

	for (i = 0; i + 1 < n; i++)
		if (!to[i])
			to[i] = ' ';
	to[n > 0 ? n : 0] = 0;
}

/* Set the name of the process, which is that of its first thread. */
static void fill_name(char *to, size_t size)
{
	long n = sys_slurp("/proc/self/comm", to, size - 1);

	to[n > 0 ? n - 1 : 0] = 0;	/* without the newline */
}

static void fill_header(const struct options *w)
{
	struct new_utsname u;

	memset(&u, 0, sizeof(u));
	sys(__NR_uname, &u);
	j.h = (struct journal_header){
		.magic = JOURNAL_MAGIC, .version = JOURNAL_VERSION, .proto = JVM_PROTO_VERSION,
		.pid = (uint32_t)j.pid, .nr_cpus = nr_cpus(), .start_ns = sys_now(),
		.start_real_ns = clock_real(), .start_tsc = cpu_tsc(),
		.sources = w->sources, .tell = w->tell, .timer_ns = w->timer_ns, .rate = w->rate,
		.hprof = w->hprof, .hprof_threads = w->hprof_threads, .hprof_depth = w->hprof_depth,
	};
	memcpy(j.h.intervals, w->intervals, sizeof(j.h.intervals));
	memcpy(j.h.host, u.nodename, sizeof(j.h.host));
	memcpy(j.h.release, u.release, sizeof(j.h.release));
	memcpy(j.h.machine, u.machine, sizeof(j.h.machine));
	fill_name(j.h.name, sizeof(j.h.name));
	fill_command(j.h.command, sizeof(j.h.command));
}

/*
 * Make a file in memory for the VM's log. The VM gets one descriptor, which it opens again by number; we keep
 * another.
 */
static void open_vm_log(const struct options *w)
{
	enum { MFD_CLOEXEC_ = 1, F_DUPFD_CLOEXEC_ = 1030 };
	int fd;

	j.vm_log_read = j.vm_log_punched = 0;
	if (!(w->tell & JVM_TELL_BY_LOG))
		return;
	j.vm_log = sys(__NR_memfd_create, "arcprof-vm-log", MFD_CLOEXEC_);
	fd = j.vm_log < 0 ? -1 : sys(__NR_fcntl, j.vm_log, F_DUPFD_CLOEXEC_, 0);
	if (fd >= 0)
		vmlog_take(fd);
}

static void keep_name(const char *path)
{
	size_t len = str_len(path);

	if (len >= sizeof(j.file))
		len = sizeof(j.file) - 1;
	memcpy(j.file, path, len);
	j.file[len] = 0;
}

static bool journal_begin(const struct options *w, int fd)
{
	size_t bytes;

	j.ctl = have_memory() ? make_area(w, &bytes) : NULL;
	if (!j.ctl || !ring_init_alone(j.ctl, bytes))
		return false;
	j.fd = fd;
	j.pid = sys(__NR_getpid);
	j.serial++;
	j.at = JOURNAL_HEADER_BYTES;
	j.limit = w->limit;
	j.lost = j.maps_hash = 0;
	j.header_ns = j.look_ns = 0;
	begin_afresh();
	keep_name(w->file);
	fill_header(w);
	journal_write_header(false);
	sys(__NR_ftruncate, fd, JOURNAL_HEADER_BYTES);
	pending.len = HEAD;
	pending.nr = 0;
	pending.open = true;
	open_vm_log(w);
	return true;
}

int journal_open(const struct options *w, struct message *why)
{
	int fd = create_file(w->file);
	bool ok = false;

	if (fd < 0) {
		options_say(why, w->file);
		options_say(why, ": ");
		say_errno(why, -fd);
		return -1;
	}
	sys_lock(&j.lock);
	ok = journal_begin(w, fd);
	sys_unlock(&j.lock);
	if (ok)
		return JVM_SAMPLE;
	sys(__NR_close, fd);
	options_say(why, "out of memory");
	return -1;
}

uint64_t journal_timer_ns(void)
{
	return j.h.timer_ns;
}

void journal_end_waits(void)
{
	struct jvm_ctl *ctl = ring_ctl();
	const uint64_t now = sys_now();
	int ms;

	if (!ctl || !load_relaxed(&ctl->tells_open))
		return;
	store_release(&ctl->end_ns, now);
	for (ms = 0; ms < WAIT_MS && load_acquire(&ctl->ended_ns) != now; ms++)
		sys_sleep_ms(1);
}

static void say_number(struct message *t, uint64_t n)
{
	char digits[24];
	size_t i = sizeof(digits);

	do
		digits[--i] = '0' + n % 10;
	while (n /= 10);
	options_put(t, digits + i, sizeof(digits) - i);
}

static void say_losses(struct message *t)
{
	options_say(t, j.file);
	options_say(t, ": ");
	if (j.h.error) {
		say_errno(t, j.h.error);
		options_say(t, ", ");
	} else if (j.h.full) {
		options_say(t, "its limit is reached, ");
	}
	say_number(t, j.h.lost);
	options_say(t, j.h.lost == 1 ? " record is lost" : " records are lost");
}

static bool is_open(void)
{
	bool open;

	sys_lock(&j.lock);
	open = j.fd >= 0;
	sys_unlock(&j.lock);
	return open;
}

void journal_close(struct message *said)
{
	if (!is_open())
		return;
	sys_lock(&j.lock);
	look_at_maps();
	look_at_threads();
	sys_lock(&pending.lock);
	pending.open = false;
	sys_unlock(&pending.lock);
	journal_turn();
	journal_write_header(true);
	if (journal_is_ours() && (j.h.error || j.h.full || j.h.lost))
		say_losses(said);
	sys(__NR_close, j.fd);
	if (j.vm_log >= 0)
		sys(__NR_close, j.vm_log);
	j.fd = j.vm_log = -1;
	sys_unlock(&j.lock);
}

void journal_say(const struct message *t)
{
	struct message line = { .len = 0 };

	options_say(&line, "arcprof: ");
	options_put(&line, t->s, t->len);
	options_say(&line, "\n");
	sys(__NR_write, 2, line.s, line.len);
}
