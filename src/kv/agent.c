// SPDX-License-Identifier: Apache-2.0
#include "kv/agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void kv_cache_free(struct kv_cache *c)
{
	free(c->chunk);
	free(c->op);
	free(c->warm);
	*c = (struct kv_cache){};
}

static int know(struct kv_cache *c, u32 key)
{
	size_t cap = c->cap ? c->cap : 256;
	void *p;

	if (key < c->cap)
		return 0;
	while (cap <= key)
		cap *= 2;
	p = cap <= UINT32_MAX ? reallocarray(c->chunk, cap, sizeof(*c->chunk)) : NULL;
	if (!p)
		return -ENOMEM;
	c->chunk = p;
	memset(c->chunk + c->cap, 0, (cap - c->cap) * sizeof(*c->chunk));
	c->cap = (u32)cap;
	return 0;
}

static int add_op(struct kv_cache *c, enum kv_agent_do op, u32 key, u32 index)
{
	if (c->n_ops == c->cap_ops) {
		u64 cap = c->cap_ops ? c->cap_ops * 2 : 1024;
		void *p = reallocarray(c->op, cap, sizeof(*c->op));

		if (!p)
			return -ENOMEM;
		c->op = p;
		c->cap_ops = cap;
	}
	c->op[c->n_ops++] = (struct kv_agent_op){ key, index, (u8)op };
	return 0;
}

/* ---- the order of use; 0 is no chunk ---- */

static void unlink_chunk(struct kv_cache *c, u32 key)
{
	struct kv_cache_chunk *k = &c->chunk[key];

	if (k->older)
		c->chunk[k->older].newer = k->newer;
	else
		c->oldest = k->newer;
	if (k->newer)
		c->chunk[k->newer].older = k->older;
	else
		c->newest = k->older;
}

static void link_newest(struct kv_cache *c, u32 key)
{
	c->chunk[key].older = c->newest;
	c->chunk[key].newer = 0;
	if (c->newest)
		c->chunk[c->newest].newer = key;
	else
		c->oldest = key;
	c->newest = key;
}

static void touch(struct kv_cache *c, u32 key)
{
	unlink_chunk(c, key);
	link_newest(c, key);
}

static int insert(struct kv_cache *c, u32 key)
{
	int ret = 0;

	if (c->capacity && c->resident >= c->capacity) {
		u32 victim = c->oldest;

		unlink_chunk(c, victim);
		c->chunk[victim].resident = false;
		c->resident--;
		c->deletes++;
		ret = add_op(c, KV_AGENT_DELETE, victim, 0);
	}
	link_newest(c, key);
	c->chunk[key].resident = c->chunk[key].known = true;
	c->resident++;
	return ret;
}

static int load(struct kv_cache *c, u32 key, u32 index)
{
	touch(c, key);
	c->loads++;
	return add_op(c, KV_AGENT_LOAD, key, index);
}

static int store(struct kv_cache *c, u32 key, u32 index)
{
	int ret = insert(c, key);

	c->stores++;
	return ret ? ret : add_op(c, KV_AGENT_STORE, key, index);
}

static int warm(struct kv_cache *c, u32 key)
{
	if (c->n_warm == c->cap_warm) {
		u32 cap = c->cap_warm ? c->cap_warm * 2 : 64;
		void *p = reallocarray(c->warm, cap, sizeof(*c->warm));

		if (!p)
			return -ENOMEM;
		c->warm = p;
		c->cap_warm = cap;
	}
	c->warm[c->n_warm++] = key;
	return insert(c, key);
}

/* True the first time that this request has the chunk. */
static bool first_in_request(struct kv_cache *c, u32 key)
{
	bool first = c->chunk[key].request != c->request;

	c->chunk[key].request = c->request;
	return first;
}

static int begin(struct kv_cache *c, const u32 *chunk, u32 n)
{
	u32 i;
	int ret = 0;

	c->request++;
	for (i = 0; i < n && !ret; i++)
		ret = know(c, chunk[i]);
	return ret;
}

static void end(struct kv_cache *c)
{
	c->max_resident = MAX(c->max_resident, c->resident);
}

int kv_cache_request(struct kv_cache *c, const u32 *chunk, u32 n)
{
	bool *found = calloc(n + 1ul, sizeof(*found));
	bool missed = false;
	u32 i;
	int ret = found ? begin(c, chunk, n) : -ENOMEM;

	/* What is there is judged before anything is stored. */
	for (i = 0; i < n && !ret; i++) {
		bool resident = c->chunk[chunk[i]].resident;

		missed |= !resident;
		found[i] = resident && (c->lookup == KV_LOOKUP_ALL || !missed);
		c->shadowed += resident && !found[i];
	}
	for (i = 0; i < n && !ret; i++)
		if (found[i] && first_in_request(c, chunk[i]))
			ret = load(c, chunk[i], i);
	/* What is there need not be stored again, nor go for what is. */
	for (i = 0; i < n && !ret; i++)
		if (!found[i] && c->chunk[chunk[i]].resident && first_in_request(c, chunk[i]))
			touch(c, chunk[i]);
	for (i = 0; i < n && !ret; i++)
		if (!found[i] && first_in_request(c, chunk[i]))
			ret = store(c, chunk[i], i);
	end(c);
	free(found);
	return ret;
}

int kv_cache_request_found(struct kv_cache *c, const u32 *chunk, u32 n, u32 found)
{
	u32 i;
	int ret = begin(c, chunk, n);

	for (i = 0; i < MIN(found, n) && !ret; i++) {
		struct kv_cache_chunk *k = &c->chunk[chunk[i]];

		if (!first_in_request(c, chunk[i]))
			continue;
		if (!k->known)
			ret = warm(c, chunk[i]);
		if (ret)
			break;
		ret = c->chunk[chunk[i]].resident ? load(c, chunk[i], i) : store(c, chunk[i], i);
	}
	for (; i < n && !ret; i++)
		if (first_in_request(c, chunk[i])) {
			if (c->chunk[chunk[i]].resident)
				touch(c, chunk[i]);
			else
				ret = store(c, chunk[i], i);
		}
	end(c);
	return ret;
}

void kv_chunk_digest(u8 out[SHA256_BYTES], const u8 *before, const u64 *token, u64 n)
{
	struct sha256 s;
	u64 i;

	sha256_init(&s);
	if (before)
		sha256_add(&s, before, SHA256_BYTES);
	for (i = 0; i < n; i++) {
		u8 big[8];
		u32 k;

		for (k = 0; k < 8; k++)
			big[k] = (u8)(token[i] >> (56 - 8 * k));
		sha256_add(&s, big, sizeof(big));
	}
	sha256_end(&s, out);
}
