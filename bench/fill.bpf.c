// SPDX-License-Identifier: GPL-2.0
/* Fills the tracer's ring with synthetic commands, so that its reader can be timed. */
#include "trace/kernel.bpf.h"

#include <bpf/bpf_helpers.h>

#include "capture/event.h"

char LICENSE[] SEC("license") = "GPL";

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 64);
	__type(key, u32);
	__array(values, struct ring);
} rings SEC(".maps");

u64 made;
u64 now_ns = 1000000000000;
u32 want;

static long one(u32 i, void *arg)
{
	u32 zero = 0;
	void *ring = bpf_map_lookup_elem(&rings, &zero);
	struct ev_nvme *c = ring ? bpf_ringbuf_reserve(ring, sizeof(*c), 0) : NULL;
	u32 r;

	if (!c)
		return 1;
	r = bpf_get_prandom_u32();
	now_ns += 700 + (r & 511);
	c->kind = EV_NVME;
	c->flags = NVME_PASSTHROUGH | NVME_ENTRY;
	c->opcode = 2;
	c->attempts = 1;
	c->status = 0;
	c->hwq = r >> 28;
	c->ts_ns = now_ns;
	c->lat_ns = 60000 + (r >> 16);
	c->user_data = (7000 + made / 160) << 32 | made;
	c->slba = (r % 1000000) * 32ull;
	c->bytes = 131072;
	c->wait_ns = 400 + (r & 255);
	c->dev = 259 << 20 | 1;
	c->nsid = 1;
	c->tid = 4242 + (r & 3);
	c->cid = (u16)made;
	c->nlb = 31;
	bpf_ringbuf_submit(c, BPF_RB_NO_WAKEUP);
	made++;
	return 0;
}

SEC("syscall")
int fill(void *ctx)
{
	bpf_loop(want, one, NULL, 0);
	return 0;
}
