/*
 * store_clock - may the wall clock be trusted to delete what is old?
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/retention/store_clock.h"

#include <stdlib.h>

#include "aggregator/tables/tables.h"
#include "proto/os/clock.h"

/* Records are deleted by the hour, so a smaller error changes nothing. */
#define TOLERANCE_NS (3600 * NS_PER_SECOND)
/* Another node may have been set by the same bad source for a moment. */
#define AGREEMENT_NS (3600 * NS_PER_SECOND)
/* An idle store notes the time this often. */
#define SAVE_NS (600 * NS_PER_SECOND)

void
store_clock_hear(struct store_clock *clock, int64_t wall_ns, int64_t receive_ns,
    int64_t sent_ns)
{
	/* A batch that waited in the journal met an earlier clock, and a
	 * sender that has no clock says 0. */
	if (sent_ns <= 0 || llabs(wall_ns - receive_ns) > TOLERANCE_NS)
		return;
	if (receive_ns - sent_ns > TOLERANCE_NS)
		clock->differs = true;
	else if (sent_ns - receive_ns <= TOLERANCE_NS)
		clock->agrees = true;
}

/* One node whose clock is wrong must not outvote the others. */
static void
weigh_batches(struct store_clock *clock, int64_t wall_ns, int64_t steady_ns)
{
	int64_t offset = wall_ns - steady_ns;

	if (llabs(offset - clock->agreed_offset) > TOLERANCE_NS)
		clock->agreed_ns = 0; /* it was another clock that they meant */
	if (clock->agrees) {
		clock->disputed = false;
		if (clock->agreed_ns == 0) {
			clock->agreed_ns = steady_ns;
			clock->agreed_offset = offset;
		} else if (steady_ns - clock->agreed_ns >= AGREEMENT_NS) {
			clock->noted_ns = wall_ns;
			clock->confirmed = true;
		}
	} else if (clock->differs) {
		clock->disputed = true;
		clock->agreed_ns = 0;
	}
	clock->agrees = clock->differs = false;
}

enum store_clock_doubt
store_clock_step(struct store_clock *clock, int64_t wall_ns, int64_t steady_ns)
{
	int64_t elapsed =
	    clock->steady_ns != 0 ? steady_ns - clock->steady_ns : 0;
	int64_t reach = clock->noted_ns + 2 * elapsed, lead;

	clock->steady_ns = steady_ns;
	if (clock->noted_ns == 0)
		clock->noted_ns = wall_ns;
	else if (wall_ns > clock->noted_ns)
		clock->noted_ns = wall_ns < reach ? wall_ns : reach;
	weigh_batches(clock, wall_ns, steady_ns);
	lead = store_clock_lead_ns(clock, wall_ns);
	if (lead > TOLERANCE_NS)
		clock->doubt = STORE_CLOCK_AHEAD;
	else if (lead < -TOLERANCE_NS)
		clock->doubt = STORE_CLOCK_BEHIND;
	else
		clock->doubt = clock->disputed && !clock->confirmed
				   ? STORE_CLOCK_DISAGREES
				   : STORE_CLOCK_TRUSTED;
	return clock->doubt;
}

int64_t
store_clock_lead_ns(const struct store_clock *clock, int64_t wall_ns)
{
	return wall_ns - clock->noted_ns;
}

void
store_clock_load(struct store_clock *clock, struct db_txn *txn)
{
	int64_t stored_ns = (int64_t)tables_fact(txn, FACT_CLOCK);

	if (stored_ns == clock->stored_ns)
		return;
	*clock = (struct store_clock){ .noted_ns = stored_ns,
		.stored_ns = stored_ns,
		.confirmed = tables_fact(txn, FACT_CLOCK_CONFIRMED) != 0 };
}

void
store_clock_save(const struct store_clock *clock, struct db_txn *txn)
{
	tables_put_fact(txn, FACT_CLOCK, (uint64_t)clock->noted_ns);
	tables_put_fact(txn, FACT_CLOCK_CONFIRMED, clock->confirmed);
}

void
store_clock_saved(struct store_clock *clock)
{
	clock->stored_ns = clock->noted_ns;
}

bool
store_clock_is_unsaved(const struct store_clock *clock)
{
	return clock->noted_ns - clock->stored_ns > SAVE_NS;
}

void
store_clock_confirm(struct db_txn *txn, int64_t wall_ns)
{
	tables_put_fact(txn, FACT_CLOCK, (uint64_t)wall_ns);
	tables_put_fact(txn, FACT_CLOCK_CONFIRMED, 1);
}
