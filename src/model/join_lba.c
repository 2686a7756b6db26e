// SPDX-License-Identifier: Apache-2.0
/* How large a block is, and which commands are headers: those that start where the slot of a store does. */
#include <string.h>

#include "capture/nvme_names.h"
#include "model/join.h"

#define SAMPLED_STORES 50u
#define LBA_MIN	       512u
#define LBA_MAX	       65536u

static bool is_store(const struct model *m, u32 op)
{
	return !strcmp(strpool_get(&m->strings, m->op.name[op]), "store");
}

/* Block size by the transfer itself, 0 when that makes no sense. */
static u32 lba_by_length(const struct cmd_table *t, u32 i)
{
	u32 lba;

	if (!t->nlb[i] || t->bytes[i] % t->nlb[i])
		return 0;
	lba = t->bytes[i] / t->nlb[i];
	return lba < LBA_MIN || lba > LBA_MAX || (lba & (lba - 1)) ? 0 : lba;
}

u32 cmd_lba_bytes(const struct model *m, const struct join_options *o, u32 cmd)
{
	const struct device *d = &m->device[cmd_dev(m, cmd)];
	u32 lba;

	if (o->lba_bytes)
		return o->lba_bytes;
	if (d->lba_bytes && !d->lba_assumed)
		return d->lba_bytes;
	lba = lba_by_length(&m->cmd, cmd);
	if (!lba)
		lba = d->lba_bytes;
	return lba ? lba : 4096;
}

/* True when the command starts where the slot of its operation does. */
static bool at_slot(const struct model *m, u32 cmd, u32 op, u32 lba)
{
	u64 offset;

	return (m->cmd.flags[cmd] & CMD_HAS_SLBA) && (m->op.flags[op] & OP_HAS_SLOT) &&
	       !__builtin_mul_overflow(m->cmd.slba[cmd], lba, &offset) && offset == m->op.slot_offset[op];
}

static bool has_header(const struct model *m, u32 op, u32 lba)
{
	u32 i;

	for (i = 0; i < m->op.n_cmds[op]; i++)
		if (at_slot(m, m->cmd_order[m->op.first_cmd[op] + i], op, lba))
			return true;
	return false;
}

/* In how many of the first stores with commands a header is found under this size. */
static u32 lba_score(const struct model *m, u32 lba)
{
	u32 score = 0, looked = 0, i;

	for (i = 0; i < m->op.n && looked < SAMPLED_STORES; i++) {
		if (!m->op.n_cmds[i] || !is_store(m, i))
			continue;
		score += has_header(m, i, lba);
		looked++;
	}
	return score;
}

/* Of the first command of an operation, else of the first on a device that tells, else of the first device. */
static u32 device_lba(const struct model *m)
{
	u32 first = 0, i;

	for (i = 0; i < m->cmd.n; i++) {
		u32 lba = m->device[cmd_dev(m, i)].lba_bytes;

		if (m->cmd.op[i] != NONE)
			return lba;
		first = first ? first : lba;
	}
	return first ? first : m->n_devices ? m->device[0].lba_bytes : 0;
}

/* What was said, unless another usual size puts more headers where slots begin. */
void choose_lba(struct model *m, const struct join_options *o)
{
	u32 device = device_lba(m);
	u32 said = o->lba_bytes ? o->lba_bytes : device ? device : 4096;
	const u32 other[] = { device, 4096, 512 };
	u32 best = said, score, s;
	size_t i;

	m->lba_bytes = said;
	m->lba_said = o->lba_bytes;
	m->lba_recorded = device;
	m->lba_inferred = false;
	/* With places the size has proven itself, and keys have none. */
	if (m->join == JOIN_OFFSET || m->join == JOIN_KEY)
		return;
	score = lba_score(m, said);
	for (i = 0; i < ARRAY_SIZE(other); i++) {
		s = other[i] ? lba_score(m, other[i]) : 0;
		if (s > score) {
			score = s;
			best = other[i];
		}
	}
	m->lba_bytes = best;
	m->lba_inferred = best != said;
}

void mark_headers(struct model *m, const struct join_options *o)
{
	struct cmd_table *t = &m->cmd;
	u32 i;

	for (i = 0; i < t->n; i++) {
		u32 op = t->op[i], lba = m->join == JOIN_OFFSET ? cmd_lba_bytes(m, o, i) : m->lba_bytes;

		t->flags[i] &= ~(u32)CMD_HEADER;
		if (op != NONE && at_slot(m, i, op, lba) && is_store(m, op))
			t->flags[i] |= CMD_HEADER;
	}
	count_headers(m);
}

void count_headers(struct model *m)
{
	u32 i;

	m->n_stores = m->n_header_cmds = 0;
	for (i = 0; i < m->op.n; i++)
		m->n_stores += is_store(m, i);
	for (i = 0; i < m->cmd.n; i++)
		m->n_header_cmds += (m->cmd.flags[i] & (CMD_HEADER | CMD_REISSUED)) == CMD_HEADER;
}
