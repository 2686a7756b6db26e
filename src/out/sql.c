// SPDX-License-Identifier: Apache-2.0
/* A database that can only be read, and its statements. */
#include "out/sql.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "out/sql_work.h"

/* How often a query looks whether it is to stop, in SQLite's instructions. */
#define STEPS_BETWEEN 20000

/* Pragmas that tell about tables and functions, and change nothing. */
static bool pragma_is_harmless(const char *name)
{
	static const char *const names[] = { "compile_options", "database_list", "function_list", "module_list",
					     "pragma_list",	"table_info",	 "table_list",	  "table_xinfo" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!sqlite3_stricmp(name, names[i]))
			return true;
	return false;
}

static int authorize(void *arg, int action, const char *a, const char *b, const char *db, const char *trigger)
{
	const struct sql *s = arg;

	(void)db;
	(void)trigger;
	/* SQLite takes the declaration of a virtual table for a change of the schema. */
	if (s->declaring)
		return SQLITE_OK;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return sqlite3_stricmp(b, "load_extension") ? SQLITE_OK : SQLITE_DENY;
	case SQLITE_PRAGMA:
		return pragma_is_harmless(a) ? SQLITE_OK : SQLITE_DENY;
	}
	return SQLITE_DENY;
}

static int progress(void *arg)
{
	const struct sql *s = arg;

	return s->stop && *s->stop;
}

static void set_limits(struct sql *s)
{
	static const struct {
		int what, most;
	} limits[] = {
		{ SQLITE_LIMIT_LENGTH, 256 << 20 },	    { SQLITE_LIMIT_SQL_LENGTH, 4 << 20 },
		{ SQLITE_LIMIT_EXPR_DEPTH, 500 },	    { SQLITE_LIMIT_COMPOUND_SELECT, 500 },
		{ SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 4096 }, { SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
		{ SQLITE_LIMIT_WORKER_THREADS, 0 },	    { SQLITE_LIMIT_VDBE_OP, 10 << 20 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(limits); i++)
		sqlite3_limit(s->db, limits[i].what, limits[i].most);
	if (s->max_bytes)
		sqlite3_hard_heap_limit64((sqlite3_int64)MIN(s->max_bytes, (u64)INT64_MAX));
}

void sql_protect(struct sql *s)
{
	sqlite3_limit(s->db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_set_authorizer(s->db, authorize, s);
}

static int open_db(struct sql *s)
{
	int ret = sqlite3_open_v2(":memory:", &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
				  NULL);

	if (ret == SQLITE_OK)
		ret = sql_register_tables(s);
	if (ret == SQLITE_OK)
		ret = sql_register_functions(s);
	/* Sorts that do not fit go to memory as well, not to files. */
	if (ret == SQLITE_OK)
		ret = sqlite3_exec(s->db, "PRAGMA temp_store=MEMORY; PRAGMA trusted_schema=OFF", NULL, NULL, NULL);
	if (ret != SQLITE_OK)
		return ret;
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	set_limits(s);
	sqlite3_progress_handler(s->db, STEPS_BETWEEN, progress, s);
	sql_protect(s);
	return SQLITE_OK;
}

int sql_open(struct sql **out, const struct perfetto_arm *arms, u32 n, const struct pftrace *trace, u64 max_bytes)
{
	struct sql *s = calloc(1, sizeof(*s));

	*out = s;
	if (!s)
		return -ENOMEM;
	s->max_bytes = max_bytes;
	s->t = trace;
	if (!trace) {
		s->arm = arms;
		s->n_arms = n;
		s->have_arms = true;
	}
	if (open_db(s) == SQLITE_OK)
		return 0;
	sql_close(s);
	*out = NULL;
	return -ENOMEM;
}

void sql_close(struct sql *s)
{
	if (!s)
		return;
	sqlite3_close(s->db);
	sql_source_free(s);
	buf_free(&s->error);
	free(s);
}

void sql_set_stop(struct sql *s, const volatile sig_atomic_t *stop)
{
	s->stop = stop;
}

const char *sql_error(const struct sql *s)
{
	return s->error.failed || !s->error.n ? "out of memory" : s->error.p;
}

bool sql_complete(const char *text)
{
	return sqlite3_complete(text);
}

/* Keeps SQLite's message, with the place in the statement when it knows one. */
static int keep_error(struct sql *s, int code, const char *statement)
{
	int at = sqlite3_error_offset(s->db);
	const char *message = sqlite3_errmsg(s->db);

	if (code == SQLITE_INTERRUPT)
		return -EINTR;
	if (code == SQLITE_NOMEM)
		return -ENOMEM;
	buf_reset(&s->error);
	if (code == SQLITE_AUTH)
		message = "refused: the data can only be read";
	buf_str(&s->error, message);
	if (at >= 0 && statement) {
		size_t n = strcspn(statement + at, " \t\r\n;");

		buf_lit(&s->error, ", at '");
		buf_add(&s->error, statement + at, MIN(n, (size_t)40));
		buf_byte(&s->error, '\'');
	}
	buf_byte(&s->error, '\0');
	return -EINVAL;
}

int sql_run(struct sql *s, const char *text, enum sql_format format, sql_write_fn write, void *arg)
{
	struct sql_output *o = sql_output_new(format, write, arg);
	int ret = 0, code, end;

	if (!o)
		return -ENOMEM;
	while (*text && !ret) {
		sqlite3_stmt *stmt = NULL;
		const char *tail = text;

		code = sqlite3_prepare_v2(s->db, text, -1, &stmt, &tail);
		if (code == SQLITE_OK && stmt)
			code = sql_output_rows(o, stmt, sqlite3_step(stmt));
		/* A row that is left is one that could not be written. */
		if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW)
			ret = keep_error(s, code, text);
		sqlite3_finalize(stmt);
		if (code == SQLITE_ROW)
			break;
		text = tail;
	}
	end = sql_output_end(o);
	return ret ? ret : end;
}

void sql_tables(struct buf *out)
{
	const struct sql_table *t;
	u32 i;

	for (i = 0; (t = sql_table_at(i)); i++) {
		buf_str(out, t->name);
		buf_byte(out, '\n');
	}
}

int sql_schema(struct buf *out, const char *name)
{
	const struct sql_table *t;
	bool any = false;
	u32 i;

	for (i = 0; (t = sql_table_at(i)); i++) {
		if (name && strcmp(name, t->name))
			continue;
		buf_printf(out, "CREATE TABLE %s(%s);\n", t->name, t->columns);
		any = true;
	}
	return any ? 0 : -ENOENT;
}
