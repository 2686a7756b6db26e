// SPDX-License-Identifier: Apache-2.0
#include "model/manifest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/tables.h"

static u32 copy(struct kv_manifest *m, const struct semantic *s, u32 id)
{
	return id ? strpool_add(&m->strings, strpool_get(&s->strings, id), strpool_len(&s->strings, id)) : 0;
}

/* The index of the object that the record is of, made when it is new; NONE = no memory. */
static u32 object_of(struct kv_manifest *m, struct map64 *known, const struct semantic *s, const struct semantic_op *o,
		     bool merge_parts)
{
	u32 name = o->object ? o->object : o->key, *at;
	u64 part = merge_parts ? 0 : o->part;
	struct kv_object *object;
	bool is_new;

	at = map64_put(known, (u64)name << 32 | part, &is_new);
	if (!at)
		return NONE;
	if (!is_new)
		return *at;
	*at = m->n_objects;
	object = kv_manifest_add_object(m);
	if (!object)
		return NONE;
	object->key = copy(m, s, o->key);
	object->object_id = copy(m, s, o->object);
	if (!merge_parts)
		object->part = copy(m, s, o->part);
	if (o->flags & SEM_HAS_RANK) {
		object->flags |= KV_OBJECT_RANK;
		object->kv_rank = o->kv_rank;
	}
	return *at;
}

static void learn(struct kv_object *object, const struct semantic_op *o, enum kv_manifest_op op)
{
	kv_object_did(object, op);
	object->payload_bytes = MAX(object->payload_bytes, o->bytes);
	if ((o->flags & SEM_HAS_COMPONENTS) && !(object->flags & KV_OBJECT_COMPONENTS)) {
		object->flags |= KV_OBJECT_COMPONENTS;
		object->k_bytes = o->k_bytes;
		object->v_bytes = o->v_bytes;
		object->scale_bytes = o->scale_bytes;
	}
}

static bool kind_of(const struct semantic *s, const struct semantic_op *o, enum kv_manifest_op *op)
{
	u32 i;

	for (i = 0; i < N_KV_DO; i++)
		if (!strcmp(strpool_get(&s->strings, o->op), kv_manifest_op_name((enum kv_manifest_op)i))) {
			*op = (enum kv_manifest_op)i;
			return true;
		}
	return false;
}

static bool no_more(const void *arg, u32 a, u32 b)
{
	(void)arg;
	(void)a;
	(void)b;
	return false;
}

/* By begin, and as recorded among equal ones. */
static int order_operations(struct kv_manifest *m)
{
	u64 *at = calloc(m->n_operations + 1ul, sizeof(*at));
	struct kv_operation *sorted;
	u32 *order = NULL, i;
	int ret;

	if (!at)
		return -ENOMEM;
	for (i = 0; i < m->n_operations; i++)
		at[i] = m->operation[i].at_ns;
	ret = sort_by_key(m->n_operations, at, no_more, NULL, &order);
	free(at);
	if (ret || !order)
		return ret;
	sorted = calloc(m->cap_operations, sizeof(*sorted));
	for (i = 0; i < m->n_operations && sorted; i++)
		sorted[i] = m->operation[order[i]];
	free(order);
	if (!sorted)
		return -ENOMEM;
	free(m->operation);
	m->operation = sorted;
	return 0;
}

/* Times since the first begin.  Without any the order of the file stays. */
static int set_times(struct kv_manifest *m)
{
	u64 base;
	u32 i;
	int ret;

	for (i = 0; i < m->n_operations; i++)
		m->has_times |= m->operation[i].at_ns != 0;
	if (!m->has_times)
		return 0;
	ret = order_operations(m);
	if (ret)
		return ret;
	for (base = m->operation[0].at_ns, i = 0; i < m->n_operations; i++)
		m->operation[i].at_ns -= base;
	return 0;
}

int manifest_make(struct kv_manifest *m, const struct semantic *s, bool merge_parts, struct manifest_skips *skips)
{
	struct map64 known = {};
	u32 i;
	int ret = 0;

	*skips = (struct manifest_skips){};
	for (i = 0; i < s->n && !ret; i++) {
		const struct semantic_op *o = &s->op[i];
		struct kv_operation *did;
		enum kv_manifest_op op;
		u32 object;

		if (o->shape && !m->shape) {
			m->shape = copy(m, s, o->shape);
			m->dtype = copy(m, s, o->dtype);
		}
		if (!kind_of(s, o, &op)) {
			skips->other++;
		} else if (o->error) {
			skips->failed++;
		} else if (!o->object && !o->key) {
			skips->nameless++;
		} else if (merge_parts && op == KV_DO_DELETE) {
			skips->other++;
		} else {
			object = object_of(m, &known, s, o, merge_parts);
			did = object == NONE ? NULL : kv_manifest_add_operation(m);
			if (!did) {
				ret = -ENOMEM;
				break;
			}
			learn(&m->object[object], o, op);
			*did = (struct kv_operation){ .object = object,
						      .op = (u8)op,
						      .at_ns = o->start_ns,
						      .took_ns = o->end_ns > o->start_ns ? o->end_ns - o->start_ns : 0,
						      .bytes = o->bytes };
		}
	}
	map64_free(&known);
	return ret ? ret : set_times(m);
}
