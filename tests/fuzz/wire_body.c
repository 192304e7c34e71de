/*
 * wire_body - the first byte says how to take the rest: bit 0 a page, bit 1
 * compressed.  What our check accepts msgpack-c must accept with the same
 * lengths, record_check must accept every record, and what is written from
 * the records must read the same.
 * SPDX-License-Identifier: MIT
 */
#include <msgpack.h>
#include <stdlib.h>
#include <zstd.h>

#include "proto/os/clock.h"
#include "proto/wire/buckets.h"
#include "proto/wire/columns.h"
#include "tests/fuzz/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct wire_room room;

static enum wire_fault
check(struct wire_header *header, struct text body, struct text *plain)
{
	struct text cursor;

	if (header->type == WIRE_PAGE)
		return wire_page_body(header, body, &room, &cursor, plain);
	return wire_body(header, body, &room, plain);
}

static uint32_t
count(const struct wire_header *header, struct text plain)
{
	struct wire_cursor cursor;
	struct record record;
	uint32_t records = 0;

	wire_cursor_init(&cursor, header, plain);
	while (wire_next(&cursor, &record))
		records++;
	return records;
}

/* The judge: msgpack-c sees the same arrays one after another. */
static void
compare_with_msgpack(struct text plain, uint32_t records)
{
	msgpack_unpacked object;
	size_t offset = 0;
	uint32_t seen = 0;

	msgpack_unpacked_init(&object);
	while (offset < plain.bytes) {
		MUST(msgpack_unpack_next(&object, plain.at, plain.bytes,
			 &offset) == MSGPACK_UNPACK_SUCCESS);
		MUST(object.data.type == MSGPACK_OBJECT_ARRAY);
		if (object.data.via.array.ptr[0].via.u64 != RECORD_CONTEXT)
			seen++;
	}
	msgpack_unpacked_destroy(&object);
	MUST(seen == records);
}

static void
walk_pairs(const struct record *record)
{
	struct text rest = record->pairs;
	struct record_attribute attribute;
	struct value value;
	uint32_t pairs = 0, values = 0;

	while (record_next_attribute(&rest, &attribute))
		pairs++;
	MUST(pairs == record->attributes);
	if (record->kind != RECORD_SAMPLE || record->values == 0)
		return;
	rest = record->value_bytes;
	while (record_next_value(&rest, &value))
		values++;
	MUST(values == record->values);
}

/* What is taken for buckets has that count, is in order, and no more than
 * are values for. */
static void
walk_buckets(const struct record *record)
{
	int64_t before_ns = record->time_ns;
	uint64_t count = record->count > 0 ? record->count : 1, seen = 0;
	struct wire_buckets buckets;
	struct wire_bucket bucket;
	int rc;

	if (!wire_buckets_init(&buckets, record))
		return;
	while ((rc = wire_next_bucket(&buckets, &bucket)) > 0) {
		MUST(bucket.begin_ns == before_ns);
		MUST(bucket.end_ns > bucket.begin_ns);
		before_ns = bucket.end_ns;
		seen++;
	}
	MUST(rc < 0 || (seen == count && before_ns == record->end_ns &&
			   buckets.rest.bytes == 0));
}

/* What is taken for columns has a number in each cell that it says. */
static void
walk_columns(const struct record *record)
{
	struct wire_columns columns;
	double sum = 0;

	if (!wire_columns_init(&columns, record))
		return;
	MUST(columns.samples == record->count);
	for (uint32_t i = 0; i < columns.samples; i++) {
		sum += (double)wire_column_time(&columns, i);
		for (uint32_t c = 0; c < columns.columns; c++)
			sum += wire_column_number(&columns, c, i);
	}
	MUST(sum != 0.5 || columns.samples > 0);
}

/* Write what was read. */
static uint32_t
copy(const struct wire_header *header, struct text plain, void *to,
    size_t room_bytes)
{
	struct wire_cursor cursor;
	struct wire_writer w;
	struct record record;
	struct err err;

	wire_writer_init(&w, to, room_bytes);
	wire_cursor_init(&cursor, header, plain);
	while (wire_next(&cursor, &record)) {
		MUST(record_check(&record, &err) == 0);
		walk_pairs(&record);
		walk_buckets(&record);
		walk_columns(&record);
		if (header->type == WIRE_PAGE)
			MUST(wire_put_context_entry(&w, &record, cursor.entry));
		else
			MUST(wire_put_context(&w, record.node));
		MUST(wire_put_record(&w, &record));
	}
	MUST(w.records == header->records);
	return (uint32_t)w.bytes;
}

static void
read_and_write(const struct wire_header *header, struct text plain)
{
	/* A context that is new takes up to 300 bytes before each record. */
	size_t bytes = plain.bytes + 300 * (size_t)header->records + 1;
	unsigned char *once = malloc(bytes), *twice = malloc(2 * bytes);
	struct wire_header batch = *header;
	struct text copied;
	uint32_t twice_bytes;

	MUST(once && twice);
	copied =
	    (struct text){ (char *)once, copy(header, plain, once, bytes) };
	batch.body_bytes = copied.bytes;
	batch.codec = WIRE_NONE;
	if (header->type != WIRE_PAGE) {
		struct wire_room none = { 0 };
		struct text checked;

		MUST(wire_body(&batch, copied, &none, &checked) == WIRE_OK);
	}
	twice_bytes = copy(&batch, copied, twice, 2 * bytes);
	MUST(twice_bytes == copied.bytes &&
	     memcmp(once, twice, twice_bytes) == 0);
	free(once);
	free(twice);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wire_header header = { .node = text_of("n") };
	struct text body, plain;
	enum wire_fault fault;

	if (size < 1 || size > WIRE_FRAME_BYTES_MAX)
		return 0;
	header.type = data[0] & 1 ? WIRE_PAGE : WIRE_BATCH;
	body = (struct text){ (const char *)data + 1, (uint32_t)size - 1 };
	header.body_bytes = body.bytes;
	if (data[0] & 2) {
		header.codec = WIRE_ZSTD;
		header.body_bytes =
		    (uint32_t)ZSTD_getFrameContentSize(body.at, body.bytes);
	}
	/* No batch has that many: other faults are reported first. */
	header.records = WIRE_RECORDS_MAX;
	fault = check(&header, body, &plain);
	if (fault != WIRE_OK && fault != WIRE_COUNT)
		return 0;
	header.records = count(&header, plain);
	if (header.records > WIRE_RECORDS_MAX)
		return 0;
	MUST(check(&header, body, &plain) == WIRE_OK);
	compare_with_msgpack(plain, header.records);
	read_and_write(&header, plain);
	return 0;
}
