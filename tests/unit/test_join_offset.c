// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "unit/join_text.h"

static void offset_join(struct model *m, struct buf *b)
{
	join_as(m, b, JOIN_OFFSET);
	assert_closed(m);
}

/* ---- bytes ---- */

static void a_merged_command_is_split_over_its_objects(void **state)
{
	struct buf b = {};
	struct model m;
	u32 i;

	(void)state;
	for (i = 0; i < 4; i++)
		slot_op(&b, i + 1, "store", i * 32 * KIB, 32 * KIB, 10 * MS, 20 * MS);
	io(&b, 15 * MS, 0, "write", 0, 128 * KIB);
	offset_join(&m, &b);
	assert_int_equal(m.offset.cross, 1);
	assert_int_equal(m.offset.cross_bytes, 128 * KIB);
	for (i = 0; i < 4; i++) {
		assert_int_equal(cmd_op_bytes(&m, 0, i), 32 * KIB);
		assert_int_equal(m.op.n_cmds[i], 1);
	}
	assert_int_equal(m.part.n, 4);
	assert_int_equal(m.cmd.op[0], 0); /* equal parts: the lowest offset */
	model_free(&m);
}

static void merged_commands_192_over_768_objects(void **state)
{
	struct buf b = {};
	struct model m;
	u32 i, k;

	(void)state;
	for (i = 0; i < 192; i++) {
		u64 t = (10 + i) * MS;

		for (k = 0; k < 4; k++)
			slot_op(&b, 1 + i * 4 + k, "store", (i * 4 + k) * 32 * KIB, 32 * KIB, t, t + 900 * US);
		io(&b, t + 100 * US, 0, "write", i * 128 * KIB, 128 * KIB);
	}
	offset_join(&m, &b);
	assert_int_equal(m.offset.cross, 192);
	assert_int_equal(m.offset.cross_bytes, 192 * 128 * KIB);
	assert_int_equal(m.part.n, 768);
	for (i = 0; i < 192; i++)
		for (k = 0; k < 4; k++)
			assert_int_equal(bytes_of(&m, i, 1 + i * 4 + k), 32 * KIB);
	model_free(&m);
}

static void parts_are_exact_and_the_largest_names_the_command(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	meta(&b, 4096, "/dev/ng0n1");
	slot_op(&b, 1, "load", 64 * KIB, 5000, 10 * MS, 20 * MS);     /* header, payload rounded: [64K, 76K) */
	slot_op(&b, 2, "load", 80 * KIB, 60 * KIB, 10 * MS, 20 * MS); /* [80K, 144K) */
	io(&b, 15 * MS, 0, "read", 72 * KIB, 64 * KIB);		      /* [72K, 136K): 4K, 4K of gap, 56K */
	offset_join(&m, &b);
	assert_int_equal(bytes_of(&m, 0, 1), 4 * KIB);
	assert_int_equal(bytes_of(&m, 0, 2), 56 * KIB);
	assert_int_equal(went_to(&m, 0), 2);
	assert_int_equal(m.offset.cross, 1);
	assert_int_equal(m.offset.cross_bytes, 60 * KIB);
	assert_int_equal(m.offset.gap_spill_bytes, 4 * KIB);
	model_free(&m);
}

/* Defect 4: such a command was unmatched. */
static void a_command_from_below_a_slot_owns_the_part_inside(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	slot_op(&b, 1, "load", 1 * MIB, 64 * KIB, 10 * MS, 20 * MS);
	io(&b, 15 * MS, 0, "read", 1 * MIB - 32 * KIB, 64 * KIB);
	io(&b, 16 * MS, 0, "read", 1 * MIB - 32 * KIB, 512 * KIB); /* over both ends */
	offset_join(&m, &b);
	assert_int_equal(bytes_of(&m, 0, 1), 32 * KIB);
	assert_int_equal(bytes_of(&m, 1, 1), 64 * KIB);
	assert_int_equal(m.offset.gap_spill, 2);
	assert_int_equal(m.offset.unique_bytes, 96 * KIB);
	assert_int_equal(m.offset.gap_spill_bytes, 480 * KIB);
	model_free(&m);
}

/* Defect 4: the first use of the slot decided where all of them end. */
static void each_use_of_a_slot_has_its_own_end(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	slot_op(&b, 1, "store", 0, 64 * KIB, 100 * MS, 110 * MS);
	slot_op(&b, 2, "store", 0, 256 * KIB, 200 * MS, 210 * MS);
	slot_op(&b, 3, "store", 0, 128 * KIB, 212 * MS, 220 * MS);
	io(&b, 105 * MS, 0, "write", 0, 64 * KIB);
	io(&b, 106 * MS, 0, "write", 64 * KIB, 64 * KIB); /* behind the end of this use */
	io(&b, 205 * MS, 0, "write", 192 * KIB, 64 * KIB);
	io(&b, 215 * MS, 0, "write", 96 * KIB, 64 * KIB); /* spills, though the use before it ends just now */
	offset_join(&m, &b);
	assert_int_equal(went_to(&m, 0), 1);
	assert_int_equal(went_to(&m, 1), 0);
	assert_int_equal(went_to(&m, 2), 2);
	assert_int_equal(bytes_of(&m, 3, 3), 32 * KIB);
	assert_int_equal(bytes_of(&m, 3, 2), 0);
	assert_int_equal(m.offset.unique, 2);
	assert_int_equal(m.offset.unmatched, 1);
	assert_int_equal(m.offset.gap_spill, 1);
	model_free(&m);
}

static void slots_that_were_cut_anew_belong_to_their_time(void **state)
{
	struct buf b = {};
	struct model m;
	u32 i;

	(void)state;
	/* Four objects of 96 KiB, then right behind three of 128 KiB on the same bytes. */
	for (i = 0; i < 4; i++)
		slot_op(&b, 1 + i, "store", i * 96 * KIB, 96 * KIB, 100 * MS, 110 * MS);
	for (i = 0; i < 3; i++)
		slot_op(&b, 11 + i, "store", i * 128 * KIB, 128 * KIB, 112 * MS, 120 * MS);
	for (i = 0; i < 12; i++)
		io(&b, 105 * MS + i, 0, "write", i * 32 * KIB, 32 * KIB);
	for (i = 0; i < 12; i++)
		io(&b, 115 * MS + i, 0, "write", i * 32 * KIB, 32 * KIB);
	io(&b, 116 * MS, 0, "write", 64 * KIB, 128 * KIB);
	offset_join(&m, &b);
	for (i = 0; i < 12; i++) {
		assert_int_equal(went_to(&m, i), 1 + i / 3);
		assert_int_equal(went_to(&m, 12 + i), 11 + i / 4);
	}
	assert_int_equal(bytes_of(&m, 24, 11), 64 * KIB);
	assert_int_equal(bytes_of(&m, 24, 12), 64 * KIB);
	assert_int_equal(m.offset.unique, 24);
	assert_int_equal(m.offset.cross, 1);
	assert_int_equal(m.offset.gap_spill_bytes, 0);
	model_free(&m);
}

/* ---- time ---- */

/* Defect 6: windows 5 ms apart went to the first in file order. */
static void the_nearest_in_time_wins(void **state)
{
	static const u64 at[] = { 96, 99, 104, 111, 112, 114, 117, 122, 124, 126 };
	static const u64 want[] = { 1, 1, 1, 1, 1, 2, 2, 2, 2, 0 };
	struct buf b = {};
	struct model m;
	u32 i;

	(void)state;
	slot_op(&b, 1, "load", 0, 4096, 100 * MS, 110 * MS);
	slot_op(&b, 2, "load", 0, 4096, 115 * MS, 120 * MS);
	for (i = 0; i < ARRAY_SIZE(at); i++)
		io(&b, at[i] * MS, 0, "read", 0, 4096);
	offset_join(&m, &b);
	for (i = 0; i < ARRAY_SIZE(at); i++)
		assert_int_equal(went_to(&m, i), want[i]);
	model_free(&m);
}

static void the_slack_is_5_ms_both_ends_included(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	slot_op(&b, 1, "load", 0, 4096, 100 * MS, 110 * MS);
	io(&b, 95 * MS - 1, 0, "read", 0, 4096);
	io(&b, 95 * MS, 0, "read", 0, 4096);
	io(&b, 115 * MS, 0, "read", 0, 4096);
	io(&b, 115 * MS + 1, 0, "read", 0, 4096);
	offset_join(&m, &b);
	assert_int_equal(m.cmd.op[0], NONE);
	assert_int_equal(m.cmd.op[1], 0);
	assert_int_equal(m.cmd.op[2], 0);
	assert_int_equal(m.cmd.op[3], NONE);
	assert_int_equal(m.offset.unmatched, 2);
	model_free(&m);
}

static void direction_comes_before_time(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	slot_op(&b, 1, "store", 0, 4096, 100 * MS, 110 * MS);
	slot_op(&b, 2, "load", 0, 4096, 111 * MS, 120 * MS);
	io(&b, 109 * MS, 0, "read", 0, 4096);  /* while the store runs */
	io(&b, 112 * MS, 0, "write", 0, 4096); /* while the load runs */
	io(&b, 124 * MS, 0, "write", 0, 4096); /* too late for the store: whoever is there */
	offset_join(&m, &b);
	assert_int_equal(went_to(&m, 0), 2);
	assert_int_equal(went_to(&m, 1), 1);
	assert_int_equal(went_to(&m, 2), 2);
	model_free(&m);
}

static void at_a_hand_over_the_one_that_begins_wins(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	slot_op(&b, 1, "store", 0, 4096, 100 * MS, 110 * MS);
	slot_op(&b, 2, "store", 0, 4096, 110 * MS, 120 * MS);
	slot_op(&b, 3, "load", 0, 4096, 120 * MS, 120 * MS);
	slot_op(&b, 4, "load", 0, 4096, 120 * MS, 130 * MS);
	io(&b, 110 * MS - 1, 0, "write", 0, 4096);
	io(&b, 110 * MS, 0, "write", 0, 4096);
	io(&b, 120 * MS, 0, "write", 0, 4096);
	io(&b, 120 * MS, 1, "read", 0, 4096);
	io(&b, 120 * MS, 2, "read", 0, 4096);
	io(&b, 130 * MS, 0, "read", 0, 4096);
	offset_join(&m, &b);
	assert_int_equal(went_to(&m, 0), 1);
	assert_int_equal(went_to(&m, 1), 2);
	assert_int_equal(went_to(&m, 2), 2);
	assert_int_equal(went_to(&m, 3), 3); /* one that takes no time, and then the other */
	assert_int_equal(went_to(&m, 4), 4);
	assert_int_equal(went_to(&m, 5), 4);
	model_free(&m);
}

static void loads_of_one_object_at_one_time_get_each_byte_once(void **state)
{
	struct buf b = {};
	struct model m;
	u32 i;

	(void)state;
	slot_op(&b, 1, "load", 0, 128 * KIB, 100 * MS, 200 * MS);
	slot_op(&b, 2, "load", 0, 128 * KIB, 110 * MS, 210 * MS);
	slot_op(&b, 3, "load", 0, 128 * KIB, 110 * MS, 210 * MS);
	for (i = 0; i < 32; i++) {
		io(&b, (120 + i) * MS, 0, "read", i * 4 * KIB, 4096);
		io(&b, (120 + i) * MS + 2, 0, "read", i * 4 * KIB, 4096);
		io(&b, (120 + i) * MS + 4, 0, "read", i * 4 * KIB, 4096);
	}
	io(&b, 190 * MS, 0, "read", 0, 4096); /* once more: a retry of one of them */
	offset_join(&m, &b);
	for (i = 0; i < 96; i++)
		assert_int_equal(went_to(&m, i), 1 + i % 3);
	assert_int_equal(went_to(&m, 96), 1);
	for (i = 0; i < 3; i++)
		assert_int_equal(m.op.n_cmds[i], 32 + (i == 0));
	model_free(&m);
}

/* No writer does this, but a damaged trace can say it. */
static void of_slots_that_overlap_the_first_to_start_wins(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	slot_op(&b, 1, "load", 0, 64 * KIB, 100 * MS, 200 * MS);
	slot_op(&b, 2, "load", 0, 64 * KIB, 101 * MS, 200 * MS);
	slot_op(&b, 3, "load", 0, 128 * KIB, 102 * MS, 200 * MS);
	io(&b, 110 * MS, 0, "read", 0, 4096);
	io(&b, 111 * MS, 0, "read", 0, 4096);
	io(&b, 112 * MS, 0, "read", 0, 4096);
	io(&b, 113 * MS, 0, "read", 96 * KIB, 4096);
	offset_join(&m, &b);
	assert_int_equal(went_to(&m, 0), 1);
	assert_int_equal(went_to(&m, 1), 2);
	assert_int_equal(went_to(&m, 2), 3);
	assert_int_equal(went_to(&m, 3), 3);
	model_free(&m);
}

/* Records of the first schema have an end only. */
static void without_a_start_the_next_end_decides(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	buf_lit(&b, "{\"trace_id\":1,\"op\":\"load\",\"bytes\":4096,\"slot_offset\":0,\"ts\":0.100}\n"
		    "{\"trace_id\":2,\"op\":\"load\",\"bytes\":4096,\"slot_offset\":0,\"ts\":0.103}\n"
		    "{\"trace_id\":3,\"op\":\"load\",\"bytes\":4096,\"slot_offset\":0,\"ts\":0.120}\n");
	io(&b, 94 * MS, 0, "read", 0, 4096);
	io(&b, 99 * MS, 0, "read", 0, 4096);
	io(&b, 101 * MS, 0, "read", 0, 4096); /* nearer to the end of the first, which is over */
	io(&b, 116 * MS, 0, "read", 0, 4096);
	io(&b, 121 * MS, 0, "read", 0, 4096);
	offset_join(&m, &b);
	assert_int_equal(went_to(&m, 0), 0);
	assert_int_equal(went_to(&m, 1), 1);
	assert_int_equal(went_to(&m, 2), 2);
	assert_int_equal(went_to(&m, 3), 3);
	assert_int_equal(went_to(&m, 4), 3);
	model_free(&m);
}

/* ---- places ---- */

/* Defect 4: such commands fell out of the accounting. */
static void commands_without_a_place_are_counted(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	slot_op(&b, 1, "store", 0, 64 * KIB, 100 * MS, 110 * MS);
	buf_lit(&b,
		"{\"event_type\":\"nvme_cmd\",\"op_name\":\"write\",\"nvme_opcode\":1,\"data_len\":512,\"ts\":105000000}\n");
	buf_lit(&b,
		"{\"event_type\":\"nvme_cmd\",\"op_name\":\"flush\",\"nvme_opcode\":0,\"slba\":0,\"nlb\":1,\"data_len\":0,"
		"\"ts\":105000001}\n");
	buf_lit(&b, "{\"event_type\":\"nvme_cmd\",\"op_name\":\"zone_append\",\"nvme_opcode\":125,\"slba\":0,\"nlb\":1,"
		    "\"data_len\":512,\"ts\":105000002}\n");
	buf_lit(&b, "{\"event_type\":\"nvme_cmd\",\"op_name\":\"write_zeroes\",\"nvme_opcode\":8,\"slba\":2,\"nlb\":1,"
		    "\"data_len\":0,\"ts\":106000000}\n");
	offset_join(&m, &b);
	assert_int_equal(m.offset.no_place, 1);
	assert_int_equal(m.offset.no_place_bytes, 512);
	assert_int_equal(m.offset.unmatched, 2);
	assert_int_equal(m.cmd.op[0], NONE);
	assert_int_equal(m.cmd.op[1], NONE);
	assert_int_equal(m.cmd.op[2], NONE);
	assert_int_equal(m.offset.unique, 1); /* in the object, though it moves no data */
	assert_int_equal(m.cmd.op[3], 0);
	model_free(&m);
}

static void data_less_commands_are_split_without_bytes(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	slot_op(&b, 1, "store", 0, 64 * KIB, 100 * MS, 110 * MS);
	slot_op(&b, 2, "store", 64 * KIB, 64 * KIB, 100 * MS, 110 * MS);
	buf_lit(&b, "{\"event_type\":\"nvme_cmd\",\"op_name\":\"write_zeroes\",\"nvme_opcode\":8,\"slba\":8,\"nlb\":24,"
		    "\"data_len\":0,\"ts\":105000000}\n");
	offset_join(&m, &b);
	assert_int_equal(m.part.n, 2);
	assert_int_equal(m.part.bytes[0] + m.part.bytes[1], 0);
	assert_int_equal(went_to(&m, 0), 2); /* blocks of 4096: [32K, 128K) */
	assert_int_equal(m.offset.cross, 1);
	model_free(&m);
}

static void the_block_size_is_that_of_the_device_or_of_the_transfer(void **state)
{
	struct join_options o = { .kind = JOIN_OFFSET };
	struct buf b = {};
	struct model m;

	(void)state;
	slot_op(&b, 1, "load", 1 * MIB, 64 * KIB, 100 * MS, 110 * MS);
	io(&b, 101 * MS, 0, "read", 1 * MIB, 4096); /* 8 blocks */
	buf_lit(&b, "{\"event_type\":\"nvme_cmd\",\"op_name\":\"read\",\"nvme_opcode\":2,\"slba\":257,\"nlb\":1,"
		    "\"rdev\":1,\"data_len\":4096,\"ts\":102000000}\n");
	model_of(&m, &b);
	assert_int_equal(model_join(&m, &o), 0);
	assert_int_equal(m.offset.unique, 2);
	m.device[0].lba_bytes = 512;
	m.device[0].lba_assumed = false;
	assert_int_equal(model_join(&m, &o), 0);
	assert_int_equal(m.offset.unique, 1);
	assert_int_equal(m.cmd.op[0], 0);
	o.lba_bytes = 4096;
	assert_int_equal(model_join(&m, &o), 0);
	assert_int_equal(m.cmd.op[0], NONE);
	assert_int_equal(m.cmd.op[1], 0);
	model_free(&m);
}

static void headers_are_found_on_devices_with_other_blocks(void **state)
{
	static const char *const line =
		"{\"event_type\":\"nvme_cmd\",\"op_name\":\"write\",\"nvme_opcode\":1,\"slba\":%u,"
		"\"nlb\":%u,\"data_len\":4096,\"rdev\":%u,\"ts\":%u}\n";
	struct buf b = {};
	struct model m;

	(void)state;
	slot_op(&b, 1, "store", 1 * MIB, 64 * KIB, 100 * MS, 110 * MS);
	slot_op(&b, 2, "store", 2 * MIB, 64 * KIB, 100 * MS, 110 * MS);
	buf_printf(&b, line, 2048, 8, 1, 105000000);
	buf_printf(&b, line, 512, 1, 2, 106000000);
	offset_join(&m, &b);
	assert_int_equal(m.n_devices, 2);
	assert_int_equal(m.n_header_cmds, 2);
	model_free(&m);
}

static void disk_io(struct buf *b, u64 ts, const char *disk, u64 offset)
{
	buf_printf(
		b,
		"{\"event_type\":\"nvme_cmd\",\"disk\":\"%s\",\"dev\":%d,\"nvme_opcode\":2,\"op_name\":\"read\",\"slba\":%llu,"
		"\"nlb\":8,\"data_len\":4096,\"ts\":%llu}\n",
		disk, disk[4], ULL(offset / 512), ULL(ts));
}

static void the_semantic_trace_names_its_device(void **state)
{
	static const char *const paths[] = { "/dev/ng1n1", "/dev/nvme1n1", "nvme1n1", "/dev/nvme7n1" };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		bool known = i < 3;
		struct buf b = {};
		struct model m;

		meta(&b, 0, paths[i]);
		slot_op(&b, 1, "load", 0, 64 * KIB, 100 * MS, 110 * MS);
		disk_io(&b, 105 * MS, "nvme0n1", 0);
		disk_io(&b, 106 * MS, "nvme1c0n1", 4096); /* a path of nvme1n1 */
		offset_join(&m, &b);
		assert_int_equal(m.n_devices, 2);
		assert_int_equal(m.offset.unique, known ? 1 : 2);
		assert_int_equal(m.offset.other_device, known);
		assert_int_equal(went_to(&m, 0), !known);
		assert_int_equal(went_to(&m, 1), 1);
		model_free(&m);
	}
}

static void addresses_without_bounds_are_harmless(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	slot_op(&b, 1, "load", UINT64_MAX - 4095, UINT64_MAX, 100 * MS, 110 * MS);
	slot_op(&b, 2, "load", 0, UINT64_MAX, 100 * MS, 110 * MS);
	slot_op(&b, 3, "load", 4096, 0, 100 * MS, 110 * MS);
	buf_printf(&b,
		   "{\"event_type\":\"nvme_cmd\",\"op_name\":\"read\",\"nvme_opcode\":2,\"slba\":%llu,\"nlb\":65536,"
		   "\"data_len\":4294967295,\"ts\":105000000}\n",
		   ULL(UINT64_MAX));
	io(&b, 106 * MS, 0, "read", 4096, 4096);
	offset_join(&m, &b);
	assert_int_equal(went_to(&m, 1), 2);
	model_free(&m);
}

/* ---- accounts ---- */

static void first_attempts_have_an_operation_and_no_count(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	slot_op(&b, 1, "load", 0, 64 * KIB, 100 * MS, 110 * MS);
	io(&b, 101 * MS, 7, "read", 0, 4096);
	io(&b, 102 * MS, 7, "read", 0, 4096);
	um_cmp(&b, 102 * MS + 20 * US, 7, 20 * US);
	buf_lit(&b,
		"{\"event_type\":\"nvme_cmd\",\"op_name\":\"read\",\"nvme_opcode\":2,\"slba\":8,\"nlb\":8,\"rdev\":1,"
		"\"data_len\":4096,\"ts\":103000000,\"refused\":true,\"status\":22}\n");
	offset_join(&m, &b);
	assert_true(m.cmd.flags[0] & CMD_REISSUED);
	assert_int_equal(m.cmd.op[0], 0);
	assert_int_equal(m.cmd.op[2], 0);
	assert_int_equal(m.op.n_cmds[0], 2);
	assert_int_equal(m.offset.unique, 1);
	assert_int_equal(m.offset.unique_bytes, 4096);
	model_free(&m);
}

/* Defect 4: an operation without a slot kept an id that could be a made up one. */
static void operations_without_a_slot_own_nothing(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	buf_lit(&b, "{\"trace_id\":2,\"op\":\"load\",\"bytes\":4096,\"ts_start\":0.1,\"ts\":0.11}\n");
	slot_op(&b, 1, "load", 0, 64 * KIB, 100 * MS, 110 * MS);
	io(&b, 105 * MS, 0, "read", 0, 4096);
	io(&b, 106 * MS, (u64)2 << 32, "read", 4096, 4096);
	offset_join(&m, &b);
	assert_int_equal(went_to(&m, 0), 1);
	assert_int_equal(went_to(&m, 1), 1);
	assert_int_equal(m.offset.without_cookie, 1);
	assert_int_equal(m.offset.cookie_cmds, 1);
	assert_int_equal(m.offset.agree, 0);
	assert_int_equal(m.op.n_cmds[0] + m.op.n_cmds[1], 2);
	model_free(&m);
}

static void roles_follow_the_join(void **state)
{
	struct buf b = {};
	struct model m;

	(void)state;
	slot_op(&b, 1, "load", 0, 64 * KIB, 100 * MS, 110 * MS);
	io(&b, 105 * MS, 0, "read", 0, 4096);
	io(&b, 106 * MS, (u64)9 << 32, "read", 1 * MIB, 4096);
	offset_join(&m, &b);
	assert_int_equal(cmd_role(&m, 0), ROLE_READS);
	assert_int_equal(cmd_join_id(&m, 0), 1);
	/* Its tag is no operation's, and this join does not ask for tags. */
	assert_int_equal(cmd_role(&m, 1), ROLE_UNTAGGED);
	assert_int_equal(cmd_join_id(&m, 1), 0);
	model_free(&m);
}

static void joining_again_leaves_nothing_behind(void **state)
{
	static const enum join_kind kinds[] = { JOIN_TRACE_ID, JOIN_NONE, JOIN_KEY, JOIN_OFFSET };
	struct buf b = {};
	struct model m;
	size_t i;

	(void)state;
	slot_op(&b, 1, "load", 0, 64 * KIB, 100 * MS, 110 * MS);
	slot_op(&b, 2, "load", 64 * KIB, 64 * KIB, 100 * MS, 110 * MS);
	io(&b, 105 * MS, (u64)1 << 32, "read", 32 * KIB, 64 * KIB);
	offset_join(&m, &b);
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		const struct join_options o = { .kind = kinds[i] };

		assert_int_equal(model_join(&m, &o), 0);
		assert_int_equal(m.join, kinds[i]);
		assert_int_equal(m.part.n, kinds[i] == JOIN_OFFSET ? 2 : 0);
		assert_int_equal(m.offset.cross, kinds[i] == JOIN_OFFSET);
		assert_int_equal(m.cmd.op[0] == NONE, kinds[i] == JOIN_NONE || kinds[i] == JOIN_KEY);
		assert_int_equal((m.cmd.flags[0] & CMD_SPLIT) != 0, kinds[i] == JOIN_OFFSET);
	}
	model_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_merged_command_is_split_over_its_objects),
		cmocka_unit_test(merged_commands_192_over_768_objects),
		cmocka_unit_test(parts_are_exact_and_the_largest_names_the_command),
		cmocka_unit_test(a_command_from_below_a_slot_owns_the_part_inside),
		cmocka_unit_test(each_use_of_a_slot_has_its_own_end),
		cmocka_unit_test(slots_that_were_cut_anew_belong_to_their_time),
		cmocka_unit_test(the_nearest_in_time_wins),
		cmocka_unit_test(the_slack_is_5_ms_both_ends_included),
		cmocka_unit_test(direction_comes_before_time),
		cmocka_unit_test(at_a_hand_over_the_one_that_begins_wins),
		cmocka_unit_test(loads_of_one_object_at_one_time_get_each_byte_once),
		cmocka_unit_test(of_slots_that_overlap_the_first_to_start_wins),
		cmocka_unit_test(without_a_start_the_next_end_decides),
		cmocka_unit_test(commands_without_a_place_are_counted),
		cmocka_unit_test(data_less_commands_are_split_without_bytes),
		cmocka_unit_test(the_block_size_is_that_of_the_device_or_of_the_transfer),
		cmocka_unit_test(headers_are_found_on_devices_with_other_blocks),
		cmocka_unit_test(the_semantic_trace_names_its_device),
		cmocka_unit_test(addresses_without_bounds_are_harmless),
		cmocka_unit_test(first_attempts_have_an_operation_and_no_count),
		cmocka_unit_test(operations_without_a_slot_own_nothing),
		cmocka_unit_test(roles_follow_the_join),
		cmocka_unit_test(joining_again_leaves_nothing_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
