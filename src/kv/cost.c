// SPDX-License-Identifier: Apache-2.0
#include "kv/cost.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kv/split.h"

const struct kv_machine kv_published_machine = {
	.bandwidth = 11.3e9,
	.latency_s = 4.4e-6,
	.gap_s = 99e-6,
	.depth = 1,
	.rings = 1,
	.cmd_bytes = 131072,
	.speedup = 1,
	.gpu_flops = 989e12,
	.utilisation = 0.35,
	.overhead_s = 0.165,
};

const char *kv_bound_name(enum kv_bound bound)
{
	static const char *const names[] = { "waiting", "rings", "device" };

	return names[bound];
}

static int refuse(char *why, const char *text)
{
	snprintf(why, KV_WHY, "%s", text);
	return -EINVAL;
}

/* ---- loading ---- */

/* How many bytes and commands cross the one device: those of all ranks, copies too. */
static int count_load(struct kv_cost *c, const struct kv_context *x, const struct kv_machine *h, char *why)
{
	u64 chunks = x->tokens / x->chunk_tokens, bytes;
	struct kv_split split;
	struct kv_shard shard = {};
	int ret = kv_bytes(x->m, x->chunk_tokens, x->dtype, &bytes);

	if (!ret)
		ret = kv_shard(x->m, bytes, x->ranks, &shard, why);
	if (!ret)
		ret = kv_split(&split, shard.object_bytes, (u64)h->cmd_bytes, 1);
	if (ret == -EOVERFLOW)
		return refuse(why, "the numbers are too large");
	if (ret)
		return ret;
	c->objects = (double)chunks * shard.objects;
	c->commands = c->objects * (double)split.n;
	c->bytes = c->objects * (double)split.bytes;
	return 0;
}

static void load_time(struct kv_cost *c, const struct kv_machine *h)
{
	double waiting, rings, device, most;

	c->service_s = h->latency_s + c->bytes / c->commands / h->bandwidth;
	waiting = c->commands * (c->service_s + h->gap_s) / (h->depth * h->rings);
	rings = h->ring_bandwidth > 0 ? c->bytes / (h->ring_bandwidth * h->rings) : 0;
	device = c->bytes / h->bandwidth;
	most = fmax(waiting, fmax(rings, device));
	c->bound = most == device ? KV_BOUND_DEVICE : most == rings ? KV_BOUND_RINGS : KV_BOUND_WAITING;
	c->load_s = (most + c->objects * h->object_s / h->rings) / h->speedup;
}

/* ---- recomputing ---- */

/* Pairs of a token and one that it looks at, itself counted half. */
static double pairs(double tokens, double window)
{
	return tokens <= window ? tokens * tokens / 2 : window * tokens - window * window / 2;
}

static void recompute_time(struct kv_cost *c, const struct kv_context *x, const struct kv_machine *h, double params)
{
	const struct kv_model *m = x->m;
	double tokens = (double)(x->tokens - x->tokens % x->chunk_tokens);
	double width = (double)m->head_dim * (m->heads ? m->heads : m->kv_heads);
	double full = m->layers - m->linear_layers - m->sliding_layers;

	c->weight_flops = 2 * params * tokens;
	/* Scores and their sums over V: two products of 2 operations each. */
	c->attention_flops = 4 * width * (full * pairs(tokens, tokens) + m->sliding_layers * pairs(tokens, m->window));
	c->recompute_s =
		(c->weight_flops + c->attention_flops) / (x->ranks * h->gpu_flops * h->utilisation) + h->overhead_s;
}

static bool is_positive(double v)
{
	return isfinite(v) && v > 0;
}

static bool is_time(double v)
{
	return isfinite(v) && v >= 0;
}

int kv_cost(struct kv_cost *c, const struct kv_context *x, const struct kv_machine *h, char *why)
{
	u64 params = x->params ? x->params : x->m->active_params;
	int ret;

	*c = (struct kv_cost){};
	if (!is_positive(h->bandwidth) || !is_positive(h->depth) || !is_positive(h->rings) ||
	    !is_positive(h->gpu_flops) || !is_positive(h->utilisation) || !is_positive(h->speedup) ||
	    !(h->cmd_bytes >= 1 && h->cmd_bytes < 0x1p62))
		return refuse(why, "a rate, depth, size or share is not above 0");
	if (!is_time(h->latency_s) || !is_time(h->gap_s) || !is_time(h->object_s) || !is_time(h->overhead_s) ||
	    !is_time(h->ring_bandwidth))
		return refuse(why, "a time is negative");
	if (h->utilisation > 1)
		return refuse(why, "a utilisation above 1 is none");
	if (!x->chunk_tokens || x->tokens < x->chunk_tokens)
		return refuse(why, "the context does not fill one chunk");
	if (!x->ranks)
		return refuse(why, "there are no ranks");
	if (!params)
		return refuse(why, "the number of parameters is not known: give --params");
	ret = count_load(c, x, h, why);
	if (ret)
		return ret;
	load_time(c, h);
	recompute_time(c, x, h, (double)params);
	c->ratio = c->load_s / c->recompute_s;
	return 0;
}

/* ---- variables ---- */

static const struct {
	const char *name;
	bool whole;
} variables[N_KV_VARIABLES] = {
	[KV_VAR_TOKENS] = { "tokens", true },
	[KV_VAR_DEPTH] = { "depth", true },
	[KV_VAR_RINGS] = { "rings", true },
	[KV_VAR_BANDWIDTH] = { "bandwidth", false },
	[KV_VAR_GAP] = { "gap", false },
	[KV_VAR_LATENCY] = { "latency", false },
	[KV_VAR_CMD_BYTES] = { "cmd-bytes", true },
	[KV_VAR_TP] = { "tp", true },
	[KV_VAR_UTILISATION] = { "utilisation", false },
};

const char *kv_variable_name(enum kv_variable v)
{
	return variables[v].name;
}

int kv_variable_parse(enum kv_variable *v, const char *name)
{
	u32 i;

	for (i = 0; i < N_KV_VARIABLES; i++)
		if (!strcmp(variables[i].name, name)) {
			*v = (enum kv_variable)i;
			return 0;
		}
	return -EINVAL;
}

void kv_variable_set(struct kv_context *x, struct kv_machine *h, enum kv_variable v, double value)
{
	if (variables[v].whole)
		value = round(value);
	switch (v) {
	case KV_VAR_TOKENS:
		x->tokens = value < 0x1p63 ? (u64)value : UINT64_MAX;
		break;
	case KV_VAR_DEPTH:
		h->depth = value;
		break;
	case KV_VAR_RINGS:
		h->rings = value;
		break;
	case KV_VAR_BANDWIDTH:
		h->bandwidth = value;
		break;
	case KV_VAR_GAP:
		h->gap_s = value;
		break;
	case KV_VAR_LATENCY:
		h->latency_s = value;
		break;
	case KV_VAR_CMD_BYTES:
		h->cmd_bytes = value;
		break;
	case KV_VAR_TP:
		x->ranks = value < UINT32_MAX ? (u32)value : UINT32_MAX;
		break;
	case KV_VAR_UTILISATION:
		h->utilisation = value;
		break;
	default:
		break;
	}
}

/* The ratio at a value; NAN where there is none. */
static double ratio_at(const struct kv_context *x, const struct kv_machine *h, enum kv_variable v, double value)
{
	struct kv_context at = *x;
	struct kv_machine with = *h;
	struct kv_cost c;
	char why[KV_WHY];

	kv_variable_set(&at, &with, v, value);
	return kv_cost(&c, &at, &with, why) ? NAN : c.ratio;
}

int kv_crossover(const struct kv_context *x, const struct kv_machine *h, enum kv_variable v, double from, double to,
		 double *value, bool *below)
{
	double a = from, ra = ratio_at(x, h, v, a), b = a, rb;
	u32 i;

	while (b < to) {
		b = fmin(a * 2, to);
		rb = ratio_at(x, h, v, b);
		if (isnan(ra) || isnan(rb) || (ra <= 1) == (rb <= 1)) {
			a = b;
			ra = rb;
			continue;
		}
		for (i = 0; i < 60 && (!variables[v].whole || b - a > 1); i++) {
			double half = (a + b) / 2, r;

			half = variables[v].whole ? floor(half) : half;
			r = ratio_at(x, h, v, half);
			if ((r <= 1) == (ra <= 1))
				a = half;
			else
				b = half;
		}
		*value = b;
		*below = rb <= 1;
		return 0;
	}
	return -ENOENT;
}
