// SPDX-License-Identifier: Apache-2.0
/* From loaded rows to a model that can be asked. */
#include <errno.h>
#include <stdlib.h>

#include "capture/nvme_names.h"
#include "model/tables.h"

#define LBA_MIN_SHIFT 9u
#define LBA_SHIFTS    8u /* 512 bytes to 64 KiB */

/* The power of two that one block has by this transfer, or -1. */
static int lba_shift_of(const struct cmd_table *t, u32 i)
{
	u32 lba;

	if (!(t->flags[i] & CMD_HAS_SLBA) || !t->nlb[i] || !t->bytes[i] || !nvme_op_has_nlb(t->opcode[i]) ||
	    t->bytes[i] % t->nlb[i])
		return -1;
	lba = t->bytes[i] / t->nlb[i];
	if (lba & (lba - 1) || lba < 1u << LBA_MIN_SHIFT || lba >= 1u << (LBA_MIN_SHIFT + LBA_SHIFTS))
		return -1;
	return __builtin_ctz(lba) - (int)LBA_MIN_SHIFT;
}

/* Devices whose LBA size no tracer measured have that of most of their transfers. */
static int assume_lba_sizes(struct model *m)
{
	u32(*votes)[LBA_SHIFTS], i, s;
	int shift;

	for (i = 0; i < m->n_devices; i++)
		if (!m->device[i].lba_bytes)
			break;
	if (i == m->n_devices)
		return 0;
	votes = calloc(m->n_devices, sizeof(*votes));
	if (!votes)
		return -ENOMEM;
	for (i = 0; i < m->cmd.n; i++) {
		shift = lba_shift_of(&m->cmd, i);
		if (shift >= 0)
			votes[cmd_dev(m, i)][shift]++;
	}
	for (i = 0; i < m->n_devices; i++) {
		u32 best = 0;

		if (m->device[i].lba_bytes)
			continue;
		for (s = 1; s < LBA_SHIFTS; s++)
			if (votes[i][s] > votes[i][best])
				best = s;
		if (votes[i][best]) {
			m->device[i].lba_bytes = 1u << (LBA_MIN_SHIFT + best);
			m->device[i].lba_assumed = true;
		}
	}
	free(votes);
	return 0;
}

/* Interleaved metadata is no data. */
static void take_off_metadata(struct model *m)
{
	struct cmd_table *t = &m->cmd;
	u32 i;

	for (i = 0; i < t->n; i++) {
		const struct device *d = &m->device[cmd_dev(m, i)];

		if (d->ms && t->nlb[i] && t->bytes[i] == (u64)t->nlb[i] * (d->lba_bytes + d->ms))
			t->bytes[i] = t->nlb[i] * d->lba_bytes;
	}
}

/*
 * Programs that know nothing of trace ids, fio for one, pass the address of a
 * structure of theirs: in the heap or mapped, as Linux lays them out on x86-64
 * (0x55.., 0x56.., 0x7e.., 0x7f..) and arm64 (0xaa.., 0xff..), and aligned.  An
 * id has a small number in its lower half: which command of an object it is.
 */
static bool is_address(u64 cookie)
{
	u64 region = cookie >> 40;

	return !(cookie & 7) && (u32)cookie >> 16 &&
	       (region == 0x55 || region == 0x56 || region == 0x7e || region == 0x7f || region == 0xaa ||
		region == 0xff);
}

static bool cookies_are_addresses(const struct model *m)
{
	u64 first = 0;
	u32 i;
	bool differ = false;

	for (i = 0; i < m->cmd.n; i++) {
		u64 cookie = m->cmd.user_data[i];

		if (!cookie)
			continue;
		if (!is_address(cookie))
			return false;
		first = first ? first : cookie;
		differ |= cookie != first;
	}
	return differ;
}

int model_finish(struct model *m)
{
	int ret = 0;

	if (!m->loading)
		return 0;
	ret = sort_devices(m);
	if (!ret)
		ret = sort_commands(m);
	if (!ret)
		ret = sort_calls(m);
	if (!ret)
		ret = sort_uring(m);
	if (!ret)
		ret = sort_faults(m);
	if (!ret)
		ret = drop_snapshots(m);
	if (!ret)
		ret = sort_tasks(m);
	if (!ret)
		ret = pair_completions(m);
	if (!ret)
		ret = find_losses(m);
	sort_extents(m);
	sort_markers(m);
	loading_free(m);
	if (!ret)
		ret = mark_reissued(m);
	take_off_metadata(m);
	m->cookies_are_addresses = !ret && cookies_are_addresses(m);
	return ret ? ret : assume_lba_sizes(m);
}
