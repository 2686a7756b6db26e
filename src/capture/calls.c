// SPDX-License-Identifier: Apache-2.0
#include "capture/calls.h"

#include <string.h>

/* clang-format off */
static const struct {
	const char *name;
	enum call_class class;
} calls[N_CALLS] = {
	[CALL_NONE] = { "other", CALL_IS_OTHER },
	[CALL_READ] = { "read", CALL_IS_READ },
	[CALL_WRITE] = { "write", CALL_IS_WRITE },
	[CALL_PREAD64] = { "pread64", CALL_IS_READ },
	[CALL_PWRITE64] = { "pwrite64", CALL_IS_WRITE },
	[CALL_READV] = { "readv", CALL_IS_READ },
	[CALL_WRITEV] = { "writev", CALL_IS_WRITE },
	[CALL_PREADV] = { "preadv", CALL_IS_READ },
	[CALL_PWRITEV] = { "pwritev", CALL_IS_WRITE },
	[CALL_PREADV2] = { "preadv2", CALL_IS_READ },
	[CALL_PWRITEV2] = { "pwritev2", CALL_IS_WRITE },
	[CALL_OPEN] = { "open", CALL_IS_OTHER },
	[CALL_CREAT] = { "creat", CALL_IS_OTHER },
	[CALL_OPENAT] = { "openat", CALL_IS_OTHER },
	[CALL_OPENAT2] = { "openat2", CALL_IS_OTHER },
	[CALL_CLOSE] = { "close", CALL_IS_OTHER },
	[CALL_DUP] = { "dup", CALL_IS_OTHER },
	[CALL_DUP2] = { "dup2", CALL_IS_OTHER },
	[CALL_DUP3] = { "dup3", CALL_IS_OTHER },
	[CALL_LSEEK] = { "lseek", CALL_IS_OTHER },
	[CALL_FSYNC] = { "fsync", CALL_IS_OTHER },
	[CALL_FDATASYNC] = { "fdatasync", CALL_IS_OTHER },
	[CALL_SYNC_FILE_RANGE] = { "sync_file_range", CALL_IS_OTHER },
	[CALL_FALLOCATE] = { "fallocate", CALL_IS_OTHER },
	[CALL_MMAP] = { "mmap", CALL_IS_OTHER },
	[CALL_MUNMAP] = { "munmap", CALL_IS_OTHER },
	[CALL_MSYNC] = { "msync", CALL_IS_OTHER },
	[CALL_COPY_FILE_RANGE] = { "copy_file_range", CALL_IS_COPY },
	[CALL_SENDFILE] = { "sendfile", CALL_IS_COPY },
	[CALL_IO_URING_ENTER] = { "io_uring_enter", CALL_IS_OTHER },
};
/* clang-format on */

const char *call_name(u16 call)
{
	return calls[call < N_CALLS ? call : CALL_NONE].name;
}

u16 call_find(const char *name, size_t n)
{
	u32 call;

	for (call = CALL_NONE + 1; call < N_CALLS; call++)
		if (strlen(calls[call].name) == n && !memcmp(calls[call].name, name, n))
			return (u16)call;
	return CALL_NONE;
}

enum call_class call_class(u16 call)
{
	return calls[call < N_CALLS ? call : CALL_NONE].class;
}
