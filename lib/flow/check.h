/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check.h - verifies what the model promises, on any finished tree. */
#ifndef FLOW_CHECK_H
#define FLOW_CHECK_H

#include "flow/flow.h"

struct flow_check {
	const char *what;
	uint64_t nr_checked, nr_bad;
	uint32_t first_bad;	/* node, or consumer of the stanza */
};

enum { FLOW_NR_CHECKS = 15 };

/* Fills c[FLOW_NR_CHECKS]; returns how many of them are violated somewhere. */
unsigned int flow_check(const struct flow *f, struct flow_check *c);

#endif
