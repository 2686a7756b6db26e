/* SPDX-License-Identifier: GPL-2.0 */
/* Completions that did not fit their queue: the same for every tracer that looks at io_uring. */
#ifndef KVIO_OVERFLOW_BPF_H
#define KVIO_OVERFLOW_BPF_H

#include "trace/common.bpf.h"

SEC("?tp_btf/io_uring_cqe_overflow")
int BPF_PROG(cqe_overflow, void *ring_ctx, u64 user_data, s32 res)
{
	struct ev_cq_overflow e = { .kind = EV_CQ_OVERFLOW, .res = res, .user_data = user_data };
	struct who w = {};

	e.ts_ns = bpf_ktime_get_ns();
	who_is_current(&w);
	e.tid = w.tid;
	count(N_SEEN);
	if (!task_wanted(&w)) {
		count(N_FILTERED);
		return 0;
	}
	tell_task(&w, e.ts_ns);
	count(put(&e, sizeof(e)) ? N_STORED : N_RING_FULL);
	return 0;
}

#endif
