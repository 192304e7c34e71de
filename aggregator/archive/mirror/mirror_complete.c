/*
 * mirror_complete - is it known that the replicas which answer lack records?
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/mirror/mirror_private.h"

#include <stdlib.h>

#include "aggregator/archive/complete.h"
#include "proto/os/clock.h"

/* The counts are those of the last listing, and so are the claims. */
static const struct pull_partition *
find_claim(const struct mirror *mirror, uint64_t part)
{
	for (uint32_t i = 0; i < mirror->claims.partitions; i++)
		if (mirror->claims.partition[i].part == part)
			return &mirror->claims.partition[i];
	return NULL;
}

static int
check(struct mirror *mirror, struct complete *complete,
    const struct mirror_partition *partition, struct err *err)
{
	const struct pull_partition *claim = find_claim(mirror, complete->part);
	unsigned char key[DB_KEY_BYTES_MAX];
	struct text row;
	struct db_txn *txn;
	char *where;
	int rc;

	if (claim == NULL)
		return 0;
	if (db_begin(mirror->tables, false, &txn, err) != 0)
		return -1;
	tables_get_counts(txn, partition->number, &complete->counted);
	/* Whoever has records has a row of counts. */
	if (db_get(txn, TABLES_META, tables_counts_key(key, partition->number),
		&row))
		complete->newest_row = UINT64_MAX;
	db_abort(&txn);
	where = pull_claims_sql(claim);
	rc = complete_count(complete, where, err);
	free(where);
	return rc == 0 ? complete_check(complete, err) : -1;
}

int
mirror_complete(
    struct mirror *mirror, struct mirror_partition *partition, struct err *err)
{
	struct complete complete = { .client = mirror->client,
		.silences = mirror->into.silences,
		.name = partition->claim.name,
		.part = partition->claim.part };
	int64_t now_ns = clock_monotonic_ns();

	/* Of several replicas that answer the most complete one was read. */
	if (complete_all_answer(&complete))
		return 0;
	if (partition->complete_ns != 0 &&
	    now_ns - partition->complete_ns < MIRROR_FOLLOW_NS)
		return 0;
	if (check(mirror, &complete, partition, err) != 0)
		return -1;
	partition->complete_ns = now_ns;
	return 0;
}
