/*
 * column_records - tests of aggregator/archive/rows/column_records.h: what was
 * recorded comes back from the archive, whatever it was.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/aggregator/archive/names_rig.h"
#include "tests/unit/aggregator/archive/trip.h"

#include "proto/msgpack/mp.h"
#include "proto/msgpack/mp_put.h"

enum {
	NAMES = 6, /* more of them have no number */
	BLOCK = 20,
	ROUNDS = 400,
	ARENA = 160 << 10,
};

/* A record, its body, and the identity that it is archived with. */
struct made {
	struct record record;
	struct row_block_item item;
	struct archive_row_id id;
};

static uint64_t seed;
static struct made made[BLOCK];
static unsigned char given[BLOCK][ARENA], bodies[BLOCK][ARENA];

static int
set_up(void **state)
{
	return names_rig_open(NAMES) == 0 &&
		       dictionary_number(
			   dictionary, txn, PARTITION, text_of("node")) == 1
		   ? 0
		   : -1;
}

static uint32_t
number_of(void *context, struct text name)
{
	return dictionary_find(txn, PARTITION, name);
}

static const struct archive_numbers numbers = { number_of, NULL };

static uint64_t
below(uint64_t limit)
{
	return check_random(&seed) % limit;
}

/* ---- random records ---- */

/* One of a few names, some long, and the last ones beyond the limit. */
static struct text
some_name(void)
{
	static char words[12][NAME_BYTES_MAX];
	unsigned which = (unsigned)below(12);

	memset(words[which], 'a' + (int)which, sizeof(words[which]));
	return (struct text){ words[which],
		which % 4 == 3 ? NAME_BYTES_MAX : 1 + which };
}

static uint64_t
some_bits(void)
{
	static const uint64_t of_interest[] = { 0, 1, UINT64_MAX,
		UINT64_C(1) << 63, (UINT64_C(1) << 63) - 1,
		(UINT64_C(1) << 53) - 1, UINT64_C(1) << 53,
		(UINT64_C(1) << 53) + 1, 0 - (UINT64_C(1) << 53) - 1,
		0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000,
		0xfff8000000000000, 0x7ff0000000000001, 0x7ff8dead0000beef,
		0x4340000000000001, 0x3fb999999999999a };

	if (below(3) == 0)
		return of_interest[below(
		    sizeof(of_interest) / sizeof(of_interest[0]))];
	return below(2) ? (uint64_t)check_int64(&seed) : check_random(&seed);
}

/* A number or nil in any of its forms. */
static unsigned char *
put_number(unsigned char *to)
{
	static const unsigned char tags[] = { MP_UINT8, MP_INT8, MP_UINT16,
		MP_INT16, MP_UINT32, MP_INT32, MP_FLOAT32, MP_UINT64, MP_INT64,
		MP_FLOAT64 };
	static const unsigned char sizes[] = { 1, 1, 2, 2, 4, 4, 4, 8, 8, 8 };
	unsigned which = (unsigned)below(13);
	uint64_t bits = htobe64(some_bits());

	if (which == 10) {
		mp_put_nil(&to);
	} else if (which > 10) {
		mp_put_int64(&to, (int64_t)below(1000) - 500);
	} else {
		*to++ = tags[which];
		memcpy(to, &bits, sizes[which]);
		to += sizes[which];
	}
	return to;
}

static unsigned char *
put_scalar(unsigned char *to, bool large)
{
	uint32_t bytes = large ? RECORD_TEXT_BYTES_MAX : (uint32_t)below(40);

	if (!large && below(3) > 0)
		return put_number(to);
	if (!large && below(4) == 0) {
		mp_put_bool(&to, below(2) != 0);
		return to;
	}
	mp_put_str(&to, bytes);
	for (uint32_t i = 0; i < bytes; i++)
		*to++ = (unsigned char)below(256);
	return to;
}

static void
make_attributes(struct record *record, unsigned char *at)
{
	unsigned char *to = at;

	record->attributes =
	    (uint32_t)below(below(10) == 0 ? RECORD_ATTRIBUTES_MAX + 1 : 6);
	for (uint32_t i = 0; i < record->attributes; i++) {
		struct text key = some_name();

		mp_put_str(&to, key.bytes);
		mp_put_str_body(&to, key.at, key.bytes);
		to = put_scalar(to, i == 3 && below(8) == 0);
	}
	record->pairs = (struct text){ (char *)at, (uint32_t)(to - at) };
}

static void
make_values(struct record *record, unsigned char *at)
{
	unsigned char *to = at;

	record->values =
	    (uint32_t)below(below(20) == 0 ? RECORD_VALUES_MAX + 1 : 30);
	for (uint32_t i = 0; i < record->values; i++)
		to = put_number(to);
	record->value_bytes = (struct text){ (char *)at, (uint32_t)(to - at) };
}

static void
make_bytes(struct record *record, unsigned char *at)
{
	uint32_t bytes = below(10) == 0 ? 128 << 10 : (uint32_t)below(300);

	for (uint32_t i = 0; i < bytes; i++)
		at[i] = (unsigned char)below(256);
	record->value_bytes = (struct text){ (char *)at, bytes };
}

static void
make_record(struct record *record, enum record_kind kind, unsigned char *at)
{
	static const char hex[] = "0123456789abcdef0123456789abcdef";

	*record = (struct record){ .kind = kind,
		.time_ns = check_int64(&seed),
		.end_ns = check_int64(&seed),
		.receive_ns = check_int64(&seed),
		.source = some_name(),
		.name = some_name(),
		.count = some_bits() };
	if (kind == RECORD_EVENT || kind == RECORD_REJECTED)
		record->key = (struct text){ hex, below(2) ? 16 : 0 };
	else if (kind == RECORD_SPAN && below(2))
		record->key = some_name();
	if (kind == RECORD_EVENT || kind == RECORD_SPAN)
		make_attributes(record, at);
	else if (kind == RECORD_SAMPLE)
		make_values(record, at);
	else if (kind == RECORD_REJECTED)
		make_bytes(record, at);
}

static void
make(struct made *of, enum record_kind kind, unsigned i)
{
	struct row_block_writer writer = { dictionary, txn, PARTITION };
	struct row_block_event event;
	unsigned char *end;

	make_record(&of->record, kind, given[i]);
	assert_true(row_block_body_bound(&of->record) <= ARENA);
	end = row_block_put_body(bodies[i], &of->record, &writer, &event);
	of->item = (struct row_block_item){
		.time_ns = of->record.time_ns,
		.receive_ns = of->record.receive_ns,
		.seq = some_bits(),
		.stream = (uint32_t)some_bits(),
		.index = (uint32_t)some_bits(),
		.body = { (char *)bodies[i], (uint32_t)(end - bodies[i]) },
	};
	of->id = (struct archive_row_id){ some_bits(), (int32_t)some_bits(), 1,
		1, some_bits() };
}

/* ---- what came back, against the record that was made ---- */

static void
same_value(const struct value *a, const struct value *b)
{
	assert_int_equal(a->type, b->type);
	switch (a->type) {
	case VALUE_NIL: break;
	case VALUE_BOOL: assert_int_equal(a->is.boolean, b->is.boolean); break;
	case VALUE_TEXT: assert_true(text_equal(a->is.text, b->is.text)); break;
	default: assert_true(a->is.u == b->is.u);
	}
}

static void
same_name(struct text wanted, const struct row_block_name *name)
{
	uint32_t number = number_of(NULL, wanted);

	assert_int_equal(name->number, number);
	assert_true(text_equal(
	    number == 0 ? name->text : lookup_number(&names, number), wanted));
}

static void
same_attributes(const struct record *record, struct text rest)
{
	struct text pairs = record->pairs;
	struct record_attribute wanted;
	struct row_block_attribute attribute;
	struct value value;

	assert_int_equal(row_block_attribute_count(&rest), record->attributes);
	while (record_next_attribute(&pairs, &wanted)) {
		assert_true(row_block_next_attribute(&rest, &attribute));
		same_name(wanted.key, &attribute.key);
		assert_true(record_next_value(&attribute.value, &value));
		same_value(&wanted.value, &value);
	}
	assert_int_equal(rest.bytes, 0);
}

static void
same_values(const struct record *record, const struct row_block_body *body)
{
	struct text values = record->value_bytes, rest = body->value_bytes;
	struct value wanted, value;

	assert_int_equal(body->values, record->values);
	while (record_next_value(&values, &wanted)) {
		assert_true(record_next_value(&rest, &value));
		same_value(&wanted, &value);
	}
	assert_int_equal(rest.bytes, 0);
}

static void
same_body(const struct record *record, struct text bytes)
{
	struct row_block_body body;

	assert_true(
	    row_block_get_body(bytes, record->kind, record->time_ns, &body));
	if (record->kind == RECORD_SPAN || record->kind == RECORD_GAP)
		assert_true(body.end_ns == record->end_ns);
	if (record->kind == RECORD_EVENT || record->kind == RECORD_GAP)
		same_name(record->source, &body.source);
	if (record->kind != RECORD_SAMPLE)
		same_name(record->name, &body.name);
	if (record->kind == RECORD_SPAN)
		same_name(record->key, &body.key);
	if (record->kind == RECORD_EVENT)
		assert_true(text_equal(body.uuid, record->key));
	if (record->kind == RECORD_EVENT || record->kind == RECORD_SPAN)
		same_attributes(record, body.attributes);
	if (record->kind == RECORD_GAP || record->kind == RECORD_REJECTED)
		assert_true(body.count == record->count);
	if (record->kind == RECORD_SAMPLE)
		same_values(record, &body);
	if (record->kind == RECORD_REJECTED) {
		assert_true(text_equal(body.value_bytes, record->value_bytes));
		assert_true(text_equal(body.hash, record->key));
	}
}

static void
same_record(const struct made *of, const struct archive_row *row,
    const struct row_block_item *item)
{
	assert_true(row->part == of->id.part && row->pos == of->id.pos);
	assert_int_equal(row->hour, of->id.hour);
	assert_true(text_equal(row->node, lookup_number(&names, of->id.node)));
	if (row->track.bytes > 0)
		assert_true(text_equal(
		    row->track, lookup_number(&names, of->id.track)));
	assert_int_equal(row->session.bytes, 16);
	assert_int_equal(row_block_compare(item, &of->item), 0);
	assert_true(item->receive_ns == of->item.receive_ns);
	same_body(&of->record, item->body);
}

static void
random_records_come_back(void **state)
{
	struct trip trip;

	seed = check_seed();
	for (unsigned round = 0; round < check_share(ROUNDS, 20); round++) {
		trip_open(&trip, archive_kinds[round % ARCHIVE_KINDS]);
		for (unsigned i = 0; i < BLOCK; i++) {
			uint64_t hash;

			make(&made[i], trip.kind, i);
			assert_true(archive_put_record(trip.block, trip.kind,
			    &made[i].id, &made[i].item, &names, &hash));
		}
		trip_send(&trip);
		for (unsigned i = 0; i < BLOCK; i++) {
			struct archive_row row;
			struct row_block_item item;

			assert_true(trip_next(&trip, &row));
			row.stream = made[i].item.stream;
			assert_true(archive_record(
			    &row, trip.kind, &numbers, &item, &trip.body));
			same_record(&made[i], &row, &item);
		}
		assert_false(trip_next(&trip, &(struct archive_row){ 0 }));
		trip_close(&trip);
	}
	assert_true(dictionary_over_limit(dictionary) > 0);
}

/* ---- rows that nobody has written ---- */

static struct buffer body;

static bool
takes(enum record_kind kind, const struct archive_row *row)
{
	struct row_block_item item;

	return archive_record(row, kind, &numbers, &item, &body);
}

static bool
takes_values(
    const char *types, const double *v, uint32_t n, uint64_t big, uint32_t bigs)
{
	return takes(
	    RECORD_SAMPLE, &(struct archive_row){ .types = text_of(types),
			       .numbers = v,
			       .number_count = n,
			       .big = &big,
			       .big_count = bigs });
}

static void
values_that_contradict_each_other_are_refused(void **state)
{
	double one = 1, half = 0.5, zero = -0.0, nan = NAN, huge = 0x1p63;
	double more = 0x1p53, inf = INFINITY;
	uint64_t odd = (UINT64_C(1) << 53) + 1;

	assert_true(takes_values("i", &one, 1, 0, 0));
	assert_true(takes_values("l", &more, 1, odd, 1));
	assert_true(takes_values("u", &huge, 1, UINT64_C(1) << 63, 1));
	assert_true(takes_values("n", &nan, 1, 0, 0));
	assert_true(takes_values("", NULL, 0, 0, 0));
	assert_false(takes_values("i", &half, 1, 0, 0));
	assert_false(takes_values("i", &zero, 1, 0, 0));
	assert_false(takes_values("i", &nan, 1, 0, 0));
	assert_false(takes_values("i", &inf, 1, 0, 0));
	assert_false(takes_values("i", &huge, 1, 0, 0));
	assert_false(takes_values("n", &one, 1, 0, 0));
	assert_false(takes_values("t", &one, 1, 0, 0));
	assert_false(takes_values("ii", &one, 1, 0, 0));
	assert_false(takes_values("", &one, 1, 0, 0));
	assert_false(takes_values("i", &one, 1, 1, 1)); /* one too many */
	assert_false(takes_values("l", &more, 1, odd, 0));
	assert_false(takes_values("l", &one, 1, 1, 1)); /* a double holds it */
	assert_false(takes_values("l", &one, 1, odd, 1));
	assert_false(takes_values("u", &one, 1, 1, 1));
	assert_false(takes_values("u", &one, 1, UINT64_MAX, 1));
}

static void
attributes_that_contradict_each_other_are_refused(void **state)
{
	static char letters[RECORD_ATTRIBUTES_MAX + 1];
	static struct text many[RECORD_ATTRIBUTES_MAX + 1];
	static char large[RECORD_ENTITY_TEXT_BYTES_MAX + 1];
	struct text key = text_of("k"), value = text_of("7");
	const struct archive_row good = { .types = text_of("i"),
		.keys = &key,
		.texts = &value,
		.key_count = 1,
		.text_count = 1 };
	struct archive_row row = good;

	assert_true(takes(RECORD_EVENT, &good));
	assert_true(takes(RECORD_SPAN, &good));
	row.key_count = 0;
	assert_false(takes(RECORD_EVENT, &row));
	row = good;
	row.text_count = 2;
	assert_false(takes(RECORD_EVENT, &row));
	row = good;
	row.types = text_of("f");
	assert_false(takes(RECORD_SPAN, &row));
	row = good;
	row.key = text_of("uuid");
	assert_false(takes(RECORD_EVENT, &row));
	assert_true(takes(RECORD_SPAN, &row));
	key = (struct text){ large, NAME_BYTES_MAX + 1 };
	assert_false(takes(RECORD_EVENT, &good));
	key = text_of("k");
	row = good;
	row.types = text_of("t");
	value = (struct text){ large, sizeof(large) };
	assert_false(takes(RECORD_EVENT, &row));
	memset(letters, 'n', sizeof(letters));
	row = (struct archive_row){ .types = { letters, sizeof(letters) },
		.keys = many,
		.texts = many,
		.key_count = sizeof(letters),
		.text_count = sizeof(letters) };
	assert_false(takes(RECORD_EVENT, &row));
	row.types.bytes--;
	row.key_count--;
	row.text_count--;
	assert_true(takes(RECORD_EVENT, &row));
}

static void
names_and_bodies_beyond_the_limits_are_refused(void **state)
{
	static char large[RECORD_ENTITY_TEXT_BYTES_MAX + 1];
	struct text longer = { large, NAME_BYTES_MAX + 1 };

	assert_true(takes(RECORD_GAP, &(struct archive_row){ .count = 1 }));
	assert_false(
	    takes(RECORD_GAP, &(struct archive_row){ .source = longer }));
	assert_false(
	    takes(RECORD_EVENT, &(struct archive_row){ .name = longer }));
	assert_false(
	    takes(RECORD_SPAN, &(struct archive_row){ .key = longer }));
	assert_false(takes(RECORD_REJECTED,
	    &(struct archive_row){ .body = { large, sizeof(large) } }));
	assert_false(takes(RECORD_ENTITY, &(struct archive_row){ .count = 1 }));
	buffer_clear(&body);
}

#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, set_up, names_rig_close)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(random_records_come_back),
		TEST(values_that_contradict_each_other_are_refused),
		TEST(attributes_that_contradict_each_other_are_refused),
		TEST(names_and_bodies_beyond_the_limits_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
