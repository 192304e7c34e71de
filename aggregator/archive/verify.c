/*
 * verify - do the replicas have all rows that were sent?
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/archive/question.h"
#include "aggregator/archive/rows/typed.h"
#include "proto/base/memory.h"

/* The condition of the rows, as SQL. */
static char *
condition(const struct verify_positions *positions, unsigned table,
    const struct block_sender_total *sent)
{
	char *sql = NULL;
	size_t bytes;
	FILE *to = memory_stream(&sql, &bytes);

	fputs("pos IN (", to);
	for (unsigned i = 0; i < positions->count; i++)
		fprintf(to, "%s%llu", i > 0 ? ", " : "",
		    (unsigned long long)positions->at[i]);
	fputc(')', to);
	if (table < SCHEMA_NAMES)
		fprintf(to, " AND hour >= %d AND hour <= %d", sent->first_hour,
		    sent->last_hour);
	memory_stream_end(&to);
	return sql;
}

/* 1: the replica has the rows; 0: not all; -1: it does not answer. */
static int
has_rows(const struct question *question, unsigned table,
    const struct block_sender_total *sent, const char *where, struct err *err)
{
	const char *database = clickhouse_database(question->client);
	char *hash = typed_hash_sql(&schema_tables[table]), *columns;
	uint64_t have[2];
	int rc = question_numbers(question, have, 2, err,
	    "SELECT count(), sum(%s) FROM %s.%s WHERE %s", hash, database,
	    schema_tables[table].name, where);

	if (rc != 0 || have[0] <= sent->rows) {
		free(hash);
		return rc != 0 ? -1
			       : have[0] == sent->rows && have[1] == sent->hash;
	}
	/* More: a block was sent twice.  A row that is there twice must not
	 * hide one that is missing. */
	columns = typed_identity_sql(&schema_tables[table]);
	rc = question_numbers(question, have, 2, err,
	    "SELECT count(), sum(%s) FROM (SELECT DISTINCT %s FROM %s.%s "
	    "WHERE %s)",
	    hash, columns, database, schema_tables[table].name, where);
	free(columns);
	free(hash);
	if (rc != 0)
		return -1;
	return have[0] == sent->rows && have[1] == sent->hash;
}

static int
is_complete(const struct question *question,
    const struct block_sender_shard *shard,
    const struct verify_positions *positions, const struct schema_stage *stage,
    struct err *err)
{
	int rc = 1;

	for (unsigned t = stage->from; t < stage->to && rc == 1; t++) {
		char *where;

		if (shard->sent[t].rows == 0)
			continue;
		where = condition(positions, t, &shard->sent[t]);
		rc = has_rows(question, t, &shard->sent[t], where, err);
		free(where);
	}
	return rc;
}

/* Ask replicas of a shard until enough of them are complete; returns how many
 * are. */
static unsigned
count_copies(struct block_sender *sender, unsigned shard,
    const struct verify_positions *positions, const struct schema_stage *stage,
    bool *seen, struct verify_result *of)
{
	unsigned replicas = sender->cluster->shard[shard].replicas, copies = 0;

	for (unsigned r = 0; r < replicas; r++)
		copies += seen[r];
	for (unsigned r = 0; r < replicas && copies < of->wanted; r++) {
		const struct question question = { sender->client, shard, r };
		int rc;

		if (seen[r])
			continue;
		rc = is_complete(&question, &sender->shard[shard], positions,
		    stage, &of->err);
		seen[r] = rc == 1;
		copies += seen[r];
		of->has_err |= rc < 0;
	}
	return copies;
}

void
verify_all(struct block_sender *sender,
    const struct verify_positions *positions, const struct schema_stage *stage,
    struct verify_seen *seen, struct verify_result *result)
{
	bool is_enough = true;

	*result = (struct verify_result){ .copies_least = UINT32_MAX };
	for (unsigned s = 0; s < sender->shards; s++) {
		struct verify_result of = {
			.wanted = question_copies(sender->client, s), .shard = s
		};

		of.copies_least =
		    count_copies(sender, s, positions, stage, seen->at[s], &of);
		is_enough &= of.copies_least >= of.wanted;
		if (of.copies_least < result->copies_least)
			*result = of;
	}
	result->is_enough = is_enough;
}
