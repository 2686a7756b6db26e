// SPDX-License-Identifier: Apache-2.0
/* One input file of any kind into the tables, and its account into the model's. */
#include <errno.h>
#include <string.h>

#include "capture/kvt.h"
#include "model/tables.h"

u64 doc_u64(const json_t *doc, const char *key)
{
	const json_t *v = json_object_get(doc, key);

	return json_is_integer(v) && json_integer_value(v) > 0 ? (u64)json_integer_value(v) : 0;
}

static u32 doc_u32(const json_t *doc, const char *key)
{
	return (u32)MIN(doc_u64(doc, key), (u64)UINT32_MAX);
}

static struct slice doc_text(const json_t *doc, const char *key)
{
	const json_t *v = json_object_get(doc, key);

	return json_is_string(v) ? (struct slice){ json_string_value(v), json_string_length(v) } : (struct slice){};
}

/* One entry of the device table in a capture's head. */
static int load_device(struct model *m, const json_t *doc)
{
	struct device_id id = {
		.dev = doc_u32(doc, "dev"),
		.rdev = doc_u32(doc, "rdev"),
		.nsid = doc_u32(doc, "nsid"),
		.name = doc_text(doc, "name"),
	};
	const json_t *csi = json_object_get(doc, "csi");
	struct device *d;
	u32 i;
	int ret;

	if (!id.dev && !id.rdev && !id.name.n)
		return 0;
	ret = find_device(m, &id, &i);
	if (ret)
		return ret;
	d = &m->device[i];
	if (doc_u32(doc, "lba_bytes"))
		d->lba_bytes = doc_u32(doc, "lba_bytes");
	if (doc_u32(doc, "metadata_bytes"))
		d->ms = doc_u32(doc, "metadata_bytes");
	if (doc_u32(doc, "max_transfer_bytes"))
		d->max_transfer_bytes = doc_u32(doc, "max_transfer_bytes");
	if (json_is_integer(csi) && json_integer_value(csi) >= 0 && json_integer_value(csi) < 0xff)
		d->csi = (u8)json_integer_value(csi);
	return 0;
}

int load_meta(struct input *in, const json_t *doc)
{
	const json_t *devices = json_object_get(doc, "devices");
	struct device_id old = { .name = doc_text(doc, "disk") };
	size_t i;
	u32 at;
	int ret = 0;

	in->device = true;
	if (doc_u64(doc, "page_bytes"))
		in->m->page_bytes = doc_u64(doc, "page_bytes");
	in->m->useful_bytes += doc_u64(doc, "useful_bytes");
	for (i = 0; !ret && i < json_array_size(devices); i++)
		ret = load_device(in->m, json_array_get(devices, i));
	/* The driver tracepoint monitor knows one disk, and its LBA size from sysfs. */
	if (!ret && old.name.n && doc_u32(doc, "lba_bytes")) {
		ret = find_device(in->m, &old, &at);
		if (!ret)
			in->m->device[at].lba_bytes = doc_u32(doc, "lba_bytes");
	}
	return ret;
}

/* The account of the file, from what its end says of it. */
static void close_account(struct input *in)
{
	struct account *a = &in->account;

	if (in->closed && !in->footer) {
		/* The older tracers count records, of all kinds. */
		a->ring_full = in->drops;
		a->stored = in->n.commands + in->n.completions + in->overflows;
		a->seen = a->stored + a->ring_full;
	}
	a->present |= in->closed;
	a->complete = in->closed && (!in->footer || a->complete) && !in->n.tail_cut && !in->n.input_cut;
}

int put_running(struct input *in, u32 witness, u64 ts_ns, const struct account *a)
{
	struct account sum = { .present = true }, *of = &in->running[witness < EV_WITNESSES ? witness : 0];
	u32 i;

	witness = witness < EV_WITNESSES ? witness : 0;
	if (ts_ns) {
		in->ticks = true;
		if (add_loss_tick(in->m, ts_ns, witness, a))
			return -ENOMEM;
	}
	/* Of running accounts the last one counts, which has seen most, and none when there is a footer. */
	if (of->present && a->seen < of->seen)
		return 0;
	*of = *a;
	for (i = 0; i < EV_WITNESSES; i++) {
		sum.seen += in->running[i].seen;
		sum.stored += in->running[i].stored;
		sum.ring_full += in->running[i].ring_full;
		sum.map_full += in->running[i].map_full;
		sum.hook_missed += in->running[i].hook_missed;
		sum.unread += in->running[i].unread;
		sum.filtered += in->running[i].filtered;
	}
	if (!in->footer)
		in->account = sum;
	return 0;
}

static void add_account(struct model *m, const struct account *a)
{
	struct account *sum = &m->account;
	bool first = !m->loading->n_dev_files++;

	sum->present |= a->present;
	sum->complete = a->complete && (first || sum->complete);
	sum->seen += a->seen;
	sum->stored += a->stored;
	sum->ring_full += a->ring_full;
	sum->map_full += a->map_full;
	sum->hook_missed += a->hook_missed;
	sum->unread += a->unread;
	sum->filtered += a->filtered;
	sum->in_flight += a->in_flight;
	if (!sum->defect)
		sum->defect = a->defect;
}

/* What is of the file as such goes to the side that it belongs to. */
static void add_counts(struct model *m, const struct input *in)
{
	struct input_counts *to = in->semantic && !in->device ? &m->sem_in : &m->dev_in;
	const struct input_counts *n = &in->n;

	to->lines += n->lines;
	to->malformed += n->malformed;
	if (!to->first_bad_line)
		to->first_bad_line = n->first_bad_line;
	to->tail_cut |= n->tail_cut;
	to->input_cut |= n->input_cut;
	to->bom |= n->bom;
	to->crlf |= n->crlf;
	to->other += n->other;
	to->serving += n->serving;
	to->unknown += n->unknown;
	m->sem_in.semantic += n->semantic;
	m->dev_in.calls += n->calls;
	m->dev_in.faults += n->faults;
	m->dev_in.requests += n->requests;
	m->dev_in.commands += n->commands;
	m->dev_in.completions += n->completions;
	m->dev_in.anchors += n->anchors;
}

/* What else stands in a phase file is what its program had to say. */
static void ignore_talk(struct input *in)
{
	in->n.other += in->n.malformed + in->n.tail_cut;
	in->n.malformed = in->n.first_bad_line = 0;
	in->n.tail_cut = false;
}

static int finish_input(struct input *in)
{
	bool any;

	if (in->phases && !in->device && !in->semantic)
		ignore_talk(in);
	in->device |= in->n.anchors && !in->semantic;
	any = in->semantic || in->device || in->n.other;
	if (!any && (in->n.malformed || in->n.tail_cut || in->n.input_cut))
		return -EBADMSG;
	if (in->footer && in->ticks && add_loss_tick(in->m, UINT64_MAX, EV_WITNESSES, &in->account))
		return -ENOMEM;
	if (in->device) {
		close_account(in);
		add_account(in->m, &in->account);
	}
	add_counts(in->m, in);
	in->m->loading->n_inputs++;
	return 0;
}

/* How many commands a file of this size may have: records of 64 bytes, or two lines each, packed as they mostly are. */
static u64 expected_rows(const struct zin *z, bool kvt)
{
	u64 bytes = zin_size(z);

	if (kvt)
		return bytes / 12;
	return bytes / (zin_codec(z) == ZIO_PLAIN ? 320 : 20);
}

static int load_stream(struct input *in, struct zin *z)
{
	const size_t n_magic = sizeof(KVT_MAGIC) - 1;
	const u8 *head;
	const char *defect;
	ssize_t n = zin_peek(z, n_magic, &head);
	bool kvt;
	int ret;

	if (n < 0)
		return (int)n;
	kvt = (size_t)n == n_magic && !memcmp(head, KVT_MAGIC, n_magic);
	cmd_reserve(&in->m->cmd, expected_rows(z, kvt));
	if (kvt)
		ret = load_kvt(in, z);
	else
		ret = load_jsonl(in, z);
	defect = zin_defect(z);
	if (!ret && defect) {
		in->n.input_cut = true;
		ret = intern(in->m, (struct slice){ defect, strlen(defect) }, &in->account.defect);
	}
	return ret;
}

int model_load(struct model *m, const char *path)
{
	struct input in = { .m = m };
	struct zin *z;
	int ret = loading_start(m);

	if (ret)
		return ret;
	ret = zin_open(&z, path);
	if (ret)
		return ret;
	ret = load_stream(&in, z);
	zin_close(z);
	return ret ? ret : finish_input(&in);
}

int model_load_text(struct model *m, const char *text, size_t n)
{
	struct input in = { .m = m };
	int ret = loading_start(m);

	if (!ret)
		ret = load_text(&in, text, n);
	return ret ? ret : finish_input(&in);
}
