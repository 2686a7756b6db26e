// SPDX-License-Identifier: GPL-2.0
/* Programs that return at once, on the hooks of the tracers: what no tracer on them can cost less than. */
#include "trace/kernel.bpf.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "GPL";

SEC("?tp_btf/sys_enter")
int sys_enter(void *ctx)
{
	return 0;
}

SEC("?tp_btf/sys_exit")
int sys_exit(void *ctx)
{
	return 0;
}

/* From 6.3 on. */
SEC("?tp_btf/io_uring_submit_req")
int submit_req(void *ctx)
{
	return 0;
}

SEC("?tp_btf/io_uring_submit_sqe")
int submit_sqe(void *ctx)
{
	return 0;
}

SEC("?tp_btf/io_uring_complete")
int complete(void *ctx)
{
	return 0;
}
