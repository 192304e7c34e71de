/*
 * question_pools - the pools of a source, a row each: how their nodes are, how
 * new their records.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "exporters/nodes/pools.h"
#include "exporters/question/values.h"
#include "exporters/question/question.h"

struct row {
	struct text partition, place, at;
	uint64_t nodes, conditions[NODE_CONDITIONS];
	uint64_t records, events, samples, spans, entities, gaps;
	int64_t oldest, newest, age;
};

static const struct answer_column columns[] = {
	{ "partition", "PARTITION", ANSWER_AT_TEXT(struct row, partition),
	    "account$pool" },
	{ "nodes", "NODES", ANSWER_AT_COUNT(struct row, nodes),
	    "nodes that have records" },
	{ "live", "LIVE", ANSWER_AT_COUNT(struct row, conditions[NODE_LIVE]),
	    "nodes that are heard" },
	{ "late", "LATE", ANSWER_AT_COUNT(struct row, conditions[NODE_LATE]),
	    "nodes whose records come late" },
	{ "silent", "SILENT",
	    ANSWER_AT_COUNT(struct row, conditions[NODE_SILENT]),
	    "nodes that are not heard any longer" },
	{ "gone", "GONE", ANSWER_AT_COUNT(struct row, conditions[NODE_GONE]),
	    "nodes that have not been heard for long" },
	{ "stopped", "STOPPED",
	    ANSWER_AT_COUNT(struct row, conditions[NODE_STOPPED]),
	    "nodes that have stopped in order, or are retired",
	    .traits = ANSWER_SPARE },
	{ "imported", "IMPORTED",
	    ANSWER_AT_COUNT(struct row, conditions[NODE_IMPORTED]),
	    "nodes of which only imports brought records",
	    .traits = ANSWER_SPARE },
	{ "records", "RECORDS", ANSWER_AT_COUNT(struct row, records),
	    "stored records of all kinds" },
	{ "events", NULL, ANSWER_AT_COUNT(struct row, events),
	    "stored events" },
	{ "samples", NULL, ANSWER_AT_COUNT(struct row, samples),
	    "stored samples" },
	{ "spans", NULL, ANSWER_AT_COUNT(struct row, spans), "stored spans" },
	{ "entities", NULL, ANSWER_AT_COUNT(struct row, entities),
	    "stored entities" },
	{ "gaps", NULL, ANSWER_AT_COUNT(struct row, gaps),
	    "records of lost records" },
	{ "oldest", NULL, ANSWER_AT_TIME(struct row, oldest),
	    "the time of the oldest record" },
	{ "newest", NULL, ANSWER_AT_TIME(struct row, newest),
	    "the time of the newest record" },
	{ "age", "NEWEST", ANSWER_AT_DURATION(struct row, age),
	    "how long ago the newest record was" },
	{ "place", "AT", ANSWER_AT_TEXT(struct row, place),
	    "the store, aggregator or archive that it is read from" },
	{ .key = NULL },
};

static const struct answer_table tables[] = { { "pools", columns },
	{ .name = NULL } };

static void
put(struct answer *answer, const struct source *source, const struct pool *pool)
{
	const struct partition_row *of = &pool->partition;
	struct row row = { .partition = of->name,
		.place = text_of(source_place_name(source, of->place)),
		.nodes = of->nodes,
		.records = of->records,
		.events = of->records_of[RECORD_EVENT],
		.samples = of->records_of[RECORD_SAMPLE],
		.spans = of->records_of[RECORD_SPAN],
		.entities = of->records_of[RECORD_ENTITY],
		.gaps = of->records_of[RECORD_GAP],
		.oldest = of->first_ns,
		.newest = of->last_ns,
		.age = pool->age_ns < 0 ? ANSWER_NO_NS : pool->age_ns };

	for (int i = 0; i < NODE_CONDITIONS; i++)
		row.conditions[i] = pool->conditions[i];
	answer_row(answer, &row, NULL);
}

static int
ask(const struct question_asked *asked, struct answer *answer, struct err *err)
{
	struct question_kept *kept = asked->kept;
	struct text pattern = asked->values->name != NULL
				  ? text_of(asked->values->name)
				  : asked->pattern;
	struct pools pools;
	int rc;

	if (kept != NULL && kept->pools == NULL)
		kept->pools = pools_kept_new();
	rc = pools_read(&pools, asked->source,
	    kept != NULL ? kept->pools : NULL, pattern, clock_wall_ns(), err);
	if (rc == 0 && pools.count == 0 && pattern.bytes > 0)
		rc = partition_rows_refuse(asked->source, pattern, err);
	if (source_places(asked->options) == 1)
		answer_hide_column(answer, "place");
	for (uint32_t i = 0; rc == 0 && i < pools.count; i++)
		put(answer, asked->source, &pools.at[i]);
	if (rc == 0 && pools.count == 0)
		answer_note(answer, "none", ANSWER_NO_COUNT,
		    "no pool has records yet: start an agent, or poolscope "
		    "import");
	pools_clear(&pools);
	return rc;
}

const struct question question_pools = { .word = "pools",
	.summary = "the pools, how their nodes are, how new their records",
	.options = "name sort top columns",
	.examples = "poolscope stats pools\n"
		    "poolscope stats pools -p 'acct$*' --sort age\n",
	.tables = tables,
	.is_of_all = true,
	.ages = true,
	.ask = ask };
