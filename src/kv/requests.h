/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Made-up requests of a serving engine: which chunks of the cache each one
 * loads and which it stores.  The same options give the same requests.
 */
#ifndef KVIO_KV_REQUESTS_H
#define KVIO_KV_REQUESTS_H

#include "lib/types.h"

enum kv_requests_kind {
	KV_RANDOM,     /* a hit loads chunks at random from those stored, a miss stores new ones */
	KV_SESSIONS,   /* prompts that grow turn by turn: each loads its prefix and stores what is new */
	KV_STORE_LOAD, /* passes: stores so many chunks, then loads them */
};

struct kv_requests_options {
	enum kv_requests_kind kind;
	u64 seed, chunk_tokens;
	/* Lognormal tokens of a prompt, or of a turn, ... */
	double median_tokens, sigma;
	/* ... or these, over and over; borrowed. */
	const u64 *tokens;
	size_t n_tokens;
	double hit_rate;     /* KV_RANDOM */
	u32 sessions, turns; /* KV_SESSIONS: so many at a time, each of so many turns */
	u64 chunks;	     /* KV_STORE_LOAD: of a pass */
	u64 capacity;	     /* chunks that fit; the oldest one goes when there are more; 0 = no limit, none goes */
};

struct kv_request {
	u64 index, tokens;
	bool hit; /* loads something */
	/* Numbers of chunks, valid until the next call.  In this order: load, evict, store. */
	u64 *load, *store;
	u64 n_load, n_store;
	u64 evict_first, n_evict; /* that many from this number on */
};

struct kv_session {
	u64 *chunk;
	u64 n, cap, tokens;
	u32 turn;
};

struct kv_requests {
	struct kv_requests_options o;
	u64 rng, hit_rng;	 /* apart, so that the hit rate does not change the lengths */
	u64 index, oldest, next; /* chunks oldest .. next - 1 are stored */
	struct kv_session *session;
	u64 *numbers[2];
	u64 cap[2];
};

/* 0 or -ENOMEM.  kv_requests_free() in any case. */
int kv_requests_init(struct kv_requests *g, const struct kv_requests_options *o);
void kv_requests_free(struct kv_requests *g);
/* The next request.  0 or -ENOMEM. */
int kv_requests_next(struct kv_requests *g, struct kv_request *r);

#endif
