/*
 * import_emits - calls of the recorder as events.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/formats/emits.h"

#include "agents/import/formats/lines.h"
#include "agents/import/json_member.h"
#include "agents/submit/compose.h"
#include "proto/os/clock.h"

static int
get_time(struct import_row *row, struct err *err)
{
	struct text clock = json_fields_find(&row->object, "clock_us");
	struct value us;
	struct text time;

	if (json_member_text_if_any(&row->object, "ts", &time, err) != 0)
		return -1;
	if (time.at != NULL) {
		if (clock_parse_seconds(time, &row->record.time_ns, err) != 0)
			return err_prefix(err, "\"ts\"");
		return 0;
	}
	if (clock.bytes == 0)
		return err_set(err, "\"ts\" and \"clock_us\" are missing");
	if (json_fields_number(clock, &us, err) != 0)
		return err_prefix(err, "\"clock_us\"");
	if (us.type != VALUE_INT)
		return err_set(err, "\"clock_us\" is not an integer");
	if (us.is.i < TIME_MIN_NS / 1000 || us.is.i > TIME_MAX_NS / 1000)
		return err_set(
		    err, "\"clock_us\" is not between 1900 and 2200");
	row->record.time_ns = us.is.i * 1000;
	return 0;
}

static int
parse(struct import_row *row, struct err *err)
{
	struct record *record = &row->record;
	struct text source, event, message, prefix;

	if (json_member_name(&row->object, "node", &record->node, err) != 0 ||
	    json_member_text(&row->object, "source", &source, err) != 0 ||
	    json_member_text(&row->object, "event", &event, err) != 0 ||
	    json_member_text_if_any(&row->object, "message", &message, err) !=
		0 ||
	    json_member_text_if_any(&row->object, "prefix", &prefix, err) !=
		0 ||
	    get_time(row, err) != 0 ||
	    compose_lower(row->source, source, "\"source\"", err) != 0 ||
	    compose_lower(row->name, event, "\"event\"", err) != 0)
		return -1;
	record->source = text_of(row->source);
	record->name = text_of(row->name);
	if (text_equal(prefix, text_of("shipyard")))
		prefix.bytes = 0; /* the recorder's own default */
	return import_row_put_message(row, message, prefix, err);
}

int
import_emits_parse(struct import_row *row, struct text line, struct err *err)
{
	int rc = import_row_load(row, line, err);

	if (rc == 0)
		rc = parse(row, err);
	return rc != 0 ? -1 : record_check(&row->record, err);
}

static int
open_emits(struct import_source *source, const char *path,
    const struct import_format_options *options, struct err *err)
{
	return import_lines_open(
	    source, IMPORT_EMITS, import_emits_parse, path, options, err);
}

const struct import_format import_format_emits = {
	.word = "emits",
	.operands = " FILE...",
	.summary = "calls of Batch Shipyard's recorder",
	.options = "",
	.kind = IMPORT_EMITS,
	.without_partition = "emits",
	.rows = "events",
	.bad_rows = "bad lines",
	.open = open_emits,
};
