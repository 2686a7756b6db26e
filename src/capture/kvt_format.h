/* SPDX-License-Identifier: Apache-2.0 */
/* What the writer and the reader of .kvt share; see kvt.h for the format. */
#ifndef KVIO_KVT_FORMAT_H
#define KVIO_KVT_FORMAT_H

#include <zlib.h>

#include "capture/kvt.h"

#define KVT_BLOCK_MAGIC 0x4254564bu /* "KVTB" */
#define KVT_MAX_BLOCK	(64u << 20) /* a larger size in a header is damage */

struct kvt_head {
	char magic[8];
	u32 version;
	u32 pad;
};

/* CRC-32 of the header with its crc taken as 0, then the stored payload. */
static inline u32 kvt_crc(const struct kvt_block *b, const void *stored)
{
	struct kvt_block h = *b;
	uLong crc;

	h.crc = 0;
	crc = crc32(0, (const Bytef *)&h, sizeof(h));
	return (u32)crc32(crc, stored, b->stored);
}

#endif
