// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/arm.h"

#define QD1 "tests/data/perfetto/qd1/"

static void labels_and_files_may_have_any_character(void **state)
{
	static const struct {
		const char *spec, *label;
		const char *file[3];
	} cases[] = {
		{ "a=x", "a", { "x" } },
		{ "a=x,y,z", "a", { "x", "y", "z" } },
		{ "a=x=1,y=2", "a", { "x=1", "y=2" } },
		{ "a,b=x", "a,b", { "x" } },
		{ "a\\=b=x", "a=b", { "x" } },
		{ "a=x\\,y,z", "a", { "x,y", "z" } },
		{ "a\\\\=x\\\\,y", "a\\", { "x\\", "y" } },
		{ "a\\b=C:\\dir\\f,\\=g", "a\\b", { "C:\\dir\\f", "\\=g" } },
		{ "a=x\\", "a", { "x\\" } },
		{ "a=-,x", "a", { "x" } },
		{ "a=,x,", "a", { "x" } },
		{ "a=./-", "a", { "./-" } },
		{ "a=", "a", {} },
		{ "a=-", "a", {} },
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct arm a;

		assert_int_equal(arm_parse(&a, cases[i].spec), 0);
		assert_string_equal(a.label, cases[i].label);
		for (k = 0; k < 3 && cases[i].file[k]; k++) {
			assert_true(k < a.n_files);
			assert_string_equal(a.file[k], cases[i].file[k]);
		}
		assert_int_equal(a.n_files, k);
		arm_free(&a);
	}
}

static void a_label_is_needed(void **state)
{
	static const char *const specs[] = { "", "a", "=x", "a\\=x", "x,y" };
	struct arm a;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		assert_int_equal(arm_parse(&a, specs[i]), -EINVAL);
		arm_free(&a);
	}
}

static void an_arm_is_joined_and_cut_as_it_says(void **state)
{
	static const char *const files[] = { QD1 "ebpf.jsonl", QD1 "sem.jsonl" };
	const char *failed;
	struct arm a;

	(void)state;
	assert_int_equal(arm_init(&a, "qd1", files, 2, false), 0);
	a.join = JOIN_OFFSET;
	assert_int_equal(filter_ids(&a.filter, "3-5"), 0);
	assert_int_equal(arm_load(&a, 0, &failed), 0);
	assert_int_equal(a.m.join, JOIN_OFFSET);
	assert_int_equal(a.m.op.n, 3);
	assert_int_equal(a.m.cmd.n, 27);
	assert_string_equal(a.sem_name, QD1 "sem.jsonl");
	assert_string_equal(a.dev_name, QD1 "ebpf.jsonl");
	arm_free(&a);
	assert_int_equal(arm_init(&a, "qd1", files, 2, false), 0);
	assert_int_equal(arm_load(&a, 0, &failed), 0);
	assert_int_equal(a.m.join, JOIN_TRACE_ID);
	assert_int_equal(a.m.op.n, 18);
	arm_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels_and_files_may_have_any_character),
		cmocka_unit_test(a_label_is_needed),
		cmocka_unit_test(an_arm_is_joined_and_cut_as_it_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
