/*
 * import_cascade - rows of the event table as events.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/formats/cascade.h"

#include "agents/import/formats/lines.h"
#include "agents/import/json_member.h"
#include "proto/os/clock.h"

static int
parse(struct import_row *row, struct err *err)
{
	struct record *record = &row->record;
	struct text time, event, message;
	const char *colon;

	if (json_member_name(
		&row->object, "PartitionKey", &row->partition, err) != 0 ||
	    json_member_name(&row->object, "NodeId", &record->node, err) != 0 ||
	    json_member_text(&row->object, "RowKey", &time, err) != 0 ||
	    json_member_text(&row->object, "Event", &event, err) != 0 ||
	    json_member_text_if_any(&row->object, "Message", &message, err) !=
		0)
		return -1;
	if (clock_parse_seconds(time, &record->time_ns, err) != 0)
		return err_prefix(err, "\"RowKey\"");
	colon = event.bytes > 0 ? memchr(event.at, ':', event.bytes) : NULL;
	if (colon == NULL)
		return err_set(err, "\"Event\" is not SOURCE:NAME");
	record->source =
	    (struct text){ event.at, (uint32_t)(colon - event.at) };
	record->name =
	    (struct text){ colon + 1, event.bytes - record->source.bytes - 1 };
	return import_row_put_message(
	    row, message, (struct text){ NULL, 0 }, err);
}

int
import_cascade_parse(struct import_row *row, struct text line, struct err *err)
{
	int rc = import_row_load(row, line, err);

	if (rc == 0)
		rc = parse(row, err);
	return rc != 0 ? -1 : record_check(&row->record, err);
}

/* As import_format.open; azure-table has the same rows. */
static int
import_cascade_open(struct import_source *source, const char *path,
    const struct import_format_options *options, struct err *err)
{
	return import_lines_open(
	    source, IMPORT_CASCADE, import_cascade_parse, path, options, err);
}

const struct import_format import_format_cascade = {
	.word = "cascade",
	.operands = " FILE...",
	.summary = "rows of Batch Shipyard's event table",
	.options = "",
	.kind = IMPORT_CASCADE,
	.rows = "events",
	.bad_rows = "bad lines",
	.open = import_cascade_open,
};
