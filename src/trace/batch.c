// SPDX-License-Identifier: Apache-2.0
#include "trace/batch.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

static const struct batch_head *batch_of(const struct batches *b, u32 cpu)
{
	return (const void *)((const char *)b->first + cpu * b->bytes);
}

static u32 cpus(const struct batches *b)
{
	return b->first ? BATCH_CPUS : 0;
}

static u32 waiting_on(const struct batch_head *h)
{
	return MIN(__atomic_load_n(&h->n, __ATOMIC_RELAXED), BATCH_MAX);
}

u64 batches_waiting(const struct batches *b)
{
	u64 n = 0;
	u32 cpu;

	for (cpu = 0; cpu < cpus(b); cpu++)
		n += waiting_on(batch_of(b, cpu));
	return n;
}

void batches_push(struct batches *b)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .flags = BPF_F_TEST_RUN_ON_CPU);
	u32 cpu, taken;

	for (cpu = 0; cpu < cpus(b); cpu++) {
		if (!waiting_on(batch_of(b, cpu)))
			continue;
		/* A CPU that is busy with events empties its batch itself. */
		taken = __atomic_load_n(&batch_of(b, cpu)->taken, __ATOMIC_RELAXED);
		opts.cpu = cpu;
		if (b->taken[cpu] == taken)
			bpf_prog_test_run_opts(bpf_program__fd(b->empty), &opts);
		b->taken[cpu] = taken;
	}
}

int batches_rest(const struct batches *b, int (*fn)(void *arg, const void *records, size_t bytes), void *arg)
{
	u32 cpu, n;
	int ret = 0;

	for (cpu = 0; cpu < cpus(b) && !ret; cpu++) {
		n = waiting_on(batch_of(b, cpu));
		if (n)
			ret = fn(arg, batch_of(b, cpu) + 1, n * b->record_bytes);
	}
	return ret;
}
