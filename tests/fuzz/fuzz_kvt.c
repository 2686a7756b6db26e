// SPDX-License-Identifier: Apache-2.0
/* The reader of .kvt on any bytes.  Checksums are repaired, or nothing gets past them. */
#include <string.h>

#include "capture/event.h"
#include "capture/kvt.h"
#include "capture/kvt_format.h"

struct input {
	const u8 *p;
	size_t n, at;
};

static ssize_t read_input(void *arg, void *buf, size_t n)
{
	struct input *in = arg;
	size_t left = in->n - in->at;

	n = MIN(n, left);
	memcpy(buf, in->p + in->at, n);
	in->at += n;
	return (ssize_t)n;
}

static void repair(u8 *p, size_t n)
{
	size_t at = sizeof(struct kvt_head);

	while (n >= at && n - at >= sizeof(struct kvt_block)) {
		struct kvt_block b;

		memcpy(&b, p + at, sizeof(b));
		if (b.stored > n - at - sizeof(b))
			return;
		b.magic = KVT_BLOCK_MAGIC;
		b.crc = kvt_crc(&b, p + at + sizeof(b));
		memcpy(p + at, &b, sizeof(b));
		at += sizeof(b) + b.stored;
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);

int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	static u8 copy[65536];
	struct input in = { .p = copy, .n = MIN(n, sizeof(copy)) };
	struct kvt_reader *r;
	struct kvt_chunk c;
	u64 sum = 0;
	u32 i;

	memcpy(copy, data, in.n);
	if (in.n >= sizeof(struct kvt_head)) {
		struct kvt_head head = { .magic = KVT_MAGIC, .version = KVT_VERSION };

		memcpy(copy, &head, sizeof(head));
		repair(copy, in.n);
	}
	if (kvt_reader_open(&r, read_input, &in))
		return 0;
	while (kvt_next(r, &c) > 0)
		for (i = 0; c.records && i < c.n * (u32)c.record_bytes; i++)
			sum += ((const u8 *)c.records)[i];
	if (!kvt_complete(r) && !kvt_defect(r) && sum == 1)
		__builtin_trap();
	kvt_reader_close(r);
	return 0;
}
