/*
 * question_clocks - the last reported clock offset of each node, by name.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "exporters/question/question.h"
#include "exporters/source/clock_map.h"
#include "proto/base/memory.h"
#include "proto/hash/string_table.h"
#include "proto/os/clock.h"

enum { RUN_BITS = 16 }; /* a generation is the run, then its steps */

struct row {
	struct text node;
	int64_t time, receive, age, offset, error, round_trip, begin;
	double drift, drift_ppm, drift_error;
	uint64_t run, steps;
	enum answer_flag off;
};

#define TIME(member)     ANSWER_AT_TIME(struct row, member)
#define DURATION(member) ANSWER_AT_DURATION(struct row, member)
#define NUMBER(member)   ANSWER_AT_NUMBER(struct row, member)

static const struct answer_column columns[] = {
	{ "node", "NODE", ANSWER_AT_TEXT(struct row, node),
	    "whose clock it is" },
	{ "time", NULL, TIME(time),
	    "when it was measured, by the node's clock" },
	{ "receive", NULL, TIME(receive),
	    "when the aggregator received the report" },
	{ "age", "AGE", DURATION(age),
	    "how long ago the aggregator received the report" },
	{ "offset", "OFFSET", DURATION(offset),
	    "how far the aggregator's clock is ahead of the node's",
	    .traits = ANSWER_BY_SIZE },
	{ "error", "ERROR", DURATION(error), "the error of the offset" },
	{ "drift", NULL, NUMBER(drift),
	    "how much faster the aggregator's clock goes", "1",
	    .traits = ANSWER_BY_SIZE },
	{ "drift_ppm", "DRIFT/PPM", NUMBER(drift_ppm),
	    "the drift in parts per million", "[ppm]",
	    .traits = ANSWER_SPARE | ANSWER_BY_SIZE },
	{ "drift_error", NULL, NUMBER(drift_error), "the error of the drift",
	    "1" },
	{ "round_trip", "ROUND TRIP", DURATION(round_trip),
	    "the smallest round trip of the measurement",
	    .traits = ANSWER_SPARE },
	{ "generation_begin", NULL, TIME(begin),
	    "when the clock was last set, or the agent started" },
	{ "run", "RUN", ANSWER_AT_COUNT(struct row, run),
	    "how often the agent has started", .traits = ANSWER_SPARE },
	{ "steps", "STEPS", ANSWER_AT_COUNT(struct row, steps),
	    "how often either clock was set since the agent started" },
	{ "off", NULL, ANSWER_AT_FLAG(struct row, off),
	    "is the offset larger than its error?" },
	{ .key = NULL },
};

static const struct answer_table tables[] = { { "clocks", columns },
	{ .name = NULL } };

/* ---- reading ---- */

struct last {
	struct text node;
	struct clock_map_point is;
};

struct clocks {
	struct string_table names;
	struct last *at; /* indexed by the number of the name */
	uint32_t room;
};

/* The records of one batch are ordered by the node's clock, which may have
 * been set back between them. */
static bool
is_later(
    const struct clock_map_point *point, const struct clock_map_point *than)
{
	if (point->receive_ns != than->receive_ns)
		return point->receive_ns > than->receive_ns;
	return point->generation >= than->generation;
}

static void
take(struct clocks *clocks, struct text node,
    const struct clock_map_point *point)
{
	uint32_t before = clocks->names.count;
	uint32_t number = string_table_add(&clocks->names, node);
	struct last *last;

	MEMORY_GROW(clocks->at, clocks->room, number);
	last = &clocks->at[number];
	if (number == before || is_later(point, &last->is))
		*last = (struct last){ clocks->names.names[number], *point };
}

static int
read_clocks(
    struct clocks *clocks, const struct question_asked *asked, struct err *err)
{
	struct wire_query query = question_query(asked, 1u << RECORD_SAMPLE);
	struct clock_map_point point;
	struct record record;
	int rc;

	query.name = text_of("clock");
	if (source_select(asked->source, SOURCE_RECORDS, asked->partition,
		&query, err) != 0)
		return -1;
	while ((rc = source_next(asked->source, &record, err)) > 0)
		if (clock_map_get_point(&record, &point))
			take(clocks, record.node, &point);
	if (rc == 0 && clocks->names.count == 0)
		return err_set(err,
		    "no node of partition %.*s has reported its clock offset "
		    "in %s",
		    (int)asked->partition.bytes, asked->partition.at,
		    source_name(asked->source));
	return rc;
}

/* ---- rows ---- */

static int
by_name(const void *left, const void *right)
{
	const struct last *a = left, *b = right;

	return text_compare(a->node, b->node);
}

static void
put(struct answer *answer, const struct last *last, int64_t now_ns)
{
	const struct clock_map_point *p = &last->is;
	const struct row row = { .node = last->node,
		.time = p->time_ns,
		.receive = p->receive_ns,
		.age = p->receive_ns < now_ns ? now_ns - p->receive_ns : 0,
		.offset = p->offset_ns,
		.error = p->error_ns,
		.drift = p->drift,
		.drift_ppm = p->drift * 1e6,
		.drift_error = p->drift_error,
		.round_trip = p->round_trip_ns,
		.begin = p->begin_ns,
		.run = p->generation >> RUN_BITS,
		.steps = p->generation & ((1u << RUN_BITS) - 1),
		.off = llabs(p->offset_ns) > p->error_ns ? ANSWER_YES
							 : ANSWER_NO };

	answer_row(answer, &row, NULL);
}

static int
ask(const struct question_asked *asked, struct answer *answer, struct err *err)
{
	struct clocks clocks = { .room = 0 };
	int64_t now_ns = clock_wall_ns();
	int rc;

	string_table_init(&clocks.names);
	/* A corrected clock has no offset. */
	source_clock(asked->source)->choice = CLOCK_RAW;
	rc = read_clocks(&clocks, asked, err);
	if (rc == 0) {
		answer_title(answer,
		    "OFFSET is how far the aggregator's clock is ahead of the "
		    "node's, within ERROR");
		qsort(
		    clocks.at, clocks.names.count, sizeof(*clocks.at), by_name);
		for (uint32_t i = 0; i < clocks.names.count; i++)
			put(answer, &clocks.at[i], now_ns);
	}
	free(clocks.at);
	string_table_clear(&clocks.names);
	return rc;
}

const struct question question_clocks = { .word = "clocks",
	.summary = "how far the nodes' clocks are from the aggregator's",
	.options = "node from to sort top columns",
	.examples = "poolscope stats clocks\n"
		    "poolscope stats clocks -n 'n1*' --from -1d\n",
	.tables = tables,
	.kinds = 1u << RECORD_SAMPLE,
	.ages = true,
	.ask = ask };
