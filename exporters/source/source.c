/*
 * source - records for an exporter, from a store or an aggregator.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/source_private.h"

#include <string.h>

#include "proto/os/clock.h"
#include "proto/os/log.h"

enum { PAGE_BYTES = 128 << 10 }; /* fits a frame of any listener */

struct wire_query
source_query(uint32_t kinds)
{
	return (struct wire_query){
		.kinds = kinds,
		.from_ns = TIME_MIN_NS,
		.to_ns = TIME_MAX_NS,
	};
}

static struct local_source_question
local_query(const struct source *s)
{
	return (
	    struct local_source_question){ s->what, s->partition, &s->query };
}

static struct wire_header
make_question(const struct source *s)
{
	static const enum wire_type types[] = {
		[SOURCE_RECORDS] = WIRE_SELECT,
		[SOURCE_STATS] = WIRE_STATS,
		[SOURCE_STATS_BY_NODE] = WIRE_STATS,
		[SOURCE_STATUS] = WIRE_STATUS,
		[SOURCE_FOLLOW] = WIRE_FOLLOW,
	};

	return (struct wire_header){
		.type = types[s->what],
		.flags = (uint16_t)((s->is_local ? WIRE_FLAG_PLAIN : 0) |
				    (s->what == SOURCE_STATS_BY_NODE
					    ? WIRE_FLAG_BY_NODE
					    : 0)),
		.partition = s->partition,
	};
}

static int
ask(struct source *s, struct wire_header *header, struct text *body,
    struct err *err)
{
	struct local_source_question near = local_query(s);
	struct wire_header question = make_question(s);
	int rc =
	    s->local_source != NULL
		? local_source_ask(s->local_source, &near, header, body, err)
		: remote_source_ask(&s->remote_source, &question, &s->query,
		      header, body, err);

	return rc == 0 ? 0 : err_prefix(err, "%s", s->name);
}

/* Request the next page while the caller reads this one. */
static void
ask_ahead(struct source *s)
{
	struct local_source_question near = local_query(s);
	struct wire_header question = make_question(s);

	if (s->local_source != NULL)
		local_source_ask_ahead(s->local_source, &near);
	else
		remote_source_ask_ahead(
		    &s->remote_source, &question, &s->query);
}

static void
forget(struct source *s)
{
	if (s->local_source != NULL)
		local_source_forget(s->local_source);
	else
		remote_source_forget(&s->remote_source);
}

static int
next_page(struct source *s, struct err *err)
{
	struct wire_header header;
	struct text body, position, records;
	enum wire_fault fault;

	if (ask(s, &header, &body, err) != 0)
		return -1;
	fault = wire_page_body(&header, body, &s->room, &position, &records);
	if (fault == WIRE_OK && position.bytes > sizeof(s->position))
		fault = WIRE_LIMIT;
	if (fault != WIRE_OK)
		return err_set(err, "%s: cannot parse a page: %s", s->name,
		    wire_fault_name(fault));
	s->last = (header.flags & WIRE_FLAG_LAST) != 0;
	s->generation = header.generation;
	/* A page that neither ends nor advances would be requested for ever. */
	if (!s->last && header.records == 0 &&
	    text_equal(position, s->query.cursor))
		return err_set(err,
		    "%s: protocol error: the server returned the same position "
		    "twice",
		    s->name);
	if (position.bytes > 0)
		memcpy(s->position, position.at, position.bytes);
	s->query.cursor = (struct text){ s->position, position.bytes };
	wire_cursor_init(&s->cursor, &header, records);
	/* A caller that asks for small pages mostly needs only this one. */
	if (!s->last && s->query.page_bytes >= PAGE_BYTES)
		ask_ahead(s);
	return 0;
}

static void
select_begin(struct source *source, enum source_what what,
    struct text partition, const struct wire_query *query)
{
	forget(source);
	source->what = what;
	source->partition = partition;
	source->query = *query;
	source->query.cursor = (struct text){ source->position, 0 };
	if (source->query.page_bytes == 0)
		source->query.page_bytes = PAGE_BYTES;
}

static int
select_raw(struct source *source, enum source_what what, struct text partition,
    const struct wire_query *query, struct err *err)
{
	select_begin(source, what, partition, query);
	return next_page(source, err);
}

static int
next_raw(struct source *source, struct record *record, struct err *err)
{
	while (!wire_next(&source->cursor, record)) {
		if (source->last)
			return 0;
		if (next_page(source, err) != 0)
			return -1;
	}
	return 1;
}

static int
read_clocks(struct source *source, struct text partition,
    const struct wire_query *query,
    void (*take)(struct source_clock *clock, const struct record *record),
    struct err *err)
{
	struct record record;
	int rc;

	if (select_raw(source, SOURCE_RECORDS, partition, query, err) != 0)
		return -1;
	while ((rc = next_raw(source, &record, err)) > 0)
		take(&source->clock, &record);
	return rc;
}

int
source_load_clocks(struct source *source, struct text partition,
    const struct wire_query *asked, struct err *err)
{
	struct source_clock *clock = &source->clock;
	struct wire_query query;
	int rc;

	if (!source_clock_wants(clock, partition, asked, &query))
		return 0;
	source_clock_begin(clock, partition, asked, &query);
	rc = read_clocks(source, partition, &query, source_clock_add, err);
	if (rc == 0 && source_clock_seeks_far(asked, &query))
		rc = read_clocks(
		    source, partition, &query, source_clock_add_far, err);
	for (uint32_t i = 0; rc == 0 && i < clock->far_count; i++)
		if (source_clock_far(clock, i, asked, &query))
			rc = read_clocks(
			    source, partition, &query, source_clock_add, err);
	source_clock_end(clock);
	return rc;
}

static int
check_query(const struct wire_query *query, struct err *err)
{
	if (query->node.bytes <= 2 * NAME_BYTES_MAX + 1 &&
	    query->name.bytes <= 2 * NAME_BYTES_MAX + 1)
		return 0;
	return err_set(
	    err, "a pattern is longer than %d bytes", 2 * NAME_BYTES_MAX + 1);
}

/* A follower reads the journal and needs no index. */
static void
tell_lag(struct source *source)
{
	if (source->lag > 0)
		log_warn("%s: %llu batches are not indexed yet and not shown; "
			 "start the aggregator to index them",
		    source->name, (unsigned long long)source->lag);
	source->lag = 0;
}

int
source_select(struct source *source, enum source_what what,
    struct text partition, const struct wire_query *query, struct err *err)
{
	struct wire_query wide = *query;

	if (check_query(query, err) != 0)
		return -1;
	tell_lag(source);
	source->clock.on = false;
	if (what == SOURCE_RECORDS) {
		if (source_load_clocks(source, partition, query, err) != 0)
			return -1;
		source_clock_widen(&source->clock, &wide);
	}
	return select_raw(source, what, partition, &wide, err);
}

/* ---- following ---- */

/* The entry of the next record; the header of a record names it before the
 * record is read.  At the end of the page: the page's position. */
static uint64_t
look_ahead(struct source *source)
{
	struct wire_position place;

	source->is_ahead = wire_next(&source->cursor, &source->ahead);
	if (source->is_ahead)
		return source->cursor.entry;
	wire_get_position(source->query.cursor, &place);
	return place.entry;
}

/* Positions only grow, and each page ends at one. */
static int
follow_page(struct source *source, uint64_t *next, struct err *err)
{
	struct wire_position from, to;

	wire_get_position(source->query.cursor, &from);
	if (next_page(source, err) != 0)
		return -1;
	if (!wire_get_position(source->query.cursor, &to) || to.entry == 0)
		return err_set(err,
		    "%s: protocol error: a page has no journal position",
		    source->name);
	if (to.entry < from.entry && from.entry != UINT64_MAX)
		return err_set(err,
		    "%s: the journal ends at entry %llu, before entry %llu: "
		    "this is another store",
		    source->name, (unsigned long long)to.entry,
		    (unsigned long long)from.entry);
	*next = look_ahead(source);
	if (*next < from.entry && from.entry != UINT64_MAX)
		return err_set(err,
		    "%s: protocol error: records have no entry numbers",
		    source->name);
	return 0;
}

int
source_follow(struct source *source, struct text partition,
    const struct wire_query *query, uint64_t from, struct err *err)
{
	const struct wire_position place = { from, 0 };

	if (check_query(query, err) != 0)
		return -1;
	source->clock.on = false;
	source->is_ahead = false;
	select_begin(source, SOURCE_FOLLOW, partition, query);
	wire_put_position((unsigned char *)source->position, &place);
	source->query.cursor.bytes = WIRE_POSITION_BYTES;
	return follow_page(source, &source->followed, err);
}

static int
next_followed(struct source *source, struct record *record, struct err *err)
{
	uint64_t next;

	while (!source->is_ahead) {
		if (source->last)
			return 0;
		if (follow_page(source, &next, err) != 0)
			return -1;
		/* All records returned before are of entries below this one. */
		if (!source->is_ahead && source->last)
			source->followed = next;
	}
	*record = source->ahead;
	source->entry = source->cursor.entry;
	next = look_ahead(source);
	if (next > source->entry)
		source->followed = next;
	return 1;
}

uint64_t
source_followed(const struct source *source)
{
	return source->followed;
}

uint64_t
source_entry(const struct source *source)
{
	return source->entry;
}

uint64_t
source_generation(const struct source *source)
{
	return source->generation;
}

/* ---- a record ---- */

int
source_next(struct source *source, struct record *record, struct err *err)
{
	int rc;

	if (source->what == SOURCE_FOLLOW)
		return next_followed(source, record, err);
	do
		rc = next_raw(source, record, err);
	while (rc > 0 && !source_clock_apply(&source->clock, record));
	return rc;
}

struct source_clock *
source_clock(struct source *source)
{
	return &source->clock;
}
