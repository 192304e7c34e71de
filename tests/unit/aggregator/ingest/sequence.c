/*
 * sequence - tests of aggregator/ingest/sequence.h.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include "aggregator/ingest/sequence.h"
#include "proto/hash/crc32c.h"
#include "proto/hash/hash.h"

static const struct text body = { "body", 4 }, empty;

static void
numbers_of_no_honest_sender_are_refused(void **state)
{
	static const struct {
		enum wire_type type;
		uint64_t seq, last;
		bool with_body, good;
	} cases[] = {
		{ WIRE_BATCH, 0, 0, true, false },
		{ WIRE_BATCH, 1, 0, true, true },
		{ WIRE_BATCH, SEQUENCE_MAX, 0, true, true },
		{ WIRE_BATCH, SEQUENCE_MAX + 1, 0, true, false },
		{ WIRE_BATCH, UINT64_MAX, 0, true, false },
		{ WIRE_HELLO, 0, 0, false, false },
		{ WIRE_HELLO, 5, 0, false, true },
		{ WIRE_GAP, 5, 5, false, true },
		{ WIRE_GAP, 5, 4, false, false },
		{ WIRE_GAP, 5, 9, true, false },
		{ WIRE_GAP, 1, SEQUENCE_MAX, false, true },
		{ WIRE_GAP, 1, UINT64_MAX, false, false },
		{ WIRE_GAP, 0, 3, false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct wire_header header = { .type = cases[i].type,
			.seq = cases[i].seq,
			.last_seq = cases[i].last };
		struct sequence numbers;

		assert_int_equal(sequence_get(&numbers, &header,
				     cases[i].with_body ? body : empty),
		    cases[i].good);
		if (!cases[i].good)
			continue;
		assert_true(numbers.first == cases[i].seq);
		assert_true(
		    numbers.last ==
		    (cases[i].type == WIRE_GAP ? cases[i].last : cases[i].seq));
	}
}

/* A stream with the numbers 1 to `last_seq`, whose running hash after n is 100
 * + n. */
static struct journal_stream
stream_of(uint64_t last_seq)
{
	struct journal_stream stream = { .last_seq = last_seq };

	for (uint64_t n = 1; n <= last_seq; n++)
		stream.ring[n % JOURNAL_RING] = 100 + n;
	return stream;
}

/* What is known on both sides decides; a fork is another running hash before
 * the first. */
static void
known_running_hashes_agree_or_diverge(void **state)
{
	static const struct {
		uint64_t first, before;
		bool fork, agree;
	} cases[] = {
		{ 30, 129, false, true }, { 30, 128, true, false },
		{ 30, 0, false, false }, /* the sender does not know */
		{ 3, 7, false, false },  /* we do not know any more */
		{ 3, 102, false, false },
		{ 21, 120, false, false }, /* within a gap */
		{ 1, 0, false, false },    /* before it there is nothing ... */
		{ 1, 7, true, false },     /* ... and everybody knows that */
		{ 41, 140, false, true },
		{ 42, 141, false, false }, /* not there yet */
	};
	struct journal_stream stream = stream_of(40);

	(void)state;
	stream.ring[20 % JOURNAL_RING] = 0;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sequence numbers = { .first = cases[i].first,
			.before = cases[i].before };

		assert_int_equal(
		    sequence_diverges(&numbers, &stream), cases[i].fork);
		assert_int_equal(
		    sequence_agrees(&numbers, &stream), cases[i].agree);
	}
}

static void
one_life_goes_on_where_the_stream_ends_with_its_chain(void **state)
{
	static const struct {
		uint64_t last_seq, first, before;
		bool follow;
	} cases[] = {
		{ 40, 41, 140, true }, { 40, 41, 141, false },
		{ 40, 41, 0, false },   /* it does not say */
		{ 40, 40, 139, false }, /* what of ours is its 40? */
		{ 20, 21, 120, false }, /* we do not know */
		{ 0, 1, 0, true },      /* nothing is before it */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct journal_stream stream = stream_of(cases[i].last_seq);
		struct sequence numbers = { .first = cases[i].first,
			.before = cases[i].before };

		stream.ring[20 % JOURNAL_RING] = 0;
		assert_int_equal(
		    sequence_continues(&numbers, &stream), cases[i].follow);
	}
}

static void
a_repetition_has_the_stored_content(void **state)
{
	struct wire_header header = {
		.type = WIRE_BATCH, .seq = 40, .chain = 139, .records = 3
	};
	struct journal_stream stream = stream_of(39);
	struct sequence numbers;

	(void)state;
	stream.last_seq = 40;
	stream.ring[40 % JOURNAL_RING] =
	    hash_chain(139, crc32c(0, body.at, body.bytes), body.bytes, 3);
	assert_true(sequence_get(&numbers, &header, body));
	assert_false(sequence_differs(&numbers, &stream));
	assert_true(
	    sequence_get(&numbers, &header, (struct text){ "bodY", 4 }));
	assert_true(sequence_differs(&numbers, &stream));
	header.records = 4;
	assert_true(sequence_get(&numbers, &header, body));
	assert_true(sequence_differs(&numbers, &stream));
	header.chain = 0; /* the sender does not know what was before */
	assert_true(sequence_get(&numbers, &header, body));
	assert_false(sequence_differs(&numbers, &stream));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_no_honest_sender_are_refused),
		cmocka_unit_test(known_running_hashes_agree_or_diverge),
		cmocka_unit_test(
		    one_life_goes_on_where_the_stream_ends_with_its_chain),
		cmocka_unit_test(a_repetition_has_the_stored_content),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
