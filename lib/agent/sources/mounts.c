// SPDX-License-Identifier: MIT
/* mounts.c - finds and enables HotSpot's events of mounts and unmounts (mounts.h). */
#include "agent/sources/mounts.h"
#include "agent/sys.h"

bool mounts_find(jvmtiEnv *ti, jvmtiCapabilities *want, struct mounts *m)
{
	uint8_t have[sizeof(jvmtiCapabilities)] = { 0 };
	jvmtiExtensionEventInfo *e;
	jint i, nr;

	m->mount = m->unmount = -1;
	if ((*ti)->GetPotentialCapabilities(ti, (jvmtiCapabilities *)have) != JVMTI_ERROR_NONE ||
	    !(have[CAN_SUPPORT_VIRTUAL_THREADS / 8] & 1 << CAN_SUPPORT_VIRTUAL_THREADS % 8) ||
	    (*ti)->GetExtensionEvents(ti, &nr, &e) != JVMTI_ERROR_NONE)
		return false;
	((uint8_t *)want)[CAN_SUPPORT_VIRTUAL_THREADS / 8] |= 1 << CAN_SUPPORT_VIRTUAL_THREADS % 8;
	for (i = 0; i < nr; i++) {
		if (str_eq(e[i].id, "com.sun.hotspot.events.VirtualThreadMount"))
			m->mount = e[i].extension_event_index;
		if (str_eq(e[i].id, "com.sun.hotspot.events.VirtualThreadUnmount"))
			m->unmount = e[i].extension_event_index;
	}
	return m->mount >= 0 && m->unmount >= 0;
}

bool mounts_enable(jvmtiEnv *ti, const struct mounts *m, jvmtiExtensionEvent on_mount,
		   jvmtiExtensionEvent on_unmount)
{
	if (m->mount < 0 || m->unmount < 0 ||
	    (*ti)->SetExtensionEventCallback(ti, m->mount, on_mount) != JVMTI_ERROR_NONE ||
	    (*ti)->SetExtensionEventCallback(ti, m->unmount, on_unmount) != JVMTI_ERROR_NONE)
		return false;
	(*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, (jvmtiEvent)m->mount, NULL);
	(*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, (jvmtiEvent)m->unmount, NULL);
	return true;
}

void mounts_disable(jvmtiEnv *ti, const struct mounts *m)
{
	if (m->mount < 0 || m->unmount < 0)
		return;
	(*ti)->SetEventNotificationMode(ti, JVMTI_DISABLE, (jvmtiEvent)m->mount, NULL);
	(*ti)->SetEventNotificationMode(ti, JVMTI_DISABLE, (jvmtiEvent)m->unmount, NULL);
}
