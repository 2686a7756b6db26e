/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every figure of a report under one name: what --csv and --prom write,
 * --fail-if asks for, and `kvio schema report` lists.
 */
#ifndef KVIO_REPORT_METRICS_H
#define KVIO_REPORT_METRICS_H

#include "out/report.h"

struct report_metric {
	const char *op;	    /* "load", "read", "all", "loss": what it is a figure of */
	const char *metric; /* "gap", "commands" */
	const char *stat;   /* "p50"; "value" where there is only one */
	const char *unit;   /* "ns", "bytes", "share", "" for a count */
	const char *what;   /* in words */
	bool known;	    /* false: nothing was measured */
	bool whole;	    /* v is a whole number, also in u */
	u64 u;
	double v;
	bool has_n;
	u64 n; /* of how many samples */
};

typedef void (*report_metric_fn)(void *arg, const struct report_arm *a, const struct report_metric *m);

/* All metrics of all captures; those of one metric and stat follow one another. */
void report_metrics(const struct report_arm *arms, u32 n, report_metric_fn fn, void *arg);

/* What each metric is, without a capture: ops is what stands before the dot ("load store"). */
struct report_metric_info {
	const char *metric, *unit, *ops, *what;
	bool is_dist; /* has the stats below */
	bool any_op;  /* ops are examples: it is there for each name that the capture has */
	bool of_pair; /* of a capture against the first */
};
u32 report_metric_infos(void);
void report_metric_info(u32 i, struct report_metric_info *out);
/* The stats of a distribution, NULL-ended. */
extern const char *const report_stats[];

/*
 * A threshold "OP.METRIC[_STAT][_UNIT] CMP NUMBER", such as
 * load.gap_p50_us>50.  Times need a unit: ns, us, ms, s; bytes may have one:
 * bytes, kib, mib, gib.  CMP is one of > >= < <= == !=.
 */
struct report_limit {
	char op[64], metric[64], stat[8];
	char path[128]; /* as it was written, for messages */
	char cmp[3];
	double scale; /* what a value of the metric is divided by */
	double bound;
};
/*
 * 0; -EINVAL when it has no comparison or no number; -ENOENT when there is no
 * such metric: *near is then the most similar name (allocated) or NULL.
 */
int report_limit_parse(struct report_limit *l, const char *text, char **near);

/*
 * Appends a line for each capture of which the threshold is true, and for each
 * in which it was not measured, which counts the same.  How many those are.
 */
u32 report_limit_check(struct buf *out, const struct report_limit *l, const struct report_arm *arms, u32 n);

#endif
