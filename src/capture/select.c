// SPDX-License-Identifier: Apache-2.0
#include "capture/select.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/halves.h"
#include "capture/nvme_names.h"
#include "lib/hash.h"
#include "lib/str.h"

#define MAX_WAITING (1u << 17)

struct bound {
	bool set, absolute;
	u64 ns;
};

/* Words of the command line. */
struct words {
	const char **p;
	u32 n;
};

struct device {
	char name[64]; /* as device_name() has it */
	u32 number;    /* with no name */
};

struct select {
	u32 kinds; /* a bit each; 0 = all */
	struct bound from, to;
	bool has_base;
	u64 base_ns;
	struct words keys, ops;
	struct device *devices;
	u32 n_devices;
	struct map64 ids, pids, opcodes;
	u64 found;
	bool objects;		/* any by id or key */
	struct halves *waiting; /* commands that were judged, for their completions */
	/* The device asked about last. */
	const struct names *last_names;
	u32 last_dev, last_n_disks;
	bool last_passes;
};

struct select *select_new(void)
{
	struct select *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->waiting = halves_new(MAX_WAITING);
	if (s->waiting)
		return s;
	free(s);
	return NULL;
}

void select_free(struct select *s)
{
	if (!s)
		return;
	map64_free(&s->ids);
	map64_free(&s->pids);
	map64_free(&s->opcodes);
	halves_free(s->waiting);
	free(s->keys.p);
	free(s->ops.p);
	free(s->devices);
	free(s);
}

/* ---- values ---- */

static int add_number(struct map64 *m, u64 v)
{
	bool is_new;

	return map64_put(m, v, &is_new) ? 0 : -ENOMEM;
}

static int add_word(struct words *w, const char *text)
{
	const char **p = realloc(w->p, (w->n + 1) * sizeof(*p));

	if (!p)
		return -ENOMEM;
	w->p = p;
	w->p[w->n++] = text;
	return 0;
}

static int add_kind(struct select *s, const char *word, size_t n)
{
	u32 k;

	for (k = 0; k < N_ITEM_KINDS; k++) {
		const char *name = item_kind_name(k);

		if (strlen(name) == n && !memcmp(name, word, n)) {
			s->kinds |= 1u << k;
			return 0;
		}
	}
	return -EINVAL;
}

int select_kind(struct select *s, const char *text)
{
	int ret = 0;

	while (!ret) {
		size_t n = strcspn(text, ",");

		ret = add_kind(s, text, n);
		if (!text[n])
			break;
		text += n + 1;
	}
	return ret;
}

static int set_bound(struct bound *b, const char *text)
{
	b->set = true;
	b->absolute = *text == '@';
	return b->absolute ? str_u64(text + 1, &b->ns) : str_ns(text, &b->ns);
}

int select_from(struct select *s, const char *text)
{
	return set_bound(&s->from, text);
}

int select_to(struct select *s, const char *text)
{
	return set_bound(&s->to, text);
}

int select_object(struct select *s, const char *text)
{
	u64 id;

	s->objects = true;
	if (!*text)
		return -EINVAL;
	return str_u64(text, &id) ? add_word(&s->keys, text) : add_number(&s->ids, id);
}

int select_pid(struct select *s, const char *text)
{
	u64 pid;

	if (str_u64(text, &pid) || pid > UINT32_MAX)
		return -EINVAL;
	return add_number(&s->pids, pid);
}

int select_op(struct select *s, const char *text)
{
	u64 opcode;

	if (!*text)
		return -EINVAL;
	if (str_u64(text, &opcode))
		return add_word(&s->ops, text);
	return opcode > UINT8_MAX ? -ERANGE : add_number(&s->opcodes, opcode);
}

/*
 * The name by which a namespace goes whatever node or path of it is meant: of
 * "/dev/ng0n1", "nvme0n1" and the hidden path "nvme0c1n1" it is "nvme0n1".
 */
static void device_name(char *out, size_t max, const char *name, size_t n)
{
	const char *end = name + n;
	size_t at = 0;

	if (n > 5 && !memcmp(name, "/dev/", 5))
		name += 5;
	if (end - name > 2 && !memcmp(name, "ng", 2) && isdigit((unsigned char)name[2])) {
		memcpy(out, "nvme", 4);
		at = 4;
		name += 2;
	}
	while (name < end && at + 1 < max) {
		if (*name == 'c' && at > 4 && end - name > 1 && isdigit((unsigned char)name[1]) &&
		    !memcmp(out, "nvme", 4)) {
			do
				name++;
			while (name < end && isdigit((unsigned char)*name));
			continue;
		}
		out[at++] = *name++;
	}
	out[at] = 0;
}

int select_device(struct select *s, const char *text)
{
	struct device *p = realloc(s->devices, (s->n_devices + 1) * sizeof(*p));
	unsigned int major, minor;
	char rest;

	if (!p)
		return -ENOMEM;
	s->devices = p;
	p = &s->devices[s->n_devices++];
	*p = (struct device){};
	if (sscanf(text, "%u:%u%c", &major, &minor, &rest) == 2) {
		p->number = major << 20 | (minor & 0xfffff);
		return major < 1u << 12 && minor < 1u << 20 ? 0 : -ERANGE;
	}
	device_name(p->name, sizeof(p->name), text, strlen(text));
	return p->name[0] ? 0 : -EINVAL;
}

bool select_any(const struct select *s)
{
	return s->kinds || s->from.set || s->to.set || s->objects || s->n_devices || s->pids.n || s->opcodes.n ||
	       s->ops.n;
}

bool select_is_empty(const struct select *s)
{
	return s->from.set && s->to.set && s->from.absolute == s->to.absolute && s->from.ns >= s->to.ns;
}

bool select_is_relative(const struct select *s)
{
	return (s->from.set && !s->from.absolute) || (s->to.set && !s->to.absolute);
}

bool select_needs_keys(const struct select *s)
{
	return s->keys.n;
}

u64 select_found(const struct select *s)
{
	return s->found;
}

void select_base(struct select *s, u64 ns)
{
	s->has_base = true;
	s->base_ns = ns;
}

/* ---- what passes ---- */

static bool has_part(struct slice s, const char *part)
{
	size_t n = strlen(part);

	return s.n >= n && memmem(s.p, s.n, part, n);
}

static bool key_passes(const struct select *s, struct slice key)
{
	u32 i;

	for (i = 0; i < s->keys.n; i++)
		if (has_part(key, s->keys.p[i]))
			return true;
	return false;
}

int select_learn(struct select *s, const struct item *it)
{
	if (it->kind != ITEM_SEMANTIC || !it->rec)
		return 0;
	if (!key_passes(s, it->rec->op.key) && !key_passes(s, it->rec->op.key_hex))
		return 0;
	s->found++;
	return add_number(&s->ids, it->rec->op.trace_id);
}

bool select_is_event(const struct item *it)
{
	return it->start_ns && it->kind >= ITEM_NVME && it->kind != ITEM_CLOCK && it->kind != ITEM_LOSS;
}

static bool kind_passes(const struct select *s, u8 kind)
{
	const u32 of_names = 1u << ITEM_NVME | 1u << ITEM_NVME_KV | 1u << ITEM_CQ_OVERFLOW | 1u << ITEM_SYSCALL |
			     1u << ITEM_URING | 1u << ITEM_FAULT | 1u << ITEM_CACHE | 1u << ITEM_EXTENT |
			     1u << ITEM_RANGE;

	if (!s->kinds || kind == ITEM_META || kind == ITEM_FOOTER || (s->kinds >> kind & 1))
		return true;
	/* What others cannot be understood without. */
	if (kind == ITEM_TASK || kind == ITEM_DISK || kind == ITEM_PATH)
		return s->kinds & of_names;
	return kind == ITEM_KVIO_META && (s->kinds >> ITEM_SEMANTIC & 1);
}

static bool reached(const struct select *s, const struct bound *b, u64 ns)
{
	return b->absolute ? ns >= b->ns : ns >= s->base_ns && ns - s->base_ns >= b->ns;
}

static bool time_passes(struct select *s, const struct item *it)
{
	if (!select_is_event(it))
		return true;
	if (!s->has_base)
		select_base(s, it->start_ns);
	return !(s->from.set && !reached(s, &s->from, it->start_ns)) &&
	       !(s->to.set && reached(s, &s->to, it->start_ns));
}

/* What the filters look at in a command; of a lone completion some is not known. */
struct subject {
	u64 user_data;
	u32 pid, dev, rdev;
	u8 opcode;
	bool tagged;   /* user_data is there */
	bool has_work; /* pid and opcode are known */
	struct slice disk, op_name;
	char key_hex[33];
	struct slice key;
};

static struct slice word(const char *s)
{
	return (struct slice){ s, strlen(s) };
}

static struct slice name_of_disk(struct names *names, u32 dev)
{
	const struct known_disk *d = names ? names_disk(names, dev) : NULL;

	return d ? (struct slice){ d->ev.name, strnlen(d->ev.name, sizeof(d->ev.name)) } : (struct slice){};
}

static const char *op_name(u8 opcode, bool kv)
{
	return kv ? nvme_kv_op_name(opcode) : nvme_op_name(opcode);
}

static void set_key(struct subject *x, const struct ev_nvme_kv *kv)
{
	static const char digits[] = "0123456789abcdef";
	size_t n = MIN(kv->cmd.slba >> 32 & 0xff, sizeof(kv->key)), i;

	for (i = 0; i < n; i++) {
		x->key_hex[2 * i] = digits[kv->key[i] >> 4];
		x->key_hex[2 * i + 1] = digits[kv->key[i] & 15];
	}
	x->key = (struct slice){ x->key_hex, 2 * n };
}

static void of_record(struct subject *x, const struct item *it)
{
	const struct ev_nvme *c = &it->record->nvme;
	const struct known_task *t = names_task_at(it->names, c->tid, c->ts_ns);
	const struct known_disk *d = names_disk(it->names, c->dev);

	*x = (struct subject){
		.user_data = c->user_data,
		.pid = t ? t->ev.pid : 0,
		.dev = c->dev,
		.rdev = d ? d->rdev : 0,
		.opcode = c->opcode,
		.tagged = c->flags & NVME_PASSTHROUGH,
		.has_work = true,
		.disk = name_of_disk(it->names, c->dev),
		.op_name = word(c->flags & NVME_ADMIN ? "admin" : op_name(c->opcode, c->kind == EV_NVME_KV)),
	};
	if (c->kind == EV_NVME_KV)
		set_key(x, &it->record->kv);
}

static void of_line(struct subject *x, const struct item *it)
{
	const struct jsonl_cmd *c = &it->rec->cmd;

	*x = (struct subject){
		.user_data = c->user_data,
		.pid = c->pid,
		.dev = c->dev,
		.rdev = c->rdev,
		.opcode = c->opcode,
		.tagged = c->has & HAS_USER_DATA,
		.has_work = true,
		.disk = c->disk.n ? c->disk : name_of_disk(it->names, c->dev),
		.op_name = c->op_name.n ? c->op_name : word(op_name(c->opcode, c->has & HAS_KEY)),
		.key = c->key_hex,
	};
}

static void of_completion(struct subject *x, const struct item *it)
{
	const struct jsonl_cmp *p = &it->rec->cmp;

	*x = (struct subject){
		.user_data = p->user_data,
		.dev = p->dev,
		.tagged = p->has & HAS_USER_DATA,
		.disk = p->disk.n ? p->disk : name_of_disk(it->names, p->dev),
	};
}

static bool id_passes(const struct select *s, const struct subject *x)
{
	return (x->tagged && map64_get(&s->ids, x->user_data >> 32)) || (x->key.n && key_passes(s, x->key));
}

static bool op_passes(const struct select *s, const struct subject *x)
{
	u32 i;

	if (!x->has_work)
		return false;
	if (map64_get(&s->opcodes, x->opcode))
		return true;
	for (i = 0; i < s->ops.n; i++)
		if (slice_is(x->op_name, s->ops.p[i]))
			return true;
	return false;
}

static bool device_matches(const struct select *s, const struct subject *x)
{
	char name[64];
	u32 i;

	device_name(name, sizeof(name), x->disk.n ? x->disk.p : "", x->disk.n);
	for (i = 0; i < s->n_devices; i++) {
		const struct device *d = &s->devices[i];

		if (d->name[0] ? !strcmp(d->name, name) : d->number && (d->number == x->dev || d->number == x->rdev))
			return true;
	}
	return false;
}

static bool device_passes(struct select *s, const struct item *it, const struct subject *x)
{
	if (!it->record)
		return device_matches(s, x);
	if (s->last_names == it->names && s->last_dev == x->dev && s->last_n_disks == it->names->n_disks)
		return s->last_passes;
	s->last_names = it->names;
	s->last_dev = x->dev;
	s->last_n_disks = it->names->n_disks;
	return s->last_passes = device_matches(s, x);
}

static bool command_passes(struct select *s, const struct item *it)
{
	struct subject x;

	if (it->record)
		of_record(&x, it);
	else if (it->is_completion)
		of_completion(&x, it);
	else
		of_line(&x, it);
	return !(s->objects && !id_passes(s, &x)) && !(s->n_devices && !device_passes(s, it, &x)) &&
	       !(s->pids.n && !(x.has_work && map64_get(&s->pids, x.pid))) &&
	       !((s->opcodes.n || s->ops.n) && !op_passes(s, &x));
}

static bool overflow_passes(struct select *s, const struct item *it)
{
	u64 user_data = it->record ? it->record->overflow.user_data : it->rec->overflow.user_data;
	u32 pid = it->pid;

	if (it->record) {
		const struct known_task *t =
			names_task_at(it->names, it->record->overflow.tid, it->record->overflow.ts_ns);

		pid = t ? t->ev.pid : 0;
	}
	return !(s->objects && !map64_get(&s->ids, user_data >> 32)) && !(s->pids.n && !map64_get(&s->pids, pid));
}

static bool object_passes(struct select *s, const struct item *it)
{
	const struct jsonl_op *o = &it->rec->op;

	return !s->objects || map64_get(&s->ids, o->trace_id) || key_passes(s, o->key) || key_passes(s, o->key_hex);
}

static bool passes(struct select *s, const struct item *it)
{
	if (!kind_passes(s, it->kind) || !time_passes(s, it))
		return false;
	if (item_is_command(it))
		return command_passes(s, it);
	if (it->kind == ITEM_CQ_OVERFLOW)
		return overflow_passes(s, it);
	if (it->kind == ITEM_SEMANTIC && it->rec && !object_passes(s, it))
		return false;
	return !(it->has_pid && s->pids.n && !map64_get(&s->pids, it->pid));
}

/* Commands and completions of one capture only go together: its names stand for it. */
static void mark_capture(struct half *h, const struct item *it)
{
	h->issued_ns ^= hash_u64((u64)(uintptr_t)it->names);
}

/* Keeps the verdict on a command for the completion that comes later. */
static int remember(struct select *s, const struct item *it, bool verdict)
{
	struct half half = half_of_cmd(&it->rec->cmd);

	mark_capture(&half, it);
	if (it->in_flight || !(half.has & (HAS_USER_DATA | HAS_QUEUE)))
		return 0;
	if (halves_full(s->waiting))
		halves_take_oldest(s->waiting);
	return halves_put_verdict(s->waiting, &half, verdict);
}

int select_item(struct select *s, const struct item *it)
{
	const struct waiting *w = NULL;
	bool verdict;
	struct half half;
	int ret;

	if (it->is_completion) {
		if (half_of_cmp(&it->rec->cmp, &half)) {
			mark_capture(&half, it);
			w = halves_take(s->waiting, &half);
		}
		return w ? w->verdict : passes(s, it);
	}
	verdict = passes(s, it);
	if (it->rec && it->rec->kind == JSONL_NVME_CMD && !it->completion.n) {
		ret = remember(s, it, verdict);
		if (ret)
			return ret;
	}
	return verdict;
}
