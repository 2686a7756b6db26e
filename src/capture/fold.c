// SPDX-License-Identifier: Apache-2.0
#include "capture/fold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/fold_record.h"
#include "capture/halves.h"
#include "capture/meta.h"
#include "capture/nvme_names.h"

#define MAX_WAITING (1u << 17)
#define MAX_DISKS   (1u << 16) /* beyond, lines stay text */
/* Of one line at most: one that waited too long, a device, a disk, a thread, the command. */
#define MAX_OUT	    6u

/* An item with what it points to. */
struct made {
	struct item it;
	union event event;
	json_t *doc;
};

struct fold {
	enum fold_mode mode;
	bool ended;
	struct names *names;
	struct strpool *disks;
	struct halves *halves;
	struct told told;
	struct made out[MAX_OUT];
	u32 n_out, taken;
};

struct fold *fold_new(enum fold_mode mode, struct names *names, struct strpool *disks)
{
	struct fold *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->mode = mode;
	f->names = names;
	f->disks = disks;
	f->halves = halves_new(MAX_WAITING);
	if (f->halves)
		return f;
	fold_free(f);
	return NULL;
}

static void drop_results(struct fold *f)
{
	u32 i;

	for (i = 0; i < f->n_out; i++)
		json_decref(f->out[i].doc);
	f->n_out = f->taken = 0;
}

void fold_free(struct fold *f)
{
	if (!f)
		return;
	drop_results(f);
	halves_free(f->halves);
	told_free(&f->told);
	free(f);
}

/* ---- results ---- */

static struct made *add(struct fold *f, u8 kind)
{
	struct made *m = &f->out[f->n_out++];

	m->it = (struct item){ .kind = kind, .names = f->names };
	m->doc = NULL;
	return m;
}

/* A name that the lines said, told before the command that needs it. */
static int add_name(struct fold *f, const union event *e, u64 at_ns)
{
	struct made *m = add(f, e->kind == EV_TASK ? ITEM_TASK : ITEM_DISK);

	m->event = *e;
	m->it.record = &m->event;
	m->it.size = event_bytes(e->kind);
	m->it.at_ns = at_ns;
	return names_learn(f->names, e);
}

static int add_device(struct fold *f, const struct known_disk *d, u64 at_ns)
{
	struct made *m = add(f, ITEM_META);

	m->doc = meta_device(d);
	m->it.doc = m->doc;
	m->it.at_ns = at_ns;
	return m->doc ? 0 : -ENOMEM;
}

static void add_record(struct fold *f, const struct item *line, const struct folded *r)
{
	struct made *m = add(f, line->kind);

	m->it = *line;
	m->it.rec = NULL;
	m->it.line = m->it.completion = (struct slice){};
	m->it.record = r->record;
	m->it.size = r->size;
	/* A small one may be overwritten by the next comparison. */
	if (r->size == event_bytes(r->record->kind)) {
		memcpy(&m->event, r->record, r->size);
		m->it.record = &m->event;
	}
}

static void add_line(struct fold *f, const struct item *line)
{
	add(f, line->kind)->it = *line;
}

/* ---- who and what ---- */

/* Its number; of tracers that tell none, that of the char device, or one that goes by the name. */
static int device_number(struct fold *f, const struct jsonl_cmd *c, u32 *dev)
{
	*dev = c->has & HAS_DEV ? c->dev : c->rdev;
	if (!(c->has & HAS_DEV) && c->disk.n) {
		if (f->disks->n == MAX_DISKS) {
			*dev = strpool_find(f->disks, c->disk.p, c->disk.n);
			return 0;
		}
		*dev = strpool_add(f->disks, c->disk.p, c->disk.n);
		return *dev ? 0 : -ENOMEM;
	}
	return 0;
}

/* A string of the line byte for byte: with escapes only its text as it stands tells bytes from characters. */
static bool exact_bytes(const struct item *line, const char *key, struct slice s, char *out, size_t max)
{
	const struct ndjson_field *f;
	struct members m;
	size_t i;

	for (i = 0; i < s.n && (u8)s.p[i] < 0x80; i++)
		;
	if (i == s.n) {
		if (s.n && s.n <= max)
			memcpy(out, s.p, s.n);
		return s.n <= max;
	}
	f = members_scan(&m, line->line.p, line->line.n) ? NULL : members_find(&m, key);
	return f && members_bytes(f, out, max) != SIZE_MAX;
}

/* The disk of the command: its name and the number of its char device, once. */
static int learn_disk(struct fold *f, const struct item *line, const struct jsonl_cmd *c, u32 dev)
{
	union event e = { .disk = { .csi = 0xff, .dev = dev } };
	const struct known_disk *known = names_disk(f->names, dev);
	struct known_disk *d;
	int ret = 0;

	if (known)
		e.disk = known->ev;
	e.disk.kind = EV_DISK;
	e.disk.nsid = c->nsid;

	if (c->disk.n && (!known || !known->ev.name[0]) &&
	    exact_bytes(line, "disk", c->disk, e.disk.name, sizeof(e.disk.name)))
		ret = add_name(f, &e, line->at_ns);
	if (ret || !c->rdev)
		return ret;
	d = names_disk_make(f->names, dev);
	if (!d)
		return -ENOMEM;
	if (d->rdev)
		return 0;
	d->rdev = c->rdev;
	return add_device(f, d, line->at_ns);
}

/* Lines of the older tracers know no number of a disk, or were converted from such; those of ours always do. */
static bool is_older(const struct jsonl_cmd *c)
{
	return !(c->has & HAS_DEV) || (c->dev && c->dev == c->rdev);
}

/*
 * What the older tracers call bytes is nlb times a number that their user
 * typed.  The first command of a device tells it, as long as no record says
 * otherwise.
 */
static bool try_lba(struct fold *f, const struct item *line, const struct jsonl_cmd *c, u32 dev)
{
	struct known_disk *d;
	struct members m;
	u64 bytes;

	if (!is_older(c) || !nvme_op_has_nlb(c->opcode) || !c->nlb || (c->has & HAS_KEY))
		return false;
	d = names_disk_make(f->names, dev);
	if (!d || d->lba_is_settled || members_scan(&m, line->line.p, line->line.n))
		return false;
	bytes = members_u64(&m, "bytes");
	if (!bytes || bytes % c->nlb || bytes / c->nlb > UINT32_MAX)
		return false;
	d->typed_lba_bytes = (u32)(bytes / c->nlb);
	return true;
}

/* The thread of the command, when its name is new and no earlier record would get another by it. */
static int learn_task(struct fold *f, const struct item *line, const struct jsonl_cmd *c)
{
	union event e = { .task = { .kind = EV_TASK, .tid = c->tid, .pid = c->pid, .ts_ns = c->ts_ns } };
	const struct known_task *t = names_task_at(f->names, c->tid, c->ts_ns), *newest;

	/* Nothing is said of it: absent is not unnamed. */
	if (!c->pid && !c->comm.n)
		return 0;
	if (!exact_bytes(line, "comm", c->comm, e.task.comm, sizeof(e.task.comm)))
		return 0;
	if (t && t->ev.pid == c->pid && !strncmp(t->ev.comm, e.task.comm, sizeof(e.task.comm)))
		return 0;
	newest = names_task(f->names, c->tid);
	if (newest && (c->ts_ns <= newest->ev.ts_ns || c->ts_ns <= newest->last_used_ns))
		return 0;
	return add_name(f, &e, line->at_ns);
}

/* The record relies on what is known of its thread and its disk: it stays so. */
static int settle(struct fold *f, const struct item *line, const struct ev_nvme *c)
{
	const struct known_task *t = names_task(f->names, c->tid);
	struct known_disk *d;

	if (t)
		f->names->task[t - f->names->task].last_used_ns = MAX(t->last_used_ns, c->ts_ns);
	if (c->kind != EV_NVME)
		return 0;
	d = names_disk_make(f->names, c->dev);
	if (!d)
		return -ENOMEM;
	if (d->lba_is_settled)
		return 0;
	d->lba_is_settled = true;
	return is_older(&line->rec->cmd) ? add_device(f, d, line->at_ns) : 0;
}

/* ---- commands ---- */

/* The older driver tracer tells a length of commands that move nothing. */
static bool is_made_up(const struct jsonl_cmd *c)
{
	return is_older(c) && !(c->has & HAS_USER_DATA) && !nvme_op_has_nlb(c->opcode);
}

/* A command with its completion (NULL for one in flight) becomes a record, or stays as it is. */
static int fold_whole(struct fold *f, const struct item *line, const struct jsonl_cmp *p)
{
	const struct jsonl_cmd *c = &line->rec->cmd;
	bool tried, told;
	struct folded r;
	union event e;
	u32 dev;
	int ret = device_number(f, c, &dev);

	if (!ret)
		ret = learn_disk(f, line, c, dev);
	if (!ret)
		ret = learn_task(f, line, c);
	if (ret)
		return ret;
	tried = try_lba(f, line, c, dev);
	fold_command(&e, c, p, dev, names_disk(f->names, dev));
	told = !is_made_up(c) && fold_tells(&f->told, &e, line, f->names, &r);
	if (told) {
		ret = settle(f, line, &r.record->nvme);
		add_record(f, line, &r);
		return ret;
	}
	if (tried)
		names_disk_make(f->names, dev)->typed_lba_bytes = 0;
	add_line(f, line);
	return 0;
}

/* The item of a command that waited. */
static struct item waiting_item(struct fold *f, const struct waiting *w)
{
	return (struct item){ .kind = w->rec.cmd.has & HAS_KEY ? ITEM_NVME_KV : ITEM_NVME,
			      .start_ns = w->rec.cmd.ts_ns,
			      .at_ns = w->rec.cmd.ts_ns,
			      .line = w->line,
			      .rec = &w->rec,
			      .names = f->names };
}

static void give_up_oldest(struct fold *f)
{
	struct waiting *w = halves_take_oldest(f->halves);
	struct item it;

	if (!w)
		return;
	it = waiting_item(f, w);
	add_line(f, &it);
}

static int put_command(struct fold *f, const struct item *line)
{
	const struct half half = half_of_cmd(&line->rec->cmd);
	int ret;

	if (line->rec->cmd.in_flight && f->mode == FOLD_RECORDS)
		return fold_whole(f, line, NULL);
	if (line->rec->cmd.in_flight || !(half.has & (HAS_USER_DATA | HAS_QUEUE))) {
		add_line(f, line);
		return 0;
	}
	ret = halves_put_line(f->halves, &half, line->line, line->rec);
	if (!ret && halves_full(f->halves))
		give_up_oldest(f);
	return ret;
}

static int put_completion(struct fold *f, const struct item *line)
{
	const struct jsonl_cmp *p = &line->rec->cmp;
	struct waiting *w = NULL;
	struct half half;
	struct item it;

	if (half_of_cmp(p, &half))
		w = halves_take(f->halves, &half);
	if (!w) {
		add_line(f, line);
		return 0;
	}
	it = waiting_item(f, w);
	it.at_ns = line->at_ns;
	it.completion = line->line;
	if (f->mode == FOLD_RECORDS)
		return fold_whole(f, &it, p);
	add_line(f, &it);
	return 0;
}

/* ---- all lines ---- */

bool fold_line_record(const struct item *line, struct names *names, union event *e)
{
	struct told t = {};
	struct folded r;
	bool ok = fold_other(&t, line, names, &r) && r.size == event_bytes(r.record->kind);

	if (ok)
		memcpy(e, r.record, r.size);
	told_free(&t);
	return ok;
}

/* Names are records for every writer, and lines as well. */
static int put_name(struct fold *f, const struct item *line)
{
	struct folded r;
	int ret;

	if (!fold_other(&f->told, line, f->names, &r)) {
		add_line(f, line);
		f->out[f->n_out - 1].it.kind = ITEM_OTHER;
		return 0;
	}
	ret = names_learn(f->names, r.record);
	add_record(f, line, &r);
	f->out[f->n_out - 1].it.line = line->line;
	return ret;
}

/* The thread that the line of a call names, which its record does not. */
static int learn_caller(struct fold *f, const struct item *line)
{
	struct jsonl_cmd c = {};
	const struct ndjson_field *comm;
	struct members m;
	char name[16];
	size_t n;

	if (members_scan(&m, line->line.p, line->line.n))
		return 0;
	comm = members_find(&m, "comm");
	n = comm && comm->type == ND_STRING ? members_bytes(comm, name, sizeof(name)) : SIZE_MAX;
	if (n == SIZE_MAX)
		return 0;
	c.tid = (u32)members_u64(&m, "tid");
	c.pid = (u32)members_u64(&m, "pid");
	c.ts_ns = members_u64(&m, "ts");
	c.comm = (struct slice){ name, n };
	return learn_task(f, line, &c);
}

static int put_other(struct fold *f, const struct item *line)
{
	struct folded r;
	bool caller = line->kind == ITEM_SYSCALL || line->kind == ITEM_URING || line->kind == ITEM_FAULT;
	int ret = caller ? learn_caller(f, line) : 0;

	if (ret)
		return ret;
	if (fold_other(&f->told, line, f->names, &r))
		add_record(f, line, &r);
	else
		add_line(f, line);
	return 0;
}

int fold_put(struct fold *f, const struct item *line)
{
	drop_results(f);
	if (item_is_name(line))
		return put_name(f, line);
	if (f->mode != FOLD_NOT && line->rec->kind == JSONL_NVME_CMD)
		return put_command(f, line);
	if (f->mode != FOLD_NOT && line->rec->kind == JSONL_NVME_CMP)
		return put_completion(f, line);
	if (f->mode == FOLD_RECORDS &&
	    (line->kind == ITEM_CQ_OVERFLOW || line->kind == ITEM_CLOCK || line->kind == ITEM_LOSS ||
	     line->kind == ITEM_SYSCALL || line->kind == ITEM_URING || line->kind == ITEM_FAULT ||
	     line->kind == ITEM_CACHE || line->kind == ITEM_BLOCK || line->kind == ITEM_EXTENT ||
	     line->kind == ITEM_RANGE || line->kind == ITEM_OTHER))
		return put_other(f, line);
	add_line(f, line);
	return 0;
}

void fold_end(struct fold *f)
{
	f->ended = true;
}

bool fold_take(struct fold *f, struct item *out)
{
	if (f->taken == f->n_out) {
		drop_results(f);
		if (f->ended)
			give_up_oldest(f);
	}
	if (f->taken == f->n_out)
		return false;
	*out = f->out[f->taken++].it;
	return true;
}
