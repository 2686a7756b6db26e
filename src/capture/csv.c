// SPDX-License-Identifier: Apache-2.0
#include "capture/csv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum cell { NUMBER, TEXT, TRUTH };

/* The columns in their order: name, member of the lines, what its cells are. */
/* clang-format off */
#define COLUMNS(X) \
	X(TS, "ts_ns", "ts", NUMBER) X(LAT, "lat_ns", "lat_ns", NUMBER) X(OP_NAME, "op_name", "op_name", TEXT) \
	X(OPCODE, "nvme_opcode", "nvme_opcode", NUMBER) X(NSID, "nsid", "nsid", NUMBER) \
	X(SLBA, "slba", "slba", NUMBER) X(NLB, "nlb", "nlb", NUMBER) X(BYTES, "bytes", "bytes", NUMBER) \
	X(DATA_LEN, "data_len_bytes", "data_len", NUMBER) X(USER_DATA, "user_data", "user_data", NUMBER) \
	X(ERR, "err", "err", NUMBER) X(STATUS, "status", "status", NUMBER) X(PID, "pid", "pid", NUMBER) \
	X(TID, "tid", "tid", NUMBER) X(COMM, "comm", "comm", TEXT) X(DISK, "disk", "disk", TEXT) \
	X(DEV, "dev", "dev", NUMBER) X(RDEV, "rdev", "rdev", NUMBER) X(HWQ, "hwq", "hwq", NUMBER) \
	X(CID, "cid", "cid", NUMBER) X(ATTEMPTS, "attempts", "attempts", NUMBER) X(WAIT, "wait_ns", "wait_ns", NUMBER) \
	X(MULTIPATH, "multipath", "multipath", NUMBER) X(CMD_OP, "cmd_op", "cmd_op", TEXT) \
	X(KEY, "key_hex", "key_hex", TEXT) X(KEY_LEN, "key_len_bytes", "key_len", NUMBER) \
	X(VALUE_LEN, "value_len_bytes", "value_len", NUMBER) X(REFUSED, "refused", "refused", TRUTH) \
	X(IN_FLIGHT, "in_flight", "in_flight", TRUTH) X(AGE, "age_ns", "age_ns", NUMBER) \
	X(RECORD, "record_hex", "record", TEXT) /* all of a record that its other columns do not tell */
#define COLUMN_ENUM(id, name, member, cell) C_##id,
#define COLUMN(id, name, member, cell) { name, member, sizeof(member) - 1, cell },

enum { COLUMNS(COLUMN_ENUM) N_COLUMNS };

static const struct column {
	const char *name, *member;
	u8 member_len;
	u8 cell; /* enum cell */
} columns[] = { COLUMNS(COLUMN) };

/* The members of the two lines in the order that jsonl_write.c has them. */
static const u8 cmd_members[] = { C_PID, C_TID, C_USER_DATA, C_OPCODE, C_OP_NAME, C_NSID, C_KEY, C_KEY_LEN, C_VALUE_LEN,
				  C_SLBA, C_NLB, C_BYTES, C_DATA_LEN, C_MULTIPATH, C_CMD_OP, C_RDEV, C_COMM, C_TS,
				  C_DISK, C_DEV, C_HWQ, C_CID, C_ATTEMPTS, C_WAIT, C_REFUSED, C_IN_FLIGHT, C_AGE,
				  C_RECORD };
static const u8 cmp_members[] = { C_USER_DATA, C_ERR, C_LAT, C_HWQ, C_CID, C_TS, C_DEV, C_STATUS, C_REFUSED };
/* clang-format on */

static const struct side {
	const u8 *member;
	u32 n;
} cmd_side = { cmd_members, ARRAY_SIZE(cmd_members) }, cmp_side = { cmp_members, ARRAY_SIZE(cmp_members) };

static void put_quoted(struct buf *b, const char *p, size_t n)
{
	size_t i;

	buf_byte(b, '"');
	for (i = 0; i < n; i++) {
		if (p[i] == '"')
			buf_byte(b, '"');
		buf_byte(b, p[i]);
	}
	buf_byte(b, '"');
}

void csv_header(struct buf *b, bool source)
{
	u32 i;

	if (source)
		buf_lit(b, "source,");
	for (i = 0; i < N_COLUMNS; i++) {
		buf_str(b, i ? "," : "");
		buf_str(b, columns[i].name);
	}
	buf_byte(b, '\n');
}

/* ---- rows ---- */

/* A cell: text as bytes, other values as they are written. */
static void put_cell(struct buf *b, const struct ndjson_field *f)
{
	char stack[512], *text = stack;
	size_t n, max = sizeof(stack);

	if (f->type == ND_NULL)
		return;
	if (f->type == ND_NUMBER || f->type == ND_TRUE || f->type == ND_FALSE) {
		buf_add(b, f->text, f->text_len);
		return;
	}
	if (f->type == ND_STRING && (f->flags & ND_ESCAPED)) {
		if (f->text_len > max) {
			max = f->text_len;
			text = malloc(max);
		}
		n = text ? members_bytes(f, text, max) : SIZE_MAX;
		if (n == SIZE_MAX)
			b->failed = true;
		else
			put_quoted(b, text, n);
		if (text != stack)
			free(text);
		return;
	}
	put_quoted(b, f->text, f->text_len);
}

/* The column of a member, N_COLUMNS when it has none; the search goes on from the one before. */
static u32 find_column(const struct ndjson_field *f, const struct side *side, u32 *next)
{
	u32 i, at;

	for (i = 0; i < side->n && !(f->flags & ND_KEY_ESCAPED); i++) {
		const struct column *c;

		at = *next + i < side->n ? *next + i : *next + i - side->n;
		c = &columns[side->member[at]];
		if (c->member_len == f->key_len && !memcmp(c->member, f->key, f->key_len)) {
			*next = at + 1 < side->n ? at + 1 : 0;
			return side->member[at];
		}
	}
	return N_COLUMNS;
}

/* What a row is made of. */
struct row {
	struct ndjson_field f[N_COLUMNS];
	u8 said[N_COLUMNS]; /* by which line, 0 = by none */
};

/* The members of a line by column: what both lines say is the command's.  Those without a column are counted. */
static int sort_members(struct row *r, u8 line, struct slice text, const struct side *side, u64 *lost)
{
	struct ndjson_field f;
	struct ndjson s;
	u32 at, next = 0;
	int ret = ndjson_start(&s, text.p, text.n);

	while (!ret && (ret = ndjson_next(&s, &f)) > 0) {
		ret = 0;
		at = find_column(&f, side, &next);
		if (at < N_COLUMNS && (!r->said[at] || r->said[at] == line)) {
			r->f[at] = f;
			r->said[at] = line;
		} else if (at == N_COLUMNS && !slice_is((struct slice){ f.key, f.key_len }, "event_type")) {
			++*lost;
		}
	}
	return ret;
}

int csv_row(struct buf *b, struct slice cmd, struct slice cmp, const char *source, u64 *lost)
{
	struct row r;
	int ret;
	u32 i;

	memset(&r, 0, sizeof(r));
	ret = sort_members(&r, 1, cmd, &cmd_side, lost);
	if (!ret && cmp.n)
		ret = sort_members(&r, 2, cmp, &cmp_side, lost);
	if (ret)
		return ret;
	if (source) {
		put_quoted(b, source, strlen(source));
		buf_byte(b, ',');
	}
	for (i = 0; i < N_COLUMNS; i++) {
		if (i)
			buf_byte(b, ',');
		if (r.said[i])
			put_cell(b, &r.f[i]);
	}
	buf_byte(b, '\n');
	return b->failed ? -ENOMEM : 0;
}

/* ---- reading ---- */

#define MAX_CELLS 128u
#define MAX_ROW	  (1u << 20) /* a longer one has a quote too many */

struct csv_reader {
	u8 column[MAX_CELLS]; /* of each cell */
	u32 n_cells;
	bool inside;	/* the row goes on in the next line: its quotes are not even */
	struct buf row; /* its physical lines so far */
	/* The cells of the row, unquoted, one behind the other. */
	struct buf cells;
	u32 cell_end[MAX_CELLS];
	bool quoted[MAX_CELLS];
	struct buf cmd, cmp;
};

void csv_free(struct csv_reader *r)
{
	if (!r)
		return;
	buf_free(&r->row);
	buf_free(&r->cells);
	buf_free(&r->cmd);
	buf_free(&r->cmp);
	free(r);
}

bool csv_inside(const struct csv_reader *r)
{
	return r->inside;
}

/* The bytes of a cell in quotes at p, and the place behind it; NULL when its end is not there. */
static const char *unquote(struct buf *out, const char *p, const char *end)
{
	for (p++; p < end; p++) {
		if (*p == '"' && (p + 1 == end || p[1] != '"'))
			return p + 1;
		p += *p == '"';
		buf_byte(out, *p);
	}
	return NULL;
}

/* Cuts a row into cells: how many, or -EBADMSG. */
static int split(struct csv_reader *r, const char *p, size_t n)
{
	const char *end = p + n, *comma;
	u32 at = 0;

	buf_reset(&r->cells);
	for (;; p++) {
		if (at == MAX_CELLS)
			return -EBADMSG;
		r->quoted[at] = p < end && *p == '"';
		if (r->quoted[at]) {
			p = unquote(&r->cells, p, end);
			if (!p || (p < end && *p != ','))
				return -EBADMSG;
		} else {
			comma = p < end ? memchr(p, ',', (size_t)(end - p)) : NULL;
			comma = comma ? comma : end;
			buf_add(&r->cells, p, (size_t)(comma - p));
			p = comma;
		}
		r->cell_end[at++] = (u32)r->cells.n;
		if (p == end)
			return (int)at;
	}
}

static struct slice cell(const struct csv_reader *r, u32 i)
{
	u32 start = i ? r->cell_end[i - 1] : 0;

	return (struct slice){ r->cells.p + start, r->cell_end[i] - start };
}

static u8 column_named(struct slice name)
{
	int i;

	for (i = 0; i < N_COLUMNS; i++)
		if (slice_is(name, columns[i].name))
			break;
	return (u8)i;
}

int csv_open(struct csv_reader **out, struct slice header, u64 *spare)
{
	struct csv_reader *r = calloc(1, sizeof(*r));
	bool timed = false;
	int n;
	u32 i;

	if (!r || !buf_room(&r->cells, 1)) {
		free(r);
		return -ENOMEM;
	}
	if (header.n && header.p[header.n - 1] == '\r')
		header.n--;
	n = split(r, header.p, header.n);
	for (i = 0; n > 0 && i < (u32)n; i++) {
		r->column[i] = column_named(cell(r, i));
		timed |= r->column[i] == C_TS;
	}
	if (!timed) {
		csv_free(r);
		return -EINVAL;
	}
	r->n_cells = (u32)n;
	*spare = 0;
	for (i = 0; i < r->n_cells; i++)
		*spare += r->column[i] == N_COLUMNS;
	*out = r;
	return 0;
}

static bool is_whole(struct slice s)
{
	size_t i;

	if (!s.n || (s.n > 1 && *s.p == '0'))
		return false;
	for (i = 0; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return true;
}

static void put_member(struct buf *b, const struct column *c, struct slice value)
{
	buf_lit(b, ",\"");
	buf_str(b, c->member);
	buf_lit(b, "\":");
	if (c->cell == TRUTH && (slice_is(value, "true") || slice_is(value, "false")))
		buf_add(b, value.p, value.n);
	else if (c->cell == NUMBER && is_whole(value))
		buf_add(b, value.p, value.n);
	else
		buf_json(b, value.p, value.n);
}

static u64 number_of(struct slice s)
{
	u64 v = 0;
	size_t i;

	for (i = 0; is_whole(s) && i < s.n; i++)
		v = v * 10 + (u64)(s.p[i] - '0');
	return v;
}

/* The member when the row has it; text may be there and empty. */
static void put_if_there(const struct csv_reader *r, struct buf *b, u32 column, const u8 *at)
{
	struct slice v;

	if (at[column] == MAX_CELLS)
		return;
	v = cell(r, at[column]);
	if (v.n || (columns[column].cell == TEXT && r->quoted[at[column]]))
		put_member(b, &columns[column], v);
}

static int make_lines(struct csv_reader *r)
{
	u8 at[N_COLUMNS + 1]; /* the cell of each column */
	struct slice lat = {};
	u32 i;

	memset(at, MAX_CELLS, sizeof(at));
	for (i = 0; i < r->n_cells; i++)
		at[r->column[i]] = (u8)i;
	if (at[C_LAT] < MAX_CELLS)
		lat = cell(r, at[C_LAT]);
	buf_reset(&r->cmd);
	buf_lit(&r->cmd, "{\"event_type\":\"nvme_cmd\"");
	for (i = 0; i < cmd_side.n; i++)
		put_if_there(r, &r->cmd, cmd_side.member[i], at);
	buf_byte(&r->cmd, '}');
	buf_reset(&r->cmp);
	if (lat.n) {
		buf_lit(&r->cmp, "{\"event_type\":\"nvme_cmp\"");
		for (i = 0; i < cmp_side.n; i++) {
			if (cmp_side.member[i] != C_TS) {
				put_if_there(r, &r->cmp, cmp_side.member[i], at);
				continue;
			}
			buf_lit(&r->cmp, ",\"ts\":");
			buf_u64(&r->cmp, number_of(cell(r, at[C_TS])) + number_of(lat));
		}
		buf_byte(&r->cmp, '}');
	}
	return r->cmd.failed || r->cmp.failed || r->cells.failed ? -ENOMEM : 1;
}

static bool has_odd_quotes(struct slice s)
{
	const char *p = s.p, *end = s.p + s.n;
	bool odd = false;

	while (p < end && (p = memchr(p, '"', (size_t)(end - p)))) {
		odd = !odd;
		p++;
	}
	return odd;
}

int csv_put(struct csv_reader *r, struct slice line, struct slice *cmd, struct slice *cmp)
{
	bool open = r->inside != has_odd_quotes(line);
	int n;

	if (r->inside || open) {
		if (r->inside)
			buf_byte(&r->row, '\n');
		else
			buf_reset(&r->row);
		buf_add(&r->row, line.p, line.n);
		line = (struct slice){ r->row.p, r->row.n };
	}
	r->inside = open && line.n < MAX_ROW;
	if (r->row.failed || open)
		return r->row.failed ? -ENOMEM : r->inside ? 0 : -EBADMSG;
	if (line.n && line.p[line.n - 1] == '\r')
		line.n--;
	if (!line.n)
		return 0;
	n = split(r, line.p, line.n);
	if (n < 0 || (u32)n != r->n_cells)
		return -EBADMSG;
	n = make_lines(r);
	*cmd = (struct slice){ r->cmd.p, r->cmd.n };
	*cmp = (struct slice){ r->cmp.p, r->cmp.n };
	return n;
}
