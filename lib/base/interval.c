// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>

#include "base/interval.h"

#define Z 1.959963984540054	/* of the normal distribution, 2.5 % are beyond it on each side */

struct interval interval_of_share(uint64_t x, uint64_t n)
{
	double p, middle, half, scale;
	struct interval i = { 0, 1 };

	if (!n)
		return i;
	p = (double)x / n;
	scale = 1 / (1 + Z * Z / n);
	middle = (p + Z * Z / (2.0 * n)) * scale;
	half = Z * sqrt(p * (1 - p) / n + Z * Z / (4.0 * n * n)) * scale;
	if (x)
		i.low = fmax(0, middle - half);
	if (x < n)
		i.high = fmin(1, middle + half);
	return i;
}

struct interval interval_of_ratio(uint64_t x, uint64_t y)
{
	struct interval p = interval_of_share(x, x + y);

	return (struct interval){ p.low / (1 - p.low), p.high < 1 ? p.high / (1 - p.high) : INFINITY };
}

struct interval interval_of_count(uint64_t x)
{
	double half = Z * sqrt(x + Z * Z / 4), middle = x + Z * Z / 2;

	if (!x)
		return (struct interval){ 0, Z * Z };
	return (struct interval){ (middle - half) / x, (middle + half) / x };
}
