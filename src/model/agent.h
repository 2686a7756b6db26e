/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces of agents and of serving systems, one request a line, and what a chunk
 * cache makes of them.
 *
 *   tokens     session_id, token_ids [..]: chunks are digests of token ids
 *   hashes     session_id, chunk_keys [".."]: chunks that were hashed already, as 64 hex digits
 *   mooncake   timestamp (ms), input_length, hash_ids [..]: one id a block of 512 tokens
 *   tracelab   provider, session_id, input_tokens_total, prefix_tokens
 */
#ifndef KVIO_AGENT_H
#define KVIO_AGENT_H

#include "kv/agent.h"

enum agent_format { AGENT_AUTO, AGENT_TOKENS, AGENT_HASHES, AGENT_MOONCAKE, AGENT_TRACELAB };
#define AGENT_FORMATS "auto|tokens|hashes|mooncake|tracelab|mlperf"
const char *agent_format_name(enum agent_format format);

#define AGENT_WHY 200

struct agent_request {
	s64 time_ns; /* since 1970, or since the begin of the trace (mooncake) */
	bool has_time;
	bool found_known; /* tracelab: how many chunks were found is told */
	u32 session;	  /* string: first 20 hex digits of a digest, or 0 */
	u32 file;	  /* index */
	u64 line;
	u64 input_tokens;
	u32 found;	     /* with found_known */
	u64 first_chunk;     /* in chunk[] */
	u32 n_chunks;	     /* whole ones */
	u64 ignored_tokens;  /* that fill no chunk */
	u64 first_op, n_ops; /* in the cache's operations, after agent_run() */
};

struct agent_file {
	char *name;		 /* without its directories */
	u8 sha256[SHA256_BYTES]; /* of what was read, not compressed */
	u64 records, selected;
};

struct agent_options {
	enum agent_format format;
	bool session_is_file;
	bool chained;	      /* a chunk is another one behind another prefix */
	u64 chunk_tokens;     /* 0 = 512 for mooncake, else 256 */
	u64 max_requests;     /* 0 = all */
	const char *provider; /* NULL = all */
};

struct agent_trace {
	struct agent_options o;
	enum agent_format format;     /* that of all files */
	struct strpool strings, keys; /* keys: 32 bytes each, their id is the chunk's number */
	struct agent_request *request;
	u64 n, cap;
	u32 *chunk;
	u64 n_chunks, cap_chunks;
	struct agent_file *file;
	u32 n_files;
	bool cut;	     /* the last line of a file has no end, and was left out */
	char why[AGENT_WHY]; /* after an error */
};

/*
 * Reads a file, plain or compressed.  0, -errno of the file, or -EINVAL and
 * t->why ("line 7: ...").  agent_free() in all cases.
 */
int agent_read(struct agent_trace *t, const char *path);
/* Puts requests in the order of time, as read among equal ones, and runs them through the cache.  0 or -ENOMEM. */
int agent_run(struct agent_trace *t, struct kv_cache *c);
void agent_free(struct agent_trace *t);

/*
 * A time as agents write it: ISO 8601 (without a zone UTC), or a number of
 * seconds, milliseconds (from 1e11) or microseconds (from 1e14) since 1970.
 * -EINVAL, -ERANGE outside of the years 2000 to 2100.
 */
int agent_time(const char *text, size_t n, s64 *ns);
/* The first 20 hex digits of the SHA-256 of the strings as a compact JSON array. */
void agent_session_digest(char out[21], const char *const *part, u32 n);

#endif
