/*
 * native - rows of events and of samples as blocks of ClickHouse's format
 * Native: collected and encoded, and read again, on one core, next to memcpy
 * of the same bytes.  The limit is 1 M rows of events a second: an archive is
 * then never slower by its format than the records come.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/clickhouse/native_read.h"
#include "proto/os/clock.h"

enum { ROWS = 20000, KEYS = 3, VALUES = 24, ROUNDS = 25, LIMIT = 1000000 };

static uint64_t sink; /* what was read, so that it is */

/* The identity of a row, and what an event or a sample has. */
static const struct native_column event_columns[] = { { "part", NATIVE_UINT64 },
	{ "hour", NATIVE_INT32 }, { "node", NATIVE_UINT32 },
	{ "track", NATIVE_UINT32 }, { "ts", NATIVE_INT64 },
	{ "stream", NATIVE_UINT32 }, { "seq", NATIVE_UINT64 },
	{ "idx", NATIVE_UINT32 }, { "source", NATIVE_STRING },
	{ "name", NATIVE_STRING }, { "keys", NATIVE_STRING_ARRAY },
	{ "types", NATIVE_UINT8_ARRAY }, { "vals", NATIVE_STRING_ARRAY } };
static const struct native_column sample_columns[] = { { "part",
							   NATIVE_UINT64 },
	{ "hour", NATIVE_INT32 }, { "node", NATIVE_UINT32 },
	{ "track", NATIVE_UINT32 }, { "ts", NATIVE_INT64 },
	{ "stream", NATIVE_UINT32 }, { "seq", NATIVE_UINT64 },
	{ "idx", NATIVE_UINT32 }, { "v", NATIVE_FLOAT64_ARRAY } };

static void
put_identity(struct native_block *block, uint32_t row)
{
	native_put_uint(block, 0, UINT64_C(0x0123456789abcdef));
	native_put_int(block, 1, 490000);
	native_put_uint(block, 2, row % 60);
	native_put_uint(block, 3, row % 4);
	native_put_int(block, 4, INT64_C(1764194400000000000) + row);
	native_put_uint(block, 5, 3);
	native_put_uint(block, 6, row / 100);
	native_put_uint(block, 7, row % 100);
}

static void
put_event(struct native_block *block, uint32_t row)
{
	static const char *const keys[KEYS] = { "img", "message", "size" };
	static const char *const values[KEYS] = {
		"mcr.microsoft.com/azure-cli:2.0.58", "diff=12.034567",
		"187800000"
	};

	put_identity(block, row);
	native_put_text(block, 8, text_of("cascade"));
	native_put_text(block, 9, text_of("pull-start"));
	for (int i = 0; i < KEYS; i++) {
		native_put_text(block, 10, text_of(keys[i]));
		native_put_uint(block, 11, 5);
		native_put_text(block, 12, text_of(values[i]));
	}
	for (unsigned column = 10; column <= 12; column++)
		native_end_array(block, column);
}

static void
put_sample(struct native_block *block, uint32_t row)
{
	put_identity(block, row);
	for (int i = 0; i < VALUES; i++)
		native_put_float(block, 8, row + 0.25 * i);
	native_end_array(block, 8);
}

static void
read_event(const struct native_reader *r, uint32_t row)
{
	uint32_t first, count = native_read_array(r, 10, row, &first);

	sink += (uint64_t)native_read_int(r, 4, row);
	sink += native_read_text(r, 8, row).bytes;
	sink += native_read_text(r, 9, row).bytes;
	for (uint32_t i = first; i < first + count; i++)
		sink += native_read_text(r, 10, i).bytes +
			native_read_uint(r, 11, i) +
			native_read_text(r, 12, i).bytes;
}

static void
read_sample(const struct native_reader *r, uint32_t row)
{
	uint32_t first, count = native_read_array(r, 8, row, &first);

	sink += (uint64_t)native_read_int(r, 4, row);
	for (uint32_t i = first; i < first + count; i++)
		sink += (uint64_t)native_read_float(r, 8, i);
}

static int64_t
shorter(int64_t best, int64_t began)
{
	int64_t took = clock_monotonic_ns() - began;

	return took < best ? took : best;
}

static int64_t
measure_reading(const struct native_column *columns, unsigned count,
    struct text bytes, void (*read)(const struct native_reader *, uint32_t))
{
	int64_t best = INT64_MAX;

	for (int round = 0; round < ROUNDS; round++) {
		struct native_reader *r = native_read_open(columns, count);
		struct text piece = bytes;
		struct err err = { 0 };
		int64_t began = clock_monotonic_ns();

		if (native_read_next(r, &piece, &err) != 1)
			abort();
		for (uint32_t row = 0; row < ROWS; row++)
			read(r, row);
		best = shorter(best, began);
		native_read_close(&r);
	}
	return best;
}

/* Print a line; returns rows a second of writing. */
static double
measure(const char *name, const struct native_column *columns, unsigned count,
    unsigned values, void (*put)(struct native_block *, uint32_t),
    void (*read)(const struct native_reader *, uint32_t))
{
	struct native_block *block = native_block_open(columns, count);
	struct buffer bytes = { 0 };
	int64_t wrote = INT64_MAX, copied = INT64_MAX, took;
	char *copy = NULL;

	for (int round = 0; round < ROUNDS; round++) {
		int64_t began = clock_monotonic_ns();

		native_reset(block);
		bytes.bytes = 0;
		for (uint32_t row = 0; row < ROWS; row++)
			put(block, row);
		native_encode(block, &bytes);
		wrote = shorter(wrote, began);
		if (copy == NULL)
			copy = memory_zero(1, bytes.bytes);
		began = clock_monotonic_ns();
		memcpy(copy, bytes.at, bytes.bytes);
		copied = shorter(copied, began);
		sink += (uint64_t)copy[bytes.bytes / 2];
	}
	took = measure_reading(columns, count, buffer_text(&bytes), read);
	printf("%-8s write %5.2f M rows/s, %5.1f M values/s, %5.0f MB/s; "
	       "read %5.2f M rows/s; memcpy %6.0f MB/s; %.0f bytes a row\n",
	    name, 1e3 * ROWS / (double)wrote,
	    1e3 * ROWS * values / (double)wrote,
	    1e3 * (double)bytes.bytes / (double)wrote,
	    1e3 * ROWS / (double)took,
	    1e3 * (double)bytes.bytes / (double)copied,
	    (double)bytes.bytes / ROWS);
	free(copy);
	buffer_clear(&bytes);
	native_block_close(&block);
	return 1e9 * ROWS / (double)wrote;
}

int
main(void)
{
	double rate = measure("events", event_columns,
	    sizeof(event_columns) / sizeof(event_columns[0]), 10 + 3 * KEYS,
	    put_event, read_event);

	measure("samples", sample_columns,
	    sizeof(sample_columns) / sizeof(sample_columns[0]), 8 + VALUES,
	    put_sample, read_sample);
	printf("events written: %.2f M rows/s (limit %.0f)\n", rate / 1e6,
	    LIMIT / 1e6);
	if (sink == 0)
		puts("");
	return rate >= LIMIT ? 0 : 1;
}
