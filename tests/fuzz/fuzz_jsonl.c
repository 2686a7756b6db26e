// SPDX-License-Identifier: Apache-2.0
/*
 * Prediction against the grammar: both readers say the same of every line.
 * Each line of the input comes again with other digits, so that its values
 * are learned to vary, and once more as it was.
 */
#include <stdio.h>
#include <stdlib.h>

#include "unit/record_text.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void expect(bool ok)
{
	if (!ok)
		abort();
}

static void add_varied(struct buf *b, struct slice line, u32 by)
{
	size_t i;

	for (i = 0; i < line.n; i++) {
		char c = line.p[i];

		buf_byte(b, c >= '0' && c <= '9' ? (char)('0' + (u32)(c - '0' + (int)by) % 10) : c);
	}
	buf_byte(b, '\n');
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	const char *p = size ? (const char *)data : "", *end = p + size;
	struct buf text = {}, with = {}, without = {};
	struct slice line;
	size_t n;

	while (ndjson_line(&p, end, &line)) {
		add_varied(&text, line, 0);
		add_varied(&text, line, 1);
		add_varied(&text, line, 5);
		add_varied(&text, line, 0);
	}
	line = (struct slice){ p, (size_t)(end - p) };
	add_varied(&text, line, 0);
	n = text.n;
	buf_add(&text, (char[JSONL_SLACK]){}, JSONL_SLACK);
	expect(!text.failed);
	put_lines_text(&with, text.p, n, true);
	put_lines_text(&without, text.p, n, false);
	expect(with.n == without.n && (!with.n || !memcmp(with.p, without.p, with.n)));
	buf_free(&text);
	buf_free(&with);
	buf_free(&without);
	return 0;
}
