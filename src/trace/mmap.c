// SPDX-License-Identifier: Apache-2.0
/* The page fault tracer: see mmap.bpf.c. */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/clock.h"
#include "trace/around.h"
#include "trace/blockdev.h"
#include "trace/file_shared.h"
#include "trace/files.h"
#include "trace/footprint.h"
#include "trace/symbol.h"
#include "trace/tracer.h"
/* The skeleton needs the types of the shared header. */
#include "trace/mmap_shared.h"

#include "trace/mmap.skel.h"

enum { F_FAULTS, F_AROUND, F_CACHE, F_WRITTEN, F_READAHEAD, F_DIRECT, F_BLOCK, F_ORIGINS, N_FACILITIES };

/* Two ways to see the same: functions (fentry, fexit) and what every kernel lets BPF see. */
enum way { FUNCTIONS, EVENTS, N_WAYS };

/* The programs, in the order in which they are attached: ends before beginnings. */
static const struct hook {
	u8 facility, way;
	bool optional;	    /* the others do without it */
	const char *target; /* NULL: a counter of the kernel */
	const char *program;
} hooks[] = {
	{ F_FAULTS, FUNCTIONS, false, "handle_mm_fault", "fault_leave" },
	{ F_FAULTS, FUNCTIONS, false, "handle_mm_fault", "fault_enter" },
	{ F_FAULTS, EVENTS, true, "mm_filemap_fault", "page_fault" },
	{ F_FAULTS, EVENTS, true, "page_fault_user", "fault_user" },
	{ F_FAULTS, EVENTS, true, "page_fault_kernel", "fault_kernel" },
	{ F_FAULTS, EVENTS, false, NULL, "counted_minor" },
	{ F_FAULTS, EVENTS, false, NULL, "counted_major" },
	{ F_AROUND, FUNCTIONS, false, "filemap_map_pages", "around_leave" },
	{ F_AROUND, FUNCTIONS, false, "filemap_map_pages", "around_enter" },
	{ F_AROUND, EVENTS, false, "mm_filemap_map_pages", "around" },
	{ F_CACHE, EVENTS, false, "mm_filemap_add_to_page_cache", "filled" },
	{ F_WRITTEN, EVENTS, false, "writeback_dirty_folio", "dirtied" },
	{ F_READAHEAD, FUNCTIONS, false, "page_cache_ra_unbounded", "ra_plain_leave" },
	{ F_READAHEAD, FUNCTIONS, false, "page_cache_ra_unbounded", "ra_plain_enter" },
	{ F_READAHEAD, FUNCTIONS, false, "page_cache_ra_order", "ra_large_leave" },
	{ F_READAHEAD, FUNCTIONS, false, "page_cache_ra_order", "ra_large_enter" },
	{ F_READAHEAD, EVENTS, false, "page_cache_ra_unbounded", "ra_plain" },
	{ F_READAHEAD, EVENTS, false, "page_cache_ra_order", "ra_large" },
	{ F_DIRECT, EVENTS, false, "iomap_dio_complete", "direct_leave" },
	{ F_DIRECT, EVENTS, false, "iomap_dio_rw_begin", "direct_enter" },
	{ F_DIRECT, FUNCTIONS, false, "iomap_dio_complete", "direct_leave_old" },
	{ F_BLOCK, EVENTS, false, "block_rq_requeue", "requeued" },
	{ F_BLOCK, EVENTS, false, "block_rq_issue", "issued" },
	{ F_ORIGINS, EVENTS, false, "block_bio_queue", "bio_queue" },
	{ F_ORIGINS, EVENTS, false, "block_split", "bio_split" },
};

static const struct {
	const char *name;
	const char *hook[N_WAYS];
	enum way first; /* the better one */
} facilities[N_FACILITIES] = {
	[F_FAULTS] = { "faults",
		       { "fentry+fexit/handle_mm_fault",
			 "perf_event/page-faults-min + maj, tp_btf/page_fault_user + mm_filemap_fault" },
		       FUNCTIONS },
	[F_AROUND] = { "fault_around", { "fentry+fexit/filemap_map_pages", "tp_btf/mm_filemap_map_pages" }, FUNCTIONS },
	[F_CACHE] = { "page_cache", { NULL, "tp_btf/mm_filemap_add_to_page_cache" }, EVENTS },
	[F_WRITTEN] = { "written_pages", { NULL, "tp_btf/writeback_dirty_folio" }, EVENTS },
	[F_READAHEAD] = { "readahead",
			  { "fentry+fexit/page_cache_ra_unbounded + page_cache_ra_order",
			    "tp_btf/page_cache_ra_unbounded + page_cache_ra_order" },
			  FUNCTIONS },
	[F_DIRECT] = { "direct_io",
		       { "fentry/iomap_dio_complete", "tp_btf/iomap_dio_rw_begin + iomap_dio_complete" },
		       EVENTS },
	[F_BLOCK] = { "block_requests", { NULL, "tp_btf/block_rq_issue + block_rq_requeue" }, EVENTS },
	[F_ORIGINS] = { "block_origins", { NULL, "tp_btf/block_bio_queue + block_split" }, EVENTS },
};

struct state {
	bool there[ARRAY_SIZE(hooks)]; /* in this kernel */
	bool no_functions;	       /* which it refuses to trace */
	u8 way[N_FACILITIES];
	bool stream, exact;
	struct footprint pages;
	struct map64 told; /* requests of a device and direction as they were told last */
	struct bpf_link **counter;
	size_t n_counters;
};

/* ---- choosing ---- */

static bool can(const struct state *s, u8 facility, enum way way)
{
	bool any = false;
	size_t i;

	if (way == FUNCTIONS && s->no_functions)
		return false;
	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		if (hooks[i].facility != facility || hooks[i].way != way)
			continue;
		if (!s->there[i] && !hooks[i].optional)
			return false;
		any |= s->there[i];
	}
	return any;
}

static void take_way(struct tracer *t, u8 facility, enum way way)
{
	struct state *s = t->state;

	s->way[facility] = (u8)way;
	t->facility[facility].hook = facilities[facility].hook[way];
}

/* The best way of each facility that is left. */
static void choose_ways(struct tracer *t)
{
	const struct state *s = t->state;
	int i;

	for (i = 0; i < N_FACILITIES; i++) {
		enum way first = facilities[i].first, other = facilities[i].hook[!first] ? !first : first;

		if (!t->facility[i].on)
			continue;
		take_way(t, i, can(s, i, first) || !can(s, i, other) ? first : other);
		if (!can(s, i, s->way[i]))
			facility_off(&t->facility[i], "not in this kernel");
	}
	/* Both look at the same open fault. */
	if (t->facility[F_AROUND].on && s->way[F_AROUND] != s->way[F_FAULTS]) {
		if (can(s, F_AROUND, s->way[F_FAULTS]))
			take_way(t, F_AROUND, s->way[F_FAULTS]);
		else
			facility_off(&t->facility[F_AROUND], "not in this kernel");
	}
}

static void choose(struct tracer *t, const struct trace_options *o, const struct probe *p)
{
	struct state *s = calloc(1, sizeof(*s));
	size_t i;

	t->n_facilities = N_FACILITIES;
	for (i = 0; i < N_FACILITIES; i++)
		t->facility[i] = (struct facility){ .name = facilities[i].name,
						    .hook = facilities[i].hook[facilities[i].first],
						    .on = !!s };
	t->state = s;
	if (!s)
		return;
	s->stream = o->mmap.stream;
	s->exact = o->mmap.exact_pages;
	s->pages.page_shift = (u32)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE));
	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		const char *target = hooks[i].target;

		s->there[i] = !target ||
			      (hooks[i].way == FUNCTIONS ? probe_has_func(p, target) : probe_has_tracepoint(p, target));
	}
	s->no_functions = !probe_takes_function(p, "handle_mm_fault");
	choose_ways(t);
	/* Without a filter it does not matter who made a request. */
	if (!o->n_pids && !o->follow && !o->comm && !o->cgroup)
		facility_off(&t->facility[F_ORIGINS], "not asked for");
}

static struct bpf_prog_skeleton *find(const struct tracer *t, const char *program)
{
	int i;

	for (i = 0; i < t->skeleton->prog_cnt; i++)
		if (!strcmp(t->skeleton->progs[i].name, program))
			return &t->skeleton->progs[i];
	return NULL;
}

static int open_bpf(struct tracer *t, const struct trace_options *o)
{
	const struct state *s = t->state;
	struct mmap_bpf *b;
	size_t i;

	(void)o;
	if (!s)
		return -ENOMEM;
	b = mmap_bpf__open();
	if (!b)
		return -errno;
	t->bpf = b;
	t->obj = b->obj;
	t->skeleton = b->skeleton;
	t->cfg = &b->rodata->cfg;
	t->counters = b->bss->counters;
	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		u8 f = hooks[i].facility;

		bpf_program__set_autoload(*find(t, hooks[i].program)->prog,
					  s->there[i] && t->facility[f].on && s->way[f] == hooks[i].way);
	}
	b->rodata->mm.page_shift = s->pages.page_shift;
	b->rodata->mm.origins = t->facility[F_ORIGINS].on;
#ifdef __x86_64__
	if (t->facility[F_AROUND].on && s->way[F_AROUND] == FUNCTIONS) {
		b->rodata->mm.can_walk = true;
		b->rodata->mm.page_offset_base = symbol_address("page_offset_base");
	}
#endif
	return bpf_map__set_max_entries(b->maps.origins, t->facility[F_ORIGINS].on ? 65536 : 1);
}

/* First without functions, then without all but the plain tracepoints. */
static bool give_up(struct tracer *t, const char *why)
{
	struct state *s = t->state;

	if (!s)
		return false;
	if (!s->no_functions) {
		s->no_functions = true;
		choose_ways(t);
		return true;
	}
	if (!t->facility[F_FAULTS].on && !t->facility[F_DIRECT].on)
		return false;
	facility_off(&t->facility[F_FAULTS], why);
	facility_off(&t->facility[F_AROUND], why);
	facility_off(&t->facility[F_DIRECT], why);
	return true;
}

static void add_unit(void *arg, u32 dev)
{
	const int *fd = arg;
	struct ev_block e = { .dev = dev };

	blockdev_describe(&e);
	if (e.iu_bytes_each)
		bpf_map_update_elem(*fd, &dev, &e.iu_bytes_each, BPF_ANY);
}

static int prepare(struct tracer *t, const struct trace_options *o)
{
	const struct mmap_bpf *b = t->bpf;
	struct state *s = t->state;
	int fd = bpf_map__fd(b->maps.units);

	(void)o;
	blockdev_each(add_unit, &fd);
	return s->exact ? around_off() : 0;
}

/* ---- attaching ---- */

/* A counter of the kernel, taken at each step of it, on every processor. */
static int attach_counter(struct state *s, struct bpf_program *prog, u64 which)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = which, .sample_period = 1
	};
	long n = sysconf(_SC_NPROCESSORS_CONF), cpu;
	struct bpf_link **grown = reallocarray(s->counter, s->n_counters + (size_t)n, sizeof(struct bpf_link *));

	if (!grown)
		return -ENOMEM;
	s->counter = grown;
	for (cpu = 0; cpu < n; cpu++) {
		int fd = (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
		struct bpf_link *link;

		/* A processor that is switched off. */
		if (fd < 0 && errno == ENODEV)
			continue;
		if (fd < 0)
			return -errno;
		link = bpf_program__attach_perf_event(prog, fd);
		if (!link) {
			close(fd);
			return -errno;
		}
		s->counter[s->n_counters++] = link;
	}
	return 0;
}

static int attach_one(struct tracer *t, const struct hook *h)
{
	struct bpf_prog_skeleton *p = find(t, h->program);

	if (h->target)
		return tracer_attach(*p->prog, p->link);
	return attach_counter(t->state, *p->prog,
			      strcmp(h->program, "counted_major") ? PERF_COUNT_SW_PAGE_FAULTS_MIN
								  : PERF_COUNT_SW_PAGE_FAULTS_MAJ);
}

static void detach_facility(struct tracer *t, u8 f)
{
	struct state *s = t->state;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		struct bpf_prog_skeleton *p = find(t, hooks[i].program);

		if (hooks[i].facility != f)
			continue;
		bpf_link__destroy(*p->link);
		*p->link = NULL;
	}
	for (; f == F_FAULTS && s->n_counters; s->n_counters--)
		bpf_link__destroy(s->counter[s->n_counters - 1]);
}

static int attach(struct tracer *t)
{
	const struct state *s = t->state;
	char why[80];
	size_t i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		u8 f = hooks[i].facility;

		if (!s->there[i] || !t->facility[f].on || s->way[f] != hooks[i].way)
			continue;
		ret = attach_one(t, &hooks[i]);
		if (!ret || hooks[i].optional)
			continue;
		snprintf(why, sizeof(why), "cannot attach (%s)", strerror(-ret));
		facility_off(&t->facility[f], why);
		detach_facility(t, f);
	}
	return 0;
}

/* New faults first. */
static void detach(struct tracer *t)
{
	detach_facility(t, F_FAULTS);
	around_restore();
}

/* ---- records ---- */

static int deliver(struct tracer *t, const void *record, size_t size, trace_fn fn, void *arg)
{
	const struct raw_fault *fault = record;
	const struct raw_file *file = record;
	const struct raw_dio *dio = record;
	struct state *s = t->state;
	int ret;

	(void)size;
	switch (*(const u8 *)record) {
	case RAW_PATH:
		return files_path(t->files, record, fn, arg);
	case RAW_FILE:
		if (file->disk)
			return files_disk(t->files, file->dev, file->ino, file->ts_ns, fn, arg);
		return files_used(t->files, file->dev, file->ino, file->tid, file->address, file->ts_ns, fn, arg);
	case RAW_DIO:
		if (!files_wanted(t->files, true, dio->dev, dio->ino)) {
			t->taken.unwanted++;
			return 0;
		}
		return footprint_direct(&s->pages, dio->dev, dio->ino, dio->write, dio->offset, dio->bytes);
	default:
		if (!files_wanted(t->files, true, fault->ev.dev, fault->ev.ino)) {
			t->taken.unwanted++;
			return 0;
		}
		ret = footprint_fault(&s->pages, &fault->ev, fault->pid);
		return ret || !s->stream ? ret : fn(arg, &fault->ev, sizeof(fault->ev));
	}
}

/* ---- sums ---- */

static u64 lost(const struct tracer *t)
{
	u64 n = 0;
	u32 i;

	for (i = 0; i < MAX_CPUS; i++)
		n += t->counters[i].v[N_RING_FULL] + t->counters[i].v[N_MAP_FULL];
	return n;
}

/* Who hears of sums. */
struct listener {
	struct tracer *t;
	bool all;
	trace_fn fn;
	void *arg;
};

#define BATCH 256u

/* Gives each element of a map to take().  0 or -errno. */
static int each_element(const struct bpf_map *map, int (*take)(struct listener *l, const void *key, const void *value),
			struct listener *l)
{
	size_t key_size = bpf_map__key_size(map), value_size = bpf_map__value_size(map);
	char *keys = malloc(BATCH * key_size), *values = malloc(BATCH * value_size);
	int ret = keys && values ? 0 : -ENOMEM, end = 0;
	u32 place, n, i;
	bool first = true;

	while (!ret && !end) {
		n = BATCH;
		end = bpf_map_lookup_batch(bpf_map__fd(map), first ? NULL : &place, &place, keys, values, &n, NULL);
		if (end && end != -ENOENT)
			ret = end;
		first = false;
		for (i = 0; i < n && !ret; i++)
			ret = take(l, keys + i * key_size, values + i * value_size);
	}
	free(keys);
	free(values);
	return ret;
}

static int take_cache(struct listener *l, const void *key, const void *value)
{
	struct state *s = l->t->state;
	const struct cache_sums *c = value;
	const struct file_id *id = key;
	struct footprint_file *f = footprint_file(&s->pages, id->dev, id->ino);

	if (!f)
		return -ENOMEM;
	l->t->taken.summed += c->fills + c->ra_calls;
	if (!files_wanted(l->t->files, true, id->dev, id->ino))
		l->t->taken.summed_unwanted += c->fills + c->ra_calls;
	f->changed |= f->sums.fills != c->fills || f->sums.ra_calls != c->ra_calls;
	f->sums.fills = c->fills;
	f->sums.fill_pages = c->fill_pages;
	f->sums.written_fills = c->written_fills;
	f->sums.written_pages = c->written_pages;
	f->sums.ra_calls = c->ra_calls;
	f->sums.ra_pages = c->ra_pages;
	return 0;
}

static int tell_block(struct listener *l, const void *key, const void *value)
{
	struct state *s = l->t->state;
	const struct block_sums *b = value;
	const struct block_id *id = key;
	struct ev_block e = {
		.kind = EV_BLOCK,
		.write = (u8)id->write,
		.dev = id->dev,
		.ts_ns = clock_ns(CLOCK_MONOTONIC),
		.requests = b->requests,
		.bytes = b->bytes,
		.iu_bytes = b->iu_bytes,
		.sub_iu = b->sub_iu,
		.min_bytes = (u32)MIN(b->min_bytes, (u64)UINT32_MAX),
		.max_bytes = (u32)MIN(b->max_bytes, (u64)UINT32_MAX),
	};
	bool is_new;
	u32 *told = map64_put(&s->told, (u64)id->dev << 1 | id->write, &is_new), i;

	l->t->taken.summed += b->requests;
	if (!told)
		return -ENOMEM;
	if (!is_new && !l->all && *told == (u32)b->requests)
		return 0;
	*told = (u32)b->requests;
	for (i = 0; i < EV_BLOCK_SIZES; i++)
		e.hist[i] = (u32)MIN(b->hist[i], (u64)UINT32_MAX);
	blockdev_describe(&e);
	return l->fn(l->arg, &e, sizeof(e));
}

/* What the numbers of a file do not say, as hooks are missing or events were lost. */
static u16 limits(const struct tracer *t)
{
	const struct facility *f = t->facility;
	const struct state *s = t->state;

	return (f[F_FAULTS].on ? 0 : CACHE_NO_FAULTS) | (f[F_CACHE].on ? 0 : CACHE_NO_FILLS) |
	       (f[F_READAHEAD].on ? 0 : CACHE_NO_RA) | (f[F_DIRECT].on ? 0 : CACHE_NO_DIRECT) |
	       (f[F_WRITTEN].on ? 0 : CACHE_NO_WRITTEN) | (s->way[F_READAHEAD] == EVENTS ? CACHE_RA_ASKED : 0) |
	       ((f[F_AROUND].on || s->exact) && !s->pages.full ? 0 : CACHE_TOUCHED_ONLY) |
	       (lost(t) || s->pages.full ? CACHE_INCOMPLETE : 0);
}

static int sums(struct tracer *t, bool all, trace_fn fn, void *arg)
{
	const struct mmap_bpf *b = t->bpf;
	struct state *s = t->state;
	struct listener l = { t, all, fn, arg };
	u16 flags = limits(t);
	int ret;
	u32 i;

	t->taken.summed = t->taken.summed_unwanted = 0;
	ret = each_element(b->maps.caches, take_cache, &l);
	for (i = 0; i < s->pages.n_files && !ret; i++) {
		struct footprint_file *f = &s->pages.file[i];
		struct ev_cache e = f->sums;

		if ((!f->changed && !all) || !files_wanted(t->files, true, e.dev, e.ino))
			continue;
		f->changed = false;
		e.flags |= flags;
		e.ts_ns = clock_ns(CLOCK_MONOTONIC);
		ret = fn(arg, &e, sizeof(e));
	}
	return ret ? ret : each_element(b->maps.blocks, tell_block, &l);
}

static void destroy(struct tracer *t)
{
	mmap_bpf__destroy(t->bpf);
}

static void close_tracer(struct tracer *t)
{
	struct state *s = t->state;

	around_restore();
	if (!s)
		return;
	for (; s->n_counters; s->n_counters--)
		bpf_link__destroy(s->counter[s->n_counters - 1]);
	free(s->counter);
	footprint_free(&s->pages);
	map64_free(&s->told);
	free(s);
}

const struct tracer_ops mmap_tracer = {
	.name = "mmap",
	.witness = EV_WITNESS_MMAP,
	.choose = choose,
	.open = open_bpf,
	.prepare = prepare,
	.give_up = give_up,
	.attach = attach,
	.detach = detach,
	.stored = { EV_FAULT, RAW_DIO },
	.kinds = { EV_FAULT, RAW_FILE, RAW_DIO, RAW_PATH },
	.deliver = deliver,
	.sums = sums,
	.destroy = destroy,
	.close = close_tracer,
};
