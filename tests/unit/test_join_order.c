// SPDX-License-Identifier: Apache-2.0
/* The order of lines and of files has no say in the model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "unit/join_text.h"

/* ---- a model as text, strings by what they say ---- */

static void word(struct buf *b, const struct model *m, u32 string)
{
	buf_byte(b, ' ');
	buf_json(b, strpool_get(&m->strings, string), strpool_len(&m->strings, string));
}

static void number(struct buf *b, u64 v)
{
	buf_byte(b, ' ');
	buf_u64(b, v);
}

static void describe_cmds(struct buf *b, const struct model *m)
{
	const struct cmd_table *t = &m->cmd;
	u32 i;

	for (i = 0; i < t->n; i++) {
		const u64 v[] = { t->ts_ns[i],	  t->lat_ns[i],	 t->user_data[i], t->slba[i], t->bytes[i],
				  t->nlb[i],	  t->wait_ns[i], t->dev[i],	  t->tid[i],  t->task[i],
				  t->flags[i],	  t->status[i],	 t->hwq[i],	  t->cid[i],  t->opcode[i],
				  t->attempts[i], t->op[i] };
		size_t k;

		buf_lit(b, "\ncmd");
		for (k = 0; k < ARRAY_SIZE(v); k++)
			number(b, v[k]);
		word(b, m, t->name[i]);
		word(b, m, t->key[i]);
	}
}

static void describe_ops(struct buf *b, const struct model *m)
{
	const struct op_table *t = &m->op;
	u32 i, k;

	for (i = 0; i < t->n; i++) {
		const u64 v[] = { t->trace_id[i],    t->start_ns[i], t->end_ns[i],     t->bytes[i],
				  t->slot_offset[i], t->pid[i],	     t->flags[i],      t->join_id[i],
				  t->first_cmd[i],   t->n_cmds[i],   t->occurrence[i], t->n_occurrences[i] };
		const u32 s[] = { t->name[i], t->key[i], t->key_hex[i], t->part[i], t->error[i], t->instance[i] };

		buf_lit(b, "\nop");
		for (k = 0; k < ARRAY_SIZE(v); k++)
			number(b, v[k]);
		for (k = 0; k < ARRAY_SIZE(s); k++)
			word(b, m, s[k]);
		for (k = 0; k < t->n_cmds[i]; k++)
			number(b, m->cmd_order[t->first_cmd[i] + k]);
	}
}

static void describe_rest(struct buf *b, const struct model *m)
{
	const struct offset_account *a = &m->offset;
	u32 i;

	for (i = 0; i < m->part.n; i++)
		buf_printf(b, "\npart %u %u %u", m->part.cmd[i], m->part.op[i], m->part.bytes[i]);
	for (i = 0; i < m->n_devices; i++) {
		const struct device *d = &m->device[i];

		buf_printf(b, "\ndevice %u %u %u %u %d", d->dev, d->rdev, d->nsid, d->lba_bytes, d->lba_assumed);
		word(b, m, d->name);
	}
	for (i = 0; i < m->n_tasks; i++) {
		buf_printf(b, "\ntask %u %u %llu", m->task[i].tid, m->task[i].pid, ULL(m->task[i].since_ns));
		word(b, m, m->task[i].comm);
	}
	for (i = 0; i < m->n_overflows; i++)
		buf_printf(b, "\noverflow %llu %llu %d", ULL(m->overflow[i].ts_ns), ULL(m->overflow[i].user_data),
			   m->overflow[i].res);
	for (i = 0; i < m->n_anchors; i++)
		buf_printf(b, "\nanchor %llu %llu", ULL(m->anchor[i].monotonic_ns), ULL(m->anchor[i].realtime_ns));
	for (i = 0; i < m->serving.n; i++) {
		buf_printf(b, "\nspan %llu %llu %llu", ULL(m->serving.start_ns[i]), ULL(m->serving.end_ns[i]),
			   ULL(m->serving.tokens[i]));
		word(b, m, m->serving.name[i]);
		word(b, m, m->serving.request_id[i]);
	}
	buf_printf(b, "\njoin %d %s lba %u %d headers %u of %u anomalies %llu ids %llu %u", m->join, m->join_why,
		   m->lba_bytes, m->lba_inferred, m->n_header_cmds, m->n_stores, ULL(m->clock_anomalies),
		   ULL(m->dup_trace_ids), m->n_instances);
	buf_printf(b, "\noffset %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu", ULL(a->unique),
		   ULL(a->unique_bytes), ULL(a->cross), ULL(a->cross_bytes), ULL(a->gap_spill), ULL(a->gap_spill_bytes),
		   ULL(a->unmatched), ULL(a->unmatched_bytes), ULL(a->no_place), ULL(a->agree));
	buf_printf(b, "\ncollisions %llu %llu %llu %llu %llu\n", ULL(m->collisions.ids), ULL(m->collisions.cmds),
		   ULL(m->collisions.by_pid), ULL(m->collisions.by_place), ULL(m->collisions.by_end));
}

/* ---- lines in any order ---- */

struct lines {
	char *text;
	const char **line;
	size_t n;
};

static void read_lines(struct lines *l, const char *path)
{
	FILE *f = fopen(path, "r");
	struct buf b = {};
	char chunk[4096], *p;
	size_t n;

	assert_non_null(f);
	while ((n = fread(chunk, 1, sizeof(chunk), f)))
		buf_add(&b, chunk, n);
	fclose(f);
	buf_byte(&b, '\0');
	l->text = b.p;
	l->line = calloc(b.n + 1, sizeof(*l->line));
	assert_non_null(l->line);
	for (p = strtok(l->text, "\n"); p; p = strtok(NULL, "\n"))
		l->line[l->n++] = p;
}

static void free_lines(struct lines *l)
{
	free(l->text);
	free(l->line);
	*l = (struct lines){};
}

static void shuffle(struct lines *l, u64 *seed)
{
	size_t i;

	for (i = l->n; i > 1; i--) {
		const char *line;
		size_t k;

		*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
		k = (*seed >> 33) % i;
		line = l->line[i - 1];
		l->line[i - 1] = l->line[k];
		l->line[k] = line;
	}
}

static void load(struct model *m, const struct lines *l)
{
	struct buf b = {};
	size_t i;

	for (i = 0; i < l->n; i++) {
		buf_str(&b, l->line[i]);
		buf_byte(&b, '\n');
	}
	if (b.n)
		assert_int_equal(model_load_text(m, b.p, b.n), 0);
	buf_free(&b);
}

static void describe(struct buf *out, const struct lines *a, const struct lines *b, enum join_kind kind)
{
	const struct join_options o = { .kind = kind };
	struct model m;

	model_init(&m);
	load(&m, a);
	load(&m, b);
	assert_int_equal(model_finish(&m), 0);
	assert_int_equal(model_join(&m, &o), 0);
	buf_reset(out);
	describe_cmds(out, &m);
	describe_ops(out, &m);
	describe_rest(out, &m);
	buf_byte(out, '\0');
	assert_false(out->failed);
	model_free(&m);
}

static void any_order(const char *sem, const char *ebpf, enum join_kind kind)
{
	struct lines a = {}, b = {};
	struct buf want = {}, got = {};
	u64 seed = 1;
	int i;

	read_lines(&a, sem);
	read_lines(&b, ebpf);
	describe(&want, &a, &b, kind);
	describe(&got, &b, &a, kind);
	assert_string_equal(got.p, want.p);
	for (i = 0; i < 10; i++) {
		shuffle(&a, &seed);
		shuffle(&b, &seed);
		describe(&got, i % 2 ? &a : &b, i % 2 ? &b : &a, kind);
		assert_string_equal(got.p, want.p);
	}
	buf_free(&want);
	buf_free(&got);
	free_lines(&a);
	free_lines(&b);
}

static void lines_and_files_in_any_order_make_the_same_model(void **state)
{
	static const char *const cases[] = { "qd1",	    "batched", "tp4",	       "slot-reuse",   "missing-cmp",
					     "cq-overflow", "eagain",  "kv-key",       "dup-trace-id", "edge-ties",
					     "untagged",    "legacy",  "header-lba512" };
	static const enum join_kind kinds[] = { JOIN_AUTO, JOIN_OFFSET, JOIN_KEY };
	char sem[128], ebpf[128];
	size_t i, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		for (k = 0; k < ARRAY_SIZE(kinds); k++) {
			snprintf(sem, sizeof(sem), CASES "%s/sem.jsonl", cases[i]);
			snprintf(ebpf, sizeof(ebpf), CASES "%s/ebpf.jsonl", cases[i]);
			any_order(sem, ebpf, kinds[k]);
		}
	any_order("tests/data/join/offset-join/sem.jsonl", "tests/data/join/offset-join/ebpf.jsonl", JOIN_AUTO);
	any_order("tests/data/join/offset-parity/sem.jsonl", "tests/data/join/offset-parity/ebpf.jsonl", JOIN_OFFSET);
	any_order("tests/data/join/key_join/semantic.jsonl", "tests/data/join/key_join/tracer.jsonl", JOIN_AUTO);
}

/* Rows that differ in one thing only, or in none. */
static void ties_are_settled_by_content(void **state)
{
	static const char *const text =
		"{\"trace_id\":1,\"op\":\"load\",\"ts_start\":0.1,\"ts\":0.2}\n"
		"{\"trace_id\":1,\"op\":\"load\",\"ts_start\":0.1,\"ts\":0.2}\n"
		"{\"trace_id\":1,\"op\":\"load\",\"ts_start\":0.1,\"ts\":0.2,\"pid\":0}\n"
		"{\"trace_id\":1,\"op\":\"load\",\"ts_start\":0.1,\"ts\":0.2,\"pid\":3}\n"
		"{\"trace_id\":1,\"op\":\"load\",\"ts_start\":0.1,\"ts\":0.2,\"slot_offset\":0}\n"
		"{\"trace_id\":1,\"op\":\"load\",\"ts_start\":0.1,\"ts\":0.2,\"key\":\"b\"}\n"
		"{\"trace_id\":1,\"op\":\"load\",\"ts_start\":0.1,\"ts\":0.2,\"key\":\"a\"}\n"
		"{\"trace_id\":1,\"op\":\"load\",\"ts_start\":0.1,\"ts\":0.2,\"key_hex\":\"aa\"}\n"
		"{\"trace_id\":1,\"op\":\"load\",\"ts_start\":0.1,\"ts\":0.2,\"part\":\"k\"}\n"
		"{\"trace_id\":1,\"op\":\"load\",\"ts_start\":0.1,\"ts\":0.2,\"part\":\"v\"}\n"
		"{\"trace_id\":1,\"op\":\"load\",\"ts_start\":0.1,\"ts\":0.2,\"error\":\"x\"}\n"
		"{\"trace_id\":1,\"op\":\"load\",\"ts_start\":0.1,\"ts\":0.2,\"instance\":\"x\"}\n"
		"{\"trace_id\":1,\"op\":\"load\",\"ts\":0.2}\n"
		"{\"trace_id\":1,\"op\":\"store\",\"ts_start\":0.1,\"ts\":0.2}\n"
		"{\"trace_id\":1,\"op\":\"store\",\"ts_start\":0.2,\"ts\":0.2}\n"
		"{\"event_type\":\"nvme_cmd\",\"op_name\":\"store\",\"key_hex\":\"6b31\",\"data_len\":1,\"ts\":1}\n"
		"{\"event_type\":\"nvme_cmd\",\"op_name\":\"store\",\"key_hex\":\"6b32\",\"data_len\":1,\"ts\":1}\n"
		"{\"event_type\":\"nvme_cmd\",\"op_name\":\"exist\",\"key_hex\":\"6b31\",\"data_len\":1,\"ts\":1}\n"
		"{\"event_type\":\"nvme_cmd\",\"op_name\":\"read\",\"tid\":5,\"data_len\":1,\"ts\":1}\n"
		"{\"event_type\":\"nvme_cmd\",\"op_name\":\"read\",\"tid\":6,\"data_len\":1,\"ts\":1}\n"
		"{\"event_type\":\"nvme_cmd\",\"op_name\":\"read\",\"tid\":6,\"nlb\":1,\"data_len\":1,\"ts\":1}\n"
		"{\"op\":\"r\",\"ts_start\":0.1,\"ts\":0.2,\"tokens\":5}\n"
		"{\"op\":\"r\",\"ts_start\":0.1,\"ts\":0.2,\"tokens\":4}\n"
		"{\"op\":\"r\",\"ts_start\":0.1,\"ts\":0.2,\"request_id\":\"b\"}\n"
		"{\"op\":\"r\",\"ts_start\":0.1,\"ts\":0.2,\"request_id\":\"a\"}\n"
		"{\"event_type\":\"clock_anchor\",\"monotonic_ns\":5,\"realtime_ns\":8}\n"
		"{\"event_type\":\"clock_anchor\",\"monotonic_ns\":5,\"realtime_ns\":7}\n"
		"{\"event_type\":\"cq_overflow\",\"user_data\":5,\"res\":-5,\"ts\":7}\n"
		"{\"event_type\":\"cq_overflow\",\"user_data\":5,\"res\":5,\"ts\":7}\n"
		"{\"event_type\":\"cq_overflow\",\"user_data\":4,\"res\":5,\"ts\":7}\n";
	char path[] = "/tmp/kvio-ties-XXXXXX";
	int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w");

	(void)state;
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	any_order(path, "/dev/null", JOIN_AUTO);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_and_files_in_any_order_make_the_same_model),
		cmocka_unit_test(ties_are_settled_by_content),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
