// SPDX-License-Identifier: Apache-2.0
/*
 * Lines that differ from an earlier one in values only, as printed by one
 * format string: the text between the values is compared in blocks, and only
 * what was seen to vary is read.  What is equal to a sound line except for
 * whole values in the place of whole values is sound itself.
 */
#include <errno.h>

#include "capture/jsonl_fields.h"

enum step_value {
	VALUE_WHOLE, /* a whole number */
	VALUE_PLAIN, /* a string without escapes; its quotes belong to the text around it */
	VALUE_ANY,   /* by the grammar; not null */
	VALUE_END,   /* the line ends here */
};

/* No look at a line goes further than all text around its values and the longest numbers. */
_Static_assert(SHAPE_BYTES + 24 * (SHAPE_FIELDS + 1) + 16 <= JSONL_SLACK, "within the slack");

/* ---- learning ---- */

/* Learning takes longer than reading, and is lost where no two lines are alike. */
static bool worth_it(struct jsonl_reader *r, const struct jsonl_rec *rec)
{
	bool often = r->n_learned > 64 + r->n_hits / 16;

	if (r->n_misses++ % 32 && often)
		return false;
	/* The head of a capture is read as a document, from its text. */
	return r->regular && rec->kind != JSONL_CAPTURE_META && r->n_fields <= SHAPE_FIELDS &&
	       r->line_len < SHAPE_BYTES;
}

static bool is_member(const struct jsonl_reader *r, const struct ndjson_field *f, enum member m)
{
	return jsonl_member(r, f->key, f->key_len, 0) == m;
}

static bool same_value(const struct ndjson_field *a, const struct ndjson_field *b)
{
	return a->type == b->type && a->text_len == b->text_len && !memcmp(a->text, b->text, a->text_len);
}

/* The same keys in the same order, and the same kind of record. */
static bool is_of(const struct jsonl_reader *r, const struct shape *s)
{
	u32 i;

	if (r->n_fields != s->n_fields || r->have != s->have)
		return false;
	for (i = 0; i < s->n_fields; i++) {
		const struct ndjson_field *a = &r->field[i], *b = &s->field[i];

		if (a->key_len != b->key_len || memcmp(a->key, b->key, a->key_len))
			return false;
		if (is_member(r, a, M_event_type) && !same_value(a, b))
			return false;
	}
	return true;
}

/* The shape of these keys, or one to be overwritten: the least used. */
static struct shape *find_shape(struct jsonl_reader *r)
{
	struct shape *s = r->shape;
	u32 i;

	for (i = 0; i < r->n_shapes; i++)
		if (is_of(r, &r->shape[i]))
			return &r->shape[i];
	if (r->n_shapes < SHAPES)
		s = &r->shape[r->n_shapes++];
	for (i = 0; i < r->n_shapes; i++) {
		s = r->shape[i].hits < s->hits ? &r->shape[i] : s;
		r->shape[i].hits -= r->shape[i].hits / 8; /* what was useful may be out of use */
	}
	s->varies = s->loose = 0;
	s->n_fields = s->hits = 0;
	return s;
}

static bool is_whole(const struct ndjson_field *f)
{
	return f->type == ND_NUMBER && (f->flags & (ND_INTEGER | ND_NEGATIVE | ND_TOO_BIG)) == ND_INTEGER;
}

static u8 value_of(const struct ndjson_field *f, struct place to)
{
	if (is_whole(f) && to.put != PUT_TEXT)
		return VALUE_WHOLE;
	return f->type == ND_STRING && (to.put == PUT_TEXT || to.put == PUT_NOWHERE) ? VALUE_PLAIN : VALUE_ANY;
}

/* Marks what differs from the line before, and takes the new line's fields. */
static void take_fields(const struct jsonl_reader *r, struct shape *s)
{
	u32 i;

	for (i = 0; i < r->n_fields; i++) {
		struct ndjson_field *f = &s->field[i];

		if (s->n_fields && !same_value(f, &r->field[i])) {
			s->varies |= 1ull << i;
			if (f->type != r->field[i].type || is_whole(f) != is_whole(&r->field[i]))
				s->loose |= 1ull << i;
		}
		*f = r->field[i];
	}
	s->n_fields = r->n_fields;
	s->have = r->have;
	memcpy(s->line, r->line, r->line_len);
	s->line[r->line_len] = '\n';
	for (i = 0; i < s->n_fields; i++) {
		s->field[i].key = s->line + (s->field[i].key - r->line);
		s->field[i].text = s->line + (s->field[i].text - r->line);
	}
}

/* Members that name a device or a thread. */
static const member_set who = BIT(pid) | BIT(tid) | BIT(comm) | BIT(disk) | BIT(dev) | BIT(rdev) | BIT(nsid);

void shape_learn(struct jsonl_reader *r, const struct jsonl_rec *rec)
{
	struct shape *s;
	u32 i, at = 0, n = 0, m;

	if (!worth_it(r, rec))
		return;
	s = find_shape(r);
	take_fields(r, s);
	s->rec = *rec;
	s->rec.who = ++r->n_learned;
	for (i = 0; i < s->n_fields; i++) {
		const struct ndjson_field *f = &s->field[i];
		struct place to;
		u8 value;
		u32 from, quote;

		m = jsonl_member(r, f->key, f->key_len, 0);
		to = jsonl_place(rec->kind, s->have, m);
		if (to.put == PUT_TEXT)
			jsonl_put(r, &s->rec, to, f);
		if (!(s->varies >> i & 1))
			continue;
		if (m < N_MEMBERS && who >> m & 1)
			s->rec.who = 0;
		value = s->loose >> i & 1 ? (u8)VALUE_ANY : value_of(f, to);
		quote = f->type == ND_STRING && value != VALUE_PLAIN;
		from = (u32)(f->text - s->line) - quote;
		s->step[n++] = (struct shape_step){ (u16)at, (u16)(from - at), value, to };
		at = from + f->text_len + 2 * quote;
	}
	s->step[n] = (struct shape_step){ (u16)at, (u16)(r->line_len + 1 - at), VALUE_END, {} };
}

/* ---- predicting ---- */

/* Puts a whole number into its place.  False when it does not fit: then the line is not sound. */
static inline bool put_whole(struct jsonl_rec *rec, struct place to, u64 v)
{
	void *at = (char *)rec + to.at;

	switch (to.put) {
	case PUT_NOWHERE:
		return true;
	case PUT_U8:
		*(u8 *)at = (u8)v;
		return v <= UINT8_MAX;
	case PUT_U16:
	case PUT_TAG:
		*(u16 *)at = (u16)v;
		return v <= UINT16_MAX;
	case PUT_U32:
		*(u32 *)at = (u32)v;
		return v <= UINT32_MAX;
	case PUT_S32:
		*(s32 *)at = (s32)v;
		return v <= INT32_MAX;
	case PUT_SATURATED:
		*(u32 *)at = (u32)MIN(v, (u64)UINT32_MAX);
		return true;
	case PUT_TRUTH:
		*(bool *)at = v != 0;
		return true;
	case PUT_SECONDS:
		return !__builtin_mul_overflow(v, NSEC_PER_SEC, (u64 *)at);
	default:
		*(u64 *)at = v;
		return true;
	}
}

/* Any value, by the grammar.  Past it, or NULL. */
static const char *put_any(struct jsonl_reader *r, struct shape *s, struct place to, const char *p, const char *end)
{
	struct ndjson_field f;

	p = p < end ? ndjson_value(p, end, &f) : NULL;
	if (!p || f.type == ND_NULL || (f.flags & ND_ESCAPED) || jsonl_put(r, &s->rec, to, &f))
		return NULL;
	return p;
}

static inline const char *match(struct jsonl_reader *r, struct shape *s, const char *p, const char *end)
{
	const struct shape_step *step = s->step;
	const char *q;
	u64 v;

	for (;; step++) {
		if (!same_text(p, s->line + step->at, step->n))
			return NULL;
		p += step->n;
		switch (step->value) {
		case VALUE_WHOLE:
			p = whole_number(p, &v);
			if (!p || !put_whole(&s->rec, step->place, v))
				return NULL;
			break;
		case VALUE_PLAIN:
			q = p < end ? ndjson_plain_end(p, end) : NULL;
			if (!q)
				return NULL;
			if (step->place.put == PUT_TEXT)
				*(struct slice *)(void *)((char *)&s->rec + step->place.at) =
					(struct slice){ p, (size_t)(q - p) };
			p = q;
			break;
		case VALUE_ANY:
			p = put_any(r, s, step->place, p, end);
			if (!p)
				return NULL;
			break;
		default:
			jsonl_settle(&s->rec);
			return p <= end ? p : NULL;
		}
	}
}

int jsonl_predict(struct jsonl_reader *r, const char **p, const char *end, const struct jsonl_rec **rec)
{
	u32 first = r->shape[r->last].next, i;
	const char *q;

	for (i = 0; i < r->n_shapes; i++) {
		u32 at = first + i < r->n_shapes ? first + i : first + i - r->n_shapes;

		q = match(r, &r->shape[at], *p, end);
		if (q) {
			r->shape[r->last].next = at;
			r->last = at;
			r->shape[at].hits++;
			r->n_hits++;
			*p = q;
			*rec = &r->shape[at].rec;
			return 1;
		}
	}
	r->missed = true;
	return 0;
}
