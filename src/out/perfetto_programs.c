// SPDX-License-Identifier: Apache-2.0
#include "out/perfetto_programs.h"

#include <errno.h>
#include <stdlib.h>

#include "capture/uring_names.h"
#include "lib/hash.h"

/* More programs than a screen shows: the rest shares one process. */
#define MAX_PROGRAMS 256
#define RATE_NS	     10000000ull
#define OTHERS	     UINT32_MAX /* pid of the process of the rest */

/* ---- who ---- */

int pf_make_room(void *array, u32 *cap, u32 n, size_t size)
{
	void *p;

	if (n < *cap)
		return 0;
	p = reallocarray(*(void **)array, *cap ? *cap * 2ul : 8, size);
	if (!p)
		return -ENOMEM;
	*(void **)array = p;
	*cap = *cap ? *cap * 2 : 8;
	return 0;
}

/* Its name is the latest of its first thread, else of any. */
struct pf_program *pf_program_of(struct pf_draw *a, struct pf_finder *f, u32 task, u32 tid)
{
	struct pf_programs *all = a->programs;
	const struct task *t = task == NONE ? NULL : &a->m->task[task];
	u32 pid = t ? t->pid : 0, *at;
	struct pf_program *p;
	bool is_new = false;

	if (all->n >= MAX_PROGRAMS && !map64_get(&f->program, pid))
		pid = OTHERS;
	at = map64_put(&f->program, pid, &is_new);
	if (!at)
		return NULL;
	if (is_new) {
		if (pf_make_room(&all->v, &all->cap, all->n, sizeof(*all->v)))
			return NULL;
		*at = all->n;
		all->v[all->n++] = (struct pf_program){ .pid = pid, .comm = t ? t->comm : 0, .named_by = tid };
	}
	p = all->v ? &all->v[*at] : NULL;
	if (p && t && t->ns_pid && t->ns_pid != pid)
		p->ns_pid = t->ns_pid;
	if (p && t && (tid == pid || p->named_by != pid)) {
		p->comm = t->comm;
		p->named_by = tid;
	}
	return p;
}

static struct pf_thread *thread_of(struct pf_draw *a, struct pf_finder *f, struct pf_program *p, u32 tid)
{
	u64 key = (u64)(p - a->programs->v) << 32 | tid;
	bool is_new = false;
	u32 *at = map64_put(&f->thread, key, &is_new);

	if (!at)
		return NULL;
	if (is_new) {
		if (pf_make_room(&p->thread, &p->cap_threads, p->n_threads, sizeof(*p->thread)))
			return NULL;
		*at = p->n_threads;
		p->thread[p->n_threads++] = (struct pf_thread){ .tid = tid };
	}
	return p->thread ? &p->thread[*at] : NULL;
}

int pf_spans_room(struct pf_spans *s)
{
	s->span = malloc((s->n + 1ul) * sizeof(*s->span));
	s->n = 0;
	return s->span ? 0 : -ENOMEM;
}

void pf_add_span(struct pf_draw *a, struct pf_spans *s, u64 begin_ns, u64 lat_ns, u64 amount, u32 item)
{
	u64 end_ns = lat_ns > UINT64_MAX - begin_ns ? UINT64_MAX : begin_ns + lat_ns;

	/* The first walk made room. */
	if (!s->span)
		return;
	/* A slice has a length. */
	end_ns = MAX(end_ns, begin_ns + (begin_ns < UINT64_MAX));
	a->first_ns = MIN(a->first_ns, begin_ns);
	s->span[s->n++] =
		(struct pf_span){ .begin_ns = begin_ns, .end_ns = end_ns, .amount = amount, .item = item, .n = 1 };
}

static u64 call_bytes(const struct ev_syscall *e)
{
	return call_class(e->call) != CALL_IS_OTHER && e->ret > 0 ? (u64)e->ret : 0;
}

static u64 request_bytes(const struct ev_uring *e)
{
	if (e->flags & URING_UNFINISHED || e->res < 0)
		return 0;
	if (uring_is_passthrough(e->opcode))
		return e->res ? 0 : e->size;
	return uring_op_class(e->opcode) != CALL_IS_OTHER ? (u64)e->res : 0;
}

static int walk_calls(struct pf_draw *a, struct pf_finder *f, bool fill)
{
	struct pf_program *p;
	struct pf_thread *t;
	u32 i;

	for (i = 0; i < a->m->call.n; i++) {
		const struct call_row *c = &a->m->call.row[i];

		p = pf_program_of(a, f, c->task, c->ev.tid);
		t = p ? thread_of(a, f, p, c->ev.tid) : NULL;
		if (!t)
			return -ENOMEM;
		t->last_row = i;
		a->programs->call_program[i] = (u16)(p - a->programs->v);
		if (fill)
			pf_add_span(a, &t->calls, c->ev.ts_ns, c->ev.lat_ns, call_bytes(&c->ev), i);
		else
			t->calls.n++;
	}
	return 0;
}

static int walk_requests(struct pf_draw *a, struct pf_finder *f, bool fill)
{
	struct pf_program *p;
	u32 i;

	for (i = 0; i < a->m->uring.n; i++) {
		const struct uring_row *r = &a->m->uring.row[i];

		p = pf_program_of(a, f, r->task, r->ev.tid);
		if (!p)
			return -ENOMEM;
		a->programs->request_program[i] = (u16)(p - a->programs->v);
		if (fill)
			pf_add_span(a, &p->requests, r->ev.ts_ns, r->ev.lat_ns, request_bytes(&r->ev), i);
		else
			p->requests.n++;
	}
	return 0;
}

static int by_time(const void *x, const void *y)
{
	const struct pf_span *a = x, *b = y;
	int c = pf_compare(a->begin_ns, b->begin_ns);

	c = c ? c : pf_compare(a->end_ns, b->end_ns);
	return c ? c : pf_compare(a->item, b->item);
}

void pf_sort_spans(struct pf_spans *s)
{
	u32 i;

	/* They are in order of their begin; only equal ones may not be in order of their end. */
	for (i = 1; i < s->n; i++)
		if (by_time(&s->span[i - 1], &s->span[i]) > 0) {
			qsort(s->span, s->n, sizeof(*s->span), by_time);
			return;
		}
}

static int make_spans(struct pf_draw *a, struct pf_finder *f)
{
	struct pf_programs *all = a->programs;
	int ret = walk_calls(a, f, false);
	u32 i, k;

	if (!ret)
		ret = walk_requests(a, f, false);
	for (i = 0; i < all->n && !ret; i++) {
		ret = pf_spans_room(&all->v[i].requests);
		for (k = 0; k < all->v[i].n_threads && !ret; k++)
			ret = pf_spans_room(&all->v[i].thread[k].calls);
	}
	if (!ret)
		ret = walk_calls(a, f, true);
	return ret ? ret : walk_requests(a, f, true);
}

int pf_programs_prepare(struct pf_draw *a)
{
	struct pf_finder f = {};
	u32 i, k;
	int ret;

	if (!a->m->call.n && !a->m->uring.n && !a->m->fault.n)
		return 0;
	a->programs = calloc(1, sizeof(*a->programs));
	if (!a->programs)
		return -ENOMEM;
	a->programs->call_program = malloc((a->m->call.n + 1ul) * sizeof(u16));
	a->programs->request_program = malloc((a->m->uring.n + 1ul) * sizeof(u16));
	a->programs->fault_program = malloc((a->m->fault.n + 1ul) * sizeof(u16));
	if (!a->programs->call_program || !a->programs->request_program || !a->programs->fault_program)
		return -ENOMEM;
	ret = make_spans(a, &f);
	if (!ret)
		ret = pf_faults_prepare(a, &f);
	map64_free(&f.program);
	map64_free(&f.thread);
	map64_free(&f.file);
	for (i = 0; i < a->programs->n && !ret; i++) {
		struct pf_program *p = &a->programs->v[i];

		for (k = 0; k < p->n_threads; k++) {
			struct pf_spans *s = &p->thread[k].calls;

			pf_sort_spans(s);
			s->describe = pf_call_describe;
			s->class = pf_call_class;
			s->drawn = &a->stats->calls;
		}
		pf_sort_spans(&p->requests);
		p->requests.describe = pf_request_describe;
		p->requests.class = pf_request_class;
		p->requests.drawn = &a->stats->uring;
	}
	return ret;
}

/* ---- what follows from what ---- */

/* A counting sort of the n items by what they are of, NONE = nothing. */
static int follow(struct pf_follow *f, const u32 *of, u32 n, u32 n_from)
{
	u32 i, sum = 0;

	f->start = calloc(n_from + 2ul, sizeof(*f->start));
	f->item = malloc((n + 1ul) * sizeof(*f->item));
	if (!f->start || !f->item)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		if (of[i] != NONE)
			f->start[of[i] + 2]++;
	for (i = 2; i <= n_from + 1; i++) {
		sum += f->start[i];
		f->start[i] = sum;
	}
	/* start[i + 1] is where i's next item goes, and where i + 1 begins in the end. */
	for (i = 0; i < n; i++)
		if (of[i] != NONE)
			f->item[f->start[of[i] + 1]++] = i;
	return 0;
}

static void mark(const struct pf_follow *f, u32 n_from, u8 *mark, u8 value)
{
	u32 i, k;

	for (i = 0; i < n_from; i++)
		for (k = f->start[i]; k < f->start[i + 1] && k < f->start[i] + PF_MOST_ARROWS; k++)
			mark[f->item[k]] = value;
}

/* The commands that follow from calls, or faults: those that no request explains better, and that are drawn. */
static int follow_plain(const struct pf_draw *a, struct pf_follow *f, const u32 *from, u32 n_from, u8 value)
{
	const struct cause_table *t = &a->m->cause;
	u32 *of = malloc((a->m->cmd.n + 1ul) * sizeof(*of)), i;
	int ret;

	for (i = 0; of && i < a->m->cmd.n; i++)
		of[i] = t->uring[i] == NONE && pf_drawn(a, i) ? from[i] : NONE;
	ret = of ? follow(f, of, a->m->cmd.n, n_from) : -ENOMEM;
	free(of);
	if (!ret)
		mark(f, n_from, a->programs->from, value);
	return ret;
}

static int make_arrows(struct pf_draw *a)
{
	const struct model *m = a->m;
	const struct cause_table *t = &m->cause;
	struct pf_programs *all = a->programs;
	int ret = 0;

	if (t->enter) {
		all->entered = calloc(m->uring.n + 1ul, 1);
		ret = all->entered ? follow(&all->call_requests, t->enter, m->uring.n, m->call.n) : -ENOMEM;
		if (!ret)
			mark(&all->call_requests, m->call.n, all->entered, 1);
	}
	if (ret || !t->on)
		return ret;
	all->from = calloc(m->cmd.n + 1ul, 1);
	ret = all->from ? follow_plain(a, &all->call_cmds, t->call, m->call.n, FROM_CALL) : -ENOMEM;
	if (!ret && t->fault)
		ret = follow_plain(a, &all->fault_cmds, t->fault, m->fault.n, FROM_FAULT);
	if (!ret)
		ret = follow(&all->request_cmds, t->uring, m->cmd.n, m->uring.n);
	if (!ret)
		mark(&all->request_cmds, m->uring.n, all->from, FROM_REQUEST);
	return ret;
}

/* ---- bytes over time ---- */

static void emit_rate(struct pf_writer *w, struct pf_source *s)
{
	struct pf_rate *r = container_of(s, struct pf_rate, source);
	const struct pf_rate_bin *b = &r->bin[r->next++];
	int d;

	/* bytes / 10 ms in 10^6 bytes / s */
	for (d = 0; d < N_DIRS; d++) {
		r->counter[d].value.x = (double)b->bytes[d] * 1e-4;
		r->counter[d].known = r->counter[d].is_double = true;
		pf_count_again(w, s->next_ns, &r->counter[d]);
	}
	s->next_ns = r->next < r->n ? r->bin[r->next].ns : PF_DONE;
}

static int rate_bin(struct pf_rate *r, u64 ns)
{
	if (pf_make_room(&r->bin, &r->cap, r->n, sizeof(*r->bin)))
		return -ENOMEM;
	r->bin[r->n++] = (struct pf_rate_bin){ .ns = ns };
	return 0;
}

/* An empty bin behind the last. */
static int rate_close(struct pf_rate *r)
{
	return r->n ? rate_bin(r, r->bin[r->n - 1].ns + RATE_NS) : 0;
}

static int rate_add(struct pf_rate *r, u64 ns, enum dir d, u64 bytes)
{
	u64 at = ns - ns % RATE_NS;
	int ret = 0;

	if (d == DIR_NONE || !bytes)
		return 0;
	if (r->n && r->bin[r->n - 1].ns + RATE_NS < at)
		ret = rate_close(r);
	if (!ret && (!r->n || r->bin[r->n - 1].ns < at))
		ret = rate_bin(r, at);
	if (!ret)
		r->bin[r->n - 1].bytes[d] += bytes;
	return ret;
}

static int rate_call(struct pf_rate *r, u64 ns, const struct ev_syscall *e)
{
	u64 bytes = call_bytes(e);
	int ret = call_reads(e->call) ? rate_add(r, ns, DIR_READ, bytes) : 0;

	return !ret && call_writes(e->call) ? rate_add(r, ns, DIR_WRITE, bytes) : ret;
}

static enum dir request_dir(const struct ev_uring *e)
{
	enum call_class c = uring_op_class(e->opcode);

	if (uring_is_passthrough(e->opcode))
		return e->sub == 1 ? DIR_WRITE : e->sub == 2 ? DIR_READ : DIR_NONE;
	return c == CALL_IS_WRITE ? DIR_WRITE : c == CALL_IS_OTHER ? DIR_NONE : DIR_READ;
}

/* All of what moved, by time: calls and requests are each in that order. */
static int fill_rates(struct pf_draw *a)
{
	const struct model *m = a->m;
	struct pf_programs *all = a->programs;
	u32 call = 0, request = 0, i;
	int ret = 0;

	while (!ret && (call < m->call.n || request < m->uring.n)) {
		bool is_call = request == m->uring.n ||
			       (call < m->call.n && m->call.row[call].ev.ts_ns <= m->uring.row[request].ev.ts_ns);

		if (is_call) {
			const struct ev_syscall *e = &m->call.row[call].ev;

			ret = rate_call(&all->v[all->call_program[call++]].rate, pf_time(a, e->ts_ns), e);
		} else {
			const struct ev_uring *e = &m->uring.row[request].ev;

			ret = rate_add(&all->v[all->request_program[request++]].rate, pf_time(a, e->ts_ns),
				       request_dir(e), request_bytes(e));
		}
	}
	for (i = 0; i < all->n && !ret; i++)
		ret = rate_close(&all->v[i].rate);
	return ret;
}

/* ---- events ---- */

static int lanes(struct pf_draw *a, struct pf_spans *s, void *arg)
{
	(void)arg;
	return pf_spans_lanes(a, s);
}

int pf_programs_lanes(struct pf_draw *a)
{
	struct pf_programs *all = a->programs;
	int ret = 0;
	u32 i;

	if (!all)
		return 0;
	if (!a->aggregated)
		ret = make_arrows(a);
	if (!ret)
		ret = fill_rates(a);
	if (!ret)
		ret = pf_faults_count(a);
	/* A value each for begin and end: as much as the slices themselves. */
	for (i = 0; i < all->n && !a->aggregated && !a->lean; i++)
		if (all->v[i].requests.n)
			all->v[i].requests.open = &all->v[i].in_flight;
	return ret ? ret : pf_programs_each(a, lanes, NULL);
}

int pf_programs_each(struct pf_draw *a, int (*fn)(struct pf_draw *a, struct pf_spans *s, void *arg), void *arg)
{
	u32 i, k;
	int ret = 0;

	for (i = 0; a->programs && i < a->programs->n && !ret; i++)
		for (k = 0; k < a->programs->v[i].n_threads && !ret; k++)
			ret = fn(a, &a->programs->v[i].thread[k].calls, arg);
	for (i = 0; a->programs && i < a->programs->n && !ret; i++)
		ret = fn(a, &a->programs->v[i].requests, arg);
	for (i = 0; a->programs && i < a->programs->n && !ret; i++)
		for (k = 0; k < a->programs->v[i].n_files && !ret; k++)
			ret = fn(a, &a->programs->v[i].file[k].faults, arg);
	return ret;
}

u32 pf_programs_sources(const struct pf_draw *a)
{
	u32 n = 0, i;

	for (i = 0; a->programs && i < a->programs->n; i++)
		n += a->programs->v[i].n_threads + a->programs->v[i].n_files + 3;
	return n;
}

struct heap {
	struct pf_source **v;
	u32 n;
};

static int start_spans(struct pf_draw *a, struct pf_spans *s, void *arg)
{
	struct heap *h = arg;

	pf_spans_start(a, s);
	h->v[h->n++] = &s->source;
	return 0;
}

u32 pf_programs_start(struct pf_draw *a, struct pf_source **heap, u32 n)
{
	struct heap h = { heap, n };
	u32 i;

	for (i = 0; a->programs && i < a->programs->n; i++) {
		struct pf_rate *r = &a->programs->v[i].rate;

		r->source = (struct pf_source){ .emit = emit_rate, .order = ORDER_COUNTERS, .arm = a };
		r->source.next_ns = r->n ? r->bin[0].ns : PF_DONE;
		h.v[h.n++] = &r->source;
		pf_faults_start(a, &a->programs->v[i].counts);
		h.v[h.n++] = &a->programs->v[i].counts.source;
	}
	/* Calls before the requests that they submit, at equal times too. */
	pf_programs_each(a, start_spans, &h);
	return h.n;
}

void pf_programs_count_again(struct pf_writer *w, const struct pf_draw *a, u64 now)
{
	u32 i;
	int d;

	for (i = 0; a->programs && i < a->programs->n; i++) {
		const struct pf_program *p = &a->programs->v[i];

		pf_count_again(w, now, &p->in_flight);
		for (d = 0; d < N_DIRS && p->rate.source.next_ns != now; d++)
			pf_count_again(w, now, &p->rate.counter[d]);
		if (p->counts.source.next_ns == now)
			continue;
		pf_count_again(w, now, &p->counts.major);
		pf_count_again(w, now, &p->counts.amplification);
	}
}

static void follow_free(struct pf_follow *f)
{
	free(f->start);
	free(f->item);
}

void pf_programs_free(struct pf_draw *a)
{
	struct pf_programs *all = a->programs;
	u32 i, k;

	for (i = 0; all && i < all->n; i++) {
		for (k = 0; k < all->v[i].n_threads; k++)
			pf_spans_free(&all->v[i].thread[k].calls);
		free(all->v[i].thread);
		free(all->v[i].rate.bin);
		pf_spans_free(&all->v[i].requests);
		pf_faults_free(&all->v[i]);
	}
	if (!all)
		return;
	follow_free(&all->call_cmds);
	follow_free(&all->call_requests);
	follow_free(&all->request_cmds);
	follow_free(&all->fault_cmds);
	free(all->call_program);
	free(all->request_program);
	free(all->fault_program);
	free(all->from);
	free(all->entered);
	free(all->v);
	free(all);
}
