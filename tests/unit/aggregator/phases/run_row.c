/*
 * run_row - tests of aggregator/phases/run_row.h: a row is read back as it was
 * written.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include "aggregator/phases/run_row.h"

static struct run_row row, copy;
static uint64_t seed;

static uint64_t
below(uint64_t limit)
{
	return check_random(&seed) % limit;
}

/* Like the event before in some things, in others not. */
static void
make_event(struct run_row_event *event, const struct run_row_event *before)
{
	struct row_block_item *id = &event->id;

	*event = *before;
	event->event = (uint32_t)below(30);
	id->time_ns += (int64_t)below(3) * 1000;
	id->index++;
	switch (below(6)) {
	case 0: id->receive_ns = check_int64(&seed); break;
	case 1: id->receive_ns += 1000; break;
	case 2: /* as late as the one before */
		id->receive_ns += id->time_ns - before->id.time_ns;
		break;
	default: break; /* received together */
	}
	if (below(4) == 0)
		event->node = (uint32_t)below(5);
	if (below(4) == 0)
		id->seq = below(9), id->index = (uint32_t)below(9);
	if (below(8) == 0)
		id->time_ns = check_int64(&seed) / 2;
}

static void
events_are_read_back(void **state)
{
	struct run_row_event before = { .node = 0 };
	struct buffer bytes = { NULL, 0, 0 };

	for (unsigned round = 0; round < 2000; round++) {
		run_row_reset(&row);
		row.id = text_of("a run");
		row.count = (uint32_t)below(20);
		for (uint32_t i = 0; i < row.count; i++) {
			make_event(&row.at[i], &before);
			before = row.at[i];
		}
		bytes.bytes = 0;
		run_row_encode(&row, &bytes);
		assert_true(run_row_decode(&copy, buffer_text(&bytes)));
		assert_int_equal(copy.count, row.count);
		for (uint32_t i = 0; i < row.count; i++) {
			const struct run_row_event *a = &row.at[i],
						   *b = &copy.at[i];

			assert_int_equal(row_block_compare(&a->id, &b->id), 0);
			assert_true(a->id.receive_ns == b->id.receive_ns &&
				    a->event == b->event && a->node == b->node);
		}
	}
	buffer_clear(&bytes);
}

/* Ten events that were received together, a second apart: a byte or two for
 * what each is, five for its time. */
static void
events_received_together_do_not_repeat_when(void **state)
{
	struct buffer bytes = { NULL, 0, 0 };

	run_row_reset(&row);
	row.id = text_of("a run");
	row.count = 10;
	for (uint32_t i = 0; i < row.count; i++)
		row.at[i] = (struct run_row_event){
			.event = 5 + i,
			.node = 1,
			.id = { .time_ns = INT64_C(1700000000000000000) +
					   i * INT64_C(1000000000),
			    .receive_ns = INT64_C(1700000100000000000),
			    .stream = 1,
			    .seq = 1,
			    .index = i },
		};
	run_row_encode(&row, &bytes);
	assert_in_range(bytes.bytes, 70, 110);
	buffer_clear(&bytes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_are_read_back),
		cmocka_unit_test(events_received_together_do_not_repeat_when),
	};

	seed = check_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
