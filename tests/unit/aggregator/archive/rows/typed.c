/*
 * typed - tests of aggregator/archive/rows/typed.h against what ClickHouse
 * computed.
 *
 * The number is the answer of clickhouse-server 18.16.1 and of 26.7.2, which
 * agree, to "SELECT sum(EXPRESSION) FROM (SELECT ... FROM numbers(250000))",
 * with the expression of typed_hash_sql and the columns of the loop below.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include <inttypes.h>

#include "aggregator/archive/rows/record_columns.h"
#include "tests/unit/aggregator/archive/names_rig.h"
#include "tests/unit/aggregator/archive/trip.h"

enum { ROWS = 250000 };

static int
set_up(void **state)
{
	return names_rig_open(100);
}

static void
the_number_of_a_partition_is_its_siphash(void **state)
{
	/* SELECT sipHash64('abc') */
	assert_true(
	    typed_hash(text_of("abc")) == UINT64_C(4596069200710135518));
}

static void
sums_are_those_of_clickhouse(void **state)
{
	static const struct schema_table numbers = { .hashed = 8 };
	static const struct native_column columns[] = { { "part",
							    NATIVE_UINT64 },
		{ "hour", NATIVE_INT64 }, { "c", NATIVE_UINT64 },
		{ "d", NATIVE_UINT64 }, { "ts", NATIVE_INT64 },
		{ "f", NATIVE_UINT64 }, { "g", NATIVE_UINT64 },
		{ "h", NATIVE_UINT64 }, { "pos", NATIVE_UINT64 } };
	struct native_block *block = native_block_open(columns, 9);
	uint64_t sum = 0;

	for (uint64_t n = 0; n < ROWS; n++) {
		struct typed row = typed_begin(block, &numbers);

		typed_put_uint(&row, typed_hash(text_of("acct$pool")));
		typed_put_int(&row, -5 + (int64_t)(n % 3));
		typed_put_uint(&row, n % 60);
		typed_put_uint(&row, n * 7 % 4294967291);
		typed_put_int(
		    &row, INT64_C(1508000000000000000) + (int64_t)n * 1000003);
		typed_put_uint(&row, n % 11);
		typed_put_uint(&row, n * n);
		typed_put_uint(&row, n % 1000);
		typed_put_uint(&row, n); /* is not of the identity */
		sum += row.hash;
	}
	native_block_close(&block);
	assert_true(sum == UINT64_C(17643807983951620186));
}

static void
the_expression_is_the_same(void **state)
{
	static const struct schema_table table = { .hashed = 2,
		.column = { { "part", "UInt64", "" }, { "node", "String", "" },
		    { "pos", "UInt64", "" } } };
	char *sql = typed_hash_sql(&table);

	assert_string_equal(sql,
	    "intHash64(bitXor(intHash64(bitXor(toUInt64(0),toUInt64(part))),"
	    "sipHash64(node)))");
	free(sql);
}

/* Of a span that ends 64 ns later. */
static uint64_t
hash_of(const struct archive_row_id *id, struct row_block_item item)
{
	static struct trip trip;
	uint64_t hash;

	item.body = (struct text){ "\x80\x01\x02\x00\x00\x01\x03\xff", 8 };
	trip_open(&trip, RECORD_SPAN);
	assert_true(archive_put_record(
	    trip.block, RECORD_SPAN, id, &item, &names, &hash));
	trip_close(&trip);
	return hash;
}

static void
each_column_of_the_identity_counts(void **state)
{
	struct archive_row_id id = { .part = 1, .node = 1, .track = 1 }, other;
	struct row_block_item item = { .stream = 1 }, another;
	uint64_t hash;

	for (uint32_t i = 0; i < 2; i++) {
		char name[18] = { 1, [1] = (char)('a' + i) };

		assert_int_equal(dictionary_number(dictionary, txn, PARTITION,
				     (struct text){ name, 17 }),
		    i + 1);
	}
	hash = hash_of(&id, item);
	for (int column = 0; column < 10; column++) {
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
		default: another.receive_ns++; break;
		}
		assert_int_equal(hash_of(&other, another) == hash, column >= 8);
	}
}

#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, set_up, names_rig_close)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_number_of_a_partition_is_its_siphash),
		cmocka_unit_test(sums_are_those_of_clickhouse),
		cmocka_unit_test(the_expression_is_the_same),
		TEST(each_column_of_the_identity_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
