// SPDX-License-Identifier: Apache-2.0
/* The tables about the capture itself: its account, and what is known of it. */
#include <string.h>

#include "model/measure.h"
#include "out/sql_rows.h"

u32 sql_loss_rows(struct sql *s)
{
	return s->n_arms;
}

static u64 loss_number(const struct sql *s, u32 arm, const struct health *h, int column)
{
	const struct model *m = s->arm[arm].m;
	const struct account *a = &m->account;
	bool grouped = s->drawn && s->drawn[arm].grouped;

	switch (column) {
	case LOSS_complete:
		return a->complete;
	case LOSS_has_account:
		return a->present;
	case LOSS_seen:
		return a->seen;
	case LOSS_stored:
		return a->stored;
	case LOSS_ring_full:
		return a->ring_full;
	case LOSS_map_full:
		return a->map_full;
	case LOSS_hook_missed:
		return a->hook_missed;
	case LOSS_unread:
		return a->unread;
	case LOSS_filtered:
		return a->filtered;
	case LOSS_in_flight:
		return a->in_flight;
	case LOSS_commands:
		return m->dev_in.commands;
	case LOSS_completions:
		return m->dev_in.completions;
	case LOSS_unpaired:
		return h->unpaired;
	case LOSS_orphans:
		return h->orphans;
	case LOSS_negative_latency:
		return h->negative;
	case LOSS_cq_overflows:
		return h->overflows;
	case LOSS_semantic:
		return m->sem_in.semantic;
	case LOSS_serving:
		return m->sem_in.serving + m->dev_in.serving;
	case LOSS_malformed:
		return h->malformed;
	case LOSS_first_bad_line:
		return h->first_bad_line;
	case LOSS_tail_cut:
		return h->tail_cut;
	case LOSS_unknown:
		return m->sem_in.unknown + m->dev_in.unknown;
	case LOSS_cut_commands:
		return m->cut.cmds;
	case LOSS_cut_operations:
		return m->cut.ops;
	case LOSS_grouped:
		return grouped ? s->drawn[arm].grouped : 0;
	case LOSS_lossy:
		return h->lossy;
	case LOSS_incomplete:
		return h->incomplete || grouped;
	}
	return 0;
}

void sql_loss_column(struct sql *s, sqlite3_context *ctx, u32 row, int column)
{
	const struct model *m = s->arm[row].m;
	struct health h;

	if (column == LOSS_arm) {
		sql_put_word(ctx, s->arm[row].label);
	} else if (column == LOSS_defect) {
		sql_put_text(ctx, &m->strings, m->account.defect);
	} else {
		health_take(&h, m);
		sql_put_u64(ctx, loss_number(s, row, &h, column));
	}
}

/* ---- meta ---- */

#define N_FACTS 18

/* What is known of an arm: text, else a number; absent are NULL and 0. */
struct fact {
	const char *name, *text;
	u32 id; /* a string of the model */
	u64 number;
};

static void fact_of(const struct perfetto_arm *a, u32 i, struct fact *f)
{
	const struct model *m = a->m;
	const struct sem_meta *meta = &m->sem_meta;
	const struct fact facts[] = {
		{ .name = "semantic_file", .text = a->sem_name },
		{ .name = "device_file", .text = a->dev_name },
		{ .name = "join", .text = join_name(m->join) },
		{ .name = "join_why", .text = m->join_why },
		{ .name = "lba_bytes", .number = m->lba_bytes },
		{ .name = "duplicate_trace_ids", .number = m->dup_trace_ids },
		{ .name = "clock_anomalies", .number = m->clock_anomalies },
		{ .name = "kvio_schema", .number = meta->kvio_schema },
		{ .name = "hostname", .id = meta->hostname },
		{ .name = "device_path", .id = meta->device_path },
		{ .name = "io_engine", .id = meta->io_engine },
		{ .name = "block_align", .number = meta->block_align },
		{ .name = "header_bytes", .number = meta->header_bytes },
		{ .name = "max_data_transfer_size", .number = meta->max_data_transfer_size },
		{ .name = "slot_bytes", .number = meta->slot_bytes },
		{ .name = "capacity_bytes", .number = meta->capacity_bytes },
		{ .name = "anchors", .number = m->n_anchors },
		{ .name = "realtime_minus_monotonic_ns",
		  .number = m->n_anchors ? m->anchor[0].realtime_ns - m->anchor[0].monotonic_ns : 0 },
	};

	_Static_assert(ARRAY_SIZE(facts) == N_FACTS, "every fact is a row");
	*f = facts[i];
}
u32 sql_meta_rows(struct sql *s)
{
	return s->n_arms * N_FACTS;
}

void sql_meta_column(struct sql *s, sqlite3_context *ctx, u32 row, int column)
{
	const struct perfetto_arm *a = &s->arm[row / N_FACTS];
	struct fact f;

	fact_of(a, row % N_FACTS, &f);
	if (column == 0)
		sql_put_word(ctx, a->label);
	else if (column == 1)
		sql_put_word(ctx, f.name);
	else if (f.text)
		sqlite3_result_text(ctx, f.text, -1, SQLITE_STATIC);
	else if (f.id)
		sql_put_text(ctx, &a->m->strings, f.id);
	else if (f.number)
		sql_put_u64(ctx, f.number);
}
