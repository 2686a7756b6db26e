// SPDX-License-Identifier: Apache-2.0
#include "capture/nvme_names.h"

#include <errno.h>
#include <string.h>

enum {
	OP_FLUSH = 0x00,
	OP_WRITE = 0x01,
	OP_READ = 0x02,
	OP_WRITE_UNCORRECTABLE = 0x04,
	OP_COMPARE = 0x05,
	OP_WRITE_ZEROES = 0x08,
	OP_DSM = 0x09,
	OP_VERIFY = 0x0c,
	OP_ZONE_MGMT_SEND = 0x79,
	OP_ZONE_MGMT_RECV = 0x7a,
	OP_ZONE_APPEND = 0x7d,
};

const char *nvme_op_name(u8 opcode)
{
	switch (opcode) {
	case OP_FLUSH:
		return "flush";
	case OP_WRITE:
		return "write";
	case OP_READ:
		return "read";
	case OP_WRITE_UNCORRECTABLE:
		return "write_uncorrectable";
	case OP_COMPARE:
		return "compare";
	case OP_WRITE_ZEROES:
		return "write_zeroes";
	case OP_DSM:
		return "dsm";
	case OP_VERIFY:
		return "verify";
	case OP_ZONE_MGMT_SEND:
		return "zone_mgmt_send";
	case OP_ZONE_MGMT_RECV:
		return "zone_mgmt_recv";
	case OP_ZONE_APPEND:
		return "zone_append";
	default:
		return "other";
	}
}

int nvme_op_find(const char *name, u64 *opcode)
{
	if (!strcmp(name, "discard") || !strcmp(name, "trim"))
		name = "dsm";
	for (*opcode = 0; *opcode < 256; ++*opcode)
		if (strcmp(name, "other") && !strcmp(nvme_op_name((u8)*opcode), name))
			return 0;
	return -ENOENT;
}

const char *nvme_kv_op_name(u8 opcode)
{
	switch (opcode) {
	case 0x01:
		return "store";
	case 0x02:
		return "retrieve";
	case 0x06:
		return "list";
	case 0x10:
		return "delete";
	case 0x14:
		return "exist";
	default:
		return "other";
	}
}

bool nvme_op_has_nlb(u8 opcode)
{
	switch (opcode) {
	case OP_WRITE:
	case OP_READ:
	case OP_WRITE_UNCORRECTABLE:
	case OP_COMPARE:
	case OP_WRITE_ZEROES:
	case OP_VERIFY:
	case OP_ZONE_APPEND:
		return true;
	default:
		return false;
	}
}

bool nvme_op_has_slba(u8 opcode)
{
	return nvme_op_has_nlb(opcode) || opcode == OP_ZONE_MGMT_SEND || opcode == OP_ZONE_MGMT_RECV;
}

/* Values of blk_status_t (include/linux/blk_types.h). */
enum {
	STS_OK = 0,
	STS_NOTSUPP = 1,
	STS_NOSPC = 3,
	STS_TRANSPORT = 4,
	STS_TARGET = 5,
	STS_RESV = 6,
	STS_MEDIUM = 7,
	STS_PROTECTION = 8,
	STS_IOERR = 10
};

u8 nvme_blk_status(u16 status)
{
	switch (status & 0x7ff) { /* SCT and SC, without More and DNR */
	case 0x000:
		return STS_OK;
	case 0x081: /* capacity exceeded */
		return STS_NOSPC;
	case 0x080: /* LBA out of range */
	case 0x021: /* command interrupted */
	case 0x082: /* namespace not ready */
		return STS_TARGET;
	case 0x180: /* conflicting attributes */
	case 0x001: /* invalid opcode */
	case 0x002: /* invalid field */
	case 0x00b: /* invalid namespace */
		return STS_NOTSUPP;
	case 0x280: /* write fault */
	case 0x281: /* unrecovered read error */
	case 0x287: /* deallocated block */
	case 0x286: /* access denied */
	case 0x182: /* write to a read-only range */
	case 0x285: /* compare failed */
		return STS_MEDIUM;
	case 0x282: /* guard, application tag, reference tag */
	case 0x283:
	case 0x284:
	case 0x181: /* invalid protection information */
		return STS_PROTECTION;
	case 0x083: /* reservation conflict */
		return STS_RESV;
	case 0x370: /* host pathing error */
		return STS_TRANSPORT;
	default:
		return STS_IOERR;
	}
}
