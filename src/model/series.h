/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A capture over time, in few enough points to be drawn: their number is
 * bounded whatever the capture's size.  What counts is every command that
 * reached the device, tagged or not; see measure.h for the words.
 */
#ifndef KVIO_SERIES_H
#define KVIO_SERIES_H

#include "model/measure.h"

#define SERIES_MAX_POINTS   2000u
#define DENSITY_MAX_COLUMNS 400u
#define DENSITY_MAX_ROWS    200u

/* Columns of series_depth(): in flight at most, and on average, in each step. */
enum { DEPTH_MAX, DEPTH_MEAN, DEPTH_READS, DEPTH_WRITES, N_DEPTHS };
/* Columns of series_rate(): bytes per second of commands that completed in each step without an error. */
enum { RATE_READS, RATE_WRITES, N_RATES };

#define SERIES_COLUMNS 4

/* Step i lasts from start_ns + i * step_ns for step_ns; the last one may end early. */
struct series {
	u64 start_ns, step_ns, end_ns;
	u32 n;
	double *v[SERIES_COLUMNS];
};

/* At most `points` steps (0 = SERIES_MAX_POINTS), none for an empty capture.  0 or -ENOMEM; series_free() in both
 * cases. */
int series_depth(struct series *out, const struct model *m, u32 points);
int series_rate(struct series *out, const struct model *m, u32 points);
void series_free(struct series *s);

/*
 * Latencies of commands without an error, in buckets of 1/16 of a power of
 * two: bucket i has those from low_ns[i] up to the next one's.  Only buckets
 * from the first to the last that is not empty.
 */
struct latencies {
	u32 n;
	u64 *low_ns; /* n + 1 of them */
	u64 *count[N_DIRS];
	u64 total[N_DIRS];
};
int series_latency(struct latencies *out, const struct model *m);
void latencies_free(struct latencies *l);

/*
 * Where on the device commands begin, over time: a grid of counts, row 0 is
 * the lowest LBA.  Of one device, or of all when it is NONE.
 */
struct density {
	u64 start_ns, step_ns, first_lba, lba_step;
	u32 columns, rows;
	u32 *cell[N_DIRS]; /* rows * columns */
	u32 max;	   /* the largest of them */
	u64 n;		   /* commands in the grid */
	u64 no_place;	   /* commands without an LBA */
};
int series_density(struct density *out, const struct model *m, u32 dev, u32 columns, u32 rows);
void density_free(struct density *d);

#endif
