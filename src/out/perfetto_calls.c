// SPDX-License-Identifier: Apache-2.0
/* What is said of one system call, io_uring request or page fault: its name, arguments and arrows. */
#include <stdio.h>
#include <string.h>

#include "capture/calls.h"
#include "capture/uring_names.h"
#include "model/cause.h"
#include "out/perfetto_detail.h"
#include "out/perfetto_programs.h"

/* ---- who ---- */

/* A name as a word of valid UTF-8. */
void pf_word(struct pf_writer *w, struct buf *out, const struct pf_draw *a, enum pf_secret kind, u32 string)
{
	const char *s = strpool_get(&a->m->strings, string);
	size_t n = strpool_len(&a->m->strings, string), i, len;
	char hidden[16];

	if (!n) {
		buf_lit(out, "?");
		return;
	}
	if (w->o->redact) {
		pf_hidden(w, kind, s, n, hidden);
		buf_str(out, hidden);
		return;
	}
	for (i = 0; i < n; i += len) {
		len = utf8_len(s + i, n - i);
		if (!len || (u8)s[i] <= ' ')
			buf_byte(out, '_');
		else
			buf_add(out, s + i, len);
		len = len ? len : 1;
	}
}

void pf_program_name(struct pf_writer *w, struct buf *out, const struct pf_draw *a, const struct pf_program *p)
{
	if (p->pid == UINT32_MAX) {
		buf_lit(out, "others");
		return;
	}
	pf_word(w, out, a, SECRET_COMM, p->comm);
	if (p->ns_pid)
		buf_printf(out, "[%u,ns=%u]", p->pid, p->ns_pid);
	else if (p->pid)
		buf_printf(out, "[%u]", p->pid);
}

void pf_thread_name(struct pf_writer *w, struct buf *out, const struct pf_draw *a, const struct pf_thread *t)
{
	u32 task = a->m->call.row[t->last_row].task;

	pf_word(w, out, a, SECRET_COMM, task == NONE ? 0 : a->m->task[task].comm);
	buf_printf(out, " %u", t->tid);
}

/* ---- arrows ---- */

/* Apart from those of objects and of each other. */
static u64 arrow_id(const struct pf_draw *a, u64 kind, u32 to)
{
	return kind << 62 | (u64)(a->index + 1) << 40 | (to + 1ull);
}
enum { ARROW_TO_COMMAND = 1, ARROW_TO_REQUEST };

void pf_cause_arrow(struct pf_writer *w, const struct pf_draw *a, u32 cmd)
{
	if (a->programs->from && a->programs->from[cmd])
		pb_fixed64(&w->b, EVENT_TERMINATING_FLOW_ID, arrow_id(a, ARROW_TO_COMMAND, cmd));
}

static void arrows_from(struct pf_writer *w, const struct pf_draw *a, const struct pf_follow *f, u32 row, u64 kind)
{
	u32 k;

	for (k = f->start[row]; k < f->start[row + 1] && k < f->start[row] + PF_MOST_ARROWS; k++)
		pb_fixed64(&w->b, EVENT_FLOW_ID, arrow_id(a, kind, f->item[k]));
}

static u32 follow_n(const struct pf_follow *f, u32 row)
{
	return f->start ? f->start[row + 1] - f->start[row] : 0;
}

/* How many commands it caused, and arrows to them. */
static void caused(struct pf_writer *w, const struct pf_draw *a, const struct pf_follow *f, u32 row)
{
	if (!follow_n(f, row))
		return;
	pf_arg_u64(w, ARG_n_cmds, follow_n(f, row));
	arrows_from(w, a, f, row, ARROW_TO_COMMAND);
}

/* ---- slices ---- */

static void put_name(struct pf_writer *w, const char *name, u32 n, const char *outcome)
{
	char text[64];
	int len = n > 1 ? snprintf(text, sizeof(text), "%s x%u%s", name, n, outcome)
			: snprintf(text, sizeof(text), "%s%s", name, outcome);

	pb_u64(&w->b, EVENT_NAME_IID, pf_event_name(w, text, (size_t)len));
}

static void group_args(struct pf_writer *w, const struct pf_spans *x, const struct pf_span *s)
{
	const struct median *d = &x->durations[s - x->span];

	pf_arg_u64(w, ARG_n, s->n);
	pf_arg_u64(w, ARG_bytes, s->amount);
	pf_arg_u64(w, ARG_dur_p50_ns, d->p50);
	pf_arg_u64(w, ARG_dur_max_ns, d->max);
}

static void path_arg(struct pf_writer *w, const struct pf_draw *a, u32 path)
{
	pf_arg_secret_id(w, ARG_path, SECRET_PATH, &a->m->strings, path);
}

/* The number and the name of a negated errno. */
static void error_args(struct pf_writer *w, s64 ret)
{
	const char *name = call_error(ret);

	pf_arg_u64(w, ARG_errno, -(u64)ret);
	if (name)
		pf_arg_interned(w, ARG_err, name, strlen(name));
}

static void address_arg(struct pf_writer *w, enum pf_arg arg, u64 address)
{
	char text[24];

	pf_arg_string(w, arg, text, (size_t)snprintf(text, sizeof(text), "0x%llx", (unsigned long long)address));
}

static void call_args(struct pf_writer *w, const struct pf_draw *a, const struct call_row *c)
{
	const struct ev_syscall *e = &c->ev;
	bool moves = call_class(e->call) != CALL_IS_OTHER;

	if (e->fd != -1)
		pf_arg_s64(w, ARG_fd, e->fd);
	path_arg(w, a, c->path);
	if ((e->flags & SYSCALL_OFFSET) && call_has_address(e->call))
		address_arg(w, ARG_address, e->offset);
	else if (e->flags & SYSCALL_OFFSET)
		pf_arg_u64(w, ARG_offset, e->offset);
	if (moves || e->size)
		pf_arg_u64(w, ARG_size, e->size);
	if (e->flags & SYSCALL_PARTIAL)
		pf_arg_bool(w, ARG_size_partial, true);
	if (call_has_target(e->call))
		pf_arg_s64(w, ARG_fd2, e->fd2);
	if (e->arg)
		pf_arg_u64(w, ARG_arg, e->arg);
	if (e->ret < 0 && e->ret > -4096)
		error_args(w, e->ret);
	else if (e->call == CALL_MMAP)
		address_arg(w, ARG_ret, (u64)e->ret);
	else
		pf_arg_s64(w, ARG_ret, e->ret);
}

void pf_call_describe(struct pf_writer *w, struct pf_spans *x, const struct pf_span *s)
{
	const struct pf_draw *a = x->source.arm;
	const struct call_row *c = &a->m->call.row[s->item];
	const struct pf_programs *all = a->programs;

	put_name(w, call_name(c->ev.call), s->n,
		 c->ev.ret < 0 && c->ev.ret > -4096		 ? " FAILED"
		 : s->n == 1 && (c->ev.flags & SYSCALL_NO_ENTER) ? " (end only)"
								 : "");
	if (s->n > 1) {
		group_args(w, x, s);
		return;
	}
	call_args(w, a, c);
	caused(w, a, &all->call_cmds, s->item);
	if (follow_n(&all->call_requests, s->item))
		arrows_from(w, a, &all->call_requests, s->item, ARROW_TO_REQUEST);
}

static bool request_failed(const struct ev_uring *e)
{
	return !(e->flags & URING_UNFINISHED) && uring_failed(e);
}

static void result_args(struct pf_writer *w, const struct ev_uring *e)
{
	if (e->flags & URING_UNFINISHED)
		pf_arg_bool(w, ARG_in_flight, true);
	else if (e->res < 0)
		error_args(w, e->res);
	else if (uring_is_passthrough(e->opcode) && e->res)
		pf_arg_u64(w, ARG_status, (u64)e->res);
	else
		pf_arg_s64(w, ARG_res, e->res);
}

static void request_args(struct pf_writer *w, const struct pf_draw *a, const struct uring_row *r)
{
	const struct ev_uring *e = &r->ev;

	pf_arg_u64(w, ARG_user_data, e->user_data);
	if (e->fd != -1)
		pf_arg_s64(w, ARG_fd, e->fd);
	path_arg(w, a, r->path);
	if (e->flags & URING_OFFSET)
		pf_arg_u64(w, ARG_offset, e->offset);
	if (uring_is_passthrough(e->opcode))
		pf_arg_u64(w, ARG_slba, e->offset);
	if (e->size || uring_op_class(e->opcode) != CALL_IS_OTHER)
		pf_arg_u64(w, ARG_size, e->size);
	if (e->flags & URING_PARTIAL)
		pf_arg_bool(w, ARG_size_partial, true);
	pf_arg_u64(w, ARG_ring, e->ring);
	if (e->sqe_flags)
		pf_arg_u64(w, ARG_sqe_flags, e->sqe_flags);
	if (e->flags & URING_SQPOLL)
		pf_arg_bool(w, ARG_sqpoll, true);
	if (e->flags & URING_PUNTED)
		pf_arg_bool(w, ARG_punted, true);
	result_args(w, e);
}

void pf_request_describe(struct pf_writer *w, struct pf_spans *x, const struct pf_span *s)
{
	const struct pf_draw *a = x->source.arm;
	const struct uring_row *r = &a->m->uring.row[s->item];
	const struct pf_programs *all = a->programs;

	put_name(w, uring_op_name(r->ev.opcode), s->n,
		 request_failed(&r->ev)		  ? " FAILED"
		 : r->ev.flags & URING_UNFINISHED ? " UNFINISHED"
						  : "");
	if (s->n > 1) {
		group_args(w, x, s);
		return;
	}
	request_args(w, a, r);
	caused(w, a, &all->request_cmds, s->item);
	if (all->entered && all->entered[s->item])
		pb_fixed64(&w->b, EVENT_TERMINATING_FLOW_ID, arrow_id(a, ARROW_TO_REQUEST, s->item));
}

static const char *fault_name(const struct ev_fault *e)
{
	return e->flags & FAULT_MAJOR ? e->retries ? "major retried" : "major" : e->retries ? "minor retried" : "minor";
}

void pf_fault_describe(struct pf_writer *w, struct pf_spans *x, const struct pf_span *s)
{
	const struct pf_draw *a = x->source.arm;
	const struct fault_row *r = &a->m->fault.row[s->item];
	const struct ev_fault *e = &r->ev;

	put_name(w, fault_name(e), s->n,
		 e->flags & FAULT_FAILED       ? " FAILED"
		 : e->flags & FAULT_UNFINISHED ? " UNFINISHED"
					       : "");
	if (s->n > 1) {
		group_args(w, x, s);
		return;
	}
	path_arg(w, a, r->path);
	pf_arg_u64(w, ARG_offset, e->offset);
	address_arg(w, ARG_address, e->address);
	pf_arg_u64(w, ARG_tid, e->tid);
	pf_arg_u64(w, ARG_came_in_pages, e->filled);
	if (e->retries)
		pf_arg_u64(w, ARG_retries, e->retries);
	if (e->flags & FAULT_NO_TIME)
		pf_arg_bool(w, ARG_real_dur, false);
	if (e->flags & FAULT_WRITE)
		pf_arg_bool(w, ARG_write, true);
	if (e->flags & FAULT_EXEC)
		pf_arg_bool(w, ARG_exec, true);
	if (e->flags & FAULT_KERNEL)
		pf_arg_bool(w, ARG_kernel, true);
	caused(w, a, &a->programs->fault_cmds, s->item);
}

u64 pf_call_class(const struct pf_draw *a, const struct pf_span *s)
{
	const struct ev_syscall *e = &a->m->call.row[s->item].ev;

	return (u64)e->call << 1 | (e->ret < 0 && e->ret > -4096);
}

u64 pf_request_class(const struct pf_draw *a, const struct pf_span *s)
{
	const struct ev_uring *e = &a->m->uring.row[s->item].ev;

	return (u64)e->opcode << 2 | request_failed(e) << 1 | !!(e->flags & URING_UNFINISHED);
}

u64 pf_fault_class(const struct pf_draw *a, const struct pf_span *s)
{
	const struct ev_fault *e = &a->m->fault.row[s->item].ev;

	return (e->flags & (FAULT_MAJOR | FAULT_FAILED | FAULT_UNFINISHED)) << 1 | !!e->retries;
}
