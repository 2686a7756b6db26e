// SPDX-License-Identifier: Apache-2.0
/* Metrics by name: thresholds, CSV, Prometheus, and that they agree. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "out/report_metrics.h"
#include "unit/measure_text.h"

static void serial(struct model *m, struct measure *x, struct report_arm *a)
{
	struct buf b = {};
	u32 i;

	for (i = 0; i < 160; i++)
		io(&b, i * 83 * US, 16 * US, 5, i, "read", 1000 + i * 32);
	op(&b, 5, "load", "m@f@0@k", 160 * 131072, 0, 14 * MS, NULL);
	serving(&b, "ttft", "r1", 0, 20 * MS);
	take(m, &b, x);
	*a = (struct report_arm){ "it, \"quoted\"", m, x, NULL };
}

/* How many thresholds of one are true of the capture; -1 when it is none. */
static int check(const struct report_arm *a, const char *text)
{
	struct report_limit l;
	struct buf b = {};
	char *near;
	int ret = report_limit_parse(&l, text, &near);

	free(near);
	if (ret)
		return -1;
	ret = (int)report_limit_check(&b, &l, a, 1);
	buf_free(&b);
	return ret;
}

static void thresholds(void **state)
{
	struct report_arm a;
	struct measure x;
	struct model m;

	(void)state;
	serial(&m, &x, &a);
	assert_int_equal(check(&a, "load.gap_p50_us>50"), 1);
	assert_int_equal(check(&a, "load.gap_p50_us>83"), 0);
	assert_int_equal(check(&a, "load.gap_p50_us>=83"), 1);
	assert_int_equal(check(&a, "load.gap_p50_us == 83"), 1);
	assert_int_equal(check(&a, "load.gap_p50_us!=83"), 0);
	assert_int_equal(check(&a, "load.gap_p50_ns<1e5"), 1);
	assert_int_equal(check(&a, "load.gap_p50_ms <= 0.083"), 1);
	assert_int_equal(check(&a, "load.gap_p50_s>1"), 0);
	assert_int_equal(check(&a, "read.lat_p99_us>15.9"), 1);
	assert_int_equal(check(&a, "all.commands<160"), 0);
	assert_int_equal(check(&a, "load.size_max_mib>19"), 1);
	assert_int_equal(check(&a, "load.qd1>0"), 1);
	assert_int_equal(check(&a, "ttft.request_p50_ms>19"), 1);
	assert_int_equal(check(&a, "loss.lossy>0"), 0);
	/* What was not measured cannot pass. */
	assert_int_equal(check(&a, "store.gap_p50_us>50"), 1);
	assert_int_equal(check(&a, "store.gap_p50_us<1"), 1);
	assert_int_equal(check(&a, "shards.barrier_p50_us>1"), 1);
	done(&m, &x);
}

static void wrong_thresholds(void **state)
{
	static const char *const wrong[] = { "",
					     "load.gap_p50_us",
					     "load.gap_p50_us>",
					     "load.gap_p50_us>x",
					     "load.gap_p50_us>5x",
					     "load.gap_p50_us=>5",
					     "load.gap_p50_us>nan",
					     ">5",
					     "gap_p50_us>5",
					     "load.gap_p50>5",
					     "load.gap>5",
					     "all.gap_p50_us>5",
					     ".lat_p50_us>5",
					     "loss.commands>5",
					     "load.gap_p50_us_us>5" };
	struct report_limit l;
	char *near;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		assert_true(report_limit_parse(&l, wrong[i], &near) < 0);
		free(near);
	}
	assert_int_equal(report_limit_parse(&l, "load.gapp_p50_us>1", &near), -ENOENT);
	assert_string_equal(near, "load.gap_p50_us");
	free(near);
	assert_int_equal(report_limit_parse(&l, "loss.droped>1", &near), -ENOENT);
	assert_string_equal(near, "loss.dropped");
	free(near);
}

struct seen {
	u32 n, infos;
	bool info[128];
};

static void is_described(void *arg, const struct report_arm *a, const struct report_metric *m)
{
	struct report_metric_info info;
	struct seen *s = arg;
	u32 i;

	(void)a;
	s->n++;
	for (i = 0; i < report_metric_infos(); i++) {
		report_metric_info(i, &info);
		if (!strcmp(info.metric, m->metric))
			break;
	}
	assert_true(i < report_metric_infos());
	s->info[i] = true;
	assert_string_equal(info.unit, m->unit);
	assert_int_equal(info.is_dist, strcmp(m->stat, "value") != 0);
}

/* Names are unique, described, and say their unit; a capture shows nearly all of them. */
static void metrics_are_described(void **state)
{
	struct report_metric_info x, y;
	struct seen s = {};
	struct report_arm a;
	struct measure mx;
	struct model m;
	u32 i, k;

	(void)state;
	for (i = 0; i < report_metric_infos(); i++) {
		report_metric_info(i, &x);
		assert_true(*x.metric && *x.ops && *x.what);
		for (k = 0; k < i; k++) {
			report_metric_info(k, &y);
			assert_string_not_equal(x.metric, y.metric);
		}
	}
	serial(&m, &mx, &a);
	report_metrics(&a, 1, is_described, &s);
	for (i = k = 0; i < report_metric_infos(); i++)
		k += s.info[i];
	assert_true(k > report_metric_infos() - 15);
	done(&m, &mx);
}

static void csv_is_tidy(void **state)
{
	struct report_arm a;
	struct measure x;
	struct buf b = {};
	struct model m;
	const char *line;
	u32 lines = 0;

	(void)state;
	serial(&m, &x, &a);
	report_csv(&b, &a, 1);
	buf_byte(&b, '\0');
	assert_non_null(strstr(b.p, "\n\"it, \"\"quoted\"\"\",gap,load,p50,83000,159,ns\n"));
	assert_non_null(strstr(b.p, "\n\"it, \"\"quoted\"\"\",lat,read,max,16000,160,ns\n"));
	for (line = b.p; *line; line = strchr(line, '\n') + 1) {
		const char *tail = lines ? line + strlen("\"it, \"\"quoted\"\"\"") : line;
		u32 commas = 0;

		for (; *tail != '\n'; tail++)
			commas += *tail == ',';
		assert_int_equal(commas, 6);
		lines++;
	}
	assert_true(lines > 100);
	buf_free(&b);
	done(&m, &x);
}

/* Samples of one metric stand together below its TYPE line, which comes once. */
static void prometheus_text(void **state)
{
	struct report_arm a[2];
	struct measure x[2];
	struct buf b = {};
	struct model m[2];
	char *line, *save = NULL, type[128] = "";
	u32 samples = 0;

	(void)state;
	serial(&m[0], &x[0], &a[0]);
	serial(&m[1], &x[1], &a[1]);
	a[1].label = "back\\slash\nand line";
	report_prom(&b, a, 2);
	buf_byte(&b, '\0');
	assert_non_null(
		strstr(b.p, "kvio_gap_seconds{label=\"it, \\\"quoted\\\"\",op=\"load\",stat=\"p50\"} 8.3e-05\n"));
	assert_non_null(strstr(b.p, "kvio_gap_samples{label=\"back\\\\slash\\nand line\",op=\"load\"} 159\n"));
	assert_null(strstr(b.p, "} nan"));
	for (line = strtok_r(b.p, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (!strncmp(line, "# TYPE ", 7)) {
			snprintf(type, sizeof(type), "%.*s{", (int)strcspn(line + 7, " "), line + 7);
			continue;
		}
		if (*line == '#')
			continue;
		samples++;
		assert_true(!strncmp(line, type, strlen(type)));
	}
	assert_true(samples > 200);
	buf_free(&b);
	done(&m[0], &x[0]);
	done(&m[1], &x[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(thresholds),
		cmocka_unit_test(wrong_thresholds),
		cmocka_unit_test(metrics_are_described),
		cmocka_unit_test(csv_is_tidy),
		cmocka_unit_test(prometheus_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
