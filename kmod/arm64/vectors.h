/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vectors.h - the timer and messages between CPUs are interrupts as others are: no vectors. */
#ifndef ARCPROF_VECTORS_H
#define ARCPROF_VECTORS_H

#define CPU_VECTORS(X)

static inline void cpu_check_vector_hook(void (*hook)(void *data, int vector))
{
}

#endif
