/* SPDX-License-Identifier: Apache-2.0 */
/* One event of a capture of any format, on its way from a reader to a writer. */
#ifndef KVIO_ITEM_H
#define KVIO_ITEM_H

#include <jansson.h>

#include "capture/jsonl_read.h"
#include "capture/record.h"

enum item_kind {
	ITEM_META,	/* who recorded what and how; further ones add devices */
	ITEM_KVIO_META, /* the head of a semantic trace */
	ITEM_FOOTER,	/* the account at the end of a capture */
	ITEM_TASK,
	ITEM_DISK,
	ITEM_PATH,
	ITEM_NVME, /* a command, or half of one */
	ITEM_NVME_KV,
	ITEM_CQ_OVERFLOW,
	ITEM_SYSCALL,
	ITEM_URING,
	ITEM_FAULT,
	ITEM_CACHE,
	ITEM_BLOCK,
	ITEM_EXTENT,
	ITEM_RANGE,
	ITEM_CLOCK,
	ITEM_LOSS,
	ITEM_SEMANTIC,
	ITEM_SERVING,
	ITEM_OTHER,
	N_ITEM_KINDS
};

/* What one stands for is valid until the next one is asked for from the same place. */
struct item {
	u8 kind;	    /* enum item_kind */
	bool is_completion; /* whose command is not with it */
	bool in_flight;	    /* a command that had not completed yet */
	bool has_pid;	    /* of the kinds that are lines only */
	u32 pid;
	u64 start_ns; /* when what it tells of began, 0 = it has no time */
	u64 at_ns;    /* when it was written, 0 = unknown */
	/* One of these two; both for the lines "task" and "disk". */
	const union event *record; /* zero behind `size` where its struct is larger */
	size_t size;
	struct slice line; /* as it stands in a text capture, without its newline */

	struct slice completion;     /* of a command in two lines that go together */
	const struct jsonl_rec *rec; /* of `line` */
	const json_t *doc;	     /* ITEM_META; ITEM_FOOTER but for the line "drops" */
	struct names *names;	     /* who and what the numbers in its capture are */
};

static inline bool item_is_command(const struct item *it)
{
	return it->kind == ITEM_NVME || it->kind == ITEM_NVME_KV;
}

/* What gives a name to a number of other events. */
static inline bool item_is_name(const struct item *it)
{
	return it->kind == ITEM_TASK || it->kind == ITEM_DISK || it->kind == ITEM_PATH;
}

/* The word for it in options and outputs: "nvme", "semantic", ... */
const char *item_kind_name(enum item_kind kind);

#endif
