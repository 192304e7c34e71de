/*
 * clock_map - any numbers as what nodes say of their clocks; whatever is asked
 * of it then, an error is never negative.
 *
 * 72 bytes an estimate: its time and seven numbers, when it was received.  The
 * last of them are the times that are asked for.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/clock_map.h"

#include <stdlib.h>
#include <string.h>

#include "proto/os/clock.h"
#include "proto/wire/wire.h"

enum { NUMBERS = 9, ESTIMATE_BYTES = 8 * NUMBERS };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What passes the check of a record (wire_body). */
static int64_t
time_of(int64_t number)
{
	return number < TIME_MIN_NS || number > TIME_MAX_NS ? number / 8
							    : number;
}

static void
add(struct clock_map *map, const uint8_t *data)
{
	int64_t numbers[NUMBERS];
	unsigned char bytes[100];
	struct wire_writer w;
	struct record record = {
		.kind = RECORD_SAMPLE, .source = text_of("clock"), .values = 7
	};

	memcpy(numbers, data, ESTIMATE_BYTES);
	record.node = text_of(numbers[5] & 1 ? "a" : "b");
	record.time_ns = time_of(numbers[0]);
	record.receive_ns = time_of(numbers[8]);
	wire_writer_init(&w, bytes, sizeof(bytes));
	for (int i = 1; i < 8; i++)
		wire_put_value(
		    &w, &(struct value){ VALUE_INT, { .i = numbers[i] } });
	record.value_bytes =
	    (struct text){ (const char *)bytes, (uint32_t)w.bytes };
	clock_map_add(map, &record);
}

static void
ask(const struct clock_map *map, int64_t time_ns)
{
	int64_t from_ns = time_ns, to_ns = time_ns;
	struct clock_map_offset offset;

	for (int i = 0; i < 2; i++)
		if (clock_map_at(
			map, text_of(i ? "a" : "b"), time_ns, &offset) &&
		    offset.error_ns < 0)
			abort();
	clock_map_widen(map, &from_ns, &to_ns);
	if (from_ns > to_ns || from_ns < TIME_MIN_NS || to_ns > TIME_MAX_NS)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct clock_map *map;

	if (size > 64 * ESTIMATE_BYTES)
		return 0;
	clock_map_new(&map);
	for (size_t at = 0; at + ESTIMATE_BYTES <= size; at += ESTIMATE_BYTES)
		add(map, data + at);
	clock_map_finish(map);
	for (size_t at = 0; at + 8 <= size; at += 8) {
		int64_t number;

		memcpy(&number, data + at, sizeof(number));
		ask(map, time_of(number));
	}
	clock_map_free(&map);
	return 0;
}
