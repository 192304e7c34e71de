/*
 * gather - events of runs, and what else is reported of runs.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "aggregator/indexer/collect.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"

static void
append(struct collect *collect, struct db_txn *txn, uint32_t partition,
    unsigned place, const struct collect_run *what)
{
	uint32_t run = dictionary_number_always(
	    collect->dictionary, txn, partition, what->run);
	struct group *group = group_of(
	    &collect->of_runs, (uint32_t[]){ partition, place + 1, run, 0, 0 });

	collect->run = memory_grow(collect->run, &collect->run_room,
	    collect->runs, sizeof(*collect->run));
	collect->run[collect->runs] = *what;
	/* One copy for each run, with the first that is reported of it. */
	if (group->count == 0)
		collect->run[collect->runs].run =
		    arena_text(&collect->arena, what->run);
	group_append(&collect->of_runs, group, collect->runs++);
}

void
collect_run_event(struct collect *collect, struct db_txn *txn,
    const struct match_event *event, unsigned place, uint32_t number,
    struct text run)
{
	struct record record = { .pairs = event->pairs };
	struct collect_run what = { event->id, number, event->node, run };
	struct value value;

	what.id.body = (struct text){ NULL, 0 };
	/* History says itself when it was received. */
	if (record_find_attribute(&record, text_of("receive_ns"), &value) &&
	    value.type == VALUE_INT && value.is.i >= TIME_MIN_NS &&
	    value.is.i <= TIME_MAX_NS)
		what.id.receive_ns = value.is.i;
	append(collect, txn, event->partition, place, &what);
}

void
collect_run_entity(struct collect *collect, struct db_txn *txn,
    uint32_t partition, struct text kind, struct text id)
{
	const struct collect_run what = { .event = 0, .run = id };

	for (unsigned i = 0; i < collect->models->runs; i++)
		if (text_equal(collect->models->run[i].kind, kind))
			append(collect, txn, partition, i, &what);
}

bool
collect_run_property(const struct model_run *run, struct text key)
{
	unsigned i = 0;

	while (i < run->properties && !text_equal(run->property[i], key))
		i++;
	return i < run->properties;
}
