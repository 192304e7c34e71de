/*
 * run_row - decode any bytes as a test run, as a row and in a page: what can
 * be decoded is encoded to the same bytes, and no step has more durations than
 * fit.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/phases/run_row.h"

#include "aggregator/tables/key.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
must(bool good)
{
	if (!good)
		abort();
}

static void
try_row(struct text bytes, struct buffer *again)
{
	static struct run_row row, copy;

	if (!run_row_decode(&row, bytes))
		return;
	again->bytes = 0;
	run_row_encode(&row, again);
	must(run_row_decode(&copy, buffer_text(again)));
	must(text_equal(row.id, copy.id) && row.count == copy.count &&
	     row.known == copy.known && row.overflow == copy.overflow);
	for (uint32_t i = 0; i < row.count; i++)
		must(row_block_compare(&row.at[i].id, &copy.at[i].id) == 0 &&
		     row.at[i].event == copy.at[i].event);
	must(row.tallies == copy.tallies);
	for (uint32_t i = 0; i < row.tallies; i++)
		must(row.tally[i].event == copy.tally[i].event &&
		     row.tally[i].hour == copy.tally[i].hour &&
		     row.tally[i].first_ns == copy.tally[i].first_ns &&
		     row.tally[i].count == copy.tally[i].count);
	run_row_count(&row, 5, KEY_HOUR_NS);
	run_row_trim(&row, KEY_HOUR_NS);
	for (uint32_t i = 0; i < row.tallies; i++)
		must(row.tally[i].first_ns >= KEY_HOUR_NS);
}

static void
try_events(struct text bytes, struct buffer *again)
{
	static struct run_events events, copy;
	static int64_t durations[RUN_EVENTS_MAX / 2];

	if (!run_events_get(bytes, 7, &events))
		return;
	again->bytes = 0;
	run_events_put(again, 7, &events);
	must(run_events_get(buffer_text(again), 7, &copy));
	must(copy.count == events.count && copy.overflow == events.overflow &&
	     copy.others == events.others);
	for (uint8_t role = 0; role + 1 < RUN_ROLES_MAX; role++)
		for (unsigned clock = 0; clock < RUN_CLOCKS; clock++)
			must(run_events_durations(&events,
				 (struct run_step){ role, role + 1 },
				 (enum run_clock)clock,
				 durations) <= RUN_EVENTS_MAX / 2);
	must(run_state(&events, 1, 2) < RUN_STATES);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = { (const char *)data, (uint32_t)size };
	struct buffer again = { NULL, 0, 0 };

	try_row(bytes, &again);
	try_events(bytes, &again);
	buffer_clear(&again);
	return 0;
}
