// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "lib/hash.h"
#include "store/pattern.h"
#include "store/store.h"

#define ALIGN	4096u
#define PAYLOAD 50000u /* no multiple of anything */
#define SLOT	65536u
#define META	65536u
#define SLOTS	40u
#define KEYS	64u

static char path[] = "/tmp/kvio-test-store-XXXXXX";
static int fd;
static u8 *mem; /* KEYS + 1 objects */
static char why[KV_WHY];
static volatile sig_atomic_t stop;

static int make_file(void **state)
{
	bool huge = false;

	(void)state;
	fd = mkstemp(path);
	if (fd < 0 || ftruncate(fd, META + SLOTS * SLOT))
		return -1;
	mem = io_buffer_alloc((KEYS + 1) * SLOT, &huge);
	return mem ? 0 : -1;
}

static int remove_file(void **state)
{
	(void)state;
	io_buffer_free(mem, (KEYS + 1) * SLOT);
	close(fd);
	return unlink(path);
}

static int blank_file(void **state)
{
	(void)state;
	return ftruncate(fd, 0) || ftruncate(fd, META + SLOTS * SLOT) ? -1 : 0;
}

static void open_store(struct store *s, bool sum)
{
	struct store_options o = {
		.layout = { META, ALIGN, ALIGN, SLOT, META + SLOTS * SLOT },
		.xfer = 2 * ALIGN,
		.payload_sum = sum,
		.timeout_ns = NSEC_PER_SEC * 10,
		.device_path = "/dev/ng0n1",
	};

	assert_int_equal(kv_layout_make(&o.layout, why), 0);
	assert_int_equal(o.layout.slots, SLOTS);
	store_init(s, &o);
}

static struct io_queue *open_queue(enum io_kind kind, u32 depth)
{
	const struct io_target t = { .fd = fd, .lba_bytes = ALIGN, .capacity = META + SLOTS * SLOT };
	const struct io_options o = { .kind = kind, .depth = depth };
	struct io_queue *q;
	int ret = io_queue_open(&q, &t, &o);

	if (ret && kind == IO_URING)
		return open_queue(IO_POSIX, depth); /* no io_uring here: test_engine says so */
	assert_int_equal(ret, 0);
	return q;
}

static size_t key_of(u32 i, char key[64])
{
	return (size_t)snprintf(key, 64, "m%%2Fx@0x01000100@0@%016llx", ULL(hash_u64(i + 1)));
}

/* The first 8 bytes are a version, and all others follow from it and the key. */
static void fill(u8 *payload, const char *key, size_t n, u64 version)
{
	memcpy(payload, &version, 8);
	pattern_fill(payload + 8, PAYLOAD - 8, kv_identity(key, n) ^ version);
}

static bool is_filled(const u8 *payload, const char *key, size_t n)
{
	u64 version;

	memcpy(&version, payload, 8);
	return pattern_check(payload + 8, (PAYLOAD - 8) & ~7u, kv_identity(key, n) ^ version) == ((PAYLOAD - 8) & ~7u);
}

static int run(struct store *s, struct io_queue *q, struct batch_op *ops, u32 n, u32 objects, u32 window)
{
	struct batch_sums *sums = calloc(1, sizeof(*sums));
	int ret;

	assert_non_null(sums);
	s->how.objects = objects;
	s->how.window = window;
	ret = batch_run(q, ops, n, 0, 1, &s->how, sums, &stop);
	free(sums);
	return ret ? ret : store_end(s, ops, n);
}

/* Stores keys [first, first + n) in one batch.  The first result of any. */
static int put(struct store *s, struct io_queue *q, u32 first, u32 n, u64 version)
{
	struct batch_op ops[KEYS];
	u32 i, k = 0;
	int ret = 0;

	for (i = 0; i < n; i++) {
		char key[64];
		size_t len = key_of(first + i, key);

		fill(mem + k * SLOT + ALIGN, key, len, version);
		ret = store_put(s, &ops[k], key, len, PAYLOAD, mem + k * SLOT);
		if (ret && ret != -EEXIST)
			return ret;
		k += !ret;
	}
	ret = run(s, q, ops, k, 0, 0);
	for (i = 0; i < k && !ret; i++)
		ret = ops[i].res;
	return ret;
}

/* -ENOENT, the result of the load, or -EIO for data that is not the object's. */
static int get(struct store *s, struct io_queue *q, u32 i, u32 objects, u32 window)
{
	struct batch_op op;
	char key[64];
	size_t len = key_of(i, key);
	int ret;

	memset(mem, 0xee, SLOT);
	ret = store_load(s, &op, key, len, mem);
	if (!ret)
		ret = run(s, q, &op, 1, objects, window);
	if (ret || op.res)
		return ret ? ret : op.res;
	return is_filled(mem + ALIGN, key, len) ? 0 : -EIO;
}

/* ---- what is on the device ---- */

static void bytes_are_those_of_the_golden_vectors(void **state)
{
	json_t *doc = json_load_file("tests/data/kv/layout.json", 0, NULL), *keys, *v;
	struct io_queue *q = open_queue(IO_POSIX, 4);
	struct store s;
	u8 on_disk[ALIGN], zero[ALIGN] = {};
	char hex[49];
	size_t i, k;

	(void)state;
	keys = json_object_get(doc, "object_keys");
	assert_true(json_array_size(keys) > 3);
	open_store(&s, false);
	json_array_foreach(keys, i, v) {
		const char *key = json_string_value(json_object_get(v, "encoded"));
		struct kv_slot_header h;
		struct batch_op op;

		fill(mem + ALIGN, key, strlen(key), 1);
		assert_int_equal(store_put(&s, &op, key, strlen(key), PAYLOAD, mem), 0);
		assert_int_equal(run(&s, q, &op, 1, 0, 0), 0);
		assert_int_equal(op.offset, META + i * SLOT);
		assert_int_equal(op.plan.commands, 1 + (PAYLOAD + 2 * ALIGN - 1) / (2 * ALIGN));
		assert_int_equal(pread(fd, on_disk, ALIGN, META + (off_t)(i * SLOT)), ALIGN);
		/* The vectors are of another payload length: identity and magic are theirs. */
		for (k = 0; k < 24; k++)
			snprintf(hex + 2 * k, 3, "%02x", on_disk[k]);
		assert_memory_equal(
			hex, json_string_value(json_object_get(v, "slot_header_first_24_hex_payload_20971520")), 32);
		assert_int_equal(kv_slot_header_get(&h, on_disk), 0);
		assert_int_equal(h.payload_bytes, PAYLOAD);
		assert_memory_equal(on_disk + 24, zero, ALIGN - 24);
		assert_int_equal(pread(fd, on_disk, ALIGN, META + (off_t)(i * SLOT + ALIGN)), ALIGN);
		assert_memory_equal(on_disk, mem + ALIGN, ALIGN);
	}
	json_decref(doc);
	store_free(&s);
	io_queue_close(q);
}

static void checkpoints_take_turns(void **state)
{
	struct batch_sums *sums = calloc(1, sizeof(*sums));
	struct io_queue *q = open_queue(IO_URING, 4);
	struct store_recovery r;
	struct kv_ckpt_header h;
	struct store s, t;
	char text[META] = "";
	json_t *doc, *entry;
	u8 head[ALIGN];
	u32 i;

	(void)state;
	assert_non_null(sums);
	open_store(&s, false);
	assert_int_equal(store_checkpoint(&s, q, sums), 0); /* nothing to write */
	assert_int_equal(pread(fd, head, ALIGN, 0), ALIGN);
	assert_int_equal(kv_ckpt_header_get(&h, head), -EBADMSG);
	for (i = 1; i <= 3; i++) {
		assert_int_equal(put(&s, q, i, 1, i), 0);
		assert_int_equal(store_checkpoint(&s, q, sums), 0);
		assert_int_equal(pread(fd, head, ALIGN, kv_ckpt_container(i) * (META / 2)), ALIGN);
		assert_int_equal(kv_ckpt_header_get(&h, head), 0);
		assert_int_equal(h.seq, i);
	}
	assert_int_equal(sums->failed + sums->refused, 0);
	/* Number 3 is in container 0. */
	assert_int_equal(pread(fd, text, h.payload_bytes, ALIGN), h.payload_bytes);
	assert_null(strpbrk(text, " \n"));
	doc = json_loadb(text, h.payload_bytes, 0, NULL);
	assert_string_equal(json_string_value(json_object_get(doc, "device_path")), "/dev/ng0n1");
	assert_string_equal(json_string_value(json_object_get(doc, "meta_magic")), "LMCIDX01");
	assert_int_equal(json_integer_value(json_object_get(doc, "next_slot")), 3);
	assert_int_equal(json_object_size(json_object_get(doc, "entries")), 3);
	key_of(2, text);
	entry = json_object_get(json_object_get(doc, "entries"), text);
	assert_int_equal(json_integer_value(json_object_get(entry, "offset")), META + SLOT);
	assert_int_equal(json_integer_value(json_object_get(entry, "size")), PAYLOAD);
	assert_int_equal(json_object_size(entry), 6);
	json_decref(doc);

	open_store(&t, false);
	assert_int_equal(store_recover(&t, q, true, &r, why), 0);
	assert_int_equal(r.seq, 3);
	assert_int_equal(r.sound, 2);
	assert_int_equal(r.objects, 3);
	assert_int_equal(r.dropped + r.bad + r.renamed, 0);
	for (i = 1; i <= 3; i++)
		assert_int_equal(get(&t, q, i, 1, 1), 0);
	assert_int_equal(get(&t, q, 4, 1, 1), -ENOENT);
	store_free(&t);

	/* A torn newest one: the one before it counts.  A header of another object: that one is dropped. */
	assert_int_equal(pwrite(fd, "x", 1, ALIGN + 20), 1);
	assert_int_equal(pwrite(fd, "x", 1, META + 9), 1);
	open_store(&t, false);
	t.o.device_path = "/dev/ng7n1";
	assert_int_equal(store_recover(&t, q, true, &r, why), 0);
	assert_int_equal(r.seq, 2);
	assert_int_equal(r.sound, 1);
	assert_int_equal(r.objects, 1);
	assert_int_equal(r.dropped, 1);
	assert_true(r.renamed);
	/* Its slots are free again, the lowest first. */
	assert_int_equal(put(&t, q, 9, 1, 1), 0);
	assert_int_equal(t.index.entry[t.index.keys.n].slot, 0);
	store_free(&t);

	/* Of another layout it is not ours to read. */
	open_store(&t, false);
	t.o.layout.slot_bytes = t.index.layout.slot_bytes = 2 * SLOT;
	assert_int_equal(store_recover(&t, q, true, &r, why), -EINVAL);
	assert_non_null(strstr(why, "slot_bytes is 65536, not 131072"));
	store_free(&t);
	store_free(&s);
	io_queue_close(q);
	free(sums);
}

static void hostile_checkpoints_are_refused(void **state)
{
	static const char head[] =
		"{\"version\":1,\"device_path\":\"/dev/ng0n1\",\"capacity_bytes\":2686976,\"block_align\":4096,"
		"\"header_bytes\":4096,\"slot_bytes\":65536,\"meta_total_bytes\":65536,"
		"\"meta_magic\":\"LMCIDX01\",\"meta_version\":1,\"data_base_offset\":65536,";
	static const struct {
		const char *rest;
		int ret;
		u64 entries, bad;
	} cases[] = {
		{ "\"next_slot\":2,\"entries\":{\"a\":{\"offset\":65536,\"size\":7,\"shape\":[1,2],\"dtype\":\"x\"}}}",
		  0, 1, 0 },
		{ "\"next_slot\":2,\"entries\":{\"a\":{\"offset\":65536,\"size\":7},\"b\":{\"offset\":65536,\"size\":7}}}",
		  0, 1, 1 },
		{ "\"next_slot\":2,\"entries\":{\"a\":{\"offset\":65537,\"size\":7}}}", 0, 0, 1 },
		{ "\"next_slot\":2,\"entries\":{\"a\":{\"offset\":0,\"size\":7}}}", 0, 0, 1 },
		{ "\"next_slot\":2,\"entries\":{\"a\":{\"offset\":196608,\"size\":7}}}", 0, 0, 1 },
		{ "\"next_slot\":2,\"entries\":{\"a\":{\"offset\":65536,\"size\":61441}}}", 0, 0, 1 },
		{ "\"next_slot\":2,\"entries\":{\"a\":{\"offset\":-65536,\"size\":7}}}", 0, 0, 1 },
		{ "\"next_slot\":2,\"entries\":{\"a\":7}}", 0, 0, 1 },
		{ "\"next_slot\":41,\"entries\":{}}", -EINVAL, 0, 0 },
		{ "\"next_slot\":-1,\"entries\":{}}", -EINVAL, 0, 0 },
		{ "\"next_slot\":2,\"entries\":{\"a\":{},\"a\":{}}}", -EBADMSG, 0, 0 },
		{ "\"next_slot\":2,\"entries\":[]}", -EBADMSG, 0, 0 },
		{ "\"next_slot\":2", -EBADMSG, 0, 0 },
	};
	struct index_read r;
	struct store s;
	char text[1024];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct buf b = {};

		open_store(&s, false);
		snprintf(text, sizeof(text), "%s%s", head, cases[i].rest);
		assert_int_equal(index_parse(&s.index, text, strlen(text), "/dev/ng0n1", &r, why), cases[i].ret);
		assert_int_equal(r.entries, cases[i].entries);
		assert_int_equal(r.bad, cases[i].bad);
		/* What was said of an object is kept. */
		index_write(&s.index, &b, "/dev/ng0n1");
		if (!i)
			assert_non_null(memmem(b.p, b.n, "\"shape\":[1,2],\"dtype\":\"x\",\"fmt\":null", 35));
		buf_free(&b);
		store_free(&s);
	}
}

/* ---- slots and results ---- */

static void slots_are_used_last_freed_first(void **state)
{
	struct io_queue *q = open_queue(IO_POSIX, 8);
	struct batch_op op, other;
	struct store s;
	char key[64];
	u32 i;

	(void)state;
	open_store(&s, false);
	assert_int_equal(put(&s, q, 0, SLOTS, 1), 0);
	assert_int_equal(put(&s, q, SLOTS, 1, 1), -ENOSPC);
	assert_int_equal(put(&s, q, 0, 1, 2), 0); /* stored already: no IO, no change */
	assert_int_equal(get(&s, q, 0, 0, 0), 0);
	assert_int_equal(*(u64 *)(mem + ALIGN), 1);
	for (i = 3; i < 6; i++)
		assert_int_equal(store_delete(&s, key, key_of(i, key)), 0);
	assert_int_equal(store_delete(&s, key, key_of(3, key)), -ENOENT);
	assert_int_equal(get(&s, q, 4, 0, 0), -ENOENT);
	assert_int_equal(store_put(&s, &op, key, key_of(50, key), PAYLOAD, mem), 0);
	assert_int_equal(op.offset, META + 5 * SLOT);
	assert_int_equal(store_put(&s, &other, key, key_of(50, key), PAYLOAD, mem), -EBUSY);
	assert_int_equal(store_put(&s, &other, key, key_of(51, key), SLOT - ALIGN + 1, mem), -EFBIG);
	assert_int_equal(store_put(&s, &other, key, key_of(51, key), 0, mem), -EFBIG);
	/* It fails: the slot is free again, and the next one to be used. */
	op.res = -EIO;
	assert_int_equal(store_end(&s, &op, 1), 0);
	assert_int_equal(get(&s, q, 50, 0, 0), -ENOENT);
	assert_int_equal(store_put(&s, &op, key, key_of(52, key), PAYLOAD, mem), 0);
	assert_int_equal(op.offset, META + 5 * SLOT);
	store_free(&s);
	io_queue_close(q);
}

/* One command of one object fails: no object of the batch is stored; loads stand for themselves. */
static void failures_roll_back_the_batch(void **state)
{
	struct io_queue *q = open_queue(IO_URING, 8);
	struct batch_sums *sums = calloc(1, sizeof(*sums));
	struct batch_op ops[4];
	struct store s;
	char key[64];
	u32 i;

	(void)state;
	open_store(&s, false);
	for (i = 0; i < 4; i++)
		assert_int_equal(store_put(&s, &ops[i], key, key_of(i, key), PAYLOAD, mem + i * SLOT), 0);
	ops[2].offset = META + SLOTS * SLOT - 2 * ALIGN; /* runs over the end */
	assert_int_equal(batch_run(q, ops, 4, 0, 1, &s.how, sums, &stop), 0);
	assert_int_equal(ops[2].res, -ENXIO);
	assert_int_equal(ops[0].res | ops[1].res | ops[3].res, 0);
	assert_int_equal(sums->refused, 1);
	assert_int_equal(sums->error[0].res, -ENXIO);
	assert_int_equal(store_end(&s, ops, 4), 0);
	assert_int_equal(s.index.n_stored, 0);
	for (i = 0; i < 4; i++)
		assert_int_equal(get(&s, q, i, 0, 0), -ENOENT);

	assert_int_equal(put(&s, q, 0, 4, 1), 0);
	for (i = 0; i < 4; i++)
		assert_int_equal(store_load(&s, &ops[i], key, key_of(i, key), mem + i * SLOT), 0);
	ops[2].offset = META + SLOTS * SLOT - 2 * ALIGN;
	assert_int_equal(batch_run(q, ops, 4, 0, 1, &s.how, sums, &stop), 0);
	assert_int_equal(store_end(&s, ops, 4), 0);
	assert_int_equal(ops[2].res, -ENXIO);
	assert_int_equal(ops[0].res | ops[1].res | ops[3].res, 0);
	store_free(&s);
	io_queue_close(q);
	free(sums);
}

/* ---- load paths ---- */

struct path_case {
	u32 depth, objects, window, most;
};

static void paths_are_as_deep_as_they_say(void **state)
{
	static const struct path_case cases[] = {
		{ 32, 1, 1, 1 },   /* serial */
		{ 32, 4, 1, 4 },   /* parallel */
		{ 32, 0, 0, 32 },  /* batched */
		{ 8, 0, 0, 8 },	   /* ... in a shallow queue */
		{ 32, 1, 0, 7 },   /* one object at a time, all of it */
		{ 32, 20, 2, 32 }, /* more than fit */
	};
	struct batch_sums *sums = calloc(1, sizeof(*sums));
	struct batch_op ops[20];
	struct store s;
	char key[64];
	size_t i, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct io_queue *q = open_queue(IO_URING, cases[i].depth);

		open_store(&s, false);
		assert_int_equal(put(&s, q, 0, 20, i), 0);
		for (k = 0; k < 20; k++) {
			memset(mem + k * SLOT, 0, SLOT);
			assert_int_equal(store_load(&s, &ops[k], key, key_of((u32)k, key), mem + k * SLOT), 0);
		}
		s.how.objects = cases[i].objects;
		s.how.window = cases[i].window;
		*sums = (struct batch_sums){};
		assert_int_equal(batch_run(q, ops, 20, 0, 1, &s.how, sums, &stop), 0);
		assert_int_equal(sums->most_in_flight, cases[i].most);
		assert_int_equal(sums->of[KV_LOAD].commands, 20 * 7);
		assert_int_equal(sums->of[KV_LOAD].lat_ns.n, 20 * 7);
		for (k = 0; k < 20; k++) {
			size_t n = key_of((u32)k, key);

			assert_int_equal(ops[k].res, 0);
			assert_true(ops[k].start_ns && ops[k].end_ns >= ops[k].start_ns);
			assert_true(is_filled(mem + k * SLOT + ALIGN, key, n));
			if (cases[i].objects == 1 && k)
				assert_true(ops[k].start_ns >= ops[k - 1].end_ns);
		}
		store_free(&s);
		io_queue_close(q);
	}
	free(sums);
}

static void a_stop_ends_what_runs(void **state)
{
	struct batch_sums *sums = calloc(1, sizeof(*sums));
	struct io_queue *q = open_queue(IO_URING, 4);
	struct batch_op ops[4];
	struct store s;
	char key[64];
	u32 i;

	(void)state;
	open_store(&s, false);
	for (i = 0; i < 4; i++)
		assert_int_equal(store_put(&s, &ops[i], key, key_of(i, key), PAYLOAD, mem + i * SLOT), 0);
	stop = 1;
	assert_int_equal(batch_run(q, ops, 4, 0, 1, &s.how, sums, &stop), 0);
	stop = 0;
	assert_int_equal(io_queue_in_flight(q), 0);
	for (i = 0; i < 4; i++)
		assert_int_equal(ops[i].res, -ECANCELED);
	assert_int_equal(sums->failed + sums->refused, 0);
	store_free(&s);
	io_queue_close(q);
	free(sums);
}

/* With the option, a header is on the device only when all of its payload is. */
static void header_goes_last(void **state)
{
	struct io_queue *q = open_queue(IO_POSIX, 64);
	struct store s;

	(void)state;
	open_store(&s, false);
	s.how.header_last = true;
	assert_int_equal(put(&s, q, 0, 10, 1), 0);
	assert_int_equal(get(&s, q, 7, 0, 0), 0);
	store_free(&s);
	io_queue_close(q);
}

/* ---- crashes ---- */

/* Stores, deletes and checkpoints until it is killed: two commands a system call, so that it is so in between. */
static void __attribute__((noreturn)) churn(u64 seed, bool header_last, int progress)
{
	struct batch_sums *sums = calloc(1, sizeof(*sums));
	struct io_queue *q = open_queue(IO_URING, 2);
	struct store_recovery r;
	struct store s;
	u64 i;

	open_store(&s, true);
	s.how.header_last = header_last;
	if (store_recover(&s, q, true, &r, why))
		_exit(3);
	for (i = 0;; i++) {
		u64 dice = hash_u64(seed * 1000003 + i);
		u32 key = (u32)(dice % KEYS);
		char text[64];

		if (store_delete(&s, text, key_of(key, text)) == -ENOENT) {
			int ret = put(&s, q, key, 1 + (u32)(dice >> 32) % MIN(4u, KEYS - key), seed << 32 | i);

			if (ret && ret != -ENOSPC)
				_exit(4);
			/* Those that got a slot before it was full are still open. */
			if (ret)
				for (u32 k = 1; k <= s.index.keys.n; k++)
					if (s.index.entry[k].state == ENTRY_WRITING)
						index_drop(&s.index, k);
		}
		if (!(dice >> 40 & 3) && store_checkpoint(&s, q, sums))
			_exit(5);
		if (write(progress, "", 1) != 1)
			_exit(6);
	}
}

/* Killed anywhere: whatever the index says then, no object is returned that is not whole. */
static void nothing_torn_is_returned(void **state)
{
	u64 found = 0, missed = 0, dropped = 0;
	u32 round, i;

	(void)state;
	for (round = 0; round < 60; round++) {
		/* So far it gets, however slow the machine is, and then somewhere into the next step. */
		u64 steps = 1 + hash_u64(round + 77) % 60;
		struct timespec t = { 0, (long)(hash_u64(round + 78) % 300000) };
		struct io_queue *q;
		struct store_recovery r;
		struct store s;
		int status, ends[2];
		char c;
		pid_t pid;

		assert_int_equal(pipe(ends), 0);
		pid = fork();
		assert_true(pid >= 0);
		if (!pid)
			churn(round + 1, round % 2, ends[1]);
		close(ends[1]);
		while (steps--)
			assert_int_equal(read(ends[0], &c, 1), 1);
		nanosleep(&t, NULL);
		assert_int_equal(kill(pid, SIGKILL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		close(ends[0]);

		q = open_queue(IO_URING, 16);
		open_store(&s, true);
		assert_int_equal(store_recover(&s, q, true, &r, why), 0);
		dropped += r.dropped;
		for (i = 0; i < KEYS; i++) {
			int ret = get(&s, q, i, 0, 0);

			assert_true(!ret || ret == -ENOENT || ret == -EILSEQ);
			found += !ret;
			missed += ret == -EILSEQ;
		}
		store_free(&s);
		io_queue_close(q);
	}
	print_message("# %llu objects whole, %llu with another header, %llu torn and found out\n", ULL(found),
		      ULL(dropped), ULL(missed));
	assert_true(found > 100 && dropped + missed > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(bytes_are_those_of_the_golden_vectors, blank_file),
		cmocka_unit_test_setup(checkpoints_take_turns, blank_file),
		cmocka_unit_test_setup(hostile_checkpoints_are_refused, blank_file),
		cmocka_unit_test_setup(slots_are_used_last_freed_first, blank_file),
		cmocka_unit_test_setup(failures_roll_back_the_batch, blank_file),
		cmocka_unit_test_setup(paths_are_as_deep_as_they_say, blank_file),
		cmocka_unit_test_setup(a_stop_ends_what_runs, blank_file),
		cmocka_unit_test_setup(header_goes_last, blank_file),
		cmocka_unit_test_setup(nothing_torn_is_returned, blank_file),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
