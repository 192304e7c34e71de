/*
 * complete - do the replicas that answer have what the aggregator counted?
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/complete.h"

#include <stdio.h>

#include "aggregator/archive/kept.h"
#include "aggregator/archive/question.h"
#include "aggregator/archive/rows/record_columns.h"
#include "aggregator/tables/key.h"

enum { PLACES_BYTES = 256 };

int32_t
complete_from(const struct partition_counts *counted)
{
	return counted->first_ns > counted->last_ns
		   ? INT32_MAX
		   : key_hour(counted->first_ns);
}

static bool
is_silent(const struct complete *complete, unsigned shard, unsigned replica)
{
	return complete->silences[shard][replica] > 0;
}

/* ---- who answers ---- */

bool
complete_all_answer(const struct complete *complete)
{
	const struct clickhouse_cluster *cluster =
	    clickhouse_cluster(complete->client);

	for (unsigned s = 0; s < cluster->shards; s++)
		for (unsigned r = 0; r < cluster->shard[s].replicas; r++)
			if (is_silent(complete, s, r))
				return false;
	return true;
}

/* "shard 1 has only replica r2, shard 3 has ..."; returns their number. */
static unsigned
name_shards(const struct complete *complete, char to[static PLACES_BYTES])
{
	const struct clickhouse_cluster *cluster =
	    clickhouse_cluster(complete->client);
	unsigned named = 0;
	size_t bytes = 0;

	to[0] = '\0';
	for (unsigned s = 0; s < cluster->shards; s++) {
		const char *only = "none";
		unsigned silent = 0;

		for (unsigned r = 0; r < cluster->shard[s].replicas; r++) {
			if (is_silent(complete, s, r))
				silent++;
			else
				only = cluster->shard[s].replica[r].name;
		}
		if (silent == 0)
			continue;
		if (bytes < PLACES_BYTES)
			bytes +=
			    (size_t)snprintf(to + bytes, PLACES_BYTES - bytes,
				"%sshard %u has only replica "
				"%s",
				named > 0 ? ", " : "", s + 1, only);
		named++;
	}
	return named;
}

/* ---- counting ---- */

static int
count_shard(struct complete *complete, enum record_kind kind, unsigned shard,
    const char *where, struct err *err)
{
	const struct clickhouse_cluster *cluster =
	    clickhouse_cluster(complete->client);
	int32_t from = complete_from(&complete->counted);
	uint64_t most = 0, have[2];
	bool answered = false;

	for (unsigned r = 0; r < cluster->shard[shard].replicas; r++) {
		const struct question question = { complete->client, shard, r };

		if (is_silent(complete, shard, r) ||
		    question_numbers(&question, have, 2, err,
			"SELECT count(), max(pos) FROM %s.%s WHERE %s AND "
			"hour >= %d",
			clickhouse_database(complete->client),
			archive_table(kind), where,
			from == INT32_MAX ? INT32_MIN : from) != 0)
			continue;
		answered = true;
		if (have[0] > most)
			most = have[0];
		if (have[1] > complete->newest_record)
			complete->newest_record = have[1];
	}
	complete->found[kind] += most;
	return answered ? 0
			: err_prefix(err, "archive: no replica of shard %u",
			      shard + 1);
}

int
complete_count(struct complete *complete, const char *where, struct err *err)
{
	unsigned shards = clickhouse_cluster(complete->client)->shards;

	for (unsigned i = 0; i < ARCHIVE_KINDS; i++) {
		enum record_kind kind = archive_kinds[i];

		complete->found[kind] = 0;
		for (unsigned s = 0; s < shards; s++)
			if (count_shard(complete, kind, s, where, err) != 0)
				return -1;
	}
	return 0;
}

/* ---- judging ---- */

static int
refuse(const struct complete *complete, const char *what, struct err *err)
{
	char places[PLACES_BYTES];
	unsigned named = name_shards(complete, places);

	if (named == 0)
		return err_set(err,
		    "archive: %s, although every replica answers: the rest is "
		    "lost, unless its store has it (poolscope archive verify "
		    "--repair)",
		    what);
	return err_set(err,
	    "archive: %s: %s, which may have lost the rest; start the others "
	    "and try again",
	    what, places);
}

/* Has `retain` deleted hours that the store still has? */
static int
is_deleted(const struct complete *complete, bool *is, struct err *err)
{
	struct kept kept;

	if (kept_read(&kept, complete->client, err) != 0)
		return -1;
	*is = kept_from(&kept, complete->part) >
	      complete_from(&complete->counted);
	kept_clear(&kept);
	return 0;
}

int
complete_check(const struct complete *complete, struct err *err)
{
	char what[2 * PLACES_BYTES];

	if (complete->newest_record > complete->newest_row) {
		snprintf(what, sizeof(what),
		    "the newest names, phases and runs of %s are not there",
		    complete->name);
		return refuse(complete, what, err);
	}
	for (unsigned i = 0; i < ARCHIVE_KINDS; i++) {
		enum record_kind kind = archive_kinds[i];
		uint64_t counted = complete->counted.records[kind];
		bool is = false;

		if (complete->found[kind] >= counted)
			continue;
		if (is_deleted(complete, &is, err) != 0)
			return -1;
		if (is)
			return 0;
		snprintf(what, sizeof(what),
		    "only %llu of %llu %s of %s are there",
		    (unsigned long long)complete->found[kind],
		    (unsigned long long)counted, archive_table(kind),
		    complete->name);
		return refuse(complete, what, err);
	}
	return 0;
}
