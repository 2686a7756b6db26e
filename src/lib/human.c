// SPDX-License-Identifier: Apache-2.0
#include "lib/human.h"

#include <stdio.h>

static char *scaled(char *out, size_t n, u64 v, double step, const char *const *units, int n_units)
{
	double x = (double)v;
	int i = 0;

	while (i + 1 < n_units && x >= step * 0.9995) {
		x /= step;
		i++;
	}
	snprintf(out, n, "%.*f %s", i == 0 ? 0 : x < 9.995 ? 2 : x < 99.95 ? 1 : 0, x, units[i]);
	return out;
}

char *human_bytes(char *out, size_t n, u64 bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB" };

	return scaled(out, n, bytes, 1024, units, ARRAY_SIZE(units));
}

char *human_ns(char *out, size_t n, u64 ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };

	return scaled(out, n, ns, 1000, units, ARRAY_SIZE(units));
}
