// SPDX-License-Identifier: Apache-2.0
/* The joins against the older converter's results on its own cases. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <jansson.h>

#include "unit/model_text.h"

#define JOIN_CASES "tests/data/join/"

static void load(struct model *m, const char *dir, const char *const files[2], enum join_kind kind)
{
	const struct join_options o = { .kind = kind };
	char path[256];
	int i;

	model_init(m);
	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, files[i]);
		assert_int_equal(model_load(m, path), 0);
	}
	assert_int_equal(model_finish(m), 0);
	assert_int_equal(model_join(m, &o), 0);
}

static u64 number(const json_t *doc, const char *key)
{
	return (u64)json_integer_value(json_object_get(doc, key));
}

/* The row of the n-th submission in the file: no two have one time. */
static u32 row_of_line(const struct model *m, FILE *f)
{
	char line[1024];

	while (fgets(line, sizeof(line), f)) {
		json_t *doc = json_loads(line, 0, NULL);
		const char *kind = json_string_value(json_object_get(doc, "event_type"));
		u64 ts = number(doc, "ts");
		u32 i;

		assert_non_null(doc);
		for (i = 0; kind && !strcmp(kind, "nvme_cmd") && i < m->cmd.n; i++)
			if (m->cmd.ts_ns[i] == ts) {
				json_decref(doc);
				return i;
			}
		json_decref(doc);
	}
	return NONE;
}

/* Every command has the id and the occurrence that the older converter gave it. */
static void assert_ids(const struct model *m, const char *dir, const json_t *want)
{
	const json_t *ids = json_object_get(want, "trace_ids"), *occurrence = json_object_get(want, "occurrence");
	char path[256];
	FILE *f;
	size_t i;

	snprintf(path, sizeof(path), "%s/tracer.jsonl", dir);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(json_array_size(ids), m->cmd.n);
	for (i = 0; i < json_array_size(ids); i++) {
		u32 row = row_of_line(m, f);

		assert_int_not_equal(row, NONE);
		/* It gave nobody the bytes of a command that lies in several objects or in none. */
		if (m->cmd.flags[row] & CMD_SPLIT) {
			assert_int_equal(json_integer_value(json_array_get(ids, i)), 0);
			continue;
		}
		assert_int_equal(cmd_join_id(m, row), json_integer_value(json_array_get(ids, i)));
		if (!json_is_null(json_array_get(occurrence, i)))
			assert_int_equal(m->op.occurrence[m->cmd.op[row]],
					 json_integer_value(json_array_get(occurrence, i)));
		else
			assert_int_equal(m->cmd.op[row], NONE);
	}
	fclose(f);
}

static void assert_account(const struct model *m, const json_t *stats)
{
	const struct offset_account *a = &m->offset;

	assert_int_equal(a->unique, number(stats, "offset_join_unique"));
	assert_int_equal(a->cross, number(stats, "offset_join_cross_object"));
	assert_int_equal(a->gap_spill, number(stats, "offset_join_gap_spill"));
	assert_int_equal(a->unmatched, number(stats, "offset_join_unmatched"));
	assert_int_equal(a->cookie_cmds, number(stats, "offset_join_gt_cmds"));
	assert_int_equal(a->agree, number(stats, "offset_join_agree"));
	assert_int_equal(a->without_cookie, number(stats, "offset_join_extra"));
	assert_int_equal(a->unique_bytes + a->cross_bytes + a->gap_spill_bytes + a->unmatched_bytes, count_bytes(m));
}

static void golden(const char *name, enum join_kind kind, enum join_kind chosen)
{
	static const char *const files[] = { "semantic.jsonl", "tracer.jsonl" };
	const json_t *stats;
	char dir[128], path[256];
	struct model m;
	json_t *want;

	snprintf(dir, sizeof(dir), JOIN_CASES "%s", name);
	snprintf(path, sizeof(path), "%s/expected.json", dir);
	want = json_load_file(path, 0, NULL);
	assert_non_null(want);
	stats = json_object_get(want, "stats");
	load(&m, dir, files, kind);
	assert_int_equal(m.join, chosen);
	assert_int_equal(m.op.n, number(stats, "sem_records"));
	assert_int_equal(m.cmd.n, number(stats, "nvme_cmd_lines"));
	assert_int_equal(m.dup_trace_ids, number(stats, "dup_trace_id"));
	assert_int_equal(m.clock_anomalies, number(stats, "clock_anomalies"));
	assert_int_equal(m.lba_bytes, number(want, "lba_bytes_used"));
	assert_ids(&m, dir, want);
	if (m.join == JOIN_OFFSET)
		assert_account(&m, stats);
	json_decref(want);
	model_free(&m);
}

static void tag(void **state)
{
	(void)state;
	golden("tag", JOIN_AUTO, JOIN_TRACE_ID);
}

static void tag_infer_lba(void **state)
{
	(void)state;
	golden("tag_infer_lba", JOIN_AUTO, JOIN_TRACE_ID);
}

static void dup_id_completions(void **state)
{
	(void)state;
	golden("dup_id_completions", JOIN_AUTO, JOIN_TRACE_ID);
}

static void key_join(void **state)
{
	(void)state;
	golden("key_join", JOIN_KEY, JOIN_KEY);
	golden("key_join", JOIN_AUTO, JOIN_KEY);
}

static void offset_with_cookies(void **state)
{
	(void)state;
	golden("offset_with_cookies", JOIN_OFFSET, JOIN_OFFSET);
}

static void offset_no_cookies(void **state)
{
	(void)state;
	golden("offset_no_cookies", JOIN_OFFSET, JOIN_OFFSET);
	golden("offset_no_cookies", JOIN_AUTO, JOIN_OFFSET);
}

static void offset_slot_reuse(void **state)
{
	(void)state;
	golden("offset_slot_reuse", JOIN_AUTO, JOIN_OFFSET);
}

static void offset_edges(void **state)
{
	(void)state;
	golden("offset_edges", JOIN_AUTO, JOIN_OFFSET);
}

static void offset_cross_object(void **state)
{
	(void)state;
	golden("offset_cross_object", JOIN_AUTO, JOIN_OFFSET);
}

static void assert_sums(const struct model *m)
{
	const struct offset_account *a = &m->offset;

	assert_int_equal(a->unique + a->cross + a->gap_spill + a->unmatched + a->no_place, m->cmd.n);
	assert_int_equal(a->unique_bytes + a->cross_bytes + a->gap_spill_bytes + a->unmatched_bytes + a->no_place_bytes,
			 count_bytes(m));
}

/* A capture with cookies: joined by offset, each names the operation that its cookie does. */
static void parity(const char *dir, u32 cmds, u32 headers)
{
	static const char *const files[] = { "sem.jsonl", "ebpf.jsonl" };
	struct model by_offset, by_id;
	u32 i;

	load(&by_offset, dir, files, JOIN_OFFSET);
	assert_int_equal(by_offset.offset.unique, cmds);
	assert_int_equal(by_offset.offset.cookie_cmds, cmds);
	assert_int_equal(by_offset.offset.agree, cmds);
	assert_int_equal(by_offset.n_header_cmds, headers);
	assert_int_equal(by_offset.clock_anomalies, 0);
	assert_sums(&by_offset);
	load(&by_id, dir, files, JOIN_AUTO);
	assert_int_equal(by_id.join, JOIN_TRACE_ID);
	for (i = 0; i < cmds; i++)
		assert_int_equal(by_offset.cmd.op[i], by_id.cmd.op[i]);
	model_free(&by_offset);
	model_free(&by_id);
}

static void parity_with_cookies_is_100_percent(void **state)
{
	(void)state;
	parity(JOIN_CASES "offset-parity", 54, 6);
	/* Defect 6 of the older converter, which takes the first window in file order: 40 of 96. */
	parity(CASES "slot-reuse", 96, 12);
}

/* Defect 5: blocks of 512 bytes, headers not found, and a false warning. */
static void offset_join_finds_headers_of_512_byte_blocks(void **state)
{
	static const char *const files[] = { "sem.jsonl", "ebpf.jsonl" };
	struct model m;

	(void)state;
	load(&m, JOIN_CASES "offset-join", files, JOIN_AUTO);
	assert_int_equal(m.join, JOIN_OFFSET);
	assert_int_equal(m.offset.unique, 90);
	assert_int_equal(m.offset.cross, 1);
	assert_int_equal(m.offset.gap_spill, 1);
	assert_int_equal(m.offset.unmatched, 4);
	assert_int_equal(m.offset.unique_bytes, 10526720);
	/* The slots that the two lie in are not in use at their time. */
	assert_int_equal(m.offset.cross_bytes, 0);
	assert_int_equal(m.offset.gap_spill_bytes, 2 * 65536);
	assert_int_equal(m.n_stores, 10);
	assert_int_equal(m.n_header_cmds, 10);
	assert_int_equal(m.lba_bytes, 512);
	assert_false(m.lba_inferred);
	assert_sums(&m);
	model_free(&m);
}

static void kv_key(void **state)
{
	u32 tied = 0, i;
	u64 bytes = 0;
	struct model m;

	(void)state;
	model_of_case(&m, "kv-key/sem.jsonl", "kv-key/ebpf.jsonl");
	assert_int_equal(m.join, JOIN_KEY);
	assert_int_equal(m.op.n, 42);
	assert_int_equal(m.dup_trace_ids, 21);
	for (i = 0; i < m.cmd.n; i++) {
		tied += m.cmd.op[i] != NONE;
		bytes += m.cmd.op[i] != NONE ? m.cmd.bytes[i] : 0;
	}
	assert_int_equal(bytes, 3985408);
	assert_int_equal(count_bytes(&m), 3985408 + 593920);
	assert_true(tied > 0 && tied < m.cmd.n);
	model_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tag),
		cmocka_unit_test(tag_infer_lba),
		cmocka_unit_test(dup_id_completions),
		cmocka_unit_test(key_join),
		cmocka_unit_test(offset_with_cookies),
		cmocka_unit_test(offset_no_cookies),
		cmocka_unit_test(offset_slot_reuse),
		cmocka_unit_test(offset_edges),
		cmocka_unit_test(offset_cross_object),
		cmocka_unit_test(parity_with_cookies_is_100_percent),
		cmocka_unit_test(offset_join_finds_headers_of_512_byte_blocks),
		cmocka_unit_test(kv_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
