/* SPDX-License-Identifier: GPL-2.0 */
/* How many bytes a vector of the program asks for. */
#ifndef KVIO_VECTOR_BPF_H
#define KVIO_VECTOR_BPF_H

#include "trace/common.bpf.h"

#define MAX_IOVECS 1024 /* UIO_MAXIOV: the kernel takes no more */

struct iovec {
	u64 base, len;
};

struct vector {
	u64 at;
	u64 n;
	u64 bytes;
	u64 partial;
};

/*
 * The sum at hand, one a CPU and not on the stack: Linux 6.1 verifies one turn of
 * a loop only, with what the stack is then.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct vector);
} vector_room SEC(".maps");

static __always_inline struct vector *room_of_vector(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&vector_room, &zero);
}

static long add_iovec(u32 i, void *ctx)
{
	struct vector *v = room_of_vector();
	struct iovec one;

	if (!v || i >= v->n)
		return 1;
	if (read_user(&one, sizeof(one), (const void *)(v->at + i * sizeof(one)))) {
		v->partial = 1;
		return 1;
	}
	v->bytes += one.len;
	return 0;
}

/* The bytes of n elements; false when that is a lower bound. */
static __always_inline bool vector_sum(u64 at, u64 n, u64 *bytes)
{
	struct vector *v = room_of_vector();

	*bytes = 0;
	if (!v || n > MAX_IOVECS)
		return false;
	v->at = at;
	v->n = n;
	v->bytes = 0;
	v->partial = 0;
	bpf_loop(MAX_IOVECS, add_iovec, NULL, 0);
	*bytes = v->bytes;
	return !v->partial;
}

#endif
