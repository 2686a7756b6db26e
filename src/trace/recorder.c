// SPDX-License-Identifier: Apache-2.0
#include "trace/recorder.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "capture/cache.h"
#include "capture/calls.h"
#include "capture/uring_names.h"
#include "lib/clock.h"

#define POLL_MS	     100
#define TICK_NS	     NSEC_PER_SEC
#define ANCHOR_TICKS 10
/* How long commands of a program that has ended may still take to complete. */
#define LINGER_NS    (NSEC_PER_SEC / 2)

static volatile sig_atomic_t stop_signals;

static void on_stop(int sig)
{
	static const char msg[] = "\nkvio record: second signal: stopping at once, the capture has no footer\n";

	(void)sig;
	if (++stop_signals < 2)
		return;
	trace_abandon();
	if (write(STDERR_FILENO, msg, sizeof(msg) - 1) < 0)
		_exit(1);
	_exit(1);
}

static void on_child(int sig)
{
	(void)sig; /* only to end a wait early */
}

void recorder_catch_signals(void)
{
	struct sigaction stop = { .sa_handler = on_stop }, child = { .sa_handler = on_child };

	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGHUP, &stop, NULL);
	sigaction(SIGCHLD, &child, NULL);
}

static void add_command(struct recorder_totals *t, const struct ev_nvme *c)
{
	if (c->flags & NVME_IN_FLIGHT) {
		t->snapshots++;
		return;
	}
	t->count[c->kind]++;
	t->passthrough += !!(c->flags & NVME_PASSTHROUGH);
	t->reissued += c->attempts > 1;
	if (!t->first_ns || c->ts_ns < t->first_ns)
		t->first_ns = c->ts_ns;
	t->last_ns = MAX(t->last_ns, c->ts_ns + c->lat_ns);
	if (c->flags & NVME_REFUSED) {
		t->refused++;
		return;
	}
	if (c->status) {
		t->failed++;
		return;
	}
	if (c->flags & NVME_ADMIN) {
		t->others++;
	} else if (c->opcode == 2) {
		t->reads++;
		t->read_bytes += c->bytes;
	} else if (c->opcode == 1) {
		t->writes++;
		t->write_bytes += c->bytes;
	} else {
		t->others++;
	}
	hist_add(&t->lat, c->lat_ns);
}

static void add_call(struct recorder_totals *t, const struct ev_syscall *c)
{
	t->count[EV_SYSCALL]++;
	if (c->ret < 0) {
		t->calls_failed++;
		return;
	}
	if (call_reads(c->call)) {
		t->call_reads++;
		t->call_read_bytes += (u64)c->ret;
	}
	if (call_writes(c->call)) {
		t->call_writes++;
		t->call_write_bytes += (u64)c->ret;
	}
}

static void add_request(struct recorder_totals *t, const struct ev_uring *e)
{
	u64 bytes;

	if (e->flags & URING_UNFINISHED) {
		t->snapshots++;
		return;
	}
	t->count[EV_URING]++;
	if (uring_failed(e)) {
		t->requests_failed++;
		return;
	}
	switch (uring_moved(e, &bytes)) {
	case CALL_IS_READ:
		t->request_reads++;
		t->request_read_bytes += bytes;
		break;
	case CALL_IS_WRITE:
		t->request_writes++;
		t->request_write_bytes += bytes;
		break;
	default:
		break;
	}
}

static void add_file(struct recorder_totals *t, const struct ev_cache *c)
{
	t->files++;
	cache_add(&t->files_sum, c);
}

static void add_block(struct recorder_totals *t, const struct ev_block *b)
{
	*(b->write ? &t->block_writes : &t->block_reads) += b->requests;
	*(b->write ? &t->block_write_bytes : &t->block_read_bytes) += b->bytes;
}

struct ev_loss recorder_loss(const struct recorder_totals *t)
{
	struct ev_loss sum = {};
	size_t i;

	for (i = 0; i < EV_WITNESSES; i++) {
		sum.seen += t->loss[i].seen;
		sum.stored += t->loss[i].stored;
		sum.ring_full += t->loss[i].ring_full;
		sum.map_full += t->loss[i].map_full;
		sum.hook_missed += t->loss[i].hook_missed;
		sum.unread += t->loss[i].unread;
		sum.filtered += t->loss[i].filtered;
	}
	return sum;
}

static void tell_named(struct recorder *r, const struct ev_path *e)
{
	const struct known_file *f = e->flags & PATH_LAST ? names_file_at(&r->names, e->dev, e->ino, e->ts_ns) : NULL;
	int ret = f ? r->named(r->named_arg, f) : 0;

	r->error = r->error ? r->error : ret;
}

static int put_piece(void *arg, const struct ev_path *piece)
{
	return recorder_event(arg, piece, sizeof(*piece));
}

int recorder_path(struct recorder *r, const struct ev_path *head, const char *path)
{
	return path_pieces(head, path, strlen(path), put_piece, r);
}

int recorder_event(void *arg, const void *record, size_t size)
{
	struct recorder *r = arg;
	u8 kind = *(const u8 *)record;

	switch (kind) {
	case EV_NVME:
	case EV_NVME_KV:
		add_command(&r->totals, record);
		r->totals.in_flight_of[EV_WITNESS_NVME] += r->ending;
		break;
	case EV_SYSCALL:
		add_call(&r->totals, record);
		break;
	case EV_URING:
		add_request(&r->totals, record);
		r->totals.in_flight_of[EV_WITNESS_URING] += r->ending;
		break;
	case EV_CACHE:
	case EV_BLOCK:
		r->totals.count[kind]++;
		if (r->ending && kind == EV_CACHE)
			add_file(&r->totals, record);
		else if (r->ending)
			add_block(&r->totals, record);
		break;
	case EV_TASK:
	case EV_DISK:
	case EV_PATH:
		r->error = names_learn(&r->names, record);
		/* fall through */
	default:
		if (kind < EV_KINDS)
			r->totals.count[kind]++;
	}
	if (!r->error)
		r->error = cap_write(r->writer, record, size, &r->names);
	r->totals.records += !r->error;
	if (!r->error && r->named && kind == EV_PATH)
		tell_named(r, record);
	/* Snapshots repeat what the watcher asks for on its own. */
	if (!r->error && r->watch && !(kind <= EV_NVME_KV && ((const struct ev_nvme *)record)->flags & NVME_IN_FLIGHT))
		r->error = r->watch(r->watch_arg, record);
	return r->error;
}

static void put_anchor(struct recorder *r)
{
	struct clock_anchor a = clock_anchor_now();
	struct ev_clock e = {
		.kind = EV_CLOCK,
		.uncertainty_ns = a.uncertainty_ns,
		.monotonic_ns = a.monotonic_ns,
		.realtime_ns = a.realtime_ns,
	};

	recorder_event(r, &e, sizeof(e));
}

static void put_account(struct recorder *r)
{
	struct ev_loss e;
	size_t i;

	for (i = 0; trace_account(r->trace, i, &e); i++) {
		r->totals.loss[e.witness] = e;
		recorder_event(r, &e, sizeof(e));
	}
	trace_extra(r->trace, &r->totals.extra);
}

/* Once a second: the account so far, what hangs, and all of it on the way to the disk. */
static void tick(struct recorder *r, u64 n)
{
	s64 ret;

	put_account(r);
	ret = trace_in_flight(r->trace, TICK_NS, recorder_event, r);
	if (ret >= 0)
		ret = trace_sums(r->trace, false, recorder_event, r);
	if (ret < 0 && !r->error)
		r->error = (int)ret;
	if (n % ANCHOR_TICKS == 0)
		put_anchor(r);
	if (!r->error)
		r->error = cap_flush(r->writer);
	if (r->tick)
		r->tick(r->watch_arg);
}

static void finish(struct recorder *r)
{
	s64 left;
	int ret;

	r->totals.ended_ns = clock_ns(CLOCK_MONOTONIC);
	trace_detach(r->trace);
	ret = trace_drain(r->trace);
	/* After the drain nothing but snapshots and sums comes. */
	r->ending = true;
	if (!ret)
		ret = trace_sums(r->trace, true, recorder_event, r);
	if (ret && !r->error)
		r->error = ret;
	left = trace_in_flight(r->trace, 0, recorder_event, r);
	if (left < 0 && !r->error)
		r->error = (int)left;
	r->totals.in_flight = left > 0 ? (u64)left : 0;
	put_account(r);
	put_anchor(r);
}

static void linger(struct recorder *r)
{
	u64 until = clock_ns(CLOCK_MONOTONIC) + LINGER_NS;

	while (!r->error && !stop_signals && clock_ns(CLOCK_MONOTONIC) < until && trace_busy(r->trace))
		trace_consume(r->trace, 10);
}

enum recorder_end recorder_run(struct recorder *r, struct child *child, int *child_status)
{
	u64 start = clock_ns(CLOCK_MONOTONIC), next_tick = start + TICK_NS, n_ticks = 0;
	enum recorder_end end;
	int ret;

	r->totals.started_ns = start;
	put_anchor(r);
	for (;;) {
		u64 now;

		ret = trace_consume(r->trace, POLL_MS);
		if (ret < 0 && !r->error)
			r->error = ret;
		cap_set_busy(r->writer, ret > 0);
		now = clock_ns(CLOCK_MONOTONIC);
		if (now >= next_tick) {
			tick(r, ++n_ticks);
			next_tick = now + TICK_NS;
		}
		if (r->error)
			end = END_ERROR;
		else if (stop_signals)
			end = END_SIGNAL;
		else if (r->duration_ns && now - start >= r->duration_ns)
			end = END_DURATION;
		else if (child && child_poll(child, child_status))
			end = END_CHILD;
		else
			continue;
		break;
	}
	if (end == END_CHILD)
		linger(r);
	finish(r);
	return r->error ? END_ERROR : end;
}
