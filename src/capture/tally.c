// SPDX-License-Identifier: Apache-2.0
#include "capture/tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/human.h"
#include "lib/jsonutil.h"
#include "lib/str.h"

/* Commands of one device or process. */
struct share {
	u32 name, pid; /* id in names; of a process */
	u64 commands, bytes;
};

struct shares {
	struct map64 at;
	struct share *p;
	u32 n, cap;
};

struct tally {
	struct strpool names;
	u64 kinds[N_ITEM_KINDS], cut[N_ITEM_KINDS]; /* completions apart */
	u64 completions, failed, refused, snapshots;
	u64 reads, writes, others, read_bytes, write_bytes, other_bytes;
	u64 first_ns, last_ns;
	struct shares devices, processes;
};

struct tally *tally_new(void)
{
	return calloc(1, sizeof(struct tally));
}

void tally_free(struct tally *t)
{
	if (!t)
		return;
	strpool_free(&t->names);
	map64_free(&t->devices.at);
	map64_free(&t->processes.at);
	free(t->devices.p);
	free(t->processes.p);
	free(t);
}

/* ---- counting ---- */

/* The share of that key; *is_new asks for its name.  NULL = no memory. */
static struct share *share_of(struct shares *s, u64 key, bool *is_new)
{
	u32 *at = map64_put(&s->at, key, is_new);

	if (!at)
		return NULL;
	if (*is_new) {
		if (s->n == s->cap) {
			u32 cap = s->cap ? s->cap * 2 : 16;
			struct share *p = realloc(s->p, cap * sizeof(*p));

			if (!p)
				return NULL;
			s->p = p;
			s->cap = cap;
		}
		*at = s->n++;
		s->p[*at] = (struct share){};
	}
	return &s->p[*at];
}

/* What is counted of a command, from a record or a line. */
struct work {
	u32 dev, rdev, pid, bytes;
	u8 opcode;
	bool admin;
	struct slice disk, comm;
};

static struct slice chars(const char *s, size_t max)
{
	return (struct slice){ s, strnlen(s, max) };
}

static struct work of_record(const struct item *it)
{
	const struct ev_nvme *c = &it->record->nvme;
	const struct known_task *t = names_task_at(it->names, c->tid, c->ts_ns);
	const struct known_disk *d = names_disk(it->names, c->dev);

	return (struct work){
		.dev = c->dev,
		.rdev = d ? d->rdev : 0,
		.pid = t ? t->ev.pid : 0,
		.bytes = c->bytes,
		.opcode = c->opcode,
		.admin = c->flags & NVME_ADMIN,
		.disk = d ? chars(d->ev.name, sizeof(d->ev.name)) : (struct slice){},
		.comm = t ? chars(t->ev.comm, sizeof(t->ev.comm)) : (struct slice){},
	};
}

static struct work of_line(const struct item *it)
{
	const struct jsonl_cmd *c = &it->rec->cmd;

	return (struct work){
		.dev = c->dev,
		.rdev = c->rdev,
		.pid = c->pid,
		.bytes = c->bytes,
		.opcode = c->opcode,
		.admin = slice_is(c->op_name, "admin"),
		.disk = c->disk,
		.comm = c->comm,
	};
}

static u32 intern(struct tally *t, struct slice s)
{
	return s.n ? strpool_add(&t->names, s.p, s.n) : 0;
}

static int add_shares(struct tally *t, const struct work *w)
{
	u64 device = w->disk.n ? (u64)intern(t, w->disk) << 32 : w->dev ? w->dev : w->rdev;
	struct share *d, *p;
	bool is_new;

	d = share_of(&t->devices, device, &is_new);
	if (!d)
		return -ENOMEM;
	if (is_new) {
		d->name = (u32)(device >> 32);
		d->pid = (u32)device;
	}
	d->commands++;
	d->bytes += w->bytes;
	p = share_of(&t->processes, w->pid, &is_new);
	if (!p)
		return -ENOMEM;
	if (is_new) {
		p->name = intern(t, w->comm);
		p->pid = w->pid;
	}
	p->commands++;
	p->bytes += w->bytes;
	return 0;
}

static int add_command(struct tally *t, const struct item *it)
{
	const struct work w = it->record ? of_record(it) : of_line(it);

	if (!w.admin && w.opcode == 2) {
		t->reads++;
		t->read_bytes += w.bytes;
	} else if (!w.admin && w.opcode == 1) {
		t->writes++;
		t->write_bytes += w.bytes;
	} else {
		t->others++;
		t->other_bytes += w.bytes;
	}
	if (it->record) {
		t->completions++;
		t->failed += it->record->nvme.status != 0;
		t->refused += !!(it->record->nvme.flags & NVME_REFUSED);
	} else {
		t->refused += it->rec->cmd.refused;
	}
	return add_shares(t, &w);
}

static void add_time(struct tally *t, const struct item *it)
{
	if (!it->start_ns || it->kind < ITEM_NVME)
		return;
	if (!t->first_ns || it->start_ns < t->first_ns)
		t->first_ns = it->start_ns;
	t->last_ns = MAX(t->last_ns, MAX(it->at_ns, it->start_ns));
}

int tally_take(struct tally *t, const struct item *it, bool cut)
{
	if (cut) {
		t->cut[it->kind] += !it->is_completion;
		return 0;
	}
	add_time(t, it);
	if (it->is_completion) {
		t->completions++;
		t->failed += it->rec->cmp.status != 0;
		return 0;
	}
	if (it->in_flight) {
		t->snapshots++;
		return 0;
	}
	t->kinds[it->kind]++;
	return item_is_command(it) ? add_command(t, it) : 0;
}

/* ---- telling ---- */

static const char *format_name(enum stream_format f)
{
	return f == STREAM_KVT ? "kvt" : f == STREAM_CSV ? "csv" : "jsonl";
}

static void device_label(const struct tally *t, const struct share *s, char *out, size_t n)
{
	if (s->name)
		snprintf(out, n, "%s", strpool_get(&t->names, s->name));
	else if (s->pid)
		snprintf(out, n, "%u:%u", s->pid >> 20, s->pid & 0xfffff);
	else
		snprintf(out, n, "unknown device");
}

static json_t *shares_json(const struct tally *t, const struct shares *s, bool device)
{
	json_t *list = json_array();
	char label[64];
	u32 i;

	for (i = 0; i < s->n; i++) {
		json_t *one = json_object();

		if (device) {
			device_label(t, &s->p[i], label, sizeof(label));
			json_set_str(one, "device", label);
		} else {
			json_set_u64(one, "pid", s->p[i].pid);
			json_set_str(one, "comm", strpool_get(&t->names, s->p[i].name));
		}
		json_set_u64(one, "commands", s->p[i].commands);
		json_set_u64(one, "bytes", s->p[i].bytes);
		json_array_append_new(list, one);
	}
	return list;
}

static json_t *counts_json(const u64 *n)
{
	json_t *o = json_object();
	u32 k;

	for (k = 0; k < N_ITEM_KINDS; k++)
		if (n[k])
			json_set_u64(o, item_kind_name(k), n[k]);
	return o;
}

static json_t *account_json(const struct account *a)
{
	struct numbers n = account_numbers(a);
	json_t *o = json_object();

	json_set_u64(o, "seen", n.seen);
	json_set_u64(o, "stored", n.stored);
	json_set_u64(o, "in_flight", n.in_flight);
	json_set_u64(o, "ring_full", n.ring_full);
	json_set_u64(o, "map_full", n.map_full);
	json_set_u64(o, "hook_missed", n.hook_missed);
	json_set_u64(o, "unread", n.unread);
	json_set_u64(o, "filtered", n.filtered);
	return o;
}

static bool is_complete(const struct account *a, const struct stream_info *i)
{
	return account_whole(a) && !i->malformed && !i->odd && !i->tail_cut && !i->defect && !i->skipped_blocks;
}

json_t *tally_json(const struct tally *t, const char *file, const struct account *a, const struct stream_info *i)
{
	json_t *o = json_object();

	json_set_str(o, "file", file);
	json_set_str(o, "format", format_name(i->format));
	json_object_set_new(o, "kinds", counts_json(t->kinds));
	json_object_set_new(o, "cut", counts_json(t->cut));
	json_set_u64(o, "completions", t->completions);
	json_set_u64(o, "failed", t->failed);
	json_set_u64(o, "refused", t->refused);
	json_set_u64(o, "snapshots", t->snapshots);
	json_set_u64(o, "reads", t->reads);
	json_set_u64(o, "read_bytes", t->read_bytes);
	json_set_u64(o, "writes", t->writes);
	json_set_u64(o, "write_bytes", t->write_bytes);
	json_set_u64(o, "others", t->others);
	json_set_u64(o, "other_bytes", t->other_bytes);
	json_set_u64(o, "first_ns", t->first_ns);
	json_set_u64(o, "last_ns", t->last_ns);
	json_object_set_new(o, "devices", shares_json(t, &t->devices, true));
	json_object_set_new(o, "processes", shares_json(t, &t->processes, false));
	json_object_set_new(o, "account", a->device || a->closed ? account_json(a) : json_null());
	json_object_set_new(o, "complete", json_boolean(is_complete(a, i)));
	json_set_u64(o, "malformed", i->malformed);
	json_set_u64(o, "odd", i->odd);
	json_set_u64(o, "first_bad_line", i->first_bad_line);
	json_object_set_new(o, "tail_cut", json_boolean(i->tail_cut));
	json_set_u64(o, "unknown_kinds", i->unknown);
	if (i->defect)
		json_set_str(o, "defect", i->defect);
	return o;
}

/* Names are data: what could speak to a terminal is not printed. */
static void make_printable(char *s)
{
	size_t n = strlen(s), i = 0, len;

	while (i < n) {
		len = utf8_len(s + i, n - i);
		if (len == 1 && ((u8)s[i] < 0x20 || s[i] == 0x7f))
			len = 0;
		/* U+0080 to U+009F are controls as well. */
		if (len == 2 && (u8)s[i] == 0xc2 && (u8)s[i + 1] < 0xa0)
			s[i + 1] = '?', len = 0;
		if (!len)
			s[i] = '?';
		i += len ? len : 1;
	}
}

static void text_row(struct buf *b, char *what, u64 n, u64 bytes)
{
	char size[32];

	make_printable(what);
	buf_printf(b, "    %-26s %12llu   %s\n", what, (unsigned long long)n, human_bytes(size, sizeof(size), bytes));
}

static void text_commands(struct buf *b, const struct tally *t)
{
	char label[96];
	u32 i;

	if (t->reads)
		text_row(b, (char[]){ "reads" }, t->reads, t->read_bytes);
	if (t->writes)
		text_row(b, (char[]){ "writes" }, t->writes, t->write_bytes);
	if (t->others)
		text_row(b, (char[]){ "others" }, t->others, t->other_bytes);
	for (i = 0; i < t->devices.n; i++) {
		device_label(t, &t->devices.p[i], label, sizeof(label));
		text_row(b, label, t->devices.p[i].commands, t->devices.p[i].bytes);
	}
	for (i = 0; i < t->processes.n; i++) {
		const struct share *p = &t->processes.p[i];

		if (p->pid || p->name)
			snprintf(label, sizeof(label), "pid %u %s", p->pid, strpool_get(&t->names, p->name));
		else
			snprintf(label, sizeof(label), "unknown process");
		text_row(b, label, p->commands, p->bytes);
	}
	buf_printf(b, "    completions %llu, failed %llu (refused before the device %llu), snapshots in flight %llu\n",
		   (unsigned long long)t->completions, (unsigned long long)t->failed, (unsigned long long)t->refused,
		   (unsigned long long)t->snapshots);
}

static void text_kinds(struct buf *b, const struct tally *t)
{
	u32 k;

	for (k = 0; k < N_ITEM_KINDS; k++) {
		if (!t->kinds[k] && !t->cut[k])
			continue;
		buf_printf(b, "  %-28s %12llu", item_kind_name(k), (unsigned long long)t->kinds[k]);
		if (t->cut[k])
			buf_printf(b, "   and %llu cut", (unsigned long long)t->cut[k]);
		buf_byte(b, '\n');
	}
}

static void text_account(struct buf *b, const struct account *a)
{
	struct numbers n = account_numbers(a);

	buf_printf(b, "  seen %llu = stored %llu + in flight %llu + filtered %llu + lost %llu; hooks missed %llu\n",
		   (unsigned long long)n.seen, (unsigned long long)n.stored, (unsigned long long)n.in_flight,
		   (unsigned long long)n.filtered, (unsigned long long)(n.ring_full + n.map_full + n.unread),
		   (unsigned long long)n.hook_missed);
}

static void text_health(struct buf *b, const struct account *a, const struct stream_info *i)
{
	buf_str(b, is_complete(a, i) ? "  complete" : "  INCOMPLETE");
	if (!account_whole(a))
		buf_lit(b, ", there is no account at its end");
	if (i->defect)
		buf_printf(b, ", %s", i->defect);
	if (i->malformed || i->odd)
		buf_printf(b, ", %llu malformed lines and %llu of no sound record, the first is line %llu",
			   (unsigned long long)i->malformed, (unsigned long long)i->odd,
			   (unsigned long long)i->first_bad_line);
	if (i->tail_cut)
		buf_lit(b, ", the last line is cut");
	if (i->unknown)
		buf_printf(b, ", %llu events of kinds that are not ours", (unsigned long long)i->unknown);
	buf_byte(b, '\n');
}

void tally_text(struct buf *b, const struct tally *t, const char *file, const struct account *a,
		const struct stream_info *i)
{
	char span[32];

	buf_printf(b, "%s: %s", file, format_name(i->format));
	if (t->last_ns)
		buf_printf(b, ", %s from %llu ns", human_ns(span, sizeof(span), t->last_ns - t->first_ns),
			   (unsigned long long)t->first_ns);
	buf_byte(b, '\n');
	text_kinds(b, t);
	if (t->devices.n)
		text_commands(b, t);
	if (a->device || a->closed)
		text_account(b, a);
	text_health(b, a, i);
}
