/* SPDX-License-Identifier: Apache-2.0 */
/* What NVMe opcodes and status codes mean (NVM and Key Value command sets). */
#ifndef KVIO_NVME_NAMES_H
#define KVIO_NVME_NAMES_H

#include "lib/types.h"

/* "read", "write", "flush", ..., "other"; the names of the older tracers for their five. */
const char *nvme_op_name(u8 opcode);
/* The opcode of a name of the above but "other"; discard and trim are dsm.  0 or -ENOENT. */
int nvme_op_find(const char *name, u64 *opcode);
/* "store", "retrieve", "list", "delete", "exist", "other" */
const char *nvme_kv_op_name(u8 opcode);
/* cdw10/11 hold an LBA */
bool nvme_op_has_slba(u8 opcode);
/* the low half of cdw12 holds a zero-based number of blocks */
bool nvme_op_has_nlb(u8 opcode);
/* blk_status_t that the driver derives from an NVMe status; 0 = good (kernel: nvme_error_status) */
u8 nvme_blk_status(u16 status);

#endif
