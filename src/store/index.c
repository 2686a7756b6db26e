// SPDX-License-Identifier: Apache-2.0
#include "store/index.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

void index_init(struct store_index *x, const struct kv_layout *l)
{
	*x = (struct store_index){ .layout = *l };
}

void index_free(struct store_index *x)
{
	strpool_free(&x->keys);
	strpool_free(&x->texts);
	free(x->entry);
	free(x->freed);
	*x = (struct store_index){};
}

u32 index_key(struct store_index *x, const char *key, size_t n)
{
	u32 id = strpool_add(&x->keys, key, n);

	if (id >= x->cap) {
		u32 cap = MAX(64u, id * 2);
		struct entry *e = reallocarray(x->entry, cap, sizeof(*e));

		if (!e)
			return 0;
		memset(e + x->cap, 0, (cap - x->cap) * sizeof(*e));
		x->entry = e;
		x->cap = cap;
	}
	return id;
}

u32 index_find(const struct store_index *x, const char *key, size_t n)
{
	u32 id = strpool_find(&x->keys, key, n);

	return id && x->entry[id].state == ENTRY_STORED ? id : 0;
}

int index_begin(struct store_index *x, u32 id, u64 bytes)
{
	struct entry *e = &x->entry[id];

	if (e->state != ENTRY_ABSENT)
		return e->state == ENTRY_STORED ? -EEXIST : -EBUSY;
	if (!bytes || bytes > x->layout.slot_bytes - x->layout.header_bytes)
		return -EFBIG;
	if (!x->n_freed && x->next_slot >= x->layout.slots)
		return -ENOSPC;
	*e = (struct entry){ .bytes = bytes, .state = ENTRY_WRITING };
	e->slot = x->n_freed ? x->freed[--x->n_freed] : x->next_slot++;
	return 0;
}

void index_commit(struct store_index *x, u32 id)
{
	x->entry[id].state = ENTRY_STORED;
	x->n_stored++;
}

static int add_freed(struct store_index *x, u64 slot)
{
	if (x->n_freed == x->cap_freed) {
		u64 cap = MAX(64ull, x->cap_freed * 2);
		u64 *p = reallocarray(x->freed, cap, sizeof(*p));

		if (!p)
			return -ENOMEM;
		x->freed = p;
		x->cap_freed = cap;
	}
	x->freed[x->n_freed++] = slot;
	return 0;
}

int index_drop(struct store_index *x, u32 id)
{
	struct entry *e = &x->entry[id];

	if (e->state == ENTRY_ABSENT)
		return 0;
	if (e->state == ENTRY_STORED)
		x->n_stored--;
	e->state = ENTRY_ABSENT;
	return add_freed(x, e->slot);
}

u32 index_idle(struct store_index *x)
{
	for (x->next_idle = MAX(x->next_idle, 1u); x->next_idle <= x->keys.n; x->next_idle++) {
		const struct entry *e = &x->entry[x->next_idle];

		if (e->state == ENTRY_STORED && e->idle)
			return x->next_idle;
	}
	return 0;
}

/* ---- the checkpoint ---- */

/* JSON in ASCII only; most keys are ASCII as they are. */
static void put_ascii(struct buf *b, const char *s, size_t n)
{
	char *text = NULL;
	json_t *j;
	size_t i;

	for (i = 0; i < n && (u8)s[i] < 0x80; i++)
		;
	if (i == n) {
		buf_json(b, s, n);
		return;
	}
	j = json_stringn(s, n); /* NULL when it is no UTF-8: then byte by byte */
	if (j)
		text = json_dumps(j, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
	if (text)
		buf_str(b, text);
	else
		buf_json(b, s, n);
	free(text);
	json_decref(j);
}

static void put_text(struct buf *b, const struct store_index *x, const char *name, u32 id)
{
	buf_printf(b, ",\"%s\":", name);
	if (id)
		buf_str(b, strpool_get(&x->texts, id));
	else
		buf_lit(b, "null");
}

void index_write(const struct store_index *x, struct buf *b, const char *device_path)
{
	const struct kv_layout *l = &x->layout;
	bool first = true;
	u32 id;

	buf_lit(b, "{\"version\":1,\"device_path\":");
	put_ascii(b, device_path, strlen(device_path));
	buf_printf(b,
		   ",\"capacity_bytes\":%llu,\"block_align\":%llu,\"header_bytes\":%llu,\"slot_bytes\":%llu,"
		   "\"meta_total_bytes\":%llu,\"meta_magic\":\"" KV_CKPT_MAGIC "\",\"meta_version\":%u,"
		   "\"data_base_offset\":%llu,\"next_slot\":%llu,\"entries\":{",
		   ULL(l->capacity_bytes), ULL(l->block_align), ULL(l->header_bytes), ULL(l->slot_bytes),
		   ULL(l->meta_bytes), KV_CKPT_VERSION, ULL(l->data_base), ULL(x->next_slot));
	for (id = 1; id <= x->keys.n; id++) {
		const struct entry *e = &x->entry[id];

		if (e->state != ENTRY_STORED)
			continue;
		if (!first)
			buf_byte(b, ',');
		first = false;
		put_ascii(b, strpool_get(&x->keys, id), strpool_len(&x->keys, id));
		buf_printf(b, ":{\"offset\":%llu,\"size\":%llu", ULL(kv_slot_offset(l, e->slot)), ULL(e->bytes));
		put_text(b, x, "shape", e->shape);
		put_text(b, x, "dtype", e->dtype);
		put_text(b, x, "fmt", e->fmt);
		put_text(b, x, "cached_positions", e->positions);
		buf_byte(b, '}');
	}
	buf_lit(b, "}}");
}

static u64 number(const json_t *doc, const char *name)
{
	const json_t *v = json_object_get(doc, name);

	return json_is_integer(v) && json_integer_value(v) >= 0 ? (u64)json_integer_value(v) : UINT64_MAX;
}

static int check_layout(const struct kv_layout *l, const json_t *doc, char *why)
{
	const struct {
		const char *name;
		u64 want;
	} fields[] = {
		{ "version", 1 },
		{ "capacity_bytes", l->capacity_bytes },
		{ "block_align", l->block_align },
		{ "header_bytes", l->header_bytes },
		{ "slot_bytes", l->slot_bytes },
		{ "meta_total_bytes", l->meta_bytes },
		{ "meta_version", KV_CKPT_VERSION },
		{ "data_base_offset", l->data_base },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fields); i++)
		if (number(doc, fields[i].name) != fields[i].want) {
			snprintf(why, KV_WHY, "its %s is %lld, not %llu", fields[i].name,
				 (long long)json_integer_value(json_object_get(doc, fields[i].name)),
				 ULL(fields[i].want));
			return -EINVAL;
		}
	return 0;
}

/* The JSON text of a member, 0 for null.  -ENOMEM. */
static int take_text(struct store_index *x, const json_t *e, const char *name, u32 *id)
{
	const json_t *v = json_object_get(e, name);
	char *text;

	*id = 0;
	if (!v || json_is_null(v))
		return 0;
	text = json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT | JSON_ENSURE_ASCII);
	if (text)
		*id = strpool_add(&x->texts, text, strlen(text));
	free(text);
	return *id ? 0 : -ENOMEM;
}

/* 0, -EINVAL for an entry that cannot be, -ENOMEM. */
static int take_entry(struct store_index *x, const char *key, size_t n, const json_t *v, u8 *taken)
{
	const struct kv_layout *l = &x->layout;
	u64 offset = number(v, "offset"), size = number(v, "size"), slot;
	struct entry *e;
	int ret;
	u32 id;

	if (offset == UINT64_MAX || offset < l->data_base || (offset - l->data_base) % l->slot_bytes)
		return -EINVAL;
	slot = (offset - l->data_base) / l->slot_bytes;
	if (slot >= x->next_slot || taken[slot] || !size || size > l->slot_bytes - l->header_bytes)
		return -EINVAL;
	id = index_key(x, key, n);
	if (!id)
		return -ENOMEM;
	e = &x->entry[id];
	*e = (struct entry){ .slot = slot, .bytes = size, .idle = true };
	ret = take_text(x, v, "shape", &e->shape);
	if (!ret)
		ret = take_text(x, v, "dtype", &e->dtype);
	if (!ret)
		ret = take_text(x, v, "fmt", &e->fmt);
	if (!ret)
		ret = take_text(x, v, "cached_positions", &e->positions);
	if (ret)
		return ret;
	taken[slot] = 1;
	index_commit(x, id);
	return 0;
}

static int take_entries(struct store_index *x, json_t *entries, struct index_read *r)
{
	u8 *taken = calloc(MAX(x->next_slot, 1ull), 1);
	const char *key;
	int ret = 0;
	json_t *v;
	u64 i;

	if (!taken)
		return -ENOMEM;
	json_object_foreach(entries, key, v) {
		ret = take_entry(x, key, strlen(key), v, taken);
		if (ret == -ENOMEM)
			break;
		r->entries += !ret;
		r->bad += ret != 0;
		ret = 0;
	}
	/* The lowest of them will be used first. */
	for (i = x->next_slot; i-- > 0 && !ret;)
		if (!taken[i])
			ret = add_freed(x, i);
	free(taken);
	return ret;
}

int index_parse(struct store_index *x, const char *json, size_t n, const char *device_path, struct index_read *r,
		char *why)
{
	json_t *doc = json_loadb(json, n, JSON_REJECT_DUPLICATES, NULL), *entries;
	const char *path;
	int ret;

	*r = (struct index_read){};
	entries = json_object_get(doc, "entries");
	path = json_string_value(json_object_get(doc, "device_path"));
	if (!json_is_object(entries)) {
		json_decref(doc);
		snprintf(why, KV_WHY, "it is no such JSON");
		return -EBADMSG;
	}
	r->device_path = path && !strcmp(path, device_path);
	ret = check_layout(&x->layout, doc, why);
	if (!ret) {
		x->next_slot = number(doc, "next_slot");
		if (x->next_slot > x->layout.slots) {
			x->next_slot = 0;
			snprintf(why, KV_WHY, "its next_slot is beyond the last slot");
			ret = -EINVAL;
		}
	}
	if (!ret)
		ret = take_entries(x, entries, r);
	json_decref(doc);
	return ret;
}
