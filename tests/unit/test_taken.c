// SPDX-License-Identifier: Apache-2.0
/* The account of a tracer from the counts of its programs and ours. */
#include "trace/taken.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct ev_loss account(u64 kept, u64 filtered, struct taken t, bool ended)
{
	struct ev_loss e = { .kind = EV_LOSS, .seen = kept + filtered };

	taken_account(&e, &t, kept, filtered, ended);
	assert_int_equal(e.seen, e.stored + e.unread + e.filtered);
	return e;
}

static void all_that_was_kept_was_taken(void **state)
{
	struct ev_loss e = account(100, 20, (struct taken){ .records = 100 }, true);

	(void)state;
	assert_int_equal(e.stored, 100);
	assert_int_equal(e.unread, 0);
	assert_int_equal(e.filtered, 20);
}

static void what_waits_is_no_loss_before_the_end(void **state)
{
	struct ev_loss e = account(100, 20, (struct taken){ .records = 60 }, false);

	(void)state;
	assert_int_equal(e.stored, 100);
	assert_int_equal(e.unread, 0);
}

static void what_nobody_took_is_lost_at_the_end(void **state)
{
	struct ev_loss e = account(100, 20, (struct taken){ .records = 60 }, true);

	(void)state;
	assert_int_equal(e.stored, 60);
	assert_int_equal(e.unread, 40);
	assert_int_equal(e.filtered, 20);
}

static void sums_are_taken_as_a_whole(void **state)
{
	struct ev_loss e = account(100, 0, (struct taken){ .records = 60, .summed = 40 }, true);

	(void)state;
	assert_int_equal(e.unread, 0);
	e = account(100, 0, (struct taken){ .records = 60, .summed = 39 }, true);
	assert_int_equal(e.stored, 99);
	assert_int_equal(e.unread, 1);
}

static void what_was_taken_and_is_unwanted_is_filtered(void **state)
{
	struct ev_loss e = account(100, 20, (struct taken){ .records = 70, .unwanted = 30 }, true);

	(void)state;
	assert_int_equal(e.stored, 40);
	assert_int_equal(e.unread, 30);
	assert_int_equal(e.filtered, 50);
	e = account(100, 20, (struct taken){ .records = 70, .unwanted = 30 }, false);
	assert_int_equal(e.stored, 70);
	assert_int_equal(e.filtered, 50);
}

static void sums_of_unwanted_files_are_filtered(void **state)
{
	struct taken t = { .records = 60, .summed = 40, .unwanted = 10, .summed_unwanted = 25 };
	struct ev_loss e = account(100, 20, t, true);

	(void)state;
	assert_int_equal(e.stored, 65);
	assert_int_equal(e.unread, 0);
	assert_int_equal(e.filtered, 55);
}

/* A record is in the ring a moment before it is counted. */
static void more_taken_than_counted_is_no_loss(void **state)
{
	struct ev_loss e = account(100, 0, (struct taken){ .records = 101 }, true);

	(void)state;
	assert_int_equal(e.unread, 0);
	assert_int_equal(e.stored, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_that_was_kept_was_taken),
		cmocka_unit_test(what_waits_is_no_loss_before_the_end),
		cmocka_unit_test(what_nobody_took_is_lost_at_the_end),
		cmocka_unit_test(sums_are_taken_as_a_whole),
		cmocka_unit_test(what_was_taken_and_is_unwanted_is_filtered),
		cmocka_unit_test(sums_of_unwanted_files_are_filtered),
		cmocka_unit_test(more_taken_than_counted_is_no_loss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
