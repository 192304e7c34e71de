/*
 * source_clock_view - the clock on which a source shows times.
 *
 * Raw: each node's own clock, as stored.  Corrected: the aggregator's clock,
 * computed from the estimates of the node's clock at that time (clock_map.h).
 * By default a node's times are corrected where its clock was off by more than
 * the error of the estimate.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SOURCE_CLOCK_VIEW_H
#define EXPORTERS_SOURCE_CLOCK_VIEW_H

#include "exporters/source/clock_map.h"
#include "proto/record/node_list.h"
#include "proto/wire/wire.h"

/* What was done to the times of a record, to show them on the clock of the
 * aggregator. */
struct source_correction {
	bool corrected;
	int64_t time_ns, end_ns;     /* raw */
	int64_t offset_ns, error_ns; /* the correction, and its error */
};

enum clock_choice { CLOCK_AUTO, CLOCK_RAW, CLOCK_CORRECTED };

struct source_clock {
	enum clock_choice choice;
	struct clock_map *map; /* NULL: no estimates are loaded */
	/* The query that the map was loaded for. */
	char partition[NAME_BYTES_MAX + 1];
	char node[NODE_LIST_BYTES_MAX + 1];
	int64_t map_from_ns, map_to_ns;

	/* Nodes whose clocks were off by hours at some time. */
	struct source_far {
		char node[NAME_BYTES_MAX + 1];
		char list[2 * NAME_BYTES_MAX + 1]; /* of this node alone */
		int64_t least_ns, greatest_ns;
	} * far;
	uint32_t far_count;

	/* The queried window, in shown times. */
	int64_t from_ns, to_ns;
	bool on;
	struct source_correction last; /* of the last record */

	/* Counters of all records shown since the start. */
	uint64_t corrected, raw;
	int64_t error_ns; /* largest error of the corrected records */
};

void source_clock_clear(struct source_clock *clock);

/* Does the query need another map than the loaded one?  If so, `query` asks
 * for its estimates; then call begin, add for each record, and end. */
bool source_clock_wants(const struct source_clock *clock, struct text partition,
    const struct wire_query *asked, struct wire_query *query);
void source_clock_begin(struct source_clock *clock, struct text partition,
    const struct wire_query *asked, const struct wire_query *query);
void source_clock_add(struct source_clock *clock, const struct record *record);
void source_clock_end(struct source_clock *clock);

/* Estimates of clocks that are off by hours lie outside of the window.  First
 * find those nodes (add the records of `query`), then query each of them. */
enum { SOURCE_FAR_MAX = 4096 };
bool source_clock_seeks_far(
    const struct wire_query *asked, struct wire_query *query);
void source_clock_add_far(
    struct source_clock *clock, const struct record *record);
/* The query for one of those nodes; false: the node is not wanted. */
bool source_clock_far(const struct source_clock *clock, uint32_t number,
    const struct wire_query *asked, struct wire_query *query);

/* The window of the query is in shown times: widen it so that it covers the
 * stored times.  Buckets are as stored where no clock is off by more than
 * SOURCE_CLOCK_EXACT_NS. */
#define SOURCE_CLOCK_EXACT_NS INT64_C(1000000)
void source_clock_widen(struct source_clock *clock, struct wire_query *query);

/* Nanoseconds to add to this time; 0: it is shown raw.  For buckets, which
 * source_next does not change: the caller places them in a grid of steps. */
int64_t source_clock_shift(
    struct source_clock *clock, struct text node, int64_t time_ns);

/* For stored times in [*first, *last], the range of the shown times. */
void source_clock_shown(
    const struct source_clock *clock, int64_t *first_ns, int64_t *last_ns);

/* Can a clock be off by more than this? */
bool source_clock_moves(const struct source_clock *clock, int64_t by_ns);

/* The clock of the times shown since the start: "clock corrected, within 0.3
 * ms", "clock raw", "clock corrected (12 of 30), within 2 ms" if only 12 of 30
 * records were; "" if there are no estimates. */
enum { SOURCE_CLOCK_WORDS = 128 };
const char *source_clock_words(
    char to[static SOURCE_CLOCK_WORDS], const struct source_clock *clock);

/* The clock that records will be shown on, from the estimates: "corrected,
 * estimates within 0.3 ms", "raw". */
const char *source_clock_ahead(
    char to[static SOURCE_CLOCK_WORDS], const struct source_clock *clock);

/* From the store's statistics of a phase: did it occur, and may its events have
 * the clocks of several nodes? */
bool source_clock_crosses(const struct record *stats);
/* Is a clock so far off that phases pair in another order of events? */
bool source_clock_pairs(const struct source_clock *clock);

/* Correct the times of the record. */
void source_clock_correct(struct source_clock *clock, struct record *record);
/* Count the record, whose correction is `last`; false: its shown time is
 * outside of the queried window. */
bool source_clock_shows(
    struct source_clock *clock, const struct record *record);

#endif
