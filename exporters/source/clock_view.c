/*
 * source_clock_view - the clock on which a source shows times.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/clock_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/os/clock.h"

/* Load estimates this long before and after the queried window: the nearest
 * one may lie outside it. */
#define MARGIN_NS (2 * 3600 * NS_PER_SECOND)

enum {
	TIMED = 1u << RECORD_EVENT | 1u << RECORD_SAMPLE | 1u << RECORD_SPAN |
		1u << RECORD_GAP | 1u << RECORD_PHASE,
};

void
source_clock_clear(struct source_clock *clock)
{
	clock_map_free(&clock->map);
	free(clock->far);
}

/* Clamp a time that is off by centuries to the valid range. */
static int64_t
moved(int64_t time_ns, int64_t by_ns)
{
	int64_t to_ns;

	if (__builtin_add_overflow(time_ns, by_ns, &to_ns))
		to_ns = by_ns < 0 ? TIME_MIN_NS : TIME_MAX_NS;
	if (to_ns < TIME_MIN_NS)
		return TIME_MIN_NS;
	return to_ns > TIME_MAX_NS ? TIME_MAX_NS : to_ns;
}

static int64_t
before(int64_t time_ns)
{
	return time_ns < TIME_MIN_NS + MARGIN_NS ? TIME_MIN_NS
						 : time_ns - MARGIN_NS;
}

static int64_t
after(int64_t time_ns)
{
	return time_ns > TIME_MAX_NS - MARGIN_NS ? TIME_MAX_NS
						 : time_ns + MARGIN_NS;
}

bool
source_clock_wants(const struct source_clock *clock, struct text partition,
    const struct wire_query *asked, struct wire_query *query)
{
	if (clock->choice == CLOCK_RAW || (asked->kinds & TIMED) == 0)
		return false;
	*query = (struct wire_query){ .kinds = 1u << RECORD_SAMPLE,
		.node = asked->node,
		.name = text_of("clock"),
		.from_ns = before(asked->from_ns),
		.to_ns = after(asked->to_ns) };
	return clock->map == NULL ||
	       !text_equal(partition, text_of(clock->partition)) ||
	       (clock->node[0] != '\0' &&
		   !text_equal(asked->node, text_of(clock->node))) ||
	       query->from_ns < clock->map_from_ns ||
	       query->to_ns > clock->map_to_ns;
}

static void
copy_text(char *to, size_t room, struct text t)
{
	size_t bytes = t.bytes < room ? t.bytes : room - 1;

	if (bytes > 0)
		memcpy(to, t.at, bytes);
	to[bytes] = '\0';
}

void
source_clock_begin(struct source_clock *clock, struct text partition,
    const struct wire_query *asked, const struct wire_query *query)
{
	clock_map_free(&clock->map);
	clock_map_new(&clock->map);
	copy_text(clock->partition, sizeof(clock->partition), partition);
	copy_text(clock->node, sizeof(clock->node), asked->node);
	clock->map_from_ns = query->from_ns;
	clock->map_to_ns = query->to_ns;
	clock->far_count = 0;
}

bool
source_clock_seeks_far(const struct wire_query *asked, struct wire_query *query)
{
	*query = (struct wire_query){ .kinds = 1u << RECORD_ENTITY,
		.name = text_of("clock:*"),
		.from_ns = TIME_MIN_NS,
		.to_ns = TIME_MAX_NS };
	return asked->from_ns > TIME_MIN_NS || asked->to_ns < TIME_MAX_NS;
}

void
source_clock_add_far(struct source_clock *clock, const struct record *record)
{
	struct value least, greatest;
	struct text node = record->name;
	char list[2 * NAME_BYTES_MAX];
	struct source_far *far;

	if (record->kind != RECORD_ENTITY ||
	    clock->far_count == SOURCE_FAR_MAX ||
	    !record_find_attribute(record, text_of("least_ns"), &least) ||
	    !record_find_attribute(record, text_of("greatest_ns"), &greatest) ||
	    least.type != VALUE_INT || greatest.type != VALUE_INT ||
	    least.is.i < -INT64_MAX || greatest.is.i < least.is.i)
		return;
	while (node.bytes > 0 && node.at[node.bytes - 1] != '/')
		node.bytes--;
	if (node.bytes < 2)
		return;
	node.bytes--;
	if (clock->far_count % 16 == 0)
		clock->far = memory_resize_array(
		    clock->far, clock->far_count + 16, sizeof(*far));
	far = &clock->far[clock->far_count++];
	copy_text(far->node, sizeof(far->node), node);
	node = node_list_quote(list, text_of(far->node), false);
	copy_text(far->list, sizeof(far->list), node);
	far->least_ns = least.is.i;
	far->greatest_ns = greatest.is.i;
}

bool
source_clock_far(const struct source_clock *clock, uint32_t number,
    const struct wire_query *asked, struct wire_query *query)
{
	const struct source_far *far = &clock->far[number];

	*query = (struct wire_query){ .kinds = 1u << RECORD_SAMPLE,
		.node = text_of(far->list),
		.name = text_of("clock"),
		.from_ns = before(moved(asked->from_ns, -far->greatest_ns)),
		.to_ns = after(moved(asked->to_ns, -far->least_ns)) };
	return node_list_match(asked->node, text_of(far->node));
}

void
source_clock_add(struct source_clock *clock, const struct record *record)
{
	clock_map_add(clock->map, record);
}

void
source_clock_end(struct source_clock *clock)
{
	clock_map_finish(clock->map);
}

void
source_clock_widen(struct source_clock *clock, struct wire_query *query)
{
	clock->on = clock->choice != CLOCK_RAW && clock->map != NULL &&
		    (query->kinds & TIMED) != 0 &&
		    !clock_map_is_empty(clock->map);
	clock->from_ns = query->from_ns;
	clock->to_ns = query->to_ns;
	if (clock->on && (query->step_ns == 0 ||
			     source_clock_moves(clock, SOURCE_CLOCK_EXACT_NS)))
		clock_map_widen(clock->map, &query->from_ns, &query->to_ns);
	/* The caller shifts a bucket as a whole. */
	if (query->step_ns > 0)
		clock->on = false;
}

static bool
is_corrected(const struct source_clock *clock, struct text node,
    int64_t time_ns, struct clock_map_offset *offset)
{
	return clock_map_at(clock->map, node, time_ns, offset) &&
	       (clock->choice == CLOCK_CORRECTED || offset->matters);
}

static void
count(struct source_clock *clock, bool corrected, int64_t error_ns)
{
	if (corrected)
		clock->corrected++;
	else
		clock->raw++;
	if (corrected && error_ns > clock->error_ns)
		clock->error_ns = error_ns;
}

int64_t
source_clock_shift(
    struct source_clock *clock, struct text node, int64_t time_ns)
{
	struct clock_map_offset offset;
	bool corrected;

	if (clock->choice == CLOCK_RAW || clock->map == NULL ||
	    clock_map_is_empty(clock->map))
		return 0;
	corrected = is_corrected(clock, node, time_ns, &offset);
	count(clock, corrected, corrected ? offset.error_ns : 0);
	return corrected ? offset.offset_ns : 0;
}

bool
source_clock_moves(const struct source_clock *clock, int64_t by_ns)
{
	int64_t least_ns, greatest_ns;

	if (clock->choice == CLOCK_RAW || clock->map == NULL)
		return false;
	clock_map_range(clock->map, &least_ns, &greatest_ns);
	return greatest_ns > by_ns || least_ns < -by_ns;
}

void
source_clock_shown(
    const struct source_clock *clock, int64_t *first_ns, int64_t *last_ns)
{
	int64_t least_ns, greatest_ns;

	if (clock->choice == CLOCK_RAW || clock->map == NULL)
		return;
	clock_map_range(clock->map, &least_ns, &greatest_ns);
	*first_ns = moved(*first_ns, least_ns);
	*last_ns = moved(*last_ns, greatest_ns);
}

/* Begin and end may belong to two generations; the end must not precede the
 * begin. */
static void
correct(struct source_clock *clock, struct record *record)
{
	const struct source_correction *raw = &clock->last;
	bool both = record->has_time && record->has_end;
	struct clock_map_offset end = { .offset_ns = raw->offset_ns };

	if (record->has_time)
		record->time_ns = moved(record->time_ns, raw->offset_ns);
	if (!record->has_end)
		return;
	if (both && !is_corrected(clock, record->node, raw->end_ns, &end))
		end.offset_ns = raw->offset_ns;
	record->end_ns = moved(raw->end_ns, end.offset_ns);
	if (both && raw->end_ns >= raw->time_ns &&
	    record->end_ns < record->time_ns)
		record->end_ns =
		    moved(record->time_ns, raw->end_ns - raw->time_ns);
}

bool
source_clock_crosses(const struct record *stats)
{
	static const char *const counts[] = { "count", "open_starts",
		"open_ends" };
	struct value value;
	struct text run;

	if (!record_find_text(stats, "run", &run))
		return false;
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		if (record_find_attribute(stats, text_of(counts[i]), &value) &&
		    !(value.type == VALUE_INT && value.is.i == 0))
			return true;
	return false;
}

bool
source_clock_pairs(const struct source_clock *clock)
{
	int64_t error_ns;

	if (clock->choice == CLOCK_RAW || clock->map == NULL)
		return false;
	return clock->choice == CLOCK_CORRECTED
		   ? !clock_map_is_empty(clock->map)
		   : clock_map_matters(clock->map, &error_ns);
}

static int64_t
begin_of(const struct record *record)
{
	return record->has_time ? record->time_ns : record->end_ns;
}

void
source_clock_correct(struct source_clock *clock, struct record *record)
{
	struct source_correction *last = &clock->last;
	struct clock_map_offset offset = { .offset_ns = 0 };

	last->corrected = false;
	if (!clock->on || (TIMED >> record->kind & 1) == 0)
		return;
	last->time_ns = record->time_ns;
	last->end_ns = record->end_ns;
	last->corrected =
	    is_corrected(clock, record->node, begin_of(record), &offset);
	last->offset_ns = last->corrected ? offset.offset_ns : 0;
	last->error_ns = offset.error_ns;
	/* The clock was right at the begin, and then set. */
	if (!last->corrected && record->has_time && record->has_end &&
	    clock_map_at(clock->map, record->node, record->time_ns, &offset))
		last->corrected =
		    is_corrected(clock, record->node, record->end_ns, &offset);
	if (last->corrected && offset.error_ns > last->error_ns)
		last->error_ns = offset.error_ns;
	if (last->corrected)
		correct(clock, record);
}

bool
source_clock_shows(struct source_clock *clock, const struct record *record)
{
	int64_t at_ns = begin_of(record);

	if (!clock->on || (TIMED >> record->kind & 1) == 0)
		return true;
	if (at_ns < clock->from_ns ||
	    (at_ns >= clock->to_ns && clock->to_ns < TIME_MAX_NS))
		return false;
	count(clock, clock->last.corrected, clock->last.error_ns);
	return true;
}

const char *
source_clock_words(
    char to[static SOURCE_CLOCK_WORDS], const struct source_clock *clock)
{
	double error_ms = (double)clock->error_ns / 1e6;

	if (clock->corrected == 0)
		snprintf(to, SOURCE_CLOCK_WORDS, "%s",
		    clock->raw > 0 ? "clock raw" : "");
	else if (clock->raw == 0)
		snprintf(to, SOURCE_CLOCK_WORDS,
		    "clock corrected, within %.3g ms", error_ms);
	else
		snprintf(to, SOURCE_CLOCK_WORDS,
		    "clock corrected (%llu of %llu), within %.3g ms",
		    (unsigned long long)clock->corrected,
		    (unsigned long long)(clock->corrected + clock->raw),
		    error_ms);
	return to;
}

const char *
source_clock_ahead(
    char to[static SOURCE_CLOCK_WORDS], const struct source_clock *clock)
{
	int64_t error_ns;

	if (clock->choice != CLOCK_RAW && clock->map != NULL &&
	    clock_map_matters(clock->map, &error_ns))
		snprintf(to, SOURCE_CLOCK_WORDS,
		    "corrected, estimates within %.3g ms",
		    (double)error_ns / 1e6);
	else
		snprintf(to, SOURCE_CLOCK_WORDS, "raw");
	return to;
}
