// SPDX-License-Identifier: GPL-2.0-or-later
/* syscalls.c - lists the system calls in which threads wait (syscalls.h). */
#include <stddef.h>
#include <sys/syscall.h>

#include "base/mem.h"
#include "wall/syscalls.h"

#define CALL(name, class) { SYS_##name, #name, WALL_CLASS_##class, WALL_NO_FILE },
#define OF_FILE(name, class) { SYS_##name, #name, WALL_CLASS_##class, WALL_FILE },
#define OF_LIST(name, class) { SYS_##name, #name, WALL_CLASS_##class, WALL_LIST },

/* not every CPU has them all, and the newest are in no header yet */
static const struct wall_syscall calls[] = {
#ifdef SYS_futex
	CALL(futex, FUTEX)
#endif
#ifdef SYS_futex_wait
	CALL(futex_wait, FUTEX)
#endif
#ifdef SYS_futex_waitv
	CALL(futex_waitv, FUTEX)
#endif
#ifdef SYS_futex_requeue
	CALL(futex_requeue, FUTEX)
#endif
#ifdef SYS_nanosleep
	CALL(nanosleep, SLEEP)
#endif
#ifdef SYS_clock_nanosleep
	CALL(clock_nanosleep, SLEEP)
#endif
#ifdef SYS_read
	OF_FILE(read, READ)
#endif
#ifdef SYS_readv
	OF_FILE(readv, READ)
#endif
#ifdef SYS_pread64
	OF_FILE(pread64, READ)
#endif
#ifdef SYS_preadv
	OF_FILE(preadv, READ)
#endif
#ifdef SYS_preadv2
	OF_FILE(preadv2, READ)
#endif
#ifdef SYS_recvfrom
	OF_FILE(recvfrom, READ)
#endif
#ifdef SYS_recvmsg
	OF_FILE(recvmsg, READ)
#endif
#ifdef SYS_recvmmsg
	OF_FILE(recvmmsg, READ)
#endif
#ifdef SYS_accept
	OF_FILE(accept, READ)
#endif
#ifdef SYS_accept4
	OF_FILE(accept4, READ)
#endif
#ifdef SYS_getdents
	OF_FILE(getdents, READ)
#endif
#ifdef SYS_getdents64
	OF_FILE(getdents64, READ)
#endif
#ifdef SYS_splice
	OF_FILE(splice, READ)
#endif
#ifdef SYS_tee
	OF_FILE(tee, READ)
#endif
#ifdef SYS_copy_file_range
	OF_FILE(copy_file_range, READ)
#endif
#ifdef SYS_sendfile
	OF_FILE(sendfile, READ)
#endif
#ifdef SYS_vmsplice
	OF_FILE(vmsplice, READ)
#endif
#ifdef SYS_write
	OF_FILE(write, WRITE)
#endif
#ifdef SYS_writev
	OF_FILE(writev, WRITE)
#endif
#ifdef SYS_pwrite64
	OF_FILE(pwrite64, WRITE)
#endif
#ifdef SYS_pwritev
	OF_FILE(pwritev, WRITE)
#endif
#ifdef SYS_pwritev2
	OF_FILE(pwritev2, WRITE)
#endif
#ifdef SYS_sendto
	OF_FILE(sendto, WRITE)
#endif
#ifdef SYS_sendmsg
	OF_FILE(sendmsg, WRITE)
#endif
#ifdef SYS_sendmmsg
	OF_FILE(sendmmsg, WRITE)
#endif
#ifdef SYS_connect
	OF_FILE(connect, WRITE)
#endif
#ifdef SYS_poll
	OF_LIST(poll, POLL)
#endif
#ifdef SYS_ppoll
	OF_LIST(ppoll, POLL)
#endif
#ifdef SYS_select
	CALL(select, POLL)
#endif
#ifdef SYS_pselect6
	CALL(pselect6, POLL)
#endif
#ifdef SYS_io_uring_enter
	CALL(io_uring_enter, POLL)
#endif
#ifdef SYS_io_getevents
	CALL(io_getevents, POLL)
#endif
#ifdef SYS_io_pgetevents
	CALL(io_pgetevents, POLL)
#endif
#ifdef SYS_epoll_wait
	OF_FILE(epoll_wait, POLL)
#endif
#ifdef SYS_epoll_pwait
	OF_FILE(epoll_pwait, POLL)
#endif
#ifdef SYS_epoll_pwait2
	OF_FILE(epoll_pwait2, POLL)
#endif
#ifdef SYS_fsync
	OF_FILE(fsync, FILE)
#endif
#ifdef SYS_fdatasync
	OF_FILE(fdatasync, FILE)
#endif
#ifdef SYS_sync_file_range
	OF_FILE(sync_file_range, FILE)
#endif
#ifdef SYS_flock
	OF_FILE(flock, FILE)
#endif
#ifdef SYS_ftruncate
	OF_FILE(ftruncate, FILE)
#endif
#ifdef SYS_fallocate
	OF_FILE(fallocate, FILE)
#endif
#ifdef SYS_fstat
	OF_FILE(fstat, FILE)
#endif
#ifdef SYS_fchmod
	OF_FILE(fchmod, FILE)
#endif
#ifdef SYS_fchown
	OF_FILE(fchown, FILE)
#endif
#ifdef SYS_syncfs
	OF_FILE(syncfs, FILE)
#endif
#ifdef SYS_close
	OF_FILE(close, FILE)
#endif
#ifdef SYS_fcntl
	OF_FILE(fcntl, FILE)
#endif
#ifdef SYS_open
	CALL(open, FILE)
#endif
#ifdef SYS_openat
	CALL(openat, FILE)
#endif
#ifdef SYS_openat2
	CALL(openat2, FILE)
#endif
#ifdef SYS_creat
	CALL(creat, FILE)
#endif
#ifdef SYS_stat
	CALL(stat, FILE)
#endif
#ifdef SYS_lstat
	CALL(lstat, FILE)
#endif
#ifdef SYS_newfstatat
	CALL(newfstatat, FILE)
#endif
#ifdef SYS_statx
	CALL(statx, FILE)
#endif
#ifdef SYS_access
	CALL(access, FILE)
#endif
#ifdef SYS_faccessat
	CALL(faccessat, FILE)
#endif
#ifdef SYS_faccessat2
	CALL(faccessat2, FILE)
#endif
#ifdef SYS_rename
	CALL(rename, FILE)
#endif
#ifdef SYS_renameat
	CALL(renameat, FILE)
#endif
#ifdef SYS_renameat2
	CALL(renameat2, FILE)
#endif
#ifdef SYS_unlink
	CALL(unlink, FILE)
#endif
#ifdef SYS_unlinkat
	CALL(unlinkat, FILE)
#endif
#ifdef SYS_mkdir
	CALL(mkdir, FILE)
#endif
#ifdef SYS_mkdirat
	CALL(mkdirat, FILE)
#endif
#ifdef SYS_rmdir
	CALL(rmdir, FILE)
#endif
#ifdef SYS_link
	CALL(link, FILE)
#endif
#ifdef SYS_linkat
	CALL(linkat, FILE)
#endif
#ifdef SYS_symlink
	CALL(symlink, FILE)
#endif
#ifdef SYS_symlinkat
	CALL(symlinkat, FILE)
#endif
#ifdef SYS_readlink
	CALL(readlink, FILE)
#endif
#ifdef SYS_readlinkat
	CALL(readlinkat, FILE)
#endif
#ifdef SYS_truncate
	CALL(truncate, FILE)
#endif
#ifdef SYS_sync
	CALL(sync, FILE)
#endif
#ifdef SYS_mount
	CALL(mount, FILE)
#endif
#ifdef SYS_umount2
	CALL(umount2, FILE)
#endif
#ifdef SYS_chdir
	CALL(chdir, FILE)
#endif
#ifdef SYS_execve
	CALL(execve, FILE)
#endif
#ifdef SYS_execveat
	CALL(execveat, FILE)
#endif
#ifdef SYS_wait4
	CALL(wait4, CHILD)
#endif
#ifdef SYS_waitid
	CALL(waitid, CHILD)
#endif
#ifdef SYS_vfork
	CALL(vfork, CHILD)
#endif
#ifdef SYS_clone
	CALL(clone, CHILD)
#endif
#ifdef SYS_clone3
	CALL(clone3, CHILD)
#endif
#ifdef SYS_fork
	CALL(fork, CHILD)
#endif
#ifdef SYS_pause
	CALL(pause, SIGNAL)
#endif
#ifdef SYS_rt_sigsuspend
	CALL(rt_sigsuspend, SIGNAL)
#endif
#ifdef SYS_rt_sigtimedwait
	CALL(rt_sigtimedwait, SIGNAL)
#endif
#ifdef SYS_signalfd
	CALL(signalfd, SIGNAL)
#endif
#ifdef SYS_ioctl
	OF_FILE(ioctl, OTHER)
#endif
#ifdef SYS_mq_timedsend
	OF_FILE(mq_timedsend, OTHER)
#endif
#ifdef SYS_mq_timedreceive
	OF_FILE(mq_timedreceive, OTHER)
#endif
#ifdef SYS_msgrcv
	CALL(msgrcv, OTHER)
#endif
#ifdef SYS_msgsnd
	CALL(msgsnd, OTHER)
#endif
#ifdef SYS_semop
	CALL(semop, OTHER)
#endif
#ifdef SYS_semtimedop
	CALL(semtimedop, OTHER)
#endif
#ifdef SYS_mmap
	CALL(mmap, OTHER)
#endif
#ifdef SYS_munmap
	CALL(munmap, OTHER)
#endif
#ifdef SYS_mprotect
	CALL(mprotect, OTHER)
#endif
#ifdef SYS_madvise
	CALL(madvise, OTHER)
#endif
#ifdef SYS_mremap
	CALL(mremap, OTHER)
#endif
#ifdef SYS_brk
	CALL(brk, OTHER)
#endif
#ifdef SYS_msync
	CALL(msync, OTHER)
#endif
#ifdef SYS_mlock
	CALL(mlock, OTHER)
#endif
#ifdef SYS_mlockall
	CALL(mlockall, OTHER)
#endif
#ifdef SYS_membarrier
	CALL(membarrier, OTHER)
#endif
#ifdef SYS_ptrace
	CALL(ptrace, OTHER)
#endif
#ifdef SYS_prctl
	CALL(prctl, OTHER)
#endif
#ifdef SYS_process_vm_readv
	CALL(process_vm_readv, OTHER)
#endif
#ifdef SYS_process_vm_writev
	CALL(process_vm_writev, OTHER)
#endif
#ifdef SYS_getrandom
	CALL(getrandom, OTHER)
#endif
#ifdef SYS_sched_setaffinity
	CALL(sched_setaffinity, OTHER)
#endif
#ifdef SYS_setpriority
	CALL(setpriority, OTHER)
#endif
#ifdef SYS_kill
	CALL(kill, OTHER)
#endif
#ifdef SYS_tgkill
	CALL(tgkill, OTHER)
#endif
#ifdef SYS_bpf
	CALL(bpf, OTHER)
#endif
#ifdef SYS_perf_event_open
	CALL(perf_event_open, OTHER)
#endif
#ifdef SYS_exit
	CALL(exit, KERNEL)
#endif
#ifdef SYS_exit_group
	CALL(exit_group, KERNEL)
#endif
};

const struct wall_syscall *wall_syscall_at(unsigned int i)
{
	return i < ARRAY_SIZE(calls) ? &calls[i] : NULL;
}

const struct wall_syscall *wall_syscall(int nr)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i].nr == nr)
			return &calls[i];
	return NULL;
}
