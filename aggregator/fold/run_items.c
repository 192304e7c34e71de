/*
 * gather - events of runs, and what else is told of runs.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "aggregator/fold/collect.h"
#include "proto/os/clock.h"

static void
append(struct gather *gather, struct db_txn *txn, uint32_t partition,
    unsigned place, const struct gather_run *what)
{
	uint32_t run =
	    names_number_always(gather->names, txn, partition, what->run);
	struct group *group = group_of(
	    &gather->of_runs, (uint32_t[]){ partition, place + 1, run, 0, 0 });

	if (gather->runs == gather->run_room) {
		gather->run_room = gather->run_room
				       ? gather->run_room + gather->run_room / 2
				       : 1024;
		gather->run = realloc(
		    gather->run, gather->run_room * sizeof(*gather->run));
		if (gather->run == NULL)
			abort();
	}
	gather->run[gather->runs] = *what;
	/* One copy for each run, with the first that is told of it. */
	if (group->count == 0)
		gather->run[gather->runs].run =
		    arena_text(&gather->arena, what->run);
	group_append(&gather->of_runs, group, gather->runs++);
}

void
gather_run_event(struct gather *gather, struct db_txn *txn,
    const struct match_event *event, unsigned place, uint32_t number,
    struct text run)
{
	struct record record = { .pairs = event->pairs };
	struct gather_run what = { event->id, number, event->node, run };
	struct value value;

	what.id.body = (struct text){ NULL, 0 };
	/* History says itself when it was received. */
	if (record_find_attribute(&record, text_of("receive_ns"), &value) &&
	    value.type == VALUE_INT && value.is.i >= TIME_MIN_NS &&
	    value.is.i <= TIME_MAX_NS)
		what.id.receive_ns = value.is.i;
	append(gather, txn, event->partition, place, &what);
}

void
gather_run_entity(struct gather *gather, struct db_txn *txn, uint32_t partition,
    struct text kind, struct text id)
{
	const struct gather_run what = { .event = 0, .run = id };

	for (unsigned i = 0; i < gather->models->runs; i++)
		if (text_equal(gather->models->run[i].kind, kind))
			append(gather, txn, partition, i, &what);
}

bool
gather_run_property(const struct model_run *run, struct text key)
{
	unsigned i = 0;

	while (i < run->properties && !text_equal(run->property[i], key))
		i++;
	return i < run->properties;
}
