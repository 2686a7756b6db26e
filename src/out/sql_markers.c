// SPDX-License-Identifier: Apache-2.0
/* The table of what the application itself says. */
#include "out/sql_rows.h"

static u32 markers_of(const struct model *m)
{
	return m->marker.n;
}

u32 sql_marker_rows(struct sql *s)
{
	return sql_sum(s, markers_of);
}

s64 sql_marker_key(struct sql *s, u32 row, int column)
{
	u32 i = row, arm = sql_find_arm(s, markers_of, &i);
	u64 ts_ns = s->arm[arm].m->marker.row[i].ts_ns;

	if (column != SQL_MARKER_ts_ns)
		return row;
	return ts_ns == NO_NUMBER ? 0 : (s64)MIN(ts_ns, (u64)INT64_MAX);
}

void sql_marker_column(struct sql *s, sqlite3_context *ctx, u32 row, int column)
{
	u32 i = row, arm = sql_find_arm(s, markers_of, &i);
	const struct model *m = s->arm[arm].m;
	const struct marker_row *r = &m->marker.row[i];

	switch (column) {
	case SQL_MARKER_id:
		sqlite3_result_int64(ctx, row);
		break;
	case SQL_MARKER_arm:
		sql_put_word(ctx, s->arm[arm].label);
		break;
	case SQL_MARKER_ts_ns:
		if (r->ts_ns != NO_NUMBER)
			sql_put_u64(ctx, r->ts_ns);
		break;
	case SQL_MARKER_pid:
		sql_put_id(ctx, r->pid ?: NONE);
		break;
	case SQL_MARKER_tid:
		sql_put_id(ctx, r->tid ?: NONE);
		break;
	case SQL_MARKER_name:
		sql_put_text(ctx, &m->strings, r->name);
		break;
	case SQL_MARKER_useful_bytes:
		if (r->is_sum)
			sql_put_u64(ctx, r->useful_bytes);
		break;
	default:
		sql_put_text(ctx, &m->strings, r->line);
	}
}
