/*
 * verify - do the replicas have all rows that were sent?
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/archive/question.h"
#include "aggregator/archive/rows/identity.h"
#include "proto/base/memory.h"

static const char *
identity_columns(unsigned table)
{
	switch (table) {
	case BLOCK_SENDER_NAMES: return "part, no, pos";
	case BLOCK_SENDER_CHANGES: return "part, tbl, k, v, del, pos";
	default: return "part, hour, node, track, ts, stream, seq, idx";
	}
}

static const char *
hash_sql(unsigned table)
{
	switch (table) {
	case BLOCK_SENDER_NAMES: return "toUInt64(0)";
	case BLOCK_SENDER_CHANGES: return archive_change_sql();
	default: return archive_identity_sql((enum record_kind)table);
	}
}

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
	if (table < BLOCK_SENDER_NAMES)
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
	uint64_t have[2];

	if (question_numbers(question, have, 2, err,
		"SELECT count(), sum(%s) FROM %s.%s WHERE %s", hash_sql(table),
		database, block_sender_table(table), where) != 0)
		return -1;
	if (have[0] == sent->rows && have[1] == sent->hash)
		return 1;
	if (have[0] <= sent->rows)
		return 0;
	/* More: a block was sent twice.  A row that is there twice must not
	 * hide one that is missing. */
	if (question_numbers(question, have, 2, err,
		"SELECT count(), sum(%s) FROM (SELECT DISTINCT %s FROM %s.%s "
		"WHERE %s)",
		hash_sql(table), identity_columns(table), database,
		block_sender_table(table), where) != 0)
		return -1;
	return have[0] == sent->rows && have[1] == sent->hash;
}

static int
is_complete(const struct question *question,
    const struct block_sender_shard *shard,
    const struct verify_positions *positions, struct err *err)
{
	int rc = 1;

	for (unsigned t = 0; t < BLOCK_SENDER_TABLES && rc == 1; t++) {
		char *where;

		if (shard->sent[t].rows == 0)
			continue;
		where = condition(positions, t, &shard->sent[t]);
		rc = has_rows(question, t, &shard->sent[t], where, err);
		free(where);
	}
	return rc;
}

void
verify_all(struct block_sender *sender,
    const struct verify_positions *positions, struct verify_result *result)
{
	*result = (struct verify_result){ .is_enough = true,
		.copies_least = UINT32_MAX };
	for (unsigned s = 0; s < sender->shards; s++) {
		unsigned replicas = sender->cluster->shard[s].replicas;
		unsigned wanted = question_copies(sender->client, s);
		unsigned copies = 0;
		struct err err = { .text = "" };
		bool failed = false;

		for (unsigned r = 0; r < replicas && copies < wanted; r++) {
			const struct question question = { sender->client, s,
				r };
			int rc = is_complete(
			    &question, &sender->shard[s], positions, &err);

			copies += rc == 1;
			failed |= rc < 0;
		}
		if (copies < result->copies_least) {
			result->copies_least = copies;
			result->wanted = wanted;
			result->shard = s;
			result->has_err = failed;
			result->err = err;
		}
		result->is_enough &= copies == wanted;
	}
}
