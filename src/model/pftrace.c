// SPDX-License-Identifier: Apache-2.0
/* Memory of the trace reader, and the file cut into packets. */
#include "model/pftrace.h"

#include <stdlib.h>

#include "lib/zio.h"
#include "model/pftrace_work.h"

#define TRACE_PACKET 1
#define CHUNK	     (256u << 10)
#define MAX_PACKET   (1u << 30)
#define MAX_KEYS     (1u << PF_TYPE_SHIFT)

static int account(struct pf_reading *r, u64 bytes)
{
	r->used += bytes;
	return r->max_bytes && r->used > r->max_bytes ? -EFBIG : 0;
}

int pf_grow(struct pf_reading *r, void *array, u32 *cap, u32 n, size_t size)
{
	u32 want = *cap < 64 ? 64 : *cap > NONE / 2 ? NONE - 1 : *cap * 2;
	void *p;
	int ret;

	if (n < *cap)
		return 0;
	if (n >= NONE - 1)
		return -EFBIG;
	ret = account(r, (u64)(want - *cap) * size);
	if (ret)
		return ret;
	memcpy(&p, array, sizeof(p));
	p = realloc(p, want * size);
	if (!p)
		return -ENOMEM;
	memcpy(array, &p, sizeof(p));
	*cap = want;
	return 0;
}

int pf_string(struct pftrace *t, const void *s, size_t n, u32 *id)
{
	u32 known = t->strings.n;

	*id = 0;
	if (!n)
		return 0;
	*id = strpool_add(&t->strings, s, n);
	if (!*id)
		return -ENOMEM;
	/* Entry, hash slot and text, with what their growth leaves free. */
	return *id > known ? account(t->reading, 2 * n + 48) : 0;
}

int pf_arg_set(struct pftrace *t)
{
	struct pf_args *a = &t->arg;
	int ret = pf_grow(t->reading, &a->start, &a->cap_sets, a->n_sets, sizeof(*a->start));

	if (!ret)
		a->start[a->n_sets++] = a->n;
	return ret;
}

int pf_arg_add(struct pftrace *t, u32 key, enum pf_arg_type type, u64 value)
{
	struct pf_args *a = &t->arg;
	u32 cap = a->cap;
	int ret = pf_grow(t->reading, &a->key, &cap, a->n, sizeof(*a->key));

	if (!ret)
		ret = pf_grow(t->reading, &a->value, &a->cap, a->n, sizeof(*a->value));
	if (ret)
		return ret;
	a->key[a->n] = key | (u32)type << PF_TYPE_SHIFT;
	a->value[a->n++] = value;
	return 0;
}

void pf_args_back(struct pftrace *t, u32 sets)
{
	if (sets >= t->arg.n_sets)
		return;
	t->arg.n = t->arg.start[sets];
	t->arg.n_sets = sets;
}

int pf_key_id(struct pftrace *t, const struct buf *key, const struct buf *flat, u32 *id)
{
	struct pf_reading *r = t->reading;
	struct pf_key k;
	bool is_new;
	u32 *at;
	int ret;

	if (key->failed || flat->failed)
		return -ENOMEM;
	ret = pf_string(t, key->p, key->n, &k.key);
	if (!ret)
		ret = pf_string(t, flat->p, flat->n, &k.flat);
	if (!ret)
		ret = pf_grow(r, &t->key, &r->cap_keys, t->n_keys, sizeof(*t->key));
	if (ret)
		return ret;
	at = map64_put(&r->key_at, (u64)k.flat << 32 | k.key, &is_new);
	if (!at)
		return -ENOMEM;
	if (is_new) {
		if (t->n_keys >= MAX_KEYS)
			return -EFBIG;
		*at = t->n_keys;
		t->key[t->n_keys++] = k;
	}
	*id = *at;
	return 0;
}

u32 pftrace_key(const struct pftrace *t, const char *key)
{
	u32 id = strpool_find(&t->strings, key, strlen(key)), i;

	for (i = 0; id && i < t->n_keys; i++)
		if (t->key[i].key == id)
			return i;
	return NONE;
}

u32 pftrace_arg(const struct pftrace *t, u32 set, u32 key)
{
	u32 i;

	if (set >= t->arg.n_sets || key == NONE)
		return NONE;
	for (i = t->arg.start[set]; i < t->arg.start[set + 1]; i++)
		if (PF_KEY(t->arg.key[i]) == key)
			return i;
	return NONE;
}

/* ---- packets out of bytes ---- */

/*
 * Takes one whole packet off [*p, end).  1 taken, 0 more bytes are needed,
 * -errno.  Damage sets `broken`: there is no way to find the next packet.
 */
static int take_packet(struct pftrace *t, struct pf_splitter *s, const u8 **p, const u8 *end)
{
	const u8 *at = *p;
	u64 key, len;
	u32 wire;
	int ret;

	if (!pbr_varint(&at, end, &key) || !pbr_varint(&at, end, &len)) {
		s->broken = end - *p >= 20;
		return 0;
	}
	wire = key & 7;
	if (!(key >> 3) || key >> 32 || (wire != WIRE_LEN && wire != WIRE_VARINT)) {
		s->broken = true;
		return 0;
	}
	if (wire == WIRE_VARINT) {
		*p = at;
		return 1;
	}
	if (key >> 3 != TRACE_PACKET) {
		/* Not ours, of any size. */
		s->skip = (size_t)MIN(len, (u64)SIZE_MAX);
		*p = at;
		return 1;
	}
	if (len > MAX_PACKET) {
		s->broken = true;
		return 0;
	}
	if (len > (size_t)(end - at))
		return 0;
	ret = pf_packet(t, at, (size_t)len, s->inner);
	if (ret)
		return ret;
	*p = at + len;
	return 1;
}

static int split(struct pftrace *t, struct pf_splitter *s, const u8 **p, const u8 *end)
{
	int ret = 1;

	while (ret > 0 && *p < end) {
		size_t n = MIN(s->skip, (size_t)(end - *p));

		s->skip -= n;
		*p += n;
		if (*p < end)
			ret = take_packet(t, s, p, end);
	}
	return ret < 0 ? ret : 0;
}

static int feed(struct pftrace *t, struct pf_splitter *s, const u8 *p, size_t n)
{
	const u8 *end = p + n, *at;
	int ret;

	/* A packet that began before: bytes are added until it is whole. */
	while (s->b.n && p < end && !s->broken) {
		size_t had = s->b.n, more = MIN((size_t)(end - p), MAX(had, (size_t)4096));

		buf_add(&s->b, p, more);
		if (s->b.failed)
			return -ENOMEM;
		at = (const u8 *)s->b.p;
		ret = split(t, s, &at, at + s->b.n);
		if (ret)
			return ret;
		p += more;
		if (at == (const u8 *)s->b.p)
			continue;
		/* What was taken ends in the new bytes, so what is left is of them. */
		p -= (const u8 *)s->b.p + s->b.n - at;
		buf_reset(&s->b);
	}
	if (s->broken || p == end)
		return 0;
	ret = split(t, s, &p, end);
	if (!ret && !s->broken)
		buf_add(&s->b, p, (size_t)(end - p));
	return ret ? ret : s->b.failed ? -ENOMEM : 0;
}

/* The packets in a packet: deflate of packets back to back. */
int pf_inflate(struct pftrace *t, const u8 *p, size_t n)
{
	struct pf_splitter inner = { .inner = true };
	static const u32 chunk = 64u << 10;
	z_stream z = {};
	int ret = 0, zret = Z_OK;
	u8 *out;

	if (n > UINT32_MAX)
		return -EBADMSG;
	out = malloc(chunk);
	if (!out || inflateInit(&z) != Z_OK) {
		free(out);
		return -ENOMEM;
	}
	z.next_in = (u8 *)p;
	z.avail_in = (u32)n;
	while (!ret && zret == Z_OK) {
		z.next_out = out;
		z.avail_out = chunk;
		zret = inflate(&z, Z_NO_FLUSH);
		ret = feed(t, &inner, out, chunk - z.avail_out);
	}
	if (!ret && (zret != Z_STREAM_END || inner.broken || inner.b.n || inner.skip))
		ret = -EBADMSG;
	inflateEnd(&z);
	buf_free(&inner.b);
	free(out);
	return ret;
}

int pftrace_feed(struct pftrace *t, const void *data, size_t n)
{
	struct pf_splitter *s = &t->reading->file;

	return s->broken ? 0 : feed(t, s, data, n);
}

/* ---- the whole ---- */

int pftrace_init(struct pftrace *t, u64 max_bytes)
{
	*t = (struct pftrace){ .reading = calloc(1, sizeof(*t->reading)) };
	if (!t->reading)
		return -ENOMEM;
	t->reading->max_bytes = max_bytes;
	t->reading->last_track = NONE;
	return 0;
}

static void reading_free(struct pf_reading *r)
{
	u32 i;

	if (!r)
		return;
	for (i = 0; i < r->n_sequences; i++)
		pf_sequence_free(r->sequence[i]);
	free(r->sequence);
	map64_free(&r->sequence_at);
	map64_free(&r->track_at);
	map64_free(&r->key_at);
	free(r->clock);
	free(r->track);
	buf_free(&r->file.b);
	buf_free(&r->key);
	buf_free(&r->flat);
	free(r->event.ts);
	free(r->event.track);
	free(r->event.what);
	free(r->event.kind);
	free(r->end);
	free(r->flow_op);
	free(r);
}

int pftrace_finish(struct pftrace *t)
{
	struct pf_splitter *s = &t->reading->file;
	int ret = 0;

	if (s->broken || s->b.n || s->skip) {
		t->count.cut = true;
		t->count.defect = s->broken ? "the trace is damaged: no packet where one should begin"
					    : "the trace ends in the middle of a packet";
	}
	if (t->count.packets == t->count.malformed)
		ret = -EBADMSG;
	if (!ret)
		ret = pf_build(t);
	reading_free(t->reading);
	t->reading = NULL;
	return ret;
}

int pftrace_load(struct pftrace *t, const char *path)
{
	struct zin *z;
	const char *defect;
	ssize_t n;
	u8 *chunk;
	int ret = zin_open(&z, path);

	if (ret)
		return ret;
	chunk = malloc(CHUNK);
	if (!chunk)
		ret = -ENOMEM;
	while (!ret && (n = zin_read(z, chunk, CHUNK)) != 0)
		ret = n < 0 ? (int)n : pftrace_feed(t, chunk, (size_t)n);
	free(chunk);
	defect = zin_defect(z);
	zin_close(z);
	if (!ret)
		ret = pftrace_finish(t);
	if (!ret && defect) {
		t->count.cut = true;
		t->count.defect = defect;
	}
	return ret;
}

void pftrace_free(struct pftrace *t)
{
	reading_free(t->reading);
	strpool_free(&t->strings);
	free(t->track);
	free(t->process);
	free(t->thread);
	free(t->slice.ts);
	free(t->slice.dur);
	free(t->slice.track);
	free(t->slice.name);
	free(t->slice.category);
	free(t->slice.args);
	free(t->slice.parent);
	free(t->slice.depth);
	free(t->counter.ts);
	free(t->counter.value);
	free(t->counter.track);
	free(t->arg.key);
	free(t->arg.value);
	free(t->arg.start);
	free(t->key);
	free(t->flow.out);
	free(t->flow.in);
	free(t->flow.id);
	*t = (struct pftrace){};
}

bool pftrace_sniff(const void *data, size_t n)
{
	const u8 *p = data, *end = p + n;
	u64 key, len, inner;

	if (!pbr_varint(&p, end, &key) || key != (TRACE_PACKET << 3 | WIRE_LEN) || !pbr_varint(&p, end, &len) || !len)
		return false;
	/* Text can begin with an empty line: 0x0a, and '{' as a length, but then comes a quote. */
	if (p >= end || *p == '"' || !pbr_varint(&p, end, &inner))
		return false;
	return inner >> 3 && !(inner >> 32) && ((inner & 7) <= WIRE_LEN || (inner & 7) == WIRE_FIXED32);
}
