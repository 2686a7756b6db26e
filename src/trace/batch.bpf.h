/* SPDX-License-Identifier: GPL-2.0 */
/* Records that go into the ring together: for a tracer with a struct batch of its own, see batch_shared.h. */
#ifndef KVIO_BATCH_BPF_H
#define KVIO_BATCH_BPF_H

#include "trace/common.bpf.h"

struct batch batches[BATCH_CPUS];

static __always_inline struct batch *this_batch(void)
{
	u32 cpu = bpf_get_smp_processor_id();

	return cpu < BATCH_CPUS ? &batches[cpu & (BATCH_CPUS - 1)] : NULL;
}

/* What is done of a batch in between is whole for an interrupt on this CPU. */
static __always_inline void set_busy(struct batch *b, bool busy)
{
	barrier();
	*(volatile u32 *)&b->head.busy = busy;
	barrier();
}

static __always_inline void put_batch(struct batch *b, bool now)
{
	void *ring = this_ring();
	u64 flag = BPF_RB_FORCE_WAKEUP;
	bool stored = false;
	u32 n = b->head.n;

	if (!n || n > BATCH_MAX)
		return;
	if (ring) {
		if (!now && bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) < cfg.wake_bytes)
			flag = BPF_RB_NO_WAKEUP;
		stored = !bpf_ringbuf_output(ring, b->ev, n * sizeof(b->ev[0]), flag);
	}
	count_by(stored ? N_STORED : N_RING_FULL, n);
	b->head.n = 0;
	b->head.taken++;
}

/* Before something is told that is to come behind the records so far. */
static __always_inline void empty_first(struct batch *b)
{
	if (!b || !b->head.n || b->head.busy)
		return;
	set_busy(b, true);
	put_batch(b, false);
	set_busy(b, false);
}

typedef __typeof__(((struct batch *)0)->ev[0]) batch_record;

/*
 * Stores the record; it is counted as stored or lost when that is decided.
 * `last`: nothing is to come behind it in its batch.  `now`: the reader is to
 * look at once.
 */
static __always_inline void batch_store(struct batch *b, const batch_record *record, bool last, bool now)
{
	u32 n;

	if (!b || b->head.busy) {
		count(put_flagged(record, sizeof(*record), now) ? N_STORED : N_RING_FULL);
		return;
	}
	set_busy(b, true);
	n = b->head.n;
	b->ev[n & (BATCH_MAX - 1)] = *record;
	b->head.n = ++n;
	if (n >= cfg.batch || last || now)
		put_batch(b, now);
	set_busy(b, false);
}

/* Run by user space on a CPU whose records have waited. */
SEC("?raw_tp")
int empty_batch(void *ctx)
{
	empty_first(this_batch());
	return 0;
}

#endif
