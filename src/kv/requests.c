// SPDX-License-Identifier: Apache-2.0
#include "kv/requests.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"

#define HIT_SEED   0x5151u
#define MAX_TOKENS (1ull << 32)

/* splitmix64 */
static u64 draw(u64 *state)
{
	*state += 0x9e3779b97f4a7c15ull;
	return hash_u64(*state);
}

/* In [0, 1) and in (0, 1]. */
static double uniform(u64 *state)
{
	return (double)(draw(state) >> 11) * 0x1p-53;
}

static double normal(u64 *state)
{
	double u = 1 - uniform(state), v = uniform(state);

	return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

int kv_requests_init(struct kv_requests *g, const struct kv_requests_options *o)
{
	*g = (struct kv_requests){ .o = *o, .rng = hash_u64(o->seed), .hit_rng = hash_u64(o->seed ^ HIT_SEED) };
	if (o->kind != KV_SESSIONS)
		return 0;
	g->session = calloc(o->sessions, sizeof(*g->session));
	return g->session ? 0 : -ENOMEM;
}

void kv_requests_free(struct kv_requests *g)
{
	u32 i;

	for (i = 0; g->session && i < g->o.sessions; i++)
		free(g->session[i].chunk);
	free(g->session);
	free(g->numbers[0]);
	free(g->numbers[1]);
	*g = (struct kv_requests){};
}

static u64 draw_tokens(struct kv_requests *g)
{
	double t;

	if (g->o.n_tokens)
		return MAX(g->o.tokens[g->index % g->o.n_tokens], 1ull);
	t = g->o.median_tokens * exp(g->o.sigma * normal(&g->rng));
	return t < 1 ? 1 : t > (double)MAX_TOKENS ? MAX_TOKENS : (u64)t;
}

static int room(u64 **p, u64 *cap, u64 n)
{
	u64 want = *cap ? *cap : 64;
	u64 *q;

	while (want < n)
		want *= 2;
	if (want == *cap)
		return 0;
	q = reallocarray(*p, want, sizeof(**p));
	if (!q)
		return -ENOMEM;
	*p = q;
	*cap = want;
	return 0;
}

/* New chunks, and room for them: no more than fit at all. */
static int store_new(struct kv_requests *g, struct kv_request *r, u64 n)
{
	u64 i, held = g->next - g->oldest;

	if (g->o.capacity && n > g->o.capacity)
		n = g->o.capacity;
	if (room(&g->numbers[1], &g->cap[1], n))
		return -ENOMEM;
	r->evict_first = g->oldest;
	if (g->o.capacity && held + n > g->o.capacity)
		r->n_evict = held + n - g->o.capacity;
	g->oldest += r->n_evict;
	r->store = g->numbers[1];
	r->n_store = n;
	for (i = 0; i < n; i++)
		r->store[i] = g->next++;
	return 0;
}

static int next_random(struct kv_requests *g, struct kv_request *r)
{
	u64 chunks = MAX((r->tokens + g->o.chunk_tokens - 1) / g->o.chunk_tokens, 1ull), i;
	u64 held = g->next - g->oldest;

	r->hit = uniform(&g->hit_rng) < g->o.hit_rate && held;
	if (!r->hit)
		return store_new(g, r, chunks);
	if (room(&g->numbers[0], &g->cap[0], chunks))
		return -ENOMEM;
	r->load = g->numbers[0];
	r->n_load = chunks;
	for (i = 0; i < chunks; i++)
		r->load[i] = g->oldest + draw(&g->hit_rng) % held;
	return 0;
}

static int next_turn(struct kv_requests *g, struct kv_request *r)
{
	struct kv_session *s = &g->session[r->index % g->o.sessions];
	u64 chunks, i;
	int ret;

	if (s->turn++ == g->o.turns)
		*s = (struct kv_session){ .chunk = s->chunk, .cap = s->cap, .turn = 1 };
	s->tokens = MIN(s->tokens + r->tokens, MAX_TOKENS);
	r->tokens = s->tokens;
	chunks = s->tokens / g->o.chunk_tokens; /* whole ones only */
	/* A prefix ends where its first chunk is gone. */
	for (i = 0; i < s->n && s->chunk[i] >= g->oldest; i++)
		;
	s->n = i;
	if (room(&g->numbers[0], &g->cap[0], s->n) || room(&s->chunk, &s->cap, chunks))
		return -ENOMEM;
	if (s->n)
		memcpy(g->numbers[0], s->chunk, s->n * sizeof(*s->chunk));
	r->load = g->numbers[0];
	r->n_load = s->n;
	r->hit = s->n != 0;
	ret = store_new(g, r, chunks - s->n);
	for (i = 0; i < r->n_store && !ret; i++)
		s->chunk[s->n++] = r->store[i];
	return ret;
}

static int next_pass(struct kv_requests *g, struct kv_request *r)
{
	u64 i;

	r->tokens = g->o.chunks * g->o.chunk_tokens;
	if (!(r->index & 1))
		return store_new(g, r, g->o.chunks);
	r->hit = true;
	r->n_load = g->o.chunks;
	if (g->o.capacity)
		r->n_load = MIN(r->n_load, g->o.capacity);
	if (room(&g->numbers[0], &g->cap[0], r->n_load))
		return -ENOMEM;
	r->load = g->numbers[0];
	for (i = 0; i < r->n_load; i++)
		r->load[i] = g->next - r->n_load + i;
	return 0;
}

int kv_requests_next(struct kv_requests *g, struct kv_request *r)
{
	int ret;

	*r = (struct kv_request){ .index = g->index };
	if (g->o.kind != KV_STORE_LOAD)
		r->tokens = draw_tokens(g);
	ret = g->o.kind == KV_RANDOM ? next_random(g, r) : g->o.kind == KV_SESSIONS ? next_turn(g, r) : next_pass(g, r);
	g->index++;
	return ret;
}
