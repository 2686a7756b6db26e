// SPDX-License-Identifier: Apache-2.0
#include "model/mlperf.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "capture/lines.h"
#include "lib/hash.h"
#include "lib/zio.h"

#define MAX_COLUMNS 32

enum column { COL_TIME, COL_OP, COL_SIZE, COL_TIER, COL_KEY, COL_PHASE, N_COLUMNS };
static const char *const columns[N_COLUMNS] = { "Timestamp", "Operation", "Object_Size_Bytes", "Tier", "Key", "Phase" };

struct table {
	int at[N_COLUMNS]; /* -1: there is none */
	struct kv_manifest *m;
	struct mlperf_counts *c;
	const char *tier;
	struct map64 known; /* object of a key */
	u64 base_ns;
	u32 n_columns;
};

/* The fields of a line; quotes around one are taken off, doubled ones stay doubled. */
static u32 cut(struct slice line, struct slice field[MAX_COLUMNS])
{
	const char *p = line.p, *end = p + line.n;
	u32 n = 0;

	while (end > p && (end[-1] == '\r' || end[-1] == ' '))
		end--;
	for (; n < MAX_COLUMNS; p++) {
		const char *begin = p;
		bool quoted = p < end && *p == '"';

		if (quoted) {
			for (begin = ++p; p < end && (*p != '"' || (p + 1 < end && p[1] == '"' && p++)); p++)
				;
			field[n++] = (struct slice){ begin, (size_t)(p - begin) };
			p += p < end;
		}
		for (; p < end && *p != ','; p++)
			;
		if (!quoted)
			field[n++] = (struct slice){ begin, (size_t)(p - begin) };
		if (p >= end)
			break;
	}
	return n;
}

static bool same_word(struct slice s, const char *word)
{
	return s.n == strlen(word) && !strncasecmp(s.p, word, s.n);
}

static bool read_head(struct table *t, struct slice line)
{
	struct slice field[MAX_COLUMNS];
	size_t bom = ndjson_bom(line.p, line.n);
	u32 n, i, k;

	n = cut((struct slice){ line.p + bom, line.n - bom }, field);
	t->n_columns = n;
	for (k = 0; k < N_COLUMNS; k++) {
		t->at[k] = -1;
		for (i = 0; i < n; i++)
			if (same_word(field[i], columns[k]))
				t->at[k] = (int)i;
	}
	return t->at[COL_TIME] >= 0 && t->at[COL_OP] >= 0 && t->at[COL_SIZE] >= 0;
}

bool mlperf_is_head(const char *line, size_t n)
{
	struct table t = {};

	return read_head(&t, (struct slice){ line, n });
}

static bool op_of(struct slice s, enum kv_manifest_op *op)
{
	static const struct {
		const char *word;
		enum kv_manifest_op op;
	} words[] = {
		{ "read", KV_DO_LOAD },	  { "load", KV_DO_LOAD }, { "get", KV_DO_LOAD },      { "write", KV_DO_STORE },
		{ "store", KV_DO_STORE }, { "put", KV_DO_STORE }, { "delete", KV_DO_DELETE }, { "evict", KV_DO_DELETE },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (same_word(s, words[i].word)) {
			*op = words[i].op;
			return true;
		}
	return false;
}

/* A number of the table, through the reader of JSON numbers. */
static bool as_number(struct slice s, struct ndjson_field *f)
{
	const char *end = s.p + s.n;

	return s.n && ndjson_value(s.p, end, f) == end && f->type == ND_NUMBER;
}

static u32 object_of(struct table *t, struct slice key)
{
	struct kv_object *o;
	u32 id = key.n ? strpool_add(&t->m->strings, key.p, key.n) : 0, *at = NULL;
	bool is_new = true;

	if (id) {
		at = map64_put(&t->known, id, &is_new);
		if (!at)
			return UINT32_MAX;
	}
	if (!is_new)
		return *at;
	if (at)
		*at = t->m->n_objects;
	o = kv_manifest_add_object(t->m);
	if (!o)
		return UINT32_MAX;
	o->key = o->object_id = id;
	return t->m->n_objects - 1;
}

static int bad_row(struct table *t, u64 line)
{
	t->c->malformed++;
	if (!t->c->first_bad_line)
		t->c->first_bad_line = line;
	return 0;
}

/* `tail`: no newline ends the row, so that it may have been cut. */
static int take_row(struct table *t, struct slice line, u64 number, bool tail)
{
	struct slice field[MAX_COLUMNS], none = {}, by[N_COLUMNS];
	u32 n = cut(line, field), object, k;
	struct ndjson_field time, size;
	struct kv_operation *o;
	enum kv_manifest_op op;
	u64 ns, bytes;

	if (tail && n < t->n_columns) {
		t->c->cut = true;
		return 0;
	}
	t->c->rows++;
	for (k = 0; k < N_COLUMNS; k++)
		by[k] = t->at[k] >= 0 && (u32)t->at[k] < n ? field[t->at[k]] : none;
	if (!as_number(by[COL_TIME], &time) || !as_number(by[COL_SIZE], &size) || ndjson_ns(&time, &ns) ||
	    ndjson_u64(&size, &bytes) || !by[COL_OP].n)
		return bad_row(t, number);
	if (t->tier && !same_word(by[COL_TIER], t->tier)) {
		t->c->other_tier++;
		return 0;
	}
	if (!op_of(by[COL_OP], &op)) {
		t->c->unknown_ops++;
		return 0;
	}
	object = object_of(t, by[COL_KEY]);
	o = object == UINT32_MAX ? NULL : kv_manifest_add_operation(t->m);
	if (!o)
		return -ENOMEM;
	if (!t->c->selected++)
		t->base_ns = ns;
	*o = (struct kv_operation){
		.object = object, .op = (u8)op, .at_ns = ns > t->base_ns ? ns - t->base_ns : 0, .bytes = bytes
	};
	kv_object_did(&t->m->object[object], op);
	t->m->object[object].payload_bytes = MAX(t->m->object[object].payload_bytes, bytes);
	return 0;
}

static ssize_t read_input(void *arg, void *buf, size_t n)
{
	return zin_read(arg, buf, n);
}

int mlperf_read(struct kv_manifest *m, const char *path, const char *tier, struct mlperf_counts *c)
{
	struct table t = { .m = m, .c = c, .tier = tier };
	struct slice line;
	struct lines l;
	struct zin *z;
	int ret = zin_open(&z, path);

	*c = (struct mlperf_counts){};
	if (ret)
		return ret;
	lines_init(&l, read_input, z);
	ret = lines_next(&l, &line);
	if (ret >= 0)
		ret = ret && read_head(&t, line) ? 0 : -EBADMSG;
	while (!ret && (ret = lines_next(&l, &line)) > 0)
		ret = ndjson_blank(line.p, line.n) ? 0 : take_row(&t, line, l.number, l.tail);
	c->cut |= zin_defect(z) != NULL;
	c->malformed += l.too_long;
	m->has_times = true;
	map64_free(&t.known);
	lines_free(&l);
	zin_close(z);
	return ret;
}
