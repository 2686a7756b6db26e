// SPDX-License-Identifier: Apache-2.0
/* Instants on `capture info`: what the capture is, what is missing, objects without commands. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "out/perfetto_writer.h"

static int by_time(const void *x, const void *y)
{
	const struct pf_info *a = x, *b = y;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return a->item < b->item ? -1 : a->item > b->item;
}

int pf_info_prepare(struct pf_arm *a)
{
	const struct model *m = a->m;
	u32 i;

	health_take(&a->health, m);
	a->info = malloc((m->n_overflows + m->op.n - a->n_objects + 3ul) * sizeof(*a->info));
	if (!a->info)
		return -ENOMEM;
	a->end_ns = capture_end(m);
	for (i = 0; i < m->n_overflows; i++) {
		a->base_ns = MIN(a->base_ns, m->overflow[i].ts_ns);
		a->info[a->n_info++] = (struct pf_info){ m->overflow[i].ts_ns, INFO_OVERFLOW, i };
	}
	a->stats->overflows = m->n_overflows;
	for (i = 0; i < m->op.n; i++)
		if (a->object_of[i] == NONE)
			a->info[a->n_info++] = (struct pf_info){ m->op.end_ns[i], INFO_OBJECT, i };
	/* Nothing to draw at all: the base is zero then. */
	if (a->base_ns == UINT64_MAX)
		a->base_ns = 0;
	a->info[a->n_info++] = (struct pf_info){ a->base_ns, INFO_CAPTURE, 0 };
	if (a->health.lossy)
		a->info[a->n_info++] = (struct pf_info){ MAX(a->end_ns, a->base_ns), INFO_LOSSY, 0 };
	if (a->health.incomplete)
		a->info[a->n_info++] = (struct pf_info){ MAX(a->end_ns, a->base_ns), INFO_INCOMPLETE, 0 };
	qsort(a->info, a->n_info, sizeof(*a->info), by_time);
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

static void loss_args(struct pf_writer *w, const struct pf_arm *a)
{
	const struct account *acc = &a->m->account;
	const struct health *h = &a->health;

	if (acc->present) {
		pf_arg_u64(w, ARG_seen, acc->seen);
		pf_arg_u64(w, ARG_stored, acc->stored);
		pf_arg_u64(w, ARG_dropped, h->dropped);
		pf_arg_u64(w, ARG_hook_missed, h->hook_missed);
		pf_arg_u64(w, ARG_filtered, acc->filtered);
	}
	pf_arg_bool(w, ARG_complete, !h->incomplete);
	pf_arg_u64(w, ARG_unpaired, h->unpaired);
	pf_arg_u64(w, ARG_orphan_completions, h->orphans);
	pf_arg_u64(w, ARG_malformed, h->malformed);
	pf_arg_bool(w, ARG_tail_cut, h->tail_cut);
	pf_arg_u64(w, ARG_cq_overflows, h->overflows);
}

static void capture_args(struct pf_writer *w, const struct pf_arm *a)
{
	const struct model *m = a->m;
	const struct sem_meta *meta = &m->sem_meta;
	u64 n[N_CMD_STATES] = {};
	const char *join = m->join == JOIN_TRACE_ID ? "trace id" : "none";
	u32 i;

	for (i = 0; i < m->cmd.n; i++)
		n[cmd_state(m, i)]++;
	pf_arg_string(w, ARG_label, a->in->label, strlen(a->in->label));
	pf_arg_u64(w, ARG_base_ns, a->base_ns);
	pf_arg_u64(w, ARG_applied_base_ns, a->shift_ns);
	pf_arg_bool(w, ARG_rebased, !w->o->no_rebase);
	text_arg(w, ARG_sem_file, a->in->sem_name);
	text_arg(w, ARG_ebpf_file, a->in->dev_name);
	pf_arg_u64(w, ARG_lba_bytes, m->lba_bytes);
	pf_arg_u64(w, ARG_anchors, m->n_anchors);
	if (meta->present) {
		meta_number(w, ARG_kvio_schema, meta->kvio_schema);
		pf_arg_id(w, ARG_hostname, &m->strings, meta->hostname);
		pf_arg_id(w, ARG_device_path, &m->strings, meta->device_path);
		pf_arg_id(w, ARG_io_engine, &m->strings, meta->io_engine);
		meta_number(w, ARG_block_align, meta->block_align);
		meta_number(w, ARG_header_bytes, meta->header_bytes);
		meta_number(w, ARG_max_data_transfer_size, meta->max_data_transfer_size);
	}
	/* From here on: not in the older converter. */
	pf_arg_string(w, ARG_join, join, strlen(join));
	pf_arg_u64(w, ARG_commands, m->cmd.n - n[STATE_REISSUED] - n[STATE_REFUSED]);
	pf_arg_u64(w, ARG_failed, n[STATE_FAILED]);
	pf_arg_u64(w, ARG_refused, n[STATE_REFUSED]);
	pf_arg_u64(w, ARG_reissued, n[STATE_REISSUED]);
	pf_arg_u64(w, ARG_in_flight, n[STATE_IN_FLIGHT]);
	loss_args(w, a);
}

static void instant(struct pf_writer *w, const struct pf_arm *a, u64 now, const char *name, size_t n)
{
	pf_event(w, now, TYPE_INSTANT, a->track_info);
	pb_u64(&w->b, EVENT_NAME_IID, pf_event_name(w, name, n));
}

static void object_instant(struct pf_writer *w, struct pf_arm *a, u64 now, u32 op)
{
	const struct strpool *s = &a->m->strings;
	struct buf name = {};

	buf_add(&name, strpool_get(s, a->m->op.name[op]), strpool_len(s, a->m->op.name[op]));
	buf_lit(&name, " (no device cmds)");
	if (name.failed)
		w->ret = -ENOMEM;
	instant(w, a, now, name.p, name.n);
	buf_free(&name);
	pf_arg_u64(w, ARG_trace_id, a->m->op.trace_id[op]);
	pf_arg_bool(w, ARG_no_device_cmds, true);
	pf_arg_id(w, ARG_error, s, a->m->op.error[op]);
	a->stats->object_instants++;
}

static void one(struct pf_writer *w, struct pf_arm *a, u64 now, const struct pf_info *i)
{
	const struct overflow *o;

	switch (i->kind) {
	case INFO_CAPTURE:
		instant(w, a, now, "capture_info", 12);
		capture_args(w, a);
		break;
	case INFO_LOSSY:
		instant(w, a, now, "LOSSY", 5);
		loss_args(w, a);
		break;
	case INFO_INCOMPLETE:
		instant(w, a, now, "INCOMPLETE", 10);
		loss_args(w, a);
		break;
	case INFO_OVERFLOW:
		o = &a->m->overflow[i->item];
		instant(w, a, now, "CQ overflow", 11);
		pf_arg_u64(w, ARG_user_data, o->user_data);
		pf_arg_s64(w, ARG_res, o->res);
		break;
	case INFO_OBJECT:
		object_instant(w, a, now, i->item);
		break;
	}
	pf_event_end(w);
}

static u64 next_time(const struct pf_arm *a)
{
	return a->next_info < a->n_info ? pf_time(a, a->info[a->next_info].ns) : PF_DONE;
}

static void emit(struct pf_writer *w, struct pf_arm *a, struct pf_source *s)
{
	u64 now = s->next_ns;

	while (next_time(a) == now)
		one(w, a, now, &a->info[a->next_info++]);
	s->next_ns = next_time(a);
}

void pf_info_start(struct pf_arm *a)
{
	a->info_source = (struct pf_source){ .emit = emit, .order = ORDER_INFO, .arm = a };
	a->info_source.next_ns = next_time(a);
}
