// SPDX-License-Identifier: Apache-2.0
/* What a capture says of itself: its first and its last document. */
#include <sys/utsname.h>
#include <unistd.h>

#include "capture/record.h"
#include "lib/buf.h"
#include "lib/clock.h"
#include "lib/jsonutil.h"
#include "session/session.h"

/* What is known of a namespace, with the numbers by which events name it. */
static json_t *device_doc(const struct nvme_ns *ns)
{
	struct buf b = {};
	json_t *d;

	device_json(&b, ns, NULL);
	d = json_loadb(b.p, b.n, 0, NULL);
	buf_free(&b);
	json_object_del(d, "used_by");
	json_object_del(d, "char_node");
	json_set_str(d, "char", ns->generic);
	json_set_u64(d, "dev", ns->dev);
	json_set_u64(d, "rdev", ns->rdev);
	return d;
}

static json_t *words_json(char **argv)
{
	json_t *a = json_array();

	for (; *argv; argv++)
		json_array_append_new(a, json_str(*argv));
	return a;
}

static json_t *list_json(const char *const *item, size_t n)
{
	json_t *a = json_array();
	size_t i;

	for (i = 0; i < n; i++)
		json_array_append_new(a, json_str(item[i]));
	return a;
}

static json_t *facilities_json(const struct trace *t)
{
	json_t *a = json_array();
	const struct facility *f;
	size_t i;

	for (i = 0; (f = trace_facility(t, i)); i++) {
		json_t *e = json_object();

		json_set_str(e, "name", f->name);
		json_set_str(e, "hook", f->hook);
		json_object_set_new(e, "on", json_boolean(f->on));
		if (!f->on)
			json_set_str(e, "why", f->why);
		json_array_append_new(a, e);
	}
	return a;
}

static json_t *host_json(void)
{
	json_t *host = json_object();
	struct utsname u;

	uname(&u);
	json_set_str(host, "name", u.nodename);
	json_set_str(host, "kernel", u.release);
	json_set_str(host, "machine", u.machine);
	json_set_u64(host, "cpus", (u64)sysconf(_SC_NPROCESSORS_ONLN));
	return host;
}

static json_t *filters_json(const struct session_options *o)
{
	json_t *filters = json_object();

	json_object_set_new(filters, "pids", list_json(o->pids, o->n_pids));
	json_object_set_new(filters, "devices", list_json(o->devices, o->n_devices));
	if (o->children)
		json_object_set_new(filters, "children", json_true());
	if (o->comm)
		json_set_str(filters, "comm", o->comm);
	if (o->cgroup)
		json_set_str(filters, "cgroup", o->cgroup);
	if (o->n_ops)
		json_object_set_new(filters, "ops", list_json(o->ops, o->n_ops));
	if (o->n_paths)
		json_object_set_new(filters, "paths", list_json(o->paths, o->n_paths));
	if (o->n_map_files)
		json_object_set_new(filters, "map_files", list_json(o->map_files, o->n_map_files));
	if (o->min_bytes)
		json_set_u64(filters, "min_bytes", o->min_bytes);
	if (o->max_bytes)
		json_set_u64(filters, "max_bytes", o->max_bytes);
	return filters;
}

json_t *session_meta(const struct session *s, const char *kvio_version, char **command)
{
	struct clock_anchor a = clock_anchor_now();
	json_t *m = json_object(), *devices = json_array();
	size_t i;

	json_set_str(m, "event_type", "capture_meta");
	json_set_u64(m, "schema_version", 2);
	json_set_str(m, "emitter", "kvio");
	json_set_str(m, "kvio_version", kvio_version);
	json_set_str(m, "view", s->o.view);
	json_set_u64(m, "monotonic_ns", a.monotonic_ns);
	json_set_u64(m, "realtime_ns", a.realtime_ns);
	json_object_set_new(m, "host", host_json());
	if (command[0])
		json_object_set_new(m, "command", words_json(command));
	json_object_set_new(m, "filters", filters_json(&s->o));
	json_object_set_new(m, "hooks", facilities_json(s->trace));
	json_set_u64(m, "ring_bytes", s->o.ring_bytes);
	json_set_u64(m, "page_bytes", (u64)sysconf(_SC_PAGESIZE));
	if (s->o.useful_bytes)
		json_set_u64(m, "useful_bytes", s->o.useful_bytes);
	json_set_u64(m, "inflight_max", session_inflight_max(s));
	for (i = 0; i < s->n_ns; i++)
		json_array_append_new(devices, device_doc(&s->ns[i]));
	json_object_set_new(m, "devices", devices);
	return m;
}

static void set_account(json_t *f, const struct ev_loss *e)
{
	json_set_u64(f, "seen", e->seen);
	json_set_u64(f, "stored", e->stored);
	json_set_u64(f, "ring_full", e->ring_full);
	json_set_u64(f, "map_full", e->map_full);
	json_set_u64(f, "hook_missed", e->hook_missed);
	json_set_u64(f, "unread", e->unread);
	json_set_u64(f, "filtered", e->filtered);
}

static json_t *witnesses_json(const struct recorder_totals *t)
{
	json_t *w = json_object(), *one;
	size_t i;

	for (i = 0; i < EV_WITNESSES; i++) {
		if (!t->loss[i].kind)
			continue;
		one = json_object();
		set_account(one, &t->loss[i]);
		json_object_set_new(w, event_witness_name((u8)i), one);
	}
	return w;
}

json_t *session_footer(const struct recorder_totals *t, enum recorder_end end)
{
	static const char *const ends[] = { "signal", "duration", "program ended", "error" };
	json_t *f = json_object(), *counts = json_object();
	struct ev_loss sum = recorder_loss(t);
	u32 i;

	json_set_str(f, "event_type", "footer");
	json_object_set_new(f, "complete", json_boolean(end != END_ERROR));
	json_set_str(f, "ended_by", ends[end]);
	json_set_u64(f, "started_ns", t->started_ns);
	json_set_u64(f, "ended_ns", t->ended_ns);
	set_account(f, &sum);
	json_set_u64(f, "in_flight", t->in_flight);
	json_set_u64(f, "entry_full", t->extra.entry_full);
	json_set_u64(f, "pid_full", t->extra.pid_full);
	json_set_u64(f, "foreign", t->extra.foreign);
	json_object_set_new(f, "witnesses", witnesses_json(t));
	for (i = 1; i < EV_KINDS; i++)
		json_set_u64(counts, event_kind_name((u8)i), t->count[i]);
	json_set_u64(counts, "snapshots", t->snapshots);
	json_object_set_new(f, "counts", counts);
	return f;
}
