// SPDX-License-Identifier: Apache-2.0
#include "capture/jsonl_read.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>

/* Every member that is looked at, by its name. */
/* clang-format off */
#define MEMBERS(X) \
	X(event_type) X(ts) X(user_data) X(pid) X(tid) X(nvme_opcode) X(op_name) X(nsid) X(slba) X(nlb) X(bytes) \
	X(data_len) X(multipath) X(cmd_op) X(rdev) X(comm) X(disk) X(dev) X(hwq) X(cid) X(attempts) X(wait_ns) \
	X(refused) X(in_flight) X(age_ns) X(key_hex) X(key_len) X(value_len) X(err) X(status) X(lat_ns) X(res) \
	X(monotonic_ns) X(realtime_ns) X(uncertainty_ns) X(dropped) X(seen) X(stored) X(ring_full) X(map_full) \
	X(hook_missed) X(filtered) X(complete) X(trace_id) X(op) X(key) X(part) X(slot_offset) X(ts_start) X(error) \
	X(instance) X(kvio_schema) X(hostname) X(device_path) X(io_engine) X(block_align) X(header_bytes) \
	X(max_data_transfer_size) X(mdts_bytes) X(slot_bytes) X(capacity_bytes)
#define MEMBER_ENUM(name) M_##name,
#define MEMBER_NAME(name) #name,
/* clang-format on */

enum member { MEMBERS(MEMBER_ENUM) N_MEMBERS };
_Static_assert(N_MEMBERS <= 64, "one bit each in `have`");

static const char *const member_name[] = { MEMBERS(MEMBER_NAME) };

#define SLOTS 256u

struct jsonl_reader {
	u64 have; /* members of this line, a bit each */
	int err;  /* the first thing wrong with them */
	struct ndjson_field f[N_MEMBERS];
	const char *line;
	size_t line_len;
	struct buf text; /* strings that had escapes */
	/* Members by hash of their first bytes and length: index + 1, open addressing. */
	u8 slot[SLOTS];
	u64 head[N_MEMBERS]; /* first eight bytes of the name */
	u8 len[N_MEMBERS];
};

static inline u32 slot_of(u64 head, u32 len)
{
	return (u32)((head + len) * 0x9e3779b97f4a7c15ull >> 56);
}

/* The first eight bytes, zero behind the end.  `room` bytes may be read. */
static inline u64 head_of(const char *p, u32 len, size_t room)
{
	u64 w = 0;

	if (room < 8) {
		memcpy(&w, p, MIN(len, 8u));
		return w;
	}
	memcpy(&w, p, 8);
	return len >= 8 ? w : htole64(le64toh(w) & ((1ull << 8 * len) - 1));
}

struct jsonl_reader *jsonl_reader_new(void)
{
	struct jsonl_reader *r = calloc(1, sizeof(*r));
	u32 i, at;

	if (!r)
		return NULL;
	for (i = 0; i < N_MEMBERS; i++) {
		r->len[i] = (u8)strlen(member_name[i]);
		r->head[i] = head_of(member_name[i], r->len[i], 0);
		for (at = slot_of(r->head[i], r->len[i]); r->slot[at]; at = (at + 1) % SLOTS)
			;
		r->slot[at] = (u8)(i + 1);
	}
	return r;
}

void jsonl_reader_free(struct jsonl_reader *r)
{
	if (!r)
		return;
	buf_free(&r->text);
	free(r);
}

/* The member called so, or N_MEMBERS. */
static inline u32 find_member(const struct jsonl_reader *r, const char *p, u32 len, size_t room)
{
	u64 head = head_of(p, len, room);
	u32 at = slot_of(head, len), i;

	for (; r->slot[at]; at = (at + 1) % SLOTS) {
		i = r->slot[at] - 1u;
		if (r->head[i] == head && r->len[i] == len && (len <= 8 || !memcmp(p + 8, member_name[i] + 8, len - 8)))
			return i;
	}
	return N_MEMBERS;
}

/* Unescaped text is never longer than the line, so one growth serves all of its strings. */
static int unescape(struct jsonl_reader *r, const char *p, size_t n, struct slice *out)
{
	size_t at = r->text.n;

	if (!buf_room(&r->text, r->line_len))
		return -ENOMEM;
	ndjson_unescape(&r->text, p, n);
	*out = (struct slice){ r->text.p + at, r->text.n - at };
	return 0;
}

static int find_escaped(struct jsonl_reader *r, const struct ndjson_field *f, u32 *member)
{
	struct slice key;
	int ret = unescape(r, f->key, f->key_len, &key);

	if (!ret)
		*member = find_member(r, key.p, (u32)key.n, 0);
	buf_reset(&r->text);
	return ret;
}

/* Gathers the members of the line that are known. */
static int scan(struct jsonl_reader *r)
{
	const char *end = r->line + r->line_len;
	struct ndjson_field f;
	struct ndjson s;
	u32 m;
	int ret = ndjson_start(&s, r->line, r->line_len);

	if (ret)
		return ret;
	r->have = 0;
	while ((ret = ndjson_next(&s, &f)) > 0) {
		if (f.flags & ND_KEY_ESCAPED) {
			ret = find_escaped(r, &f, &m);
			if (ret)
				return ret;
		} else {
			m = find_member(r, f.key, f.key_len, (size_t)(end - f.key));
		}
		if (m == N_MEMBERS)
			continue;
		r->f[m] = f;
		if (f.type == ND_NULL)
			r->have &= ~(1ull << m);
		else
			r->have |= 1ull << m;
	}
	return ret;
}

static inline bool have(const struct jsonl_reader *r, enum member m)
{
	return r->have >> m & 1;
}

/* Keeps the first error, so that a record is read in one go and checked once. */
static void fail(struct jsonl_reader *r, int err)
{
	if (err && !r->err)
		r->err = err;
}

/* Values of members: 0 or empty when absent or wrong. */
static inline u64 num_max(struct jsonl_reader *r, enum member m, u64 max)
{
	u64 v = 0;

	if (!have(r, m))
		return 0;
	fail(r, ndjson_u64(&r->f[m], &v));
	if (v <= max)
		return v;
	fail(r, -ERANGE);
	return 0;
}

static inline u64 num(struct jsonl_reader *r, enum member m)
{
	return num_max(r, m, UINT64_MAX);
}

static inline u32 num32(struct jsonl_reader *r, enum member m)
{
	return (u32)num_max(r, m, UINT32_MAX);
}

static inline u16 num16(struct jsonl_reader *r, enum member m)
{
	return (u16)num_max(r, m, UINT16_MAX);
}

static inline s64 num_signed(struct jsonl_reader *r, enum member m, s64 min, s64 max)
{
	s64 v = 0;

	if (have(r, m))
		fail(r, ndjson_s64(&r->f[m], &v));
	if (v < min || v > max)
		fail(r, -ERANGE);
	return v;
}

static u64 seconds(struct jsonl_reader *r, enum member m)
{
	u64 v = 0;

	if (have(r, m))
		fail(r, ndjson_ns(&r->f[m], &v));
	return v;
}

static inline bool truth(struct jsonl_reader *r, enum member m)
{
	bool v = false;

	if (have(r, m))
		fail(r, ndjson_bool(&r->f[m], &v));
	return v;
}

/* A string; anything else as it is written. */
static inline struct slice text(struct jsonl_reader *r, enum member m)
{
	const struct ndjson_field *f = &r->f[m];
	struct slice s = {};

	if (!have(r, m))
		return s;
	s = (struct slice){ f->text, f->text_len };
	if (f->flags & ND_ESCAPED)
		fail(r, unescape(r, f->text, f->text_len, &s));
	return s;
}

#define BIT(name) (1ull << M_##name)
static void need(struct jsonl_reader *r, u64 members)
{
	if ((r->have & members) != members)
		fail(r, -ENODATA);
}

static u32 has_bit(const struct jsonl_reader *r, enum member m, u32 bit)
{
	return have(r, m) ? bit : 0;
}

/* ---- kinds ---- */

/* What tells a command from others: the same members in both of its lines. */
static u32 has_identity(const struct jsonl_reader *r)
{
	return has_bit(r, M_user_data, HAS_USER_DATA) | has_bit(r, M_disk, HAS_DISK) | has_bit(r, M_dev, HAS_DEV) |
	       (have(r, M_hwq) ? has_bit(r, M_cid, HAS_QUEUE) : 0);
}

/* A tag of -1 (none was given out) is written by older tracers. */
static inline u16 tag(struct jsonl_reader *r)
{
	return (u16)num_signed(r, M_cid, -1, UINT16_MAX);
}

/* data_len is what the command moves; bytes follows from nlb and a typed LBA size. */
static inline u32 data_bytes(struct jsonl_reader *r)
{
	u64 v = num(r, have(r, M_data_len) ? M_data_len : M_bytes);

	return (u32)MIN(v, (u64)UINT32_MAX);
}

static void get_cmd(struct jsonl_reader *r, struct jsonl_cmd *c)
{
	need(r, BIT(ts));
	*c = (struct jsonl_cmd){
		.ts_ns = num(r, M_ts),
		.user_data = num(r, M_user_data),
		.slba = num(r, M_slba),
		.age_ns = num(r, M_age_ns),
		.has = has_identity(r) | has_bit(r, M_slba, HAS_SLBA) | has_bit(r, M_data_len, HAS_DATA_LEN) |
		       has_bit(r, M_key_hex, HAS_KEY) | has_bit(r, M_wait_ns, HAS_WAIT) |
		       has_bit(r, M_status, HAS_STATUS),
		.bytes = data_bytes(r),
		.nlb = num32(r, M_nlb),
		.nsid = num32(r, M_nsid),
		.dev = num32(r, M_dev),
		.rdev = num32(r, M_rdev),
		.pid = num32(r, M_pid),
		.tid = num32(r, M_tid),
		.wait_ns = num32(r, M_wait_ns),
		.cmd_op = num32(r, M_cmd_op),
		.key_len = num32(r, M_key_len),
		.value_len = num32(r, M_value_len),
		.status = num16(r, M_status),
		.hwq = num16(r, M_hwq),
		.cid = tag(r),
		.opcode = (u8)num_max(r, M_nvme_opcode, UINT8_MAX),
		.attempts = have(r, M_attempts) ? (u8)num_max(r, M_attempts, UINT8_MAX) : 1,
		.multipath = truth(r, M_multipath),
		.refused = truth(r, M_refused),
		.in_flight = truth(r, M_in_flight),
		.op_name = text(r, M_op_name),
		.comm = text(r, M_comm),
		.disk = text(r, M_disk),
		.key_hex = text(r, M_key_hex),
	};
}

/* Signed, or the wrapped difference of a tracer whose clock ran backwards. */
static s64 latency(struct jsonl_reader *r)
{
	const struct ndjson_field *f = &r->f[M_lat_ns];
	u64 v = 0;

	if (!have(r, M_lat_ns))
		return 0;
	if (f->flags & ND_NEGATIVE)
		return num_signed(r, M_lat_ns, INT64_MIN, INT64_MAX);
	fail(r, ndjson_u64(f, &v));
	return (s64)v;
}

static void get_cmp(struct jsonl_reader *r, struct jsonl_cmp *c)
{
	need(r, BIT(ts));
	*c = (struct jsonl_cmp){
		.ts_ns = num(r, M_ts),
		.user_data = num(r, M_user_data),
		.lat_ns = latency(r),
		.has = has_identity(r) | has_bit(r, M_lat_ns, HAS_LAT) | has_bit(r, M_status, HAS_STATUS),
		.dev = num32(r, M_dev),
		.status = num16(r, have(r, M_status) ? M_status : M_err),
		.hwq = num16(r, M_hwq),
		.cid = tag(r),
		.disk = text(r, M_disk),
	};
}

static void get_overflow(struct jsonl_reader *r, struct jsonl_overflow *o)
{
	need(r, BIT(ts));
	*o = (struct jsonl_overflow){
		.ts_ns = num(r, M_ts),
		.user_data = num(r, M_user_data),
		.res = (s32)num_signed(r, M_res, INT32_MIN, INT32_MAX),
	};
}

static void get_anchor(struct jsonl_reader *r, struct jsonl_anchor *a)
{
	need(r, BIT(monotonic_ns) | BIT(realtime_ns));
	*a = (struct jsonl_anchor){
		.monotonic_ns = num(r, M_monotonic_ns),
		.realtime_ns = num(r, M_realtime_ns),
		.uncertainty_ns = num32(r, M_uncertainty_ns),
	};
}

static void get_drops(struct jsonl_reader *r, struct jsonl_loss *l)
{
	need(r, BIT(dropped));
	*l = (struct jsonl_loss){ .ring_full = num(r, M_dropped), .complete = true };
}

static void get_loss(struct jsonl_reader *r, struct jsonl_loss *l)
{
	*l = (struct jsonl_loss){
		.seen = num(r, M_seen),
		.stored = num(r, M_stored),
		.ring_full = num(r, M_ring_full),
		.map_full = num(r, M_map_full),
		.hook_missed = num(r, M_hook_missed),
		.filtered = num(r, M_filtered),
		.in_flight = num(r, M_in_flight),
		.complete = truth(r, M_complete),
	};
}

static void get_kvio_meta(struct jsonl_reader *r, struct jsonl_kvio_meta *k)
{
	*k = (struct jsonl_kvio_meta){
		.kvio_schema = num(r, M_kvio_schema),
		.block_align = num(r, M_block_align),
		.header_bytes = num(r, M_header_bytes),
		.max_data_transfer_size =
			num(r, have(r, M_max_data_transfer_size) ? M_max_data_transfer_size : M_mdts_bytes),
		.slot_bytes = num(r, M_slot_bytes),
		.capacity_bytes = num(r, M_capacity_bytes),
		.hostname = text(r, M_hostname),
		.device_path = text(r, M_device_path),
		.io_engine = text(r, M_io_engine),
	};
}

static void get_op(struct jsonl_reader *r, struct jsonl_op *o)
{
	need(r, BIT(ts));
	*o = (struct jsonl_op){
		.trace_id = num(r, M_trace_id),
		.start_ns = seconds(r, have(r, M_ts_start) ? M_ts_start : M_ts),
		.end_ns = seconds(r, M_ts),
		.bytes = num(r, M_bytes),
		.slot_offset = num(r, M_slot_offset),
		.pid = num32(r, M_pid),
		.has_start = have(r, M_ts_start),
		.has_slot = have(r, M_slot_offset),
		.has_pid = have(r, M_pid),
		.op = text(r, M_op),
		.key = text(r, M_key),
		.key_hex = text(r, M_key_hex),
		.part = text(r, M_part),
		.error = text(r, M_error),
		.instance = text(r, M_instance),
	};
}

/* What kind of record the line is. */
static enum jsonl_kind classify(struct jsonl_reader *r)
{
	static const struct {
		const char *event_type;
		enum jsonl_kind kind;
	} kinds[] = {
		{ "nvme_cmd", JSONL_NVME_CMD },
		{ "nvme_cmp", JSONL_NVME_CMP },
		{ "cq_overflow", JSONL_CQ_OVERFLOW },
		{ "clock_anchor", JSONL_CLOCK_ANCHOR },
		{ "drops", JSONL_DROPS },
		{ "loss", JSONL_LOSS },
		{ "footer", JSONL_FOOTER },
		{ "capture_meta", JSONL_CAPTURE_META },
		{ "kvio_meta", JSONL_KVIO_META },
		{ "meta", JSONL_KVIO_META },
	};
	struct slice type = text(r, M_event_type);
	size_t i;

	if (!have(r, M_event_type)) {
		if (have(r, M_op) && have(r, M_trace_id))
			return JSONL_SEMANTIC;
		return have(r, M_ts_start) && have(r, M_ts) ? JSONL_SERVING : JSONL_UNKNOWN;
	}
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (slice_is(type, kinds[i].event_type))
			return kinds[i].kind;
	return JSONL_UNKNOWN;
}

int jsonl_read(struct jsonl_reader *r, const char *line, size_t n, struct jsonl_rec *rec)
{
	int ret;

	r->line = line;
	r->line_len = n;
	r->err = 0;
	buf_reset(&r->text);
	ret = scan(r);
	if (ret)
		return ret;
	rec->kind = classify(r);
	switch (rec->kind) {
	case JSONL_NVME_CMD:
		get_cmd(r, &rec->cmd);
		break;
	case JSONL_NVME_CMP:
		get_cmp(r, &rec->cmp);
		break;
	case JSONL_CQ_OVERFLOW:
		get_overflow(r, &rec->overflow);
		break;
	case JSONL_CLOCK_ANCHOR:
		get_anchor(r, &rec->anchor);
		break;
	case JSONL_DROPS:
		get_drops(r, &rec->loss);
		break;
	case JSONL_LOSS:
	case JSONL_FOOTER:
		get_loss(r, &rec->loss);
		break;
	case JSONL_KVIO_META:
		get_kvio_meta(r, &rec->kvio_meta);
		break;
	case JSONL_SEMANTIC:
		get_op(r, &rec->op);
		break;
	default:
		break;
	}
	return r->err;
}
