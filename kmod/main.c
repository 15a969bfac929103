// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * main.c - /dev/arcprof: who may ask for what, and the way of each request to its file.
 *
 * The device is root's alone (0600) until the administrator gives it to a group.  What reaches
 * beyond the caller's own process asks for CAP_PERFMON at each request, not when the device is
 * opened: a descriptor may be handed on.
 */
#include <linux/capability.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "module.h"

DEFINE_MUTEX(arcprof_mutex);

struct task_struct *find_task(s32 tid)
{
	struct task_struct *task = NULL;
	struct pid *pid;

	if (tid == 0) {
		get_task_struct(current);
		return current;
	}
	pid = tid > 0 ? find_get_pid(tid) : NULL;
	if (pid)
		task = get_pid_task(pid, PIDTYPE_PID);
	put_pid(pid);
	return task;
}

union request {
	u32 size;
	struct arcprof_version version;
	struct arcprof_ptt_start ptt_start;
	struct arcprof_ptt_register ptt_register;
	struct arcprof_itrace_start itrace_start;
	struct arcprof_itrace_stat itrace_stat;
	struct arcprof_itrace_join itrace_join;
	struct arcprof_itrace_consume itrace_consume;
};

static long version(struct arcprof_version *v)
{
	if (v->reserved)
		return -EINVAL;
	v->abi = ARCPROF_ABI;
	v->features = ARCPROF_FEATURE_PTT | ITRACE_FEATURES;
	return 0;
}

static long arcprof_serve(struct arcprof_file *f, unsigned int cmd, union request *r)
{
	switch (cmd) {
	case ARCPROF_IOC_VERSION:
		return version(&r->version);
	case ARCPROF_IOC_PTT_START:
		return ptt_start(f, &r->ptt_start);
	case ARCPROF_IOC_PTT_REGISTER:
		return ptt_register(&r->ptt_register);
	case ARCPROF_IOC_PTT_UNREGISTER:
		return ptt_unregister(&r->ptt_register);
	case ARCPROF_IOC_PTT_STOP:
		return ptt_stop(f);
	case ARCPROF_IOC_ITRACE_START:
		return itrace_start(f, &r->itrace_start);
	case ARCPROF_IOC_ITRACE_STOP:
		return itrace_stop(f);
	case ARCPROF_IOC_ITRACE_STAT:
		return itrace_stat(f, &r->itrace_stat);
	case ARCPROF_IOC_ITRACE_JOIN:
		return itrace_join(f, &r->itrace_join);
	case ARCPROF_IOC_ITRACE_LEAVE:
		return itrace_leave(f);
	case ARCPROF_IOC_ITRACE_CONSUME:
		return itrace_consume(f, &r->itrace_consume);
	default:
		return -ENOTTY;
	}
}

/*
 * Access user memory without the lock: a page fault takes the lock of the address space, under which mmap()
 * takes ours.
 */
static long arcprof_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *user = (void __user *)arg;
	u32 size = _IOC_SIZE(cmd);
	union request r;
	long result;

	if (_IOC_TYPE(cmd) != ARCPROF_IOC || size > sizeof(r))
		return -ENOTTY;
	if (size && copy_from_user(&r, user, size))
		return -EFAULT;
	if (size && (size < sizeof(r.size) || r.size != size))
		return -EINVAL;
	result = mutex_lock_interruptible(&arcprof_mutex);
	if (result)
		return result;
	result = arcprof_serve(file->private_data, cmd, &r);
	mutex_unlock(&arcprof_mutex);
	if (!result && (_IOC_DIR(cmd) & _IOC_READ) && copy_to_user(user, &r, size))
		return -EFAULT;
	return result;
}

static int arcprof_mmap(struct file *file, struct vm_area_struct *vma)
{
	unsigned long itrace_page = ARCPROF_MMAP_ITRACE >> PAGE_SHIFT;
	int r;

	if (vma->vm_flags & VM_WRITE)
		return -EPERM;
#ifdef HAVE_VM_FLAGS_SET
	vm_flags_clear(vma, VM_MAYWRITE);
#else
	vma->vm_flags &= ~VM_MAYWRITE;
#endif
	mutex_lock(&arcprof_mutex);
	if (vma->vm_pgoff < itrace_page)
		r = ptt_mmap(vma);
	else
		r = itrace_mmap(file->private_data, vma);
	mutex_unlock(&arcprof_mutex);
	return r;
}

static int arcprof_open(struct inode *inode, struct file *file)
{
	file->private_data = kzalloc(sizeof(struct arcprof_file), GFP_KERNEL_ACCOUNT);
	return file->private_data ? nonseekable_open(inode, file) : -ENOMEM;
}

static int arcprof_release(struct inode *inode, struct file *file)
{
	struct arcprof_file *f = file->private_data;

	mutex_lock(&arcprof_mutex);
	ptt_release(f);
	itrace_release(f);
	mutex_unlock(&arcprof_mutex);
	kfree(f);
	return 0;
}

/* Handle a process that closes a descriptor of the file, or ends. */
static int arcprof_flush(struct file *file, fl_owner_t who)
{
	mutex_lock(&arcprof_mutex);
	itrace_flush(file->private_data, who);
	mutex_unlock(&arcprof_mutex);
	return 0;
}

static __poll_t arcprof_poll(struct file *file, struct poll_table_struct *wait)
{
	return itrace_poll(file->private_data, file, wait);
}

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.open = arcprof_open,
	.release = arcprof_release,
	.unlocked_ioctl = arcprof_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = arcprof_mmap,
	.flush = arcprof_flush,
	.poll = arcprof_poll,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "arcprof",
	.fops = &fops,
	.mode = 0600,
};

static int __init arcprof_module_init(void)
{
	int r;

	BUILD_BUG_ON(sizeof(struct arcprof_ptt_header) != 256);
	BUILD_BUG_ON(sizeof(struct arcprof_slot) != 256);
	BUILD_BUG_ON(sizeof(struct arcprof_cpu) != 256);
	/* Soft interrupts that are threads break the rule by which time is charged. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		return -EOPNOTSUPP;
	r = itrace_init();
	if (r)
		return r;
	r = misc_register(&device);
	if (r)
		itrace_exit();
	return r;
}

static void __exit arcprof_module_exit(void)
{
	misc_deregister(&device);
	mutex_lock(&arcprof_mutex);
	ptt_exit();
	mutex_unlock(&arcprof_mutex);
	itrace_exit();
}

module_init(arcprof_module_init);
module_exit(arcprof_module_exit);
MODULE_DESCRIPTION("Per-thread metrics and instruction traces for arcprof");
MODULE_LICENSE("GPL");
