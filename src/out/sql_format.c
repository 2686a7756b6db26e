// SPDX-License-Identifier: Apache-2.0
/* Results as an aligned table, CSV, or JSON. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out/report.h"
#include "out/sql_work.h"

#define JSON_VERSION 1
#define FLUSH_BYTES  (64u << 10)
#define SAMPLE_ROWS  1000 /* the first rows decide the widths; later ones may stick out */
#define MAX_PAD	     60	  /* a wide text does not widen its whole column */

/* A cell that waits for the widths. */
struct cell {
	size_t at, n; /* in `text` */
	u32 width;    /* characters */
};

struct sql_output {
	enum sql_format format;
	sql_write_fn write;
	void *arg;
	struct buf b;
	int ret;
	/* SQL_TABLE: rows before the widths are known */
	struct buf text;
	struct cell *cell;
	u32 *width;
	bool *text_column; /* has text in its first rows: set to the left */
	u32 n_columns, n_rows;
	bool fixed; /* the widths are */
	bool any;   /* a statement had rows or columns */
};

struct sql_output *sql_output_new(enum sql_format format, sql_write_fn write, void *arg)
{
	struct sql_output *o = calloc(1, sizeof(*o));

	if (o)
		*o = (struct sql_output){ .format = format, .write = write, .arg = arg };
	return o;
}

static void flush(struct sql_output *o, size_t above)
{
	if (o->b.failed || o->text.failed)
		o->ret = o->ret ? o->ret : -ENOMEM;
	if (o->b.n <= above)
		return;
	if (!o->ret)
		o->ret = o->write(o->arg, o->b.p, o->b.n);
	buf_reset(&o->b);
}

/* SQLite's own text of a value; X'..' for bytes. */
static void add_plain(struct buf *b, sqlite3_stmt *stmt, int i, bool safe)
{
	const char *text;
	size_t n;

	switch (sqlite3_column_type(stmt, i)) {
	case SQLITE_NULL:
		return;
	case SQLITE_INTEGER:
		buf_s64(b, sqlite3_column_int64(stmt, i));
		return;
	case SQLITE_BLOB:
		buf_lit(b, "x'");
		buf_hexbytes(b, sqlite3_column_blob(stmt, i), (size_t)sqlite3_column_bytes(stmt, i));
		buf_byte(b, '\'');
		return;
	}
	text = (const char *)sqlite3_column_text(stmt, i);
	n = (size_t)sqlite3_column_bytes(stmt, i);
	if (!text)
		b->failed = true;
	else if (safe)
		report_safe(b, text, n);
	else
		buf_add(b, text, n);
}

/* ---- table ---- */

/* Characters; what is no UTF-8 has been made safe before. */
static u32 characters(const char *s, size_t n)
{
	u32 count = 0;
	size_t i;

	for (i = 0; i < n; i++)
		count += ((u8)s[i] & 0xc0) != 0x80;
	return count;
}

static void pad(struct buf *b, u32 n)
{
	while (n--)
		buf_byte(b, ' ');
}

static void put_cell(struct sql_output *o, u32 i, const char *s, const struct cell *c)
{
	u32 width = o->width[i], fill = c->width < width ? width - c->width : 0;
	bool last = i + 1 == o->n_columns;

	if (i)
		buf_lit(&o->b, "  ");
	if (!o->text_column[i])
		pad(&o->b, fill);
	buf_add(&o->b, s, c->n);
	if (o->text_column[i] && !last)
		pad(&o->b, fill);
	if (last)
		buf_byte(&o->b, '\n');
}

static void put_head(struct sql_output *o, sqlite3_stmt *stmt)
{
	struct buf name = {};
	u32 i, k;

	for (i = 0; i < o->n_columns; i++) {
		const char *s = sqlite3_column_name(stmt, (int)i);

		buf_reset(&name);
		report_safe(&name, s ? s : "", s ? strlen(s) : 0);
		put_cell(o, i, name.p, &(struct cell){ 0, name.n, characters(name.p, name.n) });
	}
	buf_free(&name);
	for (i = 0; i < o->n_columns; i++) {
		if (i)
			buf_lit(&o->b, "  ");
		for (k = 0; k < o->width[i]; k++)
			buf_byte(&o->b, '-');
	}
	buf_byte(&o->b, '\n');
}

/* The widths are known: the head and the rows that waited. */
static void fix_widths(struct sql_output *o, sqlite3_stmt *stmt)
{
	u32 row, i;

	put_head(o, stmt);
	for (row = 0; row < o->n_rows; row++)
		for (i = 0; i < o->n_columns; i++) {
			const struct cell *c = &o->cell[row * o->n_columns + i];

			put_cell(o, i, o->text.p + c->at, c);
		}
	buf_reset(&o->text);
	o->fixed = true;
}

static void table_row(struct sql_output *o, sqlite3_stmt *stmt)
{
	u32 i;

	for (i = 0; i < o->n_columns; i++) {
		int type = sqlite3_column_type(stmt, (int)i);
		struct cell c = { .at = o->text.n };

		add_plain(&o->text, stmt, (int)i, true);
		if (o->text.failed)
			return;
		c.n = o->text.n - c.at;
		c.width = characters(o->text.p + c.at, c.n);
		if (o->fixed) {
			put_cell(o, i, o->text.p + c.at, &c);
			buf_reset(&o->text);
			continue;
		}
		o->cell[o->n_rows * o->n_columns + i] = c;
		o->width[i] = MAX(o->width[i], MIN(c.width, (u32)MAX_PAD));
		o->text_column[i] |= type == SQLITE_TEXT || type == SQLITE_BLOB;
	}
	if (!o->fixed && ++o->n_rows == SAMPLE_ROWS)
		fix_widths(o, stmt);
}

static void table_begin(struct sql_output *o, sqlite3_stmt *stmt)
{
	u32 i;

	if (o->any)
		buf_byte(&o->b, '\n');
	o->n_rows = 0;
	o->fixed = false;
	free(o->cell);
	free(o->width);
	free(o->text_column);
	o->cell = calloc((size_t)SAMPLE_ROWS * o->n_columns, sizeof(*o->cell));
	o->width = calloc(o->n_columns, sizeof(*o->width));
	o->text_column = calloc(o->n_columns, sizeof(*o->text_column));
	if (!o->cell || !o->width || !o->text_column) {
		o->ret = -ENOMEM;
		return;
	}
	for (i = 0; i < o->n_columns; i++) {
		const char *s = sqlite3_column_name(stmt, (int)i);

		o->width[i] = s ? MIN(characters(s, strlen(s)), (u32)MAX_PAD) : 0;
	}
}

/* ---- CSV ---- */

static void csv_text(struct buf *b, const char *s, size_t n)
{
	size_t i;

	if (n && !memchr(s, ',', n) && !memchr(s, '"', n) && !memchr(s, '\n', n) && !memchr(s, '\r', n)) {
		buf_add(b, s, n);
		return;
	}
	buf_byte(b, '"');
	for (i = 0; i < n; i++) {
		if (s[i] == '"')
			buf_byte(b, '"');
		buf_byte(b, s[i]);
	}
	buf_byte(b, '"');
}

static void csv_begin(struct sql_output *o, sqlite3_stmt *stmt)
{
	u32 i;

	for (i = 0; i < o->n_columns; i++) {
		const char *s = sqlite3_column_name(stmt, (int)i);

		buf_str(&o->b, i ? "," : "");
		csv_text(&o->b, s ? s : "", s ? strlen(s) : 0);
	}
	buf_lit(&o->b, "\r\n");
}

static void csv_row(struct sql_output *o, sqlite3_stmt *stmt)
{
	u32 i;

	for (i = 0; i < o->n_columns; i++) {
		buf_str(&o->b, i ? "," : "");
		if (sqlite3_column_type(stmt, (int)i) != SQLITE_TEXT) {
			add_plain(&o->b, stmt, (int)i, false);
			continue;
		}
		buf_reset(&o->text);
		add_plain(&o->text, stmt, (int)i, false);
		csv_text(&o->b, o->text.p, o->text.n);
	}
	buf_lit(&o->b, "\r\n");
}

/* ---- JSON ---- */

static void json_begin(struct sql_output *o, sqlite3_stmt *stmt)
{
	u32 i;

	buf_printf(&o->b, "{\"schema_version\":%d,\"columns\":[", JSON_VERSION);
	for (i = 0; i < o->n_columns; i++) {
		const char *s = sqlite3_column_name(stmt, (int)i);

		buf_str(&o->b, i ? "," : "");
		buf_json(&o->b, s ? s : "", s ? strlen(s) : 0);
	}
	buf_lit(&o->b, "],\"rows\":[");
	o->n_rows = 0;
}

/* The shorter text that is this number again. */
static void jw_real(struct buf *b, double v)
{
	char text[40];

	snprintf(text, sizeof(text), "%.15g", v);
	if (strtod(text, NULL) != v)
		snprintf(text, sizeof(text), "%.17g", v);
	buf_str(b, text);
}

static void json_value(struct sql_output *o, sqlite3_stmt *stmt, int i)
{
	double real;

	switch (sqlite3_column_type(stmt, i)) {
	case SQLITE_NULL:
		buf_lit(&o->b, "null");
		break;
	case SQLITE_INTEGER:
		add_plain(&o->b, stmt, i, false);
		break;
	case SQLITE_FLOAT:
		/* JSON has no infinity. */
		real = sqlite3_column_double(stmt, i);
		if (isfinite(real))
			jw_real(&o->b, real);
		else
			buf_lit(&o->b, "null");
		break;
	default:
		buf_reset(&o->text);
		add_plain(&o->text, stmt, i, false);
		buf_json(&o->b, o->text.p, o->text.n);
		break;
	}
}

static void json_row(struct sql_output *o, sqlite3_stmt *stmt)
{
	u32 i;

	buf_str(&o->b, o->n_rows++ ? ",\n[" : "\n[");
	for (i = 0; i < o->n_columns; i++) {
		buf_str(&o->b, i ? "," : "");
		json_value(o, stmt, (int)i);
	}
	buf_byte(&o->b, ']');
}

/* ---- all ---- */

int sql_output_rows(struct sql_output *o, sqlite3_stmt *stmt, int code)
{
	static const struct {
		void (*begin)(struct sql_output *o, sqlite3_stmt *stmt);
		void (*row)(struct sql_output *o, sqlite3_stmt *stmt);
	} of[] = {
		[SQL_TABLE] = { table_begin, table_row },
		[SQL_CSV] = { csv_begin, csv_row },
		[SQL_JSON] = { json_begin, json_row },
	};

	o->n_columns = (u32)sqlite3_column_count(stmt);
	if (!o->n_columns || (code != SQLITE_ROW && code != SQLITE_DONE))
		return code;
	of[o->format].begin(o, stmt);
	for (; code == SQLITE_ROW && !o->ret; code = sqlite3_step(stmt)) {
		of[o->format].row(o, stmt);
		flush(o, FLUSH_BYTES);
	}
	if (o->format == SQL_TABLE && !o->fixed && !o->ret)
		fix_widths(o, stmt);
	if (o->format == SQL_JSON)
		buf_lit(&o->b, "\n]}\n");
	o->any = true;
	flush(o, FLUSH_BYTES);
	return code;
}

int sql_output_end(struct sql_output *o)
{
	int ret;

	flush(o, 0);
	ret = o->ret;
	buf_free(&o->b);
	buf_free(&o->text);
	free(o->cell);
	free(o->width);
	free(o->text_column);
	free(o);
	return ret;
}
