/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Perfetto timelines.  The trace is written as it is made: memory is a few
 * bytes a command and some more an operation, never the events.  One packet
 * sequence with interned strings, a delta clock and small track ids; the same
 * model gives the same bytes.
 *
 * Every arm (one capture) has two processes, "LMCache LABEL" with its objects
 * and "NVMe DEVICE LABEL" with its commands, and a time base of its own: the
 * earliest thing drawn, so that arms start side by side.
 */
#ifndef KVIO_PERFETTO_H
#define KVIO_PERFETTO_H

#include "lib/zio.h"
#include "model/model.h"

struct perfetto_arm {
	const struct model *m; /* joined; not changed */
	const char *label;
	const char *sem_name, *dev_name; /* file names for capture_info, NULL = none */
};

struct perfetto_options {
	bool no_rebase;	    /* keep CLOCK_MONOTONIC, with the wall clock where the capture has anchors */
	bool no_slba;	    /* without the two LBA counters */
	u64 nominal_ns;	    /* length of a command without a completion; 0 = 8000 */
	const char *device; /* the word in the process name; NULL = "ng" */
};

/* What was drawn for one arm. */
struct perfetto_stats {
	u64 object_spans, object_instants;
	u64 command_slices;				     /* refused ones included */
	u64 reissued;					     /* first attempts, not drawn: rows = slices + reissued */
	u64 tagged_bytes, untagged, untagged_bytes, headers; /* of what reached the device */
	u64 overflows;
	u32 object_lanes;
	u64 base_ns;
};

/*
 * Writes all arms to `out` (not closed).  stats[n] is filled.  *packets is the
 * number of event packets.  0, -ENOMEM, -EEXIST (two arms have one label) or
 * the error of the output.
 */
int perfetto_write(struct zout *out, const struct perfetto_arm *arms, u32 n, const struct perfetto_options *o,
		   struct perfetto_stats *stats, u64 *packets);

#endif
