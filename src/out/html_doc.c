// SPDX-License-Identifier: Apache-2.0
/* The page's data: one JSON document, whose size does not grow with the captures. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "lib/str.h"
#include "out/html_work.h"

void item_u64(struct json *j, u64 v)
{
	jw_item(j);
	buf_u64(j->b, v);
}

void item_null(struct json *j)
{
	jw_item(j);
	buf_lit(j->b, "null");
}

/* Six significant digits: more than a screen has. */
void item_real(struct json *j, double v)
{
	jw_item(j);
	if (isfinite(v))
		buf_printf(j->b, "%.6g", v == 0 ? 0.0 : v);
	else
		buf_lit(j->b, "null");
}

void item_str(struct json *j, const char *s)
{
	jw_item(j);
	buf_json(j->b, s, strlen(s));
}

void item_of(struct json *j, u64 v, u64 n)
{
	if (n)
		item_u64(j, v);
	else
		item_null(j);
}

/* The text as a JSON string. */
static void put_text(struct json *j, const char *s, size_t n, size_t max)
{
	struct buf safe = {};
	size_t at = 0, len;

	report_safe(&safe, s, MIN(n, max));
	/* What is not shown as it is takes more bytes, so the text is cut again. */
	while (at < safe.n && (len = utf8_len(safe.p + at, safe.n - at)) && at + len <= max)
		at += len;
	if (at < safe.n || n > max) {
		safe.n = at;
		buf_str(&safe, "\u2026");
	}
	buf_json(j->b, safe.p, safe.n);
	j->b->failed |= safe.failed;
	buf_free(&safe);
}

void item_text(struct json *j, const char *s, size_t n, size_t max)
{
	jw_item(j);
	put_text(j, s, n, max);
}

void item_file(struct json *j, const struct model *m, u32 path, u32 dev, u64 ino)
{
	char numbers[REPORT_NUMBERS];
	struct slice name = report_file(m, path, dev, ino, numbers);

	item_text(j, name.p, name.n, HTML_MAX_TEXT);
}

void item_pooled(struct json *j, const struct strpool *s, u32 id)
{
	item_text(j, strpool_get(s, id), strpool_len(s, id), HTML_MAX_NAME);
}

void member_text(struct json *j, const char *name, const char *s, size_t n)
{
	jw_key(j, name);
	put_text(j, s, n, HTML_MAX_TEXT);
}

void member_buf(struct json *j, const char *name, struct buf *b)
{
	jw_key(j, name);
	buf_json(j->b, b->p, b->n);
	j->b->failed |= b->failed;
	buf_free(b);
	*b = (struct buf){};
}

void table_begin(struct json *j, const char *caption, const struct html_col *cols, u32 n)
{
	u32 i;

	jw_open(j, '{');
	jw_string(j, "caption", caption);
	jw_array(j, "cols");
	for (i = 0; i < n; i++) {
		row_begin(j);
		item_str(j, cols[i].title);
		item_str(j, cols[i].kind);
		row_end(j);
	}
	jw_close(j, ']');
	jw_array(j, "rows");
}

void table_end(struct json *j)
{
	jw_close(j, ']');
	jw_close(j, '}');
}

void row_begin(struct json *j)
{
	jw_item(j);
	jw_open(j, '[');
}

void row_end(struct json *j)
{
	jw_close(j, ']');
}

/* Where it was recorded, for the line under the title. */
static void subject(struct json *j, const struct model *m)
{
	const struct sem_meta *meta = &m->sem_meta;
	struct buf t = {};
	u32 i, shown = 0;

	report_safe(&t, strpool_get(&m->strings, meta->hostname),
		    MIN(strpool_len(&m->strings, meta->hostname), (size_t)64));
	for (i = 0; i < m->n_devices; i++) {
		u32 name = m->device[i].name;

		if (!name || !strpool_len(&m->strings, name))
			continue;
		if (shown++ >= 3)
			continue;
		buf_str(&t, t.n ? ", " : "");
		report_safe(&t, strpool_get(&m->strings, name), MIN(strpool_len(&m->strings, name), (size_t)24));
	}
	if (shown > 3)
		buf_printf(&t, " and %u more", shown - 3);
	if (!shown && strpool_len(&m->strings, meta->device_path)) {
		buf_str(&t, t.n ? ", " : "");
		report_safe(&t, strpool_get(&m->strings, meta->device_path),
			    MIN(strpool_len(&m->strings, meta->device_path), (size_t)64));
	}
	member_text(j, "subject", t.n ? t.p : "", t.n);
	j->b->failed |= t.failed;
	buf_free(&t);
}

static int one_arm(struct json *j, const struct report_arm *a, u32 n)
{
	int ret;

	jw_item(j);
	jw_open(j, '{');
	member_text(j, "label", a->label, strlen(a->label));
	subject(j, a->m);
	jw_number(j, "commands", a->x->cmd.n);
	html_verdict(j, a);
	html_tiles(j, a);
	ret = html_series(j, a, n);
	if (!ret)
		ret = html_objects(j, a);
	html_requests(j, a);
	html_barrier(j, a);
	html_programs(j, a);
	html_faults(j, a);
	html_tasks(j, a);
	html_arm_tables(j, a);
	jw_close(j, '}');
	return ret;
}

int html_doc(struct buf *out, const struct report_arm *arms, u32 n)
{
	u32 drawn = MIN(n, (u32)HTML_MAX_ARMS), i;
	struct json j = { .b = out };
	int ret = 0;

	jw_open(&j, '{');
	jw_number(&j, "left_out", n - drawn);
	jw_string(&j, "percentiles", percentile_name(n ? arms[0].x->method : PERCENTILE_NEAREST));
	jw_array(&j, "arms");
	for (i = 0; i < drawn && !ret; i++)
		ret = one_arm(&j, &arms[i], drawn);
	jw_close(&j, ']');
	html_compare(&j, arms, drawn);
	html_account(&j, arms, drawn);
	jw_close(&j, '}');
	if (!ret && out->failed)
		ret = -ENOMEM;
	return ret;
}
