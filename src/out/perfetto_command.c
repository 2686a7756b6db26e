// SPDX-License-Identifier: Apache-2.0
/* What is said of one command: its name, arguments and arrows. */
#include <stdio.h>
#include <string.h>

#include "out/perfetto_detail.h"
#include "out/perfetto_programs.h"

static const char *outcome(u32 flags)
{
	return flags & NVME_REFUSED ? " REFUSED" : flags & CMD_FAILED ? " FAILED" : "";
}

void pf_command_name(struct buf *out, const struct pf_draw *a, u32 row)
{
	const struct strpool *s = &a->m->strings;
	u32 id = a->m->cmd.name[row];

	if (id)
		buf_add(out, strpool_get(s, id), strpool_len(s, id));
	else
		buf_lit(out, "cmd");
}

/* "read", "read FAILED", "read x12 FAILED" */
static u32 make_name(struct pf_writer *w, const struct pf_draw *a, u32 row, u32 n)
{
	struct buf name = {};
	u32 iid;

	pf_command_name(&name, a, row);
	if (n > 1)
		buf_printf(&name, " x%u", n);
	buf_str(&name, outcome(a->m->cmd.flags[row]));
	w->b.failed |= name.failed;
	iid = pf_event_name(w, name.p, name.n);
	buf_free(&name);
	return iid;
}

/* Few names are used for single commands, so a small direct-mapped cache spares the hash of the text. */
static u32 name_iid(struct pf_writer *w, struct pf_draw *a, u32 row)
{
	u32 flags = a->m->cmd.flags[row] & (NVME_REFUSED | CMD_FAILED);
	u64 key = ((u64)a->m->cmd.name[row] << 32 | flags) + 1;
	size_t at = (a->m->cmd.name[row] * 4 + !!flags + !!(flags & CMD_FAILED)) % ARRAY_SIZE(a->name_cache);

	if (a->name_cache[at].key != key) {
		a->name_cache[at].key = key;
		a->name_cache[at].iid = make_name(w, a, row, 1);
	}
	return a->name_cache[at].iid;
}

/* What the command carried: block address, or key and value length. */
static void address_args(struct pf_writer *w, const struct model *m, u32 row)
{
	const struct cmd_table *t = &m->cmd;

	if (t->flags[row] & CMD_HAS_SLBA)
		pf_arg_u64(w, ARG_slba, t->slba[row]);
	pf_arg_u64(w, ARG_data_len, t->bytes[row]);
	if (t->flags[row] & CMD_HAS_KEY) {
		if (w->o->redact)
			pf_arg_secret_key(w, ARG_key_hex, m, t->key[row], 0);
		else
			pf_arg_string(w, ARG_key_hex, strpool_get(&m->strings, t->key[row]),
				      strpool_len(&m->strings, t->key[row]));
		pf_arg_u64(w, ARG_key_len, t->slba[row] >> 32);
		pf_arg_u64(w, ARG_value_len, (u32)t->slba[row]);
	}
}

/* What went wrong or is unusual; nothing for a plain command. */
static void trouble_args(struct pf_writer *w, const struct model *m, u32 row)
{
	const struct cmd_table *t = &m->cmd;
	u32 flags = t->flags[row];
	const char *err;
	char text[32];

	if (t->attempts[row] > 1)
		pf_arg_u64(w, ARG_attempts, t->attempts[row]);
	if (t->wait_ns[row])
		pf_arg_u64(w, ARG_wait_ns, t->wait_ns[row]);
	if (flags & NVME_IN_FLIGHT)
		pf_arg_bool(w, ARG_in_flight, true);
	if (flags & NVME_REFUSED) {
		pf_arg_u64(w, ARG_errno, t->status[row]);
		err = strerrorname_np(t->status[row]);
		if (err)
			pf_arg_interned(w, ARG_err, err, strlen(err));
	} else if (flags & CMD_FAILED) {
		pf_arg_u64(w, ARG_status, t->status[row]);
		/* The older passthrough monitor knows the block layer's error only, not NVMe's. */
		snprintf(text, sizeof(text), flags & CMD_BLK_STATUS ? "blk_status %u" : "nvme 0x%x", t->status[row]);
		pf_arg_interned(w, ARG_err, text, strlen(text));
	}
}

/* The object's arrow: from its begin to its first command, and on to its last. */
static void arrow(struct pf_writer *w, const struct pf_draw *a, u32 op, u32 first_row, u32 last_row)
{
	u32 at = op == NONE ? NONE : a->object_of[op];
	const struct pf_object *o;

	if (at == NONE)
		return;
	o = &a->object[at];
	if (last_row == o->last_cmd)
		pb_fixed64(&w->b, EVENT_TERMINATING_FLOW_ID, pf_flow_id(a, at));
	else if (first_row == o->first_cmd)
		pb_fixed64(&w->b, EVENT_FLOW_ID, pf_flow_id(a, at));
}

/* A command over several objects has an arrow from each. */
static void arrows(struct pf_writer *w, const struct pf_draw *a, u32 row)
{
	u32 first, n, i;

	if (!(a->m->cmd.flags[row] & CMD_SPLIT)) {
		arrow(w, a, a->m->cmd.op[row], row, row);
		return;
	}
	n = cmd_parts(a->m, row, &first);
	for (i = first; i < first + n; i++)
		arrow(w, a, a->m->part.op[i], row, row);
}

/* Only of exactly read and write: an address of a key-value command is none. */
struct pf_counter *pf_command_counter(struct pf_unit *u, u32 row)
{
	const struct pf_draw *a = u->arm;
	u32 name = a->m->cmd.name[row];

	if ((name != a->read_name && name != a->write_name) || !name || !pf_counted(a, row))
		return NULL;
	return &u->slba[name == a->read_name ? DIR_READ : DIR_WRITE];
}

/* Whether the counter takes this sample: each one, or the first of a bin. */
static bool takes_sample(struct pf_unit *u, const struct pf_counter *c, u64 now)
{
	u64 *last = &u->sample_bin[c - u->slba], bin = bin_of(now, u->sample_shift) + 1;

	if (!u->arm->lean)
		return true;
	if (*last == bin)
		return false;
	*last = bin;
	return true;
}

/* The counter's sample is a value on the slice, not a packet of its own. */
static void lba_sample(struct pf_writer *w, struct pf_unit *u, const struct pf_counter *c)
{
	if (!c || !c->track || !takes_sample(u, c, w->last_ns))
		return;
	if (c->track != w->default_counter)
		pb_u64(&w->b, EVENT_EXTRA_COUNTER_TRACK, c->track);
	pb_s64(&w->b, EVENT_EXTRA_COUNTER_VALUE, c->value.n);
}

/* Over how many objects it goes, and how much of it is in none. */
static void split_args(struct pf_writer *w, const struct model *m, u32 row)
{
	u32 first, n = cmd_parts(m, row, &first), outside = m->cmd.bytes[row], i;

	for (i = first; i < first + n; i++)
		outside -= m->part.bytes[i];
	pf_arg_u64(w, ARG_parts, n);
	if (outside)
		pf_arg_u64(w, ARG_outside_bytes, outside);
}

void pf_command_about(struct pf_writer *w, struct pf_unit *u, u32 row)
{
	const struct model *m = u->arm->m;
	u64 tag = cmd_join_id(m, row);

	address_args(w, m, row);
	if (tag)
		pf_arg_u64(w, ARG_trace_id, tag);
	trouble_args(w, m, row);
	/* Which of several paths to the namespace. */
	if (u->n_devices > 1)
		pf_arg_id(w, ARG_path, &m->strings, m->device[m->cmd.dev[row]].name);
}

/* Two words for nearly all commands: their ids are kept, and not looked up. */
static void role_arg(struct pf_writer *w, bool header)
{
	u32 *iid = header ? &w->header_iid : &w->payload_iid;

	if (!*iid)
		*iid = header ? pf_string_value(w, "header", 6) : pf_string_value(w, "payload", 7);
	pf_arg_number(w, ARG_role, ANNOTATION_STRING_IID, *iid);
}

void pf_command_describe(struct pf_writer *w, struct pf_unit *u, u32 row, bool real_duration)
{
	const struct pf_counter *lba = pf_command_counter(u, row);
	struct pf_draw *a = u->arm;
	const struct model *m = a->m;
	const struct cmd_table *t = &m->cmd;
	u64 tag = cmd_join_id(m, row);
	u32 op = t->op[row];

	pb_u64(&w->b, EVENT_NAME_IID, name_iid(w, a, row));
	address_args(w, m, row);
	if (tag)
		pf_arg_u64(w, ARG_trace_id, tag);
	if (op != NONE && m->op.name[op] == a->store_name)
		role_arg(w, t->flags[row] & CMD_HEADER);
	if (!real_duration || !a->lean)
		pf_arg_bool(w, ARG_real_dur, real_duration);
	trouble_args(w, m, row);
	if (u->n_devices > 1)
		pf_arg_id(w, ARG_path, &m->strings, m->device[t->dev[row]].name);
	if (t->flags[row] & CMD_SPLIT)
		split_args(w, m, row);
	arrows(w, a, row);
	if (a->programs)
		pf_cause_arrow(w, a, row);
	lba_sample(w, u, lba);
}

void pf_group_describe(struct pf_writer *w, struct pf_unit *u, u32 group)
{
	const struct pf_group *g = &u->group[group];
	const struct median *lat = &u->lat[group];
	const struct pf_counter *lba = pf_command_counter(u, g->row);
	struct pf_draw *a = u->arm;
	u32 op = a->stats->commands_by_object ? a->m->cmd.op[g->row] : NONE;

	pb_u64(&w->b, EVENT_NAME_IID, make_name(w, a, g->row, g->n));
	lba_sample(w, u, lba);
	pf_arg_u64(w, ARG_n, g->n);
	pf_arg_u64(w, ARG_bytes, g->bytes);
	if (op != NONE && a->object[a->object_of[op]].n == 1)
		pf_arg_u64(w, ARG_trace_id, a->m->op.join_id[op]);
	if (g->n_headers)
		pf_arg_u64(w, ARG_headers, g->n_headers);
	if (lat->n) {
		pf_arg_u64(w, ARG_lat_p50_ns, lat->p50);
		pf_arg_u64(w, ARG_lat_max_ns, lat->max);
	}
	arrow(w, a, op, g->row, g->last_row);
}
