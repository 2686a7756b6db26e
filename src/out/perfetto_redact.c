// SPDX-License-Identifier: Apache-2.0
/* Strings that tell who and what: written as they are, or as numbers in order of first appearance. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "out/perfetto_writer.h"

void pf_hidden(struct pf_writer *w, enum pf_secret kind, const char *s, size_t n, char word[16])
{
	static const char letter[N_SECRETS] = "kfcirepn";
	u32 id = strpool_add(&w->secrets[kind], s, n);

	w->b.failed |= !id;
	snprintf(word, 16, "%c%u", letter[kind], id);
}

void pf_arg_secret(struct pf_writer *w, enum pf_arg arg, enum pf_secret kind, const char *s, size_t n)
{
	char word[16];

	if (!w->o->redact) {
		pf_arg_interned(w, arg, s, n);
		return;
	}
	pf_hidden(w, kind, s, n, word);
	pf_arg_interned(w, arg, word, strlen(word));
}

void pf_arg_secret_id(struct pf_writer *w, enum pf_arg arg, enum pf_secret kind, const struct strpool *s, u32 id)
{
	if (id)
		pf_arg_secret(w, arg, kind, strpool_get(s, id), strpool_len(s, id));
}

/* A key is the same whether an operation has it as text or a command as hex. */
void pf_arg_secret_key(struct pf_writer *w, enum pf_arg arg, const struct model *m, u32 hex, u32 text)
{
	u32 id = hex ? hex : text;
	const char *s = strpool_get(&m->strings, id);
	size_t n = strpool_len(&m->strings, id), i;
	struct buf b = {};

	if (hex)
		for (i = 0; i < n; i++)
			buf_byte(&b, (char)tolower((u8)s[i]));
	else
		buf_hexbytes(&b, (const u8 *)s, n);
	w->b.failed |= b.failed;
	pf_arg_secret(w, arg, SECRET_KEY, b.p, b.n);
	buf_free(&b);
}
