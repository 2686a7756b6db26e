// SPDX-License-Identifier: Apache-2.0
/* The text report: objects, shards, requests. */
#include <string.h>

#include "out/report_text.h"

/* One line of sizes and rates, one of where the time of an object goes. */
static void one_object(struct buf *out, const struct model *m, const struct measure_objects *o)
{
	text_name(out, &m->strings, o->name);
	buf_printf(out, " %7llu", ULL(o->n));
	text_bytes(out, o->size.p50);
	buf_printf(out, " %7.1f", o->with_cmds ? (double)o->commands / (double)o->with_cmds : 0);
	if (o->span.n) {
		text_ns(out, o->span.p50);
		text_ns(out, o->span.p99);
	} else {
		buf_printf(out, " %9s %9s", "-", "-");
	}
	if (o->eff_n)
		buf_printf(out, o->eff_mbs_p50 < 1e8 ? " %8.0f" : " %8.1e", o->eff_mbs_p50);
	else
		buf_printf(out, " %8s", "-");
	buf_printf(out, " %7llu\n", ULL(o->failed));
	if (o->instants)
		buf_printf(out, "  %-*s   and %llu without a duration or commands\n", NAME_WIDTH, "", ULL(o->instants));
	if (!o->device.n && !o->presubmit.n)
		return;
	buf_printf(out, "  %-*s   p50:", NAME_WIDTH, "");
	if (o->presubmit.n) {
		buf_lit(out, " before first command ");
		report_ns(out, o->presubmit.p50);
	}
	if (o->device.n) {
		buf_str(out, o->presubmit.n ? "; device " : " device ");
		report_ns(out, o->device.p50);
		buf_lit(out, ", host ");
		report_ns(out, o->host.p50);
	}
	buf_byte(out, '\n');
}

/* How long the others wait for the last shard, which one that is, and why. */
static void barrier(struct buf *out, const struct model *m, const struct measure_barrier *b)
{
	static const char *const because[N_CAUSES] = {
		[CAUSE_START] = "it began later",
		[CAUSE_QUEUE] = "longer before its first command",
		[CAUSE_DEVICE] = "its commands took longer",
		[CAUSE_HOST] = "longer between and behind its commands",
	};
	u32 i;
	int c;

	if (!b->n)
		return;
	buf_printf(out, "\nshards: last of %llu is ready ", ULL(b->shards));
	report_ns(out, b->gap.p50);
	buf_lit(out, " after the first (p50), p99 ");
	report_ns(out, b->gap.p99);
	buf_printf(out, " (n %llu)\n", ULL(b->n));
	if (b->partial)
		buf_printf(out, "        %llu chunks of some shards only are left out\n", ULL(b->partial));
	for (c = 0; c < N_CAUSES; c++) {
		if (!b->cause_n[c] && !b->cause_ns[c])
			continue;
		buf_printf(out, "        %5.1f %%: %-39s (%.1f %% of the wait)\n", text_percent(b->cause_n[c], b->n),
			   because[c], b->gap.sum ? 100.0 * (double)b->cause_ns[c] / (double)b->gap.sum : 0);
	}
	buf_lit(out, "        last:");
	for (i = 0; i < MIN(b->n_shards, 4u) && b->shard[i].last; i++) {
		u32 key = m->op.key[b->shard[i].op];
		struct key_parts k;

		key_parse(&k, strpool_get(&m->strings, key), strpool_len(&m->strings, key));
		buf_str(out, i ? ", " : " ");
		report_safe(out, k.fmt, MIN(k.fmt_len, (size_t)NAME_WIDTH));
		buf_printf(out, " %.0f %%", text_percent(b->shard[i].last, b->n));
	}
	buf_byte(out, '\n');
}

void text_objects(struct buf *out, const struct model *m, const struct measure *x)
{
	u32 i;

	if (!x->n_obj)
		return;
	buf_printf(out, "\nobjects (without failed ones; at most %llu in flight)\n", ULL(x->max_objects_in_flight));
	buf_printf(out, "  %-*s %7s %9s %7s %9s %9s %8s %7s\n", NAME_WIDTH, "", "n", "size p50", "cmds/op", "span p50",
		   "p99", "MB/s p50", "failed");
	for (i = 0; i < x->n_obj; i++)
		one_object(out, m, &x->obj[i]);
	for (i = 0; i < x->n_errors && i < 5; i++) {
		buf_lit(out, "  error: ");
		report_safe(out, strpool_get(&m->strings, x->error[i]),
			    MIN(strpool_len(&m->strings, x->error[i]), (size_t)WIDTH - 9));
		buf_byte(out, '\n');
	}
	if (x->n_errors > 5)
		buf_printf(out, "  and %u other error texts\n", x->n_errors - 5);
	if (x->barrier.shards > 1)
		barrier(out, m, &x->barrier);
}

/* ---- requests ---- */

static void part_heads(struct buf *out)
{
	int p;

	for (p = 0; p < N_PARTS; p++)
		buf_printf(out, " %8.8s", p == PART_UNEXPLAINED ? "unexpl." : report_part_name(p));
}

static void one_request(struct buf *out, const struct model *m, const struct measure_request *q)
{
	u32 id = m->serving.request_id[q->span];
	int p;

	text_name(out, &m->strings, id ? id : m->serving.name[q->span]);
	text_ns(out, q->ns);
	for (p = 0; p < N_PARTS; p++) {
		struct buf t = {};

		report_ns(&t, q->part[p]);
		buf_printf(out, " %8.*s", (int)t.n, t.p);
		buf_free(&t);
	}
	buf_printf(out, " %4llu%s\n", ULL(q->objects), q->shared ? "*" : "");
}

void text_requests(struct buf *out, const struct model *m, const struct measure *x)
{
	u64 shared = 0;
	u32 i;
	int p;

	if (!x->n_requests)
		return;
	buf_lit(out, "\nwhere requests spend their time, per cent of it\n");
	buf_printf(out, "  %-*s %6s %9s", NAME_WIDTH, "", "n", "p50");
	part_heads(out);
	buf_byte(out, '\n');
	for (i = 0; i < x->n_serving; i++) {
		const struct measure_requests *s = &x->serving[i];

		text_name(out, &m->strings, s->name);
		buf_printf(out, " %6llu", ULL(s->n));
		text_ns(out, s->span.p50);
		for (p = 0; p < N_PARTS; p++)
			buf_printf(out, " %8.1f", text_percent(s->part[p], s->span.sum));
		buf_byte(out, '\n');
		shared += s->shared;
	}
	buf_printf(out, "the slowest of them\n  %-*s %9s", NAME_WIDTH, "", "span");
	part_heads(out);
	buf_lit(out, "  obj\n");
	for (i = 0; i < MIN(x->n_requests, (u32)REPORT_SLOWEST); i++)
		one_request(out, m, &x->request[i]);
	if (shared)
		buf_printf(out, "  * %llu overlap another request: their parts hold that one's IO as well\n",
			   ULL(shared));
}
