// SPDX-License-Identifier: Apache-2.0
#include "kv/key.h"

#include <string.h>

#define MAX_FIELDS  5
#define LONG_HASH   16 /* digits that no object group has */
#define RANK_DIGITS 8

struct field {
	const char *p;
	size_t n;
};

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_hex(const struct field *f)
{
	size_t i;

	for (i = 0; i < f->n; i++)
		if (hex_digit(f->p[i]) < 0)
			return false;
	return f->n > 0;
}

/* Cuts at the first four '@': what stands behind them is one field. */
static u32 split(struct field *f, const char *key, size_t n)
{
	const char *end = key + n, *p = key, *at;
	u32 k = 0;

	while (k < MAX_FIELDS - 1 && (at = memchr(p, '@', (size_t)(end - p)))) {
		f[k++] = (struct field){ p, (size_t)(at - p) };
		p = at + 1;
	}
	f[k++] = (struct field){ p, (size_t)(end - p) };
	return k;
}

static bool parse_rank(struct kv_rank *r, const struct field *f)
{
	u32 v = 0, i;

	if (f->n != 2 + RANK_DIGITS || f->p[0] != '0' || (f->p[1] | 0x20) != 'x')
		return false;
	for (i = 2; i < f->n; i++) {
		int d = hex_digit(f->p[i]);

		if (d < 0)
			return false;
		v = v << 4 | (u32)d;
	}
	*r = (struct kv_rank){ v, (u8)(v >> 24), (u8)(v >> 16), (u8)(v >> 8), (u8)v };
	return true;
}

static u64 global_rank(const struct kv_rank *r)
{
	return r->world ? r->global : r->packed;
}

static void name_chunk(struct key_parts *k, const struct field *f)
{
	k->chunk = k->hash = f->p;
	k->chunk_len = k->hash_len = f->n;
}

static void name_salt(struct key_parts *k, const struct field *f)
{
	k->salt = f->p;
	k->salt_len = f->n;
}

static void ranked(struct key_parts *k, const struct field *f, u32 n)
{
	/* Of four fields the last is the hash, or else a salt. */
	bool group = n == 5 || (n == 4 && !(is_hex(&f[2]) && (f[2].n >= LONG_HASH || !is_hex(&f[3]))));

	k->form = KEY_RANKED;
	k->fmt = f[1].p;
	k->fmt_len = f[1].n;
	k->rank_is_number = true;
	k->rank_number = global_rank(&k->kv_rank);
	k->rank = f[1].p;
	k->rank_len = f[1].n;
	if (group) {
		k->group = f[2].p;
		k->group_len = f[2].n;
	}
	name_chunk(k, &f[2 + group]);
	if (n > 3u + group)
		name_salt(k, &f[3 + group]);
}

static bool parse_decimal(const struct field *f, u64 *v)
{
	size_t i;

	*v = 0;
	for (i = 0; i < f->n; i++) {
		u64 digit = (u64)(f->p[i] - '0');

		if (digit > 9 || __builtin_mul_overflow(*v, 10, v) || __builtin_add_overflow(*v, digit, v))
			return false;
	}
	return f->n > 0;
}

static void old(struct key_parts *k, const struct field *f)
{
	k->form = KEY_OLD;
	k->fmt = f[1].p;
	k->fmt_len = f[1].n;
	k->rank = f[2].p;
	k->rank_len = f[2].n;
	k->rank_is_number = parse_decimal(&f[2], &k->rank_number);
	name_chunk(k, &f[3]);
}

void key_parse(struct key_parts *k, const char *key, size_t n)
{
	struct field f[MAX_FIELDS];
	u32 fields = split(f, key, n);

	*k = (struct key_parts){};
	if (fields >= 3 && parse_rank(&k->kv_rank, &f[1]))
		ranked(k, f, fields);
	else if (fields >= 4)
		old(k, f);
	if (k->form == KEY_OPAQUE)
		return;
	k->model = f[0].p;
	k->model_len = f[0].n;
}

void key_model(const struct key_parts *k, struct buf *out)
{
	size_t i;

	for (i = 0; i < k->model_len; i++) {
		const char *p = k->model + i;
		bool coded = *p == '%' && k->model_len - i > 2 && hex_digit(p[1]) >= 0 && hex_digit(p[2]) >= 0;

		buf_byte(out, coded ? (char)(hex_digit(p[1]) << 4 | hex_digit(p[2])) : *p);
		i += coded ? 2 : 0;
	}
}

void key_make(struct buf *out, const char *model, u32 kv_rank, const char *group, const char *chunk, const char *salt)
{
	for (; *model; model++) {
		char c = *model, low = (char)(c | 0x20);

		if ((low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') || strchr("_.-~", c))
			buf_byte(out, c);
		else
			buf_printf(out, "%%%02X", (u8)c);
	}
	buf_printf(out, "@0x%08x@", kv_rank);
	if (group)
		buf_printf(out, "%s@", group);
	buf_str(out, chunk);
	if (*salt)
		buf_printf(out, "@%s", salt);
}
