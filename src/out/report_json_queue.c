// SPDX-License-Identifier: Apache-2.0
/* The JSON report: how commands overlap. */
#include "out/report_json.h"

static const char *const dir_names[N_DIRS] = { "load", "store" };

/* Gaps within objects, and the verdict that they give. */
static void gaps(struct json *j, const struct measure_qd1 *q)
{
	jw_dist(j, "gap_", &q->gap);
	jw_string(j, "verdict", report_qd1_word(q->verdict));
	jw_number(j, "gap_n", q->gap.n);
	jw_number(j, "objects", q->ops);
	jw_number(j, "serial_objects", q->serial_ops);
	jw_number_of(j, "service_p25", q->service.p25, q->service.n);
	jw_number_of(j, "service_p50", q->service.p50, q->service.n);
	jw_number(j, "service_n", q->service.n);
	jw_real_of(j, "long_gap_share", q->long_gap_share, q->service.n);
	jw_real_of(j, "in_flight", q->in_flight, q->service.n);
	jw_real_of(j, "busy_in_flight", q->busy_in_flight, q->service.n);
	jw_number_of(j, "gap_sum_ns", q->gap_ns, q->service.n);
	jw_number_of(j, "service_sum_ns", q->service_ns, q->service.n);
	jw_number_of(j, "waited_ns", q->waited_ns, q->service.n);
	jw_number(j, "span_ns", q->span_ns);
	jw_real_of(j, "waited_share", q->waited_share, q->service.n);
	jw_real(j, "same_object_successors", q->own_share);
}

/* The class of a direction, its evidence and its cost. */
static void flow(struct json *j, const struct measure_qd1 *q)
{
	const struct measure_flow *f = &q->flow;
	struct buf why = {};

	jw_string(j, "class", report_class_id(q->class));
	report_class_why(&why, q);
	jw_key(j, "why");
	buf_json(j->b, why.p, why.n);
	j->b->failed |= why.failed;
	buf_free(&why);
	jw_number(j, "lost_ns", q->lost_ns);
	jw_number(j, "lost_of_ns", q->lost_of_ns);
	jw_real(j, "lost_share", q->lost_share);
	jw_number(j, "n", f->n);
	jw_number(j, "busy_ns", f->busy_ns);
	jw_real(j, "busy_depth", f->busy_depth);
	jw_number(j, "depth_max", f->depth_max);
	jw_number(j, "overlap_ns", f->multi_ns);
	jw_number(j, "pauses_within", f->pauses_within);
	jw_number(j, "pause_within_ns", f->pause_within_ns);
	jw_number(j, "pauses_between", f->pauses_between);
	jw_number(j, "pause_between_ns", f->pause_between_ns);
	jw_number(j, "objects", f->objects);
	jw_number(j, "objects_max", f->objects_max);
	jw_real_of(j, "objects_mean", f->objects_mean, f->objects);
	jw_number(j, "open_ns", f->open_ns);
	jw_number(j, "open_one_ns", f->open_one_ns);
	jw_number(j, "threads", f->threads);
	jw_number(j, "thread_switches", f->thread_switches);
	jw_number(j, "thread_overlap_ns", f->thread_multi_ns);
	jw_number(j, "size_bytes", f->size_bytes);
	jw_number_of(j, "latency_p50", f->at_size.p50, f->at_size.n);
	jw_number(j, "latency_n", f->at_size.n);
	jw_number_of(j, "floor_p50", f->at_floor.p50, f->at_floor.n);
	jw_number(j, "floor_n", f->at_floor.n);
	jw_number_of(j, "floor_found", f->floor_depth, f->at_floor.n);
}

static void depth(struct json *j, const struct measure_depth *d)
{
	jw_object(j, "qd");
	jw_real(j, "mean", d->mean);
	jw_number(j, "max", d->max);
	jw_real(j, "pct_time_le1", d->le1_share);
	jw_real(j, "busy_mean", d->busy_mean);
	jw_number(j, "n", d->n);
	jw_number(j, "span_ns", d->span_ns);
	jw_number(j, "busy_ns", d->busy_ns);
	jw_close(j, '}');
}

void jw_queue(struct json *j, const struct measure *x)
{
	int d;

	jw_object(j, "qd1");
	for (d = 0; d < N_DIRS; d++) {
		if (!x->qd1[d].gap.n)
			continue;
		jw_object(j, dir_names[d]);
		gaps(j, &x->qd1[d]);
		jw_close(j, '}');
	}
	jw_close(j, '}');
	jw_object(j, "queue");
	for (d = 0; d < N_DIRS; d++) {
		if (!x->qd1[d].flow.n && x->qd1[d].class == QD_UNKNOWN)
			continue;
		jw_object(j, dir_names[d]);
		flow(j, &x->qd1[d]);
		jw_close(j, '}');
	}
	jw_close(j, '}');
	if (x->depth.n)
		depth(j, &x->depth);
	jw_object(j, "batches");
	jw_number(j, "n", x->batch.n);
	jw_number_of(j, "size_p50", x->batch.size.p50, x->batch.n);
	jw_number_of(j, "size_p95", x->batch.size.p95, x->batch.n);
	jw_number_of(j, "size_max", x->batch.size.max, x->batch.n);
	jw_number(j, "gap_ns", x->batch.gap_ns);
	jw_close(j, '}');
}
