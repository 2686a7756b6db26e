// SPDX-License-Identifier: Apache-2.0
#include "kv/manifest.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/buf.h"
#include "lib/zio.h"

#define MAX_ROWS (1u << 28)
#define MAX_FILE (1u << 30)

static const char *const op_names[N_KV_DO] = { "store", "load", "delete" };

const char *kv_manifest_op_name(enum kv_manifest_op op)
{
	return op_names[op];
}

void kv_manifest_free(struct kv_manifest *m)
{
	strpool_free(&m->strings);
	free(m->object);
	free(m->operation);
	*m = (struct kv_manifest){};
}

static int room(void *array, u32 n, u32 *cap, size_t size)
{
	u32 want = *cap ? *cap * 2 : 64;
	void *p;

	if (n < *cap)
		return 0;
	if (want > MAX_ROWS)
		return -ENOMEM;
	p = reallocarray(*(void **)array, want, size);
	if (!p)
		return -ENOMEM;
	*(void **)array = p;
	*cap = want;
	return 0;
}

struct kv_object *kv_manifest_add_object(struct kv_manifest *m)
{
	if (room(&m->object, m->n_objects, &m->cap_objects, sizeof(*m->object)))
		return NULL;
	m->object[m->n_objects] = (struct kv_object){};
	return &m->object[m->n_objects++];
}

struct kv_operation *kv_manifest_add_operation(struct kv_manifest *m)
{
	if (room(&m->operation, m->n_operations, &m->cap_operations, sizeof(*m->operation)))
		return NULL;
	m->operation[m->n_operations] = (struct kv_operation){};
	return &m->operation[m->n_operations++];
}

void kv_object_did(struct kv_object *o, enum kv_manifest_op op)
{
	if (!memchr(o->ops, op, o->n_ops))
		o->ops[o->n_ops++] = (u8)op;
}

/* ---- reading ---- */

struct reader {
	struct kv_manifest *m;
	char *why;
	int err;
	char where[64]; /* "objects[3].", for messages */
};

static void __attribute__((format(printf, 2, 3))) complain(struct reader *r, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (r->err)
		return;
	r->err = -EINVAL;
	n = snprintf(r->why, KV_WHY, "%s", r->where);
	va_start(ap, fmt);
	vsnprintf(r->why + n, KV_WHY - (size_t)n, fmt, ap);
	va_end(ap);
}

/* A whole number that is not negative; `otherwise` when it is absent or null. */
static u64 number(struct reader *r, const json_t *doc, const char *key, u64 otherwise)
{
	const json_t *v = json_object_get(doc, key);

	if (!v || json_is_null(v))
		return otherwise;
	if (!json_is_integer(v) || json_integer_value(v) < 0) {
		complain(r, "%s is no whole number from 0 on", key);
		return otherwise;
	}
	return (u64)json_integer_value(v);
}

static u32 text(struct reader *r, const json_t *doc, const char *key)
{
	const json_t *v = json_object_get(doc, key);
	u32 id;

	if (!v || json_is_null(v))
		return 0;
	if (!json_is_string(v)) {
		complain(r, "%s is no string", key);
		return 0;
	}
	id = strpool_add(&r->m->strings, json_string_value(v), json_string_length(v));
	if (!id && !r->err)
		r->err = -ENOMEM;
	return id;
}

static int op_of(struct reader *r, const json_t *v)
{
	u32 i;

	for (i = 0; i < N_KV_DO; i++)
		if (json_is_string(v) && !strcmp(json_string_value(v), op_names[i]))
			return (int)i;
	complain(r, "op is none of store, load, delete");
	return 0;
}

static void read_object(struct reader *r, const json_t *doc)
{
	struct kv_object *o = kv_manifest_add_object(r->m);
	const json_t *c = json_object_get(doc, "components"), *op;
	size_t i;

	if (!o) {
		r->err = -ENOMEM;
		return;
	}
	o->payload_bytes = number(r, doc, "payload_bytes", UINT64_MAX);
	if (o->payload_bytes == UINT64_MAX)
		complain(r, "payload_bytes is missing");
	o->key = text(r, doc, "key");
	o->object_id = text(r, doc, "object_id");
	o->part = text(r, doc, "part");
	o->kv_rank = number(r, doc, "kv_rank", UINT64_MAX);
	if (o->kv_rank != UINT64_MAX)
		o->flags |= KV_OBJECT_RANK;
	if (json_is_object(c)) {
		o->flags |= KV_OBJECT_COMPONENTS;
		o->k_bytes = number(r, c, "k_bytes", 0);
		o->v_bytes = number(r, c, "v_bytes", 0);
		o->scale_bytes = number(r, c, "scale_bytes", 0);
	}
	json_array_foreach(json_object_get(doc, "ops"), i, op)
		kv_object_did(o, (enum kv_manifest_op)op_of(r, op));
}

static void read_operation(struct reader *r, const json_t *doc)
{
	struct kv_operation *o = kv_manifest_add_operation(r->m);
	u64 object;

	if (!o) {
		r->err = -ENOMEM;
		return;
	}
	object = number(r, doc, "object", UINT64_MAX);
	if (object >= r->m->n_objects) {
		complain(r, "object is none of the %u objects", r->m->n_objects);
		return;
	}
	o->object = (u32)object;
	o->op = (u8)op_of(r, json_object_get(doc, "op"));
	o->at_ns = number(r, doc, "at_ns", 0);
	o->took_ns = number(r, doc, "took_ns", 0);
	o->bytes = number(r, doc, "bytes", r->m->object[object].payload_bytes);
	r->m->has_times |= json_object_get(doc, "at_ns") != NULL;
	kv_object_did(&r->m->object[object], (enum kv_manifest_op)o->op);
}

/* What the access pattern of version 1 stands for. */
static int make_operations(struct kv_manifest *m)
{
	u32 op, i;

	for (op = KV_DO_STORE; op <= KV_DO_LOAD; op++)
		for (i = 0; i < m->n_objects; i++) {
			struct kv_operation *o;

			if (!memchr(m->object[i].ops, (int)op, m->object[i].n_ops))
				continue;
			o = kv_manifest_add_operation(m);
			if (!o)
				return -ENOMEM;
			*o = (struct kv_operation){ .object = i, .op = (u8)op, .bytes = m->object[i].payload_bytes };
		}
	return 0;
}

static void read_head(struct reader *r, const json_t *doc)
{
	const json_t *d = json_object_get(doc, "device_geometry"), *g = json_object_get(doc, "geometry"), *shape;
	struct kv_manifest *m = r->m;
	char *list;

	m->source = text(r, doc, "source");
	m->model = text(r, doc, "model");
	m->engine = text(r, d, "engine");
	m->device = (struct kv_device_geometry){
		.use_uring_cmd = json_is_true(json_object_get(d, "use_uring_cmd")),
		.mdts_bytes = number(r, d, "mdts_bytes", 0),
		.block_align = number(r, d, "block_align", 0),
		.header_bytes = number(r, d, "header_bytes", 0),
		.slot_bytes = number(r, d, "slot_bytes", 0),
		.capacity_bytes = number(r, d, "capacity_bytes", 0),
	};
	m->dtype = text(r, g, "observed_dtype");
	shape = json_object_get(g, "observed_shape");
	list = json_is_array(shape) ? json_dumps(shape, JSON_COMPACT) : NULL;
	if (list)
		m->shape = strpool_add(&m->strings, list, strlen(list));
	free(list);
}

int kv_manifest_parse(struct kv_manifest *m, const json_t *doc, char *why)
{
	struct reader r = { .m = m, .why = why };
	const json_t *list, *row;
	u64 version;
	size_t i;

	*m = (struct kv_manifest){};
	version = number(&r, doc, "schema_version", 0);
	if (!json_is_object(doc) || (!r.err && version != 1 && version != 2))
		complain(&r, "it is no manifest of schema_version 1 or 2");
	m->version = (u32)version;
	if (!r.err)
		read_head(&r, doc);
	list = json_object_get(doc, "objects");
	if (!json_is_array(list))
		complain(&r, "objects is no list");
	json_array_foreach(list, i, row) {
		snprintf(r.where, sizeof(r.where), "objects[%zu].", i);
		if (!r.err)
			read_object(&r, row);
	}
	list = json_object_get(doc, "operations");
	json_array_foreach(list, i, row) {
		snprintf(r.where, sizeof(r.where), "operations[%zu].", i);
		if (!r.err)
			read_operation(&r, row);
	}
	if (!r.err && !json_is_array(list))
		r.err = make_operations(m);
	return r.err;
}

int kv_manifest_read(struct kv_manifest *m, const char *path, char *why)
{
	struct buf b = {};
	ssize_t got = 0;
	json_t *doc = NULL;
	json_error_t e = {};
	struct zin *z;
	int ret;

	snprintf(why, KV_WHY, "it cannot be read");
	ret = zin_open(&z, path);
	if (ret)
		return ret;
	while (!ret && (got = buf_room(&b, 65536) ? zin_read(z, b.p + b.n, 65536) : -ENOMEM)) {
		ret = got < 0 ? (int)got : 0;
		b.n += got > 0 ? (size_t)got : 0;
		if (b.n > MAX_FILE)
			ret = -EFBIG;
	}
	zin_close(z);
	if (!ret) {
		doc = json_loadb(b.n ? b.p : "", b.n, 0, &e);
		if (b.n)
			snprintf(why, KV_WHY, "line %d: %s", e.line,
				 json_error_code(&e) == json_error_numeric_overflow ? "a number of more than 64 bits"
										    : "it is no JSON document");
		else
			snprintf(why, KV_WHY, "it is empty");
		ret = doc ? kv_manifest_parse(m, doc, why) : -EBADMSG;
	}
	json_decref(doc);
	buf_free(&b);
	return ret;
}
