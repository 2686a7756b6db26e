// SPDX-License-Identifier: Apache-2.0
/* What the status of a failed command means. */
#include <stdio.h>
#include <string.h>

#include "out/report.h"

/* NVM Express base, NVM and Key Value command sets: status code type << 8 | status code. */
static const struct {
	u16 code;
	const char *name;
} names[] = {
	{ 0x001, "invalid opcode" },
	{ 0x002, "invalid field" },
	{ 0x003, "command id conflict" },
	{ 0x004, "data transfer error" },
	{ 0x005, "power loss" },
	{ 0x006, "internal error" },
	{ 0x007, "aborted by request" },
	{ 0x008, "aborted: queue deleted" },
	{ 0x00b, "invalid namespace" },
	{ 0x013, "invalid PRP offset" },
	{ 0x015, "operation denied" },
	{ 0x01c, "sanitize failed" },
	{ 0x01d, "sanitize in progress" },
	{ 0x020, "namespace is write protected" },
	{ 0x021, "interrupted" },
	{ 0x022, "transient transport error" },
	{ 0x080, "LBA out of range" },
	{ 0x081, "capacity exceeded" },
	{ 0x082, "namespace not ready" },
	{ 0x083, "reservation conflict" },
	{ 0x085, "invalid value size" },
	{ 0x086, "invalid key size" },
	{ 0x087, "no such key" },
	{ 0x088, "unrecovered error" },
	{ 0x089, "key exists" },
	{ 0x101, "invalid queue" },
	{ 0x180, "conflicting attributes" },
	{ 0x181, "invalid protection information" },
	{ 0x182, "write to a read-only range" },
	{ 0x1b8, "zone boundary error" },
	{ 0x1b9, "zone is full" },
	{ 0x1ba, "zone is read only" },
	{ 0x1bb, "zone is offline" },
	{ 0x1bc, "zone invalid write" },
	{ 0x280, "write fault" },
	{ 0x281, "unrecovered read error" },
	{ 0x282, "guard check error" },
	{ 0x283, "application tag check error" },
	{ 0x284, "reference tag check error" },
	{ 0x285, "compare failure" },
	{ 0x286, "access denied" },
	{ 0x300, "internal path error" },
	{ 0x301, "asymmetric access: persistent loss" },
	{ 0x302, "asymmetric access: inaccessible" },
	{ 0x303, "asymmetric access: transition" },
	{ 0x360, "controller pathing error" },
	{ 0x370, "host pathing error" },
	{ 0x371, "aborted by host" },
};

/* The kernel's blk_status_t, which is all that the older passthrough monitor has. */
static const char *const blk_names[] = {
	[1] = "not supported",	 [2] = "timeout",	   [3] = "no space",
	[4] = "transport error", [5] = "target error",	   [6] = "reservation conflict",
	[7] = "medium error",	 [8] = "protection error", [9] = "no resources",
	[10] = "I/O error",	 [12] = "try again",
};

const char *report_status_name(const struct measure_status *s)
{
	size_t i;

	if (s->kind == STATUS_ERRNO)
		return strerrordesc_np(s->status) ? strerrordesc_np(s->status) : "unknown";
	if (s->kind == STATUS_BLK)
		return s->status < ARRAY_SIZE(blk_names) && blk_names[s->status] ? blk_names[s->status] : "unknown";
	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].code == (s->status & 0x7ff))
			return names[i].name;
	return "unknown";
}

void report_status_code(char *out, size_t n, const struct measure_status *s)
{
	if (s->kind == STATUS_NVME)
		snprintf(out, n, "sct 0x%x / sc 0x%x", s->status >> 8 & 7, s->status & 0xff);
	else
		snprintf(out, n, "%s %u", s->kind == STATUS_BLK ? "blk status" : "errno", s->status);
}
