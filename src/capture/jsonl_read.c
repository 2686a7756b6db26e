// SPDX-License-Identifier: Apache-2.0
/* Any line into a record, by its grammar; jsonl_shape.c reads those that repeat. */
#include <errno.h>
#include <stdlib.h>

#include "capture/jsonl_fields.h"

#define MEMBER_NAME(name) #name,
static const char *const member_name[] = { MEMBERS(MEMBER_NAME) };

static inline u32 slot_of(u64 head, u32 len)
{
	return (u32)((head + len) * 0x9e3779b97f4a7c15ull >> 54);
}

/* The first eight bytes, zero behind the end.  `room` bytes may be read. */
static inline u64 head_of(const char *p, u32 len, size_t room)
{
	u64 w = 0;

	if (room < 8) {
		memcpy(&w, p, MIN(len, 8u));
		return le64toh(w);
	}
	w = load8(p);
	return len >= 8 ? w : w & ((1ull << 8 * len) - 1);
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
		for (at = slot_of(r->head[i], r->len[i]); r->slot[at]; at = (at + 1) % ARRAY_SIZE(r->slot))
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

static inline u32 find_member(const struct jsonl_reader *r, const char *p, u32 len, size_t room)
{
	u64 head = head_of(p, len, room);
	u32 at = slot_of(head, len), i;

	for (; r->slot[at]; at = (at + 1) % ARRAY_SIZE(r->slot)) {
		i = r->slot[at] - 1u;
		if (r->head[i] == head && r->len[i] == len && (len <= 8 || !memcmp(p + 8, member_name[i] + 8, len - 8)))
			return i;
	}
	return N_MEMBERS;
}

u32 jsonl_member(const struct jsonl_reader *r, const char *p, u32 len, size_t room)
{
	return find_member(r, p, len, room);
}

/*
 * Unescaped text is never longer than the line, and only the type is put twice:
 * one growth serves all of its strings, which a later one would move.
 */
static int unescape(struct jsonl_reader *r, const char *p, size_t n, struct slice *out)
{
	size_t at = r->text.n;

	if (!buf_room(&r->text, 2 * r->line_len - at))
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

/* Keeps the last field that was scanned, which is member m. */
static void keep_member(struct jsonl_reader *r, u32 m)
{
	struct ndjson_field *f = &r->field[r->n_fields];
	u64 bit = 1ull << m % 64;
	u32 part = m / 64;

	if (r->seen[part] & bit) {
		r->regular = false;
		r->field[r->at[m]] = *f;
	} else {
		r->at[m] = (u8)r->n_fields++;
	}
	r->seen[part] |= bit;
	r->null[part] = f->type == ND_NULL ? r->null[part] | bit : r->null[part] & ~bit;
}

/* Gathers the fields of the line. */
static int scan(struct jsonl_reader *r)
{
	const char *end = r->line + r->line_len;
	struct ndjson s;
	u32 m, n_others = 0;
	int ret = ndjson_start(&s, r->line, r->line_len);

	memset(r->seen, 0, sizeof(r->seen));
	memset(r->null, 0, sizeof(r->null));
	r->n_fields = 0;
	r->regular = true;
	while (!ret) {
		struct ndjson_field *f = &r->field[r->n_fields];

		ret = ndjson_next(&s, f);
		if (ret <= 0)
			break;
		ret = 0;
		r->regular &= !(f->flags & (ND_KEY_ESCAPED | ND_ESCAPED));
		if (f->flags & ND_KEY_ESCAPED)
			ret = find_escaped(r, f, &m);
		else
			m = find_member(r, f->key, f->key_len, (size_t)(end - f->key));
		if (ret)
			break;
		if (m < N_MEMBERS)
			keep_member(r, m);
		else if (n_others < SHAPE_FIELDS)
			n_others++, r->n_fields++;
	}
	r->have = (r->seen[0] & ~r->null[0]) | (member_set)(r->seen[1] & ~r->null[1]) << 64;
	return ret;
}

static inline bool have(const struct jsonl_reader *r, enum member m)
{
	return r->have >> m & 1;
}

/* ---- values ---- */

static int put_signed(char *at, u8 put, const struct ndjson_field *f)
{
	s64 v;
	int ret = ndjson_s64(f, &v);

	if (ret)
		return ret;
	if (put == PUT_S32 ? v < INT32_MIN || v > INT32_MAX : v < -1 || v > UINT16_MAX)
		return -ERANGE;
	if (put == PUT_S32)
		*(s32 *)(void *)at = (s32)v;
	else
		*(u16 *)(void *)at = (u16)v;
	return 0;
}

static int put_unsigned(char *at, u8 put, const struct ndjson_field *f)
{
	u64 v = f->num;
	int ret = f->flags == ND_INTEGER ? 0 : ndjson_u64(f, &v);

	if (ret)
		return ret;
	switch (put) {
	case PUT_U8:
		*(u8 *)at = (u8)v;
		return v > UINT8_MAX ? -ERANGE : 0;
	case PUT_U16:
		*(u16 *)(void *)at = (u16)v;
		return v > UINT16_MAX ? -ERANGE : 0;
	case PUT_U32:
		*(u32 *)(void *)at = (u32)v;
		return v > UINT32_MAX ? -ERANGE : 0;
	case PUT_SATURATED:
		*(u32 *)(void *)at = (u32)MIN(v, (u64)UINT32_MAX);
		return 0;
	default:
		*(u64 *)(void *)at = v;
		return 0;
	}
}

int jsonl_put(struct jsonl_reader *r, struct jsonl_rec *rec, struct place to, const struct ndjson_field *f)
{
	char *at = (char *)rec + to.at;
	u64 v;

	switch (to.put) {
	case PUT_NOWHERE:
		return 0;
	case PUT_TEXT:
		*(struct slice *)(void *)at = (struct slice){ f->text, f->text_len };
		return f->flags & ND_ESCAPED ? unescape(r, f->text, f->text_len, (struct slice *)(void *)at) : 0;
	case PUT_SECONDS:
		return ndjson_ns(f, (u64 *)(void *)at);
	case PUT_TRUTH:
		return ndjson_bool(f, (bool *)at);
	case PUT_COUNT:
		*(u64 *)(void *)at = ndjson_u64(f, &v) ? UINT64_MAX : v;
		return 0;
	case PUT_S32:
	case PUT_TAG:
		return put_signed(at, to.put, f);
	case PUT_LATENCY:
		return f->flags & ND_NEGATIVE ? ndjson_s64(f, (s64 *)(void *)at) : put_unsigned(at, to.put, f);
	default:
		return put_unsigned(at, to.put, f);
	}
}

/* ---- kinds ---- */

#define AT(member, how)                                       \
	{                                                     \
		offsetof(struct jsonl_rec, member), PUT_##how \
	}

static const struct place cmd_places[N_MEMBERS] = {
	[M_ts] = AT(cmd.ts_ns, U64),
	[M_user_data] = AT(cmd.user_data, U64),
	[M_slba] = AT(cmd.slba, U64),
	[M_age_ns] = AT(cmd.age_ns, U64),
	/* data_len is what the command moves; bytes follows from nlb and a typed LBA size. */
	[M_data_len] = AT(cmd.bytes, SATURATED),
	[M_bytes] = AT(cmd.bytes, SATURATED),
	[M_nlb] = AT(cmd.nlb, U32),
	[M_nsid] = AT(cmd.nsid, U32),
	[M_dev] = AT(cmd.dev, U32),
	[M_rdev] = AT(cmd.rdev, U32),
	[M_pid] = AT(cmd.pid, U32),
	[M_tid] = AT(cmd.tid, U32),
	[M_wait_ns] = AT(cmd.wait_ns, U32),
	[M_cmd_op] = AT(cmd.cmd_op, U32),
	[M_key_len] = AT(cmd.key_len, U32),
	[M_value_len] = AT(cmd.value_len, U32),
	[M_status] = AT(cmd.status, U16),
	[M_hwq] = AT(cmd.hwq, U16),
	[M_cid] = AT(cmd.cid, TAG),
	[M_nvme_opcode] = AT(cmd.opcode, U8),
	[M_attempts] = AT(cmd.attempts, U8),
	[M_multipath] = AT(cmd.multipath, TRUTH),
	[M_refused] = AT(cmd.refused, TRUTH),
	[M_in_flight] = AT(cmd.in_flight, TRUTH),
	[M_op_name] = AT(cmd.op_name, TEXT),
	[M_comm] = AT(cmd.comm, TEXT),
	[M_disk] = AT(cmd.disk, TEXT),
	[M_key_hex] = AT(cmd.key_hex, TEXT),
};

static const struct place cmp_places[N_MEMBERS] = {
	[M_ts] = AT(cmp.ts_ns, U64),	      [M_user_data] = AT(cmp.user_data, U64),
	[M_lat_ns] = AT(cmp.lat_ns, LATENCY), [M_dev] = AT(cmp.dev, U32),
	[M_status] = AT(cmp.status, U16),     [M_err] = AT(cmp.status, U16), /* of tracers that have no status */
	[M_hwq] = AT(cmp.hwq, U16),	      [M_cid] = AT(cmp.cid, TAG),
	[M_disk] = AT(cmp.disk, TEXT),
};

static const struct place overflow_places[N_MEMBERS] = {
	[M_ts] = AT(overflow.ts_ns, U64),
	[M_user_data] = AT(overflow.user_data, U64),
	[M_res] = AT(overflow.res, S32),
};

static const struct place anchor_places[N_MEMBERS] = {
	[M_monotonic_ns] = AT(anchor.monotonic_ns, U64),
	[M_realtime_ns] = AT(anchor.realtime_ns, U64),
	[M_uncertainty_ns] = AT(anchor.uncertainty_ns, U32),
};

static const struct place drops_places[N_MEMBERS] = {
	[M_dropped] = AT(loss.ring_full, U64),
};

static const struct place loss_places[N_MEMBERS] = {
	[M_ts] = AT(loss.ts_ns, U64),
	[M_seen] = AT(loss.seen, U64),
	[M_stored] = AT(loss.stored, U64),
	[M_ring_full] = AT(loss.ring_full, U64),
	[M_map_full] = AT(loss.map_full, U64),
	[M_hook_missed] = AT(loss.hook_missed, U64),
	[M_unread] = AT(loss.unread, U64),
	[M_filtered] = AT(loss.filtered, U64),
	[M_in_flight] = AT(loss.in_flight, U64),
	[M_complete] = AT(loss.complete, TRUTH),
	[M_witness] = AT(loss.witness, TEXT),
};

static const struct place meta_places[N_MEMBERS] = {
	[M_kvio_schema] = AT(kvio_meta.kvio_schema, U64),
	[M_block_align] = AT(kvio_meta.block_align, U64),
	[M_header_bytes] = AT(kvio_meta.header_bytes, U64),
	[M_max_data_transfer_size] = AT(kvio_meta.max_data_transfer_size, U64),
	[M_mdts_bytes] = AT(kvio_meta.max_data_transfer_size, U64),
	[M_slot_bytes] = AT(kvio_meta.slot_bytes, U64),
	[M_capacity_bytes] = AT(kvio_meta.capacity_bytes, U64),
	[M_hostname] = AT(kvio_meta.hostname, TEXT),
	[M_device_path] = AT(kvio_meta.device_path, TEXT),
	[M_io_engine] = AT(kvio_meta.io_engine, TEXT),
};

static const struct place op_places[N_MEMBERS] = {
	[M_trace_id] = AT(op.trace_id, U64),
	[M_ts_start] = AT(op.start_ns, SECONDS),
	[M_ts] = AT(op.end_ns, SECONDS),
	[M_bytes] = AT(op.bytes, U64),
	[M_slot_offset] = AT(op.slot_offset, U64),
	[M_pid] = AT(op.pid, U32),
	[M_op] = AT(op.op, TEXT),
	[M_key] = AT(op.key, TEXT),
	[M_key_hex] = AT(op.key_hex, TEXT),
	[M_part] = AT(op.part, TEXT),
	[M_error] = AT(op.error, TEXT),
	[M_instance] = AT(op.instance, TEXT),
};

static const struct place span_places[N_MEMBERS] = {
	[M_ts_start] = AT(span.start_ns, SECONDS),
	[M_ts] = AT(span.end_ns, SECONDS),
	[M_op] = AT(span.op, TEXT),
	[M_name] = AT(span.name, TEXT),
	[M_tokens] = AT(span.tokens, COUNT),
	[M_request_id] = AT(span.request_id, TEXT),
};

static const struct {
	const struct place *places;
	member_set need;
} kinds[N_JSONL_KINDS] = {
	[JSONL_NVME_CMD] = { cmd_places, BIT(ts) },
	[JSONL_NVME_CMP] = { cmp_places, BIT(ts) },
	[JSONL_CQ_OVERFLOW] = { overflow_places, BIT(ts) },
	[JSONL_CLOCK_ANCHOR] = { anchor_places, BIT(monotonic_ns) | BIT(realtime_ns) },
	[JSONL_DROPS] = { drops_places, BIT(dropped) },
	[JSONL_LOSS] = { loss_places, 0 },
	[JSONL_FOOTER] = { loss_places, 0 },
	[JSONL_KVIO_META] = { meta_places, 0 },
	[JSONL_SEMANTIC] = { op_places, BIT(ts) },
	[JSONL_SERVING] = { span_places, 0 },
};

/* Members that stand back behind a better one. */
static member_set superseded(member_set members)
{
	return (members & BIT(data_len) ? BIT(bytes) : 0) | (members & BIT(status) ? BIT(err) : 0) |
	       (members & BIT(max_data_transfer_size) ? BIT(mdts_bytes) : 0);
}

struct place jsonl_place(enum jsonl_kind kind, member_set members, u32 member)
{
	if (!kinds[kind].places || member >= N_MEMBERS || superseded(members) >> member & 1)
		return (struct place){};
	return kinds[kind].places[member];
}

/* What kind of record the line is. */
static enum jsonl_kind classify(const struct jsonl_reader *r, struct slice event_type)
{
	static const struct {
		const char *event_type;
		enum jsonl_kind kind;
	} names[] = {
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
	size_t i;

	if (!have(r, M_event_type) && have(r, M_op) && have(r, M_trace_id))
		return JSONL_SEMANTIC;
	for (i = 0; have(r, M_event_type) && i < ARRAY_SIZE(names); i++)
		if (slice_is(event_type, names[i].event_type))
			return names[i].kind;
	return have(r, M_ts_start) && have(r, M_ts) ? JSONL_SERVING : JSONL_UNKNOWN;
}

static u32 has_bit(const struct jsonl_reader *r, enum member m, u32 bit)
{
	return have(r, m) ? bit : 0;
}

/* What tells a command from others: the same members in both of its lines. */
static u32 has_identity(const struct jsonl_reader *r)
{
	return has_bit(r, M_user_data, HAS_USER_DATA) | has_bit(r, M_disk, HAS_DISK) | has_bit(r, M_dev, HAS_DEV) |
	       (have(r, M_hwq) ? has_bit(r, M_cid, HAS_QUEUE) : 0) | has_bit(r, M_status, HAS_STATUS);
}

/* What a record says by the members it has, and the values of those it has not. */
static void note_presence(const struct jsonl_reader *r, struct jsonl_rec *rec)
{
	switch (rec->kind) {
	case JSONL_NVME_CMD:
		rec->cmd.has = has_identity(r) | has_bit(r, M_slba, HAS_SLBA) | has_bit(r, M_data_len, HAS_DATA_LEN) |
			       has_bit(r, M_key_hex, HAS_KEY) | has_bit(r, M_wait_ns, HAS_WAIT);
		rec->cmd.attempts = 1;
		break;
	case JSONL_NVME_CMP:
		rec->cmp.has = has_identity(r) | has_bit(r, M_lat_ns, HAS_LAT);
		break;
	case JSONL_DROPS:
		rec->loss.complete = true;
		break;
	case JSONL_SEMANTIC:
		rec->op.has_start = have(r, M_ts_start);
		rec->op.has_slot = have(r, M_slot_offset);
		rec->op.has_pid = have(r, M_pid);
		break;
	case JSONL_SERVING:
		rec->span.tokens = UINT64_MAX;
		break;
	default:
		break;
	}
}

/* Keeps the first error, so that a record is read in one go and checked once. */
static void fail(struct jsonl_reader *r, int err)
{
	if (err && !r->err)
		r->err = err;
}

static void fill(struct jsonl_reader *r, struct jsonl_rec *rec)
{
	const struct place *places = kinds[rec->kind].places;
	member_set members = r->have & ~superseded(r->have);
	u64 part[] = { (u64)members, (u64)(members >> 64) };
	u32 i, m;

	note_presence(r, rec);
	if ((r->have & kinds[rec->kind].need) != kinds[rec->kind].need)
		fail(r, -ENODATA);
	for (i = 0; i < ARRAY_SIZE(part); i++) {
		for (; part[i]; part[i] &= part[i] - 1) {
			m = 64 * i + (u32)__builtin_ctzll(part[i]);
			if (places[m].put)
				fail(r, jsonl_put(r, rec, places[m], &r->field[r->at[m]]));
		}
	}
	jsonl_settle(rec);
}

int jsonl_read(struct jsonl_reader *r, const char *line, size_t n, struct jsonl_rec *rec)
{
	static const struct place event_type = AT(cmd.op_name, TEXT); /* any that is free */
	struct slice type = {};
	int ret;

	r->line = line;
	r->line_len = n;
	r->err = 0;
	buf_reset(&r->text);
	ret = scan(r);
	if (ret)
		return ret;
	if (have(r, M_event_type)) {
		fail(r, jsonl_put(r, rec, event_type, &r->field[r->at[M_event_type]]));
		type = rec->cmd.op_name;
	}
	*rec = (struct jsonl_rec){ .kind = classify(r, type) };
	if (kinds[rec->kind].places)
		fill(r, rec);
	if (r->missed && !r->err)
		shape_learn(r, rec);
	r->missed = false;
	return r->err;
}
