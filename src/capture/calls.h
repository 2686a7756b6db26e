/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of the system calls of enum ev_call. */
#ifndef KVIO_CALLS_H
#define KVIO_CALLS_H

#include "capture/event.h"

/* What a call does with the bytes that it returns. */
enum call_class {
	CALL_IS_READ,  /* from fd to the program */
	CALL_IS_WRITE, /* from the program to fd */
	CALL_IS_COPY,  /* from fd to fd2 */
	CALL_IS_OTHER, /* returns something else */
};

/* Its name as in the kernel's table, "other" when it is not known. */
const char *call_name(u16 call);
/*
 * The name of a negated errno, NULL when `ret` is none.  A call that a signal ended has
 * the kernel's own (ERESTARTSYS and others): the program sees EINTR, or it begins again.
 */
const char *call_error(s64 ret);
/* Its number on this architecture, -1 when it has none. */
int call_number(u16 call);
/* The call of that name, CALL_NONE when there is none. */
u16 call_find(const char *name, size_t n);
enum call_class call_class(u16 call);
/* `offset` is an address in memory, not a place in a file. */
static inline bool call_has_address(u16 call)
{
	return call == CALL_MUNMAP || call == CALL_MSYNC;
}
/* fd2 is a file that the call writes to. */
static inline bool call_has_target(u16 call)
{
	return call == CALL_COPY_FILE_RANGE || call == CALL_SENDFILE;
}
/* What it returns is a descriptor. */
static inline bool call_returns_fd(u16 call)
{
	return call == CALL_OPEN || call == CALL_CREAT || call == CALL_OPENAT || call == CALL_OPENAT2 ||
	       call == CALL_DUP || call == CALL_DUP2 || call == CALL_DUP3;
}
/* What it returns was read from a file, or written to one; copy_file_range does both.  sendfile writes to a socket. */
bool call_reads(u16 call);
bool call_writes(u16 call);

#endif
