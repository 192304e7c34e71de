/*
 * source - records for an exporter, from a store or an aggregator.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/source_private.h"

#include "proto/os/clock.h"
#include "proto/os/log.h"
#include "proto/record/node_list.h"

struct wire_query
source_query(uint32_t kinds)
{
	return (struct wire_query){
		.kinds = kinds,
		.from_ns = TIME_MIN_NS,
		.to_ns = TIME_MAX_NS,
	};
}

/* Of the place that is asked. */
static const struct pages *
pages_of(const struct source *source)
{
	return &source->places.now->pages;
}

static int
next_page(struct source *source, struct err *err)
{
	int rc = places_next(&source->places, &source->cursor, err);

	if (pages_of(source)->is_incomplete &&
	    pages_of(source)->complete_ns < source->complete_ns)
		source->complete_ns = pages_of(source)->complete_ns;
	if (pages_of(source)->is_incomplete && !source->said_incomplete) {
		char when[CLOCK_TEXT_BYTES];

		source->said_incomplete = true;
		log_warn("%s: the answer is incomplete: records that the "
			 "aggregator received after %s are not all indexed "
			 "yet; ask again later",
		    source->places.now->name,
		    clock_text(when, pages_of(source)->complete_ns, 0));
	}
	source->failed = source->failed || rc < 0;
	return rc;
}

static struct pages_question
make_question(const struct source *source, enum source_what what,
    struct text partition, const struct wire_query *query)
{
	static const enum wire_type types[] = {
		[SOURCE_RECORDS] = WIRE_SELECT,
		[SOURCE_NEWEST] = WIRE_SELECT,
		[SOURCE_OPEN] = WIRE_SELECT,
		[SOURCE_STATS] = WIRE_STATS,
		[SOURCE_STATS_BY_NODE] = WIRE_STATS,
		[SOURCE_NODES] = WIRE_STATS,
		[SOURCE_STATUS] = WIRE_STATUS,
		[SOURCE_FOLLOW] = WIRE_FOLLOW,
	};
	struct pages_question question = {
		.header = { .type = types[what], .partition = partition },
		.query = *query,
	};

	if (what == SOURCE_STATS_BY_NODE)
		question.header.flags |= WIRE_FLAG_BY_NODE;
	if (what == SOURCE_RECORDS && source->unpaired)
		question.header.flags |= WIRE_FLAG_UNPAIRED;
	if (what == SOURCE_NEWEST)
		question.header.flags |= WIRE_FLAG_NEWEST;
	if (what == SOURCE_OPEN)
		question.header.flags |= WIRE_FLAG_OPEN;
	if (what == SOURCE_NODES)
		question.query.kinds = 1u << RECORD_CONTEXT;
	if (question.query.to_ns > TIME_MAX_NS) /* the same: all */
		question.query.to_ns = TIME_MAX_NS;
	return question;
}

static int
begin(struct source *source, enum source_what what, struct text partition,
    const struct wire_query *query, struct text cursor, struct err *err)
{
	struct pages_question question =
	    make_question(source, what, partition, query);

	question.query.cursor = cursor;
	source->complete_ns = INT64_MAX;
	if (places_begin(&source->places, &question, err) == 0)
		return 0;
	source->failed = true;
	return -1;
}

static int
select_raw(struct source *source, enum source_what what, struct text partition,
    const struct wire_query *query, struct err *err)
{
	struct wire_query asked = *query;

	if (source->rename != NULL)
		source->rename->question(
		    source->rename->arg, &partition, &asked);
	if (begin(source, what, partition, &asked, (struct text){ NULL, 0 },
		err) != 0)
		return -1;
	return next_page(source, err) < 0 ? -1 : 0;
}

static int
next_raw(struct source *source, struct record *record, struct err *err)
{
	int rc;

	while (!wire_next(&source->cursor, record)) {
		rc = next_page(source, err);
		if (rc <= 0)
			return rc;
	}
	if (source->rename != NULL)
		source->rename->record(source->rename->arg, record,
		    pages_of(source)->question.header.type == WIRE_STATS);
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

/* Who gives other names remembers those of the last question only. */
void
source_ahead(struct source *source, enum source_what what,
    struct text partition, const struct wire_query *query)
{
	struct pages_question question =
	    make_question(source, what, partition, query);

	/* That is of the query before. */
	question.header.flags &= (uint16_t)~WIRE_FLAG_UNPAIRED;
	if (source->rename == NULL)
		places_ahead(&source->places, &question);
}

void
source_ahead_clocks(struct source *source, struct text partition,
    const struct wire_query *asked)
{
	struct wire_query query;

	if (!source_clock_wants(&source->clock, partition, asked, &query))
		return;
	source_ahead(source, SOURCE_RECORDS, partition, &query);
	if (source_clock_seeks_far(asked, &query))
		source_ahead(source, SOURCE_RECORDS, partition, &query);
}

static int
check_query(const struct wire_query *query, struct err *err)
{
	if (node_list_check(query->node, err) != 0)
		return -1;
	if (query->name.bytes <= 2 * NAME_BYTES_MAX + 1)
		return 0;
	return err_set(
	    err, "a pattern is longer than %d bytes", 2 * NAME_BYTES_MAX + 1);
}

/* A follower reads the journal and needs no index. */
static void
warn_lag(struct source *source)
{
	if (source->lag > 0)
		log_warn("%s: %llu batches are not indexed yet and not shown; "
			 "start the aggregator to index them",
		    source_name(source), (unsigned long long)source->lag);
	source->lag = 0;
}

/* Does the query select phases whose ends may come from other nodes than it
 * selects?  Their clocks count as well. */
static int
crosses_nodes(struct source *source, struct text partition,
    const struct wire_query *query, bool *crosses, struct err *err)
{
	struct wire_query phases = source_query(1u << RECORD_ENTITY);
	struct record record;
	int rc;

	*crosses = false;
	if ((query->kinds & 1u << RECORD_PHASE) == 0 ||
	    query->node.bytes == 0 || source->clock.choice == CLOCK_RAW)
		return 0;
	phases.name = query->name;
	if (select_raw(source, SOURCE_STATS, partition, &phases, err) != 0)
		return -1;
	while ((rc = next_raw(source, &record, err)) > 0)
		*crosses = *crosses || source_clock_crosses(&record);
	return rc;
}

/* Forget what the last query left. */
static void
start_over(struct source *source)
{
	source->clock.on = false;
	source->unpaired = false;
	source->has_next = false;
	phase_pairs_reset(&source->pairs);
}

int
source_select(struct source *source, enum source_what what,
    struct text partition, const struct wire_query *query, struct err *err)
{
	struct wire_query wide = *query, clocks = *query;
	bool crosses;

	if (check_query(query, err) != 0)
		return -1;
	warn_lag(source);
	start_over(source);
	if (what == SOURCE_RECORDS || what == SOURCE_NEWEST) {
		if (crosses_nodes(source, partition, query, &crosses, err) != 0)
			return -1;
		if (crosses)
			clocks.node = (struct text){ NULL, 0 };
		if (source_load_clocks(source, partition, &clocks, err) != 0)
			return -1;
		source_clock_widen(&source->clock, &wide);
		source->unpaired = (query->kinds & 1u << RECORD_PHASE) != 0 &&
				   source_clock_pairs(&source->clock);
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

	source->has_next = wire_next(&source->cursor, &source->next);
	if (source->has_next)
		return source->cursor.entry;
	wire_get_position(pages_of(source)->question.query.cursor, &place);
	return place.entry;
}

/* Positions only grow, and each page ends at one.  As next_page, with the
 * entry of the next record. */
static int
follow_page(struct source *source, uint64_t *next, struct err *err)
{
	const struct text *cursor = &pages_of(source)->question.query.cursor;
	struct wire_position from, to;
	int rc;

	wire_get_position(*cursor, &from);
	rc = next_page(source, err);
	if (rc <= 0)
		return rc;
	if (!wire_get_position(*cursor, &to) || to.entry == 0)
		return err_set(err,
		    "%s: protocol error: a page has no journal position",
		    source_name(source));
	if (to.entry < from.entry && from.entry != UINT64_MAX)
		return err_set(err,
		    "%s: the journal ends at entry %llu, before entry %llu: "
		    "this is another store",
		    source_name(source), (unsigned long long)to.entry,
		    (unsigned long long)from.entry);
	*next = look_ahead(source);
	if (*next < from.entry && from.entry != UINT64_MAX)
		return err_set(err,
		    "%s: protocol error: records have no entry numbers",
		    source_name(source));
	return 1;
}

int
source_follow(struct source *source, struct text partition,
    const struct wire_query *query, uint64_t from, struct err *err)
{
	const struct wire_position place = { from, 0 };
	unsigned char cursor[WIRE_POSITION_BYTES];

	if (check_query(query, err) != 0)
		return -1;
	start_over(source);
	wire_put_position(cursor, &place);
	if (begin(source, SOURCE_FOLLOW, partition, query,
		(struct text){ (const char *)cursor, sizeof(cursor) },
		err) != 0)
		return -1;
	return follow_page(source, &source->followed, err) < 0 ? -1 : 0;
}

static int
next_followed(struct source *source, struct record *record, struct err *err)
{
	uint64_t next;
	int rc;

	while (!source->has_next) {
		rc = follow_page(source, &next, err);
		if (rc <= 0)
			return rc;
		/* All records returned before are of entries below this one. */
		if (!source->has_next && pages_of(source)->is_last)
			source->followed = next;
	}
	*record = source->next;
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

int64_t
source_complete_ns(const struct source *source)
{
	return source->complete_ns;
}

uint64_t
source_generation(const struct source *source)
{
	return pages_of(source)->generation;
}

/* ---- a record ---- */

/* The next one of the page, or the one that was held back. */
static int
next_stored(struct source *source, struct record *record, struct err *err)
{
	if (!source->has_next)
		return next_raw(source, record, err);
	*record = source->next;
	source->has_next = false;
	return 1;
}

/* The next record in shown times, in the window or not. */
static int
next_corrected(struct source *source, struct record *record, struct err *err)
{
	struct source_clock *clock = &source->clock;
	int rc;

	for (;;) {
		if (phase_pairs_next(&source->pairs, record, &clock->last))
			return 1;
		rc = next_stored(source, record, err);
		if (rc < 0 || (rc == 0 && !phase_pairs_end(&source->pairs)))
			return rc;
		if (rc == 0)
			continue;
		if (!phase_pairs_fits(&source->pairs, record)) {
			source->next = *record;
			source->has_next = true;
			phase_pairs_end(&source->pairs);
			continue;
		}
		source_clock_correct(clock, record);
		if (record->run.bytes == 0)
			return 1;
		phase_pairs_add(&source->pairs, record, &clock->last);
	}
}

/* The aggregator selects unpaired events by neither node nor time. */
static bool
is_shown(struct source *source, const struct record *record)
{
	return (record->run.bytes == 0 ||
		   node_list_match(
		       pages_of(source)->question.query.node, record->node)) &&
	       (source->wants == NULL ||
		   pages_of(source)->question.header.type != WIRE_SELECT ||
		   source->wants(source->wants_arg, record)) &&
	       source_clock_shows(&source->clock, record);
}

static bool
is_limited(const struct source *source, const struct record *record)
{
	struct text partition;

	return source->limit != NULL &&
	       record_find_text(record, "partition", &partition) &&
	       !text_match_partition(text_of(source->limit), partition);
}

int
source_next(struct source *source, struct record *record, struct err *err)
{
	int rc;

	if (pages_of(source)->question.header.type == WIRE_FOLLOW)
		return next_followed(source, record, err);
	do
		rc = next_corrected(source, record, err);
	while (rc > 0 &&
	       (!is_shown(source, record) || is_limited(source, record)));
	if (rc > 0 && pages_of(source)->question.header.type != WIRE_STATUS)
		source->answered = true;
	return rc;
}

void
source_renew(struct source *source)
{
	start_over(source);
	source_clock_clear(&source->clock);
	source->clock = (struct source_clock){ .choice = source->choice };
	source->places.routed = NULL;
	source->answered = source->failed = false;
	source->said_incomplete = false;
	source->complete_ns = INT64_MAX;
	for (uint32_t i = 0; i < source->places.count; i++) {
		pages_forget_damaged(&source->places.at[i].pages);
		pages_forget_ahead(&source->places.at[i].pages);
	}
}

void
source_limit(struct source *source, const char *pattern)
{
	source->limit = pattern;
}

void
source_set_filter(struct source *source,
    bool (*wants)(const void *arg, const struct record *record),
    const void *arg)
{
	source->wants = wants;
	source->wants_arg = arg;
}

void
source_set_rename(struct source *source, const struct source_rename *rename)
{
	source->rename = rename;
}

bool
source_is_empty(const struct source *source)
{
	return !source->answered && !source->failed;
}

bool
source_has_failed(const struct source *source)
{
	return source->failed;
}

struct source_clock *
source_clock(struct source *source)
{
	return &source->clock;
}
