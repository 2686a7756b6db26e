/* SPDX-License-Identifier: Apache-2.0 */
/* What a tracer gives to the engine (trace.c): a new one is a struct tracer_ops in its table. */
#ifndef KVIO_TRACER_H
#define KVIO_TRACER_H

#include <bpf/libbpf.h>

#include "trace/batch.h"
#include "trace/shared.h"
#include "trace/taken.h"
#include "trace/trace.h"

#define TRACER_FACILITIES 8

struct files;
struct rings;

struct tracer {
	const struct tracer_ops *ops;
	struct bpf_object *obj;
	struct bpf_object_skeleton *skeleton;
	struct trace_config *cfg;	 /* of the programs, until they are loaded */
	const struct counters *counters; /* theirs, MAX_CPUS of them */
	struct facility facility[TRACER_FACILITIES];
	size_t n_facilities;
	void *bpf;	    /* the skeleton's own struct */
	void *state;	    /* of the tracer */
	struct taken taken; /* what came here, all that the programs kept */
	struct batches batches;
	bool unbatched;	     /* the kernel refused them */
	bool variant;	     /* which of two programs this kernel takes, for the tracer itself */
	struct files *files; /* what files are called: the trace's */
};

struct tracer_ops {
	const char *name;
	u8 witness; /* enum ev_witness; EV_WITNESSES of one that only helps */
	/* One line that says why this kernel has nothing to trace, or NULL. */
	const char *(*missing)(const struct probe *p);
	/* Which hooks are asked for and there: fills the facilities. */
	void (*choose)(struct tracer *t, const struct trace_options *o, const struct probe *p);
	/*
	 * Opens the skeleton, sets what the programs are told, and fills obj, skeleton, cfg and counters, and batches
	 * where its programs have them.  0 or -errno.
	 */
	int (*open)(struct tracer *t, const struct trace_options *o);
	/* After loading: fills maps.  0 or -errno.  May be NULL, as all below. */
	int (*prepare)(struct tracer *t, const struct trace_options *o);
	/* Gives up an optional hook that the kernel may have refused; false when none is left. */
	bool (*give_up)(struct tracer *t, const char *why);
	/* NULL: all programs, in their order in the file. */
	int (*attach)(struct tracer *t);
	/* Before everything is detached. */
	void (*detach)(struct tracer *t);
	/* Records of these kinds are what its programs count as stored; what they keep as sums, sums() counts. */
	u8 stored[4];
	/* Takes the records of these kinds on their way to fn: where there are batches, several of a kind at once. */
	u8 kinds[4];
	int (*deliver)(struct tracer *t, const void *record, size_t size, trace_fn fn, void *arg);
	s64 (*in_flight)(const struct tracer *t, u64 min_age_ns, trace_fn fn, void *arg);
	bool (*busy)(const struct tracer *t);
	/*
	 * Gives fn what it keeps as sums, where that changed since the last time; with `all`, everything.  Non-zero of
	 * fn ends it and is returned.
	 */
	int (*sums)(struct tracer *t, bool all, trace_fn fn, void *arg);
	/* Unloads the programs; may be opened again. */
	void (*destroy)(struct tracer *t);
	/* At the very end, after that: frees what choose() made. */
	void (*close)(struct tracer *t);
};

extern const struct tracer_ops tasks_tracer, nvme_tracer, syscall_tracer, iouring_tracer, mmap_tracer;

/*
 * The number in the first pid namespace of a process that has `pid` in ours.
 * 0, -ESRCH, or -EOPNOTSUPP where the kernel does not tell.
 */
int tasks_first_pid(const struct tracer *tasks, u32 pid, u32 *first);
/* Begins or ends the notes, and gives fn each of them: see trace.h. */
void tasks_note_forks(const struct tracer *tasks, bool on);
int tasks_notes(const struct tracer *tasks, process_fn fn, void *arg);
/* Has all pages of the rings in memory before something is recorded, where that can be done. */
void tasks_touch_rings(const struct tracer *tasks, struct rings *r);

void facility_off(struct facility *f, const char *why);

/*
 * Attaches both programs of an optional facility (b may be NULL), or neither:
 * then the facility is off.
 */
void tracer_attach_optional(struct facility *f, struct bpf_program *a, struct bpf_link **la, struct bpf_program *b,
			    struct bpf_link **lb);
/* Attaches one program.  0 or -errno. */
int tracer_attach(struct bpf_program *prog, struct bpf_link **link);

#endif
