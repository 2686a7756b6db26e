// SPDX-License-Identifier: Apache-2.0
/* Markers: what the application had use for, in its own words. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/members.h"
#include "lib/str.h"
#include "model/tables.h"

static bool whole_number(const struct members *m, const char *key)
{
	const struct ndjson_field *f = members_find(m, key);

	return f && f->type == ND_NUMBER && (f->flags & (ND_INTEGER | ND_NEGATIVE)) == ND_INTEGER;
}

/* 0 is no process. */
static u32 number_of(const struct members *m, const char *key)
{
	u64 n = whole_number(m, key) ? members_u64(m, key) : 0;

	return n <= UINT32_MAX ? (u32)n : 0;
}

static int add_marker(struct model *m, struct marker_row *r, struct slice line)
{
	struct marker_table *t = &m->marker;
	int ret;

	while (line.n && line.p[line.n - 1] == '\r')
		line.n--;
	ret = intern(m, line, &r->line);
	if (!ret)
		ret = grow(&t->row, &t->cap, t->n, sizeof(*t->row));
	if (ret)
		return ret;
	t->row[t->n++] = *r;
	if (r->is_sum) {
		t->n_useful++;
		if (__builtin_add_overflow(t->useful_bytes, r->useful_bytes, &t->useful_bytes))
			t->useful_bytes = UINT64_MAX;
	}
	return 0;
}

int load_marker(struct input *in, const struct members *m, struct slice line)
{
	const struct ndjson_field *name = members_find(m, "name");
	char text[1024];
	struct marker_row r = {
		.ts_ns = whole_number(m, "ts") ? members_u64(m, "ts") : NO_NUMBER,
		.useful_bytes = members_u64(m, "useful_bytes"),
		.is_sum = true,
		.pid = number_of(m, "pid"),
		.tid = number_of(m, "tid"),
	};
	size_t n = name && name->type == ND_STRING ? members_bytes(name, text, sizeof(text)) : 0;
	int ret;

	if (!whole_number(m, "useful_bytes") || n == SIZE_MAX) {
		in->n.malformed++;
		return 0;
	}
	in->n.other++;
	ret = intern_word(in->m, (struct slice){ text, n }, &r.name);
	return ret ? ret : add_marker(in->m, &r, line);
}

/* ---- phases of the older feature store ---- */

/* The number behind " KEY=". */
static bool number_behind(struct slice line, const char *key, u64 *v)
{
	char word[24];
	const char *p = memmem(line.p, line.n, key, strlen(key)), *end = line.p + line.n;
	size_t len = 0;

	if (!p)
		return false;
	for (p += strlen(key); p + len < end && p[len] >= '0' && p[len] <= '9' && len < sizeof(word) - 1; len++)
		word[len] = p[len];
	word[len] = '\0';
	return !str_u64(word, v);
}

/* What such a line tells counts from the begin of its phase. */
int load_phase(struct input *in, struct slice line)
{
	static const char *const words[] = { "PHASE_START", "PROGRESS", "PHASE_END" };
	struct marker_row r = { .ts_ns = NO_NUMBER };
	size_t i, n = 0;
	u64 bytes;
	int ret;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		n = strlen(words[i]);
		if (line.n > n && !memcmp(line.p, words[i], n) && line.p[n] == ' ')
			break;
	}
	if (i == ARRAY_SIZE(words))
		return 0;
	if (!i) {
		in->phase_bytes = 0;
	} else if (number_behind(line, " signal_bytes=", &bytes)) {
		r.is_sum = bytes > in->phase_bytes || i == 1;
		r.useful_bytes = bytes - MIN(bytes, in->phase_bytes);
		in->phase_bytes = MAX(bytes, in->phase_bytes);
	} else {
		return 0;
	}
	in->n.other++;
	in->phases = true;
	number_behind(line, " mono_ns=", &r.ts_ns);
	ret = intern_word(in->m, (struct slice){ words[i], n }, &r.name);
	if (!ret)
		ret = add_marker(in->m, &r, line);
	return ret ? ret : 1;
}

/* ---- the order ---- */

/* Those without a time come first, as in SQL. */
static int compare_markers(const void *x, const void *y)
{
	const struct marker_row *a = x, *b = y;
	int c = compare_u64(a->ts_ns + 1, b->ts_ns + 1);

	c = c ? c : compare_u64(a->line, b->line);
	return c ? c : compare_u64(a->useful_bytes, b->useful_bytes);
}

void sort_markers(struct model *m)
{
	if (m->marker.n)
		qsort(m->marker.row, m->marker.n, sizeof(*m->marker.row), compare_markers);
}
