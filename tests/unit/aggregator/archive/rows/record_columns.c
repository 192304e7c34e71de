/*
 * record_columns - tests of aggregator/archive/rows/record_columns.h: what SQL
 * sees of records whose bytes were written by hand.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/aggregator/archive/names_rig.h"
#include "tests/unit/aggregator/archive/trip.h"

#include "aggregator/db/damage.h"

static struct trip trip;

/* Names of the partition: 1 app, 2 start, 3 job, 4 size. */
static int
set_up(void **state)
{
	static const char *const given[] = { "app", "start", "job", "size" };

	if (names_rig_open(100) != 0)
		return -1;
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(dictionary_number(dictionary, txn, PARTITION,
				     text_of(given[i])),
		    i + 1);
	return 0;
}

static int
tear_down(void **state)
{
	trip_close(&trip);
	return names_rig_close(state);
}

static const struct archive_row_id id = { UINT64_C(0xfedcba9876543210), -2, 3,
	4, (UINT64_C(1) << 48) + 9 };

static struct row_block_item
item_of(const void *bytes, size_t count)
{
	return (struct row_block_item){ .time_ns = -5000,
		.receive_ns = 6000,
		.seq = UINT64_MAX,
		.stream = 1,
		.index = 3,
		.body = { bytes, (uint32_t)count } };
}

/* Of a string constant, which may have NULs inside. */
#define ITEM(bytes) item_of(bytes, sizeof(bytes) - 1)

static struct archive_row
row_of(enum record_kind kind, struct row_block_item item)
{
	struct archive_row row;
	uint64_t hash;

	trip_open(&trip, kind);
	assert_true(
	    archive_put_record(trip.block, kind, &id, &item, &names, &hash));
	assert_int_equal(native_rows(trip.block), 1);
	trip_send(&trip);
	assert_true(trip_next(&trip, &row));
	return row;
}

static void
is(struct text text, const char *wanted)
{
	if (!text_equal(text, text_of(wanted)))
		fail_msg("'%.*s', not '%s'", (int)text.bytes, text.at, wanted);
}

static void
an_event_has_names_as_texts_and_attributes_as_arrays(void **state)
{
	struct archive_row row = row_of(RECORD_EVENT,
	    ITEM("\x01\x02" /* app, start */
		 "\x01"     /* a uuid */
		 "\0\1\2\3\4\5\6\7\x8\x9\xa\xb\xc\xd\xe\xff"
		 "\x08" /* attributes */
		 "\x03\xa2"
		 "42"               /* job: text */
		 "\x03\xd1\xff\x00" /* job again: -256 in 2 bytes */
		 "\x04\xcf\xff\xff\xff\xff\xff\xff\xff\xff"
		 "\x00\x05"
		 "other"
		 "\xc3"                       /* true */
		 "\x04\xc0"                   /* nil */
		 "\x04\xca\x3f\x00\x00\x00"   /* float32 0.5 */
		 "\x04\xcb\x80\0\0\0\0\0\0\0" /* -0.0 */
		 "\x04\xa0"));                /* empty text */
	static const char *const keys[] = { "job", "job", "size", "other",
		"size", "size", "size", "size" };
	static const char *const texts[] = { "42", "-256",
		"18446744073709551615", "true", "", "0.5", "-0.0", "" };

	assert_true(row.part == id.part && row.pos == id.pos);
	assert_int_equal(row.hour, -2);
	is(row.node, "job");
	assert_true(row.time_ns == -5000 && row.receive_ns == 6000);
	assert_true(row.seq == UINT64_MAX && row.session.bytes == 16);
	assert_int_equal(row.index, 3);
	is(row.source, "app");
	is(row.name, "start");
	assert_int_equal(row.key.bytes, 16);
	assert_memory_equal(
	    row.key.at, "\0\1\2\3\4\5\6\7\x8\x9\xa\xb\xc\xd\xe\xff", 16);
	is(row.types, "tiubnfft");
	assert_int_equal(row.key_count, 8);
	assert_int_equal(row.text_count, 8);
	for (int i = 0; i < 8; i++) {
		is(row.keys[i], keys[i]);
		is(row.texts[i], texts[i]);
	}
}

static void
an_event_may_have_neither_uuid_nor_attributes(void **state)
{
	struct archive_row row =
	    row_of(RECORD_EVENT, ITEM("\x00\x01x\x02\x00\x00"));

	is(row.source, "x"); /* a name beyond the limit */
	is(row.key, "");
	is(row.types, "");
	assert_int_equal(row.key_count + row.text_count, 0);
}

static void
a_sample_has_numbers_and_exact_ones_next_to_them(void **state)
{
	struct archive_row row = row_of(RECORD_SAMPLE,
	    ITEM("\x08"
		 "\x05\xe0\xc0"                            /* 5, -32, nil */
		 "\xcb\x7f\xf8\0\0\0\0\0\x05"              /* a NaN */
		 "\xcf\x00\x20\0\0\0\0\0\x01"              /* 2^53 + 1 */
		 "\xcf\x80\0\0\0\0\0\0\0"                  /* 2^63 */
		 "\xd3\x80\0\0\0\0\0\0\0"                  /* -2^63 */
		 "\xd3\xff\xdf\xff\xff\xff\xff\xff\xff")); /* -2^53 - 1 */
	uint64_t bits;

	is(row.types, "iinfluil");
	assert_int_equal(row.number_count, 8);
	assert_true(row.numbers[0] == 5 && row.numbers[1] == -32);
	assert_true(isnan(row.numbers[2]));
	memcpy(&bits, &row.numbers[3], sizeof(bits));
	assert_true(bits == UINT64_C(0x7ff8000000000005));
	assert_true(row.numbers[4] == 0x1p53 && row.numbers[5] == 0x1p63);
	assert_true(row.numbers[6] == -0x1p63 && row.numbers[7] == -0x1p53);
	assert_int_equal(row.big_count, 3);
	assert_true(row.big[0] == (UINT64_C(1) << 53) + 1);
	assert_true(row.big[1] == UINT64_C(1) << 63);
	assert_true(row.big[2] == 0 - (UINT64_C(1) << 53) - 1);
}

static void
a_span_has_its_end_and_may_have_no_category(void **state)
{
	/* The end is 64 ns later: zigzag 128. */
	struct archive_row row =
	    row_of(RECORD_SPAN, ITEM("\x80\x01\x02\x00\x00\x01\x03\xff"));

	assert_true(row.end_ns == -5000 + 64);
	is(row.node, "job");
	is(row.track, "size");
	is(row.name, "start");
	is(row.key, "");
	is(row.types, "i");
	is(row.keys[0], "job");
	is(row.texts[0], "-1");
}

static void
a_gap_and_a_rejected_batch_have_their_columns(void **state)
{
	struct archive_row row =
	    row_of(RECORD_GAP, ITEM("\x01\x01\x02\xff\xff\xff\xff\x0f"));

	assert_true(row.end_ns == -5001);
	is(row.source, "app");
	is(row.name, "start");
	assert_true(row.count == UINT32_MAX);
	trip_close(&trip);
	row = row_of(RECORD_REJECTED, ITEM("\x02\x0a\x03\0\xff\n\x02"
					   "ab"));
	is(row.name, "start");
	assert_true(row.count == 10);
	assert_int_equal(row.body.bytes, 3);
	assert_memory_equal(row.body.at, "\0\xff\n", 3);
	is(row.key, "ab");
	trip_close(&trip);
	/* An older row has no hash. */
	row = row_of(RECORD_REJECTED, ITEM("\x02\x0a\x00"));
	is(row.body, "");
	is(row.key, "");
}

static void
a_lost_name_is_what_commands_print(void **state)
{
	struct archive_row row =
	    row_of(RECORD_EVENT, ITEM("\x63\x02\x00\x01\x62\x01"));

	is(row.source, "");
	is(row.keys[0], "?98");
	assert_int_equal(db_damage_met(txn)->ids, 2);
}

static void
refuse(enum record_kind kind, struct row_block_item item)
{
	size_t empty = native_bytes(trip.block);
	uint64_t hash;

	if (archive_put_record(trip.block, kind, &id, &item, &names, &hash))
		fail_msg("%u bytes of kind %d were taken", item.body.bytes,
		    (int)kind);
	/* native_encode would end the process if a column had a row more. */
	assert_int_equal(native_rows(trip.block), 0);
	assert_int_equal(native_bytes(trip.block), empty);
}

static void
a_malformed_body_appends_nothing(void **state)
{
	static const char event[] = "\x01\x02\x00\x02\x03\xa1y\x04\xcd\x01\x01";
	static const char sample[] = "\x03\x05\xcd\x01\x01\xca\0\0\0\0";
	static const char span[] = "\x80\x01\x02\x00\x01z\x01\x03\xa1y";
	static const char gap[] = "\x01\x01\x02\x80\x01";
	static const struct {
		enum record_kind kind;
		const char *bytes;
		uint32_t count;
	} whole[] = {
		{ RECORD_EVENT, event, sizeof(event) - 1 },
		{ RECORD_SAMPLE, sample, sizeof(sample) - 1 },
		{ RECORD_SPAN, span, sizeof(span) - 1 },
		{ RECORD_GAP, gap, sizeof(gap) - 1 },
	};

	for (int i = 0; i < 4; i++) {
		char longer[64] = { 0 };

		trip_open(&trip, whole[i].kind);
		for (uint32_t cut = 0; cut < whole[i].count; cut++) {
			/* Memory that ends there, for AddressSanitizer. */
			char *part = malloc(cut + 1);

			assert_non_null(part);
			memcpy(part + 1, whole[i].bytes, cut);
			refuse(whole[i].kind, item_of(part + 1, cut));
			free(part);
		}
		memcpy(longer, whole[i].bytes, whole[i].count);
		refuse(whole[i].kind, item_of(longer, whole[i].count + 1));
		trip_close(&trip);
		row_of(whole[i].kind, item_of(whole[i].bytes, whole[i].count));
		trip_close(&trip);
	}
}

static void
values_of_other_types_are_refused(void **state)
{
	trip_open(&trip, RECORD_SAMPLE);
	refuse(RECORD_SAMPLE, ITEM("\x01\xc3"));     /* a boolean */
	refuse(RECORD_SAMPLE, ITEM("\x01\xa1x"));    /* a text */
	refuse(RECORD_SAMPLE, ITEM("\x01\x90"));     /* an array */
	refuse(RECORD_SAMPLE, ITEM("\x81\x20\x00")); /* 4097 values */
	trip_close(&trip);
	trip_open(&trip, RECORD_EVENT);
	refuse(RECORD_EVENT, ITEM("\x01\x02\x00\x01\x03\xc4\x00")); /* bin */
	refuse(RECORD_EVENT, ITEM("\x01\x02\x00\x01\x03\x80"));     /* map */
	refuse(RECORD_EVENT, ITEM("\x01\x02\x00\x41"));
	refuse(RECORD_EVENT, ITEM("\x01\x02\x02\x00")); /* other flags */
	refuse(RECORD_ENTITY, ITEM("\x00"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_event_has_names_as_texts_and_attributes_as_arrays),
		TEST(an_event_may_have_neither_uuid_nor_attributes),
		TEST(a_sample_has_numbers_and_exact_ones_next_to_them),
		TEST(a_span_has_its_end_and_may_have_no_category),
		TEST(a_gap_and_a_rejected_batch_have_their_columns),
		TEST(a_lost_name_is_what_commands_print),
		TEST(a_malformed_body_appends_nothing),
		TEST(values_of_other_types_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
