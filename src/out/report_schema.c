// SPDX-License-Identifier: Apache-2.0
/* What the JSON report holds, as a JSON Schema. */
#include <stdio.h>
#include <string.h>

#include "out/report_fields.h"
#include "out/report_json.h"
#include "out/report_metrics.h"

static void type(struct json *j, const char *name, bool nullable)
{
	if (!nullable) {
		jw_string(j, "type", name);
		return;
	}
	jw_array(j, "type");
	jw_item(j);
	buf_json(j->b, name, strlen(name));
	jw_item(j);
	buf_lit(j->b, "\"null\"");
	jw_close(j, ']');
}

static void percentiles(struct json *j, const struct report_field *f)
{
	static const char *const names[] = { "min", "p50", "p95", "p99", "max" };
	char name[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(name, sizeof(name), "%s%s", f->name, names[i]);
		jw_object(j, name);
		type(j, "integer", true);
		jw_string(j, "description", f->what);
		jw_close(j, '}');
	}
}

static void require(struct json *j, u32 at, u32 end)
{
	u8 depth = report_fields[at].depth;

	jw_array(j, "required");
	for (; at < end; at++) {
		const struct report_field *f = &report_fields[at];

		if (f->depth != depth || strchr(f->type, '?') || *f->type == 'd')
			continue;
		jw_item(j);
		buf_json(j->b, f->name, strlen(f->name));
	}
	jw_close(j, ']');
}

/* The row behind the members of row `at`. */
static u32 behind(u32 at, u32 end)
{
	u32 i = at + 1;

	while (i < end && report_fields[i].depth > report_fields[at].depth)
		i++;
	return i;
}

static void members(struct json *j, u32 at, u32 end);

static void value(struct json *j, u32 at, u32 next)
{
	const struct report_field *f = &report_fields[at];
	bool nullable = strchr(f->type, '0') != NULL;

	switch (*f->type) {
	case 'i':
		type(j, "integer", nullable);
		break;
	case 'r':
		type(j, "number", nullable);
		break;
	case 's':
		type(j, "string", nullable);
		break;
	case 'b':
		type(j, "boolean", nullable);
		break;
	case 't':
		type(j, "array", nullable);
		jw_object(j, "items");
		type(j, "string", false);
		jw_close(j, '}');
		break;
	case 'o':
		members(j, at + 1, next);
		break;
	default:
		type(j, *f->type == 'a' ? "array" : "object", false);
		jw_object(j, *f->type == 'a' ? "items" : "additionalProperties");
		members(j, at + 1, next);
		jw_close(j, '}');
		break;
	}
	if (*f->what)
		jw_string(j, "description", f->what);
}

/* Members with a "*" at the end of their name, or those without one. */
static void some_members(struct json *j, u32 at, u32 end, bool patterns)
{
	u32 next;

	for (; at < end; at = next) {
		size_t n = strlen(report_fields[at].name);
		char pattern[64];

		next = behind(at, end);
		if ((n && report_fields[at].name[n - 1] == '*') != patterns)
			continue;
		if (*report_fields[at].type == 'd') {
			percentiles(j, &report_fields[at]);
			continue;
		}
		snprintf(pattern, sizeof(pattern), "^%.*s", (int)n - 1, report_fields[at].name);
		jw_object(j, patterns ? pattern : report_fields[at].name);
		value(j, at, next);
		jw_close(j, '}');
	}
}

/* The schema of an object with these members. */
static void members(struct json *j, u32 at, u32 end)
{
	type(j, "object", false);
	jw_object(j, "properties");
	some_members(j, at, end, false);
	jw_close(j, '}');
	jw_object(j, "patternProperties");
	some_members(j, at, end, true);
	jw_close(j, '}');
	require(j, at, end);
}

static void metrics(struct json *j)
{
	struct report_metric_info m;
	u32 i, k;

	jw_array(j, "metrics");
	for (i = 0; i < report_metric_infos(); i++) {
		report_metric_info(i, &m);
		jw_item(j);
		jw_open(j, '{');
		jw_string(j, "metric", m.metric);
		jw_string(j, "ops", m.ops);
		jw_bool(j, "any_op", m.any_op);
		jw_string(j, "unit", m.unit);
		jw_array(j, "stats");
		for (k = 0; m.is_dist && report_stats[k]; k++) {
			jw_item(j);
			buf_json(j->b, report_stats[k], strlen(report_stats[k]));
		}
		jw_close(j, ']');
		jw_string(j, "description", m.what);
		jw_close(j, '}');
	}
	jw_close(j, ']');
}

void report_schema(struct buf *out)
{
	struct json j = { .b = out };

	jw_open(&j, '{');
	jw_string(&j, "$schema", "https://json-schema.org/draft/2020-12/schema");
	jw_string(&j, "title", "kvio report --json");
	jw_string(&j, "description",
		  "One member a capture, named by its label.  Times are nanoseconds, shares are 0 to 1, and what "
		  "was not measured is null.  \"metrics\" lists the figures of --csv, --prom and --fail-if.");
	jw_number(&j, "version", REPORT_SCHEMA);
	jw_string(&j, "type", "object");
	jw_object(&j, "additionalProperties");
	members(&j, 0, n_report_fields);
	jw_close(&j, '}');
	metrics(&j);
	jw_close(&j, '}');
	buf_byte(out, '\n');
}
