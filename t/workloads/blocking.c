// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * blocking.c - calls that block, of more than fifty kinds: each ends by its timeout or because another
 * thread ends it, both after 10 ms. Prints of each
 *
 *	<call> <returned> <errno's name or 0> <microseconds> <timeout in microseconds, 0: none>
 *
 * What a profiler may not change: results, and that no timeout comes early.
 *
 * usage: blocking
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { US = 10000 };

static const struct timespec span = { 0, US * 1000 };
static struct timeval span_us = { 0, US };
static int quiet[2], pipe_fds[2], sockets[2], listener, udp, full_pipe[2], full_sockets[2];
static int epoll_fd, event_fd, other_fd;
static int timer_fd, signal_fd, inotify_fd, queue_id, sem_id, file_fd, file_fd2;
static mqd_t empty_mq, full_mq;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER, mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t sem, other_sem;
static int word;
static char fifo[96], dir[64];
static volatile bool flag;
static sigset_t usr1, usr2;

static struct timespec later(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	t.tv_nsec += US * 1000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static long as_errno(int r)
{
	errno = r;
	return r ? -1 : 0;
}

/* ---- with a timeout ---- */

static long do_nanosleep(void) { return nanosleep(&span, NULL); }
static long do_usleep(void) { return usleep(US); }
static long do_clock_nanosleep(void) { return as_errno(clock_nanosleep(CLOCK_MONOTONIC, 0, &span, NULL)); }

static long do_clock_nanosleep_abs(void)
{
	struct timespec t = later(CLOCK_MONOTONIC);

	return as_errno(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL));
}

static long do_poll(void)
{
	struct pollfd p = { .fd = quiet[0], .events = POLLIN };

	return poll(&p, 1, US / 1000);
}

static long do_ppoll(void)
{
	struct pollfd p = { .fd = quiet[0], .events = POLLIN };

	return ppoll(&p, 1, &span, NULL);
}

static long do_select(void)
{
	struct timeval t = span_us;
	fd_set set;

	FD_ZERO(&set);
	FD_SET(quiet[0], &set);
	return select(quiet[0] + 1, &set, NULL, NULL, &t);
}

static long do_pselect(void)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(quiet[0], &set);
	return pselect(quiet[0] + 1, &set, NULL, NULL, &span, NULL);
}

static struct epoll_event event;

static long do_epoll_wait(void) { return epoll_wait(epoll_fd, &event, 1, US / 1000); }
static long do_epoll_pwait(void) { return epoll_pwait(epoll_fd, &event, 1, US / 1000, &usr1); }

static long do_futex(void)
{
	return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, word, &span, NULL, 0);
}

static long do_futex_bitset(void)
{
	struct timespec t = later(CLOCK_MONOTONIC);

	return syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, word, &t, NULL, FUTEX_BITSET_MATCH_ANY);
}

static long do_cond_timedwait(void)
{
	struct timespec t = later(CLOCK_REALTIME);
	int r;

	pthread_mutex_lock(&mutex);
	r = pthread_cond_timedwait(&cond, &mutex, &t);
	pthread_mutex_unlock(&mutex);
	return as_errno(r);
}

static long do_mutex_timedlock(void)
{
	struct timespec t = later(CLOCK_REALTIME);

	return as_errno(pthread_mutex_timedlock(&held, &t));
}

static long do_rwlock_timedwrlock(void)
{
	struct timespec t = later(CLOCK_REALTIME);

	return as_errno(pthread_rwlock_timedwrlock(&rwlock, &t));
}

static long do_sem_timedwait(void)
{
	struct timespec t = later(CLOCK_REALTIME);

	return sem_timedwait(&sem, &t);
}

static long do_sigtimedwait(void) { return sigtimedwait(&usr1, NULL, &span); }

static char bytes[16];

static long do_recv_timeout(void) { return recv(sockets[0], bytes, 1, 0); }
static long do_recvfrom_timeout(void) { return recvfrom(udp, bytes, 1, 0, NULL, NULL); }
static long do_read_socket_timeout(void) { return read(sockets[0], bytes, 1); }

static long do_recvmsg_timeout(void)
{
	struct iovec v = { bytes, 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };

	return recvmsg(udp, &m, 0);
}

static long do_recvmmsg_timeout(void)
{
	struct iovec v = { bytes, 1 };
	struct mmsghdr m = { .msg_hdr = { .msg_iov = &v, .msg_iovlen = 1 } };

	return recvmmsg(udp, &m, 1, 0, NULL);
}

static long do_accept_timeout(void) { return accept(listener, NULL, NULL); }
static long do_accept4_timeout(void) { return accept4(listener, NULL, NULL, SOCK_CLOEXEC); }
static long do_send_timeout(void) { return send(full_sockets[0], bytes, sizeof(bytes), 0); }
static long do_write_socket_timeout(void) { return write(full_sockets[0], bytes, sizeof(bytes)); }

static long do_sendmsg_timeout(void)
{
	struct iovec v = { bytes, sizeof(bytes) };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };

	return sendmsg(full_sockets[0], &m, 0);
}

static long do_semtimedop(void)
{
	struct sembuf b = { .sem_op = -1 };

	return semtimedop(sem_id, &b, 1, &span);
}

static long do_mq_timedreceive(void)
{
	struct timespec t = later(CLOCK_REALTIME);

	return mq_timedreceive(empty_mq, bytes, sizeof(bytes), NULL, &t);
}

static long do_mq_timedsend(void)
{
	struct timespec t = later(CLOCK_REALTIME);

	return mq_timedsend(full_mq, bytes, 1, 0, &t);
}

/* ---- ended by another thread ---- */

static long do_read_pipe(void) { return read(pipe_fds[0], bytes, 1); }
static void end_pipe(void) { flag = write(pipe_fds[1], "x", 1) == 1; }

static long do_readv_pipe(void)
{
	struct iovec v = { bytes, 1 };

	return readv(pipe_fds[0], &v, 1);
}

static long do_poll_ready(void)
{
	struct pollfd p = { .fd = pipe_fds[0], .events = POLLIN };
	long r = poll(&p, 1, -1);

	flag = read(pipe_fds[0], bytes, 1) == 1;
	return r;
}

static long do_select_ready(void)
{
	fd_set set;
	long r;

	FD_ZERO(&set);
	FD_SET(pipe_fds[0], &set);
	r = select(pipe_fds[0] + 1, &set, NULL, NULL, NULL);
	flag = read(pipe_fds[0], bytes, 1) == 1;
	return r;
}

static long do_splice(void) { return splice(pipe_fds[0], NULL, full_pipe[1], NULL, 1, 0); }
static long do_tee(void)
{
	long r = tee(pipe_fds[0], quiet[1], 1, 0);

	flag = read(pipe_fds[0], bytes, 1) == 1 && read(quiet[0], bytes, 1) == 1;
	return r;
}

static long do_epoll_ready(void)
{
	uint64_t v;
	long r = epoll_wait(epoll_fd, &event, 1, -1);

	flag = read(event_fd, &v, sizeof(v)) == sizeof(v);
	return r;
}

static void end_event(void)
{
	uint64_t one = 1;

	flag = write(event_fd, &one, sizeof(one)) == sizeof(one);
}

static long do_read_eventfd(void)
{
	uint64_t v;

	return read(other_fd, &v, sizeof(v));
}

static void end_other_event(void)
{
	uint64_t one = 1;

	flag = write(other_fd, &one, sizeof(one)) == sizeof(one);
}

static void no_timeouts(void)
{
	const struct timeval none = { 0, 0 };

	setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &none, sizeof(none));
	setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof(none));
	setsockopt(full_sockets[0], SOL_SOCKET, SO_SNDTIMEO, &none, sizeof(none));
}

static long do_recv(void)
{
	no_timeouts();
	return recv(sockets[0], bytes, 1, 0);
}

static void end_socket(void) { flag = send(sockets[1], "x", 1, 0) == 1; }
static long do_recvfrom(void) { return recvfrom(sockets[0], bytes, 1, 0, NULL, NULL); }

static long do_accept(void)
{
	int fd = accept(listener, NULL, NULL);

	close(fd);
	return fd >= 0;
}

static void end_accept(void)
{
	struct sockaddr_in a;
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	getsockname(listener, (struct sockaddr *)&a, &len);
	flag = !connect(fd, (struct sockaddr *)&a, len);
	close(fd);
}

static char drain[1 << 20];

static long do_write_pipe(void) { return write(full_pipe[1], bytes, 1); }
static void end_full_pipe(void) { flag = read(full_pipe[0], drain, 8192) > 0; }
static long do_send(void) { return send(full_sockets[0], bytes, 1, 0); }
static void end_full_socket(void) { flag = recv(full_sockets[1], drain, sizeof(drain), 0) > 0; }

static long do_futex_woken(void)
{
	return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, word, NULL, NULL, 0);
}

static void end_futex(void) { syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0); }

static long do_cond_wait(void)
{
	pthread_mutex_lock(&mutex);
	flag = false;
	while (!flag)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
	return 0;
}

static void end_cond(void)
{
	pthread_mutex_lock(&mutex);
	flag = true;
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&mutex);
}

static long do_sem_wait(void) { return sem_wait(&other_sem); }
static void end_sem(void) { sem_post(&other_sem); }
static long do_barrier(void) { return pthread_barrier_wait(&barrier) > 0; }
static void end_barrier(void) { pthread_barrier_wait(&barrier); }

static void *nap_thread(void *arg)
{
	nanosleep(&span, NULL);
	return arg;
}

static long do_join(void)
{
	pthread_t t;

	pthread_create(&t, NULL, nap_thread, NULL);
	return as_errno(pthread_join(t, NULL));
}

static pid_t child(void)
{
	pid_t pid = fork();

	if (!pid) {
		nanosleep(&span, NULL);
		_exit(7);
	}
	return pid;
}

static long do_waitpid(void)
{
	int status;
	pid_t pid = child();

	return waitpid(pid, &status, 0) == pid ? WEXITSTATUS(status) : -1;
}

static long do_waitid(void)
{
	siginfo_t info;

	return waitid(P_PID, child(), &info, WEXITED) ? -1 : info.si_status;
}

static long do_read_timerfd(void)
{
	struct itimerspec t = { .it_value = span };
	uint64_t v;

	timerfd_settime(timer_fd, 0, &t, NULL);
	return read(timer_fd, &v, sizeof(v)) == sizeof(v) ? (long)v : -1;
}

static long do_read_signalfd(void)
{
	struct signalfd_siginfo s;

	return read(signal_fd, &s, sizeof(s)) == sizeof(s) ? (long)s.ssi_signo : -1;
}

static void end_signal(void) { kill(getpid(), SIGUSR2); }
static long do_sigwaitinfo(void) { return sigwaitinfo(&usr2, NULL); }

static long do_read_inotify(void)
{
	char text[512];

	return read(inotify_fd, text, sizeof(text)) > 0;
}

static void end_inotify(void)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/f", dir);
	close(open(path, O_CREAT | O_RDWR, 0600));
	unlink(path);
}

static struct { long type; char text[8]; } message = { 1, "x" };

static long do_msgrcv(void) { return msgrcv(queue_id, &message, 1, 0, 0); }
static void end_msg(void) { msgsnd(queue_id, &message, 1, 0); }

static long do_semop(void)
{
	struct sembuf b = { .sem_op = -1 };

	return semop(sem_id, &b, 1);
}

static void end_semop(void)
{
	struct sembuf b = { .sem_op = 1 };

	semop(sem_id, &b, 1);
}

static long do_mq_receive(void) { return mq_receive(empty_mq, bytes, sizeof(bytes), NULL); }
static void end_mq(void) { mq_send(empty_mq, bytes, 1, 0); }

static long do_flock(void)
{
	long r = flock(file_fd2, LOCK_EX);

	flock(file_fd2, LOCK_UN);
	return r;
}

static void end_flock(void) { flock(file_fd, LOCK_UN); }

static long do_fcntl_lock(void)
{
	struct flock l = { .l_type = F_WRLCK };
	long r = fcntl(file_fd2, F_OFD_SETLKW, &l);

	l.l_type = F_UNLCK;
	fcntl(file_fd2, F_OFD_SETLK, &l);
	return r;
}

static void end_fcntl(void)
{
	struct flock l = { .l_type = F_UNLCK };

	fcntl(file_fd, F_OFD_SETLK, &l);
}

static long do_open_fifo(void)
{
	int fd = open(fifo, O_RDONLY);

	close(fd);
	return fd >= 0;
}

static void end_fifo(void) { close(open(fifo, O_WRONLY)); }

static long do_rdlock(void)
{
	long r = as_errno(pthread_rwlock_wrlock(&rwlock));

	pthread_rwlock_unlock(&rwlock);
	return r;
}

static void end_rwlock(void) { flag = true; }

/* ---- all of them ---- */

static const struct kind {
	const char *name;
	long (*call)(void);
	void (*end)(void);		/* by another thread; NULL: by itself */
	bool timeout;
} kinds[] = {
#define TIMED(n) { #n, do_##n, NULL, true },
	TIMED(nanosleep) TIMED(usleep) TIMED(clock_nanosleep) TIMED(clock_nanosleep_abs) TIMED(poll)
	TIMED(ppoll)
	TIMED(select) TIMED(pselect) TIMED(epoll_wait) TIMED(epoll_pwait) TIMED(futex) TIMED(futex_bitset)
	TIMED(cond_timedwait) TIMED(mutex_timedlock) TIMED(rwlock_timedwrlock) TIMED(sem_timedwait)
	TIMED(sigtimedwait) TIMED(recv_timeout) TIMED(recvfrom_timeout) TIMED(read_socket_timeout)
	TIMED(recvmsg_timeout) TIMED(recvmmsg_timeout) TIMED(accept_timeout) TIMED(accept4_timeout)
	TIMED(send_timeout) TIMED(write_socket_timeout) TIMED(sendmsg_timeout) TIMED(semtimedop)
	TIMED(mq_timedreceive) TIMED(mq_timedsend) TIMED(read_timerfd)
#define ENDED(n, by) { #n, do_##n, by, false },
	ENDED(read_pipe, end_pipe) ENDED(readv_pipe, end_pipe) ENDED(poll_ready, end_pipe)
	ENDED(select_ready, end_pipe) ENDED(tee, end_pipe) ENDED(epoll_ready, end_event)
	ENDED(read_eventfd, end_other_event) ENDED(recv, end_socket) ENDED(recvfrom, end_socket)
	ENDED(accept, end_accept) ENDED(write_pipe, end_full_pipe) ENDED(splice, end_pipe)
	ENDED(send, end_full_socket) ENDED(futex_woken, end_futex) ENDED(cond_wait, end_cond)
	ENDED(sem_wait, end_sem) ENDED(barrier, end_barrier) ENDED(join, NULL) ENDED(waitpid, NULL)
	ENDED(waitid, NULL) ENDED(read_signalfd, end_signal) ENDED(sigwaitinfo, end_signal)
	ENDED(read_inotify, end_inotify) ENDED(msgrcv, end_msg) ENDED(semop, end_semop)
	ENDED(mq_receive, end_mq) ENDED(flock, end_flock) ENDED(fcntl_lock, end_fcntl)
	ENDED(open_fifo, end_fifo) ENDED(rdlock, end_rwlock)
};

static void *end_later(void *kind)
{
	const struct kind *k = kind;

	nanosleep(&span, NULL);
	k->end();
	return NULL;
}

/* A reader's lock, until another thread is told to go. */
static void *hold_rwlock(void *arg)
{
	pthread_rwlock_rdlock(&rwlock);
	flag = true;
	nanosleep(&span, NULL);
	while (arg && !*(volatile bool *)arg)
		nanosleep(&span, NULL);
	pthread_rwlock_unlock(&rwlock);
	return NULL;
}

static void fill(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	while (write(fd, drain, 4096) > 0)
		;
	while (write(fd, drain, 1) > 0)
		;
	fcntl(fd, F_SETFL, flags);
}

static void prepare_sockets(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	socketpair(AF_UNIX, SOCK_STREAM, 0, sockets);
	socketpair(AF_UNIX, SOCK_STREAM, 0, full_sockets);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	udp = socket(AF_INET, SOCK_DGRAM, 0);
	if (bind(listener, (struct sockaddr *)&a, sizeof(a)) || listen(listener, 4) ||
	    bind(udp, (struct sockaddr *)&a, sizeof(a)))
		exit(3);
	setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &span_us, sizeof(span_us));
	setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &span_us, sizeof(span_us));
	setsockopt(udp, SOL_SOCKET, SO_RCVTIMEO, &span_us, sizeof(span_us));
	setsockopt(full_sockets[0], SOL_SOCKET, SO_SNDTIMEO, &span_us, sizeof(span_us));
	fill(full_sockets[0]);
}

static void prepare_queues(void)
{
	struct mq_attr attr = { .mq_maxmsg = 1, .mq_msgsize = sizeof(bytes) };
	char name[48];

	snprintf(name, sizeof(name), "/arcprof-blocking-%d", (int)getpid());
	empty_mq = mq_open(name, O_CREAT | O_RDWR, 0600, &attr);
	mq_unlink(name);
	full_mq = mq_open(name, O_CREAT | O_RDWR, 0600, &attr);
	mq_unlink(name);
	mq_send(full_mq, bytes, 1, 0);
	queue_id = msgget(IPC_PRIVATE, 0600);
	sem_id = semget(IPC_PRIVATE, 1, 0600);
}

static void prepare_files(void)
{
	char path[96];

	snprintf(dir, sizeof(dir), "/tmp/arcprof-blocking-%d", (int)getpid());
	mkdir(dir, 0700);
	snprintf(fifo, sizeof(fifo), "%s/o", dir);
	mkfifo(fifo, 0600);
	snprintf(path, sizeof(path), "%s/l", dir);
	file_fd = open(path, O_CREAT | O_RDWR, 0600);
	file_fd2 = open(path, O_RDWR);
	unlink(path);
	inotify_fd = inotify_init();
	inotify_add_watch(inotify_fd, dir, IN_CREATE);
}

static void prepare(void)
{
	struct epoll_event e = { .events = EPOLLIN };
	sigset_t both;

	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigemptyset(&usr2);
	sigaddset(&usr2, SIGUSR2);
	both = usr1;
	sigaddset(&both, SIGUSR2);
	sigprocmask(SIG_BLOCK, &both, NULL);
	if (pipe(quiet) || pipe(pipe_fds) || pipe(full_pipe))
		exit(3);
	epoll_fd = epoll_create1(0);
	event_fd = eventfd(0, 0);
	other_fd = eventfd(0, 0);
	epoll_ctl(epoll_fd, EPOLL_CTL_ADD, event_fd, &e);
	timer_fd = timerfd_create(CLOCK_MONOTONIC, 0);
	signal_fd = signalfd(-1, &usr2, 0);
	sem_init(&sem, 0, 0);
	sem_init(&other_sem, 0, 0);
	pthread_barrier_init(&barrier, NULL, 2);
	prepare_sockets();
	prepare_queues();
	prepare_files();
	fill(full_pipe[1]);
}

static void *lock_held(void *arg)
{
	pthread_mutex_lock(&held);
	flag = true;
	pause();
	return arg;
}

/* What a call needs beforehand of another thread, or of a lock. */
static void arm(const struct kind *k)
{
	static bool never;
	struct flock l = { .l_type = F_WRLCK };
	pthread_t t;

	flag = false;
	if (k->call == do_mutex_timedlock)
		pthread_create(&t, NULL, lock_held, NULL);
	else if (k->call == do_rwlock_timedwrlock)
		pthread_create(&t, NULL, hold_rwlock, (void *)&flag);
	else if (k->call == do_rdlock)
		pthread_create(&t, NULL, hold_rwlock, &never);
	else
		flag = true;
	while (!flag)
		sched_yield();
	if (k->call == do_rwlock_timedwrlock)
		flag = false;
	if (k->call == do_rdlock)
		never = true;
	if (k->call == do_flock)
		flock(file_fd, LOCK_EX);
	if (k->call == do_fcntl_lock)
		fcntl(file_fd, F_OFD_SETLK, &l);
}

static void run(const struct kind *k)
{
	struct timespec a, b;
	pthread_t t;
	long r;
	int e;

	arm(k);
	if (k->end)
		pthread_create(&t, NULL, end_later, (void *)k);
	clock_gettime(CLOCK_MONOTONIC, &a);
	errno = 0;
	r = k->call();
	e = r < 0 ? errno : 0;
	clock_gettime(CLOCK_MONOTONIC, &b);
	if (k->end)
		pthread_join(t, NULL);
	flag = true;
	printf("%s %ld %s %ld %d\n", k->name, r, e ? strerrorname_np(e) : "0",
	       (long)((b.tv_sec - a.tv_sec) * 1000000 + (b.tv_nsec - a.tv_nsec) / 1000), k->timeout ? US : 0);
}

int main(void)
{
	size_t i;

	prepare();
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		run(&kinds[i]);
	msgctl(queue_id, IPC_RMID, NULL);
	semctl(sem_id, 0, IPC_RMID);
	unlink(fifo);
	rmdir(dir);
	fflush(stdout);
	_exit(0);
}
