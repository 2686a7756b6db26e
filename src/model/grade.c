// SPDX-License-Identifier: Apache-2.0
#include "model/grade.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kv/layout.h"
#include "model/grade_work.h"

const char *grade_part_name(enum grade_part part)
{
	static const char *const names[] = { "header", "codec_header", "k", "v", "scales", "kv", "padding", "outside" };

	return names[part];
}

void grade_free(struct grade *g)
{
	u32 i;

	for (i = 0; i < g->n_buckets; i++)
		kv_sizes_free(&g->bucket[i].sizes);
	kv_sizes_free(&g->sizes);
	free(g->bucket);
	free(g->op);
	*g = (struct grade){};
}

/* ---- which operations are scored ---- */

static bool is_word(const struct model *m, u32 id, const char *word)
{
	return !strcmp(strpool_get(&m->strings, id), word);
}

static bool is_scored(const struct model *m, u32 op)
{
	return !m->op.error[op] && (is_word(m, m->op.name[op], "store") || is_word(m, m->op.name[op], "load")) &&
	       (m->join != JOIN_TRACE_ID || m->op.trace_id[op]);
}

static int choose_ops(struct grade *g, const struct model *m)
{
	u32 i;

	g->op = calloc(m->op.n + 1ul, sizeof(*g->op));
	if (!g->op)
		return -ENOMEM;
	for (i = 0; i < m->op.n; i++) {
		if (is_scored(m, i)) {
			g->op[g->n++] = (struct grade_op){ .op = i };
		} else {
			g->unscored_ops++;
			g->unscored_cmds += m->op.n_cmds[i];
		}
	}
	return 0;
}

/* ---- one operation ---- */

static struct grade_bucket *bucket_of(struct grade *g, u32 op, u32 part)
{
	struct grade_bucket *b;
	u32 i;

	for (i = 0; i < g->n_buckets; i++)
		if (g->bucket[i].op == op && g->bucket[i].part == part)
			return &g->bucket[i];
	b = reallocarray(g->bucket, g->n_buckets + 1ul, sizeof(*b));
	if (!b)
		return NULL;
	g->bucket = b;
	b = &b[g->n_buckets++];
	*b = (struct grade_bucket){ .op = op, .part = part };
	return b;
}

static int add_projected(struct kv_sizes *s, const struct kv_split *p)
{
	int ret = 0;

	if (p->n > 1)
		ret = kv_sizes_add(s, p->xfer, p->n - 1, 0);
	if (!ret && p->n)
		ret = kv_sizes_add(s, p->last, 1, 0);
	return ret;
}

static int add_sizes(struct kv_sizes *s, const struct kv_plan *p, const struct grade_cmd *c, u64 n)
{
	int ret = add_projected(s, &p->header);
	u64 i;

	if (!ret)
		ret = add_projected(s, &p->payload);
	for (i = 0; i < n && !ret; i++)
		ret = kv_sizes_add(s, c[i].bytes, 0, 1);
	return ret;
}

/* The commands of the operation that reached the device, in the order of time. */
static int collect(struct grade_work *w, struct grade_op *o)
{
	const struct model *m = w->m;
	u32 first = m->op.first_cmd[o->op], n = m->op.n_cmds[o->op], i;

	w->n = 0;
	if (grade_room(w, n))
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		u32 cmd = m->cmd_order[first + i];
		enum cmd_state state = cmd_state(m, cmd);
		enum dir way = cmd_dir(&w->dirs, m, cmd);
		struct grade_cmd *c = &w->cmd[w->n];

		if (!cmd_reached_device(state)) {
			w->g->refused_cmds += state == STATE_REFUSED;
			continue;
		}
		*c = (struct grade_cmd){ .row = cmd, .bytes = cmd_op_bytes(m, cmd, o->op) };
		o->failed += state == STATE_FAILED;
		o->wrong_way += way != (w->kv_op == KV_STORE ? DIR_WRITE : DIR_READ);
		o->measured_bytes += c->bytes;
		w->n++;
	}
	o->measured_cmds = w->n;
	return 0;
}

/*
 * True when the sizes are those of the plan.  *foreign becomes true when one
 * is not of the plan at all, or too often: no loss explains that.
 */
static int compare_sizes(struct grade_work *w, const struct kv_plan *p, bool *same, bool *foreign)
{
	struct kv_sizes s = {};
	int ret = add_sizes(&s, p, w->cmd, w->n);
	u32 i;

	*same = true;
	for (i = 0; i < s.n; i++) {
		*same &= s.v[i].projected == s.v[i].measured;
		*foreign |= s.v[i].measured > s.v[i].projected;
	}
	kv_sizes_free(&s);
	return ret;
}

static int grade_op(struct grade_work *w, struct grade_op *o)
{
	const struct model *m = w->m;
	bool same, store = is_word(m, m->op.name[o->op], "store");
	struct grade_bucket *b;
	struct kv_plan *p = &w->plan;
	int ret;

	w->kv_op = store ? KV_STORE : KV_LOAD;
	/* A record may claim more bytes than there are numbers: what came is then too few. */
	if (kv_plan(p, w->kv_op, m->op.bytes[o->op], w->o->header_bytes, w->o->xfer, w->o->align))
		kv_plan(p, w->kv_op, UINT64_MAX / 4, w->o->header_bytes, w->o->xfer, w->o->align);
	ret = collect(w, o);
	if (!ret)
		ret = compare_sizes(w, p, &same, &w->foreign);
	if (ret)
		return ret;
	o->projected_cmds = p->commands;
	o->projected_bytes = p->device_bytes;
	o->flags |= o->projected_cmds == o->measured_cmds ? GRADE_COUNT : 0;
	o->flags |= o->projected_bytes == o->measured_bytes ? GRADE_BYTES : 0;
	o->flags |= same ? GRADE_SIZES : 0;
	o->flags |= !o->wrong_way && !o->failed ? GRADE_WAY : 0;
	ret = grade_place(w, o);
	if (ret)
		return ret;
	b = bucket_of(w->g, m->op.name[o->op], is_word(m, m->op.part[o->op], "kv") ? 0 : m->op.part[o->op]);
	if (!b)
		return -ENOMEM;
	ret = add_sizes(&b->sizes, p, w->cmd, w->n);
	return ret ? ret : add_sizes(&w->g->sizes, p, w->cmd, w->n);
}

static void add_to(u64 *sum, u64 v)
{
	if (__builtin_add_overflow(*sum, v, sum))
		*sum = UINT64_MAX;
}

static void sum_op(struct grade *g, struct grade_op *o)
{
	const u32 needed = GRADE_COUNT | GRADE_BYTES | GRADE_SIZES | GRADE_WAY;
	bool place_fits = !(o->flags & GRADE_PLACED) || (o->flags & GRADE_PLACE);

	if ((o->flags & needed) == needed && place_fits)
		o->flags |= GRADE_EXACT;
	g->exact += !!(o->flags & GRADE_EXACT);
	g->exact_count += !!(o->flags & GRADE_COUNT);
	g->exact_bytes += !!(o->flags & GRADE_BYTES);
	g->exact_count_and_bytes += (o->flags & GRADE_COUNT) && (o->flags & GRADE_BYTES);
	g->exact_sizes += !!(o->flags & GRADE_SIZES);
	g->right_way += !!(o->flags & GRADE_WAY);
	g->placed += !!(o->flags & GRADE_PLACED);
	g->right_place += !!(o->flags & GRADE_PLACE);
	g->in_order += !!(o->flags & GRADE_ORDER);
	add_to(&g->projected_cmds, o->projected_cmds);
	add_to(&g->measured_cmds, o->measured_cmds);
	add_to(&g->projected_bytes, o->projected_bytes);
	add_to(&g->measured_bytes, o->measured_bytes);
	if (o->measured_bytes > o->projected_bytes)
		add_to(&g->extra_bytes, o->measured_bytes - o->projected_bytes);
	else
		add_to(&g->missing_bytes, o->projected_bytes - o->measured_bytes);
	if (o->measured_cmds > o->projected_cmds)
		add_to(&g->extra_cmds, o->measured_cmds - o->projected_cmds);
	else
		add_to(&g->missing_cmds, o->projected_cmds - o->measured_cmds);
	g->abs_error_bytes = g->missing_bytes;
	add_to(&g->abs_error_bytes, g->extra_bytes);
	g->contradicted |= o->wrong_way || o->failed || o->overlap_bytes || o->outside_bytes ||
			   o->measured_cmds > o->projected_cmds || o->measured_bytes > o->projected_bytes;
}

/* ---- what is in no operation ---- */

static void count_others(struct grade *g, const struct model *m)
{
	u32 i, first;

	for (i = 0; i < m->cmd.n; i++) {
		u64 bytes = m->cmd.bytes[i];

		if (!cmd_reached_device(cmd_state(m, i)))
			continue;
		if (m->cmd.op[i] != NONE || cmd_parts(m, i, &first))
			continue;
		if (m->join == JOIN_TRACE_ID && cmd_trace_id(m, i)) {
			g->orphan_cmds++;
			g->orphan_bytes += bytes;
		} else {
			g->untagged_cmds++;
			g->untagged_bytes += bytes;
		}
	}
	g->ambiguous_cmds = m->join == JOIN_TRACE_ID ? m->collisions.by_end : 0;
}

/* Operations that share a trace id within one producer. */
static int count_duplicates(struct grade *g, const struct model *m)
{
	struct map64 seen = {};
	bool is_new;
	u32 i;
	int ret = 0;

	for (i = 0; i < g->n && !ret; i++) {
		u32 op = g->op[i].op;
		u64 who = (u64)m->op.instance[op] << 32 | m->op.pid[op];

		if (!map64_put(&seen, hash_u64(m->op.trace_id[op]) ^ hash_u64(who + 1), &is_new))
			ret = -ENOMEM;
		g->duplicate_ids += !is_new;
	}
	map64_free(&seen);
	return ret;
}

static void judge(struct grade *g, const struct model *m, const struct grade_options *o, bool foreign)
{
	const struct health *h = &g->health;
	bool sem_cut = m->sem_in.malformed || m->sem_in.tail_cut || m->sem_in.input_cut;

	g->no_data = !g->n || !m->cmd.n;
	g->incomplete = h->dropped || h->hook_missed || h->unread || h->malformed || h->tail_cut || h->not_closed ||
			g->no_data || (h->no_account && !o->assume_complete);
	/* Commands of records that were cut off have no other. */
	g->contradicted |= foreign || g->duplicate_ids || g->ambiguous_cmds || (g->orphan_cmds && !sem_cut);
	g->deviates = g->contradicted || g->exact < g->n || g->orphan_cmds;
}

int grade_take(struct grade *g, const struct model *m, const struct semantic *s, const struct grade_options *o)
{
	struct grade_work w = { .g = g, .m = m, .semantic = s, .o = o };
	u32 i;
	int ret;

	*g = (struct grade){};
	health_take(&g->health, m);
	dir_names_init(&w.dirs, m);
	ret = choose_ops(g, m);
	if (!ret && s)
		ret = grade_match(&w);
	for (i = 0; i < g->n && !ret; i++) {
		ret = grade_op(&w, &g->op[i]);
		if (!ret)
			sum_op(g, &g->op[i]);
	}
	for (i = 0; i < g->n_buckets && !ret; i++)
		ret = kv_sizes_compare(&g->bucket[i].sizes, &g->bucket[i].distance);
	if (!ret)
		ret = kv_sizes_compare(&g->sizes, &g->distance);
	count_others(g, m);
	if (!ret && m->join == JOIN_TRACE_ID)
		ret = count_duplicates(g, m);
	judge(g, m, o, w.foreign);
	grade_work_free(&w);
	return ret;
}
