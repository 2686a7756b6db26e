/* SPDX-License-Identifier: Apache-2.0 */
/* From a model to the commands that its cache makes: what `kvio plan` prints. */
#ifndef KVIO_KV_PROJECT_H
#define KVIO_KV_PROJECT_H

#include "kv/layout.h"
#include "kv/repr.h"
#include "kv/split.h"

struct kv_query {
	const struct kv_model *m; /* NULL with `payload` */
	enum kv_dtype dtype;
	u32 ranks;	  /* tensor parallel; 0 = 1 */
	u64 chunk_tokens; /* in an object of one rank's part of the heads */
	u64 payload;	  /* when m is NULL: the bytes of the object */
	enum kv_repr repr;
	enum kv_scales scales;
	u64 page_tokens;
	struct kv_limits limits;
	u64 header_bytes;
	/* The whole workload; tokens 0 = none asked. */
	u64 tokens, sequences, meta_bytes;
};

/* All that is stored, and then loaded once. */
struct kv_workload {
	u64 chunks, ignored_tokens; /* of a sequence; a chunk that is not full is not stored */
	u64 objects;		    /* of all sequences and ranks */
	u64 commands[N_KV_OPS], device_bytes[N_KV_OPS];
	u64 needed_bytes;   /* what generation reads when windows are used, of all sequences; one copy */
	u64 slot_bytes;	    /* in whole MiB, as generators make them */
	u64 capacity_bytes; /* metadata and slots */
	u64 index_bytes;    /* JSON of a checkpoint, about */
	u64 index_room;	    /* of a container; a larger index is never written */
	u64 checkpoint_commands;
};

struct kv_projection {
	u64 token_bytes, chunk_bytes, layer_bytes; /* all heads; 0 without a model */
	struct kv_shard shard;
	struct kv_components part; /* of one object */
	u64 padding;		   /* of its last command */
	u64 xfer;
	struct kv_plan plan[N_KV_OPS];
	struct kv_workload work;
};

/* 0, -EINVAL or -EOVERFLOW and in why[KV_WHY] the reason. */
int kv_project(struct kv_projection *p, const struct kv_query *q, char *why);

#endif
