/* SPDX-License-Identifier: Apache-2.0 */
/* Lengths of prompts, one a line: a bare number, or a JSON object that has one. */
#ifndef KVIO_KV_TOKENS_H
#define KVIO_KV_TOKENS_H

#include "kv/config.h"

/*
 * Reads a file, plain or compressed, "-" for stdin.  Of an object the first of
 * num_tokens, prompt_tokens, input_tokens, tokens, prompt_len that is a number
 * counts.  Blank lines pass.  *out is the caller's to free.  0; -errno of the
 * file; -EFBIG above 1 GiB; -EINVAL and why[KV_WHY] for a line without such a
 * number, or a file without any.
 */
int kv_tokens_read(const char *path, u64 **out, size_t *n, char *why);

#endif
