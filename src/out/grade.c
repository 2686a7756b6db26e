// SPDX-License-Identifier: Apache-2.0
#include "out/grade.h"

#include <stdio.h>
#include <string.h>

#include "lib/human.h"
#include "out/report_json.h"
#include "out/report_text.h"

#define MAX_ROWS 20 /* of the text, unless all are asked for */

enum grade_verdict grade_verdict(const struct grade *g)
{
	if (g->contradicted)
		return GRADE_IS_MISMATCH;
	if (g->no_data)
		return GRADE_IS_NO_DATA;
	if (g->incomplete)
		return GRADE_IS_INCOMPLETE;
	return g->deviates ? GRADE_IS_MISMATCH : GRADE_IS_EXACT;
}

/* Operations with the trace id of another one, which another producer gave out. */
static u64 shared_ids(const struct grade_context *c)
{
	u64 all = c->m->join == JOIN_TRACE_ID ? c->m->dup_trace_ids : 0;

	return all - MIN(all, c->g->duplicate_ids);
}

static double wape(u64 error, u64 of)
{
	return 100.0 * (double)error / (double)of;
}

/* Why the capture is not the whole truth: half sentences, NULL-ended. */
static u32 defects(const struct grade_context *c, const char *out[8], char *text, size_t n)
{
	const struct health *h = &c->g->health;
	u32 k = 0;

	if (h->dropped || h->hook_missed || h->unread) {
		snprintf(text, n, "%llu events were lost while recording",
			 ULL(h->dropped + h->hook_missed + h->unread));
		out[k++] = text;
	}
	if (h->malformed)
		out[k++] = "lines could not be read";
	if (h->tail_cut)
		out[k++] = "an input is cut";
	if (h->not_closed)
		out[k++] = "the recording was not ended properly";
	if (h->no_account && !c->o.assume_complete)
		out[k++] = "it does not say how much was lost (--assume-complete, if nothing)";
	return k;
}

/* ---- text ---- */

static void verdict_text(struct buf *out, const struct grade_context *c)
{
	const struct grade *g = c->g;
	const char *why[8];
	char lost[64];
	u32 n = defects(c, why, lost, sizeof(lost)), i;

	if (!g->n)
		buf_str(out, "no data: no store or load to score in the semantic trace\n");
	else if (!c->m->cmd.n)
		buf_printf(out, "no data: not one command for %u operations\n", g->n);
	else
		buf_printf(out, "%s: %llu of %u operations are exact\n",
			   grade_verdict(g) == GRADE_IS_EXACT	   ? "exact"
			   : grade_verdict(g) == GRADE_IS_MISMATCH ? "mismatch"
								   : "incomplete",
			   ULL(g->exact), g->n);
	for (i = 0; i < n; i++)
		buf_printf(out, "incomplete: %s\n", why[i]);
}

static void scores_text(struct buf *out, const struct grade *g)
{
	const struct {
		const char *what;
		u64 n, of;
	} rows[] = {
		{ "number of commands", g->exact_count, g->n },	    { "bytes", g->exact_bytes, g->n },
		{ "size of each command", g->exact_sizes, g->n },   { "direction, no failure", g->right_way, g->n },
		{ "place in the slot", g->right_place, g->placed }, { "order (not required)", g->in_order, g->placed },
	};
	size_t i;

	buf_str(out, "\nright in            operations\n");
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].of)
			buf_printf(out, "%-22s %7llu of %llu\n", rows[i].what, ULL(rows[i].n), ULL(rows[i].of));
	if (g->placed < g->n)
		buf_printf(out, "%-22s %7llu are not known\n", "place in the slot", ULL(g->n - g->placed));
}

static void side_text(struct buf *out, const struct kv_size_side *s)
{
	char t[64];

	if (s->n)
		snprintf(t, sizeof(t), "%llu [%llu..%llu]", ULL(s->n), ULL(s->min), ULL(s->max));
	buf_printf(out, " %-24s", s->n ? t : "0");
}

static void distance_text(struct buf *out, const char *name, const struct kv_size_distance *d)
{
	buf_printf(out, "%-12.12s", name);
	side_text(out, &d->projected);
	side_text(out, &d->measured);
	buf_printf(out, " %.4f %.4f\n", d->tv_exact, d->tv_log2);
}

static void sizes_text(struct buf *out, const struct grade_context *c)
{
	const struct grade *g = c->g;
	u32 i;

	buf_printf(out, "\n%-12s %-24s %-24s TV     TV log2\n", "sizes", "projected [min..max]", "measured");
	distance_text(out, "all", &g->distance);
	for (i = 0; i < g->n_buckets; i++) {
		const struct grade_bucket *b = &g->bucket[i];
		struct buf name = {};

		report_safe(&name, strpool_get(&c->m->strings, b->op), strpool_len(&c->m->strings, b->op));
		buf_byte(&name, '/');
		if (b->part)
			report_safe(&name, strpool_get(&c->m->strings, b->part), strpool_len(&c->m->strings, b->part));
		else
			buf_lit(&name, "kv");
		buf_byte(&name, '\0');
		distance_text(out, name.failed ? "" : name.p, &b->distance);
		buf_free(&name);
	}
	if (g->distance.projected.n && g->distance.measured.n)
		buf_printf(out, "a command is off by %.0f B on average (earth mover's distance)\n",
			   g->distance.emd_bytes);
}

static void bytes_text(struct buf *out, const struct grade *g)
{
	buf_printf(out, "\n%-10s %20s %20s %12s %12s\n", "", "projected", "measured", "missing", "extra");
	buf_printf(out, "%-10s %20llu %20llu %12llu %12llu\n", "commands", ULL(g->projected_cmds),
		   ULL(g->measured_cmds), ULL(g->missing_cmds), ULL(g->extra_cmds));
	buf_printf(out, "%-10s %20llu %20llu %12llu %12llu\n", "bytes", ULL(g->projected_bytes), ULL(g->measured_bytes),
		   ULL(g->missing_bytes), ULL(g->extra_bytes));
	if (!g->projected_bytes || !g->measured_bytes)
		return;
	buf_printf(out, "WAPE       %.4f %% of projected, %.4f %% of measured bytes\n",
		   wape(g->abs_error_bytes, g->projected_bytes), wape(g->abs_error_bytes, g->measured_bytes));
}

static void parts_text(struct buf *out, const struct grade *g)
{
	u32 op, p;

	for (op = 0; op < N_KV_OPS; op++) {
		bool first = true;

		for (p = 0; p < N_GRADE_PARTS; p++) {
			if (!g->part_bytes[op][p])
				continue;
			buf_printf(out, "%s%s %llu", first ? (op ? "\nloaded     " : "\nstored     ") : ", ",
				   grade_part_name((enum grade_part)p), ULL(g->part_bytes[op][p]));
			first = false;
		}
	}
	buf_byte(out, '\n');
}

static void others_text(struct buf *out, const struct grade_context *c)
{
	const struct grade *g = c->g;

	if (g->untagged_cmds)
		buf_printf(out, "untagged   %llu commands, %llu B: metadata or other users\n", ULL(g->untagged_cmds),
			   ULL(g->untagged_bytes));
	if (g->orphan_cmds)
		buf_printf(out, "orphans    %llu commands, %llu B: tagged, but no record has the tag\n",
			   ULL(g->orphan_cmds), ULL(g->orphan_bytes));
	if (g->duplicate_ids)
		buf_printf(out, "duplicates %llu operations have the trace id of another one\n", ULL(g->duplicate_ids));
	if (shared_ids(c))
		buf_printf(out, "shared     %llu operations have the trace id of another producer's\n",
			   ULL(shared_ids(c)));
	if (g->ambiguous_cmds)
		buf_printf(out, "ambiguous  %llu commands fit several operations of one trace id\n",
			   ULL(g->ambiguous_cmds));
	if (g->refused_cmds)
		buf_printf(out, "refused    %llu commands failed before the device, and count for nothing\n",
			   ULL(g->refused_cmds));
	if (g->unscored_ops)
		buf_printf(out, "not scored %llu operations (failed, deleted), with %llu commands\n",
			   ULL(g->unscored_ops), ULL(g->unscored_cmds));
}

/* What is wrong with an operation, in few words. */
static void fault_text(struct buf *out, const struct grade_op *o)
{
	u64 wrong = o->wrong_way;

	if (o->flags & GRADE_EXACT)
		buf_str(out, "exact");
	else if (!o->measured_cmds)
		buf_str(out, "no command");
	else if (wrong)
		buf_printf(out, "%llu wrong way", ULL(wrong));
	else if (o->failed)
		buf_printf(out, "%llu failed", ULL(o->failed));
	else if (!(o->flags & GRADE_COUNT) || !(o->flags & GRADE_BYTES))
		buf_str(out, o->measured_bytes > o->projected_bytes || o->measured_cmds > o->projected_cmds
				     ? "too many"
				     : "too few");
	else if (!(o->flags & GRADE_SIZES))
		buf_str(out, "other sizes");
	else if (o->outside_bytes)
		buf_str(out, "outside its slot");
	else
		buf_str(out, "holes, overlaps");
}

static void rows_text(struct buf *out, const struct grade_context *c)
{
	const struct grade *g = c->g;
	u64 shown = 0, left = 0;
	u32 i;

	for (i = 0; i < g->n; i++) {
		const struct grade_op *o = &g->op[i];

		if (!c->all_rows && (o->flags & GRADE_EXACT))
			continue;
		if (!c->all_rows && shown == MAX_ROWS) {
			left++;
			continue;
		}
		if (!shown++)
			buf_printf(out, "\n%10s %-6s %15s %26s  %s\n", "id", "op", "commands", "bytes", "");
		buf_printf(out, "%10llu ", ULL(c->m->op.join_id[o->op]));
		buf_printf(out, "%-6.6s %7llu/%-7llu %13llu/%-12llu  ",
			   strpool_get(&c->m->strings, c->m->op.name[o->op]), ULL(o->measured_cmds),
			   ULL(o->projected_cmds), ULL(o->measured_bytes), ULL(o->projected_bytes));
		fault_text(out, o);
		buf_byte(out, '\n');
	}
	if (left)
		buf_printf(out, "and %llu more (--rows shows all)\n", ULL(left));
}

void grade_text(struct buf *out, const struct grade_context *c)
{
	verdict_text(out, c);
	buf_printf(out, "projection of commands of %llu B at most, aligned to %llu B; header %llu B%s\n",
		   ULL(c->o.xfer), ULL(c->o.align), ULL(c->o.header_bytes),
		   c->from_trace ? "\n           (from the trace)" : "");
	buf_printf(out, "joined by %s", join_name(c->m->join));
	if (c->m->join_why)
		buf_printf(out, ": %s", c->m->join_why);
	buf_byte(out, '\n');
	if (c->g->n) {
		scores_text(out, c->g);
		bytes_text(out, c->g);
		sizes_text(out, c);
		parts_text(out, c->g);
	}
	others_text(out, c);
	rows_text(out, c);
}

/* ---- JSON ---- */

static void side_json(struct json *j, const char *name, const struct kv_size_side *s)
{
	jw_object(j, name);
	jw_number(j, "n", s->n);
	jw_number_of(j, "min", s->min, s->n);
	jw_number_of(j, "max", s->max, s->n);
	jw_close(j, '}');
}

static void distance_json(struct json *j, const struct kv_size_distance *d)
{
	side_json(j, "projected", &d->projected);
	side_json(j, "measured", &d->measured);
	jw_real(j, "tv_exact", d->tv_exact);
	jw_real(j, "tv_log2", d->tv_log2);
	jw_real_of(j, "emd_bytes", d->emd_bytes, d->projected.n && d->measured.n);
}

static void row_json(struct json *j, const struct grade_context *c, const struct grade_op *o)
{
	const struct op_table *t = &c->m->op;

	jw_item(j);
	jw_open(j, '{');
	jw_number(j, "trace_id", t->join_id[o->op]);
	jw_pooled(j, "op", &c->m->strings, t->name[o->op]);
	jw_pooled(j, "key", &c->m->strings, t->key[o->op]);
	jw_number(j, "projected_commands", o->projected_cmds);
	jw_number(j, "measured_commands", o->measured_cmds);
	jw_number(j, "projected_bytes", o->projected_bytes);
	jw_number(j, "measured_bytes", o->measured_bytes);
	jw_bool(j, "exact", o->flags & GRADE_EXACT);
	jw_bool(j, "sizes_exact", o->flags & GRADE_SIZES);
	jw_number(j, "wrong_direction", o->wrong_way);
	jw_number(j, "failed", o->failed);
	jw_bool(j, "place_known", o->flags & GRADE_PLACED);
	if (o->flags & GRADE_PLACED) {
		jw_number(j, "hole_bytes", o->hole_bytes);
		jw_number(j, "overlap_bytes", o->overlap_bytes);
		jw_number(j, "outside_bytes", o->outside_bytes);
		jw_bool(j, "in_order", o->flags & GRADE_ORDER);
	}
	jw_close(j, '}');
}

static void buckets_json(struct json *j, const struct grade_context *c)
{
	u32 i;

	jw_array(j, "buckets");
	for (i = 0; i < c->g->n_buckets; i++) {
		const struct grade_bucket *b = &c->g->bucket[i];

		jw_item(j);
		jw_open(j, '{');
		jw_pooled(j, "op", &c->m->strings, b->op);
		if (b->part)
			jw_pooled(j, "part", &c->m->strings, b->part);
		else
			jw_string(j, "part", "kv");
		distance_json(j, &b->distance);
		jw_close(j, '}');
	}
	jw_close(j, ']');
}

static void parts_json(struct json *j, const struct grade *g)
{
	u32 op, p;

	jw_object(j, "parts");
	for (op = 0; op < N_KV_OPS; op++) {
		jw_object(j, kv_op_name((enum kv_op)op));
		for (p = 0; p < N_GRADE_PARTS; p++)
			jw_number(j, grade_part_name((enum grade_part)p), g->part_bytes[op][p]);
		jw_close(j, '}');
	}
	jw_close(j, '}');
}

static void scores_json(struct json *j, const struct grade *g)
{
	jw_number(j, "objects", g->n);
	jw_number(j, "exact", g->exact);
	jw_number(j, "exact_count", g->exact_count);
	jw_number(j, "exact_bytes", g->exact_bytes);
	jw_number(j, "exact_count_and_bytes", g->exact_count_and_bytes);
	jw_number(j, "exact_sizes", g->exact_sizes);
	jw_number(j, "right_direction", g->right_way);
	jw_number(j, "place_known", g->placed);
	jw_number(j, "right_place", g->right_place);
	jw_number(j, "in_order", g->in_order);
	jw_number(j, "projected_commands", g->projected_cmds);
	jw_number(j, "measured_commands", g->measured_cmds);
	jw_number(j, "missing_commands", g->missing_cmds);
	jw_number(j, "extra_commands", g->extra_cmds);
	jw_number(j, "projected_bytes", g->projected_bytes);
	jw_number(j, "measured_bytes", g->measured_bytes);
	jw_number(j, "missing_bytes", g->missing_bytes);
	jw_number(j, "extra_bytes", g->extra_bytes);
	jw_real_of(j, "wape_projected_percent", g->projected_bytes ? wape(g->abs_error_bytes, g->projected_bytes) : 0,
		   g->projected_bytes && g->measured_bytes);
	jw_real_of(j, "wape_measured_percent", g->measured_bytes ? wape(g->abs_error_bytes, g->measured_bytes) : 0,
		   g->measured_bytes);
}

static void others_json(struct json *j, const struct grade_context *c)
{
	const struct grade *g = c->g;
	const struct {
		const char *name;
		u64 cmds, bytes;
	} rows[] = { { "untagged", g->untagged_cmds, g->untagged_bytes },
		     { "orphans", g->orphan_cmds, g->orphan_bytes } };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		jw_object(j, rows[i].name);
		jw_number(j, "commands", rows[i].cmds);
		jw_number(j, "bytes", rows[i].bytes);
		jw_close(j, '}');
	}
	jw_number(j, "duplicate_ids", g->duplicate_ids);
	jw_number(j, "shared_ids", shared_ids(c));
	jw_number(j, "ambiguous_commands", g->ambiguous_cmds);
	jw_number(j, "refused_commands", g->refused_cmds);
	jw_number(j, "unscored_operations", g->unscored_ops);
	jw_number(j, "unscored_commands", g->unscored_cmds);
}

static void completeness_json(struct json *j, const struct grade_context *c)
{
	const struct health *h = &c->g->health;
	const char *why[8];
	char lost[64];
	u32 n = defects(c, why, lost, sizeof(lost)), i;

	jw_object(j, "completeness");
	jw_bool(j, "complete", !c->g->incomplete);
	jw_number(j, "dropped", h->dropped + h->hook_missed + h->unread);
	jw_number(j, "malformed_lines", h->malformed);
	jw_number_of(j, "first_bad_line", h->first_bad_line, h->first_bad_line);
	jw_bool(j, "cut", h->tail_cut);
	jw_bool(j, "has_account", !h->no_account);
	jw_array(j, "reasons");
	for (i = 0; i < n; i++) {
		jw_item(j);
		buf_json(j->b, why[i], strlen(why[i]));
	}
	jw_close(j, ']');
	jw_close(j, '}');
}

void grade_json(struct buf *out, const struct grade_context *c)
{
	static const char *const verdicts[] = { "exact", "mismatch", "incomplete", "no data" };
	struct json j = { .b = out };
	u32 i;

	jw_open(&j, '{');
	jw_string(&j, "schema", "kvio.validate.v1");
	jw_string(&j, "verdict", verdicts[grade_verdict(c->g)]);
	jw_string(&j, "join", join_name(c->m->join));
	jw_object(&j, "projection");
	jw_number(&j, "xfer_bytes", c->o.xfer);
	jw_number(&j, "align_bytes", c->o.align);
	jw_number(&j, "header_bytes", c->o.header_bytes);
	jw_bool(&j, "from_trace", c->from_trace);
	jw_close(&j, '}');
	completeness_json(&j, c);
	scores_json(&j, c->g);
	jw_object(&j, "sizes");
	distance_json(&j, &c->g->distance);
	jw_close(&j, '}');
	buckets_json(&j, c);
	parts_json(&j, c->g);
	others_json(&j, c);
	jw_array(&j, c->all_rows ? "rows" : "deviations");
	for (i = 0; i < c->g->n; i++)
		if (c->all_rows || !(c->g->op[i].flags & GRADE_EXACT))
			row_json(&j, c, &c->g->op[i]);
	jw_close(&j, ']');
	jw_close(&j, '}');
	buf_byte(out, '\n');
}
