// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "capture/event.h"
#include "capture/kvt.h"
#include "capture/kvt_format.h"
#include "lib/planes.h"

struct kvt_reader {
	kvt_read_fn read;
	void *arg;
	u64 at; /* byte offset in the file */
	bool ended, footer;
	char defect[96];
	u8 *stored, *raw;
	u32 stored_cap, raw_cap;
	ZSTD_DCtx *unpack;
	json_t *doc;
};

/* Reads n bytes unless the input ends: returns how many, or -errno. */
static ssize_t read_full(struct kvt_reader *r, void *buf, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t got = r->read(r->arg, (u8 *)buf + done, n - done);

		if (got < 0)
			return got;
		if (!got)
			break;
		done += (size_t)got;
	}
	r->at += done;
	return (ssize_t)done;
}

int kvt_reader_open(struct kvt_reader **out, kvt_read_fn read, void *arg)
{
	struct kvt_reader *r = calloc(1, sizeof(*r));
	struct kvt_head head;
	ssize_t n;
	int ret = 0;

	if (!r)
		return -ENOMEM;
	r->unpack = ZSTD_createDCtx();
	if (!r->unpack) {
		free(r);
		return -ENOMEM;
	}
	r->read = read;
	r->arg = arg;
	n = read_full(r, &head, sizeof(head));
	if (n < 0)
		ret = (int)n;
	else if (n < (ssize_t)sizeof(head) || memcmp(head.magic, KVT_MAGIC, sizeof(head.magic)))
		ret = -EBADMSG;
	else if (head.version >> 16 != KVT_VERSION >> 16)
		ret = -EPROTONOSUPPORT;
	if (ret)
		kvt_reader_close(r);
	else
		*out = r;
	return ret;
}

/* Ends the file here, with the reason.  Always 0. */
static int defect(struct kvt_reader *r, u64 at, const char *what)
{
	snprintf(r->defect, sizeof(r->defect), "%s at byte %llu", what, (unsigned long long)at);
	r->ended = true;
	return 0;
}

static int room(u8 **p, u32 *cap, u32 need)
{
	u8 *q;

	if (need <= *cap)
		return 0;
	q = realloc(*p, need);
	if (!q)
		return -ENOMEM;
	*p = q;
	*cap = need;
	return 0;
}

static bool sane(const struct kvt_block *b)
{
	bool doc = b->type == KVT_META || b->type == KVT_FOOTER;

	if (b->magic != KVT_BLOCK_MAGIC || b->codec > KVT_PLANES || b->raw > KVT_MAX_BLOCK || b->stored > KVT_MAX_BLOCK)
		return false;
	if (b->codec == KVT_RAW && b->raw != b->stored)
		return false;
	if (doc || b->type == KVT_TEXT)
		return b->codec != KVT_PLANES;
	return b->record_bytes && b->raw % b->record_bytes == 0;
}

/* The payload of b, unpacked and checked: 1, 0 when the file ends here, -errno. */
static int read_payload(struct kvt_reader *r, const struct kvt_block *b, u64 start, const u8 **payload)
{
	ssize_t n;

	if (room(&r->stored, &r->stored_cap, MAX(b->stored, b->raw) + 1) || room(&r->raw, &r->raw_cap, b->raw + 1))
		return -ENOMEM;
	n = read_full(r, r->stored, b->stored);
	if (n < 0)
		return (int)n;
	if (n < (ssize_t)b->stored)
		return defect(r, start, "cut block");
	if (kvt_crc(b, r->stored) != b->crc)
		return defect(r, start, "damaged block (checksum)");
	*payload = r->stored;
	if (b->codec != KVT_RAW) {
		size_t got = ZSTD_decompressDCtx(r->unpack, r->raw, b->raw, r->stored, b->stored);

		if (ZSTD_isError(got) || got != b->raw)
			return defect(r, start, "damaged block (zstd)");
		*payload = r->raw;
	}
	if (b->codec == KVT_PLANES) {
		planes_join(r->stored, r->raw, b->record_bytes, b->raw / b->record_bytes);
		*payload = r->stored;
	}
	return 1;
}

int kvt_next(struct kvt_reader *r, struct kvt_chunk *c)
{
	struct kvt_block b;
	const u8 *payload = NULL;
	u64 start;
	ssize_t n;
	int ret;

	json_decref(r->doc);
	r->doc = NULL;
	if (r->ended)
		return 0;
	start = r->at;
	n = read_full(r, &b, sizeof(b));
	if (n < 0)
		return (int)n;
	if (r->footer)
		return n ? defect(r, start, "data behind the footer") : (r->ended = true, 0);
	if (!n)
		return defect(r, start, "no footer");
	if (n < (ssize_t)sizeof(b))
		return defect(r, start, "cut block");
	if (!sane(&b))
		return defect(r, start, "damaged block header");
	ret = read_payload(r, &b, start, &payload);
	if (ret <= 0)
		return ret;

	*c = (struct kvt_chunk){ .type = b.type, .first_ts_ns = b.first_ts_ns, .last_ts_ns = b.last_ts_ns };
	if (b.type == KVT_META || b.type == KVT_FOOTER) {
		c->doc = r->doc = json_loadb((const char *)payload, b.raw, JSON_REJECT_DUPLICATES, NULL);
		if (!r->doc)
			return defect(r, start, "damaged document");
		r->footer = b.type == KVT_FOOTER;
	} else if (b.type == KVT_TEXT) {
		c->n = b.raw;
		c->text = (const char *)payload;
	} else {
		c->record_bytes = b.record_bytes;
		c->n = b.raw / b.record_bytes;
		c->records = payload;
	}
	return 1;
}

bool kvt_complete(const struct kvt_reader *r)
{
	return r->ended && r->footer && !r->defect[0];
}

const char *kvt_defect(const struct kvt_reader *r)
{
	return r->defect[0] ? r->defect : NULL;
}

void kvt_reader_close(struct kvt_reader *r)
{
	json_decref(r->doc);
	ZSTD_freeDCtx(r->unpack);
	free(r->stored);
	free(r->raw);
	free(r);
}
