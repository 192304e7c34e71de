/*
 * generate_plant_rows - what the nodes of a pool with planted causes report:
 * events of the model cascade, and samples of the host.
 *
 * Equal options give equal rows on every machine.  Some samples are lost, and
 * each node's clock is a little wrong, as its reports say.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_GENERATE_PLANT_ROWS_H
#define AGENTS_GENERATE_PLANT_ROWS_H

#include "agents/generate/plant.h"
#include "agents/generate/row.h"

enum {
	GENERATE_PLANT_EVENTS = 4 + 4 * GENERATE_PLANT_IMAGES,
	GENERATE_PLANT_PAUSE_S = 3600, /* between two starts */
};

struct generate_plant_event {
	int64_t time_ns; /* true */
	const char *source, *name;
	int image;        /* -1: none */
	int64_t since_ns; /* true; INT64_MIN: it ends nothing */
};

struct generate_plant_rows {
	/* Of the options. */
	struct generate_plant plant;
	uint64_t starts;
	int64_t base_ns, period_ns;

	/* Of the source. */
	uint64_t start, node; /* the current ones */
	uint32_t step;
	uint64_t given;
	struct generate_plant_segment segment[GENERATE_PLANT_SEGMENTS_MAX];
	uint32_t segments;
	struct generate_plant_event event[GENERATE_PLANT_EVENTS];
	uint32_t events;
	uint64_t state; /* of the random numbers */
	uint64_t sample;
	int64_t sample_ns, hole_ns, idle;
	int64_t other[PLANT_COUNTERS]; /* of whatever else runs */
	char node_name[16];
	unsigned char body[GENERATE_ROW_VALUES_BYTES];
	unsigned char digest[IMPORT_DIGEST_BYTES];
};

/* How long all starts take at most, and a pause. */
int64_t generate_plant_rows_length_s(const struct generate_plant_rows *rows);
/* Can it be made?  Then it can be read until it is closed. */
int generate_plant_rows_open(struct generate_plant_rows *rows, struct err *err);
/* When the last start ends, of rows that are open. */
int64_t generate_plant_rows_end_ns(struct generate_plant_rows *rows);
/* Valid while `rows` is. */
struct import_source generate_plant_rows_source(
    struct generate_plant_rows *rows);
void generate_plant_rows_close(struct generate_plant_rows *rows);

/* Write what was planted to DIR/truth.json. */
int generate_plant_rows_truth(
    struct generate_plant_rows *rows, const char *dir, struct err *err);

#endif
