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
	{ "partition", "PARTITION", ANSWER_AT_TEXT(struct row, partition), NULL,
	    "account$pool", false, NULL },
	{ "nodes", "NODES", ANSWER_AT_COUNT(struct row, nodes), NULL,
	    "nodes that have records", false, NULL },
	{ "live", "LIVE", ANSWER_AT_COUNT(struct row, conditions[NODE_LIVE]),
	    NULL, "nodes that are heard", false, NULL },
	{ "late", "LATE", ANSWER_AT_COUNT(struct row, conditions[NODE_LATE]),
	    NULL, "nodes whose records come late", false, NULL },
	{ "silent", "SILENT",
	    ANSWER_AT_COUNT(struct row, conditions[NODE_SILENT]), NULL,
	    "nodes that are not heard any longer", false, NULL },
	{ "gone", "GONE", ANSWER_AT_COUNT(struct row, conditions[NODE_GONE]),
	    NULL, "nodes that have not been heard for long", false, NULL },
	{ "stopped", "STOPPED",
	    ANSWER_AT_COUNT(struct row, conditions[NODE_STOPPED]), NULL,
	    "nodes that have stopped in order, or are retired", ANSWER_SPARE,
	    NULL },
	{ "imported", "IMPORTED",
	    ANSWER_AT_COUNT(struct row, conditions[NODE_IMPORTED]), NULL,
	    "nodes of which only imports brought records", ANSWER_SPARE, NULL },
	{ "records", "RECORDS", ANSWER_AT_COUNT(struct row, records), NULL,
	    "stored records of all kinds", false, NULL },
	{ "events", NULL, ANSWER_AT_COUNT(struct row, events), NULL,
	    "stored events", false, NULL },
	{ "samples", NULL, ANSWER_AT_COUNT(struct row, samples), NULL,
	    "stored samples", false, NULL },
	{ "spans", NULL, ANSWER_AT_COUNT(struct row, spans), NULL,
	    "stored spans", false, NULL },
	{ "entities", NULL, ANSWER_AT_COUNT(struct row, entities), NULL,
	    "stored entities", false, NULL },
	{ "gaps", NULL, ANSWER_AT_COUNT(struct row, gaps), NULL,
	    "records of lost records", false, NULL },
	{ "oldest", NULL, ANSWER_AT_TIME(struct row, oldest), NULL,
	    "the time of the oldest record", false, NULL },
	{ "newest", NULL, ANSWER_AT_TIME(struct row, newest), NULL,
	    "the time of the newest record", false, NULL },
	{ "age", "NEWEST", ANSWER_AT_DURATION(struct row, age), "s",
	    "how long ago the newest record was", false, NULL },
	{ "place", "AT", ANSWER_AT_TEXT(struct row, place), NULL,
	    "the store, aggregator or archive that it is read from", false,
	    NULL },
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
