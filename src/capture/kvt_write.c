// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "capture/event.h"
#include "capture/kvt.h"
#include "capture/kvt_format.h"

/* Large enough for zstd to find the repeats, small enough to lose little at a kill. */
#define BLOCK_BYTES (256u << 10)
#define ZSTD_LEVEL  1

struct block_buf {
	u8 *p;
	u32 n;
	u16 record_bytes;
	u64 first_ts_ns, last_ts_ns;
};

struct kvt_writer {
	int fd;
	int error; /* the first one; every later call returns it */
	bool busy;
	struct block_buf block[EV_KINDS];
	ZSTD_CCtx *zstd;
	u8 *packed; /* a block header and its stored payload */
	size_t packed_cap;
};

static int write_all(struct kvt_writer *w, const void *data, size_t n)
{
	const u8 *p = data;

	while (n && !w->error) {
		ssize_t done = write(w->fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0) {
			w->error = -errno;
			break;
		}
		p += done;
		n -= (size_t)done;
	}
	return w->error;
}

static int write_block(struct kvt_writer *w, struct kvt_block *b, const void *payload)
{
	u8 *stored = w->packed + sizeof(*b);
	size_t n = 0;

	b->magic = KVT_BLOCK_MAGIC;
	b->codec = KVT_RAW;
	if (!w->busy) {
		n = ZSTD_compressCCtx(w->zstd, stored, w->packed_cap - sizeof(*b), payload, b->raw, ZSTD_LEVEL);
		if (!ZSTD_isError(n) && n < b->raw)
			b->codec = KVT_ZSTD;
	}
	if (b->codec == KVT_RAW) {
		n = b->raw;
		memcpy(stored, payload, n);
	}
	b->stored = (u32)n;
	b->crc = kvt_crc(b, stored);
	memcpy(w->packed, b, sizeof(*b));
	return write_all(w, w->packed, sizeof(*b) + n);
}

static int packed_room(struct kvt_writer *w, size_t payload)
{
	size_t need = sizeof(struct kvt_block) + ZSTD_compressBound(payload);
	u8 *p;

	if (need <= w->packed_cap)
		return 0;
	p = realloc(w->packed, need);
	if (!p)
		return w->error = -ENOMEM;
	w->packed = p;
	w->packed_cap = need;
	return 0;
}

static int write_doc(struct kvt_writer *w, enum kvt_block_type type, const json_t *doc)
{
	char *text = json_dumps(doc, JSON_COMPACT);
	struct kvt_block b = { .type = (u8)type };
	size_t n = text ? strlen(text) : 0;

	if (!text || n > KVT_MAX_BLOCK)
		w->error = text ? -EFBIG : -ENOMEM;
	if (!w->error && !packed_room(w, n)) {
		b.raw = (u32)n;
		write_block(w, &b, text);
	}
	free(text);
	return w->error;
}

int kvt_writer_open(struct kvt_writer **out, int fd, const json_t *meta)
{
	struct kvt_writer *w = calloc(1, sizeof(*w));
	struct kvt_head head = { .magic = KVT_MAGIC, .version = KVT_VERSION };
	int ret = -ENOMEM;

	if (!w) {
		close(fd);
		return ret;
	}
	w->fd = fd;
	w->zstd = ZSTD_createCCtx();
	if (!w->zstd)
		w->error = -ENOMEM;
	else if (!packed_room(w, BLOCK_BYTES) && !write_all(w, &head, sizeof(head)))
		write_doc(w, KVT_META, meta);
	ret = w->error;
	if (ret) {
		kvt_writer_close(w, NULL);
		return ret;
	}
	*out = w;
	return 0;
}

static int flush_kind(struct kvt_writer *w, u8 kind)
{
	struct block_buf *bb = &w->block[kind];
	struct kvt_block b = {
		.type = kind,
		.record_bytes = bb->record_bytes,
		.raw = bb->n,
		.first_ts_ns = bb->first_ts_ns,
		.last_ts_ns = bb->last_ts_ns,
	};

	if (bb->n && !w->error)
		write_block(w, &b, bb->p);
	bb->n = 0;
	return w->error;
}

int kvt_write(struct kvt_writer *w, const void *record, size_t size, u64 ts_ns)
{
	u8 kind = *(const u8 *)record;
	struct block_buf *bb = &w->block[kind < EV_KINDS ? kind : 0];

	if (__builtin_expect(w->error || !kind || kind >= EV_KINDS, 0))
		return w->error ? w->error : -EINVAL;
	if (__builtin_expect(!bb->p, 0)) {
		bb->p = malloc(BLOCK_BYTES);
		if (!bb->p)
			return w->error = -ENOMEM;
		bb->record_bytes = (u16)size;
	}
	if (bb->n + size > BLOCK_BYTES && flush_kind(w, kind))
		return w->error;
	if (!bb->n) {
		bb->first_ts_ns = bb->last_ts_ns = ts_ns;
	} else {
		bb->first_ts_ns = MIN(bb->first_ts_ns, ts_ns);
		bb->last_ts_ns = MAX(bb->last_ts_ns, ts_ns);
	}
	memcpy(bb->p + bb->n, record, size);
	bb->n += (u32)size;
	return 0;
}

int kvt_flush(struct kvt_writer *w)
{
	int kind;

	for (kind = 1; kind < EV_KINDS; kind++)
		flush_kind(w, (u8)kind);
	return w->error;
}

void kvt_set_busy(struct kvt_writer *w, bool busy)
{
	w->busy = busy;
}

int kvt_writer_close(struct kvt_writer *w, const json_t *footer)
{
	int ret, kind;

	kvt_set_busy(w, false);
	if (!w->error)
		kvt_flush(w);
	if (!w->error && footer)
		write_doc(w, KVT_FOOTER, footer);
	/* Delayed errors of the file system show up here; a pipe cannot sync. */
	if (!w->error && fdatasync(w->fd) && errno != EINVAL && errno != EROFS)
		w->error = -errno;
	if (close(w->fd) && !w->error)
		w->error = -errno;
	ret = w->error;
	for (kind = 0; kind < EV_KINDS; kind++)
		free(w->block[kind].p);
	ZSTD_freeCCtx(w->zstd);
	free(w->packed);
	free(w);
	return ret;
}
