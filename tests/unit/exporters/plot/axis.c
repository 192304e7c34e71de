/*
 * axis - labels of tics: no two are equal, and each is where it says.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/plot/axis.h"

#include <math.h>

#include "tests/unit/check.h"

static char said[8192];

static const char *
range_of(double low, double high, bool bytes)
{
	FILE *file;

	memset(said, 0, sizeof(said));
	file = fmemopen(said, sizeof(said), "w");
	gnuplot_put_range(file, "y", low, high, bytes);
	fclose(file);
	return said;
}

static void
bytes_are_multiples_of_1024_in_one_unit(void **state)
{
	/* 2 GiB and 5 % above it: a tic each 512 MiB, four of them below. */
	assert_string_equal(range_of(5, 2147483648.0, true),
	    "set yrange [0:2.25485783e+09]\n"
	    "set ytics (\"0 GiB\" 0, \"0.5 GiB\" 536870912, "
	    "\"1 GiB\" 1073741824, \"1.5 GiB\" 1610612736, "
	    "\"2 GiB\" 2147483648)\n");
	assert_string_equal(range_of(0, 0, true),
	    "set yrange [0:4]\n"
	    "set ytics (\"0 B\" 0, \"1 B\" 1, \"2 B\" 2, \"3 B\" 3, "
	    "\"4 B\" 4)\n");
	assert_string_equal(range_of(1, 1000, true),
	    "set yrange [0:1050]\n"
	    "set ytics (\"0 KiB\" 0, \"0.25 KiB\" 256, \"0.5 KiB\" 512, "
	    "\"0.75 KiB\" 768, \"1 KiB\" 1024)\n");
}

static void
numbers_have_as_many_digits_as_tell_them_apart(void **state)
{
	FILE *file;

	assert_string_equal(range_of(0, 100, false),
	    "set yrange [0:105]\n"
	    "set ytics (\"0\" 0, \"20\" 20, \"40\" 40, \"60\" 60, "
	    "\"80\" 80, \"100\" 100)\n");
	memset(said, 0, sizeof(said));
	file = fmemopen(said, sizeof(said), "w");
	gnuplot_put_tics(file, "y", 1234567.1, 1234567.5, false);
	fclose(file);
	assert_non_null(strstr(said, "(\"1234567.1\" "));
	assert_non_null(strstr(said, "\"1234567.5\" "));
	assert_string_equal(range_of(NAN, NAN, false), "set yrange [*:*]\n");
	assert_string_equal(
	    range_of(0, (double)INFINITY, true), "set yrange [*:*]\n");
}

/* Of any range: labels differ, and say the value that they stand at, to the
 * distance of two tics. */
static void
no_two_labels_are_equal(void **state)
{
	static const char *const units[] = { "", " B", " KiB", " MiB", " GiB",
		" TiB", " PiB", " EiB" };
	uint64_t seed = check_seed();

	for (int round = 0; round < 20000; round++) {
		bool bytes = check_random(&seed) % 2 != 0;
		double a = ldexp((double)(int64_t)check_random(&seed),
		    -(int)(check_random(&seed) % 90));
		double b =
		    a + fabs(a) * ldexp(1, -(int)(check_random(&seed) % 30));
		double span = a < 0 ? b - a : b;
		/* The axis has room around what hardly differs. */
		double size = fmax(fabs(a), fabs(b));
		double shown = span <= 2e-5 * size ? 0.1 * size : span;
		char labels[32][40];
		int count = 0;

		for (const char *p = strstr(range_of(a, b, bytes), "tics (");
		     p != NULL && (p = strchr(p, '"')) != NULL; count++) {
			size_t length = strcspn(++p, "\"");
			double at, value;
			char *unit;

			assert_true(count < 20 && length < 40);
			memcpy(labels[count], p, length);
			labels[count][length] = '\0';
			p += length + 1;
			at = strtod(p, NULL);
			value = strtod(labels[count], &unit);
			for (unsigned i = 1; i < 8; i++)
				if (strcmp(unit, units[i]) == 0)
					value *= pow(1024, i - 1);
			assert_true(fabs(value - at) <= 0.1 * shown + 1e-300);
			for (int i = 0; i < count; i++)
				assert_string_not_equal(
				    labels[i], labels[count]);
		}
		assert_true(count >= 2 || span == 0);
	}
}

/* A quarter of an hour, a day, a year: round times, not more than asked. */
static void
times_are_round(void **state)
{
	static const struct {
		double from, to;
		const char *said;
	} cases[] = {
		{ 1700000000, 1700000900,
		    "set xtics time format \"%H:%M\"\n"
		    "set xtics 1700000040, 120\n"
		    "set xlabel \"UTC, from 2023-11-14\"\n" },
		{ 1700000000, 1700000003,
		    "set xtics time format \"%H:%M:%S\"\n"
		    "set xtics 1700000000, 1\n"
		    "set xlabel \"UTC, from 2023-11-14 22:13:20\"\n" },
		{ 1700000000, 1700000000 + 4 * 86400,
		    "set xtics time format \"%d. %H:%M\"\n"
		    "set xtics 1700006400, 43200\n"
		    "set xlabel \"UTC, from 2023-11-14\"\n" },
		{ 1700000000, 1700000000 + 300 * 86400,
		    "set xtics time format \"%Y-%m-%d\"\n"
		    "set xtics 1702080000, 4320000\n"
		    "set xlabel \"UTC, from 2023-11-14\"\n" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		FILE *file;

		memset(said, 0, sizeof(said));
		file = fmemopen(said, sizeof(said), "w");
		gnuplot_put_time_axis(file, cases[i].from, cases[i].to, 10);
		fclose(file);
		assert_string_equal(strchr(said, '\n') + 1, cases[i].said);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_multiples_of_1024_in_one_unit),
		cmocka_unit_test(
		    numbers_have_as_many_digits_as_tell_them_apart),
		cmocka_unit_test(no_two_labels_are_equal),
		cmocka_unit_test(times_are_round),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
