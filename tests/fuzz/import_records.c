/*
 * import_records - any line is a record that an aggregator takes with its
 * identity, or bad with a reason; what dump prints of it is the same record.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/formats/records.h"
#include "proto/decode/record_json.h"
#include "proto/wire/wire.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A record of an import as the body of a batch. */
struct packed {
	struct import_row row;
	struct import_records_room room;
	unsigned char bytes[2 * IMPORT_BODY_BYTES_MAX];
	struct text body;
};

static bool
pack(struct packed *p, struct text line)
{
	struct record *record = &p->row.record;
	struct wire_writer w;
	struct err err = { 0 };

	if (import_records_parse(&p->row, &p->room, line, &err) != 0) {
		assert(err.text[0] != '\0');
		return false;
	}
	assert(text_check_name(record->node) == TEXT_OK);
	assert(text_check_name(p->row.partition) == TEXT_OK);
	wire_writer_init(&w, p->bytes, sizeof(p->bytes));
	if (record->id.seq > 0)
		assert(wire_put_context_full(&w, record));
	else
		assert(wire_put_context(&w, record->node));
	assert(wire_put_record(&w, record));
	p->body = (struct text){ (char *)p->bytes, (uint32_t)w.bytes };
	return true;
}

static void
is_taken(const struct packed *p)
{
	struct wire_header header = { .type = WIRE_BATCH,
		.flags = WIRE_FLAG_ONCE,
		.records = 1,
		.body_bytes = p->body.bytes };
	struct wire_room room = { .at = NULL };
	struct wire_cursor cursor;
	struct record record;
	struct text plain;

	assert(wire_body(&header, p->body, &room, &plain) == WIRE_OK);
	wire_cursor_init(&cursor, &header, plain);
	assert(wire_next(&cursor, &record));
	assert(session_equal(&record.id.session, &p->row.record.id.session));
	assert(record.id.seq == p->row.record.id.seq);
	assert(record.id.index == p->row.record.id.index);
	assert(record.receive_ns == p->row.record.receive_ns);
	/* Without the flag it is the sender who names the session. */
	header.flags = 0;
	wire_cursor_init(&cursor, &header, plain);
	assert(wire_next(&cursor, &record) && record.id.seq == 0);
	wire_room_clear(&room);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct packed first, again;
	struct text line = { (const char *)data, (uint32_t)size };
	struct json_memory json;
	struct text printed;

	if (size > IMPORT_LINE_BYTES_MAX || !pack(&first, line))
		return 0;
	is_taken(&first);
	if (first.row.record.id.seq == 0)
		return 0;
	json_memory_begin(&json, JSON_LINE | JSON_STRICT);
	record_json_object(
	    &json.to, first.row.partition, &first.row.record, NULL);
	printed = json_memory_end(&json);
	assert(pack(&again, printed));
	assert(text_equal(again.body, first.body));
	assert(text_equal(again.row.partition, first.row.partition));
	free(json.text);
	return 0;
}
