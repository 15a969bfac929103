// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * area.c - memory that user space maps: charged to who asked for it, as long as it is there.
 */
#include <linux/atomic.h>
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include "module.h"

/*
 * Charge the pages against the user's RLIMIT_MEMLOCK, together with what perf, io_uring and others have
 * locked for the same user.
 */
static int area_charge(struct area *a, unsigned long pages)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	const struct cred *cred = current_cred();
	struct user_struct *user = cred->user;
	long now;

	if (capable(CAP_IPC_LOCK))
		return 0;
	now = atomic_long_read(&user->locked_vm);
	do {
		if (now + pages > limit)
			return -EPERM;
	} while (!atomic_long_try_cmpxchg(&user->locked_vm, &now, now + pages));
	a->cred = get_cred(cred);
	a->charged = pages;
	return 0;
}

static void uncharge(struct area *a)
{
	if (!a->cred)
		return;
	atomic_long_sub(a->charged, &a->cred->user->locked_vm);
	put_cred(a->cred);
	a->cred = NULL;
}

int area_alloc(struct area *a, size_t len)
{
	int r;

	if (len > AREA_MAX || !PAGE_ALIGNED(len))
		return -EINVAL;
	r = area_charge(a, len >> PAGE_SHIFT);
	if (r)
		return r;
	/* to the caller's memory cgroup; where that has no room, nobody is killed for it */
	a->mem = __vmalloc(len, GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
	if (!a->mem) {
		uncharge(a);
		return -ENOMEM;
	}
	a->len = len;
	return 0;
}

void area_free(struct area *a)
{
	vfree(a->mem);
	a->mem = NULL;
	uncharge(a);
}

/*
 * Map as remap_vmalloc_range() does. That takes only memory of vmalloc_user(), which is not charged to a
 * memory cgroup.
 */
int area_map(const struct area *a, struct vm_area_struct *vma, unsigned long first_page)
{
	unsigned long nr = vma_pages(vma), have = a->len >> PAGE_SHIFT, i;
	int r = 0;

	if (first_page >= have || nr > have - first_page)
		return -EINVAL;
#ifdef HAVE_VM_FLAGS_SET
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
#else
	vma->vm_flags |= VM_DONTEXPAND | VM_DONTDUMP;
#endif
	for (i = 0; i < nr && !r; i++)
		r = vm_insert_page(vma, vma->vm_start + (i << PAGE_SHIFT),
				   vmalloc_to_page(a->mem + ((first_page + i) << PAGE_SHIFT)));
	return r;
}
