/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of the operations of io_uring. */
#ifndef KVIO_URING_NAMES_H
#define KVIO_URING_NAMES_H

#include "capture/calls.h"

/* "read", "writev", "uring_cmd", ...: the kernel's name in lower case; "other" when it is not known. */
const char *uring_op_name(u8 opcode);
/* The operation of that name. */
bool uring_op_find(const char *name, u8 *opcode);
/* What the bytes of its result are.  Passthrough commands are CALL_IS_OTHER. */
enum call_class uring_op_class(u8 opcode);
/* True when the record has a size: reads, writes, ranges, passthrough. */
static inline bool uring_is_passthrough(u8 opcode)
{
	return opcode == 46;
}
/* Of a request that completed; a passthrough command that failed on its device has the NVMe status. */
static inline bool uring_failed(const struct ev_uring *e)
{
	return e->res < 0 || (uring_is_passthrough(e->opcode) && e->res);
}
/* What the bytes are that a request moved which did not fail, and how many. */
static inline enum call_class uring_moved(const struct ev_uring *e, u64 *bytes)
{
	*bytes = e->res > 0 ? (u64)e->res : 0;
	if (!uring_is_passthrough(e->opcode))
		return uring_op_class(e->opcode);
	/* The device does all of a command or nothing. */
	*bytes = e->size;
	return e->sub == 2 ? CALL_IS_READ : e->sub == 1 ? CALL_IS_WRITE : CALL_IS_OTHER;
}
/* True when the data is in several places, whose number the record has. */
static inline bool uring_is_vector(u8 opcode)
{
	return opcode == 1 || opcode == 2 || opcode == 60 || opcode == 61;
}

#endif
