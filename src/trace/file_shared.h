/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* The path of a file on its way from the programs to files.c. */
#ifndef KVIO_FILE_SHARED_H
#define KVIO_FILE_SHARED_H

#ifndef __bpf__
#include "lib/types.h"
#endif

#define RAW_PATH	201
#define PATH_COMPONENTS 64
#define PATH_TEXT	4096 /* a power of two */
#define NAME_BYTES	256  /* a name and its zero */

/* The names from the file up to the root, each with a zero behind. */
struct raw_path {
	u8 kind;
	u8 pad[3];
	u32 dev;
	u64 ts_ns;
	u64 ino;
	u32 n; /* bytes of text */
	u32 pad2;
	char text[2 * PATH_TEXT]; /* twice what is used: the verifier sees no more than a mask */
};

#endif
