/*
 * cascade_read - read the startup of a partition from a source.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cascade/read.h"

#include "proto/os/clock.h"

int
cascade_read(struct cascade *cascade, struct source *source,
    struct text partition, const struct cascade_window *window, struct err *err)
{
	bool all =
	    window->from_ns == TIME_MIN_NS && window->to_ns == TIME_MAX_NS;
	struct wire_query query = source_query(1u << RECORD_PHASE);
	char shown[300];
	struct record record;
	int rc;

	query.name = text_of("cascade:*");
	query.from_ns = window->from_ns;
	if (source_select(source, SOURCE_RECORDS, partition, &query, err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0)
		cascade_add(cascade, &record);
	if (rc < 0)
		return -1;
	cascade_finish(cascade, window->from_ns, window->to_ns);
	source_clock_words(cascade->clock, source_clock(source));
	if (cascade->node_count == 0)
		return err_set(err, "no %s of partition %s in %s",
		    all ? "cascade events" : "nodes that started in that time",
		    text_quote(shown, sizeof(shown), partition),
		    source_name(source));
	return 0;
}
