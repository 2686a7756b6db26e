/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of one or several captures for people (text) and for programs (JSON). */
#ifndef KVIO_REPORT_H
#define KVIO_REPORT_H

#include "lib/buf.h"
#include "lib/ndjson.h"
#include "model/measure.h"

/* Version of the JSON layout: additions keep it, changes raise it. */
#define REPORT_SCHEMA 1

/* So many of the slowest requests are listed one by one. */
#define REPORT_SLOWEST 10

struct report_arm {
	const char *label;
	const struct model *m;
	const struct measure *x;
	const struct measure_ab *ab; /* against arm 0; NULL for arm 0 itself */
};

/* Plain text under 80 columns; verdict first, warnings before it. */
void report_text(struct buf *out, const struct report_arm *arms, u32 n);

/* { "LABEL": { ... }, ... } with times in nanoseconds. */
void report_json(struct buf *out, const struct report_arm *arms, u32 n);

/* One figure a line: label,metric,op,stat,value,n,unit. */
void report_csv(struct buf *out, const struct report_arm *arms, u32 n);

/* Prometheus text, times in seconds. */
void report_prom(struct buf *out, const struct report_arm *arms, u32 n);

/* The JSON Schema of report_json(), with a list of all metrics. */
void report_schema(struct buf *out);

/* True when the exit status is EXIT_INCOMPLETE: losses, damage, a cut end, or nothing in the capture. */
bool report_incomplete(const struct measure *x);

/* ---- shared wording ---- */

/* What keeps the figures from being trusted, one sentence each. */
struct report_warnings {
	struct buf text; /* the sentences, each ended by NUL */
	u32 n;
};
void report_warnings(struct report_warnings *out, const struct model *m, const struct health *h);

/* The outcome in one sentence: QD~1 or pipelined, or what is missing. */
void report_verdict(struct buf *out, const struct model *m, const struct measure *x);
const char *report_qd1_word(enum qd1_verdict v);
/* "serial within an object", and "serial-within-object" for programs. */
const char *report_class_word(enum qd_class c);
const char *report_class_id(enum qd_class c);
/*
 * "time lost by waiting: 4.21 ms, 78.1 % of the time that they take", and the
 * part from the number of per cent on; false, and nothing, when it costs nothing.
 */
bool report_cost(struct buf *out, const struct measure_qd1 *q);
bool report_cost_share(struct buf *out, const struct measure_qd1 *q);
/* The evidence for the class in one sentence, without a full stop; nothing for QD_UNKNOWN. */
void report_class_why(struct buf *out, const struct measure_qd1 *q);

/* "LBA out of range"; and the numbers, "sct 0 sc 80". */
const char *report_status_name(const struct measure_status *s);
void report_status_code(char *out, size_t n, const struct measure_status *s);

/* "device", "gaps", ...: names of parts of a request, causes of a barrier, kinds of work. */
const char *report_part_name(enum request_part p);
const char *report_cause_name(enum barrier_cause c);
const char *report_work_name(enum ab_work w);

/* "trace id", "none": how commands found their objects. */
const char *report_join_name(const struct model *m);

/* "load 9, store 9", sorted by name; "-" without operations */
void report_op_counts(struct buf *out, const struct model *m);

/* "83.4 us", "1.50 MiB"; see lib/human.h */
void report_ns(struct buf *out, u64 ns);
void report_bytes(struct buf *out, u64 bytes);

/* Text of a capture without control characters, so that a terminal cannot be steered by it. */
void report_safe(struct buf *out, const char *s, size_t n);

/* The path of a file as the capture has it, or its numbers, put into `numbers`, when that is not known. */
#define REPORT_NUMBERS 56
struct slice report_file(const struct model *m, u32 path, u32 dev, u64 ino, char numbers[REPORT_NUMBERS]);

#endif
