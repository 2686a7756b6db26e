/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Load a cache or compute it again?  The formulas are in docs/kv-model.md; they
 * live here only.  Seconds, bytes and operations are doubles: these are
 * estimates.
 */
#ifndef KVIO_KV_COST_H
#define KVIO_KV_COST_H

#include "kv/geometry.h"

/* What a load path and a GPU can do. */
struct kv_machine {
	double bandwidth; /* of the device all ranks share, bytes a second */
	double latency_s; /* of a command without its transfer */
	double gap_s;	  /* that software adds to each command before the next takes its place */
	double depth;	  /* commands in flight of a ring */
	double rings;
	double ring_bandwidth; /* that one ring can carry; 0 = no bound */
	double cmd_bytes;      /* largest command */
	double object_s;       /* for each object, besides its commands */
	double speedup;	       /* a measured gain of the load path, which divides all of it */
	double gpu_flops;      /* peak of one GPU, operations a second */
	double utilisation;    /* share of it that is reached */
	double overhead_s;     /* of recomputing, whatever the size */
};
/* The rig of the published cells: a drive of 11.3 GB/s read one command at a time, H100s. */
extern const struct kv_machine kv_published_machine;

/* What is to be there. */
struct kv_context {
	const struct kv_model *m;
	enum kv_dtype dtype;
	u32 ranks;
	u64 tokens, chunk_tokens; /* only whole chunks are loaded, and compared */
	u64 params;		  /* used for one token; 0 = the model's */
};

enum kv_bound { KV_BOUND_WAITING, KV_BOUND_RINGS, KV_BOUND_DEVICE };
const char *kv_bound_name(enum kv_bound bound);

struct kv_cost {
	double bytes, objects, commands;
	double service_s; /* of a command in the device */
	double load_s;
	enum kv_bound bound; /* what takes the longest */
	double weight_flops, attention_flops;
	double recompute_s;
	double ratio; /* load / recompute: below 1 loading is faster */
};

/* 0, or -EINVAL and why[KV_WHY]. */
int kv_cost(struct kv_cost *c, const struct kv_context *x, const struct kv_machine *h, char *why);

/* What can be varied. */
enum kv_variable {
	KV_VAR_TOKENS,
	KV_VAR_DEPTH,
	KV_VAR_RINGS,
	KV_VAR_BANDWIDTH,
	KV_VAR_GAP,
	KV_VAR_LATENCY,
	KV_VAR_CMD_BYTES,
	KV_VAR_TP,
	KV_VAR_UTILISATION,
	N_KV_VARIABLES
};
const char *kv_variable_name(enum kv_variable v);
/* -EINVAL when there is no such variable. */
int kv_variable_parse(enum kv_variable *v, const char *name);
/* Sets it: times in seconds, numbers of things rounded to whole ones. */
void kv_variable_set(struct kv_context *x, struct kv_machine *h, enum kv_variable v, double value);

/*
 * The first value from `from` up to `to` at which the ratio passes 1, by
 * doubling and then halving; whole numbers where the variable is one.  -ENOENT
 * when it does not.  *below tells whether it is below 1 from there on.
 */
int kv_crossover(const struct kv_context *x, const struct kv_machine *h, enum kv_variable v, double from, double to,
		 double *value, bool *below);

#endif
