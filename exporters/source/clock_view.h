/*
 * source_clock_view - on which clock a source shows times.
 *
 * Raw: each node's own, as stored.  Corrected: the aggregator's, by what was
 * estimated of the node's clock at that time (clock_map.h).  Unless reported, a
 * node's times are corrected where its clock was off by more than the error.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SOURCE_CLOCK_VIEW_H
#define EXPORTERS_SOURCE_CLOCK_VIEW_H

#include "exporters/source/clock_map.h"
#include "proto/wire/wire.h"

enum clock_choice { CLOCK_AUTO, CLOCK_RAW, CLOCK_CORRECTED };

/* What became of the last record. */
struct source_correction {
	bool corrected;
	int64_t time_ns, end_ns; /* raw */
	struct clock_map_offset offset;
};

struct source_clock {
	enum clock_choice choice;
	struct clock_map *map; /* NULL: nothing was loaded */
	/* Of what. */
	char partition[NAME_BYTES_MAX + 1];
	char node[2 * NAME_BYTES_MAX + 2];
	int64_t map_from_ns, map_to_ns;

	/* Nodes whose clocks were hours off, at some time. */
	struct source_far {
		char node[NAME_BYTES_MAX + 1];
		int64_t least_ns, greatest_ns;
	} * far;
	uint32_t far_count;

	/* Of the query: which shown times are wanted. */
	int64_t from_ns, to_ns;
	bool on;
	struct source_correction last;

	/* Of all that was shown since the start. */
	uint64_t corrected, raw;
	int64_t error_ns; /* the greatest of those that were corrected */
};

void source_clock_clear(struct source_clock *clock);

/* Does the query need the map, and is it another one than what is there?  Then
 * `query` asks for what it is made of; begin, add the records, end. */
bool source_clock_wants(const struct source_clock *clock, struct text partition,
    const struct wire_query *asked, struct wire_query *query);
void source_clock_begin(struct source_clock *clock, struct text partition,
    const struct wire_query *asked, const struct wire_query *query);
void source_clock_add(struct source_clock *clock, const struct record *record);
void source_clock_end(struct source_clock *clock);

/* Estimates of clocks that are hours off lie elsewhere: which ones those are
 * (fill from the records of `query`), and where. */
enum { SOURCE_FAR_MAX = 4096 };
bool source_clock_seeks_far(
    const struct wire_query *asked, struct wire_query *query);
void source_clock_add_far(
    struct source_clock *clock, const struct record *record);
/* The query for one of them; false: it is not of a node that is wanted. */
bool source_clock_far(const struct source_clock *clock, uint32_t number,
    const struct wire_query *asked, struct wire_query *query);

/* A query whose times are shown ones: make them wide enough. */
void source_clock_widen(struct source_clock *clock, struct wire_query *query);

/* What to add to this time; 0: it is shown raw.  For buckets, which source_next
 * leaves as they are: their place in a grid of steps is the caller's. */
int64_t source_clock_shift(
    struct source_clock *clock, struct text node, int64_t time_ns);

/* Where times are in [*first, *last] shown ones may be in ... */
void source_clock_shown(
    const struct source_clock *clock, int64_t *first_ns, int64_t *last_ns);

/* May a clock be off by more than this? */
bool source_clock_moves(const struct source_clock *clock, int64_t by_ns);

/* On which clock the times were that were given since the start: "clock
 * corrected, within 0.3 ms", "clock raw", "clock corrected (12 of 30), within 2
 * ms" of so many records; "" where nothing is known of any clock. */
enum { SOURCE_CLOCK_WORDS = 128 };
const char *source_clock_words(
    char to[static SOURCE_CLOCK_WORDS], const struct source_clock *clock);

/* The same ahead of the records, from the estimates: "corrected, estimates
 * within 0.3 ms", "raw". */
const char *source_clock_ahead(
    char to[static SOURCE_CLOCK_WORDS], const struct source_clock *clock);

/* Correct the record; false: it is not of the time that was asked for. */
bool source_clock_apply(struct source_clock *clock, struct record *record);

#endif
