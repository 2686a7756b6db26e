/* SPDX-License-Identifier: Apache-2.0 */
/* All that a reader says of a line, as text to compare. */
#ifndef KVIO_TEST_RECORD_TEXT_H
#define KVIO_TEST_RECORD_TEXT_H

#include "capture/jsonl_read.h"

static inline void put_slice(struct buf *b, const char *name, struct slice s)
{
	buf_printf(b, " %s=%zu:", name, s.n);
	buf_add(b, s.p, s.n);
}

#define PUT_NUMBER(m) buf_printf(b, " " #m "=%llu", (unsigned long long)r->m)
#define PUT_SLICE(m)  put_slice(b, #m, r->m)

static inline void put_cmd_text(struct buf *b, const struct jsonl_cmd *r)
{
	PUT_NUMBER(ts_ns), PUT_NUMBER(user_data), PUT_NUMBER(slba), PUT_NUMBER(age_ns), PUT_NUMBER(has);
	PUT_NUMBER(bytes), PUT_NUMBER(nlb), PUT_NUMBER(nsid), PUT_NUMBER(dev), PUT_NUMBER(rdev), PUT_NUMBER(pid);
	PUT_NUMBER(tid), PUT_NUMBER(wait_ns), PUT_NUMBER(cmd_op), PUT_NUMBER(key_len), PUT_NUMBER(value_len);
	PUT_NUMBER(status), PUT_NUMBER(hwq), PUT_NUMBER(cid), PUT_NUMBER(opcode), PUT_NUMBER(attempts);
	PUT_NUMBER(multipath), PUT_NUMBER(refused), PUT_NUMBER(in_flight);
	PUT_SLICE(op_name), PUT_SLICE(comm), PUT_SLICE(disk), PUT_SLICE(key_hex);
}

static inline void put_cmp_text(struct buf *b, const struct jsonl_cmp *r)
{
	PUT_NUMBER(ts_ns), PUT_NUMBER(user_data), PUT_NUMBER(lat_ns), PUT_NUMBER(has), PUT_NUMBER(dev);
	PUT_NUMBER(status), PUT_NUMBER(hwq), PUT_NUMBER(cid), PUT_SLICE(disk);
}

static inline void put_op_text(struct buf *b, const struct jsonl_op *r)
{
	PUT_NUMBER(trace_id), PUT_NUMBER(start_ns), PUT_NUMBER(end_ns), PUT_NUMBER(bytes), PUT_NUMBER(slot_offset);
	PUT_NUMBER(pid), PUT_NUMBER(has_start), PUT_NUMBER(has_slot), PUT_NUMBER(has_pid);
	PUT_SLICE(op), PUT_SLICE(key), PUT_SLICE(key_hex), PUT_SLICE(part), PUT_SLICE(error), PUT_SLICE(instance);
}

static inline void put_span_text(struct buf *b, const struct jsonl_span *r)
{
	PUT_NUMBER(start_ns), PUT_NUMBER(end_ns), PUT_NUMBER(tokens);
	PUT_SLICE(op), PUT_SLICE(name), PUT_SLICE(request_id);
}

static inline void put_loss_text(struct buf *b, const struct jsonl_loss *r)
{
	PUT_NUMBER(seen), PUT_NUMBER(stored), PUT_NUMBER(ring_full), PUT_NUMBER(map_full), PUT_NUMBER(hook_missed);
	PUT_NUMBER(filtered), PUT_NUMBER(in_flight), PUT_NUMBER(complete);
}

static inline void put_meta_text(struct buf *b, const struct jsonl_kvio_meta *r)
{
	PUT_NUMBER(kvio_schema), PUT_NUMBER(block_align), PUT_NUMBER(header_bytes), PUT_NUMBER(max_data_transfer_size);
	PUT_NUMBER(slot_bytes), PUT_NUMBER(capacity_bytes);
	PUT_SLICE(hostname), PUT_SLICE(device_path), PUT_SLICE(io_engine);
}

static inline void put_record_text(struct buf *b, const struct jsonl_rec *rec)
{
	buf_printf(b, "kind=%u", rec->kind);
	switch (rec->kind) {
	case JSONL_NVME_CMD:
		put_cmd_text(b, &rec->cmd);
		break;
	case JSONL_NVME_CMP:
		put_cmp_text(b, &rec->cmp);
		break;
	case JSONL_SEMANTIC:
		put_op_text(b, &rec->op);
		break;
	case JSONL_SERVING:
		put_span_text(b, &rec->span);
		break;
	case JSONL_DROPS:
	case JSONL_LOSS:
	case JSONL_FOOTER:
		put_loss_text(b, &rec->loss);
		break;
	case JSONL_KVIO_META:
		put_meta_text(b, &rec->kvio_meta);
		break;
	case JSONL_CQ_OVERFLOW:
		buf_printf(b, " ts_ns=%llu user_data=%llu res=%d", (unsigned long long)rec->overflow.ts_ns,
			   (unsigned long long)rec->overflow.user_data, rec->overflow.res);
		break;
	case JSONL_CLOCK_ANCHOR:
		buf_printf(b, " monotonic=%llu realtime=%llu uncertainty=%u",
			   (unsigned long long)rec->anchor.monotonic_ns, (unsigned long long)rec->anchor.realtime_ns,
			   rec->anchor.uncertainty_ns);
		break;
	default:
		break;
	}
	buf_byte(b, '\0');
}

/*
 * Reads all whole lines of the n bytes at p, of which JSONL_SLACK more can be
 * read: predicted where `predict` is set, else each by its grammar.  Appends
 * what was read, or the error, line by line; returns how many were predicted.
 */
static inline u64 put_lines_text(struct buf *b, const char *p, size_t n, bool predict)
{
	struct jsonl_reader *r = jsonl_reader_new();
	const char *end = p + n;
	const struct jsonl_rec *known;
	struct jsonl_rec rec;
	struct slice line;
	u64 hits = 0;

	for (;;) {
		if (predict && jsonl_predict(r, &p, end, &known)) {
			hits++;
			put_record_text(b, known);
		} else if (ndjson_line(&p, end, &line)) {
			int ret = jsonl_read(r, line.p, line.n, &rec);

			if (ret)
				buf_printf(b, "error %d%c", ret, 0);
			else
				put_record_text(b, &rec);
		} else {
			break;
		}
		buf_byte(b, '\n');
	}
	jsonl_reader_free(r);
	return hits;
}

#endif
