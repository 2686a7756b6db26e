// SPDX-License-Identifier: Apache-2.0
#include "store/batch.h"

#include <errno.h>
#include <stdlib.h>

#include "kv/layout.h"
#include "lib/clock.h"

#define REAP 64u
#define TICK (100 * 1000000ull)

struct run {
	struct io_queue *q;
	struct batch_op *ops;
	const struct batch_how *how;
	struct batch_sums *sums;
	u32 n, next, step;
	/* Begun, with commands left to issue, in the order in which they began. */
	u32 *active;
	u32 n_active;
	u32 open; /* begun, not ended */
	u64 now;
};

static void add_errors(struct batch_sums *s, s32 res, u64 n)
{
	u32 i = 0;

	while (i < s->n_errors && s->error[i].res != res)
		i++;
	if (i == BATCH_ERRORS)
		i--;
	else if (i == s->n_errors)
		s->error[s->n_errors++].res = res;
	s->error[i].n += n;
}

void batch_sums_add(struct batch_sums *to, const struct batch_sums *from)
{
	u32 i, k;

	for (i = 0; i < N_KV_OPS; i++) {
		const struct hist *h = &from->of[i].lat_ns;
		struct hist *sum = &to->of[i].lat_ns;

		to->of[i].commands += from->of[i].commands;
		to->of[i].bytes += from->of[i].bytes;
		if (!h->n)
			continue;
		sum->min = sum->n ? MIN(sum->min, h->min) : h->min;
		sum->max = MAX(sum->max, h->max);
		sum->n += h->n;
		sum->sum += h->sum;
		for (k = 0; k < HIST_BUCKETS; k++)
			sum->bucket[k] += h->bucket[k];
	}
	to->failed += from->failed;
	to->refused += from->refused;
	for (i = 0; i < from->n_errors; i++)
		add_errors(to, from->error[i].res, from->error[i].n);
	to->most_in_flight = MAX(to->most_in_flight, from->most_in_flight);
}

static void fail(struct run *r, struct batch_op *o, s32 res, bool refused)
{
	if (!o->failed++)
		o->res = res;
	if (refused)
		r->sums->refused++;
	else
		r->sums->failed++;
	add_errors(r->sums, res, 1);
}

static void end(struct run *r, struct batch_op *o)
{
	o->end_ns = clock_ns(CLOCK_MONOTONIC);
	r->open--;
}

/* ---- issuing ---- */

static int begin(struct run *r, u32 i)
{
	struct batch_op *o = &r->ops[i];
	int ret = kv_plan(&o->plan, o->op == KV_STORE || o->with_header ? KV_STORE : KV_LOAD, o->payload_bytes,
			  o->header_bytes, r->how->xfer, r->how->align);

	if (ret)
		return ret;
	o->issued = o->done = 0;
	o->start_ns = clock_ns(CLOCK_MONOTONIC);
	r->active[r->n_active++] = i;
	r->open++;
	return 0;
}

/* Command number i in the order in which they are issued. */
static void locate(const struct run *r, const struct batch_op *o, u64 i, u64 *at, u64 *bytes)
{
	u64 n_header = o->plan.header.n, n_payload = o->plan.payload.n;

	/* The header is written last when the payload has to be there before it. */
	if (o->op == KV_STORE && r->how->header_last)
		i = i < n_payload ? n_header + i : i - n_payload;
	if (i < n_header) {
		*at = i * o->plan.header.xfer;
		*bytes = kv_split_at(&o->plan.header, i);
	} else {
		*at = o->header_bytes + (i - n_header) * o->plan.payload.xfer;
		*bytes = kv_split_at(&o->plan.payload, i - n_header);
	}
}

static bool must_wait(const struct run *r, const struct batch_op *o)
{
	if (r->how->window && o->issued - o->done >= r->how->window)
		return true;
	return o->op == KV_STORE && r->how->header_last && o->issued >= o->plan.payload.n &&
	       o->done < o->plan.payload.n;
}

/* 0, -EBUSY when the queue is full, -ERANGE. */
static int issue(struct run *r, u32 i)
{
	struct batch_op *o = &r->ops[i];
	struct io_command c = { .write = o->op == KV_STORE, .owner = i };
	u64 at, bytes;
	int ret;

	if (io_queue_full(r->q))
		return -EBUSY;
	locate(r, o, o->issued, &at, &bytes);
	ret = kv_tag(o->trace_id, atomic_fetch_add_explicit(r->how->counter, 1, memory_order_relaxed), &c.user_data);
	if (ret)
		return ret;
	c.offset = o->offset + at;
	c.bytes = (u32)bytes;
	c.buf = o->mem + at;
	ret = io_push(r->q, &c);
	if (ret == -EBUSY)
		return ret;
	o->issued++;
	if (ret) {
		/* It cannot be built: that is the end of this object, and of nothing else. */
		o->done++;
		fail(r, o, ret, true);
	}
	return 0;
}

static bool all_issued(const struct batch_op *o)
{
	return o->failed || o->res || o->issued == o->plan.commands;
}

/* Issues what limits allow.  0 or -ERANGE. */
static int fill(struct run *r)
{
	u32 i, left = 0;
	int ret = 0;

	while (r->next < r->n && (!r->how->objects || r->open < r->how->objects) && !ret) {
		/* More than the queue takes need not begin: their time would run for nothing. */
		if (r->n_active && io_queue_full(r->q))
			break;
		if (begin(r, r->next))
			return -EOVERFLOW;
		r->next += r->step;
		i = r->active[r->n_active - 1];
		while (!ret && !all_issued(&r->ops[i]) && !must_wait(r, &r->ops[i]))
			ret = issue(r, i);
	}
	for (i = 0; i < r->n_active && (!ret || ret == -EBUSY); i++) {
		struct batch_op *o = &r->ops[r->active[i]];

		while (!ret && !all_issued(o) && !must_wait(r, o))
			ret = issue(r, r->active[i]);
		if (!all_issued(o))
			r->active[left++] = r->active[i];
		else if (o->done == o->issued && !o->end_ns)
			end(r, o); /* its last command was refused, or it had none */
	}
	if (!ret || ret == -EBUSY)
		r->n_active = left;
	return ret == -EBUSY ? 0 : ret;
}

/* ---- completions ---- */

static void complete(struct run *r, const struct io_done *d)
{
	struct batch_op *o = &r->ops[d->cmd.owner];

	o->done++;
	if (d->res) {
		fail(r, o, d->res, d->res < 0);
	} else {
		r->sums->of[o->op].commands++;
		r->sums->of[o->op].bytes += d->cmd.bytes;
		hist_add(&r->sums->of[o->op].lat_ns, d->lat_ns);
	}
	if (o->done == o->issued && all_issued(o))
		end(r, o);
}

/* No more of anything: those that are not done end as they are. */
static void cancel(struct run *r)
{
	u32 i;

	r->next = r->n;
	for (i = 0; i < r->n_active; i++) {
		struct batch_op *o = &r->ops[r->active[i]];

		if (!o->res)
			o->res = -ECANCELED;
		if (o->done == o->issued && !o->end_ns)
			end(r, o);
	}
	r->n_active = 0;
}

static bool wedged(const struct run *r, u64 now)
{
	u64 oldest = io_queue_state(r->q).oldest_ns;

	return r->how->timeout_ns && oldest && now > oldest && now - oldest > r->how->timeout_ns;
}

static int loop(struct run *r, const volatile sig_atomic_t *stop)
{
	u64 tick = r->how->timeout_ns ? MIN(MAX(r->how->timeout_ns / 4, 1000000ull), TICK) : TICK;
	u64 next_check = clock_ns(CLOCK_MONOTONIC) + tick;
	struct io_done done[REAP];

	for (;;) {
		int ret, n, i;
		u64 now;

		if (*stop)
			cancel(r);
		ret = fill(r);
		if (ret)
			return ret;
		if (!r->open && r->next >= r->n)
			return 0;
		r->sums->most_in_flight = MAX(r->sums->most_in_flight, io_queue_in_flight(r->q));
		n = io_reap(r->q, done, REAP, tick);
		if (n < 0 && n != -ETIME && n != -EINTR)
			return n;
		for (i = 0; i < n; i++)
			complete(r, &done[i]);
		now = n > 0 ? next_check : clock_ns(CLOCK_MONOTONIC);
		if (n > 0 && r->how->timeout_ns)
			now = clock_ns(CLOCK_MONOTONIC);
		if (now >= next_check) {
			if (wedged(r, now))
				return -ETIME;
			next_check = now + tick;
		}
	}
}

int batch_run(struct io_queue *q, struct batch_op *ops, u32 n, u32 first, u32 step, const struct batch_how *how,
	      struct batch_sums *sums, const volatile sig_atomic_t *stop)
{
	struct run r = { .q = q, .ops = ops, .how = how, .sums = sums, .n = n, .next = first, .step = step };
	u32 i;
	int ret;

	if (first >= n)
		return 0;
	for (i = first; i < n; i += step) {
		ops[i].start_ns = ops[i].end_ns = 0;
		ops[i].res = 0;
		ops[i].failed = 0;
	}
	r.active = calloc((n - first - 1) / step + 1, sizeof(*r.active));
	if (!r.active)
		return -ENOMEM;
	ret = loop(&r, stop);
	/* What never began did not succeed. */
	for (i = first; i < n; i += step)
		if (!ops[i].start_ns || (ret && !ops[i].end_ns))
			ops[i].res = ops[i].res ? ops[i].res : ret ? ret : -ECANCELED;
	free(r.active);
	return ret;
}
