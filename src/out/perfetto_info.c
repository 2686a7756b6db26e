// SPDX-License-Identifier: Apache-2.0
/* Instants on `capture info`: what the capture is, what is missing, objects without commands. */
#include <string.h>

#include "out/perfetto_writer.h"

static void draw(struct pf_writer *w, struct pf_instants *x, const struct pf_instant *p);

int pf_info_prepare(struct pf_draw *a)
{
	struct pf_instants *x = &a->info;
	const struct model *m = a->m;
	u32 i;
	int ret;

	health_take(&a->health, m);
	ret = cause_measure(&a->stats->cause, m);
	if (ret)
		return ret;
	ret = pf_instants_room(x, (u64)m->n_overflows + m->op.n - a->objects.n + 3);
	if (ret)
		return ret;
	x->draw = draw;
	a->end_ns = capture_end(m);
	for (i = 0; i < m->n_overflows; i++) {
		a->first_ns = MIN(a->first_ns, m->overflow[i].ts_ns);
		pf_instants_add(x, m->overflow[i].ts_ns, INSTANT_OVERFLOW, i, 0);
	}
	for (i = 0; i < m->op.n; i++)
		if (a->object_of[i] == NONE)
			pf_instants_add(x, m->op.end_ns[i], INSTANT_OBJECT, i, m->op.bytes[i]);
	/* Nothing to draw at all: times are zero then. */
	if (a->first_ns == UINT64_MAX)
		a->first_ns = a->base_ns;
	/* What the capture is stands where something begins. */
	pf_instants_add(x, a->first_ns, INSTANT_CAPTURE, 0, 0);
	if (a->health.lossy)
		pf_instants_add(x, MAX(a->end_ns, a->first_ns), INSTANT_LOSSY, 0, 0);
	if (a->health.incomplete)
		pf_instants_add(x, MAX(a->end_ns, a->first_ns), INSTANT_INCOMPLETE, 0, 0);
	return 0;
}

static void text_arg(struct pf_writer *w, enum pf_arg arg, const char *s)
{
	const char *slash;

	s = s ? s : "-";
	/* The directory is of the machine, not of the capture. */
	slash = strrchr(s, '/');
	s = slash && slash[1] ? slash + 1 : s;
	pf_arg_string(w, arg, s, strlen(s));
}

/* Absent numbers of kvio_meta are zero. */
static void meta_number(struct pf_writer *w, enum pf_arg arg, u64 v)
{
	if (v)
		pf_arg_u64(w, arg, v);
}

static void loss_args(struct pf_writer *w, const struct pf_draw *a)
{
	const struct account *acc = &a->m->account;
	const struct health *h = &a->health;

	if (acc->present) {
		pf_arg_u64(w, ARG_seen, acc->seen);
		pf_arg_u64(w, ARG_stored, acc->stored);
		pf_arg_u64(w, ARG_dropped, h->dropped);
		pf_arg_u64(w, ARG_hook_missed, h->hook_missed);
		meta_number(w, ARG_unread, h->unread);
		pf_arg_u64(w, ARG_filtered, acc->filtered);
	}
	pf_arg_bool(w, ARG_complete, !h->incomplete);
	pf_arg_u64(w, ARG_unpaired, h->unpaired);
	pf_arg_u64(w, ARG_orphan_completions, h->orphans);
	pf_arg_u64(w, ARG_malformed, h->malformed);
	pf_arg_bool(w, ARG_tail_cut, h->tail_cut);
	pf_arg_u64(w, ARG_cq_overflows, h->overflows);
}

/* What commands were caused by. */
static void cause_args(struct pf_writer *w, const struct pf_draw *a)
{
	const struct cause_sums *s = &a->stats->cause;

	if (!a->programs)
		return;
	pf_arg_u64(w, ARG_calls, a->m->call.n);
	pf_arg_u64(w, ARG_uring_requests, a->m->uring.n);
	if (a->m->fault.n)
		pf_arg_u64(w, ARG_faults, a->m->fault.n);
	if (!a->m->cause.on)
		return;
	pf_arg_u64(w, ARG_cmds_joined, s->joined.n);
	pf_arg_u64(w, ARG_cmds_no_thread, s->of[CAUSE_NO_THREAD].n);
	pf_arg_u64(w, ARG_cmds_outside, s->of[CAUSE_OUTSIDE].n);
	pf_arg_u64(w, ARG_cmds_uncertain, s->of[CAUSE_UNCERTAIN].n);
	if (!a->m->extent.n)
		return;
	pf_arg_u64(w, ARG_cmds_by_extent, s->of[CAUSE_EXTENT].n);
	pf_arg_u64(w, ARG_cmds_moved, s->of[CAUSE_MOVED].n);
}

static void capture_args(struct pf_writer *w, const struct pf_draw *a)
{
	const struct model *m = a->m;
	const struct sem_meta *meta = &m->sem_meta;
	u64 n[N_CMD_STATES] = {};
	const char *join = join_name(m->join);
	u32 i;

	for (i = 0; i < m->cmd.n; i++)
		n[cmd_state(m, i)]++;
	pf_arg_string(w, ARG_label, a->in->label, strlen(a->in->label));
	pf_arg_u64(w, ARG_base_ns, a->base_ns);
	pf_arg_u64(w, ARG_applied_base_ns, a->shift_ns);
	pf_arg_bool(w, ARG_rebased, !w->o->no_rebase);
	if (!w->o->redact) {
		text_arg(w, ARG_sem_file, a->in->sem_name);
		text_arg(w, ARG_ebpf_file, a->in->dev_name);
	}
	pf_arg_u64(w, ARG_lba_bytes, m->lba_bytes);
	pf_arg_u64(w, ARG_anchors, m->n_anchors);
	if (meta->present) {
		meta_number(w, ARG_kvio_schema, meta->kvio_schema);
		if (!w->o->redact) {
			pf_arg_id(w, ARG_hostname, &m->strings, meta->hostname);
			pf_arg_id(w, ARG_device_path, &m->strings, meta->device_path);
		}
		pf_arg_id(w, ARG_io_engine, &m->strings, meta->io_engine);
		meta_number(w, ARG_block_align, meta->block_align);
		meta_number(w, ARG_header_bytes, meta->header_bytes);
		meta_number(w, ARG_max_data_transfer_size, meta->max_data_transfer_size);
	}
	/* From here on: not in the older converter. */
	pf_arg_string(w, ARG_join, join, strlen(join));
	if (m->join_why)
		pf_arg_string(w, ARG_join_why, m->join_why, strlen(m->join_why));
	pf_arg_u64(w, ARG_commands, m->cmd.n - n[STATE_REISSUED] - n[STATE_REFUSED]);
	pf_arg_u64(w, ARG_failed, n[STATE_FAILED]);
	pf_arg_u64(w, ARG_refused, n[STATE_REFUSED]);
	pf_arg_u64(w, ARG_reissued, n[STATE_REISSUED]);
	pf_arg_u64(w, ARG_in_flight, n[STATE_IN_FLIGHT]);
	if (a->n_units == 1 && a->unit->device && *a->unit->device)
		pf_arg_string(w, ARG_device, a->unit->device, strlen(a->unit->device));
	cause_args(w, a);
	if (w->out->split_bytes)
		pf_arg_u64(w, ARG_piece, w->out->pieces);
	if (a->aggregated)
		pf_arg_bool(w, ARG_aggregated, true);
	if (a->lean)
		pf_arg_bool(w, ARG_lean, true);
	loss_args(w, a);
}

static void object_args(struct pf_writer *w, const struct pf_draw *a, const struct pf_instant *p)
{
	if (p->n > 1) {
		pf_arg_u64(w, ARG_n, p->n);
		pf_arg_u64(w, ARG_bytes, p->bytes);
	} else {
		pf_arg_u64(w, ARG_trace_id, a->m->op.join_id[p->item]);
	}
	pf_arg_bool(w, ARG_no_device_cmds, true);
	if (p->n == 1)
		pf_arg_secret_id(w, ARG_error, SECRET_ERROR, &a->m->strings, a->m->op.error[p->item]);
}

static void overflow_args(struct pf_writer *w, const struct pf_draw *a, const struct pf_instant *p)
{
	const struct overflow *o = &a->m->overflow[p->item];

	if (p->n > 1) {
		pf_arg_u64(w, ARG_n, p->n);
		return;
	}
	pf_arg_u64(w, ARG_user_data, o->user_data);
	pf_arg_s64(w, ARG_res, o->res);
}

static void name_of(struct buf *out, const struct pf_draw *a, const struct pf_instant *p)
{
	const struct strpool *s = &a->m->strings;
	u32 op;

	switch (p->kind) {
	case INSTANT_CAPTURE:
		buf_lit(out, "capture_info");
		break;
	case INSTANT_LOSSY:
		buf_lit(out, "LOSSY");
		break;
	case INSTANT_INCOMPLETE:
		buf_lit(out, "INCOMPLETE");
		break;
	case INSTANT_OVERFLOW:
		buf_lit(out, "CQ overflow");
		break;
	default:
		op = a->m->op.name[p->item];
		buf_add(out, strpool_get(s, op), strpool_len(s, op));
		buf_lit(out, " (no device cmds)");
		break;
	}
	if (p->n > 1)
		buf_printf(out, " x%u", p->n);
}

void pf_info_again(struct pf_writer *w, struct pf_draw *a, u64 now)
{
	const struct pf_instant p = { .ns = now, .n = 1, .kind = INSTANT_CAPTURE };

	draw(w, &a->info, &p);
}

static void draw(struct pf_writer *w, struct pf_instants *x, const struct pf_instant *p)
{
	struct pf_draw *a = x->source.arm;
	struct buf name = {};

	name_of(&name, a, p);
	pf_instant(w, p->ns, a->track_info, &name);
	buf_free(&name);
	if (p->kind == INSTANT_CAPTURE) {
		capture_args(w, a);
	} else if (p->kind == INSTANT_OVERFLOW) {
		overflow_args(w, a, p);
		a->stats->overflows += p->n;
	} else if (p->kind == INSTANT_OBJECT) {
		object_args(w, a, p);
		a->stats->object_instants.slices++;
		a->stats->object_instants.n += p->n;
		a->stats->object_instants.amount += p->bytes;
	} else {
		loss_args(w, a);
	}
	pf_event_end(w);
}
