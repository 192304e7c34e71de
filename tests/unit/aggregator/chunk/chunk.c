/*
 * chunk - tests of aggregator/chunk/chunk.h: reading returns what was written,
 * to the last bit, and anything else is an error.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/chunk/chunk.h"

#include <math.h>

#include "aggregator/chunk/chunk_private.h"
#include "tests/unit/check.h"

enum { ROWS = 4000, ROUNDS = 300, ROUNDS_LEAST = 60, VALUES = 10000000 };

static unsigned rounds; /* of columns: the first 40 are short ones */
static uint64_t seed;
static struct chunk_writer *writer;
static struct chunk_reader *reader;

static int
open_both(void **state)
{
	writer = chunk_writer_new();
	reader = chunk_reader_new();
	return 0;
}

static int
close_both(void **state)
{
	chunk_writer_free(&writer);
	chunk_reader_free(&reader);
	assert_null(writer);
	return 0;
}

static uint64_t
below(uint64_t limit)
{
	return check_random(&seed) % limit;
}

/* ---- integers ---- */

/* A column of one kind: times, counters, noise ... */
static void
make_ints(int64_t *to, uint32_t count, unsigned kind)
{
	uint64_t value = check_random(&seed) >> below(60);
	uint64_t step = below(1000000) << below(20);
	unsigned width = 1 + (unsigned)below(63);

	for (uint32_t i = 0; i < count; i++) {
		switch (kind % 10) {
		case 0: break; /* constant */
		case 1: value += step; break;
		case 2: value += step + below(300); break; /* jitter */
		case 3: value = check_random(&seed); break;
		case 4: value = below(101); break;
		case 5: value += below(8) ? 0 : 4096 * below(50); break;
		case 6: value -= below(UINT64_C(1) << width); break;
		case 7: /* the largest possible jumps */
			value = below(9)   ? value + 1
				: below(2) ? (uint64_t)INT64_MIN
					   : (uint64_t)INT64_MAX;
			break;
		case 8: value = below(50) ? 0 : check_random(&seed); break;
		case 9:
			value = (uint64_t)INT64_MIN +
				below(3) * UINT64_C(0x8000000000000000);
			break;
		}
		to[i] = (int64_t)value;
	}
}

static void
integers_come_back(void **state)
{
	static int64_t in[3][ROWS], out[ROWS];

	for (unsigned round = 0; round < rounds; round++) {
		uint32_t count = round < 40 ? round : (uint32_t)below(ROWS);
		struct text chunk;

		chunk_begin(writer);
		for (unsigned c = 0; c < 3; c++) {
			make_ints(in[c], count, (unsigned)below(10));
			chunk_put_int(writer, in[c], count);
		}
		chunk = chunk_end(writer);
		assert_int_equal(chunk_open(reader, chunk), CHUNK_OK);
		assert_int_equal(chunk_columns(reader), 3);
		for (unsigned c = 3; c-- > 0;) {
			assert_int_equal(chunk_type(reader, c), CHUNK_INT);
			assert_int_equal(chunk_count(reader, c), count);
			assert_int_equal(
			    chunk_get_int(reader, c, out), CHUNK_OK);
			assert_memory_equal(in[c], out, count * sizeof(*out));
		}
	}
}

static void
a_column_that_follows_another_costs_next_to_nothing(void **state)
{
	static int64_t in[ROWS], sum[ROWS], out[ROWS];
	size_t alone, both;

	for (uint32_t i = 0; i < ROWS; i++) {
		in[i] = (int64_t)below(UINT64_C(1) << 40);
		sum[i] = (INT64_C(1) << 40) - in[i];
	}
	chunk_begin(writer);
	chunk_put_int(writer, in, ROWS);
	alone = chunk_end(writer).bytes;
	chunk_begin(writer);
	chunk_put_int(writer, in, ROWS);
	chunk_put_int(writer, sum, ROWS);
	chunk_put_int(writer, in, ROWS);
	both = chunk_end(writer).bytes;
	assert_true(both < alone + 64);
	assert_int_equal(
	    chunk_open(reader, buffer_text(&writer->whole)), CHUNK_OK);
	assert_int_equal(chunk_get_int(reader, 1, out), CHUNK_OK);
	assert_memory_equal(sum, out, sizeof(out));
	assert_int_equal(chunk_get_int(reader, 2, out), CHUNK_OK);
	assert_memory_equal(in, out, sizeof(out));
}

/* ---- doubles ---- */

static double
any_bits(void)
{
	uint64_t bits = check_random(&seed);
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static double
special(void)
{
	static const uint64_t bits[] = { 0x8000000000000000, 0, 1,
		0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000,
		0x7ff8dead0000beef, 0xfff0000000000001, 0x7fefffffffffffff,
		0x000fffffffffffff, 0x4340000000000000, 0x4340000000000001 };
	double value;

	memcpy(
	    &value, &bits[below(sizeof(bits) / sizeof(*bits))], sizeof(value));
	return value;
}

static void
make_floats(double *to, uint32_t count, unsigned kind)
{
	double value = (double)below(1000000);
	double scale = pow(10, (double)below(16));

	for (uint32_t i = 0; i < count; i++) {
		switch (kind % 10) {
		case 0: value = any_bits(); break;
		case 1: value = (double)below(1000) / 10; break;
		case 2: /* a mean of decimals */
			value = ((double)below(1000) / 10 +
				    (double)below(1000) / 10) /
				2;
			break;
		case 3: value = (double)below(100000) / 2048; break;
		case 4: value = (double)below(1000000000) / scale; break;
		case 5: value += (double)below(1000); break;
		case 6:
			value = below(20) ? (double)below(100) : special();
			break;
		case 7: value = special(); break;
		case 8: value = sin((double)i / 100); break;
		case 9: value = -(double)below(1000) / 100; break;
		}
		to[i] = value;
	}
}

static void
doubles_come_back_to_the_last_bit(void **state)
{
	static double in[ROWS], out[ROWS];

	for (unsigned round = 0; round < rounds; round++) {
		uint32_t count = round < 40 ? round : (uint32_t)below(ROWS);

		make_floats(in, count, round);
		chunk_begin(writer);
		chunk_put_float(writer, in, count);
		assert_int_equal(
		    chunk_open(reader, chunk_end(writer)), CHUNK_OK);
		assert_int_equal(chunk_get_float(reader, 0, out), CHUNK_OK);
		assert_memory_equal(in, out, count * sizeof(*out));
	}
}

static void
millions_of_values_come_back(void **state)
{
	/* Ten million values; the shortest test: each kind once. */
	unsigned chunks = check_share(VALUES / (2 * CHUNK_ROWS_MAX), 10);
	static int64_t ints[CHUNK_ROWS_MAX], int_out[CHUNK_ROWS_MAX];
	static double floats[CHUNK_ROWS_MAX], float_out[CHUNK_ROWS_MAX];

	for (unsigned round = 0; round < chunks; round++) {
		make_ints(ints, CHUNK_ROWS_MAX, round);
		make_floats(floats, CHUNK_ROWS_MAX, round);
		chunk_begin(writer);
		chunk_put_int(writer, ints, CHUNK_ROWS_MAX);
		chunk_put_float(writer, floats, CHUNK_ROWS_MAX);
		assert_int_equal(
		    chunk_open(reader, chunk_end(writer)), CHUNK_OK);
		assert_int_equal(chunk_get_int(reader, 0, int_out), CHUNK_OK);
		assert_int_equal(
		    chunk_get_float(reader, 1, float_out), CHUNK_OK);
		assert_memory_equal(ints, int_out, sizeof(ints));
		assert_memory_equal(floats, float_out, sizeof(floats));
	}
}

/* ---- texts ---- */

/* Appends a text to `room`, returns it. */
static struct text
make_text(char *room, unsigned kind)
{
	int n = 0;

	switch (kind % 7) {
	case 0: n = sprintf(room, "word%d", (int)below(9)); break;
	case 1:
		n = sprintf(room, "diff=%d.%06d,size=%dMB", (int)below(100),
		    (int)below(1000000), (int)below(1000));
		break;
	case 2: /* any bytes */
		n = (int)below(30);
		for (int i = 0; i < n; i++)
			room[i] = (char)below(256);
		break;
	case 3: /* too many digits for a number */
		n = sprintf(room, "%llu%llu",
		    (unsigned long long)check_random(&seed),
		    (unsigned long long)check_random(&seed));
		break;
	case 4: n = sprintf(room, "%018d/%d", (int)below(99), 0); break;
	case 5: /* more fields than a template has */
		for (int i = 0; i < 20; i++)
			n += sprintf(room + n, "%d,", (int)below(99));
		break;
	case 6: n = sprintf(room, "a%sb", below(3) ? "" : "\x01"); break;
	}
	return (struct text){ room, (uint32_t)n };
}

static void
texts_come_back(void **state)
{
	static char room[ROWS][64];
	static struct text in[ROWS], out[ROWS];

	for (unsigned round = 0; round < rounds; round++) {
		uint32_t count = round < 40 ? round : (uint32_t)below(ROWS);

		for (uint32_t i = 0; i < count; i++)
			in[i] = make_text(room[i],
			    round % 8 == 7 ? (unsigned)below(7) : round);
		chunk_begin(writer);
		chunk_put_text(writer, in, count);
		chunk_put_text(writer, in, count);
		assert_int_equal(
		    chunk_open(reader, chunk_end(writer)), CHUNK_OK);
		for (unsigned column = 0; column < 2; column++) {
			assert_int_equal(
			    chunk_get_text(reader, column, out), CHUNK_OK);
			for (uint32_t i = 0; i < count; i++)
				assert_true(text_equal(in[i], out[i]));
		}
	}
}

/* ---- values ---- */

static struct value
make_value(char *room, unsigned kind)
{
	struct value value = { .type = (enum value_type)(kind % 6) };

	switch (value.type) {
	case VALUE_NIL: break;
	case VALUE_BOOL: value.is.boolean = below(2); break;
	case VALUE_INT: value.is.i = (int64_t)check_random(&seed); break;
	case VALUE_UINT: value.is.u = UINT64_MAX - below(99); break;
	case VALUE_FLOAT: make_floats(&value.is.f, 1, kind); break;
	case VALUE_TEXT: value.is.text = make_text(room, kind); break;
	}
	return value;
}

static bool
value_equal(const struct value *a, const struct value *b)
{
	if (a->type != b->type)
		return false;
	switch (a->type) {
	case VALUE_NIL: return true;
	case VALUE_BOOL: return a->is.boolean == b->is.boolean;
	case VALUE_INT:
	case VALUE_UINT: return a->is.u == b->is.u;
	case VALUE_FLOAT:
		return memcmp(&a->is.f, &b->is.f, sizeof(double)) == 0;
	case VALUE_TEXT: return text_equal(a->is.text, b->is.text);
	}
	return false;
}

enum { IDS = 900, COLUMNS = 9 };

static struct text
make_id(char room[64])
{
	int bytes = sprintf(room, "%016llx%08x",
	    (unsigned long long)check_random(&seed),
	    (unsigned)below(UINT32_MAX));

	return (struct text){ room, (uint32_t)bytes };
}

/* Put the ids of a column: those of an earlier one, or most of them in another
 * order and some that are new, or others. */
static void
put_ids(struct value *ids, const struct value *first, unsigned column,
    char room[IDS][64])
{
	struct text texts[IDS];

	for (unsigned i = 0; i < IDS; i++) {
		bool is_new = column == 0 || column == 4 ||
			      (column % 2 == 1 && below(20) == 0);
		unsigned from = column % 3 == 2 ? (unsigned)below(IDS) : i;

		ids[i] = (struct value){ .type = VALUE_TEXT };
		ids[i].is.text =
		    is_new ? make_id(room[i]) : first[from].is.text;
		texts[i] = ids[i].is.text;
	}
	if (column == COLUMNS - 1)
		ids[7] = (struct value){ .type = VALUE_INT, .is.i = 7 };
	if (column == 3)
		chunk_put_text(writer, texts, IDS);
	else
		chunk_put_value(writer, ids, IDS);
}

static void
texts_of_an_earlier_column_come_back(void **state)
{
	static char room[COLUMNS][IDS][64];
	static struct value in[COLUMNS][IDS], out[IDS];
	static struct text texts[IDS];

	for (unsigned round = 0; round < check_share(30, 5); round++) {
		chunk_begin(writer);
		for (unsigned column = 0; column < COLUMNS; column++)
			put_ids(in[column], in[column > 5 ? 4 : 0], column,
			    room[column]);
		assert_int_equal(
		    chunk_open(reader, chunk_end(writer)), CHUNK_OK);
		/* In any order of columns. */
		for (unsigned n = 0; n < 40; n++) {
			unsigned column = (unsigned)below(COLUMNS);

			if (column == 3) {
				assert_int_equal(
				    chunk_get_text(reader, column, texts),
				    CHUNK_OK);
				for (unsigned i = 0; i < IDS; i++)
					assert_true(text_equal(
					    texts[i], in[column][i].is.text));
				continue;
			}
			assert_int_equal(
			    chunk_get_value(reader, column, out), CHUNK_OK);
			for (unsigned i = 0; i < IDS; i++)
				assert_true(
				    value_equal(&in[column][i], &out[i]));
		}
	}
}

/* Ten columns with the ids of one: a few bytes more than one column. */
static void
texts_of_an_earlier_column_cost_next_to_nothing(void **state)
{
	static char room[IDS][64];
	static struct value ids[IDS];
	uint32_t bytes[2];

	for (unsigned i = 0; i < IDS; i++) {
		ids[i].type = VALUE_TEXT;
		ids[i].is.text = make_id(room[i]);
	}
	for (unsigned more = 0; more < 2; more++) {
		chunk_begin(writer);
		for (unsigned column = 0; column <= 9 * more; column++)
			chunk_put_value(writer, ids, IDS);
		bytes[more] = chunk_end(writer).bytes;
	}
	assert_in_range(bytes[0], 12 * IDS, 24 * IDS);
	assert_in_range(bytes[1], bytes[0], bytes[0] + 9 * 40);
}

static void
values_of_mixed_types_come_back(void **state)
{
	static char room[ROWS][64];
	static struct value in[ROWS], out[ROWS];

	for (unsigned round = 0; round < rounds; round++) {
		uint32_t count = round < 40 ? round : (uint32_t)below(ROWS);

		for (uint32_t i = 0; i < count; i++)
			in[i] = make_value(room[i],
			    round % 8 == 7 ? (unsigned)below(60) : round);
		chunk_begin(writer);
		chunk_put_value(writer, in, count);
		chunk_put_value(writer, in, count);
		assert_int_equal(
		    chunk_open(reader, chunk_end(writer)), CHUNK_OK);
		for (unsigned column = 2; column-- > 0;) {
			assert_int_equal(
			    chunk_get_value(reader, column, out), CHUNK_OK);
			for (uint32_t i = 0; i < count; i++)
				assert_true(value_equal(&in[i], &out[i]));
		}
	}
}

/* ---- damage ---- */

static struct text
mixed_chunk(void)
{
	static int64_t ints[500];
	static double floats[500];
	static char room[500][64];
	static struct text texts[500];
	static struct value values[500];

	make_ints(ints, 500, 2);
	make_floats(floats, 500, 6);
	for (unsigned i = 0; i < 500; i++) {
		texts[i] = make_text(room[i], 1);
		values[i] = make_value(room[i], i % 5);
	}
	chunk_begin(writer);
	chunk_put_int(writer, ints, 500);
	chunk_put_float(writer, floats, 500);
	chunk_put_text(writer, texts, 500);
	chunk_put_value(writer, values, 500);
	chunk_put_int(writer, ints, 500);
	return chunk_end(writer);
}

/* Read all columns; any result is accepted. */
static void
read_all(void)
{
	static struct value room[CHUNK_ROWS_MAX];

	for (uint32_t i = 0; i < chunk_columns(reader); i++) {
		switch (chunk_type(reader, i)) {
		case CHUNK_INT: chunk_get_int(reader, i, (void *)room); break;
		case CHUNK_FLOAT:
			chunk_get_float(reader, i, (void *)room);
			break;
		case CHUNK_TEXT: chunk_get_text(reader, i, (void *)room); break;
		case CHUNK_VALUE: chunk_get_value(reader, i, room); break;
		}
	}
}

static void
a_truncated_chunk_is_refused(void **state)
{
	struct text chunk = mixed_chunk();

	for (uint32_t bytes = 0; bytes < chunk.bytes; bytes++) {
		struct text cut = { chunk.at, bytes };

		assert_int_equal(chunk_open(reader, cut), CHUNK_TRUNCATED);
	}
}

static void
a_damaged_chunk_is_handled_safely(void **state)
{
	struct text chunk = mixed_chunk();
	char *copy = malloc(chunk.bytes);

	assert_non_null(copy);
	for (unsigned round = check_share(20000, 1000); round > 0; round--) {
		struct text damaged = { copy, chunk.bytes };

		memcpy(copy, chunk.at, chunk.bytes);
		for (unsigned n = 1 + (unsigned)below(4); n > 0; n--)
			copy[below(round % 2 ? 60 : chunk.bytes)] =
			    (char)below(256);
		if (chunk_open(reader, damaged) == CHUNK_OK)
			read_all();
	}
	free(copy);
}

static void
a_chunk_of_another_format_is_distinguished_from_damage(void **state)
{
	struct text chunk = { "\x02\x00", 2 };

	assert_int_equal(chunk_open(reader, chunk), CHUNK_VERSION);
}

static void
counts_over_the_limits_are_refused(void **state)
{
	/* 8193 columns; a column of 65537 rows. */
	assert_int_equal(chunk_open(reader, (struct text){ "\x01\x81\x40", 3 }),
	    CHUNK_LIMIT);
	assert_int_equal(
	    chunk_open(
		reader, (struct text){ "\x01\x01\x01\x81\x80\x04\x00", 7 }),
	    CHUNK_LIMIT);
}

static void
a_column_of_another_type_is_refused(void **state)
{
	int64_t one = 1;
	double out;

	chunk_begin(writer);
	chunk_put_int(writer, &one, 1);
	assert_int_equal(chunk_open(reader, chunk_end(writer)), CHUNK_OK);
	assert_int_equal(chunk_get_float(reader, 0, &out), CHUNK_DAMAGED);
	assert_int_equal(chunk_get_float(reader, 1, &out), CHUNK_DAMAGED);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_come_back),
		cmocka_unit_test(
		    a_column_that_follows_another_costs_next_to_nothing),
		cmocka_unit_test(doubles_come_back_to_the_last_bit),
		cmocka_unit_test(millions_of_values_come_back),
		cmocka_unit_test(texts_come_back),
		cmocka_unit_test(texts_of_an_earlier_column_come_back),
		cmocka_unit_test(
		    texts_of_an_earlier_column_cost_next_to_nothing),
		cmocka_unit_test(values_of_mixed_types_come_back),
		cmocka_unit_test(a_truncated_chunk_is_refused),
		cmocka_unit_test(a_damaged_chunk_is_handled_safely),
		cmocka_unit_test(
		    a_chunk_of_another_format_is_distinguished_from_damage),
		cmocka_unit_test(counts_over_the_limits_are_refused),
		cmocka_unit_test(a_column_of_another_type_is_refused),
	};

	seed = check_seed();
	rounds = check_share(ROUNDS, ROUNDS_LEAST);
	return cmocka_run_group_tests(tests, open_both, close_both);
}
