/*
 * import_row - any line of cascade or emits is a row that an aggregator takes,
 * or bad with a reason.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/formats/cascade.h"
#include "agents/import/formats/emits.h"
#include "proto/wire/wire.h"

#include <assert.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
parse(enum import_kind kind, struct text line)
{
	static unsigned char body[WIRE_BATCH_BYTES];
	struct import_row *row = calloc(1, sizeof(*row));
	struct wire_header header = { .type = WIRE_BATCH, .records = 1 };
	struct wire_room room = { .at = NULL };
	struct wire_writer w;
	struct text packed, plain;
	struct err err = { 0 };
	int rc;

	assert(row != NULL);
	rc = kind == IMPORT_CASCADE ? import_cascade_parse(row, line, &err)
				    : import_emits_parse(row, line, &err);
	if (rc != 0) {
		assert(err.text[0] != '\0');
	} else {
		assert(text_check_name(row->record.node) == TEXT_OK);
		assert((kind == IMPORT_EMITS) == (row->partition.bytes == 0));
		wire_writer_init(&w, body, sizeof(body));
		assert(wire_put_context(&w, row->record.node));
		assert(wire_put_record(&w, &row->record));
		packed = (struct text){ (char *)body, (uint32_t)w.bytes };
		header.body_bytes = packed.bytes;
		assert(wire_body(&header, packed, &room, &plain) == WIRE_OK);
	}
	import_row_clear(row);
	free(row);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text line = { (const char *)data, (uint32_t)size };

	if (size > IMPORT_LINE_BYTES_MAX)
		return 0;
	parse(IMPORT_CASCADE, line);
	parse(IMPORT_EMITS, line);
	return 0;
}
