// SPDX-License-Identifier: Apache-2.0
#include "out/loadpath.h"

#include <string.h>

#include "lib/human.h"
#include "out/report_json.h"
#include "out/report_text.h"

#define MAX_LINES 8 /* of a histogram */

static const char *way_name(const struct loadpath_context *c)
{
	return c->way == DIR_READ ? "read" : "write";
}

/* Bytes per nanosecond are GB/s of 10^9. */
static double rate(u64 bytes, u64 ns)
{
	return (double)bytes / (double)ns;
}

static double interleave(const struct loadpath *p)
{
	return 100.0 * (double)p->different / (double)(p->same + p->different);
}

/* ---- text ---- */

static void dist_text(struct buf *out, const char *name, const struct dist *d)
{
	char a[32], b[32], c[32], e[32];

	if (!d->n)
		return;
	buf_printf(out, "%-18s p50 %s, p95 %s, p99 %s, max %s, n %llu\n", name, human_ns(a, sizeof(a), d->p50),
		   human_ns(b, sizeof(b), d->p95), human_ns(c, sizeof(c), d->p99), human_ns(e, sizeof(e), d->max),
		   ULL(d->n));
}

static void objects_text(struct buf *out, const struct loadpath *p)
{
	char t[32];
	u32 i;

	buf_printf(out, "objects            %llu, %s (%llu B)\n", ULL(p->objects), human_bytes(t, sizeof(t), p->bytes),
		   ULL(p->bytes));
	for (i = 0; i < MIN(p->n_sizes, (u32)MAX_LINES); i++)
		buf_printf(out, "%18s %llu of %llu B\n", "", ULL(p->size[i].n), ULL(p->size[i].value));
	if (p->n_sizes > MAX_LINES)
		buf_printf(out, "%18s and %u more sizes (--json has all)\n", "", p->n_sizes - MAX_LINES);
	buf_str(out, "ranks             ");
	for (i = 0; i < MIN(p->n_ranks, (u32)MAX_LINES); i++) {
		if (p->rank[i].value == LOADPATH_NO_RANK)
			buf_printf(out, " %llu objects without one", ULL(p->rank[i].n));
		else
			buf_printf(out, "%s %llu: %llu", i ? "," : "", ULL(p->rank[i].value), ULL(p->rank[i].n));
	}
	if (p->n_ranks > MAX_LINES)
		buf_printf(out, " and %u more", p->n_ranks - MAX_LINES);
	buf_printf(out, "\nsubmitted by       %llu threads of %llu processes\n", ULL(p->threads), ULL(p->processes));
}

static void overlap_text(struct buf *out, const struct loadpath *p)
{
	buf_printf(out, "at once, objects   max %llu", ULL(p->max_objects));
	if (p->completions)
		buf_printf(out, ", mean %.2f", p->mean_objects);
	else
		buf_str(out, " (the capture has no completions)");
	buf_printf(out, "\n%18s max %llu, counted to the last submission only\n", "", ULL(p->max_objects_submitting));
	if (p->completions)
		buf_printf(out, "at once, commands  max %llu, mean %.2f\n", ULL(p->max_commands), p->mean_commands);
}

static void span_text(struct buf *out, const struct loadpath *p)
{
	char t[32];

	if (p->submit_span_ns)
		buf_printf(out, "submissions        over %s: %.2f GB/s\n", human_ns(t, sizeof(t), p->submit_span_ns),
			   rate(p->bytes, p->submit_span_ns));
	if (p->completions && p->span_ns)
		buf_printf(out, "to the last end    %s: %.2f GB/s\n", human_ns(t, sizeof(t), p->span_ns),
			   rate(p->bytes, p->span_ns));
}

void loadpath_text(struct buf *out, const struct loadpath_context *c)
{
	const struct loadpath *p = c->p;

	if (c->label) {
		report_safe(out, c->label, strlen(c->label));
		buf_byte(out, '\n');
	}
	buf_printf(out, "commands           %llu %ss of objects, %llu the other way, %llu in no object\n", ULL(p->cmds),
		   way_name(c), ULL(p->other_way), ULL(p->untagged));
	if (!p->cmds)
		return;
	objects_text(out, p);
	if (p->same + p->different)
		buf_printf(out, "followed by        the same object %llu, another %llu: interleaved %.2f %%\n",
			   ULL(p->same), ULL(p->different), interleave(p));
	dist_text(out, "gap in an object", &p->gap);
	dist_text(out, "gap at all", &p->any_gap);
	dist_text(out, "latency", &p->service);
	overlap_text(out, p);
	span_text(out, p);
}

/* ---- JSON ---- */

static void counts_json(struct json *j, const char *name, const char *value, const struct loadpath_count *v, u32 n)
{
	u32 i;

	jw_array(j, name);
	for (i = 0; i < n; i++) {
		jw_item(j);
		jw_open(j, '{');
		jw_number_of(j, value, v[i].value, v[i].value != LOADPATH_NO_RANK);
		jw_number(j, "objects", v[i].n);
		jw_close(j, '}');
	}
	jw_close(j, ']');
}

static void dist_json(struct json *j, const char *name, const struct dist *d)
{
	jw_object(j, name);
	jw_number(j, "n", d->n);
	jw_number_of(j, "p50_ns", d->p50, d->n);
	jw_number_of(j, "p95_ns", d->p95, d->n);
	jw_number_of(j, "p99_ns", d->p99, d->n);
	jw_number_of(j, "max_ns", d->max, d->n);
	jw_close(j, '}');
}

void loadpath_json(struct buf *out, const struct loadpath_context *c)
{
	const struct loadpath *p = c->p;
	struct json j = { .b = out };
	u64 pairs = p->same + p->different;

	jw_open(&j, '{');
	jw_string(&j, "schema", "kvio.loadpath.v1");
	if (c->label)
		jw_string(&j, "label", c->label);
	jw_string(&j, "op", way_name(c));
	jw_string(&j, "join", join_name(c->m->join));
	jw_bool(&j, "incomplete", c->health->lossy || c->health->incomplete);
	jw_number(&j, "commands", p->cmds);
	jw_number(&j, "other_way_commands", p->other_way);
	jw_number(&j, "untagged_commands", p->untagged);
	jw_number(&j, "objects", p->objects);
	jw_number(&j, "bytes", p->bytes);
	counts_json(&j, "sizes", "bytes", p->size, p->n_sizes);
	counts_json(&j, "ranks", "kv_rank", p->rank, p->n_ranks);
	jw_number(&j, "processes", p->processes);
	jw_number(&j, "threads", p->threads);
	jw_number_of(&j, "adjacent_same_object", p->same, pairs);
	jw_number_of(&j, "adjacent_different_object", p->different, pairs);
	jw_real_of(&j, "interleave_percent", pairs ? interleave(p) : 0, pairs);
	dist_json(&j, "gap", &p->gap);
	dist_json(&j, "any_gap", &p->any_gap);
	dist_json(&j, "service", &p->service);
	jw_bool(&j, "completions", p->completions);
	jw_number(&j, "max_objects_in_flight", p->max_objects);
	jw_number(&j, "max_objects_submitting", p->max_objects_submitting);
	jw_real_of(&j, "mean_objects_in_flight", p->mean_objects, p->completions);
	jw_number_of(&j, "max_commands_in_flight", p->max_commands, p->completions);
	jw_real_of(&j, "mean_commands_in_flight", p->mean_commands, p->completions);
	jw_number(&j, "submit_span_ns", p->submit_span_ns);
	jw_number_of(&j, "span_ns", p->span_ns, p->completions);
	jw_real_of(&j, "submit_gbs", p->submit_span_ns ? rate(p->bytes, p->submit_span_ns) : 0, p->submit_span_ns);
	jw_real_of(&j, "gbs", p->span_ns ? rate(p->bytes, p->span_ns) : 0, p->completions && p->span_ns);
	jw_close(&j, '}');
	buf_byte(out, '\n');
}
