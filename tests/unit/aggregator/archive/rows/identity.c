/*
 * identity - tests of aggregator/archive/rows/identity.h against what
 * ClickHouse computed.
 *
 * The numbers are answers of clickhouse-server 18.16.1 and of 26.7.2, which
 * agree, to "SELECT sum(EXPRESSION) FROM (SELECT ... FROM numbers(250000))",
 * with the expression of archive_identity_sql and archive_change_sql and the
 * columns of the loops below.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include <inttypes.h>

#include "aggregator/archive/rows/identity.h"

enum { ROWS = 250000 };

static void
the_number_of_a_partition_is_its_siphash(void **state)
{
	(void)state;
	/* SELECT sipHash64('abc') */
	assert_true(
	    archive_part(text_of("abc")) == UINT64_C(4596069200710135518));
}

static void
sums_over_records_are_those_of_clickhouse(void **state)
{
	struct archive_row_id id = { .part =
					 archive_part(text_of("acct$pool")) };
	uint64_t sum = 0;

	(void)state;
	for (uint64_t n = 0; n < ROWS; n++) {
		struct row_block_item item = {
			.time_ns =
			    INT64_C(1508000000000000000) + (int64_t)n * 1000003,
			.stream = (uint32_t)(n % 11),
			.seq = n * n,
			.index = (uint32_t)(n % 1000),
		};

		id.hour = -5 + (int32_t)(n % 3);
		id.node = (uint32_t)(n % 60);
		id.track = (uint32_t)(n * 7 % 4294967291);
		sum += archive_identity_hash(&id, &item);
	}
	assert_true(sum == UINT64_C(17643807983951620186));
}

static void
sums_over_changes_are_those_of_clickhouse(void **state)
{
	struct archive_change change = { .part = archive_part(
					     text_of("acct$pool")) };
	char key[24], value[32];
	uint64_t sum = 0;

	(void)state;
	for (uint64_t n = 0; n < ROWS; n++) {
		snprintf(key, sizeof(key), "%" PRIu64, n);
		snprintf(value, sizeof(value), "value %" PRIu64, n);
		change.tbl = (uint8_t)(n % 5);
		change.k = text_of(key);
		change.v = text_of(n == 0 ? "" : value);
		change.pos = (UINT64_C(1) << 48) + n;
		change.del = n % 2 == 1;
		sum += archive_change_hash(&change);
	}
	assert_true(sum == UINT64_C(16438114885301004868));
}

static void
each_column_of_the_identity_counts(void **state)
{
	struct archive_row_id id = { .part = 1 }, other;
	struct row_block_item item = { .body = { "x", 1 } }, another;
	uint64_t hash = archive_identity_hash(&id, &item);

	(void)state;
	for (int column = 0; column < 11; column++) {
		other = id;
		another = item;
		switch (column) {
		case 0: other.part++; break;
		case 1: other.hour--; break;
		case 2: other.node++; break;
		case 3: other.track++; break;
		case 4: another.time_ns--; break;
		case 5: another.stream++; break;
		case 6: another.seq++; break;
		case 7: another.index++; break;
		case 8: other.pos++; break;
		case 9: another.receive_ns++; break;
		default: another.body.bytes = 0; break;
		}
		assert_int_equal(
		    archive_identity_hash(&other, &another) == hash,
		    column >= 8);
	}
}

static void
kinds_without_a_table_have_no_expression(void **state)
{
	(void)state;
	for (int kind = 0; kind < RECORD_KINDS; kind++)
		assert_int_equal(archive_identity_sql(kind) == NULL,
		    archive_table(kind) == NULL);
	assert_non_null(archive_identity_sql(RECORD_GAP));
	assert_null(archive_identity_sql(RECORD_ENTITY));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_number_of_a_partition_is_its_siphash),
		cmocka_unit_test(sums_over_records_are_those_of_clickhouse),
		cmocka_unit_test(sums_over_changes_are_those_of_clickhouse),
		cmocka_unit_test(each_column_of_the_identity_counts),
		cmocka_unit_test(kinds_without_a_table_have_no_expression),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
