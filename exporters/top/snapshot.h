/*
 * top_snapshot - what the screen shows of one moment.
 *
 * It is made by the thread that reads and then belongs to the one that draws.
 * Parts that stay the same for a while are shared by the snapshots that follow
 * each other.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TOP_SNAPSHOT_H
#define EXPORTERS_TOP_SNAPSHOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "exporters/nodes/node_states.h"
#include "exporters/nodes/pools.h"
#include "exporters/nodes/now.h"
#include "exporters/nodes/status.h"
#include "exporters/stragglers/stragglers.h"
#include "proto/format/table.h"
#include "proto/hash/string_table.h"

struct top_shared {
	atomic_uint references;
	size_t bytes;
	void (*free)(struct top_shared *shared);
};

/* Texts by number. */
struct top_texts {
	struct top_shared shared;
	struct string_table table;
	struct table_names names; /* all were added to it */
};
struct top_runs {
	struct top_shared shared;
	struct newest_runs runs;
};
struct top_pools {
	struct top_shared shared;
	int64_t read_ns; /* wall clock */
	struct pools pools;
};
/* Why nodes were slow in the newest start. */
struct top_causes {
	struct top_shared shared;
	struct string_table nodes, texts;
	uint32_t *text, room; /* by number of the node */
};
/* The verdict about the pipeline and what is known of its parts, by line. */
struct top_lines {
	struct top_shared shared;
	int64_t lag; /* batches that are not indexed yet */
	enum verdict verdict;
	char *memory;
	struct text *at;
	uint32_t count;
};

/* Instead of a phase: it is in none; it is ready, since phase_age. */
#define TOP_NO_PHASE UINT32_MAX
#define TOP_READY    (UINT32_MAX - 1)

/* Times in seconds before the snapshot; NaN: unknown. */
struct top_node {
	float age, received, spool, clock;
	float cpu, iowait, pressure, gpu; /* shares */
	float receive, disk;              /* bytes a second */
	float memory, memory_limit, load;
	/* phase_usual: of one that is open for longer than usual. */
	float phase_age, phase_usual;
	uint32_t phase;               /* number of its label, or one above */
	uint8_t condition, attention; /* bits, of nodes/attention.h */
};

enum { TOP_PHASES_MAX = 8 };

/* Of a phase that some nodes are in. */
struct top_phase {
	char label[40];
	double open, p50, p90;
	uint32_t hang; /* nodes that are in it for longer than usual */
};

struct top_snapshot {
	int64_t taken_ns; /* wall clock */
	/* Ages and conditions of nodes are as of then: later records are not
	 * read, or not indexed, yet.  0: of none. */
	int64_t known_ns;
	struct top_texts *names, *labels;
	/* By number of the name, in natural order; NULL: they are packed. */
	struct top_node *nodes;
	struct top_packed *packed;
	uint32_t node_count;
	uint32_t conditions[NODE_CONDITIONS];
	double spool;             /* bytes that all agents have not sent */
	double records_second;    /* NaN: unknown */
	struct top_phase *phases; /* at most TOP_PHASES_MAX */
	uint32_t phase_count;
	/* NULL: not read. */
	struct top_runs *runs;
	struct top_pools *pools;
	struct top_lines *lines;
	struct top_causes *causes;
	/* The source did not answer: the rest is what was known then. */
	bool is_lost;
	int64_t answered_ns;     /* when it answered last; 0: never */
	char *partition, *error; /* NULL: none */
	unsigned holds;          /* by who draws */
};

struct top_snapshot *top_snapshot_new(int64_t taken_ns);
/* Give up a hold; frees it at the last one. */
void top_snapshot_drop(struct top_snapshot **snapshot);
/* Keep the rows of its nodes packed alone, or unpack them. */
void top_snapshot_pack(struct top_snapshot *snapshot);
void top_snapshot_unpack(struct top_snapshot *snapshot);
/* A row, packed or not. */
struct top_node top_snapshot_node(
    const struct top_snapshot *snapshot, uint32_t row);
/* Bytes of its own without rows that are not packed, and of shared parts that
 * `before` (or NULL) has not. */
size_t top_snapshot_bytes(
    const struct top_snapshot *snapshot, const struct top_snapshot *before);

/* Sharing.  A new part has one reference; both take NULL. */
void *top_share(void *shared);
void top_unshare(void *shared);

struct top_texts *top_texts_new(void);
void top_texts_add(struct top_texts *texts, struct text text);
struct top_runs *top_runs_new(void);
struct top_pools *top_pools_new(void);
/* Of each node the one that cost most. */
struct top_causes *top_causes_new(const struct stragglers *stragglers);
/* Empty: nobody knows one. */
struct text top_cause_of(const struct top_snapshot *snapshot, struct text node);
/* Of the facts, which are printed. */
struct top_lines *top_lines_new(const struct status_facts *facts);

#endif
