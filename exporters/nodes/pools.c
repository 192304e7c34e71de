/*
 * pools - the pools of a source: how their nodes are, and how new their
 * records.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/nodes/pools.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

static int
by_name(const void *left, const void *right)
{
	const struct pool *a = left, *b = right;

	return text_compare_natural(a->partition.name, b->partition.name);
}

static int
read_nodes(
    struct pool *pool, struct source *source, int64_t now_ns, struct err *err)
{
	int64_t from_ns = now_ns - NODE_STATES_HEARD_NS;
	struct node_states states;
	int rc;

	/* Without a record since then, none of its nodes was heard. */
	if (pool->partition.last_ns < from_ns)
		return 0;
	rc = node_states_read(&states, source, pool->partition.name,
	    (struct text){ NULL, 0 }, from_ns, now_ns, err);
	memcpy(pool->conditions, states.conditions, sizeof(pool->conditions));
	node_states_clear(&states);
	return rc;
}

int
pools_read(struct pools *pools, struct source *source, struct text pattern,
    int64_t now_ns, struct err *err)
{
	const struct partition_rows *rows = &pools->partitions;
	int rc;

	*pools = (struct pools){ .count = 0 };
	rc = partition_rows_read(&pools->partitions, source, pattern, err);
	if (rows->count > 0)
		pools->at = memory_zero(rows->count, sizeof(*pools->at));
	for (uint32_t i = 0; i < rows->count && rc == 0; i++) {
		struct pool *pool = &pools->at[pools->count];
		int64_t last_ns = rows->at[i].last_ns;

		if (!rows->at[i].is_read)
			continue;
		pools->count++;
		pool->partition = rows->at[i];
		pool->age_ns = last_ns == INT64_MIN ? -1
			       : last_ns >= now_ns  ? 0
						    : now_ns - last_ns;
		rc = read_nodes(pool, source, now_ns, err);
	}
	if (pools->count > 0)
		qsort(pools->at, pools->count, sizeof(*pools->at), by_name);
	return rc;
}

void
pools_clear(struct pools *pools)
{
	free(pools->at);
	partition_rows_clear(&pools->partitions);
	*pools = (struct pools){ .count = 0 };
}
