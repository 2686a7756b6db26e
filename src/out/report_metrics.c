// SPDX-License-Identifier: Apache-2.0
#include "out/report_metrics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Where a metric is: in which structure, and how many of these a capture has. */
enum group { G_ALL, G_LOSS, G_DIR, G_LAT, G_OBJ, G_SHARDS, G_SPACE, G_REQUEST, G_AB, G_PAIR };

enum kind { K_U64, K_BOOL, K_REAL, K_DIST };

#define NO_N SIZE_MAX

struct desc {
	enum group group;
	const char *name, *unit;
	enum kind kind;
	size_t at, n_at;
	const char *what;
};

#define AT(type, member) offsetof(struct type, member)
#define COUNT(g, t, m, name, what)                       \
	{                                                \
		g, name, "", K_U64, AT(t, m), NO_N, what \
	}
#define BYTES(g, t, m, name, what)                            \
	{                                                     \
		g, name, "bytes", K_U64, AT(t, m), NO_N, what \
	}
#define NS(g, t, m, name, what)                            \
	{                                                  \
		g, name, "ns", K_U64, AT(t, m), NO_N, what \
	}
#define FLAG(g, t, m, name, what)                             \
	{                                                     \
		g, name, "flag", K_BOOL, AT(t, m), NO_N, what \
	}
#define REAL(g, t, m, n, unit, name, what)                      \
	{                                                       \
		g, name, unit, K_REAL, AT(t, m), AT(t, n), what \
	}
#define DIST(g, t, m, unit, name, what)                           \
	{                                                         \
		g, name, unit, K_DIST, AT(t, m), AT(t, m.n), what \
	}

/* clang-format off */
static const struct desc descs[] = {
	COUNT(G_ALL, measure, cmd.n, "commands", "commands that reached the device"),
	COUNT(G_ALL, measure, cmd.tagged, "tagged_commands", "of these, with a trace id"),
	COUNT(G_ALL, measure, cmd.state[STATE_FAILED], "failed_commands", "completed with an error"),
	COUNT(G_ALL, measure, cmd.state[STATE_IN_FLIGHT], "in_flight_commands", "not completed when the recording ended"),
	COUNT(G_ALL, measure, cmd.state[STATE_UNPAIRED], "unpaired_commands", "without a completion in the capture"),
	COUNT(G_ALL, measure, cmd.state[STATE_REFUSED], "refused_commands", "failed before the device"),
	COUNT(G_ALL, measure, cmd.state[STATE_REISSUED], "reissued_commands", "first attempts, issued again"),
	COUNT(G_ALL, measure, cmd.retried, "retried_commands", "with more than one attempt"),
	BYTES(G_ALL, measure, cmd.bytes, "data", "bytes of all commands"),
	BYTES(G_ALL, measure, cmd.dir_bytes[DIR_READ], "read_data", "bytes of reads"),
	BYTES(G_ALL, measure, cmd.dir_bytes[DIR_WRITE], "write_data", "bytes of writes"),
	REAL(G_ALL, measure, cmd.coverage, cmd.n, "share", "coverage_share", "commands with a measured latency"),
	NS(G_ALL, measure, wall_ns, "wall", "first submission to last completion"),
	REAL(G_ALL, measure, throughput_gbs, cmd.n, "GB/s", "throughput_gbs", "bytes moved that did not fail over wall"),
	REAL(G_ALL, measure, depth.mean, depth.n, "", "depth_mean", "commands in flight, idle time included"),
	REAL(G_ALL, measure, depth.busy_mean, depth.n, "", "depth_busy_mean", "the same while any is"),
	COUNT(G_ALL, measure, depth.max, "depth_max", "commands in flight at most"),
	REAL(G_ALL, measure, depth.le1_share, depth.n, "share", "depth_le1_share", "time with at most one in flight"),
	COUNT(G_ALL, measure, batch.n, "batches", "groups of submissions without a pause"),
	DIST(G_ALL, measure, batch.size, "", "batch", "commands of a batch"),
	COUNT(G_ALL, measure, objects_ok, "objects_ok", "operations without an error"),
	COUNT(G_ALL, measure, objects_failed, "objects_failed", "operations with an error"),
	COUNT(G_ALL, measure, max_objects_in_flight, "objects_max", "operations at the same time at most"),

	FLAG(G_LOSS, health, lossy, "lossy", "events are known to be missing"),
	FLAG(G_LOSS, health, incomplete, "incomplete", "the input was cut, damaged, or not ended properly"),
	COUNT(G_LOSS, health, dropped, "dropped", "events dropped, ring or map full"),
	COUNT(G_LOSS, health, hook_missed, "hook_missed", "runs of the tracer that the kernel skipped"),
	COUNT(G_LOSS, health, unread, "unread", "events kept by the tracer and never taken over"),
	COUNT(G_LOSS, health, unpaired, "unpaired", "commands without a completion"),
	COUNT(G_LOSS, health, orphans, "orphans", "completions without a command"),
	COUNT(G_LOSS, health, negative, "negative", "completions earlier than their command"),
	COUNT(G_LOSS, health, malformed, "malformed", "lines or records that could not be read"),
	COUNT(G_LOSS, health, overflows, "cq_overflows", "completions that did not fit the ring"),

	FLAG(G_DIR, measure_qd1, serial, "qd1", "1: each command waits for the one before"),
	DIST(G_DIR, measure_qd1, gap, "ns", "gap", "between submissions of one object"),
	DIST(G_DIR, measure_qd1, service, "ns", "service", "latency that gaps are held against"),
	REAL(G_DIR, measure_qd1, long_gap_share, gap.n, "share", "long_gap_share", "gaps of at least half the service p25"),
	COUNT(G_DIR, measure_qd1, ops, "judged_objects", "objects with the 4 commands that a verdict needs"),
	COUNT(G_DIR, measure_qd1, serial_ops, "serial_objects", "of these, serial on their own"),
	REAL(G_DIR, measure_qd1, in_flight, ops, "", "in_flight", "commands of one object in flight"),
	REAL(G_DIR, measure_qd1, busy_in_flight, ops, "", "busy_in_flight", "the same while any is"),
	NS(G_DIR, measure_qd1, waited_ns, "waited", "sum of gaps less sum of service"),
	REAL(G_DIR, measure_qd1, waited_share, ops, "share", "waited_share", "that of the time that objects take"),
	NS(G_DIR, measure_qd1, lost_ns, "lost", "time that the class of the queue costs"),
	REAL(G_DIR, measure_qd1, lost_share, flow.n, "share", "lost_share", "that of the time with work"),
	REAL(G_DIR, measure_qd1, flow.busy_depth, flow.n, "", "depth_busy", "commands of this direction while any is"),
	REAL(G_DIR, measure_qd1, flow.objects_mean, flow.objects, "", "open_objects", "objects at a time while any is"),
	COUNT(G_DIR, measure_qd1, flow.threads, "threads", "threads that submit"),

	DIST(G_LAT, measure_lat, lat, "ns", "lat", "device latency of commands without an error"),
	COUNT(G_LAT, measure_lat, n, "op_commands", "commands of this name"),
	COUNT(G_LAT, measure_lat, failed, "op_failed", "of these, failed"),
	COUNT(G_LAT, measure_lat, unpaired, "op_unpaired", "of these, without a completion"),

	COUNT(G_OBJ, measure_objects, n, "objects", "objects without an error"),
	COUNT(G_OBJ, measure_objects, failed, "failed", "objects with an error"),
	BYTES(G_OBJ, measure_objects, bytes, "object_data", "bytes of objects without an error"),
	DIST(G_OBJ, measure_objects, span, "ns", "span", "begin to end of an object"),
	DIST(G_OBJ, measure_objects, size, "bytes", "size", "bytes of an object"),
	DIST(G_OBJ, measure_objects, presubmit, "ns", "presubmit", "begin to first command"),
	DIST(G_OBJ, measure_objects, device, "ns", "device", "of the span, with commands in flight"),
	DIST(G_OBJ, measure_objects, host, "ns", "host", "of the span, without"),
	REAL(G_OBJ, measure_objects, eff_mbs_p50, eff_n, "MB/s", "rate_mbs", "bytes over span, median"),

	DIST(G_SHARDS, measure_barrier, gap, "ns", "barrier", "first to last shard of a chunk"),
	COUNT(G_SHARDS, measure_barrier, partial, "partial", "chunks that not all shards moved"),

	COUNT(G_SPACE, measure, space.reused, "lba_reuse", "writes to an LBA written before"),
	REAL(G_SPACE, measure, space.sequential_share, space.writes, "share", "sequential_share",
	     "writes that follow the one before"),
	REAL(G_SPACE, measure, cmd.header_share, space.writes, "share", "header_share", "headers, of the bytes written"),

	DIST(G_REQUEST, measure_requests, span, "ns", "request", "serving spans of this name"),
	NS(G_REQUEST, measure_requests, part[PART_WAIT], "request_wait", "sum: before the first command"),
	NS(G_REQUEST, measure_requests, part[PART_GAPS], "request_gaps", "sum: between commands"),
	NS(G_REQUEST, measure_requests, part[PART_DEVICE], "request_device", "sum: commands in flight"),
	NS(G_REQUEST, measure_requests, part[PART_TAIL], "request_tail", "sum: behind the last completion"),
	NS(G_REQUEST, measure_requests, part[PART_UNEXPLAINED], "request_unexplained", "sum: no object runs"),

	FLAG(G_AB, measure_ab, comparable, "comparable", "1: the same work as the first capture"),
	COUNT(G_AB, measure_ab, paired, "paired", "objects that both captures have"),
	REAL(G_PAIR, measure_pair, ratio.p50, n, "ratio", "ratio", "span of the same object by that in the first, median"),
	REAL(G_PAIR, measure_pair, ratio.low, interval_n, "ratio", "ratio_low", "lower end of its 95 % interval"),
	REAL(G_PAIR, measure_pair, ratio.high, interval_n, "ratio", "ratio_high", "upper end"),
	REAL(G_PAIR, measure_pair, delta_ns.p50, n, "ns", "delta", "the same as a difference"),
};
/* clang-format on */

const char *const report_stats[] = { "min", "p25", "p50", "p95", "p99", "max", "sum", NULL };

static const char *const ops_of[] = {
	[G_ALL] = "all",
	[G_LOSS] = "loss",
	[G_DIR] = "load store",
	[G_LAT] = "read write retrieve store",
	[G_OBJ] = "load store delete",
	[G_SHARDS] = "shards",
	[G_SPACE] = "write",
	[G_REQUEST] = "request",
	[G_AB] = "ab",
	[G_PAIR] = "load store",
};

u32 report_metric_infos(void)
{
	return ARRAY_SIZE(descs);
}

void report_metric_info(u32 i, struct report_metric_info *out)
{
	const struct desc *d = &descs[i];

	*out = (struct report_metric_info){
		.metric = d->name,
		.unit = d->unit,
		.ops = ops_of[d->group],
		.what = d->what,
		.is_dist = d->kind == K_DIST,
		.any_op = d->group == G_LAT || d->group == G_OBJ || d->group == G_REQUEST,
		.of_pair = d->group == G_AB || d->group == G_PAIR,
	};
}

static u64 stat_of(const struct dist *d, const char *stat)
{
	const u64 v[] = { d->min, d->p25, d->p50, d->p95, d->p99, d->max, d->sum };
	size_t k = 0;

	while (strcmp(report_stats[k], stat))
		k++;
	return v[k];
}

/* One figure of one structure. */
static void emit(const struct report_arm *a, const struct desc *d, const char *stat, const char *op, const void *base,
		 report_metric_fn fn, void *arg)
{
	const char *at = (const char *)base + d->at;
	struct report_metric m = {
		.op = op, .metric = d->name, .stat = stat, .unit = d->unit, .what = d->what, .whole = true
	};

	if (d->n_at != NO_N) {
		m.has_n = true;
		memcpy(&m.n, (const char *)base + d->n_at, sizeof(m.n));
	}
	m.known = !m.has_n || m.n;
	switch (d->kind) {
	case K_U64:
		memcpy(&m.u, at, sizeof(m.u));
		break;
	case K_BOOL:
		m.u = *(const bool *)at;
		break;
	case K_REAL:
		m.whole = false;
		memcpy(&m.v, at, sizeof(m.v));
		m.known &= isfinite(m.v) != 0;
		break;
	case K_DIST:
		m.u = stat_of((const struct dist *)at, stat);
		break;
	}
	if (m.whole)
		m.v = (double)m.u;
	fn(arg, a, &m);
}

/* The figure of all structures of its group in one capture. */
static void emit_group(const struct report_arm *a, const struct desc *d, const char *stat, report_metric_fn fn,
		       void *arg)
{
	static const char *const dirs[N_DIRS] = { "load", "store" };
	const struct strpool *s = &a->m->strings;
	const struct measure *x = a->x;
	u32 i;

	switch (d->group) {
	case G_ALL:
		emit(a, d, stat, "all", x, fn, arg);
		break;
	case G_LOSS:
		emit(a, d, stat, "loss", &x->health, fn, arg);
		break;
	case G_DIR:
		for (i = 0; i < N_DIRS; i++)
			if (x->qd1[i].flow.n || x->qd1[i].gap.n)
				emit(a, d, stat, dirs[i], &x->qd1[i], fn, arg);
		break;
	case G_LAT:
		for (i = 0; i < x->n_lat; i++)
			emit(a, d, stat, strpool_get(s, x->lat[i].name), &x->lat[i], fn, arg);
		break;
	case G_OBJ:
		for (i = 0; i < x->n_obj; i++)
			emit(a, d, stat, x->obj[i].name ? strpool_get(s, x->obj[i].name) : "other", &x->obj[i], fn,
			     arg);
		break;
	case G_SHARDS:
		if (x->barrier.shards > 1)
			emit(a, d, stat, "shards", &x->barrier, fn, arg);
		break;
	case G_SPACE:
		if (x->space.writes)
			emit(a, d, stat, "write", x, fn, arg);
		break;
	case G_REQUEST:
		for (i = 0; i < x->n_serving; i++)
			emit(a, d, stat, strpool_get(s, x->serving[i].name), &x->serving[i], fn, arg);
		break;
	case G_AB:
		if (a->ab)
			emit(a, d, stat, "ab", a->ab, fn, arg);
		break;
	case G_PAIR:
		for (i = 0; a->ab && i < a->ab->n_pairs; i++)
			emit(a, d, stat, a->ab->pair[i].name, &a->ab->pair[i], fn, arg);
		break;
	}
}

void report_metrics(const struct report_arm *arms, u32 n, report_metric_fn fn, void *arg)
{
	static const char *const value[] = { "value", NULL };
	u32 i, k, s;

	for (i = 0; i < ARRAY_SIZE(descs); i++) {
		const char *const *stat = descs[i].kind == K_DIST ? report_stats : value;

		for (s = 0; stat[s]; s++)
			for (k = 0; k < n; k++)
				emit_group(&arms[k], &descs[i], stat[s], fn, arg);
	}
}
