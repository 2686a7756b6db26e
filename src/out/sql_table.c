// SPDX-License-Identifier: Apache-2.0
/*
 * The virtual table that all tables are: a scan of the rows, a range of a
 * sorted column by bisection, or the rows of one number by an index.  What a
 * plan gives may be too much, never too little: SQLite checks each row again.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "out/sql_work.h"

struct table {
	sqlite3_vtab base;
	struct sql *s;
	const struct sql_table *def;
	u32 number;
};

struct cursor {
	sqlite3_vtab_cursor base;
	u32 at, end;
	const u32 *row; /* through an index, or NULL */
};

/* What the module of one table is registered with. */
struct module {
	struct sql *s;
	u32 number;
};

const struct sql_table *sql_table_at(u32 i)
{
	if (i < n_sql_capture_tables)
		return &sql_capture_tables[i];
	i -= n_sql_capture_tables;
	return i < n_sql_timeline_tables ? &sql_timeline_tables[i] : NULL;
}

void sql_put_u64(sqlite3_context *ctx, u64 v)
{
	char text[24];

	if (v <= INT64_MAX)
		sqlite3_result_int64(ctx, (s64)v);
	else
		sqlite3_result_text(ctx, text, (int)(text_u64(text, v) - text), SQLITE_TRANSIENT);
}

static int connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out, char **error)
{
	const struct module *m = aux;
	const struct sql_table *def = sql_table_at(m->number);
	struct table *t;
	char *declaration;
	int ret;

	(void)argc;
	(void)argv;
	ret = m->number >= n_sql_capture_tables ? sql_need_timeline(m->s) : sql_need_captures(m->s);
	if (ret) {
		*error = sqlite3_mprintf("cannot make table %s: %s", def->name, strerror(-ret));
		return ret == -ENOMEM ? SQLITE_NOMEM : SQLITE_ERROR;
	}
	declaration = sqlite3_mprintf("CREATE TABLE x(%s)", def->columns);
	t = sqlite3_malloc(sizeof(*t));
	m->s->declaring = true;
	ret = declaration && t ? sqlite3_declare_vtab(db, declaration) : SQLITE_NOMEM;
	m->s->declaring = false;
	sqlite3_free(declaration);
	if (ret != SQLITE_OK) {
		sqlite3_free(t);
		return ret;
	}
	sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
	*t = (struct table){ .s = m->s, .def = def, .number = m->number };
	*out = &t->base;
	return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *base)
{
	sqlite3_free(base);
	return SQLITE_OK;
}

/* ---- plans ---- */

/*
 * idxNum is the way in, and the column of it; idxStr has a letter for each
 * argument of filter(): what its constraint is.
 */
enum way { WAY_ALL, WAY_SORTED, WAY_GROUP };
#define WAY_BITS 2

static u32 sorted_columns(const struct table *t)
{
	return t->def->sorted | (t->s->n_arms == 1 ? t->def->sorted_in_arm : 0);
}

static char letter(u8 op)
{
	switch (op) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		return '=';
	case SQLITE_INDEX_CONSTRAINT_GT:
		return '>';
	case SQLITE_INDEX_CONSTRAINT_GE:
		return 'g';
	case SQLITE_INDEX_CONSTRAINT_LT:
		return '<';
	case SQLITE_INDEX_CONSTRAINT_LE:
		return 'l';
	}
	return 0;
}

/* How good a constraint is as the way in; 0 = it is none. */
static int worth(const struct table *t, const struct sqlite3_index_constraint *c)
{
	bool sorted = c->iColumn >= 0 && c->iColumn < 32 && sorted_columns(t) >> c->iColumn & 1;
	bool equal = c->op == SQLITE_INDEX_CONSTRAINT_EQ;

	if (!c->usable || !letter(c->op))
		return 0;
	if (sorted)
		return !equal ? 1 : c->iColumn == 0 ? 4 : 3;
	return equal && t->def->group && c->iColumn == t->def->group ? 2 : 0;
}

/* Takes all usable constraints on the column as arguments of filter(). */
static int take_constraints(const struct table *t, sqlite3_index_info *info, int column)
{
	char *letters = sqlite3_malloc(info->nConstraint + 1);
	int i, n = 0;

	if (!letters)
		return SQLITE_NOMEM;
	for (i = 0; i < info->nConstraint; i++) {
		if (info->aConstraint[i].iColumn != column || !worth(t, &info->aConstraint[i]))
			continue;
		letters[n++] = letter(info->aConstraint[i].op);
		info->aConstraintUsage[i].argvIndex = n;
	}
	letters[n] = '\0';
	info->idxStr = letters;
	info->needToFreeIdxStr = 1;
	return SQLITE_OK;
}

static bool in_row_order(const struct table *t, const sqlite3_index_info *info)
{
	int i;

	for (i = 0; i < info->nOrderBy; i++) {
		int c = info->aOrderBy[i].iColumn;

		if (info->aOrderBy[i].desc || c < 0 || c >= 32 || !(sorted_columns(t) >> c & 1))
			return false;
	}
	return true;
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct table *t = (const struct table *)base;
	double rows = (double)t->def->n_rows(t->s) + 1, cost = rows;
	int best = 0, column = 0, i;

	for (i = 0; i < info->nConstraint; i++) {
		int w = worth(t, &info->aConstraint[i]);

		if (w > best) {
			best = w;
			column = info->aConstraint[i].iColumn;
		}
	}
	switch (best) {
	case 0:
		break;
	case 1:
		cost = rows / 4;
		break;
	case 2:
		cost = 4 + rows / (1 + (double)t->def->n_groups(t->s));
		break;
	case 3:
		cost = 8;
		break;
	case 4:
		cost = 1;
		info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
		break;
	}
	info->idxNum = (best == 0 ? WAY_ALL : best == 2 ? WAY_GROUP : WAY_SORTED) | column << WAY_BITS;
	info->estimatedCost = cost + 1;
	info->estimatedRows = (sqlite3_int64)cost;
	info->orderByConsumed = in_row_order(t, info);
	return best ? take_constraints(t, info, column) : SQLITE_OK;
}

/* ---- scans ---- */

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
	struct cursor *c = sqlite3_malloc(sizeof(*c));

	(void)base;
	if (!c)
		return SQLITE_NOMEM;
	*c = (struct cursor){};
	*out = &c->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	sqlite3_free(base);
	return SQLITE_OK;
}

/* The first row in [lo, hi) whose key is at least v, or above it. */
static u32 bisect(const struct table *t, int column, u32 lo, u32 hi, s64 v, bool above)
{
	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;
		s64 key = t->def->key(t->s, mid, column);

		if (above ? key <= v : key < v)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Whole numbers up to here, 2^62, need no care. */
#define FAR 4611686018427387904.0

/* A number as the bounds of the whole numbers next to it; false when it is no number. */
static bool bounds(sqlite3_value *v, s64 *floor_v, s64 *ceil_v)
{
	double real;

	switch (sqlite3_value_type(v)) {
	case SQLITE_INTEGER:
		*floor_v = *ceil_v = sqlite3_value_int64(v);
		return true;
	case SQLITE_FLOAT:
		real = sqlite3_value_double(v);
		if (!(real > -FAR && real < FAR))
			return false;
		*floor_v = (s64)floor(real);
		*ceil_v = (s64)ceil(real);
		return true;
	}
	return false;
}

static void narrow(struct cursor *c, const struct table *t, int column, char op, sqlite3_value *value)
{
	s64 lo, hi;

	if (sqlite3_value_type(value) == SQLITE_NULL)
		c->end = c->at;
	if (!bounds(value, &lo, &hi))
		return;
	if (op == '=' || op == '>' || op == 'g')
		c->at = bisect(t, column, c->at, c->end, op == '>' ? lo : hi, op == '>');
	if (op == '=' || op == '<' || op == 'l')
		c->end = bisect(t, column, c->at, c->end, op == '<' ? hi : lo, op != '<');
}

static int make_index(struct table *t)
{
	struct sql_index *x = &t->s->index[t->number];
	u32 rows = t->def->n_rows(t->s), n = t->def->n_groups(t->s), i;
	u32 *start, *row;
	s64 key;

	if (x->start)
		return SQLITE_OK;
	start = calloc(n + 2ul, sizeof(*start));
	row = malloc((rows + 1ul) * sizeof(*row));
	if (!start || !row) {
		free(start);
		free(row);
		return SQLITE_NOMEM;
	}
	/* A counting sort; start[k + 1] is where the next row of k goes, and in the end where k ends. */
	for (i = 0; i < rows; i++) {
		key = t->def->key(t->s, i, t->def->group);
		if (key >= 0 && key + 2 < n + 2ll)
			start[key + 2]++;
	}
	for (i = 2; i < n + 2; i++)
		start[i] += start[i - 1];
	for (i = 0; i < rows; i++) {
		key = t->def->key(t->s, i, t->def->group);
		if (key >= 0 && key < n)
			row[start[key + 1]++] = i;
	}
	*x = (struct sql_index){ start, row, n };
	return SQLITE_OK;
}

static int filter_group(struct cursor *c, struct table *t, sqlite3_value *value)
{
	const struct sql_index *x = &t->s->index[t->number];
	int ret = make_index(t);
	s64 lo, hi;

	if (ret != SQLITE_OK)
		return ret;
	if (!bounds(value, &lo, &hi)) {
		/* Text that is a number can be equal: all rows are looked at. */
		if (sqlite3_value_type(value) == SQLITE_NULL)
			c->end = 0;
		return SQLITE_OK;
	}
	c->row = x->row;
	c->at = c->end = 0;
	if (lo == hi && lo >= 0 && lo < x->n) {
		c->at = x->start[lo];
		c->end = x->start[lo + 1];
	}
	return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int way, const char *letters, int argc, sqlite3_value **argv)
{
	struct cursor *c = (struct cursor *)base;
	struct table *t = (struct table *)base->pVtab;
	int i;

	c->row = NULL;
	c->at = 0;
	c->end = t->def->n_rows(t->s);
	if ((way & ((1 << WAY_BITS) - 1)) == WAY_GROUP)
		return filter_group(c, t, argv[0]);
	for (i = 0; i < argc; i++)
		narrow(c, t, way >> WAY_BITS, letters[i], argv[i]);
	return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *base)
{
	((struct cursor *)base)->at++;
	return SQLITE_OK;
}

static int eof(sqlite3_vtab_cursor *base)
{
	const struct cursor *c = (const struct cursor *)base;

	return c->at >= c->end;
}

static u32 row_of(const struct cursor *c)
{
	return c->row ? c->row[c->at] : c->at;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *ctx, int i)
{
	const struct table *t = (const struct table *)base->pVtab;

	t->def->column(t->s, ctx, row_of((const struct cursor *)base), i);
	return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
	*out = row_of((const struct cursor *)base);
	return SQLITE_OK;
}

int sql_register_tables(struct sql *s)
{
	/* No xCreate: the tables are there without being made, and no others can be. */
	static const sqlite3_module module = {
		.xConnect = connect,
		.xBestIndex = best_index,
		.xDisconnect = disconnect,
		.xOpen = open_cursor,
		.xClose = close_cursor,
		.xFilter = filter,
		.xNext = next,
		.xEof = eof,
		.xColumn = column,
		.xRowid = rowid,
	};
	const struct sql_table *def;
	int ret = SQLITE_OK;
	u32 i;

	for (i = 0; (def = sql_table_at(i)) && ret == SQLITE_OK; i++) {
		struct module *m = malloc(sizeof(*m));

		if (!m)
			return SQLITE_NOMEM;
		*m = (struct module){ s, i };
		ret = sqlite3_create_module_v2(s->db, def->name, &module, m, free);
	}
	return ret;
}
