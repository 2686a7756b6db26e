// SPDX-License-Identifier: Apache-2.0
#include "lib/hash.h"

#include <stdlib.h>

static size_t find(const struct map64 *m, u64 key)
{
	size_t i = hash_u64(key) & (m->n_slots - 1);

	while (m->used[i] && m->key[i] != key)
		i = (i + 1) & (m->n_slots - 1);
	return i;
}

static bool grow(struct map64 *m)
{
	struct map64 g = { .n_slots = m->n_slots ? m->n_slots * 2 : 64 };
	size_t i, j;

	g.key = malloc(g.n_slots * sizeof(*g.key));
	g.value = malloc(g.n_slots * sizeof(*g.value));
	g.used = calloc(g.n_slots, 1);
	if (!g.key || !g.value || !g.used) {
		map64_free(&g);
		return false;
	}
	for (i = 0; i < m->n_slots; i++) {
		if (!m->used[i])
			continue;
		j = find(&g, m->key[i]);
		g.key[j] = m->key[i];
		g.value[j] = m->value[i];
		g.used[j] = 1;
	}
	free(m->key);
	free(m->value);
	free(m->used);
	m->key = g.key;
	m->value = g.value;
	m->used = g.used;
	m->n_slots = g.n_slots;
	return true;
}

u32 *map64_put(struct map64 *m, u64 key, bool *is_new)
{
	size_t i;

	if (m->n_slots) {
		i = find(m, key);
		if (m->used[i]) {
			*is_new = false;
			return &m->value[i];
		}
	}
	if ((m->n + 1) * 8 > m->n_slots * 5 && !grow(m))
		return NULL;
	i = find(m, key);
	m->key[i] = key;
	m->value[i] = 0;
	m->used[i] = 1;
	m->n++;
	*is_new = true;
	return &m->value[i];
}

u32 *map64_get(const struct map64 *m, u64 key)
{
	size_t i;

	if (!m->n_slots)
		return NULL;
	i = find(m, key);
	return m->used[i] ? &m->value[i] : NULL;
}

void map64_free(struct map64 *m)
{
	free(m->key);
	free(m->value);
	free(m->used);
	*m = (struct map64){};
}
