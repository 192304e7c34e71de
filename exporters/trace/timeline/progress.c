/*
 * timeline - show progress on a terminal.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/timeline/timeline_private.h"

#include <stdio.h>

#include "proto/os/clock.h"

enum { RECORDS_PER_UPDATE = 1024 };
#define SHOW_NS (NS_PER_SECOND / 10)

void
timeline_shows(struct timeline *t, const char *what, uint64_t total)
{
	t->what = what;
	t->progress.total = total;
	t->progress.done = 0;
	t->progress.rows = 0;
	t->progress.began_ns = clock_monotonic_ns();
}

void
timeline_shows_step(struct timeline *t, uint64_t done)
{
	struct progress *progress = &t->progress;
	int64_t now_ns;

	progress->done = done;
	if (!t->has_terminal || ++progress->rows % RECORDS_PER_UPDATE != 0)
		return;
	now_ns = clock_monotonic_ns();
	if (now_ns - progress->now_ns < SHOW_NS)
		return;
	progress->now_ns = now_ns;
	progress_show(t->what, progress);
	t->has_shown = true;
}

void
timeline_shows_nothing(struct timeline *t)
{
	if (t->has_shown)
		progress_clear();
	t->has_shown = false;
}

int
timeline_count(struct timeline *t, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_ENTITY);
	char id[NAME_BYTES_MAX + 16];
	struct record record;
	int rc;

	if (!t->has_terminal)
		return 0;
	snprintf(id, sizeof(id), "partition:%.*s", (int)t->partition.bytes,
	    t->partition.at);
	if (source_select(
		t->source, SOURCE_STATUS, t->partition, &query, err) != 0)
		return -1;
	while ((rc = source_next(t->source, &record, err)) > 0)
		if (text_equal(record.name, text_of(id))) {
			t->spans =
			    (uint64_t)record_count(&record, "records_span");
			t->events =
			    (uint64_t)record_count(&record, "records_event");
		}
	return rc;
}
