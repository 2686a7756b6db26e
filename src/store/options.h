/* SPDX-License-Identifier: Apache-2.0 */
/* The options that all commands have which issue KV IO: where to, and how. */
#ifndef KVIO_STORE_OPTIONS_H
#define KVIO_STORE_OPTIONS_H

#include "lib/opt.h"
#include "store/rig.h"

/* What the user said; begin with RIG_WORDS_DEFAULT. */
struct rig_words {
	const char *device, *destroy, *serial, *engine, *path;
	u64 capacity, slot, header, align, meta, max_xfer, depth, batch, memory, timeout_ns;
	bool buffered, over_limit, huge, not_fixed, verify, header_last, sum, check_header;
};
#define RIG_WORDS_DEFAULT                                                                                     \
	{                                                                                                     \
		.path = "batched", .header = KV_HEADER_BYTES, .align = KV_BLOCK_ALIGN, .meta = KV_META_BYTES, \
		.depth = 64, .batch = 64, .memory = 256ull << 20, .timeout_ns = 120 * NSEC_PER_SEC,           \
	}

/* clang-format off */
#define RIG_OPTS_TARGET(w)                                                                                      \
	OPT_GROUP("Target: ALL ITS DATA IS OVERWRITTEN"),                                                       \
	OPT_STR(0, "device", &(w).device, "NODE|FILE", "a namespace, a disk, or a file, which is made sparse"), \
	OPT_STR(0, "yes-destroy-data", &(w).destroy, "NAME", "the same name again, or a disk is not touched"),  \
	OPT_STR(0, "expect-serial", &(w).serial, "TEXT", "refuse a drive of another serial number"),            \
	OPT_CHOICE(0, "engine", &(w).engine, IO_KINDS, "default: uring_cmd on a char node, else io_uring"),     \
	OPT_FLAG(0, "buffered", &(w).buffered, "a file through the page cache, not O_DIRECT"),                  \
	OPT_SIZE(0, "capacity-bytes", &(w).capacity, "SIZE", "use that much (default: all; of a file 8GiB)")
#define RIG_OPTS_LAYOUT(w)                                                                                      \
	OPT_SIZE(0, "slot-bytes", &(w).slot, "SIZE", "a slot (default: what an object needs, in MiB)"),         \
	OPT_SIZE(0, "header-bytes", &(w).header, "SIZE", "header of a slot (default 4096)"),                    \
	OPT_SIZE(0, "block-align", &(w).align, "SIZE", "what commands are rounded up to (default 4096)"),       \
	OPT_SIZE(0, "meta-bytes", &(w).meta, "SIZE", "room for checkpoints (default 1MiB)")
#define RIG_OPTS_ISSUE(w)                                                                                       \
	OPT_GROUP("How it is issued"),                                                                          \
	OPT_STR(0, "load-path", &(w).path, "PATH",                                                              \
		"batched (default), serial (one command at a time), parallel:N (N objects, each serial), "      \
		"multi-ring:N (N rings, a thread each)"),                                                       \
	OPT_U64(0, "qd", &(w).depth, "N", "commands in flight of a ring (default 64)"),                         \
	OPT_SIZE(0, "mdts-bytes", &(w).max_xfer, "SIZE",                                                        \
		 "largest command (default: what device and kernel take; 128KiB without passthrough)"),         \
	OPT_FLAG(0, "over-limit", &(w).over_limit, "... even above what they take: such commands fail"),        \
	OPT_U64(0, "batch", &(w).batch, "N", "objects of one call (default 64)"),                               \
	OPT_SIZE(0, "memory", &(w).memory, "SIZE", "for buffers, which bounds a call as well (default 256MiB)"), \
	OPT_FLAG(0, "hugepage", &(w).huge, "buffers on huge pages, where there are enough"),                    \
	OPT_FLAG(0, "no-fixed-buffers", &(w).not_fixed, "do not register them with io_uring"),                  \
	OPT_DURATION(0, "op-timeout", &(w).timeout_ns, "TIME",                                                  \
		     "give up when a command takes longer (default 120s; 0: never)"),                           \
	OPT_OLD(OPT_T_U64, "ring-depth", &(w).depth)
#define RIG_OPTS_SAFETY(w)                                                                                      \
	OPT_GROUP("Safety of data"),                                                                            \
	OPT_FLAG(0, "verify", &(w).verify, "check each byte that is loaded"),                                   \
	OPT_FLAG(0, "header-last", &(w).header_last, "write a header when its payload is on the device"),       \
	OPT_FLAG(0, "payload-sum", &(w).sum, "a CRC-32 in each header, checked on load (loads read it, too)"),  \
	OPT_FLAG(0, "check-header", &(w).check_header, "loads read the header, too: another object's is a miss")
/* clang-format on */

/*
 * The rest of what is needed to open a rig for objects of payload_bytes.
 * -EINVAL and why[GUARD_WHY] when the words make no sense.
 */
int rig_options_make(struct rig_options *o, const struct rig_words *w, u64 payload_bytes, char *why);

#endif
