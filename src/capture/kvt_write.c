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
#include "lib/planes.h"

/* Large enough for zstd to find the repeats, small enough to lose little at a kill. */
#define BLOCK_BYTES  (256u << 10)
#define ZSTD_LEVEL   1
/* Of planes, where the higher level finds nothing more. */
#define PLANES_LEVEL (-1)

struct block_buf {
	u8 *p;
	u32 n;
	u16 record_bytes;
	u64 first_ts_ns, last_ts_ns;
};

/* By block type: kinds of records, the text in place of kind 0. */
#define N_BLOCKS   KVT_META
#define TEXT_BLOCK 0

struct kvt_writer {
	int fd; /* -1: the bytes go to sink */
	kvt_write_fn sink;
	void *sink_arg;
	int error; /* the first one; every later call returns it */
	bool busy;
	u64 *in_file; /* see kvt_count(), or NULL */
	struct block_buf block[N_BLOCKS];
	ZSTD_CCtx *zstd;
	u8 *planes; /* the records of a block, to be packed */
	u8 *packed; /* a block header and its stored payload */
	size_t packed_cap;
};

static int write_all(struct kvt_writer *w, const void *data, size_t n)
{
	const u8 *p = data;

	if (w->sink) {
		if (!w->error)
			w->error = w->sink(w->sink_arg, data, n);
		return w->error;
	}
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

/* What packs the payload best: a path is text, whose bytes belong together. */
static enum kvt_codec codec_of(const struct kvt_writer *w, const struct kvt_block *b)
{
	if (w->busy)
		return KVT_RAW;
	return b->record_bytes && b->type != EV_PATH ? KVT_PLANES : KVT_ZSTD;
}

static int write_block(struct kvt_writer *w, struct kvt_block *b, const void *payload)
{
	enum kvt_codec codec = codec_of(w, b);
	u8 *stored = w->packed + sizeof(*b);
	const void *from = payload;
	size_t n = 0;

	b->magic = KVT_BLOCK_MAGIC;
	b->codec = KVT_RAW;
	if (codec == KVT_PLANES) {
		planes_split(w->planes, payload, b->record_bytes, b->raw / b->record_bytes);
		from = w->planes;
	}
	if (codec != KVT_RAW) {
		n = ZSTD_compressCCtx(w->zstd, stored, w->packed_cap - sizeof(*b), from, b->raw,
				      codec == KVT_PLANES ? PLANES_LEVEL : ZSTD_LEVEL);
		if (!ZSTD_isError(n) && n < b->raw)
			b->codec = (u8)codec;
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

/* Writes the head with `meta`; takes over w. */
static int start(struct kvt_writer **out, struct kvt_writer *w, const json_t *meta)
{
	struct kvt_head head = { .magic = KVT_MAGIC, .version = KVT_VERSION };
	int ret;

	w->zstd = ZSTD_createCCtx();
	w->planes = malloc(BLOCK_BYTES);
	if (!w->zstd || !w->planes)
		w->error = -ENOMEM;
	else if (!packed_room(w, BLOCK_BYTES) && !write_all(w, &head, sizeof(head)))
		write_doc(w, KVT_META, meta);
	ret = w->error;
	if (ret)
		kvt_writer_close(w, NULL);
	else
		*out = w;
	return ret;
}

int kvt_writer_open(struct kvt_writer **out, int fd, const json_t *meta)
{
	struct kvt_writer *w = calloc(1, sizeof(*w));

	if (!w) {
		close(fd);
		return -ENOMEM;
	}
	w->fd = fd;
	return start(out, w, meta);
}

int kvt_writer_open_on(struct kvt_writer **out, kvt_write_fn sink, void *arg, const json_t *meta)
{
	struct kvt_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->fd = -1;
	w->sink = sink;
	w->sink_arg = arg;
	return start(out, w, meta);
}

static int flush_block(struct kvt_writer *w, u32 at)
{
	struct block_buf *bb = &w->block[at];
	struct kvt_block b = {
		.type = at == TEXT_BLOCK ? KVT_TEXT : (u8)at,
		.record_bytes = bb->record_bytes,
		.raw = bb->n,
		.first_ts_ns = bb->first_ts_ns,
		.last_ts_ns = bb->last_ts_ns,
	};

	if (bb->n && !w->error && !write_block(w, &b, bb->p) && w->in_file && b.record_bytes)
		*w->in_file += bb->n / b.record_bytes;
	bb->n = 0;
	return w->error;
}

/* A block, behind the names that it needs. */
static int flush_behind_names(struct kvt_writer *w, u32 at)
{
	/* A task needs the path of its cgroup. */
	flush_block(w, EV_PATH);
	flush_block(w, EV_TASK);
	flush_block(w, EV_DISK);
	return flush_block(w, at);
}

/* Appends to a block that has room for it. */
static void append(struct block_buf *bb, const void *data, size_t n, u64 ts_ns)
{
	if (!bb->n) {
		bb->first_ts_ns = bb->last_ts_ns = ts_ns;
	} else {
		bb->first_ts_ns = MIN(bb->first_ts_ns, ts_ns);
		bb->last_ts_ns = MAX(bb->last_ts_ns, ts_ns);
	}
	memcpy(bb->p + bb->n, data, n);
	bb->n += (u32)n;
}

static int write_record(struct kvt_writer *w, const void *record, size_t size, u64 ts_ns)
{
	u8 kind = *(const u8 *)record;
	struct block_buf *bb = &w->block[kind];

	if (__builtin_expect(!bb->p, 0)) {
		bb->p = malloc(BLOCK_BYTES);
		if (!bb->p)
			return w->error = -ENOMEM;
	}
	if (__builtin_expect(bb->n + size > BLOCK_BYTES || (bb->n && bb->record_bytes != size), 0))
		flush_behind_names(w, kind);
	bb->record_bytes = (u16)size;
	if (!w->error)
		append(bb, record, size, ts_ns);
	return w->error;
}

int kvt_write(struct kvt_writer *w, const void *record, size_t size, u64 ts_ns)
{
	u8 kind = *(const u8 *)record;

	if (__builtin_expect(w->error || !kind || kind >= EV_KINDS, 0))
		return w->error ? w->error : -EINVAL;
	return write_record(w, record, size, ts_ns);
}

int kvt_write_foreign(struct kvt_writer *w, const void *record, size_t size, u64 ts_ns)
{
	u8 kind = *(const u8 *)record;

	if (w->error || !kind || kind >= N_BLOCKS || size > UINT16_MAX)
		return w->error ? w->error : -EINVAL;
	return write_record(w, record, size, ts_ns);
}

/* A line that is larger than a block is one of its own. */
static int write_long_line(struct kvt_writer *w, const char *line, size_t n, u64 ts_ns)
{
	struct kvt_block b = { .type = KVT_TEXT, .raw = (u32)n + 1, .first_ts_ns = ts_ns, .last_ts_ns = ts_ns };
	char *text;

	if (n >= KVT_MAX_BLOCK)
		return w->error = -EFBIG;
	text = malloc(n + 1);
	if (!text)
		return w->error = -ENOMEM;
	memcpy(text, line, n);
	text[n] = '\n';
	if (!flush_block(w, TEXT_BLOCK) && !packed_room(w, n + 1))
		write_block(w, &b, text);
	free(text);
	return w->error;
}

int kvt_write_line(struct kvt_writer *w, const char *line, size_t n, u64 ts_ns)
{
	struct block_buf *bb = &w->block[TEXT_BLOCK];

	if (w->error)
		return w->error;
	if (n + 1 > BLOCK_BYTES)
		return write_long_line(w, line, n, ts_ns);
	if (!bb->p) {
		bb->p = malloc(BLOCK_BYTES);
		if (!bb->p)
			return w->error = -ENOMEM;
	}
	if (bb->n + n + 1 > BLOCK_BYTES && flush_block(w, TEXT_BLOCK))
		return w->error;
	append(bb, line, n, ts_ns);
	bb->p[bb->n++] = '\n';
	return 0;
}

int kvt_write_meta(struct kvt_writer *w, const json_t *doc)
{
	return w->error ? w->error : write_doc(w, KVT_META, doc);
}

int kvt_flush(struct kvt_writer *w)
{
	u32 at;

	flush_behind_names(w, TEXT_BLOCK);
	for (at = 1; at < N_BLOCKS; at++)
		flush_block(w, at);
	return w->error;
}

void kvt_count(struct kvt_writer *w, u64 *in_file)
{
	w->in_file = in_file;
}

void kvt_set_busy(struct kvt_writer *w, bool busy)
{
	w->busy = busy;
}

/* Delayed errors of the file system show up here; a pipe cannot sync. */
static void close_fd(struct kvt_writer *w)
{
	if (!w->error && fdatasync(w->fd) && errno != EINVAL && errno != EROFS)
		w->error = -errno;
	if (close(w->fd) && !w->error)
		w->error = -errno;
}

int kvt_writer_close(struct kvt_writer *w, const json_t *footer)
{
	int ret;
	u32 at;

	kvt_set_busy(w, false);
	if (!w->error)
		kvt_flush(w);
	if (!w->error && footer)
		write_doc(w, KVT_FOOTER, footer);
	if (w->fd >= 0)
		close_fd(w);
	ret = w->error;
	for (at = 0; at < N_BLOCKS; at++)
		free(w->block[at].p);
	ZSTD_freeCCtx(w->zstd);
	free(w->planes);
	free(w->packed);
	free(w);
	return ret;
}
