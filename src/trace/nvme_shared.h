/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* What nvme.bpf.c and nvme.c tell each other. */
#ifndef KVIO_NVME_SHARED_H
#define KVIO_NVME_SHARED_H

#ifndef __bpf__
#include "lib/types.h"
#endif

/* Read-only data of the program, set before load. */
struct nvme_config {
	u32 min_bytes; /* keep commands of this size ... */
	u32 max_bytes; /* ... up to this one */
	u64 opcode[4]; /* bit n: keep opcode n */
	/* Of the driver's functions that end passthrough requests, 0 where the kernel has none. */
	u64 end_io, end_io_meta;
	u8 passthrough_only;
	u8 origins; /* who sent a block request is noted when it is made */
	u8 no_admin;
	u8 entry_probe;
	u8 kv; /* treat every namespace as key-value */
	u8 filter_disk;
	u8 filter_command; /* the first three say something */
};

#endif
