/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tracing session on this machine: its NVMe namespaces, the filters that a
 * user gave in words, the tracer, and the documents that describe it all in a
 * capture.  What `record` and `top` have in common.
 */
#ifndef KVIO_SESSION_H
#define KVIO_SESSION_H

#include <jansson.h>

#include "capture/names.h"
#include "io/device.h"
#include "trace/recorder.h"
#include "trace/trace.h"

struct session_options {
	u32 witnesses;		 /* enum trace_witness */
	const char *view;	 /* the word for them in the capture */
	bool passthrough_only;	 /* of the NVMe commands only these */
	const char *const *pids; /* words; "0" stands for all */
	size_t n_pids;
	const char *const *devices; /* any node or name of a namespace */
	size_t n_devices;
	const char *comm;	/* NULL = all */
	const char *cgroup;	/* path of a cgroup, absolute or below its mount; NULL = all */
	const char *const *ops; /* operations of any tracer by name, NVMe ones also by number; none = all */
	size_t n_ops;
	const char *const *paths; /* files of calls and requests: globs, files, directories; none = all */
	size_t n_paths;
	const char *const *map_files; /* files whose blocks are looked for, in the same way; none = none */
	size_t n_map_files;
	u64 min_bytes, max_bytes; /* of a command, 0 = no limit */
	bool kv, no_entry, no_cq_overflow;
	bool follow;		  /* a program will be started and followed with its children */
	bool children;		  /* of pids, those that are there and those to come */
	u64 ring_bytes;		  /* of each ring */
	bool stream, exact_pages; /* of page faults, see struct trace_options */
	u64 useful_bytes;	  /* that the program had use for, 0 = not known */
	u64 lba_bytes;		  /* what the user believes, 0 = nothing: a conflict is told */
};

struct session {
	struct session_options o;
	struct nvme_ns *ns;
	size_t n_ns;
	char **paths, **map_files; /* the patterns as they are matched */
	u32 *pids;		   /* those of --pid, `n_named` of them, and what was found below */
	size_t n_pids, n_named;
	struct trace *trace;
	/* Disks whose block size is not what the user believes: told once each. */
	void (*lba_conflict)(const char *disk, u32 lba_bytes);
};

/*
 * Lists the namespaces, resolves the filters and loads the tracer, whose
 * records go to fn(arg, ...).  On failure `why` holds one line for the user
 * (may be longer than a terminal line) and -errno is returned; -EINVAL is a
 * filter that makes no sense.  Close in any case.
 */
int session_open(struct session *s, const struct session_options *o, trace_fn fn, void *arg, char *why, size_t n_why);
void session_close(struct session *s);

/* Fills `pids`, with those below when children are asked for (pids.c).  Returns and fails as session_open(). */
int session_pids(struct session *s, char *why, size_t n_why);
/* Attaches the tracers, and adds all that is below the processes of --pid.  0 or -errno. */
int session_attach(struct session *s);
/* Lets `names` know threads and disks of this session. */
void session_names(struct session *s, struct names *names);
/* How many commands the queues of all namespaces can hold. */
u32 session_inflight_max(const struct session *s);
/* True when some namespace has a char device for passthrough. */
bool session_has_char_device(const struct session *s);

/* The document that opens a capture.  command: argv of the program followed, or empty.  Owned by the caller. */
json_t *session_meta(const struct session *s, const char *kvio_version, char **command);
/* The document that ends it: the account and what ended the recording. */
json_t *session_footer(const struct recorder_totals *t, enum recorder_end end);

#endif
