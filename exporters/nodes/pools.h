/*
 * pools - the pools of a source: how their nodes are, and how new their
 * records.
 *
 * A pool that several places keep is read where its newest record is.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_NODES_POOLS_H
#define EXPORTERS_NODES_POOLS_H

#include "exporters/nodes/node_states.h"
#include "exporters/nodes/partition_rows.h"
#include "exporters/nodes/status.h"

struct pool {
	struct partition_row partition;
	/* As in node_states.h. */
	uint32_t conditions[NODE_CONDITIONS], attention[ATTENTIONS], attended;
	/* Of the newest record, as in node_states.h: INT64_MIN, -1: there is
	 * none. */
	int64_t heard_ns, age_ns;
};

struct pools {
	struct partition_rows partitions;
	struct pool *at; /* by name */
	uint32_t count;
};

/* What was read of nodes, for who asks again and again: those of a pool into
 * which nothing came are not read again, but judged again.  Of one source; at
 * most POOLS_KEPT_NODES nodes, 200 bytes each. */
struct pools_kept; /* opaque */
enum { POOLS_KEPT_NODES = 100000 };
struct pools_kept *pools_kept_new(void);
void pools_kept_free(struct pools_kept **kept);

/* Read those whose name matches the pattern (empty: all), as of `now_ns`.
 * `kept` may be NULL.  Clear it in any case. */
int pools_read(struct pools *pools, struct source *source,
    struct pools_kept *kept, struct text pattern, int64_t now_ns,
    struct err *err);
void pools_clear(struct pools *pools);

/* Of `facts`: nodes that need attention, and the newest record. */
int pools_add_facts(struct status_facts *facts, struct source *source,
    struct pools_kept *kept, struct err *err);

#endif
