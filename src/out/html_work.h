/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of html_write() share.  The page's data is one JSON document;
 * a table in it is { caption, cols: [[title, kind]...], rows: [[...]...] },
 * where kind says how data/report.js prints a number: ns, bytes, rate, ...
 */
#ifndef KVIO_HTML_WORK_H
#define KVIO_HTML_WORK_H

#include "out/html.h"
#include "out/report_json.h"

#define ULL(x) ((unsigned long long)(x))
#define S(n)   ((n) == 1 ? "" : "s")

/*
 * What keeps the page below 3 MB whatever it is of: bytes of a sentence and of
 * a name that have text of a capture in them (JSON may make six of each), and
 * how many of each kind are listed.
 */
#define HTML_MAX_TEXT	  160
#define HTML_MAX_NAME	  48
#define HTML_MAX_NAMES	  24 /* operations, errors, shards, ... */
#define HTML_MAX_OBJECTS  300
#define HTML_MAX_REQUESTS 40

/* Embedded files, ended by NUL; see html_data.c. */
extern const char html_page[], html_style[], html_tools[], html_lines[], html_bars[], html_calls[], html_script[];
extern const char html_dygraphs[], html_dygraphs_style[];

/* The SHA-256 of n bytes in base 64, as a content security policy names a script. */
#define HTML_HASH_TEXT 44
void html_hash(char out[HTML_HASH_TEXT + 1], const void *data, size_t n);

/* All that the page shows.  0 or -ENOMEM. */
int html_doc(struct buf *out, const struct report_arm *arms, u32 n);

/* ---- items of an array ---- */

void item_u64(struct json *j, u64 v);
void item_real(struct json *j, double v);
void item_str(struct json *j, const char *s);
void item_null(struct json *j);
/* null when n is 0: nothing was measured */
void item_of(struct json *j, u64 v, u64 n);
/* Text of a capture: control characters made visible, and cut to max bytes; a name to HTML_MAX_NAME. */
void item_text(struct json *j, const char *s, size_t n, size_t max);
/* The path of a file, or its numbers. */
void item_file(struct json *j, const struct model *m, u32 path, u32 dev, u64 ino);
void item_pooled(struct json *j, const struct strpool *s, u32 id);
/* "name": "text of a capture" */
void member_text(struct json *j, const char *name, const char *s, size_t n);
/* "name": "what b holds", which is freed */
void member_buf(struct json *j, const char *name, struct buf *b);

/* { "caption": ..., "cols": [...], "rows": [ ; ended by table_end() */
struct html_col {
	const char *title, *kind;
};
void table_begin(struct json *j, const char *caption, const struct html_col *cols, u32 n);
void table_end(struct json *j);
void row_begin(struct json *j);
void row_end(struct json *j);

/* ---- parts of the document ---- */

void html_verdict(struct json *j, const struct report_arm *a);
void html_tiles(struct json *j, const struct report_arm *a);
/* As one of n that share the width of the page. */
int html_series(struct json *j, const struct report_arm *a, u32 n);
int html_objects(struct json *j, const struct report_arm *a);
void html_requests(struct json *j, const struct report_arm *a);
void html_programs(struct json *j, const struct report_arm *a);
/* html_faults.c: nothing where no page faults were recorded. */
void html_faults(struct json *j, const struct report_arm *a);
/* html_tasks.c: nothing where no program is of a container. */
void html_tasks(struct json *j, const struct report_arm *a);
void html_barrier(struct json *j, const struct report_arm *a);
void html_arm_tables(struct json *j, const struct report_arm *a);
void html_compare(struct json *j, const struct report_arm *arms, u32 n);
void html_account(struct json *j, const struct report_arm *arms, u32 n);

#endif
