// SPDX-License-Identifier: Apache-2.0
/* Functions: extract_arg() as trace_processor has it, percentile() as our report takes it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "out/sql_work.h"

/* ---- extract_arg(arg_set_id, key) ---- */

/* The number of the key, kept with the statement: a key is mostly a constant. */
static u32 key_of(struct sql *s, sqlite3_context *ctx, sqlite3_value *v)
{
	u32 *known = sqlite3_get_auxdata(ctx, 1), key;

	if (known)
		return *known;
	key = pftrace_key(s->t, (const char *)sqlite3_value_text(v));
	known = sqlite3_malloc(sizeof(*known));
	if (known) {
		*known = key;
		sqlite3_set_auxdata(ctx, 1, known, sqlite3_free);
	}
	return key;
}

static void put_arg(struct sql *s, sqlite3_context *ctx, u32 row)
{
	const struct pf_args *a = &s->t->arg;
	double real;

	switch (PF_TYPE(a->key[row])) {
	case PF_REAL:
		memcpy(&real, &a->value[row], sizeof(real));
		sqlite3_result_double(ctx, real);
		break;
	case PF_STRING:
	case PF_JSON:
		sqlite3_result_text(ctx, strpool_get(&s->t->strings, (u32)a->value[row]),
				    (int)strpool_len(&s->t->strings, (u32)a->value[row]), SQLITE_STATIC);
		break;
	default:
		sqlite3_result_int64(ctx, (s64)a->value[row]);
		break;
	}
}

static void extract_arg(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct sql *s = sqlite3_user_data(ctx);
	s64 set;
	u32 row;

	(void)argc;
	if (sqlite3_value_type(argv[0]) == SQLITE_NULL)
		return;
	if (sqlite3_value_type(argv[0]) != SQLITE_INTEGER) {
		sqlite3_result_error(ctx, "extract_arg: the first argument is no arg_set_id", -1);
		return;
	}
	if (sqlite3_value_type(argv[1]) != SQLITE_TEXT) {
		sqlite3_result_error(ctx, "extract_arg: the second argument is no key", -1);
		return;
	}
	if (sql_need_timeline(s)) {
		sqlite3_result_error_nomem(ctx);
		return;
	}
	set = sqlite3_value_int64(argv[0]);
	row = set > 0 && set <= NONE ? pftrace_arg(s->t, (u32)(set - 1), key_of(s, ctx, argv[1])) : NONE;
	if (row != NONE)
		put_arg(s, ctx, row);
}

/* ---- percentile(value, percent): nearest rank, one of the values ---- */

union value {
	s64 whole;
	double real;
};

struct values {
	union value *v;
	u32 n, cap;
	double percent;
	bool real, failed; /* real: not all are whole numbers, so none is stored as one */
};

static void make_real(struct values *x)
{
	u32 i;

	for (i = 0; i < x->n && !x->real; i++)
		x->v[i].real = (double)x->v[i].whole;
	x->real = true;
}

static void percentile_step(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct values *x = sqlite3_aggregate_context(ctx, sizeof(*x));
	int type = sqlite3_value_numeric_type(argv[0]);

	(void)argc;
	if (!x || x->failed || type == SQLITE_NULL)
		return;
	if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) {
		sqlite3_result_error(ctx, "percentile: not a number", -1);
		x->failed = true;
		return;
	}
	if (x->n == x->cap) {
		u32 cap = x->cap ? x->cap * 2 : 1024;
		union value *grown = cap > x->cap ? sqlite3_realloc64(x->v, (u64)cap * sizeof(*grown)) : NULL;

		if (!grown) {
			sqlite3_result_error_nomem(ctx);
			x->failed = true;
			return;
		}
		x->v = grown;
		x->cap = cap;
	}
	x->percent = sqlite3_value_double(argv[1]);
	if (type == SQLITE_FLOAT)
		make_real(x);
	if (x->real)
		x->v[x->n++].real = sqlite3_value_double(argv[0]);
	else
		x->v[x->n++].whole = sqlite3_value_int64(argv[0]);
}

static int by_real(const void *a, const void *b)
{
	double x = ((const union value *)a)->real, y = ((const union value *)b)->real;

	return x < y ? -1 : x > y;
}

static int by_whole(const void *a, const void *b)
{
	s64 x = ((const union value *)a)->whole, y = ((const union value *)b)->whole;

	return x < y ? -1 : x > y;
}

static void percentile_final(sqlite3_context *ctx)
{
	struct values *x = sqlite3_aggregate_context(ctx, 0);
	double rank;
	u32 at;

	if (!x || !x->n || x->failed)
		goto out;
	if (!(x->percent >= 0 && x->percent <= 100)) {
		sqlite3_result_error(ctx, "percentile: the second argument is from 0 to 100", -1);
		goto out;
	}
	qsort(x->v, x->n, sizeof(*x->v), x->real ? by_real : by_whole);
	/* What is whole but for the rounding of a product is whole. */
	rank = ceil(x->percent * x->n / 100 - 1e-9);
	at = rank < 1 ? 0 : (u32)rank - 1;
	if (x->real)
		sqlite3_result_double(ctx, x->v[at].real);
	else
		sqlite3_result_int64(ctx, x->v[at].whole);
out:
	if (x)
		sqlite3_free(x->v);
}

int sql_register_functions(struct sql *s)
{
	const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
	int ret = sqlite3_create_function_v2(s->db, "extract_arg", 2, flags, s, extract_arg, NULL, NULL, NULL);

	if (ret == SQLITE_OK)
		ret = sqlite3_create_function_v2(s->db, "percentile", 2, flags, NULL, NULL, percentile_step,
						 percentile_final, NULL);
	return ret;
}
