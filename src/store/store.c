// SPDX-License-Identifier: Apache-2.0
#include "store/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Where the payload's sum is in a slot's header, if it has one. */
#define SUM_MAGIC "KVIOSUM1"
#define SUM_AT	  KV_SLOT_HEADER
#define SUM_BYTES 12u

void store_init(struct store *s, const struct store_options *o)
{
	*s = (struct store){ .o = *o, .next_trace_id = 1 };
	index_init(&s->index, &o->layout);
	s->how = (struct batch_how){
		.xfer = o->xfer,
		.align = o->layout.block_align,
		.header_last = o->header_last,
		.timeout_ns = o->timeout_ns,
		.counter = &s->counter,
	};
}

void store_free(struct store *s)
{
	index_free(&s->index);
}

int store_mem_bytes(const struct store *s, u64 payload, u64 *bytes)
{
	int ret = kv_round_up(payload, s->o.layout.block_align, bytes);

	return ret || __builtin_add_overflow(*bytes, s->o.layout.header_bytes, bytes) ? -EOVERFLOW : 0;
}

static u32 sum_of(const struct batch_op *o)
{
	return (u32)crc32_z(0, o->mem + o->header_bytes, o->payload_bytes);
}

static void put_header(const struct store *s, const struct batch_op *o, u64 identity)
{
	const struct kv_slot_header h = { .identity = identity, .payload_bytes = o->payload_bytes };
	u32 sum;

	memset(o->mem, 0, o->header_bytes);
	kv_slot_header_put(o->mem, &h);
	if (!s->o.payload_sum || o->header_bytes < SUM_AT + SUM_BYTES)
		return;
	sum = sum_of(o);
	memcpy(o->mem + SUM_AT, SUM_MAGIC, 8);
	o->mem[SUM_AT + 8] = (u8)sum;
	o->mem[SUM_AT + 9] = (u8)(sum >> 8);
	o->mem[SUM_AT + 10] = (u8)(sum >> 16);
	o->mem[SUM_AT + 11] = (u8)(sum >> 24);
}

/* 0, -EBADMSG, -EILSEQ. */
static int check_header(const struct store *s, const u8 *header, u64 identity, u64 payload, const struct batch_op *o)
{
	struct kv_slot_header h;
	const u8 *sum = header + SUM_AT;

	if (kv_slot_header_get(&h, header) || h.identity != identity || h.payload_bytes != payload)
		return -EBADMSG;
	if (!o || !s->o.payload_sum || o->header_bytes < SUM_AT + SUM_BYTES || memcmp(sum, SUM_MAGIC, 8))
		return 0;
	return sum_of(o) == ((u32)sum[8] | (u32)sum[9] << 8 | (u32)sum[10] << 16 | (u32)sum[11] << 24) ? 0 : -EILSEQ;
}

static u64 identity_of(const struct store *s, u32 key)
{
	return kv_identity(strpool_get(&s->index.keys, key), strpool_len(&s->index.keys, key));
}

static struct batch_op make_op(struct store *s, enum kv_op op, u32 key, u8 *mem)
{
	const struct entry *e = &s->index.entry[key];

	return (struct batch_op){
		.op = (u8)op,
		.trace_id = (u32)s->next_trace_id++,
		.key = key,
		.offset = kv_slot_offset(&s->o.layout, e->slot),
		.header_bytes = s->o.layout.header_bytes,
		.payload_bytes = e->bytes,
		.mem = mem,
	};
}

int store_put(struct store *s, struct batch_op *o, const char *key, size_t n, u64 payload, u8 *mem)
{
	u64 padded = 0;
	u32 id;
	int ret;

	if (s->next_trace_id > UINT32_MAX)
		return -ERANGE;
	id = index_key(&s->index, key, n);
	if (!id)
		return -ENOMEM;
	ret = index_begin(&s->index, id, payload);
	if (ret)
		return ret;
	*o = make_op(s, KV_STORE, id, mem);
	/* What pads the payload goes to the device as well: nothing of an earlier object. */
	kv_round_up(payload, s->o.layout.block_align, &padded);
	memset(mem + o->header_bytes + payload, 0, padded - payload);
	put_header(s, o, identity_of(s, id));
	return 0;
}

int store_load(struct store *s, struct batch_op *o, const char *key, size_t n, u8 *mem)
{
	u32 id = index_find(&s->index, key, n);

	if (!id)
		return -ENOENT;
	if (s->next_trace_id > UINT32_MAX)
		return -ERANGE;
	*o = make_op(s, KV_LOAD, id, mem);
	o->with_header = s->o.check_header || s->o.payload_sum;
	return 0;
}

int store_end(struct store *s, struct batch_op *ops, u32 n)
{
	bool failed = false;
	int ret = 0;
	u32 i;

	for (i = 0; i < n; i++)
		failed |= ops[i].op == KV_STORE && ops[i].res;
	for (i = 0; i < n; i++) {
		struct batch_op *o = &ops[i];

		if (o->op == KV_LOAD) {
			if (!o->res && o->with_header)
				o->res = check_header(s, o->mem, identity_of(s, o->key), o->payload_bytes, o);
		} else if (failed) {
			if (!o->res)
				o->res = -ECANCELED;
			ret = index_drop(&s->index, o->key) ? -ENOMEM : ret;
		} else {
			index_commit(&s->index, o->key);
			s->dirty = true;
		}
	}
	return ret;
}

void store_clear(struct store *s)
{
	index_free(&s->index);
	index_init(&s->index, &s->o.layout);
	s->dirty = true;
}

int store_delete(struct store *s, const char *key, size_t n)
{
	u32 id = index_find(&s->index, key, n);

	if (!id)
		return -ENOENT;
	s->dirty = true;
	return index_drop(&s->index, id);
}

/* ---- checkpoints ---- */

static const volatile sig_atomic_t never;

/* One operation without a tag, that nobody else waits for.  Its first error. */
static int run_alone(struct store *s, struct io_queue *q, struct batch_op *o, struct batch_sums *sums)
{
	struct batch_how how = s->how;
	int ret;

	how.objects = how.window = 0;
	how.header_last = false;
	ret = batch_run(q, o, 1, 0, 1, &how, sums, &never);
	return ret ? ret : o->res;
}

static u64 container_offset(const struct store *s, u32 container)
{
	return container * s->o.layout.container_bytes;
}

struct container {
	struct kv_ckpt_header h;
	u8 *mem; /* header block and payload */
	u64 bytes;
	bool sound;
};

/* Reads `bytes` bytes behind the header block of a container; the header itself when 0. */
static int read_container(struct store *s, struct io_queue *q, u32 which, struct container *c, struct batch_sums *sums)
{
	const struct kv_layout *l = &s->o.layout;
	struct batch_op op = { .op = KV_LOAD, .offset = container_offset(s, which), .payload_bytes = l->block_align };
	bool huge = false;
	int ret;

	c->bytes = l->container_bytes;
	c->mem = io_buffer_alloc(c->bytes, &huge);
	if (!c->mem)
		return -ENOMEM;
	op.mem = c->mem;
	ret = run_alone(s, q, &op, sums);
	if (ret || kv_ckpt_header_get(&c->h, c->mem) || c->h.version != KV_CKPT_VERSION || !c->h.payload_bytes ||
	    c->h.payload_bytes > l->container_payload)
		return ret;
	op.offset += l->block_align;
	op.mem += l->block_align;
	op.payload_bytes = c->h.payload_bytes;
	ret = run_alone(s, q, &op, sums);
	if (!ret)
		c->sound = (u32)crc32_z(0, op.mem, c->h.payload_bytes) == c->h.crc;
	return ret;
}

static bool newer(const struct container *a, const struct container *b)
{
	return a->sound && (!b->sound || a->h.seq > b->h.seq);
}

/* Reads both; -errno or the first error of a command.  Free in any case but -ETIME. */
static int read_containers(struct store *s, struct io_queue *q, struct container c[2], struct batch_sums *sums)
{
	int ret = 0;
	u32 i;

	for (i = 0; i < 2 && !ret; i++)
		ret = read_container(s, q, i, &c[i], sums);
	if (!ret)
		s->seq = MAX(c[0].sound ? c[0].h.seq : 0, c[1].sound ? c[1].h.seq : 0);
	s->seq_known = !ret;
	return ret;
}

static void free_containers(struct container c[2], int ret)
{
	u32 i;

	for (i = 0; i < 2 && ret != -ETIME; i++)
		io_buffer_free(c[i].mem, c[i].bytes);
}

/* A store that began empty: what it writes has to be newer than what an earlier one left. */
static int find_seq(struct store *s, struct io_queue *q, struct batch_sums *sums)
{
	struct container c[2] = {};
	int ret = read_containers(s, q, c, sums);

	free_containers(c, ret);
	return ret;
}

int store_checkpoint(struct store *s, struct io_queue *q, struct batch_sums *sums)
{
	const struct kv_layout *l = &s->o.layout;
	struct batch_op op = { .op = KV_STORE, .header_bytes = l->block_align };
	struct kv_ckpt_header h = { .version = KV_CKPT_VERSION };
	struct buf b = {};
	bool huge = false;
	u64 bytes = 0;
	int ret;

	if (!s->dirty)
		return 0;
	ret = s->seq_known ? 0 : find_seq(s, q, sums);
	if (ret)
		return ret;
	h.seq = s->seq + 1;
	index_write(&s->index, &b, s->o.device_path);
	ret = b.failed ? -ENOMEM : b.n > l->container_payload ? -EFBIG : 0;
	if (ret)
		goto out;
	kv_round_up(b.n, l->block_align, &bytes);
	bytes += l->block_align;
	op.mem = io_buffer_alloc(bytes, &huge);
	if (!op.mem) {
		ret = -ENOMEM;
		goto out;
	}
	h.payload_bytes = op.payload_bytes = b.n;
	h.crc = (u32)crc32_z(0, (const u8 *)b.p, b.n);
	kv_ckpt_header_put(op.mem, &h);
	memcpy(op.mem + l->block_align, b.p, b.n);
	op.offset = container_offset(s, kv_ckpt_container(h.seq));
	ret = run_alone(s, q, &op, sums);
	if (!ret) {
		s->seq = h.seq;
		s->dirty = false;
	}
	if (ret != -ETIME) /* else the device may still read it */
		io_buffer_free(op.mem, bytes);
out:
	buf_free(&b);
	return ret;
}

/* Drops the objects whose slot has the header of another one, or none. */
static int verify_slots(struct store *s, struct io_queue *q, struct store_recovery *r, struct batch_sums *sums)
{
	const struct kv_layout *l = &s->o.layout;
	bool huge = false;
	u8 *mem = io_buffer_alloc(l->header_bytes, &huge);
	int ret = mem ? 0 : -ENOMEM;
	u32 id;

	for (id = 1; id <= s->index.keys.n && !ret; id++) {
		struct entry *e = &s->index.entry[id];
		struct batch_op op = { .op = KV_LOAD, .payload_bytes = l->header_bytes, .mem = mem };

		if (e->state != ENTRY_STORED)
			continue;
		op.offset = kv_slot_offset(l, e->slot);
		ret = run_alone(s, q, &op, sums);
		if (ret || !check_header(s, mem, identity_of(s, id), e->bytes, NULL))
			continue;
		r->dropped++;
		s->dirty = true;
		ret = index_drop(&s->index, id);
	}
	if (ret != -ETIME)
		io_buffer_free(mem, l->header_bytes);
	return ret;
}

int store_recover(struct store *s, struct io_queue *q, bool verify, struct store_recovery *r, char *why)
{
	struct container c[2] = {};
	struct batch_sums *sums = calloc(1, sizeof(*sums));
	struct index_read read;
	int ret = sums ? 0 : -ENOMEM, newest;

	*r = (struct store_recovery){};
	if (!ret)
		ret = read_containers(s, q, c, sums);
	r->sound = c[0].sound + c[1].sound;
	if (ret || !r->sound)
		goto out;
	newest = newer(&c[1], &c[0]);
	ret = index_parse(&s->index, (const char *)c[newest].mem + s->o.layout.block_align, c[newest].h.payload_bytes,
			  s->o.device_path, &read, why);
	if (ret)
		goto out;
	r->seq = c[newest].h.seq;
	r->bad = read.bad;
	r->renamed = !read.device_path;
	if (verify)
		ret = verify_slots(s, q, r, sums);
	r->objects = s->index.n_stored;
out:
	free_containers(c, ret);
	free(sums);
	return ret;
}
