// SPDX-License-Identifier: Apache-2.0
#include "store/pattern.h"

#include "lib/hash.h"

static u64 word(u64 seed, u64 i)
{
	return hash_u64(seed + i * 0x9e3779b97f4a7c15ull);
}

void pattern_fill(void *p, u64 bytes, u64 seed)
{
	u64 *w = p, n = bytes / 8, i;

	seed = hash_u64(seed);
	for (i = 0; i < n; i++)
		w[i] = word(seed, i);
}

u64 pattern_check(const void *p, u64 bytes, u64 seed)
{
	const u64 *w = p;
	u64 n = bytes / 8, i;

	seed = hash_u64(seed);
	for (i = 0; i < n; i++)
		if (w[i] != word(seed, i))
			return i * 8;
	return bytes;
}
