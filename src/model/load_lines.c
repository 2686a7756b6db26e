// SPDX-License-Identifier: Apache-2.0
/* Lines that the fast reader does not look into: system calls, io_uring requests. */
#include <errno.h>
#include <string.h>

#include "capture/fold_record.h"
#include "capture/jsonl_faults.h"
#include "capture/members.h"
#include "lib/str.h"
#include "model/tables.h"

static bool is_type(const struct members *m, const char *type)
{
	const struct ndjson_field *f = members_find(m, "event_type");

	return f && slice_is((struct slice){ f->text, f->text_len }, type);
}

/* The bytes of a string member; absent: empty. */
static struct slice text_of(const struct members *m, const char *key, char *buf, size_t max)
{
	const struct ndjson_field *f = members_find(m, key);
	size_t n = f && f->type == ND_STRING ? members_bytes(f, buf, max) : 0;

	return (struct slice){ buf, n == SIZE_MAX ? 0 : n };
}

/* The file and the thread that a line names. */
static int names_of(struct input *in, const struct members *m, u32 tid, u64 ts_ns, u32 *path, u32 *task)
{
	char text[4096], comm[64];
	int ret = intern_word(in->m, text_of(m, "path", text, sizeof(text)), path);

	if (ret)
		return ret;
	return find_task_row(in->m, tid, (u32)members_u64(m, "pid"), text_of(m, "comm", comm, sizeof(comm)), ts_ns,
			     task);
}

static int put_range(struct input *in, const struct members *m)
{
	union event e;

	in->n.other++;
	return fold_range(m, &e) ? add_range(in->m, &e.range) : 0;
}

static int put_extent(struct input *in, const struct members *m)
{
	char text[4096];
	union event e;
	u32 path;
	int ret = intern_word(in->m, text_of(m, "path", text, sizeof(text)), &path);

	in->n.other++;
	return ret || !fold_extent(m, &e) ? ret : add_extent(in->m, &e.extent, path);
}

/* What the lines of its events do not have. */
static int put_task(struct input *in, const struct members *m)
{
	char comm[64];
	u32 task;
	int ret = find_task_row(in->m, (u32)members_u64(m, "tid"), (u32)members_u64(m, "pid"),
				text_of(m, "comm", comm, sizeof(comm)), members_u64(m, "ts"), &task);

	if (ret)
		return ret;
	in->m->task[task].ns_pid = (u32)members_u64(m, "ns_pid");
	in->m->task[task].cgroup = members_u64(m, "cgroup");
	in->n.other++;
	if (!in->m->task[task].cgroup)
		return 0;
	return find_path(in->m, EV_DEV_CGROUP, in->m->task[task].cgroup, members_u64(m, "ts"),
			 &in->m->task[task].cgroup_path);
}

/* The path of a file is in the lines about it, that of a cgroup only here. */
static int put_path(struct input *in, const struct members *m)
{
	union event e;

	in->n.other++;
	return fold_path(m, &e) && e.path.dev == EV_DEV_CGROUP ? names_learn(&in->m->loading->files, &e.path) : 0;
}

static int put_call(struct input *in, const struct members *m)
{
	u32 path, task;
	union event e;
	int ret;

	if (!fold_call(m, &e)) {
		in->n.malformed++;
		return 0;
	}
	ret = names_of(in, m, e.syscall.tid, e.syscall.ts_ns, &path, &task);
	if (!ret)
		ret = add_call(in->m, &e.syscall, path);
	if (ret)
		return ret;
	in->m->call.row[in->m->call.n - 1].task = task;
	in->n.calls++;
	in->device = true;
	return 0;
}

static int put_uring(struct input *in, const struct members *m)
{
	u32 path, task;
	union event e;
	int ret;

	if (!fold_uring(m, &e)) {
		in->n.malformed++;
		return 0;
	}
	ret = names_of(in, m, e.uring.tid, e.uring.ts_ns, &path, &task);
	if (!ret)
		ret = add_uring(in->m, &e.uring, path);
	if (ret)
		return ret;
	in->m->uring.row[in->m->uring.n - 1].task = task;
	in->n.requests++;
	in->device = true;
	return 0;
}

static int put_fault(struct input *in, const struct members *m)
{
	u32 path, task;
	union event e;
	int ret;

	if (!jsonl_fold_fault(m, EV_FAULT, &e)) {
		in->n.malformed++;
		return 0;
	}
	ret = names_of(in, m, e.fault.tid, e.fault.ts_ns, &path, &task);
	if (!ret)
		ret = add_fault(in->m, &e.fault, path);
	if (ret)
		return ret;
	in->m->fault.row[in->m->fault.n - 1].task = task;
	in->n.faults++;
	in->device = true;
	return 0;
}

static int put_sums(struct input *in, const struct members *m, u8 kind)
{
	char text[4096];
	union event e;
	u32 path;
	int ret;

	if (!jsonl_fold_fault(m, kind, &e)) {
		in->n.malformed++;
		return 0;
	}
	in->n.other++;
	in->device = true;
	if (kind == EV_BLOCK)
		return add_block(in->m, &e.block);
	ret = intern_word(in->m, text_of(m, "path", text, sizeof(text)), &path);
	return ret ? ret : add_cache(in->m, &e.cache, path);
}

int load_other_line(struct input *in, const char *line, size_t n)
{
	struct members m;

	if (!members_scan(&m, line, n)) {
		if (is_type(&m, "syscall"))
			return put_call(in, &m);
		if (is_type(&m, "uring"))
			return put_uring(in, &m);
		if (is_type(&m, "fault"))
			return put_fault(in, &m);
		if (is_type(&m, "cache"))
			return put_sums(in, &m, EV_CACHE);
		if (is_type(&m, "block"))
			return put_sums(in, &m, EV_BLOCK);
		if (is_type(&m, "dsm_range"))
			return put_range(in, &m);
		if (is_type(&m, "extent"))
			return put_extent(in, &m);
		if (is_type(&m, "task"))
			return put_task(in, &m);
		if (is_type(&m, "marker"))
			return load_marker(in, &m, (struct slice){ line, n });
		if (is_type(&m, "path"))
			return put_path(in, &m);
		if (is_type(&m, "disk")) {
			in->n.other++;
			return 0;
		}
	}
	in->n.unknown++;
	in->n.other++;
	return 0;
}
