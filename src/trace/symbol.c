// SPDX-License-Identifier: Apache-2.0
/* The kernel is asked for one symbol where it can be (5.16): a list of all takes it half a second to write on a slow
 * machine. */
#include "trace/symbol.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NAME_BYTES 64
#define FOUND	   (-8) /* on the program's stack: the address, and below it the name */
#define NAME	   (FOUND - NAME_BYTES)

/* What the program gets and gives. */
struct answer {
	u64 address;
};

static struct bpf_insn store_word(int16_t at, u32 word)
{
	return (struct bpf_insn){ .code = BPF_ST | BPF_MEM | BPF_W, .dst_reg = BPF_REG_10, .off = at, .imm = (s32)word };
}

/* 0 with the address, which may be 0, or -errno: the kernel does not take the program. */
static int ask(const char name[NAME_BYTES], u64 *address)
{
	static const struct bpf_insn call[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_6, .src_reg = BPF_REG_1 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_10 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_1, .imm = NAME },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = NAME_BYTES },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_4, .src_reg = BPF_REG_10 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_4, .imm = FOUND },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_kallsyms_lookup_name },
		{ .code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_10, .off = FOUND },
		{ .code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_6, .src_reg = BPF_REG_1 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	struct bpf_insn insns[(NAME_BYTES - FOUND) / sizeof(u32) + ARRAY_SIZE(call)];
	struct answer answer = {};
	LIBBPF_OPTS(bpf_prog_load_opts, load, .prog_flags = BPF_F_SLEEPABLE);
	LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = &answer, .ctx_size_in = sizeof(answer));
	size_t n = 0;
	int16_t at;
	int fd, ret;

	for (at = NAME; at < 0; at = (int16_t)(at + sizeof(u32))) {
		u32 word = 0;

		if (at < FOUND)
			memcpy(&word, name + at - NAME, sizeof(word));
		insns[n++] = store_word(at, word);
	}
	memcpy(insns + n, call, sizeof(call));
	fd = bpf_prog_load(BPF_PROG_TYPE_SYSCALL, "kvio_symbol", "GPL", insns, n + ARRAY_SIZE(call), &load);
	if (fd < 0)
		return fd;
	ret = bpf_prog_test_run_opts(fd, &run);
	close(fd);
	*address = answer.address;
	return ret;
}

static u64 read_list(const char *name)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	unsigned long long at, address = 0;
	char one[NAME_BYTES];

	while (f && fscanf(f, "%llx %*c %63s%*[^\n]", &at, one) == 2)
		if (!strcmp(one, name)) {
			address = at;
			break;
		}
	if (f)
		fclose(f);
	return address;
}

u64 symbol_address(const char *name)
{
	char padded[NAME_BYTES] = "";
	u64 address;

	snprintf(padded, sizeof(padded), "%s", name);
	return ask(padded, &address) ? read_list(name) : address;
}
