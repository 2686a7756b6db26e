// SPDX-License-Identifier: Apache-2.0
#include "capture/uring_names.h"

#include <string.h>

/* In the order of the kernel's ABI, to Linux 6.18. */
static const char *const names[] = {
	"nop",
	"readv",
	"writev",
	"fsync",
	"read_fixed",
	"write_fixed",
	"poll_add",
	"poll_remove",
	"sync_file_range",
	"sendmsg",
	"recvmsg",
	"timeout",
	"timeout_remove",
	"accept",
	"async_cancel",
	"link_timeout",
	"connect",
	"fallocate",
	"openat",
	"close",
	"files_update",
	"statx",
	"read",
	"write",
	"fadvise",
	"madvise",
	"send",
	"recv",
	"openat2",
	"epoll_ctl",
	"splice",
	"provide_buffers",
	"remove_buffers",
	"tee",
	"shutdown",
	"renameat",
	"unlinkat",
	"mkdirat",
	"symlinkat",
	"linkat",
	"msg_ring",
	"fsetxattr",
	"setxattr",
	"fgetxattr",
	"getxattr",
	"socket",
	"uring_cmd",
	"send_zc",
	"sendmsg_zc",
	"read_multishot",
	"waitid",
	"futex_wait",
	"futex_wake",
	"futex_waitv",
	"fixed_fd_install",
	"ftruncate",
	"bind",
	"listen",
	"recv_zc",
	"epoll_wait",
	"readv_fixed",
	"writev_fixed",
	"pipe",
};

const char *uring_op_name(u8 opcode)
{
	return opcode < ARRAY_SIZE(names) ? names[opcode] : "other";
}

bool uring_op_find(const char *name, u8 *opcode)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(names[i], name))
			continue;
		*opcode = (u8)i;
		return true;
	}
	return false;
}

enum call_class uring_op_class(u8 opcode)
{
	switch (opcode) {
	case 1:
	case 4:
	case 22:
	case 49:
	case 60:
		return CALL_IS_READ;
	case 2:
	case 5:
	case 23:
	case 61:
		return CALL_IS_WRITE;
	default:
		return CALL_IS_OTHER;
	}
}
