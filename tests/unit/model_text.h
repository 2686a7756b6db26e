/* SPDX-License-Identifier: Apache-2.0 */
/* Captures as text, for tests of the model.  Included behind cmocka.h. */
#ifndef KVIO_TEST_MODEL_TEXT_H
#define KVIO_TEST_MODEL_TEXT_H

#include <string.h>

#include "lib/buf.h"
#include "model/model.h"

#define CASES "tests/data/perfetto/"

/* A passthrough submission and completion as the older monitor writes them: 4 KiB at slba, ts in ns. */
static inline void um_cmd(struct buf *b, u64 ts, u64 user_data, u64 slba, const char *op)
{
	buf_printf(b,
		   "{\"event_type\":\"nvme_cmd\",\"pid\":10,\"tid\":11,\"user_data\":%llu,\"nvme_opcode\":%d,"
		   "\"op_name\":\"%s\",\"nsid\":1,\"slba\":%llu,\"nlb\":1,\"bytes\":4096,\"data_len\":4096,"
		   "\"multipath\":0,\"cmd_op\":\"0xc0484e80\",\"rdev\":62914560,\"comm\":\"app\",\"ts\":%llu}\n",
		   (unsigned long long)user_data, *op == 'w' ? 1 : 2, op, (unsigned long long)slba,
		   (unsigned long long)ts);
}

static inline void um_cmp(struct buf *b, u64 ts, u64 user_data, u64 lat_ns)
{
	buf_printf(b,
		   "{\"event_type\":\"nvme_cmp\",\"user_data\":%llu,\"err\":0,\"lat_ns\":%llu,\"hwq\":1,\"cid\":5,"
		   "\"ts\":%llu}\n",
		   (unsigned long long)user_data, (unsigned long long)lat_ns, (unsigned long long)ts);
}

/* The same without the latency, which no tracer leaves out but files may. */
static inline void um_cmp_bare(struct buf *b, u64 ts, u64 user_data)
{
	buf_printf(b, "{\"event_type\":\"nvme_cmp\",\"user_data\":%llu,\"err\":0,\"ts\":%llu}\n",
		   (unsigned long long)user_data, (unsigned long long)ts);
}

/* A submission and a completion at the driver tracepoints. */
static inline void tp_cmd(struct buf *b, const char *disk, u64 ts, u32 hwq, u32 cid)
{
	buf_printf(b,
		   "{\"event_type\":\"nvme_cmd\",\"disk\":\"%s\",\"nsid\":1,\"nvme_opcode\":2,\"op_name\":\"read\","
		   "\"slba\":1,\"nlb\":1,\"bytes\":4096,\"data_len\":4096,\"hwq\":%u,\"cid\":%u,\"ts\":%llu}\n",
		   disk, hwq, cid, (unsigned long long)ts);
}

static inline void tp_cmp(struct buf *b, u64 ts, u64 lat_ns, u32 hwq, u32 cid)
{
	buf_printf(b, "{\"event_type\":\"nvme_cmp\",\"status\":0,\"lat_ns\":%llu,\"hwq\":%u,\"cid\":%u,\"ts\":%llu}\n",
		   (unsigned long long)lat_ns, hwq, cid, (unsigned long long)ts);
}

/* An operation of the application; times in ns. */
static inline void sem_op(struct buf *b, u64 trace_id, const char *op, u64 slot, u64 start_ns, u64 end_ns)
{
	buf_printf(b,
		   "{\"trace_id\":%llu,\"op\":\"%s\",\"key\":\"m@f@0@%llu\",\"bytes\":4096,\"slot_offset\":%llu,"
		   "\"ts_start\":%llu.%09llu,\"ts\":%llu.%09llu,\"pid\":10,\"instance\":\"i\"}\n",
		   (unsigned long long)trace_id, op, (unsigned long long)slot, (unsigned long long)slot,
		   (unsigned long long)(start_ns / NSEC_PER_SEC), (unsigned long long)(start_ns % NSEC_PER_SEC),
		   (unsigned long long)(end_ns / NSEC_PER_SEC), (unsigned long long)(end_ns % NSEC_PER_SEC));
}

/* A finished model of that text, which is freed. */
static inline void model_of(struct model *m, struct buf *text)
{
	model_init(m);
	assert_false(text->failed);
	assert_int_equal(model_load_text(m, text->p, text->n), 0);
	assert_int_equal(model_finish(m), 0);
	buf_free(text);
}

/* A finished and joined model of the files of one case; "" leaves one out. */
static inline void model_of_case(struct model *m, const char *sem, const char *ebpf)
{
	const struct join_options o = {};
	char path[256];

	model_init(m);
	if (*sem) {
		snprintf(path, sizeof(path), CASES "%s", sem);
		assert_int_equal(model_load(m, path), 0);
	}
	if (*ebpf) {
		snprintf(path, sizeof(path), CASES "%s", ebpf);
		assert_int_equal(model_load(m, path), 0);
	}
	assert_int_equal(model_finish(m), 0);
	assert_int_equal(model_join(m, &o), 0);
}

static inline u32 count_flag(const struct model *m, u32 flag)
{
	u32 n = 0, i;

	for (i = 0; i < m->cmd.n; i++)
		n += (m->cmd.flags[i] & flag) != 0;
	return n;
}

static inline u32 count_paired(const struct model *m)
{
	u32 n = 0, i;

	for (i = 0; i < m->cmd.n; i++)
		n += m->cmd.lat_ns[i] != NO_LAT;
	return n;
}

/* Bytes of all commands, first attempts left out. */
static inline u64 count_bytes(const struct model *m)
{
	u64 n = 0;
	u32 i;

	for (i = 0; i < m->cmd.n; i++)
		if (!(m->cmd.flags[i] & CMD_REISSUED))
			n += m->cmd.bytes[i];
	return n;
}

#endif
