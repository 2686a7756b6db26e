/* SPDX-License-Identifier: Apache-2.0 */
/* Captures made of lines, joined and measured.  Included behind cmocka.h. */
#ifndef KVIO_TEST_MEASURE_TEXT_H
#define KVIO_TEST_MEASURE_TEXT_H

#include <string.h>

#include "lib/buf.h"
#include "model/measure.h"

/* Times of commands and operations are nanoseconds from here. */
#define US 1000ull
#define MS 1000000ull
#define T0 (1000 * MS)

static inline void cmd(struct buf *b, u64 ts, u64 tag, u32 n, const char *op, u64 slba)
{
	buf_printf(b,
		   "{\"event_type\":\"nvme_cmd\",\"user_data\":%llu,\"nvme_opcode\":%d,\"op_name\":\"%s\",\"nsid\":1,"
		   "\"slba\":%llu,\"nlb\":32,\"bytes\":131072,\"data_len\":131072,\"ts\":%llu}\n",
		   (unsigned long long)(tag << 32 | n), strcmp(op, "read") ? 1 : 2, op, (unsigned long long)slba,
		   (unsigned long long)(T0 + ts));
}

/* The same by a thread, with its completion. */
static inline void io_of(struct buf *b, u32 tid, u64 ts, u64 lat, u64 tag, u32 n, const char *op, u64 slba)
{
	buf_printf(
		b,
		"{\"event_type\":\"nvme_cmd\",\"pid\":1,\"tid\":%u,\"comm\":\"w\",\"user_data\":%llu,\"nvme_opcode\":%d,"
		"\"op_name\":\"%s\",\"nsid\":1,\"slba\":%llu,\"nlb\":32,\"bytes\":131072,\"data_len\":131072,\"ts\":%llu}\n"
		"{\"event_type\":\"nvme_cmp\",\"user_data\":%llu,\"err\":0,\"lat_ns\":%llu,\"ts\":%llu}\n",
		tid, (unsigned long long)(tag << 32 | n), strcmp(op, "read") ? 1 : 2, op, (unsigned long long)slba,
		(unsigned long long)(T0 + ts), (unsigned long long)(tag << 32 | n), (unsigned long long)lat,
		(unsigned long long)(T0 + ts + lat));
}

/* What a request of the serving engine took. */
static inline void serving(struct buf *b, const char *name, const char *id, u64 start, u64 end)
{
	buf_printf(b, "{\"op\":\"%s\",\"request_id\":\"%s\",\"ts_start\":%llu.%09llu,\"ts\":%llu.%09llu}\n", name, id,
		   (unsigned long long)((T0 + start) / NSEC_PER_SEC), (unsigned long long)((T0 + start) % NSEC_PER_SEC),
		   (unsigned long long)((T0 + end) / NSEC_PER_SEC), (unsigned long long)((T0 + end) % NSEC_PER_SEC));
}

static inline void cmp(struct buf *b, u64 ts, u64 lat, u64 tag, u32 n, int err)
{
	buf_printf(b, "{\"event_type\":\"nvme_cmp\",\"user_data\":%llu,\"err\":%d,\"lat_ns\":%llu,\"ts\":%llu}\n",
		   (unsigned long long)(tag << 32 | n), err, (unsigned long long)lat,
		   (unsigned long long)(T0 + ts + lat));
}

static inline void io(struct buf *b, u64 ts, u64 lat, u64 tag, u32 n, const char *op, u64 slba)
{
	cmd(b, ts, tag, n, op, slba);
	cmp(b, ts, lat, tag, n, 0);
}

static inline void op(struct buf *b, u64 id, const char *name, const char *key, u64 bytes, u64 start, u64 end,
		      const char *error)
{
	buf_printf(
		b,
		"{\"trace_id\":%llu,\"op\":\"%s\",\"key\":\"%s\",\"bytes\":%llu,\"slot_offset\":0,\"ts_start\":%llu.%09llu,"
		"\"ts\":%llu.%09llu%s%s%s}\n",
		(unsigned long long)id, name, key, (unsigned long long)bytes,
		(unsigned long long)((T0 + start) / NSEC_PER_SEC), (unsigned long long)((T0 + start) % NSEC_PER_SEC),
		(unsigned long long)((T0 + end) / NSEC_PER_SEC), (unsigned long long)((T0 + end) % NSEC_PER_SEC),
		error ? ",\"error\":\"" : "", error ? error : "", error ? "\"" : "");
}

static inline void load(struct model *m, struct buf *b)
{
	struct join_options o = {};

	model_init(m);
	assert_false(b->failed);
	assert_int_equal(model_load_text(m, b->p, b->n), 0);
	assert_int_equal(model_finish(m), 0);
	assert_int_equal(model_join(m, &o), 0);
	buf_free(b);
}

static inline void take(struct model *m, struct buf *b, struct measure *x)
{
	buf_lit(b, "{\"event_type\":\"drops\",\"dropped\":0}\n");
	load(m, b);
	assert_int_equal(measure_take(x, m, NULL), 0);
}

static inline void done(struct model *m, struct measure *x)
{
	measure_free(x);
	model_free(m);
}

#endif
