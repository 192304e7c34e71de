/*
 * critical_start - a start of a pool, ready to be gone through.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/critical/start.h"

#include <stdlib.h>

#include "proto/base/memory.h"

int
critical_start_read(struct critical_start *of, struct source *source,
    struct text partition, const struct starts *starts,
    const struct start *start, int64_t to_ns, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_PHASE);

	query.from_ns = start->begin_ns;
	query.to_ns = to_ns;
	if (phases_read_model(&of->phases, &of->names, source, partition,
		&query, starts->model, PHASES_TIMELINE, &of->model, err) != 0 ||
	    critical_rules_read(
		&of->rules, &of->names, of->model, source, partition, err) != 0)
		return -1;
	critical_waits_find(&of->waits, &of->phases, &of->rules);
	of->waits.needed = starts_needed(&starts->pool, start->nodes);
	critical_run_recorded(&of->run, &of->waits);
	if (of->run.ready_ns == start_until(start))
		return 0;
	return err_set(err,
	    "the phases of the start are not those that made it ready: some "
	    "came meanwhile, or were deleted; ask again");
}

void
critical_start_clear(struct critical_start *of)
{
	critical_run_clear(&of->run);
	critical_waits_clear(&of->waits);
	critical_rules_clear(&of->rules);
	phases_read_clear(&of->phases);
	phases_names_clear(&of->names);
	*of = (struct critical_start){ .model = { NULL, 0 } };
}

int64_t
critical_start_drag(const struct critical_start *of, uint32_t item)
{
	int64_t *length_ns =
	    memory_zero((size_t)of->waits.count + 1, sizeof(*length_ns));
	struct critical_change change = { .length_ns = length_ns };
	struct critical_run run;
	int64_t drag_ns;

	for (uint32_t i = 0; i < of->waits.count; i++)
		length_ns[i] =
		    of->waits.at[i].end_ns - of->waits.at[i].begin_ns;
	length_ns[item] = 0;
	critical_run_changed(&run, &of->waits, &of->run, &change);
	drag_ns = of->run.ready_ns - run.ready_ns;
	critical_run_clear(&run);
	free(length_ns);
	return drag_ns;
}
