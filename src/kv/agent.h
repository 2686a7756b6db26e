/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chunk cache under the requests of agents: which chunks each request loads,
 * which it stores, and what has to go for that.
 *
 * A request finds the chunks that are resident when it arrives: with
 * KV_LOOKUP_PREFIX up to the first that is not, with KV_LOOKUP_ALL each that
 * is.  Those are loaded in order; then each chunk that is not resident is
 * stored, and when the cache is full the one used least recently is deleted
 * before.  A chunk that a request has twice counts once.
 */
#ifndef KVIO_KV_AGENT_H
#define KVIO_KV_AGENT_H

#include "lib/sha256.h"
#include "lib/str.h"

enum kv_lookup { KV_LOOKUP_PREFIX, KV_LOOKUP_ALL };

enum kv_agent_do { KV_AGENT_LOAD, KV_AGENT_STORE, KV_AGENT_DELETE };

struct kv_agent_op {
	u32 key;   /* number of the chunk, from 1 */
	u32 index; /* of the chunk in its request; meaningless for a delete */
	u8 op;	   /* enum kv_agent_do */
};

struct kv_cache {
	u64 capacity; /* chunks; 0 = no bound */
	enum kv_lookup lookup;
	struct kv_cache_chunk {
		u32 older, newer; /* neighbours in the order of use */
		u32 request;	  /* the last one that had it */
		bool resident, known;
	} * chunk; /* by number */
	u32 cap, oldest, newest;
	u64 resident, max_resident; /* after a request */
	u64 loads, stores, deletes;
	u64 shadowed; /* resident chunks behind the first miss, which a prefix lookup does not find */
	u32 request;
	struct kv_agent_op *op; /* of all requests */
	u64 n_ops, cap_ops;
	u32 *warm; /* chunks that were there before the first request */
	u32 n_warm, cap_warm;
};

/* The next request, its chunks by number, from 1.  0 or -ENOMEM. */
int kv_cache_request(struct kv_cache *c, const u32 *chunk, u32 n);
/*
 * A request that is known to have found its first `found` chunks: those never
 * seen before were there from the begin (warm); those deleted since are stored.
 */
int kv_cache_request_found(struct kv_cache *c, const u32 *chunk, u32 n, u32 found);
void kv_cache_free(struct kv_cache *c);

/* The digest of a chunk of token ids; `before` is that of the chunk before it, or NULL when it stands for itself. */
void kv_chunk_digest(u8 out[SHA256_BYTES], const u8 *before, const u64 *token, u64 n);

#endif
