// SPDX-License-Identifier: Apache-2.0
/* What the page draws of operations: objects over time, requests, shards. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "out/html_work.h"

/* ---- objects over time ---- */

struct drawn {
	struct op_span span;
	u32 op;
};

static int by_begin(const void *a, const void *b)
{
	const struct drawn *x = a, *y = b;

	if (x->span.begin_ns != y->span.begin_ns)
		return x->span.begin_ns < y->span.begin_ns ? -1 : 1;
	return x->op < y->op ? -1 : x->op > y->op;
}

/* The end of the last of its commands. */
static u64 last_completion(const struct model *m, u32 op)
{
	u32 k, first = m->op.first_cmd[op];
	u64 end = 0;

	for (k = 0; first != NONE && k < m->op.n_cmds[op]; k++) {
		u64 e = cmd_end(m, m->cmd_order[first + k]);

		end = MAX(end, e);
	}
	return end;
}

/* The direction that an operation is drawn in: that of its commands, else by its name. */
static int op_dir(const struct model *m, const struct dir_names *names, const struct drawn *o)
{
	const char *name = strpool_get(&m->strings, m->op.name[o->op]);

	if (o->span.n_cmds)
		return (int)cmd_dir(names, m, o->span.first_cmd);
	return !strcmp(name, "load") ? DIR_READ : !strcmp(name, "store") ? DIR_WRITE : DIR_NONE;
}

static void draw_object(struct json *j, const struct model *m, const struct dir_names *names, const struct drawn *o,
			u64 base)
{
	u32 key = m->op.key[o->op], error = m->op.error[o->op];
	const char *text = strpool_get(&m->strings, key), *end = text + strpool_len(&m->strings, key);
	const char *tail = end - MIN(end - text, HTML_MAX_NAME);
	u64 begin = o->span.instant ? o->span.end_ns : o->span.begin_ns;

	row_begin(j);
	item_pooled(j, &m->strings, m->op.name[o->op]);
	item_u64(j, (u64)op_dir(m, names, o));
	/* The end of a key tells objects apart; it does not begin within a character. */
	while (tail > text && tail < end && (*tail & 0xc0) == 0x80)
		tail++;
	item_text(j, tail, (size_t)(end - tail), HTML_MAX_NAME);
	item_u64(j, begin - base);
	item_u64(j, o->span.end_ns - base);
	if (o->span.n_cmds) {
		item_u64(j, m->cmd.ts_ns[o->span.first_cmd] - base);
		item_u64(j, last_completion(m, o->op) - base);
	} else {
		item_null(j);
		item_null(j);
	}
	item_u64(j, m->op.bytes[o->op]);
	item_u64(j, o->span.n_cmds);
	if (error)
		item_pooled(j, &m->strings, error);
	else
		item_null(j);
	row_end(j);
}

int html_objects(struct json *j, const struct report_arm *a)
{
	const struct model *m = a->m;
	struct drawn *all = malloc((m->op.n + 1ul) * sizeof(*all));
	u64 base = UINT64_MAX;
	struct dir_names names;
	u32 i;

	if (!all)
		return -ENOMEM;
	for (i = 0; i < m->op.n; i++) {
		all[i].op = i;
		op_span(m, i, &all[i].span);
		if (all[i].span.instant)
			all[i].span.begin_ns = all[i].span.end_ns;
		base = MIN(base, all[i].span.begin_ns);
	}
	qsort(all, m->op.n, sizeof(*all), by_begin);
	dir_names_init(&names, m);
	jw_object(j, "objects");
	jw_number(j, "total", m->op.n);
	jw_array(j, "rows");
	for (i = 0; i < MIN(m->op.n, (u32)HTML_MAX_OBJECTS); i++)
		draw_object(j, m, &names, &all[i], base);
	jw_close(j, ']');
	jw_close(j, '}');
	free(all);
	return 0;
}

/* ---- requests ---- */

/* In the order in which they happen. */
static const enum request_part part_order[N_PARTS] = { PART_WAIT, PART_GAPS, PART_DEVICE, PART_TAIL, PART_UNEXPLAINED };

void html_requests(struct json *j, const struct report_arm *a)
{
	const struct measure *x = a->x;
	u64 shared = 0;
	u32 i;
	int p;

	if (!x->n_requests)
		return;
	jw_object(j, "requests");
	jw_number(j, "total", x->n_requests);
	jw_array(j, "ops");
	for (i = 0; i < x->n_serving; i++) {
		const struct measure_requests *s = &x->serving[i];

		shared += s->shared;
		if (i >= HTML_MAX_NAMES)
			continue;
		row_begin(j);
		item_pooled(j, &a->m->strings, s->name);
		item_u64(j, s->n);
		item_u64(j, s->span.sum);
		for (p = 0; p < N_PARTS; p++)
			item_u64(j, s->part[part_order[p]]);
		row_end(j);
	}
	jw_close(j, ']');
	jw_number(j, "shared", shared);
	jw_array(j, "rows");
	for (i = 0; i < MIN(x->n_requests, (u32)HTML_MAX_REQUESTS); i++) {
		const struct measure_request *q = &x->request[i];

		row_begin(j);
		item_pooled(j, &a->m->strings, a->m->serving.name[q->span]);
		item_pooled(j, &a->m->strings, a->m->serving.request_id[q->span]);
		item_u64(j, q->ns);
		for (p = 0; p < N_PARTS; p++)
			item_u64(j, q->part[part_order[p]]);
		item_u64(j, q->objects);
		item_u64(j, q->bytes);
		row_end(j);
	}
	jw_close(j, ']');
	jw_close(j, '}');
}

/* ---- shards ---- */

void html_barrier(struct json *j, const struct report_arm *a)
{
	const struct measure_barrier *b = &a->x->barrier;
	u32 i;
	int c;

	if (b->shards < 2 || !b->n)
		return;
	jw_object(j, "barrier");
	jw_number(j, "shards", b->shards);
	jw_number(j, "n", b->n);
	jw_number(j, "partial", b->partial);
	jw_number(j, "p50", b->gap.p50);
	jw_number(j, "p99", b->gap.p99);
	jw_number(j, "max", b->gap.max);
	jw_number(j, "sum", b->gap.sum);
	jw_array(j, "cause_n");
	for (c = 0; c < N_CAUSES; c++)
		item_u64(j, b->cause_n[c]);
	jw_close(j, ']');
	jw_array(j, "cause_ns");
	for (c = 0; c < N_CAUSES; c++) {
		jw_item(j);
		buf_s64(j->b, b->cause_ns[c]);
	}
	jw_close(j, ']');
	jw_array(j, "rows");
	for (i = 0; i < MIN(b->n_shards, (u32)HTML_MAX_NAMES); i++) {
		const struct measure_shard *s = &b->shard[i];
		u32 key = a->m->op.key[s->op];
		struct key_parts k;

		key_parse(&k, strpool_get(&a->m->strings, key), strpool_len(&a->m->strings, key));
		row_begin(j);
		item_text(j, k.fmt ? k.fmt : "", k.fmt_len, HTML_MAX_NAME);
		item_u64(j, s->n);
		item_u64(j, s->last);
		for (c = 0; c < N_CAUSES; c++)
			item_u64(j, s->cause[c]);
		row_end(j);
	}
	jw_close(j, ']');
	jw_close(j, '}');
}
