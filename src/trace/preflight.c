// SPDX-License-Identifier: Apache-2.0
#include "trace/preflight.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <unistd.h>

static bool has_tracepoint(const struct btf *btf, const char *type)
{
	return btf__find_by_name_kind(btf, type, BTF_KIND_TYPEDEF) > 0;
}

static bool has_hooks(const struct btf *btf)
{
	return has_tracepoint(btf, "btf_trace_nvme_setup_cmd") && has_tracepoint(btf, "btf_trace_nvme_complete_rq");
}

static const struct bpf_insn nothing[] = {
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
	{ .code = BPF_JMP | BPF_EXIT },
};

static int try_load(enum bpf_prog_type type, const struct bpf_insn *insns, size_t n, u32 attach_btf_id,
		    enum bpf_attach_type attach_type)
{
	LIBBPF_OPTS(bpf_prog_load_opts, o, .attach_btf_id = attach_btf_id, .expected_attach_type = attach_type);
	int fd = bpf_prog_load(type, "kvio_preflight", "GPL", insns, n, &o);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

int preflight_read_kernel(void)
{
	static const struct bpf_insn read_kernel[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_10 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_1, .imm = -8 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = 8 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_probe_read_kernel },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return try_load(BPF_PROG_TYPE_RAW_TRACEPOINT, read_kernel, ARRAY_SIZE(read_kernel), 0, 0);
}

int preflight_function(u32 btf_id)
{
	return try_load(BPF_PROG_TYPE_TRACING, nothing, ARRAY_SIZE(nothing), btf_id, BPF_TRACE_FENTRY);
}

static void try_programs(const struct btf *btf, struct preflight *out)
{
	/* A tracepoint that every kernel has: this is about programs, not about NVMe. */
	int id = btf__find_by_name_kind(btf, "btf_trace_sched_switch", BTF_KIND_TYPEDEF);

	out->load_tracepoint = -ENOENT;
	if (id > 0)
		out->load_tracepoint =
			try_load(BPF_PROG_TYPE_TRACING, nothing, ARRAY_SIZE(nothing), (u32)id, BPF_TRACE_RAW_TP);
	/* Where no program is taken, this one would say nothing of reading. */
	if (!out->load_tracepoint)
		out->load_read_kernel = preflight_read_kernel();
}

void preflight_run(const char *vmlinux, const char *nvme_core, bool live, struct preflight *out)
{
	struct btf *kernel, *module;

	*out = (struct preflight){ .load_tracepoint = PREFLIGHT_NOT_TRIED, .load_read_kernel = PREFLIGHT_NOT_TRIED };
	libbpf_set_print(NULL);
	kernel = btf__parse(vmlinux, NULL);
	out->btf = (int)libbpf_get_error(kernel);
	if (out->btf)
		return;
	out->types = btf__type_cnt(kernel);
	out->page_cache = has_tracepoint(kernel, "btf_trace_mm_filemap_add_to_page_cache");
	out->syscalls = has_tracepoint(kernel, "btf_trace_sys_enter") && has_tracepoint(kernel, "btf_trace_sys_exit");
	out->io_uring = has_tracepoint(kernel, "btf_trace_io_uring_complete") &&
			(has_tracepoint(kernel, "btf_trace_io_uring_submit_req") ||
			 has_tracepoint(kernel, "btf_trace_io_uring_submit_sqe"));
	if (live)
		try_programs(kernel, out);
	if (has_hooks(kernel)) {
		out->hooks = "vmlinux";
		out->plain_loads = btf__find_by_name_kind(kernel, "bpf_rdonly_cast", BTF_KIND_FUNC) > 0;
	} else {
		module = btf__parse_split(nvme_core, kernel);
		out->module_types = !libbpf_get_error(module);
		if (out->module_types) {
			out->hooks = has_hooks(module) ? "nvme_core" : NULL;
			btf__free(module);
		}
	}
	btf__free(kernel);
}
