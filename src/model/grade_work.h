/* SPDX-License-Identifier: Apache-2.0 */
/* What the two files of the grading share and nobody else includes. */
#ifndef KVIO_GRADE_WORK_H
#define KVIO_GRADE_WORK_H

#include "model/grade.h"

/* A command of the operation at hand. */
struct grade_cmd {
	u64 bytes;	/* that belong to the operation */
	u64 begin, end; /* on the device, when the place is known */
	u32 row;
};

struct grade_work {
	struct grade *g;
	const struct model *m;
	const struct semantic *semantic; /* or NULL */
	const struct grade_options *o;
	struct dir_names dirs;
	u32 *row; /* the record of each operation, see semantic_match() */
	bool foreign;
	/* The operation at hand. */
	enum kv_op kv_op;
	struct kv_plan plan;
	struct grade_cmd *cmd;
	u64 n, cap;
};

/* Room for n commands.  0 or -ENOMEM. */
int grade_room(struct grade_work *w, u64 n);
int grade_match(struct grade_work *w);
void grade_work_free(struct grade_work *w);
/* Where the commands are: the last six members of *o and three of its flags; sorts them by place.  0 or -ENOMEM. */
int grade_place(struct grade_work *w, struct grade_op *o);

#endif
