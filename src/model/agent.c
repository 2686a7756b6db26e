// SPDX-License-Identifier: Apache-2.0
#include "model/agent.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/lines.h"
#include "lib/zio.h"

#define MOONCAKE_TOKENS 512
#define USUAL_TOKENS	256
#define MAX_CHUNKS	(1u << 24) /* of one request */
#define DIGEST_HEX	(2 * SHA256_BYTES)

const char *agent_format_name(enum agent_format format)
{
	static const char *const names[] = { "auto", "tokens", "hashes", "mooncake", "tracelab" };

	return names[format];
}

void agent_free(struct agent_trace *t)
{
	u32 i;

	for (i = 0; i < t->n_files; i++)
		free(t->file[i].name);
	free(t->file);
	free(t->request);
	free(t->chunk);
	strpool_free(&t->strings);
	strpool_free(&t->keys);
	*t = (struct agent_trace){};
}

/* A line being read. */
struct entry {
	struct agent_trace *t;
	struct agent_request r;
	struct slice session, provider, project, session_file, input, tokens, hashes, ids;
	u64 input_tokens, prefix_tokens;
	bool has_input, has_prefix, has_length;
};

static int __attribute__((format(printf, 2, 3))) complain(struct agent_trace *t, const char *fmt, ...)
{
	va_list ap;
	int n = (int)strlen(t->why);

	va_start(ap, fmt);
	vsnprintf(t->why + n, sizeof(t->why) - (size_t)n, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

void agent_session_digest(char out[21], const char *const *part, u32 n)
{
	struct buf b = {};
	struct sha256 s;
	u8 digest[SHA256_BYTES];
	u32 i;

	buf_byte(&b, '[');
	for (i = 0; i < n; i++) {
		if (i)
			buf_byte(&b, ',');
		buf_json(&b, part[i], strlen(part[i]));
	}
	buf_byte(&b, ']');
	sha256_init(&s);
	sha256_add(&s, b.p, b.n);
	sha256_end(&s, digest);
	buf_free(&b);
	for (i = 0; i < 10; i++)
		snprintf(out + (size_t)2 * i, 3, "%02x", digest[i]);
}

/* ---- chunks ---- */

static int add_chunk(struct agent_trace *t, struct agent_request *r, const u8 digest[SHA256_BYTES])
{
	u32 key = strpool_add(&t->keys, (const char *)digest, SHA256_BYTES);

	if (!key)
		return -ENOMEM;
	if (r->n_chunks == MAX_CHUNKS)
		return complain(t, "more than %u chunks", MAX_CHUNKS);
	if (t->n_chunks == t->cap_chunks) {
		u64 cap = t->cap_chunks ? t->cap_chunks * 2 : 4096;
		void *p = reallocarray(t->chunk, cap, sizeof(*t->chunk));

		if (!p)
			return -ENOMEM;
		t->chunk = p;
		t->cap_chunks = cap;
	}
	t->chunk[t->n_chunks++] = key;
	r->n_chunks++;
	return 0;
}

/* The next value of a JSON array that was found sound: false at its end. */
static bool next_value(const char **p, const char *end, struct ndjson_field *f)
{
	while (*p < end && strchr("[, \t\r", **p))
		(*p)++;
	if (*p >= end || **p == ']')
		return false;
	*p = ndjson_value(*p, end, f);
	return *p != NULL;
}

static int add_text_chunk(struct agent_trace *t, struct agent_request *r, const char *text)
{
	u8 digest[SHA256_BYTES];
	struct sha256 s;

	sha256_init(&s);
	sha256_add(&s, text, strlen(text));
	sha256_end(&s, digest);
	return add_chunk(t, r, digest);
}

static int take_tokens(struct entry *e, u64 chunk_tokens)
{
	const char *p = e->tokens.p, *end = p + e->tokens.n;
	struct ndjson_field f;
	u8 digest[SHA256_BYTES];
	u64 *chunk = calloc(chunk_tokens, sizeof(*chunk)), n = 0;
	int ret = chunk ? 0 : -ENOMEM;

	while (!ret && next_value(&p, end, &f)) {
		if (f.type != ND_NUMBER || ndjson_u64(&f, &chunk[n])) {
			ret = complain(e->t, "token_ids has what is no token id");
			break;
		}
		e->r.input_tokens++;
		if (++n < chunk_tokens)
			continue;
		kv_chunk_digest(digest, e->t->o.chained && e->r.n_chunks ? digest : NULL, chunk, n);
		ret = add_chunk(e->t, &e->r, digest);
		n = 0;
	}
	e->r.ignored_tokens = n;
	free(chunk);
	return ret;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
}

static int take_hashes(struct entry *e, u64 chunk_tokens)
{
	const char *p = e->hashes.p, *end = p + e->hashes.n;
	struct ndjson_field f;
	u8 digest[SHA256_BYTES];
	int ret = 0;
	u32 i;

	while (!ret && next_value(&p, end, &f)) {
		bool sound = f.type == ND_STRING && f.text_len == DIGEST_HEX;

		for (i = 0; sound && i < SHA256_BYTES; i++) {
			int high = hex_digit(f.text[2 * i]), low = hex_digit(f.text[2 * i + 1]);

			sound = high >= 0 && low >= 0;
			digest[i] = sound ? (u8)(high << 4 | low) : 0;
		}
		ret = sound ? add_chunk(e->t, &e->r, digest) : complain(e->t, "a chunk key is not 64 hex digits");
	}
	e->r.input_tokens = e->has_input ? e->input_tokens : e->r.n_chunks * chunk_tokens;
	e->r.ignored_tokens = e->r.input_tokens - MIN(e->r.input_tokens, e->r.n_chunks * chunk_tokens);
	return ret;
}

/* The last id may be of a block that is not full. */
static int take_mooncake(struct entry *e, u64 chunk_tokens)
{
	const char *p = e->ids.p, *end = p + e->ids.n;
	u64 whole = e->input_tokens / chunk_tokens, id;
	struct ndjson_field f;
	char text[48];
	int ret = 0;

	while (!ret && next_value(&p, end, &f)) {
		if (f.type != ND_NUMBER || ndjson_u64(&f, &id))
			return complain(e->t, "hash_ids has what is no id");
		if (e->r.n_chunks >= whole)
			continue;
		snprintf(text, sizeof(text), "mooncake:%llu", (unsigned long long)id);
		ret = add_text_chunk(e->t, &e->r, text);
	}
	e->r.input_tokens = e->input_tokens;
	e->r.ignored_tokens = e->input_tokens - e->r.n_chunks * chunk_tokens;
	return ret;
}

static int take_tracelab(struct entry *e, u64 chunk_tokens)
{
	const char *session = strpool_get(&e->t->strings, e->r.session);
	u64 whole = e->input_tokens / chunk_tokens, i;
	char text[64];
	int ret = 0;

	if (e->prefix_tokens > e->input_tokens)
		return complain(e->t, "prefix_tokens is more than input_tokens_total");
	if (whole > MAX_CHUNKS)
		return complain(e->t, "more than %u chunks", MAX_CHUNKS);
	for (i = 0; i < whole && !ret; i++) {
		snprintf(text, sizeof(text), "tracelab:%.20s:%llu", session, (unsigned long long)i);
		ret = add_text_chunk(e->t, &e->r, text);
	}
	e->r.found_known = true;
	e->r.found = (u32)(e->prefix_tokens / chunk_tokens);
	e->r.input_tokens = e->input_tokens;
	e->r.ignored_tokens = e->input_tokens % chunk_tokens;
	return ret;
}

/* ---- lines ---- */

static bool is(const struct ndjson_field *f, const char *name)
{
	return f->key_len == strlen(name) && !memcmp(f->key, name, f->key_len);
}

static void keep(struct slice *to, const struct ndjson_field *f)
{
	if (f->type != ND_NULL)
		*to = (struct slice){ f->text, f->text_len };
}

static int take_number(struct entry *e, const struct ndjson_field *f, u64 *out, bool *has)
{
	if (f->type == ND_NULL)
		return 0;
	if (f->type != ND_NUMBER || ndjson_u64(f, out))
		return complain(e->t, "%.*s is no whole number from 0 on", (int)MIN(f->key_len, 40u), f->key);
	*has = true;
	return 0;
}

static int take_time(struct entry *e, const struct ndjson_field *f, bool relative)
{
	u64 ms;
	int ret;

	if (f->type == ND_NULL)
		return 0;
	if (relative) {
		ret = f->type == ND_NUMBER ? ndjson_ns(f, &ms) : -EINVAL;
		/* ndjson_ns() reads seconds; these are milliseconds. */
		if (!ret)
			e->r.time_ns = (s64)(ms / 1000);
	} else {
		ret = agent_time(f->text, f->text_len, &e->r.time_ns);
	}
	if (ret)
		return complain(e->t, "its time is %s",
				ret == -ERANGE && !relative ? "not of the years 2000 to 2100" : "none");
	e->r.has_time = true;
	return 0;
}

static int take_field(struct entry *e, const struct ndjson_field *f, struct ndjson_field *time)
{
	const struct {
		const char *name;
		struct slice *to;
	} texts[] = {
		{ "session_id", &e->session },	      { "provider", &e->provider }, { "project", &e->project },
		{ "session_file", &e->session_file }, { "input", &e->input },	    { "token_ids", &e->tokens },
		{ "input_ids", &e->tokens },	      { "chunk_keys", &e->hashes }, { "hash_ids", &e->ids },
	};
	bool ignored;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(texts); i++)
		if (is(f, texts[i].name))
			keep(texts[i].to, f);
	if (is(f, "timestamp") || is(f, "ts") || is(f, "time"))
		*time = *f;
	if (is(f, "input_tokens_total") || is(f, "input_tokens"))
		return take_number(e, f, &e->input_tokens, &e->has_input);
	if (is(f, "input_length"))
		return take_number(e, f, &e->input_tokens, &e->has_length);
	if (is(f, "prefix_tokens"))
		return take_number(e, f, &e->prefix_tokens, &e->has_prefix);
	return is(f, "output_length") ? take_number(e, f, &(u64){ 0 }, &ignored) : 0;
}

static enum agent_format format_of(const struct entry *e)
{
	if (e->ids.p && e->has_length)
		return AGENT_MOONCAKE;
	if (e->provider.p && e->has_input && e->has_prefix)
		return AGENT_TRACELAB;
	if (e->hashes.p)
		return AGENT_HASHES;
	return e->tokens.p ? AGENT_TOKENS : AGENT_AUTO;
}

/* Who the request is of, as a digest: names of users and machines stay out. */
static int set_session(struct entry *e)
{
	const struct slice *all[] = { &e->provider, &e->project, &e->session_file, &e->session };
	struct buf text[4] = {};
	const char *part[4];
	char digest[21];
	u32 n = 4, first = e->t->format == AGENT_TRACELAB ? 0 : 3, i;

	if (e->t->o.session_is_file) {
		part[3] = e->t->file[e->r.file].name;
		first = 3;
	} else {
		for (i = first; i < n; i++) {
			ndjson_unescape(&text[i], all[i]->p ? all[i]->p : "", all[i]->n);
			buf_byte(&text[i], '\0');
			part[i] = text[i].failed ? "" : text[i].p;
		}
	}
	agent_session_digest(digest, part + first, n - first);
	e->r.session = strpool_add(&e->t->strings, digest, 20);
	for (i = 0; i < n; i++)
		buf_free(&text[i]);
	return e->r.session ? 0 : -ENOMEM;
}

static int choose_format(struct entry *e)
{
	struct agent_trace *t = e->t;
	enum agent_format is_of = format_of(e);

	if (is_of == AGENT_AUTO && e->input.p)
		return complain(t, "its input is text: turn it into token_ids first");
	if (is_of == AGENT_AUTO)
		return complain(t, "it is of no format that is known");
	if (!t->format) {
		t->format = t->o.format ? t->o.format : is_of;
		if (!t->o.chunk_tokens)
			t->o.chunk_tokens = t->format == AGENT_MOONCAKE ? MOONCAKE_TOKENS : USUAL_TOKENS;
	}
	return is_of == t->format ? 0
				  : complain(t, "it is of format %s, not %s", agent_format_name(is_of),
					     agent_format_name(t->format));
}

static bool is_selected(const struct entry *e)
{
	const struct agent_options *o = &e->t->o;

	return (!o->max_requests || e->t->n < o->max_requests) &&
	       (!o->provider || (e->provider.p && slice_is(e->provider, o->provider)));
}

static int add_request(struct agent_trace *t, const struct agent_request *r)
{
	if (t->n == t->cap) {
		u64 cap = t->cap ? t->cap * 2 : 256;
		void *p = reallocarray(t->request, cap, sizeof(*t->request));

		if (!p)
			return -ENOMEM;
		t->request = p;
		t->cap = cap;
	}
	t->request[t->n++] = *r;
	return 0;
}

static int take_chunks(struct entry *e)
{
	u64 n = e->t->o.chunk_tokens;

	e->r.first_chunk = e->t->n_chunks;
	switch (e->t->format) {
	case AGENT_TOKENS:
		return take_tokens(e, n);
	case AGENT_HASHES:
		return take_hashes(e, n);
	case AGENT_MOONCAKE:
		return take_mooncake(e, n);
	default:
		return take_tracelab(e, n);
	}
}

static int take_line(struct agent_trace *t, struct slice line, u64 number)
{
	struct entry e = { .t = t, .r = { .file = t->n_files - 1, .line = number } };
	struct ndjson_field f, time = { .type = ND_NULL };
	struct ndjson s;
	int ret;

	snprintf(t->why, sizeof(t->why), "line %llu: ", (unsigned long long)number);
	ret = ndjson_start(&s, line.p, line.n);
	while (!ret && (ret = ndjson_next(&s, &f)) > 0)
		ret = take_field(&e, &f, &time);
	if (ret == -EBADMSG) {
		complain(t, "it is no JSON object");
		return ret;
	}
	if (!ret)
		ret = choose_format(&e);
	t->file[t->n_files - 1].records++;
	if (ret || !is_selected(&e))
		return ret;
	ret = take_time(&e, &time, t->format == AGENT_MOONCAKE);
	if (!ret)
		ret = set_session(&e);
	if (!ret)
		ret = take_chunks(&e);
	if (ret)
		return ret;
	t->file[t->n_files - 1].selected++;
	return add_request(t, &e.r);
}

/* ---- files ---- */

struct source {
	struct zin *z;
	struct sha256 sha;
};

static ssize_t read_source(void *arg, void *buf, size_t n)
{
	struct source *s = arg;
	ssize_t got = zin_read(s->z, buf, n);

	if (got > 0)
		sha256_add(&s->sha, buf, (size_t)got);
	return got;
}

static int add_file(struct agent_trace *t, const char *path)
{
	const char *base = strrchr(path, '/');
	struct agent_file *p = reallocarray(t->file, t->n_files + 1ul, sizeof(*p));

	if (!p)
		return -ENOMEM;
	t->file = p;
	p[t->n_files] = (struct agent_file){ .name = strdup(base ? base + 1 : path) };
	return p[t->n_files++].name ? 0 : -ENOMEM;
}

int agent_read(struct agent_trace *t, const char *path)
{
	struct source s;
	struct lines l;
	struct slice line;
	int ret = zin_open(&s.z, path);

	if (ret)
		return ret;
	sha256_init(&s.sha);
	lines_init(&l, read_source, &s);
	ret = add_file(t, path);
	while (!ret && (ret = lines_next(&l, &line)) > 0) {
		ret = ndjson_blank(line.p, line.n) ? 0 : take_line(t, line, l.number);
		/* A line that has no end was cut, and is no fault of the trace. */
		if (ret == -EBADMSG && l.tail) {
			t->cut = true;
			ret = 0;
		}
	}
	if (!ret && l.too_long)
		ret = complain(t, "line %llu is too long", (unsigned long long)l.first_too_long);
	t->cut |= zin_defect(s.z) != NULL;
	if (!ret)
		sha256_end(&s.sha, t->file[t->n_files - 1].sha256);
	lines_free(&l);
	zin_close(s.z);
	return ret == -EBADMSG ? -EINVAL : ret;
}

/* ---- the cache ---- */

static int by_time(const void *a, const void *b)
{
	const struct agent_request *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	/* As they were read. */
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

int agent_run(struct agent_trace *t, struct kv_cache *c)
{
	bool timed = true;
	u64 i;
	int ret = 0;

	for (i = 0; i < t->n; i++)
		timed &= t->request[i].has_time;
	/* Requests without a time can only be where they are. */
	if (timed && t->n)
		qsort(t->request, t->n, sizeof(*t->request), by_time);
	for (i = 0; i < t->n && !ret; i++) {
		struct agent_request *r = &t->request[i];
		/* Without chunks there may be no list. */
		const u32 *chunk = r->n_chunks ? &t->chunk[r->first_chunk] : NULL;

		r->first_op = c->n_ops;
		ret = r->found_known ? kv_cache_request_found(c, chunk, r->n_chunks, r->found)
				     : kv_cache_request(c, chunk, r->n_chunks);
		r->n_ops = c->n_ops - r->first_op;
	}
	return ret;
}
