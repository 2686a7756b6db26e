// SPDX-License-Identifier: Apache-2.0
#include "model/measure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "lib/pages.h"
#include "model/measure_work.h"

#define DEFAULT_BATCH_GAP_NS 50000

void dir_names_init(struct dir_names *d, const struct model *m)
{
	static const char *const names[] = { "read", "retrieve", "write", "store" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		d->id[i] = strpool_find(&m->strings, names[i], strlen(names[i]));
}

u64 capture_end(const struct model *m)
{
	bool hangs = false;
	u64 end = 0;
	u32 i;

	for (i = 0; i < m->cmd.n; i++) {
		end = MAX(end, cmd_end(m, i));
		hangs |= cmd_state(m, i) == STATE_IN_FLIGHT;
	}
	for (i = 0; i < m->op.n; i++)
		end = MAX(end, m->op.end_ns[i]);
	for (i = 0; i < m->n_overflows; i++)
		end = MAX(end, m->overflow[i].ts_ns);
	for (i = 0; hangs && i < m->n_anchors; i++)
		end = MAX(end, m->anchor[i].monotonic_ns);
	return end;
}

void health_take(struct health *h, const struct model *m)
{
	const struct account *a = &m->account;
	u32 i;

	*h = (struct health){
		.dropped = a->ring_full + a->map_full,
		.hook_missed = a->hook_missed,
		.unread = a->unread,
		.orphans = m->dev_in.unpaired_completions,
		.negative = m->dev_in.negative_latency,
		.malformed = m->sem_in.malformed + m->dev_in.malformed,
		.tail_cut = m->sem_in.tail_cut || m->dev_in.tail_cut || m->sem_in.input_cut || m->dev_in.input_cut,
		.no_account = !a->present && m->dev_in.commands,
		.not_closed = a->present && !a->complete,
		.defect = a->defect,
		.overflows = m->n_overflows,
	};
	h->first_bad_line = m->dev_in.first_bad_line ? m->dev_in.first_bad_line : m->sem_in.first_bad_line;
	for (i = 0; i < m->n_overflows; i++)
		if (!i || m->overflow[i].ts_ns < h->first_overflow_ns)
			h->first_overflow_ns = m->overflow[i].ts_ns;
	h->no_completions = m->cmd.n > 0;
	for (i = 0; i < m->cmd.n; i++) {
		enum cmd_state s = cmd_state(m, i);

		h->unpaired += s == STATE_UNPAIRED;
		if (m->cmd.lat_ns[i] != NO_LAT || s == STATE_IN_FLIGHT)
			h->no_completions = false;
	}
	if (h->no_completions)
		h->unpaired = 0;
	h->lossy = h->dropped || h->hook_missed || h->unread || h->unpaired || h->orphans;
	h->incomplete = h->malformed || h->tail_cut || h->no_account || h->not_closed;
}

static int prepare(struct measure *out, struct measure_work *w)
{
	const struct model *m = w->m;
	size_t n = m->cmd.n + 1ul;
	u32 i;

	w->n_scratch = MAX(m->cmd.n, m->op.n) + 1ul;
	w->state = pages_alloc(n * 3);
	w->scratch = pages_alloc(w->n_scratch * 2 * sizeof(*w->scratch));
	if (!w->state || !w->scratch)
		return -ENOMEM;
	w->dir = w->state + n;
	w->pool = (bool *)w->dir + n;
	dir_names_init(&w->names, m);
	for (i = 0; i < m->cmd.n; i++) {
		w->state[i] = (u8)cmd_state(m, i);
		w->dir[i] = (u8)cmd_dir(&w->names, m, i);
		w->pool[i] = cmd_reached_device(w->state[i]) && (m->cmd.op[i] != NONE || cmd_join_id(m, i));
		out->pool_tagged |= w->pool[i];
	}
	w->span = malloc((m->op.n + 1ul) * sizeof(*w->span));
	if (!w->span)
		return -ENOMEM;
	for (i = 0; i < m->op.n; i++)
		op_span(m, i, &w->span[i]);
	w->op_name[DIR_READ] = strpool_find(&m->strings, "load", 4);
	w->op_name[DIR_WRITE] = strpool_find(&m->strings, "store", 5);
	w->end_ns = capture_end(m);
	return 0;
}

/* The bytes of these are storage that they are about; they do not go over the bus. */
static bool moves_nothing(const struct model *m, u32 i)
{
	static const char *const names[] = { "dsm", "write_zeroes", "write_uncorrectable", "verify" };
	const char *name = strpool_get(&m->strings, m->cmd.name[i]);
	size_t k;

	for (k = 0; k < ARRAY_SIZE(names); k++)
		if (!strcmp(name, names[k]))
			return true;
	return false;
}

static void count_commands(struct measure *out, struct measure_work *w)
{
	const struct cmd_table *t = &w->m->cmd;
	struct measure_cmds *c = &out->cmd;
	u32 i;

	for (i = 0; i < t->n; i++) {
		bool tagged = w->pool[i];
		u64 bytes = t->bytes[i], end;

		c->state[w->state[i]]++;
		c->retried += t->attempts[i] > 1;
		if (!cmd_reached_device(w->state[i]))
			continue;
		if (!out->pool_tagged)
			w->pool[i] = true;
		end = cmd_end(w->m, i);
		if (!c->n)
			c->first_ns = t->ts_ns[i];
		c->last_ns = MAX(c->last_ns, end);
		c->n++;
		c->bytes += bytes;
		if (tagged) {
			c->tagged++;
			c->tagged_bytes += bytes;
		} else {
			c->untagged++;
			c->untagged_bytes += bytes;
		}
		if (w->state[i] == STATE_FAILED)
			c->failed_bytes += bytes;
		if (w->dir[i] < N_DIRS) {
			c->dir_n[w->dir[i]]++;
			c->dir_bytes[w->dir[i]] += bytes;
		}
		if (t->flags[i] & CMD_HEADER) {
			c->headers++;
			c->header_bytes += bytes;
		}
		if (!w->pool[i])
			continue;
		if (!out->pool_n++)
			out->pool_first_ns = t->ts_ns[i];
		out->pool_last_ns = MAX(out->pool_last_ns, end);
		out->pool_bytes += bytes;
		if (w->dir[i] >= N_DIRS && moves_nothing(w->m, i))
			out->pool_unmoved_bytes += bytes;
		else if (w->state[i] != STATE_FAILED)
			out->pool_ok_bytes += bytes;
		if (w->dir[i] < N_DIRS) {
			out->pool_dir_n[w->dir[i]]++;
			out->pool_dir_bytes[w->dir[i]] += bytes;
		}
	}
	c->coverage = share(c->state[STATE_OK] + c->state[STATE_FAILED], c->n);
	c->header_share = share(c->header_bytes, out->pool_dir_bytes[DIR_WRITE]);
	out->wall_ns = c->last_ns - c->first_ns;
	out->throughput_gbs = share(out->pool_ok_bytes, out->wall_ns);
}

/* Reads and writes first, then by name. */
static int lat_rank(const char *name)
{
	static const char *const first[] = { "write", "read", "store", "retrieve" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(first); i++)
		if (!strcmp(name, first[i]))
			return (int)i;
	return (int)i;
}

static int by_name(const void *a, const void *b, void *arg)
{
	const struct strpool *s = arg;
	const char *na = strpool_get(s, ((const struct measure_lat *)a)->name);
	const char *nb = strpool_get(s, ((const struct measure_lat *)b)->name);
	int ra = lat_rank(na), rb = lat_rank(nb);

	return ra != rb ? ra - rb : strcmp(na, nb);
}

/* The slot of each op name that the pool has. */
static int lat_slots(struct measure *out, const struct measure_work *w, struct map64 *slot)
{
	const struct model *m = w->m;
	u32 i, last_name = 0, last = 0;

	for (i = 0; i < m->cmd.n; i++) {
		bool is_new = false;
		u32 *at = &last;

		if (!w->pool[i])
			continue;
		if (!last_name || m->cmd.name[i] != last_name)
			at = map64_put(slot, m->cmd.name[i], &is_new);
		if (!at)
			return -ENOMEM;
		if (is_new) {
			struct measure_lat *grown = reallocarray(out->lat, out->n_lat + 1ul, sizeof(*grown));

			if (!grown)
				return -ENOMEM;
			out->lat = grown;
			*at = out->n_lat;
			grown[out->n_lat++] = (struct measure_lat){ .name = m->cmd.name[i] };
		}
		last_name = m->cmd.name[i];
		last = *at;
		out->lat[*at].n++;
		out->lat[*at].failed += w->state[i] == STATE_FAILED;
		out->lat[*at].in_flight += w->state[i] == STATE_IN_FLIGHT;
		out->lat[*at].unpaired += w->state[i] == STATE_UNPAIRED;
	}
	return 0;
}

/* A counting sort by op name, then one sort of latencies for each. */
static int latencies(struct measure *out, const struct measure_work *w)
{
	const struct model *m = w->m;
	struct map64 slot = {};
	size_t *at = NULL, start = 0;
	u32 i, last_name = 0, last_slot = 0;
	int ret = lat_slots(out, w, &slot);

	if (ret)
		goto out;
	ret = -ENOMEM;
	at = calloc(out->n_lat + 1ul, sizeof(*at));
	if (!at)
		goto out;
	for (i = 0; i < out->n_lat; i++) {
		const struct measure_lat *l = &out->lat[i];

		at[i] = start;
		start += l->n;
	}
	for (i = 0; i < m->cmd.n; i++) {
		if (!w->pool[i] || w->state[i] != STATE_OK)
			continue;
		if (m->cmd.name[i] != last_name || !last_name) {
			last_name = m->cmd.name[i];
			last_slot = *map64_get(&slot, last_name);
		}
		w->scratch[at[last_slot]++] = m->cmd.lat_ns[i];
	}
	ret = 0;
	for (i = 0, start = 0; i < out->n_lat && !ret; i++) {
		ret = work_dist(&out->lat[i].lat, w, w->scratch + start, at[i] - start);
		start += out->lat[i].n;
	}
	if (!ret && out->n_lat)
		qsort_r(out->lat, out->n_lat, sizeof(*out->lat), by_name, (void *)&m->strings);
out:
	free(at);
	map64_free(&slot);
	return ret;
}

static int batches(struct measure *out, const struct measure_work *w, const struct measure_options *o)
{
	const struct model *m = w->m;
	size_t n = 0;
	u64 last = 0;
	u32 i;

	out->batch.gap_ns = o && o->batch_gap_ns ? o->batch_gap_ns : DEFAULT_BATCH_GAP_NS;
	for (i = 0; i < m->cmd.n; i++) {
		if (!w->pool[i])
			continue;
		if (!n || m->cmd.ts_ns[i] - last > out->batch.gap_ns)
			w->scratch[n++] = 1;
		else
			w->scratch[n - 1]++;
		last = m->cmd.ts_ns[i];
	}
	out->batch.n = n;
	return work_dist(&out->batch.size, w, w->scratch, n);
}

/* Where a write ends, in blocks of its device. */
static u64 next_lba(const struct model *m, u32 i)
{
	u32 dev = cmd_dev(m, i);
	u32 lba = dev < m->n_devices ? m->device[dev].lba_bytes : 0;

	if (m->cmd.nlb[i])
		return m->cmd.slba[i] + m->cmd.nlb[i];
	lba = lba ? lba : m->lba_bytes;
	return m->cmd.slba[i] + (lba ? m->cmd.bytes[i] / lba : 0);
}

static void space(struct measure *out, const struct measure_work *w)
{
	const struct model *m = w->m;
	struct measure_space *s = &out->space;
	u64 next = 0;
	u32 i, last_dev = NONE;
	size_t n = 0, k;

	for (i = 0; i < m->cmd.n; i++) {
		if (!w->pool[i] || w->dir[i] != DIR_WRITE || !(m->cmd.flags[i] & CMD_HAS_SLBA))
			continue;
		if (n && cmd_dev(m, i) == last_dev && m->cmd.slba[i] == next)
			s->sequential++;
		last_dev = cmd_dev(m, i);
		next = next_lba(m, i);
		/* The same block of two devices is two places. */
		w->scratch[n++] = m->cmd.slba[i] ^ (last_dev ? hash_u64(last_dev) : 0);
	}
	s->writes = n;
	u64_sort_in(w->scratch, n, w->scratch + n);
	for (k = 1; k < n; k++)
		s->reused += w->scratch[k] == w->scratch[k - 1];
	s->sequential_share = n > 1 ? share(s->sequential, n - 1) : 0;
}

int measure_take(struct measure *out, const struct model *m, const struct measure_options *o)
{
	struct measure_work w = { .m = m, .method = o ? o->method : PERCENTILE_NEAREST };
	int ret;

	*out = (struct measure){ .method = w.method,
				 .n_calls = m->dev_in.calls + m->dev_in.requests + m->dev_in.faults + m->cache.n };
	health_take(&out->health, m);
	ret = prepare(out, &w);
	if (ret)
		goto out;
	count_commands(out, &w);
	ret = measure_failures(out, &w);
	if (!ret)
		ret = latencies(out, &w);
	if (!ret)
		ret = batches(out, &w, o);
	if (!ret) {
		space(out, &w);
		ret = measure_qd1(out, &w);
	}
	if (!ret)
		ret = measure_objects(out, &w);
	if (!ret)
		ret = measure_barrier(out, &w);
	if (!ret)
		ret = measure_requests(out, &w);
out:
	pages_free(w.state, (m->cmd.n + 1ul) * 3);
	pages_free(w.scratch, w.n_scratch * 2 * sizeof(*w.scratch));
	free(w.span);
	return ret;
}

void measure_free(struct measure *x)
{
	free(x->failure);
	free(x->lat);
	free(x->obj);
	free(x->error);
	free(x->barrier.shard);
	free(x->request);
	free(x->serving);
	*x = (struct measure){};
}
