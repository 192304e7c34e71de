/*
 * chunk - the size of compacted samples, and the speed of writing and reading
 * them, on one core: 1,500 s of 24 metrics of a busy machine.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "aggregator/chunk/chunk.h"
#include "proto/json/json_reader.h"
#include "proto/os/clock.h"

enum { ROWS = 1500, METRICS_MAX = 32 };
#define LAST_NS (2 * NS_PER_SECOND)

static int64_t times[ROWS];
static struct value values[METRICS_MAX][ROWS], back[ROWS];
static unsigned metrics;

static void
die(const char *what)
{
	fprintf(stderr, "chunk: %s\n", what);
	exit(1);
}

static void
load_row(struct text row, uint32_t at)
{
	struct json_reader reader;
	struct value number;
	struct text key;

	metrics = 0;
	json_reader_init(&reader, row);
	json_reader_enter(&reader, '{');
	while (json_reader_member(&reader, &key)) {
		json_reader_number(json_reader_take(&reader), &number);
		if (text_equal(key, text_of("timestamp")))
			times[at] = llrint(number.is.f * 1e7) * 100;
		else
			values[metrics++][at] = number;
	}
}

static void
load(const char *path)
{
	FILE *file = fopen(path, "r");
	char line[4096];

	if (file == NULL)
		die("no samples");
	for (uint32_t i = 0; i < ROWS; i++) {
		if (fgets(line, sizeof(line), file) == NULL)
			die("too few samples");
		load_row(text_of(line), i);
	}
	fclose(file);
}

static struct text
encode(struct chunk_writer *writer)
{
	chunk_begin(writer);
	chunk_put_int(writer, times, ROWS);
	for (unsigned m = 0; m < metrics; m++)
		chunk_put_value(writer, values[m], ROWS);
	return chunk_end(writer);
}

static void
decode(struct chunk_reader *reader, struct text chunk)
{
	static int64_t ints[ROWS];

	if (chunk_open(reader, chunk) != CHUNK_OK ||
	    chunk_get_int(reader, 0, ints) != CHUNK_OK)
		die("not read");
	for (unsigned m = 0; m < metrics; m++)
		if (chunk_get_value(reader, m + 1, back) != CHUNK_OK)
			die("not read");
}

/* CPU time of this process, which only computes. */
static int64_t
cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

/* Millions of values per second of CPU. */
static double
speed(
    struct chunk_writer *writer, struct chunk_reader *reader, struct text chunk)
{
	int64_t began = cpu_ns(), now;
	uint64_t rounds = 0;

	do {
		if (writer != NULL)
			encode(writer);
		else
			decode(reader, chunk);
		rounds++;
		now = cpu_ns();
	} while (now - began < LAST_NS);
	return (double)rounds * ROWS * (metrics + 1) * 1e3 /
	       (double)(now - began);
}

int
main(int argc, char **argv)
{
	struct chunk_writer *writer = chunk_writer_new();
	struct chunk_reader *reader = chunk_reader_new();
	double in, out;
	struct text chunk;

	load(argc > 1 ? argv[1] : "tests/bench/data/host-samples.jsonl");
	in = speed(writer, NULL, (struct text){ NULL, 0 });
	chunk = encode(writer);
	out = speed(NULL, reader, chunk);
	printf("chunk: %.3f bytes a value, times included (%u metrics, %d "
	       "rows, %u bytes)\n",
	    (double)chunk.bytes / ROWS / metrics, metrics, ROWS, chunk.bytes);
	printf("chunk: encode %.1f (goal 40), decode %.1f (goal 120) million "
	       "values/s\n",
	    in, out);
	chunk_writer_free(&writer);
	chunk_reader_free(&reader);
	return 0;
}
