// SPDX-License-Identifier: Apache-2.0
#include "out/html.h"

#include <errno.h>
#include <string.h>

#include "lib/str.h"
#include "out/html_work.h"

/*
 * JSON inside of <script>: nothing in it may end the element or begin a
 * comment.  These bytes occur in strings only, so an escape stands for each.
 */
static void add_json(struct buf *out, const struct buf *json)
{
	const char *p = json->p, *end = p + json->n;

	for (; p < end; p++) {
		if (*p == '<')
			buf_lit(out, "\\u003c");
		else if (end - p >= 3 && (!memcmp(p, "\u2028", 3) || !memcmp(p, "\u2029", 3))) {
			buf_str(out, p[2] == "\u2028"[2] ? "\\u2028" : "\\u2029");
			p += 2;
		} else {
			buf_byte(out, *p);
		}
	}
}

/* A file of Debian's without the name of its source map: browsers would fetch that. */
static void add_without_map(struct buf *out, const char *text, const char *map)
{
	const char *end = strstr(text, map);

	buf_add(out, text, end ? (size_t)(end - text) : strlen(text));
}

/* All of ours is in one scope, which is not that of the window. */
static void script(struct buf *out)
{
	add_without_map(out, html_dygraphs, "//# sourceMappingURL=");
	buf_lit(out, "\n(function () {\n'use strict';\n");
	buf_str(out, html_tools);
	buf_str(out, html_lines);
	buf_str(out, html_bars);
	buf_str(out, html_calls);
	buf_str(out, html_script);
	buf_lit(out, "})();\n");
}

static void style(struct buf *out)
{
	add_without_map(out, html_dygraphs_style, "/*# sourceMappingURL=");
	buf_byte(out, '\n');
	buf_str(out, html_style);
}

/* What stands for @@NAME@@ in the template. */
static void fill(struct buf *out, const char *name, size_t n, const struct buf *code, const struct buf *doc)
{
	char hash[HTML_HASH_TEXT + 1];

	if (n == 6 && !memcmp(name, "SCRIPT", n)) {
		buf_add(out, code->p, code->n);
	} else if (n == 5 && !memcmp(name, "STYLE", n)) {
		style(out);
	} else if (n == 4 && !memcmp(name, "DATA", n)) {
		add_json(out, doc);
	} else {
		html_hash(hash, code->p, code->n);
		buf_str(out, hash);
	}
}

int html_write(struct buf *out, const struct report_arm *arms, u32 n)
{
	const char *p = html_page, *from, *to;
	struct buf code = {};
	struct buf doc = {};
	int ret = html_doc(&doc, arms, n);

	script(&code);
	if (!ret && (code.failed || doc.failed))
		ret = -ENOMEM;
	if (ret)
		goto out;
	while ((from = strstr(p, "@@")) && (to = strstr(from + 2, "@@"))) {
		buf_add(out, p, (size_t)(from - p));
		fill(out, from + 2, (size_t)(to - from - 2), &code, &doc);
		p = to + 2;
	}
	buf_str(out, p);
	ret = out->failed ? -ENOMEM : 0;
out:
	buf_free(&code);
	buf_free(&doc);
	return ret;
}
