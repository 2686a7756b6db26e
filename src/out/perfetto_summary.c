// SPDX-License-Identifier: Apache-2.0
#include "out/perfetto_summary.h"

#include <stdio.h>
#include <string.h>

#include "out/perfetto_sentences.h"
#include "out/report.h"

#define ULL(x) ((unsigned long long)(x))

/* ---- self-check ---- */

/* The sums of the model, taken again and apart from the drawing. */
static struct perfetto_kind sum_commands(const struct model *m)
{
	struct perfetto_kind sum = {};
	u32 i;

	for (i = 0; i < m->cmd.n; i++) {
		if (m->cmd.flags[i] & CMD_REISSUED)
			continue;
		sum.n++;
		sum.amount += m->cmd.bytes[i];
	}
	return sum;
}

static struct perfetto_kind sum_objects(const struct model *m)
{
	struct perfetto_kind sum = { .n = m->op.n };
	u32 i;

	for (i = 0; i < m->op.n; i++)
		sum.amount += m->op.bytes[i];
	return sum;
}

static struct perfetto_kind sum_requests(const struct model *m)
{
	struct perfetto_kind sum = { .n = m->serving.n };
	u32 i;

	for (i = 0; i < m->serving.n; i++)
		sum.amount += m->serving.tokens[i] == NO_NUMBER ? 0 : m->serving.tokens[i];
	return sum;
}

static bool same(struct perfetto_kind a, struct perfetto_kind b)
{
	return a.n == b.n && a.amount == b.amount;
}

/* Everything that was read is drawn, or was cut by a filter; number and bytes. */
static bool all_drawn(const struct model *m, const struct perfetto_stats *s)
{
	struct perfetto_kind objects = s->objects;

	objects.n += s->object_instants.n;
	objects.amount += s->object_instants.amount;
	return same(sum_commands(m), s->commands) && same(sum_objects(m), objects) &&
	       same(sum_requests(m), s->requests) && m->dev_in.commands == m->cmd.n + m->cut.cmds &&
	       m->sem_in.semantic == m->op.n + m->cut.ops && s->calls.n == m->call.n && s->uring.n == m->uring.n &&
	       m->dev_in.calls == m->call.n + m->cut.calls && m->dev_in.requests == m->uring.n + m->cut.requests &&
	       s->faults.n == m->fault.n && m->dev_in.faults == m->fault.n + m->cut.faults;
}

u32 perfetto_verdict(const struct perfetto_result *r, bool warnings)
{
	u32 verdict = 0, i;

	for (i = 0; i < r->n; i++) {
		const struct model *m = r->arms[i].m;
		struct perfetto_sentences x;
		struct health h;

		health_take(&h, m);
		if (!all_drawn(m, &r->stats[i]))
			verdict |= PERFETTO_MISMATCH;
		if (h.lossy || h.incomplete || perfetto_is_empty(m))
			verdict |= PERFETTO_INCOMPLETE;
		if (!warnings)
			continue;
		perfetto_sentences(&x, m, &r->stats[i]);
		if (x.warnings.n)
			verdict |= PERFETTO_WARNED;
		perfetto_sentences_free(&x);
	}
	return verdict;
}

/* ---- text ---- */

static void lines(struct buf *b, const char *word, const struct report_warnings *w)
{
	const char *line = w->text.p;
	u32 i;

	for (i = 0; i < w->n && !w->text.failed; i++, line += strlen(line) + 1)
		buf_printf(b, "  %s: %s\n", word, line);
}

static void inputs(struct buf *b, const struct model *m, const struct perfetto_stats *s)
{
	const struct account *acc = &m->account;

	buf_printf(b, "  semantic: %llu records (", ULL(m->sem_in.semantic));
	report_op_counts(b, m);
	buf_printf(b, "), %llu malformed skipped, dup trace_id %llu\n", ULL(m->sem_in.malformed),
		   ULL(m->dup_trace_ids));
	buf_printf(b, "  device  : %llu nvme_cmd lines (%llu malformed skipped, %llu completions, %llu other)\n",
		   ULL(m->dev_in.commands), ULL(m->dev_in.malformed), ULL(m->dev_in.completions), ULL(m->dev_in.other));
	buf_printf(b,
		   "  tagged bytes %llu | untagged %llu cmds / %llu bytes | header cmds %llu | lanes %u | "
		   "clock anomalies %llu\n",
		   ULL(s->tagged_bytes), ULL(s->untagged), ULL(s->untagged_bytes), ULL(s->headers), s->object_lanes,
		   ULL(m->clock_anomalies));
	if (acc->present)
		buf_printf(
			b,
			"  losses  : seen %llu, stored %llu, dropped %llu, skipped %llu, unread %llu, filtered %llu, in flight %llu\n",
			ULL(acc->seen), ULL(acc->stored), ULL(acc->ring_full + acc->map_full), ULL(acc->hook_missed),
			ULL(acc->unread), ULL(acc->filtered), ULL(acc->in_flight));
}

static void offset_line(struct buf *b, const struct offset_account *o)
{
	if (o->cookie_cmds)
		buf_printf(b, "  parity  : %llu/%llu (%.2f%%) agree with the ids in the commands, %llu without an id\n",
			   ULL(o->agree), ULL(o->cookie_cmds), 100.0 * (double)o->agree / (double)o->cookie_cmds,
			   ULL(o->without_cookie));
	buf_printf(b, "  offsets : unique=%llu cross-object=%llu gap-spill=%llu unmatched=%llu no-place=%llu\n",
		   ULL(o->unique), ULL(o->cross), ULL(o->gap_spill), ULL(o->unmatched), ULL(o->no_place));
	buf_printf(b, "  bytes   : unique=%llu cross-object=%llu gap-spill=%llu unmatched=%llu no-place=%llu\n",
		   ULL(o->unique_bytes), ULL(o->cross_bytes), ULL(o->gap_spill_bytes), ULL(o->unmatched_bytes),
		   ULL(o->no_place_bytes));
}

static void join_lines(struct buf *b, const struct model *m)
{
	buf_printf(b, "  join    : %s%s%s\n", join_name(m->join), m->join_why ? ", " : "",
		   m->join_why ? m->join_why : "");
	if (m->join == JOIN_OFFSET)
		offset_line(b, &m->offset);
}

/* Which calls and requests there are, and the commands they caused. */
static void causes(struct buf *b, const struct model *m, const struct perfetto_stats *s)
{
	const struct cause_sums *c = &s->cause;
	u32 i;

	if (!m->dev_in.calls && !m->dev_in.requests && !m->dev_in.faults)
		return;
	buf_printf(b, "  programs: %llu system calls, %llu io_uring requests, %llu page faults\n", ULL(m->dev_in.calls),
		   ULL(m->dev_in.requests), ULL(m->dev_in.faults));
	if (!m->cause.on)
		return;
	buf_printf(b, "  causes  : %llu of %llu commands joined with the call, request or fault that caused them\n",
		   ULL(c->joined.n), ULL(c->joined.n + c->not_joined.n));
	for (i = 0; i < N_CAUSE_HOW; i++)
		if (c->of[i].n)
			buf_printf(b, "    %s %llu (%llu bytes): %s\n",
				   cause_is_joined((u8)i) ? "joined" : "NOT joined", ULL(c->of[i].n),
				   ULL(c->of[i].bytes), cause_words((u8)i));
}

static void emitted(struct buf *b, const struct model *m, const struct perfetto_stats *s)
{
	const struct cut_account *cut = &m->cut;

	if (cut->calls || cut->requests || cut->faults)
		buf_printf(b, "  cut     : %llu system calls, %llu io_uring requests, %llu page faults\n",
			   ULL(cut->calls), ULL(cut->requests), ULL(cut->faults));
	if (cut->cmds || cut->ops || cut->spans || cut->overflows)
		buf_printf(b,
			   "  cut     : %llu commands (%llu bytes), %llu operations, %llu requests, %llu overflows\n",
			   ULL(cut->cmds), ULL(cut->cmd_bytes), ULL(cut->ops), ULL(cut->spans), ULL(cut->overflows));
	buf_printf(b, "  emitted: %llu object spans, %llu object instants, %llu command slices, %llu serving spans",
		   ULL(s->objects.slices), ULL(s->object_instants.slices), ULL(s->commands.slices),
		   ULL(s->requests.slices));
	if (s->calls.n + s->uring.n)
		buf_printf(b, ", %llu system calls, %llu io_uring requests", ULL(s->calls.slices),
			   ULL(s->uring.slices));
	if (s->faults.n)
		buf_printf(b, ", %llu page faults", ULL(s->faults.slices));
	if (s->reissued)
		buf_printf(b, " (and %llu first attempts not drawn)", ULL(s->reissued));
	buf_printf(b, "\n  %s\n",
		   all_drawn(m, s) ? "self-check OK: input == emitted per category"
				   : "SELF-CHECK FAIL: counts or bytes of objects, commands or requests differ");
}

void perfetto_summary_text(struct buf *out, const struct perfetto_result *r)
{
	u32 i;

	buf_lit(out, "=== kvio perfetto: wrote ");
	for (i = 0; i < r->n_files; i++) {
		if (i == 3 && r->n_files > 4) {
			buf_printf(out, ", ... %u files", r->n_files);
			break;
		}
		buf_str(out, i ? ", " : "");
		report_safe(out, r->files[i], strlen(r->files[i]));
	}
	buf_printf(out, " (%llu event packets) ===\n", ULL(r->packets));
	for (i = 0; i < r->n; i++) {
		const struct model *m = r->arms[i].m;
		struct perfetto_sentences x;

		buf_byte(out, '[');
		report_safe(out, r->arms[i].label, strlen(r->arms[i].label));
		buf_lit(out, "]\n");
		inputs(out, m, &r->stats[i]);
		join_lines(out, m);
		causes(out, m, &r->stats[i]);
		perfetto_sentences(&x, m, &r->stats[i]);
		lines(out, "WARNING", &x.warnings);
		lines(out, "note", &x.notes);
		perfetto_sentences_free(&x);
		emitted(out, m, &r->stats[i]);
	}
}

/* ---- JSON ---- */

static void number(struct buf *b, const char *name, u64 v)
{
	buf_printf(b, ",\"%s\":%llu", name, ULL(v));
}

static void boolean(struct buf *b, const char *name, bool v)
{
	buf_printf(b, ",\"%s\":%s", name, v ? "true" : "false");
}

static void list(struct buf *b, const char *name, const struct report_warnings *w)
{
	const char *line = w->text.p;
	u32 i;

	buf_printf(b, ",\"%s\":[", name);
	for (i = 0; i < w->n && !w->text.failed; i++, line += strlen(line) + 1) {
		buf_str(b, i ? "," : "");
		buf_json(b, line, strlen(line));
	}
	buf_byte(b, ']');
}

static void kind(struct buf *b, const char *name, const struct perfetto_kind *k, const char *amount)
{
	buf_printf(b, ",\"%s\":{\"slices\":%llu,\"n\":%llu,\"%s\":%llu}", name, ULL(k->slices), ULL(k->n), amount,
		   ULL(k->amount));
}

static void json_join(struct buf *b, const struct model *m)
{
	const struct offset_account *o = &m->offset;

	buf_printf(b, ",\"join\":{\"kind\":\"%s\",\"why\":", join_name(m->join));
	buf_json(b, m->join_why ? m->join_why : "", m->join_why ? strlen(m->join_why) : 0);
	number(b, "dup_trace_ids", m->dup_trace_ids);
	number(b, "colliding_ids", m->collisions.ids);
	number(b, "clock_anomalies", m->clock_anomalies);
	if (m->join == JOIN_OFFSET) {
		number(b, "unique", o->unique);
		number(b, "cross_object", o->cross);
		number(b, "gap_spill", o->gap_spill);
		number(b, "unmatched", o->unmatched);
		number(b, "no_place", o->no_place);
		number(b, "unique_bytes", o->unique_bytes);
		number(b, "cross_object_bytes", o->cross_bytes);
		number(b, "gap_spill_bytes", o->gap_spill_bytes);
		number(b, "unmatched_bytes", o->unmatched_bytes);
		number(b, "no_place_bytes", o->no_place_bytes);
		number(b, "with_trace_id", o->cookie_cmds);
		number(b, "agree", o->agree);
	}
	buf_byte(b, '}');
}

static void json_causes(struct buf *b, const struct model *m, const struct cause_sums *c)
{
	u32 i;

	if (!m->cause.on)
		return;
	buf_printf(b, ",\"causes\":{\"joined\":%llu", ULL(c->joined.n));
	number(b, "joined_bytes", c->joined.bytes);
	number(b, "not_joined", c->not_joined.n);
	number(b, "not_joined_bytes", c->not_joined.bytes);
	number(b, "calls", c->calls);
	number(b, "io_uring", c->requests);
	number(b, "faults", c->faults);
	for (i = CAUSE_NOT_SOUGHT + 1; i < N_CAUSE_HOW; i++)
		number(b, cause_name((u8)i), c->of[i].n);
	buf_byte(b, '}');
}

static void json_losses(struct buf *b, const struct model *m, const struct health *h, const struct perfetto_stats *s)
{
	u64 n[N_CMD_STATES] = {};
	u32 i;

	for (i = 0; i < m->cmd.n; i++)
		n[cmd_state(m, i)]++;
	buf_printf(b, ",\"losses\":{\"dropped\":%llu", ULL(h->dropped));
	number(b, "hook_missed", h->hook_missed);
	number(b, "unread", h->unread);
	number(b, "malformed", h->malformed);
	number(b, "unpaired", n[STATE_UNPAIRED]);
	number(b, "orphan_completions", h->orphans);
	number(b, "cq_overflows", s->overflows);
	number(b, "failed", n[STATE_FAILED]);
	number(b, "refused", n[STATE_REFUSED]);
	number(b, "reissued", n[STATE_REISSUED]);
	number(b, "in_flight", n[STATE_IN_FLIGHT]);
	number(b, "completed_before_begin", n[STATE_BACKWARDS]);
	buf_byte(b, '}');
}

static void json_arm(struct buf *b, const struct perfetto_arm *arm, const struct perfetto_stats *s)
{
	const struct model *m = arm->m;
	struct perfetto_sentences x;
	struct health h;

	health_take(&h, m);
	perfetto_sentences(&x, m, s);
	buf_lit(b, "{\"label\":");
	buf_json(b, arm->label, strlen(arm->label));
	number(b, "semantic", m->sem_in.semantic);
	number(b, "commands", m->dev_in.commands);
	number(b, "completions", m->dev_in.completions);
	number(b, "devices", s->devices);
	number(b, "base_ns", s->base_ns);
	if (s->clock_anchors) {
		number(b, "clock_anchors", s->clock_anchors);
		number(b, "clock_error_ns", s->clock_error_ns);
	}
	kind(b, "drawn_commands", &s->commands, "bytes");
	kind(b, "drawn_objects", &s->objects, "bytes");
	kind(b, "drawn_instants", &s->object_instants, "bytes");
	kind(b, "drawn_requests", &s->requests, "tokens");
	number(b, "reissued", s->reissued);
	number(b, "headers", s->headers);
	number(b, "tagged_bytes", s->tagged_bytes);
	number(b, "untagged", s->untagged);
	number(b, "untagged_bytes", s->untagged_bytes);
	if (m->dev_in.calls || m->dev_in.requests) {
		kind(b, "drawn_syscalls", &s->calls, "bytes");
		kind(b, "drawn_io_uring", &s->uring, "bytes");
	}
	if (m->dev_in.faults)
		kind(b, "drawn_page_faults", &s->faults, "bytes");
	json_join(b, m);
	json_causes(b, m, &s->cause);
	json_losses(b, m, &h, s);
	buf_printf(b, ",\"cut\":{\"commands\":%llu,\"bytes\":%llu,\"operations\":%llu,\"requests\":%llu}",
		   ULL(m->cut.cmds), ULL(m->cut.cmd_bytes), ULL(m->cut.ops), ULL(m->cut.spans));
	boolean(b, "aggregated", perfetto_is_aggregated(s));
	boolean(b, "lean", s->lean);
	boolean(b, "lossy", h.lossy);
	boolean(b, "incomplete", h.incomplete);
	boolean(b, "input_equals_emitted", all_drawn(m, s));
	list(b, "warnings", &x.warnings);
	list(b, "notes", &x.notes);
	buf_byte(b, '}');
	perfetto_sentences_free(&x);
}

void perfetto_summary_json(struct buf *b, const struct perfetto_result *r)
{
	u32 i;

	buf_printf(b, "{\"schema_version\":%d,\"packets\":%llu", PERFETTO_SUMMARY_SCHEMA, ULL(r->packets));
	number(b, "bytes", r->bytes);
	buf_lit(b, ",\"files\":[");
	for (i = 0; i < r->n_files; i++) {
		buf_str(b, i ? "," : "");
		buf_json(b, r->files[i], strlen(r->files[i]));
	}
	buf_lit(b, "],\"arms\":[");
	for (i = 0; i < r->n; i++) {
		buf_str(b, i ? "," : "");
		json_arm(b, &r->arms[i], &r->stats[i]);
	}
	buf_lit(b, "]}\n");
}
