// SPDX-License-Identifier: Apache-2.0
#include "io/readload.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "lib/clock.h"
#include "lib/hash.h"

#define PAGE	   4096ull
#define NO_COMMAND UINT64_MAX
/* FAULT_CQ_OVERFLOW: how long a batch gets to complete while nobody reaps. */
#define SETTLE_NS  (200 * 1000000ull)

void readload_plan(struct readload *l, const struct readload_plan *plan)
{
	*l = (struct readload){ .plan = *plan };
	l->n_objects = (plan->count + plan->per_object - 1) / plan->per_object;
	l->object_bytes = MIN(plan->per_object, plan->count) * plan->len;
	l->n_places = plan->offset < plan->capacity ? (plan->capacity - plan->offset) / l->object_bytes : 0;
}

u64 readload_offset(const struct readload *l, u64 i)
{
	u64 place = l->plan.random ? hash_u64(l->plan.seed * 0x9e3779b97f4a7c15ull + i) : i;

	return l->plan.offset + place % l->n_places * l->object_bytes;
}

u64 readload_commands(const struct readload *l, u64 i)
{
	return MIN(l->plan.per_object, l->plan.count - i * l->plan.per_object);
}

int readload_open(struct readload *l)
{
	u32 cq = l->plan.fault == FAULT_CQ_OVERFLOW ? l->plan.qd : 0;
	int ret;
	u32 i;

	/* What is never reaped keeps its buffer. */
	l->n_slots = l->plan.fault == FAULT_CQ_OVERFLOW ? (u32)l->plan.count : l->plan.qd;
	if (!l->n_slots || !l->n_objects)
		return -EINVAL;
	l->stride = (l->plan.len + PAGE - 1) / PAGE * PAGE;
	l->buffers = mmap(NULL, l->stride * l->n_slots, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (l->buffers == MAP_FAILED) {
		l->buffers = NULL;
		return -ENOMEM;
	}
	l->free_slot = calloc(l->n_slots, sizeof(*l->free_slot));
	l->slot_command = calloc(l->n_slots, sizeof(*l->slot_command));
	l->command_slot = calloc(l->plan.count, sizeof(*l->command_slot));
	l->latency_ns = calloc(l->plan.count, sizeof(*l->latency_ns));
	l->object = calloc(l->n_objects, sizeof(*l->object));
	if (!l->free_slot || !l->slot_command || !l->command_slot || !l->latency_ns || !l->object)
		return -ENOMEM;
	for (i = 0; i < l->n_slots; i++) {
		l->free_slot[i] = i;
		l->slot_command[i] = NO_COMMAND;
	}
	l->free_tail = l->n_slots;
	ret = ring_open(&l->ring, l->plan.qd, cq);
	l->ring_opened = !ret;
	return ret;
}

void readload_close(struct readload *l)
{
	if (l->buffers && !l->ring.in_flight)
		munmap(l->buffers, l->stride * l->n_slots);
	if (l->ring_opened)
		ring_close(&l->ring);
	free(l->free_slot);
	free(l->slot_command);
	free(l->command_slot);
	free(l->latency_ns);
	free(l->object);
	*l = (struct readload){};
}

static struct nvme_uring_cmd make_command(const struct readload *l, u64 n, void *buf)
{
	const struct readload_plan *p = &l->plan;
	u32 nlb = (u32)(p->len / p->lba_bytes);
	u64 at = readload_offset(l, n / p->per_object) + n % p->per_object * p->len;
	u64 slba = (p->fault == FAULT_PAST_END ? p->capacity : at) / p->lba_bytes;
	struct nvme_uring_cmd cmd = ring_read_cmd(p->nsid, slba, nlb, buf, (u32)p->len);

	if (p->fault == FAULT_BAD_OPCODE)
		cmd.opcode = 0x7e; /* reserved, and by its low bits a transfer to the host */
	/* Above MDTS the drive must refuse before it transfers anything, else it would write behind the buffer. */
	if (p->fault == FAULT_BAD_LENGTH)
		cmd.cdw12 = (u32)(p->mdts_bytes / p->lba_bytes); /* zero-based: one block more */
	return cmd;
}

static int issue(struct readload *l)
{
	u64 n = l->issued, object = n / l->plan.per_object;
	u32 slot = l->free_slot[l->free_head++ % l->n_slots];
	struct nvme_uring_cmd cmd = make_command(l, n, l->buffers + slot * l->stride);
	u64 now = clock_ns(CLOCK_MONOTONIC);
	int ret;

	ret = ring_push(&l->ring, l->plan.fd, &cmd, (l->plan.trace_base + object) << 32 | n);
	if (ret)
		return ret;
	l->slot_command[slot] = n;
	l->command_slot[n] = slot;
	l->latency_ns[n] = now; /* its start, until it is done */
	if (!l->object[object].start_ns)
		l->object[object].start_ns = now;
	if (!n)
		l->first_ns = now;
	l->issued++;
	ret = ring_submit(&l->ring);
	/* The kernel is short of something: it stays queued and is handed over after the next completion. */
	return (ret == -EBUSY || ret == -EAGAIN) && l->ring.in_flight ? 0 : ret;
}

static void count_error(struct readload *l, s32 res)
{
	u32 i = 0;

	while (i < l->n_errors && l->error[i].res != res)
		i++;
	if (i == ARRAY_SIZE(l->error))
		i--;
	else if (i == l->n_errors)
		l->error[l->n_errors++].res = res;
	l->error[i].n++;
}

/* -EPROTO when no such command is in flight: the kernel and we disagree, and buffers are not safe. */
static int complete(struct readload *l, const struct ring_done *done, u64 now)
{
	u64 n = done->user_data & UINT32_MAX;
	struct readload_object *o;
	u32 slot;

	if (n >= l->issued || l->slot_command[l->command_slot[n]] != n)
		return -EPROTO;
	slot = l->command_slot[n];
	o = &l->object[n / l->plan.per_object];
	l->slot_command[slot] = NO_COMMAND;
	l->free_slot[l->free_tail++ % l->n_slots] = slot;
	l->completed++;
	l->last_ns = now;
	o->end_ns = now;
	o->done++;
	if (!done->res) {
		l->latency_ns[n] = now - l->latency_ns[n];
		l->ok++;
		return 0;
	}
	/* Failed ones answer fast: in the figures they would flatter. */
	l->latency_ns[n] = UINT64_MAX;
	if (!o->failed++)
		o->first_error = done->res;
	if (done->res < 0)
		l->refused++;
	else
		l->failed++;
	count_error(l, done->res);
	return 0;
}

/* A command that the device does not answer must not look like a slow run. */
static bool find_wedged(struct readload *l, u64 now)
{
	u64 oldest = NO_COMMAND;
	u32 i;

	for (i = 0; i < l->n_slots; i++) {
		u64 n = l->slot_command[i];

		if (n != NO_COMMAND && now - l->latency_ns[n] > l->plan.timeout_ns)
			oldest = MIN(oldest, n);
	}
	l->wedged_command = oldest;
	return oldest != NO_COMMAND;
}

static void sleep_ns(u64 ns, const volatile sig_atomic_t *stop)
{
	struct timespec t = { (time_t)(ns / NSEC_PER_SEC), (long)(ns % NSEC_PER_SEC) };

	while (!*stop && nanosleep(&t, &t) && errno == EINTR)
		;
}

static bool may_issue(struct readload *l, const volatile sig_atomic_t *stop)
{
	if (*stop || l->issued == l->plan.count || l->free_head == l->free_tail || l->ring.prepared)
		return false;
	if (!l->plan.pause_ns || !l->issued || l->issued % l->plan.per_object)
		return true;
	if (l->ring.in_flight)
		return false;
	sleep_ns(l->plan.pause_ns, stop);
	return !*stop;
}

/* Only the latencies of the ok ones stay. */
static void pack_latencies(struct readload *l)
{
	u64 i, n = 0;

	for (i = 0; i < l->issued; i++)
		if (l->latency_ns[i] != UINT64_MAX && l->slot_command[l->command_slot[i]] != i)
			l->latency_ns[n++] = l->latency_ns[i];
}

static int loop(struct readload *l, const volatile sig_atomic_t *stop)
{
	u64 tick = MAX(l->plan.timeout_ns / 4, 1000000ull), next_check = clock_ns(CLOCK_MONOTONIC) + tick;
	bool hold = l->plan.fault == FAULT_CQ_OVERFLOW;
	struct ring_done done[64];

	while (l->completed < l->issued || (l->issued < l->plan.count && !*stop)) {
		int ret, i, n;
		u64 now;

		ret = ring_submit(&l->ring);
		if (ret && !l->ring.in_flight)
			return ret;
		while (may_issue(l, stop)) {
			ret = issue(l);
			if (ret)
				return ret;
			if (hold && (!(l->issued % l->plan.qd) || l->issued == l->plan.count))
				sleep_ns(SETTLE_NS, stop);
		}
		if (hold) {
			l->overflowed = ring_overflowed(&l->ring);
			hold = false;
		}
		n = ring_reap(&l->ring, done, ARRAY_SIZE(done), tick);
		if (n < 0 && n != -ETIME && n != -EINTR && n != -EAGAIN)
			return n;
		now = clock_ns(CLOCK_MONOTONIC);
		for (i = 0; i < n; i++) {
			ret = complete(l, &done[i], now);
			if (ret)
				return ret;
		}
		if (now >= next_check) {
			if (find_wedged(l, now))
				return -ETIME;
			next_check = now + tick;
		}
	}
	return 0;
}

int readload_run(struct readload *l, const volatile sig_atomic_t *stop)
{
	int ret = loop(l, stop);

	pack_latencies(l);
	return ret;
}
