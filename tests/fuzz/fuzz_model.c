// SPDX-License-Identifier: Apache-2.0
/*
 * All of the model, from memory: whatever was read, the sums close.  Of the
 * first byte, bit 0 says that the rest is text; otherwise each byte is a word
 * of captures, so that records are found without a corpus.  The next three
 * bits are the kind of join.
 */
#include <stdlib.h>

#include "lib/buf.h"
#include "model/model.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void expect(bool ok)
{
	if (!ok)
		abort();
}

static void check_commands(const struct model *m)
{
	const struct cmd_table *t = &m->cmd;
	u64 paired = 0;
	u32 i;

	for (i = 0; i < t->n; i++) {
		expect(!i || t->ts_ns[i - 1] <= t->ts_ns[i]);
		expect(t->dev[i] < m->n_devices);
		expect(t->task[i] == NONE || t->task[i] < m->n_tasks);
		expect(t->name[i] <= m->strings.n && t->key[i] <= m->strings.n);
		expect(t->op[i] == NONE || t->op[i] < m->op.n);
		expect(t->attempts[i] >= 1);
		expect(t->lat_ns[i] == NO_LAT || t->lat_ns[i] <= INT64_MAX);
		expect(!(t->flags[i] & CMD_REISSUED) || t->lat_ns[i] == NO_LAT);
		expect(cmd_role(m, i) < N_ROLES);
		paired += t->lat_ns[i] != NO_LAT;
	}
	expect(t->n == m->dev_in.commands);
	expect(paired + m->dev_in.unpaired_completions == m->dev_in.completions);
}

/* The operations that have the command in their list. */
static u32 listed(const struct model *m, u32 cmd)
{
	u32 first;

	if (m->cmd.op[cmd] == NONE || (m->cmd.flags[cmd] & CMD_REISSUED))
		return 0;
	return m->cmd.flags[cmd] & CMD_SPLIT ? cmd_parts(m, cmd, &first) : 1;
}

static void check_parts(const struct model *m)
{
	const struct part_table *p = &m->part;
	u64 bytes = 0;
	u32 i;

	for (i = 0; i < p->n; i++) {
		bool same = i && p->cmd[i] == p->cmd[i - 1];

		expect(p->cmd[i] < m->cmd.n && p->op[i] < m->op.n && p->bytes[i]);
		expect(!i || p->cmd[i - 1] < p->cmd[i] || (same && p->op[i - 1] < p->op[i]));
		bytes = (same ? bytes : 0) + p->bytes[i];
		expect(bytes <= m->cmd.bytes[p->cmd[i]]);
		expect(m->cmd.flags[p->cmd[i]] & CMD_SPLIT);
	}
}

static void check_operations(const struct model *m)
{
	const struct op_table *o = &m->op;
	u32 i, j, sum = 0;

	for (i = 0; i < o->n; i++) {
		expect(o->occurrence[i] < o->n_occurrences[i]);
		for (j = 0; j < o->n_cmds[i]; j++) {
			u32 row = m->cmd_order[o->first_cmd[i] + j];

			expect(row < m->cmd.n && (m->cmd.op[row] == i || m->cmd.flags[row] & CMD_SPLIT));
			expect(!j || m->cmd_order[o->first_cmd[i] + j - 1] < row);
		}
		sum += o->n_cmds[i];
	}
	for (i = 0; i < m->cmd.n; i++)
		sum -= listed(m, i);
	expect(!sum);
	expect(o->n == m->sem_in.semantic);
	expect(m->serving.n == m->dev_in.serving + m->sem_in.serving);
	for (i = 0; i < m->serving.n; i++)
		expect(m->serving.start_ns[i] <= m->serving.end_ns[i] && m->serving.name[i]);
}

/* A record in one word, or its members one by one; no word is the byte itself. */
static const char *const words[128] = {
	"}\n{\"event_type\":\"nvme_cmd\",\"ts\":100",
	"}\n{\"event_type\":\"nvme_cmd\",\"ts\":101,\"user_data\":4294967297,\"slba\":1,\"rdev\":9",
	"}\n{\"event_type\":\"nvme_cmd\",\"ts\":102,\"disk\":\"nvme0n1\",\"hwq\":1,\"cid\":1",
	"}\n{\"event_type\":\"nvme_cmd\",\"ts\":103,\"user_data\":8589934593,\"dev\":5,\"hwq\":1,\"cid\":1",
	"}\n{\"event_type\":\"nvme_cmp\",\"ts\":110,\"user_data\":4294967297",
	"}\n{\"event_type\":\"nvme_cmp\",\"ts\":110,\"user_data\":8589934593,\"dev\":5,\"hwq\":1,\"cid\":1",
	"}\n{\"event_type\":\"nvme_cmp\",\"ts\":110,\"hwq\":1,\"cid\":1",
	"}\n{\"trace_id\":1,\"op\":\"store\",\"ts\":0.0000001",
	"}\n{\"trace_id\":2,\"op\":\"load\",\"ts\":0.000000102",
	"}\n{\"event_type\":\"capture_meta\",\"devices\":[{\"name\":\"nvme0n1\",\"dev\":5,\"rdev\":9,\"lba_bytes\":512}]",
	"}\n{\"event_type\":\"kvio_meta\"",
	"}\n{\"event_type\":\"drops\",\"dropped\":1",
	"}\n{\"event_type\":\"loss\"",
	"}\n{\"event_type\":\"footer\",\"complete\":true",
	"}\n{\"event_type\":\"cq_overflow\",\"ts\":5,\"res\":-5",
	"}\n{\"event_type\":\"clock_anchor\",\"monotonic_ns\":1,\"realtime_ns\":2",
	",\"lat_ns\":10",
	",\"lat_ns\":9",
	",\"lat_ns\":8",
	",\"lat_ns\":7",
	",\"lat_ns\":-5",
	",\"ts\":99",
	",\"ts\":101",
	",\"ts\":1e3",
	",\"user_data\":4294967298",
	",\"user_data\":0",
	",\"dev\":6",
	",\"rdev\":9",
	",\"disk\":\"nvme1n1\"",
	",\"disk\":\"\"",
	",\"hwq\":65535",
	",\"cid\":2",
	",\"in_flight\":true",
	",\"refused\":true",
	",\"attempts\":3",
	",\"status\":5",
	",\"err\":1",
	",\"nvme_opcode\":2",
	",\"op_name\":\"read\"",
	",\"op_name\":\"write\"",
	",\"key_hex\":\"6b30\"",
	",\"nlb\":8,\"data_len\":4096",
	",\"slba\":2",
	",\"slot_offset\":512",
	",\"slot_offset\":4096",
	",\"instance\":\"a\"",
	",\"pid\":7",
	",\"tid\":7",
	",\"comm\":\"iou-wrk-7\"",
	",\"comm\":\"a\\u0062\"",
	",\"error\":{\"x\":[1]}",
	",\"ts_start\":0.00000005",
	",\"tokens\":17,\"request_id\":\"q\"",
	",\"key\":\"k0\",\"bytes\":8192",
	"}\n{\"op\":\"prefill\",\"ts_start\":1,\"ts\":2",
};

static void expand(struct buf *b, const u8 *data, size_t size)
{
	size_t i;

	buf_lit(b, "{\"x\":1");
	for (i = 0; i < size; i++)
		if (data[i] < ARRAY_SIZE(words) && words[data[i]])
			buf_str(b, words[data[i]]);
		else
			buf_byte(b, (char)data[i]);
	buf_lit(b, "}");
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct join_options o = {};
	struct buf text = {};
	struct model m;

	if (!size)
		return 0;
	if (data[0] & 1)
		buf_add(&text, data + 1, size - 1);
	else
		expand(&text, data + 1, size - 1);
	o.kind = (enum join_kind)((data[0] >> 1) % (JOIN_OFFSET + 1));
	model_init(&m);
	if (!model_load_text(&m, text.p, text.n)) {
		expect(!model_finish(&m));
		expect(!model_join(&m, &o));
		check_commands(&m);
		check_operations(&m);
		check_parts(&m);
	}
	model_free(&m);
	buf_free(&text);
	return 0;
}
