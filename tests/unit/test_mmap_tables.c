// SPDX-License-Identifier: Apache-2.0
/* The tables of mmap_readamp: one row a file and program, the last word of each sum, hostile names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "out/mmap_tables.h"

#define DEV (259u << 20 | 3)

static struct names names;

static void learn_task(u32 tid, u32 pid)
{
	struct ev_task e = { .kind = EV_TASK, .tid = tid, .pid = pid, .ts_ns = 1, .comm = "reader" };

	assert_int_equal(names_learn(&names, &e), 0);
}

static int learn_piece(void *arg, const struct ev_path *piece)
{
	(void)arg;
	return names_learn(&names, piece);
}

static void learn_path(u64 ino, const char *path)
{
	struct ev_path e = { .kind = EV_PATH, .dev = DEV, .ino = ino, .ts_ns = 1 };

	assert_int_equal(path_pieces(&e, path, strlen(path), learn_piece, NULL), 0);
}

/* What is told: two programs on one file, calls, sums that grow, a device. */
static void tell(const struct cap_document *d, struct buf *b)
{
	static const struct ev_fault faults[] = {
		{ .kind = EV_FAULT, .tid = 11, .ts_ns = 10, .dev = DEV, .ino = 7, .flags = FAULT_MAJOR, .retries = 2 },
		{ .kind = EV_FAULT, .tid = 12, .ts_ns = 11, .dev = DEV, .ino = 7, .retries = 1 },
		{ .kind = EV_FAULT, .tid = 21, .ts_ns = 12, .dev = DEV, .ino = 7 },
		{ .kind = EV_FAULT, .tid = 11, .ts_ns = 13, .dev = DEV, .ino = 7, .flags = FAULT_FAILED },
	};
	static const struct ev_syscall calls[] = {
		{ .kind = EV_SYSCALL,
		  .call = CALL_READV,
		  .flags = SYSCALL_FILE | SYSCALL_PARTIAL,
		  .tid = 11,
		  .dev = DEV,
		  .ino = 7,
		  .size = 100000,
		  .ret = 4096 },
		{ .kind = EV_SYSCALL,
		  .call = CALL_PREAD64,
		  .flags = SYSCALL_FILE,
		  .tid = 11,
		  .dev = DEV,
		  .ino = 7,
		  .size = 512,
		  .ret = -5 },
		{ .kind = EV_SYSCALL,
		  .call = CALL_WRITE,
		  .flags = SYSCALL_FILE,
		  .tid = 11,
		  .dev = DEV,
		  .ino = 7,
		  .size = 10,
		  .ret = 10 },
		{ .kind = EV_SYSCALL,
		  .call = CALL_LSEEK,
		  .flags = SYSCALL_FILE,
		  .tid = 11,
		  .dev = DEV,
		  .ino = 7,
		  .size = 1u << 30,
		  .ret = 1 << 30 },
		{ .kind = EV_SYSCALL, .call = CALL_READ, .tid = 11, .size = 77, .ret = 77 },
	};
	struct ev_cache cache = { .kind = EV_CACHE,
				  .dev = DEV,
				  .ino = 7,
				  .ts_ns = 20,
				  .faults = 4,
				  .touched_pages = 3,
				  .mapped_pages = 40,
				  .fill_pages = 16 };
	struct ev_block block = { .kind = EV_BLOCK,
				  .dev = DEV,
				  .ts_ns = 20,
				  .requests = 1,
				  .bytes = 65536,
				  .min_bytes = 65536,
				  .max_bytes = 65536,
				  .iu_bytes_each = 16384,
				  .iu_bytes = 65536,
				  .max_request_bytes = 131072,
				  .name = "nvme0n1" };
	u32 i;

	learn_task(11, 11);
	learn_task(12, 11);
	learn_task(21, 21);
	learn_path(7, "/data/\033[31mweights");
	d->head(d->arg, b);
	for (i = 0; i < ARRAY_SIZE(faults); i++)
		assert_int_equal(d->event(d->arg, b, &faults[i], &names), 0);
	for (i = 0; i < ARRAY_SIZE(calls); i++)
		assert_int_equal(d->event(d->arg, b, &calls[i], &names), 0);
	for (i = 1; i <= 3; i++) {
		cache.fill_pages = 16ull * i;
		block.requests = i;
		block.bytes = 65536ull * i;
		block.hist[7] = i;
		assert_int_equal(d->event(d->arg, b, &cache, &names), 0);
		assert_int_equal(d->event(d->arg, b, &block, &names), 0);
	}
}

/* The document of one run.  Freed by the caller. */
static char *document(bool json, u64 useful_bytes)
{
	struct mmap_tables *t = mmap_tables_new(&(struct mmap_tables_options){ 4096, useful_bytes, json });
	struct cap_document d = mmap_tables_document(t);
	json_t *footer = json_pack("{sI sI sI sI}", "seen", (json_int_t)20, "stored", (json_int_t)15, "filtered",
				   (json_int_t)3, "ring_full", (json_int_t)2);
	struct buf b = {};

	tell(&d, &b);
	d.end(d.arg, &b, footer);
	buf_byte(&b, '\0');
	assert_false(b.failed);
	json_decref(footer);
	mmap_tables_free(t);
	names_free(&names);
	names = (struct names){};
	return b.p;
}

static json_int_t number(const json_t *o, const char *key)
{
	assert_true(json_is_integer(json_object_get(o, key)));
	return json_integer_value(json_object_get(o, key));
}

static void one_row_a_file(void **state)
{
	char *text = document(true, 1000);
	json_t *doc = json_loads(text, 0, NULL), *faults = json_object_get(doc, "faults"), *f, *amp;
	json_t *intent = json_object_get(doc, "intent");

	(void)state;
	assert_non_null(doc);
	assert_int_equal(json_array_size(faults), 2);
	f = json_array_get(faults, 0);
	assert_int_equal(number(f, "tgid"), 11);
	assert_int_equal(number(f, "faults"), 3);
	assert_int_equal(number(f, "minor"), 1);
	assert_int_equal(number(f, "major"), 1);
	assert_int_equal(number(f, "failed"), 1);
	assert_int_equal(number(f, "retries"), 3);
	assert_string_equal(json_string_value(json_object_get(f, "path")), "/data/\033[31mweights");
	assert_int_equal(number(json_array_get(faults, 1), "tgid"), 21);
	/* Calls that move nothing, and those on no file, are no intent. */
	assert_int_equal(json_array_size(intent), 2);
	f = json_array_get(intent, 0);
	assert_string_equal(json_string_value(json_object_get(f, "rw")), "R");
	assert_int_equal(number(f, "calls"), 2);
	assert_int_equal(number(f, "bytes"), 100512);
	assert_int_equal(number(f, "moved_bytes"), 4096);
	assert_int_equal(number(f, "min_bytes"), 512);
	assert_int_equal(number(f, "max_bytes"), 100000);
	assert_int_equal(number(f, "lower_bounds"), 1);
	assert_int_equal(number(json_array_get(intent, 1), "bytes"), 10);
	/* Of sums the last ones count. */
	f = json_object_get(doc, "page_faults");
	assert_int_equal(number(f, "n_files"), 1);
	assert_int_equal(number(json_object_get(f, "all"), "fill_pages"), 48);
	amp = json_object_get(json_object_get(f, "amplification"), "all");
	assert_int_equal(number(amp, "part_bytes"), 3 * 65536);
	assert_int_equal(number(amp, "whole_bytes"), 1000);
	assert_int_equal(number(json_object_get(doc, "account"), "ring_full"), 2);
	json_decref(doc);
	free(text);
}

static void tables_for_people(void **state)
{
	char *text = document(false, 0);

	(void)state;
	assert_null(strchr(text, '\033'));
	assert_non_null(strstr(text, "259:3:7 /data/\\x1b[31mweights\n"));
	assert_non_null(strstr(text, "\n       65536           3 \n"));
	/* The unit and the largest request are marked also where no request was of that size. */
	assert_non_null(strstr(text, "\n       16384           0 I\n"));
	assert_non_null(strstr(text, "\n      131072           0 M\n"));
	assert_non_null(strstr(text, "bytes of 1 calls are lower bounds"));
	assert_non_null(strstr(text, "device reads / useful        n/a"));
	assert_non_null(strstr(text, "\nevents: seen 20, stored 15, filtered 3, lost 2\n"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_row_a_file),
		cmocka_unit_test(tables_for_people),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
