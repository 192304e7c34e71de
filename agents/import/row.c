/*
 * import_row - one line of an older tool's data, as an event.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/row.h"

#include "agents/import/json_member.h"
#include "agents/submit/compose.h"
#include "proto/os/clock.h"
#include "proto/wire/wire.h"

void
import_row_clear(struct import_row *row)
{
	json_fields_clear(&row->object);
}

int
import_row_put(struct import_row *row, const char *key,
    const struct value *value, struct err *err)
{
	uint32_t used = row->record.pairs.bytes;
	struct wire_writer w;

	wire_writer_init(&w, row->pairs + used, sizeof(row->pairs) - used);
	if (!wire_put_attribute(&w, text_of(key), value))
		return err_set(err,
		    "the texts of the row are longer than %d "
		    "bytes together",
		    IMPORT_PAIRS_BYTES);
	row->record.attributes++;
	row->record.pairs =
	    (struct text){ (const char *)row->pairs, used + (uint32_t)w.bytes };
	return 0;
}

/* Empty values are omitted. */
static int
put_attributes(struct import_row *row, struct text message, struct text prefix,
    struct err *err)
{
	struct value value = { .type = VALUE_TEXT };

	if (message.bytes > RECORD_TEXT_BYTES_MAX)
		return err_set(err, "the message is longer than %d bytes",
		    RECORD_TEXT_BYTES_MAX);
	if (prefix.bytes > NAME_BYTES_MAX)
		return err_set(
		    err, "the prefix is longer than %d bytes", NAME_BYTES_MAX);
	value.is.text = message;
	if (message.bytes > 0 &&
	    import_row_put(row, "message", &value, err) != 0)
		return -1;
	value.is.text = prefix;
	if (prefix.bytes > 0 && import_row_put(row, "prefix", &value, err) != 0)
		return -1;
	return 0;
}

static int
parse_cascade(struct import_row *row, struct err *err)
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
	return put_attributes(row, message, (struct text){ NULL, 0 }, err);
}

static int
get_emit_time(struct import_row *row, struct err *err)
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
parse_emit(struct import_row *row, struct err *err)
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
	    get_emit_time(row, err) != 0 ||
	    compose_lower(row->source, source, "\"source\"", err) != 0 ||
	    compose_lower(row->name, event, "\"event\"", err) != 0)
		return -1;
	record->source = text_of(row->source);
	record->name = text_of(row->name);
	if (text_equal(prefix, text_of("shipyard")))
		prefix.bytes = 0; /* the recorder's own default */
	return put_attributes(row, message, prefix, err);
}

int
import_row_load(struct import_row *row, struct text line, struct err *err)
{
	row->aside = false;
	row->partition = (struct text){ NULL, 0 };
	row->record = (struct record){ .kind = RECORD_EVENT, .has_time = true };
	return json_fields_read(&row->object, line, err);
}

int
import_row_parse(struct import_row *row, enum import_kind kind,
    struct text line, struct err *err)
{
	int rc = import_row_load(row, line, err);

	if (rc == 0)
		rc = kind == IMPORT_CASCADE ? parse_cascade(row, err)
					    : parse_emit(row, err);
	return rc != 0 ? -1 : record_check(&row->record, err);
}
