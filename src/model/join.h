/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the join share and nobody else includes. */
#ifndef KVIO_JOIN_H
#define KVIO_JOIN_H

#include "model/measure.h"
#include "model/tables.h"

/* How far outside its operation a command may be, in time. */
#define SLACK_NS 5000000ull

/* join_order.c: an order of operations, spans, overflows and anchors that the input has no say in.  0 or -ENOMEM. */
int sort_semantic(struct model *m);
/* Keeps the n rows of `order`, in its order.  0 or -ENOMEM. */
int op_permute(struct op_table *t, const u32 *order, u32 n);
int span_permute(struct span_table *t, const u32 *order, u32 n);

/* join_groups.c: operations of one id, by their end. */
struct op_groups {
	u32 n;
	u32 *start; /* of each group in `op`, and the end of the last */
	u32 *op;
	bool *overlap; /* some operations of the group run at the same time */
};
/* group[i] is the group of operation i, NONE for none.  0 or -ENOMEM; op_groups_free() in both cases. */
int op_groups_make(struct op_groups *g, const struct op_table *t, const u32 *group, u32 n);
void op_groups_free(struct op_groups *g);
/* The operation of the group that a command of that time belongs to; NONE when the group is empty. */
u32 op_groups_at(const struct op_groups *g, const struct op_table *t, u32 group, u64 ts_ns);
/* Fills occurrence, n_occurrences and dup_trace_ids from the groups by join id. */
void count_occurrences(struct model *m, const struct op_groups *g);

/* Which way data goes, by name, with both sides' names. */
struct ways {
	struct dir_names cmd;
	u32 load, store;
};
void ways_init(struct ways *w, const struct model *m);
static inline enum dir op_way(const struct ways *w, const struct model *m, u32 op)
{
	u32 name = m->op.name[op];

	if (!name)
		return DIR_NONE;
	return name == w->load ? DIR_READ : name == w->store ? DIR_WRITE : DIR_NONE;
}

/* In an account: not a first attempt, and not refused before the device. */
static inline bool cmd_counts(const struct model *m, u32 i)
{
	return !(m->cmd.flags[i] & (CMD_REISSUED | NVME_REFUSED));
}

/* join_lba.c: the LBA size of one command, and headers. */
u32 cmd_lba_bytes(const struct model *m, const struct join_options *o, u32 cmd);
void choose_lba(struct model *m, const struct join_options *o);
void mark_headers(struct model *m, const struct join_options *o);
void count_headers(struct model *m);

/*
 * join_place.c: which operation owns the bytes of a command.  Operations are
 * those of `use`, or all when it is NULL, that have a slot.
 */
struct places;
int places_make(struct places **out, const struct model *m, const struct join_options *o, const bool *use);
void places_free(struct places *x);

/* The bytes of one operation in one command, at increasing offsets. */
struct place_part {
	u32 op;
	u64 bytes;
};
struct place_hit {
	u32 n;
	struct place_part *part; /* until the next call */
	u64 len, inside;	 /* of the command; of its parts together */
	bool no_place;		 /* it has none: no LBA */
	bool no_data;		 /* the parts are of a range that it works on without moving data */
	/* Of a command that is not inside one part: of slots of any time, it touches several; it is partly outside. */
	bool several, spills;
};
/* Commands are asked in order of time; one that does not `take` leaves no trace.  0 or -ENOMEM. */
int places_find(struct places *x, u32 cmd, bool take, struct place_hit *hit);

/*
 * The joins: fill cmd.op of all commands and the ids of all operations.  *tied
 * is the number of commands with an operation (of their direction, for places).
 * 0 or -ENOMEM.
 */
int join_by_id(struct model *m, const struct join_options *o, u64 *tied);
int join_by_key(struct model *m, u64 *tied);
int join_by_offset(struct model *m, const struct join_options *o, u64 *tied);
/* Gives operations the ids that join_by_id() does, and ties nothing. */
int join_nothing(struct model *m);
/* True when the ids are those of the operations' times, and not numbers that happen to be equal. */
bool ids_are_timely(const struct model *m);

/* join.c: first_cmd, n_cmds, cmd_order, anomalies from cmd.op and parts.  0 or -ENOMEM. */
int order_commands(struct model *m);

#endif
