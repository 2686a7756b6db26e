// SPDX-License-Identifier: Apache-2.0
#include "model/semantic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/stream.h"
#include "lib/hash.h"

void semantic_free(struct semantic *s)
{
	strpool_free(&s->strings);
	free(s->op);
	*s = (struct semantic){};
}

static int intern_field(struct semantic *s, const struct ndjson_field *f, u32 *id)
{
	struct buf b = {};

	*id = 0;
	if (f->type == ND_NULL)
		return 0;
	if (f->flags & ND_ESCAPED)
		ndjson_unescape(&b, f->text, f->text_len);
	else
		buf_add(&b, f->text, f->text_len);
	*id = b.failed ? 0 : strpool_add(&s->strings, b.n ? b.p : "", b.n);
	buf_free(&b);
	return *id ? 0 : -ENOMEM;
}

static int take_u64(const struct ndjson_field *f, u64 *out, u32 *flags, u32 flag)
{
	int ret = f->type == ND_NULL ? 0 : ndjson_u64(f, out);

	if (!ret && f->type != ND_NULL)
		*flags |= flag;
	return ret;
}

static int take_ns(const struct ndjson_field *f, u64 *out, u32 *flags, u32 flag)
{
	int ret = f->type == ND_NULL ? 0 : ndjson_ns(f, out);

	if (!ret && f->type != ND_NULL)
		*flags |= flag;
	return ret;
}

static bool is(const struct ndjson_field *f, const char *name)
{
	return f->key_len == strlen(name) && !memcmp(f->key, name, f->key_len);
}

/* {"k_bytes": ..., "v_bytes": ..., "scale_bytes": ...} */
static int take_components(struct semantic_op *o, const struct ndjson_field *f)
{
	struct ndjson_field in;
	struct ndjson s;
	u32 flags = 0;
	int ret = f->type == ND_NESTED ? ndjson_start(&s, f->text, f->text_len) : -EINVAL;

	while (!ret && (ret = ndjson_next(&s, &in)) > 0) {
		ret = 0;
		if (is(&in, "k_bytes"))
			ret = take_u64(&in, &o->k_bytes, &flags, 1);
		else if (is(&in, "v_bytes"))
			ret = take_u64(&in, &o->v_bytes, &flags, 1);
		else if (is(&in, "scale_bytes"))
			ret = take_u64(&in, &o->scale_bytes, &flags, 1);
	}
	if (!ret && flags)
		o->flags |= SEM_HAS_COMPONENTS;
	return ret;
}

static int take_field(struct semantic *s, struct semantic_op *o, const struct ndjson_field *f)
{
	const struct {
		const char *name;
		u32 *id;
	} words[] = {
		{ "op", &o->op },	{ "key", &o->key },	      { "object_id", &o->object },
		{ "part", &o->part },	{ "instance", &o->instance }, { "error", &o->error },
		{ "shape", &o->shape }, { "dtype", &o->dtype },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (is(f, words[i].name))
			return intern_field(s, f, words[i].id);
	if (is(f, "trace_id"))
		return take_u64(f, &o->trace_id, &o->flags, SEM_HAS_ID);
	if (is(f, "bytes"))
		return take_u64(f, &o->bytes, &o->flags, SEM_HAS_BYTES);
	if (is(f, "slot_offset"))
		return take_u64(f, &o->slot_offset, &o->flags, SEM_HAS_SLOT);
	if (is(f, "ts_start"))
		return take_ns(f, &o->start_ns, &o->flags, SEM_HAS_START);
	if (is(f, "ts"))
		return take_ns(f, &o->end_ns, &o->flags, SEM_HAS_END);
	if (is(f, "kv_rank"))
		return take_u64(f, &o->kv_rank, &o->flags, SEM_HAS_RANK);
	return is(f, "components") ? take_components(o, f) : 0;
}

/* A line of the application: 1 and *o, 0 when it is none, -errno; what is no number where one is needed is -EINVAL. */
static int read_op(struct semantic *s, struct slice line, struct semantic_op *o)
{
	struct ndjson_field f;
	struct ndjson scan;
	int ret = ndjson_start(&scan, line.p, line.n);

	*o = (struct semantic_op){};
	while (!ret && (ret = ndjson_next(&scan, &f)) > 0)
		ret = is(&f, "event_type") ? 1 : take_field(s, o, &f);
	if (ret)
		return ret > 0 ? 0 : ret;
	if (!(o->flags & SEM_HAS_START))
		o->start_ns = o->end_ns;
	return o->op != 0;
}

static int add_op(struct semantic *s, const struct semantic_op *o)
{
	if (s->n == s->cap) {
		u32 cap = s->cap ? s->cap * 2 : 256;
		void *p = cap > s->cap ? reallocarray(s->op, cap, sizeof(*s->op)) : NULL;

		if (!p)
			return -ENOMEM;
		s->op = p;
		s->cap = cap;
	}
	s->op[s->n++] = *o;
	return 0;
}

static int take_meta(struct semantic *s, const struct jsonl_kvio_meta *k)
{
	if (s->meta.present)
		return 0;
	s->meta = (struct sem_meta_numbers){ .present = true,
					     .block_align = k->block_align,
					     .header_bytes = k->header_bytes,
					     .max_xfer = k->max_data_transfer_size,
					     .slot_bytes = k->slot_bytes,
					     .capacity_bytes = k->capacity_bytes };
	if (k->device_path.n)
		s->meta.device_path = strpool_add(&s->strings, k->device_path.p, k->device_path.n);
	if (k->io_engine.n)
		s->meta.io_engine = strpool_add(&s->strings, k->io_engine.p, k->io_engine.n);
	return 0;
}

static int take_item(struct semantic *s, const struct item *it, u64 line)
{
	struct semantic_op o;
	int ret;

	if (it->kind == ITEM_KVIO_META && it->rec)
		return take_meta(s, &it->rec->kvio_meta);
	if (!it->line.p || (it->kind != ITEM_SEMANTIC && it->kind != ITEM_OTHER))
		return 0;
	ret = read_op(s, it->line, &o);
	if (ret > 0)
		return add_op(s, &o);
	if (!ret || ret == -ENOMEM)
		return ret;
	s->malformed++;
	if (!s->first_bad_line)
		s->first_bad_line = line;
	return 0;
}

int semantic_read(struct semantic *s, const char *path)
{
	struct strpool disks = {};
	const struct stream_options o = { .fold = FOLD_NOT, .disks = &disks };
	const struct stream_info *info;
	struct stream *in;
	struct item it;
	int ret = stream_open(&in, path, &o);

	if (ret)
		return ret;
	info = stream_info(in);
	while ((ret = stream_next(in, &it)) > 0) {
		ret = take_item(s, &it, info->lines);
		if (ret)
			break;
	}
	s->malformed += info->malformed;
	if (!s->first_bad_line)
		s->first_bad_line = info->first_bad_line;
	s->cut |= info->tail_cut || info->defect;
	stream_close(in);
	strpool_free(&disks);
	return ret;
}

static int load_file(struct semantic *s, struct model *m, const char *path)
{
	u64 before = m->sem_in.semantic;
	int ret = model_load(m, path);

	if (ret || m->sem_in.semantic == before)
		return ret;
	if (strcmp(path, "-"))
		return semantic_read(s, path);
	s->unread = true;
	return 0;
}

int semantic_load(struct semantic *s, struct model *m, const char *const *file, size_t n,
		  const struct join_options *join, const char **failed)
{
	size_t i;
	int ret = 0;

	*failed = NULL;
	for (i = 0; i < n; i++) {
		ret = load_file(s, m, file[i]);
		if (ret) {
			*failed = file[i];
			return ret;
		}
	}
	ret = model_finish(m);
	return ret ? ret : model_join(m, join);
}

static u64 op_hash(u64 trace_id, u64 end_ns, u64 bytes)
{
	return hash_u64(trace_id) ^ hash_u64(end_ns + 1) * 3 ^ hash_u64(bytes + 2) * 5;
}

int semantic_match(const struct semantic *s, const struct model *m, u32 *row)
{
	struct map64 at = {};
	bool is_new;
	u32 i, *v;
	int ret = 0;

	for (i = 0; i < s->n && !ret; i++) {
		v = map64_put(&at, op_hash(s->op[i].trace_id, s->op[i].end_ns, s->op[i].bytes), &is_new);
		if (v && is_new)
			*v = i;
		ret = v ? 0 : -ENOMEM;
	}
	for (i = 0; i < m->op.n; i++) {
		v = map64_get(&at, op_hash(m->op.trace_id[i], m->op.end_ns[i], m->op.bytes[i]));
		row[i] =
			v && s->op[*v].trace_id == m->op.trace_id[i] && s->op[*v].end_ns == m->op.end_ns[i] ? *v : NONE;
	}
	map64_free(&at);
	return ret;
}
