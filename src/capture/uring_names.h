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
/* True when the data is in several places, whose number the record has. */
static inline bool uring_is_vector(u8 opcode)
{
	return opcode == 1 || opcode == 2 || opcode == 60 || opcode == 61;
}

#endif
