// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ring/device.h"

static int device_check(int fd, unsigned int features, struct err *e)
{
	struct arcprof_version v = { .size = sizeof(v) };

	if (ioctl(fd, ARCPROF_IOC_VERSION, &v) || v.abi != ARCPROF_ABI)
		return err_set(e, EPROTO, "%s: the module is of another version (ABI %u, this arcprof's is %u)",
			       ARCPROF_DEVICE, v.abi, ARCPROF_ABI);
	if ((v.features & features) == features)
		return 0;
	err_set(e, ENOTSUP, "%s: the module that is loaded cannot do that", ARCPROF_DEVICE);
	err_hint(e, "instruction traces take x86-64 and a module as new as this arcprof");
	return -ENOTSUP;
}

int device_open(unsigned int features, struct err *e)
{
	int fd = open(ARCPROF_DEVICE, O_RDWR | O_CLOEXEC), r;

	if (fd < 0) {
		r = err_errno(e, "%s", ARCPROF_DEVICE);
		if (r == -ENOENT)
			err_hint(e, "load the module arcprof: 'make -C kmod && sudo insmod kmod/arcprof.ko', or for good "
				    "'sudo make kmod-install' and 'sudo modprobe arcprof'");
		else if (r == -EACCES || r == -EPERM)
			err_hint(e, "root, or 'sudo chgrp <group> %s; sudo chmod g+rw %s'", ARCPROF_DEVICE,
				 ARCPROF_DEVICE);
		return r;
	}
	r = device_check(fd, features, e);
	if (!r)
		return fd;
	close(fd);
	return r;
}
