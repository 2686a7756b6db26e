// SPDX-License-Identifier: Apache-2.0
/*
 * By key, for key-value namespaces.  A command has its key in hex; so has the
 * operation when its record says what went on the wire, else its key is taken
 * byte by byte.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/join.h"

#define MAX_KEY_BYTES 16 /* that a command can carry */

struct key_join {
	struct model *m;
	struct ways ways;
	struct strpool texts; /* keys in lower-case hex */
	u32 *group_of;	      /* of each text, by its id */
	u32 *seen;	      /* group of each string of the model that is a key of commands; see below */
	u32 n;
	struct buf hex;
	struct op_groups all, ways_of; /* by key; by key and direction */
};

enum { UNSEEN = NONE - 1 }; /* in `seen`; NONE is no operation's key */

static void key_join_free(struct key_join *x)
{
	strpool_free(&x->texts);
	free(x->group_of);
	free(x->seen);
	buf_free(&x->hex);
	op_groups_free(&x->all);
	op_groups_free(&x->ways_of);
}

/* Hex text in lower case into x->hex. */
static void lower(struct key_join *x, u32 string)
{
	const char *s = strpool_get(&x->m->strings, string);
	size_t n = strpool_len(&x->m->strings, string), i;

	buf_reset(&x->hex);
	for (i = 0; i < n; i++)
		buf_byte(&x->hex, s[i] >= 'A' && s[i] <= 'F' ? (char)(s[i] | 0x20) : s[i]);
}

/* The key of an operation into x->hex; empty when it has none. */
static void op_key(struct key_join *x, u32 op)
{
	const struct model *m = x->m;

	lower(x, m->op.key_hex[op]);
	if (!x->hex.n)
		buf_hexbytes(&x->hex, (const u8 *)strpool_get(&m->strings, m->op.key[op]),
			     strpool_len(&m->strings, m->op.key[op]));
}

/* Numbers the keys in the order of their first operation; an operation without a key has a number of its own. */
static int number_keys(struct key_join *x, u32 *group)
{
	struct model *m = x->m;
	u32 i, text;

	for (i = 0; i < m->op.n; i++) {
		op_key(x, i);
		m->long_keys += !m->op.key_hex[i] && x->hex.n > 2 * MAX_KEY_BYTES;
		group[i] = x->n;
		if (x->hex.n) {
			text = x->hex.failed ? 0 : strpool_add(&x->texts, x->hex.p, x->hex.n);
			if (!text)
				return -ENOMEM;
			if (x->group_of[text] == NONE)
				x->group_of[text] = x->n;
			group[i] = x->group_of[text];
		}
		x->n += group[i] == x->n;
		m->op.join_id[i] = group[i] + 1ull;
	}
	return 0;
}

static int make_groups(struct key_join *x, u32 *group)
{
	u32 i;
	int ret = op_groups_make(&x->all, &x->m->op, group, x->n);

	for (i = 0; i < x->m->op.n; i++)
		group[i] = group[i] * (N_DIRS + 1u) + op_way(&x->ways, x->m, i);
	return ret ? ret : op_groups_make(&x->ways_of, &x->m->op, group, x->n * (N_DIRS + 1u));
}

static int key_join_make(struct key_join *x)
{
	const struct model *m = x->m;
	u32 *group = calloc(m->op.n + 1ul, sizeof(*group)), i;
	int ret = -ENOMEM;

	ways_init(&x->ways, m);
	x->group_of = malloc((m->op.n + 1ul) * sizeof(*x->group_of));
	x->seen = malloc((m->strings.n + 1ul) * sizeof(*x->seen));
	/* Three groups a key must have numbers. */
	if (group && x->group_of && x->seen && m->op.n < UNSEEN / (N_DIRS + 1u)) {
		for (i = 0; i <= m->op.n; i++)
			x->group_of[i] = NONE;
		for (i = 0; i <= m->strings.n; i++)
			x->seen[i] = UNSEEN;
		ret = number_keys(x, group);
		if (!ret)
			ret = make_groups(x, group);
	}
	free(group);
	return ret;
}

/* The group of a command's key, NONE when no operation has it. */
static u32 group_of_cmd(struct key_join *x, u32 key)
{
	if (x->seen[key] == UNSEEN) {
		lower(x, key);
		x->seen[key] = x->hex.failed ? NONE : x->group_of[strpool_find(&x->texts, x->hex.p, x->hex.n)];
	}
	return x->seen[key];
}

int join_by_key(struct model *m, u64 *tied)
{
	struct key_join x = { .m = m };
	int ret = key_join_make(&x);
	u32 i;

	*tied = 0;
	if (!ret)
		count_occurrences(m, &x.all);
	for (i = 0; i < m->cmd.n && !ret; i++) {
		u32 group = m->cmd.key[i] ? group_of_cmd(&x, m->cmd.key[i]) : NONE, op;

		m->cmd.op[i] = NONE;
		if (group == NONE)
			continue;
		op = op_groups_at(&x.ways_of, &m->op, group * (N_DIRS + 1u) + cmd_dir(&x.ways.cmd, m, i),
				  m->cmd.ts_ns[i]);
		m->cmd.op[i] = op == NONE ? op_groups_at(&x.all, &m->op, group, m->cmd.ts_ns[i]) : op;
		++*tied;
	}
	if (x.hex.failed)
		ret = -ENOMEM;
	key_join_free(&x);
	return ret;
}
