// SPDX-License-Identifier: Apache-2.0
#include "capture/monitor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>

#include "capture/calls.h"
#include "lib/hash.h"
#include "lib/human.h"
#include "lib/jsonutil.h"

struct sum {
	u64 n, bytes;
};

struct process {
	u32 pid;
	bool named_by_main; /* its name is that of its first thread */
	char comm[16];
	u64 n, bytes;
	struct sum call[N_CALLS];
};

struct monitor {
	struct monitor_options o;
	u64 n, n_raw, left_out, moved_bytes;
	u64 first_ns, last_ns; /* begin of the first call, end of the last */
	struct sum call[N_CALLS];
	struct map64 at; /* pid -> index */
	struct process *process;
	u32 n_processes;
	u16 by_bytes[N_CALLS], n_calls; /* calls that were made, most bytes first */
};

struct monitor *monitor_new(const struct monitor_options *o)
{
	struct monitor *m = calloc(1, sizeof(*m));

	if (m)
		m->o = *o;
	return m;
}

void monitor_free(struct monitor *m)
{
	if (!m)
		return;
	map64_free(&m->at);
	free(m->process);
	free(m);
}

u64 monitor_left_out(const struct monitor *m)
{
	return m->left_out;
}

/* ---- the sums ---- */

static struct process *process_of(struct monitor *m, u32 pid)
{
	bool is_new;
	u32 *at = map64_put(&m->at, pid, &is_new);

	if (!at)
		return NULL;
	if (!is_new)
		return &m->process[*at];
	if (!(m->n_processes & (m->n_processes - 1))) {
		u32 room = m->n_processes ? m->n_processes * 2 : 1;
		struct process *p = realloc(m->process, room * sizeof(*p));

		if (!p)
			return NULL;
		m->process = p;
	}
	*at = m->n_processes++;
	memset(&m->process[*at], 0, sizeof(m->process[*at]));
	m->process[*at].pid = pid;
	return &m->process[*at];
}

/* The name that it has last: a program that becomes another one is the other. */
static void name_process(struct process *p, const struct known_task *t, u32 tid)
{
	bool main = tid == p->pid;

	if (!t || (p->named_by_main && !main))
		return;
	p->named_by_main = main;
	memcpy(p->comm, t->ev.comm, sizeof(p->comm));
}

/* What it moved: nothing, when it returns something else or failed. */
static u64 moved(const struct ev_syscall *c)
{
	return call_class(c->call) == CALL_IS_OTHER || c->ret < 0 ? 0 : (u64)c->ret;
}

static int add(struct monitor *m, const struct ev_syscall *c, const struct known_task *t)
{
	struct process *p = process_of(m, t ? t->ev.pid : c->tid);
	u16 call = c->call < N_CALLS ? c->call : (u16)CALL_NONE;
	u64 bytes = moved(c);

	if (!p)
		return -ENOMEM;
	name_process(p, t, c->tid);
	p->n++;
	p->bytes += bytes;
	p->call[call].n++;
	p->call[call].bytes += bytes;
	m->call[call].n++;
	m->call[call].bytes += bytes;
	m->moved_bytes += bytes;
	if (!m->n++ || c->ts_ns < m->first_ns)
		m->first_ns = c->ts_ns;
	m->last_ns = MAX(m->last_ns, c->ts_ns + c->lat_ns);
	return 0;
}

static int more_bytes(const void *a, const void *b, void *arg)
{
	const struct monitor *m = arg;
	const struct sum *x = &m->call[*(const u16 *)a], *y = &m->call[*(const u16 *)b];

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return x->n != y->n ? x->n < y->n ? 1 : -1 : (int)*(const u16 *)a - *(const u16 *)b;
}

static int more_calls(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	if (x->n != y->n)
		return x->n < y->n ? 1 : -1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static void sort(struct monitor *m)
{
	u32 i;

	m->n_calls = 0;
	for (i = 0; i < N_CALLS; i++)
		if (m->call[i].n)
			m->by_bytes[m->n_calls++] = (u16)i;
	qsort_r(m->by_bytes, m->n_calls, sizeof(*m->by_bytes), more_bytes, m);
	if (m->n_processes)
		qsort(m->process, m->n_processes, sizeof(*m->process), more_calls);
}

/* ---- one call ---- */

/* Every flag that is set; one that holds another comes first. */
static void put_flags(struct buf *b, u32 flags)
{
	static const struct {
		u32 bits;
		const char *name;
	} known[] = {
		{ O_CREAT, "O_CREAT" },	      { O_EXCL, "O_EXCL" },	  { O_NOCTTY, "O_NOCTTY" },
		{ O_TRUNC, "O_TRUNC" },	      { O_APPEND, "O_APPEND" },	  { O_NONBLOCK, "O_NONBLOCK" },
		{ O_SYNC, "O_SYNC" },	      { O_DSYNC, "O_DSYNC" },	  { O_DIRECT, "O_DIRECT" },
		{ O_ASYNC, "O_ASYNC" },	      { O_TMPFILE, "O_TMPFILE" }, { O_DIRECTORY, "O_DIRECTORY" },
		{ O_NOFOLLOW, "O_NOFOLLOW" }, { O_CLOEXEC, "O_CLOEXEC" }, { O_NOATIME, "O_NOATIME" },
		{ O_PATH, "O_PATH" },	      { 0100000, "O_LARGEFILE" },
	};
	static const char *const access[] = { "O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE" };
	u32 left = flags & ~(u32)O_ACCMODE;
	size_t i;

	buf_printf(b, "\"%s", access[flags & O_ACCMODE]);
	for (i = 0; i < ARRAY_SIZE(known); i++) {
		if ((left & known[i].bits) != known[i].bits)
			continue;
		buf_printf(b, "|%s", known[i].name);
		left &= ~known[i].bits;
	}
	if (left)
		buf_printf(b, "|0x%x", left);
	buf_byte(b, '"');
}

static bool is_vector(u16 call)
{
	return call >= CALL_READV && call <= CALL_PWRITEV2;
}

static const char *direction(u16 call)
{
	switch (call_class(call)) {
	case CALL_IS_READ:
		return is_vector(call) ? "VREAD" : "READ";
	case CALL_IS_WRITE:
		return is_vector(call) ? "VWRITE" : "WRITE";
	case CALL_IS_COPY:
		return "COPY";
	default:
		return "NONE";
	}
}

static bool opens(u16 call)
{
	return call >= CALL_OPEN && call <= CALL_OPENAT2;
}

static void put_call(struct buf *b, const struct ev_syscall *c, const struct known_task *t, const struct known_file *f)
{
	buf_printf(b, "{\"timestamp_ns\":%llu,\"timestamp_ms\":%llu.%03llu,\"pid\":%u,\"tid\":%u,\"process_name\":",
		   ULL(c->ts_ns), ULL(c->ts_ns / 1000000), ULL(c->ts_ns / 1000 % 1000), t ? t->ev.pid : c->tid, c->tid);
	buf_json(b, t ? t->ev.comm : "", t ? strnlen(t->ev.comm, sizeof(t->ev.comm)) : 0);
	buf_printf(b,
		   ",\"syscall_nr\":%d,\"syscall_name\":\"%s\",\"fd\":%d,\"size\":%llu,\"offset\":%llu,\"filename\":",
		   call_number(c->call), call_name(c->call), c->fd, ULL(c->size), ULL(c->offset));
	buf_json(b, f ? f->path.p : "", f ? f->path.n : 0);
	buf_printf(b, ",\"open_flags_hex\":%u,\"open_flags_str\":", opens(c->call) ? c->arg : 0);
	if (opens(c->call))
		put_flags(b, c->call == CALL_CREAT ? O_CREAT | O_WRONLY | O_TRUNC : c->arg);
	else
		buf_lit(b, "\"\"");
	buf_printf(b, ",\"io_direction\":\"%s\",\"ret\":%lld,\"error_code\":%lld,\"latency_ns\":%llu}",
		   direction(c->call), (long long)c->ret, c->ret < 0 && c->ret >= -4095 ? -(long long)c->ret : 0LL,
		   ULL(c->lat_ns));
}

/* ---- the document ---- */

static void document_head(void *arg, struct buf *b)
{
	(void)arg;
	buf_lit(b, "{\n\"raw_events\": [");
}

static int document_event(void *arg, struct buf *b, const void *record, struct names *names)
{
	const struct ev_syscall *c = record;
	const struct known_task *t;
	struct monitor *m = arg;
	int ret;

	if (c->kind != EV_SYSCALL)
		return 0;
	t = names_task_at(names, c->tid, c->ts_ns);
	ret = add(m, c, t);
	if (ret || !m->o.detailed)
		return ret;
	if (m->n_raw == m->o.max_events) {
		m->left_out++;
		return 0;
	}
	buf_str(b, m->n_raw++ ? ",\n" : "\n");
	put_call(b, c, t, c->flags & SYSCALL_FILE ? names_file_at(names, c->dev, c->ino, c->ts_ns) : NULL);
	return b->failed ? -ENOMEM : 0;
}

static void put_seconds(struct buf *b, u64 ns)
{
	buf_printf(b, "%llu.%09llu", ULL(ns / NSEC_PER_SEC), ULL(ns % NSEC_PER_SEC));
}

static void put_metadata(const struct monitor *m, struct buf *b, const json_t *footer)
{
	static const char *const account[] = { "seen",	   "stored",	  "filtered", "ring_full",
					       "map_full", "hook_missed", "unread" };
	time_t now = time(NULL);
	u32 i, distinct = 0;
	char when[64] = "";
	struct tm tm;

	for (i = 0; i < N_CALLS; i++)
		distinct += m->call[i].n > 0;
	if (localtime_r(&now, &tm))
		strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S%z", &tm);
	buf_printf(b, "\"metadata\": {\"timestamp\":\"%s\",\"total_events\":%llu,\"monitoring_duration\":", when,
		   ULL(m->n));
	put_seconds(b, m->n ? m->last_ns - m->first_ns : 0);
	buf_printf(b, ",\"unique_syscalls\":%u,\"unique_processes\":%u", distinct, m->n_processes);
	if (m->o.label) {
		buf_lit(b, ",\"workload_label\":");
		buf_json(b, m->o.label, strlen(m->o.label));
	}
	buf_printf(b, ",\"detailed_logging\":%s,\"raw_events_left_out\":%llu", m->o.detailed ? "true" : "false",
		   ULL(m->left_out));
	for (i = 0; i < ARRAY_SIZE(account); i++)
		buf_printf(b, ",\"%s\":%lld", account[i],
			   (long long)json_integer_value(json_object_get(footer, account[i])));
	buf_lit(b, "}");
}

static void put_summary(const struct monitor *m, struct buf *b)
{
	const struct process *p = m->process;

	buf_printf(b, "\"summary\": {\"total_io_bytes\":%llu,\"most_active_process\":", ULL(m->moved_bytes));
	buf_json(b, p ? p->comm : "", p ? strnlen(p->comm, sizeof(p->comm)) : 0);
	buf_printf(b, ",\"most_active_process_pid\":%u}", p ? p->pid : 0);
}

static void put_sums(const struct monitor *m, struct buf *b)
{
	u32 i;

	buf_lit(b, "\"aggregated_stats\": {\"all_syscalls\": [");
	for (i = 0; i < m->n_calls; i++) {
		u16 call = m->by_bytes[i];
		const struct sum *s = &m->call[call];

		buf_printf(
			b,
			"%s\n{\"syscall_nr\":%d,\"syscall_name\":\"%s\",\"total_size\":%llu,\"count\":%llu,\"avg_size\":%llu}",
			i ? "," : "", call_number(call), call_name(call), ULL(s->bytes), ULL(s->n),
			ULL(s->bytes / s->n));
	}
	buf_lit(b, "]}");
}

static void put_processes(const struct monitor *m, struct buf *b)
{
	u32 i, k, n;

	buf_lit(b, "\"process_analysis\": [");
	for (i = 0; i < m->n_processes; i++) {
		const struct process *p = &m->process[i];

		buf_printf(b, "%s\n{\"pid\":%u,\"process_name\":", i ? "," : "", p->pid);
		buf_json(b, p->comm, strnlen(p->comm, sizeof(p->comm)));
		buf_printf(b, ",\"total_events\":%llu,\"total_size\":%llu,\"syscalls\":[", ULL(p->n), ULL(p->bytes));
		for (k = n = 0; k < N_CALLS; k++)
			if (p->call[k].n)
				buf_printf(b, "%s{\"syscall_name\":\"%s\",\"count\":%llu,\"total_size\":%llu}",
					   n++ ? "," : "", call_name((u16)k), ULL(p->call[k].n), ULL(p->call[k].bytes));
		buf_lit(b, "]}");
	}
	buf_lit(b, "]");
}

static void document_end(void *arg, struct buf *b, const json_t *footer)
{
	struct monitor *m = arg;

	sort(m);
	buf_lit(b, "\n],\n");
	put_metadata(m, b, footer);
	buf_lit(b, ",\n");
	put_summary(m, b);
	buf_lit(b, ",\n");
	put_sums(m, b);
	buf_lit(b, ",\n");
	put_processes(m, b);
	buf_lit(b, "\n}\n");
}

struct cap_document monitor_document(struct monitor *m)
{
	return (struct cap_document){ .head = document_head, .event = document_event, .end = document_end, .arg = m };
}

/* Without what would steer a terminal. */
static void plain_name(char out[17], const char comm[16])
{
	u32 i;

	for (i = 0; i < 16 && comm[i]; i++)
		out[i] = (char)(comm[i] < ' ' || comm[i] > '~' ? '?' : comm[i]);
	out[i] = '\0';
}

void monitor_text(const struct monitor *m, struct buf *b)
{
	char size[32], name[sizeof(m->process->comm) + 1];
	u32 i;

	buf_printf(b, "%-16s %12s %12s\n", "system call", "calls", "bytes");
	for (i = 0; i < m->n_calls; i++)
		buf_printf(b, "%-16s %12llu %12s\n", call_name(m->by_bytes[i]), ULL(m->call[m->by_bytes[i]].n),
			   human_bytes(size, sizeof(size), m->call[m->by_bytes[i]].bytes));
	buf_printf(b, "\n%-7s %-16s %12s %12s\n", "pid", "process", "calls", "bytes");
	for (i = 0; i < MIN(m->n_processes, 15u); i++) {
		const struct process *p = &m->process[i];

		plain_name(name, p->comm);
		buf_printf(b, "%-7u %-16s %12llu %12s\n", p->pid, name, ULL(p->n),
			   human_bytes(size, sizeof(size), p->bytes));
	}
	if (i < m->n_processes)
		buf_printf(b, "and %u more processes\n", m->n_processes - i);
}
