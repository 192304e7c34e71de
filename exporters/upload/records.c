/*
 * upload_records - upload records from a source to a target.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload/records.h"

#include <inttypes.h>
#include <stdio.h>

#include "proto/os/clock.h"
#include "proto/os/progress.h"

#define SHOW_EVERY_NS (NS_PER_SECOND / 4)

const struct opt upload_records_options[] = {
	{ "name", 0, OPT_TEXT, OPT_TO(struct upload_records_values, name),
	    "PATTERN",
	    "upload only matching metric groups or events (source:name; * and "
	    "?)",
	    NULL, false },
	{ "follow", 0, OPT_FLAG, OPT_TO(struct upload_records_values, follow),
	    NULL, "keep uploading new records, continuing at the cursor", NULL,
	    false },
	{ "cursor", 0, OPT_TEXT, OPT_TO(struct upload_records_values, cursor),
	    "FILE", "with --follow: save the position in FILE", NULL, false },
	{ .name = NULL },
};

struct wire_query
upload_records_query(const struct upload_records *rows)
{
	struct wire_query query = source_query(1u << rows->kind);

	query.node = text_of(rows->upload->node.list);
	query.from_ns = rows->upload->from_ns;
	query.to_ns = rows->upload->to_ns;
	return query;
}

static bool
is_wanted(const struct upload_records *rows, const struct record *record)
{
	char name[2 * NAME_BYTES_MAX + 2];
	struct text whole = record->source;

	if (rows->pattern.bytes == 0)
		return true;
	if (record->kind == RECORD_EVENT) {
		whole.at = name;
		whole.bytes = (uint32_t)snprintf(name, sizeof(name),
		    "%.*s:%.*s", (int)record->source.bytes, record->source.at,
		    (int)record->name.bytes, record->name.at);
	}
	return text_match(rows->pattern, whole);
}

int
upload_records_learn_groups(struct upload_records *rows, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_ENTITY);
	struct record record;
	int rc;

	query.name = text_of("set:*");
	if (source_select(rows->source, SOURCE_RECORDS,
		text_of(rows->partition), &query, err) != 0)
		return -1;
	while ((rc = source_next(rows->source, &record, err)) > 0)
		columns_take(&rows->groups, &record);
	return rc;
}

int
upload_records_add(
    struct upload_records *rows, const struct record *record, struct err *err)
{
	struct target_row row = { .partition = text_of(rows->partition),
		.record = record };
	int rc;

	if (record->kind == RECORD_ENTITY)
		columns_take(&rows->groups, record);
	if (record->kind != rows->kind || !is_wanted(rows, record))
		return 1;
	if (record->kind == RECORD_SAMPLE) {
		const struct columns *columns =
		    columns_find(&rows->groups, record->source);

		row.names = columns->names;
		row.units = columns->units;
		row.columns = columns->count;
		row.definition = columns->definition;
	}
	rc = rows->type->add(rows->target, &row, err);
	if (rc > 0) {
		rows->added++;
		rows->nameless += record->kind == RECORD_SAMPLE &&
				  record->values > row.columns;
	}
	return rc;
}

static void
show(struct upload_records *rows)
{
	int64_t now_ns = clock_monotonic_ns();

	if (opt_common_values.quiet || !progress_is_wanted() ||
	    rows->upload->http.dry_run ||
	    now_ns - rows->shown_ns < SHOW_EVERY_NS)
		return;
	rows->shown_ns = now_ns;
	fprintf(stderr, "\r%.40s: %" PRIu64 " %s sent\033[K", rows->display,
	    rows->sent, rows->word);
	fflush(stderr);
}

int
upload_records_flush(
    struct upload_records *rows, const char *name, struct err *err)
{
	uint32_t left_out;

	if (rows->added == 0)
		return 0;
	if (rows->type->flush(rows->target, name, &left_out, err) != 0)
		return -1;
	/* A long sample is several lines. */
	if (left_out > rows->added)
		left_out = (uint32_t)rows->added;
	rows->left_out += left_out;
	rows->sent += rows->added - left_out;
	rows->added = 0;
	show(rows);
	return 0;
}
