/* SPDX-License-Identifier: Apache-2.0 */
/* System calls: the table, and what is measured of it. */
#ifndef KVIO_CALLS_MODEL_H
#define KVIO_CALLS_MODEL_H

#include "lib/hist.h"
#include "model/model.h"

/*
 * A call that asks for this much asks for all there is (cp has copy_file_range
 * move up to 2^63 bytes): that is a limit and no size, not to be summed.
 */
#define CALL_NO_LIMIT (1ull << 62)

/* Of one call name, or of all. */
struct call_sum {
	u16 call; /* enum ev_call */
	u64 n, failed;
	u64 short_n; /* moved less than was asked for, end of file and pipes too */
	/* Of reads, writes and copies.  What failed asked for nothing, what set no limit (CALL_NO_LIMIT) for what it
	 * moved. */
	u64 asked_bytes, moved_bytes;
	u64 total_ns;	 /* sum of durations */
	struct hist lat; /* ns, of good ones whose begin was seen */
};

/* Of one file: its calls by what they did. */
struct call_file {
	u32 path; /* 0 = not known */
	u32 dev;
	u64 ino;
	u64 reads, read_bytes, writes, write_bytes, syncs, other;
	u64 total_ns;
};

struct call_sums {
	struct call_sum all;
	struct call_sum call[N_CALLS];
	struct call_file *file; /* most bytes first, then by path, dev, ino */
	u32 n_files;
	u64 first_ns, last_ns; /* begin of the first, end of the last */
};

/* Requests of io_uring, of one opcode or of all. */
struct uring_sum {
	u8 opcode;
	u64 n, failed, unfinished, punted, sqpoll;
	u64 asked_bytes, moved_bytes; /* of reads and writes; what failed asked for nothing */
	struct hist lat;	      /* ns, completed without error */
};

struct uring_sums {
	struct uring_sum all;
	struct uring_sum op[256];
	u32 rings;
};

/*
 * Where the bytes went: what programs moved by calls and requests on files
 * with a place (regular ones and disks), and what devices moved.  A layer that
 * was not recorded has `on` false.
 */
struct byte_layer {
	bool on, reads_only; /* of writes nothing is known */
	u64 read_n, read_bytes, write_n, write_bytes;
};

struct byte_layers {
	struct byte_layer calls;       /* system calls, copy_file_range as both */
	struct byte_layer uring;       /* io_uring reads and writes of files */
	struct byte_layer passthrough; /* io_uring commands to devices, by their data length */
	struct byte_layer program;     /* the three together */
	struct byte_layer page_cache;  /* folios that came into it, of recorded files: the mmap tracer's fills */
	struct byte_layer block;  /* of the device's: what came through the block layer; without these, its requests */
	struct byte_layer device; /* NVMe commands that completed without error */
	/* Of the device's, by what caused them; see model/cause.h */
	struct byte_layer by_calls, by_uring, by_passthrough, by_faults, by_none;
};

/* 0 or -ENOMEM. */
int calls_measure(struct call_sums *s, const struct model *m);
void calls_free(struct call_sums *s);
void uring_measure(struct uring_sums *s, const struct model *m);
void bytes_measure(struct byte_layers *l, const struct model *m);

#endif
