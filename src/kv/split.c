// SPDX-License-Identifier: Apache-2.0
#include "kv/split.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kv/layout.h"

const char *kv_op_name(enum kv_op op)
{
	return op == KV_STORE ? "store" : "load";
}

int kv_split(struct kv_split *s, u64 bytes, u64 xfer, u64 align)
{
	*s = (struct kv_split){ .xfer = xfer };
	if (!bytes)
		return 0;
	s->n = (bytes - 1) / xfer + 1;
	if (kv_round_up(bytes - (s->n - 1) * xfer, align, &s->last))
		return -EOVERFLOW;
	return __builtin_add_overflow((s->n - 1) * xfer, s->last, &s->bytes) ? -EOVERFLOW : 0;
}

int kv_xfer(const struct kv_limits *l, u64 *xfer, char *why)
{
	u64 align = MAX(l->align, 1ull), page = l->page_bytes ? l->page_bytes : 4096;
	const struct {
		const char *name;
		u64 v;
	} bounds[] = { { "mdts-bytes", l->mdts_bytes }, { "max-xfer", l->max_xfer } };
	u64 v = UINT64_MAX;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bounds); i++)
		if (bounds[i].v && bounds[i].v < v) {
			v = bounds[i].v;
			if (v % align) {
				snprintf(why, KV_WHY, "--%s %llu is no multiple of the alignment %llu", bounds[i].name,
					 (unsigned long long)v, (unsigned long long)align);
				return -EINVAL;
			}
		}
	if (l->max_segments)
		v = MIN(v, MAX(l->max_segments * page / align, 1ull) * align);
	if (v == UINT64_MAX) {
		snprintf(why, KV_WHY, "nothing bounds a command: --mdts-bytes is 0");
		return -EINVAL;
	}
	*xfer = v;
	return 0;
}

int kv_plan(struct kv_plan *p, enum kv_op op, u64 payload, u64 header, u64 xfer, u64 align)
{
	int ret;

	*p = (struct kv_plan){ .device_ops = op == KV_STORE ? 2 : 1 };
	ret = kv_split(&p->header, op == KV_STORE ? header : 0, xfer, align);
	if (!ret)
		ret = kv_split(&p->payload, payload, xfer, align);
	p->commands = p->header.n + p->payload.n;
	if (!ret && __builtin_add_overflow(p->header.bytes, p->payload.bytes, &p->device_bytes))
		ret = -EOVERFLOW;
	return ret;
}
