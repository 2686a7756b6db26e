// SPDX-License-Identifier: Apache-2.0
/* Slices and their args into the rows that they were drawn from, as far as they tell. */
#include <stdio.h>
#include <stdlib.h>

#include "capture/nvme_names.h"
#include "model/pftrace_model.h"

static struct slice string_of(const struct draft *d, u32 id)
{
	return (struct slice){ strpool_get(&d->t->strings, id), strpool_len(&d->t->strings, id) };
}

static int intern_arg(const struct draft *d, struct model *m, const struct pf_row *row, enum pf_model_key k, u32 *id)
{
	return intern_word(m, pf_row_text(d, row, k), id);
}

static void drop_suffix(struct slice *s, const char *suffix)
{
	size_t n = strlen(suffix);

	if (s->n > n && !memcmp(s->p + s->n - n, suffix, n))
		s->n -= n;
}

static u64 begin_of(const struct draft *d, u32 slice)
{
	return (u64)d->t->slice.ts[slice] + d->base;
}

/* An open end is no end. */
static u64 length_of(const struct draft *d, u32 slice)
{
	return (u64)MAX(d->t->slice.dur[slice], (s64)0);
}

/* ---- capture_info ---- */

int pf_take_info(const struct draft *d, struct pf_arm *arm, struct pf_about *about, const struct pf_row *row)
{
	struct model *m = &arm->m;
	struct sem_meta *meta = &m->sem_meta;
	int ret;

	about->shift_ns = pf_row_u64(row, K_applied_base_ns);
	about->lba_bytes = (u32)MIN(pf_row_u64(row, K_lba_bytes), (u64)1 << 31);
	about->in_flight = pf_row_u64(row, K_in_flight);
	about->lean = pf_row_u64(row, K_lean);
	ret = intern_arg(d, m, row, K_hostname, &meta->hostname);
	if (!ret)
		ret = intern_arg(d, m, row, K_device_path, &meta->device_path);
	if (!ret)
		ret = intern_arg(d, m, row, K_io_engine, &meta->io_engine);
	meta->kvio_schema = pf_row_u64(row, K_kvio_schema);
	meta->block_align = pf_row_u64(row, K_block_align);
	meta->header_bytes = pf_row_u64(row, K_header_bytes);
	meta->max_data_transfer_size = pf_row_u64(row, K_max_data_transfer_size);
	meta->present = meta->kvio_schema || meta->hostname || meta->device_path || meta->header_bytes;
	m->account.present = pf_row_has(row, K_seen);
	m->account.complete = pf_row_u64(row, K_complete);
	m->account.seen = pf_row_u64(row, K_seen);
	m->account.stored = pf_row_u64(row, K_stored);
	m->account.ring_full = pf_row_u64(row, K_dropped);
	m->account.hook_missed = pf_row_u64(row, K_hook_missed);
	m->account.unread = pf_row_u64(row, K_unread);
	m->account.filtered = pf_row_u64(row, K_filtered);
	m->account.in_flight = about->in_flight;
	m->dev_in.malformed = pf_row_u64(row, K_malformed);
	m->dev_in.tail_cut = pf_row_u64(row, K_tail_cut);
	m->dev_in.unpaired_completions = pf_row_u64(row, K_orphan_completions);
	return ret;
}

/* ---- commands ---- */

/* The first opcode of that name. */
static u8 opcode_of(struct pf_about *a, const struct model *m, u32 name, bool kv)
{
	const char *text = strpool_get(&m->strings, name);
	u32 op;

	if (name && name == a->opcode_name && kv == a->opcode_kv)
		return a->opcode;
	for (op = 0; op <= UINT8_MAX; op++)
		if (!strcmp(text, kv ? nvme_kv_op_name((u8)op) : nvme_op_name((u8)op)))
			break;
	a->opcode_name = name;
	a->opcode_kv = kv;
	a->opcode = op > UINT8_MAX ? 0xff : (u8)op;
	return a->opcode;
}

/* How it ended, into the flags. */
static void take_outcome(const struct draft *d, struct cmd_table *t, u32 i, const struct pf_row *row, u32 slice)
{
	struct slice err = pf_row_text(d, row, K_err);
	unsigned int status;

	if (pf_row_u64(row, K_in_flight)) {
		t->flags[i] |= NVME_IN_FLIGHT;
		t->lat_ns[i] = length_of(d, slice);
		/* Rows of one time that only differ in their tag are kept apart by model_finish(). */
		t->cid[i] = (u16)i;
		t->hwq[i] = (u16)(i >> 16);
	}
	if (pf_row_has(row, K_errno)) {
		t->flags[i] |= NVME_REFUSED | CMD_FAILED;
		t->status[i] = (u16)pf_row_u64(row, K_errno);
	} else if (pf_row_has(row, K_status)) {
		t->flags[i] |= CMD_FAILED;
		t->status[i] = (u16)pf_row_u64(row, K_status);
		/* Pool strings end with NUL. */
		if (err.n && sscanf(err.p, "blk_status %u", &status) == 1)
			t->flags[i] |= CMD_BLK_STATUS;
	}
}

static int take_device(const struct draft *d, struct model *m, struct pf_about *about, const struct pf_row *row,
		       u32 *dev)
{
	struct device_id id = { .name = pf_row_text(d, row, K_path) };
	int ret;

	/* The word of an only device is not its name. */
	if (!id.name.n && about->n_devices > 1)
		id.name = d->device;
	ret = find_device(m, &id, dev);
	if (ret)
		return ret;
	if (!m->device[*dev].lba_bytes && about->lba_bytes) {
		m->device[*dev].lba_bytes = about->lba_bytes;
		m->device[*dev].lba_assumed = true;
	}
	return 0;
}

int pf_take_command(const struct draft *d, struct model *m, struct pf_about *about, const struct pf_row *row, u32 slice)
{
	struct slice name = string_of(d, d->t->slice.name[slice]);
	bool kv = pf_row_has(row, K_key_hex), real;
	struct cmd_table *t = &m->cmd;
	u32 i = t->n, lba = about->lba_bytes;
	int ret = cmd_room(t);

	if (!ret)
		ret = take_device(d, m, about, row, &t->dev[i]);
	drop_suffix(&name, " FAILED");
	drop_suffix(&name, " REFUSED");
	if (!ret && !slice_is(name, "cmd"))
		ret = intern_word(m, name, &t->name[i]);
	if (!ret)
		ret = intern(m, pf_row_text(d, row, K_key_hex), &t->key[i]);
	if (ret)
		return ret;
	t->ts_ns[i] = begin_of(d, slice);
	real = pf_row_has(row, K_real_dur) ? pf_row_u64(row, K_real_dur) : about->lean;
	t->lat_ns[i] = real ? length_of(d, slice) : NO_LAT;
	t->user_data[i] = pf_row_u64(row, K_trace_id) << 32;
	t->bytes[i] = (u32)MIN(pf_row_u64(row, K_data_len), (u64)UINT32_MAX);
	t->wait_ns[i] = (u32)MIN(pf_row_u64(row, K_wait_ns), (u64)UINT32_MAX);
	t->waits |= t->wait_ns[i] > 0;
	t->attempts[i] = (u8)MIN(MAX(pf_row_u64(row, K_attempts), 1ull), (u64)UINT8_MAX);
	t->opcode[i] = opcode_of(about, m, t->name[i], kv);
	t->task[i] = NONE;
	t->op[i] = NONE;
	if (kv) {
		t->flags[i] |= CMD_HAS_KEY;
		t->slba[i] = pf_row_u64(row, K_key_len) << 32 | (u32)pf_row_u64(row, K_value_len);
	} else if (pf_row_has(row, K_slba)) {
		t->flags[i] |= CMD_HAS_SLBA;
		t->slba[i] = row->v[K_slba];
		if (lba && !(t->bytes[i] % lba) && nvme_op_has_nlb(t->opcode[i]))
			t->nlb[i] = t->bytes[i] / lba;
	}
	take_outcome(d, t, i, row, slice);
	m->dev_in.commands++;
	m->dev_in.completions += t->lat_ns[i] != NO_LAT && !(t->flags[i] & NVME_IN_FLIGHT);
	t->n++;
	return 0;
}

/* ---- objects ---- */

/* What is left of a key that was cut: the parts that outputs tell apart, in their places. */
static int take_key(const struct draft *d, struct model *m, const struct pf_row *row, u32 *key)
{
	struct slice tail = pf_row_text(d, row, K_key), fmt = pf_row_text(d, row, K_fmt);
	struct slice chunk = pf_row_text(d, row, K_chunk), rank = pf_row_text(d, row, K_rank);
	const char *at = tail.n ? memrchr(tail.p, '@', tail.n) : NULL;
	struct buf b = {};
	int ret;

	if (!fmt.n)
		return intern(m, tail, key);
	buf_lit(&b, "?@");
	buf_add(&b, fmt.p, fmt.n);
	buf_byte(&b, '@');
	if (rank.n)
		buf_add(&b, rank.p, rank.n);
	else if (pf_row_has(row, K_rank))
		buf_u64(&b, pf_row_u64(row, K_rank));
	buf_byte(&b, '@');
	if (at) {
		buf_add(&b, at + 1, tail.n - (size_t)(at + 1 - tail.p));
	} else {
		buf_add(&b, chunk.p, chunk.n);
		/* The shorter the key, the more of its tail is in the chunk already. */
		if (tail.n && (tail.n > chunk.n || memcmp(tail.p, chunk.p, tail.n))) {
			buf_lit(&b, "...");
			buf_add(&b, tail.p, tail.n);
		}
	}
	ret = b.failed ? -ENOMEM : intern(m, (struct slice){ b.p, b.n }, key);
	buf_free(&b);
	return ret;
}

/* A row of operations that ran from begin to end. */
static int add_op(const struct draft *d, struct model *m, const struct pf_row *row, u64 begin, u64 end)
{
	struct op_table *t = &m->op;
	u32 i = t->n, part;
	int ret = op_room(t);

	if (ret)
		return ret;
	t->trace_id[i] = pf_row_u64(row, K_trace_id);
	t->start_ns[i] = begin;
	t->end_ns[i] = end;
	t->bytes[i] = pf_row_u64(row, K_bytes);
	t->slot_offset[i] = pf_row_u64(row, K_slot_offset);
	t->flags[i] = OP_HAS_START;
	t->key_hex[i] = 0;
	t->pid[i] = (u32)pf_row_u64(row, K_producer_pid);
	if (pf_row_has(row, K_slot_offset))
		t->flags[i] |= OP_HAS_SLOT;
	if (pf_row_has(row, K_producer_pid))
		t->flags[i] |= OP_HAS_PID;
	t->join_id[i] = t->trace_id[i];
	t->first_cmd[i] = NONE;
	t->n_cmds[i] = t->occurrence[i] = t->n_occurrences[i] = 0;
	ret = take_key(d, m, row, &t->key[i]);
	if (!ret)
		ret = intern_arg(d, m, row, K_part, &part);
	if (!ret)
		ret = intern_arg(d, m, row, K_error, &t->error[i]);
	if (!ret)
		ret = intern_arg(d, m, row, K_instance, &t->instance[i]);
	if (ret)
		return ret;
	t->part[i] = part;
	m->sem_in.semantic++;
	t->n++;
	return 0;
}

int pf_take_object(const struct draft *d, struct model *m, const struct pf_row *row, u32 slice)
{
	u64 begin = begin_of(d, slice);
	u32 name;
	int ret = intern_arg(d, m, row, K_op, &name);

	if (!ret)
		ret = add_op(d, m, row, begin, begin + length_of(d, slice));
	if (!ret)
		m->op.name[m->op.n - 1] = name;
	return ret;
}

int pf_take_instant(const struct draft *d, struct model *m, const struct pf_row *row, u32 slice)
{
	static const char without[] = " (no device cmds)";
	struct slice name = string_of(d, d->t->slice.name[slice]), op = name;
	u64 ts = begin_of(d, slice);
	u32 id;
	int ret;

	if (slice_is(name, "CQ overflow"))
		return add_overflow(m, ts, pf_row_has(row, K_user_data) ? row->v[K_user_data] : 0,
				    pf_row_has(row, K_res) ? (s32)row->v[K_res] : 0);
	drop_suffix(&op, without);
	if (op.n == name.n)
		return 0;
	ret = intern_word(m, op, &id);
	if (!ret)
		ret = add_op(d, m, row, ts, ts);
	if (!ret)
		m->op.name[m->op.n - 1] = id;
	return ret;
}

/* ---- serving ---- */

int pf_take_span(const struct draft *d, struct model *m, const struct pf_row *row, u32 slice)
{
	struct slice op = pf_row_text(d, row, K_op), id = pf_row_text(d, row, K_request_id);
	struct span_table *t = &m->serving;
	char number[24];
	u32 i = t->n;
	int ret = span_room(t);

	if (ret)
		return ret;
	if (!id.n && pf_row_has(row, K_request_id))
		id = (struct slice){ number, (size_t)snprintf(number, sizeof(number), "%llu",
							      (unsigned long long)pf_row_u64(row, K_request_id)) };
	t->start_ns[i] = begin_of(d, slice);
	t->end_ns[i] = t->start_ns[i] + length_of(d, slice);
	t->tokens[i] = pf_row_has(row, K_tokens) ? pf_row_u64(row, K_tokens) : NO_NUMBER;
	ret = intern_word(m, op.n ? op : string_of(d, d->t->slice.name[slice]), &t->name[i]);
	if (!ret)
		ret = intern(m, id, &t->request_id[i]);
	t->n += !ret;
	return ret;
}

/* ---- the end ---- */

/* Objects that are drawn from their first command on had no start of their own. */
static bool drop_false_starts(struct model *m)
{
	struct op_table *t = &m->op;
	bool any = false;
	u32 i;

	for (i = 0; i < t->n; i++) {
		if (!t->n_cmds[i] || m->cmd.ts_ns[m->cmd_order[t->first_cmd[i]]] != t->start_ns[i])
			continue;
		t->flags[i] &= ~(u32)OP_HAS_START;
		t->start_ns[i] = t->end_ns[i];
		any = true;
	}
	return any;
}

int pf_finish_arm(const struct draft *d, struct model *m, const struct pf_about *about)
{
	struct join_options o = { .lba_bytes = about->lba_bytes, .kind = m->op.n ? JOIN_TRACE_ID : JOIN_NONE };
	u32 i;
	int ret = 0;

	m->timeline = true;
	if (d->t->has_wall)
		ret = add_anchor(m, d->t->wall_at + about->shift_ns, d->t->wall_ns, 0);
	if (!ret)
		ret = model_finish(m);
	if (!ret)
		ret = model_join(m, &o);
	if (!ret && drop_false_starts(m))
		ret = model_join(m, &o);
	for (i = 0; i < m->cmd.n; i++)
		m->cmd.hwq[i] = m->cmd.cid[i] = 0;
	return ret;
}
