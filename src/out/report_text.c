// SPDX-License-Identifier: Apache-2.0
#include "out/report_text.h"
#include "out/report_calls.h"
#include "out/report_faults.h"
#include "out/report_tasks.h"

#include <stdlib.h>
#include <string.h>

void text_wrapped(struct buf *out, const char *first, const char *indent, const char *s, size_t n)
{
	size_t room = WIDTH - strlen(indent), at = 0;

	buf_str(out, first);
	while (n - at > room) {
		size_t cut = room;

		while (cut && s[at + cut] != ' ')
			cut--;
		if (!cut)
			break;
		buf_add(out, s + at, cut);
		buf_byte(out, '\n');
		buf_str(out, indent);
		at += cut + 1;
	}
	buf_add(out, s + at, n - at);
	buf_byte(out, '\n');
}

static void warnings(struct buf *out, const struct report_arm *a)
{
	struct report_warnings w;
	const char *s;
	u32 i;

	report_warnings(&w, a->m, &a->x->health);
	for (i = 0, s = w.text.p; i < w.n && !w.text.failed; i++, s += strlen(s) + 1)
		text_wrapped(out, "!! ", "   ", s, strlen(s));
	if (w.n)
		buf_byte(out, '\n');
	out->failed |= w.text.failed;
	buf_free(&w.text);
}

void text_ns(struct buf *out, u64 ns)
{
	struct buf t = {};

	report_ns(&t, ns);
	buf_printf(out, " %9.*s", (int)t.n, t.p);
	buf_free(&t);
}

void text_bytes(struct buf *out, u64 bytes)
{
	struct buf t = {};

	report_bytes(&t, bytes);
	buf_printf(out, " %9.*s", (int)t.n, t.p);
	buf_free(&t);
}

void text_name(struct buf *out, const struct strpool *s, u32 id)
{
	struct buf t = {};

	report_safe(&t, id ? strpool_get(s, id) : "other", id ? strpool_len(s, id) : 5);
	buf_printf(out, "  %-*.*s", NAME_WIDTH, (int)MIN(t.n, (size_t)NAME_WIDTH), t.n ? t.p : "");
	buf_free(&t);
}

void text_file(struct buf *out, struct slice name, size_t width)
{
	if (name.n > width) {
		buf_lit(out, "...");
		name.p += name.n - (width - 3);
		name.n = width - 3;
	}
	report_safe(out, name.p, name.n);
}

/* The gaps of one direction, their verdict, and what stands behind it. */
static void gaps(struct buf *out, const struct measure_qd1 *q)
{
	buf_lit(out, "          submission gap p50 ");
	report_ns(out, q->gap.p50);
	buf_lit(out, ", p95 ");
	report_ns(out, q->gap.p95);
	buf_printf(out, " (n %llu, %llu object%s)\n", ULL(q->gap.n), ULL(q->ops), q->ops == 1 ? "" : "s");
	if (!q->service.n)
		return;
	buf_lit(out, "          device needs ");
	report_ns(out, q->service.p25);
	buf_printf(out, " (p25, n %llu), %.1f %% of gaps >= half of it\n", ULL(q->service.n), 100 * q->long_gap_share);
	buf_printf(out, "          in flight of one object: %.2f on average, %.2f while busy;\n", q->in_flight,
		   q->busy_in_flight);
	buf_printf(out, "          %llu of %llu objects are serial on their own\n", ULL(q->serial_ops), ULL(q->ops));
	buf_printf(out, "          %.1f %% of submissions are followed by one of the same object\n",
		   100 * q->own_share);
}

static void qd1(struct buf *out, const char *name, const struct measure_qd1 *q)
{
	struct buf why = {}, cost = {};

	if (q->class == QD_UNKNOWN)
		return;
	buf_printf(out, "  %-7s ", name);
	if (q->verdict != QD1_UNKNOWN && q->class != QD_PIPELINED)
		buf_printf(out, "%s: ", report_qd1_word(q->verdict));
	buf_printf(out, "%s\n", report_class_word(q->class));
	report_class_why(&why, q);
	text_wrapped(out, "          ", "          ", why.p, why.n);
	out->failed |= why.failed;
	buf_free(&why);
	if (q->gap.n)
		gaps(out, q);
	if (report_cost(&cost, q))
		text_wrapped(out, "          ", "          ", cost.p, cost.n);
	out->failed |= cost.failed;
	buf_free(&cost);
}

static void verdict(struct buf *out, const struct report_arm *a)
{
	struct buf t = {};

	buf_str(out, "verdict: ");
	report_verdict(&t, a->m, a->x);
	text_wrapped(out, "", "         ", t.p, t.n);
	out->failed |= t.failed;
	buf_free(&t);
	qd1(out, "loads", &a->x->qd1[DIR_READ]);
	qd1(out, "stores", &a->x->qd1[DIR_WRITE]);
}

/* How well objects and commands fit together, where that is in doubt. */
static void fit(struct buf *out, const struct model *m)
{
	const struct offset_account *o = &m->offset;
	const struct id_collisions *c = &m->collisions;
	struct buf t = {};

	if (m->join == JOIN_OFFSET)
		buf_printf(
			&t,
			"commands in one object %llu, over several %llu, partly outside %llu, in none %llu, without a "
			"place %llu. ",
			ULL(o->unique), ULL(o->cross), ULL(o->gap_spill), ULL(o->unmatched), ULL(o->no_place));
	if (m->join == JOIN_OFFSET && o->cookie_cmds)
		buf_printf(&t, "%llu of %llu are in the object that their id names. ", ULL(o->agree),
			   ULL(o->cookie_cmds));
	if (c->ids)
		buf_printf(&t,
			   "%llu ids name several operations of one time: %llu commands told apart by process, %llu by "
			   "place, %llu by end only. ",
			   ULL(c->ids), ULL(c->by_pid), ULL(c->by_place), ULL(c->by_end));
	if (m->long_keys)
		buf_printf(&t, "%llu keys are too long for a command, and have no key_hex. ", ULL(m->long_keys));
	if (m->clock_anomalies)
		buf_printf(&t, "%llu operations end before their last command. ", ULL(m->clock_anomalies));
	if (t.n)
		text_wrapped(out, "         ", "         ", t.p, t.n - 1);
	out->failed |= t.failed;
	buf_free(&t);
}

static void capture(struct buf *out, const struct model *m)
{
	bool *used = calloc(m->n_devices + 1ul, sizeof(*used));
	struct buf t = {};
	bool differ = false;
	u32 i, shown = 0;

	if (m->sem_meta.present) {
		report_safe(&t, strpool_get(&m->strings, m->sem_meta.hostname),
			    strpool_len(&m->strings, m->sem_meta.hostname));
		buf_lit(&t, ", ");
		report_safe(&t, strpool_get(&m->strings, m->sem_meta.device_path),
			    strpool_len(&m->strings, m->sem_meta.device_path));
		buf_printf(&t, ", schema %llu, ", ULL(m->sem_meta.kvio_schema));
	}
	for (i = 0; used && i < m->cmd.n; i++)
		if (cmd_dev(m, i) < m->n_devices)
			used[cmd_dev(m, i)] = true;
	for (i = 0; used && i < m->n_devices; i++)
		differ |= used[i] && m->device[i].lba_bytes && m->device[i].lba_bytes != m->lba_bytes;
	for (i = 0; used && i < m->n_devices; i++) {
		if (!used[i] || !m->device[i].name || shown++ >= 4)
			continue;
		report_safe(&t, strpool_get(&m->strings, m->device[i].name),
			    strpool_len(&m->strings, m->device[i].name));
		if (differ && m->device[i].lba_bytes)
			buf_printf(&t, " (LBA %u B)", m->device[i].lba_bytes);
		buf_lit(&t, ", ");
	}
	free(used);
	if (shown > 4)
		buf_printf(&t, "and %u devices more, ", shown - 4);
	if (m->cmd.n && (!differ || m->lba_inferred || m->lba_said))
		buf_printf(&t, "LBA %u B, ", m->lba_bytes);
	if (!m->op.n)
		buf_printf(&t, "no semantic trace%s", m->cookies_are_addresses ? ", user_data are addresses" : "");
	else if (m->join == JOIN_NONE)
		buf_lit(&t, "not joined");
	else
		buf_printf(&t, "joined by %s", report_join_name(m));
	buf_lit(out, "\ncapture: ");
	text_wrapped(out, "", "         ", t.p, t.n);
	buf_printf(out, "         read %llu semantic records; %llu commands, %llu completions\n",
		   ULL(m->sem_in.semantic), ULL(m->dev_in.commands), ULL(m->dev_in.completions));
	fit(out, m);
	out->failed |= t.failed;
	buf_free(&t);
}

static void count(struct buf *out, u64 n, const char *what)
{
	if (n)
		buf_printf(out, ", %llu %s", ULL(n), what);
}

static void commands(struct buf *out, const struct measure *x)
{
	const struct measure_cmds *c = &x->cmd;
	u32 i;

	if (!c->n && !c->state[STATE_REFUSED] && !c->state[STATE_REISSUED]) {
		buf_lit(out, "commands: none\n");
		return;
	}
	buf_printf(out, "commands: %llu (%llu tagged, %llu untagged), ", ULL(c->n), ULL(c->tagged), ULL(c->untagged));
	report_bytes(out, c->bytes);
	buf_lit(out, " in ");
	report_ns(out, x->wall_ns);
	buf_printf(out, "\n          %llu completed", ULL(c->state[STATE_OK]));
	count(out, c->state[STATE_FAILED], "failed");
	count(out, c->state[STATE_IN_FLIGHT], "in flight");
	count(out, c->state[STATE_UNPAIRED], "unpaired");
	count(out, c->state[STATE_BACKWARDS], "backwards");
	for (i = 0; i < MIN(x->n_failures, 5u); i++) {
		char code[32];

		report_status_code(code, sizeof(code), &x->failure[i]);
		buf_printf(out, "\n          %s %llu: %s (%s)",
			   x->failure[i].kind == STATUS_ERRNO ? "refused" : "failed", ULL(x->failure[i].n),
			   report_status_name(&x->failure[i]), code);
	}
	if (x->n_failures > 5)
		buf_printf(out, "\n          and %u other kinds of failure", x->n_failures - 5);
	buf_printf(out, "\n          latency known for %.1f %%\n", 100 * c->coverage);
	if (c->state[STATE_REFUSED] || c->state[STATE_REISSUED])
		buf_printf(out, "          besides: %llu refused before the device, %llu attempts re-issued\n",
			   ULL(c->state[STATE_REFUSED]), ULL(c->state[STATE_REISSUED]));
	if (c->retried)
		buf_printf(out, "          %llu took more than one attempt\n", ULL(c->retried));
	if (x->wall_ns)
		buf_printf(out, "          %.3f %s of %s data, failed commands%s left out\n",
			   x->throughput_gbs < 0.1 ? 1e3 * x->throughput_gbs : x->throughput_gbs,
			   x->throughput_gbs < 0.1 ? "MB/s" : "GB/s", x->pool_tagged ? "tagged" : "all",
			   x->pool_unmoved_bytes ? ", discards and zeroes" : "");
}

static void latencies(struct buf *out, const struct model *m, const struct measure *x)
{
	u32 i;

	if (!x->n_lat)
		return;
	buf_printf(out, "\ndevice latency of %s commands (%s percentiles)\n", x->pool_tagged ? "tagged" : "all",
		   percentile_name(x->method));
	buf_printf(out, "  %-*s %9s %9s %9s %9s %9s %7s %7s\n", NAME_WIDTH, "", "n", "p50", "p95", "p99", "max",
		   "failed", "no cmp");
	for (i = 0; i < x->n_lat; i++) {
		const struct measure_lat *l = &x->lat[i];

		text_name(out, &m->strings, l->name);
		buf_printf(out, " %9llu", ULL(l->lat.n));
		if (l->lat.n) {
			text_ns(out, l->lat.p50);
			text_ns(out, l->lat.p95);
			text_ns(out, l->lat.p99);
			text_ns(out, l->lat.max);
		} else {
			buf_printf(out, " %9s %9s %9s %9s", "-", "-", "-", "-");
		}
		buf_printf(out, " %7llu %6.1f%%\n", ULL(l->failed), text_percent(l->unpaired, l->n));
	}
}

static void depth(struct buf *out, const struct measure *x)
{
	const struct measure_depth *d = &x->depth;

	if (d->n)
		buf_printf(out,
			   "\nqueue depth: mean %.2f, %.2f while busy (%.1f %% of the time), max %llu\n"
			   "             at most 1 in flight for %.1f %% of the time (n %llu)\n",
			   d->mean, d->busy_mean, text_percent(d->busy_ns, d->span_ns), ULL(d->max), 100 * d->le1_share,
			   ULL(d->n));
	if (!x->batch.n)
		return;
	buf_printf(out, "batches: %llu (split where nothing is submitted for ", ULL(x->batch.n));
	report_ns(out, x->batch.gap_ns);
	buf_printf(out, "),\n         size p50 %llu, p95 %llu, max %llu\n", ULL(x->batch.size.p50),
		   ULL(x->batch.size.p95), ULL(x->batch.size.max));
}

static void space(struct buf *out, const struct measure *x)
{
	const struct measure_space *s = &x->space;
	const struct measure_cmds *c = &x->cmd;

	if (!s->writes)
		return;
	buf_printf(out, "\nspace: %llu writes, %.1f %% follow the one before\n", ULL(s->writes),
		   100 * s->sequential_share);
	buf_printf(out, "       %llu of them go to an LBA written before\n", ULL(s->reused));
	if (c->headers)
		buf_printf(out, "       %llu of them are headers: %.2f %% of the bytes written\n", ULL(c->headers),
			   100 * c->header_share);
}

void report_text(struct buf *out, const struct report_arm *arms, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		const struct report_arm *a = &arms[i];

		if (i)
			buf_byte(out, '\n');
		buf_lit(out, "===== ");
		report_safe(out, a->label, strlen(a->label));
		buf_lit(out, " =====\n");
		warnings(out, a);
		verdict(out, a);
		capture(out, a->m);
		commands(out, a->x);
		latencies(out, a->m, a->x);
		depth(out, a->x);
		text_objects(out, a->m, a->x);
		space(out, a->x);
		text_requests(out, a->m, a->x);
		text_calls(out, a->m);
		text_faults(out, a->m);
		text_tasks(out, a->m);
		text_device_files(out, a->m);
	}
	for (i = 1; i < n; i++)
		text_ab(out, &arms[0], &arms[i]);
}
