// SPDX-License-Identifier: Apache-2.0
#include "lib/str.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/hash.h"
#include "lib/pages.h"

int str_u64(const char *s, u64 *out)
{
	char *end;

	if (!isdigit((unsigned char)*s))
		return -EINVAL;
	errno = 0;
	*out = strtoull(s, &end, str_starts(s, "0x") ? 16 : 10);
	if (errno)
		return -ERANGE;
	return *end ? -EINVAL : 0;
}

struct unit {
	const char *name;
	u64 factor;
};

/* A decimal number, whole or with a fraction, times one of the units. */
static int scaled(const char *s, const struct unit *units, u64 *out)
{
	const struct unit *u;
	u64 whole;
	char *end;

	if (!isdigit((unsigned char)*s))
		return -EINVAL;
	errno = 0;
	whole = strtoull(s, &end, 10);
	if (errno)
		return -ERANGE;
	if (*end == '.') {
		double v = strtod(s, &end);

		for (u = units; u->name; u++)
			if (!strcasecmp(end, u->name)) {
				v *= (double)u->factor;
				if (!(v < 1.8e19))
					return -ERANGE;
				*out = (u64)llround(v);
				return 0;
			}
		return -EINVAL;
	}
	for (u = units; u->name; u++)
		if (!strcasecmp(end, u->name))
			return __builtin_mul_overflow(whole, u->factor, out) ? -ERANGE : 0;
	return -EINVAL;
}

int str_size(const char *s, u64 *out)
{
	static const struct unit units[] = {
		{ "", 1 },
		{ "b", 1 },
		{ "k", 1ull << 10 },
		{ "ki", 1ull << 10 },
		{ "kib", 1ull << 10 },
		{ "m", 1ull << 20 },
		{ "mi", 1ull << 20 },
		{ "mib", 1ull << 20 },
		{ "g", 1ull << 30 },
		{ "gi", 1ull << 30 },
		{ "gib", 1ull << 30 },
		{ "t", 1ull << 40 },
		{ "ti", 1ull << 40 },
		{ "tib", 1ull << 40 },
		{ "kb", 1000 },
		{ "mb", 1000000 },
		{ "gb", 1000000000 },
		{ "tb", 1000000000000 },
		{},
	};

	return scaled(s, units, out);
}

int str_ns(const char *s, u64 *out)
{
	static const struct unit units[] = {
		{ "", NSEC_PER_SEC },
		{ "ns", 1 },
		{ "us", 1000 },
		{ "ms", 1000000 },
		{ "s", NSEC_PER_SEC },
		{ "m", 60 * NSEC_PER_SEC },
		{ "h", 3600 * NSEC_PER_SEC },
		{},
	};

	return scaled(s, units, out);
}

bool str_starts(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

bool str_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && !strcmp(s + n - m, suffix);
}

size_t utf8_len(const char *str, size_t n)
{
	const u8 *s = (const u8 *)str;
	size_t len, i;
	u32 c;

	if (!n)
		return 0;
	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] < 0xe0) {
		len = 2;
		c = s[0] & 0x1f;
	} else if (s[0] >= 0xe0 && s[0] < 0xf0) {
		len = 3;
		c = s[0] & 0x0f;
	} else if (s[0] >= 0xf0 && s[0] < 0xf5) {
		len = 4;
		c = s[0] & 0x07;
	} else {
		return 0;
	}
	if (n < len)
		return 0;
	for (i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if ((len == 3 && c < 0x800) || (len == 4 && (c < 0x10000 || c > 0x10ffff)) || (c >= 0xd800 && c < 0xe000))
		return 0;
	return len;
}

/* Edit distance with transpositions (optimal string alignment), words up to 63 bytes. */
static size_t distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), i, j;
	size_t row[3][64];

	if (n > 63 || m > 63)
		return SIZE_MAX;
	for (j = 0; j <= m; j++)
		row[0][j] = j;
	for (i = 1; i <= n; i++) {
		size_t *cur = row[i % 3], *up = row[(i + 2) % 3], *upup = row[(i + 1) % 3];

		cur[0] = i;
		for (j = 1; j <= m; j++) {
			cur[j] = MIN(MIN(up[j], cur[j - 1]) + 1, up[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				cur[j] = MIN(cur[j], upup[j - 2] + 1);
		}
	}
	return row[n % 3][m];
}

const char *str_nearest(const char *s, const char *const *words, size_t n)
{
	const char *best = NULL;
	size_t best_d = SIZE_MAX, i;

	for (i = 0; i < n; i++) {
		size_t d = distance(s, words[i]);

		if (d < best_d) {
			best_d = d;
			best = words[i];
		}
	}
	return best && best_d <= 1 + strlen(s) / 4 ? best : NULL;
}

static u32 *pool_slot(const struct strpool *p, const char *s, size_t n, u32 hash)
{
	u32 i = hash & (p->n_slots - 1);

	while (p->slot[i]) {
		const struct strpool_entry *e = &p->entry[p->slot[i] - 1];

		if (e->hash == hash && e->len == n && !memcmp(p->bytes + e->at, s, n))
			break;
		i = (i + 1) & (p->n_slots - 1);
	}
	return &p->slot[i];
}

static bool pool_rehash(struct strpool *p)
{
	u32 n_slots = p->n_slots ? p->n_slots * 2 : 64;
	u32 *slot = calloc(n_slots, sizeof(*slot));
	u32 i, at;

	if (!slot)
		return false;
	for (i = 0; i < p->n; i++) {
		at = p->entry[i].hash & (n_slots - 1);
		while (slot[at])
			at = (at + 1) & (n_slots - 1);
		slot[at] = i + 1;
	}
	free(p->slot);
	p->slot = slot;
	p->n_slots = n_slots;
	return true;
}

static bool pool_room(struct strpool *p, size_t n)
{
	if (p->n == p->cap) {
		u32 cap = p->cap ? p->cap * 2 : 32;
		void *entry = array_grow(p->entry, p->cap * sizeof(*p->entry), cap * sizeof(*p->entry));

		if (!entry)
			return false;
		p->entry = entry;
		p->cap = cap;
	}
	if (p->cap_bytes - p->n_bytes < n + 1) {
		size_t cap = MAX(p->cap_bytes * 2, p->n_bytes + n + 1024);
		char *bytes = array_grow(p->bytes, p->cap_bytes, cap);

		if (!bytes)
			return false;
		p->bytes = bytes;
		p->cap_bytes = cap;
	}
	return true;
}

u32 strpool_find(const struct strpool *p, const char *s, size_t n)
{
	return p->n_slots ? *pool_slot(p, s, n, (u32)hash_bytes(s, n)) : 0;
}

u32 strpool_add(struct strpool *p, const char *s, size_t n)
{
	u32 hash = (u32)hash_bytes(s, n);
	u32 *slot;

	if (n > UINT32_MAX || ((p->n + 1) * 2ull > p->n_slots && !pool_rehash(p)))
		return 0;
	slot = pool_slot(p, s, n, hash);
	if (*slot)
		return *slot;
	if (!pool_room(p, n))
		return 0;
	p->entry[p->n] = (struct strpool_entry){ .at = p->n_bytes, .len = (u32)n, .hash = hash };
	if (n)
		memcpy(p->bytes + p->n_bytes, s, n);
	p->bytes[p->n_bytes + n] = '\0';
	p->n_bytes += n + 1;
	*slot = ++p->n;
	return p->n;
}

const char *strpool_get(const struct strpool *p, u32 id)
{
	return id ? p->bytes + p->entry[id - 1].at : "";
}

size_t strpool_len(const struct strpool *p, u32 id)
{
	return id ? p->entry[id - 1].len : 0;
}

void strpool_free(struct strpool *p)
{
	array_free(p->bytes, p->cap_bytes);
	array_free(p->entry, p->cap * sizeof(*p->entry));
	free(p->slot);
	*p = (struct strpool){};
}

bool str_path_matches(const char *pattern, const char *path)
{
	size_t n = strlen(pattern);

	if (strpbrk(pattern, "*?["))
		return !fnmatch(pattern, path, 0);
	if (strncmp(pattern, path, n))
		return false;
	/* What was deleted meanwhile keeps its path, with a word behind. */
	return !path[n] || path[n] == '/' || (n && pattern[n - 1] == '/') || !strcmp(path + n, " (deleted)");
}
