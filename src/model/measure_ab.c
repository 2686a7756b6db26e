// SPDX-License-Identifier: Apache-2.0
/* Two captures side by side: is it the same work, and which object took how much longer? */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "model/measure.h"

static u64 hash_text(u64 seed, const char *s, size_t n)
{
	return hash_u64(seed ^ hash_bytes(s, n));
}

/* As much of a chunk's name as timelines keep, from its front and from its end. */
#define CHUNK_FIRST 12u
#define CHUNK_LAST  24u

/*
 * What an object is across captures: operation, shard, rank, chunk, and the
 * n-th time they appear.  The model's name is left out: it may be a path.  A
 * key of another form counts as a whole.
 */
static u64 object_id(const struct model *m, u32 op)
{
	const char *key = strpool_get(&m->strings, m->op.key[op]);
	size_t n = strpool_len(&m->strings, m->op.key[op]);
	struct key_parts k;
	u64 h = hash_text(0, strpool_get(&m->strings, m->op.name[op]), strpool_len(&m->strings, m->op.name[op]));

	key_parse(&k, key, n);
	if (!k.fmt)
		return hash_text(h, key, n);
	h = hash_text(h, k.fmt, k.fmt_len);
	h = hash_text(h, k.rank, k.rank_len);
	n -= (size_t)(k.hash - key);
	h = hash_text(h, k.hash, MIN(n, CHUNK_FIRST));
	return hash_text(h, k.hash + n - MIN(n, CHUNK_LAST), MIN(n, CHUNK_LAST));
}

static bool is_object(const struct model *m, u32 op)
{
	const char *name = strpool_get(&m->strings, m->op.name[op]);

	return !m->op.error[op] && m->op.key[op] && (!strcmp(name, "store") || !strcmp(name, "load"));
}

/* Calls back for each object with its id, in the order of the table. */
static int each_object(const struct model *m, int (*fn)(void *arg, u32 op, u64 id), void *arg)
{
	struct map64 times = {};
	int ret = 0;
	u32 i;

	for (i = 0; i < m->op.n && !ret; i++) {
		bool is_new = false;
		u32 *nth;
		u64 id;

		if (!is_object(m, i))
			continue;
		id = object_id(m, i);
		nth = map64_put(&times, id, &is_new);
		ret = nth ? fn(arg, i, id + (*nth)++) : -ENOMEM;
	}
	map64_free(&times);
	return ret;
}

/* One object in both captures. */
struct pair {
	double delta, ratio;
};

struct compare {
	struct measure_ab *out;
	const struct model *a, *b;
	struct map64 in_a; /* id -> operation of a */
	struct pair *pair[N_DIRS];
	size_t n[N_DIRS];
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

static double span_ns(const struct model *m, u32 op)
{
	struct op_span s;

	op_span(m, op, &s);
	return s.instant ? 0 : (double)(s.end_ns - s.begin_ns);
}

static int pair_b(void *arg, u32 op, u64 id)
{
	struct compare *c = arg;
	u32 *at = map64_get(&c->in_a, id);
	double x, y;
	int k;

	if (!at) {
		c->out->only[1]++;
		return 0;
	}
	c->out->paired++;
	c->out->only[0]--;
	k = strcmp(strpool_get(&c->b->strings, c->b->op.name[op]), "store") ? DIR_READ : DIR_WRITE;
	x = span_ns(c->a, *at);
	y = span_ns(c->b, op);
	/* An object that took no time in one of them has no ratio. */
	if (x > 0 && y > 0)
		c->pair[k][c->n[k]++] = (struct pair){ y - x, y / x };
	return 0;
}

static int by_delta(const void *a, const void *b)
{
	double x = ((const struct pair *)a)->delta, y = ((const struct pair *)b)->delta;

	return x < y ? -1 : x > y;
}

static int by_ratio(const void *a, const void *b)
{
	double x = ((const struct pair *)a)->ratio, y = ((const struct pair *)b)->ratio;

	return x < y ? -1 : x > y;
}

static void take_pair(struct measure_ab *out, const char *name, struct pair *v, size_t n)
{
	struct measure_pair *p = &out->pair[out->n_pairs];
	size_t i, low = 0, high = 0, mid = n ? (n - 1) / 2 : 0;

	if (!n)
		return;
	*p = (struct measure_pair){ .name = name, .n = n };
	for (i = 0; i < n; i++) {
		p->faster += v[i].delta < 0;
		p->slower += v[i].delta > 0;
	}
	p->interval_n = median_interval(n, &low, &high) ? n : 0;
	qsort(v, n, sizeof(*v), by_delta);
	p->delta_ns = (struct ab_median){ v[mid].delta, v[low].delta, v[high].delta };
	qsort(v, n, sizeof(*v), by_ratio);
	p->ratio = (struct ab_median){ v[mid].ratio, v[low].ratio, v[high].ratio };
	out->n_pairs++;
}

static const struct measure_objects *find_objects(const struct model *m, const struct measure *x, const char *name)
{
	u32 i;

	for (i = 0; i < x->n_obj; i++)
		if (!strcmp(strpool_get(&m->strings, x->obj[i].name), name))
			return &x->obj[i];
	return NULL;
}

static void count_work(struct measure_ab *out, const struct model *m, const struct measure *x, int arm)
{
	const struct measure_objects *loads = find_objects(m, x, "load"), *stores = find_objects(m, x, "store");
	u64 bytes = 0;
	u32 k;

	for (k = 0; k < x->n_obj; k++)
		bytes += x->obj[k].bytes;
	out->work[WORK_OBJECTS][arm] = x->objects_ok;
	out->work[WORK_OBJECT_BYTES][arm] = bytes;
	out->work[WORK_CMDS][arm] = x->pool_n;
	out->work[WORK_CMD_BYTES][arm] = x->pool_bytes;
	out->work[WORK_LOADS][arm] = loads ? loads->n : 0;
	out->work[WORK_STORES][arm] = stores ? stores->n : 0;
	out->work[WORK_READ_CMDS][arm] = x->pool_dir_n[DIR_READ];
	out->work[WORK_WRITE_CMDS][arm] = x->pool_dir_n[DIR_WRITE];
	out->work[WORK_READ_BYTES][arm] = x->pool_dir_bytes[DIR_READ];
	out->work[WORK_WRITE_BYTES][arm] = x->pool_dir_bytes[DIR_WRITE];
	out->ratio[0].num[arm] = (double)x->pool_dir_bytes[DIR_READ];
	out->ratio[0].den[arm] = loads ? (double)loads->bytes : 0;
	out->ratio[1].num[arm] = (double)x->pool_dir_bytes[DIR_WRITE];
	out->ratio[1].den[arm] = stores ? (double)stores->bytes : 0;
	out->ratio[2].num[arm] = (double)x->qd1[DIR_READ].gap.p50;
	out->ratio[2].den[arm] = (double)x->qd1[DIR_READ].service.p25;
	out->ratio[3].num[arm] = (double)x->qd1[DIR_WRITE].gap.p50;
	out->ratio[3].den[arm] = (double)x->qd1[DIR_WRITE].service.p25;
}

static bool within(u64 a, u64 b, double tolerance)
{
	return (double)(MAX(a, b) - MIN(a, b)) <= tolerance * (double)MAX(a, b);
}

static void judge(struct measure_ab *out)
{
	u64 alone = out->only[0] + out->only[1];
	int k;

	out->comparable = out->nothing = true;
	for (k = 0; k < N_WORKS; k++) {
		out->nothing &= !out->work[k][0] && !out->work[k][1];
		out->differs[k] = !within(out->work[k][0], out->work[k][1], out->tolerance);
		out->comparable &= !out->differs[k];
	}
	out->other_objects = (double)alone > out->tolerance * (double)(out->paired * 2 + alone);
	out->comparable &= !out->other_objects && !out->nothing;
}

int measure_compare(struct measure_ab *out, const struct model *a, const struct measure *ma, const struct model *b,
		    const struct measure *mb, double tolerance)
{
	static const struct ab_ratio ratios[N_AB_RATIOS] = {
		{ .name = "read_amplification", .num_name = "device_read_bytes", .den_name = "loaded_bytes" },
		{ .name = "write_amplification", .num_name = "device_write_bytes", .den_name = "stored_bytes" },
		{ .name = "load_gap_per_service", .num_name = "gap_p50_ns", .den_name = "service_p25_ns" },
		{ .name = "store_gap_per_service", .num_name = "gap_p50_ns", .den_name = "service_p25_ns" },
	};
	struct compare c = { .out = out, .a = a, .b = b };
	int ret = -ENOMEM, d;

	*out = (struct measure_ab){ .tolerance = tolerance };
	memcpy(out->ratio, ratios, sizeof(ratios));
	for (d = 0; d < N_DIRS; d++) {
		c.pair[d] = malloc((b->op.n + 1ul) * sizeof(*c.pair[d]));
		if (!c.pair[d])
			goto out;
	}
	count_work(out, a, ma, 0);
	count_work(out, b, mb, 1);
	ret = each_object(a, add_a, &c);
	if (!ret)
		ret = each_object(b, pair_b, &c);
	if (!ret) {
		take_pair(out, "load", c.pair[DIR_READ], c.n[DIR_READ]);
		take_pair(out, "store", c.pair[DIR_WRITE], c.n[DIR_WRITE]);
		judge(out);
	}
out:
	for (d = 0; d < N_DIRS; d++)
		free(c.pair[d]);
	map64_free(&c.in_a);
	return ret;
}
