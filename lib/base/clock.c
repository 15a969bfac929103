// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/clock.h"

_Thread_local uint64_t clock_replayed_ns;
