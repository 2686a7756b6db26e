// SPDX-License-Identifier: Apache-2.0
/* All tables into a SQLite file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "out/sql_work.h"

/* What queries go by; ids are the rowids that SQLite numbers by itself. */
static const char *const indexes[] = {
	"CREATE INDEX out.args_set ON args(arg_set_id)",
	"CREATE INDEX out.slice_track ON slice(track_id)",
	"CREATE INDEX out.counter_track_id ON counter(track_id)",
	"CREATE INDEX out.cmd_op ON cmd(op_id)",
	"CREATE INDEX out.cmd_ts ON cmd(ts_ns)",
	"CREATE INDEX out.cmd_call ON cmd(call_id)",
	"CREATE INDEX out.cmd_uring ON cmd(uring_id)",
	"CREATE INDEX out.cmd_fault ON cmd(fault_id)",
};

static int exec(struct sql *s, char *sql)
{
	int ret = sql ? sqlite3_exec(s->db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	return ret;
}

static int copy_tables(struct sql *s)
{
	const struct sql_table *t;
	int ret = exec(s, sqlite3_mprintf("PRAGMA out.journal_mode=MEMORY; PRAGMA out.synchronous=OFF; BEGIN"));
	size_t k;
	u32 i;

	for (i = 0; (t = sql_table_at(i)) && ret == SQLITE_OK; i++) {
		/* "id INTEGER PRIMARY KEY" is the rowid itself: it costs nothing. */
		bool id = !strncmp(t->columns, "id INTEGER", 10);

		ret = exec(s, sqlite3_mprintf("CREATE TABLE out.%s(%s%s)", t->name, id ? "id INTEGER PRIMARY KEY" : "",
					      t->columns + (id ? 10 : 0)));
		if (ret == SQLITE_OK)
			ret = exec(s, sqlite3_mprintf("INSERT INTO out.%s SELECT * FROM main.%s", t->name, t->name));
	}
	for (k = 0; k < ARRAY_SIZE(indexes) && ret == SQLITE_OK; k++)
		ret = exec(s, sqlite3_mprintf("%s", indexes[k]));
	return ret == SQLITE_OK ? exec(s, sqlite3_mprintf("COMMIT")) : ret;
}

static int sync_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret = 0;

	if (fd < 0)
		return -errno;
	if (fsync(fd))
		ret = -errno;
	close(fd);
	return ret;
}

/* Copies into the empty file `temporary`. */
static int export_to(struct sql *s, const char *temporary)
{
	int ret;

	sqlite3_set_authorizer(s->db, NULL, NULL);
	sqlite3_limit(s->db, SQLITE_LIMIT_ATTACHED, 1);
	ret = exec(s, sqlite3_mprintf("ATTACH %Q AS out", temporary));
	if (ret == SQLITE_OK)
		ret = copy_tables(s);
	buf_reset(&s->error);
	buf_str(&s->error, sqlite3_errmsg(s->db));
	buf_byte(&s->error, '\0');
	if (!sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	sqlite3_exec(s->db, "DETACH out", NULL, NULL, NULL);
	sql_protect(s);
	return ret == SQLITE_OK		 ? 0
	       : ret == SQLITE_NOMEM	 ? -ENOMEM
	       : ret == SQLITE_INTERRUPT ? -EINTR
	       : ret == SQLITE_FULL	 ? -ENOSPC
					 : -EINVAL;
}

int sql_export(struct sql *s, const char *path)
{
	/* Beside the file, so that it can take its name; never a URI. */
	char *temporary = sqlite3_mprintf("%s%s.XXXXXX", *path == '/' ? "" : "./", path);
	int fd, ret;

	if (!temporary)
		return -ENOMEM;
	/* Mode 0600. */
	fd = mkstemp(temporary);
	if (fd < 0) {
		ret = -errno;
		sqlite3_free(temporary);
		return ret;
	}
	close(fd);
	ret = export_to(s, temporary);
	if (!ret)
		ret = sync_file(temporary);
	if (!ret && rename(temporary, path))
		ret = -errno;
	if (ret)
		unlink(temporary);
	sqlite3_free(temporary);
	return ret;
}
