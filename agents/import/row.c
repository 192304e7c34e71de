/*
 * import_row - one row of an older tool's data, as a record.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/row.h"

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

int
import_row_put_message(struct import_row *row, struct text message,
    struct text prefix, struct err *err)
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

int
import_row_load(struct import_row *row, struct text line, struct err *err)
{
	row->aside = false;
	row->partition = (struct text){ NULL, 0 };
	row->record = (struct record){ .kind = RECORD_EVENT, .has_time = true };
	return json_fields_read(&row->object, line, err);
}
