// SPDX-License-Identifier: Apache-2.0
#include "store/work.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/pattern.h"

#define POISON 0xbadc0ffee0ddf00dull
#define PAGE   4096u

int work_init(struct work *w)
{
	w->ops = calloc(w->rig->n_buffers, sizeof(*w->ops));
	w->of_op = calloc(w->rig->n_buffers, sizeof(*w->of_op));
	w->nonce = clock_ns(CLOCK_REALTIME);
	return w->ops && w->of_op ? 0 : -ENOMEM;
}

void work_free(struct work *w)
{
	free(w->ops);
	free(w->of_op);
	free(w->of[0].lat_ns);
	free(w->of[1].lat_ns);
	free(w->manifest_of);
}

/* ---- data ---- */

static u64 seed_of(const struct work_object *o, u64 nonce)
{
	return kv_identity(o->key, o->key_len) ^ hash_u64(nonce);
}

/* The bytes behind the last whole word. */
static u8 tail_byte(const struct work_object *o, u64 nonce, u64 at)
{
	return (u8)(hash_u64(seed_of(o, nonce) + at / 8) >> 8 * (at % 8));
}

/* The run's nonce when there is room for it, then what follows from it, the key, and the place. */
static void fill(const struct work *w, const struct work_object *o, u8 *payload)
{
	u64 whole = o->bytes / 8 * 8, nonce = whole ? w->nonce : 0, at;

	if (whole) {
		memcpy(payload, &nonce, 8);
		pattern_fill(payload + 8, whole - 8, seed_of(o, nonce));
	}
	for (at = whole; at < o->bytes; at++)
		payload[at] = tail_byte(o, nonce, at);
}

/* What a read leaves out must not look right because it was there before. */
static void poison(u8 *payload, u64 bytes)
{
	const u64 word = POISON;
	u64 at;

	for (at = 0; at + 8 <= bytes; at += PAGE)
		memcpy(payload + at, &word, 8);
	for (at = bytes > 16 ? bytes - 16 : 0; at < bytes; at++)
		payload[at] = (u8)~payload[at];
}

/* Of an earlier run as well: the nonce is read back. */
static void check(struct work *w, const struct work_object *o, u64 bytes, const u8 *payload)
{
	u64 whole = bytes / 8 * 8, nonce = 0, good = 0;

	if (whole) {
		memcpy(&nonce, payload, 8);
		good = 8 + pattern_check(payload + 8, whole - 8, seed_of(o, nonce));
	}
	while (good >= whole && good < bytes && payload[good] == tail_byte(o, nonce, good))
		good++;
	if (good == bytes)
		return;
	if (!w->wrong++) {
		size_t n = MIN(o->key_len, sizeof(w->wrong_key) - 1);

		memcpy(w->wrong_key, o->key, n);
		w->wrong_key[n] = '\0';
		w->wrong_at = good;
	}
}

/* ---- accounts ---- */

static void count_error(struct work *w, s32 res)
{
	u32 i = 0;

	while (i < w->n_errors && w->error[i].res != res)
		i++;
	if (i == ARRAY_SIZE(w->error))
		i--;
	else if (i == w->n_errors)
		w->error[w->n_errors++].res = res;
	w->error[i].n++;
}

static int add_latency(struct work_side *s, u64 ns)
{
	if (s->objects == s->cap) {
		u64 cap = MAX(256ull, s->cap * 2);
		u64 *p = reallocarray(s->lat_ns, cap, sizeof(*p));

		if (!p)
			return -ENOMEM;
		s->lat_ns = p;
		s->cap = cap;
	}
	s->lat_ns[s->objects++] = ns;
	return 0;
}

/* The manifest's number of an object, made when it is new; UINT32_MAX = no memory. */
static u32 manifest_object(struct work *w, const struct work_object *o, u32 key)
{
	struct kv_manifest *m = w->manifest;
	struct kv_object *object;

	if (key >= w->n_manifest_of) {
		u32 n = MAX(256u, key * 2), *p = reallocarray(w->manifest_of, n, sizeof(*p));

		if (!p)
			return UINT32_MAX;
		memset(p + w->n_manifest_of, 0, (n - w->n_manifest_of) * sizeof(*p));
		w->manifest_of = p;
		w->n_manifest_of = n;
	}
	if (w->manifest_of[key])
		return w->manifest_of[key] - 1;
	object = kv_manifest_add_object(m);
	if (!object)
		return UINT32_MAX;
	object->key = object->object_id = strpool_add(&m->strings, o->key, o->key_len);
	object->part = strpool_add(&m->strings, "kv", 2);
	object->flags = KV_OBJECT_RANK;
	object->kv_rank = o->rank;
	object->payload_bytes = o->bytes;
	w->manifest_of[key] = m->n_objects;
	return object->key && object->part ? m->n_objects - 1 : UINT32_MAX;
}

static int note_manifest(struct work *w, enum kv_manifest_op op, const struct work_object *o, u32 key, u64 start_ns,
			 u64 end_ns)
{
	struct kv_operation *did;
	u32 number;

	if (!w->manifest)
		return 0;
	number = manifest_object(w, o, key);
	did = number == UINT32_MAX ? NULL : kv_manifest_add_operation(w->manifest);
	if (!did)
		return -ENOMEM;
	if (!w->first_ns)
		w->first_ns = start_ns;
	kv_object_did(&w->manifest->object[number], op);
	*did = (struct kv_operation){
		.object = number,
		.op = (u8)op,
		.at_ns = start_ns > w->first_ns ? start_ns - w->first_ns : 0,
		.took_ns = end_ns - start_ns,
		.bytes = op == KV_DO_DELETE ? 0 : w->manifest->object[number].payload_bytes,
	};
	w->manifest->has_times = true;
	return 0;
}

static void note_emit(struct work *w, const char *op, const struct work_object *o, const struct batch_op *b,
		      u64 request)
{
	const struct emit_op e = {
		.op = op,
		.trace_id = b->trace_id,
		.key = o->key,
		.key_len = o->key_len,
		.bytes = b->payload_bytes,
		.slot_offset = b->offset,
		.start_ns = b->start_ns,
		.end_ns = b->end_ns ? b->end_ns : b->start_ns,
		.kv_rank = o->rank,
		.res = b->res,
		.shape = w->shape,
		.dtype = w->dtype,
		.request = request,
	};

	if (w->emit && b->start_ns)
		emit_op(w->emit, &e);
}

static int account(struct work *w, enum kv_op op, const struct work_object *o, const struct batch_op *b, u64 request)
{
	struct work_side *s = &w->of[op];
	int ret = 0;

	note_emit(w, kv_op_name(op), o, b, request);
	w->rig->store.index.entry[b->key].idle = false;
	if (b->res) {
		if (b->res == -ECANCELED) {
			s->undone++;
			return 0;
		}
		s->failed++;
		count_error(w, b->res);
		return 0;
	}
	ret = note_manifest(w, op == KV_STORE ? KV_DO_STORE : KV_DO_LOAD, o, b->key, b->start_ns, b->end_ns);
	if (w->verify && op == KV_LOAD)
		check(w, o, b->payload_bytes, b->mem + b->header_bytes);
	if (!w->counting)
		return ret;
	s->bytes += b->payload_bytes;
	s->commands += b->plan.commands;
	return ret ? ret : add_latency(s, b->end_ns - b->start_ns);
}

/* ---- operations ---- */

int work_delete(struct work *w, const struct work_object *o, u64 request)
{
	struct store *s = &w->rig->store;
	u32 key = index_find(&s->index, o->key, o->key_len);
	struct batch_op b = { .key = key, .trace_id = (u32)s->next_trace_id };
	int ret;

	if (!key)
		return 0;
	b.offset = kv_slot_offset(&s->o.layout, s->index.entry[key].slot);
	b.payload_bytes = s->index.entry[key].bytes;
	b.start_ns = clock_ns(CLOCK_MONOTONIC);
	ret = store_delete(s, o->key, o->key_len);
	b.end_ns = clock_ns(CLOCK_MONOTONIC);
	if (ret)
		return ret;
	/* Its id is its own, though no command has it. */
	s->next_trace_id++;
	w->deleted++;
	note_emit(w, "delete", o, &b, request);
	return note_manifest(w, KV_DO_DELETE, o, key, b.start_ns, b.end_ns);
}

/* A store that found no room has it when something goes that this run knows nothing of. */
static int put_or_evict(struct work *w, struct batch_op *b, const struct work_object *o, u8 *mem)
{
	struct store *s = &w->rig->store;
	int ret = store_put(s, b, o->key, o->key_len, o->bytes, mem);
	u32 id;

	while (ret == -ENOSPC && w->evict && (id = index_idle(&s->index))) {
		const struct work_object old = { .key = strpool_get(&s->index.keys, id),
						 .bytes = s->index.entry[id].bytes,
						 .key_len = strpool_len(&s->index.keys, id) };

		ret = work_delete(w, &old, 0);
		if (!ret)
			ret = store_put(s, b, o->key, o->key_len, o->bytes, mem);
	}
	return ret;
}

/* 1 when the object takes part in the batch, 0 when it does not, -errno. */
static int prepare(struct work *w, enum kv_op op, const struct work_object *o, u32 i)
{
	struct work_side *s = &w->of[op];
	struct rig *r = w->rig;
	struct batch_op *b = &w->ops[i];
	u8 *mem = rig_mem(r, i);
	int ret;

	if (op == KV_STORE && o->bytes > r->o.payload_bytes)
		ret = -EFBIG;
	else if (op == KV_STORE) {
		if (w->verify)
			fill(w, o, mem + r->o.header_bytes);
		ret = put_or_evict(w, b, o, mem);
	} else {
		ret = store_load(&r->store, b, o->key, o->key_len, mem);
		/* What was recovered may be larger than what this run stores. */
		if (!ret && b->payload_bytes > r->o.payload_bytes)
			ret = -EFBIG;
		if (!ret && w->verify)
			poison(mem + b->header_bytes, b->payload_bytes);
	}
	w->of_op[i] = o;
	if (!ret)
		return 1;
	if (ret == -ENOMEM || ret == -ERANGE)
		return ret;
	if (ret == -ENOENT && op == KV_LOAD)
		s->missed++;
	else if (ret == -EEXIST || (ret == -EBUSY && op == KV_STORE)) {
		r->store.index.entry[index_key(&r->store.index, o->key, o->key_len)].idle = false;
		s->known++;
	} else {
		s->failed++;
		count_error(w, ret);
	}
	return 0;
}

int work_checkpoint(struct work *w)
{
	struct batch_sums *sums = calloc(1, sizeof(*sums));
	u64 before = w->rig->store.seq;
	int ret = sums ? store_checkpoint(&w->rig->store, w->rig->worker[0].q, sums) : -ENOMEM;

	free(sums);
	w->checkpoints += w->rig->store.seq != before;
	if (ret && !w->checkpoint_res)
		w->checkpoint_res = ret;
	return ret;
}

/* Between calls nothing is in flight, so what is in the index is on the device.  0 or -ETIME. */
static int checkpoint_if_due(struct work *w)
{
	u64 now = w->checkpoint_every_ns ? clock_ns(CLOCK_MONOTONIC) : 0;

	if (!now || now < w->next_checkpoint_ns)
		return 0;
	/* One that does not fit, or fails, is told at the end; a hanging one ends the run. */
	if (w->next_checkpoint_ns && work_checkpoint(w) == -ETIME)
		return -ETIME;
	w->next_checkpoint_ns = clock_ns(CLOCK_MONOTONIC) + w->checkpoint_every_ns;
	return 0;
}

int work_do(struct work *w, enum kv_op op, const struct work_object *o, u32 n, u64 request)
{
	u32 at = 0, k, i;
	int ret = 0;

	while (at < n && !ret && !*w->stop) {
		u64 before;

		for (k = 0; at < n && k < w->rig->n_buffers && ret >= 0; at++) {
			ret = prepare(w, op, &o[at], k);
			k += ret == 1;
		}
		if (ret < 0)
			return ret;
		before = clock_ns(CLOCK_MONOTONIC);
		ret = rig_run(w->rig, w->ops, k, w->stop);
		if (w->counting)
			w->of[op].busy_ns += clock_ns(CLOCK_MONOTONIC) - before;
		for (i = 0; i < k; i++) {
			int error = account(w, op, w->of_op[i], &w->ops[i], request);

			ret = ret ? ret : error;
		}
		if (!ret)
			ret = checkpoint_if_due(w);
	}
	return ret;
}

/* Takes in what became of a load of work_check_stored(). */
static int judge(struct work *w, const struct work_object *o, const struct batch_op *b, struct work_checked *c)
{
	note_emit(w, "load", o, b, 0);
	if (b->res == -EBADMSG || b->res == -EILSEQ) {
		c->torn++;
		return store_delete(&w->rig->store, o->key, o->key_len);
	}
	if (b->res) {
		c->failed++;
		count_error(w, b->res);
		return 0;
	}
	c->whole++;
	if (w->verify)
		check(w, o, b->payload_bytes, b->mem + b->header_bytes);
	return 0;
}

int work_check_stored(struct work *w, struct work_checked *c)
{
	const struct store_index *x = &w->rig->store.index;
	struct work_object *object = calloc(w->rig->n_buffers, sizeof(*object));
	u32 id = 1, k, i;
	int ret = object ? 0 : -ENOMEM;

	*c = (struct work_checked){};
	while (!ret && id <= x->keys.n && !*w->stop) {
		for (k = 0; id <= x->keys.n && k < w->rig->n_buffers; id++) {
			if (x->entry[id].state != ENTRY_STORED)
				continue;
			object[k] = (struct work_object){ .key = strpool_get(&x->keys, id),
							  .key_len = strpool_len(&x->keys, id),
							  .bytes = x->entry[id].bytes };
			ret = prepare(w, KV_LOAD, &object[k], k);
			if (ret < 0)
				goto out;
			c->failed += !ret;
			k += (u32)ret;
		}
		ret = rig_run(w->rig, w->ops, k, w->stop);
		for (i = 0; i < k && !ret; i++)
			ret = judge(w, &object[i], &w->ops[i], c);
	}
out:
	free(object);
	return ret;
}
