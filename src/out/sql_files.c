// SPDX-License-Identifier: Apache-2.0
/* The table of threads. */
#include "out/sql_rows.h"

static u32 tasks_of(const struct model *m)
{
	return m->n_tasks;
}

u32 sql_task_rows(struct sql *s)
{
	return sql_sum(s, tasks_of);
}

static void put_number(sqlite3_context *ctx, u32 n)
{
	if (n)
		sqlite3_result_int64(ctx, n);
}

void sql_task_column(struct sql *s, sqlite3_context *ctx, u32 row, int column)
{
	u32 i = row, arm = sql_find_arm(s, tasks_of, &i);
	const struct model *m = s->arm[arm].m;
	const struct task *t = &m->task[i];

	switch (column) {
	case SQL_TASK_id:
		sqlite3_result_int64(ctx, row);
		break;
	case SQL_TASK_arm:
		sql_put_word(ctx, s->arm[arm].label);
		break;
	case SQL_TASK_tid:
		sqlite3_result_int64(ctx, t->tid);
		break;
	case SQL_TASK_pid:
		put_number(ctx, t->pid);
		break;
	case SQL_TASK_ns_pid:
		put_number(ctx, t->ns_pid);
		break;
	case SQL_TASK_comm:
		sql_put_text(ctx, &m->strings, t->comm);
		break;
	case SQL_TASK_since_ns:
		sql_put_u64(ctx, t->since_ns);
		break;
	case SQL_TASK_cgroup:
		if (t->cgroup)
			sql_put_u64(ctx, t->cgroup);
		break;
	default:
		sql_put_text(ctx, &m->strings, t->cgroup_path);
	}
}
