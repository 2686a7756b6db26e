/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line of JSON into one typed record.  Knows what the older tracers wrote
 * (passthrough monitor, its key-value mode, the driver tracepoint monitor),
 * the semantic trace of both schemas, and what jsonl_write.c writes.
 *
 * A member of the wrong type or range makes the whole line malformed, unknown
 * members and kinds do not, null is the same as absent, and of a repeated
 * member the last one counts.
 */
#ifndef KVIO_JSONL_READ_H
#define KVIO_JSONL_READ_H

#include "lib/ndjson.h"

enum jsonl_kind {
	JSONL_UNKNOWN, /* sound JSON of a kind that is not ours */
	JSONL_NVME_CMD,
	JSONL_NVME_CMP,
	JSONL_CQ_OVERFLOW,
	JSONL_CLOCK_ANCHOR,
	JSONL_DROPS,
	JSONL_LOSS,
	JSONL_FOOTER,
	JSONL_CAPTURE_META, /* a nested document: the line is for jansson */
	JSONL_KVIO_META,
	JSONL_SEMANTIC,
	JSONL_SERVING,
	N_JSONL_KINDS
};

/* Which members of a command or completion were there. */
enum jsonl_has {
	HAS_USER_DATA = 1 << 0,
	HAS_SLBA = 1 << 1,
	HAS_QUEUE = 1 << 2, /* hwq and cid */
	HAS_DISK = 1 << 3,  /* disk, though it may be "" */
	HAS_DEV = 1 << 4,
	HAS_DATA_LEN = 1 << 5, /* measured; else bytes is nlb times what the user typed */
	HAS_KEY = 1 << 6,
	HAS_LAT = 1 << 7,
	HAS_STATUS = 1 << 8, /* an NVMe status; else `status` holds err, a blk_status_t */
	HAS_WAIT = 1 << 9,
};

struct jsonl_cmd {
	u64 ts_ns, user_data, slba, age_ns;
	u32 has;   /* enum jsonl_has */
	u32 bytes; /* data_len, or bytes when that is not there; saturated */
	u32 nlb, nsid, dev, rdev, pid, tid, wait_ns, cmd_op, key_len, value_len;
	u16 status, hwq, cid;
	u8 opcode, attempts;
	bool multipath, refused, in_flight;
	struct slice op_name, comm, disk, key_hex;
};

struct jsonl_cmp {
	u64 ts_ns, user_data;
	s64 lat_ns;
	u32 has;
	u32 dev;
	u16 status, hwq, cid;
	struct slice disk;
};

struct jsonl_overflow {
	u64 ts_ns, user_data;
	s32 res;
};

struct jsonl_anchor {
	u64 monotonic_ns, realtime_ns;
	u32 uncertainty_ns;
};

/* drops (ring_full only), loss, and footer. */
struct jsonl_loss {
	u64 ts_ns; /* 0 = absent */
	u64 seen, stored, ring_full, map_full, hook_missed, unread, filtered, in_flight;
	bool complete;
	struct slice witness;
};

/* Numbers are 0 and slices empty when absent. */
struct jsonl_kvio_meta {
	u64 kvio_schema, block_align, header_bytes, max_data_transfer_size, slot_bytes, capacity_bytes;
	struct slice hostname, device_path, io_engine;
};

struct jsonl_op {
	u64 trace_id, start_ns, end_ns, bytes, slot_offset; /* start_ns = end_ns without a start */
	u32 pid;
	bool has_start, has_slot, has_pid;
	struct slice op, key, key_hex, part, error, instance;
};

/* What a request of the serving engine took. */
struct jsonl_span {
	u64 start_ns, end_ns;
	u64 tokens; /* UINT64_MAX = absent */
	struct slice op, name, request_id;
};

/* Slices point into the line or into the reader, until its next call. */
struct jsonl_rec {
	enum jsonl_kind kind;
	u32 who; /* in two records of one reader equal and not 0: so are all members that name a device or a thread */
	union {
		struct jsonl_cmd cmd;
		struct jsonl_cmp cmp;
		struct jsonl_overflow overflow;
		struct jsonl_anchor anchor;
		struct jsonl_loss loss;
		struct jsonl_kvio_meta kvio_meta;
		struct jsonl_op op;
		struct jsonl_span span;
	};
};

struct jsonl_reader;

struct jsonl_reader *jsonl_reader_new(void);
void jsonl_reader_free(struct jsonl_reader *r);

/*
 * Reads one line (without its newline, not blank).  0, or what is wrong with
 * it: -EBADMSG (no JSON object), -ENODATA (a needed member is missing),
 * -EINVAL or -ERANGE (a member has the wrong type, or does not fit); -ENOMEM.
 */
int jsonl_read(struct jsonl_reader *r, const char *line, size_t n, struct jsonl_rec *rec);

/*
 * Takes the next line off [*p, end), its newline too, when it differs from an
 * earlier one of this reader in nothing but values: 1 and the record that
 * jsonl_read() would give, valid until the next call.  0 when it does not: then
 * the line is for jsonl_read(), which learns from it.  JSONL_SLACK bytes behind
 * `end` can be read, whatever they are.
 */
#define JSONL_SLACK 4096u
int jsonl_predict(struct jsonl_reader *r, const char **p, const char *end, const struct jsonl_rec **rec);

#endif
