/* SPDX-License-Identifier: Apache-2.0 */
/* The semantic trace of what a store did: JSON lines of schema 2, with whole nanoseconds beside the seconds. */
#ifndef KVIO_STORE_EMIT_H
#define KVIO_STORE_EMIT_H

#include "lib/buf.h"
#include "lib/clock.h"
#include "store/rig.h"

struct emit {
	int fd;
	struct buf b;
	u32 instance; /* tells this run from others in the same file */
	int error;    /* the first of writing */
};

/* Takes the fd over and writes the head.  `emitter` is e.g. "kvio workload". */
void emit_open(struct emit *e, int fd, const struct rig *r, const char *emitter);
/*
 * The same for the file `path` (made anew, mode 0600), or when that is NULL for
 * the one that $LMCACHE_KVIO_TRACE names, which others may write to as well: it
 * is appended to.  Neither: e->fd is -1, and nothing is written.  0 or -errno.
 */
int emit_open_file(struct emit *e, const char *path, const struct rig *r, const char *emitter);
/* One operation that ended; res as of batch_op. */
struct emit_op {
	const char *op; /* "store", "load", "delete" */
	u32 trace_id;
	const char *key;
	size_t key_len;
	u64 bytes, slot_offset, start_ns, end_ns;
	u32 kv_rank;
	s32 res;
	const char *shape, *dtype; /* JSON text of the shape, NULL = absent */
	u64 request;		   /* number of the request that it was for, from 0 */
};
void emit_op(struct emit *e, const struct emit_op *o);
/* Writes out and closes.  0 or the first error. */
int emit_close(struct emit *e);

/* What a result means, at most 120 characters: an errno, or the NVMe status with its name. */
void emit_error_text(s32 res, char *out, size_t size);

#endif
