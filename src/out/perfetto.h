/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Perfetto timelines.  The trace is written as it is made: memory is a few
 * bytes a command and some more an operation, never the events.  One packet
 * sequence with interned strings, a delta clock and small track ids; the same
 * model gives the same bytes.
 *
 * Every arm (one capture) has a process "LMCache LABEL" with its objects, one
 * "NVMe DEVICE LABEL" a device with its commands, "Serving LABEL" with the
 * requests of the serving engine when there are any, and a time base of its
 * own: the earliest thing drawn, so that arms start side by side.  System calls,
 * io_uring requests and page faults have a process "Program COMM[PID] LABEL" for each
 * program; see perfetto_programs.h.
 */
#ifndef KVIO_PERFETTO_H
#define KVIO_PERFETTO_H

#include "lib/zio.h"
#include "model/cause.h"

/* More commands are told in fewer words, unless options say otherwise. */
#define PF_LEAN_COMMANDS 250000

struct perfetto_arm {
	const struct model *m; /* joined; not changed */
	const char *label;
	const char *sem_name, *dev_name; /* file names for capture_info, NULL = none */
};

struct perfetto_options {
	bool no_rebase;	     /* keep CLOCK_MONOTONIC, with the wall clock where the capture has anchors */
	bool no_slba;	     /* without the two LBA counters */
	bool align_realtime; /* arms of several hosts on one axis, by their clock anchors */
	bool redact;	     /* without host names, paths, keys; instances, requests and errors as numbers */
	u64 nominal_ns;	     /* length of a command without a completion; 0 = 8000 */
	u64 slice_budget;    /* more slices are drawn as fewer, see perfetto_detail.c; 0 = no limit */
	/* Says less of each command: LBA counters by bins of time, real_dur only where it is false. */
	enum perfetto_detail { DETAIL_AUTO, DETAIL_FULL, DETAIL_LEAN } detail; /* auto: lean for PF_LEAN_COMMANDS */
	const char *device; /* the word in the process name of the only device; NULL = "ng" */
};

/* What was drawn for one arm. */
struct perfetto_stats {
	/* Slices, and what they stand for: things of the model and their bytes (of requests, tokens; of losses,
	 * events). */
	struct perfetto_kind {
		u64 slices, n, amount;
	} commands /* refused ones, too */, objects, object_instants, requests, losses, calls, uring, faults;
	struct cause_sums cause;
	u64 reissued; /* first attempts, not drawn: rows = commands.n + reissued */
	u64 tagged_bytes, untagged, untagged_bytes, headers; /* of what reached the device */
	u64 overflows, anomalies;
	u32 object_lanes, devices;
	u64 base_ns;
	/* When arms are aligned: by how many anchors, and how far from the truth they may be */
	u32 clock_anchors;
	u64 clock_error_ns;
	bool clock_was_set;
	/* When commands are drawn as one */
	u64 command_bin_ns; /* those that begin in this time; UINT64_MAX = in all of it; 0 = no command is */
	bool commands_by_object;
	bool lean;
	u64 sample_bin_ns; /* LBA counters take one sample in this time, when lean */
};

/* Where the timeline goes. */
struct perfetto_out {
	u64 split_bytes; /* a piece is full with so many bytes before compression; 0 = all in one file */
	/* Opens the file of a piece, counted from 1; the writer closes it.  0 or -errno.  NULL = there is only z. */
	int (*open)(void *arg, u32 piece, struct zout **z);
	void *arg;
	struct zout *z; /* not closed */
	/* Filled */
	u32 pieces;
	u64 packets, bytes; /* events; before compression */
};

/*
 * Writes all arms; stats[n] is filled.  0, -ENOMEM, -EEXIST (two arms have one
 * label), -ENODATA (an arm to be aligned has no clock anchors) or the error of
 * the output; then pieces before the last stay.
 */
int perfetto_write_pieces(struct perfetto_out *out, const struct perfetto_arm *arms, u32 n,
			  const struct perfetto_options *o, struct perfetto_stats *stats);
/* The same into one file that is open; *packets is the number of events. */
int perfetto_write(struct zout *out, const struct perfetto_arm *arms, u32 n, const struct perfetto_options *o,
		   struct perfetto_stats *stats, u64 *packets);

#endif
