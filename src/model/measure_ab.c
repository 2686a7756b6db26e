// SPDX-License-Identifier: Apache-2.0
/* Two captures side by side: is it the same work, and which object took how much longer? */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "model/measure.h"

/* Bytes that differ by more than this are not the same work. */
#define SAME_BYTES_PERCENT 1

/* Signed numbers sort as unsigned ones with the sign bit turned. */
#define SIGN (1ull << 63)

/* What an object is across captures: operation, whole key, and the n-th time both appear. */
static u64 object_id(const struct model *m, u32 op, u32 nth)
{
	u64 h = hash_bytes(strpool_get(&m->strings, m->op.name[op]), strpool_len(&m->strings, m->op.name[op]));

	h ^= hash_u64(hash_bytes(strpool_get(&m->strings, m->op.key[op]), strpool_len(&m->strings, m->op.key[op])));
	return hash_u64(h) + nth;
}

static bool is_object(const struct model *m, u32 op)
{
	const char *name = strpool_get(&m->strings, m->op.name[op]);

	return !m->op.error[op] && m->op.key[op] && (!strcmp(name, "store") || !strcmp(name, "load"));
}

/* Calls back for each object with its id, in the order of the file. */
static int each_object(const struct model *m, int (*fn)(void *arg, u32 op, u64 id), void *arg)
{
	struct map64 times = {};
	int ret = 0;
	u32 i;

	for (i = 0; i < m->op.n && !ret; i++) {
		bool is_new = false;
		u32 *nth;

		if (!is_object(m, i))
			continue;
		nth = map64_put(&times, object_id(m, i, 0), &is_new);
		ret = nth ? fn(arg, i, object_id(m, i, (*nth)++)) : -ENOMEM;
	}
	map64_free(&times);
	return ret;
}

struct compare {
	struct measure_ab *out;
	const struct model *a, *b;
	struct map64 in_a; /* id -> operation of a */
	u64 *delta[2];	   /* load, store */
	size_t n[2];
};

static int add_a(void *arg, u32 op, u64 id)
{
	struct compare *c = arg;
	bool is_new = false;
	u32 *at = map64_put(&c->in_a, id, &is_new);

	if (!at)
		return -ENOMEM;
	*at = op;
	c->out->only[0]++;
	return 0;
}

static u64 span_ns(const struct model *m, u32 op)
{
	struct op_span s;

	op_span(m, op, &s);
	return s.instant ? 0 : s.end_ns - s.begin_ns;
}

static int pair_b(void *arg, u32 op, u64 id)
{
	struct compare *c = arg;
	u32 *at = map64_get(&c->in_a, id);
	int k;

	if (!at) {
		c->out->only[1]++;
		return 0;
	}
	k = !strcmp(strpool_get(&c->b->strings, c->b->op.name[op]), "store");
	c->delta[k][c->n[k]++] = (span_ns(c->b, op) - span_ns(c->a, *at)) ^ SIGN;
	c->out->paired++;
	c->out->only[0]--;
	return 0;
}

static int take_pair(struct measure_ab *out, const char *name, u64 *delta, size_t n)
{
	struct measure_pair *p = &out->pair[out->n_pairs];
	size_t i;
	int ret;

	if (!n)
		return 0;
	*p = (struct measure_pair){ .name = name, .n = n };
	for (i = 0; i < n; i++) {
		p->faster += delta[i] < SIGN;
		p->slower += delta[i] > SIGN;
	}
	ret = u64_sort(delta, n);
	p->delta_p50_ns = (s64)(u64_percentile(delta, n, 50) ^ SIGN);
	out->n_pairs++;
	return ret;
}

static bool near(u64 a, u64 b)
{
	return MAX(a, b) - MIN(a, b) <= MAX(a, b) / 100 * SAME_BYTES_PERCENT;
}

int measure_compare(struct measure_ab *out, const struct model *a, const struct measure *ma, const struct model *b,
		    const struct measure *mb)
{
	const struct measure *x[2] = { ma, mb };
	struct compare c = { .out = out, .a = a, .b = b };
	int i, ret = -ENOMEM;
	u32 k;

	*out = (struct measure_ab){};
	out->pair = calloc(2, sizeof(*out->pair));
	c.delta[0] = malloc((b->op.n + 1ul) * sizeof(u64));
	c.delta[1] = malloc((b->op.n + 1ul) * sizeof(u64));
	if (!out->pair || !c.delta[0] || !c.delta[1])
		goto out;
	for (i = 0; i < 2; i++) {
		out->objects[i] = x[i]->objects_ok;
		for (k = 0; k < x[i]->n_obj; k++)
			out->object_bytes[i] += x[i]->obj[k].bytes;
		out->device_bytes[i] = x[i]->pool_bytes;
		out->device_cmds[i] = x[i]->pool_n;
	}
	ret = each_object(a, add_a, &c);
	if (!ret)
		ret = each_object(b, pair_b, &c);
	if (!ret)
		ret = take_pair(out, "load", c.delta[0], c.n[0]);
	if (!ret)
		ret = take_pair(out, "store", c.delta[1], c.n[1]);
	out->comparable = !out->only[0] && !out->only[1] && out->objects[0] == out->objects[1] &&
			  near(out->object_bytes[0], out->object_bytes[1]) &&
			  near(out->device_bytes[0], out->device_bytes[1]);
out:
	free(c.delta[0]);
	free(c.delta[1]);
	map64_free(&c.in_a);
	return ret;
}

void measure_ab_free(struct measure_ab *x)
{
	free(x->pair);
	*x = (struct measure_ab){};
}
