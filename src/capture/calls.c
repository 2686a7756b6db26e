// SPDX-License-Identifier: Apache-2.0
#include "capture/calls.h"

#include <string.h>
#include <sys/syscall.h>

/* Calls that newer architectures do not have. */
#ifdef SYS_open
#define OLD(nr) (nr)
#else
#define OLD(nr) (-1)
#endif

/* clang-format off */
static const struct {
	const char *name;
	enum call_class class;
	int number;
} calls[N_CALLS] = {
	[CALL_NONE] = { "other", CALL_IS_OTHER, -1 },
	[CALL_READ] = { "read", CALL_IS_READ, SYS_read },
	[CALL_WRITE] = { "write", CALL_IS_WRITE, SYS_write },
	[CALL_PREAD64] = { "pread64", CALL_IS_READ, SYS_pread64 },
	[CALL_PWRITE64] = { "pwrite64", CALL_IS_WRITE, SYS_pwrite64 },
	[CALL_READV] = { "readv", CALL_IS_READ, SYS_readv },
	[CALL_WRITEV] = { "writev", CALL_IS_WRITE, SYS_writev },
	[CALL_PREADV] = { "preadv", CALL_IS_READ, SYS_preadv },
	[CALL_PWRITEV] = { "pwritev", CALL_IS_WRITE, SYS_pwritev },
	[CALL_PREADV2] = { "preadv2", CALL_IS_READ, SYS_preadv2 },
	[CALL_PWRITEV2] = { "pwritev2", CALL_IS_WRITE, SYS_pwritev2 },
	[CALL_OPEN] = { "open", CALL_IS_OTHER, OLD(SYS_open) },
	[CALL_CREAT] = { "creat", CALL_IS_OTHER, OLD(SYS_creat) },
	[CALL_OPENAT] = { "openat", CALL_IS_OTHER, SYS_openat },
	[CALL_OPENAT2] = { "openat2", CALL_IS_OTHER, SYS_openat2 },
	[CALL_CLOSE] = { "close", CALL_IS_OTHER, SYS_close },
	[CALL_DUP] = { "dup", CALL_IS_OTHER, SYS_dup },
	[CALL_DUP2] = { "dup2", CALL_IS_OTHER, OLD(SYS_dup2) },
	[CALL_DUP3] = { "dup3", CALL_IS_OTHER, SYS_dup3 },
	[CALL_LSEEK] = { "lseek", CALL_IS_OTHER, SYS_lseek },
	[CALL_FSYNC] = { "fsync", CALL_IS_OTHER, SYS_fsync },
	[CALL_FDATASYNC] = { "fdatasync", CALL_IS_OTHER, SYS_fdatasync },
	[CALL_SYNC_FILE_RANGE] = { "sync_file_range", CALL_IS_OTHER, SYS_sync_file_range },
	[CALL_FALLOCATE] = { "fallocate", CALL_IS_OTHER, SYS_fallocate },
	[CALL_MMAP] = { "mmap", CALL_IS_OTHER, SYS_mmap },
	[CALL_MUNMAP] = { "munmap", CALL_IS_OTHER, SYS_munmap },
	[CALL_MSYNC] = { "msync", CALL_IS_OTHER, SYS_msync },
	[CALL_COPY_FILE_RANGE] = { "copy_file_range", CALL_IS_COPY, SYS_copy_file_range },
	[CALL_SENDFILE] = { "sendfile", CALL_IS_COPY, SYS_sendfile },
	[CALL_IO_URING_ENTER] = { "io_uring_enter", CALL_IS_OTHER, SYS_io_uring_enter },
};
/* clang-format on */

const char *call_name(u16 call)
{
	return calls[call < N_CALLS ? call : CALL_NONE].name;
}

const char *call_error(s64 ret)
{
	/* Of the kernel alone, no C library has them. */
	static const char *const restarts[] = { "ERESTARTSYS", "ERESTARTNOINTR", "ERESTARTNOHAND", NULL,
						"ERESTART_RESTARTBLOCK" };

	if (ret >= 0 || ret <= -4096)
		return NULL;
	if (ret <= -512 && ret > -512 - (s64)ARRAY_SIZE(restarts))
		return restarts[-ret - 512];
	return strerrorname_np((int)-ret);
}

int call_number(u16 call)
{
	return calls[call < N_CALLS ? call : CALL_NONE].number;
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

bool call_reads(u16 call)
{
	return call_class(call) == CALL_IS_READ || call_class(call) == CALL_IS_COPY;
}

bool call_writes(u16 call)
{
	return call_class(call) == CALL_IS_WRITE || call == CALL_COPY_FILE_RANGE;
}
