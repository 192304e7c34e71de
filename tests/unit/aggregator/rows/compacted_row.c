/*
 * compacted_row - tests of aggregator/rows/compacted_row.h: compacted records
 * come back byte for byte.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include "aggregator/rows/compacted_row.h"
#include "proto/msgpack/mp.h"
#include "proto/msgpack/mp_put.h"

enum { ITEMS = 3000, ROUNDS = 120, BODY_BYTES = 4096 };

static uint64_t seed;
static struct compacted_row_writer *writer;
static struct compacted_row_rows rows;
static struct compacted_row_item items[ITEMS];
static unsigned char arena[ITEMS * BODY_BYTES];

static int
open_both(void **state)
{
	writer = compacted_row_writer_new();
	return 0;
}

static int
close_both(void **state)
{
	compacted_row_writer_free(&writer);
	compacted_row_rows_clear(&rows);
	assert_null(writer);
	return 0;
}

static uint64_t
below(uint64_t limit)
{
	return check_random(&seed) % limit;
}

/* ---- bodies as the indexer writes them, and others ---- */

static unsigned char *
put_name_of(unsigned char *to, uint32_t number)
{
	to = varint_encode(to, number);
	if (number == 0) {
		uint32_t bytes = 1 + (uint32_t)below(9);

		to = varint_encode(to, bytes);
		memset(to, 'a' + (int)below(3), bytes);
		to += bytes;
	}
	return to;
}

/* A scalar in its shortest form, or in another valid one. */
static unsigned char *
put_scalar(unsigned char *to, unsigned kind)
{
	char text[40];
	uint64_t bits;
	int n;

	switch (kind) {
	case 0: mp_put_nil(&to); break;
	case 1: mp_put_bool(&to, below(2) != 0); break;
	case 2:
		mp_put_int64(&to, (int64_t)check_random(&seed) >> below(64));
		break;
	case 3: mp_put_uint64(&to, check_random(&seed) >> below(64)); break;
	case 4:
		*to++ = MP_FLOAT64;
		bits = check_random(&seed);
		memcpy(to, &bits, sizeof(bits));
		to += sizeof(bits);
		break;
	case 5: mp_put_double(&to, (double)below(1000) / 8); break;
	case 6:
		n = snprintf(text, sizeof(text), "img=x:%u,diff=%u.%u",
		    (unsigned)below(3), (unsigned)below(99),
		    (unsigned)below(999999));
		mp_put_str(&to, (size_t)n);
		mp_put_str_body(&to, text, (size_t)n);
		break;
	case 7: mp_put_float(&to, (float)below(1 << 30)); break;
	case 8: mp_put_fix_uint32(&to, (uint32_t)below(300)); break;
	case 9: mp_put_fix_int64(&to, (int64_t)below(300)); break;
	case 10:
		mp_put_str_body(&to,
		    "\xd9\x03"
		    "abc",
		    5);
		break;
	default:
		n = (int)below(300);
		mp_put_str(&to, (size_t)n);
		memset(to, (int)below(256), (size_t)n);
		to += n;
	}
	return to;
}

/* The kinds of values of an attribute or metric. */
static unsigned
scalar_kind(unsigned variants, uint32_t which)
{
	return variants == 0 ? 2 + which % 5 : (unsigned)below(12);
}

static unsigned char *
put_attributes_of(unsigned char *to, unsigned variants)
{
	uint32_t count = (uint32_t)below(4), first = 1 + (uint32_t)below(2);

	to = varint_encode(to, count);
	for (uint32_t i = 0; i < count; i++) {
		to = put_name_of(to, below(20) ? first + i : 0);
		to = put_scalar(to, scalar_kind(variants, first + i));
	}
	return to;
}

static uint32_t
name_of(unsigned variants)
{
	if (variants == 0)
		return 1 + (uint32_t)below(4);
	return below(3) ? (uint32_t)below(100000) : 0;
}

static unsigned char *
put_body(unsigned char *to, enum record_kind kind, unsigned variants,
    uint32_t values)
{
	switch (kind) {
	case RECORD_EVENT:
		to = put_name_of(to, name_of(variants));
		to = put_name_of(to, name_of(variants));
		*to = below(2) ? 1 : 0;
		if (*to++ == 1)
			for (int i = 0; i < 16; i++)
				*to++ = (unsigned char)below(256);
		return put_attributes_of(to, variants);
	case RECORD_SAMPLE:
		to = varint_encode(to, values);
		for (uint32_t i = 0; i < values; i++)
			to = put_scalar(to,
			    variants == 0 ? 2 + i % 4 : (unsigned)below(12));
		return to;
	case RECORD_SPAN:
	case RECORD_GAP:
		to = varint_encode(to,
		    varint_zigzag((int64_t)check_random(&seed) >> below(64)));
		to = put_name_of(to, name_of(variants));
		to = put_name_of(to, name_of(variants));
		if (kind == RECORD_GAP)
			return varint_encode(
			    to, check_random(&seed) >> below(64));
		return put_attributes_of(to, variants);
	default:
		to = put_name_of(to, name_of(variants));
		to = varint_encode(to, below(1000));
		to = varint_encode(to, 4);
		memcpy(to, "body", 4);
		return to + 4;
	}
}

static unsigned char *
put_noise(unsigned char *to)
{
	uint32_t bytes = (uint32_t)below(30);

	for (uint32_t i = 0; i < bytes; i++)
		*to++ = (unsigned char)below(256);
	return to;
}

/* ---- records in order ---- */

static void
make_id(struct row_block_item *record, uint32_t i, unsigned kind)
{
	switch (kind) {
	case 0: /* a batch from time to time, each with its receive time */
		record->stream = 7;
		record->seq = 1000 + i / 50;
		record->index = i % 50;
		record->receive_ns = 12345 + (int64_t)record->seq * 1000003;
		break;
	case 1: /* batches of many nodes, in time order */
		record->stream = 9;
		record->seq = (uint64_t)record->time_ns / 1000000000;
		record->index = (uint32_t)(record->time_ns % 1000000000 / 1000);
		record->receive_ns = (int64_t)(record->seq * 1000000007u);
		break;
	default: /* anything */
		record->stream = (uint32_t)check_random(&seed);
		record->seq = check_random(&seed) >> below(64);
		record->index = (uint32_t)check_random(&seed);
		record->receive_ns = (int64_t)check_random(&seed);
	}
}

static enum record_kind kind_of_items;

static int
compare_items(const void *a, const void *b)
{
	return compacted_row_compare(kind_of_items, a, b);
}

static uint32_t
make_items(enum record_kind kind, uint32_t count, unsigned variants)
{
	uint32_t nodes = 1 + (uint32_t)below(1 + count / 8), i, kept;
	uint32_t values = 1 + (uint32_t)below(20);
	unsigned ids = (unsigned)below(3);
	unsigned char *to = arena;

	for (i = 0; i < count; i++) {
		struct compacted_row_item *item = &items[i];

		*item =
		    (struct compacted_row_item){ .node = (uint32_t)below(nodes),
			    .track = (uint32_t)below(2) };
		item->record.time_ns =
		    variants < 2 ? (int64_t)below(UINT64_C(3600000000000))
				 : (int64_t)check_random(&seed);
		make_id(&item->record, i, ids);
		item->record.body.at = (const char *)to;
		to =
		    variants == 2 && below(3) == 0
			? put_noise(to)
			: put_body(to, kind, variants,
			      below(30) || variants == 0 ? values
							 : (uint32_t)below(40));
		item->record.body.bytes =
		    (uint32_t)(to -
			       (const unsigned char *)item->record.body.at);
	}
	kind_of_items = kind;
	qsort(items, count, sizeof(items[0]), compare_items);
	for (i = kept = 1; i < count; i++)
		if (compare_items(&items[kept - 1], &items[i]) != 0)
			items[kept++] = items[i];
	return kept;
}

static void
expect_back(struct text value, uint32_t count)
{
	struct row_block_item item;
	uint32_t i = 0;

	assert_true(compacted_row_open(&rows, value));
	assert_int_equal(rows.count, count);
	assert_int_equal(row_block_count(value), count);
	assert_int_equal(rows.header.node, items[0].node);
	assert_int_equal(rows.header.track, items[0].track);
	assert_true(rows.header.first_ns == items[0].record.time_ns);
	assert_true(compacted_row_read_bodies(&rows));
	for (uint32_t b = 0; b < rows.series_blocks; b++) {
		const struct compacted_row_series_block *series_block =
		    &rows.series_block[b];

		assert_int_equal(series_block->from, i);
		for (; i < series_block->to; i++) {
			const struct row_block_item *in = &items[i].record;

			assert_int_equal(items[i].node, series_block->node);
			assert_int_equal(items[i].track, series_block->track);
			compacted_row_get(&rows, i, &item);
			assert_true(item.time_ns >= rows.header.least_ns &&
				    item.time_ns <= rows.header.most_ns);
			assert_int_equal(row_block_compare(in, &item), 0);
			assert_true(in->receive_ns == item.receive_ns);
			assert_true(text_equal(in->body, item.body));
		}
	}
	assert_int_equal(i, count);
}

static void
records_come_back_byte_for_byte(void **state)
{
	static const enum record_kind kinds[] = { RECORD_EVENT, RECORD_SAMPLE,
		RECORD_SPAN, RECORD_GAP, RECORD_REJECTED };

	for (unsigned round = 0; round < ROUNDS; round++) {
		enum record_kind kind = kinds[below(5)];
		uint32_t count = 1 + (uint32_t)below(round % 3 ? 40 : ITEMS);

		count = make_items(kind, count, (unsigned)below(3));
		expect_back(
		    compacted_row_write(writer, kind, items, count), count);
	}
}

static void
events_of_one_template_take_little_space(void **state)
{
	uint32_t count = make_items(RECORD_EVENT, ITEMS, 0), i;
	struct text value;

	for (i = 0; i < count; i++) {
		static const unsigned char body[] = { 1, 2, 0, 1, 5, 0xa5, 'h',
			'e', 'l', 'l', 'o' };

		items[i].node = 1;
		items[i].track = 0;
		items[i].record.time_ns = (int64_t)i * 1000000000;
		items[i].record.body =
		    (struct text){ (const char *)body, sizeof(body) };
		make_id(&items[i].record, i, 0);
	}
	value = compacted_row_write(writer, RECORD_EVENT, items, count);
	assert_true(value.bytes < 400);
	expect_back(value, count);
}

static void
a_column_of_samples_can_be_read_alone(void **state)
{
	static struct value column[ITEMS];
	uint32_t count, i;

	count = make_items(RECORD_SAMPLE, ITEMS, 0);
	expect_back(
	    compacted_row_write(writer, RECORD_SAMPLE, items, count), count);
	assert_true(compacted_row_read_value(&rows, 0, column, count));
	for (i = 0; i < count; i++) {
		struct text rest = items[i].record.body;
		struct value value;

		rest.at++; /* how many there are */
		rest.bytes--;
		assert_true(record_next_value(&rest, &value));
		assert_int_equal(column[i].type, value.type);
		assert_true(column[i].is.i == value.is.i);
	}
	assert_false(compacted_row_read_value(&rows, 40, column, count));
	assert_false(compacted_row_read_value(&rows, 0, column, count - 1));
}

/* A modified compacted row is refused or decodes to other rows; it never
 * causes harm. */
static void
damage_is_detected(void **state)
{
	static unsigned char copy[1 << 20];
	unsigned understood = 0;

	for (unsigned round = 0; round < 60; round++) {
		enum record_kind kind = below(2) ? RECORD_EVENT : RECORD_SAMPLE;
		uint32_t count = make_items(
		    kind, 1 + (uint32_t)below(200), (unsigned)below(3));
		struct text value =
		    compacted_row_write(writer, kind, items, count);
		struct row_block_item item;

		assert_true(value.bytes < sizeof(copy));
		for (unsigned hit = 0; hit < 40; hit++) {
			uint32_t bytes = value.bytes;

			memcpy(copy, value.at, bytes);
			if (below(4) == 0)
				bytes = (uint32_t)below(bytes);
			else
				copy[below(bytes)] ^=
				    (unsigned char)(1 << below(8));
			if (!compacted_row_open(
				&rows, (struct text){ (char *)copy, bytes }) ||
			    !compacted_row_read_bodies(&rows)) {
				assert_false(compacted_row_read_bodies(&rows));
				continue;
			}
			understood++;
			for (uint32_t i = 0; i < rows.count; i++)
				compacted_row_get(&rows, i, &item);
		}
	}
	print_message("%u of 2400 were understood\n", understood);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_come_back_byte_for_byte),
		cmocka_unit_test(events_of_one_template_take_little_space),
		cmocka_unit_test(a_column_of_samples_can_be_read_alone),
		cmocka_unit_test(damage_is_detected),
	};

	seed = check_seed();
	return cmocka_run_group_tests(tests, open_both, close_both);
}
