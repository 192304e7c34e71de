/*
 * phase - tests of aggregator/phases/phase.h: which end belongs to which start,
 * and the rows that the events are in.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include "aggregator/phases/phase.h"

enum { SCOPE = 7 };

static struct phase_row row;
static struct duration_stats *stats;

static int
set_up(void **state)
{
	(void)state;
	stats = malloc(sizeof(*stats));
	if (stats == NULL)
		return -1;
	duration_stats_init(stats);
	phase_row_reset(&row, text_of("a key"), false);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	phase_row_clear(&row);
	free(stats);
	return 0;
}

static struct phase_entry
at(bool is_end, int64_t time_ns)
{
	return (struct phase_entry){ .id = { .time_ns = time_ns,
					 .stream = 1,
					 .seq = 1,
					 .body = { "\0", 1 } },
		.is_end = is_end,
		.node = SCOPE };
}

static bool
take(bool is_end, int64_t time_ns)
{
	struct phase_entry entry = at(is_end, time_ns);

	return phase_row_insert(&row, &entry) == PHASE_TAKEN;
}

/* The row in one line: "1-2 3- -4" is a pair, a start and an end alone. */
static void
assert_pairs(const char *wanted)
{
	char got[256] = "";
	size_t bytes = 0;

	phase_row_pair(&row, 0, row.count);
	for (uint32_t i = 0; i < row.count; i++) {
		const struct phase_entry *entry = &row.at[i];
		bool alone = entry->partner == PAIRING_ALONE;
		const char *gap = bytes > 0 ? " " : "";

		if (entry->is_end && !alone)
			continue;
		bytes += (size_t)snprintf(got + bytes, sizeof(got) - bytes,
		    entry->is_end ? "%s-%d" : "%s%d-", gap,
		    (int)entry->id.time_ns);
		if (!alone)
			bytes +=
			    (size_t)snprintf(got + bytes, sizeof(got) - bytes,
				"%d", (int)row.at[entry->partner].id.time_ns);
	}
	assert_string_equal(got, wanted);
}

static void
take_all(const char *letters)
{
	row.count = 0;
	for (int i = 0; letters[i] != '\0'; i++)
		take(letters[i] == 'e', i + 1);
}

static void
an_end_belongs_to_the_start_right_before_it(void **state)
{
	(void)state;
	take_all("sese");
	assert_pairs("1-2 3-4");
	take_all("sse"); /* the first end was lost, or the start was retried */
	assert_pairs("1- 2-3");
	take_all("see");
	assert_pairs("1-2 -3");
	take_all("ese");
	assert_pairs("-1 2-3");
	take_all("ssees");
	assert_pairs("1- 2-3 -4 5-");
}

static void
with_fifo_it_belongs_to_the_oldest_start(void **state)
{
	(void)state;
	row.fifo = true;
	take_all("sesse");
	assert_pairs("1-2 3-5 4-");
	take_all("ssee");
	assert_pairs("1-3 2-4");
	take_all("esseee");
	assert_pairs("-1 2-4 3-5 -6");
}

static void
a_measured_duration_wins(void **state)
{
	struct phase_entry end = at(true, 50);

	(void)state;
	end.measured = true;
	end.measured_ns = 3;
	take(false, 10);
	phase_row_insert(&row, &end);
	phase_row_pair(&row, 0, row.count);
	phase_row_sum(&row, stats);
	assert_true(stats->count == 1 && stats->sum == 3);
}

static void
durations_saturate_at_int64(void **state)
{
	struct phase_entry low = at(false, INT64_MIN);
	struct phase_entry high = at(true, INT64_MAX);

	(void)state;
	assert_true(phase_duration(&low, &high) == INT64_MAX);
	assert_true(phase_duration(&high, &low) == INT64_MIN);
}

static void
an_event_comes_once(void **state)
{
	(void)state;
	assert_true(take(false, 7));
	assert_false(take(false, 7));
	assert_int_equal(row.count, 1);
}

/* ---- rows, as the indexer keeps them ---- */

enum { ROWS_MAX = 128 };
static struct stored {
	struct text key; /* a view of `bytes_of_key` */
	unsigned char bytes_of_key[PHASE_KEY_BYTES_MAX];
	struct phase_row row;
} * stored[ROWS_MAX];
static uint32_t stored_rows;
static const struct key_phase of = { 1, 2, 3, SCOPE };

static struct stored *
insert_stored(uint32_t where)
{
	assert_true(stored_rows < ROWS_MAX);
	memmove(&stored[where + 1], &stored[where],
	    (stored_rows++ - where) * sizeof(stored[0]));
	stored[where] = calloc(1, sizeof(*stored[0]));
	assert_non_null(stored[where]);
	return stored[where];
}

static void
remove_stored(uint32_t where)
{
	phase_row_clear(&stored[where]->row);
	free(stored[where]);
	memmove(&stored[where], &stored[where + 1],
	    (--stored_rows - where) * sizeof(stored[0]));
}

/* Split the row at `where`, if it is too long. */
static void
split_stored(uint32_t where)
{
	struct phase_row *from = &stored[where]->row;
	uint32_t count = phase_row_split(from, 0);
	struct stored *to;

	if (count == from->count)
		return;
	to = insert_stored(where + 1);
	to->key = phase_row_key(to->bytes_of_key, &of, from, count);
	for (uint32_t i = count; i < from->count; i++)
		assert_int_equal(
		    phase_row_insert(&to->row, &from->at[i]), PHASE_TAKEN);
	from->count = count;
	phase_row_pair(&to->row, 0, to->row.count);
	phase_row_pair(from, 0, from->count);
	split_stored(where + 1);
}

/* Join neighbours that a pair reaches into, as often as it does. */
static uint32_t
join_stored(uint32_t where)
{
	for (;;) {
		uint32_t left = where;

		if (where > 0 && phase_row_is_crossed(&stored[where - 1]->row,
				     &stored[where]->row))
			left = where - 1;
		else if (where + 1 == stored_rows ||
			 !phase_row_is_crossed(
			     &stored[where]->row, &stored[where + 1]->row))
			return where;
		phase_row_append(&stored[left]->row, &stored[left + 1]->row);
		remove_stored(left + 1);
		phase_row_pair(&stored[left]->row, 0, stored[left]->row.count);
		where = left;
	}
}

static void
index_event(const struct phase_entry *entry)
{
	uint32_t where = 0;

	if (stored_rows == 0)
		insert_stored(0)->key.bytes = KEY_PHASE_BYTES;
	while (where + 1 < stored_rows &&
	       phase_row_is_from(stored[where + 1]->key, entry))
		where++;
	assert_int_equal(
	    phase_row_insert(&stored[where]->row, entry), PHASE_TAKEN);
	phase_row_pair(&stored[where]->row, 0, stored[where]->row.count);
	split_stored(join_stored(where));
}

/* In random order and in rows: the same pairs as in order and in one.  With
 * `per_time` events of one time, on average. */
static void
assert_any_order(int per_time, uint64_t *random)
{
	enum { MANY = 1000 };
	struct duration_stats *whole = malloc(sizeof(*whole));
	struct phase_row all = { .count = 0 };
	static struct phase_entry entry[MANY];

	assert_non_null(whole);
	duration_stats_init(whole);
	duration_stats_reset(stats);
	for (int i = 0; i < MANY; i++) {
		bool in_turn = check_random(random) % 4 != 0;
		bool is_end =
		    in_turn ? i % 2 != 0 : check_random(random) % 2 != 0;

		entry[i] = at(is_end, i / per_time);
		entry[i].id.index = (uint32_t)check_random(random);
		if (phase_row_insert(&all, &entry[i]) != PHASE_TAKEN)
			i--;
	}
	phase_row_pair(&all, 0, all.count);
	phase_row_sum(&all, whole);
	for (uint32_t i = MANY - 1; i > 0; i--) {
		uint32_t j = (uint32_t)(check_random(random) % (i + 1));
		struct phase_entry swap = entry[i];

		entry[i] = entry[j];
		entry[j] = swap;
	}
	for (int i = 0; i < MANY; i++)
		index_event(&entry[i]);
	assert_true(stored_rows > MANY / PHASE_ROW_EVENTS / 2);
	while (stored_rows > 0) {
		phase_row_sum(&stored[0]->row, stats);
		remove_stored(0);
	}
	assert_true(duration_stats_equal(stats, whole));
	phase_row_clear(&all);
	free(whole);
}

static void
any_order_and_any_rows_give_the_same_pairs(void **state)
{
	uint64_t random = check_seed();

	(void)state;
	for (int i = 0; i < 20; i++)
		assert_any_order(1 + i % 4, &random);
}

/* Seconds as times: an end and the next start, or a start and its end. */
static void
events_of_one_time_pair_in_the_only_way_that_makes_sense(void **state)
{
	struct phase_entry start = at(false, 20), end = at(true, 20);

	(void)state;
	for (uint32_t seq = 0; seq < 3; seq += 2) {
		row.count = 0;
		start.id.seq = seq; /* before the end, or after it */
		take(false, 10);
		phase_row_insert(&row, &start);
		phase_row_insert(&row, &end);
		take(true, 30);
		assert_pairs("10-20 20-30");
		row.count = 0;
		phase_row_insert(&row, &start);
		phase_row_insert(&row, &end);
		take(false, 30);
		assert_pairs("20-20 30-");
	}
}

/* The sum of a row changes by what an event changes in it. */
static void
a_sum_is_replaced_by_another(void **state)
{
	struct phase_sum before = { .pairs = 0 }, after = { .pairs = 0 };

	(void)state;
	take_all("sesesese");
	phase_row_pair(&row, 0, row.count);
	phase_row_sum(&row, stats);
	phase_sum_add(&before, row.at, row.count);
	row.at[5].id.time_ns += 1000;
	row.at[6].id.time_ns = row.at[7].id.time_ns = 5000;
	row.count = 7; /* the last end is gone */
	phase_row_pair(&row, 0, row.count);
	phase_sum_add(&after, row.at, row.count);
	phase_sum_replace(stats, &before, &after);
	/* 1, 1, 1001; one start is open */
	assert_true(stats->count == 3 && stats->sum == 1003);
	assert_true(stats->open_starts == 1 && stats->open_ends == 0);
	free(before.duration);
	free(after.duration);
}

static void
a_row_of_lone_events_is_split_too(void **state)
{
	(void)state;
	for (int is_end = 0; is_end < 2; is_end++) {
		row.count = 0;
		for (int i = 0; i < 1000; i++)
			take(is_end, i);
		for (uint32_t i = 0, count; i < row.count; i += count) {
			phase_row_pair(&row, i, row.count - i);
			count = phase_row_split(&row, i);
			assert_true(count <= PHASE_ROW_EVENTS);
		}
	}
}

static uint32_t
split(void)
{
	phase_row_pair(&row, 0, row.count);
	return phase_row_split(&row, 0);
}

/* While a span is open, all stay in a row, up to a limit. */
static void
a_row_with_fifo_is_split_where_nothing_is_open(void **state)
{
	(void)state;
	row.fifo = true;
	for (int i = 0; i < 50; i++) {
		take(false, 4 * i); /* s s e e */
		take(false, 4 * i + 1);
		take(true, 4 * i + 2);
		take(true, 4 * i + 3);
	}
	assert_int_equal(split(), 48);
	take(false, -1); /* it is never ended: each end moves on by one */
	assert_int_equal(split(), row.count);
	for (int i = 0; i < 1000; i++)
		take(i % 2, 1000 + i);
	assert_true(split() <= PHASE_ROW_EVENTS_MAX);
}

static void
one_time_has_a_limited_number_of_events(void **state)
{
	struct phase_entry entry = at(false, 5);

	(void)state;
	for (uint32_t i = 0; i < 2 * PHASE_INSTANT; i++) {
		entry.id.index = i;
		assert_int_equal(phase_row_insert(&row, &entry),
		    i < PHASE_INSTANT ? PHASE_TAKEN : PHASE_OVERFLOW);
	}
}

static void
an_encoded_row_decodes_to_itself(void **state)
{
	struct buffer bytes = { NULL, 0, 0 };
	struct phase_row back = { .count = 0 };

	(void)state;
	row.fifo = true;
	for (uint32_t i = 0; i < 60; i++) {
		struct phase_entry entry = at(i % 2, 10 * i + 3);

		entry.node = SCOPE + i % 3;
		entry.id.receive_ns = 5 - (int64_t)i;
		entry.measured = i % 5 == 0;
		entry.measured_ns = entry.measured ? -5 * (int64_t)i : 0;
		phase_row_insert(&row, &entry);
	}
	phase_row_pair(&row, 0, row.count);
	phase_row_encode(&row, 0, row.count, SCOPE, &bytes);
	assert_true(phase_row_decode(&back, buffer_text(&bytes), SCOPE));
	assert_true(text_equal(back.key, row.key) && back.fifo);
	assert_int_equal(back.count, row.count);
	for (uint32_t i = 0; i < row.count; i++) {
		const struct phase_entry *a = &row.at[i], *b = &back.at[i];

		assert_int_equal(row_block_compare(&a->id, &b->id), 0);
		assert_true(a->id.receive_ns == b->id.receive_ns);
		assert_int_equal(a->node, b->node);
		assert_int_equal(a->is_end, b->is_end);
		assert_int_equal(a->partner, b->partner);
		assert_int_equal(a->measured, b->measured);
		assert_true(a->measured_ns == b->measured_ns);
		assert_true(text_equal(a->id.body, b->id.body));
	}
	for (uint32_t cut = 0; cut < bytes.bytes; cut++)
		assert_false(phase_row_decode(
		    &back, (struct text){ (char *)bytes.at, cut }, SCOPE));
	phase_row_clear(&back);
	buffer_clear(&bytes);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(an_end_belongs_to_the_start_right_before_it),
		CASE(with_fifo_it_belongs_to_the_oldest_start),
		CASE(a_measured_duration_wins),
		CASE(durations_saturate_at_int64),
		CASE(an_event_comes_once),
		CASE(any_order_and_any_rows_give_the_same_pairs),
		CASE(events_of_one_time_pair_in_the_only_way_that_makes_sense),
		CASE(a_sum_is_replaced_by_another),
		CASE(one_time_has_a_limited_number_of_events),
		CASE(a_row_of_lone_events_is_split_too),
		CASE(a_row_with_fifo_is_split_where_nothing_is_open),
		CASE(an_encoded_row_decodes_to_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
