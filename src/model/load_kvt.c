// SPDX-License-Identifier: Apache-2.0
/* The binary capture into the tables. */
#include <errno.h>
#include <string.h>

#include "capture/kvt.h"
#include "capture/nvme_names.h"
#include "lib/buf.h"
#include "model/load_window.h"
#include "model/tables.h"

static struct slice word(const char *s)
{
	return (struct slice){ s, strlen(s) };
}

#define HAS_NLB (1u << 31) /* of flags, here only: the opcode has a number of blocks */

static u32 flags_of(const struct ev_nvme *e)
{
	u32 flags = e->flags;

	if (e->hwq != UINT16_MAX)
		flags |= CMD_HAS_QUEUE;
	if (e->status)
		flags |= CMD_FAILED;
	if (e->kind == EV_NVME && !(e->flags & NVME_ADMIN) && nvme_op_has_slba(e->opcode))
		flags |= CMD_HAS_SLBA | (nvme_op_has_nlb(e->opcode) ? HAS_NLB : 0);
	return flags;
}

/* The name of the opcode: looked up once. */
static int name_of(struct model *m, const struct ev_nvme *e, u32 *id)
{
	u32 set = e->flags & NVME_ADMIN ? 2 : e->kind == EV_NVME_KV;
	u32 *known = &m->loading->op_name[set][e->opcode];
	int ret = 0;

	if (!*known)
		ret = intern(m,
			     word(set == 2 ? "admin"
				  : set	   ? nvme_kv_op_name(e->opcode)
					   : nvme_op_name(e->opcode)),
			     known);
	*id = *known;
	return ret;
}

/* The key as hex text. */
static int key_of(struct model *m, const struct ev_nvme_kv *e, u32 *id)
{
	static const char digits[] = "0123456789abcdef";
	size_t n = MIN(e->cmd.slba >> 32 & 0xff, sizeof(e->key)), i;
	char hex[2 * sizeof(e->key)];

	for (i = 0; i < n; i++) {
		hex[2 * i] = digits[e->key[i] >> 4];
		hex[2 * i + 1] = digits[e->key[i] & 15];
	}
	return intern(m, (struct slice){ hex, 2 * n }, id);
}

/* A command whose clock ran backwards has the wrapped difference. */
static u64 latency_of(struct model *m, const struct ev_nvme *e, u32 *flags)
{
	if (e->flags & NVME_IN_FLIGHT)
		return NO_LAT;
	if ((s64)e->lat_ns >= 0)
		return e->lat_ns;
	*flags |= CMD_NEGATIVE;
	m->dev_in.negative_latency++;
	return 0;
}

/* What must be looked up: name and key; and the columns that most rows have nothing in. */
static int put_refs(struct model *m, const struct ev_nvme_kv *e, u32 dev, u32 i)
{
	struct cmd_table *t = &m->cmd;
	u32 key = 0;
	int ret = name_of(m, &e->cmd, &t->name[i]);

	if (!ret && e->cmd.kind == EV_NVME_KV)
		ret = key_of(m, e, &key);
	if (ret)
		return ret;
	if (dev)
		t->dev[i] = dev;
	if (key) {
		t->key[i] = key;
		t->flags[i] |= CMD_HAS_KEY;
	}
	if (e->cmd.status)
		t->status[i] = e->cmd.status;
	if (e->cmd.wait_ns) {
		t->wait_ns[i] = e->cmd.wait_ns;
		t->waits = true;
	}
	return 0;
}

/* Most commands are of the device that the one before was of. */
static int put_all_refs(struct model *m, const struct ev_nvme_kv *const *kv, u32 n)
{
	struct device_id id = {};
	u32 dev = NONE, i;
	int ret = 0;

	for (i = 0; i < n && !ret; i++) {
		const struct ev_nvme *e = &kv[i]->cmd;

		if (dev == NONE || e->dev != id.dev || e->nsid != id.nsid) {
			id = (struct device_id){ .dev = e->dev, .nsid = e->nsid };
			ret = find_device(m, &id, &dev);
		}
		if (!ret)
			ret = put_refs(m, kv[i], dev, m->cmd.n + i);
	}
	return ret;
}

#define COLUMN(c, value)                               \
	for (k = 0; k < n; k++) {                      \
		const struct ev_nvme *e = &kv[k]->cmd; \
                                                       \
		t->c[i + k] = (value);                 \
	}

/* Column by column: so many places to write to at a time are more than a cache has. */
static int put_commands(void *arg, const struct ev_nvme_kv *const *kv, u32 n)
{
	struct input *in = arg;
	struct cmd_table *t = &in->m->cmd;
	u32 flags[WINDOW_BATCH], i = t->n, k;
	int ret = cmd_rooms(t, n);

	if (ret)
		return ret;
	for (k = 0; k < n; k++) {
		const struct ev_nvme *e = &kv[k]->cmd;

		flags[k] = flags_of(e);
		t->lat_ns[i + k] = latency_of(in->m, e, &flags[k]);
		in->n.completions += !(e->flags & NVME_IN_FLIGHT);
	}
	COLUMN(ts_ns, e->ts_ns)
	COLUMN(user_data, e->flags & NVME_PASSTHROUGH ? e->user_data : 0)
	COLUMN(slba, e->kind == EV_NVME_KV || (flags[k] & CMD_HAS_SLBA) ? e->slba : 0)
	COLUMN(bytes, e->bytes)
	COLUMN(nlb, flags[k] & HAS_NLB ? e->nlb + 1u : 0)
	COLUMN(tid, e->tid)
	COLUMN(hwq, e->hwq)
	COLUMN(cid, e->cid)
	COLUMN(opcode, e->opcode)
	COLUMN(attempts, MAX(e->attempts, 1))
	for (k = 0; k < n; k++) {
		t->flags[i + k] = flags[k] & ~HAS_NLB;
		t->task[i + k] = t->op[i + k] = NONE;
	}
	ret = put_all_refs(in->m, kv, n);
	t->n += n;
	in->n.commands += n;
	in->m->loading->tagged = in->m->loading->tasks_missing = true;
	return ret;
}

static int put_disk(struct input *in, const struct ev_disk *e)
{
	struct device_id id = { .dev = e->dev,
				.nsid = e->nsid,
				.name = { e->name, strnlen(e->name, sizeof(e->name)) } };
	struct device *d;
	u32 i;
	int ret = find_device(in->m, &id, &i);

	if (ret)
		return ret;
	d = &in->m->device[i];
	if (e->csi != 0xff)
		d->csi = e->csi;
	if (e->lba_bytes) {
		d->lba_bytes = e->lba_bytes;
		d->ms = e->ms;
	}
	return 0;
}

static int put_loss(struct input *in, const struct ev_loss *e)
{
	const struct account account = {
		.present = true,
		.seen = e->seen,
		.stored = e->stored,
		.ring_full = e->ring_full,
		.map_full = e->map_full,
		.hook_missed = e->hook_missed,
		.unread = e->unread,
		.filtered = e->filtered,
	};

	in->n.other++;
	return put_running(in, e->witness, e->ts_ns, &account);
}

static int path_of(struct input *in, bool has_file, u32 dev, u64 ino, u64 ts_ns, u32 *path)
{
	*path = 0;
	return has_file ? find_path(in->m, dev, ino, ts_ns, path) : 0;
}

static int put_task(struct input *in, const struct ev_task *e)
{
	struct model *m = in->m;
	u32 path;
	int ret = path_of(in, e->cgroup, EV_DEV_CGROUP, e->cgroup, e->ts_ns, &path);

	if (!ret)
		ret = add_task(m, e->tid, e->pid, (struct slice){ e->comm, strnlen(e->comm, sizeof(e->comm)) },
			       e->ts_ns);
	if (ret)
		return ret;
	m->task[m->n_tasks - 1].ns_pid = e->ns_pid;
	m->task[m->n_tasks - 1].cgroup = e->cgroup;
	m->task[m->n_tasks - 1].cgroup_path = path;
	return 0;
}

static int put_call(struct input *in, const struct ev_syscall *e)
{
	u32 path;
	int ret = path_of(in, e->flags & SYSCALL_FILE, e->dev, e->ino, e->ts_ns, &path);

	in->n.calls++;
	return ret ? ret : add_call(in->m, e, path);
}

static int put_uring(struct input *in, const struct ev_uring *e)
{
	u32 path;
	int ret = path_of(in, e->flags & URING_FILE, e->dev, e->ino, e->ts_ns, &path);

	in->n.requests++;
	return ret ? ret : add_uring(in->m, e, path);
}

static int put_fault(struct input *in, const struct ev_fault *e)
{
	u32 path;
	int ret = path_of(in, true, e->dev, e->ino, e->ts_ns, &path);

	in->n.faults++;
	return ret ? ret : add_fault(in->m, e, path);
}

static int put_cache(struct input *in, const struct ev_cache *e)
{
	u32 path;
	int ret = path_of(in, true, e->dev, e->ino, e->ts_ns, &path);

	in->n.other++;
	return ret ? ret : add_cache(in->m, e, path);
}

static int put_extent(struct input *in, const struct ev_extent *e)
{
	u32 path;
	int ret = path_of(in, true, e->dev, e->ino, e->ts_ns, &path);

	in->n.other++;
	return ret ? ret : add_extent(in->m, e, path);
}

union record {
	struct ev_cq_overflow overflow;
	struct ev_task task;
	struct ev_disk disk;
	struct ev_clock clock;
	struct ev_loss loss;
	struct ev_syscall syscall;
	struct ev_path path;
	struct ev_uring uring;
	struct ev_fault fault;
	struct ev_cache cache;
	struct ev_block block;
	struct ev_extent extent;
	struct ev_range range;
};

static int put_record(struct input *in, u8 kind, const union record *r)
{
	switch (kind) {
	case EV_CQ_OVERFLOW:
		in->n.other++;
		return add_overflow(in->m, r->overflow.ts_ns, r->overflow.user_data, r->overflow.res);
	case EV_TASK:
		return put_task(in, &r->task);
	case EV_DISK:
		return put_disk(in, &r->disk);
	case EV_CLOCK:
		in->n.anchors++;
		return add_anchor(in->m, r->clock.monotonic_ns, r->clock.realtime_ns, r->clock.uncertainty_ns);
	case EV_LOSS:
		return put_loss(in, &r->loss);
	case EV_SYSCALL:
		return put_call(in, &r->syscall);
	case EV_URING:
		return put_uring(in, &r->uring);
	case EV_FAULT:
		return put_fault(in, &r->fault);
	case EV_CACHE:
		return put_cache(in, &r->cache);
	case EV_BLOCK:
		in->n.other++;
		return add_block(in->m, &r->block);
	case EV_RANGE:
		in->n.other++;
		return add_range(in->m, &r->range);
	case EV_EXTENT:
		return put_extent(in, &r->extent);
	case EV_PATH:
		in->n.other++;
		return names_learn(&in->m->loading->files, &r->path);
	default:
		in->n.other++;
		in->n.unknown++;
		return 0;
	}
}

static int take_commands(struct window *w, const struct kvt_chunk *c)
{
	const u8 *p = c->records;
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < c->n; i++, p += c->record_bytes) {
		struct ev_nvme_kv *e = window_slot(w);

		if (c->type == EV_NVME && c->record_bytes == sizeof(e->cmd)) {
			memcpy(&e->cmd, p, sizeof(e->cmd));
		} else {
			memset(e, 0, sizeof(*e));
			memcpy(e, p, MIN(c->record_bytes, sizeof(*e)));
		}
		e->cmd.kind = c->type;
		ret = window_take(w);
	}
	return ret;
}

/* Records of another minor version are shorter or longer than ours. */
static int put_others(struct input *in, const struct kvt_chunk *c)
{
	const u8 *p = c->records;
	union record r;
	u32 i;
	int ret = 0;

	memset(&r, 0, sizeof(r));
	for (i = 0; !ret && i < c->n; i++, p += c->record_bytes) {
		memcpy(&r, p, MIN(c->record_bytes, sizeof(r)));
		ret = put_record(in, c->type, &r);
	}
	return ret;
}

static void put_footer(struct input *in, const json_t *doc)
{
	in->closed = in->footer = true;
	in->account = (struct account){
		.present = true,
		.complete = !json_is_false(json_object_get(doc, "complete")),
		.seen = doc_u64(doc, "seen"),
		.stored = doc_u64(doc, "stored"),
		.ring_full = doc_u64(doc, "ring_full"),
		.map_full = doc_u64(doc, "map_full"),
		.hook_missed = doc_u64(doc, "hook_missed"),
		.unread = doc_u64(doc, "unread"),
		.filtered = doc_u64(doc, "filtered"),
		.in_flight = doc_u64(doc, "in_flight"),
	};
}

static ssize_t read_input(void *arg, void *buf, size_t n)
{
	return zin_read(arg, buf, n);
}

static int load_chunk(struct input *in, struct window *w, const struct kvt_chunk *c)
{
	if (c->type == KVT_META)
		return load_meta(in, c->doc);
	if (c->type == KVT_FOOTER)
		put_footer(in, c->doc);
	if (c->type == EV_NVME || c->type == EV_NVME_KV)
		return take_commands(w, c);
	if (c->type == KVT_TEXT)
		return load_text(in, c->text, c->n);
	return c->records ? put_others(in, c) : 0;
}

int load_kvt(struct input *in, struct zin *z)
{
	struct window *w = window_new(put_commands, in);
	struct kvt_reader *r = NULL;
	struct kvt_chunk c;
	int ret = w ? kvt_reader_open(&r, read_input, z) : -ENOMEM;

	if (ret)
		goto out;
	in->device = true;
	while ((ret = kvt_next(r, &c)) > 0) {
		ret = load_chunk(in, w, &c);
		if (ret)
			break;
	}
	if (!ret)
		ret = window_flush(w);
	if (!ret && !kvt_complete(r)) {
		in->n.input_cut = true;
		ret = intern(in->m, word(kvt_defect(r)), &in->account.defect);
	}
out:
	if (r)
		kvt_reader_close(r);
	window_free(w);
	return ret;
}
