/*
 * import_testrun - any line is a row that an aggregator takes, or bad with a
 * reason; the times of a row are those of a parser of doubles, but closer.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/formats/testrun.h"
#include "proto/json/json_find.h"
#include "proto/wire/wire.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Does the aggregator take it? */
static void
check_wire(const struct import_row *row)
{
	static unsigned char body[WIRE_BATCH_BYTES];
	struct wire_header header = { .type = WIRE_BATCH, .records = 1 };
	struct wire_room room = { .at = NULL };
	struct wire_writer w;
	struct text packed, plain;

	wire_writer_init(&w, body, sizeof(body));
	assert(wire_put_context(&w, text_of(IMPORT_TESTRUN_NODE)));
	assert(wire_put_record(&w, &row->record));
	packed = (struct text){ (char *)body, (uint32_t)w.bytes };
	header.body_bytes = packed.bytes;
	assert(wire_body(&header, packed, &room, &plain) == WIRE_OK);
	wire_room_clear(&room);
}

/* As another parser reads them.  A double has 53 bits: what it says is near
 * what was kept. */
static void
check_time(struct text row, const char *key, int64_t time_ns)
{
	double wanted = strtod(json_find(row, key).at, NULL);

	assert(fabs((double)time_ns / 1e9 - wanted) <=
	       1e-9 + 4e-16 * fabs(wanted));
}

static void
check_row(const struct import_row *row, enum import_testrun_file file,
    struct text line)
{
	struct value value;
	struct text json = json_find_root(line);

	assert(text_equal(row->record.source, text_of("run")));
	check_wire(row);
	if (file == IMPORT_TESTRUN_RUNS) {
		assert(row->record.kind == RECORD_ENTITY);
		return;
	}
	assert(row->record.kind == RECORD_EVENT);
	assert(json.bytes > 0);
	check_time(json, "event_emit", row->record.time_ns);
	assert(record_find_attribute(&row->record, text_of("run"), &value));
	assert(text_check_name(value.is.text) == TEXT_OK);
	if (record_find_attribute(&row->record, text_of("receive_ns"), &value))
		check_time(json, "event_receive", value.is.i);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text line = { (const char *)data, (uint32_t)size };

	if (size > IMPORT_LINE_BYTES_MAX)
		return 0;
	for (int file = 0; file < IMPORT_TESTRUN_FILES; file++) {
		struct import_row *row = calloc(1, sizeof(*row));
		struct err err = { 0 };

		assert(row != NULL);
		if (import_testrun_parse(row, file, line, &err) == 0)
			check_row(row, file, line);
		else
			assert(err.text[0] != '\0');
		import_row_clear(row);
		free(row);
	}
	return 0;
}
