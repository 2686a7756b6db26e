// SPDX-License-Identifier: Apache-2.0
#include "store/options.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#define MAX_BATCH 4096u

static int refuse(char *why, const char *text)
{
	snprintf(why, GUARD_WHY, "%s", text);
	return -EINVAL;
}

int rig_options_make(struct rig_options *o, const struct rig_words *w, u64 payload_bytes, char *why)
{
	struct stat st;

	if (!w->device)
		return refuse(why, "--device is missing: a namespace (/dev/ng0n1), a disk, or a file");
	if (!w->depth || w->depth > IO_MAX_DEPTH)
		return refuse(why, "--qd must be 1 to 4096");
	if (!w->batch || w->batch > MAX_BATCH)
		return refuse(why, "--batch must be 1 to 4096");
	if (!w->align || (w->align & (w->align - 1)))
		return refuse(why, "--block-align must be a power of two");
	if (!payload_bytes)
		return refuse(why, "objects of 0 bytes are none");
	*o = (struct rig_options){
		.target = { w->device, w->destroy, w->serial, .buffered = w->buffered },
		.capacity_bytes = w->capacity,
		.meta_bytes = w->meta,
		.header_bytes = w->header,
		.block_align = w->align,
		.slot_bytes = w->slot,
		.payload_bytes = payload_bytes,
		.max_xfer = w->max_xfer,
		.over_limit = w->over_limit,
		.depth = (u32)w->depth,
		.batch = (u32)w->batch,
		.memory_bytes = w->memory,
		.huge_pages = w->huge,
		.no_fixed_buffers = w->not_fixed,
		.header_last = w->header_last,
		.payload_sum = w->sum,
		.check_header = w->check_header,
		.timeout_ns = w->timeout_ns,
	};
	if (load_path_parse(w->path, &o->path, &o->path_n))
		return refuse(why, "--load-path is not serial, batched, parallel:N or multi-ring:N (N 1 to 256)");
	if (!w->engine)
		o->engine = !stat(w->device, &st) && S_ISCHR(st.st_mode) ? IO_URING_CMD : IO_URING;
	else if (io_kind_parse(&o->engine, w->engine))
		return refuse(why, "--engine is not of " IO_KINDS);
	return 0;
}
