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

static u32 flags_of(const struct ev_nvme *e)
{
	u32 flags = e->flags;

	if (e->hwq != UINT16_MAX)
		flags |= CMD_HAS_QUEUE;
	if (e->status)
		flags |= CMD_FAILED;
	if (e->kind == EV_NVME && !(e->flags & NVME_ADMIN) && nvme_op_has_slba(e->opcode))
		flags |= CMD_HAS_SLBA;
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

static int put_nvme(void *arg, const struct ev_nvme_kv *kv)
{
	struct input *in = arg;
	const struct ev_nvme *e = &kv->cmd;
	struct cmd_table *t = &in->m->cmd;
	struct device_id id = { .dev = e->dev, .nsid = e->nsid };
	u32 flags = flags_of(e), dev, name, key = 0, i = t->n;
	int ret = cmd_room(t);

	if (!ret)
		ret = find_device(in->m, &id, &dev);
	if (!ret)
		ret = name_of(in->m, e, &name);
	if (!ret && e->kind == EV_NVME_KV)
		ret = key_of(in->m, kv, &key);
	if (ret)
		return ret;
	t->ts_ns[i] = e->ts_ns;
	t->lat_ns[i] = latency_of(in->m, e, &flags);
	t->user_data[i] = e->flags & NVME_PASSTHROUGH ? e->user_data : 0;
	t->slba[i] = e->kind == EV_NVME_KV || (flags & CMD_HAS_SLBA) ? e->slba : 0;
	t->bytes[i] = e->bytes;
	t->nlb[i] = (flags & CMD_HAS_SLBA) && nvme_op_has_nlb(e->opcode) ? e->nlb + 1u : 0;
	t->tid[i] = e->tid;
	t->task[i] = NONE;
	t->name[i] = name;
	t->flags[i] = flags | (key ? CMD_HAS_KEY : 0);
	t->hwq[i] = e->hwq;
	t->cid[i] = e->cid;
	t->opcode[i] = e->opcode;
	t->attempts[i] = MAX(e->attempts, 1);
	t->op[i] = NONE;
	if (e->wait_ns) {
		t->wait_ns[i] = e->wait_ns;
		t->waits = true;
	}
	if (dev)
		t->dev[i] = dev;
	if (key)
		t->key[i] = key;
	if (e->status)
		t->status[i] = e->status;
	t->n++;
	in->n.commands++;
	in->m->loading->tagged = in->m->loading->tasks_missing = true;
	in->n.completions += !(e->flags & NVME_IN_FLIGHT);
	return 0;
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
		.filtered = e->filtered,
	};

	in->n.other++;
	return put_running(in, e->witness, e->ts_ns, &account);
}

/* What the file of those numbers is called, 0 = not known. */
static int path_of(struct input *in, bool has_file, u32 dev, u64 ino, u64 ts_ns, u32 *path)
{
	const struct known_file *f = has_file ? names_file_at(&in->m->loading->files, dev, ino, ts_ns) : NULL;

	*path = 0;
	return f ? intern_word(in->m, (struct slice){ f->path.p, f->path.n }, path) : 0;
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

union record {
	struct ev_cq_overflow overflow;
	struct ev_task task;
	struct ev_disk disk;
	struct ev_clock clock;
	struct ev_loss loss;
	struct ev_syscall syscall;
	struct ev_path path;
	struct ev_uring uring;
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
	case EV_PATH:
		in->n.other++;
		return names_learn(&in->m->loading->files, &r->path);
	default:
		in->n.other++;
		in->n.unknown++;
		return 0;
	}
}

static int put_commands(struct window *w, const struct kvt_chunk *c)
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
		return put_commands(w, c);
	if (c->type == KVT_TEXT)
		return load_text(in, c->text, c->n);
	return c->records ? put_others(in, c) : 0;
}

int load_kvt(struct input *in, struct zin *z)
{
	struct window *w = window_new(put_nvme, in);
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
