// SPDX-License-Identifier: Apache-2.0
#include "out/manifest.h"

#include <string.h>

#include "out/report_json.h"

static void geometry_json(struct json *j, const struct kv_manifest *m)
{
	const char *shape = strpool_get(&m->strings, m->shape);

	jw_object(j, "geometry");
	/* A list of numbers; what is none is not repeated. */
	if (m->shape && *shape == '[' && !shape[strspn(shape, "[]0123456789, ")]) {
		jw_key(j, "observed_shape");
		buf_str(j->b, shape);
		jw_string(j, "observed_dtype", strpool_get(&m->strings, m->dtype));
		jw_string(j, "source", "real-run semantic trace");
	}
	jw_close(j, '}');
}

static void device_json(struct json *j, const struct kv_manifest *m)
{
	const struct kv_device_geometry *d = &m->device;

	jw_object(j, "device_geometry");
	jw_string(j, "engine", strpool_get(&m->strings, m->engine));
	jw_bool(j, "use_uring_cmd", d->use_uring_cmd);
	jw_number(j, "mdts_bytes", d->mdts_bytes);
	jw_number(j, "block_align", d->block_align);
	jw_number(j, "header_bytes", d->header_bytes);
	jw_number(j, "slot_bytes", d->slot_bytes);
	jw_number(j, "capacity_bytes", d->capacity_bytes);
	jw_close(j, '}');
}

/* In one line each: there are many. */
static void object_json(struct json *j, const struct kv_manifest *m, u32 i, u32 version)
{
	const struct kv_object *o = &m->object[i];
	const struct {
		const char *name;
		u32 id;
	} names[] = { { "key", o->key }, { "object_id", o->object_id } };
	bool first = true;
	u32 k;

	jw_item(j);
	buf_printf(j->b, "{\"index\": %u, \"part\": ", i);
	if (o->part && version > 1)
		buf_json(j->b, strpool_get(&m->strings, o->part), strpool_len(&m->strings, o->part));
	else
		buf_lit(j->b, "\"kv\"");
	buf_printf(j->b, ", \"payload_bytes\": %llu, \"ops\": [", (unsigned long long)o->payload_bytes);
	for (k = 0; k < o->n_ops; k++) {
		if (version == 1 && o->ops[k] == KV_DO_DELETE)
			continue;
		buf_printf(j->b, "%s\"%s\"", first ? "" : ", ", kv_manifest_op_name((enum kv_manifest_op)o->ops[k]));
		first = false;
	}
	buf_byte(j->b, ']');
	for (k = 0; k < ARRAY_SIZE(names) && version > 1; k++) {
		if (!names[k].id)
			continue;
		buf_printf(j->b, ", \"%s\": ", names[k].name);
		buf_json(j->b, strpool_get(&m->strings, names[k].id), strpool_len(&m->strings, names[k].id));
	}
	if ((o->flags & KV_OBJECT_RANK) && version > 1)
		buf_printf(j->b, ", \"kv_rank\": %llu", (unsigned long long)o->kv_rank);
	if ((o->flags & KV_OBJECT_COMPONENTS) && version > 1)
		buf_printf(j->b, ", \"components\": {\"k_bytes\": %llu, \"v_bytes\": %llu, \"scale_bytes\": %llu}",
			   (unsigned long long)o->k_bytes, (unsigned long long)o->v_bytes,
			   (unsigned long long)o->scale_bytes);
	buf_byte(j->b, '}');
}

static void operation_json(struct json *j, const struct kv_manifest *m, const struct kv_operation *o)
{
	jw_item(j);
	buf_printf(j->b, "{\"op\": \"%s\", \"object\": %u", kv_manifest_op_name((enum kv_manifest_op)o->op), o->object);
	if (o->bytes != m->object[o->object].payload_bytes && o->op != KV_DO_DELETE)
		buf_printf(j->b, ", \"bytes\": %llu", (unsigned long long)o->bytes);
	if (m->has_times)
		buf_printf(j->b, ", \"at_ns\": %llu, \"took_ns\": %llu", (unsigned long long)o->at_ns,
			   (unsigned long long)o->took_ns);
	buf_byte(j->b, '}');
}

void manifest_json(struct buf *out, const struct kv_manifest *m, u32 version)
{
	struct json j = { .b = out };
	u32 i;

	jw_open(&j, '{');
	jw_number(&j, "schema_version", version);
	jw_string(&j, "source", strpool_get(&m->strings, m->source));
	jw_string(&j, "model", strpool_get(&m->strings, m->model));
	geometry_json(&j, m);
	device_json(&j, m);
	jw_string(&j, "access_pattern", version == 1 ? "store-all-then-load-all" : "recorded");
	jw_array(&j, "objects");
	for (i = 0; i < m->n_objects; i++)
		object_json(&j, m, i, version);
	jw_close(&j, ']');
	if (version > 1) {
		jw_array(&j, "operations");
		for (i = 0; i < m->n_operations; i++)
			operation_json(&j, m, &m->operation[i]);
		jw_close(&j, ']');
	}
	jw_close(&j, '}');
	buf_byte(out, '\n');
}
