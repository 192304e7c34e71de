/*
 * pools - the pools of a source: how their nodes are, and how new their
 * records.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/nodes/pools.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/os/clock.h"

static int
by_name(const void *left, const void *right)
{
	const struct pool *a = left, *b = right;

	return text_compare_natural(a->partition.name, b->partition.name);
}

/* ---- what is kept ---- */

struct kept_pool {
	/* What it was read after. */
	uint64_t entry, generation;
	uint32_t place;
	int64_t read_ns;
	struct node_states states;
};

struct pools_kept {
	struct string_table names;
	struct kept_pool *at; /* by number of the name */
	uint32_t room;
	uint64_t nodes;
};

static void
clear_kept(struct pools_kept *kept)
{
	for (uint32_t i = 0; i < kept->names.count; i++)
		node_states_clear(&kept->at[i].states);
	free(kept->at);
	string_table_clear(&kept->names);
	*kept = (struct pools_kept){ .room = 0 };
	string_table_init(&kept->names);
}

struct pools_kept *
pools_kept_new(void)
{
	struct pools_kept *kept = memory_zero(1, sizeof(*kept));

	string_table_init(&kept->names);
	return kept;
}

void
pools_kept_free(struct pools_kept **freed)
{
	struct pools_kept *kept = *freed;

	if (kept == NULL)
		return;
	clear_kept(kept);
	string_table_clear(&kept->names);
	free(kept);
	*freed = NULL;
}

/* NULL: it is not known, or something came since, or a phase may have become
 * too long. */
static struct node_states *
find_kept(struct pools_kept *kept, const struct pool *pool, int64_t now_ns)
{
	const struct partition_row *row = &pool->partition;
	struct kept_pool *found;
	uint32_t number;

	if (kept == NULL ||
	    !string_table_find(&kept->names, row->name, &number))
		return NULL;
	found = &kept->at[number];
	/* At an earlier time more nodes may have been heard. */
	if (found->states.complete_ns != INT64_MAX ||
	    found->place != row->place || found->entry != row->last_entry ||
	    found->generation != row->generation || found->read_ns > now_ns ||
	    node_states_are_old(&found->states, now_ns))
		return NULL;
	found->read_ns = now_ns;
	return &found->states;
}

/* Takes the states. */
static void
keep(struct pools_kept *kept, const struct pool *pool,
    struct node_states *states, int64_t now_ns)
{
	uint32_t before, number;

	if (kept == NULL || states->count > POOLS_KEPT_NODES) {
		node_states_clear(states);
		return;
	}
	if (kept->nodes + states->count > POOLS_KEPT_NODES ||
	    kept->names.count >= POOLS_KEPT_NODES)
		clear_kept(kept);
	before = kept->names.count;
	number = string_table_add(&kept->names, pool->partition.name);
	MEMORY_GROW(kept->at, kept->room, number);
	if (number < before) {
		kept->nodes -= kept->at[number].states.count;
		node_states_clear(&kept->at[number].states);
	}
	kept->nodes += states->count;
	kept->at[number] =
	    (struct kept_pool){ .entry = pool->partition.last_entry,
		    .generation = pool->partition.generation,
		    .place = pool->partition.place,
		    .read_ns = now_ns,
		    .states = *states };
}

/* ---- reading ---- */

static void
take_states(struct pool *pool, const struct node_states *states, int64_t now_ns)
{
	memcpy(pool->conditions, states->conditions, sizeof(pool->conditions));
	memcpy(pool->attention, states->attention, sizeof(pool->attention));
	pool->attended = states->attended;
	pool->heard_ns = states->heard_ns;
	if (states->heard_ns == INT64_MIN)
		pool->age_ns = -1;
	else
		pool->age_ns =
		    states->heard_ns >= now_ns ? 0 : now_ns - states->heard_ns;
}

static int
read_nodes(struct pool *pool, struct source *source, struct pools_kept *kept,
    int64_t now_ns, struct err *err)
{
	struct node_states states, *known;

	known = find_kept(kept, pool, now_ns);
	if (known != NULL) {
		node_states_judge(known, now_ns);
		take_states(pool, known, now_ns);
		return 0;
	}
	if (node_states_read(&states, source, pool->partition.name,
		(struct text){ NULL, 0 }, TIME_MIN_NS, now_ns, err) != 0) {
		node_states_clear(&states);
		return -1;
	}
	take_states(pool, &states, now_ns);
	keep(kept, pool, &states, now_ns);
	return 0;
}

int
pools_read(struct pools *pools, struct source *source, struct pools_kept *kept,
    struct text pattern, int64_t now_ns, struct err *err)
{
	const struct partition_rows *rows = &pools->partitions;
	int64_t known_ns = now_ns; /* what came until then */
	int rc;

	*pools = (struct pools){ .count = 0 };
	rc = partition_rows_read(&pools->partitions, source, pattern, err);
	if (source_complete_ns(source) < known_ns)
		known_ns = source_complete_ns(source);
	if (rows->count > 0)
		pools->at = memory_zero(rows->count, sizeof(*pools->at));
	for (uint32_t i = 0; i < rows->count && rc == 0; i++) {
		struct pool *pool = &pools->at[pools->count];

		if (!rows->at[i].is_read)
			continue;
		pools->count++;
		pool->partition = rows->at[i];
		rc = read_nodes(pool, source, kept, known_ns, err);
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

int
pools_add_facts(struct status_facts *facts, struct source *source,
    struct pools_kept *kept, struct err *err)
{
	int64_t now_ns = clock_wall_ns();
	uint64_t why[ATTENTIONS] = { 0 };
	struct pools pools;
	int rc = pools_read(
	    &pools, source, kept, (struct text){ NULL, 0 }, now_ns, err);

	for (uint32_t i = 0; i < pools.count; i++) {
		const struct pool *pool = &pools.at[i];

		/* Not by its age, which is as of when the answer is complete.
		 */
		if (pool->heard_ns > facts->newest_ns)
			facts->newest_ns = pool->heard_ns;
		if (pool->attended == 0)
			continue;
		facts->nodes_attended += pool->attended;
		for (int k = 0; k < ATTENTIONS; k++)
			why[k] += pool->attention[k];
		if (facts->pools_attended++ == 0)
			text_quote(facts->attended_partition,
			    sizeof(facts->attended_partition),
			    pool->partition.name);
	}
	attention_counts(facts->attended_why, sizeof(facts->attended_why), why);
	pools_clear(&pools);
	return rc;
}
